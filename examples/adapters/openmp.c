/* openmp.c - OpenMP programs, through OMPT, the tools interface of OpenMP 5 (LLVM's libomp). Link it with the program,
 * or build it as a shared library that OMP_TOOL_LIBRARIES names. The program or GOTRACE=FILE starts the trace.
 *
 *     OMPT                          becomes
 *     thread_begin                  gotrace_thread_begin: each thread is a goroutine
 *     parallel_begin, _end          a region of the goroutine that forks, "parallel region"
 *     implicit_task                 a region of each thread of the team, "implicit task"
 *     task_create                   gotrace_go_create, with the address of the task's code
 *     task_schedule                 gotrace_go_stop or gotrace_go_end of one task, gotrace_go_start of the other:
 *                                   explicit tasks are goroutines that run on the team's threads
 *     task_dependence               a log: which task waits for which
 *     sync_region_wait              gotrace_wait_begin, _end: barrier, taskwait, taskgroup, reduction
 *     mutex_acquire, _acquired,     gotrace_wait_on, gotrace_wait_end, gotrace_wake: locks, critical, ordered
 *       _released
 *
 * While a task waits, its thread may run other tasks. The trace then shows its wait end before them and begin again
 * after them. */
#include "gotrace.h"

#include <omp-tools.h>
#include <stdbool.h>
#include <stdint.h>

/* A task's data is its goroutine's handle, or 0 for a task that never leaves its thread. The lower bits are the wait it
 * is in: a number of GOTRACE_OMP_WAITS. */
#define GOTRACE_OMP_WAITS(X)           \
  X(BARRIER, 1, "OpenMP: barrier")     \
  X(TASKWAIT, 2, "OpenMP: taskwait")   \
  X(TASKGROUP, 3, "OpenMP: taskgroup") \
  X(REDUCTION, 4, "OpenMP: reduction")
enum {
#define GOTRACE_OMP_NUMBER(name, number, text) GOTRACE_OMP_##name = number,
  GOTRACE_OMP_WAITS(GOTRACE_OMP_NUMBER)
#undef GOTRACE_OMP_NUMBER
      GOTRACE_OMP_WAIT_MASK = 7
};

static __thread gotrace_go *gotrace_omp_own;

static gotrace_go *gotrace_omp_go(const ompt_data_t *task) {
  gotrace_go *go = (gotrace_go *)(uintptr_t)(task->value & ~(uint64_t)GOTRACE_OMP_WAIT_MASK);
  if (go) return go;
  if (!gotrace_omp_own) gotrace_omp_own = gotrace_go_self();
  return gotrace_omp_own;
}

/* Called at the start and end of a wait. A tracer that also sees how the OpenMP library itself waits can redefine
 * it. */
#ifndef GOTRACE_OMP_WAITING
#define GOTRACE_OMP_WAITING(waits) ((void)(waits))
#endif

static void gotrace_omp_begin_wait(gotrace_site *site, unsigned wait) {
  unsigned reason = GOTRACE_BLOCK_SYNC;
  switch (wait) {
#define GOTRACE_OMP_REASON(name, number, text) \
  case number: reason += GOTRACE_REASON(text); break;
    GOTRACE_OMP_WAITS(GOTRACE_OMP_REASON)
#undef GOTRACE_OMP_REASON
  default: break;
  }
  gotrace_wait_begin_at(site, reason);
  GOTRACE_OMP_WAITING(true);
}

static void gotrace_omp_end_wait(void) {
  GOTRACE_OMP_WAITING(false);
  gotrace_wait_end();
}

static gotrace_site *gotrace_omp_place(const void *code) {
  return code && gotrace_enabled() ? gotrace_site_make_pc((uintptr_t)code) : NULL;
}

#ifndef GOTRACE_OMP_IN_RECORD /* there threads are goroutines by themselves, and the trace has begun */
static void gotrace_omp_thread_begin(ompt_thread_t type, ompt_data_t *thread) {
  (void)thread;
  gotrace_thread_begin(type == ompt_thread_initial ? NULL : "OpenMP worker");
}

