/* Sites made at run time: one per place, shared by all callers; their limits; how they appear in traces. */
#define GOTRACE__SITES 100u
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

#define THREADS 4
static gotrace_site *found[THREADS][8];
static pthread_barrier_t barrier;

static void *ask(void *argument) {
  gotrace_site **mine = argument;
  char function[16];
  uint32_t i;
  pthread_barrier_wait(&barrier);
  for (i = 0; i < 8; i++) {
    snprintf(function, sizeof function, "f%u", (unsigned)i);
    mine[i] = gotrace_site_make(function, "asked.c", i);
  }
  return NULL;
}

/* Whether each event of this kind has `function` as its innermost frame. */
static bool all_at(const test_bytes *bytes, const char *event_name, const char *function) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder = NULL;
  gotrace_event event;
  gotrace_frame frame;
  unsigned count = 0;
  memset(&options, 0, sizeof options);
  options.data = bytes->data;
  options.size = bytes->size;
  CHECK_EQUAL(gotrace_decoder_open(&decoder, &options), GOTRACE_OK);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) {
    if (strcmp(event.spec->name, event_name) != 0) continue;
    CHECK(gotrace_decoder_stack(decoder, event.stack, &frame, 1) > 0); /* in 1.22 the entry, too */
    CHECK(frame.function_size == strlen(function) && memcmp(frame.function, function, frame.function_size) == 0);
    count++;
  }
  gotrace_decoder_close(decoder);
  return count > 0;
}

/* What MSVC gives as the function of a call site, and what the trace has. For GCC and Clang see tests/compile/cpp. */
static void names_of_msvc(void) {
  static const char *const names[][2] = {
      {"main::<lambda_1>::operator ()", "main"},
      {"net::Box<int>::run::<lambda_2f4a>::operator ()", "net::Box<int>::run"},
      {"f::<lambda_1>::operator ()::<lambda_2>::operator ()", "f::<lambda_1>::operator ()"},
      {"<lambda_1>::operator ()", "initializer"},
      {"Less<int>::operator ()", "Less<int>::operator ()"},
      {">::operator ()", ">::operator ()"},
      {"x<lambda_1>::operator ()", "x<lambda_1>::operator ()"},
      {"ab<lambda_1>::operator ()", "ab<lambda_1>::operator ()"},
      {"plain", "plain"},
  };
  char name[GOTRACE_MAX_STRING_SIZE + 1];
  size_t i;
  for (i = 0; i < sizeof names / sizeof *names; i++)
    CHECK(strcmp(gotrace__short_name(names[i][0], name, sizeof name), names[i][1]) == 0);
}

static void in_a_trace(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_site *site = gotrace_site_make("script_function", "script.lua", 7);
  int i;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  (void)gotrace_go_self();
  for (i = 0; i < 3; i++) {
    gotrace_go *g = gotrace_go_create_at(site, &gotrace_site_make("script_entry", "script.lua", 1)->location);
    gotrace_go_destroy_at(site, g);
    gotrace_wait_begin_at(site, GOTRACE_BLOCK_SYNC);
    gotrace_wait_end();
    if (i == 0) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK); /* a site's memory is valid for one generation */
  }
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK(all_at(&bytes, "GoBlock", "script_function"));
  test_free(&bytes);
}

/* An entry given by its address is looked up as it is, not as a return address. */
__attribute__((noinline)) static void before(void) { __asm__ volatile("nop; nop; nop"); }
__attribute__((noinline)) static void wanted(void) { __asm__ volatile("nop; nop"); }

static bool symbolize(void *context, gotrace_location *place) {
  (void)context;
  if (place->pc != (uintptr_t)&wanted) return false;
  place->function = "exactly";
  return true;
}

