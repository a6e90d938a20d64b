/* worker.h - a scheduler of goroutines that keeps the rules, for tests/explore/explore.c: `work` is a step of a worker,
 * one of EXPLORE_WORKER_STEPS, by the dice. The calls are those that the documentation allows.
 *
 * The queue and the states of goroutines and procs are the scheduler's own. Nothing else runs between two operations on
 * memory that the engine knows; but while a worker is in a call, others run. A worker therefore changes them as a
 * scheduler with a lock does: what it takes before the call, what it gives after it.
 */
#ifndef EXPLORE_WORKER_H
#define EXPLORE_WORKER_H

#define EXPLORE_JOBS 12u
#define EXPLORE_WORKER_PROCS 3u
#define EXPLORE_WORKER_TASKS 6u
#define EXPLORE_WORKER_DEPTH 3u /* of nested running */
#define EXPLORE_PLACE (&world.site[explore.running][0])

typedef enum explore_job_state {
  EXPLORE_FREE,
  EXPLORE_TAKEN, /* a worker runs it, or is about to change it */
  EXPLORE_QUEUED,
  EXPLORE_BLOCKED,
  EXPLORE_WAITS_THERE, /* on its thread, and nobody has woken it */
  EXPLORE_WOKEN        /* there; TAKEN while the waker is in its call */
} explore_job_state;

/* What a worker does at the moment. */
enum {
  EXPLORE_IDLES = 1, /* without a proc */
  EXPLORE_HAS_PROC = 2,
  EXPLORE_RUNS_JOB = 4,
  EXPLORE_IS_PLAIN = 8,    /* its thread is a goroutine, which runs */
  EXPLORE_IN_WAIT = 16,    /* begun by `begins a wait` */
  EXPLORE_IN_NEST = 32,    /* nested running, and nothing runs */
  EXPLORE_NEEDS_PROC = 64, /* the same, and it has lost its proc in a call */
  EXPLORE_IN_CALL = 128,
  EXPLORE_RUNS_ANY = EXPLORE_RUNS_JOB | EXPLORE_IS_PLAIN,
  EXPLORE_ANY = 255
};

typedef struct explore_level {
  int runs, waits;
  gotrace_go *outer;
} explore_level;

typedef struct explore_worker {
  int runs, has; /* job and proc, plus 1 */
  bool calls;    /* it is in a system call */
  bool plain, was_worker;
  bool found;                                 /* it has started its proc in the call */
  int waits;                                  /* how its goroutine's wait ends, plus 1 */
  explore_level levels[EXPLORE_WORKER_DEPTH]; /* set aside */
  unsigned depth;
} explore_worker;

static struct explore_scheduler {
  gotrace_go *go[EXPLORE_JOBS];
  explore_job_state job[EXPLORE_JOBS];
  unsigned regions[EXPLORE_JOBS]; /* that are open */
  bool assist[EXPLORE_JOBS];      /* in a mark assist */
  gotrace_proc *proc[EXPLORE_WORKER_PROCS];
  bool proc_taken[EXPLORE_WORKER_PROCS], sweep[EXPLORE_WORKER_PROCS], scan[EXPLORE_WORKER_PROCS];
  int in_call[EXPLORE_WORKER_PROCS]; /* the worker in a system call that may lose it; 0: none */
  explore_worker workers[EXPLORE_THREADS];
  gotrace_task task[EXPLORE_WORKER_TASKS];
  bool task_taken[EXPLORE_WORKER_TASKS];
  bool collector_taken, collects;
  uint64_t random;
} scheduler;

/* Shows what a worker is about to do; returns the goroutine. */
static gotrace_go *explore_says(const char *what, int job) {
  if (explore.trace) printf("   T%d: %s %d\n", explore.running, what, job);
  return job < 0 ? NULL : scheduler.go[job];
}

static unsigned explore_dice(unsigned sides) {
  return (unsigned)(explore_next_random(&scheduler.random) >> 33) % sides;
}

/* Takes a job in this state, beginning with a random one; -1: there is none. */
static int explore_take_job(explore_job_state state) {
  unsigned first = explore_dice(EXPLORE_JOBS), i;
  for (i = 0; i < EXPLORE_JOBS; i++)
    if (scheduler.job[(first + i) % EXPLORE_JOBS] == state) {
      scheduler.job[(first + i) % EXPLORE_JOBS] = EXPLORE_TAKEN;
      return (int)((first + i) % EXPLORE_JOBS);
    }
  return -1;
}

