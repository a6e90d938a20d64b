/* write.h - the code of writer.h; part of library.c, because it uses the private part of gotrace.h
 *
 * An operation becomes a record of its thread, which the transcriber applies at once (`replay`). Its rows of strings
 * and stacks have the pool's ids. Where a record would lose something, as with CPU samples, this file calls the
 * transcriber's own functions. */

#ifndef WRITE_H
#define WRITE_H

#include "../record/board.h"
#include "writer.h"

/* The tick of a time; at least 1, because readers of v1 treat 0 as no time. */
static uint64_t tick_of(const writer *w, int64_t time) { return (uint64_t)between(w->c.from, time) + 1; }

/* ---------------------------------------------------------------------------------------------------- contents ---- */

/* Enters a string or stack of the pool, which follows the entry in memory. NULL: it is there. */
static gotrace__entry *add_row(writer *w, gotrace__mirror *to, uint32_t id, uint32_t size, size_t payload) {
  gotrace__entry *entry;
  if (id < to->capacity && to->rows[id].entry) return NULL;
  if (!gotrace__model_grow(w->t, &to->rows, &to->capacity, (size_t)id + 1, sizeof *to->rows)) fail("out of memory");
  entry = keep(sizeof *entry + payload);
  entry->size = size;
  to->rows[id].entry = entry;
  return entry;
}

static uint32_t use_text(writer *w, uint32_t id) {
  pool_text text = pool_text_of(id);
  size_t size = cut_size(text.data, text.size);
  gotrace__entry *entry = id ? add_row(w, &w->t->strings[0], id, (uint32_t)size, size) : NULL;
  if (entry) memcpy(entry + 1, text.data, size);
  return id;
}

static uint32_t use_stack(writer *w, uint32_t id) {
  pool_stack stack = pool_stack_of(id);
  uint32_t count = stack.count < GOTRACE_STACK_SIZE ? stack.count : GOTRACE_STACK_SIZE, i;
  gotrace__entry *entry = id ? add_row(w, &w->t->stacks[0], id, count, 4 * count * sizeof(uint64_t)) : NULL;
  uint64_t *frame;
  if (!entry) return id;
  w->t->stacks[0].rows[id].frames = frame = (uint64_t *)(entry + 1);
  for (i = 0; i < count; i++) {
    *frame++ = stack.frames[i].pc;
    *frame++ = use_text(w, stack.frames[i].function);
    *frame++ = use_text(w, stack.frames[i].file);
    *frame++ = stack.frames[i].line;
  }
  return id;
}

static uint32_t stack_id(writer *w, uint32_t stack) { return gotrace__stack_id(w->t, use_stack(w, stack)); }

/* The stack of a status: the one with which the goroutine waits, if its outermost function is the one it began with;
 * otherwise that function alone. Readers name goroutines by it. In v1 it is always that function. */
static uint32_t status_stack(writer *w, uint32_t entry, uint32_t stack) {
  pool_stack first = pool_stack_of(entry), there = pool_stack_of(stack);
  bool tells =
      there.count && (!first.count || first.frames[first.count - 1].function == there.frames[there.count - 1].function);
  return use_stack(w, tells && !w->t->v1 ? stack : entry);
}

/* A reason as in a record: the number of a known one in v1, whose events have only that; in v2 the first name, which is
 * set to this one. */
static const char *const reason_names[GOTRACE__REASONS] = {""};

static uint32_t reason_of(writer *w, uint32_t text, const gotrace__known_reason *known, unsigned count) {
  if (!w->t->v1) {
    w->t->named_refs[0] = use_text(w, text);
    return 1 << 8;
  }
  while (count && !pool_text_is(text, known[count - 1].name)) count--;
  return count ? count - 1 : 0;
}

/* ----------------------------------------------------------------------------------------------------- objects ---- */

static written_go *written(writer *w, const goroutine *g) { return SIDE(written_go, &w->gos, g->number); }

static written_thread *written_on(writer *w, const thread *m) { return SIDE(written_thread, &w->threads, m->number); }

static uint32_t place_of(writer *w, const goroutine *g) {
  written_go *of = written(w, g);
  if (!of->place) of->place = w->free_count ? w->free[--w->free_count] : ++w->places;
  return (uint32_t)of->place;
}

static gotrace__model_go *model_of(writer *w, const goroutine *g) {
  gotrace__model_go *to = gotrace__go_of(w->t, place_of(w, g));
  if (!to) fail("out of memory");
  return to;
}

/* A goroutine may have ended. */
static void free_place(writer *w, const goroutine *g) {
  if (!g || !written(w, g)->place || model_of(w, g)->status != GOTRACE__DEAD) return;
  GROW(w->free, w->free_count, w->free_capacity);
  w->free[w->free_count++] = written(w, g)->place;
  written(w, g)->place = 0;
}

static uint32_t proc_place(writer *w, const proc *p) {
  uint64_t *place = SIDE(uint64_t, &w->procs, p->number);
  if (!*place) *place = 1 + (p->id < GOTRACE_FAKE_PROC ? p->id : FRESH_PROC + 50000 + w->large_procs++);
  return (uint32_t)*place;
}

