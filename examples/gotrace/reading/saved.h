/* saved.h - stores a world as bytes, and makes it again from them; also what else is known about its goroutines
 *
 * One list of fields serves both directions: saved_number() and its like write a value, or return what was written.
 * Texts and stacks are written where they are first used, and have numbers afterwards. The bytes may be damaged: what
 * they say is checked before it is used, and `bad` is set. */

#ifndef SAVED_H
#define SAVED_H

#include "world.h"

typedef struct saved_ids { /* of texts or stacks, which are numbered from 1 in the order of their first use */
  map numbers;             /* by id of the pool, while saving */
  uint32_t *ids;           /* while loading */
  size_t count, capacity;
} saved_ids;

typedef struct saved {
  bytes *to;               /* saving; NULL: loading */
  const uint8_t *at, *end; /* loading: what is left */
  bool bad;
  saved_ids texts, stacks;
  map gos; /* live goroutines are numbered in their order; loading: w->gos has no others */
  world *w;
} saved;

/* Begins to save, or to load into an empty world. saved_end: false, the bytes are not what was saved, or it cannot be
 * saved. */
void saved_begin(saved *x, bytes *to, world *w);
void saved_open(saved *x, world *w, const uint8_t *data, size_t size);
bool saved_end(saved *x);

/* Each saves a value, and returns it or the loaded one. */
uint64_t saved_number(saved *x, uint64_t value);
uint64_t saved_below(saved *x, uint64_t value, uint64_t limit); /* less than that */
size_t saved_count(saved *x, size_t count);                     /* of records that follow, of a byte or more each */
uint32_t saved_text(saved *x, uint32_t id);
uint32_t saved_stack(saved *x, uint32_t id);
#define SAVED_NUMBER(x, field) ((field) = (__typeof__(field))saved_number(x, (uint64_t)(field)))
#define SAVED_BELOW(x, field, limit) ((field) = (__typeof__(field))saved_below(x, (uint64_t)(field), limit))
#define SAVED_FLAG(x, field) ((field) = saved_below(x, field, 2) != 0)
#define SAVED_TEXT(x, field) ((field) = saved_text(x, field))
#define SAVED_STACK(x, field) ((field) = saved_stack(x, field))

/* References to records; NULL is one, too. One to a goroutine that has ended is not kept. */
goroutine *saved_go(saved *x, goroutine *g);
thread *saved_thread(saved *x, thread *m);
proc *saved_proc(saved *x, proc *p);

/* The world's own fields. The references above need it first. */
void saved_world(saved *x);

#endif
