/* info.c - gotrace info: what ran, for how long, what it waited for
 *
 * summary.c gathers the numbers; this file prints them as text, tables.c as JSON and CSV. */

#include "../command/commands.h"
#include "causes.h"
#include "tables.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SHOWN 30        /* most lines of a list */
#define BRIEF 5         /* the same with --brief */
#define BRIEF_WAITS 3   /* the same for reasons */
#define SHOWN_REASONS 6 /* per function */

typedef struct printer {
  FILE *to;       /* standard output; standard error for the summary */
  unsigned shown; /* lines of a list, fewer in the summary */
  unsigned waits; /* lines of the list of reasons */
  size_t width;   /* of a line; see line_width() */
  bool cut;       /* names are shortened to the width, not only to NAME_ROOM */
  bool histograms;
  bool brief; /* only what stands out, and the first lines of the first lists */
  summary *sum;
  causes *why;
  unsigned least; /* least importance of the columns that fit */
} printer;

/* ----------------------------------------------------------------------------------------------------- values ---- */

static void duration(const printer *p, int64_t nanoseconds) {
  char text[32];
  fprintf(p->to, " %11s", nanoseconds ? duration_text((double)nanoseconds, text) : "-");
}

/* `used`: width of the line so far. */
static void put_fitting(const printer *p, pool_text name, const char *unknown, size_t used) {
  size_t room = !p->cut ? NAME_ROOM : p->width > used + 16 ? p->width - used : 16;
  char shown[NAME_ROOM];
  if (!name.size) name.data = unknown, name.size = (uint32_t)strlen(unknown);
  if (room > NAME_ROOM) room = NAME_ROOM;
  print_visible(p->to, shown, shorten(name.data, name.size, room, shown));
}

/* The same at the end of a line. */
static void put_name(const printer *p, pool_text name, const char *unknown, size_t used) {
  put_fitting(p, name, unknown, used);
  putc('\n', p->to);
}

/* ------------------------------------------------------------------------------------------------- histograms ---- */

typedef struct bars {
  const printer *p;
  uint64_t most;
} bars;

static void find_most(void *context, int64_t low, int64_t high, uint64_t count) {
  bars *b = context;
  (void)low, (void)high;
  if (count > b->most) b->most = count;
}

static void print_bar(void *context, int64_t low, int64_t high, uint64_t count) {
  const bars *b = context;
  char from[32], to[32];
  unsigned length = (unsigned)(40.0 * (double)count / (double)b->most + 0.5);
  fprintf(b->p->to, "%20s to %-10s %10llu ", duration_text((double)low, from), duration_text((double)high, to),
          (ull)count);
  while (length--) putc('#', b->p->to);
  putc('\n', b->p->to);
}

static void print_histogram(const printer *p, const histogram *h) {
  bars b = {p, 0};
  if (!p->histograms || !h->count) return;
  histogram_show(h, find_most, &b);
  histogram_show(h, print_bar, &b);
}

/* -------------------------------------------------------------------------------------------- lines of tables ---- */

enum { COUNTED, TOTAL, AVERAGE, P50, P90, P99, LONGEST, AT, GOROUTINE, COLUMNS };

static const struct {
  const char *name;
  int importance; /* less important columns are left out of narrow lines */
} columns[COLUMNS] = {{"count", 9}, {"total", 8},   {"average", 2}, {"p50", 5},      {"p90", 3},
                      {"p99", 6},   {"longest", 7}, {"at", 4},      {"goroutine", 1}};

/* The least importance of the columns to show, so that 40 columns are left for names if possible. */
static unsigned fitting(size_t width) {
  int least = 1;
  while (least < 7 && 12 * (size_t)(10 - least) + 40 > width) least++;
  return (unsigned)least;
}

static bool has_column(const printer *p, unsigned c) { return columns[c].importance >= (int)p->least; }

