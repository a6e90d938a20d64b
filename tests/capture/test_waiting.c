/* What waits for a thread that is held up inside a call: a cut and an unblock never do. A stop does for a limited time,
 * in which it sleeps and leaves the processor to that thread; then it gives the call up. */
#define _GNU_SOURCE
#include "../test.h"
#include <poll.h>
#include <pthread.h>
#include <sched.h>

/* The tracer sleeps by this call. */
static int poll_hooked(struct pollfd *files, nfds_t count, int milliseconds);
#define poll(files, count, milliseconds) poll_hooked(files, count, milliseconds)
#define GOTRACE__SPINS 1
#define GOTRACE__YIELDS 1
#define GOTRACE__STOP_NANOSECONDS patience
static uint64_t patience;
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#undef poll
#include "../test_collect.h"

enum { FREE, HOLD, HELD };
static uint32_t state; /* atomic */
static int sleeps_until_free;
static unsigned held;

static void set(uint32_t next) { __atomic_store_n(&state, next, __ATOMIC_RELEASE); }
static void wait_for(uint32_t wanted) {
  while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != wanted) sched_yield();
}

/* Lets the held thread go on after some sleeps of the thread that waits for it. */
static int poll_hooked(struct pollfd *files, nfds_t count, int milliseconds) {
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == HELD && sleeps_until_free && !--sleeps_until_free) set(FREE);
  return poll(files, count, milliseconds);
}

/* The unwinder, which runs inside the call and holds it up. */
static int unwind(void *context, uintptr_t *pcs, int max) {
  (void)context, (void)max;
  pcs[0] = (uintptr_t)unwind;
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == HOLD) {
    set(HELD);
    wait_for(FREE);
    pcs[0] += ++held; /* a stack that no table has yet */
  }
  return 1;
}

static void *held_log(void *unused) {
  gotrace_thread_begin("held");
  set(HOLD);
  gotrace_log(GOTRACE_NO_TASK, "held", "message");
  return unused;
}

static gotrace_go *woken;
static void *held_unblock(void *unused) {
  set(HOLD);
  gotrace_go_unblock(woken);
  return unused;
}

static void hold(pthread_t *thread, void *(*call)(void *)) {
  CHECK(pthread_create(thread, NULL, call, NULL) == 0);
  wait_for(HELD);
}

int main(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_stats stats;
  pthread_t thread;
  int i;
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = unwind;

  /* The held thread goes on only after these calls have returned. */
  patience = UINT64_MAX;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK((woken = gotrace_go_create_blocked(NULL)) != NULL);
  hold(&thread, held_unblock);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  gotrace_go_unblock(woken);
  gotrace_get_stats(&stats);
  gotrace_proc_start(proc);
  gotrace_go_start(woken);
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  gotrace_proc_stop();
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  set(FREE);
  CHECK(pthread_join(thread, NULL) == 0);

  /* The stop returns only after the held thread has gone on. */
  hold(&thread, held_log);
  sleeps_until_free = 5;
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(sleeps_until_free, 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count_logs(&bytes, "held"), 1);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_CREATE_NO_PROC], 1);
  CHECK_EQUAL(stats.dropped + stats.repaired, 1);

  /* It gives the call up, which goes on before or after the next start. */
  patience = 0;
  for (i = 0; i < 2; i++) {
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    hold(&thread, held_log);
    gotrace_log(GOTRACE_NO_TASK, "other", "message");
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    CHECK_OPENS(&bytes);
    CHECK_EQUAL(test_count_logs(&bytes, "held"), 0);
    CHECK_EQUAL(test_count_logs(&bytes, "other"), 1);
    if (i == 0) {
      set(FREE);
      CHECK(pthread_join(thread, NULL) == 0);
    }
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    if (i == 1) {
      set(FREE);
      CHECK(pthread_join(thread, NULL) == 0);
    }
    gotrace_log(GOTRACE_NO_TASK, "other", "message");
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    CHECK_OPENS(&bytes);
    CHECK_EQUAL(test_count_logs(&bytes, "held"), 0);
    CHECK_EQUAL(test_count_logs(&bytes, "other"), 1);
  }
  test_free(&bytes);
  return 0;
}
