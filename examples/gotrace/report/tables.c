/* tables.c - the results of info as tables of named fields: see tables.h */

#include "tables.h"

#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------- writer ---- */

typedef struct writing {
  bytes *to;
  unsigned how;
  const char *file, *table;
  pool_text name, reason; /* of the row, for CSV */
  bool rows, fields;      /* the table has a row; the row has a field */
} writing;

static void put_plain(writing *w, const char *text) { put_data(w->to, text, strlen(text)); }

/* Quotes a text for JSON or CSV. */
static void put_cell(writing *w, pool_text text) {
  if (w->how & TABLES_CSV) {
    put_csv_text(w->to, text.data, text.size);
    return;
  }
  put_byte(w->to, '"');
  put_safe(w->to, TEXT_JSON, text.data, text.size);
  put_byte(w->to, '"');
}

static pool_text plain(const char *text) {
  pool_text t = {text, (uint32_t)strlen(text)};
  return t;
}

static void put_integer(writing *w, int64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)value);
  put_plain(w, text);
}

static void begin_table(writing *w, const char *name, bool single) {
  w->table = name;
  w->rows = false;
  if (w->how & TABLES_CSV) return;
  put_byte(w->to, ',');
  put_cell(w, plain(name));
  put_plain(w, single ? ":" : ":[");
}

static void end_table(writing *w, bool single) {
  if (!(w->how & TABLES_CSV) && !single) put_byte(w->to, ']');
}

static void begin_row(writing *w, pool_text name, pool_text reason) {
  w->name = name;
  w->reason = reason;
  if (!(w->how & TABLES_CSV)) put_plain(w, w->rows ? ",{" : "{");
  w->rows = true;
  w->fields = false;
}

static void end_row(writing *w) {
  if (!(w->how & TABLES_CSV)) put_byte(w->to, '}');
}

static void begin_field(writing *w, const char *name, const char *end) {
  char whole[64];
  snprintf(whole, sizeof whole, "%s%s", name, end);
  if (w->how & TABLES_CSV) {
    put_cell(w, plain(w->file));
    put_byte(w->to, ',');
    put_plain(w, w->table);
    put_byte(w->to, ',');
    put_cell(w, w->name);
    put_byte(w->to, ',');
    put_cell(w, w->reason);
    put_byte(w->to, ',');
    put_plain(w, whole);
    put_byte(w->to, ',');
    return;
  }
  if (w->fields) put_byte(w->to, ',');
  w->fields = true;
  put_cell(w, plain(whole));
  put_byte(w->to, ':');
}

static void end_field(writing *w) {
  if (w->how & TABLES_CSV) put_byte(w->to, '\n');
}

static void field(writing *w, const char *name, const char *end, int64_t value) {
  begin_field(w, name, end);
  put_integer(w, value);
  end_field(w);
}

static void unsigned_field(writing *w, const char *name, uint64_t value) {
  char text[32];
  begin_field(w, name, "");
  snprintf(text, sizeof text, "%llu", (ull)value);
  put_plain(w, text);
  end_field(w);
}

static void real_field(writing *w, const char *name, double value) {
  char text[REAL_TEXT];
  begin_field(w, name, "");
  put_plain(w, real_text(value, text));
  end_field(w);
}

static void flag_field(writing *w, const char *name, bool value) {
  begin_field(w, name, "");
  put_plain(w, value ? "true" : "false");
  end_field(w);
}

static void text_field(writing *w, const char *name, pool_text value) {
  begin_field(w, name, "");
  put_cell(w, value);
  end_field(w);
}

/* ------------------------------------------------------------------------------------------------------- rows ---- */

static int64_t since_first(const summary *sum, int64_t time) { return between(sum->s.first, time); }

typedef struct showing {
  writing *w;
  bool any;
} showing;

static void show_bucket(void *context, int64_t low, int64_t high, uint64_t count) {
  showing *s = context;
  char text[64];
  (void)low;
  snprintf(text, sizeof text, s->w->how & TABLES_CSV ? "%s%lld:%llu" : "%s[%lld,%llu]",
           s->any ? s->w->how & TABLES_CSV ? " " : "," : "", (long long)high, (ull)count);
  put_plain(s->w, text);
  s->any = true;
}

