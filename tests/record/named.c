/* named.c - threads of one function, two of which name themselves "net", one "disk" by prctl and one as the program;
 * one is named "by_main" by another thread while it waits, and one "at_end", which then ends; one has no name */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { NET, NET_TOO, DISK, AS_PROGRAM, BY_MAIN, AT_END, NAMELESS, THREADS };
static sem_t go_on[THREADS];

void *worker(void *number);
void *worker(void *number) {
  intptr_t which = (intptr_t)number;
  if (which == NET || which == NET_TOO) pthread_setname_np(pthread_self(), "net");
  if (which == DISK) prctl(PR_SET_NAME, "disk");
  if (which == AS_PROGRAM) {
    char name[16];
    prctl(PR_GET_NAME, name);
    pthread_setname_np(pthread_self(), name);
  }
  sem_wait(&go_on[which]);
  if (which == AT_END) return NULL;
  usleep(1000);
  usleep(1000);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  intptr_t i;
  for (i = 0; i < THREADS; i++) {
    sem_init(&go_on[i], 0, 0);
    if (pthread_create(&threads[i], NULL, worker, (void *)i) != 0) return 1;
  }
  usleep(50000); /* until they wait */
  if (pthread_setname_np(threads[BY_MAIN], "by_main") != 0 || pthread_setname_np(threads[AT_END], "at_end") != 0)
    return 1;
  for (i = 0; i < THREADS; i++) sem_post(&go_on[i]);
  for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return 0;
}
