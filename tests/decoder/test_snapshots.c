/* A decoder that resumes at a snapshot gives the rest of what one that has read the whole trace gives: events, changes,
 * numbers, functions, the final error. Damaged snapshots give an error or wrong events, and nothing worse.
 *
 *     test_snapshots [N [FILE...]]      N changed copies of each trace; FILEs replace the test's own traces
 */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"
#include "many_generations.h"

static uint64_t mix(uint64_t hash, const void *data, size_t size) {
  const uint8_t *at = data;
  for (; size; size--) hash = (hash ^ *at++) * 1099511628211u;
  return hash;
}

static uint64_t mix_frame(uint64_t hash, const gotrace_frame *f) {
  hash = mix(mix(hash, &f->pc, sizeof f->pc), &f->line, sizeof f->line);
  return mix(mix(hash, f->function, f->function_size), f->file, f->file_size);
}

/* The state of an object, but for its number. */
static uint64_t mix_state(uint64_t hash, const gotrace_decoder *d, unsigned object, int64_t id) {
  gotrace_frame frames[8];
  gotrace_state s;
  size_t count, i;
  if (id == GOTRACE_NO_ID || !gotrace_decoder_state(d, object, (uint64_t)id, &s)) return hash;
  count = gotrace_decoder_stack(d, s.stack, frames, 8);
  hash = mix(mix(hash, &s.object, 3), &s.since, sizeof s.since);
  hash = mix(mix(hash, &s.g, 3 * sizeof s.g), &count, sizeof count);
  hash = mix(mix(hash, s.reason, s.reason_size), s.label, s.label_size);
  hash = mix(mix(hash, s.region, s.region_size), &s.task, sizeof s.task);
  hash = mix_frame(mix(hash, &s.regions, sizeof s.regions), &s.entry);
  for (i = 0; i < count && i < 8; i++) hash = mix_frame(hash, &frames[i]);
  return hash;
}

/* A hash of all that an event tells: its fields, strings and stack, its change, and the state of those that it is
 * about. */
static uint64_t hash_event(gotrace_decoder *d, const gotrace_event *e) {
  gotrace_frame frames[8];
  gotrace_change c;
  uint64_t hash = mix(14695981039346656037u, &e->m, 3 * sizeof e->m);
  size_t size, i, count = gotrace_decoder_stack(d, e->stack, frames, 8);
  int64_t number;
  const char *text;
  hash = mix(mix(hash, &e->time, sizeof e->time), &e->offset, sizeof e->offset);
  hash = mix(mix(hash, e->args, sizeof e->args), &e->extra, sizeof e->extra);
  if (e->data_size) hash = mix(hash, e->data, e->data_size);
  hash = mix(mix(hash, &e->kind, sizeof e->kind), &e->implied, sizeof e->implied);
  hash = mix(hash, &count, sizeof count);
  for (i = 0; i < count && i < 8; i++) hash = mix_frame(hash, &frames[i]);
  for (i = 0; i < e->arg_count; i++)
    if (gotrace_decoder_string(d, e->args[i], &text, &size)) hash = mix(hash, text, size);
  if (!gotrace_decoder_change(d, e, &c)) return hash;
  hash = mix_state(hash, d, GOTRACE_OBJECT_GO, e->g);
  hash = mix_state(hash, d, GOTRACE_OBJECT_THREAD, e->m);
  hash = mix_state(hash, d, c.object, c.id);
  hash = mix(mix(hash, &c.kind, sizeof c.kind), &c.from, sizeof c.from);
  hash = mix(mix(hash, &c.to, sizeof c.to), &c.id, sizeof c.id);
  hash = mix(mix(hash, &c.number, sizeof c.number), &c.since, sizeof c.since);
  hash = mix(mix(hash, &c.stack, sizeof c.stack), &c.task, sizeof c.task);
  hash = mix(mix(hash, &c.parent, sizeof c.parent), c.value, sizeof c.value);
  hash = mix(mix(hash, c.name, c.name_size), c.text, c.text_size);
  hash = mix(hash, c.function, c.function_size);
  if (c.number == GOTRACE_NO_ID) return hash;
  number = gotrace_decoder_number(d, c.object, (uint64_t)c.id);
  CHECK_EQUAL(number, c.number);
  if (gotrace_decoder_entry(d, number, &frames[0])) hash = mix_frame(hash, &frames[0]);
  return hash;
}

