/* Many generations: threads and goroutines that begin and end in them or stay silent through them; the memory and time
 * that generations take. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_trace.h"

#include <pthread.h>
#include <time.h>

static const gotrace_location entry = GOTRACE_NAMED_ENTRY("sleeper");

static bool count_bytes(void *context, const void *data, size_t size) {
  (void)data;
  *(uint64_t *)context += size;
  return true;
}

static void *come_and_go(void *argument) {
  int i, n = (int)(size_t)argument % 5 + 1;
  for (i = 0; i < n; i++)
    GOTRACE_REGION("visit") gotrace_log(GOTRACE_NO_TASK, "a thread", "that comes and goes");
  if (n == 3) {
    gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
    gotrace_wait_end();
  }
  return NULL;
}

/* One running goroutine and one in a system call, on threads that stay silent. */
static pthread_barrier_t barrier;
static void *silent(void *in_syscall) {
  gotrace_thread_begin("silent");
  if (in_syscall) gotrace_go_syscall_begin();
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  if (in_syscall) gotrace_go_syscall_end();
  return NULL;
}

static void many(gotrace_format format) {
  enum { GENERATIONS = 100, GOS = 40 };
  gotrace_options options;
  gotrace_stats stats;
  gotrace_go *gos[GOS];
  gotrace_proc *proc = gotrace_proc_create();
  pthread_t quiet[2], thread;
  long i, generations = test_scaled(GENERATIONS), threads = test_scaled(1000);
  memset(&options, 0, sizeof options);
  options.format = format;
  options.cut_milliseconds = 1000000;
  for (i = 0; i < GOS; i++) CHECK((gos[i] = gotrace_go_create_blocked(&entry)) != NULL);
  CHECK(pthread_barrier_init(&barrier, NULL, 3) == 0);
  for (i = 0; i < 2; i++) CHECK(pthread_create(&quiet[i], NULL, silent, i ? &barrier : NULL) == 0);
  pthread_barrier_wait(&barrier);
  CHECK_EQUAL(gotrace_start_file(test_trace_path("generations", format), &options), GOTRACE_OK);
  gotrace_proc_start(proc);
  for (i = 0; i < generations; i++) {
    long k;
    if (i % 3) { /* one of them is active; the rest stay silent */
      gotrace_go_unblock(gos[i % GOS]);
      gotrace_go_start(gos[i % GOS]);
      gotrace_go_block(GOTRACE_BLOCK_SLEEP);
    }
    for (k = i * threads / generations; k < (i + 1) * threads / generations; k++) {
      CHECK(pthread_create(&thread, NULL, come_and_go, (void *)(size_t)k) == 0);
      if (k % 7 == 0) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK); /* while the thread works */
      CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  }
  gotrace_proc_stop();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_write_kinds("generations", format);
  gotrace_get_stats(&stats);
  CHECK(stats.cuts > (uint64_t)generations);
  CHECK(stats.threads >= (uint64_t)threads);
  CHECK_EQUAL(stats.dropped, 0);
  CHECK_EQUAL(stats.repaired, 0);
  CHECK_EQUAL(stats.goroutines, GOS + 2 + (uint64_t)threads);
  pthread_barrier_wait(&barrier);
  for (i = 0; i < 2; i++) CHECK(pthread_join(quiet[i], NULL) == 0);
  for (i = 0; i < GOS; i++) {
    gotrace_go_start(gos[i]);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
}

/* A long trace needs little memory. */
static uint64_t limit_of_bytes, bytes_written;
static void *write_much(void *unused) {
  gotrace_task task = gotrace_task_begin("much", GOTRACE_NO_TASK);
  while (__atomic_load_n(&bytes_written, __ATOMIC_RELAXED) < limit_of_bytes) {
    int i;
    for (i = 0; i < 1000; i++) {
      GOTRACE_TASK_REGION(task, "part") gotrace_log(task, "what", "a message of some forty bytes, not in the table");
    }
  }
  gotrace_task_end(task);
  return unused;
}

static bool count_written(void *context, const void *data, size_t size) {
  (void)context, (void)data;
  __atomic_fetch_add(&bytes_written, size, __ATOMIC_RELAXED);
  return true;
}

static void much(gotrace_format format) {
  enum { WRITERS = 3 };
  gotrace_options options;
  gotrace_stats stats;
  pthread_t writers[WRITERS];
  size_t i;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.write = count_written;
  options.on_limit = GOTRACE_LIMIT_BLOCK;
  options.memory_limit = (size_t)16 << 20;
  bytes_written = 0;
  limit_of_bytes = (uint64_t)test_scaled(1 << 20) << 10; /* a GiB */
  if (format != GOTRACE_GO_1_23) limit_of_bytes /= 16;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < WRITERS; i++) CHECK(pthread_create(&writers[i], NULL, write_much, NULL) == 0);
  for (i = 0; i < WRITERS; i++) CHECK(pthread_join(writers[i], NULL) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  printf("format %d: %llu MB, %llu generations, peak memory %.1f MB\n", (int)format,
         (unsigned long long)stats.bytes >> 20, (unsigned long long)stats.cuts, (double)stats.memory_peak / 1048576);
  CHECK_EQUAL(stats.bytes, bytes_written);
  CHECK(stats.memory_peak <= options.memory_limit + (2 << 20));
  CHECK_EQUAL(stats.dropped, 0);
}

/* The end of a generation takes time proportional to the number of silent goroutines. Measures processor time, and the
 * least of three runs, since the machine may be busy. */
static double advance_nanoseconds(void) {
  struct timespec before, after;
  double least = 1e15;
  unsigned i;
  for (i = 0; i < 3; i++) {
    double took;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    took = (double)(after.tv_sec - before.tv_sec) * 1e9 + (double)(after.tv_nsec - before.tv_nsec);
    if (took < least) least = took;
  }
  return least;
}

/* Labels that are older than the trace are shown after a cut, too. */
static void labels(gotrace_format format) {
  gotrace_options options;
  gotrace_stats stats;
  uint64_t bytes = 0;
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *waits = gotrace_go_create(&entry), *runs = gotrace_go_create(&entry);
  gotrace_proc_start(proc);
  gotrace_go_start(waits);
  gotrace_go_label("waits");
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  gotrace_go_start(runs);
  gotrace_go_label("runs");
  memset(&options, 0, sizeof options);
  options.format = format;
  options.write = count_bytes;
  options.context = &bytes;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  gotrace_go_stop(GOTRACE_STOP_YIELD);
  gotrace_go_unblock(waits);
  gotrace_go_start(waits);
  gotrace_go_end();
  gotrace_go_start(runs);
  gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.kinds[GOTRACE_V2_GO_LABEL], 2);
  CHECK_EQUAL(stats.dropped + stats.repaired, 0);
}

