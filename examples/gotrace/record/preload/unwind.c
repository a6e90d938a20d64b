/* unwind.c - complete stacks: gotrace_unwind.h, which programs can use themselves, in this library */

#include "preload.h"

#include "unwind.h"

#if HAS_UNWINDER

#define GOTRACE__UNWIND_HOOKS
#define GOTRACE__UNWIND_LIST_MODULES REAL(dl_iterate_phdr)
#define GOTRACE__UNWIND_BEGIN_LOOK begin_look
#define GOTRACE__UNWIND_END_LOOK end_look
#define GOTRACE__UNWIND_MEETS_CODE() (self.looked = true)
#define GOTRACE__UNWIND_ENTER_STACK(stack, at) \
  (on_own_stack((const char *)(at)) ? (void)((stack)->low = (at), (stack)->high = (uintptr_t)self.stack_high) : (void)0)
#include "../../../unwind/gotrace_unwind.h"

void unwind_init(void) { gotrace__unwind_init(); }
void unwind_begin_unload(void) { gotrace__unwind_unload_begins(); }
void unwind_end_unload(void) { gotrace__unwind_unload_ends(); }
void unwind_after_fork(void) { gotrace__unwind_after_fork(); }
bool unwind_step(unwind_frame *frame, unwind_stack *stack) { return gotrace__unwind_step(frame, stack); }

#else
typedef int no_unwinder;
#endif
