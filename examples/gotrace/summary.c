/* summary.c - what goroutines, tasks, regions and the collector did: see summary.h */

#include "summary.h"

#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------- groups ---- */

static group *group_of(groups *all, uint32_t name) {
  group *g = map_get(&all->by_name, (uint64_t)name + 1);
  bool others = all->count >= MOST_GROUPS;
  if (g) return g;
  if (others && (g = map_get(&all->by_name, 0)) != NULL) return g;
  g = keep(sizeof *g);
  g->name = others ? 0 : name;
  g->others = others;
  g->next = all->list;
  all->list = g;
  all->count++;
  map_put(&all->by_name, others ? 0 : (uint64_t)name + 1, g);
  return g;
}

static RARE uint32_t new_reason(summary *sum, uint32_t name) {
  uint32_t capacity = sum->reason_places_capacity, place = sum->reason_count;
  if (name >= capacity) {
    sum->reason_places_capacity = 2 * name + 64;
    sum->reason_places = resize(sum->reason_places, sum->reason_places_capacity);
    memset(sum->reason_places + capacity, 0, sum->reason_places_capacity - capacity);
  }
  if (place < MOST_REASONS) sum->reasons[sum->reason_count++].name = name;
  sum->reason_places[name] = (uint8_t)(place + 1);
  return place;
}

static inline uint32_t reason_of_text(summary *sum, uint32_t name) {
  bool known = name < sum->reason_places_capacity && sum->reason_places[name];
  return known ? sum->reason_places[name] - 1u : new_reason(sum, name);
}

pool_text reason_text(const summary *sum, uint32_t place) {
  pool_text others = {"(others)", 8}, unknown = {"(unknown)", 9}, text;
  if (place == MOST_REASONS) return others;
  text = pool_text_of(sum->reasons[place].name);
  return text.size ? text : unknown;
}

static int64_t plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); } /* hostile: wraps */

static void add_blocked(times *t, uint32_t reason, int64_t time) {
  uint32_t i;
  for (i = 0; i < t->blocked_count && t->blocked[i].reason != reason; i++) {
  }
  if (i == t->blocked_count) {
    GROW(t->blocked, t->blocked_count, t->blocked_capacity);
    t->blocked[t->blocked_count++] = (reason_time){reason, 0};
  }
  t->blocked[i].time = plus(t->blocked[i].time, time);
}

static void add_times(times *to, const times *from) {
  uint32_t i;
  to->running = plus(to->running, from->running);
  to->runnable = plus(to->runnable, from->runnable);
  to->syscall = plus(to->syscall, from->syscall);
  to->syscall_blocked = plus(to->syscall_blocked, from->syscall_blocked);
  for (i = 0; i < from->blocked_count; i++) add_blocked(to, from->blocked[i].reason, from->blocked[i].time);
}

static void clear_times(times *t) {
  free(t->blocked);
  memset(t, 0, sizeof *t);
}

int64_t blocked_time(const times *t) {
  int64_t all = 0;
  uint32_t i;
  for (i = 0; i < t->blocked_count; i++) all = plus(all, t->blocked[i].time);
  return all;
}

int64_t known_time(const times *t) {
  return plus(plus(t->running, t->runnable), plus(plus(t->syscall, t->syscall_blocked), blocked_time(t)));
}

static RARE histogram *new_waits(group *f, uint32_t reason) {
  if (reason >= f->blocked_count) {
    f->blocked = resize(f->blocked, (reason + 1) * sizeof *f->blocked);
    while (f->blocked_count <= reason) f->blocked[f->blocked_count++] = NULL;
  }
  f->blocked[reason] = resize(NULL, sizeof **f->blocked);
  memset(f->blocked[reason], 0, sizeof **f->blocked);
  return f->blocked[reason];
}

static inline histogram *waits_of(group *f, uint32_t reason) {
  return reason < f->blocked_count && f->blocked[reason] ? f->blocked[reason] : new_waits(f, reason);
}

