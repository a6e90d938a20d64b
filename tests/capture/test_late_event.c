/* A thread is held up inside a call while another thread makes a cut, or stops the trace. Nobody waits for long. After
 * a cut, the call's event belongs to the next generation, in time as well as in order: otherwise Go's reader would find
 * it before the first events of that generation, and they would be late. After a stop the record is lost, and must not
 * turn up in the next trace. The test makes the record itself, since a call cannot be held up from outside. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#include <pthread.h>
#include <sched.h>

enum { FIRST = 99, LATE = 4711, NEXT = 815, AFTER = 333 }; /* heap sizes that identify the events */

static uint32_t phase;
static void reach(uint32_t next) { __atomic_store_n(&phase, next, __ATOMIC_RELEASE); }
static void await(uint32_t wanted) {
  while (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) < wanted) sched_yield();
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

static enum { BEFORE_CLOCK, BEFORE_PUBLISHING } way; /* where it is held up */

/* Stays in a call from before the cut or stop until another thread lets it go on. */
static void *held_up(void *unused) {
  gotrace__thread *m;
  gotrace__record *record = NULL;
  gotrace_thread_begin("held up");
  gotrace_heap_alloc(1);
  m = gotrace__caller();
  CHECK(gotrace__begin(m));
  if (way == BEFORE_PUBLISHING) record = gotrace__about_nothing(m, GOTRACE__REC_HEAP_ALLOC, gotrace__nowhere);
  reach(1);
  await(2);
  if (way == BEFORE_CLOCK) record = gotrace__about_nothing(m, GOTRACE__REC_HEAP_ALLOC, gotrace__nowhere);
  record->as_HEAP_ALLOC.bytes = LATE;
  gotrace__publish_as(m, record, HEAP_ALLOC);
  gotrace__leave(m);
  gotrace_heap_alloc(AFTER);
  return unused;
}

static uint64_t clamped(void) {
  uint64_t count;
  gotrace__lock(&gotrace__t.work);
  count = gotrace__t.transcriber->counters.clamped;
  gotrace__unlock(&gotrace__t.work);
  return count;
}

static void across_a_cut(gotrace_format format) {
  pthread_t thread;
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  uint64_t late_generation = 0, next_generation = 0, before;
  int64_t first, late, next;
  phase = 0;
  options.late = true;   /* no other round, whose beginning the record would be moved to */
  gotrace_heap_alloc(1); /* each trace begins with the last value */
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_heap_alloc(FIRST);
  CHECK(pthread_create(&thread, NULL, held_up, NULL) == 0);
  await(1);
  before = clamped();
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK); /* does not wait for the call */
  gotrace_heap_alloc(NEXT);
  reach(2);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  CHECK_EQUAL(clamped() - before, way == BEFORE_PUBLISHING);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  first = time_of(&bytes, FIRST, &late_generation);
  late = time_of(&bytes, LATE, &late_generation);
  next = time_of(&bytes, NEXT, &next_generation);
  CHECK(first > 0 && late > first && next > first);
  CHECK_EQUAL(late_generation, next_generation);
  if (way == BEFORE_PUBLISHING) CHECK(late <= next); /* moved to the cut */
  CHECK(time_of(&bytes, AFTER, &next_generation) >= late);
  test_free(&bytes);
}

static void across_a_stop(gotrace_format format) {
  pthread_t thread;
  test_bytes bytes[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
  gotrace_options options = test_options(format, &bytes[0]);
  uint64_t generation;
  gotrace_stats stats;
  phase = 0;
  gotrace_heap_alloc(1); /* each trace begins with the last value */
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_heap_alloc(FIRST);
  CHECK(pthread_create(&thread, NULL, held_up, NULL) == 0);
  await(1);
  gotrace_heap_alloc(NEXT);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK); /* gives the call up */
  options = test_options(format, &bytes[1]);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_heap_alloc(NEXT);
  reach(2);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired, 0);
  CHECK_OPENS(&bytes[0]);
  CHECK_OPENS(&bytes[1]);
  CHECK(time_of(&bytes[0], NEXT, &generation) > 0 && time_of(&bytes[1], NEXT, &generation) > 0);
  CHECK_EQUAL(time_of(&bytes[0], LATE, &generation), -1);
  CHECK_EQUAL(time_of(&bytes[1], LATE, &generation), -1);
  CHECK_EQUAL(time_of(&bytes[0], AFTER, &generation), -1);
  CHECK(time_of(&bytes[1], AFTER, &generation) > 0); /* its next call is in the next trace */
  test_free(&bytes[0]);
  test_free(&bytes[1]);
}

int main(void) {
  static const gotrace_format formats[] = {GOTRACE_GO_1_11, GOTRACE_GO_1_21, GOTRACE_GO_1_23, GOTRACE_GO_1_26};
  size_t i;
  gotrace_thread_begin("main");
  for (i = 0; i < 2 * sizeof formats / sizeof formats[0]; i++) {
    way = i % 2 ? BEFORE_PUBLISHING : BEFORE_CLOCK;
    across_a_cut(formats[i / 2]);
    across_a_stop(formats[i / 2]);
  }
  return 0;
}
