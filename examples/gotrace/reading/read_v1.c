/* read_v1.c - turns the events of Go 1.5 to 1.21 into operations: see source.h
 *
 * The conversion follows internal/trace/tracev1.go of Go 1.27, but its result is consistent: v1 does not record the
 * thread of a goroutine in a system call, and may name one thread for two procs at once. In both cases this file
 * invents threads. Goroutines older than the trace come first, as if they were created ("intros"). */

#include "source.h"

#include <stdlib.h>

static void v1_give(source *s, unsigned kind, int64_t time, thread *m) {
  op o = op_of(s, kind, time, m);
  give(s, &o);
}

static int64_t *v1_lost_proc(source *s, const goroutine *g) { return SIDE(int64_t, &s->lost_procs, g->number); }

static bool v1_is_proc(int64_t p) { return p >= 0 && p < GOTRACE_FAKE_PROC; }

/* `idle`: it has not run until now. If false, an unknown proc is assumed to have run since the trace began. */
static void v1_proc_start(source *s, uint64_t id, int64_t time, thread *m, bool idle) {
  proc *p = world_proc(&s->w, id, false);
  op o = op_of(s, GOTRACE_V2_PROC_STATUS, time, m);
  if (p && p->m) return;
  o.id = id;
  o.a[0] = idle ? PROC_IDLE : PROC_RUNNING;
  if (!p) give(s, &o);
  if (!p && !idle) return;
  o.kind = GOTRACE_V2_PROC_START;
  give(s, &o);
}

/* A goroutine in a system call loses its proc at GoSysBlock, but the operation is given only when the proc stops, soon
 * after. */
static void v1_proc_stop(source *s, proc *p, int64_t time) {
  op o = op_of(s, GOTRACE_V2_PROC_STOP, time, p ? p->m : NULL);
  if (!o.m) return;
  o.a[0] = o.m->g ? (uint64_t)*v1_lost_proc(s, o.m->g) : 0;
  give(s, &o);
}

/* The thread of an event's proc. If that thread's goroutine is in a system call, the proc leaves it first. A proc
 * without a thread gets a new one. */
static thread *v1_proc_thread(source *s, const gotrace_event *e) {
  proc *p;
  if (!v1_is_proc(e->p)) return NULL;
  p = world_proc(&s->w, (uint64_t)e->p, false);
  if (p && p->m && p->m->g && p->m->g->status == GO_SYSCALL) v1_proc_stop(s, p, e->time);
  if (!p || !p->m) {
    v1_proc_start(s, (uint64_t)e->p, e->time, fresh_thread(&s->w), false);
    p = world_proc(&s->w, (uint64_t)e->p, false);
  }
  return p ? p->m : NULL;
}

/* The thread of an event: where its goroutine runs, otherwise its proc's thread. */
static thread *v1_thread(source *s, const gotrace_event *e) {
  goroutine *g = e->g > 0 ? world_go(&s->w, (uint64_t)e->g) : NULL;
  return g && g->m && g->status == GO_RUNNING ? g->m : v1_proc_thread(s, e);
}

static op *v1_intro(const source *s, uint64_t id) {
  uintptr_t place = (uintptr_t)map_get(&s->intro_places, id);
  return place ? &s->intros[place - 1] : NULL;
}

static void v1_create(source *s, const gotrace_event *e) {
  bool told = e->kind == GOTRACE_V2_GO_STATUS;
  op o = op_of(s, GOTRACE_V2_GO_CREATE, e->time, NULL);
  o.id = e->args[0];
  o.stack = pool_take_stack(s->in->decoder, e->stack);
  if (s->format > 1005) o.new_stack = pool_take_stack(s->in->decoder, e->args[told ? 3 : 1]);
  name_new(s, &o);
  if (!s->started) {
    o.kind = GOTRACE_V2_GO_STATUS;
    o.a[0] = GO_RUNNABLE;
    o.stack = 0; /* the stack is that of whoever started the trace */
    GROW(s->intros, s->intro_count, s->intro_capacity);
    s->intros[s->intro_count++] = o;
    map_put(&s->intro_places, o.id, (void *)(uintptr_t)s->intro_count);
    return;
  }
  o.m = v1_thread(s, e);
  s->held = o; /* the next event may say that it waits */
}

