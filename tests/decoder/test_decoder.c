/* The decoder by itself: what it rejects and why, what it delivers from a broken trace, out of memory, modified bytes.
 * tests/decoder/decoder_agrees_with_go.py compares its output with Go's. */
#define GOTRACE_IMPLEMENTATION
#define GOTRACE__AHEAD_ALL 3 /* few events are read ahead, as in traces of many threads */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

/* ---- Decoding in every way ---- */

typedef struct outcome {
  gotrace_result result;
  uint64_t events, offset;
  uint64_t hash; /* of all events */
  char event[32];
} outcome;

static uint64_t hash_of(uint64_t hash, const void *data, size_t size) {
  const uint8_t *at = data;
  for (; size; size--) hash = (hash ^ *at++) * 1099511628211u;
  return hash;
}

/* Decodes the whole trace and reads every string and stack. `first`: the number of events that go into the hash. */
static outcome decode(const gotrace_decoder_options *options, uint64_t first) {
  outcome o;
  gotrace_decoder *d = NULL;
  gotrace_event e;
  int again;
  memset(&o, 0, sizeof o);
  o.hash = 14695981039346656037u;
  o.result = gotrace_decoder_open(&d, options);
  while (!o.result && !(o.result = gotrace_decoder_next(d, &e))) {
    gotrace_frame frames[3];
    const char *text;
    size_t size, i;
    CHECK(e.spec && e.spec->number == e.kind && e.arg_count <= 5);
    CHECK(!e.data_size || e.data);
    for (i = 0; i < 5; i++)
      if (gotrace_decoder_string(d, e.args[i], &text, &size)) CHECK(size == 0 || text);
    CHECK(gotrace_decoder_stack(d, e.stack, frames, 3) <= 1000);
    if (o.events++ >= first) continue;
    /* The time of a Sync is that of its generation's earliest batch, which may be truncated. */
    if (strcmp(e.spec->name, "Sync") != 0) o.hash = hash_of(o.hash, &e.time, sizeof e.time);
    o.hash = hash_of(o.hash, &e.offset, sizeof e.offset);
    o.hash = hash_of(o.hash, e.args, sizeof e.args);
    o.hash = hash_of(o.hash, e.data, e.data_size);
  }
  if (!d) return o;
  for (again = 0; again < 2 && o.result != GOTRACE_OK; again++) CHECK_EQUAL(gotrace_decoder_next(d, &e), o.result);
  CHECK_EQUAL(gotrace_decoder_error(d)->result, o.result == GOTRACE_END_OF_TRACE ? GOTRACE_OK : o.result);
  if (o.result != GOTRACE_END_OF_TRACE) {
    CHECK(strlen(gotrace_decoder_error(d)->message) > 5);
    o.offset = gotrace_decoder_error(d)->offset;
    if (gotrace_decoder_error(d)->event) snprintf(o.event, sizeof o.event, "%s", gotrace_decoder_error(d)->event);
  }
  gotrace_decoder_close(d);
  return o;
}

static gotrace_decoder_options from_memory(const void *data, size_t size, bool raw) {
  gotrace_decoder_options options;
  memset(&options, 0, sizeof options);
  options.data = data, options.size = size, options.raw = raw;
  return options;
}

static gotrace_decoder_options from_source(test_source *s, const void *data, size_t size, size_t step, bool seekable,
                                           bool raw) {
  gotrace_decoder_options options;
  memset(&options, 0, sizeof options);
  s->data = data, s->size = size, s->step = step, s->good_until = 0;
  options.read = test_read, options.context = s, options.seekable = seekable, options.raw = raw;
  return options;
}

/* ---- Traces made by hand ---- */

typedef struct maker {
  uint8_t bytes[4096];
  size_t size, batch;
} maker;

static void put(maker *m, int count, const uint64_t *numbers) {
  for (; count; count--) m->size = (size_t)(gotrace__put_varint(m->bytes + m->size, *numbers++) - m->bytes);
}
static void byte(maker *m, unsigned value) { m->bytes[m->size++] = (uint8_t)value; }
#define N(...) \
  (int)(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), (uint64_t[]) { __VA_ARGS__ }

static void header(maker *m, const char *text) {
  memset(m, 0, sizeof *m);
  memcpy(m->bytes, text, strlen(text));
  m->size = 16;
}

/* A v2 batch of less than 128 bytes. */
static void begin_batch(maker *m, uint64_t generation, uint64_t thread, uint64_t time) {
  put(m, N(GOTRACE_V2_EVENT_BATCH, generation, thread, time, 0));
  m->batch = m->size;
}
static void end_batch(maker *m) {
  CHECK(m->size - m->batch < 128);
  m->bytes[m->batch - 1] = (uint8_t)(m->size - m->batch);
}
static void batch_at(maker *m, uint64_t generation, uint64_t thread, uint64_t time, int count,
                     const uint64_t *numbers) {
  begin_batch(m, generation, thread, time);
  put(m, count, numbers);
  end_batch(m);
}
static void batch(maker *m, uint64_t generation, uint64_t thread, int count, const uint64_t *numbers) {
  batch_at(m, generation, thread, 100, count, numbers);
}
static void v2(maker *m) {
  header(m, "go 1.23 trace");
  batch(m, 1, 0, N(GOTRACE_V2_FREQUENCY, 1000000000));
}
static void v1(maker *m) {
  header(m, "go 1.11 trace");
  put(m, N(1 << 6 | GOTRACE_V1_BATCH, 0, 100, 0 << 6 | GOTRACE_V1_FREQUENCY, 1000000000));
}

static outcome verdict(const maker *m) {
  gotrace_decoder_options options = from_memory(m->bytes, m->size, false);
  test_source s;
  outcome o = decode(&options, UINT64_MAX), p;
  options = from_source(&s, m->bytes, m->size, 3, false, false);
  p = decode(&options, UINT64_MAX);
  CHECK(p.result == o.result && p.events == o.events && p.hash == o.hash && p.offset == o.offset);
  options = from_source(&s, m->bytes, m->size, 7, true, false);
  p = decode(&options, UINT64_MAX);
  CHECK(p.result == o.result && p.events == o.events && p.hash == o.hash && p.offset == o.offset);
  return o;
}

static void expect(const maker *m, gotrace_result result, const char *event, int line) {
  outcome o = verdict(m);
  if (o.result != result || strcmp(o.event, event) != 0)
    fprintf(stderr, "line %d: %s (%s) instead of %s (%s)\n", line, gotrace_result_string(o.result), o.event,
            gotrace_result_string(result), event);
  CHECK(o.result == result && strcmp(o.event, event) == 0);
}
#define EXPECT(result, event) expect(&m, GOTRACE_##result, event, __LINE__)

