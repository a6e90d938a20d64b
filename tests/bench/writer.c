/* What an event costs, as a ratio to the floor: a loop that reads the tick counter and stores 8 bytes.
 *
 *     cc -O2 -fno-omit-frame-pointer -I. tests/bench/writer.c -o writer -pthread && ./writer [-q]       (-q: quickly)
 *
 * Prints lines `result NAME THREADS ns_min ns_median ratio_to_floor bytes_per_event`. Each row is measured many times,
 * each time beside the floor; the ratio is the median of the ratios of neighbours. The thread is pinned; what it writes
 * is thrown away by the service thread. A row whose events are not all in the trace, or that has repaired ones, is an
 * error.
 */
#define _GNU_SOURCE 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { GOS = 256, MOST = 101 };

static int repetitions = 41;
static gotrace_format format;
static const char *suffix = "";
static gotrace_go *gos[GOS];
static int failures;

/* ---- Time ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static void unpin(void) {
  cpu_set_t set;
  int i;
  CPU_ZERO(&set);
  for (i = 0; i < CPU_SETSIZE; i++) CPU_SET((size_t)i, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static __thread volatile uint64_t buffer[1024];

static double floor_once(void) {
  enum { N = 50000 };
  double begin = now();
  int i;
  for (i = 0; i < N; i++) {
    buffer[i & 1023] = (uint64_t)GOTRACE__TICKS();
  }
  return (now() - begin) / N;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* ---- What is measured: each makes events and returns their time in nanoseconds an event ---- */

enum { BATCH = 20000 };

static double regions(void) {
  double begin = now();
  int i;
  for (i = 0; i < BATCH / 2; i++) {
    gotrace_region_begin(GOTRACE_NO_TASK, "region");
    gotrace_region_end(GOTRACE_NO_TASK, "region");
  }
  return (now() - begin) / BATCH;
}

static double logs(void) {
  double begin = now();
  int i;
  for (i = 0; i < BATCH; i++) gotrace_log(GOTRACE_NO_TASK, "category", "a message");
  return (now() - begin) / BATCH;
}

static double tasks(void) {
  double begin = now();
  int i;
  for (i = 0; i < BATCH / 2; i++) gotrace_task_end(gotrace_task_begin("task", GOTRACE_NO_TASK));
  return (now() - begin) / BATCH;
}

static double syscalls(void) {
  double begin = now();
  int i;
  for (i = 0; i < BATCH / 2; i++) {
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
  }
  return (now() - begin) / BATCH;
}

/* Goroutines that start and yield; their unblocking, which must come in between, is another row. */
static double starts_and_stops(void) {
  double begin = now();
  int i;
  for (i = 0; i < BATCH / 2; i++) {
    gotrace_go_start(gos[i % GOS]);
    gotrace_go_stop(GOTRACE_STOP_YIELD);
  }
  return (now() - begin) / BATCH;
}

static double unblock_time; /* of the last blocks_and_unblocks */
static double blocks_and_unblocks(void) {
  double blocks = 0, unblocks = 0;
  int round, i;
  for (round = 0; round < BATCH / GOS / 3; round++) {
    double begin = now(), between;
    for (i = 0; i < GOS; i++) {
      gotrace_go_start(gos[i]);
      gotrace_go_block(GOTRACE_BLOCK_SYNC);
    }
    between = now();
    for (i = 0; i < GOS; i++) gotrace_go_unblock(gos[i]);
    blocks += between - begin;
    unblocks += now() - between;
  }
  unblock_time = unblocks / (round * GOS);
  return blocks / (round * GOS * 2);
}
static double unblocks(void) {
  blocks_and_unblocks();
  return unblock_time;
}

static double switches(void) {
  double begin;
  int i;
  gotrace_go_start(gos[0]);
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  gotrace_go_start(gos[1]);
  begin = now();
  for (i = 0; i < BATCH; i++) gotrace_go_switch(gos[i & 1]);
  begin = (now() - begin) / BATCH;
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  gotrace_go_unblock(gos[0]);
  return begin;
}

