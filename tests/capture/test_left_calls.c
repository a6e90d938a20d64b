/* Signal handlers and callbacks that leave a call of the tracer for ever. After each instruction of some calls, a
 * handler leaves by siglongjmp, ends its thread, ends the program or ends the trace. The thread goes on tracing, all
 * results are those that the calls document, at most the record of the call that was left is lost, and traces are
 * complete.
 *
 * The handler handles SIGTRAP, which the processor raises after each instruction. It does nothing where other signals
 * are blocked, since no other handler would run there.
 *
 * Not in: thread valgrind, which have no such signal. */
#define _GNU_SOURCE 1
#define GOTRACE__FIRST_CHUNK_BYTES 1024u
#define GOTRACE__CHUNK_BYTES 2048u
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(TEST_THREAD_SANITIZER)
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAP_FLAG = 0x100, MOST_STEPS = 100000 };
#define SET_TRAP_FLAG(operation)                                                                                 \
  __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n " operation ", (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" :: \
                       : "memory", "cc")

static enum { JUMP, END_THREAD, EXIT, STOP } what;
static volatile long steps_left; /* until the handler does it */
static volatile bool done;
static volatile bool late; /* the calls are over: the stack may not be as the compiler describes it to an unwinder */
static sigjmp_buf before;
static gotrace_result stopped;
static char text[300];

static void after_step(int number, siginfo_t *details, void *context) {
  ucontext_t *interrupted = (ucontext_t *)context;
  (void)number, (void)details;
  if (done || late || sigismember(&interrupted->uc_sigmask, SIGUSR1) || --steps_left > 0) return;
  done = true;
  interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
  if (what == JUMP) siglongjmp(before, 1);
  if (what == END_THREAD) pthread_exit(NULL);
  if (what == EXIT) exit(0);
  stopped = gotrace_stop();
}

enum { CALLS = 5 };
static __attribute__((noinline)) void make_calls(int which) {
  static const gotrace_location entry = GOTRACE_ENTRY(make_calls);
  switch (which) {
  case 0: gotrace_log(GOTRACE_NO_TASK, "stepped", text); break;
  case 1:
    GOTRACE_REGION("region") continue;
    break;
  case 2: gotrace_task_end(gotrace_task_begin("task", GOTRACE_NO_TASK)); break;
  case 3:
    gotrace_wait_on(text, GOTRACE_BLOCK_SYNC);
    gotrace_wait_end();
    break;
  default: gotrace_go_destroy(gotrace_go_create(&entry));
  }
}

/* Makes some calls, and does it after that many instructions of them. False: they have fewer. */
static bool make_calls_until(int which, long steps) {
  done = true;
  if (steps == 1) make_calls(which); /* what is needed the first time is there */
  done = late = false;
  steps_left = steps;
  SET_TRAP_FLAG("orq $0x100");
  make_calls(which);
  late = true;
  if (!done) SET_TRAP_FLAG("andq $~0x100");
  return done;
}

/* The distance of instructions at which that many calls, or some more, are interrupted. */
static long stride_of(int which, long calls) {
  long least = MOST_STEPS;
  int i;
  make_calls(which);
  for (i = 0; i < 3; i++) { /* one may need a new chunk */
    done = late = false;
    steps_left = MOST_STEPS;
    SET_TRAP_FLAG("orq $0x100");
    make_calls(which);
    SET_TRAP_FLAG("andq $~0x100");
    done = true;
    if (MOST_STEPS - steps_left < least) least = MOST_STEPS - steps_left;
  }
  return least / calls > 1 ? least / calls : 1;
}

static void start(test_bytes *bytes) {
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.write = test_sink;
  options.context = bytes;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
}

static void finish(test_bytes *bytes) {
  test_decode(bytes->data, bytes->size, true, NULL, __FILE__, __LINE__);
  test_decode(bytes->data, bytes->size, false, NULL, __FILE__, __LINE__);
  test_free(bytes);
}

static void check_jumps(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_stats stats;
  const long least = test_scaled(50);
  volatile long jumps = 0, steps, stride, logs = 0;
  volatile int which;
  volatile bool more;
  what = JUMP;
  start(&bytes);
  for (which = 0; which < CALLS; which++) {
    stride = stride_of(which, least);
    for (more = true, steps = 1; more; steps += stride) {
      CHECK(steps < MOST_STEPS);
      if (sigsetjmp(before, 1)) jumps++;
      else more = make_calls_until(which, steps);
      if (which == 3) { /* a wait that was left may have begun; the next one repairs that */
        gotrace_wait_end();
        gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
        gotrace_wait_end();
      }
      gotrace_log(GOTRACE_NO_TASK, "main", "after");
      logs++;
    }
  }
  CHECK(jumps >= CALLS * least);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NESTED], 0);
  CHECK_EQUAL(test_count_logs(&bytes, "main"), (uint64_t)logs); /* none is lost */
  CHECK(test_count_logs(&bytes, "stepped") > 0);
  finish(&bytes);
}

