/* read_v2.c - turns the events of Go 1.22 and later into operations: see source.h
 *
 * An operation is almost the same as its event, so most events are copied as v2_arguments tells. Statuses are harder:
 * in each generation a thread writes a status where it first mentions a goroutine or proc, which may be long after the
 * generation began. So scan_v2() searches the whole first generation for the state in which the trace began. */

#include "source.h"

const char *const v2_arguments[256] = {
    [GOTRACE_V2_PROCS_CHANGE] = "iS",
    [GOTRACE_V2_PROC_START] = "i.",
    [GOTRACE_V2_PROC_STOP] = "",
    [GOTRACE_V2_PROC_STEAL] = "i..",
    [GOTRACE_V2_GO_CREATE] = "iNS",
    [GOTRACE_V2_GO_CREATE_SYSCALL] = "i",
    [GOTRACE_V2_GO_START] = "i.",
    [GOTRACE_V2_GO_DESTROY] = "",
    [GOTRACE_V2_GO_DESTROY_SYSCALL] = "",
    [GOTRACE_V2_GO_STOP] = "nS",
    [GOTRACE_V2_GO_BLOCK] = "nS",
    [GOTRACE_V2_GO_UNBLOCK] = "i.S",
    [GOTRACE_V2_GO_SYSCALL_BEGIN] = ".S",
    [GOTRACE_V2_GO_SYSCALL_END] = "",
    [GOTRACE_V2_GO_SYSCALL_END_BLOCKED] = "",
    [GOTRACE_V2_STW_BEGIN] = ".S",
    [GOTRACE_V2_STW_END] = "",
    [GOTRACE_V2_GC_BEGIN] = ".S",
    [GOTRACE_V2_GC_END] = ".",
    [GOTRACE_V2_GC_SWEEP_BEGIN] = "S",
    [GOTRACE_V2_GC_SWEEP_END] = "ab",
    [GOTRACE_V2_GC_MARK_ASSIST_BEGIN] = "S",
    [GOTRACE_V2_GC_MARK_ASSIST_END] = "",
    [GOTRACE_V2_HEAP_ALLOC] = "a",
    [GOTRACE_V2_HEAP_GOAL] = "a",
    [GOTRACE_V2_GO_LABEL] = "n",
    [GOTRACE_V2_USER_TASK_BEGIN] = "ianS",
    [GOTRACE_V2_USER_TASK_END] = "iS",
    [GOTRACE_V2_USER_REGION_BEGIN] = "inS",
    [GOTRACE_V2_USER_REGION_END] = "inS",
    [GOTRACE_V2_USER_LOG] = "invS",
    [GOTRACE_V2_GO_SWITCH] = "i.",
    [GOTRACE_V2_GO_SWITCH_DESTROY] = "i.",
    [GOTRACE_V2_GO_CREATE_BLOCKED] = "iNS",
    [GOTRACE_V2_SPAN] = "abc",
    [GOTRACE_V2_SPAN_ALLOC] = "abc",
    [GOTRACE_V2_SPAN_FREE] = "a",
    [GOTRACE_V2_HEAP_OBJECT] = "ab",
    [GOTRACE_V2_HEAP_OBJECT_ALLOC] = "ab",
    [GOTRACE_V2_HEAP_OBJECT_FREE] = "a",
    [GOTRACE_V2_GOROUTINE_STACK] = "ab",
    [GOTRACE_V2_GOROUTINE_STACK_ALLOC] = "ab",
    [GOTRACE_V2_GOROUTINE_STACK_FREE] = "a",
};

static void take_arguments(const gotrace_decoder *d, const gotrace_event *e, const char *letters, op *o) {
  const uint64_t *argument = e->args;
  for (; *letters; letters++, argument++) {
    switch (*letters) {
    case 'i': o->id = *argument; break;
    case 'a': o->a[0] = *argument; break;
    case 'b': o->a[1] = *argument; break;
    case 'c': o->a[2] = *argument; break;
    case 'n': o->name = pool_take_text(d, *argument); break;
    case 'v': o->value = pool_take_text(d, *argument); break;
    case 'N': o->new_stack = pool_take_stack(d, *argument); break;
    case 'S': o->stack = pool_take_stack(d, *argument); break;
    default: break;
    }
  }
}

