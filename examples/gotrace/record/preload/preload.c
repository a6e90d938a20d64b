/* preload.c - real functions, start and end of the trace, thread states, stacks: see preload.h */

#include "preload.h"

#include "../names.h"
#include "unwind.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#if !HAS_UNWINDER
#include <unwind.h>
#endif

static int early_trylock(pthread_mutex_t *mutex);
static int early_unlock(pthread_mutex_t *mutex);

/* Two functions that are called without checking whether they have been found. */
struct real real = {.pthread_mutex_trylock = early_trylock, .pthread_mutex_unlock = early_unlock};
struct state state;
union recording recording __attribute__((aligned(STATE_PAGES)));
__thread struct self self;
unsigned reasons[REASON_COUNT];
uint32_t waiters[WAITER_SLOTS];

/* ---------------------------------------------------------------------------------------------- real functions ---- */

typedef long any_function(void);

static long nothing(void) { return 0; }

static long missing(void) {
  errno = ENOSYS;
  return -1;
}

/* A later definition may be another preloaded library's, which calls the C library's. */
static void *find(const char *name, const char *version) {
  void *found = NULL;
#if defined(__GLIBC__)
  if (version) found = dlvsym(RTLD_NEXT, name, version);
#else
  (void)version;
#endif
  return found ? found : dlsym(RTLD_NEXT, name);
}

/* The look-up may allocate, and the allocator may take a lock, which calls this function again. No other thread can
 * exist at that time. */
void resolve(void) {
  int kept = errno;
  void *found;
  any_function *instead = missing;
  if (self.resolves) {
#define FIELD(result, name, parameters, version) \
  if (!real.name) memcpy(&real.name, &instead, sizeof real.name);
    OPENS(FIELD)
    instead = nothing;
    FUNCTIONS(FIELD)
#undef FIELD
    return;
  }
  self.resolves = true;
#define FIELD(result, name, parameters, version)           \
  found = find(#name, version);                            \
  if (found) memcpy(&real.name, &found, sizeof real.name); \
  else memcpy(&real.name, &instead, sizeof real.name);
  FUNCTIONS(FIELD)
#undef FIELD
  found = find("_IO_getc", NULL); /* glibc's other name for both */
  state.plain_getc = memcmp(&real.getc, &found, sizeof found) == 0 && memcmp(&real.fgetc, &found, sizeof found) == 0;
  self.resolves = false;
  errno = kept;
}

static int early_trylock(pthread_mutex_t *mutex) {
  if (self.resolves) return 0;
  resolve();
  return real.pthread_mutex_trylock(mutex);
}

static int early_unlock(pthread_mutex_t *mutex) {
  if (self.resolves) return 0;
  resolve();
  return real.pthread_mutex_unlock(mutex);
}

/* ------------------------------------------------------------------------------------------------------ pieces ---- */

void let_others_run(void) {
  if (!in_sandbox()) REAL(syscall)(SYS_sched_yield);
}

void take_lock(uint32_t *lock) {
  unsigned spins = 0;
  while (__atomic_exchange_n(lock, 1u, __ATOMIC_ACQUIRE))
    if (++spins > 100) let_others_run();
}

void drop_lock(uint32_t *lock) { __atomic_store_n(lock, 0u, __ATOMIC_RELEASE); }

void *allocate(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 29 ^ b) * 0x94d049bb133111ebu;
  return h ^ h >> 32;
}

/* ------------------------------------------------------------------------------------------------------- waits ---- */

static __thread const void *waited_key;

void begin_wait(const void *key, unsigned reason) {
  int kept = errno;
  if (!goes_on_after_handler(reason)) block_ticks();
  if (UNLIKELY(!calls()->may_report())) return;
  apply_name();
  report_usage();
  if (is_only_thread()) key = NULL; /* nobody can wake it by that, and the tracer would take locks for it */
  if (key) __atomic_fetch_add(waiters_of(key), 1u, __ATOMIC_RELAXED);
  waited_key = key;
  gotrace_wait_on_at(NULL, key, reasons[reason]);
  self.waits = true;
  if (UNLIKELY(self.looked)) tell_loaded();
  errno = kept;
}

void end_wait(void) {
  int kept = errno;
  unblock_ticks();
  if (!self.waits) return;
  self.waits = false;
  gotrace_wait_end();
  if (waited_key) __atomic_fetch_sub(waiters_of(waited_key), 1u, __ATOMIC_RELAXED);
  waited_key = NULL;
  errno = kept;
}

void forget_wait(void) {
  self.waits = self.in_system_call = false;
  waited_key = NULL;
}

void begin_system_call(void) {
  int kept = errno;
  if (UNLIKELY(!calls()->may_report())) return;
  apply_name();
  gotrace_go_syscall_begin_at(NULL);
  self.in_system_call = true;
  if (UNLIKELY(self.looked)) tell_loaded();
  errno = kept;
}

void end_system_call(void) {
  int kept = errno;
  if (!self.in_system_call) return;
  self.in_system_call = false;
  gotrace_go_syscall_end();
  errno = kept;
}

unsigned wake(const void *key, unsigned count) {
  int kept = errno;
  unsigned woken;
  if (UNLIKELY(calls()->in_call(NULL))) return 0;
  woken = gotrace_wake_at(NULL, key, count);
  if (UNLIKELY(self.looked)) tell_loaded();
  errno = kept;
  return woken;
}

