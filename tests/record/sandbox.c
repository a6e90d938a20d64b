/* sandbox.c - programs that enter a sandbox (seccomp), in which most system calls kill the process
 *
 *     sandbox strict    prctl: only read, write and exit are left
 *     sandbox filter    a filter for all threads, through syscall()
 *     sandbox returns   the same, and main returns
 *     sandbox fails     a sandbox that cannot be entered */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "filter.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *last_thing(void *unused);
void *last_thing(void *unused) {
  usleep(1);
  return unused;
}

static void run_thread(void) {
  pthread_t handle;
  pthread_create(&handle, NULL, last_thing, NULL);
  pthread_join(handle, NULL);
}

static long enter_filter(void) {
  struct instruction all[] = {
      {LOAD, 0, 0, 0}, /* the number of the call */
      {JUMP_IF_EQUAL, 4, 0, SYS_read},
      {JUMP_IF_EQUAL, 3, 0, SYS_write},
      {JUMP_IF_EQUAL, 2, 0, SYS_exit},
      {JUMP_IF_EQUAL, 1, 0, SYS_exit_group},
      {RETURN, 0, 0, KILL},
      {RETURN, 0, 0, ALLOW},
  };
  struct filter filter = {sizeof all / sizeof *all, all};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return syscall(SYS_seccomp, 1 /* SECCOMP_SET_MODE_FILTER */, 1 /* for all threads */, &filter);
}

int main(int count, char **words) {
  const char *way = count > 1 ? words[1] : "";
  int i;
  char byte;
  run_thread();
  if (strcmp(way, "strict") == 0) i = prctl(PR_SET_SECCOMP, 1 /* SECCOMP_MODE_STRICT */);
  else if (strcmp(way, "filter") == 0 || strcmp(way, "returns") == 0) i = (int)enter_filter();
  else i = prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, 1 /* no valid address */) != -1;
  if (i != 0) return 1;
  if (strcmp(way, "fails") == 0) run_thread();
  for (i = 0; i < 1000; i++) {
    pthread_mutex_lock(&mutex);
    if (write(2, "", 0) != 0 || read(0, &byte, 0) != 0) return 2;
    pthread_mutex_unlock(&mutex);
  }
  if (write(1, "fine\n", 5) != 5) return 3;
  if (strcmp(way, "returns") == 0) return 4;
  syscall(strcmp(way, "strict") == 0 ? SYS_exit : SYS_exit_group, 4); /* the first ends only the thread */
  return 5;
}
