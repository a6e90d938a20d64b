/* Stacks by frame pointers, for every call that has a stack, when it is new and when it was seen before: the frames are
 * the call site and then the callers. Nothing depends on frames of the library itself, which may be compiled without
 * frame pointers. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const void *in_middle, *in_repeat; /* where the calls return to */
static gotrace_go *first, *second, *third;
static gotrace_task task;

/* Ensures that a function has a frame and makes no tail call. */
#define FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)) : "memory")
#define CALL(name, ...)                              \
  static __attribute__((noinline)) void name(void) { \
    FRAME();                                         \
    __VA_ARGS__;                                     \
    in_middle = __builtin_return_address(0);         \
    FRAME();                                         \
  }

static const gotrace_location entry = GOTRACE_NAMED_ENTRY("main");

CALL(create, first = gotrace_go_create(&entry))
CALL(create_blocked, second = gotrace_go_create_blocked(&entry))
CALL(create_third, third = gotrace_go_create(&entry))
CALL(begin_task, task = gotrace_task_begin("task", GOTRACE_NO_TASK))
CALL(end_task, gotrace_task_end(task))
CALL(begin_region, gotrace_region_begin(task, "region"))
CALL(end_region, gotrace_region_end(task, "region"))
CALL(write_log, gotrace_log(task, "category", "message"))
CALL(write_count, gotrace_count("counter", 1))
CALL(begin_syscall, gotrace_go_syscall_begin())
CALL(unblock_first, gotrace_go_unblock(first))
CALL(unblock_second, gotrace_go_unblock(second))
CALL(block, gotrace_go_block(GOTRACE_BLOCK_SYNC))
CALL(stop, gotrace_go_stop(GOTRACE_STOP_YIELD))
CALL(switch_to_first, gotrace_go_switch(first))
CALL(switch_to_second, gotrace_go_switch(second))
CALL(switch_end_to_first, gotrace_go_switch_end(first))
CALL(change_procs, gotrace_procs_change(3))

static __attribute__((noinline)) void middle(void (*call)(void)) {
  FRAME();
  call();
  in_repeat = __builtin_return_address(0);
  FRAME();
}

/* Makes a call from here: the only place from which `middle` is called. */
static __attribute__((noinline)) void repeat(void (*call)(void)) {
  FRAME();
  middle(call);
  FRAME();
}

static void write_all(gotrace_format format, test_bytes *bytes) {
  static bool shift;
  gotrace_options options;
  gotrace_proc *proc;
  int round;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.stacks = GOTRACE_STACKS_FRAME_POINTERS;
  options.write = test_sink;
  options.context = bytes;
  third = gotrace_go_create(&entry);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  if (shift)
    gotrace_go_rename(third, "another entry"); /* the stacks that follow have other numbers than in the last trace */
  shift = !shift;
  gotrace_go_destroy(third);
  proc = gotrace_proc_create();
  gotrace_proc_start(proc);
  repeat(create), repeat(create_blocked);
  gotrace_go_start(first);
  for (round = 0; round < 3; round++) {
    repeat(begin_task), repeat(begin_region), repeat(write_log), repeat(end_region), repeat(end_task);
    repeat(write_count);
    repeat(begin_syscall);
    gotrace_go_syscall_end();
    repeat(unblock_second);
    repeat(block);
    gotrace_go_start(second);
    repeat(unblock_first);
    repeat(stop);
    gotrace_go_start(first);
    repeat(stop);
    gotrace_go_start(second);
    repeat(block);
    gotrace_go_start(first);
    repeat(switch_to_second), repeat(switch_to_first);
    repeat(create_third);
    repeat(block);
    gotrace_go_start(third);
    repeat(switch_end_to_first);
    repeat(change_procs);
  }
  gotrace_go_end();
  gotrace_go_start(second);
  gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(proc);
  gotrace_stop();
}

