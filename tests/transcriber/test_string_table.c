/* The string table: ids, truncation at a UTF-8 boundary, and threads that insert the same strings at once. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test.h"

#include <pthread.h>

#define THREADS 4
#define STRINGS 3000

static gotrace__table *table;
static uint32_t ids[THREADS][STRINGS];
static long strings;

static uint32_t put(const char *string, size_t size) {
  bool cut;
  return gotrace__string_put(table, string, size, &cut);
}

/* Of a longer string, 1,024 bytes are kept, or up to three fewer if a UTF-8 sequence would be split. `tail` is what
 * follows the first 1024 - before bytes. */
static void check_cut(const char *tail, size_t tail_size, size_t before, size_t want) {
  char string[1100];
  bool cut;
  size_t size = 1024 - before + tail_size;
  uint32_t id;
  memset(string, 'a', sizeof string);
  memcpy(string + 1024 - before, tail, tail_size);
  if (gotrace__truncated_size(string, size) != want)
    fprintf(stderr, "%zu bytes, tail of %zu from %zu before: %zu, not %zu\n", size, tail_size, before,
            gotrace__truncated_size(string, size), want);
  CHECK_EQUAL(gotrace__truncated_size(string, size), want);
  id = gotrace__string_put(table, string, size, &cut);
  CHECK(id > 0);
  CHECK_EQUAL(cut, size != want);
  CHECK_EQUAL(put(string, want), id);
}

static void cuts(void) {
  size_t before;
  check_cut("", 0, 0, 1024);     /* exactly the limit */
  check_cut("b", 1, 0, 1024);    /* one byte too long */
  check_cut("\xc3", 1, 1, 1024); /* not too long, so a lone lead byte at the end is kept */
  /* Sequences of two, three and four bytes, which begin 0 to 4 bytes before the limit. */
  for (before = 0; before <= 4; before++) {
    check_cut("\xc3\xa9zzzzz", 7, before, before && before < 2 ? 1024 - before : 1024);
    check_cut("\xe2\x82\xaczzzzz", 8, before, before && before < 3 ? 1024 - before : 1024);
    check_cut("\xf0\x9f\x98\x80zzzzz", 9, before, before && before < 4 ? 1024 - before : 1024);
  }
  /* Not UTF-8: more continuation bytes than any sequence has. */
  check_cut("\x80\x80\x80\x80\x80\x80\x80\x80", 8, 4, 1024);
  check_cut("\xff\xff\xff\xff\xff\xff", 6, 3, 1024);
}

static void *put_all(void *argument) {
  size_t thread = (size_t)argument;
  long i;
  for (i = 0; i < strings; i++) {
    long n = thread % 2 ? i : strings - 1 - i;
    char string[32];
    size_t size = (size_t)snprintf(string, sizeof string, "string %ld", n);
    ids[thread][n] = put(string, size);
    if (thread < 2) CHECK_EQUAL(put(string, size), ids[thread][n]);
  }
  return NULL;
}

int main(void) {
  gotrace__budget budget;
  gotrace__entry *entry;
  pthread_t threads[THREADS];
  uint32_t a, count = 0;
  size_t i;
  long n;
  bool cut = true;
  memset(&budget, 0, sizeof budget);
  budget.limit = (size_t)64 << 20;
  CHECK((table = gotrace__table_new(&budget, false)) != NULL);
  CHECK_EQUAL(gotrace__string_put(table, "", 0, &cut), 0);
  CHECK(!cut);
  CHECK(!table->first);
  CHECK_EQUAL(put("one", 3), 1);
  CHECK_EQUAL(put("two", 3), 2);
  CHECK_EQUAL(put("one", 3), 1);
  CHECK_EQUAL(put("one", 2), 3);      /* "on" */
  CHECK_EQUAL(put("one\0two", 7), 4); /* any bytes */
  a = put("\0", 1);
  CHECK_EQUAL(a, 5);
  CHECK_EQUAL(put("\0\0", 2), 6); /* these differ in length */
  cuts();
  gotrace__table_free(table);
  CHECK_EQUAL(budget.used, 0);

  /* Four threads insert the same strings: each string gets one id, and each id occurs once, in order. */
  strings = test_scaled(STRINGS);
  CHECK((table = gotrace__table_new(&budget, false)) != NULL);
  for (i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, put_all, (void *)i) == 0);
  for (i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK_EQUAL(table->count, strings);
  for (entry = table->first; entry; entry = entry->next) CHECK_EQUAL(entry->id, ++count);
  CHECK_EQUAL(count, strings);
  for (n = 0; n < strings; n++) {
    CHECK(ids[0][n] > 0 && ids[0][n] <= (uint32_t)strings);
    for (i = 1; i < THREADS; i++) CHECK_EQUAL(ids[i][n], ids[0][n]);
  }
  gotrace__table_free(table);
  CHECK_EQUAL(budget.used, 0);

  /* Out of memory: 0, and the existing entries stay. */
  budget.limit = sizeof *table;
  CHECK((table = gotrace__table_new(&budget, false)) != NULL);
  CHECK_EQUAL(put("x", 1), 0);
  budget.limit += 65536;
  CHECK_EQUAL(put("x", 1), 1);
  CHECK_EQUAL(put("x", 1), 1);
  gotrace__table_free(table);
  CHECK_EQUAL(budget.used, 0);
  return 0;
}
