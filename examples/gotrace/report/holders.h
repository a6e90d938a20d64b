/* holders.h - who had what a goroutine waited for, and what it did meanwhile
 *
 * Who wakes a goroutine that waits for a lock is often only the last of several that had it: A had the lock while B and
 * then C began to wait; A woke B, and B, a moment later, C. C waited for A. So a wait is followed back through these
 * hand-overs: who ended the wait has had the lock since its own last wait for it ended, if that was after the wait
 * began; what is before goes to the goroutine that ended that wait. A trace has no identity of locks, so two waits
 * are for the same lock if the functions that take and release it say so (same_owner in waits.h).
 *
 * A trace of `gotrace record` tells who has a lock when another thread begins to wait for it, and where it was taken.
 * Then only what is after the first hand-over is derived.
 *
 * It also tells which other process ended a wait, right after the wait: see told_process().
 *
 * Other waits, such as those for a channel, a WaitGroup or a condition variable, go to the one that ended them. */

#ifndef HOLDERS_H
#define HOLDERS_H

#include "../reading/source.h"
#include "waits.h"

/* What a goroutine does: its waits by class, then these. */
enum { DOES_RUN = WAIT_CLASS_COUNT, DOES_STOP, DOES_READY, DOES_CALL, DOES_COUNT };

/* "running", "waiting for a proc", or the class of a wait, in the words for the consumer's trace. NULL: in those
 * for programs, which are the same for all traces. */
const char *does_text(unsigned what, const consumer *c);

typedef struct activity {
  int64_t time[DOES_COUNT];
  int64_t longest[DOES_COUNT]; /* of single times, */
  uint32_t stack[DOES_COUNT];  /* and where that was; 0: unknown */
} activity;

void activity_merge(activity *to, const activity *from);

unsigned most_of(const activity *a, int64_t *time); /* what took longest */
int64_t whole_of(const activity *a);

/* When the world was stopped, in order. */
typedef struct stops {
  struct stop {
    int64_t begin, end, before; /* before: how long until then, in sum */
  } * all;
  size_t count, capacity;
} stops;

/* An operation, before it is applied. */
void stops_take(stops *s, const world *w, const op *o);
int64_t stopped_between(const stops *s, const world *w, int64_t begin, int64_t end);

typedef struct part_of_wait {
  goroutine *holder; /* NULL: unknown */
  int64_t begin, end;
  uint32_t
      taken; /* stack where the holder took the lock, if that is told or it waited for it; 0: unknown, or no lock */
  uint32_t released; /* stack where it ended the wait or handed the lock on; 0: unknown */
} part_of_wait;

#define MOST_PARTS 16

/* Who has the lock that a goroutine waits for, or is about to, and the stack where it was taken. NULL: not known. */
typedef struct told_holder {
  goroutine *g;
  uint32_t taken;
} told_holder;

/* A log of the program, before it is applied. `told`: told_holder by goroutine, of those that it tells. */
void take_told_holder(side_array *told, world *w, const op *o);

/* "PROGRAM (pid NUMBER)", perhaps with more, of the other process that ended the last wait of the goroutine that logs,
 * if this is such a log; otherwise 0. */
uint32_t told_process(const op *o);

typedef struct holders {
  waits *waits;
  const world *w;
  stops stopped;
  side_array told;             /* told_holder by goroutine */
  side_array gos;              /* struct history *, by goroutine */
  struct history *ended[4096]; /* a ring of those of goroutines that have ended */
  size_t ended_count;
} holders;

/* The goroutine that ended a wait, if it is another one; NULL: none. */
goroutine *waker_of(const stretch *part);

/* Whether it is a wait that the library of `gotrace record` saw. Only of such a one it tells who ended it, and not
 * before the thread has a processor again. Meanwhile the thread may have slept unseen. */
bool is_seen_wait(unsigned status, uint32_t reason);

/* A stretch that has ended. `by`: the goroutine that ended it; NULL: none. Call it after wait_parts(). */
void holders_add(holders *h, const stretch *part, goroutine *by);

/* The parts of a wait that ends now, last one first; returns their number. They cover it. */
unsigned wait_parts(holders *h, const stretch *wait, goroutine *by, part_of_wait parts[MOST_PARTS]);

/* Who has the lock that a goroutine waits for now, if that is told and cannot have changed. */
told_holder holder_now(holders *h, const goroutine *g);

/* Goroutines each of which waits for a lock that the next one has: the one with the least id; NULL: there are none. */
goroutine *find_deadlocked(holders *h);

/* Adds up what a goroutine did in a time that has passed, as far as it is remembered. */
void add_activity(holders *h, goroutine *g, int64_t begin, int64_t end, activity *to);

/* What a stretch is. */
unsigned does_in(waits *w, unsigned status, uint32_t stack, uint32_t reason);

void holders_free(holders *h);

#endif
