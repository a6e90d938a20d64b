/* export.c - gotrace export: slices, arrows and counters for viewers that do not know goroutines
 *
 * Each proc is a row whose slices are goroutines. Arrows lead from where a goroutine is woken to where it runs. In a
 * format with goroutine tracks, each goroutine also has a track of its statuses, and arrows lead between these.
 * chrome.c and perfetto.c write the formats. */

#include "commands.h"
#include "export.h"

#include <stdlib.h>

const char *const counter_names[COUNTERS] = {"heap",
                                             "heap goal",
                                             "goroutines runnable",
                                             "goroutines running",
                                             "goroutines in system calls",
                                             "goroutines waiting"};

/* ------------------------------------------------------------------------------------------------------- names ---- */

static uint32_t go_label(uint64_t id, uint32_t entry) {
  pool_text name = pool_text_of(pool_function(entry));
  char text[600];
  size_t shown = name.size < 500 ? name.size : 500;
  size_t size = (size_t)snprintf(text, sizeof text, "G%llu%s", (ull)id, name.size ? " " : "");
  memcpy(text + size, name.data, shown); /* which may contain NULs */
  return pool_put_text(text, size + shown);
}

static uint32_t go_event_label(const char *what, uint64_t id) {
  char text[64];
  int size = snprintf(text, sizeof text, "%s G%llu", what, (ull)id);
  return pool_put_text(text, (size_t)size);
}

static const track scheduler = {TRACK_SCHEDULER, 0, 0}, collections = {TRACK_GC, 0, 0}, stopped = {TRACK_STW, 0, 0};

static track go_track(const goroutine *g) { return (track){TRACK_GO, g->id, go_label(g->id, g->entry)}; }

/* -------------------------------------------------------------------------------------------------------- rows ---- */

/* The state of a proc's row. */
typedef struct row {
  track where;
  goroutine *shown;
  mark mark;
} row;

static row *row_of(exporter *x, const thread *m) {
  uint64_t key = m && m->p ? m->p->id + 1 : 0;
  row *r = map_get(&x->rows, key);
  if (r) return r;
  r = keep(sizeof *r);
  r->where = (track){key ? TRACK_PROC : TRACK_NO_PROC, key ? m->p->id : 0, 0};
  map_put(&x->rows, key, r);
  return r;
}

static void leave_row(exporter *x, row *r, int64_t time, uint32_t reason) {
  if (!r || !r->shown) return;
  r->mark.detail = reason;
  x->end(x, r->where, time, &r->mark);
  r->shown->row = NULL;
  r->shown = NULL;
}

/* A goroutine starts to run on a proc. */
static void arrive(exporter *x, goroutine *g, const thread *m, int64_t time) {
  row *r;
  if (!m || !m->p) return;
  r = row_of(x, m);
  leave_row(x, r, time, 0);
  leave_row(x, g->row, time, 0);
  memset(&r->mark, 0, sizeof r->mark);
  r->mark.name = go_label(g->id, g->entry);
  r->mark.category = "goroutine";
  r->mark.g = g->id;
  r->mark.arrow = x->goroutines ? 0 : g->arrow;
  if (!x->goroutines) g->arrow = 0;
  r->shown = g;
  g->row = r;
  x->begin(x, r->where, time, &r->mark);
  r->mark.arrow = 0;
}

/* A thread's goroutine leaves its proc. */
static void leave(exporter *x, const thread *m, int64_t time, uint32_t reason) {
  if (m && m->g) leave_row(x, m->g->row, time, reason);
}

/* ------------------------------------------------------------------------------------------------------ arrows ---- */

/* A short slice on the scheduler's row, for an arrow that begins or ends outside any goroutine. */
static void scheduler_slice(exporter *x, int64_t time, const mark *from, uint64_t to) {
  mark m = {0};
  m.name = from->name;
  m.category = "scheduler";
  m.arrow = to;
  x->begin(x, scheduler, time, &m);
  if (!to) x->instant(x, scheduler, time, from);
  m.arrow = 0;
  x->end(x, scheduler, time, &m);
}

