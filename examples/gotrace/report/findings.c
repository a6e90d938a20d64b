/* findings.c - what is wrong with the program, in at most three sentences: see causes.h
 *
 * Each kind of finding has a test in tests/tool/findings.py, with a program that has the fault and with healthy ones
 * that come near it. The limits below are there to say nothing about healthy programs. A trace of `gotrace record` does
 * not show when a thread got a processor, so nothing is said there about procs. */

#include "causes.h"

#include <stdlib.h>

#define CRASH_WEIGHT 2000
#define DEADLOCK_WEIGHT 1000
#define SHOWN_DEADLOCKED 3   /* goroutines of a deadlock */
#define LOCK_SHARE 0.1       /* of the duration: how long goroutines waited for one holder's lock, in sum */
#define LOCK_TIME 100000     /* nanoseconds, such a wait on average */
#define HOT_LOCK_SHARE 0.5   /* the same as LOCK_SHARE, for shorter waits */
#define LOCK_SUM 1000000     /* and in sum */
#define LOCK_WAITS 3         /* and so many */
#define STUCK 25             /* goroutines of one place that never end */
#define SENDERS_SHARE 0.5    /* of the duration: how long goroutines waited to send to one receiver, in sum */
#define SENDERS_TIME 100000  /* nanoseconds, such a wait on average */
#define PAUSED_SHARE 0.02    /* of the duration: stop-the-worlds that the program asked for */
#define COLLECTED_SHARE 0.1  /* the same, by the collector */
#define PAUSED_TIME 500000   /* nanoseconds, in sum */
#define TASK_FACTOR 10       /* a task takes so many times its kind's median */
#define TASK_SHARE 0.05      /* of the duration */
#define TASK_TIME 5000000    /* nanoseconds */
#define TASKS 10             /* of a kind */
#define IDLE_SHARE 0.3       /* of the duration: procs are idle while goroutines are ready */
#define COLLECTOR_SHARE 0.25 /* of the procs' time */

/* A name as it is in the trace, at most `NAME_ROOM` bytes. */
static const char *named(uint32_t name, name_room *room) {
  pool_text text = pool_text_of(name);
  if (!text.size) return "(unknown)";
  room->text[shorten(text.data, text.size, NAME_ROOM, room->text)] = 0;
  return room->text;
}

const char *line_of(waits *w, const char *word, uint32_t stack, name_room *room) {
  pool_stack s = pool_stack_of(stack);
  uint32_t i = own_frame(w, stack);
  pool_text file = pool_text_of(i < s.count ? s.frames[i].file : 0);
  const char *name = file.size ? memrchr(file.data, '/', file.size) : NULL;
  *room->text = 0;
  if (!file.size || !s.frames[i].line) return room->text;
  name = name ? name + 1 : file.data;
  snprintf(room->text, sizeof room->text, " (%s%.*s:%llu)", word,
           (int)prefix_size(name, (size_t)(file.data + file.size - name), 80), name, (ull)s.frames[i].line);
  return room->text;
}

static double share_of(int64_t time, const causes *c) {
  int64_t whole = between(c->begin, c->end);
  return whole > 0 ? (double)time / (double)whole : 0;
}

static finding *add(diagnosis *found, const char *kind, double weight) {
  unsigned i = found->count;
  if (i == MOST_FINDINGS && found->all[i - 1].weight >= weight) return NULL;
  if (i < MOST_FINDINGS) found->count++;
  else i--;
  for (; i > 0 && found->all[i - 1].weight < weight; i--) found->all[i] = found->all[i - 1];
  found->all[i] = (finding){.kind = kind, .weight = weight};
  return &found->all[i];
}

/* Where to look: the time of something, and a bit around it. */
static void look_at(const causes *c, finding *f, const char *command, int64_t begin, int64_t end) {
  int64_t first = c->s.first, room = between(begin, end) / 10, since = between(first, begin),
          until = between(first, end);
  snprintf(f->look, sizeof f->look, "%s --from %lld --to %lld", command, (long long)between(room, since),
           (long long)plus(until, room));
}

/* ------------------------------------------------------------------------------------------------------- locks ---- */

typedef struct held { /* by one holder's function, over all waiters */
  uint32_t holder;
  wait_class is;
  uint64_t total, count;
  const holder_sum *most;
  activity did;
} held;

