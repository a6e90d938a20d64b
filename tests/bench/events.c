/* What an event costs, beside a floor: a loop that reads the tick counter and stores 8 bytes to a warm buffer.
 *
 *     events [-q] [-c]      -q: fewer repetitions; -c: each row once, for a tool that counts instructions
 *
 * Lines `result NAME THREADS NS_MIN NS_MEDIAN RATIO BYTES`: nanoseconds an event, the median of its ratios to the floor that
 * was measured right before, bytes an event. NAME alone is v2 (1.23); _v1 is 1.21; _seq_cst is the build with
 * GOTRACE_SEQ_CST_FLAG. Lines `pair NAME FACTOR`: an event's time while a second thread does the same, over its time
 * alone. Lines `memory ...`: what takes memory. tests/bench/events.sh makes a table of them.
 *
 * How two calls are told apart that only go together (a start needs a block before the next one): the pair is measured in
 * long runs, without looking at the clock in between. Its time is shared out as ticks are between the two when each call
 * is measured by itself; those alone would be too large by what reading the counter in order takes.
 *
 * Each thread is pinned, and has a proc and goroutines of its own. The trace goes to a function that throws it away. Each row is
 * a trace of its own, of which the counts must be those of the calls; nothing may be dropped or repaired. Bytes are those
 * of the events themselves, from a short trace that is kept; where each event adds to the tables, those of all of that
 * trace.
 */
#define _GNU_SOURCE 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#if GOTRACE_SEQ_CST_FLAG
#define VARIANT "_seq_cst"
#else
#define VARIANT ""
#endif

enum {
  GOS = 128,       /* goroutines of a thread: their records fit into the first cache */
  DEPTH = 64,      /* regions in each other, tasks at once */
  PARTS = 3,       /* results of a row */
  MOST_ROUNDS = 3, /* traces of a row, far apart, since others use the machine too */
  MOST_REPETITIONS = 101,
  SAMPLES = MOST_ROUNDS * MOST_REPETITIONS,
  FLOOR_LOOPS = 4000
};

static int rounds = MOST_ROUNDS, repetitions = MOST_REPETITIONS;
static bool counting; /* instructions, by a tool: times mean nothing */
static int processors[2], processor_count;
static int failures;

/* ------------------------------------------------------------------------------------------------- time ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double now_cost; /* of now(), in what is measured between two of it */

/* The counter, read after what comes before and before what comes after. */
static uint64_t ordered_ticks(void) {
#if defined(__x86_64__) || defined(__i386__)
  uint64_t ticks;
  __builtin_ia32_lfence();
  ticks = __builtin_ia32_rdtsc();
  __builtin_ia32_lfence();
  return ticks;
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return (uint64_t)GOTRACE__TICKS();
#endif
}

static double ticks_cost; /* of ordered_ticks, likewise, in ticks */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, ascending);
  return count ? values[count / 2] : 0;
}

static void calibrate_clocks(void) {
  static double times[1001], ticks[1001];
  size_t i;
  for (i = 0; i < 1001; i++) {
    double begin = now();
    uint64_t first;
    times[i] = now() - begin;
    first = ordered_ticks();
    ticks[i] = (double)(ordered_ticks() - first);
  }
  now_cost = median(times, 1001);
  ticks_cost = median(ticks, 1001);
}

static __thread volatile uint64_t warm[1024];

static double floor_once(void) {
  double begin = now();
  unsigned i;
  for (i = 0; i < FLOOR_LOOPS; i++) warm[i & 1023] = (uint64_t)GOTRACE__TICKS();
  return (now() - begin - now_cost) / FLOOR_LOOPS;
}

static void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)processor, &set);
  if (sched_setaffinity(0, sizeof set, &set)) perror("sched_setaffinity");
}

static void find_processors(void) {
  cpu_set_t set;
  int i;
  if (sched_getaffinity(0, sizeof set, &set)) return;
  for (i = 0; i < CPU_SETSIZE && processor_count < 2; i++)
    if (CPU_ISSET((size_t)i, &set)) processors[processor_count++] = i;
}

