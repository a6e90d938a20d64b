/* source.h - turns a trace into operations for a consumer
 *
 *     source.c     reads the trace, keeps the world, selects the consumer's part of the trace
 *     events.c     turns events into operations; finds the state in which the trace begins
 *     fit.c        puts events of v1 on threads, before that
 *     ahead.c      what the trace tells too late: functions of goroutines, last ends of tasks
 *
 * A command fills in a consumer and calls source_run(). */

#ifndef SOURCE_H
#define SOURCE_H

#include "filter.h"
#include "index.h"
#include "world.h"

/* Receives operations. Each is passed before it is applied, so the world is still in the state before it. */
typedef struct consumer {
  void (*begin)(struct consumer *, int64_t time); /* before the first operation */
  void (*take)(struct consumer *, const op *);
  void (*end)(struct consumer *, int64_t time); /* end of the trace or of the selected part */
  /* Receives the stretches of all goroutines, cut to the selected part; NULL: not wanted. Called when a stretch ends,
   * while the operation that ends it is applied, so after take(). At the end of the part it gets the last stretch of
   * each live goroutine; end() follows. With --task, a stretch also ends, before take(), where a region begins or ends,
   * and another of the same status follows. */
  void (*stretch)(struct consumer *, const stretch *);
  /* Set by the consumer. */
  filter *filter; /* take() and stretch() get only what it selects; NULL: everything */
  bool quiet;     /* take() has no use for what starts, stops, blocks or unblocks a goroutine */
  bool all;       /* they get everything; world.chosen and stretch.chosen tell what the filter selects */
  bool history;   /* needs the world's `history` */
  filter *own[2]; /* filters that the consumer applies itself, in the part; NULL: none. They are told what is ahead */
  bool modules;   /* needs the world's modules */
  bool program;   /* wants to know which file was executed, if `gotrace record` wrote the trace: world.program */
  bool later;     /* reading may begin at an index: what is before the part is needed only for the world, and `load` */
  /* With `as_go`: makes the world and what the consumer knows from what an index has for it; false: it does not fit. */
  bool (*load)(struct consumer *, const index_moment *);
  bool early;             /* needs nothing that the trace tells too late */
  const uint64_t *wanted; /* the consumer wants to know whether a task has this id; NULL: it does not */
  bool met;               /* set by the source: one has, before the operations that it gives */
  bool told;              /* wants statuses that are `known`; the source clears it if the input has no such statuses */
  /* Called where the selected part begins: tells the filters in `own` what is open, by filter_region() and the like.
   * NULL: the source tells all filters, from the world. */
  void (*recall)(struct consumer *);
  /* Receives the operations before the selected part; NULL: not wanted. */
  void (*before)(struct consumer *, const op *);
  /* Produce exactly the operations that Go 1.27's reader makes of the trace, one for each of its events, with its times
   * (but in v1 the times of the file). A goroutine older than the trace appears at its first status event, and has had
   * that status since the generation began (world.sync). Ranges that were open when the generation began are given as
   * GCActive and so on. Left out are the CPU samples and heap sizes of v2, and most stacks that are not needed to name
   * a goroutine's function. */
  bool as_go;
  /* Accepts GoSwitch and GoSwitchDestroy; otherwise a coroutine switch becomes an unblock, a block or an end, and a
   * start, a nanosecond apart, as in Go's reader. */
  bool switches;
  bool again;    /* another consumer has had the whole trace, so what is wrong with it was reported */
  bool statuses; /* accepts GoStatus after begin(); otherwise such a goroutine is given as newly created */
  /* Set by the source. */
  world *w;
  int input;     /* format of the input */
  bool recorded; /* by `gotrace record`: goroutines are threads, which may wait where it does not see it */
  bool watched;  /* then: the kernel told when they had no processor */
  int64_t base;  /* time of the input's first event */
  int64_t from;  /* time at which the selected part begins */
} consumer;

/* How events with a number become operations: the rows of gotrace_find_change_spec and gotrace_event_specs. */
typedef struct event_rule {
  uint8_t kind;      /* of the operation; 0: none */
  char arguments[6]; /* a letter each: i id; a b c the elements of `a`; n name; v value; N new_stack; s stack; . none */
} event_rule;

extern event_rule event_rules[256]; /* by the event's kind */

/* Fills event_rules: call it once, before a trace is read. */
void load_event_rules(void);

typedef struct source {
  input *in;
  world w;
  ahead ahead; /* empty if the trace was not read ahead */
  consumer *to;
  int format;                 /* of the input */
  const char *index;          /* the index's path; NULL: as in index.h. Set by the caller */
  int64_t from, until;        /* the selected part: nanoseconds since the first event */
  index_moment moment;        /* at which reading begins; all zero: none */
  bool named_late;            /* an event of a known goroutine has told its function; cleared by whoever needs it */
  bool recalled;              /* the filters know what is open where the part begins */
  bool may_be_later;          /* an index would have served, or has */
  uint64_t before;            /* offset at which the part begins */
  int64_t first, end;         /* times of the trace's first event and of the last one read */
  uint64_t events;            /* number of events read */
  uint64_t disordered;        /* region ends in the part that are out of order; see input.lenient */
  uint64_t events_of_part;    /* those in the file, without implied ones, and in the selected part */
  unsigned in_file;           /* kind_of_file() of the event that is being turned into operations */
  const gotrace_event *event; /* v2: being turned into operations; NULL: v1, or at the end of the trace or part */
  gotrace_change change;      /* what the last event changes, if `changed` */
  bool changed;
  map old_waits;         /* (uint32_t), a text: see old_wait() */
  bool plain;            /* nothing is left out or changed: give() takes the fast path */
  bool asks_all;         /* what each event changes is asked of the decoder, for a filter: see asks() */
  bool by_task;          /* --task was given: stretches end where regions begin and end */
  bool any, begun, over; /* an event was read; the consumer has begun; `until` has passed */
  /* v1: */
  bool beginning;        /* until an event for which ends_beginning() is true */
  op held;               /* a creation that waits for the next event; kind 0: none */
  goroutine *stw;        /* has stopped the world; NULL: nobody */
  side_array lost_procs; /* int64_t by goroutine: when its system call lost its proc; 0: it did not, or unknown */
  /* v2: */
  side_array seen; /* bool by thread: find_start() has met an event on it */
} source;

