/* hello.c - the shortest traced program: start, report what happens, stop */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include <stdio.h>

int main(void) {
  if (gotrace_start_file("hello.trace", NULL) != GOTRACE_OK) perror("hello.trace");
  GOTRACE_REGION("greet") {
    gotrace_log(GOTRACE_NO_TASK, "greeting", "hello, world");
  }
  gotrace_stop();
}
