/* saved.c - stores a world as bytes, and makes it again from them: see saved.h */

#include "saved.h"

#include <stdlib.h>

uint64_t saved_number(saved *x, uint64_t value) {
  if (x->to) put_number(x->to, value);
  else if (x->bad || !take_number(&x->at, x->end, &value)) x->bad = true, value = 0;
  return value;
}

/* A number below `limit`. */
uint64_t saved_below(saved *x, uint64_t value, uint64_t limit) {
  value = saved_number(x, value);
  if (value < limit) return value;
  x->bad = true;
  return 0;
}

/* How many records follow, each of which takes a byte or more. */
size_t saved_count(saved *x, size_t count) {
  return (size_t)saved_below(x, count, x->to ? UINT64_MAX : (uint64_t)(x->end - x->at) + 1);
}

static uint32_t put_new_text(saved *x, uint32_t id) {
  pool_text text = pool_text_of(id);
  size_t size = saved_count(x, text.size);
  if (x->to) {
    put_data(x->to, text.data, size);
  } else if (!x->bad && size < UINT32_MAX) {
    id = pool_put_text((const char *)x->at, size);
    x->at += size;
  }
  return id;
}

static uint32_t put_new_stack(saved *x, uint32_t id);

/* The text or stack with an id in the pool; 0: none. */
static uint32_t pooled(saved *x, saved_ids *all, uint32_t id, uint32_t (*put_new)(saved *, uint32_t)) {
  size_t at = x->to && id ? map_index(&all->numbers, id) + 1 : 0;
  at = (size_t)saved_below(x, at, (uint64_t)all->count + 2);
  if (!at) return 0;
  if (at <= all->count) return x->to ? id : all->ids[at - 1];
  if (x->to) {
    all->count++;
    return put_new(x, id);
  }
  id = put_new(x, 0);
  GROW(all->ids, all->count, all->capacity);
  return all->ids[all->count++] = id;
}

uint32_t saved_text(saved *x, uint32_t id) { return pooled(x, &x->texts, id, put_new_text); }
uint32_t saved_stack(saved *x, uint32_t id) { return pooled(x, &x->stacks, id, put_new_stack); }

static uint32_t put_new_stack(saved *x, uint32_t id) {
  pool_stack of = pool_stack_of(id);
  uint32_t count = (uint32_t)saved_below(x, of.count, MOST_FRAMES + 1), i;
  pool_frame frames[MOST_FRAMES];
  if (of.count) memcpy(frames, of.frames, count * sizeof *frames);
  for (i = 0; i < count; i++) {
    if (!x->to) memset(&frames[i], 0, sizeof frames[i]);
    SAVED_NUMBER(x, frames[i].pc);
    SAVED_NUMBER(x, frames[i].line);
    SAVED_TEXT(x, frames[i].function);
    SAVED_TEXT(x, frames[i].file);
  }
  return x->to || x->bad ? id : pool_put_stack(frames, count);
}

/* References to records; NULL: 0. One to a goroutine that has ended is not kept. */
goroutine *saved_go(saved *x, goroutine *g) {
  uint64_t at;
  if (x->is_late) {
    at = saved_number(x, g ? g->id + 1 : 0);
    return x->to ? g : at ? world_go(x->w, at - 1) : NULL;
  }
  at = x->to && g && g->status != GO_NONE ? map_index(&x->gos, g->id) + 1 : 0;
  at = saved_below(x, at, (x->to ? x->gos.count : x->w->gos.count) + 1);
  return x->to ? g : at ? x->w->gos.values[at - 1] : NULL;
}

thread *saved_thread(saved *x, thread *m) {
  uint64_t at = saved_below(x, m ? m->number + 1 : 0, x->w->thread_count + 1);
  return x->to ? m : at ? x->w->threads.values[at - 1] : NULL;
}

proc *saved_proc(saved *x, proc *p) {
  uint64_t at = saved_below(x, p ? p->number + 1 : 0, x->w->proc_count + 1);
  return x->to ? p : at ? x->w->procs.values[at - 1] : NULL;
}

static void regions(saved *x, goroutine *g) {
  size_t count = saved_count(x, g->regions ? g->regions->count : 0), i;
  user_region *r;
  if (!x->to && count && !x->bad) g->regions = keep(sizeof *g->regions);
  for (i = 0; i < count && !x->bad; i++) {
    if (!x->to) {
      GROW(g->regions->open, g->regions->count, g->regions->capacity);
      g->regions->open[g->regions->count++] = (user_region){.chosen = true};
    }
    r = &g->regions->open[i];
    SAVED_TEXT(x, r->name);
    SAVED_STACK(x, r->stack);
    SAVED_NUMBER(x, r->task);
    SAVED_NUMBER(x, r->begin);
    SAVED_BELOW(x, r->line, UINT32_MAX);
    r->m = saved_thread(x, r->m);
    r->p = saved_proc(x, r->p);
  }
}

