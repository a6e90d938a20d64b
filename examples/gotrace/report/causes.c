/* causes.c - why goroutines waited, and through whom: see causes.h */

#include "causes.h"

#include "../record/board.h"

#include <stdlib.h>

typedef struct life { /* of a goroutine */
  int64_t made;
  uint32_t made_in; /* text */
  bool is_new;      /* made in this part */
} life;

/* What the goroutine that began a task did since. */
typedef struct tally {
  int64_t last; /* accounted until */
  activity did;
  int64_t longest; /* wait */
  wait_class is;
  uint32_t place, holder;
} tally;

typedef struct open_task {
  uint64_t id;
  uint32_t name;
  int64_t begin;
  goroutine *g; /* that began it */
  tally *home;  /* NULL: that goroutine has begun too many other tasks since */
  struct open_task *next;
} open_task;

typedef struct ended_wait { /* the last one of a goroutine, until it is told which other process ended it */
  wait_class is;
  uint32_t place;
  int64_t begin, end; /* end 0: there is none that counts */
} ended_wait;

/* CPython waits for its global lock 5 ms at a time. Such waits in a row are one: who ended the last one had the lock,
 * or handed it on, since the first one began. */
typedef struct gil_wait {
  int64_t begin; /* of the first wait that nobody ended */
  bool goes_on;
} gil_wait;

#define MOST_OPEN 16 /* tasks of a goroutine that have a tally */

/* ------------------------------------------------------------------------------------------------------- sums ---- */

/* The record of a kind, by up to three numbers. *made: it is new, and gets its names. Beyond MOST_CAUSES, there is one
 * without names for all others. */
static void *sum_of(map *all, uint32_t a, uint32_t b, uint32_t c, size_t size, bool *made) {
  uint32_t key[3] = {a, b, c};
  uint64_t hash = hash_of(key, sizeof key);
  if (all->count < MOST_CAUSES || map_get(all, hash)) return map_keep(all, hash, size, made);
  *made = false;
  return map_keep(all, 0, size, NULL);
}

uint64_t ended_of(const causes *c, uint32_t name) {
  uint32_t key[3] = {name, 0, 0};
  const kind_of_go *kind = map_get(&c->gos, hash_of(key, sizeof key));
  return kind ? kind->ended : 0;
}

static void add_wait(causes *c, wait_class is, uint32_t place, int64_t time, const stretch *part) {
  bool made;
  wait_sum *to = sum_of(&c->wait_sums, is, place, 0, sizeof *to, &made);
  if (made) to->is = is, to->place = place;
  histogram_add(&to->waits, time, part->begin, part->g->id);
  if (!part->by) to->waits.unended++;
}

static void add_call(causes *c, const stretch *part) {
  pool_stack s = pool_stack_of(part->stack);
  uint32_t name = name_of(part->g), function;
  call_sum *to;
  bool made;
  function = !c->waits.recorded ? own_function(&c->waits, part->stack) : s.count ? s.frames[0].function : 0;
  to = sum_of(&c->call_sums, name, function, 0, sizeof *to, &made);
  if (made) to->name = name, to->function = function;
  to->total += (uint64_t)between(part->begin, part->end);
}

static holder_sum *add_part(causes *c, wait_class is, uint32_t place, const part_of_wait *part, uint64_t waiter) {
  bool made, longest;
  uint32_t own = is == WAIT_GIL_CLASS ? name_of(part->holder)
                                      : place_of(&c->waits, part->taken ? part->taken : part->released, part->holder);
  holder_sum *to = sum_of(&c->holder_sums, is, place, own, sizeof *to, &made);
  int64_t time = between(part->begin, part->end);
  if (made) to->is = is, to->place = place, to->holder = own, to->id = part->holder->id;
  to->several |= to->id != part->holder->id;
  longest = !to->parts.count || time > to->parts.longest;
  histogram_add(&to->parts, time, part->begin, waiter);
  if (longest) {
    to->id = part->holder->id;
    to->taken = part->taken;
    to->released = part->released;
  }
  add_activity(&c->holders, part->holder, part->begin, part->end, &to->did);
  return to;
}

/* The name of a process without its number. */
static pool_text program_of(uint32_t process) {
  static const char number[] = " (pid ";
  pool_text text = pool_text_of(process);
  uint32_t i = text.size;
  while (i > 0 && (text.size - i < sizeof number - 1 || memcmp(text.data + i, number, sizeof number - 1) != 0)) i--;
  if (i) text.size = i;
  return text;
}

