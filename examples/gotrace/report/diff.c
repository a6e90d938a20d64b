/* diff.c - gotrace diff: two traces side by side, what changed beyond noise first
 *
 * Compares the times of single stretches, tasks, regions and pauses, group by group (summary.h). A change is beyond
 * noise if
 *
 * - the averages differ by more than three standard errors of their difference, or the counts per second of trace by
 *   more than three times the square root of their sum (as for independent events), and
 * - the total per second of trace changed by more than 2 % and by more than 0.1 % of a second.
 *
 * A counter's change is beyond noise if the means of its values differ by more than three standard errors and by more
 * than 2 %.
 *
 * Some rows pass by chance: one in 370 if they are normally distributed. */

#include "../command/commands.h"
#include "summary.h"

#include <stdlib.h>

typedef struct row {
  const char *what;      /* the kind of times */
  uint32_t name, reason; /* texts */
  histogram h[2];        /* of the two traces; the summaries own the memory */
  double rate[2];        /* total, nanoseconds per second of trace */
  bool beyond;
} row;

/* `rows`: struct row by a hash of what, name and reason; if hashes collide, by the next one that is free. */
static void add_row(map *rows, unsigned side, const char *what, uint32_t name, uint32_t reason, const histogram *h) {
  struct {
    uint64_t what, name, reason;
  } key = {(uint64_t)(uintptr_t)what, name, reason};
  uint64_t hash = hash_of(&key, sizeof key);
  row *at;
  bool made;
  if (!h->count) return;
  do at = map_keep(rows, hash++, sizeof *at, &made);
  while (!made && (at->what != what || at->name != name || at->reason != reason));
  at->what = what;
  at->name = name;
  at->reason = reason;
  at->h[side] = *h;
}

static void add_summary(map *r, unsigned side, const summary *sum) {
  static const char running[] = "running", runnable[] = "runnable", syscalls[] = "in system calls",
                    blocked[] = "blocked", of_task[] = "task", region[] = "region", pause[] = "stopped world";
  const group *g;
  uint32_t i;
  for (g = sum->functions.list; g; g = g->next) {
    add_row(r, side, running, g->name, 0, &g->running);
    add_row(r, side, runnable, g->name, 0, &g->runnable);
    add_row(r, side, syscalls, g->name, 0, &g->syscall);
    for (i = 0; i < g->blocked_count; i++)
      if (g->blocked[i]) add_row(r, side, blocked, g->name, sum->reasons[i].name, g->blocked[i]);
  }
  for (g = sum->tasks.list; g; g = g->next) add_row(r, side, of_task, g->name, 0, &g->whole);
  for (g = sum->regions.list; g; g = g->next) add_row(r, side, region, g->name, 0, &g->whole);
  for (i = 0; i < sum->gc.reason_count; i++)
    add_row(r, side, pause, sum->gc.reasons[i].name, 0, &sum->gc.reasons[i].pauses);
}

static double magnitude(double value) { return value < 0 ? -value : value; }

static double average(const histogram *h) { return h->count ? (double)h->total / (double)h->count : 0; }

/* The square of the average's standard error. A single value says nothing about that; it is taken to be as large as the
 * value. */
static double error_squared(const histogram *h) {
  double mean = average(h), count = (double)h->count, variance;
  if (h->count < 2) return mean * mean;
  variance = h->squares / count - mean * mean;
  return variance > 0 ? variance / (count - 1) : 0;
}

static void judge(row *r, const double seconds[2]) {
  const histogram *a = &r->h[0], *b = &r->h[1];
  double often[2], difference = average(b) - average(a), most, more;
  unsigned i;
  for (i = 0; i < 2; i++) {
    r->rate[i] = (double)r->h[i].total / seconds[i];
    often[i] = (double)r->h[i].count / seconds[i];
  }
  most = r->rate[0] > r->rate[1] ? r->rate[0] : r->rate[1];
  if (magnitude(r->rate[1] - r->rate[0]) < 0.02 * most || magnitude(r->rate[1] - r->rate[0]) < 1e6) return;
  more = often[1] - often[0];
  r->beyond = (a->count && b->count && difference * difference > 9 * (error_squared(a) + error_squared(b))) ||
              more * more > 9 * (often[0] / seconds[0] + often[1] / seconds[1]); /* a count's variance is the count */
}

static int by_change(const void *a, const void *b) {
  const row *x = *(row *const *)a, *y = *(row *const *)b;
  double of_x = magnitude(x->rate[1] - x->rate[0]), of_y = magnitude(y->rate[1] - y->rate[0]);
  if (x->beyond != y->beyond) return x->beyond ? -1 : 1;
  if (of_x < of_y || of_x > of_y) return of_x < of_y ? 1 : -1;
  return x->name < y->name ? -1 : x->name > y->name ? 1 : x->reason < y->reason ? -1 : x->reason > y->reason;
}