/* GoWaiting, GoInSyscall: the goroutine has been waiting since the trace began or, in a later event, since it was
 * created. */
static void v1_waiting(source *s, const gotrace_event *e) {
  uint64_t id = e->args[0];
  bool in_syscall = e->v1_kind == GOTRACE_V1_GO_IN_SYSCALL;
  op *intro = s->started ? NULL : v1_intro(s, id);
  if (intro) {
    intro->a[0] = in_syscall ? GO_SYSCALL : GO_WAITING;
    intro->name = in_syscall ? 0 : old_wait(s, id);
    intro->a[1] = v1_is_proc(e->p) ? (uint64_t)e->p : NOBODY;
    intro->m = in_syscall ? fresh_thread(&s->w) : NULL;
  } else if (s->held.kind == GOTRACE_V2_GO_CREATE && s->held.id == id) {
    s->held.kind = in_syscall ? GOTRACE_V2_GO_CREATE_SYSCALL : GOTRACE_V2_GO_CREATE_BLOCKED;
    if (in_syscall) s->held.m = fresh_thread(&s->w);
    else s->held.name = old_wait(s, id);
    give_held(s);
  } else { /* not right after its creation: it starts and waits at the same time */
    thread *m = fresh_thread(&s->w);
    op o = op_of(s, GOTRACE_V2_GO_START, e->time, m), stop = o;
    give_held(s);
    v1_proc_start(s, fresh_id(&s->w.procs, FRESH_PROC + s->w.proc_count), e->time, m, true);
    o.id = id;
    give(s, &o);
    stop.kind = in_syscall ? GOTRACE_V2_GO_SYSCALL_BEGIN : GOTRACE_V2_GO_BLOCK;
    stop.name = in_syscall ? 0 : old_wait(s, id);
    give(s, &stop);
    v1_give(s, GOTRACE_V2_PROC_STOP, e->time, m);
  }
}

/* For readers, a stopped world belongs to the goroutine that stopped it, and ends at the latest when that goroutine
 * stops running. */
static void v1_end_stw(source *s, int64_t time, goroutine *of) {
  if (!s->stw || (of && s->stw != of)) return;
  if (s->stw->stw && runs(s->stw->m)) v1_give(s, GOTRACE_V2_STW_END, time, s->stw->m);
  s->stw = NULL;
}

static void v1_begin_stw(source *s, const gotrace_event *e) {
  const proc *p = v1_is_proc(e->p) ? world_proc(&s->w, (uint64_t)e->p, false) : NULL;
  thread *m = p ? p->m : NULL; /* before 1.10, an idle proc may do this */
  op o = op_of(s, GOTRACE_V2_STW_BEGIN, e->time, m);
  if (s->stw || !runs(m)) return;
  o.name = pool_put_text(e->data, e->data_size);
  s->stw = m->g;
  give(s, &o);
}

/* Before 1.10, the same event numbers mean that a proc scans during mark termination. Readers treat that as a stopped
 * world. */
static void v1_scan(source *s, const gotrace_event *e, unsigned kind) {
  op o = op_of(s, kind, e->time, NULL);
  o.id = v1_is_proc(e->p) ? (uint64_t)e->p : NOBODY;
  if (s->format < GOTRACE_GO_1_10) give(s, &o);
}

/* The goroutine stops running, or ends. */
static void v1_stop(source *s, const gotrace_event *e) {
  thread *m = v1_thread(s, e);
  if (!runs(m)) return;
  /* A goroutine that removes its own proc with GOMAXPROCS continues at once on another, with the world still stopped
   * (Go: procresize). v2 cannot express that. */
  if (!s->to->as_go || e->v1_kind != GOTRACE_V1_GO_SCHED) v1_end_stw(s, e->time, m->g);
  give_event(s, e, m);
}

