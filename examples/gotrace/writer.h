/* writer.h - the two writers, which are consumers of operations
 *
 * writer.c     what both use
 * write_v1.c   Go 1.8 to 1.21
 * write_v2.c   Go 1.22 and later */

#ifndef WRITER_H
#define WRITER_H

#include "world.h"

typedef struct writer {
  consumer c;
  output *out;
  uint64_t latest;        /* tick of the last event */
  uint32_t stamp;         /* of the texts and stacks that are already in the tables */
  bytes strings, stacks;  /* tables, as far as they are not yet written; among v1's strings, timers */
  bytes samples;
  thread *helper;         /* for events without a thread, proc or goroutine */
  proc *helper_proc;
  bool procs_told;        /* GOMAXPROCS */
  uint64_t gc_sequence;
  /* v2: */
  uint64_t generation;
  int64_t generation_time;
  size_t event_bytes, status_bytes; /* of the generation */
  /* v1: */
  proc global; /* of events without a proc */
  uint64_t next_go, next_proc;
  uint64_t procs; /* GOMAXPROCS as it was told last */
  unsigned stw_depth;
  proc *stw_proc;
  bool stw_written, gc_written, frequency_written, timer_told;
} writer;

#define FREQUENCY 1000000000u
#define MOST_EVENT (1 + 7 * GOTRACE_BYTES_PER_NUMBER)

uint64_t tick_of(const writer *w, int64_t time);
void put_batch_header(bytes *b, uint64_t generation, uint64_t m, uint64_t tick, size_t size);
void v2_batch(writer *w, uint64_t m, uint64_t tick, bytes *batch);
void v2_table_room(writer *w, bytes *table, unsigned kind);
uint64_t use_text(writer *w, uint32_t id);
uint64_t use_stack(writer *w, uint32_t id);
void v1_begin(consumer *c, int64_t time);
void v1_take(consumer *c, const op *o);
void v1_end(consumer *c, int64_t time);
void v2_begin(consumer *c, int64_t time);
void v2_take(consumer *c, const op *given);
void v2_end(consumer *c, int64_t time);

#endif
