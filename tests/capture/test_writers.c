/* Two tracers write to one path: in one process (a program and its plugin, each with its own copy of the tracer) or in
 * two. One of them succeeds, the other gets an error, and the file is always a complete trace. Snapshots leave no
 * temporary files. */
#define _GNU_SOURCE
#define GOTRACE_STATIC
#define GOTRACE_IMPLEMENTATION
/* This file's own copy of the tracer has other names for these functions. */
#define gotrace_start_file own_start_file
#define gotrace_start_environment own_start_environment
#define gotrace_stop own_stop
#define gotrace_flight_start own_flight_start
#define gotrace_flight_snapshot_file own_flight_snapshot_file
#define gotrace_flight_stop own_flight_stop
#include "gotrace.h"
#undef gotrace_start_file
#undef gotrace_start_environment
#undef gotrace_stop
#undef gotrace_flight_start
#undef gotrace_flight_snapshot_file
#undef gotrace_flight_stop
#include "../test_collect.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The other copy, in the archive with which the test is linked. */
gotrace_result gotrace_start_file(const char *path, const gotrace_options *options);
gotrace_result gotrace_stop(void);
gotrace_result gotrace_flight_start(const gotrace_options *options);
gotrace_result gotrace_flight_snapshot_file(const char *path);
gotrace_result gotrace_flight_stop(void);

static char directory[400], path[512];
static test_bytes bytes;

/* The C library's functions, which the tracers call. The hooks run once each. */
static void (*at_write)(void), (*at_flock)(void);
static bool is_full, has_no_locks;

ssize_t write(int file, const void *data, size_t size) {
  void (*hook)(void) = at_write;
  at_write = NULL;
  if (hook) hook();
  if (is_full) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_write, file, data, size);
}

int flock(int file, int operation) {
  void (*hook)(void) = at_flock;
  at_flock = NULL;
  if (hook) hook();
  if (has_no_locks) {
    errno = ENOLCK;
    return -1;
  }
  return (int)syscall(SYS_flock, file, operation);
}

static void emit(int count) {
  int i;
  for (i = 0; i < count; i++) gotrace_logf(GOTRACE_NO_TASK, "category", "message %d", i);
}

/* The file is a complete trace with this number of logs (-1: any). It is the only file in the directory. */
static void check_trace(int logs) {
  DIR *dir = opendir(directory);
  struct dirent *entry;
  CHECK(dir != NULL);
  while ((entry = readdir(dir)) != NULL) CHECK(entry->d_name[0] == '.' || strcmp(entry->d_name, "a.trace") == 0);
  closedir(dir);
  test_load(&bytes, path);
  CHECK_OPENS(&bytes);
  if (logs >= 0) CHECK_EQUAL(test_count(&bytes, "UserLog"), logs);
}

#define CHECK_REFUSED(call, error)         \
  do {                                     \
    errno = 0;                             \
    CHECK_EQUAL(call, GOTRACE_ERROR_SINK); \
    CHECK_EQUAL(errno, error);             \
  } while (0)

/* ----------------------------------------------------------------------------------------------------- sessions ----
 */