static void histogram_fields(writing *w, const summary *sum, const char *name, const histogram *h) {
  showing show = {w, false};
  field(w, name, "_count", (int64_t)h->count);
  field(w, name, "_total", (int64_t)h->total);
  if (!h->count) return;
  if (h->unended) field(w, name, "_unended", (int64_t)h->unended);
  field(w, name, "_average", (int64_t)(h->total / h->count));
  field(w, name, "_p50", histogram_percentile(h, 0.5));
  field(w, name, "_p90", histogram_percentile(h, 0.9));
  field(w, name, "_p99", histogram_percentile(h, 0.99));
  field(w, name, "_longest", h->longest);
  field(w, name, "_longest_at", since_first(sum, h->when));
  field(w, name, "_longest_goroutine", (int64_t)h->who);
  if (!(w->how & TABLES_HISTOGRAM)) return;
  begin_field(w, name, "_histogram");
  put_plain(w, w->how & TABLES_CSV ? "" : "[");
  histogram_show(h, show_bucket, &show);
  put_plain(w, w->how & TABLES_CSV ? "" : "]");
  end_field(w);
}

static void times_fields(writing *w, const times *t) {
  field(w, "running", "", t->running);
  field(w, "runnable", "", t->runnable);
  field(w, "syscall", "", t->syscall);
  field(w, "syscall_blocked", "", t->syscall_blocked);
}

static void reasons_field(writing *w, const summary *sum, const times *t) {
  uint32_t i;
  if (w->how & TABLES_CSV) {
    for (i = 0; i < t->blocked_count; i++) {
      w->reason = reason_text(sum, t->blocked[i].reason);
      field(w, "blocked", "", t->blocked[i].time);
    }
    w->reason = plain("");
    return;
  }
  begin_field(w, "blocked", "");
  for (i = 0; i < t->blocked_count; i++) {
    put_byte(w->to, i ? ',' : '{');
    put_cell(w, reason_text(sum, t->blocked[i].reason));
    put_byte(w->to, ':');
    put_integer(w, t->blocked[i].time);
  }
  put_plain(w, i ? "}" : "{}");
}

static int by_time(const void *a, const void *b) {
  const group *x = *(group *const *)a, *y = *(group *const *)b;
  int64_t of_x = known_time(&x->t), of_y = known_time(&y->t);
  if (of_x != of_y) return of_x < of_y ? 1 : -1;
  return x->count < y->count ? 1 : x->count > y->count ? -1 : by_name(x, y);
}

static void group_tables(writing *w, const summary *sum, const causes *why, const groups *all, const char *name,
                         const char *reasons) {
  group **sorted = sorted_groups(all, by_time), **at;
  const groups *functions = &sum->functions;
  uint32_t i;
  begin_table(w, name, false);
  for (at = sorted; *at; at++) {
    group *g = *at;
    begin_row(w, group_name(g), plain(""));
    text_field(w, "name", w->name);
    unsigned_field(w, "count", g->count);
    times_fields(w, &g->t);
    field(w, "blocked", "", blocked_time(&g->t));
    if (all == functions) {
      if (sum->c.recorded) field(w, "cpu", "", g->t.cpu);
      if (why->sampled.count) unsigned_field(w, "samples", samples_of(why, g->name));
      field(w, "stopped", "", stopped_time(why, g->name));
      histogram_fields(w, sum, "running", &g->running);
      histogram_fields(w, sum, "runnable", &g->runnable);
      histogram_fields(w, sum, "syscall", &g->syscall);
    } else if (all == &sum->tasks) {
      unsigned_field(w, "complete", g->complete);
      histogram_fields(w, sum, "latency", &g->whole);
      histogram_fields(w, sum, "open", &g->open);
    } else {
      histogram_fields(w, sum, "duration", &g->whole);
    }
    end_row(w);
  }
  end_table(w, false);
  begin_table(w, reasons, false);
  for (at = sorted; *at; at++) {
    group *g = *at;
    for (i = 0; all == functions && i < g->blocked_count; i++) {
      if (!g->blocked[i]) continue;
      begin_row(w, group_name(g), reason_text(sum, i));
      text_field(w, "function", w->name);
      text_field(w, "reason", w->reason);
      histogram_fields(w, sum, "blocked", g->blocked[i]);
      end_row(w);
    }
    for (i = 0; all != functions && i < g->t.blocked_count; i++) {
      begin_row(w, group_name(g), reason_text(sum, g->t.blocked[i].reason));
      text_field(w, "name", w->name);
      text_field(w, "reason", w->reason);
      field(w, "blocked", "", g->t.blocked[i].time);
      end_row(w);
    }
  }
  end_table(w, false);
  free(sorted);
}

