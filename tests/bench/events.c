/* The cost of an event, compared with a floor: a loop that reads the tick counter and stores 8 bytes to a warm buffer.
 *
 *     events [-q] [-c] [-f]      -q: fewer rounds; -c: each row once, for a tool that counts instructions; -f: only a
 *                                line `floor NS`, for programs that cannot measure it themselves
 *
 * Lines `result NAME THREADS NS_MIN NS_MEDIAN RATIO BYTES`: nanoseconds per event, the median of its ratios to the
 * floor measured immediately before, bytes per event. NAME alone is v2 (1.23); _v1 is 1.21; _seq_cst is the build with
 * GOTRACE_SEQ_CST_FLAG. Lines `pair NAME FACTOR`: an event's time while a second thread does the same, divided by its
 * time alone. Lines `memory ...`: memory use. tests/bench/events.sh makes a table of them.
 *
 * Some calls occur only in pairs (a start needs a block before the next start). Such a pair, and a region's start and
 * end, are measured in long runs, without reading the clock in between. A pair's time is divided in the ratio of the
 * ticks of the two calls when each is measured by itself; those ticks alone would include the cost of reading the
 * counter in order.
 *
 * All rows are measured briefly in each of many rounds. A processor can be slower for as long as a thread's time slice,
 * even for a single kind of code, so a row that is measured only once can be wrong by half.
 *
 * Each thread is pinned, and has its own proc and goroutines. The trace goes to a function that discards it. Each row
 * is a separate trace, whose counts must equal the calls; nothing may be dropped or repaired. Bytes are those of the
 * events themselves, from a short trace that is kept; if each event adds to the tables, those of the whole trace.
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
  GOS = 128,   /* goroutines per thread: their records fit into the L1 cache */
  DEPTH = 64,  /* nested regions, concurrent tasks */
  PARTS = 3,   /* results per row */
  ROUNDS = 25, /* traces per row */
  ROUNDS_QUICK = 9,
  REPETITIONS = 11, /* per trace */
  SAMPLES = ROUNDS * REPETITIONS,
  FLOOR_LOOPS = 1000,
  WARM_UP = 1000000, /* nanoseconds per trace */
  CHUNKS = 64,       /* more than a row fills in a trace */
  MOST_TIMES = 101   /* of what is not a row */
};

static int rounds = ROUNDS;
static bool counting; /* a tool counts instructions: times are meaningless */
static int processors[2], processor_count;
static int failures;

/* ------------------------------------------------------------------------------------------------- time ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double now_cost; /* of now(), included in an interval between two calls of it */

/* The counter, ordered after preceding and before following instructions. */
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

static double ticks_cost; /* of ordered_ticks(), likewise, in ticks */

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

/* A thread's data for a row, and its results. */
typedef struct work {
  gotrace_go *gos[GOS];
  gotrace_proc *proc;
  double ns[PARTS];     /* nanoseconds per event, in the last measurement */
  uint64_t made[PARTS]; /* number of calls in this trace */
  uint64_t path;        /* the next path to the bottom of a new stack */
  unsigned names;       /* number of new names so far */
} work;

/* The ticks of each call of a pair, timed separately. */
typedef struct shares {
  double first[GOS], second[GOS];
} shares;

/* Divides the nanoseconds of a pair in the ratio of the typical ticks of its two calls. The results are `part` and the
 * next one. */
static void share(work *w, int part, double pair, shares *ticks) {
  double first = median(ticks->first, GOS) - ticks_cost, second = median(ticks->second, GOS) - ticks_cost;
  if (!gotrace_enabled()) first = second = 1; /* calls too short for the counter to distinguish: half each */
  if (first < 1) first = 1;
  if (second < 1) second = 1;
  w->ns[part] = pair * first / (first + second);
  w->ns[part + 1] = pair * second / (first + second);
}

/* Times each of GOS pairs of the calls FIRST and SECOND, which use i. */
#define TIME_EACH(ticks, FIRST, SECOND)                         \
  do {                                                          \
    for (i = 0; i < GOS; i++) {                                 \
      uint64_t begin_ = ordered_ticks(), between_;              \
      FIRST;                                                    \
      between_ = ordered_ticks();                               \
      SECOND;                                                   \
      (ticks).second[i] = (double)(ordered_ticks() - between_); \
      (ticks).first[i] = (double)(between_ - begin_);           \
    }                                                           \
  } while (0)

