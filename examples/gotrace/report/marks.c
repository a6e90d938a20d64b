/* marks.c - regions by time: see marks.h */

#include "marks.h"

static void put(marks *m, mark_place *last, int64_t time, uint32_t region, uint32_t stack) {
  if (m->count == UINT32_MAX - 1) return;
  GROW(m->all, m->count, m->capacity);
  m->all[m->count++] = (mark){time, region, stack, *last};
  *last = m->count;
}

void marks_begin(marks *m, mark_place *last, const goroutine *g, int64_t time) {
  if (g->regions && g->regions->count) put(m, last, time, g->regions->open[g->regions->count - 1].name, 0);
}

void marks_take(marks *m, mark_place *last, const op *o) {
  const user_regions *r = o->m->g->regions;
  uint32_t count = r ? r->count : 0;
  if (change_specs[o->kind].kind == GOTRACE_CHANGE_REGION_BEGIN) put(m, last, o->time, o->name, o->stack);
  else if (!o->a[0] && count) put(m, last, o->time, count > 1 ? r->open[count - 2].name : 0, o->stack);
}

in_region marks_before(const marks *m, mark_place *last, int64_t begin, int64_t end) {
  in_region of = {begin, end, 0, 0};
  const mark *k;
  while (*last && (k = &m->all[*last - 1])->time >= end) {
    if (k->time == end && !of.stack) of.stack = k->stack;
    *last = k->before;
  }
  if (!*last) return of;
  of.region = m->all[*last - 1].region;
  if (m->all[*last - 1].time > begin) of.begin = m->all[*last - 1].time;
  return of;
}