static void *end_in_call(void *steps) {
  gotrace_log(GOTRACE_NO_TASK, "main", "thread");
  return make_calls_until(0, *(long *)steps) ? NULL : steps;
}

static void check_ends(void) {
  test_bytes bytes = {NULL, 0, 0};
  const long least = test_scaled(60);
  long steps = 1, stride, threads = 0;
  void *all = NULL;
  what = END_THREAD;
  start(&bytes);
  stride = stride_of(0, least);
  for (; !all; steps += stride, threads++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, end_in_call, &steps) == 0 && pthread_join(thread, &all) == 0);
  }
  CHECK(threads > least);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(test_count_logs(&bytes, "main"), (uint64_t)threads);
  finish(&bytes);
}

/* The interrupted call goes on after the trace has ended. */
static void check_stops(void) {
  long steps = 1, stride = 0;
  bool more = true;
  what = STOP;
  for (; more; steps += stride) {
    test_bytes bytes = {NULL, 0, 0};
    start(&bytes);
    if (!stride) stride = stride_of(0, test_scaled(8));
    gotrace_log(GOTRACE_NO_TASK, "main", "before");
    stopped = GOTRACE_ERROR_NOT_RUNNING;
    more = make_calls_until(0, steps);
    CHECK_EQUAL(more ? stopped : gotrace_stop(), GOTRACE_OK);
    CHECK_EQUAL(test_count_logs(&bytes, "main"), 1);
    finish(&bytes);
  }
}

