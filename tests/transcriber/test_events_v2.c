/* Every kind of v2 event, in every format that has it, with its arguments. Each format runs in its own process. A file
 * next to the trace has the output expected from Go's parser (regular expressions, see check_trace.py). */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_trace.h"

#include <pthread.h>
#include <sys/wait.h>

static gotrace_format format;
static FILE *expected;
#define SINCE(which) (format >= (which))

__attribute__((format(printf, 1, 2))) static void expect(const char *pattern, ...) {
  va_list arguments;
  if (!expected) return;
  va_start(arguments, pattern);
  vfprintf(expected, pattern, arguments);
  va_end(arguments);
  fputc('\n', expected);
}

/* A text as a regular expression that matches it. */
static const char *literally(const char *text) {
  static char pattern[128];
  char *at = pattern;
  for (; *text; *at++ = *text++)
    if (strchr("(*).", *text)) *at++ = '\\';
  *at = 0;
  return pattern;
}

#define U(x) ((unsigned long long)(x))
/* Releases print resource, reason and states in different orders. */
#define GO(g, from, to) expect("StateTransition .*GoID=%llu " from "->" to "( |$)", U(gotrace_go_id(g)))
#define GO_REASON(g, from, to, reason) \
  expect("(?=.*GoID=%llu " from "->" to ")(?=.*Reason=\"%s\")", U(gotrace_go_id(g)), literally(reason))
#define PROC(p, from, to) expect("StateTransition .*ProcID=%d " from "->" to "( |$)", gotrace_proc_id(p))

static const gotrace_location entry = GOTRACE_NAMED_ENTRY("entry_of_it");
static const gotrace_type type = {"struct pair", 16, 8};

static void *steal(void *proc) {
  gotrace_proc_steal((gotrace_proc *)proc);
  return NULL;
}

static void *unblock(void *go) {
  gotrace_go_unblock((gotrace_go *)go);
  return NULL;
}

