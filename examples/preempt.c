/* A scheduler that preempts its tasks: a timer's signal handler switches from one coroutine to the next, in the middle
 * of whatever it does, and another thread may resume it. It shows what gotrace_in_call is for: a task that the signal
 * finds inside a call of the tracer runs on until the next signal.
 *
 *     cc -O2 -I. examples/preempt.c -o preempt -pthread && ./preempt preempt.trace && go tool trace preempt.trace
 *
 * Usage: preempt [FILE [LOGS [FORMAT]]]. Eight tasks write LOGS logs each, on two threads. Fails if the trace lacks a
 * log or an event was dropped. Linux. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { WORKERS = 2, TASKS = 8, STACK = 1 << 17, SLICE = 200000 /* nanoseconds */ };

typedef struct task {
  ucontext_t context;
  gotrace_go *go;
  struct task *next;
  char *stack;
  bool done;
} task;

/* The queue of runnable tasks. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static task *first, **end = &first;
static int unfinished = TASKS;
static unsigned long preemptions, deferred; /* atomic */
static long logs = 200000;

/* Of a worker. A task may read them on one thread and go on on another, so they are read in functions of their own. */
static __thread ucontext_t scheduler;
static __thread task *running;
__attribute__((noinline)) static ucontext_t *my_scheduler(void) {
  __asm__ volatile("");
  return &scheduler;
}
__attribute__((noinline)) static task *my_task(void) {
  __asm__ volatile("");
  return running;
}

static void put(task *t) {
  pthread_mutex_lock(&lock);
  t->next = NULL;
  *end = t;
  end = &t->next;
  pthread_mutex_unlock(&lock);
}

static task *take(bool *all_done) {
  task *t;
  pthread_mutex_lock(&lock);
  t = first;
  if (t && !(first = t->next)) end = &first;
  *all_done = !unfinished;
  pthread_mutex_unlock(&lock);
  return t;
}

/* Where the signal came; NULL: unknown on this processor. */
static const void *program_counter(const ucontext_t *context) {
#if defined(__x86_64__)
  return (const void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (const void *)context->uc_mcontext.pc;
#else
  return (void)context, NULL;
#endif
}

/* The signal is blocked in the scheduler and during a switch. A task that is resumed returns from here, which unblocks
 * it again. */
static void preempt(int number, siginfo_t *details, void *context) {
  task *t = my_task();
  const void *pc = program_counter((ucontext_t *)context);
  (void)number, (void)details;
  if (gotrace_in_call(pc)) { /* it is not safe to switch: defer */
    __atomic_add_fetch(&deferred, 1, __ATOMIC_RELAXED);
    return;
  }
  __atomic_add_fetch(&preemptions, 1, __ATOMIC_RELAXED);
  gotrace_go_stop(GOTRACE_STOP_PREEMPTED);
  swapcontext(&t->context, my_scheduler());
}

static void block_preemption(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(how, &set, NULL);
}

static void count_words(void) {
  long i;
  block_preemption(SIG_UNBLOCK);
  for (i = 0; i < logs; i++) gotrace_log(GOTRACE_NO_TASK, "word", "counted");
  block_preemption(SIG_BLOCK);
  gotrace_go_end();
  my_task()->done = true;
  setcontext(my_scheduler());
}

static void *work(void *argument) {
  gotrace_proc *proc = gotrace_proc_create();
  struct itimerspec slice = {{0, SLICE}, {0, SLICE}};
  struct sigevent event;
  timer_t timer;
  task *t;
  bool all_done = false;
  (void)argument;
  block_preemption(SIG_BLOCK);
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR1;
#ifdef sigev_notify_thread_id
  event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
#else
  event._sigev_un._tid = (int)syscall(SYS_gettid);
#endif
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &slice, NULL) != 0) exit(1);
  gotrace_proc_start(proc);
  while (!all_done) {
    t = take(&all_done);
    if (!t) {
      usleep(100);
      continue;
    }
    running = t;
    gotrace_go_start(t->go);
    swapcontext(&scheduler, &t->context);
    running = NULL;
    if (!t->done) {
      put(t);
    } else {
      pthread_mutex_lock(&lock);
      unfinished--;
      pthread_mutex_unlock(&lock);
    }
  }
  timer_delete(timer);
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  return NULL;
}

int main(int argc, char **argv) {
  static const gotrace_location entry = GOTRACE_ENTRY(count_words);
  static task tasks[TASKS];
  pthread_t workers[WORKERS];
  gotrace_options options;
  struct sigaction action;
  gotrace_stats stats;
  gotrace_result result;
  int i;
  memset(&options, 0, sizeof options);
  if (argc > 2) logs = atol(argv[2]);
  if (argc > 3) options.format = (gotrace_format)atoi(argv[3]);
  result = gotrace_start_file(argc > 1 ? argv[1] : "preempt.trace", &options);
  if (result != GOTRACE_OK) return fprintf(stderr, "preempt: %s\n", gotrace_result_string(result)), 1;
  gotrace_thread_begin("main");
  memset(&action, 0, sizeof action);
  action.sa_sigaction = preempt;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, NULL);
  block_preemption(SIG_BLOCK); /* a context begins with the mask that getcontext finds */
  for (i = 0; i < TASKS; i++) {
    task *t = &tasks[i];
    if (!(t->stack = malloc(STACK)) || getcontext(&t->context) != 0) return 1;
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = STACK;
    makecontext(&t->context, count_words, 0);
    t->go = gotrace_go_create(&entry);
    gotrace_go_stack_bounds(t->go, t->stack, t->stack + STACK);
    put(t);
  }
  for (i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, work, NULL);
  for (i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
  result = gotrace_stop();
  gotrace_get_stats(&stats);
  for (i = 0; i < TASKS; i++) free(tasks[i].stack);
  printf("%lu preemptions, %lu deferred; %llu logs, %llu in the trace\n", preemptions, deferred,
         (unsigned long long)logs * TASKS, (unsigned long long)stats.kinds[GOTRACE_V2_USER_LOG]);
  return result != GOTRACE_OK || stats.dropped || stats.repaired ||
         stats.kinds[GOTRACE_V2_USER_LOG] != (unsigned long long)logs * TASKS;
}
