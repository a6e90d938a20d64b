/* samples.c - a program whose CPU time is known by function, for the CPU samples of `gotrace record`
 *
 *     samples               two threads call three functions, and print how much CPU time each of them took
 *     samples --short       the same in less time
 *     samples --timers      the same in calls that are long enough for samples by timers, of which there are few
 *     samples --exec        the same by a child that executes this program; its process id is printed
 *     samples --fork        the same by a child that does not
 *     samples --many        the same by several at once, each of which prints its process id before what it prints
 *     samples --allowed     exit status 0: this user may use perf events
 *     samples --forbid COMMAND...     executes a command that may not
 *     samples --renames COMMAND...    executes a command in a file system that knows no renameat2 */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Thread_local volatile unsigned sum;
static double enough = 1.2; /* seconds of CPU time of a thread */
static unsigned units = 1;
static char prefix[16];

#define FUNCTION(name)                                       \
  __attribute__((noinline)) void name(unsigned many) {       \
    unsigned i;                                              \
    for (i = 0; i < many * 1000000; i++) sum = sum * 17 + i; \
  }
FUNCTION(half)
FUNCTION(third)
FUNCTION(fifth)

static double cpu_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((noinline)) static void measure(void (*function)(unsigned), unsigned many, double *time) {
  double before = cpu_time();
  function(many);
  *time += cpu_time() - before;
}

/* Until the thread has used so much: on any machine there are enough samples. A call takes several of their periods, so
 * that the two do not beat. */
void *work(void *unused) {
  double time[3] = {0, 0, 0};
  while (cpu_time() < enough) {
    measure(half, 5 * units, &time[0]);
    measure(third, 3 * units, &time[1]);
    measure(fifth, 2 * units, &time[2]);
  }
  printf("%shalf %f third %f fifth %f\n", prefix, time[0], time[1], time[2]);
  return unused;
}

static int open_event(void) {
  struct perf_event_attr a;
  memset(&a, 0, sizeof a);
  a.size = sizeof a;
  a.type = PERF_TYPE_SOFTWARE;
  a.config = PERF_COUNT_SW_CPU_CLOCK;
  a.exclude_kernel = a.exclude_hv = 1;
  return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0ul);
}

static void forbid(unsigned call, unsigned error) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* Returns in a child that does not execute the program. */
static void be_child(const char *how, char *program) {
  pid_t child = fork();
  int status = 1;
  if (child == 0 && strcmp(how, "--exec") == 0) {
    execl(program, program, (char *)NULL);
    _exit(127);
  }
  if (child == 0) return;
  waitpid(child, &status, 0);
  printf("process %d\n", (int)child);
  fflush(stdout);
  _exit(status != 0);
}

/* Returns in the children. */
static void be_children(int count) {
  int status;
  while (count--) {
    if (fork() != 0) continue;
    snprintf(prefix, sizeof prefix, "%d ", (int)getpid());
    return;
  }
  while (wait(&status) > 0)
    if (status != 0) _exit(1);
  _exit(0);
}

int main(int count, char **words) {
  pthread_t thread;
  if (count > 1 && strcmp(words[1], "--allowed") == 0) return open_event() < 0;
  if (count > 2) {
    if (strcmp(words[1], "--forbid") == 0) forbid(SYS_perf_event_open, EPERM);
    if (strcmp(words[1], "--renames") == 0) forbid(SYS_renameat2, EINVAL);
    execvp(words[2], words + 2);
    return 127;
  }
  if (count > 1 && strcmp(words[1], "--short") == 0) enough = 0.3;
  else if (count > 1 && strcmp(words[1], "--timers") == 0) enough = 3, units = 20;
  else if (count > 1 && strcmp(words[1], "--many") == 0) be_children(3);
  else if (count > 1) be_child(words[1], words[0]);
  pthread_create(&thread, NULL, work, NULL);
  work(NULL);
  pthread_join(thread, NULL);
  return 0;
}
