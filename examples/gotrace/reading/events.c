/* events.c - turns events into operations: see source.h
 *
 * An operation is almost the same as its event. Statuses are harder: in each generation of v2 a thread writes a status
 * where it first mentions a goroutine or proc, which may be long after the generation began. So find_start() searches
 * the whole first generation for the state in which the trace began. v1 begins with that state; its other events need
 * more: see fit.c. */

#include "source.h"

static thread *thread_of(source *s, int64_t m) { return m == GOTRACE_NO_ID ? NULL : world_thread(&s->w, (uint64_t)m); }

/* The operation of an event for which is_status() is true. */
static op status_of(source *s, const gotrace_event *e) {
  bool go = e->kind != GOTRACE_V2_PROC_STATUS;
  thread *m = thread_of(s, e->m);
  op o;
  if (!m && !s->to->as_go) m = world_thread(&s->w, NOBODY); /* even there, something may run */
  if (go) m = e->args[2] == GO_SYSCALL ? world_thread(&s->w, e->args[1]) : m;
  o = op_at(go ? GOTRACE_V2_GO_STATUS : GOTRACE_V2_PROC_STATUS, e->time, m);
  o.id = e->args[0];
  o.a[0] = e->args[go ? 2 : 1] & 0xff;
  o.a[1] = e->p == GOTRACE_NO_ID ? NOBODY : (uint64_t)e->p;
  if (go && o.a[0] == GO_WAITING && s->w.generation <= 1) o.name = old_wait(s, o.id);
  if (e->kind == GOTRACE_V2_GO_STATUS_STACK) o.stack = pool_take_stack(s->in->decoder, e->args[3]);
  return o;
}

static bool is_status(const gotrace_event *e) { return tells(e->kind); }

/* Whether a status concerns a known goroutine or proc, or is the status 0, which Go accepts and ignores. */
static bool world_has(source *s, const gotrace_event *status) {
  if (status->args[status->kind == GOTRACE_V2_PROC_STATUS ? 1 : 2] % 256 == 0) return true;
  if (status->kind != GOTRACE_V2_PROC_STATUS) return world_go(&s->w, status->args[0]) != NULL;
  return world_proc(&s->w, status->args[0], false) != NULL;
}

/* Whether a range is open when the generation begins. */
static bool is_active(const gotrace_event *e) { return change_specs[e->kind].kind == GOTRACE_CHANGE_RANGE_ACTIVE; }

/* Whether a status has held since the trace began: its thread has no earlier event. */
static bool was_so(source *s, const op *o) {
  bool bound = o->kind == GOTRACE_V2_GO_STATUS ? executes((unsigned)o->a[0])
                                               : o->a[0] == PROC_RUNNING || o->a[0] == PROC_SYSCALL;
  return !bound || (o->m && !*SIDE(bool, &s->seen, o->m->number));
}

/* A status in the first generation. True: it has held since the trace began, and is now applied. */
static bool scan_status(source *s, const gotrace_event *e, const map *created) {
  op o = status_of(s, e);
  o.time = s->first;
  if (e->extra != GOTRACE_STATUS_UNKNOWN || (o.kind == GOTRACE_V2_GO_STATUS && map_get(created, o.id))) return false;
  if (world_has(s, e) || !was_so(s, &o)) return false;
  name_new(s, &o);
  apply(&s->w, &o);
  return true;
}

/* Starts a generation: ids of texts and stacks get new meanings, and the last generation's experiment batches are
 * done. */
static void take_sync(source *s, const gotrace_event *e) {
  pool_forget_ids();
  s->w.generation++;
  s->w.experiment_count = 0;
  s->w.sync = e->time;
  if (!s->w.wall.seconds) s->w.wall = (wall_clock){e->args[2], e->args[3], (int64_t)e->args[0]};
}

static void take_experiment(source *s, const gotrace_event *e) {
  op o = op_at(e->kind, e->time, NULL);
  o.a[0] = e->args[0];
  o.a[1] = e->arg_count == 4 ? e->args[2] : NOBODY;
  o.value = pool_put_text(e->data, e->data_size);
  give(s, &o);
}

static void take_status(source *s, const gotrace_event *e) {
  op o = status_of(s, e);
  if (!world_has(s, e)) {
    name_new(s, &o);
    introduce(s, &o);
  } else if (s->to->told && s->w.generation <= 1 && o.kind == GOTRACE_V2_GO_STATUS && o.a[0] == GO_SYSCALL) {
    o.known = true;
    o.m = thread_of(s, e->m);
    give(s, &o);
  } else if (s->to->as_go && o.kind == GOTRACE_V2_GO_STATUS && o.a[0] == GO_RUNNING) {
    world_move(world_go(&s->w, o.id), o.m);
  }
}

void find_start(source *s) {
  gotrace_event e;
  unsigned syncs = 0;
  uint64_t procs = 0; /* the first number of them */
  bool assists = false;
  op open;
  map created = {0}; /* goroutines whose later statuses are not those of the start */
  thread *m;
  if (input_decode(s->in, false) != GOTRACE_OK) return;
  while (input_next(s->in, &e) == GOTRACE_OK) {
    if (e.kind == GOTRACE_V2_SYNC && ++syncs == 2) break;
    if (e.kind == GOTRACE_V2_PROCS_CHANGE && !procs) procs = e.args[0];
    if (s->beginning && procs) break;
    if (s->beginning) continue;
    source_first(s, &e);
    ask(s, &e);
    if (is_status(&e) && scan_status(s, &e, &created)) continue;
    if (is_active(&e)) {
      assists |= e.kind == GOTRACE_V2_GC_MARK_ASSIST_ACTIVE;
      open = event_op(s, &e, NULL); /* since before the trace began */
      apply(&s->w, &open);
      continue;
    }
    if (creates(e.kind)) map_put(&created, e.args[0], s);
    m = thread_of(s, e.m);
    if (m && e.kind != GOTRACE_V2_CPU_SAMPLE) *SIDE(bool, &s->seen, m->number) = true;
  }
  if (assists || s->beginning) s->w.gomaxprocs = procs; /* a writer must tell it before the assists */
  map_free(&created);
  pool_forget_ids();
  s->any = false;
}

