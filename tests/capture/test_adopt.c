/* Threads that are goroutines created by their parents; names of threads and goroutines that change or are missing. Go
 * takes a goroutine with an empty name, or one that begins with "runtime.", for its runtime's own and hides it. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>
#include <sys/wait.h>

static void *child_main(void *go) {
  gotrace_log(GOTRACE_NO_TASK, "early", "as a goroutine that it will not stay"); /* as from a traced allocator */
  gotrace_thread_begin_as(go);
  CHECK(gotrace_go_self() == (gotrace_go *)go);
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  return NULL;
}

/* How a goroutine begins in a trace: which goroutine creates it, and its name. */
typedef struct beginning {
  int64_t parent;
  bool seen, ended;
  char name[64];
} beginning;

static void name_of(const gotrace_decoder *decoder, uint64_t stack, char *name, size_t size) {
  gotrace_frame frames[GOTRACE_STACK_SIZE];
  size_t count = gotrace_decoder_stack(decoder, stack, frames, GOTRACE_STACK_SIZE);
  *name = 0;
  if (count) snprintf(name, size, "%.*s", (int)frames[count - 1].function_size, frames[count - 1].function);
}

/* No goroutine in the trace may look like one of Go's runtime. */
static beginning look_for(const test_bytes *bytes, uint64_t id) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder = NULL;
  gotrace_event event;
  beginning found;
  char name[64];
  memset(&found, 0, sizeof found);
  memset(&options, 0, sizeof options);
  options.data = bytes->data;
  options.size = bytes->size;
  CHECK_EQUAL(gotrace_decoder_open(&decoder, &options), GOTRACE_OK);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) {
    bool made = strncmp(event.spec->name, "GoCreate", 8) == 0 && event.arg_count >= 2;
    bool told = strcmp(event.spec->name, "GoStatusStack") == 0;
    if (event.g == (int64_t)id &&
        (strcmp(event.spec->name, "GoEnd") == 0 || strcmp(event.spec->name, "GoDestroy") == 0))
      found.ended = true;
    if (!made && !told) continue;
    name_of(decoder, made ? event.args[1] : event.stack, name, sizeof name);
    CHECK(name[0] && strncmp(name, "runtime.", 8) != 0);
    if (event.args[0] != id || found.seen) continue;
    found.seen = true;
    found.parent = event.g;
    strcpy(found.name, name);
  }
  CHECK_EQUAL(gotrace_decoder_error(decoder)->result, GOTRACE_OK);
  gotrace_decoder_close(decoder);
  return found;
}

static void adopted(gotrace_format format) {
  static const gotrace_location entry = GOTRACE_ENTRY(child_main);
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_go *child, *never;
  gotrace_stats stats;
  uint64_t id, parent;
  pthread_t thread;
  beginning found;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  child = gotrace_thread_create(&entry);
  never = gotrace_thread_create(&entry); /* its thread could not be started */
  gotrace_go_destroy(never);
  id = gotrace_go_id(child);
  parent = gotrace_go_id(gotrace_go_self());
  CHECK(pthread_create(&thread, NULL, child_main, child) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired, 0);
  found = look_for(&bytes, id);
  CHECK(found.seen && found.ended && strcmp(found.name, "child_main") == 0);
  CHECK_EQUAL(found.parent, parent); /* where the arrow begins */
  test_free(&bytes);
}

/* Renaming: a label in the current trace, the goroutine's name in the next one. */
static bool mentions(const test_bytes *bytes, const char *text) {
  size_t i, size = strlen(text);
  for (i = 0; i + size <= bytes->size; i++)
    if (memcmp(bytes->data + i, text, size) == 0) return true;
  return false;
}

static void renamed(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  char name[300], filler[201];
  uint64_t id;
  int i;
  gotrace_thread_rename("before it is one");
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  id = gotrace_go_id(gotrace_go_self());
  gotrace_thread_rename("its second name");
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK(strcmp(look_for(&bytes, id).name, "before it is one") == 0);
  CHECK(mentions(&bytes, "its second name"));
  bytes.size = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  if (format != GOTRACE_GO_1_22) CHECK(strcmp(look_for(&bytes, id).name, "its second name") == 0);
  bytes.size = 0;
  /* The thread's next goroutine has its name, too. */
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  CHECK(gotrace_go_id(gotrace_go_self()) != id);
  id = gotrace_go_id(gotrace_go_self());
  gotrace_wait_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK(strcmp(look_for(&bytes, id).name, "its second name") == 0);
  bytes.size = 0;
  /* When no more names can be stored, labels still change. */
  memset(filler, 'n', 200);
  filler[200] = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < GOTRACE__NAMES + 10; i++) {
    snprintf(name, sizeof name, "name %d %s", i, filler);
    gotrace_thread_rename(name);
  }
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  gotrace_thread_rename("");
  CHECK_EQUAL(gotrace__self->own_go->label[0], 0);
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK(mentions(&bytes, "name 1033 nnn"));
  CHECK_OPENS(&bytes);
  test_free(&bytes);
}

/* Goroutines whose entries have no name, some of them older than the trace. */
static bool knows_nothing(void *context, gotrace_location *place) {
  (void)context;
  place->function = ""; /* an empty name counts as none */
  return true;
}

static void nameless(gotrace_format format, gotrace_stacks stacks) {
  static const gotrace_location entries[] = {{0, NULL, NULL, 0},  {0, "", NULL, 0},   {0, "", "", 0},
                                             {0, NULL, "f.c", 3}, {1, NULL, NULL, 0}, {2, "", "f.c", 4}};
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *old[7];
  size_t i;
  gotrace_thread_rename("somebody"); /* no room for names is left: it becomes "thread" */
  options.symbolize = knows_nothing;
  options.stacks = stacks;
  for (i = 0; i < 7; i++) old[i] = gotrace_go_create(i < 6 ? &entries[i] : NULL);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_proc_start(proc);
  for (i = 0; i < 7; i++) {
    gotrace_go *g = gotrace_go_create(i < 6 ? &entries[i] : NULL);
    gotrace_go_start(g);
    gotrace_go_end();
    gotrace_go_start(old[i]);
    gotrace_go_stop_at(NULL, GOTRACE_STOP_YIELD); /* without a place */
    gotrace_go_start(old[i]);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  look_for(&bytes, 0);
  if (format == GOTRACE_GO_1_22) { /* names an older goroutine by the stack of its first stop */
    gotrace_decoder_options reading;
    gotrace_decoder *decoder = NULL;
    gotrace_event event;
    char name[64];
    memset(&reading, 0, sizeof reading);
    reading.data = bytes.data;
    reading.size = bytes.size;
    CHECK_EQUAL(gotrace_decoder_open(&decoder, &reading), GOTRACE_OK);
    while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) {
      if (strcmp(event.spec->name, "GoStop") != 0) continue;
      name_of(decoder, event.stack, name, sizeof name);
      CHECK(name[0]);
    }
    gotrace_decoder_close(decoder);
  }
  test_free(&bytes);
}

int main(void) {
  size_t i;
#if defined(__linux__)
  pthread_setname_np(pthread_self(), "runtime.fake");
#endif
  for (i = 0; i < TEST_FORMATS; i++) {
    if (fork() == 0) { /* in a child, since the memory for names is never freed */
      adopted(test_formats[i]);
      renamed(test_formats[i]);
      nameless(test_formats[i], GOTRACE_STACKS_CALL_SITE);
      nameless(test_formats[i], GOTRACE_STACKS_NONE);
      exit(0);
    } else {
      int status;
      CHECK(wait(&status) > 0);
      CHECK_EQUAL(status, 0);
    }
  }
  return 0;
}
