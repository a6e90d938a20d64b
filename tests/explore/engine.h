/* engine.h - the scheduler of tests/explore/explore.c: runs a scenario repeatedly, each time under another schedule.
 *
 * A SCHEDULE is the list of switches that differ from the default: "12:1,40:2" switches to thread 1 at step 12 and to
 * thread 2 at step 40. A step is an operation of platform.h, or a point where the running thread blocks. By
 * default the running thread continues; if it cannot, the first thread that can run does.
 *
 * SEARCH: depth first, with at most `bound` preemptions (switches away from a thread that could continue). Preemption
 * is possible only before operations on shared memory: locations that two threads use in the concurrent part of a run,
 * at least one of them writing. The search learns which locations are shared, and restarts when it learns of another
 * one.
 *
 * REDUCTION: two schedules that order these operations in the same way are equivalent. Each operation has a hash of its
 * predecessors: the previous operation of its thread, the last write to its location and, for a write, the reads since
 * then. The sum of all hashes is the state's signature. A run is pruned when it reaches a known combination of
 * signature and running thread with no more preemptions left than before. As in Musuvathi and Qadeer, "Iterative
 * context bounding for systematic testing of multithreaded programs" (CHESS).
 *
 * CANCELLATION: a thread that has been cancelled ends where it waits, if it may be cancelled there.
 *
 * TIME is a Lamport clock along the same order, so equivalent schedules have equal times. Reading the clock takes one
 * tick. Since it is one clock for all threads, a round of the transcriber may go up to its end (GOTRACE__CLOCK_SKEW).
 * A scenario may give a thread another clock (explore_skew): one that is ahead of the others, that gains on them for a
 * while and falls back, or two in turn, as a thread has that moves between processors. GOTRACE__CLOCK_SKEW then exceeds
 * the difference.
 * A wait for a limited time ends in two ways: when what it waits for happens, or, if no other thread can run, by its
 * time-out. A stop's wait for calls under way (gotrace__await_calls) may also end by its time-out while other threads
 * can run. The thread in the call is then held up. That happens to one thread in a run.
 *
 * STALE READS: with --stale, some loads return a value that has been replaced, as C11 allows (memory.h). In a
 * schedule, "12:1" then stands for a load at step 12 that returns the value before the last.
 *
 * RECORDS: the engine notes what each thread publishes, and what is known to have been published before (R5).
 */
#ifndef EXPLORE_ENGINE_H
#define EXPLORE_ENGINE_H

#include <signal.h>
#include <sys/mman.h>

#ifndef EXPLORE_UCONTEXT
#define EXPLORE_UCONTEXT 0 /* 1: coroutines use ucontext, as on processors other than x86-64 */
#endif

#define EXPLORE_THREADS 10 /* 0: the scenario's main thread; then its other threads; the last: the service thread */
#define EXPLORE_SERVICE (EXPLORE_THREADS - 1)
#define EXPLORE_STACK ((size_t)256 << 10)
#define EXPLORE_ARENA ((size_t)64 << 20) /* bytes per thread; freed memory is not reused within a run */
#define EXPLORE_RED 32                   /* bytes of red zone after each allocation */
#define EXPLORE_STEPS 20000              /* a run with more steps counts as a livelock (random programs: more) */
#define EXPLORE_LOCATIONS 65536
#define EXPLORE_HELD 16
#define EXPLORE_MILLISECOND ((uint64_t)3000000) /* ticks */
#define EXPLORE_RECORDS 32768                   /* per thread */
#define EXPLORE_AHEAD ((uint64_t)100000)        /* ticks: by how much a skewed clock is ahead; below GOTRACE__FAR */

typedef enum explore_state {
  EXPLORE_IDLE, /* has no commands */
  EXPLORE_RUNNABLE,
  EXPLORE_WANTS_LOCK,
  EXPLORE_WAITS,       /* for a condition variable */
  EXPLORE_SPINS,       /* until the location that it read last is written */
  EXPLORE_SPINS_TIMED, /* the same, for a limited time */
  EXPLORE_JOINS,
  EXPLORE_LETS, /* until no other thread can run */
  EXPLORE_DONE
} explore_state;

/* A mutex that a thread has locked. */
typedef struct explore_held {
  const void *at;
  int rank;
} explore_held;

typedef struct explore_thread {
  void *stack, *sp;
  gotrace__thread *self; /* gotrace__self, gotrace__inside and gotrace__control_position while another thread runs */
  uintptr_t control;
  unsigned inside;
  explore_state state;
  const void *waits_for;
  uint32_t wakes;        /* of the condition variable, or writes of the location, when it began to wait */
  uint64_t milliseconds; /* time-out of the wait */
  bool expired;          /* the wait timed out: unless the thread waits again, it missed a wake-up */
  bool waits_cancellably;
  bool polls;      /* the wait is a reader's, who looks for work from time to time */
  bool timed;      /* it has read the clock since its last operation */
  bool cancel_off; /* cancellation is disabled */
  uint32_t cancel; /* cancellation was requested */
  int joins;       /* the thread that it joins; -1: all threads of the scenario */
  int line;
  uint64_t hash, time;
  bool ahead, drifts, moves;     /* its clock is ahead; gains and falls back; is another one at every other reading */
  uint32_t readings;             /* of its clock */
  unsigned former;               /* threads that have ended in its place */
  struct explore_location *read; /* by the last operation; NULL: that was not a read */
  explore_held held[EXPLORE_HELD];
  int held_count;
  void *exit_argument; /* of gotrace__at_thread_exit */
  const char *doing;   /* name of the call that it is in */
  unsigned command;    /* index of that call in the turn */
  char *arena;
  size_t used;
  uint32_t known[EXPLORE_THREADS]; /* records of each thread whose calls have returned before, by the program's order */
} explore_thread;

/* A record that a thread has published. */
typedef struct explore_record {
  uint32_t session;
  uint32_t known[EXPLORE_THREADS];
} explore_record;

