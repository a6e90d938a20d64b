/* GOTRACE_NO_THREADS=1: no locks and no service thread. Into a file, into a callback, and read by the program
 * itself. */
#define GOTRACE_NO_THREADS 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

static void work(void) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("worker");
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *a = gotrace_go_create(&entry), *b = gotrace_go_create_blocked(&entry);
  gotrace_task task = gotrace_task_begin("task", GOTRACE_NO_TASK);
  int i;
  for (i = 0; i < 3000; i++)
    GOTRACE_TASK_REGION(task, "region") {
      gotrace_logf(task, "category", "message %d of many, so that chunks fill", i);
    }
  gotrace_task_end(task);
  gotrace_thread_end();
  gotrace_proc_start(proc);
  gotrace_go_start(a);
  gotrace_go_switch(b);
  gotrace_go_syscall_begin();
  gotrace_go_syscall_end();
  gotrace_go_switch_end(a);
  gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
}

/* Calls of the tracer that write to the sink leave errno as it is, also if the sink changes it. */
static unsigned long sunk;
static bool changes_errno(void *context, const void *data, size_t size) {
  (void)context, (void)data;
  sunk += (unsigned long)size;
  errno = ENOTTY;
  return true;
}

/* gotrace_advance delivers; other calls do where they fill memory. */
static void delivers(void) {
  gotrace_options options;
  gotrace_stats stats;
  unsigned long before;
  int i;
  memset(&options, 0, sizeof options);
  options.write = changes_errno;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 3; i++) {
    before = sunk;
    gotrace_log(GOTRACE_NO_TASK, "category", "text");
    errno = EDOM;
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    CHECK_EQUAL(errno, EDOM);
    CHECK(sunk > before);
    gotrace_get_stats(&stats);
    CHECK_EQUAL(stats.bytes, sunk);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);

  options.cut_milliseconds = 1;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  before = sunk;
  errno = EDOM;
  for (i = 0; sunk < before + 10000; i++) {
    CHECK(i < 10000000);
    gotrace_log(GOTRACE_NO_TASK, "category", "text");
    CHECK_EQUAL(errno, EDOM);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
}

/* Also where a call fills memory, the write function may end the trace. */
static gotrace_result ended = GOTRACE_ERROR_NOT_RUNNING;
static bool ends(void *context, const void *data, size_t size) {
  (void)data, (void)size;
  if (*(const bool *)context && ended != GOTRACE_OK) ended = gotrace_end();
  return true;
}
static void ends_at_a_chunk(void) {
  gotrace_options options;
  bool logs = false;
  int i;
  memset(&options, 0, sizeof options);
  options.write = ends;
  options.context = &logs;
  options.cut_bytes = 1000;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  logs = true;
  for (i = 0; gotrace_enabled(); i++) {
    CHECK(i < 1000000);
    gotrace_log(GOTRACE_NO_TASK, "category", "text");
  }
  CHECK_EQUAL(ended, GOTRACE_OK);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
}

static void check(const test_bytes *bytes) {
  gotrace_stats stats;
  CHECK_OPENS(bytes);
  test_check_statistics(bytes);
  CHECK_EQUAL(test_count(bytes, "UserLog"), 3000);
  CHECK_EQUAL(test_count(bytes, "UserRegion"), 6000);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped, 0);
}

int main(void) {
  const char *directory = getenv("GOTRACE_TEST_DIR");
  char path[512];
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.format = GOTRACE_GO_1_21;
  snprintf(path, sizeof path, "%s/no-threads-%ld", directory ? directory : "/tmp", (long)getpid());
  work(); /* while tracing is off */

  CHECK_EQUAL(gotrace_start_file(path, &options), GOTRACE_OK);
  work();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_load(&bytes, path);
  remove(path);
  check(&bytes);

  bytes.size = 0;
  options.write = test_sink;
  options.context = &bytes;
  options.format = GOTRACE_GO_1_11;
  options.cut_bytes = 65536;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  work();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  check(&bytes);

  bytes.size = 0;
  options.write = NULL;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  work();
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  check(&bytes);

  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
  delivers();
  ends_at_a_chunk();
  test_free(&bytes);
  return 0;
}
