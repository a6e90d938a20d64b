/* view_batches.c - which threads wrote how much when, for the page's picture before it has read a trace
 *
 * From the headers of batches alone, so that it takes a few seconds for a gigabyte. A batch counts from its time to
 * that of the thread's next one, evenly. Traces of Go 1.21 and older have no sizes of batches: nothing is told of them.
 * Where generations begin is told too, and the time of the first event: the page can read a generation by itself
 * (--base), since each has its own tables and tells the state of all goroutines. */

#include "view.h"

#include <stdlib.h>

#define COLUMNS 360
#define MOST_BATCHES ((size_t)1 << 21)
#define MOST_ROWS ((size_t)64) /* threads; those that wrote most */

size_t batch_header(const uint8_t *data, size_t size, batch *b) {
  const uint8_t *at = data, *end = data + size;
  uint64_t kind, skipped;
  *b = (batch){0};
  if (!take_number(&at, end, &kind)) return 0;
  if (kind == GOTRACE_V2_END_OF_GENERATION) return (size_t)(at - data); /* the next batch has another generation */
  if (kind != GOTRACE_V2_EVENT_BATCH && kind != GOTRACE_V2_EXPERIMENTAL_BATCH) return 0;
  if (kind == GOTRACE_V2_EXPERIMENTAL_BATCH && !take_number(&at, end, &skipped)) return 0;
  if (!take_number(&at, end, &b->generation) || !take_number(&at, end, &b->thread) ||
      !take_number(&at, end, &b->time) || !take_number(&at, end, &b->size))
    return 0;
  return (size_t)(at - data);
}

/* A header is such as "go 1.22 trace". */
bool batches_begin(const uint8_t *data) {
  return memcmp(data, "go 1.", 5) == 0 && memcmp(data + 5, "22", 2) >= 0 && data[7] == ' ';
}

static int by_thread_and_time(const void *a, const void *b) {
  const batch *x = a, *y = b;
  if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
  return (x->time > y->time) - (x->time < y->time);
}

typedef struct extent {
  uint64_t generation, at, end; /* offsets */
  uint64_t time;                /* of its first batch of a thread; UINT64_MAX: it has none */
} extent;

typedef struct outline {
  batch *all; /* of threads */
  size_t count, capacity;
  extent *generations;
  size_t generation_count, generation_capacity;
} outline;

/* Adds a batch, or the end of a generation, to its generation. */
static void add_to_generation(outline *o, const batch *b, uint64_t at, uint64_t end) {
  extent *last = o->generation_count ? &o->generations[o->generation_count - 1] : NULL;
  if (b->generation && (!last || last->generation != b->generation)) {
    GROW(o->generations, o->generation_count, o->generation_capacity);
    last = &o->generations[o->generation_count++];
    *last = (extent){b->generation, at, end, UINT64_MAX};
  }
  if (!last) return;
  last->end = end;
  if (b->size && b->thread != UINT64_MAX && b->time < last->time) last->time = b->time;
}

/* Finds batches and generations, up to what is broken. */
static void find_batches(input *in, outline *o) {
  uint8_t header[BATCH_HEADER];
  uint64_t at = BATCHES_BEGIN, begin;
  size_t taken, size;
  if (!input_part(in, 0, header, BATCHES_BEGIN) || !batches_begin(header)) return;
  while (at < in->size && o->count < MOST_BATCHES) {
    batch b;
    size = in->size - at < sizeof header ? (size_t)(in->size - at) : sizeof header;
    if (!input_part(in, at, header, size) || !(taken = batch_header(header, size, &b))) break;
    begin = at;
    at += taken;
    if (b.size > in->size - at) break;
    at += b.size;
    add_to_generation(o, &b, begin, at);
    if (!b.size || b.thread == UINT64_MAX) continue; /* written by the tracer, for all */
    GROW(o->all, o->count, o->capacity);
    o->all[o->count++] = b;
  }
}

typedef struct thread_row {
  uint64_t thread, bytes;
  double columns[COLUMNS];
} thread_row;

static void spread(thread_row *to, double from, double until, uint64_t size) {
  size_t first = (size_t)from, last = (size_t)until, i;
  if (first >= COLUMNS) first = COLUMNS - 1;
  if (last >= COLUMNS) last = COLUMNS - 1;
  to->bytes += size;
  for (i = first; i <= last; i++) to->columns[i] += (double)size / (double)(last - first + 1);
}

