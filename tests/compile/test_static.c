/* GOTRACE_STATIC=1: the whole tracer in one file, included several times, before and after the implementation. The
 * program has a second tracer with the same names, not static (implementation.c). Both trace at once and are
 * independent. */
#define _GNU_SOURCE /* the header asks for it, since it is included before the implementation */
#define GOTRACE_STATIC 1
#include "gotrace.h"
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#undef GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

gotrace_result test_other_tracer(const gotrace_options *options);

int main(void) {
  test_bytes bytes = {NULL, 0, 0}, others = {NULL, 0, 0};
  gotrace_options options, other_options;
  uint64_t kinds[256];
  memset(&options, 0, sizeof options);
  options.format = GOTRACE_GO_1_21;
  options.write = test_sink;
  options.context = &bytes;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  GOTRACE_REGION("region") {
    gotrace_log(GOTRACE_NO_TASK, "category", "message");
    other_options = options;
    other_options.context = &others;
    CHECK_EQUAL(test_other_tracer(&other_options), GOTRACE_OK);
    CHECK(gotrace_enabled());
    gotrace_log(GOTRACE_NO_TASK, "category", "another");
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  test_check_statistics(&bytes);
  CHECK_EQUAL(test_count(&bytes, "UserRegion"), 2);
  CHECK_EQUAL(test_count(&bytes, "UserLog"), 2);
  CHECK_OPENS(&others);
  memset(kinds, 0, sizeof kinds);
  test_decode(others.data, others.size, false, kinds, __FILE__, __LINE__);
  CHECK_EQUAL(kinds[GOTRACE_V2_USER_LOG], 1);
  CHECK_EQUAL(kinds[GOTRACE_V2_USER_REGION_BEGIN], 0);
  test_free(&others);
  test_free(&bytes);
  return 0;
}
