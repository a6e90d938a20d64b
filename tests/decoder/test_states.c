/* What gotrace_decoder_state tells at any moment is what a model says that follows the same events: of traces of all
 * formats, with ends of generations anywhere. A thread has the goroutine and proc that its next event has.
 *
 *     test_states [FILE...]      FILEs replace the test's own traces
 */
#include "gotrace.h"
#include "../test_collect.h"
#include "../test_trace.h"
#include "many_generations.h"

enum { MOST_REGIONS = 16, TEXT = 64, NONE = GOTRACE_NO_ID };

typedef struct text {
  char data[TEXT];
  size_t size;
} text;

typedef struct object {
  unsigned kind; /* GOTRACE_OBJECT_... */
  int64_t id;
  int from, to;
  int64_t since;
  uint64_t stack; /* a hash of its frames */
  text reason, label, regions[MOST_REGIONS];
  uint64_t tasks[MOST_REGIONS];
  size_t region_count;
  int64_t seat;  /* goroutine: its thread, v1: its proc. proc: its thread */
  int64_t g, p;  /* thread, and in v1 proc: what is there */
  bool off_seat; /* v1: a system call that has lost its proc */
} object;

static object *objects;
static size_t object_count;
static int64_t sync_time;
static bool v1;

static object *find(unsigned kind, int64_t id) {
  size_t i;
  for (i = object_count; i > 0; i--)
    if (objects[i - 1].kind == kind && objects[i - 1].id == id) return &objects[i - 1];
  return NULL;
}

static object *get(unsigned kind, int64_t id) {
  object *o = find(kind, id);
  if (o && o->to != GOTRACE_STATUS_NONE) return o;
  if (!o) {
    CHECK((objects = realloc(objects, (object_count + 1) * sizeof *objects)) != NULL);
    o = &objects[object_count++];
  }
  memset(o, 0, sizeof *o);
  o->kind = kind, o->id = id;
  o->from = o->to = GOTRACE_STATUS_UNKNOWN;
  o->since = sync_time;
  o->seat = o->g = o->p = NONE;
  return o;
}

static text text_of(const char *data, size_t size) {
  text t = {"", size};
  memcpy(t.data, data, size < TEXT ? size : TEXT);
  return t;
}

static text string_of(const gotrace_decoder *d, uint64_t id) {
  const char *data;
  size_t size;
  gotrace_decoder_string(d, id, &data, &size);
  return text_of(data, size);
}

static uint64_t mix(uint64_t hash, const void *data, size_t size) {
  const uint8_t *at = data;
  for (; size; size--) hash = (hash ^ *at++) * 1099511628211u;
  return hash;
}

static uint64_t hash_stack(const gotrace_decoder *d, uint64_t id) {
  static gotrace_frame frames[1000];
  size_t count = gotrace_decoder_stack(d, id, frames, 1000), i;
  uint64_t hash = count;
  for (i = 0; i < count; i++) {
    hash = mix(mix(hash, &frames[i].pc, sizeof frames[i].pc), &frames[i].line, sizeof frames[i].line);
    hash = mix(mix(hash, frames[i].function, frames[i].function_size), frames[i].file, frames[i].file_size);
  }
  return hash;
}

/* ---- The model ---- */

static void leave(object *o) {
  object *at = o->seat == NONE ? NULL : find(v1 ? GOTRACE_OBJECT_PROC : GOTRACE_OBJECT_THREAD, o->seat);
  if (o->kind == GOTRACE_OBJECT_PROC) at = o->seat == NONE ? NULL : find(GOTRACE_OBJECT_THREAD, o->seat);
  if (at && o->kind == GOTRACE_OBJECT_GO && at->g == o->id) at->g = NONE;
  if (at && o->kind == GOTRACE_OBJECT_PROC && at->p == o->id) at->p = NONE;
  o->seat = NONE;
}

