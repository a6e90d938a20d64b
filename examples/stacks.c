/* stacks.c - complete stacks: who called whom, down to the call that is traced
 *
 * Reads a formula and computes it by recursion. The trace has a log for each number, whose stack shows all calls that
 * led there. gotrace_unwind.h finds them, also without frame pointers, on Linux on x86-64 and arm64.
 *
 *     cc -I. examples/stacks.c -o stacks -pthread
 *     ./stacks '(1+2)*(3+4*(5+6))'
 *     gotrace dump --kind UserLog stacks.trace */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#define GOTRACE_UNWIND_IMPLEMENTATION
#include "unwind/gotrace_unwind.h"

#include <stdio.h>
#include <stdlib.h>

static const char *at; /* what has not been read yet */

static double sum(void);

static double number(void) {
  char *end;
  double value = strtod(at, &end);
  if (end == at) {
    fprintf(stderr, "stacks: a number is missing before '%s'\n", at);
    exit(2);
  }
  at = end;
  gotrace_logf(GOTRACE_NO_TASK, "number", "%g", value);
  return value;
}

static double factor(void) {
  double value;
  if (*at != '(') return number();
  at++;
  value = sum();
  if (*at == ')') at++;
  return value;
}

static double product(void) {
  double value = factor();
  while (*at == '*') {
    at++;
    value *= factor();
  }
  return value;
}

static double sum(void) {
  double value = product();
  while (*at == '+') {
    at++;
    value += product();
  }
  return value;
}

int main(int argc, char **argv) {
  gotrace_options options = {0};
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = gotrace_unwind;
  at = argc > 1 ? argv[1] : "(1+2)*(3+4*(5+6))";
  if (gotrace_start_file("stacks.trace", &options) != GOTRACE_OK) perror("stacks.trace");
  printf("%g\n", sum());
  gotrace_stop();
  return *at != 0;
}
