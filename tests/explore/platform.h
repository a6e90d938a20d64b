/* platform.h - the platform that tests/explore/explore.c gives gotrace.h (GOTRACE__PLATFORM): every atomic operation,
 * lock, wait, clock reading and thread start lets the scheduler of engine.h choose the thread that continues.
 *
 * All threads are coroutines of one real thread. The code between two of these operations is therefore atomic, and
 * memory is sequentially consistent, unless --stale lets loads return replaced values: see memory.h.
 */
#ifndef EXPLORE_PLATFORM_H
#define EXPLORE_PLATFORM_H

#include <string.h>

enum explore_op {
  EXPLORE_LOAD,
  EXPLORE_STORE,
  EXPLORE_ADD,
  EXPLORE_EXCHANGE,
  EXPLORE_CAS,
  EXPLORE_LOCK,
  EXPLORE_UNLOCK,
  EXPLORE_WAIT,
  EXPLORE_WAKE,
  EXPLORE_JOIN
};

enum explore_order { EXPLORE_RELAXED = 0, EXPLORE_ACQUIRE = 1, EXPLORE_RELEASE = 2, EXPLORE_SEQ_CST = 7 };

/* Called before each operation; may switch to other threads. A load returns NULL or the replaced value that it reads.
 */
#define EXPLORE_NOINLINE __attribute__((noinline)) /* otherwise GOTRACE__FLATTEN would inline them into every call */
static EXPLORE_NOINLINE const void *explore_load(const void *at, size_t size, int order, int line);
static EXPLORE_NOINLINE void explore_store(void *at, size_t size, uint64_t value, enum explore_op op, int order,
                                           int line);
static EXPLORE_NOINLINE void explore_cas(void *at, size_t size, const void *expected, uint64_t desired, int order,
                                         int line);
static EXPLORE_NOINLINE void explore_fence(void);
static EXPLORE_NOINLINE bool explore_barrier(void);

/* Address and value are evaluated before the scheduler may switch, since another thread may change what they read. */
#define EXPLORE_NUMBER(v) ((uint64_t)(uintptr_t)(v))
#define EXPLORE_READ(p, order) \
  EXPLORE_READ_(p, order, GOTRACE__NAME(explore_at_, __COUNTER__), GOTRACE__NAME(explore_stale_, __COUNTER__))
#define EXPLORE_READ_(p, order, at, stale)                                                              \
  __extension__({                                                                                       \
    __auto_type at = (p);                                                                               \
    const void *stale = explore_load(at, sizeof *at, order, __LINE__);                                  \
    (__typeof__(*at))(stale ? *(const __typeof__(*at) *)stale : __atomic_load_n(at, __ATOMIC_RELAXED)); \
  })
#define EXPLORE_WRITE(p, v, op, order, change)                                     \
  EXPLORE_WRITE_(p, v, op, order, change, GOTRACE__NAME(explore_at_, __COUNTER__), \
                 GOTRACE__NAME(explore_value_, __COUNTER__))
#define EXPLORE_WRITE_(p, v, op, order, change, at, value)                     \
  __extension__({                                                              \
    __auto_type at = (p);                                                      \
    const __typeof__(*at) value = (__typeof__(*at))(v);                        \
    explore_store(at, sizeof *at, EXPLORE_NUMBER(value), op, order, __LINE__); \
    change(at, value, __ATOMIC_SEQ_CST);                                       \
  })
#define EXPLORE_SWAP(p, expected, desired, order)                                     \
  EXPLORE_SWAP_(p, expected, desired, order, GOTRACE__NAME(explore_at_, __COUNTER__), \
                GOTRACE__NAME(explore_value_, __COUNTER__))
#define EXPLORE_SWAP_(p, expected, desired, order, at, value)                                \
  __extension__({                                                                            \
    __auto_type at = (p);                                                                    \
    const __typeof__(*at) value = (__typeof__(*at))(desired);                                \
    explore_cas(at, sizeof *at, (expected), EXPLORE_NUMBER(value), order, __LINE__);         \
    __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  })

