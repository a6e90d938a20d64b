/* view_data.c - the data of gotrace view: see view.c
 *
 * The table of contents is JSON with long lists of numbers. Texts, stacks and rows get new numbers from 0. view/data.js
 * reads it. The chunks of slices are beside it: in the page that view_page.c writes, or in a stream. The stream has the
 * chunks first, as they become full, then the table of contents, then its size in 16 bytes. */

#include "view.h"

#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------- numbering ---- */

typedef struct contents {
  output json; /* only its block is used */
  numbering *texts, *stacks;
  bool first; /* at the start of a list */
} contents;

uint32_t number_of(numbering *n, uint32_t id) {
  uintptr_t number = (uintptr_t)map_get(&n->numbers, id);
  size_t cost = number ? 0 : n->cost(id);
  if (number) return (uint32_t)number - 1;
  if (cost <= n->room) {
    n->room -= cost;
    GROW(n->all, n->count, n->capacity);
    n->all[n->count++] = id;
    number = n->count;
  } else {
    n->lost++;
    number = n->left_out + 1;
  }
  map_put(&n->numbers, id, (void *)number);
  return (uint32_t)number - 1;
}

static void begin_list(contents *p, const char *name) {
  print(&p->json, ",\n\"%s\":[", name);
  p->first = true;
}

static void add_number(contents *p, uint64_t value) {
  if (!p->first) put_byte(&p->json.block, ',');
  p->first = false;
  put_decimal(&p->json, value);
}

/* JavaScript's numbers have 53 bits, so larger ids become strings. */
static void add_id(contents *p, uint64_t id) {
  if (id >> 53 == 0) {
    add_number(p, id);
    return;
  }
  print(&p->json, "%s\"%llu\"", p->first ? "" : ",", (ull)id);
  p->first = false;
}

static void add_time(contents *p, int64_t time) { add_number(p, time < 0 ? 0 : (uint64_t)time); }
static void add_text(contents *p, uint32_t text) { add_number(p, number_of(p->texts, text)); }
static void add_stack(contents *p, uint32_t stack) { add_number(p, number_of(p->stacks, stack)); }
static void add_measure(contents *p, const measure *m) {
  add_number(p, m->count);
  add_number(p, m->total);
  add_number(p, m->longest);
  add_number(p, m->unended);
}
static void end_list(contents *p) { put_byte(&p->json.block, ']'); }

/* ---------------------------------------------------------------------------------------------------- contents ---- */

static void put_rows(contents *p, const view *v) {
  size_t i;
  begin_list(p, "rows");
  for (i = 0; i < v->row_count; i++) {
    const row *r = &v->rows[i];
    add_number(p, r->kind);
    add_id(p, r->id);
    add_text(p, r->name);
    add_number(p, r->parent);
    add_stack(p, r->stack);
    add_time(p, r->begin < 0 ? 1 : r->begin); /* without slices, it ends before it begins */
    add_time(p, r->begin < 0 ? 0 : r->end);
  }
  end_list(p);
}

/* Rows of which a slice is cut, as three numbers: the row; a sum of 1 if the first slice began earlier, 2 if that time
 * is known, 4 if the last slice had not ended; the time, or 0. */
static void put_cuts(contents *p, const view *v) {
  size_t i;
  begin_list(p, "cuts");
  for (i = 0; i < v->row_count; i++) {
    const row *r = &v->rows[i];
    bool known = r->since != UNKNOWN_BEGIN;
    if (r->begin < 0 || (r->since < 0 && !r->open)) continue;
    add_number(p, i);
    add_number(p, (r->since >= 0 ? known ? 3u : 1u : 0u) | (r->open ? 4u : 0u));
    add_time(p, known ? r->since : 0);
  }
  end_list(p);
}

static void put_details(contents *p, const view *v) {
  size_t i;
  begin_list(p, "details");
  for (i = 0; i < v->detail_count; i++) {
    const detail *d = &v->details[i];
    add_number(p, d->colour);
    add_text(p, d->reason);
    add_stack(p, d->stack);
    add_measure(p, &d->all);
  }
  end_list(p);
}

