/* Fuzzes the transcriber: records of up to 8 threads, published in arbitrary pieces, with cuts at arbitrary moments, in
 * every format. The result must be a trace that Go opens: the decoder and the independent readers (tests/check_v1.h,
 * check_v2.h) must accept it. Every record must be in the trace, change only the model, or be counted.
 *
 *     clang -g -O1 -I. -fsanitize=fuzzer,address,undefined fuzz/transcribe.c -o build/fuzz/transcribe -pthread
 *     build/fuzz/transcribe -max_total_time=60 fuzz/seeds/transcribe
 *
 * The first two bytes give the format and the mode. Wild: any calls on any handles by any thread, and records with
 * arbitrary arguments. Correct: calls that a program may make, chosen by the input; then nothing is repaired, dropped
 * or forced, and the trace has exactly what was recorded. In either, an allocation of the transcriber may fail, or
 * all after it too: then the trace ends early.
 *
 * TRANSCRIBE_KEEP=DIRECTORY keeps the traces there; TRANSCRIBE_SHOW=1 prints each record as it is applied.
 */
#define _GNU_SOURCE
#include "fuzz.h"

/* The independent readers take half of the time. */
FUZZ_NOT_SANITIZED
#include "tests/check_v1.h"
FUZZ_COVERED

static void applied(const void *transcriber, const void *record);
#define GOTRACE__RECORD_APPLIED(t, record) applied(t, record)
#define GOTRACE__CHAINS ((size_t)64) /* of these and the next, not 64 KiB to clear for each table of each input */
#define GOTRACE__ARENA_BLOCK ((size_t)2048)
#define GOTRACE__LANE_MOST 8192
#define GOTRACE__REGION_DEPTH 8
#define GOTRACE__MOST_PLACES 4096
#define GOTRACE__MANY_GOS 4
#define GOTRACE__LEAST_ROUND 16 /* with 1, the rounds of a gap of 65,535 ticks take a third of the time */
static void *transcriber_malloc(size_t size);
#define GOTRACE_MALLOC(size) transcriber_malloc(size)
#define GOTRACE_FREE(memory, size) free(memory)
static size_t most_kept(void);
#define GOTRACE__MOST_TEXTS most_kept()
#define GOTRACE__MOST_IDS most_kept()
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

FUZZ_NOT_SANITIZED
#include "tests/check_v2.h"
FUZZ_COVERED

FUZZ_NOT_COVERED
#include "tests/transcriber/capture_calls.h"

enum { GOS = 12, PROCS = 6, TASKS = 8, MOST_TRACE = 1 << 22, MOST_LOGS = 1 << 16, NESTS = 3, WAITS = 256 };
enum { MOST_CUTS = 32 }; /* of an input's choice: a byte each, and the fuzzer likes zeros, would make hundreds */
#define FORMAT(NAME, number, name) number,
static const unsigned formats[] = {GOTRACE_FORMATS(FORMAT)};

#define SAMPLES 64
static struct {
  fuzz_input in;
  capture c;
  struct {
    uint64_t tick, go;
    unsigned place;
  } samples[SAMPLES];
  unsigned samples_at, samples_end;
  gotrace__transcriber t;
  capture_tables tables;
  gotrace__budget budget;
  uint8_t *trace;
  size_t size;
  bool correct;
  bool lags;     /* the clocks of the threads differ */
  unsigned lack; /* the number of the allocation that fails; 0: none */
  bool lacked, lacks_for_ever;
  bool shows;    /* TRANSCRIBE_SHOW is set: each record is printed as it is applied */
  uint64_t seen; /* what has been counted so far, see applied */
  uint64_t logs; /* numbered */
  uint64_t tasks[TASKS];
  unsigned waiting[CAPTURE_THREADS];       /* correct: the own goroutine that the thread waits as, or 0 */
  unsigned own[CAPTURE_THREADS];           /* correct: the thread's own goroutine, or 0 */
  unsigned nested[CAPTURE_THREADS][NESTS]; /* correct: what the thread has set aside; with WAITS: it waits */
  unsigned nests[CAPTURE_THREADS];
  bool aside[GOS + 1];               /* by place */
  unsigned stolen[CAPTURE_THREADS];  /* correct: the proc that the thread has lost in its system call */
  unsigned claimed[CAPTURE_THREADS]; /* correct: the proc that the thread has taken, but not reported as stolen yet */
  bool late_thief;                   /* correct: one of them has existed */
  unsigned regions[CAPTURE_GOS + 1], assist[CAPTURE_GOS + 1];
  unsigned old_regions[CAPTURE_GOS + 1]; /* of these, older than the trace: an end without a name is left out */
  unsigned left_out;
  uint64_t old_tasks; /* begun before the trace */
  bool forgets;       /* texts and ids at each cut */
  bool gc, stw;
  unsigned stw_go;
} w;

