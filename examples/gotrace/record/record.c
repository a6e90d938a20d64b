/* record.c - gotrace record: runs a program with the preloaded library of preload/, and writes its trace
 *
 * The command and the library share files in memory (board.h, which also says who trusts what). To its caller this
 * process looks like the command: it leaves the output to it, passes on signals, and exits with its status. In between
 * it writes the trace; at the end it reports what was traced.
 *
 * What a trace says is what a traced process says, so it may be forged. Separate processes read it. For root, debuggers
 * read only files that nobody else can have made. */

#include "../command/commands.h"

#include "board.h"
#include "control.h"
#include "executable.h"
#include "members.h"
#include "messages.h"
#include "names.h"
#include "recorder.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static struct record_settings shared;
static struct trace_list *list;
static struct trace_ends *ends;
static const struct wakes *wakes; /* or NULL */
static volatile pid_t child;
static uid_t program_owner;
static int first_status;        /* how the command ended */
static bool adds_names;         /* to traces that are complete */
static uint64_t settings_inode; /* of the file; 0: there is none */

static void add_names_if_complete(bool *done); /* after a stop */

/* The output, as the user named it; its folder stays open. */
static struct {
  const char *path; /* NULL: not named */
  int folder_size;  /* how much of `path` is the folder, with its slash */
  int folder;
  bool replaces; /* a file that is there */
} out;

/* ------------------------------------------------------------------------------------------------- the command ---- */

/* The exit statuses of a shell for a command that it does not find, or cannot execute. */
enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

__attribute__((noreturn, format(printf, 2, 3))) static void refuse(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report_list(format, arguments);
  va_end(arguments);
  exit(status);
}

static int status_of(int error) { return error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE; }

/* Where the shell would find a command; ends with its status if nowhere. */
static const char *find_program(const char *name) {
  static char path[BOARD_PATH];
  const char *at = getenv("PATH"), *end;
  struct stat status;
  int error = ENOENT;
  program.file = NULL;
  if (strchr(name, '/')) {
    if (stat(name, &status) != 0) refuse(status_of(errno), "%s: %s", name, strerror(errno));
    if (S_ISDIR(status.st_mode)) refuse(NOT_EXECUTABLE, "%s: is a directory", name);
    if (access(name, X_OK) != 0) refuse(NOT_EXECUTABLE, "%s: %s", name, strerror(errno));
    return name;
  }
  if (!at) at = "/usr/local/bin:/usr/bin:/bin";
  for (;; at = end + 1) {
    end = at + strcspn(at, ":");
    snprintf(path, sizeof path, "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "", name);
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
      if (access(path, X_OK) == 0) return path;
      error = errno;
    }
    if (!*end) break;
  }
  refuse(status_of(error), "%s: %s", name, error == ENOENT ? "command not found" : strerror(error));
}

/* Whether a program contains gotrace.h, which takes a box from its environment. */
static bool takes_box(const char *path) {
  static const char mark[] = GOTRACE__BOX_OPTION; /* with the NUL */
  struct stat status;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  void *memory = MAP_FAILED;
  bool found;
  if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0)
    memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) return false;
  found = memmem(memory, (size_t)status.st_size, mark, sizeof mark) != NULL;
  munmap(memory, (size_t)status.st_size);
  return found;
}

/* The dynamic linker that a program asks for; empty: it is linked statically, and contains gotrace.h. Fails if neither
 * the library can be loaded into the program. */
static void read_interpreter(const char *path, char interpreter[BOARD_PATH]) {
  char file[BOARD_PATH];
  unsigned depth;
  snprintf(file, sizeof file, "%s", path);
  for (depth = 0;; depth++) {
    executable kind = read_executable(file, interpreter, BOARD_PATH);
    if (kind == EXECUTABLE_UNREADABLE && errno != EACCES) fail("%s: %s", file, strerror(errno));
    if (gives_rights(file))
      fail("%s: a program with the setuid or setgid bit, or with capabilities (setcap), cannot be traced: the system "
           "loads no library into it",
           file);
    if (kind == EXECUTABLE_FOREIGN) refuse(NOT_EXECUTABLE, "%s: a program of another architecture", file);
    if (kind == EXECUTABLE_STATIC) {
      if (!takes_box(file))
        fail("%s: a statically linked program cannot be traced, unless it contains gotrace.h: the system loads no "
             "library into it",
             file);
      *interpreter = 0;
      return;
    }
    if (kind == EXECUTABLE_DYNAMIC || kind == EXECUTABLE_UNREADABLE) return;
    if (kind != EXECUTABLE_SCRIPT || depth == MOST_INTERPRETERS)
      refuse(NOT_EXECUTABLE, "%s: neither a program nor a script", file);
    if (!*interpreter) refuse(NOT_EXECUTABLE, "%s: no interpreter", file);
    if (access(interpreter, X_OK) != 0)
      refuse(NOT_EXECUTABLE, "%s: interpreter %s: %s", file, interpreter, strerror(errno));
    memcpy(file, interpreter, sizeof file);
  }
}

/* Finds the libraries: beside the tool, or where `make install` puts them. Returns the index of the one for the
 * program. */
static unsigned find_libraries(const char *interpreter) {
  static const char *const names[] = {"libgotrace-record.so", "libgotrace-record-musl.so"};
  static const char *const places[] = {"", "../lib/gotrace/"};
  unsigned needed = strstr(interpreter, "ld-musl") ? RECORD_MUSL : RECORD_GNU, which;
  char own[BOARD_PATH];
  ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  size_t i;
  if (length < 0) fail("/proc/self/exe: %s; record needs the /proc file system", strerror(errno));
  own[length] = 0;
  *(strrchr(own, '/') + 1) = 0;
  for (which = RECORD_GNU; which <= RECORD_MUSL; which++) {
    char *path = shared.library[which];
    for (i = 0; i < COUNT(places) && !*path; i++)
      if (snprintf(path, BOARD_PATH, "%s%s%s", own, places[i], names[which]) >= BOARD_PATH || access(path, R_OK) != 0)
        *path = 0;
    if (strpbrk(path, " :")) fail("%s: LD_PRELOAD allows no space and no colon in a path", path);
  }
  if (!shared.library[needed][0]) fail("%s is neither in %s nor in %s../lib/gotrace", names[needed], own, own);
  return needed;
}

/* -------------------------------------------------------------------------------------------------- the output ---- */

static void keep_file(struct kept_file *kept, int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) fail("%s", strerror(errno));
  kept->descriptor = descriptor;
  kept->identity.device = (uint64_t)status.st_dev;
  kept->identity.inode = (uint64_t)status.st_ino;
}

static int open_folder(const char *path) {
  int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail("%s: %s", out.path ? out.path : path, strerror(errno));
  return folder;
}

/* Looks what is there already. A file will be replaced. The trace goes into a device, a pipe, or through a link, unless
 * somebody else made the link; any further trace then gets a name of its own in the current directory. */
