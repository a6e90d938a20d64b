/* The transcriber, fed with records made by hand: what it writes, what it repairs, drops and counts, the order of
 * records of several threads, the clock, lack of memory and malformed bytes. fuzz/transcribe.c feeds it arbitrary
 * records. */
#define GOTRACE__LANE_MOST 8192
#define GOTRACE__LEAST_ROUND 64
#define GOTRACE__REGION_DEPTH 8
#define GOTRACE__MOST_TEXTS 100000
#define GOTRACE__MOST_IDS 1000u
#define GOTRACE__MOST_KEPT 64u
#include <stdlib.h>
#define GOTRACE_MALLOC(size) malloc(size) /* so that the address sanitizer sees all memory */
#define GOTRACE_FREE(pointer, size) ((void)(size), free(pointer))
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "capture_calls.h"
#include "../check_v1.h"
#include "../check_v2.h"
#include "../test_collect.h"
#include "../test_trace.h"

static capture c;
static gotrace__transcriber t;
static capture_tables tables;
static gotrace__budget budget;
static uint8_t trace[1 << 23];
static size_t size, most = sizeof trace;
static bool refused;

static bool keep(void *context, const void *data, size_t bytes) {
  (void)context;
  CHECK(!refused); /* nothing follows what is missing */
  refused = size + bytes > most;
  if (refused) return false;
  memcpy(trace + size, data, bytes);
  size += bytes;
  return true;
}

static bool begin(unsigned format) {
  gotrace_location places[] = {{0, "caller", "test.c", 1}, {0, "worker", "test.c", 2}};
  gotrace__transcribe_options options;
  gotrace__clocks clocks;
  memset(&t, 0, sizeof t);
  size = 0;
  refused = false;
  capture_tables_begin(&tables, "constant", "other", places, 2);
  memset(&options, 0, sizeof options);
  options.version = format;
  capture_tables_use(&tables, &options);
  options.service_thread = 1;
  options.first_task = c.next_task + 1;
  options.write = keep;
  options.cut_bytes = 1 << 20;
  options.budget = &budget;
  budget.used = 0;
  if (!budget.limit) budget.limit = SIZE_MAX;
  if (!c.tick) c.tick = 1000;
  clocks = capture_clocks(&c);
  if (!gotrace__transcribe_begin(&t, &options, &clocks)) return false;
  capture_start(&c, &t);
  return true;
}

static void step(void) {
  gotrace__clocks clocks;
  c.tick += 2 * GOTRACE__CLOCK_SKEW;
  clocks = capture_clocks(&c);
  gotrace__transcribe_round(&t, &clocks, false);
}

static void check_readers(void) {
  uint64_t seed;
  for (seed = 0; seed < 3; seed++) {
    if (t.v1) {
      check_v1_trace v1;
      if (!check_v1(&v1, trace, size, CHECK_V1_STRICT, seed)) fprintf(stderr, "%s\n", v1.error);
      CHECK(!v1.error[0]);
      check_v1_free(&v1);
    } else {
      check_v2_trace v2;
      if (!check_v2(&v2, trace, size, seed)) fprintf(stderr, "%s\n", v2.error);
      CHECK(!v2.error[0]);
      check_v2_free(&v2);
    }
  }
}

/* Ends the trace and checks it. `name`: of the file that Go opens, or NULL. */
static gotrace_result end(const char *name) {
  gotrace__clocks clocks;
  gotrace_result result;
  c.tick += 100;
  clocks = capture_clocks(&c);
  result = gotrace__transcribe_finish(&t, &clocks);
  if (result != GOTRACE_ERROR_SINK) check_readers();
  if (name) {
    FILE *file = fopen(test_trace_path(name, (gotrace_format)t.options.version), "wb");
    CHECK(file && fwrite(trace, 1, size, file) == size && fclose(file) == 0);
  }
  return result;
}

static void done(void) {
  gotrace__transcribe_free(&t);
  CHECK_EQUAL(budget.used, 0);
  capture_tables_free(&tables);
  capture_free(&c);
  memset(&c, 0, sizeof c);
  budget.limit = 0;
}

static uint64_t problems(void) {
  uint64_t all = 0;
  unsigned i;
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) all += t.problems[i];
  return all;
}

/* Shorter names for the calls, by thread. */
static void proc(unsigned m, unsigned kind, unsigned place) { c.tick++, capture_proc_call(&c, m, kind, place); }
static void go(unsigned m, unsigned kind, unsigned place) { c.tick++, capture_go_call(&c, m, kind, place); }
static void self(unsigned m, unsigned kind) { c.tick++, capture_running_call(&c, m, kind, 5); }
static void create(unsigned m, unsigned place) {
  c.tick++;
  capture_create(&c, m, place, GOTRACE__RUNNABLE, 0, 2);
}
static void user(unsigned m, unsigned kind, uint64_t task, unsigned name, const char *text) {
  capture_record record = capture_made(kind);
  uint32_t text_size = (uint32_t)strlen(text);
  c.tick++;
  if (kind == GOTRACE__REC_TASK_BEGIN) record.is.as_TASK_BEGIN.task = task;
  else if (kind == GOTRACE__REC_TASK_END) record.is.as_TASK_END.task = task;
  else record.task = task;
  record.site.stack = 1;
  record.site.name = name;
  if (kind == GOTRACE__REC_LOG) record.text = text, record.text_size = text_size;
  else if (!name && kind != GOTRACE__REC_TASK_END) record.name = text, record.name_size = text_size;
  capture_call(&c, m, &record);
}

static gotrace_decoder *decoder(void) {
  gotrace_decoder *d = NULL;
  CHECK(test_open_decoder(&d, trace, size, false) == GOTRACE_OK);
  return d;
}

/* The trace as text: a line per event with its name in the file, its goroutine and the first string in the file. */
static const char *told(void) {
  static char text[1 << 16];
  gotrace_decoder *d;
  gotrace_event event;
  size_t at = 0;
  d = decoder();
  text[0] = 0;
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK && at < sizeof text - 200) {
    const char *string = "";
    size_t length = 0;
    unsigned i = 0;
    const char *word = event.spec->arguments;
    const char *name = event.v1_kind ? gotrace_find_event_spec((gotrace_format)t.options.version, event.v1_kind)->name
                                     : event.spec->name;
    if (event.implied || strstr(event.spec->name, "Sync") == event.spec->name) continue;
    for (; *word; word += strcspn(word, " "), word += *word == ' ') {
      size_t n = strcspn(word, " ");
      if ((n == 2 && memcmp(word, "dt", 2) == 0) || (n >= 4 && memcmp(word + n - 4, "data", 4) == 0)) continue;
      if (n > 6 && memcmp(word + n - 6, "string", 6) == 0 && !(t.v1 && strncmp(word, "reason", 6) == 0))
        gotrace_decoder_string(d, event.args[i], &string, &length);
      i++;
    }
    if (event.data) string = event.data, length = event.data_size;
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s g%lld%s%.*s", at ? "\n" : "", name, (long long)event.g,
                           length ? " " : "", (int)length, string);
  }
  if (gotrace_decoder_error(d)->result) fprintf(stderr, "%s\n", gotrace_decoder_error(d)->message);
  CHECK(!gotrace_decoder_error(d)->result);
  gotrace_decoder_close(d);
  return text;
}

static void expect(const char *lines) {
  if (strcmp(told(), lines) != 0) fprintf(stderr, "the trace is\n%s\n", told());
  CHECK(strcmp(told(), lines) == 0);
}

