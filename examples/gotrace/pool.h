/* pool.h - texts and stacks, each stored once and for good, under an id
 *
 * The decoder's strings and stacks are valid until the next event only, and their ids until the next generation.
 * Operations refer to texts and stacks by the ids of this pool, which stay valid: 0 is empty, others count from 1 in
 * order of arrival. */

#ifndef POOL_H
#define POOL_H

#include "tool.h"

typedef struct pool_text {
  const char *data; /* not terminated by a NUL */
  uint32_t size;
} pool_text;

typedef struct pool_frame {
  uint64_t pc, line;
  uint32_t function, file; /* texts */
} pool_frame;

typedef struct pool_stack {
  const pool_frame *frames; /* innermost first */
  uint32_t count;
} pool_stack;

uint32_t pool_put_text(const char *data, size_t size);
uint32_t pool_put_string(const char *string);
uint32_t pool_put_stack(const pool_frame *frames, uint32_t count);

pool_text pool_text_of(uint32_t id);
bool pool_text_is(uint32_t id, const char *string);
bool pool_text_contains(uint32_t id, const char *part);
pool_stack pool_stack_of(uint32_t id);

/* The stack that consists of another's outermost frame: the function that a goroutine began with. */
uint32_t pool_outermost(uint32_t stack);

/* The text or stack that has an id in the decoder. */
uint32_t pool_take_text(const gotrace_decoder *decoder, uint64_t id);
uint32_t pool_take_stack(const gotrace_decoder *decoder, uint64_t id);

/* From now on the decoder's ids mean other texts and stacks: a new generation, or the trace is read again. */
void pool_forget_ids(void);

/* Marks a text or stack; false if it has this mark already. A writer marks what it has put into its tables. Marks
 * from 1. */
bool pool_mark_text(uint32_t id, uint32_t mark);
bool pool_mark_stack(uint32_t id, uint32_t mark);

#endif
