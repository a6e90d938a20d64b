/* A program that goes on in the background after its first process has ended, and begins others then.
 *
 *     daemon WAY LAST
 *
 * WAY: forks (twice), calls (daemon()), stops (a child before its trace begins, whose id it prints), kills (such a
 * child), or spawns (a program, LAST, which goes on). LAST: the file that the last process makes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int last_work(const char *path) {
  usleep(300000);
  return open(path, O_WRONLY | O_CREAT, 0600) < 0;
}

static int number;
static void get_signal(void) { kill(getpid(), number); }

/* In a child of fork these handlers run before the library begins its trace. */
static int begin_child(const char *path) {
  pid_t child;
  pthread_atfork(NULL, NULL, get_signal);
  child = fork();
  if (child == 0) _exit(last_work(path));
  if (waitpid(child, NULL, WUNTRACED) != child) return 3;
  printf("%d\n", (int)child);
  return 5;
}

int main(int argc, char **argv) {
  extern char **environ;
  pid_t child;
  if (argc < 3) return 2;
  if (strcmp(argv[1], "stops") == 0) return number = SIGSTOP, begin_child(argv[2]);
  if (strcmp(argv[1], "kills") == 0) return number = SIGKILL, begin_child(argv[2]);
  if (strcmp(argv[1], "spawns") == 0) return posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environ) == 0 ? 5 : 3;
  if (strcmp(argv[1], "last") == 0) return last_work(argv[2]);
  if (strcmp(argv[1], "calls") == 0) {
    if (daemon(1, 1) != 0) return 3;
  } else {
    if (fork()) return 5;
    setsid();
    if (fork()) return 0;
  }
  usleep(700000);
  if (fork() == 0) {
    usleep(300000);
    execl("/proc/self/exe", argv[0], "last", argv[2], (char *)NULL);
  }
  wait(NULL);
  return 0;
}
