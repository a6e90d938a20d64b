/* early.c - a program that ends before or while its recording begins
 *
 *     early kill     is killed before the preloaded library begins
 *     early exit     exits before, with 3
 *     early starts   is killed by a system call that the library makes when its trace has a file, but has not begun */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "filter.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The library wants a page of its own to be zero in children: madvise(_, _, MADV_WIPEONFORK). */
static void forbid_wiping(void) {
  struct instruction all[] = {
      {LOAD, 0, 0, 0}, /* the number of the call */
      {JUMP_IF_EQUAL, 0, 3, SYS_madvise},
      {LOAD, 0, 0, 16 + 2 * 8}, /* its third argument */
      {JUMP_IF_EQUAL, 0, 1, 18},
      {RETURN, 0, 0, KILL},
      {RETURN, 0, 0, ALLOW},
  };
  struct filter filter = {sizeof all / sizeof *all, all};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, 1 /* SECCOMP_SET_MODE_FILTER */, 0, &filter) != 0) _exit(77);
}

static void begin(int count, char **words, char **environment) {
  const char *way = count > 1 ? words[1] : "";
  (void)environment;
  if (strcmp(way, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(way, "exit") == 0) _exit(3);
  if (strcmp(way, "starts") == 0) forbid_wiping();
}

/* Comes before the constructors of all libraries. */
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = begin;

int main(void) { return 4; }
