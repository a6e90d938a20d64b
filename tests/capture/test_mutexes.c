/* Each mutex is initialized with the system's initializer before it is locked, also in the child of a fork. The
 * initializer in this test is not zero, as on macOS and NetBSD. */
#include <pthread.h>
#include <stdio.h>
#if !defined(__GLIBC__)
int main(void) {
  puts("needs glibc, whose mutexes reveal their kind");
  return 77;
}
#else
#undef PTHREAD_MUTEX_INITIALIZER
#define PTHREAD_MUTEX_INITIALIZER                  \
  {                                                \
    {                                              \
      0, 0, 0, 0, 3 /* adaptive */, 0, 0, { 0, 0 } \
    }                                              \
  }
static int wrong_mutexes;
static int checked_lock(pthread_mutex_t *mutex) {
  if (mutex->__data.__kind != 3) wrong_mutexes++;
  return pthread_mutex_lock(mutex);
}
#define pthread_mutex_lock checked_lock
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include <sys/wait.h>

static void session(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.write = test_sink;
  options.context = &bytes;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  GOTRACE_REGION("region") {
    gotrace_log(GOTRACE_NO_TASK, "category", "message");
  }
  gotrace_gc_begin();
  gotrace_gc_end();
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(gotrace_flight_start(NULL), GOTRACE_OK);
  bytes.size = 0;
  CHECK_EQUAL(gotrace_flight_snapshot(test_sink, &bytes), GOTRACE_OK);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
  CHECK_EQUAL(wrong_mutexes, 0);
}

int main(void) {
  gotrace_stats stats;
  pid_t child;
  int status;
  gotrace_get_stats(&stats); /* the program's first call */
  CHECK_EQUAL(wrong_mutexes, 0);
  session();
  CHECK((child = fork()) >= 0);
  if (!child) {
    session();
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_EQUAL(status, 0);
  return 0;
}
#endif
