/* view.c - gotrace view: a page that shows the trace
 *
 * A consumer. Stretches of goroutines become slices of the goroutine's row; while it runs, also of its proc's and its
 * thread's row. Regions are rows below their goroutine, one for each line. Tasks of the same name share rows as long
 * as they do not overlap. What began before the trace or part is drawn from its start on, and its row says since when
 * it was so. Slices go straight to view_levels.c. What stays here is small: rows, details of slices, marks, counters,
 * totals for the summary.
 *
 * With a filter, only what it selects has slices on rows of goroutines, regions and tasks, and only what it selects of
 * the program's counters is shown. What all goroutines share is that of the whole trace: procs, threads, the collector
 * and all other counters.
 *
 *     view_levels.c   slices at all levels of detail
 *     view_lengths.c  how long what begins in a time lasts
 *     view_batches.c  which threads wrote how much when
 *     view_data.c     the data, as a stream
 *     view_pack.c     slices for a page with a limit, compressed
 *     view_page.c     the page
 *     page/           its script and style
 *
 * `what` of a slice: for goroutines the index of its detail, for regions and stopped worlds the text of the name, for
 * tasks the low half of the id. `who`, 0 if unknown: of a wait the waker, on a proc or thread the goroutine, of a
 * running goroutine its proc, of a region 1 + the index of its task, of a task the high half of its id.
 *
 * All tables have a limit (most_of), since they are in the page as a whole, and the page has one. Goroutines beyond it
 * share a row with all of their function that came too late. It has no slices; procs, threads and waits refer to it. */

#include "../command/commands.h"
#include "view.h"

#include "../reading/filter.h"
#include "view_pack.h"

#include <errno.h>
#include <stdlib.h>

static const size_t most_of[TABLES] = {
    [TABLE_GOS] = MOST(200000),     [TABLE_OTHER_GOS] = MOST(200000), [TABLE_PLACES] = MOST(50000),
    [TABLE_REGIONS] = MOST(200000), [TABLE_TASK_ROWS] = MOST(200000), [TABLE_TASKS] = MOST(200000),
    [TABLE_MARKS] = MOST(200000),   [TABLE_NAMES] = MOST(20000),      [TABLE_DETAILS] = MOST(100000)};
#define MOST_FRAMES_OF_PAGE MOST(1000000) /* of all stacks */
#define MOST_SAMPLES 16384
#define MOST_SERIES 500
#define MOST_POINTS 100000
#define SKETCH_STEP 4096 /* samples of counters for a point of the picture while the page reads */

/* ------------------------------------------------------------------------------------------------------ limits ---- */

/* Takes a place in a table; false: it has none left. */
static bool take_place(view *v, unsigned which) {
  if (v->tables[which].count == most_of[which]) return false;
  v->tables[which].count++;
  return true;
}

static uint32_t others_name(void) { return pool_put_string("(others)"); }

/* The name under which totals are kept in a map: itself, or that of the others. `key`: | name is that of the map. */
static uint32_t name_of_totals(view *v, const map *of, uint64_t key, uint32_t name) {
  if (map_get(of, key | name)) return name;
  if (take_place(v, TABLE_NAMES)) {
    number_of(&v->texts, name);
    return name;
  }
  v->tables[TABLE_NAMES].lost++;
  return others_name();
}

static size_t text_cost(uint32_t text) { return pool_text_of(text).size + 3; }

static size_t stack_cost(uint32_t stack) { return pool_stack_of(stack).count + 1; }

static void begin_numbering(view *v) {
  v->texts.cost = text_cost;
  v->texts.room = MOST_TEXT / 2;
  number_of(&v->texts, 0);
  v->texts.left_out = number_of(&v->texts, pool_put_string("(left out)"));
  v->stacks.cost = stack_cost;
  v->stacks.room = MOST_FRAMES_OF_PAGE;
  number_of(&v->stacks, 0);
}

/* -------------------------------------------------------------------------------------------------------- rows ---- */

static uint32_t add_row(view *v, uint32_t kind, uint64_t id, uint32_t name) {
  row *r;
  if (v->row_count >= UINT32_MAX - 2) fail("too many goroutines for a page; choose a part by --from and --to");
  GROW(v->rows, v->row_count, v->row_capacity);
  r = &v->rows[v->row_count];
  memset(r, 0, sizeof *r);
  r->lane = lane_new((uint32_t)v->row_count);
  r->kind = kind;
  r->id = id;
  r->name = name;
  r->begin = r->since = -1;
  number_of(&v->texts, name);
  return (uint32_t)++v->row_count;
}

static levels *levels_of(view *v, const row *r) {
  return r->kind == LANE_GO || r->kind == LANE_REGION || r->kind == LANE_TASK ? &v->many : &v->few;
}

/* `place`: 1 + the row; 0: none. */
static void add_slice(view *v, uint32_t place, int64_t begin, int64_t end, unsigned colour, uint32_t what,
                      uint32_t who) {
  slice s = {between(v->c.base, begin), between(v->c.base, end), colour, what, who};
  row *r = place ? &v->rows[place - 1] : NULL;
  if (!r || !r->lane) return;
  if (s.begin < r->end) s.begin = r->end; /* a hostile trace may have any times */
  if (s.end < s.begin) return;
  if (r->begin < 0) r->begin = s.begin;
  r->end = s.end;
  lane_add(levels_of(v, r), r->lane, &s);
}

