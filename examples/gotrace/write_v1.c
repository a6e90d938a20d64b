/* write_v1.c - writes traces of Go 1.8 to 1.21: see writer.h
 *
 * v1 stores events in batches of procs, not of threads, and says nothing about a goroutine without a proc. So this
 * writer tracks what readers believe: which procs run (v1_running), which goroutine is on each (v1_go), and each
 * goroutine's status and sequence number (v1_status, v1_sequence). An operation becomes the events that lead readers to
 * the new state, or none. Events without a proc go to the global proc. */

#include "writer.h"

#include <stdlib.h>

enum { V1_NONE, V1_RUNNABLE, V1_RUNNING, V1_WAITING, V1_DEAD };

/* Writes the tables, with the clock's frequency, as a batch of their own before the events that refer to them. */
static void v1_write_tables(writer *w) {
  bytes *b = &w->out->block;
  put_byte(b, GOTRACE_V1_BATCH | 1 << GOTRACE_ARG_COUNT_SHIFT);
  put_number(b, (uint64_t)GOTRACE_GLOBAL_PROC);
  put_number(b, 1);
  put_byte(b, GOTRACE_V1_FREQUENCY);
  put_number(b, FREQUENCY);
  put_data(b, w->strings.data, w->strings.size);
  put_data(b, w->stacks.data, w->stacks.size);
  w->strings.size = w->stacks.size = 0;
  w->frequency_written = true;
}

/* Writes a proc's batch and empties it. */
static void v1_flush(writer *w, proc *p) {
  if (!p->batch.size) return;
  if (!w->frequency_written || w->strings.size || w->stacks.size) v1_write_tables(w);
  put_data(&w->out->block, p->batch.data, p->batch.size);
  output_check(w->out);
  p->batch.size = 0;
}

static uint64_t v1_proc_id(writer *w, proc *p) {
  if (p == &w->global) return (uint64_t)GOTRACE_GLOBAL_PROC;
  if (!p->named) p->v1_id = p->id < GOTRACE_FAKE_PROC ? p->id : FRESH_PROC + 50000 + w->next_proc++;
  p->named = true;
  return p->v1_id;
}

static void v1_write_pending_start(writer *w, proc *p, uint32_t label);

/* Appends an event to a proc's batch; NULL: the global proc. */
static void v1_event(writer *w, proc *p, unsigned kind, int64_t time, const uint64_t *arguments, unsigned count) {
  static bytes numbers;
  uint64_t tick = tick_of(w, time);
  bytes *b;
  unsigned i;
  if (!p) p = &w->global;
  v1_write_pending_start(w, p, 0);
  b = &p->batch;
  if (b->size + MOST_EVENT > GOTRACE_MAX_BATCH_SIZE) v1_flush(w, p);
  if (tick < p->tick) tick = p->tick;
  if (!b->size) {
    put_byte(b, GOTRACE_V1_BATCH | 1 << GOTRACE_ARG_COUNT_SHIFT);
    put_number(b, v1_proc_id(w, p));
    put_number(b, tick);
    p->tick = tick;
  }
  numbers.size = 0;
  put_number(&numbers, tick - p->tick);
  for (i = 0; i < count; i++) put_number(&numbers, arguments[i]);
  put_byte(b, kind | (count < 3 ? count : 3u) << GOTRACE_ARG_COUNT_SHIFT);
  if (count >= 3) put_number(b, numbers.size);
  put_data(b, numbers.data, numbers.size);
  p->tick = tick;
  if (tick > w->latest) w->latest = tick;
}

#define V1_EVENT(w, p, kind, time, ...)                               \
  v1_event((w), (p), (kind), (time), (const uint64_t[]){__VA_ARGS__}, \
           (unsigned)COUNT(((const uint64_t[]){__VA_ARGS__})))
#define V1_EVENT0(w, p, kind, time) v1_event((w), (p), (kind), (time), NULL, 0)