static void sit(unsigned kind, int64_t id, int64_t seat) {
  unsigned of = v1 && kind == GOTRACE_OBJECT_GO ? GOTRACE_OBJECT_PROC : GOTRACE_OBJECT_THREAD;
  int64_t before;
  object *at;
  leave(find(kind, id));
  if (seat == NONE) return;
  at = get(of, seat);
  before = kind == GOTRACE_OBJECT_GO ? at->g : at->p;
  if (before != NONE) find(kind, before)->seat = NONE;
  at = find(of, seat);
  *(kind == GOTRACE_OBJECT_GO ? &at->g : &at->p) = id;
  find(kind, id)->seat = seat;
}

static void turn(const gotrace_decoder *d, const gotrace_event *e, unsigned kind, int64_t id, int to, uint64_t stack,
                 text reason) {
  object *o = get(kind, id);
  if (o->to == to) return; /* it is idle after an abandoned system call, and after it is stolen */
  o->from = o->to;
  o->to = to;
  o->since = e->time;
  o->stack = hash_stack(d, stack);
  o->reason = reason;
  if (kind == GOTRACE_OBJECT_GO && to != GOTRACE_STATUS_RUNNING && to != GOTRACE_STATUS_SYSCALL) leave(o);
  if (kind == GOTRACE_OBJECT_PROC && to == GOTRACE_STATUS_IDLE) leave(o);
  if (to == GOTRACE_STATUS_NONE) o->region_count = 0, o->label.size = 0;
}

static void create(const gotrace_decoder *d, const gotrace_event *e, int to, uint64_t stack) {
  object *o = get(GOTRACE_OBJECT_GO, (int64_t)e->args[0]);
  turn(d, e, GOTRACE_OBJECT_GO, (int64_t)e->args[0], to, stack, text_of("", 0));
  o->from = GOTRACE_STATUS_NONE;
}

static void state(const gotrace_decoder *d, const gotrace_event *e) {
  static const int procs[] = {GOTRACE_STATUS_UNKNOWN, GOTRACE_STATUS_RUNNING, GOTRACE_STATUS_IDLE,
                              GOTRACE_STATUS_RUNNING, GOTRACE_STATUS_IDLE};
  bool proc = e->kind == GOTRACE_V2_PROC_STATUS;
  unsigned kind = proc ? GOTRACE_OBJECT_PROC : GOTRACE_OBJECT_GO;
  int64_t id = (int64_t)e->args[0];
  int to = proc ? procs[e->args[1]] : e->args[2] ? (int)e->args[2] : GOTRACE_STATUS_UNKNOWN, was = get(kind, id)->to;
  int from = e->extra == GOTRACE_STATUS_UNKNOWN                                 ? GOTRACE_STATUS_UNKNOWN
             : was == GOTRACE_STATUS_UNKNOWN && e->extra == GOTRACE_STATUS_NONE ? GOTRACE_STATUS_NONE
                                                                                : was;
  uint64_t stack = e->kind == GOTRACE_V2_GO_STATUS_STACK ? e->args[3] : 0;
  if (v1 && !proc && e->args[3]) stack = e->args[3];
  if (from != to) {
    turn(d, e, kind, id, to, stack, text_of("", 0));
    find(kind, id)->from = from;
    if (was == GOTRACE_STATUS_UNKNOWN && from == was) find(kind, id)->since = sync_time;
  }
  if (proc && to == GOTRACE_STATUS_RUNNING) sit(kind, id, e->m);
  if (!proc && (to == GOTRACE_STATUS_RUNNING || to == GOTRACE_STATUS_SYSCALL))
    sit(kind, id, !v1 ? (int64_t)e->args[1] : to == GOTRACE_STATUS_RUNNING ? e->p : NONE);
}

static void region(const gotrace_decoder *d, const gotrace_event *e) {
  object *o = get(GOTRACE_OBJECT_GO, e->g);
  if (e->kind == GOTRACE_V2_USER_REGION_END) {
    o->region_count -= o->region_count > 0;
    return;
  }
  CHECK(o->region_count < MOST_REGIONS);
  o->tasks[o->region_count] = e->args[0];
  o->regions[o->region_count++] = string_of(d, e->args[1]);
}

