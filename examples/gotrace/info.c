/* info.c - gotrace info: what ran, for how long, what it waited for
 *
 * The world calls statistics_go() before each change of a goroutine's status, which adds up times by function and by
 * reason; events are counted by kind as the decoder gives them. */

#include "source.h"

#include <stdlib.h>

#define LATENCIES 10
#define SHOWN 30 /* lines of a list */

static FILE *to;               /* standard output, but standard error for the summary */
static unsigned shown = SHOWN; /* lines of a list, fewer in the summary */

typedef struct latency {
  int64_t waited, when;
  uint64_t g;
  uint32_t name;
} latency;

typedef struct statistics {
  map functions; /* by the text of the name */
  function *list;
  map reasons; /* by the text; also struct function */
  function *reason_list;
  latency worst[LATENCIES]; /* the longest first */
  unsigned worst_count;
  uint64_t kinds[256], dropped;
  uint32_t reports[SHOWN]; /* texts: what the tracer says it dropped */
  const gotrace_event_spec *specs[256];
  const input *in;
  uint64_t generations, generation; /* v2: how many; number of the last one */
} statistics;

static function *function_of(map *m, function **list, uint32_t name) {
  function *f = map_get(m, name);
  if (f) return f;
  f = keep(sizeof *f);
  f->name = name;
  f->next = *list;
  *list = f;
  map_put(m, name, f);
  return f;
}

/* Keeps the longest. */
static void note_latency(statistics *s, const goroutine *g, int64_t waited, int64_t when) {
  latency new_one = {waited, when, g->id, name_of(g)};
  unsigned i;
  if (s->worst_count == LATENCIES && waited <= s->worst[LATENCIES - 1].waited) return;
  i = s->worst_count < LATENCIES ? s->worst_count++ : LATENCIES - 1;
  for (; i > 0 && s->worst[i - 1].waited < waited; i--) s->worst[i] = s->worst[i - 1];
  s->worst[i] = new_one;
}

static void watch_kinds(void *context, const gotrace_event *e) {
  statistics *s = context;
  gotrace_decoder_info info;
  s->kinds[e->kind] += !e->implied;
  s->specs[e->kind] = e->spec;
  if (e->spec->since < GOTRACE_GO_1_22 || e->kind != GOTRACE_V2_SYNC) return;
  gotrace_decoder_get_info(s->in->decoder, &info);
  s->generations +=
      !s->generations || info.generation != s->generation; /* the last generation has a second Sync, at its end */
  s->generation = info.generation;
}

/* The tracer of gotrace.h reports what it had to drop by logs of this category. */
static void info_take(consumer *c, const op *o) {
  statistics *s = c->w->statistics;
  if (o->kind == GOTRACE_V2_USER_LOG && pool_text_is(o->name, "gotrace")) {
    if (s->dropped < SHOWN) s->reports[s->dropped] = o->value;
    s->dropped++;
  }
}

/* Goroutines older than the trace count too. Those of v1 have been counted already. */
static void info_begin(consumer *c, int64_t time) {
  goroutine *g;
  proc *p;
  for (g = c->w->live; g; g = g->next) {
    g->since = time;
    if (!g->function) statistics_go(c->w, g, time, g->status);
  }
  for (p = c->w->proc_list; p; p = p->next) p->since = time, p->running = 0;
}

static void info_end(consumer *c, int64_t time) {
  goroutine *g;
  proc *p;
  for (g = c->w->live; g; g = g->next) statistics_go(c->w, g, time, GO_NONE);
  for (p = c->w->proc_list; p; p = p->next)
    if (p->status == PROC_RUNNING || p->status == PROC_SYSCALL) p->running += (double)between(p->since, time);
}

static int by_running(const void *a, const void *b) {
  const function *x = *(function *const *)a, *y = *(function *const *)b;
  double of_x = x->running + x->blocked, of_y = y->running + y->blocked;
  if (x->running < y->running || x->running > y->running) return x->running < y->running ? 1 : -1;
  return of_x < of_y ? 1 : of_x > of_y ? -1 : 0;
}

