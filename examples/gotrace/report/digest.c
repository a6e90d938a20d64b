/* digest.c - fast path for the events that most traces consist of: see digest.h */

#include "digest.h"

#include "../reading/filter.h"

#include <stdlib.h>

#define BLOCK 1024
#define LINE 64 /* bytes in a cache line */

typedef struct digested_block {
  struct digested_block *next;
  size_t count;
  digested gos[BLOCK] __attribute__((aligned(LINE)));
} digested_block;

/* ------------------------------------------------------------------------------------------------- goroutines ---- */

static void make_near(digest *d, size_t count) {
  d->near = resize(d->near, count * sizeof *d->near);
  memset(d->near, 0, count * sizeof *d->near);
  d->near_mask = count - 1;
}

static RARE void widen(digest *d) { make_near(d, 2 * (d->near_mask + 1)); }

static RARE digested *find_far(digest *d, uint64_t id) {
  digested *g = map_get(&d->gos, id);
  if (d->gos.count > d->near_mask) widen(d);
  if (!g) {
    if (!d->newest || d->newest->count == BLOCK) {
      digested_block *block = aligned_alloc(LINE, sizeof *block);
      if (!block) fail("out of memory");
      block->next = NULL;
      block->count = 0;
      if (d->newest) d->newest->next = block;
      else d->blocks = block;
      d->newest = block;
    }
    g = &d->newest->gos[d->newest->count++];
    memset(g, 0, sizeof *g);
    g->id = id;
    map_put(&d->gos, id, g);
  }
  return d->near[id & d->near_mask] = g;
}

static inline digested *find(digest *d, uint64_t id) {
  digested *g = d->near[id & d->near_mask];
  return g && g->id == id ? g : find_far(d, id);
}

static void free_gos(digest *d) {
  digested_block *block, *next;
  for (block = d->blocks; block; block = next) {
    next = block->next;
    free(block);
  }
  free(d->near);
  map_free(&d->gos);
}

static RARE busy *far_place(busy_places *all, uint64_t id) {
  busy *place = map_get(&all->by_id, id);
  if (!place) {
    place = resize(NULL, sizeof *place);
    *place = (busy){.id = id, .place = all->count};
    GROW(all->all, all->count, all->capacity);
    all->all[all->count++] = place;
    map_put(&all->by_id, id, place);
  }
  return all->near[id % COUNT(all->near)] = place;
}

static inline busy *place_of(busy_places *all, int64_t id) {
  busy *place = all->near[(uint64_t)id % COUNT(all->near)];
  return place && place->id == (uint64_t)id ? place : far_place(all, (uint64_t)id);
}

static void free_places(busy_places *places) {
  uint32_t i;
  for (i = 0; i < places->count; i++) free(places->all[i]);
  free(places->all);
  map_free(&places->by_id);
}

/* --------------------------------------------------------------------------------------------------- the host ---- */

/* If the goroutine runs, the host sees it on its thread from now on. */
static inline void show(digest *d, digested *g) {
  if (g->status == GO_RUNNING) d->threads.all[g->m]->shown = g;
}

static void settle(digest *d, digested *g) {
  if (!g->ahead) return;
  d->host->catch_up(d, g);
  show(d, g);
  g->running = g->runnable = 0;
  memset(&g->u, 0, sizeof g->u);
  g->ahead = false;
}

void digest_finish(digest *d, catch_up_fn *catch_up) {
  digested_block *block;
  size_t i;
  for (block = d->blocks; block; block = block->next)
    for (i = 0; i < block->count; i++)
      if (block->gos[i].ahead) catch_up(d, &block->gos[i]);
}

/* Most goroutines have ended: starts over without records. */
static RARE void forget(digest *d) {
  uint32_t i;
  digest_finish(d, d->host->catch_up);
  for (i = 0; i < d->threads.count; i++) d->threads.all[i]->shown = NULL;
  free_gos(d);
  d->near = NULL;
  d->blocks = d->newest = NULL;
  memset(&d->gos, 0, sizeof d->gos);
  d->ended = 0;
  make_near(d, BLOCK);
}