static void spread_head(const printer *p, const char *title) {
  unsigned c;
  putc('\n', p->to);
  for (c = 0; c < COLUMNS; c++)
    if (has_column(p, c)) fprintf(p->to, "%12s", columns[c].name);
  fprintf(p->to, "  %s\n", title);
}

/* A line with count, times and longest of a histogram, then a name. */
static void spread_line(const printer *p, const histogram *h, const char *prefix, pool_text name, const char *unknown) {
  static const double shares[] = {0.5, 0.9, 0.99};
  char text[32], unended[48] = "";
  unsigned c;
  size_t used = 2 + strlen(prefix);
  for (c = 0; c < COLUMNS; c++) {
    if (!has_column(p, c)) continue;
    used += 12;
    switch (c) {
    case COUNTED: fprintf(p->to, "%12llu", (ull)h->count); break;
    case TOTAL: duration(p, (int64_t)h->total); break;
    case AVERAGE: duration(p, h->count ? (int64_t)(h->total / h->count) : 0); break;
    case LONGEST: duration(p, h->longest); break;
    case AT: fprintf(p->to, "%12s", duration_text((double)between(p->sum->s.first, h->when), text)); break;
    case GOROUTINE: fprintf(p->to, "%12llu", (ull)h->who); break;
    default: duration(p, histogram_percentile(h, shares[c - P50])); break;
    }
  }
  fprintf(p->to, "  %s", prefix);
  if (h->unended) snprintf(unended, sizeof unended, " (%llu not ended)", (ull)h->unended);
  put_fitting(p, name, unknown, used + strlen(unended));
  fprintf(p->to, "%s\n", unended);
  print_histogram(p, h);
}

#define TIMES_WIDTH 59
#define UNSEEN_WIDTH 6 /* the first column is that much wider where it is headed by more words than "running" */

static int running_pad(const printer *p) { return waits_unseen(&p->sum->c) ? UNSEEN_WIDTH : 0; }

static void running_time(const printer *p, int64_t time) {
  fprintf(p->to, "%*s", running_pad(p), "");
  duration(p, time);
}

/* `cpu`, `samples`, `stopped`: NULL: not known. While the world is stopped, nothing runs. */
static void times_line(const printer *p, uint64_t count, const int64_t *cpu, const uint64_t *samples,
                       const int64_t *stopped, const times *t) {
  fprintf(p->to, " %10llu", (ull)count);
  if (samples) fprintf(p->to, " %11llu", (ull)*samples);
  if (cpu) duration(p, *cpu);
  running_time(p, stopped ? between(*stopped, t->running) : t->running);
  if (stopped) duration(p, *stopped);
  duration(p, t->runnable);
  duration(p, plus(t->syscall, t->syscall_blocked));
  duration(p, blocked_time(t));
}

static int64_t active_time(const times *t) { return plus(plus(t->running, t->runnable), t->syscall); }

/* Groups by active time, longest first; then those that only waited. */
static int by_activity(const void *a, const void *b) {
  const group *x = *(group *const *)a, *y = *(group *const *)b;
  int64_t of_x = active_time(&x->t), of_y = active_time(&y->t);
  if (of_x != of_y) return of_x < of_y ? 1 : -1;
  of_x = blocked_time(&x->t), of_y = blocked_time(&y->t);
  if (of_x != of_y) return of_x < of_y ? 1 : -1;
  return x->count < y->count ? 1 : x->count > y->count ? -1 : by_name(x, y);
}

/* For traces of `gotrace record`: what is known to have run comes first. */
static int by_cpu_time(const void *a, const void *b) {
  const group *x = *(group *const *)a, *y = *(group *const *)b;
  return x->t.cpu < y->t.cpu ? 1 : x->t.cpu > y->t.cpu ? -1 : by_activity(a, b);
}

static void left_out(const printer *p, size_t count, unsigned shown) {
  if (count > shown) fprintf(p->to, "%11s %zu more\n", "", count - shown);
}

static const char *unknown_function(const group *g) {
  (void)g;
  return "(unknown)";
}

