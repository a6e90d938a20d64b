/* The arena: blocks of 64 KiB; pieces are aligned and zeroed, refused when too large or beyond the budget,
 * and all freed at once. */
#define _GNU_SOURCE
#include <stdlib.h>

static size_t outstanding, allocations;
static int fail;

static void *counting_malloc(size_t size) {
  char *memory = fail ? NULL : malloc(size);
  size_t i;
  if (!memory) return NULL;
  for (i = 0; i < size; i++) memory[i] = 0x5a; /* so that memory is not zero by chance */
  outstanding += size;
  allocations++;
  return memory;
}

static void counting_free(void *memory, size_t size) {
  outstanding -= size;
  free(memory);
}

#define GOTRACE_MALLOC(size) counting_malloc(size)
#define GOTRACE_FREE(pointer, size) counting_free(pointer, size)
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test.h"

#define BLOCK 65536
#define MOST (BLOCK - sizeof(void *))

static int is_zero(const unsigned char *memory, size_t size) {
  while (size)
    if (memory[--size]) return 0;
  return 1;
}

int main(void) {
  gotrace__budget budget;
  gotrace__arena arena;
  unsigned char *a, *b, *last;
  size_t i;
  memset(&budget, 0, sizeof budget);
  memset(&arena, 0, sizeof arena);
  arena.budget = &budget;
  budget.limit = 3 * BLOCK;

  /* A piece that is too large is refused, at no cost. */
  CHECK(!gotrace__arena_alloc(&arena, MOST + 1));
  CHECK(!gotrace__arena_alloc(&arena, BLOCK));
  CHECK(!gotrace__arena_alloc(&arena, SIZE_MAX));
  CHECK(!gotrace__arena_alloc(&arena, SIZE_MAX - 6));
  CHECK_EQUAL(outstanding, 0);

  /* Pieces are aligned, disjoint and zeroed, and come from one block while it has room. */
  a = gotrace__arena_alloc(&arena, 1);
  b = gotrace__arena_alloc(&arena, 9);
  CHECK(a && b && b - a == 8);
  CHECK_EQUAL((uintptr_t)a % 8, 0);
  CHECK(is_zero(a, 8) && is_zero(b, 16));
  memset(a, 1, 8), memset(b, 2, 16);
  CHECK_EQUAL(outstanding, BLOCK);
  last = b;
  for (i = 8 + 16; i + 64 <= MOST; i += 64) {
    unsigned char *next = gotrace__arena_alloc(&arena, 61);
    CHECK(next && next == last + (last == b ? 16 : 64));
    CHECK(is_zero(next, 61));
    memset(next, 3, 61);
    last = next;
  }
  CHECK_EQUAL(outstanding, BLOCK);
  CHECK(a[7] == 1 && b[15] == 2);

  /* The next one does not fit; a piece as large as a block does, in its own block. */
  CHECK(gotrace__arena_alloc(&arena, 64));
  CHECK_EQUAL(outstanding, 2 * BLOCK);
  a = gotrace__arena_alloc(&arena, MOST);
  CHECK(a && is_zero(a, MOST));
  memset(a, 4, MOST);
  CHECK_EQUAL(outstanding, 3 * BLOCK);
  CHECK_EQUAL(allocations, 3);

  /* Beyond the budget: refused; the accounting stays correct, and existing pieces stay intact. */
  CHECK(!gotrace__arena_alloc(&arena, 8));
  CHECK_EQUAL(budget.used, 3 * BLOCK);
  CHECK_EQUAL(budget.peak, 3 * BLOCK);
  CHECK(a[0] == 4 && a[MOST - 1] == 4 && b[0] == 2);

  gotrace__arena_free(&arena);
  CHECK_EQUAL(outstanding, 0);
  CHECK_EQUAL(budget.used, 0);
  CHECK_EQUAL(budget.peak, 3 * BLOCK);

  /* The arena can be used again; a failed allocation has no effect. */
  fail = 1;
  CHECK(!gotrace__arena_alloc(&arena, 8));
  CHECK_EQUAL(budget.used, 0);
  fail = 0;
  CHECK(gotrace__arena_alloc(&arena, 8));
  CHECK_EQUAL(budget.used, BLOCK);
  gotrace__arena_free(&arena);
  CHECK_EQUAL(outstanding, 0);

  /* Without a budget there is no limit. */
  arena.budget = NULL;
  for (i = 0; i < 5; i++) CHECK(gotrace__arena_alloc(&arena, MOST));
  CHECK_EQUAL(outstanding, 5 * BLOCK);
  gotrace__arena_free(&arena);
  CHECK_EQUAL(outstanding, 0);
  return 0;
}