/* Status of proc 0, running, and of goroutine 1, running, on thread 0. */
#define RUNNING GOTRACE_V2_PROC_STATUS, 1, 0, 1, GOTRACE_V2_GO_STATUS, 1, 1, 0, 2

static void every_error(void) {
  maker m;
  memset(&m, 0, sizeof m);
  EXPECT(ERROR_HEADER, "");
  m.size = 16;
  EXPECT(ERROR_HEADER, "");
  header(&m, "go 2.11 trace"), EXPECT(ERROR_HEADER, "");
  header(&m, "go 1.1x trace"), EXPECT(ERROR_HEADER, "");
  header(&m, "go 1.23 tracf"), EXPECT(ERROR_HEADER, "");
  header(&m, "go 1.6 trace"), EXPECT(ERROR_FORMAT, "");
  header(&m, "go 1.24 trace"), EXPECT(ERROR_FORMAT, "");
  header(&m, "go 1.99 trace"), EXPECT(ERROR_FORMAT, "");

  /* v2: framing */
  header(&m, "go 1.23 trace"), EXPECT(ERROR_FREQUENCY, "");
  header(&m, "go 1.26 trace"), EXPECT(END_OF_TRACE, "");
  v2(&m), put(&m, N(GOTRACE_V2_GO_START)), EXPECT(ERROR_BATCH, "");
  v2(&m), put(&m, N(GOTRACE_V2_EVENT_BATCH, 1, 0, 0, 65537)), EXPECT(ERROR_BATCH, "EventBatch");
  v2(&m), put(&m, N(GOTRACE_V2_EVENT_BATCH, 1, 0, 0, 5)), EXPECT(ERROR_TRUNCATED, "EventBatch");
  v2(&m), put(&m, N(GOTRACE_V2_EVENT_BATCH, 1, 0)), EXPECT(ERROR_TRUNCATED, "EventBatch");
  v2(&m), put(&m, N(GOTRACE_V2_EVENT_BATCH, 1)), memset(m.bytes + m.size, 0xff, 11), m.size += 11,
      EXPECT(ERROR_NUMBER, "EventBatch");
  v2(&m), batch(&m, 0, 0, N(RUNNING)), EXPECT(ERROR_GENERATION, "");
  v2(&m), batch(&m, 3, 0, N(RUNNING)), EXPECT(ERROR_GENERATION, "");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_FREQUENCY, 5)), EXPECT(ERROR_FREQUENCY, "Frequency");
  header(&m, "go 1.25 trace"), batch(&m, 1, 0, N(GOTRACE_V2_SYNC, GOTRACE_V2_FREQUENCY, 5)), EXPECT(ERROR_CLOCK, "");
  header(&m, "go 1.25 trace"),
      batch(&m, 1, 0, N(GOTRACE_V2_SYNC, GOTRACE_V2_CLOCK_SNAPSHOT, 1, 2, 3, 4, GOTRACE_V2_CLOCK_SNAPSHOT, 1, 2, 3, 4)),
      EXPECT(ERROR_CLOCK, "ClockSnapshot");
  header(&m, "go 1.26 trace"),
      batch(&m, 1, 0, N(GOTRACE_V2_SYNC, GOTRACE_V2_FREQUENCY, 5, GOTRACE_V2_CLOCK_SNAPSHOT, 1, 2, 3, 4)),
      batch(&m, 1, 0, N(RUNNING)), EXPECT(ERROR_TRUNCATED, "");
  put(&m, N(GOTRACE_V2_END_OF_GENERATION)), EXPECT(END_OF_TRACE, "");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_STRINGS, GOTRACE_V2_STRING, 1, 1, 'a', GOTRACE_V2_STRING, 1, 1, 'b')),
      EXPECT(ERROR_STRING, "");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_STRINGS, GOTRACE_V2_STRING, 1, 1025)), EXPECT(ERROR_STRING, "String");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_STRINGS, GOTRACE_V2_STRING, 1, 3, 'a')), EXPECT(ERROR_TRUNCATED, "String");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_STRINGS, GOTRACE_V2_STACK, 1, 1, 'a')), EXPECT(ERROR_EVENT, "");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_STACKS, GOTRACE_V2_STACK, 1, 129)), EXPECT(ERROR_STACK, "Stack");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_STACKS, GOTRACE_V2_STACK, 1, 1, 5, 7, 0, 0)), EXPECT(ERROR_STRING, "Stack");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_STACKS, GOTRACE_V2_STACK, 1, 0, GOTRACE_V2_STACK, 1, 0)),
      EXPECT(ERROR_STACK, "");

  /* v2: events */
  v2(&m), batch(&m, 1, 0, N(RUNNING)), EXPECT(END_OF_TRACE, "");
  v2(&m), batch(&m, 1, 0, N(RUNNING, 100)), EXPECT(ERROR_EVENT, "");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_STRING, 1, 0)), EXPECT(ERROR_EVENT, "String");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_BLOCK, 1)), EXPECT(ERROR_TRUNCATED, "GoBlock");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_BLOCK, 1, 9, 0)), EXPECT(ERROR_STRING, "GoBlock");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_BLOCK, 1, 0, 9)), EXPECT(ERROR_STACK, "GoBlock");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_BLOCK, 1, 0, 0, GOTRACE_V2_GO_BLOCK, 1, 0, 0)),
      EXPECT(ERROR_CONTEXT, "GoBlock");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_GO_LABEL, 1, 0)), EXPECT(ERROR_CONTEXT, "GoLabel");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_STATUS, 1, 1, 0, 4)), EXPECT(ERROR_STATUS, "GoStatus");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_PROC_STATUS, 1, 0, 5)), EXPECT(ERROR_STATUS, "ProcStatus");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_SYSCALL_END, 1)), EXPECT(ERROR_STATE, "GoSyscallEnd");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_CREATE, 1, 1, 0, 0)), EXPECT(ERROR_STATE, "GoCreate");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_SYSCALL_BEGIN, 1, 7, 0)), EXPECT(ERROR_STATE, "GoSyscallBegin");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_UNBLOCK, 1, 7, 1, 0)), EXPECT(ERROR_ORDER, "GoUnblock");
  v2(&m),
      batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_USER_TASK_BEGIN, 1, 4, 0, 0, 0, GOTRACE_V2_USER_TASK_BEGIN, 1, 4, 0, 0, 0)),
      EXPECT(ERROR_TASK, "UserTaskBegin");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_USER_REGION_BEGIN, 1, 4, 0, 0, GOTRACE_V2_USER_REGION_END, 1, 5, 0, 0)),
      EXPECT(ERROR_REGION, "UserRegionEnd");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_USER_REGION_END, 1, 5, 0, 0)), EXPECT(END_OF_TRACE, "");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_STW_END, 1)), EXPECT(ERROR_RANGE, "STWEnd");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GC_SWEEP_END, 1, 0, 0)), EXPECT(ERROR_RANGE, "GCSweepEnd");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GC_BEGIN, 1, 1, 0, GOTRACE_V2_GC_BEGIN, 1, 2, 0)),
      EXPECT(ERROR_RANGE, "GCBegin");
  v2(&m), batch(&m, 1, 0, N(RUNNING)), batch(&m, 1, UINT64_MAX, N(GOTRACE_V2_GO_LABEL, 1, 0)),
      EXPECT(ERROR_CONTEXT, "GoLabel");

  /* v1 */
  v1(&m), EXPECT(ERROR_EMPTY, "");
  v1(&m), put(&m, N(0 << 6 | GOTRACE_V1_NONE, 1)), EXPECT(ERROR_EVENT, "");
  v1(&m), put(&m, N(1 << 6 | GOTRACE_V1_CPU_SAMPLE)), EXPECT(ERROR_EVENT, "");
  v1(&m), put(&m, N(0 << 6 | GOTRACE_V1_PROC_START, 1)), EXPECT(ERROR_ARGUMENTS, "ProcStart");
  v1(&m), put(&m, N(1 << 6 | GOTRACE_V1_PROC_START, 1)), EXPECT(ERROR_TRUNCATED, "ProcStart");
  v1(&m), put(&m, N(GOTRACE_V1_STRING, 0, 1, 'a')), EXPECT(ERROR_STRING, "String");
  v1(&m), put(&m, N(GOTRACE_V1_STRING, 1, 5, 'a')), EXPECT(ERROR_TRUNCATED, "String");
  v1(&m), byte(&m, 3 << 6 | GOTRACE_V1_STACK), put(&m, N(2, 1, 3)), EXPECT(ERROR_ARGUMENTS, "Stack");
  v1(&m), put(&m, N(0 << 6 | GOTRACE_V1_FREQUENCY, 0)), EXPECT(ERROR_TIME, "Frequency");
  header(&m, "go 1.11 trace"), put(&m, N(1 << 6 | GOTRACE_V1_PROC_START, 1, 1)), EXPECT(ERROR_BATCH, "ProcStart");
  header(&m, "go 1.10 trace"), put(&m, N(1 << 6 | GOTRACE_V1_PROC_START, 1, 1)), EXPECT(ERROR_FREQUENCY, "");
  v1(&m), put(&m, N(1 << 6 | GOTRACE_V1_BATCH, (uint64_t)INT32_MAX + 1, 100)), EXPECT(ERROR_BATCH, "Batch");
  v1(&m), put(&m, N(GOTRACE_V1_STRING, UINT64_MAX - 1, 1, 'a')), EXPECT(ERROR_STRING, "String");
  v1(&m), put(&m, N(1 << 6 | GOTRACE_V1_PROC_START, 1, 1, 1 << 6 | GOTRACE_V1_PROC_START, 1, 1)),
      EXPECT(ERROR_STATE, "ProcStart");
  v1(&m), byte(&m, 2 << 6 | GOTRACE_V1_GO_START), put(&m, N(1, 1, 9)), EXPECT(ERROR_ORDER, "");
  v1(&m), put(&m, N(0 << 6 | GOTRACE_V1_GO_END, 1)), EXPECT(ERROR_CONTEXT, "GoEnd");
  v1(&m), put(&m, N(0 << 6 | GOTRACE_V1_GC_DONE, 1)), EXPECT(ERROR_RANGE, "GCDone");
  v1(&m), put(&m, N(1 << 6 | GOTRACE_V1_GC_STW_START, 1, 2)), EXPECT(ERROR_ARGUMENTS, "GCSTWStart");
}

