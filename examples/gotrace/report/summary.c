/* summary.c - what goroutines, tasks, regions and the collector did: see summary.h */

#include "summary.h"

#include "../record/board.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- reasons ---- */

uint32_t summary_reason(summary *sum, uint32_t name) {
  uint8_t *place = SIDE(uint8_t, &sum->reason_places, name);
  if (*place) return *place - 1u;
  *place = (uint8_t)(sum->reason_count + 1);
  if (sum->reason_count == MOST_REASONS) return MOST_REASONS;
  sum->reasons[sum->reason_count].name = name;
  return sum->reason_count++;
}

pool_text reason_text(const summary *sum, uint32_t place) {
  pool_text others = {"(others)", 8}, unknown = {"(unknown)", 9}, text;
  if (place == MOST_REASONS) return others;
  text = pool_text_of(sum->reasons[place].name);
  return text.size ? text : unknown;
}

/* ------------------------------------------------------------------------------------------------------ tasks ---- */

task *summary_task(summary *sum, uint64_t id) {
  task *t = map_keep(&sum->task_ids, id, sizeof *t, NULL);
  t->id = id;
  return t;
}

static void name_task(summary *sum, task *t, uint32_t name) {
  group *named = group_of(&sum->tasks, name);
  if (t->name == named) return;
  t->name = named;
  add_times(&named->t, &t->t);
  clear_times(&t->t);
}

/* ------------------------------------------------------------------------------------------------- goroutines ---- */

bool is_runtimes(uint32_t name) {
  pool_text text = pool_text_of(name);
  if (!text.size) return true;
  return text.size >= 8 && memcmp(text.data, "runtime.", 8) == 0 && !pool_text_is(name, "runtime.main");
}

static void set_function(summary *sum, goroutine_summary *g, uint32_t name) {
  unsigned i;
  g->function = group_of(&sum->functions, name);
  for (i = 0; i < sum->worst.count; i++) {
    latency *wait = &sum->worst.all[i];
    if (!wait->function && wait->g == g->g->id) wait->function = g->function;
  }
  g->function->count += g->counted;
  if (!g->unnamed) return;
  merge_group(g->function, g->unnamed, NULL);
  clear_group(g->unnamed);
  free(g->unnamed);
  g->unnamed = NULL;
}

/* Takes the goroutine's name from the world, once that is known. */
static void learn_function(summary *sum, const goroutine *g) {
  goroutine_summary *of = summary_of(sum, g);
  if (of && !of->function && name_of(g)) set_function(sum, of, name_of(g));
}

/* The group that receives the goroutine's stretches. */
static group *stretches_of(goroutine_summary *g) {
  if (g->function) return g->function;
  if (!g->unnamed) g->unnamed = zeroed(sizeof *g->unnamed);
  return g->unnamed;
}

