/* The file can no longer grow, before the first cut or some cuts later.
 *
 * The defect: a trace whose first piece did not fit left an empty file.
 *
 * Required: a file is a valid, if empty, trace as soon as it exists, and stays one. gotrace_stop reports the sink's
 * error, and data after the last completely written cut is removed. */
#include "case.h"

#include <stdio.h>
#include <sys/resource.h>

static void limit_files(rlim_t bytes) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) case_fail("setrlimit failed");
}

static void run(gotrace_format format, long number) {
  gotrace_options options = {0};
  gotrace_result result;
  int i;
  options.format = format;
  options.cut_milliseconds = 3;
  limit_files((rlim_t)(4096 + number % 10 * 30000));
  result = gotrace_start_file(case_path(), &options);
  if (result != GOTRACE_OK) case_fail("start: %s", gotrace_result_string(result));
  for (i = 0; i < 60000 && gotrace_enabled(); i++) {
    char text[30];
    snprintf(text, sizeof text, "value %d", i);
    gotrace_heap_alloc((uint64_t)i * 1000000);
    gotrace_wait_begin(GOTRACE_BLOCK_SLEEP);
    gotrace_wait_end();
    GOTRACE_REGION("r") gotrace_log(GOTRACE_NO_TASK, "category", text);
  }
  result = gotrace_stop();
  limit_files(RLIM_INFINITY);
  if (result != GOTRACE_ERROR_SINK) case_fail("stop: %s", gotrace_result_string(result));
  case_judge_file(case_path());
}

const case_definition case_this = {"disk_full", 0, NULL, run, NULL};