static void clear_group(group *f) {
  uint32_t i;
  clear_times(&f->t);
  histogram_free(&f->running);
  histogram_free(&f->runnable);
  histogram_free(&f->syscall);
  histogram_free(&f->whole);
  for (i = 0; i < f->blocked_count; i++) {
    if (f->blocked[i]) histogram_free(f->blocked[i]);
    free(f->blocked[i]);
  }
  free(f->blocked);
}

static void merge_group(group *to, const group *from) {
  uint32_t i;
  histogram_merge(&to->running, &from->running);
  histogram_merge(&to->runnable, &from->runnable);
  histogram_merge(&to->syscall, &from->syscall);
  for (i = 0; i < from->blocked_count; i++) {
    if (from->blocked[i]) histogram_merge(waits_of(to, i), from->blocked[i]);
  }
}

/* ------------------------------------------------------------------------------------------------------ tasks ---- */

static task *task_of(summary *sum, uint64_t id) {
  task *t = map_get(&sum->task_ids, id);
  if (t) return t;
  t = keep(sizeof *t);
  t->id = id;
  map_put(&sum->task_ids, id, t);
  return t;
}

static void name_task(summary *sum, task *t, uint32_t name) {
  group *named = group_of(&sum->tasks, name);
  if (t->name == named) return;
  t->name = named;
  add_times(&named->t, &t->t);
  clear_times(&t->t);
}

static void end_task(summary *sum, task *t, int64_t time) {
  t->ended = true;
  t->end = time;
  if (!t->begun || time < sum->c.from) return;
  t->name->complete++;
  histogram_add(&t->name->whole, between(t->begin, time), t->begin, t->id);
}

/* ------------------------------------------------------------------------------------------------- goroutines ---- */

static bool is_runtimes(uint32_t name) {
  pool_text text = pool_text_of(name);
  if (!text.size) return true;
  return text.size >= 8 && memcmp(text.data, "runtime.", 8) == 0 && !pool_text_is(name, "runtime.main");
}

static void set_function(summary *sum, goroutine_summary *g, uint32_t name) {
  g->function = group_of(&sum->functions, name);
  g->function->count += g->counted;
  if (!g->unnamed) return;
  merge_group(g->function, g->unnamed);
  clear_group(g->unnamed);
  free(g->unnamed);
  g->unnamed = NULL;
}

/* The function that a goroutine began with is the outermost one of the first stack at a change of its status. */
static void learn_function(summary *sum, goroutine *g, uint32_t stack) {
  if (!stack || !g || !g->summary || g->summary->function) return;
  if (!g->entry) g->entry = pool_outermost(stack);
  if (name_of(g)) set_function(sum, g->summary, name_of(g));
}

/* What its stretches are given to. */
static group *stretches_of(goroutine_summary *g) {
  if (g->function) return g->function;
  if (g->unnamed) return g->unnamed;
  g->unnamed = resize(NULL, sizeof *g->unnamed);
  memset(g->unnamed, 0, sizeof *g->unnamed);
  return g->unnamed;
}

static times *times_of(goroutine_summary *g) { return g->region_count ? &g->regions[g->region_count - 1].own : &g->t; }

static goroutine_summary *begin_goroutine(summary *sum, uint64_t id, int64_t time) {
  goroutine *of = go_record(&sum->s.w, id);
  goroutine_summary *g = of->summary;
  if (g) return g;
  g = of->summary = resize(NULL, sizeof *g);
  memset(g, 0, sizeof *g);
  g->g = of;
  g->created = g->last = time;
  g->call = g->lost_proc = g->left_proc = NONE;
  return g;
}

static void push_region(goroutine_summary *g, uint32_t name, uint64_t task_id, int64_t time, bool inherited) {
  open_region *r;
  GROW(g->regions, g->region_count, g->region_capacity);
  r = &g->regions[g->region_count++];
  memset(r, 0, sizeof *r);
  r->name = name;
  r->task = task_id;
  r->begin = time;
  r->inherited = inherited;
  r->has_begun = true;
}

