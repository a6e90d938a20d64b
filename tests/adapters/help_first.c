/* A help-first job system, written for this test: a job that waits for others runs them meanwhile, on top of its stack,
 * and these wait in turn. It calls the tracer as the guide in gotrace.h says, and the trace's counts must be its own.
 */
#include "story.h"

#include <pthread.h>
#include <sched.h>

enum { WORKERS = 3, DEPTH = 9, CHILDREN = 3 };

/* ------------------------------------------------------------------------------------------ the job system ---- */

typedef struct group {
  pthread_mutex_t lock; /* protects: */
  int left;             /* jobs that have not ended */
  gotrace_go *waiter;   /* of the job or thread that waits, or NULL */
} group;

typedef struct job {
  struct job *next;
  group *of;
  int depth;
  gotrace_go *go;
} job;

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER; /* protects: */
static job *queue;
static bool closing;
static long jobs, waits, wakes; /* atomic: what the trace must tell */

static void count(long *counter) { __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED); }

static job *try_next(void) {
  job *next;
  pthread_mutex_lock(&queue_lock);
  next = queue;
  if (next) queue = next->next;
  pthread_mutex_unlock(&queue_lock);
  return next;
}

static void spawn(group *of, int depth) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("job");
  job *made = (job *)malloc(sizeof *made);
  CHECK(made != NULL);
  pthread_mutex_lock(&of->lock);
  of->left++;
  pthread_mutex_unlock(&of->lock);
  made->of = of;
  made->depth = depth;
  made->go = gotrace_go_create(&entry); /* before a worker can see it */
  count(&jobs);
  pthread_mutex_lock(&queue_lock);
  made->next = queue;
  queue = made;
  pthread_mutex_unlock(&queue_lock);
}

static void work(int depth);

/* Runs a job whose goroutine the thread has started. */
static void run(job *j) {
  group *of = j->of;
  work(j->depth);
  free(j);
  pthread_mutex_lock(&of->lock);
  if (--of->left == 0 && of->waiter) { /* before the waiter can go on, and before this job's own end */
    gotrace_go_unblock(of->waiter);
    count(&wakes);
  }
  pthread_mutex_unlock(&of->lock);
}

/* Waits for a group's jobs. Helps: runs any job meanwhile. */
static void wait_for(group *of) {
  bool done;
  pthread_mutex_lock(&of->lock);
  done = of->left == 0;
  if (!done) {
    of->waiter = gotrace_go_self();
    gotrace_wait_begin(GOTRACE_REASON("group: wait"));
    count(&waits);
  }
  pthread_mutex_unlock(&of->lock);
  if (done) return;
  while (!done) {
    job *j = try_next();
    if (j) {
      gotrace_go *outer = gotrace_nest_begin(j->go);
      run(j);
      gotrace_go_end();
      gotrace_nest_end(outer);
    } else {
      sched_yield();
    }
    pthread_mutex_lock(&of->lock);
    done = of->left == 0;
    pthread_mutex_unlock(&of->lock);
  }
  gotrace_wait_end();
}

static void *worker(void *argument) {
  gotrace_proc *proc = (gotrace_proc *)argument;
  bool runs = false, over = false;
  while (!over) {
    job *j = try_next();
    if (j && !runs) gotrace_proc_start(proc);
    if (!j && runs) gotrace_proc_stop();
    runs = j != NULL;
    if (j) {
      gotrace_go_start(j->go);
      run(j);
      gotrace_go_end();
      continue;
    }
    sched_yield();
    pthread_mutex_lock(&queue_lock);
    over = closing;
    pthread_mutex_unlock(&queue_lock);
  }
  return NULL;
}

/* --------------------------------------------------------------------------------------------- the program ---- */

static void work(int depth) {
  group children = {PTHREAD_MUTEX_INITIALIZER, 0, NULL};
  int i;
  GOTRACE_REGION("work") {
    for (i = 0; depth > 0 && i < CHILDREN; i++) spawn(&children, depth - 1 - i);
    wait_for(&children);
  }
  pthread_mutex_destroy(&children.lock);
}

int main(int argc, char **argv) {
  pthread_t threads[WORKERS];
  gotrace_proc *procs[WORKERS];
  int i;
  CHECK(argc == 2);
  CHECK_EQUAL(gotrace_start_file(argv[1], NULL), GOTRACE_OK);
  for (i = 0; i < WORKERS; i++) {
    procs[i] = gotrace_proc_create();
    CHECK(pthread_create(&threads[i], NULL, worker, procs[i]) == 0);
  }
  gotrace_thread_begin("main thread"); /* a plain thread helps, too */
  do work(DEPTH);
  while (story_again());
  pthread_mutex_lock(&queue_lock);
  closing = true;
  pthread_mutex_unlock(&queue_lock);
  for (i = 0; i < WORKERS; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    gotrace_proc_destroy(procs[i]);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  story_read(argv[1]);
  story_expect("created job", jobs);
  story_expect("ended job", jobs);
  story_expect("started main thread", story_count("blocked main thread *") + 1);
  story_expect("started job", jobs + story_count("blocked job *"));
  story_expect("blocked * group: wait", waits);
  story_expect("woken *", wakes);
  story_expect("region work", jobs + 1);
  story_expect("stopped *", 0);
  printf("%ld jobs, %ld waits, %ld wakes\n", jobs, waits, wakes);
  return 0;
}
