/* ahead.h - what a trace tells too late, found by reading it ahead
 *
 * - The function a goroutine began with, if its creation does not tell it: see gotrace_decoder_entry in gotrace.h.
 * - Whether a task ends again later. The last end counts, as in Go's summary.
 * - Whether --task names an id or a name: a number is a name if no task has that id.
 * - Whether it is a trace of `gotrace record`, and the names that its threads get.
 *
 * Whoever shows something before the trace is read to its end reads it ahead: source.c for consumers, dump.c for
 * events. Only the whole report of `info` does not need that, since it names goroutines last; source.c tells it the
 * functions as they come. */

#ifndef AHEAD_H
#define AHEAD_H

#include "input.h"
#include "world.h"

typedef struct ahead {
  uint32_t *entries; /* by gotrace_change.number: a stack with only the function that the goroutine began with; or 0 */
  size_t count;
  map task_ends;   /* by task: 1 + offset of its last end */
  map early_ends;  /* by 1 + offset: ends of tasks that end again */
  bool recorded;   /* see ahead_names() */
  bool watched;    /* likewise */
  map called;      /* by goroutine, (uint32_t), a text: the name that its thread got last */
  uint64_t wanted; /* a task's id; set by the caller */
  bool met;        /* there is such a task */
} ahead;

/* Reads the trace to the end of the generation in which `until` lies; a trace of v1 is one generation. An error is left
 * for the next reading to report. The next reading must ask the decoder what the same events change: those of asks(),
 * or `all`. Otherwise it would number goroutines differently. */
void ahead_read(ahead *a, input *in, int64_t until, bool all);
void ahead_free(ahead *a);

/* Finds out whether `gotrace record` wrote the trace, which is then a trace of threads. If so, reads it for the names
 * that the program gave them: the labels of their goroutines; and finds out whether the kernel told when they had no
 * processor. An error is left for the next reading to report. Does
 * nothing if the input cannot be read again. */
void ahead_names(ahead *a, input *in);

/* What `gotrace cut` tells about goroutines, but no event can, is in texts to which no event refers: a prefix, ids with
 * commas between, a space, the text. OLD_WAITS: why they wait when the part begins. OLD_NAMES: the names of threads;
 * these come before RECORD_CPU_TIME, where ahead_names() stops to look. */
#define OLD_WAITS "gotrace.waits "
#define OLD_NAMES "gotrace.names "

/* They are in the first bytes of the trace, at most as many as this; in v1, anywhere. */
size_t told_within(const input *in);

/* Whether an event of raw decoding puts a text into the trace's table. */
bool is_string(const gotrace_event *e);

/* Adds what such a text tells to a map, from a goroutine to (uint32_t), a text. `data`: what follows the prefix. */
void take_told(map *to, const char *data, size_t size);

/* The name that the goroutine's thread got; 0: none. `a` may be NULL. */
static inline uint32_t ahead_called(const ahead *a, uint64_t id) {
  return a && a->called.count ? (uint32_t)(uintptr_t)map_get(&a->called, id) : 0;
}

/* A stack with only the function that a goroutine began with which has this id now, or had it last; 0: unknown. What
 * was not read ahead is asked of the decoder. `a` may be NULL. */
uint32_t ahead_entry(const ahead *a, const gotrace_decoder *d, uint64_t id);

/* Whether the task of a task's end ends again later. */
bool ahead_ends_again(const ahead *a, const gotrace_event *end);

/* ---- What events tell, in any format ---- */

/* Whether the decoder does not know the function of a goroutine. Finding that out takes several look-ups, and most
 * events have a stack, so input.named has the goroutines whose function it knows. */
bool lacks_function(input *in, int64_t g);

/* Whether the decoder must be asked what an event changes, if no filter needs that: a goroutine begins or ends, or its
 * status is told; a stack may tell the function of one, unless it is `named`; or the rows of gotrace_find_change_spec
 * do not tell all. */
static inline bool asks(input *in, const gotrace_event *e, bool named) {
  if (changes_go(e->kind) && (appears(e->kind) || ends_go(e->kind))) {
    uint64_t changes = appears(e->kind) ? e->args[0] : (uint64_t)e->g;
    in->named[changes % COUNT(in->named)] = GOTRACE_NO_ID; /* the next one with this id is another */
    return true;
  }
  return !named && e->stack && e->g != GOTRACE_NO_ID && in->named[(uint64_t)e->g % COUNT(in->named)] != e->g &&
         lacks_function(in, e->g);
}

/* The reason of the implied events of a coroutine switch, for which Go has none. */
#define SWITCH_REASON "coroutine switch"

/* The reason of GoBlock in v1, which Go from 1.22 on writes for such waits. */
#define UNKNOWN_REASON "unspecified"

/* Why a goroutine stops or blocks, or the world is stopped. NULL: the change is none of these. */
const char *change_reason(const gotrace_event *e, const gotrace_change *c, size_t *size);

/* Whether a change, GOTRACE_CHANGE_..., concerns a task, which may be 0. */
static inline bool change_has_task(unsigned change) {
  return change >= GOTRACE_CHANGE_TASK_BEGIN && change <= GOTRACE_CHANGE_LOG; /* also regions */
}

/* Whether a log, of which these are the texts, is a counter's value: see gotrace_count() in gotrace.h. Sets the
 * counter's name, a text, and the value, which is between -1e290 and 1e290. */
bool log_counter(uint32_t category, uint32_t message, uint32_t *name, double *value);

#endif
