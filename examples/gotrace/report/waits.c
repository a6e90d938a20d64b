/* waits.c - classes and places of waits: see waits.h */

#include "waits.h"

const struct wait_class_spec wait_classes[WAIT_CLASS_COUNT] = {
#define WAIT_CLASS(NAME, text, follows) {text, follows},
    WAIT_CLASSES(WAIT_CLASS)
#undef WAIT_CLASS
};

/* ---------------------------------------------------------------------------------------------------- classes ---- */

#define LOOKED_AT 4 /* innermost frames that a rule sees */

/* The first rule that matches decides. `reason` is the beginning of the reason, `function` that of a function among the
 * innermost frames; NULL: any. */
static const struct rule {
  const char *reason, *function;
  wait_class is;
} rules[] = {
    {"GC mark assist", NULL, WAIT_GC_ASSIST_CLASS},
    {"wait until GC ends", NULL, WAIT_GC_CYCLE_CLASS},
    {"GC background sweeper", NULL, WAIT_RUNTIME_CLASS},
    {"GC weak", NULL, WAIT_GC_CYCLE_CLASS},
    {"GC", NULL, WAIT_GC_CYCLE_CLASS},
    {"system goroutine", NULL, WAIT_RUNTIME_CLASS},
    {"preempted", NULL, WAIT_PREEMPTED_CLASS},
    {"sync", "runtime.gcStart", WAIT_GC_START_CLASS},
    {"sync", "runtime.gcMarkDone", WAIT_GC_MARK_DONE_CLASS},
    {"sync", "runtime.gcAssistAlloc", WAIT_GC_ASSIST_CLASS},
    {"sync", "runtime.sweep", WAIT_GC_SWEEP_CLASS},
    {"sync", "runtime.gcSweep", WAIT_GC_SWEEP_CLASS},
    {"sync", "runtime.GC", WAIT_GC_CYCLE_CLASS},
    {"sync", "runtime.stopTheWorld", WAIT_STOP_CLASS},
    {"sync", "runtime.startTheWorld", WAIT_STOP_CLASS},
    {"sync", "sync.(*WaitGroup)", WAIT_GROUP_CLASS},
    {"sync", "sync.(*RWMutex)", WAIT_READ_WRITE_CLASS},
    {"sync", "sync.(*Once)", WAIT_ONCE_CLASS},
    {"sync", "sync.(*Mutex)", WAIT_MUTEX_CLASS},
    {"sync", "internal/sync.(*Mutex)", WAIT_MUTEX_CLASS},
    {"sync", "internal/poll.", WAIT_MUTEX_CLASS}, /* a lock of a file descriptor */
    {"sync", "runtime.ReadMemStats", WAIT_STOP_CLASS},
    {"sync", "runtime.GOMAXPROCS", WAIT_STOP_CLASS},
    {"sync.(*Cond)", NULL, WAIT_COND_CLASS},
    {"sync: mutex", NULL, WAIT_MUTEX_CLASS}, /* these are `gotrace record`'s */
    {"sync: read lock", NULL, WAIT_READ_WRITE_CLASS},
    {"sync: write lock", NULL, WAIT_READ_WRITE_CLASS},
    {"sync: condition variable", NULL, WAIT_COND_CLASS},
    {"sync: barrier", NULL, WAIT_BARRIER_CLASS},
    {"sync: semaphore", NULL, WAIT_SEMAPHORE_CLASS},
    {"sync: spin lock", NULL, WAIT_SPIN_CLASS},
    {"sync: join", NULL, WAIT_JOIN_CLASS},
    {"sync: once", NULL, WAIT_ONCE_CLASS},
    {"sync: futex", NULL, WAIT_FUTEX_CLASS},
    {"sync: file lock", NULL, WAIT_FILE_LOCK_CLASS},
    {"mutex", NULL, WAIT_MUTEX_CLASS}, /* these are of adapters */
    {"condition variable", NULL, WAIT_COND_CLASS},
    {"semaphore", NULL, WAIT_SEMAPHORE_CLASS},
    {"join", NULL, WAIT_JOIN_CLASS},
    {"OpenMP: barrier", NULL, WAIT_BARRIER_CLASS},
    {"OpenMP: critical", NULL, WAIT_MUTEX_CLASS},
    {"OpenMP: lock", NULL, WAIT_MUTEX_CLASS},
    {"sync", NULL, WAIT_SYNC_CLASS},
    {"chan send", NULL, WAIT_SEND_CLASS},
    {"chan receive", NULL, WAIT_RECEIVE_CLASS},
    {"select", NULL, WAIT_SELECT_CLASS},
    {"network", NULL, WAIT_NETWORK_CLASS},
    {"pipe", NULL, WAIT_PIPE_CLASS},
    {"child process", NULL, WAIT_CHILD_CLASS},
    {"sleep", NULL, WAIT_SLEEP_CLASS},
    {"forever", NULL, WAIT_FOREVER_CLASS},
    {"unspecified", NULL, WAIT_UNKNOWN_CLASS},
};

