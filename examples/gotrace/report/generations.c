/* generations.c - reads a whole v2 trace for a summary, generation by generation: see summary.h
 *
 * The main thread follows the trace with a digest. On other threads, recordings keep what a summary needs of later
 * generations; the main thread plays them in order. A recording that does not fit is dropped, and its generation read
 * again. */

#include "recording.h"
#include "summary.h"

#include "../base/threads.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------- the digest's host ---- */

/* The host of a digest that follows the trace, or of what a recording passes on. */

typedef struct digesting {
  digest d;
  summary *sum;
} digesting;

static summary *sum_of(digest *d) { return ((digesting *)d)->sum; }

static void free_digesting(digest *d) {
  digest_free(d);
  free(d);
}

static void host_pass(digest *d, const gotrace_event *e) { summary_pass(sum_of(d), e); }

/* `m`: the thread on which it runs, or NOBODY. `reasons`: maps the digest's reasons to the summary's; NULL: they are
 * the same. */
static void catch_up(summary *sum, const digested *d, uint64_t m, const uint32_t *reasons) {
  goroutine *g = world_go(&sum->s.w, d->id);
  goroutine_summary *of = summary_of(sum, g);
  unsigned i;
  if (!of) return;
  summary_add_time(sum, of, GO_RUNNING, 0, d->running);
  summary_add_time(sum, of, GO_RUNNABLE, 0, d->runnable);
  for (i = 0; i < DIGESTED_WAITS; i++)
    if (d->u.waited[i]) /* otherwise its reason is not valid */
      summary_add_time(sum, of, GO_WAITING, reasons ? reasons[d->reasons[i]] : d->reasons[i], d->u.waited[i]);
  of->last = d->since;
  world_catch_up(&sum->s.w, g, d->since, d->status, d->status == GO_RUNNING ? m : NOBODY,
                 d->status == GO_WAITING ? sum->reasons[reasons ? reasons[d->reason] : d->reason].name : 0);
}

static void host_catch_up(digest *d, const digested *g) {
  catch_up(sum_of(d), g, g->status == GO_RUNNING ? d->threads.all[g->m]->id : NOBODY, NULL);
}

/* The summary of a goroutine that a digest may follow; NULL: it may not. The collector needs all events of its
 * goroutines, but for what is in `collects`. */
static const goroutine_summary *plain_go(summary *sum, uint64_t id, unsigned collects) {
  const goroutine *g = world_go(&sum->s.w, id);
  const goroutine_summary *of = summary_of(sum, g);
  bool plain = of && of->function && !of->function->others;
  return plain && !(sum->gc.any && (collector_of(&sum->gc, g)->collects & ~collects)) ? of : NULL;
}

static group *host_admit(digest *d, const digested *g, const gotrace_event *e) {
  const goroutine_summary *of = plain_go(sum_of(d), g->id, 0);
  (void)e;
  return of && of->has_started ? of->function : NULL; /* its first start is never digested */
}

static uint8_t host_reason(digest *d, uint64_t string) {
  summary *sum = sum_of(d);
  uint32_t place = summary_reason(sum, pool_take_text(d->decoder, string));
  return place < MOST_REASONS ? (uint8_t)place : PASS_ON;
}

/* Adds what a digest found apart from goroutines: counts of events, times of threads and procs, longest latencies. */
static void add_digest(summary *sum, const digest *d) {
  uint32_t i;
  for (i = 0; i < COUNT(d->kinds); i++) {
    sum->kinds[i] += d->kinds[i];
    if (d->specs[i]) sum->specs[i] = d->specs[i];
  }
  for (i = 0; i < d->threads.count; i++) {
    place_times *t = summary_of_thread(sum, world_thread(&sum->s.w, d->threads.all[i]->id));
    t->running = plus(t->running, d->threads.all[i]->running);
  }
  for (i = 0; i < d->procs.count; i++) {
    place_times *t = &summary_of_proc(sum, world_proc(&sum->s.w, d->procs.all[i]->id, true))->t;
    t->running = plus(t->running, d->procs.all[i]->running);
  }
  for (i = 0; i < d->worst.count; i++) {
    latency wait = d->worst.all[i];
    wait.function = group_of(&sum->functions, wait.function->name);
    note_latency(&sum->worst, wait);
  }
  sum->s.events += d->events;
  if (d->events && d->last > sum->s.end) sum->s.end = d->last;
}

/* ----------------------------------------------------------------------------------------------------- reading ---- */