static void follow(const gotrace_decoder *d, const gotrace_event *e) {
  const unsigned go = GOTRACE_OBJECT_GO, proc = GOTRACE_OBJECT_PROC;
  const text none = {"", 0};
  int64_t id = (int64_t)e->args[0];
  switch (e->kind) {
  case GOTRACE_V2_SYNC: sync_time = e->time; break;
  case GOTRACE_V2_GO_STATUS:
  case GOTRACE_V2_GO_STATUS_STACK:
  case GOTRACE_V2_PROC_STATUS: state(d, e); break;
  case GOTRACE_V2_GO_CREATE: create(d, e, GOTRACE_STATUS_RUNNABLE, e->args[1]); break;
  case GOTRACE_V2_GO_CREATE_BLOCKED: create(d, e, GOTRACE_STATUS_WAITING, e->args[1]); break;
  case GOTRACE_V2_GO_CREATE_SYSCALL:
    create(d, e, GOTRACE_STATUS_SYSCALL, 0);
    sit(go, id, e->m);
    break;
  case GOTRACE_V2_GO_START:
    turn(d, e, go, id, GOTRACE_STATUS_RUNNING, 0, none);
    sit(go, id, v1 ? e->p : e->m);
    break;
  case GOTRACE_V2_GO_UNBLOCK:
  case GOTRACE_V2_GO_SWITCH:
  case GOTRACE_V2_GO_SWITCH_DESTROY: turn(d, e, go, id, GOTRACE_STATUS_RUNNABLE, 0, none); break;
  case GOTRACE_V2_GO_BLOCK: turn(d, e, go, e->g, GOTRACE_STATUS_WAITING, e->stack, string_of(d, e->args[0])); break;
  case GOTRACE_V2_GO_STOP: turn(d, e, go, e->g, GOTRACE_STATUS_RUNNABLE, e->stack, string_of(d, e->args[0])); break;
  case GOTRACE_V2_GO_SYSCALL_BEGIN: turn(d, e, go, e->g, GOTRACE_STATUS_SYSCALL, e->stack, none); break;
  case GOTRACE_V2_GO_SYSCALL_END: turn(d, e, go, e->g, GOTRACE_STATUS_RUNNING, e->stack, none); break;
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED: turn(d, e, go, e->g, GOTRACE_STATUS_RUNNABLE, e->stack, none); break;
  case GOTRACE_V2_GO_DESTROY:
  case GOTRACE_V2_GO_DESTROY_SYSCALL: turn(d, e, go, e->g, GOTRACE_STATUS_NONE, e->stack, none); break;
  case GOTRACE_V2_PROC_START:
    turn(d, e, proc, id, GOTRACE_STATUS_RUNNING, 0, none);
    sit(proc, id, e->m);
    break;
  case GOTRACE_V2_PROC_STOP: turn(d, e, proc, e->p, GOTRACE_STATUS_IDLE, 0, none); break;
  case GOTRACE_V2_PROC_STEAL: turn(d, e, proc, id, GOTRACE_STATUS_IDLE, 0, none); break;
  case GOTRACE_V2_GO_LABEL: get(go, e->g)->label = string_of(d, id ? e->args[0] : 0); break;
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END: region(d, e); break;
  default: break;
  }
}

/* ---- The comparison ---- */

static void same(const char *data, size_t size, const text *is) {
  CHECK(size == is->size && memcmp(data, is->data, size < TEXT ? size : TEXT) == 0);
}

static int64_t proc_of(int64_t m) {
  return m == NONE || !find(GOTRACE_OBJECT_THREAD, m) ? NONE : find(GOTRACE_OBJECT_THREAD, m)->p;
}
static int64_t thread_of(int64_t p) {
  return p == NONE || !find(GOTRACE_OBJECT_PROC, p) ? NONE : find(GOTRACE_OBJECT_PROC, p)->seat;
}

