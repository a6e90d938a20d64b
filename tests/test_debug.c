/* GOTRACE_DEBUG: each misuse is reported once per place, with the file, line and function of the call and the
 * goroutine, proc and thread that made it. This includes calls that carry no call site. */
#define GOTRACE_DEBUG 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "test_collect.h"

#include <pthread.h>

static char last[600];
static int lines;
static long long go;
static gotrace_proc *proc;

static void report(void *context, const char *line) {
  (void)context;
  snprintf(last, sizeof last, "%s", line);
  lines++;
}

/* A problem is reported when its record is transcribed, which this call does. */
static void transcribe(void) {
  gotrace_stats stats;
  gotrace_get_stats(&stats);
}

#define EXPECT_IN(function, call, what)                                                                             \
  do {                                                                                                              \
    char want[700];                                                                                                 \
    int before = lines;                                                                                             \
    last[0] = 0;                                                                                                    \
    call;                                                                                                           \
    transcribe();                                                                                                   \
    snprintf(want, sizeof want, "gotrace: %s:%d: %s: %s; goroutine %lld, proc %d, thread %llu", __FILE__, __LINE__, \
             function, what, go, proc ? gotrace_proc_id(proc) : -1, (unsigned long long)gotrace__self->system_id);  \
    CHECK_EQUAL(lines, before + 1);                                                                                 \
    if (strcmp(last, want) != 0) fprintf(stderr, "%s\n%s\n", last, want);                                           \
    CHECK(strcmp(last, want) == 0);                                                                                 \
  } while (0)
#define EXPECT(call, what) EXPECT_IN("each_problem", call, what)

static void *on_a_thread(void *unused) {
  go = -1, proc = NULL;
  EXPECT_IN("on_a_thread", gotrace_proc_stop(), "proc stop on a thread without a proc (dropped)");
  return unused;
}

/* Many records of one thread, from several places: a problem is reported at the place of its own record. */
static void many_records(void) {
  int before = lines, i;
  char want[200];
  for (i = 0; i < 5000; i++) {
    gotrace_log(GOTRACE_NO_TASK, "category", "message");
    if (i == 2500) gotrace_region_end(GOTRACE_NO_TASK, "never begun"), snprintf(want, sizeof want, ":%d:", __LINE__);
    gotrace_log(GOTRACE_NO_TASK, "category", "message");
  }
  transcribe();
  CHECK_EQUAL(lines, before + 1);
  CHECK(strstr(last, want) && strstr(last, " many_records: end of a region that did not begin (dropped)"));
}

static void each_problem(gotrace_proc *made) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("job");
  gotrace_go *job, *other;
  pthread_t thread;
  EXPECT(gotrace_proc_stop(), "proc stop on a thread without a proc (dropped)");
  EXPECT(gotrace_go_end(), "block, stop, end or label while no goroutine runs (dropped)");
  EXPECT(gotrace_go_end(), "block, stop, end or label while no goroutine runs (dropped)"); /* another place */
  EXPECT(gotrace_go_syscall_end(), "end of a system call that did not begin (dropped)");
  EXPECT(gotrace_wait_end(), "end of a wait that did not begin (dropped)");
  proc = made;
  gotrace_proc_start(proc);
  EXPECT(gotrace_gc_end(), "begin of a collection during one, or end without a begin (dropped)");
  job = gotrace_go_create(&entry);
  other = gotrace_go_create(&entry);
  gotrace_go_start(job);
  go = (long long)gotrace_go_id(job);
  EXPECT(gotrace_go_unblock(other), "unblock of a goroutine that is not blocked (dropped)");
  EXPECT(gotrace_go_switch(job), "switch to a goroutine that cannot run (dropped)");
  EXPECT(gotrace_go_destroy(job), "destroy of a goroutine that is running, in a system call or dead (dropped)");
  EXPECT(gotrace_gc_mark_assist_end(), "begin of a mark assist during one, or end without a begin (dropped)");
  many_records();
  gotrace_go_end();
  gotrace_proc_stop();
  CHECK(pthread_create(&thread, NULL, on_a_thread, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

int main(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  gotrace_proc *made = gotrace_proc_create();
  gotrace_stats stats;
  int i, session, before;
  go = -1;
  options.report = report;
  for (session = 0; session < 2; session++) {
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    if (session == 0) each_problem(made);
    /* Once per place, whatever the number of calls and sessions; at the latest when the trace stops. */
    before = lines;
    for (i = 0; i < 3; i++) gotrace_proc_stop();
    gotrace_go_block(GOTRACE_BLOCK_SYNC);
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    CHECK_EQUAL(lines - before, session ? 0 : 2);
    gotrace_get_stats(&stats);
    CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_PROC_STOP_NONE], session ? 3 : 5);
    CHECK_OPENS(&bytes);
  }
  test_free(&bytes);
  return 0;
}
