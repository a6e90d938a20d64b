/* Each allocation fails in turn: no crash, the documented results, and the trace so far opens. Each case runs in its
 * own process, so that the tracer starts without memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static long allocations, fail_from, fail_to; /* atomic: allocations with numbers from fail_from to fail_to fail */
static size_t outstanding;

static void *failing_malloc(size_t size) {
  long n = __atomic_add_fetch(&allocations, 1, __ATOMIC_SEQ_CST);
  if (n >= fail_from && n <= fail_to) {
    errno = ENOMEM;
    return NULL;
  }
  __atomic_add_fetch(&outstanding, size, __ATOMIC_SEQ_CST);
  return malloc(size);
}

static void counting_free(void *memory, size_t size) {
  __atomic_sub_fetch(&outstanding, size, __ATOMIC_SEQ_CST);
  free(memory);
}

#define GOTRACE_MALLOC(size) failing_malloc(size)
#define GOTRACE_FREE(pointer, size) counting_free(pointer, size)
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#include <sys/wait.h>

#define GOS 70 /* more than a slab */

static void work(void) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("worker");
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *gos[GOS];
  gotrace_task task;
  char text[200];
  int i;
  errno = EDOM;
  gotrace_proc_start(proc);
  for (i = 0; i < GOS; i++) gos[i] = gotrace_go_create(&entry);
  for (i = 0; i < GOS; i++) {
    gotrace_go_start(gos[i]);
    gotrace_go_label("label");
    task = gotrace_task_begin("task", GOTRACE_NO_TASK);
    gotrace_region_begin(task, "outer");
    gotrace_region_begin(task, "1"), gotrace_region_begin(task, "2"), gotrace_region_begin(task, "3");
    gotrace_region_begin(task, "4"), gotrace_region_begin(task, "5");
    snprintf(text, sizeof text, "category %d which is a new string each time and so on and on and on %0100d", i, i);
    gotrace_log(task, text, text);
    gotrace_region_end(task, "outer");
    gotrace_task_end(task);
    gotrace_go_block(GOTRACE_BLOCK_SYNC);
    gotrace_go_unblock(gos[i]);
    gotrace_go_start(gos[i]);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  if (proc) gotrace_proc_destroy(proc);
  gotrace_wait_begin(GOTRACE_BLOCK_NET);
  gotrace_wait_end();
  for (i = 0; i < 400; i++) gotrace_log(GOTRACE_NO_TASK, "text", text);
  CHECK_EQUAL(errno, EDOM); /* no call changes it */
}

/* Exit status: 0 if no allocation failed, 3 if one failed and the results are as documented. */
static int one_case(gotrace_format format, bool by_service) {
  gotrace_options options;
  gotrace_stats stats;
  gotrace_result result;
  test_bytes bytes = {NULL, 0, 0};
  int round;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.cut_bytes = 65536;
  if (by_service) {
    options.write = test_sink;
    options.context = &bytes;
  }
  work();
  for (round = 0; round < 2; round++) {

    bytes.size = 0;
    result = gotrace_start(&options);
    if (result != GOTRACE_OK) {
      CHECK_EQUAL(result, GOTRACE_ERROR_OUT_OF_MEMORY);
      CHECK(!gotrace_enabled());
      CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
      work();
      continue;
    }
    work();
    if (by_service) {
      result = gotrace_stop();
    } else {
      gotrace_end();
      test_read_to_end(&bytes);
    }
    gotrace_get_stats(&stats);
    if (by_service) CHECK_EQUAL(result, stats.result);
    CHECK(stats.result == GOTRACE_OK || stats.result == GOTRACE_ERROR_OUT_OF_MEMORY);
    CHECK_OPENS(&bytes);
    test_check_statistics(&bytes);
    if (!fail_from) { /* nothing failed: the trace is complete */
      CHECK_EQUAL(stats.result, GOTRACE_OK);
      if (format >= GOTRACE_GO_1_11) CHECK_EQUAL(test_count(&bytes, "UserLog"), 400 + GOS);
      CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NO_MEMORY], 0);
      CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_TABLE_FULL], 0);
    }
    CHECK_EQUAL(gotrace__t.budget.used, 0); /* a session frees all its memory */
  }
  test_free(&bytes);
  return fail_from && __atomic_load_n(&allocations, __ATOMIC_SEQ_CST) >= fail_from ? 3 : 0;
}

