/* writer.h - writes a trace: a consumer of operations
 *
 * The code is in write.h. It drives gotrace.h's transcriber, which has all rules of the formats. Times are kept to the
 * nanosecond. What the format does not have is left out. */

#ifndef WRITER_H
#define WRITER_H

#include "../reading/source.h"

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
  LOST_EVENTS,
  LOST_KINDS
};

typedef struct written_go {
  uint64_t place;      /* in the transcriber; 0: none */
  bool status_pending; /* its status is not written until the input tells it or an event needs it */
} written_go;

typedef struct written_thread {
  struct gotrace__source *source; /* the thread as the transcriber knows it; NULL: not yet */
  const goroutine *starting;      /* its start is not written yet, see source_of(); NULL: none */
  int64_t start_time;
} written_thread;

typedef struct writer {
  consumer c;
  side_array gos;     /* struct written_go */
  side_array threads; /* struct written_thread */
  side_array procs;   /* uint64_t: the place in the transcriber; 0: none */
  map thread_ids;     /* that the result has; see take_thread_id() */
  output *out;
  int format;
  uint64_t lost[LOST_KINDS]; /* how many of each were left out */
  uint64_t unknown_syscalls; /* v2, from v1: system calls that end at once, since nothing tells how long they took */
  struct gotrace__transcriber *t;
  uint64_t latest; /* tick of the last event */
  uint64_t *free;  /* places of goroutines that have ended */
  size_t free_count, free_capacity;
  uint64_t places;         /* of goroutines, so far */
  uint64_t large_procs;    /* procs whose ids are too large, so far */
  size_t pending_statuses; /* v2: goroutines with an unwritten status; see tell() */
  int64_t generation_time; /* v2: when the generation began */
  uint64_t statuses;       /* v2: with which it began */
  uint64_t events;         /* v2: written until then */
  bool procs_told;         /* v2: GOMAXPROCS is written */
  bool global_scan;        /* v1: a scan without a proc is open */
  proc *stw_scan;          /* before 1.10: the proc whose scan stands for a stopped world; NULL: none */
} writer;

/* Sets up `c` for a trace of this format, which goes to `out`. */
void writer_open(writer *w, output *out, int format);
void writer_free(writer *w);

#endif
