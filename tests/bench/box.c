/* box.c - the same calls in a box and outside, for callgrind (tests/bench/events.sh)
 *
 *     box [in]
 *
 * Those of a scheduler's task and of a thread's waits, in counted(). in: with a box, as under `gotrace record`. */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TASKS = 10000, SIZE = 1 << 26 };

static bool discard(void *context, const void *data, size_t size) {
  (void)context, (void)data, (void)size;
  return true;
}

static gotrace_result start_in_box(const gotrace_options *options) {
  gotrace__box *box;
  int file = memfd_create("box", 0);
  if (file < 0 || ftruncate(file, SIZE) != 0) return GOTRACE_ERROR_SINK;
  box = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (box == MAP_FAILED) return GOTRACE_ERROR_OUT_OF_MEMORY;
  box->size = box->reserved = SIZE;
  box->layout = gotrace__box_layout();
  return gotrace__box_start(box, options);
}

static void run_tasks(int count) {
  while (count--) {
    gotrace_go *go = gotrace_go_create(NULL);
    gotrace_go_start(go);
    gotrace_go_block(GOTRACE_BLOCK_SYNC);
    gotrace_go_unblock(go);
    gotrace_go_start(go);
    GOTRACE_REGION("region") gotrace_log(GOTRACE_NO_TASK, "category", "message");
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
    gotrace_wait_begin(GOTRACE_BLOCK_SLEEP);
    gotrace_wait_end();
    gotrace_go_end();
  }
}

__attribute__((noinline)) static void counted(void) { run_tasks(TASKS); }

int main(int argc, char **argv) {
  gotrace_options options;
  gotrace_result result;
  memset(&options, 0, sizeof options);
  options.write = discard;
  result = argc > 1 && strcmp(argv[1], "in") == 0 ? start_in_box(&options) : gotrace_start(&options);
  if (result != GOTRACE_OK) return fprintf(stderr, "box: %s\n", gotrace_result_string(result)), 1;
  gotrace_proc_start(gotrace_proc_create());
  run_tasks(100); /* call sites are made */
  counted();
  return 0;
}