static void crowd(void) {
  gotrace_options options;
  gotrace_stats stats;
  uint64_t bytes = 0, i, gos = (uint64_t)test_scaled(1000000);
  double few, each;
  gotrace_go **all = malloc(gos * sizeof *all);
  CHECK(all != NULL);
  memset(&options, 0, sizeof options);
  options.write = count_bytes;
  options.context = &bytes;
  options.cut_milliseconds = 1000000;
  options.cut_bytes = (size_t)1 << 30;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  few = advance_nanoseconds();
  for (i = 0; i < gos; i++) CHECK((all[i] = gotrace_go_create_blocked(&entry)) != NULL);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK); /* they are not silent in this generation */
  each = (advance_nanoseconds() - few) / (double)gos;
  printf("%llu goroutines: the end of a generation takes %.0f us and %.0f ns for each\n", (unsigned long long)gos,
         few / 1e3, each);
  CHECK(each < (test_scaled(10) < 10 ? 50000 : 5000)); /* about 50 on an idle machine; more with sanitizers */
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.cuts, 8);
  CHECK_EQUAL(stats.kinds[GOTRACE_V2_GO_STATUS_STACK], 0); /* only the first generation needs them */
  CHECK_EQUAL(stats.bytes, bytes);
  gotrace_proc_start(gotrace_proc_create());
  for (i = 0; i < gos; i++) {
    gotrace_go_start(all[i]);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  free(all);
}

int main(void) {
  size_t k;
  for (k = 0; k < TEST_FORMATS; k++) {
    if (test_formats[k] < GOTRACE_GO_1_22) continue;
    labels(test_formats[k]);
    many(test_formats[k]);
    much(test_formats[k]);
  }
  crowd();
  return 0;
}
