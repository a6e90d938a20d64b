/* source.c - reads a trace, keeps the world, gives operations to a consumer: see source.h
 *
 * source_run() reads the trace twice. First find_start() collects what v2 tells too late, then take_event() turns each
 * event into operations, most of them by a rule that is made of the tables of gotrace.h (event_rule). give() selects
 * the operations of the requested part and passes each first to the consumer, then to the world. */

#include "source.h"

#include "saved.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------ events ---- */

/* The letter of an argument. `before`: those of the arguments before it. */
static char letter_of(const char *name, const char *before) {
  const char *kind = strrchr(name, '_');
  kind = kind ? kind + 1 : name;
  if (strcmp(name, "new_stack") == 0) return 'N';
  if (strcmp(kind, "stack") == 0) return 's';
  if (strcmp(kind, "seq") == 0 || strcmp(kind, "m") == 0 || strcmp(kind, "mode") == 0 ||
      strcmp(name, "kind_string") == 0)
    return '.';
  if (strcmp(kind, "string") == 0) return strchr(before, 'n') ? 'v' : 'n';
  if (!*before && (!kind[1] || strcmp(kind, "task") == 0 || strcmp(kind, "procs") == 0)) return 'i';
  return strchr(before, 'b') ? 'c' : strchr(before, 'a') ? 'b' : 'a';
}

event_rule event_rules[256];

static void load_rule(const gotrace_event_spec *spec) {
  const gotrace_change_spec *change = gotrace_find_change_spec(spec->number);
  event_rule *rule = &event_rules[spec->number];
  const char *at = spec->arguments;
  char name[16];
  size_t i = 0;
  int used;
  memset(rule, 0, sizeof *rule);
  for (; sscanf(at, "%15s%n", name, &used) == 1; at += used)
    if (strcmp(name, "dt") != 0 && i < sizeof rule->arguments - 1)
      rule->arguments[i] = letter_of(name, rule->arguments), i++;
  while (i && rule->arguments[i - 1] == '.') rule->arguments[--i] = 0;
  if (change || (strncmp(spec->arguments, "dt", 2) == 0 && spec->number != GOTRACE_V2_CLOCK_SNAPSHOT))
    rule->kind = (uint8_t)spec->number;
}

void load_event_rules(void) {
  size_t count;
  const gotrace_event_spec *spec = gotrace_event_specs(2, &count);
  for (; count; spec++, count--) load_rule(spec);
}

op event_op(source *s, const gotrace_event *e, thread *m) {
  const gotrace_decoder *d = s->in->decoder;
  const event_rule *rule = &event_rules[e->kind];
  bool stack = e->stack && !(s->to->as_go && m && m->g && m->g->entry);
  const char *letter = rule->arguments;
  const uint64_t *argument = e->args;
  op o = op_of(s, rule->kind, e->time, m);
  for (; *letter; letter++, argument++) {
    switch (*letter) {
    case 'i': o.id = *argument; break;
    case 'a': o.a[0] = *argument; break;
    case 'b': o.a[1] = *argument; break;
    case 'c': o.a[2] = *argument; break;
    case 'n': o.name = pool_take_text(d, *argument); break;
    case 'v': o.value = pool_take_text(d, *argument); break;
    case 'N': o.new_stack = pool_take_stack(d, *argument); break;
    default: break;
    }
  }
  if (stack) o.stack = pool_take_stack(d, e->stack);
  if (o.in_file && !o.name && (o.kind == GOTRACE_V2_GO_BLOCK || o.kind == GOTRACE_V2_GO_STOP))
    o.name = pool_put_string(UNKNOWN_REASON);
  if (e->implied &&
      (e->kind == GOTRACE_V2_GO_BLOCK || e->kind == GOTRACE_V2_GO_DESTROY || e->kind == GOTRACE_V2_GO_START))
    o.name = pool_put_string(SWITCH_REASON);
  o.outside = o.kind == GOTRACE_V2_GO_UNBLOCK && (e->p == GOTRACE_TIMER_PROC || e->p == GOTRACE_NETPOLL_PROC);
  if (e->data) *(o.kind == GOTRACE_V2_USER_LOG ? &o.value : &o.name) = pool_put_text(e->data, e->data_size);
  return o;
}

