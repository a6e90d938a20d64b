/* walked.c - waits in a signal handler, on a coroutine's stack and below a callback of the C library: see walked.py
 *
 * A timer interrupts a loop of calls, so that the handler's caller is often in the PLT. */

#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int sink;
static volatile unsigned handled;

__attribute__((noinline)) static void sleep_deep(int depth) {
  if (depth) sleep_deep(depth - 1);
  else usleep(1);
  sink++;
}

static int compare(const void *a, const void *b) {
  sleep_deep(1);
  return *(const int *)a - *(const int *)b;
}

static void again(void) {
  struct itimerval soon = {{0, 0}, {0, 300 + (handled * 37) % 100}};
  setitimer(ITIMER_REAL, &soon, NULL);
}

static void handle(int number) {
  (void)number;
  sleep_deep(2);
  handled++;
  again();
}

__attribute__((noinline)) static int calls(int n) {
  int i, sum = 0;
  for (i = 0; i < n; i++) sum += abs(i) + (int)getppid() + (int)strtol("7", NULL, 10);
  return sum;
}

static ucontext_t outside, inside;
static void coroutine(void) {
  for (;;) {
    sleep_deep(20);
    swapcontext(&inside, &outside);
  }
}

int main(void) {
  static char room[1 << 16];
  int numbers[8] = {4, 2, 8, 5, 1, 9, 3, 7}, i;
  getcontext(&inside);
  inside.uc_stack.ss_sp = room;
  inside.uc_stack.ss_size = sizeof room;
  makecontext(&inside, coroutine, 0);
  qsort(numbers, 8, sizeof *numbers, compare);
  for (i = 0; i < 10; i++) swapcontext(&outside, &inside);
  signal(SIGALRM, handle);
  again();
  while (handled < 400) sink += calls(100);
  return 0;
}
