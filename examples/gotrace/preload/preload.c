/* preload.c - real functions, start and end of the trace, thread states, stacks: see preload.h */

#include "preload.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unwind.h>

static int early_trylock(pthread_mutex_t *mutex);
static int early_unlock(pthread_mutex_t *mutex);

/* Two functions that are called without checking whether they have been found. */
struct real real = {.pthread_mutex_trylock = early_trylock, .pthread_mutex_unlock = early_unlock};
struct state state;
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
  any_function *instead = nothing;
  if (self.resolves) {
#define FIELD(result, name, parameters, version) \
  if (!real.name) memcpy(&real.name, &instead, sizeof real.name);
    FUNCTIONS(FIELD)
#undef FIELD
    return;
  }
  self.resolves = true;
  instead = missing;
#define FIELD(result, name, parameters, version)           \
  found = find(#name, version);                            \
  if (found) memcpy(&real.name, &found, sizeof real.name); \
  else memcpy(&real.name, &instead, sizeof real.name);
  FUNCTIONS(FIELD)
#undef FIELD
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

void take_lock(uint32_t *lock) {
  unsigned spins = 0;
  while (__atomic_exchange_n(lock, 1u, __ATOMIC_ACQUIRE))
    if (++spins > 100) REAL(syscall)(SYS_sched_yield);
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
  apply_name();
  if (key) __atomic_fetch_add(waiters_of(key), 1u, __ATOMIC_RELAXED);
  waited_key = key;
  gotrace_wait_on_at(NULL, key, reasons[reason]);
  self.waits = true;
  errno = kept;
}

void end_wait(void) {
  int kept = errno;
  self.waits = false;
  gotrace_wait_end();
  if (waited_key) __atomic_fetch_sub(waiters_of(waited_key), 1u, __ATOMIC_RELAXED);
  waited_key = NULL;
  errno = kept;
}

void begin_system_call(void) {
  int kept = errno;
  apply_name();
  gotrace_go_syscall_begin_at(NULL);
  self.in_system_call = true;
  errno = kept;
}

void end_system_call(void) {
  int kept = errno;
  self.in_system_call = false;
  gotrace_go_syscall_end();
  errno = kept;
}

unsigned wake(const void *key, unsigned count) {
  int kept = errno;
  unsigned woken = gotrace_wake_at(NULL, key, count);
  errno = kept;
  return woken;
}

/* A signal handler that interrupted one of the library's functions may have left it by longjmp or another kind of jump.
 * Only a frame above that function's frame shows this; a frame on another stack, such as a signal stack, shows nothing.
 * If the handler jumped within itself, the rest of the interrupted wait is not shown. */
NOINLINE bool recover(char *frame) {
  bool above = frame > self.frame && frame < self.stack_high;
  if (!self.frame || !(above || self.inside == JUMPED)) return false;
  if (self.waits) end_wait();
  if (self.in_system_call) end_system_call();
  self.inside = 0;
  return true;
}

/* --------------------------------------------------------------------------------------------------------- stacks ----
 *
 * A stack begins with the C library function that the program called.
 */

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

/* The bounds of the section with the functions that start threads; defined by the linker. */
extern const char __start_thread_entry[] __attribute__((visibility("hidden")));
extern const char __stop_thread_entry[] __attribute__((visibility("hidden")));

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *argument) {
  struct walk *w = argument;
  uintptr_t ip = unwinder.ip(context);
  if (ip == self.caller) w->found = true;
  if (ip > (uintptr_t)__start_thread_entry && ip <= (uintptr_t)__stop_thread_entry) return _URC_END_OF_STACK;
  if (w->found && ip) {
    if (w->count == w->max) return _URC_END_OF_STACK;
    w->pcs[w->count++] = ip;
  }
  return _URC_NO_REASON;
}

/* A thread's first function returns to this library; its frame is the last one. */
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

static int take_stack(void *context, uintptr_t *pcs, int max) {
  struct walk w = {NULL, 0, 0, false};
  (void)context;
  if (!self.inside || !self.function || max < 3) return 0;
  pcs[0] = self.function + 1; /* frames are return addresses */
  max--;                      /* `max` frames would count as truncated */
  if (state.stacks == RECORD_STACKS_UNWIND) {
    w.pcs = pcs;
    w.count = 1;
    w.max = max;
    unwinder.backtrace(take_frame, &w);
    if (w.count > 1) return w.count;
  }
  pcs[1] = self.caller;
  if (state.stacks != RECORD_STACKS_FRAME_POINTERS || self.frame >= self.stack_high) return 2;
  return 2 + walk_frames(pcs + 2, max - 2);
}

/* ----------------------------------------------------------------------------------------------- start and end ---- */

/* Appends to a text of at most BOARD_PATH bytes. */
static char *append(char *at, const char *limit, const char *text, size_t size) {
  while (size-- && *text && at < limit - 1) *at++ = *text++;
  *at = 0;
  return at;
}

static char *append_number(char *at, const char *limit, unsigned number) {
  char digits[16], *d = digits + sizeof digits - 1;
  *d = 0;
  do *--d = (char)('0' + number % 10);
  while (number /= 10);
  return append(at, limit, d, sizeof digits);
}

