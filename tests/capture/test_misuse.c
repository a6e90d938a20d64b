/* The trace opens, whatever is called, in any order, on any handle, from any thread (promise R1). Several threads make
 * random calls, most of them invalid. The decoder and the independent readers check forty-five seeds here; Go's parsers
 * check the traces of some more. GOTRACE_TEST_SEED is the first seed. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

#define THREADS 4
#define GOS 48
#define PROCS 6

static gotrace_go *gos[GOS]; /* atomic; keeps handles long after their goroutines have ended */
static gotrace_proc *procs[PROCS];
static const gotrace_location entry = GOTRACE_NAMED_ENTRY("misused");
static const gotrace_location nowhere = {0, NULL, NULL, 0};
static long calls_per_thread;
static uint64_t seed_of_run;

static gotrace_go *any(uint64_t *state) { return __atomic_load_n(&gos[test_random(state) % GOS], __ATOMIC_RELAXED); }

static void keep(uint64_t *state, gotrace_go *g) {
  if (g) __atomic_store_n(&gos[test_random(state) % GOS], g, __ATOMIC_RELAXED);
}

static void one_call(uint64_t *state, gotrace_task *task) {
  static const char *const names[] = {"red", "green", "blue", "", NULL};
  const char *name = names[test_random(state) % 5];
  switch (test_random(state) % 69) {
  case 0: keep(state, gotrace_go_create(&entry)); break;
  case 1: keep(state, gotrace_go_create_blocked(NULL)); break;
  case 2: keep(state, gotrace_go_create_syscall(&nowhere)); break;
  case 3:
  case 4:
  case 5:
  case 6:
  case 7: gotrace_go_start(any(state)); break;
  case 8: gotrace_go_end(); break;
  case 9: gotrace_go_stop((gotrace_stop_reason)(test_random(state) % 3)); break;
  case 10:
  case 11:
  case 12: gotrace_go_block(test_random(state) % 19 | (test_random(state) % 4 ? 0 : GOTRACE_FUTILE_WAKEUP)); break;
  case 13:
  case 14:
  case 15:
  case 16: gotrace_go_unblock(any(state)); break;
  case 17: gotrace_go_switch(any(state)); break;
  case 18: gotrace_go_switch_end(any(state)); break;
  case 19:
  case 20: gotrace_go_syscall_begin(); break;
  case 21: gotrace_go_syscall_end(); break;
  case 22: gotrace_go_syscall_end_blocked(); break;
  case 23: gotrace_go_label(name); break;
  case 24: gotrace_go_timer(any(state)); break;
  case 25: keep(state, gotrace_go_self()); break;
  case 26: gotrace_wait_begin(test_random(state) % 15); break;
  case 27:
  case 28: gotrace_wait_end(); break;
  case 29:
  case 30: gotrace_proc_start(procs[test_random(state) % PROCS]); break;
  case 31: gotrace_proc_stop(); break;
  case 32:
  case 33: gotrace_proc_steal(procs[test_random(state) % PROCS]); break;
  case 34: gotrace_procs_change(test_random(state) % 9); break;
  case 35: gotrace_gc_begin(); break;
  case 36: gotrace_gc_end(); break;
  case 37: gotrace_gc_scan_begin(); break;
  case 38: gotrace_gc_scan_end(); break;
  case 39: gotrace_stw_begin(test_random(state) % 2 ? test_random(state) % 19 : gotrace_reason(name)); break;
  case 40: gotrace_stw_end(); break;
  case 41: gotrace_gc_sweep_begin(); break;
  case 42: gotrace_gc_sweep_span(test_random(state) % 3, test_random(state)); break;
  case 43: gotrace_gc_sweep_end(); break;
  case 44: gotrace_gc_mark_assist_begin(); break;
  case 45: gotrace_gc_mark_assist_end(); break;
  case 46: gotrace_heap_alloc(test_random(state)), gotrace_heap_goal(UINT64_MAX); break;
  case 47: *task = gotrace_task_begin(name, *task); break;
  case 48: gotrace_task_end(*task); break;
  case 49: gotrace_region_begin(*task, name); break;
  case 50: gotrace_region_end(*task, name); break;
  case 52: gotrace_go_end_in_syscall(); break;
  case 53:
    if (test_random(state) % 256 == 0) gotrace_advance();
    break;
  case 54: gotrace_span_alloc((void *)(uintptr_t)test_random(state), 8192, 1); break;
  case 55: gotrace_heap_object_free((void *)(uintptr_t)test_random(state)); break;
  case 56: gotrace_goroutine_stack((void *)(uintptr_t)test_random(state), 4096); break;
  case 57:
    if (test_random(state) % 4096 == 0) sched_yield();
    break;
  case 58: gotrace_go_destroy(any(state)); break;
  case 59: gotrace_go_block(gotrace_reason(name) + test_random(state) % 256); break;
  case 60: gotrace_go_stop(GOTRACE_REASON("stop") + test_random(state) % 9 % 5); break;
  case 61: gotrace_go_switch_for(any(state), test_random(state) >> test_random(state) % 32); break;
  case 62: keep(state, gotrace_thread_create(&entry)); break;
  case 63: gotrace_thread_begin_as(any(state)); break;
  case 64: gotrace_go_rename(any(state), name); break;
  case 65: gotrace_thread_rename(name); break;
  case 66: gotrace_wait_on(&gos[test_random(state) % 2], GOTRACE_BLOCK_COND_WAIT); break;
  case 67: gotrace_wake(&gos[test_random(state) % 2], test_random(state) % 3); break;
  case 68:
    gotrace_log_at(gotrace_site_make(name, names[test_random(state) % 5], test_random(state) % 9), *task, name, name);
    break;
  case 51:
    gotrace_log(*task, name, names[test_random(state) % 5]);
    if (test_random(state) % 64 == 0) gotrace_thread_end();
    if (test_random(state) % 64 == 0) gotrace_thread_begin(name);
    if (test_random(state) % 64 == 0) gotrace_proc_destroy(procs[test_random(state) % PROCS]);
    if (test_random(state) % 64 == 0) gotrace_go_start(NULL), gotrace_go_unblock(NULL), gotrace_proc_start(NULL);
    break;
  }
}