static void in_thread(void *(*work)(void *), void *argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work, argument) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void scheduling(gotrace_go *g, gotrace_go *waiting, gotrace_proc *p1, gotrace_proc *p2) {
  static const char *const block_reasons[] = {
#define REASON(NAME, number, v1, text) text,
      GOTRACE_BLOCK_REASONS(REASON)
#undef REASON
  };
  static const char *const stop_reasons[] = {
#define REASON(NAME, number, v1, text) text,
      GOTRACE_STOP_REASONS(REASON)
#undef REASON
  };
  gotrace_go *made, *blocked, *called, *child;
  unsigned reason;

  gotrace_procs_change(7);
  PROC(p1, "Undetermined", "Running");
  GO(g, "Undetermined", "Running");
  expect("Metric .*gomaxprocs:threads.*Uint64\\(2\\)"); /* the number of procs that exist */
  expect("Metric .*gomaxprocs:threads.*Uint64\\(7\\)");
  gotrace_go_unblock(waiting);
  GO(waiting, "Undetermined", "Waiting");
  GO(waiting, "Waiting", "Runnable");
  made = gotrace_go_create(&entry);
  GO(made, "NotExist", "Runnable");
  expect("entry_of_it @ 0x");
  blocked = gotrace_go_create_blocked(&entry);
  if (SINCE(GOTRACE_GO_1_23)) GO(blocked, "NotExist", "Waiting");
  for (reason = 0; reason < GOTRACE_STOP_REASON_COUNT; reason++) {
    gotrace_go_stop((gotrace_stop_reason)reason);
    GO_REASON(g, "Running", "Runnable", stop_reasons[reason]);
    expect("scheduling @ 0x");
    gotrace_go_start(g);
    GO(g, "Runnable", "Running");
  }
  for (reason = 0; reason < GOTRACE_BLOCK_REASON_COUNT; reason++) {
    if (reason == GOTRACE_BLOCK_FOREVER) continue;
    gotrace_go_block(reason);
    GO_REASON(g, "Running", "Waiting", block_reasons[reason]);
    expect("scheduling @ 0x");
    if (reason == GOTRACE_BLOCK_NET) in_thread(unblock, g);
    else gotrace_go_unblock(g);
    GO(g, "Waiting", "Runnable");
    gotrace_go_start(g);
    GO(g, "Runnable", "Running");
  }
  for (reason = 0; reason < 3; reason++) { /* by the third time its call site is known */
    gotrace_go_block(gotrace_reason("redis: wait for reply") + GOTRACE_BLOCK_NET);
    GO_REASON(g, "Running", "Waiting", "redis: wait for reply");
    expect("scheduling @ 0x");
    gotrace_go_unblock(g);
    gotrace_go_start(g);
    GO(g, "Runnable", "Running");
  }
  gotrace_go_stop(GOTRACE_REASON("a name of its own"));
  GO_REASON(g, "Running", "Runnable", "a name of its own");
  gotrace_go_start(g);
  GO(g, "Runnable", "Running");
  if (SINCE(GOTRACE_GO_1_23)) { /* 1.22 cannot create a waiting goroutine */
    gotrace_go_switch_for(blocked, GOTRACE_REASON("wait for the other"));
    GO(blocked, "Waiting", "Runnable");
    GO_REASON(g, "Running", "Waiting", "wait for the other");
    GO(blocked, "Runnable", "Running");
    gotrace_go_switch_for(g, GOTRACE_BLOCK_SELECT);
    GO(g, "Waiting", "Runnable");
    GO_REASON(blocked, "Running", "Waiting", "select");
    GO(g, "Runnable", "Running");
  }
  for (reason = 0; reason < 2; reason++) {
    gotrace_wait_on(&entry, GOTRACE_BLOCK_COND_WAIT);
    GO_REASON(g, "Running", "Waiting", "sync.(*Cond).Wait");
    expect("scheduling @ 0x");
    if (reason) CHECK_EQUAL(gotrace_wake(&entry, 1), 1);
    GO(g, "Waiting", "Runnable");
    if (reason) expect("scheduling @ 0x");
    gotrace_wait_end();
    GO(g, "Runnable", "Running");
  }
  gotrace_go_switch(blocked);
  if (SINCE(GOTRACE_GO_1_23)) GO(blocked, "Waiting", "Runnable");
  else GO(blocked, "NotExist", "Runnable");
  GO(g, "Running", "Waiting");
  GO(blocked, "Runnable", "Running");
  gotrace_go_switch_end(g);
  GO(g, "Waiting", "Runnable");
  GO(blocked, "Running", "NotExist");
  GO(g, "Runnable", "Running");
  child = gotrace_thread_create(&entry);
  GO(child, "NotExist", "Runnable");
  gotrace_go_rename(g, "green");
  expect("Label .*Label=\"green\"");
  gotrace_go_rename(child, "red");
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  gotrace_thread_begin_as(child);
  GO(child, "Runnable", "Running");
  expect("Label .*Label=\"red\"");
  gotrace_thread_rename("yellow");
  expect("Label .*Label=\"yellow\"");
  gotrace_go_end();
  GO(child, "Running", "NotExist");
  gotrace_go_start(g);
  GO(g, "Runnable", "Running");
  expect("Label .*Label=\"green\"");
  gotrace_go_label("blue");
  expect("Label .*Label=\"blue\"");
  gotrace_go_syscall_begin();
  GO(g, "Running", "Syscall");
  expect("scheduling @ 0x");
  gotrace_go_syscall_end();
  GO(g, "Syscall", "Running");
  gotrace_go_syscall_begin();
  gotrace_proc_stop();
  PROC(p1, "Running", "Idle");
  gotrace_go_syscall_end_blocked();
  GO(g, "Syscall", "Runnable");
  gotrace_proc_start(p1);
  PROC(p1, "Idle", "Running");
  gotrace_go_start(g);
  expect("Label .*Label=\"blue\"");
  gotrace_go_label(NULL);
  gotrace_go_syscall_begin();
  in_thread(steal, p1);
  PROC(p1, "Running", "Idle");
  gotrace_go_syscall_end_blocked();
  GO(g, "Syscall", "Runnable");
  gotrace_proc_start(p2);
  PROC(p2, "Undetermined", "Idle");
  PROC(p2, "Idle", "Running");
  called = gotrace_go_create_syscall(&entry);
  GO(called, "NotExist", "Syscall");
  gotrace_go_end_in_syscall();
  PROC(p2, "Running", "Idle");
  expect("StateTransition .*Syscall->NotExist");
  gotrace_proc_start(p2);
  gotrace_go_start(made);
  GO(made, "Runnable", "Running");
  gotrace_go_end();
  GO(made, "Running", "NotExist");
  gotrace_go_start(g);
  GO(g, "Runnable", "Running");

  /* Goroutines that end while they do not run: one was never started, one waits. g makes room. */
  made = gotrace_go_create(&entry);
  GO(made, "NotExist", "Runnable");
  gotrace_go_destroy(made);
  GO_REASON(g, "Running", "Runnable", "unspecified");
  GO(made, "Runnable", "Running");
  GO(made, "Running", "NotExist");
  GO(g, "Runnable", "Running");
  made = gotrace_go_create_blocked(&entry);
  if (SINCE(GOTRACE_GO_1_23)) GO(made, "NotExist", "Waiting");
  gotrace_go_destroy(made);
  if (SINCE(GOTRACE_GO_1_23)) GO(made, "Waiting", "Runnable");
  else GO(made, "NotExist", "Runnable");
  GO_REASON(g, "Running", "Runnable", "unspecified");
  GO(made, "Runnable", "Running");
  GO(made, "Running", "NotExist");
  GO(g, "Runnable", "Running");
}