/* What a goroutine does whose status is GO_RUNNING, in words. */
static inline const char *running_text(bool unseen) { return unseen ? "not seen waiting" : "running"; }

/* Whether a goroutine that runs may be a thread that waits where nobody sees it. */
static inline bool waits_unseen(const consumer *c) { return c->recorded && !c->watched; }

typedef void watch_fn(void *context, const gotrace_event *event);

/* Reads a trace and gives the part from `from` to `until` (see moment_parse) to a consumer. `watch`, unless NULL, sees
 * each event. Returns the decoder's result, END_OF_TRACE on success. The source must be zeroed. */
gotrace_result source_run(source *s, input *in, consumer *to, int64_t from, int64_t until, watch_fn *watch,
                          void *context);
void source_free(source *s);

/* What a command reads: the trace that it was given, and what its settings select of that. */
typedef struct trace_part {
  input in;
  filter selection;
  source s;
} trace_part;

bool part_open(trace_part *p, const char *path, const settings *set); /* false: a message was printed */

/* source_run() for the range of the settings. Fails if the part is outside of the trace; also if the trace is broken,
 * unless --partial was given and there is something to keep. */
void part_read(trace_part *p, consumer *to, const settings *set, watch_fn *watch, void *context);
void part_close(trace_part *p);

/* The steps of source_run(). With v2, the caller may replace source_read() and take only some of the events, in their
 * order: see digest.h. */
gotrace_result source_begin(source *s, input *in, consumer *to, int64_t from, int64_t until);
gotrace_result source_read(source *s, watch_fn *watch, void *context);
void source_take(source *s, const gotrace_event *e);
void source_end(source *s); /* gives what is left at the end of the trace or of the part */

/* After the whole trace was read by a consumer that wants modules, stores what a trace tells anywhere, for an index:
 * these; whether `gotrace record` wrote it, and the names of its threads. */
void source_put_facts(bytes *to, const source *s);

/* Call it after source_run() has failed. Fails as part_read() does. */
void source_broken(const source *s, const settings *set);

/* Call it after source_run() has succeeded. Why the part has nothing to show, as a message: it is after the last event;
 * NULL: it is not. part_read() fails with it. Valid until the next call. */
const char *source_nothing(const source *s);

/* ---- Between source.c and its front ends ---- */

static inline op op_at(unsigned kind, int64_t time, thread *m) {
  op o = {0};
  o.kind = kind;
  o.time = time;
  o.m = m;
  return o;
}

/* Asks the decoder what an event changes, if it must be asked: see asks() in ahead.h. */
void ask(source *s, const gotrace_event *e);

/* Gets the next event and asks. Results as of gotrace_decoder_next. */
gotrace_result source_next(source *s, const gotrace_event **e);

/* Why a goroutine waits when the trace begins, where `gotrace cut` has told it: see OLD_WAITS. 0: unknown. */
uint32_t old_wait(const source *s, uint64_t id);

/* Passes an operation to the consumer and applies it to the world. */
void give_part(source *s, const op *o); /* the general path: may leave out or change the operation */
static inline void give(source *s, const op *o) {
  if (!s->plain) {
    give_part(s, o);
    return;
  }
  s->to->take(s->to, o);
  apply(&s->w, o);
}
void give_held(source *s);

/* An operation of the event that is being read. */
static inline op op_of(const source *s, unsigned kind, int64_t time, thread *m) {
  op o = op_at(kind, time, m);
  o.in_file = s->in_file;
  return o;
}

/* The operation that an event becomes by its rule. */
op event_op(source *s, const gotrace_event *e, thread *m);
void give_event(source *s, const gotrace_event *e, thread *m);
void give_sample(source *s, const gotrace_event *e);

/* Gives a goroutine that begins the stack that tells its function, if its creation does not. */
void name_new(source *s, op *o);

/* Names the goroutine on which an event happens, if it has no name yet. */
void name_own(source *s, const gotrace_event *e);

/* Adds what existed before the trace. Until the consumer has begun, only the world gets it (except with as_go). */
void introduce(source *s, const op *o);

/* Notes the times of the first event. */
void source_first(source *s, const gotrace_event *e);

/* Reads the first generation for the state in which the trace began; of v1, only for the number of procs. Errors are
 * left for the next reading to report. */
void find_start(source *s);

void take_event(source *s, const gotrace_event *e);

/* v1: finds a thread for an event, and gives what must have happened before it. False: the event is done. */
bool fit(source *s, const gotrace_event *e, thread **m);

/* v1: whether an event comes after those that tell what is older than the trace. These are statuses: see "Lifted" in
 * gotrace.h. */
static inline bool ends_beginning(const gotrace_event *e) {
  return e->kind == GOTRACE_V2_PROCS_CHANGE || e->kind == GOTRACE_V2_GO_CREATE || e->kind == GOTRACE_V2_GO_START;
}

/* Called when the part ends within the first generation (v1: within the state with which the trace begins), with the
 * first event after the part. Reads on for statuses and collections that have held since the generation began but are
 * first written after the part, because nothing happened to their goroutines before. */
void take_later_state(source *s, const gotrace_event *e);

#endif
