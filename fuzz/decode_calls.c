/* Fuzzes tracer and decoder together, in two ways.
 *
 * Arbitrary calls, as session_calls.c makes them: the decoder must read each trace to its end, from memory and from
 * streams, agree with tests/check_v1.h and tests/check_v2.h, and find as many events of each kind as the statistics
 * count.
 *
 * Valid calls of a small scheduler that records what it did: the decoder must return each goroutine's events in the
 * order of the calls.
 *
 *     clang -g -O1 -I. -fsanitize=fuzzer,address,undefined fuzz/decode_calls.c -o build/fuzz/decode_calls -pthread
 *     build/fuzz/decode_calls -max_total_time=60 fuzz/seeds/decode_calls
 *
 * The environment variable DECODE_CALLS_KEEP=FILE keeps a rejected trace in FILE.
 *
 * Input: a byte. If it is even, the rest is an input of session_calls. If it is odd, half of it is the format, and two
 * bytes per call follow.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

/* When a trace is complete, session_calls.c calls getenv to find out where to keep it. This replacement decodes it. */
static char *calls_getenv(const char *name);
#define getenv(name) calls_getenv(name)
#define LLVMFuzzerTestOneInput session_calls
int session_calls(const uint8_t *data, size_t size);
#include "session_calls.c"
#undef LLVMFuzzerTestOneInput
#undef getenv

FUZZ_NOT_COVERED
#include "tests/check_v2.h"
FUZZ_COVERED

#include "decode.h"

static uint64_t calls_checked; /* size of the last trace checked */

static void calls_refused(const uint8_t *trace, size_t size) {
  const char *path = (getenv)("DECODE_CALLS_KEEP");
  FILE *file = path ? fopen(path, "wb") : NULL;
  if (file) REQUIRE(fwrite(trace, 1, size, file) == size && fclose(file) == 0);
}

static void calls_check(const uint8_t *trace, size_t size, const gotrace_stats *stats) {
  decode_outcome ordered = decode_compare(trace, size, false), raw = decode_compare(trace, size, true);
  uint64_t seed;
  int kind;
  calls_checked = size;
  if (ordered.result != GOTRACE_END_OF_TRACE || raw.result != GOTRACE_END_OF_TRACE) {
    calls_refused(trace, size);
    fprintf(stderr, "trace of %zu bytes: %s in order, %s raw\n", size, gotrace_result_string(ordered.result),
            gotrace_result_string(raw.result));
    abort();
  }
  for (seed = 0; w.v2 && seed < 2; seed++) {
    check_v2_trace t;
    if (!check_v2(&t, trace, size, seed)) {
      calls_refused(trace, size);
      fprintf(stderr, "trace of %zu bytes: %s\n", size, t.error);
      abort();
    }
    for (kind = 0; kind < 256; kind++) REQUIRE(raw.kinds[kind] == t.kinds[kind]);
    check_v2_free(&t);
  }
  if (!w.v2) {
    check_v1_trace t;
    REQUIRE(check_v1(&t, trace, size, CHECK_V1_OLD, 0));
    for (kind = 0; kind < 64; kind++) REQUIRE(raw.kinds[kind] == t.kinds[kind]);
    check_v1_free(&t);
  }
  for (kind = 0; stats && kind < 256; kind++) {
    if (stats->kinds[kind] == raw.kinds[kind]) continue;
    fprintf(stderr, "event %d: %llu counted, %llu in the trace\n", kind, (unsigned long long)stats->kinds[kind],
            (unsigned long long)raw.kinds[kind]);
    abort();
  }
  /* The ordered events are complete, except for those that v1 omits or renames. */
  for (kind = GOTRACE_V2_PROCS_CHANGE; w.v2 && kind < 256; kind++)
    if (kind < GOTRACE_V2_EXPERIMENTAL_BATCH || kind >= GOTRACE_V2_SPAN)
      REQUIRE(ordered.kinds[kind] == raw.kinds[kind]);
}

static char *calls_getenv(const char *name) {
  if (strcmp(name, "SESSION_CALLS_KEEP") == 0 && w.size && !w.running) {
    gotrace_stats stats;
    gotrace_get_stats(&stats);
    calls_check(w.trace, w.size, &stats);
  } else if (strcmp(name, "SESSION_CALLS_KEEP") == 0 && w.flight && w.size) {
    calls_check(w.trace, w.size, NULL); /* a snapshot */
  }
  return (getenv)(name);
}

/* ---- A scheduler. ---- */

