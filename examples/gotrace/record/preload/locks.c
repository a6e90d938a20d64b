/* locks.c - mutexes, read-write locks, condition variables, barriers, semaphores, spin locks, once; C11; futex: see
 * preload.h
 *
 * A lock is first tried, so only a lock that is held costs an event. Releasing it wakes the first waiter in order of
 * arrival, which is also the kernel's order. */

#include "preload.h"

#include <limits.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* A function that usually does not wait has a fast path and a slow path. The fast path ends in a tail call of the slow
 * path, which then finds the program's frame and return address as if the program had called it. So this library is
 * always built with optimization. */
#define LONG_WAY NOINLINE static

/* glibc refuses some invalid times and clocks even if the lock is free. Then nothing is tried before the real function.
 */
static bool is_time(const struct timespec *until) { return until->tv_nsec >= 0 && until->tv_nsec < 1000000000; }
static bool is_clock(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }
static int mutex_not_tried(pthread_mutex_t *unused) { return (void)unused, EBUSY; }
static int rwlock_not_tried(pthread_rwlock_t *unused) { return (void)unused, EBUSY; }

/* ----------------------------------------------------------------------------------------------------- holders ----
 *
 * Taking a free lock costs no event. Instead, the thread notes that it has the lock and where it took it, and a thread
 * that waits for the lock tells that. Locks share slots, and nothing protects these: a note may be of another lock, or
 * consist of parts of two notes, which the seal shows. It may be old, if the C library itself has taken the lock since;
 * so it counts only if the lock names the same thread, where the C library keeps that.
 */

#define NOTES 8192 /* a power of two */

/* Two words: with a third, a lock and its unlock take 3 % longer. */
static struct note {
  uint64_t at; /* return address, sealed */
  const struct usage *by;
#if UINTPTR_MAX < UINT64_MAX
  uint32_t unused;
#endif
} notes[NOTES];

/* A sealed address, or the address that it was: that has no more than ADDRESS_BITS, unless the note is not of this lock
 * and this thread. */
