/* folded.h - folded stacks: lines "a;b;c VALUE", outermost frame first, as flamegraph.pl and speedscope read them */

#ifndef FOLDED_H
#define FOLDED_H

#include "../reading/pool.h"

typedef struct folded {
  struct folded_line *lines;
  size_t count, capacity;
} folded;

/* Adds a value to a stack. `alone` is the text of the only frame if the stack is 0. `leaf`, unless NULL, becomes the
 * innermost frame. */
void folded_add(folded *f, uint32_t stack, uint32_t alone, const char *leaf, uint64_t value);

/* Writes the stacks, sorted, and frees them. Stacks that differ in lines only become one. */
void folded_write(folded *f, output *out);

#endif
