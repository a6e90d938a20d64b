/* world.c - keeps the world: see world.h
 *
 * All changes of status go through go_status() and proc_status(). They keep three invariants: a goroutine and its
 * thread point to each other, so do a proc and its thread, and each stretch is reported when it ends. */

#include "world.h"

#include "ahead.h"

#include <stdlib.h>

static inline void give_stretch(world *w, goroutine *g, int64_t time, uint8_t next) {
  bool told = w->now && w->now->kind == GOTRACE_V2_GO_STATUS;
  if (w->stretch && g->status != GO_NONE && !told) {
    uint32_t reason = g->status == GO_WAITING ? g->reason : 0;
    stretch part = {g, g->since, time, g->status, next, reason, g->stack, w->now, g->cause, true};
    w->stretch(w->context, &part);
  }
}

static inline void set_thread(goroutine *g, thread *m) {
  if (g->m && g->m->g == g && g->m != m) g->m->g = NULL;
  g->m = m;
  if (m) m->g = g;
}

static inline void go_status(world *w, goroutine *g, int64_t time, uint8_t status, thread *m) {
  give_stretch(w, g, time, status);
  g->status = status;
  g->stack = 0;
  g->cause = w->now ? w->now->stack : 0;
  g->since = time;
  set_thread(g, m);
}

void world_move(goroutine *g, thread *m) {
  if (g && g->status == GO_RUNNING && m && m != g->m) set_thread(g, m);
}

void world_catch_up(world *w, goroutine *g, int64_t since, uint8_t status, uint64_t m, uint32_t reason) {
  g->status = status;
  g->since = since;
  g->reason = reason;
  g->stack = g->cause = 0;
  set_thread(g, m == NOBODY ? NULL : world_thread(w, m));
}

void world_split(world *w, goroutine *g, const op *o) {
  w->now = o;
  give_stretch(w, g, o->time, g->status);
  w->now = NULL;
  g->since = o->time;
}

/* Starts a goroutine. Its id may have been used before. */
static void go_new(world *w, uint64_t id, int64_t time, uint8_t status, thread *m, uint32_t entry) {
  goroutine *g = go_record(w, id);
  if (g->status == GO_NONE) {
    g->previous = w->newest;
    g->next = NULL;
    if (g->previous) g->previous->next = g;
    else w->live = g;
    w->newest = g;
  }
  g->m = NULL;
  g->entry = entry;
  g->reason = 0;
  g->stw = 0;
  g->assist = false;
  if (g->regions) g->regions->count = 0;
  go_status(w, g, time, status, m);
}

static void go_end(world *w, goroutine *g, int64_t time) {
  w->stw -= g->stw;
  g->stw = 0;
  go_status(w, g, time, GO_NONE, NULL);
  if (g->regions) g->regions->count = 0;
  if (g->previous) g->previous->next = g->next;
  else w->live = g->next;
  if (g->next) g->next->previous = g->previous;
  else w->newest = g->previous;
}

static void proc_status(proc *p, uint8_t status, thread *m) {
  if (p->m && p->m->p == p && p->m != m) p->m->p = NULL;
  p->status = status;
  p->m = m;
  if (m) m->p = p;
}

gotrace_change_spec change_specs[2 * OF_V1];

void load_change_specs(void) {
  int kind;
  for (kind = 0; kind < (int)OF_V1; kind++) {
    const gotrace_change_spec *row = gotrace_find_change_spec(kind);
    gotrace_change_spec *to = &change_specs[kind];
    if (!row) continue;
    *to = *row;
    if (row->object == GOTRACE_OBJECT_PROC) to->to = row->to == GOTRACE_STATUS_RUNNING ? PROC_RUNNING : PROC_IDLE;
    else if (row->to < 0) to->to = GO_NONE;
  }
  change_specs[GOTRACE_V2_GO_SWITCH].kind = change_specs[GOTRACE_V2_GO_SWITCH_DESTROY].kind = 0;
}

static void apply_proc(world *w, const op *o) {
  proc *p = names_proc(o->kind) ? world_proc(w, o->id, true) : o->m ? o->m->p : NULL;
  uint8_t status = status_after(o);
  if (p) proc_status(p, status, status == PROC_RUNNING || status == PROC_SYSCALL ? o->m : NULL);
}

/* The status of the goroutine on which the operation happens. */
static inline void own_status(world *w, goroutine *g, const op *o, uint8_t status) {
  if (status == GO_NONE) {
    go_end(w, g, o->time);
    return;
  }
  go_status(w, g, o->time, status, executes(status) ? o->m : NULL);
  if (status == GO_WAITING) g->reason = o->name;
  g->stack = o->stack;
}