/* v1 never reuses an id: a goroutine that is created a second time gets a new one. */
static void v1_write_create(writer *w, proc *p, goroutine *g, uint32_t entry, uint32_t stack, int64_t time) {
  const pool_frame unknown = {1, 0, pool_put_string("unknown"), 0};
  if (!pool_stack_of(entry).count) entry = pool_put_stack(&unknown, 1); /* viewers need one */
  if (g->v1_status != V1_NONE || !g->id || g->id >= FRESH_GO) g->v1_id = FRESH_GO + w->next_go++;
  g->v1_status = V1_RUNNABLE;
  g->v1_sequence = 1;
  V1_EVENT(w, p, GOTRACE_V1_GO_CREATE, time, g->v1_id, use_stack(w, entry), use_stack(w, stack));
}

static void v1_write_waiting(writer *w, proc *p, goroutine *g, unsigned kind, int64_t time) {
  V1_EVENT(w, p, kind, time, g->v1_id);
  g->v1_status = V1_WAITING;
  g->v1_sequence = 2;
}

/* Starts a goroutine. The event is written just before the proc's next one, because its kind depends on whether there
 * is a label, which in v2 is a later event. */
static void v1_write_start(proc *p, goroutine *g, int64_t time) {
  if (!g || g->v1_status != V1_RUNNABLE || p->v1_go) return;
  p->v1_start = time;
  p->v1_sequence = g->v1_sequence++;
  g->v1_status = V1_RUNNING;
  p->v1_go = g;
}

static void v1_write_pending_start(writer *w, proc *p, uint32_t label) {
  uint64_t sequence = p->v1_sequence;
  if (!sequence) return;
  p->v1_sequence = 0;
  if (label) V1_EVENT(w, p, GOTRACE_V1_GO_START_LABEL, p->v1_start, p->v1_go->v1_id, sequence, use_text(w, label));
  else V1_EVENT(w, p, GOTRACE_V1_GO_START, p->v1_start, p->v1_go->v1_id, sequence);
}

static void v1_write_proc_start(writer *w, proc *p, const thread *m, int64_t time) {
  if (p->v1_running) return;
  V1_EVENT(w, p, GOTRACE_V1_PROC_START, time, m ? m->id : 0);
  p->v1_running = true;
}

/* The proc of a thread, after writing that it and its goroutine run; or the global proc. */
static proc *v1_proc_of(writer *w, const thread *m, int64_t time) {
  proc *p = m ? m->p : NULL;
  if (!p) return &w->global;
  v1_write_proc_start(w, p, m, time);
  if (m->g && m->g->status == GO_RUNNING) v1_write_start(p, m->g, time);
  return p;
}

/* A proc's goroutine stops running. */
static void v1_write_stop(writer *w, proc *p, unsigned kind, bool has_stack, uint32_t stack, uint8_t status,
                          int64_t time) {
  if (!p->v1_go) return;
  if (has_stack) V1_EVENT(w, p, kind, time, use_stack(w, stack));
  else V1_EVENT0(w, p, kind, time);
  p->v1_go->v1_status = status;
  p->v1_go = NULL;
}

static void v1_write_proc_stop(writer *w, proc *p, int64_t lost, int64_t time) {
  if (p->v1_go && p->v1_go->status == GO_SYSCALL)
    v1_write_stop(w, p, GOTRACE_V1_GO_SYS_BLOCK, false, 0, V1_WAITING, lost ? lost : time);
  v1_write_stop(w, p, GOTRACE_V1_GO_PREEMPT, true, 0, V1_RUNNABLE, time);
  if (p->v1_running) V1_EVENT0(w, p, GOTRACE_V1_PROC_STOP, time);
  p->v1_running = false;
}

