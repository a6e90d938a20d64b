/* executes.c - executes files that cannot be executed, then runs a thread: see test_record.sh
 *
 *     executes FOLDER      makes the files in the folder, executes them, and prints what came of it
 *
 * They are derived from this program: ELF files whose tables and interpreters are elsewhere than in the file. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef ElfW(Ehdr) header;
typedef ElfW(Phdr) segment;

static char own[1 << 20];
static size_t own_size;

static header *head(void) { return (header *)(void *)own; }

static segment *interpreter(void) {
  segment *s = (segment *)(void *)(own + head()->e_phoff);
  while (s->p_type != PT_INTERP) s++;
  return s;
}

static void make(const char *name, const void *data, size_t size) {
  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  if (file < 0 || write(file, data, size) != (ssize_t)size || close(file) != 0) exit(1);
}

/* Makes a file that differs from this program in one number. */
#define MAKE(name, field, value)          \
  do {                                    \
    __typeof__(field) kept = (field);     \
    (field) = (__typeof__(field))(value); \
    make(name, own, own_size);            \
    (field) = kept;                       \
  } while (0)

static const char *const names[] = {"wraps",
                                    "interpreter-outside",
                                    "interpreter-large",
                                    "interpreter-negative",
                                    "interpreter-unterminated",
                                    "tables",
                                    "tables-outside",
                                    "tables-negative",
                                    "entry-size",
                                    "short",
                                    "empty",
                                    "pipe",
                                    "folder",
                                    "script-pipe",
                                    "script-itself",
                                    "script",
                                    "script-folder",
                                    "script-long",
                                    "no-such-file"};

static void make_files(void) {
  static char line[8192] = "#!";
  uint64_t half = (uint64_t)1 << (8 * sizeof(void *) - 1);
  segment kept = *interpreter();
  interpreter()->p_offset = interpreter()->p_filesz = (__typeof__(kept.p_offset))half;
  make("wraps", own, own_size);
  *interpreter() = kept;
  MAKE("interpreter-outside", interpreter()->p_offset, own_size + 4096);
  MAKE("interpreter-large", interpreter()->p_filesz, half - 1);
  MAKE("interpreter-negative", interpreter()->p_offset, -1);
  MAKE("interpreter-unterminated", interpreter()->p_filesz, interpreter()->p_filesz - 1);
  MAKE("tables", head()->e_phnum, 0xffff);
  MAKE("tables-outside", head()->e_phoff, own_size);
  MAKE("tables-negative", head()->e_phoff, -(int64_t)sizeof(segment));
  MAKE("entry-size", head()->e_phentsize, 1);
  make("short", own, sizeof(header) - 1);
  make("empty", own, 0);
  make("script-pipe", "#!pipe", 6);
  make("script-itself", "#!script-itself\n", 16);
  make("script", "#! \n", 4);
  make("script-folder", "#!folder\n", 9);
  memset(line + 2, 'x', sizeof line - 2);
  make("script-long", line, sizeof line);
  if (mkfifo("pipe", 0755) != 0 || mkdir("folder", 0755) != 0 || chmod("pipe", 0755) != 0) exit(1);
}

void *last_thing(void *unused);
void *last_thing(void *unused) {
  struct timespec time = {0, 1000};
  nanosleep(&time, NULL);
  return unused;
}

static void run_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, last_thing, NULL) == 0) pthread_join(thread, NULL);
}

int main(int count, char **words) {
  char *arguments[] = {"file", NULL};
  FILE *file = fopen(words[0], "r");
  size_t i;
  if (count != 2 || !file || chdir(words[1]) != 0) return 1;
  own_size = fread(own, 1, sizeof own, file);
  make_files();
  for (i = 0; i < sizeof names / sizeof *names; i++) {
    int status = 0;
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) execv(names[i], arguments), _exit(errno);
    if (waitpid(child, &status, 0) != child) return 1;
    printf("%s: %s\n", names[i], WIFSIGNALED(status) ? "signal" : strerror(WEXITSTATUS(status)));
    if (WIFSIGNALED(status)) continue; /* the system starts a process, then finds that it cannot */
    execv(names[i], arguments);
    printf("%s: %s\n", names[i], strerror(errno));
  }
  run_thread();
  return 3;
}