/* What the operations tell of a goroutine without changing what it does. */
static void told_of_go(saved *x, goroutine *g) {
  bool divides = g->divided > g->since; /* otherwise that does not matter any more */
  SAVED_STACK(x, g->stack);
  SAVED_STACK(x, g->cause);
  SAVED_TEXT(x, g->label);
  if (SAVED_FLAG(x, g->is_new)) {
    SAVED_STACK(x, g->made_at);
    SAVED_NUMBER(x, g->maker);
    SAVED_NUMBER(x, g->made);
  }
  if (SAVED_FLAG(x, g->inherits)) SAVED_NUMBER(x, g->inherited);
  if (SAVED_FLAG(x, divides)) SAVED_NUMBER(x, g->divided);
  regions(x, g);
}

static void fields_of_go(saved *x, goroutine *g) {
  SAVED_BELOW(x, g->status, GO_WAITING + 1);
  g->m = saved_thread(x, g->m);
  SAVED_NUMBER(x, g->since);
  SAVED_STACK(x, g->entry);
  SAVED_TEXT(x, g->reason);
  SAVED_BELOW(x, g->stw, UINT8_MAX + 1);
  SAVED_FLAG(x, g->assist);
  if (!x->w->as_go) told_of_go(x, g);
  if (!x->to) x->w->stw += g->stw;
  x->bad |= g->status == GO_NONE || (executes(g->status) && !g->m);
}

static void goroutines(saved *x) {
  world *w = x->w;
  goroutine *g = w->live;
  size_t count = saved_count(x, x->gos.count), i;
  uint64_t id;
  for (i = 0; i < count && !x->bad; i++, g = g->next) {
    id = saved_number(x, x->to ? g->id : 0);
    if (!x->to) {
      if (find_go(w, id)) x->bad = true;
      g = go_record(w, id);
      if (x->bad) return;
      if ((g->previous = w->newest)) g->previous->next = g;
      else w->live = g;
      w->newest = g;
    }
    fields_of_go(x, g);
  }
}

static void threads_and_procs(saved *x) {
  world *w = x->w;
  size_t threads = saved_count(x, w->thread_count), procs = saved_count(x, w->proc_count), i;
  uint64_t id;
  for (i = 0; i < threads && !x->bad; i++) {
    id = saved_number(x, x->to ? ((thread *)w->threads.values[i])->id : 0);
    if (!x->to) world_thread(w, id);
    x->bad |= w->thread_count <= i;
  }
  for (i = 0; i < procs && !x->bad; i++) {
    proc *p;
    id = saved_number(x, x->to ? ((proc *)w->procs.values[i])->id : 0);
    p = world_proc(w, id, true);
    x->bad |= p->number != i;
    SAVED_BELOW(x, p->status, PROC_ABANDONED + 1);
    p->m = saved_thread(x, p->m);
    SAVED_FLAG(x, p->sweep);
  }
  for (i = 0; i < threads && !x->bad; i++) {
    thread *m = w->threads.values[i];
    m->p = saved_proc(x, m->p);
  }
  w->last_running = saved_thread(x, w->last_running);
}

static void what_threads_run(saved *x) {
  size_t i;
  for (i = 0; i < x->w->thread_count && !x->bad; i++) {
    thread *m = x->w->threads.values[i];
    m->g = saved_go(x, m->g);
  }
}

void saved_origin(saved *x, origin *from) {
  if (x->to) from->function = origin_name(x->w, from);
  from->m = saved_thread(x, from->m);
  from->p = saved_proc(x, from->p);
  SAVED_NUMBER(x, from->g);
  SAVED_NUMBER(x, from->task);
  if (SAVED_FLAG(x, from->inside)) SAVED_NUMBER(x, from->within);
  SAVED_TEXT(x, from->function);
}

/* ------------------------------------------------------------------------------------------------------ tasks ---- */

struct saved_late {
  uint64_t number;
  const uint8_t *at;
  size_t size;
};