static void trace_table(writing *w, summary *sum, const causes *why, bool complete) {
  char text[512];
  const world *w_of = &sum->s.w;
  uint64_t began = wall_at(&w_of->wall, sum->s.first);
  begin_table(w, "trace", true);
  begin_row(w, plain(""), plain(""));
  snprintf(text, sizeof text, "1.%d", sum->format % 1000);
  text_field(w, "format", plain(text));
  field(w, "family", "", sum->family);
  flag_field(w, "complete", complete);
  text_field(w, "began", plain(began ? moment_text(began, true, text) : ""));
  field(w, "duration", "", sum->duration);
  unsigned_field(w, "events", sum->events);
  unsigned_field(w, "generations", sum->generations);
  unsigned_field(w, "gomaxprocs", w_of->gomaxprocs);
  unsigned_field(w, "disordered", sum->s.disordered);
  stands_out(sum, why, text, sizeof text);
  text_field(w, "stands_out", plain(text));
  end_row(w);
}

static void reason_table(writing *w, const summary *sum) {
  uint32_t i;
  begin_table(w, "reasons", false);
  for (i = 0; i <= MOST_REASONS; i++) {
    if (!sum->reasons[i].waits.count) continue;
    begin_row(w, plain(""), reason_text(sum, i));
    text_field(w, "reason", w->reason);
    histogram_fields(w, sum, "blocked", &sum->reasons[i].waits);
    end_row(w);
  }
  end_table(w, false);
}

static void counter_table(writing *w, const summary *sum) {
  counter_summary **sorted = sorted_counters(sum), **at;
  begin_table(w, "counters", false);
  for (at = sorted; *at; at++) {
    begin_row(w, pool_text_of((*at)->name), plain(""));
    text_field(w, "name", w->name);
    unsigned_field(w, "count", (*at)->count);
    real_field(w, "least", (*at)->least);
    real_field(w, "most", (*at)->most);
    real_field(w, "last", (*at)->last);
    real_field(w, "mean", (*at)->mean);
    end_row(w);
  }
  end_table(w, false);
  free(sorted);
}

static double share(uint64_t part, int64_t of) { return of > 0 ? (double)part / (double)of : 0; }

static void collector_tables(writing *w, const summary *sum) {
  const collector *gc = &sum->gc;
  int64_t window;
  unsigned i;
  begin_table(w, "collector", true);
  begin_row(w, plain(""), plain(""));
  histogram_fields(w, sum, "collections", &gc->collections);
  histogram_fields(w, sum, "pauses", &gc->pauses);
  real_field(w, "share_paused", share(gc->pauses.total, sum->duration));
  real_field(w, "share_collecting", share(gc->collections.total, sum->duration));
  end_row(w);
  begin_table(w, "pauses", false);
  for (i = 0; i <= MOST_PAUSE_REASONS; i++) {
    if (!gc->reasons[i].pauses.count) continue;
    begin_row(w, plain(""), i == MOST_PAUSE_REASONS ? plain("(others)") : pool_text_of(gc->reasons[i].name));
    text_field(w, "reason", w->reason);
    histogram_fields(w, sum, "pauses", &gc->reasons[i].pauses);
    end_row(w);
  }
  end_table(w, false);
  begin_table(w, "utilization", false);
  for (window = 1000; window <= 1000000000; window *= 10) {
    char text[32];
    double least = minimum_utilization(gc, window);
    if (least < 0) break;
    snprintf(text, sizeof text, "%lld", (long long)window);
    begin_row(w, plain(text), plain(""));
    field(w, "window", "", window);
    real_field(w, "minimum", least);
    end_row(w);
  }
  end_table(w, false);
}

/* Frees `places`. */
static void place_table(writing *w, const char *name, timed_place *places, size_t count) {
  size_t i;
  begin_table(w, name, false);
  for (i = 0; i < count; i++) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (ull)places[i].id);
    begin_row(w, plain(text), plain(""));
    unsigned_field(w, "id", places[i].id);
    field(w, "running", "", places[i].t.running);
    field(w, "syscall", "", places[i].t.syscall);
    end_row(w);
  }
  end_table(w, false);
  free(places);
}

static void place_tables(writing *w, summary *sum) {
  size_t count;
  timed_place *places = sorted_procs(sum, &count);
  place_table(w, "procs", places, count);
  places = sorted_threads(sum, &count);
  place_table(w, "threads", places, count);
}

#define STACK_SHOWN 16 /* frames */

