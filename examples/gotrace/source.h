/* source.h - from a trace to operations, and to a consumer
 *
 *     source.c     reads the trace, keeps the world, selects the part that the consumer gets
 *     read_v1.c    front end: turns events of Go 1.5 to 1.21 into operations
 *     read_v2.c    front end: turns events of Go 1.22 and later into operations
 *
 * A command fills in a consumer and calls source_run(). */

#ifndef SOURCE_H
#define SOURCE_H

#include "filter.h"
#include "world.h"

/* Takes operations. Before each the world is still as it was. */
typedef struct consumer {
  void (*begin)(struct consumer *, int64_t time); /* before the first operation */
  void (*take)(struct consumer *, const op *);
  void (*end)(struct consumer *, int64_t time); /* of the trace, or the selected part */
  /* Unless NULL, takes what each goroutine did, stretch by stretch, when that ends, each cut to the selected part. It
   * is called while the operation that ends the stretch is applied, so after take(). At the end of the part all
   * goroutines' last stretches come, then end(). */
  void (*stretch)(struct consumer *, const stretch *);
  /* Set by the consumer. */
  filter *filter; /* unless NULL, only what it selects is given to take() and stretch() */
  int format;     /* of the output; 0: any */
  bool modules;   /* needs the world's modules */
  bool told;      /* takes OP_STATUS_TOLD */
  /* Unless NULL, takes the operations before the selected part. */
  void (*before)(struct consumer *, const op *);
  /* The operations are to be what Go 1.27's reader makes of the trace, one for each of its events, at their times. A
   * goroutine that is older than the trace comes when its status is told, having had it since the generation began
   * (world.sync). A switch of coroutines is an unblock, a block and a start. What was active when the generation began
   * comes too, as GCActive and so on. But in v1, times are those in the file. There
   * are no samples and no stacks that do not name a goroutine's function. */
  bool as_go;
  bool statuses; /* takes GoStatus now; otherwise such a goroutine is given as newly created */
  /* Set by the source. */
  world *w;
  int family;   /* of the input */
  int input;    /* format of the input */
  int64_t base; /* time of the input's first event */
  int64_t from; /* time at which the selected part begins */
} consumer;

typedef struct placed { /* a goroutine on a proc, on a thread */
  uint64_t g, p, m;
} placed;

typedef struct source {
  input *in;
  world w;
  consumer *to;
  int format;          /* of the input */
  int64_t from, until; /* the part that the consumer gets, counted from the first event */
  int64_t first, end;  /* times of the trace's first event and of the last one read */
  int64_t start;       /* time of the first event read: earlier generations are skipped if `from` is after them */
  uint64_t events;     /* number of events read */
  const gotrace_event
      *event;            /* v2: that of which operations are given; NULL: at the end of the trace, or of the part */
  bool plain;            /* nothing is to be left out or changed: a short way */
  bool any, begun, over; /* an event was read; the consumer has begun; `until` has passed */
  /* v1. */
  op held;    /* waits for the next event; kind 0: none */
  op *intros; /* goroutines older than the trace, until `started` */
  uint32_t intro_count, intro_capacity;
  map intro_places; /* from a goroutine to 1 + its index */
  placed *running;  /* those of them that run */
  uint32_t running_count, running_capacity;
  bool started;       /* an event other than those was read */
  goroutine *stw;     /* has stopped the world */
  uint64_t *blocking; /* where the system calls that lost their procs stand in the file: sorted offsets */
  size_t blocking_count, blocking_capacity;
  uint64_t calls;   /* system calls so far */
  bool initialized; /* GOMAXPROCS was told, so what existed before the trace is known */
} source;

typedef void watch_fn(void *context, const gotrace_event *event);

/* Reads a trace and gives the part from `from` to `until` (see moment_parse) to a consumer. `watch`, unless NULL, sees
 * each event. The result is that of the decoder, END_OF_TRACE if all is well. The source must be zero. */
gotrace_result source_run(source *s, input *in, consumer *to, int64_t from, int64_t until, watch_fn *watch,
                          void *context);
void source_free(source *s);

/* Its steps. Instead of source_read(), a consumer of v2 may take only some events, in their order: see digest.h. */
gotrace_result source_begin(source *s, input *in, consumer *to, int64_t from, int64_t until);
gotrace_result source_read(source *s, watch_fn *watch, void *context);
void source_take(source *s, const gotrace_event *e);
void source_end(source *s); /* gives what remains at the end of the trace, or of the part */

/* After source_run() has failed: fails, unless --partial was given and there is something to keep. */
void source_broken(const source *s, const settings *set);

/* After source_run(): fails if there is nothing in the selected part. */
void source_needs_events(const source *s);

/* ---- Between source.c and its front ends ---- */

static inline op op_at(unsigned kind, int64_t time, thread *m) {
  op o = {0};
  o.kind = kind;
  o.time = time;
  o.m = m;
  return o;
}

/* Sends an operation on its way. */
void give_part(source *s, const op *o); /* the general way: something may be left out or changed */
static inline void give(source *s, const op *o) {
  if (!s->plain) {
    give_part(s, o);
    return;
  }
  s->to->take(s->to, o);
  apply(&s->w, o);
}
void give_held(source *s);
void give_sample(source *s, const gotrace_event *e);

/* Adds the modules of the current generation, or of all of v1, to the world. */
void take_modules(source *s);

/* Adds what was there before the trace: known from the start, if the consumer has not begun. */
void introduce(source *s, const op *o);

/* Notes the times of the first event. */
void source_first(source *s, const gotrace_event *e);

/* A first look at the whole trace, or at its first generation. Errors are left for the second look. */
void scan_v1(source *s);
void scan_v2(source *s);

/* The reason for which an event of v1 stops a goroutine; NULL: it stops none, or ends it. */
const char *v1_reason(unsigned kind);

void take_v1(source *s, const gotrace_event *e);
void take_v2(source *s, const gotrace_event *e);

/* Behind the part, if that ended in the first generation (v1: amid what tells the state at the start), from its first
 * event there on: what has been so since the generation began, but is told only now, as nothing happened to it. */
void take_later_statuses(source *s, const gotrace_event *e);
void v1_later_statuses(source *s, const gotrace_event *e);

/* No more goroutines older than the trace will come. */
void v1_give_intros(source *s);

/* Where the arguments of an event of v2 belong in its operation: a letter for each. i id; a b c the numbers; n name; v
 * value; N new_stack; S stack; . none. NULL: an event that is not copied. */
extern const char *const v2_arguments[256];

#endif