/* ---------------------------------------------------------------------------------------- what is measured ---- */

/* What a thread of a row has, and what it finds. */
typedef struct work {
  gotrace_go *gos[GOS];
  gotrace_proc *proc;
  double ns[PARTS];    /* an event, of the last measurement */
  uint64_t made[PARTS]; /* calls in this trace */
  uint64_t path;       /* the next path to the bottom of a new stack */
  unsigned names;      /* new ones so far */
} work;

/* Shares the nanoseconds of pairs out, by the ticks of the first call and the second. */
static void share(work *w, double pair, double first, double second, uint64_t calls) {
  double whole;
  first -= ticks_cost * (double)calls, second -= ticks_cost * (double)calls;
  if (first < 1) first = 1;
  if (second < 1) second = 1;
  whole = first + second;
  w->ns[0] = pair * first / whole;
  w->ns[1] = pair * second / whole;
}

/* Times PAIRS pairs of the calls FIRST and SECOND, which use i, and their shares. */
#define MEASURE_PAIRS(w, pairs, FIRST, SECOND)                 \
  do {                                                         \
    double begin_ = now(), pair_;                              \
    uint64_t first_ = 0, second_ = 0, t0_, t1_;                \
    unsigned i;                                                \
    for (i = 0; i < (pairs); i++) {                            \
      FIRST;                                                   \
      SECOND;                                                  \
    }                                                          \
    pair_ = (now() - begin_ - now_cost) / (pairs);             \
    for (i = 0; i < GOS; i++) {                                \
      t0_ = ordered_ticks();                                   \
      FIRST;                                                   \
      t1_ = ordered_ticks();                                   \
      SECOND;                                                  \
      first_ += t1_ - t0_;                                     \
      second_ += ordered_ticks() - t1_;                        \
    }                                                          \
    share(w, pair_, (double)first_, (double)second_, GOS);     \
    (w)->made[0] += (pairs) + GOS, (w)->made[1] += (pairs) + GOS; \
  } while (0)

enum { PAIRS = 1024 };

/* Half a pair. */
static void measure_region(work *w) {
  double begin = now();
  unsigned i;
  for (i = 0; i < PAIRS; i++) {
    gotrace_region_begin(GOTRACE_NO_TASK, "region");
    gotrace_region_end(GOTRACE_NO_TASK, "region");
  }
  w->ns[0] = (now() - begin - now_cost) / (2 * PAIRS);
  w->made[0] += 2 * PAIRS;
}

/* Beginnings, then ends, each at one place: regions in each other. */
static void measure_region_sides(work *w) {
  double begins = 0, ends = 0;
  unsigned round, i;
  for (round = 0; round < 2 * PAIRS / DEPTH; round++) {
    double t0 = now(), t1;
    for (i = 0; i < DEPTH; i++) gotrace_region_begin(GOTRACE_NO_TASK, "region");
    t1 = now();
    for (i = 0; i < DEPTH; i++) gotrace_region_end(GOTRACE_NO_TASK, "region");
    begins += t1 - t0 - now_cost;
    ends += now() - t1 - now_cost;
  }
  w->ns[0] = begins / (2 * PAIRS);
  w->ns[1] = ends / (2 * PAIRS);
  w->made[0] += 2 * PAIRS, w->made[1] += 2 * PAIRS;
}

static void measure_log(work *w) {
  double begin = now();
  unsigned i;
  for (i = 0; i < PAIRS; i++) gotrace_log(GOTRACE_NO_TASK, "category", "a message");
  w->ns[0] = (now() - begin - now_cost) / PAIRS;
  w->made[0] += PAIRS;
}

