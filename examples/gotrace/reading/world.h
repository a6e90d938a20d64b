/* world.h - operations and the world that they change
 *
 * An operation is an event of the kinds of Go 1.22 and later, whatever format it was read from. The world is the state
 * that the operations build up: which goroutine runs on which proc and thread, which ranges are open. Both use the
 * letters of Go's tracer: m is a thread, p a proc, g a goroutine.
 *
 * Records of goroutines, procs, threads, tasks and counters are numbered from 0, each kind on its own, in the order in
 * which they are made. They are never removed. So what a user of the world keeps about them is in side arrays of its
 * own (SIDE in tool.h), by number. */

#ifndef WORLD_H
#define WORLD_H

#include "input.h"
#include "pool.h"

enum { GO_NONE, GO_RUNNABLE, GO_RUNNING, GO_SYSCALL, GO_WAITING };         /* numbered as in GoStatus */
enum { PROC_NONE, PROC_RUNNING, PROC_IDLE, PROC_SYSCALL, PROC_ABANDONED }; /* numbered as in ProcStatus */
#define NOBODY UINT64_MAX                                                  /* no thread, proc or goroutine */

typedef struct thread thread;
struct op;
struct stretch;
typedef struct proc proc;

typedef struct goroutine {
  uint64_t id;
  struct goroutine *previous, *next; /* in the list of live goroutines */
  thread *m;                         /* while running or in a system call */
  int64_t since;                     /* time of the last status change */
  uint32_t number;
  uint32_t entry;  /* stack that tells the function it began with; 0: unknown */
  uint32_t reason; /* text: why it waits */
  uint32_t stack;  /* at the last status change; 0: unknown */
  uint32_t cause;  /* stack of the operation that last changed the status, as of the waker or creator */
  uint32_t label;  /* text: the last one; 0: none */
  uint32_t called; /* text: the name of its thread, see world.called; 0: none */
  uint8_t status;
  uint8_t stw; /* how many stop-the-worlds it has begun and not ended */
  bool assist; /* in a mark assist */
  bool timer;  /* v1: it runs timers; the trace shows what it unblocks separately */
  /* How it was created, unless it is older than the trace. */
  bool is_new;
  uint32_t made_at; /* stack of that; 0: unknown */
  uint64_t maker;   /* the goroutine that did; NOBODY: none */
  int64_t made;
  struct user_regions *regions; /* see world.history; NULL: none yet */
  uint64_t inherited;           /* with world.history: the task of its creator's innermost region */
  bool inherits;                /* there is one */
  int64_t divided;              /* with world.history: when one of its regions last began or ended */
} goroutine;

struct proc {
  uint64_t id;
  proc *next;
  thread *m;
  uint32_t number;
  uint8_t status;
  bool sweep; /* sweeping */
  bool scan;  /* scanning, in Go 1.5 to 1.9 */
};

struct thread {
  uint64_t id;
  thread *next;
  goroutine *g;
  proc *p;
  uint32_t number;
};

/* Regions and tasks of the program: see world.history. */
typedef struct origin { /* where a task began or a counter got its value, for a filter: see filter_origin() */
  thread *m;            /* NULL: unknown */
  proc *p;              /* NULL: none */
  uint64_t g;           /* NOBODY: none */
  uint64_t task;        /* which it concerns */
  uint64_t within;      /* the task of the goroutine's innermost region, if `inside` */
  unsigned in_file;     /* as in op; an index does not keep it, since traces of v1 have none */
  uint32_t function;    /* text: the goroutine's name, as far as it was known */
  bool inside;
} origin;

typedef struct user_region { /* an open one */
  uint32_t name, stack;
  uint64_t task;
  int64_t begin;
  uint32_t line;    /* its row in a picture: no other open region has it */
  thread *m;        /* where it began; NULL: unknown */
  proc *p;          /* the same; NULL: none */
  unsigned in_file; /* as in origin */
  bool chosen;      /* the filter selects its start */
} user_region;

typedef struct user_regions { /* of a goroutine, innermost last */
  user_region *open;
  uint32_t count, capacity;
} user_regions;

typedef struct user_task {
  uint64_t id, parent;
  uint32_t name, stack;
  uint32_t number;
  int64_t begin;
  goroutine *home;   /* began it, even if it had begun before; NULL: none, or it has ended */
  bool open, chosen; /* `chosen`: the filter selects its start */
  origin from;
} user_task;

typedef struct user_counter {
  uint32_t name, number;
  double value; /* the last one; in the part, that the filter selects */
  origin from;
} user_counter;

typedef struct experiment { /* a batch of an experiment */
  uint64_t number, thread;
  uint32_t data; /* text */
} experiment;

typedef struct wall_clock {
  uint64_t seconds, nanoseconds; /* since 1970; `seconds` 0: unknown */
  int64_t time;                  /* of the trace, when the clock showed this */
} wall_clock;

/* What the clock shows at a time of the trace, in nanoseconds since 1970; 0: unknown. */
uint64_t wall_at(const wall_clock *clock, int64_t time);

#define NEAR_GOS 1024 /* powers of two */
#define NEAR_THREADS 64