enum { FREE, RUNNABLE, RUNNING, BLOCKED };
enum { START, BLOCK, STOP, END, SYSCALL, REGION_BEGIN, REGION_END, LOG, TASK_BEGIN, TASK_END, CREATE };
static const char *const step_names[] = {"start",      "block", "stop",       "end",      "system call", "region begin",
                                         "region end", "log",   "task begin", "task end", "create"};

typedef struct step { /* what a goroutine did */
  uint64_t go, what, argument;
} step;

#define STEPS 20000

static struct {
  unsigned states[GOS], depths[GOS];
  unsigned regions[GOS][8];
  uint64_t ids[GOS];
  int running[THREADS]; /* goroutine, or -1 */
  bool started;
  gotrace_format format;
  uint64_t serial, first_ran[THREADS]; /* what ran when tracing began */
  size_t done, found;
} s;
static step steps_done[STEPS], steps_found[STEPS];

static void did(int go, unsigned what, uint64_t argument) {
  if (!s.started || go < 0) return;
  if (what >= REGION_BEGIN && what <= TASK_END && s.format < GOTRACE_GO_1_11) return;
  REQUIRE(s.done < STEPS);
  steps_done[s.done].go = s.ids[go];
  steps_done[s.done].what = what;
  steps_done[s.done++].argument = argument;
}

static void run(unsigned go, unsigned thread) {
  s.states[go] = RUNNING;
  s.running[thread] = (int)go;
  did((int)go, START, 0);
}

/* Makes a call if it is valid now. */
static void sensible_call(void) {
  static const gotrace_block_reason reasons[] = {GOTRACE_BLOCK_SYNC, GOTRACE_BLOCK_CHAN_RECV, GOTRACE_BLOCK_SELECT,
                                                 GOTRACE_BLOCK_NET,  GOTRACE_BLOCK_COND_WAIT, GOTRACE_BLOCK_SLEEP};
  unsigned call = (unsigned)fuzz_take(&w.in, 1) % 20, on = (unsigned)fuzz_take(&w.in, 1), go = on % GOS;
  int self = s.running[fuzz_thread];
  gotrace_site *site = &w.sites[on % SITES];
  char text[32];
  fuzz_looks = 0;
  fuzz_time += on % 8;
  w.calls++;
  switch (call) {
  case 0:
  case 1:
    if (s.states[go] != FREE) break;
    if (!(w.gos[go] = gotrace_go_create_at(site, &entries[on % 5]))) break;
    s.ids[go] = gotrace_go_id(w.gos[go]);
    s.states[go] = RUNNABLE;
    s.depths[go] = 0;
    did(self, CREATE, s.ids[go]);
    break;
  case 2:
  case 3:
  case 4:
    if (s.states[go] != RUNNABLE || self >= 0) break;
    gotrace_go_start(w.gos[go]);
    run(go, fuzz_thread);
    break;
  case 5:
  case 6:
    if (self < 0) break;
    gotrace_go_block_at(site, reasons[on % 6]);
    did(self, BLOCK, 0);
    s.states[self] = BLOCKED;
    s.running[fuzz_thread] = -1;
    break;
  case 7:
    if (self < 0) break;
    gotrace_go_stop_at(site, on % 2 ? GOTRACE_STOP_YIELD : GOTRACE_STOP_PREEMPTED);
    did(self, STOP, 0);
    s.states[self] = RUNNABLE;
    s.running[fuzz_thread] = -1;
    break;
  case 8:
    if (self < 0 || on % 4) break;
    while (s.depths[self]) {
      unsigned name = s.regions[self][--s.depths[self]];
      gotrace_region_end_at(site, w.tasks[0], name_of(name), 0);
      did(self, REGION_END, 0);
    }
    gotrace_go_end();
    did(self, END, 0);
    s.states[self] = FREE;
    s.running[fuzz_thread] = -1;
    break;
  case 9:
  case 10:
    if (s.states[go] != BLOCKED) break;
    gotrace_go_unblock_at(site, w.gos[go]);
    s.states[go] = RUNNABLE;
    break;
  case 11:
    if (s.states[go] != BLOCKED || self < 0) break;
    gotrace_go_switch_at(site, w.gos[go]);
    did(self, BLOCK, 0);
    s.states[self] = BLOCKED;
    run(go, fuzz_thread);
    break;
  case 12:
    if (self < 0) break;
    gotrace_go_syscall_begin_at(site);
    gotrace_go_syscall_end();
    did(self, SYSCALL, 0);
    break;
  case 13:
    if (self < 0 || s.depths[self] == 8) break;
    gotrace_region_begin_at(site, w.tasks[0], name_of(on), 0);
    s.regions[self][s.depths[self]++] = on;
    did(self, REGION_BEGIN, 0);
    break;
  case 14:
    if (self < 0 || !s.depths[self]) break;
    gotrace_region_end_at(site, w.tasks[0], name_of(s.regions[self][--s.depths[self]]), 0);
    did(self, REGION_END, 0);
    break;
  case 15:
    if (self < 0) break;
    snprintf(text, sizeof text, "%llu", (unsigned long long)++s.serial);
    gotrace_log_at(site, w.tasks[0], name_of(on), text);
    did(self, LOG, s.serial);
    break;
  case 16:
    if (self < 0) break;
    gotrace_task_end_at(site, gotrace_task_begin_at(site, name_of(on), 0, w.tasks[0]));
    did(self, TASK_BEGIN, 0);
    did(self, TASK_END, 0);
    break;
  case 17: become(on % THREADS); break;
  case 18:
    if (on % 4 == 0) fuzz_skew[on / 4 % 4] = (int64_t)(fuzz_take(&w.in, 2) % 5000) - 2500;
    else if (on % 4 == 1) gotrace_advance();
    else if (on % 4 == 2) fuzz_time += fuzz_take(&w.in, 2);
    else if (w.running) read_piece(false);
    break;
  case 19:
    if (!s.started) {
      gotrace_options options;
      unsigned i;
      memset(&options, 0, sizeof options);
      options.format = s.format;
      options.stacks = on % 2 ? GOTRACE_STACKS_NONE : GOTRACE_STACKS_CALL_SITE;
      options.symbolize = symbolize;
      options.report = report;
      REQUIRE(gotrace_start(&options) == GOTRACE_OK);
      w.running = s.started = true;
      w.v2 = s.format >= GOTRACE_GO_1_22;
      for (i = 0; i < THREADS; i++) s.first_ran[i] = s.running[i] >= 0 ? s.ids[s.running[i]] : 0;
    }
    break;
  }
}