static void measure_task(work *w) {
  double begins = 0, ends = 0;
  unsigned round, i;
  for (round = 0; round < PAIRS / DEPTH; round++) {
    gotrace_task tasks[DEPTH];
    double t0 = now(), t1;
    for (i = 0; i < DEPTH; i++) tasks[i] = gotrace_task_begin("task", GOTRACE_NO_TASK);
    t1 = now();
    for (i = 0; i < DEPTH; i++) gotrace_task_end(tasks[i]);
    begins += t1 - t0 - now_cost;
    ends += now() - t1 - now_cost;
  }
  w->ns[0] = begins / PAIRS;
  w->ns[1] = ends / PAIRS;
  w->made[0] += PAIRS, w->made[1] += PAIRS;
}

static void measure_syscall(work *w) {
  MEASURE_PAIRS(w, PAIRS, gotrace_go_syscall_begin(), gotrace_go_syscall_end());
}

/* Goroutines run one after another until they block, then all are unblocked. */
static void measure_go(work *w) {
  enum { ROUNDS = 8 };
  double pairs = 0, unblocks = 0;
  uint64_t first = 0, second = 0;
  unsigned round, i;
  for (round = 0; round <= ROUNDS; round++) {
    double t0 = now(), t1;
    if (round < ROUNDS) {
      for (i = 0; i < GOS; i++) {
        gotrace_go_start(w->gos[i]);
        gotrace_go_block(GOTRACE_BLOCK_SYNC);
      }
    } else {
      for (i = 0; i < GOS; i++) {
        uint64_t begin = ordered_ticks(), between;
        gotrace_go_start(w->gos[i]);
        between = ordered_ticks();
        gotrace_go_block(GOTRACE_BLOCK_SYNC);
        first += between - begin;
        second += ordered_ticks() - between;
      }
    }
    t1 = now();
    for (i = 0; i < GOS; i++) gotrace_go_unblock(w->gos[i]);
    unblocks += now() - t1 - now_cost;
    if (round < ROUNDS) pairs += t1 - t0 - now_cost;
  }
  share(w, pairs / (ROUNDS * GOS), (double)first, (double)second, GOS);
  w->ns[2] = unblocks / (round * GOS);
  for (i = 0; i < PARTS; i++) w->made[i] += round * GOS;
}

/* Started and stopped: the first part is that of measure_go and not shown again. */
static void measure_stop(work *w) {
  MEASURE_PAIRS(w, PAIRS, gotrace_go_start(w->gos[i % GOS]), gotrace_go_stop(GOTRACE_STOP_YIELD));
}

/* One goroutine runs, the others are blocked; each switches to the next. */
static void measure_switch(work *w) {
  double begin;
  unsigned i;
  for (i = 0; i < GOS; i++) {
    gotrace_go_start(w->gos[i]);
    if (i + 1 < GOS) gotrace_go_block(GOTRACE_BLOCK_SYNC);
  }
  begin = now();
  for (i = 0; i < PAIRS; i++) gotrace_go_switch(w->gos[i % GOS]);
  w->ns[0] = (now() - begin - now_cost) / PAIRS;
  gotrace_go_block(GOTRACE_BLOCK_SYNC); /* PAIRS is a multiple of GOS: so it is the last of them */
  for (i = 0; i < GOS; i++) gotrace_go_unblock(w->gos[i]);
  w->made[0] += PAIRS;
}

/* Created, then each run to its end. */
static void measure_create(work *w) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("short-lived");
  enum { ROUNDS = 8 };
  gotrace_go *gos[GOS];
  double creates = 0, pairs = 0;
  uint64_t first = 0, second = 0;
  unsigned round, i;
  for (round = 0; round <= ROUNDS; round++) {
    double t0 = now(), t1;
    for (i = 0; i < GOS; i++) gos[i] = gotrace_go_create(&entry);
    t1 = now();
    creates += t1 - t0 - now_cost;
    if (round < ROUNDS) {
      for (i = 0; i < GOS; i++) {
        gotrace_go_start(gos[i]);
        gotrace_go_end();
      }
      pairs += now() - t1 - now_cost;
    } else {
      for (i = 0; i < GOS; i++) {
        uint64_t begin = ordered_ticks(), between;
        gotrace_go_start(gos[i]);
        between = ordered_ticks();
        gotrace_go_end();
        first += between - begin;
        second += ordered_ticks() - between;
      }
    }
  }
  share(w, pairs / (ROUNDS * GOS), (double)first, (double)second, GOS);
  w->ns[2] = creates / (round * GOS);
  for (i = 0; i < PARTS; i++) w->made[i] += round * GOS;
}

