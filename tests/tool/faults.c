/* faults.c - programs that have a fault, and healthy ones: for tests/tool/findings.py
 *
 *     faults NAME FILE     writes a trace of a program; without FILE it only runs, as `gotrace record` wants it
 *     faults               lists the names: those of healthy programs begin with "healthy", those for `gotrace record`
 *                          end with "_recorded"
 *
 * Each program runs for half a second or less. */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST 64
#define NOINLINE __attribute__((noinline))

static volatile long sink;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static NOINLINE void work(double milliseconds) {
  double end = now() + milliseconds;
  int i;
  while (now() < end)
    for (i = 0; i < 1000; i++) sink += i;
}

static void rest(double milliseconds) { usleep((unsigned)(1000 * milliseconds)); }

static pthread_t threads[MOST];
static int thread_count;

static void begin(void *(*run)(void *)) { pthread_create(&threads[thread_count++], NULL, run, NULL); }

static void join_all(void) {
  while (thread_count) pthread_join(threads[--thread_count], NULL);
}

/* ----------------------------------------------------------------------------------------------------- faults ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void get(void) {
  pthread_mutex_lock(&mutex);
  sink++;
  pthread_mutex_unlock(&mutex);
}

static NOINLINE void rebuild(void) {
  pthread_mutex_lock(&mutex);
  work(20);
  pthread_mutex_unlock(&mutex);
}

static void *getter(void *unused) {
  int i;
  for (i = 0; i < 150; i++) get(), rest(1);
  return unused;
}

static void *rebuilder(void *unused) {
  int i;
  for (i = 0; i < 10; i++) rebuild(), rest(5);
  return unused;
}

static void lock(void) {
  int i;
  begin(rebuilder);
  for (i = 0; i < 5; i++) begin(getter);
  join_all();
}

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

static NOINLINE void scan(void) {
  pthread_rwlock_rdlock(&table);
  rest(25);
  pthread_rwlock_unlock(&table);
}

static NOINLINE void put(void) {
  pthread_rwlock_wrlock(&table);
  sink++;
  pthread_rwlock_unlock(&table);
}

static void *scanner(void *unused) {
  int i;
  for (i = 0; i < 10; i++) scan(), rest(2);
  return unused;
}

static void *putter(void *unused) {
  int i;
  for (i = 0; i < 10; i++) put(), rest(2);
  return unused;
}

static void rwlock(void) {
  int i;
  begin(scanner);
  for (i = 0; i < 3; i++) begin(putter);
  join_all();
}

static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t of_never = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void *forget(void *unused) {
  pthread_mutex_lock(&of_never);
  for (;;) pthread_cond_wait(&never, &of_never);
  return unused;
}

static void leak(void) {
  int i;
  for (i = 0; i < 50; i++) begin(forget), rest(5);
}

/* A queue with one place, of which every wait and wake-up is told. */
static pthread_mutex_t of_queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queued;

static NOINLINE void *consume(void *unused) {
  int i;
  gotrace_thread_begin("consumer");
  for (i = 0; i < 90; i++) {
    pthread_mutex_lock(&of_queue);
    while (!queued) {
      gotrace_wait_on(&changed, GOTRACE_BLOCK_CHAN_RECV);
      pthread_cond_wait(&changed, &of_queue);
      gotrace_wait_end();
    }
    queued = 0;
    gotrace_wake(&queued, 1);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&of_queue);
    work(3);
  }
  gotrace_thread_end();
  return unused;
}

static NOINLINE void *produce(void *unused) {
  int i;
  gotrace_thread_begin("producer");
  for (i = 0; i < 30; i++) {
    pthread_mutex_lock(&of_queue);
    while (queued) {
      gotrace_wait_on(&queued, GOTRACE_BLOCK_CHAN_SEND);
      pthread_cond_wait(&changed, &of_queue);
      gotrace_wait_end();
    }
    queued = 1;
    gotrace_wake(&changed, 1);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&of_queue);
    work(0.1);
  }
  gotrace_thread_end();
  return unused;
}

static void channel(void) {
  int i;
  begin(consume);
  for (i = 0; i < 3; i++) begin(produce);
  join_all();
}

static double ends;

static NOINLINE void *snapshot(void *unused) {
  while (now() < ends) {
    gotrace_stw_begin(GOTRACE_REASON("heap snapshot"));
    work(3);
    gotrace_stw_end();
    rest(10);
  }
  gotrace_thread_end();
  return unused;
}

static void *worker(void *unused) {
  while (now() < ends) {
    GOTRACE_REGION("step") work(1);
    gotrace_wait_begin(GOTRACE_BLOCK_SLEEP);
    rest(1);
    gotrace_wait_end();
  }
  gotrace_thread_end();
  return unused;
}

static void pauses(void) {
  ends = now() + 300;
  begin(snapshot);
  begin(worker);
  begin(worker);
  join_all();
}

