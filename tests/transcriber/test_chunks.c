/* What records and the trace pass through: the chunks of threads, the lanes of the transcriber, and the pieces that a
 * reader gets. */
#include "../test_room.h"

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#include <pthread.h>

enum { LARGEST = 2000, MOST_CHUNKS = 64 };
static char text[LARGEST + 1];

static gotrace_options options_of(gotrace_format format) {
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.cut_milliseconds = 1000000;
  return options;
}

/* Logs a text of this size. */
static void log_size(size_t size) {
  char saved = text[size];
  text[size] = 0;
  gotrace_log(GOTRACE_NO_TASK, "", text);
  text[size] = saved;
}

static size_t room_left(void) { return gotrace__self->chunk->capacity - gotrace__self->chunk->size; }

/* Reads the chunk's records. Returns the tick of the last. */
static uint64_t read_chunk(const gotrace__record_chunk *chunk, uint64_t *kinds) {
  const uint8_t *at = gotrace__chunk_data(chunk), *end = at + chunk->size;
  uint64_t tick = chunk->tick;
  CHECK(chunk->size <= chunk->capacity && chunk->session == gotrace__on);
  while (at && at < end) {
    const gotrace__record *record = (const gotrace__record *)(const void *)at;
    gotrace__string its;
    at = gotrace__record_end(at, end, &its);
    CHECK(at != NULL);
    tick += gotrace__ticks_of(record);
    if (gotrace__kind_of(record) == GOTRACE__REC_TIME) tick += record->as_TIME.ticks;
    kinds[gotrace__kind_of(record)]++;
  }
  CHECK(at == end);
  return tick;
}

static void read_all(test_bytes *bytes) {
  const void *data;
  size_t size;
  while (gotrace_try_read(&data, &size) == GOTRACE_OK && size) test_append(bytes, data, size);
}

/* A thread begins with a small chunk, and each is four times as large as the one before, up to the largest. A call goes
 * to the next chunk exactly if its record might not fit. */
static void grow(void) {
  gotrace_options options = options_of(GOTRACE_GO_1_23);
  test_bytes bytes = {NULL, 0, 0};
  const gotrace__record_chunk *chunk, *chunks[MOST_CHUNKS];
  uint64_t logs = 0, at_the_end = 0, kinds[GOTRACE__RECORD_KINDS] = {0};
  uint32_t size = GOTRACE__FIRST_CHUNK_BYTES;
  int count = 0, i;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (; count < 8; logs++) {
    size_t left = logs ? room_left() : 0;
    chunk = gotrace__self->chunk;
    if (logs && left > GOTRACE__CALL_ROOM && left - GOTRACE__CALL_ROOM < GOTRACE__TEXT_ROOM) { /* the last but one */
      bool fits = count % 2;
      log_size(left - GOTRACE__CALL_ROOM + !fits);
      CHECK_EQUAL(gotrace__self->chunk == chunk, fits);
      at_the_end++;
    } else {
      log_size((size_t)logs * 37 % 100);
    }
    if (gotrace__self->chunk != chunk) chunks[count++] = gotrace__self->chunk;
  }
  CHECK(at_the_end >= 7);
  CHECK(chunks[0] == gotrace__self->first);
  for (i = 0, chunk = chunks[0]; i < count; chunk = chunk->next, i++) {
    uint64_t tick;
    CHECK(chunk == chunks[i]);
    CHECK_EQUAL(gotrace__chunk_bytes(chunk), size);
    tick = read_chunk(chunk, kinds);
    if (chunk->next) CHECK_EQUAL(tick, chunk->next->tick);
    else CHECK_EQUAL(tick, gotrace__self->tick);
    size = 4 * size < GOTRACE__CHUNK_BYTES ? 4 * size : GOTRACE__CHUNK_BYTES;
  }
  CHECK(!chunk && size == GOTRACE__CHUNK_BYTES);
  CHECK_EQUAL(kinds[GOTRACE__REC_LOG], logs);
  CHECK_EQUAL(kinds[GOTRACE__REC_THREAD], 1);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "UserLog"), logs);
  test_free(&bytes);
}