#define EXPLORE_BOTH (EXPLORE_ACQUIRE | EXPLORE_RELEASE)
#define gotrace__load_relaxed(p) EXPLORE_READ(p, EXPLORE_RELAXED)
#define gotrace__load_acquire(p) EXPLORE_READ(p, EXPLORE_ACQUIRE)
#define gotrace__load_seq_cst(p) EXPLORE_READ(p, EXPLORE_SEQ_CST)
#define gotrace__store_relaxed(p, v) EXPLORE_WRITE(p, v, EXPLORE_STORE, EXPLORE_RELAXED, __atomic_store_n)
#define gotrace__store_release(p, v) EXPLORE_WRITE(p, v, EXPLORE_STORE, EXPLORE_RELEASE, __atomic_store_n)
#define gotrace__store_seq_cst(p, v) EXPLORE_WRITE(p, v, EXPLORE_STORE, EXPLORE_SEQ_CST, __atomic_store_n)
#define gotrace__add_relaxed(p, v) EXPLORE_WRITE(p, v, EXPLORE_ADD, EXPLORE_RELAXED, __atomic_fetch_add)
#define gotrace__exchange_acq_rel(p, v) EXPLORE_WRITE(p, v, EXPLORE_EXCHANGE, EXPLORE_BOTH, __atomic_exchange_n)
#define gotrace__cas_seq_cst(p, expected, desired) EXPLORE_SWAP(p, expected, desired, EXPLORE_SEQ_CST)
#define gotrace__cas_acq_rel(p, expected, desired) EXPLORE_SWAP(p, expected, desired, EXPLORE_BOTH)
#define gotrace__fence_seq_cst() explore_fence()
#define gotrace__signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Counters belong to one thread or are protected by a lock, so these are no points of preemption. */
#define gotrace__count(counter, n) ((void)(*(counter) += (n)))

/* The macro of >>session would read the flag without asking the scheduler. */
#undef gotrace_enabled
#define gotrace_enabled() (gotrace__load_relaxed(&gotrace__on) != 0)

#define GOTRACE_SEQ_CST_FLAG 0
#define GOTRACE_TICK_DIV 1
#define GOTRACE__TICKS() explore_ticks()
#define GOTRACE__THREAD_LOCAL __thread
static EXPLORE_NOINLINE uint64_t explore_ticks(void);
static EXPLORE_NOINLINE uint64_t explore_nanoseconds(void);
#define gotrace__nanoseconds() explore_nanoseconds()
#define gotrace__process_id() 1ul
static void gotrace__wall_clock(uint64_t *seconds, uint32_t *nanoseconds) {
  *seconds = 1700000000;
  *nanoseconds = 0;
}

typedef struct gotrace__mutex {
  uint32_t owner; /* the thread that holds it, plus 1 */
} gotrace__mutex;
typedef struct gotrace__cond {
  uint32_t wakes; /* number of wake-ups so far */
} gotrace__cond;
typedef int gotrace__thread_handle;
#define GOTRACE__MUTEX \
  { 0 }

static EXPLORE_NOINLINE void explore_lock(gotrace__mutex *mutex, int line);
static EXPLORE_NOINLINE void explore_unlock(gotrace__mutex *mutex, int line);
static EXPLORE_NOINLINE void explore_wait(gotrace__cond *cond, gotrace__mutex *mutex, uint64_t milliseconds,
                                          void (*cancelled)(void *mutex), int line);
static EXPLORE_NOINLINE int explore_cancel_off(void);
static EXPLORE_NOINLINE void explore_cancel_restore(int before);
static EXPLORE_NOINLINE void explore_wake(gotrace__cond *cond, int line);
static EXPLORE_NOINLINE void explore_yield(int line);
static bool explore_run_service(int *handle);
static EXPLORE_NOINLINE void explore_join(int handle, int line);
static void explore_at_exit(void *thread);
static uintptr_t explore_identity(void);
static uint64_t explore_system_id(void);

