/* view_page.c - the page that gotrace view writes: see view.c
 *
 * The page is one file: style, markup and script from view/, and the data, compressed and in base 64. Everything that
 * comes from the trace is inside the data, so no name or message can close an element or begin a script. A policy in
 * the head allows only the page's own script and style, which it names by their hashes, and no network access.
 *
 * The table of contents of the data is JSON with long lists of numbers. Texts, stacks and rows get new numbers from 0.
 * view/data.js reads it. */

#include "sha256.h"
#include "view.h"

#include <stdlib.h>

/* A file of view/ as a string. */
#define EMBED(name, file)   \
  extern const char name[]; \
  __asm__(".pushsection .rodata\n" #name ":\n.incbin \"examples/gotrace/view/page/" file "\"\n.byte 0\n.popsection")
EMBED(view_style, "page.css");
EMBED(view_markup, "page.html");
EMBED(view_data, "data.js");
EMBED(view_model, "model.js");
EMBED(view_draw, "draw.js");
EMBED(view_panels, "panels.js");
EMBED(view_input, "input.js");

static void put_base64(output *out, const bytes *from) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t i;
  for (i = 0; i < from->size; i += 3) {
    size_t left = from->size - i;
    uint32_t three = (uint32_t)from->data[i] << 16 | (left > 1 ? (uint32_t)from->data[i + 1] << 8 : 0) |
                     (left > 2 ? from->data[i + 2] : 0u);
    uint8_t *to = bytes_room(&out->block, 4);
    to[0] = (uint8_t)digits[three >> 18];
    to[1] = (uint8_t)digits[three >> 12 & 63];
    to[2] = left > 1 ? (uint8_t)digits[three >> 6 & 63] : '=';
    to[3] = left > 2 ? (uint8_t)digits[three & 63] : '=';
    out->block.size += 4;
    output_check(out);
  }
}

/* Joins texts that become the content of an element. */
static bytes join(const char *const *texts, size_t count) {
  bytes all = {0};
  size_t i;
  for (i = 0; i < count; i++) put_data(&all, texts[i], strlen(texts[i]));
  return all;
}

/* A source of the policy: the element with this content. */
static void put_source(output *out, const char *directive, const bytes *content) {
  uint8_t hash[32];
  bytes of = {0};
  sha256(content->data, content->size, hash);
  put_data(&of, hash, sizeof hash);
  print(out, "; %s 'sha256-", directive);
  put_base64(out, &of);
  put_byte(&out->block, '\'');
  free(of.data);
}

/* An element with compressed data; the page finds it by its name. */
static void put_element(output *out, const char *name, size_t number, const bytes *data) {
  print(out, "<script type=\"application/octet-stream\" id=\"%s%zu\">", name, number);
  put_base64(out, data);
  put_string(out, "</script>\n");
}

/* --------------------------------------------------------------------------------------------------- numbering ---- */

typedef struct page {
  output json; /* only its block is used */
  numbering *texts, *stacks;
  bool first; /* at the start of a list */
} page;

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

static void begin_list(page *p, const char *name) {
  print(&p->json, ",\n\"%s\":[", name);
  p->first = true;
}

static void add_number(page *p, uint64_t value) {
  if (!p->first) put_byte(&p->json.block, ',');
  p->first = false;
  put_decimal(&p->json, value);
}

/* JavaScript's numbers have 53 bits, so larger ids become strings. */
static void add_id(page *p, uint64_t id) {
  if (id >> 53 == 0) {
    add_number(p, id);
    return;
  }
  print(&p->json, "%s\"%llu\"", p->first ? "" : ",", (ull)id);
  p->first = false;
}

static void add_time(page *p, int64_t time) { add_number(p, time < 0 ? 0 : (uint64_t)time); }
static void add_text(page *p, uint32_t text) { add_number(p, number_of(p->texts, text)); }
static void add_stack(page *p, uint32_t stack) { add_number(p, number_of(p->stacks, stack)); }
static void add_measure(page *p, const measure *m) {
  add_number(p, m->count);
  add_number(p, m->total);
  add_number(p, m->longest);
  add_number(p, m->unended);
}
static void end_list(page *p) { put_byte(&p->json.block, ']'); }

/* ---------------------------------------------------------------------------------------------------- contents ---- */

