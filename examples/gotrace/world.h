/* world.h - texts and stacks, the world, operations, and the source that makes them of a trace
 *
 * pool.c      texts and stacks
 * world.c     the world
 * source.c    the source; read_v1.c and read_v2.c are its front ends */

#ifndef WORLD_H
#define WORLD_H

#include "pool.h"

/* --------------------------------------------------------------------------------------------------- the world ---- */

enum { GO_NONE, GO_RUNNABLE, GO_RUNNING, GO_SYSCALL, GO_WAITING };               /* as in v2's GoStatus */
enum { PROC_NONE, PROC_RUNNING, PROC_IDLE, PROC_SYSCALL, PROC_ABANDONED };       /* ProcStatus */
#define NOBODY UINT64_MAX

typedef struct thread thread;
typedef struct proc proc;
typedef struct function function;

typedef struct goroutine {
  uint64_t id;
  struct goroutine *previous, *next; /* of those that live */
  thread *m;                         /* while it runs or is in a system call */
  function *function;                /* statistics */
  int64_t since;                     /* when it got its status */
  int64_t lost_proc;                 /* front end of v1: when, in its system call; 0: has it, or unknown */
  uint32_t entry;                    /* stack: of the function that it began with, 0: unknown */
  uint32_t reason;                   /* text: why it waits */
  uint32_t stack;                    /* with which it got its status, 0: unknown */
  uint8_t status;
  uint8_t stw;   /* stopped worlds that it began */
  bool assist;   /* in a mark assist */
  bool timer;    /* v1: it runs timers; its unblocks are shown apart */
  bool unborn;   /* the format has no event for goroutines that begin blocked: created when first unblocked */
  /* The writers': */
  uint64_t sequence;
  uint64_t v1_id, v1_sequence; /* v1 uses no id twice */
  uint8_t v1_status;
  bool timer_told;
  /* Chrome: */
  int64_t slice;  /* since when it is on its proc */
  uint64_t arrow; /* 0: none */
} goroutine;

struct proc {
  uint64_t id;
  proc *next;
  thread *m;
  int64_t since;
  double running; /* statistics: nanoseconds */
  uint8_t status;
  bool sweep;
  /* The writers': */
  uint64_t sequence;
  bytes batch;            /* v1 */
  uint64_t tick, v1_id;
  goroutine *v1_go;       /* that readers take to run on it */
  uint64_t v1_sequence;   /* of its start, while that is not yet written: a label may follow; 0: it is */
  int64_t v1_start;
  bool v1_running, named;
};

struct thread {
  uint64_t id;
  thread *next;
  goroutine *g;
  proc *p;
  bool seen;       /* while looking for what was there before */
  bytes batch;     /* v2 */
  uint64_t tick, start; /* of the batch's last event, and first */
};

struct function {
  function *next;
  uint32_t name;
  uint64_t goroutines;
  double running, blocked; /* nanoseconds */
};

typedef struct experiment { /* a batch of one, whose events need it */
  uint64_t number, thread;
  uint32_t data; /* text */
} experiment;

typedef struct world {
  map gos, procs, threads;
  goroutine *live, *newest; /* the oldest first */
  proc *proc_list;
  thread *thread_list;
  thread *last_running; /* a thread on which a goroutine ran lately */
  size_t proc_count, thread_count;
  uint64_t gomaxprocs; /* 0: unknown */
  experiment *experiments; /* of the source's generation */
  size_t experiment_count, experiment_capacity;
  unsigned stw; /* stopped worlds */
  bool gc;
  uint64_t wall_seconds, wall_nanoseconds;
  int64_t wall_time; /* of the clock snapshot that tells the other two; all 0: unknown */
  struct statistics *statistics; /* or NULL */
} world;

#define FRESH_THREAD ((uint64_t)1 << 40)
#define FRESH_GO ((uint64_t)1 << 40)
#define FRESH_PROC ((uint64_t)900000) /* below GOTRACE_FAKE_PROC, which viewers of v1 count on */

goroutine *world_go(const world *w, uint64_t id);
proc *world_proc(world *w, uint64_t id, bool add);
thread *world_thread(world *w, uint64_t id);
uint64_t fresh_id(map *m, uint64_t from);
thread *fresh_thread(world *w);
bool runs(const thread *m);
goroutine *go_record(world *w, uint64_t id);

/* -------------------------------------------------------------------------------------------------- operations ---- */

typedef struct op {
  unsigned kind; /* GOTRACE_V2_... */
  int64_t time;
  thread *m;           /* on which it happens, or NULL */
  uint64_t id;         /* the goroutine, proc, task or number of procs that it speaks of */
  uint64_t a[3];       /* status; parent; bytes; swept, reclaimed; of a sample thread, proc, goroutine */
  uint32_t stack;      /* its own */
  uint32_t new_stack;  /* of a new goroutine, of the status of one: the function that it began with */
  uint32_t name;       /* reason, kind, name, category */
  uint32_t value;      /* message */
} op;

void apply(world *w, const op *o);

/* Statistics, which info.c keeps. */
void statistics_go(world *w, goroutine *g, int64_t time, uint8_t status);
uint32_t name_of(const goroutine *g);

/* ---------------------------------------------------------------------------------------------------- the source ---- */

/* Takes operations. The world is as it was before each. */
typedef struct consumer {
  void (*begin)(struct consumer *, int64_t time); /* the world is as it was before the first */
  void (*take)(struct consumer *, const op *);
  void (*end)(struct consumer *, int64_t time);   /* of the trace, or the part of it: things may have lasted until then */
  world *w;
  int format;    /* of the output, 0: any */
  int family;    /* of the input */
  bool statuses; /* takes GoStatus now: else it is told that goroutines are created */
  int64_t base;  /* time of the source's first event */
} consumer;

typedef struct source {
  input *in;
  world w;
  consumer *to;
  int format;
  int64_t from, until;   /* since the first event */
  int64_t first, end;    /* times of the first event and of the last one that was read */
  bool any, begun, over; /* there was an event; the consumer has begun; it is past `until` */
  bool told;             /* there was more than the ends of generations */
  /* v1: */
  op held;    /* waits for the event after it; kind 0: none */
  op *intros; /* goroutines that are older than the trace, until the first other event */
  uint32_t intro_count, intro_capacity;
  map intro_places;   /* goroutine to 1 + index */
  bool started;       /* there was such an event */
  goroutine *stw;     /* that began the stopped world */
  uint8_t *blocking;  /* a bit each system call: it lost its proc */
  size_t calls, calls_capacity;
} source;

typedef void watch_fn(void *context, const gotrace_event *event);

extern const char *const v2_arguments[256];

void give(source *s, const op *o);
void give_held(source *s);
void introduce(source *s, const op *o);
op op_of(const gotrace_event *e, thread *m);
void take_sample(source *s, const gotrace_event *e);
void scan_v1(source *s);
void take_v1(source *s, const gotrace_event *e);
void v1_give_intros(source *s);
void scan_v2(source *s);
void take_v2(source *s, const gotrace_event *e);
void source_free(source *s);
void broken(const settings *set, const source *s);
gotrace_result source_run(source *s, input *in, consumer *to, int64_t from, int64_t until, watch_fn *watch, void *context);

#endif
