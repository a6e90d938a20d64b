#!/usr/bin/env bash
# The tracer in a library that a program loads and unloads. A sample in a signal handler allocates nothing, even on a
# thread that has never called the library. Threads that called the library end properly after it is unloaded. If the
# process has no free key for thread-specific data, the library does not use another one's.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/library.c" <<'C'
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
void library_sample(void *context) { gotrace_cpu_sample(context); }
int library_start(const char *path) { return gotrace_start_file(path, NULL); }
int library_stop(void) { return gotrace_stop(); }
void library_work(void) { GOTRACE_REGION("work") gotrace_log(GOTRACE_NO_TASK, "category", "message"); }
C
cat >"$dir/host.c" <<'C'
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "test.h"

static __thread bool in_handler;
static uint32_t allocations, samples, phase; /* atomic */
static void (*sample)(void *), (*work)(void);

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
void *malloc(size_t size) {
  if (in_handler) __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  if (in_handler) __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_calloc(count, size);
}

static void handler(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  in_handler = true;
  sample(context);
  in_handler = false;
  __atomic_add_fetch(&samples, 1, __ATOMIC_RELEASE);
}

static void wait_for(const uint32_t *value, uint32_t wanted) {
  while (__atomic_load_n(value, __ATOMIC_ACQUIRE) < wanted) sched_yield();
}

static void *silent(void *unused) {
  wait_for(&phase, 1);
  return unused;
}

static void *working(void *unused) {
  work();
  __atomic_store_n(&phase, 2, __ATOMIC_RELEASE);
  wait_for(&phase, 3);
  return unused;
}

static void find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  CHECK(found != NULL);
  memcpy(function, &found, sizeof found);
}

int main(int argc, char **argv) {
  void *library;
  int (*start)(const char *), (*stop)(void);
  struct sigaction action;
  pthread_key_t first, key;
  pthread_t thread;
  static int mine;
  bool keys = strcmp(argv[argc - 1], "keys") == 0;
  CHECK(pthread_key_create(&first, NULL) == 0);
  CHECK(pthread_setspecific(first, &mine) == 0);
  while (keys && pthread_key_create(&key, NULL) == 0) CHECK(pthread_setspecific(key, &mine) == 0);
  CHECK(pthread_create(&thread, NULL, silent, NULL) == 0); /* older than the library */
  CHECK((library = dlopen(argv[1], RTLD_NOW)) != NULL);
  find(library, "library_sample", &sample);
  find(library, "library_start", &start);
  find(library, "library_stop", &stop);
  find(library, "library_work", &work);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGPROF, &action, NULL) == 0);
  CHECK_EQUAL(start(argv[2]), 0);
  CHECK(pthread_kill(thread, SIGPROF) == 0);
  wait_for(&samples, 1);
  CHECK_EQUAL(allocations, 0);
  __atomic_store_n(&phase, 1, __ATOMIC_RELEASE);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, working, NULL) == 0);
  wait_for(&phase, 2);
  work();
  CHECK_EQUAL(stop(), 0);
  CHECK(pthread_getspecific(first) == &mine);
  CHECK(dlclose(library) == 0);
  CHECK(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == NULL); /* it is gone */
  __atomic_store_n(&phase, 3, __ATOMIC_RELEASE);
  CHECK(pthread_join(thread, NULL) == 0);
  return 0;
}
C
flags="-std=c11 -O1 -I. -Itests -include stdbool.h"
# shellcheck disable=SC2086
${CC:-cc} $flags -shared -fPIC "$dir/library.c" -o "$dir/library.so" -pthread
# shellcheck disable=SC2086
${CC:-cc} $flags "$dir/host.c" -o "$dir/host" -pthread -ldl
for keys in '' keys; do
  # shellcheck disable=SC2086
  "$dir/host" "$dir/library.so" "$dir/trace" $keys
  tests/go/open_in_go.sh "$dir/trace" -n || [ $? = 77 ]
done
