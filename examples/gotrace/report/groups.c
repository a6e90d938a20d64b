/* groups.c - times by name: see groups.h */

#include "groups.h"

#include <stdlib.h>

void add_blocked(times *t, uint32_t reason, int64_t time) {
  uint32_t i = 0;
  while (i < t->blocked_count && t->blocked[i].reason != reason) i++;
  if (i == t->blocked_count) {
    GROW(t->blocked, t->blocked_count, t->blocked_capacity);
    t->blocked[t->blocked_count++] = (reason_time){reason, 0};
  }
  t->blocked[i].time = plus(t->blocked[i].time, time);
}

void add_times(times *to, const times *from) {
  uint32_t i;
  to->running = plus(to->running, from->running);
  to->runnable = plus(to->runnable, from->runnable);
  to->syscall = plus(to->syscall, from->syscall);
  to->syscall_blocked = plus(to->syscall_blocked, from->syscall_blocked);
  to->cpu = plus(to->cpu, from->cpu);
  for (i = 0; i < from->blocked_count; i++) add_blocked(to, from->blocked[i].reason, from->blocked[i].time);
}

void clear_times(times *t) {
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

histogram *new_waits(group *f, uint32_t reason) {
  if (reason >= f->blocked_count) {
    f->blocked = resize(f->blocked, (reason + 1) * sizeof *f->blocked);
    while (f->blocked_count <= reason) f->blocked[f->blocked_count++] = NULL;
  }
  return f->blocked[reason] = zeroed(sizeof **f->blocked);
}

void clear_group(group *f) {
  uint32_t i;
  clear_times(&f->t);
  histogram_free(&f->running);
  histogram_free(&f->runnable);
  histogram_free(&f->syscall);
  histogram_free(&f->whole);
  histogram_free(&f->open);
  for (i = 0; i < f->blocked_count; i++) {
    if (f->blocked[i]) histogram_free(f->blocked[i]);
    free(f->blocked[i]);
  }
  free(f->blocked);
}

void merge_group(group *to, const group *from, const uint32_t *places) {
  uint32_t i;
  histogram_merge(&to->running, &from->running);
  histogram_merge(&to->runnable, &from->runnable);
  histogram_merge(&to->syscall, &from->syscall);
  for (i = 0; i < from->blocked_count; i++) {
    if (from->blocked[i]) histogram_merge(waits_of(to, places ? places[i] : i), from->blocked[i]);
  }
}

static bool waited_longer(const latency *a, const latency *than) {
  return a->waited > than->waited || (a->waited == than->waited && a->when < than->when);
}

void note_latency(latencies *to, latency new) {
  unsigned i = to->count;
  if (i == LATENCIES && !waited_longer(&new, &to->all[i - 1])) return;
  if (i < LATENCIES) to->count++;
  else i--;
  for (; i > 0 && waited_longer(&new, &to->all[i - 1]); i--) to->all[i] = to->all[i - 1];
  to->all[i] = new;
}

group *group_of(groups *all, uint32_t name) {
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

void free_groups(groups *all) {
  group *g;
  for (g = all->list; g; g = g->next) clear_group(g);
  map_free(&all->by_name);
}

int text_order(uint32_t a, uint32_t b) {
  pool_text x = pool_text_of(a), y = pool_text_of(b);
  int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
  return order ? order : x.size < y.size ? -1 : x.size > y.size;
}

pool_text group_name(const group *g) {
  static const pool_text others = {"(others)", 8};
  return g && g->others ? others : pool_text_of(g ? g->name : 0);
}

int by_name(const group *a, const group *b) { return text_order(a->name, b->name); }

group **sorted_groups(const groups *all, int (*compare)(const void *, const void *)) {
  group **sorted = resize(NULL, (all->count + 1) * sizeof *sorted), *g;
  size_t i = 0;
  for (g = all->list; g; g = g->next)
    if (g->count || known_time(&g->t)) sorted[i++] = g;
  qsort(sorted, i, sizeof *sorted, compare);
  sorted[i] = NULL;
  return sorted;
}