/* --------------------------------------------------------------------------------------------------- counters ---- */

typedef struct counter_row {
  uint32_t name;
  const counter_summary *of[2]; /* in the two traces; never NULL */
  bool beyond;
} counter_row;

static double mean_error_squared(const counter_summary *c) {
  double count = (double)c->count;
  return count < 2 ? c->mean * c->mean : c->squares / (count - 1) / count;
}

static void judge_counter(counter_row *r) {
  const counter_summary *a = r->of[0], *b = r->of[1];
  double difference = b->mean - a->mean, most = magnitude(a->mean);
  if (magnitude(b->mean) > most) most = magnitude(b->mean);
  r->beyond = a->count && b->count && magnitude(difference) > 0.02 * most &&
              difference * difference > 9 * (mean_error_squared(a) + mean_error_squared(b));
}

static int by_counter(const void *a, const void *b) {
  const counter_row *x = a, *y = b;
  return x->beyond != y->beyond ? (x->beyond ? -1 : 1) : text_order(x->name, y->name);
}

/* The counters of both traces, changes beyond noise first. */
static counter_row *compare_counters(summary *const sums[2], size_t *count) {
  static const counter_summary none;
  counter_row *all = NULL;
  size_t capacity = 0, i;
  unsigned side;
  *count = 0;
  for (side = 0; side < 2; side++)
    for (i = 0; i < sums[side]->counters.count; i++) {
      const counter_summary *here = sums[side]->counters.values[i],
                            *other = map_get(&sums[!side]->counters, here->name);
      if (side && other) continue;
      GROW(all, *count, capacity);
      all[*count] = (counter_row){.name = here->name};
      all[*count].of[side] = here;
      all[*count].of[!side] = other ? other : &none;
      judge_counter(&all[(*count)++]);
    }
  if (*count) qsort(all, *count, sizeof *all, by_counter);
  return all;
}

/* ----------------------------------------------------------------------------------------------------- output ---- */

static void put_duration(output *out, double nanoseconds) {
  if (nanoseconds >= 1e9) print(out, " %9.3f s ", nanoseconds / 1e9);
  else if (nanoseconds >= 1e6) print(out, " %9.3f ms", nanoseconds / 1e6);
  else if (nanoseconds >= 1e3) print(out, " %9.3f us", nanoseconds / 1e3);
  else print(out, " %9.0f ns", nanoseconds);
}

/* Its name is that of a function. */
static bool has_function(const row *r) { return strcmp(r->what, "task") != 0 && strcmp(r->what, "region") != 0; }

static void put_row(output *out, const row *r) {
  unsigned i;
  if (r->rate[0] > 0) print(out, "%+9.1f %%", 100 * (r->rate[1] - r->rate[0]) / r->rate[0]);
  else print(out, "%11s", "new");
  for (i = 0; i < 2; i++) {
    print(out, " %9llu", (ull)r->h[i].count);
    put_duration(out, (double)r->h[i].total);
    put_duration(out, average(&r->h[i]));
    put_duration(out, (double)histogram_percentile(&r->h[i], 0.99));
    put_string(out, " ");
  }
  print(out, " %s", r->what);
  if (r->reason) put_string(out, " for "), put_text(out, r->reason, "");
  put_string(out, ": ");
  put_text(out, r->name, has_function(r) ? "(unknown)" : "(no name)");
  put_byte(&out->block, '\n');
}

static void put_object(output *out, const row *r) {
  static const char *const sides[] = {"a", "b"};
  unsigned i;
  print(out, "{\"kind\":\"%s\",\"name\":", r->what);
  put_quoted_text(out, r->name);
  put_string(out, ",\"reason\":");
  put_quoted_text(out, r->reason);
  print(out, ",\"beyond_noise\":%s", r->beyond ? "true" : "false");
  for (i = 0; i < 2; i++)
    print(out, ",\"%s\":{\"count\":%llu,\"total\":%llu,\"p50\":%lld,\"p99\":%lld,\"longest\":%lld}", sides[i],
          (ull)r->h[i].count, (ull)r->h[i].total, (long long)histogram_percentile(&r->h[i], 0.5),
          (long long)histogram_percentile(&r->h[i], 0.99), (long long)r->h[i].longest);
  put_string(out, "}\n");
}

