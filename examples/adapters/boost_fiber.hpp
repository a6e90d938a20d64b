/* boost_fiber.hpp - Boost.Fiber's fibers as goroutines: a scheduling algorithm that wraps another one.
 *
 *     boost::fibers::use_scheduling_algorithm<gotrace_fibers::traced<boost::fibers::algo::round_robin>>();
 *
 * on each thread that runs fibers. Arguments are passed to the inner algorithm.
 *
 *     in Boost.Fiber                    becomes
 *     use_scheduling_algorithm          gotrace_proc_start: each thread is a proc. Its main fiber is a goroutine, "main
 *                                       fiber"; the dispatcher fiber is none
 *     awakened(fiber), the first time   gotrace_go_create, named by gotrace_fibers::name, else "fiber"
 *     awakened(fiber)                   gotrace_go_unblock by the waking fiber, if it waited; nothing if it yields
 *     pick_next()                       the calling fiber ends, yields or blocks: gotrace_go_end, gotrace_go_stop or
 *                                       gotrace_go_block; gotrace_go_start for the next one
 *     suspend_until(), notify()         gotrace_proc_stop and gotrace_proc_start around an idle thread's sleep
 *
 * A fiber's handle is stored in its properties, so the inner algorithm may not use properties itself. */
#ifndef GOTRACE_BOOST_FIBER_HPP
#define GOTRACE_BOOST_FIBER_HPP

#include <boost/fiber/all.hpp>
#include <utility>

#include "gotrace.h"

namespace gotrace_fibers {

using boost::fibers::context;

struct record : boost::fibers::fiber_properties {
  explicit record(context *fiber) noexcept : fiber_properties(fiber) {}
  ~record() override {
    if (go) gotrace_go_destroy(go); // never ran to its end
  }
  gotrace_go *go = nullptr;
  bool waits = false; // it has suspended itself, and nobody has woken it since
};

/* The name of fibers that this thread launches from now on; a string literal. */
inline const gotrace_location *&entry_of_new() {
  static const gotrace_location unnamed = GOTRACE_NAMED_ENTRY("fiber");
  static thread_local const gotrace_location *entry = &unnamed;
  return entry;
}
#define GOTRACE_FIBER_NAME(text)                                        \
  do {                                                                  \
    static const gotrace_location entry = GOTRACE_NAMED_ENTRY("" text); \
    gotrace_fibers::entry_of_new() = &entry;                            \
  } while (0)

inline bool &yields() {
  static thread_local bool flag;
  return flag;
}

/* Call it instead of boost::this_fiber::yield(). */
inline void yield() {
  yields() = true;
  boost::this_fiber::yield();
}

template <typename algorithm> class traced : public algorithm {
public:
  template <typename... arguments>
  explicit traced(arguments &&...values) : algorithm(std::forward<arguments>(values)...) {
    static const gotrace_location entry = GOTRACE_NAMED_ENTRY("main fiber");
    proc = gotrace_proc_create();
    gotrace_proc_start(proc);
    running = &of(context::active());
    running->go = gotrace_go_create(&entry);
    gotrace_go_start(running->go);
  }

  ~traced() override {
    gotrace_proc_stop();
    gotrace_proc_destroy(proc);
  }

  void awakened(context *fiber) noexcept override {
    if (!fiber->is_context(boost::fibers::type::dispatcher_context)) {
      record &r = of(fiber);
      if (!r.go) {
        r.go = gotrace_go_create(entry_of_new());
      } else if (r.waits) {
        gotrace_go_unblock(r.go);
      }
      r.waits = false;
    }
    algorithm::awakened(fiber);
  }

  context *pick_next() noexcept override {
    context *next = algorithm::pick_next();
    context *self = context::active();
    if (running) {
      if (self->is_context(boost::fibers::type::worker_context) && !self->worker_is_linked()) {
        gotrace_go_end();
        running->go = nullptr;
      } else if (yields()) {
        gotrace_go_stop(GOTRACE_STOP_YIELD);
      } else {
        running->waits = true;
        gotrace_go_block(self->sleep_is_linked() && !self->wait_is_linked() ? GOTRACE_BLOCK_SLEEP : GOTRACE_BLOCK_SYNC);
      }
    }
    yields() = false;
    running = next && !next->is_context(boost::fibers::type::dispatcher_context) ? &of(next) : nullptr;
    if (running) gotrace_go_start(running->go);
    return next;
  }

  void suspend_until(std::chrono::steady_clock::time_point const &time) noexcept override {
    gotrace_proc_stop();
    algorithm::suspend_until(time);
    gotrace_proc_start(proc);
  }

private:
  static record &of(context *fiber) {
    if (!fiber->get_properties()) fiber->set_properties(new record(fiber));
    return *static_cast<record *>(fiber->get_properties());
  }

  gotrace_proc *proc;
  record *running = nullptr; // null: the dispatcher fiber
};

} // namespace gotrace_fibers

#endif