typedef struct explore_location {
  const void *at;
  uint32_t shared; /* number of the scenario in which it is shared */
  uint32_t run;    /* the run to which the following fields belong */
  uint8_t users;   /* one bit per thread */
  bool written;
  uint16_t history, lock; /* see memory.h: index + 1; 0: none */
  uint32_t writes;
  uint64_t write_hash, read_hashes, write_time, read_time;
} explore_location;

/* The header before each allocation of the tracer. */
typedef struct explore_allocation {
  uint64_t magic;
  size_t size;
  struct explore_allocation *next;
  uint64_t live;
} explore_allocation;
#define EXPLORE_MAGIC 0x6578706c6f726521u

typedef struct explore_choice { /* a point in the search at which several threads can run */
  uint32_t step;
  uint8_t threads[EXPLORE_THREADS], count, current;
} explore_choice;

typedef struct explore_switch {
  uint32_t step;
  int thread;
} explore_switch;

typedef enum explore_mode { EXPLORE_SEARCH, EXPLORE_RANDOM, EXPLORE_REPLAY } explore_mode;
typedef enum explore_end { EXPLORE_FINISHED, EXPLORE_PRUNED, EXPLORE_LEARNED, EXPLORE_FAILED } explore_end;

#define EXPLORE_SWITCHES 65536
#define EXPLORE_CHOICES 65536
#define EXPLORE_SEEN ((size_t)1 << 21)

static struct explore {
  /* One run: */
  explore_thread threads[EXPLORE_THREADS];
  int running;
  bool together; /* the concurrent part of the scenario runs */
  uint32_t run, step, most_steps, at, expirations;
  const void *held_up;        /* what belongs to the thread that is held up in a call; NULL: none was */
  int left;                   /* remaining preemptions */
  unsigned stale, stale_left; /* stale reads per run; remaining ones */
  uint64_t signature;
  explore_switch switches[EXPLORE_SWITCHES];
  size_t switch_count;
  explore_end end;
  char failure[512];
  explore_record records[EXPLORE_THREADS][EXPLORE_RECORDS];
  uint32_t record_count[EXPLORE_THREADS];
  explore_allocation *allocations;
  size_t live_bytes;
  uint32_t lack; /* number of allocations since `lack` in the scenario */
  bool lacks;    /* allocations are counted */
  bool joined;   /* the service thread was joined */
  bool unloaded; /* ending threads no longer call the tracer */
  /* The search: */
  uint32_t lack_at;     /* the number of the allocation that fails; 0: none */
  bool lack_met;        /* a run has reached that allocation */
  bool protected_pages; /* the previous run may have left protected pages */
  bool pages;           /* allocations are whole pages, which are protected when freed */
  explore_mode mode;
  int bound;
  bool trace;
  explore_choice choices[EXPLORE_CHOICES];
  uint32_t choice_count;
  explore_location locations[EXPLORE_LOCATIONS];
  size_t location_count;
  uint32_t scenario;
  uint64_t search;             /* number of the search, part of the hashes in `seen` */
  uint64_t seen[EXPLORE_SEEN]; /* hash; the lowest 4 bits: preemptions left, plus 1 */
  size_t seen_count;
  uint64_t random;
  unsigned calm; /* random schedules: the thread changes at one operation of this many */
  const explore_switch *replay;
  size_t replay_count, replayed;
  void *engine; /* stack pointer of the engine */
} explore;

static void explore_thread_main(int thread);
static void explore_unwind(void);
static void explore_session_over(const gotrace__transcriber *t);
static int explore_rank(const void *lock);
#ifdef EXPLORE_OUTSIDE
enum { EXPLORE_IS_OUTSIDE = 1 };
static const void *explore_same_place(const void *at);
static void explore_change_process(int from, int to);
static void explore_reset_process(void);
#else
enum { EXPLORE_IS_OUTSIDE = 0 };
#define explore_same_place(at) (at)
#define explore_change_process(from, to) ((void)(from), (void)(to))
#define explore_reset_process() ((void)0)
#endif
static void explore_name(char *text, size_t size, const void *at);

/* ---------------------------------------------------------------------------------------------- coroutines ---- */

#if defined(__x86_64__) && !EXPLORE_UCONTEXT
void explore_swap(void **save, void *load);
__asm__(".text\n"
        ".type explore_swap,@function\n"
        "explore_swap:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size explore_swap,.-explore_swap\n");

static void explore_entry(void) {
  explore_thread_main(explore.running);
  abort();
}

/* Prepares a thread's stack so that switching to it starts the thread. */
static void *explore_fresh_stack(explore_thread *thread) {
  uint64_t *top = (uint64_t *)thread->stack + EXPLORE_STACK / sizeof(uint64_t);
  *--top = 0; /* the entry's return address: never used, but it aligns the stack as after a call */
  *--top = (uint64_t)(uintptr_t)explore_entry;
  top -= 6;
  memset(top, 0, 6 * sizeof *top);
  return top;
}
#else
#include <ucontext.h>
static ucontext_t explore_contexts[EXPLORE_THREADS + 1]; /* the last: the engine's */
static void explore_swap(void **save, void *load) {
  ucontext_t *from = *save ? (ucontext_t *)*save : &explore_contexts[EXPLORE_THREADS];
  *save = from;
  swapcontext(from, (ucontext_t *)load);
}
static void explore_entry(void) {
  explore_thread_main(explore.running);
  abort();
}
static void *explore_fresh_stack(explore_thread *thread) {
  ucontext_t *context = &explore_contexts[thread - explore.threads];
  getcontext(context);
  context->uc_stack.ss_sp = thread->stack;
  context->uc_stack.ss_size = EXPLORE_STACK;
  context->uc_link = NULL;
  makecontext(context, explore_entry, 0);
  return context;
}
#endif