/* Of tasks and regions. The name of a task is in its start, which may be before the trace. */
static const char *nameless(const group *g) { return g->whole.count || g->open.count ? "(no name)" : "(unknown)"; }

/* `unknown`: what to print for a group whose name is empty. */
static void print_groups(const printer *p, const groups *all, const char *title, const char *unknown(const group *)) {
  bool recorded = p->sum->c.recorded, functions = all == &p->sum->functions, has_cpu = recorded && functions;
  bool has_stopped = functions && p->why->stopped.count && causes_complete(p->why);
  bool has_samples = functions && p->why->sampled.count && causes_complete(p->why);
  group **sorted = sorted_groups(all, has_cpu ? by_cpu_time : by_activity);
  size_t width = TIMES_WIDTH + (size_t)running_pad(p) + (has_cpu ? 12 : 0) + (has_samples ? 12 : 0) +
                 (has_stopped ? 12 : 0),
         i;
  if (*sorted)
    fprintf(p->to, "\n      count%s%s%*s%s    runnable    syscalls     blocked  %s\n",
            has_samples ? " CPU samples" : "", has_cpu ? "    CPU time" : "", 12 + running_pad(p),
            running_text(waits_unseen(&p->sum->c)), has_stopped ? "     stopped" : "", title);
  for (i = 0; sorted[i]; i++) {
    int64_t stopped = has_stopped ? stopped_time(p->why, sorted[i]->name) : 0;
    uint64_t samples = samples_of(p->why, sorted[i]->name);
    if (i >= p->shown) continue;
    times_line(p, sorted[i]->count, has_cpu ? &sorted[i]->t.cpu : NULL, has_samples ? &samples : NULL,
               has_stopped ? &stopped : NULL, &sorted[i]->t);
    fputs("  ", p->to);
    put_name(p, group_name(sorted[i]), unknown(sorted[i]), width + 2);
  }
  left_out(p, i, p->shown);
  free(sorted);
}

/* -------------------------------------------------------------------------------------------------- functions ---- */

/* The distribution of single stretches, by function. */
static void print_spreads(const printer *p) {
  group **sorted = sorted_groups(&p->sum->functions, by_activity);
  char ran[32];
  size_t i;
  if (*sorted) spread_head(p, "single times, by function");
  for (i = 0; sorted[i] && i < p->shown; i++) {
    const group *g = sorted[i];
    unsigned shown = 0;
    uint32_t j;
    snprintf(ran, sizeof ran, "%s: ", running_text(waits_unseen(&p->sum->c)));
    spread_line(p, &g->running, ran, group_name(g), "(unknown)");
    if (g->runnable.count) spread_line(p, &g->runnable, "  runnable", pool_text_of(0), "");
    if (g->syscall.count) spread_line(p, &g->syscall, "  in system calls", pool_text_of(0), "");
    for (j = 0; j < g->blocked_count && shown < SHOWN_REASONS; j++)
      if (g->blocked[j]) spread_line(p, g->blocked[j], "  blocked: ", reason_text(p->sum, j), ""), shown++;
  }
  free(sorted);
}

/* Where CPU time went. */
static void print_hot(const printer *p) {
  hot_function **all = sorted_hot(&p->why->hot);
  double whole = (double)p->why->hot.samples / 100;
  size_t i;
  if (p->why->hot.samples >= ENOUGH_SAMPLES && causes_complete(p->why)) {
    fputs("\n      alone with called  CPU samples by function\n", p->to);
    for (i = 0; all[i]; i++) {
      if (i >= p->shown) continue;
      fprintf(p->to, " %8.1f %% %10.1f %%  ", (double)all[i]->self / whole, (double)all[i]->total / whole);
      put_name(p, pool_text_of(all[i]->name), "(unknown)", 26);
    }
    left_out(p, i, p->shown);
  }
  free(all);
}