/* A stack of so many frames, by frame pointers; `path` decides over the places of the calls. */
static double (*at_the_bottom)(void);
#define DEEPER(name) static __attribute__((noinline)) double name(int depth, uint64_t path)
DEEPER(left);
DEEPER(right);
#define GO_ON                                                                                                          \
  double result = depth > 0 ? (path & 1 ? left(depth - 1, path >> 1) : right(depth - 1, path >> 1)) : at_the_bottom(); \
  __asm__ volatile("" ::: "memory");                                                                                   \
  return result;
DEEPER(left){GO_ON} DEEPER(right) {
  GO_ON
}

static double stack_of(int depth) {
  at_the_bottom = regions;
  return left(depth - 5, 0); /* main and three more are there already */
}
static double stack4(void) {
  return regions();
}
static double stack16(void) {
  return stack_of(16);
}
static double stack64(void) {
  return stack_of(64);
}

static double one_region(void) {
  double begin = now();
  gotrace_region_begin(GOTRACE_NO_TASK, "region");
  gotrace_region_end(GOTRACE_NO_TASK, "region");
  return now() - begin;
}
static double clock_cost;
static double new_stacks(void) {
  static uint64_t path;
  double total = 0;
  int i;
  at_the_bottom = one_region;
  for (i = 0; i < 2000; i++) total += left(16, path++) - clock_cost;
  return total / (2 * 2000);
}

static double strings_seen(void) {
  static char text[16][32];
  double begin;
  int i;
  for (i = 0; i < 16; i++) snprintf(text[i], sizeof text[i], "a string made here %d", i);
  begin = now();
  for (i = 0; i < BATCH; i++) gotrace_go_label(text[i & 15]);
  return (now() - begin) / BATCH;
}

static double strings_new(void) {
  static unsigned n;
  static char text[2000][32];
  double begin;
  int i;
  for (i = 0; i < 2000; i++) snprintf(text[i], sizeof text[i], "a new string %u", n++);
  begin = now();
  for (i = 0; i < 2000; i++) gotrace_go_label(text[i]);
  return (now() - begin) / 2000;
}

/* ---- Rows ---- */

static void report(const char *name, int threads, double *times, double *ratios, int count, double bytes) {
  char whole[80];
  snprintf(whole, sizeof whole, "%s%s", name, suffix);
  qsort(times, (size_t)count, sizeof *times, ascending);
  qsort(ratios, (size_t)count, sizeof *ratios, ascending);
  printf("result %-28s %d %8.2f %8.2f %7.2f %6.2f\n", whole, threads, times[0], times[count / 2], ratios[count / 2],
         bytes);
  fflush(stdout);
}

static bool throw_away(void *context, const void *data, size_t size) {
  (void)context, (void)data, (void)size;
  return true;
}

static gotrace_proc *prepare(gotrace_go **mine) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("goroutine");
  gotrace_proc *p = gotrace_proc_create();
  int i;
  gotrace_proc_start(p);
  for (i = 0; i < GOS; i++) mine[i] = gotrace_go_create(&entry);
  return p;
}

