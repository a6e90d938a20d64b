/* switches.c - a program that knows where its threads' time went, for `gotrace record`
 *
 *     switches      prints for each thread: its function, and nanoseconds on a processor, without one although it could
 *                   run (both as the kernel counts them), asleep in what the library sees, and asleep in what it does
 *                   not see */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef struct counts {
  unsigned long long on, ready;
} counts;

static uint64_t read_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A system call that nobody can wrap. */
static void sleep_unseen(long milliseconds) {
  struct timespec time = {0, milliseconds * 1000000};
#if defined(__x86_64__)
  long result = SYS_nanosleep;
  __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(0) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long number __asm__("x8") = SYS_nanosleep, first __asm__("x0") = (long)&time, second __asm__("x1") = 0;
  __asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second) : "memory");
#endif
}

/* Where the kernel has no such file, zeros. */
static counts count(void) {
  char path[64];
  counts c = {0, 0};
  FILE *file;
  snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", (long)syscall(SYS_gettid));
  file = fopen(path, "r");
  if (!file || fscanf(file, "%llu %llu", &c.on, &c.ready) != 2) c.on = c.ready = 0;
  if (file) fclose(file);
  c.on = read_clock(CLOCK_THREAD_CPUTIME_ID); /* the same, up to now instead of the last tick */
  return c;
}

static void say(const char *name, uint64_t seen, uint64_t unseen) {
  counts c = count();
  printf("%s %llu %llu %llu %llu\n", name, c.on, c.ready, (unsigned long long)seen, (unsigned long long)unseen);
}

static void compute(uint64_t milliseconds) {
  static _Thread_local volatile unsigned sum;
  uint64_t end = read_clock(CLOCK_THREAD_CPUTIME_ID) + milliseconds * 1000000;
  while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end) sum = sum * 17 + 1;
}

/* Two of these have one processor. */
static void *shares(void *name) {
  cpu_set_t all, first;
  counts before, after;
  uint64_t since;
  int i = 0;
  pthread_getaffinity_np(pthread_self(), sizeof all, &all);
  while (!CPU_ISSET(i, &all)) i++;
  CPU_ZERO(&first);
  CPU_SET(i, &first);
  before = count();
  since = read_clock(CLOCK_MONOTONIC);
  pthread_setaffinity_np(pthread_self(), sizeof first, &first); /* waits, if another processor has to let it go */
  since = read_clock(CLOCK_MONOTONIC) - since;
  after = count();
  after.on += after.ready - before.ready - before.on;
  compute(800);
  say(name, 0, since > after.on ? since - after.on : 0);
  return NULL;
}
void *shares_one(void *unused) { return shares("shares_one"), unused; }
void *shares_other(void *unused) { return shares("shares_other"), unused; }

void *sleeps(void *unused) {
  uint64_t unseen = 0;
  int i;
  for (i = 0; i < 20; i++) {
    uint64_t before = read_clock(CLOCK_MONOTONIC);
    sleep_unseen(60);
    unseen += read_clock(CLOCK_MONOTONIC) - before;
    compute(5);
  }
  say("sleeps", 0, unseen);
  return unused;
}

/* A sleep that is seen, and at once one that is not: the kernel's switches are close to the library's records. */
void *mixes(void *unused) {
  uint64_t seen = 0, unseen = 0;
  int i;
  for (i = 0; i < 100; i++) {
    uint64_t first = read_clock(CLOCK_MONOTONIC), second;
    usleep(8000);
    second = read_clock(CLOCK_MONOTONIC);
    sleep_unseen(8);
    seen += second - first;
    unseen += read_clock(CLOCK_MONOTONIC) - second;
  }
  say("mixes", seen, unseen);
  return unused;
}

int main(void) {
  static void *(*const functions[])(void *) = {shares_one, shares_other, sleeps, mixes};
  pthread_t threads[4];
  int i;
  for (i = 0; i < 4; i++) pthread_create(&threads[i], NULL, functions[i], NULL);
  for (i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}