static void pass(digest *d, const gotrace_event *e) { d->host->pass(d, e); }

/* The event that gave the goroutine this status was passed, so the host knows it. */
static void set_known(digest *d, digested *g, uint8_t status, const gotrace_event *e) {
  if (!g->to || g->asks) return;
  g->status = status & 7u;
  g->since = e->time;
  if (status == GO_RUNNING) g->m = place_of(&d->threads, e->m)->place;
  show(d, g);
}

/* Asks the host. Returns whether it admits the goroutine. */
static bool admit(digest *d, digested *g, const gotrace_event *e) {
  group *to = d->host->admit(d, g, e);
  if (!to) return false;
  if (!g->to) memset(&g->u, 0, sizeof g->u);
  g->to = to;
  g->asks = false;
  d->admitted = true;
  return true;
}

static inline uint8_t reason_of(digest *d, uint64_t string) {
  size_t i = string % COUNT(d->reasons);
  if (!d->reasons[i].known || d->reasons[i].string != string) {
    d->reasons[i].known = true;
    d->reasons[i].string = string;
    d->reasons[i].reason = d->host->reason(d, string);
  }
  return d->reasons[i].reason;
}

/* --------------------------------------------------------------------------------------------------- stretches ---- */

static inline void end_running(digest *d, digested *g, const gotrace_event *e) {
  int64_t passed = between(g->since, e->time);
  busy *m = place_of(&d->threads, e->m), *p = place_of(&d->procs, e->p);
  g->running = plus(g->running, passed);
  m->running = plus(m->running, passed);
  p->running = plus(p->running, passed);
  histogram_add(&g->to->running, passed, g->since, g->id);
}

static inline void end_runnable(digest *d, digested *g, int64_t time) {
  int64_t passed = between(g->since, time);
  g->runnable = plus(g->runnable, passed);
  if (d->worst.count < LATENCIES || passed >= d->worst.all[LATENCIES - 1].waited)
    note_latency(&d->worst, (latency){passed, g->since, g->id, g->to});
  histogram_add(&g->to->runnable, passed, g->since, g->id);
}

static inline void end_wait(digest *d, digested *g, int64_t time) {
  int64_t passed = between(g->since, time);
  unsigned i = 0;
  while (i < DIGESTED_WAITS && g->u.waited[i] && g->reasons[i] != g->reason) i++;
  if (i == DIGESTED_WAITS) {
    settle(d, g);
    i = 0;
  }
  g->reasons[i] = g->reason;
  g->u.waited[i] = plus(g->u.waited[i], passed);
  histogram_add(waits_of(g->to, g->reason), passed, g->since, g->id);
}

/* Sets a status that the host does not know. */
static inline void become(digested *g, uint8_t status, int64_t time) {
  g->status = status & 7u;
  g->since = time;
  g->ahead = true;
}

/* ------------------------------------------------------------------------------------------------------ events ---- */

/* The event changes a goroutine's status, which only the host knows, or blocks it for a reason that is not digested. */
static RARE void pass_status(digest *d, digested *g, const gotrace_event *e, uint8_t status) {
  uint8_t reason = status == GO_WAITING ? reason_of(d, e->args[0]) : 0;
  settle(d, g);
  pass(d, e);
  if (!names_go(e->kind)) { /* it stops */
    g->status = GO_NONE;
    if (reason == PASS_ON) g->barred = g->asks = true; /* the host follows this wait; a later stop asks again */
    else if (!g->to || g->asks) admit(d, g, e);
    g->reason = reason;
  }
  set_known(d, g, status, e);
}

