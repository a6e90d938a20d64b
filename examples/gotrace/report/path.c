/* path.c - gotrace path: the critical path, what the end of a task or goroutine waited for
 *
 * The path is found backwards. It starts where the task or goroutine ends and follows that goroutine into its past. At
 * the end of a wait it moves to the goroutine that ended the wait, at that moment, and follows that one back to where
 * the wait began, through waits of its own in the same way. There it returns to the goroutine that waited. So each wait
 * is explained by what others did meanwhile, and by nothing else. From a goroutine's first moment the path moves to its
 * creator.
 *
 * Within a wait, the path follows a goroutine back only to where it became ready for no recorded reason: an idle worker
 * that the scheduler started, or a goroutine without a known creator. What remains of the wait belongs to the goroutine
 * that waited. Some reasons are a cause themselves (has_own_cause): the path stays in the waiting goroutine. It does
 * so, too, if a wait that is not within another one has no end, or is ended by no goroutine or by an unknown one. If a
 * goroutine's creator is unknown, the time before it is "outside", unless it is within a wait. So the steps of the path
 * cover the whole interval without gaps.
 *
 * A task may end in another goroutine than it began in, such as a worker that gets it through a channel. What the
 * worker did before belongs to other tasks. So the path does not return from a wait that the task's first goroutine
 * ended.
 *
 * With --no-return the path never returns to a goroutine that waited: it follows the one that ended the wait through
 * all that it did before, back to the end of its own last wait. So what a goroutine did before a wait is not on the
 * path: had it been faster there, it would only have waited longer.
 *
 * Beside the path, its outermost waits are added up by who had or did what was waited for, as in holders.h; its time by
 * regions; and the time in which the world was stopped. That time is part of a step, but it is not running.
 *
 * All stretches of the selected part are kept until the path is known, 32 bytes each. A moment refers to a goroutine's
 * past: to the last stretch that had ended or, if none had, to the goroutine itself. A record only holds moments that
 * are older than itself, and a return goes to an earlier time than all that was found since, so the walk terminates. */

#include "../command/commands.h"
#include "folded.h"
#include "groups.h"
#include "holders.h"
#include "marks.h"
#include "../reading/source.h"

#include <stdlib.h>

#define OUTSIDE 0 /* no moment; no goroutine */
#define LIFE 0x80000000u
#define MOST_STRETCHES 0x7ffffff0u

typedef uint32_t moment; /* 1 + the index of a stretch, or LIFE + 1 + the index of a goroutine */

typedef struct past { /* a stretch */
  int64_t end;        /* and start of the next one */
  moment before;      /* the goroutine's previous stretch; its LIFE if this is the first */
  uint32_t life;
  moment waker;   /* if it is a wait: the goroutine that ended it, at that moment */
  uint32_t stack; /* where the goroutine was, as far as known */
  uint32_t woke;  /* stack of the waker */
  uint32_t reason : 29, status : 3;
} past;

_Static_assert(sizeof(past) == 32, "the help states the memory for a stretch");

typedef struct life { /* a goroutine; ids may be reused */
  uint64_t id;
  int64_t begin;
  moment last; /* its latest moment so far */
  mark_place mark;
  moment creator; /* OUTSIDE: unknown */
  uint32_t stack; /* of its creation */
  uint32_t entry; /* text: the function that it began with */
} life;

typedef struct task {
  uint64_t id;
  uint32_t name, stack; /* `stack`: of its end */
  bool begun, ended;    /* begun: its start, which has its name, is in the trace */
  int64_t begin, end;
  moment last;   /* the goroutine that ended it, at that moment */
  uint32_t home; /* 1 + the index of the goroutine that began it; 0: unknown */
} task;

typedef struct step { /* of the path */
  int64_t begin, end;
  uint32_t life, by; /* 1 + indices; `by`: the waker or creator from which the path came. 0: outside */
  uint32_t stack, by_stack;
  uint32_t reason;
  uint8_t status;   /* GO_NONE: outside */
  bool created;     /* `by` is the creator */
  bool outside;     /* a wait that no known goroutine ended */
  uint32_t process; /* text: of another process that ended it; 0: not told */
  uint32_t region;  /* text; 0: none */
  int64_t stopped;  /* how long the world was stopped meanwhile */
} step;

typedef struct region_time { /* on the path */
  uint32_t name;
  int64_t time;
} region_time;

typedef struct blame { /* outermost waits of a class in a place, through a goroutine's function */
  wait_class is;
  uint32_t place, holder;
  uint64_t id; /* of the longest part's holder */
  size_t count;
  int64_t time, longest;
} blame;

typedef struct holding { /* who had a lock when a wait for it began, and where that was taken, where the trace tells */
  uint32_t life, taken;
} holding;

/* A wait that the walk explains now. The walk is in the past of another goroutine and returns when the wait began. */
typedef struct detour {
  moment wait; /* the innermost wait, which began at `begin` or before */
  moment back; /* past of the goroutine to return to, whose wait began at `begin` */
  int64_t begin;
} detour;