#define ADDRESS_BITS 48
static inline uint64_t seal(uint64_t at, const void *lock, const struct usage *by) {
  return at ^ ((uintptr_t)lock ^ (uintptr_t)by) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Locks are 8 bytes or more. */
static inline struct note *note_of(const void *lock) {
  return (struct note *)(void *)((char *)notes + ((uintptr_t)lock & (NOTES - 1) * 8) * (sizeof *notes / 8));
}

static inline void note_holder(const void *lock, uintptr_t at) {
  struct note *n = note_of(lock);
  const struct usage *by = self.usage;
  __atomic_store_n(&n->at, seal(at, lock, by), __ATOMIC_RELAXED);
  __atomic_store_n(&n->by, by, __ATOMIC_RELAXED);
}

/* Tells who has the lock for which the thread is about to wait. `number`: of the thread that the lock names; 0: none;
 * UNNAMED: it can name none. */
#define UNNAMED UINT32_MAX
#define MUSL_SHARED 128u /* in the first word of a mutex */
static void tell_holder(const void *lock, uint32_t number) {
  const struct note *n = note_of(lock);
  const struct usage *by = __atomic_load_n(&n->by, __ATOMIC_RELAXED);
  uint64_t at = seal(__atomic_load_n(&n->at, __ATOMIC_RELAXED), lock, by);
  int kept = errno;
  char text[24];
  uint64_t go;
  if (!by || at >> ADDRESS_BITS || (number != UNNAMED && number != by->number) || !by->go) return;
  if (!calls()->may_report()) return;                             /* nor is the wait */
  go = is_program_traced() ? calls()->go_on(by->number) : by->go; /* a task, perhaps */
  if (!go) return;
  snprintf(text, sizeof text, "%llu", (unsigned long long)go);
  self.taken = (uintptr_t)at;
  gotrace_log_at(NULL, GOTRACE_NO_TASK, RECORD_HOLDER, text);
  self.taken = 0;
  errno = kept;
}

static inline uint32_t word_of(const void *lock, size_t index) {
  uint32_t word;
  memcpy(&word, (const char *)lock + index * sizeof word, sizeof word);
  return word;
}

/* The thread that a mutex names. In musl only the kinds that check it do; of one that processes share, the holder may
 * be in another one. */
static uint32_t mutex_holder(const pthread_mutex_t *m) {
#if defined(__GLIBC__)
  return (uint32_t)m->__data.__owner;
#else
  if (word_of(m, 0) & 15) return word_of(m, 1) & 0x3fffffff;
  return word_of(m, 0) & MUSL_SHARED ? 0 : UNNAMED;
#endif
}

/* The thread that has a read-write lock to write, if one has. The same holds of musl. */
static uint32_t writer_of(const pthread_rwlock_t *l) {
#if defined(__GLIBC__)
  return (uint32_t)l->__data.__cur_writer;
#else
  /* The state, waiters, whether processes share it. */
  return (word_of(l, 0) & 0x7fffffff) == 0x7fffffff && !word_of(l, 2) ? UNNAMED : 0;
#endif
}

/* ------------------------------------------------------------------------------------- shared between processes ----
 *
 * Where each C library notes that processes share a lock (PTHREAD_PROCESS_SHARED). A program may have initialized it
 * before it was traced, or another program may have.
 */

static inline bool is_shared_mutex(const pthread_mutex_t *m) {
#if defined(__GLIBC__)
  return (m->__data.__kind & 128) != 0;
#else
  return (word_of(m, 0) & MUSL_SHARED) != 0;
#endif
}

static inline bool is_shared_condition(const pthread_cond_t *c) {
#if defined(__GLIBC__)
  return (c->__data.__wrefs & 1) != 0;
#else
  return word_of(c, 0) != 0; /* half of a pointer, all ones */
#endif
}

/* The first words are the value; in glibc for 64 bits, also how many threads wait. */
static inline bool is_shared_semaphore(const sem_t *s) {
#if defined(__GLIBC__)
  return word_of(s, sizeof(uint64_t) == sizeof(void *) ? 2 : 1) != 0;
#else
  return word_of(s, 2) == 0;
#endif
}

/* In glibc, how many threads have come, the round, and how many there are; in musl, there are one more than the third
 * word without its sign, and the fourth tells how many have come. */
static inline bool is_shared_barrier(const pthread_barrier_t *b) {
#if defined(__GLIBC__)
  return word_of(b, 3) != 0;
#else
  return word_of(b, 2) >> 31 != 0;
#endif
}

/* Whether only the calling thread has not come yet. If others come at the same time, it may not be known. */
static bool is_last_at(const pthread_barrier_t *b) {
#if defined(__GLIBC__)
  return (word_of(b, 0) + 1) % word_of(b, 2) == 0;
#else
  return word_of(b, 3) == (word_of(b, 2) & 0x7fffffff);
#endif
}

/* Also of read-write locks, which several readers release at a time: nobody knows which was the last. */
static inline bool is_never_shared(const void *lock) { return (void)lock, false; }

/* By kind of lock: what waiters wait for, and what is noted and told of who has it. Readers are not noted, since there
 * may be several. */
#define KEY_MUTEX(m) (m)
#define NOTE_MUTEX(m) note_holder(m, (uintptr_t)__builtin_return_address(0))
#define TELL_MUTEX(m) tell_holder(m, mutex_holder((const pthread_mutex_t *)(const void *)(m)))
#define SHARED_MUTEX(m) is_shared_mutex((const pthread_mutex_t *)(const void *)(m))
#define KEY_WRITE_LOCK(l) ((const char *)(l) + 1)
#define NOTE_WRITE_LOCK(l) note_holder(l, (uintptr_t)__builtin_return_address(0))
#define TELL_WRITE_LOCK(l) tell_holder(l, writer_of(l))
#define SHARED_WRITE_LOCK(l) is_never_shared(l)
#define KEY_READ_LOCK(l) ((const char *)(l))
#define NOTE_READ_LOCK(l) ((void)0)
#define TELL_READ_LOCK(l) TELL_WRITE_LOCK(l)
#define SHARED_READ_LOCK(l) SHARED_WRITE_LOCK(l)

/* Defines a function that waits for a lock. `try` is called first; `held` is its result for a held lock. Trying is
 * harmless even if the call is not to be reported. */
#define LOCK(type, name, parameters, arguments, try, try_arguments, held, kind, lock) \
  LONG_WAY type name##_held parameters {                                              \
    type result;                                                                      \
    if (!tracing()) return REAL(name) arguments;                                      \
    ENTER(name);                                                                      \
    TELL_##kind(lock);                                                                \
    if (SHARED_##kind(lock)) listen_to_shared(KEY_##kind(lock));                      \
    begin_wait(KEY_##kind(lock), REASON_##kind);                                      \
    result = real.name arguments;                                                     \
    if (result == 0) NOTE_##kind(lock);                                               \
    end_wait();                                                                       \
    tell_waker(result != 0);                                                          \
    LEAVE();                                                                          \
    return result;                                                                    \
  }                                                                                   \
  EXPORT type name parameters {                                                       \
    type result = try try_arguments;                                                  \
    if (LIKELY(result == 0)) NOTE_##kind(lock);                                       \
    if (LIKELY(result != (held))) return result;                                      \
    return name##_held arguments;                                                     \
  }

/* Defines a function that releases up to `count` waiters. `notes`: see wake_shared(). */
#define WAKER(type, name, parameters, arguments, function, key, count, is_shared, notes)                       \
  LONG_WAY type name##_wakes parameters {                                                                      \
    if (tracing()) {                                                                                           \
      ENTER(name);                                                                                             \
      if (is_shared(key)) wake_shared(key, count, notes);                                                      \
      else wake(key, count);                                                                                   \
      LEAVE();                                                                                                 \
    }                                                                                                          \
    return function arguments;                                                                                 \
  }                                                                                                            \
  EXPORT type name parameters {                                                                                \
    if (UNLIKELY(has_waiters(key) || (does_anybody_share() && is_shared(key)))) return name##_wakes arguments; \
    return function arguments;                                                                                 \
  }

/* Defines a function that takes a lock if it is free. */
#define TRY_LOCK(name, type, try, kind)         \
  EXPORT int name(type *lock) {                 \
    int result = try(lock);                     \
    if (LIKELY(result == 0)) NOTE_##kind(lock); \
    return result;                              \
  }

/* ----------------------------------------------------------------------------------------------------- mutexes ---- */

TRY_LOCK(pthread_mutex_trylock, pthread_mutex_t, EARLY(pthread_mutex_trylock), MUTEX)
LOCK(int, pthread_mutex_lock, (pthread_mutex_t * m), (m), EARLY(pthread_mutex_trylock), (m), EBUSY, MUTEX, m)
LOCK(int, pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *until), (m, until),
     REAL(pthread_mutex_trylock), (m), EBUSY, MUTEX, m)
