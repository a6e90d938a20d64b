/* killed.c - threads that sleep again and again, until the process ends in one of several ways: see killed.py
 *
 *     killed LOG WAY MICROSECONDS
 *
 * LOG is a file of two 64-bit numbers for each thread: how many sleeps it has begun, and how many it has ended. It is
 * mapped, so it tells what had happened when the process ended. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3 };

static void rest(long microseconds) { nanosleep(&(struct timespec){0, microseconds * 1000}, NULL); }

static void *sleeps(void *log) {
  volatile uint64_t *counts = log;
  for (;;) {
    counts[0]++;
    rest(20);
    counts[1]++;
  }
}

int main(int argc, char **argv) {
  pthread_t thread;
  int file, i;
  uint64_t *log;
  if (argc != 4 || (file = open(argv[1], O_RDWR)) < 0) return 2;
  log = mmap(NULL, THREADS * 2 * sizeof *log, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (log == MAP_FAILED) return 2;
  for (i = 0; i < THREADS; i++)
    if (pthread_create(&thread, NULL, sleeps, log + 2 * i) != 0) return 2;
  rest(atol(argv[3]));
  if (strcmp(argv[2], "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(argv[2], "crash") == 0) raise(SIGSEGV);
  if (strcmp(argv[2], "abort") == 0) abort();
  if (strcmp(argv[2], "_exit") == 0) _exit(0);
  return 3;
}
