/* What C++ adds to the header's macros: names of functions, call sites outside functions, regions that are no loop.
 *
 *     language FILE      writes a trace there and checks it; without the tracer (GOTRACE_DISABLE) only the program */
#include <functional>
#include <string>
#include <vector>

#include "check.hpp"
#include "gotrace.h"

/* The names that GCC and Clang give: only GCC's have the template arguments of functions. */
#if defined(__clang__)
#define EITHER(gcc, clang) clang
#else
#define EITHER(gcc, clang) gcc
#endif

/* A log whose text is the name that its frame must have. */
#define NAMED(name) (evaluated++, gotrace_log(GOTRACE_NO_TASK, "name", name))
static int evaluated, regions;

namespace net {
struct Server {
  Server() { NAMED("net::Server::Server"); }
  ~Server() { NAMED("net::Server::~Server"); }
  void run() { NAMED("net::Server::run"); }
  int many(const std::vector<std::string> &, int (*)(int)) const {
    NAMED("net::Server::many");
    return 1;
  }
  int operator()(int x) {
    NAMED("net::Server::operator()");
    return x;
  }
  bool operator<(const Server &) const {
    NAMED("net::Server::operator<");
    return false;
  }
  int operator->*(int x) {
    NAMED("net::Server::operator->*");
    return x;
  }
  explicit operator bool() const {
    NAMED("net::Server::operator bool");
    return true;
  }
  template <class T> T kept(T x) {
    NAMED(EITHER("net::Server::kept<int>", "net::Server::kept"));
    return x;
  }
};
} // namespace net
namespace db {
struct Pool {
  void run() { NAMED("db::Pool::run"); }
};
} // namespace db

namespace {
struct Hidden {
  static void run() { NAMED("Hidden::run"); }
};
} // namespace

template <class T> struct Box {
  T value{};
  void put(const T &x) {
    value = x;
    NAMED("Box<int>::put");
    [&] { NAMED("Box<int>::put::lambda"); }();
  }
};
template <class T, class U> struct Pair {
  void put() { NAMED("Pair<...>::put"); }
};
template <class T> static auto deduced(T x) -> decltype(x + 1) {
  NAMED(EITHER("deduced<int>", "deduced"));
  return x + 1;
}
static std::function<void(int)> closure() {
  return [](int) { NAMED("closure::lambda"); };
}
extern "C" int in_c(void);
extern "C" int in_c(void) {
  NAMED("in_c");
  return 0;
}

/* Outside functions: default member initializers, default arguments, constants. */
static void worker() {}
static const gotrace_location entry = GOTRACE_ENTRY(worker);
static const unsigned reply = GOTRACE_REASON("wait for reply");
struct Task {
  gotrace_go *go = gotrace_go_create(&entry);
  gotrace_task task = gotrace_task_begin("span", GOTRACE_NO_TASK);
  int named = (NAMED("Task"), 1);
  ~Task() {
    gotrace_task_end(task);
    gotrace_go_destroy(go);
  }
};
template <class T> struct Generic {
  T value{};
  gotrace_go *go = gotrace_go_create(&entry);
};
static void run(gotrace_go *go = gotrace_go_create(&entry), int = (NAMED("initializer"), 1)) { gotrace_go_destroy(go); }

/* Reasons of both kinds in one expression. */
static void wait(bool timed) {
  gotrace_wait_begin(timed ? GOTRACE_REASON("timed") : GOTRACE_BLOCK_SYNC);
  gotrace_wait_end();
  gotrace_wait_begin(timed ? GOTRACE_BLOCK_NET + GOTRACE_FUTILE_WAKEUP : reply);
  gotrace_wait_end();
}

