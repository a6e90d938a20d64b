/* What gotrace_decoder_change tells of one program is the same in all formats, and consistent, also where generations
 * were skipped. It agrees with what gotrace_find_change_spec tells of events in general. */
#define _GNU_SOURCE
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"

static const gotrace_location entries[] = {GOTRACE_NAMED_ENTRY("producer"), GOTRACE_NAMED_ENTRY("consumer")};

static void collect(void) {
  gotrace_gc_begin();
  gotrace_gc_sweep_begin();
  gotrace_gc_sweep_span(100, 10);
  gotrace_gc_sweep_end();
  gotrace_gc_mark_assist_begin();
  gotrace_gc_mark_assist_end();
  gotrace_gc_end();
  gotrace_heap_alloc(1000);
  gotrace_heap_goal(2000);
}

static void consume(gotrace_go *consumer, gotrace_task task) {
  gotrace_go_start(consumer);
  GOTRACE_TASK_REGION(task, "part") {
    gotrace_log(task, "category", "message");
  }
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
}

static void story(test_bytes *trace, gotrace_format format) {
  gotrace_options options = test_options(format, trace);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *producer, *consumer;
  gotrace_task task, inner;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_proc_start(proc);
  producer = gotrace_go_create(&entries[0]);
  gotrace_go_start(producer);
  consumer = gotrace_go_create(&entries[1]);
  task = gotrace_task_begin("outer", GOTRACE_NO_TASK);
  inner = gotrace_task_begin("inner", task);
  collect();
  gotrace_go_block(GOTRACE_BLOCK_CHAN_RECV);
  consume(consumer, inner);
  gotrace_go_unblock(producer);
  gotrace_go_start(producer);
  gotrace_task_end(inner);
  gotrace_go_unblock(consumer);
  gotrace_go_stop(GOTRACE_STOP_PREEMPTED);
  gotrace_go_start(consumer);
  gotrace_go_end();
  gotrace_go_start(producer);
  gotrace_go_syscall_begin();
  gotrace_go_syscall_end();
  gotrace_task_end(task);
  gotrace_go_end();
  gotrace_proc_stop();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_proc_destroy(proc);
}

/* Several generations, in which two goroutines take turns. */
static void long_story(test_bytes *trace, gotrace_format format) {
  gotrace_options options = test_options(format, trace);
  gotrace_proc *proc = gotrace_proc_create();
  gotrace_go *gos[2];
  unsigned i;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  gotrace_proc_start(proc);
  for (i = 0; i < 2; i++) gos[i] = gotrace_go_create(&entries[i]);
  for (i = 0; i < 400; i++) {
    gotrace_go_start(gos[i % 2]);
    if (i % 100 == 50) CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
    gotrace_go_stop(GOTRACE_STOP_YIELD);
  }
  for (i = 0; i < 2; i++) {
    gotrace_go_start(gos[i]);
    gotrace_go_end();
  }
  gotrace_proc_stop();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  gotrace_proc_destroy(proc);
}

static void say(test_bytes *text, const char *words, const char *data, size_t size) {
  test_append(text, words, strlen(words));
  test_append(text, data, size);
}

static bool is(const gotrace_change *c, const char *function) {
  return c->function_size == strlen(function) && memcmp(c->function, function, c->function_size) == 0;
}

