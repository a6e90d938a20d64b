/* A sink that fails: the trace ends early, the caller gets the error, and the file is truncated to a trace that
 * opens, or if that is refused the statistics tell how much of it. No signal of a failed write reaches the program. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

/* Several cuts, several pieces each. */
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

/* The statistics are read while the sink is about to fail. The two threads see each other by relaxed operations only,
 * so that ThreadSanitizer notices what else they share. */
static uint32_t looks, waits; /* atomic */

static bool watched_sink(void *context, const void *data, size_t size) {
  uint32_t before = __atomic_load_n(&looks, __ATOMIC_RELAXED);
  (void)context, (void)data, (void)size;
  __atomic_store_n(&waits, 1u, __ATOMIC_RELAXED);
  while (__atomic_load_n(&looks, __ATOMIC_RELAXED) < before + 2) sched_yield();
  errno = EPIPE;
  return false;
}

static void watched_failure(void) {
  gotrace_options options;
  gotrace_stats stats;
  memset(&options, 0, sizeof options);
  options.write = watched_sink;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  while (!__atomic_load_n(&waits, __ATOMIC_RELAXED)) sched_yield();
  do {
    gotrace_get_stats(&stats);
    __atomic_add_fetch(&looks, 1u, __ATOMIC_RELAXED);
  } while (stats.result == GOTRACE_OK);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_SINK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.system_error, EPIPE);
  CHECK_EQUAL(stats.bytes, 0);
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
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = most;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    result = gotrace_start_file(path, &options);
    if (most < 40) { /* a new file contains a trace without events, which does not fit */
      CHECK_EQUAL(errno, EFBIG);
      CHECK_EQUAL(result, GOTRACE_ERROR_SINK);
      CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
      CHECK(access(path, F_OK) != 0);
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

/* ------------------------------------------------------------------------------------------------------ signals ----
 */

/* The C library's function, which the tracer calls. A pipe without a reader cannot be opened, so the reader leaves
 * before the first write. */
static int reader = -1;
ssize_t write(int file, const void *data, size_t size) {
  if (reader >= 0) close(reader);
  reader = -1;
  return syscall(SYS_write, file, data, size);
}

static volatile sig_atomic_t handled;
static void handle(int number) { (void)number, handled++; }

static bool is_pending(int number) {
  sigset_t pending;
  CHECK(sigpending(&pending) == 0);
  return sigismember(&pending, number) == 1;
}

/* How the calling thread treats the signal that its write causes. */
enum treats { DEFAULT, HANDLES, BLOCKS, HAS_PENDING };

/* A snapshot, which the calling thread writes, into a pipe without a reader (SIGPIPE) or beyond the limit (SIGXFSZ). */
static void snapshot_with_signal(int number, enum treats treats, const char *path) {
  char name[64];
  int ends[2], status;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    struct rlimit limit = {100, 100};
    sigset_t set, before, after;
    CHECK(sigemptyset(&set) == 0 && sigaddset(&set, number) == 0);
    if (treats == HANDLES) CHECK(signal(number, handle) != SIG_ERR);
    if (treats >= BLOCKS) CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    if (treats == HAS_PENDING) raise(number);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &before) == 0);
    CHECK_EQUAL(gotrace_flight_start(NULL), GOTRACE_OK);
    emit_until_off(1);
    if (number == SIGPIPE) {
      CHECK(pipe(ends) == 0);
      snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
      path = name;
      reader = ends[0];
    } else {
      CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    }
    errno = 0;
    CHECK_EQUAL(gotrace_flight_snapshot_file(path), GOTRACE_ERROR_SINK);
    CHECK_EQUAL(errno, number == SIGPIPE ? EPIPE : EFBIG);
    CHECK_EQUAL(is_pending(number), treats == HAS_PENDING);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &after) == 0);
    CHECK_EQUAL(sigismember(&after, number), treats >= BLOCKS);
    CHECK_EQUAL(handled, 0);
    CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ------------------------------------------------------------------------------- refused truncation, failing close
 * ----
 */