/* Ends the innermost region; its time also belongs to what is around it. `counts`: Go has it in its summary. */
static RARE void end_region(summary *sum, goroutine_summary *g, int64_t time, bool counts) {
  open_region *r = &g->regions[g->region_count - 1];
  times own = r->own;
  int64_t begin = r->begin < sum->c.from ? sum->c.from : r->begin;
  counts = counts && sum->s.begun && time >= sum->c.from && filter_goroutine(&sum->selection, g->g) &&
           filter_task(&sum->selection, r->task);
  if (counts && sum->each) sum->each->region(sum->each, sum, g, r, time);
  if (counts && !r->inherited) {
    group *of = group_of(&sum->regions, r->name);
    of->count++;
    add_times(&of->t, &own);
    histogram_add(&of->whole, between(begin, time), begin, g->g->id);
  }
  g->region_count--;
  add_times(times_of(g), &own);
  clear_times(&own);
}

/* Adds a time to what a goroutine, its region and its task did. */
static inline void add_time(times *t, unsigned status, uint32_t reason, int64_t time) {
  switch (status) {
  case GO_RUNNING: t->running = plus(t->running, time); break;
  case GO_RUNNABLE: t->runnable = plus(t->runnable, time); break;
  case GO_SYSCALL: t->syscall = plus(t->syscall, time); break;
  case GO_WAITING: add_blocked(t, reason, time); break;
  default: t->syscall_blocked = plus(t->syscall_blocked, time); break;
  }
}

/* The same for its innermost region, and the task of that. */
static RARE void account_region(summary *sum, goroutine_summary *g, unsigned status, uint32_t reason, int64_t time) {
  open_region *r = &g->regions[g->region_count - 1];
  task *of;
  add_time(&r->own, status, reason, time);
  if (!r->task || (r->inherited && is_runtimes(name_of(g->g)))) return;
  of = task_of(sum, r->task);
  add_time(of->name ? &of->name->t : &of->t, status, reason, time);
}

static inline void account(summary *sum, goroutine_summary *g, unsigned status, uint32_t reason, int64_t from,
                           int64_t to) {
  int64_t time = between(from < sum->c.from ? sum->c.from : from, to);
  if (!time) return;
  if (g->region_count) account_region(sum, g, status, reason, time);
  else add_time(&g->t, status, reason, time);
}

/* Adds up what a running goroutine did until now: a region begins or ends. */
static void account_until(summary *sum, goroutine_summary *g, int64_t time) {
  const goroutine *of = g->g;
  uint32_t reason;
  int64_t since = of->since > g->last ? of->since : g->last;
  stretch part = {g->g, since, time, of->status, of->status, of->reason, 0, NULL, 0};
  if (!sum->s.begun || of->status == GO_SYSCALL || g->dead || !filter_stretch(&sum->selection, &part)) return;
  reason = of->status == GO_WAITING ? reason_of_text(sum, of->reason) : 0;
  account(sum, g, of->status, reason, since, time);
  g->last = time;
}

#define IN_SYSCALL_WITHOUT_PROC 99 /* beside the statuses */

static void account_syscall(summary *sum, goroutine_summary *g, int64_t end) {
  if (g->call == NONE) return;
  if (g->lost_proc == NONE) {
    account(sum, g, GO_SYSCALL, 0, g->call, end);
  } else {
    account(sum, g, GO_SYSCALL, 0, g->call, g->lost_proc);
    account(sum, g, IN_SYSCALL_WITHOUT_PROC, 0, g->lost_proc, end);
  }
}

static void end_syscall(goroutine_summary *g) {
  if (g->call == NONE) return;
  g->call = g->lost_proc = g->left_proc = NONE;
  if (g->p) g->p->in_syscall = NULL;
  g->p = NULL;
}

static void begin_syscall(goroutine_summary *g, proc *p, int64_t time) {
  g->call = time;
  g->lost_proc = g->left_proc = NONE;
  g->p = p;
  if (p) p->in_syscall = g->g;
}

/* The goroutine on a proc loses it. */
static void leave_proc(const proc *p, int64_t time) {
  goroutine_summary *last = p && p->m && p->m->g && p->m->g->status == GO_SYSCALL ? p->m->g->summary : NULL;
  if (last && last->left_proc == NONE) last->left_proc = time;
}