typedef struct path {
  consumer c;
  side_array gos; /* uint32_t: 1 + the goroutine's index in `lives`; 0: none yet */
  past *pasts;
  life *lives;
  task *tasks;
  step *steps; /* backwards */
  uint32_t past_count, past_capacity, life_count, life_capacity, task_count, task_capacity;
  size_t step_count, step_capacity;
  uint64_t wanted; /* a task's id */
  bool met;        /* an operation tells of it, perhaps before the part */
  map open;        /* from a task's id to 1 + its place */
  detour *detours;
  size_t detour_count, detour_capacity;
  int64_t floor; /* the walk is within a wait that began then, or the whole path begins then */
  bool no_return;
  uint32_t home; /* of the task */
  int64_t begin, end;
  waits waits;
  stops stopped;
  marks marks;
  side_array told; /* told_holder by goroutine, of the wait that follows */
  map held;        /* struct holding by moment of a wait */
  map processes;   /* text by moment of a wait that another process ended */
  map blames;      /* struct blame */
  map regions;     /* the place of a region's name in region_times */
  region_time *region_times;
  uint32_t region_count, region_capacity;
} path;

/* -------------------------------------------------------------------------------------------------- collecting ---- */

static uint32_t *life_number(path *p, const goroutine *g) { return SIDE(uint32_t, &p->gos, g->number); }

static uint32_t new_life(path *p, const goroutine *g, int64_t begin) {
  if (p->life_count >= MOST_STRETCHES) fail("too many goroutines; select a part with --from and --to");
  GROW(p->lives, p->life_count, p->life_capacity);
  p->life_count++;
  p->lives[p->life_count - 1] = (life){.id = g->id, .begin = begin, .last = LIFE | p->life_count};
  marks_begin(&p->marks, &p->lives[p->life_count - 1].mark, g, begin);
  return *life_number(p, g) = p->life_count;
}

static life *life_of(path *p, const goroutine *g) {
  if (!*life_number(p, g)) new_life(p, g, g->since > p->c.from ? g->since : p->c.from);
  return &p->lives[*life_number(p, g) - 1];
}

static uint32_t life_at(const path *p, moment at) { return at & LIFE ? at & ~LIFE : at ? p->pasts[at - 1].life : 0; }

/* The current moment of the goroutine that runs where an operation happens. */
static moment moment_at(path *p, const op *o) {
  goroutine *g = o->m ? o->m->g : NULL;
  return g && g->status == GO_RUNNING && !o->outside ? life_of(p, g)->last : OUTSIDE;
}

/* The last stretch is a wait of the goroutine. */
static void note_holder(path *p, const goroutine *g) {
  told_holder *told = SIDE(told_holder, &p->told, g->number);
  if (told->g && told->g->status != GO_NONE) {
    uint32_t of = (uint32_t)(life_of(p, told->g) - p->lives) + 1;
    *(holding *)map_keep(&p->held, p->past_count, sizeof(holding), NULL) = (holding){of, told->taken};
  }
  *told = (told_holder){0};
}

/* Another process ended the goroutine's last wait that the recorder saw. */
static void note_process(path *p, const goroutine *g, uint32_t process) {
  moment at = life_of(p, g)->last;
  while (at && !(at & LIFE) && !is_seen_wait(p->pasts[at - 1].status, p->pasts[at - 1].reason))
    at = p->pasts[at - 1].before;
  if (at && !(at & LIFE)) map_put(&p->processes, at, (void *)(uintptr_t)process);
}

static void path_stretch(consumer *c, const stretch *part) {
  path *p = (path *)c;
  goroutine *g = part->g;
  life *l;
  past *made;
  moment waker = OUTSIDE;
  if (part->status == GO_WAITING && part->by) waker = moment_at(p, part->by);
  if (p->past_count >= MOST_STRETCHES) fail("too many events; select a part with --from and --to");
  GROW(p->pasts, p->past_count, p->past_capacity);
  made = &p->pasts[p->past_count++];
  l = life_of(p, g);
  if (!l->entry) l->entry = name_of(g);
  *made = (past){.end = part->end,
                 .before = l->last,
                 .life = (uint32_t)(l - p->lives) + 1,
                 .waker = waker,
                 .stack = part->stack,
                 .reason = part->reason & 0x1fffffff,
                 .status = (unsigned)part->status & 7};
  if (part->by && part->status == GO_RUNNING) made->stack = part->by->stack;
  if (part->by && part->status == GO_WAITING) made->woke = part->by->stack;
  l->last = p->past_count;
  if (part->status == GO_WAITING && part->by) note_holder(p, g);
  if (part->next == GO_NONE) *life_number(p, g) = 0;
}

static task *open_task(path *p, uint64_t id) {
  uintptr_t place = (uintptr_t)map_get(&p->open, id);
  if (place) return &p->tasks[place - 1];
  GROW(p->tasks, p->task_count, p->task_capacity);
  p->tasks[p->task_count++] = (task){.id = id, .begin = p->c.from};
  map_put(&p->open, id, (void *)(uintptr_t)p->task_count);
  return &p->tasks[p->task_count - 1];
}

