/* A fork while threads emit: the parent goes on as if nothing had happened; in the child tracing is off, and can be
 * started anew. */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdlib.h>

/* ThreadSanitizer's allocator, unlike the C library's, is unusable in a child that is forked while another thread is in
 * it. So nobody is: all that threads allocate while they emit is allocated under a lock, and fork takes that lock. */
#if defined(__SANITIZE_THREAD__)
static pthread_mutex_t allocator = PTHREAD_MUTEX_INITIALIZER;
static void lock_allocator(void) { pthread_mutex_lock(&allocator); }
static void unlock_allocator(void) { pthread_mutex_unlock(&allocator); }
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
#define GOTRACE_MALLOC(size)        locked_malloc(size)
#define GOTRACE_FREE(pointer, size) locked_free(pointer)
#else
#define lock_allocator()   ((void)0)
#define unlock_allocator() ((void)0)
#endif

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "test_collect.h"

#include <sys/wait.h>

#define THREADS 3

static uint32_t go_on;  /* atomic */
static uint64_t logged; /* atomic */

static bool keep(void *bytes, const void *data, size_t size) {
  bool kept;
  lock_allocator();
  kept = test_sink(bytes, data, size);
  unlock_allocator();
  return kept;
}

static void *emit(void *unused) {
  struct timespec pause = {0, 20000}; /* the trace is to be read in the end */
  int created = 0;
  (void)unused;
  while (__atomic_load_n(&go_on, __ATOMIC_RELAXED)) {
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
    GOTRACE_REGION ("piece") {
      gotrace_log(GOTRACE_NO_TASK, "category", "message");
    }
    __atomic_fetch_add(&logged, 1, __ATOMIC_RELAXED);
    if (created++ < 500) gotrace_go_create(NULL); /* each child's traces begin with all of them */
    nanosleep(&pause, NULL);
  }
  return NULL;
}

/* Exits with 0 if all is well. `was_on`: the parent was tracing. */
static void in_the_child(const gotrace_location *entry, gotrace_go *waiting, gotrace_proc *proc) {
  test_bytes bytes = {NULL, 0, 0};
  check_v1_trace t;
  const void *chunk;
  size_t size;
  gotrace_go *g;
  int round;
  CHECK(!gotrace_enabled());
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_read(&chunk, &size), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_ERROR_NOT_RUNNING);
  gotrace_log(GOTRACE_NO_TASK, "off", "off");
  for (round = 0; round < 2; round++) {
    gotrace_options options;
    memset(&options, 0, sizeof options);
    options.format = GOTRACE_GO_1_11;
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    gotrace_log(GOTRACE_NO_TASK, "category", "in the child");
    gotrace_thread_end();
    gotrace_proc_start(proc); /* which another thread of the parent may have run */
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
    test_check_figures(&bytes, &t);
    CHECK_EQUAL(t.kinds[GOTRACE_V1_USER_LOG], 1);
    check_v1_free(&t);
  }
#if !defined(GOTRACE__TSAN) /* which does not let a forked child start threads */
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
  }
#endif
  test_free(&bytes);
  _exit(0);
}

int main(void) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("worker");
  pthread_t threads[THREADS];
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  check_v1_trace t;
  gotrace_proc *proc;
  gotrace_go *waiting;
  long i, forks = test_scaled(40);
  size_t k;
#if defined(__SANITIZE_THREAD__)
  pthread_atfork(lock_allocator, unlock_allocator, unlock_allocator); /* before gotrace's own, which frees in the child */
#endif
  proc = gotrace_proc_create();
  waiting = gotrace_go_create_blocked(&entry);
  memset(&options, 0, sizeof options);
  options.write = keep;
  options.context = &bytes;
  options.cut_milliseconds = 1;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  go_on = 1;
  for (k = 0; k < THREADS; k++) CHECK(pthread_create(&threads[k], NULL, emit, NULL) == 0);
  while (__atomic_load_n(&logged, __ATOMIC_RELAXED) < 100) sched_yield();
  gotrace_log(GOTRACE_NO_TASK, "category", "parent");
  for (i = 0; i < forks; i++) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) in_the_child(&entry, waiting, proc);
    CHECK(gotrace_enabled());
    gotrace_log(GOTRACE_NO_TASK, "category", "parent, after a fork");
    CHECK(waitpid(child, &status, 0) == child);
    if (status) fprintf(stderr, "fork %ld: status %x\n", i, (unsigned)status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
  for (k = 0; k < THREADS; k++) CHECK(pthread_join(threads[k], NULL) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  test_check_figures(&bytes, &t);
  CHECK_EQUAL(t.kinds[GOTRACE_V1_USER_LOG], logged + 1 + (uint64_t)forks);
  check_v1_free(&t);
  test_free(&bytes);
  return 0;
}
