/* GOTRACE_DISABLE=1: every call exists and does nothing; the names of events, results and problems remain. */
#define GOTRACE_DISABLE 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test.h"

int main(void) {
  static const gotrace_location entry = GOTRACE_ENTRY(main), named = GOTRACE_NAMED_ENTRY("named");
  gotrace_stats stats;
  gotrace_options options;
  gotrace_task task;
  gotrace_go *go;
  gotrace_proc *proc;
  const void *data = NULL;
  size_t size = 0, count, i;
  int times = 0, evaluated = 0;
  memset(&options, 0, sizeof options);
  memset(&stats, 0xee, sizeof stats);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_ERROR_DISABLED);
  CHECK_EQUAL(gotrace_start_file("/nonexistent/x", NULL), GOTRACE_ERROR_DISABLED);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_DISABLED);
  CHECK_EQUAL(gotrace_end(), GOTRACE_ERROR_DISABLED);
  CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_ERROR_DISABLED);
  CHECK_EQUAL(gotrace_try_read(&data, &size), GOTRACE_ERROR_DISABLED);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_ERROR_DISABLED);
  CHECK(!gotrace_enabled() && !gotrace_is_enabled() && !gotrace_in_call(NULL));
  CHECK_EQUAL(gotrace_start_environment(), GOTRACE_ERROR_DISABLED);
  gotrace_get_stats(&stats);
  CHECK(stats.bytes == 0 && stats.events == 0 && stats.result == GOTRACE_OK && stats.memory_peak == 0);
  gotrace_get_stats(NULL);
  CHECK(!GOTRACE_HERE);
  gotrace_track_while_off(false);
  gotrace_thread_begin("name");
  CHECK(!gotrace_thread_create(&entry));
  gotrace_thread_begin_as(NULL);
  gotrace_thread_rename("name");
  gotrace_go_rename(NULL, "name");
  gotrace_thread_end();
  CHECK(!(proc = gotrace_proc_create()));
  gotrace_proc_destroy(proc);
  CHECK(gotrace_proc_id(proc) == GOTRACE_GLOBAL_PROC);
  gotrace_proc_start(proc);
  gotrace_proc_stop();
  gotrace_proc_steal(proc);
  gotrace_procs_change(4);
  CHECK(!(go = gotrace_go_create(&entry)));
  CHECK(!gotrace_go_create_blocked(&named));
  CHECK(!gotrace_go_create_syscall(NULL));
  gotrace_go_start(go);
  gotrace_go_end();
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  gotrace_go_unblock(go);
  gotrace_go_switch(go);
  gotrace_go_switch_for(go, GOTRACE_REASON("reason") + GOTRACE_BLOCK_NET);
  gotrace_go_switch_end(go);
  gotrace_go_destroy(go);
  gotrace_go_syscall_begin();
  gotrace_go_syscall_end();
  gotrace_go_syscall_end_blocked();
  gotrace_go_label("label");
  gotrace_go_label_n("label", 3);
  gotrace_go_rename_n(NULL, "name", 2);
  gotrace_thread_rename_n("name", 2);
  CHECK(!gotrace_go_create_named("name") && !gotrace_go_create_named_n("name", 2));
  CHECK(!gotrace_go_keyed(1, &entry) && !gotrace_go_keyed_blocked(1, NULL));
  gotrace_go_keyed_free(1);
  gotrace_task_end(gotrace_task_begin_n("task", 2, GOTRACE_NO_TASK));
  gotrace_region_begin_n(GOTRACE_NO_TASK, "region", 2);
  gotrace_region_end_n(GOTRACE_NO_TASK, "region", 2);
  gotrace_region_end_innermost();
  gotrace_log_n(GOTRACE_NO_TASK, "category", 2, "message", 2);
  gotrace_go_timer(go);
  gotrace_go_stack_bounds(go, NULL, NULL);
  CHECK(!gotrace_go_self());
  CHECK_EQUAL(gotrace_go_id(go), 0);
  gotrace_wait_begin(GOTRACE_BLOCK_NET);
  gotrace_wait_end();
  gotrace_wait_on(&go, GOTRACE_BLOCK_NET);
  CHECK_EQUAL(gotrace_wake(&go, GOTRACE_WAKE_ALL), 0);
  CHECK(!gotrace_site_make("function", "file", 1) && !gotrace_site_make_pc(1));
  gotrace_gc_begin();
  gotrace_gc_end();
  gotrace_gc_scan_begin();
  gotrace_gc_scan_end();
  gotrace_stw_begin(GOTRACE_STW_GC_MARK_TERM);
  gotrace_stw_end();
  gotrace_gc_sweep_begin();
  gotrace_gc_sweep_span(1, 2);
  gotrace_gc_sweep_end();
  gotrace_gc_mark_assist_begin();
  gotrace_gc_mark_assist_end();
  gotrace_heap_alloc(1);
  gotrace_heap_goal(2);
  task = gotrace_task_begin("task", GOTRACE_NO_TASK);
  CHECK_EQUAL(task.id, 0);
  gotrace_region_begin(task, "region");
  gotrace_region_end(task, "region");
  gotrace_log(task, "category", "message");
  gotrace_logf(task, "category", "%d %s", ++evaluated, "message");
  gotrace_log(task, "category", ++evaluated ? "message" : "none");
  gotrace_count("count", ++evaluated);
  gotrace_count_double("share", ++evaluated);
  gotrace_region_begin(task, ++evaluated ? "region" : "none");
  CHECK_EQUAL(evaluated, 0); /* as while tracing is off */
  gotrace_task_end(task);
  gotrace_cpu_sample(NULL);
  GOTRACE_REGION("once") {
    times++;
  }
  GOTRACE_TASK_REGION(task, "once") {
    times++;
  }
  for (i = 0; i < 2; i++)
    GOTRACE_REGION("left") {
      times++;
      if (i) break;
    }
  for (i = 0; i < 5; i++) {
    GOTRACE_SCOPE("scope");
    GOTRACE_TASK_SCOPE(task, "scope");
    if (i == 1) break; /* of the loop */
    times++;
  }
  CHECK_EQUAL(times, 5);
  CHECK(gotrace_event_specs(1, &count) && count > 50);
  CHECK(gotrace_find_event_spec(GOTRACE_GO_1_11, 13) &&
        strcmp(gotrace_find_event_spec(GOTRACE_GO_1_11, 13)->name, "GoCreate") == 0);
  CHECK(strcmp(gotrace_result_string(gotrace_start(NULL)), "tracing was compiled out") == 0);
  CHECK(strlen(gotrace_problem_string(GOTRACE_PROBLEM_NOT_RUNNING)) > 0);
  CHECK_EQUAL(gotrace_version(), GOTRACE_VERSION_NUMBER);
  return 0;
}
