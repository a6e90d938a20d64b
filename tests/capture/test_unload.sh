#!/usr/bin/env bash
# A library with its own tracer is loaded and unloaded a thousand times while tracing is on: its trace is complete each
# time, threads that called it live on, and all memory is returned to the system. Meanwhile the host traces itself. When
# the process ends, the library's memory remains, for threads that are held up in a call and continue later.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/plugin.c" <<'C'
#define GOTRACE_STATIC 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
int plugin_start(const char *path, int way) {
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.cut_milliseconds = 1;
  options.stacks = GOTRACE_STACKS_FRAME_POINTERS;
  if (way == 0) return gotrace_start_file(path, &options);
  if (way == 1) return gotrace_flight_start(&options);
  return gotrace_start(NULL); /* which nobody reads */
}
void plugin_work(void) {
  GOTRACE_REGION ("plugin") {
    gotrace_log(GOTRACE_NO_TASK, "plugin", "works");
    gotrace_wait_begin(GOTRACE_BLOCK_SYNC);
    gotrace_wait_end();
  }
}
void plugin_thread(void) {
  gotrace_thread_begin("named by the plugin");
  gotrace_region_begin(GOTRACE_NO_TASK, "open");
}
C
cat >"$dir/host.c" <<'C'
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "test_collect.h"
#include <dlfcn.h>

static void (*work)(void), (*thread_begin)(void);
static uint32_t entered, over; /* atomic */

static void find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  CHECK(found != NULL);
  memcpy(function, &found, sizeof found);
}

/* Is in the library once, and outlives it. */
static void *outlives(void *unused) {
  thread_begin();
  work();
  __atomic_add_fetch(&entered, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) GOTRACE_REGION ("host") nanosleep(&(struct timespec){0, 100000}, NULL);
  return unused;
}

static long memory(const char *name) { /* KiB */
  char line[256];
  long value = -1;
  FILE *file = fopen("/proc/self/status", "r");
  CHECK(file != NULL);
  while (value < 0 && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0) value = atol(line + strlen(name));
  fclose(file);
  CHECK(value >= 0);
  return value;
}

static void load_once(const char *path, const char *trace, int round) {
  int (*start)(const char *, int);
  int way = round % 3;
  pthread_t threads[2];
  bool some_outlive = round < 30;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  size_t i;
  if (!library) fprintf(stderr, "%s\n", dlerror());
  CHECK(library != NULL);
  find(library, "plugin_start", &start);
  find(library, "plugin_work", &work);
  find(library, "plugin_thread", &thread_begin);
  CHECK_EQUAL(start(trace, way), 0);
  entered = over = 0;
  for (i = 0; some_outlive && i < 2; i++) CHECK(pthread_create(&threads[i], NULL, outlives, NULL) == 0);
  work();
  while (some_outlive && __atomic_load_n(&entered, __ATOMIC_ACQUIRE) < 2) sched_yield();
  CHECK(dlclose(library) == 0);
  CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL); /* it is gone */
  __atomic_store_n(&over, 1u, __ATOMIC_RELEASE);
  for (i = 0; some_outlive && i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  if (way == 0 && (some_outlive || round % 30 == 0)) {
    test_bytes bytes = {NULL, 0, 0};
    uint64_t kinds[256] = {0};
    test_load(&bytes, trace);
    test_decode(bytes.data, bytes.size, false, kinds, __FILE__, __LINE__);
    CHECK_EQUAL(kinds[GOTRACE_V2_USER_LOG], some_outlive ? 3 : 1);
    test_free(&bytes);
  }
}

