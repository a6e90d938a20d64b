/* ticks.c - CPU samples by timers, where the kernel allows no perf events: see preload.h
 *
 * Each thread has a timer of its CPU time, which sends it SIGPROF. The handler copies the registers and the top of the
 * stack to where the recorder reads it (struct ticks in board.h), which finds the callers. It makes no system call,
 * takes no lock, and calls nothing but the clock. Where the recorder has not read yet, the sample is lost, and counted.
 *
 * SIGPROF is what programs expect of a profiler: debuggers pass it on in silence, and few programs use it. One that
 * sets an action for it has it: the timers are deleted for good. While it has the default action, the library's handler
 * takes the place of that (end_by_signal), and tells a timer's signal from others by its value.
 *
 * THE PROGRAM DOES NOT NOTICE
 *
 *   1. The signal is blocked during each wait of the program's (begin_wait) that a handler can end, although that has
 *      SA_RESTART: poll, sleeps, semaphores and more in signal(7), and transfers that may wait in the middle, which
 *      would end in part. A timer of CPU time expires only while its thread runs, also on its way into a wait: the call
 *      would fail with EINTR, though no handler of the program's has run.
 *   2. A call that is to wait for no time is made again if it fails with EINTR and a timer's signal came.
 *   3. The signal is added to each set of signals that is blocked during a call (ppoll, sigsuspend).
 *   4. A thread that waits for the signal itself (sigwait) or finds it pending has no timer any more; if the program
 *      makes a descriptor for it (signalfd), no thread has.
 *   5. Children have no timers, and do not inherit that the signal is blocked. exec deletes the timers, and drops their
 *      signals.
 *   6. No alternate stack is used: it may be small. A stack needs room for what the kernel saves of a thread, up to 3.5
 *      KB on today's x86, and 300 bytes of the handler's. */

#include "preload.h"

#include "unwind.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

struct ticks *ticks;
static uint32_t places;

#if HAS_UNWINDER

#define OWN_BIT ((uint64_t)1 << (SIGPROF - 1)) /* in the kernel's sets of signals */

