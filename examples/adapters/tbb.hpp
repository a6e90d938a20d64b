/* tbb.hpp - oneTBB's tasks as goroutines. TBB calls no hook for a task, so tasks are wrapped where they are made; an
 * observer, its only hook, tells when workers come and go.
 *
 *     gotrace_tbb::thread here("main");                    on each thread of the program that uses TBB
 *     gotrace_tbb::workers observer;                       one in the program, after gotrace_start
 *     gotrace_tbb::task_group group;                       instead of tbb::task_group
 *     GOTRACE_TBB_RUN(group, "load", [=] { load(file); }); group.run(...)
 *     group.wait();
 *     tbb::parallel_for(range, GOTRACE_TBB_BODY("row", [&](const auto &rows) { ... }));
 *
 *     in oneTBB                         becomes
 *     on_scheduler_entry, _exit         gotrace_proc_start, _stop: each thread is a proc
 *     task_group::run                   gotrace_go_create
 *     its function, each call of a body gotrace_go_start, _end
 *     task_group::wait                  gotrace_wait_begin, "TBB: wait for tasks", then _end
 *     a thread that waits, or that is   gotrace_nest_begin and _end around the task
 *       in parallel_for, runs a task
 *     task_group::cancel                gotrace_go_destroy of tasks that have not begun
 *
 * Not told apart: flow graphs, and functions that task_arena::execute passes to another thread. */
#ifndef GOTRACE_TBB_HPP
#define GOTRACE_TBB_HPP

#include <memory>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <utility>

#include "gotrace.h"

namespace gotrace_tbb {

struct slot {
  gotrace_proc *proc = nullptr;
  int entries = 0; // how often the thread has begun to run tasks, and not ended
  void enter() {
    if (!proc) proc = gotrace_proc_create();
    if (!entries++) gotrace_proc_start(proc);
  }
  void leave() {
    if (!--entries) gotrace_proc_stop();
  }
  ~slot() {
    if (entries) gotrace_proc_stop(); // the observer has gone before the thread
    if (proc) gotrace_proc_destroy(proc);
  }
};
inline slot &mine() {
  static thread_local slot s;
  return s;
}

/* A goroutine runs on the thread while this object exists, inside the one that waits or runs there. */
class running {
public:
  explicit running(gotrace_go *go) : outer((mine().enter(), gotrace_nest_begin(go))) {}
  ~running() {
    gotrace_go_end();
    gotrace_nest_end(outer);
    mine().leave();
  }
  running(const running &) = delete;
  running &operator=(const running &) = delete;

private:
  gotrace_go *outer;
};

/* A thread of the program, as a goroutine with this name, a string literal. */
class thread {
public:
  explicit thread(const char *name)
      : entry(entry_of(name)), runs((mine().enter(), gotrace_go_create(&entry))) {} // created on its proc
  ~thread() { mine().leave(); }

private:
  static gotrace_location entry_of(const char *name) {
    gotrace_location place = GOTRACE_NAMED_ENTRY("");
    place.function = name;
    return place;
  }
  gotrace_location entry;
  running runs;
};

class workers : public tbb::task_scheduler_observer {
public:
  workers() { observe(true); }
  ~workers() override { observe(false); }
  void on_scheduler_entry(bool is_worker) override {
    if (is_worker) mine().enter();
  }
  void on_scheduler_exit(bool is_worker) override {
    if (is_worker && mine().entries) mine().leave();
  }
};

class task_group : public tbb::task_group {
public:
  template <typename F> void run_as(gotrace_site *site, const gotrace_location *entry, F function) {
    auto task = std::make_shared<created>(gotrace_go_create_at(site, entry));
    tbb::task_group::run([task, function] {
      task->begun = true;
      running here(task->go);
      function();
    });
  }
  tbb::task_group_status wait() {
    struct waiting {
      waiting() { gotrace_wait_begin(GOTRACE_REASON("TBB: wait for tasks") + GOTRACE_BLOCK_SYNC); }
      ~waiting() { gotrace_wait_end(); }
    } here;
    return tbb::task_group::wait();
  }

private:
  struct created {
    explicit created(gotrace_go *made) : go(made) {}
    ~created() {
      if (!begun) gotrace_go_destroy(go);
    }
    gotrace_go *go;
    bool begun = false;
  };
};
#define GOTRACE_TBB_ENTRY(name)                                      \
  [] {                                                               \
    static const gotrace_location entry = GOTRACE_NAMED_ENTRY(name); \
    return &entry;                                                   \
  }()
#define GOTRACE_TBB_RUN(group, name, ...) (group).run_as(GOTRACE_HERE, GOTRACE_TBB_ENTRY(name), __VA_ARGS__)

/* The body of a parallel algorithm, each call of which is a goroutine. */
template <typename F> struct body {
  gotrace_site *site;
  const gotrace_location *entry;
  F function;
  template <typename... Arguments>
  auto operator()(Arguments &&...arguments) const -> decltype(function(std::forward<Arguments>(arguments)...)) {
    running here(gotrace_go_create_at(site, entry));
    return function(std::forward<Arguments>(arguments)...);
  }
};
template <typename F> body<F> body_of(gotrace_site *site, const gotrace_location *entry, F function) {
  return {site, entry, std::move(function)};
}
#define GOTRACE_TBB_BODY(name, ...) gotrace_tbb::body_of(GOTRACE_HERE, GOTRACE_TBB_ENTRY(name), __VA_ARGS__)

} // namespace gotrace_tbb

#endif