static void find_lock(causes *c, diagnosis *found) {
  map all = {0};
  held *worst = NULL;
  size_t i;
  for (i = 0; i < c->holder_sums.count; i++) {
    const holder_sum *s = c->holder_sums.values[i];
    held *h;
    bool made;
    if (!wait_is(s->is, WAIT_LOCK)) continue;
    h = map_keep(&all, (uint64_t)s->holder << 8 | s->is, sizeof *h, &made);
    h->holder = s->holder;
    h->is = s->is;
    h->total += s->parts.total;
    h->count += s->parts.count;
    activity_merge(&h->did, &s->did);
    if (made || s->parts.total > h->most->parts.total) h->most = s;
  }
  for (i = 0; i < all.count; i++) {
    held *h = all.values[i];
    if (h->count >= LOCK_WAITS && (!worst || h->total > worst->total)) worst = h;
  }
  if (worst) {
    double share = share_of((int64_t)worst->total, c);
    bool is_long = worst->total / worst->count >= LOCK_TIME;
    finding *f =
        worst->total >= LOCK_SUM && share >= (is_long ? LOCK_SHARE : HOT_LOCK_SHARE) ? add(found, "lock", share) : NULL;
    if (f) {
      name_room a, b, line;
      const holder_sum *most = worst->most;
      char total[32], longest[32], did[DID_TEXT];
      const histogram *parts = &most->parts;
      snprintf(
          f->text, sizeof f->text,
          "%s had %s%s%s while others waited for it: %s in sum, once for %s, most of it in %s; meanwhile the holder "
          "was "
          "%s",
          named(worst->holder, &a), worst->is == WAIT_GIL_CLASS ? "" : "a ", wait_classes[worst->is].text,
          line_of(&c->waits, most->taken ? "taken at " : "released at ", most->taken ? most->taken : most->released,
                  &line),
          duration_text((double)worst->total, total), duration_text((double)parts->longest, longest),
          named(most->place, &b), did_text(c, &worst->did, did));
      snprintf(f->look, sizeof f->look, "path --go %llu --from %lld --to %lld", (ull)parts->who,
               (long long)between(c->s.first, parts->when),
               (long long)plus(between(c->s.first, parts->when), parts->longest));
    }
  }
  map_free(&all);
}

/* ------------------------------------------------------------------------------------------ crashes, deadlocks ---- */

void deadlock_text(holders *h, const goroutine *first, char *text, size_t size) {
  const goroutine *g = first;
  unsigned count = 0;
  size_t used = 0;
  do {
    told_holder told = holder_now(h, g);
    name_room name, place, line, taken, where;
    uint32_t taken_in = own_function(h->waits, told.taken); /* 0: in a wrapper, the only frame that is known */
    char who[40];
    snprintf(who, sizeof who, "goroutine %llu", (ull)told.g->id);
    if (count++ < SHOWN_DEADLOCKED)
      used += (size_t)snprintf(text + used, size - used,
                               "%sgoroutine %llu (%s) waits in %s%s for a lock that %s took%s%s%s", used ? "; " : "",
                               (ull)g->id, named(name_of(g), &name), named(place_of(h->waits, g->stack, g), &place),
                               line_of(h->waits, "", g->stack, &line), told.g == g ? "it" : who, taken_in ? " in " : "",
                               taken_in ? named(taken_in, &taken) : "", line_of(h->waits, "", told.taken, &where));
    if (used > size - 1) used = size - 1;
    g = told.g;
  } while (g != first);
  if (count > SHOWN_DEADLOCKED) snprintf(text + used, size - used, "; and so on, %u goroutines in all", count);
}

static void find_crash(causes *c, diagnosis *found) {
  finding *f = c->crash.g ? add(found, "crash", CRASH_WEIGHT) : NULL;
  name_room signal, place, line, name;
  if (!f) return;
  snprintf(f->text, sizeof f->text, "the program crashed by %s in %s%s, in goroutine %llu (%s)",
           named(c->crash.signal, &signal), named(place_of(&c->waits, c->crash.stack, c->crash.g), &place),
           line_of(&c->waits, "", c->crash.stack, &line), (ull)c->crash.g->id, named(name_of(c->crash.g), &name));
  snprintf(f->look, sizeof f->look, "waits");
}

static void find_deadlock(causes *c, diagnosis *found) {
  const goroutine *g = find_deadlocked(&c->holders);
  finding *f = g ? add(found, "deadlock", DEADLOCK_WEIGHT) : NULL;
  int used;
  if (!f) return;
  used = snprintf(f->text, sizeof f->text, "deadlock: ");
  deadlock_text(&c->holders, g, f->text + used, sizeof f->text - (size_t)used);
  snprintf(f->look, sizeof f->look, "waits");
}

/* ------------------------------------------------------------------------------------------ goroutines that stay ----
 */