/* A truncated trace is called truncated, although the order of its events fails before its end is reached. */
static void truncated(void) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder;
  gotrace_event event;
  const gotrace_decoder_failure *failure;
  maker m;
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_UNBLOCK, 1, 7, 1, 0)), EXPECT(ERROR_ORDER, "GoUnblock");
  put(&m, N(GOTRACE_V2_EVENT_BATCH, 1, 1, 100, 9, GOTRACE_V2_GO_STATUS)), EXPECT(ERROR_TRUNCATED, "EventBatch");
  options = from_memory(m.bytes, m.size, false);
  CHECK(gotrace_decoder_open(&decoder, &options) == GOTRACE_OK);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) continue;
  failure = gotrace_decoder_error(decoder);
  CHECK(strstr(failure->message, "truncated in a batch") == failure->message);
  CHECK(strstr(failure->message, "; before that: none of 1 threads is ready"));
  gotrace_decoder_close(decoder);
  /* But the truncation does not explain an event without its context. */
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_GO_LABEL, 1, 0)),
      put(&m, N(GOTRACE_V2_EVENT_BATCH, 1, 1, 100, 9, GOTRACE_V2_GO_STATUS)), EXPECT(ERROR_CONTEXT, "GoLabel");
  /* Nor one that does not exist. */
  v2(&m), batch(&m, 1, 0, N(RUNNING, 100)), put(&m, N(GOTRACE_V2_EVENT_BATCH, 1, 1, 100, 9, GOTRACE_V2_GO_STATUS)),
      EXPECT(ERROR_EVENT, "");
  /* After a Sync and two statuses; as in Go, no Sync ends the trace before this error. */
  CHECK_EQUAL(verdict(&m).events, 3);
  v1(&m), byte(&m, 2 << 6 | GOTRACE_V1_GO_START), put(&m, N(1, 1, 9)), EXPECT(ERROR_ORDER, "");
  put(&m, N(1 << 6 | GOTRACE_V1_PROC_START, 1)), EXPECT(ERROR_TRUNCATED, "ProcStart");
}

