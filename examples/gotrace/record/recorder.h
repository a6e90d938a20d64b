/* recorder.h - writes the trace of a process from the memory that it shares: see outside.h */

#ifndef RECORDER_H
#define RECORDER_H

#include "../base/tool.h"
#include "board.h"
#include "perf.h"

typedef struct recorder recorder;

/* Memory of this size for a process to capture into, as a file of its own, all of which is reserved; after it, place
 * for CPU samples by timers, if files may be so large. -1: see errno. */
int recorder_make_box(size_t size);

/* Begins the trace, before the process runs. The file stays the caller's. NULL: see errno. */
recorder *recorder_begin(int box, size_t size, const struct record_settings *set);

/* Until recorder_start the trace has nothing: what happens is transcribed, so that the trace then begins with what each
 * thread does or waits for, and dropped. Call it before the first recorder_read. */
void recorder_pause(recorder *r);
bool recorder_is_paused(const recorder *r);
void recorder_start(recorder *r, int to);

/* Adds CPU samples to the trace, and context switches if they are taken. The recorder ends the events. */
void recorder_take_events(recorder *r, perf_events *events, bool switched);

/* Has the process take CPU samples by timers, so many in a second of each thread's CPU time. Call it before the process
 * begins. False: there is no place for them. */
bool recorder_take_ticks(recorder *r, uint32_t hertz);

/* Whether a process captures into the box. */
bool recorder_is_used(const recorder *r);

/* What the process says of its end: TRACE_EXECUTES..., or 0; and of children that cannot be traced: an errno, or 0. It
 * may be any number. */
uint32_t recorder_said(const recorder *r);
uint32_t recorder_unreached(const recorder *r);

/* Whether another recorder records what it executes. */
bool recorder_is_left(const recorder *r);

/* Whether it has entered a sandbox (seccomp). */
bool recorder_is_sandboxed(const recorder *r);

/* Reads what is new. `to`: where the trace goes; -1: not known yet. Returns whether there was much,
 * so that the next call must be soon. */
bool recorder_read(recorder *r, int to);

/* The same, and ends a generation, so that the trace is complete up to now. */
void recorder_cut(recorder *r, int to);

/* A flight recorder (flight_milliseconds) writes nothing but what it has at the end. This writes what it has now: all
 * generations that are not too old. False: see errno. */
bool recorder_write_kept(const recorder *r, int to);
bool recorder_keeps(const recorder *r);

/* Whether the process has asked for that, once more. */
bool recorder_wants_snapshot(recorder *r);

struct recorder_stats {
  uint64_t events, threads;
  uint64_t since_cut;  /* nanoseconds: what is younger is not in the trace yet */
  uint64_t waits;      /* for room: how often a thread did so */
  uint64_t used, size; /* bytes of the box */
  uint64_t problems;
  bool paused;
};
void recorder_get_stats(const recorder *r, struct recorder_stats *to);

/* Waits so long, or until the process asks for something, or a signal comes. */
void recorder_wait(recorder *r, unsigned milliseconds);

/* Reads the rest and ends the trace. A process that goes on captures no more. Frees the recorder. */
void recorder_finish(recorder *r, int to, struct trace_end *end);

#endif
