/* collector.c - the garbage collector: see collector.h */

#include "collector.h"

#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------- pauses ---- */

static pause_reason *reason_of(collector *gc, uint32_t name) {
  unsigned i;
  for (i = 0; i < gc->reason_count; i++)
    if (gc->reasons[i].name == name) return &gc->reasons[i];
  if (gc->reason_count < MOST_PAUSE_REASONS) gc->reasons[gc->reason_count++].name = name;
  return &gc->reasons[i];
}

static void end_pause(collector *gc, const goroutine *g, int64_t from, int64_t end) {
  const collector_go *of = collector_of(gc, g);
  int64_t begin = of->stw_since < from ? from : of->stw_since;
  if (end < from) return;
  histogram_add(&gc->pauses, between(begin, end), begin, g->id);
  histogram_add(&reason_of(gc, of->stw_reason)->pauses, between(begin, end), begin, g->id);
}

static void end_collection(collector *gc, int64_t from, int64_t end) {
  int64_t begin = gc->collecting < from ? from : gc->collecting;
  if (end >= from) histogram_add(&gc->collections, between(begin, end), begin, 0);
}

/* ------------------------------------------------------------------------------------------------ utilization ---- */

#define ALL UINT32_MAX /* procs */

/* Of several changes at the same time, the last one counts. */
static void add_change(collector *gc, int64_t time, uint32_t busy, int64_t from) {
  utilization *last = gc->count ? &gc->changes[gc->count - 1] : NULL;
  utilization change = {time, busy, gc->procs};
  if (time < from) { /* before the part: only the state in which it begins counts */
    change.time = from;
    if (last) last->time = from;
  }
  if (last && last->time == change.time) {
    *last = change;
    return;
  }
  if (last && last->busy == busy && last->procs == gc->procs) return;
  if (gc->count == MOST_CHANGES) gc->too_many = true;
  if (gc->too_many) return;
  GROW(gc->changes, gc->count, gc->capacity);
  gc->changes[gc->count++] = change;
}

/* The share of the procs that the collector leaves. */
static double share_of(const collector *gc, const utilization *change) {
  uint32_t procs = change->procs ? change->procs : gc->first_procs;
  return change->busy < procs ? 1 - (double)change->busy / (double)procs : 0;
}

/* Whether the goroutine that has a proc, if any, works for the collector. */
static bool works_on(collector *gc, const proc *p) {
  return p && p->m && p->m->g && collector_of(gc, p->m->g)->collects;
}

static void set_procs(collector *gc, world *w, uint64_t procs) {
  if (!procs || procs > GOTRACE_FAKE_PROC) return;
  while (gc->works_count > procs) gc->busy -= gc->works[--gc->works_count];
  while (gc->works_count < procs) {
    bool works = works_on(gc, world_proc(w, gc->works_count, false));
    GROW(gc->works, gc->works_count, gc->works_capacity);
    gc->works[gc->works_count++] = works;
    gc->busy += works;
  }
  gc->procs = (uint32_t)procs;
  if (!gc->first_procs) gc->first_procs = gc->procs;
}

/* A goroutine has the proc from now on; NULL: none has it, or none of the collector's. */
static void set_owner(collector *gc, const proc *p, const goroutine *g) {
  bool works = g && collector_of(gc, g)->collects;
  if (!p || p->id >= GOTRACE_FAKE_PROC) return;
  while (!gc->procs && works && gc->works_count <= p->id) {
    GROW(gc->works, gc->works_count, gc->works_capacity);
    gc->works[gc->works_count++] = false;
  }
  if (p->id >= gc->works_count) return;
  gc->busy = gc->busy - gc->works[p->id] + works;
  gc->works[p->id] = works;
}

/* The proc that a goroutine has; NULL: none. */
static const proc *proc_of(const goroutine *g) { return g && executes(g->status) && g->m ? g->m->p : NULL; }

/* A goroutine begins or ends to work for the collector. */
static void set_work(collector *gc, const goroutine *g, uint8_t work, bool begins) {
  collector_go *of;
  if (!g) return;
  of = collector_of(gc, g);
  of->collects = (uint8_t)(begins ? of->collects | work : of->collects & ~work);
  gc->any |= begins;
  set_owner(gc, proc_of(g), g);
}

