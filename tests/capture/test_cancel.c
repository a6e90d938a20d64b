/* pthread_cancel inside the tracer leaves no lock held. A thread that waits in gotrace_read or for room ends at once;
 * others are cancelled after their call, also if it opens files or calls the program's unwinder or allocator.
 * Not in: address, whose runtime cannot handle the stack of a cancelled thread. */
#define _GNU_SOURCE
#include <stddef.h>
static void *cancellable_malloc(size_t size);
static void cancellable_free(void *memory);
#define GOTRACE_MALLOC(size) cancellable_malloc(size)
#define GOTRACE_FREE(pointer, size) cancellable_free(pointer)
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

static void *cancellable_malloc(size_t size) {
  pthread_testcancel();
  return malloc(size);
}
static void cancellable_free(void *memory) {
  pthread_testcancel();
  free(memory);
}

static uint32_t began; /* atomic */

static void wait_until_begun(void) {
  while (!__atomic_load_n(&began, __ATOMIC_ACQUIRE)) sched_yield();
  nanosleep(&(struct timespec){0, 2000000}, NULL);
}

static pthread_t run(void *(*thread)(void *), void *argument) {
  pthread_t started;
  __atomic_store_n(&began, 0u, __ATOMIC_RELEASE);
  CHECK(pthread_create(&started, NULL, thread, argument) == 0);
  wait_until_begun();
  return started;
}

static void cancel(pthread_t thread) {
  void *result;
  CHECK(pthread_cancel(thread) == 0);
  CHECK(pthread_join(thread, &result) == 0);
  CHECK(result == PTHREAD_CANCELED);
}

static void read_to_end(test_bytes *bytes) {
  const void *data;
  size_t size;
  while (gotrace_read(&data, &size) == GOTRACE_OK && size) test_append(bytes, data, size);
  test_decode(bytes->data, bytes->size, true, NULL, __FILE__, __LINE__);
  test_decode(bytes->data, bytes->size, false, NULL, __FILE__, __LINE__);
}

static void *reads(void *bytes) {
  const void *data;
  size_t size;
  __atomic_store_n(&began, 1u, __ATOMIC_RELEASE);
  while (gotrace_read(&data, &size) == GOTRACE_OK && size) test_append(bytes, data, size);
  return NULL;
}

/* A reader is cancelled, and another thread continues reading. */
static void test_reader(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  options.write = NULL;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "message");
  cancel(run(reads, &bytes));
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  read_to_end(&bytes);
  test_free(&bytes);
}

static void *emits(void *unused) {
  char text[200];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = 0;
  for (;;) {
    gotrace_log(GOTRACE_NO_TASK, "category", text);
    gotrace_wait_begin(GOTRACE_BLOCK_SYNC); /* leaves an event in every format */
    gotrace_wait_end();
    pthread_testcancel();
    __atomic_store_n(&began, 1u, __ATOMIC_RELEASE);
  }
  return unused;
}

/* A thread that waits for room is cancelled. */
static void test_emitter(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  pthread_t thread;
  options.write = NULL;
  options.memory_limit = 1 << 20;
  options.on_limit = GOTRACE_LIMIT_BLOCK;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  thread = run(emits, NULL);
  nanosleep(&(struct timespec){0, 20000000}, NULL);
  CHECK(pthread_cancel(thread) == 0);
  nanosleep(&(struct timespec){0, 2000000}, NULL);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK); /* the emitter may still report its end, and wait for space */
  read_to_end(&bytes);
  CHECK(pthread_join(thread, NULL) == 0);
  test_free(&bytes);
}

static void *stops(void *unused) {
  __atomic_store_n(&began, 1u, __ATOMIC_RELEASE);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  pthread_testcancel();
  return unused;
}

static bool slow_sink(void *bytes, const void *data, size_t size) {
  nanosleep(&(struct timespec){0, 10000000}, NULL);
  return test_sink(bytes, data, size);
}

/* A thread cancelled in gotrace_stop ends after the stop; the trace is complete, and another can begin. A concurrent
 * second stop waits. */
static void test_stopper(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_result second;
  pthread_t thread;
  options.write = slow_sink;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "message");
  thread = run(stops, NULL);
  CHECK(pthread_cancel(thread) == 0);
  second = gotrace_stop();
  CHECK(second == GOTRACE_OK || second == GOTRACE_ERROR_NOT_RUNNING);   /* the first may have returned before */
  test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__); /* complete when the second stop returns */
  options.write = test_sink;
  bytes.size = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK(pthread_join(thread, NULL) == 0);
  test_free(&bytes);
}

/* An unwinder that may be cancelled, of an address that is named. */
static uint32_t unwound;
static int unwind(void *unused, uintptr_t *pcs, int most) {
  (void)unused, (void)most;
  pcs[0] = (uintptr_t)unwind + 1;
  pthread_testcancel();
  unwound++;
  return 1;
}

/* Is cancelled after a log that calls the unwinder (`word` is not NULL), or after statistics, for which the record of
 * the log is transcribed and the symbols are read. */
static void *is_cancelled(void *word) {
  gotrace_stats stats;
  if (word) CHECK(pthread_cancel(pthread_self()) == 0);
  gotrace_log(GOTRACE_NO_TASK, "category", "message");
  if (!word) {
    CHECK(pthread_cancel(pthread_self()) == 0);
    gotrace_get_stats(&stats);
  }
  __atomic_store_n(&began, 2u, __ATOMIC_RELEASE);
  pthread_testcancel();
  return NULL;
}

static void test_calls(gotrace_format format, void *word) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  pthread_t thread;
  void *result;
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = unwind;
  options.context = &bytes;
  options.late = true; /* the service thread does not read the symbols first */
  began = unwound = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&thread, NULL, is_cancelled, word) == 0);
  CHECK(pthread_join(thread, &result) == 0);
  CHECK(result == PTHREAD_CANCELED && began == 2 && unwound > 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
  CHECK_EQUAL(test_count_logs(&bytes, "category"), 1);
  test_free(&bytes);
}

int main(void) {
  size_t i;
  for (i = 0; i < TEST_FORMATS; i++) {
    test_reader(test_formats[i]);
    test_emitter(test_formats[i]);
    test_stopper(test_formats[i]);
    if (test_formats[i] < GOTRACE_GO_1_11) continue; /* no logs */
    test_calls(test_formats[i], NULL);
    test_calls(test_formats[i], "log");
  }
  return 0;
}