static gotrace__model_proc *model_of_proc(writer *w, const proc *p) {
  gotrace__model_proc *to = gotrace__proc_of(w->t, proc_place(w, p));
  if (!to) fail("out of memory");
  return to;
}

static void turn_to(writer *w, gotrace__source *r, int64_t time) { gotrace__turn_to(w->t, r, tick_of(w, time)); }

static void turn_over(writer *w, gotrace__source *r) {
  gotrace__transcriber *t = w->t;
  if (r == &t->service && r->proc && !r->go) gotrace__end_proc(t, r); /* it was made for one record */
  if (r->time < t->now) r->time = t->now;
  if (w->latest < t->now) w->latest = t->now;
}

/* `said`: what the record itself does not say: its stack, name and task. */
static void put(writer *w, gotrace__source *r, int64_t time, const gotrace__said *said, const gotrace__record *record) {
  turn_to(w, r, time);
  r->said = *said;
  r->record = record;
  gotrace__apply(w->t, r, record, true);
  r->record = NULL;
  gotrace__forget_said(r);
  turn_over(w, r);
}
#define SITE(stack, name) (&(const gotrace__site_key){(stack), (name)})
#define SAID(stack, name, task_id) \
  (&(const gotrace__said){.any = true, .site = SITE((stack), (name)), .task = (task_id)})
#define RECORD(KIND, ...) (&(const gotrace__record){.as_##KIND = {GOTRACE__REC_##KIND, __VA_ARGS__}})
#define PUT(w, r, time, stack, KIND, ...) put((w), (r), (time), SAID((stack), 0, 0), RECORD(KIND, __VA_ARGS__))

/* v1: a goroutine that has been in a mark assist since before the part begins it where it first runs. */
static void resume_assist(writer *w, gotrace__source *r, const goroutine *g, int64_t time) {
  if (w->t->v1 && g->assist && !model_of(w, g)->assist) PUT(w, r, time, 0, MARK_ASSIST_BEGIN, 0);
}

/* The id of a thread in the result. The writer's own threads get ids that no thread has yet. A thread of the input
 * that appears later with such an id, as in a trace that was converted before, gets another. */
static uint64_t take_thread_id(writer *w, uint64_t id) {
  if (map_get(&w->thread_ids, id)) id = fresh_id(&w->thread_ids, FRESH_THREAD);
  map_put(&w->thread_ids, id, w);
  return id;
}

/* The thread as the transcriber knows it; NULL: the transcriber's own. v1 has a goroutine's label in the event that
 * starts it, so that event waits until more happens on its thread. */
static gotrace__source *source_of(writer *w, const thread *m) {
  written_thread *of = m ? written_on(w, m) : NULL;
  if (!of) return &w->t->service;
  if (!of->source) {
    uint64_t id = take_thread_id(w, m->id == NOBODY ? fresh_thread(w->c.w)->id : m->id);
    of->source = gotrace__transcribe_thread(w->t, id, NULL);
  }
  if (!of->source) fail("out of memory");
  if (of->starting) {
    const goroutine *g = of->starting;
    of->starting = NULL;
    PUT(w, of->source, of->start_time, 0, GO_START, place_of(w, g));
    resume_assist(w, of->source, g, of->start_time);
  }
  return of->source;
}

/* Where a goroutine runs, for what concerns the whole program; NULL: none does. */
static thread *any_running(const writer *w) {
  thread *m = w->c.w->last_running;
  if (runs(m)) return m;
  for (m = w->c.w->thread_list; m && !runs(m);) m = m->next;
  return m;
}

/* ------------------------------------------------------------------------------------------------- generations ---- */

/* A proc that was there before, or that has been idle. */
static void introduce_proc(writer *w, const proc *p, unsigned status, thread *m, int64_t time) {
  gotrace__transcriber *t = w->t;
  gotrace__model_proc *to = model_of_proc(w, p);
  gotrace__source *r = source_of(w, m);
  if (to->known) return;
  to->known = true;
  to->status = PROC_IDLE;
  if (m && !r->proc && (status == PROC_RUNNING || status == PROC_SYSCALL)) {
    to->status = (uint8_t)status;
    to->on = r;
    r->proc = to;
  }
  to->sweep = to->sweep_seen = p->sweep && (!t->v1 || to->on);
  turn_to(w, r, time);
  gotrace__restate_proc(t, r, to);
  if (t->v1 && to->sweep) gotrace__put_v1(t, &to->lane, GOTRACE_V1_GC_SWEEP_START, t->now, 1, 0, 0, 0);
  turn_over(w, r);
}

