/* threads.c - creation, names, join, exit: see preload.h */

#include "preload.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* A thread's record outlives the thread, because another thread may be about to name it. */
struct thread {
  thread *next; /* in the list of free records, or of live ones */
  pthread_t handle;
  bool lives;
  uint32_t named; /* atomic: another thread has set `name` */
  char name[16];  /* at first that of its creator, which the system gives it */
  gotrace_go *go;
  struct usage usage;
  size_t stack; /* size of its stack, without the guard; 0: unknown */
  void *(*function)(void *);
  int (*function_c11)(void *);
  void *argument;
};

#define SLAB 1024

static struct {
  uint32_t lock;
  thread *unused;
  thread *all[256]; /* slabs */
  unsigned slabs;   /* atomic */
} threads;

static struct usage main_usage;
static char program_name[16]; /* of the main thread, as the trace starts; threads that get no other name have it, too */

static thread *new_thread(void) {
  thread *t;
  unsigned i;
  take_lock(&threads.lock);
  if (!threads.unused && threads.slabs < COUNT(threads.all) && (t = allocate(SLAB * sizeof *t)) != NULL) {
    threads.all[threads.slabs] = t;
    __atomic_store_n(&threads.slabs, threads.slabs + 1, __ATOMIC_RELEASE);
    for (i = 0; i < SLAB; i++, t++) t->next = threads.unused, threads.unused = t;
  }
  t = threads.unused;
  if (t) threads.unused = t->next;
  drop_lock(&threads.lock);
  if (t) memset(t, 0, sizeof *t);
  return t;
}

static void free_thread(thread *t) {
  take_lock(&threads.lock);
  t->lives = false;
  t->next = threads.unused;
  threads.unused = t;
  drop_lock(&threads.lock);
}

void each_usage(void (*function)(struct usage *u)) {
  unsigned slabs = __atomic_load_n(&threads.slabs, __ATOMIC_ACQUIRE), slab, i;
  function(&main_usage);
  for (slab = 0; slab < slabs; slab++)
    for (i = 0; i < SLAB; i++) function(&threads.all[slab][i].usage);
}

static void forget_usage(struct usage *u) {
  u->go = 0;
  u->timer = 0; /* no child inherits a timer */
}

/* Only the calling thread is in the child. Its CPU time starts at 0. */
void threads_after_fork(void) {
  unsigned slab, i;
  threads.lock = 0;
  each_usage(forget_usage);
  for (slab = 0; slab < threads.slabs; slab++)
    for (i = 0; i < SLAB; i++) threads.all[slab][i].go = NULL;
  if (self.usage) self.usage->reported = self.usage->when = 0;
}

/* ------------------------------------------------------------------------------------------------------- CPU time ----
 *
 * What the trace shows as running contains whatever the library does not see: page faults, other processes, calls that
 * wait in the kernel. So the CPU time that the kernel has counted for each thread is in the trace, too: as logs, each
 * with the time since the thread's last one (RECORD_CPU_TIME).
 */

#define REPORT_PERIOD 100 /* milliseconds: a thread's reports are at least so far apart */

uint64_t read_clock(clockid_t clock) {
  struct timespec time = {0, 0};
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* `go`: the goroutine that the report is about; 0: the caller's. */
static void report(struct usage *u, clockid_t clock, uint64_t go) {
  char text[64];
  uint64_t used, before;
  size_t length;
  if (in_sandbox()) return;
  used = read_clock(clock);
  before = __atomic_exchange_n(&u->reported, used, __ATOMIC_RELAXED);
  if (used < before) return; /* the thread has ended */
  length = (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)(used - before));
  if (go) snprintf(text + length, sizeof text - length, " %llu", (unsigned long long)go);
  gotrace_log_at(NULL, GOTRACE_NO_TASK, RECORD_CPU_TIME, text);
}

static void begin_usage(struct usage *u) {
  self.usage = u;
  u->handle = pthread_self();
  u->number = (uint32_t)REAL(syscall)(SYS_gettid);
  u->reported = read_clock(CLOCK_THREAD_CPUTIME_ID);
  u->when = read_clock(CLOCK_MONOTONIC_COARSE) / 1000000;
  u->go = gotrace_go_id(gotrace_go_self());
  begin_ticks(u);
}