static void put_rows(page *p, const view *v) {
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
static void put_cuts(page *p, const view *v) {
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

static void put_details(page *p, const view *v) {
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

static void put_marks(page *p, const view *v) {
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

static void put_tasks(page *p, const view *v) {
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

static void put_latencies(page *p, const latencies *l) {
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

static void put_spans(page *p, const view *v) {
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
static void put_functions(page *p, const view *v) {
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

static void put_counters(page *p, const view *v) {
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
static void put_series(page *p, const view *v) {
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

static void put_chunks(page *p, const levels *l, unsigned class) {
  size_t i;
  for (i = 0; i < l->chunk_count; i++) {
    const chunk *c = &l->chunks[i];
    add_number(p, class);
    add_number(p, c->level);
    add_number(p, c->merged);
    add_time(p, c->begin);
    add_time(p, c->end);
    add_number(p, c->count);
  }
}

/* Stacks, as a number of frames and their indices; then frames, as function, file and line. */
static void put_stacks(page *p) {
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

static void put_texts(page *p) {
  size_t i;
  begin_list(p, "texts");
  for (i = 0; i < p->texts->count; i++) {
    if (i) put_byte(&p->json.block, ',');
    put_quoted_text(&p->json, p->texts->all[i]);
  }
  end_list(p);
}

/* How much of each table is left out. */
static void put_losses(page *p, const view *v) {
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

static void put_contents(page *p, const view *v, const char *name, int format, uint64_t events) {
  const char *base = strrchr(name, '/');
  uint64_t began = wall_at(&v->c.w->wall, v->c.base);
  char text[MOMENT_TEXT];
  base = base && base[1] ? base + 1 : name;
  put_string(&p->json, "{\"name\":");
  put_quoted(&p->json, base, strlen(base));
  print(&p->json,
        ",\"format\":\"1.%d\",\"events\":%llu,\"begin\":%lld,\"end\":%lld,\"finest\":[%u,%u],\"coarsest\":%u,"
        "\"filtered\":%s,\"recorded\":%s,\"running\":\"%s\"",
        format % 1000, (ull)events, (long long)between(v->c.base, v->c.from), (long long)v->end, v->few.finest,
        v->many.finest, v->coarsest, v->c.filter->on ? "true" : "false", v->c.recorded ? "true" : "false",
        running_text(v->c.recorded));
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
}

void numbering_free(numbering *n) {
  map_free(&n->numbers);
  free(n->all);
}

void view_page(view *v, output *out, const char *name, int format, uint64_t events) {
  page p = {0};
  bytes packed = {0}, script, style;
  const char *const scripts[] = {"\n\"use strict\";\n", view_data, view_model, view_draw, view_panels, view_input};
  const char *const styles[] = {"\n", view_style};
  size_t i, room = v->few.limit;
  p.texts = &v->texts;
  p.stacks = &v->stacks;
  v->texts.room += MOST_TEXT / 2;
  /* Logs and CPU samples give way if the tables leave too little room for slices. */
  for (;;) {
    p.json.block.size = packed.size = 0;
    put_contents(&p, v, name, format, events);
    compress_bytes(&packed, &p.json.block);
    if (packed.size <= PAGE_DATA / 4 * 3 || !v->mark_count) break;
    v->tables[TABLE_MARKS].lost += v->mark_count - v->mark_count / 2;
    v->mark_count /= 2;
  }
  /* The slices get the room that the other data leave. That data contains the list of the slices' chunks, so this
   * repeats until both fit. */
  do {
    p.json.block.size = packed.size = 0;
    v->few.limit = v->many.limit = room;
    levels_fit(&v->few);
    put_contents(&p, v, name, format, events);
    compress_bytes(&packed, &p.json.block);
    room = packed.size < PAGE_DATA ? PAGE_DATA - packed.size : 0;
  } while (room < v->few.limit);
  levels_drop(&v->few, v->coarsest);
  levels_drop(&v->many, v->coarsest);
  p.json.block.size = packed.size = 0;
  put_contents(&p, v, name, format, events);
  compress_bytes(&packed, &p.json.block);
  put_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" "
                  "content=\"default-src 'none'; base-uri 'none'; form-action 'none'");
  script = join(scripts, COUNT(scripts));
  style = join(styles, COUNT(styles));
  put_source(out, "script-src", &script);
  put_source(out, "style-src", &style);
  put_string(out, "\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>gotrace view</title>\n<style>");
  put_data(&out->block, style.data, style.size);
  put_string(out, "</style>\n</head>\n<body>\n");
  put_string(out, view_markup);
  put_element(out, "contents", 0, &packed);
  for (i = 0; i < v->few.chunk_count; i++) put_element(out, "chunk", i, &v->few.chunks[i].data);
  for (i = 0; i < v->many.chunk_count; i++) put_element(out, "chunk", v->few.chunk_count + i, &v->many.chunks[i].data);
  put_string(out, "<script>");
  put_data(&out->block, script.data, script.size);
  put_string(out, "</script>\n</body>\n</html>\n");
  free(script.data);
  free(style.data);
  free(p.json.block.data);
  free(packed.data);
}
