// A fiber library, written for this test, that tells its hooks only the id of a fiber, and uses the id of a fiber that
// has ended for another one. The hooks report to the tracer by gotrace_go_keyed; the counts must be the library's own.
#include "story.h"

#include <ucontext.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace foreign {

using id = uint64_t;

// What a user of the library may know.
struct hooks {
  std::function<void(id)> enter, suspend, yield, wake, finish;
};
static hooks hook;

struct fiber {
  ucontext_t context, *back = nullptr; // of the worker that runs it
  std::vector<char> stack = std::vector<char>(1 << 17);
  std::function<void()> body;
  bool ended = false;
  std::unique_lock<std::mutex> *unlock = nullptr; // after it has left the thread
};

static std::mutex lock; // protects:
static std::vector<std::unique_ptr<fiber>> fibers;
static std::vector<id> free_ids;
static std::deque<id> ready;
static long alive;

static thread_local id current;

static fiber &at(id i) {
  std::lock_guard<std::mutex> guard(lock);
  return *fibers[i];
}

static void main_of(unsigned high, unsigned low) {
  fiber &f = *reinterpret_cast<fiber *>(static_cast<uintptr_t>(uint64_t{high} << 32 | low));
  f.body();
  f.ended = true;
  swapcontext(&f.context, f.back);
}

static id spawn(std::function<void()> body) {
  std::lock_guard<std::mutex> guard(lock);
  id i = fibers.size();
  if (free_ids.empty()) {
    fibers.emplace_back();
  } else {
    i = free_ids.back();
    free_ids.pop_back();
  }
  fibers[i].reset(new fiber);
  fiber &f = *fibers[i];
  f.body = std::move(body);
  getcontext(&f.context);
  f.context.uc_stack.ss_sp = f.stack.data();
  f.context.uc_stack.ss_size = f.stack.size();
  uint64_t address = reinterpret_cast<uintptr_t>(&f);
  makecontext(&f.context, reinterpret_cast<void (*)()>(main_of), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
  ready.push_back(i);
  alive++;
  return i;
}

__attribute__((noinline)) static id self() { return current; } // not kept across a switch of threads

static void yield() {
  fiber &f = at(self());
  hook.yield(self());
  std::unique_lock<std::mutex> held(lock);
  ready.push_back(self());
  f.unlock = &held;
  swapcontext(&f.context, f.back);
  held.release(); // the worker has unlocked it
}

// Waits for resume(); `held` is unlocked once the fiber can be resumed.
static void suspend(std::unique_lock<std::mutex> &held) {
  fiber &f = at(self());
  hook.suspend(self());
  f.unlock = &held;
  swapcontext(&f.context, f.back);
  held.release();
}

static void resume(id i) {
  hook.wake(i);
  std::lock_guard<std::mutex> guard(lock);
  ready.push_back(i);
}

static void worker() {
  for (;;) {
    std::unique_lock<std::mutex> held(lock);
    if (ready.empty()) {
      if (!alive) return;
      held.unlock();
      std::this_thread::yield();
      continue;
    }
    current = ready.front();
    ready.pop_front();
    fiber &f = *fibers[current];
    held.unlock();
    ucontext_t here;
    f.back = &here;
    hook.enter(current);
    swapcontext(&here, &f.context);
    if (f.ended) {
      hook.finish(current);
      held.lock();
      fibers[current].reset();
      free_ids.push_back(current);
      alive--;
    } else {
      f.unlock->mutex()->unlock();
    }
  }
}

} // namespace foreign

// A channel between fibers, without room.
class channel {
public:
  void send(int value) {
    std::unique_lock<std::mutex> held(lock);
    values.push_back(value);
    if (receivers.empty()) return;
    foreign::id woken = receivers.front();
    receivers.pop_front();
    held.unlock();
    foreign::resume(woken);
  }
  int receive() {
    for (;;) {
      std::unique_lock<std::mutex> held(lock);
      if (!values.empty()) {
        int value = values.front();
        values.pop_front();
        return value;
      }
      receivers.push_back(foreign::self());
      foreign::suspend(held);
    }
  }

private:
  std::mutex lock;
  std::deque<int> values;
  std::deque<foreign::id> receivers;
};

struct counts {
  long fibers, enters, suspends, yields, wakes;
};
static counts made;
static void count(long &counter) { __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED); }

int main(int argc, char **argv) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("fiber");
  CHECK(argc == 2);
  foreign::hook.enter = [](foreign::id i) {
    count(made.enters);
    gotrace_go_start(gotrace_go_keyed(i, &entry));
  };
  foreign::hook.suspend = [](foreign::id) {
    count(made.suspends);
    gotrace_go_block(GOTRACE_BLOCK_CHAN_RECV);
  };
  foreign::hook.yield = [](foreign::id) {
    count(made.yields);
    gotrace_go_stop(GOTRACE_STOP_YIELD);
  };
  foreign::hook.wake = [](foreign::id i) {
    count(made.wakes);
    gotrace_go_unblock(gotrace_go_keyed(i, &entry));
  };
  foreign::hook.finish = [](foreign::id i) {
    count(made.fibers);
    gotrace_go_end();
    gotrace_go_keyed_free(i);
  };
  CHECK_EQUAL(gotrace_start_file(argv[1], nullptr), GOTRACE_OK);
  {
    enum { PAIRS = 20, ROUNDS = 20, GENERATIONS = 5 };
    std::vector<std::unique_ptr<channel>> channels;
    std::function<void(int, int)> pair = [&](int left, int generation) { // of each, the sender spawns the next one
      channel *there = channels[left].get(), *back = channels[left + 1].get();
      foreign::spawn([there, back] {
        for (int i = 0; i < ROUNDS; i++) back->send(there->receive() + 1);
      });
      foreign::spawn([there, back, left, generation, &pair] {
        for (int i = 0; i < ROUNDS; i++) {
          there->send(i);
          if (i % 4 == 0) foreign::yield();
          CHECK_EQUAL(back->receive(), i + 1);
        }
        if (generation + 1 < GENERATIONS) pair(left, generation + 1);
      });
    };
    for (int i = 0; i < 2 * PAIRS; i++) channels.emplace_back(new channel);
    for (int i = 0; i < PAIRS; i++) pair(2 * i, 0);
    std::vector<std::thread> workers;
    std::vector<gotrace_proc *> procs;
    for (int i = 0; i < 3; i++) {
      gotrace_proc *proc = gotrace_proc_create();
      procs.push_back(proc);
      workers.emplace_back([proc] {
        gotrace_proc_start(proc);
        foreign::worker();
        gotrace_proc_stop();
      });
    }
    for (std::thread &worker : workers) worker.join();
    for (gotrace_proc *proc : procs) gotrace_proc_destroy(proc);
    CHECK_EQUAL(made.fibers, 2 * PAIRS * GENERATIONS);
    CHECK(foreign::fibers.size() < static_cast<size_t>(made.fibers)); // ids were used again
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  story_read(argv[1]);
  story_expect("created fiber", made.fibers);
  story_expect("ended fiber", made.fibers);
  story_expect("started fiber", made.enters);
  story_expect("blocked fiber chan receive", made.suspends);
  story_expect("stopped fiber runtime.Gosched", made.yields);
  story_expect("woken fiber", made.wakes);
  story_expect("* [?]*", 0);
  std::printf("%ld fibers, %ld ids, %ld waits\n", made.fibers, static_cast<long>(foreign::fibers.size()),
              made.suspends);
  return 0;
}
