/* sandbox.c - programs that enter a sandbox (seccomp), in which most system calls kill the process
 *
 *     sandbox strict    prctl: only read, write and exit are left to the main thread
 *     sandbox filter    a filter for all threads, through syscall()
 *     sandbox returns   the same, and main returns
 *     sandbox fails     a sandbox that cannot be entered
 *
 * Two threads that began before go on: what they do after that must be in the trace, and it is more than has room in
 * the recorder's memory at once. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "filter.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int lines[2];              /* a pipe, in which there is always a byte to read */
static bool has_entered, is_done; /* atomic */
static unsigned begun, over;      /* atomic: threads that have begun, and that have done their work */

#define ROUNDS 8000

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

/* Only calls that are left to it. */
__attribute__((noinline)) void after_entering(int fd);
__attribute__((noinline)) void after_entering(int fd) {
  char byte = 0;
  if (write(fd, &byte, 1) != 1 || read(lines[0], &byte, 1) != 1) syscall(SYS_exit_group, 6);
}

void *one(void *unused);
void *two(void *unused);
static void work(void) {
  unsigned i;
  __atomic_fetch_add(&begun, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&has_entered, __ATOMIC_ACQUIRE)) continue;
  for (i = 0; i < ROUNDS; i++) after_entering(lines[1]);
  __atomic_fetch_add(&over, 1, __ATOMIC_RELEASE);
}
void *one(void *unused) {
  work();
  while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE)) continue;
  syscall(SYS_exit_group, 4);
  return unused;
}
void *two(void *unused) {
  work();
  for (;;) continue; /* to end a thread takes other calls */
  return unused;
}

/* Below code that no stack has had before. */
static int compare(const void *a, const void *b) {
  after_entering(lines[1]);
  return *(const char *)a - *(const char *)b;
}

int main(int count, char **words) {
  const char *way = count > 1 ? words[1] : "";
  pthread_t handle;
  int i;
  char byte, pair[2] = {2, 1};
  run_thread();
  if (pipe(lines) != 0 || pthread_create(&handle, NULL, one, NULL) != 0 ||
      pthread_create(&handle, NULL, two, NULL) != 0)
    return 1;
  while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < 2) sched_yield();
  if (strcmp(way, "strict") == 0) i = prctl(PR_SET_SECCOMP, 1 /* SECCOMP_MODE_STRICT */);
  else if (strcmp(way, "filter") == 0 || strcmp(way, "returns") == 0) i = (int)enter_filter();
  else i = prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, 1 /* no valid address */) != -1;
  if (i != 0) return 1;
  if (strcmp(way, "fails") == 0) run_thread();
  __atomic_store_n(&has_entered, true, __ATOMIC_RELEASE);
  for (i = 0; i < 1000; i++) {
    pthread_mutex_lock(&mutex);
    if (write(2, "", 0) != 0 || read(0, &byte, 0) != 0) return 2;
    pthread_mutex_unlock(&mutex);
  }
  while (__atomic_load_n(&over, __ATOMIC_ACQUIRE) < 2) continue;
  qsort(pair, 2, 1, compare);
  if (write(1, "fine\n", 5) != 5) return 3;
  if (strcmp(way, "returns") == 0) return 4;
  if (strcmp(way, "strict") != 0) syscall(SYS_exit_group, 4);
  __atomic_store_n(&is_done, true, __ATOMIC_RELEASE);
  syscall(SYS_exit, 0); /* of the thread */
  return 5;
}
