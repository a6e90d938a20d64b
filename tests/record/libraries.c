/* libraries.c - loads two libraries in turn, which the system usually puts at the same address. Built with -DLIBRARY=a
 * or b, it is such a library. See test_record.sh */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef LIBRARY
#define NAME_OF(library) thread_of_##library
#define NAME(library) NAME_OF(library)

void *NAME(LIBRARY)(void *unused);
void *NAME(LIBRARY)(void *unused) {
  struct timespec time = {0, 1000};
  nanosleep(&time, NULL);
  return unused;
}
#else
int main(int count, char **paths) {
  static const char *const names[] = {"thread_of_a", "thread_of_b"};
  int i;
  if (count != 3) return 2;
  for (i = 0; i < 20; i++) {
    void *library = dlopen(paths[1 + i % 2], RTLD_NOW), *found = library ? dlsym(library, names[i % 2]) : NULL;
    void *(*function)(void *);
    pthread_t thread;
    if (!found) return 1;
    memcpy(&function, &found, sizeof function);
    if (pthread_create(&thread, NULL, function, NULL) != 0 || pthread_join(thread, NULL) != 0) return 1;
    if (dlclose(library) != 0) return 1;
  }
  puts("done");
  return 0;
}
#endif
