/* recording.h - one generation for a summary, made by a thread that does not know the state at its start
 *
 * A recording is the host of a digest (digest.h), without a world. It stores the events that the digest passes, and
 * each status and times for the host to catch up with, in a few bytes each. When the summary reaches the generation, it
 * compares what the recording assumed with what it knows (generations.c, fits), plays the recording and adds the
 * groups.
 *
 * The recording must know the function of each goroutine that it admits. The digest of an earlier generation tells it
 * for most goroutines that are older than this generation. For others it is a guess, and if the summary knows better,
 * it reads the generation again: up to OWN_GROUPS goroutines get a group each, which can have any function; further
 * ones share the group of the outermost function in their stacks. */

#ifndef RECORDING_H
#define RECORDING_H

#include "digest.h"
#include "../reading/ahead.h"

#define OWN_GROUPS 256

typedef struct recorded_group {
  group g;          /* g.name is valid if is_named */
  bool is_named;    /* by the summary, or known from an earlier generation */
  bool is_made;     /* of goroutines that were created in this generation, so `name` is certain */
  const char *name; /* of the function, owned by the decoder */
  size_t name_size;
  struct recorded_group *next;
} recorded_group;

typedef struct admitted { /* a goroutine */
  uint64_t id;
  recorded_group *to;
  bool is_new;   /* created in this generation */
  bool assisted; /* a mark assist, which may have begun before this generation, ended before it was admitted */
} admitted;

typedef struct recording {
  digest d;
  bytes stream;
  int64_t time; /* of the last event in the stream */
  recorded_group *groups;
  unsigned own_groups;
  map by_name; /* groups, by the address of `name` */
  map by_text; /* those of known functions, by g.name */
  admitted *gos;
  size_t go_count, go_capacity;
  uint64_t *reasons; /* strings of the decoder, by place */
  uint32_t reason_count, reason_capacity;
  bool wary;
  const ahead *names;
  void *player; /* for the summary */
} recording;

/* `earlier`: see digest_begin. `wary`: an earlier recording guessed wrong. Then older goroutines with neither a known
 * function nor a stack are not admitted. `names`: those of threads. */
recording *recording_new(const gotrace_decoder *part, const digest *earlier, bool wary, const ahead *names);

/* An item to be played. */
typedef struct recorded {
  bool is_event;
  gotrace_event event; /* without offset */
  digested go;         /* reasons: places in recording.reasons */
  uint64_t m;          /* its thread, if it runs */
} recorded;

/* Returns the item at *position, which starts at 0, and moves on; false: there is none. Afterwards, digest_finish has
 * the rest. */
bool recording_play(const recording *r, size_t *position, recorded *item, int64_t *time);

#endif
