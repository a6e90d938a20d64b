/* Fuzzes the string table: arbitrary bytes, checked by a list of the strings inserted.
 *
 *     clang -g -O1 -I. -fsanitize=fuzzer,address,undefined fuzz/string_table.c -o build/fuzz/string_table -pthread
 *     build/fuzz/string_table -max_total_time=60 fuzz/seeds/string_table
 *
 * Input: for each string two bytes of length, a byte with the repetitions of its bytes (lowest 6 bits), and the bytes.
 */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "fuzz.h"

#define MOST 4096
#define STRINGS 256

typedef struct kept_string {
  uint8_t *bytes;
  size_t size;
  uint32_t id;
} kept_string;

static int continues(const uint8_t *byte) { return (*byte & 0xc0) == 0x80; }

/* Whether a string is truncated where the documentation requires. */
static void check_cut(const uint8_t *string, size_t size, size_t kept) {
  size_t i, continuing = 0;
  REQUIRE(kept <= size);
  if (size <= GOTRACE_MAX_STRING_SIZE) {
    REQUIRE(kept == size);
    return;
  }
  REQUIRE(kept <= GOTRACE_MAX_STRING_SIZE && kept >= GOTRACE_MAX_STRING_SIZE - 3);
  if (kept < GOTRACE_MAX_STRING_SIZE) { /* no byte is dropped unnecessarily */
    REQUIRE(!continues(string + kept));
    for (i = kept + 1; i <= GOTRACE_MAX_STRING_SIZE; i++) REQUIRE(continues(string + i));
  } else {
    for (i = GOTRACE_MAX_STRING_SIZE - 3; i <= GOTRACE_MAX_STRING_SIZE; i++)
      continuing += continues(string + i) ? 1 : 0;
    REQUIRE(!continues(string + kept) || continuing == 4);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kept_string *strings = calloc(STRINGS, sizeof *strings);
  uint8_t *string = malloc(MOST);
  uint32_t count = 0, i;
  gotrace__budget budget;
  gotrace__table *table;
  gotrace__entry *entry;
  fuzz_input in;
  in.at = data;
  in.end = data + size;
  memset(&budget, 0, sizeof budget);
  budget.limit = sizeof *table + GOTRACE__ARENA_BLOCK; /* room for about sixty of the longest */
  table = gotrace__table_new(&budget, true);
  REQUIRE(table);
  while (in.at < in.end && count < STRINGS) {
    size_t length = (size_t)fuzz_take(&in, 2) % 1100, repeat = (size_t)fuzz_take(&in, 1) % 64 + 1, total, n;
    uint8_t *exact;
    bool cut;
    uint32_t id, want = 0;
    if (length > (size_t)(in.end - in.at)) length = (size_t)(in.end - in.at);
    if (repeat * length > MOST) repeat = 1;
    total = repeat * length;
    for (n = 0; n < total; n++) string[n] = in.at[n % length];
    in.at += length;
    exact = malloc(total ? total : 1); /* exact size, so that a read beyond it is detected */
    memcpy(exact, string, total);
    n = gotrace__truncated_size((const char *)exact, total);
    check_cut(exact, total, n);
    for (i = 0; i < count && !want; i++)
      if (strings[i].size == n && memcmp(strings[i].bytes, exact, n) == 0) want = strings[i].id;
    id = gotrace__string_put(table, (const char *)exact, total, &cut);
    REQUIRE(cut == (n != total));
    if (!n) {
      REQUIRE(id == 0);
    } else if (want) {
      REQUIRE(id == want);
    } else if (id == 0) { /* only if there is no room */
      REQUIRE(sizeof *table->first + n > sizeof table->arena.head->data - table->arena.used);
    } else {
      REQUIRE(id == count + 1);
      strings[count].id = id;
      strings[count].bytes = malloc(n);
      memcpy(strings[count].bytes, exact, n);
      strings[count++].size = n;
    }
    free(exact);
  }
  /* The list has the strings in the order of insertion. */
  for (i = 0, entry = table->first; entry; entry = entry->next, i++) {
    REQUIRE(i < count && entry->id == strings[i].id && entry->size == strings[i].size);
    REQUIRE(memcmp(entry + 1, strings[i].bytes, entry->size) == 0);
  }
  REQUIRE(i == count && table->count == count);
  gotrace__table_free(table);
  REQUIRE(budget.used == 0);
  for (i = 0; i < count; i++) free(strings[i].bytes);
  free(strings);
  free(string);
  return 0;
}