/* A process each: the trace has all that happened before the call that was interrupted. */
static void check_exits(void) {
  const char *path = test_trace_path("exit", GOTRACE_GO_1_23);
  test_bytes unused = {NULL, 0, 0};
  long steps = 1, stride;
  int status = 0, i;
  what = EXIT;
  start(&unused);
  stride = stride_of(0, test_scaled(5));
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_free(&unused);
  for (; !status; steps += stride) {
    test_bytes bytes = {NULL, 0, 0};
    pid_t child = fork();
    FILE *file;
    int c;
    CHECK(child >= 0);
    if (!child) {
      if (gotrace_start_file(path, NULL) != GOTRACE_OK) _exit(2);
      for (i = 0; i < 50; i++) gotrace_log(GOTRACE_NO_TASK, "main", "before");
      make_calls_until(0, steps);
      (void)gotrace_stop();
      _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    CHECK((file = fopen(path, "rb")) != NULL);
    while ((c = getc(file)) != EOF) {
      char byte = (char)c;
      test_append(&bytes, &byte, 1);
    }
    fclose(file);
    CHECK_EQUAL(test_count_logs(&bytes, "main"), 50);
    finish(&bytes);
  }
}

/* Callbacks. */

static volatile bool leaves;
static int unwind_or_leave(void *context, uintptr_t *pcs, int most) {
  (void)context, (void)most;
  if (leaves) siglongjmp(before, 1);
  pcs[0] = (uintptr_t)&make_calls;
  return 1;
}

static void check_unwinder(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  volatile int i;
  memset(&options, 0, sizeof options);
  options.write = test_sink;
  options.context = &bytes;
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = unwind_or_leave;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 100; i++) {
    leaves = true;
    if (!sigsetjmp(before, 1)) gotrace_log(GOTRACE_NO_TASK, "left", "call");
    leaves = false;
    gotrace_log(GOTRACE_NO_TASK, "main", "after");
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(test_count_logs(&bytes, "left"), 0);
  CHECK_EQUAL(test_count_logs(&bytes, "main"), 100);
  finish(&bytes);
}

static bool write_or_leave(void *context, const void *data, size_t size) {
  gotrace_log(GOTRACE_NO_TASK, "nested", "dropped");
  if (leaves) siglongjmp(before, 1);
  return test_sink(context, data, size);
}

static void check_snapshot(void) {
  test_bytes bytes = {NULL, 0, 0};
  volatile int i;
  CHECK_EQUAL(gotrace_flight_start(NULL), GOTRACE_OK);
  for (i = 0; i < 20; i++) {
    gotrace_log(GOTRACE_NO_TASK, "main", "before");
    leaves = true;
    if (!sigsetjmp(before, 1)) (void)gotrace_flight_snapshot(write_or_leave, &bytes);
    leaves = false;
    bytes.size = 0;
    CHECK_EQUAL(gotrace_flight_snapshot(write_or_leave, &bytes), GOTRACE_OK);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(test_count_logs(&bytes, "main"), 20);
  CHECK_EQUAL(test_count_logs(&bytes, "nested"), 0);
  finish(&bytes);
}

/* At random, also between calls, and in those that read and cut. */

static void make_random_call(uint64_t *random) {
  uint32_t which = test_random(random);
  if (which % 256 == 7) (void)gotrace_advance();
  if (which % 256 == 9) {
    gotrace_stats stats;
    gotrace_get_stats(&stats);
  }
  make_calls((int)(which % 3));
  gotrace_log_n(GOTRACE_NO_TASK, "random", SIZE_MAX, text, (size_t)(which >> 8) % 200);
}

/* After some calls at full speed, in which chunks fill, at one of the next instructions. */
static void check_random(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_stats stats;
  static uint64_t random = 1; /* static: a jump leaves it as it is */
  volatile long jumps, most = test_scaled(200);
  what = JUMP;
  start(&bytes);
  for (jumps = 0; jumps < most; jumps++) {
    volatile int calls = (int)(test_random(&random) % 60);
    for (; calls; calls--) make_random_call(&random);
    if (!sigsetjmp(before, 1)) {
      done = late = false;
      steps_left = 1 + (long)(test_random(&random) % 1000);
      SET_TRAP_FLAG("orq $0x100");
      for (;;) make_random_call(&random);
    }
    gotrace_log(GOTRACE_NO_TASK, "main", "after");
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NESTED], 0);
  CHECK_EQUAL(test_count_logs(&bytes, "main"), (uint64_t)most);
  finish(&bytes);
}

/* From a timer's handler, as in a program that reads commands; some calls are in their locks then. Few, since on a busy
 * machine each takes as long as the thread waits for a processor. */

static void leave(int number) {
  (void)number;
  siglongjmp(before, 1);
}

static void check_timer(void) {
  static uint64_t random = 2;
  test_bytes bytes = {NULL, 0, 0};
  volatile long jumps = 0;
  start(&bytes);
  CHECK(signal(SIGALRM, leave) != SIG_ERR);
  while (jumps < 50) {
    if (sigsetjmp(before, 1)) {
      jumps++;
    } else {
      struct itimerval once = {{0, 0}, {0, 100 + jumps * 37 % 400}};
      CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
      for (;;) make_random_call(&random);
    }
    gotrace_log(GOTRACE_NO_TASK, "main", "after");
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(test_count_logs(&bytes, "main"), 50);
  finish(&bytes);
}

/* A call on an alternate signal stack is nested, wherever that stack is. */
static void call_from_handler(int number) {
  (void)number;
  gotrace_log(GOTRACE_NO_TASK, "alternate", "nested");
  CHECK(gotrace_in_call(NULL));
}
static int raise_in_call(void *context, uintptr_t *pcs, int most) {
  (void)context, (void)pcs, (void)most;
  CHECK(raise(SIGUSR2) == 0);
  return 0;
}
static void check_alternate_stack(void) {
  static char below[1 << 16];
  char above[1 << 16]; /* above the call, on the same stack */
  stack_t stacks[] = {{.ss_sp = below, .ss_size = sizeof below}, {.ss_sp = above, .ss_size = sizeof above}},
          none = {.ss_flags = SS_DISABLE};
  struct sigaction action;
  int i;
  memset(&action, 0, sizeof action);
  action.sa_handler = call_from_handler;
  action.sa_flags = SA_ONSTACK;
  CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
  for (i = 0; i < 2; i++) {
    test_bytes bytes = {NULL, 0, 0};
    gotrace_options options;
    gotrace_stats stats;
    memset(&options, 0, sizeof options);
    options.write = test_sink;
    options.context = &bytes;
    options.stacks = GOTRACE_STACKS_UNWIND;
    options.unwind = raise_in_call;
    CHECK(sigaltstack(&stacks[i], NULL) == 0);
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    gotrace_log(GOTRACE_NO_TASK, "main", "call");
    CHECK(!gotrace_in_call(NULL));
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    gotrace_get_stats(&stats);
    CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NESTED], 1);
    CHECK_EQUAL(test_count_logs(&bytes, "main"), 1);
    CHECK_EQUAL(test_count_logs(&bytes, "alternate"), 0);
    finish(&bytes);
  }
  CHECK(sigaltstack(&none, NULL) == 0);
}

int main(void) {
  struct sigaction action;
  memset(text, 'x', sizeof text - 1);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = after_step;
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
  check_unwinder();
  check_snapshot();
  check_alternate_stack();
  check_jumps();
  check_ends();
  check_stops();
  check_exits();
  check_random();
  check_timer();
  return 0;
}
#else
int main(void) { return 0; }
#endif