/* Switches back to explore_run. Does not return. */
static void explore_leave(void) {
#if defined(__x86_64__) && !EXPLORE_UCONTEXT
  void *unused;
  explore_swap(&unused, explore.engine);
#else
  setcontext((ucontext_t *)explore.engine);
#endif
  abort();
}

/* Switches to another thread. */
static __attribute__((noinline)) void explore_switch_to(int to) {
  explore_thread *from = &explore.threads[explore.running];
  if (to == explore.running) return;
  /* Outside the concurrent part no operations are noted, but a switch orders the two threads. */
  if (!explore.together && explore.threads[to].time < from->time) explore.threads[to].time = from->time;
  from->self = gotrace__self;
  from->inside = gotrace__inside;
  from->control = gotrace__control_position;
  gotrace__inside = explore.threads[to].inside;
  gotrace__set_self(explore.threads[to].self);
  gotrace__control_position = explore.threads[to].control;
  explore_change_process(explore.running, to);
  explore.running = to;
  explore_swap(&from->sp, explore.threads[to].sp);
}

/* Ends the run. Does not return. */
static void explore_end_run(explore_end end) {
  explore.end = end;
  explore_leave();
}

__attribute__((format(printf, 1, 2))) static void explore_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(explore.failure, sizeof explore.failure, format, arguments);
  va_end(arguments);
  explore_end_run(EXPLORE_FAILED);
}

/* A crash is a failure like any other. The handler, which has its own stack, ends the run. */
static void explore_crash(int number) {
  explore_fail("%s: T%d (%s)", number == SIGSEGV ? "segmentation fault" : "bus error", explore.running,
               explore.threads[explore.running].doing ? explore.threads[explore.running].doing : "-");
}

static void explore_catch_crashes(void) {
  static char stack[65536];
  struct sigaction action;
  stack_t other;
  memset(&action, 0, sizeof action);
  memset(&other, 0, sizeof other);
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  action.sa_handler = explore_crash;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigaltstack(&other, NULL);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
}

/* -------------------------------------------------------------------------------------------------- memory ---- */

#define EXPLORE_PAGE ((size_t)4096)

#ifndef EXPLORE_OUTSIDE
static void explore_allocator_calls(void);

static size_t explore_in_pages(size_t size) { return (size + EXPLORE_RED + EXPLORE_PAGE - 1) & ~(EXPLORE_PAGE - 1); }

static bool explore_lack(void);

static void *explore_allocate(size_t size) {
  explore_thread *thread = &explore.threads[explore.running];
  size_t all = explore.pages ? EXPLORE_PAGE + explore_in_pages(size)
                             : ((sizeof(explore_allocation) + size + EXPLORE_RED + 63) & ~(size_t)63) + 64;
  char *at = thread->arena + thread->used + (explore.pages ? EXPLORE_PAGE - sizeof(explore_allocation) : 32);
  explore_allocation *allocation = (explore_allocation *)(void *)at;
  explore_allocator_calls();
  if (thread->used + all > EXPLORE_ARENA || (explore.lacks && explore_lack())) return NULL;
  thread->used += all;
  allocation->magic = EXPLORE_MAGIC;
  allocation->size = size;
  allocation->live = 1;
  allocation->next = explore.allocations;
  explore.allocations = allocation;
  explore.live_bytes += size;
  memset((char *)(allocation + 1) + size, 0xa5, EXPLORE_RED);
  return allocation + 1;
}

#define EXPLORE_FREED(size) ((size) < 256 ? (size) : 256) /* bytes that are overwritten when memory is freed */

/* Whether nobody has written beyond the allocation, nor into it after it was freed. */
static bool explore_whole(const explore_allocation *allocation) {
  const unsigned char *bytes = (const unsigned char *)(allocation + 1), *red = bytes + allocation->size;
  size_t i;
  if (allocation->magic != EXPLORE_MAGIC) return false;
  for (i = 0; !allocation->live && i < EXPLORE_FREED(allocation->size); i++)
    if (bytes[i] != 0xdf) return false;
  for (i = 0; i < EXPLORE_RED; i++)
    if (red[i] != 0xa5) return false;
  return true;
}

static void explore_free(void *memory, size_t size) {
  explore_allocation *allocation = (explore_allocation *)memory - 1;
  if (size == sizeof(gotrace__transcriber)) explore_session_over((const gotrace__transcriber *)memory);
  if (allocation->magic == EXPLORE_MAGIC && !allocation->live) explore_fail("freed twice: %zu bytes", size);
  if (!explore_whole(allocation)) explore_fail("a write beyond an allocation of %zu bytes, or a wild free", size);
  if (allocation->size != size) explore_fail("freed as %zu bytes what has %zu", size, allocation->size);
  allocation->live = 0;
  explore.live_bytes -= size;
  memset(memory, 0xdf, EXPLORE_FREED(size)); /* to expose uses after the free */
  if (explore.pages && mprotect(memory, explore_in_pages(size), PROT_NONE)) abort();
}
#endif

/* ----------------------------------------------------------------------------------------------- reduction ---- */

static inline uint64_t explore_mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

static explore_location *explore_find(const void *used) {
  const void *at = explore_same_place(used);
  size_t place = (size_t)(explore_mix((uintptr_t)at, 0) >> 13) % EXPLORE_LOCATIONS;
  explore_location *location = &explore.locations[place];
  while (location->at != at && location->at) {
    place = (place + 1) % EXPLORE_LOCATIONS;
    location = &explore.locations[place];
  }
  if (!location->at) explore.location_count++;
  location->at = at;
  if (location->run != explore.run) {
    uint32_t shared = location->shared;
    memset(location, 0, sizeof *location);
    location->at = at;
    location->shared = shared;
    location->run = explore.run;
  }
  return location;
}

/* Marks the location as shared if two threads have used it and one has written it. A search then restarts. */
static void explore_learn(explore_location *location) {
  if (!location->written || !(location->users & (location->users - 1))) return;
  location->shared = explore.scenario;
  if (explore.mode == EXPLORE_SEARCH) explore_end_run(EXPLORE_LEARNED);
}