static void v1_syscall(source *s, const gotrace_event *e) {
  thread *m = v1_thread(s, e);
  s->calls++;
  if (runs(m)) give_event(s, e, m);
}

/* An event that belongs to the last one: the end of a system call that keeps its proc, or a label. */
static void v1_implied(source *s, const gotrace_event *e) {
  const goroutine *g = e->g > 0 ? world_go(&s->w, (uint64_t)e->g) : NULL;
  thread *m = g ? g->m : NULL;
  op o = op_of(s, e->kind, e->time, m);
  if (!m) return;
  if (e->kind == GOTRACE_V2_GO_SYSCALL_END && g->status == GO_SYSCALL) give(s, &o);
  if (e->kind != GOTRACE_V2_GO_LABEL) return;
  o.id = (uint64_t)e->g;
  o.name = pool_take_text(s->in->decoder, e->args[0]);
  give(s, &o);
}

static void v1_syscall_block(source *s, const gotrace_event *e) {
  goroutine *g = world_go(&s->w, (uint64_t)e->g);
  thread *m = g ? g->m : NULL;
  if (!m || !m->p) return;
  v1_end_stw(s, e->time, g);
  if (g->status == GO_RUNNING) v1_give(s, GOTRACE_V2_GO_SYSCALL_BEGIN, e->time, m);
  *v1_lost_proc(s, g) = e->time;
}

static void v1_syscall_exit(source *s, const gotrace_event *e) {
  goroutine *g = world_go(&s->w, (uint64_t)e->g);
  if (!g || !g->m || g->status != GO_SYSCALL) return;
  if (g->m->p && g->m->p->status == PROC_SYSCALL) v1_proc_stop(s, g->m->p, e->time);
  v1_give(s, GOTRACE_V2_GO_SYSCALL_END_BLOCKED, e->time, g->m);
  *v1_lost_proc(s, g) = 0;
}

static void v1_start(source *s, const gotrace_event *e) {
  op o = op_of(s, GOTRACE_V2_GO_START, e->time, v1_proc_thread(s, e)); /* the goroutine is not running yet */
  o.id = e->args[0];
  if (!o.m || o.m->g) return;
  give(s, &o);
}

static void v1_proc(source *s, const gotrace_event *e) {
  proc *p = world_proc(&s->w, (uint64_t)e->p, false);
  thread *m;
  if (!v1_is_proc(e->p)) return;
  if (e->v1_kind == GOTRACE_V1_PROC_STOP) {
    v1_proc_stop(s, p, e->time);
    return;
  }
  m = world_thread(&s->w, (uint64_t)e->m);
  if (p && m->p == p) return; /* it has run since the trace began */
  if (m->p || runs(m)) m = fresh_thread(&s->w);
  if (p && p->m) v1_proc_stop(s, p, e->time); /* there were events on it before its start */
  v1_proc_start(s, (uint64_t)e->p, e->time, m, true);
}

/* Finds the goroutines that are running when the trace begins. Go's reader assumes that a goroutine that starts before
 * the first Gomaxprocs has run since the trace began, as the one that started the trace has. Here this holds only if
 * neither it nor its proc did anything before. `gos` and `procs`: those that did something. */