static void put_marks(contents *p, const view *v) {
  size_t i;
  begin_list(p, "marks");
  for (i = 0; i < v->mark_count; i++) {
    const mark *m = &v->marks[i];
    add_time(p, m->time);
    add_number(p, m->row);
    add_number(p, m->log);
    add_text(p, m->name);
    if (m->log) add_text(p, m->value);
    else add_stack(p, m->value);
    add_number(p, m->task);
  }
  end_list(p);
}

static void put_tasks(contents *p, const view *v) {
  size_t i;
  begin_list(p, "tasks");
  for (i = 0; i < v->task_record_count; i++) {
    const task_record *t = &v->task_records[i];
    add_id(p, t->id);
    add_number(p, t->parent);
    add_number(p, t->row);
    add_time(p, t->begin);
    add_time(p, t->end);
  }
  end_list(p);
}

static void put_latencies(contents *p, const latencies *l) {
  unsigned used = 0, b;
  for (b = 0; l->counts && b < BUCKETS; b++) used += l->counts[b] != 0;
  add_number(p, l->counts ? used : l->few != 0);
  for (b = 0; l->counts && b < BUCKETS; b++) {
    if (!l->counts[b]) continue;
    add_number(p, b);
    add_number(p, l->counts[b]);
  }
  if (!l->counts && l->few) add_number(p, l->bucket), add_number(p, l->few);
}

static void put_spans(contents *p, const view *v) {
  size_t i;
  begin_list(p, "spans");
  for (i = 0; i < v->spans.count; i++) {
    const span_totals *t = v->spans.values[i];
    add_number(p, t->kind);
    add_text(p, t->name);
    add_measure(p, &t->all);
    put_latencies(p, &t->latencies);
  }
  end_list(p);
}

/* For each function: name and goroutines, then for each colour a measure and the latencies: the number of buckets, and
 * the number and count of each. */
static void put_functions(contents *p, const view *v) {
  size_t i;
  unsigned c;
  begin_list(p, "functions");
  for (i = 0; i < v->functions.count; i++) {
    const totals *t = v->functions.values[i];
    add_text(p, t->name);
    add_number(p, t->goroutines);
    for (c = 0; c < COLOURS; c++) {
      add_measure(p, &t->all[c]);
      put_latencies(p, &t->latencies[c]);
    }
  }
  end_list(p);
}

static uint64_t whole(double value) { return value < 0 ? 0 : value < 0x1p64 ? (uint64_t)value : UINT64_MAX; }

static void put_counters(contents *p, const view *v) {
  const series *s = v->of_trace.all;
  size_t i, c;
  begin_list(p, "counters");
  for (i = 0; s && i < s->count; i++) {
    add_time(p, s->points[i].time);
    for (c = 0; c < COUNTERS; c++) add_number(p, whole(s->points[i].values[c]));
  }
  end_list(p);
}

/* Counters of the program: name, number of points, and the time and value of each. */
static void put_series(contents *p, const view *v) {
  char text[REAL_TEXT];
  size_t i, k;
  begin_list(p, "series");
  for (i = 0; i < v->of_program.count; i++) {
    const series *s = &v->of_program.all[i];
    add_text(p, s->name);
    add_number(p, s->count);
    for (k = 0; k < s->count; k++) {
      add_time(p, s->points[k].time);
      put_byte(&p->json.block, ',');
      put_string(&p->json, real_text(s->points[k].values[0], text));
    }
  }
  end_list(p);
}

static void put_chunks(contents *p, const levels *l, unsigned class) {
  size_t i;
  for (i = 0; i < l->chunk_count; i++) {
    const chunk *c = &l->chunks[i];
    add_number(p, class);
    add_number(p, c->level);
    add_number(p, c->merged);
    add_time(p, c->begin);
    add_time(p, c->end);
    add_number(p, c->count);
    add_number(p, c->at);
    add_number(p, c->size);
  }
}

/* Stacks, as a number of frames and their indices; then frames, as function, file and line. */
static void put_stacks(contents *p) {
  map places = {0};
  const pool_frame **frames = NULL;
  size_t count = 0, capacity = 0, i;
  uint32_t k;
  begin_list(p, "stacks");
  for (i = 0; i < p->stacks->count; i++) {
    pool_stack s = pool_stack_of(p->stacks->all[i]);
    add_number(p, s.count);
    for (k = 0; k < s.count; k++) {
      const pool_frame *f = &s.frames[k];
      uint64_t key[3] = {f->function, f->file, f->line};
      size_t place = map_index(&places, hash_of(key, sizeof key));
      if (place == count) {
        GROW(frames, count, capacity);
        frames[count++] = f;
      }
      add_number(p, place);
    }
  }
  end_list(p);
  begin_list(p, "frames");
  for (i = 0; i < count; i++) {
    add_text(p, frames[i]->function);
    add_text(p, frames[i]->file);
    add_number(p, frames[i]->line);
  }
  end_list(p);
  map_free(&places);
  free(frames);
}