/* A thread's first record may have the largest texts, also within the smallest limit. */
static void largest_record(void) {
  gotrace_options options = options_of(GOTRACE_GO_1_11);
  test_bytes bytes = {NULL, 0, 0};
  gotrace_stats stats;
  uint32_t need = GOTRACE__CALL_ROOM + 2 * GOTRACE__TEXT_ROOM + (uint32_t)sizeof(gotrace__record_chunk);
  CHECK(need > GOTRACE__FIRST_CHUNK_BYTES);
  options.memory_limit = 1 << 20;
  log_size(1); /* the thread is a goroutine */
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, text, text);
  CHECK(gotrace__chunk_bytes(gotrace__self->first) >= need);
  CHECK(gotrace__chunk_bytes(gotrace__self->chunk) <= gotrace__t.chunk_bytes);
  CHECK(gotrace__self->chunk->size < gotrace__self->chunk->capacity);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_STRING_CUT], 2); /* category and message */
  CHECK_EQUAL(test_count(&bytes, "UserLog"), 1);
  test_free(&bytes);
}

/* The largest records without a text of the call introduce a goroutine with the longest label. They fit in the room
 * that each call asks for, at the end of a chunk that has just this room. */
static void fill_chunk(void) {
  while (room_left() < GOTRACE__CALL_ROOM + 3 * LARGEST) log_size(100); /* a chunk in which there is room */
  while (room_left() > GOTRACE__CALL_ROOM + 300) log_size(100);
  while (room_left() >= GOTRACE__CALL_ROOM + 8) gotrace_heap_alloc(1);
}
static void introduce_by(int call, gotrace_go *g) {
  switch (call) {
  case 0: gotrace_go_unblock(g); break;
  case 1: gotrace_go_start(g); break; /* misuse: another one runs, and this one is blocked */
  case 2: gotrace_go_switch(g); break;
  case 3: gotrace_go_destroy(g); break;
  case 4: (void)gotrace_nest_begin(g); break;
  default: break;
  }
}

static void room_of_calls(void) {
  enum { CALLS = 5 };
  gotrace_options options = options_of(GOTRACE_GO_1_26);
  test_bytes bytes = {NULL, 0, 0};
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *gos[CALLS];
  int i;
  gotrace_proc_start(proc);
  text[GOTRACE__LABEL - 1] = 0;
  for (i = 0; i < CALLS; i++) {
    gotrace_go_start(gos[i] = gotrace_go_create(NULL));
    gotrace_go_label(text);
    gotrace_go_block(GOTRACE_BLOCK_SYNC);
  }
  text[GOTRACE__LABEL - 1] = 'x';
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  log_size(1);
  for (i = 0; i < CALLS; i++) {
    const gotrace__record_chunk *chunk;
    fill_chunk();
    chunk = gotrace__self->chunk;
    introduce_by(i, gos[i]);
    CHECK(gotrace__self->chunk == chunk); /* and test_room.h has found nothing */
  }
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
}

/* Chunks whose records are in the trace are used again, by any thread. */
static void *take_spare(void *spare) {
  while (!gotrace__self || gotrace__chunk_bytes(gotrace__self->chunk) < GOTRACE__CHUNK_BYTES) log_size(100);
  CHECK(gotrace__self->chunk == spare);
  return NULL;
}

static void use_again(void) {
  gotrace_options options = options_of(GOTRACE_GO_1_21);
  test_bytes bytes = {NULL, 0, 0};
  const gotrace__record_chunk *chunk, *spare;
  pthread_t thread;
  size_t used = 0;
  int i, k;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 30; i++) {
    for (k = 0; k < 3; k++) {
      chunk = gotrace__self->chunk;
      spare = gotrace__t.spare_chunks;
      while (gotrace__self->chunk == chunk) log_size(100);
      if (i >= 3) CHECK(spare && gotrace__self->chunk == spare);
    }
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    read_all(&bytes);
    if (i == 3) used = gotrace__t.budget.used;
    if (i > 3) CHECK(gotrace__t.budget.used <= used + GOTRACE__CHUNK_BYTES); /* one piece more or less */
  }
  spare = gotrace__t.spare_chunks;
  CHECK(pthread_create(&thread, NULL, take_spare, (void *)(uintptr_t)spare) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  CHECK(!gotrace__t.spare_chunks && !gotrace__self->chunk);
  CHECK_EQUAL(gotrace__t.budget.used, 0);
  test_free(&bytes);
}

