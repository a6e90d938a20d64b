/* closes.c - closes all open descriptors, then opens many files. None of them may receive the trace. See
 * test_record.sh.
 *
 *     closes FILE          in every way that the preloaded library sees
 *     closes FILE stdio    in a way that it does not see
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *sleeps(void *unused) { return usleep(1000), unused; }

static void close_by_stdio(void) {
  FILE *file;
  int i;
  for (i = 3; i < 2000; i++)
    if ((file = fdopen(i, "w")) != NULL) fclose(file);
}

static void close_all(void) {
  int i;
  for (i = 3; i < 2000; i++) close(i);
  printf("%d\n", open("/dev/null", O_RDWR));
#ifdef __GLIBC__
  closefrom(3);
  close_range(3, ~0u, 0);
#endif
  syscall(SYS_close_range, 3, ~0u, 0);
}

int main(int count, char **words) {
  pthread_t thread;
  int i, fd = -1;
  if (count < 2) return 1;
  if (count > 2) close_by_stdio();
  else close_all();
  for (i = 0; i < 1100; i++) fd = open(words[1], O_RDWR | O_CREAT, 0600);
  for (i = 0; i < 100; i++)
    if (pthread_create(&thread, NULL, sleeps, NULL) == 0) pthread_join(thread, NULL);
  printf("%d\n", lseek(fd, 0, SEEK_END) > 0);
  return 0;
}
