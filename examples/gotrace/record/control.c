/* control.c - gotrace ctl: see control.h */

#include "control.h"

#include "../command/commands.h"
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASK_STATS = 1, ASK_TRACE, ASK_START, ASK_STOP }; /* a byte */

/* With ASK_TRACE comes the trace's file, open to read, of which `size` bytes are complete. */
typedef struct answer {
  uint32_t refused; /* errno; 0: answered */
  uint64_t size;
  struct recorder_stats stats;
} answer;

/* Whether root or this user is at the other end. */
static bool is_friend(int connection) {
  struct ucred other;
  socklen_t size = sizeof other;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
         (other.uid == 0 || other.uid == geteuid());
}

/* ---------------------------------------------------------------------------------------------------- recorder ---- */

static int listener = -1;
static pid_t about; /* the program; 0: there is none */

void control_begin(pid_t process) {
  struct sockaddr_un address;
  socklen_t size = address_for(&address, FOR_CONTROL, process);
  about = process;
  listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0 || (bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 4) == 0)) return;
  close(listener);
  listener = -1;
}

void control_end(void) {
  if (listener >= 0) close(listener);
  listener = -1;
  about = 0;
}

/* What the flight recorder keeps, as a file in memory; -1: see errno. */
static int open_kept(const recorder *r, answer *a) {
  int file = memfd_create("gotrace snapshot", MFD_CLOEXEC), failure;
  if (file < 0) return -1;
  if (recorder_write_kept(r, file)) {
    a->size = (uint64_t)lseek(file, 0, SEEK_CUR);
    return file;
  }
  failure = errno;
  close(file);
  errno = failure;
  return -1;
}

/* The trace's file, open to read; -1: see errno. */
static int open_to_read(int trace, answer *a) {
  char path[64];
  struct stat status;
  int file;
  if (trace < 0 || fstat(trace, &status) != 0 || !S_ISREG(status.st_mode)) {
    errno = trace < 0 ? EAGAIN : ESPIPE;
    return -1;
  }
  snprintf(path, sizeof path, "/proc/self/fd/%d", trace);
  file = open(path, O_RDONLY | O_CLOEXEC);
  a->size = (uint64_t)status.st_size;
  return file;
}

/* Who may ask is waited for a moment. Anybody else gets no answer, and could otherwise keep the recorder from reading.
 */
static void answer_one(int connection, recorder *r, int trace, void (*start)(void), void (*stop)(void)) {
  struct pollfd ready = {connection, POLLIN, 0};
  answer a;
  char what = 0;
  int file = -1;
  memset(&a, 0, sizeof a);
  if (!is_friend(connection)) return;
  if (poll(&ready, 1, 100) <= 0 || recv(connection, &what, 1, MSG_DONTWAIT) != 1) return;
  if (r) recorder_get_stats(r, &a.stats);
  if (!r) {
    a.refused = ESHUTDOWN;
  } else if (what == ASK_START) {
    if (recorder_is_paused(r)) start();
    else a.refused = EALREADY;
  } else if ((what == ASK_TRACE || what == ASK_STOP) && recorder_is_paused(r)) {
    a.refused = EAGAIN;
  } else if (what == ASK_STOP) {
    stop();
  } else if (what == ASK_TRACE) {
    recorder_cut(r, trace);
    file = recorder_keeps(r) ? open_kept(r, &a) : open_to_read(trace, &a);
    if (file < 0) a.refused = (uint32_t)errno;
  } else if (what != ASK_STATS) {
    a.refused = EINVAL;
  }
  send_message(connection, &a, sizeof a, &file, 1);
  if (file >= 0) close(file);
}

void control_answer(recorder *r, int trace, void (*start)(void), void (*stop)(void)) {
  int connection;
  if (listener < 0 && about) control_begin(about); /* another recorder had it, which records this one */
  if (!control_wait(0)) return;                    /* accept itself makes a socket before it looks */
  connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (connection < 0) return;
  answer_one(connection, r, trace, start, stop);
  close(connection);
}