/* A goroutine that is created, blocks, is woken by another thread and ends; a system call whose proc is stolen. */
static void check_story(unsigned format) {
  CHECK(begin(format));
  c.procs[1].status = c.procs[2].status = GOTRACE__PROC_IDLE;
  proc(0, GOTRACE__REC_PROC_START, 1);
  create(0, 1);
  create(0, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  proc(1, GOTRACE__REC_PROC_START, 2);
  go(1, GOTRACE__REC_GO_START, 2);
  user(1, GOTRACE__REC_REGION_BEGIN, 0, 1, "");
  self(0, GOTRACE__REC_GO_BLOCK);
  go(1, GOTRACE__REC_GO_UNBLOCK, 1);
  user(1, GOTRACE__REC_LOG, 0, 1, "woken");
  user(1, GOTRACE__REC_REGION_END, 0, 1, "");
  step();
  gotrace__transcribe_cut(&t);
  go(0, GOTRACE__REC_GO_START, 1);
  self(1, GOTRACE__REC_SYSCALL_BEGIN);
  c.threads[2].proc = 0;
  proc(2, GOTRACE__REC_PROC_STEAL, 2);
  proc(2, GOTRACE__REC_PROC_START, 2);
  user(1, GOTRACE__REC_LOG, 0, 2, "inside");
  self(1, GOTRACE__REC_SYSCALL_END_BLOCKED);
  go(2, GOTRACE__REC_GO_START, 2);
  self(2, GOTRACE__REC_GO_END);
  self(0, GOTRACE__REC_GO_END);
  CHECK_EQUAL(end("transcribed"), GOTRACE_OK);
  CHECK_EQUAL(problems(), format < GOTRACE_GO_1_11 ? 4 : 0); /* FORMAT_LACKS */
  CHECK(!t.counters.forced && !t.counters.malformed && !t.counters.late_introductions);
  if (format == GOTRACE_GO_1_11)
    expect("Gomaxprocs g-1\nGomaxprocs g-1\nProcStart g-1\nGoCreate g-1\nGoCreate g-1\nGoStart g1\nProcStart "
           "g-1\nGoStart g2\nGomaxprocs g2\n"
           "UserRegion g2 constant\nGoBlockSync g1\nGoUnblock g2\nUserLog g2 woken\nUserRegion g2 constant\n"
           "GoStart g1\nGoSysCall g2\nGoSysBlock g2\nProcStop g-1\nProcStart g-1\nProcStart g-1\nGoSysExit g2\n"
           "GoStart g2\nGomaxprocs g2\nUserLog g2 inside\nGoSysCall g2\nGoSysBlock g2\nProcStop g-1\nGoSysExit "
           "g2\nGoStart g2\n"
           "GoEnd g2\nGoEnd g1");
  if (format == GOTRACE_GO_1_23)
    expect("ProcStatus g-1\nProcStart g-1\nGoCreate g-1\nGoCreate g-1\nGoStart g-1\nProcsChange g1\nProcStatus g-1\n"
           "ProcStart g-1\nGoStart g-1\nProcsChange g2\nUserRegionBegin g2 constant\nGoBlock g1 sync\nGoUnblock g2\n"
           "UserLog g2 woken\nUserRegionEnd g2 constant\n"
           "ProcStatus g-1\nProcStatus g2\nGoStatusStack g2\nGoStatusStack g-1\nGoStart g-1\nProcsChange g1\n"
           "GoSyscallBegin g2\nProcSteal g-1\nProcStart g-1\nGoSyscallEndBlocked g2\nProcStatus g-1\nProcStart g-1\n"
           "GoStart g-1\nProcsChange g2\nUserLog g2 inside\nGoSyscallBegin g2\nProcStop g2\nGoSyscallEndBlocked "
           "g2\nGoStart g-1\n"
           "GoDestroy g2\nGoDestroy g1");
  done();
}

/* A call that the state forbids is repaired or dropped, and counted by kind. */
static void check_problems(unsigned format) {
  CHECK(begin(format));
  c.procs[1].status = c.procs[2].status = GOTRACE__PROC_IDLE;
  self(0, GOTRACE__REC_GO_BLOCK); /* nothing runs */
  self(0, GOTRACE__REC_SYSCALL_END);
  proc(0, GOTRACE__REC_PROC_STOP, 0);
  create(0, 1); /* no proc */
  go(0, GOTRACE__REC_GO_START, 1);
  create(0, 2);
  go(0, GOTRACE__REC_GO_START, 2); /* over the other one */
  c.threads[1].go = 0;
  go(1, GOTRACE__REC_GO_START, 2); /* it runs elsewhere */
  go(1, GOTRACE__REC_GO_UNBLOCK, 1);
  user(0, GOTRACE__REC_REGION_END, 0, 1, "");
  user(0, GOTRACE__REC_REGION_BEGIN, 0, 1, "");
  user(0, GOTRACE__REC_REGION_BEGIN, 0, 2, "");
  user(0, GOTRACE__REC_REGION_END, 0, 1, ""); /* not the innermost */
  self(0, GOTRACE__REC_SYSCALL_BEGIN);
  self(0, GOTRACE__REC_GO_END); /* inside a system call */
  proc(1, GOTRACE__REC_PROC_START, 1);
  proc(2, GOTRACE__REC_PROC_START, 1);
  proc(1, GOTRACE__REC_PROC_START, 2);
  proc(2, GOTRACE__REC_PROC_STEAL, 2);
  go(1, GOTRACE__REC_GO_START, 2); /* it has ended */
  CHECK_EQUAL(end("problems"), GOTRACE_OK);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_NOT_RUNNING], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_SYSCALL_NONE], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_PROC_STOP_NONE], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_CREATE_NO_PROC], t.v1 ? 0 : 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_NO_PROC], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_START_OVER], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_START_RUNNING], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_START_DEAD], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_UNBLOCK_NOT_WAITING], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_SYSCALL_OPEN], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_PROC_START_RUNNING], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_PROC_START_OVER], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_PROC_STEAL], 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_REGION_NONE], format < GOTRACE_GO_1_11 ? 0 : 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_REGION_ORDER], format < GOTRACE_GO_1_11 ? 0 : 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_FORMAT_LACKS], format < GOTRACE_GO_1_11 ? 4 : 0);
  done();
}

/* A record that is published later than one that depends on it: the latter waits within the round. A predecessor that
 * never comes holds up nobody. */
static void check_order(void) {
  CHECK(begin(GOTRACE_GO_1_23));
  c.procs[1].status = c.procs[2].status = GOTRACE__PROC_IDLE;
  proc(0, GOTRACE__REC_PROC_START, 1);
  proc(1, GOTRACE__REC_PROC_START, 2);
  create(0, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  c.tick -= 2; /* the other core's clock is behind: its records come first */
  c.gos[1].tick = 0;
  self(0, GOTRACE__REC_GO_BLOCK);
  c.threads[1].tick -= 2;
  c.tick -= 3;
  c.gos[1].tick = 0;
  go(1, GOTRACE__REC_GO_UNBLOCK, 1);
  c.gos[1].tick = 0;
  go(1, GOTRACE__REC_GO_START, 1);
  self(1, GOTRACE__REC_GO_END);
  step();
  CHECK_EQUAL(problems(), 0);
  CHECK_EQUAL(t.counters.forced, 0);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_DESTROY], 1);
  create(0, 2);
  c.threads[0].held = true;
  go(0, GOTRACE__REC_GO_START, 2); /* never published */
  self(0, GOTRACE__REC_GO_BLOCK);
  c.gos[2].tick = 0;
  go(1, GOTRACE__REC_GO_UNBLOCK, 2);
  go(1, GOTRACE__REC_GO_START, 2);
  self(1, GOTRACE__REC_GO_END);
  step(); /* what they wait for may be in the next round */
  CHECK_EQUAL(t.counters.forced, 0);
  step();
  CHECK_EQUAL(t.counters.forced, 1); /* the start; the unblock is of a block that the trace lacks */
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_UNBLOCK_NOT_WAITING], 1);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_DESTROY], 2);
  CHECK_EQUAL(end("order"), GOTRACE_OK);
  done();
}

/* Two wakers and a time-out: one unblock is written, the others are stale or late. */
static void check_wakers(void) {
  CHECK(begin(GOTRACE_GO_1_23));
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  self(0, GOTRACE__REC_GO_BLOCK);
  go(1, GOTRACE__REC_GO_UNBLOCK, 1);
  go(0, GOTRACE__REC_WAIT_END, 1);
  c.gos[1].number -= 2; /* a waker that has read the number before the wait ended */
  go(1, GOTRACE__REC_GO_UNBLOCK, 1);
  c.gos[1].number += 2;
  go(1, GOTRACE__REC_GO_UNBLOCK, 1);
  self(0, GOTRACE__REC_GO_BLOCK);
  go(0, GOTRACE__REC_WAIT_END, 1); /* a time-out: its own unblock */
  CHECK_EQUAL(end("wakers"), GOTRACE_OK);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_UNBLOCK], 2);
  CHECK_EQUAL(t.counters.stale, 1);
  CHECK_EQUAL(t.counters.late, 1);
  CHECK_EQUAL(problems() + t.counters.forced, 0);
  done();
}

/* Regions beyond the deepest forget the outermost, not those that follow (left by longjmp). */
static void check_deep_regions(void) {
  unsigned i;
  CHECK(begin(GOTRACE_GO_1_23));
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  for (i = 0; i < 20; i++) user(0, GOTRACE__REC_REGION_BEGIN, i, 1, "");
  for (i = 0; i < 3; i++) {
    user(0, GOTRACE__REC_REGION_BEGIN, 0, 0, "made at run time");
    user(0, GOTRACE__REC_REGION_END, 0, 0, "made at run time");
  }
  for (i = 20; i-- > 0;) user(0, GOTRACE__REC_REGION_END, i, 1, "");
  CHECK_EQUAL(end("deep"), GOTRACE_OK);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_USER_REGION_BEGIN], 23);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_USER_REGION_END], 3 + GOTRACE__REGION_DEPTH - 1);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_REGION_DEPTH], 12 + 1); /* each is written, one of the outermost has no end */
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_REGION_NONE], 20 - (GOTRACE__REGION_DEPTH - 1));
  done();
}

/* Two threads log in turn. Go's reader rounds each event's time down to whole nanoseconds, so only whole units keep the
 * order. */
static void check_ping(unsigned format, bool at_end) {
  gotrace_decoder *d;
  gotrace_event event;
  unsigned long i, last = 0, count = (unsigned long)test_scaled(20000);
  CHECK(begin(format));
  if (at_end) t.options.cut_bytes = 16384;
  for (i = 0; i < 2; i++) {
    capture_create(&c, (unsigned)i, (unsigned)i + 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
    go((unsigned)i, GOTRACE__REC_GO_START, (unsigned)i + 1);
  }
  for (i = 1; i <= count; i++) {
    char text[16];
    snprintf(text, sizeof text, "%lu", i);
    user(i % 2, GOTRACE__REC_LOG, 0, 1, text);
    if (i % 1000 == 0 && !at_end) step();
    if (i % 5000 == 0 && !at_end) gotrace__transcribe_cut(&t);
  }
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  if (at_end && !t.v1) CHECK(t.generation >= size / 32768);
  d = decoder();
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK) {
    const char *text;
    size_t length;
    char value[32] = "";
    if (strcmp(event.spec->name, "UserLog") != 0) continue;
    CHECK(gotrace_decoder_string(d, event.args[2], &text, &length));
    CHECK(length < sizeof value);
    memcpy(value, text, length);
    CHECK_EQUAL(strtoul(value, NULL, 10), last + 1);
    last++;
  }
  CHECK_EQUAL(last, count);
  gotrace_decoder_close(d);
  done();
}