/* A coroutine switch for a consumer that does not accept it. The first of its three operations; the implied events that
 * follow become the others. */
static void take_switch(source *s, const gotrace_event *e, thread *m) {
  op o = op_at(GOTRACE_V2_GO_UNBLOCK, e->time, m);
  o.id = e->args[0];
  o.switches = e->kind;
  give(s, &o);
}

/* A fast path for the most frequent events with consumer.as_go: without it, `info` takes a tenth longer for a trace
 * that consists of collections or system calls. It leaves out the stacks of goroutines whose function is known. True:
 * done. */
static bool take_often(source *s, const gotrace_event *e, thread *m) {
  op o = op_of(s, e->kind, e->time, m);
  switch (e->kind) {
  case GOTRACE_V2_GO_START:
  case GOTRACE_V2_GO_UNBLOCK: o.id = e->args[0]; break;
  case GOTRACE_V2_GO_STOP:
  case GOTRACE_V2_GO_BLOCK:
    if (!e->args[0] || !m || !m->g || !m->g->entry) return false;
    o.name = pool_take_text(s->in->decoder, e->args[0]);
    break;
  case GOTRACE_V2_GO_SYSCALL_BEGIN:
    if (!m || !m->g || !m->g->entry) return false;
    break;
  case GOTRACE_V2_GO_SYSCALL_END:
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED: break;
  default: return false;
  }
  give(s, &o);
  return true;
}

/* Before the part, and for a consumer that ignores them, the most frequent events only change the world. True: done. */
static bool apply_often(source *s, const gotrace_event *e, thread *m) {
  op o;
  switch (e->kind) {
  case GOTRACE_V2_GO_START:
  case GOTRACE_V2_GO_UNBLOCK:
    o = op_at(e->kind, e->time, m);
    o.id = e->args[0];
    break;
  case GOTRACE_V2_GO_STOP:
  case GOTRACE_V2_GO_BLOCK:
    o = op_at(e->kind, e->time, m);
    o.name = pool_take_text(s->in->decoder, e->args[0]);
    break;
  default: return false;
  }
  if (e->stack) o.stack = pool_take_stack(s->in->decoder, e->stack);
  apply(&s->w, &o);
  return true;
}

/* Whether operations have no effect but on the world. */
static bool is_quiet(const source *s, const gotrace_event *e) {
  const consumer *to = s->to;
  if (to->as_go || s->in_file || e->implied) return false;
  return s->begun ? to->quiet && !to->stretch && !s->over : !to->before && between(s->first, e->time) < s->from;
}

/* An event that fits the world. */
static void take_fitted(source *s, const gotrace_event *e, thread *m) {
  switch (e->kind) {
  case GOTRACE_V2_GO_SWITCH:
  case GOTRACE_V2_GO_SWITCH_DESTROY:
    if (s->to->switches) give_event(s, e, m);
    else take_switch(s, e, m);
    break;
  case GOTRACE_V2_HEAP_ALLOC:
  case GOTRACE_V2_HEAP_GOAL:
    if (!s->to->as_go) give_event(s, e, m);
    break;
  case GOTRACE_V2_CPU_SAMPLE:
    if (!s->to->as_go) give_sample(s, e);
    break;
  case GOTRACE_V2_EXPERIMENTAL_BATCH: take_experiment(s, e); break;
  case GOTRACE_V2_SYNC: take_sync(s, e); break;
  default:
    if (is_status(e)) take_status(s, e);
    else if (s->to->as_go || !is_active(e)) give_event(s, e, m);
    break;
  }
}

void take_event(source *s, const gotrace_event *e) {
  thread *m = NULL;
  name_own(s, e);
  s->in_file = kind_of_file(e);
  if (s->in_file) {
    if (!fit(s, e, &m)) return;
  } else {
    m = thread_of(s, e->m); /* adds the thread to the world, whatever the event */
    s->event = e;
    if (e->implied && !s->to->as_go && (s->to->switches || e->kind == GOTRACE_V2_PROC_STEAL))
      return; /* belongs to an event that is taken as a whole */
  }
  if (s->to->as_go && (s->in_file || !e->implied) && take_often(s, e, m)) return;
  if (is_quiet(s, e) && apply_often(s, e, m)) return;
  take_fitted(s, e, m);
}

void take_later_state(source *s, const gotrace_event *e) {
  s->over = false;
  while (s->beginning ? !ends_beginning(e) : e->kind != GOTRACE_V2_SYNC) {
    gotrace_event told = *e;
    const goroutine *g = names_go(e->kind) ? world_go(&s->w, e->args[0]) : NULL;
    told.time = s->first + s->until;
    if (is_active(e)) give_event(s, &told, g ? g->m : NULL); /* it has been so where the goroutine runs */
    else if (is_status(e) && (s->beginning || (e->extra == GOTRACE_STATUS_UNKNOWN && !world_has(s, e))))
      take_event(s, &told); /* otherwise it began later */
    if (source_next(s, &e) != GOTRACE_OK) break;
  }
  s->over = true;
}