/* Of the calling thread, whatever goroutine it runs. */
static void report_own(struct usage *u) {
  uint64_t runs;
  if (!calls()->may_report()) return;
  runs = gotrace_go_id(gotrace_go_self());
  report(u, CLOCK_THREAD_CPUTIME_ID, runs == u->go ? 0 : u->go);
}

void report_usage(void) {
  struct usage *u = self.usage;
  uint64_t now;
  if (!u || in_sandbox()) return;
  now = read_clock(CLOCK_MONOTONIC_COARSE) / 1000000;
  if (now - u->when < REPORT_PERIOD) return;
  u->when = now;
  check_ticks();
  report_own(u);
  tell_loaded();
}

static void report_other(struct usage *u) {
  clockid_t clock;
  if (u != self.usage && u->go && pthread_getcpuclockid(u->handle, &clock) == 0) report(u, clock, u->go);
}

void report_all_usage(void) {
  unsigned slab, i;
  self.function = 0; /* the thread is in none of the program's calls, whose stack this would have */
  if (self.usage) report_own(self.usage);
  take_lock(&threads.lock); /* its threads cannot end meanwhile */
  report_other(&main_usage);
  for (slab = 0; slab < threads.slabs; slab++)
    for (i = 0; i < SLAB; i++)
      if (threads.all[slab][i].lives) report_other(&threads.all[slab][i].usage);
  drop_lock(&threads.lock);
}

/* ----------------------------------------------------------------------------------------------- start and end ---- */

/* Linux maps nothing into the 128 MB below the main thread's stack. */
#define MAIN_STACK ((size_t)128 << 20)

/* No frame of the main thread is above its environment. */
void begin_main_thread(void) {
  extern char **environ;
  self.inside = 1;
  self.stack_high = (char *)environ;
  self.stack_low = self.stack_high - MAIN_STACK;
  REAL(prctl)(PR_GET_NAME, program_name);
  gotrace_thread_begin("main");
  begin_usage(&main_usage);
  report(&main_usage, CLOCK_THREAD_CPUTIME_ID, 0);
  self.inside = 0;
}

void begin_forked_thread(void) {
  self.inside = 1;
  gotrace_thread_begin("main");
  begin_usage(self.usage ? self.usage : &main_usage);
  self.inside = 0;
}

/* musl calls it with any stack pointer when it cancels a thread that has asked for asynchronous cancellation. */
#if defined(__x86_64__) || defined(__i386__)
#define ALIGNS_STACK __attribute__((force_align_arg_pointer))
#else
#define ALIGNS_STACK
#endif

/* Called on return, pthread_exit or cancellation. What later destructors of thread-specific data do is not shown. */
ALIGNS_STACK static void thread_ends(void *argument) {
  thread *t = argument;
  int kept = errno;
  self.inside = 0;
  if (self.waits) end_wait();
  if (self.in_system_call) end_system_call();
  io_abandon_wait();
  self.inside = 1;
  self.frame = NULL;
  self.function = 0;
  apply_name();
  gotrace_wake_at(NULL, (const void *)pthread_self(), GOTRACE_WAKE_ALL);
  if (self.usage && __atomic_load_n(&recording.on, __ATOMIC_RELAXED)) report_own(self.usage);
  gotrace_thread_end();
  if (self.usage) end_ticks(self.usage);
  unblock_ticks();
  self.created = NULL;
  self.usage = NULL;
  free_thread(t);
  errno = kept;
}

/* The stack's low end follows from its size, since its high end is near: in glibc just above the thread's record, whose
 * address is the handle. The C library rounds sizes to pages. */
static void note_stack(const thread *t, char *frame) {
  char *end = (char *)pthread_self();
  size_t inexact = 8192 + 2 * (size_t)sysconf(_SC_PAGESIZE);
  if (t->stack <= inexact) return;
  self.stack_high = frame;
  self.stack_low = (end > frame ? end : frame) - t->stack + inexact;
}

/* The tool groups threads by names; to have that of the program is to have none. */
static void rename_self(const char *name) {
  if (strcmp(name, program_name) != 0) gotrace_thread_rename(name);
}

static void thread_begins(thread *t, char *frame) {
  char inherited[16], name[16];
  if (in_sandbox()) return; /* it has been entered meanwhile */
  memcpy(inherited, t->name, sizeof inherited);
  self.inside = 1;
  self.created = t;
  note_stack(t, frame);
  take_lock(&threads.lock);
  t->handle = pthread_self();
  t->lives = true;
  drop_lock(&threads.lock);
  gotrace_thread_begin_as(t->go);
  if (REAL(prctl)(PR_GET_NAME, name) == 0 && strcmp(name, inherited) != 0)
    rename_self(name); /* named before it began */
  begin_usage(&t->usage);
  self.inside = 0;
}

