/* oneTBB: tasks that make tasks and wait for them, a parallel loop whose bodies wait, a cancelled group, an exception.
 */
#include "../../examples/adapters/tbb.hpp"
#include "story.h"

#include <atomic>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <stdexcept>

enum { DEPTH = 9, ROWS = 40, CANCELLED = 30 };

static std::atomic<int> made{0}, waits{0}, bodies{0}, rows{0}, failed{0}, begun{0};

static long fibonacci(int n) {
  if (n < 2) return n;
  long one = 0, two = 0;
  gotrace_tbb::task_group group;
  made += 2;
  GOTRACE_TBB_RUN(group, "fibonacci", [&one, n] { one = fibonacci(n - 1); });
  GOTRACE_TBB_RUN(group, "fibonacci", [&two, n] { two = fibonacci(n - 2); });
  waits++;
  group.wait();
  return one + two;
}

int main(int argc, char **argv) {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 4);
  CHECK(argc == 2 && gotrace_start_file(argv[1], nullptr) == GOTRACE_OK);
  {
    gotrace_tbb::thread here("main");
    gotrace_tbb::workers observer;
    do CHECK_EQUAL(fibonacci(DEPTH), 34);
    while (story_again());

    /* While a body waits, its thread runs tasks, and other bodies. */
    tbb::parallel_for(tbb::blocked_range<int>(0, ROWS, 4),
                      GOTRACE_TBB_BODY("rows", [](const tbb::blocked_range<int> &range) {
                        gotrace_tbb::task_group group;
                        bodies++;
                        for (int i = range.begin(); i < range.end(); i++) GOTRACE_TBB_RUN(group, "row", [] { rows++; });
                        group.wait();
                      }));

    gotrace_tbb::task_group group;
    group.cancel();
    for (int i = 0; i < CANCELLED; i++) GOTRACE_TBB_RUN(group, "cancelled", [] { begun++; });
    CHECK(group.wait() == tbb::canceled);

    GOTRACE_TBB_RUN(group, "failing", [] { throw std::runtime_error("expected"); });
    try {
      group.wait();
    } catch (const std::runtime_error &) {
      failed++;
    }
  }
  CHECK(gotrace_stop() == GOTRACE_OK);
  CHECK_EQUAL(rows, ROWS);
  CHECK_EQUAL(failed, 1);
  CHECK_EQUAL(begun, 0); /* the trace has a start and an end where each is destroyed */
  story_read(argv[1]);
  const struct {
    const char *name;
    long created, begun;
  } kinds[] = {{"main", 1, 1},      {"fibonacci", made, made},           {"rows", bodies, bodies},
               {"row", ROWS, ROWS}, {"cancelled", CANCELLED, CANCELLED}, {"failing", 1, 1}};
  for (auto &kind : kinds) {
    const std::string name = kind.name;
    story_expect(("created " + name).c_str(), kind.created);
    const long paused =
        story_count(("blocked " + name + " *").c_str()) + story_count(("stopped " + name + " *").c_str());
    story_expect(("started " + name).c_str(), kind.begun + paused);
  }
  story_expect("ended fibonacci", made);
  story_expect("ended rows", bodies);
  story_expect("ended row", ROWS);
  story_expect("ended main", 1);
  story_expect("ended failing", 1);
  story_expect("blocked * TBB: wait for tasks", waits + bodies + 2);
  return 0;
}
