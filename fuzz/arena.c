/* Fuzzes the arena: pieces of any size, checked by a model that only counts blocks.
 *
 *     clang -g -O1 -I. -fsanitize=fuzzer,address,undefined fuzz/arena.c -o build/fuzz/arena -pthread
 *     build/fuzz/arena -max_total_time=60 fuzz/seeds/arena
 *
 * Input: a byte for the limit in blocks, then three bytes per piece: its size, or (0xffffff) free everything.
 */
#define _GNU_SOURCE
#include "fuzz.h"

static size_t outstanding; /* bytes that are allocated */

static void *count_malloc(size_t size) {
  void *memory = malloc(size);
  if (memory) {
    memset(memory, 0xa5, size);
    outstanding += size;
  }
  return memory;
}

static void count_free(void *memory, size_t size) {
  outstanding -= size;
  free(memory);
}

#define GOTRACE_MALLOC(size) count_malloc(size)
#define GOTRACE_FREE(pointer, size) count_free(pointer, size)
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#define PIECES 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct {
    uint8_t *memory;
    size_t size;
  } pieces[PIECES];
  size_t count = 0, blocks = 0, left = 0, i, j;
  const size_t most = GOTRACE__ARENA_BLOCK - sizeof(void *);
  gotrace__budget budget;
  gotrace__arena arena;
  fuzz_input in;
  in.at = data;
  in.end = data + size;
  memset(&budget, 0, sizeof budget);
  memset(&arena, 0, sizeof arena);
  arena.budget = &budget;
  budget.limit = (size_t)(fuzz_take(&in, 1) % 32) * GOTRACE__ARENA_BLOCK;
  while (in.at < in.end && count < PIECES) {
    size_t wanted = (size_t)fuzz_take(&in, 3), rounded = (wanted + 7) / 8 * 8;
    uint8_t *piece;
    if (wanted == 0xffffff) {
      gotrace__arena_free(&arena);
      REQUIRE(outstanding == 0 && budget.used == 0);
      count = blocks = left = 0;
      continue;
    }
    if (wanted > 70000) wanted %= 3000, rounded = (wanted + 7) / 8 * 8; /* most are small */
    piece = gotrace__arena_alloc(&arena, wanted);
    if (wanted > most || rounded > most) {
      REQUIRE(!piece);
    } else if (blocks && rounded <= left) {
      REQUIRE(piece);
      left -= rounded;
    } else if ((blocks + 1) * GOTRACE__ARENA_BLOCK > budget.limit) {
      REQUIRE(!piece);
    } else {
      REQUIRE(piece);
      blocks++;
      left = most - rounded;
    }
    REQUIRE(outstanding == blocks * GOTRACE__ARENA_BLOCK && budget.used == outstanding && budget.peak >= budget.used);
    if (!piece) continue;
    REQUIRE((uintptr_t)piece % sizeof(uint64_t) == 0);
    for (j = 0; j < wanted; j++) REQUIRE(piece[j] == 0);
    memset(piece, (int)(count % 255 + 1), wanted);
    pieces[count].memory = piece;
    pieces[count++].size = wanted;
  }
  for (i = 0; i < count; i++) /* no pieces overlap */
    for (j = 0; j < pieces[i].size; j++) REQUIRE(pieces[i].memory[j] == i % 255 + 1);
  gotrace__arena_free(&arena);
  REQUIRE(outstanding == 0 && budget.used == 0);
  return 0;
}