/* A proc becomes idle, or is taken away. */
static void lose_proc(proc *p, int64_t time) {
  leave_proc(p, time);
  if (!p || !p->in_syscall) return;
  if (p->in_syscall->summary) p->in_syscall->summary->lost_proc = time;
  p->in_syscall = NULL;
}

static RARE void end_goroutine(summary *sum, goroutine_summary *g, int64_t time, bool ended) {
  bool runtimes = is_runtimes(name_of(g->g));
  if (!g->function) set_function(sum, g, 0);
  if (!g->dead) g->ended = time;
  g->has_ended = ended;
  while (g->region_count) end_region(sum, g, time, !runtimes);
  add_times(&g->function->t, &g->t);
  if (g->counted && sum->each) sum->each->goroutine(sum->each, sum, g);
  end_syscall(g);
  g->g->summary = NULL;
  clear_times(&g->t);
  free(g->regions);
  free(g);
}

/* Its time ends here, as if it did. */
static void block_forever(summary *sum, goroutine_summary *g, int64_t time) {
  g->dead = true;
  g->ended = time;
  while (g->region_count) end_region(sum, g, time, !is_runtimes(name_of(g->g)));
}

/* --------------------------------------------------------------------------------------------------- consumer ---- */

/* Keeps the longest. */
static void note_latency(summary *sum, const goroutine *g, int64_t waited, int64_t when) {
  unsigned i;
  if (sum->worst_count == LATENCIES && waited <= sum->worst[LATENCIES - 1].waited) return;
  i = sum->worst_count < LATENCIES ? sum->worst_count++ : LATENCIES - 1;
  for (; i > 0 && sum->worst[i - 1].waited < waited; i--) sum->worst[i] = sum->worst[i - 1];
  sum->worst[i] = (latency){waited, when, g->id, name_of(g)};
}

static void add_to_places(const goroutine_summary *g, const stretch *part) {
  int64_t passed = between(part->begin, part->end);
  thread *m = part->g->m;
  if (part->status == GO_SYSCALL) {
    if (m) m->of_syscalls = plus(m->of_syscalls, passed);
    if (!g->p) return;
    if (g->left_proc != NONE) passed = between(part->begin, g->left_proc);
    g->p->of_syscalls = plus(g->p->of_syscalls, passed);
  } else if (m) {
    m->of_running = plus(m->of_running, passed);
    if (m->p) m->p->of_running = plus(m->p->of_running, passed);
  }
}

static void add_stretch(summary *sum, goroutine_summary *g, const stretch *part) {
  int64_t since = part->begin > g->last ? part->begin : g->last, passed = between(part->begin, part->end);
  group *to = stretches_of(g);
  histogram *single;
  uint32_t reason;
  if (!g->counted && g->function) g->function->count++;
  g->counted = true;
  switch (part->status) {
  case GO_RUNNING:
    account(sum, g, GO_RUNNING, 0, since, part->end);
    add_to_places(g, part);
    single = &to->running;
    break;
  case GO_RUNNABLE:
    account(sum, g, GO_RUNNABLE, 0, since, part->end);
    if (part->by && part->by->kind == GOTRACE_V2_GO_START && part->by->name) return; /* a switch: it did not wait */
    if (part->next == GO_RUNNING) note_latency(sum, part->g, passed, part->begin);
    single = &to->runnable;
    break;
  case GO_SYSCALL:
    account_syscall(sum, g, part->end);
    add_to_places(g, part);
    single = &to->syscall;
    break;
  default:
    reason = reason_of_text(sum, part->reason);
    account(sum, g, GO_WAITING, reason, since, part->end);
    single = waits_of(to, reason);
    break;
  }
  histogram_add(single, passed, part->begin, part->g->id);
}

