/* Ranges of time: the decoder skips the generations before a range, and delivers the events of the range as if it had
 * skipped none.
 *
 *     test_ranges [TRACE...]     tests these files, too */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

typedef struct events {
  gotrace_event *at;
  size_t count, capacity;
  uint64_t first_generation; /* of the first event */
  gotrace_decoder_info info;
  gotrace_result result;
} events;

/* `way`: 0 reads from memory, 1 from a source that can seek, 2 from one that cannot. A range is read in batches, a
 * whole trace event by event. */
static events decode(const test_source *f, int way, int64_t from, int64_t until) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder;
  events all;
  const gotrace_event *batch[32];
  memset(&all, 0, sizeof all);
  memset(&options, 0, sizeof options);
  if (way) options.read = test_read, options.context = (void *)(uintptr_t)f, options.seekable = way == 1;
  else options.data = f->data, options.size = f->size;
  options.from = from;
  options.until = until;
  CHECK_EQUAL(gotrace_decoder_open(&decoder, &options), GOTRACE_OK);
  for (;;) {
    size_t count = from || until ? 32 : 1, i;
    if ((all.result = gotrace_decoder_next_batch(decoder, batch, &count)) != GOTRACE_OK) break;
    if (all.count + count > all.capacity) {
      all.capacity = 2 * all.capacity + 1000;
      CHECK((all.at = realloc(all.at, all.capacity * sizeof *all.at)) != NULL);
    }
    gotrace_decoder_get_info(decoder, &all.info);
    if (!all.count) all.first_generation = all.info.generation;
    for (i = 0; i < count; i++) {
      all.at[all.count] = *batch[i];
      all.at[all.count++].data = NULL;
    }
  }
  gotrace_decoder_get_info(decoder, &all.info);
  CHECK_EQUAL(all.info.events, all.count);
  gotrace_decoder_close(decoder);
  return all;
}

static bool is_status(const gotrace_event *e) {
  return e->kind == GOTRACE_V2_GO_STATUS || e->kind == GOTRACE_V2_GO_STATUS_STACK || e->kind == GOTRACE_V2_PROC_STATUS;
}

enum { SYSCALL = 3, ABANDONED = 4 }; /* statuses of a proc */

static void same_event(const gotrace_event *a, const gotrace_event *b, int family) {
  bool status = family == 2 && is_status(a), task_end = family == 2 && a->kind == GOTRACE_V2_USER_TASK_END;
  bool abandoned = status && b->kind == GOTRACE_V2_PROC_STATUS && b->args[1] == ABANDONED;
  CHECK(a->spec == b->spec && a->time == b->time && a->offset == b->offset);
  CHECK(a->stack == b->stack && a->arg_count == b->arg_count && a->implied == b->implied);
  if (abandoned) CHECK(a->args[0] == b->args[0] && (a->args[1] == SYSCALL || a->args[1] == ABANDONED));
  else CHECK(a->m == b->m && memcmp(a->args, b->args, sizeof a->args) == 0);
  if (!status) CHECK(a->p == b->p && a->g == b->g);
  abandoned = family == 2 && b->kind == GOTRACE_V2_PROC_STEAL && b->extra == ABANDONED;
  if (!status && !task_end && !abandoned) CHECK(a->extra == b->extra && a->data_size == b->data_size);
}

/* Decodes a range and compares it with the same part of all events. Returns whether generations were skipped. */
static bool same_range(const test_source *f, const events *all, int way, int64_t from, int64_t until) {
  events part = decode(f, way, from, until);
  int64_t first = all->at[0].time, end = until ? first + until : INT64_MAX;
  size_t i = 0, k = 0;
  bool skipped = part.count && part.first_generation != all->first_generation;
  CHECK_EQUAL(part.result, GOTRACE_END_OF_TRACE);
  CHECK_EQUAL(part.info.first_time, all->info.first_time);
  while (i < all->count && all->at[i].time < first + from) i++;
  while (k < part.count && part.at[k].time < first + from) k++;
  for (; i < all->count && all->at[i].time <= end; i++, k++) {
    CHECK(k < part.count);
    same_event(&all->at[i], &part.at[k], all->info.family);
  }
  CHECK_EQUAL(k, part.count);
  free(part.at);
  return skipped;
}

