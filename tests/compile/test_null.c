/* NULL for each pointer of each public function, with tracing off, on and in a goroutine: the result is an error or a
 * count, never a crash. tests/compile/include.sh checks that no function is missing here. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"

static void *no_memory(void *context, size_t size) {
  (void)context, (void)size;
  return NULL;
}
static void release(void *context, void *memory, size_t size) { (void)context, (void)memory, (void)size; }

static const char *no_format; /* hides NULL from the compiler, which would warn */
static void logv(gotrace_task task, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  gotrace_logv_at(NULL, task, NULL, format, arguments);
  va_end(arguments);
}

/* Makes the calls that take handles, texts or places. */
static void annotations(void) {
  gotrace_task task = gotrace_task_begin_at(NULL, NULL, 0, GOTRACE_NO_TASK);
  gotrace_task_end(gotrace_task_begin(NULL, task));
  gotrace_debug_here(NULL);
  gotrace_thread_begin(NULL);
  gotrace_procs_change_at(NULL, 3);
  CHECK_EQUAL(gotrace_go_id(NULL), 0);
  CHECK_EQUAL(gotrace_proc_id(NULL), GOTRACE_GLOBAL_PROC);
  (void)gotrace_proc_self();
  gotrace_proc_destroy(NULL);
  gotrace_proc_start(NULL);
  gotrace_proc_steal(NULL);
  gotrace_go_start(NULL);
  gotrace_go_continue(NULL);
  gotrace_nest_end(gotrace_nest_begin_at(NULL, NULL));
  gotrace_go_unblock_at(NULL, NULL);
  gotrace_go_switch_at(NULL, NULL);
  gotrace_go_switch_end_at(NULL, NULL);
  gotrace_go_timer(NULL);
  gotrace_go_destroy_at(NULL, NULL);
  gotrace_go_switch_for_at(NULL, NULL, GOTRACE_BLOCK_SYNC);
  gotrace_go_rename(NULL, NULL);
  gotrace_thread_begin_as(NULL);
  gotrace_thread_rename(NULL);
  CHECK(gotrace_reason(NULL) < GOTRACE_BLOCK_REASON_COUNT);
  (void)gotrace_site_make(NULL, NULL, 0);
  gotrace_go_stack_bounds(NULL, NULL, NULL);
  gotrace_go_label(NULL);
  gotrace_go_label_n(NULL, 3);
  gotrace_go_rename_n(NULL, NULL, 3);
  gotrace_thread_rename_n(NULL, 3);
  (void)gotrace_task_begin_n_at(NULL, NULL, 3, task);
  gotrace_region_begin_n_at(NULL, task, NULL, 3);
  gotrace_log_n_at(NULL, task, NULL, 3, NULL, 3);
  gotrace_region_end_n_at(NULL, task, NULL, 3);
  gotrace_region_begin_n_at(NULL, task, NULL, SIZE_MAX);
  gotrace_region_end_innermost_at(NULL);
  gotrace_region_end_innermost_at(NULL);
  (void)gotrace_go_create_named_at(NULL, NULL, 3);
  (void)gotrace_go_keyed_at(NULL, 1, NULL, 1);
  gotrace_go_keyed_free_at(NULL, 1);
  gotrace_region_begin_at(NULL, task, NULL, 0);
  gotrace_region_begin_at(NULL, task, NULL, 1);
  gotrace_log_at(NULL, task, NULL, NULL);
  gotrace_log_category_at(NULL, task, NULL, 1, NULL);
  gotrace_logf_at(NULL, task, NULL, no_format);
  logv(task, no_format);
  gotrace_count_at(NULL, NULL, 1);
  gotrace_count_double_at(NULL, NULL, 0.5);
  gotrace_region_end_at(NULL, task, NULL, 1);
  gotrace_region_end_at(NULL, task, NULL, 0);
  gotrace_task_end_at(NULL, task);
  gotrace_gc_begin_at(NULL);
  gotrace_stw_begin_at(NULL, GOTRACE_STW_GC_MARK_TERM);
  gotrace_stw_end();
  gotrace_gc_sweep_begin();
  gotrace_gc_sweep_span_at(NULL, 1, 1);
  gotrace_gc_sweep_end();
  gotrace_gc_mark_assist_begin_at(NULL);
  gotrace_gc_mark_assist_end();
  gotrace_gc_end();
  gotrace_span(NULL, 0, 0);
  gotrace_span_alloc(NULL, 0, 0);
  gotrace_span_free(NULL);
  gotrace_heap_object(NULL, NULL);
  gotrace_heap_object_alloc(NULL, NULL);
  gotrace_heap_object_free(NULL);
  gotrace_goroutine_stack(NULL, 0);
  gotrace_goroutine_stack_alloc(NULL, 0);
  gotrace_goroutine_stack_free(NULL);
  gotrace_cpu_sample(NULL);
  CHECK(!gotrace_in_call(NULL));
  gotrace_wait_begin_at(NULL, GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  gotrace_wait_on_at(NULL, NULL, GOTRACE_BLOCK_SYNC);
  CHECK_EQUAL(gotrace_wake_at(NULL, NULL, 1), 0);
  gotrace_wait_end();
  gotrace_go_syscall_begin_at(NULL);
  gotrace_go_syscall_end();
  gotrace_go_stop_at(NULL, GOTRACE_STOP_YIELD);
  gotrace_thread_end();
  gotrace_thread_end();
  gotrace_go_destroy_at(NULL, gotrace_thread_create_at(NULL, NULL));
  {
    gotrace_proc *proc = gotrace_proc_create();
    gotrace_go *go = gotrace_go_create_at(NULL, NULL), *blocked = gotrace_go_create_blocked_at(NULL, NULL);
    gotrace_proc_start(proc);
    gotrace_go_start(go);
    gotrace_go_block_at(NULL, GOTRACE_BLOCK_SYNC);
    gotrace_go_unblock_at(NULL, go);
    gotrace_go_start(go);
    gotrace_go_switch_end_at(NULL, blocked);
    gotrace_go_end();
    gotrace_go_create_syscall_at(NULL, NULL);
    gotrace_go_end_in_syscall();
    gotrace_proc_stop();
    gotrace_proc_destroy(proc);
  }
}

static void traced(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  gotrace_stats stats;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.alloc_events = true;
  options.write = test_sink;
  options.context = &bytes;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  annotations();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_BAD_HANDLE], 0);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
}

