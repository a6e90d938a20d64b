/* Fuzzes whole sessions: any calls, on any handles, by several threads, in any order, in any format, with clocks that
 * differ between threads and with allocation failures. The result must be a trace that Go opens: tests/check_v1.h
 * applies the rules of Go's parsers. Its counts must equal the statistics.
 *
 *     clang -g -O1 -I. -fsanitize=fuzzer,address,undefined fuzz/session_calls.c -o build/fuzz/session_calls -pthread
 *     build/fuzz/session_calls -max_total_time=60 fuzz/seeds/session_calls
 *
 * The threads are only thread records of the tracer. The one real thread uses one of them at a time, so an input always
 * has the same result. The input also determines the clock.
 *
 * Environment variables: SESSION_CALLS_KEEP=DIRECTORY keeps the traces there; SESSION_CALLS_KNOWN=TEXT,TEXT ignores
 * errors that contain one of these texts, so that other errors can be found.
 *
 * Input: two bytes per call, for the call and its object; some calls take more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

FUZZ_NOT_COVERED
#include "tests/check_v1.h"
FUZZ_COVERED

/* ---- The clock: the system's time, plus a thread's own error. ---- */

static uint64_t fuzz_time, fuzz_looks;
static int64_t fuzz_skew[4];
static unsigned fuzz_thread;

static int fuzz_clock(clockid_t clock, struct timespec *now) {
  uint64_t time;
  (void)clock;
  if (++fuzz_looks % 64 == 0) fuzz_time += fuzz_looks / 64; /* faster with each look, so that waits end soon */
  time = fuzz_time + (uint64_t)fuzz_skew[fuzz_thread];
  now->tv_sec = (time_t)(time / 1000000000);
  now->tv_nsec = (long)(time % 1000000000);
  return 0;
}
#define clock_gettime fuzz_clock

/* ---- Threads: each record is a thread for Go. The service thread runs while another one waits for it. ---- */

static void fuzz_serve(void);
static int fuzz_service; /* 1: it was started and not joined */

/* Replaces the C library's function. */
long syscall(long number, ...) {
  static long (*next)(long number, ...);
  void *address = dlsym(RTLD_NEXT, "syscall");
  va_list arguments;
  long a, b, c, d;
  if (number == SYS_gettid) return (long)(100 + fuzz_thread);
  memcpy(&next, &address, sizeof next);
  va_start(arguments, number);
  a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long), d = va_arg(arguments, long);
  va_end(arguments);
  return next(number, a, b, c, d);
}

static int fuzz_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                              void *argument) {
  (void)thread, (void)attributes, (void)run, (void)argument;
  REQUIRE(!fuzz_service);
  fuzz_service = 1;
  return 0;
}
#define pthread_create fuzz_thread_create

static int fuzz_thread_join(pthread_t thread, void **result) {
  (void)thread, (void)result;
  REQUIRE(fuzz_service);
  fuzz_serve();
  fuzz_service = 0;
  return 0;
}
#define pthread_join fuzz_thread_join

static int fuzz_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until) {
  (void)cond, (void)until;
  if (fuzz_service) {
    pthread_mutex_unlock(mutex);
    fuzz_serve();
    pthread_mutex_lock(mutex);
  }
  return ETIMEDOUT;
}
#define pthread_cond_timedwait fuzz_wait

/* ---- Memory: fails on demand, and is freed after an input. ---- */

typedef struct fuzz_block {
  struct fuzz_block *next, *previous;
  size_t size;
} fuzz_block;
static fuzz_block fuzz_blocks = {&fuzz_blocks, &fuzz_blocks, 0};
static unsigned fuzz_fail_after, fuzz_fail_count; /* the n-th allocation fails, and fuzz_fail_count in all */

