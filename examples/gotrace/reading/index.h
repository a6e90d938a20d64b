/* index.h - an index of a trace: moments at which reading can begin
 *
 *     index.c   makes it (gotrace index) and begins at it
 *
 * The file begins with a line of text. The head follows, in numbers in base 128: its own size in bytes, without this
 * number; the trace's size; a hash of the trace's first and last 64 KiB; the contents that moments have, a bit for
 * each; the number of moments. Of each moment: the time of the last event before it, in nanoseconds since the first
 * one; whether the trace tells nothing too late from there on; the sizes of its contents; a hash of these. Then, unless
 * they are many, the ids of all tasks: for each moment of those that the trace mentions first between the one before
 * and itself, as the number of stretches of ids, and of each the ids between it and the one before, and its own. What
 * the trace tells anywhere ends the head (source_put_facts). Then come the contents of all moments. Of an index, only
 * the head and one moment are read. */

#ifndef INDEX_H
#define INDEX_H

#include "input.h"

/* The contents of a moment. */
typedef enum index_contents {
  INDEX_SNAPSHOT, /* of the decoder: gotrace_decoder_snapshot */
  INDEX_WORLD,    /* world_save() */
  INDEX_SUMMARY,  /* summary_save() */
  INDEX_LATE,     /* tasks for both: see saved_tasks() */
  INDEX_CONTENTS,
  INDEX_TASKS = INDEX_CONTENTS /* the head has the ids of all tasks */
} index_contents;

typedef struct index_moment { /* valid until the next index_begin(), or input_close() */
  const uint8_t *facts, *saved, *late;
  size_t facts_size, saved_size, late_size;
  bool foretold;                    /* from here on, the trace tells nothing too late: see ahead.h */
  const uint8_t *tasks, *tasks_end; /* ids, of each moment */
  size_t number;                    /* of this one, from 1 */
} index_moment;

/* Where the index of a trace is. `given`: NULL if the user says nothing. To be freed. */
char *index_path(const char *trace, const char *given);

/* Lets decoding begin at the last moment before a part, with all events from `from` nanoseconds on still to come:
 * input_decode() does so from now on. The decoder stands there; call it after input_decode(). False: there is no
 * moment to begin at, and the decoder stands at the beginning. An index that does not fit the trace is reported.
 * `path`: of the index; NULL: that of the trace and ".gtx". `what`: the contents that are needed, besides the snapshot;
 * `wants_tasks`: also index_has_task().
 * `to`: these, and what the index has of the whole trace; NULL: not wanted. */
bool index_begin(input *in, const char *path, int64_t from, index_contents what, bool wants_tasks, index_moment *to);

/* Whether the trace mentions a task before a moment. */
bool index_has_task(const index_moment *before, uint64_t id);

/* After a part that begins with the event at an offset: if the trace before it was read, which took a while, tells a
 * person at a terminal that an index would help. Once for each input. `path`: as above. */
void index_advise(input *in, const char *path, uint64_t offset);

/* Reports an index whose contents do not fit; the next input_decode() begins at the beginning. */
void index_refuse(input *in, const char *path);

#endif
