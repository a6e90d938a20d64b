/* What each call needs of the stack that it runs on is at most what the guide in gotrace.h says (STACK SPACE), whose
 * table this reads. Each call is made on a painted coroutine stack, in a process whose functions of the C library have
 * all been found. Not in: address thread valgrind windows msvc, whose code needs more. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"

#if defined(__x86_64__) && defined(__linux__)
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__OPTIMIZE__)
#define TIMES 1
#else
#define TIMES 3 /* as the guide says */
#endif

static ucontext_t caller, callee;
static unsigned char stack[1 << 16] __attribute__((aligned(64)));
static void (*call)(void);

static void enter(void) { call(); }

static size_t need(void (*function)(void)) {
  size_t untouched = 0;
  memset(stack, 0xa5, sizeof stack);
  call = function;
  CHECK(getcontext(&callee) == 0);
  callee.uc_stack.ss_sp = stack;
  callee.uc_stack.ss_size = sizeof stack;
  callee.uc_link = &caller;
  makecontext(&callee, enter, 0);
  CHECK(swapcontext(&caller, &callee) == 0);
  while (untouched < sizeof stack && stack[untouched] == 0xa5) untouched++;
  return sizeof stack - untouched;
}

static const gotrace_location entry = GOTRACE_NAMED_ENTRY("entry");
static gotrace_go *go;
static gotrace_proc *proc;
static gotrace_task task;
static gotrace_options frame_pointers;
static gotrace_stats stats; /* not on the stack */
static char path[4096];

static void nothing(void) {}
static void scope(void) { GOTRACE_SCOPE("scope"); }
static void region(void) {
  GOTRACE_REGION("region") continue;
}
static void log_text(void) { gotrace_log(GOTRACE_NO_TASK, "category", "message"); }
static void task_begin(void) { task = gotrace_task_begin("task", GOTRACE_NO_TASK); }
static void task_end(void) { gotrace_task_end(task); }
static void waiting(void) {
  gotrace_wait_begin(GOTRACE_REASON("reason"));
  gotrace_wait_end();
}
static void wait_on(void) {
  gotrace_wait_on(&go, GOTRACE_BLOCK_SYNC);
  (void)gotrace_wake(&go, 1);
  gotrace_wait_end();
}
static void count(void) { gotrace_count("counter", 1); }
static void label(void) { gotrace_go_label("label"); }
static void create(void) { go = gotrace_go_create(&entry); }
static void destroy(void) { gotrace_go_destroy(go); }
static void keyed(void) { go = gotrace_go_keyed(42, &entry); }
static void keyed_free(void) { gotrace_go_keyed_free(42); }
static void proc_create(void) { proc = gotrace_proc_create(); }
static void proc_start(void) { gotrace_proc_start(proc); }
static void go_start(void) { gotrace_go_start(go); }
static void go_block(void) { gotrace_go_block(GOTRACE_BLOCK_SYNC); }
static void go_unblock(void) { gotrace_go_unblock(go); }
static void go_stop(void) { gotrace_go_stop(GOTRACE_STOP_YIELD); }
static void go_end(void) { gotrace_go_end(); }
static void proc_stop(void) { gotrace_proc_stop(); }
static void thread_end(void) { gotrace_thread_end(); }
static void many(void) {
  int i;
  for (i = 0; i < 20000; i++) gotrace_log(GOTRACE_NO_TASK, "category", "message");
}
static void create_named(void) { go = gotrace_go_create_named("name"); }
static void create_named_n(void) { go = gotrace_go_create_named_n("name", 4); }
static void count_double(void) { gotrace_count_double("counter", 1.5); }
static void logf_number(void) { gotrace_logf(GOTRACE_NO_TASK, "category", "%d %s %f", 1, "text", 2.5); }
static void advance(void) { (void)gotrace_advance(); }
static void get_stats(void) { gotrace_get_stats(&stats); }
static void start_file(void) { CHECK_EQUAL(gotrace_start_file(path, NULL), GOTRACE_OK); }
static void start_deep(void) { CHECK_EQUAL(gotrace_start_file(path, &frame_pointers), GOTRACE_OK); }
static void flight_start(void) { CHECK_EQUAL(gotrace_flight_start(&frame_pointers), GOTRACE_OK); }
static void snapshot(void) { CHECK_EQUAL(gotrace_flight_snapshot_file(path), GOTRACE_OK); }
static void stop(void) { CHECK_EQUAL(gotrace_stop(), GOTRACE_OK); }
static void flight_stop(void) { CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK); }

/* A row of the guide's table, found by its first words, and what was measured. */
static struct row {
  const char *row;
  size_t limit, most;
} rows[] = {{"regions, logs, tasks, waits, counters", 0, 0},
            {"the first call of a thread", 0, 0},
            {"gotrace_go_create_named, gotrace_count_double", 0, 0},
            {"gotrace_logf, gotrace_logv", 0, 0},
            {"any of these with a stack by frame pointers", 0, 0},
            {"gotrace_advance, gotrace_get_stats", 0, 0},
            {"gotrace_start", 0, 0},
            {"gotrace_flight_snapshot", 0, 0}};