static thread *source_thread(source *s, int64_t m) {
  return m == GOTRACE_NO_ID ? NULL : world_thread(&s->w, (uint64_t)m);
}

/* The operation of an event for which is_status() is true. */
static op status_of(source *s, const gotrace_event *e) {
  bool go = e->kind != GOTRACE_V2_PROC_STATUS;
  thread *m = source_thread(s, e->m);
  op o;
  if (!m && !s->to->as_go) m = world_thread(&s->w, NOBODY); /* even there, something may run */
  if (go) m = e->args[2] == GO_SYSCALL ? world_thread(&s->w, e->args[1]) : m;
  o = op_at(go ? GOTRACE_V2_GO_STATUS : GOTRACE_V2_PROC_STATUS, e->time, m);
  o.id = e->args[0];
  o.a[0] = e->args[go ? 2 : 1] & 0xff;
  o.a[1] = e->p == GOTRACE_NO_ID ? NOBODY : (uint64_t)e->p;
  if (e->kind == GOTRACE_V2_GO_STATUS_STACK) o.stack = pool_take_stack(s->in->decoder, e->args[3]);
  return o;
}

static bool is_status(const gotrace_event *e) { return op_specs[e->kind].does & OP_TELLS; }

/* Whether a status concerns a known goroutine or proc, or is the status 0, which Go accepts and ignores. */
static bool world_has(source *s, const gotrace_event *status) {
  if (status->args[status->kind == GOTRACE_V2_PROC_STATUS ? 1 : 2] % 256 == 0) return true;
  if (status->kind != GOTRACE_V2_PROC_STATUS) return world_go(&s->w, status->args[0]) != NULL;
  return world_proc(&s->w, status->args[0], false) != NULL;
}

/* Whether a range is open when the generation begins. */
static bool is_active(const gotrace_event *e) { return op_specs[e->kind].change == GOTRACE_CHANGE_RANGE_ACTIVE; }

/* A range that was open when the trace began. */
static void scan_active(source *s, const gotrace_event *e) {
  op o = op_at(e->kind, e->time, NULL);
  o.id = e->args[0];
  apply(&s->w, &o);
}

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
    o.kind = OP_STATUS_TOLD;
    o.m = source_thread(s, e->m);
    give(s, &o);
  } else if (s->to->as_go && o.kind == GOTRACE_V2_GO_STATUS && o.a[0] == GO_RUNNING) {
    world_move(world_go(&s->w, o.id), o.m);
  }
}

/* An event whose arguments are copied. */
static void take_plain(source *s, const gotrace_event *e, thread *m) {
  op o = op_at(e->kind, e->time, m);
  if (!v2_arguments[e->kind]) return;
  take_arguments(s->in->decoder, e, v2_arguments[e->kind], &o);
  if (e->data) o.name = pool_put_text(e->data, e->data_size);
  if (e->implied && e->kind != GOTRACE_V2_PROC_STEAL) o.name = pool_put_string(SWITCH_REASON);
  if (e->kind == GOTRACE_V2_USER_TASK_BEGIN && o.a[0] == NOBODY) o.a[0] = 0;
  if (e->kind == GOTRACE_V2_USER_REGION_END) o.a[0] = (uint64_t)e->extra;
  if (e->kind == GOTRACE_V2_USER_TASK_END) o.ends_again = ahead_ends_again(&s->ahead, e);
  if (creates(e->kind)) name_new(s, &o);
  give(s, &o);
  if (e->kind == GOTRACE_V2_USER_REGION_END) note_region_end(s, &o);
}

void scan_v2(source *s) {
  gotrace_event e;
  unsigned syncs = 0;
  uint64_t procs = 0; /* the first number of them */
  bool assists = false;
  map created = {0}; /* goroutines whose later statuses are not those of the start */
  thread *m;
  if (input_decode(s->in, false) != GOTRACE_OK) return;
  while (input_next(s->in, &e) == GOTRACE_OK) {
    if (e.kind == GOTRACE_V2_SYNC && ++syncs == 2) break;
    source_first(s, &e);
    s->change_count = gotrace_decoder_changes(s->in->decoder, &e, s->changes);
    if (is_status(&e) && scan_status(s, &e, &created)) continue;
    if (is_active(&e)) {
      assists |= e.kind == GOTRACE_V2_GC_MARK_ASSIST_ACTIVE;
      scan_active(s, &e);
      continue;
    }
    if (creates(e.kind)) map_put(&created, e.args[0], s);
    if (e.kind == GOTRACE_V2_PROCS_CHANGE && !procs) procs = e.args[0];
    m = source_thread(s, e.m);
    if (m && e.kind != GOTRACE_V2_CPU_SAMPLE) *SIDE(bool, &s->seen, m->number) = true;
  }
  if (assists) s->w.gomaxprocs = procs; /* a writer must tell it before the assists */
  map_free(&created);
  pool_forget_ids();
  s->any = false;
}

