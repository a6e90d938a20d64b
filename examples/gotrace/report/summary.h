/* summary.h - totals of what goroutines, tasks, regions and the collector did
 *
 *     summary.c      gathers them: a consumer of operations and stretches
 *     generations.c  reads whole v2 traces faster, also on several threads
 *     past.c         what is known before the selected part, as bytes for an index
 *     digest.c       adds up most events without making operations of them
 *     recording.c    what another thread finds in a later generation, kept until generations.c reaches it
 *     collector.c    pauses, collections, mutator utilization
 *     groups.c       times by function, task and region name
 *     histogram.c    durations and their percentiles
 *     tables.c       the result as tables of named fields, for JSON and CSV
 *     info.c         the command, and the result as text
 *
 * All times equal those of Go 1.27 (internal/trace/summary.go) to the nanosecond, but for what the manual lists in
 * "Where the numbers differ from those of Go"; tests/tool/summary_agrees_with_go.sh checks this. The rules are Go's:
 *
 * - A goroutine older than the trace has had its first known status since the last Sync before that status.
 * - A goroutine in a system call counts as blocked from the time it loses its proc. (A proc counts as busy with the
 *   call as long as the goroutine has it, so no proc is busy for longer than the trace. Go has no such number.)
 * - A region ends with its end event, its goroutine or the trace, whichever comes first. Its times are those of its
 *   goroutine meanwhile. An end without a start opens a region at its goroutine's start. (With --lenient, one that
 *   is out of order makes none.)
 * - A task ends with the last of its end events.
 * - A task's time is what goroutines do while their innermost region belongs to it. A goroutine created in a region
 *   belongs to that region's task until it begins a region of its own. Goroutines of the runtime never inherit a task.
 *
 * Memory: one record for each live goroutine and each task, and one for each function, region name and so on. Beyond
 * MOST_GROUPS (only a hostile trace has so many), groups are added up as one, "(others)". */

#ifndef SUMMARY_H
#define SUMMARY_H

#include "collector.h"
#include "digest.h"
#include "../reading/saved.h"
#include "../reading/source.h"

#define MOST_LOSSES 30

typedef struct wait_reason {
  uint32_t name; /* text; 0: unknown */
  histogram waits;
} wait_reason;

typedef struct task {
  uint64_t id, parent;
  group *name;        /* NULL: unknown */
  int64_t begin, end; /* of several ends, the last */
  bool begun, ended;
  bool chosen; /* the filter selects its start, or some of its events or times in the part */
  origin from; /* if it has begun */
  times t;     /* until the task's name is known */
} task;

/* Whether it has begun and not ended since. An end before its start is that of another task that had this id. */
static inline bool task_is_open(const task *t) { return t->begun && (!t->ended || t->end < t->begin); }

/* The values that the program gave a counter in the selected part. */
typedef struct counter_summary {
  uint32_t name;
  uint64_t count;
  double least, most, last, total, mean;
  double squares; /* sum of the squared differences from the mean */
} counter_summary;

typedef struct open_region {
  uint32_t name;
  uint64_t task;
  int64_t begin;
  bool has_begun; /* false: only its end was seen */
  bool inherited; /* not a region: the task of the creator's region */
  times own;      /* without the times of regions within it */
} open_region;

/* A goroutine. Its stretches go to the group of its function, or to a group of its own until the function is known. */
typedef struct goroutine_summary {
  goroutine *g;
  int64_t created, started, ended, last; /* `started`: 0 if never; `last`: its time is added up to here */
  int64_t reported;                      /* when its CPU time was reported last; 0: not yet */
  group *function;
  group *unnamed; /* its own group; NULL: none */
  bool counted;   /* it did something in the selected part */
  bool has_started, has_ended;
  bool is_older; /* in its first stretch: that began before the trace, nobody knows when */
  times t;       /* outside regions */
  open_region *regions;
  uint32_t region_count, region_capacity;
  /* System call. */
  int64_t call, lost_proc; /* its start; when it lost its proc by Go's count. NONE: not in a call; not lost */
  int64_t left_proc; /* when it really lost it. Go misses that if the proc's last goroutine is still in its call */
  uint8_t
      early; /* of a call that is older than its goroutine's status: what counts from `created` to `call`; 0: none */
  proc *p;   /* the proc with which the call began */
} goroutine_summary;
#define NONE INT64_MIN