static int in_a_process(long from, long to, gotrace_format format, bool by_service) {
  int status;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    fail_from = from, fail_to = to;
    _exit(one_case(format, by_service));
  }
  CHECK(waitpid(child, &status, 0) == child);
  if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 3))
    fprintf(stderr, "allocations %ld to %ld fail, format %d, %s: status %x\n", from, to, (int)format,
            by_service ? "service" : "own reader", (unsigned)status);
  CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3));
  return WEXITSTATUS(status);
}

/* Memory runs out at the n-th allocation of a cut that writes the statuses of many silent goroutines. The result says
 * whether the trace continues. Exit status: 0 if memory sufficed, 3 if there was no cut, 4 if the trace ended. */
static int one_cut(long n) {
  gotrace_options options;
  gotrace_stats stats;
  gotrace_result result;
  test_bytes bytes = {NULL, 0, 0};
  int i;
  memset(&options, 0, sizeof options);
  options.format = GOTRACE_GO_1_23;
  for (i = 0; i < 30000; i++) CHECK(gotrace_go_create_blocked(NULL) != NULL);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  fail_from = __atomic_load_n(&allocations, __ATOMIC_SEQ_CST) + n;
  fail_to = fail_from + 1000000;
  result = gotrace_advance();
  fail_to = 0;
  gotrace_get_stats(&stats);
  CHECK_EQUAL(gotrace_advance(), stats.result == GOTRACE_OK ? GOTRACE_OK : GOTRACE_ERROR_NOT_RUNNING);
  gotrace_end();
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
  if (stats.result != GOTRACE_OK) {
    CHECK_EQUAL(stats.result, GOTRACE_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(result, stats.result);
    return 4;
  }
  if (result == GOTRACE_OK) return 0;
  CHECK_EQUAL(result, GOTRACE_ERROR_OUT_OF_MEMORY);
  return 3;
}

static void cuts(void) {
  bool seen[5] = {false};
  long n;
  for (n = 1; !seen[0]; n++) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0 && n < 1000);
    if (child == 0) _exit(one_cut(n));
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3 || WEXITSTATUS(status) == 4));
    seen[WEXITSTATUS(status)] = true;
  }
  CHECK(seen[4] && !seen[3]); /* a cut without memory ends the trace */
}

/* A thread finds no memory; what it has recorded before exceeds the limit of the trace. The result is what ended the
 * trace first. */
static void first_reason(void) {
  gotrace_options options;
  gotrace_stats stats;
  test_bytes bytes = {NULL, 0, 0};
  int i;
  memset(&options, 0, sizeof options);
  options.size_limit = 4096;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 2000; i++) gotrace_logf(GOTRACE_NO_TASK, "text", "%d", i);
  fail_from = __atomic_load_n(&allocations, __ATOMIC_SEQ_CST);
  fail_to = LONG_MAX;
  while (gotrace_enabled()) gotrace_log(GOTRACE_NO_TASK, "text", "more");
  fail_to = 0;
  test_read_to_end(&bytes);
  CHECK_OPENS(&bytes);
  CHECK(test_count(&bytes, "UserLog") < 2000);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.result, GOTRACE_ERROR_OUT_OF_MEMORY);
  test_free(&bytes);
}

int main(void) {
  /* The number of allocations is not known: each loop ends when none fails any more. */
  static const struct {
    gotrace_format format;
    bool service;
    long more; /* number of allocations that fail after the first one */
  } cases[] = {{GOTRACE_GO_1_11, false, 0}, {GOTRACE_GO_1_21, true, 0}, {GOTRACE_GO_1_8, false, 1000000},
               {GOTRACE_GO_1_21, true, 3},  {GOTRACE_GO_1_23, true, 0}, {GOTRACE_GO_1_26, false, 3}};
  size_t i;
  long n, step;
  cuts();
  step = test_scaled(50) == 50 ? 1 : test_scaled(50) > 1 ? 7 : 25; /* not all of them under slow tools */
  for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_EQUAL(in_a_process(0, 0, cases[i].format, cases[i].service), 0);
    for (n = 1; in_a_process(n, n + cases[i].more, cases[i].format, cases[i].service) == 3; n += i ? step + 1 : step)
      CHECK(n < 1000);
    CHECK(n > 20);
  }
  first_reason(); /* last, since it is in this process */
  return 0;
}