static void *fuzz_malloc(size_t size) {
  fuzz_block *block;
  if (fuzz_fail_after && --fuzz_fail_after == 0) {
    fuzz_fail_after = fuzz_fail_count > 1 ? 1 : 0;
    if (fuzz_fail_count) fuzz_fail_count--;
    return NULL;
  }
  block = malloc(sizeof *block + size);
  REQUIRE(block);
  memset(block + 1, 0x5a, size);
  block->size = size;
  block->next = fuzz_blocks.next;
  block->previous = &fuzz_blocks;
  block->next->previous = block->previous->next = block;
  return block + 1;
}

static void fuzz_free(void *memory, size_t size) {
  fuzz_block *block = (fuzz_block *)memory - 1;
  REQUIRE(block->size == size);
  block->next->previous = block->previous;
  block->previous->next = block->next;
  free(block);
}

#define GOTRACE_MALLOC(size) fuzz_malloc(size)
#define GOTRACE_FREE(pointer, size) fuzz_free(pointer, size)
#define GOTRACE_MONOTONIC_CLOCK 1
#define GOTRACE_TICK_DIV 1
#define GOTRACE_DEBUG 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

/* Lets the service thread run until it has nothing to do. */
static void fuzz_serve(void) {
  gotrace__thread *self = gotrace__self;
  gotrace__set_self(NULL);
  gotrace__drain(false);
  gotrace__set_self(self);
}

/* ---- The state for one input. ---- */

#define THREADS 3
#define GOS 12
#define PROCS 5
#define TASKS 4
#define SITES 6
#define MOST_TRACE ((size_t)8 << 20)

static struct {
  fuzz_input in;
  gotrace__thread *threads[THREADS];
  gotrace_go *gos[GOS], *outer[GOS];
  gotrace_proc *procs[PROCS];
  gotrace_task tasks[TASKS];
  gotrace_site sites[SITES];
  bool running, futile, flight, v2;
  uint8_t *trace;
  size_t size, first_cut; /* the first consistent prefix */
  unsigned calls;
} w;

static struct gotrace__tracer fresh_tracer; /* the state before the first call */
static char long_name[1500];

static const gotrace_location entries[] = {{0, "first", "fuzz.c", 1},
                                           {0, "second", "fuzz.c", 2},
                                           {0, NULL, NULL, 0},
                                           {0x1234, NULL, NULL, 0},
                                           {0, "named", "", 0}};

static const char *name_of(unsigned n) {
  static const char *const names[] = {"red", "green", "", NULL, "\xc3\xa9t\xc3\xa9"};
  return n % 7 == 5 ? long_name : n % 7 == 6 ? long_name + 470 : names[n % 7];
}

static int unwind(void *context, uintptr_t *pcs, int max) {
  int count = (int)(w.calls % 140), i;
  (void)context;
  for (i = 0; i < count && i < max; i++)
    pcs[i] = 0x10000 + (uintptr_t)((w.calls * 7 + (unsigned)i) % 50) * 0x1000000000;
  return i;
}

static bool symbolize(void *context, gotrace_location *place) {
  static char name[2000];
  (void)context;
  if (place->pc % 3 == 0) return false;
  memset(name, 'f', sizeof name - 1);
  snprintf(name, sizeof name, "f%llx", (unsigned long long)place->pc);
  if (place->pc % 5 == 0) name[strlen(name)] = 'f'; /* 2,000 bytes */
  place->function = name;
  place->file = place->pc % 2 ? "x.c" : NULL;
  place->line = (uint32_t)place->pc;
  return true;
}

static void report(void *context, const char *line) {
  (void)context;
  REQUIRE(strncmp(line, "gotrace: ", 9) == 0);
}

static void become(unsigned thread) {
  w.threads[fuzz_thread] = gotrace__self;
  fuzz_thread = thread;
  gotrace__set_self(w.threads[thread]);
}

/* ---- Sessions. ---- */

/* Whether to ignore an error, see SESSION_CALLS_KNOWN. */
static bool is_known(const char *error) {
  const char *known = getenv("SESSION_CALLS_KNOWN");
  char text[64];
  for (; known && *known; known += strcspn(known, ","), known += *known == ',') {
    snprintf(text, sizeof text, "%.*s", (int)strcspn(known, ","), known);
    if (strstr(error, text)) return true;
  }
  return false;
}