static void v1_take_proc(writer *w, const op *o) {
  proc *p = o->kind == GOTRACE_V2_PROC_STOP ? (o->m ? o->m->p : NULL) : world_proc(w->c.w, o->id, true);
  if (!p) return;
  switch (o->kind) {
  case GOTRACE_V2_PROC_STATUS:
    if (o->a[0] == PROC_RUNNING || o->a[0] == PROC_SYSCALL) v1_write_proc_start(w, p, o->m, o->time);
    break;
  case GOTRACE_V2_PROC_START: v1_write_proc_start(w, p, o->m, o->time); break;
  default: v1_write_proc_stop(w, p, o->kind == GOTRACE_V2_PROC_STOP ? (int64_t)o->a[0] : 0, o->time); break;
  }
}

/* The event for a reason to block. In v1 GoStop ("forever") ends a goroutine, so it is not used if the input is v2. */
static unsigned v1_block_kind(writer *w, uint32_t reason) {
  unsigned kind = GOTRACE_V1_GO_BLOCK;
#define REASON(NAME, number, v1, text) \
  if (pool_text_is(reason, text)) kind = GOTRACE_V1_##v1;
  GOTRACE_BLOCK_REASONS(REASON)
#undef REASON
  if (kind == GOTRACE_V1_GO_STOP && w->c.family != 1) kind = GOTRACE_V1_GO_BLOCK;
  if (kind == GOTRACE_V1_GO_BLOCK && !pool_text_is(reason, "unspecified")) w->lost[LOST_REASONS]++;
  return kind;
}

static void v1_take_create(writer *w, const op *o) {
  goroutine *g = go_record(w->c.w, o->id);
  proc *p = v1_proc_of(w, o->m, o->time);
  if (o->kind == GOTRACE_V2_GO_CREATE_SYSCALL && g->v1_status == V1_WAITING)
    return; /* readers still see it in its call */
  if (o->kind == GOTRACE_V2_GO_CREATE_SYSCALL) p = &w->global;
  v1_write_create(w, p, g, o->new_stack, o->stack, o->time);
  if (o->kind == GOTRACE_V2_GO_CREATE_SYSCALL) v1_write_waiting(w, p, g, GOTRACE_V1_GO_IN_SYSCALL, o->time);
}

/* Writes once that a goroutine runs timers; 1.8 has only one such goroutine. */
static void v1_put_timer(writer *w, goroutine *g) {
  if (g->timer_told || (w->c.format < GOTRACE_GO_1_10 && w->timer_told)) return;
  g->timer_told = w->timer_told = true;
  put_byte(&w->strings, GOTRACE_V1_TIMER_GOROUTINE);
  put_number(&w->strings, g->v1_id);
}

static void v1_take_unblock(writer *w, const op *o) {
  goroutine *g = world_go(w->c.w, o->id);
  proc *p = v1_proc_of(w, o->m, o->time);
  if (!g) return;
  if (g->unborn) v1_write_create(w, p, g, g->entry, o->stack, o->time);
  if (g->v1_status != V1_WAITING) return;
  if (runs(o->m) && o->m->g->timer) v1_put_timer(w, o->m->g);
  V1_EVENT(w, p, GOTRACE_V1_GO_UNBLOCK, o->time, g->v1_id, g->v1_sequence, use_stack(w, o->stack));
  g->v1_sequence++;
  g->v1_status = V1_RUNNABLE;
}

static void v1_take_syscall(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  goroutine *g = o->m ? o->m->g : NULL;
  if (!g) return;
  switch (o->kind) {
  case GOTRACE_V2_GO_SYSCALL_BEGIN:
    if (p->v1_go == g) V1_EVENT(w, p, GOTRACE_V1_GO_SYS_CALL, o->time, use_stack(w, o->stack));
    break;
  case GOTRACE_V2_GO_SYSCALL_END:
    if (w->c.family == 2 && g->status == GO_SYSCALL) w->lost[LOST_SYSCALLS]++;
    break;
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED:
    if (g->v1_status != V1_WAITING) break;
    V1_EVENT(w, p, GOTRACE_V1_GO_SYS_EXIT, o->time, g->v1_id, g->v1_sequence, 0);
    g->v1_sequence++;
    g->v1_status = V1_RUNNABLE;
    break;
  default: /* GoDestroySyscall. Without a proc, readers keep the goroutine. */
    if (p->v1_go != g) break;
    v1_write_stop(w, p, GOTRACE_V1_GO_END, false, 0, V1_DEAD, o->time);
    v1_write_proc_stop(w, p, 0, o->time);
    break;
  }
}