void prepare_ticks(struct ticks *memory, size_t size) {
  places = count_ticks(size);
  if (!places || madvise(memory, size, MADV_DONTFORK) != 0 || !memory->period) return;
  __atomic_store_n(&ticks, memory, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------------------------------------------ timers ---- */

/* As the kernel has it: the C libraries call the last member differently. */
struct event {
  union sigval value;
  int signal, notify, thread;
  char unused[64 - sizeof(union sigval) - 3 * sizeof(int)];
};

static void delete_timer(struct usage *u) {
  uint32_t timer = __atomic_exchange_n(&u->timer, 0u, __ATOMIC_SEQ_CST);
  if (timer) REAL(syscall)(SYS_timer_delete, (int)timer - 1);
}

/* The timer is deleted by whoever takes its number. If the timers are given up at the same time, one of both sees it.
 */
void begin_ticks(struct usage *u) {
  const struct ticks *to = __atomic_load_n(&ticks, __ATOMIC_ACQUIRE);
  struct event event;
  struct itimerspec each;
  int timer, kept = errno;
  if (!to || __atomic_load_n(&to->over, __ATOMIC_RELAXED)) return;
  memset(&event, 0, sizeof event);
  memset(&each, 0, sizeof each);
  event.value.sival_ptr = TICK_VALUE;
  event.signal = SIGPROF;
  event.notify = 4; /* SIGEV_THREAD_ID */
  event.thread = (int)u->number;
  each.it_interval.tv_sec = to->period / 1000000000;
  each.it_interval.tv_nsec = to->period % 1000000000;
  each.it_value = each.it_interval;
  if (REAL(syscall)(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0) {
    __atomic_store_n(&u->timer, (uint32_t)timer + 1, __ATOMIC_SEQ_CST);
    REAL(syscall)(SYS_timer_settime, timer, 0, &each, NULL);
    if (!__atomic_load_n(&ticks, __ATOMIC_SEQ_CST)) delete_timer(u);
  }
  errno = kept;
}

void end_ticks(struct usage *u) { delete_timer(u); }

static bool is_tick(const siginfo_t *details) {
  return details->si_code == SI_TIMER && details->si_value.sival_ptr == TICK_VALUE;
}

/* What others have sent and is pending: in the thread and in the process. */
struct pending {
  siginfo_t all[2];
  unsigned count;
};

/* Takes all that is pending in the calling thread. Timers' signals are dropped. */
static void take_pending(struct pending *others) {
  const struct timespec no_time = {0, 0};
  siginfo_t details;
  sigset_t one;
  others->count = 0;
  sigemptyset(&one);
  sigaddset(&one, SIGPROF);
  while (others->count < COUNT(others->all) && REAL(sigtimedwait)(&one, &details, &no_time) == SIGPROF)
    if (!is_tick(&details)) others->all[others->count++] = details;
}

static void put_back(struct pending *others) {
  unsigned i;
  for (i = 0; i < others->count; i++) {
    if (others->all[i].si_code == SI_TKILL)
      REAL(syscall)(SYS_rt_tgsigqueueinfo, state.pid, REAL(syscall)(SYS_gettid), SIGPROF, &others->all[i]);
    else REAL(syscall)(SYS_rt_sigqueueinfo, state.pid, SIGPROF, &others->all[i]);
  }
}

/* A signal that is pending when its timer is deleted may still come. Those of other threads go when the signal is
 * ignored for a moment. */
void stop_ticks(void) {
  struct sigaction now, ignore;
  struct pending others;
  int kept = errno;
  if (!__atomic_exchange_n(&ticks, NULL, __ATOMIC_SEQ_CST)) return;
  each_usage(delete_timer);
  take_pending(&others);
  memset(&ignore, 0, sizeof ignore);
  ignore.sa_handler = SIG_IGN;
  if (has_own_action(SIGPROF) && REAL(sigaction)(SIGPROF, &ignore, &now) == 0) REAL(sigaction)(SIGPROF, &now, NULL);
  put_back(&others);
  errno = kept;
}

void give_up_ticks(void) {
  struct ticks *to = __atomic_load_n(&ticks, __ATOMIC_ACQUIRE);
  if (!to || !is_traced_process()) return;
  __atomic_store_n(&to->given_up, 1u, __ATOMIC_RELAXED);
  stop_ticks();
}

void give_up_ticks_for(const sigset_t *set) {
  if (set && sigismember(set, SIGPROF) == 1) give_up_ticks();
}

/* A program may have set an action by a system call of its own. */
void check_ticks(void) {
  const struct ticks *to = __atomic_load_n(&ticks, __ATOMIC_ACQUIRE);
  int kept = errno;
  if (!to) return;
  if (__atomic_load_n(&to->over, __ATOMIC_RELAXED)) stop_ticks();
  else if (!has_own_action(SIGPROF)) give_up_ticks();
  errno = kept;
}

static bool leave_ticks_now(void) {
  struct pending others;
  int kept = errno;
  if (!self.usage || !is_traced_process()) return false;
  delete_timer(self.usage);
  take_pending(&others);
  put_back(&others);
  errno = kept;
  return true;
}

bool leave_ticks(const sigset_t *waits_for) {
  if (LIKELY(!__atomic_load_n(&ticks, __ATOMIC_RELAXED)) || !waits_for) return false;
  return sigismember(waits_for, SIGPROF) == 1 && leave_ticks_now();
}

void ticks_after_fork(void) {
  ticks = NULL;
  unblock_ticks();
}

/* -------------------------------------------------------------------------------------------- the blocked signal ----
 */

/* The system call is in this library, so that a signal that was blocked until then finds the thread here: see
 * find_frame(). */
static inline __attribute__((always_inline)) void set_mask(long how, const uint64_t *set, uint64_t *old) {
#if defined(__x86_64__)
  register long size __asm__("r10") = sizeof *set;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"((long)SYS_rt_sigprocmask), "D"(how), "S"(set), "d"(old), "r"(size)
                   : "rcx", "r11", "memory");
#else
  register long result __asm__("x0") = how;
  register const uint64_t *second __asm__("x1") = set;
  register uint64_t *third __asm__("x2") = old;
  register long size __asm__("x3") = sizeof *set;
  register long number __asm__("x8") = SYS_rt_sigprocmask;
  __asm__ volatile("svc 0" : "+r"(result) : "r"(second), "r"(third), "r"(size), "r"(number) : "memory");
#endif
  (void)result;
}

NOINLINE void block_ticks_now(void) {
  const uint64_t own = OWN_BIT;
  uint64_t old = OWN_BIT;
  if (self.blocks_ticks || !self.usage) return;
  set_mask(SIG_BLOCK, &own, &old);
  self.blocks_ticks = !(old & own);
}

/* In a sandbox that the process has entered meanwhile there are no timers, and a system call may be forbidden. */
NOINLINE void unblock_ticks_now(void) {
  const uint64_t own = OWN_BIT;
  self.blocks_ticks = false;
  if (in_sandbox()) return;
  set_mask(SIG_UNBLOCK, &own, NULL);
}

const sigset_t *with_ticks(const sigset_t *mask, sigset_t *copy) {
  if (LIKELY(!__atomic_load_n(&ticks, __ATOMIC_RELAXED)) || !mask) return mask;
  *copy = *mask;
  sigaddset(copy, SIGPROF);
  return copy;
}

/* The same for system calls that the program makes itself, with the kernel's sets. */
void change_system_call(long number, long a[6], struct tick_mask *copy) {
  uintptr_t *mask = NULL;
  if (LIKELY(!__atomic_load_n(&ticks, __ATOMIC_RELAXED))) return;
  switch (number) {
  case SYS_rt_sigsuspend: mask = (uintptr_t *)&a[0]; break;
  case SYS_ppoll: mask = (uintptr_t *)&a[3]; break;
#ifdef SYS_epoll_pwait2
  case SYS_epoll_pwait2:
#endif
  case SYS_epoll_pwait: mask = (uintptr_t *)&a[4]; break;
  case SYS_pselect6:
    if (!a[5]) return;
    memcpy(copy->of_select, (const void *)a[5], sizeof copy->of_select);
    a[5] = (long)(uintptr_t)copy->of_select;
    mask = copy->of_select;
    break;
  case SYS_rt_sigaction:
    if (a[0] == SIGPROF && a[1]) give_up_ticks();
    return;
  case SYS_signalfd4:
    if (a[1] && (*(const uint64_t *)a[1] & OWN_BIT)) give_up_ticks();
    return;
  case SYS_rt_sigtimedwait:
    if (a[0] && (*(const uint64_t *)a[0] & OWN_BIT)) leave_ticks_now();
    return;
  default: return;
  }
  if (!*mask) return;
  copy->mask = *(const uint64_t *)*mask | OWN_BIT;
  *mask = (uintptr_t)&copy->mask;
}

/* ----------------------------------------------------------------------------------------------------- samples ---- */

/* The bounds of this library's code; defined by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _etext[] __attribute__((visibility("hidden")));

static void read_registers(struct tick *to, const void *context) {
  const mcontext_t *registers = &((const ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
  to->pc = (uint64_t)registers->gregs[REG_RIP] + 1;
  to->sp = (uint64_t)registers->gregs[REG_RSP];
  to->fp = (uint64_t)registers->gregs[REG_RBP];
  to->lr = 0;
#else
  to->pc = registers->pc + 1;
  to->sp = registers->sp;
  to->fp = registers->regs[29];
  to->lr = registers->regs[30];
#endif
}

/* In a function of the library, a sample is one of the C library's function that the program called, as a wait is. The
 * registers become those with which that function begins. */
static void find_frame(struct tick *to) {
  const uintptr_t *frame = (const uintptr_t *)(const void *)self.frame;
  if (to->pc <= (uintptr_t)__ehdr_start || to->pc > (uintptr_t)_etext) return;
  if (self.inside != 1 || !self.function || (uintptr_t)frame < to->sp || !on_own_stack(self.frame)) return;
#if defined(__x86_64__)
  if (frame[1] != self.caller) return; /* it is an old one */
  to->sp = (uintptr_t)(frame + 1);
#else
  to->sp = OWN_CFA;
  to->lr = self.caller;
#endif
  to->fp = frame[0];
#if defined(__GLIBC__)
  to->pc = self.function + 1;
#else /* musl has no descriptions of its own functions */
  to->pc = self.caller;
#if defined(__x86_64__)
  to->sp += sizeof *frame;
#endif
  to->lr = 0;
#endif
}

/* Where a stack ends, so that all from sp on can be read. glibc has a thread's record, which is the handle, above the
 * frames of the functions that have started the thread. */
static uintptr_t end_of_stack(uintptr_t sp) {
  uintptr_t high = (uintptr_t)self.stack_high;
  if (!on_own_stack((const char *)sp)) return ((sp - 1) | 4095) + 1;
#if defined(__GLIBC__)
  if (self.created && (uintptr_t)self.usage->handle > high) high = (uintptr_t)self.usage->handle;
#endif
  return high;
}

/* Of an unknown stack, only what is in the same page as what is in use. Word by word: a function of the C library may
 * be replaced by a sanitizer's, which would find the program's stack. */
static void copy_stack(struct tick *to) {
  uintptr_t sp = to->sp;
  const volatile uint64_t *from = (const volatile uint64_t *)sp;
  uint64_t *at = (uint64_t *)(void *)to->stack;
  size_t count, i;
  to->stack_size = 0;
  if (sp % sizeof *from) return;
  count = (end_of_stack(sp) - sp) / sizeof *from;
  if (count > TICK_STACK / sizeof *from) count = TICK_STACK / sizeof *from;
  for (i = 0; i < count; i++) at[i] = from[i];
  to->stack_size = (uint32_t)(count * sizeof *from);
}

#define TRIES 8

bool take_tick(const siginfo_t *details, const void *context) {
  struct ticks *to;
  unsigned i;
  if (!is_tick(details)) return false;
  self.ticks++;
  to = __atomic_load_n(&ticks, __ATOMIC_ACQUIRE);
  if (!to || !self.usage) return true; /* the timer has been deleted */
  for (i = 0; i < TRIES; i++) {
    uint32_t at = __atomic_fetch_add(&to->next, 1u, __ATOMIC_RELAXED) % places, state_of = TICK_FREE;
    struct tick *place = &to->place[at];
    struct timespec now;
    if (!__atomic_compare_exchange_n(&to->state[at], &state_of, TICK_IS_WRITTEN, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
      continue;
    clock_gettime(CLOCK_MONOTONIC, &now);
    place->nanoseconds = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    place->thread = self.usage->number;
    read_registers(place, context);
    find_frame(place);
    copy_stack(place);
    __atomic_store_n(&to->state[at], TICK_IS_READY, __ATOMIC_RELEASE);
    return true;
  }
  __atomic_fetch_add(&to->lost, 1u, __ATOMIC_RELAXED);
  return true;
}

#else

void prepare_ticks(struct ticks *memory, size_t size) { (void)memory, (void)size, (void)places; }
void begin_ticks(struct usage *u) { (void)u; }
void end_ticks(struct usage *u) { (void)u; }
void stop_ticks(void) {}
void give_up_ticks(void) {}
void check_ticks(void) {}
bool leave_ticks(const sigset_t *waits_for) { return (void)waits_for, false; }
void ticks_after_fork(void) {}
void block_ticks_now(void) {}
void unblock_ticks_now(void) {}
const sigset_t *with_ticks(const sigset_t *mask, sigset_t *copy) { return (void)copy, mask; }
void give_up_ticks_for(const sigset_t *set) { (void)set; }
void change_system_call(long number, long a[6], struct tick_mask *copy) { (void)number, (void)a, (void)copy; }
bool take_tick(const siginfo_t *details, const void *context) { return (void)details, (void)context, false; }

#endif