static void find_stuck(causes *c, diagnosis *found) {
  const stuck_sum *worst = NULL;
  size_t i;
  for (i = 0; i < c->stuck.count; i++) {
    const stuck_sum *s = c->stuck.values[i];
    unsigned quarters = 0, k;
    for (k = 0; k < 4; k++) quarters += s->quarters[k] >= 1 + s->count / 20;
    if (s->count < STUCK || quarters < 3 || ended_of(c, s->name) > s->count) continue;
    if (!worst || s->count > worst->count) worst = s;
  }
  if (worst) {
    name_room a, b, d, line;
    finding *f = add(found, "leak", (double)worst->count / STUCK);
    if (!f) return;
    snprintf(f->text, sizeof f->text,
             "%llu goroutines of %s%s%s were made throughout and never end: they wait in %s%s, %s", (ull)worst->count,
             named(worst->name, &a), worst->made_in ? ", made in " : "",
             worst->made_in ? named(worst->made_in, &d) : "", named(worst->place, &b),
             line_of(&c->waits, "", worst->stack, &line), wait_classes[worst->is].text);
    snprintf(f->look, sizeof f->look, "path --go %llu", (ull)worst->id);
  }
}

/* --------------------------------------------------------------------------------------------- a slow receiver ---- */

static void find_receiver(causes *c, diagnosis *found) {
  const holder_sum *worst = NULL;
  size_t i, j;
  for (i = 0; i < c->holder_sums.count; i++) {
    const holder_sum *s = c->holder_sums.values[i];
    uint64_t all = 0;
    int64_t whole = whole_of(&s->did), idle = s->did.time[WAIT_RECEIVE_CLASS] + s->did.time[WAIT_SELECT_CLASS];
    if (s->is != WAIT_SEND_CLASS || s->several || s->parts.total / s->parts.count < SENDERS_TIME) continue;
    if (share_of((int64_t)s->parts.total, c) < SENDERS_SHARE || 2 * idle > whole) continue;
    for (j = 0; j < c->holder_sums.count; j++) {
      const holder_sum *other = c->holder_sums.values[j];
      if (other->is == s->is && other->place == s->place) all += other->parts.total;
    }
    if ((double)s->parts.total < 0.9 * (double)all) continue;
    if (!worst || s->parts.total > worst->parts.total) worst = s;
  }
  if (worst) {
    name_room a, b, line;
    char total[32], did[DID_TEXT];
    finding *f = add(found, "channel", share_of((int64_t)worst->parts.total, c));
    if (!f) return;
    snprintf(f->text, sizeof f->text,
             "goroutine %llu alone receives from a channel, in %s%s, and is too slow: %s waited to send for %s in sum; "
             "meanwhile the receiver was %s",
             (ull)worst->id, named(worst->holder, &a), line_of(&c->waits, "", worst->released, &line),
             named(worst->place, &b), duration_text((double)worst->parts.total, total), did_text(c, &worst->did, did));
    snprintf(f->look, sizeof f->look, "info --go %llu", (ull)worst->id);
  }
}

/* ------------------------------------------------------------------------------------------------------ pauses ---- */

static bool is_tracers(uint32_t reason) {
  return pool_text_is(reason, "start trace") || pool_text_is(reason, "stop trace");
}

static bool has_kind(const diagnosis *found, const char *kind) {
  unsigned i;
  for (i = 0; i < found->count; i++)
    if (strcmp(found->all[i].kind, kind) == 0) return true;
  return false;
}

static void find_pauses(causes *c, diagnosis *found) {
  const stop_sum *worst = NULL;
  uint64_t collectors = 0;
  size_t i;
  double procs = c->s.w.gomaxprocs ? (double)c->s.w.gomaxprocs : 1;
  for (i = 0; i < c->stops.count; i++) {
    const stop_sum *s = c->stops.values[i];
    bool gc = pool_text_contains(s->reason, "GC");
    if (gc) collectors += s->pauses.total;
    if (gc || is_tracers(s->reason)) continue;
    if (!worst || s->pauses.total > worst->pauses.total) worst = s;
  }
  if (worst && worst->pauses.total >= PAUSED_TIME && share_of((int64_t)worst->pauses.total, c) >= PAUSED_SHARE) {
    name_room a, b, line;
    char total[32], longest[32];
    finding *f = add(found, "pauses", share_of((int64_t)worst->pauses.total, c) * procs);
    if (!f) return;
    snprintf(f->text, sizeof f->text,
             "%s%s stops the world %llu times (%s): %.1f %% of the time, %s in sum, once for %s",
             named(worst->place, &a), line_of(&c->waits, "", worst->stack, &line), (ull)worst->pauses.count,
             named(worst->reason, &b), 100 * share_of((int64_t)worst->pauses.total, c),
             duration_text((double)worst->pauses.total, total), duration_text((double)worst->pauses.longest, longest));
    look_at(c, f, "dump", worst->pauses.when, plus(worst->pauses.when, worst->pauses.longest));
  } else if (!has_kind(found, "collector") && collectors >= PAUSED_TIME &&
             share_of((int64_t)collectors, c) >= COLLECTED_SHARE) {
    finding *f = add(found, "pauses", share_of((int64_t)collectors, c) * procs);
    char total[32];
    if (!f) return;
    snprintf(f->text, sizeof f->text, "the collector stops the world for %.1f %% of the time, %s in sum",
             100 * share_of((int64_t)collectors, c), duration_text((double)collectors, total));
  }
}

