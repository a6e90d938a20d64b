/* keep.c - only some goroutines of a trace: see keep.h
 *
 * In the kept world, a thread runs no goroutine while it really runs one that is not kept, and a proc that such a
 * goroutine takes into a system call keeps running. All operations are given with the threads, procs and goroutines of
 * that world, so a writer cannot tell it from the real one. */

#include "keep.h"

/* ------------------------------------------------------------------------------------------------------ choice ---- */

typedef struct chooser {
  consumer c;
  keeper *k;
  filter selection;
} chooser;

static void choose(chooser *by, const goroutine *g) {
  if (g && filter_goroutine(&by->selection, g)) map_put(&by->k->kept, g->id, by->k);
}

/* An operation is also selected for the goroutine that it creates or unblocks, which does not select the one on which
 * it happens: choose() checks --go and --function of that one, and --task needs an event about the task. */
static void choose_by_op(consumer *c, const op *o) {
  chooser *by = (chooser *)c;
  if (!by->selection.any_task || change_has_task(change_specs[o->kind].kind)) choose(by, o->m ? o->m->g : NULL);
}

static void choose_by_stretch(consumer *c, const stretch *part) { choose((chooser *)c, part->g); }

static void ignore(consumer *c, int64_t time) { (void)c, (void)time; }

void keeper_choose(keeper *k, input *in, const settings *set) {
  source s;
  chooser by;
  gotrace_result result;
  memset(&s, 0, sizeof s);
  memset(&by, 0, sizeof by);
  by.k = k;
  by.c.begin = by.c.end = ignore;
  by.c.take = choose_by_op;
  by.c.stretch = choose_by_stretch;
  by.c.later = true;
  s.index = set->index;
  filter_open(&by.selection, set);
  by.c.filter = &by.selection;
  result = source_run(&s, in, &by.c, set->from, set->until, NULL, NULL);
  /* With --partial, the next reading reports the error. */
  if (result != GOTRACE_END_OF_TRACE && !(set->partial && s.begun)) source_broken(&s, set);
  if (source_nothing(&s)) fail("%s", source_nothing(&s));
  filter_require(&by.selection, &s.w);
  filter_close(&by.selection);
  source_free(&s);
}

/* -------------------------------------------------------------------------------------------------- kept world ---- */

static bool is_kept(const keeper *k, uint64_t id) { return map_get(&k->kept, id) != NULL; }

static bool runs_kept(const keeper *k, const thread *m) { return m && m->g && is_kept(k, m->g->id); }

static thread *kept_thread(keeper *k, const thread *m) { return m ? world_thread(&k->w, m->id) : NULL; }

static void share_modules(keeper *k) {
  k->w.modules = k->c.w->modules;
  k->w.module_count = k->c.w->module_count;
}

static void give_kept(keeper *k, const op *o) {
  share_modules(k);
  k->to->take(k->to, o);
  apply(&k->w, o);
  k->c.statuses = k->to->statuses;
}

static void give_kind(keeper *k, const op *like, unsigned kind) {
  op o = *like;
  o.kind = kind;
  give_kept(k, &o);
}

/* The status of a proc: one that is in a system call of a goroutine that is not kept runs. */
static uint64_t proc_status_of(const keeper *k, uint64_t status, const thread *m) {
  return status == PROC_SYSCALL && !runs_kept(k, m) ? PROC_RUNNING : status;
}

/* Stops a proc that runs, in the kept world only. */
static void stop_proc(keeper *k, const proc *p, int64_t time) {
  op o = op_at(GOTRACE_V2_PROC_STOP, time, p->m);
  if (p->m && p->status == PROC_RUNNING) give_kept(k, &o);
}

/* ------------------------------------------------------------------------------------------------- operations ---- */

/* An operation about a proc. If that is not where the kept world has it, a system call was left out. */
static void take_proc(keeper *k, op *o) {
  proc *p = names_proc(o->kind) ? world_proc(&k->w, o->id, true) : o->m ? o->m->p : NULL;
  if (!p) return;
  switch (o->kind) {
  case GOTRACE_V2_PROC_STEAL:
    if (p->status == PROC_SYSCALL || p->status == PROC_ABANDONED) give_kept(k, o);
    else stop_proc(k, p, o->time);
    return;
  case GOTRACE_V2_PROC_START:
    stop_proc(k, p, o->time);
    if (o->m && o->m->p) stop_proc(k, o->m->p, o->time);
    break;
  default: break;
  }
  give_kept(k, o);
}