void give_event(source *s, const gotrace_event *e, thread *m) {
  op o = event_op(s, e, m);
  if (!o.kind) return;
  switch (change_specs[o.kind].kind) {
  case GOTRACE_CHANGE_TASK_BEGIN:
    if (o.a[0] == NOBODY) o.a[0] = 0;
    break;
  case GOTRACE_CHANGE_TASK_END: o.ends_again = ahead_ends_again(&s->ahead, e); break;
  case GOTRACE_CHANGE_REGION_END: o.a[0] = (uint64_t)e->extra; break;
  default:
    if (creates(o.kind)) name_new(s, &o);
    break;
  }
  give(s, &o);
  s->disordered += o.kind == GOTRACE_V2_USER_REGION_END && o.a[0] && s->begun && !s->over;
}

/* -------------------------------------------------------------------------------------------------- operations ---- */

/* For --task, where a region begins or ends: before, the goroutine may have belonged to another task. */
static void split_stretch(source *s, const op *o) {
  goroutine *g = o->m ? o->m->g : NULL;
  unsigned change = change_specs[o->kind].kind;
  if (g && (change == GOTRACE_CHANGE_REGION_BEGIN || change == GOTRACE_CHANGE_REGION_END)) world_split(&s->w, g, o);
}

static void deliver(source *s, const op *o) {
  if (s->by_task && s->recalled) split_stretch(s, o);
  s->w.chosen = !s->to->filter || !s->recalled || filter_op(s->to->filter, &s->w, o);
  if (s->begun && (s->w.chosen || s->to->all)) s->to->take(s->to, o);
  else if (!s->begun && s->to->before) s->to->before(s->to, o);
  apply(&s->w, o);
}

static void take_stretch(void *context, const stretch *part) {
  consumer *to = context;
  stretch cut = *part;
  if (cut.begin < to->from) cut.begin = to->from;
  cut.chosen = !to->filter || filter_stretch(to->filter, &cut);
  if (cut.chosen || to->all) to->stretch(to, &cut);
}

/* take_stretch() for when everything is selected. */
static void pass_stretch(void *context, const stretch *part) {
  consumer *to = context;
  to->stretch(to, part);
}

/* The part begins: tells the filters what is open. They are not asked before. */
static void recall(source *s) {
  filter *const filters[] = {s->to->filter, s->to->own[0], s->to->own[1]};
  goroutine *g;
  size_t i;
  if (s->recalled) return;
  s->recalled = true;
  for (g = s->w.live; g && s->by_task; g = g->next) /* as split_stretch() */
    if (g->divided > g->since) g->since = g->divided;
  if (s->to->recall) {
    s->to->recall(s->to);
    return;
  }
  for (i = 0; i < COUNT(filters); i++)
    if (filters[i] && filters[i]->on) filter_world(filters[i], &s->w);
  if (s->to->filter && s->to->filter->on) filter_choose(s->to->filter, &s->w);
}

static void begin(source *s) {
  recall(s);
  s->begun = true;
  s->before = input_offset(s->in);
  s->w.context = s->to;
  s->plain = s->to->as_go && !s->to->filter && !s->by_task && !s->from && s->until == INT64_MAX;
  if (s->to->stretch) s->w.stretch = s->plain ? pass_stretch : take_stretch;
  s->to->begin(s->to, s->to->from);
}