/* A whole coroutine switch, which changes two goroutines. */
static RARE void apply_switch(world *w, const op *o) {
  goroutine *from = o->m ? o->m->g : NULL, *to;
  if (from) own_status(w, from, o, o->kind == GOTRACE_V2_GO_SWITCH ? GO_WAITING : GO_NONE);
  if ((to = world_go(w, o->id))) go_status(w, to, o->time, GO_RUNNING, o->m);
}

/* What a goroutine does in a system call also changes its proc, which the table does not tell. */
static void apply_own(world *w, goroutine *g, const op *o, uint8_t status) {
  proc *p = o->m->p;
  if (p && o->kind == GOTRACE_V2_GO_DESTROY_SYSCALL) proc_status(p, PROC_ABANDONED, NULL);
  own_status(w, g, o, status);
  if (p && o->kind == GOTRACE_V2_GO_SYSCALL_BEGIN) proc_status(p, PROC_SYSCALL, o->m);
  if (p && o->kind == GOTRACE_V2_GO_SYSCALL_END) proc_status(p, PROC_RUNNING, o->m);
}

/* A goroutine is created, or its status told. */
static RARE void apply_new(world *w, const op *o) {
  bool told = o->kind == GOTRACE_V2_GO_STATUS;
  uint8_t status = status_after(o);
  const goroutine *maker = o->m ? o->m->g : NULL;
  goroutine *g = go_record(w, o->id);
  if (g->status == GO_NONE) {
    g->is_new = !told;
    g->made_at = told ? 0 : o->stack;
    g->maker = maker ? maker->id : NOBODY;
    g->made = o->time;
    g->inherits = w->history && !told && maker && task_of_go(maker, &g->inherited);
  }
  go_new(w, o->id, told && w->as_go ? w->sync : o->time, status, executes(status) ? o->m : NULL, o->new_stack);
  if (told) g->stack = o->stack;
  if (status == GO_WAITING) g->reason = o->name;
}

static void apply_go(world *w, const op *o) {
  uint8_t status = status_of_kind(o->kind);
  goroutine *g;
  if (o->known) return;
  if (status == GO_RUNNING) w->last_running = o->m;
  if (!names_go(o->kind)) {
    if (o->m && (g = o->m->g)) apply_own(w, g, o, status);
  } else if (appears(o->kind)) {
    apply_new(w, o);
  } else if ((g = world_go(w, o->id))) {
    go_status(w, g, o->time, status, status == GO_RUNNING ? o->m : NULL);
  }
}

/* The goroutine stops or restarts the world. */
static void apply_stw(world *w, goroutine *g, const op *o, bool begins) {
  if (begins ? g->stw == UINT8_MAX : g->stw == 0) return;
  if (begins && !w->stw) w->stw_since = o->time, w->stw_reason = o->name;
  g->stw = (uint8_t)(begins ? g->stw + 1 : g->stw - 1);
  w->stw += begins ? 1u : (unsigned)-1;
}

static void apply_range(world *w, const op *o) {
  unsigned object = change_specs[o->kind].object;
  bool open = change_specs[o->kind].kind != GOTRACE_CHANGE_RANGE_END;
  goroutine *g;
  proc *p;
  if (object == GOTRACE_OBJECT_NONE) {
    w->gc = open;
  } else if (object == GOTRACE_OBJECT_PROC) {
    p = names_proc(o->kind) ? world_proc(w, o->id, false) : o->m ? o->m->p : NULL;
    if (p) p->sweep = open;
  } else if ((g = subject_of(w, o))) {
    if (o->kind == GOTRACE_V2_STW_BEGIN || o->kind == GOTRACE_V2_STW_END) apply_stw(w, g, o, open);
    else g->assist = open;
  }
}

