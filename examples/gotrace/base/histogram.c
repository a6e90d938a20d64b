/* histogram.c - how long things took: see histogram.h */

#include "histogram.h"

#include <stdlib.h>

static int64_t bucket_begin(unsigned page, unsigned bucket) {
  return page == 0 ? (int64_t)bucket : (int64_t)((uint64_t)(HISTOGRAM_PAGE + bucket) << (page - 1));
}

static int64_t bucket_size(unsigned page) { return page < 2 ? 1 : (int64_t)((uint64_t)1 << (page - 1)); }

static void put_count(histogram *h, int64_t duration, uint32_t count) {
  unsigned bucket, page = histogram_place(duration, &bucket);
  uint32_t *counts = h->in.pages[page];
  if (!counts) counts = h->in.pages[page] = zeroed(HISTOGRAM_PAGE * sizeof *counts);
  counts[bucket] = counts[bucket] > UINT32_MAX - count ? UINT32_MAX : counts[bucket] + count;
}

/* Moves the few exact durations into buckets. */
static void spread(histogram *h) {
  int64_t few[HISTOGRAM_EXACT];
  size_t count = (size_t)h->count, i;
  if (count) memcpy(few, h->in.few, count * sizeof *few);
  free(h->in.few);
  h->in.pages = zeroed((HISTOGRAM_PAGES + 1) * sizeof *h->in.pages);
  for (i = 0; i < count; i++) put_count(h, few[i], 1);
}

/* ----------------------------------------------------------------------------------------------------- blocks ---- */

bool histogram_keeps_blocks;

/* Joins pairs of blocks. */
static void join_pairs(histogram_blocks *b) {
  struct histogram_block all[HISTOGRAM_BLOCKS] = {{0, 0}};
  int64_t first = b->first >> 1;
  unsigned i, at = 0;
  for (i = 0; i < b->used; i++) {
    at = (unsigned)(((b->first + i) >> 1) - first);
    all[at].count += b->all[i].count;
    all[at].total += b->all[i].total;
  }
  memcpy(b->all, all, sizeof all);
  b->first = first;
  b->used = at + 1;
  b->shift++;
}

void histogram_join_blocks(histogram_blocks *b, unsigned shift) {
  while (b->shift < shift && b->used) join_pairs(b);
}

/* The block of a time. Blocks are joined until all fit. */
static struct histogram_block *block_of(histogram_blocks *b, int64_t time) {
  int64_t first, last;
  unsigned more;
  if (!b->used) b->first = time >> b->shift, b->used = 1;
  for (;; join_pairs(b)) {
    int64_t at = time >> b->shift, newest = b->first + (int64_t)(b->used - 1);
    first = at < b->first ? at : b->first;
    last = at > newest ? at : newest;
    if ((uint64_t)last - (uint64_t)first < HISTOGRAM_BLOCKS) break;
  }
  more = (unsigned)(b->first - first);
  if (more) {
    memmove(b->all + more, b->all, b->used * sizeof b->all[0]);
    memset(b->all, 0, more * sizeof b->all[0]);
  }
  b->first = first;
  b->used = (unsigned)(last - first) + 1;
  return &b->all[(time >> b->shift) - first];
}

void histogram_add_to_block(histogram *h, int64_t duration, int64_t when) {
  struct histogram_block *to;
  if (!h->blocks) h->blocks = zeroed(sizeof *h->blocks);
  to = block_of(h->blocks, when);
  to->count++;
  to->total += (double)duration;
}

static void merge_blocks(histogram *into, const histogram_blocks *from) {
  unsigned i;
  if (!into->blocks) into->blocks = zeroed(sizeof *into->blocks);
  into->blocks->shift = into->blocks->used ? into->blocks->shift : from->shift;
  histogram_join_blocks(into->blocks, from->shift);
  for (i = 0; i < from->used; i++) {
    struct histogram_block *to;
    if (!(from->all[i].count > 0)) continue;
    to = block_of(into->blocks, (int64_t)((uint64_t)(from->first + i) << from->shift));
    to->count += from->all[i].count;
    to->total += from->all[i].total;
  }
}

/* -------------------------------------------------------------------------------------------------- durations ---- */

