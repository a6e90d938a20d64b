/* collector.h - the garbage collector: pauses, collections, mutator utilization
 *
 * Mutator utilization is the share of procs that the program itself has, not the collector. The minimum over all
 * windows of a length is what the slowest request of that length may be left with. As on the page of `go tool trace`,
 * stopped worlds, background workers and mark assists count as the collector's, sweeping does not.
 *
 * Go: internal/trace/gc.go, MutatorUtilizationV2 and MMUCurve. The numbers are equal bit by bit as long as utilization
 * changes at most MOST_CHANGES times; then there is no curve. */

#ifndef COLLECTOR_H
#define COLLECTOR_H

#include "histogram.h"
#include "world.h"

#define MOST_CHANGES ((size_t)1 << 22)
#define MOST_PAUSE_REASONS 64

typedef struct utilization { /* from a time on */
  int64_t time;
  double value;
} utilization;

typedef struct pause_reason {
  uint32_t name; /* text */
  histogram pauses;
} pause_reason;

typedef struct procs_count {
  int64_t time;
  uint64_t count;
} procs_count;

typedef struct collector {
  pause_reason reasons[MOST_PAUSE_REASONS + 1]; /* the last one: others */
  unsigned reason_count;
  histogram pauses, collections;
  int64_t collecting; /* begin of the collection; valid if is_collecting */
  bool is_collecting;
  /* Mutator utilization. */
  utilization *changes;
  size_t count, capacity;
  bool too_many;
  int32_t *on_proc; /* how much of the collector is active there */
  size_t procs, procs_capacity, busy;
  procs_count *counts; /* how GOMAXPROCS changed */
  size_t counts_count, counts_capacity;
  bool any;        /* a goroutine has been the collector's */
  int64_t stopped; /* how many have stopped the world */
} collector;

/* Takes an operation, before it is applied. `from`: nothing counts before. */
void collector_take(collector *gc, world *w, const op *o, int64_t from);
void collector_end(collector *gc, const world *w, int64_t from, int64_t end);
void collector_free(collector *gc);

/* The minimum mutator utilization, 0 to 1, in all windows of a length; negative: it is not known. */
double minimum_utilization(const collector *gc, int64_t window);

#endif