/* Ends an arrow whose goroutine does not come to run. */
static void drop_arrow(exporter *x, goroutine *g, int64_t time) {
  mark m = {0};
  if (!g->arrow || x->goroutines) return;
  m.name = go_event_label("still runnable:", g->id);
  scheduler_slice(x, time, &m, g->arrow);
  g->arrow = 0;
}

/* Begins an arrow at the thread's goroutine; it will end at the goroutine that the operation names. */
static uint64_t send_arrow(exporter *x, const op *o, const char *what, const char *category) {
  goroutine *self = o->m ? o->m->g : NULL;
  mark m = {0};
  m.name = go_event_label(what, o->id);
  m.category = category;
  m.stack = o->stack;
  m.arrow = ++x->arrows;
  if (x->goroutines && self) x->instant(x, go_track(self), o->time, &m);
  else if (!x->goroutines && self && self->row) x->instant(x, self->row->where, o->time, &m);
  else scheduler_slice(x, o->time, &m, 0);
  return m.arrow;
}

static void wake(exporter *x, const op *o) {
  goroutine *g = world_go(x->c.w, o->id);
  if (!g) return;
  drop_arrow(x, g, o->time);
  g->arrow = send_arrow(x, o, "unblock", "unblock");
}

/* -------------------------------------------------------------------------------------------- goroutine tracks ---- */

static void count_status(exporter *x, unsigned status, int change) {
  static const unsigned counters[] = {COUNTERS, COUNTER_RUNNABLE, COUNTER_RUNNING, COUNTER_SYSCALL, COUNTER_WAITING};
  if (status != GO_NONE && status < COUNT(counters)) x->counts[counters[status]] += change;
}

/* Writes the counters that have changed, once per time. */
static void tell_counts(exporter *x, int64_t now) {
  unsigned i;
  if (now == x->counts_time) return;
  for (i = COUNTER_RUNNABLE; i < COUNTERS && x->goroutines; i++) {
    if (x->counts[i] == x->counts_told[i]) continue;
    x->count(x, i, x->counts_time, x->counts[i]);
    x->counts_told[i] = x->counts[i];
  }
  x->counts_time = now;
}

static mark status_mark(unsigned status, uint32_t reason, uint32_t stack) {
  static const char *const names[] = {"", "runnable", "running", "system call", "waiting"};
  mark m = {0};
  m.name = status == GO_WAITING && reason ? reason : pool_put_string(names[status < COUNT(names) ? status : 0]);
  m.category = status == GO_WAITING ? "waiting" : "status";
  m.stack = stack;
  if (status != GO_WAITING) m.detail = reason;
  return m;
}

/* Begins a goroutine's status. Its end needs no name. */
static void show_status(exporter *x, uint64_t id, uint32_t entry, int64_t time, const mark *m, unsigned status) {
  if (x->goroutines) x->begin(x, (track){TRACK_GO, id, go_label(id, entry)}, time, m);
  count_status(x, status, 1);
}

static void show_stretch(consumer *c, const stretch *s) {
  exporter *x = (exporter *)c;
  const op *by = s->by;
  mark m = {0};
  x->end(x, go_track(s->g), s->end, &m);
  count_status(x, s->status, -1);
  if (s->next == GO_NONE) return;
  if (by && s->status == GO_RUNNING && s->next != GO_SYSCALL) m = status_mark(s->next, by->name, by->stack);
  else m = status_mark(s->next, 0, by && s->next == GO_SYSCALL ? by->stack : 0);
  m.arrow = s->g->arrow;
  s->g->arrow = 0;
  show_status(x, s->g->id, s->g->entry, s->end, &m, s->next);
}