/* Regions. Each use counts; its text is in the trace that often. */
static int sum(const int *values, int count) {
  int all = 0;
  for (int i = 0; i < count; i++) {
    regions++;
    GOTRACE_REGION("item") {
      if (values[i] == 0) break;
      if (values[i] & 1) continue;
      all += values[i];
    }
    all += 1000;
  }
  return all;
}
static int chosen(int x) {
  regions++;
  switch (x) {
  case 1: GOTRACE_REGION("item") break;
  default: GOTRACE_REGION("item") return 7;
  }
  return 8;
}
static int returned(int x) {
  regions += 2;
  GOTRACE_REGION("item")
    GOTRACE_TASK_REGION(GOTRACE_NO_TASK, "item") {
      if (x) return x;
      return -1;
    }
}
/* Those of a macro are on one line. */
#define BOTH(a, b)  \
  GOTRACE_SCOPE(a); \
  GOTRACE_SCOPE(b)
static int scoped(int x) {
  BOTH("item", "item");
  GOTRACE_TASK_SCOPE(GOTRACE_NO_TASK, x ? "item" : "");
  regions += 3;
  for (;;) {
    GOTRACE_SCOPE("item");
    regions++;
    if (x++ == 3) return x;
    if (x == 2) continue;
  }
}
static int thrown() {
  regions += 2;
  try {
    GOTRACE_SCOPE("item");
    GOTRACE_REGION("item") throw 5;
  } catch (int x) {
    return x;
  }
}
static int otherwise(bool first) {
  regions++;
  if (first)
    GOTRACE_REGION("item") return 1;
  else
    GOTRACE_REGION("item") return 2;
}

static void program() {
  static const int values[] = {2, 3, 4, 0, 6};
  {
    net::Server server;
    server.run();
    server.many({}, nullptr);
    server(1);
    CHECK(!(server < server) && server->*3 == 3 && server);
    server.kept(1);
  }
  db::Pool().run();
  Hidden::run();
  Box<int>().put(1);
  Pair<std::vector<std::string>, int>().put();
  deduced(1);
  closure()(1);
  in_c();
  { Task task; }
  gotrace_go_destroy(Generic<int>().go);
  run();
  wait(true);
  wait(false);
  [] { NAMED("program::lambda"); }();
  CHECK_EQUAL(sum(values, 5), 2006);
  CHECK_EQUAL(chosen(1), 8);
  CHECK_EQUAL(chosen(2), 7);
  CHECK_EQUAL(returned(3), 3);
  CHECK_EQUAL(scoped(1), 4);
  CHECK_EQUAL(thrown(), 5);
  CHECK_EQUAL(otherwise(true) + otherwise(false), 3);
}

#if !GOTRACE_DISABLE
static std::string text(const char *data, size_t size) { return std::string(data, size); }

static void check(const char *path) {
  int logs = 0, ended = 0, open = 0;
  each_event(path, [&](gotrace_decoder *decoder, const gotrace_event &event) {
    gotrace_frame frame;
    const char *data;
    size_t size;
    if (event.kind == GOTRACE_V2_USER_LOG) {
      CHECK(gotrace_decoder_string(decoder, event.args[2], &data, &size));
      CHECK(gotrace_decoder_stack(decoder, event.stack, &frame, 1) == 1);
      std::string got = text(frame.function, frame.function_size), want = text(data, size);
      if (got != want) fprintf(stderr, "%s, not %s\n", got.c_str(), want.c_str());
      CHECK(got == want);
      logs++;
    }
    if (event.kind == GOTRACE_V2_USER_REGION_BEGIN || event.kind == GOTRACE_V2_USER_REGION_END) {
      bool begin = event.kind == GOTRACE_V2_USER_REGION_BEGIN;
      CHECK(gotrace_decoder_string(decoder, event.args[1], &data, &size));
      CHECK(text(data, size) == "item");
      open += begin ? 1 : -1;
      ended += !begin;
    }
  });
  CHECK_EQUAL(open, 0);
  CHECK_EQUAL(ended, regions);
  CHECK_EQUAL(logs, evaluated);
}
#endif

int main(int argc, char **argv) {
  CHECK(argc == 2);
#if GOTRACE_DISABLE
  program();
#else
  CHECK_EQUAL(gotrace_start_file(argv[1], nullptr), GOTRACE_OK);
  program();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  check(argv[1]);
#endif
  (void)argv;
  return 0;
}
