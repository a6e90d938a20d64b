/* gotrace_wait_on and gotrace_wake: which threads are woken, in which order, and by whom; waits that end for other
 * reasons; threads that wait and wake as fast as they can. */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define WAITERS 6
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int arrived, passes, keys[2];
static uint64_t ids[WAITERS];

static void *waiter(void *argument) {
  size_t i = (size_t)argument;
  pthread_mutex_lock(&lock);
  while (arrived != (int)i) pthread_cond_wait(&changed, &lock);
  ids[i] = gotrace_go_id(gotrace_go_self());
  gotrace_wait_on(&keys[i % 2], GOTRACE_REASON("test: wait") + GOTRACE_BLOCK_COND_WAIT);
  arrived++;
  pthread_cond_broadcast(&changed);
  while (passes <= (int)i) pthread_cond_wait(&changed, &lock);
  gotrace_wait_end();
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* Lets the first `n` waiters continue. */
static void pass(int n) {
  pthread_mutex_lock(&lock);
  passes = n;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

/* The goroutines that `waker` has unblocked, in order. */
static size_t unblocked_by(const test_bytes *bytes, uint64_t waker, uint64_t *whom, size_t max) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder = NULL;
  gotrace_event event;
  size_t count = 0;
  memset(&options, 0, sizeof options);
  options.data = bytes->data;
  options.size = bytes->size;
  CHECK_EQUAL(gotrace_decoder_open(&decoder, &options), GOTRACE_OK);
  while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK)
    if (strncmp(event.spec->name, "GoUnblock", 9) == 0 && event.g == (int64_t)waker && event.args[0] != waker) {
      CHECK(count < max);
      whom[count++] = event.args[0];
    }
  gotrace_decoder_close(decoder);
  return count;
}

/* `late`: the threads wait before the trace begins. */
static void in_order(gotrace_format format, bool late) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  pthread_t threads[WAITERS];
  uint64_t self, whom[WAITERS];
  gotrace_stats stats;
  size_t i;
  arrived = passes = 0;
  if (!late) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  self = gotrace_go_id(gotrace_go_self());
  for (i = 0; i < WAITERS; i++) CHECK(pthread_create(&threads[i], NULL, waiter, (void *)i) == 0);
  pthread_mutex_lock(&lock);
  while (arrived < WAITERS) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  if (late) CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  /* 0, 2, 4 wait on one key, 1, 3, 5 on the other. */
  CHECK_EQUAL(gotrace_wake(&keys[0], 0), 0);
  CHECK_EQUAL(gotrace_wake(NULL, 1), 0);
  CHECK_EQUAL(gotrace_wake(&lock, 9), 0);
  CHECK_EQUAL(gotrace_wake(&keys[1], 1), 1);
  CHECK_EQUAL(gotrace_wake(&keys[0], 2), 2);
  pass(4); /* number 3 continues without a waker: a time-out */
  for (i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK_EQUAL(gotrace_wake(&keys[1], GOTRACE_WAKE_ALL), 1);
  CHECK_EQUAL(gotrace_wake(&keys[0], GOTRACE_WAKE_ALL), 1);
  CHECK_EQUAL(gotrace_wake(&keys[0], 1), 0);
  pass(6);
  for (i = 4; i < 6; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired, 0);
  CHECK_EQUAL(unblocked_by(&bytes, self, whom, WAITERS), 5);
  CHECK(whom[0] == ids[1] && whom[1] == ids[0] && whom[2] == ids[2] && whom[3] == ids[5] && whom[4] == ids[4]);
  test_free(&bytes);
}

/* Waits that are not ended, and threads that end while they wait. */
static void *forgets(void *argument) {
  gotrace_wait_on(argument, GOTRACE_BLOCK_SYNC);
  return NULL;
}