static void collecting(void) {
  static const char *const reasons[] = {
#define REASON(NAME, number, text) text,
      GOTRACE_STW_REASONS(REASON)
#undef REASON
  };
  unsigned i;
  for (i = 0; i < GOTRACE_STW_REASON_COUNT; i++) {
    gotrace_stw_begin((gotrace_stw_reason)i);
    expect("RangeBegin .*Name=\"stop-the-world \\(%s\\)\"", literally(reasons[i]));
    gotrace_stw_end();
    expect("RangeEnd .*Name=\"stop-the-world \\(%s\\)\"", literally(reasons[i]));
  }
  gotrace_stw_begin(GOTRACE_REASON("jit: patch code") + GOTRACE_STW_GC_MARK_TERM);
  expect("RangeBegin .*Name=\"stop-the-world \\(jit: patch code\\)\"");
  gotrace_stw_end();
  expect("RangeEnd .*Name=\"stop-the-world \\(jit: patch code\\)\"");
  gotrace_gc_begin();
  expect("RangeBegin .*Name=\"GC concurrent mark phase\"");
  gotrace_gc_end();
  expect("RangeEnd .*Name=\"GC concurrent mark phase\"");
  gotrace_gc_sweep_begin();
  gotrace_gc_sweep_end(); /* nothing was swept: no event */
  gotrace_gc_sweep_begin();
  gotrace_gc_sweep_span(100, 50);
  expect("RangeBegin .*Name=\"GC incremental sweep\"");
  gotrace_gc_sweep_span(10, 5);
  gotrace_gc_sweep_end();
  expect("RangeEnd .*Name=\"GC incremental sweep\".*Uint64\\(110\\).*Uint64\\(55\\)");
  gotrace_gc_mark_assist_begin();
  expect("RangeBegin .*Name=\"GC mark assist\"");
  gotrace_gc_mark_assist_end();
  expect("RangeEnd .*Name=\"GC mark assist\"");
  gotrace_heap_alloc(1234);
  expect("Metric .*heap/objects:bytes.*Uint64\\(1234\\)");
  gotrace_heap_goal(5678);
  expect("Metric .*heap/goal:bytes.*Uint64\\(5678\\)");
}

