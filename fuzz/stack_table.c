/* Fuzzes the stack table: stacks of a few frames that repeat, with their own hashes and with colliding ones, checked by
 * a list of the stacks inserted.
 *
 *     clang -g -O1 -I. -fsanitize=fuzzer,address,undefined fuzz/stack_table.c -o build/fuzz/stack_table -pthread
 *     build/fuzz/stack_table -max_total_time=60 fuzz/seeds/stack_table
 *
 * Input: for each stack a byte for its depth, a byte for its hash (below 128: its own), and a byte per frame.
 */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "fuzz.h"

#define STACKS 256
#define DEPTH 140

typedef struct kept_stack {
  gotrace__stack_frame frames[GOTRACE_STACK_SIZE];
  size_t depth;
  uint32_t id;
  int group; /* equal stacks with different hashes are different entries */
} kept_stack;

static const char *const names[] = {NULL, "", "main", "worker", "a_rather_long_name_of_a_function"};

static gotrace_location place_of(unsigned byte) {
  gotrace_location place;
  place.pc = byte & 1 ? 0x400000 + byte : 0;
  place.function = names[byte % 5];
  place.file = names[byte / 5 % 5];
  place.line = byte / 25;
  return place;
}

static gotrace__stack_frame frame_of(gotrace__table *texts, unsigned byte) {
  gotrace_location place = place_of(byte);
  gotrace__stack_frame frame;
  REQUIRE(gotrace__frame_of(texts, &place, &frame));
  return frame;
}

static int same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kept_stack *stacks = malloc(STACKS * sizeof *stacks);
  gotrace__stack_frame *frames = malloc(DEPTH * sizeof *frames);
  size_t count = 0, i, j;
  uint32_t ids = 0;
  gotrace__budget budget;
  gotrace__table *table, *texts = gotrace__table_new(NULL, false);
  gotrace__entry *entry;
  fuzz_input in;
  /* Different places have different pcs, even if pcs are derived. */
  if (size >= 2) {
    gotrace_location place = place_of(data[0]), other = place_of(data[1]);
    gotrace__stack_frame a = frame_of(texts, data[0]), b = frame_of(texts, data[1]);
    int same = (data[0] & 1) == (data[1] & 1) && same_text(place.function, other.function) &&
               same_text(place.file, other.file) && a.line == b.line && (!(data[0] & 1) || data[0] == data[1]);
    REQUIRE(a.pc != 0 && (a.pc == b.pc) == same);
    REQUIRE((data[0] & 1) ? a.pc == 0x400000u + data[0] : a.pc >> 48 == 1);
  }
  in.at = data;
  in.end = data + size;
  memset(&budget, 0, sizeof budget);
  budget.limit = sizeof *table + 4 * GOTRACE__ARENA_BLOCK;
  table = gotrace__table_new(&budget, true);
  REQUIRE(table);
  while (in.at < in.end && count < STACKS) {
    size_t depth = (size_t)fuzz_take(&in, 1) % DEPTH, kept;
    unsigned hash = (unsigned)fuzz_take(&in, 1);
    int group = hash < 128 ? -1 : (int)(hash % 4);
    uint32_t id, want = 0;
    for (i = 0; i < depth; i++) frames[i] = frame_of(texts, (unsigned)fuzz_take(&in, 1));
    kept = depth < GOTRACE_STACK_SIZE ? depth : GOTRACE_STACK_SIZE;
    if (group < 0) {
      id = gotrace__stack_put(table, frames, depth);
    } else if (kept) {
      /* All in one chain, with two hashes. */
      id = gotrace__table_put(table, hash % 2 ? 7 : 7 + GOTRACE__CHAINS, (uint32_t)kept, frames, kept * sizeof *frames);
      group %= 2;
    } else {
      continue;
    }
    if (!kept) {
      REQUIRE(id == 0);
      continue;
    }
    for (i = 0; i < count; i++)
      if (stacks[i].group == group && stacks[i].depth == kept &&
          memcmp(stacks[i].frames, frames, kept * sizeof *frames) == 0)
        want = stacks[i].id;
    if (want) {
      REQUIRE(id == want);
    } else if (!id) {
      REQUIRE(budget.used + GOTRACE__ARENA_BLOCK > budget.limit);
    } else {
      REQUIRE(id == ++ids);
      memcpy(stacks[count].frames, frames, kept * sizeof *frames);
      stacks[count].depth = kept;
      stacks[count].group = group;
      stacks[count++].id = id;
    }
  }
  for (i = 0, entry = table->first; entry; entry = entry->next, i++) {
    const gotrace__stack_frame *put = (const gotrace__stack_frame *)(entry + 1);
    REQUIRE(i < count && entry->id == stacks[i].id && entry->size == stacks[i].depth);
    for (j = 0; j < entry->size; j++)
      REQUIRE(put[j].pc == stacks[i].frames[j].pc && put[j].function == stacks[i].frames[j].function &&
              put[j].file == stacks[i].frames[j].file && put[j].line == stacks[i].frames[j].line);
  }
  REQUIRE(i == count && table->count == ids);
  gotrace__table_free(table);
  gotrace__table_free(texts);
  REQUIRE(budget.used == 0);
  free(stacks);
  free(frames);
  return 0;
}