static bool refuses; /* to shorten files, as a sandbox may */
static int
    fails_to_close; /* errno of the next close, as of a network file system that could not store what was written */

#if defined(__GLIBC__)
#define TRUNCATE ftruncate64
#else
#define TRUNCATE ftruncate
#endif
int TRUNCATE(int file, off_t size) {
  if (refuses) return errno = EPERM, -1;
  return (int)syscall(SYS_ftruncate, file, size);
}
int close(int file) {
  int error = fails_to_close;
  fails_to_close = 0;
  if (syscall(SYS_close, file) != 0) return -1;
  return error ? errno = error, -1 : 0;
}

static void trace_into(const char *path, long rounds, gotrace_result want, gotrace_format format) {
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.format = format;
  CHECK_EQUAL(gotrace_start_file(path, &options), GOTRACE_OK);
  emit_until_off(rounds);
  CHECK_EQUAL(gotrace_stop(), want);
}

static void refused_truncation(const char *path, gotrace_format format) {
  test_bytes before = {NULL, 0, 0}, after = {NULL, 0, 0};
  gotrace_stats stats;
  struct rlimit limit, smaller;
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.format = format;
  remove(path);
  /* A new file needs no truncation, not even if its trace is shorter than the empty one. */
  refuses = true;
  trace_into(path, 0, GOTRACE_OK, format);
  test_load(&before, path);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(before.size, stats.bytes);
  CHECK_OPENS(&before);
  remove(path);
  trace_into(path, 2, GOTRACE_OK, format);
  /* An older file cannot be emptied: it stays as it is, and the start says so. */
  test_load(&before, path);
  errno = 0;
  CHECK_EQUAL(gotrace_start_file(path, &options), GOTRACE_ERROR_SINK);
  CHECK_EQUAL(errno, EPERM);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
  test_load(&after, path);
  CHECK(after.size == before.size && memcmp(after.data, before.data, after.size) == 0);
  CHECK_OPENS(&after);
  /* After a failed write, what follows the last cut cannot be cut off. The statistics tell how long the trace is. */
  refuses = false;
  CHECK_EQUAL(gotrace_start_file(path, &options), GOTRACE_OK);
  refuses = true;
  CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  smaller = limit;
  smaller.rlim_cur = 300000;
  CHECK(setrlimit(RLIMIT_FSIZE, &smaller) == 0);
  emit_until_off(8);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_SINK);
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.system_error, EFBIG);
  test_load(&after, path);
  CHECK(stats.bytes == stats.consistent_bytes && stats.bytes <= after.size);
  after.size = (size_t)stats.bytes;
  CHECK_OPENS(&after);
  refuses = false;
  test_free(&before);
  test_free(&after);
}

static void failing_close(const char *path) {
  gotrace_options options;
  gotrace_stats stats;
  memset(&options, 0, sizeof options);
  CHECK_EQUAL(gotrace_start_file(path, &options), GOTRACE_OK);
  emit_until_off(1);
  fails_to_close = EIO;
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_SINK);
  CHECK_EQUAL(fails_to_close, 0);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.result, GOTRACE_ERROR_SINK);
  CHECK_EQUAL(stats.system_error, EIO);
  CHECK_EQUAL(gotrace_flight_start(NULL), GOTRACE_OK);
  emit_until_off(1);
  remove(path);
  fails_to_close = EIO;
  CHECK_EQUAL(gotrace_flight_snapshot_file(path), GOTRACE_ERROR_SINK);
  CHECK(access(path, F_OK) != 0);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
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
  for (i = DEFAULT; i <= HAS_PENDING; i++) {
    snapshot_with_signal(SIGPIPE, (enum treats)i, NULL);
    snapshot_with_signal(SIGXFSZ, (enum treats)i, path);
  }
  CHECK(access(path, F_OK) != 0);
  refused_truncation(path, GOTRACE_GO_1_11);
  refused_truncation(path, GOTRACE_GO_1_23);
  failing_close(path);
  remove(path);
  watched_failure();
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
