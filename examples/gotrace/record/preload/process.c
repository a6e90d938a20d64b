/* process.c - fork, exec, dlclose, exit: see preload.h */

#include "preload.h"

#include "unwind.h"

#include <alloca.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Not reported as the program's calls. */
#define pread(file, to, size, offset) REAL(pread)(file, to, size, offset)
#define close(file) REAL(close)(file)
#define prctl(...) REAL(prctl)(__VA_ARGS__)
#include "../executable.h"
#undef pread
#undef close
#undef prctl

extern char **environ;
extern char board_assignment[]; /* of the variable */

/* ----------------------------------------------------------------------------------------------------------- fork ----
 *
 * With --children, a child is traced into its own file, from the return of fork on. Not earlier: during fork, the
 * program's allocator may hold its locks. A signal handler that interrupted a function of the library may fork as well.
 * Its child is outside of that function; when the handler returns there, the function reports nothing more.
 */

static void after_fork(void) {
  self.inside = 0;
  forget_wait();
  memset(waiters, 0, sizeof waiters);
  threads_after_fork();
  locks_after_fork();
  io_after_fork();
  if (!state.children) return;
  start_trace();
  if (__atomic_load_n(&recording.on, __ATOMIC_RELAXED))
    begin_forked_thread(); /* it knows nothing of the parent's wait */
}

EXPORT pid_t fork(void) {
  pid_t child;
  bool outside = tracing(), was = __atomic_load_n(&recording.on, __ATOMIC_RELAXED), blocks = !self.blocks_ticks;
  int error = 0;
  if (outside) ENTER(fork);
  bool counts = was && state.children && (error = look_for_files()) == 0;
  if (counts) count_fork(true);
  if (blocks) block_ticks(); /* before Linux 4.19 each signal makes fork begin again */
  child = REAL(fork)();
  if (blocks) unblock_ticks();
  if (child < 0) count_fork(false);
  if (child > 0) end_fork(), say_unreached(error);
  if (outside) LEAVE();
  if (was && child == 0) after_fork();
  return child;
}

enum copy before_copy(void) {
  if (!__atomic_load_n(&recording.on, __ATOMIC_RELAXED)) return COPY_UNTRACED;
  return is_call_interrupted() ? COPY_IN_CALL : COPY_TRACED;
}

/* A program's own tracer cannot be used there. */
void after_copy(enum copy of) {
  bool of_program = is_program_traced();
  if (of == COPY_UNTRACED) return;
  if (of_program) lose_program();
  else leave_box(of == COPY_IN_CALL);
  forget_trace();
  if (of == COPY_TRACED && !of_program) after_fork();
}

EXPORT pid_t _Fork(void) {
  enum copy before = before_copy();
  pid_t child = REAL(_Fork)();
  if (child == 0) after_copy(before);
  return child;
}

EXPORT int daemon(int stay, int keep) {
  bool was = tracing();
  int result;
  if (was && state.children) count_fork(true);
  if (was) finish_trace(); /* the parent exits inside daemon() */
  result = REAL(daemon)(stay, keep);
  if (result != 0) count_fork(false);
  if (was && result == 0) {
    forget_descriptors(); /* the standard ones are other files now */
    after_fork();
  }
  return result;
}

/* ----------------------------------------------------------------------------------------------------------- exec ----
 *
 * The new program is also traced if it replaces the first one, as after exec in a shell script or env, or with
 * --children.
 */

/* The library for a program, or for the interpreter of a script. A process that has changed its root directory or its
 * user may not reach it; then the dynamic linker would print an error. */
static int find_library(const char *path) {
  char needs[BOARD_PATH];
  unsigned depth;
  executable kind = read_executable(path, needs, sizeof needs);
  int library;
  for (depth = 0; kind == EXECUTABLE_SCRIPT && depth < MOST_INTERPRETERS; depth++)
    kind = read_executable(needs, needs, sizeof needs);
  if (kind != EXECUTABLE_DYNAMIC) return -1;
  library = strstr(needs, "ld-musl") ? RECORD_MUSL : RECORD_GNU;
  return access(state.settings->library[library], R_OK) == 0 ? library : -1;
}

