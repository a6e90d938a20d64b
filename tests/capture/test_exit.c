/* The trace is complete, however the program ends: main returns, a thread calls exit, or main leaves by pthread_exit
 * and the last other thread ends (then, too, what GOTRACE asks for is printed). The service thread keeps no process
 * alive. _exit loses what came after the last cut, and a sink or snapshot that does not move holds up the end only for
 * a while; one that moves is waited for. Not in: address thread, whose runtimes cannot handle it: memory of starting
 * threads counts as leaked, and they wait for a main thread that has ended. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"
#include "held_snapshot.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char path[64], printed[70];

static uint64_t logs_in_trace(bool *complete) {
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
  *complete = result == GOTRACE_END_OF_TRACE;
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

/* A sink that takes 60 ms for each piece of the trace, altogether more than exit waits for one. On a busy machine a
 * piece may take so long, too: then the test tries again. */
enum { MANY_LOGS = 768, SLOW_PIECES = MANY_LOGS * 1010 / 65536, PIECE_MILLISECONDS = 60, TRIES = 20 };
static int sink_file;
static bool slow_sink(void *context, const void *data, size_t size) {
  (void)context;
  nanosleep(&(struct timespec){0, PIECE_MILLISECONDS * 1000000}, NULL);
  return write(sink_file, data, size) == (ssize_t)size;
}

/* While the main thread waits in gotrace_stop, a signal handler calls exit. If the handler comes before that wait, it
 * interrupts a call that holds a lock, and exit does not wait: then the test tries again. */
static pthread_t main_thread;
static void exit_in_handler(int number) {
  (void)number;
  exit(7);
}
static bool sink_and_signal(void *context, const void *data, size_t size) {
  static bool sent;
  (void)context;
  if (size > 16 && !sent) { /* not the header */
    sent = true;
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    CHECK(pthread_kill(main_thread, SIGUSR1) == 0);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
  }
  return write(sink_file, data, size) == (ssize_t)size;
}

