/* Every kind of v1 event, in every format that has it, with its arguments. The output expected from Go's parser is in
 * *.expect next to each trace; the runner compares it line by line (tests/go/open_in_go.sh). */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_trace.h"

#include <sys/wait.h>

static FILE *expected;
static gotrace_format format;

/* One line as Go prints it, without time and offset. Waits for the clock, so that the order of lines is the order of
 * calls. */
static void expect(const char *name, int p, uint64_t g, const char *arguments, ...) GOTRACE__PRINTF(4, 5);
static void expect(const char *name, int p, uint64_t g, const char *arguments, ...) {
  va_list list;
  uint64_t now = gotrace__now();
  fprintf(expected, "%s p=%d g=%llu", name, p, (unsigned long long)g);
  va_start(list, arguments);
  vfprintf(expected, arguments, list);
  va_end(list);
  fputc('\n', expected);
  while (gotrace__now() < now + 2) continue;
}

#define SINCE(version) (format >= (version))
#define U(x) ((unsigned long long)(x))
enum { TIMER_P = 1000001, NETPOLL_P, SYSCALL_P, GC_P }; /* internal/trace/parser.go */

static void block_kinds(gotrace_go *g, int p, unsigned *seq) {
  const struct {
    unsigned reason;
    const char *name;
  } kinds[] = {
      {GOTRACE_BLOCK_GENERIC, "GoBlock"},
      {GOTRACE_BLOCK_NET, "GoBlockNet"},
      {GOTRACE_BLOCK_SELECT, "GoBlockSelect"},
      {GOTRACE_BLOCK_COND_WAIT, "GoBlockCond"},
      {GOTRACE_BLOCK_SYNC, "GoBlockSync"},
      {GOTRACE_BLOCK_CHAN_SEND, "GoBlockSend"},
      {GOTRACE_BLOCK_CHAN_RECV, "GoBlockRecv"},
      {GOTRACE_BLOCK_GC_MARK_ASSIST, "GoBlockGC"},
      {GOTRACE_BLOCK_GC_SWEEP, "GoBlock"},
      {GOTRACE_BLOCK_SYSTEM_GOROUTINE, "GoBlock"},
      {GOTRACE_BLOCK_PREEMPTED, "GoBlock"},
      {GOTRACE_BLOCK_DEBUG_CALL, "GoBlock"},
      {GOTRACE_BLOCK_UNTIL_GC_ENDS, "GoBlock"},
      {GOTRACE_BLOCK_SLEEP, "GoSleep"},
      {GOTRACE_BLOCK_GC_WEAK_TO_STRONG, "GoBlock"},
      {GOTRACE_BLOCK_SYNCTEST, "GoBlock"},
      {GOTRACE_REASON("a name of its own"), "GoBlock"},
      {GOTRACE_REASON("a name of its own") + GOTRACE_BLOCK_SELECT, "GoBlockSelect"},
  };
  size_t i;
  for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    gotrace_go_block(kinds[i].reason);
    expect(kinds[i].name, p, gotrace_go_id(g), "%s", "");
    gotrace_go_unblock(g); /* without a waker, on the same proc: local, whose number Go prints as 0 */
    expect("GoUnblock", kinds[i].reason == GOTRACE_BLOCK_NET ? NETPOLL_P : p, 0, " g=%llu seq=0", U(gotrace_go_id(g)));
    gotrace_go_start(g);
    expect("GoStart", p, gotrace_go_id(g), " g=%llu seq=0", U(gotrace_go_id(g)));
    *seq += 2;
  }
}

/* A futile wake-up: readers drop the unblock, start and block. Returns the number of numbered events. */
static unsigned futile_wakeup(gotrace_go *g, int p) {
  uint64_t gid = gotrace_go_id(g);
  gotrace_go_block(GOTRACE_BLOCK_COND_WAIT);
  expect("GoBlockCond", p, gid, "%s", "");
  gotrace_go_unblock(g);
  gotrace_go_start(g);
  gotrace_go_block(GOTRACE_BLOCK_COND_WAIT | GOTRACE_FUTILE_WAKEUP);
  gotrace_go_unblock(g);
  expect("GoUnblock", p, 0, " g=%llu seq=0", U(gid));
  gotrace_go_start(g);
  expect("GoStart", p, gid, " g=%llu seq=0", U(gid));
  return 4;
}

