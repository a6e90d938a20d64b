/* Nested calls: from the program's allocator, unwinder, symbolizer and sink. None may wait for a lock or change
 * anything. They are dropped and counted, and the trace stays complete. */
#include <stddef.h>
static void *traced_malloc(size_t size);
static void traced_free(void *memory);
#define GOTRACE_MALLOC(size) traced_malloc(size)
#define GOTRACE_FREE(pointer, size) traced_free(pointer)
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

static uint64_t allocations, unwinds, symbols, sinks; /* atomic: how often each was called */

/* Makes every kind of call. Those with a result must return the reason why they do nothing. */
static void call_everything(bool from_sink) {
  const void *data;
  size_t size;
  static const gotrace_location entry = {0, "nested", "nested.c", 1};
  gotrace_go *go = gotrace_go_create(&entry);
  CHECK(go == NULL);
  gotrace_go_start(go);
  gotrace_log(GOTRACE_NO_TASK, "nested", "call");
  GOTRACE_REGION("nested") gotrace_heap_alloc(1);
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  gotrace_go_syscall_begin();
  gotrace_go_syscall_end();
  if (from_sink) {
    CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_READER_BUSY);
  } else {
    CHECK_EQUAL(gotrace_start(NULL), GOTRACE_ERROR_NESTED);
    CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NESTED);
    CHECK_EQUAL(gotrace_end(), GOTRACE_ERROR_NESTED);
    CHECK_EQUAL(gotrace_advance(), GOTRACE_ERROR_NESTED);
    CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_ERROR_NESTED);
    CHECK_EQUAL(gotrace_flight_snapshot_file("never"), GOTRACE_ERROR_NESTED);
    CHECK(gotrace_proc_create() == NULL);
  }
}

static __thread bool in_allocator;
static uint32_t allocator_calls; /* atomic; whether the allocator makes calls */

/* Like an allocator whose locks are traced. */
static void *traced_malloc(size_t size) {
  __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  if (__atomic_load_n(&allocator_calls, __ATOMIC_RELAXED) && !in_allocator) {
    in_allocator = true;
    GOTRACE_REGION("allocator") gotrace_log(GOTRACE_NO_TASK, "allocator", "locks");
    gotrace_task_end(gotrace_task_begin("allocator", GOTRACE_NO_TASK));
    gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
    gotrace_wait_end();
    in_allocator = false;
  }
  return malloc(size);
}
static void traced_free(void *memory) {
  if (__atomic_load_n(&allocator_calls, __ATOMIC_RELAXED)) gotrace_log(GOTRACE_NO_TASK, "allocator", "frees");
  free(memory);
}

static int unwind(void *context, uintptr_t *pcs, int max) {
  (void)context, (void)max;
  __atomic_add_fetch(&unwinds, 1, __ATOMIC_RELAXED);
  call_everything(false);
  pcs[0] = (uintptr_t)&unwinds;
  return 1;
}

static bool symbolize(void *context, gotrace_location *location) {
  (void)context;
  __atomic_add_fetch(&symbols, 1, __ATOMIC_RELAXED);
  gotrace_log(GOTRACE_NO_TASK, "symbolizer", "asks");
  location->function = "function";
  location->file = "file.c";
  location->line = 1;
  return true;
}

static bool sink(void *bytes, const void *data, size_t size) {
  __atomic_add_fetch(&sinks, 1, __ATOMIC_RELAXED);
  call_everything(true);
  return test_sink(bytes, data, size);
}

static void check_trace(test_bytes *bytes) {
  test_decode(bytes->data, bytes->size, true, NULL, __FILE__, __LINE__);
  test_decode(bytes->data, bytes->size, false, NULL, __FILE__, __LINE__);
  bytes->size = 0;
}

/* The program's own logs are in the trace, those of callbacks are not. (The allocator is also called outside of calls.)
 */
static void check_logs(const test_bytes *bytes, uint64_t own) {
  if (test_format_of(bytes) < GOTRACE_GO_1_11) return;
  CHECK_EQUAL(test_count_logs(bytes, "category"), own);
  CHECK_EQUAL(test_count_logs(bytes, "nested"), 0);
  CHECK_EQUAL(test_count_logs(bytes, "symbolizer"), 0);
}

static void test_callbacks(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_stats stats;
  uint64_t before = unwinds;
  int i;
  options.write = sink;
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = unwind;
  options.symbolize = symbolize;
  allocator_calls = 1;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 2000; i++) {
    char text[32];
    snprintf(text, sizeof text, "number %d", i);
    GOTRACE_REGION("work") gotrace_log(GOTRACE_NO_TASK, "category", text);
    gotrace_wait_begin(GOTRACE_BLOCK_SYNC); /* leaves an event in every format */
    gotrace_wait_end();
    if (i % 500 == 0) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  allocator_calls = 0;
  gotrace_get_stats(&stats);
  CHECK(unwinds > before && symbols && sinks && allocations);
  CHECK(stats.problems[GOTRACE_PROBLEM_NESTED] > unwinds - before);
  check_logs(&bytes, 2000);
  check_trace(&bytes);
  test_free(&bytes);
}

/* Reads in the same thread: symbolizer and allocator are called from within gotrace_read. */
static void test_reading(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  const void *data;
  size_t size;
  options.write = NULL;
  options.symbolize = symbolize;
  options.stacks = GOTRACE_STACKS_FRAME_POINTERS;
  allocator_calls = 1;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  GOTRACE_REGION("work") gotrace_log(GOTRACE_NO_TASK, "category", "message");
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  while (gotrace_read(&data, &size) == GOTRACE_OK && size) test_append(&bytes, data, size);
  allocator_calls = 0;
  check_logs(&bytes, 1);
  check_trace(&bytes);
  test_free(&bytes);
}

int main(void) {
  size_t i;
  allocator_calls = 1; /* the first task of a process allocates under a lock */
  gotrace_task_end(gotrace_task_begin("first", GOTRACE_NO_TASK));
  allocator_calls = 0;
  CHECK(allocations > 0);
  for (i = 0; i < TEST_FORMATS; i++) {
    test_callbacks(test_formats[i]);
    test_reading(test_formats[i]);
  }
  return 0;
}
