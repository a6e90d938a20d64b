/* gotrace.hpp - guards, locks and threads for C++11 and later, on top of gotrace.h.
 *
 *     gotrace::task task("request");          a task to the end of the block; task.id() for logs and child tasks
 *     gotrace::region region(name, task);     a region with a name made at run time; GOTRACE_SCOPE for a constant
 *     gotrace::wait wait(GOTRACE_BLOCK_NET);  the thread waits to the end of the block
 *     gotrace::nest nest(go);                 another goroutine runs on the thread to the end of the block, and ends
 *                                             there, unless it has blocked, stopped or ended; see gotrace_nest_begin
 *     gotrace::mutex                          like std::mutex; the trace shows who waited for it and who released it
 *     gotrace::condition_variable             like std::condition_variable, for std::unique_lock<gotrace::mutex>
 *     gotrace::jthread thread("name", f);     like std::jthread; a goroutine whose arrow comes from its creator. From
 *                                             C++20 on with a stop token
 *
 * The place of these calls in the trace is where the program makes them (but for a mutex, which std::lock_guard locks).
 * To look that up costs 5 to 7 ns while tracing is on. With GOTRACE_HERE as the last argument, except of a jthread, it
 * costs nothing, and the function has its qualified name.
 *
 * Names must stay valid as long as their guard; a jthread's until gotrace_stop returns. The locks and waits are for
 * plain threads and for tasks that block their worker, not for what an idle worker of a scheduler locks or waits for. A
 * task guard may end on another thread than it began. */
#ifndef GOTRACE_HPP
#define GOTRACE_HPP

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#if defined(__has_include)
#if __has_include(<version>)
#include <version>
#endif
#endif
#if defined(__cpp_lib_jthread)
#include <stop_token>
#endif

#include "gotrace.h"

namespace gotrace {

/* The place of a call that has this as a default argument. NULL: unknown. */
#if defined(__clang__) && !__has_builtin(__builtin_LINE)
inline gotrace_site *here() { return nullptr; }
#else
inline gotrace_site *here(const char *function = __builtin_FUNCTION(), const char *file = __builtin_FILE(),
                          unsigned line = __builtin_LINE()) {
  return gotrace_enabled() ? gotrace_site_make(function, file, line) : nullptr;
}
#endif

class task {
public:
  explicit task(const char *name, gotrace_task parent = GOTRACE_NO_TASK, gotrace_site *at = here())
      : begun(gotrace_task_begin_at(at, name, 0, parent)), site(at) {}
  task(task &&from) noexcept : begun(from.begun), site(from.site) { from.begun = GOTRACE_NO_TASK; }
  task &operator=(task &&) = delete;
  ~task() {
    if (begun.id) gotrace_task_end_at(site, begun);
  }
  gotrace_task id() const { return begun; }
  operator gotrace_task() const { return begun; }

private:
  gotrace_task begun;
  gotrace_site *site;
};

class region {
public:
  explicit region(const char *text, gotrace_task of = GOTRACE_NO_TASK, gotrace_site *at = here())
      : name(text), task(of), site(at) {
    if (gotrace_enabled()) gotrace_region_begin_at(site, task, name, 0);
  }
  region(const region &) = delete;
  region &operator=(const region &) = delete;
  ~region() {
    if (gotrace_enabled()) gotrace_region_end_at(site, task, name, 0);
  }

private:
  const char *name;
  gotrace_task task;
  gotrace_site *site;
};

class wait {
public:
  explicit wait(unsigned reason, gotrace_site *at = here()) { gotrace_wait_begin_at(at, reason); }
  wait(const void *key, unsigned reason, gotrace_site *at = here()) { /* ended by gotrace_wake(key, 1) */
    gotrace_wait_on_at(at, key, reason);
  }
  wait(const wait &) = delete;
  wait &operator=(const wait &) = delete;
  ~wait() { gotrace_wait_end(); }
};

class nest {
public:
  explicit nest(gotrace_go *inner, gotrace_site *at = here()) : go(inner), outer(gotrace_nest_begin_at(at, inner)) {}
  nest(const nest &) = delete;
  nest &operator=(const nest &) = delete;
  ~nest() {
    if (go && gotrace_go_self() == go) gotrace_go_end();
    gotrace_nest_end(outer);
  }

private:
  gotrace_go *go, *outer;
};

class mutex {
public:
  mutex() = default;
  mutex(const mutex &) = delete;
  mutex &operator=(const mutex &) = delete;
  void lock() {
    if (inner.try_lock()) return;
    wait waiting(this, GOTRACE_REASON("mutex") + GOTRACE_BLOCK_SYNC, GOTRACE_HERE);
    inner.lock();
  }
  bool try_lock() { return inner.try_lock(); }
  void unlock() {
    gotrace_wake(this, 1);
    inner.unlock();
  }

private:
  friend class condition_variable;
  std::mutex inner;
};

class condition_variable {
public:
  void notify_one() {
    gotrace_wake(this, 1);
    inner.notify_one();
  }
  void notify_all() {
    gotrace_wake(this, GOTRACE_WAKE_ALL);
    inner.notify_all();
  }
  void wait(std::unique_lock<mutex> &lock, gotrace_site *at = here()) {
    waiter w(this, lock, at);
    inner.wait(w.native);
  }
  template <class predicate> void wait(std::unique_lock<mutex> &lock, predicate holds, gotrace_site *at = here()) {
    while (!holds()) wait(lock, at);
  }
  template <class clock, class duration>
  std::cv_status wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<clock, duration> &until,
                            gotrace_site *at = here()) {
    waiter w(this, lock, at);
    return inner.wait_until(w.native, until);
  }
  template <class clock, class duration, class predicate>
  bool wait_until(std::unique_lock<mutex> &lock, const std::chrono::time_point<clock, duration> &until, predicate holds,
                  gotrace_site *at = here()) {
    while (!holds())
      if (wait_until(lock, until, at) == std::cv_status::timeout) return holds();
    return true;
  }
  template <class number, class period>
  std::cv_status wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<number, period> &time,
                          gotrace_site *at = here()) {
    return wait_until(lock, std::chrono::steady_clock::now() + time, at);
  }
  template <class number, class period, class predicate>
  bool wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<number, period> &time, predicate holds,
                gotrace_site *at = here()) {
    return wait_until(lock, std::chrono::steady_clock::now() + time, std::move(holds), at);
  }

