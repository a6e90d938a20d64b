/* capture_calls.h - stands in for the capture in tests of the transcriber: keeps what each thread, goroutine and proc
 * remembers, and makes the records of calls. Include it after gotrace.h's implementation.
 *
 * Everything runs on one real thread, which chooses the thread of each call and the clock. Objects are named by their
 * places, from 1 on; 0 is none. */
#ifndef CAPTURE_CALLS_H
#define CAPTURE_CALLS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CAPTURE_THREADS
#define CAPTURE_THREADS 8
#endif
#ifndef CAPTURE_GOS
#define CAPTURE_GOS 64
#endif
#ifndef CAPTURE_PROCS
#define CAPTURE_PROCS 16
#endif
#ifndef CAPTURE_CHUNK
#define CAPTURE_CHUNK 1024 /* bytes of records */
#endif
#define CAPTURE_NANOSECONDS 20 /* per tick */

/* For each thread, the number of its last log that happened before. */
typedef uint64_t capture_known[CAPTURE_THREADS];

typedef struct capture_go {
  uint64_t id, tick;
  capture_known known;
  uint32_t number;
  bool live, stamped, introduced;
  unsigned status, flags, entry;
} capture_go;

typedef struct capture_proc {
  uint64_t tick;
  capture_known known;
  uint32_t number;
  bool stamped;
  unsigned status, owner; /* owner: the thread that started it last, plus 1 */
} capture_proc;

typedef struct capture_thread {
  gotrace__source *source;
  gotrace__record_chunk *first, *last;
  uint32_t written; /* bytes in the last chunk; published as soon as `held` is false */
  uint64_t tick;
  capture_known known;
  unsigned go, proc; /* places */
  bool in_syscall, introduced, held;
  bool plain; /* as the record's */
  bool ended; /* until another thread has its record, see capture_release */
} capture_thread;

typedef struct capture {
  gotrace__transcriber *t;   /* NULL: tracing is off */
  uint64_t tick, first_tick; /* first_tick: of the trace */
  unsigned lag;              /* by how much the clock of the processor that calls is behind */
  capture_thread threads[CAPTURE_THREADS];
  capture_go gos[CAPTURE_GOS + 1];
  capture_proc procs[CAPTURE_PROCS + 1];
  uint32_t collector;
  uint64_t next_go, next_task;
  bool one_id;                           /* of all threads */
  uint64_t kinds[GOTRACE__RECORD_KINDS]; /* records written */
} capture;

static inline uint64_t capture_thread_id(const capture *c, unsigned thread) { return 100 + (c->one_id ? 0 : thread); }

/* The names of kinds, and how many bytes their fields have. */
static const char *const capture_names[] = {"NONE",
#define GOTRACE__RECORD(NAME, ORDER, handler, TEXT, fields) #NAME,
                                            GOTRACE__RECORDS(GOTRACE__RECORD, )
#undef GOTRACE__RECORD
};
static inline bool capture_has_text(unsigned kind) { return (gotrace__record_sizes[kind] & GOTRACE__HAS_TEXT) != 0; }
static inline size_t capture_size(unsigned kind) { return gotrace__record_sizes[kind] & (GOTRACE__HAS_TEXT - 1u); }

/* Prints the record that the transcriber applies. */
static inline void capture_show(FILE *to, const gotrace__transcriber *t) {
  const gotrace__source *r = t->current;
  unsigned kind = gotrace__kind_of(r->record);
  const uint32_t *word = (const uint32_t *)r->record;
  size_t i;
  fprintf(to, "%llu %s on %llu, site %x:", (unsigned long long)r->record_tick, capture_names[kind],
          (unsigned long long)r->id, (unsigned)word[1]);
  for (i = 2; i < capture_size(kind) / sizeof *word; i++) fprintf(to, " %lx", (unsigned long)word[i]);
  fputc('\n', to);
}

/* What calls refer to by number. */
typedef struct capture_tables {
  gotrace__table *strings, *stacks, *sites;
} capture_tables;

/* The number of a stack of these frames. */
static inline uint32_t capture_stack(const capture_tables *tables, const gotrace_location *places, size_t count) {
  gotrace__stack_frame frames[GOTRACE_STACK_SIZE];
  size_t i;
  for (i = 0; i < count; i++)
    if (!gotrace__frame_of(tables->strings, &places[i], &frames[i])) abort();
  return gotrace__stack_put(tables->stacks, frames, count);
}

