/* Each result and each problem has its own text; any other number has a text too. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test.h"

int main(void) {
  static const struct {
    gotrace_result result;
    int code;
    const char *text;
  } results[] = {
      {GOTRACE_OK, 0, "success"},
      {GOTRACE_WOULD_BLOCK, 1, "no data yet"},
      {GOTRACE_LIMIT_REACHED, 2, "the trace ended early: a limit of memory or size was reached"},
      {GOTRACE_END_OF_TRACE, 3, "the trace has ended"},
      {GOTRACE_ERROR_ALREADY_RUNNING, -1, "tracing is already on"},
      {GOTRACE_ERROR_NOT_RUNNING, -2, "tracing is off"},
      {GOTRACE_ERROR_READER_BUSY, -3, "another reader is active"},
      {GOTRACE_ERROR_OUT_OF_MEMORY, -4, "out of memory"},
      {GOTRACE_ERROR_SINK, -5, "the file or the write function failed"},
      {GOTRACE_ERROR_ARGUMENT, -6, "invalid argument"},
      {GOTRACE_ERROR_FORMAT, -7, "trace format not supported"},
      {GOTRACE_ERROR_THREAD, -8, "the service thread could not be started"},
      {GOTRACE_ERROR_DISABLED, -9, "tracing was compiled out"},
      {GOTRACE_ERROR_READ, -10, "the read function failed"},
      {GOTRACE_ERROR_HEADER, -11, "not a Go execution trace"},
      {GOTRACE_ERROR_TRUNCATED, -12, "the trace is truncated"},
      {GOTRACE_ERROR_NUMBER, -13, "number longer than 64 bits"},
      {GOTRACE_ERROR_EVENT, -14, "event not valid in this format or position"},
      {GOTRACE_ERROR_ARGUMENTS, -15, "invalid event arguments"},
      {GOTRACE_ERROR_BATCH, -16, "batch too large, or missing"},
      {GOTRACE_ERROR_GENERATION, -17, "generations out of order, or missing end of generation"},
      {GOTRACE_ERROR_FREQUENCY, -18, "missing or duplicate clock frequency"},
      {GOTRACE_ERROR_CLOCK, -19, "missing or duplicate clock snapshot"},
      {GOTRACE_ERROR_STRING, -20, "string too long, defined twice, or unknown"},
      {GOTRACE_ERROR_STACK, -21, "stack too deep, defined twice, or unknown"},
      {GOTRACE_ERROR_EMPTY, -22, "trace or generation without events"},
      {GOTRACE_ERROR_STATUS, -23, "status contradicts the known state"},
      {GOTRACE_ERROR_STATE, -24, "goroutine or proc in the wrong state for the event"},
      {GOTRACE_ERROR_CONTEXT, -25, "event without a required thread, proc or goroutine"},
      {GOTRACE_ERROR_ORDER, -26, "the events have no consistent order"},
      {GOTRACE_ERROR_TIME, -27, "time stamps contradict the order of the events"},
      {GOTRACE_ERROR_TASK, -28, "task begins twice"},
      {GOTRACE_ERROR_REGION, -29, "end of a region that is not the innermost"},
      {GOTRACE_ERROR_RANGE, -30,
       "collection, sweep, mark assist or stop-the-world begins twice, or ends without a start"},
      {GOTRACE_ERROR_NESTED, -31, "nested call: made inside another call of the tracer on the same thread"},
      {GOTRACE_ERROR_SNAPSHOT, -32, "not a snapshot of a decoder of such a trace"},
  };
  size_t i, j;
  int n;
  for (i = 0; i < sizeof results / sizeof results[0]; i++) {
    CHECK_EQUAL(results[i].result, results[i].code);
    CHECK(strcmp(gotrace_result_string(results[i].result), results[i].text) == 0);
  }
  for (n = 4; n < 100; n++) CHECK(strcmp(gotrace_result_string((gotrace_result)n), "unknown result") == 0);
  for (n = -100; n < -32; n++) CHECK(strcmp(gotrace_result_string((gotrace_result)n), "unknown result") == 0);

  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) {
    const char *text = gotrace_problem_string((gotrace_problem)i);
    CHECK(strlen(text) > 10 && strcmp(text, "unknown problem") != 0);
    for (j = 0; j < i; j++) CHECK(strcmp(text, gotrace_problem_string((gotrace_problem)j)) != 0);
  }
  CHECK(strcmp(gotrace_problem_string(GOTRACE_PROBLEM_NOT_RUNNING),
               "block, stop, end or label while no goroutine runs; change of one that runs elsewhere") == 0);
  CHECK(strcmp(gotrace_problem_string(GOTRACE_PROBLEM_BAD_REASON), "reason out of range: treated as unspecified") == 0);
  CHECK(strcmp(gotrace_problem_outcome(GOTRACE_PROBLEM_NOT_RUNNING), "dropped") == 0);
  CHECK(strcmp(gotrace_problem_outcome(GOTRACE_PROBLEM_START_WAITING), "repaired") == 0);
  CHECK(strcmp(gotrace_problem_outcome(GOTRACE_PROBLEM_STRING_CUT), "repaired") == 0);
  CHECK(strcmp(gotrace_problem_outcome(GOTRACE_PROBLEM_CREATE_NO_PROC), "left out") == 0); /* only the creator is */
  CHECK(strcmp(gotrace_problem_outcome(GOTRACE_PROBLEM_REGION_DEPTH), "repaired") == 0);
  CHECK(strcmp(gotrace_problem_outcome(GOTRACE_PROBLEM_BAD_HANDLE), "dropped") == 0);
  CHECK(strcmp(gotrace_problem_outcome(GOTRACE_PROBLEM_BAD_REASON), "repaired") == 0);
  for (n = GOTRACE_PROBLEM_COUNT; n < 100; n++) {
    CHECK(strcmp(gotrace_problem_string((gotrace_problem)n), "unknown problem") == 0);
    CHECK(strcmp(gotrace_problem_outcome((gotrace_problem)n), "unknown") == 0);
  }
  return 0;
}