static void print_reasons(const printer *p) {
  uint32_t i;
  size_t count = 0;
  for (i = 0; i <= MOST_REASONS; i++) {
    const histogram *h = &p->sum->reasons[i].waits;
    if (!h->count) continue;
    if (!count) spread_head(p, "blocked, by reason");
    if (count++ < p->waits) spread_line(p, h, "", reason_text(p->sum, i), "");
  }
  left_out(p, count, p->waits);
}

/* ------------------------------------------------------------------------------------------------------ causes ---- */

#define SHOWN_CAUSES 12

/* What is wrong, and where to look. */
static void print_findings(const printer *p) {
  unsigned i;
  for (i = 0; i < p->why->found.count; i++) {
    const finding *f = &p->why->found.all[i];
    fprintf(p->to, "%u. ", i + 1);
    print_visible(p->to, f->text, strlen(f->text));
    putc('\n', p->to);
    if (!*f->look) continue;
    fputs("   gotrace ", p->to);
    print_visible(p->to, f->look, strlen(f->look));
    putc(' ', p->to);
    print_visible(p->to, p->sum->in->path, strlen(p->sum->in->path));
    putc('\n', p->to);
  }
  if (p->why->found.count) putc('\n', p->to);
}

static pool_text text_of(char *text) {
  pool_text of = {text, (uint32_t)strlen(text)};
  return of;
}

/* "a, b" or "a, b: c" */
static pool_text named_so(char *text, size_t size, wait_class is, uint32_t place, uint32_t holder) {
  pool_text a = pool_text_of(place), b = pool_text_of(holder);
  int used = snprintf(text, size, "%s", wait_classes[is].text);
  if (a.size)
    used += snprintf(text + used, size - (size_t)used, ", %.*s", (int)prefix_size(a.data, a.size, 160), a.data);
  if (b.size) snprintf(text + used, size - (size_t)used, ": %.*s", (int)prefix_size(b.data, b.size, 160), b.data);
  return text_of(text);
}

static void print_causes(const printer *p) {
  wait_sum **sums = sorted_waits(p->why);
  holder_sum **held = sorted_holders(p->why);
  causes *c = p->why;
  char text[512], did[DID_TEXT], name[800];
  size_t i, count;
  if (*sums && !causes_complete(c))
    fprintf(p->to, "\n%11s the next two tables and the findings are of the first %s\n", "",
            duration_text((double)between(c->begin, c->end), text));
  for (i = count = 0; sums[i]; i++) {
    if (wait_is(sums[i]->is, WAIT_RUNTIMES)) continue;
    if (!count) spread_head(p, "blocked, by class and own function");
    if (count++ < SHOWN_CAUSES)
      spread_line(p, &sums[i]->waits, "", named_so(text, sizeof text, sums[i]->is, sums[i]->place, 0), "");
  }
  left_out(p, count, SHOWN_CAUSES);
  for (i = count = 0; held[i]; i++) {
    if (!held[i]->parts.total) continue;
    if (!count) spread_head(p, "blocked, by who had it (what it did)");
    if (count++ >= SHOWN_CAUSES) continue;
    named_so(text, sizeof text, held[i]->is, held[i]->place, held[i]->holder);
    did_text(c, &held[i]->did, did);
    snprintf(name, sizeof name, "%s%s%s%s", text, *did ? " (" : "", did, *did ? ")" : "");
    spread_line(p, &held[i]->parts, "", text_of(name), "");
  }
  left_out(p, count, SHOWN_CAUSES);
  free(sums);
  free(held);
}

/* Who stops the world. */
static void print_stops(const printer *p) {
  stop_sum **sorted = sorted_stops(p->why);
  char text[512];
  size_t i;
  for (i = 0; sorted[i]; i++) {
    pool_text a = pool_text_of(sorted[i]->place), b = pool_text_of(sorted[i]->reason);
    if (!i) spread_head(p, "stopped world, by whom and why");
    if (i >= SHOWN_CAUSES) continue;
    snprintf(text, sizeof text, "%.*s, %.*s", (int)prefix_size(a.data, a.size, 160), a.data,
             (int)prefix_size(b.data, b.size, 160), b.data);
    spread_line(p, &sorted[i]->pauses, "", text_of(text), "");
  }
  left_out(p, i, SHOWN_CAUSES);
  free(sorted);
}

