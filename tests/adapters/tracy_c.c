/* A program instrumented for Tracy: zones in fibers that move between threads, locks, messages, plots, frames. Only its
 * first include would be another one. Zones of several fibers are open at a time: story_read would find ends out of
 * order if they did not nest in each fiber. */
#include "../../examples/adapters/tracy_c.h"

#include <pthread.h>

#include "story.h"

enum { FIBERS = 3, TURNS = 4, FRAMES = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static TracyCLockCtx lock;
static TracyCSharedLockCtx shared;
static const char *const names[FIBERS] = {"fiber 0", "fiber 1", "fiber 2"};
static TracyCZoneCtx open[FIBERS]; /* each fiber's zone of all its turns */

/* One turn of a fiber: an inner zone in its outer one, which the first turn begins and the last one ends. */
static void turn(int fiber, int number) {
  TracyCFiberEnter(names[fiber]);
  if (number == 0) {
    TracyCZoneN(outer, "outer", 1);
    open[fiber] = outer;
  }
  TracyCZone(inner, 1);
  TracyCZoneText(inner, "text", 4);
  TracyCZoneTextF(inner, "turn %d", number);
  TracyCZoneN(left_out, "left out", 0);
  TracyCZoneText(left_out, "text", 4);
  TracyCZoneTextF(left_out, "turn %d", number);
  TracyCZoneValue(left_out, 7);
  TracyCZoneEnd(left_out);
  TracyCZoneEnd(inner);
  if (number == TURNS - 1) TracyCZoneEnd(open[fiber]);
  if (fiber == FIBERS - 1) TracyCFiberLeave /* the others are left by the next enter */
}

static void *run_turns(void *first) {
  int number, fiber;
  TracyCSetThreadName("worker");
  for (number = *(int *)first; number < *(int *)first + TURNS / 2; number++)
    for (fiber = 0; fiber < FIBERS; fiber++) turn(fiber, number);
  TracyCLockBeforeLock(lock);
  pthread_mutex_lock(&mutex);
  TracyCLockAfterLock(lock);
  TracyCMessageL("locked");
  pthread_mutex_unlock(&mutex);
  TracyCLockAfterUnlock(lock);
  TracyCSharedLockBeforeSharedLock(shared);
  TracyCSharedLockAfterSharedLock(shared);
  TracyCSharedLockAfterSharedUnlock(shared);
  return NULL;
}

int main(int argc, char **argv) {
  int i, firsts[] = {0, TURNS / 2};
  CHECK(argc == 2);
  CHECK_EQUAL(gotrace_start_file(argv[1], NULL), GOTRACE_OK);
  TracyCLockAnnounce(lock);
  TracyCLockCustomName(lock, "the lock", 8);
  TracyCSharedLockAnnounce(shared);
  TracyCSharedLockCustomName(shared, "the shared lock", 15);
  do {
    for (i = 0; i < 2; i++) { /* the second thread goes on with the fibers of the first */
      pthread_t thread;
      CHECK(pthread_create(&thread, NULL, run_turns, &firsts[i]) == 0);
      CHECK(pthread_join(thread, NULL) == 0);
    }
  } while (story_again());
  for (i = 0; i < FRAMES; i++) {
    TracyCPlot("plot", 1234567.25 + i);
    TracyCPlotI("whole", 9007199254740993 + i);
    TracyCFrameMark
  }
  if (argc == 2) TracyCMessage("done and more", 4);
  else TracyCMessageL("unreachable");
  TracyCPlotConfig("plot", TracyPlotFormatMemory, 1, 0, 0);
  TracyCLockTerminate(lock);
  TracyCSharedLockTerminate(shared);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  story_read(argv[1]);
  story_expect("created fiber ?", FIBERS);
  story_expect("started fiber ?", FIBERS * TURNS);
  story_expect("blocked fiber ? fiber", FIBERS * TURNS);
  story_expect("region outer", FIBERS);
  story_expect("region turn", FIBERS * TURNS);
  story_expect("region left out", 0);
  story_expect("log left out", 0);
  story_expect("placed *tracy_c.h", 0);
  story_expect("log turn", 2 * FIBERS * TURNS);
  story_expect("blocked worker the lock", 2);
  story_expect("log message", 3);
  for (i = 0; i < FRAMES; i++) {
    char fact[64];
    snprintf(fact, sizeof fact, "counted plot %d.25", 1234567 + i);
    story_expect(fact, 1);
    snprintf(fact, sizeof fact, "counted whole %lld", (long long)9007199254740993 + i);
    story_expect(fact, 1);
  }
  story_expect("blocked worker the shared lock", 2);
  story_expect("log frame", FRAMES);
  return 0;
}