/* By the number of a log: its thread, and what happened before it. */
static struct {
  unsigned thread;
  capture_known known;
} logs[MOST_LOGS];

static bool keep_trace(void *context, const void *data, size_t size) {
  (void)context;
  if (w.size + size > MOST_TRACE) return false;
  memcpy(w.trace + w.size, data, size);
  w.size += size;
  return true;
}

static void *transcriber_malloc(size_t size) {
  if (w.lack && w.lack-- == 1) {
    w.lack = w.lacks_for_ever;
    w.lacked = true;
    return NULL;
  }
  return malloc(size);
}

static size_t most_kept(void) { return w.forgets ? 0 : SIZE_MAX; }
static void chunk_done(void *context, gotrace__record_chunk *chunk) {
  (void)context;
  capture_chunk_done(&w.c, chunk);
}

/* Each record writes an event, or counts something. */
static uint64_t sum(const gotrace__transcriber *t) {
  const gotrace__counters *n = &t->counters;
  uint64_t all = t->events + n->malformed + n->stale + n->late + n->late_introductions + n->unwritten;
  unsigned i;
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) all += t->problems[i];
  return all;
}

/* Gives the transcriber the next CPU sample. */
static uint64_t sample(void *context, gotrace__transcriber *t, bool write) {
  (void)context;
  if (write) {
    uint64_t pcs[2] = {4096, 8192};
    unsigned i = w.samples_at++;
    gotrace__transcribe_sample(t, w.samples[i].tick, 100, 0, w.samples[i].place, w.samples[i].go, pcs, i % 3);
    w.seen = sum(t);
  }
  return w.samples_at < w.samples_end ? w.samples[w.samples_at].tick : UINT64_MAX;
}

static void applied(const void *transcriber, const void *given) {
  const gotrace__transcriber *t = (const gotrace__transcriber *)transcriber;
  unsigned kind = gotrace__kind_of((const gotrace__record *)given);
  uint64_t now = sum(t);
  if (w.shows) capture_show(stderr, t);
  if (now == w.seen && !t->error && !(t->v1 && kind == GOTRACE__REC_SYSCALL_END) &&
      !(t->v1 && kind == GOTRACE__REC_SYSCALL_END_BLOCKED) && !(t->v1 && kind == GOTRACE__REC_MEMORY) &&
      !(t->v1 && kind == GOTRACE__REC_HEAP_ALLOC)) {
    fprintf(stderr, "%s is neither in the trace nor counted\n", capture_names[kind]);
    abort();
  }
  w.seen = now;
}

static unsigned take(unsigned below) { return (unsigned)fuzz_take(&w.in, 1) % below; }

static const gotrace_type types[] = {{"node", 32, 8}, {NULL, 8, 0}};

/* Sets a field to an arbitrary value, and returns the place of the next one. */
static uint8_t *fill(uint8_t *at, size_t bytes) {
  unsigned how = take(16);
  uint64_t value = how < 12 ? how : how == 12 ? take(256) : how == 13 ? fuzz_take(&w.in, 2) << 7 : fuzz_take(&w.in, 8);
  uint32_t word = (uint32_t)value;
  uint16_t half = (uint16_t)value;
  memcpy(at, bytes == 8 ? (const void *)&value : bytes == 4 ? (const void *)&word : (const void *)&half, bytes);
  return at + bytes;
}

/* A record with arbitrary fields that the capture does not follow; also one that says something of the next one. */
static capture_record arbitrary(unsigned kind) {
  capture_record record = capture_made(kind);
  static const char text[] = "a text \xc3\xb6 that is made at run time";
  uint8_t *at = (uint8_t *)&record.is + sizeof record.is.head;
  switch (kind) {
#define FIELD(type, name) at = fill(at, sizeof(type));
#define GOTRACE__RECORD(NAME, ORDER, handler, TEXT, fields) \
  case GOTRACE__REC_##NAME: GOTRACE__FIRST_##ORDER(FIELD) fields break;
    GOTRACE__RECORDS(GOTRACE__RECORD, FIELD)
#undef GOTRACE__RECORD
#undef FIELD
  }
  if (capture_has_text(kind)) {
    record.text = text;
    record.text_size = take(sizeof text);
  }
  if (take(4) == 0) record.is.head |= fuzz_take(&w.in, 4) << 32; /* a site */
  if (kind == GOTRACE__REC_MEMORY && record.is.as_MEMORY.class_or_type)
    record.is.as_MEMORY.class_or_type = (uint64_t)(uintptr_t)&types[record.is.as_MEMORY.class_or_type % 2];
  return record;
}