/* The scheduler's lock, as far as it orders things. A worker takes it at the beginning of a step, and before it gives
 * something. */
static void explore_worker_lock(void) { explore_synchronize(0); }

/* Takes a job for a new goroutine. */
static int explore_take_free(void) {
  int job = explore_take_job(EXPLORE_FREE);
  if (job >= 0) scheduler.regions[job] = 0, scheduler.assist[job] = false;
  return job;
}

static void explore_give_job(int job, explore_job_state state) {
  explore_worker_lock();
  scheduler.job[job] = state;
}

#define EXPLORE_TOGGLE(flag, begin, end) ((flag) ? (end) : (begin), (void)((flag) = !(flag)))

/* A call about a job, `go`, in state `from`, which is in state `to` afterwards. */
#define EXPLORE_FOR_A_JOB(from, to, call)          \
  do {                                             \
    int it = explore_take_job(from);               \
    gotrace_go *go = explore_says("  of job", it); \
    (void)go;                                      \
    if (it < 0) break;                             \
    call;                                          \
    explore_give_job(it, to);                      \
  } while (0)

static void explore_worker_stops_proc(explore_worker *w) {
  int proc = w->has - 1;
  if (proc < 0) return;
  w->has = 0;
  w->was_worker = true;
  gotrace_proc_stop();
  explore_worker_lock();
  scheduler.proc_taken[proc] = false;
}

static void explore_worker_starts_proc(explore_worker *w) {
  unsigned p = explore_dice(EXPLORE_WORKER_PROCS);
  if (scheduler.in_call[p]) {
    scheduler.in_call[p] = 0;
    explore_says("steals", (int)p);
    gotrace_proc_steal(scheduler.proc[p]);
  } else if (scheduler.proc_taken[p]) {
    return;
  }
  scheduler.proc_taken[p] = true;
  if (!scheduler.proc[p]) scheduler.proc[p] = gotrace_proc_create();
  w->has = (int)p + 1;
  explore_says("starts proc", (int)p);
  gotrace_proc_start(scheduler.proc[p]);
}

/* Takes a proc from a system call for others. */
static void explore_worker_steals(void) {
  unsigned p = explore_dice(EXPLORE_WORKER_PROCS);
  if (!scheduler.in_call[p] || scheduler.in_call[p] == explore.running) return;
  scheduler.in_call[p] = 0;
  explore_says("  proc", (int)p);
  gotrace_proc_steal(scheduler.proc[p]);
  explore_worker_lock();
  scheduler.proc_taken[p] = false;
}

static void explore_worker_destroys_proc(void) {
  unsigned p = explore_dice(EXPLORE_WORKER_PROCS);
  if (scheduler.proc_taken[p] || !scheduler.proc[p] || scheduler.sweep[p] || scheduler.scan[p]) return;
  scheduler.proc_taken[p] = true;
  gotrace_proc_destroy(scheduler.proc[p]);
  scheduler.proc[p] = NULL;
  explore_worker_lock();
  scheduler.proc_taken[p] = false;
}

static void explore_worker_enters_call(explore_worker *w) {
  gotrace_go_syscall_begin_at(EXPLORE_PLACE);
  w->calls = true;
  explore_worker_lock();
  if (w->has) scheduler.in_call[w->has - 1] = explore.running;
}

/* Whether the worker, in a system call, still has its proc; then nobody else can take that from now on. */
static bool explore_worker_keeps_proc(const explore_worker *w) {
  if (!w->has || scheduler.in_call[w->has - 1] != explore.running) return false;
  scheduler.in_call[w->has - 1] = 0;
  return true;
}

/* A worker that has lost its proc in a call takes one before the call ends. */
static void explore_worker_finds_proc(explore_worker *w) {
  int lost = w->has;
  if (w->found || !lost || scheduler.in_call[lost - 1] == explore.running) return;
  w->has = 0;
  explore_worker_starts_proc(w);
  w->found = w->has != 0;
  if (!w->found) w->has = lost;
}

/* A callback from foreign code. */
static void explore_worker_calls_back(explore_worker *w) {
  int job = explore_take_free();
  if (job < 0) return;
  scheduler.go[job] = gotrace_go_create_syscall_at(EXPLORE_PLACE, &explore_entries[2]);
  w->runs = job + 1;
  w->calls = true;
}