/* Makes tables with two strings, numbers 1 and 2, and a stack of each place. */
static inline void capture_tables_begin(capture_tables *tables, const char *first, const char *second,
                                        const gotrace_location *places, unsigned count) {
  unsigned i;
  bool cut;
  tables->strings = gotrace__table_new(NULL, false);
  tables->stacks = gotrace__table_new(NULL, false);
  tables->sites = gotrace__table_new(NULL, false);
  if (!tables->strings || !tables->stacks || !tables->sites) abort();
  gotrace__string_put(tables->strings, first, strlen(first), &cut);
  gotrace__string_put(tables->strings, second, strlen(second), &cut);
  for (i = 0; i < count; i++)
    if (capture_stack(tables, &places[i], 1) != i + 1) abort();
}
static inline void capture_tables_use(const capture_tables *tables, gotrace__transcribe_options *options) {
  options->strings = tables->strings;
  options->stacks = tables->stacks;
  options->sites = tables->sites;
}
static inline void capture_tables_free(capture_tables *tables) {
  gotrace__table_free(tables->strings);
  gotrace__table_free(tables->stacks);
  gotrace__table_free(tables->sites);
}

/* A record, and what is said of it: a name and a text have no bytes if they are NULL. */
typedef struct capture_record {
  gotrace__record is;
  uint64_t task;
  const char *name;       /* instead of the site's */
  gotrace__site_key site; /* numbers; name and stack of the call */
  const char *text;
  uint32_t name_size, text_size;
  bool walked; /* the stack is not the site's */
} capture_record;

static inline uint8_t *capture_put_text(uint8_t *at, size_t bytes, const char *text, uint32_t size) {
  return at + GOTRACE__WORDS(gotrace__put_text((gotrace__record *)(void *)at, bytes, text, size));
}

/* Appends a record, with what is said of it before, and returns its end. `sites`: the table of sites. */
static inline uint8_t *capture_put_record(gotrace__table *sites, uint8_t *at, const capture_record *record,
                                          uint64_t dt) {
  unsigned kind = gotrace__kind_of(&record->is);
  gotrace__site_key key = record->site;
  if (record->task) {
    gotrace__put_head(at, GOTRACE__REC_OF_TASK, 0, 0)->as_OF_TASK.task = record->task;
    at += GOTRACE__WORDS(GOTRACE__SIZE_OF_TASK);
  }
  if (record->name) {
    gotrace__put_head(at, GOTRACE__REC_NAME, 0, 0);
    at = capture_put_text(at, GOTRACE__SIZE_NAME, record->name, record->name_size);
  }
  if (record->walked) {
    gotrace__put_head(at, GOTRACE__REC_STACK, 0, 0)->as_STACK.stack = key.stack;
    key.stack = 0;
    at += GOTRACE__WORDS(GOTRACE__SIZE_STACK);
  }
  if (dt >= GOTRACE__HEAD_TICKS) {
    gotrace__put_head(at, GOTRACE__REC_TIME, 0, 0)->as_TIME.ticks = dt;
    dt = 0;
    at += GOTRACE__WORDS(GOTRACE__SIZE_TIME);
  }
  memcpy(at, &record->is, capture_size(kind));
  gotrace__put_head(at, kind, dt, key.stack || key.name ? gotrace__site_put(sites, key) : 0);
  if (capture_has_text(kind)) return capture_put_text(at, capture_size(kind), record->text, record->text_size);
  return at + GOTRACE__WORDS(capture_size(kind));
}

static inline gotrace__clocks capture_clocks(const capture *c) {
  gotrace__clocks clocks;
  clocks.tick = c->tick;
  clocks.nanoseconds = c->tick * CAPTURE_NANOSECONDS;
  clocks.wall_seconds = 1700000000;
  clocks.wall_nanoseconds = (uint32_t)(clocks.nanoseconds % 1000000000);
  return clocks;
}

static inline void capture_publish(capture_thread *m) {
  if (m->last) gotrace__store_release(&m->last->size, m->written);
}

static inline void capture_chunk(capture_thread *m) {
  gotrace__record_chunk *chunk = (gotrace__record_chunk *)calloc(1, sizeof *chunk + CAPTURE_CHUNK + 4096);
  if (!chunk) abort();
  chunk->tick = m->tick;
  capture_publish(m);
  if (m->last) gotrace__store_release(&m->last->next, chunk);
  else m->first = chunk;
  m->last = chunk;
  m->written = 0;
}