/* Measures the times of the two calls of a pair. */
#define MEASURE_PAIRS(w, part, pairs, FIRST, SECOND)                          \
  do {                                                                        \
    double start_ = now(), pair_;                                             \
    shares ticks_;                                                            \
    unsigned i;                                                               \
    for (i = 0; i < (pairs); i++) {                                           \
      FIRST;                                                                  \
      SECOND;                                                                 \
    }                                                                         \
    pair_ = (now() - start_ - now_cost) / (pairs);                            \
    TIME_EACH(ticks_, FIRST, SECOND);                                         \
    share(w, part, pair_, &ticks_);                                           \
    (w)->made[part] += (pairs) + GOS, (w)->made[(part) + 1] += (pairs) + GOS; \
  } while (0)

static void measure_floor(work *w) { w->ns[0] = floor_once(); }

enum { PAIRS = 1024 };

/* The mean of begin and end; each of them. */
static void measure_region(work *w) {
  MEASURE_PAIRS(w, 1, PAIRS, gotrace_region_begin(GOTRACE_NO_TASK, "region"),
                gotrace_region_end(GOTRACE_NO_TASK, "region"));
  w->ns[0] = (w->ns[1] + w->ns[2]) / 2;
  w->made[0] = w->made[1] + w->made[2];
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
  MEASURE_PAIRS(w, 0, PAIRS, gotrace_go_syscall_begin(), gotrace_go_syscall_end());
}

/* Goroutines run one after another until they block; then all are unblocked. */
static void measure_go(work *w) {
  enum { TURNS = 8 };
  double pairs = 0, unblocks = 0;
  shares ticks;
  unsigned round, i;
  for (round = 0; round <= TURNS; round++) {
    double t0 = now(), t1;
    if (round < TURNS) {
      for (i = 0; i < GOS; i++) {
        gotrace_go_start(w->gos[i]);
        gotrace_go_block(GOTRACE_BLOCK_SYNC);
      }
    } else {
      TIME_EACH(ticks, gotrace_go_start(w->gos[i]), gotrace_go_block(GOTRACE_BLOCK_SYNC));
    }
    t1 = now();
    for (i = 0; i < GOS; i++) gotrace_go_unblock(w->gos[i]);
    unblocks += now() - t1 - now_cost;
    if (round < TURNS) pairs += t1 - t0 - now_cost;
  }
  share(w, 0, pairs / (TURNS * GOS), &ticks);
  w->ns[2] = unblocks / (round * GOS);
  for (i = 0; i < PARTS; i++) w->made[i] += round * GOS;
}

/* Start and stop. The first part, start, is already shown by measure_go. */
static void measure_stop(work *w) {
  MEASURE_PAIRS(w, 0, PAIRS, gotrace_go_start(w->gos[i % GOS]), gotrace_go_stop(GOTRACE_STOP_YIELD));
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
  gotrace_go_block(GOTRACE_BLOCK_SYNC); /* the last one, since PAIRS is a multiple of GOS */
  for (i = 0; i < GOS; i++) gotrace_go_unblock(w->gos[i]);
  w->made[0] += PAIRS;
}

/* Goroutines are created, then each runs to its end. */
static void measure_create(work *w) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("short-lived");
  enum { TURNS = 8 };
  gotrace_go *gos[GOS];
  double creates = 0, pairs = 0;
  shares ticks;
  unsigned round, i;
  for (round = 0; round <= TURNS; round++) {
    double t0 = now(), t1;
    for (i = 0; i < GOS; i++) gos[i] = gotrace_go_create(&entry);
    t1 = now();
    creates += t1 - t0 - now_cost;
    if (round < TURNS) {
      for (i = 0; i < GOS; i++) {
        gotrace_go_start(gos[i]);
        gotrace_go_end();
      }
      pairs += now() - t1 - now_cost;
    } else {
      TIME_EACH(ticks, gotrace_go_start(gos[i]), gotrace_go_end());
    }
  }
  share(w, 0, pairs / (TURNS * GOS), &ticks);
  w->ns[2] = creates / (round * GOS);
  for (i = 0; i < PARTS; i++) w->made[i] += round * GOS;
}

/* What a program without a trace pays: a job, a wait inside one, a call site made at run time. */
static void measure_untraced(work *w) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("short-lived");
  double t0 = now(), t1, t2, t3;
  unsigned i;
  for (i = 0; i < PAIRS; i++) {
    gotrace_go *go = gotrace_go_create(&entry);
    gotrace_go_start(go);
    gotrace_go_end();
  }
  t1 = now();
  gotrace_go_start(w->gos[0]);
  for (i = 0; i < PAIRS; i++) {
    gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
    gotrace_wait_end();
  }
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  t2 = now();
  for (i = 0; i < PAIRS; i++) (void)gotrace_site_make("a::function", "file.cc", 1);
  t3 = now();
  w->ns[0] = (t1 - t0 - now_cost) / PAIRS;
  w->ns[1] = (t2 - t1 - now_cost) / PAIRS;
  w->ns[2] = (t3 - t2 - now_cost) / PAIRS;
  for (i = 0; i < PARTS; i++) w->made[i] += PAIRS;
}
static void measure_untracked(work *w) {
  gotrace_go *go = w->gos[0];
  gotrace_track_while_off(false);
  w->gos[0] = NULL;
  measure_untraced(w);
  w->gos[0] = go;
  gotrace_track_while_off(true);
}