LOCK(int, pthread_mutex_clocklock, (pthread_mutex_t * m, clockid_t clock, const struct timespec *until),
     (m, clock, until), (is_clock(clock) ? REAL(pthread_mutex_trylock) : mutex_not_tried), (m), EBUSY, MUTEX, m)
WAKER(int, pthread_mutex_unlock, (pthread_mutex_t * m), (m), EARLY(pthread_mutex_unlock), m, 1, is_shared_mutex, NEWEST)

TRY_LOCK(mtx_trylock, mtx_t, REAL(mtx_trylock), MUTEX)
LOCK(int, mtx_lock, (mtx_t * m), (m), REAL(mtx_trylock), (m), thrd_busy, MUTEX, m)
LOCK(int, mtx_timedlock, (mtx_t *restrict m, const struct timespec *restrict until), (m, until), REAL(mtx_trylock), (m),
     thrd_busy, MUTEX, m)
WAKER(int, mtx_unlock, (mtx_t * m), (m), REAL(mtx_unlock), m, 1, is_never_shared, NEWEST)

/* -------------------------------------------------------------------------------------------- read-write locks ---- */

TRY_LOCK(pthread_rwlock_trywrlock, pthread_rwlock_t, REAL(pthread_rwlock_trywrlock), WRITE_LOCK)
LOCK(int, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l), REAL(pthread_rwlock_tryrdlock), (l), EBUSY, READ_LOCK, l)
LOCK(int, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l), REAL(pthread_rwlock_trywrlock), (l), EBUSY, WRITE_LOCK, l)
LOCK(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const struct timespec *until), (l, until),
     (is_time(until) ? REAL(pthread_rwlock_tryrdlock) : rwlock_not_tried), (l), EBUSY, READ_LOCK, l)
