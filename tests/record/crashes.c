/* crashes.c - crashes in a known function: for test_record.sh
 *
 *     crashes HOW
 */

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void crash_here(const char *how);
void on_the_way(const char *how);
void *crashing(void *how);

static volatile int zero, sink;
static void (*volatile nowhere)(void);

__attribute__((noinline)) void crash_here(const char *how) {
  if (strcmp(how, "segv") == 0) *(volatile int *)(size_t)zero = 1;
  if (strcmp(how, "null") == 0) nowhere();
  if (strcmp(how, "fpe") == 0) raise(SIGFPE);
  if (strcmp(how, "ill") == 0) __builtin_trap();
  if (strcmp(how, "abort") == 0) abort();
  sink++;
}

__attribute__((noinline)) void on_the_way(const char *how) {
  crash_here(how);
  sink++;
}

void *crashing(void *how) {
  on_the_way(how);
  return NULL;
}

int main(int count, char **words) {
  pthread_t thread;
  pthread_create(&thread, NULL, crashing, words[count - 1]);
  pthread_join(thread, NULL);
  return 0;
}
