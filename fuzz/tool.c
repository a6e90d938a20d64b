/* Fuzzes the commands of the tool (examples/gotrace), with the command line's own parser.
 *
 * Input: a byte that chooses the command line, then the trace. Results go to /dev/null. A command that fails calls
 * exit(), which the linker replaces by __wrap_exit() (-Wl,--wrap=exit): it returns to the next input. What the command
 * had allocated stays, so leaks are not looked for.
 *
 * What commands start is left out: PATH is empty, so symbolize finds no program, and record has tests of its own. */
#include "../examples/gotrace/command/commands.h"
#include "../examples/gotrace/export/table_set.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define remove_on_signals() ((void)0) /* libFuzzer has handlers of its own */
#define main tool_main
int tool_main(int argc, char **argv);
#include "../examples/gotrace/main.c"
#undef main

void __real_exit(int status);
void __wrap_exit(int status);
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static jmp_buf next_input;
static bool is_running;

void __wrap_exit(int status) {
  if (!is_running) __real_exit(status);
  longjmp(next_input, 1);
}

/* FILE stands for the trace, NEW for a directory that is not there. Output that is not chosen here goes to standard
 * output. */
static const char *const lines[] = {
    "info FILE",
    "info --json --details --histogram --jobs 1 FILE",
    "info --csv --details --jobs 2 FILE",
    "info --from 1us --to 1ms --go 1,2 FILE",
    "info --function main FILE",
    "info --task 1 --thread 1 FILE",
    "check --jobs 1 FILE",
    "dump FILE",
    "dump --json FILE",
    "dump --wire FILE",
    "dump --wire --json FILE",
    "dump --kind GoStart,GoBlock --proc 1 FILE",
    "convert --to 1.8 -o /dev/null FILE",
    "convert --to 1.11 -o /dev/null FILE",
    "convert --to 1.21 -o /dev/null FILE",
    "convert --to 1.22 -o /dev/null FILE",
    "convert --to 1.23 --partial -o /dev/null FILE",
    "convert --to 1.26 --partial -o /dev/null FILE",
    "cut --from 1us --to 1ms --partial -o /dev/null FILE",
    "cut --go 1,2 --partial -o /dev/null FILE",
    "export --chrome --partial -o /dev/null FILE",
    "export --perfetto --partial -o /dev/null FILE",
    "profile --cpu --partial -o /dev/null FILE",
    "profile --sync --folded --partial -o /dev/null FILE",
    "profile --scheduler --partial -o /dev/null FILE",
    "profile --create --partial -o /dev/null FILE",
    "profile --syscall --partial -o /dev/null FILE",
    "path --go 1 --partial -o /dev/null FILE",
    "path --task 1 --json --partial -o /dev/null FILE",
    "view --partial -o /dev/null FILE",
    "view --from 1us --to 1ms --go 1 --partial -o /dev/null FILE",
    "diff FILE FILE",
    "symbolize -o /dev/null FILE",
    "export --tables NEW --partial FILE",
};

static FILE *nothing;
static char new_directory[64]; /* what NEW stands for */

static void prepare(void) {
  if (nothing) return;
  nothing = fopen("/dev/null", "w");
  if (!nothing) abort();
  setenv("PATH", "", 1);
  if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
  if (!freopen("/dev/null", "w", stdout)) abort();
  snprintf(new_directory, sizeof new_directory, "%s/gotrace-%ld", temporary_directory(), (long)getpid());
}

/* Removes the tables that a command has written. */
static void remove_tables(void) {
  char path[128];
  size_t i;
  for (i = 0; i < SET_TABLES; i++) {
    snprintf(path, sizeof path, "%s/%s.csv.gz", new_directory, set_tables[i].name);
    unlink(path);
  }
  snprintf(path, sizeof path, "%s/schema.sql", new_directory);
  unlink(path);
  rmdir(new_directory);
}

/* Runs a command line on a file. */
static void run_line(const char *line, char *file) {
  char words[256], *arguments[16] = {words};
  FILE *messages = stderr; /* sanitizers write to the descriptor */
  int count = 0;
  char *word;
  snprintf(words, sizeof words, "gotrace %s", line);
  for (word = strtok(words, " "); word; word = strtok(NULL, " "))
    arguments[count++] = strcmp(word, "FILE") == 0 ? file : strcmp(word, "NEW") == 0 ? new_directory : word;
  arguments[count] = NULL;
  stderr = nothing;
  is_running = true;
  if (setjmp(next_input) == 0) tool_main(count, arguments);
  is_running = false;
  stderr = messages;
  if (program.unfinished) unlink(program.unfinished);
  program.unfinished = NULL;
  program.discard = NULL; /* exit() was preceded by it */
  if (strstr(line, "NEW")) remove_tables();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  int file;
  if (size < 2) return 0;
  prepare();
  file = memfd_create("trace", 0);
  if (file < 0 || write(file, data + 1, size - 1) != (ssize_t)(size - 1)) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  run_line(lines[data[0] % COUNT(lines)], path);
  close(file);
  return 0;
}