/* Its colour is that of its name in the page, not in the pool, which may have texts that are not shown. */
static void add_named_slice(view *v, uint32_t place, int64_t begin, int64_t end, uint32_t name, uint32_t more) {
  uint32_t number = number_of(&v->texts, name);
  add_slice(v, place, begin, end, number % COLOURS, number, more);
}

static void end_row(view *v, uint32_t place) {
  row *r = place ? &v->rows[place - 1] : NULL;
  if (!r) return;
  if (r->lane) lane_end(levels_of(v, r), r->lane);
  r->lane = NULL;
}

/* When something began that is drawn from the start of the part on; -1: it began in the part. In a file with only a
 * later part of a trace, what is older than the file seems to begin with the trace. */
static int64_t since_of(const view *v, int64_t begin) {
  if (begin >= v->c.from) return -1;
  return v->later && begin <= v->c.base ? UNKNOWN_BEGIN : between(v->c.base, begin);
}

static view_go *view_of(view *v, const goroutine *g) { return SIDE(view_go, &v->gos, g->number); }

/* The row that stands for goroutines of a function. */
static uint32_t row_of_others(view *v, uint32_t function) {
  uint32_t *place;
  if (v->others.count >= most_of[TABLE_NAMES] && !map_get(&v->others, function)) function = others_name();
  place = map_keep(&v->others, function, sizeof *place, NULL);
  return *place ? *place : (*place = add_row(v, LANE_OTHERS, 0, function));
}

static uint32_t row_of_go(view *v, const goroutine *g) {
  uint32_t *place = &view_of(v, g)->row;
  bool selected;
  if (*place) return *place;
  selected = filter_goroutine(v->c.filter, g);
  if (take_place(v, selected ? TABLE_GOS : TABLE_OTHER_GOS)) return *place = add_row(v, LANE_GO, g->id, name_of(g));
  v->tables[TABLE_GOS].lost += selected;
  return *place = row_of_others(v, name_of(g));
}

static bool has_slices(const view *v, uint32_t place) { return v->rows[place - 1].kind != LANE_OTHERS; }

/* A goroutine ends, or another one gets its record. */
static void forget_row(view *v, const goroutine *g) {
  view_go *of = view_of(v, g);
  of->row = 0;
  of->counted = false;
}

#define NO_ROW UINT32_MAX

/* `place`: of a proc or thread in a side array. Returns 0 if it has no row. */
static uint32_t row_of_place(view *v, uint32_t *place, uint32_t kind, uint64_t id) {
  if (!*place && take_place(v, TABLE_PLACES)) *place = add_row(v, kind, id, 0);
  else if (!*place) v->tables[TABLE_PLACES].lost++, *place = NO_ROW;
  return *place == NO_ROW ? 0 : *place;
}

static uint32_t row_of_proc(view *v, const proc *p) {
  return row_of_place(v, SIDE(uint32_t, &v->procs, p->number), LANE_PROC, p->id);
}

static uint32_t row_of_thread(view *v, const thread *m) {
  return row_of_place(v, SIDE(uint32_t, &v->threads, m->number), LANE_THREAD, m->id);
}

/* --------------------------------------------------------------------------------------------------- stretches ---- */

static unsigned colour_of_reason(uint32_t reason) {
  if (pool_text_contains(reason, "network") || pool_text_contains(reason, "IO wait")) return BLOCKED_NETWORK;
  if (pool_text_contains(reason, "chan") || pool_text_contains(reason, "select") || pool_text_contains(reason, "pipe"))
    return BLOCKED_CHANNEL;
  if (pool_text_contains(reason, "sync")) return BLOCKED_SYNC;
  if (pool_text_contains(reason, "sleep")) return SLEEPING;
  return BLOCKED;
}

/* Adds a detail; returns 1 + its index. If there are too many, one without a stack stands for it, or else one without a
 * reason. */
static uint32_t new_detail(view *v, unsigned status, uint32_t reason, uint32_t stack);

static uint32_t detail_of(view *v, unsigned status, uint32_t reason, uint32_t stack) {
  uint64_t key = (uint64_t)status << 61 ^ (uint64_t)reason << 32 ^ stack;
  struct known_detail *known = &v->known_details[(key ^ key >> 29) % COUNT(v->known_details)];
  uint32_t place;
  if (known->place && known->key == key) return known->place - 1;
  place = (uint32_t)(uintptr_t)map_get(&v->detail_places, key);
  if (!place) {
    place = new_detail(v, status, reason, stack);
    map_put(&v->detail_places, key, (void *)(uintptr_t)place);
  }
  known->key = key; /* new_detail() may have used the same entry */
  known->place = place;
  return place - 1;
}

unsigned colour_of_state(unsigned status, uint32_t reason) {
  static const unsigned colours[] = {[GO_RUNNABLE] = RUNNABLE, [GO_RUNNING] = RUNNING, [GO_SYSCALL] = IN_SYSCALL};
  return status == GO_WAITING ? colour_of_reason(reason) : colours[status];
}

static uint32_t new_detail(view *v, unsigned status, uint32_t reason, uint32_t stack) {
  detail *d;
  if ((stack || reason) && !take_place(v, TABLE_DETAILS)) {
    v->tables[TABLE_DETAILS].lost++;
    return detail_of(v, status, stack ? reason : 0, 0) + 1;
  }
  GROW(v->details, v->detail_count, v->detail_capacity);
  d = &v->details[v->detail_count++];
  memset(d, 0, sizeof *d);
  d->colour = colour_of_state(status, reason);
  d->reason = reason;
  d->stack = stack;
  return (uint32_t)v->detail_count;
}

