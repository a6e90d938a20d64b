/* write_v2.c - writes traces of Go 1.22 and later: see writer.h
 *
 * An operation becomes the event of the same kind, in the batch of its thread. Each generation begins with the statuses
 * of all goroutines and procs. If the input does not tell the thread, proc or goroutine of an event that must have one,
 * a helper thread with a proc and, if needed, a goroutine is borrowed for it. */

#include "writer.h"

#include <stdlib.h>

static void v2_event(writer *w, thread *m, unsigned kind, int64_t time, const uint64_t *arguments, unsigned count) {
  uint64_t tick = tick_of(w, time);
  size_t before;
  unsigned i;
  if (m->batch.size + MOST_EVENT > GOTRACE_MAX_BATCH_SIZE) v2_batch(w, m->id, m->start, &m->batch);
  if (!m->batch.size) m->start = m->tick = tick;
  if (tick < m->tick) tick = m->tick;
  before = m->batch.size;
  put_byte(&m->batch, kind);
  put_number(&m->batch, tick - m->tick);
  for (i = 0; i < count; i++) put_number(&m->batch, arguments[i]);
  m->tick = tick;
  if (tick > w->latest) w->latest = tick;
  w->event_bytes += m->batch.size - before;
}

#define V2_EVENT(w, m, kind, time, ...)                               \
  v2_event((w), (m), (kind), (time), (const uint64_t[]){__VA_ARGS__}, \
           (unsigned)COUNT(((const uint64_t[]){__VA_ARGS__})))

/* The batch that begins a generation: the clock's frequency and, from 1.25 on, the time of the clocks. */
static void v2_start_sync(writer *w, int64_t time) {
  bytes sync = {0};
  uint64_t tick = tick_of(w, time);
  uint64_t wall =
      w->c.w->wall_seconds * FREQUENCY + w->c.w->wall_nanoseconds + (uint64_t)time - (uint64_t)w->c.w->wall_time;
  if (!w->c.w->wall_seconds) wall = 0; /* unknown */
  if (w->c.format >= GOTRACE_GO_1_25) put_byte(&sync, GOTRACE_V2_SYNC);
  put_byte(&sync, GOTRACE_V2_FREQUENCY);
  put_number(&sync, FREQUENCY);
  if (w->c.format >= GOTRACE_GO_1_25) {
    put_byte(&sync, GOTRACE_V2_CLOCK_SNAPSHOT);
    put_number(&sync, 0);
    put_number(&sync, tick);
    put_number(&sync, wall / FREQUENCY);
    put_number(&sync, wall % FREQUENCY);
  }
  v2_batch(w, NOBODY, tick, &sync);
  free(sync.data);
}

/* The stack of a status: the one with which the goroutine waits, if its outermost function is the one it began with;
 * otherwise that function alone. Readers name goroutines by it. */
static uint32_t v2_status_stack(const goroutine *g) {
  pool_stack entry = pool_stack_of(g->entry), stack = pool_stack_of(g->stack);
  bool tells =
      stack.count && (!entry.count || entry.frames[entry.count - 1].function == stack.frames[stack.count - 1].function);
  return tells ? g->stack : g->entry;
}

static void v2_go_status(writer *w, thread *on, const goroutine *g, uint64_t m, int64_t time) {
  uint32_t stack = v2_status_stack(g);
  if (w->c.format >= GOTRACE_GO_1_23 && stack)
    V2_EVENT(w, on, GOTRACE_V2_GO_STATUS_STACK, time, g->id, m, g->status, use_stack(w, stack));
  else V2_EVENT(w, on, GOTRACE_V2_GO_STATUS, time, g->id, m, g->status);
  w->lost[LOST_NAMES] += w->c.format < GOTRACE_GO_1_23 && w->c.input != GOTRACE_GO_1_22 && stack && w->generation == 1;
  if (g->assist) V2_EVENT(w, on, GOTRACE_V2_GC_MARK_ASSIST_ACTIVE, time, g->id);
}

static thread *v2_helper(writer *w) {
  if (!w->helper) w->helper = fresh_thread(w->c.w);
  return w->helper;
}

/* The statuses of procs and goroutines that are bound to a thread, each on its own thread. Returns one of these
 * threads, or the helper. */