goroutine_summary *summary_begin_goroutine(summary *sum, uint64_t id, int64_t time) {
  goroutine *of = go_record(&sum->s.w, id);
  goroutine_summary *g = summary_of(sum, of);
  if (g) return g;
  g = *summary_place(sum, of) = zeroed(sizeof *g);
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

/* Adds a single time to a histogram. `begun`, `ended`: not before, or by the end of, the trace or part. */
static inline void add_single(const summary *sum, histogram *to, int64_t time, int64_t when, uint64_t who, bool begun,
                              bool ended) {
  if (!ended) {
    to->unended++;
    to->unended_total += (uint64_t)time;
  } else if (!begun) {
    to->unbegun++;
    to->unbegun_total += (uint64_t)time;
  }
  if (!sum->only_whole || (begun && ended)) histogram_add(to, time, when, who);
}

/* Ends the region with `inside` open regions inside it. Its time also counts for the region around it. `counts`: the
 * summary contains it. `ended`: not by the end of the trace or part. */
static RARE void end_region(summary *sum, goroutine_summary *g, uint32_t inside, int64_t time, bool counts,
                            bool ended) {
  uint32_t at = g->region_count - 1 - inside, i;
  open_region *r = &g->regions[at];
  int64_t begin = r->begin < sum->c.from ? sum->c.from : r->begin;
  add_times(at ? &g->regions[at - 1].own : &g->t, &r->own);
  for (i = 1; i <= inside; i++) add_times(&r->own, &r[i].own);
  counts = counts && sum->s.begun && time >= sum->c.from && filter_goroutine(&sum->selection, g->g) &&
           filter_task(&sum->selection, r->task);
  if (counts && sum->each) sum->each->region(sum->each, sum, g, r, time);
  if (counts && !r->inherited) {
    group *of = group_of(&sum->regions, r->name);
    of->count++;
    add_times(&of->t, &r->own);
    add_single(sum, &of->whole, between(begin, time), begin, g->g->id, r->has_begun && r->begin >= sum->c.from, ended);
  }
  clear_times(&r->own);
  memmove(r, r + 1, inside * sizeof *r);
  g->region_count--;
}

/* Adds nanoseconds to the times of a goroutine, region or task. `status`: also IN_SYSCALL_WITHOUT_PROC. */
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
  of = summary_task(sum, r->task);
  of->chosen = true;
  add_time(of->name ? &of->name->t : &of->t, status, reason, time);
}

static inline void account_time(summary *sum, goroutine_summary *g, unsigned status, uint32_t reason, int64_t time) {
  if (!time) return;
  if (g->region_count) account_region(sum, g, status, reason, time);
  else add_time(&g->t, status, reason, time);
}

void summary_add_time(summary *sum, goroutine_summary *g, unsigned status, uint32_t reason, int64_t time) {
  account_time(sum, g, status, reason, time);
}

static inline void account(summary *sum, goroutine_summary *g, unsigned status, uint32_t reason, int64_t from,
                           int64_t to) {
  account_time(sum, g, status, reason, between(from < sum->c.from ? sum->c.from : from, to));
}

/* Adds up the goroutine's times until now, because a region begins or ends. */
static void account_until(summary *sum, goroutine_summary *g, int64_t time) {
  const goroutine *of = g->g;
  uint32_t reason;
  int64_t since = of->since > g->last ? of->since : g->last;
  stretch part = {g->g, since, time, of->status, of->status, of->reason, 0, NULL, 0, true};
  if (!sum->s.begun || of->status == GO_SYSCALL || !filter_stretch(&sum->selection, &part)) return;
  reason = of->status == GO_WAITING ? summary_reason(sum, of->reason) : 0;
  account(sum, g, of->status, reason, since, time);
  g->last = time;
}

#define IN_SYSCALL_WITHOUT_PROC 99 /* in addition to the statuses of world.h */

static void account_syscall(summary *sum, goroutine_summary *g, int64_t end) {
  if (g->call == NONE) return;
  if (g->early) account(sum, g, g->early, 0, g->created, g->call);
  if (g->lost_proc == NONE) {
    account(sum, g, GO_SYSCALL, 0, g->call, end);
  } else {
    account(sum, g, GO_SYSCALL, 0, g->call, g->lost_proc);
    account(sum, g, IN_SYSCALL_WITHOUT_PROC, 0, g->lost_proc, end);
  }
}

static void end_syscall(summary *sum, goroutine_summary *g) {
  if (g->call == NONE) return;
  g->call = g->lost_proc = g->left_proc = NONE;
  g->early = 0;
  if (g->p) summary_of_proc(sum, g->p)->in_syscall = NULL;
  g->p = NULL;
}

static void begin_syscall(summary *sum, goroutine_summary *g, proc *p, int64_t time) {
  g->call = time;
  g->lost_proc = g->left_proc = NONE;
  g->p = p;
  if (p) summary_of_proc(sum, p)->in_syscall = g->g;
}