typedef struct reading {
  summary *sum;
  bool wary;      /* atomic; a recording did not fit: see recording.h */
  digest *latest; /* of the last generation that was added up, for recordings; protected by latest_lock */
  pthread_mutex_t latest_lock;
} reading;

/* From now on, recordings look up functions in this finished digest. The caller keeps its own reference. */
static void set_latest(reading *r, digest *d) {
  digest *before;
  pthread_mutex_lock(&r->latest_lock);
  before = r->latest;
  r->latest = d ? digest_share(d) : NULL;
  pthread_mutex_unlock(&r->latest_lock);
  digest_release(before);
}

/* A reference to the latest digest, which the caller must release; NULL: there is none. */
static digest *share_latest(reading *r) {
  digest *d;
  pthread_mutex_lock(&r->latest_lock);
  d = r->latest ? digest_share(r->latest) : NULL;
  pthread_mutex_unlock(&r->latest_lock);
  return d;
}

static gotrace_result read_whole(void *context, input *in) {
  static const digest_host host = {host_pass, host_catch_up, host_admit, host_reason, free_digesting};
  const gotrace_event *events[64];
  digesting *here = resize(NULL, sizeof *here);
  reading *by = context;
  summary *sum = by->sum;
  digest *d = &here->d;
  gotrace_result result;
  size_t count;
  digest_begin(d, &host, in->decoder, NULL, sum->s.ahead.called.count != 0);
  here->sum = sum;
  do {
    count = COUNT(events);
    result = gotrace_decoder_next_batch(in->decoder, events, &count);
    if (result != GOTRACE_OK) break;
    input_count(in, count, events[count - 1]->offset);
    digest_take(d, events, count);
  } while (sum->jobs == 1 || !gotrace_decoder_between(in->decoder));
  digest_finish(d, host_catch_up);
  add_digest(sum, d);
  set_latest(by, d);
  digest_release(d);
  return result;
}

static void *read_part(void *context, gotrace_decoder *part) {
  reading *by = context;
  const gotrace_event *events[64];
  digest *latest = share_latest(by);
  recording *r = recording_new(part, latest, __atomic_load_n(&by->wary, __ATOMIC_RELAXED), &by->sum->s.ahead);
  size_t count;
  for (;;) {
    count = COUNT(events);
    if (gotrace_decoder_next_batch(part, events, &count) != GOTRACE_OK) break;
    digest_take(&r->d, events, count);
  }
  digest_end(&r->d);
  digest_release(latest);
  return r;
}

/* ----------------------------------------------------------------------------------------------- joining parts ---- */

#define PLAYED 32 /* goroutines at once */

/* Prefetches what is known about goroutines. They are many and anywhere in memory, so cache misses should overlap. */
static PREFETCHES void fetch_gos(summary *sum, const uint64_t *ids, size_t count) {
  static goroutine_summary *const none;
  const world *w = &sum->s.w;
  const goroutine *gos[PLAYED];
  goroutine_summary *const *of[PLAYED];
  size_t i;
  for (i = 0; i < count; i++) {
    gos[i] = w->near_gos ? w->near_gos[ids[i] & w->near_mask] : NULL;
    __builtin_prefetch(gos[i]);
  }
  for (i = 0; i < count; i++) {
    of[i] = gos[i] ? summary_place(sum, gos[i]) : &none;
    __builtin_prefetch(of[i]);
  }
  for (i = 0; i < count; i++) {
    if (!*of[i]) continue;
    __builtin_prefetch(*of[i]);
    __builtin_prefetch((const char *)*of[i] + 64);
  }
  for (i = 0; i < count; i++)
    if (*of[i]) __builtin_prefetch((*of[i])->t.blocked);
}

static PREFETCHES void fetch_admitted(summary *sum, const admitted *gos, size_t count) {
  uint64_t ids[PLAYED];
  size_t i;
  if (count > PLAYED) count = PLAYED;
  for (i = 0; i < count; i++) ids[i] = gos[i].id;
  fetch_gos(sum, ids, count);
}

/* Sets the name of a recorded group; false if it has another name already. */
static bool name_group(recorded_group *to, uint32_t name) {
  bool same = !to->is_named || to->g.name == name;
  to->is_named = true;
  to->g.name = name;
  return same;
}