/* The records of a chunk of another session are skipped, those of the next chunk are not. */
static void of_another_session(void) {
  gotrace_options options = options_of(GOTRACE_GO_1_26);
  test_bytes bytes = {NULL, 0, 0};
  uint64_t kinds[GOTRACE__RECORD_KINDS] = {0}, calls = 0;
  gotrace__record_chunk *first;
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  do {
    gotrace_heap_alloc(++calls);
    first = gotrace__self->first;
  } while (!first->next || calls % 10);
  read_chunk(first, kinds);
  CHECK(kinds[GOTRACE__REC_HEAP_ALLOC] > 50 && kinds[GOTRACE__REC_HEAP_ALLOC] < calls);
  first->session--;
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "HeapAlloc"), calls - kinds[GOTRACE__REC_HEAP_ALLOC]);
  test_free(&bytes);
}

/* Lanes. */

static test_bytes written;

static gotrace__transcriber *transcriber(bool v1) {
  static gotrace__transcriber t;
  memset(&t, 0, sizeof t);
  t.v1 = v1;
  t.generation = 3;
  t.synced = true;
  t.options.write = test_sink;
  t.options.context = &written;
  written.size = 0;
  return &t;
}

static void header(bool v1, uint64_t id, uint64_t time, const char *want, size_t size) {
  gotrace__transcriber *t = transcriber(v1);
  gotrace__lane lane;
  uint8_t *at;
  memset(&lane, 0, sizeof lane);
  CHECK(gotrace__lane_init(t, &lane, id, 0, 1024));
  gotrace__lane_flush(t, &lane); /* nothing */
  CHECK_EQUAL(written.size, 0);
  at = gotrace__lane_at(t, &lane, 2, time);
  memcpy(at, "xy", 2);
  lane.at = at + 2;
  gotrace__lane_flush(t, &lane);
  CHECK_EQUAL(written.size, size + 2);
  CHECK(memcmp(written.data, want, size) == 0 && memcmp(written.data + size, "xy", 2) == 0);
  CHECK(lane.at == lane.data && lane.batches == 1);
  gotrace__lane_free(t, &lane);
}

/* A lane that is full is written as a batch and grows, by four, as long as there is memory. The batches have all bytes
 * in order, and no batch is too large. */
static void fill_lane(bool grows) {
  gotrace__transcriber *t = transcriber(false);
  gotrace__budget budget;
  gotrace__lane lane;
  size_t at = 0, want = 0;
  uint32_t i, last = 1024;
  memset(&lane, 0, sizeof lane);
  memset(&budget, 0, sizeof budget);
  budget.limit = grows ? (size_t)1 << 20 : 1024;
  t->options.budget = &budget;
  CHECK(gotrace__lane_init(t, &lane, 5, 0, 1024));
  for (i = 0; i < 60000; i++) {
    uint32_t room = i % 50 + 4, bytes = lane.capacity + GOTRACE__LANE_HEAD;
    uint8_t *to = gotrace__lane_at(t, &lane, room, i);
    CHECK(lane.capacity - gotrace__lane_size(&lane) >= room);
    memcpy(to, &i, 4); /* less than the room */
    lane.at = to + 4;
    if (lane.capacity + GOTRACE__LANE_HEAD == bytes) continue;
    last = 4 * last < GOTRACE__LANE_MOST ? 4 * last : GOTRACE__LANE_MOST;
    CHECK_EQUAL(lane.capacity + GOTRACE__LANE_HEAD, last);
  }
  CHECK_EQUAL(last, grows ? GOTRACE__LANE_MOST : 1024);
  gotrace__lane_flush(t, &lane);
  while (at < written.size) {
    uint64_t head[4]; /* generation, thread, time, size */
    const uint8_t *place = written.data + at, *end = written.data + written.size;
    CHECK_EQUAL(*place++, GOTRACE_V2_EVENT_BATCH);
    for (i = 0; i < 4; i++) CHECK((place = gotrace__get_varint(place, end, &head[i])) != NULL);
    CHECK(head[0] == 3 && head[1] == 5 && head[2] == want && head[3] > 0 && head[3] % 4 == 0);
    CHECK(place + head[3] - (written.data + at) <= GOTRACE_MAX_BATCH_SIZE);
    at = (size_t)(place - written.data);
    for (end = place + head[3]; written.data + at < end; at += 4, want++) {
      memcpy(&i, written.data + at, 4);
      CHECK_EQUAL(i, want);
    }
  }
  CHECK_EQUAL(want, 60000);
  budget.limit = (size_t)1 << 20;
  gotrace__lane_resize(t, &lane, GOTRACE__FIRST_LANE(t), false);
  CHECK_EQUAL(lane.capacity + GOTRACE__LANE_HEAD, 1024);
  CHECK_EQUAL(budget.used, 1024);
  gotrace__lane_free(t, &lane);
  CHECK_EQUAL(budget.used, 0);
}

