/* record.c - gotrace record: runs a program with the preloaded library of preload/, which writes its trace
 *
 * The command and the library share a board (board.h). To its caller this process looks like the command: it leaves the
 * output to it, passes on signals, and exits with its status. In between it waits; at the end it reports what was
 * traced. */

#include "tool.h"

#include "board.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct board *board;
static volatile pid_t child;

/* ------------------------------------------------------------------------------------------------- the command ---- */

/* Where the shell would find a command; fails if nowhere. */
static const char *find_program(const char *name) {
  static char path[BOARD_PATH];
  const char *at = getenv("PATH"), *end;
  struct stat status;
  int error = ENOENT;
  program.file = NULL;
  if (strchr(name, '/')) {
    if (stat(name, &status) != 0) fail("%s: %s", name, strerror(errno));
    if (S_ISDIR(status.st_mode)) fail("%s: is a directory", name);
    if (access(name, X_OK) != 0) fail("%s: %s", name, strerror(errno));
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
  fail("%s: %s", name, error == ENOENT ? "command not found" : strerror(error));
}

/* The word size and machine for which the tool itself was built. */
static void own_kind(unsigned char *class, uint16_t *machine) {
  unsigned char header[20];
  int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  memset(header, 0, sizeof header);
  if (file >= 0) {
    if (read(file, header, sizeof header) < 0) memset(header, 0, sizeof header);
    close(file);
  }
  *class = header[EI_CLASS];
  memcpy(machine, header + 18, sizeof *machine);
}

#if __SIZEOF_POINTER__ == 8
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
#endif

/* The dynamic linker that a program asks for. Fails if the library cannot be loaded into the program. */
static void read_interpreter(const char *path, const char *name, char *interpreter, size_t size, unsigned depth) {
  unsigned char class;
  uint16_t machine;
  elf_header header;
  struct stat status;
  char line[256];
  ssize_t length;
  unsigned i;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) { /* executable but not readable */
    if (errno != EACCES) fail("%s: %s", path, strerror(errno));
    snprintf(interpreter, size, "unknown");
    return;
  }
  if (fstat(file, &status) == 0 &&
      (((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
       ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && status.st_gid != getegid())))
    fail("%s: a setuid or setgid program cannot be traced: the system loads no library into it", path);
  length = pread(file, line, sizeof line - 1, 0);
  if (length >= 2 && line[0] == '#' && line[1] == '!' && depth < 5) {
    char *word = line + 2;
    line[length] = 0;
    word += strspn(word, " \t");
    word[strcspn(word, " \t\n")] = 0;
    close(file);
    if (!*word) fail("%s: no interpreter", path);
    if (access(word, X_OK) != 0) fail("%s: interpreter %s: %s", path, word, strerror(errno));
    read_interpreter(word, name, interpreter, size, depth + 1);
    return;
  }
  own_kind(&class, &machine);
  memset(&header, 0, sizeof header);
  if (pread(file, &header, sizeof header, 0) < 20 || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    fail("%s: neither a program nor a script", path);
  if (header.e_ident[EI_CLASS] != class || header.e_machine != machine)
    fail("%s: a program of another architecture", path);
  *interpreter = 0;
  for (i = 0; i < header.e_phnum; i++) {
    elf_segment segment;
    off_t at = (off_t)header.e_phoff + (off_t)i * header.e_phentsize;
    if (pread(file, &segment, sizeof segment, at) != (ssize_t)sizeof segment) break;
    if (segment.p_type != PT_INTERP) continue;
    length = pread(file, interpreter, segment.p_filesz < size ? (size_t)segment.p_filesz : size - 1,
                   (off_t)segment.p_offset);
    interpreter[length > 0 ? length : 0] = 0;
  }
  close(file);
  if (!*interpreter)
    fail("%s: a statically linked program cannot be traced: the system loads no library into it", path);
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
  if (length < 0) fail("/proc/self/exe: %s", strerror(errno));
  own[length] = 0;
  *(strrchr(own, '/') + 1) = 0;
  for (which = RECORD_GNU; which <= RECORD_MUSL; which++) {
    char *path = board->library[which];
    for (i = 0; i < COUNT(places) && !*path; i++)
      if (snprintf(path, BOARD_PATH, "%s%s%s", own, places[i], names[which]) >= BOARD_PATH || access(path, R_OK) != 0)
        *path = 0;
    if (strpbrk(path, " :")) fail("%s: LD_PRELOAD allows no space and no colon in a path", path);
  }
  if (!board->library[needed][0]) fail("%s is neither in %s nor in %s../lib/gotrace", names[needed], own, own);
  return needed;
}

/* -------------------------------------------------------------------------------------------------- the output ---- */

/* Fails if no file can be written there. Not checked: a name with %p, which is not yet known. */
static void check_output(const char *path) {
  char directory[BOARD_PATH];
  char *slash;
  struct stat status;
  if (stat(path, &status) == 0) {
    if (S_ISDIR(status.st_mode)) fail("%s: is a directory", path);
    if (access(path, W_OK) != 0) fail("%s: %s", path, strerror(errno));
    return;
  }
  snprintf(directory, sizeof directory, "%s", path);
  slash = strrchr(directory, '/');
  slash[slash == directory] = 0;
  if (access(directory, W_OK | X_OK) != 0) fail("%s: %s", path, strerror(errno));
}

static void choose_output(const char *path) {
  if (!getcwd(board->directory, sizeof board->directory)) fail("current directory: %s", strerror(errno));
  if (path && *path == '/') snprintf(board->output, sizeof board->output, "%s", path);
  else if (path && snprintf(board->output, sizeof board->output, "%s/%s", board->directory, path) >= BOARD_PATH)
    fail("%s: path too long", path);
  if (path) check_output(board->output);
  else if (access(board->directory, W_OK | X_OK) != 0) fail("%s: %s", board->directory, strerror(errno));
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
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  for (i = 0; i < COUNT(passed); i++)
    if (sigaction(passed[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(passed[i], &action, NULL);
}

/* In the child, so that programs that the tool runs later are not traced. */
static void add_to_environment(const char *library, int file) {
  const char *old = getenv("LD_PRELOAD");
  char text[2 * BOARD_PATH + 64];
  snprintf(text, sizeof text, "%s%s%s", library, old && *old ? ":" : "", old ? old : "");
  setenv("LD_PRELOAD", text, 1);
  snprintf(text, sizeof text, "/proc/%d/fd/%d", (int)getppid(), file);
  setenv(BOARD_VARIABLE, text, 1);
}

static int run(const char *path, char **words, const char *library, int file) {
  sigset_t all, old;
  int status, pipe_ends[2], error = 0;
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) fail("pipe: %s", strerror(errno));
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &old);
  child = fork();
  if (child < 0) fail("fork: %s", strerror(errno));
  if (child == 0) {
    add_to_environment(library, file);
    sigprocmask(SIG_SETMASK, &old, NULL);
    execv(path, words);
    error = errno;
    if (write(pipe_ends[1], &error, sizeof error) < 0) error = 0;
    _exit(127);
  }
  prepare_signals();
  sigprocmask(SIG_SETMASK, &old, NULL);
  close(pipe_ends[1]);
  while (read(pipe_ends[0], &error, sizeof error) < 0 && errno == EINTR) continue;
  close(pipe_ends[0]);
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail("wait: %s", strerror(errno));
  child = 0;
  if (error) fail("%s: %s", path, strerror(error));
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

/* ----------------------------------------------------------------------------------------------------- summary ---- */

static const char *short_path(const char *path) {
  size_t size = strlen(board->directory);
  return strncmp(path, board->directory, size) == 0 && path[size] == '/' ? path + size + 1 : path;
}

static void summarize(const struct board_process *p, bool details) {
  uint64_t lost = 0;
  unsigned i;
  const char *path = short_path(p->path);
  struct stat status;
  uint32_t state = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
  if (state == PROCESS_DROPPED || state == PROCESS_FREE) return;
  if (state == PROCESS_FAILED) {
    fprintf(stderr, "gotrace: %s: process %d was not traced: %s%s%s\n", path, (int)p->pid,
            gotrace_result_string((gotrace_result)p->result), p->system_error ? ": " : "",
            p->system_error ? strerror(p->system_error) : "");
    return;
  }
  if (state == PROCESS_TRACED) {
    fprintf(stderr, "gotrace: %s: process %d was killed or still runs; %s\n", path, (int)p->pid,
            board->flight_milliseconds ? "nothing was written at its end" : "the trace ends with its last cut");
  } else if (p->result < 0) {
    fprintf(stderr, "gotrace: %s: the trace ended early: %s%s%s\n", path,
            gotrace_result_string((gotrace_result)p->result), p->system_error ? ": " : "",
            p->system_error ? strerror(p->system_error) : "");
  } else if (p->result == GOTRACE_LIMIT_REACHED) {
    fprintf(stderr, "gotrace: %s: the trace ended early: its limit was reached\n", path);
  }
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) lost += p->problems[i];
  if (lost) fprintf(stderr, "gotrace: %s: %llu problems\n", path, (ull)lost);
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++)
    if (p->problems[i])
      fprintf(stderr, "gotrace: %12llu  %s (%s)\n", (ull)p->problems[i], gotrace_problem_string((gotrace_problem)i),
              gotrace_problem_outcome((gotrace_problem)i));
  if (!details) {
    fprintf(stderr, "gotrace: %s: process %d, %llu events\n", path, (int)p->pid, (ull)p->events);
  } else if (stat(p->path, &status) == 0 && S_ISREG(status.st_mode) && access(p->path, R_OK) == 0) {
    info_summary(p->path);
    fprintf(stderr, "\nmore        gotrace info %s\npictures    go tool trace %s\n", path, path);
  }
}

/* Runs gotrace symbolize in a separate process: if that fails, the trace stays as it is, and only the traced program
 * decides the exit status. */
static void symbolize(const char *path) {
  struct stat status;
  pid_t looker;
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return;
  fflush(stderr);
  looker = fork();
  if (looker == 0) {
    int nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0) dup2(nothing, 2);
    _exit(symbolize_file(path, path));
  }
  while (looker > 0 && waitpid(looker, NULL, 0) < 0 && errno == EINTR) continue;
}

static void symbolize_all(void) {
  uint32_t count = __atomic_load_n(&board->processes, __ATOMIC_ACQUIRE), i;
  for (i = 0; i < count && i < BOARD_PROCESSES; i++) {
    uint32_t state = __atomic_load_n(&board->process[i].state, __ATOMIC_ACQUIRE);
    if (state == PROCESS_ENDED || state == PROCESS_REPLACED) symbolize(board->process[i].path);
  }
}

static void summarize_all(const char *path) {
  uint32_t count = __atomic_load_n(&board->processes, __ATOMIC_ACQUIRE), i, traces = 0;
  if (!count) report("%s loaded no library: it is not traced", path);
  for (i = 0; i < count && i < BOARD_PROCESSES; i++)
    traces += board->process[i].state != PROCESS_DROPPED && board->process[i].state != PROCESS_FREE;
  for (i = 0; i < count && i < BOARD_PROCESSES; i++) summarize(&board->process[i], traces == 1);
  if (count > BOARD_PROCESSES) report("%u more processes", count - BOARD_PROCESSES);
}

int command_record(char **words, int count, const settings *set) {
  const char *path, *slash;
  char interpreter[256];
  int file, status;
  unsigned library;
  (void)count;
  file = memfd_create("gotrace record", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)sizeof *board) != 0) fail("shared memory: %s", strerror(errno));
  board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (board == MAP_FAILED) fail("shared memory: %s", strerror(errno));
  path = find_program(words[0]);
  read_interpreter(path, words[0], interpreter, sizeof interpreter, 0);
  library = find_libraries(interpreter);
  choose_output(set->output);
  slash = strrchr(words[0], '/');
  snprintf(board->command, sizeof board->command, "%s", slash ? slash + 1 : words[0]);
  board->format = (uint32_t)set->format;
  board->stacks = set->stacks;
  board->size_limit = set->limit;
  board->cut_milliseconds = set->cut;
  board->flight_milliseconds = set->flight;
  board->children = set->children;
  board->only_waits = set->only_waits;
  board->version = BOARD_VERSION;
  status = run(path, words, board->library[library], file);
  if (!set->no_symbolize) symbolize_all();
  if (!set->quiet) summarize_all(path);
  return end_like(status);
}