/* Traces on which the decoder once differed from Go 1.27's reader. Go's verdict is in each comment. */
static void odd_traces(void) {
  const uint64_t high = (uint64_t)1 << 62;
  uint64_t frames, i;
  int version;
  maker m;
  /* Rejected: Go's reader knows the event, but has no rule of order for it. */
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_CLOCK_SNAPSHOT, 1, 0, 0, 0)), EXPECT(ERROR_EVENT, "ClockSnapshot");
  header(&m, "go 1.22 trace"), batch(&m, 1, 0, N(GOTRACE_V2_FREQUENCY, 1000)),
      batch(&m, 1, 0, N(GOTRACE_V2_CLOCK_SNAPSHOT, 0, 1, 0, 0)), EXPECT(ERROR_EVENT, "ClockSnapshot");
  /* Accepted: the first generation that has events may have statuses of goroutines that were never created. */
  v2(&m), batch(&m, 2, 1, N(GOTRACE_V2_FREQUENCY, 1000000000)), batch(&m, 2, 0, N(RUNNING)), EXPECT(END_OF_TRACE, "");
  CHECK(verdict(&m).events == 5);
  v2(&m), batch(&m, 1, 0, N(RUNNING)), batch(&m, 2, 1, N(GOTRACE_V2_FREQUENCY, 1000000000)),
      batch(&m, 2, 0, N(GOTRACE_V2_GO_STATUS, 1, 2, 0, 2)), EXPECT(ERROR_STATUS, "GoStatus");
  /* Accepted: tables, which 1.26 does not end, after the end of the last generation. */
  header(&m, "go 1.26 trace"), batch(&m, 1, 0, N(RUNNING)),
      batch(&m, 1, 0, N(GOTRACE_V2_SYNC, GOTRACE_V2_FREQUENCY, 5, GOTRACE_V2_CLOCK_SNAPSHOT, 1, 2, 3, 4)),
      put(&m, N(GOTRACE_V2_END_OF_GENERATION)), batch(&m, 1, 0, N(GOTRACE_V2_STRINGS, GOTRACE_V2_STRING, 1, 1, 'a')),
      EXPECT(END_OF_TRACE, "");
  CHECK(verdict(&m).events == 4);
  batch(&m, 2, 0, N(RUNNING)), EXPECT(ERROR_GENERATION, "");
  /* Accepted: a status is one byte, the bits above it are ignored. */
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_STATUS, 1, 5, 0, high | 1, GOTRACE_V2_GO_START, 1, 5, 1)),
      EXPECT(ERROR_CONTEXT, "GoStart");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_STATUS, 1, 5, 0, high)), EXPECT(END_OF_TRACE, "");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_GO_STATUS, 1, 5, 0, 256 + 5)), EXPECT(ERROR_STATUS, "GoStatus");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_PROC_STATUS, 1, 2, high << 1)), EXPECT(END_OF_TRACE, "");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_PROC_STATUS, 1, 2, high | 2, GOTRACE_V2_PROC_START, 1, 2, 1)),
      EXPECT(END_OF_TRACE, "");
  v2(&m), batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_PROC_STATUS, 1, 2, 256 + 5)), EXPECT(ERROR_STATUS, "ProcStatus");
  /* Accepted: a proc that two threads have taken, one of which has lost it, is abandoned by the other. */
  v2(&m), batch(&m, 1, 1, N(GOTRACE_V2_PROC_STATUS, 0, 0, 1, GOTRACE_V2_GO_STATUS, 0, 1, 1, 2)),
      batch(&m, 1, 1, N(GOTRACE_V2_GO_SYSCALL_BEGIN, 30, 1, 0)),
      batch(&m, 1, 2, N(GOTRACE_V2_PROC_STATUS, 10, 0, 1, GOTRACE_V2_PROC_STOP, 1)),
      batch(&m, 1, 3, N(GOTRACE_V2_PROC_STATUS, 100, 0, 4)), EXPECT(END_OF_TRACE, "");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_PROC_STATUS, 0, 0, 3)),
      batch(&m, 1, UINT64_MAX, N(GOTRACE_V2_PROC_STATUS, 50, 0, 3)),
      batch(&m, 1, 2, N(GOTRACE_V2_PROC_STATUS, 100, 0, 4)), EXPECT(END_OF_TRACE, "");
  batch(&m, 1, 0, N(GOTRACE_V2_PROC_STOP, 1)), EXPECT(ERROR_STATUS, "ProcStatus");
  /* Rejected: a thread without a goroutine creates one, while the goroutine with the id of none is not running. */
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_PROC_STATUS, 1, 0, 1, GOTRACE_V2_GO_STATUS, 1, UINT64_MAX, 7, 4)),
      batch(&m, 1, 0, N(GOTRACE_V2_GO_CREATE, 9, 5, 0, 0)), EXPECT(ERROR_STATE, "GoCreate");
  v2(&m), batch(&m, 1, 0, N(GOTRACE_V2_GO_STATUS, 1, UINT64_MAX, 7, 4, GOTRACE_V2_GO_CREATE_SYSCALL, 1, 5)),
      EXPECT(END_OF_TRACE, "");
  /* Rejected, but not by Go 1.21: more than 2,048 bytes of arguments. */
  for (version = 10; version <= 11; version++)
    for (frames = 157; frames <= 158; frames++) {
      header(&m, version == 10 ? "go 1.10 trace" : "go 1.11 trace");
      put(&m, N(1 << 6 | GOTRACE_V1_BATCH, 0, 100, 0 << 6 | GOTRACE_V1_FREQUENCY, 1000000000));
      put(&m, N(1 << 6 | GOTRACE_V1_PROC_START, 1, 1)), byte(&m, 3 << 6 | GOTRACE_V1_STACK);
      put(&m, N(3 + 13 * frames, 1, frames));
      for (i = 0; i < frames; i++) put(&m, N((uint64_t)1 << 42, 0, 0, 1u << 21));
      if (version == 10 || frames == 157) EXPECT(END_OF_TRACE, "");
      else EXPECT(ERROR_ARGUMENTS, "Stack");
    }
  /* Accepted: of equal times, that which has waited longer comes first. */
  v1(&m), put(&m, N(1 << 6 | GOTRACE_V1_HEAP_ALLOC, 1, 5, 0 << 6 | GOTRACE_V1_GC_DONE, 1)),
      put(&m, N(1 << 6 | GOTRACE_V1_BATCH, 1, 100)), byte(&m, 2 << 6 | GOTRACE_V1_GC_START), put(&m, N(2, 0, 0)),
      EXPECT(END_OF_TRACE, "");
  /* Accepted: the end of a system call has the time of the start that follows, not its own. */
  v1(&m), byte(&m, 3 << 6 | GOTRACE_V1_GO_CREATE), put(&m, N(4, 1, 1, 0, 0)),
      put(&m, N(1 << 6 | GOTRACE_V1_GO_IN_SYSCALL, 1, 1)), byte(&m, 3 << 6 | GOTRACE_V1_GO_SYS_EXIT),
      put(&m, N(4, 1, 1, 2, 104)), byte(&m, 2 << 6 | GOTRACE_V1_GO_START), put(&m, N(1, 1, 3)),
      EXPECT(END_OF_TRACE, "");
  /* Accepted by Go, but rejected here: times without a frequency, and truncated numbers. Go takes io.EOF inside a batch
   * for the end of the trace. */
  header(&m, "go 1.22 trace"), batch(&m, 1, 0, N(GOTRACE_V2_FREQUENCY, 0)), batch(&m, 1, 0, N(RUNNING)),
      EXPECT(ERROR_FREQUENCY, "Frequency");
  header(&m, "go 1.22 trace"), batch(&m, 1, 0, N(GOTRACE_V2_FREQUENCY)), EXPECT(ERROR_TRUNCATED, "Frequency");
  header(&m, "go 1.25 trace"),
      batch(&m, 1, 0, N(GOTRACE_V2_SYNC, GOTRACE_V2_FREQUENCY, 5, GOTRACE_V2_CLOCK_SNAPSHOT, 1, 2)),
      EXPECT(ERROR_TRUNCATED, "ClockSnapshot");
}

