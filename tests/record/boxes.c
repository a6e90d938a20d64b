/* boxes.c - what `gotrace record --outside` leaves in a process and in its child
 *
 *     boxes [killed]
 *
 * Prints of a child of fork, and of a program that another child executes: threads, open descriptors, mapped boxes.
 * With "killed" it only runs a thread, and then kills itself. */

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
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

int main(int count, char **words) {
  pid_t child;
  int status = 1;
  if (count > 1 && strcmp(words[1], "killed") == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, last_thing, NULL) == 0) pthread_join(thread, NULL);
    kill(getpid(), SIGKILL);
  }
  if (count > 1) return describe(words[1]), 0;
  child = fork();
  if (child == 0) return describe("forked"), 0;
  waitpid(child, &status, 0);
  if (status) return 1;
  child = vfork();
  if (child == 0) execl(words[0], words[0], "executed", NULL), _exit(1);
  waitpid(child, &status, 0);
  return status != 0;
}