/* Another process ended the last wait of a goroutine. Several processes of a program are one holder. */
static void add_process(causes *c, const goroutine *g, uint32_t process) {
  ended_wait *of = SIDE(ended_wait, &c->ended_waits, g->number);
  pool_text name = program_of(process);
  uint32_t key = pool_put_text(name.data, name.size);
  holder_sum *to;
  bool made;
  int64_t time = between(of->begin, of->end);
  if (!of->end) return;
  of->end = 0;
  to = sum_of(&c->holder_sums, (uint32_t)of->is + WAIT_CLASS_COUNT, of->place, key, sizeof *to, &made);
  if (made) to->is = of->is, to->place = of->place, to->holder = to->process = process;
  if (to->process && to->process != process && !to->several) {
    char text[NAME_ROOM];
    to->several = true;
    snprintf(text, sizeof text, "%.*s (several processes)", (int)prefix_size(name.data, name.size, NAME_ROOM / 2),
             name.data);
    to->holder = pool_put_string(text);
  }
  if (to->process && time > to->parts.longest) to->process = process; /* otherwise it is the sum of many others */
  histogram_add(&to->parts, time, of->begin, g->id);
}

/* --------------------------------------------------------------------------------------------------- stretches ---- */

/* Of a goroutine whose stack is unknown, its name tells whether it is one of the runtime's. */
static wait_class class_of(causes *c, uint32_t stack, uint32_t reason, const goroutine *g) {
  return !stack && name_of(g) && is_runtimes(name_of(g)) ? WAIT_RUNTIME_CLASS : wait_class_of(&c->waits, stack, reason);
}

#define WAKES_IN 10000000 /* shorter times are how long it may take a thread to get a processor on a busy machine */

/* Adds a time to the union of such times. They come in the order of their ends. */
static void add_idle(causes *c, int64_t begin, int64_t end) {
  struct span_of_time *last;
  while (c->idle_count && (last = &c->idle_spans[c->idle_count - 1])->end >= begin) {
    if (last->begin < begin) begin = last->begin;
    c->idle_time -= between(last->begin, last->end);
    c->idle_count--;
  }
  GROW(c->idle_spans, c->idle_count, c->idle_capacity);
  c->idle_spans[c->idle_count++] = (struct span_of_time){begin, end};
  c->idle_time = plus(c->idle_time, between(begin, end));
}

/* A goroutine was ready to run until now, or is from now on. */
static void take_ready(causes *c, const stretch *part) {
  int64_t *since = SIDE(int64_t, &c->idle_at, part->g->number), lost = between(*since, c->idle_sum),
          passed = between(part->begin, part->end);
  if (part->next == GO_RUNNABLE) *since = c->idle_sum;
  if (part->status != GO_RUNNABLE || lost < WAKES_IN) return;
  if (lost > passed) lost = passed;
  add_idle(c, part->end - lost, part->end);
  if (lost > c->idle_longest) c->idle_longest = lost;
}

/* The whole of a wait for CPython's global lock, once somebody has ended it. False: it goes on. */
static bool take_gil_wait(causes *c, stretch *whole, goroutine *by) {
  gil_wait *of = SIDE(gil_wait, &c->gil_waits, whole->g->number);
  if (of->goes_on) whole->begin = of->begin;
  *of = (gil_wait){whole->begin, !by && whole->by};
  if (by) SIDE(gil_wait, &c->gil_waits, by->number)->goes_on = false; /* it has had the lock */
  return !of->goes_on;
}

/* What a wait adds, and to the tasks of its goroutine. */
static void take_wait(causes *c, const stretch *part, goroutine *by) {
  part_of_wait parts[MOST_PARTS];
  wait_class is = class_of(c, part->stack, part->reason, part->g);
  uint32_t place = place_of(&c->waits, part->stack, part->g), holder = 0;
  int64_t time = between(part->begin, part->end), longest = 0;
  stretch whole = *part;
  unsigned i, count = 0;
  open_task *t;
  if (is != WAIT_GIL_CLASS) SIDE(gil_wait, &c->gil_waits, part->g->number)->goes_on = false;
  if (wait_is(is, WAIT_LOCK | WAIT_HANDED) && (is != WAIT_GIL_CLASS || take_gil_wait(c, &whole, by)))
    count = wait_parts(&c->holders, &whole, by, parts);
  if (part->chosen) add_wait(c, is, place, time, part);
  if (c->c.recorded && part->by && is_seen_wait(part->status, part->reason))
    *SIDE(ended_wait, &c->ended_waits, part->g->number) =
        (ended_wait){is, place, part->begin, part->chosen ? part->end : 0};
  for (i = 0; i < count; i++) {
    holder_sum *to;
    if (!parts[i].holder || !part->chosen) continue;
    to = add_part(c, is, place, &parts[i], part->g->id);
    if (between(parts[i].begin, parts[i].end) > longest)
      longest = between(parts[i].begin, parts[i].end), holder = to->holder;
  }
  for (t = *SIDE(open_task *, &c->open, part->g->number); t; t = t->next)
    if (time > t->home->longest)
      t->home->longest = time, t->home->is = is, t->home->place = place, t->home->holder = holder;
}

