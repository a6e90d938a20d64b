/* process.c - fork, exec, exit: see preload.h */

#include "preload.h"

#include <alloca.h>
#include <stdarg.h>
#include <sys/syscall.h>

extern char **environ;
extern char board_assignment[];

/* ------------------------------------------------------------------------------------------------------------ fork ----
 *
 * A child is traced with --children, into its own file, from the return of fork on: during it, the program's allocator may
 * hold its locks.
 */

static void after_fork(void) {
  __atomic_store_n(&state.recording, 0u, __ATOMIC_RELEASE);
  self.inside = 0;
  self.waits = self.in_system_call = false;
  memset(waiters, 0, sizeof waiters);
  threads_after_fork();
  locks_after_fork();
  io_after_fork();
  if (state.children) start_trace(true);
}

EXPORT pid_t fork(void) {
  pid_t child;
  bool was = tracing();
  if (!was) return REAL(fork)();
  ENTER(fork);
  child = real.fork();
  LEAVE();
  if (child == 0) after_fork();
  return child;
}

/* Runs no handlers of pthread_atfork: the tracer cannot be used in the child. */
EXPORT pid_t _Fork(void) {
  pid_t child = REAL(_Fork)();
  if (child == 0) __atomic_store_n(&state.recording, 0u, __ATOMIC_RELEASE);
  return child;
}

EXPORT int daemon(int stay, int keep) {
  bool was = tracing();
  int result;
  if (was) finish_trace(); /* the parent ends in it */
  result = REAL(daemon)(stay, keep);
  if (was && result == 0) after_fork();
  return result;
}

/* ------------------------------------------------------------------------------------------------------------ exec ----
 *
 * The new program is traced too if it replaces the first one, as behind a shell script's exec or env, or with --children.
 */

#define FEW_EVENTS 64

