/* members.h - finds, in /proc, the processes that belong to a recording: see members.c */

#ifndef MEMBERS_H
#define MEMBERS_H

#include "../base/tool.h"

#include <sys/types.h>

/* By what they are recognized. */
struct membership {
  const char *assignment; /* how the variable of their environment begins */
  uint64_t settings;      /* the inode of the file that they map */
};

/* Whether there is a process of this user, younger than the caller, that belongs to the recording, and that is not
 * `known`. False also if /proc does not show it. */
bool members_exist(const struct membership *of, bool (*known)(pid_t process));

/* Whether a process maps a file; `unknown` if that cannot be seen. */
bool process_maps(pid_t process, uint64_t inode, bool unknown);

#endif