LOCK(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const struct timespec *until), (l, until),
     (is_time(until) ? REAL(pthread_rwlock_trywrlock) : rwlock_not_tried), (l), EBUSY, WRITE_LOCK, l)
LOCK(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t * l, clockid_t clock, const struct timespec *until),
     (l, clock, until), (is_time(until) && is_clock(clock) ? REAL(pthread_rwlock_tryrdlock) : rwlock_not_tried), (l),
     EBUSY, READ_LOCK, l)
LOCK(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t * l, clockid_t clock, const struct timespec *until),
     (l, clock, until), (is_time(until) && is_clock(clock) ? REAL(pthread_rwlock_trywrlock) : rwlock_not_tried), (l),
     EBUSY, WRITE_LOCK, l)

/* Whether the calling thread, which holds the lock, is its only holder, not one of several readers. The first word of
 * the lock counts readers: in glibc from its fourth bit on (pthread_rwlock_common.c), in musl in its lower 31 bits,
 * where all ones mean a writer. */
static bool holds_alone(const pthread_rwlock_t *lock) {
  uint32_t word;
  memcpy(&word, lock, sizeof word);
#if defined(__GLIBC__)
  return word >> 3 <= 1;
#else
  word &= 0x7fffffff;
  return word <= 1 || word == 0x7fffffff;
#endif
}

/* Wakes all waiting readers, or else one writer. Both keys have the same slot. */
LONG_WAY int unlock_wakes(pthread_rwlock_t *l) {
  if (tracing() && holds_alone(l)) {
    ENTER(pthread_rwlock_unlock);
    if (!wake(KEY_READ_LOCK(l), GOTRACE_WAKE_ALL)) wake(KEY_WRITE_LOCK(l), 1);
    LEAVE();
  }
  return REAL(pthread_rwlock_unlock)(l);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l) {
  if (UNLIKELY(has_waiters(l))) return unlock_wakes(l);
  return REAL(pthread_rwlock_unlock)(l);
}

/* ----------------------------------------------------------------------------------------- condition variables ---- */

/* The wait releases the mutex and locks it again. */
#define CONDITION(name, parameters, arguments, is_shared)                                           \
  REPORTED(int, name, parameters, arguments, false, if (SHARED_MUTEX(m)) wake_shared(m, 1, NEWEST); \
           else if (has_waiters(m)) wake(m, 1); if (is_shared(c)) listen_to_shared(c);              \
           begin_wait(c, REASON_CONDITION), NOTE_MUTEX(m); end_wait(); tell_waker(result != 0))
CONDITION(pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m), is_shared_condition)
CONDITION(pthread_cond_timedwait, (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *until), (c, m, until),
          is_shared_condition)
CONDITION(pthread_cond_clockwait,
          (pthread_cond_t * c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until), (c, m, clock, until),
          is_shared_condition)
CONDITION(cnd_wait, (cnd_t * c, mtx_t *m), (c, m), is_never_shared)
CONDITION(cnd_timedwait, (cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict until), (c, m, until),
          is_never_shared)
WAKER(int, pthread_cond_signal, (pthread_cond_t * c), (c), REAL(pthread_cond_signal), c, 1, is_shared_condition, 1)
WAKER(int, pthread_cond_broadcast, (pthread_cond_t * c), (c), REAL(pthread_cond_broadcast), c, GOTRACE_WAKE_ALL,
      is_shared_condition, GOTRACE_WAKE_ALL)
WAKER(int, cnd_signal, (cnd_t * c), (c), REAL(cnd_signal), c, 1, is_never_shared, 1)
WAKER(int, cnd_broadcast, (cnd_t * c), (c), REAL(cnd_broadcast), c, GOTRACE_WAKE_ALL, is_never_shared, 1)

/* -------------------------------------------------------------------------------------------------- semaphores ---- */

static int take_semaphore(sem_t *s) {
  int result = real.sem_trywait(s);
  if (result == 0 && does_anybody_share() && is_shared_semaphore(s)) {
    self.inside = 1;
    take_shared(s);
    LEAVE();
  }
  return result;
}
EXPORT int sem_trywait(sem_t *s) { return tracing() ? take_semaphore(s) : REAL(sem_trywait)(s); }

/* sem_trywait sets errno, which a successful wait must not change. A thread that is to be cancelled takes no semaphore,
 * even one that is free. */