/* The goroutine that is in a system call on a proc loses it. */
static void leave_proc(summary *sum, const proc *p, int64_t time) {
  const goroutine *g = p && p->m ? p->m->g : NULL;
  goroutine_summary *last = g && g->status == GO_SYSCALL ? summary_of(sum, g) : NULL;
  if (last && last->left_proc == NONE) last->left_proc = time;
}

/* A proc becomes idle or is stolen. */
static void lose_proc(summary *sum, const proc *p, int64_t time) {
  proc_summary *of = p ? summary_of_proc(sum, p) : NULL;
  goroutine_summary *g = of ? summary_of(sum, of->in_syscall) : NULL;
  leave_proc(sum, p, time);
  if (g) g->lost_proc = time;
  if (of) of->in_syscall = NULL;
}

static RARE void end_goroutine(summary *sum, goroutine_summary *g, int64_t time, bool ended) {
  bool runtimes = is_runtimes(name_of(g->g));
  if (!g->function) set_function(sum, g, name_of(g->g));
  g->ended = time;
  g->has_ended = ended;
  while (g->region_count) end_region(sum, g, 0, time, !runtimes, ended);
  add_times(&g->function->t, &g->t);
  if (g->counted && sum->each) sum->each->goroutine(sum->each, sum, g);
  end_syscall(sum, g);
  *summary_place(sum, g->g) = NULL;
  clear_times(&g->t);
  free(g->regions);
  free(g);
}

/* --------------------------------------------------------------------------------------------------- consumer ---- */

static void add_to_place(int64_t *to, int64_t passed) { *to = plus(*to, passed); }

/* Running time counts for the thread and proc of the goroutine's own event that ends it. In a damaged trace, statuses
 * may have moved both, so the world may have them elsewhere. */
static void add_running_to_places(summary *sum, const stretch *part, int64_t passed) {
  const gotrace_event *e = sum->s.event;
  thread *m = part->g->m;
  proc *p = m ? m->p : NULL;
  if (e && e->g == (int64_t)part->g->id && e->m != GOTRACE_NO_ID) {
    m = world_thread(&sum->s.w, (uint64_t)e->m);
    p = e->p == GOTRACE_NO_ID ? NULL : world_proc(&sum->s.w, (uint64_t)e->p, true);
  }
  if (m) add_to_place(&summary_of_thread(sum, m)->running, passed);
  if (p) add_to_place(&summary_of_proc(sum, p)->t.running, passed);
}

static void add_to_places(summary *sum, const goroutine_summary *g, const stretch *part) {
  int64_t passed = between(part->begin, part->end);
  thread *m = part->g->m;
  if (part->status == GO_RUNNING) {
    add_running_to_places(sum, part, passed);
    return;
  }
  if (m) add_to_place(&summary_of_thread(sum, m)->syscall, passed);
  if (!g->p) return;
  if (g->left_proc != NONE) passed = between(part->begin, g->left_proc);
  add_to_place(&summary_of_proc(sum, g->p)->t.syscall, passed);
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
    add_to_places(sum, g, part);
    single = &to->running;
    break;
  case GO_RUNNABLE:
    account(sum, g, GO_RUNNABLE, 0, since, part->end);
    if (part->by && part->by->kind == GOTRACE_V2_GO_START && part->by->name) return; /* a switch: it did not wait */
    if (part->next == GO_RUNNING) note_latency(&sum->worst, (latency){passed, part->begin, part->g->id, g->function});
    single = &to->runnable;
    break;
  case GO_SYSCALL:
    account_syscall(sum, g, part->end);
    add_to_places(sum, g, part);
    single = &to->syscall;
    break;
  default:
    reason = summary_reason(sum, part->reason);
    account(sum, g, GO_WAITING, reason, since, part->end);
    single = waits_of(to, reason);
    break;
  }
  add_single(sum, single, passed, part->begin, part->g->id, !g->is_older && part->g->since >= sum->c.from,
             part->by != NULL);
}