/* ------------------------------------------------------------------------------------------- tasks and regions ---- */

static void print_named(const printer *p, const groups *all, const char *title, const char *times_title) {
  group **sorted = sorted_groups(all, by_activity);
  size_t i;
  if (*sorted) spread_head(p, title);
  for (i = 0; sorted[i] && i < p->shown; i++) {
    spread_line(p, &sorted[i]->whole, "", group_name(sorted[i]), nameless(sorted[i]));
    if (sorted[i]->open.count) spread_line(p, &sorted[i]->open, "  not ended, so far", pool_text_of(0), "");
  }
  free(sorted);
  print_groups(p, all, times_title, nameless);
}

/* --------------------------------------------------------------------------------------------------- counters ---- */

static void print_counters(const printer *p) {
  counter_summary **sorted = sorted_counters(p->sum);
  size_t i;
  unsigned k;
  char text[REAL_TEXT];
  if (*sorted) fputs("\n      count       least        most        last        mean  counters\n", p->to);
  for (i = 0; sorted[i]; i++) {
    const counter_summary *c = sorted[i];
    const double values[] = {c->least, c->most, c->last, c->mean};
    size_t used = 13;
    if (i >= p->shown) continue;
    fprintf(p->to, " %10llu", (ull)c->count);
    for (k = 0; k < COUNT(values); k++) {
      real_text(values[k], text);
      if (k == 3 || strlen(text) > 11) snprintf(text, sizeof text, "%.6g", values[k]);
      used += (size_t)fprintf(p->to, " %11s", text);
    }
    fputs("  ", p->to);
    put_name(p, pool_text_of(c->name), "(no name)", used);
  }
  left_out(p, i, p->shown);
  free(sorted);
}

/* -------------------------------------------------------------------------------------------------- collector ---- */

static void print_collector(const printer *p) {
  static const struct {
    int64_t nanoseconds;
    const char *text;
  } windows[] = {{1000, "1 us"},      {10000, "10 us"},      {100000, "100 us"}, {1000000, "1 ms"},
                 {10000000, "10 ms"}, {100000000, "100 ms"}, {1000000000, "1 s"}};
  const collector *gc = &p->sum->gc;
  double whole = p->sum->duration > 0 ? (double)p->sum->duration / 100 : 1;
  unsigned i;
  pool_text none = {"", 0};
  if (!gc->pauses.count && !gc->collections.count) return;
  spread_head(p, "collector");
  if (gc->collections.count) spread_line(p, &gc->collections, "collections", none, "");
  for (i = 0; i <= MOST_PAUSE_REASONS; i++)
    if (gc->reasons[i].pauses.count)
      spread_line(p, &gc->reasons[i].pauses, "stopped world: ", pool_text_of(gc->reasons[i].name), "(others)");
  fprintf(p->to, "%11s the world is stopped %.3f %% of the time, a collection goes on %.1f %%\n", "",
          (double)gc->pauses.total / whole, (double)gc->collections.total / whole);
  if (minimum_utilization(gc, 1000) < 0) return;
  fprintf(p->to, "%11s least share of procs left to the program, in any", "");
  for (i = 0; i < COUNT(windows); i++)
    fprintf(p->to, "%s %s: %.1f %%", i ? "," : "", windows[i].text,
            100 * minimum_utilization(gc, windows[i].nanoseconds));
  putc('\n', p->to);
}

/* --------------------------------------------------------------------------------------------- procs, the rest ---- */

