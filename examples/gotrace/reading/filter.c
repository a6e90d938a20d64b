/* filter.c - which events and stretches a command considers: see filter.h
 *
 * `facts` decides whether something is selected; it is the same for events and operations. The filter learns what it
 * needs to know about goroutines (functions, tasks of open regions) from what passes through it and, where a part
 * begins, from what is open there. */

#include "source.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>

/* What a filter knows about a goroutine. */
typedef struct member {
  uint64_t *tasks; /* of its open regions, innermost last */
  uint32_t depth, capacity;
} member;

typedef struct facts {
  unsigned kind, in_file; /* see kind_of_file() */
  uint64_t m, p, g;       /* where it happens; NOBODY: nowhere */
  uint64_t other, proc;   /* the goroutine or proc it concerns; NOBODY: none */
  uint32_t functions[2];  /* texts: the names of g and other, as name_of(); 0: unknown */
  const char *reason;     /* NULL: none */
  size_t reason_size;
  unsigned change; /* GOTRACE_CHANGE_... */
  bool creates;    /* `other` */
  bool has_task;
  uint64_t task;      /* the task it concerns, if has_task */
  const origin *past; /* before the part, there; NULL: now */
  pool_text name;     /* of a task that begins */
  uint64_t inside;    /* of a region that ends: how many open regions are inside it */
} facts;

enum { IDS_GO, IDS_PROC, IDS_THREAD };

static bool read_ids(filter *f, unsigned which, const char *text) {
  size_t count = 0;
  char *end;
  for (; *text; text = end + (*end == ',')) {
    if (*text < '0' || *text > '9') return false;
    f->ids[which] = resize(f->ids[which], (count + 1) * sizeof(uint64_t));
    f->ids[which][count++] = strtoull(text, &end, 10);
    if (*end && *end != ',') return false;
  }
  f->id_counts[which] = count;
  f->met[which] = zeroed(count + 1);
  return count > 0;
}

static bool has_id(filter *f, unsigned which, uint64_t id) {
  bool has = false;
  size_t i;
  for (i = 0; i < f->id_counts[which] && id != NOBODY; i++)
    if (f->ids[which][i] == id) f->met[which][i] = has = true;
  return has;
}

/* Reads names of kinds, of any format. */
static bool read_kinds(filter *f, const char *text) {
  while (*text) {
    size_t size = strcspn(text, ","), count, i;
    bool found = false;
    unsigned old;
    for (old = 0; old < 2; old++) {
      const gotrace_event_spec *specs = gotrace_event_specs(old ? 1 : 2, &count);
      for (i = 0; i < count; i++) {
        if (strlen(specs[i].name) != size || strncasecmp(specs[i].name, text, size) != 0) continue;
        f->kinds[old * OF_V1 + (specs[i].number & 0xff)] = found = true;
      }
    }
    if (!found) return false;
    text += size;
    text += *text == ',';
  }
  return true;
}

void filter_open(filter *f, const settings *set) {
  static const struct {
    unsigned option, ids;
    const char *name;
  } numbers[] = {{BY_GO, IDS_GO, "goroutine"}, {BY_PROC, IDS_PROC, "proc"}, {BY_THREAD, IDS_THREAD, "thread"}};
  const char *task = set->by[BY_TASK];
  char *end;
  size_t i;
  memset(f, 0, sizeof *f);
  f->set = set;
  for (i = 0; i < FILTERS; i++) f->on |= set->by[i] != NULL;
  for (i = 0; i < COUNT(numbers); i++) {
    const char *value = set->by[numbers[i].option];
    if (value && !read_ids(f, numbers[i].ids, value)) usage("invalid %s '%s'", numbers[i].name, value);
  }
  if (set->by[BY_KIND] && !read_kinds(f, set->by[BY_KIND])) usage("'%s' names no kind of event", set->by[BY_KIND]);
  if (!task) return;
  f->any_task = true;
  f->task = *task >= '0' && *task <= '9' ? strtoull(task, &end, 10) : NOBODY;
  if (f->task != NOBODY && *end) f->task = NOBODY;
}

void filter_close(filter *f) {
  size_t i;
  for (i = 0; i < COUNT(f->ids); i++) free(f->ids[i]), free(f->met[i]);
  for (i = 0; i < f->members.count; i++) free(((member *)f->members.values[i])->tasks);
  map_free(&f->members);
  map_free(&f->tasks);
}

/* -------------------------------------------------------------------------------------------- tasks, functions ---- */

