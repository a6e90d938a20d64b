/* GOTRACE_STATIC=1: the whole tracer within one file; included twice and more, before and after the implementation. */
#define _GNU_SOURCE    /* the header asks for it, since it is included before the implementation */
#define GOTRACE_STATIC 1
#include "gotrace.h"
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#undef GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "test_collect.h"

/* Names that another tracer of the program could have, were these not static. */
int main(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  check_v1_trace t;
  memset(&options, 0, sizeof options);
  options.format = GOTRACE_GO_1_21;
  options.write = test_sink;
  options.context = &bytes;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  GOTRACE_REGION ("region") {
    gotrace_log(GOTRACE_NO_TASK, "category", "message");
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  test_check_figures(&bytes, &t);
  CHECK_EQUAL(t.kinds[GOTRACE_V1_USER_REGION], 2);
  CHECK_EQUAL(t.kinds[GOTRACE_V1_USER_LOG], 1);
  check_v1_free(&t);
  test_free(&bytes);
  return 0;
}
