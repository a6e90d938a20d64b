/* Sessions under stress: tracing starts and stops at random, again and again, while threads make all kinds of valid
 * calls on shared goroutines and procs and, in some rounds, invalid ones. Each trace goes to memory and is checked by
 * the decoder.
 *
 *     stress_sessions [-n SESSIONS] [-t THREADS] [-s SEED] [-d SECONDS] [-f FORMAT] [-k legal|rude|both] [-o DIRECTORY]
 *                     [-e EVERY] [-v]
 *
 * Runs SESSIONS (default 2,000), or as many as fit in SECONDS, in rounds of 40. Each round has its own threads, 2 to
 * THREADS (8); their number, roles and choices follow from SEED (1) and the round. Formats take turns unless FORMAT
 * (such as 1.23) is given. A rejected trace, and every EVERY-th (200) of the others, is left in DIRECTORY, as .refused
 * and .trace. -v: what was dropped and repaired, by kind.
 *
 * In a legal round the threads obey the rules for schedulers, and a session also fails if the tracer dropped a call of
 * a correct program. In a rude round, some threads make random calls on random handles, including stale ones. A failed
 * session is reported with its seed and round; `-s SEED -r ROUND` runs the same threads again, though not the same
 * interleaving.
 *
 * A signal holds threads up at random, also in the middle of a call, as the system's scheduler might. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(TEST_THREAD_SANITIZER)
enum { SAMPLES = 0 }; /* gotrace_cpu_sample is not known to ThreadSanitizer as safe in a signal handler */
#else
enum { SAMPLES = 1 };
#endif

enum {
  MOST_THREADS = 32,
  JOBS = 24,
  SLOTS = 6,
  COROUTINES = 6,
  TASKS = 8,
  SHARED = 4,
  MOST_MADE = 1000,
  SESSIONS_A_ROUND = 40
};

#define LOAD(variable) __atomic_load_n(&(variable), __ATOMIC_ACQUIRE)
#define STORE(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELEASE)
#define ADD(variable, value) __atomic_fetch_add(&(variable), value, __ATOMIC_ACQ_REL)