static void finish(gotrace_proc *p, gotrace_go **mine) {
  int i;
  for (i = 0; i < GOS; i++) {
    gotrace_go_start(mine[i]);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(p);
}

/* `runs`: a goroutine runs meanwhile. off: without a trace. */
static void row(const char *name, double (*measure)(void), bool runs, bool off, gotrace_stacks stacks) {
  static double times[MOST], ratios[MOST];
  gotrace_options options;
  gotrace_stats before, after;
  gotrace_proc *p;
  int i;
  memset(&options, 0, sizeof options);
  memset(&before, 0, sizeof before);
  options.format = format;
  options.write = throw_away;
  options.stacks = stacks;
  if (!off && gotrace_start(&options) != GOTRACE_OK) exit(2);
  pin(0); /* after the start: the service thread is to run elsewhere */
  p = prepare(gos);
  if (runs) gotrace_go_start(gos[2]);
  measure(); /* names and stacks are known, pages are there */
  for (i = 0; i < repetitions; i++) {
    double ground = floor_once();
    times[i] = measure();
    ratios[i] = times[i] / ground;
  }
  if (runs) gotrace_go_stop(GOTRACE_STOP_YIELD);
  finish(p, gos);
  memset(&after, 0, sizeof after);
  if (!off) {
    gotrace_result result = gotrace_stop();
    gotrace_get_stats(&after);
    if (result || after.dropped || after.repaired || after.left_out) {
      printf("%s%s: %s; %llu dropped, %llu repaired, %llu left out\n", name, suffix, gotrace_result_string(result),
             (unsigned long long)after.dropped, (unsigned long long)after.repaired, (unsigned long long)after.left_out);
      failures++;
    }
  }
  unpin();
  report(name, 1, times, ratios, repetitions, off || !after.events ? 0 : (double)after.bytes / (double)after.events);
}

/* ---- Two threads ---- */

typedef struct worker {
  pthread_t thread;
  int processor;
  double (*measure)(void);
  double times[MOST], ratios[MOST];
} worker;

static pthread_barrier_t together;

static void *work(void *argument) {
  worker *w = argument;
  gotrace_go *mine[GOS];
  gotrace_proc *p;
  int i;
  pin(w->processor);
  p = prepare(mine);
  gotrace_go_start(mine[0]);
  w->measure();
  for (i = 0; i < repetitions; i++) {
    double ground;
    pthread_barrier_wait(&together);
    ground = floor_once();
    pthread_barrier_wait(&together);
    w->times[i] = w->measure();
    w->ratios[i] = w->times[i] / ground;
  }
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  finish(p, mine);
  return NULL;
}

static void two_threads(const char *name, double (*measure)(void)) {
  static worker workers[2];
  gotrace_options options;
  gotrace_stats stats;
  int i;
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
    printf("%s%s 2: needs two processors\n", name, suffix);
    return;
  }
  memset(&options, 0, sizeof options);
  options.format = format;
  options.write = throw_away;
  pthread_barrier_init(&together, NULL, 2);
  if (gotrace_start(&options) != GOTRACE_OK) exit(2);
  for (i = 0; i < 2; i++) {
    workers[i].processor = i;
    workers[i].measure = measure;
    pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  }
  for (i = 0; i < 2; i++) pthread_join(workers[i].thread, NULL);
  gotrace_stop();
  gotrace_get_stats(&stats);
  report(name, 2, workers[0].times, workers[0].ratios, repetitions, (double)stats.bytes / (double)stats.events);
}

/* ---- The rest: what is not an event ---- */

static void one_time(const char *name, double nanoseconds) {
  printf("result %-28s 1 %8.0f %8.0f %7.0f %6.2f\n", name, nanoseconds, nanoseconds, nanoseconds / floor_once(), 0.0);
  fflush(stdout);
}

static void *first_event(void *argument) {
  double begin = now();
  gotrace_log(GOTRACE_NO_TASK, "category", "first");
  *(double *)argument = now() - begin;
  return NULL;
}

static void rest(void) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("silent");
  static const int counts[] = {0, 10000, 1000000};
  gotrace_options options;
  gotrace_stats stats;
  double begin, took = 0;
  pthread_t thread;
  int i, j;
  memset(&options, 0, sizeof options);
  options.write = throw_away;
  begin = now();
  gotrace_start(&options);
  one_time("start", now() - begin);
  gotrace_log(GOTRACE_NO_TASK, "category", "warm");
  pthread_create(&thread, NULL, first_event, &took);
  pthread_join(thread, NULL);
  one_time("first_event_of_a_thread", took);
  begin = now();
  gotrace_stop();
  one_time("stop", now() - begin);
  for (i = 0; i < 3; i++) {
    char name[64];
    gotrace_go **silent = malloc(((size_t)counts[i] + 1) * sizeof *silent);
    gotrace_proc *p;
    if (!silent) exit(2);
    gotrace_start(&options);
    p = gotrace_proc_create();
    gotrace_proc_start(p);
    for (j = 0; j < counts[i]; j++) silent[j] = gotrace_go_create(&entry);
    gotrace_advance();
    begin = now();
    gotrace_advance();
    snprintf(name, sizeof name, "advance_%d_silent", counts[i]);
    one_time(name, now() - begin);
    gotrace_stop();
    gotrace_get_stats(&stats);
    if (i == 2)
      printf("memory with %d goroutines: %.1f MB of buffers and tables\n", counts[i], (double)stats.memory_peak / 1e6);
    for (j = 0; j < counts[i]; j++) {
      gotrace_go_start(silent[j]);
      gotrace_go_end();
    }
    gotrace_proc_stop();
    gotrace_proc_destroy(p);
    free(silent);
  }
  gotrace_flight_start(&options);
  for (i = 0; i < 200000; i++) gotrace_log(GOTRACE_NO_TASK, "category", "flight");
  begin = now();
  gotrace_flight_snapshot(throw_away, NULL);
  one_time("flight_snapshot_1MB", now() - begin);
  gotrace_flight_stop();
}