static member *member_of(filter *f, uint64_t g, bool add) {
  if (g == NOBODY) return NULL;
  return add ? map_keep(&f->members, g, sizeof(member), NULL) : map_get(&f->members, g);
}

bool filter_needs_names(const filter *f) { return f->set->by[BY_FUNCTION] != NULL; }

bool filter_looks_ahead(const filter *f) { return filter_needs_names(f) || f->any_task; }

void filter_ask(const filter *f, ahead *a) { a->wanted = f->any_task ? f->task : NOBODY; }

void filter_tell(filter *f, const ahead *a) {
  f->ahead = a;
  if (!a->met) f->task = NOBODY; /* a number that is no id is a name */
}

static bool is_task(const filter *f, uint64_t id) {
  return f->task != NOBODY ? id == f->task : map_get(&f->tasks, id) != NULL;
}

static bool in_task(filter *f, uint64_t g) {
  const member *known = member_of(f, g, false);
  return known && known->depth && is_task(f, known->tasks[known->depth - 1]);
}

static void enter(filter *f, uint64_t g, uint64_t task) {
  member *known = member_of(f, g, true);
  if (!known) return;
  GROW(known->tasks, known->depth, known->capacity);
  known->tasks[known->depth++] = task;
}

/* A region ends that has `inside` open regions inside it. */
static void leave(filter *f, uint64_t g, uint64_t inside) {
  member *known = member_of(f, g, false);
  uint64_t *task;
  if (!known || inside >= known->depth) return;
  task = &known->tasks[--known->depth - inside];
  memmove(task, task + 1, (size_t)inside * sizeof *task);
}

static void name_task(filter *f, uint64_t id, const char *name, size_t size) {
  const char *wanted = f->set->by[BY_TASK];
  if (size == strlen(wanted) && memcmp(name, wanted, size) == 0) map_put(&f->tasks, id, f);
  else if (map_get(&f->tasks, id)) map_put(&f->tasks, id, NULL);
}

void filter_region(filter *f, uint64_t g, uint64_t task) {
  if (f->any_task) enter(f, g, task);
}

void filter_named(filter *f, uint64_t task, uint32_t name, bool open) {
  pool_text text = pool_text_of(name);
  if (!f->any_task) return;
  name_task(f, task, text.data, text.size);
  f->task_met |= open && is_task(f, task);
}

void filter_settle(filter *f) {
  size_t i;
  uint32_t j;
  for (i = 0; i < f->members.count && !f->task_met; i++) {
    const member *of = f->members.values[i];
    for (j = 0; j < of->depth; j++) f->task_met |= is_task(f, of->tasks[j]);
  }
}

/* A goroutine is created: it inherits the task of its creator's innermost region. */
static void inherit(filter *f, uint64_t creator, uint64_t g) {
  const member *from = member_of(f, creator, false);
  member *to = member_of(f, g, from && from->depth);
  uint64_t task = from && from->depth ? from->tasks[from->depth - 1] : 0;
  if (!to) return;
  to->depth = 0;
  if (from && from->depth) enter(f, g, task);
}

static bool is_function(uint32_t name, const char *wanted) {
  return *wanted == '=' ? pool_text_is(name, wanted + 1) : pool_text_contains(name, wanted);
}

static bool has_function(filter *f, uint32_t name) {
  uint8_t *known;
  if (!name) return false;
  known = SIDE(uint8_t, &f->functions, name);
  if (!*known) *known = is_function(name, f->set->by[BY_FUNCTION]) ? 1 : 2;
  f->function_met |= *known == 1;
  return *known == 1;
}

/* ------------------------------------------------------------------------------------------------------ events ---- */

/* Operations also have kinds without an event. What was lifted goes by both of its names. */
static bool has_kind(const filter *f, unsigned kind, unsigned in_file) {
  return (kind < OF_V1 && f->kinds[kind]) || (in_file && f->kinds[in_file]);
}

static unsigned kind_of(const op *o) { return o->switches ? o->switches : o->kind; }

static bool is_reason(filter *f, const char *reason, size_t size) {
  const char *wanted = f->set->by[BY_REASON];
  if (!reason || size != strlen(wanted) || memcmp(reason, wanted, size) != 0) return false;
  return f->reason_met = true;
}

/* Both are evaluated, unlike by ||. */
static bool either(bool a, bool b) { return a || b; }

