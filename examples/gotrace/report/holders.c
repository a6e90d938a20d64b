/* holders.c - who had what a goroutine waited for: see holders.h */

#include "holders.h"

#include "../record/board.h"
#include "groups.h"

#include <stdlib.h>

#define REMEMBERED 32 /* stretches of a goroutine, a power of two */
#define GOT 8         /* of these, waits by which it got a lock or a permit are remembered longer */

typedef struct spell { /* a stretch */
  int64_t begin, end;
  goroutine *by;
  uint32_t stack, woke; /* where it waited; where it was woken */
  uint8_t does;
} spell;

typedef struct history {
  goroutine *g;
  spell *all; /* a ring */
  spell got[GOT];
  uint32_t count, room, got_count;
  bool ended; /* the goroutine has; its id may be used again */
} history;

/* --------------------------------------------------------------------------------------------------- activity ---- */

const char *does_text(unsigned what, const consumer *c) {
  switch (what) {
  case DOES_RUN: return running_text(c && waits_unseen(c));
  case DOES_STOP: return "stopped world";
  case DOES_READY: return c && c->recorded ? "runnable" : "waiting for a proc";
  case DOES_CALL: return "in system calls";
  default: return wait_classes[what].text;
  }
}

static void note_longest(activity *a, unsigned does, int64_t time, uint32_t stack) {
  if (time > a->longest[does]) a->longest[does] = time, a->stack[does] = stack;
}

void activity_merge(activity *to, const activity *from) {
  unsigned i;
  for (i = 0; i < DOES_COUNT; i++) {
    to->time[i] = plus(to->time[i], from->time[i]);
    note_longest(to, i, from->longest[i], from->stack[i]);
  }
}

int64_t whole_of(const activity *a) {
  int64_t all = 0;
  unsigned i;
  for (i = 0; i < DOES_COUNT; i++) all = plus(all, a->time[i]);
  return all;
}

unsigned most_of(const activity *a, int64_t *time) {
  unsigned i, most = DOES_RUN;
  for (i = 0; i < DOES_COUNT; i++)
    if (a->time[i] > a->time[most]) most = i;
  *time = a->time[most];
  return most;
}

unsigned does_in(waits *w, unsigned status, uint32_t stack, uint32_t reason) {
  switch (status) {
  case GO_RUNNING: return DOES_RUN;
  case GO_RUNNABLE: return DOES_READY;
  case GO_SYSCALL: return DOES_CALL;
  default: return wait_class_of(w, stack, reason);
  }
}

/* ------------------------------------------------------------------------------------------------------ stops ---- */

void stops_take(stops *s, const world *w, const op *o) {
  const goroutine *g = o->m ? o->m->g : NULL;
  int64_t before = 0;
  if (o->kind != GOTRACE_V2_STW_END || !g || w->stw != 1 || g->stw != 1) return;
  GROW(s->all, s->count, s->capacity);
  if (s->count)
    before = plus(s->all[s->count - 1].before, between(s->all[s->count - 1].begin, s->all[s->count - 1].end));
  s->all[s->count++] = (struct stop){w->stw_since, o->time, before};
}

static int64_t stopped_until(const stops *s, const world *w, int64_t time) {
  size_t low = 0, high = s->count;
  const struct stop *last;
  int64_t sum = w->stw ? between(w->stw_since, time) : 0;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (s->all[middle].begin < time) low = middle + 1;
    else high = middle;
  }
  if (!low) return sum;
  last = &s->all[low - 1];
  return plus(sum, plus(last->before, between(last->begin, time < last->end ? time : last->end)));
}

int64_t stopped_between(const stops *s, const world *w, int64_t begin, int64_t end) {
  if (end <= begin || (!w->stw && (!s->count || s->all[s->count - 1].end <= begin))) return 0;
  return between(stopped_until(s, w, begin), stopped_until(s, w, end));
}

/* --------------------------------------------------------------------------------------------------- histories ---- */

goroutine *waker_of(const stretch *part) {
  goroutine *g = part->by && part->by->m && !part->by->outside ? part->by->m->g : NULL;
  return part->status == GO_WAITING && g && g != part->g && g->status == GO_RUNNING ? g : NULL;
}

