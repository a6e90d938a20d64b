/* members.c - see members.h
 *
 * A process that has executed a program has the recording's variable in its environment, until the library begins in
 * it. A child of fork has what its parent had. A program may write over its environment, and has mapped the settings by
 * then. */

#include "members.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a file of a process's in /proc. */
static FILE *open_proc(pid_t process, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
  return fopen(path, "re");
}

bool process_maps(pid_t process, uint64_t inode, bool unknown) {
  FILE *maps = open_proc(process, "maps");
  char *line = NULL;
  size_t room = 0;
  ull found;
  bool maps_it = !maps && unknown;
  while (!maps_it && maps && getline(&line, &room, maps) > 0)
    maps_it = sscanf(line, "%*s %*s %*s %*s %llu", &found) == 1 && found == inode;
  if (maps) fclose(maps);
  free(line);
  return maps_it;
}

/* What is needed of a process's "stat". */
struct account {
  ull began, memory, environment; /* when it began; the size of its memory; where its environment ends */
};
enum { BEGAN = 22, MEMORY = 23, ENVIRONMENT = 51 }; /* numbers of fields; the name is the second, and ends with ')' */

/* Zeros if the process is gone. */
static struct account account_of(pid_t process) {
  struct account a = {0, 0, 0};
  FILE *file = open_proc(process, "stat");
  char text[2048];
  const char *at;
  unsigned field;
  size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[size] = 0;
  at = strrchr(text, ')');
  for (field = 3; at && (at = strchr(at, ' ')) != NULL; field++) {
    at++;
    if (field == BEGAN) a.began = strtoull(at, NULL, 10);
    if (field == MEMORY) a.memory = strtoull(at, NULL, 10);
    if (field == ENVIRONMENT) a.environment = strtoull(at, NULL, 10);
  }
  return a;
}

/* Whether the process's environment has the variable. */
static bool has_variable(pid_t process, const char *assignment) {
  FILE *file = open_proc(process, "environ");
  char *text = NULL;
  size_t room = 0;
  bool empty = true, found = false;
  if (!file) return false;
  while (!found && getdelim(&text, &room, 0, file) > 0) {
    empty = false;
    found = strncmp(text, assignment, strlen(assignment)) == 0;
  }
  fclose(file);
  free(text);
  if (!empty) return found;
  /* The system is about to execute a program, which has no environment yet. */
  const struct account now = account_of(process);
  return now.memory && !now.environment;
}

bool members_exist(const struct membership *of, bool (*known)(pid_t process)) {
  const ull own = account_of(getpid()).began;
  DIR *all = opendir("/proc");
  const struct dirent *entry;
  bool found = false;
  while (!found && all && (entry = readdir(all)) != NULL) {
    char *end;
    pid_t process = (pid_t)strtol(entry->d_name, &end, 10);
    struct stat status;
    struct account a;
    if (*end || process <= 0 || fstatat(dirfd(all), entry->d_name, &status, 0) != 0 || status.st_uid != geteuid())
      continue;
    a = account_of(process);
    if (!a.memory || a.began < own || known(process)) continue;
    found = has_variable(process, of->assignment) || process_maps(process, of->settings, false);
  }
  if (all) closedir(all);
  return found;
}