static void measure_proc(work *w) {
  gotrace_proc_stop();
  MEASURE_PAIRS(w, 0, PAIRS, gotrace_proc_start(w->proc), gotrace_proc_stop());
  gotrace_proc_start(w->proc);
  w->made[0]++, w->made[1]++;
}

/* Names made at run time, which no call site remembers. Only begins are timed. */
static void measure_strings(work *w, bool fresh) {
  enum { NAMES = 256 };
  static char texts[2][DEPTH][32]; /* by thread, on separate cache lines */
  char(*text)[32] = texts[gotrace_proc_id(w->proc) & 1];
  double begins = 0;
  unsigned round, i;
  for (round = 0; round < NAMES / DEPTH; round++) {
    double t0;
    for (i = 0; i < DEPTH; i++)
      snprintf(text[i], sizeof text[i], "a name made here %u",
               fresh ? w->names++ * 2 + (gotrace_proc_id(w->proc) & 1) : i);
    t0 = now();
    for (i = 0; i < DEPTH; i++) gotrace_region_begin(GOTRACE_NO_TASK, text[i]);
    begins += now() - t0 - now_cost;
    for (i = DEPTH; i-- > 0;) gotrace_region_end(GOTRACE_NO_TASK, text[i]);
  }
  w->ns[0] = begins / NAMES;
  w->made[0] += NAMES, w->made[1] += NAMES;
}
static void measure_string(work *w) { measure_strings(w, false); }
static void measure_string_new(work *w) { measure_strings(w, true); }

/* Stacks by frame pointers: functions that call each other to a depth. Two bits of `path` per frame select the call,
 * so that there are more different stacks than a benchmark needs. */
static __thread void (*at_the_bottom)(work *);
#define DEEPER(name) __attribute__((noinline)) static void name(work *w, unsigned depth, uint64_t path)
DEEPER(deeper);
DEEPER(deeper) {
  if (depth == 0) {
    at_the_bottom(w);
  } else if ((path & 3) == 0) {
    deeper(w, depth - 1, path >> 2);
    __asm__ volatile("# 0"); /* different texts keep the compiler from merging the four calls */
  } else if ((path & 3) == 1) {
    deeper(w, depth - 1, path >> 2);
    __asm__ volatile("# 1");
  } else if ((path & 3) == 2) {
    deeper(w, depth - 1, path >> 2);
    __asm__ volatile("# 2");
  } else {
    deeper(w, depth - 1, path >> 2);
    __asm__ volatile("# 3");
  }
  __asm__ volatile("" : : : "memory"); /* no tail calls */
}

static unsigned extra_frames; /* added by measure_stack, to reach the row's number of frames */

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
  enum { STACKS = 64 };
  unsigned i;
  at_the_bottom = one_new_stack;
  w->ns[1] = 0;
  for (i = 0; i < STACKS; i++) deeper(w, extra_frames, (w->path++ << 1) | (gotrace_proc_id(w->proc) & 1));
  w->ns[0] = w->ns[1] * ns_per_tick / (2 * STACKS);
  w->made[0] += 2 * STACKS;
}

/* ------------------------------------------------------------------------------------------------- rows ---- */

typedef struct result_part {
  const char *name;    /* NULL: not shown */
  const char *v2, *v1; /* prefix of its events' names; NULL: none */
} result_part;

enum { RUNS = 1, SINGLE = 2, ALL_BYTES = 4, OFF = 8, ON = 16 };

typedef struct row {
  void (*measure)(work *);
  unsigned flags; /* RUNS: a goroutine runs; SINGLE: only one thread; ALL_BYTES: count the bytes of tables, too; OFF,
                     ON: without a trace, with one */
  gotrace_stacks stacks;
  unsigned frames; /* in the stack; 0: any number */
  result_part parts[PARTS];
  const char *off[PARTS]; /* their names without a trace */
} row;

#define REGION "UserRegion", "UserRegion"

