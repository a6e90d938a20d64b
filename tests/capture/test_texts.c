/* Texts with a length (the calls ..._n), the end of the innermost region, and goroutines made by a name or key: what
 * the decoder reads back is what was called. Every text is at the end of a block of memory, without a NUL, so that the
 * address sanitizer detects a read beyond it. */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

static const gotrace_location fiber = GOTRACE_NAMED_ENTRY("fiber");

/* A copy without a NUL. The caller frees it. */
static char *bare(const char *text, size_t size) {
  char *copy = (char *)malloc(size ? size : 1);
  CHECK(copy != NULL);
  memcpy(copy, text, size);
  return copy;
}
#define BARE(variable, text) char *variable = bare(text, strlen(text))

/* What a trace tells, a line for each event of interest. */
typedef struct story {
  char text[4096];
  size_t size;
} story;

static void tell(story *s, const char *what, const char *data, size_t size) {
  CHECK(s->size + size + strlen(what) + 3 < sizeof s->text);
  s->size += (size_t)snprintf(s->text + s->size, sizeof s->text - s->size, "%s %.*s\n", what, (int)size, data);
}

static void tell_string(story *s, const gotrace_decoder *d, const char *what, uint64_t id) {
  const char *data = "";
  size_t size = 0;
  (void)gotrace_decoder_string(d, id, &data, &size);
  tell(s, what, data, size);
}

static void read_back(const test_bytes *bytes, story *s) {
  gotrace_decoder *d;
  gotrace_event event;
  gotrace_result result = test_open_decoder(&d, bytes->data, bytes->size, false);
  s->size = 0;
  s->text[0] = 0;
  while (result == GOTRACE_OK && (result = gotrace_decoder_next(d, &event)) == GOTRACE_OK) {
    const char *name = event.spec->name;
    gotrace_frame frame;
    if (strcmp(name, "UserTaskBegin") == 0) {
      tell_string(s, d, "task", event.args[2]);
    } else if (strncmp(name, "UserRegion", 10) == 0) {
      tell_string(s, d, name[10] == 'E' ? "end" : "begin", event.args[1]);
    } else if (strcmp(name, "UserLog") == 0) {
      tell_string(s, d, "category", event.args[1]);
      tell_string(s, d, "message", event.args[2]);
    } else if (strcmp(name, "GoLabel") == 0) {
      tell_string(s, d, "label", event.args[0]);
    } else if (strncmp(name, "GoCreate", 8) == 0 && gotrace_decoder_stack(d, event.args[1], &frame, 1) == 1 &&
               frame.function_size >= 4 && memcmp(frame.function, "made", 4) == 0) {
      tell(s, "create", frame.function, frame.function_size);
    }
  }
  CHECK_EQUAL(result, GOTRACE_END_OF_TRACE);
  gotrace_decoder_close(d);
}

static void check_story(const test_bytes *bytes, const char *expected) {
  static story s;
  read_back(bytes, &s);
  if (strcmp(s.text, expected) == 0) return;
  fprintf(stderr, "format %d:\n%sexpected:\n%s", (int)test_format_of(bytes), s.text, expected);
  exit(1);
}

static void start(gotrace_format format, test_bytes *bytes) {
  gotrace_options options = test_options(format, bytes);
  bytes->size = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
}

static gotrace_stats stop(test_bytes *bytes) {
  gotrace_stats stats;
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_OPENS(bytes);
  return stats;
}

