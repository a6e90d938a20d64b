/* export.c - gotrace export: slices, arrows and counters for viewers that do not know goroutines
 *
 * Each proc is a row whose slices are goroutines. Arrows lead from where a goroutine is woken to where it runs. In a
 * format with goroutine tracks, each goroutine also has a track of its statuses, and arrows lead between these.
 * chrome.c and perfetto.c write the formats. */

#include "../command/commands.h"
#include "export.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

const char *counter_name(const exporter *x, unsigned counter, char text[COUNTER_NAME]) {
  static const char *const names[COUNTERS] = {
      "heap", "heap goal", "goroutines runnable", NULL, "goroutines in system calls", "goroutines waiting"};
  if (names[counter]) return names[counter];
  snprintf(text, COUNTER_NAME, "goroutines %s", running_text(waits_unseen(&x->c)));
  return text;
}

const char *detail_name(track where, slice_phase p) {
  if (p == PHASE_BEGIN) return is_annotation(where) ? "cut" : "reason";
  return p == PHASE_END ? "until" : "category";
}

/* ------------------------------------------------------------------------------------------------------- names ---- */

static uint32_t go_label(const goroutine *g) {
  pool_text name = pool_text_of(name_of(g));
  char text[600];
  size_t shown = name.size < 500 ? name.size : 500;
  size_t size = (size_t)snprintf(text, sizeof text, "G%llu%s", (ull)g->id, name.size ? " " : "");
  memcpy(text + size, name.data, shown); /* which may contain NULs */
  return pool_put_text(text, size + shown);
}

static uint32_t go_event_label(const char *what, uint64_t id) {
  char text[64];
  int size = snprintf(text, sizeof text, "%s G%llu", what, (ull)id);
  return pool_put_text(text, (size_t)size);
}

static const track scheduler = {TRACK_SCHEDULER, 0, 0}, collections = {TRACK_GC, 0, 0}, stopped = {TRACK_STW, 0, 0};

static track go_track(const goroutine *g) { return (track){TRACK_GO, g->id, go_label(g)}; }

/* Whether to show what an operation does to a goroutine: the filter selects both. */
static bool chooses(const exporter *x, const goroutine *g) {
  return g && x->c.w->chosen && filter_goroutine(x->c.filter, g);
}

/* -------------------------------------------------------------------------------------------------------- rows ---- */

/* The state of a proc's row. */
typedef struct row {
  track where;
  struct shown_go *shown; /* the goroutine on it; NULL: none */
  mark mark;
} row;

typedef struct shown_go { /* what is shown of a goroutine */
  row *row;               /* NULL: none */
  uint64_t arrow;         /* from its waker; 0: none */
  uint32_t reason, stack; /* of its status, on its own track */
  uint64_t status_arrow;
  uint64_t arrows; /* id of the last arrow to it; on goroutine tracks of all, since each ends where it begins */
  bool begun;      /* its status was shown when it began */
  bool settled;    /* a status was shown, with the name that its track keeps */
} shown_go;

static shown_go *shown_of(exporter *x, const goroutine *g) { return SIDE(shown_go, &x->gos, g->number); }

static row *row_of(exporter *x, const thread *m) {
  uint64_t key = m && m->p ? m->p->id + 1 : 0;
  bool made;
  row *r = map_keep(&x->rows, key, sizeof *r, &made);
  if (made) r->where = (track){key ? TRACK_PROC : TRACK_NO_PROC, key ? m->p->id : 0, 0};
  return r;
}

static void leave_row(exporter *x, row *r, int64_t time, uint32_t reason) {
  if (!r || !r->shown) return;
  r->mark.detail = reason;
  x->show(x, r->where, time, PHASE_END, &r->mark);
  r->shown->row = NULL;
  r->shown = NULL;
}

/* A goroutine starts to run on a proc. */
static void arrive(exporter *x, const goroutine *g, const thread *m, int64_t time) {
  shown_go *shown = shown_of(x, g);
  row *r;
  if (!m || !m->p) return;
  r = row_of(x, m);
  leave_row(x, r, time, 0);
  leave_row(x, shown->row, time, 0);
  memset(&r->mark, 0, sizeof r->mark);
  r->mark.name = go_label(g);
  r->mark.category = "goroutine";
  r->mark.g = g->id;
  r->mark.arrow = x->goroutines ? 0 : shown->arrow;
  if (!x->goroutines) shown->arrow = 0;
  r->shown = shown;
  shown->row = r;
  x->show(x, r->where, time, PHASE_BEGIN, &r->mark);
  r->mark.arrow = 0;
}

