/* Signal handlers that emit and make cuts, at any point of calls that emit, start and stop: a call that interrupts a
 * call is dropped, nothing waits for a lock of the interrupted call, and each trace is complete. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

static uint32_t over;    /* atomic */
static uint64_t signals; /* atomic */

static void on_signal(int number) {
  int saved = errno;
  (void)number;
  GOTRACE_REGION("handler") gotrace_log(GOTRACE_NO_TASK, "handler", "runs");
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  gotrace_go_unblock(gotrace_go_self());
  gotrace_task_end(gotrace_task_begin("handler", GOTRACE_NO_TASK));
  if (__atomic_add_fetch(&signals, 1, __ATOMIC_RELAXED) % 16 == 0) (void)gotrace_advance(); /* the reader keeps up */
  errno = saved;
}

static void check_trace(test_bytes *bytes) {
  test_decode(bytes->data, bytes->size, true, NULL, __FILE__, __LINE__);
  test_decode(bytes->data, bytes->size, false, NULL, __FILE__, __LINE__);
}

static void *interrupt(void *thread) {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
    struct timespec pause = {0, 20000};
    CHECK(pthread_kill(*(pthread_t *)thread, SIGUSR1) == 0);
    nanosleep(&pause, NULL);
  }
  return NULL;
}

int main(void) {
  pthread_t self = pthread_self(), other;
  struct sigaction action;
  long i, rounds = test_scaled(300);
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  CHECK(pthread_create(&other, NULL, interrupt, &self) == 0);
  for (i = 0; i < rounds; i++) {
    test_bytes bytes = {NULL, 0, 0};
    gotrace_options options = test_options(test_formats[(size_t)i % TEST_FORMATS], &bytes);
    int j;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    for (j = 0; j < 300; j++) {
      char text[32];
      snprintf(text, sizeof text, "number %d", j);
      gotrace_task task = gotrace_task_begin("task", GOTRACE_NO_TASK);
      GOTRACE_REGION("work") gotrace_log(task, "category", text);
      gotrace_task_end(task);
      gotrace_wait_begin(GOTRACE_BLOCK_NET);
      gotrace_wait_end();
      if (j % 100 == 0) (void)gotrace_advance();
    }
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    check_trace(&bytes);
    if (options.format >= GOTRACE_GO_1_11) CHECK_EQUAL(test_count_logs(&bytes, "category"), 300); /* none is dropped */
    test_free(&bytes);
  }
  __atomic_store_n(&over, 1u, __ATOMIC_RELAXED);
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(signals > 0);
  return 0;
}