/* Packages of Go's library, by the first element of their path. Nothing else in a trace tells them from the program's:
 * a file's path may be cut (-trimpath). */
static const char *const libraries[] = {
    "archive", "bufio",    "bytes",   "cmp",    "compress", "container", "context", "crypto",  "database", "debug",
    "embed",   "encoding", "errors",  "expvar", "flag",     "fmt",       "go",      "hash",    "html",     "image",
    "index",   "internal", "io",      "iter",   "log",      "maps",      "math",    "mime",    "net",      "os",
    "path",    "plugin",   "reflect", "regexp", "runtime",  "slices",    "sort",    "strconv", "strings",  "structs",
    "sync",    "syscall",  "testing", "text",   "time",     "type:",     "unicode", "unique",  "vendor",   "weak"};

/* Of C, C++ and Rust: functions that begin so are not the program's, but those of the language's library or of a
 * library that wraps threads and locks. */
static const char *const prefixes[] = {
    "__", "libc.so.", "ld-musl-", "pthread_", "sem_", "cnd_", "mtx_", "thrd_", "gotrace_", "_start", "clone",
    "start_thread",
    /* C++ */
    "std::", "void std::", "bool std::", "_ZSt", "_ZNSt", "_ZNKSt", "boost::", "absl::", "tbb::",
    /* Rust */
    "core::", "alloc::", "<std::", "<core::", "<alloc::", "parking_lot::", "parking_lot_core::", "lock_api::",
    "crossbeam_", "_ZN3std", "_ZN4core", "_ZN5alloc",
    /* GLib, Qt, libuv, APR, SDL */
    "g_mutex_", "g_rec_mutex_", "g_rw_lock_", "g_cond_", "g_static_", "g_thread_", "g_async_queue_", "QMutex",
    "QBasicMutex", "QRecursiveMutex", "QReadWriteLock", "QWaitCondition", "QSemaphore", "QThread", "uv_mutex_",
    "uv_rwlock_", "uv_cond_", "uv_sem_", "uv_barrier_", "uv_thread_", "apr_thread_", "SDL_Lock", "SDL_Unlock",
    "SDL_Cond", "SDL_Sem", "SDL_RunThread",
    /* Java's virtual machine */
    "thread_native_entry",
    "Monitor::", "Mutex::", "MutexLocker::", "PlatformMonitor::", "PlatformMutex::", "PlatformEvent::", "os::Platform",
    "ObjectMonitor::", "Parker::",
    /* CPython */
    "pythread_wrapper", "PyThread_", "lock_PyThread_", "take_gil", "drop_gil", "PyEval_RestoreThread",
    "PyEval_SaveThread", "PyEval_AcquireThread", "PyEval_ReleaseThread", "PyGILState_", "PyCOND_", "PyMUTEX_"};

/* Of the C library, with these names: by which a program ends itself. */
static const char *const ends[] = {"abort", "raise", "gsignal", "kill", "tgkill", "sigqueue"};

static bool begins(pool_text text, const char *with) {
  size_t size = strlen(with);
  return text.size >= size && memcmp(text.data, with, size) == 0;
}

/* Whether a function is Go's, by its name: a package, a dot and a name, none of which C and C++ have. */
static bool is_go(pool_text name) {
  return memchr(name.data, '.', name.size) && !memmem(name.data, name.size, "::", 2) &&
         !memchr(name.data, '@', name.size) && !memchr(name.data, ' ', name.size);
}

