/* A work-stealing scheduler, written for this test. It has more threads than procs: a thread in a system call may lose
 * its proc, with the jobs queued there, to one that has none. A job's wait ends by a waker or by time, whichever comes
 * first. Plain threads place orders and wait for each for a limited time, again and again. Ended jobs' records are used
 * again. The trace's counts must be the program's own. */
#include "story.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, PROCS = 3, CUSTOMERS = 2, ORDERS = 150, DEPTH = 4, STEPS = 8, PATIENCE = 300, TASKS = 4 };

#define LOAD(variable) __atomic_load_n(&(variable), __ATOMIC_ACQUIRE)
#define STORE(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELEASE)

static bool change(int *state, int from, int to) {
  return __atomic_compare_exchange_n(state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static struct { /* atomic: what the trace must tell */
  long jobs, blocks, wakes, yields, lost, calls, waits, notices, tasks, steps;
} made;
static long timeouts, steals; /* atomic */
static void count(long *counter) { __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED); }

/* ----------------------------------------------------------------------------------------- jobs and orders ---- */

typedef struct order {
  pthread_mutex_t lock; /* protects: */
  pthread_cond_t done;
  int left;            /* jobs that have not ended */
  gotrace_go *waiting; /* the customer, or NULL */
} order;

typedef struct job {
  struct job *next;
  gotrace_go *go;
  order *of;
  uint64_t random, due; /* due: nanoseconds, while it waits */
  int depth, steps;
} job;

typedef struct jobs {
  pthread_mutex_t lock; /* protects: */
  job *first;
} jobs;

static void push(jobs *to, job *j) {
  pthread_mutex_lock(&to->lock);
  j->next = to->first;
  to->first = j;
  pthread_mutex_unlock(&to->lock);
}

/* The first one that is due by then; NULL: none. */
static job *take(jobs *from, uint64_t by) {
  job **place, *j;
  pthread_mutex_lock(&from->lock);
  for (place = &from->first; (j = *place) && j->due > by;) place = &j->next;
  if (j) *place = j->next;
  pthread_mutex_unlock(&from->lock);
  return j;
}

enum { FREE, TAKEN, IN_CALL }; /* IN_CALL is stored with 4 times the number of calls so far */
typedef struct proc {
  gotrace_proc *traced;
  int state; /* atomic */
  int calls; /* the owner's */
  jobs ready;
} proc;

static proc procs[PROCS];
static jobs ready, waiting; /* those of no proc; those that wait */
static int closing;         /* atomic */
static pthread_mutex_t task_lock = PTHREAD_MUTEX_INITIALIZER;
static gotrace_task tasks[TASKS];

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void make(jobs *where, order *of, int depth, uint64_t random) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("job");
  job *j = (job *)calloc(1, sizeof *j);
  CHECK(j != NULL);
  pthread_mutex_lock(&of->lock);
  of->left++;
  pthread_mutex_unlock(&of->lock);
  j->of = of;
  j->depth = depth;
  j->steps = STEPS;
  j->random = random;
  j->go = gotrace_go_create(&entry); /* before a thread can see it */
  count(&made.jobs);
  push(where, j);
}

/* The caller has taken it out of `waiting`, so it wakes it alone. */
static void wake(jobs *where, job *j) {
  gotrace_go_unblock(j->go);
  push(where, j);
}

static void finish(job *j) {
  order *of = j->of;
  pthread_mutex_lock(&of->lock);
  if (--of->left == 0 && of->waiting) {
    gotrace_go_unblock(of->waiting);
    of->waiting = NULL; /* once: it may have timed out, and wait for the lock */
    count(&made.notices);
    pthread_cond_signal(&of->done);
  }
  pthread_mutex_unlock(&of->lock);
  gotrace_go_end();
  free(j);
}

/* Ends a task that any job has begun, and begins another. */
static void change_task(unsigned i) {
  gotrace_task old, task = gotrace_task_begin("task", GOTRACE_NO_TASK);
  count(&made.tasks);
  pthread_mutex_lock(&task_lock);
  old = tasks[i % TASKS];
  tasks[i % TASKS] = task;
  pthread_mutex_unlock(&task_lock);
  gotrace_task_end(old);
}

/* ------------------------------------------------------------------------------------------------- threads ---- */

/* Whether the proc is still the thread's. */
static bool call_system(proc *own, unsigned microseconds) {
  int in_call = ++own->calls * 4 + IN_CALL;
  gotrace_go_syscall_begin();
  count(&made.calls);
  STORE(own->state, in_call);
  usleep(microseconds);
  if (change(&own->state, in_call, TAKEN)) {
    gotrace_go_syscall_end();
    return true;
  }
  gotrace_go_syscall_end_blocked();
  return false;
}