/* A thread that is cancelled inside one of the library's functions runs its clean-up handlers where that function's
 * frame was, so another return address is there. musl runs them above that frame, as a signal handler. */
__attribute__((no_sanitize("address"))) static bool is_cancelled(void) {
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__i386__))
  return on_own_stack(self.frame) && ((const uintptr_t *)(const void *)self.frame)[1] != self.caller;
#else
  return false;
#endif
}

/* A signal handler that interrupted one of the library's functions may have left it by longjmp or another kind of jump.
 * Only a frame above that function's frame shows this, if both are on the thread's own stack.
 * If the handler jumped within itself, the rest of the interrupted wait is not shown. */
NOINLINE bool recover(char *frame) {
  bool above = frame > self.frame && on_own_stack(self.frame) && on_own_stack(frame);
  if (!self.frame || !(above || self.inside == JUMPED || is_cancelled())) return false;
  if (self.waits) end_wait();
  if (self.in_system_call) end_system_call();
  unblock_ticks();
  io_abandon_wait();
  tell_waker(true);
  self.inside = 0;
  return true;
}

/* --------------------------------------------------------------------------------------------------------- stacks ----
 *
 * A stack begins with the C library function that the program called.
 */

/* The bounds of the section with the functions that start threads; defined by the linker. */
extern const char __start_thread_entry[] __attribute__((visibility("hidden")));
extern const char __stop_thread_entry[] __attribute__((visibility("hidden")));

static bool starts_threads(uintptr_t pc) {
  return pc > (uintptr_t)__start_thread_entry && pc <= (uintptr_t)__stop_thread_entry;
}

#if HAS_UNWINDER
static bool find_unwinder(void) {
  unwind_init();
  return true;
}

/* From the caller of the library's function on, whose frame the library knows. */
__attribute__((no_sanitize("address"))) static int unwind(uintptr_t *pcs, int max) {
  unwind_frame frame = {self.caller, OWN_CFA, *(const uintptr_t *)(const void *)self.frame, 0};
  unwind_stack stack = {(uintptr_t)self.frame, ((uintptr_t)self.frame | 4095) + 1};
  int count = 0;
  if (on_own_stack(self.frame)) stack.high = (uintptr_t)self.stack_high;
  do pcs[count++] = frame.pc;
  while (count < max && unwind_step(&frame, &stack) && !starts_threads(frame.pc));
  return count;
}
#else
/* By the compiler's library, which finds this library's own frames first. */
static struct {
  _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
  uintptr_t (*ip)(struct _Unwind_Context *);
} unwinder;

static bool find_unwinder(void) {
  void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL), *found;
  if (!library) return false;
  found = dlsym(library, "_Unwind_Backtrace");
  memcpy(&unwinder.backtrace, &found, sizeof found);
  found = dlsym(library, "_Unwind_GetIP");
  memcpy(&unwinder.ip, &found, sizeof found);
  return unwinder.backtrace && unwinder.ip;
}

struct walk {
  uintptr_t *pcs;
  int count, max;
  bool found; /* past the library's own frames */
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *argument) {
  struct walk *w = argument;
  uintptr_t ip = unwinder.ip(context);
  if (ip == self.caller) w->found = true;
  if (starts_threads(ip)) return _URC_END_OF_STACK;
  if (w->found && ip) {
    if (w->count == w->max) return _URC_END_OF_STACK;
    w->pcs[w->count++] = ip;
  }
  return _URC_NO_REASON;
}

static int unwind(uintptr_t *pcs, int max) {
  struct walk w = {pcs, 0, max, false};
  unwinder.backtrace(take_frame, &w);
  return w.count;
}
#endif

/* A thread's first function returns to this library; its frame is the last one. Functions compiled without frame
 * pointers leave any value in the register, so a link of the chain may lead anywhere. It is followed only up the
 * thread's own stack, where reading cannot fail. */
__attribute__((no_sanitize("address"))) static int walk_frames(uintptr_t *pcs, int max) {
  char **frame = (char **)(void *)self.frame;
  int count = 0;
  while (count < max) {
    char *up = frame[0];
    if (up <= (char *)frame || up > self.stack_high - 2 * sizeof *frame || (uintptr_t)up % sizeof *frame) break;
    frame = (char **)(void *)up;
    if (!frame[1] || (self.created && frame[0] == self.stack_high)) break;
    pcs[count++] = (uintptr_t)frame[1];
  }
  return count;
}

