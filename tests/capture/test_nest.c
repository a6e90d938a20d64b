/* Nested running: what the trace shows of goroutines that a thread sets aside while it runs others, of waits inside
 * waits, and of misuse. In each format, what the decoder reads is compared with what was called. */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

static const gotrace_location entries[4] = {GOTRACE_NAMED_ENTRY("outer"), GOTRACE_NAMED_ENTRY("middle"),
                                            GOTRACE_NAMED_ENTRY("inner"), GOTRACE_NAMED_ENTRY("other")};
static int keys[2];

/* What a goroutine does in the trace: 's'tart, s't'op, 'b'lock, 'u'nblock, 'e'nd, 'l'og, with a letter for it: "ps us".
 * The names of v1's events differ by their reasons. */
typedef struct seen {
  uint64_t ids[4];
  char text[512];
} seen;

static void see(seen *s, char what, uint64_t id) {
  size_t i, size = strlen(s->text);
  for (i = 0; i < 4 && s->ids[i] != id; i++) continue;
  if (i == 4) return;
  CHECK(size + 4 < sizeof s->text);
  snprintf(s->text + size, 4, "%s%c%c", size ? " " : "", what, "omix"[i]);
}

static void check_story(const test_bytes *bytes, seen *s, const char *expected) {
  gotrace_decoder *decoder;
  gotrace_event event;
  gotrace_result result = test_open_decoder(&decoder, bytes->data, bytes->size, false);
  s->text[0] = 0;
  while (result == GOTRACE_OK && (result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK) {
    const char *name = event.spec->name;
    uint64_t g = (uint64_t)event.g;
    if (strncmp(name, "GoUnblock", 9) == 0) see(s, 'u', event.args[0]);
    else if (strncmp(name, "GoStart", 7) == 0) see(s, 's', event.args[0]);
    else if (strcmp(name, "GoStop") == 0 || strcmp(name, "GoSched") == 0 || strcmp(name, "GoPreempt") == 0)
      see(s, 't', g);
    else if (strncmp(name, "GoBlock", 7) == 0) see(s, 'b', g);
    else if (strcmp(name, "GoEnd") == 0 || strcmp(name, "GoDestroy") == 0) see(s, 'e', g);
    else if (strcmp(name, "UserLog") == 0) see(s, 'l', g);
  }
  CHECK_EQUAL(result, GOTRACE_END_OF_TRACE);
  gotrace_decoder_close(decoder);
  if (strcmp(s->text, expected) == 0) return;
  fprintf(stderr, "format %d: %s\nexpected:    %s\n", (int)test_format_of(bytes), s->text, expected);
  exit(1);
}

static void log_here(gotrace_format format) {
  if (format >= GOTRACE_GO_1_11) gotrace_log(GOTRACE_NO_TASK, "kind", "text");
}

/* Ends the trace, keeps it for Go, and compares it with the story, in which each " l?" is left out if the format has no
 * logs. */
static void finish(gotrace_format format, test_bytes *bytes, seen *s, const char *name, const char *story) {
  char expected[512];
  const char *from;
  size_t size = 0;
  FILE *file;
  gotrace_stats stats;
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired + stats.left_out, 0);
  for (from = story; *from;) {
    if (format < GOTRACE_GO_1_11 && strncmp(from, " l", 2) == 0) from += 3;
    else expected[size++] = *from++;
  }
  expected[size] = 0;
  check_story(bytes, s, expected);
  file = fopen(test_trace_path(name, format), "wb");
  CHECK(file && fwrite(bytes->data, 1, bytes->size, file) == bytes->size && fclose(file) == 0);
  test_free(bytes);
}

/* The outermost goroutine: of a plain thread, or one that runs on a proc. */
static gotrace_go *begin_outermost(gotrace_proc *proc) {
  gotrace_go *go;
  if (!proc) return gotrace_go_self();
  gotrace_proc_start(proc);
  go = gotrace_go_create(&entries[0]);
  gotrace_go_start(go);
  return go;
}
static void end_outermost(gotrace_proc *proc) {
  if (!proc) {
    gotrace_thread_end();
    return;
  }
  gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
}

/* A task that waits on an address runs another one, which waits and runs a third. `plain`: the outermost is a plain
 * thread. `late`: the trace begins in the middle. `woken`: the innermost wakes the outermost. */