int main(int argc, char **argv) {
  const int rounds = getenv("GOTRACE_TEST_BRIEF") ? 200 : 1000, settled = 100;
  long resident = 0, mapped = 0;
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  int i;
  CHECK(argc == 3);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < rounds; i++) {
    if (i == settled) {
      CHECK_EQUAL(gotrace_stop(), GOTRACE_OK); /* its own trace grows */
      test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
      test_free(&bytes);
      resident = memory("VmRSS:");
      mapped = memory("VmSize:");
    }
    load_once(argv[1], argv[2], i);
  }
  resident = memory("VmRSS:") - resident;
  mapped = memory("VmSize:") - mapped;
  printf("%d loads and unloads later: %ld KiB more resident, %ld KiB more mapped\n", rounds - settled, resident, mapped);
  CHECK(resident < 1024 && mapped < 8192); /* about 0; one that leaked its 150 KiB each time would have 130 MiB more */
  return 0;
}
C
flags="-std=c11 -O0 -fno-omit-frame-pointer -I. -Itests"
# shellcheck disable=SC2086
${CC:-cc} $flags -shared -fPIC "$dir/plugin.c" -o "$dir/plugin.so" -pthread
# shellcheck disable=SC2086
${CC:-cc} $flags "$dir/host.c" -o "$dir/host" -pthread -ldl
timeout 900 "$dir/host" "$dir/plugin.so" "$dir/trace"

cat >"$dir/last.c" <<'C'
static void (*last)(void);
void last_calls(void (*function)(void)) { last = function; }
__attribute__((destructor)) static void ends(void) { if (last) last(); }
C
cat >"$dir/plugin_last.c" <<'C'
#include "plugin.c"
void last_calls(void (*function)(void));
static gotrace_go *go;
static uint64_t id;
static void last(void) {
  plugin_work();
  if (gotrace_go_id(go) == id) fputs("the library was ended, and the goroutine is there\n", stdout);
}
void plugin_at_last(void) {
  go = gotrace_go_self();
  id = gotrace_go_id(go);
  last_calls(last);
}
C
cat >"$dir/ends.c" <<'C'
#include <dlfcn.h>
#include <string.h>
int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *found = library ? dlsym(library, "plugin_at_last") : NULL;
  void (*at_last)(void);
  if (argc != 2 || !found) return 1;
  memcpy(&at_last, &found, sizeof at_last);
  at_last();
  return 0;
}
C
# shellcheck disable=SC2086
${CC:-cc} $flags -shared -fPIC "$dir/last.c" -o "$dir/liblast.so"
# shellcheck disable=SC2086
${CC:-cc} $flags -shared -fPIC "$dir/plugin_last.c" -o "$dir/plugin_last.so" -pthread -L"$dir" -llast -Wl,-rpath,"$dir"
# shellcheck disable=SC2086
${CC:-cc} $flags "$dir/ends.c" -o "$dir/ends" -ldl
timeout 60 "$dir/ends" "$dir/plugin_last.so" | grep 'the goroutine is there'

# A trace that GOTRACE asked for is written to its end, too, however long its reader leaves it: no process ends.
cat >"$dir/plugin_asked.c" <<'C'
#define GOTRACE__EXIT_MILLISECONDS 1
#include "plugin.c"
int plugin_asked(void) {
  int i, result = gotrace_start_environment();
  for (i = 0; i < 100000; i++) plugin_work();
  return result;
}
C
cat >"$dir/asked.c" <<'C'
#include "gotrace.h"
#include "test_collect.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
static test_bytes bytes;
static void *reads_late(void *file) {
  char piece[4096];
  ssize_t n;
  sleep(1);
  while ((n = read(*(int *)file, piece, sizeof piece)) > 0) test_append(&bytes, piece, (size_t)n);
  return NULL;
}
int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *found = library ? dlsym(library, "plugin_asked") : NULL;
  int (*asked)(void), file;
  pthread_t thread;
  CHECK(argc == 3 && found);
  memcpy(&asked, &found, sizeof asked);
  CHECK(mkfifo(argv[2], 0600) == 0 && (file = open(argv[2], O_RDONLY | O_NONBLOCK)) >= 0);
  CHECK(asked() == 0);
  CHECK(fcntl(file, F_SETFL, 0) == 0);
  CHECK(pthread_create(&thread, NULL, reads_late, &file) == 0);
  CHECK(dlclose(library) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(bytes.size > 1000000);
  test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
  test_free(&bytes);
  return 0;
}
C
# shellcheck disable=SC2086
${CC:-cc} $flags -shared -fPIC "$dir/plugin_asked.c" -o "$dir/plugin_asked.so" -pthread
# shellcheck disable=SC2086
${CC:-cc} $flags "$dir/asked.c" tests/implementation.c -o "$dir/asked" -pthread -ldl
GOTRACE=$dir/pipe,stats timeout 120 "$dir/asked" "$dir/plugin_asked.so" "$dir/pipe"
