/* Threads that are held up inside a call, or at their end, while a trace ends; a tick counter that has jumped back.
 * Not in: address valgrind windows, since the first two count as leaked what stays allocated for a call that is held
 * up, and Windows ends one thread at a time. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
static void *test_allocate(size_t size);
static void test_free_memory(void *memory, size_t size);
#define GOTRACE_MALLOC(size) test_allocate(size)
#define GOTRACE_FREE(pointer, size) test_free_memory(pointer, size)
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#include <pthread.h>
#include <sched.h>

static __thread bool memory_is_out, ends;
static uint32_t phase;

static void reach(uint32_t next) { __atomic_store_n(&phase, next, __ATOMIC_RELEASE); }
static void await(uint32_t wanted) {
  while (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) < wanted) sched_yield();
}

/* Out of memory, while the limit refuses memory to another thread. */
static void *test_allocate(size_t size) {
  if (!memory_is_out) return malloc(size);
  CHECK(gotrace__allocate(&gotrace__t.budget, (size_t)1 << 40, true) == NULL);
  return NULL;
}

/* A thread frees its list of places at its end, inside a call. */
static void test_free_memory(void *memory, size_t size) {
  if (ends && size == GOTRACE__MOST_FREE * sizeof(gotrace_go *)) {
    ends = false;
    reach(1);
    await(2);
  }
  free(memory);
}

static int unwinds;
static int unwind(void *context, uintptr_t *pcs, int max) {
  (void)context, (void)max;
  pcs[0] = (uintptr_t)&unwinds;
  unwinds++;
  return 1;
}

/* A call is held up until the next trace, which has no unwinder. */
static void unwinder_of_another_trace(void) {
  gotrace_options options;
  test_bytes bytes = {NULL, 0, 0};
  gotrace__thread *m;
  uint32_t session;
  memset(&options, 0, sizeof options);
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = unwind;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "a", "b");
  CHECK(unwinds > 0);
  m = gotrace__self;
  session = gotrace__on;
  gotrace__raise(m);
  gotrace__on = session + 1;
  gotrace__t.options.unwind = NULL;
  CHECK_EQUAL(gotrace__captured_stack(m, NULL, NULL), 0);
  gotrace__t.options.unwind = unwind;
  gotrace__on = session;
  gotrace__leave(m);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
}

/* The counter has jumped back: the last records of the thread and its goroutine, or the trace's start, are far ahead of
 * it. The samples do not wait until the counter arrives there. */
static void samples_after_a_jump(void) {
  gotrace_options options;
  test_bytes bytes = {NULL, 0, 0};
  gotrace__uint64 *ticks[2], saved;
  int i;
  memset(&options, 0, sizeof options);
  options.cut_milliseconds = 1000000;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "a", "b");
  ticks[0] = &gotrace__self->go->tick;
  ticks[1] = &gotrace__t.start_tick;
  for (i = 0; i < 2; i++) {
    uint64_t taken = gotrace__t.sample_head;
    saved = *ticks[i];
    *ticks[i] += (uint64_t)1 << 40;
    gotrace_cpu_sample(NULL);
    *ticks[i] = saved;
    gotrace_cpu_sample(NULL);
    CHECK_EQUAL(gotrace__t.sample_head, taken + 2);
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    CHECK_EQUAL(gotrace__t.sample_tail, taken + 2);
  }
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "CPUSample"), 4);
  test_free(&bytes);
}

/* The same for the thread's records: the next but one begins another chunk, and none is behind the end of its chunk. */
static void records_after_a_jump(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  const gotrace__thread *m;
  int i;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "a", "b");
  m = gotrace__self;
  gotrace__self->tick += (uint64_t)1 << 40;
  for (i = 0; i < 3000; i++) {
    gotrace_log(GOTRACE_NO_TASK, "a", "b");
    CHECK(m->chunk->size <= m->chunk->capacity);
    if (i) CHECK(gotrace__now() + GOTRACE__FAR > m->tick);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "UserLog"), 3001);
  test_free(&bytes);
}

/* A thread is held up at its end while the trace ends. Its record is free as soon as it goes on. */
static void *end_slowly(void *unused) {
  gotrace_log(GOTRACE_NO_TASK, "a", "b");
  ends = true;
  return unused;
}

static void *log_once(void *unused) {
  gotrace_log(GOTRACE_NO_TASK, "a", "b");
  return unused;
}

static void record_of_an_ended_thread(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  const gotrace__thread *m;
  pthread_t thread;
  uint64_t records;
  size_t used;
  phase = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&thread, NULL, end_slowly, NULL) == 0);
  await(1);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  reach(2);
  CHECK(pthread_join(thread, NULL) == 0);
  for (m = gotrace__t.threads; m; m = m->next) CHECK(m->used != GOTRACE__ENDED);
  CHECK_OPENS(&bytes);
  bytes.size = 0;
  records = gotrace__t.thread_count;
  used = gotrace__t.budget.used; /* the thread's chunk, and the tables, which its call might have used */
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&thread, NULL, log_once, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(gotrace__t.thread_count, records);
  CHECK_EQUAL(gotrace__t.budget.used, used - GOTRACE__FIRST_CHUNK_BYTES);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
}

/* The first call of the collector in a trace is held up, so that its records are lost, also what it says of a
 * stop-the-world before the trace. The end of that is no problem. */
static void first_collector_call(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  gotrace_stats stats;
  gotrace_stw_begin(GOTRACE_STW_GC_MARK_TERM);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "a", "b");
  gotrace__raise(gotrace__self);
  CHECK_EQUAL(gotrace__next_collector(gotrace__self), 1);
  gotrace__leave(gotrace__self);
  gotrace_stw_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_STW_STATE], 0);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
}

static void out_of_memory(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  memory_is_out = true;
  while (gotrace_enabled()) gotrace_log(GOTRACE_NO_TASK, "a", "b");
  memory_is_out = false;
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_OUT_OF_MEMORY);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
}

int main(void) {
  unwinder_of_another_trace();
  samples_after_a_jump();
  records_after_a_jump();
  first_collector_call();
  out_of_memory();
  record_of_an_ended_thread();
  return 0;
}
