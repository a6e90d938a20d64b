/* own_random.c - a program that contains gotrace.h and makes its calls in any order, for tests/record/test_record.sh
 * (own)
 *
 *     own_random SEED CALLS
 *
 * Threads that begin and end make CALLS calls in all: of the tracer, right or wrong, with any goroutine and proc, and
 * of the C library, of which `gotrace record` tells what they wait for. */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, GOS = 8, PROCS = 3, DEEPEST = 3 };

static gotrace_go *_Atomic gos[GOS];
static gotrace_proc *procs[PROCS];
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static sem_t semaphore;
static atomic_int left;

static uint64_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static uint64_t seed_of_handler;

/* It interrupts any call, also of the tracer. */
static void handle(int number) {
  (void)number;
  if (next(&seed_of_handler) % 2) gotrace_log(GOTRACE_NO_TASK, "signal", "came");
  sem_post(&semaphore);
}

static void call(uint64_t *seed, int depth) {
  gotrace_go *go = atomic_load(&gos[next(seed) % GOS]);
  unsigned reason = next(seed) % 20;
  pthread_mutex_t *mutex = &mutexes[next(seed) % 2];
  switch (next(seed) % 32) {
  case 0:
    go = atomic_exchange(&gos[next(seed) % GOS], gotrace_go_create(NULL));
    if (!go || go == gotrace_go_self()) return;
    gotrace_go_unblock(go);
    return;
  case 1:
  case 2:
  case 3: gotrace_go_start(go); return;
  case 4: gotrace_go_stop(reason); return;
  case 5: gotrace_go_block(reason); return;
  case 6:
  case 7: gotrace_go_unblock(go); return;
  case 8: gotrace_go_switch(go); return;
  case 9: gotrace_go_end(); return;
  case 10: gotrace_go_syscall_begin(); return;
  case 11: gotrace_go_syscall_end(); return;
  case 12: gotrace_wait_begin(reason); return;
  case 13: gotrace_wait_end(); return;
  case 14: gotrace_wait_on(mutex, reason); return;
  case 15: gotrace_wake(mutex, 1); return;
  case 16:
  case 17: gotrace_proc_start(procs[next(seed) % PROCS]); return;
  case 18: gotrace_proc_stop(); return;
  case 19: gotrace_thread_rename("renamed"); return;
  case 20: gotrace_thread_end(); return;
  case 21: gotrace_thread_begin("begun"); return;
  case 22: gotrace_go_rename(go, "named"); return;
  case 23: gotrace_advance(); return;
  case 24:
  case 25:
    pthread_mutex_lock(mutex);
    if (next(seed) % 4 == 0) usleep(20);
    pthread_mutex_unlock(mutex);
    return;
  case 26: usleep(next(seed) % 30); return;
  case 27: sem_post(&semaphore); return;
  case 28: sem_trywait(&semaphore); return;
  case 29: pthread_kill(pthread_self(), SIGUSR1); return;
  case 30:
    GOTRACE_REGION("region")
      if (depth < DEEPEST) call(seed, depth + 1);
    return;
  default: {
    gotrace_go *outer = gotrace_nest_begin(go);
    if (depth < DEEPEST) call(seed, depth + 1), call(seed, depth + 1);
    gotrace_nest_end(outer);
  }
  }
}

static void *work(void *seed) {
  uint64_t state = (uintptr_t)seed;
  int most = 1 + (int)(next(&state) % 2000);
  while (most-- && atomic_fetch_sub(&left, 1) > 0) call(&state, 0);
  return NULL;
}

int main(int argc, char **argv) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  uintptr_t seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
  pthread_t threads[THREADS];
  gotrace_result result = gotrace_start_environment();
  int i;
  if (result != GOTRACE_OK) return printf("start: %s\n", gotrace_result_string(result)), 1;
  seed_of_handler = seed;
  atomic_store(&left, argc > 2 ? atoi(argv[2]) : 10000);
  if (sem_init(&semaphore, 0, 0) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) return 1;
  for (i = 0; i < PROCS; i++) procs[i] = gotrace_proc_create();
  while (atomic_load(&left) > 0) {
    for (i = 0; i < THREADS; i++)
      if (pthread_create(&threads[i], NULL, work, (void *)(seed = seed * 31 + 7 + (uintptr_t)i)) != 0) return 1;
    for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  }
  return 0;
}
