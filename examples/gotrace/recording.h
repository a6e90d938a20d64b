/* recording.h - what a summary is to hear of a generation, recorded by a thread that does not know what came before
 *
 * A recording is a digest's host (digest.h) without a world. What the digest passes on, and with what it lets the host
 * catch up, is recorded in a few bytes each. Later, when the summary has come as far as the generation, it compares
 * what was assumed with what it knows (summary.c, fits), then plays the recording and adds the groups.
 *
 * Which function a goroutine that is older than the generation began with is not known here. Up to OWN_GROUPS of them
 * have a group of their own; further ones share the group of the function that is outermost in their stacks, which is
 * wrong if the summary knows another one, and then the generation is read again. */

#ifndef RECORDING_H
#define RECORDING_H

#include "digest.h"

#define OWN_GROUPS 256

typedef struct recorded_group {
  group g;          /* its name is the summary's */
  bool is_named;    /* the summary has named it */
  bool is_made;     /* of goroutines that were created in the generation, so its function is known: */
  const char *name; /* the decoder's */
  size_t name_size;
  struct recorded_group *next;
} recorded_group;

typedef struct admitted { /* a goroutine */
  uint64_t id;
  recorded_group *to;
  bool is_new; /* created in this generation */
} admitted;

typedef struct recording {
  digest d;
  bytes stream;
  int64_t time; /* of the last event in the stream */
  recorded_group *groups;
  unsigned own_groups;
  map by_name; /* groups, by the address of the function's name */
  admitted *gos;
  size_t go_count, go_capacity;
  uint64_t *reasons; /* strings of the decoder, by place */
  uint32_t reason_count, reason_capacity;
  bool wary;
} recording;

/* `wary`: a summary knew better before. Then goroutines that are older and have no stacks are not admitted. */
recording *recording_new(const gotrace_decoder *part, bool wary);
void recording_free(recording *r);

/* What is played. */
typedef struct recorded {
  bool is_event;
  gotrace_event event; /* without offset */
  digested go;         /* reasons: places in recording.reasons */
  uint64_t m;          /* its thread, if it runs */
} recorded;

/* The next item from a position on, which starts at 0; false: there is none. */
bool recording_play(const recording *r, size_t *position, recorded *item, int64_t *time);

#endif
