/* own.c - a program that contains gotrace.h and has tasks of its own, for tests/record/test_record.sh (own)
 *
 *     own LOG [WAY]
 *
 * Workers run tasks, which wait for a lock of the C library's, and yield. Each worker writes to LOG, in shared memory,
 * what it has done: after each call of the tracer, the task's id and a letter. WAY: `killed` (by SIGKILL, in the
 * middle), `forks` (a child that does not execute another program, and calls the tracer), `copies` (the same, by other
 * calls than fork), `twice` (starts, reads and stops it again), `sandbox` and `strict` (in which
 * one task runs on). It prints what calls returned. tests/record/own.py
 * compares the trace with LOG. */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "filter.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3, TASKS = 12, ROUNDS = 60, MOST = 1 << 14, SANDBOX_ROUNDS = 20000 };

/* What the workers have done, in the order of each. */
struct log {
  atomic_uint count;
  struct entry {
    uint64_t go;
    uint32_t thread, what;
  } entries[MOST];
};
static struct log *log_of_all;

static void note(gotrace_go *go, char what) {
  struct entry *entry = &log_of_all->entries[atomic_fetch_add(&log_of_all->count, 1)];
  entry->go = gotrace_go_id(go);
  entry->thread = (uint32_t)syscall(SYS_gettid);
  __atomic_store_n(&entry->what, (uint32_t)what, __ATOMIC_RELEASE);
}

struct task {
  gotrace_go *go;
  unsigned rounds;
  struct task *next;
};

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct task *first, **last = &first, tasks[TASKS];
static unsigned left = TASKS;
static bool is_killed;

static void put(struct task *t) {
  pthread_mutex_lock(&queue_lock);
  t->next = NULL;
  *last = t;
  last = &t->next;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&queue_lock);
}

/* NULL: all tasks have ended. */
static struct task *take(gotrace_proc *proc) {
  struct task *t;
  pthread_mutex_lock(&queue_lock);
  while (!first && left) {
    gotrace_proc_stop();
    pthread_cond_wait(&changed, &queue_lock);
    gotrace_proc_start(proc);
  }
  t = first;
  if (t && !(first = t->next)) last = &first;
  pthread_mutex_unlock(&queue_lock);
  return t;
}

static void run(struct task *t) {
  gotrace_go_start(t->go);
  note(t->go, 'S');
  GOTRACE_REGION("round") {
    pthread_mutex_lock(&shared);
    usleep(100);
    pthread_mutex_unlock(&shared);
  }
  if (is_killed && atomic_load(&log_of_all->count) > TASKS * ROUNDS) kill(getpid(), SIGKILL);
  if (++t->rounds < ROUNDS) {
    gotrace_go_stop(GOTRACE_STOP_YIELD);
    note(t->go, 'Y');
    put(t);
    return;
  }
  note(t->go, 'E');
  gotrace_go_end();
  pthread_mutex_lock(&queue_lock);
  left--;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&queue_lock);
}

static void *work(void *proc) {
  struct task *t;
  gotrace_proc_start(proc);
  while ((t = take(proc))) run(t);
  gotrace_proc_stop();
  return NULL;
}

/* Until each worker's first task waits for the lock, which main has: then its thread sleeps. */
static void await_waits(void) {
  unsigned i, asleep = 0;
  while (asleep < WORKERS) {
    unsigned count = atomic_load(&log_of_all->count);
    asleep = 0;
    for (i = 0; i < count; i++) {
      char path[64], line[256] = "", *end;
      FILE *stat;
      snprintf(path, sizeof path, "/proc/self/task/%u/stat", log_of_all->entries[i].thread);
      stat = fopen(path, "r");
      if (stat && fgets(line, sizeof line, stat) && (end = strrchr(line, ')'))) asleep += end[2] == 'S';
      if (stat) fclose(stat);
    }
    usleep(1000);
  }
}