/* Returns the number of ranges in which generations were skipped. */
static unsigned random_ranges(const test_source *f, unsigned ranges) {
  static uint64_t seed = 1;
  events all = decode(f, 0, 0, 0);
  unsigned skipped = 0, i;
  int64_t whole;
  CHECK_EQUAL(all.result, GOTRACE_END_OF_TRACE);
  CHECK(all.count);
  CHECK_EQUAL(all.info.first_time, all.at[0].time);
  whole = all.at[all.count - 1].time - all.at[0].time;
  for (i = 0; i < ranges; i++) {
    int64_t from, until;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    /* Some begin exactly at an event. Events next to a Sync are the difficult cases. */
    from = i % 2 ? all.at[(seed >> 33) % all.count].time - all.at[0].time
                 : (int64_t)((seed >> 33) % (uint64_t)(whole + 1));
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    until = i % 3 ? from + (int64_t)((seed >> 33) % (uint64_t)(whole + 1)) / 20 : 0;
    skipped += same_range(f, &all, i % 8 == 6 ? 1 : i % 8 == 7 ? 2 : 0, from, until);
  }
  CHECK(!same_range(f, &all, 0, 0, 1));
  same_range(f, &all, 0, 2 * whole + 1, 3 * whole + 1); /* after the end */
  free(all.at);
  return skipped;
}

/* Ranges of broken traces: skipping stops at the first generation that it cannot skip, and the decoder never reads
 * beyond the trace. */
static void changed(const test_source *f, unsigned times) {
  uint64_t seed = 7;
  test_source copy = *f;
  uint8_t *data;
  CHECK((data = malloc(f->size)) != NULL);
  copy.data = data;
  for (; times; times--) {
    unsigned i;
    events part;
    memcpy(data, f->data, f->size);
    for (i = 0; i < 1 + times % 20; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      data[16 + (seed >> 33) % (f->size - 16)] = (uint8_t)(seed >> 20);
    }
    copy.size = times % 3 ? f->size : 16 + (size_t)((seed >> 30) % (f->size - 16));
    part = decode(&copy, (int)(times % 2), (int64_t)(seed >> 42), times % 5 ? 0 : (int64_t)(seed >> 41));
    CHECK(part.result != GOTRACE_OK && part.result != GOTRACE_ERROR_READ);
    free(part.at);
  }
  free(data);
}

static const gotrace_location entry = GOTRACE_NAMED_ENTRY("worker");

static void *work(void *argument) {
  long i, n = test_scaled(4000);
  gotrace_task task = gotrace_task_begin("long", GOTRACE_NO_TASK);
  for (i = 0; i < n; i++) {
    if (i % 5 == 0)
      GOTRACE_REGION("visit") gotrace_log(task, "key", "value");
    if (i % 7 == 0) {
      gotrace_go_syscall_begin();
      gotrace_go_syscall_end();
    }
    gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
    gotrace_wait_end();
    if (argument && i % (n / 12 + 1) == 0) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  }
  gotrace_task_end(task);
  return NULL;
}

static void record(test_bytes *bytes, gotrace_format format) {
  gotrace_options options;
  pthread_t threads[3];
  size_t i;
  options = test_options(format, bytes);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(gotrace_go_create_blocked(&entry) != NULL); /* silent throughout */
  for (i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work, i ? NULL : threads) == 0);
  for (i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
}

static void read_trace(const char *path) {
  FILE *stream = fopen(path, "rb");
  test_source f = {NULL, 0, 5000, 0};
  uint8_t *data;
  CHECK(stream && fseek(stream, 0, SEEK_END) == 0);
  f.size = (size_t)ftell(stream);
  rewind(stream);
  CHECK((data = malloc(f.size)) != NULL);
  CHECK(fread(data, 1, f.size, stream) == f.size);
  fclose(stream);
  f.data = data;
  printf("%s: %u\n", path, random_ranges(&f, 100));
  free(data);
}

int main(int argc, char **argv) {
  size_t i;
  for (i = 0; i < TEST_FORMATS; i++) {
    test_bytes bytes;
    test_source f = {NULL, 0, 5000, 0};
    unsigned skipped;
    if (test_formats[i] < GOTRACE_GO_1_21) continue; /* one of v1 is enough */
    memset(&bytes, 0, sizeof bytes);
    record(&bytes, test_formats[i]);
    f.data = bytes.data;
    f.size = bytes.size;
    skipped = random_ranges(&f, 120);
    CHECK(test_formats[i] < GOTRACE_GO_1_22 ? !skipped : skipped > 0);
    changed(&f, (unsigned)test_scaled(100));
    test_free(&bytes);
  }
  for (i = 1; i < (size_t)argc; i++) read_trace(argv[i]);
  return 0;
}
