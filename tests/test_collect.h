/* test_collect.h - shared by tests that read whole traces: a buffer that grows, and checks of the collected trace.
 * Include it after gotrace.h. */
#ifndef TEST_COLLECT_H
#define TEST_COLLECT_H

#include "check_v1.h"
#include "check_v2.h"
#include "test.h"

typedef struct test_bytes {
  uint8_t *data;
  size_t size, capacity;
} test_bytes;

static inline void test_append(test_bytes *bytes, const void *data, size_t size) {
  if (bytes->size + size > bytes->capacity) {
    bytes->capacity = 2 * (bytes->size + size);
    CHECK((bytes->data = realloc(bytes->data, bytes->capacity)) != NULL);
  }
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
}

static inline void test_free(test_bytes *bytes) {
  free(bytes->data);
  memset(bytes, 0, sizeof *bytes);
}

/* A gotrace_write_fn into test_bytes. */
static inline bool test_sink(void *context, const void *data, size_t size) {
  test_append(context, data, size);
  return true;
}

/* Starts a trace into memory, with cuts only when the test makes them. */
static inline gotrace_options test_options(gotrace_format format, test_bytes *bytes) {
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.write = test_sink;
  options.context = bytes;
  options.cut_milliseconds = 1000000;
  return options;
}

static inline void test_load(test_bytes *bytes, const char *path) {
  char piece[4096];
  size_t n;
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  bytes->size = 0;
  while ((n = fread(piece, 1, sizeof piece, file)) > 0) test_append(bytes, piece, n);
  CHECK(fclose(file) == 0);
}

static inline bool test_is_v2(const uint8_t *data, size_t size) {
  return size >= 16 && memcmp(data, "go 1.2", 6) == 0 && data[6] >= '2';
}

/* A trace in memory that the decoder reads through a function of its options. */
typedef struct test_source {
  const uint8_t *data;
  size_t size, step;   /* step: the most bytes that one call returns; 0: any number */
  uint64_t good_until; /* reading at this offset or after it fails; 0: never */
} test_source;

static inline size_t test_read(void *context, uint64_t offset, void *buffer, size_t size) {
  const test_source *s = context;
  size_t left = offset < s->size ? s->size - (size_t)offset : 0;
  if (s->step && size > s->step) size = s->step;
  if (s->good_until && offset + size > s->good_until) return (size_t)-1;
  if (size > left) size = left;
  if (size) memcpy(buffer, s->data + offset, size);
  return size;
}

/* An allocator for the decoder that counts, and fails after a number of calls. */
typedef struct test_memory {
  int64_t bytes, calls, fail_after;
} test_memory;

static inline void *test_take(void *context, size_t size) {
  test_memory *m = context;
  if (m->calls >= m->fail_after) return NULL;
  m->calls++;
  m->bytes += (int64_t)size;
  return malloc(size ? size : 1);
}

static inline void test_give(void *context, void *block, size_t size) {
  ((test_memory *)context)->bytes -= (int64_t)size;
  free(block);
}

/* The decoder does not use the tracer's memory, which some tests let run out. */
static inline void *test_decoder_allocate(void *context, size_t size) {
  (void)context;
  return malloc(size);
}
static inline void test_decoder_release(void *context, void *memory, size_t size) {
  (void)context, (void)size;
  free(memory);
}

static inline gotrace_result test_open_decoder(gotrace_decoder **decoder, const uint8_t *data, size_t size, bool raw) {
  gotrace_decoder_options options;
  memset(&options, 0, sizeof options);
  options.data = data;
  options.size = size;
  options.raw = raw;
  options.allocate = test_decoder_allocate;
  options.release = test_decoder_release;
  *decoder = NULL;
  return gotrace_decoder_open(decoder, &options);
}

/* Fails unless the library's own decoder reads a trace to its end, raw or in order. Counts the events of each kind,
 * except those that are implied, if `kinds` is not NULL. */
