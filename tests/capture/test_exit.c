/* The trace is complete, however the program ends: main returns, a thread calls exit, or main leaves by pthread_exit
 * and the last other thread ends. The service thread keeps no process alive. _exit loses what came after the last cut,
 * and a pipe that nobody reads holds up the end only for a while.
 * Not in: address thread, whose runtimes cannot handle it: memory of starting threads counts as leaked, and they wait
 * for a main thread that has ended. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char path[64];

static uint64_t logs_in_trace(void) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder = NULL;
  gotrace_event event;
  gotrace_result result;
  test_bytes bytes = {NULL, 0, 0};
  uint64_t logs = 0;
  test_load(&bytes, path);
  memset(&options, 0, sizeof options);
  options.data = bytes.data;
  options.size = bytes.size;
  CHECK_EQUAL(gotrace_decoder_open(&decoder, &options), GOTRACE_OK);
  while ((result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK)
    logs += strcmp(event.spec->name, "UserLog") == 0;
  CHECK_EQUAL(result, GOTRACE_END_OF_TRACE);
  gotrace_decoder_close(decoder);
  test_free(&bytes);
  return logs;
}

static void *exits(void *status) {
  gotrace_log(GOTRACE_NO_TASK, "thread", "message");
  exit(*(int *)status);
}

static void *works_on(void *unused) {
  nanosleep(&(struct timespec){0, 50000000}, NULL);
  gotrace_log(GOTRACE_NO_TASK, "thread", "message");
  return unused;
}

static uint32_t over;
static void *emits(void *unused) {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
    GOTRACE_REGION("work") continue;
  return unused;
}

static bool exit_in_sink(void *context, const void *data, size_t size) {
  (void)context, (void)data, (void)size;
  exit(7);
}

static void log_late(void) { gotrace_log(GOTRACE_NO_TASK, "late", "message"); /* tracing has ended by then */ }

enum { RETURN, EXIT, THREAD_EXIT, PTHREAD_EXIT, PTHREAD_EXIT_ALONE, FLIGHT, SINK, KILL_WITHOUT_CUT, STALLED, WAYS };
static const char *const ways[] = {"main returns",
                                   "exit",
                                   "a thread calls exit",
                                   "pthread_exit of main",
                                   "pthread_exit, alone",
                                   "pthread_exit with a flight recorder",
                                   "exit in the sink",
                                   "_exit",
                                   "a pipe that nobody reads"};

/* Runs in the child. Returns the exit status of main. */
static int child(unsigned way, gotrace_format format) {
  static int status = 7;
  gotrace_options options;
  pthread_t thread;
  memset(&options, 0, sizeof options);
  options.format = format;
  alarm(20);
  CHECK(atexit(log_late) == 0);
  if (way == FLIGHT) {
    if (format < GOTRACE_GO_1_22) options.format = GOTRACE_GO_1_22;
    CHECK_EQUAL(gotrace_flight_start(&options), GOTRACE_OK);
  } else if (way == SINK) {
    options.write = exit_in_sink;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  } else if (way == STALLED) { /* no call but gotrace_stop waits for its reader, and exit only for a while */
    gotrace_stats stats;
    int i;
    CHECK(mkfifo(path, 0600) == 0 && open(path, O_RDONLY | O_NONBLOCK) >= 0);
    options.exit_milliseconds = 50;
    CHECK_EQUAL(gotrace_start_file(path, &options), GOTRACE_OK);
    for (i = 0; i < 20000; i++)
      GOTRACE_REGION("fills the pipe") continue;
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    gotrace_get_stats(&stats);
    CHECK(stats.events > 0 && stats.result == GOTRACE_OK);
    return status;
  } else {
    CHECK_EQUAL(gotrace_start_file(path, &options), GOTRACE_OK);
  }
  CHECK(pthread_create(&thread, NULL, emits, NULL) == 0); /* it continues while the process ends */
  gotrace_log(GOTRACE_NO_TASK, "main", "message");
  switch (way) {
  case EXIT: exit(status);
  case THREAD_EXIT:
    CHECK(pthread_create(&thread, NULL, exits, &status) == 0);
    for (;;) pause();
  case PTHREAD_EXIT:
    __atomic_store_n(&over, 1u, __ATOMIC_RELAXED);
    CHECK(pthread_create(&thread, NULL, works_on, NULL) == 0);
    pthread_exit(NULL);
  case PTHREAD_EXIT_ALONE:
  case FLIGHT:
    __atomic_store_n(&over, 1u, __ATOMIC_RELAXED);
    CHECK(pthread_join(thread, NULL) == 0);
    pthread_exit(NULL);
  case SINK:
    gotrace_advance();
    for (;;) pause();
  case KILL_WITHOUT_CUT: _exit(status);
  default: return status;
  }
}

int main(int argc, char **argv) {
  static const int statuses[WAYS] = {7, 7, 7, 0, 0, 0, 7, 7, 7};
  unsigned way;
  size_t i;
  int status;
  if (argc > 3) {
    snprintf(path, sizeof path, "%s", argv[3]);
    return child((unsigned)atoi(argv[1]), (gotrace_format)atoi(argv[2]));
  }
  snprintf(path, sizeof path, "/tmp/gotrace-exit-%d.trace", (int)getpid());
  for (way = 0; way < WAYS; way++)
    for (i = 0; i < TEST_FORMATS; i++) {
      char number[8], format[8];
      bool waits = way >= PTHREAD_EXIT && way <= FLIGHT; /* up to a second, until the service thread checks */
      pid_t pid;
      if (waits && i % 4) continue;
      snprintf(number, sizeof number, "%u", way);
      snprintf(format, sizeof format, "%d", (int)test_formats[i]);
      remove(path);
      CHECK((pid = fork()) >= 0);
      if (pid == 0) {
        execl(argv[0], argv[0], number, format, path, (char *)NULL);
        _exit(127);
      }
      CHECK(waitpid(pid, &status, 0) == pid);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != statuses[way])
        fprintf(stderr, "%s, format %s: status %d\n", ways[way], format, status);
      CHECK(WIFEXITED(status) && WEXITSTATUS(status) == statuses[way]);
      if (way == FLIGHT || way == SINK || way == STALLED) continue;
      if (test_formats[i] < GOTRACE_GO_1_11) CHECK_EQUAL(logs_in_trace(), 0);
      else if (way == KILL_WITHOUT_CUT) CHECK(logs_in_trace() <= 1);
      else CHECK_EQUAL(logs_in_trace(), way == THREAD_EXIT || way == PTHREAD_EXIT ? 2 : 1);
    }
  remove(path);
  return 0;
}
