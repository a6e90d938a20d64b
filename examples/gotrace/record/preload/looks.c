/* looks.c - looking at the loaded modules without waiting for the program: see preload.h
 *
 * The C library has a lock of the modules. The program may hold it in a callback of dl_iterate_phdr, which may wait for
 * the thread that would look; musl's dlopen holds it, and a signal handler may have interrupted that. So nobody looks
 * while the program makes such a call, and such a call waits for those who look, which takes microseconds. No signal
 * handler interrupts a look: it may fork, and in its child the lock would belong to a thread that is not there. */

#include "preload.h"

#include <sys/syscall.h>

#define LOOK 0x10000u
static uint32_t modules_word;        /* atomic: the number of calls, and that of looks multiplied by LOOK */
static __thread uint32_t calls_here; /* likewise, of this thread only: a signal handler may have interrupted it */

void begin_modules_call(void) {
  uint32_t now = __atomic_load_n(&modules_word, __ATOMIC_RELAXED);
  for (;;) {
    while (now / LOOK > calls_here / LOOK) {
      let_others_run();
      now = __atomic_load_n(&modules_word, __ATOMIC_RELAXED);
    }
    if (__atomic_compare_exchange_n(&modules_word, &now, now + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) break;
  }
  calls_here++;
}

void end_modules_call(void) {
  calls_here--;
  __atomic_fetch_sub(&modules_word, 1u, __ATOMIC_RELEASE);
}

static __thread sigset_t program_signals; /* what the thread had blocked before the look */
static __thread bool holds_signals;

static void hold_signals(void) {
  sigset_t all;
  if (in_sandbox() || holds_signals) return;
  sigfillset(&all);
  holds_signals = pthread_sigmask(SIG_SETMASK, &all, &program_signals) == 0;
}

static void release_signals(void) {
  if (!holds_signals || calls_here / LOOK) return;
  holds_signals = false;
  pthread_sigmask(SIG_SETMASK, &program_signals, NULL);
}

bool begin_look(void) {
  uint32_t now;
  hold_signals();
  now = __atomic_load_n(&modules_word, __ATOMIC_RELAXED);
  do {
    if (now % LOOK) {
      release_signals();
      return false;
    }
  } while (!__atomic_compare_exchange_n(&modules_word, &now, now + LOOK, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  calls_here += LOOK;
  return true;
}

void end_look(void) {
  calls_here -= LOOK;
  __atomic_fetch_sub(&modules_word, LOOK, __ATOMIC_RELEASE);
  release_signals();
}

void looks_after_fork(void) { modules_word = calls_here; }
