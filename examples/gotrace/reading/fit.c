/* fit.c - fits the events of Go 1.5 to 1.21 to the world: see source.h
 *
 * In v1 only the start of a proc names a thread, which may be that of another proc too. No thread is known for a
 * goroutine whose system call has lost its proc. Go's readers do not mind. But in the world a thread has one proc and
 * one goroutine, and a trace that is written needs the same. So each event gets a thread on which it can happen, some
 * of them invented, and what must have happened before it is given first. */

#include "source.h"

static bool is_proc(int64_t p) { return p >= 0 && p < GOTRACE_FAKE_PROC; }

static int64_t *lost_proc(source *s, const goroutine *g) { return SIDE(int64_t, &s->lost_procs, g->number); }

/* Something that no event tells. */
static void infer(source *s, unsigned kind, int64_t time, thread *m, uint64_t id) {
  op o = op_of(s, kind, time, m);
  o.id = id;
  o.inferred = true;
  give(s, &o);
}

/* `since_start`: an unknown proc has run on the thread since the trace began; otherwise it was idle. */
static void start_proc(source *s, uint64_t id, int64_t time, thread *m, bool since_start) {
  const proc *p = world_proc(&s->w, id, false);
  op o = op_of(s, GOTRACE_V2_PROC_STATUS, time, m);
  o.id = id;
  o.a[0] = since_start ? PROC_RUNNING : PROC_IDLE;
  if (!p && since_start) {
    introduce(s, &o);
    return;
  }
  if (!p) give(s, &o);
  o.kind = GOTRACE_V2_PROC_START;
  give(s, &o);
}

/* The proc leaves its thread. A goroutine that is in a system call there has lost it at its GoSysBlock, a bit earlier.
 */
static void stop_proc(source *s, const proc *p, int64_t time, bool inferred) {
  op o = op_of(s, GOTRACE_V2_PROC_STOP, time, p ? p->m : NULL);
  if (!o.m) return;
  o.inferred = inferred;
  o.a[0] = o.m->g ? (uint64_t)*lost_proc(s, o.m->g) : 0;
  give(s, &o);
}

/* The thread of an event's proc, where no goroutine is in a system call. NULL: it happened on no proc. */
static thread *proc_thread(source *s, const gotrace_event *e) {
  const proc *p;
  if (!is_proc(e->p)) return NULL;
  p = world_proc(&s->w, (uint64_t)e->p, false);
  if (p && p->m && p->m->g && p->m->g->status == GO_SYSCALL) stop_proc(s, p, e->time, true);
  if (!p || !p->m) start_proc(s, (uint64_t)e->p, e->time, fresh_thread(&s->w), true);
  p = world_proc(&s->w, (uint64_t)e->p, false);
  return p ? p->m : NULL;
}

/* The thread of an event: where its goroutine runs, otherwise its proc's. */
static thread *event_thread(source *s, const gotrace_event *e, const goroutine *g) {
  return g && g->m && g->status == GO_RUNNING ? g->m : proc_thread(s, e);
}

static void fit_proc(source *s, const gotrace_event *e) {
  proc *p = world_proc(&s->w, (uint64_t)e->p, false);
  thread *m;
  if (!is_proc(e->p)) return;
  if (e->v1_kind == GOTRACE_V1_PROC_STOP) {
    stop_proc(s, p, e->time, false);
    return;
  }
  m = world_thread(&s->w, (uint64_t)e->m);
  if (p && m->p == p) return; /* it has run since the trace began */
  if (m->p || runs(m)) m = fresh_thread(&s->w);
  if (p && p->m) stop_proc(s, p, e->time, true); /* there were events on it before its start */
  start_proc(s, (uint64_t)e->p, e->time, m, s->beginning);
}

/* A goroutine that is older than the trace: runnable, unless a second status tells what else it has been since then. */
static void fit_old(source *s, const gotrace_event *e, const goroutine *g) {
  op o = op_of(s, GOTRACE_V2_GO_STATUS, s->first, NULL);
  o.id = e->args[0];
  o.a[0] = e->args[2] ? e->args[2] : GO_RUNNABLE;
  o.a[1] = is_proc(e->p) ? (uint64_t)e->p : NOBODY;
  o.new_stack = g ? g->entry : 0;
  if (!g && s->format > 1005) o.new_stack = pool_take_stack(s->in->decoder, e->args[3]);
  name_new(s, &o);
  if (o.a[0] == GO_WAITING) o.name = old_wait(s, o.id);
  if (o.a[0] == GO_SYSCALL) o.m = fresh_thread(&s->w);
  if (o.a[0] == GO_RUNNING) {
    o.m = proc_thread(s, e);
    if (s->to->as_go) o.time = e->time;
    if (!o.m || o.m->g) return;
  }
  introduce(s, &o);
}

/* A goroutine that was created while the trace was written turns out to wait, or to be in a system call. If it did not
 * just get created, it starts and waits at the same time. */
static void fit_waiting(source *s, const gotrace_event *e) {
  bool in_syscall = e->args[2] == GO_SYSCALL, just = s->held.kind && s->held.id == e->args[0];
  thread *m = in_syscall || !just ? fresh_thread(&s->w) : s->held.m;
  op stop = op_of(s, in_syscall ? GOTRACE_V2_GO_SYSCALL_BEGIN : GOTRACE_V2_GO_BLOCK, e->time, m);
  stop.name = in_syscall ? 0 : old_wait(s, e->args[0]);
  if (just) {
    s->held.kind = in_syscall ? GOTRACE_V2_GO_CREATE_SYSCALL : GOTRACE_V2_GO_CREATE_BLOCKED;
    s->held.m = m;
    s->held.name = stop.name;
    give_held(s);
    return;
  }
  give_held(s);
  start_proc(s, fresh_id(&s->w.procs, FRESH_PROC + s->w.proc_count), e->time, m, false);
  infer(s, GOTRACE_V2_GO_START, e->time, m, e->args[0]);
  give(s, &stop);
  infer(s, GOTRACE_V2_PROC_STOP, e->time, m, 0);
}