static thread *v2_bound_statuses(writer *w, int64_t time) {
  thread *m, *any = NULL;
  for (m = w->c.w->thread_list; m; m = m->next) {
    if (!m->p && !m->g) continue;
    if (m->g && w->generation == 1 && w->c.family == 2 && m->g->status == GO_SYSCALL && !m->p && time == w->c.base) {
      m->g->untold = true;
      w->untold++;
      continue; /* its status must be the first event on its thread */
    }
    any = m;
    if (m->p) {
      V2_EVENT(w, m, GOTRACE_V2_PROC_STATUS, time, m->p->id, m->p->status);
      if (m->p->sweep) V2_EVENT(w, m, GOTRACE_V2_GC_SWEEP_ACTIVE, time, m->p->id);
    }
    if (m->g) v2_go_status(w, m, m->g, m->id, time);
  }
  return any ? any : v2_helper(w);
}

/* Readers count the time before the status of a goroutine in a system call as time without a proc, and the time after
 * it as time in the call. So the first generation has the status where the input has it, on the same thread. */
static void v2_take_told(writer *w, goroutine *g, thread *on, int64_t time) {
  if (!g || !g->untold) return;
  g->untold = false;
  w->untold--;
  v2_go_status(w, on, g, g->m->id, time);
}

static void v2_all_told(writer *w, int64_t time) {
  goroutine *g;
  for (g = w->untold ? w->c.w->live : NULL; g; g = g->next) v2_take_told(w, g, g->m, time);
}

/* The statuses of all procs and goroutines, which begin a generation. */
static void v2_statuses(writer *w, int64_t time) {
  world *all = w->c.w;
  thread *any;
  proc *p;
  goroutine *g;
  for (p = all->proc_list; p; p = p->next) p->sequence = 0;
  any = v2_bound_statuses(w, time);
  for (p = all->proc_list; p; p = p->next) {
    if (p->m || p->status == PROC_NONE) continue;
    V2_EVENT(w, any, GOTRACE_V2_PROC_STATUS, time, p->id, p->status);
    if (p->sweep) V2_EVENT(w, any, GOTRACE_V2_GC_SWEEP_ACTIVE, time, p->id);
  }
  for (g = all->live; g; g = g->next) {
    g->sequence = 0;
    if (!g->m && !g->unborn) v2_go_status(w, any, g, NOBODY, time);
  }
}

/* Writes and applies an operation of the writer's own. */
static void v2_insert(writer *w, unsigned kind, int64_t time, thread *m, uint64_t id, uint64_t status) {
  op o = op_at(kind, time, m);
  o.id = id;
  o.a[0] = status;
  v2_take(&w->c, &o);
  apply(w->c.w, &o);
}

/* For an operation that lacks them, borrows a thread with a proc and, if `go`, a goroutine. v2_return() takes them
 * back. */
static thread *v2_borrow(writer *w, const op *o, bool go) {
  thread *m = o->m;
  if (!m || !m->p || m->g) {
    m = v2_helper(w);
    if (!w->helper_proc) {
      w->helper_proc = world_proc(w->c.w, fresh_id(&w->c.w->procs, FRESH_PROC), true);
      v2_insert(w, GOTRACE_V2_PROC_STATUS, o->time, m, w->helper_proc->id, PROC_IDLE);
    }
    v2_insert(w, GOTRACE_V2_PROC_START, o->time, m, w->helper_proc->id, 0);
  }
  if (go) {
    if (!w->next_go) w->next_go = fresh_id(&w->c.w->gos, FRESH_GO);
    v2_insert(w, GOTRACE_V2_GO_CREATE, o->time, m, w->next_go, 0);
    v2_insert(w, GOTRACE_V2_GO_START, o->time, m, w->next_go, 0);
  }
  return m;
}

static void v2_return(writer *w, thread *m, int64_t time, bool go) {
  if (go) v2_insert(w, GOTRACE_V2_GO_DESTROY, time, m, 0, 0);
  if (m == w->helper) v2_insert(w, GOTRACE_V2_PROC_STOP, time, m, 0, 0);
}

static void v2_experiment(writer *w, const experiment *e, int64_t time) {
  bytes *b = &w->out->block;
  pool_text data = pool_text_of(e->data);
  if (w->c.format < GOTRACE_GO_1_23) {
    w->lost[LOST_EXPERIMENTS]++;
    return;
  }
  put_byte(b, GOTRACE_V2_EXPERIMENTAL_BATCH);
  put_byte(b, (unsigned)e->number & 0xff);
  put_number(b, w->generation);
  put_number(b, e->thread);
  put_number(b, tick_of(w, time));
  put_number(b, data.size);
  put_data(b, data.data, data.size);
  output_check(w->out);
}

