#!/usr/bin/env bash
# Tools of the host find nothing in the tracer, and still find the program's own faults: the memory sanitizer with walks by
# frame pointers, helgrind and drd with tests/compile/gotrace.supp.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang >/dev/null || { echo "needs clang (make deps)"; exit 77; }
command -v valgrind >/dev/null || { echo "needs valgrind (make deps)"; exit 77; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/walks.c" <<'C'
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
int main(int argc, char **argv) {
  gotrace_options options;
  int i;
  memset(&options, 0, sizeof options);
  options.stacks = GOTRACE_STACKS_FRAME_POINTERS;
  if (argc != 2 || gotrace_start_file(argv[1], &options) != GOTRACE_OK) return 1;
  for (i = 0; i < 3; i++) GOTRACE_REGION("region") gotrace_logf(GOTRACE_NO_TASK, "category", "%d", i);
  return gotrace_stop();
}
C
clang -fsanitize=memory -fno-omit-frame-pointer -g -I. -pthread "$dir/walks.c" -o "$dir/walks"
"$dir/walks" "$dir/walks.trace"

cat >"$dir/threads.c" <<'C'
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include <pthread.h>
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *go) {
  int i;
#ifdef RACE
  shared++; /* before anything that could put the threads in order */
#endif
  gotrace_thread_begin_as(go);
  for (i = 0; i < 100; i++) {
    GOTRACE_SCOPE("work");
    gotrace_wait_on(&lock, GOTRACE_BLOCK_SYNC);
    pthread_mutex_lock(&lock);
    gotrace_wait_end();
    shared++;
    gotrace_logf(GOTRACE_NO_TASK, "category", "%d", i);
    gotrace_wake(&lock, 1);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
int main(int argc, char **argv) {
  static const gotrace_location entry = GOTRACE_ENTRY(work);
  pthread_t threads[3];
  gotrace_go *gos[3];
  int i;
  if (argc != 2 || gotrace_start_file(argv[1], NULL) != GOTRACE_OK) return 1;
  for (i = 0; i < 3; i++) gos[i] = gotrace_thread_create(&entry);
  for (i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, gos[i]);
  for (i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return gotrace_stop();
}
C
gcc -g -O1 -I. -pthread "$dir/threads.c" -o "$dir/threads"
gcc -g -O1 -I. -pthread -DRACE "$dir/threads.c" -o "$dir/races"
check() { valgrind -q "--tool=$1" --suppressions=tests/compile/gotrace.supp --error-exitcode=9 "$dir/$2" "$dir/$2.trace" >"$dir/out" 2>&1; }
for tool in helgrind drd; do
  check $tool threads || { cat "$dir/out"; echo "$tool complains about the tracer"; exit 1; }
done
status=0
check helgrind races || status=$?
[ $status = 9 ] && grep -q 'work (threads.c' "$dir/out" || { cat "$dir/out"; echo "helgrind does not see the program's race"; exit 1; }