static void v1_scan_start(source *s, const gotrace_event *e, map *gos, map *procs) {
  void *const yes = s;
  switch (e->v1_kind) {
  case GOTRACE_V1_GO_CREATE:
  case GOTRACE_V1_GO_WAITING:
  case GOTRACE_V1_GO_IN_SYSCALL:
  case GOTRACE_V1_PROC_START: return;
  case GOTRACE_V1_GO_START:
    if (!v1_is_proc(e->p) || map_get(procs, (uint64_t)e->p) || map_get(gos, e->args[0])) break;
    GROW(s->running, s->running_count, s->running_capacity);
    s->running[s->running_count++] = (placed){e->args[0], (uint64_t)e->p, (uint64_t)e->m};
    break;
  default: break;
  }
  if (e->v1_kind == GOTRACE_V1_GO_START || e->v1_kind == GOTRACE_V1_GO_START_LABEL ||
      e->v1_kind == GOTRACE_V1_GO_UNBLOCK)
    map_put(gos, e->args[0], yes);
  if (v1_is_proc(e->p)) map_put(procs, (uint64_t)e->p, yes);
}

static void scan_starts(source *s) {
  gotrace_event e;
  map gos = {0}, procs = {0};
  bool initialized = false;
  if (input_decode(s->in, false) != GOTRACE_OK) return;
  while (!initialized && input_next(s->in, &e) == GOTRACE_OK) {
    initialized = e.v1_kind == GOTRACE_V1_GOMAXPROCS;
    if (initialized) s->w.gomaxprocs = e.args[0];
    else v1_scan_start(s, &e, &gos, &procs);
  }
  if (!initialized) s->running_count = 0; /* not written by Go */
  map_free(&gos);
  map_free(&procs);
}

/* Finds what must be known before the event that tells it. */
void scan_v1(source *s) {
  if (!s->to->as_go) scan_starts(s);
  pool_forget_ids(); /* of another trace */
}

/* Introduces a goroutine that is running when the trace begins, with its proc. */
static void v1_introduce_running(source *s, const placed *on) {
  op o = op_of(s, GOTRACE_V2_PROC_STATUS, s->first, NULL);
  op *intro = v1_intro(s, on->g);
  if (!intro || intro->a[0] != GO_RUNNABLE) return;
  o.m = on->m == NOBODY ? fresh_thread(&s->w) : world_thread(&s->w, on->m);
  if (o.m->p) return;
  o.id = on->p;
  o.a[0] = PROC_RUNNING;
  introduce(s, &o);
  intro->a[0] = GO_RUNNING;
  intro->a[1] = on->p;
  intro->m = o.m;
}

void v1_give_intros(source *s) {
  uint32_t i;
  for (i = 0; i < s->running_count; i++) v1_introduce_running(s, &s->running[i]);
  for (i = 0; i < s->intro_count; i++) {
    s->intros[i].time = s->first;
    introduce(s, &s->intros[i]);
  }
  s->running_count = 0;
  s->intro_count = 0;
  s->started = true;
}

/* A goroutine that runs when the trace begins. */
static void v1_was_running(source *s, const gotrace_event *e) {
  op o = op_of(s, GOTRACE_V2_GO_STATUS, e->time, NULL);
  goroutine *g = world_go(&s->w, e->args[0]);
  o.m = v1_proc_thread(s, e);
  o.id = e->args[0];
  o.a[0] = GO_RUNNING;
  o.a[1] = (uint64_t)e->p;
  if (!g || !o.m || o.m->g) return;
  o.new_stack = g->entry;
  give(s, &o);
}

/* Whether an event may belong to the initial state of the trace. */
static bool tells_start(const gotrace_event *e) {
  return e->v1_kind == GOTRACE_V1_GO_CREATE || e->v1_kind == GOTRACE_V1_GO_WAITING ||
         e->v1_kind == GOTRACE_V1_GO_IN_SYSCALL || e->v1_kind == GOTRACE_V1_PROC_START ||
         e->v1_kind == GOTRACE_V1_GO_START;
}

void v1_later_statuses(source *s, const gotrace_event *e) {
  s->over = false;
  while (!s->initialized && tells_start(e)) {
    gotrace_event told = *e;
    told.time = s->first + s->until;
    if (e->v1_kind == GOTRACE_V1_GO_START) v1_was_running(s, &told);
    if (source_next(s, &e) != GOTRACE_OK) break;
  }
  s->over = true;
}