typedef struct world {
  map gos, procs, threads;
  goroutine **near_gos; /* a direct-mapped cache by id, which avoids most hashing */
  size_t near_mask;     /* at least as many entries as goroutines: a power of two, minus 1 */
  thread *near_threads[NEAR_THREADS];
  goroutine *live, *newest; /* the list of live goroutines, oldest first */
  proc *proc_list;
  thread *thread_list;
  thread *last_running; /* where a goroutine last started to run */
  size_t proc_count, thread_count;
  uint64_t gomaxprocs;     /* 0: unknown */
  experiment *experiments; /* of the input's generation */
  size_t experiment_count, experiment_capacity;
  uint32_t *modules; /* texts that describe modules, for gotrace symbolize; no operation carries them */
  size_t module_count, module_capacity;
  uint32_t program; /* a text: the name of the file that was executed, without its folder; 0: unknown */
  unsigned stw;     /* sum of the goroutines' stw */
  bool gc;
  wall_clock wall;
  int64_t stw_since; /* when the first of them began */
  uint32_t stw_reason;
  uint64_t heap, heap_goal; /* bytes; 0: unknown */
  const map *called;        /* from a goroutine to its thread's name, as in ahead.called; NULL: none */
  bool history;             /* keep the open regions, and all tasks */
  bool chosen;              /* the consumer's filter selects the operation; true without a filter */
  map tasks;                /* struct user_task by id */
  map counters;             /* with `history`: struct user_counter by name */
  bool as_go;               /* see consumer.as_go in source.h */
  int64_t sync;             /* as_go: when the generation began */
  unsigned generation;      /* v2: from 1 */
  const struct op *now;     /* the operation being applied; NULL: none, as at the end of the trace */
  /* Receives each stretch when it ends; NULL: not wanted. */
  void (*stretch)(void *context, const struct stretch *);
  void *context;
} world;

/* A span in which a goroutine keeps its status. */
typedef struct stretch {
  goroutine *g; /* still in its old state: g->m is where it runs or is in a system call */
  int64_t begin, end;
  uint8_t status, next; /* `next`: the status that follows; GO_NONE: the goroutine ends, or the input does */
  uint32_t reason;      /* text: why it waits; 0: unknown, or another status */
  uint32_t stack;       /* where the goroutine was at its beginning; 0: unknown */
  /* What ends it; NULL: the end of the input. If a wait ends, by->m->g is the waker, unless the consumer accepts whole
   * coroutine switches: there the waker has already left the thread. */
  const struct op *by;
  uint32_t cause; /* stack of the operation that began it: of the waker or creator, or its own */
  bool chosen;    /* the consumer's filter selects it; true without a filter */
} stretch;

/* The only such operations: in Go 1.5 to 1.9 a proc, `id`, which may be idle, scans; NOBODY: it is not known which. */
enum {
  SCAN_START = OF_V1 + GOTRACE_V1_GC_SCAN_START,
  SCAN_DONE = OF_V1 + GOTRACE_V1_GC_SCAN_DONE,
};

typedef struct op {
  unsigned kind;     /* GOTRACE_V2_..., SCAN_START, SCAN_DONE */
  unsigned in_file;  /* what it is made of, if the file calls it otherwise: see kind_of_file() */
  unsigned switches; /* GoSwitch or GoSwitchDestroy: the unblock is the first part of one; otherwise 0 */
  int64_t time;
  thread *m;          /* where it happens; NULL: unknown */
  uint64_t id;        /* the goroutine, proc or task concerned, or the number of procs */
  uint64_t a[3];      /* by kind: status; parent; bytes; swept, reclaimed; of a region's end, the number of open regions
                         inside it. CPU samples: thread, proc, goroutine */
  uint32_t stack;     /* where the program was */
  uint32_t new_stack; /* stack that tells the first function of a goroutine, where it is created or its status told */
  uint32_t name;      /* reason, kind, name, category */
  uint32_t value;     /* message */
  bool outside;       /* a timer or the network unblocks, whatever thread that is on; v2 does not tell */
  bool inferred;      /* no event tells it, but it must have happened */
  bool known;         /* a status of a goroutine that has been in a system call from the start: nothing changes */
  bool ends_again;    /* the end of a task that ends again later: only the last end counts */
} op;

/* What events and operations of a kind change: the rows of gotrace_find_change_spec, with GO_... or PROC_... as `to`.
 * `kind` 0: nothing that a row can tell, as of a whole coroutine switch, which changes two goroutines.
 * load_change_specs: call it once, before a trace is read. */
extern gotrace_change_spec change_specs[2 * OF_V1];
void load_change_specs(void);

static inline bool names(unsigned kind, unsigned object) {
  return change_specs[kind].object == object && change_specs[kind].whose & GOTRACE_WHOSE_NAMED;
}
static inline bool names_go(unsigned kind) { return names(kind, GOTRACE_OBJECT_GO); }
static inline bool names_proc(unsigned kind) { return names(kind, GOTRACE_OBJECT_PROC); }
static inline bool creates(unsigned kind) { return change_specs[kind].whose & GOTRACE_WHOSE_NEW; }
static inline bool tells(unsigned kind) { return change_specs[kind].whose & GOTRACE_WHOSE_TOLD; }

