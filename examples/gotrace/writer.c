/* writer.c - what the writers of both families share: ticks, batches, tables */

#include "writer.h"

#include <stdlib.h>

uint64_t tick_of(const writer *w, int64_t time) { return (uint64_t)between(w->c.base, time) + 1; }

void put_batch_header(bytes *b, uint64_t generation, uint64_t m, uint64_t tick, size_t size) {
  put_byte(b, GOTRACE_V2_EVENT_BATCH);
  put_number(b, generation);
  put_number(b, m);
  put_number(b, tick);
  put_number(b, size);
}

void v2_batch(writer *w, uint64_t m, uint64_t tick, bytes *batch) {
  if (!batch->size) return;
  put_batch_header(&w->out->block, w->generation, m, tick, batch->size);
  put_data(&w->out->block, batch->data, batch->size);
  output_check(w->out);
  batch->size = 0;
}

/* Makes room for an entry in a table's batch, which begins with the table's kind. */
#define MOST_ENTRY (GOTRACE_MAX_STRING_SIZE + (2 + 4 * GOTRACE_STACK_SIZE) * GOTRACE_BYTES_PER_NUMBER)
void v2_table_room(writer *w, bytes *table, unsigned kind) {
  if (table->size + MOST_ENTRY > GOTRACE_MAX_BATCH_SIZE) v2_batch(w, NOBODY, tick_of(w, w->generation_time), table);
  if (!table->size) put_byte(table, kind);
}

/* The id of a text, which stands in the tables then. */
uint64_t use_text(writer *w, uint32_t id) {
  bool v2 = w->c.format >= GOTRACE_GO_1_22;
  pool_text text;
  size_t size;
  if (!id || !pool_mark_text(id, w->stamp)) return id;
  text = pool_text_of(id);
  size = cut_size(text.data, text.size);
  if (v2) v2_table_room(w, &w->strings, GOTRACE_V2_STRINGS);
  put_byte(&w->strings, v2 ? (unsigned)GOTRACE_V2_STRING : (unsigned)GOTRACE_V1_STRING);
  put_number(&w->strings, id);
  put_number(&w->strings, size);
  put_data(&w->strings, text.data, size);
  return id;
}

/* Readers of v1 take at most so many bytes of a stack. */
#define V1_MOST_STACK 2048

static void v1_put_stack(writer *w, uint32_t id, const pool_stack *stack) {
  static bytes numbers;
  uint32_t i, fitting = 0;
  size_t end = 0;
  numbers.size = 0;
  for (i = 0; i < stack->count && i < GOTRACE_STACK_SIZE; i++) {
    put_number(&numbers, stack->frames[i].pc);
    put_number(&numbers, use_text(w, stack->frames[i].function));
    put_number(&numbers, use_text(w, stack->frames[i].file));
    put_number(&numbers, stack->frames[i].line);
    if (numbers.size > V1_MOST_STACK - 2 * GOTRACE_BYTES_PER_NUMBER) break;
    fitting = i + 1;
    end = numbers.size;
  }
  {
    bytes head = {0};
    put_number(&head, id);
    put_number(&head, fitting);
    put_byte(&w->stacks, GOTRACE_V1_STACK | 3 << GOTRACE_ARG_COUNT_SHIFT);
    put_number(&w->stacks, head.size + end);
    put_data(&w->stacks, head.data, head.size);
    put_data(&w->stacks, numbers.data, end);
    free(head.data);
  }
}

uint64_t use_stack(writer *w, uint32_t id) {
  pool_stack stack;
  uint32_t i, count;
  if (!id || !pool_mark_stack(id, w->stamp)) return id;
  stack = pool_stack_of(id);
  if (w->c.format < GOTRACE_GO_1_22) {
    v1_put_stack(w, id, &stack);
    return id;
  }
  count = stack.count < GOTRACE_STACK_SIZE ? stack.count : GOTRACE_STACK_SIZE;
  v2_table_room(w, &w->stacks, GOTRACE_V2_STACKS);
  put_byte(&w->stacks, GOTRACE_V2_STACK);
  put_number(&w->stacks, id);
  put_number(&w->stacks, count);
  for (i = 0; i < count; i++) {
    put_number(&w->stacks, stack.frames[i].pc);
    put_number(&w->stacks, use_text(w, stack.frames[i].function));
    put_number(&w->stacks, use_text(w, stack.frames[i].file));
    put_number(&w->stacks, stack.frames[i].line);
  }
  return id;
}
