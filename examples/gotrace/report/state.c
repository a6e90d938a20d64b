/* state.c - gotrace waits: what each goroutine does at a moment of the trace, and who has what it waits for
 *
 * Who will end a wait is not known then. Of another process, and of CPython's global lock, it is told who ended the
 * goroutine's last wait of the same kind at the same place. */

#include "../command/commands.h"
#include "../reading/source.h"
#include "causes.h"

#include <stdlib.h>

#define SHOWN 40 /* lines */
#define WIDTH 18 /* of what it does */

/* A goroutine's last wait. Waits for CPython's global lock that only end by their time-out are one. */
typedef struct last_wait {
  unsigned does;
  uint32_t place;
  int64_t begin;
  bool goes_on;
} last_wait;

/* Who ended one: a text, of another process; or a goroutine. All zero: neither. */
typedef struct ender {
  uint32_t process, name;
  uint64_t go;
} ender;

typedef struct state {
  consumer c;
  waits waits;
  holders holders;
  side_array last; /* last_wait by goroutine */
  map enders;      /* struct ender by goroutine, what it did and where: see ender_key() */
  int64_t end;
} state;

/* What one goroutine does. */
typedef struct doing {
  const goroutine *g;
  int64_t since;
  unsigned does;
  uint32_t place;
  told_holder held;
  ender last;   /* unless who has it is known */
  size_t count; /* of goroutines that do the same */
} doing;

static void begin_state(consumer *c, int64_t time) {
  state *x = (state *)c;
  x->end = time;
  x->waits.recorded = c->recorded;
}

static uint64_t ender_key(const goroutine *g, unsigned does, uint32_t place) {
  const uint64_t key[] = {g->id, does, place};
  return hash_of(key, sizeof key);
}

static void note_wait(state *x, const stretch *part, const goroutine *by) {
  last_wait *last = SIDE(last_wait, &x->last, part->g->number);
  unsigned does = does_in(&x->waits, part->status, part->stack, part->reason);
  uint32_t place = place_of(&x->waits, part->stack, part->g);
  uint64_t key = ender_key(part->g, does, place);
  bool is_gil = does == WAIT_GIL_CLASS;
  ender *who = map_get(&x->enders, key);
  *last = (last_wait){does, place, is_gil && last->goes_on ? last->begin : part->begin, is_gil && !by && part->by};
  if (is_gil && by) {
    who = map_keep(&x->enders, key, sizeof *who, NULL);
    *who = (ender){0, name_of(by), by->id};
    SIDE(last_wait, &x->last, by->number)->goes_on = false; /* it has had the lock */
  } else if (who && part->by && !last->goes_on) {
    *who = (ender){0};
  }
}

static void note_process(state *x, const goroutine *g, uint32_t process) {
  const last_wait *last = SIDE(last_wait, &x->last, g->number);
  ender *who = map_keep(&x->enders, ender_key(g, last->does, last->place), sizeof *who, NULL);
  *who = (ender){.process = process};
}

static void take_op(consumer *c, const op *o) {
  state *x = (state *)c;
  if (o->kind != GOTRACE_V2_USER_LOG) return;
  take_told_holder(&x->holders.told, c->w, o);
  if (told_process(o)) note_process(x, o->m->g, told_process(o));
}

static void take_stretch(consumer *c, const stretch *part) {
  state *x = (state *)c;
  goroutine *by = waker_of(part);
  holders_add(&x->holders, part, by);
  if (is_seen_wait(part->status, part->reason)) note_wait(x, part, by);
  if (part->status == GO_SYSCALL) SIDE(last_wait, &x->last, part->g->number)->goes_on = false;
}

static void end_state(consumer *c, int64_t time) { ((state *)c)->end = time; }

static doing doing_of(state *x, const goroutine *g) {
  doing d = {.g = g, .since = g->since, .does = does_in(&x->waits, g->status, g->stack, g->reason)};
  const last_wait *last = SIDE(last_wait, &x->last, g->number); /* also one that goes on */
  const ender *who;
  d.place = place_of(&x->waits, g->stack, g);
  d.held = holder_now(&x->holders, g);
  if (d.does == WAIT_GIL_CLASS && last->does == d.does) d.since = last->begin;
  who = g->status == GO_WAITING && !d.held.g ? map_get(&x->enders, ender_key(g, d.does, d.place)) : NULL;
  if (who) d.last = *who;
  d.count = 1;
  return d;
}

/* The runtime's own goroutines come last; then who has done it longest. */
static int by_time(const void *a, const void *b) {
  const doing *x = a, *y = b;
  int order = (x->does == WAIT_RUNTIME_CLASS) - (y->does == WAIT_RUNTIME_CLASS);
  if (order) return order;
  if (x->since != y->since) return x->since > y->since ? 1 : -1;
  return x->g->id < y->g->id ? -1 : x->g->id > y->g->id;
}

