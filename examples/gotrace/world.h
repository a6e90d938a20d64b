/* world.h - operations, and the world that they change
 *
 * An operation is an event in the terms of Go 1.22 and later, whatever format it was read from. The world is the state
 * that operations build up: which goroutine runs on which proc and thread, what has begun and not yet ended. Both use
 * the words of Go's tracer: m is a thread, p a proc, g a goroutine.
 *
 * Records of goroutines, procs and threads also hold fields of the consumers that need one value each: statistics
 * (info.c), the writers (write_v1.c, write_v2.c) and Chrome's JSON (export.c). */

#ifndef WORLD_H
#define WORLD_H

#include "pool.h"

enum { GO_NONE, GO_RUNNABLE, GO_RUNNING, GO_SYSCALL, GO_WAITING };         /* the numbers of GoStatus */
enum { PROC_NONE, PROC_RUNNING, PROC_IDLE, PROC_SYSCALL, PROC_ABANDONED }; /* the numbers of ProcStatus */
#define NOBODY UINT64_MAX                                                  /* no thread, proc or goroutine */

typedef struct thread thread;
typedef struct proc proc;
typedef struct function function;

typedef struct goroutine {
  uint64_t id;
  struct goroutine *previous, *next; /* in the list of live goroutines */
  thread *m;                         /* while running or in a system call */
  int64_t since;                     /* time of the last status change */
  uint32_t entry;                    /* stack: of the function that it began with; 0: unknown */
  uint32_t reason;                   /* text: why it waits */
  uint32_t stack;                    /* at the last status change; 0: unknown */
  uint8_t status;
  uint8_t stw; /* how many times it has stopped the world and not restarted it */
  bool assist; /* in a mark assist */
  bool unborn; /* created blocked, in a format without an event for that: created for readers when unblocked */
  /* Front end of v1. */
  int64_t lost_proc; /* when it lost its proc in a system call; 0: it has one, or the time is unknown */
  bool timer;        /* it runs timers; what it unblocks is shown apart */
  /* Writers. */
  uint64_t sequence;
  uint64_t v1_id, v1_sequence; /* v1 never uses an id again */
  uint8_t v1_status;
  bool timer_told;
  /* Statistics. */
  function *function;
  /* Chrome's JSON. */
  int64_t slice;  /* when it came to its proc */
  uint64_t arrow; /* from its waker; 0: none */
} goroutine;

struct proc {
  uint64_t id;
  proc *next;
  thread *m;
  int64_t since; /* time of the last status change */
  uint8_t status;
  bool sweep; /* sweeps */
  /* Writers. */
  uint64_t sequence;
  bytes batch;          /* v1 */
  uint64_t tick, v1_id; /* of the batch's last event; in the output */
  goroutine *v1_go;     /* running on it for readers */
  uint64_t v1_sequence; /* of a goroutine's start that is not yet written; 0: none. See v1_write_start */
  int64_t v1_start;     /* the time of that start */
  bool v1_running, named;
  /* Statistics. */
  double running; /* nanoseconds */
};

struct thread {
  uint64_t id;
  thread *next;
  goroutine *g;
  proc *p;
  bool seen; /* front end of v2: scan_v2 has met an event of it */
  /* Writers. */
  bytes batch;          /* v2 */
  uint64_t tick, start; /* of the batch's last and first event */
};

struct function { /* statistics: goroutines that began with the same function, or blocked for the same reason */
  function *next;
  uint32_t name;
  uint64_t goroutines;
  double running, blocked; /* nanoseconds */
};

typedef struct experiment { /* a batch of an experiment */
  uint64_t number, thread;
  uint32_t data; /* text */
} experiment;

typedef struct world {
  map gos, procs, threads;
  goroutine *live, *newest; /* the list of live goroutines, oldest first */
  proc *proc_list;
  thread *thread_list;
  thread *last_running; /* where a goroutine was last seen to start */
  size_t proc_count, thread_count;
  uint64_t gomaxprocs;     /* 0: unknown */
  experiment *experiments; /* of the input's generation */
  size_t experiment_count, experiment_capacity;
  unsigned stw; /* sum of the goroutines' */
  bool gc;
  uint64_t wall_seconds, wall_nanoseconds; /* the wall clock at wall_time; 0: unknown */
  int64_t wall_time;
  struct statistics *statistics; /* NULL: none are kept */
} world;

typedef struct op {
  unsigned kind; /* GOTRACE_V2_... */
  int64_t time;
  thread *m;          /* where it happens, or NULL */
  uint64_t id;        /* the goroutine, proc or task concerned, or the number of procs */
  uint64_t a[3];      /* by kind: status; parent; bytes; swept, reclaimed; of a sample thread, proc, goroutine */
  uint32_t stack;     /* where the program was */
  uint32_t new_stack; /* the function that a new goroutine, or one whose status is told, begins or began with */
  uint32_t name;      /* reason, kind, name, category */
  uint32_t value;     /* message */
} op;

/* Records. world_go: NULL if there is no such goroutine now. go_record: also of one that has ended or not yet begun.
 * world_proc: NULL if the proc is new and is not to be added. */
goroutine *world_go(const world *w, uint64_t id);
goroutine *go_record(world *w, uint64_t id);
proc *world_proc(world *w, uint64_t id, bool add);
thread *world_thread(world *w, uint64_t id);

/* Whether a goroutine runs on the thread, so that its code can cause events there. */
bool runs(const thread *m);

/* An unused id, from `from` on, for what the input does not have; and a thread with one. */
uint64_t fresh_id(map *m, uint64_t from);
thread *fresh_thread(world *w);
#define FRESH_THREAD ((uint64_t)1 << 40)
#define FRESH_GO ((uint64_t)1 << 40)
#define FRESH_PROC ((uint64_t)900000) /* below GOTRACE_FAKE_PROC, which viewers of v1 treat specially */

/* The text that names a goroutine: the function that it began with; 0: unknown. */
uint32_t name_of(const goroutine *g);

void apply(world *w, const op *o);

/* In info.c: counts the time that a goroutine had its status, which now changes. */
void statistics_go(world *w, goroutine *g, int64_t time, uint8_t status);

#endif