static void v1_take_stop(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  if (p == &w->global) return;
  switch (o->kind) {
  case GOTRACE_V2_GO_DESTROY: v1_write_stop(w, p, GOTRACE_V1_GO_END, false, 0, V1_DEAD, o->time); break;
  case GOTRACE_V2_GO_STOP:
    v1_write_stop(w, p, pool_text_is(o->name, "runtime.Gosched") ? GOTRACE_V1_GO_SCHED : GOTRACE_V1_GO_PREEMPT, true,
                  o->stack, V1_RUNNABLE, o->time);
    break;
  default: {
    unsigned kind = v1_block_kind(w, o->name);
    v1_write_stop(w, p, kind, true, o->stack, kind == GOTRACE_V1_GO_STOP ? V1_DEAD : V1_WAITING, o->time);
    break;
  }
  }
}

/* The argument of GCSTWStart for a reason; -1: the format has none for it. */
static int v1_stw_kind(const writer *w, uint32_t reason) {
  int kind = 0;
#define REASON(NAME, number, text) \
  if (pool_text_is(reason, text)) kind = number;
  GOTRACE_STW_REASONS(REASON)
#undef REASON
  if (w->c.format >= GOTRACE_GO_1_21) return kind;
  if (kind == GOTRACE_STW_GC_MARK_TERM) return 0;
  return kind == GOTRACE_STW_GC_SWEEP_TERM && w->c.format >= GOTRACE_GO_1_10 ? 1 : -1;
}

/* Formats before 1.10 have GCScanStart and GCScanDone instead, with the same numbers, for mark termination. */
static void v1_write_stw(writer *w, proc *p, int kind, int64_t time) {
  if (w->c.format < GOTRACE_GO_1_10) V1_EVENT0(w, p, GOTRACE_V1_GC_SCAN_START, time);
  else V1_EVENT(w, p, GOTRACE_V1_GC_STW_START, time, (uint64_t)kind);
}

/* In v1 only one stopped world can be open at a time, whoever stopped it. */
static void v1_take_stw(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  if (w->c.format < GOTRACE_GO_1_10 && w->c.input < GOTRACE_GO_1_10) return; /* it has scans instead */
  int kind = v1_stw_kind(w, o->name);
  if (o->kind == GOTRACE_V2_STW_BEGIN) {
    if (w->stw_depth++) return;
    w->stw_written = kind >= 0 && p != &w->global;
    w->lost[LOST_STW] += kind < 0;
    w->stw_proc = p;
    if (w->stw_written) v1_write_stw(w, p, kind, o->time);
  } else if (w->stw_depth && --w->stw_depth == 0 && w->stw_written) {
    w->stw_written = false;
    V1_EVENT0(w, p, GOTRACE_V1_GC_STW_DONE, o->time);
  }
}

static void v1_take_gc(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  if (o->kind == GOTRACE_V2_GC_BEGIN ? w->gc_written : !w->gc_written) return;
  w->gc_written = !w->gc_written;
  if (w->gc_written) V1_EVENT(w, p, GOTRACE_V1_GC_START, o->time, w->gc_sequence++, use_stack(w, o->stack));
  else V1_EVENT0(w, p, GOTRACE_V1_GC_DONE, o->time);
}

