/* waits.h - what kind of thing a goroutine waited for, and where in the program
 *
 * The reason of a wait is too coarse: Go calls a wait for a mutex, for a WaitGroup and for the collector "sync". The
 * stack tells them apart. So a wait has a class, by the first rule that its reason and its innermost frames match, and
 * a place: the innermost function that is the program's own, not of Go's library, the C library or a wrapper. */

#ifndef WAITS_H
#define WAITS_H

#include "../reading/world.h"

/* What follows from a class. */
enum {
  WAIT_LOCK = 1, /* who ends it has released a lock, which it may have got by a wait of the same kind: see holders.h */
  WAIT_HANDED = 2,   /* who ends it did what was waited for */
  WAIT_PERMIT = 4,   /* the same, or it is as with a lock, such as where a channel counts permits */
  WAIT_GC = 8,       /* the collector's doing */
  WAIT_RUNTIMES = 16 /* of goroutines that the program has not made */
};

/* X(NAME, text, what follows) */
#define WAIT_CLASSES(X)                                      \
  X(UNKNOWN, "unknown", 0)                                   \
  X(GC_START, "collector: start of a cycle", WAIT_GC)        \
  X(GC_MARK_DONE, "collector: end of marking", WAIT_GC)      \
  X(GC_ASSIST, "collector: assist", WAIT_GC)                 \
  X(GC_SWEEP, "collector: sweep", WAIT_GC)                   \
  X(GC_CYCLE, "collector: until a cycle ends", WAIT_GC)      \
  X(STOP, "stop-the-world", 0)                               \
  X(MUTEX, "mutex", WAIT_LOCK)                               \
  X(READ_WRITE, "read-write lock", WAIT_LOCK)                \
  X(ONCE, "once", WAIT_LOCK)                                 \
  X(SYNC, "sync", WAIT_HANDED) /* of unknown functions */    \
  X(C_SYNC, "sync, by a C program", WAIT_LOCK)               \
  X(SPIN, "spin lock", WAIT_LOCK)                            \
  X(GIL, "Python's GIL", WAIT_LOCK)                          \
  X(FILE_LOCK, "file lock", WAIT_LOCK)                       \
  X(SEMAPHORE, "semaphore", WAIT_HANDED | WAIT_PERMIT)       \
  X(GROUP, "WaitGroup", WAIT_HANDED)                         \
  X(COND, "condition variable", WAIT_HANDED | WAIT_PERMIT)   \
  X(BARRIER, "barrier", WAIT_HANDED)                         \
  X(JOIN, "join", WAIT_HANDED)                               \
  X(FUTEX, "futex", WAIT_HANDED)                             \
  X(SEND, "channel send", WAIT_HANDED | WAIT_PERMIT)         \
  X(RECEIVE, "channel receive", WAIT_HANDED)                 \
  X(SELECT, "select", WAIT_HANDED)                           \
  X(NETWORK, "network", 0)                                   \
  X(PIPE, "pipe", WAIT_HANDED)                               \
  X(CHILD, "child process", 0)                               \
  X(SLEEP, "sleep", 0)                                       \
  X(PREEMPTED, "preempted", 0)                               \
  X(FOREVER, "for ever", 0)                                  \
  X(OTHER, "other", 0) /* a reason that the program names */ \
  X(RUNTIME, "runtime's own", WAIT_RUNTIMES)

typedef enum wait_class {
#define WAIT_CLASS(NAME, text, follows) WAIT_##NAME##_CLASS,
  WAIT_CLASSES(WAIT_CLASS)
#undef WAIT_CLASS
      WAIT_CLASS_COUNT
} wait_class;

extern const struct wait_class_spec {
  const char *text;
  unsigned follows;
} wait_classes[WAIT_CLASS_COUNT];

static inline bool wait_is(unsigned of, unsigned what) { return (wait_classes[of].follows & what) != 0; }

/* What is known about stacks, each found once. All zero: nothing. `recorded`: the innermost frame of a C stack is a
 * function of the C library that the program called. */
typedef struct waits {
  side_array stacks; /* struct known_stack, by stack */
  bool recorded;
} waits;

/* The innermost frame of a stack is what a signal or a CPU sample has interrupted, instead of a call. */
void note_interrupted(waits *w, uint32_t stack);

wait_class wait_class_of(waits *w, uint32_t stack, uint32_t reason);

/* The innermost function of the program, as text; 0: the stack has none. */
uint32_t own_function(waits *w, uint32_t stack);

/* The same as the index of its frame in the stack; the number of frames: none. */
uint32_t own_frame(waits *w, uint32_t stack);

/* Whether a lock that is taken in one stack is plausibly the one that is released in another: in the same function,
 * whatever closures of it do so, or by helpers that are called from the same function. True if a stack is unknown. */
bool same_owner(waits *w, uint32_t taken, uint32_t released);

typedef struct class_at { /* a wait */
  wait_class is;
  uint32_t stack;
} class_at;

/* Whether a goroutine that ended a wait by what it did in a stack, `released`, may have got by an own wait, before,
 * what the other one waited for. For a lock, same_owner() decides. What else counts permits is told by waits in one
 * place. */
bool got_by(waits *w, class_at wait, class_at own, uint32_t released);

/* own_function(); or else the outermost function of Go, or what the goroutine is called; 0: unknown. */
uint32_t place_of(waits *w, uint32_t stack, const goroutine *g);

#endif
