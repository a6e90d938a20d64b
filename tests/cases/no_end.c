/* A process ends by _exit, without a stop and before the first cut.
 *
 * The defect: the file had 16 bytes, only the header, which Go rejects.
 *
 * Required: a file is a valid, if empty, trace as soon as gotrace_start_file has returned. */
#include "case.h"

#include <sys/wait.h>
#include <unistd.h>

static void run(gotrace_format format, long number) {
  int status = 0, i;
  pid_t child = fork();
  if (child < 0) case_fail("fork failed");
  if (child <= 0) {
    gotrace_options options = {0};
    options.format = format;
    options.cut_milliseconds = 60000;
    if (gotrace_start_file(case_path(), &options) != GOTRACE_OK) _exit(1);
    for (i = 0; i < number % 50 * 20; i++)
      GOTRACE_REGION("x") continue;
    _exit(0);
  }
  if (waitpid(child, &status, 0) != child || status != 0) case_fail("the child's status is %d", status);
  case_judge_file(case_path());
}

const case_definition case_this = {"no_end", 0, NULL, run, NULL};