/* Writes, on a thread, the status of a goroutine that was there before. `m`: where it runs or is in a system call. */
static void introduce_go(writer *w, goroutine *g, unsigned status, uint32_t stack, thread *m, thread *on,
                         int64_t time) {
  gotrace__transcriber *t = w->t;
  gotrace__model_go *to = model_of(w, g);
  gotrace__source *r = source_of(w, t->v1 ? NULL : on), *its = m ? source_of(w, m) : NULL;
  /* In v1 it is created, and starts at the same time. A system call that has lost its proc is told otherwise. */
  bool starts = t->v1 && (status == GO_RUNNING || (status == GO_SYSCALL && m && m->p && m->p->status == PROC_SYSCALL));
  bool bound = its && !its->go && (status == GO_RUNNING || status == GO_SYSCALL);
  if ((status == GO_RUNNING || status == GO_SYSCALL) && !bound) status = GO_RUNNABLE;
  gotrace__go_begin(t, to, g->id, stack, starts ? GO_RUNNABLE : status, GOTRACE__RECORD_OLD);
  to->assist = g->assist && !t->v1;
  turn_to(w, r, time);
  gotrace__emit_status(t, r, to, bound ? its->id : NOBODY, t->now);
  turn_over(w, r);
  if (bound && !starts) {
    to->on = its;
    its->go = to;
  } else if (bound) {
    pool_text label = pool_text_of(g->label);
    if (t->v1) gotrace__model_label(t, to, label.data, label.size); /* for this start only: see take_label */
    PUT(w, its, time, 0, GO_START, place_of(w, g));
    if (t->v1) gotrace__model_label(t, to, "", 0);
    resume_assist(w, its, g, time);
    if (status == GO_SYSCALL) PUT(w, its, time, 0, SYSCALL_BEGIN, 0);
  }
}

/* Writes that a collection is in progress. In v2's first generation this event may be on any thread, later only where a
 * goroutine runs. Later it may also be left out, as readers already know of the collection. */
static void write_gc(writer *w, int64_t time) {
  gotrace__transcriber *t = w->t;
  thread *m = t->v1 ? NULL : any_running(w);
  gotrace__source *r = source_of(w, m);
  if (!m && t->generation > 1) return;
  turn_to(w, r, time);
  gotrace__gc_event(t, r, t->v1 ? GOTRACE_V2_GC_BEGIN : GOTRACE_V2_GC_ACTIVE, 0);
  turn_over(w, r);
}

static void write_experiment(writer *w, const experiment *e, int64_t time) {
  pool_text data = pool_text_of(e->data);
  if (w->format < GOTRACE_GO_1_23) w->lost[LOST_EXPERIMENTS]++;
  else
    gotrace__write_batch(w->t, GOTRACE_V2_EXPERIMENTAL_BATCH, (unsigned)e->number & 0xff, e->thread, tick_of(w, time),
                         (const uint8_t *)data.data, data.size);
}

static gotrace__clocks clocks_of(const writer *w, int64_t time) {
  uint64_t wall = wall_at(&w->c.w->wall, time);
  gotrace__clocks clocks = {0, tick_of(w, time), 0, 0};
  clocks.wall_seconds = wall / 1000000000u;
  clocks.wall_nanoseconds = (uint32_t)(wall % 1000000000u);
  return clocks;
}

/* Begins a later generation with the statuses of all procs and goroutines. */
static void new_generation(writer *w, int64_t time) {
  gotrace__transcriber *t = w->t;
  goroutine *g;
  size_t i;
  w->statuses = t->events;
  t->to_unit = tick_of(w, time) > w->latest ? tick_of(w, time) : w->latest;
  t->clocks = clocks_of(w, time);
  gotrace__transcribe_cut(t);
  for (i = 0; i < w->c.w->experiment_count; i++) write_experiment(w, &w->c.w->experiments[i], time);
  for (g = w->c.w->live; g; g = g->next) model_of(w, g)->entry = status_stack(w, g->entry, g->stack);
  turn_to(w, &t->service, time);
  gotrace__restate_all(t);
  turn_over(w, &t->service);
  if (t->gc) write_gc(w, time);
  w->c.statuses = false;
  w->generation_time = time;
  w->statuses = t->events - w->statuses;
  w->events = t->events;
}

/* A generation ends after about 2 MiB or 1 s. It goes on until it has four times as many events as it began with
 * statuses, and while the world is stopped: readers look up the reason when the stop ends, and then the id must still
 * mean the same text. */
#define GENERATION_BYTES ((uint64_t)2 << 20)
#define GENERATION_TIME 1000000000
static bool generation_is_full(const writer *w, int64_t time) {
  const gotrace__transcriber *t = w->t;
  if (t->v1 || t->stw_go || w->pending_statuses || t->events - w->events < 4 * (w->statuses + w->c.w->thread_count))
    return false;
  return t->generation_bytes >= GENERATION_BYTES || between(w->generation_time, time) >= GENERATION_TIME;
}

/* Readers count the time before the status of a goroutine in a system call as time without a proc, and the time after
 * it as time in the call. So the first generation has the status where the input has it, on the same thread. */
static void tell(writer *w, goroutine *g, thread *on, int64_t time) {
  if (!g || !w->pending_statuses || !written(w, g)->status_pending) return;
  written(w, g)->status_pending = false;
  w->pending_statuses--;
  introduce_go(w, g, g->status, status_stack(w, g->entry, g->stack), g->m, on, time);
}

/* -------------------------------------------------------------------------------------------------- operations ---- */

