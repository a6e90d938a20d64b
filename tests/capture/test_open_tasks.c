/* Tasks that are open when a trace starts appear in it: one of each of many threads, a few of each, and the latest of a
 * thread that has more than are kept; with the first 43 bytes of their names. */
#define _GNU_SOURCE /* barriers */
#include "gotrace.h"
#include "../test_collect.h"

#include <pthread.h>

#define KEPT 4096 /* GOTRACE__TASKS */

static pthread_barrier_t barrier;
static int tasks_each;

static void *hold_tasks(void *unused) {
  gotrace_task tasks[8];
  int i;
  for (i = 0; i < tasks_each; i++) tasks[i] = gotrace_task_begin("open", GOTRACE_NO_TASK);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  for (i = 0; i < tasks_each; i++) gotrace_task_end(tasks[i]);
  return unused;
}

/* Has `threads` threads with `each` open tasks when the trace starts. Returns how many of these begin in the trace. */
static uint64_t traced(gotrace_format format, int threads, int each) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  pthread_t *ids = malloc((size_t)threads * sizeof *ids);
  uint64_t begun;
  int i;
  CHECK(ids != NULL);
  tasks_each = each;
  CHECK(pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1) == 0);
  for (i = 0; i < threads; i++) CHECK(pthread_create(&ids[i], NULL, hold_tasks, NULL) == 0);
  pthread_barrier_wait(&barrier);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "text");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  pthread_barrier_wait(&barrier);
  for (i = 0; i < threads; i++) CHECK(pthread_join(ids[i], NULL) == 0);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
  CHECK_OPENS(&bytes);
  begun = test_count(&bytes, format < GOTRACE_GO_1_22 ? "UserTaskCreate" : "UserTaskBegin");
  test_free(&bytes);
  free(ids);
  return begun;
}

/* The latest tasks of one thread are kept, whichever of them have ended since. */
static void latest(gotrace_format format) {
  static gotrace_task tasks[3 * KEPT];
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  const char *begin = format < GOTRACE_GO_1_22 ? "UserTaskCreate" : "UserTaskBegin";
  int i;
  for (i = 0; i < 3 * KEPT; i++) tasks[i] = gotrace_task_begin(i < 2 * KEPT ? "old" : "new", GOTRACE_NO_TASK);
  for (i = 0; i < 2 * KEPT; i++) gotrace_task_end(tasks[i]);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "text");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, begin), KEPT);
  for (i = 2 * KEPT; i < 3 * KEPT; i++) gotrace_task_end(tasks[i]);
  bytes.size = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "text");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(test_count(&bytes, begin), 0);
  test_free(&bytes);
}

/* Names of any length, begun while tracing is off and while it is on. */
static void names(void) {
  enum { LENGTHS = 60, KEPT_BYTES = 43 };
  static const char text[LENGTHS + 1] = "A task's name, \xc3\xa9 and \xff too: digits 0123456789, end..........";
  gotrace_task tasks[2 * LENGTHS];
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  gotrace_decoder *decoder;
  gotrace_event event;
  gotrace_result result;
  bool found[2 * LENGTHS] = {false};
  size_t i;
  for (i = 0; i < 2 * LENGTHS; i++) {
    if (i == LENGTHS) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    tasks[i] = gotrace_task_begin_n(text, i % LENGTHS, GOTRACE_NO_TASK);
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  bytes.size = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "text");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  result = test_open_decoder(&decoder, bytes.data, bytes.size, false);
  while (result == GOTRACE_OK && (result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK) {
    const char *name = "";
    size_t size = 0, length;
    if (strcmp(event.spec->name, "UserTaskBegin") != 0) continue;
    for (i = 0; i < 2 * LENGTHS && tasks[i].id != event.args[0]; i++) continue;
    CHECK(i < 2 * LENGTHS && !found[i]);
    found[i] = true;
    length = i % LENGTHS < KEPT_BYTES ? i % LENGTHS : KEPT_BYTES;
    (void)gotrace_decoder_string(decoder, event.args[2], &name, &size);
    CHECK_EQUAL(size, length);
    CHECK(memcmp(name, text, length) == 0);
  }
  CHECK_EQUAL(result, GOTRACE_END_OF_TRACE);
  gotrace_decoder_close(decoder);
  for (i = 0; i < 2 * LENGTHS; i++) {
    CHECK(found[i]);
    gotrace_task_end(tasks[i]);
  }
  test_free(&bytes);
}

int main(void) {
  static const gotrace_format formats[] = {GOTRACE_GO_1_21, GOTRACE_GO_1_23};
  size_t i;
  for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    latest(formats[i]);
    CHECK_EQUAL(traced(formats[i], 17, 1), 17);
    CHECK_EQUAL(traced(formats[i], 200, 1), 200);
    CHECK_EQUAL(traced(formats[i], 64, 4), 256);
    CHECK_EQUAL(traced(formats[i], 2, 8), 16);
  }
  names();
  return 0;
}