static void check_trace(const uint8_t *trace, size_t size) {
  check_v1_trace t;
  uint64_t seed;
  if (w.v2) return;
  for (seed = 0; seed < 2; seed++) {
    if (!check_v1(&t, trace, size, CHECK_V1_STRICT | (w.futile ? CHECK_V1_FUTILE : 0u), seed)) {
      if (is_known(t.error)) {
        check_v1_free(&t);
        continue;
      }
      fprintf(stderr, "trace of %zu bytes: %s\n", size, t.error);
      if (getenv("SESSION_CALLS_KEEP")) {
        char path[4096];
        FILE *file;
        snprintf(path, sizeof path, "%s/bad.trace", getenv("SESSION_CALLS_KEEP"));
        file = fopen(path, "wb");
        REQUIRE(file && fwrite(trace, 1, size, file) == size && fclose(file) == 0);
      }
      abort();
    }
    check_v1_free(&t);
  }
}

static void keep_trace(void) {
  static unsigned number;
  char path[4096];
  FILE *file;
  if (!getenv("SESSION_CALLS_KEEP")) return;
  snprintf(path, sizeof path, "%s/%u.trace", getenv("SESSION_CALLS_KEEP"), number++);
  file = fopen(path, "wb");
  REQUIRE(file && fwrite(w.trace, 1, w.size, file) == w.size && fclose(file) == 0);
}

/* Reads a piece; false if there is none. */
static bool read_piece(bool wait) {
  const void *data = NULL;
  size_t size = 0;
  gotrace_stats stats;
  gotrace_result result = wait ? gotrace_read(&data, &size) : gotrace_try_read(&data, &size);
  if (w.flight) {
    REQUIRE(result == GOTRACE_ERROR_READER_BUSY && !size);
    return false;
  }
  if (!w.running) {
    REQUIRE(result == GOTRACE_ERROR_NOT_RUNNING && !size);
    return false;
  }
  if (result == GOTRACE_WOULD_BLOCK) {
    REQUIRE(!wait && !size);
    return false;
  }
  REQUIRE(result == GOTRACE_OK);
  if (!size) { /* the end */
    check_v1_trace t;
    unsigned kind;
    w.running = false;
    REQUIRE(gotrace__t.budget.used == 0);
    gotrace_get_stats(&stats);
    REQUIRE(stats.bytes == w.size && stats.consistent_bytes == w.size);
    keep_trace();
    check_trace(w.trace, w.size);
    if (w.first_cut && w.first_cut < w.size) check_trace(w.trace, w.first_cut);
    if (w.v2) return false;
    check_v1(&t, w.trace, w.size, CHECK_V1_OLD, 0);
    for (kind = 0; kind < 64; kind++) {
      if (stats.kinds[kind] == t.kinds[kind]) continue;
      fprintf(stderr, "event %u: %llu counted, %llu in the trace\n", kind, (unsigned long long)stats.kinds[kind],
              (unsigned long long)t.kinds[kind]);
      if (!is_known("counted")) abort();
    }
    check_v1_free(&t);
    return false;
  }
  REQUIRE(size <= 65536);
  if (!w.size) REQUIRE(size == 16);
  REQUIRE(w.size + size <= MOST_TRACE);
  memcpy(w.trace + w.size, data, size);
  w.size += size;
  if (!w.first_cut) {
    gotrace_get_stats(&stats);
    REQUIRE(stats.consistent_bytes <= stats.bytes && stats.bytes == w.size);
    w.first_cut = (size_t)stats.consistent_bytes;
  }
  return true;
}

/* The sink of the flight recorder: a complete trace of the last generations. */
static bool write_snapshot(void *context, const void *data, size_t size) {
  unsigned *pieces = context;
  if (*pieces && --*pieces == 0) return false;
  if (!w.size) REQUIRE(size == 16);
  REQUIRE(size <= 65536 && w.size + size <= MOST_TRACE);
  memcpy(w.trace + w.size, data, size);
  w.size += size;
  return true;
}

