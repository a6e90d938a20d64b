/* gotrace_go_continue: blocks that did not happen, and wake-ups that come before the wait, as in the header's example
 * of a token. No problem is counted, whoever is faster. */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>
#include <sched.h>

enum { RUNNING, PARKED, NOTIFIED };
static int state; /* atomic */
static gotrace_go *waiter_go;
static long rounds;

static void park(void) {
  int expected = RUNNING;
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  if (__atomic_compare_exchange_n(&state, &expected, PARKED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != NOTIFIED) sched_yield();
    gotrace_go_start(waiter_go);
  } else {
    gotrace_go_continue(waiter_go);
  }
}

static void unpark(void) {
  int expected = PARKED;
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == PARKED) {
    gotrace_go_unblock(waiter_go); /* before it can run: only this thread ends the wait */
    __atomic_compare_exchange_n(&state, &expected, NOTIFIED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return;
  }
  expected = RUNNING;
  if (!__atomic_compare_exchange_n(&state, &expected, NOTIFIED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) unpark();
}

static void *waker(void *argument) {
  long i;
  (void)argument;
  for (i = 0; i < rounds; i++) {
    unpark();
    while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == NOTIFIED) sched_yield();
  }
  return NULL;
}

static void tokens(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  pthread_t thread;
  gotrace_stats stats;
  long i;
  rounds = test_scaled(500);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  waiter_go = gotrace_go_self();
  state = RUNNING;
  CHECK(pthread_create(&thread, NULL, waker, NULL) == 0);
  for (i = 0; i < rounds; i++) {
    if (i % 2) sched_yield();
    park();
    CHECK(gotrace_go_self() == waiter_go);
    __atomic_store_n(&state, RUNNING, __ATOMIC_RELEASE);
  }
  CHECK(pthread_join(thread, NULL) == 0);
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired, 0);
  if (format >= GOTRACE_GO_1_22) {
    CHECK_EQUAL(test_count(&bytes, "GoBlock"), (uint64_t)rounds);
    CHECK_EQUAL(test_count(&bytes, "GoUnblock"), (uint64_t)rounds);
  }
  test_free(&bytes);
}

/* Without another thread: each block is taken back. */
static void taken_back(gotrace_format format) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("worker");
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *go;
  gotrace_stats stats;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_proc_start(proc);
  go = gotrace_go_create(&entry);
  gotrace_go_start(go);
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  gotrace_go_continue(go);
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  gotrace_go_continue(go);
  gotrace_go_block(GOTRACE_BLOCK_SYNC); /* a waker was faster */
  gotrace_go_unblock(go);
  gotrace_go_continue(go);
  CHECK(gotrace_go_self() == go);
  gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired + stats.left_out, 0);
  if (format >= GOTRACE_GO_1_22) CHECK_EQUAL(test_count(&bytes, "GoStart"), 4);
  test_free(&bytes);
}

int main(void) {
  size_t i;
  for (i = 0; i < TEST_FORMATS; i++) {
    taken_back(test_formats[i]);
    tokens(test_formats[i]);
  }
  return 0;
}
