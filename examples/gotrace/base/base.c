/* base.c - messages, failure and memory: see tool.h */

#include "tool.h"

#include <errno.h>
#if !IN_BROWSER
#include <signal.h>
#endif
#include <stdlib.h>
#include <unistd.h>

struct program program;

#if IN_BROWSER
static void remove_unfinished(void) {}
void remove_on_signals(void) {}
#else
static void remove_unfinished(void) {
  if (program.unfinished) unlink(program.unfinished);
  if (program.discard) program.discard();
}

static void handle_signal(int signal_number) {
  remove_unfinished();
  raise(signal_number); /* the handler is already reset to the default */
}

/* A mapped file that becomes shorter raises SIGBUS where it is read. */
static void handle_bus_error(int signal_number, siginfo_t *info, void *context) {
  static const char text[] = "gotrace: the input became shorter while it was read, or cannot be read any more\n";
  (void)context;
  remove_unfinished();
  if (info->si_code == BUS_ADRERR) {
    ssize_t written = write(2, text, sizeof text - 1);
    (void)written;
    _exit(1);
  }
  raise(signal_number);
}

void remove_on_signals(void) {
  static const int deadly[] = {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
  struct sigaction action;
  size_t i;
  for (i = 0; i < COUNT(deadly); i++) {
    if (sigaction(deadly[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(deadly[i], &action, NULL);
  }
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handle_bus_error;
  action.sa_flags = (int)(SA_RESETHAND | SA_SIGINFO);
  sigaction(SIGBUS, &action, NULL);
  signal(SIGXFSZ, SIG_IGN); /* writing beyond the size limit fails like any other error */
}

#endif

void erase_progress(void) {
  if (program.progress_shown) fputs("\r\033[K", stderr);
  program.progress_shown = false;
}

__attribute__((format(printf, 1, 0))) void report_list(const char *format, va_list arguments) {
  const char *file = program.file && strcmp(program.file, "-") == 0 ? "standard input" : program.file;
  char text[8192]; /* on the stack: memory may have run out */
  int size = vsnprintf(text, sizeof text, format, arguments);
  erase_progress();
  fflush(stdout);
  fputs("gotrace: ", stderr);
  if (file) print_visible(stderr, file, strlen(file)), fputs(": ", stderr);
  if (size > 0) print_visible(stderr, text, prefix_size(text, (size_t)size, sizeof text - 1));
  fputc('\n', stderr);
}

__attribute__((format(printf, 1, 2))) void report(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report_list(format, arguments);
  va_end(arguments);
}

__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report_list(format, arguments);
  va_end(arguments);
  remove_unfinished();
  exit(1);
}

void *resize(void *memory, size_t size) {
  memory = realloc(memory, size ? size : 1);
  if (!memory) fail("out of memory");
  return memory;
}

void *zeroed(size_t size) {
  void *memory = calloc(1, size ? size : 1);
  if (!memory) fail("out of memory");
  return memory;
}

/* A linked list, so that leak checkers see the blocks as reachable. */
typedef struct kept {
  struct kept *next;
  max_align_t data[];
} kept;

void *keep(size_t size) {
  static kept *blocks;
  static char *at;
  static size_t left;
  const size_t block_size = (size_t)1 << 16;
  size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
  if (size > left) {
    size_t room = size > block_size ? size : block_size;
    kept *block = zeroed(sizeof *block + room);
    block->next = blocks;
    blocks = block;
    at = (char *)block->data;
    left = room;
  }
  at += size;
  left -= size;
  return at - size;
}

unsigned processor_count(void) {
#if IN_BROWSER
  return 1;
#else
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > 256 ? 256 : (unsigned)count;
#endif
}
