/* saved.c - stores a world as bytes, and makes it again from them: see world_save() in world.h
 *
 * One list of fields serves both directions: number() and its like write a field, or return what was written. Texts and
 * stacks are written where they are first used, and have numbers afterwards. The bytes may be damaged: what they say is
 * checked before it is used, and `bad` is set. */

#include "world.h"

#include <stdlib.h>

typedef struct numbered { /* texts or stacks, from 1 in the order of their first use */
  map numbers;            /* by id of the pool, while saving */
  uint32_t *ids;          /* while loading */
  size_t count, capacity;
} numbered;

typedef struct state {
  bytes *to;               /* saving; NULL: loading */
  const uint8_t *at, *end; /* loading: what is left */
  bool bad;
  numbered texts, stacks;
  map gos; /* live goroutines are numbered in their order; loading: w->gos has no others */
  world *w;
} state;

static uint64_t number(state *x, uint64_t value) {
  if (x->to) put_number(x->to, value);
  else if (x->bad || !take_number(&x->at, x->end, &value)) x->bad = true, value = 0;
  return value;
}
#define NUMBER(x, field) ((field) = (__typeof__(field))number(x, (uint64_t)(field)))

/* A number below `limit`. */
static uint64_t below(state *x, uint64_t value, uint64_t limit) {
  value = number(x, value);
  if (value < limit) return value;
  x->bad = true;
  return 0;
}
#define BELOW(x, field, limit) ((field) = (__typeof__(field))below(x, (uint64_t)(field), limit))
#define FLAG(x, field) ((field) = below(x, field, 2) != 0)

/* How many records follow, each of which takes a byte or more. */
static size_t count_of(state *x, size_t count) {
  return (size_t)below(x, count, x->to ? UINT64_MAX : (uint64_t)(x->end - x->at) + 1);
}

static uint32_t put_new_text(state *x, uint32_t id) {
  pool_text text = pool_text_of(id);
  size_t size = count_of(x, text.size);
  if (x->to) {
    put_data(x->to, text.data, size);
  } else if (!x->bad && size < UINT32_MAX) {
    id = pool_put_text((const char *)x->at, size);
    x->at += size;
  }
  return id;
}

static uint32_t put_new_stack(state *x, uint32_t id);