static void texts(gotrace_format format, test_bytes *bytes) {
  BARE(name, "name");
  BARE(other, "inside");
  BARE(category, "kind");
  BARE(message, "hello");
  BARE(label, "tag");
  BARE(made, "made here");
  char expected[400];
  gotrace_task task;
  gotrace_go *go;
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_stats stats;
  gotrace_proc_start(proc);
  start(format, bytes);
  go = gotrace_go_create_named_n(made, 9);
  gotrace_go_start(go);
  task = gotrace_task_begin_n(name, 4, GOTRACE_NO_TASK);
  gotrace_region_begin_n(task, name, 4);
  gotrace_region_begin_n(GOTRACE_NO_TASK, other, 6);
  gotrace_region_begin(GOTRACE_NO_TASK, "constant");
  gotrace_log_n(task, category, 4, message, 5);
  gotrace_log_n(task, category, 0, message, 2);
  gotrace_log_n(task, "whole", SIZE_MAX, "text", SIZE_MAX);
  gotrace_region_end_innermost();
  gotrace_region_end_n(GOTRACE_NO_TASK, other, 6);
  gotrace_region_end_innermost(); /* within a task */
  gotrace_task_end(task);
  gotrace_go_label_n(label, 3);
  gotrace_go_label_n("ta\0g", 4); /* a NUL ends it */
  gotrace_go_end();
  gotrace_go_destroy(gotrace_go_create_named("made 2"));
  gotrace_go_destroy(gotrace_go_create_named_n("made\0x", 6));
  gotrace_go_destroy(gotrace_go_create_named(NULL));
  stats = stop(bytes);
  CHECK_EQUAL(stats.dropped + stats.repaired + stats.left_out, 0);
  snprintf(expected, sizeof expected, "%s",
           "create made here\ntask name\nbegin name\nbegin inside\nbegin constant\ncategory kind\nmessage hello\n"
           "category \nmessage he\ncategory whole\nmessage text\nend constant\nend inside\nend name\n");
  if (format >= GOTRACE_GO_1_22) strcat(expected, "label tag\nlabel ta\n");
  strcat(expected, "create made 2\ncreate made\n");
  check_story(bytes, expected);
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  free(name), free(other), free(category), free(message), free(label), free(made);
}

/* A category that is a constant is looked up once a session, whatever later calls with its site pass. */
static void constant_category(gotrace_format format, test_bytes *bytes) {
  BARE(other, "other");
  gotrace_site *site = GOTRACE_HERE;
  int i, start_again;
  for (start_again = 0; start_again < 2; start_again++) {
    start(format, bytes);
    for (i = 0; i < 2; i++) {
      gotrace_log_category_at(site, GOTRACE_NO_TASK, i ? "unseen" : "first", 1, "constant");
      gotrace_log_category_at(site, GOTRACE_NO_TASK, i ? "second" : NULL, 0, NULL);
      gotrace_log_category_at(NULL, GOTRACE_NO_TASK, "without a site", 1, "");
      gotrace_log(GOTRACE_NO_TASK, i ? "by macro" : "", "text");
      gotrace_log_n(GOTRACE_NO_TASK, other, 5, other, 5);
    }
    stop(bytes);
    check_story(bytes, "category first\nmessage constant\ncategory \nmessage \ncategory without a site\nmessage \n"
                       "category \nmessage text\ncategory other\nmessage other\n"
                       "category first\nmessage constant\ncategory second\nmessage \n"
                       "category without a site\nmessage \ncategory by macro\nmessage text\n"
                       "category other\nmessage other\n");
  }
  gotrace_thread_end();
  free(other);
}

/* Each text that is too long is counted, also one that is not constant, as the name of a region. */
static void truncated(gotrace_format format, test_bytes *bytes) {
  static char longer[GOTRACE_MAX_STRING_SIZE + 2];
  memset(longer, 'x', sizeof longer - 1);
  start(format, bytes);
  gotrace_region_begin_at(NULL, GOTRACE_NO_TASK, longer, 0);
  gotrace_region_end_at(NULL, GOTRACE_NO_TASK, longer, 0);
  gotrace_task_end(gotrace_task_begin_at(NULL, longer, 0, GOTRACE_NO_TASK));
  gotrace_log_at(NULL, GOTRACE_NO_TASK, longer, "short");
  gotrace_log_at(NULL, GOTRACE_NO_TASK, "short", longer);
  gotrace_count_at(NULL, longer, 1);
  gotrace_log_at(NULL, GOTRACE_NO_TASK, longer + 1, longer + 1); /* just fit */
  CHECK_EQUAL(stop(bytes).problems[GOTRACE_PROBLEM_STRING_CUT], 6);
}

/* Names of a goroutine and a thread, which later traces have. */
static void names(test_bytes *bytes) {
  BARE(name, "made anew");
  BARE(thread, "made of a thread");
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *go = gotrace_go_create(&fiber);
  story s;
  gotrace_go_rename_n(go, name, 9);
  gotrace_thread_rename_n(thread, 16);
  start(GOTRACE_GO_1_11, bytes);
  gotrace_log(GOTRACE_NO_TASK, "kind", "text");
  gotrace_thread_end();
  gotrace_proc_start(proc);
  gotrace_go_start(go);
  gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  stop(bytes);
  read_back(bytes, &s);
  CHECK(strstr(s.text, "create made anew\n") && strstr(s.text, "create made of a thread\n"));
  free(name), free(thread);
}