/* A thread's goroutine leaves its proc. */
static void leave(exporter *x, const thread *m, int64_t time, uint32_t reason) {
  if (m && m->g) leave_row(x, shown_of(x, m->g)->row, time, reason);
}

/* ------------------------------------------------------------------------------------------------------ arrows ---- */

/* A short slice on the scheduler's row, for an arrow that begins or ends outside any goroutine. */
static void scheduler_slice(exporter *x, int64_t time, const mark *from, uint64_t to) {
  mark m = {0};
  m.name = from->name;
  m.category = "scheduler";
  m.arrow = to;
  x->show(x, scheduler, time, PHASE_BEGIN, &m);
  if (!to) x->show(x, scheduler, time, PHASE_INSTANT, from);
  m.arrow = 0;
  x->show(x, scheduler, time, PHASE_END, &m);
}

/* Ends an arrow whose goroutine is not shown running. */
static void drop_arrow(exporter *x, const goroutine *g, int64_t time, const char *why) {
  shown_go *shown = shown_of(x, g);
  mark m = {0};
  if (!shown->arrow || x->goroutines) return;
  m.name = go_event_label(why, g->id);
  scheduler_slice(x, time, &m, shown->arrow);
  shown->arrow = 0;
}

/* Begins an arrow at the thread's goroutine; it will end at the goroutine that the operation names. */
static uint64_t send_arrow(exporter *x, const op *o, const goroutine *to, const char *what, const char *category) {
  const goroutine *self = o->m ? o->m->g : NULL;
  const row *r = self ? shown_of(x, self)->row : NULL;
  shown_go *receiver = shown_of(x, to);
  mark m = {0};
  if (x->goroutines) m.name = pool_put_string(what), m.g = o->id; /* without names for each goroutine, half the size */
  else m.name = go_event_label(what, o->id);
  m.category = category;
  m.stack = o->stack;
  if (!x->goroutines || !receiver->arrows) receiver->arrows = ++x->arrows;
  m.arrow = receiver->arrows;
  if (x->goroutines && self) x->show(x, go_track(self), o->time, PHASE_INSTANT, &m);
  else if (!x->goroutines && r) x->show(x, r->where, o->time, PHASE_INSTANT, &m);
  else scheduler_slice(x, o->time, &m, 0);
  return m.arrow;
}

/* Whether the filter selects a goroutine while it is runnable: the slice at which an arrow on goroutine tracks ends. */
static bool chooses_runnable(const exporter *x, goroutine *g) {
  const stretch runnable = {g, 0, 0, GO_RUNNABLE, GO_NONE, 0, 0, NULL, 0, true};
  return filter_stretch(x->c.filter, &runnable);
}

