/* hello.c - the shortest traced program: a region with a log in it
 *
 * What it teaches: start, say what happens, stop. The thread is a goroutine by itself.
 *
 *     cc -O2 -g -o hello examples/hello.c -I. -pthread && ./hello && go tool trace hello.trace
 */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "example.h" /* start_trace is gotrace_start_file, stop_trace is gotrace_stop and a few lines on the trace */

int main(int argc, char **argv) {
  struct settings settings = parse_arguments(argc, argv, "hello", "hello.trace", false);
  start_trace(&settings);
  GOTRACE_REGION("greet") {
    puts("hello, world");
    gotrace_log(GOTRACE_NO_TASK, "greeting", "hello, world");
  }
  return stop_trace(&settings, NULL);
}