/* Of the code that a signal has interrupted; after a call of a null pointer, of its caller. */
__attribute__((no_sanitize("address"))) static int take_interrupted(uintptr_t *pcs, int max) {
#if HAS_UNWINDER
  const ucontext_t *context = self.crashed;
#if defined(__x86_64__)
  const greg_t *registers = context->uc_mcontext.gregs;
  unwind_frame frame = {(uintptr_t)registers[REG_RIP] + 1, (uintptr_t)registers[REG_RSP], (uintptr_t)registers[REG_RBP],
                        0};
#else
  const mcontext_t *registers = &context->uc_mcontext;
  unwind_frame frame = {registers->pc + 1, registers->sp, registers->regs[29], registers->regs[30]};
#endif
  unwind_stack stack;
  int count = 0;
#if defined(__x86_64__)
  if (frame.pc <= 4096 && on_own_stack((const char *)frame.sp)) {
    frame.pc = *(const uintptr_t *)frame.sp;
    frame.sp += sizeof frame.pc;
  }
#endif
  stack.low = frame.sp & ~(sizeof(void *) - 1);
  stack.high = on_own_stack((const char *)frame.sp) ? (uintptr_t)self.stack_high : (frame.sp | 4095) + 1;
  do pcs[count++] = frame.pc;
  while (count < max && unwind_step(&frame, &stack) && !starts_threads(frame.pc));
  return count;
#else
  return (void)pcs, (void)max, 0;
#endif
}

static int take_stack(void *context, uintptr_t *pcs, int max) {
  int count;
  (void)context;
  if (self.crashed) return take_interrupted(pcs, max - 1);
  if (!self.inside || !self.function || max < 3) return 0;
  pcs[0] = self.function + 1; /* frames are return addresses */
  max--;                      /* `max` frames would count as truncated */
  if (self.taken) return pcs[1] = self.taken, 2;
  if (state.stacks == RECORD_STACKS_UNWIND && (count = unwind(pcs + 1, max - 1)) > 0) return 1 + count;
  pcs[1] = self.caller;
  if (state.stacks != RECORD_STACKS_FRAME_POINTERS || !on_own_stack(self.frame)) return 2;
  return 2 + walk_frames(pcs + 2, max - 2);
}

/* ----------------------------------------------------------------------------------------------- start and end ---- */

/* Opens the file with this identity; NULL: a regular file of this user. Anything else at the path, such as a device, is
 * not opened. */
static int open_known(const char *path, const struct file_identity *identity, int flags) {
  char known[64];
  struct stat status;
  int found = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC), file = -1, failure = ESTALE;
  if (found < 0) return -1;
  snprintf(known, sizeof known, "/proc/self/fd/%d", found);
  if (fstat(found, &status) == 0 &&
      (identity ? has_identity(&status, identity) : S_ISREG(status.st_mode) && status.st_uid == geteuid())) {
    file = openat(AT_FDCWD, known, flags | O_CLOEXEC | O_NOCTTY);
    failure = errno;
  }
  real.close(found);
  errno = failure;
  return file;
}

/* Opens a file that a process of the tool keeps. Fails if its process id now belongs to another process. */
static int open_kept_by(int process, const struct kept_file *kept, int flags) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", process, (int)kept->descriptor);
  return open_known(path, &kept->identity, flags);
}
static int open_kept(const struct kept_file *kept, int flags) {
  return open_kept_by((int)state.settings->keeper_pid, kept, flags);
}

/* Maps a file in memory, and closes it; a child of fork does not inherit the mapping. NULL: not possible. */
static void *map_file(int file, size_t size) {
  void *memory = file < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) real.close(file);
  if (memory == MAP_FAILED) return NULL;
  if (madvise(memory, size, MADV_DONTFORK) == 0) return memory;
  munmap(memory, size);
  return NULL;
}

static void *map_kept(const struct kept_file *kept, size_t size) { return map_file(open_kept(kept, O_RDWR), size); }

static int create_file(int folder, char *name) {
  const char *own = program_invocation_short_name;
  return create_trace(state.settings, folder, state.pid, own && *own ? own : "program", name);
}

static void remove_file(const char *name) {
  int folder = *name ? open_kept(&state.settings->folder, O_PATH | O_DIRECTORY) : -1;
  if (folder < 0) return;
  unlinkat(folder, name, 0);
  real.close(folder);
}

/* The file of this process's trace, which the tool writes. */
static struct {
  struct file_identity identity;
  char name[NAME_MAX + 1];
} trace;

static bool is_given_taken(const struct trace_list *list) {
  uint32_t count = __atomic_load_n(&list->count, __ATOMIC_ACQUIRE), i;
  for (i = 0; i < count && i < state.settings->traces; i++)
    if (__atomic_load_n(&list->entry[i].state, __ATOMIC_ACQUIRE) == TRACE_STARTED && !list->entry[i].name[0])
      return true;
  return false;
}

/* Opens the file of the process's trace. */
static int open_trace(const struct trace_list *list) {
  const struct record_settings *s = state.settings;
  struct stat status;
  int folder, file;
  trace.name[0] = 0;
  if (s->given.descriptor >= 0 && s->first_pid == state.pid && !is_given_taken(list)) {
    file = open_kept(&s->given, O_WRONLY);
  } else {
    folder = open_kept(&s->folder, O_PATH | O_DIRECTORY);
    file = folder < 0 ? -1 : create_file(folder, trace.name);
    if (folder >= 0) real.close(folder);
  }
  if (file >= 0 && fstat(file, &status) == 0) {
    trace.identity.device = (uint64_t)status.st_dev;
    trace.identity.inode = (uint64_t)status.st_ino;
  }
  return file;
}

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *limit) {
  return REAL(syscall)(SYS_futex, word, operation, value, limit, NULL, 0);
}

static uint32_t unreached; /* atomic; errno of children that cannot open the command's files */