/* Four buckets for each power of 2. */
static unsigned bucket_of(uint64_t value) {
  unsigned power = value < 8 ? 0 : 61 - (unsigned)__builtin_clzll(value); /* leaves three bits of the value */
  unsigned bucket = power ? power * 4 + (unsigned)(value >> power) : (unsigned)value;
  return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

/* A hostile trace may have a name per few bytes, so a name with few durations takes little memory. */
void add_latency(latencies *l, uint64_t length) {
  unsigned bucket = bucket_of(length);
  if (!l->counts && (!l->few || l->bucket == bucket)) {
    l->bucket = bucket;
    l->few++;
    return;
  }
  if (!l->counts) {
    l->counts = keep(BUCKETS * sizeof *l->counts);
    l->counts[l->bucket] = l->few;
  }
  l->counts[bucket]++;
}

static totals *totals_of(view *v, row *r) {
  uint32_t name;
  totals *t;
  if (r->function) return v->functions.values[r->function - 1];
  name = name_of_totals(v, &v->functions, 0, r->name);
  t = map_keep(&v->functions, name, sizeof *t, NULL);
  t->name = name;
  r->function = (uint32_t)map_index(&v->functions, name) + 1;
  return t;
}

static void measure_add(measure *m, uint64_t length, bool ended) {
  m->count++;
  m->unended += !ended;
  m->total += length;
  if (length > m->longest) m->longest = length;
}

static void count_stretch(view *v, const stretch *part, detail *d, row *r) {
  uint64_t length = (uint64_t)between(part->begin, part->end);
  view_go *of = view_of(v, part->g);
  totals *t = totals_of(v, r);
  t->goroutines += !of->counted;
  of->counted = true;
  measure_add(&t->all[d->colour], length, part->by != NULL);
  add_latency(&t->latencies[d->colour], length);
  measure_add(&d->all, length, part->by != NULL);
}

static void count_span(view *v, uint32_t kind, uint32_t name, int64_t begin, int64_t end) {
  uint64_t length = (uint64_t)between(begin, end), of = (uint64_t)kind << 32;
  span_totals *t;
  name = name_of_totals(v, &v->spans, of, name);
  t = map_keep(&v->spans, of | name, sizeof *t, NULL);
  t->kind = kind;
  t->name = name;
  measure_add(&t->all, length, true);
  add_latency(&t->latencies, length);
}

/* Adds a stretch to its goroutine's row. */
static void draw_stretch(view *v, const stretch *part, uint32_t place) {
  goroutine *g = part->g;
  /* The stack of the waker or creator, as in the profiles of `go tool trace`; mostly the goroutine itself has none. */
  uint32_t stack = part->status == GO_RUNNABLE ? part->cause : part->stack;
  uint32_t what = detail_of(v, part->status, part->reason, stack), who = 0;
  detail *d = &v->details[what];
  thread *m = part->status == GO_RUNNING ? g->m : NULL;
  count_stretch(v, part, d, &v->rows[place - 1]);
  if (!has_slices(v, place)) return;
  if (v->rows[place - 1].begin < 0) v->rows[place - 1].since = since_of(v, g->since);
  if (m && m->p) who = row_of_proc(v, m->p);
  if (part->status == GO_WAITING && part->by && part->by->m && part->by->m->g) who = row_of_go(v, part->by->m->g);
  add_slice(v, place, part->begin, part->end, d->colour, what, who);
}

static void view_stretch(consumer *c, const stretch *part) {
  view *v = (view *)c;
  goroutine *g = part->g;
  thread *m = part->status == GO_RUNNING || part->status == GO_SYSCALL ? g->m : NULL;
  uint32_t place = row_of_go(v, g);
  unsigned colour = OTHERS;
  if (part->chosen) {
    draw_stretch(v, part, place);
    colour = (v->rows[place - 1].function - 1) % (v->c.filter->on ? OTHERS : COLOURS);
  }
  if (m && part->status == GO_RUNNING && m->p)
    add_slice(v, row_of_proc(v, m->p), part->begin, part->end, colour, 0, place);
  if (m) add_slice(v, row_of_thread(v, m), part->begin, part->end, colour, 0, place);
  if (part->next != GO_NONE || !part->by) return;
  if (has_slices(v, place)) end_row(v, place);
  forget_row(v, g);
}

/* ---------------------------------------------------------------------------------------------------- counters ---- */

static bool differ(const point *a, const point *b) { return memcmp(a->values, b->values, sizeof a->values) != 0; }

static bool is_apart(const curves *c, const series *s, int64_t time) {
  return !s->count || time - s->points[s->count - 1].time >= c->step;
}

/* Adds a point, for which there is room if it is not merged with the last one, and for one before it: two points closer
 * than the step become one, with the greater values, after which the later values follow. */
static void put_point(const curves *c, series *s, point p) {
  point *last = s->count ? &s->points[s->count - 1] : NULL;
  bool apart = is_apart(c, s, p.time);
  unsigned i;
  if (last && apart && differ(&s->latest, last)) {
    last[1] = s->latest;
    last[1].time = last->time + c->step;
    s->count++;
  }
  s->latest = p;
  if (apart) s->points[s->count++] = p;
  for (i = 0; !apart && i < COUNTERS; i++)
    if (p.values[i] > last->values[i]) last->values[i] = p.values[i];
}

/* Doubles the step. Each point that is put before another one has taken the place of a merged one. */
static void thin(curves *c, int64_t now) {
  size_t i, from;
  c->step = c->step ? 2 * c->step : now / (int64_t)c->most + 1;
  for (c->points = 0, i = 0; i < c->count; i++) {
    series *s = &c->all[i];
    size_t count = s->count;
    point latest = s->latest;
    for (s->count = 0, from = 0; from < count; from++) put_point(c, s, s->points[from]);
    s->latest = latest;
    c->points += s->count;
  }
}

static void add_point(curves *c, series *s, point p) {
  while (c->points >= c->most && is_apart(c, s, p.time)) thin(c, p.time);
  if (s->count + 3 > s->capacity) { /* one is added at the end */
    s->capacity = s->capacity ? 2 * s->capacity : 16;
    s->points = resize(s->points, s->capacity * sizeof *s->points);
  }
  c->points -= s->count;
  put_point(c, s, p);
  c->points += s->count;
}

/* At the end: the values after the last points. */
static void end_series(const curves *c, int64_t end) {
  size_t i;
  for (i = 0; i < c->count; i++) {
    series *s = &c->all[i];
    point *last = &s->points[s->count - 1];
    int64_t next = last->time + c->step;
    if (!differ(&s->latest, last)) continue;
    last[1] = s->latest;
    last[1].time = next < end ? next : end;
    s->count++;
  }
}

static series *new_series(curves *c, uint32_t name) {
  GROW(c->all, c->count, c->capacity);
  c->all[c->count] = (series){.name = name};
  return &c->all[c->count++];
}

#if IN_BROWSER
__attribute__((import_module("page"), import_name("sketch"))) void page_sketch(double time, double running,
                                                                               double runnable);

/* Gives the page the greatest counts since the last call now and then, for a picture while it reads. */
static void sketch(view *v) {
  static const unsigned which[] = {COUNT_RUNNING, COUNT_RUNNABLE};
  unsigned i;
  for (i = 0; i < COUNT(which); i++)
    if (v->now.values[which[i]] > v->sketched[i]) v->sketched[i] = v->now.values[which[i]];
  if (++v->samples % SKETCH_STEP) return;
  page_sketch((double)v->now.time, v->sketched[0], v->sketched[1]);
  v->sketched[0] = v->sketched[1] = 0;
}
#else
#define sketch(v) ((void)(v))
#endif

/* Records the counters of the trace at a time. */
static void sample_counters(view *v, int64_t time) {
  v->now.time = between(v->c.base, time);
  sketch(v);
  add_point(&v->of_trace, v->of_trace.count ? v->of_trace.all : new_series(&v->of_trace, 0), v->now);
}

/* Records a value of the program's counter. */
static void add_count(view *v, const user_counter *counter, int64_t time, double value) {
  uint32_t *at = SIDE(uint32_t, &v->counters, counter->number);
  if (!*at && v->of_program.count < MOST_SERIES) {
    new_series(&v->of_program, counter->name);
    *at = (uint32_t)v->of_program.count;
  }
  if (*at) add_point(&v->of_program, &v->of_program.all[*at - 1], (point){between(v->c.base, time), {value}});
  else v->tables[TABLE_COUNTS].lost++;
}

static void free_series(curves *c) {
  size_t i;
  for (i = 0; i < c->count; i++) free(c->all[i].points);
  free(c->all);
}

/* The counter of the goroutines with this status; COUNTERS: none. */
static unsigned counter_of(unsigned status) {
  return status == GO_RUNNING    ? COUNT_RUNNING
         : status == GO_RUNNABLE ? COUNT_RUNNABLE
         : status == GO_WAITING  ? COUNT_BLOCKED
                                 : COUNTERS;
}

static void count_change(view *v, unsigned from, unsigned to) {
  from = counter_of(from), to = counter_of(to);
  if (from < COUNTERS && v->now.values[from] > 0) v->now.values[from]--;
  if (to < COUNTERS) v->now.values[to]++;
}

static bool in_use(unsigned proc_status) { return proc_status == PROC_RUNNING || proc_status == PROC_SYSCALL; }

/* Updates the counters for an operation that is not yet applied. */
static void count_op(view *v, const op *o) {
  const goroutine *g = appears(o->kind) ? NULL : subject_of(v->c.w, o);
  const proc *p = names_proc(o->kind) ? world_proc(v->c.w, o->id, false) : o->m ? o->m->p : NULL;
  bool used = p && in_use(p->status);
  switch (o->kind) {
  case GOTRACE_V2_PROC_STATUS:
  case GOTRACE_V2_PROC_START:
  case GOTRACE_V2_PROC_STOP:
  case GOTRACE_V2_PROC_STEAL: v->now.values[COUNT_PROCS] += in_use(status_after(o)) - used; break;
  case GOTRACE_V2_HEAP_ALLOC: v->now.values[COUNT_HEAP] = (double)o->a[0]; break;
  case GOTRACE_V2_HEAP_GOAL: v->now.values[COUNT_GOAL] = (double)o->a[0]; break;
  case GOTRACE_V2_GO_DESTROY_SYSCALL: v->now.values[COUNT_PROCS] -= g && used; /* fall through */
  default:
    if (!changes_go(o->kind) || o->kind == GOTRACE_V2_GO_CREATE_SYSCALL) return; /* no counter has it */
    count_change(v, g ? g->status : GO_NONE, status_after(o));
    break;
  }
  sample_counters(v, o->time);
}

/* ----------------------------------------------------------------------------------- regions, tasks, collector ---- */

/* 0: there are too many. */
static uint32_t region_row(view *v, const goroutine *g, uint32_t kind) {
  uint32_t parent = row_of_go(v, g), place = take_place(v, TABLE_REGIONS) ? add_row(v, kind, g->id, 0) : 0;
  if (place) v->rows[place - 1].parent = parent;
  return place;
}

static view_task *view_of_task(view *v, const user_task *t) { return SIDE(view_task, &v->tasks, t->number); }

/* 1 + the index of a task's record; 0: none. */
static uint32_t record_of(view *v, uint64_t id) {
  const user_task *t = id ? map_get(&v->c.w->tasks, id) : NULL;
  return t ? view_of_task(v, t)->record : 0;
}

/* `by_event`: false if the goroutine or the trace ends. */
static void end_region(view *v, const goroutine *g, const user_region *r, int64_t time, bool by_event) {
  view_go *of = view_of(v, g);
  int64_t begin = r->begin < v->c.from ? v->c.from : r->begin;
  row *on;
  if (!r->chosen) return;
  if (by_event) count_span(v, LANE_REGION, r->name, begin, time);
  if (!has_slices(v, row_of_go(v, g))) return;
  while (of->region_count <= r->line) {
    GROW(of->regions, of->region_count, of->region_capacity);
    of->regions[of->region_count++] = region_row(v, g, LANE_REGION);
  }
  if (!of->regions[r->line]) {
    v->tables[TABLE_REGIONS].lost++;
    return;
  }
  on = &v->rows[of->regions[r->line] - 1];
  if (on->begin < 0) on->since = since_of(v, r->begin);
  add_named_slice(v, of->regions[r->line], begin, time, r->name, record_of(v, r->task));
}

/* A region of which only the end is in the trace. It encloses all earlier ones of the goroutine. */
static void end_early_region(view *v, const goroutine *g, const op *o) {
  uint32_t parent = row_of_go(v, g), place;
  int64_t begin = v->rows[parent - 1].begin;
  if (!has_slices(v, parent)) return;
  begin = begin < 0 ? g->since : v->c.base + begin;
  place = region_row(v, g, LANE_EARLY);
  if (!place) {
    v->tables[TABLE_REGIONS].lost++;
    return;
  }
  v->rows[place - 1].since = UNKNOWN_BEGIN;
  add_named_slice(v, place, begin < v->c.from ? v->c.from : begin, o->time, o->name, record_of(v, o->id));
  end_row(v, place);
}

/* Ends all regions of a goroutine. `over`: the trace or part ends. */
static void end_regions(view *v, const goroutine *g, int64_t time, bool over) {
  view_go *of = view_of(v, g);
  uint32_t i, count = g->regions ? g->regions->count : 0;
  while (count--) {
    const user_region *r = &g->regions->open[count];
    end_region(v, g, r, time, false);
    if (over && r->chosen && has_slices(v, row_of_go(v, g)) && of->regions[r->line])
      v->rows[of->regions[r->line] - 1].open = true;
  }
  for (i = 0; i < of->region_count; i++) end_row(v, of->regions[i]);
  free(of->regions);
  of->regions = NULL;
  of->region_count = of->region_capacity = 0;
}

/* The rows for tasks of one name. A row is free while no task is on it. */
typedef struct task_rows {
  uint32_t *free, *all;
  size_t count, capacity, all_count, all_capacity;
} task_rows;

static task_rows *task_rows_of(view *v, uint32_t name) {
  return map_keep(&v->task_rows, name, sizeof(task_rows), NULL);
}

/* 0: there are too many. */
static uint32_t new_task_row(view *v, uint32_t name) {
  task_rows *rows = task_rows_of(v, name);
  if (!take_place(v, TABLE_TASK_ROWS)) return 0;
  GROW(rows->all, rows->all_count, rows->all_capacity);
  rows->all[rows->all_count] = add_row(v, LANE_TASK, rows->all_count, name);
  return rows->all[rows->all_count++];
}

/* `time`: when it is drawn from. */
static void begin_task(view *v, const user_task *t, uint64_t parent, uint32_t name, int64_t time) {
  task_rows *rows = task_rows_of(v, name);
  view_task *of = view_of_task(v, t);
  of->row = rows->count ? rows->free[--rows->count] : new_task_row(v, name);
  of->record = 0;
  if (!of->row || !take_place(v, TABLE_TASKS)) {
    v->tables[of->row ? TABLE_TASKS : TABLE_TASK_ROWS].lost++;
    return;
  }
  GROW(v->task_records, v->task_record_count, v->task_record_capacity);
  time = between(v->c.base, time);
  v->task_records[v->task_record_count] = (task_record){t->id, record_of(v, parent), of->row - 1, time, time};
  of->record = (uint32_t)++v->task_record_count;
}

static void draw_task(view *v, const user_task *t, int64_t begin, int64_t time) {
  const view_task *of = view_of_task(v, t);
  if (!of->row) return;
  add_slice(v, of->row, begin, time, (unsigned)(t->id % COLOURS), (uint32_t)t->id, (uint32_t)(t->id >> 32));
  if (of->record) v->task_records[of->record - 1].end = between(v->c.base, time);
}

/* Call it before the end is applied. */
static void end_task(view *v, const user_task *t, int64_t time) {
  task_rows *rows = task_rows_of(v, t->name);
  draw_task(v, t, t->begin < v->c.from ? v->c.from : t->begin, time);
  if (!view_of_task(v, t)->row) return;
  GROW(rows->free, rows->count, rows->capacity);
  rows->free[rows->count++] = view_of_task(v, t)->row;
}

/* A task of which only the end is in the trace. No other one can share its row. */
static void end_early_task(view *v, const op *o) {
  const user_task *t = world_task(v->c.w, o->id);
  task_rows *rows = task_rows_of(v, o->name);
  size_t unused = rows->count;
  rows->count = 0;
  begin_task(v, t, 0, o->name, v->c.from);
  rows->count = unused;
  if (!view_of_task(v, t)->row) return;
  v->rows[view_of_task(v, t)->row - 1].since = UNKNOWN_BEGIN;
  draw_task(v, t, v->c.from, o->time);
}

static void add_mark(view *v, int64_t time, const goroutine *of, bool log, uint32_t name, uint32_t value,
                     uint32_t in_task) {
  uint32_t place = of ? row_of_go(v, of) : 0;
  if (place && !has_slices(v, place)) place = 0;
  if (!take_place(v, TABLE_MARKS)) {
    v->tables[TABLE_MARKS].lost++;
    return;
  }
  number_of(&v->texts, name);
  if (log) number_of(&v->texts, value);
  GROW(v->marks, v->mark_count, v->mark_capacity);
  v->marks[v->mark_count++] = (mark){between(v->c.base, time), place, name, value, in_task, log};
}

static void end_gc(view *v, int64_t time) {
  if (!v->gc_begin) return;
  if (!v->gc) v->gc = add_row(v, LANE_GC, 0, 0);
  add_slice(v, v->gc, v->gc_begin - 1, time, RUNNING, 0, 0);
  count_span(v, LANE_GC, 0, v->gc_begin - 1, time);
  v->gc_begin = 0;
}

static void end_stw(view *v, int64_t time) {
  if (!v->stw_begin) return;
  if (!v->stw) v->stw = add_row(v, LANE_STW, 0, 0);
  add_named_slice(v, v->stw, v->stw_begin - 1, time, v->stw_reason, 0);
  count_span(v, LANE_STW, v->stw_reason, v->stw_begin - 1, time);
  v->stw_begin = 0;
}

static void take_new(view *v, const op *o, goroutine *creator) {
  uint32_t parent = creator ? row_of_go(v, creator) : 0, place;
  goroutine *g = go_record(v->c.w, o->id);
  if (g->status != GO_NONE) return;
  g->entry = o->new_stack; /* for the row's name; apply() sets it again */
  forget_row(v, g);
  place = row_of_go(v, g);
  if (!has_slices(v, place)) return;
  v->rows[place - 1].parent = parent;
  v->rows[place - 1].stack = o->stack;
}

static void view_take(consumer *c, const op *o) {
  view *v = (view *)c;
  goroutine *self = o->m ? o->m->g : NULL, *of;
  const user_region *ends;
  const user_task *t;
  const user_counter *counter;
  double value;
  bool chosen = c->w->chosen;
  count_op(v, o);
  if (creates(o->kind)) take_new(v, o, self);
  if (ends_go(o->kind) && self) end_regions(v, self, o->time, false);
  switch (o->kind) {
  case GOTRACE_V2_USER_REGION_END:
    ends = ending_region(o);
    if (ends) end_region(v, self, ends, o->time, true);
    else if (self && chosen) end_early_region(v, self, o);
    break;
  case GOTRACE_V2_USER_TASK_BEGIN:
    t = world_task(c->w, o->id);
    if (chosen && !t->open) begin_task(v, t, o->a[0], o->name, o->time);
    break;
  case GOTRACE_V2_USER_TASK_END:
    if (o->ends_again) break;
    t = map_get(&c->w->tasks, o->id);
    if (t && t->open && t->chosen) {
      end_task(v, t, o->time);
      count_span(v, LANE_TASK, t->name, t->begin, o->time);
    } else if (!t && chosen) {
      end_early_task(v, o);
    }
    break;
  case GOTRACE_V2_USER_LOG:
    if (!chosen) break;
    if ((counter = told_counter(c->w, o, &value))) {
      add_count(v, counter, o->time, value);
      break;
    }
    add_mark(v, o->time, self, true, o->name, o->value, record_of(v, o->id));
    break;
  case GOTRACE_V2_CPU_SAMPLE:
    if (!chosen) break;
    of = o->a[2] ? world_go(c->w, o->a[2]) : NULL;
    add_mark(v, o->time, of, false, 0, o->stack, 0);
    break;
  case GOTRACE_V2_GC_BEGIN:
    if (!v->gc_begin) v->gc_begin = o->time + 1;
    break;
  case GOTRACE_V2_GC_END: end_gc(v, o->time); break;
  case GOTRACE_V2_STW_BEGIN:
    if (!v->stw_begin) v->stw_begin = o->time + 1, v->stw_reason = o->name;
    break;
  case GOTRACE_V2_STW_END:
    if (c->w->stw <= 1) end_stw(v, o->time);
    break;
  default: break;
  }
}

static void view_begin(consumer *c, int64_t time) {
  view *v = (view *)c;
  goroutine *g;
  proc *p;
  size_t i;
  for (g = c->w->live; g; g = g->next) count_change(v, GO_NONE, g->status);
  for (p = c->w->proc_list; p; p = p->next) v->now.values[COUNT_PROCS] += in_use(p->status);
  v->now.values[COUNT_HEAP] = (double)c->w->heap;
  v->now.values[COUNT_GOAL] = (double)c->w->heap_goal;
  if (c->w->gc) {
    v->gc_begin = time + 1;
    v->gc = add_row(v, LANE_GC, 0, 0);
    v->rows[v->gc - 1].since = UNKNOWN_BEGIN;
  }
  if (c->w->stw) {
    v->stw_begin = time + 1;
    v->stw_reason = c->w->stw_reason;
    v->stw = add_row(v, LANE_STW, 0, 0);
    v->rows[v->stw - 1].since = since_of(v, c->w->stw_since);
  }
  for (i = 0; i < c->w->tasks.count; i++) {
    const user_task *t = c->w->tasks.values[i];
    if (!t->open || !t->chosen) continue;
    begin_task(v, t, t->parent, t->name, time);
    if (view_of_task(v, t)->row) v->rows[view_of_task(v, t)->row - 1].since = since_of(v, t->begin);
  }
  for (i = 0; i < c->w->counters.count; i++) {
    const user_counter *counter = c->w->counters.values[i];
    add_count(v, counter, time, counter->value);
  }
  v->few.begin = v->many.begin = between(c->base, time);
  sample_counters(v, time);
}

static void view_finish(consumer *c, int64_t time) {
  view *v = (view *)c;
  goroutine *g;
  size_t i;
  for (g = c->w->live; g; g = g->next) end_regions(v, g, time, true);
  for (i = 0; i < c->w->tasks.count; i++) {
    const user_task *t = c->w->tasks.values[i];
    if (!t->open || !t->chosen) continue;
    end_task(v, t, time);
    if (view_of_task(v, t)->row) v->rows[view_of_task(v, t)->row - 1].open = true;
  }
  end_gc(v, time);
  end_stw(v, time);
  for (i = 0; i < v->row_count; i++) end_row(v, (uint32_t)i + 1);
  v->end = between(c->base, time);
  end_series(&v->of_trace, v->end);
  end_series(&v->of_program, v->end);
  v->coarsest = coarsest_level(between(c->from, time));
  levels_finish(&v->few);
  levels_finish(&v->many);
  v->texts.room += MOST_TEXT / 2;
}

static void view_free(view *v) {
  size_t i;
  for (i = 0; i < v->task_rows.count; i++) {
    task_rows *rows = v->task_rows.values[i];
    free(rows->free);
    free(rows->all);
  }
  free_series(&v->of_trace);
  free_series(&v->of_program);
  numbering_free(&v->texts);
  numbering_free(&v->stacks);
  map_free(&v->task_rows);
  map_free(&v->others);
  map_free(&v->detail_places);
  map_free(&v->functions);
  map_free(&v->spans);
  levels_free(&v->few);
  levels_free(&v->many);
  free(v->rows);
  free(v->details);
  free(v->marks);
  free(v->task_records);
}

static void view_read(view *v, trace_part *p, const settings *set) {
  v->c.begin = view_begin;
  v->c.take = view_take;
  v->c.stretch = view_stretch;
  v->c.end = view_finish;
  v->c.statuses = v->c.history = v->c.all = v->c.later = v->c.program = true;
  v->of_trace.most = MOST_SAMPLES;
  v->of_program.most = MOST_POINTS;
  begin_numbering(v);
  v->later = p->in.has_base;
  v->c.filter = &p->selection;
  part_read(p, &v->c, set, NULL, NULL);
  filter_require(&p->selection, &p->s.w);
  v->events = p->s.events_of_part;
}

static void set_base(input *in, const char *text) {
  char *end;
  errno = 0;
  in->base = strtoll(text, &end, 10);
  in->has_base = true;
  if (end == text || *end || errno) usage("invalid value '%s' for --base", text);
}

/* The data for the page, as a stream. */
static int view_data(const char *path, const settings *set) {
  output out;
  chunk_stream stream = {&out, 0};
  trace_part p;
  view v;
  memset(&v, 0, sizeof v);
  v.name = path;
  if (!part_open(&p, path, set)) return 1;
  if (set->base) set_base(&p.in, set->base);
  output_open(&out, set->output);
  v.few.take = v.many.take = stream_chunk;
  v.few.stream = v.many.stream = &stream;
  view_read(&v, &p, set);
  view_stream(&v, &out);
  output_close(&out);
  view_free(&v);
  part_close(&p);
  return 0;
}

#if !IN_BROWSER
/* The settings for the page's reader: it does not know this computer's time zone. */
static settings for_reader(trace_part *p, const settings *set) {
  settings resolved = *set;
  resolved.from = moment_resolve(set->from, &p->in);
  resolved.until = moment_resolve(set->until, &p->in);
  return resolved;
}

static void no_chunk(levels *l, const chunk *c, bytes *raw) {
  (void)l, (void)c;
  raw->size = 0;
}

/* Packs as much of a trace as fits. False: a page cannot have it. */
static bool pack_trace(reader_trace *t, const trace_part *p, size_t room) {
  const settings *set = &t->set;
  bool all = set->from == 0 && set->until == INT64_MAX && !p->selection.on;
  size_t kept;
  program.file = t->name; /* for messages, as below */
  kept = t->data && !set->pictures ? view_pack_trace(&t->packed, t->data, t->size, room, all) : 0;
  if (kept && kept < t->size)
    snprintf(
        t->note, sizeof t->note,
        "This page has the first %.1f of %.1f MB of the trace, since all would not fit into it. All of it: gotrace "
        "view FILE, or drop FILE on gotrace-view.html; or a larger page: gotrace view --size %.0fM -o OUT.html "
        "FILE.",
        (double)kept / 1e6, (double)t->size / 1e6,
        (double)t->packed.size / (double)kept * (double)t->size * 1.5 / 1e6 + 3);
  return kept > 0;
}

/* Reads a trace that a page contains, so that it is known to be one. */
static void read_packed(reader_trace *t, trace_part *p) {
  view v;
  memset(&v, 0, sizeof v);
  program.file = t->name;
  v.few.take = v.many.take = no_chunk;
  view_read(&v, p, &t->set);
  view_free(&v);
}

static const char *path_of_page(const settings *set) {
  return set->open && !set->output ? temporary_page() : set->output;
}

/* Writes a page with pictures of a trace. Returns its path; NULL: standard output. */
static const char *write_pictures(trace_part *p, const settings *set, const char *name) {
  const char *page;
  output out;
  view v;
  memset(&v, 0, sizeof v);
  v.name = name;
  v.few.next = &v.many;
  v.many.next = &v.few;
  v.few.limit = v.many.limit = PAGE_DATA - ((size_t)1 << 20); /* view_page() adjusts it to the size of the rest */
  v.few.part = 35;
  v.many.part = 65;
  v.few.take = v.many.take = pack_chunk;
  view_read(&v, p, set);
  pack_finish();
  page = path_of_page(set);
  output_open(&out, page);
  view_page(&v, &out);
  output_close(&out);
  view_free(&v);
  return page;
}

/* Writes a page with traces that are packed. Returns its path, likewise. */
static const char *write_packed(reader_trace *traces, trace_part *parts, size_t count, const settings *set) {
  const char *page;
  output out;
  size_t i;
  for (i = 0; i < count; i++) read_packed(&traces[i], &parts[i]);
  page = path_of_page(set);
  output_open(&out, page);
  view_page_of_traces(&out, traces, count);
  output_close(&out);
  for (i = 0; i < count; i++) {
    program.file = traces[i].name;
    if (*traces[i].note) report("%s", traces[i].note);
  }
  return page;
}

/* Nothing is written unless the traces can be read. A smaller trace leaves the room that it does not need to larger
 * ones. */
static int write_page(reader_trace *traces, trace_part *parts, size_t count, const settings *set) {
  const char *page;
  size_t room = view_room(set->size), left, i, least;
  bool packed = true;
  for (left = count; left && packed; left--) {
    for (least = count, i = 0; i < count; i++)
      if (!traces[i].packed.size && (least == count || traces[i].size < traces[least].size)) least = i;
    packed = pack_trace(&traces[least], &parts[least], room / left);
    room -= traces[least].packed.size < room ? traces[least].packed.size : room;
  }
  if (!packed && set->size)
    fail("neither all of it nor, if it can be cut, its first generation fits into a page of the given --size; what "
         "cannot be cut: a part, a filtered one, one of a pipe, one of Go 1.21 or older");
  if (count > 1 && !view_has_reader())
    fail("a page with several traces needs the reader, which this tool was built without");
  if (!packed && count > 1)
    fail("it does not fit into a page with the others; a larger one: --size BYTES; or leave out -o, to serve them");
  page = packed ? write_packed(traces, parts, count, set) : write_pictures(parts, set, traces->name);
  return page && set->open ? open_browser(page) : 0;
}

static int view_all(char **paths, size_t count, const settings *set) {
  reader_trace *traces = zeroed(count * sizeof *traces);
  trace_part *parts = zeroed(count * sizeof *parts);
  int status = 0;
  size_t i, opened;
  for (opened = 0; opened < count && part_open(&parts[opened], paths[opened], set); opened++) {
    reader_trace *t = &traces[opened];
    t->name = paths[opened];
    t->data = input_bytes(&parts[opened].in, &t->size);
    if (set->serve && !t->data) fail("a pipe cannot be shown; write a page by -o OUT");
    t->set = t->data && !set->pictures ? for_reader(&parts[opened], set) : *set;
    if (set->serve) view_find_index(t);
  }
  if (opened < count) status = 1;
  else status = set->serve ? view_serve(traces, count, set->no_open) : write_page(traces, parts, count, set);
  for (i = 0; i < opened; i++) {
    free(traces[i].packed.data);
    part_close(&parts[i]);
  }
  free(traces);
  free(parts);
  return status;
}
#endif

int command_view(char **paths, int count, const settings *set) {
  if (set->open && set->output && strcmp(set->output, "-") == 0) usage("--open shows a file, not standard output");
  if (set->size && (set->pictures || set->serve || set->data)) usage("--size is for a page with the trace in it");
  if (set->base && !set->data) usage("--base is for --data");
  if (count > 1 && (set->data || set->pictures)) usage("%s takes one FILE", set->data ? "--data" : "--pictures");
  if (count > 1 && (set->lengths || set->batches)) usage("%s takes one FILE", set->lengths ? "--lengths" : "--batches");
  if (set->lengths) return view_lengths(*paths, set);
  if (set->batches) return view_batches(*paths);
#if !IN_BROWSER
  if (!set->data) return view_all(paths, (size_t)count, set);
#endif
  return view_data(*paths, set);
}
