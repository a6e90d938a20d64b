/* view_lengths.c - how long what begins between two times lasts, for the page's comparison of two times
 *
 * A consumer. It counts all stretches of goroutines by state, regions and tasks by name, whether the page has rows for
 * them or not. What began before the part begins where the part does, and what goes on ends there, as in the picture;
 * what of which only the end is in the trace is left out. Percentiles are exact up to MOST_LENGTHS durations in all; of
 * more they are those of histogram.h, within 0.4 %. */

#include "view.h"

#include "../command/commands.h"
#include "../reading/filter.h"
#include "../base/histogram.h"

#include <errno.h>
#include <stdlib.h>

#ifndef MOST_LENGTHS
#define MOST_LENGTHS 4000000
#endif

typedef struct lengths_of { /* of a state, region or task */
  uint32_t kind, name;      /* as of a lane; text: its name, of a state its colour */
  histogram all;
  latencies latencies;
  int64_t *each; /* the first ones */
  size_t count, capacity;
} lengths_of;

typedef struct lengths {
  consumer c;
  int64_t from, to; /* since the trace's first event */
  map kinds;
  size_t kept; /* durations of which each is known */
} lengths;

static void add_length(lengths *l, uint32_t kind, uint32_t name, int64_t begin, int64_t end) {
  lengths_of *of;
  int64_t length;
  if (begin < l->c.from) begin = l->c.from;
  length = between(begin, end);
  begin = between(l->c.base, begin);
  if (begin < l->from || begin >= l->to) return;
  of = map_keep(&l->kinds, (uint64_t)kind << 32 | name, sizeof *of, NULL);
  of->kind = kind;
  of->name = name;
  histogram_add(&of->all, length, begin, 0);
  add_latency(&of->latencies, (uint64_t)length);
  if (l->kept == MOST_LENGTHS) return;
  GROW(of->each, of->count, of->capacity);
  of->each[of->count++] = length;
  l->kept++;
}

static void lengths_begin(consumer *c, int64_t time) { (void)c, (void)time; }

static void lengths_stretch(consumer *c, const stretch *part) {
  if (part->chosen)
    add_length((lengths *)c, LANE_GO, colour_of_state(part->status, part->reason), part->begin, part->end);
}

static void end_region(lengths *l, const user_region *r, int64_t time) {
  if (r->chosen) add_length(l, LANE_REGION, r->name, r->begin, time);
}

static void end_regions(lengths *l, const goroutine *g, int64_t time) {
  uint32_t i;
  for (i = 0; g->regions && i < g->regions->count; i++) end_region(l, &g->regions->open[i], time);
}

static void end_task(lengths *l, const user_task *t, int64_t time) {
  if (t && t->open && t->chosen) add_length(l, LANE_TASK, t->name, t->begin, time);
}

static void lengths_take(consumer *c, const op *o) {
  lengths *l = (lengths *)c;
  const user_region *ends = o->kind == GOTRACE_V2_USER_REGION_END ? ending_region(o) : NULL;
  if (ends) end_region(l, ends, o->time);
  if (ends_go(o->kind) && o->m && o->m->g) end_regions(l, o->m->g, o->time);
  if (o->kind == GOTRACE_V2_USER_TASK_END && !o->ends_again) end_task(l, map_get(&c->w->tasks, o->id), o->time);
}

static void lengths_finish(consumer *c, int64_t time) {
  lengths *l = (lengths *)c;
  goroutine *g;
  size_t i;
  for (g = c->w->live; g; g = g->next) end_regions(l, g, time);
  for (i = 0; i < c->w->tasks.count; i++) end_task(l, c->w->tasks.values[i], time);
}

/* ------------------------------------------------------------------------------------------------------ output ---- */

static int by_length(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* `of->each` is sorted. */
static int64_t length_at(const lengths_of *of, unsigned percent) {
  if (of->count < of->all.count) return histogram_percentile(&of->all, percent / 100.0);
  return of->each[(of->count * percent + 99) / 100 - 1];
}

static void put_lengths(output *out, lengths_of *of) {
  static const char *const kinds[] = {[LANE_GO] = "state", [LANE_REGION] = "region", [LANE_TASK] = "task"};
  const char *comma = "";
  unsigned b;
  if (of->count) qsort(of->each, of->count, sizeof *of->each, by_length);
  print(out, "{\"kind\":\"%s\",\"name\":", kinds[of->kind]);
  if (of->kind == LANE_GO) print(out, "%u", of->name);
  else put_quoted_text(out, of->name);
  print(out,
        ",\"count\":%llu,\"total\":%llu,\"exact\":%s,\"p50\":%lld,\"p90\":%lld,\"p99\":%lld,\"longest\":%lld,"
        "\"buckets\":[",
        (ull)of->all.count, (ull)of->all.total, of->count < of->all.count ? "false" : "true",
        (long long)length_at(of, 50), (long long)length_at(of, 90), (long long)length_at(of, 99),
        (long long)of->all.longest);
  if (!of->latencies.counts) print(out, "[%u,%u]", of->latencies.bucket, of->latencies.few);
  for (b = 0; of->latencies.counts && b < BUCKETS; b++) {
    if (!of->latencies.counts[b]) continue;
    print(out, "%s[%u,%u]", comma, b, of->latencies.counts[b]);
    comma = ",";
  }
  put_string(out, "]}");
}

/* Reads FROM-TO. */
static void parse_span(lengths *l, const char *text) {
  const char *at = text;
  int64_t *const ends[] = {&l->from, &l->to};
  unsigned i;
  for (i = 0; i < COUNT(ends); i++) {
    char *end;
    errno = 0;
    *ends[i] = strtoll(at, &end, 10);
    if (*at < '0' || *at > '9' || errno || *end != (i ? '\0' : '-')) usage("invalid value '%s' for --lengths", text);
    at = end + 1;
  }
}

int view_lengths(const char *path, const settings *set) {
  settings later = *set;
  lengths l;
  trace_part p;
  output out;
  size_t i;
  memset(&l, 0, sizeof l);
  parse_span(&l, set->lengths);
  if (!part_open(&p, path, set)) return 1;
  l.c.begin = lengths_begin;
  l.c.take = lengths_take;
  l.c.stretch = lengths_stretch;
  l.c.end = lengths_finish;
  l.c.statuses = l.c.history = l.c.all = l.c.later = true;
  l.c.filter = &p.selection;
  /* Reading begins at `from`, perhaps at an index. What goes on there is not counted, so it may begin a moment before.
   */
  later.from = moment_resolve(set->from, &p.in);
  if (later.from < l.from) later.from = l.from - 1;
  part_read(&p, &l.c, &later, NULL, NULL);
  filter_require(&p.selection, &p.s.w);
  output_open(&out, set->output);
  put_string(&out, "[");
  for (i = 0; i < l.kinds.count; i++) {
    lengths_of *of = l.kinds.values[i];
    if (i) put_string(&out, ",\n");
    put_lengths(&out, of);
    histogram_free(&of->all);
    free(of->each);
  }
  put_string(&out, "]\n");
  output_close(&out);
  map_free(&l.kinds);
  part_close(&p);
  return 0;
}
