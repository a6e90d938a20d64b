/* pool.h - texts and stacks, each stored once and never freed, under an id
 *
 * The decoder's strings and stacks are valid only until the next event, their ids until the next generation.
 * Operations refer to texts and stacks by ids of this pool, which stay valid. 0 is empty; others count from 1 in order
 * of arrival. */

#ifndef POOL_H
#define POOL_H

#include "../base/tool.h"

typedef struct pool_text {
  const char *data; /* followed by a NUL, and may contain others */
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
uint32_t pool_put_frame(const gotrace_frame *frame); /* a stack of one frame */

pool_text pool_text_of(uint32_t id);
bool pool_text_is(uint32_t id, const char *string);
bool pool_text_contains(uint32_t id, const char *part);
pool_stack pool_stack_of(uint32_t id);

/* Writes a text: made visible and shortened to NAME_ROOM, `unknown` in place of an empty one; or whole, as JSON, with
 * quotation marks. */
void put_text(output *out, uint32_t id, const char *unknown);
void put_quoted_text(output *out, uint32_t id);

/* Writes another member of a JSON object, unless the text is 0. */
void put_member(output *out, const char *name, uint32_t text);

/* The innermost function of a stack, as text; 0: unknown. */
uint32_t pool_function(uint32_t stack);

/* The text or stack with this id in the decoder. */
uint32_t pool_take_text(const gotrace_decoder *decoder, uint64_t id);
uint32_t pool_take_stack(const gotrace_decoder *decoder, uint64_t id);

/* Call it when the decoder's ids get new meanings: a new generation, or the trace is read again. */
void pool_forget_ids(void);

#endif
