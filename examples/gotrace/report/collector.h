/* collector.h - the garbage collector: pauses, collections, mutator utilization
 *
 * Mutator utilization is the share of procs that is left to the program by the collector. The minimum over all windows
 * of a length is what the slowest request of that length may get. As on the page of `go tool trace`, stopped worlds,
 * background workers and mark assists count as the collector's time; sweeping does not.
 *
 * A background worker works from its label until it stops, as in Go 1.21 (internal/trace/gc.go, MutatorUtilization).
 * Later releases count a worker that runs again twice, the second time for good. Unlike Go, it begins with the trace
 * and not where the trace first tells the number of procs. The manual lists what else differs from Go on purpose.
 *
 * If utilization changes more than MOST_CHANGES times, no minimum is computed. */

#ifndef COLLECTOR_H
#define COLLECTOR_H

#include "../base/histogram.h"
#include "../reading/world.h"

#define MOST_CHANGES ((size_t)1 << 22)
#define MOST_PAUSE_REASONS 64

enum { COLLECTOR_ASSIST = 1, COLLECTOR_WORKER = 2 }; /* in a mark assist; a background worker */

typedef struct collector_go { /* what the collector knows of a goroutine */
  int64_t stw_since;          /* start of its pause */
  uint32_t stw_reason;
  uint8_t collects; /* COLLECTOR_... */
} collector_go;

typedef struct utilization { /* from `time` on */
  int64_t time;
  uint32_t busy;  /* procs that work for the collector; UINT32_MAX: all of them */
  uint32_t procs; /* GOMAXPROCS; 0: the trace has not told it yet */
} utilization;

typedef struct pause_reason {
  uint32_t name; /* text */
  histogram pauses;
} pause_reason;

typedef struct collector {
  pause_reason reasons[MOST_PAUSE_REASONS + 1]; /* the last one: others */
  unsigned reason_count;
  histogram pauses, collections;
  int64_t collecting; /* start of the collection, if world.gc; 0: before the trace */
  /* Mutator utilization. */
  utilization *changes;
  size_t count, capacity;
  bool too_many;
  uint32_t procs, first_procs; /* GOMAXPROCS now, and what the trace first tells; 0: nothing yet */
  bool *works;                 /* by proc: whether the goroutine that has it works for the collector */
  size_t works_count, works_capacity;
  uint32_t busy;   /* how many of them */
  bool any;        /* a goroutine has worked for the collector */
  int64_t stopped; /* number of stop-the-worlds for the collector */
  side_array gos;  /* struct collector_go */
} collector;

static inline collector_go *collector_of(collector *gc, const goroutine *g) {
  return SIDE(collector_go, &gc->gos, g->number);
}

/* Takes an operation before it is applied. `from`: start of the part; earlier changes only set its initial state. */
void collector_take(collector *gc, world *w, const op *o, int64_t from);

/* Whether an operation that only starts, stops, blocks or unblocks a goroutine changes nothing: neither that one nor
 * any other works for the collector. */
bool collector_ignores(collector *gc, world *w, const op *o);
void collector_end(collector *gc, const world *w, int64_t from, int64_t end);
void collector_free(collector *gc);

/* The minimum mutator utilization, 0 to 1, over all windows of a length; negative: unknown. */
double minimum_utilization(const collector *gc, int64_t window);

/* The average share of the procs that the collector had, 0 to 1; 0: unknown. */
double collector_share(const collector *gc);

#endif
