/* folded.c - folded stacks: see folded.h */

#include "folded.h"

#include <stdlib.h>

struct folded_line {
  char *text;
  uint64_t value;
};

/* Writes a name without the characters that separate frames and lines. */
static void put_frame(bytes *line, const char *name, size_t size) {
  size_t i;
  if (line->size) put_byte(line, ';');
  if (!size) put_byte(line, '?');
  i = line->size;
  put_safe(line, TEXT_VISIBLE, name, size);
  for (; i < line->size; i++)
    if (line->data[i] == ';') line->data[i] = ':';
}

static void put_frame_text(bytes *line, uint32_t text) {
  pool_text t = pool_text_of(text);
  put_frame(line, t.data, t.size);
}

static int by_text(const void *a, const void *b) {
  return strcmp(((const struct folded_line *)a)->text, ((const struct folded_line *)b)->text);
}

void folded_add(folded *f, uint32_t stack, uint32_t alone, const char *leaf, uint64_t value) {
  pool_stack s = pool_stack_of(stack);
  bytes line = {0};
  uint32_t i;
  for (i = s.count; i > 0; i--) put_frame_text(&line, s.frames[i - 1].function);
  if (!s.count && alone) put_frame_text(&line, alone);
  else if (!s.count) put_frame(&line, "(unknown)", 9);
  if (leaf) put_frame(&line, leaf, strlen(leaf));
  put_byte(&line, 0);
  GROW(f->lines, f->count, f->capacity);
  f->lines[f->count++] = (struct folded_line){(char *)line.data, value};
}

void folded_write(folded *f, output *out) {
  uint64_t sum = 0;
  size_t i;
  if (f->count) qsort(f->lines, f->count, sizeof *f->lines, by_text);
  for (i = 0; i < f->count; i++) {
    sum = sum > UINT64_MAX - f->lines[i].value ? UINT64_MAX : sum + f->lines[i].value;
    if (i + 1 < f->count && strcmp(f->lines[i].text, f->lines[i + 1].text) == 0) continue;
    put_string(out, f->lines[i].text);
    put_string(out, " ");
    put_decimal(out, sum);
    put_string(out, "\n");
    output_check(out);
    sum = 0;
  }
  for (i = 0; i < f->count; i++) free(f->lines[i].text);
  free(f->lines);
  memset(f, 0, sizeof *f);
}