static void measure_proc(work *w) {
  gotrace_proc_stop();
  MEASURE_PAIRS(w, PAIRS, gotrace_proc_start(w->proc), gotrace_proc_stop());
  gotrace_proc_start(w->proc);
  w->made[0]++, w->made[1]++;
}

/* Names that are made while the program runs, and so have no call site that remembers them. Only beginnings are timed. */
static void measure_strings(work *w, bool fresh) {
  static char texts[2][DEPTH][32]; /* by thread: they may not share a cache line while one of them writes */
  char(*text)[32] = texts[gotrace_proc_id(w->proc) & 1];
  double begins = 0;
  unsigned round, i;
  for (round = 0; round < PAIRS / DEPTH; round++) {
    double t0;
    for (i = 0; i < DEPTH; i++)
      snprintf(text[i], sizeof text[i], "a name made here %u", fresh ? w->names++ * 2 + (gotrace_proc_id(w->proc) & 1) : i);
    t0 = now();
    for (i = 0; i < DEPTH; i++) gotrace_region_begin(GOTRACE_NO_TASK, text[i]);
    begins += now() - t0 - now_cost;
    for (i = DEPTH; i-- > 0;) gotrace_region_end(GOTRACE_NO_TASK, "a name made here");
  }
  w->ns[0] = begins / PAIRS;
  w->made[0] += PAIRS;
}
static void measure_string(work *w) { measure_strings(w, false); }
static void measure_string_new(work *w) { measure_strings(w, true); }

/* Stacks by frame pointers: functions that call each other so deep; `path` decides, two bits a frame, from which place, so
 * that there are more different stacks than a benchmark makes. */
static void (*at_the_bottom)(work *);
#define DEEPER(name) __attribute__((noinline)) static void name(work *w, unsigned depth, uint64_t path)
DEEPER(deeper);
DEEPER(deeper) {
  if (depth == 0) at_the_bottom(w);
  else if ((path & 3) == 0) deeper(w, depth - 1, path >> 2);
  else if ((path & 3) == 1) deeper(w, depth - 1, path >> 2);
  else if ((path & 3) == 2) deeper(w, depth - 1, path >> 2);
  else deeper(w, depth - 1, path >> 2);
  __asm__ volatile("" : : "r"(path) : "memory"); /* no tail calls, and the four places stay apart */
}

static unsigned extra_frames; /* between measure_stack and the number of frames that the row wants */

static void measure_stack(work *w) {
  at_the_bottom = measure_region;
  deeper(w, extra_frames, 0);
}

static void one_new_stack(work *w) {
  uint64_t begin = ordered_ticks();
  gotrace_region_begin(GOTRACE_NO_TASK, "region");
  gotrace_region_end(GOTRACE_NO_TASK, "region");
  w->ns[1] += (double)(ordered_ticks() - begin) - ticks_cost;
}

static double ns_per_tick;

static void measure_stack_new(work *w) {
  enum { STACKS = 256 };
  unsigned i;
  at_the_bottom = one_new_stack;
  w->ns[1] = 0;
  for (i = 0; i < STACKS; i++) deeper(w, extra_frames, (w->path++ << 1) | (gotrace_proc_id(w->proc) & 1));
  w->ns[0] = w->ns[1] * ns_per_tick / (2 * STACKS);
  w->made[0] += 2 * STACKS;
}

/* ------------------------------------------------------------------------------------------------- rows ---- */

typedef struct part {
  const char *name; /* NULL: not shown */
  const char *v2, *v1; /* how the names of its events begin; NULL: no event tells */
} part;

