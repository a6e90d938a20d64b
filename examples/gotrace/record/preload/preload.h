/* preload.h - what the files of the preloaded library share
 *
 * `gotrace record` runs a program with this library in LD_PRELOAD. The library defines functions of the C library,
 * which the program then calls instead: each reports to the tracer what the thread is about to do, and calls the real
 * function.
 *
 *     functions.h   the functions that it defines or calls
 *     preload.c     finding the real functions; start and end of the trace; per-thread state; stacks
 *     unwind.c      complete stacks
 *     looks.c       looking at the loaded modules
 *     ticks.c       CPU samples by timers, where the kernel allows no perf events
 *     threads.c     creation, names, join, exit
 *     locks.c       mutexes, read-write locks, condition variables, barriers, semaphores, spin locks, once; C11; futex
 *     io.c          system calls, files, network, poll, sleeps
 *     descriptors.c what is known of descriptors
 *     wakes.c       waits that another process ends
 *     process.c     fork, exec, dlclose, exit
 *     namespaces.c  processes that will not reach the recorder's files
 *     openmp.c      programs that use OpenMP: the adapter for it
 *     tracer.c      gotrace.h
 *
 * RULES
 *
 *   1. A function only passes the call on if the process is not traced or the thread is inside another function of the
 *      library (`tracing`). Otherwise signal handlers and the library's own calls would be reported as the program's.
 *   2. A call that does not wait reports nothing if it can tell: a function first tries without waiting.
 *   3. A waiter is listed before it waits, and a waker looks for waiters before it releases one (gotrace_wait_on,
 *      gotrace_wake).
 *   4. Nothing here calls malloc, takes a lock that the program can hold, or changes errno. */

#ifndef PRELOAD_H
#define PRELOAD_H

#include "functions.h"

#include "../board.h"
#include "gotrace.h"

/* The functions of the tracer: those of tracer.c, or of the program's own copy of gotrace.h once it has started that,
 * see gotrace__join(). */
extern const gotrace__calls *tracer_calls; /* atomic; NULL: a copy takes over from the other one, until which to wait */
const gotrace__calls *await_calls(void);
static inline const gotrace__calls *calls(void) {
  const gotrace__calls *now = __atomic_load_n(&tracer_calls, __ATOMIC_ACQUIRE);
  return LIKELY(now != NULL) ? now : await_calls();
}
#undef gotrace_enabled
#define gotrace_enabled() calls()->is_enabled()
#define gotrace_go_create_at calls()->go_create_at
#define gotrace_go_destroy_at calls()->go_destroy_at
#define gotrace_go_start calls()->go_start
#define gotrace_go_stop_at calls()->go_stop_at
#define gotrace_go_end calls()->go_end
#define gotrace_go_id calls()->go_id
#define gotrace_go_self calls()->go_self
#define gotrace_go_syscall_begin_at calls()->go_syscall_begin_at
#define gotrace_go_syscall_end calls()->go_syscall_end
#define gotrace_log_at calls()->log_at
#define gotrace_logf_at calls()->logf_at
#define gotrace_reason calls()->reason
#define gotrace_region_begin_at calls()->region_begin_at
#define gotrace_region_end_at calls()->region_end_at
#define gotrace_site_make_pc calls()->site_make_pc
#define gotrace_thread_create_at calls()->thread_create_at
#define gotrace_thread_begin calls()->thread_begin
#define gotrace_thread_begin_as calls()->thread_begin_as
#define gotrace_thread_end calls()->thread_end
#define gotrace_thread_rename calls()->thread_rename
#define gotrace_wait_begin_at calls()->wait_begin_at
#define gotrace_wait_on_at calls()->wait_on_at
#define gotrace_wait_end calls()->wait_end
#define gotrace_wake_at calls()->wake_at

#define EXPORT __attribute__((visibility("default")))
#define NOINLINE __attribute__((noinline))
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ----------------------------------------------------------------------------------------------------- threads ---- */

typedef struct thread thread; /* threads.c: a thread that the program created */

/* The kernel's account of a thread. */
struct usage {
  pthread_t handle;
  uint64_t go;       /* its goroutine's id */
  uint32_t number;   /* the thread's, of the kernel */
  uint64_t reported; /* atomic; nanoseconds of CPU time that are in the trace */
  uint64_t when;     /* time of that report, in milliseconds */
  uint32_t timer;    /* atomic; for CPU samples: the system's number of it, plus 1; 0: none */
};

