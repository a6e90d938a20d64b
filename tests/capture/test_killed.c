/* A program killed while it writes a trace leaves one that Go opens, up to the last complete generation. (Each file has
 * a .killed next to it, see open_in_go.sh.) */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_trace.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const gotrace_location entry = GOTRACE_NAMED_ENTRY("job");

static void *short_lived(void *unused) {
  GOTRACE_REGION("short") gotrace_log(GOTRACE_NO_TASK, "a thread", "that comes and goes");
  return unused;
}

/* A worker whose jobs wake each other. */
static void *work(void *unused) {
  gotrace_proc *proc = gotrace_proc_create();
  const struct timespec pause = {0, 100000};
  gotrace_go *jobs[16];
  size_t i;
  (void)unused;
  for (i = 0; i < 16; i++) CHECK((jobs[i] = gotrace_go_create_blocked(&entry)) != NULL);
  gotrace_proc_start(proc);
  for (i = 0;; i = (i + 5) % 16) {
    gotrace_go_unblock(jobs[i]);
    gotrace_go_start(jobs[i]);
    GOTRACE_REGION("part") gotrace_logf(GOTRACE_NO_TASK, "number", "%zu", i);
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
    gotrace_go_block(GOTRACE_BLOCK_SELECT);
    if (i == 0) nanosleep(&pause, NULL); /* otherwise the files would be large */
  }
  return NULL;
}

/* Reports through the pipe when some generations have been written. */
static void trace_until_killed(const char *path, gotrace_format format, int pipe_end) {
  gotrace_options options;
  bool told = false;
  pthread_t thread;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.cut_milliseconds = 10;
  options.on_limit = GOTRACE_LIMIT_BLOCK;
  CHECK_EQUAL(gotrace_start_file(path, &options), GOTRACE_OK);
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
  for (;;) {
    CHECK(pthread_create(&thread, NULL, short_lived, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    if (!told) {
      gotrace_stats stats;
      gotrace_get_stats(&stats);
      told = stats.cuts > 2;
      if (told) CHECK(write(pipe_end, "", 1) == 1);
    }
  }
}

int main(void) {
  long kills = test_scaled(6), i;
  uint64_t state = (uint64_t)time(NULL);
  size_t k;
  printf("seed %llu\n", (unsigned long long)state);
  for (k = 0; k < TEST_FORMATS; k++) {
    for (i = 0; test_formats[k] >= GOTRACE_GO_1_22 && i < kills; i++) {
      char name[32], path[512];
      struct timespec delay = {0, (long)(test_random(&state) % 30000000)};
      FILE *file;
      int ended, ends[2];
      char byte;
      pid_t child;
      snprintf(name, sizeof name, "killed%ld", i);
      snprintf(path, sizeof path, "%s", test_trace_path(name, test_formats[k]));
      if (strcmp(path, "/dev/null") == 0) return 0;
      CHECK(pipe(ends) == 0);
      child = fork();
      CHECK(child >= 0);
      if (child == 0) trace_until_killed(path, test_formats[k], ends[1]);
      CHECK(close(ends[1]) == 0);
      CHECK(read(ends[0], &byte, 1) == 1);
      CHECK(close(ends[0]) == 0);
      nanosleep(&delay, NULL);
      CHECK(kill(child, SIGKILL) == 0);
      CHECK(waitpid(child, &ended, 0) == child);
      CHECK(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
      memcpy(strrchr(path, '.'), ".killed", 8);
      CHECK((file = fopen(path, "w")) != NULL);
      CHECK(fclose(file) == 0);
    }
  }
  return 0;
}