static void find_output(const char *name) {
  struct stat status;
  int file;
  if (fstatat(out.folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (S_ISLNK(status.st_mode) && status.st_uid != 0 && status.st_uid != geteuid())
    fail("%s: a link of another user", out.path);
  if (S_ISDIR(status.st_mode)) fail("%s: is a directory", out.path);
  out.replaces = S_ISREG(status.st_mode);
  if (out.replaces) {
    if (faccessat(out.folder, name, W_OK, 0) != 0) fail("%s: %s", out.path, strerror(errno));
    return;
  }
  file = openat(out.folder, name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0) fail("%s: %s", out.path, strerror(errno));
  keep_file(&shared.given, file);
  close(out.folder);
  out.folder = open_folder(".");
  out.folder_size = 0;
  shared.output[0] = 0;
}

static void choose_output(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
  char folder[BOARD_PATH] = ".";
  out.path = path;
  out.folder_size = slash ? (int)(slash + 1 - path) : 0;
  shared.given.descriptor = -1;
  if (out.folder_size >= BOARD_PATH || (name && strlen(name) >= sizeof shared.output)) fail("%s: path too long", path);
  if (path && strcmp(path, "-") == 0) usage("standard output is the program's; give -o FILE");
  if (name && !*name) fail("%s: is a directory", path);
  if (slash) snprintf(folder, sizeof folder, "%.*s", out.folder_size, path);
  out.folder = open_folder(folder);
  if (name) snprintf(shared.output, sizeof shared.output, "%s", name);
  if (name && !strchr(name, '%')) find_output(name); /* otherwise the name is not yet known */
  keep_file(&shared.folder, out.folder);
  if (shared.given.descriptor < 0 && faccessat(out.folder, ".", W_OK | X_OK, 0) != 0)
    fail("%s: %s", path ? path : "current directory", strerror(errno));
}

static void wake(uint32_t *word) { syscall(SYS_futex, word, 1 /* FUTEX_WAKE */, INT_MAX, NULL, NULL, 0); }

/* A file in memory, for this user only. */
static int memory_file(void) {
  int file = memfd_create("gotrace record", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0 || fchmod(file, 0600) != 0) fail("shared memory: %s", strerror(errno));
  return file;
}

static uint64_t inode_of(int file) {
  struct stat status;
  return fstat(file, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* Memory that the traced processes write. Its file keeps its size, so that reading it cannot fail. */
static void *share(struct kept_file *kept, size_t size) {
  int file = memory_file();
  void *memory;
  if (ftruncate(file, (off_t)size) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    fail("shared memory: %s", strerror(errno));
  memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail("shared memory: %s", strerror(errno));
  keep_file(kept, file);
  return memory;
}

/* Memory that only this program's own processes have. */
static void *share_with_writers(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("shared memory: %s", strerror(errno));
  return memory;
}

/* Fewer entries if the limit of file sizes, which is also that of shared memory, does not allow all. */
static uint32_t count_entries(void) {
  struct rlimit limit;
  uint32_t count = BOARD_TRACES;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return count;
  while (count && list_size(count) > limit.rlim_cur) count /= 2;
  if (!count || sizeof shared > limit.rlim_cur)
    fail("the limit of file sizes is too small (ulimit -f): %llu bytes", (ull)limit.rlim_cur);
  return count;
}

/* Without this memory, traces do not tell which other process ended a wait. */
static void share_wakes(bool wanted) {
  struct rlimit limit;
  shared.wakes.descriptor = -1;
  if (!wanted || (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sizeof(struct wakes))) return;
  wakes = share(&shared.wakes, sizeof(struct wakes));
}

/* ----------------------------------------------------------------------------------------------------- outside ----
 *
 * A process captures into a box, and a process of the tool writes the trace: see outside.h. For the first program that
 * is the command itself. Any other program or process asks for a box (board.h); the server, a process of its own, then
 * starts a writer for it. A writer goes on until its process ends, even after the command, and with --children so does
 * the server as long as there are writers: what goes on in the background may start others.
 */

#define BOX_BYTES ((size_t)64 << 20)
#define LEAST_BOX_BYTES ((size_t)2 << 20)
#define FEW_EVENTS 64       /* a trace with fewer is not worth keeping if the process executes another program */
#define MOST_SNAPSHOTS 1000 /* of a process, whoever may have taken it over */

/* What this process writes. */
static struct {
  recorder *recorder;  /* NULL: there is none, or it has ended */
  int output;          /* -1: not known yet */
  uint32_t index;      /* of the trace in the list; that of the first program is the first */
  uint32_t hertz;      /* of CPU samples; 0: none */
  uint32_t ticks;      /* the same of those by timers, if there are no perf events */
  bool switches;       /* take context switches */
  perf_events *events; /* of the first program and of all that they are inherited by; NULL: none are taken */
  bool switched;       /* they have context switches */
  bool paused;         /* until somebody starts the recording: see ends->started */
  bool stopped;        /* likewise ends it */
  pid_t process;
  uint64_t box; /* its inode */
} outside = {.output = -1};

/* What the kernel does not tell of the first program, and why (errno). */
static struct {
  bool switches, samples;
  bool ticks; /* but the process takes samples by timers */
  int error;
} untold;

/* Less than usual where files are limited, or the memory of the process (0, this one: it will inherit the limit). */
static size_t size_of_box(size_t size) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) size = (size_t)limit.rlim_cur;
  if (prlimit(outside.process, RLIMIT_AS, NULL, &limit) == 0 && limit.rlim_cur / 8 < size)
    size = (size_t)limit.rlim_cur / 8;
  return size & ~(size_t)0xffff;
}

/* Makes a box, and begins its trace. False: see errno. */
static bool begin_outside(struct kept_file *box, size_t usual) {
  size_t size = size_of_box(usual);
  int file;
  box->descriptor = -1;
  errno = EFBIG;
  file = size < LEAST_BOX_BYTES ? -1 : recorder_make_box(size);
  if (file < 0) return false;
  outside.recorder = recorder_begin(file, size, &shared);
  if (!outside.recorder) {
    close(file);
    return false;
  }
  if (outside.paused && !__atomic_load_n(&ends->started, __ATOMIC_ACQUIRE)) recorder_pause(outside.recorder);
  keep_file(box, file);
  outside.box = box->identity.inode;
  return true;
}

#define USUAL_TICKS 250 /* the kernel looks at such timers only so often, or even 100 times a second */

static void make_box(const settings *set) {
  outside.hertz = set->no_sample ? 0 : set->sample ? set->sample : perf_usual_rate();
  outside.ticks = set->sample ? set->sample : USUAL_TICKS;
  outside.switches = !set->no_switches;
  outside.paused = set->paused;
  if (begin_outside(&shared.box, BOX_BYTES)) return;
  if (errno == EFBIG)
    fail("%zu MiB of memory to share with the program are more than the limits of file sizes (ulimit -f) and, "
         "eightfold, of memory (ulimit -v) allow",
         LEAST_BOX_BYTES >> 20);
  fail("no memory to share with the program: %s", strerror(errno));
}

/* Has the kernel tell what the threads of the first program do, which waits until then. What it does not tell is left
 * out; but if it allows no CPU samples, the library takes some. A number that is too large (EINVAL) is an error of the
 * user's. */
static void begin_events(pid_t process, bool has_library) {
  bool sampled;
  if (!outside.hertz && !outside.switches) return;
  outside.events = perf_begin(process, shared.children != 0, recorder_is_paused(outside.recorder));
  errno = 0;
  outside.switched = outside.switches && perf_take_switches(outside.events);
  sampled = outside.hertz && perf_take_samples(outside.events, outside.hertz);
  untold.switches = outside.switches && !outside.switched;
  untold.samples = outside.hertz && !sampled;
  untold.error = errno;
  untold.ticks = untold.samples && untold.error != EINVAL && has_library;
}

/* They become the recorder's, in this process. */
static void take_events(void) {
  if (!outside.events) return;
  if (untold.ticks) untold.ticks = recorder_take_ticks(outside.recorder, outside.ticks);
  recorder_take_events(outside.recorder, outside.events, outside.switched);
}

/* Opens the trace in the folder; -1: it is not there. */
static int open_trace(const struct trace_entry *entry, int mode) {
  struct stat status;
  int file = openat(out.folder, entry->name, mode | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file >= 0 &&
      (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !has_identity(&status, &entry->identity))) {
    close(file);
    file = -1;
  }
  return file;
}

/* Its own copy, which does not change. False: the process is not in this state. */
static bool read_entry_in(uint32_t state, struct trace_entry *to) {
  if (__atomic_load_n(&list->entry[outside.index].state, __ATOMIC_ACQUIRE) != state) return false;
  *to = list->entry[outside.index];
  to->name[NAME_MAX] = 0;
  return to->writer == getpid();
}

/* False: the process has not begun to capture. */
static bool read_entry(struct trace_entry *to) { return read_entry_in(TRACE_STARTED, to); }

/* The process has made the file, or it was given. */
static void find_output_of_box(void) {
  struct trace_entry entry;
  struct stat status;
  if (outside.output >= 0 || !recorder_is_used(outside.recorder) || !read_entry(&entry)) return;
  if (*entry.name && !strchr(entry.name, '/')) outside.output = open_trace(&entry, O_WRONLY);
  else if (!*entry.name) outside.output = shared.given.descriptor;
  if (!*entry.name || outside.output < 0) return;
  /* See is_being_written. Another recorder that has replaced the file may have got the same inode for its own: then it
   * has the lock, or has written. */
  if ((flock(outside.output, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && fstat(outside.output, &status) == 0 &&
      status.st_size == 0)
    return;
  close(outside.output);
  outside.output = -1;
}

static uint32_t count_traces(void) {
  uint32_t count = __atomic_load_n(&list->count, __ATOMIC_ACQUIRE);
  return count < shared.traces ? count : shared.traces;
}

/* Whether the process's next program wants a box. */
static bool has_successor(void) {
  uint32_t i, count = count_traces();
  for (i = outside.index + 1; i < count; i++)
    if (__atomic_load_n(&list->entry[i].box_state, __ATOMIC_ACQUIRE) && list->entry[i].process == outside.process)
      return true;
  return false;
}

/* Whether the process still has the box; true also if that cannot be seen. */
static bool has_box(void) { return process_maps(outside.process, outside.box, true); }

static uint64_t milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#define SUCCESSOR_PATIENCE 2000 /* milliseconds, for a program that is executed to begin */

/* Whether the trace ends before its process. The next program may need a moment until it wants a box; then it gets the
 * name of a trace that is not worth keeping. If it ends before, this trace tells how the process ended. */
static bool leaves_box(void) {
  static uint64_t left; /* when the process had executed another program; 0: it has not */
  if (recorder_said(outside.recorder) != TRACE_EXECUTES) left = 0;
  else if (has_successor()) return true;
  else if (!left && !has_box()) left = milliseconds_now();
  return left && (recorder_is_left(outside.recorder) || milliseconds_now() - left > SUCCESSOR_PATIENCE);
}

/* The process has ended while its trace began, so its file stays empty. */
static void remove_empty(bool unused) {
  struct trace_entry entry;
  int file = -1;
  if ((read_entry_in(TRACE_STARTS, &entry) || (unused && read_entry(&entry))) && *entry.name &&
      !strchr(entry.name, '/'))
    file = open_trace(&entry, O_RDONLY);
  if (file < 0) return;
  unlinkat(out.folder, entry.name, 0);
  close(file);
}

/* A program that is executed may be killed before the library begins in it. */
static uint32_t why_ended(uint32_t said, int status) {
  if (said == TRACE_EXECUTES && status >= 0 && WIFSIGNALED(status)) return TRACE_KILLED;
  if (said == TRACE_EXECUTES || said == TRACE_KILLED) return said;
  if (status >= 0) return WIFSIGNALED(status) ? TRACE_KILLED : TRACE_EXITS;
  return said == TRACE_EXITS ? said : TRACE_CUT_OFF;
}

/* Ends the trace. `status`: of the process; -1: not known. */
static void finish_outside(int status) {
  recorder *r = outside.recorder;
  struct trace_end end = {0};
  struct trace_entry entry;
  find_output_of_box();
  end.unused = !recorder_is_used(r);
  end.unwritten = outside.output < 0 && !end.unused;
  end.why = outside.stopped ? TRACE_STOPPED : why_ended(recorder_said(r), status);
  end.unreached = recorder_unreached(r);
  end.left = recorder_is_left(r);
  end.sandboxed = recorder_is_sandboxed(r);
  recorder_finish(r, outside.output, &end);
  remove_empty(end.unused != 0);
  outside.recorder = NULL;
  if (!outside.stopped) control_end();
  if ((end.paused || (end.why == TRACE_EXECUTES && end.events < FEW_EVENTS && has_successor())) && read_entry(&entry) &&
      *entry.name && outside.output >= 0)
    unlinkat(out.folder, entry.name, 0);
  ends->entry[outside.index] = end;
  __atomic_store_n(&ends->entry[outside.index].has_ended, 1u, __ATOMIC_RELEASE);
  if (outside.output != shared.given.descriptor) close(outside.output);
  __atomic_fetch_add(&list->calls, 1u, __ATOMIC_RELEASE);
  wake(&list->calls);
}

/* The name of a new trace, or of a snapshot of one, while a process writes it. */
typedef char unfinished_name[NAME_MAX + 32];
static void name_unfinished(unfinished_name name, const char *trace, pid_t writer) {
  snprintf(name, sizeof(unfinished_name), "%s.%d", trace, (int)writer);
}

/* Replaces no file. Not every file system can rename so. */
static bool rename_to_new(const char *from, const char *to) {
  if (syscall(SYS_renameat2, out.folder, from, out.folder, to, 1 /* RENAME_NOREPLACE */) == 0) return true;
  return errno != EEXIST && linkat(out.folder, from, out.folder, to, 0) == 0 && unlinkat(out.folder, from, 0) == 0;
}

/* Writes a snapshot under another name first, so that it appears complete. */
static void write_snapshot(void) {
  static unsigned number;
  char stem[NAME_MAX + 1], name[NAME_MAX + 64];
  unfinished_name unfinished;
  struct trace_entry entry;
  char *dot;
  unsigned turn = 1;
  bool renamed = false;
  int file;
  if (!read_entry(&entry) || strchr(entry.name, '/') || number == MOST_SNAPSHOTS) return;
  if (*entry.name) snprintf(stem, sizeof stem, "%s", entry.name);
  else snprintf(stem, sizeof stem, "%.200s.%d.trace", shared.program, (int)entry.pid);
  dot = strrchr(stem, '.');
  if (!dot) dot = stem + strlen(stem);
  name_unfinished(unfinished, stem, getpid());
  file = create_new(out.folder, unfinished, O_WRONLY);
  if (file < 0) return;
  number++;
  if (recorder_write_kept(outside.recorder, file)) do {
      char again[16] = "";
      if (turn > 1) snprintf(again, sizeof again, "-%u", turn);
      snprintf(name, sizeof name, "%.*s%s.%u%s", (int)(dot - stem), stem, again, number, dot);
      renamed = rename_to_new(unfinished, name);
    } while (!renamed && errno == EEXIST && ++turn < 1000);
  close(file);
  if (!renamed) unlinkat(out.folder, unfinished, 0);
}

/* The recording of all processes begins. */
static void start_recording(void) {
  __atomic_store_n(&ends->started, 1u, __ATOMIC_RELEASE);
  recorder_start(outside.recorder, outside.output);
}

/* The recording of all processes ends, while they go on. If a trace is about to begin, it ends when it has begun: the
 * process expects to be read. */
static void stop_recording(void) {
  struct trace_entry entry;
  __atomic_store_n(&ends->stopped, 1u, __ATOMIC_RELEASE);
  if (!read_entry(&entry)) return;
  outside.stopped = true;
  finish_outside(-1);
}

static bool is_stopped(void) { return __atomic_load_n(&ends->stopped, __ATOMIC_ACQUIRE) != 0; }

/* Reads what the process captures, and waits a moment, or until something happens. */
static void follow_outside(void) {
  bool much;
  find_output_of_box();
  if (is_stopped()) stop_recording();
  if (!outside.recorder) return;
  if (leaves_box()) {
    finish_outside(-1);
    return;
  }
  if (recorder_is_paused(outside.recorder) && __atomic_load_n(&ends->started, __ATOMIC_ACQUIRE)) start_recording();
  much = recorder_read(outside.recorder, outside.output);
  if (recorder_wants_snapshot(outside.recorder) && !recorder_is_paused(outside.recorder)) {
    recorder_cut(outside.recorder, outside.output); /* the process may have asked since */
    write_snapshot();
  }
  control_answer(is_stopped() ? NULL : outside.recorder, outside.output, start_recording, stop_recording);
  if (outside.recorder) recorder_wait(outside.recorder, much ? 5 : 20);
}

/* After a stop. The traces get their names now: the program may go on for a long time. */
static void follow_stopped(void) {
  static bool named;
  if (!named) add_names_if_complete(&named);
  control_answer(NULL, -1, NULL, NULL);
  control_wait(named ? 200 : 20);
}

/* Reads what the program captures until it ends, of which a signal tells. */
static int follow(void) {
  int status;
  pid_t ended;
  while ((ended = waitpid(child, &status, WNOHANG)) <= 0) {
    if (ended < 0 && errno != EINTR) fail("wait: %s", strerror(errno));
    if (ended == 0 && outside.recorder) follow_outside();
    else if (ended == 0 && is_stopped()) follow_stopped();
    else if (ended == 0) control_wait(20); /* another process may be asked to stop */
  }
  if (outside.recorder) finish_outside(status);
  return status;
}

/* It interrupts a wait. */
static void notice_end(int number) { (void)number; }

static void notice_ends(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = notice_end;
  sigaction(SIGCHLD, &action, NULL);
}

/* ----------------------------------------------------------------------------------------------------- writers ---- */

static bool is_over(int process) {
  struct pollfd over = {process, POLLIN, 0};
  return poll(&over, 1, 0) > 0;
}

/* A descriptor of a process; -1: it is gone, or the system is too old. */
static int open_process(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

static void answer(struct trace_entry *entry, int error) {
  entry->box_error = error;
  __atomic_store_n(&entry->box_state, (uint32_t)BOX_ANSWERED, __ATOMIC_RELEASE);
  wake(&entry->box_state);
}

/* So that a pipe's reader does not wait for this process. */
static void forget_given(void) {
  close(shared.given.descriptor);
  shared.given.descriptor = -1;
}

/* In the writer. */
static void write_trace(uint32_t index) {
  struct trace_entry *entry = &list->entry[index];
  int process = open_process(entry->process);
  outside.index = index;
  outside.process = entry->process;
  entry->writer = getpid();
  if (shared.given.descriptor >= 0 && entry->process != __atomic_load_n(&ends->first, __ATOMIC_RELAXED)) forget_given();
  if (process < 0 || !begin_outside(&entry->box, BOX_BYTES)) {
    __atomic_store_n(&ends->entry[index].has_ended, 1u, __ATOMIC_RELEASE);
    answer(entry, errno);
    return;
  }
  control_begin(outside.process);
  if (entry->pid == entry->process && outside.events && perf_follow(outside.events, outside.process))
    take_events(); /* else the kernel's thread ids are not its */
  answer(entry, 0);
  while (outside.recorder && !is_over(process)) follow_outside();
  if (outside.recorder) finish_outside(-1);
}

/* Who writes a trace; 0: nobody any more. What it reads here can be changed by the programs, so it is read once. */
static pid_t writer_of(uint32_t index) {
  pid_t writer = __atomic_load_n(&list->entry[index].writer, __ATOMIC_RELAXED);
  bool ended = __atomic_load_n(&ends->entry[index].has_ended, __ATOMIC_ACQUIRE) != 0;
  return writer > 0 && !ended && kill(writer, 0) == 0 ? writer : 0;
}

static bool is_alive(pid_t process) {
  int opened = open_process(process);
  bool alive = opened >= 0 && !is_over(opened);
  if (opened >= 0) close(opened);
  return alive;
}

static pid_t process_of_program(uint32_t index) {
  return index ? list->entry[index].process : __atomic_load_n(&ends->first, __ATOMIC_RELAXED);
}

/* Whether the trace of the process's last program has been written. Otherwise its writer has to see that. */
static bool is_alone(uint32_t index) {
  uint32_t i;
  for (i = 0; i < index; i++) {
    pid_t writer = process_of_program(i) == list->entry[index].process ? writer_of(i) : 0;
    if (!writer) continue;
    kill(writer, SIGCHLD);
    return false;
  }
  return true;
}

/* Whether somebody writes a trace of the process. */
static bool is_followed(pid_t process) {
  uint32_t i, count = count_traces();
  for (i = 0; i < count; i++)
    if (process_of_program(i) == process && writer_of(i)) return true;
  return false;
}

/* Whether there is a process of the recording that has no trace, and may therefore begin one. */
static bool may_any_begin(void) {
  char assignment[BOARD_ASSIGNMENT];
  struct membership of = {assignment, settings_inode};
  if (!shared.children || !settings_inode) return false;
  snprintf(assignment, sizeof assignment, BOARD_VARIABLE "=/proc/%d/fd/", (int)shared.keeper_pid);
  return members_exist(&of, is_followed);
}

/* Whether traces are being written, or may begin. With --children, processes may outlive the command. */
static bool is_going_on(void) {
  uint32_t i, count = count_traces();
  for (i = 0; i < count; i++)
    if (writer_of(i)) return true;
  return !is_stopped() && (may_any_begin() || count_traces() != count);
}

static bool is_needed(pid_t parent) {
  if (getppid() == parent) return true;
  if (shared.given.descriptor >= 0) forget_given();
  if (shared.box.descriptor >= 0) close(shared.box.descriptor), shared.box.descriptor = -1;
  return is_going_on();
}

/* In the server. */
static void serve(pid_t parent) {
  static bool served[BOARD_TRACES];
  const struct timespec second = {1, 0};
  while (is_needed(parent)) {
    uint32_t calls = __atomic_load_n(&list->calls, __ATOMIC_ACQUIRE), i, count = count_traces();
    for (i = 0; i < count; i++) {
      if (served[i] || __atomic_load_n(&list->entry[i].box_state, __ATOMIC_ACQUIRE) != BOX_WANTED || !is_alone(i))
        continue;
      served[i] = true;
      if (is_stopped()) {
        answer(&list->entry[i], BOX_STOPPED);
        continue;
      }
      switch (fork()) {
      case 0: write_trace(i); _exit(0);
      case -1: answer(&list->entry[i], errno);
      }
    }
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
    syscall(SYS_futex, &list->calls, 0 /* FUTEX_WAIT */, calls, &second, NULL, 0);
  }
}

/* Keeps these files only: others may wait until nobody has the other end of a pipe. */
static void close_others(const int *kept, size_t count) {
  int nothing = open("/dev/null", O_RDWR), i;
  unsigned from = 3;
  for (i = 0; i <= 2; i++) dup2(nothing, i);
  for (;;) {
    unsigned next = UINT_MAX;
    size_t k;
    for (k = 0; k < count; k++)
      if (kept[k] >= 0 && (unsigned)kept[k] >= from && (unsigned)kept[k] < next) next = (unsigned)kept[k];
    if (next > from) syscall(SYS_close_range, from, next == UINT_MAX ? next : next - 1, 0);
    if (next == UINT_MAX) return;
    from = next + 1;
  }
}

/* In a process of the tool beside the command. */
static void prepare_helper(const int *kept, size_t count) {
  static const int ignored[] = {SIGINT, SIGQUIT, SIGXFSZ, SIGPIPE, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  size_t i;
  for (i = 0; i < COUNT(ignored); i++) signal(ignored[i], SIG_IGN);
  notice_ends();
  if (chdir("/") != 0) fail("/: %s", strerror(errno)); /* the folder where the command began may be removed */
  close_others(kept, count);
  outside.output = -1;
}

/* Whether the trace of a process is about to begin. */
static bool any_begins(void) {
  uint32_t i, count;
  if (wakes && __atomic_load_n(&wakes->forks, __ATOMIC_RELAXED) > 0 && may_any_begin()) return true;
  count = count_traces(); /* after that, in which it may have got its place in the list */
  for (i = 1; i < count; i++) {
    pid_t process = list->entry[i].process;
    if (__atomic_load_n(&list->entry[i].state, __ATOMIC_ACQUIRE) == TRACE_STARTS && (!process || is_alive(process)))
      return true;
  }
  return false;
}

/* Waits for the writers of processes that have ended. If others go on, the server ends after them: see is_needed. */
static void end_server(pid_t server, bool failed) {
  const struct timespec millisecond = {0, 1000000};
  uint32_t i, count;
  unsigned tries;
  for (tries = 0; tries < 2000 && any_begins(); tries++) nanosleep(&millisecond, NULL); /* for the messages */
  count = count_traces();
  for (i = 0; i < count; i++) {
    pid_t writer;
    if (!writer_of(i) || is_alive(list->entry[i].process)) continue;
    for (tries = 0; tries < 10000 && (writer = writer_of(i)); tries++) {
      kill(writer, SIGCHLD);
      nanosleep(&millisecond, NULL);
    }
  }
  if (server <= 0 || (shared.children && !failed && is_going_on())) return;
  kill(server, SIGKILL);
  while (waitpid(server, NULL, 0) < 0 && errno == EINTR) continue;
}

/* --------------------------------------------------------------------------------------------------- questions ----
 *
 * Processes that cannot open the command's files ask on a socket (board.h). Another process, the desk, listens there;
 * for each connection it starts one that answers, for the process which has connected, its children and theirs. It does
 * for them what the library does where it can.
 */

static int desk_socket = -1;

/* Without it, such processes are not traced, which their parents say. */
static void open_desk(void) {
  struct sockaddr_un address;
  socklen_t size = address_for(&address, FOR_QUESTIONS, shared.keeper_pid);
  const int on = 1;
  desk_socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (desk_socket < 0 || setsockopt(desk_socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      bind(desk_socket, (struct sockaddr *)&address, size) != 0 || listen(desk_socket, 64) != 0) {
    if (desk_socket >= 0) close(desk_socket);
    desk_socket = -1;
  }
}

/* Waits for the box of an entry; -1: see errno. */
static int await_box(struct trace_entry *entry) {
  const struct timespec tenth = {0, 100000000};
  struct trace_entry answered;
  struct stat status;
  char path[64];
  int file;
  unsigned i;
  __atomic_store_n(&entry->box_state, (uint32_t)BOX_WANTED, __ATOMIC_RELEASE);
  __atomic_fetch_add(&list->calls, 1u, __ATOMIC_RELEASE);
  wake(&list->calls);
  for (i = 0; __atomic_load_n(&entry->box_state, __ATOMIC_ACQUIRE) != BOX_ANSWERED; i++) {
    if (i == BOX_PATIENCE) return errno = ETIMEDOUT, -1;
    syscall(SYS_futex, &entry->box_state, 0 /* FUTEX_WAIT */, BOX_WANTED, &tenth, NULL, 0);
  }
  answered = *entry;
  if (answered.box_error) return errno = answered.box_error, -1;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)answered.writer, (int)answered.box.descriptor);
  file = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (file < 0 || (fstat(file, &status) == 0 && has_identity(&status, &answered.box.identity))) return file;
  close(file);
  return errno = ESTALE, -1;
}

/* Makes the file of an entry's trace. Returns an errno. */
static int make_trace_of(struct trace_entry *entry, const char *of) {
  char name[NAME_MAX + 1];
  struct stat status;
  int file = create_trace(&shared, out.folder, entry->process, of, name), error = file < 0 ? errno : 0;
  if (!error && fstat(file, &status) != 0) error = errno;
  if (file >= 0) close(file);
  if (error) return error;
  entry->identity.device = (uint64_t)status.st_dev;
  entry->identity.inode = (uint64_t)status.st_ino;
  snprintf(entry->name, sizeof entry->name, "%s", name);
  return 0;
}

/* The process says whether its trace has started; if it has ended before, the entry stays as it is. */
static void await_start(int connection, struct trace_entry *entry) {
  struct pollfd ready = {connection, POLLIN, 0};
  struct board_start start;
  if (poll(&ready, 1, BOX_PATIENCE * 100) <= 0 || !receive_message(connection, &start, sizeof start, NULL, 0, NULL))
    return;
  entry->result = start.result;
  entry->system_error = start.system_error;
  __atomic_store_n(&entry->state, (uint32_t)(start.result == GOTRACE_OK ? TRACE_STARTED : TRACE_FAILED),
                   __ATOMIC_RELEASE);
  if (start.result == GOTRACE_OK) return;
  entry->writer = 0;
  unlinkat(out.folder, entry->name, 0);
}

/* A process wants to be traced. */
static void hand_box(int connection, const struct board_question *question, pid_t process, int settings_file) {
  uint32_t index = __atomic_fetch_add(&list->count, 1u, __ATOMIC_ACQ_REL);
  struct board_answer said = {ENFILE, index};
  int files[BOARD_FILES] = {settings_file, -1, shared.wakes.descriptor};
  struct trace_entry *entry;
  char of[NAME_MAX + 1], *at;
  if (index >= shared.traces) {
    send_message(connection, &said, sizeof said, NULL, 0);
    return;
  }
  snprintf(of, sizeof of, "%.*s", NAME_MAX, question->program);
  for (at = of; (at = strchr(at, '/')) != NULL; at++) *at = '_';
  entry = &list->entry[index];
  entry->pid = question->pid;
  entry->process = process;
  shared.first_pid = __atomic_load_n(&ends->first, __ATOMIC_RELAXED); /* whose trace has the name that was wanted */
  files[BOARD_BOX] = await_box(entry);
  said.error = files[BOARD_BOX] < 0 ? errno : make_trace_of(entry, *of ? of : "program");
  if (said.error) {
    entry->result = GOTRACE_ERROR_SINK;
    entry->system_error = said.error;
    entry->writer = 0;
    __atomic_store_n(&entry->state, (uint32_t)TRACE_FAILED, __ATOMIC_RELEASE);
    send_message(connection, &said, sizeof said, NULL, 0);
  } else if (send_message(connection, &said, sizeof said, files, BOARD_FILES)) {
    await_start(connection, entry);
  }
  if (files[BOARD_BOX] >= 0) close(files[BOARD_BOX]);
}

/* Answers only this user's processes: another one has given up what the user may do. */
static void answer_questions(int socket, int settings_file) {
  struct board_question question;
  struct ucred sender;
  int connection;
  for (;;) {
    if (!receive_message(socket, &question, sizeof question, &connection, 1, &sender)) {
      if (errno == EPROTO) continue;
      return;
    }
    if (connection < 0) continue;
    if (sender.uid == getuid() && sender.pid > 0 && question.pid > 0) {
      hand_box(connection, &question, sender.pid, settings_file);
    } else {
      struct board_answer said = {sender.uid == getuid() ? 0 : EACCES, 0};
      send_message(connection, &said, sizeof said, &settings_file, said.error ? 0 : 1);
    }
    close(connection);
  }
}

static void end_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
}

static void begin_desk(int settings_file) {
  const int kept[] = {out.folder, desk_socket, settings_file, shared.wakes.descriptor}, on = 1;
  pid_t parent = getpid(), own;
  if (desk_socket < 0) return;
  if (fork() != 0) {
    close(desk_socket); /* without a desk nobody shall connect */
    return;
  }
  end_with_parent(parent);
  prepare_helper(kept, COUNT(kept));
  signal(SIGCHLD, SIG_IGN);
  own = getpid();
  for (;;) {
    int connection = accept4(desk_socket, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) continue;
    if (setsockopt(connection, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 && fork() == 0) {
      end_with_parent(own);
      close(desk_socket);
      answer_questions(connection, settings_file);
      _exit(0);
    }
    close(connection);
  }
}

static void run_server(int settings_file, pid_t parent) {
  const size_t events = perf_count_files(outside.events);
  int *kept;
  shared.keeper_pid = getpid();
  if (settings_file >= 0 && shared.children) open_desk();
  const int files[] = {out.folder,
                       shared.given.descriptor,
                       shared.list.descriptor,
                       shared.wakes.descriptor,
                       shared.box.descriptor,
                       settings_file,
                       desk_socket};
  kept = zeroed(sizeof files + events * sizeof *kept);
  memcpy(kept, files, sizeof files);
  perf_files(outside.events, kept + COUNT(files));
  prepare_helper(kept, COUNT(files) + events); /* closes the other end of the command's pipe, which waits for that */
  free(kept);
  if (outside.events) perf_follow(outside.events, 0); /* so that the rings stay */
  begin_desk(settings_file);
  serve(parent);
}

/* Returns the server, or 0. The processes of the recording open the files that it keeps, and what they need of it must
 * be there before they begin; they may outlive the command. `signals`: those that are blocked in it. */
static pid_t begin_server(int settings_file, const sigset_t *signals) {
  pid_t parent = getpid(), server;
  int ready[2];
  char end;
  if (pipe2(ready, O_CLOEXEC) != 0) fail("pipe: %s", strerror(errno));
  server = fork();
  if (server == 0) {
    child = 0; /* the command's */
    sigprocmask(SIG_SETMASK, signals, NULL);
    run_server(settings_file, parent);
    _exit(0);
  }
  close(ready[1]);
  while (read(ready[0], &end, 1) < 0 && errno == EINTR) continue;
  close(ready[0]);
  shared.keeper_pid = server > 0 ? server : parent;
  return server > 0 ? server : 0;
}

/* ----------------------------------------------------------------------------------------------------- running ---- */

static void pass_on(int number) {
  if (child > 0) kill(child, number);
}

/* The terminal sends its signals to the command too, so they are not passed on. */
static void prepare_signals(void) {
  static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
  struct sigaction action, old;
  size_t i;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_IGN;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGQUIT, &action, NULL);
  sigaction(SIGXFSZ, &action, NULL); /* a trace that is too large for the limit of file sizes ends early */
  sigaction(SIGPIPE, &action, NULL); /* so does one whose pipe nobody reads any more */
  notice_ends();
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  for (i = 0; i < COUNT(passed); i++)
    if (sigaction(passed[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(passed[i], &action, NULL);
}

/* What is in LD_PRELOAD. The library of another recorder, which records this command, comes first and is left out. */
static const char *old_preload(void) {
  const char *old = getenv("LD_PRELOAD");
  if (!old) return "";
  if (!getenv(BOARD_VARIABLE)) return old;
  old += strcspn(old, ":");
  return old + (*old == ':');
}

/* In the child, so that programs that the tool runs later are not traced. */
static void add_to_environment(const char *library, int file) {
  const char *old = old_preload();
  char text[2 * BOARD_PATH + 64];
  snprintf(text, sizeof text, "%s%s%s", library, *old ? ":" : "", old);
  setenv("LD_PRELOAD", text, 1);
  snprintf(text, sizeof text, "/proc/%d/fd/%d:%0*d", (int)shared.keeper_pid, file, BOARD_DIGITS, 0);
  setenv(BOARD_VARIABLE, text, 1);
}

/* In the child, which knows its own id. A statically linked program gets the box by a descriptor, which it closes, and
 * which nothing but its own process takes. Its trace is made here. */
static bool pass_box(void) {
  struct trace_entry *entry = &list->entry[0];
  struct stat status;
  char text[64];
  int box = fcntl(shared.box.descriptor, F_DUPFD, 100), file = shared.given.descriptor;
  const char *given = getenv("GOTRACE");
  shared.first_pid = getpid();
  if (box < 0) return false;
  if (file < 0) file = create_trace(&shared, out.folder, shared.first_pid, shared.program, entry->name);
  if (file < 0 || fstat(file, &status) != 0) return false;
  entry->pid = shared.first_pid;
  entry->writer = shared.command_pid;
  entry->identity.device = (uint64_t)status.st_dev;
  entry->identity.inode = (uint64_t)status.st_ino;
  __atomic_store_n(&entry->state, (uint32_t)TRACE_STARTED, __ATOMIC_RELEASE);
  __atomic_store_n(&list->count, 1u, __ATOMIC_RELEASE);
  snprintf(text, sizeof text, GOTRACE__BOX_OPTION "%d,%d", box, (int)shared.first_pid);
  if (!given || !*given) setenv("GOTRACE", text, 1);
  return true;
}

/* In the child. */
static bool write_settings(int file) {
  shared.first_pid = getpid();
  return write(file, &shared, sizeof shared) == (ssize_t)sizeof shared && fcntl(file, F_ADD_SEALS, BOARD_SEALS) == 0;
}

/* In the child: waits until it may execute the program. False: the command has ended. */
static bool await_server(int ready) {
  ssize_t size;
  do size = read(ready, &shared.keeper_pid, sizeof shared.keeper_pid);
  while (size < 0 && errno == EINTR);
  return size == (ssize_t)sizeof shared.keeper_pid;
}

/* `library`: NULL for a statically linked program. */
static int run(const char *path, char **words, const char *library) {
  sigset_t all, old;
  int status, pipe_ends[2], ready[2], error = 0, settings_file = memory_file();
  pid_t server;
  if (library) settings_inode = inode_of(settings_file);
  if (pipe2(pipe_ends, O_CLOEXEC) != 0 || pipe2(ready, O_CLOEXEC) != 0) fail("pipe: %s", strerror(errno));
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &old);
  child = fork();
  if (child < 0) fail("fork: %s", strerror(errno));
  if (child == 0) {
    close(ready[1]);
    if (!await_server(ready[0])) _exit(127);
    if (library) add_to_environment(library, settings_file);
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (library ? write_settings(settings_file) : pass_box()) execv(path, words);
    error = errno;
    if (write(pipe_ends[1], &error, sizeof error) < 0) error = 0;
    _exit(127);
  }
  __atomic_store_n(&ends->first, child, __ATOMIC_RELEASE);
  begin_events(child, library != NULL);
  server = begin_server(library ? settings_file : -1, &old); /* its writers share the events */
  prepare_signals();
  control_begin(child);
  take_events();
  if (write(ready[1], &shared.keeper_pid, sizeof shared.keeper_pid) < 0) fail("pipe: %s", strerror(errno));
  close(ready[0]);
  close(ready[1]);
  sigprocmask(SIG_SETMASK, &old, NULL);
  close(pipe_ends[1]);
  while (read(pipe_ends[0], &error, sizeof error) < 0 && errno == EINTR) continue;
  close(pipe_ends[0]);
  outside.process = child;
  status = follow();
  end_server(server, error != 0);
  first_status = status;
  child = 0;
  if (error) refuse(status_of(error), "%s: %s", path, strerror(error));
  return status;
}

/* Ends as the command did: with the same status or signal. */
static int end_like(int status) {
  if (WIFSIGNALED(status)) {
    struct rlimit none = {0, 0};
    struct sigaction action;
    sigset_t set;
    fflush(stdout);
    setrlimit(RLIMIT_CORE, &none); /* no second core file: the command's is the one of interest */
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigaction(WTERMSIG(status), &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
  }
  return WEXITSTATUS(status);
}

/* ------------------------------------------------------------------------------------------------------ traces ---- */

/* An entry of the list, and what became of it. */
typedef struct trace {
  struct trace_entry start;
  struct trace_end end;      /* its numbers may be forged */
  int file;                  /* the trace, open to read; -1: none, or not a file */
  bool is_there;             /* nobody has removed it */
  bool is_lost;              /* somebody else than the recorder has */
  bool goes_on;              /* there is another one of its process */
  bool is_abandoned;         /* by its writer, which somebody has killed */
  char path[2 * BOARD_PATH]; /* as the messages show it */
} trace;

/* A trace that this command has replaced by one with more names: its index in the list, and its new file. */
struct renewed {
  uint32_t index;
  struct file_identity identity;
};
static time_t began;                  /* when the command began */
static struct file_identity *renewed; /* by index; inode 0: the trace is as the process wrote it */

/* Whether a trace after this one has its name: then this one was removed before. */
static bool is_used_again(const char *name, uint32_t index, uint32_t count) {
  for (index++; index < count; index++)
    if (list->entry[index].state == TRACE_STARTED && strncmp(list->entry[index].name, name, NAME_MAX) == 0) return true;
  return false;
}

/* In the command's namespace, if that is known. */
static int32_t process_of(const struct trace_entry *entry) { return entry->process ? entry->process : entry->pid; }

/* Whether a process has a trace after this one. */
static bool goes_on(int32_t process, uint32_t index, uint32_t count) {
  for (index++; index < count; index++)
    if (process_of(&list->entry[index]) == process) return true;
  return false;
}

static void load_trace(trace *t, uint32_t index, uint32_t count) {
  const bool is_written = writer_of(index) != 0;
  char *name = t->start.name;
  bytes shown = {0};
  memset(t, 0, sizeof *t);
  t->start = list->entry[index];
  if (renewed[index].inode) t->start.identity = renewed[index];
  t->end = ends->entry[index];
  t->file = -1;
  t->goes_on = goes_on(process_of(&t->start), index, count);
  t->is_abandoned = !is_written && !t->end.has_ended;
  name[NAME_MAX] = 0;
  if (t->start.state == TRACE_STARTED && !t->end.unused && !strchr(name, '/')) {
    const bool is_last = !is_used_again(name, index, count);
    if (*name && is_last && !t->end.unwritten) t->file = open_trace(&t->start, O_RDONLY);
    t->is_there = t->file >= 0 || !*name;
    t->is_lost = is_last && !t->is_there && !t->end.paused && t->end.why != TRACE_EXECUTES;
  }
  if (*name) snprintf(t->path, sizeof t->path, "%.*s%s", out.folder_size, out.path ? out.path : "", name);
  else snprintf(t->path, sizeof t->path, "%s", out.path ? out.path : shared.program);
  put_safe(&shown, TEXT_VISIBLE, t->path, strlen(t->path));
  snprintf(t->path, sizeof t->path, "%.*s", (int)shown.size, (const char *)shown.data);
  free(shown.data);
}

/* Calls a function in a process of its own: if it fails, only the traced program decides the exit status. */
static bool apart(void (*function)(trace *t, int to), trace *t, int to) {
  int status = 1;
  pid_t reader;
  fflush(stderr);
  reader = fork();
  if (reader == 0) {
    function(t, to);
    _exit(0);
  }
  while (reader > 0 && waitpid(reader, &status, 0) < 0 && errno == EINTR) continue;
  return reader > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ------------------------------------------------------------------------------------------------------- names ---- */

/* Whether only root and the owner of the program, whose code has run anyway, can change what a path leads to. */
static bool is_trusted(char *path) {
  bool is_file = true;
  for (;;) {
    struct stat status;
    char *slash = strrchr(path, '/');
    if (lstat(*path ? path : "/", &status) != 0 || (is_file && !S_ISREG(status.st_mode)) ||
        (status.st_uid != 0 && status.st_uid != program_owner) ||
        ((status.st_mode & S_IWOTH) && (is_file || !(status.st_mode & S_ISVTX))))
      return false;
    if (!slash) return true;
    *slash = 0;
    is_file = false;
  }
}

static const char *choose_trusted(const char *path) {
  static char chosen[BOARD_PATH];
  char rest[BOARD_PATH];
  if (strlen(path) >= sizeof chosen || !realpath(path, chosen)) return NULL;
  memcpy(rest, chosen, sizeof rest);
  return is_trusted(rest) ? chosen : NULL;
}

/* The tracer locks the file until it has written all. The system ends the lock of a killed process. */
static bool is_being_written(int file) { return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

/* Replaces a trace by one with the names that were found, and reports that. */
static void rewrite(symbolizer *s, const trace *t, uint32_t index, int to) {
  unfinished_name name;
  struct stat status;
  struct renewed done = {index, {0, 0}};
  input in;
  output result;
  int file;
  if (!input_open_file(&in, t->path, t->file, true)) fail("cannot read");
  name_unfinished(name, t->start.name, getpid());
  file = create_new(out.folder, name, O_RDWR);
  if (file < 0) fail("%s: %s", name, strerror(errno));
  output_of_file(&result, t->path, file);
  symbolizer_jit(s, t->start.pid, began);
  symbolizer_write(s, &in, &result);
  if (fstat(file, &status) != 0 || renameat(out.folder, name, out.folder, t->start.name) != 0) fail("cannot rename");
  done.identity.device = (uint64_t)status.st_dev;
  done.identity.inode = (uint64_t)status.st_ino;
  if (write(to, &done, sizeof done) != (ssize_t)sizeof done) fail("pipe: %s", strerror(errno));
  fclose(result.file);
  free(result.block.data);
  input_close(&in);
}

/* Adds names to traces of the list. Each is open only while it is read. */
static void add_names_to(const uint32_t *which, uint32_t number, uint32_t count, int to) {
  static trace t;
  symbolizer *s = symbolizer_new(geteuid() == 0 ? choose_trusted : NULL);
  input in;
  uint32_t i;
  for (i = 0; i < number; i++) {
    load_trace(&t, which[i], count);
    if (!input_open_file(&in, t.path, t.file, true)) fail("cannot read");
    symbolizer_look(s, &in);
    symbolizer_forget(s);
    input_close(&in);
  }
  symbolizer_find(s);
  for (i = 0; i < number; i++) {
    load_trace(&t, which[i], count);
    rewrite(s, &t, which[i], to);
  }
}

static void remove_unfinished(const uint32_t *which, uint32_t number, uint32_t count, pid_t writer) {
  static trace t;
  unfinished_name name;
  for (; number; number--, which++) {
    load_trace(&t, *which, count);
    if (t.file < 0) continue;
    close(t.file);
    name_unfinished(name, t.start.name, writer);
    unlinkat(out.folder, name, 0);
  }
}

/* Adds names to traces, in a process of its own. Each file with debug information is read once for all. If one of the
 * traces is damaged, those that come after it may stay as they are. */
static void add_names(const uint32_t *which, uint32_t number, uint32_t count) {
  int status = 1, nothing, pipe_ends[2];
  struct renewed done;
  pid_t writer;
  if (!number || pipe2(pipe_ends, O_CLOEXEC) != 0) return;
  fflush(stderr);
  writer = fork();
  if (writer == 0) {
    nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0) dup2(nothing, 2);
    add_names_to(which, number, count, pipe_ends[1]);
    _exit(0);
  }
  close(pipe_ends[1]);
  while (writer > 0 && read(pipe_ends[0], &done, sizeof done) == (ssize_t)sizeof done)
    if (done.index < count) renewed[done.index] = done.identity;
  close(pipe_ends[0]);
  while (writer > 0 && waitpid(writer, &status, 0) < 0 && errno == EINTR) continue;
  if (writer > 0 && status != 0) remove_unfinished(which, number, count, writer);
}

/* All complete traces at once. The others, and those that were left because one was damaged, one by one. */
static void add_all_names(uint32_t count) {
  uint32_t *complete = zeroed(count * sizeof *complete), number = 0, i;
  static trace t;
  for (i = 0; i < count; i++) {
    load_trace(&t, i, count);
    if (t.file < 0) continue;
    if (t.end.has_ended && !renewed[i].inode && !is_being_written(t.file)) complete[number++] = i;
    close(t.file);
  }
  add_names(complete, number, count);
  free(complete);
  for (i = 0; i < count; i++) {
    bool stays;
    load_trace(&t, i, count);
    if (t.file < 0) continue;
    stays = renewed[i].inode || is_being_written(t.file);
    close(t.file);
    if (!stays) add_names(&i, 1, count);
  }
}

static void add_names_if_complete(bool *done) {
  uint32_t count = count_traces(), i;
  for (i = 0; i < count; i++)
    if (writer_of(i)) return;
  if (adds_names) add_all_names(count);
  *done = true;
}

/* ----------------------------------------------------------------------------------------------------- summary ---- */

/* ": the reason", or nothing. */
static const char *error_text(int error) {
  static char text[128];
  snprintf(text, sizeof text, "%s%s", error ? ": " : "", error ? strerror(error) : "");
  return text;
}

static void print_info(trace *t, int to) {
  input in;
  (void)to;
  lseek(t->file, 0, SEEK_SET);
  if (input_open_file(&in, t->path, t->file, true))
    info_summary(
        &in, shared.children ? NULL : "It mostly waited for child processes, which gotrace record --children records.");
}

/* The process has begun after a stop. */
static bool is_refused(const trace *t) {
  return t->start.state == TRACE_FAILED && t->start.system_error == BOX_STOPPED;
}

static void summarize(trace *t, bool details) {
  const struct trace_end *end = &t->end;
  const char *path = t->path;
  int process = process_of(&t->start);
  uint64_t lost = 0;
  unsigned i;
  if (t->start.state == TRACE_STARTS || end->unused) {
    fprintf(stderr, "gotrace: process %d %s\n", process,
            !end->has_ended            ? "still runs; its trace had not begun when the command ended"
            : end->why == TRACE_KILLED ? "was killed by a signal while its trace began: it has no trace"
                                       : "ended while its trace began: it has no trace");
    return;
  }
  if (is_refused(t)) return;
  if (t->start.state == TRACE_FAILED) {
    fprintf(stderr, "gotrace: %s: process %d was not traced: %s%s\n", path, process,
            gotrace_result_string((gotrace_result)t->start.result), error_text(t->start.system_error));
    return;
  }
  if (end->why == TRACE_EXECUTES && end->left)
    fprintf(stderr, "gotrace: process %d is not traced any more: another gotrace record records what it has executed\n",
            process);
  else if (end->why == TRACE_EXECUTES && !t->goes_on)
    fprintf(stderr,
            "gotrace: process %d is not traced any more: it has executed a program that loads no library or that ended "
            "at once, or has given up privileges, or has entered a namespace, or has no /proc\n",
            process);
  if (end->sandboxed)
    fprintf(stderr,
            "gotrace: %s: process %d has entered a sandbox (seccomp), which could kill it for system calls of the "
            "tracer's: its trace lacks the threads and processes that began after that, who ended waits for pipes and "
            "sockets, and CPU times\n",
            path, process);
  if (end->unsampled)
    fprintf(stderr,
            "gotrace: %s: process %d uses SIGPROF itself or ignores it: its trace lacks the CPU samples after that\n",
            path, process);
  if (end->unreached == UNREACHED_PROGRAM)
    fprintf(stderr,
            "gotrace: %s: process %d started programs that are not traced, as the system loads no library into them: "
            "statically linked, setuid, with capabilities (setcap), or of another architecture\n",
            path, process);
  else if (end->unreached)
    fprintf(stderr,
            "gotrace: %s: children of process %d are not traced, nor what they start: they cannot open the recorder's "
            "files (%s), as in a namespace or without privileges\n",
            path, process, strerror((int)end->unreached));
  if (end->paused && !t->goes_on)
    fprintf(stderr, "gotrace: process %d ended before gotrace ctl %d start: it has no trace\n", process, process);
  if (t->is_lost)
    fprintf(stderr, "gotrace: %s: somebody removed or replaced the trace of process %d before it was complete\n", path,
            process);
  if (!t->is_there || end->paused) return;
  if (t->is_abandoned) {
    fprintf(stderr, "gotrace: %s: the recorder of process %d was killed: the trace ends where it was written last\n",
            path, process);
    return;
  } else if (!end->has_ended) {
    fprintf(stderr, "gotrace: %s: process %d still runs; its trace is written until it ends\n", path, process);
    return;
  } else if (end->why == TRACE_KILLED) {
    fprintf(stderr, "gotrace: %s: process %d was killed by a signal, with which the trace ends\n", path, process);
  } else if (end->why == TRACE_STOPPED) {
    fprintf(stderr, "gotrace: %s: the recording was stopped before process %d ended\n", path, process);
  } else if (end->why == TRACE_CUT_OFF) {
    fprintf(stderr,
            "gotrace: %s: process %d was killed or ended by a system call of its own, with which the trace ends\n",
            path, process);
  } else if (end->result < 0) {
    fprintf(stderr, "gotrace: %s: the trace ended early: %s%s\n", path,
            gotrace_result_string((gotrace_result)end->result), error_text(end->system_error));
  } else if (end->result == GOTRACE_LIMIT_REACHED) {
    fprintf(stderr, "gotrace: %s: the trace ended early: its limit was reached\n", path);
  }
  if (end->waits)
    fprintf(stderr, "gotrace: %s: threads waited %llu times for room, since they call faster than gotrace writes\n",
            path, (ull)end->waits);
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) lost += end->problems[i];
  if (lost) fprintf(stderr, "gotrace: %s: %llu problems\n", path, (ull)lost);
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++)
    if (end->problems[i])
      fprintf(stderr, "gotrace: %12llu  %s (%s)\n", (ull)end->problems[i], gotrace_problem_string((gotrace_problem)i),
              gotrace_problem_outcome((gotrace_problem)i));
  if (!details) {
    fprintf(stderr, "gotrace: %s: process %d, %llu events\n", path, process, (ull)end->events);
  } else if (t->file >= 0) {
    apart(print_info, t, 2);
    fprintf(stderr, "\nmore        gotrace info %s\npicture     gotrace view --open %s\n", path, path);
  }
}

static void report_untold(void) {
  if (untold.switches || untold.samples)
    report("%s: %s; see /proc/sys/kernel/perf_event_%s",
           !untold.samples ? "no context switches"
           : untold.ticks  ? untold.switches ? "no context switches, and CPU samples by timers instead of perf events"
                                             : "CPU samples by timers instead of perf events"
           : !untold.switches ? "no CPU samples"
                              : "no CPU samples and context switches",
           strerror(untold.error), untold.error == EINVAL ? "max_sample_rate" : "paranoid");
}

/* The program is not in the list. */
static void report_nothing(const char *program_path) {
  if (WIFSIGNALED(first_status))
    report("%s was killed by signal %d (%s) before the recorder's library began in it: it has no trace", program_path,
           WTERMSIG(first_status), strsignal(WTERMSIG(first_status)));
  else
    report("%s ended with status %d, and the recorder's library did not begin in it: it has no trace", program_path,
           WEXITSTATUS(first_status));
}

/* Reads the traces of the list one after the other, since each may keep a file open. */
static void report_traces(const char *program_path, const settings *set) {
  static trace t;
  uint32_t all, i, count, shown = 0;
  if (adds_names) add_all_names(count_traces());
  all = __atomic_load_n(&list->count, __ATOMIC_ACQUIRE); /* that takes a while, in which processes begin */
  count = all < shared.traces ? all : shared.traces;
  for (i = 0; i < count; i++) {
    load_trace(&t, i, count);
    shown += (t.is_there || t.start.state == TRACE_FAILED) && !is_refused(&t);
    if (t.file >= 0) close(t.file);
  }
  for (i = 0; i < count; i++) {
    load_trace(&t, i, count);
    if (!set->quiet) summarize(&t, shown == 1);
    if (t.file >= 0) close(t.file);
  }
  if (!set->quiet || set->sample) report_untold();
  if (set->quiet) return;
  if (!all) report_nothing(program_path);
  if (all > count) report("%u more processes", all - count);
}

int command_record(char **words, int count, const settings *set) {
  const char *path, *slash, *library;
  char interpreter[BOARD_PATH];
  struct stat status;
  int result;
  (void)count;
  began = time(NULL);
  path = find_program(words[0]);
  read_interpreter(path, interpreter);
  library = *interpreter ? shared.library[find_libraries(interpreter)] : NULL;
  choose_output(set->output);
  if (stat(path, &status) == 0) program_owner = status.st_uid;
  shared.traces = count_entries();
  list = share(&shared.list, list_size(shared.traces));
  ends = share_with_writers(ends_size(shared.traces));
  share_wakes(set->children);
  slash = strrchr(words[0], '/');
  snprintf(shared.program, sizeof shared.program, "%s", slash ? slash + 1 : words[0]);
  /* Traces of several processes are shown beside each other by the wall clock, which 1.25 and later have. */
  shared.format = (uint32_t)(set->format ? set->format : set->children ? GOTRACE_GO_1_25 : 0);
  shared.stacks = set->stacks;
  shared.size_limit = set->limit;
  shared.cut_milliseconds = set->cut;
  shared.flight_milliseconds = set->flight;
  shared.children = set->children;
  shared.only_waits = set->only_waits;
  shared.command_pid = getpid();
  shared.version = BOARD_VERSION;
  adds_names = !set->no_symbolize;
  renewed = zeroed((size_t)shared.traces * sizeof *renewed);
  make_box(set);
  if (out.replaces && unlinkat(out.folder, shared.output, 0) != 0 && errno != ENOENT)
    fail("%s: %s", out.path, strerror(errno));
  result = run(path, words, library);
  report_traces(path, set);
  return end_like(result);
}