static void user_call(unsigned thread, unsigned kind, uint64_t id, unsigned name) {
  capture_record record = capture_made(kind);
  char value[32];
  record.site.stack = 1;
  if (kind == GOTRACE__REC_REGION_POP || (kind == GOTRACE__REC_REGION_END && id && name % 3 == 2)) {
    record.is.head = gotrace__head(GOTRACE__REC_REGION_POP, 0, 0);
    capture_call(&w.c, thread, &record);
    return;
  }
  if (kind == GOTRACE__REC_TASK_BEGIN) record.is.as_TASK_BEGIN.task = id;
  else if (kind == GOTRACE__REC_TASK_END) record.is.as_TASK_END.task = id;
  else record.task = id;
  record.site.name = name % 3;
  record.walked = name % 5 == 1;
  if (!record.site.name && kind != GOTRACE__REC_TASK_END) {
    record.name = name % 2 ? "odd" : "even";
    record.name_size = (uint32_t)strlen(record.name);
  }
  if (kind == GOTRACE__REC_LOG) {
    if (w.logs + 1 == MOST_LOGS) return;
    record.text_size = (uint32_t)snprintf(value, sizeof value, "%llu", (unsigned long long)++w.logs);
    record.text = value;
  }
  capture_call(&w.c, thread, &record);
  if (kind == GOTRACE__REC_LOG && w.c.t) {
    logs[w.logs].thread = thread;
    memcpy(logs[w.logs].known, w.c.threads[thread].known, sizeof logs[w.logs].known);
    w.c.threads[thread].known[thread] = w.logs;
  }
}

/* Any call on any objects. */
static void wild_call(void) {
  static const uint8_t about_go[] = {GOTRACE__REC_GO_START,   GOTRACE__REC_THREAD_START,  GOTRACE__REC_GO_UNBLOCK,
                                     GOTRACE__REC_GO_UNBLOCK, GOTRACE__REC_WAIT_END,      GOTRACE__REC_GO_SWITCH,
                                     GOTRACE__REC_GO_DESTROY, GOTRACE__REC_GO_SWITCH_END, GOTRACE__REC_GO_RENAME,
                                     GOTRACE__REC_GO_TIMER,   GOTRACE__REC_NEST_BEGIN,    GOTRACE__REC_NEST_END};
  static const uint8_t about_self[] = {GOTRACE__REC_GO_END,           GOTRACE__REC_GO_STOP,
                                       GOTRACE__REC_GO_BLOCK,         GOTRACE__REC_GO_BLOCK,
                                       GOTRACE__REC_SYSCALL_BEGIN,    GOTRACE__REC_SYSCALL_BEGIN,
                                       GOTRACE__REC_SYSCALL_END,      GOTRACE__REC_SYSCALL_END_BLOCKED,
                                       GOTRACE__REC_GO_END_IN_SYSCALL};
  static const uint8_t about_proc[] = {GOTRACE__REC_PROC_START, GOTRACE__REC_PROC_START, GOTRACE__REC_PROC_STOP,
                                       GOTRACE__REC_PROC_STEAL, GOTRACE__REC_PROC_STEAL, GOTRACE__REC_PROC_DESTROY};
  static const uint8_t user[] = {GOTRACE__REC_REGION_BEGIN, GOTRACE__REC_REGION_BEGIN, GOTRACE__REC_REGION_END,
                                 GOTRACE__REC_LOG,          GOTRACE__REC_TASK_BEGIN,   GOTRACE__REC_TASK_END};
  unsigned call = take(64), thread = take(256), on = thread / CAPTURE_THREADS;
  unsigned go = 1 + on % GOS, proc = 1 + on % PROCS;
  thread %= CAPTURE_THREADS;
  w.c.tick += on % 4;
  if (w.c.threads[thread].ended) return; /* nothing is called on it until another thread has its record */
  if (call < 16) {
    w.c.threads[thread].plain = on & 4;
    capture_go_call(&w.c, thread, about_go[call % sizeof about_go], go);
  } else if (call < 30) {
    capture_running_call(&w.c, thread, about_self[call % sizeof about_self], take(256) % 19);
  } else if (call < 38) {
    capture_proc_call(&w.c, thread, about_proc[call % sizeof about_proc], proc);
  } else if (call < 44) {
    static const uint8_t statuses[] = {GOTRACE__RUNNABLE, GOTRACE__WAITING, GOTRACE__SYSCALL, GOTRACE__RUNNABLE};
    capture_create(&w.c, thread, go, statuses[call % 4], take(8), on % 3);
  } else if (call < 50) {
    user_call(thread, user[call % sizeof user], w.tasks[on % TASKS], on);
    if (call % sizeof user == 4) w.tasks[on % TASKS] = ++w.c.next_task;
  } else if (call < 53) {
    capture_collector_call(&w.c, thread, GOTRACE__REC_GC_BEGIN + call % 2 + on % 2 * 2, on % 19);
  } else if (call < 58) {
    capture_record record = arbitrary(1 + take(GOTRACE__RECORD_KINDS - 1));
    capture_call(&w.c, thread, &record);
  } else if (call == 58) {
    capture_thread_end(&w.c, thread);
  } else if (call == 59) {
    w.c.threads[thread].held = on % 2;
    if (!w.c.threads[thread].held) capture_publish(&w.c.threads[thread]);
  } else if (call == 60) {
    w.c.tick += fuzz_take(&w.in, 1 + on % 2);
    if (on % 16 == 5) w.c.tick -= w.c.tick / 2; /* the counter jumps back */
  }
}

