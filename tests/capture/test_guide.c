/* What the guide in gotrace.h tells authors of schedulers, as programs: the thread that makes the workers, the one that
 * becomes the first task, jobs that start on an event, tasks that are suspended. Followed, no call is repaired or
 * dropped, the trace has no goroutine of the tracer's own, and each goroutine has its creator. */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

static gotrace_format format;
static uint64_t ids[4];

typedef struct worker {
  pthread_t thread;
  gotrace_proc *proc;
  gotrace_go *job; /* NULL: the scheduler ends. Protected by `lock`, like the next */
  bool full;
} worker;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void hand(worker *w, gotrace_go *job) {
  pthread_mutex_lock(&lock);
  while (w->full) pthread_cond_wait(&changed, &lock);
  w->job = job;
  w->full = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static gotrace_go *take(worker *w) {
  gotrace_go *job;
  pthread_mutex_lock(&lock);
  while (!w->full) pthread_cond_wait(&changed, &lock);
  job = w->job;
  w->full = false;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return job;
}

static void *work(void *argument) {
  worker *w = argument;
  gotrace_go *job;
  gotrace_proc_start(w->proc);
  for (;;) {
    gotrace_proc_stop();
    job = take(w);
    if (!job) break;
    gotrace_proc_start(w->proc);
    gotrace_go_start(job);
    GOTRACE_REGION("job") continue;
    gotrace_go_end();
  }
  return NULL;
}

/* Main makes workers and jobs, one of which starts on an event, and reports its join. */
static void makes_workers(void) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("job"), handler = GOTRACE_NAMED_ENTRY("handler");
  worker workers[2];
  gotrace_go *go, *waiting, *cancelled;
  int i;
  memset(workers, 0, sizeof workers);
  gotrace_thread_begin("main");
  ids[0] = gotrace_go_id(gotrace_go_self());
  for (i = 0; i < 2; i++) {
    workers[i].proc = gotrace_proc_create();
    CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
  }
  gotrace_procs_change(2);
  go = gotrace_go_create(&entry);
  ids[1] = gotrace_go_id(go);
  waiting = gotrace_go_create_blocked(&handler); /* registered */
  ids[2] = gotrace_go_id(waiting);
  cancelled = gotrace_go_create_blocked(&handler);
  ids[3] = gotrace_go_id(cancelled);
  hand(&workers[0], go);
  gotrace_go_unblock(waiting); /* its event */
  hand(&workers[1], waiting);
  gotrace_go_destroy(cancelled);
  for (i = 0; i < 2; i++) hand(&workers[i], NULL);
  gotrace_wait_begin(GOTRACE_REASON("join"));
  for (i = 0; i < 2; i++) {
    CHECK(pthread_join(workers[i].thread, NULL) == 0);
    gotrace_proc_destroy(workers[i].proc);
  }
  gotrace_wait_end();
}

/* The thread that initialises the scheduler is its first task. A plain thread until then, it has traced something. */
static void is_first_task(void) {
  static const gotrace_location main_entry = GOTRACE_NAMED_ENTRY("main"), entry = GOTRACE_NAMED_ENTRY("task");
  gotrace_go *first, *task, *suspended;
  gotrace_proc *proc;
  GOTRACE_REGION("before the scheduler") continue;
  gotrace_thread_end();
  proc = gotrace_proc_create();
  gotrace_proc_start(proc);
  first = gotrace_go_create(&main_entry);
  gotrace_go_start(first);
  gotrace_procs_change(1);
  ids[0] = gotrace_go_id(first);
  CHECK(gotrace_go_self() == first);
  task = gotrace_go_create(&entry);
  ids[1] = gotrace_go_id(task);
  suspended = gotrace_go_create(&entry);
  ids[2] = gotrace_go_id(suspended); /* runnable, and then suspended: no call */
  ids[3] = 0;
  gotrace_go_block(GOTRACE_BLOCK_SYNC); /* first waits for task */
  gotrace_go_start(task);
  gotrace_go_block(GOTRACE_REASON("suspended")); /* task suspends itself */
  gotrace_go_start(suspended);
  gotrace_go_unblock(task); /* and is resumed */
  gotrace_go_end();
  gotrace_go_start(task);
  gotrace_go_unblock(first);
  gotrace_go_end();
  gotrace_go_start(first);
  gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
}

/* Each goroutine but the first is created once, by the first. None has the tracer's name. */
static void check_creations(const test_bytes *bytes) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder = NULL;
  gotrace_event event;
  gotrace_frame frames[GOTRACE_STACK_SIZE];
  size_t i, count, created[4] = {0};
  memset(&options, 0, sizeof options);
  options.data = bytes->data;
  options.size = bytes->size;
  CHECK_EQUAL(gotrace_decoder_open(&decoder, &options), GOTRACE_OK);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) {
    if (strncmp(event.spec->name, "GoCreate", 8) != 0 || event.arg_count < 2) continue;
    count = gotrace_decoder_stack(decoder, event.args[1], frames, GOTRACE_STACK_SIZE);
    if (count) CHECK(frames[0].function_size < 8 || memcmp(frames[0].function, "gotrace.", 8) != 0);
    for (i = 1; i < 4; i++)
      if (ids[i] && event.args[0] == ids[i]) {
        created[i]++;
        CHECK_EQUAL(event.g, ids[0]);
      }
  }
  CHECK_EQUAL(gotrace_decoder_error(decoder)->result, GOTRACE_OK);
  for (i = 1; i < 4; i++) CHECK_EQUAL(created[i], ids[i] != 0);
  gotrace_decoder_close(decoder);
}

/* In a thread of its own, which nothing has made a goroutine. */
static void *run(void *program) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_stats stats;
  int i;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  (*(void (**)(void))program)();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++)
    if (stats.problems[i] && i != GOTRACE_PROBLEM_FORMAT_LACKS) {
      fprintf(stderr, "format %d: %s\n", (int)format, gotrace_problem_string((gotrace_problem)i));
      CHECK_EQUAL(stats.problems[i], 0);
    }
  check_creations(&bytes);
  test_free(&bytes);
  return NULL;
}

int main(void) {
  void (*programs[])(void) = {makes_workers, is_first_task};
  size_t i, j;
  for (i = 0; i < TEST_FORMATS; i++)
    for (j = 0; j < 2; j++) {
      pthread_t thread;
      format = test_formats[i];
      CHECK(pthread_create(&thread, NULL, run, &programs[j]) == 0 && pthread_join(thread, NULL) == 0);
    }
  return 0;
}