/* Why the process ends, or 0. */
static void say(uint32_t why) {
  if (in_sandbox()) why |= SAID_SANDBOXED;
  say_in_box(why | __atomic_load_n(&unreached, __ATOMIC_RELAXED) << SAID_UNREACHED_SHIFT);
}

int look_for_files(void) {
  int kept = errno, cancel, file, error;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* the program's call is no point of cancellation */
  file = open_kept(&state.settings->list, O_RDWR);
  error = file < 0 ? errno : 0;
  if (file >= 0) real.close(file);
  else if (can_ask()) error = 0;
  pthread_setcancelstate(cancel, &cancel);
  errno = kept;
  return error;
}

void say_unreached(int error) {
  if (error && !__atomic_exchange_n(&unreached, (uint32_t)error, __ATOMIC_RELAXED)) say(0);
}

static void want_snapshot(int number) {
  int kept = errno;
  (void)number;
  ask_snapshot();
  errno = kept;
}

bool is_traced_process(void) { return in_sandbox() || (int)REAL(syscall)(SYS_getpid) == state.pid; }

/* Not in a vfork child. */
static bool is_traced(void) { return __atomic_load_n(&recording.on, __ATOMIC_ACQUIRE) && is_traced_process(); }

/* A thread gets a signal that ends the process. Until it does, which is soon, none of the others may end the process in
 * another way: the program would have another exit status than without the tracer. */
static uint32_t dying; /* atomic */

static void give_way_to_death(void) {
  const struct timespec tenth = {0, 100000000};
  unsigned i;
  uint32_t never = 0;
  int kept;
  if (!__atomic_load_n(&dying, __ATOMIC_ACQUIRE) || !is_traced_process()) return;
  kept = errno;
  for (i = 0; i < 10; i++) futex(&never, 0 /* FUTEX_WAIT */, 0, &tenth);
  errno = kept;
}

/* The signals that end a process by default. Not SIGTRAP, after which a program may go on, nor SIGSYS, with which a
 * sandbox forbids what the library would do. */
static const int fatal_signals[] = {
    SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, /* crashes */
    SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE, SIGALRM,   SIGUSR1,
    SIGUSR2, SIGPOLL, SIGXCPU, SIGXFSZ, SIGPROF, SIGVTALRM,
};
static const char *const crashes[] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"}; /* the first of them */
#define CRASHES COUNT(crashes)

/* Tells where the thread crashes. Inside a function of the library it may hold a lock. */
static void tell_crash(int number, void *context) {
  size_t i = 0;
  while (i < CRASHES && fatal_signals[i] != number) i++;
  if (i == CRASHES || self.inside || !calls()->may_report()) return;
  self.inside = 1;
  self.crashed = context;
  gotrace_log_at(NULL, GOTRACE_NO_TASK, RECORD_CRASH, crashes[i]);
  self.crashed = NULL;
  self.inside = 0;
}

/* The signal ends the program as without the tracer, with the same number and details. If several threads get such a
 * signal, the first one's ends the process. */
static void end_by_signal(int number, siginfo_t *details, void *context) {
  if (number == SIGPROF && take_tick(details, context)) return;
  if (is_traced()) {
    tell_crash(number, context);
    if (__atomic_exchange_n(&dying, 1u, __ATOMIC_ACQ_REL)) give_way_to_death();
    if (!self.inside && self.usage) { /* otherwise the thread may hold a lock, or has not begun */
      self.inside = 1;
      report_all_usage();
    }
    say(TRACE_KILLED);
    end_wakes(TRACE_KILLED);
  }
  real.signal(number, SIG_DFL);
  REAL(syscall)(SYS_rt_tgsigqueueinfo, REAL(syscall)(SYS_getpid), REAL(syscall)(SYS_gettid), number, details);
}

/* How many of them the library handles. The first process of a namespace ignores, by default, all but crashes. */
static size_t count_fatal(void) { return state.pid == 1 ? CRASHES : COUNT(fatal_signals); }

/* Handlers of the program for only one signal (SA_RESETHAND), by its place in `fatal_signals`. run_once() takes the
 * place of such a handler: where the kernel would set the default action before the call, it sets the library's. */
static struct once {
  handler *function; /* NULL: it has been called */
  int flags;
} handlers_for_once[COUNT(fatal_signals)];

static struct once *once_of(int number) {
  size_t i;
  for (i = 0; i < count_fatal(); i++)
    if (fatal_signals[i] == number) return &handlers_for_once[i];
  return NULL;
}

static void run_once(int number, siginfo_t *details, void *context);

/* Whatever the flags, since the program may have changed them: by siginterrupt, for example. */
static bool is_function(handler *function, void (*own)(int, siginfo_t *, void *)) {
  return memcmp(&function, &own, sizeof function) == 0;
}

static bool is_own_handler(handler *function) { return is_function(function, end_by_signal); }

/* A timer's signal is handled wherever the thread is: an alternate stack may be small. */
static void make_own_action(int number, struct sigaction *action) {
  memset(action, 0, sizeof *action);
  action->sa_sigaction = end_by_signal;
  action->sa_flags = SA_SIGINFO | (number == SIGPROF ? SA_RESTART : SA_ONSTACK);
  sigfillset(&action->sa_mask);
}

