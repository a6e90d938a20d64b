/* A collector and a stop-the-world meet over a stale handle: gotrace_gc_begin on a thread whose proc runs no goroutine,
 * next to a gotrace_go_start of a dead goroutine by a goroutine that has stopped the world.
 *
 * The defect: a deadlock, in which stop hung too. gc_begin held the collector's lock and took a goroutine's record,
 * which it reused for its own goroutine. start had taken the same record through the stale handle and waited for the
 * collector's lock, to end the stop-the-world first.
 *
 * Required: locks are taken in one order. Chance decides where the collector is held up, so the case needs many
 * runs. */
#include "case.h"

static const gotrace_location entry = {0, "worker", "lock_order.c", 1};
static gotrace_go *stale; /* atomic */
static int quit;          /* atomic */

/* Stops the world and starts the stale goroutine, repeatedly. */
static void *stopper(void *unused) {
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_proc_start(proc);
  while (!CASE_LOAD(quit)) {
    gotrace_go_start(gotrace_go_create(&entry));
    gotrace_stw_begin(GOTRACE_STW_GC_MARK_TERM);
    gotrace_go_start(CASE_LOAD(stale));
    gotrace_stw_end();
    gotrace_go_end();
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  return unused;
}

static void *collector(void *unused) {
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_proc_start(proc);
  while (!CASE_LOAD(quit)) {
    gotrace_go *go = gotrace_go_create(&entry);
    gotrace_go_start(go);
    gotrace_go_end();
    CASE_STORE(stale, go);
    gotrace_gc_begin();
    gotrace_gc_end();
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  return unused;
}

static void run(gotrace_format format, long number) {
  gotrace_options options = {0};
  pthread_t threads[2];
  int i;
  (void)number;
  CASE_STORE(quit, 0);
  CASE_STORE(stale, gotrace_go_create(&entry));
  case_start(format, options);
  case_thread(&threads[0], collector, NULL);
  case_thread(&threads[1], stopper, NULL);
  for (i = 0; i < 4; i++) case_hold_up(threads[i & 1], 100, NULL);
  CASE_STORE(quit, 1);
  case_join(threads[0]);
  case_join(threads[1]);
  case_stop();
}

const case_definition case_this = {"lock_order", 0, NULL, run, NULL};