static void gotrace_omp_thread_end(ompt_data_t *thread) {
  (void)thread;
  gotrace_omp_own = NULL;
  gotrace_thread_end();
}
#endif

static void gotrace_omp_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
                                       unsigned threads, int flags, const void *code) {
  (void)task, (void)frame, (void)parallel, (void)threads, (void)flags;
  gotrace_region_begin_at(gotrace_omp_place(code), GOTRACE_NO_TASK, "parallel region", 0);
}

static void gotrace_omp_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code) {
  (void)parallel, (void)task, (void)flags;
  gotrace_region_end_at(gotrace_omp_place(code), GOTRACE_NO_TASK, "parallel region", 0);
}

static void gotrace_omp_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
                                      unsigned team, unsigned index, int flags) {
  (void)parallel, (void)task, (void)team, (void)index;
  if (flags & (int)ompt_task_initial) return;
  if (endpoint == ompt_scope_begin) gotrace_region_begin(GOTRACE_NO_TASK, "implicit task");
  if (endpoint == ompt_scope_end) gotrace_region_end(GOTRACE_NO_TASK, "implicit task");
}

static void gotrace_omp_task_create(ompt_data_t *creator, const ompt_frame_t *frame, ompt_data_t *task, int flags,
                                    int has_dependences, const void *code) {
  gotrace_site *site;
  (void)creator, (void)frame, (void)has_dependences;
  if (!(flags & (int)ompt_task_explicit)) return;
  site = code ? gotrace_site_make_pc((uintptr_t)code) : NULL; /* also while tracing is off: it is the task's name */
  gotrace_go_self();                                          /* makes the thread a goroutine: the task's creator */
  task->value = (uintptr_t)gotrace_go_create_at(site, site ? &site->location : NULL);
}

static void gotrace_omp_task_schedule(ompt_data_t *from, ompt_task_status_t status, ompt_data_t *to) {
  bool is_explicit = from->value > GOTRACE_OMP_WAIT_MASK;
  if (!to || status == ompt_task_early_fulfill || status == ompt_task_late_fulfill || status == ompt_taskwait_complete)
    return; /* no switch */
  gotrace_omp_go(from);
  if (from->value & GOTRACE_OMP_WAIT_MASK) gotrace_omp_end_wait();
  if (is_explicit && (status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach)) {
    gotrace_go_end();
    from->value = 0;
  } else {
    gotrace_go_stop(GOTRACE_REASON("OpenMP: its thread runs another task"));
  }
  gotrace_go_start(gotrace_omp_go(to));
  if (to->value & GOTRACE_OMP_WAIT_MASK) gotrace_omp_begin_wait(NULL, to->value & GOTRACE_OMP_WAIT_MASK);
}

static void gotrace_omp_dependence(ompt_data_t *first, ompt_data_t *then) {
  if (first->value && then->value)
    gotrace_logf(GOTRACE_NO_TASK, "OpenMP dependence", "G%llu waits for G%llu",
                 (unsigned long long)gotrace_go_id(gotrace_omp_go(then)),
                 (unsigned long long)gotrace_go_id(gotrace_omp_go(first)));
}

static void gotrace_omp_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
                             ompt_data_t *task, const void *code) {
  unsigned wait = kind == ompt_sync_region_taskwait    ? GOTRACE_OMP_TASKWAIT
                  : kind == ompt_sync_region_taskgroup ? GOTRACE_OMP_TASKGROUP
                  : kind == ompt_sync_region_reduction ? GOTRACE_OMP_REDUCTION
                                                       : GOTRACE_OMP_BARRIER;
  static __thread ompt_data_t ending; /* replaces a task that the library no longer provides, at the last barrier */
  (void)parallel;
  if (!task) task = &ending;
  if (endpoint == ompt_scope_begin) {
    gotrace_omp_go(task);
    task->value |= wait;
    gotrace_omp_begin_wait(gotrace_omp_place(code), wait);
  } else if (task->value & GOTRACE_OMP_WAIT_MASK) {
    gotrace_omp_end_wait();
    task->value &= ~(uint64_t)GOTRACE_OMP_WAIT_MASK;
  }
}

