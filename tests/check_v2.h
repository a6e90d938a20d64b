/* check_v2.h - an independent reader of v2 traces, by the rules of Go's (internal/trace: batch.go, generation.go,
 * order.go of Go 1.22 to 1.27). Include it after gotrace.h, from which it takes the number of arguments of each event.
 *
 * It is a second opinion beside the library's decoder, for explore.c, stress_sessions.c, the fuzzers and CHECK_OPENS:
 * they check up to thousands of small traces a second in one process, without Go.
 *
 * It checks more: the events of each thread, goroutine and proc must not go back in time; in every order that equal
 * times permit (`seed`), an event comes after those that it needs (Go tries others then, but not always all that have
 * the same time); a task begins once. */
#ifndef CHECK_V2_H
#define CHECK_V2_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Set if the program keeps the rules: a task that ends on another thread ends later than it begins, since readers order
 * the two by time alone, and a goroutine with the id of one that has ended is not before it either. */
static bool check_v2_strict;

#define CHECK_V2_NONE UINT64_MAX /* no thread, proc or goroutine */

typedef struct check_v2_map { /* open addressing; key 0 is kept as all ones but one */
  uint64_t *keys, *values;
  size_t capacity, used;
} check_v2_map;

static inline uint64_t *check_v2_at(check_v2_map *map, uint64_t key, bool add) {
  size_t i;
  key = key == 0 ? UINT64_MAX - 1 : key;
  if (add && map->used * 2 >= map->capacity) {
    check_v2_map larger = {NULL, NULL, map->capacity ? 2 * map->capacity : 64, 0};
    larger.keys = (uint64_t *)calloc(larger.capacity, sizeof *larger.keys);
    larger.values = (uint64_t *)calloc(larger.capacity, sizeof *larger.values);
    for (i = 0; i < map->capacity; i++)
      if (map->keys[i]) *check_v2_at(&larger, map->keys[i], true) = map->values[i];
    free(map->keys);
    free(map->values);
    *map = larger;
  }
  if (!map->capacity) return NULL;
  for (i = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
    if (map->keys[i] == key) return &map->values[i];
    if (map->keys[i]) continue;
    if (!add) return NULL;
    map->keys[i] = key;
    map->used++;
    return &map->values[i];
  }
}

static inline void check_v2_clear(check_v2_map *map) {
  free(map->keys);
  free(map->values);
  memset(map, 0, sizeof *map);
}

enum { CHECK_V2_SWEEP = 1, CHECK_V2_ASSIST = 2, CHECK_V2_STW = 4 };
typedef struct check_v2_thing { /* a goroutine, proc or task */
  bool known;
  unsigned status, ranges;
  uint64_t generation, sequence;
  uint64_t time;          /* of its last event; of a task: of its start */
  uint64_t m;             /* of a task: the thread that began it */
  uint64_t (*regions)[2]; /* task, hash of the name */
  size_t depth, capacity;
} check_v2_thing;

typedef struct check_v2_cursor {
  uint64_t m, p, g;
  const uint8_t *at, *end;
  uint64_t time;
  /* The next event: */
  bool ready;
  unsigned kind;
  uint64_t arguments[5];
} check_v2_cursor;

typedef struct check_v2_batch {
  uint64_t m, time;
  const uint8_t *at, *end;
} check_v2_batch;

typedef struct check_v2_trace {
  unsigned version;
  uint64_t kinds[256];
  uint64_t generations, first_generation, generation;
  char error[256];
  bool ties; /* the seed may have decided: times were equal */
  /* Private: */
  const struct check_v2_form *forms;
  check_v2_map gos, procs, tasks, threads, strings, stacks;
  check_v2_thing *things; /* of gos, procs and tasks, by index */
  size_t thing_count, thing_capacity;
  check_v2_cursor *cursors;
  size_t cursor_count;
  check_v2_batch *batches;
  size_t batch_count, batch_capacity;
  uint64_t gc_sequence;
  unsigned gc; /* 0 unknown, 1 off, 2 on */
} check_v2_trace;

static inline bool check_v2_fail(check_v2_trace *t, const char *format, ...) {
  va_list arguments;
  if (t->error[0]) return false;
  va_start(arguments, format);
  vsnprintf(t->error, sizeof t->error, format, arguments);
  va_end(arguments);
  return false;
}

static inline void check_v2_free(check_v2_trace *t) {
  size_t i;
  for (i = 0; i < t->thing_count; i++) free(t->things[i].regions);
  free(t->things);
  free(t->cursors);
  free(t->batches);
  check_v2_clear(&t->gos);
  check_v2_clear(&t->procs);
  check_v2_clear(&t->tasks);
  check_v2_clear(&t->threads);
  check_v2_clear(&t->strings);
  check_v2_clear(&t->stacks);
}