/* Reads the trace ahead, unless its consumer will have got all of it before it shows anything. */
static void look_ahead(source *s) {
  filter *const filters[] = {s->to->filter, s->to->own[0], s->to->own[1]};
  bool names = !s->to->as_go || s->from || s->until != INT64_MAX;
  size_t i;
  s->ahead.wanted = NOBODY;
  for (i = 0; i < COUNT(filters); i++) {
    if (!filters[i]) continue;
    names |= filter_needs_names(filters[i]);
    if (filters[i]->any_task) filter_ask(filters[i], &s->ahead);
  }
  s->ahead.met = index_has_task(&s->moment, s->ahead.wanted);
  if ((names && !s->to->early && !s->moment.foretold) || (s->ahead.wanted != NOBODY && !s->ahead.met))
    ahead_read(&s->ahead, s->in, s->until, s->asks_all);
  for (i = 0; i < COUNT(filters); i++)
    if (filters[i]) filter_tell(filters[i], &s->ahead);
}

void name_new(source *s, op *o) {
  if (!pool_function(o->new_stack)) o->new_stack = ahead_entry(&s->ahead, s->in->decoder, o->id);
}

void name_own(source *s, const gotrace_event *e) {
  goroutine *g = e->stack && e->g != GOTRACE_NO_ID ? world_go(&s->w, (uint64_t)e->g) : NULL;
  if (!g || g->entry) return;
  g->entry = ahead_entry(&s->ahead, s->in->decoder, g->id);
  s->named_late |= g->entry != 0;
}

/* A goroutine turns out to be older than the trace, but the output can no longer say so: it is created now. */
static void give_created(source *s, const op *status) {
  op o = *status;
  o.kind = o.a[0] == GO_WAITING   ? GOTRACE_V2_GO_CREATE_BLOCKED
           : o.a[0] == GO_SYSCALL ? GOTRACE_V2_GO_CREATE_SYSCALL
                                  : GOTRACE_V2_GO_CREATE;
  if (!executes((unsigned)o.a[0])) o.m = NULL;
  o.stack = 0; /* it is the goroutine's stack, not its creator's */
  give(s, &o);
  if (o.a[0] != GO_RUNNING) return;
  o.kind = GOTRACE_V2_GO_START;
  give(s, &o);
}

#define MODULE "gotrace.module "

/* Calls `take` for each of the trace's strings that begin with `prefix`, the first of them in the first `most` bytes,
 * until it returns false. No event refers to such texts, so the trace is read once more for them, unless it has none.
 * `met`: for what `take` has met. */
static void take_strings(source *s, const char *prefix, size_t most,
                         bool (*take)(source *, map *met, const char *text, size_t size)) {
  map met = {0};
  const size_t size = strlen(prefix);
  gotrace_event e;
  if (!input_contains(s->in, prefix, size, most) || input_decode(s->in, true) != GOTRACE_OK) return;
  while (input_next(s->in, &e) == GOTRACE_OK)
    if (is_string(&e) && e.data_size > size && memcmp(e.data, prefix, size) == 0 && !take(s, &met, e.data, e.data_size))
      break;
  map_free(&met);
}

/* Adds a module to the world, once. */
static bool take_module(source *s, map *met, const char *data, size_t size) {
  world *w = &s->w;
  uint32_t text = pool_put_text(data, size);
  if (map_get(met, text)) return true;
  map_put(met, text, w);
  GROW(w->modules, w->module_count, w->module_capacity);
  w->modules[w->module_count++] = text;
  return true;
}

/* Whether a module is what was executed: it is a file, and no library. Notes its name. */
static bool notes_program(source *s, const char *data, size_t size) {
  const char *name = memrchr(data, '/', size), *end = data + size;
  if (!name || memmem(name, (size_t)(end - name), ".so", 3)) return false;
  s->w.program = pool_put_text(name + 1, (size_t)(end - name - 1));
  return true;
}
static bool take_program(source *s, map *met, const char *data, size_t size) {
  (void)met;
  return !notes_program(s, data, size);
}

/* `later`: reading begins at an index, which has the modules. */
static void find_program(source *s, bool later) {
  size_t i;
  if (!later) take_strings(s, MODULE, told_within(s->in), take_program);
  for (i = 0; later && i < s->w.module_count; i++) {
    pool_text text = pool_text_of(s->w.modules[i]);
    if (notes_program(s, text.data, text.size)) return;
  }
}

