/* hello.c - the shortest traced program: a region with a log in it
 *
 * What it teaches: start, report what happens, stop. The thread is its own goroutine.
 *
 *     cc -O2 -g -o hello examples/hello.c -I. -pthread && ./hello && go tool trace hello.trace
 */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "example.h" /* start_trace calls gotrace_start_file; stop_trace calls gotrace_stop and prints a few lines about
                        the trace */

int main(int argc, char **argv) {
  struct settings settings = parse_arguments(argc, argv, "hello", "hello.trace", false);
  start_trace(&settings);
  GOTRACE_REGION("greet") {
    puts("hello, world");
    gotrace_log(GOTRACE_NO_TASK, "greeting", "hello, world");
  }
  return stop_trace(&settings, NULL);
}