static NOINLINE void fetch(bool late) {
  if (!late) return;
  gotrace_wait_begin(GOTRACE_BLOCK_SLEEP);
  rest(60);
  gotrace_wait_end();
}

static void request(bool late) {
  gotrace_task task = gotrace_task_begin("request", GOTRACE_NO_TASK);
  GOTRACE_TASK_REGION(task, "fetch") fetch(late);
  GOTRACE_TASK_REGION(task, "render") work(0.2);
  gotrace_task_end(task);
}

static void task(void) {
  int i;
  for (i = 0; i < 200; i++) {
    request(i == 120);
    gotrace_wait_begin(GOTRACE_BLOCK_SLEEP);
    rest(0.5);
    gotrace_wait_end();
  }
}

/* A scheduler with two workers that wakes only one of them. */
static gotrace_go *jobs[20];
static int next_job;

static void run_jobs(int until, double milliseconds) {
  while (next_job < until) {
    gotrace_go_start(jobs[next_job++]);
    work(milliseconds);
    gotrace_go_end();
  }
}

static void *only_worker(void *own) {
  gotrace_proc *proc = own;
  gotrace_proc_start(proc);
  run_jobs(20, 15);
  gotrace_proc_stop();
  gotrace_thread_end();
  return own;
}

static void procs(void) {
  static const gotrace_location entry = {0, "job", __FILE__, __LINE__};
  gotrace_proc *one = gotrace_proc_create(), *other = gotrace_proc_create();
  int i;
  next_job = 0;
  gotrace_proc_start(other);
  for (i = 0; i < 20; i++) jobs[i] = gotrace_go_create(&entry);
  run_jobs(3, 1);
  gotrace_proc_stop();
  gotrace_procs_change(2);
  pthread_create(&threads[thread_count++], NULL, only_worker, one);
  join_all();
  gotrace_proc_destroy(one);
  gotrace_proc_destroy(other);
}

static NOINLINE void *mark(void *unused) {
  gotrace_thread_begin("marker");
  while (now() < ends) {
    gotrace_gc_begin();
    gotrace_go_label("GC (dedicated)");
    work(8);
    gotrace_gc_end();
    gotrace_wait_begin(GOTRACE_BLOCK_GC_SWEEP);
    rest(1);
    gotrace_wait_end();
  }
  gotrace_thread_end();
  return unused;
}

static void collector(void) {
  ends = now() + 250;
  begin(mark);
  begin(worker);
  join_all();
}

static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void transfer(pthread_mutex_t *from, pthread_mutex_t *to) {
  pthread_mutex_lock(from);
  rest(20);
  pthread_mutex_lock(to);
}

static void *forth(void *unused) { return transfer(&mutex, &other), unused; }
static void *back(void *unused) { return transfer(&other, &mutex), unused; }

static void deadlock(void) {
  begin(forth);
  begin(back);
  rest(200);
  _exit(0);
}

/* ---------------------------------------------------------------------------------------------------- healthy ---- */

static void *short_locker(void *unused) {
  int i;
  for (i = 0; i < 100; i++) work(0.1), get(), rest(1);
  return unused;
}

static void short_lock(void) {
  int i;
  for (i = 0; i < 3; i++) begin(short_locker);
  join_all();
}

static void healthy_tasks(void) {
  int i;
  for (i = 0; i < 100; i++) {
    request(false);
    gotrace_wait_begin(GOTRACE_BLOCK_SLEEP);
    rest(1);
    gotrace_wait_end();
  }
}

static void healthy_workers(void) {
  ends = now() + 250;
  begin(worker);
  begin(worker);
  join_all();
}

static void *short_life(void *unused) {
  rest(1);
  return unused;
}

static void short_lives(void) {
  int i, k;
  for (k = 0; k < 10; k++) {
    for (i = 0; i < 20; i++) begin(short_life);
    join_all();
    rest(10);
  }
}

static const struct {
  const char *name;
  void (*run)(void);
} programs[] = {{"lock_recorded", lock},
                {"deadlock_recorded", deadlock},
                {"rwlock_recorded", rwlock},
                {"leak_recorded", leak},
                {"channel", channel},
                {"pauses", pauses},
                {"task", task},
                {"procs", procs},
                {"collector", collector},
                {"healthy_lock_recorded", short_lock},
                {"healthy_threads_recorded", short_lives},
                {"healthy_tasks", healthy_tasks},
                {"healthy_workers", healthy_workers}};

int main(int count, char **words) {
  size_t i;
  for (i = 0; i < sizeof programs / sizeof *programs; i++) {
    if (count == 1) puts(programs[i].name);
    else if (strcmp(words[1], programs[i].name) != 0) continue;
    if (count == 1) continue;
    if (count > 2 && gotrace_start_file(words[2], NULL) != GOTRACE_OK) return 1;
    programs[i].run();
    return count > 2 && gotrace_stop() != GOTRACE_OK;
  }
  return count != 1;
}
