/* past.c - stores what a summary knows before the selected part begins, for an index: see summary.h
 *
 * Times add up only in the part. So before it a summary knows when things began, and what is open. */

#include "summary.h"

#include <stdlib.h>

static void fields_of_region(saved *x, open_region *r) {
  SAVED_TEXT(x, r->name);
  SAVED_NUMBER(x, r->task);
  SAVED_NUMBER(x, r->begin);
  SAVED_FLAG(x, r->inherited);
  SAVED_FLAG(x, r->has_begun);
}

static void fields_of_call(saved *x, goroutine_summary *g) {
  SAVED_NUMBER(x, g->call);
  SAVED_NUMBER(x, g->lost_proc);
  SAVED_NUMBER(x, g->left_proc);
  SAVED_BELOW(x, g->early, UINT8_MAX + 1);
  g->p = saved_proc(x, g->p);
}

static void fields_of_go(saved *x, goroutine_summary *g) {
  size_t count, i;
  bool in_call = g->call != NONE;
  SAVED_NUMBER(x, g->created);
  SAVED_NUMBER(x, g->last);
  SAVED_NUMBER(x, g->reported);
  SAVED_FLAG(x, g->is_older);
  if (SAVED_FLAG(x, g->has_started)) SAVED_NUMBER(x, g->started);
  if (SAVED_FLAG(x, in_call)) fields_of_call(x, g);
  count = saved_count(x, g->region_count);
  for (i = 0; i < count && !x->bad; i++) {
    if (!x->to) {
      GROW(g->regions, g->region_count, g->region_capacity);
      g->regions[g->region_count++] = (open_region){0};
    }
    fields_of_region(x, &g->regions[i]);
  }
}

static void goroutines(saved *x, summary *sum) {
  goroutine *g;
  for (g = x->w->live; g && !x->bad; g = g->next) {
    goroutine_summary **of = summary_place(sum, g);
    collector_go *gc = collector_of(&sum->gc, g);
    bool known = *of != NULL;
    if (SAVED_FLAG(x, known)) fields_of_go(x, x->to ? *of : summary_begin_goroutine(sum, g->id, 0));
    SAVED_BELOW(x, gc->collects, (COLLECTOR_ASSIST | COLLECTOR_WORKER) + 1);
    if (!g->stw) continue;
    SAVED_NUMBER(x, gc->stw_since);
    SAVED_TEXT(x, gc->stw_reason);
  }
}

static void fields_of_collector(saved *x, collector *gc) {
  size_t count, i;
  SAVED_FLAG(x, gc->any);
  SAVED_NUMBER(x, gc->stopped);
  SAVED_NUMBER(x, gc->collecting);
  SAVED_NUMBER(x, gc->procs);
  SAVED_NUMBER(x, gc->first_procs);
  count = saved_count(x, gc->works_count);
  for (i = 0; i < count && !x->bad; i++) {
    if (!x->to) {
      GROW(gc->works, gc->works_count, gc->works_capacity);
      gc->works[gc->works_count++] = false;
    }
    SAVED_FLAG(x, gc->works[i]);
    if (!x->to) gc->busy += gc->works[i];
  }
  count = (size_t)saved_below(x, gc->count, 2);
  if (!count || x->bad) return;
  if (!x->to) {
    GROW(gc->changes, gc->count, gc->capacity);
    gc->changes[gc->count++] = (utilization){0}; /* its time: see sum_begin() */
  }
  SAVED_NUMBER(x, gc->changes[0].busy);
  SAVED_NUMBER(x, gc->changes[0].procs);
}

void summary_saved_task(saved *x, uint32_t number) {
  summary *sum = x->context;
  map *all = &sum->task_ids;
  uint64_t id = saved_number(x, x->to ? ((task *)all->values[number])->id : 0);
  task *t;
  bool named;
  if (!x->to && saved_has(x, all, id)) return;
  t = summary_task(sum, id);
  named = t->name != NULL;
  SAVED_NUMBER(x, t->parent);
  SAVED_NUMBER(x, t->begin);
  SAVED_NUMBER(x, t->end);
  SAVED_FLAG(x, t->begun);
  SAVED_FLAG(x, t->ended);
  SAVED_FLAG(x, t->chosen);
  saved_origin(x, &t->from);
  if (SAVED_FLAG(x, named)) t->name = group_of(&sum->tasks, saved_text(x, x->to ? t->name->name : 0));
}

static void fields(saved *x, summary *sum) {
  size_t i;
  saved_world(x);
  goroutines(x, sum);
  for (i = 0; i < x->w->proc_count && !x->bad; i++) {
    proc_summary *of = summary_of_proc(sum, x->w->procs.values[i]);
    of->in_syscall = saved_go(x, (goroutine *)of->in_syscall);
  }
  fields_of_collector(x, &sum->gc);
  saved_tasks(x, summary_saved_task);
  SAVED_NUMBER(x, sum->generation);
  if (!x->to) sum->generations = 1;
}

bool summary_save(bytes *to, summary *sum, const saved_list *tasks) {
  saved x;
  saved_begin(&x, to, &sum->s.w, tasks);
  x.context = sum;
  fields(&x, sum);
  return saved_end(&x);
}

static void forget(summary *sum) {
  size_t i;
  for (i = 0; i < sum->s.w.gos.count; i++) {
    goroutine_summary **g = summary_place(sum, sum->s.w.gos.values[i]);
    if (*g) free((*g)->regions);
    free(*g);
    *g = NULL;
  }
  map_free(&sum->task_ids);
  collector_free(&sum->gc);
  memset(&sum->task_ids, 0, sizeof sum->task_ids);
  memset(&sum->gc, 0, sizeof sum->gc);
  memset(&sum->procs, 0, sizeof sum->procs);
  sum->generations = sum->generation = 0;
}

bool summary_load(consumer *c, const index_moment *from) {
  summary *sum = (summary *)c;
  saved x;
  saved_open(&x, &sum->s.w, from, LATE_SUMMARY, sum->s.until);
  x.context = sum;
  fields(&x, sum);
  if (saved_end(&x)) return true;
  forget(sum);
  return false;
}