/* ------------------------------------------------------------------------------------------------------- tasks ---- */

static void find_task(const causes *c, diagnosis *found) {
  const kind_of_task *worst = NULL;
  size_t i;
  for (i = 0; i < c->task_kinds.count; i++) {
    const kind_of_task *k = c->task_kinds.values[i];
    int64_t median = k->whole.count ? histogram_percentile(&k->whole, 0.5) : 0;
    if (k->whole.count < TASKS || k->whole.longest / TASK_FACTOR < median || k->whole.longest < TASK_TIME) continue;
    if (k->whole.longest / 3 < histogram_percentile(&k->whole, 0.9)) continue;
    if (share_of(k->whole.longest, c) < TASK_SHARE) continue;
    if (!worst || k->whole.longest > worst->whole.longest) worst = k;
  }
  if (worst) {
    name_room a, b, d;
    char longest[32], median[32], part[32];
    int64_t time, whole = whole_of(&worst->did);
    unsigned most = most_of(&worst->did, &time);
    finding *f = add(found, "task", share_of(worst->whole.longest, c));
    int used;
    if (!f) return;
    used = snprintf(f->text, sizeof f->text, "task %llu %s took %s, %.0f times its kind's median of %s", (ull)worst->id,
                    named(worst->name, &a), duration_text((double)worst->whole.longest, longest),
                    (double)worst->whole.longest / (double)(histogram_percentile(&worst->whole, 0.5) + 1),
                    duration_text((double)histogram_percentile(&worst->whole, 0.5), median));
    if (whole)
      used += snprintf(f->text + used, sizeof f->text - (size_t)used, ": %s of that %s%s",
                       duration_text((double)time, part), most < DOES_RUN ? "waiting: " : "", does_text(most, &c->c));
    if (whole && most == worst->is && worst->place)
      used += snprintf(f->text + used, sizeof f->text - (size_t)used, " in %s", named(worst->place, &b));
    if (whole && most == worst->is && worst->holder)
      snprintf(f->text + used, sizeof f->text - (size_t)used, ", through %s", named(worst->holder, &d));
    snprintf(f->look, sizeof f->look, "path --task %llu", (ull)worst->id);
  }
}

/* ---------------------------------------------------------------------------------------------- procs, collector ----
 */

static void find_idle(const causes *c, diagnosis *found) {
  double share = share_of(c->idle_time, c);
  finding *f;
  char longest[32], total[32];
  if (c->c.recorded || share < IDLE_SHARE || !(f = add(found, "procs", share))) return;
  snprintf(f->text, sizeof f->text,
           "procs were idle while goroutines were ready to run, for %s in sum, one of them for %s: the "
           "scheduler did not wake the procs, or their threads got no processor",
           duration_text((double)c->idle_time, total), duration_text((double)c->idle_longest, longest));
}

static void find_collector(const causes *c, const summary *sum, diagnosis *found) {
  double share = collector_share(&sum->gc);
  finding *f;
  const wait_sum *most = NULL;
  size_t i;
  if (share < COLLECTOR_SHARE || !(f = add(found, "collector", share * (double)c->s.w.gomaxprocs))) return;
  snprintf(f->text, sizeof f->text, "the collector takes %.0f %% of the procs' time", 100 * share);
  for (i = 0; i < c->wait_sums.count; i++) {
    const wait_sum *s = c->wait_sums.values[i];
    if (wait_is(s->is, WAIT_GC) && (!most || s->waits.total > most->waits.total)) most = s;
  }
  if (most && share_of((int64_t)most->waits.total, c) >= 0.05) {
    name_room a;
    char total[32];
    size_t used = strlen(f->text);
    snprintf(f->text + used, sizeof f->text - used, "; %s waited %s for it", named(most->place, &a),
             duration_text((double)most->waits.total, total));
  }
}

void find_findings(causes *c, const summary *sum) {
  diagnosis *found = &c->found;
  if (sum->selection.on || c->end <= c->begin) return; /* not of some goroutines, of which too much is unknown */
  find_crash(c, found);
  find_deadlock(c, found);
  find_collector(c, sum, found); /* before its pauses */
  find_lock(c, found);
  find_stuck(c, found);
  find_receiver(c, found);
  find_pauses(c, found);
  find_task(c, found);
  find_idle(c, found);
}
