/* gotrace_go_destroy ends a goroutine that is not running, in every format and from any thread, and leaves the calling
 * thread's own goroutine and proc unchanged. The traces open, and the destruction takes no time in them. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

static const gotrace_location entry = GOTRACE_NAMED_ENTRY("destroyed");

static gotrace_stats stats_now(void) {
  gotrace_stats stats;
  gotrace_get_stats(&stats);
  return stats;
}

/* Ends the trace and checks that it opens, with `ends` ends of goroutines and no problems except the expected
 * number, `problems`. */
static void finish(test_bytes *bytes, unsigned ends, unsigned problems) {
  gotrace_stats stats;
  bool v2;
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(bytes);
  stats = stats_now();
  v2 = test_is_v2(bytes->data, bytes->size);
  CHECK_EQUAL(stats.kinds[v2 ? GOTRACE_V2_GO_DESTROY : GOTRACE_V1_GO_END], ends);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_DESTROY], problems);
  CHECK_EQUAL(stats.dropped + stats.repaired, problems);
  test_free(bytes);
}

/* Destroying does not change the state of the calling thread and its goroutine. */
static void by_a_goroutine(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *old = gotrace_go_create_blocked(&entry), *ready = gotrace_go_create(&entry), *g, *h;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_proc_start(proc);
  g = gotrace_go_create(&entry);
  gotrace_go_start(g);
  gotrace_go_label("kept");
  if (format >= GOTRACE_GO_1_11) gotrace_region_begin(GOTRACE_NO_TASK, "around");
  if (format >= GOTRACE_GO_1_10) {
    gotrace_stw_begin(GOTRACE_STW_GC_MARK_TERM); /* as when a garbage collector finds them dead */
    gotrace_gc_mark_assist_begin();
  }
  gotrace_go_destroy(old);   /* older than the trace */
  gotrace_go_destroy(ready); /* the same, runnable */
  h = gotrace_go_create(&entry);
  gotrace_go_destroy(h); /* never started */
  CHECK(gotrace_go_self() == g);
  if (format >= GOTRACE_GO_1_10) {
    gotrace_gc_mark_assist_end();
    gotrace_stw_end();
  }
  if (format >= GOTRACE_GO_1_11) gotrace_region_end(GOTRACE_NO_TASK, "around");
  gotrace_go_destroy(h); /* has ended */
  gotrace_go_destroy(g); /* runs */
  gotrace_go_syscall_begin();
  gotrace_proc_stop();
  gotrace_go_syscall_end_blocked(); /* v1: the end of the call is written with the next start */
  gotrace_proc_start(proc);
  gotrace_go_destroy(g);
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  finish(&bytes, 4, 2);
}

/* Starts and ends alternate in the trace; both of a pair have the same time. */
static void check_no_time(const test_bytes *bytes, int pairs) {
  gotrace_decoder *decoder;
  gotrace_event event;
  int64_t started = -1;
  CHECK_EQUAL(test_open_decoder(&decoder, bytes->data, bytes->size, false), GOTRACE_OK);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK) {
    if (strncmp(event.spec->name, "GoStart", 7) == 0) started = event.time;
    if (strcmp(event.spec->name, "GoEnd") != 0 && strcmp(event.spec->name, "GoDestroy") != 0) continue;
    /* Readers move events of one time apart, by a nanosecond each. */
    CHECK(started >= 0 && event.time - started <= 2);
    started = -1;
    pairs--;
  }
  CHECK_EQUAL(pairs, 0);
  gotrace_decoder_close(decoder);
}

/* A thread without a goroutine and proc has a temporary proc. */
static void by_nobody(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_go *waits = gotrace_go_create_blocked(&entry), *ready = gotrace_go_create(&entry), *fresh;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_go_destroy(waits);
  gotrace_go_destroy(ready);
  CHECK(!gotrace__self->proc && !gotrace__self->go);
  fresh = gotrace_go_create(&entry);
  gotrace_go_destroy(fresh);
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  check_no_time(&bytes, 3);
  bytes.size = 0;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  fresh = gotrace_go_create(&entry);
  gotrace_go_destroy(fresh);
  gotrace_thread_end();
  finish(&bytes, 1, 0);
}

/* While tracing is off, destroying frees the record and counts nothing. */
static void while_off(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_go *waits = gotrace_go_create_blocked(&entry), *again;
  gotrace_go_destroy(waits);
  gotrace_go_destroy(waits); /* counted nowhere */
  again = gotrace_go_create_blocked(&entry);
  CHECK(again == waits); /* the record is reused */
  gotrace_go_destroy(again);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "", "");
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(stats_now().goroutines, 1);
  test_free(&bytes);
}

/* A thread's own goroutine is destroyed while it waits. The thread continues as a new goroutine. */
static void a_waiting_thread(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_go *self, *other;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  self = gotrace_go_self();
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_go_destroy(self);
  other = gotrace_go_create(&entry); /* reuses its record */
  gotrace_wait_end();                /* there is no goroutine left to start */
  CHECK(gotrace__self->go == NULL);
  gotrace_go_destroy(other);
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(stats_now().dropped, 1);
  test_free(&bytes);
}

/* Two threads destroy the same goroutines that a third unblocks: each goroutine ends exactly once. */
#define RACES 400
static gotrace_go *raced[RACES];
static pthread_barrier_t barrier;

static void *destroyer(void *argument) {
  int i;
  (void)argument;
  for (i = 0; i < RACES; i++) {
    pthread_barrier_wait(&barrier);
    gotrace_go_destroy(raced[i]);
  }
  return NULL;
}

static void *waker(void *argument) {
  int i;
  (void)argument;
  for (i = 0; i < RACES; i++) {
    pthread_barrier_wait(&barrier);
    gotrace_go_unblock(raced[i]);
  }
  return NULL;
}

static void races(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  pthread_t threads[3];
  gotrace_stats stats;
  int i;
  for (i = 0; i < RACES; i++) CHECK((raced[i] = gotrace_go_create_blocked(&entry)) != NULL);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_barrier_init(&barrier, NULL, 3) == 0);
  for (i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, i < 2 ? destroyer : waker, NULL) == 0);
  for (i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  stats = stats_now();
  /* Each goroutine has one end: if the waker comes first, a destroyer still ends the goroutine. */
  CHECK_EQUAL(format >= GOTRACE_GO_1_22 ? stats.kinds[GOTRACE_V2_GO_DESTROY] : stats.kinds[GOTRACE_V1_GO_END], RACES);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_DESTROY], RACES);
  pthread_barrier_destroy(&barrier);
  test_free(&bytes);
}

/* The next goroutine in a place has neither label nor stack bounds of the one before. */
static void nothing_stays(void) {
  char stack[1];
  gotrace_go *g = gotrace_go_create(&entry), *next;
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_proc_start(proc);
  gotrace_go_start(g);
  gotrace_go_label("of the first");
  gotrace_go_stack_bounds(g, stack, stack + 1);
  gotrace_go_end();
  next = gotrace_go_create(&entry);
  CHECK(next == g);
  CHECK_EQUAL(next->label[0], 0);
  CHECK_EQUAL(next->stack_low | next->stack_high | next->extra, 0);
  gotrace_go_destroy(next);
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
}

int main(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  size_t i;
  nothing_stays();
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  nothing_stays();
  finish(&bytes, 2, 0);
  for (i = 0; i < TEST_FORMATS; i++) {
    by_a_goroutine(test_formats[i]);
    by_nobody(test_formats[i]);
    while_off(test_formats[i]);
    a_waiting_thread(test_formats[i]);
    races(test_formats[i]);
  }
  return 0;
}