#define SEMAPHORE(name, parameters, arguments, valid)        \
  EXPORT int name parameters {                               \
    int result, kept = errno;                                \
    if (!tracing() || !(valid)) return REAL(name) arguments; \
    pthread_testcancel();                                    \
    result = take_semaphore(s);                              \
    if (result == 0 || errno != EAGAIN) return result;       \
    errno = kept;                                            \
    ENTER(name);                                             \
    if (is_shared_semaphore(s)) listen_to_shared(s);         \
    begin_wait(s, REASON_SEMAPHORE);                         \
    result = real.name arguments;                            \
    end_wait();                                              \
    tell_waker(result != 0);                                 \
    LEAVE();                                                 \
    return result;                                           \
  }
SEMAPHORE(sem_wait, (sem_t * s), (s), true)
SEMAPHORE(sem_timedwait, (sem_t * s, const struct timespec *until), (s, until), is_time(until))
SEMAPHORE(sem_clockwait, (sem_t * s, clockid_t clock, const struct timespec *until), (s, clock, until),
          is_time(until) && is_clock(clock))
WAKER(int, sem_post, (sem_t * s), (s), REAL(sem_post), s, 1, is_shared_semaphore, 1)

/* -------------------------------------------------------------------------------------------------- spin locks ---- */

#define SPINS 4000 /* some tens of microseconds */

EXPORT int pthread_spin_lock(pthread_spinlock_t *l) {
  int result = EBUSY;
  unsigned i;
  if (!tracing()) return REAL(pthread_spin_lock)(l);
  for (i = 0; i < SPINS && result == EBUSY; i++) result = real.pthread_spin_trylock(l);
  if (result != EBUSY) return result;
  WAIT_FOR(result, (const void *)l, SPIN, pthread_spin_lock, (l));
  return result;
}
WAKER(int, pthread_spin_unlock, (pthread_spinlock_t * l), (l), REAL(pthread_spin_unlock), (const void *)l, 1,
      is_never_shared, 1)

/* ------------------------------------------------------------------------------------------------------- barriers ----
 *
 * The last thread to arrive wakes the others. The number of threads is known only from pthread_barrier_init.
 */

#define BARRIERS 4096 /* waits on further barriers are shown without a waker */

static struct {
  uint32_t lock;
  struct barrier {
    const pthread_barrier_t *key; /* NULL: free; BARRIER_GONE: no longer used */
    unsigned count, arrived;
  } * all;
} barriers;

#define BARRIER_GONE ((const pthread_barrier_t *)(uintptr_t)1)

/* The caller holds the lock. */
static struct barrier *find_barrier(const pthread_barrier_t *key, bool add) {
  struct barrier *b, *place = NULL;
  size_t i, at = (size_t)mix(0, (uintptr_t)key);
  if (!barriers.all) barriers.all = allocate(BARRIERS * sizeof *barriers.all);
  if (!barriers.all) return NULL;
  for (i = 0; i < BARRIERS; i++) {
    b = &barriers.all[(at + i) % BARRIERS];
    if (b->key == key) return b;
    if (!place && (!b->key || b->key == BARRIER_GONE)) place = b;
    if (!b->key) break;
  }
  return add ? place : NULL;
}

EXPORT int pthread_barrier_init(pthread_barrier_t *key, const pthread_barrierattr_t *attributes, unsigned count) {
  int result = REAL(pthread_barrier_init)(key, attributes, count);
  if (result == 0 && !is_shared_barrier(key) && tracing()) {
    struct barrier *b;
    ENTER(pthread_barrier_init);
    take_lock(&barriers.lock);
    b = find_barrier(key, true);
    if (b) b->key = key, b->count = count, b->arrived = 0;
    drop_lock(&barriers.lock);
    LEAVE();
  }
  return result;
}

