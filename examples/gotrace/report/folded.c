/* folded.c - folded stacks: see folded.h */

#include "folded.h"

#include <stdlib.h>

struct folded_line {
  uint32_t stack, alone, leaf; /* alone, leaf: texts */
  uint64_t value;
};

/* The name of a frame, counted from the outermost; false: there are fewer. */
static bool frame_at(const struct folded_line *l, uint32_t place, pool_text *name) {
  static const pool_text unknown = {"(unknown)", 9};
  pool_stack s = pool_stack_of(l->stack);
  if (place < s.count) *name = pool_text_of(s.frames[s.count - 1 - place].function);
  else if (!s.count && !place) *name = l->alone ? pool_text_of(l->alone) : unknown;
  else if (l->leaf && place == (s.count ? s.count : 1)) *name = pool_text_of(l->leaf);
  else return false;
  return true;
}

static int by_frames(const void *a, const void *b) {
  pool_text x, y;
  uint32_t i;
  for (i = 0;; i++) {
    bool more_of_a = frame_at(a, i, &x), more_of_b = frame_at(b, i, &y);
    int order;
    if (!more_of_a || !more_of_b) return more_of_a - more_of_b;
    if (x.data == y.data && x.size == y.size) continue; /* the pool has each text once */
    order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    if (order || x.size != y.size) return order ? order : x.size < y.size ? -1 : 1;
  }
}

/* Writes names without the characters that separate frames and lines. */
static void put_frames(output *out, const struct folded_line *l) {
  bytes *b = &out->block;
  pool_text name;
  uint32_t i;
  for (i = 0; frame_at(l, i, &name); i++, output_check(out)) {
    size_t at;
    if (i) put_byte(b, ';');
    at = b->size;
    if (!name.size) put_byte(b, '?');
    put_safe(b, TEXT_VISIBLE, name.data, name.size);
    for (; at < b->size; at++)
      if (b->data[at] == ';') b->data[at] = ':';
  }
}

void folded_add(folded *f, uint32_t stack, uint32_t alone, const char *leaf, uint64_t value) {
  GROW(f->lines, f->count, f->capacity);
  f->lines[f->count++] = (struct folded_line){stack, alone, leaf ? pool_put_string(leaf) : 0, value};
}

void folded_write(folded *f, output *out) {
  uint64_t sum = 0;
  size_t i;
  if (f->count) qsort(f->lines, f->count, sizeof *f->lines, by_frames);
  for (i = 0; i < f->count; i++) {
    sum = sum > UINT64_MAX - f->lines[i].value ? UINT64_MAX : sum + f->lines[i].value;
    if (i + 1 < f->count && by_frames(&f->lines[i], &f->lines[i + 1]) == 0) continue;
    put_frames(out, &f->lines[i]);
    put_string(out, " ");
    put_decimal(out, sum);
    put_string(out, "\n");
    output_check(out);
    sum = 0;
  }
  free(f->lines);
  memset(f, 0, sizeof *f);
}