/* Sweeps belong to a proc, mark assists to a goroutine. */
static void v1_take_range(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  const goroutine *g = runs(o->m) ? o->m->g : NULL;
  bool begins = o->kind == GOTRACE_V2_GC_SWEEP_BEGIN || o->kind == GOTRACE_V2_GC_MARK_ASSIST_BEGIN;
  bool sweep = o->kind == GOTRACE_V2_GC_SWEEP_BEGIN || o->kind == GOTRACE_V2_GC_SWEEP_END;
  if (p == &w->global || (sweep ? p->sweep == begins : !g || g->assist == begins)) return;
  if (!sweep && w->c.format < GOTRACE_GO_1_10) {
    w->lost[LOST_ASSISTS] += begins;
    return;
  }
  if (begins)
    V1_EVENT(w, p, sweep ? GOTRACE_V1_GC_SWEEP_START : GOTRACE_V1_GC_MARK_ASSIST_START, o->time,
             use_stack(w, o->stack));
  else if (!sweep) V1_EVENT0(w, p, GOTRACE_V1_GC_MARK_ASSIST_DONE, o->time);
  else if (w->c.format < GOTRACE_GO_1_10) V1_EVENT0(w, p, GOTRACE_V1_GC_SWEEP_DONE, o->time);
  else V1_EVENT(w, p, GOTRACE_V1_GC_SWEEP_DONE, o->time, o->a[0], o->a[1]);
}

/* A proc's scan. Only formats before 1.10 have it; the others show only the stopped world. */
static void v1_take_scan(writer *w, const op *o) {
  proc *p = world_proc(w->c.w, o->id, false);
  bool begins = o->kind == OP_GC_SCAN_BEGIN;
  if (!p) p = &w->global;
  if (w->c.format >= GOTRACE_GO_1_10) w->lost[LOST_SCANS] += begins;
  else if (p->scan != begins) V1_EVENT0(w, p, begins ? GOTRACE_V1_GC_SCAN_START : GOTRACE_V1_GC_SCAN_DONE, o->time);
  if (p == &w->global) p->scan = begins;
}

static void v1_take_user(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  uint64_t stack = use_stack(w, o->stack);
  pool_text value = pool_text_of(o->value);
  if (w->c.format < GOTRACE_GO_1_11) {
    w->lost[LOST_ANNOTATIONS] += o->kind != GOTRACE_V2_USER_TASK_END && o->kind != GOTRACE_V2_USER_REGION_END;
    return;
  }
  switch (o->kind) {
  case GOTRACE_V2_USER_TASK_BEGIN:
    V1_EVENT(w, p, GOTRACE_V1_USER_TASK_CREATE, o->time, o->id, o->a[0], use_text(w, o->name), stack);
    break;
  case GOTRACE_V2_USER_TASK_END: V1_EVENT(w, p, GOTRACE_V1_USER_TASK_END, o->time, o->id, stack); break;
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END:
    if (!p->v1_go) break;
    V1_EVENT(w, p, GOTRACE_V1_USER_REGION, o->time, o->id, o->kind == GOTRACE_V2_USER_REGION_END, use_text(w, o->name),
             stack);
    break;
  default:
    V1_EVENT(w, p, GOTRACE_V1_USER_LOG, o->time, o->id, use_text(w, o->name), stack);
    if (value.size > GOTRACE_MAX_STRING_SIZE) value.size = GOTRACE_MAX_STRING_SIZE;
    put_number(&p->batch, value.size); /* after the event, not part of its length */
    put_data(&p->batch, value.data, value.size);
    break;
  }
}

/* A sample's time is an argument, so the event itself can be first of all. */
static void v1_take_sample(writer *w, const op *o) {
  const goroutine *g = world_go(w->c.w, o->a[2]);
  proc *p = o->a[1] == NOBODY ? NULL : world_proc(w->c.w, o->a[1], false);
  if (w->c.format < GOTRACE_GO_1_19) {
    w->lost[LOST_SAMPLES]++;
    return;
  }
  V1_EVENT(w, NULL, GOTRACE_V1_CPU_SAMPLE, w->c.base, tick_of(w, o->time),
           p ? v1_proc_id(w, p) : (uint64_t)GOTRACE_GLOBAL_PROC, g ? g->v1_id : 0, use_stack(w, o->stack));
}

