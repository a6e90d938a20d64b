/* check.hpp - test.h's checks for programs that are compiled with -Wold-style-cast. */
#ifndef CHECK_HPP
#define CHECK_HPP

#include "gotrace.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

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

#if !GOTRACE_DISABLE
/* Calls take(decoder, event) for each event of a trace, which must be valid. */
template <typename Take> static inline void each_event(const char *path, Take take) {
  gotrace_decoder_options options = gotrace_decoder_options();
  gotrace_decoder *decoder = nullptr;
  gotrace_event event;
  std::vector<char> bytes(1 << 20);
  FILE *file = fopen(path, "rb");
  CHECK(file);
  options.size = fread(bytes.data(), 1, bytes.size(), file);
  options.data = bytes.data();
  fclose(file);
  gotrace_decoder_open(&decoder, &options);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) take(decoder, event);
  CHECK_EQUAL(gotrace_decoder_error(decoder)->result, GOTRACE_OK);
  gotrace_decoder_close(decoder);
}
#endif

#endif
