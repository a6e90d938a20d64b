/* relations.c - gotrace export --tables: what the rows of a trace are
 *
 * The tables and their columns: table_set.h. Slices are the stretches of goroutines, and a goroutine's times add up its
 * slices. Events are those of the file, as `gotrace dump` shows them. Which regions count: as in summary.h. */

#include "../command/commands.h"
#include "../report/summary.h"
#include "export.h"
#include "table_set.h"

#include <stdlib.h>

typedef struct life {            /* of a goroutine; after its end, of the next one with its id */
  uint32_t reuse;                /* how many came before */
  bool shown;                    /* it has a slice */
  int64_t times[GO_WAITING + 1]; /* by status */
} life;

typedef struct stack_number {
  uint32_t trace, number; /* the number that the trace gave it */
} stack_number;

typedef struct relations {
  consumer c;
  table_set *to;
  trace_part p;
  filter events;     /* the same as p.selection, for events */
  side_array lives;  /* struct life by goroutine */
  side_array stacks; /* struct stack_number by stack, of all traces */
  uint32_t trace;    /* counted from 1 */
  uint32_t stack_count;
  int64_t event_count, end;
} relations;

static life *life_of(relations *x, const goroutine *g) { return SIDE(life, &x->lives, g->number); }

static int64_t since_first(const relations *x, int64_t time) { return between(x->c.base, time); }

static pool_text plain_text(const char *text) { return (pool_text){text, (uint32_t)strlen(text)}; }

/* The number of a stack in this trace, whose frames it writes when it is new. */
static int64_t number_of(relations *x, uint32_t stack) {
  pool_stack of = pool_stack_of(stack);
  stack_number *known = SIDE(stack_number, &x->stacks, stack);
  uint32_t i;
  if (!of.count || (of.count == 1 && !of.frames[0].pc && !of.frames[0].function)) return 0;
  if (known->trace == x->trace) return known->number;
  *known = (stack_number){x->trace, ++x->stack_count};
  for (i = 0; i < of.count; i++) {
    const pool_frame *f = &of.frames[i];
    PUT_ROW(x->to, frames, .stack = known->number, .depth = i, .function = pool_text_of(f->function),
            .file = pool_text_of(f->file), .line = (int64_t)f->line, .pc = (int64_t)f->pc);
  }
  return known->number;
}

/* ------------------------------------------------------------------------------------------ goroutines, slices ---- */

/* Whether the trace shows how it was created. In v1, so gotrace.h tells those that are older than the trace. */
static bool began(const relations *x, const goroutine *g) {
  return g->is_new && !(g->maker == NOBODY && g->made == x->c.base);
}

static void put_goroutine(relations *x, const goroutine *g, const life *of, int64_t end, bool ended) {
  const bool known = began(x, g);
  PUT_ROW(x->to, goroutines, .goroutine = (int64_t)g->id, .reuse = of->reuse, .function = pool_text_of(name_of(g)),
          .creator = known && g->maker != NOBODY ? (int64_t)g->maker : GOTRACE_NO_ID,
          .stack = number_of(x, known ? g->made_at : 0), .start_time = known ? since_first(x, g->made) : 0,
          .end_time = since_first(x, end), .began = known, .ended = ended, .running = of->times[GO_RUNNING],
          .runnable = of->times[GO_RUNNABLE], .syscall = of->times[GO_SYSCALL], .blocked = of->times[GO_WAITING]);
}

static void put_slice(relations *x, const stretch *part, life *of) {
  static const char *const states[] = {"", "runnable", "running", "syscall", "blocked"};
  const op *by = part->status == GO_WAITING ? part->by : NULL;
  const goroutine *waker = by && by->kind == GOTRACE_V2_GO_UNBLOCK && by->m ? by->m->g : NULL;
  const thread *m = executes(part->status) ? part->g->m : NULL;
  unsigned status = part->status < COUNT(states) ? part->status : 0;
  int64_t from = part->begin < x->c.from ? x->c.from : part->begin;
  of->shown = true;
  of->times[status] = plus(of->times[status], between(from, part->end));
  PUT_ROW(x->to, slices, .goroutine = (int64_t)part->g->id, .reuse = of->reuse, .state = plain_text(states[status]),
          .start_time = since_first(x, from), .end_time = since_first(x, part->end), .ended = part->by != NULL,
          .reason = pool_text_of(part->status == GO_WAITING ? part->reason : 0), .stack = number_of(x, part->stack),
          .waker = waker ? (int64_t)waker->id : GOTRACE_NO_ID, .waker_stack = waker ? number_of(x, by->stack) : 0,
          .thread = m ? (int64_t)m->id : GOTRACE_NO_ID, .proc = m && m->p ? (int64_t)m->p->id : GOTRACE_NO_ID);
}