static void annotating(void) {
  gotrace_task outer = gotrace_task_begin("outer", GOTRACE_NO_TASK), inner = gotrace_task_begin("inner", outer);
  expect("TaskBegin .*ID=%llu .*Type=\"outer\"", U(outer.id));
  expect("annotating @ 0x");
  expect("TaskBegin .*ID=%llu Parent=%llu Type=\"inner\"", U(inner.id), U(outer.id));
  gotrace_region_begin(inner, "work");
  expect("RegionBegin .*Task=%llu Type=\"work\"", U(inner.id));
  gotrace_log(inner, "category", "a message");
  expect("Log .*Task=%llu Category=\"category\" Message=\"a message\"", U(inner.id));
  gotrace_log_at(gotrace_site_make("script_function", "script.lua", 77), inner, "category", "elsewhere");
  expect("Log .*Message=\"elsewhere\"");
  expect("script_function @ 0x");
  gotrace_region_end(inner, "work");
  expect("RegionEnd .*Task=%llu Type=\"work\"", U(inner.id));
  gotrace_task_end(inner);
  expect("TaskEnd .*ID=%llu Parent=%llu Type=\"inner\"", U(inner.id), U(outer.id));
  gotrace_task_end(outer);
  gotrace_cpu_sample(NULL);
  expect("StackSample");
}

/* Go to 1.24 prints Args=[4 2], later releases Args=[id=Value{Uint64(4)}, npages_value=Value{Uint64(2)}]. */
static void expect_memory(const char *name, const char *numbers) {
  char pattern[256], *at = pattern;
  for (; *numbers; numbers++) {
    at += sprintf(at, "(\\S+\\()?");
    while (*numbers && *numbers != ' ') *at++ = *numbers++;
    at += sprintf(at, "(\\)\\})?,?%s", *numbers ? " " : "");
    if (!*numbers) break;
  }
  *at = 0;
  expect("Experimental .*Name=%s .*Args=\\[%s\\]", name, pattern);
}

static void allocating(void) {
  gotrace_span((void *)0x10000, 16384, 1);
  expect_memory("Span", "4 2 1");
  gotrace_span_alloc((void *)0x20000, 8193, 6);
  expect_memory("SpanAlloc", "12 2 6");
  gotrace_span_free((void *)0x20000);
  expect_memory("SpanFree", "12");
  gotrace_heap_object((void *)0x8010, &type);
  expect_memory("HeapObject", "1 1");
  gotrace_heap_object_alloc((void *)0x8020, NULL);
  expect_memory("HeapObjectAlloc", "2 0");
  gotrace_heap_object_free((void *)0x8020);
  expect_memory("HeapObjectFree", "2");
  gotrace_goroutine_stack((void *)0x9000, 4096);
  expect_memory("GoroutineStack", "2 13");
  gotrace_goroutine_stack_alloc((void *)0xa000, 5000);
  expect_memory("GoroutineStackAlloc", "4 14");
  gotrace_goroutine_stack_free((void *)0xa000);
  expect_memory("GoroutineStackFree", "4");
}

/* Statuses and ranges that span the end of a generation are written again in the next one, at the first event of their
 * thread. */
