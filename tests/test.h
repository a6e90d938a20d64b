/* test.h - shared by the tests: a check that stays in every build, and small helpers. */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature) /* Clang */
#define TEST_HAS_FEATURE(name) __has_feature(name)
#else
#define TEST_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || TEST_HAS_FEATURE(thread_sanitizer) /* GCC, Clang */
#define TEST_THREAD_SANITIZER 1
#endif
#if defined(__SANITIZE_ADDRESS__) || TEST_HAS_FEATURE(address_sanitizer)
#define TEST_ADDRESS_SANITIZER 1
#endif

/* Fails the test, regardless of NDEBUG, and reports where. */
#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

#define CHECK_EQUAL(got, want)                                                                             \
  do {                                                                                                     \
    long long got_ = (long long)(got), want_ = (long long)(want);                                          \
    if (got_ != want_) {                                                                                   \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld (%s)\n", __FILE__, __LINE__, #got, got_, want_, #want); \
      exit(1);                                                                                             \
    }                                                                                                      \
  } while (0)

/* The amount of work: `full` divided by GOTRACE_TEST_SCALE, at least 1. The runner sets it for slow tools. */
static inline long test_scaled(long full) {
  const char *scale = getenv("GOTRACE_TEST_SCALE");
  long n = scale && atol(scale) > 0 ? full / atol(scale) : full;
  return n > 0 ? n : 1;
}

/* Whether this is a run of `make test`, which has seconds for each test. Some tests then write fewer traces, since
 * opening them takes most of the time. `make check` runs them in full. */
static inline bool test_brief(void) { return getenv("GOTRACE_TEST_BRIEF") != NULL; }

/* A small pseudo-random generator. The caller owns the state. */
static inline uint32_t test_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

#endif
