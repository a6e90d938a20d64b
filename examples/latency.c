/* latency.c - how long goroutines waited to run after they were ready, by the function that they began with
 *
 * What it teaches: to analyse a trace of any Go release, or of this library, without knowing its format. Prints the sum
 * and the longest wait of each function, in nanoseconds. These are the runnable times of `gotrace info`.
 *
 *     cc -O2 -o latency examples/latency.c -I.
 *     ./latency app.trace | sort -rn
 */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct latency { /* of a goroutine */
  const char *function;
  size_t size;
  int64_t id, sum, longest;
} latency;

static latency *gos; /* by gotrace_change.number */
static size_t count;

static size_t read_file(void *file, uint64_t offset, void *buffer, size_t size) {
  (void)offset; /* consecutive */
  return fread(buffer, 1, size, file);
}

static void take(size_t number, int64_t id, int64_t waited) {
  for (; count <= number; count++) {
    if ((count & (count - 1)) == 0 && !(gos = realloc(gos, (2 * count + 1) * sizeof *gos))) exit(1);
    gos[count] = (latency){.function = ""};
  }
  gos[number].id = id;
  gos[number].sum += waited;
  if (waited > gos[number].longest) gos[number].longest = waited;
}

static int by_function(const void *a, const void *b) {
  const latency *x = a, *y = b;
  int order = memcmp(x->function, y->function, x->size < y->size ? x->size : y->size);
  return order ? order : (x->size > y->size) - (x->size < y->size);
}

int main(int argc, char **argv) {
  gotrace_decoder_options options = {.read = read_file, .context = argc == 2 ? fopen(argv[1], "rb") : NULL};
  gotrace_decoder *decoder = NULL;
  gotrace_event event = {0};
  gotrace_change c;
  gotrace_state s; /* at the end: who is ready still */
  latency of = {0};
  int64_t end = 0;
  size_t i;
  if (!options.context) return fputs("usage: latency TRACE\n", stderr), 2;
  gotrace_decoder_open(&decoder, &options);
  for (; gotrace_decoder_next(decoder, &event) == GOTRACE_OK; end = event.time)
    if (gotrace_decoder_change(decoder, &event, &c) && c.kind == GOTRACE_CHANGE_STATUS && c.object == GOTRACE_OBJECT_GO)
      take((size_t)c.number, c.id, c.from == GOTRACE_STATUS_RUNNABLE && c.to != c.from ? event.time - c.since : 0);
  if (gotrace_decoder_error(decoder)->result)
    return fprintf(stderr, "%s\n", gotrace_decoder_error(decoder)->message), 1;
  for (i = 0; i < count; i++) {
    if (gotrace_decoder_state(decoder, GOTRACE_OBJECT_GO, (uint64_t)gos[i].id, &s) && s.number == (int64_t)i)
      take(i, s.g, s.to == GOTRACE_STATUS_RUNNABLE ? end - s.since : 0);
    gotrace_decoder_function(decoder, (int64_t)i, &gos[i].function, &gos[i].size);
  }
  if (count) qsort(gos, count, sizeof *gos, by_function);
  for (i = 0; i < count; i++) {
    of.sum += gos[i].sum;
    if (gos[i].longest > of.longest) of.longest = gos[i].longest;
    if (i + 1 < count && by_function(&gos[i], &gos[i + 1]) == 0) continue;
    printf("%15lld %15lld  %.*s\n", (long long)of.sum, (long long)of.longest, (int)gos[i].size, gos[i].function);
    of.sum = of.longest = 0;
  }
  return gotrace_decoder_close(decoder), free(gos), 0;
}
