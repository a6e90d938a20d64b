/* A fork while threads emit: the parent continues undisturbed; in the child tracing is off and can be started again. */
#define _GNU_SOURCE 1
#include "../test.h"

#include <pthread.h>
#include <stdlib.h>

/* If another thread is in the allocator during a fork, the child cannot use a sanitizer's allocator, unlike the C
 * library's. Therefore threads that run meanwhile allocate under a lock, and fork takes that lock. AddressSanitizer
 * sees only the sink's memory, since the tracer has its own from the system. */
#if defined(TEST_THREAD_SANITIZER) || defined(TEST_ADDRESS_SANITIZER)
#define LOCKS_ALLOCATOR
static pthread_mutex_t allocator = PTHREAD_MUTEX_INITIALIZER;
static void lock_allocator(void) { pthread_mutex_lock(&allocator); }
static void unlock_allocator(void) { pthread_mutex_unlock(&allocator); }
#else
#define lock_allocator() ((void)0)
#define unlock_allocator() ((void)0)
#endif
#if defined(TEST_THREAD_SANITIZER)
static void *locked_malloc(size_t size) {
  void *memory;
  lock_allocator();
  memory = malloc(size);
  unlock_allocator();
  return memory;
}
static void locked_free(void *memory) {
  lock_allocator();
  free(memory);
  unlock_allocator();
}
#define GOTRACE_MALLOC(size) locked_malloc(size)
#define GOTRACE_FREE(pointer, size) locked_free(pointer)
#endif

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define THREADS 3

static uint32_t go_on, started; /* atomic */
static uint64_t logged;         /* atomic */

static bool keep(void *bytes, const void *data, size_t size) {
  bool kept;
  lock_allocator();
  kept = test_sink(bytes, data, size);
  unlock_allocator();
  return kept;
}

static void *emit(void *collects) {
  struct timespec pause = {0, 20000}; /* keeps the trace short: it is decoded at the end */
  int created = 0;
  if (collects) gotrace_gc_begin();
  while (__atomic_load_n(&go_on, __ATOMIC_RELAXED)) {
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
    GOTRACE_REGION("piece") {
      gotrace_log(GOTRACE_NO_TASK, "category", "message");
    }
    __atomic_fetch_add(&logged, 1, __ATOMIC_RELAXED);
    if (!created) __atomic_fetch_add(&started, 1, __ATOMIC_RELAXED);
    if (created++ < 500) gotrace_go_create(NULL); /* few, since each child's traces begin with all of them */
    nanosleep(&pause, NULL);
  }
  if (collects) gotrace_gc_end();
  return NULL;
}

static void wait_for_child(pid_t child) {
  int status;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  if (status) fprintf(stderr, "status %x\n", (unsigned)status);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A thread that forks in a system call is still in that call in the child, and ends it there. */
static void in_a_system_call(bool tracing) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_go *self = gotrace_go_self();
  gotrace_stats stats;
  pid_t child;
  CHECK(self != NULL);
  if (tracing) CHECK_EQUAL(gotrace_start(NULL), GOTRACE_OK);
  gotrace_go_syscall_begin();
  child = fork();
  gotrace_go_syscall_end();
  CHECK(gotrace_go_self() == self);
  if (child == 0) {
    CHECK(!gotrace_enabled());
    CHECK_EQUAL(gotrace_start(NULL), GOTRACE_OK);
    GOTRACE_REGION("in the child") gotrace_log(GOTRACE_NO_TASK, "category", "message");
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
  }
  if (child == 0 || tracing) {
    CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
    test_read_to_end(&bytes);
    CHECK_OPENS(&bytes);
    gotrace_get_stats(&stats);
    CHECK_EQUAL(stats.dropped, 0);
    CHECK_EQUAL(stats.repaired, 0);
    CHECK_EQUAL(stats.kinds[GOTRACE_V2_USER_LOG], child == 0);
    CHECK_EQUAL(stats.kinds[GOTRACE_V2_GO_SYSCALL_END], 1);
    test_free(&bytes);
  }
  if (child == 0) _exit(0);
  wait_for_child(child);
}

