/* test_room.h - fails a program in which a record ends beyond its thread's chunk, since its call asked for less room
 * than it used. Include it before gotrace.h's implementation. */
#ifndef TEST_ROOM_H
#define TEST_ROOM_H

#include <stdio.h>
#include <stdlib.h>

/* Not m->end: after a jump of the counter, the rest of the chunk is for the call that saw it (gotrace__tick_behind). */
#define GOTRACE__PUBLISHES(m, at) \
  ((at) <= gotrace__chunk_data((m)->chunk) + (m)->chunk->capacity ? (void)0 : test_no_room())

static inline void test_no_room(void) {
  fputs("a record is larger than the room that its call asked for\n", stderr);
  abort();
}

#endif