static void note_task(path *p, const op *o) {
  p->met |= p->c.wanted && change_has_task(change_specs[o->kind].kind) && o->id == p->wanted;
}

static void path_take(consumer *c, const op *o) {
  path *p = (path *)c;
  task *t;
  note_task(p, o);
  stops_take(&p->stopped, c->w, o);
  switch (o->kind) {
  case GOTRACE_V2_GO_CREATE:
  case GOTRACE_V2_GO_CREATE_BLOCKED: { /* by a goroutine, unlike GoCreateSyscall */
    moment creator = moment_at(p, o);
    uint32_t made = new_life(p, go_record(c->w, o->id), o->time);
    p->lives[made - 1].creator = creator;
    p->lives[made - 1].stack = o->stack;
    break;
  }
  case GOTRACE_V2_USER_TASK_BEGIN:
    map_put(&p->open, o->id, NULL);
    t = open_task(p, o->id);
    t->begun = true;
    t->begin = o->time;
    t->name = o->name;
    t->home = life_at(p, moment_at(p, o));
    break;
  case GOTRACE_V2_USER_TASK_END:
    if (o->ends_again) break;
    t = open_task(p, o->id);
    t->ended = true;
    t->end = o->time;
    t->stack = o->stack;
    t->last = moment_at(p, o);
    break;
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END:
    if (o->m && o->m->g) marks_take(&p->marks, &life_of(p, o->m->g)->mark, o);
    break;
  case GOTRACE_V2_USER_LOG:
    take_told_holder(&p->told, c->w, o);
    if (told_process(o)) note_process(p, o->m->g, told_process(o));
    break;
  default: break;
  }
}

static void path_before(consumer *c, const op *o) { note_task((path *)c, o); }

static void path_begin(consumer *c, int64_t time) {
  path *p = (path *)c;
  size_t i;
  p->begin = time;
  for (i = 0; i < c->w->tasks.count; i++) {
    const user_task *of = c->w->tasks.values[i];
    goroutine *home = of->home;
    task *t;
    if (!of->open) continue;
    t = open_task(p, of->id);
    t->begun = true;
    t->name = of->name;
    t->begin = of->begin;
    if (home && home->status != GO_NONE) t->home = (uint32_t)(life_of(p, home) - p->lives) + 1;
  }
}

static void path_end(consumer *c, int64_t time) { ((path *)c)->end = time; }

/* ---------------------------------------------------------------------------------------------------- the path ---- */

/* The time at which the past that a moment refers to ends. */
static int64_t time_of(const path *p, moment at) {
  return at & LIFE ? p->lives[(at & ~LIFE) - 1].begin : p->pasts[at - 1].end;
}

/* Adds a step, without what is before the floor, unless it is empty. */
static void add_step(path *p, step made) {
  if (made.begin < p->floor) made.begin = p->floor;
  if (made.begin >= made.end) return;
  GROW(p->steps, p->step_count, p->step_capacity);
  p->steps[p->step_count++] = made;
}

/* What a goroutine did from a moment until `end`, when it woke or created another, or ended the task: it was
 * running. */
static void step_open(path *p, moment at, int64_t end, uint32_t stack) {
  add_step(p,
           (step){.begin = time_of(p, at), .end = end, .life = life_at(p, at), .stack = stack, .status = GO_RUNNING});
}

/* Records the waker or creator in the step that follows a wait or creation. */
static void note_waker(path *p, uint32_t of, moment by, uint32_t stack, bool created) {
  step *after = p->step_count ? &p->steps[p->step_count - 1] : NULL;
  if (!after || after->life != of) return;
  after->by = life_at(p, by);
  after->by_stack = stack;
  after->created = created;
}

/* What a goroutine did in a stretch until `end`. */
static void step_stretch(path *p, moment at, int64_t end) {
  const past *s = &p->pasts[at - 1];
  add_step(p, (step){.begin = time_of(p, s->before),
                     .end = end,
                     .life = s->life,
                     .stack = s->stack,
                     .reason = s->reason,
                     .status = s->status,
                     .outside = s->status == GO_WAITING && !s->waker,
                     .process = (uint32_t)(uintptr_t)map_get(&p->processes, at)});
}

/* Whether the reason of a wait is its cause, whoever ended it. A preempted goroutine is continued by the collector that
 * had it scanned, and did not wait for what that goroutine had done before. */
static bool has_own_cause(const past *wait) {
  if (pool_text_is(wait->reason, "preempted")) return true;
  return !wait->waker && (pool_text_contains(wait->reason, "network") || pool_text_contains(wait->reason, "sleep"));
}

static uint32_t function_at(const path *p, uint32_t of) { return of ? p->lives[of - 1].entry : 0; }

static uint32_t own_or_entry(path *p, uint32_t stack, uint32_t of) {
  uint32_t own = own_function(&p->waits, stack);
  return own ? own : function_at(p, of);
}