static inline check_v2_thing *check_v2_thing_of(check_v2_trace *t, check_v2_map *map, uint64_t id) {
  uint64_t *index = check_v2_at(map, id, true);
  if (!*index) {
    if (t->thing_count + 1 >= t->thing_capacity) {
      t->thing_capacity = 2 * t->thing_capacity + 64;
      t->things = (check_v2_thing *)realloc(t->things, t->thing_capacity * sizeof *t->things);
    }
    memset(&t->things[t->thing_count], 0, sizeof *t->things);
    *index = ++t->thing_count;
  }
  return &t->things[*index - 1];
}

static inline bool check_v2_number(const uint8_t **at, const uint8_t *end, uint64_t *value) {
  unsigned shift = 0;
  for (*value = 0; *at < end && shift < 64; shift += 7) {
    uint8_t byte = *(*at)++;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

static inline uint64_t check_v2_hash(const uint8_t *text, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (; size; size--) hash = (hash ^ *text++) * 1099511628211u;
  return hash ? hash : 1;
}

/* An event kind and its arguments after the time. */
typedef struct check_v2_form {
  const gotrace_event_spec *spec; /* NULL: the format lacks it */
  bool timed;                     /* may be in an event batch */
  bool about_go, about_proc;      /* what the first argument names */
  unsigned count;
  unsigned strings, stacks; /* bits of those that are ids of the tables */
} check_v2_form;

static inline check_v2_form check_v2_parse(const gotrace_event_spec *spec) {
  check_v2_form form = {spec, spec && strncmp(spec->arguments, "dt", 2) == 0, false, false, 0, 0, 0};
  const char *word = form.timed ? spec->arguments + 2 : "";
  for (; *word; word += strcspn(word, " "), form.count++) {
    size_t length = strcspn(++word, " ");
    if (length >= 5 && strncmp(word + length - 5, "stack", 5) == 0) form.stacks |= 1u << form.count;
    if (length >= 6 && strncmp(word + length - 6, "string", 6) == 0) form.strings |= 1u << form.count;
    if (form.count) continue;
    form.about_go = strcmp(word, "g") == 0 || strncmp(word, "g ", 2) == 0 || strncmp(word, "new_g", length) == 0;
    form.about_proc = strcmp(word, "p") == 0 || strncmp(word, "p ", 2) == 0;
  }
  return form;
}

/* The forms of all kinds, parsed once a format: most traces have few events. */
static inline const check_v2_form *check_v2_forms(unsigned version) {
  static check_v2_form forms[100][256];
  static bool parsed[100];
  unsigned i, release = version % 100;
  for (i = 0; i < 256 && !parsed[release]; i++)
    forms[release][i] = check_v2_parse(gotrace_find_event_spec((gotrace_format)version, (int)i));
  parsed[release] = true;
  return forms[release];
}

/* The next event of a thread's batches; false if they are malformed. */
static inline bool check_v2_next(check_v2_trace *t, check_v2_cursor *c, size_t *batch) {
  const check_v2_form *form;
  uint64_t dt, *value;
  unsigned n;
  c->ready = false;
  while (c->at == c->end) {
    for (; *batch < t->batch_count && t->batches[*batch].m != c->m; (*batch)++) continue;
    if (*batch == t->batch_count) return true;
    if (t->batches[*batch].time < c->time)
      return check_v2_fail(t, "time stamps of thread %llu out of order", (unsigned long long)c->m);
    c->at = t->batches[*batch].at;
    c->end = t->batches[*batch].end;
    c->time = t->batches[(*batch)++].time;
  }
  c->kind = *c->at++;
  form = &t->forms[c->kind];
  if (!form->timed) return check_v2_fail(t, "event %u in an event batch", c->kind);
  t->kinds[c->kind]++;
  if (!check_v2_number(&c->at, c->end, &dt)) return check_v2_fail(t, "%s: no time", form->spec->name);
  c->time += dt;
  for (n = 0; n < form->count; n++) {
    value = &c->arguments[n];
    if (!check_v2_number(&c->at, c->end, value)) return check_v2_fail(t, "%s: arguments", form->spec->name);
    if (!*value) continue;
    if ((form->stacks >> n & 1) && !check_v2_at(&t->stacks, *value, false))
      return check_v2_fail(t, "%s: unknown stack %llu", form->spec->name, (unsigned long long)*value);
    if ((form->strings >> n & 1) && !check_v2_at(&t->strings, *value, false))
      return check_v2_fail(t, "%s: unknown string %llu", form->spec->name, (unsigned long long)*value);
  }
  c->ready = true;
  return true;
}

#define CHECK_V2_WRONG(...) return check_v2_fail(t, __VA_ARGS__), -1
#define CHECK_V2_U(x) ((unsigned long long)(x))
#define CHECK_V2_NAME t->forms[c->kind].spec->name

/* Applies the next event of a thread: 1 done, 0 not ready, -1 invalid. */
static inline int check_v2_advance(check_v2_trace *t, check_v2_cursor *c) {
  const uint64_t *a = c->arguments;
  check_v2_thing *g = c->g != CHECK_V2_NONE ? check_v2_thing_of(t, &t->gos, c->g) : NULL;
  check_v2_thing *p, *other;
  size_t i;
  bool first = t->generation == t->first_generation;
  bool user = g && c->p != CHECK_V2_NONE && c->m != CHECK_V2_NONE;
  enum { DEAD, RUNNABLE, RUNNING, SYSCALL, WAITING };         /* goroutines */
  enum { GONE, PROC_RUNNING, IDLE, PROC_SYSCALL, ABANDONED }; /* procs */
  switch (c->kind) {
  case GOTRACE_V2_PROC_STATUS:
    p = check_v2_thing_of(t, &t->procs, a[0]);
    if (a[1] < 1 || a[1] > 4) CHECK_V2_WRONG("bad status %llu of proc %llu", CHECK_V2_U(a[1]), CHECK_V2_U(a[0]));
    if (p->known && p->generation == t->generation) CHECK_V2_WRONG("two statuses of proc %llu", CHECK_V2_U(a[0]));
    if (p->known && p->status != a[1] && !(a[1] == ABANDONED && p->status == PROC_SYSCALL))
      CHECK_V2_WRONG("proc %llu has status %llu, not %u", CHECK_V2_U(a[0]), CHECK_V2_U(a[1]), p->status);
    if (!p->known) p->status = (unsigned)a[1];
    p->known = true;
    p->generation = t->generation;
    p->sequence = 0;
    if (a[1] == PROC_RUNNING || a[1] == PROC_SYSCALL) c->p = a[0];
    if (a[1] == ABANDONED && p->status == PROC_SYSCALL) {
      for (i = 0; i < t->cursor_count && t->cursors[i].p != a[0]; i++) continue;
      if (i == t->cursor_count) CHECK_V2_WRONG("proc %llu is not on any thread", CHECK_V2_U(a[0]));
    }
    return 1;
  case GOTRACE_V2_PROC_START:
    p = check_v2_thing_of(t, &t->procs, a[0]);
    if (!p->known || p->status != IDLE || p->generation != t->generation || a[1] != p->sequence + 1 ||
        c->p != CHECK_V2_NONE)
      return 0;
    p->status = PROC_RUNNING;
    p->sequence++;
    c->p = a[0];
    return 1;
  case GOTRACE_V2_PROC_STOP:
    if (c->p == CHECK_V2_NONE) CHECK_V2_WRONG("ProcStop without a proc");
    p = check_v2_thing_of(t, &t->procs, c->p);
    if (p->status != PROC_RUNNING && p->status != PROC_SYSCALL) CHECK_V2_WRONG("ProcStop in status %u", p->status);
    p->status = IDLE;
    c->p = CHECK_V2_NONE;
    return 1;
  case GOTRACE_V2_PROC_STEAL:
    p = check_v2_thing_of(t, &t->procs, a[0]);
    if (!p->known || (p->status != PROC_SYSCALL && p->status != ABANDONED) || p->generation != t->generation ||
        a[1] != p->sequence + 1)
      return 0;
    p->sequence++;
    i = p->status;
    p->status = IDLE;
    if (i == ABANDONED) return 1;
    for (i = 0; i < t->cursor_count && t->cursors[i].m != a[2]; i++) continue;
    if (i == t->cursor_count || t->cursors[i].p != a[0])
      CHECK_V2_WRONG("proc %llu is not on thread %llu", CHECK_V2_U(a[0]), CHECK_V2_U(a[2]));
    t->cursors[i].p = CHECK_V2_NONE;
    return 1;
  case GOTRACE_V2_GO_STATUS:
  case GOTRACE_V2_GO_STATUS_STACK:
    other = check_v2_thing_of(t, &t->gos, a[0]);
    if (a[2] < 1 || a[2] > 4) CHECK_V2_WRONG("bad status %llu of goroutine %llu", CHECK_V2_U(a[2]), CHECK_V2_U(a[0]));
    if (other->known && other->generation == t->generation)
      CHECK_V2_WRONG("two statuses of goroutine %llu", CHECK_V2_U(a[0]));
    if (other->known ? other->status != a[2] : !first)
      CHECK_V2_WRONG("goroutine %llu has status %llu, not %u", CHECK_V2_U(a[0]), CHECK_V2_U(a[2]), other->status);
    other->known = true;
    other->status = (unsigned)a[2];
    other->generation = t->generation;
    other->sequence = 0;
    if (a[2] == RUNNING) c->g = a[0];
    if (a[2] == SYSCALL && (a[1] != c->m || (!first && c->g != a[0])))
      CHECK_V2_WRONG("goroutine %llu in a system call elsewhere", CHECK_V2_U(a[0]));
    if (a[2] == SYSCALL) c->g = a[0];
    return 1;
  case GOTRACE_V2_GO_CREATE:
  case GOTRACE_V2_GO_CREATE_BLOCKED:
  case GOTRACE_V2_GO_CREATE_SYSCALL:
    other = check_v2_thing_of(t, &t->gos, a[0]);
    /* Go accepts the id of one that has ended. The tracer gives it out again only after a cut, see gotrace__forget_ids.
     */
    if (other->known && (other->status != DEAD || other->generation == t->generation))
      CHECK_V2_WRONG("goroutine %llu already exists", CHECK_V2_U(a[0]));
    g = c->g != CHECK_V2_NONE ? check_v2_thing_of(t, &t->gos, c->g) : NULL; /* it may have moved */
    if (c->kind == GOTRACE_V2_GO_CREATE_SYSCALL ? g != NULL : c->p == CHECK_V2_NONE || (g && g->status != RUNNING))
      CHECK_V2_WRONG("%s in the wrong state", CHECK_V2_NAME);
    other->known = true;
    other->status = c->kind == GOTRACE_V2_GO_CREATE           ? RUNNABLE
                    : c->kind == GOTRACE_V2_GO_CREATE_BLOCKED ? WAITING
                                                              : SYSCALL;
    other->generation = t->generation;
    other->sequence = other->depth = 0;
    if (!check_v2_strict) other->time = 0; /* another goroutine, without a common past */
    if (other->status == SYSCALL) c->g = a[0];
    return 1;
  case GOTRACE_V2_GO_DESTROY:
  case GOTRACE_V2_GO_STOP:
  case GOTRACE_V2_GO_BLOCK:
    if (!user || g->status != RUNNING) CHECK_V2_WRONG("%s without a running goroutine", CHECK_V2_NAME);
    g->status = c->kind == GOTRACE_V2_GO_DESTROY ? DEAD : c->kind == GOTRACE_V2_GO_STOP ? RUNNABLE : WAITING;
    c->g = CHECK_V2_NONE;
    return 1;
  case GOTRACE_V2_GO_START:
    other = check_v2_thing_of(t, &t->gos, a[0]);
    if (!other->known || other->status != RUNNABLE || other->generation != t->generation || a[1] != other->sequence + 1)
      return 0;
    if (c->p == CHECK_V2_NONE || c->g != CHECK_V2_NONE) CHECK_V2_WRONG("GoStart in the wrong state");
    other->status = RUNNING;
    other->sequence++;
    c->g = a[0];
    return 1;
  case GOTRACE_V2_GO_UNBLOCK:
    other = check_v2_thing_of(t, &t->gos, a[0]);
    if (!other->known || other->status != WAITING || other->generation != t->generation || a[1] != other->sequence + 1)
      return 0;
    other->status = RUNNABLE;
    other->sequence++;
    return 1;
  case GOTRACE_V2_GO_SWITCH:
  case GOTRACE_V2_GO_SWITCH_DESTROY:
    if (!user || g->status != RUNNING) CHECK_V2_WRONG("%s without a running goroutine", CHECK_V2_NAME);
    other = check_v2_thing_of(t, &t->gos, a[0]);
    if (!other->known || other->status != WAITING || other->generation != t->generation || a[1] != other->sequence + 1)
      return 0;
    g = check_v2_thing_of(t, &t->gos, c->g);
    g->status = c->kind == GOTRACE_V2_GO_SWITCH ? WAITING : DEAD;
    other->status = RUNNING;
    other->sequence++;
    c->g = a[0];
    return 1;
  case GOTRACE_V2_GO_SYSCALL_BEGIN:
    if (!user || g->status != RUNNING) CHECK_V2_WRONG("GoSyscallBegin without a running goroutine");
    p = check_v2_thing_of(t, &t->procs, c->p);
    if (p->generation != t->generation || a[0] != p->sequence + 1)
      CHECK_V2_WRONG("GoSyscallBegin: wrong sequence number of the proc");
    check_v2_thing_of(t, &t->gos, c->g)->status = SYSCALL;
    p->status = PROC_SYSCALL;
    p->sequence++;
    return 1;
  case GOTRACE_V2_GO_SYSCALL_END:
    p = c->p != CHECK_V2_NONE ? check_v2_thing_of(t, &t->procs, c->p) : NULL;
    if (!user || !p || check_v2_thing_of(t, &t->gos, c->g)->status != SYSCALL || p->status != PROC_SYSCALL)
      CHECK_V2_WRONG("GoSyscallEnd in the wrong state");
    check_v2_thing_of(t, &t->gos, c->g)->status = RUNNING;
    p->status = PROC_RUNNING;
    return 1;
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED:
    if (c->p != CHECK_V2_NONE && check_v2_thing_of(t, &t->procs, c->p)->status == PROC_SYSCALL) return 0;
    if (c->g == CHECK_V2_NONE || check_v2_thing_of(t, &t->gos, c->g)->status != SYSCALL)
      CHECK_V2_WRONG("GoSyscallEndBlocked in the wrong state");
    check_v2_thing_of(t, &t->gos, c->g)->status = RUNNABLE;
    c->g = CHECK_V2_NONE;
    return 1;
  case GOTRACE_V2_GO_DESTROY_SYSCALL:
    if (!g || g->status != SYSCALL) CHECK_V2_WRONG("GoDestroySyscall in the wrong state");
    g->status = DEAD;
    c->g = CHECK_V2_NONE;
    if (c->p != CHECK_V2_NONE) {
      p = check_v2_thing_of(t, &t->procs, c->p);
      if (p->status != PROC_SYSCALL) CHECK_V2_WRONG("GoDestroySyscall with a proc in status %u", p->status);
      p->status = ABANDONED;
      c->p = CHECK_V2_NONE;
    }
    return 1;
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END: {
    const uint64_t *name = a[1] ? check_v2_at(&t->strings, a[1], false) : NULL;
    uint64_t hash = name ? *name : 0;
    if (!user) CHECK_V2_WRONG("%s without a goroutine", CHECK_V2_NAME);
    if (c->kind == GOTRACE_V2_USER_REGION_END) {
      if (g->depth && (g->regions[g->depth - 1][0] != a[0] || g->regions[g->depth - 1][1] != hash))
        CHECK_V2_WRONG("end of a region that is not the innermost");
      g->depth -= g->depth > 0;
      return 1;
    }
    if (g->depth == g->capacity) {
      g->capacity = 2 * g->capacity + 4;
      g->regions = (uint64_t(*)[2])realloc(g->regions, g->capacity * sizeof *g->regions);
    }
    g->regions[g->depth][0] = a[0];
    g->regions[g->depth++][1] = hash;
    return 1;
  }
  case GOTRACE_V2_GC_ACTIVE:
  case GOTRACE_V2_GC_BEGIN:
  case GOTRACE_V2_GC_END: {
    bool begins = c->kind == GOTRACE_V2_GC_BEGIN, ends = c->kind == GOTRACE_V2_GC_END;
    if (t->gc == 0 ? !begins && !(c->kind == GOTRACE_V2_GC_ACTIVE && first) : a[0] != t->gc_sequence + 1) return 0;
    if (t->gc == 2 ? begins : t->gc == 1 && !begins) CHECK_V2_WRONG("%s in the wrong state", CHECK_V2_NAME);
    if (c->kind == GOTRACE_V2_GC_ACTIVE && first && t->gc) CHECK_V2_WRONG("GCActive is not the first");
    if (!user) CHECK_V2_WRONG("%s without a goroutine", CHECK_V2_NAME); /* also where Go does not require one */
    t->gc_sequence = a[0];
    t->gc = ends ? 1 : 2;
    return 1;
  }
  case GOTRACE_V2_GC_SWEEP_ACTIVE:
  case GOTRACE_V2_GC_MARK_ASSIST_ACTIVE: {
    bool sweep = c->kind == GOTRACE_V2_GC_SWEEP_ACTIVE;
    unsigned range = sweep ? CHECK_V2_SWEEP : CHECK_V2_ASSIST;
    other = check_v2_thing_of(t, sweep ? &t->procs : &t->gos, a[0]);
    if (!other->known || (first ? (other->ranges & range) != 0 : !(other->ranges & range)))
      CHECK_V2_WRONG("%s in the wrong state", CHECK_V2_NAME);
    other->ranges |= range;
    return 1;
  }
  case GOTRACE_V2_GC_SWEEP_BEGIN:
  case GOTRACE_V2_GC_SWEEP_END:
  case GOTRACE_V2_STW_BEGIN:
  case GOTRACE_V2_STW_END:
  case GOTRACE_V2_GC_MARK_ASSIST_BEGIN:
  case GOTRACE_V2_GC_MARK_ASSIST_END: {
    bool sweep = c->kind == GOTRACE_V2_GC_SWEEP_BEGIN || c->kind == GOTRACE_V2_GC_SWEEP_END;
    bool stw = c->kind == GOTRACE_V2_STW_BEGIN || c->kind == GOTRACE_V2_STW_END;
    bool ends =
        c->kind == GOTRACE_V2_GC_SWEEP_END || c->kind == GOTRACE_V2_STW_END || c->kind == GOTRACE_V2_GC_MARK_ASSIST_END;
    unsigned range = sweep ? CHECK_V2_SWEEP : stw ? CHECK_V2_STW : CHECK_V2_ASSIST;
    if (sweep ? c->p == CHECK_V2_NONE : !user) CHECK_V2_WRONG("%s without a goroutine or proc", CHECK_V2_NAME);
    other = sweep ? check_v2_thing_of(t, &t->procs, c->p) : g;
    if (ends ? !(other->ranges & range) : (other->ranges & range) != 0)
      CHECK_V2_WRONG("%s in the wrong state", CHECK_V2_NAME);
    other->ranges ^= range;
    return 1;
  }
  case GOTRACE_V2_HEAP_ALLOC:
  case GOTRACE_V2_HEAP_GOAL:
    if (c->p == CHECK_V2_NONE || c->m == CHECK_V2_NONE) CHECK_V2_WRONG("%s without a proc", CHECK_V2_NAME);
    return 1;
  case GOTRACE_V2_USER_TASK_BEGIN:
  case GOTRACE_V2_USER_TASK_END:
    if (!user) CHECK_V2_WRONG("%s without a goroutine", CHECK_V2_NAME);
    other = check_v2_thing_of(t, &t->tasks, a[0]);
    if (c->kind == GOTRACE_V2_USER_TASK_BEGIN && other->known)
      CHECK_V2_WRONG("task %llu begins twice", CHECK_V2_U(a[0]));
    if (check_v2_strict && c->kind == GOTRACE_V2_USER_TASK_END && other->known && other->m != c->m &&
        other->time >= c->time)
      CHECK_V2_WRONG("task %llu does not end after its start", CHECK_V2_U(a[0]));
    other->known = c->kind == GOTRACE_V2_USER_TASK_BEGIN;
    other->time = c->time;
    other->m = c->m;
    return 1;
  case GOTRACE_V2_PROCS_CHANGE:
  case GOTRACE_V2_GO_LABEL:
  case GOTRACE_V2_USER_LOG:
    if (!user) CHECK_V2_WRONG("%s without a goroutine", CHECK_V2_NAME);
    return 1;
  default:
    if (c->kind < GOTRACE_V2_SPAN || c->m == CHECK_V2_NONE) CHECK_V2_WRONG("event %u in an event batch", c->kind);
    return 1;
  }
}

/* Whether a goroutine or proc of the thread's event does not go back in time. */
static inline bool check_v2_time(check_v2_trace *t, const check_v2_cursor *c, check_v2_map *map, uint64_t id) {
  check_v2_thing *thing = id != CHECK_V2_NONE ? check_v2_thing_of(t, map, id) : NULL;
  if (thing && thing->time > c->time)
    return check_v2_fail(t, "%s: %s %llu goes back from %llu to %llu", CHECK_V2_NAME,
                         map == &t->gos ? "goroutine" : "proc", CHECK_V2_U(id), CHECK_V2_U(thing->time),
                         CHECK_V2_U(c->time));
  if (thing) thing->time = c->time;
  return true;
}

/* The same for all of an event that has been applied. `g`, `p`: those of the thread before it. */
static inline bool check_v2_times(check_v2_trace *t, const check_v2_cursor *c, uint64_t g, uint64_t p) {
  const check_v2_form *form = &t->forms[c->kind];
  return check_v2_time(t, c, &t->gos, g) && (g == c->g || check_v2_time(t, c, &t->gos, c->g)) &&
         (!form->about_go || check_v2_time(t, c, &t->gos, c->arguments[0])) && check_v2_time(t, c, &t->procs, p) &&
         (p == c->p || check_v2_time(t, c, &t->procs, c->p)) &&
         (!form->about_proc || check_v2_time(t, c, &t->procs, c->arguments[0]));
}

/* Whether a thread's next event is tried before another's: by time; the seed decides among equal times. */
static inline bool check_v2_before(const check_v2_trace *t, size_t a, size_t b, uint64_t seed) {
  const check_v2_cursor *c = t->cursors;
  size_t first = (size_t)(seed % t->cursor_count);
  if (c[a].time != c[b].time) return c[a].time < c[b].time;
  return (a < first) == (b < first) ? a < b : b < first;
}

/* Orders the events of a generation by time. The earliest is ready, whichever it is if several are. */
static inline bool check_v2_order(check_v2_trace *t, uint64_t seed) {
  size_t *batches = (size_t *)calloc(t->cursor_count + 1, sizeof *batches);
  size_t *turns = (size_t *)calloc(t->cursor_count + 1, sizeof *turns); /* threads that have an event, sorted */
  size_t i, n, count = 0;
  bool ok = true;
  for (i = 0; i < t->cursor_count && ok; i++) {
    t->cursors[i].at = t->cursors[i].end = NULL;
    t->cursors[i].time = 0;
    ok = check_v2_next(t, &t->cursors[i], &batches[i]);
    if (!t->cursors[i].ready) continue;
    for (n = count++; n && check_v2_before(t, i, turns[n - 1], seed); n--) turns[n] = turns[n - 1];
    turns[n] = i;
  }
  while (ok && count) {
    check_v2_cursor *c = &t->cursors[i = turns[0]];
    uint64_t g = c->g, p = c->p;
    int result = check_v2_advance(t, c);
    t->ties |= count > 1 && t->cursors[turns[1]].time == c->time;
    if (result == 0)
      check_v2_fail(t, "the earliest event is not ready: %s(%llu %llu) on %llu", CHECK_V2_NAME,
                    CHECK_V2_U(c->arguments[0]), CHECK_V2_U(c->arguments[1]), CHECK_V2_U(c->m));
    ok = result == 1 && check_v2_times(t, c, g, p) && check_v2_next(t, c, &batches[i]);
    if (!c->ready) i = turns[--count]; /* the last one takes its place */
    for (n = 0; n + 1 < count && check_v2_before(t, turns[n + 1], i, seed); n++) turns[n] = turns[n + 1];
    if (count) turns[n] = i;
  }
  free(batches);
  free(turns);
  return ok;
}

static inline bool check_v2_tables(check_v2_trace *t, unsigned kind, const uint8_t *at, const uint8_t *end) {
  for (at++; at < end;) {
    uint64_t id, size, i, part[4];
    unsigned found = *at++;
    t->kinds[found]++;
    if (found != kind + 1) return check_v2_fail(t, "event %u in a batch of %u", found, kind);
    if (kind == GOTRACE_V2_CPU_SAMPLES) {
      uint64_t stack = 0;
      for (i = 0; i < 5; i++)
        if (!check_v2_number(&at, end, &stack)) return check_v2_fail(t, "sample");
      continue;
    }
    if (!check_v2_number(&at, end, &id) || !check_v2_number(&at, end, &size)) return check_v2_fail(t, "table");
    if (check_v2_at(kind == GOTRACE_V2_STACKS ? &t->stacks : &t->strings, id, false))
      return check_v2_fail(t, "duplicate id %llu", CHECK_V2_U(id));
    if (kind == GOTRACE_V2_STRINGS) {
      if (size > 1024 || size > (size_t)(end - at)) return check_v2_fail(t, "string of %llu bytes", CHECK_V2_U(size));
      *check_v2_at(&t->strings, id, true) = check_v2_hash(at, (size_t)size);
      at += size;
      continue;
    }
    if (size > 128) return check_v2_fail(t, "stack of %llu frames", CHECK_V2_U(size));
    *check_v2_at(&t->stacks, id, true) = 1;
    for (i = 0; i < 4 * size; i++)
      if (!check_v2_number(&at, end, &part[i % 4])) return check_v2_fail(t, "stack");
  }
  return true;
}

static inline bool check_v2_sync(check_v2_trace *t, const uint8_t *at, const uint8_t *end) {
  uint64_t value;
  int i;
  bool frequency = false, snapshot = t->version < 1025;
  if (t->version >= 1025) t->kinds[*at++]++;
  while (at < end) {
    unsigned kind = *at++;
    t->kinds[kind]++;
    for (i = kind == GOTRACE_V2_CLOCK_SNAPSHOT ? 4 : 1; i; i--)
      if (!check_v2_number(&at, end, &value)) return check_v2_fail(t, "clock");
    if (kind == GOTRACE_V2_FREQUENCY && !frequency && value) frequency = true;
    else if (kind == GOTRACE_V2_CLOCK_SNAPSHOT && !snapshot) snapshot = true;
    else return check_v2_fail(t, "event %u in a sync batch", kind);
  }
  return (frequency && snapshot) || check_v2_fail(t, "no clock");
}

/* `skip`: generations that are left out, as by a flight recorder; kinds counts only the others. */
static inline bool check_v2_from(check_v2_trace *t, const uint8_t *data, size_t size, uint64_t seed, uint64_t skip) {
  const uint8_t *at = data + 16, *end = data + size;
  bool synced = false, ended = true;
  memset(t, 0, sizeof *t);
  if (size < 16 || sscanf((const char *)data, "go 1.%u trace", &t->version) != 1 || t->version < 22)
    return check_v2_fail(t, "no header of a v2 trace");
  t->version += 1000;
  t->forms = check_v2_forms(t->version);
  while (at <= end) {
    uint64_t generation = 0, m = 0, time = 0, length = 0, *index;
    const uint8_t *body;
    unsigned kind = at < end ? *at : 0;
    bool last = at == end || kind == GOTRACE_V2_END_OF_GENERATION;
    if (!last) {
      const uint8_t *header = at + 1 + (kind == GOTRACE_V2_EXPERIMENTAL_BATCH);
      if ((kind != GOTRACE_V2_EVENT_BATCH && kind != GOTRACE_V2_EXPERIMENTAL_BATCH) ||
          !check_v2_number(&header, end, &generation) || !check_v2_number(&header, end, &m) ||
          !check_v2_number(&header, end, &time) || !check_v2_number(&header, end, &length) || length > 65536 ||
          length > (size_t)(end - header))
        return check_v2_fail(t, "event %u at offset %llu instead of a batch", kind, CHECK_V2_U(at - data));
      at = header;
    }
    if (last || (!ended && generation != t->generation)) {
      if (t->version >= 1026 && !last)
        return check_v2_fail(t, "missing end of generation %llu", CHECK_V2_U(t->generation));
      if (t->version >= 1026 && at == end && !ended) return check_v2_fail(t, "missing end of the last generation");
      if (!ended && !check_v2_order(t, seed)) return false;
      check_v2_clear(&t->strings);
      check_v2_clear(&t->stacks);
      t->batch_count = 0;
      if (at == end) break;
      if (last) {
        t->kinds[kind]++;
        at++;
        ended = true;
        continue;
      }
      ended = true;
    }
    if (generation <= skip && !last) {
      at += length;
      continue;
    }
    if (ended) {
      if (t->generations && generation != t->generation + 1)
        return check_v2_fail(t, "generation %llu follows %llu", CHECK_V2_U(generation), CHECK_V2_U(t->generation));
      t->generation = generation;
      if (!t->generations++) t->first_generation = generation;
      ended = synced = false;
    }
    t->kinds[kind]++;
    body = at;
    at += length;
    if (kind == GOTRACE_V2_EXPERIMENTAL_BATCH || !length) continue;
    if (!synced) {
      if (!check_v2_sync(t, body, at)) return false;
      synced = true;
      continue;
    }
    if (*body == GOTRACE_V2_STRINGS || *body == GOTRACE_V2_STACKS || *body == GOTRACE_V2_CPU_SAMPLES) {
      t->kinds[*body]++;
      if (!check_v2_tables(t, *body, body, at)) return false;
      continue;
    }
    index = check_v2_at(&t->threads, m, true);
    if (!*index) {
      t->cursors = (check_v2_cursor *)realloc(t->cursors, (t->cursor_count + 1) * sizeof *t->cursors);
      memset(&t->cursors[t->cursor_count], 0, sizeof *t->cursors);
      t->cursors[t->cursor_count].m = m;
      t->cursors[t->cursor_count].p = t->cursors[t->cursor_count].g = CHECK_V2_NONE;
      *index = ++t->cursor_count;
    }
    if (t->batch_count == t->batch_capacity) {
      t->batch_capacity = 2 * t->batch_capacity + 16;
      t->batches = (check_v2_batch *)realloc(t->batches, t->batch_capacity * sizeof *t->batches);
    }
    t->batches[t->batch_count].m = m;
    t->batches[t->batch_count].time = time;
    t->batches[t->batch_count].at = body;
    t->batches[t->batch_count++].end = at;
  }
  return t->generations > 0 || check_v2_fail(t, "no generation");
}
static inline bool check_v2(check_v2_trace *t, const uint8_t *data, size_t size, uint64_t seed) {
  return check_v2_from(t, data, size, seed, 0);
}

#endif
