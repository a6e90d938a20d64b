/* decode.h - shared by the decoder's fuzz targets: decodes a trace from memory, through a callback and through a
 * seekable callback, raw and ordered, and compares the results. Include it after gotrace.h's implementation. */
#ifndef FUZZ_DECODE_H
#define FUZZ_DECODE_H

#include "fuzz.h"

typedef struct decode_state {
  const uint8_t *data;
  size_t size, step;
  uint64_t expected; /* offset of the next read, if the source cannot seek */
  bool seekable;
  /* The allocator. */
  int64_t bytes, most, calls, fail_after;
} decode_state;

static inline size_t decode_read(void *context, uint64_t offset, void *buffer, size_t size) {
  decode_state *s = (decode_state *)context;
  size_t left = offset < s->size ? s->size - (size_t)offset : 0, n = size < s->step ? size : s->step;
  REQUIRE(s->seekable || offset == s->expected);
  if (n > left) n = left;
  if (n) memcpy(buffer, s->data + offset, n);
  s->expected = offset + n;
  return n;
}

static inline void *decode_allocate(void *context, size_t size) {
  decode_state *s = (decode_state *)context;
  if (s->fail_after >= 0 && s->calls >= s->fail_after) return NULL;
  s->calls++;
  s->bytes += (int64_t)size;
  if (s->bytes > s->most) s->most = s->bytes;
  return malloc(size ? size : 1);
}

static inline void decode_release(void *context, void *memory, size_t size) {
  ((decode_state *)context)->bytes -= (int64_t)size;
  free(memory);
}

typedef struct decode_outcome {
  gotrace_result result;
  uint64_t events, hash, kinds[256];
} decode_outcome;

static inline uint64_t decode_mix(uint64_t hash, const void *data, size_t size) {
  const uint8_t *at = (const uint8_t *)data;
  for (; size; size--) hash = (hash ^ *at++) * 1099511628211u;
  return hash;
}

/* What a state tells that does not depend on how the trace is read. */
static inline uint64_t decode_state_of(uint64_t hash, const gotrace_decoder *d, unsigned object, int64_t id) {
  static gotrace_frame frames[1000];
  gotrace_state s;
  size_t count;
  if (!gotrace_decoder_state(d, object, (uint64_t)id, &s)) return hash;
  count = gotrace_decoder_stack(d, s.stack, frames, 1000);
  hash = decode_mix(hash, &s.number, 5 * sizeof s.number);
  hash = decode_mix(decode_mix(hash, s.reason, s.reason_size), s.label, s.label_size);
  hash = decode_mix(decode_mix(hash, s.region, s.region_size), s.entry.function, s.entry.function_size);
  return count ? decode_mix(hash, frames[count - 1].function, frames[count - 1].function_size) : hash;
}

/* Reads events in batches and hands them out one by one. */
typedef struct decode_batch {
  const gotrace_event *events[16];
  size_t count, given;
} decode_batch;

static inline gotrace_result decode_next(gotrace_decoder *d, decode_batch *b, size_t room, gotrace_event *e) {
  gotrace_result result = GOTRACE_OK;
  if (b->given == b->count) {
    b->given = 0, b->count = room;
    result = gotrace_decoder_next_batch(d, b->events, &b->count);
    REQUIRE(result ? !b->count : b->count && b->count <= room);
  }
  if (!result) *e = *b->events[b->given++];
  return result;
}

/* way: 0 memory, 1 stream, 2 seekable, in batches, 3 lenient. fail_after: the number of allocations that succeed; -1:
 * all. */