static inline void test_decode(const uint8_t *data, size_t size, bool raw, uint64_t *kinds, const char *where,
                               int line) {
  gotrace_decoder *decoder;
  gotrace_event event;
  gotrace_result result = test_open_decoder(&decoder, data, size, raw);
  while (result == GOTRACE_OK && (result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK)
    if (kinds && !event.implied) kinds[event.kind]++;
  if (result != GOTRACE_END_OF_TRACE) {
    fprintf(stderr, "%s:%d: the decoder, %s (%zu bytes): %s\n", where, line, raw ? "raw" : "in order", size,
            decoder ? gotrace_decoder_error(decoder)->message : "");
    exit(1);
  }
  gotrace_decoder_close(decoder);
}

/* Fails unless the decoder and the independent checkers accept a trace. The checkers try three orders of equal times.
 */
static inline void test_check_bytes(const uint8_t *data, size_t size, const char *where, int line) {
  check_v1_trace v1;
  check_v2_trace v2;
  uint64_t seed;
  test_decode(data, size, false, NULL, where, line);
  for (seed = 0; seed < 3; seed++) {
    bool is_v2 = test_is_v2(data, size);
    if (is_v2 ? !check_v2(&v2, data, size, seed) : !check_v1(&v1, data, size, CHECK_V1_STRICT, seed)) {
      fprintf(stderr, "%s:%d: the trace does not open (%zu bytes, seed %d): %s\n", where, line, size, (int)seed,
              is_v2 ? v2.error : v1.error);
      exit(1);
    }
    if (is_v2) check_v2_free(&v2);
    else check_v1_free(&v1);
  }
}
#define CHECK_OPENS(bytes) test_check_bytes((bytes)->data, (bytes)->size, __FILE__, __LINE__)

/* The format in the trace's header. */
static inline gotrace_format test_format_of(const test_bytes *bytes) {
  CHECK(bytes->size >= 16 && memcmp(bytes->data, "go 1.", 5) == 0);
  return (gotrace_format)(1000 + atoi((const char *)bytes->data + 5));
}

/* The number of events with this name in a trace. */
static inline uint64_t test_count(const test_bytes *bytes, const char *name) {
  uint64_t kinds[256] = {0};
  int kind;
  test_decode(bytes->data, bytes->size, true, kinds, __FILE__, __LINE__);
  for (kind = 0; kind < 256; kind++) {
    const gotrace_event_spec *spec = gotrace_find_event_spec(test_format_of(bytes), kind);
    if (spec && strcmp(spec->name, name) == 0) return kinds[kind];
  }
  fprintf(stderr, "the format has no event %s\n", name);
  exit(1);
}

/* The number of logs with this category in a trace. */
static inline uint64_t test_count_logs(const test_bytes *bytes, const char *category) {
  gotrace_decoder *decoder;
  gotrace_event event;
  gotrace_result result = test_open_decoder(&decoder, bytes->data, bytes->size, false);
  uint64_t count = 0;
  while (result == GOTRACE_OK && (result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK) {
    const char *text;
    size_t size;
    if (strcmp(event.spec->name, "UserLog") != 0) continue;
    CHECK(gotrace_decoder_string(decoder, event.args[1], &text, &size));
    count += size == strlen(category) && memcmp(text, category, size) == 0;
  }
  CHECK_EQUAL(result, GOTRACE_END_OF_TRACE);
  gotrace_decoder_close(decoder);
  return count;
}

/* Whether the statistics count it as an event: they omit tables and framing. */
static inline bool test_is_event(const gotrace_event_spec *spec) {
  static const char *const others[] = {"Batch", "Frequency", "Stack", "String", "ClockSnapshot"};
  size_t i;
  for (i = 0; i < sizeof others / sizeof others[0]; i++)
    if (strcmp(spec->name, others[i]) == 0) return false;
  return strncmp(spec->arguments, "dt", 2) == 0 || strcmp(spec->name, "CPUSample") == 0 ||
         strcmp(spec->name, "TimerGoroutine") == 0;
}

/* Fails unless the statistics of the last trace match the trace. */
static inline void test_check_statistics(const test_bytes *bytes) {
  gotrace_stats stats;
  uint64_t events = 0, kinds[256] = {0};
  int kind;
  gotrace_get_stats(&stats);
  test_decode(bytes->data, bytes->size, true, kinds, __FILE__, __LINE__);
  for (kind = 0; kind < 256; kind++) {
    const gotrace_event_spec *spec = gotrace_find_event_spec(test_format_of(bytes), kind);
    if (stats.kinds[kind] != kinds[kind]) fprintf(stderr, "event %d:\n", kind);
    CHECK_EQUAL(stats.kinds[kind], kinds[kind]);
    if (spec && test_is_event(spec)) events += kinds[kind];
  }
  CHECK_EQUAL(stats.events, events);
  CHECK_EQUAL(stats.bytes, bytes->size);
  CHECK_EQUAL(stats.consistent_bytes, bytes->size);
  if (test_is_v2(bytes->data, bytes->size)) CHECK_EQUAL(stats.cuts, kinds[GOTRACE_V2_FREQUENCY]); /* one a generation */
}

/* Reads the rest of an ended trace. */
static inline void test_read_to_end(test_bytes *bytes) {
  const void *data;
  size_t size;
  do {
    CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_OK);
    test_append(bytes, data ? data : "", size);
  } while (size);
  CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(size, 0);
}

#endif
