/* coroutines.hpp - C++20 coroutines as goroutines: a base for promises, and two calls for the code that resumes them.
 *
 *     in the program                       becomes
 *     struct promise_type :                gotrace_go_create when the coroutine is made. It must begin suspended. It is
 *       gotrace_coroutines::promise        named after its function and line, if the promise has the constructor below
 *     co_await something                   gotrace_go_block, before anybody else can resume the coroutine. The reason
 *                                          is something.gotrace_reason (a const char *), if it has such a member
 *     co_await another coroutine           that one starts; when it ends, gotrace_go_switch_end returns to the first
 *     gotrace_coroutines::ready(handle)    gotrace_go_unblock. Call it where the coroutine becomes ready, before any
 *                                          thread can see that
 *     gotrace_coroutines::resume(handle)   gotrace_go_start, resume. Call it instead of handle.resume(), on a thread
 *                                          that has a proc (gotrace_proc_start)
 *     it returns, or is destroyed          gotrace_go_end, gotrace_go_destroy
 *       while it waits
 *
 *     struct promise_type : gotrace_coroutines::promise {
 *       promise_type(std::source_location at = std::source_location::current()) : promise(at) {}
 *
 * Needs std::source_location: GCC 11, Clang 15 with libstdc++. */
#ifndef GOTRACE_COROUTINES_HPP
#define GOTRACE_COROUTINES_HPP

#include <coroutine>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "gotrace.h"

namespace gotrace_coroutines {

inline gotrace_site *place(const std::source_location &at) {
  return gotrace_site_make(at.function_name(), at.file_name(), at.line());
}

/* What co_await uses: the result of the operator co_await, if there is one. */
template <typename awaitable> decltype(auto) awaiter_of(awaitable &&value) {
  if constexpr (requires { std::forward<awaitable>(value).operator co_await(); })
    return std::forward<awaitable>(value).operator co_await();
  else if constexpr (requires { operator co_await(std::forward<awaitable>(value)); })
    return operator co_await(std::forward<awaitable>(value));
  else return std::forward<awaitable>(value);
}

/* Wraps another awaiter, and reports the wait around its functions. `inner_type` is a reference if the program has the
 * awaiter in a variable, whose own functions must run. */
template <typename inner_type> struct traced_awaiter {
  inner_type inner;
  gotrace_go *go;
  gotrace_site *site;

  bool await_ready() { return inner.await_ready(); }

  template <typename promise_type> auto await_suspend(std::coroutine_handle<promise_type> handle) {
    unsigned reason = GOTRACE_BLOCK_GENERIC;
    if constexpr (requires { inner.gotrace_reason; }) reason = gotrace_reason(inner.gotrace_reason);
    gotrace_go *self = go; // this awaiter is gone as soon as another thread resumes the coroutine
    struct continues {     // also if await_suspend throws
      gotrace_go *go;
      ~continues() {
        if (go) gotrace_go_continue(go);
      }
    } guard = {self};
    gotrace_go_block_at(site, reason);
    using result = decltype(inner.await_suspend(handle));
    if constexpr (std::is_void_v<result>) {
      inner.await_suspend(handle);
      guard.go = nullptr;
    } else {
      result next = inner.await_suspend(handle);
      bool waits;
      if constexpr (std::is_same_v<result, bool>) waits = next;
      else waits = next != handle;
      if (waits) guard.go = nullptr;
      return next;
    }
  }

  decltype(auto) await_resume() { return inner.await_resume(); }
};

template <typename awaitable> using awaiter = decltype(awaiter_of(std::declval<awaitable>()));
/* A temporary awaiter is moved into the wrapper. */
template <typename awaitable>
using kept_awaiter = std::conditional_t<std::is_lvalue_reference_v<awaiter<awaitable>>, awaiter<awaitable>,
                                        std::remove_reference_t<awaiter<awaitable>>>;

class promise {
public:
  explicit promise(std::source_location at = std::source_location::current()) {
    std::string name = std::string(at.function_name()) + ":" + std::to_string(at.line());
    gotrace_site *site = gotrace_site_make(name.c_str(), at.file_name(), at.line());
    go = gotrace_go_create(site ? &site->location : nullptr);
  }
  promise(const promise &) = delete;
  promise &operator=(const promise &) = delete;
  ~promise() {
    if (go) gotrace_go_destroy(go);
  }

  std::suspend_always initial_suspend() noexcept { return {}; }

  /* The coroutine ends, and its awaiter continues in its place. */
  struct final_awaiter {
    promise &self;
    bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) noexcept {
      self.go = nullptr;
      if (!self.awaiting) {
        gotrace_go_end();
        return std::noop_coroutine();
      }
      gotrace_go_switch_end(self.awaiting_go);
      return self.awaiting;
    }
    void await_resume() noexcept {}
  };
  final_awaiter final_suspend() noexcept { return {*this}; }

  template <typename awaitable>
  auto await_transform(awaitable &&value, std::source_location at = std::source_location::current()) {
    return traced_awaiter<kept_awaiter<awaitable>>{awaiter_of(std::forward<awaitable>(value)), go, place(at)};
  }

  /* For the awaiter of a coroutine's result: its await_suspend(handle) returns child.promise().runs_for(handle,
   * child). */
  template <typename parent, typename self_type>
  std::coroutine_handle<> runs_for(std::coroutine_handle<parent> handle, std::coroutine_handle<self_type> self) {
    awaiting = handle;
    awaiting_go = handle.promise().go;
    gotrace_go_start(go);
    return self;
  }

  gotrace_go *go;

private:
  std::coroutine_handle<> awaiting;
  gotrace_go *awaiting_go = nullptr;
};

template <typename promise_type> void ready(std::coroutine_handle<promise_type> handle) {
  gotrace_go_unblock(handle.promise().go);
}

template <typename promise_type> void resume(std::coroutine_handle<promise_type> handle) {
  gotrace_go_start(handle.promise().go);
  handle.resume();
}

} // namespace gotrace_coroutines

#endif