/* Appends a record at a tick not before the thread's last one. */
static inline void capture_put(capture *c, unsigned thread, const capture_record *record, uint64_t tick) {
  capture_thread *m = &c->threads[thread];
  if (!m->last || m->written > CAPTURE_CHUNK) capture_chunk(m);
  if (tick < m->tick) tick = m->tick;
  m->written = (uint32_t)(capture_put_record(c->t->options.sites, (uint8_t *)(m->last + 1) + m->written, record,
                                             tick - m->tick) -
                          (uint8_t *)(m->last + 1));
  m->tick = tick;
  c->kinds[gotrace__kind_of(&record->is)]++;
  if (!m->held) capture_publish(m);
}

/* What the clock shows to the thread that calls. */
static inline uint64_t capture_now(const capture *c) {
  uint64_t tick = c->tick - (c->lag < c->tick ? c->lag : 0);
  return tick < c->first_tick ? c->first_tick : tick;
}

static inline capture_record capture_made(unsigned kind) {
  capture_record record;
  memset(&record, 0, sizeof record);
  record.is.head = gotrace__head(kind, 0, 0);
  return record;
}

/* Before each record: the thread's introduction. False: tracing is off. */
static inline bool capture_begin(capture *c, unsigned thread) {
  capture_thread *m = &c->threads[thread];
  capture_go *g = m->go ? &c->gos[m->go] : NULL;
  capture_proc *p = m->proc ? &c->procs[m->proc] : NULL;
  capture_record record;
  gotrace__record_THREAD *told = &record.is.as_THREAD;
  if (!c->t) return false;
  if (m->introduced) return true;
  m->introduced = true;
  if (!m->last) capture_chunk(m);
  if (!m->source) {
    m->source = gotrace__transcribe_thread(c->t, capture_thread_id(c, thread), m->first);
    if (!m->source) return false; /* out of memory: the trace ends */
  }
  record = capture_made(GOTRACE__REC_THREAD);
  if (g) {
    told->go = m->go;
    told->id = g->id;
    told->entry = g->entry;
    told->flags = g->flags | (m->in_syscall ? GOTRACE__RECORD_IN_SYSCALL : 0);
    if (!g->stamped) g->number = 0;
    g->stamped = g->introduced = true;
  }
  if (m->plain) told->flags |= GOTRACE__RECORD_PLAIN;
  if (p && (!m->in_syscall || (!p->stamped && p->owner == thread + 1))) told->proc = m->proc;
  if (p && !m->in_syscall && !p->stamped) {
    p->number = 0;
    p->stamped = true;
  }
  capture_put(c, thread, &record, capture_now(c));
  if (g && g->tick <= m->tick) g->tick = m->tick + 1; /* others speak of them later, by any clock */
  if (told->proc && p->tick <= m->tick) p->tick = m->tick + 1;
  return true;
}

static inline void capture_know_go(capture *c, unsigned thread, unsigned place, bool owner) {
  capture_go *g = &c->gos[place];
  if (!g->introduced) {
    capture_record record = capture_made(GOTRACE__REC_GO);
    record.is.as_GO.go = place;
    record.is.as_GO.id = g->id;
    record.is.as_GO.entry = g->entry;
    record.is.as_GO.status = g->status;
    record.is.as_GO.flags = g->flags;
    capture_put(c, thread, &record, capture_now(c));
    g->introduced = true;
  }
  if (owner && !g->stamped) {
    g->number = 0;
    g->stamped = true;
  }
}

static inline void capture_know_proc(capture *c, unsigned thread, unsigned place) {
  capture_proc *p = &c->procs[place];
  capture_record record = capture_made(GOTRACE__REC_PROC);
  if (p->stamped) return;
  record.is.as_PROC.proc = place;
  record.is.as_PROC.status = p->status;
  capture_put(c, thread, &record, capture_now(c));
  p->number = 0;
  p->stamped = true;
}

static inline void capture_meet(capture_known known, capture_known other) {
  unsigned i;
  for (i = 0; i < CAPTURE_THREADS; i++)
    if (known[i] < other[i]) known[i] = other[i];
}

