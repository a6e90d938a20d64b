/* Ten thousand threads with a hundred events each fit in 64 MiB, and no event is lost. */
#include "gotrace.h"
#include "../test_collect.h"

#include <pthread.h>

#define EVENTS 100

static uint32_t ready;                                   /* atomic */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* main holds it until the threads may end */

static void *emit(void *unused) {
  int i;
  for (i = 0; i < EVENTS / 2; i++)
    GOTRACE_REGION("work") continue;
  __atomic_add_fetch(&ready, 1u, __ATOMIC_RELEASE);
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  return unused;
}

static void one_trace(gotrace_format format, long most, bool v2) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  pthread_t *threads = malloc((size_t)most * sizeof *threads);
  uint64_t kinds[256] = {0};
  pthread_attr_t small;
  gotrace_stats stats;
  long i, count = 0;
  CHECK(threads != NULL);
  options.memory_limit = (size_t)64 << 20;
  options.cut_bytes = (size_t)64 << 20; /* at most half of the limit */
  CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 64 << 10) == 0);
  ready = 0;
  pthread_mutex_lock(&gate);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  while (count < most && pthread_create(&threads[count], &small, emit, NULL) == 0)
    count++;                                 /* the system may have a limit */
  CHECK(count >= (most < 100 ? most : 100)); /* fewer would test little */
  while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < count) nanosleep(&(struct timespec){0, 1000000}, NULL);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  pthread_mutex_unlock(&gate);
  for (i = 0; i < count; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  gotrace_get_stats(&stats);
  printf("format %d: %ld threads, %.1f MiB\n", (int)format, count, (double)stats.memory_peak / (1 << 20));
  CHECK(stats.memory_peak <= (size_t)64 << 20);
  test_decode(bytes.data, bytes.size, true, kinds, __FILE__, __LINE__);
  if (v2)
    CHECK_EQUAL(kinds[GOTRACE_V2_USER_REGION_BEGIN] + kinds[GOTRACE_V2_USER_REGION_END], (uint64_t)count * EVENTS);
  else CHECK_EQUAL(kinds[GOTRACE_V1_USER_REGION], (uint64_t)count * EVENTS);
  pthread_attr_destroy(&small);
  free(threads);
  test_free(&bytes);
}

int main(void) {
  one_trace(GOTRACE_GO_1_23, test_scaled(10000), true);
  one_trace(GOTRACE_GO_1_21, test_scaled(2000), false);
  return 0;
}
