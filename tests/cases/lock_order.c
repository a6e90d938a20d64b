/* A collector and a stopped world meet over a stale handle: gotrace_gc_begin on a thread whose proc runs no goroutine,
 * beside a gotrace_go_start, by a goroutine that has stopped the world, of a goroutine that has ended.
 *
 * What went wrong: a deadlock, in which stop hung with them. gc_begin held the collector's lock and took a goroutine's
 * record, which it used again for a goroutine of its own; start had taken the same record by the stale handle and
 * waited for the collector's lock, to end the stopped world first.
 *
 * What must hold: locks are taken in one order. Where the collector is held up is left to chance, so the case needs
 * many runs. */
#include "case.h"

static const gotrace_location entry = {0, "worker", "lock_order.c", 1};
static gotrace_go *stale; /* atomic */
static int quit;          /* atomic */

/* Starts the stale goroutine in a world that it has stopped, again and again. */
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
