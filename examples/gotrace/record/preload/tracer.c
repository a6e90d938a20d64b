/* tracer.c - a private copy of gotrace.h, so that a program that contains the tracer too keeps its own traces
 *
 * The tracer calls the real functions, even when the thread is outside the library's functions: before and after a
 * fork, when a thread ends. */

#include "functions.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

void finish_trace(void); /* preload.c */

#define pthread_mutex_lock(mutex) REAL(pthread_mutex_lock)(mutex)
#define pthread_mutex_trylock(mutex) EARLY(pthread_mutex_trylock)(mutex)
#define pthread_mutex_unlock(mutex) REAL(pthread_mutex_unlock)(mutex)
#define pthread_cond_wait(condition, mutex) REAL(pthread_cond_wait)(condition, mutex)
#define pthread_cond_timedwait(condition, mutex, until) REAL(pthread_cond_timedwait)(condition, mutex, until)
#define pthread_cond_signal(condition) REAL(pthread_cond_signal)(condition)
#define pthread_cond_broadcast(condition) REAL(pthread_cond_broadcast)(condition)
#define dl_iterate_phdr(function, argument) REAL(dl_iterate_phdr)(function, argument)
#define pthread_join(handle, value) REAL(pthread_join)(handle, value)

#undef GOTRACE_API
#define GOTRACE_API __attribute__((visibility("hidden")))
#define GOTRACE__BOX_LIBRARY
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

/* preload.h */
extern const gotrace__calls *tracer_calls;
void use_own_tracer(void);
gotrace_result hand_on(const gotrace__calls *to);
gotrace_result start_in_box(void *box, const gotrace_options *options);
uint64_t size_of_box(const void *box);
void tell_modules_now(void);
void say_in_box(uint32_t why);
void sync_box(void);
void ask_snapshot(void);
void sandbox_tracer(bool in, bool strict);
bool is_call_interrupted(void);
void leave_box(bool goes_on);

const gotrace__calls *tracer_calls;

static bool always(void) { return true; }

void use_own_tracer(void) {
  static gotrace__calls own;
  if (!own.take) {
    gotrace__get_calls(&own);
    own.may_report = always;
  }
  __atomic_store_n(&tracer_calls, &own, __ATOMIC_RELEASE);
}

gotrace_result hand_on(const gotrace__calls *to) { return gotrace__hand_on(to); }

gotrace_result start_in_box(void *box, const gotrace_options *options) {
  return gotrace__box_start((gotrace__box *)box, options);
}

uint64_t size_of_box(const void *box) { return ((const gotrace__box *)box)->size; }

void tell_modules_now(void) { gotrace__box_modules(); }

void say_in_box(uint32_t why) { gotrace__box_say(why); }

void sync_box(void) { gotrace__box_sync(); }

void sandbox_tracer(bool in, bool strict) {
  gotrace__sandbox(in, strict);
  if (tracer_calls->sandbox != gotrace__sandbox) tracer_calls->sandbox(in, strict);
}

bool is_call_interrupted(void) { return gotrace__boxed && gotrace__in_call_of_handler(); }

void leave_box(bool goes_on) {
  if (gotrace__boxed && goes_on) gotrace__box_lose();
  else if (gotrace__boxed) gotrace__box_leave();
}

void ask_snapshot(void) { gotrace__box_snapshot(); }

/* Before the tracer's own destructor. Functions that the library passes to atexit run after both, because its
 * constructor ran before the program started. */
__attribute__((destructor)) static void end(void) {
  finish_trace();
  tracer_calls->end();
#ifdef GOTRACE__UNLOADS
  gotrace__process_exits(); /* a preloaded library is not unloaded before, and other threads may still use it */
#endif
}
