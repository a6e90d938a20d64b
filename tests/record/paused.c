/* paused.c - what a recording that begins later must have, and what it must not: for test_record.sh. The program says
 * "ready" and goes on when it reads a byte; then it waits for another one. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int phase; /* protected by the mutex */

void *early(void *unused);
void *late(void *unused);
void *waiter(void *unused);
void *worker(void *unused);
void burn_before(void);
void burn_after(void);
volatile unsigned long burnt;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((noinline)) void burn_before(void) {
  for (double end = now() + 0.3; now() < end;)
    for (int i = 0; i < 100000; i++) burnt++;
}

__attribute__((noinline)) void burn_after(void) {
  for (double end = now() + 0.5; now() < end;)
    for (int i = 0; i < 100000; i++) burnt += 2;
}

static void set_phase(int to) {
  pthread_mutex_lock(&mutex);
  phase = to;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static void await_phase(int which) {
  pthread_mutex_lock(&mutex);
  while (phase < which) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

void *early(void *unused) {
  usleep(1000);
  return unused;
}

void *late(void *unused) {
  usleep(1000);
  return unused;
}

/* Makes no call between the first byte and the second. */
void *waiter(void *unused) {
  await_phase(2);
  return unused;
}

void *worker(void *unused) {
  burn_before();
  set_phase(-1);
  await_phase(1);
  burn_after();
  return unused;
}

static void run(void *(*function)(void *)) {
  pthread_t handle;
  if (pthread_create(&handle, NULL, function, NULL) != 0) exit(1);
  pthread_join(handle, NULL);
}

int main(void) {
  pthread_t waits, works;
  char byte;
  pthread_create(&waits, NULL, waiter, NULL);
  pthread_create(&works, NULL, worker, NULL);
  pthread_mutex_lock(&mutex);
  while (phase == 0) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  run(early);
  if (write(1, "ready\n", 6) != 6 || read(0, &byte, 1) != 1) return 2;
  set_phase(1);
  run(late);
  pthread_join(works, NULL);
  if (write(1, "done\n", 5) != 5 || read(0, &byte, 1) != 1) return 3;
  set_phase(2);
  pthread_join(waits, NULL);
  return 4;
}