static void snapshot(unsigned fail_after) {
  bool failing = fail_after != 0, may_fail = fuzz_fail_after != 0;
  gotrace_result result;
  size_t size = w.size;
  if (w.flight) w.size = 0;
  result = gotrace_flight_snapshot(write_snapshot, &fail_after);
  if (!w.flight) {
    REQUIRE(result == GOTRACE_ERROR_NOT_RUNNING && w.size == size);
  } else if (result == GOTRACE_OK) {
    keep_trace();
    check_trace(w.trace, w.size);
  } else {
    REQUIRE((result == GOTRACE_ERROR_SINK && failing) ||
            (result == GOTRACE_ERROR_OUT_OF_MEMORY && (may_fail || !w.size)));
  }
}

/* Five of v1, to which no more will be added, then those of v2. */
#define FORMAT(NAME, number, name) GOTRACE_##NAME,
static const gotrace_format formats[] = {GOTRACE_FORMATS(FORMAT)};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static void start(void) {
  static const size_t limits[] = {(size_t)1 << 20, (size_t)3 << 20};
  gotrace_options options;
  gotrace_result result;
  unsigned how = (unsigned)fuzz_take(&w.in, 1), more = (unsigned)fuzz_take(&w.in, 1);
  bool may_fail = fuzz_fail_after != 0;
  memset(&options, 0, sizeof options);
  options.format = how % 7 < 5    ? formats[how % 7]
                   : how % 7 == 5 ? GOTRACE_FORMAT_DEFAULT
                                  : formats[5 + how / 7 % (FORMATS - 5)];
  options.futile_wakeups = how >= 128;
  options.stacks = (gotrace_stacks)(more % 4);
  if (options.stacks == GOTRACE_STACKS_FRAME_POINTERS && more % 64 != 2)
    options.stacks = GOTRACE_STACKS_CALL_SITE; /* slow */
  options.unwind = unwind;
  options.symbolize = symbolize;
  options.report = report;
  options.memory_limit = limits[!(more & 4)];
  options.alloc_events = more & 64;
  options.heap.base = 1000;
  if (more & 8) options.size_limit = 100000;
  if (more & 16) options.cut_bytes = 65536;
  options.cut_milliseconds = more & 32 ? 1 : 0;
  if (more & 128) {
    options.flight_bytes = (size_t)(options.alloc_events ? 4 : 2) << 20;
    options.flight_milliseconds = more & 16 ? 1 : 0;
    result = gotrace_flight_start(&options);
  } else {
    result = gotrace_start(&options);
  }
  if (result == GOTRACE_OK) {
    REQUIRE(!w.running);
    w.running = true;
    w.v2 = how % 7 >= 5;
    w.flight = (more & 128) != 0;
    w.size = w.first_cut = 0;
    w.futile = options.futile_wakeups;
  } else if (result == GOTRACE_ERROR_ALREADY_RUNNING) {
    REQUIRE(w.running);
  } else if (result == GOTRACE_ERROR_FORMAT) {
    REQUIRE((more & 128) && how % 7 < 5);
  } else {
    if (!may_fail) fprintf(stderr, "start: %s\n", gotrace_result_string(result));
    REQUIRE(result == GOTRACE_ERROR_OUT_OF_MEMORY && (may_fail || !w.size));
  }
}

/* ---- Calls. ---- */

static void keep(unsigned n, gotrace_go *g) {
  if (g) w.gos[n % GOS] = g;
}

static bool unlocked(gotrace__mutex *mutex) {
  if (pthread_mutex_trylock(mutex) != 0) return false;
  pthread_mutex_unlock(mutex);
  return true;
}