static void left(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  pthread_t thread;
  gotrace_go *self;
  gotrace_stats stats;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(pthread_create(&thread, NULL, forgets, keys) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_EQUAL(gotrace_wake(keys, GOTRACE_WAKE_ALL), 0);
  self = gotrace_go_self();
  gotrace_wait_on(keys, GOTRACE_BLOCK_SYNC);
  gotrace_go_unblock(self); /* woken by its handle */
  CHECK_EQUAL(gotrace_wake(keys, GOTRACE_WAKE_ALL), 0);
  gotrace_wait_end();
  gotrace_wait_on(keys, GOTRACE_BLOCK_SYNC);
  gotrace_wait_on(keys, GOTRACE_BLOCK_SYNC); /* no goroutine runs: counted as a problem */
  CHECK_EQUAL(gotrace_wake(keys, GOTRACE_WAKE_ALL), 0);
  gotrace_wait_end();
  gotrace_wait_on(NULL, GOTRACE_BLOCK_SYNC); /* same as gotrace_wait_begin */
  gotrace_wait_end();
  gotrace_thread_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped, 1);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_NOT_RUNNING], 1);
  test_free(&bytes);
}

/* A wake is for one address, and for the goroutine that waited there. */
static void others(gotrace_format format) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("other");
  static char addresses[5000]; /* several in each bucket of the table */
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_go *self, *other;
  size_t i;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_wait_on(keys, GOTRACE_BLOCK_SYNC);
  for (i = 0; i < sizeof addresses; i++) CHECK_EQUAL(gotrace_wake(&addresses[i], GOTRACE_WAKE_ALL), 0);
  CHECK_EQUAL(gotrace_wake(keys, GOTRACE_WAKE_ALL), 1);
  gotrace_wait_end();
  self = gotrace_go_self();
  gotrace_wait_on(keys, GOTRACE_BLOCK_SYNC);
  gotrace_go_destroy(self);
  other = gotrace_go_create_blocked(&entry);
  CHECK(other == self); /* the handle is used again */
  CHECK_EQUAL(gotrace_wake(keys, GOTRACE_WAKE_ALL), 0);
  gotrace_wait_end();
  gotrace_go_destroy(other);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  test_free(&bytes);
}

/* Threads that wait and wake without synchronization, over many short generations and traces. */
static long rounds;

static void *hurry(void *argument) {
  uint64_t state = (uint64_t)(size_t)argument;
  long i;
  for (i = 0; i < rounds; i++) {
    gotrace_wait_on(&keys[test_random(&state) % 2], GOTRACE_BLOCK_SYNC);
    if (test_random(&state) % 4 == 0) sched_yield();
    gotrace_wait_end();
    gotrace_wake(&keys[test_random(&state) % 2], 1 + test_random(&state) % 3);
  }
  return NULL;
}

static void in_a_hurry(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  pthread_t threads[4];
  gotrace_stats stats;
  size_t i;
  rounds = test_scaled(2000);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, hurry, (void *)(i + 1)) == 0);
  for (i = 0; i < 20; i++) {
    const struct timespec moment = {0, 500000};
    nanosleep(&moment, NULL);
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  }
  for (i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired, 0);
  CHECK_EQUAL(gotrace_wake(&keys[0], GOTRACE_WAKE_ALL) + gotrace_wake(&keys[1], GOTRACE_WAKE_ALL), 0);
  test_free(&bytes);
}

/* A wait for ever that ends nevertheless: the thread's goroutine has ended, and the thread continues as a new one. */
static void for_ever(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_stats stats;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_wait_begin(GOTRACE_BLOCK_FOREVER);
  gotrace_wait_end();
  gotrace_wait_on(&bytes, GOTRACE_BLOCK_FOREVER);
  gotrace_wait_end();
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped, 0);
  test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
  test_free(&bytes);
}

int main(void) {
  size_t i;
  for (i = 0; i < TEST_FORMATS; i++) {
    in_order(test_formats[i], false);
    in_order(test_formats[i], true);
    left(test_formats[i]);
    others(test_formats[i]);
    for_ever(test_formats[i]);
    in_a_hurry(test_formats[i]);
  }
  return 0;
}
