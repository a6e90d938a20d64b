/* A system call that began before the trace loses its proc after the first cut.
 *
 * The defect: the steal referred to a thread that the new generation had not mentioned. All traces in 1.22 to 1.26 were
 * rejected: "stole proc from non-existent thread 0".
 *
 * Required: a steal refers to the thread that last had the proc in this trace. If the trace does not know that thread,
 * the steal is written in a form that readers accept. */
#include "case.h"

static gotrace_proc *proc;
static gotrace_go *go;
static int phase; /* atomic */

static void *worker(void *unused) {
  gotrace_proc_start(proc);
  gotrace_go_start(go);
  gotrace_go_syscall_begin();
  CASE_STORE(phase, 1);
  CASE_AWAIT(CASE_LOAD(phase) == 2); /* in a system call */
  gotrace_go_syscall_end_blocked();
  return unused;
}

static void run(gotrace_format format, long number) {
  gotrace_options options = {0};
  pthread_t thread;
  CASE_STORE(phase, 0);
  if (!proc) proc = gotrace_proc_create();
  go = gotrace_go_create(NULL);
  case_thread(&thread, worker, NULL);
  CASE_AWAIT(CASE_LOAD(phase) == 1);
  case_start(format, options);
  if (number % 4) gotrace_advance();
  if (number % 4 == 2) gotrace_advance();
  gotrace_proc_steal(proc);
  if (number % 4 == 3) gotrace_advance();
  CASE_STORE(phase, 2);
  case_join(thread);
  gotrace_proc_start(proc); /* the thief has it from now on */
  gotrace_go_start(go);
  gotrace_go_end();
  gotrace_proc_stop();
  case_stop();
  if (case_stats.dropped) case_fail("%d calls were dropped", (int)case_stats.dropped);
}

const case_definition case_this = {"steal", 0, NULL, run, NULL};