/* A coroutine switch for a consumer that does not accept it. The first of its three operations; the implied events that
 * follow become the others. True: done. */
static bool take_switch(source *s, const gotrace_event *e, thread *m) {
  op o = op_at(GOTRACE_V2_GO_UNBLOCK, e->time, m);
  if (s->to->switches || (e->kind != GOTRACE_V2_GO_SWITCH && e->kind != GOTRACE_V2_GO_SWITCH_DESTROY)) return false;
  o.id = e->args[0];
  o.switches = e->kind;
  give(s, &o);
  return true;
}

/* Events that become operations with consumer.as_go. True: done. */
static bool take_as_go(source *s, const gotrace_event *e, thread *m) {
  op o;
  if (!is_active(e)) return false;
  o = op_at(e->kind, e->time, m);
  o.id = e->args[0];
  give(s, &o);
  return true;
}

/* A fast path for the most frequent events with consumer.as_go. It differs from the general path in two ways: it leaves
 * out heap sizes and CPU samples, and the stacks of goroutines whose function is known. True: done. */
static bool take_often(source *s, const gotrace_event *e, thread *m) {
  op o = op_at(e->kind, e->time, m);
  switch (e->kind) {
  case GOTRACE_V2_GO_START:
  case GOTRACE_V2_GO_UNBLOCK: o.id = e->args[0]; break;
  case GOTRACE_V2_GO_STOP:
  case GOTRACE_V2_GO_BLOCK:
    if (!m || !m->g || !m->g->entry) return false;
    o.name = pool_take_text(s->in->decoder, e->args[0]);
    break;
  case GOTRACE_V2_GO_SYSCALL_BEGIN:
    if (!m || !m->g || !m->g->entry) return false;
    break;
  case GOTRACE_V2_GO_SYSCALL_END:
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED: break;
  case GOTRACE_V2_HEAP_ALLOC:
  case GOTRACE_V2_HEAP_GOAL:
  case GOTRACE_V2_CPU_SAMPLE: return true;
  default: return false;
  }
  give(s, &o);
  return true;
}

void take_v2(source *s, const gotrace_event *e) {
  thread *m = source_thread(s, e->m); /* adds the thread to the world, whatever the event */
  s->event = e;
  name_own(s, e);
  if (s->to->as_go) {
    if (!e->implied && take_often(s, e, m)) return;
    if (take_as_go(s, e, m)) return;
  } else if (e->implied && (s->to->switches || e->kind == GOTRACE_V2_PROC_STEAL)) {
    return; /* belongs to an event that is taken as a whole */
  }
  if (take_switch(s, e, m)) return;
  if (e->kind == GOTRACE_V2_EXPERIMENTAL_BATCH) take_experiment(s, e);
  else if (e->kind == GOTRACE_V2_SYNC) take_sync(s, e);
  else if (e->kind == GOTRACE_V2_CPU_SAMPLE) give_sample(s, e);
  else if (is_status(e)) take_status(s, e);
  else take_plain(s, e, m);
}

void take_later_state(source *s, const gotrace_event *e) {
  s->over = false;
  while (e->kind != GOTRACE_V2_SYNC) {
    bool active = is_active(e);
    if (active || (is_status(e) && e->extra == GOTRACE_STATUS_UNKNOWN && !world_has(s, e))) { /* else it began later */
      gotrace_event told = *e;
      const goroutine *g = names_go(e->kind) ? world_go(&s->w, e->args[0]) : NULL;
      told.time = s->first + s->until;
      if (active) take_as_go(s, &told, g ? g->m : NULL); /* it has been so where the goroutine runs */
      else take_status(s, &told);
    }
    if (source_next(s, &e) != GOTRACE_OK) break;
  }
  s->over = true;
}
