/* GOTRACE_DEBUG: each misuse is reported once per place, with the file, line and function of the call and the
 * goroutine, proc and thread that made it. This includes calls that carry no call site.
 *
 * Not in: capture capture_address capture_thread, which report nothing yet. */
#define GOTRACE_DEBUG 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "test_collect.h"

static char last[600];
static int lines;

static void report(void *context, const char *line) {
  (void)context;
  snprintf(last, sizeof last, "%s", line);
  lines++;
}

#define EXPECT(call, what)                                                                                            \
  do {                                                                                                                \
    char want[700];                                                                                                   \
    int before = lines;                                                                                               \
    last[0] = 0;                                                                                                      \
    call;                                                                                                             \
    snprintf(want, sizeof want, "gotrace: %s:%d: main: %s; goroutine %lld, proc %d, thread %llu", __FILE__, __LINE__, \
             what, go, proc ? gotrace_proc_id(proc) : -1, (unsigned long long)gotrace__self->system_id);              \
    CHECK_EQUAL(lines, before + 1);                                                                                   \
    if (strcmp(last, want) != 0) fprintf(stderr, "%s\n%s\n", last, want);                                             \
    CHECK(strcmp(last, want) == 0);                                                                                   \
  } while (0)

int main(void) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("job");
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  gotrace_proc *proc = NULL, *made = gotrace_proc_create();
  gotrace_go *job;
  long long go = -1;
  int i;
  options.report = report;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  EXPECT(gotrace_proc_stop(), "proc stop on a thread without a proc (dropped)");
  EXPECT(gotrace_go_end(), "block, stop, end or label while no goroutine runs (dropped)");
  EXPECT(gotrace_go_start(NULL), "NULL handle (dropped)");
  EXPECT(gotrace_go_syscall_end(), "end of a system call that did not begin (dropped)");
  EXPECT(gotrace_wait_end(), "end of a wait that did not begin (dropped)");
  proc = made;
  gotrace_proc_start(proc);
  EXPECT(gotrace_gc_end(), "begin of a collection during one, or end without a begin (dropped)");
  job = gotrace_go_create(&entry);
  gotrace_go_start(job);
  go = (long long)gotrace_go_id(job);
  EXPECT(gotrace_go_unblock(job), "unblock of a goroutine that is not blocked (dropped)");
  i = lines;
  while (lines < i + 1) gotrace_gc_mark_assist_end();
  for (i = 0; i < 3; i++) gotrace_proc_destroy(proc); /* reported once per place */
  CHECK(strstr(last, "destroy of a proc") && lines == 9);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
  return 0;
}
