/* view_batches.c - which threads wrote how much when, for the page's picture before it has read a trace
 *
 * From the headers of batches alone, so that it takes a few seconds for a gigabyte. A batch counts from its time to
 * that of the thread's next one, evenly. Traces of Go 1.21 and older have no sizes of batches: nothing is told of them.
 */

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

/* The batches of threads, up to what is broken. */
static batch *find_batches(input *in, size_t *count) {
  uint8_t header[BATCH_HEADER];
  batch *all = NULL;
  uint64_t at = BATCHES_BEGIN;
  size_t capacity = 0, taken, size;
  *count = 0;
  if (!input_part(in, 0, header, BATCHES_BEGIN) || !batches_begin(header)) return NULL;
  while (at < in->size && *count < MOST_BATCHES) {
    batch b;
    size = in->size - at < sizeof header ? (size_t)(in->size - at) : sizeof header;
    if (!input_part(in, at, header, size) || !(taken = batch_header(header, size, &b))) break;
    at += taken;
    if (b.size > in->size - at) break;
    at += b.size;
    if (!b.size || b.thread == UINT64_MAX) continue; /* written by the tracer, for all */
    GROW(all, *count, capacity);
    all[(*count)++] = b;
  }
  return all;
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

/* Adds up what each thread wrote. `all` is sorted. */
static thread_row *add_up(const batch *all, size_t count, size_t *rows) {
  thread_row *made = NULL;
  size_t capacity = 0, i;
  uint64_t first = UINT64_MAX, last = 0;
  double column;
  *rows = 0;
  for (i = 0; i < count; i++) {
    if (all[i].time < first) first = all[i].time;
    if (all[i].time > last) last = all[i].time;
  }
  column = (double)(last - first) / COLUMNS + 1e-9;
  for (i = 0; i < count; i++) {
    bool ends = i + 1 == count || all[i + 1].thread != all[i].thread;
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

int view_batches(const char *path) {
  input in;
  output out;
  batch *all;
  thread_row *made;
  size_t count, rows, i, k;
  if (!input_open(&in, path, true)) return 1;
  if (input_decode(&in, true) != GOTRACE_OK) fail("%s", input_error(&in));
  all = find_batches(&in, &count);
  if (count) qsort(all, count, sizeof *all, by_thread_and_time);
  made = add_up(all, count, &rows);
  if (rows) qsort(made, rows, sizeof *made, by_bytes);
  output_open(&out, NULL);
  put_string(&out, "[");
  for (i = 0; i < rows && i < MOST_ROWS; i++) {
    print(&out, "%s{\"thread\":%llu,\"bytes\":%llu,\"columns\":[", i ? ",\n" : "", (ull)made[i].thread,
          (ull)made[i].bytes);
    for (k = 0; k < COLUMNS; k++) print(&out, "%s%.0f", k ? "," : "", made[i].columns[k]);
    put_string(&out, "]}");
  }
  put_string(&out, "]\n");
  output_close(&out);
  free(all);
  free(made);
  input_close(&in);
  return 0;
}
