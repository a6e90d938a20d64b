/* The constants need no implementation, and this file has none. They are the numbers of Go's tracers. */
#include "gotrace.h"
#include "../test.h"

#ifdef GOTRACE__IMPLEMENTED
#error "the implementation is here"
#endif

/* Programs can use the tables as X-macros. */
#define ONE(number, NAME, name, since, until, arguments) +1
enum { V1_ROWS = 0 GOTRACE_V1_EVENTS(ONE), V2_ROWS = 0 GOTRACE_V2_EVENTS(ONE) };
#define NAME_OF(number, NAME, name, since, until, arguments) name,
static const char *const v1_names[] = {GOTRACE_V1_EVENTS(NAME_OF)};
static const char *const v2_names[] = {GOTRACE_V2_EVENTS(NAME_OF)};

#define NUMBER_AND_NAME(NAME, number, name) {GOTRACE_##NAME, name},
static const struct {
  gotrace_format number;
  const char *name;
} formats[] = {GOTRACE_FORMATS(NUMBER_AND_NAME)};

_Static_assert(GOTRACE_V1_GO_CREATE == 13 && GOTRACE_V1_CPU_SAMPLE == 49, "v1 numbers are constant expressions");
_Static_assert(GOTRACE_V2_GO_CREATE == 14 && GOTRACE_V2_GOROUTINE_STACK_FREE == 136,
               "v2 numbers are constant expressions");

#define COUNT_RESULT(NAME, code, text) +1
#define COUNT_PROBLEM(NAME, number, done, text) +1
#define NUMBER_OF(NAME, number, done, text) number,
static const int problem_numbers[] = {GOTRACE_PROBLEMS(NUMBER_OF)};
_Static_assert(0 GOTRACE_PROBLEMS(COUNT_PROBLEM) == GOTRACE_PROBLEM_COUNT, "problems are numbered from 0");
_Static_assert(0 GOTRACE_RESULTS(COUNT_RESULT) == 36, "results");
_Static_assert(GOTRACE_OK == 0, "success is 0");

/* The binary interface between programs and shared libraries of different versions. New members use reserved space, new
 * problems the next number. */
_Static_assert(sizeof(void *) != 8 || sizeof(gotrace_options) == 208, "gotrace_options");
_Static_assert(sizeof(void *) != 8 || sizeof(gotrace_stats) == 2712, "gotrace_stats");
_Static_assert(sizeof(void *) != 8 || sizeof(gotrace_site) == 56, "gotrace_site");
_Static_assert(sizeof(void *) != 8 || sizeof(gotrace_decoder_options) == 128, "gotrace_decoder_options");
_Static_assert(sizeof(void *) != 8 || sizeof(gotrace_decoder_info) == 112, "gotrace_decoder_info");
_Static_assert(sizeof(void *) != 8 || sizeof(gotrace_decoder_failure) == 256, "gotrace_decoder_failure");
_Static_assert(sizeof(void *) != 8 || sizeof(gotrace_event) == 128, "gotrace_event");
_Static_assert(sizeof(void *) != 8 || sizeof(gotrace_change) == 152, "gotrace_change");
_Static_assert(sizeof(void *) != 8 || sizeof(gotrace_state) == 200, "gotrace_state");
_Static_assert(GOTRACE_PROBLEM_NOT_RUNNING == 0 && GOTRACE_PROBLEM_BAD_REASON == 35, "problems have fixed numbers");

int main(void) {
  size_t i;
  gotrace_stats stats;
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", GOTRACE_VERSION_MAJOR, GOTRACE_VERSION_MINOR, GOTRACE_VERSION_PATCH);
  CHECK(strcmp(version, GOTRACE_VERSION) == 0);
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) CHECK_EQUAL(problem_numbers[i], i);
  CHECK(GOTRACE_PROBLEM_COUNT <= sizeof stats.problems / sizeof stats.problems[0]);
  CHECK_EQUAL(sizeof v1_names / sizeof v1_names[0], V1_ROWS);
  CHECK_EQUAL(sizeof v2_names / sizeof v2_names[0], V2_ROWS);
  for (i = 0; i < V1_ROWS; i++) CHECK(v1_names[i][0] >= 'A' && v1_names[i][0] <= 'Z');
  for (i = 0; i < V2_ROWS; i++) CHECK(v2_names[i][0] >= 'A' && v2_names[i][0] <= 'Z');
  CHECK_EQUAL(GOTRACE_V1_COUNT, 50);
  CHECK_EQUAL(GOTRACE_V2_COUNT, 53);
  /* Rows with the same number have the same value under each name. */
  CHECK_EQUAL(GOTRACE_V1_GC_SCAN_START, 9);
  CHECK_EQUAL(GOTRACE_V1_GC_STW_START, 9);
  CHECK_EQUAL(GOTRACE_V1_STW_START, 9);
  CHECK_EQUAL(GOTRACE_V1_NEXT_GC, GOTRACE_V1_HEAP_GOAL);
  /* The other constants, by Go's names. */
  CHECK_EQUAL(GOTRACE_STACK_SIZE, 128);
  CHECK_EQUAL(GOTRACE_GLOBAL_PROC, -1);
  CHECK_EQUAL(GOTRACE_BYTES_PER_NUMBER, 10);
  CHECK_EQUAL(GOTRACE_ARG_COUNT_SHIFT, 6);
  CHECK_EQUAL(GOTRACE_FUTILE_WAKEUP, 128);
  CHECK_EQUAL(GOTRACE_MAX_BATCH_SIZE, 65536);
  CHECK_EQUAL(GOTRACE_MAX_STRING_SIZE, 1024);
  CHECK_EQUAL(GOTRACE_TICK_DIV_X86, 64);
  CHECK_EQUAL(GOTRACE_TICK_DIV_PPC64, 16);
  CHECK_EQUAL(GOTRACE_BLOCK_GENERIC, 0);
  CHECK_EQUAL(GOTRACE_BLOCK_SLEEP, 14);
  CHECK_EQUAL(GOTRACE_STW_STOP_TRACE, 11);
  CHECK_EQUAL(GOTRACE_GO_1_21, 1021);
  for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    char name[16];
    snprintf(name, sizeof name, "%d.%d", (int)formats[i].number / 1000, (int)formats[i].number % 1000);
    CHECK(strcmp(formats[i].name, name) == 0 && (!i || formats[i].number > formats[i - 1].number));
  }
  return 0;
}