static void *misuse(void *argument) {
  uint64_t state = seed_of_run + (uint64_t)(size_t)argument;
  gotrace_task task = GOTRACE_NO_TASK;
  long i;
  for (i = 0; i < calls_per_thread; i++) one_call(&state, &task);
  return NULL;
}

static void run_threads(void) {
  pthread_t threads[THREADS];
  size_t i;
  for (i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, misuse, (void *)(i * 7919)) == 0);
  for (i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

static void short_session(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  options.cut_milliseconds = seed_of_run % 2 ? 1 : 1000000;
  options.alloc_events = seed_of_run % 3 == 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  seed_of_run += 1000003;
  run_threads();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  test_check_statistics(&bytes);
  test_free(&bytes);
}

int main(void) {
  size_t i, round, rounds = 4;
  long sessions;
  const char *seed = getenv("GOTRACE_TEST_SEED");
  seed_of_run = seed ? strtoull(seed, NULL, 10) : 1;
  for (i = 0; i < PROCS; i++) CHECK((procs[i] = gotrace_proc_create()) != NULL);
  calls_per_thread = 500;
  for (sessions = test_scaled(45); sessions > 0; sessions--)
    short_session(test_formats[(size_t)sessions % TEST_FORMATS]);
  calls_per_thread = test_scaled(500000 / THREADS / (long)TEST_FORMATS / (long)rounds) + 1;
  run_threads(); /* first while tracing is off, so that the traces begin in arbitrary states */
  for (round = 0; round < rounds; round++) {
    for (i = 0; i < TEST_FORMATS; i++) {
      gotrace_options options;
      gotrace_stats stats;
      char name[32];
      if (test_brief() && (i + round) % rounds != 0) continue;
      memset(&options, 0, sizeof options);
      options.format = test_formats[i];
      options.cut_milliseconds = round % 2 ? 1 : 0;
      options.alloc_events = round >= 2;
      snprintf(name, sizeof name, "misuse%zu", round);
      CHECK_EQUAL(gotrace_start_file(test_trace_path(name, test_formats[i]), &options), GOTRACE_OK);
      seed_of_run += 1000003;
      run_threads();
      CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
      gotrace_get_stats(&stats);
      CHECK(stats.events > 0);
      CHECK(stats.dropped > 0 && stats.repaired > 0);
      test_write_kinds(name, test_formats[i]);
    }
  }
  return 0;
}
