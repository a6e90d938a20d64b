/* CPU samples on threads that the tracer does not know, taken while traces of different formats start, cut and stop:
 * none appears in a trace other than its own. Under ThreadSanitizer the test shows that a sample does not race with a
 * start. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "test_collect.h"
#include "test_trace.h"

#include <pthread.h>

static uint32_t over; /* atomic */

static void *sample(void *unused) {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) gotrace_cpu_sample(NULL);
  return unused;
}

static void *emit(void *unused) {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) GOTRACE_REGION ("work") gotrace_log(GOTRACE_NO_TASK, "a", "b");
  return unused;
}

int main(void) {
  pthread_t threads[3];
  test_bytes bytes = {NULL, 0, 0};
  long i, rounds = test_scaled(100);
  uint64_t samples = 0;
  for (i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, i < 2 ? sample : emit, NULL) == 0);
  for (i = 0; i < rounds || !samples; i++) { /* on a busy machine the samplers may not have run yet */
    gotrace_format format = test_formats[(size_t)i % TEST_FORMATS];
    gotrace_options options = test_options(format, &bytes);
    uint64_t kinds[256] = {0};
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    nanosleep(&(struct timespec){0, 500000}, NULL);
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    test_decode(bytes.data, bytes.size, false, kinds, __FILE__, __LINE__);
    samples += kinds[format < GOTRACE_GO_1_22 ? GOTRACE_V1_CPU_SAMPLE : GOTRACE_V2_CPU_SAMPLE];
    if (format < GOTRACE_GO_1_19) CHECK_EQUAL(kinds[GOTRACE_V1_CPU_SAMPLE], 0);
  }
  __atomic_store_n(&over, 1u, __ATOMIC_RELAXED);
  for (i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  test_free(&bytes);
  return 0;
}