/* Ends of regions that the trace does not know: older than it, beyond the outermost. */
static void innermost_of_none(gotrace_format format, test_bytes *bytes) {
  gotrace_stats stats;
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_thread_begin("thread");
  start(format, bytes);
  gotrace_region_end_innermost();
  gotrace_region_begin(GOTRACE_NO_TASK, "region");
  gotrace_region_end_innermost();
  gotrace_thread_end();
  gotrace_proc_start(proc);
  gotrace_go_start(gotrace_go_create(&fiber));
  gotrace_region_end_innermost();
  gotrace_go_end();
  gotrace_proc_stop();
  stats = stop(bytes);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_REGION_OLDER], 1);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_REGION_NONE], 1);
  CHECK_EQUAL(stats.dropped + stats.repaired + stats.left_out, 2);
  check_story(bytes, "begin region\nend region\n");
  gotrace_proc_destroy(proc);
}

/* Keys: a key has the same goroutine until it is freed, or until the goroutine ends; more keys than buckets. */
static void keys(test_bytes *bytes) {
  enum { KEYS = 1000 };
  static gotrace_go *gos[KEYS];
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_stats stats;
  uint64_t first;
  int i, on;
  for (on = 0; on < 2; on++) {
    if (on) start(GOTRACE_GO_1_23, bytes);
    gotrace_proc_start(proc);
    for (i = 0; i < KEYS; i++) gos[i] = gotrace_go_keyed((uint64_t)i << 32, &fiber);
    for (i = 0; i < KEYS; i++) CHECK(gos[i] && gotrace_go_keyed((uint64_t)i << 32, NULL) == gos[i]);
    gotrace_go_start(gotrace_go_keyed(0, NULL));
    gotrace_go_block(GOTRACE_BLOCK_SYNC);
    gotrace_go_keyed_free(0); /* of a blocked one */
    first = gotrace_go_id(gos[1]);
    gotrace_go_start(gos[1]);
    gotrace_go_end();
    gos[1] = gotrace_go_keyed_blocked((uint64_t)1 << 32, &fiber); /* the key is used again */
    CHECK(gotrace_go_id(gos[1]) != first);
    gotrace_go_unblock(gos[1]);
    gotrace_go_start(gos[1]);
    gotrace_go_end();
    for (i = 1; i < KEYS; i++) gotrace_go_keyed_free((uint64_t)i << 32);
    gotrace_go_keyed_free(0); /* it has none */
    gotrace_proc_stop();
  }
  stats = stop(bytes);
  CHECK_EQUAL(stats.goroutines, KEYS + 1);
  CHECK_EQUAL(stats.dropped + stats.repaired + stats.left_out, 0);
  gotrace_proc_destroy(proc);
}

/* Threads that look up, use and free the same keys, in turn. */
enum { SHARED = 16 };
static void *use_keys(void *argument) {
  uint64_t state = (uint64_t)(uintptr_t)argument;
  long i, n = test_scaled(4000);
  for (i = 0; i < n; i++) {
    uint64_t key = test_random(&state) % SHARED;
    gotrace_go *go = gotrace_go_keyed(key, &fiber);
    CHECK(go != NULL && gotrace_go_id(go) != 0);
    if (test_random(&state) % 8 == 0) gotrace_go_keyed_free(key);
  }
  return NULL;
}
static void shared_keys(test_bytes *bytes) {
  pthread_t threads[3];
  gotrace_stats stats;
  uint64_t i;
  start(GOTRACE_GO_1_23, bytes);
  for (i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, use_keys, (void *)(uintptr_t)(i + 1)) == 0);
  for (i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  for (i = 0; i < SHARED; i++) gotrace_go_keyed_free(i);
  stats = stop(bytes);
  CHECK_EQUAL(stats.dropped - stats.problems[GOTRACE_PROBLEM_DESTROY], 0);
}

int main(void) {
  test_bytes bytes = {NULL, 0, 0};
  size_t i;
  for (i = 0; i < TEST_FORMATS; i++)
    if (test_formats[i] >= GOTRACE_GO_1_11) {
      texts(test_formats[i], &bytes);
      innermost_of_none(test_formats[i], &bytes);
      constant_category(test_formats[i], &bytes);
      truncated(test_formats[i], &bytes);
    }
  names(&bytes);
  keys(&bytes);
  shared_keys(&bytes);
  test_free(&bytes);
  return 0;
}