static void run_once(int number, siginfo_t *details, void *context) {
  handler *kept = __atomic_exchange_n(&once_of(number)->function, NULL, __ATOMIC_ACQ_REL);
  void (*function)(int, siginfo_t *, void *);
  struct sigaction own;
  if (!kept) { /* another thread has got it, too */
    end_by_signal(number, details, context);
    return;
  }
  make_own_action(number, &own);
  real.sigaction(number, &own, NULL);
  memcpy(&function, &kept, sizeof function);
  function(number, details, context);
}

/* The program does not see the library's actions. */
static void reveal(int number, struct sigaction *action) {
  bool own = is_own_handler(action->sa_handler);
  if (is_function(action->sa_handler, run_once)) {
    action->sa_handler = __atomic_load_n(&once_of(number)->function, __ATOMIC_ACQUIRE);
    action->sa_flags = once_of(number)->flags;
    own = !action->sa_handler;
  }
  if (!own) return;
  memset(action, 0, sizeof *action);
  action->sa_handler = SIG_DFL;
}

static handler *visible(int number, handler *old) {
  struct sigaction action;
  action.sa_handler = old;
  reveal(number, &action);
  return action.sa_handler;
}

/* After the program has set an action: run_once() takes the place of a handler that is called only once. */
static void look_for_once(int number) {
  struct sigaction now;
  struct once *once = once_of(number);
  if (!once || in_sandbox() || !is_traced() || real.sigaction(number, NULL, &now) != 0) return;
  if (!(now.sa_flags & (int)SA_RESETHAND) || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) return;
  once->flags = now.sa_flags;
  __atomic_store_n(&once->function, now.sa_handler, __ATOMIC_RELEASE);
  now.sa_flags = (now.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
  now.sa_sigaction = run_once;
  real.sigaction(number, &now, NULL);
}

/* Handles fatal signals for which the program has no handler, or no longer does. */
static void handle_fatal_signals(bool wanted) {
  struct sigaction now, own;
  size_t i;
  for (i = 0; i < count_fatal(); i++) {
    if (real.sigaction(fatal_signals[i], NULL, &now) != 0) continue;
    make_own_action(fatal_signals[i], &own);
    if (wanted && now.sa_handler == SIG_DFL) real.sigaction(fatal_signals[i], &own, NULL);
    if (wanted) look_for_once(fatal_signals[i]);
    if (wanted || (!is_own_handler(now.sa_handler) && !is_function(now.sa_handler, run_once))) continue;
    reveal(fatal_signals[i], &now);
    real.sigaction(fatal_signals[i], &now, NULL);
  }
}

/* Whether the library's action takes the place of one that the program sets. */
static bool takes_place_of(int number, handler *function) {
  return function == SIG_DFL && !in_sandbox() && once_of(number) && is_traced();
}

/* The program sets an action. */
static void before_action(int number) {
  if (number == SIGPROF) give_up_ticks();
}

bool has_own_action(int number) {
  struct sigaction now;
  return real.sigaction(number, NULL, &now) == 0 && is_own_handler(now.sa_handler);
}

EXPORT int sigaction(int number, const struct sigaction *new, struct sigaction *old) {
  struct sigaction own;
  int result;
  if (new != NULL && takes_place_of(number, new->sa_handler)) {
    make_own_action(number, &own);
    new = &own;
  } else if (new != NULL) {
    before_action(number);
  }
  result = REAL(sigaction)(number, new, old);
  if (result == 0 && old) reveal(number, old);
  if (result == 0 && new) look_for_once(number);
  return result;
}

/* Sets the library's action in one step, so that no signal finds the default one. */
static handler *set_own_action(int number) {
  struct sigaction own, old;
  make_own_action(number, &own);
  return REAL(sigaction)(number, &own, &old) == 0 ? visible(number, old.sa_handler) : SIG_ERR;
}

/* The older functions differ only in the flags of a handler. */
#define SIGNAL(name)                                                \
  handler *name(int number, handler *new);                          \
  EXPORT handler *name(int number, handler *new) {                  \
    handler *old;                                                   \
    if (takes_place_of(number, new)) return set_own_action(number); \
    before_action(number);                                          \
    old = visible(number, REAL(name)(number, new));                 \
    look_for_once(number);                                          \
    return old;                                                     \
  }
SIGNAL(signal)
SIGNAL(__sysv_signal)
SIGNAL(bsd_signal)
#if defined(__GLIBC__)
SIGNAL(sysv_signal)
SIGNAL(ssignal)
#endif

/* It also unblocks the signal, and tells whether it was blocked. */
EXPORT handler *sigset(int number, handler *new) {
  handler *old;
  sigset_t one, before;
  if (!takes_place_of(number, new)) {
    before_action(number);
    return visible(number, REAL(sigset)(number, new));
  }
  old = set_own_action(number);
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, &before);
  return sigismember(&before, number) == 1 ? SIG_HOLD : old;
}

/* A flight recorder's SIGUSR2 does what it would without the tracer where the program handles it, and afterwards. */
static void handle_snapshot_signal(bool wanted) {
  struct sigaction now;
  if (!state.settings->flight_milliseconds || real.sigaction(SIGUSR2, NULL, &now) != 0) return;
  if (!wanted && now.sa_handler == want_snapshot) real.signal(SIGUSR2, SIG_DFL);
  if (!wanted) return;
  memset(&now, 0, sizeof now);
  now.sa_handler = want_snapshot;
  now.sa_flags = SA_RESTART;
  real.sigaction(SIGUSR2, &now, NULL);
}