static void heap(unsigned on) {
  static const gotrace_type types[] = {{"pair", 16, 8}, {NULL, 1, 0}, {long_name, SIZE_MAX, SIZE_MAX}};
  static gotrace_type many[8];
  void *at = (void *)(uintptr_t)(fuzz_take(&w.in, 3) * 8);
  const gotrace_type *type = on / 64 ? &types[on / 64 - 1] : &many[w.calls % 8];
  switch (on / 4 % 9) {
  case 0: gotrace_span(at, on * 100, on); break;
  case 1: gotrace_span_alloc(at, on * 10000, on); break;
  case 2: gotrace_span_free(at); break;
  case 3: gotrace_heap_object(at, type); break;
  case 4: gotrace_heap_object_alloc(at, on % 8 == 2 ? NULL : type); break;
  case 5: gotrace_heap_object_free(at); break;
  case 6: gotrace_goroutine_stack(at, on * 100); break;
  case 7: gotrace_goroutine_stack_alloc(at, on == 2 ? SIZE_MAX : on * 1000); break;
  case 8: gotrace_goroutine_stack_free(at); break;
  }
}

/* Calls with reasons named by the program, and with some invalid numbers. */
static void named(gotrace_site *site, unsigned on) {
  unsigned what = (unsigned)fuzz_take(&w.in, 1);
  unsigned reason = (what % 8 ? gotrace_reason(name_of(what / 8)) : what << 7) + on;
  switch (what % 4) {
  case 0: gotrace_go_block_at(site, reason); break;
  case 1: gotrace_go_stop_at(site, reason); break;
  case 2: gotrace_stw_begin_at(site, reason); break;
  case 3: gotrace_go_switch_for_at(site, w.gos[what % GOS], reason); break;
  }
}