static bool concerns_task(filter *f, const facts *k) {
  bool concerns = k->has_task && is_task(f, k->task);
  f->task_met |= concerns;
  if (k->past) return concerns || (k->past->inside && is_task(f, k->past->within));
  return concerns || in_task(f, k->g) || in_task(f, k->other);
}

/* Tries every option, even if an earlier one does not select it, since each notes what there is: see
 * filter_unknown(). */
static bool selected(filter *f, const facts *k) {
  const char *const *by = f->set->by;
  bool all = true;
  if (by[BY_GO]) all &= either(has_id(f, IDS_GO, k->g), has_id(f, IDS_GO, k->other));
  if (by[BY_FUNCTION]) all &= either(has_function(f, k->functions[0]), has_function(f, k->functions[1]));
  if (by[BY_PROC]) all &= either(has_id(f, IDS_PROC, k->p), has_id(f, IDS_PROC, k->proc));
  if (by[BY_THREAD]) all &= has_id(f, IDS_THREAD, k->m);
  if (by[BY_KIND]) all &= has_kind(f, k->kind, k->in_file);
  if (by[BY_TASK]) all &= concerns_task(f, k);
  if (by[BY_REASON]) all &= is_reason(f, k->reason, k->reason_size);
  return all;
}

/* The same, and notes which tasks the goroutines are in before and afterwards. */
static bool decide(filter *f, const facts *k) {
  bool result;
  if (!f->any_task) return selected(f, k);
  if (k->creates) inherit(f, k->g, k->other);
  if (k->change == GOTRACE_CHANGE_REGION_BEGIN) enter(f, k->g, k->task);
  if (k->change == GOTRACE_CHANGE_TASK_BEGIN && f->task == NOBODY) name_task(f, k->task, k->name.data, k->name.size);
  result = selected(f, k);
  if (k->change == GOTRACE_CHANGE_REGION_END) leave(f, k->g, k->inside);
  return result;
}

static uint64_t id_of(int64_t id) { return id == GOTRACE_NO_ID ? NOBODY : (uint64_t)id; }

/* The name of a goroutine, as name_of(). */
static uint32_t function_of(const filter *f, const gotrace_decoder *d, uint64_t g) {
  uint32_t called = ahead_called(f->ahead, g);
  return called ? called : g == NOBODY ? 0 : pool_function(ahead_entry(f->ahead, d, g));
}

bool filter_event(filter *f, const gotrace_decoder *d, const gotrace_event *e, const gotrace_change *c) {
  facts k = {0};
  if (!f->on) return true;
  k.kind = e->kind;
  k.in_file = kind_of_file(e);
  k.m = id_of(e->m), k.p = id_of(e->p), k.g = id_of(e->g);
  k.other = k.proc = NOBODY;
  if (c) {
    k.change = c->kind;
    if (k.change == GOTRACE_CHANGE_SYNC) pool_forget_ids();
    if (c->object == GOTRACE_OBJECT_GO) k.other = id_of(c->id);
    if (c->object == GOTRACE_OBJECT_PROC) k.proc = id_of(c->id);
    k.has_task = change_has_task(c->kind);
    k.task = c->task;
    k.name = (pool_text){c->name, (uint32_t)c->name_size};
    k.inside = (uint64_t)e->extra;
    k.creates = k.change == GOTRACE_CHANGE_STATUS && c->from == GOTRACE_STATUS_NONE && e->extra != GOTRACE_STATUS_NONE;
    k.reason = change_reason(e, c, &k.reason_size);
  }
  if (f->set->by[BY_FUNCTION]) k.functions[0] = function_of(f, d, k.g), k.functions[1] = function_of(f, d, k.other);
  return decide(f, &k);
}

