/* GOTRACE_NO_THREADS=1, what needs fork: the end of the program waits for the reader of a pipe, as long as
 * exit_milliseconds says; tracing is off in the child of a fork. */
#define GOTRACE_NO_THREADS 1
#define GOTRACE__EXIT_MILLISECONDS 20000u
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#include <sys/stat.h>
#include <sys/wait.h>

static int ending[2]; /* a pipe: the child is about to write the flight recorder's data */
static void tell(void) { CHECK_EQUAL(write(ending[1], "", 1), 1); }

/* In the child of a fork, tracing is off and can be started again; the parent's file is the parent's alone. */
static void forks(const char *path) {
  test_bytes bytes = {NULL, 0, 0};
  char child_path[520];
  int status;
  pid_t child;
  snprintf(child_path, sizeof child_path, "%s-child", path);
  CHECK_EQUAL(gotrace_start_file(path, NULL), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "parent");
  child = fork();
  CHECK(child >= 0);
  if (!child) {
    CHECK(!gotrace_enabled());
    CHECK_EQUAL(gotrace_stop(), GOTRACE_ERROR_NOT_RUNNING);
    CHECK_EQUAL(gotrace_start_file(child_path, NULL), GOTRACE_OK);
    gotrace_log(GOTRACE_NO_TASK, "category", "child");
    exit(0); /* ends the trace */
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  gotrace_log(GOTRACE_NO_TASK, "category", "parent");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_load(&bytes, path);
  remove(path);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "UserLog"), 2);
  test_load(&bytes, child_path);
  remove(child_path);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "UserLog"), 1);
  test_free(&bytes);
}

int main(void) {
  const char *directory = getenv("GOTRACE_TEST_DIR");
  char path[400], value[512], byte;
  test_bytes bytes = {NULL, 0, 0};
  int status, file;
  ssize_t n;
  pid_t child;
  snprintf(path, sizeof path, "%s/pipe-%ld", directory ? directory : "/tmp", (long)getpid());
  snprintf(value, sizeof value, "%s,flight=10", path);
  CHECK(mkfifo(path, 0600) == 0 && pipe(ending) == 0);
  child = fork();
  CHECK(child >= 0);
  if (!child) {
    setenv("GOTRACE", value, 1);
    CHECK_EQUAL(gotrace_start_environment(), GOTRACE_OK);
    atexit(tell); /* runs before the tracer's function */
    gotrace_log(GOTRACE_NO_TASK, "category", "text");
    exit(0);
  }
  CHECK_EQUAL(read(ending[0], &byte, 1), 1);
  usleep(500000);
  file = open(path, O_RDONLY | O_NONBLOCK);
  CHECK(file >= 0 && waitpid(child, &status, 0) == child && status == 0);
  do {
    unsigned char part[4096];
    n = read(file, part, sizeof part);
    if (n > 0) test_sink(&bytes, part, (size_t)n);
  } while (n > 0);
  close(file);
  remove(path);
  CHECK_OPENS(&bytes);
  CHECK_EQUAL(test_count(&bytes, "UserLog"), 1);
  test_free(&bytes);
  forks(path);
  return 0;
}