bool control_wait(int milliseconds) {
  struct pollfd asked = {listener, POLLIN, 0}; /* poll leaves out -1 */
  return poll(&asked, 1, milliseconds) > 0;
}

/* ----------------------------------------------------------------------------------------------------- command ---- */

#define PATIENCE 10000 /* milliseconds */

static int connect_to(long process) {
  struct sockaddr_un address;
  socklen_t size = address_for(&address, FOR_CONTROL, process);
  int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (connection < 0) fail("socket: %s", strerror(errno));
  if (connect(connection, (struct sockaddr *)&address, size) == 0) return connection;
  close(connection);
  return -1;
}

static bool is_recorded(long process) {
  int connection = connect_to(process);
  if (connection >= 0) close(connection);
  return connection >= 0;
}

/* `file`: what comes with the answer; -1: nothing. */
static bool is_answered(int connection, char what, answer *a, int *file) {
  struct pollfd ready = {connection, POLLIN, 0};
  return send(connection, &what, 1, MSG_NOSIGNAL) == 1 && poll(&ready, 1, PATIENCE) > 0 &&
         receive_message(connection, a, sizeof *a, file, 1, NULL);
}

/* What a file of the process's in /proc begins with; "": it cannot be read. */
typedef char proc_text[512];
static const char *read_proc(long process, const char *name, proc_text text) {
  char path[64];
  size_t size = 0;
  FILE *file;
  snprintf(path, sizeof path, "/proc/%ld/%s", process, name);
  file = fopen(path, "re");
  if (file) size = fread(text, 1, sizeof(proc_text) - 1, file);
  if (file) fclose(file);
  text[size] = 0;
  return text;
}

static bool is_this_tool(long process) {
  struct stat own, its;
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/exe", process);
  return stat("/proc/self/exe", &own) == 0 && stat(path, &its) == 0 && own.st_dev == its.st_dev &&
         own.st_ino == its.st_ino;
}

static long parent_of(long process) {
  proc_text text;
  const char *name_ends = strrchr(read_proc(process, "stat", text), ')');
  long parent = 0;
  return name_ends && sscanf(name_ends, ") %*c %ld", &parent) == 1 ? parent : 0;
}

__attribute__((noreturn)) static void explain_unrecorded(long process) {
  char name[64];
  proc_text text;
  const char *at;
  long other;
  int size, connection, file;
  answer a;
  if (kill((pid_t)process, 0) != 0 && errno == ESRCH) fail("there is no process %ld", process);
  snprintf(name, sizeof name, "task/%ld/children", process);
  if (!is_this_tool(process)) text[0] = 0;
  else read_proc(process, name, text);
  for (at = text; sscanf(at, "%ld%n", &other, &size) == 1; at += size)
    if (is_recorded(other))
      fail("process %ld is the recorder: the program that it records is process %ld", process, other);
  for (other = process; (other = parent_of(other)) > 1;) {
    if ((connection = connect_to(other)) < 0) continue;
    if (is_answered(connection, ASK_STATS, &a, &file) && a.refused == ESHUTDOWN)
      fail("process %ld is not recorded: the recording of process %ld, from which it descends, has been stopped",
           process, other);
    fail("process %ld is not recorded; process %ld, from which it descends, is: gotrace record --children records such "
         "processes",
         process, other);
  }
  fail("process %ld is not recorded by gotrace record", process);
}

/* Asks the recorder of a program. Returns the file that comes with the answer; -1: none. */
static int ask(long process, char what, answer *a) {
  int connection = connect_to(process), file = -1;
  if (connection < 0) explain_unrecorded(process);
  if (!is_friend(connection)) fail("process %ld is recorded by another user", process);
  if (!is_answered(connection, what, a, &file))
    fail("the recorder of process %ld does not answer: only its own user and root may ask", process);
  close(connection);
  if (a->refused == EAGAIN) fail("process %ld has not begun to record", process);
  if (a->refused == ESHUTDOWN) fail("the recording of process %ld has been stopped", process);
  if (a->refused == EALREADY) fail("process %ld is recorded already", process);
  if (a->refused == ESPIPE)
    fail("the trace of process %ld goes to no regular file, from which it could be read", process);
  if (a->refused) fail("the recorder of process %ld: %s", process, strerror((int)a->refused));
  return file;
}