static void generations(gotrace_go *g, gotrace_proc *p1, gotrace_proc *p2) {
  gotrace_task task = gotrace_task_begin("long", GOTRACE_NO_TASK);
  int i;
  expect("TaskBegin .*Type=\"long\"");
  gotrace_region_begin(task, "long region");
  gotrace_gc_begin();
  gotrace_gc_mark_assist_begin();
  gotrace_gc_sweep_begin();
  gotrace_gc_sweep_span(1, 1);
  gotrace_stw_begin(GOTRACE_STW_GOMAXPROCS);
  expect("RangeBegin .*Name=\"stop-the-world \\(GOMAXPROCS\\)\"");
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  expect("RangeEnd .*Name=\"stop-the-world \\(GOMAXPROCS\\)\"");
  expect("Sync");
  gotrace_log(task, "in", "the next generation");
  PROC(p2, "Running", "Running");
  expect("RangeActive .*Name=\"GC incremental sweep\" Scope=Proc\\(%d\\)", gotrace_proc_id(p2));
  GO(g, "Running", "Running");
  expect("RangeActive .*Name=\"GC mark assist\" Scope=Goroutine\\(%llu\\)", U(gotrace_go_id(g)));
  expect("RangeBegin .*Name=\"stop-the-world \\(GOMAXPROCS\\)\"");
  expect("Metric .*gomaxprocs:threads.*Uint64\\(7\\)");
  expect("Metric .*heap/goal:bytes.*Uint64\\(5678\\)");
  expect("Metric .*heap/objects:bytes.*Uint64\\(1234\\)");
  expect("RangeActive .*Name=\"GC concurrent mark phase\"");
  expect("Log .*Category=\"in\" Message=\"the next generation\"");
  for (i = 0; i < 3; i++) { /* generations in which everything is silent */
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    if (i == 0) expect("RangeEnd .*Name=\"stop-the-world \\(GOMAXPROCS\\)\"");
    expect("Sync");
  }
  gotrace_stw_end();
  expect("RangeBegin .*Name=\"stop-the-world \\(GOMAXPROCS\\)\"");
  expect("RangeEnd .*Name=\"stop-the-world \\(GOMAXPROCS\\)\"");
  gotrace_gc_sweep_end();
  gotrace_gc_mark_assist_end();
  gotrace_gc_end();
  expect("RangeEnd .*Name=\"GC concurrent mark phase\"");
  gotrace_region_end(task, "long region");
  expect("RegionEnd .*Type=\"long region\"");
  gotrace_task_end(task);
  expect("TaskEnd .*Type=\"long\"");
  /* In a system call over the end of a generation; then its proc is stolen. */
  gotrace_go_syscall_begin();
  GO(g, "Running", "Syscall");
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  expect("Sync");
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  expect("Sync");
  in_thread(steal, p2);
  PROC(p2, "Running", "Running"); /* ProcSyscallAbandoned, which Go turns into ProcSyscall */
  PROC(p2, "Running", "Idle");
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  expect("Sync");
  gotrace_go_syscall_end_blocked();
  GO(g, "Syscall", "Runnable");
  gotrace_proc_start(p1);
  gotrace_go_start(g);
  GO(g, "Runnable", "Running");
}

static void all_events(void) {
  static const uint8_t frame[] = {GOTRACE_V2_EVENT_BATCH, GOTRACE_V2_END_OF_GENERATION};
  gotrace_options options;
  gotrace_stats stats;
  gotrace_proc *p1 = gotrace_proc_create(), *p2 = gotrace_proc_create();
  gotrace_go *g = gotrace_go_create(&entry), *waiting = gotrace_go_create_blocked(&entry);
  int i;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.alloc_events = SINCE(GOTRACE_GO_1_23);
  options.heap.base = 0x8000;
  options.heap.alignment = 16;
  options.cut_milliseconds = 1000000;
  gotrace_proc_start(p1);
  gotrace_go_start(g);
  CHECK_EQUAL(gotrace_start_file(test_trace_path("events", format), &options), GOTRACE_OK);
  scheduling(g, waiting, p1, p2);
  collecting();
  annotating();
  if (SINCE(GOTRACE_GO_1_23)) allocating();
  generations(g, p1, p2);
  gotrace_go_block(GOTRACE_BLOCK_FOREVER);
  expect("(?=.* Running->Waiting)(?=.*Reason=\"forever\")");
  gotrace_proc_stop();
  PROC(p1, "Running", "Idle");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped, 0);
  CHECK_EQUAL(stats.repaired, 0);
  CHECK_EQUAL(stats.left_out, 0);
  CHECK_EQUAL(stats.cuts, 8);
  test_write_kinds("events", format);
  for (i = 1; i < 256; i++) {
    const gotrace_event_spec *spec = gotrace_find_event_spec(format, i);
    if (!spec || stats.kinds[i] || memchr(frame, i, sizeof frame)) continue;
    if (SINCE(GOTRACE_GO_1_23) && i == GOTRACE_V2_GO_STATUS) continue; /* GoStatusStack contains more */
    fprintf(stderr, "format %d: no %s was written\n", (int)format, spec->name);
    exit(1);
  }
}