static void sum_stretch(consumer *c, const stretch *part) {
  summary *sum = (summary *)c;
  goroutine_summary *g = summary_of(sum, part->g);
  if (!g) return;
  if (!sum->selection.on || filter_stretch(&sum->selection, part)) add_stretch(sum, g, part);
  g->last = part->end;
  g->is_older &= part->begin == part->end; /* v1: one that runs when the trace begins is runnable first */
  if (part->status == GO_SYSCALL) end_syscall(sum, g);
  if (part->next == GO_NONE) end_goroutine(sum, g, part->end, part->by != NULL);
  else if (part->next == GO_RUNNING && !g->has_started) g->started = part->end, g->has_started = true;
}

/* A status event: the goroutine has had this status since the generation began. If it is in a system call, Go assumes
 * that the proc of the thread with the event is the goroutine's own, and that a call without a proc has one from then
 * on. */
static void take_status(summary *sum, const op *o) {
  bool is_older = !summary_of(sum, go_record(&sum->s.w, o->id));
  goroutine_summary *g = summary_begin_goroutine(sum, o->id, sum->s.w.sync);
  proc *p = o->a[1] == NOBODY ? NULL : world_proc(&sum->s.w, o->a[1], true);
  g->is_older |= is_older;
  g->g->entry = o->new_stack;
  learn_function(sum, g->g);
  if (o->a[0] == GO_RUNNING) g->started = o->time, g->has_started = true;
  if (o->a[0] != GO_SYSCALL) return;
  begin_syscall(sum, g, p, o->time);
  g->early = p ? GO_SYSCALL : IN_SYSCALL_WITHOUT_PROC;
  if (!o->m || o->m->p != p) g->left_proc = g->created; /* GoInSyscall of v1; told on another thread */
}

static void take_create(summary *sum, const op *o) {
  const goroutine *creator = o->m ? o->m->g : NULL;
  goroutine_summary *from = summary_of(sum, creator), *g = summary_begin_goroutine(sum, o->id, o->time);
  g->is_older = !creator && o->time == sum->s.first; /* v1: so gotrace.h tells those that were there */
  if (from && from->region_count) {
    push_region(g, 0, from->regions[from->region_count - 1].task, o->time, true);
  }
  if (o->new_stack) {
    g->g->entry = o->new_stack;
    learn_function(sum, g->g);
  }
  if (o->kind == GOTRACE_V2_GO_CREATE_SYSCALL) begin_syscall(sum, g, o->m ? o->m->p : NULL, o->time);
}

static void take_region(summary *sum, const goroutine *of, const op *o) {
  goroutine_summary *g = summary_of(sum, of);
  if (!g) return;
  account_until(sum, g, o->time);
  if (o->kind == GOTRACE_V2_USER_REGION_BEGIN) {
    push_region(g, o->name, o->id, o->time, false);
    summary_task(sum, o->id);
    return;
  }
  if (!g->region_count && !o->a[0]) {
    summary_task(sum, o->id);
    push_region(g, o->name, o->id, g->created, false);
    g->regions[0].has_begun = false;
    add_times(&g->regions[0].own, &g->t);
    clear_times(&g->t);
  }
  if (o->a[0] < g->region_count) end_region(sum, g, (uint32_t)o->a[0], o->time, true, true);
}

static void take_task(summary *sum, const goroutine_summary *g, const op *o) {
  task *t = summary_task(sum, o->id);
  if (o->name || o->kind == GOTRACE_V2_USER_TASK_BEGIN || !t->name)
    name_task(sum, t, o->name); /* v1: no name at its end */
  if (o->kind == GOTRACE_V2_USER_TASK_END) {
    t->ended = true;
    t->end = o->time;
    return;
  }
  t->begun = true;
  t->begin = o->time;
  t->parent = o->a[0];
  t->from = origin_of(o);
  if (g && g->region_count) {
    t->from.within = g->regions[g->region_count - 1].task;
    t->from.inside = true;
  }
}