static void handle_signals(bool wanted) {
  handle_snapshot_signal(wanted);
  handle_fatal_signals(wanted);
}

static void prepare_reasons(void) {
#define REASON(name, text, base) \
  reasons[REASON_##name] =       \
      strcmp(text, "select") == 0 ? GOTRACE_BLOCK_SELECT : gotrace_reason(text) + GOTRACE_BLOCK_##base;
  REASONS(REASON)
#undef REASON
  reasons[REASON_NETWORK] = GOTRACE_BLOCK_NET;
  reasons[REASON_SLEEP] = GOTRACE_BLOCK_SLEEP;
}

/* The calling process in the command's namespace, which is that of /proc. */
static int process_id(void) {
  char text[16];
  ssize_t size = readlink("/proc/self", text, sizeof text - 1);
  text[size < 0 ? 0 : size] = 0;
  return atoi(text);
}

/* Asks for a box, unless this is the first program, whose box has been made before. -1: see errno. */
static int open_box(struct trace_list *list, struct trace_entry *entry) {
  const struct record_settings *s = state.settings;
  const struct timespec tenth = {0, 100000000};
  char keeper[32];
  unsigned i;
  if (entry == list->entry) {
    entry->writer = s->command_pid;
    return open_kept(&s->box, O_RDWR);
  }
  snprintf(keeper, sizeof keeper, "/proc/%d", (int)s->keeper_pid);
  entry->process = process_id();
  __atomic_store_n(&entry->box_state, (uint32_t)BOX_WANTED, __ATOMIC_RELEASE);
  __atomic_fetch_add(&list->calls, 1u, __ATOMIC_RELEASE);
  futex(&list->calls, 1 /* FUTEX_WAKE */, 1, NULL);
  for (i = 0; __atomic_load_n(&entry->box_state, __ATOMIC_ACQUIRE) != BOX_ANSWERED; i++) {
    if (i == BOX_PATIENCE || access(keeper, F_OK) != 0) return errno = ETIMEDOUT, -1;
    futex(&entry->box_state, 0 /* FUTEX_WAIT */, BOX_WANTED, &tenth);
  }
  if (!entry->box_error) return open_kept_by(entry->writer, &entry->box, O_RDWR);
  errno = entry->box_error;
  return -1;
}

static void prepare_ticks_after(void *box, size_t size) {
  uint64_t before = size_of_box(box);
  if (before < size) prepare_ticks((struct ticks *)(void *)((char *)box + before), size - (size_t)before);
}

/* Captures into a box, without any thread of the tracer's. */
static gotrace_result start_tracer(int box_file) {
  const struct record_settings *s = state.settings;
  gotrace_options options;
  struct stat status;
  void *box = MAP_FAILED;
  gotrace_result result = GOTRACE_ERROR_OUT_OF_MEMORY;
  memset(&options, 0, sizeof options);
  options.format = (gotrace_format)s->format;
  options.stacks = s->stacks == RECORD_STACKS_NONE ? GOTRACE_STACKS_NONE : GOTRACE_STACKS_UNWIND;
  options.unwind = take_stack;
  if (fstat(box_file, &status) == 0 && madvise(&recording, sizeof recording, MADV_WIPEONFORK) == 0)
    box = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, box_file, 0);
  if (box == MAP_FAILED) return result;
  result = start_in_box(box, &options);
  if (result != GOTRACE_OK) {
    munmap(box, (size_t)status.st_size);
    return result;
  }
  tell_modules();
  prepare_ticks_after(box, (size_t)status.st_size);
  return result;
}

static void begin_reports(struct wakes *wakes, uint32_t index) {
  begin_wakes(wakes, index);
  prepare_reasons();
  handle_signals(true);
  if (!has_own_action(SIGPROF)) give_up_ticks();
  __atomic_store_n(&recording.on, 1u, __ATOMIC_RELEASE);
}

/* The command's files cannot be opened from here. */
static void start_by_asking(void) {
  struct board_start start = {GOTRACE_ERROR_ARGUMENT, 0};
  int files[BOARD_FILES], connection;
  uint32_t index;
  connection = ask_for_box(files, &index);
  if (connection < 0) return;
  if (state.stacks != RECORD_STACKS_UNWIND || find_unwinder()) start.result = start_tracer(files[BOARD_BOX]);
  say_started(connection, &start);
  real.close(files[BOARD_SETTINGS]);
  real.close(files[BOARD_BOX]);
  if (start.result == GOTRACE_OK) begin_reports(map_file(files[BOARD_WAKES], sizeof(struct wakes)), index);
  else if (files[BOARD_WAKES] >= 0) real.close(files[BOARD_WAKES]);
}

/* Does nothing if the command can neither be reached by its files nor be asked: after the process has given up
 * privileges, for example. */
