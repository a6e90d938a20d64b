/* The cost of an event with LTTng-UST: lines `result NAME THREADS NS_MIN NS_MEDIAN`. tests/bench/events.sh starts the
 * session that it writes to. The session keeps the end of the trace in memory and delivers nothing (--snapshot), so no
 * event is lost for lack of a reader. */
#define _GNU_SOURCE 1
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_peer.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { EVENTS = 2048, TIMES = 201 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void regions(void) {
  int i;
  for (i = 0; i < EVENTS / 2; i++) {
    lttng_ust_tracepoint(gotrace_bench, region_begin, "region");
    lttng_ust_tracepoint(gotrace_bench, region_end, "region");
  }
}

static void logs(void) {
  int i;
  for (i = 0; i < EVENTS; i++) lttng_ust_tracepoint(gotrace_bench, log, "category", "a message");
}

static void unblocks(void) {
  int i;
  for (i = 0; i < EVENTS; i++) lttng_ust_tracepoint(gotrace_bench, unblock, (uint64_t)i);
}

static const struct {
  const char *name;
  void (*run)(void);
} rows[] = {{"lttng-region", regions}, {"lttng-log", logs}, {"lttng-unblock", unblocks}};
enum { ROWS = sizeof rows / sizeof rows[0] };

static double times[2][ROWS][TIMES];
static pthread_barrier_t together;

static void *work(void *argument) {
  double(*mine)[TIMES] = (double(*)[TIMES])argument;
  cpu_set_t all, set;
  size_t row;
  int i, processor = 0, skip = mine == times[1];
  sched_getaffinity(0, sizeof all, &all);
  for (i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET((size_t)i, &all) && skip-- <= 0) {
      processor = i;
      break;
    }
  CPU_ZERO(&set);
  CPU_SET((size_t)processor, &set);
  sched_setaffinity(0, sizeof set, &set);
  for (row = 0; row < ROWS; row++)
    for (i = 0; i < TIMES; i++) {
      double begin;
      pthread_barrier_wait(&together);
      begin = now();
      rows[row].run();
      mine[row][i] = (now() - begin) / EVENTS;
    }
  return NULL;
}

int main(void) {
  int count, i;
  size_t row;
  if (!lttng_ust_tracepoint_enabled(gotrace_bench, region_begin) || !lttng_ust_tracepoint_enabled(gotrace_bench, log)) {
    printf("missing lttng: the session does not record the events\n");
    return 1;
  }
  for (count = 1; count <= 2; count++) {
    pthread_t threads[2];
    pthread_barrier_init(&together, NULL, (unsigned)count);
    for (i = 0; i < count; i++)
      if (pthread_create(&threads[i], NULL, work, times[i])) return 2;
    for (i = 0; i < count; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&together);
    for (row = 0; row < ROWS; row++) {
      qsort(times[0][row], TIMES, sizeof(double), ascending);
      printf("result %s %d %.2f %.2f\n", rows[row].name, count, times[0][row][0], times[0][row][TIMES / 2]);
    }
  }
  return 0;
}
