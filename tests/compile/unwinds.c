/* unwinds.c - stacks of gotrace_unwind are those that the compiler's library finds: see test_unwind.sh. Also C++.
 *
 *     unwinds         checks
 *     unwinds time    prints nanoseconds a stack, beside the library's
 *
 * The trace's own stacks are checked, too: they begin in the program and end at the thread's start. */

#define GOTRACE_UNWIND_IMPLEMENTATION
#include "gotrace_unwind.h"

#include "../library_stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define CHECK(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "unwinds.c:%d: %s\n", __LINE__, #condition), abort()))

static volatile int sink; /* keeps calls from being the last thing that a function does */
static volatile int checked, last_count;

/* The unwinder that the trace uses: compares the two, from its caller on. */
static int unwind(void *context, uintptr_t *pcs, int max) {
  stack theirs;
  int count = gotrace_unwind(context, pcs, max), i;
  if (!count) return 0; /* not on this system */
  CHECK(count > 2 && max <= MOST);
  theirs.count = 0;
  theirs.from = pcs[1];
  (void)_Unwind_Backtrace(take, &theirs);
  if (theirs.count > max - 1) theirs.count = max - 1;
  for (i = 0; i < count - 1 && i < theirs.count && pcs[i + 1] == theirs.pcs[i]; i++) continue;
  if (i < count - 1 || i < theirs.count) {
    fprintf(stderr, "frames %d, not %d; %d are the same\n", count - 1, theirs.count, i);
    abort();
  }
  checked = checked + 1;
  last_count = count;
  return count;
}

#define NOINLINE __attribute__((__noinline__))

NOINLINE static void report(int unused) {
  gotrace_log(GOTRACE_NO_TASK, "here", "message");
  sink = sink + unused;
}

NOINLINE static void deep(int depth, void (*function)(int)) {
  if (depth) deep(depth - 1, function);
  else function(0);
  sink = sink + 1;
}

/* A stack that is aligned: the frame's beginning is stored in it. */
NOINLINE static void aligned(int size) {
  char room[256] __attribute__((__aligned__(64)));
  memset(room, size, sizeof room);
  sink = sink + room[size];
  deep(2, report);
  sink = sink + room[size + 1];
}

/* More than a page, of which nothing is touched between its ends. */
NOINLINE static void large(int unused) {
  volatile char room[100000];
  room[0] = room[99999] = 1;
  report(0);
  sink = sink + room[unused];
}

static int by_callback(const void *a, const void *b) {
  report(0);
  return *(const int *)a - *(const int *)b;
}

static void sorts(void) {
  int numbers[4] = {4, 2, 8, 5};
  qsort(numbers, 4, sizeof *numbers, by_callback);
  sink = sink + numbers[0];
}

static void handle(int number) {
  int before = checked;
  report(0);
  if (number == SIGUSR1) CHECK(checked == before + 1 && last_count > 6);
  sink = sink + 1;
}

static void raises(int unused) {
  raise(SIGUSR1);
  sink = sink + unused;
}

NOINLINE static int leaf(int x) {
  int i;
  for (i = 0; i < x; i++) x ^= i * 7;
  return x;
}

/* Signals at any instruction, also of the tracer, where the handler's call is only counted. */
static void interrupted(void) {
  struct itimerval each = {{0, 500}, {0, 500}}, none = {{0, 0}, {0, 0}};
  int until = checked + 100;
  setitimer(ITIMER_PROF, &each, NULL);
  while (checked < until) {
    char text[64];
    sink = sink + leaf(sink & 15) + snprintf(text, sizeof text, "%d %f", sink, 1.5);
  }
  setitimer(ITIMER_PROF, &none, NULL);
}

static void handle_signals(void) {
  char other[65536];
  stack_t alternate;
  struct sigaction action;
  int flags;
  memset(&alternate, 0, sizeof alternate);
  alternate.ss_sp = other;
  alternate.ss_size = sizeof other;
  sigaltstack(&alternate, NULL);
  for (flags = 0; flags <= SA_ONSTACK; flags += SA_ONSTACK) {
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGPROF, &action, NULL);
    deep(5, raises);
    interrupted();
  }
  alternate.ss_flags = SS_DISABLE;
  sigaltstack(&alternate, NULL);
}

/* A coroutine's stack is between pages that cannot be read. It moves, and what was there is unmapped. */
static ucontext_t outside, inside;
static void coroutine(void) {
  deep(20, report);
  swapcontext(&inside, &outside);
}
static void run_coroutines(void) {
  int i, before = checked;
  for (i = 0; i < 40; i++) {
    size_t pages = 4 + (size_t)i % 3;
    char *memory = (char *)mmap(NULL, (pages + 2) * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && mprotect(memory + 4096, pages * 4096, PROT_READ | PROT_WRITE) == 0);
    CHECK(getcontext(&inside) == 0);
    inside.uc_stack.ss_sp = memory + 4096;
    inside.uc_stack.ss_size = pages * 4096;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    CHECK(swapcontext(&outside, &inside) == 0);
    CHECK(last_count >= 22 && last_count < 40);
    munmap(memory, (pages + 2) * 4096);
  }
  CHECK(checked == before + 40);
}

