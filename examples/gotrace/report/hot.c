/* hot.c - see hot.h */

#include "groups.h"
#include "hot.h"

#include <stdlib.h>

#define GOOD_PART 0.2 /* of all samples: worth a sentence */

typedef struct sampled_stack {
  uint32_t stack;
  uint64_t count;
} sampled_stack;

void hot_take(hot *h, uint32_t stack) {
  sampled_stack *s = map_keep(&h->stacks, stack, sizeof *s, NULL);
  s->stack = stack;
  s->count++;
  h->samples++;
}

/* The recorder calls a frame by its address if no file contains that. */
static uint32_t function_in(const hot *h, pool_frame frame) {
  pool_text name = pool_text_of(frame.function);
  return !frame.file && name.size > 2 && memcmp(name.data, "0x", 2) == 0 ? h->no_file : frame.function;
}

/* The kernel gives each process a library, for clock_gettime and the like, most of whose functions have no names. */
static bool is_kernels(pool_frame frame) {
  static const char begin[] = "linux-vdso";
  pool_text name = pool_text_of(frame.function);
  return name.size > strlen(begin) && memcmp(name.data, begin, strlen(begin)) == 0;
}

static void add_stack(hot *h, const sampled_stack *sampled) {
  pool_stack s = pool_stack_of(sampled->stack);
  uint32_t i, j;
  for (; s.count > 1 && is_kernels(s.frames[0]); s.count--) s.frames++; /* it counts as its caller in the C library */
  for (i = 0; i < s.count; i++) {
    uint32_t name = function_in(h, s.frames[i]);
    hot_function *f;
    for (j = 0; j < i && function_in(h, s.frames[j]) != name; j++) continue;
    if (j < i) continue; /* it has called itself */
    f = map_keep(&h->functions, name, sizeof *f, NULL);
    f->name = name;
    f->total += sampled->count;
    f->inner += i * sampled->count;
    if (i == 0) f->self += sampled->count;
  }
}

void hot_end(hot *h) {
  size_t i;
  h->no_file = pool_put_string(NO_FILE);
  for (i = 0; i < h->stacks.count; i++) add_stack(h, h->stacks.values[i]);
}

static int compare_hot(const void *a, const void *b) {
  const hot_function *x = *(hot_function *const *)a, *y = *(hot_function *const *)b;
  if (x->self != y->self) return x->self < y->self ? 1 : -1;
  if (x->total != y->total) return x->total < y->total ? 1 : -1;
  return text_order(x->name, y->name);
}

hot_function **sorted_hot(const hot *h) {
  hot_function **all = resize(NULL, (h->functions.count + 1) * sizeof *all);
  if (h->functions.count) memcpy(all, h->functions.values, h->functions.count * sizeof *all);
  qsort(all, h->functions.count, sizeof *all, compare_hot);
  all[h->functions.count] = NULL;
  return all;
}

const hot_function *hottest(const hot *h) {
  hot_function **all;
  const hot_function *first;
  if (h->samples < ENOUGH_SAMPLES) return NULL;
  all = sorted_hot(h);
  first = all[0];
  free(all);
  return first && pool_text_of(first->name).size && (double)first->self >= GOOD_PART * (double)h->samples ? first
                                                                                                          : NULL;
}

static bool is_further_in(const hot_function *f, const hot_function *than) {
  if (f->total != than->total) return f->total < than->total;
  return f->inner != than->inner ? f->inner < than->inner : text_order(f->name, than->name) < 0;
}

const hot_function *hottest_with_called(const hot *h) {
  const hot_function *found = NULL;
  size_t i;
  for (i = 0; i < h->functions.count && h->samples >= ENOUGH_SAMPLES; i++) {
    const hot_function *f = h->functions.values[i];
    if (f->total >= h->samples - h->samples / 2 && (!found || is_further_in(f, found))) found = f;
  }
  return found;
}

void hot_free(hot *h) {
  map_free(&h->stacks);
  map_free(&h->functions);
}