static const row rows[] = {
    {measure_floor, OFF, GOTRACE_STACKS_NONE, 0, {{NULL}}, {"floor"}},
    {measure_region,
     RUNS | OFF | ON,
     GOTRACE_STACKS_CALL_SITE,
     0,
     {{"region", REGION}, {"region_begin", "UserRegionBegin", NULL}, {"region_end", "UserRegionEnd", NULL}},
     {"off_region"}},
    {measure_region, RUNS | ON, GOTRACE_STACKS_NONE, 0, {{"no_stack", REGION}}, {NULL}},
    {measure_log, RUNS | OFF | ON, GOTRACE_STACKS_CALL_SITE, 0, {{"log", "UserLog", "UserLog"}}, {"off_log"}},
    {measure_task,
     RUNS | OFF | ON,
     GOTRACE_STACKS_CALL_SITE,
     0,
     {{"task_begin", "UserTaskBegin", "UserTaskCreate"}, {"task_end", "UserTaskEnd", "UserTaskEnd"}},
     {"off_task_begin", "off_task_end"}},
    {measure_go,
     OFF | ON,
     GOTRACE_STACKS_CALL_SITE,
     0,
     {{"go_start", "GoStart", "GoStart"}, {"go_block", "GoBlock", "GoBlock"}, {"go_unblock", "GoUnblock", "GoUnblock"}},
     {"off_go_start", "off_go_block", "off_go_unblock"}},
    {measure_stop,
     OFF | ON,
     GOTRACE_STACKS_CALL_SITE,
     0,
     {{NULL, "GoStart", "GoStart"}, {"go_stop", "GoStop", "GoSched"}},
     {NULL, "off_go_stop"}},
    {measure_create,
     OFF | ON,
     GOTRACE_STACKS_CALL_SITE,
     0,
     {{NULL, "GoStart", "GoStart"}, {"go_end", "GoDestroy", "GoEnd"}, {"go_create", "GoCreate", "GoCreate"}},
     {NULL, "off_go_end", "off_go_create"}},
    {measure_untraced, OFF, GOTRACE_STACKS_NONE, 0, {{NULL}}, {"off_job", "off_wait", "off_site"}},
    {measure_untracked, OFF | SINGLE, GOTRACE_STACKS_NONE, 0, {{NULL}}, {"off_untracked_job", "off_untracked_wait"}},
    {measure_switch, ON, GOTRACE_STACKS_CALL_SITE, 0, {{"go_switch", "GoSwitch", NULL}}, {NULL}},
    {measure_syscall,
     RUNS | OFF | ON,
     GOTRACE_STACKS_CALL_SITE,
     0,
     {{"syscall_begin", "GoSyscallBegin", "GoSysCall"}, {"syscall_end", "GoSyscallEnd", NULL}},
     {"off_syscall_begin", "off_syscall_end"}},
    {measure_proc,
     ON,
     GOTRACE_STACKS_CALL_SITE,
     0,
     {{"proc_start", "ProcStart", "ProcStart"}, {"proc_stop", "ProcStop", "ProcStop"}},
     {NULL}},
    {measure_stack, RUNS | ON, GOTRACE_STACKS_FRAME_POINTERS, 4, {{"stack4", REGION}}, {NULL}},
    {measure_stack, RUNS | ON, GOTRACE_STACKS_FRAME_POINTERS, 16, {{"stack16", REGION}}, {NULL}},
    {measure_stack, RUNS | ON, GOTRACE_STACKS_FRAME_POINTERS, 64, {{"stack64", REGION}}, {NULL}},
    {measure_stack_new,
     RUNS | SINGLE | ON | ALL_BYTES,
     GOTRACE_STACKS_FRAME_POINTERS,
     16,
     {{"stack16_new", REGION}},
     {NULL}},
    {measure_stack_new,
     RUNS | SINGLE | ON | ALL_BYTES,
     GOTRACE_STACKS_FRAME_POINTERS,
     64,
     {{"stack64_new", REGION}},
     {NULL}},
    {measure_string,
     RUNS | ON,
     GOTRACE_STACKS_CALL_SITE,
     0,
     {{"string", "UserRegionBegin", "UserRegion"}, {NULL, "UserRegionEnd", "UserRegion"}},
     {NULL}},
    {measure_string_new,
     RUNS | ON | ALL_BYTES,
     GOTRACE_STACKS_CALL_SITE,
     0,
     {{"string_new", "UserRegionBegin", "UserRegion"}, {NULL, "UserRegionEnd", "UserRegion"}},
     {NULL}},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* The results so far of one row, with one thread or two, in a format (0: off). */
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
  double alone[PARTS][REPETITIONS], ns[PARTS][REPETITIONS], ratios[PARTS][REPETITIONS];
  uint64_t begin[REPETITIONS], end[REPETITIONS];
} worker;