static void add_to_task(causes *c, tally *t, unsigned does, int64_t begin, int64_t end) {
  int64_t since = begin > t->last ? begin : t->last, stopped = 0;
  if (end <= since) return;
  if (does == DOES_RUN || does == DOES_READY) stopped = stopped_between(&c->holders.stopped, c->c.w, since, end);
  t->did.time[does] = plus(t->did.time[does], between(stopped, between(since, end)));
  t->did.time[DOES_STOP] = plus(t->did.time[DOES_STOP], stopped);
  t->last = end;
}

/* A goroutine has ended, or the trace. */
static void add_samples(causes *c, const goroutine *g) {
  uint64_t *samples = SIDE(uint64_t, &c->samples, g->number), *sum;
  if (!*samples) return;
  sum = map_keep(&c->sampled, (uint64_t)name_of(g) + 1, sizeof *sum, NULL);
  *sum += *samples;
  *samples = 0;
}

static void take_stretch(consumer *to, const stretch *part) {
  causes *c = (causes *)to;
  goroutine *by = waker_of(part);
  unsigned does = does_in(&c->waits, part->status, part->stack, part->reason);
  open_task *t;
  if (part->status == GO_WAITING && part->end > part->begin) take_wait(c, part, by);
  if (part->status == GO_SYSCALL) {
    SIDE(gil_wait, &c->gil_waits, part->g->number)->goes_on = false;
    if (part->chosen) add_call(c, part);
  }
  if (part->status == GO_RUNNING && part->chosen) {
    int64_t stopped = stopped_between(&c->holders.stopped, to->w, part->begin, part->end);
    if (stopped > 0) {
      int64_t *sum = map_keep(&c->stopped, (uint64_t)name_of(part->g) + 1, sizeof *sum, NULL);
      *sum = plus(*sum, stopped);
    }
  }
  for (t = *SIDE(open_task *, &c->open, part->g->number); t; t = t->next)
    add_to_task(c, t->home, does, part->begin, part->end);
  holders_add(&c->holders, part, by);
  take_ready(c, part);
  if (part->next == GO_NONE && part->by) {
    bool made;
    kind_of_go *kind = sum_of(&c->gos, name_of(part->g), 0, 0, sizeof *kind, &made);
    if (made) kind->name = name_of(part->g);
    kind->ended++;
    add_samples(c, part->g);
  }
}

/* --------------------------------------------------------------------------------------------------- operations ----
 */

typedef struct proc_use {
  uint64_t go;     /* 1 + the id of the first goroutine that ran there */
  bool shared;     /* by several: it belongs to a scheduler, and not to a plain thread */
  bool runs, idle; /* counted as such */
} proc_use;

/* A goroutine starts to run. */
static void note_use(causes *c, const op *o) {
  proc_use *use;
  if (!o->m || !o->m->p) return;
  use = SIDE(proc_use, &c->procs, o->m->p->number);
  if (!use->go) use->go = o->id + 1;
  use->shared |= use->go != o->id + 1;
}

/* Counts a proc as it is now. */
static void count_proc(causes *c, const proc *p) {
  proc_use *use;
  bool runs, idle;
  if (!p || p->id >= FRESH_PROC) return;
  use = SIDE(proc_use, &c->procs, p->number);
  runs = p->status == PROC_RUNNING || p->status == PROC_SYSCALL;
  idle = p->status == PROC_IDLE && use->shared;
  c->busy_procs += runs - use->runs;
  c->idle_procs += idle - use->idle;
  use->runs = runs;
  use->idle = idle;
}

