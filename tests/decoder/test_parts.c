/* The parts of a trace, decoded separately and joined, give the same events and verdict as one decoder: for traces with
 * many generations, and for changed copies of them.
 *
 *     test_parts [N [FILE...]]      N changed copies of each trace; FILEs replace the test's own traces
 */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"
#include "many_generations.h"

/* ---- Decoding in one go and by parts ---- */

typedef struct line { /* an event */
  int64_t time;
  uint64_t hash, offset;
  uint8_t kind;
} line;

typedef struct lines {
  line *all;
  size_t count, room;
  int64_t last;
} lines;

static uint64_t mix(uint64_t hash, const void *data, size_t size) {
  const uint8_t *at = data;
  for (; size; size--) hash = (hash ^ *at++) * 1099511628211u;
  return hash;
}

/* A hash of an event except its time, with the contents of its strings and stack. A part does not know the name and
 * parent of a task that began before it. */
static uint64_t hash_event(const gotrace_decoder *d, const gotrace_event *e) {
  gotrace_frame frames[8];
  uint64_t hash = mix(14695981039346656037u, &e->m, 3 * sizeof e->m);
  size_t size, i, count = gotrace_decoder_stack(d, e->stack, frames, 8);
  const char *text;
  hash = mix(hash, e->args, sizeof e->args);
  if (e->kind != GOTRACE_V2_USER_TASK_END) {
    hash = mix(hash, &e->extra, sizeof e->extra);
    if (e->data_size) hash = mix(hash, e->data, e->data_size);
  }
  hash = mix(hash, &e->implied, sizeof e->implied);
  hash = mix(hash, &count, sizeof count);
  for (i = 0; i < count && i < 8; i++) hash = mix(hash, frames[i].function, frames[i].function_size);
  for (i = 0; i < e->arg_count; i++)
    if (gotrace_decoder_string(d, e->args[i], &text, &size)) hash = mix(hash, text, size);
  return hash;
}

static void add(lines *to, const line *l) {
  if (to->count == to->room) {
    to->room = to->room ? 2 * to->room : 1024;
    CHECK((to->all = realloc(to->all, to->room * sizeof *to->all)) != NULL);
  }
  to->all[to->count] = *l;
  /* Times start anew in each part. */
  if (l->kind == GOTRACE_V2_EXPERIMENTAL_BATCH) to->all[to->count].time = to->last;
  else if (l->time <= to->last) to->all[to->count].time = to->last + 1;
  to->last = to->all[to->count++].time;
}

static void add_event(const gotrace_decoder *d, lines *to, const gotrace_event *e) {
  line l;
  l.time = e->time, l.offset = e->offset, l.kind = e->kind, l.hash = hash_event(d, e);
  add(to, &l);
}

static gotrace_result next(gotrace_decoder *d, lines *to) {
  gotrace_event e;
  gotrace_result result = gotrace_decoder_next(d, &e);
  if (!result) add_event(d, to, &e);
  return result;
}

static gotrace_result next_batch(gotrace_decoder *d, lines *to) {
  const gotrace_event *events[100];
  size_t count = 100, i;
  gotrace_result result = gotrace_decoder_next_batch(d, events, &count);
  CHECK(result ? !count : count && count <= 100);
  for (i = 0; i < count; i++) add_event(d, to, events[i]);
  return result;
}

static gotrace_result generation(gotrace_decoder *d, lines *to) {
  gotrace_result result;
  do result = next(d, to);
  while (!result && !gotrace_decoder_between(d));
  return result;
}

static long joined, refused;

/* Decodes by parts; returns the decoder of the whole. */
static gotrace_decoder *by_parts(const gotrace_decoder_options *options, lines *to) {
  static lines own;
  gotrace_decoder *whole = NULL, *part;
  gotrace_result result = gotrace_decoder_open(&whole, options);
  size_t i;
  if (!result) result = generation(whole, to);
  while (!result && !(result = gotrace_decoder_open_part(whole, &part))) {
    own.count = 0;
    own.last = INT64_MIN;
    while (!next_batch(part, &own)) continue;
    if (gotrace_decoder_join(whole, part)) {
      joined++;
      for (i = 0; i < own.count; i++) add(to, &own.all[i]);
    } else {
      refused++;
      result = generation(whole, to);
    }
    CHECK(!gotrace_decoder_join(whole, part)); /* never twice */
    gotrace_decoder_close(part);
  }
  if (result == GOTRACE_END_OF_TRACE) result = GOTRACE_OK;
  while (!result) result = next(whole, to);
  return whole;
}