/* A report counts for the time since the last one. So of the first in a part, only a share does. A digest passes logs
 * without catching up, so only the event knows which goroutine runs; v1: only the world. */
static void take_cpu_time(summary *sum, const goroutine *g, int64_t now, pool_text message) {
  const gotrace_event *e = sum->s.event;
  goroutine_summary *of;
  char text[64], *end;
  int64_t time, since;
  snprintf(text, sizeof text, "%.*s", message.size < sizeof text ? (int)message.size : 0, message.data);
  time = strtoll(text, &end, 10);
  if (*end == ' ') g = world_go(&sum->s.w, strtoull(end, NULL, 10));
  else if (e && e->g != GOTRACE_NO_ID) g = world_go(&sum->s.w, (uint64_t)e->g);
  of = summary_of(sum, g);
  if (!of) return;
  since = of->reported > of->created ? of->reported : of->created;
  of->reported = now;
  if (!sum->s.begun || time <= 0 || !filter_goroutine(&sum->selection, g)) return;
  if (since < sum->c.from) time = (int64_t)((double)time * (double)(now - sum->c.from) / (double)(now - since));
  of->t.cpu = plus(of->t.cpu, time);
}

static void add_count(summary *sum, uint32_t name, double value) {
  bool made;
  counter_summary *c = map_keep(&sum->counters, name, sizeof *c, &made);
  double difference;
  if (made) {
    c->name = name;
    c->least = c->most = value;
  }
  c->count++;
  c->last = value;
  if (value < c->least) c->least = value;
  if (value > c->most) c->most = value;
  difference = value - c->mean;
  c->total += value;
  c->mean = c->total / (double)c->count;
  c->squares += difference * (value - c->mean);
}

static int by_counter_name(const void *a, const void *b) {
  const counter_summary *const *x = a, *const *y = b;
  return text_order((*x)->name, (*y)->name);
}

counter_summary **sorted_counters(const summary *sum) {
  size_t count = sum->counters.count;
  counter_summary **sorted = resize(NULL, (count + 1) * sizeof *sorted);
  if (count) memcpy(sorted, sum->counters.values, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_counter_name);
  sorted[count] = NULL;
  return sorted;
}

static int by_id(const void *a, const void *b) {
  const timed_place *x = a, *y = b;
  return x->id < y->id ? -1 : x->id > y->id;
}

timed_place *sorted_procs(summary *sum, size_t *count) {
  timed_place *all = resize(NULL, sum->s.w.proc_count * sizeof *all);
  const proc *p;
  *count = 0;
  for (p = sum->s.w.proc_list; p; p = p->next)
    if (p->id < FRESH_PROC) all[(*count)++] = (timed_place){p->id, summary_of_proc(sum, p)->t};
  qsort(all, *count, sizeof *all, by_id);
  return all;
}

timed_place *sorted_threads(summary *sum, size_t *count) {
  timed_place *all = resize(NULL, sum->s.w.thread_count * sizeof *all);
  const thread *m;
  *count = 0;
  for (m = sum->s.w.thread_list; m; m = m->next) {
    const place_times *t = summary_of_thread(sum, m);
    if (m->id < FRESH_THREAD && (t->running || t->syscall)) all[(*count)++] = (timed_place){m->id, *t};
  }
  qsort(all, *count, sizeof *all, by_id);
  return all;
}

/* The tracer of gotrace.h reports losses as logs of this category. */
static void take_log(summary *sum, const op *o) {
  if (!pool_text_is(o->name, "gotrace")) return;
  if (sum->dropped < MOST_LOSSES) sum->losses[sum->dropped] = o->value;
  sum->dropped++;
}

/* Before the selected part there are no stretches, so operations make the changes that ends of stretches would make. */
static void take_before(summary *sum, const goroutine *of, const op *o) {
  goroutine_summary *g = summary_of(sum, of);
  if (!g) return;
  if (o->kind == GOTRACE_V2_GO_SYSCALL_END || o->kind == GOTRACE_V2_GO_SYSCALL_END_BLOCKED) end_syscall(sum, g);
  if (ends_go(o->kind)) end_goroutine(sum, g, o->time, true);
}