/* Records an operation of the running thread: its hash, its time, the location's users. `hash`, `time`: of the store
 * that a load reads. */
static void explore_note_from(explore_location *location, bool write, uint64_t from, uint64_t time) {
  explore_thread *thread = &explore.threads[explore.running];
  uint64_t hash;
  thread->timed = false;
  location->users |= (uint8_t)(1 << explore.running);
  location->written |= write;
  if (location->shared != explore.scenario) explore_learn(location);
  hash = explore_mix(thread->hash, (uint64_t)(uintptr_t)location->at << 1 | write);
  hash = explore_mix(hash, from);
  if (thread->time < time) thread->time = time;
  if (write) {
    hash = explore_mix(hash, location->read_hashes);
    if (thread->time < location->read_time) thread->time = location->read_time;
    location->write_hash = hash;
    location->read_hashes = 0;
    location->write_time = thread->time;
    location->writes++;
    thread->read = NULL;
  } else {
    location->read_hashes += hash;
    if (location->read_time < thread->time) location->read_time = thread->time;
    thread->read = location;
  }
  thread->hash = hash;
  explore.signature += hash;
}

static void explore_note(explore_location *location, bool write) {
  explore_note_from(location, write, location->write_hash, location->write_time);
}

/* Whether this state was reached before with at least as many preemptions left. */
static bool explore_seen(int running) {
  uint64_t state = explore_mix(explore.signature, explore.search) + explore.stale_left;
  uint64_t key = explore_mix(state, (uint64_t)running + 1) & ~(uint64_t)15;
  size_t place = (size_t)(key >> 20) % EXPLORE_SEEN;
  uint64_t left = (uint64_t)explore.left + 1;
  if (!key) key = 16;
  for (; explore.seen[place]; place = (place + 1) % EXPLORE_SEEN)
    if ((explore.seen[place] & ~(uint64_t)15) == key) {
      if ((explore.seen[place] & 15) >= left) return true;
      explore.seen[place] = key | left;
      return false;
    }
  if (explore.seen_count > EXPLORE_SEEN / 4 * 3) return false; /* full: search on without recording */
  explore.seen[place] = key | left;
  explore.seen_count++;
  return false;
}

/* ------------------------------------------------------------------------------------------------ scheduler ---- */

static bool explore_can_run(const explore_thread *thread) {
  int i;
  switch (thread->state) {
  case EXPLORE_RUNNABLE: return true;
  case EXPLORE_WANTS_LOCK: return !((const gotrace__mutex *)thread->waits_for)->owner;
  case EXPLORE_WAITS:
    return ((const gotrace__cond *)thread->waits_for)->wakes != thread->wakes ||
           (thread->waits_cancellably && thread->cancel);
  case EXPLORE_SPINS:
  case EXPLORE_SPINS_TIMED: return ((const explore_location *)thread->waits_for)->writes != thread->wakes;
  case EXPLORE_JOINS:
    for (i = 1; i < EXPLORE_THREADS; i++)
      if ((i == thread->joins || (thread->joins < 0 && i != EXPLORE_SERVICE)) &&
          explore.threads[i].state != EXPLORE_DONE && explore.threads[i].state != EXPLORE_IDLE)
        return false;
    return true;
  case EXPLORE_LETS:
    for (i = 0; i < EXPLORE_THREADS; i++)
      if (&explore.threads[i] != thread && explore_can_run(&explore.threads[i])) return false;
    return true;
  default: return false;
  }
}

static void explore_deadlock(void) {
  char text[400] = "", name[64];
  int i;
  for (i = 0; i < EXPLORE_THREADS; i++) {
    const explore_thread *thread = &explore.threads[i];
    const char *what = thread->state == EXPLORE_WANTS_LOCK    ? "wants"
                       : thread->state == EXPLORE_WAITS       ? "waits on"
                       : thread->state == EXPLORE_SPINS       ? "spins on"
                       : thread->state == EXPLORE_SPINS_TIMED ? "spins for a time on"
                                                              : NULL;
    if (!what) continue;
    if (thread->state == EXPLORE_SPINS || thread->state == EXPLORE_SPINS_TIMED)
      explore_name(name, sizeof name, ((const explore_location *)thread->waits_for)->at);
    else explore_name(name, sizeof name, thread->waits_for);
    snprintf(text + strlen(text), sizeof text - strlen(text), "; T%d (%s) %s %s at line %d", i,
             thread->doing ? thread->doing : "-", what, name, thread->line);
    if (thread->state == EXPLORE_WANTS_LOCK)
      snprintf(text + strlen(text), sizeof text - strlen(text), ", which T%d has",
               (int)((const gotrace__mutex *)thread->waits_for)->owner - 1);
  }
  explore_fail("deadlock%s", text);
}

/* No thread can run: the wait with the shortest time-out expires. A reader's wait of an hour (see cut_milliseconds in
 * explore_once) counts as endless. */
static void explore_expire(void) {
  explore_thread *soonest = NULL;
  int i;
  for (i = 0; i < EXPLORE_THREADS; i++) {
    explore_thread *thread = &explore.threads[i];
    if (thread->state == EXPLORE_WAITS && thread->milliseconds < 1000000 && !thread->expired &&
        (!soonest || thread->milliseconds < soonest->milliseconds))
      soonest = thread;
  }
  if (!soonest || ++explore.expirations > explore.most_steps / 1000) explore_deadlock();
  if (soonest->polls &&
      (gotrace__t.work_wanted || gotrace__t.pieces || gotrace__t.ended || (gotrace__t.active && !gotrace__on)))
    explore_fail("lost wake-up: the reader T%d has work, and goes on only when its wait times out, line %d",
                 (int)(soonest - explore.threads), soonest->line);
  soonest->expired = !soonest->polls;
  soonest->state = EXPLORE_RUNNABLE;
  soonest->time += soonest->milliseconds * EXPLORE_MILLISECOND;
}

