/* many_generations.h - shared by test_parts.c, test_snapshots.c, test_states.c: a trace with many generations, and
 * changes of its bytes. Include it after test_collect.h. */
#ifndef MANY_GENERATIONS_H
#define MANY_GENERATIONS_H

static uint64_t random_state = 1;
static inline uint64_t random_below(uint64_t n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (random_state >> 20) % (n ? n : 1);
}

static inline void work(void) {
  static const gotrace_location entries[2] = {GOTRACE_NAMED_ENTRY("work.a"), GOTRACE_NAMED_ENTRY("work.b")};
  gotrace_proc *p = gotrace_proc_create();
  gotrace_go *a, *b, *c;
  gotrace_task task = GOTRACE_NO_TASK;
  int i;
  gotrace_proc_start(p);
  a = gotrace_go_create(&entries[0]);
  b = gotrace_go_create(&entries[1]);
  for (i = 0; i < 44; i++) {
    gotrace_go_start(a);
    if (i % 10 == 0) task = gotrace_task_begin("task", task); /* ends in another generation */
    if (i % 13 == 0) gotrace_go_label(i ? "later" : "first");
    GOTRACE_REGION("outer") {
      gotrace_log(task, "category", "message");
      gotrace_go_syscall_begin();
      if (i % 4 == 3) gotrace_advance(); /* in a region and in a system call */
      gotrace_go_syscall_end();
    }
    if (i % 10 == 7) gotrace_task_end(task);
    if (i % 7 == 0) gotrace_gc_mark_assist_begin();
    if (i % 6 == 1) gotrace_advance();
    if (i % 7 == 0) gotrace_gc_mark_assist_end();
    gotrace_go_block(GOTRACE_BLOCK_SYNC);
    if (i % 9 == 0) gotrace_gc_begin();
    gotrace_go_start(b);
    gotrace_go_unblock(a);
    gotrace_go_stop(GOTRACE_STOP_YIELD);
    if (i % 9 == 5) gotrace_gc_end();
    if (i % 5 == 0) {
      c = gotrace_go_create(&entries[1]);
      gotrace_go_start(c);
      gotrace_go_end();
    }
  }
  gotrace_go_start(a), gotrace_go_end();
  gotrace_go_start(b), gotrace_go_end();
  gotrace_proc_stop();
  gotrace_proc_destroy(p);
}

static inline void record(test_bytes *bytes, gotrace_format format) {
  gotrace_options options;
  memset(bytes, 0, sizeof *bytes);
  options = test_options(format, bytes);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  work();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
}

/* Changes some of the bytes after the first `keep`. */
static inline void change(uint8_t *data, size_t size, size_t keep) {
  int places = 1 + (int)random_below(3);
  for (; places; places--) {
    size_t at = keep + (size_t)random_below(size - keep), from = keep + (size_t)random_below(size - keep), n;
    switch (random_below(4)) {
    case 0: data[at] ^= (uint8_t)(1u << random_below(8)); break;
    case 1: data[at] = (uint8_t)random_below(8); break;
    case 2: data[at] = (uint8_t)(data[at] + 1 - 2 * (int)random_below(2)); break;
    default:
      n = 1 + (size_t)random_below(8);
      if (at + n <= size && from + n <= size) memmove(data + at, data + from, n);
    }
  }
}

#endif