/* The times of the trace's three logs. */
static void log_times(int64_t times[3]) {
  gotrace_decoder *d;
  gotrace_event event;
  int n = 0;
  d = decoder();
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK)
    if (event.kind == GOTRACE_V2_USER_LOG && n < 3) times[n++] = event.time;
  gotrace_decoder_close(d);
  CHECK_EQUAL(n, 3);
}

/* The counter jumps in the middle of a round, as when a computer sleeps for an hour: all of it is in one gap. One that
 * jumps back is seen as soon as the trace has begun, when its rate is hardly known. */
static void check_jump(bool back, int jump_round) {
  int64_t times[3];
  gotrace__clocks clocks;
  uint64_t nanoseconds, hour = (uint64_t)3600 * 1000000000 / CAPTURE_NANOSECONDS, at;
  int round;
  c.tick = 4 * hour;
  CHECK(begin(GOTRACE_GO_1_23));
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  nanoseconds = c.tick * CAPTURE_NANOSECONDS;
  for (round = 0; round < jump_round + 2; round++) {
    at = c.tick += 250000; /* 5 ms */
    if (round >= jump_round) user(0, GOTRACE__REC_LOG, 0, 1, "tick");
    if (round == jump_round) at = back ? at - hour : at + hour;
    c.tick = at += 250000;
    if (round == jump_round) {
      if (back) c.threads[0].tick = at, capture_chunk(&c.threads[0]), c.gos[1].tick = c.first_tick = 0;
      user(0, GOTRACE__REC_LOG, 0, 1, "tick");
    }
    c.tick = at + 500000;
    clocks = capture_clocks(&c);
    clocks.nanoseconds = nanoseconds += 20000000;
    gotrace__transcribe_round(&t, &clocks, false);
  }
  CHECK_EQUAL(t.counters.jumps, 1);
  CHECK_EQUAL(gotrace__transcribe_finish(&t, &clocks), GOTRACE_OK);
  check_readers();
  log_times(times);
  CHECK(times[1] - times[0] > 4900000 && times[1] - times[0] < 5100000);
  CHECK(times[2] - times[1] > 14900000 && times[2] - times[1] < 15100000);
  done();
}

/* A jump of the tick counter spoils one round: the times before and after it are right. */
static void check_clock(void) {
  int64_t times[3];
  gotrace__clocks clocks;
  uint64_t nanoseconds;
  int round;
  CHECK(begin(GOTRACE_GO_1_23));
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  nanoseconds = c.tick * CAPTURE_NANOSECONDS;
  for (round = 0; round < 4; round++) {
    uint64_t from = c.tick;
    if (round != 1) user(0, GOTRACE__REC_LOG, 0, 1, "tick");
    c.tick = from + 1000000;                                 /* 20 ms */
    if (round == 1) c.tick += (uint64_t)1 << 40;             /* the counter jumps ahead by hours */
    if (round == 2) c.threads[0].tick = c.tick = c.tick / 2; /* and back */
    if (round == 2) capture_chunk(&c.threads[0]), c.gos[1].tick = 0;
    clocks = capture_clocks(&c);
    clocks.nanoseconds = nanoseconds += 20000000;
    gotrace__transcribe_round(&t, &clocks, false);
  }
  CHECK_EQUAL(t.counters.jumps, 1);
  clocks.tick += 100;
  CHECK_EQUAL(gotrace__transcribe_finish(&t, &clocks), GOTRACE_OK);
  check_readers();
  log_times(times);
  CHECK(times[1] - times[0] > 39000000 && times[1] - times[0] < 61000000); /* 40 ms, or within the bad rounds */
  CHECK(times[2] - times[1] >= 0 && times[2] - times[1] < 41000000);
  done();
}

/* A thread introduces a goroutine that is older than the trace, another starts it at the same tick: the start waits for
 * the introduction, and no longer. Otherwise what waits for a later record of that thread would be forced. */
static void check_introduced_at_one_tick(unsigned first) {
  const unsigned second = 1 - first;
  c.gos[1].live = true;
  c.gos[1].id = ++c.next_go;
  c.gos[1].status = GOTRACE__RUNNABLE;
  c.gos[1].entry = 2;
  CHECK(begin(GOTRACE_GO_1_23));
  c.procs[1].status = c.procs[2].status = GOTRACE__PROC_IDLE;
  proc(0, GOTRACE__REC_PROC_START, 1);
  proc(1, GOTRACE__REC_PROC_START, 2);
  c.tick++;
  capture_go_call(&c, first, GOTRACE__REC_GO_RENAME, 1);
  capture_go_call(&c, second, GOTRACE__REC_GO_START, 1);
  capture_collector_call(&c, second, GOTRACE__REC_GC_BEGIN, 0);
  capture_collector_call(&c, first, GOTRACE__REC_GC_END, 0);
  CHECK_EQUAL(c.threads[0].tick, c.threads[1].tick);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(problems(), 0);
  CHECK_EQUAL(t.counters.forced, 0);
  done();
}

/* The sums of a sweep are its own. */
static void check_second_sweep(void) {
  gotrace_decoder *d;
  gotrace_event event;
  unsigned i, seen = 0;
  CHECK(begin(GOTRACE_GO_1_23));
  c.procs[1].status = GOTRACE__PROC_IDLE;
  proc(0, GOTRACE__REC_PROC_START, 1);
  create(0, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  for (i = 1; i <= 2; i++) {
    capture_record span = capture_made(GOTRACE__REC_SWEEP_SPAN);
    span.is.as_SWEEP_SPAN.swept = 8192 * i;
    span.is.as_SWEEP_SPAN.reclaimed = 4096 * i;
    self(0, GOTRACE__REC_SWEEP_BEGIN);
    capture_call(&c, 0, &span);
    self(0, GOTRACE__REC_SWEEP_END);
  }
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  d = decoder();
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK) {
    if (event.kind != GOTRACE_V2_GC_SWEEP_END) continue;
    seen++;
    CHECK_EQUAL(event.args[0], 8192 * seen);
    CHECK_EQUAL(event.args[1], 4096 * seen);
  }
  CHECK_EQUAL(seen, 2);
  gotrace_decoder_close(d);
  done();
}

/* Each jump of the counter is a gap in one round, and is counted once; then its rate counts again. */
static void check_jumps(void) {
  gotrace__clocks clocks;
  uint64_t nanoseconds;
  int round;
  CHECK(begin(GOTRACE_GO_1_23));
  nanoseconds = c.tick * CAPTURE_NANOSECONDS;
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  for (round = 0; round < 24; round++) {
    user(0, GOTRACE__REC_LOG, 0, 1, "tick");
    c.tick += 1000000; /* 20 ms */
    if (round == 8) c.tick += (uint64_t)1 << 40;
    if (round == 12) c.threads[0].tick = c.tick = c.tick / 2, capture_chunk(&c.threads[0]), c.gos[1].tick = 0;
    if (round == 16) c.tick += (uint64_t)1 << 39;
    if (round == 20) c.threads[0].tick = c.tick = c.tick / 2, capture_chunk(&c.threads[0]), c.gos[1].tick = 0;
    clocks = capture_clocks(&c);
    clocks.nanoseconds = nanoseconds += 20000000;
    gotrace__transcribe_round(&t, &clocks, false);
    CHECK_EQUAL(t.counters.jumps, round < 8 ? 0 : (round - 4) / 4);
  }
  CHECK_EQUAL(gotrace__transcribe_finish(&t, &clocks), GOTRACE_OK);
  CHECK_EQUAL(t.counters.clamped, 0);
  check_readers();
  done();
}

/* The ticks of CPU samples, and the goroutines that ran then. */
static uint64_t sampled[4][2];
static unsigned next_sample;

static uint64_t sample(void *context, gotrace__transcriber *r, bool write) {
  (void)context;
  if (write) {
    gotrace__transcribe_sample(r, sampled[next_sample][0], 100, 0, 1, sampled[next_sample][1], NULL, 0);
    next_sample++;
  }
  return next_sample < 4 ? sampled[next_sample][0] : UINT64_MAX;
}

/* Goroutines that use one place after the other within a round: each sample is of the one that ran, which readers of v1
 * accept only after its creation. A sample of a goroutine that the trace does not have yet loses it. */
static void check_samples(unsigned format) {
  gotrace_decoder *d;
  gotrace_event event;
  unsigned i, seen = 0;
  CHECK(begin(format));
  t.options.sample = sample;
  next_sample = 0;
  c.procs[1].status = GOTRACE__PROC_IDLE;
  proc(0, GOTRACE__REC_PROC_START, 1);
  sampled[0][0] = c.tick++;
  sampled[0][1] = c.next_go + 1;
  for (i = 1; i < 4; i++) {
    create(0, 1);
    go(0, GOTRACE__REC_GO_START, 1);
    sampled[i][0] = c.tick++;
    sampled[i][1] = c.gos[1].id;
    self(0, GOTRACE__REC_GO_END);
  }
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  d = decoder();
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK) {
    if (event.kind != GOTRACE_V2_CPU_SAMPLE) continue;
    CHECK_EQUAL(event.args[3], t.v1 && !seen ? 0 : sampled[seen][1]);
    seen++;
  }
  CHECK_EQUAL(gotrace_decoder_error(d)->result, 0);
  CHECK_EQUAL(seen, 4);
  gotrace_decoder_close(d);
  done();
}