int library_for(const char *path) {
  int kept = errno, found = find_library(path);
  errno = kept;
  return found;
}

int why_unreached(const char *path) {
  char needs[BOARD_PATH];
  executable kind = EXECUTABLE_SCRIPT;
  unsigned depth;
  bool other_rights = false;
  int kept = errno;
  if (!path) return look_for_files();
  for (depth = 0; kind == EXECUTABLE_SCRIPT && depth <= MOST_INTERPRETERS; depth++) {
    other_rights = gives_rights(path);
    kind = read_executable(path, needs, sizeof needs);
    path = needs;
  }
  errno = kept;
  if (kind == EXECUTABLE_STATIC || kind == EXECUTABLE_FOREIGN || (other_rights && kind != EXECUTABLE_SCRIPT))
    return UNREACHED_PROGRAM;
  return look_for_files();
}

/* The rest of LD_PRELOAD after this library. */
const char *without_library(const char *preload) {
  unsigned i;
  for (i = RECORD_GNU; i <= RECORD_MUSL; i++) {
    const char *library = state.settings->library[i];
    size_t size = strlen(library);
    if (size && strncmp(preload, library, size) == 0 && (!preload[size] || preload[size] == ':'))
      preload += size + (preload[size] == ':');
  }
  return preload;
}