static int by_number(const void *a, const void *b) {
  const saved_late *x = a, *y = b;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* Finds the late tasks that a world or a summary needs. */
static void find_late(saved *x, const uint8_t *at, const uint8_t *end, unsigned who) {
  size_t capacity = 0;
  while (at < end) {
    uint64_t knows, number, size;
    x->bad |= !take_number(&at, end, &knows) || !take_number(&at, end, &number) || !take_number(&at, end, &size);
    x->bad |= !x->bad && size > (size_t)(end - at);
    if (x->bad) return;
    if (knows == who || (who == LATE_WORLD && knows == LATE_NAMED)) {
      GROW(x->late, x->late_count, capacity);
      x->late[x->late_count++] = (saved_late){number, at, (size_t)size};
    }
    at += size;
  }
  if (x->late_count) qsort(x->late, x->late_count, sizeof *x->late, by_number);
}

static void load_late(saved *x, const saved_late *from, saved_task *task) {
  saved of = {.at = from->at, .end = from->at + from->size, .w = x->w, .context = x->context, .until = x->until};
  of.is_late = true;
  task(&of, 0);
  x->bad |= !saved_end(&of);
}

void saved_put_late(bytes *to, unsigned who, const saved *like, saved_task *task, uint32_t number) {
  bytes made = {0};
  saved of = *like;
  of.to = &made;
  of.is_late = true;
  task(&of, number);
  saved_end(&of);
  put_number(to, who);
  put_number(to, number);
  put_number(to, made.size);
  put_data(to, made.data, made.size);
  free(made.data);
}

void saved_tasks(saved *x, saved_task *task) {
  size_t count = saved_count(x, x->to ? x->tasks->count : 0), i, late = 0;
  uint64_t number = 0;
  for (i = 0; i < count && !x->bad; i++) {
    number += saved_number(x, x->to ? x->tasks->numbers[i] - number : 0);
    while (late < x->late_count && x->late[late].number < number && !x->bad) load_late(x, &x->late[late++], task);
    if (!x->bad) task(x, (uint32_t)number);
  }
  while (late < x->late_count && !x->bad) load_late(x, &x->late[late++], task);
}

bool saved_has(saved *x, const map *all, uint64_t id) {
  bool has = map_get(all, id) != NULL;
  if (has && x->is_late) x->at = x->end;
  else x->bad |= has;
  return has || x->bad;
}

void saved_world_task(saved *x, uint32_t number) {
  map *all = &x->w->tasks;
  uint64_t id = saved_number(x, x->to ? ((user_task *)all->values[number])->id : 0);
  uint64_t reopens = x->is_late ? saved_number(x, x->reopens) : 0;
  bool open = reopens && reopens - 1 <= (uint64_t)x->until;
  user_task *t = x->to ? NULL : map_get(all, id);
  if (t && open) t->open = true;
  if (!x->to && saved_has(x, all, id)) return;
  t = world_task(x->w, id);
  if (x->is_late) t->open = x->to ? t->open : open;
  else SAVED_FLAG(x, t->open);
  SAVED_NUMBER(x, t->parent);
  SAVED_TEXT(x, t->name);
  SAVED_STACK(x, t->stack);
  SAVED_NUMBER(x, t->begin);
  t->home = saved_go(x, t->home);
  saved_origin(x, &t->from);
  t->chosen = true;
}

/* ------------------------------------------------------------------------------------------------------ world ---- */

static void counters(saved *x) {
  world *w = x->w;
  size_t count = saved_count(x, w->counters.count), i;
  for (i = 0; i < count && !x->bad; i++) {
    user_counter *c;
    uint64_t bits = 0;
    bool made;
    uint32_t name = saved_text(x, x->to ? ((user_counter *)w->counters.values[i])->name : 0);
    c = map_keep(&w->counters, name, sizeof *c, &made);
    if (made) c->name = name, c->number = (uint32_t)w->counters.count - 1;
    x->bad |= c->number != i;
    memcpy(&bits, &c->value, sizeof bits);
    SAVED_NUMBER(x, bits);
    memcpy(&c->value, &bits, sizeof bits);
    saved_origin(x, &c->from);
    x->bad |= !(c->value > -1e291 && c->value < 1e291); /* see log_counter() */
  }
}

void saved_world(saved *x) {
  world *w = x->w;
  if (!x->to) w->history = !w->as_go;
  threads_and_procs(x);
  goroutines(x);
  what_threads_run(x);
  if (!w->as_go) saved_tasks(x, saved_world_task), counters(x);
  SAVED_NUMBER(x, w->gomaxprocs);
  SAVED_BELOW(x, w->generation, UINT32_MAX);
  SAVED_FLAG(x, w->gc);
  SAVED_NUMBER(x, w->stw_since);
  SAVED_TEXT(x, w->stw_reason);
  SAVED_NUMBER(x, w->heap);
  SAVED_NUMBER(x, w->heap_goal);
  SAVED_NUMBER(x, w->wall.seconds);
  SAVED_NUMBER(x, w->wall.nanoseconds);
  SAVED_NUMBER(x, w->wall.time);
}

void saved_begin(saved *x, bytes *to, world *w, const saved_list *tasks) {
  goroutine *g;
  *x = (saved){.to = to, .w = w, .tasks = tasks};
  for (g = w->live; g; g = g->next) map_index(&x->gos, g->id);
}

void saved_open(saved *x, world *w, const index_moment *from, unsigned who, int64_t until) {
  *x = (saved){.at = from->saved, .end = from->saved + from->saved_size, .w = w, .until = until};
  find_late(x, from->late, from->late + from->late_size, who);
}

bool saved_end(saved *x) {
  map_free(&x->gos);
  map_free(&x->texts.numbers);
  map_free(&x->stacks.numbers);
  free(x->texts.ids);
  free(x->stacks.ids);
  free(x->late);
  return !x->bad && x->at == x->end;
}

bool world_save(bytes *to, world *w, const saved_list *tasks) {
  saved x;
  saved_begin(&x, to, w, tasks);
  saved_world(&x);
  return saved_end(&x);
}

bool world_load(world *w, const index_moment *from, int64_t until) {
  saved x;
  saved_open(&x, w, from, LATE_WORLD, until);
  saved_world(&x);
  return saved_end(&x);
}
