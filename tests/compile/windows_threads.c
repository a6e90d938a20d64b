/* MinGW's POSIX threads, whose runtime ends a thread before Windows does: its end is in the trace, and its record is
 * reused. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_trace.h"

#include <pthread.h>

enum { THREADS = 100 };

static void *job(void *unused) {
  GOTRACE_REGION("job") gotrace_log(GOTRACE_NO_TASK, "category", "in a thread");
  return unused;
}

int main(void) {
  gotrace_stats stats;
  int i;
  CHECK_EQUAL(gotrace_start_file(test_trace_path("threads", GOTRACE_GO_1_23), NULL), GOTRACE_OK);
  for (i = 0; i < THREADS; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, job, NULL) == 0 && pthread_join(thread, NULL) == 0);
    if (i % 10 == 9) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.kinds[GOTRACE_V2_GO_DESTROY], THREADS);
  CHECK_EQUAL(stats.dropped + stats.repaired, 0);
  CHECK(gotrace__t.thread_count <= 20);
  test_write_kinds("threads", GOTRACE_GO_1_23);
  return 0;
}