static uint32_t writes; /* atomic: 1 a snapshot is being written, 2 it may continue */

static bool write_and_wait(void *unused, const void *data, size_t size) {
  (void)unused, (void)data, (void)size;
  if (!__atomic_load_n(&writes, __ATOMIC_RELAXED)) __atomic_store_n(&writes, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&writes, __ATOMIC_ACQUIRE) != 2) sched_yield();
  return true;
}

static void *take_snapshot(void *unused) {
  (void)unused;
  CHECK_EQUAL(gotrace_flight_snapshot(write_and_wait, NULL), GOTRACE_OK);
  return NULL;
}

/* The child drops the recorder's data, including what another thread of the parent is writing at that moment. */
static void in_a_snapshot(void) {
  pthread_t thread;
  pid_t child;
  int i;
  CHECK_EQUAL(gotrace_flight_start(NULL), GOTRACE_OK);
  for (i = 0; i < 10000; i++) gotrace_log(GOTRACE_NO_TASK, "category", "message");
  CHECK(pthread_create(&thread, NULL, take_snapshot, NULL) == 0);
  while (__atomic_load_n(&writes, __ATOMIC_ACQUIRE) != 1) sched_yield();
  CHECK(gotrace__t.past_bytes > 0);
  child = fork();
  if (child == 0) {
    CHECK_EQUAL(gotrace__t.past_bytes, 0);
    _exit(0);
  }
  __atomic_store_n(&writes, 2, __ATOMIC_RELEASE);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
  wait_for_child(child);
}

/* The child frees each part of the trace once: the one that the parent's reader is reading, and those behind it. */
static void while_reading(void) {
  test_bytes bytes = {NULL, 0, 0};
  const void *data;
  size_t size;
  pid_t child;
  int i;
  CHECK_EQUAL(gotrace_start(NULL), GOTRACE_OK);
  for (i = 0; i < 3; i++) {
    gotrace_log(GOTRACE_NO_TASK, "category", "message");
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  }
  while (bytes.size <= 16) { /* the header, then the first generation */
    CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_OK);
    test_append(&bytes, data, size);
  }
  CHECK(gotrace__t.reading && gotrace__t.pieces && gotrace__t.spare_piece);
  child = fork();
  if (child == 0) {
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(NULL), GOTRACE_OK);
    gotrace_log(GOTRACE_NO_TASK, "category", "in the child");
  }
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
  if (child == 0) _exit(0);
  wait_for_child(child);
}

/* CPU samples that the parent's trace has not got yet are not in the child's, and do not keep its own out of it. */
static void after_samples(void) {
  test_bytes bytes = {NULL, 0, 0};
  pid_t child;
  int i, samples = 3;
  CHECK_EQUAL(gotrace_start(NULL), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "message");
  for (i = 0; i < samples; i++) gotrace_cpu_sample(NULL);
  child = fork();
  if (child == 0) {
    CHECK_EQUAL(gotrace_start(NULL), GOTRACE_OK);
    gotrace_log(GOTRACE_NO_TASK, "category", "in the child");
    for (samples = 0; samples < 2; samples++) gotrace_cpu_sample(NULL);
  }
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "CPUSample"), samples);
  test_free(&bytes);
  if (child == 0) _exit(0);
  wait_for_child(child);
}

#if !defined(GOTRACE__TSAN) /* ThreadSanitizer does not let a forked child start threads */
/* The thread that has written the first log of a trace. */
static int64_t thread_of_log(const test_bytes *bytes) {
  gotrace_decoder *decoder;
  gotrace_event event;
  CHECK_EQUAL(test_open_decoder(&decoder, bytes->data, bytes->size, false), GOTRACE_OK);
  do CHECK_EQUAL(gotrace_decoder_next(decoder, &event), GOTRACE_OK);
  while (strcmp(event.spec->name, "UserLog") != 0);
  gotrace_decoder_close(decoder);
  return event.m;
}
#endif