static void print_procs(const printer *p) {
  size_t count, i;
  timed_place *all = sorted_procs(p->sum, &count);
  double whole = p->sum->duration > 0 ? (double)p->sum->duration / 100 : 1;
  if (count)
    fprintf(p->to, "\n       proc%*s    syscalls    of the time\n", 12 + running_pad(p),
            running_text(waits_unseen(&p->sum->c)));
  for (i = 0; i < count && i < 10 * SHOWN; i++) {
    fprintf(p->to, " %10llu", (ull)all[i].id);
    running_time(p, all[i].t.running);
    duration(p, all[i].t.syscall);
    fprintf(p->to, " %12.1f %%\n", (double)plus(all[i].t.running, all[i].t.syscall) / whole);
  }
  free(all);
}

static void print_losses(const printer *p) {
  uint64_t i;
  const summary *sum = p->sum;
  if (sum->dropped) fprintf(p->to, "\n%10llu  losses reported by the tracer\n", (ull)sum->dropped);
  for (i = 0; i < sum->dropped && i < MOST_LOSSES; i++) {
    fprintf(p->to, "%10s  ", "");
    put_name(p, pool_text_of(sum->losses[i]), "", 12);
  }
}

static void print_latencies(const printer *p) {
  unsigned i;
  char text[32];
  if (p->sum->worst.count)
    fprintf(p->to, "\n     waited       since  goroutine  longest %s\n",
            p->sum->c.recorded ? "times from being woken to running again" : "scheduling latencies");
  for (i = 0; i < p->sum->worst.count; i++) {
    const latency *l = &p->sum->worst.all[i];
    fprintf(p->to, "%11s", duration_text((double)l->waited, text));
    fprintf(p->to, " %11s %10llu  ", duration_text((double)between(p->sum->s.first, l->when), text), (ull)l->g);
    put_name(p, group_name(l->function), "(unknown)", 36);
  }
}

static int by_count(const void *a, const void *b) {
  const uint64_t *x = a, *y = b; /* pairs of count and kind */
  return x[0] < y[0] ? 1 : x[0] > y[0] ? -1 : x[1] < y[1] ? -1 : x[1] > y[1];
}

static void print_kinds(const printer *p) {
  uint64_t kinds[256][2];
  size_t count = 0, i;
  for (i = 0; i < 256; i++) {
    if (!p->sum->kinds[i]) continue;
    kinds[count][0] = p->sum->kinds[i];
    kinds[count++][1] = i;
  }
  qsort(kinds, count, sizeof kinds[0], by_count);
  fprintf(p->to, "\n%10s  events by kind\n", "count");
  for (i = 0; i < count; i++) fprintf(p->to, "%10llu  %s\n", (ull)kinds[i][0], p->sum->specs[kinds[i][1]]->name);
}

static void print_head(const printer *p) {
  const summary *sum = p->sum;
  uint64_t began = wall_at(&sum->s.w.wall, sum->s.first);
  char text[512];
  print_findings(p);
  stands_out(p->sum, p->why, text, sizeof text);
  if (*text) print_visible(p->to, text, strlen(text)), putc('\n', p->to);
  if (p->brief) return;
  if (*text) putc('\n', p->to);
  fprintf(p->to, "%-24sGo 1.%d (v%d)\n", "format", sum->format % 1000, sum->family);
  if (began) fprintf(p->to, "%-24s%s\n", "began", moment_text(began, false, text));
  fprintf(p->to, "%-24s%s\n", "duration", duration_text((double)sum->duration, text));
  fprintf(p->to, "%-24s%llu\n", "events", (ull)sum->events);
  if (sum->family == 2) fprintf(p->to, "%-24s%llu\n", "generations", (ull)sum->generations);
  if (sum->s.w.gomaxprocs) fprintf(p->to, "%-24s%llu\n", "GOMAXPROCS", (ull)sum->s.w.gomaxprocs);
}

