/* check.hpp - test.h's checks for programs that are compiled with -Wold-style-cast. */
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

#define CHECK_EQUAL(got, want)                                                                             \
  do {                                                                                                     \
    auto got_ = static_cast<long long>(got), want_ = static_cast<long long>(want);                         \
    if (got_ != want_) {                                                                                   \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld (%s)\n", __FILE__, __LINE__, #got, got_, want_, #want); \
      exit(1);                                                                                             \
    }                                                                                                      \
  } while (0)

#endif
