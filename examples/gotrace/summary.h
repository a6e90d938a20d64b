/* summary.h - what goroutines, tasks, regions and the collector did, added up
 *
 *     summary.c    gathers: a consumer of operations and stretches
 *     digest.c     adds up what most events say without making operations of them
 *     recording.c  what another thread finds in a later generation, until summary.c comes to it
 *     collector.c  pauses, collections, mutator utilization
 *     groups.c     times by what has a name
 *     histogram.c  durations, their percentiles
 *     tables.c     the result as tables of named fields, for JSON and CSV
 *     info.c       the command, and the result as text
 *
 * All times are equal to those of Go 1.27 (internal/trace/summary.go, gc.go) to the nanosecond, which
 * tests/summary_agrees_with_go.sh shows. The rules are Go's:
 *
 * - A goroutine that is older than the trace has had its first known status since the last Sync before that is told.
 * - A goroutine in a system call blocks from the time at which it loses its proc. (A proc is busy with a call as long
 *   as the goroutine has it, so no proc is busy for longer than the trace lasts; Go has no such number.)
 * - A region lasts until its end, or that of its goroutine, or that of the trace. Its times are those of its goroutine
 *   meanwhile. An end without a begin makes a region that began with its goroutine.
 * - A task's time is what goroutines do while their innermost region belongs to it. A goroutine that is created in a
 *   region belongs to that region's task until it begins a region of its own, but goroutines of the runtime never do.
 *
 * Memory: a record for each live goroutine and each task, and one for each function, region name and so on; those that
 * exceed MOST_GROUPS (a hostile trace) are added up as one, "(others)". */

#ifndef SUMMARY_H
#define SUMMARY_H

#include "collector.h"
#include "recording.h"
#include "source.h"

#include <pthread.h>

#define MOST_LOSSES 30

typedef struct wait_reason {
  uint32_t name; /* text; 0: unknown */
  histogram waits;
} wait_reason;

typedef struct task {
  uint64_t id, parent;
  group *name; /* NULL: unknown */
  int64_t begin, end;
  bool begun, ended;
  times t; /* until its name is known */
} task;

typedef struct open_region {
  uint32_t name;
  uint64_t task;
  int64_t begin;
  bool has_begun; /* else it has only an end */
  bool inherited; /* no region, but the task of the creator's */
  times own;      /* without that of open regions within */
} open_region;

/* A goroutine. Also what its stretches are given to: the group of its function, or one of its own until the function is
 * known. */
typedef struct goroutine_summary {
  goroutine *g;
  int64_t created, started, ended, last; /* `started`: 0 if never; `last`: until when its time is added up */
  group *function;
  group *unnamed; /* of its own; NULL: none */
  bool dead;      /* blocked for good */
  bool counted;   /* it did something in the selected part */
  bool has_started, has_ended;
  times t; /* outside of regions */
  open_region *regions;
  uint32_t region_count, region_capacity;
  /* System call. */
  int64_t call, lost_proc; /* begin; when it lost its proc, as Go counts. NONE: not in one, it has not */
  int64_t left_proc; /* when it did lose it. Go overlooks that if the proc's last goroutine is still in its call */
  proc *p;           /* with which the call began */
} goroutine_summary;
#define NONE INT64_MIN

typedef struct latency {
  int64_t waited, when;
  uint64_t g;
  uint32_t name;
} latency;

struct summary;

/* Takes each goroutine, region and task for itself; see tables.c. */
typedef struct details {
  void (*goroutine)(struct details *, struct summary *, const goroutine_summary *);
  void (*region)(struct details *, struct summary *, const goroutine_summary *, const open_region *, int64_t end);
  void (*task)(struct details *, struct summary *, const task *);
} details;

typedef struct summary {
  consumer c;
  source s;
  const input *in;
  filter selection, selection_of_events;
  groups functions, tasks, regions;
  map task_ids;
  wait_reason reasons[MOST_REASONS + 1]; /* the last one: others */
  uint32_t reason_count;
  uint8_t *reason_places; /* by text: 1 + the place */
  uint32_t reason_places_capacity;
  latency worst[LATENCIES]; /* longest first */
  unsigned worst_count;
  collector gc;
  uint64_t kinds[256], dropped, events;
  uint32_t losses[MOST_LOSSES]; /* texts: what the tracer says it dropped */
  const gotrace_event_spec *specs[256];
  bool part;                        /* not the whole trace is selected */
  uint64_t generations, generation; /* v2: how many; number of the last one */
  int format, family;
  int64_t end, duration;    /* of the selected part */
  const goroutine *forever; /* is about to block for good */
  uint32_t forever_text;
  unsigned jobs;
  bool wary;      /* atomic; a recording did not fit: see recording.h */
  digest *latest; /* of the last generation that was added up, for recordings; protected by latest_lock */
  pthread_mutex_t latest_lock;
  details *each; /* NULL: nobody wants them */
} summary;

/* Reads a trace; the result is that of source_run(). `sum` is all zero but for `each`. */
gotrace_result summarize(summary *sum, input *in, const settings *set);
void summary_free(summary *sum);

pool_text reason_text(const summary *sum, uint32_t place);

#endif
