/* diff.c - gotrace diff: two traces side by side, what changed beyond noise first
 *
 * Compares the times of single stretches, tasks, regions and pauses, group by group (summary.h), in two ways: their
 * average, and their rate, which is their sum in a second of trace. Only times that begin and end in the trace or part
 * are samples, since nobody knows how long the others lasted.
 *
 * A change is beyond noise if it is larger than 2 %, is larger than 0.1 % of a second in a second of trace, and exceeds
 * what happens by chance: for one in 370, as for three standard errors of a normal distribution.
 *
 * Times in one trace are not independent: goroutines that are woken together wait equally long, and whatever disturbs
 * one disturbs its neighbours. So the standard error is estimated from blocks of the trace (histogram_blocks). There
 * are at most HISTOGRAM_BLOCKS, each as long as the longest time or longer; blocks depend on each other little. An
 * average is a ratio of two sums over blocks, of durations and of counts, and so is a rate, of durations and of the
 * blocks' lengths. Its error follows from how far each block is from that ratio, neighbours included. With few blocks
 * the limit is higher (Student's distribution, with Welch's degrees of freedom). A single block says nothing, so no
 * change of an average is beyond noise if one of the traces has all times in one block.
 *
 * A counter's change is beyond noise if the means of its values differ by more than three standard errors and by more
 * than 2 %.
 */

#include "../command/commands.h"
#include "summary.h"

#include <stdlib.h>

typedef struct estimate {
  double value;
  double error_squared; /* of its standard error */
  double freedom;       /* degrees of freedom of the error; 0: unknown */
} estimate;

static const char running[] = "running"; /* a kind of times */

typedef struct row {
  const char *what;      /* the kind of times */
  uint32_t name, reason; /* texts */
  const histogram *h[2]; /* of the two traces; never NULL, once all are added */
  estimate average[2];   /* nanoseconds */
  estimate rate[2];      /* total, nanoseconds per second of trace */
  double weight;         /* nanoseconds per second of trace by which it changed */
  bool average_beyond, rate_beyond;
} row;

/* `rows`: struct row by a hash of what, name and reason; if hashes collide, by the next one that is free. */
static void add_row(map *rows, unsigned side, const char *what, uint32_t name, uint32_t reason, const histogram *h) {
  struct {
    uint64_t what, name, reason;
  } key = {(uint64_t)(uintptr_t)what, name, reason};
  uint64_t hash = hash_of(&key, sizeof key);
  row *at;
  bool made;
  if (!h->count && !h->unended && !h->unbegun) return;
  do at = map_keep(rows, hash++, sizeof *at, &made);
  while (!made && (at->what != what || at->name != name || at->reason != reason));
  at->what = what;
  at->name = name;
  at->reason = reason;
  at->h[side] = h;
}