/* ---- The whole trace ---- */

typedef struct snapshot {
  size_t event; /* how many events come before it */
  uint8_t *data;
  size_t size;
} snapshot;

typedef struct whole {
  uint64_t *hashes;
  size_t count, room, syncs;
  snapshot *snapshots;
  size_t snapshot_count;
  gotrace_decoder_info info;
  char message[200];
} whole;

static snapshot take(gotrace_decoder *d, size_t event) {
  snapshot s = {event, NULL, gotrace_decoder_snapshot(d, NULL, 0)};
  if (!s.size) return s;
  CHECK((s.data = malloc(s.size)) != NULL);
  memset(s.data, 0xee, s.size);
  CHECK_EQUAL(gotrace_decoder_snapshot(d, s.data, s.size - 1), s.size); /* too small: nothing is stored */
  CHECK_EQUAL(s.data[0], 0xee);
  CHECK_EQUAL(gotrace_decoder_snapshot(d, s.data, s.size), s.size);
  return s;
}

static void read_whole(whole *w, const gotrace_decoder_options *options) {
  gotrace_decoder *d = NULL;
  gotrace_event e;
  snapshot s;
  memset(w, 0, sizeof *w);
  if (gotrace_decoder_open(&d, options) == GOTRACE_OK) {
    do {
      s = take(d, w->count);
      CHECK(!s.size || gotrace_decoder_between(d));
      if (s.size) {
        CHECK((w->snapshots = realloc(w->snapshots, (w->snapshot_count + 1) * sizeof s)) != NULL);
        w->snapshots[w->snapshot_count++] = s;
      }
      if (gotrace_decoder_next(d, &e) != GOTRACE_OK) break;
      if (w->count == w->room) {
        w->room = 2 * w->room + 1024;
        CHECK((w->hashes = realloc(w->hashes, w->room * sizeof *w->hashes)) != NULL);
      }
      w->hashes[w->count++] = hash_event(d, &e);
      w->syncs += e.kind == GOTRACE_V2_SYNC;
    } while (true);
  }
  gotrace_decoder_get_info(d, &w->info);
  strcpy(w->message, gotrace_decoder_error(d)->message);
  gotrace_decoder_close(d);
}

static void free_whole(whole *w) {
  size_t i;
  for (i = 0; i < w->snapshot_count; i++) free(w->snapshots[i].data);
  free(w->snapshots);
  free(w->hashes);
}

/* ---- The rest, from a snapshot ---- */

/* Reads on from a snapshot of the whole, or from one that was taken after resuming there. */
static void read_rest(const char *name, const whole *w, size_t index, const gotrace_decoder_options *options) {
  const snapshot *from = &w->snapshots[index];
  gotrace_decoder *d = NULL;
  gotrace_decoder_info info;
  gotrace_event e;
  uint8_t *own = NULL;
  size_t i = from->event, hops = (size_t)random_below(3);
  CHECK_EQUAL(gotrace_decoder_open(&d, options), GOTRACE_OK);
  CHECK_EQUAL(gotrace_decoder_resume(d, from->data, from->size), GOTRACE_OK);
  for (index++; gotrace_decoder_next(d, &e) == GOTRACE_OK; i++) {
    CHECK(i < w->count);
    if (hash_event(d, &e) != w->hashes[i]) {
      fprintf(stderr, "%s: from a snapshot after %zu events, event %zu differs: %s at %lld\n", name, from->event, i,
              e.spec->name, (long long)e.time);
      CHECK(false);
    }
    if (index < w->snapshot_count && w->snapshots[index].event == i + 1) {
      snapshot s = take(d, i + 1);
      CHECK_EQUAL(s.size, w->snapshots[index++].size);
      free(own);
      own = s.data;
      if (hops) {
        hops--;
        gotrace_decoder_close(d);
        CHECK_EQUAL(gotrace_decoder_open(&d, options), GOTRACE_OK);
        CHECK_EQUAL(gotrace_decoder_resume(d, own, s.size), GOTRACE_OK);
      }
    }
  }
  gotrace_decoder_get_info(d, &info);
  CHECK_EQUAL(i, w->count);
  CHECK(strcmp(gotrace_decoder_error(d)->message, w->message) == 0);
  CHECK_EQUAL(info.events, w->info.events);
  CHECK_EQUAL(info.first_time, w->info.first_time);
  CHECK_EQUAL(info.generation, w->info.generation);
  CHECK(info.nanoseconds_per_tick >= w->info.nanoseconds_per_tick &&
        info.nanoseconds_per_tick <= w->info.nanoseconds_per_tick);
  gotrace_decoder_close(d);
  free(own);
}