EXPORT int pthread_barrier_destroy(pthread_barrier_t *key) {
  if (tracing()) {
    struct barrier *b;
    ENTER(pthread_barrier_destroy);
    take_lock(&barriers.lock);
    b = find_barrier(key, false);
    if (b) b->key = BARRIER_GONE;
    drop_lock(&barriers.lock);
    LEAVE();
  }
  return REAL(pthread_barrier_destroy)(key);
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *key) {
  struct barrier *b;
  bool last = false;
  int result;
  if (!tracing()) return REAL(pthread_barrier_wait)(key);
  ENTER(pthread_barrier_wait);
  if (is_shared_barrier(key)) {
    last = is_last_at(key);
    if (!last) listen_to_shared(key), begin_wait(key, REASON_BARRIER);
    else wake_shared(key, GOTRACE_WAKE_ALL, GOTRACE_WAKE_ALL);
    result = real.pthread_barrier_wait(key);
    if (!last) end_wait(), tell_waker(result != 0);
    LEAVE();
    return result;
  }
  take_lock(&barriers.lock); /* held until the thread is listed as a waiter, so that the last thread finds it */
  b = find_barrier(key, false);
  last = b && b->arrived + 1 == b->count;
  if (b) b->arrived = last ? 0 : b->arrived + 1;
  if (!last) begin_wait(key, REASON_BARRIER);
  drop_lock(&barriers.lock);
  if (last && has_waiters(key)) wake(key, GOTRACE_WAKE_ALL);
  result = real.pthread_barrier_wait(key);
  if (!last) end_wait();
  LEAVE();
  return result;
}

/* -------------------------------------------------------------------------------------------------------- once ---- */

/* Runs the program's function, during which the thread is not inside the library. */
static void run_once(void) {
  pthread_once_t *once = self.once;
  void (*function)(void) = self.once_function;
  unsigned inside = self.inside;
  if (self.waits) end_wait(); /* the thread that ran it before was cancelled */
  self.inside = 0;
  function();
  self.inside = inside;
  if (tracing() || inside) {
    self.function = (uintptr_t)real.pthread_once;
    if (has_waiters(once)) wake(once, GOTRACE_WAKE_ALL);
  }
}

/* In glibc and musl, 2 means done, 0 not started. */
static int wait_once(pthread_once_t *once, void (*function)(void), uintptr_t caller, char *frame) {
  pthread_once_t *outer = self.once;
  void (*outer_function)(void) = self.once_function;
  int result;
  self.inside = 1;
  self.function = (uintptr_t)real.pthread_once;
  self.caller = caller;
  self.frame = frame;
  self.once = once;
  self.once_function = function;
  if (*(volatile pthread_once_t *)once) begin_wait(once, REASON_ONCE);
  result = real.pthread_once(once, run_once);
  if (self.waits) end_wait();
  self.once = outer;
  self.once_function = outer_function;
  LEAVE();
  return result;
}

EXPORT int pthread_once(pthread_once_t *once, void (*function)(void)) {
  if (__atomic_load_n(once, __ATOMIC_ACQUIRE) == 2 || !tracing()) return REAL(pthread_once)(once, function);
  return wait_once(once, function, (uintptr_t)__builtin_return_address(0), __builtin_frame_address(0));
}

/* The same flag in both C libraries. */
EXPORT void call_once(once_flag *flag, void (*function)(void)) {
  pthread_once_t *once = (pthread_once_t *)(void *)flag;
  if (__atomic_load_n(once, __ATOMIC_ACQUIRE) == 2 || !tracing()) REAL(call_once)(flag, function);
  else wait_once(once, function, (uintptr_t)__builtin_return_address(0), __builtin_frame_address(0));
}

/* ---------------------------------------------------------------------------------------------------------- futex ----
 *
 * Used by the locks of other languages' runtimes, and of C++ (static local variables, std::atomic::wait).
 */

enum {
  WAIT = 0,
  WAKE = 1,
  REQUEUE = 3,
  CMP_REQUEUE = 4,
  WAKE_OP = 5,
  LOCK_PI = 6,
  WAIT_BITSET = 9,
  WAKE_BITSET = 10,
  LOCK_PI2 = 13,
  PRIVATE = 128 /* a flag: only threads of the process */
};