static void waits(gotrace_format format, bool plain, bool late, bool woken) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_proc *proc = plain ? NULL : gotrace_proc_create();
  gotrace_go *go[3], *outer, *middle;
  seen s = {{0}, ""};
  size_t i;
  if (!late) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  go[0] = begin_outermost(proc);
  go[1] = gotrace_go_create(&entries[1]);
  go[2] = gotrace_go_create(&entries[2]);
  for (i = 0; i < 3; i++) s.ids[i] = gotrace_go_id(go[i]);
  gotrace_wait_on(&keys[0], GOTRACE_BLOCK_SYNC);
  CHECK(gotrace_go_self() == go[0]);
  outer = gotrace_nest_begin(go[1]);
  CHECK(outer == go[0] && gotrace_go_self() == go[1]);
  gotrace_wait_on(&keys[1], GOTRACE_BLOCK_COND_WAIT);
  middle = gotrace_nest_begin(NULL);
  CHECK(middle == go[1] && gotrace_go_self() == NULL);
  if (late) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_go_start(go[2]);
  log_here(format);
  if (format >= GOTRACE_GO_1_22) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  CHECK_EQUAL(gotrace_wake(&keys[0], woken), woken);
  CHECK_EQUAL(gotrace_wake(&keys[1], 1), 1);
  gotrace_go_end();
  gotrace_nest_end(middle);
  CHECK(gotrace_go_self() == go[1]); /* it still waits */
  gotrace_wait_end();
  log_here(format);
  gotrace_go_end();
  gotrace_nest_end(outer);
  gotrace_wait_end();
  log_here(format);
  end_outermost(proc);
  finish(format, &bytes, &s,
         late    ? "nest_late"
         : plain ? "nest_plain"
                 : "nest",
         late    ? woken ? "si li uo um ei sm lm em so lo eo" : "si li um ei sm lm em uo so lo eo"
         : woken ? "so bo sm bm si li uo um ei sm lm em so lo eo"
                 : "so bo sm bm si li um ei sm lm em uo so lo eo");
}

/* Goroutines that run are set aside, one in another. */
static void runs(gotrace_format format, bool plain, bool late) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_proc *proc = plain ? NULL : gotrace_proc_create();
  gotrace_go *go[3], *outer, *middle;
  seen s = {{0}, ""};
  size_t i;
  if (!late) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  go[0] = begin_outermost(proc);
  go[1] = gotrace_go_create(&entries[1]);
  go[2] = gotrace_go_create(&entries[2]);
  for (i = 0; i < 3; i++) s.ids[i] = gotrace_go_id(go[i]);
  outer = gotrace_nest_begin(go[1]);
  middle = gotrace_nest_begin(go[2]);
  CHECK(outer == go[0] && middle == go[1] && gotrace_go_self() == go[2]);
  if (late) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  log_here(format);
  gotrace_go_block(GOTRACE_BLOCK_SYNC); /* instead of an end: another thread will run it */
  gotrace_nest_end(middle);
  log_here(format);
  CHECK(gotrace_go_self() == go[1]);
  gotrace_go_end();
  gotrace_nest_end(outer);
  gotrace_go_destroy(go[2]);
  log_here(format);
  end_outermost(proc);
  /* v1 shows what runs already by a start. */
  finish(format, &bytes, &s, plain ? "nest_runs_plain" : "nest_runs",
         !late                      ? "so to sm tm si li bi sm lm em so ui to si ei so lo eo"
         : format < GOTRACE_GO_1_22 ? "si li bi sm lm em so ui to si ei so lo eo"
                                    : "li bi sm lm em so ui to si ei so lo eo");
}

/* A worker that runs nothing nests too: for one who helps from the scheduler's own stack. */
static void nothing(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *go;
  seen s = {{0}, ""};
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(gotrace_proc_self() == NULL);
  gotrace_proc_start(proc);
  CHECK(gotrace_proc_self() == proc);
  go = gotrace_go_create(&entries[0]);
  s.ids[0] = gotrace_go_id(go);
  CHECK(gotrace_nest_begin(NULL) == NULL && gotrace_nest_begin(go) == NULL);
  gotrace_go_end();
  gotrace_nest_end(NULL);
  gotrace_nest_end(NULL);
  gotrace_proc_stop();
  CHECK(gotrace_proc_self() == NULL);
  gotrace_proc_destroy(proc);
  finish(format, &bytes, &s, "nest_nothing", "so eo");
}

/* As deep as a recursive program may go. */
static void deep(gotrace_format format, unsigned levels) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_stats stats;
  gotrace_go **outer = calloc(levels, sizeof *outer);
  unsigned i;
  CHECK(outer != NULL);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(gotrace_go_self() != NULL);
  for (i = 0; i < levels; i++) {
    if (i % 2) gotrace_wait_on(&keys[0], GOTRACE_BLOCK_SYNC);
    outer[i] = gotrace_nest_begin(gotrace_go_create(&entries[i % 4]));
  }
  while (i--) {
    gotrace_go_end();
    gotrace_nest_end(outer[i]);
    if (i % 2) gotrace_wait_end();
  }
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired + stats.left_out == 0, levels <= 16384);
  /* Beyond that, half of them have neither a wait nor nested running. */
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NEST_DEPTH], levels > 16384 ? (levels - 16384) / 2 * 3 : 0);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
  free(outer);
}

