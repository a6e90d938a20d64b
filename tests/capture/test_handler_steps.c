/* A signal handler makes a call after each instruction of calls that need new chunks. Each of its calls is in the
 * trace, or counted as nested; so is each call that it interrupts.
 *
 * The handler handles SIGTRAP, which the processor raises after each instruction.
 *
 * Not in: thread valgrind, which have no such signal. */
#define _GNU_SOURCE 1
#define GOTRACE__FIRST_CHUNK_BYTES 1024u
#define GOTRACE__CHUNK_BYTES 2048u
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(TEST_THREAD_SANITIZER)
#include <signal.h>

enum { TRAP_FLAG = 0x100, CALLS = 50 };
#define SET_TRAP_FLAG(operation)                                                                                 \
  __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n " operation ", (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" :: \
                       : "memory", "cc")

static volatile uint64_t calls;
static char text[1000]; /* sizes differ, so that either needs a new chunk where the other does not */

static void call_after_step(int number) {
  (void)number;
  gotrace_log_n(GOTRACE_NO_TASK, "handler", SIZE_MAX, text, calls * 37 % 900);
  calls++;
}

int main(void) {
  struct sigaction action;
  gotrace_options options;
  gotrace_stats stats;
  test_bytes bytes = {NULL, 0, 0};
  int i;
  memset(text, 'x', sizeof text - 1);
  memset(&action, 0, sizeof action);
  action.sa_handler = call_after_step;
  CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
  memset(&options, 0, sizeof options);
  options.write = test_sink;
  options.context = &bytes;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < CALLS; i++) {
    SET_TRAP_FLAG("orq $0x100");
    gotrace_log(GOTRACE_NO_TASK, "main", text);
    SET_TRAP_FLAG("andq $~0x100");
    calls++;
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK(stats.problems[GOTRACE_PROBLEM_NESTED] > CALLS);
  CHECK_EQUAL(stats.kinds[GOTRACE_V2_USER_LOG] + stats.problems[GOTRACE_PROBLEM_NESTED], calls);
  test_free(&bytes);
  return 0;
}
#else
int main(void) { return 0; }
#endif
