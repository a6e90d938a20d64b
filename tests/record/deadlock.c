/* deadlock.c - two threads that wait for each other for ever: for test_record.sh */

#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

void take_first(void);
void take_second(void);
void *one(void *unused);
void *two(void *unused);

__attribute__((noinline)) void take_first(void) { pthread_mutex_lock(&first); }
__attribute__((noinline)) void take_second(void) { pthread_mutex_lock(&second); }

void *one(void *unused) {
  take_first();
  pthread_barrier_wait(&both);
  take_second();
  return unused;
}

void *two(void *unused) {
  take_second();
  pthread_barrier_wait(&both);
  take_first();
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&threads[0], NULL, one, NULL);
  pthread_create(&threads[1], NULL, two, NULL);
  pthread_join(threads[0], NULL);
  return 0;
}