THREAD_ENTRY static void *run_thread(void *argument) {
  thread *t = argument;
  void *result;
  thread_begins(t, __builtin_frame_address(0));
  pthread_cleanup_push(thread_ends, t);
  result = t->function(t->argument);
  pthread_cleanup_pop(1);
  return result;
}

THREAD_ENTRY static int run_thread_c11(void *argument) {
  thread *t = argument;
  int result;
  thread_begins(t, __builtin_frame_address(0));
  pthread_cleanup_push(thread_ends, t);
  result = t->function_c11(t->argument);
  pthread_cleanup_pop(1);
  return result;
}

/* libstdc++ starts each std::thread with a function of its own. Its argument is an object (std::thread::_State) whose
 * third virtual function, _M_run, belongs to the program and tells what the thread runs. */
static uintptr_t entry_of(uintptr_t function, void *argument) {
  static uintptr_t std_thread; /* atomic */
  uintptr_t known = __atomic_load_n(&std_thread, __ATOMIC_RELAXED), *object = argument, *functions;
  Dl_info info;
  if (function != known) {
    if (!dladdr((void *)function, &info) || !info.dli_fname || !strstr(info.dli_fname, "/libstdc++.so"))
      return function;
    __atomic_store_n(&std_thread, function, __ATOMIC_RELAXED);
  }
  if (!object || !dladdr((void *)*object, &info)) return function;
  functions = (uintptr_t *)*object;
  return dladdr((void *)functions[2], &info) ? functions[2] : function;
}

/* Reports that a thread is about to be created. Its record; NULL: none, and nothing is reported. */
static thread *begin_create(uintptr_t function, void *argument) {
  thread *t = new_thread();
  gotrace_site *entry;
  if (!t) return NULL;
  apply_name();
  REAL(prctl)(PR_GET_NAME, t->name);
  tell_loaded(); /* of the function, before its thread may have ended */
  entry = gotrace_site_make_pc(entry_of(function, argument) + 1); /* call sites are return addresses */
  t->go = gotrace_thread_create_at(NULL, entry ? &entry->location : NULL);
  t->argument = argument;
  return t;
}

static void end_create(thread *t, bool created) {
  if (!created) gotrace_go_destroy_at(NULL, t->go), free_thread(t);
  LEAVE();
}

/* Stacks smaller than SMALL_STACK may have no room for this library's functions, so they become larger. */
#define SMALL_STACK ((size_t)256 << 10)
#define ADDED_STACK ((size_t)64 << 10)

/* The program's own memory cannot be enlarged; without it, the stack's end is 0. */
static void enlarge_stack(pthread_attr_t *attributes) {
  size_t size = 0;
  void *low = NULL;
  bool is_given = pthread_attr_getstack(attributes, &low, &size) == 0 && (uintptr_t)low + size != 0;
  if (!is_given && pthread_attr_getstacksize(attributes, &size) == 0 && size < SMALL_STACK)
    pthread_attr_setstacksize(attributes, size + ADDED_STACK);
}

/* The size of a thread's stack, without its guard. */
static size_t stack_size(const pthread_attr_t *attributes) {
  size_t size = 0, guard = 0;
  if (pthread_attr_getstacksize(attributes, &size) != 0 || pthread_attr_getguardsize(attributes, &guard) != 0) return 0;
  return size > guard ? size - guard : 0;
}

EXPORT int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*function)(void *),
                          void *argument) {
  thread *t;
  pthread_attr_t own;
  bool has_own;
  int result;
  if (!tracing() || in_sandbox()) return REAL(pthread_create)(handle, attributes, function, argument);
  ENTER(pthread_create);
  t = begin_create((uintptr_t)function, argument);
  if (!t) {
    LEAVE();
    return real.pthread_create(handle, attributes, function, argument);
  }
  t->function = function;
  has_own = attributes || pthread_getattr_default_np(&own) == 0;
  if (attributes) own = *attributes;
  if (has_own) {
    enlarge_stack(&own);
    t->stack = stack_size(&own);
  }
  result = real.pthread_create(handle, has_own ? &own : NULL, run_thread, t);
  if (has_own && !attributes) pthread_attr_destroy(&own);
  end_create(t, result == 0);
  return result;
}

