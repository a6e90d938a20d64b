/* Rare paths: the thread that writes the trace lacks memory; the end of a generation writes more than a batch holds; a
 * proc is stolen from a thread that the trace has not mentioned. */
#define _GNU_SOURCE /* for the implementation, which comes after the allocator */
#include <stdbool.h>
#include <stdlib.h>
static bool memory_is_out; /* for all threads but the main one */
static size_t refusals;
static __thread bool is_main;
static void *test_allocate(size_t size) {
  if (is_main || !__atomic_load_n(&memory_is_out, __ATOMIC_RELAXED)) return malloc(size);
  __atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
  return NULL;
}
#define GOTRACE_MALLOC(size) test_allocate(size)
#define GOTRACE_FREE(pointer, size) ((void)(size), free(pointer))
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#include <pthread.h>
#include <time.h>

static const gotrace_location entry = GOTRACE_NAMED_ENTRY("worker");

static uint64_t count_of(gotrace_format format, const char *name) {
  gotrace_stats stats;
  int kind;
  gotrace_get_stats(&stats);
  for (kind = 0; kind < 256; kind++) {
    const gotrace_event_spec *spec = gotrace_find_event_spec(format, kind);
    if (spec && strcmp(spec->name, name) == 0) return stats.kinds[kind];
  }
  return 0;
}

/* The service thread lacks memory: the trace ends with what it has, and the calls go on. The next trace is complete. */
static void no_memory_for_the_service(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_stats stats;
  uint64_t calls, had = 0;
  char text[80];
  int round;
  options.cut_milliseconds = 1;
  for (round = 0; round < 2; round++) {
    bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    do { /* until there is a cut */
      GOTRACE_REGION("before") {
      }
      gotrace_get_stats(&stats);
    } while (!stats.cuts);
    __atomic_store_n(&memory_is_out, round == 0, __ATOMIC_RELAXED);
    for (calls = 0; round == 0 ? gotrace_enabled() : calls < 1000; calls++) {
      snprintf(text, sizeof text, "a text that the service thread must keep, %llu", (unsigned long long)calls);
      gotrace_log(GOTRACE_NO_TASK, text, text);
    }
    CHECK_EQUAL(gotrace_stop(), round == 0 ? GOTRACE_ERROR_OUT_OF_MEMORY : GOTRACE_OK);
    __atomic_store_n(&memory_is_out, false, __ATOMIC_RELAXED);
    CHECK_OPENS(&bytes);
    test_check_statistics(&bytes);
    had = test_count(&bytes, "UserLog");
    CHECK(round == 0 ? had < calls : had == calls);
    CHECK(test_count(&bytes, format < GOTRACE_GO_1_22 ? "UserRegion" : "UserRegionEnd") > 0);
  }
  CHECK(__atomic_load_n(&refusals, __ATOMIC_RELAXED) > 0);
  test_free(&bytes);
}

/* The end of a generation writes the statuses of all silent goroutines, here blocked in a mark assist. Only the flight
 * recorder needs them: its snapshots begin with any generation. */
static void full_batch(gotrace_format format, bool flight) {
  enum { GOS = 8000 }; /* about 20 bytes each; a batch has 64 KiB */
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  static gotrace_go *gos[GOS];
  gotrace_proc *proc = gotrace_proc_create();
  int i;
  if (flight) options.write = NULL, options.context = NULL;
  CHECK_EQUAL(flight ? gotrace_flight_start(&options) : gotrace_start(&options), GOTRACE_OK);
  gotrace_proc_start(proc);
  for (i = 0; i < GOS; i++) {
    gotrace_go_start(gos[i] = gotrace_go_create(&entry));
    gotrace_gc_mark_assist_begin();
    gotrace_go_block(GOTRACE_BLOCK_GC_MARK_ASSIST);
  }
  for (i = 0; i < 3; i++) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  for (i = 0; i < GOS; i++) {
    gotrace_go_unblock(gos[i]);
    gotrace_go_start(gos[i]);
    gotrace_gc_mark_assist_end();
    gotrace_go_end();
  }
  gotrace_proc_stop();
  if (flight) CHECK_EQUAL(gotrace_flight_snapshot(test_sink, &bytes), GOTRACE_OK);
  CHECK_EQUAL(flight ? gotrace_flight_stop() : gotrace_stop(), GOTRACE_OK);
  /* Twice silent, then woken. */
  CHECK_EQUAL(count_of(format, "GCMarkAssistActive"), flight ? 3 * GOS : GOS);
  CHECK_OPENS(&bytes);
  gotrace_proc_destroy(proc);
  test_free(&bytes);
}