/* The innermost frames of a stack as "function;function", outermost first. */
static void stack_field(writing *w, const char *name, uint32_t stack) {
  pool_stack s = pool_stack_of(stack);
  bytes text = {0};
  uint32_t i = s.count < STACK_SHOWN ? s.count : STACK_SHOWN;
  while (i--) {
    pool_text function = pool_text_of(s.frames[i].function);
    put_data(&text, function.data, function.size);
    if (i) put_byte(&text, ';');
  }
  text_field(w, name, (pool_text){(const char *)text.data, (uint32_t)text.size});
  free(text.data);
}

static pool_text class_text(wait_class of) { return plain(wait_classes[of].text); }

static void finding_table(writing *w, const diagnosis *found) {
  unsigned i;
  begin_table(w, "findings", false);
  for (i = 0; i < found->count; i++) {
    const finding *f = &found->all[i];
    begin_row(w, plain(f->kind), plain(""));
    text_field(w, "kind", w->name);
    text_field(w, "text", plain(f->text));
    text_field(w, "look", plain(f->look));
    end_row(w);
  }
  end_table(w, false);
}

static void cause_tables(writing *w, const summary *sum, const causes *c) {
  wait_sum **sums = sorted_waits(c), **at;
  holder_sum **held = sorted_holders(c), **of;
  stop_sum **stopped = sorted_stops(c), **stop;
  begin_table(w, "waits", false);
  for (at = sums; *at; at++) {
    begin_row(w, pool_text_of((*at)->place), class_text((*at)->is));
    text_field(w, "class", w->reason);
    text_field(w, "place", w->name);
    histogram_fields(w, sum, "blocked", &(*at)->waits);
    end_row(w);
  }
  end_table(w, false);
  begin_table(w, "holders", false);
  for (of = held; *of; of++) {
    int64_t time;
    unsigned most = most_of(&(*of)->did, &time);
    begin_row(w, pool_text_of((*of)->holder), class_text((*of)->is));
    text_field(w, "class", w->reason);
    text_field(w, "place", pool_text_of((*of)->place));
    text_field(w, "holder", w->name);
    histogram_fields(w, sum, "blocked", &(*of)->parts);
    unsigned_field(w, "goroutine", (*of)->id);
    text_field(w, "process", pool_text_of((*of)->process));
    stack_field(w, "taken", (*of)->taken);
    stack_field(w, "released", (*of)->released);
    text_field(w, "meanwhile", plain(does_text(most, &c->c)));
    field(w, "meanwhile", "_time", time);
    end_row(w);
  }
  end_table(w, false);
  begin_table(w, "stops", false);
  for (stop = stopped; *stop; stop++) {
    begin_row(w, pool_text_of((*stop)->place), pool_text_of((*stop)->reason));
    text_field(w, "place", w->name);
    text_field(w, "reason", w->reason);
    stack_field(w, "stack", (*stop)->stack);
    histogram_fields(w, sum, "pauses", &(*stop)->pauses);
    end_row(w);
  }
  end_table(w, false);
  free(sums);
  free(held);
  free(stopped);
}

static void hot_table(writing *w, const causes *c) {
  hot_function **all = sorted_hot(&c->hot), **at;
  begin_table(w, "sampled", false);
  for (at = all; *at; at++) {
    begin_row(w, pool_text_of((*at)->name), plain(""));
    text_field(w, "name", w->name);
    unsigned_field(w, "self", (*at)->self);
    unsigned_field(w, "total", (*at)->total);
    end_row(w);
  }
  end_table(w, false);
  free(all);
}

static void other_tables(writing *w, const summary *sum) {
  uint64_t i;
  begin_table(w, "latencies", false);
  for (i = 0; i < sum->worst.count; i++) {
    const latency *l = &sum->worst.all[i];
    begin_row(w, group_name(l->function), plain(""));
    field(w, "waited", "", l->waited);
    field(w, "since", "", since_first(sum, l->when));
    unsigned_field(w, "goroutine", l->g);
    text_field(w, "function", w->name);
    end_row(w);
  }
  end_table(w, false);
  begin_table(w, "kinds", false);
  for (i = 0; i < 256; i++) {
    if (!sum->kinds[i]) continue;
    begin_row(w, plain(sum->specs[i]->name), plain(""));
    text_field(w, "kind", w->name);
    unsigned_field(w, "count", sum->kinds[i]);
    end_row(w);
  }
  end_table(w, false);
  begin_table(w, "losses", false);
  for (i = 0; i < sum->dropped && i < MOST_LOSSES; i++) {
    begin_row(w, plain(""), plain(""));
    text_field(w, "message", pool_text_of(sum->losses[i]));
    end_row(w);
  }
  end_table(w, false);
}