/* Appends a line for a change, if it is one of the story's: without ids and times. `task`: the first; 0: none yet. */
static void tell(test_bytes *text, const gotrace_change *c, uint64_t task) {
  static const char procs[] = "/sched/gomaxprocs:threads";
  char line[100];
  if (c->object == GOTRACE_OBJECT_GO && !is(c, "producer") && !is(c, "consumer")) return;
  if (c->kind == GOTRACE_CHANGE_SYNC || (c->object == GOTRACE_OBJECT_PROC && c->kind == GOTRACE_CHANGE_STATUS)) return;
  /* The tracer repeats the sizes of the heap from before the trace. */
  if (c->kind == GOTRACE_CHANGE_METRIC && (!task || c->name_size == strlen(procs))) return;
  snprintf(line, sizeof line, "%d of %d: %d to %d task %d parent %d values %d %d ", c->kind, c->object, c->from, c->to,
           c->task ? (int)(c->task - task) : -1, c->parent == GOTRACE_NO_ID ? -1 : (int)((uint64_t)c->parent - task),
           (int)c->value[0], (int)c->value[1]);
  say(text, line, c->name, c->name_size);
  say(text, ", ", c->text, c->text_size);
  say(text, ", ", c->function, c->function_size);
  say(text, "\n", "", 0);
}

enum { MOST = 100 }; /* objects */

typedef struct reading {
  test_bytes *text; /* the story's changes */
  uint64_t task;    /* the first; 0: none yet */
  int64_t objects;
  int status[MOST];
  int64_t since[MOST]; /* of that status; -1: it was stated */
} reading;

/* Checks what gotrace_decoder_change promises of any trace. */
static void check_change(reading *r, const gotrace_event *event, const gotrace_change *c) {
  CHECK((c->id == GOTRACE_NO_ID) == (c->number == GOTRACE_NO_ID));
  CHECK(c->object != GOTRACE_OBJECT_NONE || c->id == GOTRACE_NO_ID);
  CHECK(c->number < MOST);
  for (; r->objects <= c->number; r->objects++) r->status[r->objects] = GOTRACE_STATUS_UNKNOWN;
  if (c->kind != GOTRACE_CHANGE_STATUS) return;
  if (r->status[c->number] == GOTRACE_STATUS_UNKNOWN) {
    CHECK(c->from == GOTRACE_STATUS_UNKNOWN || c->from == GOTRACE_STATUS_NONE);
  } else if (c->from != GOTRACE_STATUS_UNKNOWN) { /* else it ran when the trace of v1 began */
    CHECK_EQUAL(c->from, r->status[c->number]);
    if (r->since[c->number] >= 0) CHECK_EQUAL(c->since, r->since[c->number]);
  }
  CHECK(c->since <= event->time);
  r->status[c->number] = c->to;
  if (c->from != c->to) r->since[c->number] = c->from == GOTRACE_STATUS_UNKNOWN ? -1 : event->time;
}

/* The change is as gotrace_find_change_spec tells of the event's number. */
static void check_spec(const gotrace_event *event, const gotrace_change *c, bool changes) {
  const gotrace_change_spec *spec = gotrace_find_change_spec(event->kind);
  bool told;
  CHECK(spec || !changes);
  if (!changes) return;
  told = spec->whose & GOTRACE_WHOSE_TOLD;
  CHECK_EQUAL(c->kind, spec->kind);
  CHECK_EQUAL(c->object, spec->object);
  if (spec->whose & GOTRACE_WHOSE_NAMED) CHECK_EQUAL(c->id, event->args[0]);
  else if (spec->whose == GOTRACE_WHOSE_OWN && spec->object)
    CHECK_EQUAL(c->id, spec->object == GOTRACE_OBJECT_GO ? event->g : event->p);
  if (spec->whose & GOTRACE_WHOSE_NEW) CHECK_EQUAL(c->from, GOTRACE_STATUS_NONE);
  if (c->kind == GOTRACE_CHANGE_STATUS && !told) CHECK_EQUAL(c->to, spec->to);
  if (spec->name[0]) CHECK(c->name_size == strlen(spec->name) && memcmp(c->name, spec->name, c->name_size) == 0);
}