void histogram_add_first(histogram *h, int64_t duration) {
  if (h->count < HISTOGRAM_EXACT) {
    if (!(h->count & (h->count - 1)))
      h->in.few = resize(h->in.few, (h->count ? 2 * (size_t)h->count : 1) * sizeof *h->in.few);
    h->in.few[h->count++] = duration;
    return;
  }
  if (h->count == HISTOGRAM_EXACT) spread(h);
  put_count(h, duration, 1);
  h->count++;
}

void histogram_merge(histogram *into, const histogram *from) {
  unsigned page, bucket;
  uint64_t i;
  into->unended += from->unended;
  into->unended_total += from->unended_total;
  into->unbegun += from->unbegun;
  into->unbegun_total += from->unbegun_total;
  if (!from->count) return;
  if (from->blocks) merge_blocks(into, from->blocks);
  histogram_note(into, from->longest, from->when, from->who);
  into->total = into->total > INT64_MAX - from->total ? INT64_MAX : into->total + from->total;
  if (from->count <= HISTOGRAM_EXACT) {
    for (i = 0; i < from->count; i++) histogram_add_first(into, from->in.few[i]);
    return;
  }
  if (into->count <= HISTOGRAM_EXACT) spread(into);
  into->count += from->count;
  for (page = 0; page <= HISTOGRAM_PAGES; page++)
    for (bucket = 0; from->in.pages[page] && bucket < HISTOGRAM_PAGE; bucket++)
      if (from->in.pages[page][bucket]) put_count(into, bucket_begin(page, bucket), from->in.pages[page][bucket]);
}

void histogram_free(histogram *h) {
  unsigned page;
  for (page = 0; h->count > HISTOGRAM_EXACT && page <= HISTOGRAM_PAGES; page++) free(h->in.pages[page]);
  free(h->in.few);
  free(h->blocks);
  memset(h, 0, sizeof *h);
}

static int by_duration(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

int64_t histogram_percentile(const histogram *h, double share) {
  uint64_t rank = (uint64_t)(share * (double)h->count), seen = 0;
  unsigned page, bucket;
  if ((double)rank < share * (double)h->count) rank++;
  if (rank < 1) rank = 1;
  if (!h->count) return 0;
  if (rank >= h->count) return h->longest;
  if (h->count <= HISTOGRAM_EXACT) {
    int64_t few[HISTOGRAM_EXACT];
    memcpy(few, h->in.few, (size_t)h->count * sizeof *few);
    qsort(few, (size_t)h->count, sizeof *few, by_duration);
    return few[rank - 1];
  }
  for (page = 0; page <= HISTOGRAM_PAGES; page++) {
    for (bucket = 0; h->in.pages[page] && bucket < HISTOGRAM_PAGE; bucket++) {
      int64_t middle = bucket_begin(page, bucket) + bucket_size(page) / 2;
      seen += h->in.pages[page][bucket];
      if (seen >= rank) return middle < h->longest ? middle : h->longest;
    }
  }
  return h->longest;
}

void histogram_show(const histogram *h, void (*show)(void *, int64_t, int64_t, uint64_t), void *context) {
  static const int64_t steps[] = {1, 2, 5}; /* 1, 2, 5, 10, ... */
  int64_t low = 0, high, decade = 1;
  size_t step = 0;
  unsigned page = 0, bucket = 0;
  uint64_t done = 0, i;
  for (high = 1; done < h->count; low = high) {
    uint64_t count = 0;
    if (low) {
      step = (step + 1) % COUNT(steps);
      if (!step) decade = decade > INT64_MAX / 100 ? INT64_MAX / 10 : decade * 10;
      high = decade >= INT64_MAX / 10 ? INT64_MAX : decade * steps[step];
    }
    if (h->count <= HISTOGRAM_EXACT) {
      for (i = 0; i < h->count; i++) count += h->in.few[i] >= low && (h->in.few[i] < high || high == INT64_MAX);
    } else {
      for (; page <= HISTOGRAM_PAGES; page++, bucket = 0) {
        for (; bucket < HISTOGRAM_PAGE && (bucket_begin(page, bucket) < high || high == INT64_MAX); bucket++)
          if (h->in.pages[page]) count += h->in.pages[page][bucket];
        if (bucket < HISTOGRAM_PAGE) break;
      }
    }
    if (count) show(context, low, high, count);
    done += count;
    if (high == INT64_MAX) break;
  }
}
