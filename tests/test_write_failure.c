/* A sink that fails: the trace ends early, the caller gets the error, and the file is truncated to a trace that
 * opens. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "test_collect.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
  test_bytes bytes;
  int calls, fail_at;
} sink;

static bool failing_sink(void *context, const void *data, size_t size) {
  (void)context;
  if (sink.calls++ == sink.fail_at) {
    errno = EPIPE;
    return false;
  }
  CHECK(sink.calls <= sink.fail_at || sink.fail_at < 0); /* it is not called again */
  test_append(&sink.bytes, data, size);
  return true;
}

/* Several cuts, several buffers each. */
static void emit_until_off(long rounds) {
  char text[900];
  long i, n;
  memset(text, 't', sizeof text - 1);
  text[sizeof text - 1] = 0;
  for (i = 0; i < rounds && gotrace_enabled(); i++) {
    for (n = 0; n < 100; n++)
      GOTRACE_REGION("piece") {
        gotrace_log(GOTRACE_NO_TASK, "text", text);
      }
    gotrace_advance();
  }
}

/* Fails at each call in turn, until a trace gets through. */
static void every_call(gotrace_format format) {
  gotrace_options options;
  gotrace_stats stats;
  int failures = 0;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.write = failing_sink;
  for (sink.fail_at = 0;; sink.fail_at++) {
    gotrace_result result;
    sink.calls = 0;
    sink.bytes.size = 0;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    emit_until_off(4);
    result = gotrace_stop();
    gotrace_get_stats(&stats);
    CHECK_EQUAL(stats.result, result);
    CHECK_EQUAL(stats.bytes, stats.consistent_bytes);
    if (result == GOTRACE_OK) {
      CHECK(sink.calls <= sink.fail_at);
      CHECK_EQUAL(stats.bytes, sink.bytes.size);
      CHECK_EQUAL(stats.system_error, 0);
      CHECK_OPENS(&sink.bytes);
      break;
    }
    failures++;
    CHECK_EQUAL(result, GOTRACE_ERROR_SINK);
    CHECK_EQUAL(stats.system_error, EPIPE);
    CHECK_EQUAL(sink.calls, sink.fail_at + 1);
    CHECK(stats.bytes <= sink.bytes.size);
    if (stats.bytes) test_check_bytes(sink.bytes.data, (size_t)stats.bytes, __FILE__, __LINE__);
    CHECK(sink.fail_at < 1000);
  }
  CHECK(failures > 5);
}

/* In a separate process: files may not grow beyond `most` bytes. */
static void short_of_room(const char *path, rlim_t most) {
  int status;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    struct rlimit limit;
    gotrace_stats stats;
    gotrace_result result;
    gotrace_options options;
    test_bytes bytes = {NULL, 0, 0};
    memset(&options, 0, sizeof options);
    options.format = GOTRACE_GO_1_21;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = most;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    result = gotrace_start_file(path, &options);
    if (most < 40) { /* a new file contains a trace without events, which does not fit */
      CHECK_EQUAL(errno, EFBIG);
      CHECK_EQUAL(result, GOTRACE_ERROR_SINK);
      CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
      exit(0);
    }
    CHECK_EQUAL(result, GOTRACE_OK);
    emit_until_off(8);
    result = gotrace_stop();
    limit.rlim_cur = limit.rlim_max; /* standard error may be a file too */
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    gotrace_get_stats(&stats);
    if (result != GOTRACE_ERROR_SINK)
      fprintf(stderr, "limit %llu: %llu bytes\n", (unsigned long long)most, (unsigned long long)stats.bytes);
    CHECK_EQUAL(result, GOTRACE_ERROR_SINK);
    CHECK_EQUAL(stats.result, GOTRACE_ERROR_SINK);
    CHECK_EQUAL(stats.system_error, EFBIG);
    CHECK(stats.bytes <= most && stats.bytes == stats.consistent_bytes);
    test_load(&bytes, path);
    CHECK_EQUAL(bytes.size, stats.bytes); /* truncated */
    CHECK_OPENS(&bytes);
    if (most > 300000) CHECK(bytes.size > 100000); /* there were cuts before */
    test_free(&bytes);
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A trace of some 100 bytes: the file is a trace whenever the limit leaves room for one without events. */
static void short_trace(const char *path, rlim_t most) {
  int status;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    struct rlimit limit;
    gotrace_options options;
    gotrace_stats stats;
    test_bytes bytes = {NULL, 0, 0};
    memset(&options, 0, sizeof options);
    options.format = GOTRACE_GO_1_21;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = most;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK_EQUAL(gotrace_start_file(path, &options), GOTRACE_OK);
    gotrace_stop();
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    gotrace_get_stats(&stats);
    test_load(&bytes, path);
    CHECK_EQUAL(bytes.size, stats.bytes);
    CHECK_OPENS(&bytes);
    test_free(&bytes);
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
  static const rlim_t limits[] = {1, 15, 16, 17, 100, 65000, 65536 + 300, 150000, 310000, 400000};
  const char *directory = getenv("GOTRACE_TEST_DIR");
  char path[512];
  size_t i;
  /* First, since this forks: there is still only one thread. */
  snprintf(path, sizeof path, "%s/short-%ld", directory ? directory : "/tmp", (long)getpid());
  for (i = 0; i < sizeof limits / sizeof limits[0]; i++) short_of_room(path, limits[i]);
  for (i = 50; i < 200; i += 7) short_trace(path, i);
  remove(path);
  every_call(GOTRACE_GO_1_21);
  every_call(GOTRACE_GO_1_23);
  every_call(GOTRACE_GO_1_26);
  if (test_scaled(4) == 4) every_call(GOTRACE_GO_1_11);
  {
    FILE *full = fopen("/dev/full", "wb");
    if (full) {
      gotrace_stats stats;
      fclose(full);
      CHECK_EQUAL(gotrace_start_file("/dev/full", NULL), GOTRACE_OK);
      emit_until_off(3);
      CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_SINK);
      gotrace_get_stats(&stats);
      CHECK_EQUAL(stats.result, GOTRACE_ERROR_SINK);
      CHECK_EQUAL(stats.system_error, ENOSPC);
      CHECK_EQUAL(stats.bytes, 0);
    }
  }
  /* The next trace is complete. */
  sink.fail_at = -1;
  sink.bytes.size = 0;
  {
    gotrace_options options;
    memset(&options, 0, sizeof options);
    options.format = GOTRACE_GO_1_21;
    options.write = failing_sink;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    emit_until_off(2);
    CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
    CHECK_OPENS(&sink.bytes);
  }
  test_free(&sink.bytes);
  return 0;
}