/* ---- Calls that a program may make. ---- */

static unsigned find_go(unsigned status, bool own) {
  unsigned first = take(GOS), i;
  for (i = 0; i < GOS; i++) {
    unsigned place = 1 + (first + i) % GOS;
    const capture_go *g = &w.c.gos[place];
    if (w.aside[place] && !own) continue;
    if (status == GOTRACE__DEAD ? !g->live : g->live && g->status == status && !(g->flags & GOTRACE__RECORD_OWN) != own)
      return place;
  }
  return 0;
}

static unsigned find_proc(unsigned status) {
  unsigned first = take(PROCS), i, k;
  for (i = 0; i < PROCS; i++) {
    unsigned place = 1 + (first + i) % PROCS;
    if (w.c.procs[place].status != status) continue;
    if (status != GOTRACE__PROC_SYSCALL) return place;
    for (k = 0; k < CAPTURE_THREADS; k++) /* its thread runs a goroutine of the scheduler's */
      if (w.c.threads[k].proc == place && w.c.threads[k].in_syscall && !w.stolen[k]) return place;
  }
  return 0;
}

static void leave_ranges(unsigned thread, unsigned go) {
  (void)thread;
  w.regions[go] = w.old_regions[go] = w.assist[go] = 0;
}

static void end_region(unsigned thread, unsigned go, unsigned kind) {
  if (!w.regions[go]) return;
  user_call(thread, kind, 0, --w.regions[go]);
  if (w.regions[go] >= w.old_regions[go]) return;
  w.old_regions[go] = w.regions[go];
  w.left_out += kind == GOTRACE__REC_REGION_POP;
}

