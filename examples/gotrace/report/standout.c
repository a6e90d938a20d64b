/* standout.c - one line about what stands out in a trace
 *
 * First comes what makes everything else unreliable or unimportant: events were lost, the world was stopped for long,
 * or goroutines waited for procs longer than they ran. Otherwise it is what the program's busiest function waited for
 * most, even if that hardly ran. The longest wait for a proc is always added, and the function with most CPU samples,
 * if it has a good part of them.
 *
 * A trace of `gotrace record` does not show what a thread did between being woken and returning from its wait, nor what
 * it waited for in calls that are not wrapped. So nothing is said there about waits for procs, and the busiest function
 * is the one with most CPU time. */

#include "tables.h"

#define PAUSED 0.02  /* a share of the time that is worth reporting */
#define BUSY 0.01    /* the same for the running time of a function */
#define LONG 1000000 /* nanoseconds: a long wait for a proc */

static void time_text(int64_t time, char text[32]) {
  if (time >= 1000000000) snprintf(text, 32, "%.3f s", (double)time / 1e9);
  else if (time >= 1000000) snprintf(text, 32, "%.3f ms", (double)time / 1e6);
  else snprintf(text, 32, "%.3f us", (double)time / 1e3);
}

static int name_size(pool_text name) { return (int)prefix_size(name.data, name.size, 160); }

/* Whether a time is more than that of the best group so far. Of equal ones, the first by name counts. */
static bool exceeds(const group *g, int64_t time, const group *best, int64_t most) {
  return !best || time > most || (time == most && by_name(g, best) < 0);
}

static bool has_goroutine(const groups *all) {
  const group *g = all->list;
  while (g && !g->count) g = g->next;
  return g != NULL;
}

/* The function that ran most, apart from the runtime's; NULL: none ran for that share of the time. */
static const group *busiest(const summary *sum, double share) {
  const group *g, *best = NULL;
  for (g = sum->functions.list; g; g = g->next) {
    if (is_runtimes(g->name)) continue;
    if ((double)g->t.running < share * (double)sum->duration || !g->t.running) continue;
    if (exceeds(g, g->t.running, best, best ? best->t.running : 0)) best = g;
  }
  return best;
}

/* If the function waited for something longer than it ran. */
static bool mostly_blocked(const summary *sum, const group *g, char *text, size_t size) {
  uint32_t i, most = 0;
  pool_text reason;
  for (i = 1; i < g->t.blocked_count; i++)
    if (g->t.blocked[i].time > g->t.blocked[most].time) most = i;
  if (!g->t.blocked_count || g->t.blocked[most].time <= g->t.running) return false;
  reason = reason_text(sum, g->t.blocked[most].reason);
  snprintf(text, size, "blocked %.0f %% of its time, most of that for: %.*s",
           100 * (double)blocked_time(&g->t) / (double)known_time(&g->t), name_size(reason), reason.data);
  return true;
}

/* No function ran for long: what the one that ran most waited for. */
static int idle_fact(const summary *sum, char *text, size_t size) {
  const group *g = busiest(sum, 0);
  pool_text name = pool_text_of(g ? g->name : 0);
  char blocked[256], ran[32];
  if (!g || !mostly_blocked(sum, g, blocked, sizeof blocked))
    return snprintf(text, size, "no function of the program ran for as much as 1 %% of the time");
  time_text(g->t.running, ran);
  return snprintf(text, size, "%.*s was %s; it ran %s", name_size(name), name.data, blocked, ran);
}

/* The function with most CPU time, for traces of `gotrace record` without context switches. */
static int recorded_fact(const summary *sum, char *text, size_t size) {
  const group *g, *best = NULL;
  pool_text name;
  char used[32], ran[32], blocked[256];
  for (g = sum->functions.list; g; g = g->next)
    if (g->t.cpu > 0 && exceeds(g, g->t.cpu, best, best ? best->t.cpu : 0)) best = g;
  if (!best) return snprintf(text, size, "%s", "");
  name = pool_text_of(best->name);
  time_text(best->t.cpu, used);
  if (mostly_blocked(sum, best, blocked, sizeof blocked))
    return snprintf(text, size, "%.*s has most CPU time, %s, and was %s", name_size(name), name.data, used, blocked);
  time_text(best->t.running, ran);
  return snprintf(text, size, "%.*s has most CPU time: %s; for %s it was not seen waiting", name_size(name), name.data,
                  used, ran);
}

static int main_fact(const summary *sum, char *text, size_t size) {
  const group *g = busiest(sum, BUSY);
  const histogram *pauses = &sum->gc.pauses;
  pool_text name = pool_text_of(g ? g->name : 0);
  char one[32], two[32], blocked[256];
  if (sum->dropped) return snprintf(text, size, "the tracer lost events %llu times", (ull)sum->dropped);
  if ((double)pauses->total > PAUSED * (double)sum->duration && sum->duration) {
    time_text(pauses->longest, one);
    return snprintf(text, size, "the world is stopped %.1f %% of the time, once for %s",
                    100 * (double)pauses->total / (double)sum->duration, one);
  }
  if (waits_unseen(&sum->c)) return recorded_fact(sum, text, size);
  if (!g && sum->selection.on) return snprintf(text, size, "%s", "");
  if (!has_goroutine(&sum->functions)) return snprintf(text, size, "the trace shows no goroutine");
  if (!g) return idle_fact(sum, text, size);
  if (g->t.runnable > g->t.running && g->t.runnable > sum->duration / 10) {
    time_text(g->t.runnable, one);
    time_text(g->t.running, two);
    return snprintf(text, size, "%.*s waited %s for a proc%s, and ran %s", name_size(name), name.data, one,
                    sum->c.recorded ? "essor" : "", two);
  }
  if (mostly_blocked(sum, g, blocked, sizeof blocked))
    return snprintf(text, size, "%.*s is busiest, but %s", name_size(name), name.data, blocked);
  time_text(g->t.running, one);
  return snprintf(text, size, "%.*s is busiest: it ran %s, %.0f %% of its time", name_size(name), name.data, one,
                  100 * (double)g->t.running / (double)known_time(&g->t));
}

/* Where CPU time went; `used` of the text is written. */
static size_t hot_fact(const causes *why, char *text, size_t used, size_t size) {
  const hot_function *f = causes_complete(why) ? hottest(&why->hot) : NULL;
  pool_text name = pool_text_of(f ? f->name : 0);
  if (!f || used >= size) return used;
  return used + (size_t)snprintf(text + used, size - used, "%s%.0f %% of the CPU samples are in %.*s", used ? "; " : "",
                                 100 * (double)f->self / (double)why->hot.samples, name_size(name), name.data);
}

void stands_out(const summary *sum, const causes *why, char *text, size_t size) {
  const latency *l = &sum->worst.all[0];
  pool_text name = group_name(l->function), unknown = {"an unknown function", 19};
  char waited[32], when[32];
  size_t used = hot_fact(why, text, (size_t)main_fact(sum, text, size), size);
  if (!sum->c.recorded && sum->worst.count && l->waited >= LONG && used < size) {
    if (!name.size) name = unknown;
    time_text(l->waited, waited);
    time_text(between(sum->s.first, l->when), when);
    snprintf(text + used, size - used, "%slongest wait for a proc: %s, goroutine %llu (%.*s) at %s", used ? "; " : "",
             waited, (ull)l->g, name_size(name), name.data, when);
  }
}
