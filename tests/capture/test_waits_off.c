/* Waits that begin while tracing is off take a short way, which any other call leaves. Whatever comes between the two
 * ends of a wait, other threads see that it waits, and a trace that starts meanwhile shows it. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const gotrace_location entry = GOTRACE_NAMED_ENTRY("job");
static gotrace_proc *proc;

static void on_signal(int number) { gotrace_log(GOTRACE_NO_TASK, "signal", number == SIGUSR1 ? "one" : "other"); }

static void nothing(gotrace_go *go) { (void)go; }
static void asks(gotrace_go *go) { CHECK(gotrace_go_self() == go && !gotrace__runs(gotrace__self)); }
static void wakes(gotrace_go *go) { gotrace_go_unblock(go); }
static void makes(gotrace_go *go) {
  gotrace_go *other = gotrace_go_create(&entry);
  (void)go;
  gotrace_go_destroy(other);
}
static void begins_task(gotrace_go *go) {
  gotrace_task task = gotrace_task_begin("task", GOTRACE_NO_TASK);
  (void)go;
  gotrace_task_end(task);
}
static void is_interrupted(gotrace_go *go) {
  (void)go;
  CHECK(raise(SIGUSR1) == 0);
}
static void nests(gotrace_go *go) {
  gotrace_go *inner = gotrace_go_create(&entry);
  CHECK(gotrace_nest_begin(inner) == go);
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_go_unblock(inner);
  gotrace_wait_end();
  gotrace_go_end();
  gotrace_nest_end(go);
}
static void forks(gotrace_go *go) {
  int status;
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    CHECK(go->status == GOTRACE__WAITING || go->status == GOTRACE__RUNNABLE);
    gotrace_wait_end();
    CHECK(go->status == GOTRACE__RUNNING && gotrace_go_self() == go);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}
static void (*const between[])(gotrace_go *go) = {nothing,     asks,           wakes, makes,
                                                  begins_task, is_interrupted, nests, forks};
enum { BETWEEN = sizeof between / sizeof between[0] };

/* The wait of a job on its worker, or of a plain thread. A trace starts at one of three moments, or not at all. */
static void check(gotrace_format format, unsigned first, unsigned second, bool plain, int start) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_go *go;
  gotrace_stats stats;
  bool woken = between[first] == wakes;
  if (plain) gotrace_thread_begin("plain");
  else gotrace_proc_start(proc);
  if (!plain) gotrace_go_start(gotrace_go_create(&entry));
  go = gotrace_go_self();
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  CHECK(go->status == GOTRACE__WAITING && !gotrace__runs(gotrace__self));
  if (start == 0) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  between[first](go);
  CHECK(go->status == (woken ? GOTRACE__RUNNABLE : GOTRACE__WAITING) && !gotrace__runs(gotrace__self));
  if (start == 1) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  between[second](go);
  CHECK(go->status == (woken || between[second] == wakes ? GOTRACE__RUNNABLE : GOTRACE__WAITING));
  gotrace_wait_end();
  CHECK(go->status == GOTRACE__RUNNING && gotrace__runs(gotrace__self) == go && !gotrace__self->level);
  if (start == 2) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_go_end();
  if (plain) gotrace_thread_end();
  else gotrace_proc_stop();
  if (start == 3) return;
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  /* A thread cannot wake itself twice, log in its own wait or create in it: that is counted. */
  if (first != BETWEEN && between[first] == nothing && between[second] == nothing)
    CHECK_EQUAL(stats.dropped + stats.repaired, 0);
  test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
  test_free(&bytes);
}

/* Destroys a goroutine and makes another in its place. */
static void *replaces(void *go) {
  gotrace_go_destroy((gotrace_go *)go);
  return gotrace_go_create_blocked(&entry);
}

/* The goroutine is destroyed while it waits: its thread runs nothing afterwards. `again`: another thread does it, and
 * there is one in its place. */
static void check_destroyed(bool again) {
  gotrace_go *go;
  void *next = NULL;
  gotrace_proc_start(proc);
  gotrace_go_start(go = gotrace_go_create(&entry));
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  if (again) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, replaces, go) == 0 && pthread_join(thread, &next) == 0);
    CHECK(next == go);
  } else {
    gotrace_go_destroy(go);
  }
  gotrace_wait_end();
  CHECK(!gotrace__runs(gotrace__self) && !gotrace__self->level);
  if (next) gotrace_go_destroy((gotrace_go *)next);
  gotrace_proc_stop();
}

int main(void) {
  size_t i;
  unsigned first, second;
  int start;
  proc = gotrace_proc_create();
  CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
  for (i = 0; i < TEST_FORMATS; i++)
    for (first = 0; first < BETWEEN; first++)
      for (second = 0; second < BETWEEN; second++)
        for (start = 0; start < 4; start++) {
          check(test_formats[i], first, second, false, start);
          check(test_formats[i], first, second, true, start);
        }
  check_destroyed(false);
  check_destroyed(true);
  return 0;
}