/* Handles operations that change more than the world and its stretches. Most do not: see sum_take(). */
static RARE void take_any(summary *sum, const op *o) {
  consumer *c = &sum->c;
  const goroutine *g = o->m ? o->m->g : NULL;
  const proc *p;
  uint32_t name;
  double value;
  bool selected = !sum->selection.on || (sum->s.recalled && filter_op(&sum->selection, c->w, o));
  learn_function(sum, g);
  collector_take(&sum->gc, c->w, o, sum->c.from);
  if (creates(o->kind)) take_create(sum, o);
  switch (o->kind) {
  case GOTRACE_V2_GO_STATUS: take_status(sum, o); break;
  case GOTRACE_V2_GO_SYSCALL_BEGIN:
    if (summary_of(sum, g)) begin_syscall(sum, summary_of(sum, g), o->m->p, o->time);
    break;
  case GOTRACE_V2_PROC_STOP: /* Go counts a goroutine in a system call as blocked from the event on */
    p = o->m ? o->m->p : NULL;
    if (o->inferred) leave_proc(sum, p, o->time);
    else lose_proc(sum, p, o->time);
    break;
  case GOTRACE_V2_PROC_STEAL:
    p = world_proc(c->w, o->id, false);
    if (p && p->status != PROC_ABANDONED) lose_proc(sum, p, o->time);
    break;
  case GOTRACE_V2_PROC_STATUS:
    if (o->a[0] == PROC_IDLE || o->a[0] == PROC_ABANDONED) lose_proc(sum, world_proc(c->w, o->id, false), o->time);
    break;
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END: take_region(sum, g, o); break;
  case GOTRACE_V2_USER_TASK_BEGIN:
  case GOTRACE_V2_USER_TASK_END: take_task(sum, summary_of(sum, g), o); break;
  case GOTRACE_V2_USER_LOG:
    if (pool_text_is(o->name, RECORD_CPU_TIME)) take_cpu_time(sum, g, o->time, pool_text_of(o->value));
    if (sum->s.begun) take_log(sum, o);
    if (sum->s.begun && selected && log_counter(o->name, o->value, &name, &value)) add_count(sum, name, value);
    summary_task(sum, o->id);
    break;
  default: break;
  }
  if (selected && change_has_task(change_specs[o->kind].kind)) summary_task(sum, o->id)->chosen = true;
  if (!sum->s.begun) take_before(sum, g, o);
}

static void sum_take(consumer *c, const op *o) {
  summary *sum = (summary *)c;
  bool switches = o->kind == GOTRACE_V2_GO_START || o->kind == GOTRACE_V2_GO_UNBLOCK ||
                  ((o->kind == GOTRACE_V2_GO_BLOCK || o->kind == GOTRACE_V2_GO_STOP) && !o->stack);
  if (switches && !sum->selection.on && collector_ignores(&sum->gc, c->w, o)) return;
  take_any(sum, o);
}

/* Tells a filter what is open when the part begins. */
static void recall_open(summary *sum, filter *f) {
  const goroutine *g;
  const task *t;
  size_t i;
  for (g = sum->s.w.live; g; g = g->next) {
    const goroutine_summary *of = summary_of(sum, g);
    for (i = 0; of && i < of->region_count; i++) filter_region(f, g->id, of->regions[i].task);
  }
  for (i = 0; i < sum->task_ids.count; i++) {
    t = sum->task_ids.values[i];
    if (t->begun) filter_named(f, t->id, t->name ? t->name->name : 0, task_is_open(t));
  }
  filter_settle(f);
}

