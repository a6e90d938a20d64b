/* writer.h - the two trace writers; both are consumers of operations
 *
 *     writer.c      code for both: ticks, tables of texts and stacks
 *     write_v1.c    Go 1.8 to 1.21
 *     write_v2.c    Go 1.22 and later
 *
 * Their traces have ticks of a nanosecond. Operations that the format does not have are left out. */

#ifndef WRITER_H
#define WRITER_H

#include "source.h"

/* Things that are lost if the format does not have them; see convert.c. */
enum {
  LOST_SYSCALLS,
  LOST_REASONS,
  LOST_STW,
  LOST_ASSISTS,
  LOST_SCANS,
  LOST_ANNOTATIONS,
  LOST_SAMPLES,
  LOST_EXPERIMENTS,
  LOST_NAMES,
  LOST_KINDS
};

typedef struct writer {
  consumer c;
  output *out;
  uint64_t latest;       /* tick of the last event */
  uint32_t mark;         /* marks the texts and stacks that are in the current tables */
  bytes strings, stacks; /* table entries not yet written; in v1, strings include timers */
  bytes samples;
  uint64_t gc_sequence;
  uint64_t next_go; /* v1: number of ids given out; v2: the goroutine of borrowed threads */
  /* v2. */
  thread *helper; /* for events without a thread, proc or goroutine */
  proc *helper_proc;
  uint64_t lost[LOST_KINDS]; /* how many of each were left out */
  bool procs_told;           /* GOMAXPROCS is written */
  size_t untold;             /* number of goroutines with an unwritten status; see v2_take_told */
  uint64_t generation;
  int64_t generation_time;          /* when it began */
  size_t event_bytes, status_bytes; /* of the generation: all events, and the statuses it begins with */
  /* v1. */
  proc global;        /* for events without a proc */
  uint64_t next_proc; /* number of ids given out */
  uint64_t procs;     /* GOMAXPROCS as last written */
  unsigned stw_depth;
  proc *stw_proc;
  bool stw_written, gc_written, frequency_written, timer_told;
} writer;

#define FREQUENCY 1000000000u
#define MOST_EVENT (1 + 7 * GOTRACE_BYTES_PER_NUMBER)

/* The tick of a time; at least 1, because readers of v1 treat 0 as no time. */
uint64_t tick_of(const writer *w, int64_t time);

/* The id of a text or stack in the trace. Adds it to the tables if necessary. */
uint64_t use_text(writer *w, uint32_t id);
uint64_t use_stack(writer *w, uint32_t id);

/* Puts the texts that describe modules into the tables. */
void use_modules(writer *w);

/* v2: writes a batch and empties it. */
void v2_batch(writer *w, uint64_t m, uint64_t tick, bytes *batch);

/* v2: makes room for an entry in a table's batch, which begins with the table's kind. */
void v2_table_room(writer *w, bytes *table, unsigned kind);

void v1_begin(consumer *c, int64_t time);
void v1_take(consumer *c, const op *o);
void v1_end(consumer *c, int64_t time);

void v2_begin(consumer *c, int64_t time);
void v2_take(consumer *c, const op *o);
void v2_end(consumer *c, int64_t time);

void writer_free(writer *w);

#endif