/* A scheduler whose creations have given NULL, in parts or before the trace: no problem is counted, and the other
 * goroutines are traced. */
static void null_goroutines(gotrace_format format, bool late) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("worker");
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *go, *outer;
  gotrace_stats stats;
  if (!late) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_proc_start(proc);
  go = gotrace_go_create_blocked(&entry);
  gotrace_go_start(NULL);
  if (late) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_go_label("label");
  if (format >= GOTRACE_GO_1_10) {
    gotrace_gc_mark_assist_begin();
    gotrace_gc_mark_assist_end();
  }
  if (format >= GOTRACE_GO_1_11) {
    gotrace_task task = gotrace_task_begin("task", GOTRACE_NO_TASK);
    gotrace_log(task, "kind", "text");
    gotrace_task_end(task);
    gotrace_stw_begin(GOTRACE_STW_GC_MARK_TERM);
    gotrace_stw_end();
    gotrace_region_begin(GOTRACE_NO_TASK, "region");
    gotrace_region_end(GOTRACE_NO_TASK, "region");
  }
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  outer = gotrace_nest_begin(NULL);
  gotrace_go_end();
  gotrace_nest_end(outer);
  gotrace_wait_end();
  gotrace_go_switch(go);
  gotrace_go_switch(NULL);
  gotrace_go_unblock(go);
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  gotrace_go_start(NULL);
  gotrace_go_syscall_begin();
  gotrace_go_syscall_end();
  gotrace_go_switch_end(go);
  gotrace_go_switch_end(NULL);
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  gotrace_go_start(NULL);
  gotrace_go_continue(NULL);
  gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired + stats.left_out, 0);
  test_free(&bytes);
}

static void sessions(void) {
  const void *data;
  size_t size;
  CHECK_EQUAL(gotrace_start_file(NULL, NULL), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_flight_snapshot(NULL, NULL), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_flight_snapshot_file(NULL), GOTRACE_ERROR_ARGUMENT);
  gotrace_get_stats(NULL);
  CHECK_EQUAL(gotrace_start(NULL), GOTRACE_OK);
  CHECK_EQUAL(gotrace_read(NULL, &size), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_read(&data, NULL), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_try_read(NULL, &size), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_try_read(&data, NULL), GOTRACE_ERROR_ARGUMENT);
  gotrace_get_stats(NULL);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  while (gotrace_read(&data, &size) == GOTRACE_OK && size) continue;
  CHECK_EQUAL(gotrace_flight_start(NULL), GOTRACE_OK);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
}

static void names(void) {
  size_t count;
  CHECK(gotrace_event_specs(1, NULL) != NULL && gotrace_event_specs(2, NULL) != NULL);
  CHECK(gotrace_event_specs(3, NULL) == NULL && gotrace_event_specs(3, &count) == NULL && count == 0);
}

