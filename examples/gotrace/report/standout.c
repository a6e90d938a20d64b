/* standout.c - one line about what stands out in a trace
 *
 * First comes what makes everything else unreliable or unimportant: events were lost, the world was stopped for long,
 * or goroutines waited for procs longer than they ran. Otherwise it is what the program's busiest function did when it
 * did not run: what it waited for most, or where it was in system calls, even if it hardly ran. The longest wait for a
 * proc is always added, and the function with most CPU samples, if it has a good part of them, alone or with what it
 * calls.
 *
 * A trace of `gotrace record` without context switches does not show what a thread did between being woken and
 * returning from its wait, nor what it waited for in calls that are not wrapped. So nothing is said there about waits
 * for procs, and the busiest function is the one with most CPU time. */

#include "tables.h"

#define PAUSED 0.02  /* a share of the time that is worth reporting */
#define BUSY 0.01    /* the same for the running time of a function */
#define LONG 1000000 /* nanoseconds: a long wait for a proc */
#define NOTED 0.2    /* of a function's time that was something else than running: worth a word */

#define WHO_TEXT 200
#define REST_TEXT 256

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

/* "NAME", or "NAME (3 goroutines)": then all times are sums. */
static const char *who_text(const group *g, char text[WHO_TEXT]) {
  pool_text name = group_name(g);
  int used = snprintf(text, WHO_TEXT, "%.*s", name_size(name), name.data);
  if (g->count > 1) snprintf(text + used, WHO_TEXT - (size_t)used, " (%llu goroutines)", (ull)g->count);
  return text;
}

/* What a function did for longest when it did not run: "waiting for a proc 46 % of its time", "in system calls 76 % of
 * its time, most of that in write", "blocked 20 % of its time, most of that for: pipe". Returns that time. */
static int64_t rest_text(const summary *sum, const causes *why, const group *g, char text[REST_TEXT]) {
  int64_t blocked = blocked_time(&g->t), called = plus(g->t.syscall, g->t.syscall_blocked);
  int64_t ready = waits_unseen(&sum->c) ? 0 : g->t.runnable; /* it may have slept again */
  double whole = (double)known_time(&g->t) / 100;
  uint32_t i, most = 0;
  pool_text name;
  *text = 0;
  if (ready > blocked && ready > called) {
    snprintf(text, REST_TEXT, "waiting for a proc%s %.0f %% of its time", sum->c.recorded ? "essor" : "",
             (double)ready / whole);
    return ready;
  }
  if (called > blocked) {
    name = pool_text_of(causes_complete(why) ? most_called(why, g->name, called) : 0);
    snprintf(text, REST_TEXT, "in system calls %.0f %% of its time%s%.*s", (double)called / whole,
             name.size ? ", most of that in " : "", name_size(name), name.data);
    return called;
  }
  if (!blocked) return 0;
  for (i = 1; i < g->t.blocked_count; i++)
    if (g->t.blocked[i].time > g->t.blocked[most].time) most = i;
  name = reason_text(sum, g->t.blocked[most].reason);
  snprintf(text, REST_TEXT, "blocked %.0f %% of its time, most of that for: %.*s", (double)blocked / whole,
           name_size(name), name.data);
  return blocked;
}

/* No function ran for long: what the one that ran most waited for. */
static int idle_fact(const summary *sum, const causes *why, char *text, size_t size) {
  const group *g = busiest(sum, 0);
  char rest[REST_TEXT], ran[32], who[WHO_TEXT];
  if (!g || rest_text(sum, why, g, rest) <= g->t.running)
    return snprintf(text, size, "no function of the program ran for as much as 1 %% of the time");
  time_text(g->t.running, ran);
  return snprintf(text, size, "%s was %s; it ran %s", who_text(g, who), rest, ran);
}

