/* namespaces.c - processes that will not reach the recorder's files any more: see board.h
 *
 * Before a process enters a namespace or another root directory, it connects to a socket of the recorder's, which its
 * children and the programs that they execute inherit. So this is the only descriptor that a program has because it is
 * recorded, and only then. */

#include "preload.h"

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>

/* Not reported as the program's calls. */
#define sendmsg(socket, message, flags) REAL(sendmsg)(socket, message, flags)
#define recvmsg(socket, message, flags) REAL(recvmsg)(socket, message, flags)
#define close(file) REAL(close)(file)
#include "../messages.h"

#define PATIENCE (2 * BOX_PATIENCE * 100) /* milliseconds; more than the recorder has */

static int recorder_socket = -1;

/* Whether a descriptor still is that socket. A program may close any descriptor, and then use its number again. */
static bool leads_to_recorder(int file, int keeper) {
  struct sockaddr_un address, peer;
  struct ucred other;
  socklen_t size = address_for(&address, FOR_QUESTIONS, keeper), peer_size = sizeof peer, other_size = sizeof other;
  return file >= 0 && getpeername(file, (struct sockaddr *)&peer, &peer_size) == 0 && peer_size == size &&
         memcmp(&peer, &address, size) == 0 && getsockopt(file, SOL_SOCKET, SO_PEERCRED, &other, &other_size) == 0 &&
         other.uid == geteuid();
}

/* Connects to the recorder, if it belongs to this user. */
static int connect_to(int keeper) {
  const struct timeval patience = {1, 0}; /* the recorder answers at once, unless it has been stopped */
  struct sockaddr_un address;
  struct rlimit limit;
  socklen_t size = address_for(&address, FOR_QUESTIONS, keeper);
  int first = REAL(socket)(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), kept = -1;
  if (first < 0) return -1;
  if (setsockopt(first, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
      REAL(syscall)(SYS_connect, first, &address, size) == 0 && leads_to_recorder(first, keeper) &&
      getrlimit(RLIMIT_NOFILE, &limit) == 0) /* not one of the numbers that the program would get */
    kept = REAL(fcntl)(first, F_DUPFD, limit.rlim_cur > 2000 ? 1000 : (int)limit.rlim_cur / 2);
  close(first);
  return kept;
}

void connect_to_recorder(void) {
  int kept = errno, cancel;
  if (!state.settings || !state.children || in_sandbox()) return;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  if (!leads_to_recorder(recorder_socket, state.settings->keeper_pid))
    recorder_socket = connect_to(state.settings->keeper_pid);
  pthread_setcancelstate(cancel, &cancel);
  if (recorder_socket >= 0) set_board_socket(recorder_socket);
  errno = kept;
}

/* Also if signal handlers interrupt the wait. */
static bool await(int file, short events) {
  struct pollfd ready = {file, events, 0};
  struct timespec begin, now;
  int left = PATIENCE, result;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  while ((result = REAL(poll)(&ready, 1, left)) < 0 && errno == EINTR && left > 0) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    left = PATIENCE - (int)(now.tv_sec - begin.tv_sec) * 1000;
  }
  return result > 0;
}

/* Returns the connection, on which the recorder has answered; -1: see errno. */
static int ask(int32_t pid, struct board_answer *answer, int files[BOARD_FILES]) {
  struct board_question question;
  int ends[2];
  memset(&question, 0, sizeof question);
  question.pid = pid;
  snprintf(question.program, sizeof question.program, "%s", program_invocation_short_name);
  if (!await(recorder_socket, POLLOUT)) return errno = ETIMEDOUT, -1;
  if (REAL(socketpair)(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  if (send_message(recorder_socket, &question, sizeof question, &ends[1], 1)) {
    close(ends[1]);
    errno = ETIMEDOUT;
    if (await(ends[0], POLLIN) && receive_message(ends[0], answer, sizeof *answer, files, BOARD_FILES, NULL)) {
      if (!answer->error) return ends[0];
      errno = answer->error;
    }
  } else {
    close(ends[1]);
  }
  close(ends[0]);
  return -1;
}

int ask_for_box(int files[BOARD_FILES], uint32_t *index) {
  struct board_answer answer = {0, 0};
  int connection = -1;
  if (leads_to_recorder(recorder_socket, state.settings->keeper_pid))
    connection = ask((int32_t)state.pid, &answer, files);
  *index = answer.index;
  return connection;
}

/* Returns when the recorder has taken note, and therefore closed the connection. Otherwise the process could end before
 * its trace counts as started. */
void say_started(int connection, const struct board_start *start) {
  if (send_message(connection, start, sizeof *start, NULL, 0)) await(connection, POLLIN);
  close(connection);
}

int ask_for_settings(int socket, int keeper) {
  struct board_answer answer;
  int files[BOARD_FILES], connection;
  if (!leads_to_recorder(socket, keeper)) return errno = ENOTCONN, -1;
  recorder_socket = socket;
  connection = ask(0, &answer, files);
  if (connection < 0) return -1;
  close(connection);
  return files[BOARD_SETTINGS];
}

bool can_ask(void) {
  int settings = ask_for_settings(recorder_socket, state.settings->keeper_pid);
  if (settings >= 0) close(settings);
  return settings >= 0;
}

/* --------------------------------------------------------------------------------------------------- functions ---- */

static void before_namespaces(unsigned long flags) {
  if (flags & (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET)) connect_to_recorder();
}

EXPORT int unshare(int flags) {
  before_namespaces((unsigned long)flags);
  return REAL(unshare)(flags);
}

EXPORT int setns(int file, int kind) {
  connect_to_recorder();
  return REAL(setns)(file, kind);
}

EXPORT int chroot(const char *path) {
  connect_to_recorder();
  return REAL(chroot)(path);
}

/* What a child that has a copy of the memory runs. */
struct first {
  int (*function)(void *);
  void *argument;
  enum copy before;
};

static int begin_copy(void *what) {
  const struct first *first = what;
  int result;
  after_copy(first->before);
  result = first->function(first->argument);
  finish_trace(); /* the C library then ends the process by a system call of its own */
  return result;
}

/* Whether the caller has given the last three does not matter: nothing looks at them then. */
EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...) {
  struct first first = {function, argument, before_copy()};
  void *last[3];
  unsigned i;
  va_list arguments;
  va_start(arguments, argument);
  for (i = 0; i < COUNT(last); i++) last[i] = va_arg(arguments, void *);
  va_end(arguments);
  before_namespaces((unsigned long)flags);
  if (function && !(flags & CLONE_VM)) return REAL(clone)(begin_copy, stack, flags, &first, last[0], last[1], last[2]);
  return REAL(clone)(function, stack, flags, argument, last[0], last[1], last[2]);
}

/* The same by syscall(). */
void before_system_call(long number, const long a[6]) {
  switch (number) {
  case SYS_unshare:
  case SYS_clone: before_namespaces((unsigned long)a[0]); break;
#ifdef SYS_clone3
  case SYS_clone3:
    if (a[0]) before_namespaces(*(const uint64_t *)a[0]); /* the flags come first */
    break;
#endif
  case SYS_setns:
  case SYS_chroot: connect_to_recorder(); break;
  }
}