/* Bytes that are no records, as another process could write: counted, and the trace is valid. */
static void check_malformed(void) {
  enum { WHOLE = 24 };
  static const uint64_t bad[] = {0, GOTRACE__RECORD_KINDS, 0xff};
  capture_record record = capture_made(GOTRACE__REC_LOG);
  capture_thread *m = &c.threads[0];
  unsigned cut;
  for (cut = 1; cut <= WHOLE + 3; cut++) {
    uint8_t *data;
    CHECK(begin(GOTRACE_GO_1_26));
    capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
    go(0, GOTRACE__REC_GO_START, 1);
    data = (uint8_t *)(m->last + 1) + m->written;
    record.text = "hello";
    record.text_size = 5;
    record.site.name = 1;
    CHECK_EQUAL(capture_put_record(tables.sites, data, &record, 1) - data, WHOLE);
    if (cut <= WHOLE) m->written += WHOLE - cut; /* its end is missing */
    else memcpy(data, &bad[cut - WHOLE - 1], 8), m->written += WHOLE;
    capture_publish(m);
    capture_chunk(m);
    user(0, GOTRACE__REC_LOG, 0, 1, "in the next chunk");
    CHECK_EQUAL(end(NULL), GOTRACE_OK);
    CHECK_EQUAL(t.kinds[GOTRACE_V2_USER_LOG], 1);
    CHECK_EQUAL(t.counters.malformed, cut != WHOLE); /* then nothing of it is there */
    done();
  }
}

/* A thread's record says, after its end, that it runs a goroutine which nothing has told of: malformed. The trace has
 * events of the thread already, so the goroutine cannot have run there since the beginning. */
static void check_introduction_after_the_end(void) {
  capture_record record = capture_made(GOTRACE__REC_THREAD);
  CHECK(begin(GOTRACE_GO_1_26));
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  self(0, GOTRACE__REC_GO_END);
  capture_thread_end(&c, 0);
  record.is.as_THREAD.go = 2;
  record.is.as_THREAD.id = 77;
  record.is.as_THREAD.proc = 2;
  c.tick++;
  capture_put(&c, 0, &record, c.tick);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(t.counters.late_introductions, 1);
  done();
}

/* Lack of memory at any moment, and a sink that fails at any byte, end the trace early. What is there is a trace. */
static void check_failure(unsigned format, size_t limit) {
  unsigned i;
  budget.limit = limit;
  if (begin(format)) {
    for (i = 1; i <= 40 && !t.error; i++) {
      char text[40];
      capture_create(&c, i % 4, i, GOTRACE__RUNNABLE, i % 2, 2);
      go(i % 4, GOTRACE__REC_GO_START, i);
      snprintf(text, sizeof text, "a region made at run time %u", i);
      user(i % 4, GOTRACE__REC_REGION_BEGIN, i, 0, text);
      user(i % 4, GOTRACE__REC_TASK_BEGIN, i, 1, "");
      if (i % 8 == 0) step();
      if (i % 16 == 0) gotrace__transcribe_cut(&t);
    }
    i = end(NULL) == GOTRACE_OK;
    CHECK(i || t.error == (refused ? GOTRACE_ERROR_SINK : GOTRACE_ERROR_OUT_OF_MEMORY));
    if (limit > 3500000 && !refused) CHECK(i);
  }
  done();
}

static void check_failures(unsigned format) {
  size_t limit;
  for (limit = 1; limit < 4000000; limit += 3001 + limit / 8) {
    for (most = 100; most < 6000; most += 300) check_failure(format, limit); /* the sink may fail afterwards */
    most = sizeof trace;
    check_failure(format, limit);
  }
  for (most = 0; most < 3000; most += 97) {
    CHECK(begin(format));
    capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
    go(0, GOTRACE__REC_GO_START, 1);
    for (limit = 0; limit < 200; limit++) user(0, GOTRACE__REC_LOG, 0, 1, "a text of some length");
    end(NULL);
    CHECK(t.error == GOTRACE_ERROR_SINK || size + 4096 < sizeof trace);
    CHECK(size <= most);
    done();
  }
  most = sizeof trace;
}

/* A record of each kind is read where it is, and nothing behind it. */
static void check_places(unsigned format) {
  unsigned kind;
  CHECK(begin(format));
  for (kind = 1; kind < GOTRACE__RECORD_KINDS; kind++) {
    capture_record record = capture_made(kind);
    uint8_t *place = (uint8_t *)malloc(GOTRACE__WORDS(capture_size(kind)));
    gotrace__source *r;
    if (!c.threads[0].source || !c.threads[0].source->go) {
      create(0, kind);
      go(0, GOTRACE__REC_GO_START, kind);
      step();
    }
    r = c.threads[0].source;
    gotrace__turn_to(&t, r, t.to_unit);
    r->record = (const gotrace__record *)(const void *)place;
    r->record_end = gotrace__record_end(place, capture_put_record(tables.sites, place, &record, 0), &r->text);
    CHECK_EQUAL(r->record_end - place, GOTRACE__WORDS(capture_size(kind)));
    CHECK(!gotrace__apply(&t, r, r->record, true));
    r->record = NULL;
    free(place);
  }
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  done();
}

/* v1: a sample of a goroutine whose thread is silent, written before or after that goroutine has ended and another has
 * its place. Misuse: another thread has started that thread's proc, so the goroutine is created only at its thread's
 * first record. Readers reject the creation of an id that has an earlier sample. */
static void check_sample(bool misuse, bool late) {
  uint64_t pc = 4096, id, tick;
  c.procs[1].status = GOTRACE__PROC_IDLE;
  proc(0, GOTRACE__REC_PROC_START, 1);
  create(0, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  id = c.gos[1].id;
  CHECK(begin(GOTRACE_GO_1_19));
  step();
  tick = t.to_tick;
  if (!late) gotrace__transcribe_sample(&t, tick, 100, 0, 1, id, &pc, 1);
  if (misuse) proc(1, GOTRACE__REC_PROC_START, 1);
  self(0, GOTRACE__REC_GO_END);
  if (late) create(0, 1);
  step();
  if (late) gotrace__transcribe_sample(&t, tick, 100, 0, 1, id, &pc, 1);
  CHECK((gotrace__go_at(&t, 1)->id == id) == (!misuse && !late));
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(t.kinds[GOTRACE_V1_GO_CREATE], late ? 2 : 1);
  (void)told();
  done();
}

/* A collection without an event in a generation leaves the transcriber's own thread with a proc. In the next one, that
 * thread creates a goroutine that turns up late. */
static void check_late_goroutine(void) {
  capture_record record = capture_made(GOTRACE__REC_GO);
  size_t start;
  CHECK(begin(GOTRACE_GO_1_26));
  t.options.restate = true;
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  capture_collector_call(&c, 0, GOTRACE__REC_GC_BEGIN, 1);
  self(0, GOTRACE__REC_GO_BLOCK);
  step(), gotrace__transcribe_cut(&t);
  step(), gotrace__transcribe_cut(&t);
  record.is.as_GO.go = 2;
  record.is.as_GO.id = 1000;
  record.is.as_GO.status = GOTRACE__RUNNABLE;
  capture_call(&c, 0, &record);
  CHECK(t.service.proc);
  start = size;
  step(), gotrace__transcribe_cut(&t);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  size -= start - GOTRACE__HEADER_SIZE; /* a snapshot begins with that generation */
  memmove(trace + GOTRACE__HEADER_SIZE, trace + start, size - GOTRACE__HEADER_SIZE);
  check_readers();
  (void)told();
  done();
}

/* A goroutine older than the trace is introduced by a thread whose record before that waits. Meanwhile it has been
 * started and has blocked, and stays so until it is woken. */
static void check_introduction_behind_a_wait(void) {
  capture_create(&c, 0, 2, GOTRACE__RUNNABLE, 0, 2);
  c.procs[1].status = GOTRACE__PROC_IDLE;
  CHECK(begin(GOTRACE_GO_1_23));
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  step(), gotrace__transcribe_cut(&t);
  c.gos[1].number++;
  go(1, GOTRACE__REC_GO_UNBLOCK, 1);
  c.gos[1].number--;
  capture_know_go(&c, 1, 2, false);
  proc(2, GOTRACE__REC_PROC_START, 1);
  go(2, GOTRACE__REC_GO_START, 2);
  self(2, GOTRACE__REC_GO_BLOCK);
  self(0, GOTRACE__REC_GO_BLOCK);
  go(2, GOTRACE__REC_GO_UNBLOCK, 2);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_UNBLOCK], 2);
  CHECK_EQUAL(problems(), 0);
  done();
}

/* A cut has shown a goroutine that is older than the trace. Its label comes with its first record. */
static void check_label_after_a_cut(void) {
  capture_record record = capture_made(GOTRACE__REC_GO);
  capture_create(&c, 0, 2, GOTRACE__RUNNABLE, 0, 2);
  c.procs[1].status = GOTRACE__PROC_IDLE;
  CHECK(begin(GOTRACE_GO_1_23));
  step(), gotrace__transcribe_cut(&t);
  proc(0, GOTRACE__REC_PROC_START, 1);
  record.is.as_GO.go = 2, record.is.as_GO.id = c.gos[2].id, record.is.as_GO.entry = 2;
  record.is.as_GO.status = GOTRACE__RUNNABLE;
  record.text = "label", record.text_size = 5;
  capture_call(&c, 0, &record);
  c.gos[2].introduced = true;
  go(0, GOTRACE__REC_GO_START, 2);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_LABEL], 1);
  CHECK_EQUAL(problems(), 0);
  done();
}