/* A goroutine is created on a proc; without one the transcriber finds another way. */
static void take_create(writer *w, const op *o) {
  goroutine *g = go_record(w->c.w, o->id);
  unsigned status = status_after(o);
  const gotrace__model_go *old = model_of(w, g);
  bool again = old->known && old->status != GOTRACE__DEAD; /* the id, before its goroutine has ended */
  if (again) written(w, g)->place = 0;
  PUT(w, source_of(w, status == GO_SYSCALL || (o->m && o->m->p) ? o->m : NULL), o->time, use_stack(w, o->stack),
      GO_CREATE, place_of(w, g), 0, again ? 0 : g->id, use_stack(w, o->new_stack), (uint16_t)status,
      GOTRACE__RECORD_OLD);
}

static void take_label(writer *w, const op *o) {
  gotrace__transcriber *t = w->t;
  pool_text text = pool_text_of(o->name);
  const goroutine *starting = o->m ? written_on(w, o->m)->starting : NULL;
  gotrace__source *r;
  if (starting) gotrace__model_label(t, model_of(w, starting), text.data, text.size);
  r = source_of(w, o->m);
  if (starting) gotrace__model_label(t, model_of(w, starting), "", 0);
  if (t->v1 || !r->go) return;
  turn_to(w, r, o->time);
  gotrace__emit1(t, r, r->go, GOTRACE_V2_GO_LABEL, gotrace__string_id(t, use_text(w, o->name), true));
  turn_over(w, r);
}

static void take_unblock(writer *w, const op *o) {
  goroutine *g = world_go(w->c.w, o->id);
  gotrace__source *r = source_of(w, o->m);
  if (!g) return;
  if (runs(o->m) && o->m->g->timer) PUT(w, r, o->time, 0, GO_TIMER, place_of(w, o->m->g));
  PUT(w, r, o->time, use_stack(w, o->stack), GO_UNBLOCK, place_of(w, g), model_of(w, g)->number);
}

/* The thread's goroutine ends. */
static void take_end(writer *w, const op *o) {
  gotrace__source *r = source_of(w, o->m);
  goroutine *g = o->m ? o->m->g : NULL;
  if (w->t->stw_go && w->t->stw_go == r->go) PUT(w, r, o->time, 0, STW_END, w->t->collector_number);
  if (o->kind == GOTRACE_V2_GO_DESTROY) PUT(w, r, o->time, 0, GO_END, 0);
  else if (o->kind == GOTRACE_V2_GO_DESTROY_SYSCALL) PUT(w, r, o->time, 0, GO_END_IN_SYSCALL, 0);
  else PUT(w, r, o->time, use_stack(w, o->stack), GO_SWITCH_END, place_of(w, go_record(w->c.w, o->id)), 0);
  free_place(w, g);
}

static void take_proc_stop(writer *w, const op *o) {
  gotrace__source *r = source_of(w, o->m);
  gotrace__transcriber *t = w->t;
  if (t->v1 && o->a[0] && r->proc) /* when its system call lost it */
    gotrace__lower_syscall_block(t, &r->proc->lane, r->go, tick_of(w, (int64_t)o->a[0]));
  PUT(w, r, o->time, 0, PROC_STOP, 0);
}

/* Before 1.10, a proc scans during mark termination, and there are no stopped worlds. `p`: NULL: unknown. */
static void take_scan(writer *w, proc *p, bool begins, int64_t time) {
  gotrace__transcriber *t = w->t;
  gotrace__model_proc *of = p ? model_of_proc(w, p) : NULL;
  bool *open = of ? &of->scan_seen : &w->global_scan;
  w->lost[LOST_SCANS] += begins && w->format >= GOTRACE_GO_1_10;
  if (w->format >= GOTRACE_GO_1_10 || *open == begins) return;
  turn_to(w, &t->service, time);
  gotrace__put_v1(t, of ? &of->lane : &t->global, begins ? GOTRACE_V1_GC_SCAN_START : GOTRACE_V1_GC_SCAN_DONE, t->now,
                  0, 0, 0, 0);
  turn_over(w, &t->service);
  *open = begins;
}

static void take_stw(writer *w, const op *o) {
  gotrace__source *r = source_of(w, o->m);
  bool begins = o->kind == GOTRACE_V2_STW_BEGIN;
  uint32_t reason = begins ? reason_of(w, o->name, gotrace__stw_reasons, GOTRACE_STW_REASON_COUNT) : 0;
  w->lost[LOST_STW] += begins && w->format < GOTRACE_GO_1_21 && reason != GOTRACE_STW_GC_MARK_TERM &&
                       (reason != GOTRACE_STW_GC_SWEEP_TERM || w->format < GOTRACE_GO_1_10);
  if (w->format >= GOTRACE_GO_1_10) {
    if (!begins) PUT(w, r, o->time, 0, STW_END, w->t->collector_number);
    else if (runs(o->m)) PUT(w, r, o->time, use_stack(w, o->stack), STW_BEGIN, w->t->collector_number, reason);
  } else if (w->c.input >= GOTRACE_GO_1_10) { /* otherwise there are scans */
    if (begins && (w->stw_scan || reason != GOTRACE_STW_GC_MARK_TERM || !o->m || !o->m->p)) return;
    if (begins) w->stw_scan = o->m->p;
    if (w->stw_scan) take_scan(w, w->stw_scan, begins, o->time);
    if (!begins) w->stw_scan = NULL;
  }
}

