/* CPU samples: of a goroutine, and on threads that the tracer does not know, taken while traces of different formats
 * start, cut and stop: none appears in a trace other than its own. Under ThreadSanitizer the test shows that a sample
 * does not race with a start. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

static uint32_t over; /* atomic */

static void *sample(void *unused) {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) gotrace_cpu_sample(NULL);
  return unused;
}

static void *emit(void *unused) {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
    GOTRACE_REGION("work") gotrace_log(GOTRACE_NO_TASK, "a", "b");
  return unused;
}

/* The samples in a trace, none of which may be older than the trace: no batch begins before it. */
static uint64_t count_samples(const test_bytes *bytes) {
  gotrace_decoder *decoder;
  gotrace_event event;
  gotrace_result result;
  uint64_t begin = UINT64_MAX, earliest = UINT64_MAX, count = 0;
  CHECK_EQUAL(test_open_decoder(&decoder, bytes->data, bytes->size, true), GOTRACE_OK);
  while ((result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK) {
    bool batch = strcmp(event.spec->name, "Batch") == 0 || strcmp(event.spec->name, "EventBatch") == 0;
    if (batch && (uint64_t)event.time < begin) begin = (uint64_t)event.time;
    if (strcmp(event.spec->name, "CPUSample") != 0) continue;
    if (event.args[0] < earliest) earliest = event.args[0];
    count++;
  }
  CHECK_EQUAL(result, GOTRACE_END_OF_TRACE);
  gotrace_decoder_close(decoder);
  CHECK(earliest >= begin);
  return count;
}

/* A sample has the goroutine that the thread runs. */
static void of_goroutine(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_decoder *decoder;
  gotrace_event event;
  uint64_t go, samples = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  GOTRACE_REGION("sampled") {
    go = gotrace_go_id(gotrace_go_self());
    gotrace_cpu_sample(NULL);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(test_open_decoder(&decoder, bytes.data, bytes.size, true), GOTRACE_OK);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) {
    if (strcmp(event.spec->name, "CPUSample") != 0) continue;
    CHECK_EQUAL(event.args[format < GOTRACE_GO_1_22 ? 2 : 3], go);
    samples++;
  }
  CHECK_EQUAL(samples, format >= GOTRACE_GO_1_19);
  gotrace_decoder_close(decoder);
  test_free(&bytes);
}

int main(void) {
  pthread_t threads[3];
  test_bytes bytes = {NULL, 0, 0};
  long i, rounds = test_scaled(100);
  uint64_t samples = 0;
  for (i = 0; i < (long)TEST_FORMATS; i++) of_goroutine(test_formats[i]);
  for (i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, i < 2 ? sample : emit, NULL) == 0);
  for (i = 0; i < rounds || !samples; i++) { /* on a busy machine the samplers may not have run yet */
    gotrace_options options = test_options(test_formats[(size_t)i % TEST_FORMATS], &bytes);
    options.memory_limit = (size_t)16 << 20; /* on a busy machine the threads write more meanwhile than can be read */
    options.on_limit = GOTRACE_LIMIT_BLOCK;
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    nanosleep(&(struct timespec){0, 500000}, NULL);
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
    samples += count_samples(&bytes);
  }
  __atomic_store_n(&over, 1u, __ATOMIC_RELAXED);
  for (i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  test_free(&bytes);
  return 0;
}