static void sum_stretch(consumer *c, const stretch *part) {
  summary *sum = (summary *)c;
  goroutine_summary *g = part->g->summary;
  if (!g) return;
  if (!g->dead && (!sum->selection.on || filter_stretch(&sum->selection, part))) add_stretch(sum, g, part);
  g->last = part->end;
  if (sum->forever == part->g) {
    sum->forever = NULL;
    block_forever(sum, g, part->end);
  }
  if (part->status == GO_SYSCALL) end_syscall(g);
  if (part->next == GO_NONE) end_goroutine(sum, g, part->end, part->by != NULL || g->dead);
  else if (part->next == GO_RUNNING && !g->has_started) g->started = part->end, g->has_started = true;
}

/* A goroutine's status is told. Until now it was the same since the generation began. If that is a system call, Go
 * takes the proc of the thread that tells for the goroutine's own, and a call without a proc for one with a proc from
 * then on. Go reads statuses of the first generation only, so behind a skipped one the times are those that are right.
 */
static void take_status(summary *sum, const op *o) {
  goroutine_summary *g = begin_goroutine(sum, o->id, sum->s.w.sync);
  bool skipped = sum->s.start > sum->s.first;
  proc *own = o->m ? o->m->p : NULL, *tells = o->a[1] == NOBODY ? NULL : world_proc(&sum->s.w, o->a[1], true);
  proc *p = skipped ? own : tells;
  g->g->entry = o->new_stack;
  if (o->a[0] == GO_RUNNING) g->started = o->time, g->has_started = true;
  if (o->a[0] != GO_SYSCALL) return;
  if (sum->s.begun && filter_goroutine(&sum->selection, g->g)) /* else it is before the part */
    account(sum, g, p ? GO_SYSCALL : IN_SYSCALL_WITHOUT_PROC, 0, g->created, o->time);
  begin_syscall(g, p, o->time);
  if (skipped && !p) g->lost_proc = o->time;
  if (sum->c.family == 1) g->left_proc = g->created; /* GoInSyscall */
}

static void take_create(summary *sum, const op *o) {
  const goroutine *creator = o->m ? o->m->g : NULL;
  goroutine_summary *from = creator ? creator->summary : NULL, *g = begin_goroutine(sum, o->id, o->time);
  if (from && from->region_count) {
    push_region(g, 0, from->regions[from->region_count - 1].task, o->time, true);
  }
  if (o->new_stack) {
    g->g->entry = o->new_stack;
    learn_function(sum, g->g, o->new_stack);
  }
  if (o->kind != GOTRACE_V2_GO_CREATE_SYSCALL) return;
  begin_syscall(g, o->m ? o->m->p : NULL, o->time);
  if (sum->c.family == 1) g->left_proc = o->time; /* GoInSyscall */
}

static void take_region(summary *sum, goroutine *of, const op *o) {
  goroutine_summary *g = of ? of->summary : NULL;
  if (!g) return;
  account_until(sum, g, o->time);
  if (o->kind == GOTRACE_V2_USER_REGION_BEGIN) {
    push_region(g, o->name, o->id, o->time, false);
    task_of(sum, o->id);
    return;
  }
  if (!g->region_count) {
    task_of(sum, o->id);
    push_region(g, o->name, o->id, g->created, false);
    g->regions[0].has_begun = false;
    add_times(&g->regions[0].own, &g->t);
    clear_times(&g->t);
  }
  end_region(sum, g, o->time, true);
}

static void take_task(summary *sum, const op *o) {
  task *t = task_of(sum, o->id);
  if (o->name || o->kind == GOTRACE_V2_USER_TASK_BEGIN || !t->name)
    name_task(sum, t, o->name); /* v1: no name at its end */
  if (o->kind == GOTRACE_V2_USER_TASK_END) {
    end_task(sum, t, o->time);
    return;
  }
  t->begun = true;
  t->begin = o->time;
  t->parent = o->a[0];
}

/* The tracer of gotrace.h reports what it had to drop by logs of this category. */
static void take_log(summary *sum, const op *o) {
  if (!pool_text_is(o->name, "gotrace")) return;
  if (sum->dropped < MOST_LOSSES) sum->losses[sum->dropped] = o->value;
  sum->dropped++;
}

