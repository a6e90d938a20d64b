/* gotrace_count and gotrace_count_double: the decoder reads back names and values in every format that has logs. */
#define GOTRACE_IMPLEMENTATION
#define GOTRACE_NO_STB_SPRINTF 1
#define GOTRACE__VSNPRINTF print_elsewhere
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Prints as in a locale whose decimal point has several bytes. */
static int print_elsewhere(char *text, size_t size, const char *format, va_list arguments) {
  char plain[100], *point;
  int length = vsnprintf(plain, sizeof plain, format, arguments);
  if ((point = strchr(plain, '.')) == NULL) return snprintf(text, size, "%s", plain);
  return (void)length, snprintf(text, size, "%.*s\xd9\xab%s", (int)(point - plain), plain, point + 1);
}

#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

static const struct {
  int64_t value;
  const char *text;
} integers[] = {{0, "0"},
                {7, "7"},
                {-1, "-1"},
                {1000000, "1000000"},
                {INT64_MAX, "9223372036854775807"},
                {INT64_MIN, "-9223372036854775808"}};

static const struct {
  double value;
  const char *text;
} reals[] = {{0, "0"}, {0.1, "0.1"}, {-2.5, "-2.5"}, {1e300, "1e+300"}, {1.0 / 3, "0.333333333333333"}, {-4, "-4"}};

static char long_name[2000];

static void count_all(void) {
  size_t i;
  for (i = 0; i < sizeof integers / sizeof integers[0]; i++) gotrace_count("queue", integers[i].value);
  for (i = 0; i < sizeof reals / sizeof reals[0]; i++) gotrace_count_double("load", reals[i].value);
  gotrace_count(long_name, 1);
  gotrace_count(NULL, 2);
  gotrace_log(GOTRACE_NO_TASK, "queue", "8"); /* not a counter */
}

/* Checks the next log of the trace. */
static void next_log(gotrace_decoder *decoder, const char *category, const char *message) {
  gotrace_event event;
  const char *data;
  size_t size;
  do CHECK_EQUAL(gotrace_decoder_next(decoder, &event), GOTRACE_OK);
  while (strcmp(event.spec->name, "UserLog") != 0);
  CHECK_EQUAL(event.args[0], 0);
  CHECK(gotrace_decoder_string(decoder, event.args[1], &data, &size));
  CHECK(size == strlen(category) && memcmp(data, category, size) == 0);
  if (event.data) data = event.data, size = event.data_size; /* v1 */
  else CHECK(gotrace_decoder_string(decoder, event.args[2], &data, &size));
  CHECK(size == strlen(message) && memcmp(data, message, size) == 0);
}

static void in_a_trace(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_decoder *decoder;
  gotrace_stats stats;
  char category[GOTRACE_MAX_STRING_SIZE + 1];
  size_t i;
  FILE *file;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  count_all();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  count_all(); /* no effect */
  CHECK_OPENS(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_STRING_CUT], format >= GOTRACE_GO_1_11); /* the long name */
  CHECK_EQUAL(stats.dropped + stats.repaired, format >= GOTRACE_GO_1_11);
  if (format >= GOTRACE_GO_1_11) {
    CHECK_EQUAL(test_open_decoder(&decoder, bytes.data, bytes.size, false), GOTRACE_OK);
    for (i = 0; i < sizeof integers / sizeof integers[0]; i++)
      next_log(decoder, GOTRACE_COUNTER "queue", integers[i].text);
    for (i = 0; i < sizeof reals / sizeof reals[0]; i++) next_log(decoder, GOTRACE_COUNTER "load", reals[i].text);
    memset(category, 'n', sizeof category - 1);
    memcpy(category, GOTRACE_COUNTER, strlen(GOTRACE_COUNTER));
    category[sizeof category - 1] = 0;
    next_log(decoder, category, "1");
    next_log(decoder, GOTRACE_COUNTER, "2");
    next_log(decoder, "queue", "8");
    gotrace_decoder_close(decoder);
  }
  file = fopen(test_trace_path("counters", format), "wb");
  CHECK(file && fwrite(bytes.data, 1, bytes.size, file) == bytes.size && fclose(file) == 0);
  test_free(&bytes);
}

int main(void) {
  size_t i;
  memset(long_name, 'n', sizeof long_name - 1);
  for (i = 0; i < TEST_FORMATS; i++) in_a_trace(test_formats[i]);
  return 0;
}
