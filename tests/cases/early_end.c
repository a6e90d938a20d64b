/* Two wakers of one goroutine, such as a time-out and a signal, while a trace ends early by its size limit. One is held
 * up inside its gotrace_go_unblock. Meanwhile the trace ends and the other wakes the goroutine, which runs and blocks
 * again.
 *
 * The defect: the delayed waker continued as if the trace were still on, took the goroutine in its new state and
 * introduced it again: two GoCreate of one goroutine.
 *
 * Required: the early end is a consistent cut like any other (see timed.c). Chance decides where in the call the waker
 * is held up, so the case needs many runs. */
#include "case.h"

static const gotrace_location entry = {0, "worker", "early_end.c", 1};
static gotrace_go *go;
static gotrace_proc *proc;
static pthread_t waker;
static int quit, woken; /* atomic */

/* An unwinder that finds nothing; with one, all calls take the slow path. */
static int unwind(void *context, uintptr_t *pcs, int most) {
  (void)context, (void)pcs, (void)most;
  return 0;
}

static void *wake(void *unused) {
  while (!CASE_LOAD(quit)) gotrace_go_unblock(go);
  return unused;
}

static void run_and_block(void) {
  gotrace_go_start(go);
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
}

static void run(gotrace_format format, long number) {
  gotrace_options options = {0};
  gotrace_go *filler;
  int i;
  options.size_limit = 1;
  options.cut_milliseconds = 10000;
  if (number & 1) options.stacks = GOTRACE_STACKS_UNWIND, options.unwind = unwind;
  CASE_STORE(quit, 0);
  CASE_STORE(woken, 0);
  proc = gotrace_proc_create();
  gotrace_proc_start(proc);
  go = gotrace_go_create(&entry);
  case_start(format, options);
  case_thread(&waker, wake, NULL);
  for (i = 0; i < 20 + number % 50; i++) run_and_block();
  case_hold_up(waker, 5000, &woken);
  filler = gotrace_go_create(&entry);
  gotrace_go_start(filler);
  for (i = 0; i < 200000 && gotrace_enabled(); i++) gotrace_heap_alloc((uint64_t)i); /* until the limit */
  gotrace_go_end();
  gotrace_go_unblock(go);
  run_and_block();
  gotrace_go_unblock(go);
  run_and_block();
  CASE_STORE(woken, 1);
  CASE_STORE(quit, 1);
  case_join(waker);
  gotrace_go_start(go);
  gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  case_stop();
}

const case_definition case_this = {"early_end", 0, NULL, run, NULL};