/* Before the selected part no stretches come. What their ends change, operations change there. */
static void take_before(summary *sum, goroutine *of, const op *o) {
  goroutine_summary *g = of ? of->summary : NULL;
  if (!g) return;
  switch (o->kind) {
  case GOTRACE_V2_GO_BLOCK:
    if (o->name == sum->forever_text) block_forever(sum, g, o->time);
    break;
  case GOTRACE_V2_GO_SYSCALL_END:
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED: end_syscall(g); break;
  case GOTRACE_V2_GO_DESTROY:
  case GOTRACE_V2_GO_DESTROY_SYSCALL: end_goroutine(sum, g, o->time, true); break;
  default: break;
  }
}

/* What may change anything but the world, and stretches. Most operations do not, see sum_take(). */
static RARE void take_any(summary *sum, const op *o) {
  consumer *c = &sum->c;
  goroutine *g = o->m ? o->m->g : NULL;
  proc *p;
  if (sum->selection.on) filter_op(&sum->selection, c->w, o);
  collector_take(&sum->gc, c->w, o, sum->c.from);
  switch (o->kind) {
  case GOTRACE_V2_GO_STATUS:
    take_status(sum, o);
    learn_function(sum, go_record(c->w, o->id), o->new_stack ? o->new_stack : o->stack);
    break;
  case GOTRACE_V2_GO_CREATE:
  case GOTRACE_V2_GO_CREATE_BLOCKED:
  case GOTRACE_V2_GO_CREATE_SYSCALL: take_create(sum, o); break;
  case GOTRACE_V2_GO_STOP: learn_function(sum, g, o->stack); break;
  case GOTRACE_V2_GO_BLOCK:
    learn_function(sum, g, o->stack);
    if (sum->s.begun && o->name == sum->forever_text && g && g->summary) sum->forever = g;
    break;
  case GOTRACE_V2_GO_SYSCALL_BEGIN:
    learn_function(sum, g, o->stack);
    if (g && g->summary) begin_syscall(g->summary, o->m->p, o->time);
    break;
  case GOTRACE_V2_PROC_STOP: /* of v1, watch_any() has those in the file; others are only there for consistency */
    p = o->m ? o->m->p : NULL;
    if (c->family == 1) leave_proc(p, o->time);
    else lose_proc(p, o->time);
    break;
  case GOTRACE_V2_PROC_STEAL:
    p = world_proc(c->w, o->id, false);
    if (p && p->status != PROC_ABANDONED) lose_proc(p, o->time);
    break;
  case GOTRACE_V2_PROC_STATUS:
    if (o->a[0] == PROC_IDLE || o->a[0] == PROC_ABANDONED) lose_proc(world_proc(c->w, o->id, false), o->time);
    break;
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END: take_region(sum, g, o); break;
  case GOTRACE_V2_USER_TASK_BEGIN:
  case GOTRACE_V2_USER_TASK_END: take_task(sum, o); break;
  case GOTRACE_V2_USER_LOG:
    if (sum->s.begun) take_log(sum, o);
    task_of(sum, o->id);
    break;
  default: break;
  }
  if (!sum->s.begun) take_before(sum, g, o);
}

static void sum_take(consumer *c, const op *o) {
  summary *sum = (summary *)c;
  bool switches = o->kind == GOTRACE_V2_GO_START || o->kind == GOTRACE_V2_GO_UNBLOCK ||
                  ((o->kind == GOTRACE_V2_GO_BLOCK || o->kind == GOTRACE_V2_GO_STOP) && !o->stack);
  if (switches && o->name != sum->forever_text && !sum->gc.any && !sum->selection.on) return;
  take_any(sum, o);
}

static void sum_begin(consumer *c, int64_t time) { (void)c, (void)time; }

static void sum_end(consumer *c, int64_t time) {
  summary *sum = (summary *)c;
  sum->end = time;
  sum->duration = between(sum->c.from, time);
  collector_end(&sum->gc, c->w, sum->c.from, time);
}