bool filter_op(filter *f, world *w, const op *o) {
  facts k = {0};
  const goroutine *g = o->m ? o->m->g : NULL, *other;
  if (!f->on) return true;
  k.kind = kind_of(o);
  k.in_file = o->in_file;
  k.m = o->m ? o->m->id : NOBODY;
  k.p = o->m && o->m->p ? o->m->p->id : NOBODY;
  k.g = g ? g->id : NOBODY;
  k.other = k.proc = NOBODY;
  if (o->kind == GOTRACE_V2_CPU_SAMPLE) k.m = o->a[0], k.p = o->a[1], k.g = o->a[2] ? o->a[2] : NOBODY;
  if (names_go(o->kind)) k.other = o->id;
  if (names_proc(o->kind)) k.proc = o->id;
  k.change = change_specs[o->kind].kind;
  k.creates = creates(o->kind);
  if ((k.has_task = change_has_task(k.change))) k.task = o->id;
  k.name = pool_text_of(o->name);
  k.inside = o->a[0];
  if (o->kind == GOTRACE_V2_GO_STOP || o->kind == GOTRACE_V2_GO_BLOCK || o->kind == GOTRACE_V2_STW_BEGIN)
    k.reason = k.name.data, k.reason_size = k.name.size;
  if (f->set->by[BY_FUNCTION]) {
    if (o->kind == GOTRACE_V2_CPU_SAMPLE) g = world_go(w, k.g);
    if (g) k.functions[0] = name_of(g);
    other = k.other == NOBODY ? NULL : world_go(w, k.other);
    if (other) k.functions[1] = name_of(other);
    else if (!(k.functions[1] = ahead_called(f->ahead, k.other))) k.functions[1] = pool_function(o->new_stack);
  }
  return decide(f, &k);
}

bool filter_origin(filter *f, world *w, unsigned kind, const origin *from) {
  facts k = {.kind = kind, .in_file = from->in_file, .other = NOBODY, .proc = NOBODY, .has_task = true, .past = from};
  if (!f->on) return true;
  k.m = from->m ? from->m->id : NOBODY;
  k.p = from->p ? from->p->id : NOBODY;
  k.g = from->g;
  k.task = from->task;
  k.functions[0] = origin_name(w, from);
  return selected(f, &k);
}

void filter_world(filter *f, world *w) {
  const goroutine *g;
  size_t i;
  uint32_t j;
  for (g = w->live; g; g = g->next) {
    if (g->inherits) filter_region(f, g->id, g->inherited);
    for (j = 0; g->regions && j < g->regions->count; j++) filter_region(f, g->id, g->regions->open[j].task);
  }
  for (i = 0; i < w->tasks.count; i++) {
    const user_task *t = w->tasks.values[i];
    filter_named(f, t->id, t->name, t->open);
  }
  filter_settle(f);
}

typedef struct chooser {
  filter *f;
  world *w;
} chooser;

static bool chooses_counter(void *context, const user_counter *c) {
  const chooser *by = context;
  return filter_origin(by->f, by->w, GOTRACE_V2_USER_LOG, &c->from);
}

static bool chooses_region(filter *f, world *w, const goroutine *g, const user_region *r) {
  origin from = {r->m, r->p, g->id, r->task, r->task, r->in_file, name_of(g), true};
  return filter_origin(f, w, GOTRACE_V2_USER_REGION_BEGIN, &from);
}

void filter_choose(filter *f, world *w) {
  chooser by = {f, w};
  goroutine *g;
  size_t i;
  uint32_t j;
  for (i = 0; i < w->tasks.count; i++) {
    user_task *t = w->tasks.values[i];
    t->chosen = t->open && filter_origin(f, w, GOTRACE_V2_USER_TASK_BEGIN, &t->from);
  }
  for (g = w->live; g; g = g->next)
    for (j = 0; g->regions && j < g->regions->count; j++)
      g->regions->open[j].chosen = chooses_region(f, w, g, &g->regions->open[j]);
  world_keep_counters(w, chooses_counter, &by);
}

bool filter_stretch(filter *f, const stretch *part) {
  const char *const *by = f->set->by;
  const goroutine *g = part->g;
  const thread *m = g->m;
  pool_text text = pool_text_of(part->reason);
  if (!f->on) return true;
  if (!filter_goroutine(f, g)) return false;
  if (by[BY_PROC] && !(m && m->p && has_id(f, IDS_PROC, m->p->id))) return false;
  if (by[BY_THREAD] && !(m && has_id(f, IDS_THREAD, m->id))) return false;
  if (by[BY_KIND] && !(part->by && has_kind(f, kind_of(part->by), part->by->in_file))) return false;
  if (by[BY_TASK] && !in_task(f, g->id)) return false;
  return !by[BY_REASON] || (part->status == GO_WAITING && is_reason(f, text.data, text.size));
}

bool filter_goroutine(filter *f, const goroutine *g) {
  if (f->set->by[BY_GO] && !has_id(f, IDS_GO, g->id)) return false;
  return !f->set->by[BY_FUNCTION] || has_function(f, name_of(g));
}

bool filter_task(const filter *f, uint64_t id) { return !f->any_task || is_task(f, id); }

/* ---------------------------------------------------------------------------------------------------- unknown ---- */

static bool is_alive(const goroutine *g) { return g->status != GO_NONE; }