#define gotrace__block_signals() ((void)0)
#define gotrace__unblock_signals() ((void)0)
#define gotrace__blocks_signals() false
#define gotrace__mutex_lock(mutex) explore_lock((mutex), __LINE__)
#define gotrace__mutex_unlock(mutex) explore_unlock((mutex), __LINE__)
#define gotrace__cond_wait(cond, mutex, ms, cancelled) explore_wait((cond), (mutex), (ms), (cancelled), __LINE__)
#define gotrace__cancel_off() explore_cancel_off()
#define gotrace__cancel_restore(before) explore_cancel_restore(before)
#define gotrace__at_process_exit() ((void)gotrace__exit)
#define gotrace__threads_after_main() 0L
#define gotrace__thread_detach(handle) ((void)(handle))
#define gotrace__thread_lives(handle) ((void)(handle), true)
#define gotrace__cond_wake(cond) explore_wake((cond), __LINE__)
#define gotrace__cond_init(cond) ((void)((cond)->wakes = 0))
#define GOTRACE__SPINS 1
#define GOTRACE__YIELDS 1
#define gotrace__yield() explore_yield(__LINE__)
#define gotrace__sleep() explore_yield(__LINE__)
#define gotrace__thread_run(handle) ((void)gotrace__service, explore_run_service(handle))
#define gotrace__low_priority() ((void)0)
#define gotrace__thread_join(handle) explore_join((handle), __LINE__)
#define gotrace__platform_init() ((void)0)
#define gotrace__at_thread_exit(thread) explore_at_exit(thread)
#define GOTRACE__ROUNDS 0xffffffffu /* all explored threads share one counter */
#define gotrace__barrier_init() true
#define gotrace__barrier() explore_barrier()
#define gotrace__identity() explore_identity()
#define gotrace__system_thread_id() explore_system_id()
#define gotrace__system_thread_name(name, size) ((void)snprintf((name), (size), "thread"))
#define gotrace__stack_bounds(low, high) ((void)(low), (void)(high), false)
#define gotrace__main_stack(low, high) ((void)(low), (void)(high), false)
#define gotrace__alternate_stack(low, high) (*(low) = *(high) = 0, false)

/* Files are written to the memory of the sink. */
static bool explore_file_write(const void *data, size_t size);
typedef struct gotrace__file {
  int number;
  bool regular;
  uint32_t patience;
} gotrace__file;
#define GOTRACE__CREATE 1
#define GOTRACE__NOFOLLOW 2
#define GOTRACE__NOWAIT 4
#define gotrace__is_privileged() false
static bool explore_file_open(gotrace__file *file) {
  file->number = 3;
  file->regular = false;
  return true;
}
#define gotrace__file_open(path, flags, file) ((void)(path), (void)(flags), explore_file_open(file))
#define gotrace__file_remove(path) ((void)(path))
#define gotrace__file_create(path, file) ((void)(path), explore_file_open(file))
#define gotrace__file_replace(old, from, to) ((void)(old), (void)(from), (void)(to), true)
#define gotrace__file_write(file, data, size) ((void)(file), explore_file_write((data), (size)))
#define gotrace__file_truncate(file, size) ((void)(file), (void)(size), true)
static bool explore_file_rewind(void);
#define gotrace__file_seek(file, offset) ((void)(file), (void)(offset), explore_file_rewind())
static bool explore_file_close(gotrace__file *file) {
  file->number = -1;
  return true;
}
#define gotrace__file_close(file) explore_file_close(file)
#define gotrace__file_ask(file) ((void)(file), (void)gotrace__sink_waits)
#define gotrace__file_abandon(file) explore_file_close(file)
#define gotrace__file_discard(file, path) ((void)(path), (void)explore_file_close(file))

#ifdef EXPLORE_OUTSIDE /* what the box and its reader need of the system; no module is ever told */
#define GOTRACE__MAP_ANONYMOUS MAP_ANONYMOUS
#define gotrace__in_sandbox() false
static uint32_t gotrace__is_sandboxed; /* of programs that have other recorders */
#define GOTRACE__ELF
#define GOTRACE__C(name) name
typedef ElfW(Phdr) gotrace__segment;
typedef ElfW(Dyn) gotrace__dynamic;
typedef ElfW(Sym) gotrace__elf_symbol;
typedef ElfW(Ehdr) gotrace__elf_head;
typedef ElfW(Shdr) gotrace__elf_section;
typedef struct gotrace__module {
  uintptr_t base;
  const char *path;
  const gotrace__segment *segments;
  uint16_t segment_count;
  unsigned long long loads, unloads;
} gotrace__module;
#define dl_iterate_phdr(visit, argument) ((void)(visit), (void)(argument), 0)
#define gotrace__file_open_to_read(path, file) ((void)(path), (void)(file), false)
#define gotrace__file_read_some(file, at, data, size) ((void)(file), (void)(at), (void)(data), (void)(size), (size_t)0)
static uint32_t gotrace__has_exit_key;
static void *explore_map_pages(size_t size);
#define gotrace__map_pages(size) explore_map_pages(size)
#define gotrace__unmap_pages(memory, size) ((void)(memory), (void)(size))
static EXPLORE_NOINLINE long explore_syscall(long number, uint32_t *at, long operation, long value, ...);
#define syscall(number, at, operation, ...) \
  explore_syscall((number), (uint32_t *)(uintptr_t)(at), (long)(operation), __VA_ARGS__)
#else
#define gotrace__symbol(pc, name, size, file) ((void)(pc), (void)(name), (void)(size), (void)(file), false)
#endif

#endif