static thread *v2_any_running(const writer *w) {
  thread *m = w->c.w->last_running;
  if (runs(m)) return m;
  for (m = w->c.w->thread_list; m && !runs(m);) m = m->next;
  return m;
}

/* Writes that a collection is in progress. In the first generation this event may be on any thread, later only where a
 * goroutine runs. Later it may also be left out, as readers already know of the collection. */
static void v2_gc_active(writer *w, int64_t time) {
  thread *m = v2_any_running(w);
  if (!m && w->generation == 1) m = v2_helper(w);
  if (m) V2_EVENT(w, m, GOTRACE_V2_GC_ACTIVE, time, ++w->gc_sequence);
}

static void v2_generation_start(writer *w, int64_t time) {
  size_t i;
  w->generation++;
  w->mark++;
  w->generation_time = time;
  w->event_bytes = 0;
  w->c.statuses = w->generation == 1;
  v2_start_sync(w, time);
  for (i = 0; i < w->c.w->experiment_count; i++) v2_experiment(w, &w->c.w->experiments[i], time);
  v2_statuses(w, time);
  w->status_bytes = w->event_bytes;
  if (w->c.w->gc) v2_gc_active(w, time);
}

static void v2_generation_end(writer *w) {
  uint64_t tick = tick_of(w, w->generation_time);
  thread *m;
  if (!w->event_bytes) /* readers refuse a generation without events */
    V2_EVENT(w, v2_helper(w), GOTRACE_V2_PROC_STATUS, w->generation_time, fresh_id(&w->c.w->procs, FRESH_PROC),
             PROC_IDLE);
  for (m = w->c.w->thread_list; m; m = m->next) {
    v2_batch(w, m->id, m->start, &m->batch);
    free(m->batch.data); /* there may be very many threads */
    memset(&m->batch, 0, sizeof m->batch);
  }
  v2_batch(w, NOBODY, tick, &w->samples);
  use_modules(w);
  v2_batch(w, NOBODY, tick, &w->stacks);
  v2_batch(w, NOBODY, tick, &w->strings);
  if (w->c.format >= GOTRACE_GO_1_26) put_byte(&w->out->block, GOTRACE_V2_END_OF_GENERATION);
}

/* A generation ends after about 2 MiB or 1 s. It goes on until its events take four times the bytes of its statuses,
 * and while the world is stopped: readers look up the reason when the stop ends, and then the id must still mean the
 * same text. */
#define GENERATION_BYTES ((size_t)2 << 20)
#define GENERATION_TIME 1000000000
static bool v2_generation_full(const writer *w, int64_t time) {
  size_t bytes_of_events = w->event_bytes - w->status_bytes;
  if (w->c.w->stw || w->untold || bytes_of_events < 4 * (w->status_bytes + w->c.w->thread_count)) return false;
  return bytes_of_events >= GENERATION_BYTES || between(w->generation_time, time) >= GENERATION_TIME;
}

static void v2_sample(writer *w, const op *o) {
  v2_table_room(w, &w->samples, GOTRACE_V2_CPU_SAMPLES);
  put_byte(&w->samples, GOTRACE_V2_CPU_SAMPLE);
  put_number(&w->samples, tick_of(w, o->time));
  put_number(&w->samples, o->a[0]);
  put_number(&w->samples, o->a[1]);
  put_number(&w->samples, o->a[2]);
  put_number(&w->samples, use_stack(w, o->stack));
}

/* Whether an event can be written: the format has it, and a range is not begun twice or ended when it is not open. */
static bool v2_fits(const writer *w, const op *o) {
  const goroutine *g = runs(o->m) ? o->m->g : NULL;
  const proc *p = o->m ? o->m->p : NULL;
  switch (o->kind) {
  case GOTRACE_V2_STW_BEGIN: return g && g->stw == 0;
  case GOTRACE_V2_STW_END: return g && g->stw == 1;
  case GOTRACE_V2_GC_MARK_ASSIST_BEGIN: return g && !g->assist;
  case GOTRACE_V2_GC_MARK_ASSIST_END: return g && g->assist;
  case GOTRACE_V2_GC_SWEEP_BEGIN: return p && !p->sweep;
  case GOTRACE_V2_GC_SWEEP_END: return p && p->sweep;
  case GOTRACE_V2_GC_BEGIN: return !w->c.w->gc;
  case GOTRACE_V2_GC_END: return w->c.w->gc;
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END: return g != NULL;
  case GOTRACE_V2_GO_UNBLOCK: return world_go(w->c.w, o->id) != NULL;
  default: return o->kind < 128 || (w->c.format >= GOTRACE_GO_1_23 && o->m);
  }
}

