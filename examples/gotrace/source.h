/* source.h - from a trace to operations, and to a consumer
 *
 *     source.c     reads the trace, keeps the world, selects the part that the consumer gets
 *     read_v1.c    front end: turns events of Go 1.5 to 1.21 into operations
 *     read_v2.c    front end: turns events of Go 1.22 and later into operations
 *
 * A command fills in a consumer and calls source_run(). */

#ifndef SOURCE_H
#define SOURCE_H

#include "world.h"

/* Takes operations. Before each the world is still as it was. */
typedef struct consumer {
  void (*begin)(struct consumer *, int64_t time); /* before the first operation */
  void (*take)(struct consumer *, const op *);
  void (*end)(struct consumer *, int64_t time); /* of the trace, or the selected part */
  /* Set by the consumer. */
  int format;    /* of the output; 0: any */
  bool statuses; /* takes GoStatus now; otherwise such a goroutine is given as newly created */
  /* Set by the source. */
  world *w;
  int family;   /* of the input */
  int64_t base; /* time of the input's first event */
} consumer;

typedef struct source {
  input *in;
  world w;
  consumer *to;
  int format;            /* of the input */
  int64_t from, until;   /* the part that the consumer gets, counted from the first event */
  int64_t first, end;    /* times of the first event and of the last one read */
  bool any, begun, over; /* an event was read; the consumer has begun; `until` has passed */
  bool told;             /* there was an event other than the end of a generation */
  /* v1. */
  op held;    /* waits for the next event; kind 0: none */
  op *intros; /* goroutines older than the trace, until `started` */
  uint32_t intro_count, intro_capacity;
  map intro_places;  /* from a goroutine to 1 + its index */
  bool started;      /* an event other than those was read */
  goroutine *stw;    /* has stopped the world */
  uint8_t *blocking; /* a bit for each system call: it lost its proc */
  size_t calls, calls_capacity;
} source;

typedef void watch_fn(void *context, const gotrace_event *event);

/* Reads a trace and gives the part from `from` to `until` to a consumer. `watch`, unless NULL, sees each event. The
 * result is that of the decoder, END_OF_TRACE if all is well. The source must be zero, but for w.statistics. */
gotrace_result source_run(source *s, input *in, consumer *to, int64_t from, int64_t until, watch_fn *watch,
                          void *context);
void source_free(source *s);

/* After source_run() has failed: fails, unless --partial was given and there is something to keep. */
void source_broken(const source *s, const settings *set);

/* ---- Between source.c and its front ends ---- */

op op_at(unsigned kind, int64_t time, thread *m);

/* Sends an operation on its way. */
void give(source *s, const op *o);
void give_held(source *s);
void give_sample(source *s, const gotrace_event *e);

/* Adds what was there before the trace: known from the start, if the consumer has not begun. */
void introduce(source *s, const op *o);

/* A first look at the whole trace, or at its first generation. Errors are left for the second look. */
void scan_v1(source *s);
void scan_v2(source *s);

void take_v1(source *s, const gotrace_event *e);
void take_v2(source *s, const gotrace_event *e);

/* No more goroutines older than the trace will come. */
void v1_give_intros(source *s);

/* Where the arguments of an event of v2 belong in its operation: a letter for each. i id; a b c the numbers; n name; v
 * value; N new_stack; S stack; . none. NULL: an event that is not copied. */
extern const char *const v2_arguments[256];

#endif
