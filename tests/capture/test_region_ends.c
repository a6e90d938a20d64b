/* Region ends without a start: those whose start may lie before the trace are written and counted, others are dropped
 * and counted. */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

static void *begun_in_trace(void *unused) {
  gotrace_go *go = gotrace_go_self(); /* the tracer cannot tell whether the thread is older than its goroutine */
  CHECK(go != NULL);
  gotrace_region_begin(GOTRACE_NO_TASK, "a");
  gotrace_region_end(GOTRACE_NO_TASK, "a");
  gotrace_region_end(GOTRACE_NO_TASK, "a");
  gotrace_region_end(GOTRACE_NO_TASK, "never");
  return unused;
}

static void test_format(gotrace_format format) {
  static const gotrace_location entry = {0, "made", "made.c", 1};
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_stats stats;
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *go;
  pthread_t thread;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&thread, NULL, begun_in_trace, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  gotrace_proc_start(proc);
  go = gotrace_go_create(&entry);
  gotrace_go_start(go);
  gotrace_region_end(GOTRACE_NO_TASK, "of a goroutine that the trace has whole");
  gotrace_go_end();
  gotrace_proc_stop();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_REGION_OLDER], 2);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_REGION_NONE], 1);
  test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
  gotrace_proc_destroy(proc);
  test_free(&bytes);
}

int main(void) {
  size_t i;
  for (i = 0; i < TEST_FORMATS; i++)
    if (test_formats[i] >= GOTRACE_GO_1_11) test_format(test_formats[i]);
  return 0;
}