/* A trace that begins while one goroutine is in a system call, whose proc is then stolen, and another runs elsewhere.
 */
static gotrace_go *elsewhere;
static pthread_barrier_t barrier;

static void *run_elsewhere(void *proc) {
  gotrace_proc_start((gotrace_proc *)proc);
  gotrace_go_start(elsewhere);
  pthread_barrier_wait(&barrier); /* the trace begins */
  pthread_barrier_wait(&barrier); /* the trace has ended; this goroutine ran throughout */
  gotrace_go_end();
  gotrace_proc_stop();
  return NULL;
}

static void from_the_middle(void) {
  gotrace_options options;
  gotrace_proc *p1 = gotrace_proc_create(), *p2 = gotrace_proc_create();
  gotrace_go *g = gotrace_go_create(&entry);
  gotrace_task before = gotrace_task_begin("begun before", GOTRACE_NO_TASK);
  pthread_t thread;
  uint64_t id;
  elsewhere = gotrace_go_create(&entry);
  id = gotrace_go_id(elsewhere);
  memset(&options, 0, sizeof options);
  options.format = format;
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, run_elsewhere, p2) == 0);
  gotrace_proc_start(p1);
  gotrace_go_start(g);
  gotrace_region_begin(before, "begun before too");
  gotrace_go_syscall_begin();
  pthread_barrier_wait(&barrier);
  CHECK_EQUAL(gotrace_start_file(test_trace_path("middle", format), &options), GOTRACE_OK);
  in_thread(steal, p1);
  /* Silent, as at the trace's beginning. */
  expect("anywhere: StateTransition .*ProcID=%llu Undetermined->Running( |$)", U(gotrace_proc_id(p2)));
  expect("anywhere: StateTransition .*GoID=%llu Undetermined->Running( |$)", U(id));
  gotrace_go_syscall_end_blocked();
  GO(g, "Undetermined", "Syscall");
  GO(g, "Syscall", "Runnable");
  PROC(p1, "Undetermined", "Idle");
  gotrace_proc_start(p1);
  gotrace_go_start(g);
  gotrace_region_end(before, "begun before too");
  expect("TaskBegin .*ID=%llu .*Type=\"begun before\"", U(before.id));
  expect("RegionEnd .*Task=%llu Type=\"begun before too\"", U(before.id));
  gotrace_task_end(before);
  expect("TaskEnd .*ID=%llu .*Type=\"begun before\"", U(before.id));
  gotrace_go_end();
  gotrace_proc_stop();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_write_kinds("middle", format);
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0);
}

/* Readers reject a generation without events, so none is written. */
static void nothing(void) {
  gotrace_options options;
  int i;
  memset(&options, 0, sizeof options);
  options.format = format;
  CHECK_EQUAL(gotrace_start_file(test_trace_path("nothing", format), &options), GOTRACE_OK);
  for (i = 0; i < 3; i++) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "", "but one");
  for (i = 0; i < 3; i++) {
    gotrace_thread_end();
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_write_kinds("nothing", format);
  expect("Log .*Message=\"but one\"");
}

static void in_child(const char *name, void (*events)(void)) {
  char path[512];
  int status;
  snprintf(path, sizeof path, "%s", test_trace_path(name, format));
  if (strcmp(path, "/dev/null") != 0) memcpy(strrchr(path, '.'), ".expect", 8);
  if (fork() == 0) {
    CHECK((expected = fopen(path, "w")) != NULL);
    events();
    CHECK(fclose(expected) == 0);
    exit(0);
  }
  CHECK(wait(&status) > 0);
  CHECK_EQUAL(status, 0);
}

int main(void) {
  size_t i;
  for (i = 0; i < TEST_FORMATS; i++) {
    format = test_formats[i];
    if (format < GOTRACE_GO_1_22) continue; /* see test_events.c */
    in_child("events", all_events);
    in_child("middle", from_the_middle);
    in_child("nothing", nothing);
  }
  return 0;
}
