/* case.c - runs a case in each format and checks its traces; see case.h. */
#define _GNU_SOURCE
#include "case.h"

#include "../test_collect.h"
#include "../test_trace.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char *directory; /* for traces that are kept; NULL: keep none */
static gotrace_format running;
static long run;
static test_bytes trace;
static char failure[600]; /* the first of the run */
static bool failed;       /* atomic */
gotrace_stats case_stats;

/* --------------------------------------------------------------------------------------------------- checking ---- */

void case_fail(const char *format, ...) {
  va_list arguments;
  if (__atomic_exchange_n(&failed, true, __ATOMIC_SEQ_CST)) return;
  va_start(arguments, format);
  vsnprintf(failure, sizeof failure, format, arguments);
  va_end(arguments);
}

static void judge(const test_bytes *bytes) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder = NULL;
  gotrace_event event;
  gotrace_result result;
  memset(&options, 0, sizeof options);
  options.data = bytes->data;
  options.size = bytes->size;
  result = gotrace_decoder_open(&decoder, &options);
  while (result == GOTRACE_OK) result = gotrace_decoder_next(decoder, &event);
  if (result != GOTRACE_END_OF_TRACE)
    case_fail("refused (%zu bytes): %s", bytes->size,
              decoder ? gotrace_decoder_error(decoder)->message : gotrace_result_string(result));
  gotrace_decoder_close(decoder);
}

static void keep(const char *suffix) {
  char path[600];
  FILE *file;
  snprintf(path, sizeof path, "%s/%s-1.%d-%ld.%s", directory, case_this.name, (int)running % 1000, run, suffix);
  CHECK((file = fopen(path, "wb")) != NULL);
  CHECK(fwrite(trace.data, 1, trace.size, file) == trace.size);
  CHECK(fclose(file) == 0);
}

void case_start(gotrace_format format, gotrace_options options) {
  trace.size = 0;
  options.format = format;
  options.write = test_sink;
  options.context = &trace;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
}

void case_stop(void) {
  gotrace_result result = gotrace_stop();
  gotrace_get_stats(&case_stats);
  if (result != GOTRACE_OK && result != GOTRACE_LIMIT_REACHED) case_fail("stop: %s", gotrace_result_string(result));
  judge(&trace);
}

void case_judge_file(const char *path) {
  if (access(path, R_OK) != 0) {
    case_fail("no file");
    return;
  }
  test_load(&trace, path);
  judge(&trace);
}

const char *case_path(void) {
  static char path[600]; /* made once: a forked child has another process id */
  const char *temporary = getenv("TMPDIR");
  if (!*path)
    snprintf(path, sizeof path, "%s/gotrace-case-%d.trace",
             directory   ? directory
             : temporary ? temporary
                         : "/tmp",
             (int)getpid());
  return path;
}

/* ---------------------------------------------------------------------------------------------------- threads ---- */

void case_wait_little(void) { sched_yield(); }

void case_sleep(unsigned time) { usleep(time); }

/* Threads of a case have lower priority than the main thread, so that a trace meant to take microseconds does not take
 * many milliseconds. On Linux priorities are per thread. */
typedef struct start {
  void *(*function)(void *);
  void *argument;
} start;

static void *begin_thread(void *argument) {
  start own = *(start *)argument;
  free(argument);
  setpriority(PRIO_PROCESS, 0, 10);
  return own.function(own.argument);
}

void case_thread(pthread_t *thread, void *(*function)(void *), void *argument) {
  start *own = malloc(sizeof *own);
  CHECK(own != NULL);
  own->function = function;
  own->argument = argument;
  CHECK_EQUAL(pthread_create(thread, NULL, begin_thread, own), 0);
}

void case_join(pthread_t thread) { CHECK_EQUAL(pthread_join(thread, NULL), 0); }

static unsigned held_microseconds;
static const int *held_until;

static uint64_t microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now); /* async-signal-safe */
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void hold(int signal) {
  uint64_t end = microseconds() + __atomic_load_n(&held_microseconds, __ATOMIC_RELAXED);
  const int *until = __atomic_load_n(&held_until, __ATOMIC_RELAXED);
  int error = errno;
  (void)signal;
  while (microseconds() < end && !(until && CASE_LOAD(*until))) sched_yield();
  errno = error;
}

void case_hold_up(pthread_t thread, unsigned time, const int *until) {
  __atomic_store_n(&held_microseconds, time, __ATOMIC_RELAXED);
  __atomic_store_n(&held_until, until, __ATOMIC_RELAXED);
  CHECK_EQUAL(pthread_kill(thread, SIGUSR1), 0);
}

/* -------------------------------------------------------------------------------------------------------- main ---- */

static void hangs(int signal) {
  char text[200];
  int size = snprintf(text, sizeof text, "FAILED %s 1.%d: run %ld hangs\n", case_this.name, (int)running % 1000, run);
  (void)signal;
  if (write(STDOUT_FILENO, text, (size_t)size) < 0) _exit(2);
  _exit(1);
}

int main(int argc, char **argv) {
  long runs = 20, every = 10;
  int option, status = 0, only = 0;
  size_t i;
  struct sigaction action;
  while ((option = getopt(argc, argv, "n:f:o:e:")) != -1) {
    if (option == 'n') runs = atol(optarg);
    else if (option == 'f') only = 1000 + atoi(strchr(optarg, '.') ? strchr(optarg, '.') + 1 : "");
    else if (option == 'o') directory = optarg;
    else if (option == 'e') every = atol(optarg);
    else return 2;
  }
  memset(&action, 0, sizeof action);
  action.sa_flags = SA_RESTART;
  action.sa_handler = hold;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  action.sa_handler = hangs;
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  case_path();
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (i = 0; i < TEST_FORMATS; i++) {
    long bad = 0;
    char first[sizeof failure] = "";
    running = test_formats[i];
    if (running < case_this.since || (only && (int)running != only)) continue;
    if (case_this.begin) case_this.begin();
    for (run = 0; run < runs; run++) {
      alarm(60);
      failed = false;
      trace.size = 0;
      case_this.run(running, run);
      unlink(case_path());
      if (failed && !bad++) snprintf(first, sizeof first, "%s", failure);
      if (directory && trace.size && (failed ? bad <= 3 : every && run % every == 0))
        keep(failed ? "refused" : "trace");
    }
    if (case_this.end) case_this.end();
    alarm(0);
    if (bad) printf("FAILED %s 1.%d: %ld of %ld: %s\n", case_this.name, (int)running % 1000, bad, runs, first);
    else printf("ok %s 1.%d: %ld runs\n", case_this.name, (int)running % 1000, runs);
    if (bad) status = 1;
  }
  test_free(&trace);
  return status;
}