static class_at class_of(path *p, const past *s) {
  return (class_at){wait_class_of(&p->waits, s->stack, s->reason), s->stack};
}

/* The last wait before `at`, of the goroutine that ended a wait, that ended after `begin` and by which it may have got
 * what it released; OUTSIDE: none. */
static moment last_wait(path *p, class_at wait, moment at, int64_t begin, uint32_t released) {
  for (; at && !(at & LIFE) && p->pasts[at - 1].end > begin; at = p->pasts[at - 1].before) {
    const past *s = &p->pasts[at - 1];
    if (s->status == GO_WAITING && got_by(&p->waits, wait, class_of(p, s), released)) return at;
  }
  return OUTSIDE;
}

/* Adds a wait, of which the part since the floor counts, to what its goroutine waited for: as wait_parts(). */
static void add_blames(path *p, moment wait) {
  const past *s = &p->pasts[wait - 1];
  class_at wanted = class_of(p, s);
  int64_t begin = time_of(p, s->before), end = s->end;
  moment by = s->waker;
  uint32_t released = s->woke;
  if (begin < p->floor) begin = p->floor;
  if (!wait_is(wanted.is, WAIT_LOCK | WAIT_HANDED)) return;
  while (by && end > begin) {
    moment own = last_wait(p, wanted, by, begin, released);
    int64_t since = own && p->pasts[own - 1].end < end ? p->pasts[own - 1].end : begin;
    const holding *held = own ? NULL : map_get(&p->held, wait);
    uint32_t of = held ? held->life : life_at(p, by);
    uint32_t stack = held ? held->taken : own ? p->pasts[own - 1].stack : released;
    uint32_t key[3] = {wanted.is, own_or_entry(p, s->stack, s->life),
                       wanted.is == WAIT_GIL_CLASS ? function_at(p, of) : own_or_entry(p, stack, of)};
    blame *to = map_keep(&p->blames, hash_of(key, sizeof key), sizeof *to, NULL);
    to->is = wanted.is;
    to->place = key[1];
    to->holder = key[2];
    to->count++;
    to->time = plus(to->time, between(since, end));
    if (between(since, end) > to->longest) to->longest = between(since, end), to->id = p->lives[of - 1].id;
    end = since;
    by = own ? p->pasts[own - 1].waker : OUTSIDE;
    released = own ? p->pasts[own - 1].woke : 0;
  }
}

/* The same of a wait that another process ended. */
static void add_process_blame(path *p, moment wait) {
  const past *s = &p->pasts[wait - 1];
  uint32_t process = (uint32_t)(uintptr_t)map_get(&p->processes, wait);
  class_at wanted = class_of(p, s);
  int64_t begin = time_of(p, s->before);
  uint32_t key[3] = {wanted.is + WAIT_CLASS_COUNT, own_or_entry(p, s->stack, s->life), process};
  blame *to;
  if (!process) return;
  if (begin < p->floor) begin = p->floor;
  to = map_keep(&p->blames, hash_of(key, sizeof key), sizeof *to, NULL);
  to->is = wanted.is;
  to->place = key[1];
  to->holder = process;
  to->count++;
  to->time = plus(to->time, between(begin, s->end));
}

/* Moves from a wait that ends now to the goroutine that ended it. */
static moment enter(path *p, moment wait) {
  const past *s = &p->pasts[wait - 1];
  bool home = !p->detour_count && s->life != p->home && life_at(p, s->waker) == p->home;
  if (!p->detour_count) add_blames(p, wait);
  note_waker(p, s->life, s->waker, s->woke, false);
  if (!p->no_return && !home) {
    int64_t begin = time_of(p, s->before);
    if (begin > p->floor || !p->detour_count) {
      GROW(p->detours, p->detour_count, p->detour_capacity);
      if (begin > p->floor) p->floor = begin;
      p->detours[p->detour_count++] = (detour){.back = s->before, .begin = p->floor};
    }
    p->detours[p->detour_count - 1].wait = wait;
  }
  step_open(p, s->waker, s->end, s->woke);
  return s->waker;
}

/* It is unknown why the goroutine became ready at `at`. If the walk explains a wait, the rest of it stays with the
 * goroutine that waited. */
static moment lose(path *p, moment at) {
  if (p->detour_count) step_stretch(p, p->detours[p->detour_count - 1].wait, time_of(p, at));
  return OUTSIDE;
}

/* The moment before the last one, within the same wait; OUTSIDE: the walk has not found it. */
static moment earlier(path *p, moment at) {
  if (at & LIFE) {
    const life *l = &p->lives[(at & ~LIFE) - 1];
    if (!l->creator) return lose(p, at);
    note_waker(p, at & ~LIFE, l->creator, l->stack, true);
    step_open(p, l->creator, l->begin, l->stack);
    return l->creator;
  } else {
    const past *s = &p->pasts[at - 1];
    bool own = !p->no_return && (time_of(p, s->before) >= s->end || has_own_cause(s));
    if (s->waker && !own) return enter(p, at);
    if (s->status == GO_WAITING && p->detour_count && !own) return lose(p, at);
    if (!p->detour_count) add_process_blame(p, at);
    step_stretch(p, at, s->end);
    return s->before;
  }
}

