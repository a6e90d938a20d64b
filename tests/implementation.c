/* The tracer by itself, for tests that use only the public API. */
#include "test_room.h"

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

/* For test_static.c, which has its own tracer: a complete trace by this one, with one message. */
gotrace_result test_other_tracer(const gotrace_options *options);
gotrace_result test_other_tracer(const gotrace_options *options) {
  gotrace_result result = gotrace_start(options);
  gotrace_log(GOTRACE_NO_TASK, "other", "message");
  return result == GOTRACE_OK ? gotrace_stop() : result;
}
