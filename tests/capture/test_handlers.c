/* Signal handlers that emit and make cuts, at any point of calls that emit, start and stop: a call that interrupts a
 * call is dropped, nothing waits for a lock of the interrupted call, and each trace is complete. A handler that calls
 * gotrace_stop while its thread waits in gotrace_stop does not wait for itself. All calls that a handler may make fit
 * into the alternate stack that gotrace.h asks for. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

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

static pthread_t stopper;
static int nested_result; /* atomic; of the handler's gotrace_stop; 1: none yet */

static void stop_again(int number) {
  (void)number;
  __atomic_store_n(&nested_result, (int)gotrace_stop(), __ATOMIC_RELEASE);
}

/* The trace's end is only delivered when its thread is in gotrace_stop. */
static bool interrupt_stop(void *context, const void *data, size_t size) {
  const struct timespec pause = {0, 20000000};
  if (size > 16 && __atomic_load_n(&nested_result, __ATOMIC_ACQUIRE) == 1) { /* not the header */
    nanosleep(&pause, NULL);                                                 /* until it waits for this thread */
    CHECK(pthread_kill(stopper, SIGUSR2) == 0);
    while (__atomic_load_n(&nested_result, __ATOMIC_ACQUIRE) == 1) nanosleep(&pause, NULL);
  }
  return test_sink(context, data, size);
}

static void check_stop_in_stop(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_stats stats;
  options.write = interrupt_stop;
  options.late = true;
  nested_result = 1;
  stopper = pthread_self();
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "message");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(nested_result, GOTRACE_ERROR_NESTED);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NESTED], 1);
  check_trace(&bytes);
  test_free(&bytes);
}

static int three_frames(void *context, uintptr_t *pcs, int most) {
  static const uintptr_t code[] = {(uintptr_t)three_frames + 1, (uintptr_t)printf + 1, (uintptr_t)pthread_create + 1};
  (void)context;
  CHECK(most >= 3);
  memcpy(pcs, code, sizeof code);
  return 3;
}

static gotrace_options of_handler;

static void make_all_calls(int number) {
  on_signal(number);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  on_signal(number);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(gotrace_start_file(test_trace_path("handler", GOTRACE_GO_1_26), &of_handler), GOTRACE_OK);
  on_signal(number);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(gotrace_flight_start(&of_handler), GOTRACE_OK);
  on_signal(number);
  CHECK_EQUAL(gotrace_flight_snapshot_file(test_trace_path("snapshot", GOTRACE_GO_1_26)), GOTRACE_OK);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
}

/* Below the alternate stack there is nothing. */
static void check_alternate_stack(void) {
#if defined(TEST_ADDRESS_SANITIZER) || defined(TEST_THREAD_SANITIZER)
  const size_t most = 1 << 19;
#else
  const size_t most = 24 << 10; /* as NESTED CALLS says */
#endif
  const size_t below = 1 << 16;
  unsigned char *memory = mmap(NULL, below + most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t stack = {.ss_sp = memory + below, .ss_size = most}, none = {.ss_flags = SS_DISABLE};
  struct sigaction action;
  CHECK(memory != MAP_FAILED);
  CHECK(mprotect(memory + below, most, PROT_READ | PROT_WRITE) == 0);
  memset(&action, 0, sizeof action);
  of_handler.stacks = GOTRACE_STACKS_UNWIND;
  of_handler.unwind = three_frames;
  action.sa_handler = make_all_calls;
  action.sa_flags = SA_ONSTACK;
  CHECK(sigaltstack(&stack, NULL) == 0);
  CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
  CHECK_EQUAL(gotrace_start_file(test_trace_path("outside", GOTRACE_GO_1_26), &of_handler), GOTRACE_OK);
  CHECK(raise(SIGUSR2) == 0);
  CHECK(sigaltstack(&none, NULL) == 0);
  CHECK(munmap(memory, below + most) == 0);
}

int main(void) {
  pthread_t self = pthread_self(), other;
  struct sigaction action;
  long i, rounds = test_scaled(300);
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  action.sa_handler = stop_again;
  CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
  for (i = 0; i < (long)TEST_FORMATS; i++) check_stop_in_stop(test_formats[i]);
  check_alternate_stack();
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
