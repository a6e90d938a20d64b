/* Fuzzes gotrace_decoder_resume: arbitrary bytes as a snapshot, and changed snapshots of a trace of many generations.
 *
 *     clang -g -O1 -I. -fsanitize=fuzzer,address,undefined fuzz/snapshot.c -o build/fuzz/snapshot -pthread
 *     build/fuzz/snapshot -max_total_time=60 fuzz/seeds/snapshot
 *
 * Input: a byte. 255: the rest is the snapshot. Otherwise it chooses one of the trace, and the rest are changes of it:
 * a place of two bytes and what is there. The snapshot is refused, or decoding goes on from it, with or without changes
 * and to an error or the end, in memory in proportion.
 */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "../tests/test_collect.h"
#include "../tests/decoder/many_generations.h"
#include "fuzz.h"

enum { MOST = 64 };
static gotrace_frame frames[1000];
static test_bytes trace, snapshots[MOST];
static unsigned snapshot_count;

static gotrace_decoder *open_trace(void) {
  gotrace_decoder_options options;
  gotrace_decoder *d;
  memset(&options, 0, sizeof options);
  options.data = trace.data;
  options.size = trace.size;
  REQUIRE(gotrace_decoder_open(&d, &options) == GOTRACE_OK);
  return d;
}

static void record_trace(void) {
  gotrace_decoder *d;
  gotrace_event e;
  gotrace_change c;
  record(&trace, GOTRACE_GO_1_26);
  d = open_trace();
  while (gotrace_decoder_next(d, &e) == GOTRACE_OK) {
    test_bytes *s = &snapshots[snapshot_count];
    size_t size;
    gotrace_decoder_change(d, &e, &c);
    size = gotrace_decoder_snapshot(d, NULL, 0);
    if (!size || snapshot_count == MOST) continue;
    REQUIRE((s->data = (uint8_t *)malloc(size)) != NULL);
    s->size = gotrace_decoder_snapshot(d, s->data, size);
    snapshot_count++;
  }
  REQUIRE(gotrace_decoder_error(d)->result == GOTRACE_OK && snapshot_count > 3);
  gotrace_decoder_close(d);
}

static void resume(const uint8_t *data, size_t size, bool tell) {
  gotrace_decoder *d = open_trace();
  gotrace_decoder_info before, after;
  gotrace_event e;
  gotrace_change c;
  gotrace_result result;
  gotrace_decoder_get_info(d, &before);
  result = gotrace_decoder_resume(d, data, size);
  gotrace_decoder_get_info(d, &after);
  REQUIRE(result == GOTRACE_OK || result == GOTRACE_ERROR_SNAPSHOT);
  REQUIRE(after.memory <= before.memory + 10000 + 200 * size);
  while (gotrace_decoder_next(d, &e) == GOTRACE_OK) {
    gotrace_state s;
    if (!tell) continue;
    if (gotrace_decoder_change(d, &e, &c)) gotrace_decoder_state(d, c.object, (uint64_t)c.id, &s);
    gotrace_decoder_state(d, GOTRACE_OBJECT_GO, (uint64_t)e.g, &s);
    gotrace_decoder_stack(d, s.stack, frames, 1000);
  }
  REQUIRE(result == GOTRACE_OK || gotrace_decoder_error(d)->result == result);
  gotrace_decoder_get_info(d, &after);
  REQUIRE(after.memory_most <= 1000000 + 300 * size + 20 * trace.size);
  gotrace_decoder_close(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input in = {data, data + size};
  unsigned which = (unsigned)fuzz_take(&in, 1);
  const test_bytes *from;
  uint8_t *copy;
  if (!trace.size) record_trace();
  if (!size) return 0;
  if (which == 255) {
    resume(in.at, size - 1, false);
    resume(in.at, size - 1, true);
    return 0;
  }
  from = &snapshots[which % snapshot_count];
  REQUIRE((copy = (uint8_t *)malloc(from->size)) != NULL);
  memcpy(copy, from->data, from->size);
  while (in.at < in.end) {
    size_t at = (size_t)fuzz_take(&in, 2) % from->size;
    copy[at] = (uint8_t)fuzz_take(&in, 1);
  }
  resume(copy, from->size, which / snapshot_count % 2);
  free(copy);
  return 0;
}
