/* input.h - a trace in a file or pipe, and its decoder
 *
 *     input.c      opens, maps and decodes it
 *     foreign.c    inputs that are compressed, or no traces
 *     parallel.c   decodes a trace on several threads */

#ifndef INPUT_H
#define INPUT_H

#include "../base/tool.h"

/* --------------------------------------------------------------------------------------------------- foreign.c ---- */

bool is_gzip(const uint8_t *data, size_t size);

/* Appends what the data of a gzip file contain. The result is NULL or says what is wrong. */
const char *unpack_gzip(bytes *to, const uint8_t *data, size_t size);

/* For messages: what data are that begin so and are no trace; NULL: unknown. */
const char *foreign_kind(const uint8_t *data, size_t size);

/* Whether data are the header of a trace, without any event. */
bool is_only_header(const uint8_t *data, size_t size);

/* Where a second trace begins: at an offset or up to 16 bytes before it; 0: nowhere. */
uint64_t find_header(const uint8_t *data, size_t size, uint64_t offset);

/* ----------------------------------------------------------------------------------------------------- input.c ---- */

typedef struct input {
  const char *path;
  void *mapped;     /* NULL: the file is read */
  bool seeks;       /* at any place, as often as is needed */
  uint64_t dropped; /* pages before this offset were released */
  size_t size;
  int fd;
  bytes copy;        /* a pipe that is decoded more than once, or what a gzip file contains */
  uint8_t ahead[64]; /* the beginning of a pipe that is read on demand */
  size_t ahead_size, ahead_taken;
  int64_t from;  /* decoding may skip what is earlier: nanoseconds since the first event; 0 for all that needs states */
  bool lenient;  /* decoding accepts region ends that are out of order */
  bool has_base; /* it is a later part of a trace, whose first event was at: */
  int64_t base;  /* all times are told since then */
  bytes index;   /* of which this is: */
  const uint8_t *snapshot; /* where ordered decoding begins; NULL: at the beginning of the trace */
  size_t snapshot_size;
  bool index_refused; /* and reported */
  bool advised;       /* see index_advise() */
  gotrace_decoder *decoder;
  double next_progress; /* when to change the progress line */
  double done, share;   /* parts of the whole work: done before this pass over the trace, and this pass */
  bool first_look;      /* see input_first_look() */
  double shown;         /* part of the whole work that the terminal shows; never decreases */
  uint64_t events;
  int64_t named[256]; /* by id % 256, goroutines of which the decoder knows the function: see asks() in ahead.h */
  const gotrace_event *batch[64]; /* for input_take() */
  size_t batch_size, taken;
} input;

/* Opens a trace, which gzip may have compressed; false: a message was printed. `again`: it will be decoded more than
 * once. */
bool input_open(input *in, const char *path, bool again);

/* The same for an open file; -1: opening it failed, see errno. */
bool input_open_file(input *in, const char *name, int fd, bool again);

/* Uses a trace in an open file, which remains the caller's. */
void input_of_file(input *in, const char *name, int fd);

/* Starts to decode from the beginning; input_next() then gives the events. Results as of gotrace_decoder_open and
 * gotrace_decoder_next. */
gotrace_result input_decode(input *in, bool raw);

/* For the progress line. Call it before input_decode(): this pass over the trace is at most half of the work left. */
void input_first_look(input *in);
void input_progress(input *in, uint64_t offset); /* of the last event */

/* Counts events that were taken, the last one at an offset. */
static inline void input_count(input *in, size_t count, uint64_t offset) {
  in->events += count;
  if ((in->events & 0xffff) < count) input_progress(in, offset);
}

static inline gotrace_result input_next(input *in, gotrace_event *event) {
  gotrace_result result = gotrace_decoder_next(in->decoder, event);
  if (result == GOTRACE_OK && !(++in->events & 0xffff)) input_progress(in, event->offset);
  return result;
}

/* The same without copying the event, for busy loops. The event is valid until the next call. */
static inline gotrace_result input_take(input *in, const gotrace_event **event) {
  if (in->taken == in->batch_size) {
    gotrace_result result;
    in->taken = 0;
    in->batch_size = COUNT(in->batch);
    result = gotrace_decoder_next_batch(in->decoder, in->batch, &in->batch_size);
    if (result != GOTRACE_OK) return result;
  }
  *event = in->batch[in->taken++];
  if (!(++in->events & 0xffff)) input_progress(in, (*event)->offset);
  return GOTRACE_OK;
}

/* After input_take(): whether the event was the last of its generation. */
static inline bool input_is_between(const input *in) {
  return in->taken == in->batch_size && gotrace_decoder_between(in->decoder);
}

/* The offset of the last event that input_take() gave; 0: none. */
static inline uint64_t input_offset(const input *in) { return in->taken ? in->batch[in->taken - 1]->offset : 0; }

/* The number that an ordered event has in the file. */
static inline unsigned kind_in_file(const gotrace_event *e) { return e->v1_kind ? e->v1_kind : e->kind; }

/* The same for one of v1, whose numbers follow those of v2; otherwise 0. */
#define OF_V1 256u
static inline unsigned kind_of_file(const gotrace_event *e) { return e->v1_kind ? OF_V1 + e->v1_kind : 0; }

/* What the file calls it. `format`: of the input. */
static inline const gotrace_event_spec *spec_in_file(const gotrace_event *e, int format) {
  return e->v1_kind ? gotrace_find_event_spec((gotrace_format)format, e->v1_kind) : e->spec;
}

/* The time of the trace's first event, even if decoding has skipped it, or the file does not have it. `e`: the first
 * event that was read. */
int64_t input_first_time(const input *in, const gotrace_event *e);

/* How to process the generations of a trace. A trace without generations counts as one. */
typedef struct generations {
  void *context;
  /* Reads the next generation, or the rest of the trace, from the decoder of the whole trace. The result is that of the
   * last gotrace_decoder_next. */
  gotrace_result (*whole)(void *context, input *in);
  /* Reads a part to its end, on any thread, and returns what it found. */
  void *(*part)(void *context, gotrace_decoder *part);
  /* Called in the order of the generations, on the thread of `whole`. `fits`: whether the result fits what was read
   * before; NULL: always. If so, and if the decoders can be joined, `join` takes it. Otherwise `whole` reads the
   * generation. */
  bool (*fits)(void *context, const void *made);
  void (*join)(void *context, void *made);
  void (*drop)(void *made);
} generations;

/* After input_decode(), reads the rest, on `jobs` threads where possible (parallel.c). Returns the last result of
 * `whole`, which does not depend on `jobs`. */
gotrace_result input_finish(input *in, unsigned jobs, const generations *to);

/* Describes what is wrong with the trace, with offset and event. */
const char *input_error(const input *in);

/* To follow such a message: the options of the command that would help; "" if none would. `some`: there is something
 * that --partial would keep. */
const char *input_advice(const input *in, const settings *set, bool some);

/* Whether the file can be read again: it is mapped or copied, or is read at any place. */
bool input_is_kept(const input *in);

/* Copies a part of such a trace, unpacked; false: it is not there. */
bool input_part(input *in, uint64_t at, uint8_t *to, size_t size);

/* The trace, unpacked, if it is mapped or copied; else NULL. */
const uint8_t *input_bytes(const input *in, size_t *size);

/* Whether the first `most` bytes of the trace contain a text; true if they are not in memory. Much faster than
 * decoding.
 */
bool input_contains(input *in, const char *text, size_t size, size_t most);
void input_close(input *in);

#endif