/* Whether an entry of the board has this path and a complete trace. */
static bool is_taken(const char *path) {
  const struct board *b = state.board;
  uint32_t count = __atomic_load_n(&b->processes, __ATOMIC_ACQUIRE), i;
  for (i = 0; i < count && i < BOARD_PROCESSES; i++) {
    const struct board_process *p = &b->process[i];
    uint32_t how = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
    if (p != state.entry && (how == PROCESS_TRACED || how == PROCESS_ENDED || how == PROCESS_REPLACED) &&
        strcmp(p->path, path) == 0)
      return true;
  }
  return false;
}

/* Chooses the path of the process's trace. If the process executed another program before, that one's trace stays. */
static void choose_path(char *path, unsigned snapshot) {
  const struct board *b = state.board;
  const char *limit = path + BOARD_PATH, *from = b->output, *name = program_invocation_short_name;
  bool is_first = b->first_pid == state.pid, has_pid = false;
  unsigned turn;
  for (turn = 1;; turn++) {
    char *at = path, *dot;
    if (!*from) {
      at = append(at, limit, b->directory, BOARD_PATH);
      at = append(at, limit, "/", 1);
      at = append(at, limit, is_first && b->command[0] ? b->command : name && *name ? name : "program", 200);
      at = append(at, limit, ".", 1);
      at = append_number(at, limit, (unsigned)state.pid);
      at = append(at, limit, ".trace", 6);
      has_pid = true;
    }
    for (; *from; from++) {
      if (from[0] == '%' && from[1] == '%') from++;
      else if (from[0] == '%' && from[1] == 'p') {
        at = append_number(at, limit, (unsigned)state.pid), from++, has_pid = true;
        continue;
      }
      at = append(at, limit, from, 1);
    }
    dot = strrchr(path, '.');
    if (!dot || strchr(dot, '/')) dot = at;
    if (turn > 1 || snapshot || (!is_first && !has_pid)) { /* insert a number before the suffix */
      char suffix[256];
      append(suffix, suffix + sizeof suffix, dot, sizeof suffix);
      at = dot;
      if (!is_first && !has_pid) at = append_number(append(at, limit, ".", 1), limit, (unsigned)state.pid);
      if (turn > 1) at = append_number(append(at, limit, "-", 1), limit, turn);
      if (snapshot) at = append_number(append(at, limit, ".", 1), limit, snapshot);
      append(at, limit, suffix, sizeof suffix);
    }
    if (!is_taken(path) || turn == 1000) return;
    from = b->output;
  }
}

/* The tracer expands % in paths, so each one is doubled. */
static void double_percents(char *to, const char *path) {
  const char *limit = to + 2 * BOARD_PATH;
  for (; *path && to < limit - 2; path++) {
    if (*path == '%') *to++ = '%';
    *to++ = *path;
  }
  *to = 0;
}