/* A thread with a proc at the start of the trace. */
static void v1_begin_thread(writer *w, thread *m, int64_t time) {
  proc *p = m->p;
  goroutine *g = m->g;
  v1_write_proc_start(w, p, m, time);
  if (p->sweep) V1_EVENT(w, p, GOTRACE_V1_GC_SWEEP_START, time, 0);
  if (!g || (g->status == GO_SYSCALL && p->status != PROC_SYSCALL)) return;
  v1_write_start(p, g, time);
  if (g->status == GO_SYSCALL) V1_EVENT(w, p, GOTRACE_V1_GO_SYS_CALL, time, 0);
}

void v1_take(consumer *c, const op *o) {
  writer *w = (writer *)c;
  goroutine *g;
  switch (o->kind) {
  case GOTRACE_V2_PROC_STATUS:
  case GOTRACE_V2_PROC_START:
  case GOTRACE_V2_PROC_STOP:
  case GOTRACE_V2_PROC_STEAL: v1_take_proc(w, o); break;
  case GOTRACE_V2_GO_CREATE:
  case GOTRACE_V2_GO_CREATE_SYSCALL: v1_take_create(w, o); break;
  case GOTRACE_V2_GO_START:
    g = world_go(c->w, o->id);
    if (o->m && o->m->p && v1_proc_of(w, o->m, o->time)) v1_write_start(o->m->p, g, o->time);
    break;
  case GOTRACE_V2_GO_LABEL:
    if (runs(o->m)) v1_write_pending_start(w, o->m->p, o->name);
    break;
  case GOTRACE_V2_GO_UNBLOCK: v1_take_unblock(w, o); break;
  case GOTRACE_V2_GO_DESTROY:
  case GOTRACE_V2_GO_STOP:
  case GOTRACE_V2_GO_BLOCK: v1_take_stop(w, o); break;
  case GOTRACE_V2_GO_SYSCALL_BEGIN:
  case GOTRACE_V2_GO_SYSCALL_END:
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED:
  case GOTRACE_V2_GO_DESTROY_SYSCALL: v1_take_syscall(w, o); break;
  case GOTRACE_V2_STW_BEGIN:
  case GOTRACE_V2_STW_END: v1_take_stw(w, o); break;
  case GOTRACE_V2_GC_BEGIN:
  case GOTRACE_V2_GC_END: v1_take_gc(w, o); break;
  case OP_GC_SCAN_BEGIN:
  case OP_GC_SCAN_END: v1_take_scan(w, o); break;
  case GOTRACE_V2_GC_SWEEP_BEGIN:
  case GOTRACE_V2_GC_SWEEP_END:
  case GOTRACE_V2_GC_MARK_ASSIST_BEGIN:
  case GOTRACE_V2_GC_MARK_ASSIST_END: v1_take_range(w, o); break;
  case GOTRACE_V2_PROCS_CHANGE:
    w->procs = o->id;
    V1_EVENT(w, v1_proc_of(w, o->m, o->time), GOTRACE_V1_GOMAXPROCS, o->time, o->id, use_stack(w, o->stack));
    break;
  case GOTRACE_V2_HEAP_ALLOC: V1_EVENT(w, v1_proc_of(w, o->m, o->time), GOTRACE_V1_HEAP_ALLOC, o->time, o->a[0]); break;
  case GOTRACE_V2_HEAP_GOAL: V1_EVENT(w, v1_proc_of(w, o->m, o->time), GOTRACE_V1_HEAP_GOAL, o->time, o->a[0]); break;
  case GOTRACE_V2_USER_TASK_BEGIN:
  case GOTRACE_V2_USER_TASK_END:
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END:
  case GOTRACE_V2_USER_LOG: v1_take_user(w, o); break;
  case GOTRACE_V2_CPU_SAMPLE: v1_take_sample(w, o); break;
  case GOTRACE_V2_EXPERIMENTAL_BATCH: w->lost[LOST_EXPERIMENTS]++; break;
  default: break; /* the format has no such event */
  }
}