static worker workers[2];
static series *current;
static int session_repetitions;
static bool session_kept;
static pthread_barrier_t with_main, together; /* of the threads and main; of the threads */
static atomic_uint arrived;

/* Both threads continue at the same moment, which pthread_barrier_wait does not ensure. */
static void spin_together(unsigned *phase) {
  *phase += (unsigned)current->threads;
  atomic_fetch_add(&arrived, 1);
  while ((int)(atomic_load(&arrived) - *phase) < 0) continue;
}

/* A tool that counts instructions counts inside this function. */
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
  double began;
  int i, k;
  pin(processors[self->index]);
  w->proc = gotrace_proc_create();
  gotrace_proc_start(w->proc);
  for (i = 0; i < GOS; i++) w->gos[i] = gotrace_go_create(&entry);
  if (r->flags & RUNS) gotrace_go_start(w->gos[0]);
  pthread_barrier_wait(&with_main); /* the trace starts */
  pthread_barrier_wait(&with_main);
  r->measure(w); /* puts names and stacks into the tables */
  began = now(); /* no warm-up for new names and stacks, which would only fill the tables */
  while (!counting && !session_kept && !(r->flags & ALL_BYTES) && now() - began < WARM_UP) r->measure(w);
  for (i = 0; i < session_repetitions; i++) {
    double ground;
    if (counting && !session_kept) {
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
  pthread_barrier_wait(&with_main); /* the trace stops */
  pthread_barrier_wait(&with_main);
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

static bool is_event_of(const series *s, int k, const char *name) {
  const char *prefix = event_prefix(s, k);
  return prefix && strncmp(name, prefix, strlen(prefix)) == 0;
}

static void wrong(const series *s, const char *what, unsigned long long got, unsigned long long want) {
  char name[80];
  int k = 0;
  while (k < PARTS && !(s->format ? s->row->parts[k].name : s->row->off[k])) k++;
  print_name(name, sizeof name, s, k);
  printf("wrong %s %d threads: %s: %llu, not %llu\n", name, s->threads, what, got, want);
  failures++;
}

/* The trace must contain each call. */
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
    const char *prefix = event_prefix(s, k), *other;
    uint64_t found = 0, made = 0;
    int j;
    if (!prefix) continue;
    for (number = 0; number < 256; number++) {
      const gotrace_event_spec *spec = gotrace_find_event_spec(s->format, number);
      if (spec && is_event_of(s, k, spec->name)) found += stats.kinds[number];
    }
    for (i = 0; i < s->threads; i++) {
      for (j = 0; j < PARTS; j++)
        if ((other = event_prefix(s, j)) && strcmp(other, prefix) == 0) made += workers[i].work.made[j];
      /* In v1 these events represent goroutines and procs older than the trace. */
      if (s->format < GOTRACE_GO_1_22 && strcmp(prefix, "GoCreate") == 0) made += GOS;
      if (s->format < GOTRACE_GO_1_22 && strcmp(prefix, "ProcStart") == 0) made++;
    }
    if (found != made) wrong(s, prefix, found, made);
  }
}

/* Gives a trace its chunks in advance. It would allocate them one by one until the first cut, and the first traces of
 * the process would also wait for the system to map their pages. */
static void stock_chunks(void) {
  int i;
  for (i = 0; i < CHUNKS; i++) {
    gotrace__record_chunk *chunk =
        (gotrace__record_chunk *)gotrace__allocate(&gotrace__t.budget, GOTRACE__CHUNK_BYTES, true);
    if (!chunk) return;
    memset(chunk, 1, GOTRACE__CHUNK_BYTES);
    gotrace__set_capacity(chunk, GOTRACE__CHUNK_BYTES);
    gotrace__lock(&gotrace__t.queue_lock);
    chunk->next = gotrace__t.spare_chunks;
    gotrace__t.spare_chunks = chunk;
    gotrace__unlock(&gotrace__t.queue_lock);
  }
}