static bool fits(void *context, const void *made) {
  reading *by = context;
  summary *sum = by->sum;
  const recording *r = made;
  recorded_group *to;
  size_t i, group_count = 0;
  bool fit = true;
  if (r->d.first <= sum->s.end) return false; /* times are not those of the whole trace: see gotrace.h */
  for (to = r->groups; to; to = to->next, group_count++)
    if (to->is_made) name_group(to, pool_put_text(to->name, cut_size(to->name, to->name_size)));
  for (i = 0; fit && i < r->go_count; i++) {
    const admitted *a = &r->gos[i];
    if (i % PLAYED == 0) fetch_admitted(sum, a, r->go_count - i);
    const goroutine_summary *of;
    if (a->is_new) continue;
    of = plain_go(sum, a->id, a->assisted ? COLLECTOR_ASSIST : 0);
    fit = of && name_group(a->to, of->function->name);
  }
  if (!fit) __atomic_store_n(&by->wary, true, __ATOMIC_RELAXED);
  return fit && sum->functions.count + group_count < MOST_GROUPS;
}

/* Decodes the next items, and prefetches their goroutines. */
static size_t play_some(summary *sum, const recording *r, size_t *position, int64_t *time, recorded items[PLAYED]) {
  uint64_t ids[PLAYED];
  size_t count = 0;
  for (; count < PLAYED && recording_play(r, position, &items[count], time); count++) {
    const recorded *item = &items[count];
    ids[count] = item->is_event ? event_subject(&item->event) : item->go.id;
  }
  fetch_gos(sum, ids, count);
  return count;
}

typedef struct player {
  summary *sum;
  uint32_t reasons[MOST_REASONS + 1]; /* maps the recording's reasons to the summary's */
  uint32_t known;                     /* number of reasons mapped so far */
  const digested *rest[PLAYED];       /* goroutines to catch up with, handled together */
  size_t rest_count;
} player;

static void play_catch_up(player *by, const recording *r, const digested *g, uint64_t m) {
  for (; by->known < r->reason_count; by->known++)
    by->reasons[by->known] = summary_reason(by->sum, pool_take_text(r->d.decoder, r->reasons[by->known]));
  catch_up(by->sum, g, m, by->reasons);
}

static void play_rest(player *by, const recording *r) {
  uint64_t ids[PLAYED];
  size_t i;
  for (i = 0; i < by->rest_count; i++) ids[i] = by->rest[i]->id;
  fetch_gos(by->sum, ids, by->rest_count);
  for (i = 0; i < by->rest_count; i++) {
    const digested *g = by->rest[i];
    play_catch_up(by, r, g, r->d.threads.count ? r->d.threads.all[g->m]->id : NOBODY);
  }
  by->rest_count = 0;
}

static void add_rest(digest *d, const digested *g) {
  const recording *r = (recording *)d;
  player *by = r->player;
  by->rest[by->rest_count++] = g;
  if (by->rest_count == PLAYED) play_rest(by, r);
}

static void play(player *by, recording *r) {
  size_t position = 0, count, i;
  int64_t time = 0;
  recorded items[PLAYED];
  memset(items, 0, sizeof items);
  while ((count = play_some(by->sum, r, &position, &time, items)) > 0) {
    for (i = 0; i < count; i++) {
      if (items[i].is_event) summary_pass(by->sum, &items[i].event);
      else play_catch_up(by, r, &items[i].go, items[i].m);
    }
  }
  r->player = by;
  digest_finish(&r->d, add_rest);
  play_rest(by, r);
}

static void join(void *context, void *made) {
  reading *by = context;
  summary *sum = by->sum;
  recording *r = made;
  player p = {.sum = sum};
  gotrace_decoder *whole = sum->s.in->decoder;
  recorded_group *to;
  sum->s.in->decoder = (gotrace_decoder *)r->d.decoder; /* whose strings and stacks the events name */
  play(&p, r);
  sum->s.in->decoder = whole;
  for (to = r->groups; to; to = to->next) merge_group(group_of(&sum->functions, to->g.name), &to->g, p.reasons);
  add_digest(sum, &r->d);
  set_latest(by, &r->d);
  input_count(sum->s.in, (size_t)r->d.events, r->d.offset);
}

static void drop(void *made) {
  recording *r = made;
  digest_release(&r->d);
}

gotrace_result read_generations(summary *sum, input *in) {
  reading by = {.sum = sum, .latest_lock = PTHREAD_MUTEX_INITIALIZER};
  const generations parts = {&by, read_whole, read_part, fits, join, drop};
  gotrace_result result = input_finish(in, sum->jobs, &parts);
  set_latest(&by, NULL);
  return result;
}