static void wake(exporter *x, const op *o) {
  goroutine *g = world_go(x->c.w, o->id);
  if (!chooses(x, g) || (x->goroutines && !chooses_runnable(x, g))) return;
  drop_arrow(x, g, o->time, "still runnable:");
  shown_of(x, g)->arrow = send_arrow(x, o, g, "unblock", "unblock");
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

static void show_status(exporter *x, const goroutine *g, unsigned status, int64_t time) {
  const char *const names[] = {"", "runnable", running_text(waits_unseen(&x->c)), "system call", "waiting"};
  const shown_go *shown = shown_of(x, g);
  mark m = {0};
  m.name = status == GO_WAITING && shown->reason ? shown->reason
                                                 : pool_put_string(names[status < COUNT(names) ? status : 0]);
  m.category = status == GO_WAITING ? "waiting" : "status";
  m.stack = shown->stack;
  if (status != GO_WAITING) m.detail = shown->reason;
  m.arrow = shown->status_arrow;
  x->show(x, go_track(g), time, PHASE_BEGIN, &m);
}

/* A goroutine's status begins. It is shown now, so that the result is in order of time, unless only its end tells
 * whether a filter selects it, or the goroutine's name. */
static void begin_status(exporter *x, const goroutine *g, unsigned status, int64_t time, shown_go now) {
  shown_go *shown = shown_of(x, g);
  shown->reason = now.reason;
  shown->stack = now.stack;
  shown->status_arrow = now.status_arrow;
  if (!x->goroutines || x->c.filter->on || status == GO_NONE || !(shown->settled || name_of(g))) return;
  show_status(x, g, status, time);
  shown->begun = shown->settled = true;
}

static void show_stretch(consumer *c, const stretch *s) {
  exporter *x = (exporter *)c;
  const op *by = s->by;
  goroutine *g = s->g;
  shown_go *shown = shown_of(x, g), next = {0};
  bool explained = by && (s->status == GO_RUNNING || s->next == GO_SYSCALL);
  if (s->chosen) {
    const mark none = {0};
    if (!shown->begun) show_status(x, g, s->status, s->begin);
    x->show(x, go_track(g), s->end, PHASE_END, &none);
    shown->settled = true;
  }
  shown->begun = false;
  if (by) { /* otherwise the trace or part ends, until which they count */
    count_status(x, s->status, -1);
    count_status(x, s->next, 1);
  }
  if (s->next == s->status) { /* it goes on, but may not be selected any more */
    shown->status_arrow = 0;
    return;
  }
  if (explained && s->next != GO_SYSCALL) next.reason = by->name;
  if (explained) next.stack = by->stack;
  next.status_arrow = shown->arrow;
  shown->arrow = 0;
  begin_status(x, g, by ? s->next : GO_NONE, s->end, next);
}

/* A goroutine becomes known. */
static void show_new(exporter *x, const op *o) {
  goroutine *g = world_go(x->c.w, o->id), made = {.id = o->id, .entry = o->new_stack};
  bool created = creates(o->kind) && o->kind != GOTRACE_V2_GO_CREATE_SYSCALL; /* by a goroutine */
  const goroutine *record = go_record(x->c.w, o->id);
  shown_go *shown = shown_of(x, record), next = {0};
  if (g) drop_arrow(x, g, o->time, "still runnable:");
  shown->arrow = 0;
  if (!x->goroutines || g) return; /* show_stretch() shows the status that follows */
  count_status(x, status_after(o), 1);
  made.called = record->called;
  if (created && o->m && chooses(x, &made) && chooses_runnable(x, &made))
    next.status_arrow = send_arrow(x, o, record, "create", "create");
  next.stack = o->kind == GOTRACE_V2_GO_STATUS ? o->stack : 0;
  made.number = record->number;
  begin_status(x, &made, status_after(o), o->time, next);
}

/* ---------------------------------------------------------------------------------------- tasks, regions, logs ---- */

static track task_track(uint64_t id) { return (track){TRACK_TASK, id, 0}; }

static track region_track(const goroutine *g) { return (track){TRACK_REGION, g->id, go_label(g)}; }

/* A detail of what is drawn from the start of the part on, although it began earlier; 0: it did not. */
static uint32_t cut_detail(const exporter *x, int64_t begin) {
  char text[64];
  int size;
  if (begin >= x->c.from) return 0;
  size = snprintf(text, sizeof text, "began %lld ns before", (long long)between(begin, x->c.from));
  return pool_put_text(text, (size_t)size);
}

static uint32_t unknown_detail(void) { return pool_put_string("its start is not in the trace"); }

static mark task_mark(uint64_t id, uint32_t name) {
  mark m = {0};
  m.name = name;
  m.category = "task";
  m.task = id;
  return m;
}

static mark region_mark(const goroutine *g, uint64_t task, uint32_t name) {
  mark m = {0};
  m.name = name;
  m.category = "region";
  m.task = task;
  m.g = g->id;
  return m;
}

static void begin_task(exporter *x, const op *o) {
  mark m = task_mark(o->id, o->name);
  m.stack = o->stack;
  if (!world_task(x->c.w, o->id)->open) x->show(x, task_track(o->id), o->time, PHASE_BEGIN, &m);
}

static void end_task(exporter *x, const op *o) {
  const user_task *t = map_get(&x->c.w->tasks, o->id);
  mark m = task_mark(o->id, t ? t->name : o->name);
  if (t && !(t->open && t->chosen)) return;
  if (!t) {
    if (!x->c.w->chosen) return;
    m.detail = unknown_detail();
    x->show(x, task_track(o->id), x->c.from, PHASE_BEGIN, &m);
    m.detail = 0;
  }
  x->show(x, task_track(o->id), o->time, PHASE_END, &m);
}

static void begin_region(exporter *x, const goroutine *g, const user_region *r, int64_t time) {
  mark m = region_mark(g, r->task, r->name);
  m.stack = r->stack;
  m.detail = cut_detail(x, r->begin);
  if (r->chosen) x->show(x, region_track(g), time, PHASE_BEGIN, &m);
}

static void end_region(exporter *x, const goroutine *g, const user_region *r, int64_t time, uint32_t detail) {
  mark m = {0};
  m.name = r->name;
  m.category = "region";
  m.detail = detail;
  if (r->chosen) x->show(x, region_track(g), time, PHASE_END, &m);
}

static void end_regions(exporter *x, const goroutine *g, int64_t time, uint32_t detail) {
  uint32_t i = g && g->regions ? g->regions->count : 0;
  while (i--) end_region(x, g, &g->regions->open[i], time, detail);
}

/* On a track, slices must be nested: if a region ends before those inside it, they end, too, and begin again. */
static void end_outer_region(exporter *x, const goroutine *g, const user_region *r, uint64_t inside, int64_t time) {
  uint64_t i;
  for (i = inside; i; i--) end_region(x, g, &r[i], time, 0);
  end_region(x, g, r, time, 0);
  for (i = 1; i <= inside; i++) begin_region(x, g, &r[i], time);
}

/* A region of which only the end is in the trace. */
static void show_early_region(exporter *x, const op *o, const goroutine *g) {
  track early = {TRACK_EARLY, ++x->early, go_label(g)};
  mark m = region_mark(g, o->id, o->name);
  m.detail = unknown_detail();
  x->show(x, early, x->c.from, PHASE_BEGIN, &m);
  m.detail = 0;
  x->show(x, early, o->time, PHASE_END, &m);
}

/* The tasks and regions that are open when the part begins. */
static void show_open(exporter *x, int64_t time) {
  const world *w = x->c.w;
  const goroutine *g;
  uint32_t k;
  size_t i;
  mark m;
  for (i = 0; i < w->tasks.count; i++) {
    const user_task *t = w->tasks.values[i];
    if (!t->open || !t->chosen) continue;
    m = task_mark(t->id, t->name);
    m.stack = t->stack;
    m.detail = cut_detail(x, t->begin);
    x->show(x, task_track(t->id), time, PHASE_BEGIN, &m);
  }
  for (g = w->live; g; g = g->next) {
    for (k = 0; g->regions && k < g->regions->count; k++) begin_region(x, g, &g->regions->open[k], time);
  }
}

static void show_log(exporter *x, const op *o) {
  const goroutine *self = o->m ? o->m->g : NULL;
  mark m = {0};
  m.name = o->value;
  m.category = "log";
  m.task = o->id;
  m.detail = o->name;
  m.stack = o->stack;
  x->show(x, x->goroutines && self ? go_track(self) : row_of(x, o->m)->where, o->time, PHASE_INSTANT, &m);
}

static void show_sample(exporter *x, const op *o) {
  const goroutine *g = world_go(x->c.w, o->a[2]);
  bool has_proc = o->a[1] != NOBODY && world_proc(x->c.w, o->a[1], false);
  track where = {has_proc ? TRACK_PROC : TRACK_NO_PROC, has_proc ? o->a[1] : 0, 0};
  mark m = {0};
  m.name = pool_put_string("CPU sample");
  m.category = "sample";
  m.stack = o->stack;
  m.g = o->a[2];
  x->show(x, x->goroutines && g ? go_track(g) : where, o->time, PHASE_INSTANT, &m);
}

/* ------------------------------------------------------------------------------------------------- collections ---- */

static void show_gc(exporter *x, int64_t time, bool begins) {
  mark m = {0};
  if (begins == x->gc) return;
  x->gc = begins;
  m.name = pool_put_string("GC");
  m.category = "gc";
  x->show(x, collections, time, begins ? PHASE_BEGIN : PHASE_END, &m);
}

static void show_stw(exporter *x, int64_t time, bool begins, uint32_t reason) {
  mark m = {0};
  m.name = pool_put_string("stopped world");
  m.category = "gc";
  m.detail = reason;
  if (begins) x->stw++;
  else if (!x->stw) return;
  else x->stw--;
  x->show(x, stopped, time, begins ? PHASE_BEGIN : PHASE_END, &m);
}

/* -------------------------------------------------------------------------------------------------- operations ---- */

/* A goroutine, which may be NULL, starts to run. */
static void start(exporter *x, goroutine *g, const op *o) {
  if (chooses(x, g)) arrive(x, g, o->m, o->time);
  else if (g) drop_arrow(x, g, o->time, "runs:");
}

static void take(consumer *c, const op *o) {
  exporter *x = (exporter *)c;
  goroutine *g = world_go(c->w, o->id);
  goroutine *self = o->m ? o->m->g : NULL;
  bool chosen = c->w->chosen;
  const user_region *ends;
  user_region region;
  const user_counter *counter;
  double value;
  tell_counts(x, o->time);
  while (x->stw > c->w->stw) show_stw(x, o->time, false, 0); /* its goroutine has ended */
  if (changes_go(o->kind) && appears(o->kind)) show_new(x, o);
  switch (o->kind) {
  case GOTRACE_V2_GO_STATUS: /* a goroutine that becomes known now */
    if (o->a[0] == GO_RUNNING || (o->a[0] == GO_SYSCALL && o->m && o->m->p)) {
      g = go_record(c->w, o->id);
      g->entry = o->new_stack;
      start(x, g, o);
    }
    break;
  case GOTRACE_V2_GO_START: start(x, g, o); break;
  case GOTRACE_V2_GO_DESTROY:
  case GOTRACE_V2_GO_DESTROY_SYSCALL:
    end_regions(x, self, o->time, 0);
    leave(x, o->m, o->time, 0);
    break;
  case GOTRACE_V2_GO_STOP:
  case GOTRACE_V2_GO_BLOCK:
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED:
  case GOTRACE_V2_PROC_STOP: leave(x, o->m, o->time, o->name); break;
  case GOTRACE_V2_PROC_STEAL: {
    const proc *p = world_proc(c->w, o->id, false);
    if (p) leave(x, p->m, o->time, pool_put_string("syscall"));
    break;
  }
  case GOTRACE_V2_GO_UNBLOCK: wake(x, o); break;
  case GOTRACE_V2_USER_TASK_BEGIN:
    if (chosen) begin_task(x, o);
    break;
  case GOTRACE_V2_USER_TASK_END:
    if (!o->ends_again) end_task(x, o);
    break;
  case GOTRACE_V2_USER_REGION_BEGIN:
    region = (user_region){.name = o->name, .stack = o->stack, .task = o->id, .begin = o->time, .chosen = chosen};
    if (self) begin_region(x, self, &region, o->time);
    break;
  case GOTRACE_V2_USER_REGION_END:
    ends = ending_region(o);
    if (ends) end_outer_region(x, self, ends, o->a[0], o->time);
    else if (self && chosen) show_early_region(x, o, self);
    break;
  case GOTRACE_V2_USER_LOG:
    if (!chosen) break;
    if ((counter = told_counter(c->w, o, &value))) x->user_count(x, counter->name, o->time, value);
    else show_log(x, o);
    break;
  case GOTRACE_V2_CPU_SAMPLE:
    if (chosen) show_sample(x, o);
    break;
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
  size_t i;
  x->counts_time = time;
  for (g = c->w->live; g; g = g->next) {
    const stretch now = {g, time, time, g->status, GO_NONE, g->status == GO_WAITING ? g->reason : 0, 0, NULL, 0, true};
    count_status(x, g->status, 1);
    begin_status(x, g, g->status, time, (shown_go){.reason = now.reason, .stack = g->stack});
    if (!filter_stretch(c->filter, &now)) continue;
    if (g->m && (g->status == GO_RUNNING || g->status == GO_SYSCALL)) arrive(x, g, g->m, time);
  }
  show_open(x, time);
  for (i = 0; i < c->w->counters.count; i++) {
    const user_counter *counter = c->w->counters.values[i];
    x->user_count(x, counter->name, time, counter->value);
  }
  if (c->w->heap) x->count(x, COUNTER_HEAP, time, (int64_t)c->w->heap);
  if (c->w->heap_goal) x->count(x, COUNTER_GOAL, time, (int64_t)c->w->heap_goal);
  if (c->w->gc) show_gc(x, time, true);
  while (x->stw < c->w->stw) show_stw(x, time, true, c->w->stw_reason);
}

static void finish(consumer *c, int64_t time) {
  exporter *x = (exporter *)c;
  goroutine *g;
  uint32_t cut = pool_put_string("the end of the trace or part");
  size_t i;
  tell_counts(x, INT64_MIN); /* all that is left */
  for (g = c->w->live; g; g = g->next) {
    leave_row(x, shown_of(x, g)->row, time, 0);
    drop_arrow(x, g, time, "still runnable:");
  }
  while (x->stw) show_stw(x, time, false, 0);
  show_gc(x, time, false);
  for (g = c->w->live; g; g = g->next) end_regions(x, g, time, cut);
  for (i = 0; i < c->w->tasks.count; i++) {
    const user_task *t = c->w->tasks.values[i];
    mark m = task_mark(t->id, t->name);
    m.detail = cut;
    if (t->open && t->chosen) x->show(x, task_track(t->id), time, PHASE_END, &m);
  }
  x->finish(x);
}

#define GZIP_BLOCK ((size_t)1 << 20)

void export_check(exporter *x) {
  if (!x->z) output_check(x->out);
  else if (x->out->block.size >= GZIP_BLOCK) gzip_put(x->z, &x->packed, &x->out->block);
}

/* The result goes through gzip, to the file of `out`, which has nothing yet. */
static void begin_gzip(exporter *x, const char *path) {
  x->z = gzip_open(GZIP_SMALL);
  x->packed.path = path ? path : "standard output";
  x->packed.fd = dup(fileno(x->out->file));
  if (x->packed.fd < 0) fail("%s: %s", x->packed.path, strerror(errno));
  gzip_begin(&x->packed);
}

static void end_gzip(exporter *x) {
  gzip_put(x->z, &x->packed, &x->out->block);
  gzip_flush(x->z);
  gzip_end(&x->packed);
  gzip_close(x->z);
}

static int export_picture(const char *path, const settings *set) {
  trace_part p;
  output out;
  exporter x;
  memset(&x, 0, sizeof x);
  if (!part_open(&p, path, set)) return 1;
  if (input_decode(&p.in, false) != GOTRACE_OK) fail("%s", input_error(&p.in));
  x.c.begin = begin;
  x.c.take = take;
  x.c.end = finish;
  x.c.statuses = x.c.history = x.c.all = x.c.later = true;
  x.out = &out;
  x.file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  output_open(&out, set->output);
  if (set->gzip) begin_gzip(&x, set->output);
  x.c.filter = &p.selection;
  (set->perfetto ? perfetto_open : chrome_open)(&x);
  if (x.goroutines) x.c.stretch = show_stretch;
  part_read(&p, &x.c, set, NULL, NULL);
  filter_require(&p.selection, &p.s.w);
  if (!p.s.begun) x.finish(&x);
  if (set->gzip) end_gzip(&x);
  output_close(&out);
  map_free(&x.rows);
  part_close(&p);
  return 0;
}

int command_export(char **paths, int count, const settings *set) {
  if (set->chrome + set->perfetto + (set->tables != NULL) > 1)
    usage("--perfetto, --chrome and --tables cannot be combined");
  if (set->tables && set->gzip) usage("--tables writes files that are compressed by gzip; leave out --gzip");
  if (set->tables && set->output) usage("--tables names the directory to write to; leave out -o");
  if (set->tables) return export_tables(paths, count, set);
  if (count > 1) usage("export takes one FILE without --tables");
  return export_picture(*paths, set);
}
