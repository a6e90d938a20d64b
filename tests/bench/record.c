/* record.c - the cost of an uncontended mutex in a program that `gotrace record` runs: prints nanoseconds for a lock
 * and unlock */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A second thread, since glibc's mutexes are cheaper in a process with one thread. */
static void *stays(void *unused) { return pause(), unused; }

int main(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_t thread;
  double best = 1e9;
  int round, i;
  if (pthread_create(&thread, NULL, stays, NULL) != 0) return 1;
  for (round = 0; round < 60; round++) {
    double begin = now(), took;
    for (i = 0; i < 200000; i++) {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    }
    took = (now() - begin) / 200000;
    if (took < best) best = took;
  }
  printf("%.3f\n", best);
  return 0;
}