/* The time of a record about goroutine g, proc p, and the goroutine `from` (or NULL): not before their last ones. */
static inline uint64_t capture_time(capture *c, unsigned thread, capture_go *g, capture_proc *p, capture_go *from) {
  capture_thread *m = &c->threads[thread];
  uint64_t tick = capture_now(c);
  if (tick < m->tick) tick = m->tick;
  if (g && tick < g->tick) tick = g->tick;
  if (p && tick < p->tick) tick = p->tick;
  if (from && tick < from->tick) tick = from->tick;
  if (g) capture_meet(m->known, g->known);
  if (p) capture_meet(m->known, p->known);
  if (from) capture_meet(m->known, from->known);
  if (g) g->tick = tick, capture_meet(g->known, m->known);
  if (p) p->tick = tick, capture_meet(p->known, m->known);
  if (from) from->tick = tick, capture_meet(from->known, m->known);
  return tick;
}

/* Calls about a proc: PROC_START, PROC_STEAL, PROC_DESTROY, or PROC_STOP of the thread's. */
static inline void capture_proc_call(capture *c, unsigned thread, unsigned kind, unsigned place) {
  capture_thread *m = &c->threads[thread];
  bool on = capture_begin(c, thread);
  capture_proc *p;
  if (kind == GOTRACE__REC_PROC_STOP) place = m->proc;
  p = &c->procs[place];
  if (on) {
    capture_record record = capture_made(kind);
    uint64_t tick;
    if (place && kind != GOTRACE__REC_PROC_STOP) capture_know_proc(c, thread, place);
    tick = capture_time(c, thread, NULL, place ? p : NULL, NULL);
    if (place) p->number++;
    if (place && kind != GOTRACE__REC_PROC_STOP) {
      record.is.about_proc.proc = place;
      record.is.about_proc.number = p->number;
    }
    capture_put(c, thread, &record, tick);
  }
  if (kind == GOTRACE__REC_PROC_START && place) {
    m->proc = place;
    p->owner = thread + 1;
    p->status = GOTRACE__PROC_RUNNING;
  } else if (place) {
    p->status = GOTRACE__PROC_IDLE;
    if (kind != GOTRACE__REC_PROC_STOP) p->owner = 0;
  }
  if (kind == GOTRACE__REC_PROC_STOP) m->proc = 0;
}

/* Creates a goroutine in a dead place. */
static inline void capture_create(capture *c, unsigned thread, unsigned place, unsigned status, unsigned flags,
                                  unsigned entry) {
  capture_go *g = &c->gos[place];
  g->id = ++c->next_go;
  g->entry = entry;
  g->flags = flags;
  g->live = true;
  g->status = status;
  memset(g->known, 0, sizeof g->known); /* which place it gets is no affair of the program */
  if (capture_begin(c, thread)) {
    capture_record record = capture_made(GOTRACE__REC_GO_CREATE);
    uint64_t tick;
    if (!g->stamped) g->number = 0;
    g->stamped = g->introduced = true; /* the former occupant's numbers go on */
    tick = capture_time(c, thread, g, NULL, NULL);
    record.is.as_GO_CREATE.go = place;
    record.is.as_GO_CREATE.number = ++g->number;
    record.is.as_GO_CREATE.id = g->id;
    record.is.as_GO_CREATE.entry = entry;
    record.is.as_GO_CREATE.status = (uint16_t)status;
    record.is.as_GO_CREATE.flags = (uint16_t)flags;
    record.site.stack = 1;
    capture_put(c, thread, &record, tick);
  } else {
    g->introduced = g->stamped = false;
  }
  if (status == GOTRACE__SYSCALL) {
    c->threads[thread].go = place;
    c->threads[thread].in_syscall = true;
  }
}

/* Calls about another goroutine: GO_START, THREAD_START, WAIT_END, GO_UNBLOCK, GO_DESTROY, GO_SWITCH, GO_SWITCH_END,
 * NEST_BEGIN, NEST_END (both also about none), GO_RENAME, GO_TIMER. The caller changes `plain` first. */