/* Walks back from `at`, the last stretch that had ended when the earliest step found so far begins. */
static void walk(path *p, moment at) {
  for (;;) {
    if (at && time_of(p, at) > p->floor) {
      at = earlier(p, at);
    } else {
      if (!p->detour_count) break;
      at = p->detours[--p->detour_count].back;
      p->floor = p->detour_count ? p->detours[p->detour_count - 1].begin : p->begin;
    }
  }
  add_step(p, (step){.begin = p->begin, .end = p->step_count ? p->steps[p->step_count - 1].begin : p->end});
}

static void add_region_time(path *p, uint32_t region, int64_t time) {
  size_t i = map_index(&p->regions, region);
  if (i == p->region_count) {
    GROW(p->region_times, p->region_count, p->region_capacity);
    p->region_times[p->region_count++] = (region_time){region, 0};
  }
  p->region_times[i].time = plus(p->region_times[i].time, time);
}

static int by_region_time(const void *a, const void *b) {
  const region_time *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? 1 : -1;
  return text_order(x->name, y->name);
}

/* Splits the steps where regions begin and end, and tells what was beside each. They are still from last to first. */
static void describe_steps(path *p) {
  size_t i, count = p->step_count;
  step *all = p->steps, *made;
  p->steps = NULL;
  p->step_count = p->step_capacity = 0;
  for (i = 0; i < count; i++) {
    step s = all[i];
    while (s.begin < s.end) {
      in_region of = {s.begin, s.end, 0, 0};
      if (s.life) of = marks_before(&p->marks, &p->lives[s.life - 1].mark, s.begin, s.end);
      GROW(p->steps, p->step_count, p->step_capacity);
      made = &p->steps[p->step_count++];
      *made = s;
      made->begin = of.begin;
      made->region = of.region;
      if (of.begin > s.begin) made->by = 0; /* that ended the wait before the first of the parts */
      if (s.end < all[i].end && of.stack) made->stack = of.stack;
      if (s.status == GO_RUNNING || s.status == GO_RUNNABLE)
        made->stopped = stopped_between(&p->stopped, p->c.w, made->begin, made->end);
      if (s.life) add_region_time(p, of.region, between(made->begin, made->end));
      s.end = of.begin;
    }
  }
  free(all);
  if (p->region_count) qsort(p->region_times, p->region_count, sizeof *p->region_times, by_region_time);
}

/* Puts the steps in order of time. */
static void order_steps(path *p) {
  size_t i, count;
  describe_steps(p);
  count = p->step_count;
  for (i = 0; i < count / 2; i++) {
    step swapped = p->steps[i];
    p->steps[i] = p->steps[count - 1 - i];
    p->steps[count - 1 - i] = swapped;
  }
}

static bool number_is(const char *text, uint64_t *number) {
  char *end;
  *number = strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && !*end;
}

/* The task with an id; NULL: with a name. If several have ended, the longest one. */
static const task *longest_task(const path *p, const uint64_t *id, const char *name) {
  const task *found = NULL;
  uint32_t i;
  for (i = 0; i < p->task_count; i++) {
    const task *t = &p->tasks[i];
    if (id ? t->id != *id : !t->begun || !pool_text_is(t->name, name)) continue;
    if (!found || (t->ended && (!found->ended || t->end - t->begin > found->end - found->begin))) found = t;
  }
  return found;
}

/* A number is a task's name if no task has that id, also before the part. */
static const task *find_task(const path *p, const char *word) {
  const task *found = p->met || p->c.met ? longest_task(p, &p->wanted, NULL) : longest_task(p, NULL, word);
  if (!found) fail("no task %s in this part", word);
  if (!found->ended)
    fail("task %s does not end in this part; it has been open for %.9f s", word,
         (double)between(found->begin, p->end) / 1e9);
  return found;
}

static const task *path_of_task(path *p, const char *word) {
  const task *t = find_task(p, word);
  p->begin = p->floor = t->begin > p->c.from ? t->begin : p->c.from;
  p->home = t->home;
  p->end = t->end;
  if (t->last) step_open(p, t->last, t->end, t->stack);
  walk(p, t->last);
  return t;
}

/* The goroutine with this id; the last one, if the id was reused. */
static void path_of_go(path *p, const char *word) {
  uint64_t id;
  uint32_t i = p->life_count;
  if (!number_is(word, &id)) fail("invalid goroutine '%s'", word);
  while (i > 0 && p->lives[i - 1].id != id) i--;
  if (!i) fail("no goroutine %s in this part", word);
  p->floor = p->begin;
  p->end = time_of(p, p->lives[i - 1].last);
  walk(p, p->lives[i - 1].last);
}

/* ------------------------------------------------------------------------------------------------------ output ---- */

