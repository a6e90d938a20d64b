/* test_room.h - fails a program in which a record ends beyond its thread's chunk, since its call asked for less room
 * than it used; or in which the position of the call that writes it is that of a deeper function which has returned, so
 * that a signal handler's call would seem to have outlived it. Include it before gotrace.h's implementation. */
#ifndef TEST_ROOM_H
#define TEST_ROOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Not m->end: after a jump of the counter, the rest of the chunk is for the call that saw it (gotrace__tick_behind). */
#define GOTRACE__PUBLISHES(m, at)                       \
  (test_position(gotrace__load_relaxed(&(m)->in_call)), \
   (at) <= gotrace__chunk_data((m)->chunk) + (m)->chunk->capacity ? (void)0 : test_no_room())

static inline void test_no_room(void) {
  fputs("a record is larger than the room that its call asked for\n", stderr);
  abort();
}

/* A flag is far from here if it has no position, as on Windows, or is on another stack. */
#if defined(__GNUC__)
__attribute__((__noinline__, __unused__))
#endif
static void
test_position(uintptr_t flag) {
#if defined(__GNUC__)
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (flag >= here || here - flag > 4096) return;
  fputs("the position of a call is below a function that the call has called\n", stderr);
  abort();
#else
  (void)flag;
#endif
}

#endif