/* A region, task or counter of the program. */
static void apply_user(world *w, const op *o, unsigned change) {
  goroutine *g = o->m ? o->m->g : NULL;
  user_region *of;
  user_task *t;
  user_counter *counter;
  double value;
  if (!w->history) return;
  switch (change) {
  case GOTRACE_CHANGE_REGION_BEGIN:
    if (!g) return;
    g->divided = o->time;
    if (!g->regions) g->regions = keep(sizeof *g->regions);
    GROW(g->regions->open, g->regions->count, g->regions->capacity);
    of = &g->regions->open[g->regions->count++];
    *of = (user_region){.name = o->name, .stack = o->stack, .task = o->id, .begin = o->time, .chosen = w->chosen};
    of->line = g->regions->count > 1 ? of[-1].line + 1 : 0;
    of->m = o->m;
    of->p = o->m->p;
    of->in_file = o->in_file;
    break;
  case GOTRACE_CHANGE_REGION_END:
    of = ending_region(o);
    if (g) g->divided = o->time;
    if (!of && g && !o->a[0]) g->inherits = false; /* the region of its creator */
    if (!of) break;
    memmove(of, of + 1, (size_t)o->a[0] * sizeof *of);
    g->regions->count--;
    break;
  case GOTRACE_CHANGE_TASK_BEGIN:
    t = world_task(w, o->id);
    t->home = g;
    if (t->open) break;
    t->parent = o->a[0];
    t->name = o->name;
    t->stack = o->stack;
    t->begin = o->time;
    t->open = true;
    t->chosen = w->chosen;
    t->from = origin_of(o);
    break;
  case GOTRACE_CHANGE_LOG:
    if (!w->chosen || !(counter = told_counter(w, o, &value))) break;
    counter->value = value;
    counter->from = origin_of(o);
    break;
  default: /* TASK_END */
    if (!o->ends_again && (t = map_get(&w->tasks, o->id))) t->open = false;
    break;
  }
}

/* Makes room for as many cached goroutines as there are. */
static void widen_near_gos(world *w) {
  size_t count = w->near_gos ? 2 * (w->near_mask + 1) : NEAR_GOS;
  w->near_gos = resize(w->near_gos, count * sizeof *w->near_gos);
  memset(w->near_gos, 0, count * sizeof *w->near_gos);
  w->near_mask = count - 1;
}

goroutine *find_far_go(world *w, uint64_t id) {
  goroutine *g = map_get(&w->gos, id);
  if (!g) return NULL;
  if (!w->near_gos || w->gos.count > w->near_mask + 1) widen_near_gos(w);
  return w->near_gos[id & w->near_mask] = g;
}

goroutine *go_record(world *w, uint64_t id) {
  goroutine *g = find_go(w, id);
  if (g) return g;
  g = map_keep(&w->gos, id, sizeof *g, NULL);
  g->id = id;
  g->number = (uint32_t)w->gos.count - 1;
  if (w->called) g->called = (uint32_t)(uintptr_t)map_get(w->called, id);
  return g;
}

proc *world_proc(world *w, uint64_t id, bool add) {
  proc *p = map_get(&w->procs, id);
  if (p || !add) return p;
  p = map_keep(&w->procs, id, sizeof *p, NULL);
  p->id = id;
  p->next = w->proc_list;
  p->number = (uint32_t)w->proc_count++;
  w->proc_list = p;
  return p;
}

user_task *world_task(world *w, uint64_t id) {
  bool made;
  user_task *t = map_keep(&w->tasks, id, sizeof *t, &made);
  if (made) t->id = id, t->number = (uint32_t)w->tasks.count - 1;
  return t;
}

user_counter *told_counter(world *w, const op *o, double *value) {
  user_counter *counter;
  uint32_t name;
  bool made;
  if (o->kind != GOTRACE_V2_USER_LOG || !log_counter(o->name, o->value, &name, value)) return NULL;
  counter = map_keep(&w->counters, name, sizeof *counter, &made);
  if (made) counter->name = name, counter->number = (uint32_t)w->counters.count - 1;
  return counter;
}

bool task_of_go(const goroutine *g, uint64_t *task) {
  const user_regions *of = g->regions;
  bool open = of && of->count;
  if (open) *task = of->open[of->count - 1].task;
  else if (g->inherits) *task = g->inherited;
  return open || g->inherits;
}

origin origin_of(const op *o) {
  const goroutine *g = o->m ? o->m->g : NULL;
  origin at = {.m = o->m, .g = NOBODY, .task = o->id, .in_file = o->in_file};
  if (o->m) at.p = o->m->p;
  if (!g) return at;
  at.g = g->id;
  at.function = name_of(g);
  at.inside = task_of_go(g, &at.within);
  return at;
}

uint32_t origin_name(world *w, const origin *from) {
  const goroutine *g = from->function || from->g == NOBODY ? NULL : world_go(w, from->g);
  return g ? name_of(g) : from->function;
}