/* Adds up how long procs have been idle, until now. In a Go program, all procs are its scheduler's. */
static void take_idle(causes *c, int64_t time) {
  const world *w = c->c.w;
  const int64_t procs = w->gomaxprocs < 4096 ? (int64_t)w->gomaxprocs : 0;
  size_t i;
  if (c->idle > 0 && !w->stw) c->idle_sum = plus(c->idle_sum, between(c->idle_last, time));
  c->idle_last = time;
  for (i = 0; i < COUNT(c->changed); i++) count_proc(c, c->changed[i]);
  if (c->changed_on) count_proc(c, c->changed_on->p);
  c->idle = c->is_go ? procs - c->busy_procs : c->idle_procs;
}

/* An operation may change these procs, as is seen at the next one. */
static void note_procs(causes *c, const op *o) {
  c->changed_on = o->m;
  c->changed[0] = o->m ? o->m->p : NULL;
  c->changed[1] = names_proc(o->kind) ? world_proc(c->c.w, o->id, false) : NULL;
}

/* A task has no tally any more. */
static void unlist(causes *c, open_task *t) {
  open_task **at = SIDE(open_task *, &c->open, t->g->number);
  if (!t->home) return;
  while (*at != t) at = &(*at)->next;
  *at = t->next;
  free(t->home);
  t->home = NULL;
}

static void take_task_begin(causes *c, goroutine *g, const op *o) {
  open_task **first, *t = map_get(&c->tasks, o->id), *oldest;
  unsigned count = 0;
  if (!g) return;
  if (t) unlist(c, t);
  else t = zeroed(sizeof *t);
  first = SIDE(open_task *, &c->open, g->number);
  for (oldest = *first; oldest && oldest->next; oldest = oldest->next) count++;
  if (count + 1 >= MOST_OPEN) unlist(c, oldest);
  *t = (open_task){.id = o->id, .name = o->name, .begin = o->time, .g = g, .next = *first};
  t->home = zeroed(sizeof *t->home);
  t->home->last = o->time;
  *first = t;
  map_put(&c->tasks, o->id, t);
}

static void take_task_end(causes *c, const op *o) {
  open_task *t = map_get(&c->tasks, o->id);
  kind_of_task *kind;
  bool made;
  int64_t time;
  if (!t || o->ends_again) return;
  if (t->home && t->g->status != GO_NONE && t->g->since < o->time)
    add_to_task(c, t->home, does_in(&c->waits, t->g->status, t->g->stack, t->g->reason), t->g->since, o->time);
  kind = sum_of(&c->task_kinds, t->name, 0, 0, sizeof *kind, &made);
  if (made) kind->name = t->name;
  time = between(t->begin, o->time);
  if (!kind->whole.count || time > kind->whole.longest) {
    const tally none = {0}, *home = t->home ? t->home : &none;
    kind->id = t->id;
    kind->did = home->did;
    kind->is = home->is;
    kind->place = home->place;
    kind->holder = home->holder;
  }
  histogram_add(&kind->whole, time, t->begin, t->id);
  unlist(c, t);
  map_put(&c->tasks, o->id, NULL);
  free(t);
}

/* In a Go program each proc may run each goroutine; in others there may be plain threads with a proc of their own. */
static void note_go(causes *c, uint32_t name) {
  pool_text text = pool_text_of(name);
  c->is_go |= text.size > 8 && memcmp(text.data, "runtime.", 8) == 0;
}

static void take_made(causes *c, const op *o, bool is_new) {
  goroutine *g = go_record(c->c.w, o->id);
  note_go(c, pool_function(o->new_stack));
  life *l = SIDE(life, &c->lives, g->number);
  *l = (life){o->time, is_new ? own_function(&c->waits, o->stack) : 0, is_new};
  *SIDE(int64_t, &c->idle_at, g->number) = c->idle_sum;
}

static void take_crash(causes *c, const goroutine *g, const op *o) {
  c->crash.g = g;
  c->crash.signal = o->value;
  c->crash.stack = o->stack;
  note_interrupted(&c->waits, o->stack);
}

