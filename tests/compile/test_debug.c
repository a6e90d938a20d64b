/* GOTRACE_DEBUG: each misuse is reported once per place, with the file, line and function of the call and the
 * goroutine, proc and thread that made it. This includes calls that carry no call site: each declaration with
 * GOTRACE__OFF takes a site, or is a macro that reports its place, or cannot be misused. */
#define GOTRACE_DEBUG 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

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

/* The header's declarations with GOTRACE__OFF. */
enum { MOST_CALLS = 200 };
static struct {
  char name[80];
  bool takes_site, is_macro, made;
} calls[MOST_CALLS];
static int call_count;

static void read_calls(void) {
  static char text[2000000];
  FILE *file = fopen("gotrace.h", "rb");
  const char *at = text;
  CHECK(file != NULL);
  CHECK(fread(text, 1, sizeof text - 1, file) > 0 && feof(file));
  CHECK(fclose(file) == 0);
  while ((at = strstr(at, "\nGOTRACE_API ")) != NULL) {
    const char *end = strchr(at, ';'), *off = strstr(at, "GOTRACE__OFF("), *name = strchr(at, '('), *site;
    char macro[200];
    at = name;
    if (!off || off > end) continue;
    CHECK(call_count < MOST_CALLS);
    while (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z')) name--;
    snprintf(calls[call_count].name, sizeof calls[0].name, "%.*s", (int)(at - name), name);
    snprintf(macro, sizeof macro, "\n#define %.*s(...) GOTRACE__FROM_HERE(%.*s(__VA_ARGS__))\n", (int)(at - name), name,
             (int)(at - name), name);
    site = strstr(at, "gotrace_site *site");
    calls[call_count].takes_site = site && site < off;
    calls[call_count++].is_macro = strstr(text, macro) != NULL;
  }
  CHECK(call_count > 100);
}

/* Sessions, results without a record, and calls about no goroutine, proc or thread. */
static const char *const unplaced[] = {
    "gotrace_start",
    "gotrace_start_file",
    "gotrace_start_environment",
    "gotrace_stop",
    "gotrace_end",
    "gotrace_read",
    "gotrace_try_read",
    "gotrace_flight_start",
    "gotrace_flight_snapshot",
    "gotrace_flight_stop",
    "gotrace_advance",
    "gotrace_flight_snapshot_file",
    "gotrace_is_enabled",
    "gotrace_in_call",
    "gotrace_debug_here",
    "gotrace_proc_id",
    "gotrace_go_id",
    "gotrace_reason",
    "gotrace_site_make",
    "gotrace_site_make_pc",
    "gotrace_cpu_sample",
    "gotrace_proc_self",
    "gotrace_track_while_off",
};

static void check_calls(void) {
  int i, j, count = sizeof unplaced / sizeof unplaced[0];
  for (i = 0; i < call_count; i++) {
    for (j = 0; j < count && strcmp(unplaced[j], calls[i].name) != 0; j++) continue;
    if ((calls[i].takes_site || j < count) == calls[i].is_macro) fprintf(stderr, "%s\n", calls[i].name);
    CHECK((calls[i].takes_site || j < count) != calls[i].is_macro);
  }
}

/* Notes which declaration the text of a call is about. */
static void note_call(const char *text) {
  char name[90];
  int i;
  for (i = 0; i < call_count; i++) {
    snprintf(name, sizeof name, "%s(", calls[i].name);
    if (strstr(text, name)) calls[i].made = true;
  }
}
static void check_all_made(void) {
  int i;
  for (i = 0; i < call_count; i++) {
    if (calls[i].is_macro && !calls[i].made) fprintf(stderr, "%s has no test here\n", calls[i].name);
    CHECK(!calls[i].is_macro || calls[i].made);
  }
}

/* A call that is no misuse, or whose misuse is hard to bring about. */
#define PLACED(call)                                           \
  do {                                                         \
    (void)(call);                                              \
    CHECK_EQUAL(gotrace__debug_site->location.line, __LINE__); \
    note_call(#call);                                          \
  } while (0)

/* In one line: compilers differ in the numbers of others. */
#define EXPECT_IN(function, call, what)                                                                             \
  do {                                                                                                              \
    char want[700];                                                                                                 \
    int before = lines;                                                                                             \
    last[0] = 0;                                                                                                    \
    note_call(#call);                                                                                               \
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

static void *idle_worker(void *own) {
  const char *made = "wait, region, log, task, system call of an idle worker: made the thread a goroutine (repaired)";
  gotrace_proc_start((gotrace_proc *)own);
  gotrace_proc_stop();
  go = -1, proc = NULL;
  EXPECT_IN("idle_worker", gotrace_wait_begin(GOTRACE_BLOCK_SYNC), made);
  gotrace_wait_end();
  return own;
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
  static const char misused_wait[] = "end of a wait that did not begin (dropped)";
  static const char misused_gc[] = "start of a collection during one, or end without a start (dropped)";
  static const char misused_stw[] = "start of a stop-the-world during one, or end without a start (dropped)";
  static const char misused_sweep[] = "start of a sweep during one, or span or end without a start (dropped)";
  static const char none[] =
      "block, stop, end or label while no goroutine runs; change of one that runs elsewhere (dropped)";
  gotrace_go *job, *other;
  pthread_t thread;
  EXPECT(gotrace_proc_stop(), "proc stop on a thread without a proc (dropped)");
  EXPECT(gotrace_go_end(), none);
  EXPECT(gotrace_go_end(), none); /* another place */
  EXPECT(gotrace_go_syscall_end(), "end of a system call that did not begin (dropped)");
  EXPECT(gotrace_go_syscall_end_blocked(), "end of a system call that did not begin (dropped)");
  EXPECT(gotrace_go_end_in_syscall(), "end of a system call that did not begin (dropped)");
  EXPECT(gotrace_wait_end(), misused_wait);
  PLACED(gotrace_proc_start(NULL));
  PLACED(gotrace_proc_steal(NULL));
  PLACED(gotrace_proc_destroy(NULL));
  PLACED(gotrace_go_rename(NULL, "name"));
  PLACED(gotrace_go_timer(NULL));
  PLACED(gotrace_go_stack_bounds(NULL, NULL, NULL));
  EXPECT(gotrace_stw_end(), misused_stw);
  proc = made;
  gotrace_proc_start(proc);
  EXPECT(gotrace_go_label("label"), none);
  EXPECT(gotrace_gc_end(), misused_gc);
  EXPECT(gotrace_gc_sweep_end(), misused_sweep);
  PLACED(gotrace_gc_sweep_begin());
  EXPECT(gotrace_gc_sweep_begin(), misused_sweep);
  gotrace_gc_sweep_end();
  EXPECT(gotrace_gc_scan_begin(), "the trace format has no such event (left out)");
  EXPECT(gotrace_gc_scan_end(), "the trace format has no such event (left out)");
  job = gotrace_go_create(&entry);
  other = gotrace_go_create(&entry);
  EXPECT(gotrace_nest_end(NULL), "end of nested running that did not begin, or with another outer goroutine (dropped)");
  PLACED(gotrace_thread_begin_as(NULL));
  PLACED(gotrace_go_continue(NULL));
  PLACED(gotrace_go_start(NULL));
  gotrace_go_start(job);
  go = (long long)gotrace_go_id(job);
  EXPECT(gotrace_go_unblock(other), "unblock of a goroutine that is not blocked (dropped)");
  EXPECT(gotrace_go_switch(job), "switch to a goroutine that cannot run (dropped)");
  EXPECT(gotrace_go_destroy(job), "destroy of a goroutine that is running, in a system call or dead (dropped)");
  EXPECT(gotrace_gc_mark_assist_end(), "start of a mark assist during one, or end without a start (dropped)");
  PLACED(gotrace_thread_begin("name"));
  PLACED(gotrace_thread_rename("name"));
  PLACED(gotrace_thread_rename_n("name", 4));
  PLACED(gotrace_go_rename_n(NULL, "name", 4));
  PLACED(gotrace_go_label_n("", 0));
  PLACED(gotrace_go_self());
  PLACED(gotrace_heap_alloc(1));
  PLACED(gotrace_heap_goal(1));
  PLACED(gotrace_span(&entry, 1, 1));
  PLACED(gotrace_span_alloc(&entry, 1, 1));
  PLACED(gotrace_span_free(&entry));
  PLACED(gotrace_heap_object(&entry, NULL));
  PLACED(gotrace_heap_object_alloc(&entry, NULL));
  PLACED(gotrace_heap_object_free(&entry));
  PLACED(gotrace_goroutine_stack(&entry, 1));
  PLACED(gotrace_goroutine_stack_alloc(&entry, 1));
  PLACED(gotrace_goroutine_stack_free(&entry));
  many_records();
  gotrace_go_end();
  gotrace_proc_stop();
  CHECK(pthread_create(&thread, NULL, on_a_thread, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  go = -1, proc = NULL;
  PLACED(gotrace_thread_end());
  PLACED(made = gotrace_proc_create());
  CHECK(pthread_create(&thread, NULL, idle_worker, made) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  gotrace_proc_destroy(made);
  check_all_made();
}

int main(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  gotrace_proc *made = gotrace_proc_create();
  gotrace_stats stats;
  int i, session, before;
  go = -1;
  read_calls();
  check_calls();
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
