/* Goroutines are blocked in a mark assist and silent since the last cut. One worker wakes them while another thread
 * makes the next cut.
 *
 * The defect: GCMarkAssistActive came after the unblock that introduced the goroutine. Only time orders the two, and
 * Go's reader truncates each event's time to whole nanoseconds, so its clock for one thread can fall behind its clock
 * for another by a nanosecond per event. Most traces were rejected in 1.22 to 1.26. The many regions make the worker's
 * clock fall behind.
 *
 * Required: the order of events without sequence numbers must not depend on the clocks of two threads. */
#include "case.h"

enum { GOROUTINES = 400, CUTS = 3, REGIONS = 3000 };
static gotrace_go *assisting[GOROUTINES];
static pthread_t thread;
static int quit, pass, begun, done; /* atomic: passes of the worker; cuts begun and done by the main thread */
static int passes;                  /* of all runs */

static void assist(gotrace_go *go) {
  gotrace_go_start(go);
  gotrace_gc_mark_assist_begin();
  gotrace_go_block(GOTRACE_BLOCK_GC_MARK_ASSIST);
}

static void *worker(void *unused) {
  gotrace_go *self;
  gotrace_proc *proc = gotrace_proc_create();
  int i, number;
  gotrace_proc_start(proc);
  for (i = 0; i < GOROUTINES; i++) assist(assisting[i] = gotrace_go_create(NULL));
  self = gotrace_go_create(NULL);
  while (!CASE_LOAD(quit)) {
    volatile int spins;
    gotrace_go_start(self);
    for (i = 0; i < REGIONS; i++) {
      gotrace_region_begin(GOTRACE_NO_TASK, "r");
      gotrace_region_end(GOTRACE_NO_TASK, "r");
    }
    gotrace_go_stop(GOTRACE_STOP_YIELD);
    number = __atomic_add_fetch(&pass, 1, __ATOMIC_RELEASE);
    CASE_AWAIT(CASE_LOAD(begun) >= number || CASE_LOAD(quit));
    for (spins = number % 10 * 500; spins > 0; spins--) continue; /* to meet the cut at different moments */
    for (i = 0; i < GOROUTINES / 2; i++) {
      gotrace_go *go = assisting[number & 1 ? i : GOROUTINES - 1 - i];
      gotrace_go_unblock(go);
      gotrace_go_start(go);
      gotrace_gc_mark_assist_end();
      gotrace_gc_mark_assist_begin();
      gotrace_go_block(GOTRACE_BLOCK_GC_MARK_ASSIST);
    }
    CASE_AWAIT(CASE_LOAD(done) >= number || CASE_LOAD(quit));
  }
  gotrace_go_start(self);
  gotrace_go_end();
  for (i = 0; i < GOROUTINES; i++) {
    gotrace_go_unblock(assisting[i]);
    gotrace_go_start(assisting[i]);
    gotrace_gc_mark_assist_end();
    gotrace_go_end();
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  return unused;
}

static void begin(void) {
  passes = quit = pass = begun = done = 0;
  case_thread(&thread, worker, NULL);
}

static void run(gotrace_format format, long number) {
  gotrace_options options = {0};
  int i;
  (void)number;
  options.cut_milliseconds = 10000;
  options.cut_bytes = 1u << 30;
  case_start(format, options);
  for (i = 0; i < CUTS; i++) {
    passes++;
    CASE_AWAIT(CASE_LOAD(pass) >= passes);
    CASE_STORE(begun, passes);
    gotrace_advance();
    CASE_STORE(done, passes);
  }
  case_stop();
}

static void end(void) {
  CASE_STORE(quit, 1);
  case_join(thread);
}

const case_definition case_this = {"assist", GOTRACE_GO_1_10, begin, run, end};