static pid_t clone_call(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

/* The child has no trace, and its parent's tasks are still what they were. `copy`: not fork. Then it can start none. */
static void fork_child(pid_t (*copy)(void)) {
  int status = 1;
  pid_t child = copy ? copy() : fork();
  if (child == 0) {
    bool fine = !gotrace_is_enabled() && (copy || gotrace_go_id(tasks[1].go) != 0);
    gotrace_go *own = gotrace_go_create(NULL);
    gotrace_log(GOTRACE_NO_TASK, "child", "log");
    gotrace_go_unblock(tasks[1].go);
    gotrace_go_destroy(own);
    if (copy) _exit(!fine);
    fine = fine && gotrace_start_file("child.trace", NULL) == GOTRACE_OK;
    GOTRACE_REGION("in the child") {
      gotrace_go_destroy(gotrace_go_create(NULL));
    }
    _exit(!(fine && gotrace_stop() == GOTRACE_OK));
  }
  if (waitpid(child, &status, 0) != child || status != 0) printf("the child failed: %d\n", status);
}

/* What must not disturb a trace that a recorder has. */
static void use_recorded(void) {
  const void *data;
  size_t size;
  gotrace_stats stats;
  gotrace_cpu_sample(NULL);
  gotrace_get_stats(&stats);
  printf("again: %s\n", gotrace_result_string(gotrace_start(NULL)));
  printf("again: %s\n", gotrace_result_string(gotrace_flight_start(NULL)));
  printf("again: %s\n", gotrace_result_string(gotrace_start_environment()));
  printf("refused: %s\n", gotrace_result_string(gotrace_read(&data, &size)));
  printf("refused: %s\n", gotrace_result_string(gotrace_try_read(&data, &size)));
  printf("refused: %s\n", gotrace_result_string(gotrace_flight_snapshot_file("snapshot.trace")));
  printf("refused: %s\n", gotrace_result_string(gotrace_flight_stop()));
  printf("cut: %s\nend: %s\n", gotrace_result_string(gotrace_advance()), gotrace_result_string(gotrace_end()));
  printf("stop: %s\n", gotrace_result_string(gotrace_stop()));
}

/* In a sandbox, in which other system calls kill the process; or in the strict mode, in which the trace ends. */
static void run_sandboxed(gotrace_go *go, bool strict) {
  struct instruction all[] = {
      {LOAD, 0, 0, 0},
      {JUMP_IF_EQUAL, 2, 0, SYS_write},
      {JUMP_IF_EQUAL, 1, 0, SYS_exit_group},
      {RETURN, 0, 0, KILL},
      {RETURN, 0, 0, ALLOW},
  };
  struct filter filter = {sizeof all / sizeof *all, all};
  int i;
  gotrace_proc_start(gotrace_proc_create());
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, strict ? 1 : 2, &filter) != 0) _exit(1);
  for (i = 0; i < SANDBOX_ROUNDS; i++) {
    gotrace_go_start(go);
    GOTRACE_REGION("round") gotrace_log(GOTRACE_NO_TASK, "category", "message");
    gotrace_go_stop(GOTRACE_STOP_YIELD);
  }
  if (gotrace_advance() != GOTRACE_OK || gotrace_stop() != GOTRACE_OK || write(1, "fine\n", 5) != 5) i = 0;
  if (strict) syscall(SYS_exit, i != SANDBOX_ROUNDS);
  if (i == SANDBOX_ROUNDS) return; /* as if main returned */
  syscall(SYS_exit_group, 1);
}

int main(int argc, char **argv) {
  static const gotrace_location entry = GOTRACE_ENTRY(run);
  const char *way = argc > 2 ? argv[2] : "";
  gotrace_result result = gotrace_start_environment(); /* again, if before main */
  int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  pthread_t threads[WORKERS];
  gotrace_proc *procs[WORKERS];
  unsigned i;
  printf("start: %s\n", gotrace_result_string(result));
  gotrace_thread_begin("main"); /* it creates tasks */
  if (getenv("GOTRACE") || fcntl(100, F_GETFD) >= 0) printf("the box can be inherited\n");
  if (strcmp(way, "sandbox") == 0 || strcmp(way, "strict") == 0) {
    fflush(stdout);
    run_sandboxed(gotrace_go_create(&entry), *way == 's' && way[1] == 't');
    return 0;
  }
  if (file < 0 || ftruncate(file, sizeof *log_of_all) != 0) return 1;
  log_of_all = mmap(NULL, sizeof *log_of_all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (log_of_all == MAP_FAILED) return 1;
  is_killed = strcmp(way, "killed") == 0;
  if (strcmp(way, "twice") == 0) use_recorded();
  for (i = 0; i < TASKS; i++) {
    tasks[i].go = gotrace_go_create(&entry);
    put(&tasks[i]);
  }
  if (strcmp(way, "forks") == 0) fork_child(NULL);
  if (strcmp(way, "copies") == 0) fork_child(_Fork), fork_child(clone_call);
  pthread_mutex_lock(&shared);
  for (i = 0; i < WORKERS; i++) {
    procs[i] = gotrace_proc_create();
    if (pthread_create(&threads[i], NULL, work, procs[i]) != 0) return 1;
  }
  await_waits();
  pthread_mutex_unlock(&shared);
  for (i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
  for (i = 0; i < WORKERS; i++) gotrace_proc_destroy(procs[i]);
  printf("stop: %s\n", gotrace_result_string(gotrace_stop()));
  return 0;
}