static void find(int64_t go, unsigned what, uint64_t argument) {
  REQUIRE(s.found < STEPS);
  steps_found[s.found].go = (uint64_t)go;
  steps_found[s.found].what = what;
  steps_found[s.found++].argument = argument;
}

static uint64_t number_of(const char *text, size_t size) {
  uint64_t number = 0;
  for (; size; size--, text++) {
    REQUIRE(*text >= '0' && *text <= '9');
    number = 10 * number + (uint64_t)(*text - '0');
  }
  return number;
}

static bool was_created(uint64_t id) {
  size_t i;
  for (i = 0; i < s.done; i++)
    if (steps_done[i].what == CREATE && steps_done[i].argument == id) return true;
  return false;
}

/* Reads the steps from the trace. */
static void find_steps(void) {
  gotrace_decoder_options options;
  gotrace_decoder *d = NULL;
  gotrace_event e;
  const char *text = "";
  size_t size = 0;
  memset(&options, 0, sizeof options);
  options.data = w.trace;
  options.size = w.size;
  REQUIRE(gotrace_decoder_open(&d, &options) == GOTRACE_OK);
  s.found = 0;
  while (gotrace_decoder_next(d, &e) == GOTRACE_OK) {
    if (e.implied && e.v1_kind) continue;
    switch (e.kind) {
    case GOTRACE_V2_GO_START: find((int64_t)e.args[0], START, 0); break;
    case GOTRACE_V2_GO_BLOCK:
      if (e.v1_kind != GOTRACE_V1_GO_STOP) find(e.g, BLOCK, 0);
      break;
    case GOTRACE_V2_GO_STOP: find(e.g, STOP, 0); break;
    case GOTRACE_V2_GO_DESTROY: find(e.g, END, 0); break;
    case GOTRACE_V2_GO_SYSCALL_BEGIN: find(e.g, SYSCALL, 0); break;
    case GOTRACE_V2_USER_REGION_BEGIN: find(e.g, REGION_BEGIN, 0); break;
    case GOTRACE_V2_USER_REGION_END: find(e.g, REGION_END, 0); break;
    case GOTRACE_V2_USER_TASK_BEGIN: find(e.g, TASK_BEGIN, 0); break;
    case GOTRACE_V2_USER_TASK_END: find(e.g, TASK_END, 0); break;
    case GOTRACE_V2_USER_LOG:
      REQUIRE(gotrace_decoder_string(d, e.args[2], &text, &size));
      find(e.g, LOG, number_of(text, size));
      break;
    case GOTRACE_V2_GO_CREATE:
      if (was_created(e.args[0])) find(e.g, CREATE, e.args[0]);
      break;
    default: break;
    }
  }
  REQUIRE(gotrace_decoder_error(d)->result == GOTRACE_OK);
  gotrace_decoder_close(d);
}

