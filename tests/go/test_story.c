/* A deterministic program, traced in 1.11 and in 1.23: tests/go/v1_agrees_with_v2.py compares what Go reads from the
 * two.
 */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_trace.h"

static const gotrace_location entries[] = {GOTRACE_NAMED_ENTRY("producer"), GOTRACE_NAMED_ENTRY("consumer"),
                                           GOTRACE_NAMED_ENTRY("timer"), GOTRACE_NAMED_ENTRY("child")};

static void produce(gotrace_go *consumer, gotrace_task task, int round) {
  GOTRACE_TASK_REGION(task, "produce") {
    gotrace_logf(task, "round", "%d", round);
    gotrace_go_unblock(consumer);
  }
  gotrace_go_stop(round % 2 ? GOTRACE_STOP_YIELD : GOTRACE_STOP_PREEMPTED);
}

static void story(gotrace_format format) {
  static const gotrace_block_reason reasons[] = {GOTRACE_BLOCK_CHAN_RECV, GOTRACE_BLOCK_SELECT, GOTRACE_BLOCK_SYNC,
                                                 GOTRACE_BLOCK_COND_WAIT, GOTRACE_BLOCK_NET,    GOTRACE_BLOCK_SLEEP,
                                                 GOTRACE_BLOCK_CHAN_SEND};
  gotrace_options options;
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *producer, *consumer, *timer, *child;
  gotrace_task task;
  int round;
  memset(&options, 0, sizeof options);
  options.format = format;
  options.cut_milliseconds = 1000000;
  timer = gotrace_go_create_blocked(&entries[2]); /* older than the trace */
  CHECK_EQUAL(gotrace_start_file(test_trace_path("story", format), &options), GOTRACE_OK);
  gotrace_proc_start(proc);
  producer = gotrace_go_create(&entries[0]);
  consumer = gotrace_go_create_blocked(&entries[1]);
  gotrace_go_start(producer);
  task = gotrace_task_begin("story", GOTRACE_NO_TASK);
  for (round = 0; round < 14; round++) {
    produce(consumer, task, round);
    gotrace_go_start(consumer);
    if (round % 3 == 0) gotrace_go_unblock(timer);
    gotrace_go_block(reasons[round % 7]);
    if (round % 3 == 0) {
      gotrace_go_start(timer);
      child = gotrace_go_create(&entries[3]);
      gotrace_go_switch(child); /* which is runnable */
      gotrace_go_end();
      gotrace_go_unblock(timer);
      gotrace_go_start(timer);
      gotrace_go_block(GOTRACE_BLOCK_SLEEP);
    }
    gotrace_go_start(producer);
    if (round % 5 == 4) { /* a long system call, whose proc goes elsewhere */
      gotrace_go_syscall_begin();
      gotrace_proc_stop();
      gotrace_proc_start(proc);
      gotrace_go_syscall_end_blocked();
      gotrace_go_start(producer);
    }
  }
  gotrace_task_end(task);
  gotrace_go_end();
  for (round = 0; round < 2; round++) { /* the waiting ones end too */
    gotrace_go *g = round ? timer : consumer;
    gotrace_go_unblock(g);
    gotrace_go_start(g);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  test_write_kinds("story", format);
  gotrace_proc_destroy(proc);
}

int main(void) {
  story(GOTRACE_GO_1_11);
  story(GOTRACE_GO_1_23);
  return 0;
}