static int by_bytes(const void *a, const void *b) {
  const thread_row *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return (x->thread > y->thread) - (x->thread < y->thread);
}

/* The times of the first and last batch. */
static void find_ends(const outline *o, uint64_t *first, uint64_t *last) {
  size_t i;
  *first = UINT64_MAX, *last = 0;
  for (i = 0; i < o->count; i++) {
    if (o->all[i].time < *first) *first = o->all[i].time;
    if (o->all[i].time > *last) *last = o->all[i].time;
  }
}

/* Adds up what each thread wrote. The batches are sorted. */
static thread_row *add_up(const outline *o, size_t *rows) {
  thread_row *made = NULL;
  const batch *all = o->all;
  size_t capacity = 0, i;
  uint64_t first, last;
  double column;
  *rows = 0;
  find_ends(o, &first, &last);
  column = (double)(last - first) / COLUMNS + 1e-9;
  for (i = 0; i < o->count; i++) {
    bool ends = i + 1 == o->count || all[i + 1].thread != all[i].thread;
    double from = (double)(all[i].time - first) / column;
    if (!i || all[i - 1].thread != all[i].thread) {
      if (*rows == 4096) break; /* a hostile trace */
      GROW(made, *rows, capacity);
      made[*rows] = (thread_row){.thread = all[i].thread};
      ++*rows;
    }
    spread(&made[*rows - 1], from, ends ? from : (double)(all[i + 1].time - first) / column, all[i].size);
  }
  return made;
}

static void put_threads(output *out, const outline *o) {
  size_t rows, i, k;
  thread_row *made = add_up(o, &rows);
  if (rows) qsort(made, rows, sizeof *made, by_bytes);
  put_string(out, "\"threads\":[");
  for (i = 0; i < rows && i < MOST_ROWS; i++) {
    print(out, "%s{\"thread\":%llu,\"bytes\":%llu,\"columns\":[", i ? ",\n" : "", (ull)made[i].thread,
          (ull)made[i].bytes);
    for (k = 0; k < COLUMNS; k++) print(out, "%s%.0f", k ? "," : "", made[i].columns[k]);
    put_string(out, "]}");
  }
  put_string(out, "]");
  free(made);
}

/* Nanoseconds from the trace's first event to a time in ticks. */
static int64_t since_first(int64_t base, double nanoseconds_per_tick, uint64_t ticks) {
  double time = (double)ticks * nanoseconds_per_tick;
  return time < 0x1p63 && (int64_t)time > base ? between(base, (int64_t)time) : 0;
}

/* The first event's time, as text, since a script's numbers are not exact up to there; where generations are, and when
 * they begin; when the first and the last batch begin. */
static void put_generations(output *out, input *in, const outline *o) {
  gotrace_decoder_info info;
  gotrace_event e;
  uint64_t first, last;
  int64_t base;
  double rate;
  size_t i;
  if (!o->count || input_decode(in, false) != GOTRACE_OK || input_next(in, &e) != GOTRACE_OK) return;
  base = input_first_time(in, &e);
  gotrace_decoder_get_info(in->decoder, &info);
  rate = info.nanoseconds_per_tick;
  find_ends(o, &first, &last);
  print(out, "\"base\":\"%lld\",\"begin\":%lld,\"end\":%lld,\n\"generations\":[", (long long)base,
        (long long)since_first(base, rate, first), (long long)since_first(base, rate, last));
  for (i = 0; i < o->generation_count; i++) {
    const extent *g = &o->generations[i];
    uint64_t time = g->time == UINT64_MAX ? last : g->time;
    print(out, "%s{\"at\":%llu,\"size\":%llu,\"begin\":%lld}", i ? ",\n" : "", (ull)g->at, (ull)(g->end - g->at),
          (long long)since_first(base, rate, time));
  }
  put_string(out, "],\n");
}

int view_batches(const char *path) {
  input in;
  output out;
  outline found = {0};
  if (!input_open(&in, path, true)) return 1;
  if (input_decode(&in, true) != GOTRACE_OK) fail("%s", input_error(&in));
  find_batches(&in, &found);
  if (found.count) qsort(found.all, found.count, sizeof *found.all, by_thread_and_time);
  output_open(&out, NULL);
  put_string(&out, "{");
  put_generations(&out, &in, &found);
  put_threads(&out, &found);
  put_string(&out, "}\n");
  output_close(&out);
  free(found.all);
  free(found.generations);
  input_close(&in);
  return 0;
}