/* A goroutine's number and function are told again, with the place. */
static void check_function(const gotrace_decoder *decoder, const gotrace_change *c) {
  gotrace_frame frame;
  const char *name;
  size_t size;
  bool known;
  if (c->number == GOTRACE_NO_ID) return;
  CHECK_EQUAL(gotrace_decoder_number(decoder, c->object, (uint64_t)c->id), c->number);
  CHECK_EQUAL(gotrace_decoder_number(decoder, c->object, (uint64_t)c->id + 1000000), GOTRACE_NO_ID);
  known = gotrace_decoder_function(decoder, c->number, &name, &size);
  CHECK(known == (c->function_size > 0) && size == c->function_size && memcmp(name, c->function, size) == 0);
  CHECK(gotrace_decoder_entry(decoder, c->number, &frame) == known && frame.function_size == size);
  CHECK(!known || (frame.function == name && frame.pc != 0));
}

/* Reads a trace in batches, from a time on. Returns the time between its first and its last event. */
static int64_t read_changes(test_bytes *text, const test_bytes *trace, size_t batch, int64_t from) {
  reading r = {0};
  gotrace_decoder_options options;
  gotrace_decoder *decoder;
  gotrace_decoder_info info;
  const gotrace_event *events[8];
  gotrace_change change;
  int64_t last = 0;
  size_t i, count;
  memset(&options, 0, sizeof options);
  options.data = trace->data, options.size = trace->size;
  options.from = from;
  r.text = text;
  CHECK_EQUAL(gotrace_decoder_open(&decoder, &options), GOTRACE_OK);
  while (count = batch, gotrace_decoder_next_batch(decoder, events, &count) == GOTRACE_OK) {
    for (i = 0; i < count; i++) {
      bool changes = gotrace_decoder_change(decoder, events[i], &change);
      last = events[i]->time;
      check_spec(events[i], &change, changes);
      if (!changes) continue;
      if (change.kind == GOTRACE_CHANGE_TASK_BEGIN && !r.task) r.task = change.task;
      check_change(&r, events[i], &change);
      check_function(decoder, &change);
      tell(text, &change, r.task);
    }
  }
  CHECK_EQUAL(gotrace_decoder_error(decoder)->result, GOTRACE_OK);
  CHECK(r.objects > 2);
  gotrace_decoder_get_info(decoder, &info);
  gotrace_decoder_close(decoder);
  return last - info.first_time;
}

int main(void) {
  test_bytes trace = {0}, text[2] = {{0}}, again = {0};
  size_t i;
  int64_t time;
  for (i = 0; i < TEST_FORMATS; i++) {
    bool first = !text[0].size;
    test_bytes *to = &text[!first];
    trace.size = text[1].size = again.size = 0;
    long_story(&trace, test_formats[i]);
    time = read_changes(&again, &trace, 8, 0);
    read_changes(&again, &trace, 8, time - 1);       /* skips generations in v2 */
    if (test_formats[i] < GOTRACE_GO_1_11) continue; /* no tasks */
    do { /* until the system call is short: in v1 a long one loses its proc */
      trace.size = to->size = again.size = 0;
      story(&trace, test_formats[i]);
      read_changes(to, &trace, 1, 0);
      test_append(to, "", 1);
    } while (strstr((const char *)to->data, ": 3 to 1 "));
    to->size--;
    read_changes(&again, &trace, 8, 0);
    CHECK(again.size == to->size && memcmp(again.data, to->data, to->size) == 0);
    if (to->size == text[0].size && memcmp(to->data, text[0].data, to->size) == 0) continue;
    printf("first:\n%.*s\nformat %d:\n%.*s", (int)text[0].size, text[0].data, test_formats[i], (int)to->size, to->data);
    CHECK(false);
  }
  CHECK(!gotrace_find_change_spec(GOTRACE_V2_STRING) && !gotrace_find_change_spec(GOTRACE_V2_NONE));
  CHECK(!gotrace_find_change_spec(256) && !gotrace_find_change_spec(-1));
  test_append(&text[0], "", 1);
  CHECK(strstr((const char *)text[0].data, "13 of 1: 2 to 4 task -1 parent -1 values 0 0 chan receive, , producer\n"));
  test_free(&trace);
  test_free(&text[0]);
  test_free(&text[1]);
  test_free(&again);
  return 0;
}
