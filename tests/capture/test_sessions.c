/* A second trace of the process, and what comes before a trace. Strings, stacks and statistics of one trace are not
 * those of the next, and no CPU sample gets into another trace than its own. What the program has said while tracing
 * was off, the sizes of the heap, a collection, the number of procs, is in the trace, and again in each generation. */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

static test_bytes bytes;

static void start(gotrace_options *options, gotrace_format format) {
  bytes.size = 0;
  *options = test_options(format, &bytes);
}

static void stop(void) {
  gotrace_stats stats;
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  test_check_statistics(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired, 0);
}

/* ------------------------------------------------------------------------------------------- names and stacks ---- */

enum { FIRST, SECOND, PLACES };
static const char *const place_names[PLACES] = {"first", "second"};
static const gotrace_location entries[PLACES] = {GOTRACE_NAMED_ENTRY("entry of the first"),
                                                 GOTRACE_NAMED_ENTRY("entry of the second")};

/* Each place has a call site with a constant name, and one without a name. */
static void first(void) {
  gotrace_region_begin(GOTRACE_NO_TASK, "first");
  gotrace_region_end_innermost();
}
static void second(void) {
  gotrace_region_begin(GOTRACE_NO_TASK, "second");
  gotrace_region_end_innermost();
}
static void (*const places[PLACES])(void) = {first, second};

/* Names of places, which the unwinder says that the program is at. */
static uintptr_t at_place;
static int unwind(void *context, uintptr_t *pcs, int max) {
  (void)context, (void)max;
  pcs[0] = 0x1000 + at_place;
  pcs[1] = 0x2000;
  return 2;
}
static bool symbolize(void *context, gotrace_location *location) {
  (void)context;
  location->function = location->pc >= 0x2000 ? "main" : place_names[location->pc - 0x1000];
  location->file = "test.c";
  location->line = 1;
  return true;
}

static bool is_function(gotrace_decoder *decoder, uint64_t stack, const char *name) {
  gotrace_frame frame;
  return gotrace_decoder_stack(decoder, stack, &frame, 1) > 0 && frame.function_size == strlen(name) &&
         memcmp(frame.function, name, frame.function_size) == 0;
}