static bool is_executable(const char *path) {
  struct stat status;
  return access(path, X_OK) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Where exec finds a program; NULL: nowhere. `full`: BOARD_PATH bytes. */
static const char *locate(const char *path, bool search, char *full) {
  const char *at = getenv("PATH"), *end, *found = NULL;
  int kept = errno;
  if (!path) return NULL;
  if (!search || strchr(path, '/')) {
    if (is_executable(path)) found = path;
  } else {
    for (at = at ? at : "/bin:/usr/bin"; !found; at = end + 1) {
      end = at + strcspn(at, ":");
      if ((size_t)(end - at) + strlen(path) + 2 < BOARD_PATH) {
        snprintf(full, BOARD_PATH, "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "", path);
        if (is_executable(full)) found = full;
      }
      if (!*end) break;
    }
  }
  errno = kept;
  return found;
}

static bool follows(void) {
  return state.settings && (state.children || (int)REAL(syscall)(SYS_getpid) == state.settings->first_pid);
}

/* Whether an environment is that of another recorder, for its program. */
static bool is_of_other(char *const *environment) {
  const size_t name = sizeof BOARD_VARIABLE, own = (size_t)(strrchr(board_assignment, ':') - board_assignment) + 1;
  for (; environment && *environment; environment++)
    if (strncmp(*environment, BOARD_VARIABLE "=", name) == 0) return strncmp(*environment, board_assignment, own) != 0;
  return false;
}

static size_t count_words(char *const *words) {
  size_t count = 0;
  while (words && words[count]) count++;
  return count;
}

/* An environment with the library that the program can load, or with none. */
#define ROOM 3 /* additional strings */
#define PRELOAD_ROOM(from) (sizeof "LD_PRELOAD=" + 1 + BOARD_PATH + strlen(preload_of(from)))

static const char *preload_of(char *const *environment) {
  for (; environment && *environment; environment++)
    if (strncmp(*environment, "LD_PRELOAD=", 11) == 0) return without_library(*environment + 11);
  return "";
}

static char *const *with_library(int library, char *const *from, char **to, char *preload, size_t room) {
  const char *old = preload_of(from);
  size_t count = 0;
  snprintf(preload, room, "LD_PRELOAD=%s%s%s", library < 0 ? "" : state.settings->library[library],
           library >= 0 && *old ? ":" : "", old);
  for (; from && *from; from++)
    if (strncmp(*from, "LD_PRELOAD=", 11) != 0 && strncmp(*from, BOARD_VARIABLE "=", sizeof BOARD_VARIABLE) != 0)
      to[count++] = *from;
  if (library >= 0 || *old) to[count++] = preload;
  if (library >= 0) to[count++] = board_assignment;
  to[count] = NULL;
  return to;
}

#define WITH_LIBRARY(path, environment)                                                                            \
  do {                                                                                                             \
    if (follows() && !is_of_other(environment)) {                                                                  \
      size_t preload_room = PRELOAD_ROOM(environment);                                                             \
      environment =                                                                                                \
          with_library(library_for(path), environment, alloca((count_words(environment) + ROOM) * sizeof(char *)), \
                       alloca(preload_room), preload_room);                                                        \
    }                                                                                                              \
  } while (0)

/* Defines a call of exec. `found`: the program, perhaps in `full`, which has `room` bytes. If exec fails nevertheless,
 * the trace goes on. */
#define EXEC(name, first, call, room, found)                             \
  EXPORT int name(first, char *const *words, char *const *environment) { \
    char full[room];                                                     \
    const char *program = found;                                         \
    bool had_trace = false;                                              \
    int result;                                                          \
    if (program) {                                                       \
      const bool left = follows() && is_of_other(environment);           \
      WITH_LIBRARY(program, environment);                                \
      had_trace = finish_before_exec(program, left);                     \
    }                                                                    \
    result = REAL(name)(call, words, environment);                       \
    if (had_trace) go_on_after_exec();                                   \
    return result;                                                       \
  }
EXEC(execve, const char *path, path, 1, locate(path, false, full))
EXEC(execvpe, const char *path, path, BOARD_PATH, locate(path, true, full))
EXEC(fexecve, int fd, fd, 64, (snprintf(full, sizeof full, "/proc/self/fd/%d", fd), locate(full, false, NULL)))

EXPORT int execv(const char *path, char *const *words) { return execve(path, words, environ); }
EXPORT int execvp(const char *path, char *const *words) { return execvpe(path, words, environ); }

/* Collects the words of a variadic call; `count` includes the NULL at the end. */
#define COLLECT(words, first)                                         \
  do {                                                                \
    va_list arguments;                                                \
    size_t count = 1, i;                                              \
    va_start(arguments, first);                                       \
    while (first && va_arg(arguments, char *)) count++;               \
    va_end(arguments);                                                \
    words = alloca((count + 1) * sizeof *words);                      \
    memcpy(&words[0], &first, sizeof words[0]);                       \
    va_start(arguments, first);                                       \
    for (i = 1; i < count; i++) words[i] = va_arg(arguments, char *); \
    words[count] = NULL;                                              \
    va_end(arguments);                                                \
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

#define SPAWN(name, search)                                                                                      \
  EXPORT int name(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,                     \
                  const posix_spawnattr_t *attributes, char *const *words, char *const *environment) {           \
    int result, error;                                                                                           \
    const char *found = NULL;                                                                                    \
    char full[BOARD_PATH];                                                                                       \
    if (state.children) {                                                                                        \
      found = locate(path, search, full);                                                                        \
      if (found) WITH_LIBRARY(found, environment);                                                               \
    }                                                                                                            \
    if (!tracing() || state.only_waits) return REAL(name)(child, path, actions, attributes, words, environment); \
    ENTER(name);                                                                                                 \
    error = state.children ? why_unreached(found) : 0;                                                           \
    begin_system_call();                                                                                         \
    result = real.name(child, path, actions, attributes, words, environment);                                    \
    end_system_call();                                                                                           \
    if (result == 0) say_unreached(error);                                                                       \
    LEAVE();                                                                                                     \
    return result;                                                                                               \
  }
SPAWN(posix_spawn, false)
SPAWN(posix_spawnp, true)

/* --------------------------------------------------------------------------------------------------- libraries ----
 *
 * A library may be loaded where another one was before. The command names addresses when it ends a generation, and has
 * to be told what is loaded: before and after a library is unloaded, which waits until all before it has been named; of
 * one that was loaded, when a thread begins or a walk finds it. (A dlopen of this library would look for the program's
 * libraries in other places.) musl unloads nothing. */

void tell_modules(void) {
  if (!begin_look()) return;
  tell_modules_now();
  end_look();
}

static int count_loads(struct dl_phdr_info *module, size_t size, void *count) {
  (void)size;
  *(unsigned long long *)count = module->dlpi_adds;
  return 1;
}

void tell_loaded(void) {
  static unsigned long long told; /* atomic */
  unsigned long long now = 0;
  if (in_sandbox() || !begin_look()) return;
  self.looked = false;
  REAL(dl_iterate_phdr)(count_loads, &now);
  if (__atomic_exchange_n(&told, now, __ATOMIC_RELAXED) != now) tell_modules_now();
  end_look();
}

#if defined(__GLIBC__)
static int count_unloads(struct dl_phdr_info *module, size_t size, void *count) {
  (void)size;
  *(unsigned long long *)count = module->dlpi_subs;
  return 1;
}

static unsigned long long unloads(void) {
  unsigned long long count = 0;
  if (!begin_look()) return count;
  REAL(dl_iterate_phdr)(count_unloads, &count);
  end_look();
  return count;
}

static int close_library(void *library) {
  int result;
  unwind_begin_unload();
  result = REAL(dlclose)(library);
  unwind_end_unload();
  return result;
}

EXPORT int dlclose(void *library) {
  unsigned long long before, after;
  int kept = errno, result;
  if (!tracing() || in_sandbox()) return close_library(library);
  ENTER(dlclose);
  before = unloads();
  tell_modules();
  errno = kept;
  LEAVE(); /* the library's destructors are the program's */
  result = close_library(library);
  if (!tracing() || in_sandbox()) return result;
  kept = errno;
  ENTER(dlclose);
  after = unloads();
  if (after != before) sync_box(), tell_modules();
  errno = kept;
  LEAVE();
  return result;
}
#endif

/* Calls that walks must not wait for. In glibc, loading takes the lock only where it waits for nobody, and it must not
 * be called from here (see above). */
EXPORT int dl_iterate_phdr(int (*function)(struct dl_phdr_info *, size_t, void *), void *argument) {
  bool walks = __atomic_load_n(&recording.on, __ATOMIC_RELAXED);
  int result;
  if (walks) begin_modules_call();
  result = REAL(dl_iterate_phdr)(function, argument);
  if (walks) end_modules_call();
  return result;
}

#if !defined(__GLIBC__)
EXPORT void *dlopen(const char *path, int flags) {
  bool walks = __atomic_load_n(&recording.on, __ATOMIC_RELAXED);
  void *library;
  if (walks) begin_modules_call();
  library = REAL(dlopen)(path, flags);
  if (walks) end_modules_call();
  return library;
}
#endif

/* -------------------------------------------------------------------------------------------------------- exit ---- */

EXPORT __attribute__((noreturn)) void _exit(int status) {
  finish_trace();
  REAL(_exit)(status);
  __builtin_unreachable();
}

EXPORT __attribute__((noreturn)) void _Exit(int status) { _exit(status); }

/* See recover(). */
#define JUMP(name, buffer)                                           \
  EXPORT __attribute__((noreturn)) void name(buffer to, int value) { \
    if (self.inside) self.inside = JUMPED;                           \
    REAL(name)(to, value);                                           \
    __builtin_unreachable();                                         \
  }
JUMP(longjmp, jmp_buf)
JUMP(_longjmp, jmp_buf)
JUMP(siglongjmp, sigjmp_buf)
#if defined(__GLIBC__)
__attribute__((noreturn)) void __longjmp_chk(jmp_buf to, int value);
JUMP(__longjmp_chk, jmp_buf)
#endif
