/* usage.c - threads that use known CPU time, and one that is woken but sleeps again
 *
 * sleeps_again is woken while the mutex that it needs is held. spins uses 50 ms of CPU time and ends; goes_on uses as
 * much, and still runs when the program ends. main waits for them, and uses 50 ms itself, in which it calls nothing. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool waits, ready;
static volatile bool has_spun;

static void spin(void) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 50000000);
}

void *sleeps_again(void *unused);
void *sleeps_again(void *unused) {
  pthread_mutex_lock(&mutex);
  waits = true;
  while (!ready) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}

void *spins(void *unused);
void *spins(void *unused) {
  spin();
  return unused;
}

void *goes_on(void *unused);
void *goes_on(void *unused) {
  spin();
  has_spun = true;
  for (;;) spin();
  return unused;
}

int main(void) {
  pthread_t sleeper, spinner, other;
  pthread_create(&sleeper, NULL, sleeps_again, NULL);
  for (;;) {
    pthread_mutex_lock(&mutex);
    if (waits) break;
    pthread_mutex_unlock(&mutex);
    usleep(1000);
  }
  ready = true;
  pthread_cond_signal(&condition);
  usleep(300000);
  pthread_mutex_unlock(&mutex);
  pthread_join(sleeper, NULL);
  pthread_create(&spinner, NULL, spins, NULL);
  pthread_create(&other, NULL, goes_on, NULL);
  pthread_join(spinner, NULL);
  while (!has_spun) usleep(1000);
  spin();
  return 0;
}
