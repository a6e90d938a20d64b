/* worker.h - a scheduler of goroutines that keeps the rules, for tests/explore/explore.c: `work` is a step of a worker.
 *
 * The queue and the states of goroutines and procs are the scheduler's own. Nothing else runs between two operations on
 * memory that the engine knows; but while a worker is in a call, others run. A worker therefore changes them as a
 * scheduler with a lock does: what it takes before the call, what it gives after it.
 */
#ifndef EXPLORE_WORKER_H
#define EXPLORE_WORKER_H

#define EXPLORE_JOBS 12u
#define EXPLORE_WORKER_PROCS 3u
#define EXPLORE_WORKER_SITE (&world.site[explore.running][0])

typedef enum explore_job_state { EXPLORE_FREE, EXPLORE_TAKEN, EXPLORE_QUEUED, EXPLORE_BLOCKED } explore_job_state;

static struct explore_scheduler {
  gotrace_go *go[EXPLORE_JOBS];
  explore_job_state job[EXPLORE_JOBS]; /* TAKEN: a worker runs it, or is about to change it */
  gotrace_proc *proc[EXPLORE_WORKER_PROCS];
  bool proc_taken[EXPLORE_WORKER_PROCS];
  int in_call[EXPLORE_WORKER_PROCS];               /* the worker in a system call that may lose it; 0: none */
  int runs[EXPLORE_THREADS], has[EXPLORE_THREADS]; /* job and proc, plus 1 */
  bool calls[EXPLORE_THREADS];                     /* the worker is in a system call */
  gotrace_task task[EXPLORE_THREADS];
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

static void explore_give_job(int job, explore_job_state state) {
  explore_worker_lock();
  scheduler.job[job] = state;
}

static void explore_worker_stop_proc(int worker) {
  int proc = scheduler.has[worker] - 1;
  if (proc < 0) return;
  scheduler.has[worker] = 0;
  explore_says("stops proc", proc);
  gotrace_proc_stop();
  explore_worker_lock();
  scheduler.proc_taken[proc] = false;
}

static void explore_worker_proc(int worker) {
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
  scheduler.has[worker] = (int)p + 1;
  explore_says("starts proc", (int)p);
  gotrace_proc_start(scheduler.proc[p]);
}

/* The worker ends its system call. */
static void explore_worker_return(int worker) {
  int proc = scheduler.has[worker] - 1, job = scheduler.runs[worker] - 1;
  scheduler.calls[worker] = false;
  if (scheduler.in_call[proc] == worker) {
    scheduler.in_call[proc] = 0;
    explore_says("ends its call", job);
    gotrace_go_syscall_end();
    return;
  }
  scheduler.has[worker] = scheduler.runs[worker] = 0;
  explore_says("ends its call without a proc", job);
  gotrace_go_syscall_end_blocked();
  explore_give_job(job, EXPLORE_QUEUED);
}

static void explore_worker_create(void) {
  int job = explore_take_job(EXPLORE_FREE);
  bool blocked = explore_dice(4) == 0;
  if (job < 0) return;
  explore_says("creates", job);
  scheduler.go[job] = blocked ? gotrace_go_create_blocked_at(EXPLORE_WORKER_SITE, &explore_entries[0])
                              : gotrace_go_create_at(EXPLORE_WORKER_SITE, &explore_entries[1]);
  explore_give_job(job, blocked ? EXPLORE_BLOCKED : EXPLORE_QUEUED);
}

/* The worker stops running its goroutine, which is in this state then. */
static void explore_worker_gives(int worker, explore_job_state state) {
  int job = scheduler.runs[worker] - 1;
  scheduler.runs[worker] = 0;
  explore_says(state == EXPLORE_FREE ? "ends" : state == EXPLORE_QUEUED ? "yields" : "blocks", job);
  if (state == EXPLORE_FREE) gotrace_go_end();
  else if (state == EXPLORE_QUEUED) gotrace_go_stop_at(EXPLORE_WORKER_SITE, GOTRACE_STOP_YIELD);
  else gotrace_go_block_at(EXPLORE_WORKER_SITE, GOTRACE_BLOCK_SYNC);
  explore_give_job(job, state);
}

static void explore_worker_switches(int worker, bool end) {
  int from = scheduler.runs[worker] - 1, to = explore_take_job(EXPLORE_BLOCKED);
  if (to < 0) return;
  scheduler.runs[worker] = to + 1;
  if (end) gotrace_go_switch_end_at(EXPLORE_WORKER_SITE, explore_says("ends and switches to", to));
  else gotrace_go_switch_at(EXPLORE_WORKER_SITE, explore_says("switches to", to));
  explore_give_job(from, end ? EXPLORE_FREE : EXPLORE_BLOCKED);
}

/* A step of what a goroutine does. */
static void explore_worker_step(int worker) {
  int job;
  switch (explore_dice(14)) {
  case 0: explore_worker_gives(worker, EXPLORE_QUEUED); break;
  case 1: explore_worker_gives(worker, EXPLORE_BLOCKED); break;
  case 2: explore_worker_gives(worker, EXPLORE_FREE); break;
  case 3:
  case 4: explore_worker_create(); break;
  case 5:
  case 6:
    if ((job = explore_take_job(EXPLORE_BLOCKED)) < 0) break;
    gotrace_go_unblock_at(EXPLORE_WORKER_SITE, explore_says("wakes", job));
    explore_give_job(job, EXPLORE_QUEUED);
    break;
  case 7: explore_worker_switches(worker, false); break;
  case 8: explore_worker_switches(worker, true); break;
  case 9:
    explore_says("enters a call", scheduler.runs[worker] - 1);
    gotrace_go_syscall_begin_at(EXPLORE_WORKER_SITE);
    scheduler.calls[worker] = true;
    explore_worker_lock();
    scheduler.in_call[scheduler.has[worker] - 1] = worker;
    break;
  case 10: gotrace_log_at(EXPLORE_WORKER_SITE, scheduler.task[worker], "kind", "text"); break;
  case 11:
    if (scheduler.task[worker].id) gotrace_task_end_at(&world.site[worker][1], scheduler.task[worker]);
    scheduler.task[worker] = gotrace_task_begin_at(&world.site[worker][1], "task", 1, GOTRACE_NO_TASK);
    break;
  case 12: gotrace_go_label("label"); break;
  default:
    gotrace_region_begin_at(EXPLORE_WORKER_SITE, GOTRACE_NO_TASK, "region", 1);
    gotrace_region_end_at(EXPLORE_WORKER_SITE, GOTRACE_NO_TASK, "region", 1);
  }
}

static void explore_work_once(void) {
  int worker = explore.running, job;
  if (scheduler.calls[worker]) {
    if (explore_dice(3) == 0) explore_worker_return(worker);
  } else if (!scheduler.has[worker]) {
    explore_worker_proc(worker);
  } else if (scheduler.runs[worker]) {
    explore_worker_step(worker);
  } else if (explore_dice(8) && (job = explore_take_job(EXPLORE_QUEUED)) >= 0) {
    scheduler.runs[worker] = job + 1;
    gotrace_go_start(explore_says("starts", job));
  } else if (explore_dice(3)) {
    explore_worker_create();
  } else {
    explore_worker_stop_proc(worker);
  }
}

static void explore_work(unsigned steps) {
  for (steps++; steps; steps--) {
    explore_worker_lock();
    explore_work_once();
  }
}

static void explore_end_thread(void);

/* The worker's thread ends. */
static void explore_retire(void) {
  int worker = explore.running;
  explore_worker_lock();
  if (scheduler.calls[worker]) explore_worker_return(worker);
  if (scheduler.runs[worker]) explore_worker_gives(worker, EXPLORE_FREE);
  explore_worker_stop_proc(worker);
  explore_end_thread();
}

#endif