static bool is_own(pool_frame frame) {
  pool_text name = pool_text_of(frame.function);
  size_t size = 0, i;
  if (!name.size) return false;
  if (!is_go(name)) {
    if (memmem(name.data, name.size, "@GLIBC", 6) || memmem(name.data, name.size, "@@", 2)) return false;
    for (i = 0; i < COUNT(prefixes); i++)
      if (begins(name, prefixes[i])) return false;
    for (i = 0; i < COUNT(ends); i++)
      if (pool_text_is(frame.function, ends[i])) return false;
    return true;
  }
  while (size < name.size && !strchr("./", name.data[size])) size++;
  if (size < name.size && name.data[size] == '.' && memchr(name.data + size, '/', name.size - size)) {
    const char *slash = memchr(name.data + size, '/', name.size - size);
    const char *open = memchr(name.data, '(', name.size), *type = memchr(name.data, '[', name.size);
    if ((!open || slash < open) && (!type || slash < type)) return true; /* a host, such as example.com/ */
  }
  for (i = 0; i < COUNT(libraries); i++)
    if (strlen(libraries[i]) == size && memcmp(libraries[i], name.data, size) == 0) return false;
  return true;
}

/* Whether the goroutine is one of the runtime's own, by the outermost frame. */
static bool is_of_runtime(pool_stack s) {
  pool_text name;
  if (!s.count) return false;
  name = pool_text_of(s.frames[s.count - 1].function);
  return (begins(name, "runtime.") && !pool_text_is(s.frames[s.count - 1].function, "runtime.main") &&
          !pool_text_is(s.frames[s.count - 1].function, "runtime.goexit")) ||
         begins(name, "runtime/trace.") || begins(name, "runtime/pprof.");
}

/* Whether the innermost frame has a name, which is not Go's. */
static bool is_of_c(pool_stack s) {
  pool_text name = pool_text_of(s.count ? s.frames[0].function : 0);
  return name.size && !is_go(name) && !begins(name, "0x");
}

/* Whether a call of the C library, the innermost frame, is by the code that passes CPython's global lock on. That is a
 * static function, often without a name, or part of its caller. Other modules may call the C library from there, too.
 */
static bool is_of_gil(pool_stack s) {
  static const char *const callers[] = {"PyEval_", "_PyEval_", "_PyThreadState_", "PyThreadState_Swap", "PyGILState_"};
  pool_text name = pool_text_of(s.count > 1 ? s.frames[1].function : 0), caller;
  size_t i;
  if (s.count > 2 && (begins(name, "PyCOND_") || begins(name, "PyMUTEX_"))) { /* inlined */
    s.frames++;
    s.count--;
    name = pool_text_of(s.frames[1].function);
  }
  if (begins(name, "take_gil") || begins(name, "drop_gil")) return true;
  for (i = 0; i < COUNT(callers); i++)
    if (begins(name, callers[i])) return true;
  if (s.count < 3 || s.frames[1].file != s.frames[2].file || !memmem(name.data, name.size, "!0x", 3)) return false;
  caller = pool_text_of(s.frames[2].function);
  for (i = 0; i < COUNT(callers); i++)
    if (begins(caller, callers[i])) return true;
  return false;
}

static wait_class find_class(uint32_t stack, uint32_t reason) {
  pool_stack s = pool_stack_of(stack);
  pool_text why = pool_text_of(reason);
  size_t i;
  uint32_t j;
  if (is_of_runtime(s)) return WAIT_RUNTIME_CLASS;
  if (is_of_gil(s) && (begins(why, "sync: condition variable") || begins(why, "sync: mutex"))) return WAIT_GIL_CLASS;
  for (i = 0; i < COUNT(rules); i++) {
    const struct rule *r = &rules[i];
    if (!begins(why, r->reason)) continue;
    if (!r->function) return r->is == WAIT_SYNC_CLASS && is_of_c(s) ? WAIT_C_SYNC_CLASS : r->is;
    for (j = 0; j < s.count && j < LOOKED_AT; j++)
      if (begins(pool_text_of(s.frames[j].function), r->function)) return r->is;
  }
  return why.size ? WAIT_OTHER_CLASS : WAIT_UNKNOWN_CLASS;
}

/* ----------------------------------------------------------------------------------------------------- stacks ---- */