/* The operation starts or stops a goroutine. A background worker has its label until it stops. The runtime gives it
 * another one whenever it starts. */
static void change_go(collector *gc, const op *o, const goroutine *g) {
  uint8_t status = status_after(o);
  if (executes(status)) {
    set_owner(gc, o->m ? o->m->p : NULL, g);
    return;
  }
  set_owner(gc, proc_of(g), NULL);
  collector_of(gc, g)->collects &= (uint8_t)(status == GO_NONE ? 0 : ~COLLECTOR_WORKER);
}

/* The trace shows only now that something was active on a proc since it began: corrects all changes so far. */
static void was_active(collector *gc) {
  size_t i;
  for (i = 0; i < gc->count; i++) gc->changes[i].busy += gc->changes[i].busy != ALL;
}

static bool is_worker(uint32_t label) {
  pool_text text = pool_text_of(label);
  return text.size >= 3 && memcmp(text.data, "GC ", 3) == 0 && !pool_text_is(label, "GC (idle)");
}

static bool is_collectors(uint32_t pause_reason_name) {
  pool_text text = pool_text_of(pause_reason_name);
  return memmem(text.data, text.size, "GC", 2) != NULL;
}

/* An operation that may change which procs the collector has. */
static void take_utilization(collector *gc, world *w, const op *o, int64_t from) {
  const goroutine *own = o->m ? o->m->g : NULL, *g = subject_of(w, o);
  if (!gc->count) add_change(gc, from, 0, from);
  switch (o->kind) {
  case GOTRACE_V2_PROCS_CHANGE: set_procs(gc, w, o->id); break;
  case GOTRACE_V2_STW_BEGIN: gc->stopped += is_collectors(o->name); break;
  case GOTRACE_V2_STW_END: gc->stopped -= own && is_collectors(collector_of(gc, own)->stw_reason); break;
  case SCAN_START: gc->stopped++; break; /* up to Go 1.9, marking ends with this while the world is stopped */
  case SCAN_DONE: gc->stopped -= gc->stopped > 0; break;
  case GOTRACE_V2_GC_MARK_ASSIST_BEGIN: set_work(gc, own, COLLECTOR_ASSIST, true); break;
  case GOTRACE_V2_GC_MARK_ASSIST_END: set_work(gc, own, COLLECTOR_ASSIST, false); break;
  case GOTRACE_V2_GC_MARK_ASSIST_ACTIVE:
    if (w->generation > 1) return; /* the state is known already */
    g = world_go(w, o->id);
    if (proc_of(g)) was_active(gc);
    set_work(gc, g, COLLECTOR_ASSIST, true);
    break;
  case GOTRACE_V2_GO_LABEL: set_work(gc, own, COLLECTOR_WORKER, is_worker(o->name)); break;
  case GOTRACE_V2_PROC_STOP: set_owner(gc, o->m ? o->m->p : NULL, NULL); break;
  case GOTRACE_V2_PROC_STEAL: set_owner(gc, world_proc(w, o->id, false), NULL); break;
  default:
    if (!g || !changes_go(o->kind)) return;
    change_go(gc, o, g);
  }
  add_change(gc, o->time, gc->stopped > 0 ? ALL : gc->busy, from);
}

/* The integral of utilization from the beginning to a time. `at`: index of the change in effect; times must not
 * decrease from call to call. */
static double integral(const collector *gc, const double *sums, int64_t time, size_t *at) {
  while (*at + 1 < gc->count && gc->changes[*at + 1].time <= time) ++*at;
  return sums[*at] + share_of(gc, &gc->changes[*at]) * (double)(time - gc->changes[*at].time);
}

/* As a window moves, its utilization is linear between the moments at which one of its edges meets a change. So the
 * minimum is at such a moment. */