/* v1: a goroutine that has blocked for ever is woken, which is misuse: it is created once more, which is no unblock
 * that readers could drop with a futile wake-up. */
static void check_futile_creation(void) {
  CHECK(begin(GOTRACE_GO_1_10));
  t.options.futile_wakeups = true;
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  capture_running_call(&c, 0, GOTRACE__REC_GO_BLOCK, GOTRACE_BLOCK_FOREVER);
  capture_create(&c, 1, 2, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(1, GOTRACE__REC_GO_START, 2);
  go(1, GOTRACE__REC_GO_UNBLOCK, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  capture_running_call(&c, 0, GOTRACE__REC_GO_BLOCK, GOTRACE_BLOCK_SYNC | GOTRACE_FUTILE_WAKEUP);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(t.kinds[GOTRACE_V1_FUTILE_WAKEUP], 0);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_FUTILE_BUSY], 1);
  done();
}

/* A record that changes nothing that the capture remembers. `swept`: by a SWEEP_SPAN. */
static void plain(unsigned m, unsigned kind, uint64_t swept) {
  capture_record record = capture_made(kind);
  c.tick++;
  if (kind == GOTRACE__REC_SWEEP_SPAN) record.is.as_SWEEP_SPAN.swept = swept;
  capture_call(&c, m, &record);
}