static inline void capture_go_call(capture *c, unsigned thread, unsigned kind, unsigned place) {
  capture_thread *m = &c->threads[thread];
  capture_go *g = &c->gos[place], *from = m->go ? &c->gos[m->go] : NULL;
  bool is_nest = kind == GOTRACE__REC_NEST_BEGIN || kind == GOTRACE__REC_NEST_END;
  bool is_switch = kind == GOTRACE__REC_GO_SWITCH || kind == GOTRACE__REC_GO_SWITCH_END;
  bool leaves = is_switch || kind == GOTRACE__REC_NEST_BEGIN;
  bool waker = kind == GOTRACE__REC_GO_UNBLOCK || kind == GOTRACE__REC_GO_RENAME || kind == GOTRACE__REC_GO_TIMER;
  if (capture_begin(c, thread)) {
    capture_record record = capture_made(kind);
    uint64_t tick;
    if (place) capture_know_go(c, thread, place, !waker);
    tick = capture_time(c, thread, place ? g : NULL, NULL, leaves || !place ? from : NULL);
    record.is.about_go.go = place;
    if (leaves && from) from->number++;
    if (place) record.is.about_go.number = waker ? (g->stamped ? g->number : 0) : ++g->number;
    record.site.stack = 1;
    if (kind == GOTRACE__REC_GO_SWITCH) record.is.as_GO_SWITCH.reason = GOTRACE__SWITCH_UNEXPLAINED;
    if (kind == GOTRACE__REC_NEST_BEGIN) record.is.as_NEST_BEGIN.plain = m->plain;
    if (kind == GOTRACE__REC_NEST_END) record.is.as_NEST_END.plain = m->plain;
    if (kind == GOTRACE__REC_GO_RENAME) record.text = "renamed", record.text_size = 7;
    capture_put(c, thread, &record, tick);
  }
  if (is_nest && from && from != g) {
    from->status = GOTRACE__RUNNABLE;
    m->go = 0;
  }
  if (!place) return;
  if (is_switch && from) {
    from->status = kind == GOTRACE__REC_GO_SWITCH ? GOTRACE__WAITING : GOTRACE__DEAD;
    from->live = kind == GOTRACE__REC_GO_SWITCH;
  }
  if (kind == GOTRACE__REC_THREAD_START) g->flags |= GOTRACE__RECORD_OWN;
  if (is_switch || is_nest || kind == GOTRACE__REC_GO_START || kind == GOTRACE__REC_THREAD_START ||
      kind == GOTRACE__REC_WAIT_END) {
    m->go = place;
    g->status = GOTRACE__RUNNING;
  } else if (kind == GOTRACE__REC_GO_UNBLOCK) {
    g->status = GOTRACE__RUNNABLE;
  } else if (kind == GOTRACE__REC_GO_DESTROY) {
    g->status = GOTRACE__DEAD;
    g->live = false;
  }
}

/* Calls about the goroutine that the thread runs: GO_END, GO_STOP, GO_BLOCK, SYSCALL_BEGIN, SYSCALL_END,
 * SYSCALL_END_BLOCKED, GO_END_IN_SYSCALL. */
static inline void capture_running_call(capture *c, unsigned thread, unsigned kind, uint32_t reason) {
  capture_thread *m = &c->threads[thread];
  capture_go *g = m->go ? &c->gos[m->go] : NULL;
  capture_proc *p = m->proc ? &c->procs[m->proc] : NULL;
  bool begins = kind == GOTRACE__REC_SYSCALL_BEGIN;
  if (capture_begin(c, thread)) {
    capture_record record = capture_made(kind);
    uint64_t tick = capture_time(c, thread, g, begins ? p : NULL, NULL);
    if (g) g->number++;
    if (begins && p) p->number++;
    if (kind == GOTRACE__REC_SYSCALL_END && p) capture_know_proc(c, thread, m->proc);
    if (kind == GOTRACE__REC_GO_STOP) record.is.as_GO_STOP.reason = reason;
    if (kind == GOTRACE__REC_GO_BLOCK) record.is.as_GO_BLOCK.reason = reason;
    record.site.stack = 1;
    capture_put(c, thread, &record, tick);
  }
  if (begins) {
    m->in_syscall = true;
    if (p) p->status = GOTRACE__PROC_SYSCALL;
    if (g) g->status = GOTRACE__SYSCALL;
    return;
  }
  if (kind == GOTRACE__REC_SYSCALL_END) {
    m->in_syscall = false;
    if (p) p->status = GOTRACE__PROC_RUNNING;
    if (g) g->status = GOTRACE__RUNNING;
    return;
  }
  if (kind == GOTRACE__REC_SYSCALL_END_BLOCKED || kind == GOTRACE__REC_GO_END_IN_SYSCALL) {
    if (m->in_syscall) m->proc = 0;
    m->in_syscall = false;
  }
  if (g) {
    g->status = kind == GOTRACE__REC_GO_BLOCK ? GOTRACE__WAITING : GOTRACE__RUNNABLE;
    if (kind == GOTRACE__REC_GO_END || kind == GOTRACE__REC_GO_END_IN_SYSCALL) {
      g->status = GOTRACE__DEAD;
      g->live = false;
    }
  }
  m->go = 0;
}

