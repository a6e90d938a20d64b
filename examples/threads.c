/* threads.c - a pool of threads, traced
 *
 * What it teaches: the tracer calls of a program with plain threads. A thread is its own goroutine. The program reports
 * where it waits and who wakes it, so that the trace shows what the program waited for, not only that it was slow. The
 * program counts the words of all text files below some paths. A directory or a file is a job, and a job that lists a
 * directory makes more jobs.
 *
 *     cc -O2 -g -o threads examples/threads.c -I. -pthread
 *     ./threads /usr/include && go tool trace threads.trace
 *
 * A condition variable does not report whom it wakes, so each thread has its own. The waker takes a thread from the
 * list of waiters, gives it a job, reports it as unblocked, and signals it. The trace then has an arrow from the waker
 * to the thread, and no wake-up is futile. If the waker reports nothing, as with the mutex here, gotrace_wait_end
 * reports the unblock.
 */

#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64 /* for 32-bit processors */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "example.h"

#include <pthread.h>

struct worker {
  pthread_t thread;
  gotrace_go *go;
  struct words words;
  struct blocked blocked;
  uint64_t wait_began;
  gotrace_block_reason wait_reason;
  /* Protected by pool.lock. */
  struct worker *next; /* in pool.idle */
  pthread_cond_t wake;
  bool woken;
  struct entry *job; /* what it was woken for; NULL: all work is done */
};

