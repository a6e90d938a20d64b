/* Races between plain stores while tracing is off, and the effects of a call that began just before a trace. The test
 * makes the racing store itself, since a thread cannot be held up there from outside. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#include <pthread.h>
#include <sched.h>

static uint32_t phase;
static bool in_syscall;

static void reach(uint32_t next) { __atomic_store_n(&phase, next, __ATOMIC_RELEASE); }
static void await(uint32_t wanted) {
  while (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) < wanted) sched_yield();
}

/* Two wakers of one goroutine, such as a time-out and a signal: the second one saw the goroutine wait, and stores
 * "runnable" when it already runs, as gotrace_go_unblock does while tracing is off. */
static void *woken_twice(void *unused) {
  gotrace_go *self;
  gotrace_thread_begin("woken");
  self = gotrace_go_self();
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  if (in_syscall) gotrace_go_syscall_begin();
  gotrace__store_relaxed(&self->status, (uint8_t)GOTRACE__RUNNABLE);
  reach(1);
  await(2);
  if (in_syscall) gotrace_go_syscall_end();
  GOTRACE_REGION("goes on") {
  }
  return unused;
}

static void undone_start(gotrace_format format, bool advance) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_stats stats;
  pthread_t thread;
  phase = 0;
  CHECK(pthread_create(&thread, NULL, woken_twice, NULL) == 0);
  await(1);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  if (advance) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  reach(2);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped, 0);
  CHECK_EQUAL(stats.repaired, 0);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
}

/* A call that found tracing off changes the state of the collector after the trace has begun. */
static void late_collector(gotrace_format format, bool in_trace) {
  bool late_begin;
  for (late_begin = false;; late_begin = true) {
    test_bytes bytes = {NULL, 0, 0};
    gotrace_options options = test_options(format, &bytes);
    gotrace_stats stats;
    if (!late_begin) {
      gotrace_gc_begin();
      gotrace_stw_begin(GOTRACE_STW_GC_MARK_TERM);
    }
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    if (in_trace) gotrace_region_begin(GOTRACE_NO_TASK, "shows the state");
    gotrace__store_relaxed(&gotrace__t.gc, (uint32_t)late_begin);
    gotrace__store_relaxed(&gotrace__t.stw, (uint32_t)late_begin);
    if (late_begin) {
      gotrace_stw_end();
      gotrace_gc_end();
    }
    if (in_trace) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    gotrace_gc_begin();
    gotrace_stw_begin(GOTRACE_STW_GC_MARK_TERM);
    gotrace_stw_end();
    gotrace_gc_end();
    if (in_trace) gotrace_region_end(GOTRACE_NO_TASK, "shows the state");
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    gotrace_get_stats(&stats);
    CHECK_EQUAL(stats.dropped, 0);
    CHECK_EQUAL(stats.repaired, 0);
    CHECK_OPENS(&bytes);
    CHECK_EQUAL(stats.kinds[format < GOTRACE_GO_1_22 ? (int)GOTRACE_V1_STW_START : (int)GOTRACE_V2_STW_BEGIN], 1);
    test_free(&bytes);
    if (late_begin) break;
  }
}

int main(void) {
  static const gotrace_format formats[] = {GOTRACE_GO_1_11, GOTRACE_GO_1_21, GOTRACE_GO_1_22, GOTRACE_GO_1_23,
                                           GOTRACE_GO_1_26};
  size_t i;
  gotrace_thread_begin("main");
  for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    for (in_syscall = false;; in_syscall = true) {
      undone_start(formats[i], false);
      undone_start(formats[i], true);
      if (in_syscall) break;
    }
    late_collector(formats[i], false);
    late_collector(formats[i], true);
  }
  return 0;
}