/* A NULL decoder, as after a failed allocation; then a real one. */
static void decoder(void) {
  static const char header[16] = "go 1.23 trace\0\0";
  gotrace_decoder_options options;
  gotrace_decoder *part, *d = NULL;
  gotrace_decoder_info info;
  gotrace_event event;
  const gotrace_event *batch;
  gotrace_frame frame;
  gotrace_change change;
  gotrace_state state;
  const char *data;
  size_t size;
  memset(&options, 0, sizeof options);
  options.data = header;
  options.size = sizeof header;
  CHECK_EQUAL(gotrace_decoder_open(NULL, &options), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_decoder_open(&d, NULL), GOTRACE_ERROR_ARGUMENT);
  options.allocate = no_memory;
  options.release = release;
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_ERROR_OUT_OF_MEMORY);
  CHECK(d == NULL);
  CHECK_EQUAL(gotrace_decoder_error(d)->result, GOTRACE_ERROR_ARGUMENT);
  CHECK(strlen(gotrace_decoder_error(d)->message) > 0);
  CHECK_EQUAL(gotrace_decoder_next(d, &event), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_decoder_next(d, NULL), GOTRACE_ERROR_ARGUMENT);
  size = 1;
  CHECK_EQUAL(gotrace_decoder_next_batch(d, &batch, &size), GOTRACE_ERROR_ARGUMENT);
  CHECK(!gotrace_decoder_string(d, 1, &data, &size) && size == 0);
  CHECK(!gotrace_decoder_string(d, 0, NULL, NULL));
  CHECK_EQUAL(gotrace_decoder_stack(d, 1, &frame, 1), 0);
  CHECK(!gotrace_decoder_change(d, &event, &change));
  CHECK(!gotrace_decoder_state(d, GOTRACE_OBJECT_GO, 1, &state) && state.g == GOTRACE_NO_ID && !state.label_size);
  size = 1;
  CHECK(!gotrace_decoder_function(d, 0, &data, &size) && size == 0);
  CHECK(!gotrace_decoder_entry(d, 0, &frame) && frame.function_size == 0);
  CHECK_EQUAL(gotrace_decoder_number(d, GOTRACE_OBJECT_GO, 1), GOTRACE_NO_ID);
  memset(&info, 0xee, sizeof info);
  gotrace_decoder_get_info(d, &info);
  CHECK(info.format == 0 && info.events == 0 && info.memory == 0);
  gotrace_decoder_get_info(d, NULL);
  CHECK_EQUAL(gotrace_decoder_open_part(d, NULL), GOTRACE_ERROR_ARGUMENT);
  part = (gotrace_decoder *)&info;
  CHECK_EQUAL(gotrace_decoder_open_part(d, &part), GOTRACE_ERROR_ARGUMENT);
  CHECK(part == NULL && !gotrace_decoder_join(d, part) && !gotrace_decoder_between(d));
  CHECK_EQUAL(gotrace_decoder_snapshot(d, NULL, 0), 0);
  CHECK_EQUAL(gotrace_decoder_resume(d, &info, 1), GOTRACE_ERROR_ARGUMENT);
  gotrace_decoder_close(d);

  options.allocate = NULL;
  options.release = NULL;
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  CHECK_EQUAL(gotrace_decoder_next(d, NULL), GOTRACE_ERROR_ARGUMENT);
  size = 1;
  CHECK_EQUAL(gotrace_decoder_next_batch(d, NULL, &size), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_decoder_next_batch(d, &batch, NULL), GOTRACE_ERROR_ARGUMENT);
  size = 0;
  CHECK_EQUAL(gotrace_decoder_next_batch(d, &batch, &size), GOTRACE_ERROR_ARGUMENT);
  CHECK(!gotrace_decoder_string(d, 1, NULL, &size));
  CHECK(!gotrace_decoder_string(d, 1, &data, NULL));
  CHECK_EQUAL(gotrace_decoder_stack(d, 1, NULL, 1), 0);
  CHECK(!gotrace_decoder_change(d, NULL, &change));
  CHECK(!gotrace_decoder_change(d, &event, NULL));
  CHECK(!gotrace_decoder_state(d, GOTRACE_OBJECT_GO, 1, NULL));
  CHECK(!gotrace_decoder_state(d, GOTRACE_OBJECT_NONE, 1, &state) && !gotrace_decoder_state(d, 99, 1, &state));
  CHECK(!gotrace_decoder_state(d, GOTRACE_OBJECT_THREAD, 1, &state));
  CHECK(!gotrace_decoder_function(d, 0, NULL, &size));
  CHECK(!gotrace_decoder_function(d, -1, &data, NULL));
  CHECK(!gotrace_decoder_entry(d, -1, &frame));
  CHECK(!gotrace_decoder_entry(d, 0, NULL));
  CHECK_EQUAL(gotrace_decoder_number(d, GOTRACE_OBJECT_NONE, 1), GOTRACE_NO_ID);
  gotrace_decoder_get_info(d, NULL);
  CHECK_EQUAL(gotrace_decoder_open_part(d, NULL), GOTRACE_ERROR_ARGUMENT);
  CHECK(!gotrace_decoder_join(d, NULL) && !gotrace_decoder_join(NULL, d) && !gotrace_decoder_join(d, d));
  CHECK(gotrace_decoder_snapshot(d, NULL, SIZE_MAX) > 0);
  CHECK_EQUAL(gotrace_decoder_resume(d, NULL, 1), GOTRACE_ERROR_ARGUMENT);
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK) continue;
  gotrace_decoder_close(d);
}

int main(void) {
  static const gotrace_format formats[] = {GOTRACE_GO_1_8,  GOTRACE_GO_1_11, GOTRACE_GO_1_21,
                                           GOTRACE_GO_1_22, GOTRACE_GO_1_23, GOTRACE_GO_1_26};
  size_t i;
  names();
  decoder();
  annotations(); /* while tracing is off */
  for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    traced(formats[i]);
    null_goroutines(formats[i], false);
    null_goroutines(formats[i], true);
  }
  sessions();
  return 0;
}