/* Measures in one trace, or without one. */
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
  pthread_barrier_init(&with_main, NULL, (unsigned)s->threads + 1);
  pthread_barrier_init(&together, NULL, (unsigned)s->threads);
  for (i = 0; i < s->threads; i++) {
    workers[i].index = i;
    if (pthread_create(&workers[i].thread, NULL, work_main, &workers[i])) exit(2);
  }
  pthread_barrier_wait(&with_main);
  if (s->format && (result = gotrace_start(&options)) != GOTRACE_OK) {
    printf("start: %s\n", gotrace_result_string(result));
    exit(2);
  }
  if (s->format && !keeper) stock_chunks();
  pthread_barrier_wait(&with_main);
  pthread_barrier_wait(&with_main);
  if (s->format) check_trace(s, gotrace_stop());
  pthread_barrier_wait(&with_main);
  for (i = 0; i < s->threads; i++) pthread_join(workers[i].thread, NULL);
  pthread_barrier_destroy(&with_main);
  pthread_barrier_destroy(&together);
}

/* ------------------------------------------------------------------------------------------- kept traces ---- */

/* The number of frames in the stacks of a row's first events in a trace. */
static unsigned frames_of(const series *s, const kept *k) {
  gotrace_decoder_options options;
  gotrace_decoder *d = NULL;
  gotrace_event event;
  unsigned frames = 0;
  memset(&options, 0, sizeof options);
  options.data = k->data, options.size = k->size;
  if (gotrace_decoder_open(&d, &options) == GOTRACE_OK)
    while (!frames && gotrace_decoder_next(d, &event) == GOTRACE_OK)
      if (is_event_of(s, 0, event.spec->name)) frames = (unsigned)gotrace_decoder_stack(d, event.stack, NULL, 0);
  gotrace_decoder_close(d);
  return frames;
}

/* Bytes per event: an event ends where the next item in the file begins. */
static void count_bytes(series *s, const kept *k) {
  gotrace_decoder_options options;
  gotrace_decoder *d = NULL;
  gotrace_event event;
  double bytes[PARTS] = {0}, events[PARTS] = {0};
  const char *before = ""; /* the event that ends where the next one begins */
  uint64_t last = 0;
  int i;
  memset(&options, 0, sizeof options);
  options.data = k->data, options.size = k->size, options.raw = true;
  if (gotrace_decoder_open(&d, &options) == GOTRACE_OK)
    while (gotrace_decoder_next(d, &event) == GOTRACE_OK) {
      for (i = 0; i < PARTS; i++)
        if (is_event_of(s, i, before)) bytes[i] += (double)(event.offset - last), events[i]++;
      last = event.offset;
      before = event.spec->name;
    }
  gotrace_decoder_close(d);
  for (i = 0; i < PARTS; i++) {
    if ((s->row->flags & ALL_BYTES) || (s->row->measure == measure_switch && s->format < GOTRACE_GO_1_22)) {
      /* In v1 a switch is several events. */
      uint64_t made = workers[0].work.made[i];
      s->bytes[i] = made ? (double)k->size / (double)made : 0;
    } else {
      s->bytes[i] = events[i] > 0 ? bytes[i] / events[i] : 0;
    }
  }
}

/* Determines the bytes per event, and the call depth for a row's stacks, from short traces that are kept. */
static void look_at_bytes(series *s) {
  int threads = s->threads;
  kept k = {0};
  if (!s->format || (counting && !s->row->frames)) return;
  s->threads = 1;
  if (s->row->frames) {
    unsigned frames;
    session(s, 0, &k);
    frames = frames_of(s, &k);
    if (!frames || frames > s->row->frames) wrong(s, "frames at least", frames, s->row->frames);
    else s->extra_frames = s->row->frames - frames;
    k.size = 0;
  }
  session(s, counting ? 1 : 4, &k);
  if (s->row->frames && frames_of(s, &k) != s->row->frames) wrong(s, "frames", frames_of(s, &k), s->row->frames);
  count_bytes(s, &k);
  free(k.data);
  s->threads = threads;
}

/* ------------------------------------------------------------------------------------------------ series ---- */

static series *all_series;

static void add_series(const row *r, gotrace_format format, int threads) {
  series *s = (series *)calloc(1, sizeof *s), **end = &all_series;
  if (!s) exit(2);
  s->row = r, s->format = format, s->threads = threads;
  while (*end) end = &(*end)->next;
  *end = s;
}

/* With two threads, only the time in which both run counts. */
static bool overlap(int i) {
  uint64_t begin = workers[0].begin[i] > workers[1].begin[i] ? workers[0].begin[i] : workers[1].begin[i];
  uint64_t end = workers[0].end[i] < workers[1].end[i] ? workers[0].end[i] : workers[1].end[i];
  return end > begin && 10 * (end - begin) > 7 * (workers[0].end[i] - workers[0].begin[i]) &&
         10 * (end - begin) > 7 * (workers[1].end[i] - workers[1].begin[i]);
}