/* What an event must happen on. */
enum { NEEDS_NOTHING, NEEDS_THREAD, NEEDS_PROC, NEEDS_GO };
static int v2_needs(unsigned kind) {
  switch (kind) {
  case GOTRACE_V2_GO_UNBLOCK:
  case GOTRACE_V2_GO_STATUS:
  case GOTRACE_V2_PROC_STATUS:
  case GOTRACE_V2_PROC_STEAL: return NEEDS_THREAD;
  case GOTRACE_V2_GO_CREATE:
  case GOTRACE_V2_GO_CREATE_BLOCKED:
  case GOTRACE_V2_HEAP_ALLOC:
  case GOTRACE_V2_HEAP_GOAL: return NEEDS_PROC;
  case GOTRACE_V2_PROCS_CHANGE:
  case GOTRACE_V2_GC_BEGIN:
  case GOTRACE_V2_GC_END:
  case GOTRACE_V2_GO_LABEL:
  case GOTRACE_V2_USER_TASK_BEGIN:
  case GOTRACE_V2_USER_TASK_END:
  case GOTRACE_V2_USER_LOG: return NEEDS_GO;
  default: return NEEDS_NOTHING;
  }
}

static bool v2_has(const op *o, int needs) {
  const thread *m = o->m;
  if (needs == NEEDS_NOTHING) return true;
  if (needs == NEEDS_THREAD || !m) return m != NULL;
  if (needs == NEEDS_GO) return runs(m);
  if (o->kind == GOTRACE_V2_HEAP_ALLOC || o->kind == GOTRACE_V2_HEAP_GOAL) return m->p != NULL;
  return m->p && (!m->g || runs(m)); /* creation: not from a system call */
}

/* The arguments that operations lack, in order: mostly sequence numbers. */
static void v2_own_arguments(writer *w, const op *o, uint64_t own[2]) {
  goroutine *g;
  proc *p;
  switch (o->kind) {
  case GOTRACE_V2_PROC_START:
  case GOTRACE_V2_PROC_STEAL:
    p = world_proc(w->c.w, o->id, true);
    own[0] = ++p->sequence;
    own[1] = p->m ? p->m->id : NOBODY;
    break;
  case GOTRACE_V2_GO_SYSCALL_BEGIN:
    if (o->m && o->m->p) own[0] = ++o->m->p->sequence;
    break;
  case GOTRACE_V2_GO_START:
  case GOTRACE_V2_GO_UNBLOCK:
  case GOTRACE_V2_GO_SWITCH:
  case GOTRACE_V2_GO_SWITCH_DESTROY:
    g = world_go(w->c.w, o->id);
    if (g) own[0] = ++g->sequence;
    break;
  case GOTRACE_V2_STW_BEGIN: own[0] = use_text(w, o->name); break;
  case GOTRACE_V2_GC_BEGIN:
  case GOTRACE_V2_GC_END: own[0] = ++w->gc_sequence; break;
  default: break;
  }
}

static void v2_write(writer *w, thread *m, const op *o) {
  const char *letters = o->kind == GOTRACE_V2_PROC_STATUS ? "ia" : v2_arguments[o->kind];
  uint64_t arguments[5] = {0}, own[2] = {0, 0}, *next_own = own;
  unsigned count = 0;
  v2_own_arguments(w, o, own);
  for (; *letters; letters++) {
    switch (*letters) {
    case 'i': arguments[count++] = o->id; break;
    case 'a': arguments[count++] = o->a[0]; break;
    case 'b': arguments[count++] = o->a[1]; break;
    case 'c': arguments[count++] = o->a[2]; break;
    case 'n': arguments[count++] = use_text(w, o->name); break;
    case 'v': arguments[count++] = use_text(w, o->value); break;
    case 'N': arguments[count++] = use_stack(w, o->new_stack); break;
    case 'S': arguments[count++] = use_stack(w, o->stack); break;
    default: arguments[count++] = *next_own++; break;
    }
  }
  v2_event(w, m, o->kind, o->time, arguments, count);
}