/* Whether the thread waits for a limited time, for something that has not happened, and may wait in vain. */
static bool explore_may_give_up(const explore_thread *thread) {
  return thread->state == EXPLORE_SPINS_TIMED && !explore_can_run(thread) &&
         (!explore.held_up || explore.held_up == thread->waits_for);
}

/* The thread's wait ends by its time-out while others could run. */
static void explore_give_up(explore_thread *thread) {
  explore.held_up = thread->waits_for;
  thread->time += GOTRACE__STOP_NANOSECONDS / 1000000 * EXPLORE_MILLISECOND;
  thread->hash = explore_mix(thread->hash, 2000);
  explore.signature += thread->hash;
}

/* Advances a random number: its upper bits are the better ones. */
static uint64_t explore_next_random(uint64_t *random) {
  return *random = *random * 6364136223846793005u + 1442695040888963407u;
}

static int explore_pick_search(const uint8_t *threads, unsigned count, bool goes_on) {
  explore_choice *choice;
  if (explore.at < explore.choice_count) {
    choice = &explore.choices[explore.at];
    if (count > 1) {
      if (choice->step == explore.step) {
        explore.at++;
        if (choice->count != count) explore_fail("the scenario is not deterministic");
        return choice->threads[choice->current];
      }
      if (choice->step < explore.step) explore_fail("the scenario is not deterministic");
    }
    return threads[0];
  }
  /* Where there is no choice, looking up one state in eight suffices. Which ones depends only on the state. */
  if ((count > 1 || !goes_on || explore.signature % 8 == 0) && explore_seen(goes_on ? explore.running : -1))
    explore_end_run(EXPLORE_PRUNED);
  if (count == 1) return threads[0];
  if (explore.choice_count == EXPLORE_CHOICES) explore_fail("too many choices");
  choice = &explore.choices[explore.choice_count++];
  explore.at = explore.choice_count;
  choice->step = explore.step;
  choice->count = (uint8_t)count;
  choice->current = 0;
  memcpy(choice->threads, threads, count);
  return threads[0];
}

static int explore_pick(const uint8_t *threads, unsigned count, bool goes_on) {
  unsigned i;
  if (!explore.together) return threads[0];
  switch (explore.mode) {
  case EXPLORE_SEARCH: return explore_pick_search(threads, count, goes_on);
  case EXPLORE_RANDOM:
    explore_next_random(&explore.random);
    return goes_on && (explore.random >> 48) % explore.calm ? threads[0] : threads[(explore.random >> 33) % count];
  default:
    if (explore.replayed >= explore.replay_count || explore.replay[explore.replayed].step != explore.step)
      return threads[0];
    for (i = 0; i < count; i++)
      if (threads[i] == explore.replay[explore.replayed].thread) return explore.replayed++, threads[i];
    explore_fail("the schedule is not of this scenario: T%d cannot run at step %u",
                 explore.replay[explore.replayed].thread, explore.step);
    return 0;
  }
}

/* Chooses the next thread and switches to it. `goes_on`: the running thread can continue. */
static void explore_schedule(bool goes_on) {
  uint8_t threads[EXPLORE_THREADS];
  unsigned count = 0;
  int i, to;
  if (goes_on) threads[count++] = (uint8_t)explore.running;
  for (i = 0; i < EXPLORE_THREADS && (!goes_on || explore.left > 0 || explore.mode != EXPLORE_SEARCH); i++)
    if (!(goes_on && i == explore.running) && explore_can_run(&explore.threads[i])) threads[count++] = (uint8_t)i;
  /* Not the default, nor a preemption of its own: a thread in a call has been preempted already. */
  for (i = 0; i < EXPLORE_THREADS && count && !goes_on; i++)
    if (explore_may_give_up(&explore.threads[i])) threads[count++] = (uint8_t)i;
  if (!count) {
    explore_expire();
    explore_schedule(false);
    return;
  }
  to = explore_pick(threads, count, goes_on);
  if (to != threads[0]) {
    if (explore.switch_count < EXPLORE_SWITCHES) {
      explore.switches[explore.switch_count].step = explore.step;
      explore.switches[explore.switch_count++].thread = to;
    }
    if (goes_on) explore.left--;
  }
  if (explore.trace && to != explore.running) printf("        %-5u ---- T%d\n", explore.step, to);
  if (explore_may_give_up(&explore.threads[to])) explore_give_up(&explore.threads[to]);
  explore_switch_to(to);
}

/* Blocks the running thread until explore_can_run permits it to continue. */
static void explore_block(explore_state state, const void *waits_for, int line) {
  explore_thread *thread = &explore.threads[explore.running];
  thread->state = state;
  thread->waits_for = waits_for;
  thread->line = line;
  explore.step++;
  explore_schedule(false);
  thread->state = EXPLORE_RUNNABLE;
  thread->waits_for = NULL;
}

/* ----------------------------------------------------------------------------------------------- operations ---- */

static const char *const explore_ops[] = {"load", "store",  "add",  "exchange", "cas",
                                          "lock", "unlock", "wait", "wake",     "join"};

static void explore_show(const void *at, size_t size, enum explore_op op, uint64_t value, int line) {
  char name[64];
  uint64_t old = 0;
  explore_name(name, sizeof name, explore_same_place(at));
  if (size <= 8) memcpy(&old, at, size);
  printf("  %s %-5u T%d %5d %-8s %-28s 0x%llx", explore.together ? "  " : "--", explore.step, explore.running, line,
         explore_ops[op], name, (unsigned long long)old);
  if (op == EXPLORE_STORE || op == EXPLORE_ADD || op == EXPLORE_EXCHANGE || op == EXPLORE_CAS)
    printf(" %s 0x%llx", op == EXPLORE_ADD ? "+" : "->", (unsigned long long)value);
  printf("\n");
}