static struct {
  struct settings settings;
  gotrace_task task; /* the whole run */
  pthread_mutex_t lock;
  /* Protected by lock. */
  struct entry *jobs; /* newest first: directories in progress are finished first, which keeps the list short */
  size_t unfinished;  /* jobs in the list or at work */
  struct worker *idle;
  struct totals totals;
  struct words words;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ----------------------------------------------------------------------------------------------- waiting ---- */

/* A macro, so that the trace shows the wait at its caller. */
#define begin_wait(worker, reason) (gotrace_wait_begin(reason), begin_wait_for((worker), (reason)))
static void begin_wait_for(struct worker *self, gotrace_block_reason reason) {
  self->wait_reason = reason;
  self->wait_began = nanoseconds();
}

/* The wait of a worker ends. */
static void count_wait(struct worker *worker) {
  blocked_add(&worker->blocked, worker->wait_reason, worker->wait_began);
}

/* Taking a free lock is not reported as a wait. */
static void lock_pool(struct worker *self) {
  if (pthread_mutex_trylock(&pool.lock) == 0) return;
  begin_wait(self, GOTRACE_BLOCK_SYNC);
  pthread_mutex_lock(&pool.lock);
  count_wait(self);
  gotrace_wait_end();
}

static void unlock_pool(void) { pthread_mutex_unlock(&pool.lock); }

/* ---------------------------------------------------------------------------------------------------- jobs ----
 *
 * Called with pool.lock held, so a thread in pool.idle has reported that it waits, and cannot continue before its waker
 * has reported the wake-up.
 */

static void wake(struct worker *worker, struct entry *job) {
  worker->job = job;
  worker->woken = true;
  count_wait(worker);
  gotrace_go_unblock(worker->go);
  pthread_cond_signal(&worker->wake);
}

static void add_job(struct entry *job) {
  struct worker *worker = pool.idle;
  pool.unfinished++;
  if (worker) {
    pool.idle = worker->next;
    wake(worker, job);
  } else {
    job->next = pool.jobs;
    pool.jobs = job;
  }
}

static void add_jobs(struct entry *list) {
  for (struct entry *next; list; list = next) {
    next = list->next;
    add_job(list);
  }
}

/* Returns NULL when all work is done. */
static struct entry *take_job(struct worker *self) {
  struct entry *job = pool.jobs;
  if (job) pool.jobs = job->next;
  if (job || pool.unfinished == 0) return job;
  begin_wait(self, GOTRACE_BLOCK_COND_WAIT);
  self->woken = false;
  self->next = pool.idle;
  pool.idle = self;
  while (!self->woken) pthread_cond_wait(&self->wake, &pool.lock);
  gotrace_wait_end();
  return self->job;
}

static void finish_job(const struct totals *totals) {
  for (int verdict = 0; verdict < VERDICT_COUNT; verdict++) pool.totals.files[verdict] += totals->files[verdict];
  pool.totals.bytes += totals->bytes;
  if (--pool.unfinished > 0) return;
  for (struct worker *worker; (worker = pool.idle);) {
    pool.idle = worker->next;
    wake(worker, NULL);
  }
}

/* ------------------------------------------------------------------------------------------------ workers ---- */

static void count_file(struct worker *self, const struct entry *job, struct totals *totals) {
  struct file file;
  struct batch *batch = job->batch;
  enum verdict verdict = file_open(&file, job->path, &pool.settings.trace_file, batch->task);
  for (struct block *block; (block = file_next(&file)); block_free(block)) {
    totals->bytes += block->size;
    GOTRACE_TASK_REGION(batch->task, "count") words_count(&self->words, block->text, block->size);
  }
  if (file.error) verdict = VERDICT_UNREADABLE;
  if (verdict != VERDICT_TEXT) gotrace_logf(batch->task, "skipped", "%s: %s", job->path, file_reason(&file, verdict));
  totals->files[verdict]++;
  batch_release(batch);
}

/* Lists a directory, and returns the jobs found. */
static struct listing list_jobs(const struct entry *job, struct totals *totals) {
  struct batch *batch = batch_begin(job->path, pool.task);
  struct listing listing = list_directory(job->path, batch->task);
  totals->files[VERDICT_SPECIAL] += listing.special;
  if (listing.error) {
    totals->files[VERDICT_UNREADABLE]++;
    gotrace_logf(batch->task, "skipped", "%s: %s", job->path, strerror(listing.error));
  }
  for (struct entry *file = listing.files; file; file = file->next) file->batch = batch_hold(batch);
  batch_release(batch);
  return listing;
}

static void *work(void *argument) {
  struct worker *self = argument;
  gotrace_thread_begin("worker");
  self->go = gotrace_go_self();
  lock_pool(self);
  for (struct entry *job; (job = take_job(self)); free(job)) {
    struct totals totals = {0};
    struct listing found = {0};
    unlock_pool();
    if (job->is_directory) found = list_jobs(job, &totals);
    else count_file(self, job, &totals);
    lock_pool(self);
    add_jobs(found.directories);
    add_jobs(found.files);
    finish_job(&totals);
  }
  GOTRACE_TASK_REGION(pool.task, "merge") words_merge(&pool.words, &self->words);
  unlock_pool();
  words_free(&self->words);
  gotrace_thread_end();
  return NULL;
}

/* ---------------------------------------------------------------------------------------------------- main ---- */

int main(int argc, char **argv) {
  pool.settings = parse_arguments(argc, argv, "threads", "threads.trace", true);
  start_trace(&pool.settings);
  gotrace_thread_begin("main");
  pool.task = gotrace_task_begin("count words", GOTRACE_NO_TASK);
  for (const char *const *path = pool.settings.paths; *path; path++) {
    struct entry *job = entry_for_argument(*path, NULL);
    if (!job->is_directory) job->batch = batch_begin(job->path, pool.task);
    add_job(job);
  }

  struct worker *workers = allocate(pool.settings.jobs * sizeof *workers), self = {0};
  for (unsigned i = 0; i < pool.settings.jobs; i++) {
    pthread_cond_init(&workers[i].wake, NULL);
    int error = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    if (error) fail(EXIT_FAILURE, "cannot start a worker thread: %s", strerror(error));
  }
  for (unsigned i = 0; i < pool.settings.jobs; i++) {
    begin_wait(&self, GOTRACE_BLOCK_SYNC);
    pthread_join(workers[i].thread, NULL);
    count_wait(&self);
    gotrace_wait_end();
    blocked_merge(&self.blocked, &workers[i].blocked);
    pthread_cond_destroy(&workers[i].wake);
  }
  gotrace_task_end(pool.task);

  print_answer(&pool.totals, &pool.words);
  int status = stop_trace(&pool.settings, &self.blocked);
  words_free(&pool.words);
  free(workers);
  return status;
}