static void all(gotrace_format of, const char *with) {
  bool tasks_too = of >= GOTRACE_GO_1_11;
  format = of;
  suffix = with;
  row("region", regions, true, false, GOTRACE_STACKS_CALL_SITE);
  row("log", logs, true, false, GOTRACE_STACKS_CALL_SITE);
  if (tasks_too) row("task", tasks, true, false, GOTRACE_STACKS_CALL_SITE);
  row("go_start_stop", starts_and_stops, false, false, GOTRACE_STACKS_CALL_SITE);
  row("go_start_block", blocks_and_unblocks, false, false, GOTRACE_STACKS_CALL_SITE);
  row("go_unblock", unblocks, false, false, GOTRACE_STACKS_CALL_SITE);
  if (of >= GOTRACE_GO_1_23) row("go_switch", switches, false, false, GOTRACE_STACKS_CALL_SITE);
  row("syscall", syscalls, true, false, GOTRACE_STACKS_CALL_SITE);
  row("stack4", stack4, true, false, GOTRACE_STACKS_FRAME_POINTERS);
  row("stack16", stack16, true, false, GOTRACE_STACKS_FRAME_POINTERS);
  row("stack64", stack64, true, false, GOTRACE_STACKS_FRAME_POINTERS);
  row("stack16_new", new_stacks, true, false, GOTRACE_STACKS_FRAME_POINTERS);
  if (of >= GOTRACE_GO_1_22) { /* in v1 a label is told with the next start */
    row("string", strings_seen, true, false, GOTRACE_STACKS_CALL_SITE);
    row("string_new", strings_new, true, false, GOTRACE_STACKS_CALL_SITE);
  }
  two_threads("region", regions);
  two_threads("syscall", syscalls);
}

int main(int argc, char **argv) {
  static double times[MOST], ratios[MOST];
  int i;
  if (argc > 1 && strcmp(argv[1], "-q") == 0) repetitions = 11;
  pin(0);
  for (i = 0; i < repetitions; i++) {
    times[i] = floor_once();
    ratios[i] = 1;
  }
  report("floor", 1, times, ratios, repetitions, 8);
  clock_cost = 1e9;
  for (i = 0; i < 1000; i++) {
    double begin = now(), cost = now() - begin;
    if (cost < clock_cost) clock_cost = cost;
  }
  unpin();
  row("off_region", regions, true, true, GOTRACE_STACKS_CALL_SITE);
  row("off_go_start_stop", starts_and_stops, false, true, GOTRACE_STACKS_CALL_SITE);
  row("off_go_start_block", blocks_and_unblocks, false, true, GOTRACE_STACKS_CALL_SITE);
  row("off_go_unblock", unblocks, false, true, GOTRACE_STACKS_CALL_SITE);
#if GOTRACE_SEQ_CST_FLAG
  all(GOTRACE_GO_1_23, "_v2_seq_cst");
  all(GOTRACE_GO_1_21, "_v1_seq_cst");
#else
  all(GOTRACE_GO_1_23, "_v2");
  all(GOTRACE_GO_1_21, "_v1");
  rest();
#endif
  return failures != 0;
}