static const char *const states[] = {"outside", "runnable", "running", "syscall", "waiting"}; /* in JSON */

static const char *state_text(const path *p, unsigned status) {
  return status == GO_RUNNING ? running_text(waits_unseen(&p->c)) : states[status];
}

static int state_width(const path *p) { return waits_unseen(&p->c) ? (int)strlen(running_text(true)) : 9; }

typedef struct total { /* of the steps with the same functions, state and reason, or also stack */
  uint32_t function, reason, own;
  uint32_t stack; /* of the last of them: they have the same class */
  uint8_t status;
  size_t count;
  int64_t time, stopped;
} total;

static uint32_t top_frame(uint32_t stack) {
  pool_stack s = pool_stack_of(stack);
  return s.count ? s.frames[0].function : 0;
}

static int by_total(const void *a, const void *b) {
  const total *x = *(total *const *)a, *y = *(total *const *)b;
  if (x->time != y->time) return x->time < y->time ? 1 : -1;
  if (x->function != y->function) return x->function < y->function ? -1 : 1;
  if (x->own != y->own) return x->own < y->own ? -1 : 1;
  return x->status != y->status ? x->status - y->status : x->reason < y->reason ? -1 : x->reason > y->reason;
}

/* The totals, sorted; free them by map_free(). */
static map add_totals(path *p, bool by_stack) {
  map all = {0};
  size_t i;
  for (i = 0; i < p->step_count; i++) {
    const step *s = &p->steps[i];
    uint32_t own = own_or_entry(p, s->stack, s->life);
    uint32_t is = s->status == GO_WAITING ? (uint32_t)wait_class_of(&p->waits, s->stack, s->reason) : 0;
    uint32_t of[6] = {function_at(p, s->life), s->reason, by_stack ? s->stack : 0, by_stack ? 0 : own, s->status, is};
    total *t = map_keep(&all, hash_of(of, sizeof of), sizeof *t, NULL);
    *t = (total){of[0],
                 of[1],
                 own,
                 s->stack,
                 s->status,
                 t->count + 1,
                 t->time + s->end - s->begin,
                 plus(t->stopped, s->stopped)};
  }
  if (all.count) qsort(all.values, all.count, sizeof *all.values, by_total);
  return all;
}

static void put_duration(output *out, int64_t nanoseconds, int width) {
  char text[32];
  print(out, "%*s", width, duration_text((double)nanoseconds, text));
}

/* A time since the first event, with all nine digits. */
static void put_time(output *out, const path *p, int64_t time, int width) {
  int64_t since = between(p->c.base, time);
  char text[40];
  snprintf(text, sizeof text, "%lld.%09lld s", (long long)(since / 1000000000), (long long)(since % 1000000000));
  print(out, "%*s", width, text);
}

/* The program's own function in a stack of a goroutine, or else the one that it began with. */
static void put_own(output *out, path *p, uint32_t stack, uint32_t of) {
  put_text(out, own_or_entry(p, stack, of), of ? "(unknown)" : "outside");
}

/* A text that is not the most important one of a line. */
static void put_short(output *out, uint32_t id) {
  pool_text text = pool_text_of(id);
  char name[NAME_ROOM];
  put_visible(out, name, shorten(text.data, text.size, NAME_ROOM / 4, name));
}

/* Why a goroutine waits: the reason, unless the class of the wait tells more. */
static void put_reason(output *out, path *p, uint32_t stack, uint32_t reason) {
  if (!reason) return;
  put_string(out, ", ");
  if (pool_text_is(reason, "sync")) put_string(out, wait_classes[wait_class_of(&p->waits, stack, reason)].text);
  else put_text(out, reason, "");
}

static double share_of(const path *p, int64_t time) {
  return p->end > p->begin ? 100.0 * (double)time / (double)(p->end - p->begin) : 0;
}

static void total_line(const path *p, output *out, int64_t time, size_t count, const char *state) {
  put_duration(out, time, 14);
  print(out, " %5.1f %% %9llu  %-*s ", share_of(p, time), (ull)count, state_width(p), state);
}

static int64_t stopped_time(const path *p, size_t *count) {
  int64_t sum = 0;
  size_t i;
  for (*count = 0, i = 0; i < p->step_count; i++) {
    sum = plus(sum, p->steps[i].stopped);
    *count += p->steps[i].stopped != 0;
  }
  return sum;
}

static int by_blame(const void *a, const void *b) {
  const blame *x = *(blame *const *)a, *y = *(blame *const *)b;
  if (x->time != y->time) return x->time < y->time ? 1 : -1;
  if (x->is != y->is) return x->is < y->is ? -1 : 1;
  return x->place != y->place ? (x->place < y->place ? -1 : 1) : (x->holder > y->holder) - (x->holder < y->holder);
}

static void sort_blames(path *p) {
  if (p->blames.count) qsort(p->blames.values, p->blames.count, sizeof *p->blames.values, by_blame);
}

