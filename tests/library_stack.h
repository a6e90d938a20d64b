/* library_stack.h - the stack that the compiler's library finds, with which tests compare those of unwinders. Also C++.
 */

#ifndef LIBRARY_STACK_H
#define LIBRARY_STACK_H

#include <stdint.h>
#include <unwind.h>

enum { MOST = 400 };

typedef struct stack {
  uintptr_t pcs[MOST];
  int count;
  uintptr_t from; /* the library's own frames come before this one */
} stack;

/* For _Unwind_Backtrace. */
static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *argument) {
  stack *s = (stack *)argument;
  int before = 0;
  uintptr_t ip = _Unwind_GetIPInfo(context, &before) + (before != 0);
  if (ip == s->from) s->from = 0;
  if (!s->from && ip > 1 && s->count < MOST) s->pcs[s->count++] = ip;
  return _URC_NO_REASON;
}

#endif