/* All zero for a thread that the library has not seen. */
struct self {
  unsigned inside; /* inside a function of the library, so calls are passed on; JUMPED: a longjmp came in between */
  bool waits, in_system_call, waits_for_descriptor;
  bool resolves;
  bool blocks_ticks;
  uint32_t ticks; /* how many samples timers have taken */
  bool looked;    /* a walk has met code for the first time, so a library may have been loaded */
  thread *created;
  struct usage *usage; /* NULL: not known */
  /* The function that the thread is in. */
  uintptr_t function, caller;
  void *crashed;   /* the next event's stack is that which a signal has interrupted, by its context; NULL: own */
  uintptr_t taken; /* the next event's stack is that of a thread that took a lock and then returned to here; 0: own */
#if defined(__aarch64__)
  uintptr_t cfa;
#endif
  bool clockless; /* in strict seccomp */
  char *frame;
  char *stack_low, *stack_high; /* of the thread's own stack, at least the greater part of it; NULL: unknown */
  /* pthread_once */
  pthread_once_t *once;
  void (*once_function)(void);
};

#define JUMPED 2

extern __thread struct self self;

/* Whether a frame is on the thread's own stack, all of which is mapped from there to its end. Signal handlers may run
 * on another stack, and coroutines have stacks of their own, whose bounds are unknown. */
static inline bool on_own_stack(const char *frame) { return frame >= self.stack_low && frame < self.stack_high; }

/* Alone in pages that are zero in each child, also of a system call of the program's own. */
#define STATE_PAGES 65536
extern union recording {
  uint32_t on; /* atomic */
  char pages[STATE_PAGES];
} recording;

extern struct state {
  uint32_t stacks; /* RECORD_STACKS_... */
  bool only_waits; /* --min-syscall */
  bool children;
  bool plain_getc;                        /* getc and fgetc are the C library's */
  bool sandboxed;                         /* atomic; then the library makes no system call: see begin_sandbox() */
  int pid;                                /* of the traced process */
  const struct record_settings *settings; /* NULL: the process does not belong to a recording */
} state;

static inline bool in_sandbox(void) { return UNLIKELY(__atomic_load_n(&state.sandboxed, __ATOMIC_RELAXED)); }

/* Whether the process has no other thread. Those that the program makes by clone() do not count. */
#if defined(__GLIBC__)
extern char __libc_single_threaded __attribute__((weak)); /* since 2.32 */
static inline bool is_only_thread(void) { return &__libc_single_threaded && __libc_single_threaded; }
#else
static inline bool is_only_thread(void) { return false; }
#endif

bool recover(char *frame);

/* Whether the call is to be reported. */
#define tracing()                                              \
  (LIKELY(__atomic_load_n(&recording.on, __ATOMIC_RELAXED)) && \
   (LIKELY(!self.inside) || recover((char *)__builtin_frame_address(0))))

/* Where the stack pointer was before the call of the function that the thread is in. Only on x86 does it follow from
 * the frame's address. */
#if defined(__aarch64__)
#define NOTE_CFA() (self.cfa = (uintptr_t)__builtin_dwarf_cfa())
#define OWN_CFA self.cfa
#else
#define NOTE_CFA() ((void)0)
#define OWN_CFA ((uintptr_t)self.frame + 2 * sizeof(void *))
#endif

/* Records which function the thread is in, for stacks. Expand it in that function itself. */
#define ENTER(name)                                                                                             \
  (self.inside = 1, self.function = (uintptr_t)real.name, self.caller = (uintptr_t)__builtin_return_address(0), \
   self.frame = (char *)__builtin_frame_address(0), NOTE_CFA())
#define LEAVE() (self.inside = 0)

/* Defines a function that passes the call on: without a report if `passes` holds, otherwise with `before` and `after`
 * around it. `before` may declare variables. `first` comes before all that, and may return. */