static bool take_old_waits(source *s, map *met, const char *data, size_t size) {
  const size_t prefix = strlen(OLD_WAITS);
  (void)met;
  take_told(&s->old_waits, data + prefix, size - prefix);
  return true;
}

uint32_t old_wait(const source *s, uint64_t id) {
  return s->old_waits.count ? (uint32_t)(uintptr_t)map_get(&s->old_waits, id) : 0;
}

void source_end(source *s) {
  int64_t end;
  s->event = NULL;
  if (!s->format) return; /* not even a header was read */
  give_held(s);
  if (!s->begun && s->any && s->from <= between(s->first, s->end)) begin(s); /* nothing happens in this part */
  if (!s->begun) return;
  end = between(s->first, s->end) > s->until ? s->first + s->until : s->end;
  end_stretches(&s->w, end);
  if (s->disordered && !s->to->again)
    report("regions that ended out of order, which Go refuses: %llu", (ull)s->disordered);
  s->to->end(s->to, end);
  if (s->may_be_later) index_advise(s->in, s->index, s->before);
}

void give_part(source *s, const op *o) {
  if (s->over) return;
  if (s->until != INT64_MAX && between(s->first, o->time) > s->until) {
    s->over = true;
    return;
  }
  if (!s->begun && between(s->first, o->time) >= s->from) begin(s);
  if (s->begun && !s->to->statuses && o->kind == GOTRACE_V2_GO_STATUS && !o->known) {
    give_created(s, o);
    return;
  }
  deliver(s, o);
}

void give_held(source *s) {
  op held = s->held;
  s->held.kind = 0;
  if (held.kind) give(s, &held);
}

void give_sample(source *s, const gotrace_event *e) {
  op o = op_of(s, GOTRACE_V2_CPU_SAMPLE, e->time, NULL);
  o.a[0] = (uint64_t)e->m;
  o.a[1] = (uint64_t)e->p;
  o.a[2] = e->g > 0 ? (uint64_t)e->g : 0;
  o.stack = pool_take_stack(s->in->decoder, e->stack);
  give(s, &o);
}

void introduce(source *s, const op *o) {
  if (s->begun || s->to->as_go) give(s, o);
  else apply(&s->w, o);
}

void source_first(source *s, const gotrace_event *e) {
  if (s->any) return;
  s->any = true;
  s->first = input_first_time(s->in, e);
  s->to->base = s->first;
  s->to->from = s->first > INT64_MAX - s->from ? INT64_MAX : s->first + s->from;
}

static void put_text_of(bytes *to, uint32_t id) {
  pool_text text = pool_text_of(id);
  put_number(to, text.size);
  put_data(to, text.data, text.size);
}

static bool take_text(const uint8_t **at, const uint8_t *end, uint32_t *id) {
  uint64_t size;
  if (!take_number(at, end, &size) || size > (uint64_t)(end - *at)) return false;
  *id = pool_put_text((const char *)*at, (size_t)size);
  *at += size;
  return true;
}

void source_put_facts(bytes *to, const source *s) {
  const map *gos = &s->w.gos;
  size_t i, count = 0;
  put_number(to, s->w.module_count);
  for (i = 0; i < s->w.module_count; i++) put_text_of(to, s->w.modules[i]);
  put_number(to, (uint64_t)s->ahead.recorded + s->ahead.watched);
  for (i = 0; i < gos->count; i++) count += ((goroutine *)gos->values[i])->called != 0;
  put_number(to, count);
  for (i = 0; i < gos->count; i++) {
    const goroutine *g = gos->values[i];
    if (!g->called) continue;
    put_number(to, g->id);
    put_text_of(to, g->called);
  }
}

