/* gotrace_reason, for reasons named by the program: their numbers, their limits, concurrent calls. Values out of range
 * are counted and treated as unspecified. test_events*.c check what the traces contain. */
#define GOTRACE__REASONS 40u
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

#include <pthread.h>

#define THREADS 4
static unsigned numbers[THREADS][8];
static pthread_barrier_t barrier;

static void *ask(void *argument) {
  unsigned *mine = argument, i;
  char name[32];
  pthread_barrier_wait(&barrier);
  for (i = 0; i < 8; i++) {
    snprintf(name, sizeof name, "reason %u", i);
    mine[i] = gotrace_reason(name);
  }
  return NULL;
}

static unsigned at_a_place(void) { return GOTRACE_REASON("at a place"); }

/* Whether a trace has an event with this string. */
static bool mentions(const test_bytes *bytes, const char *text) {
  size_t i, size = strlen(text);
  for (i = 0; i + size <= bytes->size; i++)
    if (memcmp(bytes->data + i, text, size) == 0) return true;
  return false;
}

static void in_a_trace(gotrace_format format) {
  static const unsigned bad[] = {GOTRACE_BLOCK_REASON_COUNT, 0x7f, 200u << 8, 0xffffff00u, 0xffffffffu & ~128u};
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(format, &bytes);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *g = gotrace_go_create(NULL);
  gotrace_stats stats;
  unsigned i, count = 0;
  gotrace_proc_start(proc);
  gotrace_go_start(g);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < sizeof bad / sizeof bad[0]; i++, count++) {
    gotrace_go_block(bad[i]);
    gotrace_go_unblock(g);
    gotrace_go_start(g);
  }
  gotrace_go_stop(GOTRACE_STOP_REASON_COUNT);
  gotrace_go_start(g);
  gotrace_go_stop(130); /* reasons to stop cannot be combined with 128 */
  gotrace_go_start(g);
  gotrace_stw_begin(GOTRACE_REASON("a stop") + 99);
  gotrace_stw_end();
  gotrace_go_block(gotrace_reason("not for ever") + GOTRACE_BLOCK_FOREVER); /* a reason with a name of its own */
  gotrace_go_unblock(g);
  gotrace_go_start(g);
  count += 4;
  gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK_OPENS(&bytes);
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.problems[GOTRACE_PROBLEM_BAD_REASON], count);
  CHECK_EQUAL(stats.dropped + stats.repaired, count);
  if (format >= GOTRACE_GO_1_22) CHECK(mentions(&bytes, "a stop") && mentions(&bytes, "not for ever"));
  else CHECK(!mentions(&bytes, "not for ever") && !stats.kinds[GOTRACE_V1_GO_STOP]);
  test_free(&bytes);
}

int main(void) {
  char name[1200];
  unsigned first, i, k;
  pthread_t threads[THREADS];
  CHECK_EQUAL(gotrace_reason(NULL), 0);
  CHECK_EQUAL(gotrace_reason(""), 0);
  CHECK_EQUAL(gotrace_reason("forever"), 0);
  first = gotrace_reason("redis: wait for reply");
  CHECK(first != 0 && (first & 0xff) == 0);
  memset(name, 0, sizeof name);
  strcpy(name, "redis: wait for reply"); /* the same text at another address */
  CHECK_EQUAL(gotrace_reason(name), first);
  memset(name, 'x', sizeof name - 1);
  k = gotrace_reason(name);
  name[1024] = 0; /* the longest name that is kept */
  CHECK(k && k != first && gotrace_reason(name) == k);
  CHECK(at_a_place() && at_a_place() == gotrace_reason("at a place"));

  CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
  for (i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, ask, numbers[i]) == 0);
  for (i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  for (i = 0; i < 8; i++)
    for (k = 0; k < THREADS; k++)
      CHECK(numbers[k][i] && numbers[k][i] == numbers[0][i] && (!i || numbers[k][i] != numbers[k][0]));

  for (i = 0; i < TEST_FORMATS; i++) in_a_trace(test_formats[i]);

  for (i = k = 0; i < 100; i++) {
    snprintf(name, sizeof name, "one more %u", i);
    if (gotrace_reason(name)) k++;
  }
  CHECK(k > 0 && k < GOTRACE__REASONS);
  CHECK_EQUAL(gotrace__t.reasons->count, GOTRACE__REASONS);
  CHECK_EQUAL(gotrace_reason("redis: wait for reply"), first); /* known reasons remain */
  return 0;
}