/* Joins what is shown in one line: the first of it, with the number of goroutines. */
static size_t join_equal(doing *all, size_t count) {
  map lines = {0};
  size_t i, kept = 0;
  for (i = 0; i < count; i++) {
    uint32_t key[7] = {name_of(all[i].g),
                       all[i].does,
                       all[i].place,
                       all[i].held.g ? all[i].held.g->number + 1 : 0,
                       all[i].held.g ? all[i].held.taken : 0,
                       all[i].last.process,
                       (uint32_t)all[i].last.go};
    uintptr_t at = (uintptr_t)map_get(&lines, hash_of(key, sizeof key));
    if (at) {
      all[at - 1].count++;
    } else {
      all[kept++] = all[i];
      map_put(&lines, hash_of(key, sizeof key), (void *)(uintptr_t)kept);
    }
  }
  map_free(&lines);
  return kept;
}

static void put_place(output *out, state *x, uint32_t place, uint32_t stack) {
  name_room room;
  const char *line = line_of(&x->waits, "", stack, &room);
  put_text(out, place, "(unknown)");
  put_visible(out, line, strlen(line));
}

static void write_line(output *out, state *x, const doing *d) {
  char time[32];
  print(out, "%9zu %11s %11llu  %-*s ", d->count, duration_text((double)between(d->since, x->end), time), (ull)d->g->id,
        WIDTH, does_text(d->does, &x->c));
  put_text(out, name_of(d->g), "(unknown)");
  if (d->g->stack) put_string(out, ", in "), put_place(out, x, d->place, d->g->stack);
  if (d->held.g) {
    uint32_t taken_in = own_function(&x->waits, d->held.taken);
    print(out, "; goroutine %llu has it", (ull)d->held.g->id);
    if (taken_in) put_string(out, ", taken in "), put_place(out, x, taken_in, d->held.taken);
  }
  if (d->last.process || d->last.go) put_string(out, "; its last such wait ended by ");
  if (d->last.process) put_string(out, "process "), put_text(out, d->last.process, "");
  if (d->last.go) print(out, "goroutine %llu, ", (ull)d->last.go), put_text(out, d->last.name, "(unknown)");
  put_string(out, "\n");
}

static void write_text(output *out, state *x, doing *all, size_t count) {
  const goroutine *first = find_deadlocked(&x->holders);
  size_t i, lines = join_equal(all, count);
  char text[1024];
  if (first) {
    deadlock_text(&x->holders, first, text, sizeof text);
    put_string(out, "deadlock: ");
    put_visible(out, text, strlen(text));
    put_string(out, "\n");
  }
  print(out, "%9s %11s %11s  %-*s function, place, at %s\n", "count", "for", "goroutine", WIDTH, "does",
        duration_text((double)between(x->c.base, x->end), text));
  for (i = 0; i < lines && i < SHOWN; i++) write_line(out, x, &all[i]);
  if (i < lines) print(out, "%9s and %zu more lines, which --json has\n", "", lines - i);
}

static void write_json(output *out, state *x, const doing *all, size_t count) {
  const goroutine *first = find_deadlocked(&x->holders), *g = first;
  size_t i;
  print(out, "{\"at\": %lld, \"deadlock\": [", (long long)between(x->c.base, x->end));
  for (; g; g = holder_now(&x->holders, g).g == first ? NULL : holder_now(&x->holders, g).g)
    print(out, "%s%llu", g == first ? "" : ", ", (ull)g->id);
  put_string(out, "],\n \"goroutines\": [");
  for (i = 0; i < count; i++) {
    const doing *d = &all[i];
    print(out, "%s\n  {\"go\": %llu, \"since\": %lld, \"time\": %lld, \"does\": \"%s\"", i ? "," : "", (ull)d->g->id,
          (long long)between(x->c.base, d->since), (long long)between(d->since, x->end), does_text(d->does, NULL));
    put_member(out, "function", name_of(d->g));
    if (d->g->status == GO_WAITING) put_member(out, "reason", d->g->reason);
    put_member(out, "place", d->place);
    if (d->held.g) print(out, ", \"held_by\": %llu", (ull)d->held.g->id);
    if (d->held.g) put_member(out, "taken_in", own_function(&x->waits, d->held.taken));
    if (d->last.process) put_member(out, "last_ended_by_process", d->last.process);
    if (d->last.go) print(out, ", \"last_ended_by\": %llu", (ull)d->last.go);
    put_string(out, "}");
    output_check(out);
  }
  put_string(out, "]}\n");
}

int command_waits(const char *path, const settings *set) {
  trace_part of;
  output out;
  state *x = keep(sizeof *x);
  doing *all = NULL;
  size_t count = 0, capacity = 0;
  const goroutine *g;
  x->c = (consumer){.begin = begin_state, .take = take_op, .end = end_state, .stretch = take_stretch, .statuses = true};
  x->holders.waits = &x->waits;
  if (!part_open(&of, path, set)) return 1;
  x->holders.w = &of.s.w;
  part_read(&of, &x->c, set, NULL, NULL);
  for (g = of.s.w.live; g; g = g->next) {
    GROW(all, count, capacity);
    all[count++] = doing_of(x, g);
  }
  if (count) qsort(all, count, sizeof *all, by_time);
  output_open(&out, set->output);
  if (set->json) write_json(&out, x, all, count);
  else write_text(&out, x, all, count);
  output_close(&out);
  holders_free(&x->holders);
  map_free(&x->enders);
  free(all);
  part_close(&of);
  return 0;
}