static void run_round(series *s) {
  int i, j, k;
  session(s, REPETITIONS, NULL);
  for (i = 0; i < REPETITIONS; i++) {
    if (s->threads > 1 && !overlap(i)) continue;
    for (j = 0; j < s->threads; j++, s->samples++)
      for (k = 0; k < PARTS; k++) {
        s->ns[k][s->samples] = workers[j].ns[k][i];
        s->ratios[k][s->samples] = workers[j].ratios[k][i];
      }
    if (s->threads == 1) continue;
    for (k = 0; k < PARTS; k++) s->factors[k][s->pairs] = workers[0].ns[k][i] / workers[0].alone[k][i];
    s->pairs++;
  }
}

static void report(const char *name, int threads, double *ns, double *ratios, size_t count, double bytes) {
  double middle = median(ns, count);
  printf("result %s %d %.2f %.2f %.2f %.2f\n", name, threads, count ? ns[0] : 0, middle, median(ratios, count), bytes);
  fflush(stdout);
}

static void report_series(series *s) {
  char name[80];
  int k;
  for (k = 0; k < PARTS; k++) {
    if (s->format ? !s->row->parts[k].name : !s->row->off[k]) continue;
    print_name(name, sizeof name, s, k);
    if (!s->samples) printf("missing %s: the two threads never ran at the same time\n", name); /* a busy machine */
    else report(name, s->threads, s->ns[k], s->ratios[k], s->samples, s->bytes[k]);
    if (s->pairs) printf("pair %s %.3f\n", name, median(s->factors[k], s->pairs));
  }
}

/* A tool that counts instructions ends its count of a row here. */
__attribute__((noinline)) static void row_counted(series *s) { __asm__ volatile("" : : "r"(s) : "memory"); }

static void run_all(void) {
  series *s;
  int round;
  for (s = all_series; s; s = s->next) look_at_bytes(s);
  if (counting) {
    for (s = all_series; s; s = s->next) {
      int k;
      session(s, 1, NULL);
      for (k = 0; k < PARTS; k++) {
        char name[80];
        if (s->format ? !s->row->parts[k].name : !s->row->off[k]) continue;
        print_name(name, sizeof name, s, k);
        printf("%s %llu ", name, (unsigned long long)workers[0].work.made[k] / 2); /* half of them to warm up */
      }
      printf("\n");
      fflush(stdout);
      row_counted(s);
    }
    return;
  }
  for (round = 0; round < rounds; round++)
    for (s = all_series; s; s = s->next) run_round(s);
  for (s = all_series; s; s = s->next) report_series(s);
}

/* ---------------------------------------------------------------------------------------------- the rest ---- */

/* A few long times, each with the floor at its moment. */
typedef struct times {
  size_t count;
  double ns[MOST_TIMES], ratios[MOST_TIMES];
} times;

static void add_time(times *t, double ns) {
  t->ns[t->count] = ns;
  t->ratios[t->count++] = ns / floor_once();
}

static void report_times(const char *name, times *t) { report(name, 1, t->ns, t->ratios, t->count, 0); }

static void *first_event(void *argument) {
  double begin = now();
  gotrace_log(GOTRACE_NO_TASK, "category", "first");
  add_time((times *)argument, now() - begin - now_cost);
  return NULL;
}

static void start_and_stop(const gotrace_options *options) {
  enum { TIMES = 15 };
  times starts = {0}, stops = {0}, firsts = {0};
  int i;
  for (i = 0; i < TIMES; i++) {
    pthread_t thread;
    double begin = now();
    gotrace_start(options);
    add_time(&starts, now() - begin);
    gotrace_log(GOTRACE_NO_TASK, "category", "warm");
    pthread_create(&thread, NULL, first_event, &firsts);
    pthread_join(thread, NULL);
    begin = now();
    gotrace_stop();
    add_time(&stops, now() - begin);
  }
  report_times("start", &starts);
  report_times("stop", &stops);
  report_times("thread_first_event", &firsts);
}

/* Events that need a new chunk: those after which the thread writes to another one. */
static void new_chunks(const gotrace_options *options) {
  times found = {0};
  const void *before = NULL;
  gotrace_start(options);
  while (found.count < MOST_TIMES && gotrace_enabled()) {
    uint64_t begin = ordered_ticks();
    double ticks;
    const void *after;
    gotrace_log(GOTRACE_NO_TASK, "category", "a message");
    ticks = (double)(ordered_ticks() - begin) - ticks_cost;
    after = gotrace__self->chunk;
    if (before && after != before) add_time(&found, ticks * ns_per_tick);
    before = after;
  }
  gotrace_stop();
  report_times("new_chunk", &found);
}