static int by_proc(const void *a, const void *b) {
  const proc *x = *(proc *const *)a, *y = *(proc *const *)b;
  return x->id < y->id ? -1 : x->id > y->id;
}

static int by_count(const void *a, const void *b) {
  const uint64_t *x = a, *y = b; /* pairs of count and kind */
  return x[0] < y[0] ? 1 : x[0] > y[0] ? -1 : x[1] < y[1] ? -1 : x[1] > y[1];
}

/* A duration with a suitable unit. */
static const char *human(double nanoseconds, char text[32]) {
  static const struct {
    double size;
    const char *name;
  } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  size_t i = 0;
  while (i < COUNT(units) && nanoseconds < units[i].size) i++;
  if (i < COUNT(units)) snprintf(text, 32, "%.3f %s", nanoseconds / units[i].size, units[i].name);
  else snprintf(text, 32, "%.0f ns", nanoseconds);
  return text;
}

/* The functions of a list, those with the most time first. */
static function **sorted_functions(function *list, size_t *count) {
  function **all;
  function *f;
  size_t i = 0;
  for (*count = 0, f = list; f; f = f->next) ++*count;
  all = resize(NULL, (*count + 1) * sizeof *all);
  for (f = list; f; f = f->next) all[i++] = f;
  qsort(all, *count, sizeof *all, by_running);
  return all;
}

static void print_name(uint32_t name, const char *unknown) {
  pool_text text = pool_text_of(name);
  const unsigned char *at = (const unsigned char *)text.data, *end = at + text.size;
  if (!text.size) fputs(unknown, to);
  for (; at < end; at++) putc(visible(*at), to);
  putc('\n', to);
}

static void info_functions(const statistics *s) {
  size_t count, i;
  function **all = sorted_functions(s->list, &count);
  char running[32], blocked[32];
  fprintf(to, "\n%10s %14s %14s  goroutines by function\n", "count", "running", "blocked");
  for (i = 0; i < count && i < shown; i++) {
    fprintf(to, "%10llu %14s %14s  ", (ull)all[i]->goroutines, human(all[i]->running, running),
            human(all[i]->blocked, blocked));
    print_name(all[i]->name, "(unknown)");
  }
  if (count > shown) fprintf(to, "%41s  %zu more\n", "", count - shown);
  free(all);
  all = sorted_functions(s->reason_list, &count);
  if (count) fprintf(to, "\n%10s %14s  blocked, by reason\n", "count", "time");
  for (i = 0; i < count && i < shown; i++) {
    fprintf(to, "%10llu %14s  ", (ull)all[i]->goroutines, human(all[i]->blocked, blocked));
    print_name(all[i]->name, "(unspecified, or blocked before the trace began)");
  }
  free(all);
}

static void info_procs(const world *w, int64_t duration) {
  proc **all = resize(NULL, (w->proc_count + 1) * sizeof *all), *p;
  size_t count = 0, i;
  char text[32];
  for (p = w->proc_list; p; p = p->next) all[count++] = p;
  qsort(all, count, sizeof *all, by_proc);
  if (count) fprintf(to, "\n%10s %14s\n", "proc", "running");
  for (i = 0; i < count && i < 10 * SHOWN; i++)
    fprintf(to, "%10llu %14s %5.1f %%\n", (ull)all[i]->id, human(all[i]->running, text),
            duration > 0 ? 100.0 * all[i]->running / (double)duration : 0);
  free(all);
}

static void info_reports(const statistics *s) {
  uint64_t i;
  if (s->dropped) fprintf(to, "\n%10llu  losses reported by the tracer\n", (ull)s->dropped);
  for (i = 0; i < s->dropped && i < SHOWN; i++) {
    fprintf(to, "%10s  ", "");
    print_name(s->reports[i], "");
  }
}