void v1_begin(consumer *c, int64_t time) {
  writer *w = (writer *)c;
  world *all = c->w;
  goroutine *g;
  thread *m;
  proc *p;
  w->mark++;
  w->procs = all->gomaxprocs ? all->gomaxprocs : all->proc_count ? all->proc_count : 1;
  all->stw = 0; /* no event tells that the world is stopped already */
  /* First, and twice: Go 1.23 and later treat goroutines created before the first Gomaxprocs as pre-existing and drop
   * their names. They keep only the second number, which the page of mutator utilization needs. */
  V1_EVENT(w, NULL, GOTRACE_V1_GOMAXPROCS, time, w->procs, 0);
  V1_EVENT(w, NULL, GOTRACE_V1_GOMAXPROCS, time, w->procs, 0);
  for (g = all->live; g; g = g->next) {
    bool bound = g->m && g->m->p && (g->status != GO_SYSCALL || g->m->p->status == PROC_SYSCALL);
    g->stw = 0;
    g->unborn = false;
    g->assist = false; /* its end would have no begin */
    v1_write_create(w, NULL, g, g->entry, 0, time);
    if (g->status == GO_WAITING) v1_write_waiting(w, NULL, g, GOTRACE_V1_GO_WAITING, time);
    if (g->status == GO_SYSCALL && !bound) v1_write_waiting(w, NULL, g, GOTRACE_V1_GO_IN_SYSCALL, time);
  }
  for (m = all->thread_list; m; m = m->next)
    if (m->p) v1_begin_thread(w, m, time);
  for (p = all->proc_list; p && c->format < GOTRACE_GO_1_10; p = p->next)
    if (p->scan) V1_EVENT0(w, p, GOTRACE_V1_GC_SCAN_START, time);
  if (all->gc) {
    V1_EVENT(w, NULL, GOTRACE_V1_GC_START, time, w->gc_sequence++, 0);
    w->gc_written = true;
  }
}

void v1_end(consumer *c, int64_t time) {
  writer *w = (writer *)c;
  proc *p;
  for (p = c->w->proc_list; p; p = p->next) { /* viewers need the ends of all slices, as Go's StopTrace writes them */
    if (p->sweep && p->v1_running) {
      if (c->format < GOTRACE_GO_1_10) V1_EVENT0(w, p, GOTRACE_V1_GC_SWEEP_DONE, time);
      else V1_EVENT(w, p, GOTRACE_V1_GC_SWEEP_DONE, time, 0, 0);
    }
    if (p->scan && c->format < GOTRACE_GO_1_10) V1_EVENT0(w, p, GOTRACE_V1_GC_SCAN_DONE, time);
    if (w->stw_written && w->stw_proc == p) V1_EVENT0(w, p, GOTRACE_V1_GC_STW_DONE, time);
    if (p->v1_go && p->v1_go->status == GO_SYSCALL)
      v1_write_stop(w, p, GOTRACE_V1_GO_SYS_BLOCK, false, 0, V1_WAITING, time);
    v1_write_stop(w, p, GOTRACE_V1_GO_PREEMPT, true, 0, V1_RUNNABLE, time);
  }
  if (tick_of(w, time) > w->latest) /* nothing happened at the end: this event shows that the trace lasted until then */
    V1_EVENT(w, NULL, GOTRACE_V1_GOMAXPROCS, time, w->procs, 0);
  /* Later than everything: the collection may have begun with the last event, and readers take events of equal times in
   * any order. */
  if (w->gc_written) V1_EVENT0(w, NULL, GOTRACE_V1_GC_DONE, time + 1);
  if (w->global.scan && c->format < GOTRACE_GO_1_10) V1_EVENT0(w, NULL, GOTRACE_V1_GC_SCAN_DONE, time);
  use_modules(w);
  for (p = c->w->proc_list; p; p = p->next) v1_flush(w, p);
  v1_flush(w, &w->global);
}