#define REPORTED_AFTER(type, name, parameters, arguments, first, passes, before, after) \
  EXPORT type name parameters {                                                         \
    type result;                                                                        \
    first;                                                                              \
    if ((passes) || !tracing()) return REAL(name) arguments;                            \
    ENTER(name);                                                                        \
    before;                                                                             \
    result = real.name arguments;                                                       \
    after;                                                                              \
    LEAVE();                                                                            \
    return result;                                                                      \
  }
#define REPORTED(type, name, parameters, arguments, passes, before, after) \
  REPORTED_AFTER(type, name, parameters, arguments, (void)0, passes, before, after)

/* Waits in the real function, and reports it. */
#define WAIT_FOR(result, key, reason, name, arguments) \
  do {                                                 \
    ENTER(name);                                       \
    begin_wait(key, REASON_##reason);                  \
    result = real.name arguments;                      \
    end_wait();                                        \
    LEAVE();                                           \
  } while (0)

/* Each preserves errno. What a thread does is reported only if it is not in a call of the program's own tracer, and has
 * not told that itself. */
void begin_wait(const void *key, unsigned reason);
void end_wait(void);    /* does nothing if there is no wait */
void forget_wait(void); /* in a child of fork */
void begin_system_call(void);
void end_system_call(void);
unsigned wake(const void *key, unsigned count); /* returns how many it woke */
void apply_name(void);

/* The number of waiters by a hash of their keys, for a quick check whether anybody may wait for a key. */
#define WAITER_SLOTS 4096
extern uint32_t waiters[WAITER_SLOTS];
static inline uint32_t *waiters_of(const void *key) { return &waiters[(uintptr_t)key / 8 % WAITER_SLOTS]; }
static inline bool has_waiters(const void *key) { return __atomic_load_n(waiters_of(key), __ATOMIC_RELAXED) != 0; }

/* ----------------------------------------------------------------------------------------------------- reasons ---- */

/* Go's viewers count a reason whose name contains "sync" or "select" as synchronization. The waits of the first ones go
 * on after a signal handler that has SA_RESTART. (In those for children a child must not inherit a blocked signal.) */
#define REASONS(X)                                    \
  X(MUTEX, "sync: mutex", SYNC)                       \
  X(READ_LOCK, "sync: read lock", SYNC)               \
  X(WRITE_LOCK, "sync: write lock", SYNC)             \
  X(CONDITION, "sync: condition variable", COND_WAIT) \
  X(BARRIER, "sync: barrier", SYNC)                   \
  X(SPIN, "sync: spin lock", SYNC)                    \
  X(JOIN, "sync: join", SYNC)                         \
  X(ONCE, "sync: once", SYNC)                         \
  X(FILE_LOCK, "sync: file lock", SYNC)               \
  X(CHILD, "child process", GENERIC)                  \
  /* a handler may end these: see ticks.c */          \
  X(SEMAPHORE, "sync: semaphore", SYNC)               \
  X(FUTEX, "sync: futex", SYNC)                       \
  X(POLL, "select: poll", SELECT)                     \
  X(SELECT, "select", SELECT)                         \
  X(EPOLL, "select: epoll", SELECT)                   \
  X(MESSAGE, "message queue", CHAN_RECV)              \
  X(MESSAGE_FULL, "message queue full", CHAN_SEND)    \
  X(PIPE, "pipe", CHAN_RECV)                          \
  X(PIPE_FULL, "pipe full", CHAN_SEND)                \
  X(EVENT, "event descriptor", CHAN_RECV)             \
  X(TERMINAL, "terminal", GENERIC)                    \
  X(ASYNCHRONOUS, "asynchronous I/O", GENERIC)        \
  X(SIGNAL, "signal", GENERIC)

enum reason_name {
#define NUMBER(name, text, base) REASON_##name,
  REASONS(NUMBER)
#undef NUMBER
      REASON_NETWORK, /* Go's own reason */
  REASON_SLEEP,
  REASON_COUNT
};
static inline bool goes_on_after_handler(unsigned reason) { return reason < REASON_SEMAPHORE; }
extern unsigned reasons[REASON_COUNT];

/* --------------------------------------------------------------------------------------------------- the files ---- */

/* preload.c */
void start_trace(void);
void finish_trace(void);
bool finish_before_exec(const char *path, bool left); /* `left`: to another recorder. False: there was no trace */
void go_on_after_exec(void);                          /* which has failed */
bool has_own_action(int number);                      /* the library, for a signal */
bool begin_sandbox(bool strict); /* the process is about to enter one. Returns whether it is in one already */
void end_sandbox(bool was_in, bool has_entered); /* after the call; `was_in`: by begin_sandbox() */
void forget_trace(void);                         /* in a child of fork */
void set_board_socket(int socket);               /* in the environment of programs that are executed */
int look_for_files(void);                        /* 0, or why children of the process would not be traced */
void say_unreached(int error);                   /* there is such a child */
bool is_program_traced(void);                    /* by its own copy of the tracer */
void lose_program(void);                         /* in a child that no pthread_atfork handler knows */
bool is_traced_process(void);                    /* false in a child that shares or has copied its memory */
void let_others_run(void);
void take_lock(uint32_t *lock);
void drop_lock(uint32_t *lock);
void *allocate(size_t size); /* zeroed memory from the system, never freed; NULL: none */
uint64_t mix(uint64_t a, uint64_t b);

/* tracer.c */
void use_own_tracer(void);
gotrace_result hand_on(const gotrace__calls *to); /* its session, to another tracer */
gotrace_result start_in_box(void *box, const gotrace_options *options);
void tell_modules_now(void);    /* under the C library's lock of the modules */
void say_in_box(uint32_t why);  /* TRACE_EXECUTES..., or 0 */
void sync_box(void);            /* waits until the command has read all */
bool is_call_interrupted(void); /* of the tracer, by a signal handler */
void leave_box(bool goes_on);   /* in a child without handlers of fork; an interrupted call goes on there */
uint64_t size_of_box(const void *box);
void ask_snapshot(void);                   /* of the flight recorder */
void sandbox_tracer(bool in, bool strict); /* see gotrace__sandbox */

/* ticks.c */
extern struct ticks *ticks; /* atomic; NULL: no CPU samples by timers */
void prepare_ticks(struct ticks *memory, size_t size);
void begin_ticks(struct usage *u); /* of the calling thread */
void end_ticks(struct usage *u);
void check_ticks(void);   /* now and then: whether they are still wanted */
void give_up_ticks(void); /* of all threads, since the program uses the signal */
void stop_ticks(void);
bool leave_ticks(const sigset_t *waits_for); /* the thread, if that has the signal; returns whether it has */
void give_up_ticks_for(const sigset_t *set); /* if that has the signal */
struct tick_mask {
  uint64_t mask;
  uintptr_t of_select[2];
};
void change_system_call(long number, long a[6], struct tick_mask *copy);
bool take_tick(const siginfo_t *details, const void *context); /* false: the signal is the program's */
void ticks_after_fork(void);
const sigset_t *with_ticks(const sigset_t *mask, sigset_t *copy); /* adds the signal */
void block_ticks_now(void);
void unblock_ticks_now(void);

/* Around a call that a signal handler can end, although that has SA_RESTART. */
static inline void block_ticks(void) {
  if (UNLIKELY(__atomic_load_n(&ticks, __ATOMIC_RELAXED) != NULL)) block_ticks_now();
}
static inline void unblock_ticks(void) {
  if (UNLIKELY(self.blocks_ticks)) unblock_ticks_now();
}

/* Makes a call that waits for no time, once more if only a timer's signal has ended it. Not one that takes a set of
 * signals, since then it may be one of the program's. */
#define AGAIN(result, call)                                                                \
  do {                                                                                     \
    uint32_t before_call = self.ticks;                                                     \
    result = call;                                                                         \
    if (LIKELY(result >= 0) || errno != EINTR || LIKELY(before_call == self.ticks)) break; \
  } while (1)

/* threads.c */
void each_usage(void (*function)(struct usage *u)); /* of all threads that there have been; takes no lock */
#define THREAD_ENTRY __attribute__((section("thread_entry"), noinline)) /* where stacks end */
void threads_after_fork(void);
void begin_main_thread(void);
void begin_forked_thread(void);       /* in a child of fork, when the tracer has begun anew */
uint64_t read_clock(clockid_t clock); /* nanoseconds */
void report_usage(void);              /* of the calling thread, which is about to wait */
void report_all_usage(void);          /* of all threads, at the end of the trace */

/* wakes.c */
extern struct wakes *shared_wakes;            /* NULL: there are none */
static inline bool does_anybody_share(void) { /* wait for something in memory that processes share */
  return UNLIKELY(shared_wakes != NULL) && __atomic_load_n(&shared_wakes->sharing, __ATOMIC_RELAXED);
}
enum { NEWEST = 0 };                      /* only the last note counts, as of a mutex */
void listen_to_shared(const void *place); /* before a wait for it */
/* As wake(), also in other processes. `notes`: for how many waits there, or NEWEST. */
void wake_shared(const void *place, unsigned wakes, unsigned notes);
void begin_wakes(struct wakes *memory, uint32_t index);
void count_fork(bool begins); /* a child, which will be traced; false: its trace has begun, or it does not begin */
void end_fork(void);          /* in the parent */
void end_wakes(uint32_t why); /* TRACE_EXECUTES...; 0: the process goes on */
void wakes_after_fork(void);
/* Of waits for a pipe or socket, in all processes: the same for whoever writes to it and whoever reads that. Sets none
 * for another file. */
void find_wake_keys(int fd, const struct stat *status, uint64_t *in, uint64_t *out);
void tell_duplicate(int to); /* the descriptor is now another one's duplicate */
/* These only if there are wakes: */
void note_transfer(int fd, bool writes);               /* before it; it may end waits of others */
void listen_to(int fd, bool writes);                   /* before a wait until the descriptor can be read, or written */
void listen_to_signals(const sigset_t *set, bool but); /* `but`: all but these */
void note_signal(pid_t process, int signal);
void take_shared(const void *place); /* after the thread has taken something there without a wait */
void tell_sender(int signal);        /* after a wait for signals; 0: any of them that the program handles */
void tell_waker(bool failed);        /* after the wait; if that failed, nobody is told */
uint64_t wake_time(void);            /* now; 0: there are no wakes */
void tell_only_child(uint64_t begun, uint64_t ended); /* the same, if only one has begun and ended since these times */
void tell_child(pid_t child);                         /* which has ended, and so a wait; not positive: none */

/* locks.c */
void locks_after_fork(void);

/* looks.c */
bool begin_look(void); /* at the modules, under the C library's lock; false: not now, without end_look */
void end_look(void);
void begin_modules_call(void); /* of the program, which takes that lock */
void end_modules_call(void);
void looks_after_fork(void);

/* namespaces.c */
void connect_to_recorder(void); /* whose files this process may not reach soon; does nothing if it is connected */
bool can_ask(void);
int ask_for_settings(int socket, int command);            /* a file; -1: see errno */
int ask_for_box(int files[BOARD_FILES], uint32_t *index); /* a connection; -1: see errno */
void say_started(int connection, const struct board_start *start);
void before_system_call(long number, const long a[6]);

/* process.c */
/* Around a call whose child has a copy of the memory, and in which no pthread_atfork handlers run. */
enum copy { COPY_UNTRACED, COPY_TRACED, COPY_IN_CALL };
enum copy before_copy(void);
void after_copy(enum copy of);       /* in the child */
int library_for(const char *path);   /* the library for a program or script; -1: none can be loaded */
int why_unreached(const char *path); /* 0, or why a child that executes a program or script would not be traced */
const char *without_library(const char *preload);
void tell_modules(void); /* to the command, which names functions; see gotrace__box_modules */
void tell_loaded(void);  /* the same, if libraries have been loaded since the last time */

/* descriptors.c */
enum kind { UNKNOWN, READY /* never waits for another thread */, PIPE, SOCKET, EVENT, TERMINAL };
enum kind kind_of(int fd);
/* Identifies an open pipe or socket by its inode number, which both ends of a pipe share. All event descriptors have
 * the same number, so the descriptor tells them apart. It is compared first. NULL: there is none. */
const void *key_of(int fd);
uint64_t wake_key_of(int fd, bool writes);      /* see find_wake_keys(); 0: none */
void compare_descriptor(int fd, uint64_t time); /* if what is known of it is old; `time`: nanoseconds */
void forget_descriptor(int fd);
void forget_descriptors(void); /* all */

/* io.c */
void io_after_fork(void);
void io_abandon_wait(void); /* the thread is cancelled, or a signal handler has jumped */

#endif
