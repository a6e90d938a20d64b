/* Two threads, each with a proc, start, block and unblock the same two goroutines at random. Tracing stops while they
 * run or after they have ended, with several cuts before or none.
 *
 * The defect: at the end of a trace and at a cut, a call that had begun before it took a goroutine whose state a later
 * call had changed without an event. One trace in five to twenty was rejected.
 *
 * Required: whatever two threads do with a goroutine, each trace is consistent about it. */
#include "case.h"

static gotrace_go *shared[2];
static int quit; /* atomic */
static pthread_t threads[2];

static void *work(void *argument) {
  uint64_t random = *(const uint64_t *)argument;
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_proc_start(proc);
  while (!CASE_LOAD(quit)) {
    gotrace_go *go;
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    go = shared[random >> 20 & 1];
    switch (random >> 21 & 7) {
    case 0: gotrace_go_stop(GOTRACE_STOP_YIELD); break;
    case 1:
    case 2: gotrace_go_block(GOTRACE_BLOCK_SYNC); break;
    case 3:
    case 4: gotrace_go_unblock(go); break;
    default: gotrace_go_start(go);
    }
  }
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  return NULL;
}

static void begin_threads(long number) {
  static uint64_t seeds[2];
  int i;
  CASE_STORE(quit, 0);
  for (i = 0; i < 2; i++) {
    seeds[i] = (uint64_t)(2 * number + i + 1) * 0x9E3779B97F4A7C15u;
    case_thread(&threads[i], work, &seeds[i]);
  }
}

static void end_threads(void) {
  int i;
  CASE_STORE(quit, 1);
  for (i = 0; i < 2; i++) case_join(threads[i]);
}

/* Makes new goroutines for each run: if both threads ran the same one while tracing was off, the end of a thread ends
 * it. */
static void make_goroutines(void) {
  int i;
  for (i = 0; i < 2; i++) shared[i] = gotrace_go_create(NULL);
}

static void end_goroutines(void) {
  gotrace_proc *proc = gotrace_proc_create();
  int i;
  gotrace_proc_start(proc);
  for (i = 0; i < 2; i++) {
    gotrace_go_start(shared[i]);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
}

static void run(gotrace_format format, long number) {
  gotrace_options options = {0};
  long cuts;
  make_goroutines();
  if (number & 8) begin_threads(number); /* the threads exist before tracing starts */
  case_start(format, options);
  if (!(number & 8)) begin_threads(number);
  for (cuts = number / 16 & 3; cuts > 0; cuts--) {
    case_sleep(100);
    gotrace_advance();
  }
  case_sleep(100 + (unsigned)number % 7 * 50);
  if (number % 3) case_hold_up(threads[number & 1], 100, NULL); /* probably in the middle of a call */
  if (number & 4) end_threads();
  case_stop();
  if (!(number & 4)) end_threads();
  end_goroutines();
}

const case_definition case_this = {"shared_goroutines", 0, NULL, run, NULL};