/* A goroutine becomes known. */
static void show_new(exporter *x, const op *o) {
  unsigned status = o->kind == GOTRACE_V2_GO_CREATE           ? GO_RUNNABLE
                    : o->kind == GOTRACE_V2_GO_CREATE_BLOCKED ? GO_WAITING
                    : o->kind == GOTRACE_V2_GO_CREATE_SYSCALL ? GO_SYSCALL
                                                              : (unsigned)o->a[0];
  goroutine *g = world_go(x->c.w, o->id);
  mark m;
  if (g) drop_arrow(x, g, o->time);
  if (!x->goroutines || g) return; /* show_stretch() shows the status that follows */
  m = status_mark(status, 0, o->kind == GOTRACE_V2_GO_STATUS ? o->stack : 0);
  if ((o->kind == GOTRACE_V2_GO_CREATE || o->kind == GOTRACE_V2_GO_CREATE_BLOCKED) && o->m)
    m.arrow = send_arrow(x, o, "create", "create");
  show_status(x, o->id, o->new_stack, o->time, &m, status);
}

/* ---------------------------------------------------------------------------------------- tasks, regions, logs ---- */

typedef struct shown_task {
  uint64_t id;
  uint32_t name;
  bool open;
} shown_task;

typedef struct shown_regions { /* of a goroutine, innermost last */
  uint64_t id;
  uint32_t *names, count, capacity, label;
} shown_regions;

static track region_track(const shown_regions *r) { return (track){TRACK_REGION, r->id, r->label}; }

static void begin_task(exporter *x, const op *o) {
  shown_task *t = map_get(&x->tasks, o->id);
  mark m = {0};
  if (!t) {
    t = keep(sizeof *t);
    t->id = o->id;
    map_put(&x->tasks, o->id, t);
  }
  if (t->open) return;
  t->open = true;
  t->name = m.name = o->name;
  m.category = "task";
  m.task = o->id;
  m.stack = o->stack;
  x->begin(x, (track){TRACK_TASK, o->id, 0}, o->time, &m);
}

static void end_task(exporter *x, uint64_t id, int64_t time, uint32_t name) {
  shown_task *t = map_get(&x->tasks, id);
  mark m = {0};
  m.category = "task";
  m.task = id;
  m.name = t && t->open ? t->name : name;
  if (!t || !t->open) x->begin(x, (track){TRACK_TASK, id, 0}, x->c.from, &m);
  x->end(x, (track){TRACK_TASK, id, 0}, time, &m);
  if (t) t->open = false;
}

static void begin_region(exporter *x, const op *o, const goroutine *g) {
  shown_regions *r = map_get(&x->regions, g->id);
  mark m = {0};
  if (!r) {
    r = keep(sizeof *r);
    r->id = g->id;
    map_put(&x->regions, g->id, r);
  }
  if (!r->count) r->label = go_label(g->id, g->entry);
  GROW(r->names, r->count, r->capacity);
  r->names[r->count++] = o->name;
  m.name = o->name;
  m.category = "region";
  m.task = o->id;
  m.g = g->id;
  m.stack = o->stack;
  x->begin(x, region_track(r), o->time, &m);
}

/* Ends the innermost regions until `count` are left. */
static void end_regions(exporter *x, shown_regions *r, uint32_t count, int64_t time) {
  mark m = {0};
  m.category = "region";
  while (r && r->count > count) {
    m.name = r->names[--r->count];
    x->end(x, region_track(r), time, &m);
  }
}

static void end_region(exporter *x, const op *o, const goroutine *g) {
  shown_regions *r = map_get(&x->regions, g->id);
  uint32_t i = r ? r->count : 0;
  track early = {TRACK_EARLY, 0, 0};
  mark m = {0};
  while (i && r->names[i - 1] != o->name) i--;
  if (i) {
    end_regions(x, r, i - 1, o->time);
    return;
  }
  early.id = ++x->early;
  early.name = go_label(g->id, g->entry);
  m.name = o->name;
  m.category = "region";
  m.task = o->id;
  m.g = g->id;
  x->begin(x, early, x->c.from, &m);
  x->end(x, early, o->time, &m);
}