/* A damaged snapshot. What it gives is of no interest, except that it takes memory in proportion to its size. */
static void damage(const snapshot *from, const gotrace_decoder_options *options) {
  gotrace_decoder *d = NULL;
  gotrace_decoder_info before, after;
  gotrace_event e;
  gotrace_result result;
  size_t size = from->size;
  bool cut = random_below(4) == 0;
  uint8_t *copy;
  if (cut) size = (size_t)random_below(size);
  CHECK((copy = malloc(size + !size)) != NULL);
  memcpy(copy, from->data, size);
  if (!cut) change(copy, size, 0);
  CHECK_EQUAL(gotrace_decoder_open(&d, options), GOTRACE_OK);
  gotrace_decoder_get_info(d, &before);
  result = gotrace_decoder_resume(d, copy, size);
  CHECK(result == GOTRACE_OK || result == GOTRACE_ERROR_SNAPSHOT);
  gotrace_decoder_get_info(d, &after);
  CHECK(after.memory <= before.memory + 10000 + 200 * size);
  if (result) CHECK_EQUAL(gotrace_decoder_next(d, &e), GOTRACE_ERROR_SNAPSHOT);
  else
    while (gotrace_decoder_next(d, &e) == GOTRACE_OK) hash_event(d, &e);
  CHECK(result || gotrace_decoder_error(d)->result != GOTRACE_ERROR_SNAPSHOT);
  gotrace_decoder_close(d);
  free(copy);
}

/* Whenever memory runs out, the verdict says so, and all memory is freed. */
static void run_out(const snapshot *from, gotrace_decoder_options options) {
  test_memory m = {0, 0, 0};
  gotrace_decoder *d;
  gotrace_result result;
  options.allocate = test_take, options.release = test_give, options.allocator_context = &m;
  do {
    m.calls = 0;
    m.fail_after++;
    if ((result = gotrace_decoder_open(&d, &options)) == GOTRACE_OK)
      result = gotrace_decoder_resume(d, from->data, from->size);
    CHECK(result == GOTRACE_OK || result == GOTRACE_ERROR_OUT_OF_MEMORY);
    gotrace_decoder_close(d);
    CHECK_EQUAL(m.bytes, 0);
  } while (result);
}

/* Compares from some snapshots; returns whether the trace is good. */
static bool compare(const char *name, const uint8_t *data, size_t size, bool read, size_t some) {
  gotrace_decoder_options options;
  test_source f = {data, size, 0, 0};
  whole w;
  size_t i;
  bool good;
  memset(&options, 0, sizeof options);
  if (read) options.read = test_read, options.context = &f, options.seekable = true;
  else options.data = data, options.size = size;
  read_whole(&w, &options);
  for (i = 0; i < some && w.snapshot_count; i++) read_rest(name, &w, (size_t)random_below(w.snapshot_count), &options);
  for (i = 0; i < some && w.snapshot_count; i++) damage(&w.snapshots[(size_t)random_below(w.snapshot_count)], &options);
  if (w.snapshot_count && some > 10) run_out(&w.snapshots[w.snapshot_count / 2], options);
  good = !*w.message;
  if (good && test_is_v2(data, size)) CHECK_EQUAL(w.snapshot_count, w.syncs + 1);
  free_whole(&w);
  return good;
}

/* ---- Calls that are refused ---- */