/* Of --go, --proc or --thread: the first id that was not met; NULL: all were, or in a part of the trace, which need not
 * have all, any was. The world also has what nothing happened to, and goroutines that end before the part or begin
 * after it. */
static const uint64_t *unknown_id(const filter *f, unsigned which, const map *known, bool part) {
  const uint64_t *unknown = NULL;
  bool met, any = false;
  size_t i;
  for (i = f->id_counts[which]; i-- > 0;) {
    void *record = known ? map_get(known, f->ids[which][i]) : NULL;
    met = f->met[which][i] || (record && (which != IDS_GO || is_alive(record)));
    any |= met;
    if (!met) unknown = &f->ids[which][i];
  }
  return part && any ? NULL : unknown;
}

static bool met_function(filter *f, const world *w) {
  size_t i;
  for (i = 0; w && i < w->gos.count && !f->function_met; i++)
    if (is_alive(w->gos.values[i])) has_function(f, name_of(w->gos.values[i]));
  return f->function_met;
}

const char *filter_unknown(filter *f, const world *w) {
  static const char *const things[] = {"goroutine", "proc", "thread"};
  static char text[256];
  const char *const *by = f->set->by;
  const map *known[] = {w ? &w->gos : NULL, w ? &w->procs : NULL, w ? &w->threads : NULL};
  bool part = f->set->from || f->set->until != INT64_MAX;
  const char *where = part ? "this part of the trace" : "the trace";
  const uint64_t *id;
  unsigned i;
  for (i = 0; i < COUNT(things); i++) {
    if (!(id = unknown_id(f, i, known[i], part))) continue;
    snprintf(text, sizeof text, "no %s %llu in %s", things[i], (ull)*id, where);
    return text;
  }
  if (by[BY_FUNCTION] && !met_function(f, w))
    snprintf(text, sizeof text, "no goroutine in %s began with a function '%.100s'", where, by[BY_FUNCTION]);
  else if (f->any_task && !f->task_met) snprintf(text, sizeof text, "no task %.100s in %s", by[BY_TASK], where);
  else if (by[BY_REASON] && !f->reason_met)
    snprintf(text, sizeof text, "nothing in %s blocks for '%.100s'", where, by[BY_REASON]);
  else return NULL;
  return text;
}

void filter_require(filter *f, const world *w) {
  const char *unknown = filter_unknown(f, w);
  if (unknown) fail("%s", unknown);
}

/* ----------------------------------------------------------------------------------------------------- moments ---- */

#define SECOND 1000000000

/* A time of the wall clock. */
typedef struct moment {
  int64_t seconds, nanoseconds; /* since 1970; since midnight, if of_day */
  bool of_day, utc;
  const char *text; /* as given */
} moment;

static moment moments[8]; /* -1 stands for the first, and so on */
static int64_t moment_count;

static bool parse_clock(const char *text, moment *m) {
  struct tm day;
  double seconds;
  int used = 0, hour, minute, fields;
  char separator;
  memset(&day, 0, sizeof day);
  fields = sscanf(text, "%4d-%2d-%2d%c%n", &day.tm_year, &day.tm_mon, &day.tm_mday, &separator, &used);
  m->of_day = fields != 4;
  if (!m->of_day && separator != 'T' && separator != ' ') return false;
  if (!m->of_day) text += used;
  used = 0;
  if (sscanf(text, "%2d:%2d:%lf%n", &hour, &minute, &seconds, &used) != 3 || !used) return false;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || !(seconds >= 0 && seconds < 60)) return false;
  m->utc = text[used] == 'Z';
  if (text[used + m->utc]) return false;
  m->nanoseconds = (int64_t)((seconds - (double)(int)seconds) * SECOND + 0.5);
  m->seconds = hour * 3600 + minute * 60 + (int)seconds;
  if (m->of_day) return true;
  day.tm_year -= 1900;
  day.tm_mon--;
  day.tm_hour = hour, day.tm_min = minute, day.tm_sec = (int)seconds;
  day.tm_isdst = -1;
  m->seconds = (int64_t)(m->utc ? timegm(&day) : mktime(&day));
  return true;
}