static size_t next_of(const step *steps, size_t count, size_t at, uint64_t go) {
  while (at < count && steps[at].go != go) at++;
  return at;
}

static void show(const char *which, const step *steps, size_t count, uint64_t go) {
  size_t i;
  fprintf(stderr, "%s:", which);
  for (i = 0; i < count; i++)
    if (steps[i].go == go)
      fprintf(stderr, " %s %llu,", step_names[steps[i].what], (unsigned long long)steps[i].argument);
  fprintf(stderr, "\n");
}

static void compare_steps(uint64_t go) {
  size_t i = next_of(steps_done, s.done, 0, go), j = next_of(steps_found, s.found, 0, go);
  unsigned thread, last = STEPS;
  /* A goroutine that ran when tracing began may have a start there. */
  for (thread = 0; thread < THREADS; thread++)
    if (s.first_ran[thread] == go && j < s.found && steps_found[j].what == START)
      j = next_of(steps_found, s.found, j + 1, go);
  for (;;) {
    /* v1 shows a long system call as if it had lost its proc. */
    if (!w.v2 && last == SYSCALL && j < s.found && steps_found[j].what == START)
      j = next_of(steps_found, s.found, j + 1, go);
    if (i == s.done || j == s.found || steps_done[i].what != steps_found[j].what ||
        steps_done[i].argument != steps_found[j].argument)
      break;
    last = (unsigned)steps_done[i].what;
    i = next_of(steps_done, s.done, i + 1, go);
    j = next_of(steps_found, s.found, j + 1, go);
  }
  /* v1: a goroutine that runs when tracing ends may have a stop there. */
  for (thread = 0; thread < THREADS; thread++)
    if (!w.v2 && s.running[thread] >= 0 && s.ids[s.running[thread]] == go && j < s.found && steps_found[j].what == STOP)
      j = next_of(steps_found, s.found, j + 1, go);
  if (i == s.done && j == s.found) return;
  fprintf(stderr, "format %d, goroutine %llu:\n", (int)s.format, (unsigned long long)go);
  show("done", steps_done, s.done, go);
  show("found", steps_found, s.found, go);
  abort();
}

static void schedule(const uint8_t *data, size_t size) {
  uint8_t *memory = w.trace;
  unsigned i;
  size_t n;
  memset(&w, 0, sizeof w);
  memset(&s, 0, sizeof s);
  w.trace = memory;
  w.in.at = data;
  w.in.end = data + (size < 4000 ? size : 4000);
  fuzz_time = 1000000;
  fuzz_looks = 0;
  memset(fuzz_skew, 0, sizeof fuzz_skew);
  fuzz_thread = 0;
  fuzz_fail_after = fuzz_fail_count = 0;
  s.format = formats[fuzz_take(&w.in, 1) / 2 % FORMATS];
  for (i = 0; i < SITES; i++) {
    w.sites[i].location.function = "caller";
    w.sites[i].location.line = i + 1;
  }
  for (i = 0; i < THREADS; i++) {
    s.running[i] = -1;
    become(i);
    REQUIRE((w.procs[i] = gotrace_proc_create()) != NULL);
    gotrace_proc_start(w.procs[i]);
  }
  while (w.in.at < w.in.end) sensible_call();
  if (s.started) {
    gotrace_end();
    while (read_piece(true)) continue;
    REQUIRE(calls_checked == w.size);
    find_steps();
    for (n = 0; n < s.done; n++)
      if (next_of(steps_done, n, 0, steps_done[n].go) == n) compare_steps(steps_done[n].go);
    for (n = 0; n < s.found; n++)
      if (next_of(steps_done, s.done, 0, steps_found[n].go) == s.done) compare_steps(steps_found[n].go);
  }
  while (fuzz_blocks.next != &fuzz_blocks) fuzz_free(fuzz_blocks.next + 1, fuzz_blocks.next->size);
  gotrace__set_self(NULL);
  pthread_setspecific(gotrace__exit_key, NULL);
  gotrace__t = fresh_tracer;
  gotrace__on = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!w.trace) session_calls(data, 0); /* initializes */
  if (!size) return 0;
  if (data[0] % 2) schedule(data, size);
  else session_calls(data + 1, size - 1);
  return 0;
}
