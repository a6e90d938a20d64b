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

/* For a process that has one thread, and for all threads that it will have, from when it executes a program on.
 * `children`: also for its children, and theirs. `paused`: from perf_start on. */
perf_events *perf_begin(pid_t process, bool children, bool paused);

/* Take context switches, and so many CPU samples in a second of each thread's CPU time. False: see errno. */
bool perf_take_switches(perf_events *events);
bool perf_take_samples(perf_events *events, uint32_t hertz);

/* For all threads of now, too. */
void perf_start(const perf_events *events);

/* The tool's processes read the same events, each those of one process. One that has been forked calls perf_follow
 * before it reads: its process is another one from then on; 0: none, it only keeps the rings for others. False: see
 * errno. perf_files gives the descriptors that such a process needs, as many as perf_count_files says; of NULL, none.
 */
bool perf_follow(perf_events *events, pid_t process);
size_t perf_count_files(const perf_events *events);
void perf_files(const perf_events *events, int *to);

/* How many samples to take in a second if nobody says it: fewer where setting a timer takes long. */
uint32_t perf_usual_rate(void);

typedef void perf_take(void *context, const perf_record *record);

/* Calls the function, or NULL, for each new record, in no order. What it points to is valid until the function returns.
 * Returns whether there was much, so that the next call must be soon. */
bool perf_read(perf_events *events, perf_take *take, void *context);

/* Number of records, perhaps of other processes, for which there was no room, since the last call. */
uint64_t perf_take_lost(perf_events *events);

/* In the calling process. */
void perf_end(perf_events *events);

#endif
