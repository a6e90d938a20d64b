/* switches.h - the times without a processor; part of outside.h
 *
 * The kernel tells when a thread loses its processor and when it has one again. While the thread waits in what the
 * library sees, this says nothing new. Otherwise the trace would show it as running: it is blocked (RECORD_OFF_CPU) if
 * it gave its processor up, else runnable.
 *
 * The kernel's times are those of another clock than the records', so a switch may seem to come before a record that
 * came first, by CLOCKS_DIFFER at most. A thread without a processor writes no record, so one that seems to come so
 * soon after the loss came before it. */

#ifndef SWITCHES_H
#define SWITCHES_H

#define CLOCKS_DIFFER 25000 /* nanoseconds: see gotrace__read_clocks */

/* A context switch that is not in the trace yet. */
typedef struct thread_switch {
  uint64_t nanoseconds, tick;
  uint64_t turn;   /* when it is taken: the tick, or later */
  uint64_t latest; /* a record up to then was written before it */
  uint32_t thread;
  perf_kind kind;
} thread_switch;

typedef struct thread_switches {
  thread_switch *all; /* by time; those before `at` are in the trace */
  size_t at, count, capacity;
} thread_switches;

static void add_switch(thread_switches *w, thread_switch one) {
  one.turn = one.tick;
  GROW(w->all, w->count, w->capacity);
  w->all[w->count++] = one;
}

static int compare_switches(const void *a, const void *b) {
  uint64_t at = ((const thread_switch *)a)->nanoseconds, other = ((const thread_switch *)b)->nanoseconds;
  return at < other ? -1 : at > other;
}

static void forget_written(thread_switches *w) {
  if (w->at) memmove(w->all, w->all + w->at, (w->count - w->at) * sizeof *w->all);
  w->count -= w->at;
  w->at = 0;
}

static uint64_t next_switch(const thread_switches *w) { return w->at < w->count ? w->all[w->at].turn : UINT64_MAX; }

/* Has the last one that was taken, a loss, taken again later; not if the thread has a processor again by then. */
static void put_off(thread_switches *w, uint64_t turn) {
  size_t i = w->at - 1, next;
  thread_switch one = w->all[i];
  uint64_t again = turn + (one.latest - one.tick);
  for (next = w->at; next < w->count && w->all[next].turn <= again; next++)
    if (w->all[next].thread == one.thread) return;
  for (; i + 1 < w->count && w->all[i + 1].turn <= turn; i++) w->all[i] = w->all[i + 1];
  one.turn = turn;
  w->all[i] = one;
  w->at--;
}

/* Where a thread was last, as a reference: its last sample or call. `samples`: the last ones, by source. */
static uint32_t last_stack(gotrace__transcriber *t, const gotrace__source *source, const map *samples) {
  const sample *s = (const sample *)map_get(samples, (uintptr_t)source);
  gotrace__stack_frame frames[GOTRACE__SAMPLE_FRAMES];
  uint32_t i;
  if (!s || s->thread != source->id || s->tick < source->tick) return source->last_stack;
  memset(frames, 0, sizeof frames);
  for (i = 0; i < s->count; i++) frames[i].pc = s->pcs[i];
  return gotrace__own_stack(t, frames, s->count);
}

/* Writes the next one. All earlier records have been applied in the model. */
static void take_switch(thread_switches *w, gotrace__transcriber *t, const map *samples) {
  const thread_switch *s = &w->all[w->at++];
  gotrace__source *source = source_of_thread(t, s->thread);
  uint64_t time = gotrace__unit_of(t, s->tick);
  if (!source || t->full || t->error) return;
  if (s->kind == PERF_RUNS) {
    if (!source->off) return;
    gotrace__turn_to(t, source, time);
    gotrace__put_back(t, source);
    return;
  }
  if (source->waits_on) { /* a record before it, for one of another thread: at most until the end of the round */
    if (t->limit != UINT64_MAX) put_off(w, t->limit + 1);
    return;
  }
  if (gotrace__peek(t, source) && source->record_tick + 1 >= s->turn && source->record_tick <= s->latest) {
    put_off(w, source->record_tick + 2); /* one that is `later` has the turn before */
    return;
  }
  if (!source->go || !source->proc || source->go->status != GOTRACE__RUNNING) return;
  gotrace__turn_to(t, source, time);
  if (s->kind == PERF_SLEEPS) gotrace__take_off(t, source, RECORD_OFF_CPU, last_stack(t, source, samples));
  else gotrace__take_off(t, source, NULL, 0);
}

#endif