/* Pieces have the output in order; the last of a cut says so. */
static void pieces(void) {
  static uint8_t data[200000];
  struct gotrace__tracer *t = &gotrace__t;
  const gotrace__piece *piece;
  size_t i, at = 0, size = 0, cuts = 0;
  for (i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * i >> 8);
  for (i = 1; size < sizeof data; i++) {
    size_t n = i * i % 3001 < sizeof data - size ? i * i % 3001 : sizeof data - size;
    CHECK(gotrace__take_output(t, data + size, n));
    size += n;
    if (i % 50 == 0) gotrace__hand_over(true);
  }
  gotrace__hand_over(true);
  gotrace__hand_over(true); /* nothing */
  CHECK(!t->unready);
  for (piece = t->pieces; piece; at += piece->size, piece = piece->link) {
    CHECK(piece->size > 0 && piece->size <= GOTRACE__PIECE_ROOM && at + piece->size <= size);
    CHECK(piece->ends_cut || piece->size == GOTRACE__PIECE_ROOM);
    CHECK(memcmp(piece + 1, data + at, piece->size) == 0);
    cuts += piece->ends_cut;
    CHECK(piece->link || piece == t->pieces_last);
  }
  CHECK_EQUAL(at, size);
  CHECK_EQUAL(cuts, (i - 1) / 50 + ((i - 1) % 50 != 0));
  gotrace__pieces_free(&t->budget, &t->pieces);
  t->pieces_last = NULL;
  CHECK_EQUAL(t->budget.used, 0);
}

/* Calls that go the short way as long as they can fill chunk after chunk. */
static void short_way(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  const gotrace__record_chunk *chunk = NULL;
  gotrace_stats stats;
  int i, chunks = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 20000; i++) {
    gotrace_region_begin(GOTRACE_NO_TASK, "short");
    gotrace_region_end(GOTRACE_NO_TASK, "short");
    chunks += gotrace__self->chunk != chunk;
    chunk = gotrace__self->chunk;
  }
  CHECK(chunks > 4 && gotrace__self->quick == gotrace__on);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK(stats.events >= 40000 && !stats.dropped && !stats.repaired);
  test_free(&bytes);
}

int main(void) {
  memset(text, 'x', LARGEST);
  /* traceEvBatch with the count of one argument, which is two: traceFlush in runtime/trace.go. */
  header(true, 0, 0, "\x41\x00\x00", 3);
  header(true, 3, 300, "\x41\x03\xac\x02", 4);
  header(true, UINT64_MAX, 1, "\x41\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", 12);
  header(true, 200, UINT64_MAX, "\x41\xc8\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);
  /* EvEventBatch, generation, thread, time, size: writer.flush in runtime/tracebuf.go. */
  header(false, 7, 300, "\x01\x03\x07\xac\x02\x02", 6);
  fill_lane(true);
  fill_lane(false);
  pieces();
  grow();
  largest_record();
  room_of_calls();
  use_again();
  of_another_session();
  short_way();
  test_free(&written);
  return 0;
}