static void gotrace_omp_acquire(ompt_mutex_t kind, unsigned hint, unsigned implementation, ompt_wait_id_t lock,
                                const void *code) {
  unsigned reason = kind == ompt_mutex_critical  ? GOTRACE_REASON("OpenMP: critical")
                    : kind == ompt_mutex_ordered ? GOTRACE_REASON("OpenMP: ordered")
                    : kind == ompt_mutex_atomic  ? GOTRACE_REASON("OpenMP: atomic")
                                                 : GOTRACE_REASON("OpenMP: lock");
  (void)hint, (void)implementation;
  if (kind == ompt_mutex_test_lock || kind == ompt_mutex_test_nest_lock) return;
  gotrace_wait_on_at(gotrace_omp_place(code), (const void *)(uintptr_t)lock, reason + GOTRACE_BLOCK_SYNC);
  GOTRACE_OMP_WAITING(true);
}

static void gotrace_omp_acquired(ompt_mutex_t kind, ompt_wait_id_t lock, const void *code) {
  (void)lock, (void)code;
  if (kind == ompt_mutex_test_lock || kind == ompt_mutex_test_nest_lock) return;
  gotrace_omp_end_wait();
}

static void gotrace_omp_released(ompt_mutex_t kind, ompt_wait_id_t lock, const void *code) {
  (void)kind;
  gotrace_wake_at(gotrace_omp_place(code), (const void *)(uintptr_t)lock, 1);
}

static int gotrace_omp_initialize(ompt_function_lookup_t lookup, int initial_device, ompt_data_t *tool) {
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  (void)initial_device, (void)tool;
  if (!set) return 0;
#ifndef GOTRACE_OMP_IN_RECORD
  set(ompt_callback_thread_begin, (ompt_callback_t)gotrace_omp_thread_begin);
  set(ompt_callback_thread_end, (ompt_callback_t)gotrace_omp_thread_end);
  gotrace_start_environment();
#endif
  set(ompt_callback_parallel_begin, (ompt_callback_t)gotrace_omp_parallel_begin);
  set(ompt_callback_parallel_end, (ompt_callback_t)gotrace_omp_parallel_end);
  set(ompt_callback_implicit_task, (ompt_callback_t)gotrace_omp_implicit_task);
  set(ompt_callback_task_create, (ompt_callback_t)gotrace_omp_task_create);
  set(ompt_callback_task_schedule, (ompt_callback_t)gotrace_omp_task_schedule);
  set(ompt_callback_task_dependence, (ompt_callback_t)gotrace_omp_dependence);
  set(ompt_callback_sync_region_wait, (ompt_callback_t)gotrace_omp_wait);
  set(ompt_callback_mutex_acquire, (ompt_callback_t)gotrace_omp_acquire);
  set(ompt_callback_mutex_acquired, (ompt_callback_t)gotrace_omp_acquired);
  set(ompt_callback_mutex_released, (ompt_callback_t)gotrace_omp_released);
  return 1;
}

static void gotrace_omp_finalize(ompt_data_t *tool) { (void)tool; }

/* The OpenMP library looks for this function when it starts. */
#ifndef GOTRACE_OMP_WANTED
#define GOTRACE_OMP_WANTED true
#endif
__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned version,
                                                                                 const char *library) {
  static ompt_start_tool_result_t result = {gotrace_omp_initialize, gotrace_omp_finalize, {0}};
  (void)version, (void)library;
  if (!GOTRACE_OMP_WANTED) return NULL;
  return &result;
}
