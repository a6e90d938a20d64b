/* Boost.Fiber: producers and consumers over a channel, yields, sleeps, a mutex, joins, on two threads. */
#include "../../examples/adapters/boost_fiber.hpp"
#include "story.h"

#include <atomic>
#include <thread>
#include <vector>

namespace fibers = boost::fibers;
using traced = gotrace_fibers::traced<fibers::algo::round_robin>;

enum { PAIRS = 5, ITEMS = 30, YIELDERS = 4, YIELDS = 20, SLEEPERS = 3 };

static std::atomic<int> ran{0};

static void work() {
  fibers::use_scheduling_algorithm<traced>();
  std::vector<fibers::fiber> all;
  fibers::unbuffered_channel<int> channel;
  int sum = 0;
  GOTRACE_FIBER_NAME("producer");
  for (int p = 0; p < PAIRS; p++)
    all.emplace_back([&channel] {
      for (int i = 1; i <= ITEMS; i++) channel.push(i);
      ran++;
    });
  GOTRACE_FIBER_NAME("consumer");
  for (int c = 0; c < PAIRS; c++)
    all.emplace_back([&channel, &sum] {
      int value = 0;
      for (int i = 0; i < ITEMS; i++) {
        channel.pop(value);
        sum += value;
      }
      ran++;
    });
  GOTRACE_FIBER_NAME("yielder");
  for (int y = 0; y < YIELDERS; y++)
    all.emplace_back([] {
      for (int i = 0; i < YIELDS; i++) gotrace_fibers::yield();
      ran++;
    });
  GOTRACE_FIBER_NAME("sleeper");
  for (int s = 0; s < SLEEPERS; s++)
    all.emplace_back([] {
      boost::this_fiber::sleep_for(std::chrono::milliseconds(5));
      ran++;
    });
  for (auto &fiber : all) fiber.join();
  CHECK_EQUAL(sum, PAIRS * ITEMS * (ITEMS + 1) / 2);
}

int main(int argc, char **argv) {
  CHECK(argc == 2 && gotrace_start_file(argv[1], nullptr) == GOTRACE_OK);
  std::thread one(work), two(work);
  one.join();
  two.join();
  CHECK(gotrace_stop() == GOTRACE_OK);
  CHECK_EQUAL(ran, 2 * (2 * PAIRS + YIELDERS + SLEEPERS));
  story_read(argv[1]);
  story_expect("created main fiber", 2);
  const struct {
    const char *name;
    long count;
  } kinds[] = {{"producer", 2 * PAIRS}, {"consumer", 2 * PAIRS}, {"yielder", 2 * YIELDERS}, {"sleeper", 2 * SLEEPERS}};
  for (auto &kind : kinds) {
    story_expect((std::string("created ") + kind.name).c_str(), kind.count);
    story_expect((std::string("ended ") + kind.name).c_str(), kind.count);
  }
  story_expect("stopped yielder *", 2 * YIELDERS * YIELDS);
  story_expect("started yielder", 2 * YIELDERS * (YIELDS + 1));
  story_expect("blocked sleeper sleep", 2 * SLEEPERS);
  /* Each start of a consumer except the first follows a stop or the end of a wait. */
  story_expect("started consumer", 2 * PAIRS + story_count("blocked consumer*") + story_count("stopped consumer*"));
  return 0;
}