/* What the task or goroutine itself waited for, and who had or did it. */
static void write_blames(path *p, output *out) {
  size_t i;
  sort_blames(p);
  if (p->blames.count) print(out, "\n%14s %7s %9s  waited for, through whom\n", "time", "share", "count");
  for (i = 0; i < p->blames.count; i++) {
    const blame *b = p->blames.values[i];
    put_duration(out, b->time, 14);
    print(out, " %5.1f %% %9llu  %s in ", share_of(p, b->time), (ull)b->count, wait_classes[b->is].text);
    put_text(out, b->place, "(unknown)");
    put_string(out, ": ");
    put_text(out, b->holder, "(unknown)");
    put_string(out, "\n");
    output_check(out);
  }
}

/* The path's time by regions. */
static void write_regions(const path *p, output *out) {
  size_t i, known = 0;
  for (i = 0; i < p->marks.count; i++) known += p->marks.all[i].region != 0;
  if (!known) return;
  print(out, "\n%14s %7s  region\n", "time", "share");
  for (i = 0; i < p->region_count; i++) {
    const region_time *r = &p->region_times[i];
    put_duration(out, r->time, 14);
    print(out, " %5.1f %%  ", share_of(p, r->time));
    put_text(out, r->name, "(none)");
    put_string(out, "\n");
    output_check(out);
  }
}

static void write_totals(path *p, output *out) {
  map all = add_totals(p, false);
  size_t i, count;
  int64_t stopped = stopped_time(p, &count);
  print(out, "\n%14s %7s %9s  %-*s function, reason\n", "time", "share", "count", state_width(p), "state");
  if (stopped) total_line(p, out, stopped, count, "stopped"), put_string(out, "the world, meanwhile\n");
  for (i = 0; i < all.count; i++) {
    const total *t = all.values[i];
    total_line(p, out, between(t->stopped, t->time), t->count, state_text(p, t->status));
    put_text(out, t->own, t->status ? "(unknown)" : "outside");
    put_reason(out, p, t->stack, t->reason);
    if (t->function && t->own != t->function) put_string(out, ", of "), put_short(out, t->function);
    put_string(out, "\n");
    output_check(out);
  }
  map_free(&all);
}

static void write_step(path *p, const step *s, output *out) {
  put_time(out, p, s->begin, 18);
  put_duration(out, s->end - s->begin, 15);
  if (s->life) print(out, " %11llu  %-*s ", (ull)p->lives[s->life - 1].id, state_width(p), state_text(p, s->status));
  else print(out, " %11s  %-*s ", "", state_width(p), "");
  put_own(out, p, s->stack, s->life);
  put_reason(out, p, s->stack, s->reason);
  if (s->stack) put_string(out, ", at "), put_text(out, top_frame(s->stack), "?");
  if (s->process) put_string(out, ", woken by process "), put_text(out, s->process, "");
  else if (s->outside) put_string(out, ", for outside");
  if (s->region) put_string(out, ", region "), put_short(out, s->region);
  if (s->stopped) put_string(out, ", of that the world stopped "), put_duration(out, s->stopped, 0);
  if (s->by) {
    print(out, s->created ? ", created by %llu " : ", woken by %llu ", (ull)p->lives[s->by - 1].id);
    put_own(out, p, s->by_stack, s->by);
    if (s->by_stack) put_string(out, " at "), put_text(out, top_frame(s->by_stack), "?");
  }
  put_string(out, "\n");
}

static void write_text(path *p, const task *t, const char *go, output *out) {
  size_t i;
  if (t) {
    print(out, "task %llu ", (ull)t->id);
    put_text(out, t->name, t->begun ? "(no name)" : "(unknown)");
  } else {
    print(out, "goroutine %.30s", go);
  }
  put_string(out, ": ");
  put_duration(out, p->end - p->begin, 0);
  put_string(out, ", from ");
  put_time(out, p, p->begin, 0);
  put_string(out, " to ");
  put_time(out, p, p->end, 0);
  put_string(out, "\n");
  write_totals(p, out);
  write_blames(p, out);
  write_regions(p, out);
  print(out, "\n%18s %14s %11s  %-*s function, reason, place\n", "since", "time", "goroutine", state_width(p), "state");
  for (i = 0; i < p->step_count; i++) {
    write_step(p, &p->steps[i], out);
    output_check(out);
  }
}

static void put_class(output *out, path *p, uint32_t stack, uint32_t reason) {
  print(out, ", \"class\": \"%s\"", wait_classes[wait_class_of(&p->waits, stack, reason)].text);
}