void start_trace(void) {
  const struct record_settings *s = state.settings;
  gotrace_result result = GOTRACE_OK;
  int kept = errno, file = -1, box = -1;
  struct trace_entry *entry;
  struct trace_list *list;
  uint32_t index;
  self.inside = 1;
  self.function = 0;
  state.pid = (int)REAL(syscall)(SYS_getpid);
  state.stacks = s->stacks;
  state.only_waits = s->only_waits != 0;
  list = map_kept(&s->list, list_size(s->traces));
  index = list ? __atomic_fetch_add(&list->count, 1u, __ATOMIC_ACQ_REL) : UINT32_MAX;
  if (index < s->traces) {
    entry = &list->entry[index];
    entry->pid = state.pid;
    if (s->stacks == RECORD_STACKS_UNWIND && !find_unwinder()) result = GOTRACE_ERROR_ARGUMENT;
    else if ((box = open_box(list, entry)) < 0 || (file = open_trace(list)) < 0) result = GOTRACE_ERROR_SINK;
    entry->identity = trace.identity;
    snprintf(entry->name, sizeof entry->name, "%s", trace.name);
    if (result == GOTRACE_OK) result = start_tracer(box);
    entry->result = result;
    entry->system_error = result == GOTRACE_ERROR_SINK ? errno : 0;
    if (file >= 0) real.close(file);
    if (result != GOTRACE_OK && file >= 0) remove_file(trace.name);
    if (result != GOTRACE_OK) entry->writer = 0;
    __atomic_store_n(&entry->state, (uint32_t)(result == GOTRACE_OK ? TRACE_STARTED : TRACE_FAILED), __ATOMIC_RELEASE);
    if (box >= 0) real.close(box);
    if (result == GOTRACE_OK)
      begin_reports(s->wakes.descriptor < 0 ? NULL : map_kept(&s->wakes, sizeof(struct wakes)), index);
  }
  if (!list) start_by_asking();
  if (list) munmap(list, list_size(s->traces));
  self.inside = 0;
  errno = kept;
}

/* Whoever reads the box sees when the process ends, or has executed another program. Until then its threads go on, also
 * if it does not come to that. Returns whether the process is traced. If not, this touches nothing of the thread: a
 * process may share the memory and have no place for threads' variables (CLONE_VM, CLONE_SETTLS; chromium's zygote). */
static bool announce_end(uint32_t why) {
  unsigned inside;
  int kept;
  if (!is_traced()) return false;
  inside = self.inside;
  kept = errno;
  self.inside = 1;
  if (!inside && !in_sandbox()) report_all_usage();
  if (!in_sandbox()) tell_modules();
  say(why);
  end_wakes(why & SAID_WHY);
  self.inside = inside;
  errno = kept;
  return true;
}

void finish_trace(void) {
  give_way_to_death();
  announce_end(TRACE_EXITS);
}

bool finish_before_exec(const char *path, bool left) {
  give_way_to_death();
  unblock_ticks(); /* by a signal handler that has interrupted a wait */
  if (announce_end(TRACE_EXECUTES | (left ? SAID_LEFT : 0))) return true;
  if (state.children && __atomic_load_n(&recording.on, __ATOMIC_ACQUIRE))
    say_unreached(why_unreached(path)); /* vfork */
  return false;
}

void go_on_after_exec(void) {
  say(0);
  end_wakes(0);
}

/* Removes the library from LD_PRELOAD, and the settings' variable, in place. */
static void clean_environment(void) {
  extern char **environ;
  char **from = environ, **to = environ;
  for (; *from; from++) {
    char *value = *from;
    if (strncmp(value, BOARD_VARIABLE "=", sizeof BOARD_VARIABLE) == 0) continue;
    if (strncmp(value, "LD_PRELOAD=", 11) == 0) {
      const char *rest = without_library(value + 11);
      if (!*rest && rest != value + 11) continue;
      memmove(value + 11, rest, strlen(rest) + 1);
    }
    *to++ = value;
  }
  *to = NULL;
}

/* A sandbox (seccomp) may kill the process for any system call that only the library makes. So it makes none from then
 * on. It has no handlers of signals, does not try calls first, asks for no clock of the kernel's, and looks at no
 * descriptor: what waits for one is a system call in the trace. It is not passed on to other programs. New threads and
 * children are not traced. Calls of other threads that are under way have SANDBOX_PATIENCE to end. */
#define SANDBOX_PATIENCE 2000000 /* nanoseconds */
static void set_sandboxed(bool in, bool strict) {
  __atomic_store_n(&state.sandboxed, in, __ATOMIC_SEQ_CST);
  self.clockless = strict;
  sandbox_tracer(in, strict);
}

bool begin_sandbox(bool strict) {
  const struct timespec patience = {0, SANDBOX_PATIENCE};
  bool was_in = in_sandbox();
  if (was_in) {
    set_sandboxed(true, strict || self.clockless);
    return true;
  }
  give_way_to_death();
  if (!announce_end(0)) return false;
  stop_ticks();
  handle_signals(false);
  unwind_before_sandbox();
  set_sandboxed(true, strict);
  REAL(nanosleep)(&patience, NULL);
  return false;
}

void end_sandbox(bool was_in, bool has_entered) {
  bool is_traced = in_sandbox();
  if (was_in) return;
  if (has_entered && state.settings) {
    clean_environment();
    state.settings = NULL;
    state.children = false;
    say(0);
  } else if (is_traced) {
    set_sandboxed(false, false);
    handle_signals(true);
  }
}