static void arguments(void) {
  gotrace_decoder_options options;
  gotrace_decoder *d = NULL;
  test_source s;
  memset(&options, 0, sizeof options);
  CHECK_EQUAL(gotrace_decoder_open(NULL, &options), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_decoder_open(&d, NULL), GOTRACE_ERROR_ARGUMENT);
  CHECK(!d);
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_ERROR_HEADER); /* nothing at all */
  gotrace_decoder_close(d);
  options.size = 5;
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_ERROR_ARGUMENT);
  options = from_source(&s, "", 0, 1, false, false);
  options.data = "";
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_ERROR_ARGUMENT);
  options = from_memory("", 0, false);
  options.allocate = test_take;
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_ERROR_ARGUMENT);
  CHECK(!d);
  gotrace_decoder_close(NULL);
}

/* ---- A trace of the library's own ---- */

static void work(void) {
  int i;
  gotrace_proc *p = gotrace_proc_create();
  static const gotrace_location entry_a = GOTRACE_NAMED_ENTRY("work.a"), entry_b = GOTRACE_NAMED_ENTRY("work.b");
  gotrace_go *a, *b;
  gotrace_proc_start(p);
  a = gotrace_go_create(&entry_a);
  b = gotrace_go_create(&entry_b);
  for (i = 0; i < 20; i++) {
    gotrace_go_start(a);
    GOTRACE_REGION("outer") {
      gotrace_task task = gotrace_task_begin("task", GOTRACE_NO_TASK);
      gotrace_log(task, "category", "a message of some length");
      gotrace_go_syscall_begin();
      gotrace_go_syscall_end();
      gotrace_task_end(task);
    }
    gotrace_go_block(GOTRACE_BLOCK_SYNC);
    gotrace_go_start(b);
    gotrace_go_unblock(a);
    gotrace_go_stop(GOTRACE_STOP_YIELD);
    if (i == 10) gotrace_advance();
  }
  gotrace_go_start(a), gotrace_go_end();
  gotrace_go_start(b), gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(p);
}

static void record(test_bytes *bytes, gotrace_format format) {
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.write = test_sink;
  options.context = bytes;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  work();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
}

/* The file truncated at every offset: the events are a prefix of the whole; then the error. */
static void cut_off(const test_bytes *bytes) {
  size_t size, step = bytes->size / (size_t)test_scaled(2000) + 1;
  bool v2_trace = test_is_v2(bytes->data, bytes->size);
  for (size = 0; size < bytes->size; size += step) {
    bool raw = true;
    do {
      gotrace_decoder_options all = from_memory(bytes->data, bytes->size, raw),
                              part = from_memory(bytes->data, size, raw), stream;
      test_source s;
      outcome begin = decode(&part, UINT64_MAX), same;
      if (raw || v2_trace) {
        outcome whole;
        uint64_t first = begin.events;
        /* In order, a Sync precedes the end and the error. The complete trace has no such Sync at that place. */
        if (!raw) first = first ? first - 1 : 0;
        part = from_memory(bytes->data, size, raw);
        whole = decode(&all, first);
        begin = decode(&part, first);
        if (whole.hash != begin.hash)
          fprintf(stderr, "%zu of %zu bytes, raw %d, %llu events\n", size, bytes->size, raw, (unsigned long long)first);
        CHECK(whole.hash == begin.hash);
      }
      CHECK(begin.result != GOTRACE_OK);
      stream = from_source(&s, bytes->data, size, 1 + size % 97, !raw && size % 2, raw);
      same = decode(&stream, UINT64_MAX);
      part = from_memory(bytes->data, size, raw);
      begin = decode(&part, UINT64_MAX);
      if (same.hash != begin.hash || same.result != begin.result || same.offset != begin.offset)
        fprintf(stderr, "%zu of %zu bytes, raw %d: memory %s at %llu, stream %s at %llu, events %llu and %llu\n", size,
                bytes->size, raw, gotrace_result_string(begin.result), (unsigned long long)begin.offset,
                gotrace_result_string(same.result), (unsigned long long)same.offset, (unsigned long long)begin.events,
                (unsigned long long)same.events);
      CHECK(same.hash == begin.hash && same.result == begin.result && same.offset == begin.offset);
      raw = !raw;
    } while (!raw);
  }
}

/* Bytes changed at random: any result is valid. The sanitizers detect wrong accesses. */
static void changed(const test_bytes *bytes) {
  uint64_t state = 88172645463325252u;
  uint8_t *copy = malloc(bytes->size);
  int round, rounds = (int)test_scaled(4000);
  uint64_t refused = 0;
  CHECK(copy != NULL);
  for (round = 0; round < rounds; round++) {
    gotrace_decoder_options options;
    int i;
    memcpy(copy, bytes->data, bytes->size);
    for (i = 0; i <= round % 4; i++) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      copy[16 + (state >> 8) % (bytes->size - 16)] =
          (uint8_t)(state & 1 ? state >> 56 : copy[16 + (state >> 30) % (bytes->size - 16)]);
    }
    options = from_memory(copy, bytes->size, false);
    refused += decode(&options, 0).result != GOTRACE_END_OF_TRACE;
    options.raw = true;
    decode(&options, 0);
  }
  CHECK(refused > (uint64_t)rounds / 10); /* the decoder does check */
  free(copy);
}