/* Returns whether the trace is good. */
static bool compare(const char *name, const uint8_t *data, size_t size, bool read) {
  static lines one, many;
  gotrace_decoder_options options;
  gotrace_decoder *d = NULL, *parts;
  test_source f = {data, size, 0, 0};
  gotrace_decoder_info info, other;
  size_t i;
  bool good;
  memset(&options, 0, sizeof options);
  if (read) options.read = test_read, options.context = &f, options.seekable = true;
  else options.data = data, options.size = size;
  one.count = many.count = 0;
  one.last = many.last = INT64_MIN;
  if (gotrace_decoder_open(&d, &options) == GOTRACE_OK)
    while (next(d, &one) == GOTRACE_OK) continue;
  parts = by_parts(&options, &many);
  for (i = 0; i < one.count && i < many.count; i++) {
    const line *a = &one.all[i], *b = &many.all[i];
    if (a->time == b->time && a->hash == b->hash && a->offset == b->offset) continue;
    fprintf(stderr, "%s: event %zu, kind %u at %lld, offset %llu; by parts kind %u at %lld, offset %llu\n", name, i,
            a->kind, (long long)a->time, (unsigned long long)a->offset, b->kind, (long long)b->time,
            (unsigned long long)b->offset);
    break;
  }
  gotrace_decoder_get_info(d, &info);
  gotrace_decoder_get_info(parts, &other);
  if (one.count != many.count || i != one.count ||
      strcmp(gotrace_decoder_error(d)->message, gotrace_decoder_error(parts)->message) != 0) {
    fprintf(stderr, "%s: %zu events, \"%s\"; by parts %zu, \"%s\"\n", name, one.count,
            gotrace_decoder_error(d)->message, many.count, gotrace_decoder_error(parts)->message);
  }
  CHECK_EQUAL(many.count, one.count);
  CHECK_EQUAL(i, one.count);
  CHECK(strcmp(gotrace_decoder_error(d)->message, gotrace_decoder_error(parts)->message) == 0);
  CHECK_EQUAL(info.events, other.events);
  good = gotrace_decoder_error(d)->result == GOTRACE_OK;
  gotrace_decoder_close(d);
  gotrace_decoder_close(parts);
  return good;
}

/* ---- Traces made by hand ---- */

static void put(test_bytes *bytes, const uint64_t *numbers, size_t count) {
  for (; count; count--, numbers++) {
    uint8_t number[10];
    size_t size = 0;
    uint64_t left = *numbers;
    for (; left >= 0x80; left >>= 7) number[size++] = (uint8_t)(left | 0x80);
    number[size++] = (uint8_t)left;
    test_append(bytes, number, size);
  }
}