private:
  /* The wait begins while the lock is held, so that no waker can precede it. It also releases the lock: a thread that
   * waits for that is woken first. */
  struct waiter {
    std::unique_lock<std::mutex> native;
    waiter(condition_variable *variable, std::unique_lock<mutex> &lock, gotrace_site *at)
        : native(lock.mutex()->inner, std::adopt_lock) {
      gotrace_wake_at(at, lock.mutex(), 1);
      gotrace_wait_on_at(at, variable, GOTRACE_REASON("condition variable") + GOTRACE_BLOCK_COND_WAIT);
    }
    ~waiter() {
      gotrace_wait_end();
      native.release();
    }
  };
  std::condition_variable inner;
};

class jthread {
  struct create { /* a name, and the place of the call that has it as an argument */
    gotrace_location entry;
    gotrace_site *site;
    create(const char *name, gotrace_site *at = here()) : entry{0, name, "", 0}, site(at) {}
  };

public:
  jthread() noexcept = default;
  template <class function, class... arguments>
  explicit jthread(const create &name, function &&f, arguments &&...values) : jthread(name) {
    struct undo { /* if std::thread throws */
      gotrace_go *go;
      ~undo() {
        if (go) gotrace_go_destroy(go);
      }
    } guard = {go};
    body<typename std::decay<function>::type> run(go, std::forward<function>(f));
#if defined(__cpp_lib_jthread)
    if constexpr (std::is_invocable_v<std::decay_t<function>, std::stop_token, std::decay_t<arguments>...>)
      inner = std::thread(std::move(run), source.get_token(), std::forward<arguments>(values)...);
    else
#endif
      inner = std::thread(std::move(run), std::forward<arguments>(values)...);
    guard.go = nullptr;
  }
  jthread(jthread &&) noexcept = default;
  jthread &operator=(jthread &&from) noexcept {
    if (this == &from) return *this;
    finish();
    inner = std::move(from.inner);
    go = from.go;
#if defined(__cpp_lib_jthread)
    source = std::move(from.source);
#endif
    return *this;
  }
  ~jthread() { finish(); }

  bool joinable() const noexcept { return inner.joinable(); }
  void join(gotrace_site *at = here()) {
    wait waiting(go, GOTRACE_REASON("join") + GOTRACE_BLOCK_SYNC, at);
    inner.join();
  }
  void detach() { inner.detach(); }
  std::thread::id get_id() const noexcept { return inner.get_id(); }
  std::thread::native_handle_type native_handle() { return inner.native_handle(); }
#if defined(__cpp_lib_jthread)
  std::stop_source get_stop_source() noexcept { return source; }
  std::stop_token get_stop_token() const noexcept { return source.get_token(); }
  bool request_stop() noexcept { return source.request_stop(); }
#endif

private:
  explicit jthread(const create &name) : go(gotrace_thread_create_at(name.site, &name.entry)) {}

  /* What runs on the thread. The last thing it does is to wake a join. */
  template <class function> struct body {
    gotrace_go *go;
    function f;
    template <class given> body(gotrace_go *as, given &&call) : go(as), f(std::forward<given>(call)) {}
    template <class... arguments> void operator()(arguments &&...values) {
      struct end {
        gotrace_go *go;
        ~end() { gotrace_wake(go, GOTRACE_WAKE_ALL); }
      } guard = {go};
      gotrace_thread_begin_as(go);
#if defined(__cpp_lib_invoke)
      std::invoke(std::move(f), std::forward<arguments>(values)...);
#else
      std::move(f)(std::forward<arguments>(values)...);
#endif
    }
  };

  void finish() {
    if (!joinable()) return;
#if defined(__cpp_lib_jthread)
    request_stop();
#endif
    join();
  }

  gotrace_go *go = nullptr;
#if defined(__cpp_lib_jthread)
  std::stop_source source;
#endif
  std::thread inner;
};

} // namespace gotrace

#endif
