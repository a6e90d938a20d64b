/* ends.c - ends in the way that its first argument names, after a thread `last_thing` has run: see test_record.sh */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *last_thing(void *unused);
void *last_thing(void *unused) {
  struct timespec time = {0, 1000};
  pthread_mutex_lock(&mutex);
  nanosleep(&time, NULL);
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void run_thread(void *(*function)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, NULL) == 0) pthread_join(thread, NULL);
}

void *exits(void *unused);
void *exits(void *unused) { return (void)unused, run_thread(last_thing), exit(8), NULL; }

void *stays(void *unused);
void *stays(void *unused) {
  struct timespec time = {0, 10000000};
  nanosleep(&time, NULL);
  run_thread(last_thing);
  return unused;
}

/* Left by longjmp, cancelled and interrupted waits. */
static sigjmp_buf jump;
static void jump_out(int number) { (void)number, siglongjmp(jump, 1); }
static void interrupt(int number) { (void)number, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); }

void *waits_for_ever(void *unused);
void *waits_for_ever(void *unused) { return pause(), unused; }

static void leave_waits(void) {
  struct itimerval soon = {{0, 0}, {0, 10000}};
  struct timespec second = {0, 50000000};
  pthread_t thread;
  int ends[2], i;
  char byte;
  if (pipe(ends) != 0) exit(1);
  signal(SIGALRM, jump_out);
  for (i = 0; i < 3; i++)
    if (sigsetjmp(jump, 1) == 0) {
      setitimer(ITIMER_REAL, &soon, NULL);
      if (read(ends[0], &byte, 1) < 0) exit(1);
    }
  signal(SIGALRM, interrupt);
  setitimer(ITIMER_REAL, &soon, NULL);
  nanosleep(&second, NULL);
  for (i = 0; i < 3; i++) {
    if (pthread_create(&thread, NULL, waits_for_ever, NULL) != 0) exit(1);
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
  }
}

int main(int count, char **words) {
  const char *way = count > 1 ? words[1] : "";
  struct stat status;
  pthread_t thread;
  pid_t child;
  setvbuf(stdout, NULL, _IONBF, 0);
  printf("%s\n", way);
  if (strcmp(way, "thread") == 0) run_thread(exits);
  if (strcmp(way, "pthread_exit") == 0) {
    if (pthread_create(&thread, NULL, stays, NULL) != 0) return 1;
    pthread_exit(NULL);
  }
  if (strcmp(way, "waits") == 0) leave_waits();
  if (strcmp(way, "fork") == 0) {
    child = fork();
    if (child == 0) run_thread(last_thing), _exit(3);
    if (waitpid(child, &count, 0) != child || WEXITSTATUS(count) != 3) return 1;
    child = vfork();
    if (child == 0) _exit(4);
    if (waitpid(child, &count, 0) != child || WEXITSTATUS(count) != 4) return 1;
    child = vfork();
    if (child == 0) execl("/bin/sh", "sh", "-c", "exit 5", NULL), _exit(6);
    if (waitpid(child, &count, 0) != child || WEXITSTATUS(count) != 5) return 1;
  }
  run_thread(last_thing);
  if (strcmp(way, "exit") == 0) exit(2);
  if (strcmp(way, "_exit") == 0) _exit(3);
  if (strcmp(way, "_Exit") == 0) _Exit(4);
  if (strcmp(way, "quick_exit") == 0) quick_exit(5);
  if (strcmp(way, "exit_group") == 0) syscall(SYS_exit_group, 6);
  if (strcmp(way, "exec") == 0) execlp("sh", "sh", "-c", "echo replaced; exit 7", NULL);
  if (strcmp(way, "exec_fails") == 0) execl("/nonexistent", "nonexistent", NULL), run_thread(last_thing);
  if (strcmp(way, "abort") == 0 || strcmp(way, "kill") == 0) { /* after a cut */
    off_t size = stat(words[2], &status) == 0 ? status.st_size : 0;
    do run_thread(last_thing);
    while (stat(words[2], &status) != 0 || status.st_size < size + 100000);
    if (*way == 'a') abort();
    kill(getpid(), SIGKILL);
  }
  return 9;
}