static void add_summary(map *r, unsigned side, const summary *sum) {
  static const char runnable[] = "runnable", syscalls[] = "in system calls", blocked[] = "blocked", of_task[] = "task",
                    region[] = "region", pause[] = "stopped world";
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

/* The ratio of two sums over blocks. */
static estimate ratio(const double *above, const double *below, unsigned count) {
  double sum_above = 0, sum_below = 0, squares = 0, neighbours = 0, last = 0, blocks = 0;
  estimate e = {0, 0, 0};
  unsigned i;
  for (i = 0; i < count; i++) sum_above += above[i], sum_below += below[i];
  if (!(sum_below > 0)) return e;
  e.value = sum_above / sum_below;
  for (i = 0; i < count; i++) {
    double off = above[i] - e.value * below[i];
    blocks += below[i] > 0;
    squares += off * off;
    neighbours += 2 * off * last;
    last = off;
  }
  if (neighbours > 0) squares += neighbours;
  e.freedom = blocks - 1;
  if (blocks > 1) e.error_squared = squares * blocks / (blocks - 1) / (sum_below * sum_below);
  return e;
}

/* Estimates average and rate of one trace. */
static void estimate_row(row *r, unsigned side, const summary *sum) {
  static histogram_blocks none;
  const histogram *h = r->h[side];
  double totals[HISTOGRAM_BLOCKS] = {0}, counts[HISTOGRAM_BLOCKS] = {0}, lengths[HISTOGRAM_BLOCKS] = {0};
  histogram_blocks *b = h->blocks ? h->blocks : &none;
  int64_t first, begin = sum->c.from, end = plus(begin, sum->duration), longest = h->longest;
  unsigned shift = 0, count, i;
  if (end < begin) end = INT64_MAX; /* only in a hostile trace */
  while (shift < 62 && (uint64_t)(end >> shift) - (uint64_t)(begin >> shift) >= HISTOGRAM_BLOCKS) shift++;
  while (shift < 62 && (int64_t)1 << shift < longest) shift++;
  histogram_join_blocks(b, shift);
  shift = b->used ? b->shift : shift;
  first = begin >> shift;
  count = (unsigned)((end >> shift) - first) + 1;
  for (i = 0; i < count; i++) {
    int64_t from = (int64_t)((uint64_t)(first + i) << shift), to = plus(from, (int64_t)1 << shift);
    lengths[i] = (double)((to < end ? to : end) - (from > begin ? from : begin));
  }
  for (i = 0; i < b->used; i++) {
    int64_t at = b->first + i - first;
    if (at < 0 || at >= (int64_t)count) continue; /* only in a damaged trace */
    totals[at] = b->all[i].total;
    counts[at] = b->all[i].count;
  }
  r->average[side] = ratio(totals, counts, count);
  r->rate[side] = ratio(totals, lengths, count);
  r->rate[side].value *= 1e9;
  r->rate[side].error_squared *= 1e18;
}

/* How many standard errors are exceeded by chance once in 370 times. */
static double limit_of(double freedom) {
  static const struct {
    double freedom, limit;
  } known[] = {{1, 235.8},  {2, 19.21},  {3, 9.219},  {4, 6.620},  {5, 5.507},  {6, 4.904}, {8, 4.277},
               {10, 3.957}, {15, 3.586}, {20, 3.422}, {30, 3.270}, {60, 3.130}, {1e9, 3.0}};
  size_t i = 1;
  double part;
  if (freedom <= 1) return known[0].limit;
  while (i + 1 < COUNT(known) && known[i].freedom < freedom) i++;
  part = (1 / known[i - 1].freedom - 1 / freedom) / (1 / known[i - 1].freedom - 1 / known[i].freedom);
  return known[i - 1].limit + part * (known[i].limit - known[i - 1].limit);
}

/* Whether two estimates differ more than by chance. */
static bool differ(const estimate e[2]) {
  double a = e[0].error_squared, b = e[1].error_squared, both = a + b, difference = magnitude(e[1].value - e[0].value);
  double most = magnitude(e[0].value) > magnitude(e[1].value) ? magnitude(e[0].value) : magnitude(e[1].value), limit;
  if (e[0].freedom < 1 || e[1].freedom < 1 || difference <= 0.02 * most) return false;
  if (!(both > 0)) return true;
  limit = limit_of(both * both / (a * a / e[0].freedom + b * b / e[1].freedom));
  return difference * difference > limit * limit * both;
}

#define LEAST_CHANGE 1e6 /* nanoseconds in a second */

static void judge(row *r, const summary *const sums[2]) {
  static const histogram none;
  double often = 0, by_average = 0, by_rate;
  unsigned i;
  for (i = 0; i < 2; i++) {
    double seconds = sums[i]->duration > 0 ? (double)sums[i]->duration / 1e9 : 1e-9;
    if (!r->h[i]) r->h[i] = &none;
    estimate_row(r, i, sums[i]);
    if ((double)r->h[i]->count / seconds > often) often = (double)r->h[i]->count / seconds;
  }
  if (r->h[0]->count && r->h[1]->count) by_average = often * magnitude(r->average[1].value - r->average[0].value);
  by_rate = magnitude(r->rate[1].value - r->rate[0].value);
  r->average_beyond = by_average >= LEAST_CHANGE && differ(r->average);
  r->rate_beyond = by_rate >= LEAST_CHANGE && differ(r->rate);
  r->weight = by_average > by_rate ? by_average : by_rate;
}

static bool is_beyond(const row *r) { return r->average_beyond || r->rate_beyond; }

static int by_change(const void *a, const void *b) {
  const row *x = *(row *const *)a, *y = *(row *const *)b;
  if (is_beyond(x) != is_beyond(y)) return is_beyond(x) ? -1 : 1;
  if (x->weight < y->weight || x->weight > y->weight) return x->weight < y->weight ? 1 : -1;
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

/* A change in percent. `known`: both traces have a value. */
static void put_change(output *out, const estimate e[2], bool known, bool beyond) {
  if (!known || !(e[0].value > 0)) print(out, "%11s", known && e[1].value > 0 ? "new" : "-");
  else print(out, "%+9.1f %%", 100 * (e[1].value - e[0].value) / e[0].value);
  put_string(out, beyond ? " *" : "  ");
}

/* Its name is that of a function. */
static bool has_function(const row *r) { return strcmp(r->what, "task") != 0 && strcmp(r->what, "region") != 0; }

static void put_row(output *out, const row *r, bool unseen) {
  unsigned i;
  put_change(out, r->average, r->h[0]->count && r->h[1]->count, r->average_beyond);
  put_change(out, r->rate, true, r->rate_beyond);
  for (i = 0; i < 2; i++) {
    print(out, " %9llu", (ull)r->h[i]->count);
    if (r->h[i]->count) {
      put_duration(out, r->average[i].value);
      put_duration(out, (double)histogram_percentile(r->h[i], 0.99));
    } else {
      print(out, " %12s %12s", "-", "-");
    }
    put_duration(out, r->rate[i].value);
    put_string(out, " ");
  }
  print(out, " %s", r->what == running ? running_text(unseen) : r->what);
  if (r->reason) put_string(out, " for "), put_text(out, r->reason, "");
  put_string(out, ": ");
  put_text(out, r->name, has_function(r) ? "(unknown)" : "(no name)");
  if (r->h[0]->unended || r->h[1]->unended)
    print(out, " (not ended: %llu in A, %llu in B)", (ull)r->h[0]->unended, (ull)r->h[1]->unended);
  if (r->h[0]->unbegun || r->h[1]->unbegun)
    print(out, " (begun before: %llu in A, %llu in B)", (ull)r->h[0]->unbegun, (ull)r->h[1]->unbegun);
  put_byte(&out->block, '\n');
}

static void put_object(output *out, const row *r) {
  static const char *const sides[] = {"a", "b"};
  char average[REAL_TEXT], rate[REAL_TEXT];
  unsigned i;
  print(out, "{\"kind\":\"%s\",\"name\":", r->what);
  put_quoted_text(out, r->name);
  put_string(out, ",\"reason\":");
  put_quoted_text(out, r->reason);
  print(out, ",\"beyond_noise\":%s", is_beyond(r) ? "true" : "false");
  print(out, ",\"average_beyond_noise\":%s", r->average_beyond ? "true" : "false");
  print(out, ",\"rate_beyond_noise\":%s", r->rate_beyond ? "true" : "false");
  for (i = 0; i < 2; i++) {
    const histogram *h = r->h[i];
    print(out, ",\"%s\":{\"count\":%llu,\"total\":%llu,\"unended\":%llu,\"unended_total\":%llu", sides[i],
          (ull)h->count, (ull)h->total, (ull)h->unended, (ull)h->unended_total);
    print(out, ",\"unbegun\":%llu,\"unbegun_total\":%llu", (ull)h->unbegun, (ull)h->unbegun_total);
    print(out, ",\"average\":%s,\"rate\":%s,\"p50\":%lld,\"p99\":%lld,\"longest\":%lld}",
          real_text(r->average[i].value, average), real_text(r->rate[i].value, rate),
          (long long)histogram_percentile(h, 0.5), (long long)histogram_percentile(h, 0.99), (long long)h->longest);
  }
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
  for (i = 0; i < count; i++) beyond += is_beyond(all[i]);
  if (!set->json) {
    put_string(&out, "A is ");
    put_visible(&out, paths[0], strlen(paths[0]));
    put_string(&out, ", B is ");
    put_visible(&out, paths[1], strlen(paths[1]));
    put_string(&out, "; the rate is the time in a second of trace; * marks changes beyond noise\n\n");
    print(&out, "%11s   %11s   %9s %12s %12s %12s  %9s %12s %12s %12s\n", "average", "rate", "count A", "average A",
          "p99 A", "rate A", "count B", "average B", "p99 B", "rate B");
    print(&out, "changes beyond noise: %zu\n", beyond);
  }
  for (i = 0; i < count; i++, output_check(&out)) {
    if (set->json) {
      put_object(&out, all[i]);
      continue;
    }
    if (i == beyond) put_string(&out, "changes within noise\n");
    if (i >= beyond + MOST_OTHERS) continue;
    put_row(&out, all[i], waits_unseen(&sums[0]->c) || waits_unseen(&sums[1]->c));
  }
  if (!set->json && count > beyond + MOST_OTHERS) print(&out, "%11s %zu more\n", "", count - beyond - MOST_OTHERS);
  print_counter_rows(&out, sums, set->json);
  output_close(&out);
}

int command_diff(char **paths, int count, const settings *set) {
  summary *sums[2];
  map rows = {0};
  int i, status = 0;
  size_t j;
  (void)count;
  histogram_keeps_blocks = true;
  for (i = 0; i < 2; i++) {
    input in;
    if (!input_open(&in, paths[i], true)) return 1;
    sums[i] = zeroed(sizeof *sums[i]);
    sums[i]->only_whole = true;
    if (summarize(sums[i], &in, set) != GOTRACE_END_OF_TRACE) {
      erase_progress();
      report("%s", input_error(&in));
      status = 1;
    } else if (source_nothing(&sums[i]->s)) {
      report("%s", source_nothing(&sums[i]->s));
      status = 1;
    }
    erase_progress();
    add_summary(&rows, (unsigned)i, sums[i]);
    input_close(&in);
    pool_forget_ids();
  }
  for (j = 0; j < rows.count; j++) judge(rows.values[j], (const summary *const *)sums);
  if (rows.count) qsort(rows.values, rows.count, sizeof *rows.values, by_change);
  if (!status && sums[0]->unknown && sums[1]->unknown) fail("%s", sums[1]->unknown);
  if (!status) print_rows((row *const *)rows.values, rows.count, sums, set, paths);
  map_free(&rows);
  for (i = 0; i < 2; i++) summary_free(sums[i]), free(sums[i]);
  return status;
}