static void put_texts(contents *p) {
  size_t i;
  begin_list(p, "texts");
  for (i = 0; i < p->texts->count; i++) {
    if (i) put_byte(&p->json.block, ',');
    put_quoted_text(&p->json, p->texts->all[i]);
  }
  end_list(p);
}

/* How much of each table is left out. */
static void put_losses(contents *p, const view *v) {
  static const char *const names[TABLES] = {
      [TABLE_GOS] = "gos",       [TABLE_PLACES] = "places", [TABLE_REGIONS] = "regions", [TABLE_TASK_ROWS] = "tasks",
      [TABLE_TASKS] = "parents", [TABLE_MARKS] = "marks",   [TABLE_NAMES] = "names",     [TABLE_COUNTS] = "counts"};
  unsigned i;
  print(&p->json, ",\n\"lost\":{\"texts\":%zu,\"stacks\":%zu", v->texts.lost,
        v->stacks.lost + v->tables[TABLE_DETAILS].lost);
  for (i = 0; i < TABLES; i++)
    if (names[i]) print(&p->json, ",\"%s\":%zu", names[i], v->tables[i].lost);
  put_byte(&p->json.block, '}');
}

void view_contents(view *v, bytes *to) {
  const char *base = strrchr(v->name, '/');
  uint64_t began = wall_at(&v->c.w->wall, v->c.base);
  char text[MOMENT_TEXT];
  contents all = {0}, *p = &all;
  all.json.block = *to;
  all.texts = &v->texts;
  all.stacks = &v->stacks;
  base = base && base[1] ? base + 1 : v->name;
  put_string(&p->json, "{\"name\":");
  put_quoted(&p->json, base, strlen(base));
  put_string(&p->json, ",\"program\":");
  put_quoted_text(&p->json, v->c.w->program);
  print(&p->json,
        ",\"format\":\"1.%d\",\"events\":%llu,\"begin\":%lld,\"end\":%lld,\"finest\":[%u,%u],\"coarsest\":%u,"
        "\"filtered\":%s,\"recorded\":%s,\"running\":\"%s\"",
        v->c.input % 1000, (ull)v->events, (long long)between(v->c.base, v->c.from), (long long)v->end, v->few.finest,
        v->many.finest, v->coarsest, v->c.filter->on ? "true" : "false", v->c.recorded ? "true" : "false",
        running_text(waits_unseen(&v->c)));
  if (began) print(&p->json, ",\"began\":\"%s\"", moment_text(began, true, text));
  put_details(p, v); /* first, since their stacks matter most */
  put_rows(p, v);
  put_cuts(p, v);
  put_marks(p, v);
  put_tasks(p, v);
  put_functions(p, v);
  put_spans(p, v);
  put_counters(p, v);
  put_series(p, v);
  begin_list(p, "chunks");
  put_chunks(p, &v->few, 0);
  put_chunks(p, &v->many, 1);
  end_list(p);
  put_stacks(p);
  put_texts(p);
  put_losses(p, v);
  put_string(&p->json, "}\n");
  *to = all.json.block;
}

void numbering_free(numbering *n) {
  map_free(&n->numbers);
  free(n->all);
}

/* ------------------------------------------------------------------------------------------------------ stream ---- */

/* For levels.take. */
void stream_chunk(levels *l, const chunk *c, bytes *raw) {
  chunk put = *c;
  put.at = l->stream->at;
  put.size = raw->size;
  l->stream->at += raw->size;
  levels_add_chunk(l, &put);
  put_data(&l->stream->to->block, raw->data, raw->size);
  output_check(l->stream->to);
  raw->size = 0;
}

void view_stream(view *v, output *out) {
  bytes all = {0};
  view_contents(v, &all);
  put_data(&out->block, all.data, all.size);
  print(out, "%15zu\n", all.size);
  free(all.data);
}