/* v1: what is open at the end is ended there. */
static void check_v1_ends(unsigned format) {
  CHECK(begin(format));
  c.procs[1].status = GOTRACE__PROC_IDLE;
  proc(0, GOTRACE__REC_PROC_START, 1);
  create(0, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  capture_collector_call(&c, 0, GOTRACE__REC_GC_BEGIN, 1);
  if (format < GOTRACE_GO_1_10) plain(0, GOTRACE__REC_SCAN_BEGIN, 0);
  plain(0, GOTRACE__REC_SWEEP_BEGIN, 0);
  plain(0, GOTRACE__REC_SWEEP_SPAN, 4096);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(problems(), 0);
  expect(format < GOTRACE_GO_1_10
             ? "Gomaxprocs g-1\nGomaxprocs g-1\nProcStart g-1\nGoCreate g-1\nGoStart g1\nGCStart g-1\n"
               "GCScanStart g1 GC mark termination\nGCSweepStart g1\nGCDone g-1\nGCSweepDone g1\n"
               "GCScanDone g1 GC mark termination\n"
               "GoPreempt g1"
             : "Gomaxprocs g-1\nGomaxprocs g-1\nProcStart g-1\nGoCreate g-1\nGoStart g1\nGCStart g-1\n"
               "GCSweepStart g1\nGCDone g-1\nGCSweepDone g1\nGoPreempt g1");
  done();
}

/* v1: what a thread creates and wakes during its system call does not end the call, as an event of the goroutine in it
 * would for readers. */
static void check_v1_call(void) {
  CHECK(begin(GOTRACE_GO_1_11));
  c.procs[1].status = c.procs[2].status = GOTRACE__PROC_IDLE;
  proc(0, GOTRACE__REC_PROC_START, 1);
  proc(1, GOTRACE__REC_PROC_START, 2);
  create(0, 1);
  create(0, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  go(1, GOTRACE__REC_GO_START, 2);
  self(1, GOTRACE__REC_GO_BLOCK);
  self(0, GOTRACE__REC_SYSCALL_BEGIN);
  create(0, 3);
  go(0, GOTRACE__REC_GO_UNBLOCK, 2);
  c.tick += GOTRACE__LONG_SYSCALL / CAPTURE_NANOSECONDS;
  self(0, GOTRACE__REC_SYSCALL_END);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(problems(), 0);
  expect("Gomaxprocs g-1\nGomaxprocs g-1\nProcStart g-1\nProcStart g-1\nGoCreate g-1\nGoCreate g-1\nGoStart g1\n"
         "Gomaxprocs g1\nGoStart g2\nGoBlockSync g2\nGoSysCall g1\nGoSysBlock g1\nProcStop g-1\nGoCreate "
         "g-1\nGoUnblock g-1\n"
         "ProcStart g-1\nGoSysExit g1\nGoStart g1\nGoPreempt g1");
  done();
}

/* A call whose proc was stolen ends after the steal, although the thread's record is earlier. */
static void check_end_before_steal(unsigned format) {
  uint64_t stolen;
  CHECK(begin(format));
  c.procs[1].status = GOTRACE__PROC_IDLE;
  proc(0, GOTRACE__REC_PROC_START, 1);
  create(0, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  self(0, GOTRACE__REC_SYSCALL_BEGIN);
  c.tick += 100;
  proc(1, GOTRACE__REC_PROC_STEAL, 1);
  stolen = c.tick;
  c.tick -= 90;
  self(0, GOTRACE__REC_SYSCALL_END_BLOCKED);
  CHECK(c.threads[0].tick < stolen);
  c.tick = stolen;
  step();
  CHECK(c.threads[0].source->time >= t.procs[0]->time);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  if (!t.v1) CHECK_EQUAL(t.kinds[GOTRACE_V2_PROC_STEAL], 1);
  CHECK_EQUAL(problems(), 0);
  done();
}

/* The end of a call waits for a steal that its thief reports in the next round, and with it all that its goroutine does
 * next, here waking another one. The end of that one's wait needs the wake-up: it is not forced first. */
static void check_wake_behind_a_late_steal(unsigned format) {
  CHECK(begin(format));
  c.procs[1].status = c.procs[2].status = GOTRACE__PROC_IDLE;
  capture_create(&c, 2, 2, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(2, GOTRACE__REC_GO_START, 2);
  self(2, GOTRACE__REC_GO_BLOCK);
  proc(0, GOTRACE__REC_PROC_START, 1);
  create(0, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  self(0, GOTRACE__REC_SYSCALL_BEGIN);
  self(0, GOTRACE__REC_SYSCALL_END_BLOCKED);
  proc(1, GOTRACE__REC_PROC_START, 2);
  go(1, GOTRACE__REC_GO_START, 1);
  go(1, GOTRACE__REC_GO_UNBLOCK, 2);
  go(2, GOTRACE__REC_WAIT_END, 2);
  step();
  step();
  c.threads[3].proc = 0;
  proc(3, GOTRACE__REC_PROC_STEAL, 1);
  CHECK_EQUAL(end("wake_behind_steal"), GOTRACE_OK);
  CHECK_EQUAL(t.counters.stale + t.counters.late + t.counters.forced, 0);
  CHECK_EQUAL(t.counters.implied, 1);
  CHECK_EQUAL(problems(), 0);
  done();
}

/* Task 1 begins on thread 0. Its end on thread 1, whose clock is behind, waits for it, and is later; so is all that may
 * follow from it. */
static void check_task(void) {
  gotrace_decoder *d;
  gotrace_event event;
  int64_t begun = 0, ended = 0, last = 0;
  unsigned i;
  check_v2_strict = true;
  CHECK(begin(GOTRACE_GO_1_23));
  for (i = 0; i < 3; i++) {
    capture_create(&c, i, i + 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
    go(i, GOTRACE__REC_GO_START, i + 1);
  }
  c.tick += 10;
  user(1, GOTRACE__REC_TASK_END, 1, 0, "");
  user(0, GOTRACE__REC_TASK_BEGIN, 1, 1, "");
  user(0, GOTRACE__REC_TASK_BEGIN, 1, 1, ""); /* again */
  c.tick--;                                   /* so near that it would be at the end's time */
  user(2, GOTRACE__REC_LOG, 0, 1, "next");
  step();
  CHECK_EQUAL(t.counters.forced, 0);
  CHECK_EQUAL(t.counters.malformed, 1);
  CHECK_EQUAL(end("task"), GOTRACE_OK);
  d = decoder();
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK) {
    if (event.kind == GOTRACE_V2_USER_TASK_BEGIN) begun = event.time;
    if (event.kind == GOTRACE_V2_USER_TASK_END) ended = event.time;
    if (event.kind == GOTRACE_V2_USER_LOG) last = event.time;
  }
  gotrace_decoder_close(d);
  CHECK(begun < ended && ended < last);
  done();
}

/* Collections at one tick get times of their own, later than the tick after. What follows on another thread is later
 * still. */
static void check_pushed_times(unsigned format) {
  gotrace_decoder *d;
  gotrace_event event;
  int64_t ended = -1, logged = -1;
  unsigned i;
  CHECK(begin(format));
  for (i = 0; i < 2; i++) {
    capture_create(&c, i, i + 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
    go(i, GOTRACE__REC_GO_START, i + 1);
  }
  c.tick += 10;
  for (i = 0; i < 30; i++) capture_collector_call(&c, 0, i % 2 ? GOTRACE__REC_GC_END : GOTRACE__REC_GC_BEGIN, 1);
  user(1, GOTRACE__REC_LOG, 0, 1, "next");
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  d = decoder();
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK) {
    if (event.kind == GOTRACE_V2_GC_END) ended = event.time;
    if (event.kind == GOTRACE_V2_USER_LOG) logged = event.time;
  }
  gotrace_decoder_close(d);
  CHECK(ended >= 0 && ended < logged);
  done();
}

/* The last event of an idle proc has been pushed beyond a cut. Its status in the next generation is not before it. */
static void check_status_of_a_pushed_proc(void) {
  check_v2_trace v2;
  gotrace__clocks clocks;
  unsigned i;
  CHECK(begin(GOTRACE_GO_1_23));
  t.options.restate = true;
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  c.tick += 10;
  for (i = 0; i < 30; i++) capture_collector_call(&c, 0, i % 2 ? GOTRACE__REC_GC_END : GOTRACE__REC_GC_BEGIN, 1);
  proc(1, GOTRACE__REC_PROC_START, 1);
  proc(1, GOTRACE__REC_PROC_STOP, 1);
  c.tick += GOTRACE__CLOCK_SKEW; /* no more than the rounds need to take all records */
  clocks = capture_clocks(&c);
  for (i = 0; i < 2; i++) { /* the second generation has only statuses */
    gotrace__transcribe_round(&t, &clocks, false);
    gotrace__transcribe_cut(&t);
  }
  CHECK_EQUAL(end("pushed"), GOTRACE_OK); /* which the readers check */
  CHECK(check_v2_from(&v2, trace, size, 0, 1));
  CHECK(v2.kinds[GOTRACE_V2_PROC_STATUS] >= 2);
  check_v2_free(&v2);
  done();
}

static void round_and_cut(void) {
  gotrace__clocks clocks = capture_clocks(&c);
  gotrace__transcribe_round(&t, &clocks, false);
  gotrace__transcribe_cut(&t);
}

/* A generation without events has the status of the proc that would be made next, and its time has been pushed beyond
 * the cut. That proc is then made by a record that has waited since before: it is not earlier than the status. */
static void check_proc_that_an_empty_generation_named(void) {
  capture_record start = capture_made(GOTRACE__REC_GO_START);
  size_t procs;
  unsigned i;
  CHECK(begin(GOTRACE_GO_1_23));
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, 0, 2);
  start.is.about_go.go = 1;
  start.is.about_go.number = 5; /* waits for four that nobody writes */
  capture_call(&c, 1, &start);
  capture_collector_call(&c, 0, GOTRACE__REC_GC_BEGIN, 1);
  for (i = 0; i < 5; i++) round_and_cut(); /* each restates the collection, one unit later, at the same tick */
  capture_collector_call(&c, 2, GOTRACE__REC_GC_END, 1);
  for (i = 0; i < 2; i++) round_and_cut();
  CHECK(t.unused_time > t.to_unit);
  procs = t.proc_count;
  c.tick += 40; /* a later pushed time: otherwise the start would come after the earlier ones */
  capture_collector_call(&c, 0, GOTRACE__REC_GC_BEGIN, 1);
  capture_collector_call(&c, 2, GOTRACE__REC_GC_END, 1);
  CHECK_EQUAL(end("named"), GOTRACE_OK); /* which the readers check */
  CHECK_EQUAL(t.counters.forced, 1);
  CHECK_EQUAL(t.proc_count, procs + 1);
  done();
}

static void change_procs(unsigned thread, uint64_t count) {
  capture_record record = capture_made(GOTRACE__REC_PROCS_CHANGE);
  record.is.as_PROCS_CHANGE.count = count;
  c.tick++;
  capture_call(&c, thread, &record);
}

/* The numbers of procs that the trace tells, each once, and "log" where there is one. */
static const char *told_procs(void) {
  static char text[200];
  gotrace_decoder *d = decoder();
  gotrace_event event;
  uint64_t last = 0;
  size_t at = 0;
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK) {
    if (event.kind == GOTRACE_V2_PROCS_CHANGE && event.args[0] != last)
      at += (size_t)snprintf(text + at, sizeof text - at, "%d ", (int)(last = event.args[0]));
    if (event.kind == GOTRACE_V2_USER_LOG) at += (size_t)snprintf(text + at, sizeof text - at, "log ");
  }
  gotrace_decoder_close(d);
  return text;
}

/* The number of procs is reported on threads without a goroutine, as by a program that makes its workers. It is not a
 * goroutine of its own in the trace, nor does it give the thread a proc. */
static void check_procs_without_goroutine(void) {
  CHECK(begin(GOTRACE_GO_1_26));
  c.procs[1].status = GOTRACE__PROC_IDLE;
  change_procs(0, 5);
  proc(0, GOTRACE__REC_PROC_START, 1);
  create(0, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  user(0, GOTRACE__REC_LOG, 0, 1, "first");
  change_procs(1, 7);
  capture_running_call(&c, 0, GOTRACE__REC_GO_STOP, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  user(0, GOTRACE__REC_LOG, 0, 1, "second");
  step();
  gotrace__transcribe_cut(&t);
  change_procs(1, 4);
  capture_running_call(&c, 0, GOTRACE__REC_GO_STOP, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  user(0, GOTRACE__REC_LOG, 0, 1, "third");
  change_procs(1, 6); /* no goroutine goes on */
  self(0, GOTRACE__REC_GO_END);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK(!t.counters.borrowed && problems() == 0);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_CREATE], 1);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_PROC_START], 1);
  CHECK(strcmp(told_procs(), "5 log 7 log 4 log ") == 0);
  done();
}

/* A sweep goes on across a cut. The second generation tells so: it may be the first that a flight recorder has kept. */
static void check_sweep_across_a_cut(void) {
  check_v2_trace v2;
  CHECK(begin(GOTRACE_GO_1_23));
  proc(0, GOTRACE__REC_PROC_START, 1);
  create(0, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  self(0, GOTRACE__REC_SWEEP_BEGIN);
  self(0, GOTRACE__REC_SWEEP_SPAN);
  step();
  gotrace__transcribe_cut(&t);
  self(0, GOTRACE__REC_SWEEP_END);
  CHECK_EQUAL(end("sweep"), GOTRACE_OK);
  CHECK(check_v2_from(&v2, trace, size, 0, 1));
  CHECK_EQUAL(v2.kinds[GOTRACE_V2_GC_SWEEP_ACTIVE], 1);
  CHECK_EQUAL(v2.kinds[GOTRACE_V2_GC_SWEEP_END], 1);
  check_v2_free(&v2);
  done();
}

/* A goroutine that ends after tracing is off has no record of its end. Its place is used again by a thread whose call
 * began before. */
static void check_end_while_off(void) {
  static const uint32_t off = 1; /* not the session, which is 0 here */
  unsigned i;
  for (i = 0; i < 2; i++) {
    CHECK(begin(GOTRACE_GO_1_23));
    t.options.on = i ? &off : NULL;
    capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
    go(0, GOTRACE__REC_GO_START, 1);
    c.gos[1].live = false;
    capture_create(&c, 1, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
    step();
    CHECK_EQUAL(t.counters.stale, i);
    CHECK_EQUAL(t.counters.malformed, 1 - i);
    CHECK_EQUAL(end("end while off"), GOTRACE_OK);
    done();
  }
}

/* Tasks that have ended take no memory. */
static void check_many_tasks(void) {
  uint64_t id, used = 0;
  c.next_task = 9;
  CHECK(begin(GOTRACE_GO_1_23));
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  user(0, GOTRACE__REC_TASK_BEGIN, 9, 1, ""); /* has begun before this trace */
  for (id = 10; id <= 20000; id++) {
    user(0, GOTRACE__REC_TASK_BEGIN, id, 1, "");
    user(0, GOTRACE__REC_TASK_END, id, 0, "");
    if (id % 100 == 0) step();
    if (id == 10000) used = t.tasks.capacity;
  }
  CHECK(t.tasks.capacity == used);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(t.counters.malformed, 1);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_USER_TASK_BEGIN], 20000 - 9);
  done();
}

/* An open task whose generation's ids have been forgotten does not begin again when it has ended: readers order the end
 * and the second start by time alone. */
static void check_task_begins_again(void) {
  uint64_t i;
  c.next_task = 10;
  CHECK(begin(GOTRACE_GO_1_23));
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  user(0, GOTRACE__REC_TASK_BEGIN, 11, 1, "");
  for (i = 1; i <= GOTRACE__MOST_IDS; i++) {
    user(0, GOTRACE__REC_TASK_BEGIN, 64 * i, 1, "");
    user(0, GOTRACE__REC_TASK_END, 64 * i, 0, "");
  }
  step();
  CHECK(t.task_ids.used > GOTRACE__MOST_IDS);
  gotrace__transcribe_cut(&t);
  CHECK_EQUAL(t.task_ids.used, 1);
  user(0, GOTRACE__REC_TASK_END, 11, 0, "");
  user(0, GOTRACE__REC_TASK_BEGIN, 11, 1, "");
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(t.counters.malformed, 1);
  done();
}

/* Goroutines in places that are allocated one page at a time, and many pages. Some pages have none. */
static void check_many_goroutines(void) {
  enum { PLACES = (GOTRACE__SINGLE_PAGES + 40) * GOTRACE__MODEL_PAGE };
  capture_record record = capture_made(GOTRACE__REC_GO_CREATE);
  gotrace__record_GO_CREATE *is = &record.is.as_GO_CREATE;
  uint64_t place, made = 1;
  CHECK(begin(GOTRACE_GO_1_23));
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  for (place = 100; place <= PLACES; place += place % 1000 ? 1 : 201, made++) {
    is->go = place, is->number = 1, is->id = place + 1000, is->entry = 2;
    is->status = GOTRACE__RUNNABLE;
    capture_call(&c, 0, &record);
  }
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(t.goroutines, made);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_CREATE], made);
  for (place = 100; place <= PLACES; place += place % 1000 ? 1 : 201)
    CHECK_EQUAL(gotrace__go_at(&t, place)->id, place + 1000);
  done();
}