/* A switch of coroutines, of which one may not be kept. `from`: the one that is left is kept. */
static void take_switch(keeper *k, op *o, bool from) {
  bool to = is_kept(k, o->id), ends = o->kind == GOTRACE_V2_GO_SWITCH_DESTROY;
  if (from && to) {
    give_kept(k, o);
    return;
  }
  if (to) give_kind(k, o, GOTRACE_V2_GO_UNBLOCK);
  if (from) o->name = pool_put_string("unspecified");
  if (from) give_kind(k, o, ends ? GOTRACE_V2_GO_DESTROY : GOTRACE_V2_GO_BLOCK);
  if (to) give_kind(k, o, GOTRACE_V2_GO_START);
}

/* Another goroutine has changed the number of procs, which only a running one can tell. */
static void tell_procs(keeper *k, const op *start) {
  op o = op_at(GOTRACE_V2_PROCS_CHANGE, start->time, start->m);
  o.id = k->w.gomaxprocs;
  k->procs_due = false;
  give_kept(k, &o);
}

/* An operation that creates, starts or otherwise changes a kept goroutine. */
static void take_named(keeper *k, const op *o) {
  const goroutine *real = world_go(k->c.w, o->id);
  goroutine *g;
  give_kept(k, o);
  g = world_go(&k->w, o->id);
  if (!g) return;
  if (real) g->timer = real->timer;
  if (o->kind == GOTRACE_V2_GO_START && k->procs_due) tell_procs(k, o);
}

static void keeper_take(consumer *c, const op *given) {
  keeper *k = (keeper *)c;
  bool own = runs_kept(k, given->m);
  op o = *given;
  o.m = kept_thread(k, given->m);
  switch (o.kind) {
  case GOTRACE_V2_GO_SWITCH:
  case GOTRACE_V2_GO_SWITCH_DESTROY: take_switch(k, &o, own); return;
  case GOTRACE_V2_PROC_STATUS: o.a[0] = proc_status_of(k, o.a[0], given->m); /* fall through */
  case GOTRACE_V2_PROC_START:
  case GOTRACE_V2_PROC_STOP:
  case GOTRACE_V2_PROC_STEAL: take_proc(k, &o); return;
  case GOTRACE_V2_PROCS_CHANGE:
    k->procs_due = !own;
    if (own) give_kept(k, &o);
    else k->w.gomaxprocs = o.id;
    return;
  case GOTRACE_V2_GC_END: /* usually on another goroutine than the one that began the collection */
    if (own || k->w.gc) give_kept(k, &o);
    return;
  case GOTRACE_V2_CPU_SAMPLE:
    if (is_kept(k, o.a[2])) give_kept(k, &o);
    return;
  default: break;
  }
  if (names_go(o.kind)) {
    if (is_kept(k, o.id)) take_named(k, &o);
  } else if (own) {
    give_kept(k, &o);
  }
}

/* ----------------------------------------------------------------------------------------------- begin and end ---- */

static void copy_procs(keeper *k, int64_t time) {
  const proc *p;
  for (p = k->c.w->proc_list; p; p = p->next) {
    op o = op_at(GOTRACE_V2_PROC_STATUS, time, kept_thread(k, p->m));
    if (p->status == PROC_NONE) continue;
    o.id = p->id;
    o.a[0] = proc_status_of(k, p->status, p->m);
    apply(&k->w, &o);
    world_proc(&k->w, p->id, true)->sweep = p->sweep && runs_kept(k, p->m);
  }
}

static void copy_gos(keeper *k, int64_t time) {
  const goroutine *g;
  for (g = k->c.w->live; g; g = g->next) {
    op o = op_at(GOTRACE_V2_GO_STATUS, time, kept_thread(k, g->m));
    goroutine *made;
    if (!is_kept(k, g->id)) continue;
    o.id = g->id;
    o.a[0] = g->status;
    o.stack = g->stack;
    o.new_stack = g->entry;
    apply(&k->w, &o);
    made = world_go(&k->w, g->id);
    made->reason = g->reason;
    made->assist = g->assist;
    made->timer = g->timer;
    made->label = g->label;
  }
}

static void keeper_start(consumer *c, int64_t time) {
  keeper *k = (keeper *)c;
  const world *real = c->w;
  k->to->w = &k->w;
  k->to->told = c->told;
  k->to->input = c->input;
  k->to->base = c->base;
  k->to->from = c->from;
  k->w.gomaxprocs = real->gomaxprocs;
  k->w.wall = real->wall;
  copy_procs(k, time);
  copy_gos(k, time);
  k->to->begin(k->to, time);
  k->c.statuses = k->to->statuses;
}

static void keeper_end(consumer *c, int64_t time) {
  keeper *k = (keeper *)c;
  share_modules(k);
  k->to->end(k->to, time);
}

void keeper_begin(keeper *k, consumer *to) {
  k->to = to;
  k->c = *to;
  k->c.begin = keeper_start;
  k->c.take = keeper_take;
  k->c.end = keeper_end;
}

void keeper_free(keeper *k) {
  k->w.modules = NULL; /* they are the real world's */
  world_free(&k->w);
  map_free(&k->kept);
}