static void compare_places(const object *o, const gotrace_state *s) {
  const object *seat;
  if (o->kind == GOTRACE_OBJECT_GO) {
    CHECK_EQUAL(s->g, o->id);
    CHECK_EQUAL(s->p, v1 ? o->seat : proc_of(o->seat));
    CHECK_EQUAL(s->m, v1 ? thread_of(o->seat) : o->seat);
    return;
  }
  CHECK_EQUAL(s->p, o->kind == GOTRACE_OBJECT_PROC ? o->id : o->p);
  CHECK_EQUAL(s->m, o->kind == GOTRACE_OBJECT_PROC ? o->seat : o->id);
  seat = v1 ? (s->p == NONE ? NULL : find(GOTRACE_OBJECT_PROC, s->p))
            : (s->m == NONE ? NULL : find(GOTRACE_OBJECT_THREAD, s->m));
  CHECK_EQUAL(s->g, seat ? seat->g : NONE);
}

static void compare(const gotrace_decoder *d, const object *o) {
  const size_t count = o->region_count;
  gotrace_state s;
  gotrace_frame entry;
  bool exists = gotrace_decoder_state(d, o->kind, (uint64_t)o->id, &s);
  CHECK_EQUAL(s.object, o->kind);
  if (exists || o->to != GOTRACE_STATUS_NONE) compare_places(o, &s);
  if (o->kind == GOTRACE_OBJECT_THREAD) {
    CHECK(exists == (s.g != NONE || s.p != NONE) && s.number == NONE);
    return;
  }
  CHECK_EQUAL(exists, o->to != GOTRACE_STATUS_NONE);
  if (!exists) return;
  CHECK_EQUAL(s.number, gotrace_decoder_number(d, o->kind, (uint64_t)o->id));
  CHECK(gotrace_decoder_entry(d, s.number, &entry) == (s.entry.function_size > 0));
  CHECK(entry.pc == s.entry.pc && entry.function == s.entry.function && entry.file_size == s.entry.file_size);
  CHECK_EQUAL(s.from, o->from);
  CHECK_EQUAL(s.to, o->to);
  CHECK_EQUAL(s.since, o->since);
  CHECK_EQUAL(hash_stack(d, s.stack), o->stack);
  same(s.reason, s.reason_size, &o->reason);
  same(s.label, s.label_size, &o->label);
  CHECK_EQUAL(s.regions, count);
  CHECK_EQUAL(s.task, count ? o->tasks[count - 1] : 0);
  same(s.region, s.region_size, count ? &o->regions[count - 1] : &(text){"", 0});
}

/* v2: the event happens where the states say. */
static void check_event(const gotrace_decoder *d, const gotrace_event *e) {
  gotrace_state s;
  if (v1 || e->m == NONE || e->kind == GOTRACE_V2_CPU_SAMPLE || e->kind == GOTRACE_V2_EXPERIMENTAL_BATCH) return;
  if (e->kind == GOTRACE_V2_GO_DESTROY_SYSCALL) return; /* the theft of its proc, which it implies, comes first */
  gotrace_decoder_state(d, GOTRACE_OBJECT_THREAD, (uint64_t)e->m, &s);
  CHECK_EQUAL(s.m, e->m);
  CHECK_EQUAL(s.g, e->g);
  CHECK_EQUAL(s.p, e->p);
}

