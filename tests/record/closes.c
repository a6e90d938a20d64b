/* closes.c - closes all open descriptors, in every way, then opens many files. None of them may receive the trace. See
 * test_record.sh. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *sleeps(void *unused) { return usleep(1000), unused; }

int main(int count, char **words) {
  pthread_t thread;
  int i, fd = -1;
  if (count < 2) return 1;
  for (i = 3; i < 2000; i++) close(i);
  printf("%d\n", open("/dev/null", O_RDWR));
#ifdef __GLIBC__
  closefrom(3);
  close_range(3, ~0u, 0);
#endif
  syscall(SYS_close_range, 3, ~0u, 0);
  for (i = 0; i < 1100; i++) fd = open(words[1], O_RDWR | O_CREAT, 0600);
  for (i = 0; i < 100; i++)
    if (pthread_create(&thread, NULL, sleeps, NULL) == 0) pthread_join(thread, NULL);
  printf("%d\n", lseek(fd, 0, SEEK_END) > 0);
  return 0;
}