static void memory_runs_out(const test_bytes *bytes) {
  int64_t calls, most = 1;
  for (calls = 0; calls < most; calls += 1 + calls / 50) {
    int way;
    for (way = 0; way < 3; way++) {
      test_memory m = {0, 0, 0};
      test_source s;
      gotrace_decoder_options options = way == 0 ? from_memory(bytes->data, bytes->size, false)
                                                 : from_source(&s, bytes->data, bytes->size, 1000, way == 2, false);
      outcome o;
      options.allocate = test_take, options.release = test_give, options.allocator_context = &m;
      m.fail_after = calls;
      o = decode(&options, 0);
      CHECK_EQUAL(m.bytes, 0);
      CHECK(o.result == GOTRACE_ERROR_OUT_OF_MEMORY || o.result == GOTRACE_END_OF_TRACE);
      if (o.result == GOTRACE_ERROR_OUT_OF_MEMORY) most = calls + 2;
    }
  }
  CHECK(calls > 10);
}

static void reading_fails(const test_bytes *bytes) {
  size_t at;
  for (at = 1; at < bytes->size; at += bytes->size / 50 + 1) {
    test_source s;
    gotrace_decoder_options options = from_source(&s, bytes->data, bytes->size, 512, at % 2, at % 3 == 0);
    s.good_until = at;
    CHECK_EQUAL(decode(&options, 0).result, GOTRACE_ERROR_READ);
  }
}

/* Checks the contents of the events. */
static void content(const test_bytes *bytes, gotrace_format format) {
  gotrace_decoder_options options = from_memory(bytes->data, bytes->size, false);
  gotrace_decoder *d = NULL;
  gotrace_decoder_info info;
  gotrace_event e;
  bool family2 = format >= GOTRACE_GO_1_22;
  int creates = 0, logs = 0, tasks = 0, blocks = 0;
  int64_t last = INT64_MIN;
  const char *text;
  size_t size;
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  while (gotrace_decoder_next(d, &e) == GOTRACE_OK) {
    gotrace_frame frames[8];
    CHECK(family2 ? e.time > last : e.time >= last);
    last = e.time;
    if (strcmp(e.spec->name, "GoCreate") == 0 && gotrace_decoder_stack(d, e.args[1], frames, 8) == 1 &&
        frames[0].function_size == 6 && memcmp(frames[0].function, "work.", 5) == 0)
      creates++;
    if (strcmp(e.spec->name, "UserLog") == 0) {
      CHECK(gotrace_decoder_string(d, e.args[1], &text, &size) && size == 8 && memcmp(text, "category", 8) == 0);
      CHECK(gotrace_decoder_string(d, e.args[2], &e.data, &e.data_size));
      CHECK(e.data_size == 24 && memcmp(e.data, "a message of some length", 24) == 0);
      CHECK(gotrace_decoder_stack(d, e.stack, frames, 8) == 1 && frames[0].line > 0);
      CHECK(frames[0].function_size == 4 && memcmp(frames[0].function, "work", 4) == 0);
      logs++;
    }
    if (e.kind == GOTRACE_V2_USER_TASK_END) {
      CHECK(e.data_size == 4 && memcmp(e.data, "task", 4) == 0 && e.extra == GOTRACE_NO_ID);
      tasks++;
    }
    if (e.kind == GOTRACE_V2_GO_BLOCK && e.g != GOTRACE_NO_ID && e.p != GOTRACE_NO_ID) blocks++;
  }
  gotrace_decoder_get_info(d, &info);
  CHECK_EQUAL(info.format, format);
  CHECK_EQUAL(info.family, family2 ? 2 : 1);
  CHECK(info.events > 100 && info.memory_most > 0 && info.memory_most < 4000000 && info.nanoseconds_per_tick > 0);
  CHECK(blocks >= 20);
  CHECK_EQUAL(creates, 2);
  if (format >= GOTRACE_GO_1_11) CHECK_EQUAL(logs, 20);
  if (format >= GOTRACE_GO_1_11) CHECK_EQUAL(tasks, 20);
  gotrace_decoder_close(d);
}

/* A v1 trace is held in memory as a whole; if its size is known, without a second copy. */
static void memory_of_v1(void) {
  enum { EVENTS = 2000000 };
  static const uint8_t event[] = {1 << 6 | GOTRACE_V1_HEAP_ALLOC, 1, 1};
  gotrace_decoder_options options;
  gotrace_decoder_info info;
  gotrace_decoder *d;
  gotrace_event e;
  gotrace_result result;
  test_bytes bytes = {NULL, 0, 0};
  test_source s;
  maker m;
  int i;
  v1(&m);
  test_append(&bytes, m.bytes, m.size);
  for (i = 0; i < EVENTS; i++) test_append(&bytes, event, sizeof event);
  options = from_source(&s, bytes.data, bytes.size, 100000, true, false);
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  for (i = 0; (result = gotrace_decoder_next(d, &e)) == GOTRACE_OK; i++) CHECK_EQUAL(e.args[0], 1);
  CHECK_EQUAL(result, GOTRACE_END_OF_TRACE);
  CHECK_EQUAL(i, EVENTS);
  gotrace_decoder_get_info(d, &info);
  CHECK(info.memory_most > bytes.size && info.memory_most < bytes.size + 1000000);
  gotrace_decoder_close(d);
  test_free(&bytes);
}

/* v1: a goroutine runs `turns` times on proc 0, at `time`, while each of many procs waits for a turn of it that never
 * comes. After every event, all of these procs are candidates again. The decoder limits this work, also in the walk
 * that looks for futile wake-ups. */
static uint64_t waited_for(uint64_t procs, int turns, uint64_t time, bool futile) {
  gotrace_decoder_options options;
  test_bytes bytes = {NULL, 0, 0};
  outcome o;
  maker m;
  uint64_t i;
  header(&m, "go 1.19 trace");
  put(&m, N(1 << 6 | GOTRACE_V1_BATCH, 0, time, 0 << 6 | GOTRACE_V1_FREQUENCY, 1000000000));
  byte(&m, 3 << 6 | GOTRACE_V1_GO_CREATE), put(&m, N(4, 0, 1, 0, 0));
  if (futile) byte(&m, GOTRACE_V1_FUTILE_WAKEUP), byte(&m, 0);
  test_append(&bytes, m.bytes, m.size);
  for (i = 0; i < (uint64_t)turns; i++) {
    m.size = 0;
    byte(&m, 1 << 6 | (i % 2 ? GOTRACE_V1_GO_SCHED : GOTRACE_V1_GO_START_LOCAL)), byte(&m, 0), byte(&m, i % 2 == 0);
    test_append(&bytes, m.bytes, m.size);
  }
  for (i = 1; i <= procs; i++) {
    m.size = 0;
    byte(&m, 1 << 6 | GOTRACE_V1_BATCH), put(&m, N(i, time));
    byte(&m, 2 << 6 | GOTRACE_V1_GO_START), put(&m, N(0, 1, 1000000000));
    test_append(&bytes, m.bytes, m.size);
  }
  options = from_memory(bytes.data, bytes.size, false);
  o = decode(&options, 0);
  CHECK_EQUAL(o.result, GOTRACE_ERROR_ORDER);
  test_free(&bytes);
  return o.events;
}