/* Any other call: a record that changes nothing that the capture remembers. */
static inline void capture_call(capture *c, unsigned thread, const capture_record *record) {
  capture_thread *m = &c->threads[thread];
  if (!capture_begin(c, thread)) return;
  capture_put(c, thread, record, capture_time(c, thread, m->go ? &c->gos[m->go] : NULL, NULL, NULL));
}

/* Calls about the collector: GC_BEGIN, GC_END, STW_BEGIN, STW_END. */
static inline void capture_collector_call(capture *c, unsigned thread, unsigned kind, uint32_t reason) {
  capture_record record = capture_made(kind);
  if (!c->t) return;
  record.is.about_collector.number = ++c->collector;
  if (kind == GOTRACE__REC_STW_BEGIN) record.is.as_STW_BEGIN.reason = reason;
  capture_call(c, thread, &record);
}

/* The thread ends. */
static inline void capture_thread_end(capture *c, unsigned thread) {
  capture_thread *m = &c->threads[thread];
  capture_record record = capture_made(GOTRACE__REC_THREAD_END);
  if (m->go) c->gos[m->go].status = GOTRACE__RUNNABLE;
  if (m->proc) c->procs[m->proc].status = GOTRACE__PROC_IDLE;
  m->go = m->proc = 0;
  m->in_syscall = false;
  capture_call(c, thread, &record);
  m->ended = c->t != NULL;
}

/* After a round: the record of a thread that has ended, and whose records have all been applied, goes to another one.
 */
static inline void capture_release(capture *c, unsigned thread) {
  capture_thread *m = &c->threads[thread];
  gotrace__source *r = m->source;
  if (!m->ended || !r || !r->gone || m->held || r->chunk != m->last || gotrace__read_at(r) != m->written) return;
  gotrace__transcribe_release(c->t, r);
  free(m->last);
  m->first = m->last = NULL;
  m->source = NULL;
  m->introduced = m->ended = false;
}

/* Takes back a chunk that has been read: options.chunk_done. */
static inline void capture_chunk_done(capture *c, gotrace__record_chunk *chunk) {
  unsigned i;
  for (i = 0; i < CAPTURE_THREADS && c->threads[i].first != chunk; i++) continue;
  if (i == CAPTURE_THREADS) abort();
  c->threads[i].first = chunk->next;
  free(chunk);
}

/* Starts tracing: lists what lives. */
static inline void capture_start(capture *c, gotrace__transcriber *t) {
  unsigned i;
  c->t = t;
  c->first_tick = c->tick;
  c->collector = 0;
  for (i = 1; i <= CAPTURE_GOS; i++) {
    c->gos[i].stamped = c->gos[i].introduced = false;
    if (c->gos[i].live)
      gotrace__transcribe_living_go(t, i, c->gos[i].id, c->gos[i].entry, c->gos[i].status, c->gos[i].flags);
  }
  for (i = 1; i <= CAPTURE_PROCS; i++) {
    c->procs[i].stamped = false;
    if (c->procs[i].status) gotrace__transcribe_living_proc(t, i);
  }
  for (i = 0; i < CAPTURE_THREADS; i++) {
    capture_thread *m = &c->threads[i];
    m->introduced = false;
    m->source = NULL;
    if (!m->go && !m->proc) continue;
    if (!m->last) capture_chunk(m);
    m->source = gotrace__transcribe_thread(t, capture_thread_id(c, i), m->first);
    if (m->source)
      gotrace__transcribe_living_thread(m->source, m->go,
                                        m->in_syscall && c->procs[m->proc].owner != i + 1 ? 0 : m->proc, m->in_syscall);
  }
}

static inline void capture_free(capture *c) {
  unsigned i;
  for (i = 0; i < CAPTURE_THREADS; i++) {
    gotrace__record_chunk *chunk;
    while ((chunk = c->threads[i].first) != NULL) {
      c->threads[i].first = chunk->next;
      free(chunk);
    }
  }
}

#endif