/* Ends the trace of a process that is about to execute another program, unless that will fail. */
static void before_exec(const char *path, bool search) {
  struct board_process *entry = state.entry;
  bool found = false;
  int kept = errno;
  if (!__atomic_load_n(&state.recording, __ATOMIC_ACQUIRE) || (int)REAL(syscall)(SYS_getpid) != state.pid || !path) return;
  if (!search || strchr(path, '/')) {
    found = access(path, X_OK) == 0;
  } else {
    const char *at = getenv("PATH"), *end;
    char full[BOARD_PATH];
    for (at = at ? at : "/bin:/usr/bin"; !found; at = end + 1) {
      end = at + strcspn(at, ":");
      if ((size_t)(end - at) + strlen(path) + 2 < sizeof full) {
        snprintf(full, sizeof full, "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "", path);
        found = access(full, X_OK) == 0;
      }
      if (!*end) break;
    }
  }
  if (found) {
    finish_trace();
    if (entry->events < FEW_EVENTS && !state.board->flight_milliseconds) {
      __atomic_store_n(&entry->state, (uint32_t)PROCESS_DROPPED, __ATOMIC_RELEASE);
      unlink(entry->path);
    } else {
      __atomic_store_n(&entry->state, (uint32_t)PROCESS_REPLACED, __ATOMIC_RELEASE);
    }
  }
  errno = kept;
}

static bool follows(void) {
  return state.board && (state.children || (int)REAL(syscall)(SYS_getpid) == state.board->first_pid);
}

static size_t count_words(char *const *words) {
  size_t count = 0;
  while (words && words[count]) count++;
  return count;
}

/* An environment with the library: ROOM more strings than `from`, and one of PRELOAD_ROOM bytes. */
#define ROOM 3
#define PRELOAD_ROOM(from) (sizeof "LD_PRELOAD=" + 1 + sizeof state.board->library + strlen(preload_of(from)))

static const char *preload_of(char *const *environment) {
  for (; environment && *environment; environment++)
    if (strncmp(*environment, "LD_PRELOAD=", 11) == 0) return *environment + 11;
  return "";
}

static char *const *with_library(char *const *from, char **to, char *preload, size_t room) {
  const char *old = preload_of(from), *library = state.board->library;
  size_t count = 0;
  bool there = strncmp(old, library, strlen(library)) == 0;
  for (; from && *from; from++)
    if ((there || strncmp(*from, "LD_PRELOAD=", 11) != 0) && strncmp(*from, BOARD_VARIABLE "=", sizeof BOARD_VARIABLE) != 0)
      to[count++] = *from;
  if (!there) {
    snprintf(preload, room, "LD_PRELOAD=%s%s%s", library, *old ? ":" : "", old);
    to[count++] = preload;
  }
  to[count++] = board_assignment;
  to[count] = NULL;
  return to;
}

#define WITH_LIBRARY(environment)                                                                            \
  do {                                                                                                       \
    if (follows()) {                                                                                         \
      size_t preload_room = PRELOAD_ROOM(environment);                                                       \
      environment = with_library(environment, alloca((count_words(environment) + ROOM) * sizeof(char *)),    \
                                 alloca(preload_room), preload_room);                                        \
    }                                                                                                        \
  } while (0)

EXPORT int execve(const char *path, char *const *words, char *const *environment) {
  WITH_LIBRARY(environment);
  before_exec(path, false);
  return REAL(execve)(path, words, environment);
}

EXPORT int execvpe(const char *path, char *const *words, char *const *environment) {
  WITH_LIBRARY(environment);
  before_exec(path, true);
  return REAL(execvpe)(path, words, environment);
}

EXPORT int fexecve(int fd, char *const *words, char *const *environment) {
  WITH_LIBRARY(environment);
  before_exec("/", false);
  return REAL(fexecve)(fd, words, environment);
}

EXPORT int execv(const char *path, char *const *words) { return execve(path, words, environ); }
EXPORT int execvp(const char *path, char *const *words) { return execvpe(path, words, environ); }

/* The words of a call with a variable number of them; `count` includes the NULL at the end. */
#define COLLECT(words, first)                                                                   \
  do {                                                                                          \
    va_list arguments;                                                                          \
    size_t count = 1, i;                                                                        \
    va_start(arguments, first);                                                                 \
    while (first && va_arg(arguments, char *)) count++;                                         \
    va_end(arguments);                                                                          \
    words = alloca((count + 1) * sizeof *words);                                                \
    memcpy(&words[0], &first, sizeof words[0]);                                                 \
    va_start(arguments, first);                                                                 \
    for (i = 1; i < count; i++) words[i] = va_arg(arguments, char *);                           \
    words[count] = NULL;                                                                        \
    va_end(arguments);                                                                          \
  } while (0)

EXPORT int execl(const char *path, const char *first, ...) {
  char **words;
  COLLECT(words, first);
  return execve(path, words, environ);
}

EXPORT int execlp(const char *path, const char *first, ...) {
  char **words;
  COLLECT(words, first);
  return execvpe(path, words, environ);
}

EXPORT int execle(const char *path, const char *first, ...) {
  char **words, *const *environment;
  va_list all;
  COLLECT(words, first);
  va_start(all, first);
  while (first && va_arg(all, char *)) continue;
  environment = va_arg(all, char *const *);
  va_end(all);
  return execve(path, words, environment);
}

#define SPAWN(name)                                                                                              \
  EXPORT int name(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,                     \
                  const posix_spawnattr_t *attributes, char *const *words, char *const *environment) {           \
    int result;                                                                                                  \
    if (state.children) WITH_LIBRARY(environment);                                                               \
    if (!tracing() || state.only_waits) return REAL(name)(child, path, actions, attributes, words, environment); \
    ENTER(name);                                                                                                 \
    begin_system_call();                                                                                         \
    result = real.name(child, path, actions, attributes, words, environment);                                    \
    end_system_call();                                                                                           \
    LEAVE();                                                                                                     \
    return result;                                                                                               \
  }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

/* ------------------------------------------------------------------------------------------------------------ exit ---- */

EXPORT __attribute__((noreturn)) void _exit(int status) {
  finish_trace();
  REAL(_exit)(status);
  __builtin_unreachable();
}

EXPORT __attribute__((noreturn)) void _Exit(int status) { _exit(status); }
