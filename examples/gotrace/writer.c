/* writer.c - what the writers of both families share: see writer.h
 *
 * Texts and stacks have the same ids in the trace as in the pool. A v1 trace has one set of tables; in v2 each
 * generation has its own. Whatever is in the current set has the writer's mark. */

#include "writer.h"

#include <stdlib.h>

static void put_frame(writer *w, bytes *b, const pool_frame *frame) {
  put_number(b, frame->pc);
  put_number(b, use_text(w, frame->function));
  put_number(b, use_text(w, frame->file));
  put_number(b, frame->line);
}

/* Most bytes of a stack that readers of v1 accept. */
#define V1_MOST_STACK 2048

static void v1_put_stack(writer *w, uint32_t id, const pool_stack *stack) {
  static bytes head, frames;
  uint32_t i, fitting = 0;
  size_t end = 0;
  head.size = frames.size = 0;
  for (i = 0; i < stack->count && i < GOTRACE_STACK_SIZE; i++) {
    put_frame(w, &frames, &stack->frames[i]);
    if (frames.size > V1_MOST_STACK - 2 * GOTRACE_BYTES_PER_NUMBER) break;
    fitting = i + 1;
    end = frames.size;
  }
  put_number(&head, id);
  put_number(&head, fitting);
  put_byte(&w->stacks, GOTRACE_V1_STACK | 3 << GOTRACE_ARG_COUNT_SHIFT);
  put_number(&w->stacks, head.size + end);
  put_data(&w->stacks, head.data, head.size);
  put_data(&w->stacks, frames.data, end);
}

static void v2_put_stack(writer *w, uint32_t id, const pool_stack *stack) {
  uint32_t count = stack->count < GOTRACE_STACK_SIZE ? stack->count : GOTRACE_STACK_SIZE, i;
  v2_table_room(w, &w->stacks, GOTRACE_V2_STACKS);
  put_byte(&w->stacks, GOTRACE_V2_STACK);
  put_number(&w->stacks, id);
  put_number(&w->stacks, count);
  for (i = 0; i < count; i++) put_frame(w, &w->stacks, &stack->frames[i]);
}

uint64_t tick_of(const writer *w, int64_t time) { return (uint64_t)between(w->c.base, time) + 1; }

uint64_t use_text(writer *w, uint32_t id) {
  bool v2 = w->c.format >= GOTRACE_GO_1_22;
  pool_text text;
  size_t size;
  if (!id || !pool_mark_text(id, w->mark)) return id;
  text = pool_text_of(id);
  size = cut_size(text.data, text.size);
  if (v2) v2_table_room(w, &w->strings, GOTRACE_V2_STRINGS);
  put_byte(&w->strings, v2 ? (unsigned)GOTRACE_V2_STRING : (unsigned)GOTRACE_V1_STRING);
  put_number(&w->strings, id);
  put_number(&w->strings, size);
  put_data(&w->strings, text.data, size);
  return id;
}

void use_modules(writer *w) {
  size_t i;
  for (i = 0; i < w->c.w->module_count; i++) use_text(w, w->c.w->modules[i]);
}

uint64_t use_stack(writer *w, uint32_t id) {
  pool_stack stack;
  if (!id || !pool_mark_stack(id, w->mark)) return id;
  stack = pool_stack_of(id);
  if (w->c.format < GOTRACE_GO_1_22) v1_put_stack(w, id, &stack);
  else v2_put_stack(w, id, &stack);
  return id;
}

void v2_batch(writer *w, uint64_t m, uint64_t tick, bytes *batch) {
  bytes *b = &w->out->block;
  if (!batch->size) return;
  put_byte(b, GOTRACE_V2_EVENT_BATCH);
  put_number(b, w->generation);
  put_number(b, m);
  put_number(b, tick);
  put_number(b, batch->size);
  put_data(b, batch->data, batch->size);
  output_check(w->out);
  batch->size = 0;
}

#define MOST_ENTRY (GOTRACE_MAX_STRING_SIZE + (2 + 4 * GOTRACE_STACK_SIZE) * GOTRACE_BYTES_PER_NUMBER)
void v2_table_room(writer *w, bytes *table, unsigned kind) {
  if (table->size + MOST_ENTRY > GOTRACE_MAX_BATCH_SIZE) v2_batch(w, NOBODY, tick_of(w, w->generation_time), table);
  if (!table->size) put_byte(table, kind);
}

void writer_free(writer *w) {
  const proc *p;
  for (p = w->c.w->proc_list; p; p = p->next) free(p->batch.data);
  free(w->global.batch.data);
  free(w->strings.data);
  free(w->stacks.data);
  free(w->samples.data);
}