/* Events about the whole program happen on some goroutine, in v1 on some proc. The transcriber adds a goroutine for
 * them, if need be. v1: the number of procs needs neither, so a start that waits for its label goes on waiting. */
static void take_shared(writer *w, const op *o) {
  gotrace__transcriber *t = w->t;
  bool idle = o->m && o->m->p && !o->m->g;
  thread *m = runs(o->m) || (t->v1 && idle) ? o->m : any_running(w);
  bool waits = o->kind == GOTRACE_V2_PROCS_CHANGE && m && written_on(w, m)->starting;
  gotrace__source *r = waits ? &t->service : source_of(w, m || !idle ? m : o->m);
  uint32_t stack = use_stack(w, o->stack);
  if (o->kind == GOTRACE_V2_GC_BEGIN) PUT(w, r, o->time, stack, GC_BEGIN, t->collector_number);
  else if (o->kind == GOTRACE_V2_GC_END) PUT(w, r, o->time, 0, GC_END, t->collector_number);
  else PUT(w, r, o->time, stack, PROCS_CHANGE, o->id);
  w->procs_told |= o->kind == GOTRACE_V2_PROCS_CHANGE;
}

/* The transcriber adds up the spans of a sweep. */
static void take_sweep(writer *w, const op *o) {
  gotrace__source *r = source_of(w, o->m);
  if (!r->proc) return;
  if (o->kind == GOTRACE_V2_GC_SWEEP_BEGIN) PUT(w, r, o->time, 0, SWEEP_BEGIN, 0);
  PUT(w, r, o->time, use_stack(w, o->stack), SWEEP_SPAN, o->a[0], o->a[1]);
  if (o->kind == GOTRACE_V2_GC_SWEEP_END) PUT(w, r, o->time, 0, SWEEP_END, 0);
}

static void take_user(writer *w, const op *o) {
  gotrace__transcriber *t = w->t;
  gotrace__source *r = source_of(w, o->m);
  uint32_t name = use_text(w, o->name), stack = use_stack(w, o->stack);
  pool_text value = pool_text_of(o->value);
  bool known = w->format >= GOTRACE_GO_1_11, borrows = !r->go && known;
  const gotrace__said *said = SAID(stack, name, o->id);
  w->lost[LOST_ANNOTATIONS] += !known && o->kind != GOTRACE_V2_USER_TASK_END && o->kind != GOTRACE_V2_USER_REGION_END;
  if (borrows) {
    turn_to(w, r, o->time);
    gotrace__begin_global(t, r);
  }
  r->text = (gotrace__string){value.data, value.size};
  switch (o->kind) {
  case GOTRACE_V2_USER_TASK_BEGIN: put(w, r, o->time, said, RECORD(TASK_BEGIN, o->id, o->a[0])); break;
  case GOTRACE_V2_USER_TASK_END: put(w, r, o->time, said, RECORD(TASK_END, o->id)); break;
  case GOTRACE_V2_USER_REGION_BEGIN: put(w, r, o->time, said, RECORD(REGION_BEGIN, 0)); break;
  case GOTRACE_V2_USER_REGION_END: put(w, r, o->time, said, RECORD(REGION_END, 0)); break;
  default: put(w, r, o->time, said, RECORD(LOG, 0)); break;
  }
  if (borrows) {
    gotrace__end_global(t, r, GOTRACE__NOT_IN_CALL);
    turn_over(w, r);
  }
}

static void take_sample(writer *w, const op *o) {
  goroutine *g = world_go(w->c.w, o->a[2]);
  proc *p = o->a[1] == NOBODY ? NULL : world_proc(w->c.w, o->a[1], false);
  uint64_t where = p ? proc_place(w, p) - 1 : w->t->v1 ? (uint64_t)GOTRACE_GLOBAL_PROC : o->a[1];
  if (w->format < GOTRACE_GO_1_19) w->lost[LOST_SAMPLES]++;
  else
    gotrace__put_sample(w->t, tick_of(w, o->time), o->a[0], where, g ? model_of(w, g)->id : o->a[2],
                        stack_id(w, o->stack));
}

/* The value of an argument of an event, by its letter in event_rules. */
static uint64_t argument_of(writer *w, const op *o, char letter) {
  switch (letter) {
  case 'i': return o->id;
  case 'a': return o->a[0];
  case 'b': return o->a[1];
  case 'c': return o->a[2];
  case 'n': return gotrace__string_id(w->t, use_text(w, o->name), true);
  case 'v': return gotrace__string_id(w->t, use_text(w, o->value), true);
  case 'N': return stack_id(w, o->new_stack);
  default: return stack_id(w, o->stack);
  }
}

/* An event of an experiment, or of a Go release that this file does not know: with its arguments as they are, but for
 * ids of texts and stacks. */
