/* perf.h - CPU samples and context switches of a process, from the kernel: see perf.c */

#ifndef PERF_H
#define PERF_H

#include "../base/tool.h"
#include "preload/unwind.h"

#include <sys/types.h>

typedef struct perf_events perf_events;

typedef enum perf_kind {
  PERF_SAMPLED,
  PERF_PREEMPTED, /* the thread loses its processor to another one; */
  PERF_SLEEPS,    /* it gives it up, since it has to wait; */
  PERF_RUNS       /* it gets one */
} perf_kind;

typedef struct perf_record {
  perf_kind kind;
  uint64_t nanoseconds; /* of CLOCK_MONOTONIC */
  uint32_t thread;
  /* Of a sample: */
  unwind_frame frame;
  const void *stack; /* a copy, from the frame's stack pointer on */
  size_t stack_size;
} perf_record;

/* Begins when a process executes a program, for all of its threads: samples them so many times in a second of each
 * one's CPU time, unless `hertz` is 0, and takes their context switches, if `switches`. NULL: see errno. */
perf_events *perf_begin(pid_t process, uint32_t hertz, bool switches);

typedef void perf_take(void *context, const perf_record *record);

/* Calls the function, or NULL, for each new record, in no order. What it points to is valid until the function returns.
 */
void perf_read(perf_events *events, perf_take *take, void *context);

/* Number of records for which there was no room, since the last call. */
uint64_t perf_take_lost(perf_events *events);

void perf_end(perf_events *events);

#endif