static void show_log(exporter *x, const op *o) {
  const goroutine *self = o->m ? o->m->g : NULL;
  mark m = {0};
  m.name = o->value;
  m.category = "log";
  m.task = o->id;
  m.detail = o->name;
  m.stack = o->stack;
  x->instant(x, x->goroutines && self ? go_track(self) : row_of(x, o->m)->where, o->time, &m);
}

static void show_sample(exporter *x, const op *o) {
  const goroutine *g = world_go(x->c.w, o->a[2]);
  mark m = {0};
  if (!x->goroutines || !g) return;
  m.name = pool_put_string("CPU sample");
  m.category = "sample";
  m.stack = o->stack;
  x->instant(x, go_track(g), o->time, &m);
}

/* ------------------------------------------------------------------------------------------------- collections ---- */

static void show_gc(exporter *x, int64_t time, bool begins) {
  mark m = {0};
  if (begins == x->gc) return;
  x->gc = begins;
  m.name = pool_put_string("GC");
  m.category = "gc";
  (begins ? x->begin : x->end)(x, collections, time, &m);
}

static void show_stw(exporter *x, int64_t time, bool begins, uint32_t reason) {
  mark m = {0};
  m.name = pool_put_string("stopped world");
  m.category = "gc";
  m.detail = reason;
  if (begins) x->stw++;
  else if (!x->stw) return;
  else x->stw--;
  (begins ? x->begin : x->end)(x, stopped, time, &m);
}

/* -------------------------------------------------------------------------------------------------- operations ---- */

static void take(consumer *c, const op *o) {
  exporter *x = (exporter *)c;
  goroutine *g = world_go(c->w, o->id);
  goroutine *self = o->m ? o->m->g : NULL;
  tell_counts(x, o->time);
  while (x->stw > c->w->stw) show_stw(x, o->time, false, 0); /* its goroutine has ended */
  switch (o->kind) {
  case GOTRACE_V2_GO_CREATE:
  case GOTRACE_V2_GO_CREATE_BLOCKED:
  case GOTRACE_V2_GO_CREATE_SYSCALL: show_new(x, o); break;
  case GOTRACE_V2_GO_STATUS: /* a goroutine that becomes known now */
    show_new(x, o);
    if (o->a[0] == GO_RUNNING || (o->a[0] == GO_SYSCALL && o->m && o->m->p)) {
      g = go_record(c->w, o->id);
      g->entry = o->new_stack;
      arrive(x, g, o->m, o->time);
    }
    break;
  case GOTRACE_V2_GO_START:
    if (g) arrive(x, g, o->m, o->time);
    break;
  case GOTRACE_V2_GO_DESTROY:
  case GOTRACE_V2_GO_DESTROY_SYSCALL:
    if (self) end_regions(x, map_get(&x->regions, self->id), 0, o->time);
    leave(x, o->m, o->time, 0);
    break;
  case GOTRACE_V2_GO_STOP:
  case GOTRACE_V2_GO_BLOCK:
  case GOTRACE_V2_PROC_STOP: leave(x, o->m, o->time, o->name); break;
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED: leave(x, o->m, o->time, 0); break;
  case GOTRACE_V2_PROC_STEAL: {
    const proc *p = world_proc(c->w, o->id, false);
    if (p) leave(x, p->m, o->time, pool_put_string("syscall"));
    break;
  }
  case GOTRACE_V2_GO_SWITCH:
  case GOTRACE_V2_GO_SWITCH_DESTROY:
    wake(x, o);
    if (self && o->kind == GOTRACE_V2_GO_SWITCH_DESTROY) end_regions(x, map_get(&x->regions, self->id), 0, o->time);
    leave(x, o->m, o->time, 0);
    if (g) arrive(x, g, o->m, o->time);
    break;
  case GOTRACE_V2_GO_UNBLOCK: wake(x, o); break;
  case GOTRACE_V2_USER_TASK_BEGIN: begin_task(x, o); break;
  case GOTRACE_V2_USER_TASK_END:
    if (!o->ends_again) end_task(x, o->id, o->time, o->name);
    break;
  case GOTRACE_V2_USER_REGION_BEGIN:
    if (self) begin_region(x, o, self);
    break;
  case GOTRACE_V2_USER_REGION_END:
    if (self) end_region(x, o, self);
    break;
  case GOTRACE_V2_USER_LOG: show_log(x, o); break;
  case GOTRACE_V2_CPU_SAMPLE: show_sample(x, o); break;
  case GOTRACE_V2_HEAP_ALLOC: x->count(x, COUNTER_HEAP, o->time, (int64_t)o->a[0]); break;
  case GOTRACE_V2_HEAP_GOAL: x->count(x, COUNTER_GOAL, o->time, (int64_t)o->a[0]); break;
  case GOTRACE_V2_GC_ACTIVE:
  case GOTRACE_V2_GC_BEGIN: show_gc(x, o->time, true); break;
  case GOTRACE_V2_GC_END: show_gc(x, o->time, false); break;
  case GOTRACE_V2_STW_BEGIN:
    if (self && self->stw < UINT8_MAX) show_stw(x, o->time, true, o->name);
    break;
  case GOTRACE_V2_STW_END:
    if (self && self->stw) show_stw(x, o->time, false, 0);
    break;
  default: break;
  }
}