/* The transcriber forgets the ids of goroutines that have ended, but not of one that readers take for ended: it has
 * waited for ever, and was woken, under another id. */
static void check_forever_id(void) {
  capture_record record = capture_made(GOTRACE__REC_GO_CREATE);
  gotrace__record_GO_CREATE *is = &record.is.as_GO_CREATE;
  unsigned i;
  CHECK(begin(GOTRACE_GO_1_23));
  for (i = 0; i < 2; i++) {
    capture_create(&c, i, i + 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
    go(i, GOTRACE__REC_GO_START, i + 1);
  }
  capture_running_call(&c, 1, GOTRACE__REC_GO_BLOCK, GOTRACE_BLOCK_FOREVER);
  go(0, GOTRACE__REC_GO_UNBLOCK, 2);
  for (i = 0; i <= GOTRACE__MOST_IDS + 1; i++) {
    is->go = 100 + i, is->number = 1, is->id = i <= GOTRACE__MOST_IDS ? 1000 + 64 * i : c.gos[2].id;
    is->entry = 2;
    is->status = GOTRACE__RUNNABLE;
    if (i <= GOTRACE__MOST_IDS) {
      capture_call(&c, 0, &record);
      continue;
    }
    step();
    gotrace__transcribe_cut(&t);
    CHECK(t.ids.used > GOTRACE__MOST_IDS);
    capture_call(&c, 0, &record); /* the same id once more */
  }
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK(gotrace__go_at(&t, 100 + GOTRACE__MOST_IDS + 1)->id != c.gos[2].id);
  done();
}

/* Many goroutines wait for ever. Their ids take a bounded room, and none of them is used again, neither the first nor
 * the last, after the transcriber has forgotten what it can. */
static void check_many_forever(void) {
  enum { MANY = 64 * 550 };
  capture_record record = capture_made(GOTRACE__REC_GO_CREATE);
  gotrace__record_GO_CREATE *is = &record.is.as_GO_CREATE;
  uint64_t first, last = 0;
  unsigned i, other;
  CHECK(begin(GOTRACE_GO_1_23));
  for (i = 0; i < 2; i++) {
    capture_create(&c, i, i + 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
    go(i, GOTRACE__REC_GO_START, i + 1);
  }
  first = c.gos[2].id;
  for (i = 0; i < MANY; i++) {
    if (i) go(1, GOTRACE__REC_GO_START, 2);
    step();
    last = gotrace__go_at(&t, 2)->id;
    capture_running_call(&c, 1, GOTRACE__REC_GO_BLOCK, GOTRACE_BLOCK_FOREVER);
    go(0, GOTRACE__REC_GO_UNBLOCK, 2);
    for (other = 0; other < i % 3; other++) gotrace__unique_id(&t, 0); /* so that the ids have gaps */
    step();
    if (i % 1000 == 0) gotrace__transcribe_cut(&t);
  }
  CHECK(t.kept_count <= GOTRACE__MOST_KEPT && t.kept_capacity <= GOTRACE__MOST_KEPT);
  gotrace__transcribe_cut(&t);
  CHECK(t.ids.used < GOTRACE__MOST_IDS / 2); /* forgotten */
  for (i = 0; i < 2; i++) {
    is->go = 100 + i, is->number = 1, is->id = i ? last : first, is->entry = 2;
    is->status = GOTRACE__RUNNABLE;
    capture_call(&c, 0, &record);
  }
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK(gotrace__go_at(&t, 100)->id != first);
  CHECK(gotrace__go_at(&t, 101)->id != last);
  done();
}

/* Memory runs out when a goroutine begins to wait for ever, and another thread's record of its wake-up waits. */
static void check_forever_without_memory(unsigned format) {
  unsigned i;
  CHECK(begin(format));
  for (i = 0; i < 2; i++) {
    capture_create(&c, i, i + 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
    go(i, GOTRACE__REC_GO_START, i + 1);
  }
  step();
  c.gos[1].number++;
  go(1, GOTRACE__REC_GO_UNBLOCK, 1);
  c.gos[1].number--;
  capture_running_call(&c, 0, GOTRACE__REC_GO_BLOCK, GOTRACE_BLOCK_FOREVER);
  budget.limit = budget.used;
  CHECK_EQUAL(end(NULL), GOTRACE_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(t.kept_count, 0);
  CHECK_EQUAL(t.kinds[t.v1 ? GOTRACE_V1_GO_CREATE : GOTRACE_V2_GO_CREATE], 3);
  done();
}

/* What waits for a wake-up is not woken by one that was meant for an earlier wait. */
static void check_stale_wake(void) {
  CHECK(begin(GOTRACE_GO_1_23));
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  self(0, GOTRACE__REC_GO_BLOCK);
  go(0, GOTRACE__REC_WAIT_END, 1); /* a time-out */
  self(0, GOTRACE__REC_GO_BLOCK);
  c.gos[1].number -= 2;
  go(1, GOTRACE__REC_GO_UNBLOCK, 1);
  c.gos[1].number += 2;
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(t.counters.stale, 1);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_UNBLOCK], 1); /* of the time-out */
  done();
}

/* Two records wait for what never comes: the earlier one is applied first. */
static void check_forced(bool swapped) {
  unsigned i;
  CHECK(begin(GOTRACE_GO_1_23));
  for (i = 0; i < 2; i++) {
    proc(i, GOTRACE__REC_PROC_START, i + 1);
    create(i, i + 1);
  }
  for (i = 1; i < 3; i++) c.gos[i].number++; /* of a call whose record is never published */
  go(swapped, GOTRACE__REC_GO_START, swapped + 1);
  go(!swapped, GOTRACE__REC_GO_START, !swapped + 1);
  step();
  step();
  CHECK_EQUAL(t.counters.forced, 2);
  CHECK(c.threads[swapped].source->time <= c.threads[!swapped].source->time);
  CHECK(t.current == c.threads[!swapped].source);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  done();
}

/* A trace gets full by the last events of a thread that ends, while another waits for a steal that does not exist. It
 * goes on until all are as far as the thread that has ended: the others' records before its end may be their cause. */
static void check_full_at_an_end(void) {
  unsigned i;
  CHECK(begin(GOTRACE_GO_1_23));
  for (i = 0; i < 2; i++) {
    proc(i, GOTRACE__REC_PROC_START, i + 1);
    create(i, i + 1);
    go(i, GOTRACE__REC_GO_START, i + 1);
  }
  self(1, GOTRACE__REC_SYSCALL_BEGIN);
  step();
  t.options.size_limit = t.bytes + 1;
  self(1, GOTRACE__REC_SYSCALL_END_BLOCKED);
  proc(1, GOTRACE__REC_PROC_START, 3);
  go(1, GOTRACE__REC_GO_START, 2);
  user(1, GOTRACE__REC_LOG, 0, 1, "cause");
  c.tick += 2 * GOTRACE__CLOCK_SKEW;
  user(0, GOTRACE__REC_LOG, 0, 1, "effect");
  capture_thread_end(&c, 0);
  c.tick++;
  user(1, GOTRACE__REC_LOG, 0, 1, "later");
  step();
  CHECK(t.full);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK(strstr(told(), "cause") && strstr(told(), "effect") && !strstr(told(), "later"));
  done();
}

/* A chunk of another session is skipped; texts that are too long are counted. */
static void check_skipped(void) {
  static char text[2000];
  CHECK(begin(GOTRACE_GO_1_23));
  memset(text, 'x', sizeof text - 1);
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  user(0, GOTRACE__REC_LOG, 0, 1, text);
  capture_chunk(&c.threads[0]);
  c.threads[0].last->session = 7;
  user(0, GOTRACE__REC_LOG, 0, 1, "of another session");
  capture_chunk(&c.threads[0]);
  user(0, GOTRACE__REC_LOG, 0, 1, "last");
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_USER_LOG], 2);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_STRING_CUT], 1);
  done();
}

/* Makes so many texts at run time, the names of REGIONS regions, that all are forgotten at the end of a generation. */
enum { REGIONS = 3000 };
static void forget_texts(void) {
  unsigned i;
  for (i = 0; i < REGIONS; i++) {
    char text[40];
    snprintf(text, sizeof text, "a region made at run time %u", i);
    user(0, GOTRACE__REC_REGION_BEGIN, 0, 0, text);
    user(0, GOTRACE__REC_REGION_END, 0, 0, text);
    if (i % 100 == 0) step();
  }
  step();
  gotrace__transcribe_cut(&t);
}

/* The statuses of a generation have its beginning's time, although the goroutine's next event comes later. Reasons keep
 * their names, also those that the program has named, when so many texts have been made at run time that they are
 * forgotten. */
