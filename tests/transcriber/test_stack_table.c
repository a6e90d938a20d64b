/* The stack table: ids, depth, chains with collisions, derived pcs, and threads that look up while others insert. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test.h"

#include <pthread.h>

#define THREADS 4
#define STACKS 4000

static gotrace__table *table;
static gotrace__budget budget;
static uint32_t ids[THREADS][STACKS];
static long stacks;

static gotrace__table *texts;

static gotrace__stack_frame frame_at(uintptr_t pc) {
  gotrace_location place = {0, NULL, NULL, 0};
  gotrace__stack_frame frame;
  place.pc = pc;
  CHECK(gotrace__frame_of(texts, &place, &frame));
  return frame;
}

static uint64_t made_up(const char *function, const char *file, uint32_t line) {
  gotrace_location place;
  gotrace__stack_frame frame;
  place.pc = 0;
  place.function = function;
  place.file = file;
  place.line = line;
  CHECK(gotrace__frame_of(texts, &place, &frame));
  return frame.pc;
}

/* Each place without a pc gets its own. */
static void made_up_pcs(void) {
  static const char *const words[] = {"",        "a",    "b",        "main",      "worker_main", "src/a.c",
                                      "src/b.c", "naem", "12345678", "123456789", "87654321"};
  enum { WORDS = sizeof words / sizeof words[0], LINES = 12, ALL = WORDS * WORDS * LINES };
  static uint64_t pcs[ALL];
  char copy[] = "main";
  size_t f, g, i, j, n = 0;
  uint32_t line;
  for (f = 0; f < WORDS; f++)
    for (g = 0; g < WORDS; g++)
      for (line = 0; line < LINES; line++) pcs[n++] = made_up(words[f], words[g], line);
  for (i = 0; i < n; i++) {
    CHECK(pcs[i] >> 48 == 1); /* not an address of a program */
    for (j = 0; j < i; j++) {
      if (pcs[i] == pcs[j])
        fprintf(stderr, "same pc for %s, %s, %zu and %s, %s, %zu\n", words[i / LINES / WORDS], words[i / LINES % WORDS],
                i % LINES, words[j / LINES / WORDS], words[j / LINES % WORDS], j % LINES);
      CHECK(pcs[i] != pcs[j]);
    }
  }
  CHECK(made_up(copy, "x", 3) == made_up("main", "x", 3)); /* the text counts, not its address */
  CHECK(made_up(NULL, NULL, 0) == made_up("", "", 0));
  CHECK(frame_at(77).pc == 77);
}

/* Of a text larger than a block of the table the end is kept. Without memory for its texts there is no frame. */
static void long_texts(void) {
  enum { SIZE = 2 * GOTRACE__ARENA_BLOCK };
  static char text[SIZE + 1];
  gotrace_location place = {0, text, "a.c", 1};
  gotrace__stack_frame frame;
  gotrace__budget none;
  gotrace__table *full;
  const gotrace__entry *kept;
  memset(text, 'x', SIZE);
  memcpy(text + SIZE - 4, "last", 4);
  CHECK(gotrace__frame_of(texts, &place, &frame) && frame.function && frame.file);
  for (kept = texts->first; kept->id != frame.function;) kept = kept->next;
  CHECK_EQUAL(kept->size, GOTRACE__ARENA_BLOCK / 2);
  CHECK(strcmp((const char *)(kept + 1), text + SIZE - kept->size) == 0);
  memset(&none, 0, sizeof none);
  CHECK((full = gotrace__table_new(&none, false)) != NULL);
  CHECK(!gotrace__frame_of(full, &place, &frame));
  gotrace__table_free(full);
}

static void depths(void) {
  gotrace__stack_frame frames[GOTRACE_STACK_SIZE + 20];
  uint32_t id;
  size_t i;
  for (i = 0; i < sizeof frames / sizeof frames[0]; i++) frames[i] = frame_at(1000 + i);
  CHECK_EQUAL(gotrace__stack_put(table, frames, 0), 0);
  id = gotrace__stack_put(table, frames, GOTRACE_STACK_SIZE);
  CHECK(id > 0);
  CHECK_EQUAL(table->last->size, 128);
  CHECK(gotrace__stack_put(table, frames, GOTRACE_STACK_SIZE - 1) != id);
  /* Deeper stacks are cut: they lose their outermost frames, and this one then equals the stack before. */
  CHECK_EQUAL(gotrace__stack_put(table, frames, GOTRACE_STACK_SIZE + 1), id);
  CHECK_EQUAL(gotrace__stack_put(table, frames, GOTRACE_STACK_SIZE + 20), id);
}