/* Ids of strings may be far apart. The id 0 is always known. */
static void sparse_ids(void) {
  maker m;
  gotrace_decoder_options options;
  gotrace_decoder *d;
  gotrace_event e;
  v2(&m);
  batch(&m, 1, 0, N(GOTRACE_V2_STRINGS, GOTRACE_V2_STRING, 1u << 20, 1, 'a', GOTRACE_V2_STRING, 3, 1, 'b'));
  batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_USER_LOG, 1, 0, 1u << 20, 3, 0, GOTRACE_V2_USER_LOG, 1, 0, 3, 0, 0));
  EXPECT(END_OF_TRACE, "");
  options = from_memory(m.bytes, m.size, false);
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  while (gotrace_decoder_next(d, &e) == GOTRACE_OK)
    if (e.kind == GOTRACE_V2_USER_LOG) {
      const gotrace__map *strings = &d->string_map;
      CHECK(gotrace__dec_has(d, strings, 0) && gotrace__dec_has(d, strings, 3) &&
            gotrace__dec_has(d, &d->stack_map, 0));
      CHECK(gotrace__dec_has(d, strings, 1u << 20) && !gotrace__dec_has(d, strings, 4));
    }
  gotrace_decoder_close(d);
  batch(&m, 1, 0, N(GOTRACE_V2_STRINGS, GOTRACE_V2_STRING, 1u << 20, 1, 'a')), EXPECT(ERROR_STRING, "");
  v2(&m);
  batch(&m, 1, 0, N(RUNNING, GOTRACE_V2_USER_LOG, 1, 0, 1u << 20, 0, 0)), EXPECT(ERROR_STRING, "UserLog");
}

/* Returns the generation in which the decoder begins if a range begins in the third: the last one that gives the status
 * of every goroutine that its threads need. The numbers are events of thread 0 in generations 2 and 3. */
#define CALLING GOTRACE_V2_GO_STATUS, 1, 2, 2, 3 /* goroutine 2, in a system call on thread 2 */
static uint64_t range_begins(int count2, const uint64_t *numbers2, int count3, const uint64_t *numbers3) {
  gotrace_decoder_options options;
  gotrace_decoder *d;
  gotrace_event e;
  test_source s;
  maker m;
  int way;
  uint64_t generation[2] = {0, 0};
  header(&m, "go 1.23 trace");
  batch_at(&m, 1, 0, 1000, N(GOTRACE_V2_FREQUENCY, 1000000000));
  batch_at(&m, 1, 0, 1000, N(RUNNING));
  batch_at(&m, 1, 1, 1000, N(CALLING));
  batch_at(&m, 2, 0, 200000, N(GOTRACE_V2_FREQUENCY, 1000000000));
  batch_at(&m, 2, 0, 200000, count2, numbers2);
  batch_at(&m, 2, 1, 200000, N(CALLING));
  batch_at(&m, 3, 0, 300000, N(GOTRACE_V2_FREQUENCY, 1000000000));
  batch_at(&m, 3, 0, 300000, count3, numbers3);
  batch_at(&m, 3, 1, 300000, N(CALLING));
  batch_at(&m, 3, 2, 300010, N(GOTRACE_V2_GO_SYSCALL_END_BLOCKED, 1));
  batch_at(&m, 3, 3, 300010, N(GOTRACE_V2_GO_CREATE_SYSCALL, 1, 3, GOTRACE_V2_GO_DESTROY_SYSCALL, 1));
  for (way = 0; way < 2; way++) {
    options = way ? from_source(&s, m.bytes, m.size, 7, true, false) : from_memory(m.bytes, m.size, false);
    options.from = 299005;
    CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
    CHECK_EQUAL(gotrace_decoder_next(d, &e), GOTRACE_OK);
    CHECK_EQUAL(e.kind, GOTRACE_V2_SYNC);
    generation[way] = (uint64_t)e.extra;
    while (gotrace_decoder_next(d, &e) == GOTRACE_OK) CHECK_EQUAL(e.kind == GOTRACE_V2_SYNC, e.m < 0);
    CHECK_EQUAL(gotrace_decoder_error(d)->result, GOTRACE_OK);
    gotrace_decoder_close(d);
  }
  CHECK_EQUAL(generation[0], generation[1]);
  return generation[0];
}

static void ranges(void) {
#define PROC GOTRACE_V2_PROC_STATUS, 1, 0, 1
#define BLOCK GOTRACE_V2_GO_BLOCK, 1, 0, 0
#define LABEL GOTRACE_V2_GO_LABEL, 1, 0
  CHECK_EQUAL(range_begins(N(RUNNING), N(RUNNING, BLOCK)), 3);
  CHECK_EQUAL(range_begins(N(RUNNING), N(PROC, BLOCK)), 2);
  CHECK_EQUAL(range_begins(N(PROC, LABEL), N(PROC, BLOCK)), 1);
  CHECK_EQUAL(range_begins(N(PROC, LABEL), N(RUNNING, BLOCK)), 3);
#undef PROC
#undef BLOCK
#undef LABEL
}

/* Format 1.5: the first start of a goroutine. What its creation says of its function is an address, not a stack. */
static void first_start(void) {
  gotrace_decoder_options options;
  gotrace_decoder *d;
  gotrace_event e;
  maker m;
  int starts = 0;
  header(&m, "go 1.5 trace");
  put(&m, N(1 << 6 | GOTRACE_V1_BATCH, 0, 0, 100, 0 << 6 | GOTRACE_V1_FREQUENCY, 1000000000, 0));
  byte(&m, 3 << 6 | GOTRACE_V1_GO_CREATE), put(&m, N(5, 1, 1, 1, 77, 0));
  put(&m, N(1 << 6 | GOTRACE_V1_GO_START, 1, 1, 1, 0 << 6 | GOTRACE_V1_GO_END, 1, 1));
  EXPECT(END_OF_TRACE, "");
  options = from_memory(m.bytes, m.size, false);
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  while (gotrace_decoder_next(d, &e) == GOTRACE_OK) {
    CHECK(e.stack == 0 && e.extra == 0);
    starts += e.kind == GOTRACE_V2_GO_START;
  }
  CHECK_EQUAL(starts, 1);
  gotrace_decoder_close(d);
}