void world_keep_counters(world *w, bool (*kept)(void *context, const user_counter *), void *context) {
  map all = w->counters;
  size_t i;
  memset(&w->counters, 0, sizeof w->counters);
  for (i = 0; i < all.count; i++) {
    user_counter *c = all.values[i];
    if (!kept(context, c)) continue;
    c->number = (uint32_t)w->counters.count;
    map_put(&w->counters, c->name, c);
  }
  map_free(&all);
}

user_region *ending_region(const op *o) {
  const user_regions *of = o->m && o->m->g ? o->m->g->regions : NULL;
  return of && o->a[0] < of->count ? &of->open[of->count - 1 - o->a[0]] : NULL;
}

thread *find_far_thread(world *w, uint64_t id) {
  bool made;
  thread *m = w->near_threads[id % NEAR_THREADS] = map_keep(&w->threads, id, sizeof *m, &made);
  if (!made) return m;
  m->id = id;
  m->next = w->thread_list;
  m->number = (uint32_t)w->thread_count++;
  w->thread_list = m;
  return m;
}

uint64_t fresh_id(map *m, uint64_t from) {
  if (m->fresh < from) m->fresh = from;
  while (map_get(m, m->fresh)) m->fresh++;
  return m->fresh;
}

thread *fresh_thread(world *w) { return world_thread(w, fresh_id(&w->threads, FRESH_THREAD + w->thread_count)); }

uint32_t name_of(const goroutine *g) { return g->called ? g->called : pool_function(g->entry); }

void end_stretches(world *w, int64_t time) {
  goroutine *g;
  for (g = w->live; g; g = g->next) give_stretch(w, g, time, GO_NONE);
}

uint64_t wall_at(const wall_clock *clock, int64_t time) {
  const uint64_t most = INT64_MAX / 1000000000; /* seconds */
  uint64_t wall = clock->seconds * 1000000000 + clock->nanoseconds + (uint64_t)time - (uint64_t)clock->time;
  return clock->seconds && clock->seconds < most && clock->nanoseconds < 1000000000 && wall < INT64_MAX ? wall : 0;
}

void world_free(world *w) {
  size_t i;
  for (i = 0; w->history && i < w->gos.count; i++) {
    const goroutine *g = w->gos.values[i];
    if (g->regions) free(g->regions->open);
  }
  map_free(&w->tasks);
  map_free(&w->counters);
  map_free(&w->gos);
  map_free(&w->procs);
  map_free(&w->threads);
  free(w->near_gos);
  free(w->experiments);
  free(w->modules);
}

/* What the table does not tell: values, switches, and operations without an event in v2. */
static RARE void apply_rest(world *w, const op *o) {
  proc *p;
  switch (o->kind) {
  case GOTRACE_V2_PROCS_CHANGE: w->gomaxprocs = o->id; break;
  case GOTRACE_V2_GO_LABEL:
    if (o->m && o->m->g) o->m->g->label = o->name;
    break;
  case GOTRACE_V2_HEAP_ALLOC: w->heap = o->a[0]; break;
  case GOTRACE_V2_HEAP_GOAL: w->heap_goal = o->a[0]; break;
  case GOTRACE_V2_GO_SWITCH:
  case GOTRACE_V2_GO_SWITCH_DESTROY: apply_switch(w, o); break;
  case GOTRACE_V2_EXPERIMENTAL_BATCH:
    GROW(w->experiments, w->experiment_count, w->experiment_capacity);
    w->experiments[w->experiment_count++] = (experiment){o->a[0], o->a[1], o->value};
    break;
  case SCAN_START:
  case SCAN_DONE:
    if ((p = world_proc(w, o->id, false))) p->scan = o->kind == SCAN_START;
    break;
  default: break;
  }
}

void apply(world *w, const op *o) {
  unsigned change = change_specs[o->kind].kind;
  w->now = o;
  switch (change) {
  case GOTRACE_CHANGE_STATUS:
    if (changes_go(o->kind)) apply_go(w, o);
    else apply_proc(w, o);
    break;
  case GOTRACE_CHANGE_RANGE_BEGIN:
  case GOTRACE_CHANGE_RANGE_ACTIVE:
  case GOTRACE_CHANGE_RANGE_END: apply_range(w, o); break;
  case GOTRACE_CHANGE_TASK_BEGIN:
  case GOTRACE_CHANGE_TASK_END:
  case GOTRACE_CHANGE_REGION_BEGIN:
  case GOTRACE_CHANGE_REGION_END:
  case GOTRACE_CHANGE_LOG: apply_user(w, o, change); break;
  default: apply_rest(w, o); break;
  }
  w->now = NULL;
}