static void put_counter_row(output *out, const counter_row *r) {
  const double means[2] = {r->of[0]->mean, r->of[1]->mean};
  unsigned i;
  if (!r->of[0]->count) print(out, "%11s", "new");
  else if (!r->of[1]->count) print(out, "%11s", "gone");
  else if (means[0] > 0 || means[0] < 0) print(out, "%+9.1f %%", 100 * (means[1] - means[0]) / magnitude(means[0]));
  else print(out, "%11s", means[1] > 0 || means[1] < 0 ? "from 0" : "0.0 %");
  for (i = 0; i < 2; i++)
    print(out, " %9llu %12.6g %12.6g %12.6g ", (ull)r->of[i]->count, r->of[i]->least, r->of[i]->mean, r->of[i]->most);
  put_string(out, "  counter: ");
  put_text(out, r->name, "(no name)");
  put_byte(&out->block, '\n');
}

static void put_counter_object(output *out, const counter_row *r) {
  static const char *const fields[] = {"least", "most", "last", "mean"};
  char text[REAL_TEXT];
  unsigned i, k;
  put_string(out, "{\"kind\":\"counter\",\"name\":");
  put_quoted_text(out, r->name);
  print(out, ",\"beyond_noise\":%s", r->beyond ? "true" : "false");
  for (i = 0; i < 2; i++) {
    const counter_summary *c = r->of[i];
    const double values[] = {c->least, c->most, c->last, c->mean};
    print(out, ",\"%s\":{\"count\":%llu", i ? "b" : "a", (ull)c->count);
    for (k = 0; k < COUNT(fields) && c->count; k++) print(out, ",\"%s\":%s", fields[k], real_text(values[k], text));
    put_byte(&out->block, '}');
  }
  put_string(out, "}\n");
}

static void print_counter_rows(output *out, summary *const sums[2], bool json) {
  size_t count, i;
  counter_row *all = compare_counters(sums, &count);
  if (count && !json)
    print(out, "\n%11s %9s %12s %12s %12s  %9s %12s %12s %12s\n", "mean", "values A", "least A", "mean A", "most A",
          "values B", "least B", "mean B", "most B");
  for (i = 0; i < count; i++, output_check(out)) (json ? put_counter_object : put_counter_row)(out, &all[i]);
  free(all);
}

#define MOST_OTHERS 20

static void print_rows(row *const *all, size_t count, summary *const sums[2], const settings *set, char **paths) {
  output out;
  size_t i, beyond = 0;
  output_direct(&out);
  for (i = 0; i < count; i++) beyond += all[i]->beyond;
  if (!set->json) {
    put_string(&out, "A is ");
    put_visible(&out, paths[0], strlen(paths[0]));
    put_string(&out, ", B is ");
    put_visible(&out, paths[1], strlen(paths[1]));
    put_string(&out, "; the change is that of the total in a second of trace\n\n");
    print(&out, "%11s %9s %12s %12s %12s  %9s %12s %12s %12s\n", "change", "count A", "total A", "average A", "p99 A",
          "count B", "total B", "average B", "p99 B");
    print(&out, "changes beyond noise: %zu\n", beyond);
  }
  for (i = 0; i < count; i++, output_check(&out)) {
    if (set->json) {
      put_object(&out, all[i]);
      continue;
    }
    if (i == beyond) put_string(&out, "changes within noise\n");
    if (i >= beyond + MOST_OTHERS) continue;
    put_row(&out, all[i]);
  }
  if (!set->json && count > beyond + MOST_OTHERS) print(&out, "%11s %zu more\n", "", count - beyond - MOST_OTHERS);
  print_counter_rows(&out, sums, set->json);
  output_close(&out);
}

int command_diff(char **paths, int count, const settings *set) {
  summary *sums[2];
  map rows = {0};
  double seconds[2];
  int i, status = 0;
  size_t j;
  (void)count;
  for (i = 0; i < 2; i++) {
    input in;
    if (!input_open(&in, paths[i], true)) return 1;
    sums[i] = zeroed(sizeof *sums[i]);
    if (summarize(sums[i], &in, set) != GOTRACE_END_OF_TRACE) {
      erase_progress();
      report("%s", input_error(&in));
      status = 1;
    } else if (source_nothing(&sums[i]->s)) {
      report("%s", source_nothing(&sums[i]->s));
      status = 1;
    }
    erase_progress();
    seconds[i] = sums[i]->duration > 0 ? (double)sums[i]->duration / 1e9 : 1e-9;
    add_summary(&rows, (unsigned)i, sums[i]);
    input_close(&in);
    pool_forget_ids();
  }
  for (j = 0; j < rows.count; j++) judge(rows.values[j], seconds);
  if (rows.count) qsort(rows.values, rows.count, sizeof *rows.values, by_change);
  if (!status && sums[0]->unknown && sums[1]->unknown) fail("%s", sums[1]->unknown);
  if (!status) print_rows((row *const *)rows.values, rows.count, sums, set, paths);
  map_free(&rows);
  for (i = 0; i < 2; i++) summary_free(sums[i]), free(sums[i]);
  return status;
}