/* ------------------------------------------------------------------------------------- regions, tasks, counters ----
 */

/* `depth`: how many are around it. */
static void put_region(relations *x, const goroutine *g, const user_region *r, uint64_t depth, int64_t end, bool began,
                       bool ended) {
  if (end < x->c.from || !filter_goroutine(x->c.filter, g) || !filter_task(x->c.filter, r->task)) return;
  PUT_ROW(x->to, regions, .goroutine = (int64_t)g->id, .reuse = life_of(x, g)->reuse, .name = pool_text_of(r->name),
          .task = (int64_t)r->task, .depth = (int64_t)depth, .start_time = since_first(x, r->begin),
          .end_time = since_first(x, end), .began = began, .ended = ended, .stack = number_of(x, r->stack));
}

static void end_region(relations *x, const op *o) {
  const goroutine *g = o->m ? o->m->g : NULL;
  const user_region *ends = ending_region(o);
  user_region early = {.name = o->name, .task = o->id, .begin = x->c.base, .chosen = true};
  if (ends) {
    put_region(x, g, ends, g->regions->count - 1 - o->a[0], o->time, true, true);
  } else if (g && !o->a[0]) { /* it began before the trace */
    if (began(x, g)) early.begin = g->made;
    put_region(x, g, &early, 0, o->time, false, true);
  }
}

/* Those that are open when their goroutine ends. As in Go, not those of the runtime's goroutines. */
static void end_regions(relations *x, const goroutine *g, int64_t end, bool ended) {
  uint32_t i = g->regions && !is_runtimes(name_of(g)) ? g->regions->count : 0;
  while (i--) put_region(x, g, &g->regions->open[i], i, end, true, ended);
}

/* Of the filters only --task selects tasks. */
static void put_task(relations *x, const user_task *t, int64_t end, bool began, bool ended) {
  if (!filter_task(x->c.filter, t->id)) return;
  PUT_ROW(x->to, tasks, .task = (int64_t)t->id, .parent = (int64_t)t->parent, .name = pool_text_of(t->name),
          .start_time = began ? since_first(x, t->begin) : 0, .end_time = since_first(x, end), .began = began,
          .ended = ended, .stack = number_of(x, t->stack));
}

static void end_task(relations *x, const op *o) {
  const user_task *t = map_get(&x->c.w->tasks, o->id);
  user_task early = {.id = o->id, .name = o->name};
  if (o->ends_again) return;
  if (t && t->open) put_task(x, t, o->time, true, true);
  else put_task(x, &early, o->time, false, true);
}

static void put_counter(relations *x, int64_t time, const char *kind, pool_text name, double value) {
  PUT_ROW(x->to, counters, .time = since_first(x, time), .kind = plain_text(kind), .name = name, .value = value);
}

/* ------------------------------------------------------------------------------------------------------ events ---- */

static void watch(void *context, const gotrace_event *e) {
  relations *x = context;
  source *s = &x->p.s;
  int64_t since = since_first(x, e->time);
  bool names_object = event_rules[e->kind].arguments[0] == 'i';
  const gotrace_event_spec *in_file = spec_in_file(e, s->format);
  op o;
  if (since < s->from || since > s->until) return;
  if (!filter_event(&x->events, x->p.in.decoder, e, s->changed ? &s->change : NULL) || e->implied) return;
  o = event_op(s, e, NULL);
  x->event_count++;
  PUT_ROW(x->to, events, .time = since, .kind = plain_text(in_file->name), .thread = e->m, .proc = e->p,
          .goroutine = e->g, .object = names_object ? (int64_t)o.id : GOTRACE_NO_ID, .value = (int64_t)o.a[0],
          .name = pool_text_of(o.name), .message = pool_text_of(o.value), .stack = number_of(x, o.stack));
}

/* ---------------------------------------------------------------------------------------------------- consumer ---- */