static void correct_call(void) {
  unsigned call = take(32), thread = take(CAPTURE_THREADS), other, go;
  capture_thread *m = &w.c.threads[thread];
  if (w.lags) w.c.lag = take(256) % GOTRACE__CLOCK_SKEW;
  w.c.tick += w.lags ? call % 4 : 1 + call % 3;
  if (m->ended) return;
  if (!m->go && w.nests[thread] && call < 16 && (m->proc || thread % 4 == 3)) { /* what has been set aside goes on */
    unsigned outer = w.nested[thread][--w.nests[thread]];
    w.aside[outer % WAITS] = false;
    m->plain = w.nests[thread] && !m->proc;
    capture_go_call(&w.c, thread, GOTRACE__REC_NEST_END, outer & WAITS ? 0 : outer);
    w.waiting[thread] = outer & WAITS ? outer % WAITS : 0;
    return;
  }
  if (((m->go && !m->in_syscall && !w.assist[m->go] && !(w.stw && w.stw_go == m->go)) || w.waiting[thread]) &&
      call == 31 && w.nests[thread] < NESTS) { /* another one runs inside */
    w.nested[thread][w.nests[thread]++] = w.waiting[thread] ? w.waiting[thread] | WAITS : m->go;
    w.aside[w.nested[thread][w.nests[thread] - 1] % WAITS] = true;
    m->plain = !m->proc;
    w.waiting[thread] = 0;
    capture_go_call(&w.c, thread, GOTRACE__REC_NEST_BEGIN, thread % 3 ? find_go(GOTRACE__RUNNABLE, false) : 0);
    return;
  }
  if (w.waiting[thread]) { /* a plain thread waits: its wait ends by a wake-up or by itself */
    capture_go_call(&w.c, thread, GOTRACE__REC_WAIT_END, w.waiting[thread]);
    w.waiting[thread] = 0;
    return;
  }
  if (m->in_syscall) {
    if (call < 8) {
      user_call(thread, GOTRACE__REC_LOG, 0, call);
    } else if (w.stolen[thread]) {
      capture_running_call(&w.c, thread, GOTRACE__REC_SYSCALL_END_BLOCKED, 0);
      w.stolen[thread] = 0;
    } else if (call < 28) {
      capture_running_call(&w.c, thread, GOTRACE__REC_SYSCALL_END, 0);
    }
    return;
  }
  if (!m->go) {
    if (!m->proc && thread % 4 == 3) { /* a plain thread */
      if (!w.own[thread] && call == 0) {
        capture_thread_end(&w.c, thread);
      } else if (!w.own[thread] && call < 8) { /* another thread has created its goroutine */
        if ((go = find_go(GOTRACE__RUNNABLE, false)) == 0) return;
        capture_go_call(&w.c, thread, GOTRACE__REC_THREAD_START, go);
        w.own[thread] = go;
      } else if (!w.own[thread]) {
        if ((go = find_go(GOTRACE__DEAD, false)) == 0) return;
        capture_create(&w.c, thread, go, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN, 2);
        w.own[thread] = go;
        capture_go_call(&w.c, thread, GOTRACE__REC_GO_START, go);
      }
    } else if (w.claimed[thread]) {
      capture_proc_call(&w.c, thread, GOTRACE__REC_PROC_STEAL, w.claimed[thread]);
      w.claimed[thread] = 0;
    } else if (!m->proc) {
      other = find_proc(GOTRACE__PROC_IDLE);
      if (call <= 1 && (other = find_proc(GOTRACE__PROC_SYSCALL)) != 0) {
        unsigned k;
        for (k = 0; k < CAPTURE_THREADS; k++)
          if (w.c.threads[k].proc == other && w.c.threads[k].in_syscall) w.stolen[k] = other;
        if (call) w.claimed[thread] = other, w.late_thief = true;
        else capture_proc_call(&w.c, thread, GOTRACE__REC_PROC_STEAL, other);
      } else if (other) {
        capture_proc_call(&w.c, thread, GOTRACE__REC_PROC_START, other);
      }
    } else if (call == 0 && !w.nests[thread]) {
      capture_proc_call(&w.c, thread, GOTRACE__REC_PROC_STOP, 0);
    } else if (call < 6 && (go = find_go(GOTRACE__DEAD, false)) != 0) {
      capture_create(&w.c, thread, go, call % 2 ? GOTRACE__RUNNABLE : GOTRACE__WAITING, 0, 2);
    } else if ((go = find_go(GOTRACE__RUNNABLE, false)) != 0) {
      capture_go_call(&w.c, thread, GOTRACE__REC_GO_START, go);
    }
    return;
  }
  if (w.stw && w.stw_go == m->go) { /* nothing else happens meanwhile */
    capture_collector_call(&w.c, thread, GOTRACE__REC_STW_END, 0);
    w.stw = false;
    return;
  }
  go = m->go;
  switch (call) {
  case 0:
  case 1:
  case 2:
    if ((other = find_go(GOTRACE__DEAD, false)) != 0)
      capture_create(&w.c, thread, other, call ? GOTRACE__RUNNABLE : GOTRACE__WAITING, 0, 1);
    break;
  case 3:
  case 4:
  case 5:
    if (w.assist[go]) break;
    capture_running_call(&w.c, thread, GOTRACE__REC_GO_BLOCK, GOTRACE_BLOCK_SYNC);
    if (w.own[thread] == go) w.waiting[thread] = go;
    break;
  case 6:
  case 7:
  case 8:
  case 9:
    if ((other = find_go(GOTRACE__WAITING, call == 9)) != 0)
      capture_go_call(&w.c, thread, GOTRACE__REC_GO_UNBLOCK, other);
    break;
  case 10:
    if (w.own[thread] == go) { /* the end of a plain thread */
      leave_ranges(thread, go);
      capture_running_call(&w.c, thread, GOTRACE__REC_GO_END, 0);
      if (!m->proc) capture_proc_call(&w.c, thread, GOTRACE__REC_PROC_STOP, 0);
      w.own[thread] = 0;
      break;
    }
    capture_running_call(&w.c, thread, GOTRACE__REC_GO_STOP, GOTRACE_STOP_YIELD);
    break;
  case 11:
  case 12:
    if (w.own[thread] == go || w.assist[go]) break;
    leave_ranges(thread, go);
    capture_running_call(&w.c, thread, GOTRACE__REC_GO_END, 0);
    break;
  case 13:
  case 14:
    if (m->proc || w.own[thread] == go) capture_running_call(&w.c, thread, GOTRACE__REC_SYSCALL_BEGIN, 0);
    break;
  case 15:
  case 16:
    if (w.own[thread] == go || (other = find_go(GOTRACE__WAITING, false)) == 0) break;
    if (call == 16 && w.assist[go]) break;
    if (call == 16) leave_ranges(thread, go);
    capture_go_call(&w.c, thread, call == 15 ? GOTRACE__REC_GO_SWITCH : GOTRACE__REC_GO_SWITCH_END, other);
    break;
  case 17:
    if ((other = find_go(call % 2 ? GOTRACE__WAITING : GOTRACE__RUNNABLE, false)) == 0 || w.assist[other]) break;
    leave_ranges(thread, other);
    capture_go_call(&w.c, thread, GOTRACE__REC_GO_DESTROY, other);
    break;
  case 18:
  case 19:
    if (w.regions[go] >= 6) break;
    user_call(thread, GOTRACE__REC_REGION_BEGIN, 0, w.regions[go]++);
    break;
  case 20: end_region(thread, go, GOTRACE__REC_REGION_END); break;
  case 21: end_region(thread, go, GOTRACE__REC_REGION_POP); break;
  case 22:
  case 23:
    other = take(TASKS);
    if (w.tasks[other]) {
      user_call(thread, GOTRACE__REC_TASK_END, w.tasks[other], 0);
      w.tasks[other] = 0;
    } else {
      user_call(thread, GOTRACE__REC_TASK_BEGIN, w.tasks[other] = ++w.c.next_task, call);
    }
    break;
  case 24: {
    capture_record record = capture_made(GOTRACE__REC_GO_LABEL);
    record.text = "label";
    record.text_size = call % 2 ? 5 : 0;
    capture_call(&w.c, thread, &record);
    break;
  }
  case 25:
    capture_collector_call(&w.c, thread, w.gc ? GOTRACE__REC_GC_END : GOTRACE__REC_GC_BEGIN, 1);
    if (w.c.t) w.gc = !w.gc;
    break;
  case 26:
    if (w.stw || !w.c.t) break;
    capture_collector_call(&w.c, thread, GOTRACE__REC_STW_BEGIN, GOTRACE_STW_GC_MARK_TERM);
    w.stw = true;
    w.stw_go = go;
    break;
  case 27: {
    capture_record record = capture_made(w.assist[go] ? GOTRACE__REC_MARK_ASSIST_END : GOTRACE__REC_MARK_ASSIST_BEGIN);
    capture_call(&w.c, thread, &record);
    if (w.c.t) w.assist[go] = !w.assist[go];
    break;
  }
  case 28: {
    capture_record record = capture_made(call % 2 ? GOTRACE__REC_HEAP_ALLOC : GOTRACE__REC_HEAP_GOAL);
    record.is.as_HEAP_ALLOC.bytes = w.c.tick;
    capture_call(&w.c, thread, &record);
    break;
  }
  default: user_call(thread, GOTRACE__REC_LOG, 0, call);
  }
}

