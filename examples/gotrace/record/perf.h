/* perf.h - CPU samples of a process, from the kernel: see perf.c */

#ifndef PERF_H
#define PERF_H

#include "../base/tool.h"
#include "preload/unwind.h"

#include <sys/types.h>

typedef struct perf_events perf_events;

typedef struct perf_sample {
  uint64_t nanoseconds; /* of CLOCK_MONOTONIC */
  uint32_t thread;
  unwind_frame frame;
  const void *stack; /* a copy, from the frame's stack pointer on */
  size_t stack_size;
} perf_sample;

/* Begins to sample a process when it executes a program: all of its threads, so many times in a second of each one's
 * CPU time. NULL: see errno. */
perf_events *perf_begin(pid_t process, uint32_t hertz);

/* Calls the function for each new sample, or NULL. Those of one processor come in order. What they point to is valid
 * until it returns. */
void perf_read(perf_events *events, void (*take)(void *context, const perf_sample *sample), void *context);

/* Number of samples for which there was no room, since the last call. */
uint64_t perf_take_lost(perf_events *events);

void perf_end(perf_events *events);

#endif
