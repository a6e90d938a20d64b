/* libraries.c - loads two libraries in turn, which the system usually puts at the same address. Built with -DLIBRARY=a
 * or b, it is such a library. With a third argument, signal handlers interrupt it. See test_record.sh */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
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
static const struct timespec moment = {0, 1000};

static void interrupt(int number) {
  int kept = errno;
  (void)number;
  nanosleep(&moment, NULL);
  errno = kept;
}

/* A function of the C library far down the stack is the last that the thread called before. */
static void go_deep(int depth) {
  volatile char bytes[2000];
  bytes[0] = 0;
  if (depth) go_deep(depth - 1);
  else nanosleep(&moment, NULL);
  bytes[1] = 0;
}

static void close_often(const char *path) {
  struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  int i;
  go_deep(40);
  signal(SIGALRM, interrupt);
  setitimer(ITIMER_REAL, &often, NULL);
  for (i = 0; i < 500; i++) {
    void *library = dlopen(path, RTLD_NOW);
    if (library) dlclose(library);
  }
  setitimer(ITIMER_REAL, &never, NULL);
}

int main(int count, char **paths) {
  static const char *const names[] = {"thread_of_a", "thread_of_b"};
  int i;
  if (count < 3) return 2;
  if (count > 3) close_often(paths[1]);
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