static struct board_process *new_entry(void) {
  uint32_t i = __atomic_fetch_add(&state.board->processes, 1u, __ATOMIC_ACQ_REL);
  struct board_process *entry = i < BOARD_PROCESSES ? &state.board->process[i] : NULL;
  int32_t none = 0;
  __atomic_compare_exchange_n(&state.board->first_pid, &none, state.pid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (entry) entry->pid = state.pid;
  return entry;
}

/* Copies the statistics to the board. Returns the result of the trace. */
static gotrace_result note_problems(struct board_process *entry) {
  static gotrace_stats stats; /* too large for a small stack */
  gotrace_get_stats(&stats);
  entry->system_error = stats.system_error;
  entry->events = stats.events;
  memcpy(entry->problems, stats.problems, sizeof entry->problems);
  return stats.result;
}

static char full_path[2 * BOARD_PATH];

static bool write_snapshot(unsigned number) {
  static char path[BOARD_PATH];
  if (number) choose_path(path, number);
  else append(path, path + sizeof path, state.entry->path, sizeof path);
  double_percents(full_path, path);
  return gotrace_flight_snapshot_file(full_path) == GOTRACE_OK;
}

/* SIGUSR2: a thread of this library writes the flight recorder's data. */
static uint32_t snapshots_wanted;
static uint32_t snapshot_lock;

static void want_snapshot(int number) {
  int kept = errno;
  (void)number;
  __atomic_fetch_add(&snapshots_wanted, 1u, __ATOMIC_RELEASE);
  REAL(syscall)(SYS_futex, &snapshots_wanted, 1 /* FUTEX_WAKE */, 1, NULL, NULL, 0);
  errno = kept;
}

static void *write_snapshots(void *unused) {
  uint32_t written = 0, wanted;
  (void)unused;
  for (;;) {
    wanted = __atomic_load_n(&snapshots_wanted, __ATOMIC_ACQUIRE);
    if (wanted == written) {
      REAL(syscall)(SYS_futex, &snapshots_wanted, 0 /* FUTEX_WAIT */, wanted, NULL, NULL, 0);
      continue;
    }
    take_lock(&snapshot_lock);
    written++;
    if (__atomic_load_n(&state.recording, __ATOMIC_ACQUIRE)) write_snapshot(written);
    drop_lock(&snapshot_lock);
  }
  return NULL;
}

static void prepare_snapshots(void) {
  struct sigaction action;
  pthread_t handle;
  memset(&action, 0, sizeof action);
  action.sa_handler = want_snapshot;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &action, NULL);
  if (create_service(&handle, write_snapshots) == 0) pthread_detach(handle);
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

void start_trace(bool is_child) {
  const struct board *b = state.board;
  gotrace_options options;
  gotrace_result result = GOTRACE_OK;
  int kept = errno;
  static struct board_process spare; /* used if there are more processes than entries */
  self.inside = 1;
  self.function = 0;
  state.pid = (int)REAL(syscall)(SYS_getpid);
  state.entry = new_entry();
  if (!state.entry) state.entry = &spare;
  memset(&options, 0, sizeof options);
  options.format = (gotrace_format)b->format;
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = take_stack;
  options.size_limit = b->size_limit;
  options.cut_milliseconds = b->cut_milliseconds;
  options.flight_milliseconds = b->flight_milliseconds;
  options.flight_bytes = (size_t)64 << 20;
  state.stacks = b->stacks;
  state.only_waits = b->only_waits != 0;
  if (b->stacks == RECORD_STACKS_NONE) options.stacks = GOTRACE_STACKS_NONE;
  if (b->stacks == RECORD_STACKS_UNWIND && !unwinder.ip && !find_unwinder()) result = GOTRACE_ERROR_ARGUMENT;
  choose_path(state.entry->path, 0);
  double_percents(full_path, state.entry->path);
  if (result == GOTRACE_OK)
    result = b->flight_milliseconds ? gotrace_flight_start(&options) : gotrace_start_file(full_path, &options);
  state.entry->result = result;
  state.entry->system_error = result == GOTRACE_ERROR_SINK ? errno : 0;
  __atomic_store_n(&state.entry->state, (uint32_t)(result == GOTRACE_OK ? PROCESS_TRACED : PROCESS_FAILED),
                   __ATOMIC_RELEASE);
  if (result == GOTRACE_OK) {
    if (!reasons[0]) prepare_reasons();
    if (b->flight_milliseconds) prepare_snapshots();
    if (!is_child) begin_main_thread();
    self.inside = 0;
    __atomic_store_n(&state.recording, 1u, __ATOMIC_RELEASE);
  }
  self.inside = 0;
  errno = kept;
}

/* Does nothing in a vfork child, which shares its parent's memory. */
void finish_trace(void) {
  uint32_t on = 1;
  int kept = errno;
  unsigned inside = self.inside;
  gotrace_result result = GOTRACE_OK;
  if (!__atomic_load_n(&state.recording, __ATOMIC_ACQUIRE) || (int)REAL(syscall)(SYS_getpid) != state.pid ||
      !__atomic_compare_exchange_n(&state.recording, &on, 0u, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return;
  self.inside = 1;
  if (state.board->flight_milliseconds) {
    take_lock(&snapshot_lock);
    if (!write_snapshot(0)) result = GOTRACE_ERROR_SINK, state.entry->system_error = errno;
    note_problems(state.entry);
    gotrace_flight_stop();
    state.entry->result = result;
  } else {
    gotrace_stop(); /* the tracer may have ended the trace already: see its guide, THE END OF THE PROGRAM */
    state.entry->result = note_problems(state.entry);
  }
  __atomic_store_n(&state.entry->state, (uint32_t)PROCESS_ENDED, __ATOMIC_RELEASE);
  self.inside = inside;
  errno = kept;
}

static void forked(void) { __atomic_store_n(&state.recording, 0u, __ATOMIC_RELEASE); }

/* Removes the library from LD_PRELOAD, and the board's variable, in place. */
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

#if defined(__GLIBC__)
#define OWN_LIBRARY RECORD_GNU
#else
#define OWN_LIBRARY RECORD_MUSL
#endif

char board_assignment[BOARD_PATH + 32];

__attribute__((constructor(101))) static void start(void) {
  const char *path = getenv(BOARD_VARIABLE);
  void *memory;
  int file;
  resolve();
  if (!path || !*path || strlen(path) >= BOARD_PATH) return;
  snprintf(board_assignment, sizeof board_assignment, "%s=%s", BOARD_VARIABLE, path);
  file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  memory = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  real.close(file);
  if (memory == MAP_FAILED) return;
  state.board = memory;
  if (state.board->version != BOARD_VERSION) {
    munmap(memory, sizeof(struct board));
    state.board = NULL;
    return;
  }
  state.children = state.board->children != 0;
  /* system and popen pass the environment to a shell, which may use the other C library */
  if (!state.children || library_for("/bin/sh") != OWN_LIBRARY) clean_environment();
  start_trace(false);
  pthread_atfork(NULL, NULL, forked);
  atexit(finish_trace); /* musl: runs before the destructors. glibc: the one in tracer.c runs before this */
  at_quick_exit(finish_trace);
}