static void print_text(const printer *p) {
  print_head(p);
  print_losses(p);
  print_groups(p, &p->sum->functions, "goroutines by function", unknown_function);
  if (!p->brief) print_hot(p);
  print_reasons(p);
  if (p->to != stdout || p->brief) return;
  print_causes(p);
  print_spreads(p);
  print_named(p, &p->sum->tasks, "tasks by name: time from begin to end", "for tasks");
  print_named(p, &p->sum->regions, "regions by name", "in regions");
  print_counters(p);
  print_collector(p);
  print_stops(p);
  print_procs(p);
  print_latencies(p);
  print_kinds(p);
}

/* The terminal's width, or the value of COLUMNS. */
static size_t line_width(FILE *to, bool *terminal) {
  const char *given_width = getenv("COLUMNS");
  int given = given_width ? atoi(given_width) : 0;
#if !IN_BROWSER
  struct winsize size;
#endif
  *terminal = isatty(fileno(to)) || given > 0;
  if (given > 0) return (size_t)given;
#if IN_BROWSER
  return 120;
#else
  return *terminal && ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 120;
#endif
}

/* Whether more than half of all waiting was for child processes. Reasons are sorted by that. */
static bool waits_for_children(const summary *sum) {
  uint64_t all = 0;
  uint32_t i;
  for (i = 0; i <= MOST_REASONS; i++) all += sum->reasons[i].waits.total;
  return sum->reasons[0].waits.total > all / 2 && pool_text_is(sum->reasons[0].name, "child process");
}

/* `of_children`: a line for a program that mostly waits for such; NULL: none. */
static int inform(input *in, const settings *set, FILE *to, unsigned shown, const char *of_children) {
  static bool headed, several;
  const char *path = in->path;
  unsigned how = (unsigned)((set->json  ? TABLES_JSON
                             : set->csv ? TABLES_CSV
                                        : 0) |
                            (set->histogram ? TABLES_HISTOGRAM : 0));
  summary *sum;
  causes *why = zeroed(sizeof *why);
  detail_tables each;
  gotrace_result result;
  bool complete;
  in->lenient = set->lenient;
  sum = zeroed(sizeof *sum);
  detail_tables_begin(&each, how, path);
  if (set->details && how & (TABLES_JSON | TABLES_CSV)) sum->each = &each.d;
  result = summarize(sum, in, set);
  complete = result == GOTRACE_END_OF_TRACE;
  if (sum->format && !sum->unknown) {
    find_causes(why, in, set, sum);
    find_findings(why, sum);
  }
  erase_progress();
  if (complete && sum->unknown) {
    report("%s", sum->unknown);
    complete = false;
  } else if (sum->format && how & (TABLES_JSON | TABLES_CSV)) {
    output out;
    fflush(to);
    output_direct(&out);
    if (!set->json && !headed) print_csv_head(&out);
    headed = true;
    print_tables(&out, sum, why, how, path, complete, sum->each ? &each : NULL);
    output_close(&out);
  } else if (sum->format) {
    printer p = {.to = to, .shown = shown, .waits = MOST_REASONS + 1, .sum = sum, .why = why, .least = 1};
    p.histograms = set->histogram;
    p.brief = set->brief;
    if (p.brief) p.shown = BRIEF, p.waits = BRIEF_WAITS;
    p.width = line_width(to, &p.cut);
    p.least = fitting(p.width);
    if (several) putc('\n', to);
    several = true;
    print_text(&p);
    if (of_children && waits_for_children(sum)) fprintf(to, "\n%s\n", of_children);
  }
  if (result != GOTRACE_END_OF_TRACE) report("%s%s", input_error(in), input_advice(in, set, false));
  detail_tables_end(&each);
  causes_free(why);
  free(why);
  summary_free(sum);
  free(sum);
  input_close(in);
  return !complete;
}

int command_info(const char *path, const settings *set) {
  input in;
  return input_open(&in, path, true) ? inform(&in, set, stdout, SHOWN, NULL) : 1;
}

void info_summary(input *in, const char *of_children) {
  settings set = {0};
  set.until = INT64_MAX;
  inform(in, &set, stderr, 10, of_children);
}