enum { USUAL, FIRST, NAMED, FORMATTED, DEEP, CUT, START, SNAPSHOT };

static size_t base;

static void take(int row, void (*function)(void), const char *name) {
  size_t bytes = need(function) - base;
  if (bytes > rows[row].most) rows[row].most = bytes;
  if (bytes > TIMES * rows[row].limit) {
    fprintf(stderr, "%s needs %zu bytes of stack, and the guide says %zu: %s\n", name, bytes, rows[row].limit,
            rows[row].row);
    exit(1);
  }
}
#define TAKE(row, function) take(row, function, #function)

static void usual(int row) {
  TAKE(row, scope);
  TAKE(row, region);
  TAKE(row, log_text);
  TAKE(row, task_begin);
  TAKE(row, task_end);
  TAKE(row, waiting);
  TAKE(row, wait_on);
  TAKE(row, count);
  TAKE(row, label);
  TAKE(row, create);
  TAKE(row, destroy);
  TAKE(row, keyed);
  TAKE(row, keyed_free);
  TAKE(row, thread_end);
  TAKE(row, proc_create);
  TAKE(row, proc_start);
  TAKE(row, create);
  TAKE(row, go_start);
  TAKE(row, go_block);
  TAKE(row, go_unblock);
  TAKE(row, go_start);
  TAKE(row, go_stop);
  TAKE(row, go_start);
  TAKE(row, go_end);
  TAKE(row, proc_stop);
}

static void *thread(void *row) {
  TAKE(*(int *)row, region);
  return NULL;
}

static void on_a_thread(int row) {
  pthread_t id;
  CHECK(pthread_create(&id, NULL, thread, &row) == 0 && pthread_join(id, NULL) == 0);
}

static void measure(void) {
  TAKE(START, start_file);
  on_a_thread(FIRST);
  TAKE(FIRST, region);
  usual(USUAL);
  TAKE(FIRST, many);
  TAKE(NAMED, create_named);
  TAKE(NAMED, destroy);
  TAKE(NAMED, create_named_n);
  TAKE(NAMED, destroy);
  TAKE(NAMED, count_double);
  TAKE(FORMATTED, logf_number);
  TAKE(CUT, advance);
  TAKE(CUT, get_stats);
  TAKE(CUT, stop);
  TAKE(START, start_deep);
  on_a_thread(DEEP);
  usual(DEEP);
  TAKE(DEEP, many);
  TAKE(CUT, advance);
  TAKE(CUT, stop);
  TAKE(START, flight_start);
  usual(DEEP);
  TAKE(SNAPSHOT, snapshot);
  TAKE(CUT, flight_stop);
}

/* The table's limits: a row ends with a number, which has commas between its thousands. */
static void read_guide(void) {
  FILE *file = fopen("gotrace.h", "r");
  bool inside = false;
  char line[256];
  size_t i;
  CHECK(file != NULL);
  while (fgets(line, sizeof line, file)) {
    const char *at = strpbrk(line, "0123456789");
    inside = strncmp(line, " * STACK SPACE", 14) == 0 || (inside && strncmp(line, " *  ", 4) == 0) ||
             (inside && strcmp(line, " *\n") == 0);
    for (i = 0; inside && at && i < sizeof rows / sizeof *rows; i++)
      if (strstr(line, rows[i].row))
        for (; *at; at++)
          if (*at >= '0' && *at <= '9') rows[i].limit = rows[i].limit * 10 + (size_t)(*at - '0');
  }
  fclose(file);
  for (i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!rows[i].limit) fprintf(stderr, "STACK SPACE in gotrace.h has no row: %s\n", rows[i].row);
    CHECK(rows[i].limit > 0);
  }
}

int main(int argc, char **argv) {
  size_t i;
  (void)argc;
  if (!getenv("LD_BIND_NOW")) {
    CHECK(setenv("LD_BIND_NOW", "1", 1) == 0);
    CHECK(execv("/proc/self/exe", argv) == 0);
  }
  read_guide();
  frame_pointers.stacks = GOTRACE_STACKS_FRAME_POINTERS;
  snprintf(path, sizeof path, "%s/file", getenv("GOTRACE_TEST_DIR") ? getenv("GOTRACE_TEST_DIR") : ".");
  base = need(nothing);
  measure();
  for (i = 0; i < sizeof rows / sizeof *rows; i++)
    printf("%6zu of %6zu  %s\n", rows[i].most, TIMES * rows[i].limit, rows[i].row);
  return 0;
}
#else
int main(void) {
  puts("needs x86-64 and Linux: the guide's table is measured there");
  return 77;
}
#endif