/* The trace has regions at these places, and goroutines with their entries, in this order. */
static void check_places(const int *order, int count) {
  gotrace_decoder *decoder;
  gotrace_event event;
  gotrace_result result;
  int regions = 0, ends = 0, creations = 0;
  CHECK_EQUAL(test_open_decoder(&decoder, bytes.data, bytes.size, false), GOTRACE_OK);
  while ((result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK) {
    const bool v1 = strcmp(event.spec->name, "UserRegion") == 0;
    const char *text;
    size_t size;
    if (event.implied) continue;
    if (strcmp(event.spec->name, "UserRegionBegin") == 0 || (v1 && event.args[1] == 0)) {
      CHECK(regions < count);
      CHECK(gotrace_decoder_string(decoder, event.args[v1 ? 2 : 1], &text, &size));
      CHECK(size == strlen(place_names[order[regions]]) && memcmp(text, place_names[order[regions]], size) == 0);
      CHECK(is_function(decoder, event.stack, place_names[order[regions]]));
      regions++;
    } else if (strcmp(event.spec->name, "UserRegionEnd") == 0 || v1) {
      CHECK(regions && is_function(decoder, event.stack, place_names[order[regions - 1]]));
      ends++;
    }
    if (strcmp(event.spec->name, "GoCreate") == 0) {
      CHECK(creations < count);
      CHECK(is_function(decoder, event.args[1], entries[order[creations]].function));
      creations++;
    }
  }
  CHECK_EQUAL(result, GOTRACE_END_OF_TRACE);
  CHECK_EQUAL(regions, count);
  CHECK_EQUAL(ends, count);
  CHECK_EQUAL(creations, count);
  gotrace_decoder_close(decoder);
}

/* Traces in which the same strings and stacks get other numbers each time. A trace begins with the entry that the
 * former used last. */
static void tables(gotrace_format format, bool unwinds) {
  static const int orders[][3] = {{SECOND, FIRST, FIRST}, {FIRST, SECOND, SECOND}, {SECOND, FIRST, SECOND}};
  gotrace_proc *proc = gotrace_proc_create();
  size_t i, k;
  gotrace_proc_start(proc);
  for (i = 0; i < sizeof orders / sizeof orders[0]; i++) {
    gotrace_options options;
    start(&options, format);
    options.stacks = unwinds ? GOTRACE_STACKS_UNWIND : GOTRACE_STACKS_CALL_SITE;
    options.unwind = unwind;
    options.symbolize = symbolize;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    for (k = 0; k < 3; k++) {
      at_place = (uintptr_t)orders[i][k];
      gotrace_go_start(gotrace_go_create(&entries[at_place]));
      places[at_place]();
      gotrace_go_end();
    }
    stop();
    check_places(orders[i], 3);
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
}

/* ------------------------------------------------------------------------------------------ before the trace ---- */

/* The values of an event's first argument, as "1 2 3". */
static const char *values(const char *name) {
  static char text[256];
  gotrace_decoder *decoder;
  gotrace_event event;
  size_t at = 0;
  CHECK_EQUAL(test_open_decoder(&decoder, bytes.data, bytes.size, false), GOTRACE_OK);
  text[0] = 0;
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK)
    if (strcmp(event.spec->name, name) == 0)
      at += (size_t)snprintf(text + at, sizeof text - at, "%s%llu", at ? " " : "", (unsigned long long)event.args[0]);
  CHECK_EQUAL(gotrace_decoder_error(decoder)->result, 0);
  gotrace_decoder_close(decoder);
  return text;
}

static void expect_values(const char *name, const char *want) {
  if (strcmp(values(name), want) != 0) fprintf(stderr, "%s: '%s', not '%s'\n", name, values(name), want);
  CHECK(strcmp(values(name), want) == 0);
}

static void generation(void) {
  GOTRACE_REGION("work") continue;
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
}

/* What was said before the start is in each generation, until the program says something else. */
static void before(gotrace_format format) {
  const bool v2 = format >= GOTRACE_GO_1_22;
  gotrace_options options;
  start(&options, format);
  gotrace_heap_alloc(500);
  gotrace_heap_goal(1000);
  gotrace_procs_change(7);
  gotrace_gc_begin();
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  generation();
  generation();
  gotrace_heap_alloc(600);
  gotrace_heap_goal(1200);
  gotrace_gc_end();
  generation();
  generation();
  stop();
  expect_values("HeapAlloc", v2 ? "500 500 500 600 600" : "500 600");
  expect_values("HeapGoal", v2 ? "1000 1000 1000 1200 1200" : "1000 1200");
  expect_values("ProcsChange", v2 ? "7 7 7 7" : "7 7");
  if (v2) {
    CHECK_EQUAL(test_count(&bytes, "GCBegin"), 0);
    CHECK_EQUAL(test_count(&bytes, "GCActive"), 3);
    CHECK_EQUAL(test_count(&bytes, "GCEnd"), 1);
  } else {
    CHECK_EQUAL(test_count(&bytes, "GCStart"), 1);
    CHECK_EQUAL(test_count(&bytes, "GCDone"), 1);
  }
}

/* A stop-the-world that began before the trace, and one in it. */
static void stopped_before(gotrace_format format) {
  gotrace_options options;
  start(&options, format);
  gotrace_stw_begin(GOTRACE_STW_GC_MARK_TERM);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  GOTRACE_REGION("work") continue;
  gotrace_stw_end();
  gotrace_stw_begin(GOTRACE_STW_GC_MARK_TERM);
  gotrace_stw_end();
  stop();
}

/* --------------------------------------------------------------------------------------- samples, statistics ---- */

/* A trace that is full leaves a sample behind, and ends with a result. The next trace has neither. */
static void left_over(gotrace_format format) {
  gotrace_options options;
  gotrace_stats stats;
  int i;
  start(&options, format);
  options.write = NULL;
  options.size_limit = 20000;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 20000; i++) gotrace_logf(GOTRACE_NO_TASK, "category", "message %d", i); /* several batches */
  gotrace_cpu_sample(NULL);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_LIMIT_REACHED);
  CHECK(!gotrace_enabled());
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "CPUSample"), 0);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.result, GOTRACE_LIMIT_REACHED);
  start(&options, format);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "message");
  stop();
  CHECK_EQUAL(test_count(&bytes, "CPUSample"), 0);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.result, GOTRACE_OK);
  CHECK_EQUAL(stats.threads, 1);
}

int main(void) {
  size_t i;
  for (i = 0; i < TEST_FORMATS; i++)
    if (test_formats[i] >= GOTRACE_GO_1_11) tables(test_formats[i], false), tables(test_formats[i], true);
  gotrace_thread_begin("main"); /* no worker any more */
  for (i = 0; i < TEST_FORMATS; i++) {
    if (test_formats[i] >= GOTRACE_GO_1_11) before(test_formats[i]), stopped_before(test_formats[i]);
    if (test_formats[i] >= GOTRACE_GO_1_19) left_over(test_formats[i]);
  }
  test_free(&bytes);
  return 0;
}
