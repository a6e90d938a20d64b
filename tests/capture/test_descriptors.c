/* The tracer's descriptors are above 2. If the program closes the trace's descriptor and opens another file with its
 * number, the trace ends, and that file stays unchanged and open. A running trace opens no file but the program's, for
 * its functions. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[400], trace[512];
static long writes, reads, opens;

/* The C library's functions, which the tracer calls. */
ssize_t write(int file, const void *data, size_t size) {
  CHECK(file > 2);
  writes++;
  return syscall(SYS_write, file, data, size);
}
#if defined(__GLIBC__) && __SIZEOF_POINTER__ == 8
ssize_t pread64(int file, void *data, size_t size, off64_t offset) {
  CHECK(file > 2);
  reads++;
  return syscall(SYS_pread64, file, data, size, offset);
}
int open(const char *path, int flags, ...) {
  va_list more;
  int mode;
  va_start(more, flags);
  mode = flags & O_CREAT ? va_arg(more, int) : 0;
  va_end(more);
  opens++;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
#define SEES_FILES 1
#else
#define SEES_FILES 0
#endif

static void in_child(void (*run)(int), int argument) {
  int status;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    run(argument);
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static const char *path_of(const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static void emit(void) {
  int i;
  for (i = 0; i < 100; i++) gotrace_logf(GOTRACE_NO_TASK, "category", "message %d", i);
}

/* ---------------------------------------------------------------------------------------- standard descriptors ---- */

/* Names a function of this program, so that the tracer reads the program's file. */
static int unwind(void *context, uintptr_t *pcs, int most) {
  (void)context, (void)most;
  pcs[0] = (uintptr_t)emit + 1;
  return 1;
}

/* The program was started with some of 0, 1 and 2 closed (a bit for each), and opens a file of its own. */
static void closed(int mask) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options;
  int number, own, errors = dup(2); /* for CHECK, at the end */
  memset(&options, 0, sizeof options);
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = unwind;
  for (number = 0; number < 3; number++)
    if (mask >> number & 1) close(number);
  if (mask & 8) {
    CHECK_EQUAL(gotrace_flight_start(&options), GOTRACE_OK);
    emit();
    CHECK_EQUAL(gotrace_flight_snapshot_file(trace), GOTRACE_OK);
  } else {
    CHECK_EQUAL(gotrace_start_file(trace, &options), GOTRACE_OK);
  }
  CHECK((own = open("/dev/null", O_RDWR)) >= 0);
  for (number = 0; number < 3; number++) CHECK(own == number || dup2(own, number) == number); /* as daemon(3) does */
  emit();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK(dup2(errors, 2) == 2);
  test_load(&bytes, trace);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "UserLog"), 100);
  CHECK(writes > 0 && reads >= SEES_FILES);
  test_free(&bytes);
}

/* ----------------------------------------------------------------------------------------------- while it runs ---- */

/* Any file may get a number that the program is about to use. */
static void runs(int milliseconds) {
  long before;
  CHECK_EQUAL(gotrace_start_file(trace, NULL), GOTRACE_OK);
  emit();
  before = opens;
  CHECK(before >= SEES_FILES);
  usleep(1000u * (unsigned)milliseconds);
  CHECK_EQUAL(opens, before);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
}

/* ------------------------------------------------------------------------------------------ closed descriptors ---- */

enum after { NOTHING, OPENS_OTHERS, REPLACES_TRACE, OPENS_TRACE };
#define EARLY 4 /* before the first cut */
#define OWN 8

/* A program closes all descriptors. What it does after that is in the argument. */
static void closes(int when) {
  static const char data[] = "important data\n";
  const int after = when & ~EARLY;
  char name[40], text[sizeof data];
  int own[OWN], i;
  gotrace_options options;
  gotrace_stats stats;
  test_bytes before = {NULL, 0, 0}, bytes = {NULL, 0, 0};
  struct stat status;
  memset(&options, 0, sizeof options);
  options.cut_milliseconds = 1000000;
  CHECK_EQUAL(gotrace_start_file(trace, &options), GOTRACE_OK);
  if (!(when & EARLY)) {
    emit();
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    do { /* until the service thread has written that */
      gotrace_get_stats(&stats);
      CHECK(stat(trace, &status) == 0);
      usleep(100);
    } while (!stats.consistent_bytes || stats.consistent_bytes != stats.bytes ||
             (uint64_t)status.st_size != stats.bytes);
  }
  test_load(&before, trace);
  for (i = 3; i < 100; i++) close(i);
  if (after == REPLACES_TRACE) CHECK(unlink(trace) == 0); /* the file system may reuse its inode */
  for (i = 0; i < OWN && after != NOTHING; i++) {
    snprintf(name, sizeof name, "own-%d", i);
    CHECK((own[i] = open(after == OPENS_TRACE ? trace : path_of(name), O_RDWR | O_CREAT, 0600)) > 2);
    if (after != OPENS_TRACE) CHECK_EQUAL(syscall(SYS_write, own[i], data, sizeof data), sizeof data);
    if (after == OPENS_OTHERS) CHECK(lseek(own[i], (off_t)before.size, SEEK_SET) > 0); /* as the trace's descriptor */
  }
  emit();
  gotrace_advance(); /* may already return the error */
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_SINK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.result, GOTRACE_ERROR_SINK);
  CHECK_EQUAL(stats.system_error, EBADF);
  for (i = 0; i < OWN && after != NOTHING; i++) {
    CHECK(fstat(own[i], &status) == 0);
    if (after == OPENS_TRACE) continue;
    CHECK_EQUAL(status.st_size, sizeof data);
    CHECK_EQUAL(lseek(own[i], 0, SEEK_CUR), after == OPENS_OTHERS ? before.size : sizeof data);
    CHECK(pread(own[i], text, sizeof text, 0) == sizeof text && memcmp(text, data, sizeof data) == 0);
    snprintf(name, sizeof name, "own-%d", i);
    CHECK(unlink(path_of(name)) == 0);
  }
  if (after != REPLACES_TRACE) {
    test_load(&bytes, trace);
    CHECK_OPENS(&bytes);
    CHECK_EQUAL(when & EARLY ? 0 : bytes.size, stats.bytes);
    CHECK(bytes.size == before.size && memcmp(bytes.data, before.data, bytes.size) == 0);
  }
  test_free(&before);
  test_free(&bytes);
}

int main(void) {
  const char *parent = getenv("GOTRACE_TEST_DIR");
  int mask, when;
  snprintf(directory, sizeof directory, "%s/descriptorsXXXXXX", parent ? parent : "/tmp");
  CHECK(mkdtemp(directory) != NULL);
  snprintf(trace, sizeof trace, "%s", path_of("a.trace"));
  for (mask = 1; mask < 8; mask++) in_child(closed, mask);
  in_child(closed, 8 | 7);
  in_child(runs, 350); /* three rounds of the service thread */
  for (when = NOTHING; when <= (EARLY | OPENS_TRACE); when++) in_child(closes, when);
  remove(trace);
  CHECK(rmdir(directory) == 0);
  return 0;
}
