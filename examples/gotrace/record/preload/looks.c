/* looks.c - looking at the loaded modules without waiting for the program: see preload.h
 *
 * The C library has a lock of the modules. The program may hold it in a callback of dl_iterate_phdr, which may wait for
 * the thread that would look; musl's dlopen holds it, and a signal handler may have interrupted that. So nobody looks
 * while the program makes such a call, and such a call waits for those who look, which takes microseconds. */

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

bool begin_look(void) {
  uint32_t now = __atomic_load_n(&modules_word, __ATOMIC_RELAXED);
  do {
    if (now % LOOK) return false;
  } while (!__atomic_compare_exchange_n(&modules_word, &now, now + LOOK, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  calls_here += LOOK;
  return true;
}

void end_look(void) {
  calls_here -= LOOK;
  __atomic_fetch_sub(&modules_word, LOOK, __ATOMIC_RELEASE);
}

void looks_after_fork(void) { modules_word = calls_here; }