/* Runs the program again, as a child that is traced to the same path. */
static void run_again(char *program) {
  int status;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK(setenv("GOTRACE", path, 1) == 0);
    execl(program, program, "again", (char *)NULL);
    _exit(9);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void two_sessions(char *program) {
  CHECK_EQUAL(own_start_file(path, NULL), GOTRACE_OK);
  emit(10);
  CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  CHECK_REFUSED(gotrace_start_file(path, NULL), EWOULDBLOCK);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
  run_again(program);
  CHECK_EQUAL(gotrace_flight_start(NULL), GOTRACE_OK);
  CHECK_REFUSED(gotrace_flight_snapshot_file(path), EWOULDBLOCK);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
  emit(10);
  CHECK_EQUAL(own_stop(), GOTRACE_OK);
  check_trace(20);
  CHECK_EQUAL(gotrace_start_file(path, NULL), GOTRACE_OK); /* the file is free again */
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  check_trace(0);
}

/* A child that a fork without handlers made has the file open, and shares its lock. */
static void child_with_lock(void) {
  int ends[2], status;
  char byte;
  pid_t child;
  CHECK(pipe(ends) == 0);
  CHECK_EQUAL(own_start_file(path, NULL), GOTRACE_OK);
  child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  CHECK(child >= 0);
  if (child == 0) {
    close(ends[1]);
    _exit((int)read(ends[0], &byte, 1));
  }
  CHECK_EQUAL(own_stop(), GOTRACE_OK);
  CHECK_EQUAL(own_start_file(path, NULL), GOTRACE_OK);
  CHECK_EQUAL(own_stop(), GOTRACE_OK);
  close(ends[0]);
  close(ends[1]);
  CHECK(waitpid(child, &status, 0) == child);
  check_trace(0);
}

static void without_locks(void) {
  has_no_locks = true;
  CHECK_EQUAL(own_start_file(path, NULL), GOTRACE_OK);
  emit(10);
  CHECK_EQUAL(own_stop(), GOTRACE_OK);
  has_no_locks = false;
  check_trace(10);
}

/* Between the opening of the file and its lock, another tracer's snapshot replaces it. */
static void replace(void) {
  char from[520];
  FILE *file;
  snprintf(from, sizeof from, "%s.from", path);
  CHECK((file = fopen(from, "w")) != NULL);
  CHECK(fclose(file) == 0);
  CHECK(rename(from, path) == 0);
}

static void replaced_session(void) {
  at_flock = replace;
  CHECK_EQUAL(own_start_file(path, NULL), GOTRACE_OK);
  CHECK(!at_flock);
  emit(10);
  CHECK_EQUAL(own_stop(), GOTRACE_OK);
  check_trace(10);
}

/* ---------------------------------------------------------------------------------------------------- snapshots ----
 */

static gotrace_result other_result;
static int other_error;

/* The rest of a snapshot is written after the other tracer's snapshot to the same path. */
static void snapshot_second_piece(void) {
  errno = 0;
  other_result = gotrace_flight_snapshot_file(path);
  other_error = errno;
}
static void snapshot_meanwhile(void) { at_write = snapshot_second_piece; }

static void start_meanwhile(void) {
  errno = 0;
  other_result = gotrace_start_file(path, NULL);
  other_error = errno;
}

static void two_snapshots(void) {
  char stale[540];
  FILE *file;
  CHECK_EQUAL(own_flight_start(NULL), GOTRACE_OK);
  CHECK_EQUAL(gotrace_flight_start(NULL), GOTRACE_OK);
  emit(10);

  /* There is a file: it is locked. */
  at_write = snapshot_meanwhile;
  CHECK_EQUAL(own_flight_snapshot_file(path), GOTRACE_OK);
  CHECK_EQUAL(other_result, GOTRACE_ERROR_SINK);
  CHECK_EQUAL(other_error, EWOULDBLOCK);
  check_trace(10);

  /* There is none: the first complete one stays. */
  CHECK(remove(path) == 0);
  at_write = snapshot_meanwhile;
  CHECK_REFUSED(own_flight_snapshot_file(path), EEXIST);
  CHECK_EQUAL(other_result, GOTRACE_OK);
  check_trace(0);

  /* A session starts during a snapshot. */
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
  at_write = start_meanwhile;
  CHECK_EQUAL(own_flight_snapshot_file(path), GOTRACE_OK);
  CHECK_EQUAL(other_result, GOTRACE_ERROR_SINK);
  CHECK_EQUAL(other_error, EWOULDBLOCK);
  check_trace(10);

  /* A snapshot that fails leaves the file as it was. */
  emit(10);
  is_full = true;
  CHECK_REFUSED(own_flight_snapshot_file(path), ENOSPC);
  is_full = false;
  check_trace(10);

  /* A killed process with the same id, as in containers, has left its temporary file. */
  snprintf(stale, sizeof stale, "%s.%ld-0.new", path, (long)getpid());
  CHECK((file = fopen(stale, "w")) != NULL);
  CHECK(fclose(file) == 0);
  CHECK_EQUAL(own_flight_snapshot_file(path), GOTRACE_OK);
  CHECK(remove(stale) == 0);
  check_trace(20);
  CHECK_EQUAL(own_flight_stop(), GOTRACE_OK);
}

#define WORKERS 3

/* Processes of a server save snapshots to the same path. Whoever reads it finds a complete trace. */
static void workers(void) {
  pid_t pids[WORKERS];
  int i, status, left = WORKERS;
  CHECK(remove(path) == 0);
  for (i = 0; i < WORKERS; i++) {
    CHECK((pids[i] = fork()) >= 0);
    if (pids[i] == 0) {
      long n, saved = 0;
      CHECK_EQUAL(own_flight_start(NULL), GOTRACE_OK);
      emit(1000 * (i + 1));
      for (n = test_scaled(100); n > 0 || !saved; n--) {
        gotrace_result result = own_flight_snapshot_file(path);
        CHECK(result == GOTRACE_OK || (result == GOTRACE_ERROR_SINK && (errno == EWOULDBLOCK || errno == EEXIST)));
        saved += result == GOTRACE_OK;
      }
      CHECK_EQUAL(own_flight_stop(), GOTRACE_OK);
      exit(0);
    }
  }
  while (left) {
    if (access(path, F_OK) == 0) {
      test_load(&bytes, path);
      CHECK_OPENS(&bytes);
    }
    for (i = 0; i < WORKERS; i++)
      if (pids[i] && waitpid(pids[i], &status, WNOHANG) == pids[i]) {
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        pids[i] = 0;
        left--;
      }
  }
  check_trace(-1);
}

int main(int argc, char **argv) {
  const char *parent = getenv("GOTRACE_TEST_DIR");
  if (argc > 1) { /* run_again */
    CHECK_REFUSED(own_start_environment(), EWOULDBLOCK);
    return 0;
  }
  snprintf(directory, sizeof directory, "%s/writersXXXXXX", parent ? parent : "/tmp");
  CHECK(mkdtemp(directory) != NULL);
  snprintf(path, sizeof path, "%s/a.trace", directory);
  two_sessions(argv[0]);
  child_with_lock();
  without_locks();
  replaced_session();
  two_snapshots();
  workers(); /* last, since its children must not inherit a trace */
  test_free(&bytes);
  CHECK(remove(path) == 0 && rmdir(directory) == 0);
  return 0;
}