/* The function with most CPU time, for traces of `gotrace record` without context switches. */
static int recorded_fact(const summary *sum, const causes *why, char *text, size_t size) {
  const group *g, *best = NULL;
  char used[32], ran[32], rest[REST_TEXT], who[WHO_TEXT];
  for (g = sum->functions.list; g; g = g->next)
    if (g->t.cpu > 0 && exceeds(g, g->t.cpu, best, best ? best->t.cpu : 0)) best = g;
  if (!best) return snprintf(text, size, "%s", "");
  time_text(best->t.cpu, used);
  if (rest_text(sum, why, best, rest) > best->t.running)
    return snprintf(text, size, "%s has most CPU time, %s, and was %s", who_text(best, who), used, rest);
  time_text(best->t.running, ran);
  return snprintf(text, size, "%s has most CPU time: %s; for %s it was not seen waiting", who_text(best, who), used,
                  ran);
}

static int main_fact(const summary *sum, const causes *why, char *text, size_t size) {
  const group *g = busiest(sum, BUSY);
  const histogram *pauses = &sum->gc.pauses;
  char one[32], two[32], rest[REST_TEXT], who[WHO_TEXT];
  int64_t rested;
  double whole;
  if (sum->dropped) return snprintf(text, size, "the tracer lost events %llu times", (ull)sum->dropped);
  if ((double)pauses->total > PAUSED * (double)sum->duration && sum->duration) {
    time_text(pauses->longest, one);
    return snprintf(text, size, "the world is stopped %.1f %% of the time, once for %s",
                    100 * (double)pauses->total / (double)sum->duration, one);
  }
  if (waits_unseen(&sum->c)) return recorded_fact(sum, why, text, size);
  if (!g && sum->selection.on) return snprintf(text, size, "%s", "");
  if (!has_goroutine(&sum->functions)) return snprintf(text, size, "the trace shows no goroutine");
  if (!g) return idle_fact(sum, why, text, size);
  who_text(g, who);
  time_text(g->t.running, one);
  if (g->t.runnable > g->t.running && g->t.runnable > sum->duration / 10) {
    time_text(g->t.runnable, two);
    return snprintf(text, size, "%s waited %s for a proc%s, and ran %s", who, two, sum->c.recorded ? "essor" : "", one);
  }
  rested = rest_text(sum, why, g, rest);
  if (rested > g->t.running) return snprintf(text, size, "%s is busiest, but %s", who, rest);
  whole = (double)known_time(&g->t);
  if ((double)rested < NOTED * whole) *rest = 0;
  return snprintf(text, size, "%s is busiest: it ran %s, %.0f %% of its time%s%s", who, one,
                  100 * (double)g->t.running / whole, *rest ? "; it was " : "", rest);
}

/* Where CPU time went: in one function, or else in one with what it calls, which is not what a goroutine began with.
 * `used` of the text is written. */
static size_t hot_fact(const summary *sum, const causes *why, char *text, size_t used, size_t size) {
  const hot_function *f = causes_complete(why) ? hottest(&why->hot) : NULL;
  bool alone = f != NULL;
  pool_text name;
  if (!alone && causes_complete(why)) f = hottest_with_called(&why->hot);
  name = pool_text_of(f ? f->name : 0);
  if (!name.size || used >= size || (!alone && map_get(&sum->functions.by_name, (uint64_t)f->name + 1))) return used;
  return used + (size_t)snprintf(text + used, size - used, "%s%.0f %% of the CPU samples are in %.*s%s",
                                 used ? "; " : "",
                                 100 * (double)(alone ? f->self : f->total) / (double)why->hot.samples, name_size(name),
                                 name.data, alone ? "" : " and what it calls");
}

void stands_out(const summary *sum, const causes *why, char *text, size_t size) {
  const latency *l = &sum->worst.all[0];
  pool_text name = group_name(l->function), unknown = {"an unknown function", 19};
  char waited[32], when[32];
  size_t used = hot_fact(sum, why, text, (size_t)main_fact(sum, why, text, size), size);
  if (!sum->c.recorded && sum->worst.count && l->waited >= LONG && used < size) {
    if (!name.size) name = unknown;
    time_text(l->waited, waited);
    time_text(between(sum->s.first, l->when), when);
    snprintf(text + used, size - used, "%slongest wait for a proc: %s, goroutine %llu (%.*s) at %s", used ? "; " : "",
             waited, (ull)l->g, name_size(name), name.data, when);
  }
}