static void sum_recall(consumer *c) {
  summary *sum = (summary *)c;
  size_t i;
  if (!sum->selection.on) return;
  recall_open(sum, &sum->selection);
  recall_open(sum, &sum->selection_of_events);
  for (i = 0; i < sum->task_ids.count; i++) {
    task *t = sum->task_ids.values[i];
    t->chosen = task_is_open(t) && filter_origin(&sum->selection, &sum->s.w, GOTRACE_V2_USER_TASK_BEGIN, &t->from);
  }
}

/* What came before the part has set only the state of the first change: see add_change() in collector.c. */
static void sum_begin(consumer *c, int64_t time) {
  collector *gc = &((summary *)c)->gc;
  if (gc->count) gc->changes[0].time = time;
}

static void sum_end(consumer *c, int64_t time) {
  summary *sum = (summary *)c;
  sum->end = time;
  sum->duration = between(sum->c.from, time);
  collector_end(&sum->gc, c->w, sum->c.from, time);
}

void summary_note_generation(summary *sum) {
  gotrace_decoder_info info;
  gotrace_decoder_get_info(sum->in->decoder, &info);
  sum->generations += !sum->generations || info.generation != sum->generation;
  sum->generation = info.generation;
}

void summary_pass(summary *sum, const gotrace_event *e) {
  source_take(&sum->s, e);
  if (e->kind == GOTRACE_V2_SYNC) summary_note_generation(sum);
}

static inline void count_kind(summary *sum, const gotrace_event *e) {
  unsigned kind = kind_in_file(e);
  sum->kinds[kind]++;
  if (!sum->specs[kind]) sum->specs[kind] = spec_in_file(e, sum->s.format);
}

static RARE void watch_any(summary *sum, const gotrace_event *e) {
  int64_t since = between(sum->s.first, e->time);
  const gotrace_change *c = sum->s.changed ? &sum->s.change : NULL;
  if (e->kind == GOTRACE_V2_SYNC && since <= sum->s.until) {
    if (since <= sum->s.from) sum->generations = 0; /* the part begins in this one, or later */
    summary_note_generation(sum);
  }
  if (since < sum->s.from || since > sum->s.until) return;
  if (!filter_event(&sum->selection_of_events, sum->in->decoder, e, c) || e->implied) return;
  count_kind(sum, e);
}

static void watch_kinds(void *context, const gotrace_event *e) {
  summary *sum = context;
  if (sum->part || e->kind == GOTRACE_V2_SYNC) {
    watch_any(sum, e);
    return;
  }
  if (!e->implied) count_kind(sum, e);
}

/* ----------------------------------------------------------------------------------------------------- result ---- */

/* The waits of all functions, by reason. */
static void merge_reasons(summary *sum) {
  const group *f;
  uint32_t i;
  for (f = sum->functions.list; f; f = f->next)
    for (i = 0; i < f->blocked_count; i++)
      if (f->blocked[i]) histogram_merge(&sum->reasons[i].waits, f->blocked[i]);
}

/* Renumbers the reasons in groups: `places` by old number. */
static void move_reasons(groups *all, const uint32_t *places) {
  group *g;
  uint32_t i, j;
  for (g = all->list; g; g = g->next) {
    histogram **moved = zeroed((MOST_REASONS + 1) * sizeof *moved);
    reason_time *waits = g->t.blocked;
    for (i = 0; i < g->blocked_count; i++)
      if (g->blocked[i]) moved[places[i]] = g->blocked[i];
    free(g->blocked);
    g->blocked = moved;
    g->blocked_count = MOST_REASONS + 1;
    for (i = 0; i < g->t.blocked_count; i++) {
      reason_time time = {places[waits[i].reason], waits[i].time};
      for (j = i; j > 0 && waits[j - 1].reason > time.reason; j--) waits[j] = waits[j - 1];
      waits[j] = time;
    }
  }
}

/* Sorts the reasons by total waiting time, longest first, so that their order does not depend on the order of events.
 */
