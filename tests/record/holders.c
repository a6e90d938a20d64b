/* holders.c - threads that wait for locks which others are known to have
 *
 *     holders ROUNDS [SEED]
 *
 * In each round one thread takes a lock, in one of several ways, and others begin to wait for it. The main thread tells
 * them to, sees each of them asleep (in /proc), and prints a line that holders.py compares with the trace:
 *
 *     THREAD|ID OF THE THREAD THAT HAS THE LOCK; - if that cannot be known|FUNCTION THAT TOOK IT
 *
 * Threads are numbered from 0. Built with -rdynamic, so that the trace has the functions' names. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define MUST(condition) must((condition), #condition, __LINE__)
static void must(bool holds, const char *text, int line) {
  if (holds) return;
  fprintf(stderr, "holders.c:%d: %s\n", line, text);
  exit(1);
}

static pthread_mutex_t normal, recursive, checking;
static mtx_t c11;
static pthread_rwlock_t both;
static pthread_cond_t never;

static struct timespec soon(long nanoseconds) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += nanoseconds;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

/* Ways to take a lock. */
#define NOTED __attribute__((noinline, visibility("default"))) void
NOTED take_normal(void) { MUST(pthread_mutex_lock(&normal) == 0); }
NOTED take_recursive(void) { MUST(pthread_mutex_lock(&recursive) == 0); }
NOTED take_checking(void) { MUST(pthread_mutex_lock(&checking) == 0); }
NOTED take_c11(void) { MUST(mtx_lock(&c11) == thrd_success); }
NOTED take_to_write(void) { MUST(pthread_rwlock_wrlock(&both) == 0); }
NOTED take_to_read(void) { MUST(pthread_rwlock_rdlock(&both) == 0); }
NOTED take_in_time(void) {
  struct timespec later = soon(999999999);
  while (pthread_mutex_timedlock(&normal, &later) != 0) later = soon(999999999);
}
NOTED take_again(void) { /* by a wait that releases it meanwhile */
  struct timespec later = soon(100000);
  MUST(pthread_mutex_lock(&normal) == 0);
  pthread_cond_timedwait(&never, &normal, &later);
}
NOTED try_normal(void) { MUST(pthread_mutex_trylock(&normal) == 0); }
NOTED try_to_write(void) { MUST(pthread_rwlock_trywrlock(&both) == 0); }

static void give_normal(void) { MUST(pthread_mutex_unlock(&normal) == 0); }
static void give_recursive(void) { MUST(pthread_mutex_unlock(&recursive) == 0); }
static void give_checking(void) { MUST(pthread_mutex_unlock(&checking) == 0); }
static void give_c11(void) { MUST(mtx_unlock(&c11) == thrd_success); }
static void give_both(void) { MUST(pthread_rwlock_unlock(&both) == 0); }

static const struct way {
  const char *name;
  void (*take)(void), (*give)(void);
  bool noted, waits, keeps; /* it tells who has the lock; it can wait; who has waited this way can keep the lock */
} ways[] = {{"take_normal", take_normal, give_normal, true, true, true},
            {"take_in_time", take_in_time, give_normal, true, true, true},
            {"take_again", take_again, give_normal, true, false, false},
            {"try_normal", try_normal, give_normal, true, false, false},
            {"take_recursive", take_recursive, give_recursive, true, true, true},
            {"take_checking", take_checking, give_checking, true, true, true},
            {"take_c11", take_c11, give_c11, true, true, true},
            {"take_to_write", take_to_write, give_both, true, true, false},
            {"take_to_read", take_to_read, give_both, false, true, false},
            {"try_to_write", try_to_write, give_both, true, false, false}};
#define WAYS (sizeof ways / sizeof *ways)

#define THREADS 6
static struct worker {
  pthread_t handle;
  sem_t asked, answered;
  uint32_t number, going; /* atomic: of the kernel; it takes a lock */
  const struct way *way;
  bool keeps;
} workers[THREADS];