EXPORT int thrd_create(thrd_t *handle, thrd_start_t function, void *argument) {
  thread *t;
  pthread_attr_t usual;
  int result;
  if (!tracing() || in_sandbox()) return REAL(thrd_create)(handle, function, argument);
  ENTER(thrd_create);
  t = begin_create((uintptr_t)function, argument);
  if (!t) {
    LEAVE();
    return real.thrd_create(handle, function, argument);
  }
  t->function_c11 = function;
  if (pthread_getattr_default_np(&usual) == 0) {
    t->stack = stack_size(&usual);
    pthread_attr_destroy(&usual);
  }
  result = real.thrd_create(handle, run_thread_c11, t);
  end_create(t, result == thrd_success);
  return result;
}

/* ----------------------------------------------------------------------------------------------------------- join ----
 *
 * A thread that ends wakes the threads that wait for its handle.
 */

#define JOIN(name, parameters, arguments, try)       \
  EXPORT int name parameters {                       \
    int result;                                      \
    if (!tracing()) return REAL(name) arguments;     \
    ENTER(name);                                     \
    result = try;                                    \
    if (result == EBUSY) {                           \
      begin_wait((const void *)handle, REASON_JOIN); \
      result = real.name arguments;                  \
      end_wait();                                    \
    }                                                \
    LEAVE();                                         \
    return result;                                   \
  }
JOIN(pthread_join, (pthread_t handle, void **value), (handle, value), real.pthread_tryjoin_np(handle, value))
JOIN(pthread_timedjoin_np, (pthread_t handle, void **value, const struct timespec *until), (handle, value, until),
     real.pthread_tryjoin_np(handle, value))
JOIN(pthread_clockjoin_np, (pthread_t handle, void **value, clockid_t clock, const struct timespec *until),
     (handle, value, clock, until), real.pthread_tryjoin_np(handle, value))
JOIN(thrd_join, (thrd_t handle, int *value), (handle, value), EBUSY)

/* ------------------------------------------------------------------------------------------------------- names ---- */

/* Applies a name that another thread has set. */
void apply_name(void) {
  char name[16];
  thread *t = self.created;
  if (LIKELY(!t || !__atomic_load_n(&t->named, __ATOMIC_RELAXED))) return;
  take_lock(&threads.lock);
  memcpy(name, t->name, sizeof name);
  t->named = 0;
  drop_lock(&threads.lock);
  rename_self(name);
}

static void name_other(pthread_t handle, const char *name) {
  unsigned slab, i;
  take_lock(&threads.lock);
  for (slab = 0; slab < threads.slabs; slab++)
    for (i = 0; i < SLAB; i++) {
      thread *t = &threads.all[slab][i];
      if (!t->lives || !pthread_equal(t->handle, handle)) continue;
      snprintf(t->name, sizeof t->name, "%s", name);
      __atomic_store_n(&t->named, 1u, __ATOMIC_RELAXED);
    }
  drop_lock(&threads.lock);
}

EXPORT int pthread_setname_np(pthread_t handle, const char *name) {
  int result;
  if (!tracing()) return REAL(pthread_setname_np)(handle, name);
  ENTER(pthread_setname_np);
  result = real.pthread_setname_np(handle, name);
  if (result == 0) {
    if (pthread_equal(handle, pthread_self())) rename_self(name);
    else name_other(handle, name);
  }
  LEAVE();
  return result;
}

EXPORT int prctl(int option, ...) {
  unsigned long a, b, c, d;
  va_list arguments;
  bool sandboxes, was_in = false;
  int result;
  va_start(arguments, option);
  a = va_arg(arguments, unsigned long);
  b = va_arg(arguments, unsigned long);
  c = va_arg(arguments, unsigned long);
  d = va_arg(arguments, unsigned long);
  va_end(arguments);
  sandboxes = option == PR_SET_SECCOMP && (a == 1 /* SECCOMP_MODE_STRICT */ || b);
  if (sandboxes) was_in = begin_sandbox(a == 1);
  result = REAL(prctl)(option, a, b, c, d);
  if (sandboxes) end_sandbox(was_in, result == 0);
  if (result == 0 && option == PR_SET_NAME && tracing()) {
    char name[16];
    int kept = errno;
    ENTER(prctl);
    snprintf(name, sizeof name, "%s", (const char *)a);
    rename_self(name);
    LEAVE();
    errno = kept;
  }
  return result;
}