/* The event changes something about its own goroutine, or the one it names, that the digest does not follow. */
static void pass_about(digest *d, digested *g, const gotrace_event *e) {
  settle(d, g);
  g->status = GO_NONE;
  switch (e->kind) {
  case GOTRACE_V2_GO_LABEL: g->barred = g->asks = true; break; /* the collector's workers have labels */
  case GOTRACE_V2_GC_MARK_ASSIST_BEGIN:
  case GOTRACE_V2_GC_MARK_ASSIST_ACTIVE: g->assists = g->asks = true; break;
  case GOTRACE_V2_GC_MARK_ASSIST_END: g->assists = false; break;
  default: d->ended += ends_go(e->kind); break;
  }
}

static RARE void pass_any(digest *d, const gotrace_event *e) {
  digested *g;
  if (e->g != GOTRACE_NO_ID) pass_about(d, find(d, (uint64_t)e->g), e);
  else if (e->m != GOTRACE_NO_ID && (g = place_of(&d->threads, e->m)->shown) != NULL) settle(d, g);
  if (names_go(e->kind)) {
    g = find(d, e->args[0]);
    pass_about(d, g, e);
    if (creates(e->kind)) {
      g->to = NULL;
      g->asks = g->barred = g->assists = false;
      g->is_new = true;
      g->u.made_by = e->kind == GOTRACE_V2_GO_CREATE_SYSCALL ? 0 : e->args[1];
    }
  }
  pass(d, e);
  if (e->g == GOTRACE_NO_ID || e->implied) return;
  if (e->kind == GOTRACE_V2_GO_SYSCALL_END || e->kind == GOTRACE_V2_GO_SYSCALL_END_BLOCKED)
    set_known(d, find(d, (uint64_t)e->g), status_of_kind(e->kind), e);
}

/* Whether a status may move a running goroutine to another thread, as those of damaged traces do. */
static inline bool may_move(digest *d, const digested *g, const gotrace_event *e) {
  if ((e->args[2] & 0xff) != GO_RUNNING || e->m == GOTRACE_NO_ID) return false;
  return g->status != GO_RUNNING || place_of(&d->threads, e->m)->place != g->m;
}

/* Whether an unblock may be the event that names the goroutine on which it happens. */
static inline bool names_waker(digest *d, const gotrace_event *e) {
  return e->stack && e->g != GOTRACE_NO_ID && !find(d, (uint64_t)e->g)->to;
}

/* The status of the event's own goroutine changes, which has run until now. */
static inline void take_own(digest *d, const gotrace_event *e) {
  digested *g = find(d, (uint64_t)e->g);
  uint8_t status = status_of_kind(e->kind), reason = status == GO_WAITING ? reason_of(d, e->args[0]) : 0;
  if (g->status != GO_RUNNING || reason == PASS_ON) {
    pass_status(d, g, e, status);
    return;
  }
  end_running(d, g, e);
  g->reason = reason;
  become(g, status, e->time);
}

/* The status of the goroutine that the event names changes, which has not run until now. */
static inline void take_named(digest *d, const gotrace_event *e) {
  digested *g = find(d, e->args[0]);
  uint8_t status = status_of_kind(e->kind);
  if (g->status == GO_NONE || (g->status == GO_WAITING && names_waker(d, e))) {
    pass_status(d, g, e, status);
    return;
  }
  if (g->status == GO_WAITING) end_wait(d, g, e->time);
  else end_runnable(d, g, e->time);
  if (status == GO_RUNNING) g->m = place_of(&d->threads, e->m)->place;
  become(g, status, e->time);
}