/* Exits with 0 if all is well. */
static void in_the_child(const gotrace_location *entry, gotrace_go *waiting, gotrace_proc *proc) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_stats stats;
  const void *data;
  size_t size;
  gotrace_go *g;
  gotrace_proc *p;
  gotrace__thread *m;
  gotrace__slab *slab;
  size_t i;
  int round, procs;
  CHECK(!gotrace_enabled());
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_read(&data, &size), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_ERROR_NOT_RUNNING);
  for (procs = 0, p = gotrace__t.procs; p; p = p->next) {
    procs += p->used != 0;
    CHECK(!p->used || (!p->owner && p->status == GOTRACE__PROC_IDLE));
  }
  CHECK_EQUAL(procs, 1); /* `proc` */
  for (slab = gotrace__t.slabs; slab; slab = slab->next)
    for (i = 0; i < GOTRACE__SLAB; i++)
      CHECK(&slab->gos[i] == gotrace__self->go ||
            (slab->gos[i].status != GOTRACE__RUNNING && slab->gos[i].status != GOTRACE__SYSCALL));
  CHECK(!gotrace__t.transcriber && !gotrace__t.strings && !gotrace__t.stacks); /* the parent's session */
  CHECK(!gotrace__t.pieces && !gotrace__t.spare_piece && !gotrace__t.spare_chunks);
  for (m = gotrace__t.threads; m; m = m->next) CHECK(!m->chunk && (m == gotrace__self || !m->used));
  gotrace_log(GOTRACE_NO_TASK, "off", "off");
  for (round = 0; round < 2; round++) {
    gotrace_options options;
    memset(&options, 0, sizeof options);
    options.format = GOTRACE_GO_1_11;
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    gotrace_log(GOTRACE_NO_TASK, "category", "in the child");
    gotrace_thread_end();
    gotrace_gc_begin(); /* possible, since the collection of the parent's thread is over here */
    gotrace_gc_end();
    gotrace_thread_end();
    gotrace_proc_start(proc); /* another thread of the parent may have run it */
    g = gotrace_go_create(entry);
    gotrace_go_unblock(waiting);
    gotrace_go_start(g);
    gotrace_go_end();
    gotrace_go_start(waiting);
    gotrace_go_block(GOTRACE_BLOCK_SYNC);
    gotrace_proc_stop();
    CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
    test_read_to_end(&bytes);
    CHECK_OPENS(&bytes);
    test_check_statistics(&bytes);
    CHECK_EQUAL(test_count(&bytes, "UserLog"), 1);
    CHECK_EQUAL(test_count(&bytes, "GCStart"), 1);
    gotrace_get_stats(&stats);
    CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_GC_STATE], 0);
  }
#if !defined(GOTRACE__TSAN)
  {
    gotrace_options options;
    memset(&options, 0, sizeof options);
    options.write = test_sink;
    options.context = &bytes;
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    gotrace_log(GOTRACE_NO_TASK, "category", "by a service thread");
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    CHECK_OPENS(&bytes);
    CHECK_EQUAL(thread_of_log(&bytes), getpid()); /* not the id that the thread had in the parent */
  }
#endif
  test_free(&bytes);
  _exit(0);
}

static bool exits_by_signal;

/* The last handler of exit(): a process that a signal ends is not searched for leaks. */
static void last_handler(void) {
  if (exits_by_signal) kill(getpid(), SIGKILL);
}

/* A child that is not of fork() has neither the service thread nor any lock that another thread held: its exit leaves
 * the trace alone, and does not wait. Valgrind would find the parent's threads in it, as memory that is lost. */