int64_t moment_parse(const char *text) {
  static const struct {
    const char *name;
    double size;
  } units[] = {{"ns", 1}, {"us", 1e3}, {"\xc2\xb5s", 1e3} /* as the page shows it */, {"ms", 1e6}, {"s", 1e9}};
  char *end;
  double value = strtod(text, &end);
  size_t i;
  if (*text && text[strspn(text, "0123456789")] == 0) end = (char *)(uintptr_t) "ns";
  if (strchr(text, ':')) {
    if (moment_count == COUNT(moments) || !parse_clock(text, &moments[moment_count])) return MOMENT_INVALID;
    moments[moment_count].text = text;
    return -++moment_count;
  }
  for (i = 0; i < COUNT(units); i++) {
    if (end == text || strcmp(end, units[i].name) != 0 || !(value >= 0)) continue;
    value *= units[i].size;
    return value < 9e18 ? (int64_t)(value + 0.5) : INT64_MAX;
  }
  return MOMENT_INVALID;
}

/* The second since 1970 for a time of day: on the day of `start` or, if that is more than an hour before `start`, on
 * the next day. */
static int64_t on_day(const moment *m, int64_t start) {
  time_t begin = (time_t)start;
  struct tm day;
  int64_t at = 0;
  int attempt;
  if (m->utc) gmtime_r(&begin, &day);
  else localtime_r(&begin, &day);
  for (attempt = 0; attempt < 2; attempt++, day.tm_mday++) {
    day.tm_hour = (int)(m->seconds / 3600), day.tm_min = (int)(m->seconds / 60 % 60);
    day.tm_sec = (int)(m->seconds % 60);
    day.tm_isdst = -1;
    at = (int64_t)(m->utc ? timegm(&day) : mktime(&day));
    if (at >= start - 3600) break;
  }
  return at;
}

const char *moment_text(uint64_t wall, bool utc, char text[MOMENT_TEXT]) {
  time_t seconds = (time_t)(wall / SECOND);
  struct tm day;
  size_t size;
  if (utc) gmtime_r(&seconds, &day);
  else localtime_r(&seconds, &day);
  size = strftime(text, MOMENT_TEXT, "%Y-%m-%dT%H:%M:%S", &day);
  snprintf(text + size, MOMENT_TEXT - size, ".%09u%s", (unsigned)(wall % SECOND), utc ? "Z" : "");
  return text;
}

/* The time of the trace's last event. Reads only the last generation, unless that is broken. */
static int64_t end_of(input *in) {
  const int64_t begins[] = {INT64_MAX, 0};
  int64_t end = 0;
  size_t i;
  for (i = 0; i < COUNT(begins) && !end; i++) {
    gotrace_event e;
    gotrace_result result;
    in->from = begins[i];
    result = input_decode(in, false);
    while (result == GOTRACE_OK && (result = input_next(in, &e)) == GOTRACE_OK) end = e.time;
  }
  in->from = 0;
  return end;
}

int64_t moment_resolve(int64_t given, input *in) {
  gotrace_event e;
  const moment *m;
  int64_t first = 0, seconds, since, length;
  uint64_t start = 0;
  char from[MOMENT_TEXT], until[MOMENT_TEXT];
  if (given >= 0) return given;
  m = &moments[-given - 1];
  if (input_decode(in, false) != GOTRACE_OK) return 0; /* the error is reported later */
  while (!start && input_next(in, &e) == GOTRACE_OK) {
    if (!first) first = e.time;
    if (e.kind != GOTRACE_V2_SYNC) continue;
    start = wall_at(&(wall_clock){e.args[2], e.args[3], (int64_t)e.args[0]}, first);
  }
  erase_progress();
  if (!start) fail("the trace has no wall clock, which Go 1.25 and later write; give times from its first event");
  length = between(first, end_of(in));
  erase_progress();
  seconds = (int64_t)(start / SECOND);
  seconds = (m->of_day ? on_day(m, seconds) : m->seconds) - seconds;
  since = seconds > INT64_MAX / SECOND / 2   ? INT64_MAX
          : seconds < INT64_MIN / SECOND / 2 ? INT64_MIN
                                             : seconds * SECOND + m->nanoseconds - (int64_t)(start % SECOND);
  if (since < -SECOND || (since > length && since - length > SECOND))
    fail("%s is outside of the trace, which is from %s to %s", m->text, moment_text(start, m->utc, from),
         moment_text(start + (uint64_t)length, m->utc, until));
  return since < 0 ? 0 : since;
}

const char *outside_text(int64_t from, int64_t length) {
  static char text[100];
  snprintf(text, sizeof text, "%.9f s is outside of the trace, which is %.9f s long", (double)from / 1e9,
           (double)length / 1e9);
  return text;
}
