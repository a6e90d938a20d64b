/* Plain threads wait with a time-out while another thread reports waking them.
 *
 * The defect: gotrace_wait_end of the waiter and gotrace_go_unblock of the waker act on one goroutine. If tracing
 * stopped between the two, the later one was in the trace and the earlier one was not. A quarter of the traces in
 * format 1.23 and half of those in 1.11 were rejected.
 *
 * Required: the end of a trace is a consistent cut. A call that began before the end writes nothing that depends on a
 * call missing from the trace. */
#include "case.h"

enum { WAITERS = 2 };
static gotrace_go *waiting[WAITERS]; /* atomic */
static int quit;                     /* atomic */
static pthread_t threads[WAITERS + 1];

static void *waiter(void *argument) {
  gotrace_go **self = argument;
  gotrace_thread_begin("waiter");
  CASE_STORE(*self, gotrace_go_self());
  while (!CASE_LOAD(quit)) {
    gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
    gotrace_wait_end(); /* the time-out is immediate */
  }
  return NULL;
}

static void *waker(void *unused) {
  unsigned rounds = 0;
  gotrace_thread_begin("waker");
  while (!CASE_LOAD(quit)) {
    int i;
    for (i = 0; i < WAITERS; i++) gotrace_go_unblock(CASE_LOAD(waiting[i]));
    if (!(++rounds & 15)) case_wait_little(); /* so that the main thread soon reaches stop */
  }
  return unused;
}

static void begin(void) {
  int i;
  CASE_STORE(quit, 0);
  for (i = 0; i < WAITERS; i++) {
    CASE_STORE(waiting[i], NULL);
    case_thread(&threads[i], waiter, &waiting[i]);
    CASE_AWAIT(CASE_LOAD(waiting[i]));
  }
  case_thread(&threads[WAITERS], waker, NULL);
}

static void run(gotrace_format format, long number) {
  gotrace_options options = {0};
  case_start(format, options);
  case_sleep(50 + (unsigned)number % 5 * 50);
  case_stop();
}

static void end(void) {
  int i;
  CASE_STORE(quit, 1);
  for (i = 0; i <= WAITERS; i++) case_join(threads[i]);
}

const case_definition case_this = {"timed", 0, begin, run, end};