/* ---- The checks. ---- */

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  abort();
}

static void check_readers(unsigned format) {
  uint64_t seed, kinds[256] = {0};
  unsigned i;
  bool ties = true;
  for (seed = 0; seed < 3 && ties; seed++) {
    if (format < GOTRACE_GO_1_22) {
      check_v1_trace t;
      if (!check_v1(&t, w.trace, w.size, CHECK_V1_STRICT, seed)) fail(t.error);
      for (i = 0; i < 64; i++) kinds[i] = t.kinds[i];
      ties = t.ties;
      check_v1_free(&t);
    } else {
      check_v2_trace t;
      check_v2_strict = w.correct;
      if (!check_v2(&t, w.trace, w.size, seed)) fail(t.error);
      memcpy(kinds, t.kinds, sizeof kinds);
      ties = t.ties;
      check_v2_free(&t);
      if (w.t.options.restate && t.generations > 1) { /* a flight recorder may have dropped the first */
        if (!check_v2_from(&t, w.trace, w.size, seed, t.first_generation)) fail(t.error);
        check_v2_free(&t);
      }
    }
  }
  for (i = 0; i < GOTRACE__KINDS; i++) /* what it counts is in the trace */
    if (kinds[i] != w.t.kinds[i] && !(format < GOTRACE_GO_1_22 && i >= 38 && i <= 40)) {
      fprintf(stderr, "%llu events %u, not %llu\n", (unsigned long long)kinds[i], i, (unsigned long long)w.t.kinds[i]);
      abort();
    }
}

/* The decoder accepts it too. In a correct program each log comes after those that happened before it; in v1 only if no
 * event is without a proc, since all of these are in one stream, where one that is applied late delays what follows. */