/* What the first generation of a range need not tell: that a collection is active, if it has no event of one; and which
 * goroutine a thread has in a system call, before the thread starts a proc. Another thread writes its status later. */
static void told_late(void) {
  gotrace_decoder_options options;
  maker m;
  int64_t from;
  header(&m, "go 1.23 trace");
  batch_at(&m, 1, 0, 1000, N(GOTRACE_V2_FREQUENCY, 1000000000));
  batch_at(&m, 1, 0, 1000, N(RUNNING, GOTRACE_V2_PROC_STATUS, 1, 1, 2, GOTRACE_V2_GC_BEGIN, 1, 5, 0, CALLING));
  batch_at(&m, 2, 0, 200000, N(GOTRACE_V2_FREQUENCY, 1000000000));
  batch_at(&m, 2, 2, 200000, N(GOTRACE_V2_PROC_STATUS, 1, 1, 2, GOTRACE_V2_PROC_START, 1, 1, 1));
  batch_at(&m, 2, 0, 200010, N(RUNNING, CALLING));
  batch_at(&m, 3, 0, 300000, N(GOTRACE_V2_FREQUENCY, 1000000000));
  batch_at(&m, 3, 0, 300000, N(RUNNING, GOTRACE_V2_GC_ACTIVE, 1, 6, GOTRACE_V2_GC_END, 1, 7));
  batch_at(&m, 3, 2, 300010, N(CALLING, GOTRACE_V2_GO_SYSCALL_END_BLOCKED, 1));
  for (from = 0; from < 300000; from += 199005) {
    outcome o;
    options = from_memory(m.bytes, m.size, false);
    options.from = from;
    o = decode(&options, UINT64_MAX);
    CHECK_EQUAL(o.result, GOTRACE_END_OF_TRACE);
    CHECK_EQUAL(o.events, from ? 14 : 20);
  }
}

/* A range may begin after the last generation, where 1.26 may have tables alone. The trace ends at the same time. */
static void range_in_last_tables(void) {
  gotrace_decoder_options options;
  gotrace_decoder *d;
  gotrace_event e;
  int64_t from, end[2] = {0, 0};
  maker m;
  header(&m, "go 1.26 trace");
#define TABLE GOTRACE_V2_SYNC, GOTRACE_V2_FREQUENCY, 1000000000, GOTRACE_V2_CLOCK_SNAPSHOT, 1, 2, 3, 4
  batch_at(&m, 1, 0, 1000, N(TABLE)), batch_at(&m, 1, 0, 1000, N(RUNNING)), put(&m, N(GOTRACE_V2_END_OF_GENERATION));
  batch_at(&m, 2, 0, 2000, N(TABLE));
#undef TABLE
  for (from = 0; from < 2; from++) {
    options = from_memory(m.bytes, m.size, false);
    options.from = 100000 * from;
    CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
    while (gotrace_decoder_next(d, &e) == GOTRACE_OK) end[from] = e.time;
    CHECK_EQUAL(gotrace_decoder_error(d)->result, GOTRACE_OK);
    gotrace_decoder_close(d);
  }
  CHECK_EQUAL(end[0], end[1]);
}

/* v1: the thread of a proc, from its start to its stop. */
static void threads_of_v1(void) {
  gotrace_decoder_options options;
  gotrace_decoder *d;
  gotrace_event e;
  maker m;
  v1(&m), put(&m, N(1 << 6 | GOTRACE_V1_PROC_START, 1, 7, 1 << 6 | GOTRACE_V1_HEAP_ALLOC, 1, 5));
  put(&m, N(0 << 6 | GOTRACE_V1_PROC_STOP, 1, 1 << 6 | GOTRACE_V1_HEAP_ALLOC, 1, 5));
  options = from_memory(m.bytes, m.size, false);
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  while (gotrace_decoder_next(d, &e) == GOTRACE_OK) CHECK_EQUAL(e.m, e.time < 3 ? 7 : GOTRACE_NO_ID);
  CHECK_EQUAL(e.time, 3);
  gotrace_decoder_close(d);
}

/* Threads are sorted by time, whichever way the sort takes; verdicts.py compares the order of equal times with Go's. */
static void sorted_heap(void) {
  enum { COUNT = 3000 };
  static gotrace__front heap[COUNT];
  static bool found[COUNT];
  uint64_t random = 1;
  unsigned order, limit;
  size_t count, i;
  for (order = 0; order < 4; order++) {
    for (limit = 0; limit < 14; limit++) {
      count = limit % 2 ? COUNT : 13 + test_random(&random) % 100;
      for (i = 0; i < count; i++) {
        heap[i].time = order == 0   ? (int64_t)i / 2
                       : order == 1 ? (int64_t)(count - i) / 3
                       : order == 2 ? (int64_t)(test_random(&random) % 100)
                                    : (int64_t)(i % 7);
        heap[i].cursor = (uint32_t)i;
      }
      gotrace__sort_range(heap, 0, count, limit);
      memset(found, 0, sizeof found);
      for (i = 0; i < count; i++) {
        CHECK(!i || heap[i - 1].time <= heap[i].time);
        CHECK(!found[heap[i].cursor]);
        found[heap[i].cursor] = true;
      }
    }
  }
}

int main(void) {
  size_t i;
  sorted_heap();
  ranges();
  told_late();
  range_in_last_tables();
  first_start();
  threads_of_v1();
  arguments();
  memory_of_v1();
  every_error();
  truncated();
  odd_traces();
  sparse_ids();
  if (test_scaled(100) > 10) { /* not under slow tools */
    CHECK_EQUAL(waited_for(4000, 40000, 1000, false), 40001);
    CHECK_EQUAL(waited_for(4000, 40000, 1000, true), 40002);
    CHECK(waited_for(20000, 9000, (uint64_t)1 << 63, false) < 9000);
  }
  for (i = 0; i < TEST_FORMATS; i++) {
    test_bytes bytes;
    memset(&bytes, 0, sizeof bytes);
    record(&bytes, test_formats[i]);
    CHECK_OPENS(&bytes);
    content(&bytes, test_formats[i]);
    if (test_scaled(100) > 2 || i % 4 == 0) {
      cut_off(&bytes);
      changed(&bytes);
      memory_runs_out(&bytes);
      reading_fails(&bytes);
    }
    test_free(&bytes);
  }
  return 0;
}