/* Appends a batch of a thread's events; its first number is the generation, then come the thread and the events. */
static void batch(test_bytes *bytes, const uint64_t *numbers, size_t count) {
  test_bytes events = {NULL, 0, 0};
  uint64_t head[] = {GOTRACE_V2_EVENT_BATCH, numbers[0], numbers[1], 100, 0};
  put(&events, numbers + 2, count - 2);
  head[4] = events.size;
  put(bytes, head, 5);
  test_append(bytes, events.data, events.size);
  test_free(&events);
}
#define BATCH(...) \
  batch(&bytes, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
#define CLOCK GOTRACE_V2_SYNC, GOTRACE_V2_FREQUENCY, 1000000000, GOTRACE_V2_CLOCK_SNAPSHOT, 1, 2, 3, 4
#define RUNNING GOTRACE_V2_PROC_STATUS, 1, 0, 1, GOTRACE_V2_GO_STATUS, 1, 1, 0, 2
#define END test_append(&bytes, "\x34", 1) /* of a generation */

static test_bytes header(void) {
  test_bytes bytes = {NULL, 0, 0};
  test_append(&bytes, "go 1.26 trace\0\0", 16);
  BATCH(1, 0, CLOCK);
  return bytes;
}

static void broken(const char *name, test_bytes *bytes) {
  CHECK(!compare(name, bytes->data, bytes->size, false));
  test_free(bytes);
}

/* States that no tracer produces, which a part does not see. All these traces are broken; no part may hide it. */
static void hidden(void) {
  test_bytes bytes;
  /* A generation has the number of the first one, in which other rules apply to what is active. */
  bytes = header(), BATCH(1, 0, RUNNING, GOTRACE_V2_GC_BEGIN, 1, 5, 0), END;
  BATCH(1, 0, CLOCK), BATCH(1, 0, RUNNING, GOTRACE_V2_GC_ACTIVE, 1, 6), END;
  broken("a number used again", &bytes);
  bytes = header(), BATCH(1, 0, RUNNING, GOTRACE_V2_GC_MARK_ASSIST_BEGIN, 1, 0), END;
  BATCH(1, 0, CLOCK), BATCH(1, 0, RUNNING, GOTRACE_V2_GC_MARK_ASSIST_ACTIVE, 1, 1), END;
  broken("a number used again", &bytes);
  bytes = header(), BATCH(1, 0, RUNNING), END;
  BATCH(UINT64_MAX, 0, CLOCK), BATCH(UINT64_MAX, 0, RUNNING, GOTRACE_V2_GC_MARK_ASSIST_BEGIN, 1, 0);
  BATCH(UINT64_MAX, 0, GOTRACE_V2_GC_MARK_ASSIST_END, 1, GOTRACE_V2_GC_MARK_ASSIST_ACTIVE, 1, 1), END;
  broken("the last number", &bytes);
  /* A proc with the id of none is stolen from a thread that has had no event yet. */
#define CALLING GOTRACE_V2_PROC_STATUS, 1, UINT64_MAX, 3
  bytes = header(), BATCH(1, 0, CALLING, RUNNING, GOTRACE_V2_GO_STATUS, 1, 3, 7, 4), END;
  BATCH(2, 0, CLOCK), BATCH(2, 0, CALLING, RUNNING, GOTRACE_V2_GO_STATUS, 1, 3, 7, 4);
  BATCH(2, 0, GOTRACE_V2_PROC_STEAL, 1, UINT64_MAX, 1, 9), BATCH(2, 9, GOTRACE_V2_GO_UNBLOCK, 99, 3, 1, 0), END;
  broken("no proc", &bytes);
  /* A thread without a goroutine creates one, while the goroutine with the id of none waits. */
  bytes = header(), BATCH(1, 0, GOTRACE_V2_PROC_STATUS, 1, 0, 1, GOTRACE_V2_GO_STATUS, 1, UINT64_MAX, 7, 4), END;
  BATCH(2, 0, CLOCK), BATCH(2, 0, GOTRACE_V2_PROC_STATUS, 1, 0, 1, GOTRACE_V2_GO_CREATE, 1, 5, 0, 0), END;
  broken("no goroutine", &bytes);
}

/* ---- Out of memory ---- */

/* Whenever memory runs out, the verdict says so, and all memory is freed. */
static void run_out(const test_bytes *bytes) {
  static lines to;
  gotrace_decoder_options options;
  test_memory m = {0, 0, INT64_MAX};
  int64_t calls, step;
  memset(&options, 0, sizeof options);
  options.data = bytes->data, options.size = bytes->size;
  options.allocate = test_take, options.release = test_give, options.allocator_context = &m;
  gotrace_decoder_close(by_parts(&options, &to));
  CHECK_EQUAL(m.bytes, 0);
  calls = m.calls;
  step = calls / test_scaled(400) + 1;
  for (m.fail_after = 0; m.fail_after < calls; m.fail_after += step) {
    gotrace_decoder *d;
    m.calls = 0;
    to.count = 0;
    d = by_parts(&options, &to);
    CHECK(!d || gotrace_decoder_error(d)->result == GOTRACE_ERROR_OUT_OF_MEMORY ||
          gotrace_decoder_error(d)->result == GOTRACE_OK);
    gotrace_decoder_close(d);
    CHECK_EQUAL(m.bytes, 0);
  }
}

/* Returns how many of the changed traces are still good. */
static long compare_changed(const char *name, const test_bytes *bytes, long count) {
  uint8_t *copy = malloc(bytes->size);
  long i, good = 0;
  CHECK(copy != NULL);
  for (i = 0; i < count; i++) {
    memcpy(copy, bytes->data, bytes->size);
    change(copy, bytes->size, 16);
    good += compare(name, copy, bytes->size, i % 8 == 0);
  }
  free(copy);
  return good;
}

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : test_scaled(400), changed = 0, good = 0;
  test_bytes bytes;
  size_t i;
  int file_index;
  hidden();
  for (i = 0; i < TEST_FORMATS && argc <= 2; i++) {
    if (test_formats[i] < GOTRACE_GO_1_22) continue;
    record(&bytes, test_formats[i]);
    joined = refused = 0;
    CHECK(compare("own", bytes.data, bytes.size, false));
    CHECK(compare("own", bytes.data, bytes.size, true));
    if (argc > 1) printf("%d: %zu bytes, %ld joined, %ld refused\n", test_formats[i], bytes.size, joined, refused);
    CHECK(joined >= 20 && refused <= joined / 4);
    good += compare_changed("changed", &bytes, count);
    changed += count;
    run_out(&bytes);
    test_free(&bytes);
  }
  for (file_index = 2; file_index < argc; file_index++) {
    memset(&bytes, 0, sizeof bytes);
    test_load(&bytes, argv[file_index]);
    compare(argv[file_index], bytes.data, bytes.size, false);
    if (bytes.size > 16) {
      good += compare_changed(argv[file_index], &bytes, count);
      changed += count;
    }
    test_free(&bytes);
  }
  if (argc > 1) printf("%ld joined, %ld refused\n", joined, refused);
  if (changed >= 100) CHECK(good > 0 && good < changed);
  return 0;
}