/* Runs a job until it leaves the thread. Returns the proc, or NULL if it is lost. */
static proc *run(proc *own, job *j) {
  gotrace_go_start(j->go);
  while (j->steps-- > 0) {
    unsigned random = test_random(&j->random);
    job *other;
    switch (random / 1024 % 8) {
    case 0:
      if (j->depth > 0) make(&own->ready, j->of, j->depth - 1, j->random ^ random);
      break;
    case 1:
      gotrace_go_stop(GOTRACE_STOP_YIELD);
      count(&made.yields);
      push(&own->ready, j);
      return own;
    case 2:
      gotrace_go_block(GOTRACE_BLOCK_SELECT);
      count(&made.blocks);
      j->due = now() + random % PATIENCE * 1000;
      push(&waiting, j);
      return own;
    case 3:
      if (call_system(own, random % PATIENCE)) break;
      count(&made.lost);
      push(&ready, j);
      return NULL;
    case 4: change_task(random); break;
    default:
      if (!(other = take(&waiting, UINT64_MAX))) break;
      wake(&own->ready, other);
      count(&made.wakes);
    }
    GOTRACE_REGION("step") {
      gotrace_logf(GOTRACE_NO_TASK, "step", "%d to go", j->steps);
      count(&made.steps);
    }
  }
  finish(j);
  return own;
}

/* A proc that is free, or whose thread is in a system call. */
static proc *take_proc(void) {
  proc *p;
  for (p = procs; p < procs + PROCS; p++) {
    int state = LOAD(p->state);
    if ((state & 3) == TAKEN || !change(&p->state, state, TAKEN)) continue;
    if (state & IN_CALL) {
      if (state / 4 % 2) usleep(50); /* the loser may report its loss before */
      gotrace_proc_steal(p->traced);
      count(&steals);
    }
    gotrace_proc_start(p->traced);
    return p;
  }
  return NULL;
}

static job *next_of(proc *own) {
  job *j = take(&own->ready, UINT64_MAX);
  proc *p;
  if (!j) j = take(&ready, UINT64_MAX);
  for (p = procs; !j && p < procs + PROCS; p++) j = take(&p->ready, UINT64_MAX);
  return j;
}

static void *worker(void *unused) {
  proc *own = NULL;
  while (!LOAD(closing)) {
    job *j = own || (own = take_proc()) ? next_of(own) : NULL;
    if (j) {
      own = run(own, j);
      continue;
    }
    if (own) {
      gotrace_proc_stop();
      STORE(own->state, FREE);
      own = NULL;
    }
    usleep(20);
  }
  return unused;
}

/* Ends waits by time. It runs no goroutine. */
static void *timer(void *unused) {
  job *j;
  while (!LOAD(closing)) {
    while ((j = take(&waiting, now())) != NULL) {
      wake(&ready, j);
      count(&timeouts);
    }
    usleep(50);
  }
  return unused;
}

static void *customer(void *seed) {
  order of = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, NULL};
  uint64_t random = *(uint64_t *)seed;
  int i;
  gotrace_thread_begin("customer");
  for (i = 0; i < ORDERS; i++) {
    make(&ready, &of, DEPTH, test_random(&random));
    pthread_mutex_lock(&of.lock);
    while (of.left > 0) {
      struct timespec until;
      clock_gettime(CLOCK_REALTIME, &until);
      until.tv_nsec += test_random(&random) % (PATIENCE * 2000);
      if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
      of.waiting = gotrace_go_self();
      gotrace_wait_begin(GOTRACE_REASON("order"));
      count(&made.waits);
      pthread_cond_timedwait(&of.done, &of.lock, &until);
      gotrace_wait_end();
      of.waiting = NULL;
    }
    pthread_mutex_unlock(&of.lock);
  }
  pthread_mutex_destroy(&of.lock);
  pthread_cond_destroy(&of.done);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS + 1], customers[CUSTOMERS];
  uint64_t seeds[CUSTOMERS];
  int i;
  CHECK(argc == 2);
  CHECK_EQUAL(gotrace_start_file(argv[1], NULL), GOTRACE_OK);
  pthread_mutex_init(&ready.lock, NULL);
  pthread_mutex_init(&waiting.lock, NULL);
  gotrace_procs_change(PROCS);
  for (i = 0; i < PROCS; i++) {
    pthread_mutex_init(&procs[i].ready.lock, NULL);
    procs[i].traced = gotrace_proc_create();
  }
  for (i = 0; i <= THREADS; i++) CHECK(pthread_create(&threads[i], NULL, i < THREADS ? worker : timer, NULL) == 0);
  for (i = 0; i < CUSTOMERS; i++) {
    seeds[i] = (uint64_t)i;
    CHECK(pthread_create(&customers[i], NULL, customer, &seeds[i]) == 0);
  }
  for (i = 0; i < CUSTOMERS; i++) CHECK(pthread_join(customers[i], NULL) == 0);
  STORE(closing, 1);
  for (i = 0; i <= THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  for (i = 0; i < PROCS; i++) gotrace_proc_destroy(procs[i].traced);
  for (i = 0; i < TASKS; i++) gotrace_task_end(tasks[i]);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  story_read(argv[1]);
  story_expect("created job", made.jobs);
  story_expect("started job", made.jobs + made.blocks + made.yields + made.lost);
  story_expect("stopped job *", made.yields);
  story_expect("blocked job select", made.blocks);
  story_expect("woken job", made.wakes);
  story_expect("ended job", made.jobs);
  story_expect("blocked customer order", made.waits);
  story_expect("woken customer", made.notices);
  story_expect("region step", made.steps);
  story_expect("log step", made.steps);
  story_expect("task task", made.tasks);
  printf("%ld jobs, %ld waits, of which %ld ended by time; %ld system calls, %ld steals; %ld waits of customers\n",
         made.jobs, made.blocks, timeouts, made.calls, steals, made.waits);
  return 0;
}