enum { RUNS = 1, SINGLE = 2, ALL_BYTES = 4, V2_ONLY = 8, OFF = 16, ON = 32, SHALLOW = 64 };

typedef struct row {
  void (*measure)(work *);
  unsigned flags; /* RUNS: a goroutine runs meanwhile; SINGLE: one thread only; ALL_BYTES: also of the tables; OFF, ON: without a
                     trace, with one; SHALLOW: counts an event twice over, see measure_create */
  gotrace_stacks stacks;
  unsigned frames; /* the stack has; 0: whatever it has */
  part parts[PARTS];
  const char *off[PARTS]; /* their names without a trace */
} row;

#define REGION "UserRegion", "UserRegion"

static const row rows[] = {
    {measure_region, RUNS | OFF | ON, GOTRACE_STACKS_CALL_SITE, 0, {{"region", REGION}}, {"off_region"}},
    {measure_region_sides, RUNS | ON, GOTRACE_STACKS_CALL_SITE, 0,
     {{"region_begin", "UserRegionBegin", NULL}, {"region_end", "UserRegionEnd", NULL}}, {NULL}},
    {measure_region, RUNS | ON, GOTRACE_STACKS_NONE, 0, {{"no_stack", REGION}}, {NULL}},
    {measure_log, RUNS | OFF | ON, GOTRACE_STACKS_CALL_SITE, 0, {{"log", "UserLog", "UserLog"}}, {"off_log"}},
    {measure_task, RUNS | OFF | ON, GOTRACE_STACKS_CALL_SITE, 0,
     {{"task_begin", "UserTaskBegin", "UserTaskCreate"}, {"task_end", "UserTaskEnd", "UserTaskEnd"}},
     {"off_task_begin", "off_task_end"}},
    {measure_go, OFF | ON, GOTRACE_STACKS_CALL_SITE, 0,
     {{"go_start", "GoStart", "GoStart"}, {"go_block", "GoBlock", "GoBlock"}, {"go_unblock", "GoUnblock", "GoUnblock"}},
     {"off_go_start", "off_go_block", "off_go_unblock"}},
    {measure_stop, OFF | ON, GOTRACE_STACKS_CALL_SITE, 0,
     {{NULL, "GoStart", "GoStart"}, {"go_stop", "GoStop", "GoSched"}}, {NULL, "off_go_stop"}},
    {measure_create, OFF | ON, GOTRACE_STACKS_CALL_SITE, 0,
     {{NULL, "GoStart", "GoStart"}, {"go_end", "GoDestroy", "GoEnd"}, {"go_create", "GoCreate", NULL}},
     {NULL, "off_go_end", "off_go_create"}},
    {measure_switch, ON, GOTRACE_STACKS_CALL_SITE, 0, {{"go_switch", "GoSwitch", NULL}}, {NULL}},
    {measure_syscall, RUNS | OFF | ON, GOTRACE_STACKS_CALL_SITE, 0,
     {{"syscall_begin", "GoSyscallBegin", "GoSysCall"}, {"syscall_end", "GoSyscallEnd", NULL}},
     {"off_syscall_begin", "off_syscall_end"}},
    {measure_proc, ON, GOTRACE_STACKS_CALL_SITE, 0,
     {{"proc_start", "ProcStart", NULL}, {"proc_stop", "ProcStop", "ProcStop"}}, {NULL}},
    {measure_stack, RUNS | ON, GOTRACE_STACKS_FRAME_POINTERS, 4, {{"stack4", REGION}}, {NULL}},
    {measure_stack, RUNS | ON, GOTRACE_STACKS_FRAME_POINTERS, 16, {{"stack16", REGION}}, {NULL}},
    {measure_stack, RUNS | ON, GOTRACE_STACKS_FRAME_POINTERS, 64, {{"stack64", REGION}}, {NULL}},
    {measure_stack_new, RUNS | SINGLE | ON | ALL_BYTES, GOTRACE_STACKS_FRAME_POINTERS, 16, {{"stack16_new", REGION}}, {NULL}},
    {measure_stack_new, RUNS | SINGLE | ON | ALL_BYTES, GOTRACE_STACKS_FRAME_POINTERS, 64, {{"stack64_new", REGION}}, {NULL}},
    {measure_string, RUNS | ON, GOTRACE_STACKS_CALL_SITE, 0, {{"string", "UserRegionBegin", NULL}}, {NULL}},
    {measure_string_new, RUNS | ON | ALL_BYTES, GOTRACE_STACKS_CALL_SITE, 0,
     {{"string_new", "UserRegionBegin", NULL}}, {NULL}},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* One of the rows, with one thread or two, in a format (0: off): what was found of it in all rounds so far. */
typedef struct series {
  const row *row;
  gotrace_format format;
  int threads;
  size_t samples, pairs;
  double ns[PARTS][2 * SAMPLES], ratios[PARTS][2 * SAMPLES], factors[PARTS][SAMPLES];
  double bytes[PARTS];
  unsigned extra_frames;
  struct series *next;
} series;

/* ------------------------------------------------------------------------------------------------- a trace ---- */

typedef struct kept {
  uint8_t *data;
  size_t size, capacity;
} kept;

static bool throw_away(void *context, const void *data, size_t size) {
  (void)context, (void)data, (void)size;
  return true;
}

static bool keep(void *context, const void *data, size_t size) {
  kept *k = (kept *)context;
  if (k->size + size > k->capacity) {
    size_t capacity = 2 * (k->size + size);
    uint8_t *larger = (uint8_t *)realloc(k->data, capacity);
    if (!larger) return false;
    k->data = larger, k->capacity = capacity;
  }
  memcpy(k->data + k->size, data, size);
  k->size += size;
  return true;
}

typedef struct worker {
  pthread_t thread;
  int index;
  work work;
  double alone[PARTS][MOST_REPETITIONS], ns[PARTS][MOST_REPETITIONS], ratios[PARTS][MOST_REPETITIONS];
  uint64_t begin[MOST_REPETITIONS], end[MOST_REPETITIONS];
} worker;

static worker workers[2];
static series *current;
static int session_repetitions;
static bool session_kept;
static pthread_barrier_t together;
static atomic_uint arrived;

/* Both threads go on at the same moment, which pthread_barrier_wait does not see to. */
static void spin_together(unsigned *phase) {
  *phase += (unsigned)current->threads;
  atomic_fetch_add(&arrived, 1);
  while ((int)(atomic_load(&arrived) - *phase) < 0) continue;
}

/* A tool that counts instructions does so inside here. */
__attribute__((noinline)) static void counted(const row *r, work *w) {
  r->measure(w);
  __asm__ volatile("" ::: "memory");
}

static void *work_main(void *argument) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("goroutine");
  worker *self = (worker *)argument;
  work *w = &self->work;
  const row *r = current->row;
  unsigned phase = 0;
  int i, k;
  pin(processors[self->index]);
  w->proc = gotrace_proc_create();
  gotrace_proc_start(w->proc);
  for (i = 0; i < GOS; i++) w->gos[i] = gotrace_go_create(&entry);
  if (r->flags & RUNS) gotrace_go_start(w->gos[0]);
  pthread_barrier_wait(&together); /* the trace starts */
  pthread_barrier_wait(&together);
  if (!counting) r->measure(w);
  r->measure(w); /* names, stacks and pages are there */
  for (i = 0; i < session_repetitions; i++) {
    double ground;
    if (counting) {
      counted(r, w);
      continue;
    }
    if (session_kept) {
      r->measure(w);
      continue;
    }
    if (current->threads > 1) {
      pthread_barrier_wait(&together);
      if (self->index == 0) {
        r->measure(w);
        for (k = 0; k < PARTS; k++) self->alone[k][i] = w->ns[k];
      }
      pthread_barrier_wait(&together);
      spin_together(&phase);
    }
    ground = floor_once();
    self->begin[i] = (uint64_t)GOTRACE__TICKS();
    r->measure(w);
    self->end[i] = (uint64_t)GOTRACE__TICKS();
    for (k = 0; k < PARTS; k++) {
      self->ns[k][i] = w->ns[k];
      self->ratios[k][i] = w->ns[k] / ground;
    }
  }
  pthread_barrier_wait(&together); /* the trace stops */
  pthread_barrier_wait(&together);
  if (r->flags & RUNS) gotrace_go_stop(GOTRACE_STOP_YIELD);
  for (i = 0; i < GOS; i++) {
    gotrace_go_start(w->gos[i]);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(w->proc);
  return NULL;
}

static void print_name(char *whole, size_t size, const series *s, int k) {
  if (!s->format) snprintf(whole, size, "%s", s->row->off[k]);
  else snprintf(whole, size, "%s%s%s", s->row->parts[k].name, s->format < GOTRACE_GO_1_22 ? "_v1" : "", VARIANT);
}

static const char *event_prefix(const series *s, int k) {
  return s->format < GOTRACE_GO_1_22 ? s->row->parts[k].v1 : s->row->parts[k].v2;
}

static void wrong(const series *s, const char *what, unsigned long long got, unsigned long long want) {
  char name[80];
  int k = 0;
  while (k < PARTS && !(s->format ? s->row->parts[k].name : s->row->off[k])) k++;
  print_name(name, sizeof name, s, k);
  printf("wrong %s %d threads: %s: %llu, not %llu\n", name, s->threads, what, got, want);
  failures++;
}

/* The trace must tell of each call. */
static void check_trace(const series *s, gotrace_result result) {
  gotrace_stats stats;
  int k, number, i;
  gotrace_get_stats(&stats);
  if (result) {
    wrong(s, gotrace_result_string(result), (unsigned long long)result, 0);
    return;
  }
  if (stats.dropped + stats.repaired + stats.left_out)
    wrong(s, "events dropped, repaired or left out", stats.dropped + stats.repaired + stats.left_out, 0);
  for (k = 0; k < PARTS; k++) {
    const char *prefix = event_prefix(s, k);
    uint64_t found = 0, made = 0;
    if (!prefix || (s->format < GOTRACE_GO_1_22 && s->row->measure == measure_proc)) continue;
    for (number = 0; number < 256; number++) {
      const gotrace_event_spec *spec = gotrace_find_event_spec(s->format, number);
      if (spec && strncmp(spec->name, prefix, strlen(prefix)) == 0) found += stats.kinds[number];
    }
    for (i = 0; i < s->threads; i++) made += workers[i].work.made[k];
    /* The regions of measure_strings end too, by one event or, of v1, by the same kind. */
    if (found != made) wrong(s, prefix, found, made);
  }
}

/* One trace, or none if the series is one of those. */
static void session(series *s, int count, kept *keeper) {
  gotrace_options options;
  gotrace_result result = GOTRACE_OK;
  int i;
  memset(&options, 0, sizeof options);
  options.format = s->format;
  options.stacks = s->row->stacks;
  options.write = keeper ? keep : throw_away;
  options.context = keeper;
  current = s;
  session_repetitions = count;
  session_kept = keeper != NULL;
  extra_frames = s->extra_frames;
  atomic_store(&arrived, 0);
  memset(workers, 0, sizeof workers);
  pthread_barrier_init(&together, NULL, (unsigned)s->threads + 1);
  for (i = 0; i < s->threads; i++) {
    workers[i].index = i;
    if (pthread_create(&workers[i].thread, NULL, work_main, &workers[i])) exit(2);
  }
  pthread_barrier_wait(&together);
  if (s->format && (result = gotrace_start(&options)) != GOTRACE_OK) {
    printf("start: %s\n", gotrace_result_string(result));
    exit(2);
  }
  pthread_barrier_destroy(&together); /* this thread is in the way of the others no more */
  pthread_barrier_init(&together, NULL, (unsigned)s->threads);
  (void)result;
}