static void order_reasons(summary *sum) {
  wait_reason met[MOST_REASONS];
  uint32_t order[MOST_REASONS], places[MOST_REASONS + 1], i, j;
  memcpy(met, sum->reasons, sizeof met);
  for (i = 0; i < sum->reason_count; i++) {
    for (j = i; j > 0; j--) {
      const wait_reason *before = &met[order[j - 1]];
      if (before->waits.total > met[i].waits.total ||
          (before->waits.total == met[i].waits.total && text_order(before->name, met[i].name) < 0))
        break;
      order[j] = order[j - 1];
    }
    order[j] = i;
  }
  for (i = 0; i < sum->reason_count; i++) {
    places[order[i]] = i;
    sum->reasons[i] = met[order[i]];
  }
  for (i = sum->reason_count; i <= MOST_REASONS; i++) places[i] = i;
  move_reasons(&sum->functions, places);
  move_reasons(&sum->tasks, places);
  move_reasons(&sum->regions, places);
}

/* Counts a task. */
static void add_task(summary *sum, task *t) {
  if (t->ended && t->end < sum->c.from) return;
  if (!t->chosen || !filter_task(&sum->selection, t->id)) return;
  if (!t->name && t->id) name_task(sum, t, 0);
  if (t->name) t->name->count++;
  if (task_is_open(t)) {
    histogram_add(&t->name->open, between(t->begin, sum->end), t->begin, t->id);
  } else if (t->begun) {
    t->name->complete++;
    histogram_add(&t->name->whole, between(t->begin, t->end), t->begin, t->id);
  }
  if (sum->each && t->id) sum->each->task(sum->each, sum, t);
}

gotrace_result summary_begin(summary *sum, input *in, const settings *set) {
  sum->in = in;
  sum->jobs = set->jobs ? set->jobs : processor_count();
  filter_open(&sum->selection, set);
  filter_open(&sum->selection_of_events, set);
  sum->part = sum->selection.on || set->from || set->until != INT64_MAX;
  sum->c.begin = sum_begin;
  sum->c.recall = sum_recall;
  sum->c.take = sum->c.before = sum_take;
  sum->c.stretch = sum_stretch;
  sum->c.end = sum_end;
  sum->c.statuses = sum->c.as_go = true;
  sum->c.own[0] = &sum->selection;
  sum->c.own[1] = &sum->selection_of_events;
  sum->c.load = summary_load;
  return source_begin(&sum->s, in, &sum->c, set->from, set->until);
}

gotrace_result summarize(summary *sum, input *in, const settings *set) {
  gotrace_result result;
  gotrace_decoder_info known;
  size_t i;
  sum->c.later = true;
  sum->s.index = set->index;
  result = summary_begin(sum, in, set);
  if (result == GOTRACE_OK && !sum->s.beginning && !sum->part) result = read_generations(sum, in);
  else if (result == GOTRACE_OK) result = source_read(&sum->s, watch_kinds, sum);
  source_end(&sum->s);
  merge_reasons(sum);
  for (i = 0; i < COUNT(sum->kinds); i++) sum->events += sum->kinds[i];
  gotrace_decoder_get_info(in->decoder, &known);
  sum->format = known.format;
  sum->family = known.family;
  for (i = 0; i < sum->task_ids.count; i++) add_task(sum, sum->task_ids.values[i]);
  order_reasons(sum);
  if (result == GOTRACE_END_OF_TRACE) sum->unknown = source_nothing(&sum->s);
  if (!sum->unknown) sum->unknown = filter_unknown(&sum->selection, &sum->s.w);
  return result;
}

void summary_free(summary *sum) {
  uint32_t i;
  free_groups(&sum->functions);
  free_groups(&sum->tasks);
  free_groups(&sum->regions);
  for (i = 0; i <= MOST_REASONS; i++) histogram_free(&sum->reasons[i].waits);
  map_free(&sum->task_ids);
  map_free(&sum->counters);
  collector_free(&sum->gc);
  filter_close(&sum->selection);
  filter_close(&sum->selection_of_events);
  source_free(&sum->s);
}
