/* boxes.c - what `gotrace record` leaves in a process and in its child
 *
 *     boxes [killed|crowd|hurry|enters WAY]
 *
 * Prints of a child of fork, of a child of that one, and of a program that another child executes: threads, open
 * descriptors, mapped boxes.
 * With "killed" it only runs a thread, and then kills itself. With "crowd" it prints how large its box is, in MiB, and
 * whether that has grown when many threads have captured much at once. With "hurry" it stops its recorder for two
 * seconds, and captures more meanwhile than fits into 10 MiB. With "enters" it enters a namespace, and starts itself
 * there, by "fork", "vfork" or "spawn"; by "clone" or "call", a child enters it, by the function or by syscall(), which
 * forks then; with "closes" there is no descriptor left in it. With "roots" it has another root directory, and with
 * "drops" it has given up its privileges, too. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned count_files(const char *folder) {
  DIR *open = opendir(folder);
  unsigned count = 0;
  while (open && readdir(open)) count++;
  if (open) closedir(open);
  return count - 2; /* "." and ".." */
}

static unsigned count_boxes(void) {
  static char line[8192];
  FILE *maps = fopen("/proc/self/maps", "r");
  unsigned count = 0;
  while (maps && fgets(line, sizeof line, maps)) count += strstr(line, "gotrace box") != NULL;
  if (maps) fclose(maps);
  return count;
}

static void describe(const char *who) {
  printf("%s: %u threads, %u descriptors, %u boxes\n", who, count_files("/proc/self/task"),
         count_files("/proc/self/fd"), count_boxes());
  fflush(stdout);
}

static void *last_thing(void *unused) { return unused; }

/* The memory of the box, which the parent keeps open, in bytes. */
static unsigned long size_of_box(void) {
  char folder[64], path[400], name[64];
  struct stat status;
  struct dirent *entry;
  unsigned long size = 0;
  DIR *open;
  snprintf(folder, sizeof folder, "/proc/%d/fd", (int)getppid());
  open = opendir(folder);
  while (open && (entry = readdir(open))) {
    ssize_t length;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    length = readlink(path, name, sizeof name - 1);
    name[length < 0 ? 0 : length] = 0;
    if (strstr(name, "gotrace box") && stat(path, &status) == 0) size = (unsigned long)status.st_blocks * 512;
  }
  if (open) closedir(open);
  return size;
}

enum { CROWD = 500, NAPS = 500 };
static pthread_barrier_t begin;

static void *nap(void *unused) {
  const struct timespec moment = {0, 1};
  int i;
  pthread_barrier_wait(&begin);
  for (i = 0; i < NAPS; i++) nanosleep(&moment, NULL);
  return unused;
}

static void crowd(void) {
  static pthread_t threads[CROWD];
  unsigned long first = size_of_box();
  int i;
  pthread_barrier_init(&begin, NULL, CROWD);
  for (i = 0; i < CROWD; i++)
    if (pthread_create(&threads[i], NULL, nap, NULL) != 0) abort();
  for (i = 0; i < CROWD; i++) pthread_join(threads[i], NULL);
  printf("%lu MiB, %s\n", first >> 20, size_of_box() > first + (1 << 20) ? "more later" : "no more later");
}

static void hurry(void) {
  pid_t recorder = getppid();
  int zero = open("/dev/zero", O_RDONLY), i;
  char byte;
  if (fork() == 0) {
    sleep(2);
    kill(recorder, SIGCONT);
    _exit(0);
  }
  kill(recorder, SIGSTOP);
  for (i = 0; i < 1000000; i++)
    if (read(zero, &byte, 1) != 1) abort();
  wait(NULL);
}

static int result_of(pid_t child) {
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int fork_and_start(void *words_of) {
  char **words = words_of;
  pid_t child = fork();
  if (child == 0) execv(words[0], words), _exit(1);
  return result_of(child);
}

static bool is_way(const char *way, const char *name) { return strcmp(way, name) == 0; }

/* Returns what the child does. */
static int enter_namespace(char *self, const char *way) {
  static char stack[65536] __attribute__((aligned(64)));
  char *words[] = {self, (char[]){"started"}, NULL};
  pid_t child;
  if (is_way(way, "clone")) {
    child = clone(fork_and_start, stack + sizeof stack, CLONE_NEWUSER | SIGCHLD, words);
    return child < 0 ? 77 : result_of(child);
  }
  if (is_way(way, "call")) {
    child = (pid_t)syscall(SYS_clone, (long)(CLONE_NEWUSER | SIGCHLD), 0L, 0L, 0L, 0L);
    if (child == 0) _exit(fork_and_start(words));
    return child < 0 ? 77 : result_of(child);
  }
  if (is_way(way, "roots") || is_way(way, "drops")) {
    if (chroot("/") != 0) return 77;
    if (is_way(way, "drops") && (setgid(65534) != 0 || setuid(65534) != 0)) return 1;
  } else if (unshare(CLONE_NEWUSER) != 0) {
    return 77;
  }
  if (is_way(way, "closes"))
    for (child = 3; child < 4096; child++) close(child);
  if (is_way(way, "spawn")) {
    if (posix_spawn(&child, self, NULL, NULL, words, environ) != 0) return 1;
  } else if (is_way(way, "vfork")) {
    child = vfork();
    if (child == 0) execv(self, words), _exit(1);
  } else {
    return fork_and_start(words);
  }
  return result_of(child);
}

int main(int count, char **words) {
  pid_t child;
  int status = 1;
  if (count > 1 && strcmp(words[1], "killed") == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, last_thing, NULL) == 0) pthread_join(thread, NULL);
    kill(getpid(), SIGKILL);
  }
  if (count > 1 && strcmp(words[1], "crowd") == 0) return crowd(), 0;
  if (count > 1 && strcmp(words[1], "hurry") == 0) return hurry(), 0;
  if (count > 2) return enter_namespace(words[0], words[2]);
  if (count > 1) return describe(words[1]), 0;
  child = fork();
  if (child == 0) {
    describe("forked");
    child = fork();
    if (child == 0) return describe("forked again"), 0;
    waitpid(child, &status, 0);
    return status != 0;
  }
  waitpid(child, &status, 0);
  if (status) return 1;
  child = vfork();
  if (child == 0) execl(words[0], words[0], "executed", NULL), _exit(1);
  waitpid(child, &status, 0);
  return status != 0;
}
