/* Sinks: a file and a callback receive the whole trace, in order; invalid arguments change nothing. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static void emit_some(void) {
  int i;
  for (i = 0; i < 50; i++)
    GOTRACE_REGION("piece") {
      gotrace_log(GOTRACE_NO_TASK, "category", "message");
    }
}

static const char *path_of(const char *name) {
  static char path[512];
  const char *directory = getenv("GOTRACE_TEST_DIR");
  if (directory) snprintf(path, sizeof path, "%s/%s", directory, name);
  else snprintf(path, sizeof path, "/tmp/gotrace-test-%ld-%s", (long)getpid(), name);
  return path;
}

/* A sink is called by one thread at a time, in order, never with an empty piece. */
static struct {
  test_bytes bytes;
  int calls, inside;
  pthread_t thread;
  int waits; /* atomic: only the header may arrive */
} seen;

static bool strict_sink(void *context, const void *data, size_t size) {
  CHECK(context == &seen);
  CHECK(size > 0 && size <= 65536);
  CHECK_EQUAL(__atomic_fetch_add(&seen.inside, 1, __ATOMIC_SEQ_CST), 0);
  if (seen.calls++) CHECK(pthread_equal(seen.thread, pthread_self()));
  seen.thread = pthread_self();
  test_append(&seen.bytes, data, size);
  if (__atomic_load_n(&seen.waits, __ATOMIC_RELAXED)) CHECK(seen.bytes.size <= 16);
  __atomic_fetch_sub(&seen.inside, 1, __ATOMIC_SEQ_CST);
  return true;
}

/* A sink that has failed is not called again. */
static bool second_fails(void *context, const void *data, size_t size) {
  int *calls = context;
  (void)data, (void)size;
  return ++*calls < 2;
}

static void failing(gotrace_format format) {
  gotrace_options options;
  int calls = 0;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.write = second_fails;
  options.context = &calls;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  emit_some();
  (void)gotrace_advance();
  emit_some();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_SINK);
  CHECK_EQUAL(calls, 2);
}

static void wrong_arguments(void) {
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.format = GOTRACE_GO_1_21;
  errno = 0;
  CHECK_EQUAL(gotrace_start_file("/nonexistent/directory/x.trace", NULL), GOTRACE_ERROR_SINK);
  CHECK_EQUAL(errno, ENOENT);
  CHECK_EQUAL(gotrace_start_file("/", NULL), GOTRACE_ERROR_SINK);
  CHECK_EQUAL(errno, EISDIR);
  CHECK_EQUAL(gotrace_start_file(NULL, NULL), GOTRACE_ERROR_ARGUMENT);
  options.memory_limit = (1 << 20) - 1;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_ERROR_ARGUMENT);
  options.memory_limit = 0;
  options.stacks = GOTRACE_STACKS_UNWIND;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_ERROR_ARGUMENT);
  options.stacks = (gotrace_stacks)4;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_ERROR_ARGUMENT);
  options.stacks = GOTRACE_STACKS_CALL_SITE;
  options.on_limit = (gotrace_on_limit)2;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_ERROR_ARGUMENT);
  options.on_limit = GOTRACE_LIMIT_STOP;
  options.format = (gotrace_format)1024;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_ERROR_FORMAT);
  options.format = (gotrace_format)1027;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_ERROR_FORMAT);
  options.format = (gotrace_format)1009;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_ERROR_FORMAT);
  options.format = (gotrace_format)1;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_ERROR_FORMAT);
  CHECK(!gotrace_enabled());
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
}

/* Waits until the thread that stops has worked. */
static struct {
  pthread_t stopper;
  int stops, worked, looks;
} late = {.looks = 1000}; /* waiting that long takes less time of a processor than what is looked for */