static void one_call(void) {
  unsigned call = (unsigned)fuzz_take(&w.in, 1), on = (unsigned)fuzz_take(&w.in, 1), i;
  gotrace_site *site = on % 8 < SITES ? &w.sites[on % 8]
                       : on % 8 == 6  ? gotrace_site_make(name_of(on / 8), name_of(w.calls), on)
                                      : gotrace_site_make_pc(on / 64 * 1000);
  gotrace_go *g = on % 16 < GOS ? w.gos[on % 16] : NULL;
  gotrace_proc *p = on % 8 < PROCS ? w.procs[on % 8] : NULL;
  gotrace_task *task = &w.tasks[on / 8 % TASKS];
  const char *name = name_of(on / 8);
  int constant = site && on % 8 < SITES && on / 8 % 7 == on % 8; /* one name per site */
  w.calls++;
  fuzz_looks = 0;
  fuzz_time += on % 32;
  switch (call % 64) {
  case 0: keep(on / 8, gotrace_go_create_at(site, &entries[on % 5])); break;
  case 1: keep(on / 8, gotrace_go_create_blocked_at(site, on % 2 ? &entries[on % 5] : NULL)); break;
  case 2: keep(on / 8, gotrace_go_create_syscall_at(site, &entries[on % 5])); break;
  case 3:
  case 4:
  case 5: gotrace_go_start(g); break;
  case 6: gotrace_go_end(); break;
  case 7: gotrace_go_stop_at(site, on / 8 % 4); break;
  case 8:
  case 9: gotrace_go_block_at(site, (on / 8) % 19); break;
  case 10: gotrace_go_block_at(site, (on / 8) % 19 | GOTRACE_FUTILE_WAKEUP); break;
  case 11:
  case 12:
  case 13: gotrace_go_unblock_at(site, g); break;
  case 14: gotrace_go_switch_at(site, g); break;
  case 15: gotrace_go_switch_end_at(site, g); break;
  case 16:
  case 17: gotrace_go_syscall_begin_at(site); break;
  case 18: gotrace_go_syscall_end(); break;
  case 19: gotrace_go_syscall_end_blocked(); break;
  case 20:
    if (on % 8 == 7) gotrace_go_rename(w.gos[on / 8 % GOS], name);
    else if (on % 8 == 6) gotrace_thread_rename(name);
    else gotrace_go_label(name);
    break;
  case 21: gotrace_go_timer(g); break;
  case 22: gotrace_go_stack_bounds(g, &w, &w + 1); break;
  case 23: keep(on, gotrace_go_self()); break;
  case 24:
    if (on % 8 == 7) gotrace_wait_on_at(site, &w.sites[on / 8 % 4], on / 8 % 4);
    else if (on % 8 == 6) gotrace_wake_at(site, &w.sites[on / 8 % 4], on / 32);
    else gotrace_wait_begin_at(site, on / 8 % 19);
    break;
  case 25:
    if (on % 4 == 1) w.outer[on / 4 % GOS] = gotrace_nest_begin_at(site, on & 128 ? NULL : w.gos[on / 4 % GOS]);
    else if (on % 4 == 3) gotrace_nest_end(w.outer[on / 4 % GOS]);
    else gotrace_wait_end();
    break;
  case 26:
  case 27: gotrace_proc_start(p); break;
  case 28: gotrace_proc_stop(); break;
  case 29: gotrace_proc_steal(p); break;
  case 30: {
    gotrace_proc *fresh = gotrace_proc_create();
    if (fresh) w.procs[on % PROCS] = fresh;
    break;
  }
  case 31: gotrace_proc_destroy(p); break;
  case 32: gotrace_procs_change_at(site, on); break;
  case 33: gotrace_gc_begin_at(site); break;
  case 34: gotrace_gc_end(); break;
  case 35:
    if (on % 16 == 15) gotrace_go_end_in_syscall();
    else if (on % 16 == 7) named(site, on / 16);
    else if (on % 16 == 11) gotrace_go_destroy_at(site, w.gos[on / 16 % GOS]);
    else if (on % 4 == 2) heap(on);
    else on % 2 ? gotrace_gc_scan_begin() : gotrace_gc_scan_end();
    break;
  case 36: gotrace_stw_begin_at(site, on / 8 % 19); break;
  case 37: gotrace_stw_end(); break;
  case 38: gotrace_gc_sweep_begin(); break;
  case 39: gotrace_gc_sweep_span_at(site, on, on / 2); break;
  case 40: gotrace_gc_sweep_end(); break;
  case 41: gotrace_gc_mark_assist_begin_at(site); break;
  case 42: gotrace_gc_mark_assist_end(); break;
  case 43: on % 2 ? gotrace_heap_alloc(on) : gotrace_heap_goal(on % 4 ? on : UINT64_MAX); break;
  case 44: *task = gotrace_task_begin_at(site, name, constant, w.tasks[on % TASKS]); break;
  case 45: gotrace_task_end_at(site, *task); break;
  case 46:
  case 47: gotrace_region_begin_at(site, *task, name, constant); break;
  case 48: gotrace_region_end_at(site, *task, name, constant); break;
  case 49: gotrace_log_at(site, *task, name, name_of(on)); break;
  case 50: gotrace_logf_at(site, *task, name, "%s %u", name_of(on) ? name_of(on) : "(null)", on); break;
  case 51: gotrace_cpu_sample(NULL); break;
  case 52: {
    ucontext_t context;
    memset(&context, 0, sizeof context);
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RIP] = 0x7000 + (long long)on;
#endif
    gotrace_cpu_sample(&context);
    break;
  }
  case 53:
    if (on % 8 == 4) keep(on, gotrace_thread_create_at(site, &entries[on / 8 % 5]));
    else if (on % 8 == 6) gotrace_thread_begin_as(w.gos[on / 8 % GOS]);
    else on % 2 ? gotrace_thread_begin(name) : gotrace_thread_end();
    break;
  case 54: /* the thread ends */
    if (gotrace__self && on % 4 == 0) gotrace__thread_gone(gotrace__self);
    gotrace__ends = 0; /* what is called next is a new thread's */
    break;
  case 55:
  case 56: become(on % THREADS); break;
  case 57:
    if (on % 3 == 0) fuzz_skew[on / 3 % 4] = (int64_t)(fuzz_take(&w.in, 2) % 5000) - 2500;
    else fuzz_time += fuzz_take(&w.in, on % 4);
    break;
  case 58: start(); break;
  case 59: {
    gotrace_result result;
    if (w.flight && w.running) {
      if (on % 8 == 1) snapshot(on / 8);
      if (on % 8 == 2) gotrace_end();
      REQUIRE(gotrace_flight_stop() != GOTRACE_ERROR_NOT_RUNNING);
      REQUIRE(gotrace__t.budget.used == 0 && gotrace__t.flight_budget.used == 0 && !fuzz_service);
      w.running = w.flight = false;
      break;
    }
    REQUIRE(gotrace_flight_stop() == GOTRACE_ERROR_NOT_RUNNING);
    result = gotrace_end();
    if (!w.running) REQUIRE(result == GOTRACE_ERROR_NOT_RUNNING);
    if (on % 4 && w.running)
      while (read_piece(true)) continue;
    break;
  }
  case 60: REQUIRE(gotrace_advance() != GOTRACE_OK || w.running); break;
  case 61:
    if (on % 4 == 0) {
      snapshot(on / 4);
      break;
    }
    if (w.flight) fuzz_serve();
    for (i = 0; i < on % 64u && read_piece(false); i++) continue;
    break;
  case 62: /* many calls at once */
    for (i = 0; i < on / 4; i++) {
      gotrace_log_at(site, *task, name, long_name);
      if (on % 4 == 1) gotrace_region_begin_at(site, *task, name, 0);
      if (on % 8 == 2) keep(i, gotrace_go_create_at(site, &entries[i % 5]));
      if (on % 16 == 3) gotrace_cpu_sample(NULL);
    }
    break;
  case 63:
    if (on % 8 == 0) {
      fuzz_fail_after = (unsigned)fuzz_take(&w.in, 1) % 32 + 1;
      fuzz_fail_count = on / 8 % 8 + 1;
    }
    break;
  }
  /* After a call, no lock is held. */
  if (gotrace__self) REQUIRE(!(gotrace__self->in_call & GOTRACE__IN_CALL));
  REQUIRE(unlocked(&gotrace__t.life) && unlocked(&gotrace__t.work));
  REQUIRE(unlocked(&gotrace__t.queue_lock) && unlocked(&gotrace__t.records));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned i;
  uint8_t *memory = w.trace;
  if (!memory) {
    gotrace__init();
    fresh_tracer = gotrace__t;
    REQUIRE((memory = malloc(MOST_TRACE)) != NULL);
    for (i = 0; i + 2 < sizeof long_name; i += 2) memcpy(long_name + i, "\xc3\xb6", 2);
  }
  memset(&w, 0, sizeof w);
  w.trace = memory;
  w.in.at = data;
  w.in.end = data + size;
  fuzz_time = 1000000;
  fuzz_looks = 0;
  memset(fuzz_skew, 0, sizeof fuzz_skew);
  fuzz_thread = 0;
  fuzz_fail_after = fuzz_fail_count = 0;
  for (i = 0; i < SITES; i++) {
    w.sites[i].location.function = "caller";
    w.sites[i].location.file = i % 2 ? "fuzz.c" : NULL;
    w.sites[i].location.line = i + 1;
  }
  while (w.in.at < w.in.end && w.size < MOST_TRACE / 2) one_call();
  fuzz_fail_after = 0;
  if (w.flight && w.running) {
    snapshot(0);
    REQUIRE(gotrace_flight_stop() != GOTRACE_ERROR_NOT_RUNNING);
    w.running = w.flight = false;
  }
  gotrace_end();
  if (w.running)
    while (read_piece(true)) continue;
  REQUIRE(gotrace_end() == GOTRACE_ERROR_NOT_RUNNING && !read_piece(true));
  REQUIRE(!gotrace__modules.budget.used);
  /* Back to the initial state. */
  while (fuzz_blocks.next != &fuzz_blocks) fuzz_free(fuzz_blocks.next + 1, fuzz_blocks.next->size);
  gotrace__set_self(NULL);
  pthread_setspecific(gotrace__exit_key, NULL);
  gotrace__t = fresh_tracer;
  gotrace__on = 0;
  return 0;
}