static void take_as_it_is(writer *w, const op *o) {
  const char *letters = event_rules[o->kind].arguments;
  bool has = !w->t->v1 && gotrace_find_event_spec((gotrace_format)w->format, (int)o->kind) && !strchr(letters, '.');
  gotrace__source *r = source_of(w, o->m);
  uint64_t a[4] = {0, 0, 0, 0};
  int count;
  if (!has || !o->m || strlen(letters) > COUNT(a)) {
    w->lost[LOST_EVENTS]++;
    return;
  }
  turn_to(w, r, o->time);
  for (count = 0; letters[count]; count++) a[count] = argument_of(w, o, letters[count]);
  gotrace__emit_at(w->t, r, o->kind < GOTRACE_V2_SPAN ? r->go : NULL, NULL, o->kind, w->t->now, count, a[0], a[1], a[2],
                   a[3]);
  turn_over(w, r);
}

/* A system call that keeps its proc. v1 has only its beginning; what is made of that ends at once. */
static void count_syscall(writer *w, int64_t time) {
  w->lost[LOST_SYSCALLS] += w->t->v1 && time && time < GOTRACE__LONG_SYSCALL;
  w->unknown_syscalls += !w->t->v1 && !time;
}

/* v2: where a goroutine runs, tells the number of procs, if no event has told it. */
static void tell_procs(writer *w, const thread *m, int64_t time) {
  if (w->procs_told || w->t->v1 || !w->c.w->gomaxprocs) return;
  w->procs_told = true;
  PUT(w, source_of(w, m), time, 0, PROCS_CHANGE, w->c.w->gomaxprocs);
}

static void take_op(writer *w, const op *o) {
  world *all = w->c.w;
  thread *m = o->m;
  uint32_t stack = use_stack(w, o->stack);
  goroutine *g;
  switch (o->kind) {
  case GOTRACE_V2_PROC_STATUS: introduce_proc(w, world_proc(all, o->id, true), (unsigned)o->a[0], m, o->time); break;
  case GOTRACE_V2_PROC_START:
    introduce_proc(w, world_proc(all, o->id, true), PROC_IDLE, NULL, o->time);
    PUT(w, source_of(w, m), o->time, 0, PROC_START, proc_place(w, world_proc(all, o->id, true)));
    break;
  case GOTRACE_V2_PROC_STOP: take_proc_stop(w, o); break;
  case GOTRACE_V2_PROC_STEAL:
    PUT(w, source_of(w, m), o->time, 0, PROC_STEAL, proc_place(w, world_proc(all, o->id, true)));
    break;
  case GOTRACE_V2_GO_STATUS:
    if (o->known) tell(w, world_go(all, o->id), m, o->time);
    else if (!model_of(w, go_record(all, o->id))->known)
      introduce_go(w, go_record(all, o->id), (unsigned)o->a[0], status_stack(w, o->new_stack, o->stack), m, m, o->time);
    break;
  case GOTRACE_V2_GO_START:
    g = world_go(all, o->id);
    if (!g || !m) break;
    source_of(w, m);
    if (w->t->v1) written_on(w, m)->starting = g, written_on(w, m)->start_time = o->time;
    else PUT(w, source_of(w, m), o->time, 0, GO_START, place_of(w, g));
    tell_procs(w, m, o->time);
    break;
  case GOTRACE_V2_GO_LABEL: take_label(w, o); break;
  case GOTRACE_V2_GO_UNBLOCK: take_unblock(w, o); break;
  case GOTRACE_V2_GO_DESTROY:
  case GOTRACE_V2_GO_DESTROY_SYSCALL:
  case GOTRACE_V2_GO_SWITCH_DESTROY: take_end(w, o); break;
  case GOTRACE_V2_GO_SWITCH:
    PUT(w, source_of(w, m), o->time, stack, GO_SWITCH, place_of(w, go_record(all, o->id)), 0,
        GOTRACE__SWITCH_UNEXPLAINED);
    break;
  case GOTRACE_V2_GO_STOP:
    PUT(w, source_of(w, m), o->time, stack, GO_STOP,
        reason_of(w, o->name, gotrace__stop_reasons, GOTRACE_STOP_REASON_COUNT));
    break;
  case GOTRACE_V2_GO_BLOCK: {
    uint32_t reason = reason_of(w, o->name, gotrace__block_reasons, GOTRACE_BLOCK_REASON_COUNT);
    if (reason == GOTRACE_BLOCK_FOREVER && !o->in_file) reason = 0; /* in v1 it ends the goroutine */
    w->lost[LOST_REASONS] += w->t->v1 && gotrace__block_reasons[reason].v1 == GOTRACE_V1_GO_BLOCK &&
                             !pool_text_is(o->name, gotrace__block_reasons[0].name);
    PUT(w, source_of(w, m), o->time, stack, GO_BLOCK, reason);
    break;
  }
  case GOTRACE_V2_GO_SYSCALL_BEGIN: PUT(w, source_of(w, m), o->time, stack, SYSCALL_BEGIN, 0); break;
  case GOTRACE_V2_GO_SYSCALL_END: /* the transcriber shows a long call as one that lost its proc */
    if (m && m->g && m->g->status == GO_SYSCALL) count_syscall(w, between(m->g->since, o->time));
    PUT(w, source_of(w, m), o->time, 0, SYSCALL_END, 0);
    break;
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED: PUT(w, source_of(w, m), o->time, 0, SYSCALL_END_BLOCKED, 0); break;
  case GOTRACE_V2_STW_BEGIN:
  case GOTRACE_V2_STW_END: take_stw(w, o); break;
  case SCAN_START:
  case SCAN_DONE: take_scan(w, world_proc(all, o->id, false), o->kind == SCAN_START, o->time); break;
  case GOTRACE_V2_GC_BEGIN:
  case GOTRACE_V2_GC_END:
  case GOTRACE_V2_PROCS_CHANGE: take_shared(w, o); break;
  case GOTRACE_V2_GC_SWEEP_BEGIN:
  case GOTRACE_V2_GC_SWEEP_END: take_sweep(w, o); break;
  case GOTRACE_V2_GC_MARK_ASSIST_BEGIN:
    w->lost[LOST_ASSISTS] += w->format < GOTRACE_GO_1_10;
    PUT(w, source_of(w, m), o->time, stack, MARK_ASSIST_BEGIN, 0);
    break;
  case GOTRACE_V2_GC_MARK_ASSIST_END: PUT(w, source_of(w, m), o->time, 0, MARK_ASSIST_END, 0); break;
  case GOTRACE_V2_HEAP_ALLOC: PUT(w, source_of(w, m && m->p ? m : NULL), o->time, 0, HEAP_ALLOC, o->a[0]); break;
  case GOTRACE_V2_HEAP_GOAL: PUT(w, source_of(w, m && m->p ? m : NULL), o->time, 0, HEAP_GOAL, o->a[0]); break;
  case GOTRACE_V2_USER_TASK_BEGIN:
  case GOTRACE_V2_USER_TASK_END:
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END:
  case GOTRACE_V2_USER_LOG: take_user(w, o); break;
  case GOTRACE_V2_CPU_SAMPLE: take_sample(w, o); break;
  case GOTRACE_V2_EXPERIMENTAL_BATCH: write_experiment(w, &(experiment){o->a[0], o->a[1], o->value}, o->time); break;
  default:
    if (creates(o->kind)) take_create(w, o);
    else take_as_it_is(w, o);
    break;
  }
}

