/* Concurrent readers: a program that polls while the service thread reads, a sink and a reader that emit events
 * themselves, a reader that cleans up late. */
#define _GNU_SOURCE 1
#include <pthread.h>

/* The tracer locks through this function: see late_clean_up. */
static int lock_hooked(pthread_mutex_t *mutex);
#define pthread_mutex_lock lock_hooked
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#undef pthread_mutex_lock
#include "../test_collect.h"

static uint32_t done, late; /* atomic */
static __thread bool is_late;

static void wait_for(const uint32_t *flag, uint32_t value) {
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value) sched_yield();
}

static uint64_t count_logs(const test_bytes *bytes) {
  uint64_t kinds[256] = {0};
  test_decode(bytes->data, bytes->size, false, kinds, __FILE__, __LINE__);
  return kinds[GOTRACE_V2_USER_LOG];
}

static void *poll_trace(void *unused) {
  const void *data;
  size_t size;
  (void)unused;
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
    CHECK_EQUAL(gotrace_try_read(&data, &size), GOTRACE_ERROR_READER_BUSY);
  return NULL;
}

/* If a service thread reads, other readers get an error, and it continues. */
static void polled(gotrace_format format) {
  gotrace_options options;
  test_bytes bytes = {NULL, 0, 0};
  pthread_t thread;
  long i, calls = test_scaled(500000);
  memset(&options, 0, sizeof options);
  options.format = format;
  options.write = test_sink;
  options.context = &bytes;
  options.cut_milliseconds = 1;
  done = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&thread, NULL, poll_trace, NULL) == 0);
  for (i = 0; i < calls; i++) gotrace_log(GOTRACE_NO_TASK, "category", "message");
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  CHECK(pthread_join(thread, NULL) == 0); /* before the stop: after the end of the trace, it would get another result */
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(count_logs(&bytes), calls);
  test_free(&bytes);
}

enum { OWN_CALLS = 1000 }; /* per piece of the trace; their events take far less than a piece */
static uint64_t of_sink;   /* logs */

static bool emitting_sink(void *context, const void *data, size_t size) {
  int i;
  for (i = 0; i < OWN_CALLS; i++) gotrace_log(GOTRACE_NO_TASK, "sink", "message");
  of_sink += OWN_CALLS;
  return test_sink(context, data, size);
}

/* A sink that emits does not wait for room, which only the sink itself can make. */
static void sink_emits(gotrace_format format) {
  gotrace_options options;
  test_bytes bytes = {NULL, 0, 0};
  long i, calls = test_scaled(500000);
  memset(&options, 0, sizeof options);
  options.format = format;
  options.memory_limit = (size_t)1 << 20;
  options.on_limit = GOTRACE_LIMIT_BLOCK;
  options.write = emitting_sink;
  options.context = &bytes;
  of_sink = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < calls; i++) gotrace_log(GOTRACE_NO_TASK, "category", "message");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK(of_sink > 0);
  CHECK(count_logs(&bytes) >= (uint64_t)calls &&
        count_logs(&bytes) <= (uint64_t)calls + of_sink); /* it also emits after the end */
  test_free(&bytes);
}

static void *emit(void *calls) {
  long i;
  for (i = 0; i < *(const long *)calls; i++) gotrace_log(GOTRACE_NO_TASK, "category", "message");
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  return NULL;
}

/* Neither does a reader that emits. */
static void reader_emits(gotrace_format format) {
  gotrace_options options;
  test_bytes bytes = {NULL, 0, 0};
  pthread_t thread;
  const void *data;
  size_t size;
  uint64_t own = 0;
  long i, calls = test_scaled(500000);
  memset(&options, 0, sizeof options);
  options.format = format;
  options.memory_limit = (size_t)1 << 20;
  options.on_limit = GOTRACE_LIMIT_BLOCK;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&thread, NULL, emit, &calls) == 0);
  for (;;) {
    CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_OK);
    if (!size) break;
    test_append(&bytes, data, size);
    for (i = 0; i < OWN_CALLS; i++) gotrace_log(GOTRACE_NO_TASK, "reader", "message");
    own += OWN_CALLS;
  }
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(count_logs(&bytes) > (uint64_t)calls && count_logs(&bytes) <= (uint64_t)calls + own);
  test_free(&bytes);
}

#define READ_TO_ITS_END gotrace__load_relaxed(&gotrace__t.done)

/* After the reader's last look at the session and before it cleans up, another thread stops the session and starts the
 * next one. */
static int lock_hooked(pthread_mutex_t *mutex) {
  if (is_late && mutex == &gotrace__t.life && READ_TO_ITS_END) {
    is_late = false;
    __atomic_store_n(&late, 1, __ATOMIC_RELEASE);
    wait_for(&late, 2);
  }
  return pthread_mutex_lock(mutex);
}

static void *read_late(void *bytes) {
  const void *data;
  size_t size;
  is_late = true;
  do {
    CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_OK);
    if (size) test_append(bytes, data, size);
  } while (size);
  CHECK(!is_late);
  return NULL;
}

static void late_clean_up(gotrace_format format) {
  gotrace_options options;
  test_bytes first = {NULL, 0, 0}, second = {NULL, 0, 0};
  pthread_t thread;
  int i;
  memset(&options, 0, sizeof options);
  options.format = format;
  late = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&thread, NULL, read_late, &first) == 0);
  gotrace_log(GOTRACE_NO_TASK, "category", "first");
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  wait_for(&late, 1);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  options.write = test_sink;
  options.context = &second;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "second");
  __atomic_store_n(&late, 2, __ATOMIC_RELEASE);
  CHECK(pthread_join(thread, NULL) == 0);
  for (i = 0; i < 1000; i++) gotrace_logf(GOTRACE_NO_TASK, "category", "%d", i);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(count_logs(&first), 1);
  CHECK_EQUAL(count_logs(&second), 1001);
  test_free(&first);
  test_free(&second);
}

int main(void) {
  static const gotrace_format formats[] = {GOTRACE_GO_1_11, GOTRACE_GO_1_23};
  size_t i;
  for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    polled(formats[i]);
    sink_emits(formats[i]);
    reader_emits(formats[i]);
    late_clean_up(formats[i]);
  }
  return 0;
}