double minimum_utilization(const collector *gc, int64_t window) {
  size_t left = 0, right = 0, i = 0, j = 0;
  double *sums, least = 1;
  int64_t first, last, time;
  if (gc->too_many || !gc->first_procs || gc->count < 2) return -1;
  first = gc->changes[0].time;
  last = gc->changes[gc->count - 1].time;
  if (window > last - first) window = last - first;
  if (window <= 0) return 0;
  sums = resize(NULL, gc->count * sizeof *sums);
  sums[0] = 0;
  for (i = 1; i < gc->count; i++)
    sums[i] = sums[i - 1] + share_of(gc, &gc->changes[i - 1]) * (double)(gc->changes[i].time - gc->changes[i - 1].time);
  for (i = 0, time = first; time <= last - window;) {
    double value = (integral(gc, sums, time + window, &right) - integral(gc, sums, time, &left)) / (double)window;
    if (value < least) least = value;
    while (i < gc->count && gc->changes[i].time <= time) i++;
    while (j < gc->count && gc->changes[j].time - window <= time) j++;
    if (i == gc->count && j == gc->count) break;
    time = i < gc->count ? gc->changes[i].time : INT64_MAX;
    if (j < gc->count && gc->changes[j].time - window < time) time = gc->changes[j].time - window;
  }
  free(sums);
  return least < 0 ? 0 : least;
}

double collector_share(const collector *gc) {
  double left = 0;
  size_t i;
  int64_t whole;
  if (gc->too_many || !gc->first_procs || gc->count < 2) return 0;
  whole = gc->changes[gc->count - 1].time - gc->changes[0].time;
  for (i = 1; i < gc->count; i++)
    left += share_of(gc, &gc->changes[i - 1]) * (double)(gc->changes[i].time - gc->changes[i - 1].time);
  return 1 - left / (double)whole;
}

/* --------------------------------------------------------------------------------------------------- consumer ---- */

/* Whether a kind matters before any goroutine has worked for the collector. */
static bool begins_something(unsigned kind) {
  switch (change_specs[kind].kind) {
  case GOTRACE_CHANGE_RANGE_BEGIN:
  case GOTRACE_CHANGE_RANGE_ACTIVE:
  case GOTRACE_CHANGE_RANGE_END: return change_specs[kind].object != GOTRACE_OBJECT_PROC; /* not a sweep */
  case GOTRACE_CHANGE_LABEL: return true;
  default: return kind == GOTRACE_V2_PROCS_CHANGE || kind == SCAN_START || kind == SCAN_DONE;
  }
}

bool collector_ignores(collector *gc, world *w, const op *o) {
  const goroutine *g;
  if (!gc->any) return true;
  if (gc->busy || !gc->count) return false;
  g = subject_of(w, o);
  return !g || !collector_of(gc, g)->collects;
}

void collector_take(collector *gc, world *w, const op *o, int64_t from) {
  const goroutine *g;
  if (!gc->any && !begins_something(o->kind)) return;
  g = o->m ? o->m->g : NULL;
  switch (o->kind) {
  case GOTRACE_V2_STW_BEGIN:
    if (g) collector_of(gc, g)->stw_since = o->time, collector_of(gc, g)->stw_reason = o->name;
    break;
  case GOTRACE_V2_STW_END:
    if (g && g->stw) end_pause(gc, g, from, o->time);
    break;
  case GOTRACE_V2_GC_BEGIN:
  case GOTRACE_V2_GC_ACTIVE:
    if (!w->gc) gc->collecting = o->kind == GOTRACE_V2_GC_BEGIN ? o->time : w->sync;
    break;
  case GOTRACE_V2_GC_END:
    if (w->gc) end_collection(gc, from, o->time);
    break;
  default: break;
  }
  take_utilization(gc, w, o, from);
}

void collector_end(collector *gc, const world *w, int64_t from, int64_t end) {
  const goroutine *g;
  for (g = w->live; g; g = g->next)
    if (g->stw) end_pause(gc, g, from, end);
  if (w->gc) end_collection(gc, from, end);
  gc->procs = ALL; /* marks the end; equal values would be one change */
  if (gc->count) add_change(gc, end, ALL, from);
}

void collector_free(collector *gc) {
  unsigned i;
  for (i = 0; i <= MOST_PAUSE_REASONS; i++) histogram_free(&gc->reasons[i].pauses);
  histogram_free(&gc->pauses);
  histogram_free(&gc->collections);
  free(gc->changes);
  free(gc->works);
}