static void write_json(path *p, const task *t, const char *go, output *out) {
  map all = add_totals(p, false);
  size_t i;
  print(out, "{\"begin\": %lld, \"end\": %lld", (long long)between(p->c.base, p->begin),
        (long long)between(p->c.base, p->end));
  if (t) print(out, ", \"task\": %llu", (ull)t->id), put_member(out, "name", t->name);
  else print(out, ", \"go\": %.30s", go);
  put_string(out, ",\n \"path\": [");
  for (i = 0; i < p->step_count; i++) {
    const step *s = &p->steps[i];
    print(out, "%s\n  {\"since\": %lld, \"time\": %lld, \"state\": \"%s\"", i ? "," : "",
          (long long)between(p->c.base, s->begin), (long long)(s->end - s->begin), states[s->status]);
    if (s->life) print(out, ", \"go\": %llu", (ull)p->lives[s->life - 1].id);
    put_member(out, "function", function_at(p, s->life));
    put_member(out, "reason", s->reason);
    put_member(out, "at", top_frame(s->stack));
    put_member(out, "own", own_function(&p->waits, s->stack));
    if (s->status == GO_WAITING) put_class(out, p, s->stack, s->reason);
    put_member(out, "region", s->region);
    if (s->stopped) print(out, ", \"stopped\": %lld", (long long)s->stopped);
    put_member(out, "woken_by_process", s->process);
    if (s->by) {
      print(out, ", \"%s\": {\"go\": %llu", s->created ? "created_by" : "woken_by", (ull)p->lives[s->by - 1].id);
      put_member(out, "function", function_at(p, s->by));
      put_member(out, "at", top_frame(s->by_stack));
      put_string(out, "}");
    }
    put_string(out, "}");
    output_check(out);
  }
  put_string(out, "],\n \"totals\": [");
  for (i = 0; i < all.count; i++) {
    const total *of = all.values[i];
    print(out, "%s\n  {\"time\": %lld, \"count\": %llu, \"state\": \"%s\"", i ? "," : "", (long long)of->time,
          (ull)of->count, states[of->status]);
    put_member(out, "function", of->function);
    put_member(out, "reason", of->reason);
    if (of->own != of->function) put_member(out, "own", of->own);
    if (of->status == GO_WAITING) put_class(out, p, of->stack, of->reason);
    if (of->stopped) print(out, ", \"stopped\": %lld", (long long)of->stopped);
    put_string(out, "}");
    output_check(out);
  }
  put_string(out, "],\n \"waits\": [");
  sort_blames(p);
  for (i = 0; i < p->blames.count; i++) {
    const blame *b = p->blames.values[i];
    print(out, "%s\n  {\"time\": %lld, \"count\": %llu, \"class\": \"%s\", \"go\": %llu", i ? "," : "",
          (long long)b->time, (ull)b->count, wait_classes[b->is].text, (ull)b->id);
    put_member(out, "in", b->place);
    put_member(out, "through", b->holder);
    put_string(out, "}");
    output_check(out);
  }
  put_string(out, "],\n \"regions\": [");
  for (i = 0; i < p->region_count; i++) {
    print(out, "%s\n  {\"time\": %lld", i ? "," : "", (long long)p->region_times[i].time);
    put_member(out, "name", p->region_times[i].name);
    put_string(out, "}");
    output_check(out);
  }
  put_string(out, "]}\n");
  map_free(&all);
}

/* A line per step: its stack, with the goroutine's state as the innermost frame. */
static void write_folded(path *p, output *out) {
  folded lines = {0};
  map all = add_totals(p, true);
  size_t i;
  for (i = 0; i < all.count; i++) {
    const total *t = all.values[i];
    pool_text reason = pool_text_of(t->reason);
    char leaf[64];
    snprintf(leaf, sizeof leaf, "[%s%s%.*s]", state_text(p, t->status), reason.size ? ", " : "",
             (int)prefix_size(reason.data, reason.size, 40), reason.data);
    folded_add(&lines, t->stack, t->function, leaf, (uint64_t)t->time);
  }
  map_free(&all);
  folded_write(&lines, out);
}

int command_path(const char *name, const settings *set) {
  trace_part of;
  path *p = keep(sizeof *p);
  const task *t = NULL;
  output out;
  if (set->task && set->go) fail("path takes --task or --go, not both");
  p->c.begin = path_begin;
  p->c.take = path_take;
  p->c.end = path_end;
  p->c.stretch = path_stretch;
  p->c.before = path_before;
  if (set->task && number_is(set->task, &p->wanted)) p->c.wanted = &p->wanted;
  p->c.statuses = p->c.history = p->c.later = true;
  p->no_return = set->no_return;
  if (!part_open(&of, name, set)) return 1;
  part_read(&of, &p->c, set, NULL, NULL);
  p->waits.recorded = p->c.recorded;
  if (set->task) t = path_of_task(p, set->task);
  else path_of_go(p, set->go);
  order_steps(p);
  output_open(&out, set->output);
  if (set->folded) write_folded(p, &out);
  else if (set->json) write_json(p, t, set->go, &out);
  else write_text(p, t, set->go, &out);
  output_close(&out);
  free(p->pasts);
  free(p->lives);
  free(p->tasks);
  free(p->steps);
  free(p->detours);
  free(p->stopped.all);
  free(p->marks.all);
  free(p->region_times);
  map_free(&p->blames);
  map_free(&p->held);
  map_free(&p->processes);
  map_free(&p->regions);
  map_free(&p->open);
  part_close(&of);
  return 0;
}
