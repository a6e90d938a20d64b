/* fuzz.h - shared by the fuzz targets: an assertion that stays in every build, code excluded from coverage, and the
 * input. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                    \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                \
    }                                                                         \
  } while (0)

/* Checking code goes between FUZZ_NOT_COVERED and FUZZ_COVERED. It is not instrumented for coverage, so that the fuzzer
 * looks for new paths only in gotrace.h, which makes it five times as fast. Between FUZZ_NOT_SANITIZED and
 * FUZZ_COVERED, it is not instrumented at all: for code that would only check its own memory, not that of gotrace.h. */
#if defined(__clang__)
#define FUZZ__PRAGMA(text) _Pragma(#text)
#define FUZZ__WITHOUT(...) \
  FUZZ__PRAGMA(clang attribute push(__attribute__((no_sanitize(__VA_ARGS__))), apply_to = function))
#define FUZZ_NOT_COVERED FUZZ__WITHOUT("coverage")
#define FUZZ_NOT_SANITIZED FUZZ__WITHOUT("coverage", "address", "undefined")
#define FUZZ_COVERED _Pragma("clang attribute pop")
#else
#define FUZZ_NOT_COVERED
#define FUZZ_NOT_SANITIZED
#define FUZZ_COVERED
#endif

/* The input. Numbers are taken from it until it is empty; further ones are 0. */
typedef struct fuzz_input {
  const uint8_t *at, *end;
} fuzz_input;

static inline uint64_t fuzz_take(fuzz_input *in, size_t bytes) {
  uint64_t value = 0;
  while (bytes-- && in->at < in->end) value = value << 8 | *in->at++;
  return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