static inline decode_outcome decode_all(const uint8_t *data, size_t size, int way, bool raw, int64_t fail_after) {
  static gotrace_frame frames[1000];
  decode_state s = {data, size, 1 + size % 251, 0, way == 2, 0, 0, 0, fail_after};
  gotrace_decoder_options options;
  gotrace_decoder *d = NULL;
  gotrace_event e;
  gotrace_change change;
  decode_batch batch = {{NULL}, 0, 0};
  decode_outcome o;
  memset(&options, 0, sizeof options);
  memset(&o, 0, sizeof o);
  memset(&e, 0xa5, sizeof e);
  if (way == 1 || way == 2) options.read = decode_read, options.context = &s, options.seekable = way == 2;
  else options.data = data, options.size = size;
  options.raw = raw;
  options.lenient = way == 3;
  options.allocate = decode_allocate, options.release = decode_release, options.allocator_context = &s;
  o.result = gotrace_decoder_open(&d, &options);
  while (!o.result &&
         !(o.result = way == 2 ? decode_next(d, &batch, 1 + size % 16, &e) : gotrace_decoder_next(d, &e))) {
    size_t i, n;
    const char *text;
    REQUIRE(e.spec && e.spec->number == e.kind && e.arg_count <= 5 && e.offset <= size);
    o.events++;
    if (!e.implied) o.kinds[e.kind]++;
    o.hash = decode_mix(o.hash, &e.time, sizeof e.time);
    o.hash = decode_mix(o.hash, &e.offset, sizeof e.offset);
    o.hash = decode_mix(o.hash, &e.m, 3 * sizeof e.m);
    o.hash = decode_mix(o.hash, e.args, sizeof e.args);
    o.hash = decode_mix(o.hash, e.data, e.data_size); /* touches every byte */
    if (raw) continue;
    for (i = 0; i < e.arg_count; i++)
      if (gotrace_decoder_string(d, e.args[i], &text, &n)) o.hash = decode_mix(o.hash, text, n);
    n = gotrace_decoder_stack(d, e.stack, frames, 1000);
    REQUIRE(n <= 1000);
    for (i = 0; i < n; i++)
      o.hash = decode_mix(decode_mix(o.hash, frames[i].function, frames[i].function_size), frames[i].file,
                          frames[i].file_size);
    if (!gotrace_decoder_change(d, &e, &change)) continue;
    o.hash = decode_state_of(o.hash, d, GOTRACE_OBJECT_THREAD, e.m);
    o.hash = decode_state_of(o.hash, d, change.object, change.id);
    REQUIRE((change.id == GOTRACE_NO_ID) == (change.number == GOTRACE_NO_ID));
    o.hash = decode_mix(o.hash, &change.id, 3 * sizeof change.id);
    o.hash = decode_mix(o.hash, change.name, change.name_size);
    o.hash = decode_mix(o.hash, change.text, change.text_size);
    o.hash = decode_mix(o.hash, change.function, change.function_size);
  }
  if (d) {
    REQUIRE(gotrace_decoder_next(d, &e) == o.result);
    REQUIRE((gotrace_decoder_error(d)->result == GOTRACE_OK) == (o.result == GOTRACE_END_OF_TRACE));
    REQUIRE(o.result == GOTRACE_END_OF_TRACE || gotrace_decoder_error(d)->offset <= size);
  }
  /* The input bounds the memory: a batch of about ten bytes may introduce a thread, with its state and room for its
     events. */
  REQUIRE(s.most <= (1 << 20) + 200 * (int64_t)size);
  gotrace_decoder_close(d);
  REQUIRE(s.bytes == 0);
  return o;
}

/* Decodes each generation as a part, as several threads would (gotrace_decoder_open_part). The verdict must be the
 * same. */
static inline void decode_parts(const uint8_t *data, size_t size, bool read, decode_outcome memory) {
  decode_state s = {data, size, 1 + size % 251, 0, true, 0, 0, 0, -1};
  gotrace_decoder_options options;
  gotrace_decoder_info info;
  gotrace_decoder *whole = NULL, *part;
  gotrace_event e;
  gotrace_result result;
  memset(&options, 0, sizeof options);
  if (read) options.read = decode_read, options.context = &s, options.seekable = true;
  else options.data = data, options.size = size;
  options.allocate = decode_allocate, options.release = decode_release, options.allocator_context = &s;
  result = gotrace_decoder_open(&whole, &options);
  while (!result && !(result = gotrace_decoder_next(whole, &e)) && !gotrace_decoder_between(whole)) continue;
  while (!result && gotrace_decoder_open_part(whole, &part) == GOTRACE_OK) {
    while (gotrace_decoder_next(part, &e) == GOTRACE_OK) continue;
    if (!gotrace_decoder_join(whole, part))
      while (!(result = gotrace_decoder_next(whole, &e)) && !gotrace_decoder_between(whole)) continue;
    gotrace_decoder_close(part);
  }
  while (!result) result = gotrace_decoder_next(whole, &e);
  gotrace_decoder_get_info(whole, &info);
  REQUIRE(result == memory.result && info.events == memory.events);
  gotrace_decoder_close(whole);
  REQUIRE(s.bytes == 0);
}

/* Decodes in all ways, which must agree. */
static inline decode_outcome decode_compare(const uint8_t *data, size_t size, bool raw) {
  decode_outcome memory = decode_all(data, size, 0, raw, -1);
  int way;
  for (way = 1; way <= 2; way++) {
    decode_outcome other = decode_all(data, size, way, raw, -1);
    REQUIRE(memory.result == other.result && memory.events == other.events && memory.hash == other.hash);
    if (!raw) decode_parts(data, size, way == 2, memory);
  }
  if (!raw) {
    decode_outcome lenient = decode_all(data, size, 3, false, -1);
    /* In v1 the error of a region may be hidden: that there is no order comes first, as in Go. */
    bool hidden = (memory.result == GOTRACE_ERROR_ORDER || memory.result == GOTRACE_ERROR_TRUNCATED) &&
                  lenient.events > memory.events;
    if (memory.result == GOTRACE_ERROR_REGION) REQUIRE(lenient.events >= memory.events);
    else REQUIRE(memory.result == lenient.result && (memory.hash == lenient.hash || hidden));
  }
  return memory;
}

#endif