typedef struct known_stack {
  uint32_t frame, caller; /* 1 + the index of the first own frame; the own function that called it, as text */
  uint32_t whole;         /* its function without the names of closures, as text */
  uint32_t only;          /* the place of what exists only once in a process, as text; 0: not of such a thing */
  bool helper;            /* its name says that it takes or releases locks for others */
  bool interrupted;       /* see note_interrupted() */
  uint32_t reason;        /* 1 + the reason that `is` was found for; 0: none yet */
  wait_class is;
} known_stack;

/* A function's name without ".func1", ".deferwrap1" and the like at its end. */
static uint32_t without_closures(uint32_t name, bool all) {
  static const char *const closures[] = {".deferwrap", ".gowrap", ".func"};
  pool_text text = pool_text_of(name);
  size_t size = text.size, i, end, length;
  for (;;) {
    for (end = size; end && (text.data[end - 1] == '.' || (text.data[end - 1] >= '0' && text.data[end - 1] <= '9'));)
      end--;
    for (i = 0; i < (all ? 3 : 2); i++) {
      length = strlen(closures[i]);
      if (end < size && end > length && memcmp(text.data + end - length, closures[i], length) == 0) break;
    }
    if (i == (all ? 3 : 2)) break;
    size = end - length;
  }
  return size == text.size ? name : pool_put_text(text.data, size);
}

static known_stack *known(waits *w, uint32_t stack) {
  known_stack *k = SIDE(known_stack, &w->stacks, stack);
  pool_stack s;
  uint32_t i, j;
  if (k->frame) return k;
  s = pool_stack_of(stack);
  for (i = 0; i < s.count; i++) {
    if (i == 0 && s.count > 1 && w->recorded && !k->interrupted && !is_go(pool_text_of(s.frames[0].function))) continue;
    if (is_own(s.frames[i])) break;
  }
  k->frame = i + 1;
  if (is_of_gil(s)) k->only = pool_put_string("take_gil");
  if (k->only) k->whole = k->only;
  if (i == s.count || k->only) return k;
  k->whole = without_closures(s.frames[i].function, true);
  k->helper = pool_text_contains(k->whole, "ock") || pool_text_contains(k->whole, "cquire") ||
              pool_text_contains(k->whole, "elease");
  for (j = i + 1; j < s.count && !k->caller; j++) {
    uint32_t name = without_closures(s.frames[j].function, true);
    if (name != k->whole && is_own(s.frames[j])) k->caller = name;
  }
  return k;
}

void note_interrupted(waits *w, uint32_t stack) { SIDE(known_stack, &w->stacks, stack)->interrupted = true; }

wait_class wait_class_of(waits *w, uint32_t stack, uint32_t reason) {
  known_stack *k = known(w, stack);
  if (k->reason != reason + 1) {
    k->reason = reason + 1;
    k->is = find_class(stack, reason);
  }
  return k->is;
}

uint32_t own_frame(waits *w, uint32_t stack) { return known(w, stack)->frame - 1; }

uint32_t own_function(waits *w, uint32_t stack) {
  pool_stack s = pool_stack_of(stack);
  uint32_t i = own_frame(w, stack);
  if (known(w, stack)->only) return known(w, stack)->only;
  return i < s.count ? without_closures(s.frames[i].function, false) : 0;
}

bool same_owner(waits *w, uint32_t taken, uint32_t released) {
  const known_stack *a = known(w, taken), *b = known(w, released);
  if (!taken || !released || !a->whole || !b->whole) return true;
  if (a->whole == b->whole || a->whole == b->caller || a->caller == b->whole) return true;
  return a->helper && b->helper && a->caller && a->caller == b->caller;
}

bool got_by(waits *w, class_at wait, class_at own, uint32_t released) {
  uint32_t place = own_function(w, wait.stack);
  if (own.is != wait.is) return false;
  if (wait_is(wait.is, WAIT_LOCK)) return same_owner(w, own.stack, released);
  return wait_is(wait.is, WAIT_PERMIT) && place && own_function(w, own.stack) == place && own_function(w, released) &&
         same_owner(w, own.stack, released);
}

uint32_t place_of(waits *w, uint32_t stack, const goroutine *g) {
  uint32_t own = own_function(w, stack);
  pool_stack s = pool_stack_of(stack);
  if (own) return own;
  if (s.count && is_go(pool_text_of(s.frames[s.count - 1].function))) return s.frames[s.count - 1].function;
  return g ? name_of(g) : 0;
}
