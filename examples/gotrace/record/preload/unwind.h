/* unwind.h - complete stacks by .eh_frame: see unwind.c */

#ifndef UNWIND_H
#define UNWIND_H

#include "../../../unwind/gotrace_unwind.h"

#define HAS_UNWINDER GOTRACE__UNWIND_HERE
typedef gotrace__unwind_frame unwind_frame;
typedef gotrace__unwind_stack unwind_stack;

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