/* A stopped world belongs to the goroutine that stopped it, and ends at the latest when that stops running. */
static void end_stw(source *s, int64_t time, const goroutine *of) {
  if (!s->stw || (of && s->stw != of)) return;
  if (s->stw->stw && runs(s->stw->m)) infer(s, GOTRACE_V2_STW_END, time, s->stw->m, 0);
  s->stw = NULL;
}

/* A goroutine stops the world. Before 1.10, the events mean that a proc, which may be idle, scans. */
static bool fit_stw(source *s, const gotrace_event *e, thread **m) {
  const proc *p = is_proc(e->p) ? world_proc(&s->w, (uint64_t)e->p, false) : NULL;
  bool begins = e->kind == GOTRACE_V2_STW_BEGIN;
  if (s->format < GOTRACE_GO_1_10)
    infer(s, begins ? SCAN_START : SCAN_DONE, e->time, NULL, is_proc(e->p) ? (uint64_t)e->p : NOBODY);
  if (!begins) end_stw(s, e->time, NULL);
  *m = p ? p->m : NULL;
  if (!begins || s->stw || !runs(*m)) return false;
  s->stw = (*m)->g;
  return true;
}

/* The goroutine's system call loses its proc. The operation is given when the proc stops. */
static void lose_proc(source *s, const goroutine *g, int64_t time) {
  end_stw(s, time, g);
  *lost_proc(s, g) = time;
}

static void fit_status(source *s, const gotrace_event *e, goroutine *g) {
  if (e->implied) return; /* it was runnable all the time */
  if (e->extra != GOTRACE_STATUS_UNKNOWN) {
    if (g && g->m && g->m->p) lose_proc(s, g, e->time);
  } else if (s->beginning) {
    fit_old(s, e, g);
  } else {
    fit_waiting(s, e);
  }
}

bool fit(source *s, const gotrace_event *e, thread **m) {
  goroutine *g = e->g > 0 ? world_go(&s->w, (uint64_t)e->g) : NULL;
  if (e->kind == GOTRACE_V2_GO_STATUS) {
    fit_status(s, e, world_go(&s->w, e->args[0]));
    return false;
  }
  give_held(s);
  s->beginning &= !ends_beginning(e);
  switch (e->kind) {
  case GOTRACE_V2_PROC_STATUS:
  case GOTRACE_V2_PROC_START:
  case GOTRACE_V2_PROC_STOP: fit_proc(s, e); return false;
  case GOTRACE_V2_PROCS_CHANGE: /* while nothing runs, it tells what has been so; gotrace.h writes two at once */
    if (!s->to->as_go && !s->w.proc_list) s->w.gomaxprocs = e->args[0];
    if (!s->to->as_go && (!s->w.proc_list || (e->time == s->first && e->args[0] == s->w.gomaxprocs))) return false;
    *m = event_thread(s, e, g);
    return true;
  case GOTRACE_V2_GO_CREATE: /* the next event may say that it waits */
    s->held = event_op(s, e, event_thread(s, e, g));
    name_new(s, &s->held);
    return false;
  case GOTRACE_V2_GO_START: *m = proc_thread(s, e); return *m && !(*m)->g;
  case GOTRACE_V2_GO_STOP:
  case GOTRACE_V2_GO_BLOCK:
  case GOTRACE_V2_GO_DESTROY:
    *m = event_thread(s, e, g);
    if (!runs(*m)) return false;
    /* A goroutine that removes its own proc with GOMAXPROCS continues at once on another, with the world still stopped
     * (Go: procresize). v2 cannot express that. */
    if (!s->to->as_go || e->v1_kind != GOTRACE_V1_GO_SCHED) end_stw(s, e->time, (*m)->g);
    return true;
  case GOTRACE_V2_GO_SYSCALL_BEGIN:
    *m = event_thread(s, e, g);
    if (!runs(*m)) return false;
    if (e->v1_kind == GOTRACE_V1_GO_SYS_BLOCK) lose_proc(s, (*m)->g, e->time);
    return true;
  case GOTRACE_V2_GO_SYSCALL_END: *m = g ? g->m : NULL; return *m && g->status == GO_SYSCALL;
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED:
    *m = g ? g->m : NULL;
    if (!*m || g->status != GO_SYSCALL) return false;
    if ((*m)->p && (*m)->p->status == PROC_SYSCALL) stop_proc(s, (*m)->p, e->time, true);
    *lost_proc(s, g) = 0;
    return true;
  case GOTRACE_V2_GO_LABEL: *m = g ? g->m : NULL; return *m != NULL;
  case GOTRACE_V2_GO_UNBLOCK:
    *m = event_thread(s, e, g);
    if (e->p == GOTRACE_TIMER_PROC && runs(*m)) (*m)->g->timer = true;
    return true;
  case GOTRACE_V2_GC_BEGIN: *m = runs(s->w.last_running) ? s->w.last_running : NULL; return true;
  case GOTRACE_V2_STW_BEGIN:
  case GOTRACE_V2_STW_END: return fit_stw(s, e, m);
  case GOTRACE_V2_NONE: return false;
  case GOTRACE_V2_CPU_SAMPLE: return true;
  default: *m = event_thread(s, e, g); return true;
  }
}
