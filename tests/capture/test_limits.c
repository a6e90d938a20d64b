/* Limits of memory (the trace ends, or the emitter waits) and of size. The file is always a complete trace. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"

#include <pthread.h>

#define THREADS 4
/* By how much the limit may be exceeded, see gotrace_options.memory_limit. Two more threads: the program's first one,
 * and the tracer's. */
#define MORE ((size_t)(THREADS + 2) * 65536 + 1048576)

static long calls_per_thread;
static uint32_t stop_emitting;

static void log_one(void) {
  static const char text[] =
      "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
      "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789";
  gotrace_log(GOTRACE_NO_TASK, "text", text);
}

static void *emit_count(void *unused) {
  long i;
  (void)unused;
  for (i = 0; i < calls_per_thread; i++) log_one();
  return NULL;
}

static void *emit_until_off(void *unused) {
  (void)unused;
  while (gotrace_enabled() && !__atomic_load_n(&stop_emitting, __ATOMIC_RELAXED)) log_one();
  return NULL;
}

static void run(void *(*what)(void *)) {
  pthread_t threads[THREADS];
  size_t i;
  for (i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, what, NULL) == 0);
  for (i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

/* Without a reader, memory runs out and the trace ends for all threads at one cut. */
static void memory_stops(gotrace_format format) {
  gotrace_options options;
  gotrace_stats stats;
  test_bytes bytes = {NULL, 0, 0};
  memset(&options, 0, sizeof options);
  options.format = format;
  options.memory_limit = (size_t)2 << 20;
  options.cut_milliseconds = 1000000;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  run(emit_until_off);
  CHECK(!gotrace_enabled());
  log_one(); /* does nothing */
  CHECK(gotrace_start(NULL) == GOTRACE_ERROR_ALREADY_RUNNING);
  gotrace_end();
  test_read_to_end(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.result, GOTRACE_LIMIT_REACHED);
  CHECK(stats.memory_peak <= options.memory_limit + MORE); /* the end of the trace needs a little more */
  CHECK(bytes.size > (size_t)1 << 20);
  CHECK_OPENS(&bytes);
  test_check_statistics(&bytes);
  CHECK_EQUAL(test_format_of(&bytes), format);
  test_free(&bytes);
}

static bool slow_sink(void *context, const void *data, size_t size) {
  struct timespec pause = {0, 500000};
  nanosleep(&pause, NULL);
  return test_sink(context, data, size);
}

/* The sink is slower than the emitters: they wait, and nothing is lost. */
static void memory_blocks(gotrace_format format) {
  gotrace_options options;
  gotrace_stats stats;
  test_bytes bytes = {NULL, 0, 0};
  memset(&options, 0, sizeof options);
  options.format = format;
  options.memory_limit = (size_t)1 << 20;
  options.on_limit = GOTRACE_LIMIT_BLOCK;
  options.write = slow_sink;
  options.context = &bytes;
  calls_per_thread = test_scaled(20000);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  run(emit_count);
  CHECK(gotrace_enabled());
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_OPENS(&bytes);
  test_check_statistics(&bytes);
  CHECK_EQUAL(test_count(&bytes, "UserLog"), THREADS * calls_per_thread);
  /* A thread's first chunk does not wait for room, nor does the end. */
  if (stats.memory_peak > options.memory_limit + MORE)
    fprintf(stderr, "%llu bytes\n", (unsigned long long)stats.memory_peak);
  CHECK(stats.memory_peak <= options.memory_limit + MORE);
  CHECK_EQUAL(stats.dropped, 0);
  test_free(&bytes);
}

static void size_stops(gotrace_format format) {
  gotrace_options options;
  gotrace_stats stats;
  test_bytes bytes = {NULL, 0, 0};
  memset(&options, 0, sizeof options);
  options.format = format;
  options.size_limit = 1000000;
  options.write = test_sink;
  options.context = &bytes;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  run(emit_until_off);
  CHECK(!gotrace_enabled());
  CHECK_EQUAL(gotrace_stop(), GOTRACE_LIMIT_REACHED);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.result, GOTRACE_LIMIT_REACHED);
  CHECK(bytes.size >= options.size_limit);
  CHECK(bytes.size <= options.size_limit + (THREADS + 2) * 65536); /* a batch per proc or thread and per table */
  CHECK_OPENS(&bytes);
  test_check_statistics(&bytes);
  test_free(&bytes);
}

/* A limit that is not reached has no effect. */
static void not_reached(gotrace_format format) {
  gotrace_options options;
  test_bytes bytes = {NULL, 0, 0};
  memset(&options, 0, sizeof options);
  options.format = format;
  options.memory_limit = (size_t)1 << 20;
  options.size_limit = 10000000;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  log_one();
  CHECK_EQUAL(gotrace_end(), GOTRACE_OK);
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
}

/* Starts and stops a proc and a goroutine repeatedly, also after the end of the trace. */
static void *come_and_go(void *proc) {
  gotrace_go *go = gotrace_go_create_blocked(NULL);
  int i;
  while (!__atomic_load_n(&stop_emitting, __ATOMIC_RELAXED)) {
    gotrace_proc_start((gotrace_proc *)proc);
    gotrace_go_unblock(go);
    gotrace_go_start(go);
    for (i = 0; i < 20; i++) log_one();
    gotrace_go_block(GOTRACE_BLOCK_SYNC);
    gotrace_proc_stop();
  }
  return NULL;
}

/* The trace ends while a generation is being ended, which takes long because there are many procs. What the threads do
 * from then on is not in the trace, and must not appear in it as their state before. */
static void ends_while_cut(void) {
  enum { PROCS = 200 };
  const struct timespec pause = {0, 4000000};
  gotrace_proc *procs[PROCS];
  pthread_t threads[THREADS];
  long round, rounds = test_scaled(150);
  size_t i;
  for (i = 0; i < PROCS; i++) procs[i] = gotrace_proc_create();
  for (round = 0; round < rounds; round++) {
    gotrace_options options;
    test_bytes bytes = {NULL, 0, 0};
    memset(&options, 0, sizeof options);
    options.format = GOTRACE_GO_1_23;
    options.write = test_sink;
    options.context = &bytes;
    options.cut_milliseconds = 1;
    options.cut_bytes = 65536;
    options.size_limit = 65536 * (2 + (uint64_t)round % 7);
    __atomic_store_n(&stop_emitting, 0, __ATOMIC_RELAXED);
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    for (i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, come_and_go, procs[i]) == 0);
    nanosleep(&pause, NULL);
    gotrace_stop();
    __atomic_store_n(&stop_emitting, 1, __ATOMIC_RELAXED);
    for (i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_OPENS(&bytes);
    test_free(&bytes);
  }
  __atomic_store_n(&stop_emitting, 0, __ATOMIC_RELAXED);
  for (i = 0; i < PROCS; i++) gotrace_proc_destroy(procs[i]);
}

int main(void) {
  static const gotrace_format formats[] = {GOTRACE_GO_1_11, GOTRACE_GO_1_21, GOTRACE_GO_1_23, GOTRACE_GO_1_26};
  size_t i;
  int round;
  for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    for (round = 0; round < test_scaled(2); round++) {
      memory_stops(formats[i]);
      size_stops(formats[i]);
    }
    memory_blocks(formats[i]);
    not_reached(formats[i]);
  }
  ends_while_cut();
  return 0;
}