/* Reads a trace, or what follows a snapshot; takes one on the way, after `until` events. Returns how many it read. */
static size_t read_states(const test_bytes *trace, test_bytes *snapshot, bool resumes, size_t until) {
  gotrace_decoder_options options;
  gotrace_decoder_info info;
  gotrace_decoder *d;
  gotrace_event e;
  gotrace_change c;
  size_t events = 0, i;
  memset(&options, 0, sizeof options);
  options.data = trace->data, options.size = trace->size;
  CHECK_EQUAL(gotrace_decoder_open(&d, &options), GOTRACE_OK);
  gotrace_decoder_get_info(d, &info);
  v1 = info.family == 1;
  if (resumes) CHECK_EQUAL(gotrace_decoder_resume(d, snapshot->data, snapshot->size), GOTRACE_OK);
  for (i = 0; resumes && i < object_count; i++) compare(d, &objects[i]);
  while (gotrace_decoder_next(d, &e) == GOTRACE_OK) {
    check_event(d, &e);
    gotrace_decoder_change(d, &e, &c);
    follow(d, &e);
    events++;
    for (i = random_below(4) ? 0 : 3; i && object_count; i--) compare(d, &objects[(size_t)random_below(object_count)]);
    for (i = random_below(64) ? object_count : 0; i < object_count; i++) compare(d, &objects[i]);
    if (resumes || events < until || (snapshot->size = gotrace_decoder_snapshot(d, NULL, 0)) == 0) continue;
    CHECK((snapshot->data = realloc(snapshot->data, snapshot->size)) != NULL);
    CHECK_EQUAL(gotrace_decoder_snapshot(d, snapshot->data, snapshot->size), snapshot->size);
    for (i = 0; i < object_count; i++) compare(d, &objects[i]);
    gotrace_decoder_close(d);
    return events;
  }
  for (i = 0; i < object_count; i++) compare(d, &objects[i]);
  CHECK(!gotrace_decoder_state(d, GOTRACE_OBJECT_NONE, 1, &(gotrace_state){0}));
  CHECK(!gotrace_decoder_state(d, GOTRACE_OBJECT_GO, 987654321, &(gotrace_state){0}));
  gotrace_decoder_close(d);
  return events;
}

static size_t check(const test_bytes *trace) {
  test_bytes snapshot = {0};
  size_t count, i;
  object_count = 0, sync_time = 0;
  count = read_states(trace, &snapshot, false, SIZE_MAX);
  for (i = 0; i < 5 && !v1; i++) { /* states from snapshots are those without */
    object_count = 0, sync_time = 0;
    read_states(trace, &snapshot, false, (size_t)random_below(count));
    if (snapshot.size) read_states(trace, &snapshot, true, 0);
  }
  test_free(&snapshot);
  return count;
}

/* Many labels, each on goroutines for a while: they take no memory once they are gone. */
static void labels(void) {
  static const gotrace_location entry = GOTRACE_NAMED_ENTRY("labelled");
  test_bytes trace = {0};
  gotrace_options options = test_options(GOTRACE_GO_1_26, &trace);
  gotrace_decoder_options reading;
  gotrace_decoder_info info;
  gotrace_decoder *d;
  gotrace_event e;
  gotrace_change c;
  size_t most = 0;
  gotrace_go *go;
  char label[1000];
  int i, j;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  go = gotrace_go_create(&entry);
  for (i = 0; i < 1500; i++) {
    gotrace_go_start(go);
    for (j = 0; j < (int)sizeof label - 1; j++)
      label[j] = (char)('a' + (i / (j % 3 == 0 ? 1 : j % 3 == 1 ? 26 : 676) + j) % 26);
    label[sizeof label - 1] = 0;
    gotrace_go_label(label);
    gotrace_go_stop(GOTRACE_STOP_YIELD);
    CHECK_EQUAL(gotrace_advance(), GOTRACE_OK);
  }
  gotrace_go_start(go), gotrace_go_end();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  check(&trace);
  memset(&reading, 0, sizeof reading);
  reading.data = trace.data, reading.size = trace.size;
  CHECK_EQUAL(gotrace_decoder_open(&d, &reading), GOTRACE_OK);
  while (gotrace_decoder_next(d, &e) == GOTRACE_OK) {
    gotrace_decoder_change(d, &e, &c);
    gotrace_decoder_get_info(d, &info);
    if (info.memory > most) most = info.memory;
  }
  CHECK(most < 150000); /* 260,000 if it kept all labels */
  gotrace_decoder_close(d);
  test_free(&trace);
}

int main(int argc, char **argv) {
  test_bytes trace;
  size_t i;
  int file;
  for (i = 0; i < TEST_FORMATS && argc == 1; i++) {
    record(&trace, test_formats[i]);
    CHECK(check(&trace) > 100);
    test_free(&trace);
  }
  if (argc == 1) labels();
  for (file = 1; file < argc; file++) {
    memset(&trace, 0, sizeof trace);
    test_load(&trace, argv[file]);
    check(&trace);
    test_free(&trace);
  }
  free(objects);
  return 0;
}