/* From 1.11 on, FutileWakeup is written only on request, since Go 1.23 and later reject it. This trace is for the
 * releases before. */
static void only_futile_wakeup(void) {
  gotrace_options options;
  gotrace_stats stats;
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *g;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.futile_wakeups = true;
  CHECK_EQUAL(gotrace_start_file(test_trace_path("futile", format), &options), GOTRACE_OK);
  expect("Gomaxprocs", -1, 0, " procs=1");
  expect("Gomaxprocs", -1, 0, " procs=1");
  gotrace_proc_start(proc);
  expect("ProcStart", 0, 0, " thread=%llu", U(gotrace__self->system_id));
  g = gotrace_go_create(NULL);
  expect("GoCreate", 0, 0, " g=%llu stack=#", U(gotrace_go_id(g)));
  gotrace_go_start(g);
  expect("GoStart", 0, gotrace_go_id(g), " g=%llu seq=0", U(gotrace_go_id(g)));
  futile_wakeup(g, 0);
  gotrace_go_end();
  expect("GoEnd", 0, gotrace_go_id(g), "%s", "");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired, 0);
  CHECK_EQUAL(stats.kinds[GOTRACE_V1_FUTILE_WAKEUP], 1);
}

/* The number of system calls that have lost their proc. */
static uint64_t calls_that_block(void) {
  gotrace_stats stats;
  gotrace_get_stats(&stats);
  return stats.kinds[GOTRACE_V1_GO_SYS_BLOCK];
}