/* The worker's system call ends; with `dies`, its goroutine in it. A proc that nobody has taken may be given up. */
static void explore_worker_returns(explore_worker *w, bool dies) {
  int job = w->runs - 1, proc = w->has - 1;
  bool keeps = explore_worker_keeps_proc(w), found = w->found;
  w->calls = w->found = false;
  if (!dies && ((keeps && explore_dice(4)) || (w->plain && !w->has))) {
    explore_says("  with its proc", job);
    gotrace_go_syscall_end();
    return;
  }
  w->was_worker |= proc >= 0;
  w->runs = 0;
  if (dies || !found) w->has = 0;
  if (dies) gotrace_go_end_in_syscall();
  else gotrace_go_syscall_end_blocked();
  explore_give_job(job, dies ? EXPLORE_FREE : EXPLORE_QUEUED);
  if (keeps || (dies && found)) scheduler.proc_taken[proc] = false;
}

static void explore_worker_creates(bool thread) {
  int job = explore_take_free();
  unsigned how = explore_dice(6);
  if (job < 0) return;
  explore_says("  job", job);
  scheduler.go[job] = thread     ? gotrace_thread_create_at(EXPLORE_PLACE, &explore_entries[3])
                      : how == 0 ? gotrace_go_create_blocked_at(EXPLORE_PLACE, &explore_entries[0])
                      : how < 3  ? gotrace_go_keyed_at(EXPLORE_PLACE, (uint64_t)job, &explore_entries[4], how == 1)
                                 : gotrace_go_create_at(EXPLORE_PLACE, &explore_entries[1]);
  explore_give_job(job, how < 2 && !thread ? EXPLORE_BLOCKED : EXPLORE_QUEUED);
}

/* Mark assists may last while their goroutines block. */
static void explore_worker_assists(int job) {
  EXPLORE_TOGGLE(scheduler.assist[job], gotrace_gc_mark_assist_begin_at(EXPLORE_PLACE), gotrace_gc_mark_assist_end());
}

/* The worker stops running its goroutine, which is in this state then. */
static void explore_worker_gives(explore_worker *w, explore_job_state state, unsigned reason) {
  int job = w->runs - 1;
  explore_says("  job", job);
  if (state == EXPLORE_FREE && scheduler.assist[job]) explore_worker_assists(job);
  w->runs = 0;
  if (w->plain && !w->depth) w->plain = false, gotrace_thread_end();
  else if (state == EXPLORE_FREE) gotrace_go_end();
  else if (state == EXPLORE_QUEUED) gotrace_go_stop_at(EXPLORE_PLACE, reason);
  else gotrace_go_block_at(EXPLORE_PLACE, reason);
  explore_give_job(job, state);
}

static void explore_worker_switches(explore_worker *w, unsigned how) {
  int from = w->runs - 1, to = explore_take_job(EXPLORE_BLOCKED);
  if (to < 0) return;
  if (how == 0 && scheduler.assist[from]) explore_worker_assists(from);
  w->runs = to + 1;
  explore_says("  to", to);
  if (how == 0) gotrace_go_switch_end_at(EXPLORE_PLACE, scheduler.go[to]);
  else if (how == 1) gotrace_go_switch_at(EXPLORE_PLACE, scheduler.go[to]);
  else gotrace_go_switch_for_at(EXPLORE_PLACE, scheduler.go[to], GOTRACE_BLOCK_NET);
  explore_give_job(from, how ? EXPLORE_BLOCKED : EXPLORE_FREE);
}