static void collisions(void) {
  uint32_t first[50];
  size_t i, round;
  for (round = 0; round < 2; round++)
    for (i = 0; i < 50; i++) { /* all in one chain; every fifth also has the same hash */
      gotrace__stack_frame frame = frame_at(5000 + i);
      uint64_t hash = 42 + GOTRACE__CHAINS * (i / 5);
      uint32_t id = gotrace__table_put(table, hash, 1, &frame, sizeof frame);
      if (round == 0) first[i] = id;
      CHECK(id > 0 && id == first[i]);
      CHECK(i == 0 || first[i] == first[i - 1] + 1);
    }
}

static void *put_all(void *argument) {
  size_t thread = (size_t)argument;
  uint64_t state = thread;
  long i;
  for (i = 0; i < 3 * stacks; i++) { /* each stack once in order, then at random */
    long n = i < stacks ? (thread % 2 ? i : stacks - 1 - i) : (long)(test_random(&state) % (uint32_t)stacks);
    gotrace__stack_frame frames[5];
    size_t depth = (size_t)n % 5 + 1, k;
    uint32_t id;
    for (k = 0; k < depth; k++) frames[k] = frame_at(((uintptr_t)n + 1) * 16 + k);
    id = gotrace__stack_put(table, frames, depth);
    CHECK(id > 0);
    if (ids[thread][n]) CHECK_EQUAL(id, ids[thread][n]);
    ids[thread][n] = id;
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  gotrace__stack_frame one = frame_at(1), two = frame_at(2), both[2], moved;
  gotrace__entry *entry;
  uint32_t count = 0;
  size_t i;
  long n;
  budget.limit = (size_t)64 << 20;
  CHECK((texts = gotrace__table_new(NULL, false)) != NULL);
  CHECK((table = gotrace__table_new(&budget, false)) != NULL);
  both[0] = one, both[1] = two;
  CHECK_EQUAL(gotrace__stack_put(table, &one, 1), 1);
  CHECK_EQUAL(gotrace__stack_put(table, &two, 1), 2);
  CHECK_EQUAL(gotrace__stack_put(table, both, 2), 3);
  both[0] = two, both[1] = one;
  CHECK_EQUAL(gotrace__stack_put(table, both, 2), 4);
  CHECK_EQUAL(gotrace__stack_put(table, &one, 1), 1);
  moved = one;
  moved.line = 9;
  CHECK_EQUAL(gotrace__stack_put(table, &moved, 1), 5);
  depths();
  collisions();
  gotrace__table_free(table);
  CHECK_EQUAL(budget.used, 0);
  made_up_pcs();
  long_texts();

  stacks = test_scaled(STACKS);
  CHECK((table = gotrace__table_new(&budget, false)) != NULL);
  for (i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, put_all, (void *)i) == 0);
  /* This thread follows the list concurrently, as the reader does. */
  for (entry = NULL; count < (uint32_t)stacks;) {
    gotrace__entry *next = gotrace__after(table, entry);
    if (!next) {
      sched_yield();
      continue;
    }
    entry = next;
    CHECK_EQUAL(entry->id, ++count);
    CHECK_EQUAL(entry->size,
                (((const gotrace__stack_frame *)(entry + 1))->pc / 16 - 1) % 5 + 1); /* the entry is complete */
  }
  for (i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK_EQUAL(table->count, stacks);
  for (n = 0; n < stacks; n++)
    for (i = 0; i < THREADS; i++) CHECK(ids[i][n] > 0 && ids[i][n] == ids[0][n]);
  gotrace__table_free(table);
  CHECK_EQUAL(budget.used, 0);
  gotrace__table_free(texts);
  return 0;
}