/* False: they are damaged. */
static bool take_facts(source *s, const uint8_t *at, const uint8_t *end) {
  world *w = &s->w;
  uint64_t count, recorded, id;
  uint32_t text;
  if (!take_number(&at, end, &count)) return false;
  for (; count; count--) {
    if (!take_text(&at, end, &text)) return false;
    GROW(w->modules, w->module_count, w->module_capacity);
    w->modules[w->module_count++] = text;
  }
  if (!take_number(&at, end, &recorded) || !take_number(&at, end, &count)) return false;
  s->ahead.recorded = recorded != 0;
  s->ahead.watched = recorded > 1;
  for (; count; count--) {
    if (!take_number(&at, end, &id) || !take_text(&at, end, &text)) return false;
    map_put(&s->ahead.called, id, (void *)(uintptr_t)text);
  }
  if (s->ahead.called.count) w->called = &s->ahead.called;
  return at == end;
}

static void prepare_world(source *s) {
  s->w.history = s->to->history || (s->by_task && !s->to->as_go);
  s->w.as_go = s->to->as_go;
}

static bool take_moment(source *s, const index_moment *of) {
  consumer *to = s->to;
  if (!take_facts(s, of->facts, of->facts + of->facts_size)) return false;
  return to->as_go ? to->load(to, of) : world_load(&s->w, of, s->until);
}

/* Whether it matters if the trace mentions a task before the part: see filter_tell(), consumer.wanted. */
static bool wants_task(const source *s) {
  const filter *const filters[] = {s->to->filter, s->to->own[0], s->to->own[1]};
  bool wants = s->to->wanted != NULL;
  size_t i;
  for (i = 0; i < COUNT(filters); i++) wants |= filters[i] && filters[i]->any_task && filters[i]->task != NOBODY;
  return wants;
}

/* Begins at an index, with its world, if that serves the consumer. A trace that has an index has no region ends that
 * only --lenient accepts. */
static bool begin_later(source *s) {
  const consumer *to = s->to;
  if (!to->later) return false;
  s->may_be_later = s->from > 0;
  if (!index_begin(s->in, s->index, s->from, to->as_go ? INDEX_SUMMARY : INDEX_WORLD, wants_task(s), &s->moment))
    return false;
  if (take_moment(s, &s->moment)) return true;
  index_refuse(s->in, s->index);
  world_free(&s->w);
  ahead_free(&s->ahead);
  memset(&s->moment, 0, sizeof s->moment);
  memset(&s->w, 0, sizeof s->w);
  memset(&s->ahead, 0, sizeof s->ahead);
  prepare_world(s);
  return false;
}

/* What filters ask for, before anything is read. */
static void look_at_filters(source *s) {
  const filter *const filters[] = {s->to->filter, s->to->own[0], s->to->own[1]};
  size_t i;
  for (i = 0; i < COUNT(filters); i++) {
    if (!filters[i]) continue;
    s->asks_all |= filters[i]->on;
    s->by_task |= filters[i]->any_task;
  }
}

/* Names the goroutines of an index whose functions are told later. */
static void name_known(source *s) {
  goroutine *g;
  for (g = s->w.live; g; g = g->next)
    if (!g->entry) g->entry = ahead_entry(&s->ahead, s->in->decoder, g->id);
}

gotrace_result source_begin(source *s, input *in, consumer *to, int64_t from, int64_t until) {
  gotrace_result result;
  gotrace_decoder_info info;
  bool later;
  s->in = in;
  s->to = to;
  to->w = &s->w;
  s->from = moment_resolve(from, in);
  s->until = moment_resolve(until, in);
  if (s->from > s->until) fail("--to is before --from");
  look_at_filters(s);
  prepare_world(s);
  later = begin_later(s);
  to->met = to->wanted && index_has_task(&s->moment, *to->wanted);
  if (!later) ahead_names(&s->ahead, in);
  to->recorded = s->ahead.recorded;
  to->watched = s->ahead.watched;
  if (s->ahead.called.count) s->w.called = &s->ahead.called;
  look_ahead(s);
  result = input_decode(in, false);
  if (result != GOTRACE_OK) return result;
  gotrace_decoder_get_info(in->decoder, &info);
  s->format = info.format;
  input_first_look(in);
  to->input = info.format;
  s->w.chosen = true;
  if (to->modules && !later) take_strings(s, MODULE, SIZE_MAX, take_module);
  if (to->program && s->ahead.recorded) find_program(s, later);
  if (!later && !in->from && input_is_kept(in)) take_strings(s, OLD_WAITS, told_within(in), take_old_waits);
  pool_forget_ids(); /* of another trace */
  s->beginning = info.family == 1;
  to->told &= !s->beginning;
  if (later) name_known(s);
  else if (!to->as_go) find_start(s);
  return later ? result : input_decode(in, false);
}

