/* test_trace.h - shared by tests that write whole traces. Include it after gotrace.h. */
#ifndef TEST_TRACE_H
#define TEST_TRACE_H

#include "test.h"

#define TEST_FORMAT(NAME, number, name) GOTRACE_##NAME,
static const gotrace_format test_formats[] = {GOTRACE_FORMATS(TEST_FORMAT)};
#define TEST_FORMATS (sizeof test_formats / sizeof test_formats[0])

/* The path of a trace in the test's own directory, where Go opens it; /dev/null if there is no directory. */
static inline const char *test_trace_path(const char *name, gotrace_format format) {
  static char path[512];
  const char *directory = getenv("GOTRACE_TEST_DIR");
  if (!directory) return "/dev/null";
  snprintf(path, sizeof path, "%s/%s-%d.trace", directory, name, (int)format);
  return path;
}

/* Writes the counts of the last trace next to it, for comparison with Go's. */
static inline void test_write_kinds(const char *name, gotrace_format format) {
  char path[512];
  const char *directory = getenv("GOTRACE_TEST_DIR");
  gotrace_stats stats;
  FILE *file;
  int kind;
  if (!directory) return;
  snprintf(path, sizeof path, "%s/%s-%d.kinds", directory, name, (int)format);
  gotrace_get_stats(&stats);
  CHECK((file = fopen(path, "w")) != NULL);
  for (kind = 0; kind < 256; kind++)
    if (stats.kinds[kind])
      fprintf(file, "kind %s %llu\n", gotrace_find_event_spec(format, kind)->name,
              (unsigned long long)stats.kinds[kind]);
  CHECK(fclose(file) == 0);
}

#endif