static void info_latencies(const statistics *s, int64_t first) {
  unsigned i;
  char waited[32], when[32];
  if (s->worst_count) fprintf(to, "\n%14s %14s %12s  longest scheduling latencies\n", "waited", "since", "goroutine");
  for (i = 0; i < s->worst_count; i++) {
    const latency *l = &s->worst[i];
    fprintf(to, "%14s %14s %12llu  ", human((double)l->waited, waited), human((double)between(first, l->when), when),
            (ull)l->g);
    print_name(l->name, "(unknown)");
  }
}

static void info_kinds(const statistics *s) {
  uint64_t kinds[256][2];
  size_t count = 0, i;
  for (i = 0; i < 256; i++) {
    if (!s->kinds[i]) continue;
    kinds[count][0] = s->kinds[i];
    kinds[count++][1] = i;
  }
  qsort(kinds, count, sizeof kinds[0], by_count);
  fprintf(to, "\n%10s  events by kind\n", "count");
  for (i = 0; i < count; i++) fprintf(to, "%10llu  %s\n", (ull)kinds[i][0], s->specs[kinds[i][1]]->name);
}

static void info_print(const source *s, const statistics *found, const gotrace_decoder_info *info) {
  int64_t duration = between(s->first, s->end);
  char text[32];
  fprintf(to, "%-24sGo 1.%d (v%d)\n", "format", info->format % 1000, info->family);
  fprintf(to, "%-24s%s\n", "duration", human((double)duration, text));
  fprintf(to, "%-24s%llu\n", "events", (ull)info->events);
  if (info->family == 2) fprintf(to, "%-24s%llu\n", "generations", (ull)found->generations);
  if (s->w.gomaxprocs) fprintf(to, "%-24s%llu\n", "GOMAXPROCS", (ull)s->w.gomaxprocs);
  info_reports(found);
  info_functions(found);
  if (to != stdout) return;
  info_procs(&s->w, duration);
  info_latencies(found, s->first);
  info_kinds(found);
}

void statistics_go(world *w, goroutine *g, int64_t time, uint8_t status) {
  statistics *s = w->statistics;
  int64_t passed = between(g->since, time);
  if (!g->function) {
    g->function = function_of(&s->functions, &s->list, name_of(g));
    g->function->goroutines++;
    return;
  }
  switch (g->status) {
  case GO_RUNNING: g->function->running += (double)passed; break;
  case GO_RUNNABLE:
    if (status == GO_RUNNING) note_latency(s, g, passed, g->since);
    break;
  case GO_WAITING: {
    function *reason = function_of(&s->reasons, &s->reason_list, g->reason);
    g->function->blocked += (double)passed;
    reason->blocked += (double)passed;
    reason->goroutines++;
    break;
  }
  default: break;
  }
}

static int print_info(const char *path) {
  input in;
  source s;
  consumer c;
  statistics *found = keep(sizeof *found);
  gotrace_result result;
  gotrace_decoder_info info;
  memset(&s, 0, sizeof s);
  memset(&c, 0, sizeof c);
  if (!input_open(&in, path, true)) return 1;
  c.begin = info_begin;
  c.take = info_take;
  c.end = info_end;
  c.statuses = true;
  s.w.statistics = found;
  found->in = &in;
  result = source_run(&s, &in, &c, 0, INT64_MAX, watch_kinds, found);
  gotrace_decoder_get_info(in.decoder, &info);
  erase_progress();
  if (info.format) info_print(&s, found, &info);
  if (result != GOTRACE_END_OF_TRACE) report("%s", input_error(&in));
  map_free(&found->functions);
  map_free(&found->reasons);
  source_free(&s);
  input_close(&in);
  return result != GOTRACE_END_OF_TRACE;
}

int command_info(const char *path, const settings *set) {
  (void)set;
  to = stdout;
  return print_info(path);
}

void info_summary(const char *path) {
  to = stderr;
  shown = 10;
  print_info(path);
}
