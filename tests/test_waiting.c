/* Waiting for a thread that is held up inside a call sleeps, and leaves the processor to it: in stop, in a cut, and in
 * a call about a goroutine that another call holds.
 *
 * Not in: capture capture_address capture_thread, since it looks into the other way of writing. */
#define _GNU_SOURCE
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "test_collect.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { HELD = 300 }; /* milliseconds */

static uint32_t held, hold; /* atomic */
static gotrace_go *blocked;

static uint64_t milliseconds(clockid_t clock) {
  struct timespec now;
  CHECK(clock_gettime(clock, &now) == 0);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void hold_up(void) {
  struct timespec time = {0, HELD * 1000000};
  if (!__atomic_exchange_n(&hold, 0, __ATOMIC_ACQ_REL)) return;
  __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
  nanosleep(&time, NULL);
}

/* The unwinder, which runs inside the call and holds it up. */
static int unwind(void *context, uintptr_t *pcs, int max) {
  (void)context, (void)max;
  hold_up();
  pcs[0] = (uintptr_t)unwind;
  return 1;
}

static void *region(void *unused) {
  gotrace_thread_begin("held");
  GOTRACE_REGION("region") gotrace_log(GOTRACE_NO_TASK, "category", "message");
  return unused;
}

/* Holds a goroutine's busy bit, as calls on the goroutine do. They run no callback meanwhile, so the test sets the bit
 * itself. */
static void *hold_goroutine(void *unused) {
  uint64_t word = gotrace__load_acquire(&blocked->word);
  gotrace__store_release(&blocked->word, word | GOTRACE__BUSY);
  hold_up();
  gotrace__store_release(&blocked->word, word);
  return unused;
}

static gotrace_result unblock(void) {
  gotrace_go_unblock(blocked);
  return GOTRACE_OK;
}

/* Makes a call while another thread is held up. */
static void waits(void *(*held_up)(void *), gotrace_result (*call)(void)) {
  pthread_t thread;
  uint64_t cpu, since;
  __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&hold, 1, __ATOMIC_RELEASE);
  CHECK(pthread_create(&thread, NULL, held_up, NULL) == 0);
  while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE)) sched_yield();
  cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID), since = milliseconds(CLOCK_MONOTONIC);
  CHECK_EQUAL(call(), GOTRACE_OK);
  CHECK(milliseconds(CLOCK_MONOTONIC) - since >= HELD / 2); /* it waited */
  cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  if (cpu > HELD / 3) fprintf(stderr, "%llu ms\n", (unsigned long long)cpu);
  CHECK(cpu <= HELD / 3);
  CHECK(pthread_join(thread, NULL) == 0);
}

int main(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = unwind;
  options.write = test_sink;
  options.context = &bytes;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  waits(region, gotrace_advance);
  CHECK((blocked = gotrace_go_create_blocked(NULL)) != NULL);
  waits(hold_goroutine, unblock);
  waits(region, gotrace_stop);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
  return 0;
}