static void by_address(gotrace_format format, bool asks) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_location plain = {(uintptr_t)&wanted, NULL, NULL, 0};
  gotrace_decoder *decoder;
  gotrace_event event;
  gotrace_frame frame;
  gotrace_go *older = gotrace_go_create(&plain);
  const char *expected = asks ? "exactly" : "wanted";
  unsigned count = 0;
  before();
  wanted();
  if (asks) options.symbolize = symbolize;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  (void)gotrace_go_self();
  gotrace_go_destroy(gotrace_go_create(&gotrace_site_make_pc((uintptr_t)&wanted)->location));
  gotrace_go_destroy(gotrace_go_create(&plain));
  gotrace_go_destroy(older);
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_open_decoder(&decoder, bytes.data, bytes.size, false), GOTRACE_OK);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) {
    if (strcmp(event.spec->name, "GoCreate") != 0 || !gotrace_decoder_stack(decoder, event.args[1], &frame, 1))
      continue;
    if (frame.pc != (uintptr_t)&wanted + 1) continue; /* as Go writes it */
    CHECK(frame.function_size == strlen(expected) && memcmp(frame.function, expected, frame.function_size) == 0);
    CHECK_EQUAL(frame.line, 0);
    count++;
  }
  gotrace_decoder_close(decoder);
  CHECK(count >= 2);
  test_free(&bytes);
}

/* Beyond their number, sites are counted. */
static void too_many(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  gotrace_stats stats;
  uint32_t i, missing = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 200; i++) missing += gotrace_site_make("more", NULL, i) == NULL;
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK(missing > 100);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_SITES_FULL], missing);
  test_free(&bytes);
}

int main(void) {
  gotrace_site *site, *other;
  char name[1200];
  pthread_t threads[THREADS];
  size_t i, k;
  names_of_msvc();
  strcpy(name, "function");
  site = gotrace_site_make(name, "file.c", 3);
  name[0] = 'F'; /* it was copied */
  CHECK(site && strcmp(site->location.function, "function") == 0 && strcmp(site->location.file, "file.c") == 0);
  CHECK(site->location.line == 3 && site->location.pc == 0);
  CHECK(gotrace_site_make("function", "file.c", 3) == site);
  CHECK(gotrace_site_make("function", "file.c", 4) != site && gotrace_site_make("function", NULL, 3) != site);
  CHECK(gotrace_site_make("file.c", "function", 3) != site && gotrace_site_make(NULL, "file.c", 3) != site);
  CHECK(gotrace_site_make("function", "", 3) != gotrace_site_make("function", NULL, 3));
  CHECK(gotrace_site_make(NULL, NULL, 0) == gotrace_site_make_pc(0));
  other = gotrace_site_make_pc((uintptr_t)&main);
  CHECK(other && other == gotrace_site_make_pc((uintptr_t)&main) && other != gotrace_site_make_pc(1));
  CHECK(other->location.pc == (uintptr_t)&main && !other->location.function);
  memset(name, 'x', sizeof name);
  name[1199] = 0;
  other = gotrace_site_make(name, name, 1);
  CHECK(other && strlen(other->location.function) == GOTRACE_MAX_STRING_SIZE);
  CHECK(gotrace_site_make(name, name, 1) == other);

  CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
  for (i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, ask, found[i]) == 0);
  for (i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  for (i = 0; i < 8; i++)
    for (k = 0; k < THREADS; k++) CHECK(found[k][i] && found[k][i] == found[0][i] && found[k][i]->location.line == i);

  for (i = 0; i < TEST_FORMATS; i++) in_a_trace(test_formats[i]);

#ifdef __linux__
  for (i = 0; i < TEST_FORMATS; i++) by_address(test_formats[i], false);
#endif
  for (i = 0; i < TEST_FORMATS; i++) by_address(test_formats[i], true);

  for (i = k = 0; i < 200; i++) k += gotrace_site_make("one more", NULL, (uint32_t)i) != NULL;
  CHECK(k > 0 && k < GOTRACE__SITES);
  too_many();
  CHECK(gotrace_site_make("function", "file.c", 3) == site);                              /* known sites remain */
  gotrace_log_at(gotrace_site_make("one too many", NULL, 1000), GOTRACE_NO_TASK, "", ""); /* NULL is accepted */
  return 0;
}
