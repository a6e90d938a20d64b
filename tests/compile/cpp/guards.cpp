/* examples/adapters/gotrace.hpp: guards, locks with wakers, threads with creators. And the examples of the header's
 * guide, as C++.
 *
 *     guards FILE      writes a trace there and checks it; without the tracer (GOTRACE_DISABLE) only the program */
#include "gotrace.hpp"

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "check.hpp"

/* Waits until the trace has that number of blocks: then another thread waits. */
static void wait_for_blocks(uint64_t count) {
  gotrace_stats stats;
  if (!gotrace_enabled()) return;
  do {
    std::this_thread::yield();
    gotrace_get_stats(&stats);
  } while (stats.kinds[GOTRACE_V2_GO_BLOCK] < count);
}

static gotrace::mutex lock;
static gotrace::condition_variable changed;
static int phase; /* under the lock */

static void worker(int *result) {
  {
    std::lock_guard<gotrace::mutex> guard(lock); /* main holds it, and releases it when this waits */
    *result += 1;
  }
  std::unique_lock<gotrace::mutex> guard(lock);
  phase = 1;
  changed.notify_all();
  changed.wait(guard, [] { return phase == 2; });
  *result += 10;
}

static void threads() {
  int result = 0;
  lock.lock();
  gotrace::jthread thread("worker", worker, &result);
  gotrace::jthread moved(std::move(thread));
  CHECK(!thread.joinable() && moved.joinable() && !lock.try_lock());
  wait_for_blocks(1);
  lock.unlock();
  {
    std::unique_lock<gotrace::mutex> guard(lock);
    while (phase == 0) changed.wait(guard);
    phase = 2;
    changed.notify_one();
    CHECK(changed.wait_for(guard, std::chrono::seconds(0)) == std::cv_status::timeout);
    CHECK(!changed.wait_until(guard, std::chrono::steady_clock::now(), [] { return phase == 3; }));
  }
  moved.join();
  CHECK_EQUAL(result, 11);
#if defined(__cpp_lib_jthread)
  {
    gotrace::jthread stopped("stopped", [](std::stop_token token) {
      while (!token.stop_requested()) std::this_thread::yield();
    });
  }
#endif
  gotrace::jthread("assigned", [] {}).join();
  thread = gotrace::jthread("assigned", [] {});
}

static void annotations() {
  gotrace::task task("request");
  gotrace::task child("child", task, GOTRACE_HERE), same(std::move(child));
  const std::string name = "region " + std::to_string(1);
  {
    gotrace::region region(name.c_str(), task);
    gotrace_log(same.id(), "category", "message");
  }
  gotrace::wait wait(GOTRACE_REASON("redis: wait for reply") + GOTRACE_BLOCK_NET);
}

/* A thread that waits runs jobs meanwhile; one of them leaves its block early, one does not end. */
static void help() {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("helped");
  gotrace_go *first = gotrace_go_create(&entry), *second = gotrace_go_create(&entry);
  {
    gotrace::wait wait(GOTRACE_REASON("group: wait"));
    for (gotrace_go *go : {first, second}) {
      gotrace::nest nest(go);
      GOTRACE_REGION("helped job") {
        if (go == first) continue;
      }
      gotrace_go_stop(GOTRACE_STOP_YIELD);
    }
  }
  gotrace::nest last(second);
}

/* The guide: a scheduler's worker and its tasks. */
struct job {
  gotrace_go *go;
};
static void resume(job *task) {
  (void)task;
  GOTRACE_SCOPE("job");
}
static void scheduler() {
  static const gotrace_location entry = GOTRACE_ENTRY(resume);
  std::vector<job *> jobs;
  gotrace_go_self();
  for (int i = 0; i < 3; i++) jobs.push_back(new job{gotrace_go_create(&entry)});
  gotrace_proc *proc = gotrace_proc_create();
  std::thread([&] {
    gotrace_proc_start(proc);
    for (job *task : jobs) {
      gotrace_go_start(task->go);
      resume(task);
      gotrace_go_end();
      delete task;
    }
    gotrace_proc_stop();
  }).join();
  gotrace_proc_destroy(proc);
}

/* The guide: plain threads, a wait on an object, a log from another place. */
static void waits() {
  static int filled;
  gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  gotrace_wait_on(&filled, GOTRACE_REASON("queue: wait for work"));
  gotrace_wait_end();
  CHECK_EQUAL(gotrace_wake(&filled, 1), 0);
  gotrace_log_at(gotrace_site_make("function", "file", 1), GOTRACE_NO_TASK, "app", "text");
}

static void program() {
  GOTRACE_REGION("greet") gotrace_log(GOTRACE_NO_TASK, "greeting", "hello, world");
  threads();
  annotations();
  help();
  scheduler();
  waits();
}