static void writer_take(consumer *c, const op *o) {
  writer *w = (writer *)c;
  if (generation_is_full(w, o->time)) new_generation(w, o->time);
  if (o->m && o->m->g && !o->known) tell(w, o->m->g, o->m, o->time);
  take_op(w, o);
}

/* ----------------------------------------------------------------------------------------------- begin and end ---- */

static bool write_block(void *context, const void *data, size_t size) {
  writer *w = context;
  put_data(&w->out->block, data, size);
  output_check(w->out);
  return true;
}

/* The texts that describe modules are in each generation. */
static void write_modules(void *context, gotrace__transcriber *t) {
  const writer *w = context;
  size_t i;
  for (i = 0; i < w->c.w->module_count; i++) {
    pool_text text = pool_text_of(w->c.w->modules[i]);
    gotrace__write_text(t, text.data, (uint32_t)cut_size(text.data, text.size), false);
  }
}

/* A goroutine that is there when the part begins. */
static void begin_go(writer *w, goroutine *g, int64_t time) {
  uint32_t stack = status_stack(w, g->entry, g->stack);
  bool first = w->c.told && w->c.from == w->c.base; /* the input tells its statuses */
  bool pending = first && g->status == GO_SYSCALL && g->m && !g->m->p;
  g->stw = 0;
  written(w, g)->status_pending = pending;
  w->pending_statuses += pending; /* its status must be the first event on its thread */
  w->lost[LOST_NAMES] += w->format == GOTRACE_GO_1_22 && w->c.input != GOTRACE_GO_1_22 && stack;
  if (!pending) introduce_go(w, g, g->status, stack, g->m, g->m, time);
}

/* Writes a text that tells something about goroutines. `ids`: its beginning. */
static void write_told(writer *w, bytes *ids, uint32_t what) {
  pool_text text = pool_text_of(what);
  put_byte(ids, ' ');
  put_data(ids, text.data, text.size);
  gotrace__write_text(w->t, (const char *)ids->data, (uint32_t)cut_size((const char *)ids->data, ids->size), false);
  ids->size = 0;
}

static uint32_t wait_of(const goroutine *g) { return g->status == GO_WAITING ? g->reason : 0; }

static uint32_t called(const goroutine *g) { return g->called; }

/* Tells what no event can about the goroutines that there are when the trace begins: see OLD_WAITS. `of`: a text; 0:
 * nothing. */
static void tell_old(writer *w, const char *prefix, uint32_t of(const goroutine *)) {
  const size_t most = GOTRACE_MAX_STRING_SIZE / 2; /* of the ids; the rest is for the text */
  map by_text = {0};                               /* struct bytes */
  const goroutine *g;
  size_t i;
  for (g = w->c.w->live; g; g = g->next) {
    char id[24];
    bytes *ids;
    int size;
    bool made;
    if (!of(g)) continue;
    ids = map_keep(&by_text, of(g), sizeof *ids, &made);
    if (!ids->size) put_data(ids, prefix, strlen(prefix));
    else put_byte(ids, ',');
    size = snprintf(id, sizeof id, "%llu", (ull)g->id);
    put_data(ids, id, (size_t)size);
    if (ids->size > most) write_told(w, ids, of(g));
  }
  for (g = w->c.w->live; g; g = g->next) {
    bytes *ids = of(g) ? map_get(&by_text, of(g)) : NULL;
    if (ids && ids->size) write_told(w, ids, of(g));
  }
  for (i = 0; i < by_text.count; i++) free(((bytes *)by_text.values[i])->data);
  map_free(&by_text);
}

