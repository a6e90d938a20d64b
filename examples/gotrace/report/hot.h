/* hot.h - which functions the CPU samples of a trace are in
 *
 * A sample counts for its innermost function, and for each function in its stack once. Code that is in no file, as that
 * of a compiler in the program, is one function, unless its names are known. */

#ifndef HOT_H
#define HOT_H

#include "../reading/pool.h"

#define ENOUGH_SAMPLES 30           /* of which a share says something */
#define NO_FILE "(code in no file)" /* the name of such code */

typedef struct hot_function {
  uint32_t name;        /* a text */
  uint64_t self, total; /* samples in it; the same, or in what it called */
  uint64_t inner;       /* frames inside of its own, in sum over these samples */
} hot_function;

typedef struct hot {
  uint64_t samples;
  map stacks;       /* uint64_t: samples, by stack */
  map functions;    /* struct hot_function, by name; see hot_end() */
  uint32_t no_file; /* NO_FILE as text */
} hot;

void hot_take(hot *h, uint32_t stack);

/* After the last one: fills in `functions`. */
void hot_end(hot *h);

/* Those with most samples of their own first, NULL-terminated; free them. */
hot_function **sorted_hot(const hot *h);

/* The first of them, if it has a good part of enough samples; or NULL. */
const hot_function *hottest(const hot *h);

/* The innermost function that has, with what it called, at least half of enough samples; NULL: there are too few. */
const hot_function *hottest_with_called(const hot *h);

void hot_free(hot *h);

#endif