/* A plain thread runs another goroutine in place of its own. */
static void explore_worker_runs_in_place(const explore_worker *w) {
  int job = explore_take_job(EXPLORE_QUEUED), own = w->runs - 1;
  if (job < 0) return;
  explore_says("  job", job);
  gotrace_go_stop_at(EXPLORE_PLACE, GOTRACE_STOP_YIELD);
  gotrace_go_start(scheduler.go[job]);
  gotrace_wait_begin_at(EXPLORE_PLACE, GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  gotrace_go_stop_at(EXPLORE_PLACE, GOTRACE_STOP_YIELD);
  explore_give_job(job, EXPLORE_QUEUED);
  gotrace_go_start(scheduler.go[own]);
}

static void explore_worker_starts(explore_worker *w, bool as_thread) {
  int job = explore_take_job(EXPLORE_QUEUED);
  if (job < 0) return;
  w->runs = job + 1;
  explore_says("  job", job);
  if (as_thread) gotrace_thread_begin_as(scheduler.go[job]);
  else gotrace_go_start(scheduler.go[job]);
  w->plain |= as_thread;
}

/* The worker's thread becomes a goroutine. */
static void explore_worker_becomes_plain(explore_worker *w) {
  int job = explore_take_free();
  if (job < 0) return;
  if (explore_dice(2)) gotrace_thread_begin("plain");
  else if (!w->was_worker) gotrace_log_at(EXPLORE_PLACE, GOTRACE_NO_TASK, "kind", "first");
  scheduler.go[job] = gotrace_go_self();
  w->runs = job + 1;
  w->plain = true;
  w->was_worker = false;
}

/* Waits of a thread with its goroutine: of a waker that knows the waiter, taken back after a block, by address. */
static void explore_worker_begins_wait(explore_worker *w, int how) {
  w->waits = how + 1;
  if (how == 0) gotrace_wait_begin_at(EXPLORE_PLACE, GOTRACE_BLOCK_SYNC);
  else if (how == 1) gotrace_go_block_at(EXPLORE_PLACE, GOTRACE_BLOCK_SYNC);
  else if (how == 3) gotrace_go_stop_at(EXPLORE_PLACE, GOTRACE_STOP_YIELD);
  else gotrace_wait_on_at(EXPLORE_PLACE, &scheduler.go[explore_dice(2)], GOTRACE_BLOCK_SYNC);
  if (how < 2) explore_give_job(w->runs - 1, EXPLORE_WAITS_THERE);
}

/* Perhaps by a time-out, while the waker is in its call. That comes to an end before the goroutine goes on to wait for
 * something else. */
static void explore_worker_ends_wait(explore_worker *w) {
  int how = w->waits - 1;
  explore_job_state *job = &scheduler.job[w->runs - 1];
  bool late = how < 2 && *job == EXPLORE_TAKEN;
  w->waits = 0;
  if (!late) *job = EXPLORE_TAKEN;
  if (how == 1 || how == 3) gotrace_go_continue(scheduler.go[w->runs - 1]);
  else gotrace_wait_end();
  while (late && (explore_load(&world.order[0], sizeof(uint32_t), EXPLORE_ACQUIRE, 0), *job != EXPLORE_WOKEN))
    explore_yield(0);
  *job = EXPLORE_TAKEN;
}

static void explore_worker_nests(explore_worker *w) {
  explore_level *level = &w->levels[w->depth];
  int job = explore_dice(2) ? explore_take_job(EXPLORE_QUEUED) : -1;
  level->runs = w->runs;
  level->waits = w->waits;
  w->depth++;
  w->waits = 0;
  w->runs = job + 1;
  level->outer = gotrace_nest_begin_at(EXPLORE_PLACE, explore_says("  job", job));
}

static void explore_worker_ends_nest(explore_worker *w) {
  const explore_level *level = &w->levels[--w->depth];
  w->runs = level->runs;
  w->waits = level->waits;
  gotrace_nest_end(level->outer);
}

static void explore_worker_region(int job) {
  static const char *const names[] = {"outer", "middle", "inner"};
  unsigned *open = &scheduler.regions[job];
  bool begin = *open == 0 || (*open < 3 && explore_dice(2));
  const char *name = names[begin ? *open : *open - 1];
  *open += begin ? 1u : 0u - 1u;
  if (begin) gotrace_region_begin_at(EXPLORE_PLACE, GOTRACE_NO_TASK, name, 0);
  else gotrace_region_end_at(EXPLORE_PLACE, GOTRACE_NO_TASK, name, 0);
}

/* A task begins or ends. Others may refer to it at any time. */
static void explore_worker_task(void) {
  unsigned i = explore_dice(EXPLORE_WORKER_TASKS);
  gotrace_task task = scheduler.task[i], parent = scheduler.task[explore_dice(EXPLORE_WORKER_TASKS)];
  if (scheduler.task_taken[i]) return;
  scheduler.task_taken[i] = true;
  if (task.id) gotrace_task_end_at(&world.site[explore.running][1], task);
  task = task.id ? GOTRACE_NO_TASK : gotrace_task_begin_at(&world.site[explore.running][1], "task", 1, parent);
  explore_worker_lock();
  scheduler.task[i] = task;
  scheduler.task_taken[i] = false;
}

/* The collector has one collection and one stop-the-world at a time. */
static void explore_worker_collects(bool stops) {
  if (scheduler.collector_taken) return;
  scheduler.collector_taken = true;
  if (stops) gotrace_stw_begin_at(EXPLORE_PLACE, GOTRACE_STW_GC_MARK_TERM), gotrace_stw_end();
  else EXPLORE_TOGGLE(scheduler.collects, gotrace_gc_begin_at(EXPLORE_PLACE), gotrace_gc_end());
  explore_worker_lock();
  scheduler.collector_taken = false;
}

static void explore_worker_sweeps(const explore_worker *w) {
  bool *sweep = &scheduler.sweep[w->has - 1];
  if (*sweep && explore_dice(2)) gotrace_gc_sweep_span_at(EXPLORE_PLACE, 8192, 4096);
  else EXPLORE_TOGGLE(*sweep, gotrace_gc_sweep_begin(), gotrace_gc_sweep_end());
}

#define EXPLORE_A_TASK scheduler.task[explore_dice(EXPLORE_WORKER_TASKS)]

/* X(what a worker does, how often, in which of its states, code). `w`: the worker; `job`: what it runs. */
#define EXPLORE_WORKER_STEPS(X)                                                                                       \
  X("starts a proc", 6, EXPLORE_IDLES | EXPLORE_NEEDS_PROC, explore_worker_starts_proc(w))                            \
  X("stops its proc", 1, EXPLORE_HAS_PROC, explore_worker_stops_proc(w))                                              \
  X("destroys a proc", 1, EXPLORE_ANY, explore_worker_destroys_proc())                                                \
  X("creates", 3, EXPLORE_HAS_PROC | EXPLORE_RUNS_ANY | EXPLORE_IN_NEST, explore_worker_creates(false))               \
  X("creates a thread", 1, EXPLORE_RUNS_ANY, explore_worker_creates(true))                                            \
  X("starts", 9, EXPLORE_HAS_PROC | EXPLORE_IN_NEST, explore_worker_starts(w, false))                                 \
  X("yields", 1, EXPLORE_RUNS_JOB, explore_worker_gives(w, EXPLORE_QUEUED, GOTRACE_STOP_YIELD))                       \
  X("blocks", 2, EXPLORE_RUNS_JOB, explore_worker_gives(w, EXPLORE_BLOCKED, GOTRACE_BLOCK_SYNC))                      \
  X("blocks for ever", 1, EXPLORE_RUNS_JOB, explore_worker_gives(w, EXPLORE_BLOCKED, GOTRACE_BLOCK_FOREVER))          \
  X("ends", 2, EXPLORE_RUNS_JOB, explore_worker_gives(w, EXPLORE_FREE, 0))                                            \
  X("ends and switches", 1, EXPLORE_RUNS_JOB, explore_worker_switches(w, 0))                                          \
  X("switches", 1, EXPLORE_RUNS_JOB, explore_worker_switches(w, 1))                                                   \
  X("switches for a reason", 1, EXPLORE_RUNS_JOB, explore_worker_switches(w, 2))                                      \
  X("wakes", 3, EXPLORE_ANY,                                                                                          \
    EXPLORE_FOR_A_JOB(EXPLORE_BLOCKED, EXPLORE_QUEUED, gotrace_go_unblock_at(EXPLORE_PLACE, go)))                     \
  X("destroys", 1, EXPLORE_ANY,                                                                                       \
    EXPLORE_FOR_A_JOB(explore_dice(2) ? EXPLORE_BLOCKED : EXPLORE_QUEUED, EXPLORE_FREE,                               \
                      gotrace_go_destroy_at(EXPLORE_PLACE, go)))                                                      \
  X("renames", 1, EXPLORE_ANY, EXPLORE_FOR_A_JOB(EXPLORE_QUEUED, EXPLORE_QUEUED, gotrace_go_rename(go, "renamed")))   \
  X("marks a timer", 1, EXPLORE_ANY, EXPLORE_FOR_A_JOB(EXPLORE_BLOCKED, EXPLORE_BLOCKED, gotrace_go_timer(go)))       \
  X("forgets a key", 1, EXPLORE_ANY,                                                                                  \
    EXPLORE_FOR_A_JOB(EXPLORE_FREE, EXPLORE_FREE, gotrace_go_keyed_free_at(EXPLORE_PLACE, (uint64_t)it)))             \
  X("enters a call", 3, EXPLORE_RUNS_ANY, explore_worker_enters_call(w))                                              \
  X("steals for others", 1, EXPLORE_ANY, explore_worker_steals())                                                     \
  X("starts a proc in its call", 2, EXPLORE_IN_CALL, explore_worker_finds_proc(w))                                    \
  X("runs another in its place", 1, EXPLORE_IS_PLAIN, explore_worker_runs_in_place(w))                                \
  X("frees a key", 1, EXPLORE_ANY,                                                                                    \
    EXPLORE_FOR_A_JOB(explore_dice(2) ? EXPLORE_BLOCKED : EXPLORE_QUEUED, EXPLORE_FREE,                               \
                      gotrace_go_keyed_free_at(EXPLORE_PLACE, (uint64_t)it)))                                         \
  X("is called back", 1, EXPLORE_IDLES, explore_worker_calls_back(w))                                                 \
  X("ends its call", 6, EXPLORE_IN_CALL, explore_worker_returns(w, false))                                            \
  X("ends in its call", 1, EXPLORE_IN_CALL, if (!w->plain && !scheduler.assist[job]) explore_worker_returns(w, true)) \
  X("gives up its proc in its call", 1, EXPLORE_IN_CALL,                                                              \
    if (explore_worker_keeps_proc(w)) explore_worker_stops_proc(w))                                                   \
  X("becomes a goroutine", 1, EXPLORE_IDLES, explore_worker_becomes_plain(w))                                         \
  X("becomes a goroutine that was made", 1, EXPLORE_IDLES, explore_worker_starts(w, true))                            \
  X("is no goroutine any more", 1, EXPLORE_IS_PLAIN, explore_worker_gives(w, EXPLORE_FREE, 0))                        \
  X("begins a wait", 2, EXPLORE_RUNS_ANY, explore_worker_begins_wait(w, (int)explore_dice(4)))                        \
  X("ends a wait", 6, EXPLORE_IN_WAIT, explore_worker_ends_wait(w))                                                   \
  X("wakes a waiter", 2, EXPLORE_ANY,                                                                                 \
    EXPLORE_FOR_A_JOB(EXPLORE_WAITS_THERE, EXPLORE_WOKEN, gotrace_go_unblock_at(EXPLORE_PLACE, go)))                  \
  X("wakes by address", 2, EXPLORE_ANY,                                                                               \
    gotrace_wake_at(EXPLORE_PLACE, &scheduler.go[explore_dice(2)], 1 + explore_dice(2)))                              \
  X("nests", 2, EXPLORE_RUNS_ANY | EXPLORE_IN_WAIT,                                                                   \
    if (w->depth < EXPLORE_WORKER_DEPTH && (!w->waits || w->waits % 2)) explore_worker_nests(w))                      \
  X("ends a nest", 4, EXPLORE_IN_NEST, explore_worker_ends_nest(w))                                                   \
  X("logs", 1, EXPLORE_RUNS_ANY | EXPLORE_IN_CALL, gotrace_log_at(EXPLORE_PLACE, EXPLORE_A_TASK, "kind", "text"))     \
  X("counts", 1, EXPLORE_RUNS_ANY | EXPLORE_IN_CALL, gotrace_count_at(EXPLORE_PLACE, "counter", 1))                   \
  X("labels", 1, EXPLORE_RUNS_ANY | EXPLORE_IN_CALL, gotrace_go_label("label"))                                       \
  X("renames itself", 1, EXPLORE_RUNS_ANY | EXPLORE_IN_CALL, gotrace_go_rename(scheduler.go[job], "itself"))          \
  X("renames its thread", 1, EXPLORE_ANY, gotrace_thread_rename("thread"))                                            \
  X("begins or ends a region", 2, EXPLORE_RUNS_ANY | EXPLORE_IN_CALL, explore_worker_region(job))                     \
  X("begins or ends a task", 2, EXPLORE_RUNS_ANY | EXPLORE_IN_CALL, explore_worker_task())                            \
  X("collects", 1, EXPLORE_ANY, explore_worker_collects(false))                                                       \
  X("stops the world", 1, EXPLORE_RUNS_ANY, explore_worker_collects(true))                                            \
  X("sweeps", 1, EXPLORE_RUNS_JOB | EXPLORE_HAS_PROC, if (w->has) explore_worker_sweeps(w))                           \
  X("scans", 1, EXPLORE_RUNS_JOB | EXPLORE_HAS_PROC,                                                                  \
    if (w->has) EXPLORE_TOGGLE(scheduler.scan[w->has - 1], gotrace_gc_scan_begin(), gotrace_gc_scan_end()))           \
  X("assists", 1, EXPLORE_RUNS_ANY, explore_worker_assists(job))                                                      \
  X("reports the heap", 1, EXPLORE_ANY, gotrace_heap_alloc(4096))                                                     \
  X("reports procs", 1, EXPLORE_ANY, gotrace_procs_change_at(EXPLORE_PLACE, 4))                                       \
  X("is sampled", 1, EXPLORE_ANY, gotrace_cpu_sample(NULL))                                                           \
  X("cuts", 1, EXPLORE_ANY, gotrace_advance())

static const struct explore_worker_step {
  const char *name;
  unsigned weight, states;
} explore_worker_steps[] = {
#define EXPLORE_WORKER_STEP(name, weight, states, code) {name, weight, states},
    EXPLORE_WORKER_STEPS(EXPLORE_WORKER_STEP)
#undef EXPLORE_WORKER_STEP
};

static unsigned explore_worker_state(const explore_worker *w) {
  if (w->calls) return EXPLORE_IN_CALL;
  if (w->waits) return EXPLORE_IN_WAIT;
  if (w->runs) return w->plain && !w->depth ? EXPLORE_IS_PLAIN : EXPLORE_RUNS_JOB;
  if (w->plain) return EXPLORE_IN_NEST;
  if (w->depth) return w->has ? EXPLORE_IN_NEST : EXPLORE_NEEDS_PROC;
  return w->has ? EXPLORE_HAS_PROC : EXPLORE_IDLES;
}

static void explore_worker_does(explore_worker *w, size_t step) {
  int job = w->runs - 1, number = 0;
  explore_says(explore_worker_steps[step].name, job);
#define EXPLORE_WORKER_STEP(name, weight, states, code) \
  if ((size_t)number++ == step) {                       \
    code;                                               \
    return;                                             \
  }
  EXPLORE_WORKER_STEPS(EXPLORE_WORKER_STEP)
#undef EXPLORE_WORKER_STEP
}

static void explore_work_once(void) {
  explore_worker *w = &scheduler.workers[explore.running];
  unsigned state = explore_worker_state(w), total = 0;
  size_t i, chosen = 0;
  for (i = 0; i < sizeof explore_worker_steps / sizeof explore_worker_steps[0]; i++) {
    const struct explore_worker_step *step = &explore_worker_steps[i];
    if (!(step->states & state)) continue;
    total += step->weight;
    if (explore_dice(total) < step->weight) chosen = i;
  }
  explore_worker_does(w, chosen);
}

static void explore_work(unsigned steps) {
  for (steps++; steps; steps--) {
    explore_worker_lock();
    explore_work_once();
  }
}

static void explore_end_thread(void);

/* The worker's thread ends, unless it lacks a proc to end what it does. */
static void explore_retire(void) {
  explore_worker *w = &scheduler.workers[explore.running];
  unsigned state;
  explore_worker_lock();
  while ((state = explore_worker_state(w)) != EXPLORE_IDLES && state != EXPLORE_IS_PLAIN) {
    if (state == EXPLORE_IN_CALL) explore_worker_returns(w, false);
    else if (state == EXPLORE_IN_WAIT) explore_worker_ends_wait(w);
    else if (state == EXPLORE_RUNS_JOB) explore_worker_gives(w, EXPLORE_FREE, 0);
    else if (state == EXPLORE_IN_NEST) explore_worker_ends_nest(w);
    else if (state == EXPLORE_HAS_PROC) explore_worker_stops_proc(w);
    else return;
  }
  if (w->plain && explore_dice(2)) explore_worker_gives(w, EXPLORE_FREE, 0);
  memset(w, 0, sizeof *w); /* a goroutine that ends with the thread keeps its job: nobody would know when it is free */
  explore_end_thread();
}

#endif