/* A copy of the trace so far, in memory. */
static int copy_trace(int from, uint64_t size) {
  static char block[1 << 16];
  int to = memfd_create("gotrace ctl", MFD_CLOEXEC);
  uint64_t at;
  ssize_t n = 0;
  if (to < 0) fail("memory: %s", strerror(errno));
  for (at = 0; at < size; at += (uint64_t)n) {
    n = pread(from, block, size - at < sizeof block ? (size_t)(size - at) : sizeof block, (off_t)at);
    if (n <= 0 || write(to, block, (size_t)n) != n)
      fail("the trace cannot be copied: %s", n ? strerror(errno) : "it has become shorter");
  }
  lseek(to, 0, SEEK_SET);
  return to;
}

/* Writes a trace with the names that debug information knows. As root not those of another user's process, which names
 * the files to read. */
static void write_named(int trace, const char *name, output *out, long process) {
  char path[32];
  struct stat owner;
  symbolizer *s;
  input in;
  snprintf(path, sizeof path, "/proc/%ld", process);
  if (!input_open_file(&in, name, trace, true)) exit(1);
  if (geteuid() == 0 && (stat(path, &owner) != 0 || owner.st_uid != 0)) {
    size_t size;
    const uint8_t *data = input_bytes(&in, &size);
    put_data(&out->block, data, size);
  } else {
    s = symbolizer_new(NULL);
    symbolizer_look(s, &in);
    symbolizer_find(s);
    symbolizer_write(s, &in, out);
    symbolizer_free(s);
  }
  input_close(&in);
}

static void print_stats(const struct recorder_stats *s) {
  char time[32];
  if (s->paused) printf("paused       until gotrace ctl start\n");
  printf("events       %llu\n", (ull)s->events);
  printf("threads      %llu\n", (ull)s->threads);
  printf("last cut     %s ago\n", duration_text((double)s->since_cut, time));
  printf("memory       %.1f of %.1f MB\n", (double)s->used / 1e6, (double)s->size / 1e6);
  printf("waits        %llu, of threads for room\n", (ull)s->waits);
  printf("problems     %llu\n", (ull)s->problems);
}

int command_ctl(char **words, int count, const settings *set) {
  char *end, path[64];
  long process = strtol(words[0], &end, 10);
  answer a;
  output out;
  int file, named;
  if (count != 2) usage("ctl takes a process id, and one of waits, snapshot, stats, start and stop");
  if (*end || process <= 0) usage("'%s' is no process id", words[0]);
  if (strcmp(words[1], "stats") == 0) {
    ask(process, ASK_STATS, &a);
    print_stats(&a.stats);
    return 0;
  }
  if (strcmp(words[1], "start") == 0 || strcmp(words[1], "stop") == 0) {
    ask(process, strcmp(words[1], "start") == 0 ? ASK_START : ASK_STOP, &a);
    return 0;
  }
  if (strcmp(words[1], "snapshot") != 0 && strcmp(words[1], "waits") != 0)
    usage("'%s' is none of waits, snapshot, stats, start and stop", words[1]);
  if (*words[1] == 's' && !set->output) usage("snapshot needs -o OUT");
  file = ask(process, ASK_TRACE, &a);
  if (file < 0) fail("the recorder of process %ld sends no trace", process);
  file = copy_trace(file, a.size);
  if (*words[1] == 's') {
    output_open(&out, set->output);
    write_named(file, "the trace", &out, process);
    output_close(&out);
    return 0;
  }
  named = memfd_create("gotrace ctl", MFD_CLOEXEC);
  if (named < 0) fail("memory: %s", strerror(errno));
  snprintf(path, sizeof path, "/proc/self/fd/%d", named);
  output_of_file(&out, path, dup(named));
  write_named(file, "the trace", &out, process);
  output_flush(&out);
  output_drop(&out);
  return command_waits(path, set);
}
