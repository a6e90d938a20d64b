/* If a thread is preempted inside a call while another thread makes a cut, the call's event belongs before that cut, in
 * time as well as in order. Otherwise Go's reader would find it after the first events of the next generation, and
 * delay those. The test writes the events itself, since a call cannot be held up from outside.
 *
 * Not in: capture capture_address capture_thread, since it looks into the other way of writing. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "test_collect.h"

#include <pthread.h>
#include <sched.h>

enum { LATE = 4711, NEXT = 815 }; /* heap sizes that identify the events */

static uint32_t phase;
static enum { SLOW, FAST, REFILL } way; /* held up: with its stream open, in the fast path, before opening its stream */

static void reach(uint32_t next) { __atomic_store_n(&phase, next, __ATOMIC_RELEASE); }
static void await(uint32_t wanted) {
  while (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) < wanted) sched_yield();
}

/* Stays in a call from before the cut until another thread has written an event after the cut. */
static void *straggler(void *unused) {
  gotrace__call c;
  gotrace_thread_begin("straggler");
  gotrace_heap_alloc(1);
  if (way == REFILL) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK); /* the thread has no buffer then */
  if (way == SLOW) CHECK(gotrace__call_begin(&c, NULL, GOTRACE__ANY));
  else if (way == FAST) CHECK(gotrace__enter_fast(&c, false) && gotrace__choose_stream(&c));
  else gotrace__enter(&c, gotrace__me(), NULL);
  reach(1);
  await(2);
  if (way == REFILL) gotrace__open(&c, c.m->proc);
  if (c.v2) gotrace__v2_write1(&c, GOTRACE_V2_HEAP_ALLOC, gotrace__stamp(&c, NULL), LATE);
  else gotrace__v1_write1(&c, GOTRACE_V1_HEAP_ALLOC, gotrace__stamp(&c, NULL), LATE);
  gotrace__leave(&c);
  return unused;
}

static void *cutter(void *unused) {
  await(1);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK); /* waits for the straggler's call */
  return unused;
}

/* The time of the event with this heap size, in ticks as in the file, and its generation (v2; otherwise 0). */
static int64_t time_of(const test_bytes *bytes, uint64_t heap, uint64_t *generation) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder;
  gotrace_decoder_info info;
  gotrace_event event;
  int64_t time = -1;
  memset(&options, 0, sizeof options);
  options.data = bytes->data;
  options.size = bytes->size;
  options.raw = true;
  CHECK_EQUAL(gotrace_decoder_open(&decoder, &options), GOTRACE_OK);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK)
    if (strcmp(event.spec->name, "HeapAlloc") == 0 && event.arg_count && event.args[event.arg_count - 1] == heap) {
      time = event.time;
      gotrace_decoder_get_info(decoder, &info);
      *generation = info.generation;
    }
  gotrace_decoder_close(decoder);
  return time;
}

static void late_event(gotrace_format format) {
  pthread_t threads[2];
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  uint64_t before, late_generation = 0, next_generation = 0;
  int64_t late, next;
  phase = 0;
  gotrace_thread_begin("main");
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_heap_alloc(2);
  CHECK(pthread_create(&threads[0], NULL, straggler, NULL) == 0);
  await(1);
  before = gotrace__load_relaxed(&gotrace__t.control);
  CHECK(pthread_create(&threads[1], NULL, cutter, NULL) == 0);
  while (gotrace__load_acquire(&gotrace__t.control) == before) sched_yield();
  gotrace_heap_alloc(NEXT);
  reach(2);
  CHECK(pthread_join(threads[0], NULL) == 0);
  CHECK(pthread_join(threads[1], NULL) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  late = time_of(&bytes, LATE, &late_generation);
  next = time_of(&bytes, NEXT, &next_generation);
  CHECK(late > 0 && next > 0);
  /* A call that opens its stream after the cut may move to the next generation. */
  if (way == REFILL && format >= GOTRACE_GO_1_22 && late_generation == next_generation) late = next;
  else if (format >= GOTRACE_GO_1_22) CHECK_EQUAL(late_generation, next_generation - 1);
  CHECK(late <= next);
  test_free(&bytes);
}

int main(void) {
  static const gotrace_format formats[] = {GOTRACE_GO_1_11, GOTRACE_GO_1_21, GOTRACE_GO_1_23, GOTRACE_GO_1_26};
  size_t i;
  for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    way = SLOW;
    late_event(formats[i]);
    way = FAST;
    late_event(formats[i]);
    way = REFILL;
    late_event(formats[i]);
  }
  return 0;
}