/* A step: another thread may run before the operation at `at`. */
static explore_location *explore_point(const void *at) {
  explore_location *location = explore_find(at);
  if (++explore.step > explore.most_steps)
    explore_fail("threads wait for each other in a circle, or a loop does not end");
  if (location->shared == explore.scenario || explore.mode != EXPLORE_SEARCH) explore_schedule(true);
  return location;
}

#include "memory.h"

static const void *explore_load(const void *at, size_t size, int order, int line) {
  explore_location *location;
  const explore_message *stale;
  if (!explore.together) {
    if (explore.trace) explore_show(at, size, EXPLORE_LOAD, 0, line);
    explore.threads[explore.running].read = NULL;
    return NULL;
  }
  location = explore_point(at);
  if (explore.trace) explore_show(at, size, EXPLORE_LOAD, 0, line);
  stale = explore_is_weak() ? explore_weak_load(location, size, order) : NULL;
  if (!stale) {
    explore_note(location, false);
    return NULL;
  }
  explore_note_from(location, false, stale->hash, stale->time);
  explore.threads[explore.running].read = NULL; /* a loop reads again */
  weak.value = stale->value;
  return &weak.value;
}

#ifndef EXPLORE_OUTSIDE
/* Whether this allocation fails. Which one fails depends on their order, which is therefore part of the state. */
static bool explore_lack(void) {
  if (explore.together) explore_note(explore_point(&explore.lack), true);
  if (++explore.lack != explore.lack_at) return false;
  explore.lack_met = true;
  return true;
}
#endif

static void explore_hold(const void *at, int rank, int line) {
  explore_thread *thread = &explore.threads[explore.running];
  int i;
  for (i = 0; i < thread->held_count; i++)
    if (thread->held[i].rank > rank) {
      char name[64], held[64];
      explore_name(name, sizeof name, at);
      explore_name(held, sizeof held, thread->held[i].at);
      explore_fail("lock order: T%d (%s) takes %s at line %d, and has %s", explore.running,
                   thread->doing ? thread->doing : "-", name, line, held);
    }
  if (thread->held_count == EXPLORE_HELD) explore_fail("too many locks held");
  thread->held[thread->held_count].at = at;
  thread->held[thread->held_count++].rank = rank;
}

static void explore_let_go(const void *at) {
  explore_thread *thread = &explore.threads[explore.running];
  int i;
  for (i = thread->held_count; i-- > 0;)
    if (thread->held[i].at == at) {
      memmove(&thread->held[i], &thread->held[i + 1], (size_t)(thread->held_count - i - 1) * sizeof thread->held[0]);
      thread->held_count--;
      return;
    }
}

/* Notes that the running thread publishes a record. */
static void explore_note_record(void) {
  explore_thread *thread = &explore.threads[explore.running];
  explore_record *record = &explore.records[explore.running][explore.record_count[explore.running]];
  if (explore.record_count[explore.running] == EXPLORE_RECORDS) explore_fail("too many records");
  record->session = gotrace__self->chunk->session;
  memcpy(record->known, thread->known, sizeof record->known);
  thread->known[explore.running] = ++explore.record_count[explore.running];
}

static void explore_store(void *at, size_t size, uint64_t value, enum explore_op op, int order, int line) {
  explore_location *location = explore.together ? explore_point(at) : NULL;
  if (explore.trace) explore_show(at, size, op, value, line);
  if (location) explore_note(location, true);
  if (location && explore_is_weak())
    explore_weak_store(location, size, op == EXPLORE_ADD ? explore_value(at, size) + value : value, order,
                       op != EXPLORE_STORE);
  if (!gotrace__t.gone && gotrace__self && gotrace__self->chunk && at == &gotrace__self->chunk->size &&
      op == EXPLORE_STORE)
    explore_note_record();
}

static void explore_cas(void *at, size_t size, const void *expected, uint64_t desired, int order, int line) {
  explore_location *location = explore.together ? explore_point(at) : NULL;
  bool succeeds = memcmp(at, expected, size) == 0;
  uint64_t old = 0;
  memcpy(&old, at, size);
  if (explore.trace) explore_show(at, size, EXPLORE_CAS, succeeds ? desired : old, line);
  if (location) explore_note(location, succeeds);
  if (!location || !explore_is_weak()) return;
  if (succeeds) {
    explore_weak_store(location, size, desired, order, true);
  } else {
    explore_history *history = explore_history_of(location, size, false);
    if (!history) return;
    weak.current[explore.running].at[location->history - 1] = history->stores[history->count - 1].number;
    explore_acquire(&history->stores[history->count - 1], order);
  }
}

static void explore_lock(gotrace__mutex *mutex, int line) {
  explore_location *location = explore.together ? explore_point(mutex) : NULL;
  while (mutex->owner) explore_block(EXPLORE_WANTS_LOCK, mutex, line);
  if (location) explore_note(location, true);
  if (location) explore_take_view(location);
  if (explore.trace) explore_show(mutex, sizeof *mutex, EXPLORE_LOCK, 0, line);
  mutex->owner = (uint32_t)explore.running + 1;
  explore_hold(mutex, explore_rank(mutex), line);
}

static void explore_unlock(gotrace__mutex *mutex, int line) {
  if (explore.together) {
    explore_location *location = explore_point(mutex);
    explore_note(location, true);
    explore_give_view(location);
  }
  if (explore.trace) explore_show(mutex, sizeof *mutex, EXPLORE_UNLOCK, 0, line);
  if (mutex->owner != (uint32_t)explore.running + 1)
    explore_fail("unlock of what the thread has not locked, line %d", line);
  mutex->owner = 0;
  explore_let_go(mutex);
}

static void explore_exit(void);

static int explore_cancel_off(void) {
  explore_thread *thread = &explore.threads[explore.running];
  int before = thread->cancel_off;
  thread->cancel_off = true;
  return before;
}

static void explore_cancel_restore(int before) { explore.threads[explore.running].cancel_off = before != 0; }