static void all_events(void) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("entry");
  static const char *const stw_names[] = {"unknown",
                                          "GC mark termination",
                                          "GC sweep termination",
                                          "write heap dump",
                                          "goroutine profile",
                                          "goroutine profile cleanup",
                                          "all goroutines stack trace",
                                          "read mem stats",
                                          "AllThreadsSyscall",
                                          "GOMAXPROCS",
                                          "start trace",
                                          "stop trace",
                                          "CountPagesInUse (test)",
                                          "ReadMetricsSlow (test)",
                                          "ReadMemStatsSlow (test)",
                                          "PageCachePagesLeaked (test)",
                                          "ResetDebugLog (test)"};
  gotrace_options options;
  gotrace_stats stats;
  gotrace_proc *p1 = gotrace_proc_create(), *p2 = gotrace_proc_create();
  int id1 = gotrace_proc_id(p1), id2 = gotrace_proc_id(p2);
  /* Goroutines older than the trace: one waits, one waits for ever, one is in a system call, one is runnable. */
  gotrace_go *waits = gotrace_go_create_blocked(&entry), *silent = gotrace_go_create_blocked(&entry);
  gotrace_go *calls = gotrace_go_create_syscall(&entry), *ready, *g, *h;
  uint64_t thread = gotrace__self->system_id;
  unsigned seq;
  uint64_t gid, hid;
  int i;
  gotrace_proc_start(p1);
  gotrace_go_syscall_end_blocked();
  gotrace_proc_stop();
  ready = calls; /* runnable since its system call ended */
  calls = gotrace_go_create_syscall(&entry);
  memset(&options, 0, sizeof options);
  options.format = format;
  CHECK_EQUAL(gotrace_start_file(test_trace_path("events", format), &options), GOTRACE_OK);

  expect("Gomaxprocs", -1, 0, " procs=2");
  expect("Gomaxprocs", -1, 0, " procs=2");
  /* Goroutines older than the trace are created where they are first mentioned, here by the thread that runs one. */
  expect("GoCreate", -1, 0, " g=%llu stack=#", U(gotrace_go_id(calls)));
  expect("GoInSyscall", -1, gotrace_go_id(calls), " g=%llu", U(gotrace_go_id(calls)));

  gotrace_proc_start(p1);
  expect("ProcStart", id1, 0, " thread=%llu", U(thread));
  gotrace_go_syscall_end_blocked(); /* `calls`, in a system call since before the trace */
  expect("GoSysExit", SYSCALL_P, gotrace_go_id(calls), " g=%llu seq=2 ts=#", U(gotrace_go_id(calls)));
  gotrace_go_start(calls);
  expect("GoStart", id1, gotrace_go_id(calls), " g=%llu seq=0", U(gotrace_go_id(calls)));
  gotrace_go_end();
  expect("GoEnd", id1, gotrace_go_id(calls), "%s", "");

  gotrace_procs_change(300);
  expect("Gomaxprocs", id1, 0, " procs=300");
  gotrace_heap_alloc(UINT64_MAX - 1);
  expect("HeapAlloc", id1, 0, " mem=%llu", U(UINT64_MAX - 1));
  gotrace_heap_goal(127);
  expect("HeapGoal", id1, 0, " mem=127");
  gotrace_heap_goal(UINT64_MAX);
  expect("HeapGoal", id1, 0, " mem=0");

  /* A goroutine in all its states. */
  g = gotrace_go_create(&entry);
  gid = gotrace_go_id(g);
  expect("GoCreate", id1, 0, " g=%llu stack=#", U(gid));
  gotrace_go_start(g);
  expect("GoStart", id1, gid, " g=%llu seq=0", U(gid)); /* local: created on this proc */
  seq = 2;
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  expect("GoSched", id1, gid, "%s", "");
  gotrace_proc_stop();
  expect("ProcStop", id1, 0, "%s", "");
  gotrace_proc_start(p2);
  expect("ProcStart", id2, 0, " thread=%llu", U(thread));
  gotrace_go_start(g); /* on another proc: not local, with its number */
  expect("GoStart", id2, gid, " g=%llu seq=%u", U(gid), seq);
  seq++;
  gotrace_go_stop(GOTRACE_STOP_PREEMPTED);
  expect("GoPreempt", id2, gid, "%s", "");
  gotrace_go_start(g);
  expect("GoStart", id2, gid, " g=%llu seq=0", U(gid));
  seq++;
  block_kinds(g, id2, &seq);

  /* An unblock from another proc, and from none. */
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  expect("GoBlockSync", id2, gid, "%s", "");
  gotrace_proc_stop();
  expect("ProcStop", id2, 0, "%s", "");
  gotrace_go_unblock(g);
  expect("GoUnblock", -1, 0, " g=%llu seq=%u", U(gid), seq);
  seq++;
  gotrace_go_unblock(waits); /* created on the global proc: local */
  expect("GoCreate", -1, 0, " g=%llu stack=#", U(gotrace_go_id(waits)));
  expect("GoWaiting", -1, gotrace_go_id(waits), " g=%llu", U(gotrace_go_id(waits)));
  expect("GoUnblock", -1, 0, " g=%llu seq=0", U(gotrace_go_id(waits)));
  gotrace_proc_start(p1);
  expect("ProcStart", id1, 0, " thread=%llu", U(thread));
  gotrace_go_start(ready);
  expect("GoCreate", id1, 0, " g=%llu stack=#", U(gotrace_go_id(ready)));
  expect("GoStart", id1, gotrace_go_id(ready), " g=%llu seq=0", U(gotrace_go_id(ready)));
  gotrace_go_end();
  expect("GoEnd", id1, gotrace_go_id(ready), "%s", "");
  gotrace_go_start(waits);
  expect("GoStart", id1, gotrace_go_id(waits), " g=%llu seq=3", U(gotrace_go_id(waits)));
  gotrace_go_end();
  expect("GoEnd", id1, gotrace_go_id(waits), "%s", "");
  gotrace_go_start(g);
  expect("GoStart", id1, gid, " g=%llu seq=%u", U(gid), seq);
  seq++;

  if (!SINCE(GOTRACE_GO_1_11)) seq += futile_wakeup(g, id1);

  /* A label, from the next start on. */
  gotrace_go_label("labelled");
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  expect("GoSched", id1, gid, "%s", "");
  gotrace_go_start(g);
  /* The string table chooses the id of the label. */
  expect("GoStartLabel", id1, gid, " g=%llu seq=%u labelid=# label=labelled", U(gid), seq);
  seq++;
  gotrace_go_label(NULL);

  /* A rename: a label in this trace. */
  gotrace_go_rename(g, "renamed");
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  expect("GoSched", id1, gid, "%s", "");
  gotrace_go_start(g);
  expect("GoStartLabel", id1, gid, " g=%llu seq=%u labelid=# label=renamed", U(gid), seq);
  seq++;
  gotrace_go_rename(g, NULL);

  /* System calls: a short one, one that blocks. */
  {
    uint64_t blocks = calls_that_block();
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
    expect("GoSysCall", id1, gid, "%s", "");
    if (calls_that_block() != blocks) { /* on a slow machine the call counts as long */
      expect("GoSysBlock", id1, gid, "%s", "");
      expect("ProcStop", id1, 0, "%s", "");
      expect("ProcStart", id1, 0, " thread=%llu", U(thread));
      expect("GoSysExit", SYSCALL_P, gid, " g=%llu seq=%u ts=#", U(gid), seq);
      expect("GoStart", id1, gid, " g=%llu seq=0", U(gid));
      seq += 2;
    }
  }
  gotrace_go_syscall_begin();
  expect("GoSysCall", id1, gid, "%s", "");
  gotrace_proc_stop();
  expect("GoSysBlock", id1, gid, "%s", "");
  expect("ProcStop", id1, 0, "%s", "");
  gotrace_proc_start(p2);
  expect("ProcStart", id2, 0, " thread=%llu", U(thread));
  gotrace_go_syscall_end_blocked();
  expect("GoSysExit", SYSCALL_P, gid, " g=%llu seq=%u ts=#", U(gid), seq);
  seq++;
  gotrace_go_start(g);
  expect("GoStart", id2, gid, " g=%llu seq=0", U(gid));
  seq++;

  /* A switch: unblock, block, start. */
  h = gotrace_go_create_blocked(NULL);
  hid = gotrace_go_id(h);
  expect("GoCreate", id2, gid, " g=%llu stack=#", U(hid));
  expect("GoWaiting", id2, hid, " g=%llu", U(hid));
  gotrace_go_switch(h);
  expect("GoUnblock", id2, gid, " g=%llu seq=0", U(hid));
  expect("GoBlock", id2, gid, "%s", "");
  expect("GoStart", id2, hid, " g=%llu seq=0", U(hid));
  gotrace_go_timer(h);
  gotrace_go_unblock(g); /* h is a timer goroutine */
  expect("GoUnblock", TIMER_P, hid, " g=%llu seq=0", U(gid));
  gotrace_go_stop(GOTRACE_STOP_GENERIC);
  expect("GoPreempt", id2, hid, "%s", "");
  gotrace_go_start(g);
  expect("GoStart", id2, gid, " g=%llu seq=0", U(gid));

  /* The same with a reason. */
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  expect("GoBlockSync", id2, gid, "%s", "");
  gotrace_go_start(h);
  expect("GoStart", id2, hid, " g=%llu seq=0", U(hid));
  gotrace_go_switch_for(g, GOTRACE_REASON("a name of its own") + GOTRACE_BLOCK_COND_WAIT);
  expect("GoUnblock", TIMER_P, hid, " g=%llu seq=0", U(gid));
  expect("GoBlockCond", id2, hid, "%s", "");
  expect("GoStart", id2, gid, " g=%llu seq=0", U(gid));
  gotrace_go_unblock(h);
  expect("GoUnblock", id2, gid, " g=%llu seq=0", U(hid));
  gotrace_go_stop(GOTRACE_REASON("a name of its own") + GOTRACE_STOP_YIELD);
  expect("GoSched", id2, gid, "%s", "");
  gotrace_go_start(g);
  expect("GoStart", id2, gid, " g=%llu seq=0", U(gid));

  /* Goroutines that end while they do not run: one waits, one was never started. g makes room. */
  for (i = 0; i < 2; i++) {
    gotrace_go *gone = i ? gotrace_go_create(&entry) : gotrace_go_create_blocked(&entry);
    uint64_t gone_id = gotrace_go_id(gone);
    expect("GoCreate", id2, gid, " g=%llu stack=#", U(gone_id));
    if (!i) expect("GoWaiting", id2, gone_id, " g=%llu", U(gone_id));
    gotrace_go_destroy(gone);
    if (!i) expect("GoUnblock", id2, gid, " g=%llu seq=0", U(gone_id));
    expect("GoPreempt", id2, gid, "%s", "");
    expect("GoStart", id2, gone_id, " g=%llu seq=0", U(gone_id));
    expect("GoEnd", id2, gone_id, "%s", "");
    expect("GoStart", id2, gid, " g=%llu seq=0", U(gid));
  }

  /* A wait on an address, ended by a waker that reports it, and without a waker. */
  for (i = 0; i < 2; i++) {
    gotrace_wait_on(&format, GOTRACE_BLOCK_COND_WAIT);
    expect("GoBlockCond", id2, gid, "%s", "");
    if (i) CHECK_EQUAL(gotrace_wake(&format, 1), 1);
    else gotrace_wait_end();
    expect("GoUnblock", id2, 0, " g=%llu seq=0", U(gid));
    if (i) gotrace_wait_end();
    expect("GoStart", id2, gid, " g=%llu seq=0", U(gid));
  }

  /* The garbage collector. */
  gotrace_gc_begin();
  expect("GCStart", GC_P, 0, " seq=0");
  gotrace_gc_end();
  expect("GCDone", id2, 0, "%s", "");
  gotrace_gc_begin();
  expect("GCStart", GC_P, 0, " seq=1");
  gotrace_gc_end();
  expect("GCDone", id2, 0, "%s", "");
  if (!SINCE(GOTRACE_GO_1_10)) {
    gotrace_gc_scan_begin(); /* readers of later releases take it for a mark termination */
    expect("STWStart", id2, 0, " kindid=0 kind=mark termination");
    gotrace_gc_scan_end();
    expect("STWDone", id2, 0, "%s", "");
  } else if (!SINCE(GOTRACE_GO_1_21)) {
    gotrace_stw_begin(GOTRACE_STW_GC_MARK_TERM);
    expect("STWStart", id2, 0, " kindid=0 kind=mark termination");
    gotrace_stw_end();
    expect("STWDone", id2, 0, "%s", "");
    gotrace_stw_begin(GOTRACE_STW_GC_SWEEP_TERM);
    expect("STWStart", id2, 0, " kindid=1 kind=sweep termination");
    gotrace_stw_end();
    expect("STWDone", id2, 0, "%s", "");
  } else {
    for (i = 0; i < GOTRACE_STW_REASON_COUNT; i++) {
      gotrace_stw_begin((gotrace_stw_reason)i);
      expect("STWStart", id2, 0, " kindid=%d kind=%s", i, stw_names[i]);
      gotrace_stw_end();
      expect("STWDone", id2, 0, "%s", "");
    }
  }
  gotrace_gc_sweep_begin(); /* without a span: no event */
  gotrace_gc_sweep_end();
  gotrace_gc_sweep_begin();
  gotrace_gc_sweep_span(8192, 100);
  expect("GCSweepStart", id2, gid, "%s", "");
  gotrace_gc_sweep_span(1, 28);
  gotrace_gc_sweep_end();
  expect("GCSweepDone", id2, gid, " swept=%d reclaimed=%d", SINCE(GOTRACE_GO_1_10) ? 8193 : 0,
         SINCE(GOTRACE_GO_1_10) ? 128 : 0);
  if (SINCE(GOTRACE_GO_1_10)) {
    gotrace_gc_mark_assist_begin();
    expect("GCMarkAssistStart", id2, gid, "%s", "");
    gotrace_gc_mark_assist_end();
    expect("GCMarkAssistDone", id2, gid, "%s", "");
  }

  /* Annotations. */
  if (SINCE(GOTRACE_GO_1_11)) {
    gotrace_task outer = gotrace_task_begin("outer", GOTRACE_NO_TASK), inner;
    expect("UserTaskCreate", id2, gid, " taskid=%llu pid=0 typeid=# name=outer", U(outer.id));
    inner = gotrace_task_begin("inner", outer);
    expect("UserTaskCreate", id2, gid, " taskid=%llu pid=%llu typeid=# name=inner", U(inner.id), U(outer.id));
    gotrace_region_begin(inner, "work");
    expect("UserRegion", id2, gid, " taskid=%llu mode=0 typeid=# name=work", U(inner.id));
    gotrace_log(inner, "category", "message");
    expect("UserLog", id2, gid, " id=%llu keyid=# category=category message=message", U(inner.id));
    gotrace_log_at(gotrace_site_make("script_function", "script.lua", 77), inner, "category", "elsewhere");
    expect("UserLog", id2, gid, " id=%llu keyid=# category=category message=elsewhere", U(inner.id));
    gotrace_log(GOTRACE_NO_TASK, "", "");
    expect("UserLog", id2, gid, " id=0 keyid=0 category= message=");
    gotrace_region_end(inner, "work");
    expect("UserRegion", id2, gid, " taskid=%llu mode=1 typeid=# name=work", U(inner.id));
    gotrace_task_end(inner);
    expect("UserTaskEnd", id2, gid, " taskid=%llu", U(inner.id));
    gotrace_task_end(outer);
    expect("UserTaskEnd", id2, gid, " taskid=%llu", U(outer.id));
  }
  if (SINCE(GOTRACE_GO_1_19)) {
    gotrace_cpu_sample(NULL);
    expect("CPUSample", id2, gid, " ts=0 p=%d g=%llu", id2, U(gid));
  }
  gotrace_go_block(GOTRACE_BLOCK_FOREVER);
  expect("GoStop", id2, gid, "%s", "");
  gotrace_go_start(h);
  expect("GoStart", id2, hid, " g=%llu seq=0", U(hid));
  gotrace_go_end();
  expect("GoEnd", id2, hid, "%s", "");
  gotrace_proc_stop();
  expect("ProcStop", id2, 0, "%s", "");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  /* What has been silent comes at the end: */
  expect("GoCreate", -1, 0, " g=%llu stack=#", U(gotrace_go_id(silent)));
  expect("GoWaiting", -1, gotrace_go_id(silent), " g=%llu", U(gotrace_go_id(silent)));

  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped, 0);
  CHECK_EQUAL(stats.repaired, 0);
  test_write_kinds("events", format);
  /* Each kind of the format was written, except GoSysExitLocal, which no reader accepts, and FutileWakeup from 1.11 on,
   * see above. */
  for (i = 1; i < GOTRACE_V1_COUNT; i++)
    if (gotrace_find_event_spec(format, i) && i != GOTRACE_V1_GO_SYS_EXIT_LOCAL && !stats.kinds[i] &&
        !(i == GOTRACE_V1_FUTILE_WAKEUP && SINCE(GOTRACE_GO_1_11))) {
      fprintf(stderr, "format %d: no %s was written\n", (int)format, gotrace_find_event_spec(format, i)->name);
      exit(1);
    }
  CHECK_EQUAL(stats.kinds[GOTRACE_V1_GO_SYS_EXIT_LOCAL], 0);
  gotrace_proc_destroy(p1);
  gotrace_proc_destroy(p2);
}

/* In a separate process, with the expected output in a file next to the trace. */
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
    if (format >= GOTRACE_GO_1_22) break; /* see test_events_v2.c */
    in_child("events", all_events);
    if (SINCE(GOTRACE_GO_1_11)) {
      char path[512];
      FILE *file;
      in_child("futile", only_futile_wakeup);
      snprintf(path, sizeof path, "%s", test_trace_path("futile", format));
      if (strcmp(path, "/dev/null") == 0) continue;
      memcpy(strrchr(path, '.'), ".until", 7); /* the last release that must open it */
      CHECK((file = fopen(path, "w")) != NULL);
      fputs("1.22\n", file);
      CHECK(fclose(file) == 0);
    }
  }
  return 0;
}