static void check_status_time(void) {
  static const char *const named[GOTRACE__REASONS] = {"named", "tea"};
  static const char *const reasons[] = {"sync", "tea", "sync", "tea"};
  gotrace_decoder *d;
  gotrace_event event;
  int64_t status = -1;
  unsigned blocks = 0, i;
  CHECK(begin(GOTRACE_GO_1_23));
  t.options.reason_names = named;
  proc(0, GOTRACE__REC_PROC_START, 1);
  for (i = 1; i <= 4; i++) {
    create(0, i);
    go(0, GOTRACE__REC_GO_START, i);
    if (i == 3) {
      forget_texts();
      c.tick += 1000;
      user(0, GOTRACE__REC_LOG, 0, 1, "late");
    }
    c.tick++;
    capture_running_call(&c, 0, GOTRACE__REC_GO_BLOCK, i % 2 ? GOTRACE_BLOCK_SYNC : 2 << 8 | GOTRACE_BLOCK_SYNC);
  }
  CHECK_EQUAL(end("status"), GOTRACE_OK);
  d = decoder();
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK) {
    const char *text;
    size_t length;
    if (event.kind == GOTRACE_V2_GO_STATUS_STACK || event.kind == GOTRACE_V2_GO_STATUS) status = event.time;
    if (event.kind == GOTRACE_V2_USER_LOG) CHECK(status >= 0 && event.time - status >= 1000 * CAPTURE_NANOSECONDS);
    if (event.kind != GOTRACE_V2_GO_BLOCK) continue;
    CHECK(blocks < 4 && gotrace_decoder_string(d, event.args[0], &text, &length));
    CHECK(length == strlen(reasons[blocks]) && memcmp(text, reasons[blocks], length) == 0);
    blocks++;
  }
  CHECK_EQUAL(blocks, 4);
  gotrace_decoder_close(d);
  done();
}

/* v1: the end of a region has the id of its begin's name, which readers compare, also if so many other texts have been
 * made in between that all are forgotten. */
static void check_region_renamed(void) {
  CHECK(begin(GOTRACE_GO_1_21));
  proc(0, GOTRACE__REC_PROC_START, 1);
  create(0, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  user(0, GOTRACE__REC_REGION_BEGIN, 0, 0, "outer");
  forget_texts();
  user(0, GOTRACE__REC_REGION_END, 0, 0, "outer");
  CHECK_EQUAL(end("region-renamed"), GOTRACE_OK); /* readers have checked it */
  CHECK_EQUAL(t.kinds[GOTRACE_V1_USER_REGION], 2 + 2 * REGIONS);
  done();
}

/* 1.22: the stack with which a goroutine older than the trace stops is found; then that of its entry, which is new and
 * moves the table's rows. */
static void check_moved_rows(void) {
  unsigned i;
  c.gos[1].id = ++c.next_go;
  c.gos[1].live = true;
  c.gos[1].status = GOTRACE__RUNNABLE;
  c.gos[1].flags = GOTRACE__RECORD_OLD;
  c.gos[1].entry = 500;
  CHECK(begin(GOTRACE_GO_1_22));
  proc(1, GOTRACE__REC_PROC_START, 2);
  create(1, 2);
  go(1, GOTRACE__REC_GO_START, 2);
  self(1, GOTRACE__REC_GO_BLOCK);
  step();
  for (i = 3; i <= 500; i++) {
    gotrace_location place = {0, "worker", "test.c", i};
    CHECK_EQUAL(capture_stack(&tables, &place, 1), i);
  }
  proc(0, GOTRACE__REC_PROC_START, 1);
  go(0, GOTRACE__REC_GO_START, 1);
  self(0, GOTRACE__REC_GO_BLOCK);
  CHECK_EQUAL(end(NULL), GOTRACE_OK);
  CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_BLOCK], 2);
  done();
}

/* v1 readers take events of up to 2,048 bytes. A stack that needs more loses its outermost frames, which is counted. */
static void check_large_stack(unsigned format) {
  gotrace_location places[GOTRACE_STACK_SIZE];
  gotrace_frame read[GOTRACE_STACK_SIZE];
  capture_record record = capture_made(GOTRACE__REC_LOG);
  gotrace_decoder *d;
  gotrace_event event;
  size_t count = 0, i;
  CHECK(begin(format));
  for (i = 0; i < GOTRACE_STACK_SIZE; i++) {
    gotrace_location place = {UINTPTR_MAX - i, "function", "test.c", UINT32_MAX - (uint32_t)i};
    places[i] = place;
  }
  capture_create(&c, 0, 1, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
  go(0, GOTRACE__REC_GO_START, 1);
  record.site.name = 1;
  record.site.stack = capture_stack(&tables, places, GOTRACE_STACK_SIZE);
  record.walked = true;
  capture_call(&c, 0, &record);
  CHECK_EQUAL(end("large-stack"), GOTRACE_OK);
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_STACK_CUT], t.v1);
  d = decoder();
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK)
    if (strcmp(event.spec->name, "UserLog") == 0)
      count = gotrace_decoder_stack(d, event.stack, read, GOTRACE_STACK_SIZE);
  gotrace_decoder_close(d);
  if (t.v1) CHECK(count > 100 && count < GOTRACE_STACK_SIZE);
  else CHECK_EQUAL(count, GOTRACE_STACK_SIZE);
  done();
}

/* Nested running: the outer goroutine is runnable meanwhile; a plain thread needs no proc for what it runs inside; what
 * still runs at the end of nested running is counted. */
static void check_nest(unsigned format) {
  unsigned kind;
  CHECK(begin(format));
  proc(0, GOTRACE__REC_PROC_START, 1);
  for (kind = 1; kind <= 4; kind++) create(0, kind);
  go(0, GOTRACE__REC_GO_START, 1);
  go(0, GOTRACE__REC_NEST_BEGIN, 2);
  self(0, GOTRACE__REC_GO_END);
  go(0, GOTRACE__REC_NEST_END, 1);
  self(0, GOTRACE__REC_GO_BLOCK);
  go(0, GOTRACE__REC_NEST_BEGIN, 3); /* inside a wait */
  self(0, GOTRACE__REC_GO_END);
  go(0, GOTRACE__REC_NEST_END, 0);
  go(0, GOTRACE__REC_WAIT_END, 1);
  self(0, GOTRACE__REC_GO_END);
  c.threads[3].plain = true; /* since before the trace */
  go(3, GOTRACE__REC_GO_START, 4);
  step();
  CHECK_EQUAL(problems(), 0);
  CHECK_EQUAL(t.counters.forced, 0);
  if (!t.v1) {
    CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_STOP], 1);
    CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_START], 6);
    CHECK_EQUAL(t.kinds[GOTRACE_V2_GO_UNBLOCK], 1);
  }
  go(3, GOTRACE__REC_NEST_END, 0);
  step();
  CHECK_EQUAL(t.problems[GOTRACE_PROBLEM_START_OVER], 1);
  CHECK_EQUAL(end("nest"), GOTRACE_OK);
  CHECK_EQUAL(problems(), 1);
  done();
}

int main(void) {
  size_t i;
  check_moved_rows();
  check_task();
  check_end_while_off();
  check_many_tasks();
  check_task_begins_again();
  check_many_goroutines();
  check_forever_id();
  check_many_forever();
  check_forever_without_memory(GOTRACE_GO_1_11);
  check_forever_without_memory(GOTRACE_GO_1_23);
  check_stale_wake();
  check_forced(false);
  check_forced(true);
  check_pushed_times(GOTRACE_GO_1_11);
  check_pushed_times(GOTRACE_GO_1_23);
  check_status_of_a_pushed_proc();
  check_proc_that_an_empty_generation_named();
  check_procs_without_goroutine();
  check_sweep_across_a_cut();
  check_full_at_an_end();
  check_large_stack(GOTRACE_GO_1_11);
  check_large_stack(GOTRACE_GO_1_21);
  check_large_stack(GOTRACE_GO_1_26);
  check_skipped();
  check_status_time();
  check_region_renamed();
  for (i = 0; i < TEST_FORMATS; i++) check_places((unsigned)test_formats[i]);
  check_late_goroutine();
  check_introduction_behind_a_wait();
  check_label_after_a_cut();
  check_futile_creation();
  for (i = 0; i < 4; i++) check_sample(i % 2, i / 2);
  for (i = 0; i < TEST_FORMATS; i++) {
    check_story((unsigned)test_formats[i]);
    check_problems((unsigned)test_formats[i]);
    check_nest((unsigned)test_formats[i]);
    check_end_before_steal((unsigned)test_formats[i]);
    check_wake_behind_a_late_steal((unsigned)test_formats[i]);
  }
  check_v1_ends(GOTRACE_GO_1_8);
  check_v1_ends(GOTRACE_GO_1_10);
  check_v1_call();
  check_order();
  check_introduced_at_one_tick(0);
  check_introduced_at_one_tick(1);
  check_second_sweep();
  check_jumps();
  check_wakers();
  check_deep_regions();
  check_ping(GOTRACE_GO_1_11, false);
  check_ping(GOTRACE_GO_1_23, false);
  check_ping(GOTRACE_GO_1_11, true);
  check_ping(GOTRACE_GO_1_26, true);
  check_clock();
  check_jump(false, 4);
  check_jump(true, 4);
  check_jump(true, 1);
  check_samples(GOTRACE_GO_1_21);
  check_samples(GOTRACE_GO_1_23);
  check_malformed();
  check_introduction_after_the_end();
  check_failures(GOTRACE_GO_1_11);
  check_failures(GOTRACE_GO_1_26);
  /* Those that only the fuzz target uses. */
  (void)gotrace__transcribe_living_task;
  (void)gotrace__transcribe_is_full;
  puts("records, repairs, order, clocks, failures");
  return 0;
}