/* pthread_cancel. */
static void explore_cancel(int thread) {
  explore_store(&explore.threads[thread].cancel, sizeof(uint32_t), 1, EXPLORE_STORE, EXPLORE_SEQ_CST, 0);
  explore.threads[thread].cancel = 1;
}

/* Cancels the running thread in a wait, with the mutex held, as POSIX demands. The program's own clean-up runs, then
 * the thread ends. Does not return. */
static void explore_cancelled(gotrace__mutex *mutex, void (*cancelled)(void *mutex)) {
  explore_thread *thread = &explore.threads[explore.running];
  if (explore.trace) printf("     T%d is cancelled\n", explore.running);
  thread->expired = false;
  thread->cancel_off = true;
  cancelled(mutex);
  explore_unwind();
  thread->doing = "thread exit";
  explore_exit();
}

/* Waits. `cancelled` is not NULL if the wait is a cancellation point. A thread that is both woken and cancelled is
 * cancelled. */
static void explore_wait(gotrace__cond *cond, gotrace__mutex *mutex, uint64_t milliseconds,
                         void (*cancelled)(void *mutex), int line) {
  explore_thread *thread = &explore.threads[explore.running];
  thread->wakes = cond->wakes;
  thread->milliseconds = milliseconds;
  thread->expired = false;
  thread->waits_cancellably = cancelled && !thread->cancel_off;
  thread->polls = cancelled == gotrace__read_cancelled;
  explore_unlock(mutex, line);
  if (explore.trace) explore_show(cond, sizeof *cond, EXPLORE_WAIT, 0, line);
  explore_block(EXPLORE_WAITS, cond, line);
  if (explore.together) explore_note(explore_find(cond), thread->expired);
  if (explore.together && thread->waits_cancellably) explore_note(explore_find(&thread->cancel), false);
  explore_lock(mutex, line);
  if (thread->waits_cancellably && thread->cancel) explore_cancelled(mutex, cancelled);
  thread->waits_cancellably = false;
}

/* Called at the end of a call and of a thread. A thread whose wait timed out must have waited again since. Otherwise it
 * had work to do, and no thread had woken it. */
static void explore_check_woken(void) {
  explore_thread *thread = &explore.threads[explore.running];
  if (thread->expired)
    explore_fail("lost wake-up: T%d went on only when its wait timed out, line %d", explore.running, thread->line);
}

static void explore_wake(gotrace__cond *cond, int line) {
  if (explore.together) explore_note(explore_point(cond), true);
  if (explore.trace) explore_show(cond, sizeof *cond, EXPLORE_WAKE, 0, line);
  cond->wakes++;
}

static void explore_yield(int line) {
  explore_thread *thread = &explore.threads[explore.running];
  if (!thread->read) {
    if (!explore.together) return;
    if (++explore.step > explore.most_steps) explore_fail("a loop does not end, line %d", line);
    return;
  }
  thread->wakes = thread->read->writes;
  explore_block(thread->timed ? EXPLORE_SPINS_TIMED : EXPLORE_SPINS, thread->read, line);
}

/* Gives a thread a clock of its own: see "TIME" above. */
static void explore_skew(bool *sort) {
  *sort = true;
  explore_clock_skew = EXPLORE_AHEAD + 1;
}

/* How far the running thread's clock is ahead, at most EXPLORE_AHEAD. A trace begins at the clock that is behind:
 * between its start and its first round, more time passes than any difference. */
static uint64_t explore_ahead(explore_thread *thread) {
  uint32_t reading = ++thread->readings, gains = reading % 100;
  if (!gotrace__t.active) return 0;
  if (thread->ahead || (thread->moves && reading % 2)) return EXPLORE_AHEAD;
  return thread->drifts ? EXPLORE_AHEAD / 50 * (gains < 50 ? gains : 100 - gains) : 0;
}

static uint64_t explore_ticks(void) {
  explore_thread *thread = &explore.threads[explore.running];
  thread->read = NULL;
  explore_order_reading(thread);
  thread->time++;
  if (explore_is_weak()) explore_note_reading(thread->time);
  return thread->time + explore_ahead(thread);
}

/* A nanosecond has three ticks. Each reading takes a millisecond, so that loops with a deadline end; less if the clocks
 * of threads differ: a round reads the clock several times, and would otherwise end beyond that difference. */
static uint64_t explore_nanoseconds(void) {
  explore_thread *thread = &explore.threads[explore.running];
  uint64_t now = thread->time / 3;
  thread->time += explore_clock_skew ? EXPLORE_MILLISECOND / 1000 : EXPLORE_MILLISECOND;
  thread->timed = true;
  return now;
}

static uintptr_t explore_identity(void) { return (uintptr_t)explore.running + 1; }

/* A thread in the place of one that has ended has its id, as some systems give it, unless clocks differ: only the clock
 * tells which of two threads with one id came first. */
#define EXPLORE_FIRST_ID 101
#define EXPLORE_IDS 1000
static uint64_t explore_system_id(void) {
  unsigned former = explore_clock_skew ? explore.threads[explore.running].former : 0;
  return EXPLORE_FIRST_ID + (uint64_t)explore.running + (uint64_t)former * EXPLORE_IDS;
}

static void explore_at_exit(void *argument) {
  if (!explore.unloaded) explore.threads[explore.running].exit_argument = argument;
}

/* ------------------------------------------------------------------------------------------------- threads ---- */

/* What is known to be published before is also known to the thread from here on. */
static void explore_learn_records(explore_thread *thread, const uint32_t *known) {
  int i;
  for (i = 0; i < EXPLORE_THREADS; i++)
    if (thread->known[i] < known[i]) thread->known[i] = known[i];
}

/* Makes a thread runnable that is idle or has ended. */
static void explore_spawn(int thread) {
  explore_thread *child = &explore.threads[thread], *parent = &explore.threads[explore.running];
  if (child->state == EXPLORE_DONE) { /* a new thread */
    child->sp = explore_fresh_stack(child);
    child->self = NULL;
    child->former++;
  }
  child->state = EXPLORE_RUNNABLE;
  child->hash = explore_mix(parent->hash, (uint64_t)thread + 100);
  if (child->time < parent->time) child->time = parent->time;
  explore_learn_records(child, parent->known);
  explore_inherit_view(thread, explore.running);
}