static inline void take(digest *d, const gotrace_event *e) {
  digested *g;
  if (__builtin_expect(e->implied, false)) {
    pass_any(d, e);
    return;
  }
  d->kinds[e->kind]++;
  switch (e->kind) {
  case GOTRACE_V2_GO_START:
  case GOTRACE_V2_GO_UNBLOCK: take_named(d, e); return;
  case GOTRACE_V2_GO_STOP:
  case GOTRACE_V2_GO_BLOCK: take_own(d, e); return;
  case GOTRACE_V2_HEAP_ALLOC:
  case GOTRACE_V2_HEAP_GOAL:
  case GOTRACE_V2_CPU_SAMPLE:
  case GOTRACE_V2_EXPERIMENTAL_BATCH: /* the host learns nothing from these but that the thread exists */
    if (!d->admitted || e->m == GOTRACE_NO_ID || !map_get(&d->threads.by_id, (uint64_t)e->m)) pass(d, e);
    return;
  case GOTRACE_V2_USER_LOG: pass(d, e); return;
  case GOTRACE_V2_GO_LABEL:
    if (!d->named) pass_any(d, e);
    return;
  case GOTRACE_V2_GO_STATUS:
  case GOTRACE_V2_GO_STATUS_STACK: /* the host learns nothing else about a goroutine that it admits */
    g = find(d, e->args[0]);
    if ((!g->to && !admit(d, g, e)) || may_move(d, g, e)) pass_any(d, e);
    return;
  case GOTRACE_V2_SYNC:
    memset(d->reasons, 0, sizeof d->reasons); /* string ids change their meaning */
    if (2 * d->ended > d->gos.count) forget(d);
    pass(d, e);
    return;
  default: pass_any(d, e); return;
  }
}

/* Prefetches what the earlier digest knows about the goroutines whose status is told. */
static PREFETCHES void fetch_earlier(const digest *d, const gotrace_event *const *events, size_t count) {
  const digest *earlier = d->earlier;
  size_t i;
  for (i = 0; i < count; i++)
    if (events[i]->kind == GOTRACE_V2_GO_STATUS)
      __builtin_prefetch(&earlier->near[events[i]->args[0] & earlier->near_mask]);
  for (i = 0; i < count; i++)
    if (events[i]->kind == GOTRACE_V2_GO_STATUS)
      __builtin_prefetch(earlier->near[events[i]->args[0] & earlier->near_mask]);
}

void digest_take(digest *d, const gotrace_event *const *events, size_t count) {
  bool statuses = false;
  size_t i;
  if (!d->events && count) d->first = events[0]->time;
  for (i = 0; i < count; i++) { /* fetch them together, so that cache misses overlap */
    __builtin_prefetch(d->near[event_subject(events[i]) & d->near_mask]);
    statuses |= events[i]->kind == GOTRACE_V2_GO_STATUS;
  }
  if (statuses && d->earlier) fetch_earlier(d, events, count);
  for (i = 0; i < count; i++) take(d, events[i]);
  d->events += count;
  if (count) d->last = events[count - 1]->time, d->offset = events[count - 1]->offset;
}

/* ----------------------------------------------------------------------------------------------- begin and end ---- */

void digest_begin(digest *d, const digest_host *host, const gotrace_decoder *decoder, const digest *earlier,
                  bool named) {
  size_t count, i;
  const gotrace_event_spec *specs = gotrace_event_specs(2, &count);
  memset(d, 0, sizeof *d);
  d->users = 1;
  for (i = 0; i < count; i++) d->specs[specs[i].number & 0xff] = &specs[i];
  d->host = host;
  d->decoder = decoder;
  d->earlier = earlier;
  d->named = named;
  if (earlier) map_expect(&d->gos, earlier->gos.count);
  make_near(d, earlier ? earlier->near_mask + 1 : BLOCK);
}

void digest_end(digest *d) { d->earlier = NULL; }

void digest_free(digest *d) {
  free_gos(d);
  free_places(&d->threads);
  free_places(&d->procs);
}

digest *digest_share(digest *d) {
  __atomic_fetch_add(&d->users, 1, __ATOMIC_RELAXED);
  return d;
}

void digest_release(digest *d) {
  if (d && __atomic_fetch_sub(&d->users, 1, __ATOMIC_ACQ_REL) == 1) d->host->free(d);
}

const digested *digest_find(const digest *d, uint64_t id) {
  const digested *g = d->near[id & d->near_mask];
  return g && g->id == id ? g : map_get(&d->gos, id);
}