static void begin(consumer *c, int64_t time) {
  exporter *x = (exporter *)c;
  goroutine *g;
  mark m;
  x->counts_time = time;
  for (g = c->w->live; g; g = g->next) {
    if (g->m && (g->status == GO_RUNNING || g->status == GO_SYSCALL)) arrive(x, g, g->m, time);
    m = status_mark(g->status, g->status == GO_WAITING ? g->reason : 0, g->stack);
    show_status(x, g->id, g->entry, time, &m, g->status);
  }
  if (c->w->gc) show_gc(x, time, true);
  while (x->stw < c->w->stw) show_stw(x, time, true, 0);
}

typedef struct closing {
  exporter *x;
  int64_t time;
} closing;

static void finish(consumer *c, int64_t time) {
  exporter *x = (exporter *)c;
  goroutine *g;
  size_t i;
  tell_counts(x, time);
  for (g = c->w->live; g; g = g->next) {
    leave_row(x, g->row, time, 0);
    drop_arrow(x, g, time);
  }
  while (x->stw) show_stw(x, time, false, 0);
  show_gc(x, time, false);
  for (i = 0; i < x->regions.count; i++) end_regions(x, x->regions.values[i], 0, time);
  for (i = 0; i < x->tasks.count; i++) {
    const shown_task *t = x->tasks.values[i];
    if (t && t->open) end_task(x, t->id, time, t->name);
  }
  x->finish(x);
}

int command_export(const char *path, const settings *set) {
  input in;
  output out;
  filter selection;
  source s;
  exporter x;
  gotrace_result result;
  size_t i;
  if (set->chrome && set->perfetto) usage("--chrome and --perfetto cannot be combined");
  memset(&s, 0, sizeof s);
  memset(&x, 0, sizeof x);
  if (!input_open(&in, path, true)) return 1;
  if (input_decode(&in, false) != GOTRACE_OK) fail("%s", input_error(&in));
  x.c.begin = begin;
  x.c.take = take;
  x.c.end = finish;
  x.c.statuses = true;
  x.out = &out;
  x.file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  output_open(&out, set->output);
  filter_open(&selection, set);
  x.c.filter = &selection;
  (set->perfetto ? perfetto_open : chrome_open)(&x);
  if (x.goroutines) x.c.stretch = show_stretch;
  result = source_run(&s, &in, &x.c, set->from, set->until, NULL, NULL);
  if (result != GOTRACE_END_OF_TRACE) source_broken(&s, set);
  filter_require(&selection, &s.w);
  if (!s.begun) x.finish(&x);
  output_close(&out);
  for (i = 0; i < x.regions.count; i++) free(((shown_regions *)x.regions.values[i])->names);
  map_free(&x.rows);
  map_free(&x.tasks);
  map_free(&x.regions);
  source_free(&s);
  filter_close(&selection);
  input_close(&in);
  return 0;
}