static void check_decoder(void) {
  gotrace_decoder_options options;
  gotrace_decoder *d = NULL;
  gotrace_event event;
  uint64_t found = 0;
  capture_known seen = {0};
  memset(&options, 0, sizeof options);
  options.data = w.trace;
  options.size = w.size;
  REQUIRE(gotrace_decoder_open(&d, &options) == GOTRACE_OK);
  while (gotrace_decoder_next(d, &event) == GOTRACE_OK) {
    const char *text = event.data;
    size_t size = event.data_size;
    char value[32] = "";
    uint64_t number;
    unsigned i;
    if (strcmp(event.spec->name, "UserLog") != 0) continue;
    if (event.spec->since >= GOTRACE_GO_1_22) REQUIRE(gotrace_decoder_string(d, event.args[2], &text, &size));
    found++;
    if (!w.correct || size >= sizeof value || w.t.global.batches) continue;
    memcpy(value, text, size);
    number = strtoull(value, NULL, 10);
    REQUIRE(number && number <= w.logs);
    for (i = 0; i < CAPTURE_THREADS; i++) REQUIRE(seen[i] >= logs[number].known[i]);
    REQUIRE(seen[logs[number].thread] < number);
    seen[logs[number].thread] = number;
  }
  if (gotrace_decoder_error(d)->result) fail(gotrace_decoder_error(d)->message);
  gotrace_decoder_close(d);
  if (w.correct && !w.t.error && w.t.options.version >= GOTRACE_GO_1_11) REQUIRE(found == w.c.kinds[GOTRACE__REC_LOG]);
}

static void check_correct(void) {
  const gotrace__counters *n = &w.t.counters;
  const uint64_t *r = w.c.kinds, *k = w.t.kinds;
  unsigned i;
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++)
    if (w.t.problems[i] && i != GOTRACE_PROBLEM_FORMAT_LACKS && i != GOTRACE_PROBLEM_REGION_OLDER) {
      fprintf(stderr, "%s: ", gotrace_problem_string((gotrace_problem)i));
      fail("a problem in a correct program");
    }
  if (n->forced || n->malformed || n->doubled || n->jumps ||
      (!w.lags && (n->late_introductions || n->stale || n->late || (n->implied && !w.late_thief)))) {
    fprintf(stderr,
            "forced %llu, malformed %llu, doubled %llu, jumps %llu, late_introductions %llu, stale %llu, late %llu, "
            "implied %llu in a correct program\n",
            CHECK_V2_U(n->forced), CHECK_V2_U(n->malformed), CHECK_V2_U(n->doubled), CHECK_V2_U(n->jumps),
            CHECK_V2_U(n->late_introductions), CHECK_V2_U(n->stale), CHECK_V2_U(n->late), CHECK_V2_U(n->implied));
    abort();
  }
  if (w.t.options.version < GOTRACE_GO_1_23) return;
  REQUIRE(k[GOTRACE_V2_GO_CREATE] + k[GOTRACE_V2_GO_CREATE_BLOCKED] == r[GOTRACE__REC_GO_CREATE] + n->borrowed);
  REQUIRE(k[GOTRACE_V2_GO_BLOCK] == r[GOTRACE__REC_GO_BLOCK]);
  REQUIRE(k[GOTRACE_V2_GO_SWITCH] == r[GOTRACE__REC_GO_SWITCH]);
  REQUIRE(k[GOTRACE_V2_GO_SWITCH_DESTROY] == r[GOTRACE__REC_GO_SWITCH_END]);
  REQUIRE(k[GOTRACE_V2_GO_DESTROY] == r[GOTRACE__REC_GO_END] + r[GOTRACE__REC_GO_DESTROY] + n->borrowed);
  REQUIRE(k[GOTRACE_V2_PROC_STEAL] <= r[GOTRACE__REC_PROC_STEAL]); /* else of a call that is older than the trace */
  REQUIRE(k[GOTRACE_V2_GC_BEGIN] == r[GOTRACE__REC_GC_BEGIN]);
  REQUIRE(k[GOTRACE_V2_GC_END] == r[GOTRACE__REC_GC_END]);
  REQUIRE(k[GOTRACE_V2_USER_TASK_BEGIN] >= r[GOTRACE__REC_TASK_BEGIN]); /* and those older than the trace */
  REQUIRE(k[GOTRACE_V2_USER_TASK_BEGIN] <= r[GOTRACE__REC_TASK_BEGIN] + w.old_tasks);
  REQUIRE(k[GOTRACE_V2_USER_TASK_END] == r[GOTRACE__REC_TASK_END]);
  REQUIRE(k[GOTRACE_V2_USER_REGION_BEGIN] == r[GOTRACE__REC_REGION_BEGIN]);
  REQUIRE(k[GOTRACE_V2_USER_REGION_END] + w.left_out == r[GOTRACE__REC_REGION_END] + r[GOTRACE__REC_REGION_POP]);
  REQUIRE(k[GOTRACE_V2_USER_LOG] == r[GOTRACE__REC_LOG]);
}