static void refused(const test_bytes *bytes) {
  gotrace_decoder_options options;
  gotrace_decoder *d, *part;
  gotrace_event e;
  snapshot s;
  int way;
  memset(&options, 0, sizeof options);
  options.data = bytes->data, options.size = bytes->size;
  CHECK_EQUAL(gotrace_decoder_snapshot(NULL, NULL, 0), 0);
  CHECK_EQUAL(gotrace_decoder_resume(NULL, bytes->data, 1), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  CHECK_EQUAL(gotrace_decoder_resume(d, NULL, 0), GOTRACE_ERROR_ARGUMENT);
  s = take(d, 0);
  CHECK(s.size != 0);
  CHECK_EQUAL(gotrace_decoder_resume(d, s.data, s.size), GOTRACE_OK);
  CHECK_EQUAL(gotrace_decoder_next(d, &e), GOTRACE_OK);
  CHECK_EQUAL(gotrace_decoder_snapshot(d, NULL, 0), 0);                           /* within a generation */
  CHECK_EQUAL(gotrace_decoder_resume(d, s.data, s.size), GOTRACE_ERROR_ARGUMENT); /* too late */
  CHECK_EQUAL(gotrace_decoder_next(d, &e), GOTRACE_OK);                           /* nothing has changed */
  CHECK_EQUAL(gotrace_decoder_open_part(d, &part), GOTRACE_OK);
  CHECK_EQUAL(gotrace_decoder_snapshot(part, NULL, 0), 0);
  CHECK_EQUAL(gotrace_decoder_resume(part, s.data, s.size), GOTRACE_ERROR_ARGUMENT);
  gotrace_decoder_close(part);
  while (gotrace_decoder_next(d, &e) == GOTRACE_OK) continue;
  CHECK_EQUAL(gotrace_decoder_snapshot(d, NULL, 0), 0); /* the end */
  gotrace_decoder_close(d);
  for (way = 0; way < 2; way++) {
    test_source f = {bytes->data, bytes->size, 0, 0};
    gotrace_decoder_options other = options;
    if (way) other.data = NULL, other.size = 0, other.read = test_read, other.context = &f;
    else other.raw = true;
    CHECK_EQUAL(gotrace_decoder_open(&d, &other), GOTRACE_OK);
    CHECK_EQUAL(gotrace_decoder_resume(d, s.data, s.size), GOTRACE_ERROR_ARGUMENT);
    CHECK(way || gotrace_decoder_snapshot(d, NULL, 0) == 0);
    gotrace_decoder_close(d);
  }
  free(s.data);
}

/* A snapshot of v1 that has a state, as one of v2 has: the records of v1 have no room for it. */
static void of_the_other_family(const test_bytes *v1) {
  gotrace_decoder_options options;
  gotrace_decoder *d;
  gotrace_event e;
  test_bytes v2;
  snapshot of_v1, of_v2 = {0, NULL, 0};
  memset(&options, 0, sizeof options);
  options.data = v1->data, options.size = v1->size;
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  of_v1 = take(d, 0);
  CHECK(of_v1.size > 3);
  gotrace_decoder_close(d);
  record(&v2, GOTRACE_GO_1_26);
  options.data = v2.data, options.size = v2.size;
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  of_v2 = take(d, 0);
  while (gotrace_decoder_next(d, &e) == GOTRACE_OK)
    if (gotrace_decoder_between(d)) {
      snapshot s = take(d, 0);
      free(of_v2.data);
      of_v2 = s;
      if (s.size > 60) break;
    }
  gotrace_decoder_close(d);
  options.data = v1->data, options.size = v1->size;
  CHECK(of_v2.size > 60);
  memcpy(of_v2.data + 1, of_v1.data + 1, 2); /* the format */
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  CHECK_EQUAL(gotrace_decoder_resume(d, of_v2.data, of_v2.size), GOTRACE_ERROR_SNAPSHOT);
  gotrace_decoder_close(d);
  free(of_v1.data), free(of_v2.data);
  test_free(&v2);
}

/* What comes after resuming has no parts, and is not left out by options.from. */
static void resumed(const test_bytes *bytes) {
  gotrace_decoder_options options;
  gotrace_decoder *d, *part;
  gotrace_event e;
  snapshot s = {0, NULL, 0};
  size_t count[2] = {0, 0}, i;
  int way;
  memset(&options, 0, sizeof options);
  options.data = bytes->data, options.size = bytes->size;
  for (way = 0; way < 2; way++) {
    if (way) options.from = INT64_MAX / 2;
    CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
    if (way) CHECK_EQUAL(gotrace_decoder_resume(d, s.data, s.size), GOTRACE_OK);
    for (i = 0; gotrace_decoder_next(d, &e) == GOTRACE_OK; i++) {
      count[way]++;
      if (!way && !s.size && i > 50 && gotrace_decoder_between(d)) s = take(d, 0), count[0] = 0;
    }
    gotrace_decoder_close(d);
  }
  CHECK(count[0] > 10);
  CHECK_EQUAL(count[1], count[0]);
  options.from = 0;
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  CHECK_EQUAL(gotrace_decoder_resume(d, s.data, s.size), GOTRACE_OK);
  CHECK_EQUAL(gotrace_decoder_open_part(d, &part), GOTRACE_END_OF_TRACE);
  CHECK(part == NULL);
  gotrace_decoder_close(d);
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  CHECK_EQUAL(gotrace_decoder_open_part(d, &part), GOTRACE_OK);
  CHECK_EQUAL(gotrace_decoder_resume(d, s.data, s.size), GOTRACE_ERROR_ARGUMENT);
  gotrace_decoder_close(part);
  gotrace_decoder_close(d);
  free(s.data);
}

/* `until` counts from the beginning of the trace. */
static void ends_early(const test_bytes *bytes) {
  gotrace_decoder_options options;
  gotrace_decoder *d;
  gotrace_event e;
  snapshot s = {0, NULL, 0};
  size_t count[2] = {0, 0};
  int64_t first = 0, last = 0, until = 0;
  int way, generations = 0;
  memset(&options, 0, sizeof options);
  options.data = bytes->data, options.size = bytes->size;
  for (way = 0; way < 3; way++) {
    CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
    if (way == 2) CHECK_EQUAL(gotrace_decoder_resume(d, s.data, s.size), GOTRACE_OK);
    while (gotrace_decoder_next(d, &e) == GOTRACE_OK) {
      if (!first) first = e.time;
      last = e.time;
      if (!way && gotrace_decoder_between(d) && ++generations == 12) until = last - first;
      if (way) count[way - 1]++;
      if (way == 1 && gotrace_decoder_between(d) && ++generations == 2) s = take(d, 0), count[0] = 0;
    }
    gotrace_decoder_close(d);
    if (!way) options.until = until;
    else CHECK(last <= first + options.until);
    generations = 0;
  }
  CHECK(count[0] > 10);
  CHECK_EQUAL(count[1], count[0]);
  free(s.data);
}

static void compare_changed(const char *name, const test_bytes *bytes, long count, long *good) {
  uint8_t *copy = malloc(bytes->size);
  long i;
  CHECK(copy != NULL);
  for (i = 0; i < count && bytes->size > 16; i++) {
    memcpy(copy, bytes->data, bytes->size);
    change(copy, bytes->size, 16);
    *good += compare(name, copy, bytes->size, i % 8 == 0, 1);
  }
  free(copy);
}

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : test_scaled(100), good = 0;
  size_t some = argc > 1 ? 20 : (size_t)test_scaled(40);
  test_bytes bytes;
  size_t i;
  int file;
  for (i = 0; i < TEST_FORMATS && argc <= 2; i++) {
    record(&bytes, test_formats[i]);
    CHECK(compare("own", bytes.data, bytes.size, false, some));
    CHECK(compare("own", bytes.data, bytes.size, true, some));
    compare_changed("changed", &bytes, count, &good);
    if (test_formats[i] >= GOTRACE_GO_1_22) refused(&bytes), ends_early(&bytes), resumed(&bytes);
    else of_the_other_family(&bytes);
    test_free(&bytes);
  }
  for (file = 2; file < argc; file++) {
    memset(&bytes, 0, sizeof bytes);
    test_load(&bytes, argv[file]);
    compare(argv[file], bytes.data, bytes.size, false, some);
    compare_changed(argv[file], &bytes, count, &good);
    test_free(&bytes);
  }
  CHECK(good > 0);
  return 0;
}