static bool late_sink(void *context, const void *data, size_t size) {
  struct timespec worked = {0, 0};
  clockid_t clock;
  (void)context, (void)data, (void)size;
  while (!__atomic_load_n(&late.stops, __ATOMIC_ACQUIRE)) sched_yield();
  CHECK(pthread_getcpuclockid(late.stopper, &clock) == 0);
  for (; !late.worked && late.looks > 0; late.looks--) {
    CHECK(clock_gettime(clock, &worked) == 0);
    late.worked = worked.tv_nsec >= 6000000 || worked.tv_sec > 0;
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  return true;
}

static void *stopper(void *unused) {
  (void)unused;
  late.stopper = pthread_self();
  __atomic_store_n(&late.stops, 1, __ATOMIC_RELEASE);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  return NULL;
}

/* What has not been transcribed at the end is transcribed by the thread that stops: the service thread has a low
 * priority, and here it is in the sink. */
static void stop_transcribes(void) {
  gotrace_options options;
  gotrace_stats stats;
  pthread_t thread;
  int i;
  memset(&options, 0, sizeof options);
  options.write = late_sink;
  options.late = true;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 3000; i++) emit_some();
  CHECK(pthread_create(&thread, NULL, stopper, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(late.worked);
  gotrace_get_stats(&stats);
  CHECK(stats.events >= 450000);
}

int main(void) {
  gotrace_options v1;
  gotrace_options options;
  gotrace_stats stats;
  test_bytes bytes = {NULL, 0, 0};
  struct stat status;
  char path[512];
  FILE *file;
  int round;
  memset(&v1, 0, sizeof v1);
  v1.format = GOTRACE_GO_1_21;
  snprintf(path, sizeof path, "%s", path_of("sink.trace"));
  wrong_arguments();
  failing(GOTRACE_GO_1_21);
  failing(GOTRACE_GO_1_26);
  stop_transcribes();

  /* A file is created, or replaced if it is longer. */
  CHECK((file = fopen(path, "wb")) != NULL);
  for (round = 0; round < 100000; round++) fputs("what was there before ", file);
  CHECK(fclose(file) == 0);
  for (round = 0; round < 2; round++) {
    CHECK_EQUAL(gotrace_start_file(path, &v1), GOTRACE_OK);
    emit_some();
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    bytes.size = 0;
    test_load(&bytes, path);
    CHECK_OPENS(&bytes);
    test_check_statistics(&bytes);
    CHECK_EQUAL(test_format_of(&bytes), GOTRACE_GO_1_21);
    CHECK_EQUAL(test_count(&bytes, "UserLog"), 50);
    remove(path);
  }

  /* Late: nothing is written while there is memory. */
  memset(&options, 0, sizeof options);
  options.write = strict_sink;
  options.context = &seen;
  options.late = true;
  options.cut_milliseconds = 1;
  __atomic_store_n(&seen.waits, 1, __ATOMIC_RELAXED);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  emit_some();
  nanosleep(&(struct timespec){0, 20000000}, NULL);
  __atomic_store_n(&seen.waits, 0, __ATOMIC_RELAXED);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&seen.bytes);
  CHECK_EQUAL(test_count(&seen.bytes, "UserLog"), 50);
  seen.bytes.size = 0;
  seen.calls = 0;

  /* A callback, by options; options->write is not used for a file. */
  memset(&options, 0, sizeof options);
  options.format = GOTRACE_GO_1_11;
  options.write = strict_sink;
  options.context = &seen;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  emit_some();
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  emit_some();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&seen.bytes);
  test_check_statistics(&seen.bytes);
  CHECK_EQUAL(test_count(&seen.bytes, "UserLog"), 100);
  gotrace_get_stats(&stats);
  CHECK(seen.calls >= 3); /* header, two cuts */
  CHECK_EQUAL(stats.system_error, 0);
  CHECK(stats.cuts >= 2);

  seen.calls = 0;
  CHECK_EQUAL(gotrace_start_file(path, &options), GOTRACE_OK);
  emit_some();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_EQUAL(seen.calls, 0);
  CHECK(stat(path, &status) == 0 && status.st_size > 100);
  remove(path);

  /* A pipe: its reader gets the trace. */
  {
    int ends[2];
    char name[64];
    ssize_t n;
    char piece[4096];
    CHECK(pipe(ends) == 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    CHECK_EQUAL(gotrace_start_file(name, &options), GOTRACE_OK);
    close(ends[1]);
    emit_some();
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    bytes.size = 0;
    while ((n = read(ends[0], piece, sizeof piece)) > 0) test_append(&bytes, piece, (size_t)n);
    close(ends[0]);
    CHECK_OPENS(&bytes);
    CHECK_EQUAL(bytes.data[6], '1');
  }
  test_free(&bytes);
  test_free(&seen.bytes);
  return 0;
}