static bool change(int *state, int from, int to) {
  return __atomic_compare_exchange_n(state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* ---------------------------------------------------------------------------------------------- what is shared ---- */

/* What a goroutine has begun; owned by the thread that runs it. */
typedef struct person {
  gotrace_go *go;
  const char *regions[3];
  int depth;
  bool assisting;
} person;

/* A goroutine of the scheduler. A waker changes its state from WAITING to READY and queues it. */
enum { READY, RUNNING, WAITING }; /* WAITING is stored with 4 times the number of waits so far */
typedef struct job {
  person person;
  int state;  /* atomic */
  int waits;  /* owned by the thread that runs it */
  int wakers; /* atomic: threads that may still report waking it; it does not end while there are any */
  struct job *next;
} job;

/* A proc of the scheduler. The thread that takes it from IDLE owns it. In a system call, a thief may take it. */
enum { IDLE, OWNED, IN_SYSCALL }; /* IN_SYSCALL is stored with 4 times the number of thefts so far */
typedef struct slot {
  gotrace_proc *proc;
  int state;     /* atomic */
  int thefts;    /* atomic: number of thefts reported to the tracer */
  bool sweeping; /* belongs to the owner */
} slot;

/* A plain thread that waits, as wakers see it. */
typedef struct waiter {
  gotrace_go *go; /* atomic; NULL: no thread */
  int waiting;    /* atomic */
  int wakers;     /* atomic */
} waiter;

static struct {
  pthread_mutex_t lock; /* protects the queue, the coroutines and the tasks */
  job *first, **last;
  job jobs[JOBS];
  slot slots[SLOTS];
  waiter waiters[MOST_THREADS];
  person coroutines[COROUTINES]; /* suspended; go NULL: none */
  gotrace_task tasks[TASKS];
  int collecting; /* atomic: 0 off, 1 on, 2 being changed */
  int stopping;   /* atomic: a thread stops the world */
  bool rude;
  unsigned manner;            /* calls of rude threads: 0 any, 1 changes of goroutines, 2 changes of procs */
  bool patient;               /* a thread that has lost its proc waits until the thief has reported the steal */
  gotrace_go *shared[SHARED]; /* atomic; used by rude threads */
  gotrace_proc *shared_procs[2];
  gotrace_go *made[MOST_MADE]; /* atomic: all goroutines that rude threads have created, for end_round */
  unsigned made_count;         /* atomic */
  int quit;                    /* atomic */
} all;

typedef struct actor {
  pthread_t thread;
  unsigned index;
  uint64_t random;
  void (*role)(struct actor *);
  slot *slot;
} actor;

static actor actors[MOST_THREADS];
static unsigned actor_count;
static pthread_t main_thread;

static unsigned pick(uint64_t *random, unsigned count) { return test_random(random) % count; }

static const gotrace_location job_entry = {0, "job", "stress_sessions.c", 1};
static const gotrace_location coroutine_entry = {0, "coroutine", "stress_sessions.c", 2};
static const gotrace_location callback_entry = {0, "callback", "stress_sessions.c", 3};
static const gotrace_location rude_entry = {0, "rude", "stress_sessions.c", 4};
static const char *const names[] = {"alpha", "beta", "gamma", "delta", "", "a name that is longer than the others"};

static void spin(uint64_t *random, unsigned most) {
  volatile unsigned count = pick(random, most);
  while (count > 0) count--;
}

/* ----------------------------------------------------------------------------------------------- being held up ---- */

static int held_nanoseconds; /* atomic */

static void hold_up(int signal, siginfo_t *info, void *context) {
  int error = errno, time = LOAD(held_nanoseconds);
  struct timespec duration = {0, time};
  (void)signal, (void)info;
  if (SAMPLES && time % 3 == 0) gotrace_cpu_sample(context);
  if (time % 2) sched_yield();
  else nanosleep(&duration, NULL);
  errno = error;
}

static void hold_up_someone(uint64_t *random) {
  unsigned who = pick(random, actor_count + 1);
  STORE(held_nanoseconds, (int)pick(random, 150000));
  CHECK(pthread_kill(who == actor_count ? main_thread : actors[who].thread, SIGUSR1) == 0);
}

/* -------------------------------------------------------------------------------------------- wakers and queue ---- */

static void push(job *j) {
  j->next = NULL;
  pthread_mutex_lock(&all.lock);
  *all.last = j;
  all.last = &j->next;
  pthread_mutex_unlock(&all.lock);
}

static job *pop(void) {
  job *j;
  pthread_mutex_lock(&all.lock);
  j = all.first;
  if (j && !(all.first = j->next)) all.last = &all.first;
  pthread_mutex_unlock(&all.lock);
  return j;
}

/* Two wakers may both report that they wake a goroutine, but only one of them queues it. */
static void wake_job(uint64_t *random) {
  job *j = &all.jobs[pick(random, JOBS)];
  int state;
  ADD(j->wakers, 1);
  state = LOAD(j->state);
  if ((state & 3) == WAITING) {
    spin(random, 20);
    gotrace_go_unblock(j->person.go);
    spin(random, 20);
    if (change(&j->state, state, READY)) push(j);
  }
  ADD(j->wakers, -1);
}

static void wake_waiter(uint64_t *random) {
  waiter *w = &all.waiters[pick(random, actor_count)];
  gotrace_go *go;
  ADD(w->wakers, 1);
  go = LOAD(w->go);
  if (go && LOAD(w->waiting)) {
    gotrace_go_unblock(go);
    STORE(w->waiting, 0);
  }
  ADD(w->wakers, -1);
}

/* ------------------------------------------------------------------------- what a goroutine does while it runs ---- */

static void end_regions(person *self) {
  for (; self->depth > 0; self->depth--) gotrace_region_end(GOTRACE_NO_TASK, self->regions[self->depth - 1]);
}

static gotrace_task exchange_task(uint64_t *random, gotrace_task task) {
  gotrace_task *place = &all.tasks[pick(random, TASKS)], old;
  pthread_mutex_lock(&all.lock);
  old = *place;
  *place = task;
  pthread_mutex_unlock(&all.lock);
  return old;
}

/* Begins a task and ends another one. Any thread may end a task that it takes from the pool. */
static void annotate_task(uint64_t *random) {
  gotrace_task none = {0}, parent = exchange_task(random, none), task;
  task = gotrace_task_begin(names[pick(random, 6)], parent);
  gotrace_log(task, "task", "has begun");
  gotrace_task_end(parent);
  gotrace_task_end(exchange_task(random, task));
}

static void collect(uint64_t *random) {
  if (change(&all.collecting, 0, 2)) {
    gotrace_gc_begin();
    STORE(all.collecting, 1);
  } else if (change(&all.collecting, 1, 2)) {
    gotrace_gc_end();
    STORE(all.collecting, 0);
  }
  if (pick(random, 2) && change(&all.stopping, 0, 1)) {
    gotrace_stw_begin(pick(random, 2) ? GOTRACE_STW_GC_MARK_TERM : GOTRACE_STW_GC_SWEEP_TERM);
    spin(random, 100);
    gotrace_stw_end();
    STORE(all.stopping, 0);
  }
}

static void end_sweep(slot *s) {
  if (s->sweeping) gotrace_gc_sweep_end();
  s->sweeping = false;
}

static void sweep(uint64_t *random, slot *place) {
  if (!place->sweeping) {
    gotrace_gc_sweep_begin();
    place->sweeping = true;
  } else if (pick(random, 2)) {
    gotrace_gc_sweep_span(8192, pick(random, 8192));
  } else {
    end_sweep(place);
  }
}

static void describe_memory(uint64_t *random) {
  static char heap[1 << 16];
  void *address = heap + 8 * pick(random, sizeof heap / 8);
  switch (pick(random, 4)) {
  case 0: gotrace_span_alloc(address, 8192, 4); break;
  case 1: gotrace_span_free(address); break;
  case 2: gotrace_heap_object_alloc(address, NULL); break;
  default: gotrace_heap_object_free(address);
  }
}

/* Makes a call that neither blocks nor ends the goroutine. `place`: the proc, if it is one of the scheduler's. */
static void annotate(uint64_t *random, person *self, slot *place) {
  switch (pick(random, 20)) {
  case 0:
  case 1:
  case 2:
    if (self->depth < 3) {
      const char *name = names[pick(random, 6)];
      gotrace_region_begin(GOTRACE_NO_TASK, name);
      self->regions[self->depth++] = name;
    }
    break;
  case 3:
  case 4: /* sometimes two regions at once, by ending the outer one */
    if (self->depth > 0) {
      self->depth -= self->depth > 1 && !pick(random, 8) ? 2 : 1;
      gotrace_region_end(GOTRACE_NO_TASK, self->regions[self->depth]);
    }
    break;
  case 5: gotrace_log(GOTRACE_NO_TASK, names[pick(random, 6)], names[pick(random, 6)]); break;
  case 6: gotrace_logf(GOTRACE_NO_TASK, "number", "%u", pick(random, 100000)); break;
  case 7: annotate_task(random); break;
  case 8: gotrace_heap_alloc(pick(random, 1u << 30)); break;
  case 9: gotrace_heap_goal(pick(random, 1u << 30)); break;
  case 10: gotrace_go_label(pick(random, 3) ? names[pick(random, 6)] : NULL); break;
  case 11:
    if (!pick(random, 8)) gotrace_procs_change(1 + pick(random, SLOTS));
    break;
  case 12: collect(random); break;
  case 13:
    if (place) sweep(random, place);
    break;
  case 14:
    if (self->assisting) gotrace_gc_mark_assist_end();
    else gotrace_gc_mark_assist_begin();
    self->assisting = !self->assisting;
    break;
  case 15:
    gotrace_gc_scan_begin();
    spin(random, 20);
    gotrace_gc_scan_end();
    break;
  case 16: describe_memory(random); break;
  case 17: wake_job(random); break;
  case 18: wake_waiter(random); break;
  default:
    if (!pick(random, 16)) gotrace_advance();
    else CHECK(gotrace_go_self() == self->go || all.rude);
  }
}

static void annotate_some(uint64_t *random, person *self, slot *place) {
  unsigned count = pick(random, 4);
  while (count-- > 0) annotate(random, self, place);
}

/* Switches to a coroutine and back: one from the pool, where any thread may have left it, or a new one. */
static void resume_coroutine(uint64_t *random, person *self, slot *place) {
  person *from = &all.coroutines[pick(random, COROUTINES)], coroutine;
  pthread_mutex_lock(&all.lock);
  coroutine = *from;
  from->go = NULL;
  pthread_mutex_unlock(&all.lock);
  if (!coroutine.go) {
    memset(&coroutine, 0, sizeof coroutine);
    coroutine.go = gotrace_go_create_blocked(&coroutine_entry);
  }
  gotrace_go_switch(coroutine.go);
  for (;;) {
    annotate_some(random, &coroutine, place);
    if (pick(random, 4)) break;
    gotrace_go_switch(self->go); /* back and forth */
    annotate_some(random, self, place);
    gotrace_go_switch(coroutine.go);
  }
  if (!pick(random, 4)) {
    end_regions(&coroutine);
    if (coroutine.assisting) gotrace_gc_mark_assist_end();
    gotrace_go_switch_end(self->go);
    return;
  }
  gotrace_go_switch(self->go);
  pthread_mutex_lock(&all.lock);
  if (!from->go) {
    *from = coroutine;
    coroutine.go = NULL;
  }
  pthread_mutex_unlock(&all.lock);
  if (!coroutine.go) return;
  gotrace_go_switch(coroutine.go); /* its place in the pool is taken: it ends */
  if (coroutine.assisting) gotrace_gc_mark_assist_end();
  gotrace_go_switch_end(self->go);
}

/* -------------------------------------------------------------------------------------------- an M:N scheduler ---- */

static bool take_slot(actor *a) {
  unsigned first = pick(&a->random, SLOTS), i;
  for (i = 0; i < SLOTS; i++) {
    slot *s = &all.slots[(first + i) % SLOTS];
    if (!change(&s->state, IDLE, OWNED)) continue;
    a->slot = s;
    return true;
  }
  return false;
}

static void give_slot(actor *a) {
  end_sweep(a->slot);
  gotrace_proc_stop();
  STORE(a->slot->state, IDLE);
  a->slot = NULL;
}

/* Steals a proc from a thread in a system call. Unless threads are patient, that thread may return, find its proc lost
 * and report that before the thief reports the steal. */
static void steal(uint64_t *random) {
  slot *s = &all.slots[pick(random, SLOTS)];
  int state = LOAD(s->state);
  if ((state & 3) != IN_SYSCALL || !change(&s->state, state, OWNED)) return;
  spin(random, 200);
  gotrace_proc_steal(s->proc);
  ADD(s->thefts, 1);
  STORE(s->state, IDLE);
}

/* Makes a system call. False if the goroutine has lost its proc and is runnable. */
static bool call_system(actor *a) {
  slot *s = a->slot;
  int thefts = LOAD(s->thefts), state = thefts * 4 + IN_SYSCALL;
  end_sweep(s);
  gotrace_go_syscall_begin();
  if (!pick(&a->random, 8)) { /* a long call: the thread gives up its proc at once */
    gotrace_proc_stop();
    STORE(s->state, IDLE);
    a->slot = NULL;
    spin(&a->random, 500);
    gotrace_go_syscall_end_blocked();
    return false;
  }
  STORE(s->state, state);
  if (pick(&a->random, 4)) spin(&a->random, 500);
  else sched_yield();
  if (change(&s->state, state, OWNED)) {
    gotrace_go_syscall_end();
    return true;
  }
  while (all.patient && LOAD(s->thefts) == thefts) sched_yield();
  a->slot = NULL;
  gotrace_go_syscall_end_blocked();
  return false;
}

/* Runs a job until it leaves the proc or the thread loses the proc. */
static void run_job(actor *a, job *j) {
  uint64_t *random = &a->random;
  STORE(j->state, RUNNING);
  gotrace_go_start(j->person.go);
  for (;;) {
    annotate_some(random, &j->person, a->slot);
    switch (pick(random, 10)) {
    case 0:
      if (!call_system(a)) {
        push(j);
        return;
      }
      break;
    case 1:
    case 2: resume_coroutine(random, &j->person, a->slot); break;
    case 3:
    case 4:
      gotrace_go_stop(pick(random, 2) ? GOTRACE_STOP_YIELD : GOTRACE_STOP_PREEMPTED);
      push(j);
      return;
    case 5: /* the goroutine ends, and a new one takes its place */
      if (LOAD(j->wakers)) break;
      end_regions(&j->person);
      if (j->person.assisting) gotrace_gc_mark_assist_end();
      j->person.assisting = false;
      if (pick(random, 2)) { /* created by the goroutine that ends, or by none */
        gotrace_go *next = gotrace_go_create(&job_entry);
        gotrace_go_end();
        STORE(j->person.go, next);
      } else {
        gotrace_go_end();
        STORE(j->person.go, pick(random, 2) ? gotrace_go_create(&job_entry) : gotrace_go_create_blocked(&job_entry));
        gotrace_go_unblock(j->person.go);
      }
      push(j);
      return;
    default:
      gotrace_go_block(pick(random, GOTRACE_BLOCK_REASON_COUNT));
      STORE(j->state, ++j->waits * 4 + WAITING);
      return;
    }
  }
}

static void worker(actor *a) {
  while (!LOAD(all.quit)) {
    job *j;
    if (!a->slot) {
      if (!take_slot(a)) {
        steal(&a->random);
        sched_yield();
        continue;
      }
      gotrace_proc_start(a->slot->proc);
    }
    j = pop();
    if (j) {
      run_job(a, j);
    } else { /* wakes others, as a timer would */
      wake_job(&a->random);
      wake_waiter(&a->random);
    }
    if (!pick(&a->random, 4)) steal(&a->random);
    if (a->slot && !pick(&a->random, j ? 32 : 8)) {
      give_slot(a);
      sched_yield();
    }
  }
  if (a->slot) give_slot(a);
}

/* Like Go's sysmon: a thread without a proc that steals and wakes. */
static void monitor(actor *a) {
  while (!LOAD(all.quit)) {
    steal(&a->random);
    wake_job(&a->random);
    wake_waiter(&a->random);
    if (!pick(&a->random, 64)) gotrace_heap_alloc(pick(&a->random, 1u << 20));
    if (!pick(&a->random, 16)) sched_yield();
  }
}

/* ----------------------------------------------------------------------------------------------- plain threads ---- */

/* Waits with a time-out. */
static void wait_for_waker(uint64_t *random, waiter *w) {
  unsigned patience = pick(random, 40);
  gotrace_wait_begin(pick(random, GOTRACE_BLOCK_REASON_COUNT));
  STORE(w->waiting, 1);
  while (patience-- > 0 && LOAD(w->waiting)) spin(random, 60);
  gotrace_wait_end();
  STORE(w->waiting, 0);
}

static void live_as_plain_thread(actor *a, unsigned steps) {
  waiter *w = &all.waiters[a->index];
  person self;
  memset(&self, 0, sizeof self);
  if (pick(&a->random, 2)) gotrace_thread_begin(pick(&a->random, 2) ? "plain" : NULL);
  self.go = gotrace_go_self();
  STORE(w->go, self.go);
  while (steps-- > 0 && !LOAD(all.quit)) {
    switch (pick(&a->random, 8)) {
    case 0:
    case 1: wait_for_waker(&a->random, w); break;
    case 2:
      gotrace_go_syscall_begin();
      spin(&a->random, 300);
      gotrace_go_syscall_end();
      break;
    case 3:
      GOTRACE_REGION("scope") annotate(&a->random, &self, NULL);
      break;
    case 4: wake_waiter(&a->random); break;
    default: annotate_some(&a->random, &self, NULL);
    }
    if (!pick(&a->random, 64)) sched_yield();
  }
  STORE(w->go, NULL);
  while (LOAD(w->wakers)) sched_yield();
  end_regions(&self);
  if (self.assisting) gotrace_gc_mark_assist_end();
}

static void plain(actor *a) { live_as_plain_thread(a, UINT32_MAX); }

/* A callback from foreign code: a goroutine that exists only for this call, on a borrowed proc. */
static void call_back(actor *a) {
  person self;
  memset(&self, 0, sizeof self);
  self.go = gotrace_go_create_syscall(&callback_entry);
  while (!take_slot(a)) {
    if (LOAD(all.quit)) {
      gotrace_go_end_in_syscall();
      return;
    }
    sched_yield();
  }
  gotrace_go_syscall_end_blocked();
  gotrace_proc_start(a->slot->proc);
  gotrace_go_start(self.go);
  annotate_some(&a->random, &self, a->slot);
  end_sweep(a->slot);
  end_regions(&self);
  if (self.assisting) gotrace_gc_mark_assist_end();
  gotrace_go_syscall_begin();
  if (pick(&a->random, 2)) gotrace_proc_stop();
  gotrace_go_end_in_syscall();
  STORE(a->slot->state, IDLE);
  a->slot = NULL;
}

static void *live_shortly(void *argument) {
  actor *a = argument;
  setpriority(PRIO_PROCESS, 0, 10);
  if (pick(&a->random, 3)) {
    live_as_plain_thread(a, 1 + pick(&a->random, 8));
    if (pick(&a->random, 2)) gotrace_thread_end();
  } else {
    unsigned count = 1 + pick(&a->random, 3);
    while (count-- > 0) call_back(a);
  }
  return NULL;
}

/* Threads that come and go. */
static void parent(actor *a) {
  while (!LOAD(all.quit)) {
    pthread_t child;
    CHECK(pthread_create(&child, NULL, live_shortly, a) == 0);
    CHECK(pthread_join(child, NULL) == 0);
  }
}

/* ------------------------------------------------------------------------------------------------ rude threads ---- */

static void share(gotrace_go **place, gotrace_go *go) {
  unsigned i = ADD(all.made_count, 1);
  if (i < MOST_MADE) all.made[i] = go;
  STORE(*place, go);
}

static gotrace_go *any_goroutine(uint64_t *random) {
  switch (pick(random, 8)) {
  case 0: return LOAD(all.jobs[pick(random, JOBS)].person.go);
  case 1: return LOAD(all.waiters[pick(random, actor_count)].go);
  default: return LOAD(all.shared[pick(random, all.manner ? 2 : SHARED)]);
  }
}

static gotrace_proc *any_proc(uint64_t *random) {
  return pick(random, 4) ? all.shared_procs[pick(random, 2)] : all.slots[pick(random, SLOTS)].proc;
}

/* Makes any call, on any handle, at any time. */
static void rude(actor *a) {
  uint64_t *random = &a->random;
  person self;
  memset(&self, 0, sizeof self);
  while (!LOAD(all.quit)) {
    gotrace_go **place = &all.shared[pick(random, SHARED)];
    switch (all.manner == 0 ? pick(random, 32) : all.manner == 1 ? pick(random, 14) : 15 + pick(random, 9)) {
    case 0:
    case 1:
    case 2:
    case 3: gotrace_go_start(any_goroutine(random)); break;
    case 4:
    case 5:
    case 6: gotrace_go_block(pick(random, GOTRACE_BLOCK_REASON_COUNT)); break;
    case 7:
    case 8:
    case 9: gotrace_go_unblock(any_goroutine(random)); break;
    case 10: gotrace_go_stop(GOTRACE_STOP_YIELD); break;
    case 11: gotrace_go_end(); break;
    case 12:
    case 13: gotrace_go_switch(any_goroutine(random)); break;
    case 14: gotrace_go_switch_end(any_goroutine(random)); break;
    case 15: gotrace_go_syscall_begin(); break;
    case 16: gotrace_go_syscall_end(); break;
    case 17: gotrace_go_syscall_end_blocked(); break;
    case 18:
      if (!pick(random, 4)) gotrace_go_end_in_syscall();
      break;
    case 19:
    case 20: gotrace_proc_start(any_proc(random)); break;
    case 21: gotrace_proc_stop(); break;
    case 22:
    case 23: gotrace_proc_steal(any_proc(random)); break;
    case 24: gotrace_wait_begin(GOTRACE_BLOCK_SYNC); break;
    case 25: gotrace_wait_end(); break;
    case 26:
      if (LOAD(all.made_count) >= MOST_MADE - 64) break;
      share(place, gotrace_go_create(&rude_entry));
      break;
    case 27:
      if (LOAD(all.made_count) >= MOST_MADE - 64) break;
      share(place, gotrace_go_create_blocked(&rude_entry));
      break;
    case 28:
      if (!pick(random, 16)) gotrace_thread_end();
      if (LOAD(all.made_count) < MOST_MADE - 64 && !pick(random, 16))
        share(place, gotrace_go_create_syscall(&rude_entry));
      break;
    default: annotate(random, &self, NULL);
    }
    if (!pick(random, 64)) sched_yield();
  }
}

/* ------------------------------------------------------------------------------------------------------ rounds ---- */

static void *act(void *argument) {
  actor *a = argument;
  setpriority(PRIO_PROCESS, 0, 10); /* per thread on Linux: lets the main thread reach stop soon */
  a->role(a);
  return NULL;
}

static void begin_round(uint64_t seed, bool is_rude, unsigned most_threads) {
  static void (*const roles[])(actor *) = {worker, plain, worker, parent, plain, monitor};
  uint64_t random = seed;
  unsigned i, first = pick(&random, 6);
  memset(&all, 0, sizeof all);
  CHECK(pthread_mutex_init(&all.lock, NULL) == 0);
  all.last = &all.first;
  all.rude = is_rude;
  all.patient = pick(&random, 2);
  all.manner = pick(&random, 3);
  for (i = 0; i < SLOTS; i++) CHECK((all.slots[i].proc = gotrace_proc_create()) != NULL);
  for (i = 0; i < JOBS; i++) {
    CHECK((all.jobs[i].person.go = gotrace_go_create(&job_entry)) != NULL);
    push(&all.jobs[i]);
  }
  for (i = 0; is_rude && i < SHARED; i++) share(&all.shared[i], gotrace_go_create(&rude_entry));
  for (i = 0; is_rude && i < 2; i++) all.shared_procs[i] = gotrace_proc_create();
  actor_count = 2 + pick(&random, most_threads - 1);
  for (i = 0; i < actor_count; i++) {
    actor *a = &actors[i];
    memset(a, 0, sizeof *a);
    a->index = i;
    a->random = seed * 64 + i;
    test_random(&a->random);
    a->role = is_rude && i % 2 == 0 ? rude : roles[(first + i) % 6];
  }
  for (i = 0; i < actor_count; i++) CHECK(pthread_create(&actors[i].thread, NULL, act, &actors[i]) == 0);
}

/* Ends all goroutines and procs, so that all rounds begin in the same state. */
static void end_round(void) {
  gotrace_proc *proc;
  unsigned i;
  STORE(all.quit, 1);
  for (i = 0; i < actor_count; i++) CHECK(pthread_join(actors[i].thread, NULL) == 0);
  CHECK((proc = gotrace_proc_create()) != NULL);
  gotrace_proc_start(proc);
  for (i = 0; i < JOBS + COROUTINES; i++) {
    person *p = i < JOBS ? &all.jobs[i].person : &all.coroutines[i - JOBS];
    if (!p->go) continue;
    gotrace_go_start(p->go); /* wakes it if need be */
    if (p->assisting) gotrace_gc_mark_assist_end();
    gotrace_go_end();
  }
  for (i = 0; i < all.made_count && i < MOST_MADE; i++) {
    gotrace_go_start(all.made[i]);
    gotrace_go_end();
  }
  if (all.collecting) gotrace_gc_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  for (i = 0; i < SLOTS; i++) gotrace_proc_destroy(all.slots[i].proc);
  for (i = 0; all.rude && i < 2; i++) gotrace_proc_destroy(all.shared_procs[i]);
  for (i = 0; i < TASKS; i++) gotrace_task_end(all.tasks[i]);
  CHECK(pthread_mutex_destroy(&all.lock) == 0);
}

/* ----------------------------------------------------------------------------------------------------- judging ---- */

typedef struct kind {
  char text[160]; /* what is wrong, with # for numbers */
  char example[200];
  long times, first;
  uint64_t round;
  bool rude, patient;
} kind;

static kind kinds[100];
static size_t kind_count;
static const char *directory;
static long refused, kept_refused;
static uint64_t seed = 1, round_number;
static gotrace_format format;
static long session;
static uint64_t problems[2][GOTRACE_PROBLEM_COUNT], events_seen, bytes_seen;

static void keep(const test_bytes *bytes, const char *suffix) {
  char path[600];
  FILE *file;
  snprintf(path, sizeof path, "%s/session-%ld-1.%d.%s", directory, session, (int)format % 1000, suffix);
  CHECK((file = fopen(path, "wb")) != NULL);
  CHECK(fwrite(bytes->data, 1, bytes->size, file) == bytes->size);
  CHECK(fclose(file) == 0);
}

/* Counts a failure with others of its kind: the same text except for numbers, in the same family of formats. */
static void wrong(const test_bytes *bytes, const char *what, const char *text) {
  char general[160];
  size_t i, n = (size_t)snprintf(general, sizeof general, "v%d %s: ", format < GOTRACE_GO_1_22 ? 1 : 2, what);
  for (i = 0; text[i] && n + 1 < sizeof general; i++) {
    bool digit = text[i] >= '0' && text[i] <= '9';
    if (!digit) general[n++] = text[i];
    else if (general[n - 1] != '#') general[n++] = '#';
  }
  general[n] = 0;
  for (i = 0; i < kind_count; i++)
    if (strcmp(kinds[i].text, general) == 0 && kinds[i].rude == all.rude && kinds[i].patient == all.patient) break;
  if (i == kind_count && kind_count < sizeof kinds / sizeof *kinds) {
    kinds[i].first = session;
    kinds[i].round = round_number;
    kinds[i].rude = all.rude;
    kinds[i].patient = all.patient;
    snprintf(kinds[i].text, sizeof kinds[i].text, "%s", general);
    snprintf(kinds[i].example, sizeof kinds[i].example, "%s", text);
    kind_count++;
  }
  if (i < kind_count) {
    kinds[i].times++;
    if (directory && kinds[i].times <= 3 && bytes && kept_refused++ < 200) keep(bytes, "refused");
  }
}

/* True if the decoder accepts the trace; otherwise counts the failure. */
static bool judge(const test_bytes *bytes, size_t size, const char *what) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder = NULL;
  gotrace_event event;
  gotrace_result result;
  memset(&options, 0, sizeof options);
  options.data = bytes->data;
  options.size = size;
  result = gotrace_decoder_open(&decoder, &options);
  while (result == GOTRACE_OK && (result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK) events_seen++;
  if (result != GOTRACE_END_OF_TRACE)
    wrong(bytes, what, decoder ? gotrace_decoder_error(decoder)->message : "no memory");
  gotrace_decoder_close(decoder);
  return result == GOTRACE_END_OF_TRACE;
}

/* A second opinion by the tests' own checkers, which put events of equal time in any order. */
static bool judge_again(const test_bytes *bytes) {
  bool ok;
  if (test_is_v2(bytes->data, bytes->size)) {
    check_v2_trace t;
    ok = check_v2(&t, bytes->data, bytes->size, (uint64_t)session);
    if (!ok) wrong(bytes, "second opinion", t.error);
    check_v2_free(&t);
  } else {
    check_v1_trace t;
    ok = check_v1(&t, bytes->data, bytes->size, CHECK_V1_STRICT, (uint64_t)session);
    if (!ok) wrong(bytes, "second opinion", t.error);
    check_v1_free(&t);
  }
  return ok;
}

/* Whether the tracer may drop or repair this although no rule was broken: the second report of two wakers, regions that
 * began while tracing was off, and events without room because of a memory limit. */
static bool may_happen(int problem) {
  switch (problem) {
  case GOTRACE_PROBLEM_UNBLOCK_NOT_WAITING:
  case GOTRACE_PROBLEM_REGION_NONE:
  case GOTRACE_PROBLEM_REGION_ORDER:
  case GOTRACE_PROBLEM_TABLE_FULL:
  case GOTRACE_PROBLEM_CREATE_NO_PROC:
  case GOTRACE_PROBLEM_SAMPLE_LOST: return true;
  default: return strcmp(gotrace_problem_outcome((gotrace_problem)problem), "left out") == 0;
  }
}

/* Whether the trace contains exactly the events that the tracer counted. */
static bool judge_counts(const test_bytes *bytes) {
  gotrace_stats stats;
  uint64_t found[256] = {0};
  int number;
  gotrace_get_stats(&stats);
  test_decode(bytes->data, bytes->size, true, found, __FILE__, __LINE__);
  for (number = 0; number < 256; number++) {
    const gotrace_event_spec *spec = gotrace_find_event_spec(format, number);
    char text[100];
    if (found[number] == stats.kinds[number]) continue;
    snprintf(text, sizeof text, "%s: %llu counted, %llu in the trace", spec ? spec->name : "?",
             (unsigned long long)stats.kinds[number], (unsigned long long)found[number]);
    wrong(bytes, "counts", text);
    return false;
  }
  return true;
}

static bool judge_figures(const test_bytes *bytes) {
  gotrace_stats stats;
  int problem;
  bool ok = true;
  gotrace_get_stats(&stats);
  for (problem = 0; problem < GOTRACE_PROBLEM_COUNT; problem++) {
    problems[all.rude][problem] += stats.problems[problem];
    if (!stats.problems[problem] || all.rude || may_happen(problem)) continue;
    wrong(bytes, gotrace_problem_outcome((gotrace_problem)problem), gotrace_problem_string((gotrace_problem)problem));
    ok = false;
  }
  return ok;
}

/* ---------------------------------------------------------------------------------------------------- sessions ---- */

typedef struct sink {
  test_bytes bytes;
  size_t fails_at; /* 0: never */
} sink;

static bool receive(void *context, const void *data, size_t size) {
  sink *s = context;
  if (s->fails_at && s->bytes.size + size > s->fails_at) return false;
  test_append(&s->bytes, data, size);
  return true;
}

static int unwind(void *context, uintptr_t *pcs, int most) {
  (void)context, (void)most;
  pcs[0] = (uintptr_t)unwind;
  pcs[1] = (uintptr_t)receive;
  return 2;
}

static void rest(uint64_t *random) {
  struct timespec time = {0, 0};
  time.tv_nsec = 1000 * (long)pick(random, 450);
  nanosleep(&time, NULL);
}

/* What gotrace_advance may return in a session with these options. */
static bool may_return(gotrace_result result, const gotrace_options *options, const sink *s) {
  switch (result) {
  case GOTRACE_OK:
  case GOTRACE_ERROR_NOT_RUNNING: return true;
  case GOTRACE_LIMIT_REACHED: return options->size_limit || options->memory_limit;
  case GOTRACE_ERROR_OUT_OF_MEMORY: return options->memory_limit != 0;
  case GOTRACE_ERROR_SINK: return s->fails_at != 0;
  default: return false;
  }
}

static bool one_session(uint64_t *random, sink *s) {
  gotrace_options options;
  gotrace_result result;
  gotrace_stats middle;
  bool ok, flight = format >= GOTRACE_GO_1_22 && !pick(random, 5), read = !flight && !pick(random, 8);
  unsigned steps = pick(random, 3), hold = pick(random, 4);
  memset(&options, 0, sizeof options);
  memset(&middle, 0, sizeof middle);
  s->bytes.size = s->fails_at = 0;
  options.format = format;
  options.context = s;
  options.unwind = unwind;
  if (!pick(random, 8)) options.stacks = (gotrace_stacks)pick(random, 4);
  if (!pick(random, 8)) options.size_limit = 1 + pick(random, 200000);
  if (!pick(random, 8)) options.cut_bytes = 1 + pick(random, 40000);
  if (!pick(random, 8)) options.cut_milliseconds = 1;
  if (!pick(random, 8)) options.memory_limit = 1 << 20;
  if (!pick(random, 4)) options.alloc_events = true;
  if (!read && !flight && !pick(random, 4)) options.on_limit = GOTRACE_LIMIT_BLOCK;
  if (!read && !flight && !pick(random, 16)) s->fails_at = 1 + pick(random, 60000);
  if (flight) options.flight_milliseconds = 1 + pick(random, 3), options.flight_bytes = 2u << 20;
  if (!read) options.write = receive;
  CHECK_EQUAL(flight ? gotrace_flight_start(&options) : gotrace_start(&options), GOTRACE_OK);
  while (steps-- > 0) {
    rest(random);
    if (pick(random, 2)) hold_up_someone(random);
    result = pick(random, 2) ? gotrace_advance() : GOTRACE_OK;
    CHECK(may_return(result, &options, s));
  }
  rest(random);
  while (hold-- > 0) hold_up_someone(random);
  if (flight) {
    unsigned snapshots = 1 + !pick(random, 4);
    while (snapshots-- > 0) {
      s->bytes.size = 0;
      result = gotrace_flight_snapshot(receive, s);
      if (result != GOTRACE_OK && result != GOTRACE_ERROR_NOT_RUNNING)
        wrong(NULL, "snapshot", gotrace_result_string(result));
    }
    CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
    bytes_seen += s->bytes.size;
    ok = judge(&s->bytes, s->bytes.size, "refused, snapshot");
    return judge_figures(&s->bytes) && ok;
  }
  gotrace_get_stats(&middle);
  if (read) {
    CHECK(gotrace_end() == GOTRACE_OK || options.size_limit || options.memory_limit);
    test_read_to_end(&s->bytes);
  } else {
    result = gotrace_stop();
    CHECK(result == GOTRACE_OK || result == GOTRACE_LIMIT_REACHED || (result == GOTRACE_ERROR_SINK && s->fails_at));
    if (result == GOTRACE_ERROR_SINK) {
      gotrace_get_stats(&middle);
      return !middle.consistent_bytes || judge(&s->bytes, (size_t)middle.consistent_bytes, "refused, sink failed");
    }
  }
  bytes_seen += s->bytes.size;
  ok = judge(&s->bytes, s->bytes.size, options.size_limit ? "refused, size limit" : "refused");
  if (ok) ok = judge_counts(&s->bytes);
  if (ok && middle.consistent_bytes > 16)
    ok = judge(&s->bytes, (size_t)middle.consistent_bytes, "refused, up to a cut");
  if (ok && session % 16 == 0) ok = judge_again(&s->bytes);
  return judge_figures(&s->bytes) && ok;
}

static void hangs(int signal) {
  char text[200];
  int size = snprintf(text, sizeof text, "FAILED session %ld, format 1.%d, seed %llu, round %llu, hangs\n", session,
                      (int)format % 1000, (unsigned long long)seed, (unsigned long long)round_number);
  (void)signal;
  if (write(STDOUT_FILENO, text, (size_t)size) < 0) _exit(3);
  abort();
}

int main(int argc, char **argv) {
  long sessions = 2000, every = 200, done = 0;
  unsigned threads = 8, seconds = 0;
  int option, only = 0, which = 2;
  bool verbose = false;
  sink s = {{0}, 0};
  struct sigaction action;
  time_t began = time(NULL);
  size_t i;
  while ((option = getopt(argc, argv, "n:t:s:r:d:f:k:o:e:v")) != -1) {
    switch (option) {
    case 'n': sessions = atol(optarg); break;
    case 't': threads = (unsigned)atoi(optarg); break;
    case 's': seed = strtoull(optarg, NULL, 10); break;
    case 'r': round_number = strtoull(optarg, NULL, 10); break;
    case 'd': seconds = (unsigned)atoi(optarg); break;
    case 'f': only = 1000 + atoi(strchr(optarg, '.') ? strchr(optarg, '.') + 1 : ""); break;
    case 'k': which = *optarg == 'l' ? 0 : *optarg == 'r' ? 1 : 2; break;
    case 'o': directory = optarg; break;
    case 'e': every = atol(optarg); break;
    case 'v': verbose = true; break;
    default: return 2;
    }
  }
  if (threads < 2 || threads > MOST_THREADS) return 2;
  main_thread = pthread_self();
  memset(&action, 0, sizeof action);
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  action.sa_sigaction = hold_up;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  signal(SIGALRM, hangs);
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (; seconds ? time(NULL) - began < (time_t)seconds : session < sessions; round_number++) {
    uint64_t random = seed * 1000003 + round_number;
    bool is_rude = which == 2 ? round_number % 4 == 3 : which == 1;
    long end = session + SESSIONS_A_ROUND;
    test_random(&random);
    alarm(300);
    begin_round(random, is_rude, threads);
    for (; session < end && (seconds || session < sessions); session++) {
      format = only ? (gotrace_format)only : test_formats[(size_t)session % TEST_FORMATS];
      alarm(300);
      done++;
      if (!one_session(&random, &s)) refused++;
      else if (directory && every && session % every == 0 && !s.fails_at) keep(&s.bytes, "trace");
    }
    end_round();
  }
  alarm(0);
  for (i = 0; i < kind_count; i++)
    printf("FAILED %s, %ld times, first in session %ld (seed %llu, round %llu, %s): %s\n", kinds[i].text,
           kinds[i].times, kinds[i].first, (unsigned long long)seed, (unsigned long long)kinds[i].round,
           kinds[i].rude      ? "rude"
           : kinds[i].patient ? "legal, patient"
                              : "legal",
           kinds[i].example);
  for (option = 0; verbose && option < 2 * GOTRACE_PROBLEM_COUNT; option++) {
    int problem = option % GOTRACE_PROBLEM_COUNT, rude_ones = option / GOTRACE_PROBLEM_COUNT;
    if (problems[rude_ones][problem])
      printf("%s %9llu %s: %s\n", rude_ones ? "rude " : "legal", (unsigned long long)problems[rude_ones][problem],
             gotrace_problem_outcome((gotrace_problem)problem), gotrace_problem_string((gotrace_problem)problem));
  }
  printf("%llu events, %llu bytes, %ld s\n", (unsigned long long)events_seen, (unsigned long long)bytes_seen,
         (long)(time(NULL) - began));
  printf("%ld passed, %ld failed, 0 skipped\n", done - refused, refused);
  test_free(&s.bytes);
  return refused != 0 || kind_count != 0;
}
