/* alike.c - calls that must do the same with and without tracing
 *
 *     alike cancel        a thread that is to be cancelled takes no free semaphore
 *     alike times         invalid time limits and clocks
 *     alike clone         a child of the system call clone returns from main
 *     alike bare          a child that shares the memory has no thread variables, and exits
 *     alike capabilities  ids change after the capabilities of the only thread
 *     alike signal        a child is killed by the signal that asks for a snapshot
 *     alike namespaces    namespaces that only a process with one thread may enter
 *     alike root FOLDER   a program in another root directory
 *
 * Each prints what its calls return. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void show(const char *call, int result) {
  printf("%s: %d %s\n", call, result, result == -1 ? strerror(errno) : "");
  fflush(stdout);
  errno = 0;
}
#define SHOW(call) show(#call, (int)(call))

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

static sem_t semaphore;
static void *take(void *wait) {
  struct timespec until = {INT32_MAX, 0};
  pthread_cancel(pthread_self());
  if (*(int *)wait == 0) sem_wait(&semaphore);
  else sem_timedwait(&semaphore, &until);
  return NULL;
}

static void try_cancel(void) {
  int wait, count;
  sem_init(&semaphore, 0, 2);
  for (wait = 0; wait < 2; wait++) {
    pthread_t handle;
    void *value = NULL;
    pthread_create(&handle, NULL, take, &wait);
    pthread_join(handle, &value);
    sem_getvalue(&semaphore, &count);
    printf("%s, %d left\n", value == PTHREAD_CANCELED ? "cancelled" : "returned", count);
  }
}

static void try_times(void) {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  struct timespec until = {INT32_MAX, 1000000000};
  sem_init(&semaphore, 0, 9);
  SHOW(sem_timedwait(&semaphore, &until));
  SHOW(pthread_mutex_timedlock(&mutex, &until));
  SHOW(pthread_rwlock_timedwrlock(&lock, &until));
  pthread_rwlock_unlock(&lock);
  SHOW(pthread_rwlock_timedrdlock(&lock, &until));
  pthread_rwlock_unlock(&lock);
  pthread_mutex_unlock(&mutex);
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 30)
  until.tv_nsec = 0;
  SHOW(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &until));
  SHOW(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &until));
  SHOW(pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &until));
  SHOW(pthread_rwlock_clockrdlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &until));
#endif
}

/* Returns in both processes. */
static int try_clone(void) {
  int status = 0;
  pid_t child = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
  if (child == 0) return 5;
  waitpid(child, &status, 0);
  printf("the child returned %d\n", WEXITSTATUS(status));
  return 3;
}

static int exit_bare(void *unused) {
  (void)unused;
  _exit(6);
}

/* As chromium's zygote does, to have a root directory that is empty. */
static void try_bare(void) {
  static char stack[65536] __attribute__((aligned(64))), variables[65536] __attribute__((aligned(64)));
  int status = 0;
  pid_t child = clone(exit_bare, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD, NULL, NULL,
                      variables + sizeof variables / 2);
  SHOW(waitpid(child, &status, 0) == child);
  printf("the child ended with %d\n", status);
}

static int set_effective_capabilities(uint32_t low) {
  uint32_t header[2] = {0x20080522, 0}, data[6];
  if (syscall(SYS_capget, header, data) != 0) return -1;
  data[0] = data[1] & low;
  return (int)syscall(SYS_capset, header, data);
}

static void try_capabilities(void) {
  run_thread();
  SHOW(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
  SHOW(setresuid(65534, 65534, 65534));
  SHOW(set_effective_capabilities(0xffffffff)); /* of this thread only */
  SHOW(setresgid(65534, 65534, 65534));
  SHOW(set_effective_capabilities(0));
  SHOW(setgid(1));
}

static void try_signal(void) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    raise(SIGUSR2);
    _exit(7);
  }
  waitpid(child, &status, 0);
  printf("the child's status: %x\n", (unsigned)status);
}

static void try_namespaces(void) {
  int own = open("/proc/self/ns/mnt", O_RDONLY);
  run_thread();
  SHOW(setns(own, 0));
  SHOW(unshare(CLONE_NEWUSER));
  SHOW(unshare(-1));
  run_thread();
}

int main(int count, char **words) {
  const char *way = count > 1 ? words[1] : "";
  if (strcmp(way, "cancel") == 0) try_cancel();
  else if (strcmp(way, "times") == 0) try_times();
  else if (strcmp(way, "clone") == 0) return try_clone();
  else if (strcmp(way, "bare") == 0) try_bare();
  else if (strcmp(way, "capabilities") == 0) try_capabilities();
  else if (strcmp(way, "signal") == 0) try_signal();
  else if (strcmp(way, "namespaces") == 0) try_namespaces();
  else if (strcmp(way, "root") == 0 && count > 2) {
    SHOW(chroot(words[2]));
    if (chdir("/") == 0) execl("/alike", "alike", "times", (char *)NULL);
  } else {
    return 1;
  }
  return 3;
}
