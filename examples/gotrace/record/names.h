/* names.h - the names of the traces of `gotrace record`, chosen where the process is known: by the command or by its
 * preloaded library */

#ifndef NAMES_H
#define NAMES_H

#include "board.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Chooses a name for a file of a process, into NAME_MAX + 1 bytes. `other`: the name of a program that is not the
 * first. `turn`: how often it had to be chosen. */
static void choose_name(const struct record_settings *s, int pid, const char *other, unsigned turn, char *to) {
  const char *from = s->output;
  bool is_first = s->first_pid == pid, has_pid = !*from;
  char suffix[NAME_MAX + 1], own[16] = "", again[16] = "", *at = to, *dot;
  const char *limit = to + NAME_MAX;
  if (!*from) at += snprintf(at, NAME_MAX + 1, "%.200s.%d.trace", is_first ? s->program : other, pid);
  for (; *from && at < limit; from++) {
    if (from[0] == '%' && from[1] == 'p') {
      at += snprintf(at, (size_t)(limit - at) + 1, "%d", pid), from++, has_pid = true;
      continue;
    }
    if (from[0] == '%' && from[1] == '%') from++;
    *at++ = *from;
  }
  if (at > limit) at = to + NAME_MAX;
  *at = 0;
  dot = strrchr(to, '.');
  if (!dot) dot = at;
  snprintf(suffix, sizeof suffix, "%s", dot);
  if (!has_pid && !is_first) snprintf(own, sizeof own, ".%d", pid); /* numbers before the suffix */
  if (turn > 1) snprintf(again, sizeof again, "-%u", turn);
  snprintf(dot, (size_t)(limit - dot) + 1, "%s%s%s", own, again, suffix);
}

/* Creates a file that its owner can read and write, whatever the umask is: another process opens it by its name.
 * -1: see errno. */
static int create_new(int folder, const char *name, int mode) {
  int file = openat(folder, name, mode | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  struct stat status;
  if (file >= 0 && fstat(file, &status) == 0 && (status.st_mode & 0600) != 0600) (void)fchmod(file, 0600);
  return file;
}

/* Creates a file in the folder, and chooses its name: one that nothing has yet. -1: see errno. */
static int create_trace(const struct record_settings *s, int folder, int pid, const char *other, char *name) {
  unsigned turn = 0;
  int file;
  do {
    choose_name(s, pid, other, ++turn, name);
    file = create_new(folder, name, O_WRONLY);
  } while (file < 0 && errno == EEXIST && turn < 1000);
  return file;
}

#endif