static void begin(consumer *c, int64_t time) { (void)c, (void)time; }

static void take(consumer *c, const op *o) {
  relations *x = (relations *)c;
  const user_counter *counter;
  double value;
  switch (o->kind) {
  case GOTRACE_V2_USER_REGION_END: end_region(x, o); break;
  case GOTRACE_V2_USER_TASK_END: end_task(x, o); break;
  case GOTRACE_V2_USER_LOG:
    if (!c->w->chosen || !(counter = told_counter(c->w, o, &value))) break;
    put_counter(x, o->time, "program", pool_text_of(counter->name), value);
    break;
  case GOTRACE_V2_HEAP_ALLOC: put_counter(x, o->time, "runtime", plain_text("heap"), (double)o->a[0]); break;
  case GOTRACE_V2_HEAP_GOAL: put_counter(x, o->time, "runtime", plain_text("heap goal"), (double)o->a[0]); break;
  case GOTRACE_V2_PROCS_CHANGE: put_counter(x, o->time, "runtime", plain_text("procs"), (double)o->id); break;
  default: break;
  }
}

static void end_stretch(consumer *c, const stretch *part) {
  relations *x = (relations *)c;
  life *of = life_of(x, part->g);
  bool ended = part->by != NULL;
  if (part->chosen) put_slice(x, part, of);
  if (part->next != GO_NONE) return;
  end_regions(x, part->g, part->end, ended);
  if (of->shown) put_goroutine(x, part->g, of, part->end, ended);
  *of = (life){.reuse = of->reuse + 1};
}

static void finish(consumer *c, int64_t time) {
  relations *x = (relations *)c;
  size_t i;
  for (i = 0; i < c->w->tasks.count; i++) {
    const user_task *t = c->w->tasks.values[i];
    if (t->open) put_task(x, t, time, true, false);
  }
  x->end = time;
}

static void put_process(relations *x, bool complete) {
  const world *w = &x->p.s.w;
  char format[32];
  snprintf(format, sizeof format, "%d.%d", x->c.input / 1000, x->c.input % 1000);
  PUT_ROW(x->to, processes, .format = plain_text(format), .recorded = x->c.recorded,
          .began = (int64_t)wall_at(&w->wall, x->c.base), .start_time = since_first(x, x->c.from),
          .end_time = since_first(x, x->end), .events = x->event_count, .procs = (int64_t)w->gomaxprocs,
          .complete = complete);
}

static void export_trace(relations *x, const char *path, const settings *set) {
  gotrace_result result;
  table_set *to = x->to;
  side_array stacks = x->stacks;
  uint32_t trace = x->trace + 1;
  memset(x, 0, sizeof *x);
  x->to = to;
  x->stacks = stacks;
  x->trace = trace;
  if (!part_open(&x->p, path, set)) fail("no tables were written");
  filter_open(&x->events, set);
  x->c.begin = begin;
  x->c.take = take;
  x->c.end = finish;
  x->c.stretch = end_stretch;
  x->c.statuses = x->c.history = x->c.all = x->c.later = true;
  x->c.filter = &x->p.selection;
  x->c.own[0] = &x->events;
  table_set_trace(to, path);
  result = source_run(&x->p.s, &x->p.in, &x->c, set->from, set->until, watch, x);
  if (result != GOTRACE_END_OF_TRACE) source_broken(&x->p.s, set);
  else if (source_nothing(&x->p.s)) fail("%s", source_nothing(&x->p.s));
  erase_progress();
  filter_require(&x->p.selection, &x->p.s.w);
  put_process(x, result == GOTRACE_END_OF_TRACE);
  filter_close(&x->events);
  part_close(&x->p);
}

/* Rows of two traces of one name could not be told apart. */
static void check_names(char **paths, int count) {
  int i, j;
  for (i = 0; i < count; i++)
    for (j = 0; j < i; j++)
      if (strcmp(paths[i], paths[j]) == 0) usage("%s is given twice", paths[i]);
}

int export_tables(char **paths, int count, const settings *set) {
  relations *x = zeroed(sizeof *x);
  int i;
  check_names(paths, count);
  x->to = table_set_open(set->tables);
  for (i = 0; i < count; i++) export_trace(x, paths[i], set);
  table_set_close(x->to);
  free(x);
  return 0;
}