bool is_seen_wait(unsigned status, uint32_t reason) {
  return status == GO_WAITING && !pool_text_is(reason, RECORD_OFF_CPU);
}

static history **history_place(holders *h, const goroutine *g) { return SIDE(history *, &h->gos, g->number); }

static void free_history(history *of) {
  if (of) free(of->all);
  free(of);
}

static spell *remember(history *of) {
  spell *all;
  uint32_t i, room = of->room ? 2 * of->room : 4;
  if (of->count < of->room || of->room == REMEMBERED) return &of->all[of->count++ % of->room];
  all = resize(NULL, room * sizeof *all);
  for (i = 0; i < of->count; i++) all[i] = of->all[i];
  free(of->all);
  of->all = all;
  of->room = room;
  return &of->all[of->count++];
}

void holders_add(holders *h, const stretch *part, goroutine *by) {
  history **place = history_place(h, part->g), *of = *place;
  spell *made;
  if (!of || of->ended) {
    of = *place = zeroed(sizeof *of);
    of->g = part->g;
  }
  if (part->end > part->begin) {
    made = remember(of);
    *made = (spell){part->begin,
                    part->end,
                    by,
                    part->stack,
                    part->by ? part->by->stack : 0,
                    (uint8_t)does_in(h->waits, part->status, part->stack, part->reason)};
    if (part->status == GO_WAITING && wait_is(made->does, WAIT_LOCK | WAIT_PERMIT))
      of->got[of->got_count++ % GOT] = *made;
  }
  if (part->status == GO_WAITING && part->by) *SIDE(told_holder, &h->told, part->g->number) = (told_holder){0};
  if (part->next != GO_NONE || !part->by) return;
  of->ended = true;
  place = (history **)&h->ended[h->ended_count++ % COUNT(h->ended)];
  if (*place) {
    history **old = history_place(h, (*place)->g);
    if (*old == *place) *old = NULL;
    free_history(*place);
  }
  *place = of;
}

static void add_spell(holders *h, int64_t begin, int64_t end, unsigned does, uint32_t stack, activity *to) {
  int64_t stopped = does == DOES_RUN || does == DOES_READY ? stopped_between(&h->stopped, h->w, begin, end) : 0;
  if (end <= begin) return;
  to->time[does] = plus(to->time[does], between(stopped, between(begin, end)));
  to->time[DOES_STOP] = plus(to->time[DOES_STOP], stopped);
  note_longest(to, does, between(begin, end), stack);
}

void add_activity(holders *h, goroutine *g, int64_t begin, int64_t end, activity *to) {
  const history *of = *history_place(h, g);
  uint32_t i, count = of ? of->count < of->room ? of->count : of->room : 0;
  if (g->status != GO_NONE && g->since < end)
    add_spell(h, g->since > begin ? g->since : begin, end, does_in(h->waits, g->status, g->stack, g->reason), g->stack,
              to);
  for (i = 1; i <= count; i++) {
    const spell *s = &of->all[(of->count - i) % of->room];
    if (s->end <= begin) break;
    add_spell(h, s->begin > begin ? s->begin : begin, s->end < end ? s->end : end, s->does, s->stack, to);
  }
}

/* -------------------------------------------------------------------------------------------------- hand-overs ---- */

void take_told_holder(side_array *told, world *w, const op *o) {
  const goroutine *g = o->m ? o->m->g : NULL;
  pool_text text = pool_text_of(o->value);
  uint64_t id = 0;
  size_t i;
  if (!g || !pool_text_is(o->name, RECORD_HOLDER)) return;
  for (i = 0; i < text.size && text.data[i] >= '0' && text.data[i] <= '9'; i++)
    id = id * 10 + (uint64_t)(text.data[i] - '0');
  *SIDE(told_holder, told, g->number) = (told_holder){find_go(w, id), o->stack};
}

uint32_t told_process(const op *o) {
  return o->kind == GOTRACE_V2_USER_LOG && o->m && o->m->g && pool_text_is(o->name, RECORD_WAKER) ? o->value : 0;
}