static void *work(void *argument) {
  struct worker *w = argument;
  __atomic_store_n(&w->number, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
  for (;;) {
    const struct way *way;
    while (sem_wait(&w->asked) != 0) continue;
    if (!(way = w->way)) return NULL;
    __atomic_store_n(&w->going, 1u, __ATOMIC_RELEASE);
    way->take();
    __atomic_store_n(&w->going, 0u, __ATOMIC_RELEASE);
    sem_post(&w->answered);
    if (w->keeps)
      while (sem_wait(&w->asked) != 0) continue;
    way->give();
    sem_post(&w->answered);
  }
}

static void ask(struct worker *w) { sem_post(&w->asked); }
static void await(struct worker *w) {
  while (sem_wait(&w->answered) != 0) continue;
}

static bool sleeps(const struct worker *w) {
  char path[64], text[512], *at;
  FILE *file;
  size_t size;
  snprintf(path, sizeof path, "/proc/self/task/%u/stat", w->number);
  if (!(file = fopen(path, "r"))) return false;
  size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = 0;
  at = strrchr(text, ')');
  return at && at[1] == ' ' && at[2] == 'S';
}

/* Lets a thread wait for the lock that `holder` took in a way. */
static void wait_for(struct worker *w, const struct way *by, const struct worker *holder, const struct way *taken) {
  unsigned seen = 0;
  w->way = by;
  ask(w);
  while (seen < 2) seen = __atomic_load_n(&w->going, __ATOMIC_ACQUIRE) && sleeps(w) ? seen + 1 : 0;
  if (taken->noted) printf("%d|%d|%s\n", (int)(w - workers), (int)(holder - workers), taken->name);
  else printf("%d|-|\n", (int)(w - workers));
}

/* Another way that waits for the same lock. */
static const struct way *way_of(const struct way *like) {
  const struct way *found;
  do found = &ways[(unsigned)rand() % WAYS];
  while (found->give != like->give || !found->waits);
  return found;
}

static void hold(struct worker *w, const struct way *way) {
  w->way = way;
  w->keeps = true;
  ask(w);
  await(w);
}

static void give(struct worker *w) {
  ask(w);
  await(w);
}

/* One thread has a lock. The first that waits for it may keep it, and another one then waits for that. */
static void run_round(void) {
  struct worker *order[THREADS], *holder;
  const struct way *first, *second;
  unsigned i, waiters = 1 + (unsigned)rand() % 3;
  for (i = 0; i < THREADS; i++) {
    unsigned at = (unsigned)rand() % (i + 1);
    order[i] = order[at];
    order[at] = &workers[i];
  }
  holder = order[0];
  hold(holder, first = &ways[(unsigned)rand() % WAYS]);
  if (first->take == take_to_read) { /* only writers wait */
    order[1]->keeps = false;
    for (second = ways; second->take != take_to_write;) second++;
    wait_for(order[1], second, holder, first);
    give(holder);
    await(order[1]);
    await(order[1]);
    return;
  }
  second = way_of(first);
  for (i = 1; i <= waiters; i++) {
    order[i]->keeps = i == 1 && second->keeps && rand() % 2;
    wait_for(order[i], i == 1 ? second : way_of(first), holder, first);
  }
  give(holder);
  await(order[1]);
  if (order[1]->keeps) {
    order[5]->keeps = false;
    wait_for(order[5], way_of(first), order[1], second);
    give(order[1]);
    await(order[5]);
    await(order[5]);
  } else {
    await(order[1]);
  }
  for (i = 2; i <= waiters; i++) {
    await(order[i]);
    await(order[i]);
  }
}

int main(int argc, char **argv) {
  pthread_mutexattr_t kind;
  int rounds = argc > 1 ? atoi(argv[1]) : 100, i;
  srand(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
  pthread_mutex_init(&normal, NULL);
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checking, &kind);
  MUST(mtx_init(&c11, mtx_plain) == thrd_success);
  pthread_rwlock_init(&both, NULL);
  pthread_cond_init(&never, NULL);
  for (i = 0; i < THREADS; i++) {
    sem_init(&workers[i].asked, 0, 0);
    sem_init(&workers[i].answered, 0, 0);
    MUST(pthread_create(&workers[i].handle, NULL, work, &workers[i]) == 0);
    while (!__atomic_load_n(&workers[i].number, __ATOMIC_ACQUIRE)) usleep(100);
  }
  for (i = 0; i < rounds; i++) run_round();
  for (i = 0; i < THREADS; i++) {
    workers[i].way = NULL;
    ask(&workers[i]);
    pthread_join(workers[i].handle, NULL);
  }
  return 0;
}