static RARE void watch_any(summary *sum, const gotrace_event *e) {
  gotrace_decoder_info info;
  int64_t since = between(sum->s.first, e->time);
  bool selected = !sum->selection_of_events.on || filter_event(&sum->selection_of_events, sum->in->decoder, e);
  if (e->spec->since >= GOTRACE_GO_1_22 && e->kind == GOTRACE_V2_SYNC) {
    gotrace_decoder_get_info(sum->in->decoder, &info);
    /* The last generation has a second Sync, at its end. */
    sum->generations += !sum->generations || info.generation != sum->generation;
    sum->generation = info.generation;
  }
  /* Go counts a goroutine of v1 in a system call as blocked from its proc's ProcStop on. */
  if (e->spec->since < GOTRACE_GO_1_22 && e->kind == GOTRACE_V1_PROC_STOP && since <= sum->s.until)
    lose_proc(world_proc(&sum->s.w, (uint64_t)e->p, false), e->time);
  if (e->implied || !selected || since < sum->s.from || since > sum->s.until) return;
  sum->kinds[e->kind]++;
  sum->specs[e->kind] = e->spec;
}

static void watch_kinds(void *context, const gotrace_event *e) {
  summary *sum = context;
  if (sum->part || e->kind == GOTRACE_V2_SYNC || e->kind == GOTRACE_V1_PROC_STOP) {
    watch_any(sum, e);
    return;
  }
  sum->kinds[e->kind] += !e->implied;
  sum->specs[e->kind] = e->spec;
}

/* Waits by reason are those of all functions. */
static void merge_reasons(summary *sum) {
  const group *f;
  uint32_t i;
  for (f = sum->functions.list; f; f = f->next)
    for (i = 0; i < f->blocked_count; i++)
      if (f->blocked[i]) histogram_merge(&sum->reasons[i].waits, f->blocked[i]);
}

gotrace_result summarize(summary *sum, input *in, const settings *set) {
  gotrace_result result;
  gotrace_decoder_info known;
  size_t i;
  sum->in = in;
  filter_open(&sum->selection, set);
  filter_open(&sum->selection_of_events, set);
  sum->part = sum->selection.on || set->from || set->until != INT64_MAX;
  sum->forever_text = pool_put_string("forever");
  sum->c.begin = sum_begin;
  sum->c.take = sum->c.before = sum_take;
  sum->c.stretch = sum_stretch;
  sum->c.end = sum_end;
  sum->c.statuses = sum->c.as_go = true;
  result = source_run(&sum->s, in, &sum->c, set->from, set->until, watch_kinds, sum);
  merge_reasons(sum);
  for (i = 0; i < COUNT(sum->kinds); i++) sum->events += sum->kinds[i];
  gotrace_decoder_get_info(in->decoder, &known);
  sum->format = known.format;
  sum->family = known.family;
  for (i = 0; i < sum->task_ids.count; i++) {
    task *t = sum->task_ids.values[i];
    if (t->ended && t->end < sum->c.from) continue;
    if (!t->name && t->id) name_task(sum, t, 0);
    if (t->name) t->name->count++;
    if (sum->each && t->id) sum->each->task(sum->each, sum, t);
  }
  return result;
}

static void free_groups(groups *all) {
  group *g;
  for (g = all->list; g; g = g->next) clear_group(g);
  map_free(&all->by_name);
}

void summary_free(summary *sum) {
  uint32_t i;
  free_groups(&sum->functions);
  free_groups(&sum->tasks);
  free_groups(&sum->regions);
  for (i = 0; i <= MOST_REASONS; i++) histogram_free(&sum->reasons[i].waits);
  free(sum->reason_places);
  map_free(&sum->task_ids);
  collector_free(&sum->gc);
  filter_close(&sum->selection);
  filter_close(&sum->selection_of_events);
  source_free(&sum->s);
}

group **sorted_groups(const groups *all, int (*compare)(const void *, const void *)) {
  group **sorted = resize(NULL, (all->count + 1) * sizeof *sorted), *g;
  size_t i = 0;
  for (g = all->list; g; g = g->next) sorted[i++] = g;
  qsort(sorted, i, sizeof *sorted, compare);
  sorted[i] = NULL;
  return sorted;
}