/* Tells that this is a part of a trace of `gotrace record`, even if no log in it does: see ahead_names(). */
static void write_recorded(writer *w) {
  static const char category[] = RECORD_CPU_TIME;
  static const char watched[] = RECORD_SWITCHES;
  if (w->c.recorded) gotrace__write_text(w->t, category, sizeof category - 1, false);
  if (w->c.watched) gotrace__write_text(w->t, watched, sizeof watched - 1, false);
}

static void writer_begin(consumer *c, int64_t time) {
  writer *w = (writer *)c;
  gotrace__transcriber *t = w->t;
  gotrace__transcribe_options options = {
      .replay = true, .unit = 1, .made_procs = FRESH_PROC + 75000, .reason_names = reason_names, .context = w};
  gotrace__clocks clocks = clocks_of(w, time);
  goroutine *g;
  thread *m;
  proc *p;
  size_t i;
  int assists;
  options.version = (unsigned)w->format;
  options.service_thread = take_thread_id(w, fresh_thread(c->w)->id);
  options.write = write_block;
  options.before_end = write_modules;
  if (!gotrace__transcribe_begin(t, &options, &clocks)) fail("out of memory");
  t->to_unit = t->generation_time = 1;
  t->own_ids = fresh_id(&c->w->gos, FRESH_GO);
  t->procs_changed = c->w->gomaxprocs ? c->w->gomaxprocs : c->w->proc_count;
  w->generation_time = time;
  c->w->stw = 0; /* no event tells that the world is stopped already */
  c->statuses = !t->v1;
  if (t->v1) gotrace__write_first(t);
  tell_old(w, OLD_WAITS, wait_of);
  tell_old(w, OLD_NAMES, called);
  write_recorded(w);
  for (i = 0; i < c->w->experiment_count; i++) write_experiment(w, &c->w->experiments[i], time);
  for (p = c->w->proc_list; p; p = p->next)
    if (p->status != PROC_NONE) introduce_proc(w, p, p->status, p->m, time);
  for (assists = 0; assists < 2; assists++) { /* readers ignore assists that they see before GOMAXPROCS */
    int64_t at = time + (w->procs_told && time < INT64_MAX); /* a nanosecond orders the events of two threads */
    for (g = c->w->live; g; g = g->next)
      if (g->assist == assists) begin_go(w, g, at);
    for (m = c->w->thread_list; m; m = m->next)
      if (runs(m) && source_of(w, m)->go) tell_procs(w, m, time);
  }
  for (m = c->w->thread_list; m && !t->v1; m = m->next) {
    op label = op_at(GOTRACE_V2_GO_LABEL, time, m);
    if (runs(m) && (label.name = m->g->label)) take_label(w, &label);
  }
  m = any_running(w);
  if (m && c->w->heap) PUT(w, source_of(w, m), time, 0, HEAP_ALLOC, c->w->heap);
  if (m && c->w->heap_goal) PUT(w, source_of(w, m), time, 0, HEAP_GOAL, c->w->heap_goal);
  for (p = c->w->proc_list; p; p = p->next)
    if (p->scan) take_scan(w, p, true, time);
  t->gc = c->w->gc;
  if (t->gc) write_gc(w, time);
  w->statuses = w->events = t->events;
}

/* If nothing happened at the end of the part, one more event shows how long it lasted: in v1 a Gomaxprocs, in v2 the
 * statuses of one more generation. */
static void writer_end(consumer *c, int64_t time) {
  writer *w = (writer *)c;
  gotrace__transcriber *t = w->t;
  goroutine *g;
  thread *m;
  for (m = c->w->thread_list; m; m = m->next) source_of(w, m);
  for (g = w->pending_statuses ? c->w->live : NULL; g; g = g->next) tell(w, g, g->m, time);
  if (tick_of(w, time) > w->latest && !t->v1) new_generation(w, time);
  else if (tick_of(w, time) > w->latest && !any_running(w))
    gotrace__put_v1(t, &t->global, GOTRACE_V1_GOMAXPROCS, tick_of(w, time), 2, gotrace__proc_bound(t), 0, 0);
  if (w->global_scan) take_scan(w, NULL, false, time);
  t->to_unit = tick_of(w, time) > w->latest ? tick_of(w, time) : w->latest;
  gotrace__transcribe_end(t);
  if (t->error) fail("%s", gotrace_result_string(t->error));
}

void writer_open(writer *w, output *out, int format) {
  w->out = out;
  w->t = keep(sizeof *w->t);
  w->c.begin = writer_begin;
  w->c.take = writer_take;
  w->c.end = writer_end;
  w->format = format;
  w->c.modules = w->c.switches = w->c.later = true;
  w->c.told = format >= GOTRACE_GO_1_22;
}

void writer_free(writer *w) {
  gotrace__transcribe_free(w->t);
  free(w->free);
  map_free(&w->thread_ids);
}

#endif
