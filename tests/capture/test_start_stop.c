/* Tracing starts and stops at any time (promise R3): thousands of times while threads emit, with threads that begin and
 * end, and a goroutine that lives through several traces. Go opens some of the traces. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_trace.h"

#include <pthread.h>
#include <unistd.h>

#define THREADS 8
static int quit; /* atomic */

/* Makes all calls of plain threads, until the end. */
static void *plain(void *unused) {
  (void)unused;
  while (!__atomic_load_n(&quit, __ATOMIC_RELAXED)) {
    GOTRACE_REGION("plain") {
      gotrace_log(GOTRACE_NO_TASK, "category", "message");
      gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
      gotrace_wait_end();
    }
    gotrace_go_syscall_begin();
    sched_yield(); /* with more threads than processors, each would otherwise be preempted inside a call */
    gotrace_go_syscall_end();
  }
  return NULL;
}

/* A worker with its own goroutines. */
static void *worker(void *unused) {
  static const gotrace_location entry = GOTRACE_ENTRY(worker);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *old;
  (void)unused;
  CHECK(proc != NULL);
  gotrace_proc_start(proc);
  old = gotrace_go_create(&entry); /* lives through all traces */
  while (!__atomic_load_n(&quit, __ATOMIC_RELAXED)) {
    gotrace_go *young = gotrace_go_create(&entry);
    gotrace_go_start(young);
    gotrace_go_block(GOTRACE_BLOCK_CHAN_RECV);
    gotrace_go_start(old);
    gotrace_go_unblock(young);
    gotrace_go_stop(GOTRACE_STOP_YIELD);
    gotrace_go_start(young);
    gotrace_go_end();
    sched_yield();
  }
  gotrace_go_start(old);
  gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  return NULL;
}

/* A thread that lives for one region. */
static void *short_lived(void *unused) {
  (void)unused;
  GOTRACE_REGION("short") gotrace_heap_alloc(1);
  return NULL;
}

static void *come_and_go(void *unused) {
  (void)unused;
  while (!__atomic_load_n(&quit, __ATOMIC_RELAXED)) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, short_lived, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
  }
  return NULL;
}

static bool swallow(void *context, const void *data, size_t size) {
  (void)data;
  *(uint64_t *)context += size;
  return true;
}

int main(void) {
  pthread_t threads[THREADS + 1];
  long round, rounds = test_scaled(10000);
  uint64_t bytes = 0;
  size_t i;
  for (i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, i % 2 ? plain : worker, NULL) == 0);
  CHECK(pthread_create(&threads[THREADS], NULL, come_and_go, NULL) == 0);
  for (round = 0; round < rounds; round++) {
    gotrace_options options;
    gotrace_stats stats;
    char name[32];
    bool keep = round % (rounds / (test_brief() ? 10 : 20) + 1) == 0;
    memset(&options, 0, sizeof options);
    options.format = test_formats[(size_t)round % TEST_FORMATS];
    options.write = swallow;
    options.context = &bytes;
    options.on_limit = GOTRACE_LIMIT_BLOCK; /* the threads may write for long while this one has no processor */
    snprintf(name, sizeof name, "start_stop%ld", round);
    if (keep) CHECK_EQUAL(gotrace_start_file(test_trace_path(name, options.format), &options), GOTRACE_OK);
    else CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    CHECK_EQUAL(gotrace_start(NULL), GOTRACE_ERROR_ALREADY_RUNNING);
    if (keep) usleep(2000); /* other traces are as short as possible */
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
    if (keep) test_write_kinds(name, options.format);
    gotrace_get_stats(&stats);
    if (options.format >= GOTRACE_GO_1_11) { /* the others lack regions and logs */
      int problem;
      for (problem = 0; problem < GOTRACE_PROBLEM_COUNT; problem++)
        if (stats.problems[problem]) fprintf(stderr, "%s\n", gotrace_problem_string((gotrace_problem)problem));
      CHECK_EQUAL(stats.dropped, 0);
      CHECK_EQUAL(stats.repaired, 0);
    }
  }
  __atomic_store_n(&quit, 1, __ATOMIC_RELAXED);
  for (i = 0; i <= THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(bytes > 0);
  return 0;
}