/* Signals are for the new thread, not for this one. */
static void block_timer(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPROF);
  pthread_sigmask(how, &set, NULL);
}

static void *run_thread(void *argument) {
  int depth, before = checked;
  block_timer(SIG_UNBLOCK);
  for (depth = 1; depth < 60; depth += 7) deep(depth, report);
  deep(1000, report);
  aligned(40);
  large(0);
  sorts();
  run_coroutines();
  handle_signals();
  CHECK(checked > before + 50);
  return argument;
}

/* The trace. */
static char written[1 << 22];
static size_t size_written;
static bool keep(void *context, const void *data, size_t size) {
  (void)context;
  CHECK(size <= sizeof written - size_written);
  memcpy(written + size_written, data, size);
  size_written += size;
  return true;
}

static bool has_name(const gotrace_frame *frame, const char *name) {
  size_t i, size = strlen(name);
  for (i = 0; i + size <= frame->function_size; i++)
    if (memcmp(frame->function + i, name, size) == 0) return true;
  return false;
}

/* Its stacks: from the function that calls the tracer, with the callers that are known. */
static void read_stacks(void) {
  gotrace_decoder *d;
  gotrace_decoder_options options;
  gotrace_event event;
  int found = 0;
  memset(&options, 0, sizeof options);
  options.data = written;
  options.size = size_written;
  CHECK(gotrace_decoder_open(&d, &options) == GOTRACE_OK);
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK) {
    gotrace_frame frames[MOST];
    size_t count, i, calls = 0;
    if (event.kind != GOTRACE_V2_USER_LOG) continue;
    count = gotrace_decoder_stack(d, event.stack, frames, MOST);
    CHECK(count > 2 && has_name(&frames[0], "report") && has_name(&frames[1], "deep"));
    for (i = 0; i < count; i++) {
      CHECK(!has_name(&frames[i], "gotrace"));
      calls += has_name(&frames[i], "deep");
    }
    CHECK(calls == (size_t)(found % 20 + 1));
    found++;
  }
  CHECK(gotrace_decoder_error(d)->result == GOTRACE_OK && found == 200);
  gotrace_decoder_close(d);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void measure(int unused) {
  stack s;
  int which, i, round;
  for (which = 0; which < 2; which++) {
    double best = 1;
    for (round = 0; round < 200; round++) {
      double begin = seconds();
      for (i = 0; i < 100; i++) {
        s.count = 0;
        s.from = 0;
        if (which) (void)_Unwind_Backtrace(take, &s);
        else s.count = gotrace_unwind(NULL, s.pcs, MOST);
      }
      begin = (seconds() - begin) / 100;
      if (begin < best) best = begin;
    }
    printf("%s: %d frames in %.0f ns\n", which ? "libgcc" : "gotrace_unwind", s.count, best * 1e9);
  }
  sink = sink + unused;
}

static double best_first = 1;
static void measure_first(int unused) {
  uintptr_t pcs[MOST];
  double begin = seconds();
  int count = gotrace_unwind(NULL, pcs, MOST);
  begin = seconds() - begin;
  if (begin < best_first) best_first = begin;
  sink = sink + count + unused;
}

static void *measure_thread(void *argument) {
  if (argument) deep(9, measure);
  else deep(9, measure_first);
  return argument;
}

static void run(void *(*function)(void *), void *argument) {
  pthread_t thread;
  block_timer(SIG_BLOCK);
  CHECK(pthread_create(&thread, NULL, function, argument) == 0 && pthread_join(thread, NULL) == 0);
}

int main(int argc, char **argv) {
  gotrace_options options;
  int i;
  if (argc > 1) {
    deep(11, measure);
    run(measure_thread, argv);
    for (i = 0; i < 1000; i++) run(measure_thread, NULL);
    printf("a thread's first: %.0f ns\n", best_first * 1e9);
    return 0;
  }
  memset(&options, 0, sizeof options);
  options.write = keep;
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = gotrace_unwind;
  CHECK(gotrace_unwind(NULL, NULL, 3) == 0);
  CHECK(gotrace_start(&options) == GOTRACE_OK);
  for (i = 0; i < 200; i++) deep(i % 20, report);
  CHECK(gotrace_stop() == GOTRACE_OK);
  read_stacks();
  options.unwind = unwind;
  CHECK(gotrace_start(&options) == GOTRACE_OK);
  size_written = 0;
  (void)run_thread(NULL);
  run(run_thread, NULL);
  gotrace_unwind_begin_unload();
  deep(3, report);
  gotrace_unwind_end_unload();
  deep(3, report);
#if GOTRACE__UNWIND_HERE
  gotrace__unwind_find_object = NULL; /* as before glibc 2.35 and in musl */
  gotrace_unwind_begin_unload();
  gotrace_unwind_end_unload();
  deep(9, report);
  sorts();
#endif
  CHECK(gotrace_stop() == GOTRACE_OK);
  fprintf(stderr, "%d stacks\n", checked);
  return 0;
}