static void take_op(consumer *to, const op *o) {
  causes *c = (causes *)to;
  goroutine *g = o->m ? o->m->g : NULL, *of;
  take_idle(c, o->time);
  note_procs(c, o);
  if (appears(o->kind) && names_go(o->kind)) {
    take_made(c, o, creates(o->kind));
    return;
  }
  switch (o->kind) {
  case GOTRACE_V2_GO_START: note_use(c, o); break;
  case GOTRACE_V2_CPU_SAMPLE:
    of = o->a[2] && to->w->chosen ? world_go(to->w, o->a[2]) : NULL;
    if (of) ++*SIDE(uint64_t, &c->samples, of->number);
    if (to->w->chosen) hot_take(&c->hot, o->stack);
    note_interrupted(&c->waits, o->stack);
    break;
  case GOTRACE_V2_STW_BEGIN:
    if (g && !g->stw) *SIDE(uint32_t, &c->stop_stacks, g->number) = o->stack;
    break;
  case GOTRACE_V2_STW_END:
    if (g && to->w->stw == 1 && g->stw == 1) {
      bool made;
      uint32_t stack = *SIDE(uint32_t, &c->stop_stacks, g->number), place = place_of(&c->waits, stack, g);
      stop_sum *sum = sum_of(&c->stops, to->w->stw_reason, place, 0, sizeof *sum, &made);
      int64_t begin = to->w->stw_since > to->from ? to->w->stw_since : to->from;
      if (made) sum->reason = to->w->stw_reason, sum->place = place;
      if (between(begin, o->time) >= sum->pauses.longest) sum->stack = stack;
      histogram_add(&sum->pauses, between(begin, o->time), begin, g->id);
    }
    stops_take(&c->holders.stopped, to->w, o);
    break;
  case GOTRACE_V2_USER_TASK_BEGIN: take_task_begin(c, g, o); break;
  case GOTRACE_V2_USER_TASK_END: take_task_end(c, o); break;
  case GOTRACE_V2_USER_LOG:
    take_told_holder(&c->holders.told, to->w, o);
    if (told_process(o)) add_process(c, g, told_process(o));
    if (!c->crash.g && pool_text_is(o->name, RECORD_CRASH)) take_crash(c, g, o);
    break;
  default: break;
  }
}

static void begin_causes(consumer *to, int64_t time) {
  causes *c = (causes *)to;
  const goroutine *g;
  const proc *p;
  c->begin = c->idle_last = time;
  for (g = to->w->live; g; g = g->next) note_go(c, name_of(g));
  c->waits.recorded = to->recorded;
  for (p = to->w->proc_list; p; p = p->next) count_proc(c, p);
}

/* A goroutine that waits at the end, has done so for a tenth of the time and was made in this part. */
static void add_stuck(causes *c, const goroutine *g, int64_t end) {
  const life *l = SIDE(life, &c->lives, g->number);
  stuck_sum *sum;
  wait_class is;
  uint32_t place;
  bool made;
  int64_t whole = between(c->begin, end);
  if (g->status != GO_WAITING || !l->is_new || between(g->since, end) < whole / 10 || !whole) return;
  is = class_of(c, g->stack, g->reason, g);
  if (wait_is(is, WAIT_RUNTIMES)) return;
  place = place_of(&c->waits, g->stack, g);
  sum = sum_of(&c->stuck, name_of(g), place, is, sizeof *sum, &made);
  if (made) sum->name = name_of(g), sum->place = place, sum->is = is;
  sum->made_in = l->made_in;
  sum->stack = g->stack;
  sum->id = g->id;
  sum->count++;
  sum->quarters[(int64_t)((double)between(c->begin, l->made) / ((double)whole + 1) * 4)]++;
}

static void end_causes(consumer *to, int64_t time) {
  causes *c = (causes *)to;
  goroutine *g;
  c->end = time;
  take_idle(c, time);
  for (g = to->w->live; g; g = g->next) add_stuck(c, g, time), add_samples(c, g);
  hot_end(&c->hot);
}

/* ------------------------------------------------------------------------------------------------------ result ---- */

void find_causes(causes *c, input *in, const settings *set, const summary *sum) {
  int64_t from = moment_resolve(set->from, in), until = set->until;
  c->whole = sum->duration;
  c->holders.waits = &c->waits;
  c->holders.w = &c->s.w;
  c->c.begin = begin_causes;
  c->c.take = take_op;
  c->c.stretch = take_stretch;
  c->c.end = end_causes;
  c->c.statuses = c->c.all = c->c.later = true;
  c->s.index = set->index;
  filter_open(&c->selection, set);
  if (c->selection.on) c->c.filter = &c->selection;
  c->c.again = true;
  if (sum->events > MOST_CAUSE_EVENTS)
    until = between(sum->s.first, sum->c.from) +
            (int64_t)((double)sum->duration * ((double)MOST_CAUSE_EVENTS / (double)sum->events));
  source_run(&c->s, in, &c->c, from, until, NULL, NULL);
  erase_progress();
}

