/* causes.h - why goroutines waited, and through whom: sums for `gotrace info`
 *
 * A summary (summary.h) has the times of everything, but not the stacks, which it leaves out to be fast. So causes are
 * a second reading of the trace, with stacks:
 *
 *     causes.c    adds up
 *     waits.c     classes and places of waits
 *     holders.c   who had what a goroutine waited for
 *     findings.c  what is wrong with the program, in at most three sentences
 *
 * To bound the time, it ends after about MOST_CAUSE_EVENTS events. */

#ifndef CAUSES_H
#define CAUSES_H

#include "holders.h"
#include "hot.h"
#include "summary.h"

#define MOST_CAUSE_EVENTS 30000000
#define MOST_CAUSES 20000 /* of a kind; what comes later is added up without names */

typedef struct wait_sum { /* waits of a class in a place */
  wait_class is;
  uint32_t place; /* text; 0: unknown */
  histogram waits;
} wait_sum;

typedef struct holder_sum { /* parts of waits of a class in a place, through a holder */
  wait_class is;
  uint32_t place, holder; /* texts */
  histogram parts;
  activity did;      /* what the holders did in that time */
  uint64_t id;       /* the holder of the longest part */
  uint32_t taken;    /* as in part_of_wait */
  uint32_t released; /* and where it released it, or ended the wait */
  uint32_t process;  /* text: which that was, if it is another process; then `id` is 0 */
  bool several;      /* goroutines were holders */
} holder_sum;

typedef struct call_sum { /* system calls of goroutines with a name, in a function */
  uint32_t name, function;
  uint64_t total;
} call_sum;

typedef struct stop_sum { /* stop-the-worlds for a reason by a function */
  uint32_t reason, place;
  uint32_t stack; /* of the longest */
  histogram pauses;
} stop_sum;

typedef struct kind_of_go { /* goroutines that began with a function */
  uint32_t name;
  uint64_t ended;
} kind_of_go;

typedef struct stuck_sum {       /* goroutines with a function that wait at the end, in a place */
  uint32_t name, place, made_in; /* texts; made_in: 0: unknown */
  wait_class is;
  uint32_t stack;              /* where the last of them waits, */
  uint64_t id;                 /* and which that is */
  uint64_t count, quarters[4]; /* by when they were made */
} stuck_sum;

typedef struct kind_of_task {
  uint32_t name;
  histogram whole;
  /* The longest one. */
  uint64_t id;
  activity did;
  wait_class is;          /* of its longest wait */
  uint32_t place, holder; /* of that */
} kind_of_task;

#define MOST_FINDINGS 3

typedef struct finding {
  const char *kind; /* as in tables.h */
  double weight;    /* time lost, as a share of the duration */
  char text[768];
  char look[128]; /* arguments of gotrace that show more, without the file; "": none */
} finding;

typedef struct diagnosis { /* gravest first */
  finding all[MOST_FINDINGS];
  unsigned count;
} diagnosis;

typedef struct causes {
  consumer c;
  source s;
  filter selection;
  waits waits;
  holders holders;
  map wait_sums, holder_sums, call_sums, stops, gos, stuck, task_kinds;
  map tasks;          /* struct open_task, by id; NULL: it has ended */
  map stopped;        /* int64_t by 1 + name: running time of goroutines while the world was stopped */
  map sampled;        /* uint64_t by 1 + name: CPU samples of goroutines */
  side_array samples; /* the same by goroutine, until it ends and its name is known */
  hot hot;            /* the same by function */
  /* By goroutine: struct life; its open tasks with a tally, latest first; where it stopped the world (stack). */
  side_array lives, open, stop_stacks;
  side_array gil_waits;      /* struct gil_wait by goroutine */
  side_array ended_waits;    /* struct ended_wait by goroutine, in a trace of `gotrace record` */
  int64_t begin, end, whole; /* `whole`: of the part that was wanted; longer, if this ended before */
  /* Procs that are idle while goroutines are ready to run. */
  side_array procs;                  /* struct proc_use, by proc */
  side_array idle_at;                /* int64_t by goroutine: idle_sum when it became ready to run */
  int64_t idle, idle_sum, idle_last; /* procs that are idle now; how long some were, until `idle_last` */
  int64_t idle_time, idle_longest;   /* how long any goroutine was ready meanwhile, and how long one was */
  struct span_of_time {
    int64_t begin, end;
  } * idle_spans; /* of which idle_time is the sum */
  size_t idle_count, idle_capacity;
  int64_t busy_procs, idle_procs;
  const proc *changed[2];   /* procs that the last operation may have changed, */
  const thread *changed_on; /* and the thread whose proc it may have changed */
  struct {
    const goroutine *g; /* NULL: none is told */
    uint32_t signal, stack;
  } crash;
  bool is_go; /* is_go: the trace shows goroutines of Go's runtime */
  diagnosis found;
} causes;

/* Reads the trace again. `sum`: of the same part. */
void find_causes(causes *c, input *in, const settings *set, const summary *sum);
void causes_free(causes *c);

/* Whether they are of the whole part. */
static inline bool causes_complete(const causes *c) { return between(c->begin, c->end) >= c->whole; }

/* Longest first, NULL-terminated; free them. */
wait_sum **sorted_waits(const causes *c);
holder_sum **sorted_holders(const causes *c);
stop_sum **sorted_stops(const causes *c);

/* How long goroutines with a name ran while the world was stopped. */
int64_t stopped_time(const causes *c, uint32_t name);

/* How many CPU samples goroutines with a name have. */
uint64_t samples_of(const causes *c, uint32_t name);

/* The function in which goroutines with a name were in system calls for more than half of `total`: in a trace of
 * `gotrace record` that of the C library, otherwise the program's; 0: none, or it is not known. */
uint32_t most_called(const causes *c, uint32_t name, int64_t total);

/* How many goroutines that began with a function have ended. */
uint64_t ended_of(const causes *c, uint32_t name);

/* "running 93 %", "waiting 98 %: sleep in main.query": what the holders did for most of the time. */
#define DID_TEXT 256
const char *did_text(causes *c, const activity *did, char text[DID_TEXT]);

typedef struct name_room {
  char text[NAME_ROOM + 4];
} name_room;

/* " (WORD FILE:LINE)" of the innermost frame of the program in a stack; "" if that is unknown. */
const char *line_of(waits *w, const char *word, uint32_t stack, name_room *room);

/* "goroutine 2 (one) waits in PLACE (LINE) for a lock that goroutine 3 took in PLACE (LINE); ..." of the goroutines
 * whose first one find_deadlocked() gives. */
void deadlock_text(holders *h, const goroutine *first, char *text, size_t size);

/* Fills in `found`. */
void find_findings(causes *c, const summary *sum);

#endif