/* The goroutine's last wait that ended between the two times and by which it may have got what it releases in a stack;
 * NULL: none. */
static const spell *last_wait(holders *h, class_at wait, const goroutine *g, int64_t begin, int64_t end,
                              uint32_t released) {
  const history *of = *history_place(h, g);
  uint32_t i, count = of ? of->got_count < GOT ? of->got_count : GOT : 0;
  for (i = 1; i <= count; i++) {
    const spell *s = &of->got[(of->got_count - i) % GOT];
    if (s->end <= begin) break;
    if (s->end <= end && got_by(h->waits, wait, (class_at){(wait_class)s->does, s->stack}, released)) return s;
  }
  return NULL;
}

/* Whether a goroutine may have handed on, since a time, what another one has waited for since then. */
static bool may_have_handed_on(holders *h, const goroutine *g, class_at wait, int64_t since) {
  size_t go;
  uint32_t i;
  for (go = 0; go < h->w->gos.count; go++) {
    const history *of = *history_place(h, h->w->gos.values[go]);
    for (i = 0; of && i < GOT && i < of->got_count; i++) {
      const spell *s = &of->got[i];
      if (s->by == g && s->end > since && got_by(h->waits, wait, (class_at){(wait_class)s->does, s->stack}, s->woke))
        return true;
    }
  }
  return false;
}

told_holder holder_now(holders *h, const goroutine *g) {
  told_holder told = *SIDE(told_holder, &h->told, g->number);
  unsigned does = does_in(h->waits, g->status, g->stack, g->reason);
  if (told.g &&
      (!wait_is(does, WAIT_LOCK) || may_have_handed_on(h, told.g, (class_at){(wait_class)does, g->stack}, g->since)))
    told.g = NULL;
  return told;
}

/* A search ends where an earlier one has been. */
goroutine *find_deadlocked(holders *h) {
  side_array visits = {0}; /* uint32_t by goroutine: the search that has met it; 0: none */
  goroutine *from, *g, *next;
  uint32_t search = 0, *visit = NULL;
  for (from = h->w->live; from; from = from->next) {
    search++;
    for (g = from; g && !*(visit = SIDE(uint32_t, &visits, g->number)); g = holder_now(h, g).g) *visit = search;
    if (!g || *visit != search) continue;
    for (next = holder_now(h, from = g).g; next != from; next = holder_now(h, next).g)
      if (next->id < g->id) g = next;
    return g;
  }
  return NULL;
}

unsigned wait_parts(holders *h, const stretch *wait, goroutine *by, part_of_wait parts[MOST_PARTS]) {
  told_holder told = *SIDE(told_holder, &h->told, wait->g->number);
  int64_t end = wait->end;
  uint32_t released = wait->by ? wait->by->stack : 0;
  class_at of = {wait_class_of(h->waits, wait->stack, wait->reason), wait->stack};
  unsigned count = 0, looked;
  for (looked = 0; count < MOST_PARTS && end > wait->begin; looked++) {
    bool follow = by && count + 1 < MOST_PARTS && looked < 4 * MOST_PARTS;
    const spell *own = follow ? last_wait(h, of, by, wait->begin, end, released) : NULL;
    const spell *taken = own || !by ? own : last_wait(h, of, by, INT64_MIN, end, released);
    int64_t begin = own ? own->end : wait->begin;
    uint32_t where = taken ? taken->stack : 0;
    if (!own && told.g) {
      if (told.g != by) released = 0;
      by = told.g;
      where = told.taken;
    }
    if (begin < end) parts[count++] = (part_of_wait){by, begin, end, where, released};
    end = begin;
    by = own ? own->by : NULL;
    released = own ? own->woke : 0;
  }
  return count;
}

void holders_free(holders *h) {
  size_t i;
  const goroutine *g;
  for (i = 0; i < COUNT(h->ended); i++) {
    if (h->ended[i] && *history_place(h, h->ended[i]->g) == h->ended[i]) *history_place(h, h->ended[i]->g) = NULL;
    free_history(h->ended[i]);
  }
  for (g = h->w ? h->w->live : NULL; g; g = g->next) free_history(*history_place(h, g));
  free(h->stopped.all);
}
