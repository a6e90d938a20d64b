/* descriptors.c - what is known of the program's descriptors: see preload.h
 *
 * It is found when a call first has to do with the descriptor, so that later calls need no system call of the library's
 * own. It is forgotten when a function that this library defines closes the descriptor, or makes it another file. The
 * library does not see everything that does so: system calls of the program's own, some functions of the C library
 * (login_tty, mq_close), children of vfork, and a thread that uses the descriptor while another one closes it.
 *
 * So what is known is compared with what the kernel says before a wait, and before a write or read while another thread
 * of the process waits for a descriptor, at most once in each DESCRIPTORS_AGE. Until then the trace may name as the one
 * that ended a wait who wrote to the former file, or nobody. Nothing compares a descriptor for which the process never
 * waits. What other processes wait for is then never found, and if it is now of another kind, a wait for it is shown as
 * a system call. */

#include "preload.h"

#include <fcntl.h>
#include <sys/mman.h>

#define DESCRIPTORS 65536         /* nothing is kept of further ones */
#define DESCRIPTORS_AGE 100000000 /* nanoseconds */

/* All members are atomic. */
static struct descriptor {
  uint64_t key;     /* see key_of(); 0: none */
  uint64_t in, out; /* see wake_key_of(); 0: none */
  uint32_t period;  /* in which this was compared */
  uint8_t kind;     /* written last */
} descriptors[DESCRIPTORS] __attribute__((aligned(STATE_PAGES)));

/* A key is never a valid address. */
static uint64_t find_key(int fd, const struct stat *status) {
  uint64_t file = mix((uint64_t)status->st_dev, (uint64_t)status->st_ino);
  return mix(file, status->st_mode & S_IFMT ? 0 : (uint64_t)fd + 1) | 1u << 31 | 1;
}

static enum kind find_kind(int fd, const struct stat *status) {
  int flags = real.fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK)) return READY;
  switch (status->st_mode & S_IFMT) {
  case S_IFIFO: return PIPE;
  case S_IFSOCK: return SOCKET;
  case S_IFCHR: return isatty(fd) ? TERMINAL : READY;
  case 0: return EVENT;
  default: return READY;
  }
}

static uint32_t period_of(uint64_t time) { return (uint32_t)(time / DESCRIPTORS_AGE); }

NOINLINE static void look_at(int fd, struct descriptor *d) {
  struct stat status;
  uint64_t in = 0, out = 0;
  int kept = errno;
  if (fd >= 0 && !in_sandbox() && fstat(fd, &status) == 0) {
    enum kind kind = find_kind(fd, &status);
    if (shared_wakes && fd < DESCRIPTORS) find_wake_keys(fd, &status, &in, &out);
    __atomic_store_n(&d->key, find_key(fd, &status), __ATOMIC_RELAXED);
    __atomic_store_n(&d->in, in, __ATOMIC_RELAXED);
    __atomic_store_n(&d->out, out, __ATOMIC_RELAXED);
    __atomic_store_n(&d->period, period_of(read_clock(CLOCK_MONOTONIC_COARSE)), __ATOMIC_RELAXED);
    __atomic_store_n(&d->kind, (uint8_t)kind, __ATOMIC_RELEASE);
  }
  errno = kept;
}

/* NULL: nothing is known, as in a sandbox. */
static inline struct descriptor *find(int fd) {
  static __thread struct descriptor other; /* of which nothing is kept */
  struct descriptor *d = &other;
  if (LIKELY(fd >= 0 && fd < DESCRIPTORS)) d = &descriptors[fd];
  else other.kind = UNKNOWN;
  if (UNLIKELY(__atomic_load_n(&d->kind, __ATOMIC_ACQUIRE) == UNKNOWN)) look_at(fd, d);
  return LIKELY(__atomic_load_n(&d->kind, __ATOMIC_ACQUIRE) != UNKNOWN) ? d : NULL;
}

void compare_descriptor(int fd, uint64_t time) {
  struct descriptor *d = find(fd);
  struct stat status;
  int kept = errno;
  if (!d || __atomic_load_n(&d->period, __ATOMIC_RELAXED) == period_of(time) || in_sandbox()) return;
  if (fstat(fd, &status) == 0 && find_key(fd, &status) == __atomic_load_n(&d->key, __ATOMIC_RELAXED))
    __atomic_store_n(&d->period, period_of(time), __ATOMIC_RELAXED);
  else forget_descriptor(fd);
  errno = kept;
}

enum kind kind_of(int fd) {
  const struct descriptor *d = find(fd);
  enum kind kind = d ? (enum kind)__atomic_load_n(&d->kind, __ATOMIC_RELAXED) : READY;
  return kind == UNKNOWN ? READY : kind; /* it is forgotten meanwhile */
}

const void *key_of(int fd) {
  const struct descriptor *d;
  if (!in_sandbox()) compare_descriptor(fd, read_clock(CLOCK_MONOTONIC_COARSE));
  d = find(fd);
  return d ? (const void *)(uintptr_t)__atomic_load_n(&d->key, __ATOMIC_RELAXED) : NULL;
}

uint64_t wake_key_of(int fd, bool writes) {
  const struct descriptor *d = fd < DESCRIPTORS ? find(fd) : NULL;
  return d ? __atomic_load_n(writes ? &d->out : &d->in, __ATOMIC_RELAXED) : 0;
}

void forget_descriptor(int fd) {
  if (fd >= 0 && fd < DESCRIPTORS) __atomic_store_n(&descriptors[fd].kind, (uint8_t)UNKNOWN, __ATOMIC_RELAXED);
}

void forget_descriptors(void) {
  int kept = errno, fd;
  /* Then they are 0. It fails if the program has locked its memory. */
  if (!in_sandbox() && madvise(descriptors, sizeof descriptors, MADV_DONTNEED) == 0) return;
  errno = kept;
  for (fd = 0; fd < DESCRIPTORS; fd++) forget_descriptor(fd);
}