static void keep_file(unsigned format) {
  static unsigned count;
  const char *directory = getenv("TRANSCRIBE_KEEP");
  char path[300];
  FILE *file;
  if (!directory) return;
  snprintf(path, sizeof path, "%s/%u-%06u.trace", directory, format, count++);
  file = fopen(path, "wb");
  REQUIRE(file && fwrite(w.trace, 1, w.size, file) == w.size && fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gotrace__transcribe_options options;
  gotrace__clocks clocks;
  uint8_t *memory = w.trace;
  unsigned i, format, before, cuts = 0;
  bool lacks = size && data[0] >= 192;
  gotrace_location places[3] = {{0, "caller", "fuzz.c", 1}, {0, "entry", "fuzz.c", 2}, {4096, NULL, NULL, 0}};
  if (!memory) REQUIRE((memory = (uint8_t *)malloc(MOST_TRACE)) != NULL);
  memset(&w, 0, sizeof w);
  w.trace = memory;
  w.in.at = data;
  w.in.end = data + size;
  w.shows = getenv("TRANSCRIBE_SHOW") != NULL;
  format = formats[take(sizeof formats / sizeof formats[0])];
  i = take(256);
  w.correct = i % 2;
  before = i / 2 % 16; /* calls before the trace begins */
  w.lags = i / 32 % 2;
  w.c.one_id = !w.correct && i / 64 == 3; /* as only a process that is recorded from outside can make it */
  w.c.tick = 1000;
  capture_tables_begin(&w.tables, "even", "constant", places, 3);
  for (i = 0; i < 6; i++) { /* all that calls have: the capture does not run out of memory */
    gotrace__site_key key = {(uint32_t)(i / 3), (uint32_t)(i % 3)};
    REQUIRE(gotrace__site_put(w.tables.sites, key) == (uint32_t)i + 1);
  }
  memset(&options, 0, sizeof options);
  options.version = format;
  options.alloc_events = before % 2;
  options.restate = before % 4 == 3;
  options.cut_bytes = 1024;
  capture_tables_use(&w.tables, &options);
  options.service_thread = 1;
  options.write = keep_trace;
  options.chunk_done = chunk_done;
  options.sample = sample;
  w.forgets = before % 8 > 4;
  w.budget.limit = SIZE_MAX;
  options.budget = &w.budget;
  for (i = 1; i <= PROCS; i++) w.c.procs[i].status = GOTRACE__PROC_IDLE;
  for (i = 0; i < before; i++) w.correct ? correct_call() : wild_call();
  options.first_task = w.c.next_task + 1;
  options.go_ids = w.correct ? NULL : &w.c.next_go;
  w.t.own_ids = (uint64_t)1 << 40;
  clocks = capture_clocks(&w.c);
  REQUIRE(gotrace__transcribe_begin(&w.t, &options, &clocks));
  if (lacks) w.lack = 1 + take(64);
  w.lacks_for_ever = lacks && data[0] >= 224;
  for (i = 0; i < TASKS; i++) {
    if (!w.tasks[i]) continue;
    gotrace__transcribe_living_task(&w.t, w.tasks[i], 0, "older");
    w.old_tasks++;
  }
  memcpy(w.old_regions, w.regions, sizeof w.old_regions);
  memset(w.c.kinds, 0, sizeof w.c.kinds);
  capture_start(&w.c, &w.t);
  while (w.in.at < w.in.end) {
    unsigned how = take(256);
    if (how < 8 || gotrace__transcribe_is_full(&w.t)) {
      w.c.tick += how % 4;
      clocks = capture_clocks(&w.c);
      w.seen = sum(&w.t);
      gotrace__transcribe_round(&w.t, &clocks, false);
      if ((how < 4 && cuts++ < MOST_CUTS) || gotrace__transcribe_is_full(&w.t)) gotrace__transcribe_cut(&w.t);
      for (i = 0; i < CAPTURE_THREADS; i++) capture_release(&w.c, i);
    } else if (how < 10) {
      unsigned place = take(CAPTURE_GOS + 1);
      if (w.samples_end == SAMPLES) continue;
      w.samples[w.samples_end].tick = w.c.tick;
      w.samples[w.samples_end].place = place;
      w.samples[w.samples_end++].go = w.c.gos[place].id;
    } else if (w.correct) {
      correct_call();
    } else {
      wild_call();
    }
  }
  for (i = 0; i < CAPTURE_THREADS; i++) capture_publish(&w.c.threads[i]);
  w.c.tick += 100;
  clocks = capture_clocks(&w.c);
  w.seen = sum(&w.t);
  REQUIRE(gotrace__transcribe_finish(&w.t, &clocks) == GOTRACE_OK || w.lacked);
  w.lack = 0;
  keep_file(format);
  check_readers(format);
  check_decoder();
  if (w.correct && !w.t.error) check_correct();
  gotrace__transcribe_free(&w.t);
  capture_tables_free(&w.tables);
  capture_free(&w.c);
  REQUIRE(w.budget.used == 0);
  return 0;
}
FUZZ_COVERED