/* Misuse: each is counted, and the trace opens. */
static void *ends_inside(void *argument) {
  gotrace_nest_begin((gotrace_go *)argument);
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_nest_begin(NULL);
  return NULL;
}

static void *ends_outer(void *argument) {
  gotrace_nest_end((gotrace_go *)argument);
  return NULL;
}

static void misuse(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_go *self, *go, *outer, *middle;
  gotrace_stats stats;
  pthread_t thread;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_nest_end(NULL); /* no begin */
  self = gotrace_go_self();
  gotrace_nest_end(self);
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC); /* a wait is no nested running */
  gotrace_nest_end(self);
  gotrace_wait_end();
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NEST_NONE], 3);
  outer = gotrace_nest_begin(gotrace_go_create(&entries[1]));
  middle = gotrace_nest_begin(gotrace_go_create(&entries[2]));
  gotrace_nest_end(outer); /* the inner one has no end, and its goroutine still runs */
  gotrace_nest_end(middle);
  CHECK(gotrace_go_self() == self);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NEST_OPEN], 1);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_START_OVER], 1);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NEST_NONE], 4);
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC); /* the wait ends while others run inside it */
  gotrace_nest_begin(gotrace_go_create(&entries[1]));
  gotrace_wait_end();
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NEST_OPEN], 2);
  outer = gotrace_nest_begin(self); /* itself */
  gotrace_nest_end(outer);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_START_RUNNING], 1);
  go = gotrace_go_create(&entries[3]); /* the outer goroutine is destroyed meanwhile */
  gotrace_go_start(go);
  outer = gotrace_nest_begin(NULL);
  CHECK(outer == go);
  gotrace_go_destroy(go);
  gotrace_nest_end(outer);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_START_DEAD], 1);
  gotrace_go_start(self);
  gotrace_go_syscall_begin(); /* in a system call */
  outer = gotrace_nest_begin(NULL);
  gotrace_nest_end(outer);
  gotrace_go_syscall_end();
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_SYSCALL_OPEN], 1);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_SYSCALL_NONE], 1);
  go = gotrace_go_create(&entries[3]); /* a thread ends inside, and one ends what another has begun */
  CHECK(pthread_create(&thread, NULL, ends_inside, go) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  outer = gotrace_nest_begin(NULL);
  CHECK(pthread_create(&thread, NULL, ends_outer, outer) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  gotrace_nest_end(outer);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NEST_OPEN], 3);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NEST_NONE], 5);
  gotrace_nest_begin(gotrace_go_create(&entries[1])); /* the trace and the thread end in the middle */
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  gotrace_thread_end();
  test_free(&bytes);
}

/* Goroutines that the trace lacks, outside and inside: they are no misuse, and end no other's wait. */
static void lacking(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *go, *outer, *self;
  gotrace_stats stats;
  int i;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_proc_start(proc);
  gotrace_go_start(NULL);
  log_here(format);
  outer = gotrace_nest_begin(gotrace_go_create(&entries[0]));
  CHECK(!outer);
  gotrace_go_end();
  gotrace_nest_end(outer);
  log_here(format);
  gotrace_go_end();
  go = gotrace_go_create(&entries[1]);
  gotrace_go_start(go);
  gotrace_wait_on(&keys[0], GOTRACE_BLOCK_SYNC);
  outer = gotrace_nest_begin(NULL);
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  CHECK(!gotrace_go_self());
  gotrace_go_end();
  gotrace_nest_end(outer);
  CHECK_EQUAL(gotrace_wake(&keys[0], 1), 1);
  gotrace_wait_end();
  CHECK(gotrace_go_self() == go);
  log_here(format);
  gotrace_go_end();
  gotrace_proc_stop();
  self = gotrace_go_self(); /* the thread is a goroutine, which gives way to one that the trace lacks */
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  gotrace_go_start(NULL);
  log_here(format);
  gotrace_go_end();
  gotrace_go_start(self);
  CHECK(gotrace_go_self() == self);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++)
    if (i != GOTRACE_PROBLEM_FORMAT_LACKS) CHECK_EQUAL(stats.problems[i], 0);
  CHECK_OPENS(&bytes);
  gotrace_thread_end();
  gotrace_proc_destroy(proc);
  test_free(&bytes);
}

int main(void) {
  size_t i;
  unsigned k;
  for (i = 0; i < TEST_FORMATS; i++) {
    gotrace_format format = test_formats[i];
    for (k = 0; k < 8; k++) waits(format, k & 1, k & 2, k & 4);
    for (k = 0; k < 4; k++) runs(format, k & 1, k & 2);
    nothing(format);
    misuse(format);
    lacking(format);
  }
  deep(GOTRACE_GO_1_21, 1000);
  deep(GOTRACE_GO_1_23, 16384);
  deep(GOTRACE_GO_1_26, 16400);
  return 0;
}