/* The text or stack with an id in the pool; 0: none. */
static uint32_t pooled(state *x, numbered *all, uint32_t id, uint32_t (*put_new)(state *, uint32_t)) {
  size_t at = x->to && id ? map_index(&all->numbers, id) + 1 : 0;
  at = (size_t)below(x, at, (uint64_t)all->count + 2);
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

static uint32_t text(state *x, uint32_t id) { return pooled(x, &x->texts, id, put_new_text); }
static uint32_t stack(state *x, uint32_t id) { return pooled(x, &x->stacks, id, put_new_stack); }
#define TEXT(x, field) ((field) = text(x, field))
#define STACK(x, field) ((field) = stack(x, field))

static uint32_t put_new_stack(state *x, uint32_t id) {
  pool_stack of = pool_stack_of(id);
  uint32_t count = (uint32_t)below(x, of.count, MOST_FRAMES + 1), i;
  pool_frame frames[MOST_FRAMES];
  if (of.count) memcpy(frames, of.frames, count * sizeof *frames);
  for (i = 0; i < count; i++) {
    if (!x->to) memset(&frames[i], 0, sizeof frames[i]);
    NUMBER(x, frames[i].pc);
    NUMBER(x, frames[i].line);
    TEXT(x, frames[i].function);
    TEXT(x, frames[i].file);
  }
  return x->to || x->bad ? id : pool_put_stack(frames, count);
}

/* References to records; NULL: 0. One to a goroutine that has ended is not kept. */
static goroutine *go_of(state *x, goroutine *g) {
  uint64_t at = x->to && g && g->status != GO_NONE ? map_index(&x->gos, g->id) + 1 : 0;
  at = below(x, at, (x->to ? x->gos.count : x->w->gos.count) + 1);
  return x->to ? g : at ? x->w->gos.values[at - 1] : NULL;
}

static thread *thread_of(state *x, thread *m) {
  uint64_t at = below(x, m ? m->number + 1 : 0, x->w->thread_count + 1);
  return x->to ? m : at ? x->w->threads.values[at - 1] : NULL;
}

static proc *proc_of(state *x, proc *p) {
  uint64_t at = below(x, p ? p->number + 1 : 0, x->w->proc_count + 1);
  return x->to ? p : at ? x->w->procs.values[at - 1] : NULL;
}

static void regions(state *x, goroutine *g) {
  size_t count = count_of(x, g->regions ? g->regions->count : 0), i;
  user_region *r;
  if (!x->to && count && !x->bad) g->regions = keep(sizeof *g->regions);
  for (i = 0; i < count && !x->bad; i++) {
    if (!x->to) {
      GROW(g->regions->open, g->regions->count, g->regions->capacity);
      g->regions->open[g->regions->count++] = (user_region){.chosen = true};
    }
    r = &g->regions->open[i];
    TEXT(x, r->name);
    STACK(x, r->stack);
    NUMBER(x, r->task);
    NUMBER(x, r->begin);
    BELOW(x, r->line, UINT32_MAX);
  }
}

static void fields_of_go(state *x, goroutine *g) {
  BELOW(x, g->status, GO_WAITING + 1);
  g->m = thread_of(x, g->m);
  NUMBER(x, g->since);
  STACK(x, g->entry);
  STACK(x, g->stack);
  STACK(x, g->cause);
  TEXT(x, g->reason);
  TEXT(x, g->label);
  BELOW(x, g->stw, UINT8_MAX + 1);
  FLAG(x, g->assist);
  regions(x, g);
  if (!x->to) x->w->stw += g->stw;
  x->bad |= g->status == GO_NONE || (executes(g->status) && !g->m);
}

static void goroutines(state *x) {
  world *w = x->w;
  goroutine *g = w->live;
  size_t count = count_of(x, x->gos.count), i;
  uint64_t id;
  for (i = 0; i < count && !x->bad; i++, g = g->next) {
    id = number(x, x->to ? g->id : 0);
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

static void threads_and_procs(state *x) {
  world *w = x->w;
  size_t threads = count_of(x, w->thread_count), procs = count_of(x, w->proc_count), i;
  uint64_t id;
  for (i = 0; i < threads && !x->bad; i++) {
    id = number(x, x->to ? ((thread *)w->threads.values[i])->id : 0);
    if (!x->to) world_thread(w, id);
    x->bad |= w->thread_count <= i;
  }
  for (i = 0; i < procs && !x->bad; i++) {
    proc *p;
    id = number(x, x->to ? ((proc *)w->procs.values[i])->id : 0);
    p = world_proc(w, id, true);
    x->bad |= p->number != i;
    BELOW(x, p->status, PROC_ABANDONED + 1);
    p->m = thread_of(x, p->m);
    FLAG(x, p->sweep);
  }
  for (i = 0; i < threads && !x->bad; i++) {
    thread *m = w->threads.values[i];
    m->p = proc_of(x, m->p);
  }
  w->last_running = thread_of(x, w->last_running);
}

static void what_threads_run(state *x) {
  size_t i;
  for (i = 0; i < x->w->thread_count && !x->bad; i++) {
    thread *m = x->w->threads.values[i];
    m->g = go_of(x, m->g);
  }
}

static void tasks(state *x) {
  world *w = x->w;
  size_t count = count_of(x, w->tasks.count), i;
  for (i = 0; i < count && !x->bad; i++) {
    user_task *t = world_task(w, number(x, x->to ? ((user_task *)w->tasks.values[i])->id : 0));
    x->bad |= t->number != i;
    FLAG(x, t->open);
    NUMBER(x, t->parent);
    TEXT(x, t->name);
    STACK(x, t->stack);
    NUMBER(x, t->begin);
    t->home = go_of(x, t->home);
    t->chosen = true;
  }
}

static void counters(state *x) {
  world *w = x->w;
  size_t count = count_of(x, w->counters.count), i;
  for (i = 0; i < count && !x->bad; i++) {
    user_counter *c;
    uint64_t bits = 0;
    bool made;
    uint32_t name = text(x, x->to ? ((user_counter *)w->counters.values[i])->name : 0);
    c = map_keep(&w->counters, name, sizeof *c, &made);
    if (made) c->name = name, c->number = (uint32_t)w->counters.count - 1;
    x->bad |= c->number != i;
    memcpy(&bits, &c->value, sizeof bits);
    NUMBER(x, bits);
    memcpy(&c->value, &bits, sizeof bits);
    x->bad |= !(c->value > -1e291 && c->value < 1e291); /* see log_counter() */
  }
}

static void fields(state *x) {
  world *w = x->w;
  threads_and_procs(x);
  goroutines(x);
  what_threads_run(x);
  tasks(x);
  counters(x);
  NUMBER(x, w->gomaxprocs);
  BELOW(x, w->generation, UINT32_MAX);
  FLAG(x, w->gc);
  NUMBER(x, w->stw_since);
  TEXT(x, w->stw_reason);
  NUMBER(x, w->heap);
  NUMBER(x, w->heap_goal);
  NUMBER(x, w->wall.seconds);
  NUMBER(x, w->wall.nanoseconds);
  NUMBER(x, w->wall.time);
}

bool world_save(bytes *to, world *w) {
  state x = {.to = to, .w = w};
  goroutine *g;
  for (g = w->live; g; g = g->next) map_index(&x.gos, g->id);
  fields(&x);
  map_free(&x.gos);
  map_free(&x.texts.numbers);
  map_free(&x.stacks.numbers);
  return !x.bad;
}

bool world_load(world *w, const uint8_t *data, size_t size) {
  state x = {.at = data, .end = data + size, .w = w};
  fields(&x);
  free(x.texts.ids);
  free(x.stacks.ids);
  return !x.bad && x.at == x.end;
}