/* Notes an event before anybody sees it. */
static inline void note_event(source *s, const gotrace_event *e) {
  if (!s->any) {
    s->w.sync = e->time;
    source_first(s, e);
  }
  s->end = e->time;
}

void ask(source *s, const gotrace_event *e) {
  /* If the trace was read ahead, the world has names that the decoder does not have yet. */
  const goroutine *g = !s->ahead.count && e->stack && e->g != GOTRACE_NO_ID ? world_go(&s->w, (uint64_t)e->g) : NULL;
  bool needed = s->asks_all || asks(s->in, e, g && g->entry);
  s->changed = needed && gotrace_decoder_change(s->in->decoder, e, &s->change);
}

gotrace_result source_next(source *s, const gotrace_event **e) {
  gotrace_result result = input_take(s->in, e);
  if (result == GOTRACE_OK) ask(s, *e);
  return result;
}

void source_take(source *s, const gotrace_event *e) {
  note_event(s, e);
  ask(s, e);
  take_event(s, e);
}

gotrace_result source_read(source *s, watch_fn *watch, void *context) {
  const consumer *to = s->to;
  const gotrace_event *e;
  gotrace_result result;
  int64_t since;
  while ((result = source_next(s, &e)) == GOTRACE_OK) {
    note_event(s, e);
    s->events += !(e->implied && e->v1_kind);
    since = between(s->first, e->time);
    s->events_of_part += !e->implied && since >= s->from && since <= s->until;
    if (since >= s->from) recall(s);
    if (watch) watch(context, e);
    take_event(s, e);
    if (!s->over) continue;
    s->event = NULL;
    if (to->as_go && (s->beginning || s->w.generation == 1)) take_later_state(s, e);
    return GOTRACE_END_OF_TRACE;
  }
  return result;
}

gotrace_result source_run(source *s, input *in, consumer *to, int64_t from, int64_t until, watch_fn *watch,
                          void *context) {
  gotrace_result result = source_begin(s, in, to, from, until);
  if (result == GOTRACE_OK) result = source_read(s, watch, context);
  source_end(s);
  return result;
}

void source_free(source *s) {
  world_free(&s->w);
  ahead_free(&s->ahead);
  map_free(&s->old_waits);
}

void source_broken(const source *s, const settings *set) {
  const char *error = input_error(s->in);
  bool told = s->events > s->w.generation; /* something besides the starts of generations */
  if (!set->partial || !s->begun || !told) fail("%s%s", error, input_advice(s->in, set, s->begun && told));
  report("%s; kept what comes before: %llu events, until %.9f s", error, (ull)s->events,
         (double)between(s->first, s->end) / 1e9);
}

bool part_open(trace_part *p, const char *path, const settings *set) {
  memset(p, 0, sizeof *p);
  p->s.index = set->index;
  if (!input_open(&p->in, path, true)) return false;
  p->in.lenient = set->lenient;
  filter_open(&p->selection, set);
  return true;
}

void part_read(trace_part *p, consumer *to, const settings *set, watch_fn *watch, void *context) {
  gotrace_result result = source_run(&p->s, &p->in, to, set->from, set->until, watch, context);
  if (result != GOTRACE_END_OF_TRACE) source_broken(&p->s, set);
  else if (source_nothing(&p->s)) fail("%s", source_nothing(&p->s));
  erase_progress();
}

void part_close(trace_part *p) {
  source_free(&p->s);
  filter_close(&p->selection);
  input_close(&p->in);
}

const char *source_nothing(const source *s) {
  return s->begun ? NULL : outside_text(s->from, between(s->first, s->end));
}