static void without_handlers(void) {
#if defined(__linux__) && defined(__x86_64__) && !defined(TEST_THREAD_SANITIZER)
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  int status;
  pid_t child;
  memset(&options, 0, sizeof options);
  options.write = test_sink;
  options.context = &bytes;
  options.exit_milliseconds = 1000000;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "before");
  child = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
  if (child == 0) {
    alarm(60);
    exits_by_signal = true;
    exit(EXIT_FAILURE);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "UserLog"), 1);
  test_free(&bytes);
#endif
}

/* A fork waits until no other thread is inside one of the first locks of the list. The child gets all of them free. */
static gotrace__mutex *held;
static uint32_t holds, begun, released; /* atomic */
static void fork_begins(void) { __atomic_store_n(&begun, 1, __ATOMIC_RELEASE); }
static void *hold(void *unused) {
  gotrace__lock(held);
  __atomic_store_n(&holds, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE)) sched_yield();
  usleep(10000); /* a fork that does not wait would be over */
  __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
  gotrace__unlock(held);
  return unused;
}
static void check_locks(void) {
  unsigned i;
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_FORMAT_DEFAULT, &bytes);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_atfork(fork_begins, NULL, NULL) == 0); /* runs before the tracer's */
  for (i = 0; i <= GOTRACE__SINGLE_LOCKS; i++) {
    pthread_t thread;
    int status;
    pid_t child;
    if ((held = gotrace__fork_lock(i)) == NULL) continue;
    holds = begun = released = 0;
    CHECK(pthread_create(&thread, NULL, hold, NULL) == 0);
    while (!__atomic_load_n(&holds, __ATOMIC_ACQUIRE)) sched_yield();
    CHECK((child = fork()) >= 0);
    if (!child) {
      for (i = 0; i < GOTRACE__FORK_LOCKS; i++) {
        gotrace__mutex *lock = gotrace__fork_lock(i);
        if (!lock) continue;
        gotrace__lock(lock); /* nobody holds it */
        gotrace__unlock(lock);
      }
      _exit(0);
    }
    CHECK(i >= GOTRACE__TAKEN_LOCKS || __atomic_load_n(&released, __ATOMIC_ACQUIRE));
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(pthread_join(thread, NULL) == 0);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_free(&bytes);
}

int main(void) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("worker");
  pthread_t threads[THREADS];
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  gotrace_proc *proc;
  gotrace_go *waiting;
  long i, forks = test_scaled(40);
  size_t k;
#if defined(LOCKS_ALLOCATOR)
  pthread_atfork(lock_allocator, unlock_allocator,
                 unlock_allocator); /* registered before gotrace's own handler, which frees in the child */
#endif
  CHECK(atexit(last_handler) == 0); /* before the tracer registers its own, which runs before this one */
  in_a_system_call(false);
  in_a_system_call(true);
  in_a_snapshot();
  while_reading();
  after_samples();
  without_handlers();
  proc = gotrace_proc_create();
  waiting = gotrace_go_create_blocked(&entry);
  memset(&options, 0, sizeof options);
  options.write = keep;
  options.context = &bytes;
  options.cut_milliseconds = 1;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  go_on = 1;
  for (k = 0; k < THREADS; k++) CHECK(pthread_create(&threads[k], NULL, emit, k ? NULL : &bytes) == 0);
  while (__atomic_load_n(&logged, __ATOMIC_RELAXED) < 100 || __atomic_load_n(&started, __ATOMIC_RELAXED) < THREADS)
    sched_yield();
  gotrace_log(GOTRACE_NO_TASK, "category", "parent");
  for (i = 0; i < forks; i++) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) in_the_child(&entry, waiting, proc);
    CHECK(gotrace_enabled());
    gotrace_log(GOTRACE_NO_TASK, "category", "parent, after a fork");
    wait_for_child(child);
  }
  __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
  for (k = 0; k < THREADS; k++) CHECK(pthread_join(threads[k], NULL) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  test_check_statistics(&bytes);
  CHECK_EQUAL(test_count(&bytes, "UserLog"), logged + 1 + (uint64_t)forks);
  test_free(&bytes);
  check_locks();
  return 0;
}
