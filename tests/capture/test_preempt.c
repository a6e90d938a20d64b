/* gotrace_in_call is true after each instruction of a call, and false between calls. examples/preempt.c, whose tasks a
 * signal handler switches, asks it and counts exactly. A call that is moved to another thread nevertheless is dropped.
 * The same scheduler if it never asks loses logs, but ends, and its trace opens.
 *
 * Not in: address thread valgrind windows, which do not know its stacks. */
#define _GNU_SOURCE 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#if defined(__x86_64__) && defined(__linux__)
#undef GOTRACE_IMPLEMENTATION
#define main example
#define gotrace_in_call(pc) (asks && gotrace_in_call(pc))
static bool asks;
#include "../../examples/preempt.c"
#undef gotrace_in_call
#undef main

#include <sys/wait.h>

/* The processor raises SIGTRAP after each instruction while the flag is set. Code between calls is in a section of its
 * own. */
#define BETWEEN __attribute__((noinline, section("between_calls")))
extern const char between_start[] __asm__("__start_between_calls"), between_end[] __asm__("__stop_between_calls");
enum { TRAP_FLAG = 0x100 };
#define SET_TRAP_FLAG(operation)                                                                                 \
  __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n " operation ", (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" :: \
                       : "memory", "cc")
static unsigned long inside, outside;
static uintptr_t wrong[8];
static unsigned wrong_count;

static void after_step(int number, siginfo_t *details, void *context) {
  const ucontext_t *interrupted = (const ucontext_t *)context;
  const char *pc = (const char *)interrupted->uc_mcontext.gregs[REG_RIP];
  bool between = pc >= between_start && pc < between_end, found = gotrace_in_call(pc);
  (void)number, (void)details;
  ++*(between ? &outside : &inside);
  if (found == between && wrong_count < 8) wrong[wrong_count++] = (uintptr_t)pc;
}

static const char *const name = "name"; /* not a constant */
static gotrace_go *made;
BETWEEN static void make_calls(void) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("stepped");
  gotrace_task job;
  gotrace_thread_begin(name);
  gotrace_log(GOTRACE_NO_TASK, name, name);
  gotrace_logf(GOTRACE_NO_TASK, name, "%d", 1);
  GOTRACE_REGION(name) gotrace_count(name, 7);
  job = gotrace_task_begin(name, GOTRACE_NO_TASK);
  gotrace_task_end(job);
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  gotrace_wait_on(&made, gotrace_reason(name));
  gotrace_wait_end();
  gotrace_wake(&made, 1);
  gotrace_go_syscall_begin();
  gotrace_go_syscall_end();
  made = gotrace_go_create(&entry);
  gotrace_go_destroy(made);
  made = gotrace_go_create_named(name);
  gotrace_go_rename(made, name);
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_go_start(made);
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  gotrace_go_unblock(made);
  gotrace_go_start(made);
  gotrace_go_stop(GOTRACE_STOP_PREEMPTED);
  gotrace_go_start(made);
  gotrace_go_end();
  gotrace_wait_end();
  gotrace_go_unblock(gotrace_go_keyed(1, &entry));
  gotrace_go_keyed_free(1);
  gotrace_thread_rename(name);
}

BETWEEN static void *step(void *unused) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = after_step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, NULL);
  SET_TRAP_FLAG("orq $0x100");
  make_calls();
  make_calls();
  SET_TRAP_FLAG("andq $~0x100");
  signal(SIGTRAP, SIG_DFL);
  return unused;
}

static void check_steps(void) {
  int on;
  for (on = 0; on < 2; on++) {
    test_bytes bytes = {NULL, 0, 0};
    gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
    pthread_t thread;
    unsigned i;
    if (on) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    inside = outside = 0;
    CHECK(pthread_create(&thread, NULL, step, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    for (i = 0; i < wrong_count; i++) fprintf(stderr, "wrong at %#lx\n", (unsigned long)wrong[i]);
    CHECK_EQUAL(wrong_count, 0);
    CHECK(inside > 1000 && outside > 100);
    if (on) CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    test_free(&bytes);
  }
}

/* A scheduler that does not ask moves a call to another thread. There it does not let go of the first thread's record,
 * which that thread would use at the same time: the call is dropped. */
static void *go_on_with(void *record) {
  gotrace__thread *m = (gotrace__thread *)record;
  gotrace_log(GOTRACE_NO_TASK, "main", "this thread has a record");
  CHECK(m != gotrace__self && gotrace__claim(m));
  CHECK(!gotrace__enter_slowly(m, 1000));
  CHECK(!m->in_call);
  return NULL;
}

static void check_moved(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  gotrace_stats stats;
  pthread_t thread;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  while (!gotrace__self || !gotrace__self->chunk || gotrace__self->chunk->capacity - gotrace__self->chunk->size >= 1000)
    gotrace_log(GOTRACE_NO_TASK, "main", "until the chunk is almost full");
  CHECK(pthread_create(&thread, NULL, go_on_with, gotrace__self) == 0 && pthread_join(thread, NULL) == 0);
  gotrace_log(GOTRACE_NO_TASK, "main", "after");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NESTED], 1);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
}

static int run_example(const char *name, unsigned each) {
  static char path[4096], count[24];
  char *arguments[] = {(char *)"preempt", path, count, (char *)"1023", NULL};
  snprintf(path, sizeof path, "%s", test_trace_path(name, GOTRACE_GO_1_23));
  snprintf(count, sizeof count, "%ld", test_scaled(each));
  return example(4, arguments);
}

static void check_never_asks(void) {
  int status;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) exit(run_example("never_asks", 400000) > 1 || !preemptions);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_EQUAL(status, 0);
}

int main(void) {
  check_steps();
  check_moved();
  check_never_asks();
  asks = true;
  CHECK_EQUAL(run_example("asks", 40000), 0);
  return 0;
}
#else
int main(void) { return 0; }
#endif
