/* Two threads start and stop the same two procs at random, and do nothing else.
 *
 * The defect: as in shared_goroutines.c, for procs: a start of a proc that a later call had stopped without an event.
 *
 * Required: of two threads that start the same proc, one gets it, and each trace shows which. */
#include "case.h"

static gotrace_proc *shared[2];
static int quit; /* atomic */
static pthread_t threads[2];

static void *work(void *argument) {
  uint64_t random = *(const uint64_t *)argument;
  while (!CASE_LOAD(quit)) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    if ((random >> 20 & 3) == 3) gotrace_proc_stop();
    else gotrace_proc_start(shared[random >> 20 & 1]);
  }
  gotrace_proc_stop();
  return NULL;
}

static void begin(void) {
  static uint64_t seeds[2] = {0x9E3779B97F4A7C15u, 0xBF58476D1CE4E5B9u};
  int i;
  CASE_STORE(quit, 0);
  for (i = 0; i < 2; i++) {
    if (!shared[i]) shared[i] = gotrace_proc_create();
    case_thread(&threads[i], work, &seeds[i]);
  }
}

static void run(gotrace_format format, long number) {
  gotrace_options options = {0};
  case_start(format, options);
  case_sleep(50 + (unsigned)number % 5 * 50);
  if (number & 1) gotrace_advance();
  case_stop();
}

static void end(void) {
  int i;
  CASE_STORE(quit, 1);
  for (i = 0; i < 2; i++) case_join(threads[i]);
}

const case_definition case_this = {"shared_procs", 0, begin, run, end};
