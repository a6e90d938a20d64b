/* hostile.c - a daemon with root's privileges, and children that have given them up and attack: see test_record.sh
 *
 *     hostile texts OLD NEW OLD NEW ... -- FORGED LINKED VICTIM
 *     hostile fill -- FORGED LINKED VICTIM
 *
 * The attackers run as user 65534. Each does what it can with what fork has left to it:
 *
 *     in writable shared memory, replace each text OLD by NEW; or fill it all
 *     write into each open file, and truncate it
 *     open the files of the parent and of its parent, to write
 *     if it is traced itself, write FORGED over its own trace
 *     make links to VICTIM with the names that traces of later processes may get: LINKED with %d for the process id
 *
 * Each says what it found: "memory" or "file", once. Meanwhile the daemon works, then starts another child and executes
 * another program. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534

extern pid_t _Fork(void) __attribute__((weak)); /* not in every C library */

static bool fills;
static char **replaced, *forged, *linked, *victim;

static void work(void) {
  struct timespec time = {0, 1000};
  int i;
  for (i = 0; i < 200; i++) nanosleep(&time, NULL);
}

static void say(const char *what, bool *said) {
  if (!*said && write(1, what, strlen(what)) < 0) return;
  *said = true;
}

static void replace_texts(char *memory, size_t size) {
  char **pair;
  for (pair = replaced; pair[0] && pair[1]; pair += 2) {
    char *at = memory;
    size_t length = strlen(pair[0]);
    while ((at = memmem(at, size - (size_t)(at - memory), pair[0], length)) != NULL) {
      size_t left = size - (size_t)(at - memory);
      snprintf(at, left, "%s", pair[1]);
      at++;
    }
  }
}

static void attack_memory(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[8192], access[5];
  unsigned long from, to;
  bool said = false;
  while (maps && fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || strcmp(access, "rw-s") != 0) continue;
    say("memory\n", &said);
    if (fills) memset((void *)from, 0xff, to - from);
    else replace_texts((char *)from, to - from);
  }
  if (maps) fclose(maps);
}

static void overwrite(int file, const char *data, size_t size) {
  if (pwrite(file, data, size, 0) == (ssize_t)size && ftruncate(file, (off_t)size) != 0) return;
}

static void attack_descriptors(const char *data, size_t size) {
  struct stat status;
  bool said = false;
  int file;
  for (file = 3; file < 4096; file++) {
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY)
      continue;
    say("file\n", &said);
    overwrite(file, data, size);
  }
}

static void attack_files_of(pid_t pid) {
  char path[64];
  int number, file;
  for (number = 3; number < 4096; number++) {
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, number);
    file = open(path, O_WRONLY);
    if (file < 0) continue;
    overwrite(file, "", 0);
    close(file);
  }
}

static void make_links(void) {
  char name[4096];
  pid_t i;
  umask(0);
  for (i = getpid() + 1; i < getpid() + 5000; i++) {
    snprintf(name, sizeof name, linked, (int)i);
    if (symlink(victim, name) != 0) return;
  }
}

static void attack(pid_t command) {
  static char data[1 << 20];
  FILE *file = fopen(forged, "r");
  size_t size = file ? fread(data, 1, sizeof data, file) : 0;
  if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0) _exit(1);
  attack_memory();
  attack_descriptors(data, size);
  attack_files_of(getppid());
  attack_files_of(command);
  make_links();
  kill(getpid(), SIGKILL); /* writes nothing more to the trace */
}

static int run(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) exit(1);
  return status;
}

int main(int count, char **words) {
  pid_t command = getppid(), child;
  int i;
  for (i = 2; i < count && strcmp(words[i], "--") != 0; i++) continue;
  if (i + 4 != count) return 1;
  words[i] = NULL;
  fills = strcmp(words[1], "fill") == 0;
  replaced = words + 2;
  forged = words[i + 1], linked = words[i + 2], victim = words[i + 3];
  work();
  for (i = 0; i < 2; i++) {
    child = i && _Fork ? _Fork() : fork();
    if (child == 0) attack(command);
    if (!WIFSIGNALED(run(child))) return 1;
  }
  child = fork();
  if (child == 0) work(), _exit(5);
  if (WEXITSTATUS(run(child)) != 5) return 1;
  work();
  execl("/bin/sh", "sh", "-c", "echo done; exit 7", (char *)NULL);
  return 1;
}
