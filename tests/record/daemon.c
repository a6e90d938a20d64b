/* A program that goes on in the background after its first process has ended, and begins others then.
 *
 *     daemon WAY LAST
 *
 * WAY: forks (twice) or calls (daemon()). LAST: the file that the last process makes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int last_work(const char *path) {
  usleep(300000);
  return open(path, O_WRONLY | O_CREAT, 0600) < 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
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
