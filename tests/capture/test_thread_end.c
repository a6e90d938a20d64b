/* Destructors of thread-specific data that trace, as an allocator's or a runtime's may. What they do in the last round,
 * after the tracer's own destructor, is dropped and counted; before that, it is in the trace. All threads end in it.
 * Not in: thread windows. ThreadSanitizer has ended the thread in the last round; Windows has no rounds. */
#include "gotrace.h"
#include "../test_collect.h"

#include <limits.h>
#include <pthread.h>

#ifndef PTHREAD_DESTRUCTOR_ITERATIONS
#define PTHREAD_DESTRUCTOR_ITERATIONS 4
#endif
enum { THREADS = 20, ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS };

static pthread_key_t before, after; /* the tracer's key is between them, so its destructor runs between theirs */

static void trace_again(pthread_key_t key, void *round) {
  gotrace_log(GOTRACE_NO_TASK, "round", "");
  if ((uintptr_t)round < ROUNDS) CHECK(pthread_setspecific(key, (void *)((uintptr_t)round + 1)) == 0);
}
static void end_before(void *round) { trace_again(before, round); }
static void end_after(void *round) { trace_again(after, round); }

static void *run(void *key) {
  if (key) CHECK(pthread_setspecific(*(pthread_key_t *)key, (void *)1) == 0);
  gotrace_log(GOTRACE_NO_TASK, "thread", "");
  return NULL;
}

static void trace_threads(gotrace_format format, pthread_key_t *key, unsigned traced_rounds, unsigned goroutines) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  bool v2 = format >= GOTRACE_GO_1_22;
  unsigned dropped = key ? ROUNDS - traced_rounds : 0;
  gotrace_stats stats;
  int i;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < THREADS; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run, key) == 0 && pthread_join(thread, NULL) == 0);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.kinds[v2 ? GOTRACE_V2_USER_LOG : GOTRACE_V1_USER_LOG], (1 + traced_rounds) * THREADS);
  CHECK_EQUAL(stats.kinds[v2 ? GOTRACE_V2_GO_DESTROY : GOTRACE_V1_GO_END], goroutines * THREADS);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_THREAD_OVER], dropped * THREADS);
  CHECK_EQUAL(stats.dropped + stats.repaired, dropped * THREADS);
  test_free(&bytes);
}

int main(void) {
  CHECK(pthread_key_create(&before, end_before) == 0);
  CHECK(gotrace_go_self() != NULL); /* the tracer makes its key */
  CHECK(pthread_key_create(&after, end_after) == 0);
  trace_threads(GOTRACE_GO_1_21, NULL, 0, 1);
  trace_threads(GOTRACE_GO_1_23, NULL, 0, 1);
  /* A goroutine for the thread, and another one for each round in which the tracer has ended it before. */
  trace_threads(GOTRACE_GO_1_21, &before, ROUNDS - 1, ROUNDS - 1);
  trace_threads(GOTRACE_GO_1_23, &before, ROUNDS - 1, ROUNDS - 1);
  trace_threads(GOTRACE_GO_1_21, &after, ROUNDS - 2, ROUNDS - 1);
  trace_threads(GOTRACE_GO_1_23, &after, ROUNDS - 2, ROUNDS - 1);
  return 0;
}
