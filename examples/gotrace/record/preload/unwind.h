/* unwind.h - complete stacks by .eh_frame: see unwind.c */

#ifndef UNWIND_H
#define UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(__aarch64__)
#define HAS_UNWINDER 1
#else
#define HAS_UNWINDER 0
#endif

/* What a walk knows about a frame. */
typedef struct unwind_frame {
  uintptr_t pc;     /* a return address; of interrupted code: its address + 1 */
  uintptr_t sp, fp; /* after the call has returned */
  uintptr_t lr;     /* arm64: of interrupted code; otherwise 0 */
} unwind_frame;

/* The part of a stack that can be read; its ends are multiples of a word. Above it, a page at a time is asked for. */
typedef struct unwind_stack {
  uintptr_t low, high;
} unwind_stack;

/* Finds what a walk needs. Before the first walk; not in a signal handler. */
void unwind_init(void);

/* Around the unloading of a library: other code may get its addresses. A thread that walks through its code meanwhile
 * would return there, and so crash without the tracer, too. */
#if HAS_UNWINDER
void unwind_begin_unload(void);
void unwind_end_unload(void);

/* In the child, which has only the calling thread. */
void unwind_after_fork(void);

void unwind_before_sandbox(void);
#else
static inline void unwind_begin_unload(void) {}
static inline void unwind_end_unload(void) {}
static inline void unwind_after_fork(void) {}
static inline void unwind_before_sandbox(void) {}
#endif

/* Goes to the caller of a frame. False: the stack ends here. */
bool unwind_step(unwind_frame *frame, unwind_stack *stack);

#endif
