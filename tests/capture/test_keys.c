/* The table of gotrace_go_keyed: many keys of several patterns are each found in a few steps, whatever has been freed
 * in between. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test.h"

/* Buckets have 8 of the hash's 64 bits, levels two each. */
enum { DEEPEST = (64 - 8) / 2 + 1 };

static uint64_t key_of(unsigned pattern, uint64_t i) {
  switch (pattern) {
  case 0: return i;
  case 1: return i << 32;
  case 2: return 0x7f0000000000u + i * 4096; /* addresses of stacks */
  case 3: return i << 48 | i >> 16;
  default: return gotrace__mix(pattern, i);
  }
}

/* Counts entries, and the levels of the deepest. */
static unsigned levels_of(const gotrace__keyed *keyed, uint64_t *count) {
  unsigned deepest = 0, i;
  if (!keyed) return 0;
  (*count)++;
  for (i = 0; i < 4; i++) {
    unsigned below = levels_of(keyed->below[i], count);
    if (deepest < below) deepest = below;
  }
  return deepest + 1;
}
static uint64_t check_table(void) {
  uint64_t count = 0;
  unsigned i;
  for (i = 0; i < GOTRACE__KEY_BUCKETS; i++) CHECK(levels_of(gotrace__t.key_buckets[i].top, &count) <= DEEPEST);
  return count;
}

int main(void) {
  static const gotrace_location fiber = GOTRACE_NAMED_ENTRY("fiber");
  uint64_t n = (uint64_t)test_scaled(50000), i, live;
  unsigned pattern;
  gotrace_go **gos = (gotrace_go **)calloc((size_t)n, sizeof *gos);
  CHECK(gos != NULL);
  for (pattern = 0; pattern < 5; pattern++) {
    uint64_t state = pattern;
    for (i = 0; i < n; i++) CHECK((gos[i] = gotrace_go_keyed(key_of(pattern, i), &fiber)) != NULL);
    CHECK_EQUAL(check_table(), n);
    for (live = n, i = 0; i < n; i++)
      if (test_random(&state) % 2) {
        gotrace_go_keyed_free(key_of(pattern, i));
        gos[i] = NULL;
        live--;
      }
    CHECK_EQUAL(check_table(), live);
    for (i = 0; i < n; i++) {
      gotrace_go *go = gos[i] ? gotrace_go_keyed(key_of(pattern, i), &fiber) : NULL;
      CHECK(go == gos[i]);
    }
    for (i = 0; i < n; i++) gotrace_go_keyed_free(key_of(pattern, n - 1 - i));
    CHECK_EQUAL(check_table(), 0);
  }
  free(gos);
  return 0;
}