/* ------------------------------------------------------------------------------------------ the program's tracer ----
 *
 * A program that contains gotrace.h, too, and starts it (gotrace_start_environment) goes on with the session: see "A
 * copy of this header takes over from another" there.
 */

NOINLINE const gotrace__calls *await_calls(void) {
  const gotrace__calls *now;
  while (!(now = __atomic_load_n(&tracer_calls, __ATOMIC_ACQUIRE))) let_others_run();
  return now;
}

static gotrace__calls program_calls;

bool is_program_traced(void) { return tracer_calls == &program_calls; }

/* The library that contains `code`: threads may call it at any time. */
static void keep_loaded(uintptr_t code) {
  Dl_info of, of_program;
  uintptr_t headers = (uintptr_t)getauxval(AT_PHDR);
  if (dladdr((void *)code, &of) && dladdr((void *)headers, &of_program) && of.dli_fbase != of_program.dli_fbase)
    (void)REAL(dlopen)(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

EXPORT gotrace_result gotrace__join(const gotrace__calls *of_program);
EXPORT gotrace_result gotrace__join(const gotrace__calls *of_program) {
  unsigned inside = self.inside;
  int kept = errno;
  gotrace_result result;
  if (!__atomic_load_n(&recording.on, __ATOMIC_ACQUIRE) || !is_traced_process()) return GOTRACE_ERROR_NOT_RUNNING;
  if (is_program_traced()) return GOTRACE_ERROR_ALREADY_RUNNING; /* another copy of the header */
  self.inside = 1;
  __atomic_store_n(&tracer_calls, NULL, __ATOMIC_RELEASE);
  result = hand_on(of_program);
  program_calls = *of_program;
  if (result == GOTRACE_OK) __atomic_store_n(&tracer_calls, &program_calls, __ATOMIC_RELEASE);
  else use_own_tracer();
  if (result == GOTRACE_OK) keep_loaded((uintptr_t)of_program->take);
  self.inside = inside;
  errno = kept;
  return result;
}

void lose_program(void) {
  if (is_program_traced()) program_calls.lose();
}

void forget_trace(void) {
  use_own_tracer();
  ticks_after_fork();
  __atomic_store_n(&recording.on, 0u, __ATOMIC_RELEASE);
  if (state.settings) handle_signals(false);
  dying = unreached = 0;
  looks_after_fork();
  wakes_after_fork();
  unwind_after_fork();
}

#if defined(__GLIBC__)
#define OWN_LIBRARY RECORD_GNU
#else
#define OWN_LIBRARY RECORD_MUSL
#endif

/* The variable's value: the path of the settings, a colon, and the number of the socket on which to ask. */
char board_assignment[BOARD_ASSIGNMENT];

/* Also where the program has it: system and popen pass that on. */
void set_board_socket(int socket) {
  extern char **environ;
  char **at, *colon = strrchr(board_assignment, ':') + 1;
  for (at = environ; at && *at; at++)
    if (strcmp(*at, board_assignment) == 0)
      snprintf(*at + (colon - board_assignment), BOARD_DIGITS + 1, "%0*d", BOARD_DIGITS, socket);
  snprintf(colon, BOARD_DIGITS + 1, "%0*d", BOARD_DIGITS, socket);
}

/* Maps the settings if nobody else can have made or changed them, and closes their file. */
static const struct record_settings *map_settings(int file) {
  const struct record_settings *settings = NULL;
  struct stat status;
  if (file < 0) return NULL;
  if (fstat(file, &status) == 0 && status.st_size == sizeof *settings &&
      (real.fcntl(file, F_GET_SEALS) & BOARD_SEALS) == BOARD_SEALS) {
    void *memory = mmap(NULL, sizeof *settings, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) settings = memory;
  }
  real.close(file);
  return settings && settings->version == BOARD_VERSION ? settings : NULL;
}

static const struct record_settings *find_settings(const char *value) {
  const struct record_settings *settings = NULL;
  char path[BOARD_ASSIGNMENT];
  char *colon;
  snprintf(path, sizeof path, "%s", value);
  colon = strrchr(path, ':');
  if (!colon || strlen(colon + 1) != BOARD_DIGITS) return NULL;
  *colon = 0;
  settings = map_settings(open_known(path, NULL, O_RDONLY));
  if (settings || strncmp(path, "/proc/", 6) != 0) return settings;
  return map_settings(ask_for_settings(atoi(colon + 1), atoi(path + 6)));
}

__attribute__((constructor(101))) static void start(void) {
  const char *value = secure_getenv(BOARD_VARIABLE);
  resolve();
  use_own_tracer();
  if (!value || strlen(value) + sizeof BOARD_VARIABLE >= sizeof board_assignment) return;
  snprintf(board_assignment, sizeof board_assignment, "%s=%s", BOARD_VARIABLE, value);
  state.settings = find_settings(value);
  if (!state.settings) return;
  state.children = state.settings->children != 0;
  /* system and popen pass the environment to a shell, which may use the other C library */
  if (!state.children || library_for("/bin/sh") != OWN_LIBRARY) clean_environment();
  start_trace();
  if (recording.on) begin_main_thread();
  pthread_atfork(NULL, NULL, forget_trace);
  atexit(finish_trace); /* musl: runs before the destructors. glibc: the one in tracer.c runs before this */
  at_quick_exit(finish_trace);
}