/* ---------------------------------------------------------------------------------------------------- details ---- */

static writing detail(output *to, const detail_tables *t, const char *table) {
  writing w = {0};
  output_check(to);
  w.to = &to->block;
  w.how = t->how;
  w.file = t->file;
  w.table = table;
  w.rows = to->block.size || to->file;
  return w;
}

static void ids_row(writing *w, const char *name, uint64_t id) {
  static char text[32];
  snprintf(text, sizeof text, "%llu", (ull)id);
  begin_row(w, plain(text), plain(""));
  unsigned_field(w, name, id);
}

static void put_times(writing *w, const summary *sum, const times *t) {
  times_fields(w, t);
  reasons_field(w, sum, t);
  end_row(w);
}

static void take_goroutine(details *d, summary *sum, const goroutine_summary *g) {
  detail_tables *t = (detail_tables *)d;
  writing w = detail(&t->goroutines, t, "goroutines");
  ids_row(&w, "id", g->g->id);
  text_field(&w, "function", pool_text_of(name_of(g->g)));
  field(&w, "created", "", since_first(sum, g->created));
  if (g->has_started) field(&w, "started", "", since_first(sum, g->started));
  if (g->has_ended) field(&w, "ended", "", since_first(sum, g->ended));
  put_times(&w, sum, &g->t);
}

static void take_region(details *d, summary *sum, const goroutine_summary *g, const open_region *r, int64_t end) {
  detail_tables *t = (detail_tables *)d;
  writing w = detail(&t->regions, t, "goroutine_regions");
  ids_row(&w, "goroutine", g->g->id);
  text_field(&w, "name", pool_text_of(r->name));
  unsigned_field(&w, "task", r->task);
  if (r->has_begun) field(&w, "begin", "", since_first(sum, r->begin));
  field(&w, "end", "", since_first(sum, end));
  flag_field(&w, "inherited", r->inherited);
  put_times(&w, sum, &r->own);
}

static void take_task(details *d, summary *sum, const task *of) {
  detail_tables *t = (detail_tables *)d;
  writing w = detail(&t->tasks, t, "task_list");
  ids_row(&w, "id", of->id);
  text_field(&w, "name", group_name(of->name));
  unsigned_field(&w, "parent", of->parent);
  if (of->begun) field(&w, "begin", "", since_first(sum, of->begin));
  if (of->ended) field(&w, "end", "", since_first(sum, of->end));
  if (task_is_open(of)) field(&w, "open", "", between(of->begin, sum->end));
  end_row(&w);
}

void detail_tables_begin(detail_tables *t, unsigned how, const char *file) {
  memset(t, 0, sizeof *t);
  t->d.goroutine = take_goroutine;
  t->d.region = take_region;
  t->d.task = take_task;
  t->how = how;
  t->file = file;
}

void detail_tables_end(detail_tables *t) {
  output_drop(&t->goroutines);
  output_drop(&t->regions);
  output_drop(&t->tasks);
}

static void detail_table(writing *w, output *out, const char *name, output *rows) {
  begin_table(w, name, false);
  output_append(out, rows);
  end_table(w, false);
}

/* ------------------------------------------------------------------------------------------------------- all ---- */

void print_csv_head(output *out) { put_string(out, "file,table,name,reason,field,value\n"); }

void print_tables(output *out, summary *sum, const causes *why, unsigned how, const char *file, bool complete,
                  detail_tables *each) {
  writing w = {0};
  w.to = &out->block;
  w.how = how;
  w.file = file;
  if (how & TABLES_JSON) {
    put_string(out, "{\"file\":");
    put_cell(&w, plain(file));
  }
  trace_table(&w, sum, why, complete);
  finding_table(&w, &why->found);
  group_tables(&w, sum, why, &sum->functions, "functions", "function_reasons");
  output_check(out);
  reason_table(&w, sum);
  cause_tables(&w, sum, why);
  hot_table(&w, why);
  group_tables(&w, sum, why, &sum->tasks, "tasks", "task_reasons");
  group_tables(&w, sum, why, &sum->regions, "regions", "region_reasons");
  counter_table(&w, sum);
  collector_tables(&w, sum);
  place_tables(&w, sum);
  other_tables(&w, sum);
  if (each) {
    detail_table(&w, out, "goroutines", &each->goroutines);
    detail_table(&w, out, "goroutine_regions", &each->regions);
    detail_table(&w, out, "task_list", &each->tasks);
  }
  if (how & TABLES_JSON) put_string(out, "}\n");
  output_check(out);
}