/* In a format without GoCreateBlocked, readers see such a goroutine created when it is unblocked. True: the operation
 * is left out. */
static bool v2_not_yet_born(const writer *w, op *o) {
  const goroutine *g = o->kind == GOTRACE_V2_GO_UNBLOCK ? world_go(w->c.w, o->id) : NULL;
  if (o->kind == GOTRACE_V2_GO_CREATE_BLOCKED) return w->c.format < GOTRACE_GO_1_23;
  if (!g || !g->unborn) return false;
  o->kind = GOTRACE_V2_GO_CREATE;
  o->new_stack = g->entry;
  return false;
}

/* The status of a goroutine that becomes known only now. */
static void v2_late_status(writer *w, const op *o) {
  goroutine g = {0};
  g.id = o->id;
  g.entry = o->new_stack;
  g.stack = o->stack;
  g.status = (uint8_t)o->a[0];
  v2_go_status(w, o->m ? o->m : v2_helper(w), &g, o->a[0] == GO_SYSCALL && o->m ? o->m->id : NOBODY, o->time);
}

/* Writes the number of procs, if it is known but no event told it. */
static void v2_tell_procs(writer *w, const op *start) {
  w->procs_told = true;
  if (!w->c.w->gomaxprocs) return;
  V2_EVENT(w, start->m, GOTRACE_V2_PROCS_CHANGE, start->time, w->c.w->gomaxprocs, 0);
}

void v2_take(consumer *c, const op *given) {
  writer *w = (writer *)c;
  op o = *given;
  int needs;
  thread *m = o.m, *running;
  bool borrowed;
  if (o.m != w->helper && v2_generation_full(w, o.time)) {
    v2_generation_end(w);
    v2_generation_start(w, o.time);
  }
  if (o.m && o.m->g && o.m->g->untold && o.kind != OP_STATUS_TOLD) v2_take_told(w, o.m->g, o.m, o.time);
  if (o.kind == OP_STATUS_TOLD) v2_take_told(w, world_go(c->w, o.id), o.m ? o.m : v2_helper(w), o.time);
  w->lost[LOST_SCANS] += o.kind == OP_GC_SCAN_BEGIN;
  if (o.kind >= OP_FIRST) return;
  if (o.kind == GOTRACE_V2_CPU_SAMPLE) {
    v2_sample(w, &o);
    return;
  }
  if (o.kind == GOTRACE_V2_EXPERIMENTAL_BATCH) {
    v2_experiment(w, &(experiment){o.a[0], o.a[1], o.value}, o.time);
    return;
  }
  if (o.kind == GOTRACE_V2_GO_STATUS) {
    v2_late_status(w, &o);
    return;
  }
  if (v2_not_yet_born(w, &o) || !v2_fits(w, &o)) return;
  needs = v2_needs(o.kind);
  if ((o.kind == GOTRACE_V2_GC_BEGIN || o.kind == GOTRACE_V2_GC_END) && !runs(o.m) &&
      (running = v2_any_running(w)) != NULL)
    m = o.m = running;
  borrowed = !v2_has(&o, needs);
  if (borrowed) m = needs == NEEDS_THREAD ? v2_helper(w) : v2_borrow(w, &o, needs == NEEDS_GO);
  if (!m) return;
  v2_write(w, m, &o);
  if (borrowed && needs > NEEDS_THREAD) v2_return(w, m, o.time, needs == NEEDS_GO);
  if (o.kind == GOTRACE_V2_PROCS_CHANGE) w->procs_told = true;
  if (o.kind == GOTRACE_V2_GO_START && !w->procs_told) v2_tell_procs(w, &o);
}

void v2_begin(consumer *c, int64_t time) {
  writer *w = (writer *)c;
  goroutine *g;
  for (g = c->w->live; g; g = g->next) g->stw = 0, g->unborn = g->untold = false;
  c->w->stw = 0; /* no event tells that the world is stopped already */
  v2_generation_start(w, time);
}

/* If nothing happened at the end of the part, the statuses of one more generation show how long it lasted. */
void v2_end(consumer *c, int64_t time) {
  writer *w = (writer *)c;
  v2_all_told(w, time);
  v2_generation_end(w);
  if (tick_of(w, time) <= w->latest) return;
  v2_generation_start(w, time);
  v2_generation_end(w);
}