static int by_wait(const void *a, const void *b) {
  const wait_sum *x = *(wait_sum *const *)a, *y = *(wait_sum *const *)b;
  if (x->waits.total != y->waits.total) return x->waits.total < y->waits.total ? 1 : -1;
  return x->is != y->is ? (int)x->is - (int)y->is : text_order(x->place, y->place);
}

static int by_parts(const void *a, const void *b) {
  const holder_sum *x = *(holder_sum *const *)a, *y = *(holder_sum *const *)b;
  int order;
  if (x->parts.total != y->parts.total) return x->parts.total < y->parts.total ? 1 : -1;
  if (x->is != y->is) return (int)x->is - (int)y->is;
  order = text_order(x->place, y->place);
  return order ? order : text_order(x->holder, y->holder);
}

static void *sorted(const map *all, int (*compare)(const void *, const void *)) {
  void **copy = resize(NULL, (all->count + 1) * sizeof *copy);
  if (all->count) memcpy(copy, all->values, all->count * sizeof *copy);
  qsort(copy, all->count, sizeof *copy, compare);
  copy[all->count] = NULL;
  return copy;
}

wait_sum **sorted_waits(const causes *c) { return sorted(&c->wait_sums, by_wait); }
holder_sum **sorted_holders(const causes *c) { return sorted(&c->holder_sums, by_parts); }

static int by_stopped(const void *a, const void *b) {
  const stop_sum *x = *(stop_sum *const *)a, *y = *(stop_sum *const *)b;
  int order;
  if (x->pauses.total != y->pauses.total) return x->pauses.total < y->pauses.total ? 1 : -1;
  order = text_order(x->place, y->place);
  return order ? order : text_order(x->reason, y->reason);
}

stop_sum **sorted_stops(const causes *c) { return sorted(&c->stops, by_stopped); }

int64_t stopped_time(const causes *c, uint32_t name) {
  const int64_t *sum = map_get(&c->stopped, (uint64_t)name + 1);
  return sum ? *sum : 0;
}

uint64_t samples_of(const causes *c, uint32_t name) {
  const uint64_t *sum = map_get(&c->sampled, (uint64_t)name + 1);
  return sum ? *sum : 0;
}

uint32_t most_called(const causes *c, uint32_t name, int64_t total) {
  size_t i;
  for (i = 0; i < c->call_sums.count; i++) {
    const call_sum *s = c->call_sums.values[i];
    if (s->name == name && s->function && s->total > (uint64_t)total / 2) return s->function;
  }
  return 0;
}

const char *did_text(causes *c, const activity *did, char text[DID_TEXT]) {
  int64_t time, whole = whole_of(did);
  unsigned most = most_of(did, &time);
  const char *what = does_text(most, &c->c);
  double share = whole ? 100 * (double)time / (double)whole : 0;
  pool_text place = pool_text_of(most < DOES_RUN ? own_function(&c->waits, did->stack[most]) : 0);
  *text = 0;
  if (!whole) return text;
  if (most >= DOES_RUN) snprintf(text, DID_TEXT, "%s %.0f %%", what, share);
  else
    snprintf(text, DID_TEXT, "waiting %.0f %%: %s%s%.*s", share, what, place.size ? " in " : "",
             (int)prefix_size(place.data, place.size, NAME_ROOM), place.data);
  return text;
}

static void free_sums(map *all, size_t offset) {
  size_t i;
  for (i = 0; i < all->count; i++) histogram_free((void *)((char *)all->values[i] + offset));
  map_free(all);
}

void causes_free(causes *c) {
  size_t i;
  for (i = 0; i < c->tasks.count; i++) {
    open_task *t = c->tasks.values[i];
    if (t) free(t->home);
    free(t);
  }
  free(c->idle_spans);
  holders_free(&c->holders);
  free_sums(&c->wait_sums, offsetof(wait_sum, waits));
  free_sums(&c->holder_sums, offsetof(holder_sum, parts));
  free_sums(&c->stops, offsetof(stop_sum, pauses));
  free_sums(&c->task_kinds, offsetof(kind_of_task, whole));
  map_free(&c->call_sums);
  map_free(&c->gos);
  map_free(&c->stuck);
  map_free(&c->tasks);
  map_free(&c->stopped);
  map_free(&c->sampled);
  hot_free(&c->hot);
  filter_close(&c->selection);
  source_free(&c->s);
}
