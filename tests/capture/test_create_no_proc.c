/* A thread without a proc that creates goroutines has a temporary proc during each creation only (v2; in v1, none): the
 * trace shows no proc that appears idle all the time, and the statistics count it. A worker that reports something
 * while its proc is stopped becomes a plain thread; this is counted, unless the thread has declared that it is one. */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

static void test_format(gotrace_format format) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("job");
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  bool v2 = format >= GOTRACE_GO_1_22;
  uint64_t kinds[256] = {0};
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *gos[3];
  gotrace_stats stats;
  int i;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 3; i++) CHECK((gos[i] = gotrace_go_create(&entry)) != NULL);
  gotrace_proc_start(proc);
  for (i = 0; i < 3; i++) {
    gotrace_go_start(gos[i]);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_CREATE_NO_PROC], v2 ? 3 : 0);
  CHECK_EQUAL(stats.dropped + stats.repaired, 0);
  test_decode(bytes.data, bytes.size, true, kinds, __FILE__, __LINE__);
  if (v2) {
    CHECK_EQUAL(kinds[GOTRACE_V2_PROC_START], 4);
    CHECK_EQUAL(kinds[GOTRACE_V2_PROC_STOP], 4);
  } else { /* no temporary proc is needed */
    CHECK_EQUAL(kinds[GOTRACE_V1_PROC_START], 1);
    CHECK_EQUAL(kinds[GOTRACE_V1_PROC_STOP], 1);
  }
  gotrace_proc_destroy(proc);
  test_free(&bytes);
}

static void test_idle_worker(gotrace_format format, bool declared) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("job");
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_stats stats;
  int i;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 3; i++) {
    gotrace_proc_start(proc);
    gotrace_go_start(gotrace_go_create(&entry));
    gotrace_go_end();
    gotrace_proc_stop();
    if (declared) gotrace_thread_begin("main");
    gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
    gotrace_wait_end();
    if (i == 1) gotrace_thread_end(); /* else it stays what it has become */
  }
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_IDLE_WORKER], declared ? 0 : 2);
  test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
  gotrace_proc_destroy(proc);
  test_free(&bytes);
}

int main(void) {
  size_t i;
  for (i = 0; i < TEST_FORMATS; i++) {
    test_format(test_formats[i]);
    test_idle_worker(test_formats[i], false);
    test_idle_worker(test_formats[i], true);
  }
  return 0;
}