#if !GOTRACE_DISABLE
static std::map<std::string, int> facts;
static std::map<uint64_t, std::string> names;

static std::string string_of(gotrace_decoder *decoder, uint64_t id) {
  const char *data = "";
  size_t size = 0;
  CHECK(gotrace_decoder_string(decoder, id, &data, &size));
  return std::string(data, size);
}

/* The function of a stack, and whether it is in this file. */
static std::string place_of(gotrace_decoder *decoder, uint64_t stack) {
  gotrace_frame frame;
  if (!gotrace_decoder_stack(decoder, stack, &frame, 1)) return "nowhere";
  return std::string(frame.function, frame.function_size) +
         (std::string(frame.file, frame.file_size) == __FILE__ ? "" : " elsewhere");
}

static void note(gotrace_decoder *decoder, const gotrace_event &event) {
  const uint64_t *args = event.args;
  gotrace_frame frame;
  uint64_t self = event.g >= 0 ? static_cast<uint64_t>(event.g) : 0;
  switch (event.kind) {
  case GOTRACE_V2_GO_CREATE:
    CHECK(gotrace_decoder_stack(decoder, args[1], &frame, 1) == 1);
    names[args[0]] = std::string(frame.function, frame.function_size);
    facts[(self ? "created " : "made ") + names[args[0]]]++;
    facts[names[args[0]] + " in " + place_of(decoder, args[2])]++;
    break;
  case GOTRACE_V2_GO_BLOCK:
    facts["blocked " + names[self] + ": " + string_of(decoder, args[0])]++;
    facts[string_of(decoder, args[0]) + " in " + place_of(decoder, args[1])]++;
    break;
  case GOTRACE_V2_GO_UNBLOCK:
    if (self && self != args[0]) facts["woken " + names[args[0]] + " by " + names[self]]++;
    break;
  case GOTRACE_V2_GO_DESTROY: facts["ended " + names[self]]++; break;
  case GOTRACE_V2_USER_TASK_BEGIN:
    facts["task " + string_of(decoder, args[2])]++;
    facts[string_of(decoder, args[2]) + " in " + place_of(decoder, args[3])]++;
    break;
  case GOTRACE_V2_USER_TASK_END: facts["task ended"]++; break;
  case GOTRACE_V2_USER_REGION_END:
    facts["region " + string_of(decoder, args[1])]++;
    facts[string_of(decoder, args[1]) + " in " + place_of(decoder, args[2])]++;
    break;
  default: break;
  }
}

static void expect(const char *fact, int count) {
  if (facts[fact] == count) return;
  fprintf(stderr, "%s: %d, not %d. The trace tells:\n", fact, facts[fact], count);
  for (const auto &other : facts) fprintf(stderr, "%8d %s\n", other.second, other.first.c_str());
  exit(1);
}

static void check(const char *path) {
  gotrace_stats stats;
  gotrace_get_stats(&stats);
  CHECK_EQUAL(stats.dropped + stats.repaired + stats.left_out, 0);
  each_event(path, note);
  expect("created worker", 1);
  expect("created assigned", 2);
  expect("ended worker", 1);
  expect("ended assigned", 2);
  CHECK(facts["blocked worker: mutex"] >= 1);
  CHECK(facts["woken worker by main"] >= 1); /* twice, unless main is late for the condition variable */
  CHECK(facts["blocked main: condition variable"] >= 2);
  expect("task request", 1);
  expect("task child", 1);
  expect("task ended", 2);
  expect("region region 1", 1);
#if !defined(__clang__) || __clang_major__ >= 9
  expect("request in annotations", 1); /* guards know where they are made */
  expect("region 1 in annotations", 1);
  expect("child in annotations", 1);
  expect("worker in threads", 1);
  CHECK(facts["join in threads"] >= 1 && facts["condition variable in threads"] >= 2);
  expect("condition variable in worker", facts["blocked worker: condition variable"]);
  expect("redis: wait for reply in annotations", 1);
  expect("group: wait in help", 1);
#endif
  expect("region greet", 1);
  expect("region job", 3);
  expect("blocked main: redis: wait for reply", 1);
  expect("blocked main: sync", 1);
  expect("blocked main: group: wait", 1);
  expect("created helped", 2);
  expect("ended helped", 2);
  expect("region helped job", 2);
  expect("blocked main: queue: wait for work", 1);
  expect("created resume", 3);
  expect("ended resume", 3);
}
#endif

int main(int argc, char **argv) {
  CHECK(argc == 2);
#if GOTRACE_DISABLE
  program();
#else
  gotrace_thread_rename("main");
  CHECK_EQUAL(gotrace_start_file(argv[1], nullptr), GOTRACE_OK);
  program();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  check(argv[1]);
#endif
  (void)argv;
  return 0;
}
