/* writer.h - the two writers, which are consumers of operations
 *
 *     writer.c      what both share: ticks, tables of texts and stacks
 *     write_v1.c    Go 1.8 to 1.21
 *     write_v2.c    Go 1.22 and later
 *
 * Ticks of the traces they write are nanoseconds. An event that a format does not have is left out. */

#ifndef WRITER_H
#define WRITER_H

#include "source.h"

/* What a format does not have, see convert.c. */
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
  uint32_t mark;         /* of the texts and stacks that are already in the tables */
  bytes strings, stacks; /* tables, as far as not yet written; v1's strings include timers */
  bytes samples;
  uint64_t gc_sequence;
  uint64_t next_go; /* v1: number of ids given out; v2: the goroutine of borrowed threads */
  /* v2. */
  thread *helper; /* for events without a thread, proc or goroutine */
  proc *helper_proc;
  uint64_t lost[LOST_KINDS]; /* how many of each were left out */
  bool procs_told;           /* GOMAXPROCS is written */
  size_t untold;             /* number of goroutines whose status is not yet written; see v2_take_told */
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

/* The tick of a time, from 1: readers of v1 take 0 for no time. */
uint64_t tick_of(const writer *w, int64_t time);

/* The id of a text or stack in the trace, which is put into the tables unless it is there. */
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
