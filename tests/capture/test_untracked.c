/* gotrace_track_while_off: while tracing is off, handles are NULL and nothing is kept. A trace that starts in the
 * middle of anything lacks what is older, counts no problem, and has all that is newer. */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

static const gotrace_location job = GOTRACE_NAMED_ENTRY("job");
static int key;

/* Fails if a problem was counted: a call about what is older than the trace is none. */
static void check_no_problems(void) {
  gotrace_stats stats;
  int i;
  gotrace_get_stats(&stats);
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) {
    if (stats.problems[i]) fprintf(stderr, "%s\n", gotrace_problem_string((gotrace_problem)i));
    CHECK_EQUAL(stats.problems[i], 0);
  }
}

static void start(gotrace_format format, test_bytes *bytes) {
  gotrace_options options = test_options(format, bytes);
  bytes->size = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
}

/* Ends the trace, which must have so many goroutines. */
static void finish(test_bytes *bytes, uint64_t goroutines) {
  gotrace_stats stats;
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  check_no_problems();
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.goroutines, goroutines);
  CHECK_OPENS(bytes);
}

static void run_job(void) {
  gotrace_go *go = gotrace_go_create(&job);
  gotrace_go_start(go);
  gotrace_go_end();
}

/* A worker; the trace starts while it runs a job, while a job is blocked, and inside nested running. */
static void worker(gotrace_format format, test_bytes *bytes) {
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *go, *outer;
  gotrace_proc_start(proc);
  run_job();
  go = gotrace_go_create(&job);
  CHECK(!go && !gotrace_go_create_blocked(&job) && !gotrace_go_create_syscall(&job));
  gotrace_go_start(go);
  start(format, bytes);
  if (format >= GOTRACE_GO_1_11) gotrace_region_end(GOTRACE_NO_TASK, "older");
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  gotrace_go_unblock(go);
  gotrace_go_start(go);
  gotrace_go_end();
  run_job();
  finish(bytes, 1);

  gotrace_go_start(NULL);
  outer = gotrace_nest_begin(NULL);
  gotrace_go_start(NULL);
  start(format, bytes);
  gotrace_go_end();
  go = gotrace_go_create(&job);
  CHECK(go && !gotrace_go_self());
  gotrace_go_start(go);
  gotrace_go_end();
  gotrace_nest_end(outer);
  gotrace_go_end();
  run_job();
  finish(bytes, 2);
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
}

typedef struct thread_story {
  gotrace_format format;
  test_bytes *bytes;
  int story;
} thread_story;

/* A plain thread; the trace starts inside a wait, a system call, nested running in a wait. */
static void *plain(void *argument) {
  const thread_story *s = argument;
  gotrace_go *outer = NULL;
  gotrace_thread_begin_as(NULL);
  CHECK(!gotrace_go_self());
  if (s->story == 0) gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  if (s->story == 1) gotrace_wait_on(&key, GOTRACE_BLOCK_SYNC);
  if (s->story == 2) gotrace_go_syscall_begin();
  if (s->story == 3) {
    gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
    outer = gotrace_nest_begin(NULL);
    gotrace_go_start(NULL);
  }
  start(s->format, s->bytes);
  CHECK_EQUAL(gotrace_wake(&key, GOTRACE_WAKE_ALL), 0);
  if (s->story == 2) gotrace_go_syscall_end();
  if (s->story == 3) {
    gotrace_go_end();
    gotrace_nest_end(outer);
  }
  if (s->story != 2) gotrace_wait_end();
  CHECK(gotrace_go_self());
  gotrace_thread_end();
  return NULL;
}

int main(void) {
  test_bytes bytes = {NULL, 0, 0};
  size_t i;
  int story;
  gotrace_go *go = gotrace_go_create(&job);
  CHECK(go != NULL);
  gotrace_go_destroy(go);
  gotrace_track_while_off(false);
  for (i = 0; i < TEST_FORMATS; i++) {
    worker(test_formats[i], &bytes);
    for (story = 0; story < 4; story++) {
      thread_story s;
      pthread_t thread;
      s.format = test_formats[i];
      s.bytes = &bytes;
      s.story = story;
      CHECK(pthread_create(&thread, NULL, plain, &s) == 0);
      CHECK(pthread_join(thread, NULL) == 0);
      finish(&bytes, 1);
    }
  }
  /* What was made during a trace stays known after it. */
  start(GOTRACE_GO_1_23, &bytes);
  go = gotrace_go_create(&job);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_go_start(go);
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  start(GOTRACE_GO_1_23, &bytes);
  gotrace_proc_start(gotrace_proc_create());
  gotrace_go_start(go);
  gotrace_go_end();
  gotrace_proc_stop();
  finish(&bytes, 1);
  gotrace_track_while_off(true);
  CHECK((go = gotrace_go_create(&job)) != NULL);
  gotrace_go_destroy(go);
  test_free(&bytes);
  return 0;
}
