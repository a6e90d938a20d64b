/* histogram.h - how long things took: count, total, longest, percentiles, in bounded memory
 *
 * Count, total and longest are exact. So are percentiles of up to HISTOGRAM_EXACT durations. With more, a percentile is
 * the middle of a bucket that is 1/128 of its value wide, so it is at most 0.4 % off. Durations below 256 ns have a
 * bucket each. A histogram takes at most 60 KB, and usually a few.
 *
 * If histogram_keeps_blocks is set, a histogram also has the sums of durations by blocks of time, for an estimate of
 * how much its average varies from part to part of a trace (report/diff.c). */

#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "tool.h"

#define HISTOGRAM_EXACT 24
#define HISTOGRAM_PAGES 57 /* powers of two from 2^7 on, after the first page of values below 2^7 */
#define HISTOGRAM_PAGE 128 /* buckets of a page */

#define HISTOGRAM_BLOCKS 32

/* The durations by when they began. Block i begins at (first + i) << shift. The blocks become longer as needed. */
typedef struct histogram_blocks {
  int64_t first;
  unsigned shift, used;
  struct histogram_block {
    double count, total;
  } all[HISTOGRAM_BLOCKS];
} histogram_blocks;

typedef struct histogram {
  uint64_t count, total; /* of durations, and their sum, in nanoseconds */
  int64_t longest, when; /* the longest, and when it began; of equal ones, the first */
  uint64_t who;          /* the goroutine of the longest; if still equal, the smallest id */
  /* Those that the end of the trace or part has cut; of the others, those that began before it. Kept by the user. */
  uint64_t unended, unended_total, unbegun, unbegun_total;
  histogram_blocks *blocks; /* NULL: none */
  union {
    int64_t *few;     /* up to HISTOGRAM_EXACT durations */
    uint32_t **pages; /* of counts; NULL: all 0 */
  } in;
} histogram;

extern bool histogram_keeps_blocks; /* set before the first duration is added to any histogram */
void histogram_add_to_block(histogram *h, int64_t duration, int64_t when);

/* Makes blocks at least 1 << shift long. */
void histogram_join_blocks(histogram_blocks *b, unsigned shift);

/* The slow path of histogram_add(): few durations so far, or the first one in this page. */
void histogram_add_first(histogram *h, int64_t duration);

/* Each power of two has a page of buckets of equal width. */
static inline unsigned histogram_place(int64_t duration, unsigned *bucket) {
  unsigned bits = 64u - (unsigned)__builtin_clzll((uint64_t)duration | HISTOGRAM_PAGE / 2);
  *bucket = (unsigned)((uint64_t)duration >> (bits == 7 ? 0 : bits - 8)) & (HISTOGRAM_PAGE - 1);
  return bits - 7;
}

/* Updates the longest. The result does not depend on the order of the durations. */
static inline void histogram_note(histogram *h, int64_t duration, int64_t when, uint64_t who) {
  if (h->count && duration < h->longest) return;
  if (h->count && duration == h->longest && (when > h->when || (when == h->when && who >= h->who))) return;
  h->longest = duration;
  h->when = when;
  h->who = who;
}

static inline void histogram_add(histogram *h, int64_t duration, int64_t when, uint64_t who) {
  if (duration < 0) duration = 0;
  histogram_note(h, duration, when, who);
  if (histogram_keeps_blocks) histogram_add_to_block(h, duration, when);
  h->total = h->total > INT64_MAX - (uint64_t)duration ? INT64_MAX : h->total + (uint64_t)duration;
  if (h->count > HISTOGRAM_EXACT) {
    unsigned bucket, page = histogram_place(duration, &bucket);
    uint32_t *counts = h->in.pages[page];
    if (counts) {
      h->count++;
      counts[bucket] += counts[bucket] < UINT32_MAX;
      return;
    }
  }
  histogram_add_first(h, duration);
}
void histogram_merge(histogram *into, const histogram *from);
void histogram_free(histogram *h);

/* The smallest duration such that at least this share (0 to 1) of all durations do not exceed it. */
int64_t histogram_percentile(const histogram *h, double share);

/* Calls `show` for each bucket that is not empty, in ascending order. The buckets' bounds are 1, 2, 5, 10, ... */
void histogram_show(const histogram *h, void (*show)(void *context, int64_t low, int64_t high, uint64_t count),
                    void *context);

#endif