static void take_event(source *s, const gotrace_event *e);

void take_v1(source *s, const gotrace_event *e) {
  s->v1_kind = e->v1_kind;
  if (e->implied) {
    v1_implied(s, e);
    return;
  }
  name_own(s, e);
  if (e->v1_kind == GOTRACE_V1_GOMAXPROCS) s->initialized = true;
  if (s->to->as_go && !s->initialized && e->v1_kind == GOTRACE_V1_GO_START) {
    if (!s->started) v1_give_intros(s);
    give_held(s);
    v1_was_running(s, e);
    return;
  }
  take_event(s, e);
}

static void take_event(source *s, const gotrace_event *e) {
  thread *m;
  bool create = e->v1_kind == GOTRACE_V1_GO_CREATE,
       waiting = e->v1_kind == GOTRACE_V1_GO_WAITING || e->v1_kind == GOTRACE_V1_GO_IN_SYSCALL;
  /* Those at the start tell what has been so; gotrace.h writes two, and the starts of procs may come between them. */
  if (e->v1_kind == GOTRACE_V1_GOMAXPROCS && (!s->started || (e->time == s->first && e->args[0] == s->w.gomaxprocs))) {
    op procs = op_of(s, GOTRACE_V2_PROCS_CHANGE, e->time, NULL);
    procs.id = s->w.gomaxprocs = e->args[0];
    if (s->to->as_go) give(s, &procs);
    return;
  }
  /* To Go, what is created after the first Gomaxprocs is new, even if nothing has happened before. */
  if (!s->started && ((!create && !waiting) || s->initialized)) v1_give_intros(s);
  if (!waiting && s->held.kind) give_held(s);
  switch (e->v1_kind) {
  case GOTRACE_V1_PROC_START:
  case GOTRACE_V1_PROC_STOP: v1_proc(s, e); break;
  case GOTRACE_V1_GO_CREATE: v1_create(s, e); break;
  case GOTRACE_V1_GO_WAITING:
  case GOTRACE_V1_GO_IN_SYSCALL: v1_waiting(s, e); break;
  case GOTRACE_V1_GO_START:
  case GOTRACE_V1_GO_START_LABEL: v1_start(s, e); break;
  case GOTRACE_V1_GO_SYS_CALL: v1_syscall(s, e); break;
  case GOTRACE_V1_GO_SYS_BLOCK: v1_syscall_block(s, e); break;
  case GOTRACE_V1_GO_SYS_EXIT: v1_syscall_exit(s, e); break;
  case GOTRACE_V1_GO_UNBLOCK:
    m = v1_thread(s, e);
    if (e->p == GOTRACE_TIMER_PROC && runs(m)) m->g->timer = true;
    give_event(s, e, m);
    break;
  case GOTRACE_V1_GC_START:
  case GOTRACE_V1_GC_DONE:
    if (e->kind == GOTRACE_V2_GC_BEGIN) give_event(s, e, runs(s->w.last_running) ? s->w.last_running : NULL);
    else give_event(s, e, v1_thread(s, e));
    break;
  case GOTRACE_V1_STW_START: /* or GCScanStart */
    v1_scan(s, e, OP_GC_SCAN_BEGIN);
    v1_begin_stw(s, e);
    break;
  case GOTRACE_V1_STW_DONE:
    v1_scan(s, e, OP_GC_SCAN_END);
    v1_end_stw(s, e->time, NULL);
    break;
  case GOTRACE_V1_CPU_SAMPLE: give_sample(s, e); break;
  default:
    if (e->kind == GOTRACE_V2_GO_STOP || e->kind == GOTRACE_V2_GO_BLOCK || e->kind == GOTRACE_V2_GO_DESTROY)
      v1_stop(s, e);
    else if (e->kind) give_event(s, e, v1_thread(s, e));
    break;
  }
}
