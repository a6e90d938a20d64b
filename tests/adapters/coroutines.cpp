/* C++20 coroutines on a pool of two threads: tasks that yield, one that awaits others, a gate that one coroutine opens
 * for many, one that is destroyed while it waits, one with awaiters of rare kinds. */
#include "../../examples/adapters/coroutines.hpp"
#include "story.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

struct task {
  struct promise_type : gotrace_coroutines::promise {
    promise_type(std::source_location at = std::source_location::current()) : promise(at) {}
    task get_return_object() { return {handle::from_promise(*this)}; }
    void return_value(int value) { result = value; }
    void unhandled_exception() { std::terminate(); }
    int result = 0;
  };
  using handle = std::coroutine_handle<promise_type>;
  handle coroutine;

  /* co_await of another task runs it and gives its result. */
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(handle parent) { return coroutine.promise().runs_for(parent, coroutine); }
  int await_resume() {
    int result = coroutine.promise().result;
    coroutine.destroy();
    return result;
  }
  static constexpr const char *gotrace_reason = "task: wait for result";
};

static std::mutex lock;
static std::condition_variable filled;
static std::deque<task::handle> ready;
static int unfinished;

static void enqueue(task::handle handle) {
  std::lock_guard<std::mutex> guard(lock);
  ready.push_back(handle);
  filled.notify_one();
}

static void work() {
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_proc_start(proc);
  for (;;) {
    std::unique_lock<std::mutex> guard(lock);
    filled.wait(guard, [] { return !ready.empty() || !unfinished; });
    if (ready.empty()) break;
    task::handle handle = ready.front();
    ready.pop_front();
    guard.unlock();
    gotrace_coroutines::resume(handle);
  }
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
}

/* Lets other tasks run. */
struct yield {
  bool await_ready() { return false; }
  void await_suspend(task::handle handle) {
    gotrace_coroutines::ready(handle);
    enqueue(handle);
  }
  void await_resume() {}
  static constexpr const char *gotrace_reason = "yield";
};

/* A gate: coroutines wait until it is open. */
struct gate {
  std::mutex mutex;
  std::vector<task::handle> waiting;
  bool is_open = false;
  void open() {
    std::lock_guard<std::mutex> guard(mutex);
    is_open = true;
    for (task::handle handle : waiting) {
      gotrace_coroutines::ready(handle);
      enqueue(handle);
    }
  }
};
static gate door;
static std::atomic<int> waits{0};

struct pass {
  bool await_ready() { return false; }
  bool await_suspend(task::handle handle) {
    std::lock_guard<std::mutex> guard(door.mutex);
    if (door.is_open) return false;
    waits++;
    door.waiting.push_back(handle);
    return true;
  }
  void await_resume() {}
  static constexpr const char *gotrace_reason = "gate";
};

/* An awaiter in a variable. */
struct bell {
  bell() = default;
  bell(const bell &) = delete;
  int rung = 0;
  bool await_ready() { return false; }
  void await_suspend(task::handle handle) {
    rung++;
    gotrace_coroutines::ready(handle);
    enqueue(handle);
  }
  void await_resume() {}
};

/* Awaiters that do not wait after all. */
struct refuses {
  bool await_ready() { return false; }
  void await_suspend(task::handle) { throw 7; }
  void await_resume() {}
};
struct goes_on {
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(task::handle handle) { return handle; }
  void await_resume() {}
};

struct has_operator {
  yield operator co_await() const { return {}; }
};

static void finished() {
  std::lock_guard<std::mutex> guard(lock);
  if (--unfinished == 0) filled.notify_all();
}

enum { CHILDREN = 10, YIELDS = 7, PASSERS = 12 };

static task child(int n) {
  for (int i = 0; i < YIELDS; i++) co_await yield{};
  co_return n;
}

static task parent() {
  int sum = 0;
  for (int i = 1; i <= CHILDREN; i++) sum += co_await child(i);
  CHECK_EQUAL(sum, CHILDREN * (CHILDREN + 1) / 2);
  door.open();
  finished();
  co_return 0;
}

static task passer() {
  co_await pass{};
  finished();
  co_return 0;
}

static task odd() {
  bell own;
  int caught = 0;
  try {
    co_await refuses{};
  } catch (int value) {
    caught = value;
  }
  CHECK_EQUAL(caught, 7);
  co_await goes_on{};
  co_await has_operator{};
  co_await own;
  CHECK_EQUAL(own.rung, 1);
  finished();
  co_return 0;
}

static task never() {
  co_await std::suspend_always{};
  co_return 0;
}

int main(int argc, char **argv) {
  CHECK(argc == 2 && gotrace_start_file(argv[1], nullptr) == GOTRACE_OK);
  gotrace_go_self(); // the creator of the first coroutines
  do {
    std::vector<task> all;
    door.is_open = false;
    door.waiting.clear();
    unfinished = 2 + PASSERS;
    for (int i = 0; i < PASSERS; i++) all.push_back(passer());
    all.push_back(parent());
    all.push_back(odd());
    task left = never();
    for (task &t : all) enqueue(t.coroutine);
    enqueue(left.coroutine);
    std::thread one(work), two(work);
    one.join();
    two.join();
    left.coroutine.destroy();
    for (task &t : all) t.coroutine.destroy();
  } while (story_again());
  CHECK(gotrace_stop() == GOTRACE_OK);
  story_read(argv[1]);
  story_expect("created task child(int)*", CHILDREN);
  story_expect("created task passer()*", PASSERS);
  story_expect("ended task *", CHILDREN + PASSERS + 3);
  story_expect("blocked task child(int)*", CHILDREN * YIELDS);
  story_expect("started task child(int)*", CHILDREN * (YIELDS + 1));
  /* The parent is started once by a worker and once after each child, whose end it waited for. */
  story_expect("blocked task parent()*", CHILDREN);
  story_expect("started task parent()*", CHILDREN + 1);
  story_expect("woken task parent()*", CHILDREN);
  story_expect("blocked task odd()*", 4);
  story_expect("started task odd()*", 5);
  story_expect("continued task odd()*", 2); /* it did not wait after all */
  /* A passer that found the gate open continued without being woken by another coroutine. */
  story_expect("blocked task passer()*", PASSERS);
  story_expect("woken task passer()*", waits);
  story_expect("continued task passer()*", PASSERS - waits);
  return 0;
}
