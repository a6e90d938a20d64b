/* The cost of transcribing: processor time per record, when nothing else runs. The records of a trace are kept
 * (gotrace_options.late) until gotrace_stop, which is measured; the trace goes to a function that discards it.
 *
 *     transcribe [-c] [NAME]      -c: once, for a tool that counts instructions
 *
 * Lines `result NAME 1 NS_MIN NS_MEDIAN`:
 *
 *     transcribe_local     a thread that starts, blocks and unblocks its goroutines, in regions
 *     transcribe_crossing  two threads that wake each other in turn
 *     transcribe_million   a million goroutines in random order
 */
#define _GNU_SOURCE 1
#include "gotrace.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 3, FEW = 64, MANY = 1000000 };

static const gotrace_location entry = GOTRACE_NAMED_ENTRY("worker");
static gotrace_go **gos;

static void local(unsigned long count) {
  unsigned long i;
  for (i = 0; i < count; i += 5) {
    gotrace_go *go = gos[i / 5 % FEW];
    gotrace_go_unblock(go);
    gotrace_go_start(go);
    GOTRACE_REGION("work") {
    }
    gotrace_go_block(GOTRACE_BLOCK_CHAN_RECV);
  }
}

static atomic_ulong turn;
static void *one_side(void *argument) {
  unsigned long me = *(unsigned long *)argument, count = turn >> 1, i;
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_proc_start(proc);
  for (i = 0; i < count / 3; i += 2) {
    while (atomic_load_explicit(&turn, memory_order_acquire) != 2 * count + i + me) sched_yield();
    gotrace_go_start(gos[me]);
    gotrace_go_unblock(gos[1 - me]);
    gotrace_go_block(GOTRACE_BLOCK_CHAN_RECV);
    atomic_fetch_add_explicit(&turn, 1, memory_order_release);
  }
  gotrace_proc_stop();
  return NULL;
}
static void crossing(unsigned long count) {
  static unsigned long sides[2] = {0, 1};
  pthread_t threads[2];
  int i;
  turn = 2 * count;
  gotrace_go_unblock(gos[0]);
  for (i = 0; i < 2; i++) pthread_create(&threads[i], NULL, one_side, &sides[i]);
  for (i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static void million(unsigned long count) {
  unsigned long i, random = 1;
  for (i = 0; i < count; i += 3) {
    random = (random * 6364136223846793005u + 1442695040888963407u) & 0xffffffffffffffffu;
    gotrace_go_unblock(gos[(random >> 33) % MANY]);
    gotrace_go_start(gos[(random >> 33) % MANY]);
    gotrace_go_block(GOTRACE_BLOCK_CHAN_RECV);
  }
}

static const struct {
  const char *name;
  void (*run)(unsigned long count);
  unsigned long count;
  int gos;
} loads[] = {
    {"transcribe_local", local, 500000, FEW},
    {"transcribe_crossing", crossing, 60000, 2},
    {"transcribe_million", million, 3000000, MANY},
};

static bool throw_away(void *context, const void *data, size_t size) {
  (void)data;
  *(unsigned long *)context += size;
  return true;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

__attribute__((noinline)) static void counted(void) { gotrace_stop(); }

int main(int argc, char **argv) {
  bool once = argc > 1 && strcmp(argv[1], "-c") == 0;
  const char *only = argc > 1 + once ? argv[1 + once] : NULL;
  size_t i;
  int run, runs = once ? 1 : RUNS, j;
  gos = (gotrace_go **)malloc(MANY * sizeof *gos);
  if (!gos) return 2;
  for (i = 0; i < sizeof loads / sizeof *loads; i++) {
    double times[RUNS];
    gotrace_proc *proc;
    if (only && strcmp(only, loads[i].name) != 0) continue;
    for (j = 0; j < loads[i].gos; j++) gos[j] = gotrace_go_create_blocked(&entry);
    proc = gotrace_proc_create();
    for (run = 0; run < runs; run++) {
      gotrace_options options;
      gotrace_stats stats;
      unsigned long bytes = 0;
      double begin;
      memset(&options, 0, sizeof options);
      options.write = throw_away;
      options.context = &bytes;
      options.format = GOTRACE_GO_1_23;
      options.late = true;
      options.memory_limit = (size_t)1 << 30;
      gotrace_start(&options);
      if (loads[i].run != crossing) gotrace_proc_start(proc);
      loads[i].run(loads[i].count);
      if (loads[i].run != crossing) gotrace_proc_stop();
      begin = processor_time();
      counted();
      times[run] = (processor_time() - begin) / (double)loads[i].count;
      gotrace_get_stats(&stats);
      if (stats.events < loads[i].count)
        return printf("wrong: %s: %lu events\n", loads[i].name, (unsigned long)stats.events), 1;
    }
    qsort(times, (size_t)runs, sizeof *times, ascending);
    printf("result %s 1 %.2f %.2f\n", loads[i].name, times[0], times[runs / 2]);
    gotrace_proc_destroy(proc);
    for (j = 0; j < loads[i].gos; j++) gotrace_go_destroy(gos[j]);
  }
  free(gos);
  return 0;
}