typedef struct place_times { /* nanoseconds that goroutines spent on a proc or thread */
  int64_t running, syscall;
} place_times;

typedef struct proc_summary {
  place_times t;
  const goroutine *in_syscall; /* the goroutine that took it into a system call */
} proc_summary;

typedef struct timed_place { /* a proc or thread, in the result */
  uint64_t id;
  place_times t;
} timed_place;

struct summary;

/* Receives each goroutine, region and task separately; see tables.c. */
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
  side_array gos;     /* struct goroutine_summary *; NULL: none, or it has ended */
  side_array procs;   /* struct proc_summary */
  side_array threads; /* place_times */
  map task_ids;
  map counters;                          /* struct counter_summary by name */
  wait_reason reasons[MOST_REASONS + 1]; /* the last one: others */
  uint32_t reason_count;
  side_array reason_places; /* uint8_t by text: 1 + the index */
  latencies worst;
  collector gc;
  uint64_t kinds[256], dropped, events;
  uint32_t losses[MOST_LOSSES]; /* texts: losses that the tracer reports */
  const gotrace_event_spec *specs[256];
  bool part;                        /* only a part of the trace is selected */
  uint64_t generations, generation; /* v2: how many the part has events of; number of the last one */
  int format, family;
  int64_t end, duration; /* of the selected part */
  const char *unknown;   /* see source_nothing(), filter_unknown(); NULL: nothing */
  bool only_whole;       /* histograms of single times are only of those that begin and end in the part */
  unsigned jobs;
  details *each; /* NULL: not wanted */
} summary;

/* Reads a trace; returns the result of source_run(). `sum` must be zeroed, except for `each` and `only_whole`. */
gotrace_result summarize(summary *sum, input *in, const settings *set);
void summary_free(summary *sum);

/* The steps before the selected part, for an index: begins to read; takes an event; stores what is known, so that
 * summary_load() makes it again. summary_save: false, that cannot be stored. summary_load: a consumer's `load`. */
gotrace_result summary_begin(summary *sum, input *in, const settings *set);
void summary_pass(summary *sum, const gotrace_event *e);
bool summary_save(bytes *to, summary *sum, const saved_list *tasks);
saved_task summary_saved_task;
bool summary_load(consumer *c, const index_moment *from);

/* Whether a function with this name is the runtime's, or unknown. */
bool is_runtimes(uint32_t name);

pool_text reason_text(const summary *sum, uint32_t place);

/* The counters by name, NULL-terminated; free it. */
counter_summary **sorted_counters(const summary *sum);

/* The procs or threads of the trace, by id, and their number; free them. */
timed_place *sorted_procs(summary *sum, size_t *count);
timed_place *sorted_threads(summary *sum, size_t *count);

/* ------------------------------------------------------------------------- between the files of a summary ---- */

/* Reads the rest of a v2 trace of which no part is selected. */
gotrace_result read_generations(summary *sum, input *in);

/* The record of a task, or of a goroutine that begins; the goroutine's may exist. */
task *summary_task(summary *sum, uint64_t id);
goroutine_summary *summary_begin_goroutine(summary *sum, uint64_t id, int64_t time);

uint32_t summary_reason(summary *sum, uint32_t name); /* the reason's place; MOST_REASONS: one of the others */
void summary_add_time(summary *sum, goroutine_summary *g, unsigned status, uint32_t reason, int64_t time);
void summary_note_generation(summary *sum); /* to be called at each Sync; the last generation has two */

static inline goroutine_summary **summary_place(summary *sum, const goroutine *g) {
  return SIDE(goroutine_summary *, &sum->gos, g->number);
}

/* `g` may be NULL. */
static inline goroutine_summary *summary_of(summary *sum, const goroutine *g) {
  return g ? *summary_place(sum, g) : NULL;
}

static inline proc_summary *summary_of_proc(summary *sum, const proc *p) {
  return SIDE(proc_summary, &sum->procs, p->number);
}

static inline place_times *summary_of_thread(summary *sum, const thread *m) {
  return SIDE(place_times, &sum->threads, m->number);
}

#endif