static long futex(long number, const long a[6]) {
  const void *key = (const void *)a[0];
  int operation = (int)(a[1] & 0x7f);
  int count = (int)a[2];
  unsigned wakes = count < 0 || count == INT_MAX ? GOTRACE_WAKE_ALL : (unsigned)count;
  bool waits = operation == LOCK_PI || operation == LOCK_PI2;
  bool may_share = !(a[1] & PRIVATE);
  long result;
  if ((operation == WAIT_BITSET || operation == WAKE_BITSET) && (uint32_t)a[5] != UINT32_MAX) may_share = false;
  if (operation == WAIT || operation == WAIT_BITSET) {
    waits = key && *(const volatile uint32_t *)key == (uint32_t)a[2]; /* otherwise it returns at once */
    if (waits && may_share) listen_to_shared(key);
  }
  if ((operation == WAKE || operation == WAKE_BITSET) && may_share && does_anybody_share())
    wake_shared(key, wakes, wakes);
  else if ((operation == WAKE || operation == WAKE_BITSET || operation == REQUEUE || operation == CMP_REQUEUE ||
            operation == WAKE_OP) &&
           has_waiters(key))
    wake(key, wakes);
  if (waits) begin_wait(key, REASON_FUTEX);
  result = real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (waits) end_wait(), tell_waker(result != 0);
  return result;
}

/* ------------------------------------------------------------------------------------------------- syscall() ---- */

/* Why a system call waits; REASON_COUNT: it does not, or is not known. */
static unsigned reason_of_call(long number, const long a[6]) {
  switch (number) {
  case SYS_nanosleep:
  case SYS_clock_nanosleep: return REASON_SLEEP;
  case SYS_ppoll: return REASON_POLL;
  case SYS_epoll_pwait: return a[3] ? REASON_EPOLL : REASON_COUNT;
  case SYS_pselect6: return REASON_SELECT;
#ifdef SYS_poll
  case SYS_poll: return a[2] ? REASON_POLL : REASON_COUNT;
  case SYS_select: return REASON_SELECT;
  case SYS_epoll_wait: return a[3] ? REASON_EPOLL : REASON_COUNT;
#endif
  case SYS_io_getevents: return a[1] > 0 ? REASON_ASYNCHRONOUS : REASON_COUNT;
#ifdef SYS_io_uring_enter
  case SYS_io_uring_enter: return a[2] ? REASON_ASYNCHRONOUS : REASON_COUNT;
#endif
  case SYS_wait4: return a[2] & WNOHANG ? REASON_COUNT : REASON_CHILD;
  case SYS_waitid: return a[3] & WNOHANG ? REASON_COUNT : REASON_CHILD;
  case SYS_rt_sigtimedwait:
  case SYS_rt_sigsuspend: return REASON_SIGNAL;
  default: return REASON_COUNT;
  }
}

/* Whether the child of a call has a copy of the memory, and no pthread_atfork handler runs in it. */
static bool copies_process(long number, const long a[6]) {
  switch (number) {
#ifdef SYS_fork
  case SYS_fork: return true;
#endif
#ifdef SYS_clone3
  case SYS_clone3: return a[0] && !(*(const uint64_t *)a[0] & CLONE_VM); /* the flags come first */
#endif
  case SYS_clone: return !(a[0] & CLONE_VM);
  default: return false;
  }
}

EXPORT long syscall(long number, ...) {
  long a[6], result;
  struct tick_mask copy;
  va_list arguments;
  unsigned i, reason;
  va_start(arguments, number);
  for (i = 0; i < 6; i++) a[i] = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_exit_group) finish_trace();
  before_system_call(number, a);
#ifdef SYS_close_range
  if (number == SYS_close_range) forget_descriptors();
#endif
#ifdef SYS_seccomp
  if (number == SYS_seccomp && (a[0] == 0 /* SECCOMP_SET_MODE_STRICT */ || (a[0] == 1 /* _FILTER */ && a[2]))) {
    bool was_in = begin_sandbox(a[0] == 0);
    result = REAL(syscall)(number, a[0], a[1], a[2]);
    end_sandbox(was_in, result == 0);
    return result;
  }
#endif
  if (number == SYS_prctl) return prctl((int)a[0], a[1], a[2], a[3], a[4]);
  if (copies_process(number, a)) {
    enum copy before = before_copy();
    result = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result == 0) after_copy(before);
    return result;
  }
  change_system_call(number, a, &copy);
  reason = reason_of_call(number, a);
  if ((number != SYS_futex && reason == REASON_COUNT) || !tracing())
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  ENTER(syscall);
  if (number == SYS_futex) {
    result = futex(number, a);
  } else {
    begin_wait(NULL, reason);
    result = real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    end_wait();
  }
  LEAVE();
  return result;
}

void locks_after_fork(void) { barriers.lock = 0; }
