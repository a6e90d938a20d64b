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

/* The decoder does not use the tracer's memory, which some tests let run out. */
static inline void *test_decoder_allocate(void *context, size_t size) {
  (void)context;
  return malloc(size);
}
static inline void test_decoder_release(void *context, void *memory, size_t size) {
  (void)context, (void)size;
  free(memory);
}

/* Whether the library's own decoder reads a trace to its end, raw or in order; how many of each kind it finds, without those that
 * are implied, if `kinds` is not NULL. */
static inline void test_decode(const uint8_t *data, size_t size, bool raw, uint64_t *kinds, const char *where, int line) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder = NULL;
  gotrace_event event;
  gotrace_result result;
  memset(&options, 0, sizeof options);
  options.data = data;
  options.size = size;
  options.raw = raw;
  options.allocate = test_decoder_allocate;
  options.release = test_decoder_release;
  result = gotrace_decoder_open(&decoder, &options);
  while (result == GOTRACE_OK && (result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK)
    if (kinds && !event.implied) kinds[event.kind]++;
  if (result != GOTRACE_END_OF_TRACE) {
    fprintf(stderr, "%s:%d: the decoder, %s (%zu bytes): %s\n", where, line, raw ? "raw" : "in order", size,
            decoder ? gotrace_decoder_error(decoder)->message : "");
    exit(1);
  }
  gotrace_decoder_close(decoder);
}

/* Whether a trace opens with every order of equal time stamps. */
static inline void test_check_bytes(const uint8_t *data, size_t size, const char *where, int line) {
  check_v1_trace t;
  uint64_t seed;
  test_decode(data, size, false, NULL, where, line);
  bool v2 = test_is_v2(data, size);
  for (seed = 0; v2 && seed < 3; seed++) {
    check_v2_trace t2;
    if (!check_v2(&t2, data, size, seed)) {
      fprintf(stderr, "%s:%d: the trace does not open (%zu bytes, seed %d): %s\n", where, line, size, (int)seed,
              t2.error);
      exit(1);
    }
    check_v2_free(&t2);
  }
  for (seed = 0; !v2 && seed < 3; seed++) {
    if (!check_v1(&t, data, size, CHECK_V1_STRICT, seed)) {
      fprintf(stderr, "%s:%d: the trace does not open (%zu bytes, seed %d): %s\n", where, line, size, (int)seed,
              t.error);
      exit(1);
    }
    check_v1_free(&t);
  }
}
#define CHECK_OPENS(bytes) test_check_bytes((bytes)->data, (bytes)->size, __FILE__, __LINE__)

/* Whether the statistics of the last trace match the trace. The caller frees `t`. */
static inline void test_check_figures(const test_bytes *bytes, check_v1_trace *t) {
  gotrace_stats stats;
  uint64_t events = 0, kinds[256];
  int kind;
  gotrace_get_stats(&stats);
  memset(kinds, 0, sizeof kinds);
  test_decode(bytes->data, bytes->size, true, kinds, __FILE__, __LINE__);
  for (kind = 0; kind < 256; kind++) CHECK_EQUAL(kinds[kind], stats.kinds[kind]);
  CHECK_EQUAL(stats.bytes, bytes->size);
  CHECK_EQUAL(stats.consistent_bytes, bytes->size);
  if (test_is_v2(bytes->data, bytes->size)) {
    check_v2_trace t2;
    memset(t, 0, sizeof *t);
    CHECK(check_v2(&t2, bytes->data, bytes->size, 0));
    CHECK_EQUAL(stats.cuts, t2.generations);
    for (kind = 0; kind < 256; kind++) {
      const gotrace_event_spec *spec = gotrace_find_event_spec((gotrace_format)t2.version, kind);
      if (stats.kinds[kind] != t2.kinds[kind]) fprintf(stderr, "event %d:\n", kind);
      CHECK_EQUAL(stats.kinds[kind], t2.kinds[kind]);
      if (spec && strncmp(spec->arguments, "dt", 2) == 0 && kind != GOTRACE_V2_CLOCK_SNAPSHOT) events += t2.kinds[kind];
    }
    CHECK_EQUAL(stats.events, events + t2.kinds[GOTRACE_V2_CPU_SAMPLE]);
    t->version = t2.version;
    t->kinds[GOTRACE_V1_USER_LOG] = t2.kinds[GOTRACE_V2_USER_LOG]; /* which tests ask for */
    check_v2_free(&t2);
    return;
  }
  CHECK(check_v1(t, bytes->data, bytes->size, CHECK_V1_OLD, 0));
  for (kind = 0; kind < 64; kind++) {
    if (stats.kinds[kind] != t->kinds[kind]) fprintf(stderr, "event %d:\n", kind);
    CHECK_EQUAL(stats.kinds[kind], t->kinds[kind]);
    if (kind != 1 && kind != 2 && kind != 3 && kind != 37) events += t->kinds[kind];
  }
  CHECK_EQUAL(stats.events, events);
}

/* Reads the rest of an ended trace. */
static inline void test_read_to_end(test_bytes *bytes) {
  const void *chunk;
  size_t size;
  do {
    CHECK_EQUAL(gotrace_read(&chunk, &size), GOTRACE_OK);
    test_append(bytes, chunk ? chunk : "", size);
  } while (size);
  CHECK_EQUAL(gotrace_read(&chunk, &size), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(size, 0);
}

#endif
