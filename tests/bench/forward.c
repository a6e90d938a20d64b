/* forward.c - a preloaded library that only forwards lock and unlock of a mutex: the minimum that any preloaded library
 * costs there */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static int (*real_lock)(pthread_mutex_t *), (*real_unlock)(pthread_mutex_t *);

/* POSIX permits dlsym to return functions; ISO C has no conversion for that. */
static void find(void *function, size_t size, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, size);
}

__attribute__((constructor)) static void find_both(void) {
  find(&real_lock, sizeof real_lock, "pthread_mutex_lock");
  find(&real_unlock, sizeof real_unlock, "pthread_mutex_unlock");
}

int pthread_mutex_lock(pthread_mutex_t *mutex) { return real_lock(mutex); }

int pthread_mutex_unlock(pthread_mutex_t *mutex) { return real_unlock(mutex); }
