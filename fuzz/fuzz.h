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

/* Checking code goes between these two. It is not instrumented, so that the fuzzer looks for new paths only in
 * gotrace.h, which makes it five times as fast. */
#if defined(__clang__)
#define FUZZ_NOT_COVERED \
  _Pragma("clang attribute push(__attribute__((no_sanitize(\"coverage\"))), apply_to = function)")
#define FUZZ_COVERED _Pragma("clang attribute pop")
#else
#define FUZZ_NOT_COVERED
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
