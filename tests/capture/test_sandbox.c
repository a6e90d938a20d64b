/* A sandbox entered after the program's first call may forbid the tracer's barrier, membarrier(2). Traces remain
 * correct. Linux. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool forbidden;
static unsigned refused;
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#include <pthread.h>
#include <time.h>

#define THREADS 3

static uint32_t quit; /* atomic */

static void *emit(void *unused) {
  const struct timespec pause = {0, 20000}; /* keeps the traces short: they are decoded at the end */
  (void)unused;
  while (!__atomic_load_n(&quit, __ATOMIC_RELAXED)) {
    GOTRACE_REGION("outer") gotrace_log(GOTRACE_NO_TASK, "category", "message");
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
    nanosleep(&pause, NULL);
  }
  return NULL;
}

/* Replaces the C library's function: the tracer's system calls come here. */
long syscall(long number, ...) {
  long (*next)(long number, ...);
  void *address = dlsym(RTLD_NEXT, "syscall");
  va_list arguments;
  long a, b, c, d;
  memcpy(&next, &address, sizeof next);
  if (forbidden && number == SYS_membarrier) {
    __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
    errno = EPERM;
    return -1;
  }
  va_start(arguments, number);
  a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long), d = va_arg(arguments, long);
  va_end(arguments);
  return next(number, a, b, c, d);
}

int main(void) {
  pthread_t threads[THREADS];
  long round, rounds = test_scaled(200);
  size_t i;
  gotrace_thread_begin("main");
  forbidden = true;
  for (i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, emit, NULL) == 0);
  for (round = 0; round < rounds; round++) {
    test_bytes bytes = {NULL, 0, 0};
    gotrace_options options;
    memset(&options, 0, sizeof options);
    options.format = round % 2 ? GOTRACE_GO_1_23 : GOTRACE_GO_1_11;
    options.write = test_sink;
    options.context = &bytes;
    options.cut_milliseconds = 1;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    usleep(3000);
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    CHECK_OPENS(&bytes);
    test_free(&bytes);
  }
#if !GOTRACE_SEQ_CST_FLAG
  CHECK_EQUAL(gotrace__t.fence, 1);
  CHECK_EQUAL(refused, 1);
#endif
  __atomic_store_n(&quit, 1, __ATOMIC_RELAXED);
  for (i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  return 0;
}
