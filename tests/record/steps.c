/* steps.c - a program that gets a signal after one of its own instructions: see steps.py
 *
 *     steps LOG SLEEPS PART STEPS SIGNAL
 *
 * It sleeps so many times. Then it has some parts: it sleeps from new places, creates and joins threads that sleep, and
 * exits. One part a child of it runs instruction by instruction, all threads in turn, and it sends the signal after so
 * many, or when the part is over.
 *
 * LOG is a file of four 64-bit numbers, which is mapped: how many actions the program has begun, how many it has ended,
 * how many instructions have been run one by one, and how many when the part was over. A sleep, and the creation of a
 * thread, is an action. At any time only one thread acts, so all actions have an order. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 6, SLEEPS = 2 }; /* but for the exit; of a thread */

static struct log { uint64_t begun, ended, steps, part; } * noted;
static struct control { volatile uint32_t wanted, attached; } * control;

static void begin_action(void) { __atomic_add_fetch(&noted->begun, 1, __ATOMIC_SEQ_CST); }
static void end_action(void) { __atomic_add_fetch(&noted->ended, 1, __ATOMIC_SEQ_CST); }

/* Each depth is another stack. */
__attribute__((noinline, noclone)) static void sleep_at(int depth) {
  if (depth) {
    sleep_at(depth - 1);
  } else {
    begin_action();
    nanosleep(&(struct timespec){0, 1}, NULL);
    end_action();
  }
  __asm__ volatile("");
}

static void *run_thread(void *unused) {
  int i;
  for (i = 0; i < SLEEPS; i++) sleep_at(i);
  return unused;
}

/* In the child. */
static void run_steps(pid_t program, uint64_t most, int signal) {
  int status;
  pid_t thread;
  while (!control->wanted)
    if (getppid() != program) return;
  if (ptrace(PTRACE_SEIZE, program, NULL, (void *)PTRACE_O_TRACECLONE) != 0) return;
  if (ptrace(PTRACE_INTERRUPT, program, NULL, NULL) != 0) return;
  control->attached = 1;
  while ((thread = waitpid(-1, &status, __WALL)) > 0) {
    int passed;
    if (!WIFSTOPPED(status)) continue;
    /* Signals of the program's go on to it. A new thread stops, too. */
    passed = WSTOPSIG(status) == SIGTRAP || status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
    if (++noted->steps == most || __atomic_load_n(&noted->part, __ATOMIC_SEQ_CST)) {
      syscall(SYS_tgkill, program, thread, signal);
      ptrace(PTRACE_DETACH, thread, NULL, (void *)(intptr_t)passed);
      continue;
    }
    ptrace(PTRACE_SINGLESTEP, thread, NULL, (void *)(intptr_t)passed);
  }
}

static void use_one_processor(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((unsigned)sched_getcpu(), &set);
  sched_setaffinity(0, sizeof set, &set); /* switches between the two processes are faster */
}

int main(int argc, char **argv) {
  int file, part, which;
  pid_t program = getpid(), child;
  if (argc != 6 || (file = open(argv[1], O_RDWR)) < 0) return 2;
  noted = mmap(NULL, sizeof *noted, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (noted == MAP_FAILED || control == MAP_FAILED) return 2;
  close(file);
  which = atoi(argv[3]);
  use_one_processor();
  prctl(PR_SET_TIMERSLACK, 1);
  child = fork();
  if (child < 0) return 2;
  if (child == 0) {
    run_steps(program, strtoull(argv[4], NULL, 10), atoi(argv[5]));
    _exit(0);
  }
  prctl(PR_SET_PTRACER, child);
  for (part = atoi(argv[2]); part > 0; part--) sleep_at(0);
  for (part = 0; part <= PARTS; part++) {
    if (part == which) {
      control->wanted = 1;
      while (!control->attached)
        if (waitpid(child, NULL, WNOHANG) != 0) _exit(77); /* it may not */
    }
    if (part == PARTS) break;
    if (part % 2 == 0) {
      sleep_at(part + 1);
    } else {
      pthread_t thread;
      begin_action();
      if (pthread_create(&thread, NULL, run_thread, NULL) != 0) return 2;
      end_action();
      if (pthread_join(thread, NULL) != 0) return 2;
    }
    if (part == which) __atomic_store_n(&noted->part, noted->steps, __ATOMIC_SEQ_CST);
  }
  exit(3);
}