/* Cuts while `count` silent goroutines exist. */
static void advances(const gotrace_options *options, int count) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("silent");
  enum { TIMES = 9 };
  gotrace_go **silent = (gotrace_go **)malloc(((size_t)count + 1) * sizeof *silent);
  gotrace_proc *p = gotrace_proc_create();
  gotrace_stats stats;
  times cuts = {0};
  char name[64];
  int i;
  if (!silent) exit(2);
  gotrace_proc_start(p);
  for (i = 0; i < count; i++) silent[i] = gotrace_go_create(&entry);
  gotrace_start(options);
  gotrace_advance();
  for (i = 0; i < TIMES; i++) {
    double begin = now();
    gotrace_advance();
    add_time(&cuts, now() - begin);
  }
  gotrace_stop();
  gotrace_get_stats(&stats);
  snprintf(name, sizeof name, "advance_%d", count);
  report_times(name, &cuts);
  printf("memory %d silent goroutines: at most %.2f MB of chunks and tables, records of %zu bytes each\n", count,
         (double)stats.memory_peak / 1e6, sizeof(struct gotrace_go));
  for (i = 0; i < count; i++) {
    gotrace_go_start(silent[i]);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(p);
  free(silent);
}

static bool add_up(void *context, const void *data, size_t size) {
  (void)data;
  *(size_t *)context += size;
  return true;
}

static void flights(const gotrace_options *options) {
  enum { TIMES = 9 };
  times snapshots = {0};
  gotrace_stats stats;
  size_t bytes = 0;
  int i, j;
  gotrace_flight_start(options);
  for (i = 0; i < TIMES; i++) {
    double begin;
    for (j = 0; j < 200000; j++) gotrace_log(GOTRACE_NO_TASK, "category", "flight");
    bytes = 0;
    begin = now();
    gotrace_flight_snapshot(add_up, &bytes);
    add_time(&snapshots, now() - begin);
  }
  gotrace_flight_stop();
  gotrace_get_stats(&stats);
  report_times("flight_snapshot", &snapshots);
  printf("memory of a flight recorder that keeps %.1f MB: %.1f MB; its last snapshot had %.1f MB\n", 16 * 1.048576,
         (double)stats.memory_peak / 1e6, (double)bytes / 1e6);
}

static void *the_rest(void *argument) {
  gotrace_options options;
  pin(processors[0]);
  memset(&options, 0, sizeof options);
  options.write = throw_away;
  start_and_stop(&options);
  new_chunks(&options);
  advances(&options, 0);
  advances(&options, 10000);
  advances(&options, 1000000);
  flights(&options);
  printf("memory of a thread: a record of %zu bytes, and a chunk\n", sizeof(gotrace__thread));
  return argument;
}

int main(int argc, char **argv) {
  static const gotrace_format formats[] = {GOTRACE_GO_1_23, GOTRACE_GO_1_21};
  double began;
  uint64_t began_ticks;
  size_t i, j;
  int option, threads;
  bool only_floor = false;
  while ((option = getopt(argc, argv, "qcf")) != -1) {
    if (option == 'q') rounds = ROUNDS_QUICK;
    else if (option == 'c') counting = true;
    else if (option == 'f') only_floor = true;
    else return 2;
  }
  find_processors();
  if (!processor_count) return 2;
  began = now(), began_ticks = (uint64_t)GOTRACE__TICKS();
  calibrate_clocks();
  if (only_floor) {
    double floors[SAMPLES];
    for (i = 0; i < SAMPLES; i++) floors[i] = floor_once();
    printf("floor %.3f\n", median(floors, SAMPLES));
    return 0;
  }
  while (now() - began < 2e7) continue; /* long enough to measure the counter's frequency */
  ns_per_tick = (now() - began) / (double)((uint64_t)GOTRACE__TICKS() - began_ticks);
  for (i = 0; i < ROWS && !*VARIANT; i++)
    if (rows[i].flags & OFF) add_series(&rows[i], (gotrace_format)0, 1);
  for (i = 0; i < 2; i++)
    for (threads = 1; threads <= processor_count; threads++)
      for (j = 0; j < ROWS; j++) {
        if (!(rows[j].flags & ON) || (threads > 1 && (counting || (rows[j].flags & SINGLE)))) continue;
        add_series(&rows[j], formats[i], threads);
      }
  if (processor_count < 2) printf("missing two threads: only one processor available\n");
  run_all();
  if (!counting && !*VARIANT) {
    pthread_t thread; /* pinned, without main */
    pthread_create(&thread, NULL, the_rest, NULL);
    pthread_join(thread, NULL);
  }
  return failures != 0;
}
