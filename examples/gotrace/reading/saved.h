/* saved.h - stores a world as bytes, and makes it again from them; also what else is known about its goroutines
 *
 * One list of fields serves both directions: saved_number() and its like write a value, or return what was written.
 * Texts and stacks are written where they are first used, and have numbers afterwards. The bytes may be damaged: what
 * they say is checked before it is used, and `bad` is set. */

#ifndef SAVED_H
#define SAVED_H

#include "index.h"
#include "world.h"

typedef struct saved_ids { /* of texts or stacks, which are numbered from 1 in the order of their first use */
  map numbers;             /* by id of the pool, while saving */
  uint32_t *ids;           /* while loading */
  size_t count, capacity;
} saved_ids;

typedef struct saved_list { /* numbers of tasks, ascending */
  uint32_t *numbers;
  size_t count, capacity;
} saved_list;

typedef struct saved_late saved_late;

typedef struct saved {
  bytes *to;               /* saving; NULL: loading */
  const uint8_t *at, *end; /* loading: what is left */
  bool bad;
  saved_ids texts, stacks;
  map gos; /* live goroutines are numbered in their order; loading: w->gos has no others */
  world *w;
  void *context; /* of whoever stores more than the world */
  /* Tasks: see saved_tasks(). */
  const saved_list *tasks; /* saving: these */
  saved_late *late;        /* loading: by number */
  size_t late_count;
  bool is_late; /* this is one late task; goroutines are told by their ids */
  uint64_t
      reopens;   /* saving a late task: 1 + when it ends again, in nanoseconds since the first event; 0: it does not */
  int64_t until; /* loading: where the part ends */
} saved;

/* Who knows a late task. LATE_NAMED: the world, too; the event that mentions it neither begins nor ends it, but a
 * filter may ask for its name. */
enum { LATE_WORLD, LATE_SUMMARY, LATE_NAMED, LATE_KINDS };

/* Begins to save, or to load into an empty world. saved_end: false, the bytes are not what was saved, or it cannot be
 * saved. */
void saved_begin(saved *x, bytes *to, world *w, const saved_list *tasks);
void saved_open(saved *x, world *w, const index_moment *from, unsigned who, int64_t until);
bool saved_end(saved *x);

/* Saves or loads tasks. Of all that ever were, a moment has only those that are open, those that open regions or the
 * beginnings of other tasks belong to, and those that the trace mentions again although they have ended. Of the last,
 * which are late, the trace tells when the moment is stored already; so
 * they are apart, for the world and for the summary. `task` saves or loads the fields of a task with a number, its id
 * first, by the record it is given, which for a late task is another. Tasks get their old order. */
typedef void saved_task(saved *x, uint32_t number);
void saved_tasks(saved *x, saved_task *task);

/* Appends a late task, with what `like` has as world, context and `reopens`. */
void saved_put_late(bytes *to, unsigned who, const saved *like, saved_task *task, uint32_t number);
saved_task saved_world_task;

/* Whether a task is there already, which a late one may be, or something is bad: there is nothing to load. */
bool saved_has(saved *x, const map *all, uint64_t id);

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

/* A part of a task's or counter's record. */
void saved_origin(saved *x, origin *from);

/* The world's own fields. The references above need it first. */
void saved_world(saved *x);

/* Stores a world, and makes it again in an empty one. The operations that follow then change it as they would have
 * changed the first. Not kept are goroutines that have ended, tasks that are neither in the list nor late, experiments,
 * modules, and what only v1 needs; with `as_go`, which both worlds must have or not, also what Go's reader does not
 * keep. Otherwise the stored world has `history`, and the other one gets it. world_save: false, the world is one that
 * cannot be stored. world_load: false, the bytes are no such world, and the new one can only be freed. */
bool world_save(bytes *to, world *w, const saved_list *tasks);
bool world_load(world *w, const index_moment *from, int64_t until);

#endif