/* Whether the status of a goroutine changes. */
static inline bool changes_go(unsigned kind) {
  return change_specs[kind].kind == GOTRACE_CHANGE_STATUS && change_specs[kind].object == GOTRACE_OBJECT_GO;
}

/* Whether a goroutine or proc becomes known: it is created, or its status told. */
static inline bool appears(unsigned kind) {
  return change_specs[kind].whose & (GOTRACE_WHOSE_NEW | GOTRACE_WHOSE_TOLD);
}

/* Whether the goroutine on which the operation happens ends; false for a switch. */
static inline bool ends_go(unsigned kind) {
  return changes_go(kind) && change_specs[kind].to == GO_NONE && !appears(kind);
}

/* The status of its goroutine or proc after an operation that changes it, unless that tells it. */
static inline uint8_t status_of_kind(unsigned kind) { return (uint8_t)change_specs[kind].to; }
static inline uint8_t status_after(const op *o) { return tells(o->kind) ? (uint8_t)o->a[0] : status_of_kind(o->kind); }

/* Whether a goroutine with this status has a thread. */
static inline bool executes(unsigned status) { return status == GO_RUNNING || status == GO_SYSCALL; }

/* Records. world_go: NULL if there is no such goroutine now. go_record also finds or makes the record of one that has
 * ended or not yet begun. world_proc: NULL if the proc is unknown and `add` is false. */
goroutine *go_record(world *w, uint64_t id);
proc *world_proc(world *w, uint64_t id, bool add);
user_task *world_task(world *w, uint64_t id);

/* The record of the program's counter whose value an operation tells, which is not yet applied; NULL: it tells none.
 * Needs `history`. */
user_counter *told_counter(world *w, const op *o, double *value);

/* Where an operation happens, before it is applied. `inside` and `within` need `history`. */
origin origin_of(const op *o);

/* The name of the goroutine of an origin, which may have become known since; 0: unknown. */
uint32_t origin_name(world *w, const origin *from);

/* The task that a goroutine belongs to: that of its innermost region, or that it inherited. False: none. */
bool task_of_go(const goroutine *g, uint64_t *task);

/* Removes the counters whose values are not `kept`. */
void world_keep_counters(world *w, bool (*kept)(void *context, const user_counter *), void *context);

/* The region that ends with an operation that is not yet applied; NULL: it began before the trace. */
user_region *ending_region(const op *o);

/* The slow paths of find_go() and world_thread(). */
goroutine *find_far_go(world *w, uint64_t id);
thread *find_far_thread(world *w, uint64_t id);

static inline goroutine *find_go(world *w, uint64_t id) {
  goroutine *g = w->near_gos ? w->near_gos[id & w->near_mask] : NULL;
  return g && g->id == id ? g : find_far_go(w, id);
}

static inline goroutine *world_go(world *w, uint64_t id) {
  goroutine *g = find_go(w, id);
  return g && g->status != GO_NONE ? g : NULL;
}

/* The goroutine that an operation names, or else that on which it happens; NULL: there is none now. */
static inline goroutine *subject_of(world *w, const op *o) {
  return names_go(o->kind) ? world_go(w, o->id) : o->m ? o->m->g : NULL;
}

static inline thread *world_thread(world *w, uint64_t id) {
  thread *m = w->near_threads[id % NEAR_THREADS];
  return m && m->id == id ? m : find_far_thread(w, id);
}

/* Whether a goroutine runs on the thread, so that its code can cause events there. `m` may be NULL. */
static inline bool runs(const thread *m) { return m && m->p && m->g && m->g->status == GO_RUNNING; }

/* An unused id, at least `from`, for an object that the input does not have; a thread with such an id. */
uint64_t fresh_id(map *m, uint64_t from);
thread *fresh_thread(world *w);
#define FRESH_THREAD ((uint64_t)1 << 40)
#define FRESH_GO ((uint64_t)1 << 40)
#define FRESH_PROC ((uint64_t)900000) /* below GOTRACE_FAKE_PROC, which viewers of v1 treat specially */

/* The text that names a goroutine: its thread's name, or else the function it began with; 0: unknown. */
uint32_t name_of(const goroutine *g);

void apply(world *w, const op *o);
void world_free(world *w);

/* Moves a running goroutine, which may be NULL, to the thread where a status has it. Only damaged traces need this. */
void world_move(goroutine *g, thread *m);

/* Sets the current state of a goroutine whose operations were left out: see digest.h. `m`: where it runs, or NOBODY;
 * `reason`: why it waits. */
void world_catch_up(world *w, goroutine *g, int64_t since, uint8_t status, uint64_t m, uint32_t reason);

/* Ends a goroutine's stretch and begins another of the same status, at the time of an operation. */
void world_split(world *w, goroutine *g, const op *o);

/* Ends the stretches of all live goroutines at the end of the input. */
void end_stretches(world *w, int64_t time);

#endif