static pthread_barrier_t barrier;
static gotrace_proc *lost;
static void *in_syscall(void *unused) {
  gotrace_proc_start(lost);
  gotrace_go_start(gotrace_go_create(&entry));
  gotrace_go_syscall_begin();
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  gotrace_go_syscall_end_blocked();
  return unused;
}

static void abandoned_proc(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_stats stats;
  pthread_t thread;
  lost = gotrace_proc_create();
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, in_syscall, NULL) == 0);
  pthread_barrier_wait(&barrier);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_proc_steal(lost);
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped, 0);
  CHECK_EQUAL(stats.repaired, 0);
  if (format >= GOTRACE_GO_1_22) {
    /* Since its thread is silent, the trace begins with an idle proc. */
    CHECK_EQUAL(count_of(format, "ProcSteal"), 0);
    CHECK_EQUAL(count_of(format, "GoSyscallEndBlocked"), 1);
  }
  CHECK_OPENS(&bytes);
  gotrace_proc_destroy(lost);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
  test_free(&bytes);
}

/* A proc that its thread has lost in a system call is idle, and may be destroyed. The next proc gets its record, which
 * the thread that lost it does not regain. */
static void *loses_proc(void *unused) {
  gotrace_go *next = gotrace_go_create(&entry);
  gotrace_proc_start(lost);
  gotrace_go_start(gotrace_go_create(&entry));
  gotrace_go_syscall_begin();
  gotrace_go_syscall_end_blocked();
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  gotrace_go_start(next);
  CHECK(gotrace_proc_self() == NULL);
  gotrace_go_end();
  return unused;
}

static void destroyed_proc(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_stats stats;
  gotrace_proc *again;
  pthread_t thread;
  lost = gotrace_proc_create();
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&thread, NULL, loses_proc, NULL) == 0);
  pthread_barrier_wait(&barrier);
  gotrace_proc_destroy(lost);
  again = gotrace_proc_create();
  CHECK(again == lost); /* else this tests nothing */
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0);
  gotrace_proc_start(again);
  CHECK(gotrace_proc_self() == again);
  gotrace_proc_stop();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_PROC_DESTROY], 0);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_PROC_START_RUNNING], 0);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NO_PROC], 1); /* of `next` */
  CHECK_EQUAL(stats.dropped, 0);
  CHECK_OPENS(&bytes);
  gotrace_proc_destroy(again);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
  test_free(&bytes);
}

/* A walk along frame pointers ends where the chain does not ascend, or leaves the bounds. */
static void walks(void) {
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
  uintptr_t frames[12], low = (uintptr_t)frames, high = (uintptr_t)(frames + 8), pcs[8];
  uint64_t hash = 0, same = 0;
  size_t i;
  memset(frames, 0, sizeof frames);
  for (i = 0; i < 12; i += 2) frames[i] = (uintptr_t)(frames + i + 2), frames[i + 1] = 100 + i;
  CHECK_EQUAL(gotrace__walk(low, low, high, pcs, 8, &hash), 4); /* the fifth frame is above the bound */
  CHECK(pcs[0] == 100 && pcs[3] == 106);
  CHECK_EQUAL(gotrace__walk(low, low, high, pcs, 3, &same), 3);
  CHECK(hash != same);
  CHECK_EQUAL(gotrace__walk(low, low + 8, high, pcs, 8, &hash), 0); /* below */
  CHECK_EQUAL(gotrace__walk(high, low, high, pcs, 8, &hash), 0);
  frames[4] = low; /* a circle */
  CHECK_EQUAL(gotrace__walk(low, low, high, pcs, 8, &hash), 3);
  frames[4] = low + 7 * sizeof(uintptr_t) + 1; /* not aligned */
  CHECK_EQUAL(gotrace__walk(low, low, high, pcs, 8, &hash), 3);
  frames[3] = 0; /* no return address */
  CHECK_EQUAL(gotrace__walk(low, low, high, pcs, 8, &hash), 1);
#endif
}

int main(void) {
  static const gotrace_format formats[] = {GOTRACE_GO_1_11, GOTRACE_GO_1_21, GOTRACE_GO_1_22, GOTRACE_GO_1_23,
                                           GOTRACE_GO_1_26};
  size_t i;
  is_main = true;
  walks();
  for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    no_memory_for_the_service(formats[i]);
    abandoned_proc(formats[i]);
    destroyed_proc(formats[i]);
    if (formats[i] < GOTRACE_GO_1_22) continue;
    full_batch(formats[i], false);
    full_batch(formats[i], true);
  }
  return 0;
}