static bool explore_run_service(int *handle) {
  explore.joined = false;
  explore_spawn(EXPLORE_SERVICE);
  *handle = EXPLORE_SERVICE;
  return true;
}

static void explore_join(int handle, int line) {
  explore_thread *thread = &explore.threads[explore.running];
  int i;
  if (handle == EXPLORE_SERVICE && explore.joined) explore_fail("the service thread is joined twice");
  explore.joined |= handle == EXPLORE_SERVICE;
  thread->joins = handle;
  explore_block(EXPLORE_JOINS, NULL, line);
  for (i = 1; i < EXPLORE_THREADS; i++)
    if (handle == i || (handle < 0 && i != EXPLORE_SERVICE)) {
      if (thread->time < explore.threads[i].time) thread->time = explore.threads[i].time;
      thread->hash = explore_mix(thread->hash, explore.threads[i].hash);
      explore_learn_records(thread, explore.threads[i].known);
      explore_inherit_view(explore.running, i);
    }
  explore.signature += thread->hash;
}

/* Lets all other threads run until none of them can. */
static void explore_let_run(void) { explore_block(EXPLORE_LETS, NULL, 0); }

/* Records that the running thread has run to its end, even if it made no operation since it was chosen. Otherwise this
 * state would be taken for the one before it ran. */
static void explore_note_end(void) {
  explore_thread *thread = &explore.threads[explore.running];
  thread->hash = explore_mix(thread->hash, 1000);
  explore.signature += thread->hash;
}

/* The running thread has no more commands. Returns when it is given another turn. */
static void explore_idle(void) {
  explore_note_end();
  explore.threads[explore.running].state = EXPLORE_IDLE;
  explore.step++;
  explore_schedule(false);
}

/* Ends the running thread, and runs its thread-exit callback as the C library would. Does not return. */
static void explore_exit(void) {
  explore_thread *thread = &explore.threads[explore.running];
  if (thread->exit_argument) {
    void *argument = thread->exit_argument;
    thread->exit_argument = NULL;
    gotrace__thread_gone(argument);
  }
  explore_check_woken();
  if (thread->held_count) explore_fail("T%d ends with a lock held", explore.running);
  if (gotrace__inside) explore_fail("T%d ends inside the tracer, as its records say", explore.running);
  if (gotrace__self && !explore.unloaded) explore_fail("T%d ends, and keeps its record", explore.running);
  thread->state = EXPLORE_DONE;
  explore.step++;
  explore_note_end();
  explore_schedule(false);
  abort();
}

/* Resets the world and runs the scenario's main thread until the run ends. */
static void explore_run(void) {
  int i;
  explore.run++;
  explore.step = explore.at = explore.expirations = 0;
  explore.held_up = NULL;
  memset(explore.record_count, 0, sizeof explore.record_count);
  explore.replayed = 0;
  explore.together = false;
  explore_clock_skew = 0;
  explore.left = explore.bound;
  explore.stale_left = explore.stale;
  explore_reset_memory();
  explore.signature = 0;
  explore.switch_count = 0;
  explore.allocations = NULL;
  explore.live_bytes = 0;
  explore.unloaded = explore.joined = explore.lacks = false;
  explore.lack = 0;
  explore.failure[0] = 0;
  for (i = 0; i < EXPLORE_THREADS; i++) {
    explore_thread *thread = &explore.threads[i];
    void *stack = thread->stack;
    char *arena = thread->arena;
    if (!stack) {
      stack = mmap(NULL, EXPLORE_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      arena = (char *)mmap((void *)(uintptr_t)(0x200000000000u + (uint64_t)i * EXPLORE_ARENA), EXPLORE_ARENA,
                           PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (stack == MAP_FAILED || arena == (char *)MAP_FAILED) abort();
    }
    if (explore.protected_pages && mprotect(arena, thread->used + EXPLORE_PAGE, PROT_READ | PROT_WRITE)) abort();
    memset(thread, 0, sizeof *thread);
    thread->stack = stack;
    thread->arena = arena;
    thread->sp = explore_fresh_stack(thread);
    thread->time = 1000000000;
    thread->hash = (uint64_t)i + 1;
    thread->state = i ? EXPLORE_IDLE : EXPLORE_RUNNABLE;
  }
  explore.protected_pages = explore.pages;
  memset(&gotrace__t, 0, sizeof gotrace__t);
  memset(&gotrace__init_lock, 0, sizeof gotrace__init_lock);
  explore_reset_process();
  gotrace__on = 0;
  gotrace__inside = 0;
  gotrace__set_self(NULL);
  gotrace__control_position = 0;
  explore.running = 0;
  explore_swap(&explore.engine, explore.threads[0].sp);
}

/* Begins a scenario. Locations are shared per scenario; the table is emptied only when it fills up. */
static void explore_begin_scenario(void) {
  explore.scenario++;
  if (explore.location_count < EXPLORE_LOCATIONS / 4) return;
  memset(explore.locations, 0, sizeof explore.locations);
  explore.location_count = 0;
}

/* Begins a search. It keeps what was learned about the scenario. */
static void explore_begin_search(void) {
  explore.choice_count = 0;
  explore.search++;
  if (explore.seen_count < EXPLORE_SEEN / 4) return;
  memset(explore.seen, 0, sizeof explore.seen);
  explore.seen_count = 0;
}

/* Advances to the next schedule of the search; false if there is none. */
static bool explore_next(void) {
  while (explore.choice_count) {
    explore_choice *choice = &explore.choices[explore.choice_count - 1];
    if (++choice->current < choice->count) return true;
    explore.choice_count--;
  }
  return false;
}

#endif
