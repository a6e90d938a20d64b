/* examples/preempt.c, whose tasks a signal handler switches: it counts exactly. So does its trace, if the scheduler
 * does not ask whether the task is in a call, but for the calls that are dropped: the program goes on and the trace is
 * whole.
 *
 * Not in: address thread valgrind windows, which do not know its stacks. */
#define _GNU_SOURCE 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#if defined(__x86_64__) && defined(__linux__)
static bool asks = true;
#define gotrace_in_call(pc) (asks && gotrace_in_call(pc))
#undef GOTRACE_IMPLEMENTATION
#define main example
#include "../../examples/preempt.c"
#undef main
#include <sys/wait.h>

static int run(bool ask) {
  static char path[4096], count[24];
  char *arguments[] = {(char *)"preempt", path, count, (char *)"1023", NULL};
  int status;
  pid_t child;
  snprintf(path, sizeof path, "%s", test_trace_path(ask ? "asks" : "never_asks", GOTRACE_GO_1_23));
  snprintf(count, sizeof count, "%ld", test_scaled(40000));
  CHECK((child = fork()) >= 0);
  if (!child) {
    asks = ask;
    exit(example(4, arguments));
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

int main(void) {
  CHECK_EQUAL(run(true), 0);
  (void)run(false);
  return 0;
}
#else
int main(void) { return 0; }
#endif