static void check(gotrace_format format) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_decoder_options options;
  gotrace_decoder *decoder;
  gotrace_event event;
  gotrace_result result;
  gotrace_frame frames[8];
  unsigned found[256] = {0};
  write_all(format, &bytes);
  memset(&options, 0, sizeof options);
  options.data = bytes.data;
  options.size = bytes.size;
  CHECK_EQUAL(gotrace_decoder_open(&decoder, &options), GOTRACE_OK);
  while ((result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK) {
    size_t count = event.stack && !event.implied ? gotrace_decoder_stack(decoder, event.stack, frames, 8) : 0;
    if (count < 2) continue; /* the stack of an entry */
    CHECK(count >= 4);
    CHECK(frames[0].file_size > 13 && memcmp(frames[0].file + frames[0].file_size - 13, "test_stacks.c", 13) == 0);
    if (strncmp(event.spec->name, "UserLog", 7) == 0)
      CHECK((frames[0].function_size == 9 && memcmp(frames[0].function, "write_log", 9) == 0) ||
            (frames[0].function_size == 11 && memcmp(frames[0].function, "write_count", 11) == 0));
    CHECK_EQUAL(frames[1].pc, (uintptr_t)in_middle);
    CHECK_EQUAL(frames[2].pc, (uintptr_t)in_repeat);
    found[event.kind]++;
  }
  CHECK_EQUAL(result, GOTRACE_END_OF_TRACE);
  gotrace_decoder_close(decoder);
  if (format >= GOTRACE_GO_1_22) {
    CHECK_EQUAL(found[GOTRACE_V2_GO_CREATE],
                format == GOTRACE_GO_1_22 ? 5 : 4); /* 1.22 cannot create a blocked goroutine */
    CHECK_EQUAL(found[GOTRACE_V2_GO_CREATE_BLOCKED], format == GOTRACE_GO_1_22 ? 0 : 1);
    CHECK_EQUAL(found[GOTRACE_V2_GO_BLOCK], format == GOTRACE_GO_1_22 ? 15 : 9);
    CHECK_EQUAL(found[GOTRACE_V2_GO_UNBLOCK], format == GOTRACE_GO_1_22 ? 14 : 6);
    CHECK_EQUAL(found[GOTRACE_V2_GO_STOP], 6);
    CHECK_EQUAL(found[GOTRACE_V2_GO_SYSCALL_BEGIN], 3);
    CHECK_EQUAL(found[GOTRACE_V2_USER_TASK_BEGIN], 3);
    CHECK_EQUAL(found[GOTRACE_V2_USER_TASK_END], 3);
    CHECK_EQUAL(found[GOTRACE_V2_USER_REGION_BEGIN], 3);
    CHECK_EQUAL(found[GOTRACE_V2_USER_REGION_END], 3);
    CHECK_EQUAL(found[GOTRACE_V2_USER_LOG], 6);
    CHECK_EQUAL(found[GOTRACE_V2_PROCS_CHANGE], 3);
  } else {
    CHECK_EQUAL(found[GOTRACE_V2_GO_CREATE], 5);
    CHECK_EQUAL(found[GOTRACE_V2_GO_BLOCK], 15);
    CHECK_EQUAL(found[GOTRACE_V2_GO_STOP], 6);
    CHECK_EQUAL(found[GOTRACE_V2_GO_SYSCALL_BEGIN], 3);
    CHECK_EQUAL(found[GOTRACE_V2_USER_TASK_BEGIN], 3);
    CHECK_EQUAL(found[GOTRACE_V2_USER_TASK_END], 3);
    CHECK_EQUAL(found[GOTRACE_V2_USER_REGION_BEGIN], 3);
    CHECK_EQUAL(found[GOTRACE_V2_USER_REGION_END], 3);
    CHECK_EQUAL(found[GOTRACE_V2_USER_LOG], 6);
  }
  test_free(&bytes);
}

#if defined(__x86_64__) || defined(__aarch64__)
/* The main thread's first stack asks the C library where its stack is. If that fails, errno stays as it is. The
 * tracer asks only once, so this has a process of its own. */
static void keeps_errno(void) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_GO_1_23, &bytes);
  struct rlimit before, none;
  options.stacks = GOTRACE_STACKS_FRAME_POINTERS;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  none = before;
  none.rlim_cur = 0; /* no file can be opened */
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  errno = EDOM;
  gotrace_log(GOTRACE_NO_TASK, "category", "text");
  CHECK_EQUAL(errno, EDOM);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_free(&bytes);
}
#endif

int main(void) {
#if defined(__x86_64__) || defined(__aarch64__)
  pid_t child = fork();
  int status = -1;
  if (child == 0) {
    keeps_errno();
    return 0;
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  check(GOTRACE_GO_1_21);
  check(GOTRACE_GO_1_22);
  check(GOTRACE_GO_1_23);
  check(GOTRACE_GO_1_26);
  return 0;
#else
  puts("needs a processor whose frame pointers the tracer follows");
  return 77;
#endif
}