enum {
  RETURN,
  EXIT,
  THREAD_EXIT,
  PTHREAD_EXIT,
  PTHREAD_EXIT_ALONE,
  FLIGHT,
  SINK,
  KILL_WITHOUT_CUT,
  STALLED,
  STALLED_ALONE,
  STALLED_SNAPSHOT,
  SLOW,
  HANDLER,
  WAYS
};
static const char *const ways[] = {"main returns",
                                   "exit",
                                   "a thread calls exit",
                                   "pthread_exit of main",
                                   "pthread_exit, alone",
                                   "pthread_exit with a flight recorder",
                                   "exit in the sink",
                                   "_exit",
                                   "a pipe that nobody reads",
                                   "pthread_exit, with a pipe that nobody reads",
                                   "a snapshot that does not move",
                                   "a slow sink",
                                   "exit in a signal handler inside gotrace_stop"};

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
  } else if (way == PTHREAD_EXIT_ALONE) {
    char value[100];
    snprintf(value, sizeof value, "%s,stats,format=1.%d", path, (int)format - 1000);
    CHECK(setenv("GOTRACE", value, 1) == 0 && freopen(printed, "w", stderr) == stderr);
    CHECK_EQUAL(gotrace_start_environment(), GOTRACE_OK);
  } else if (way == STALLED_SNAPSHOT) {
    if (format < GOTRACE_GO_1_22) options.format = GOTRACE_GO_1_22;
    options.exit_milliseconds = 50;
    CHECK_EQUAL(gotrace_flight_start(&options), GOTRACE_OK);
    gotrace_log(GOTRACE_NO_TASK, "main", "message");
    CHECK(pthread_create(&thread, NULL, take_snapshot, NULL) == 0);
    while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE)) sched_yield();
    return status;
  } else if (way == SLOW || way == HANDLER) {
    char text[1020];
    int i;
    CHECK((sink_file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600)) >= 0);
    options.late = true; /* everything is written at the end */
    options.write = way == SLOW ? slow_sink : sink_and_signal;
    options.exit_milliseconds = way == SLOW ? SLOW_PIECES * PIECE_MILLISECONDS / 2 : UINT32_MAX;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
    for (i = 0; i < MANY_LOGS; i++) {
      snprintf(text, sizeof text, "%01010d", i); /* a string of its own */
      gotrace_log(GOTRACE_NO_TASK, "main", text);
    }
    if (way == SLOW) return status;
    main_thread = pthread_self();
    CHECK(signal(SIGUSR1, exit_in_handler) != SIG_ERR);
    (void)gotrace_stop();
    return 1;
  } else if (way == SINK) {
    options.write = exit_in_sink;
    CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  } else if (way == STALLED ||
             way == STALLED_ALONE) { /* no call but gotrace_stop waits for its reader, and exit only for a while */
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
    if (way == STALLED_ALONE) pthread_exit(NULL);
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

/* After a minute, kills the child: the alarm does not end one whose main thread has ended, since the service thread
 * blocks all signals. */
static void await_child(pid_t pid, int *status) {
  pid_t ended;
  int tries;
  for (tries = 0; (ended = waitpid(pid, status, WNOHANG)) == 0 && tries < 6000; tries++)
    nanosleep(&(struct timespec){0, 10000000}, NULL);
  if (ended == 0) {
    CHECK(kill(pid, SIGKILL) == 0);
    ended = waitpid(pid, status, 0);
  }
  CHECK(ended == pid);
}

int main(int argc, char **argv) {
  static const int statuses[WAYS] = {7, 7, 7, 0, 0, 0, 7, 7, 7, 0, 7, 7, 7};
  unsigned way, tries = 0;
  size_t i;
  int status;
  if (argc > 3) {
    snprintf(path, sizeof path, "%s", argv[3]);
    snprintf(printed, sizeof printed, "%s.text", path);
    return child((unsigned)atoi(argv[1]), (gotrace_format)atoi(argv[2]));
  }
  snprintf(path, sizeof path, "/tmp/gotrace-exit-%d.trace", (int)getpid());
  snprintf(printed, sizeof printed, "%s.text", path);
  for (way = 0; way < WAYS; way++)
    for (i = 0; i < TEST_FORMATS; i++) {
      char number[8], format[8];
      bool waits = way >= PTHREAD_EXIT && way <= FLIGHT; /* up to a second, until the service thread checks */
      bool many = way == SLOW || way == HANDLER, complete;
      uint64_t logs;
      pid_t pid;
      if ((waits || way > STALLED) && i % 4) continue;
      if (many && test_formats[i] < GOTRACE_GO_1_11) continue;
      snprintf(number, sizeof number, "%u", way);
      snprintf(format, sizeof format, "%d", (int)test_formats[i]);
      remove(path);
      CHECK((pid = fork()) >= 0);
      if (pid == 0) {
        execl(argv[0], argv[0], number, format, path, (char *)NULL);
        _exit(127);
      }
      await_child(pid, &status);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != statuses[way])
        fprintf(stderr, "%s, format %s: status %d\n", ways[way], format, status);
      CHECK(WIFEXITED(status) && WEXITSTATUS(status) == statuses[way]);
      if (way == FLIGHT || way == SINK || (way >= STALLED && way <= STALLED_SNAPSHOT)) continue;
      if (way == PTHREAD_EXIT_ALONE) {
        test_bytes text = {NULL, 0, 0};
        test_load(&text, printed);
        test_append(&text, "", 1);
        CHECK(strstr((char *)text.data, " events, "));
        test_free(&text);
        CHECK(remove(printed) == 0);
      }
      logs = logs_in_trace(&complete);
      if (many && !(complete && logs == MANY_LOGS) && ++tries < TRIES) {
        i--;
        continue;
      }
      CHECK(complete);
      if (test_formats[i] < GOTRACE_GO_1_11) CHECK_EQUAL(logs, 0);
      else if (way == KILL_WITHOUT_CUT) CHECK(logs <= 1);
      else CHECK_EQUAL(logs, many ? MANY_LOGS : way == THREAD_EXIT || way == PTHREAD_EXIT ? 2 : 1);
    }
  remove(path);
  return 0;
}
