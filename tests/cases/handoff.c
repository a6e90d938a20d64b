/* Go's own order of events for a lost proc: a thread returns from its system call, finds that a thief has marked the
 * proc as taken, and calls gotrace_go_syscall_end_blocked before the thief calls gotrace_proc_steal. Another thread
 * then runs the proc.
 *
 * The defect: the steal was dropped, since the proc was no longer in a system call, and so was each later start of it.
 *
 * Required: both orders give the same trace, and no call is dropped. */
#include "case.h"

#include <string.h>

enum { STARTS = 20 };
static gotrace_proc *proc;
static gotrace_go *go;
static int phase; /* atomic */

static void *loser(void *unused) {
  gotrace_proc_start(proc);
  gotrace_go_start(go);
  gotrace_go_syscall_begin();
  CASE_STORE(phase, 1);
  CASE_AWAIT(CASE_LOAD(phase) >= 2);
  gotrace_go_syscall_end_blocked();
  CASE_STORE(phase, 3);
  CASE_AWAIT(CASE_LOAD(phase) == 5);
  return unused;
}

static void *heir(void *unused) {
  int i;
  CASE_AWAIT(CASE_LOAD(phase) == 4);
  for (i = 0; i < STARTS; i++) {
    gotrace_proc_start(proc);
    gotrace_go_start(i ? gotrace_go_create(NULL) : go);
    gotrace_go_end();
    gotrace_proc_stop();
  }
  CASE_STORE(phase, 5);
  return unused;
}

static void run(gotrace_format format, long number) {
  gotrace_options options = {0};
  pthread_t threads[2];
  bool late = number & 1; /* tracing starts when the system call has begun */
  CASE_STORE(phase, 0);
  proc = gotrace_proc_create();
  go = gotrace_go_create(NULL);
  if (!late) case_start(format, options);
  case_thread(&threads[0], loser, NULL);
  case_thread(&threads[1], heir, NULL);
  CASE_AWAIT(CASE_LOAD(phase) == 1);
  if (late) case_start(format, options);
  if (number & 2) gotrace_advance();
  if (number % 5 == 4) gotrace_proc_steal(proc); /* the other order, for comparison */
  CASE_STORE(phase, 2);                          /* the thief has marked the proc */
  CASE_AWAIT(CASE_LOAD(phase) == 3);
  if (number & 4) gotrace_advance();
  if (number % 5 != 4) gotrace_proc_steal(proc);
  CASE_STORE(phase, 4);
  case_join(threads[0]);
  case_join(threads[1]);
  gotrace_proc_destroy(proc);
  case_stop();
  if (case_stats.dropped) {
    int i;
    for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++)
      if (case_stats.problems[i] && strcmp(gotrace_problem_outcome((gotrace_problem)i), "dropped") == 0)
        case_fail("%d times: %s", (int)case_stats.problems[i], gotrace_problem_string((gotrace_problem)i));
  }
}

const case_definition case_this = {"handoff", 0, NULL, run, NULL};
