/* view_levels.c - slices at all levels of detail, for gotrace view: see view_levels.h
 *
 * Each level is eight times as coarse as the one before. A slice is stored once, in the coarsest level in which it is
 * still at least as long as a pixel. At level k the page draws the slices of level k and of all coarser levels exactly.
 * For shorter ones it draws the merged slices of level k: runs of neighbours that together are not longer than a pixel,
 * with their count and the time of each colour. So the picture is exact down to a pixel, and a range needs only the
 * chunks of that range.
 *
 * The merged slices of one level are the input of the next. A slice costs a few operations in all, however many levels
 * there are, and memory holds one open merged slice per lane and level. What becomes of a chunk that is full is the
 * user's matter: it goes into a stream (view_data.c), or into a page with a limit (view_pack.c). */

#include "view_levels.h"

#include <stdlib.h>

#define CHUNK_SIZE ((size_t)1 << 18) /* bytes before compression */

typedef struct open_slice { /* a merged slice that may still grow */
  int64_t begin, end;
  int64_t times[COLOURS];
  uint32_t count; /* 0: none */
  slice only;     /* the slice, if count is 1 */
} open_slice;

struct lane {
  uint32_t number;
  unsigned finest;          /* finest level with an open slice; finer ones were dropped */
  open_slice *open[LEVELS]; /* NULL: not yet needed */
};

/* ------------------------------------------------------------------------------------------------------ chunks ---- */

static struct stream *stream_of(levels *l, unsigned level, bool merged) {
  return merged ? &l->merged[level] : &l->own[level];
}

static void end_chunk(levels *l, unsigned level, bool merged) {
  struct stream *s = stream_of(l, level, merged);
  chunk c = {.level = level, .merged = merged, .begin = s->begin, .end = s->end, .count = s->count};
  if (!s->count) return;
  l->take(l, &c, &s->raw);
  s->count = 0;
  s->last = 0;
}

static void put_signed_number(bytes *b, int64_t value) {
  put_number(b, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

/* Begins a record: lane, end, length. Times are relative to the previous record. */
static bytes *put_record(struct stream *s, const lane *of, int64_t begin, int64_t end) {
  if (!s->count++) s->begin = begin, s->end = end;
  if (begin < s->begin) s->begin = begin;
  if (end > s->end) s->end = end;
  put_number(&s->raw, of->number);
  put_signed_number(&s->raw, end - s->last);
  put_number(&s->raw, (uint64_t)(end - begin));
  s->last = end;
  return &s->raw;
}

static void put_own(levels *l, const lane *of, unsigned level, const slice *from) {
  struct stream *s = stream_of(l, level, false);
  bytes *b;
  if (level < l->finest) return;
  b = put_record(s, of, from->begin, from->end);
  put_byte(b, from->colour);
  put_number(b, from->what);
  put_number(b, from->who);
  if (b->size >= CHUNK_SIZE) end_chunk(l, level, false);
}

static void put_merged(levels *l, const lane *of, unsigned level, const open_slice *from) {
  struct stream *s = stream_of(l, level, true);
  unsigned i, colours = 0;
  bytes *b;
  if (level < l->finest) return;
  b = put_record(s, of, from->begin, from->end);
  put_number(b, from->count);
  for (i = 0; i < COLOURS; i++) colours |= (from->times[i] > 0 ? 1u : 0u) << i;
  if (!colours) colours = 1u << from->only.colour; /* it has no duration */
  put_byte(b, colours);
  for (i = 0; i < COLOURS; i++)
    if (colours >> i & 1) put_number(b, (uint64_t)from->times[i]);
  if (from->count == 1) put_number(b, from->only.what), put_number(b, from->only.who);
  if (b->size >= CHUNK_SIZE) end_chunk(l, level, true);
}

/* ------------------------------------------------------------------------------------------------------- lanes ---- */

lane *lane_new(uint32_t number) {
  lane *of = zeroed(sizeof *of);
  of->number = number;
  return of;
}

static void merge(levels *l, lane *of, unsigned level, const open_slice *add);

/* Ends the open merged slice of a level, which then is merged into the next level. */
static void close_open(levels *l, lane *of, unsigned level) {
  open_slice *o = of->open[level];
  if (!o || !o->count) return;
  put_merged(l, of, level, o);
  if (level + 1 < LEVELS) merge(l, of, level + 1, o);
  o->count = 0;
}

/* Adds to the open merged slice of a level if both together are not longer than a pixel; otherwise begins a new one. */
static void merge(levels *l, lane *of, unsigned level, const open_slice *add) {
  open_slice *o = of->open[level];
  unsigned i;
  if (!o) {
    o = of->open[level] = resize(NULL, sizeof *o);
    o->count = 0;
  }
  if (o->count && add->end - o->begin > LEVEL_SIZE(level)) close_open(l, of, level);
  if (!o->count) {
    *o = *add;
    return;
  }
  o->end = add->end;
  o->count += add->count;
  for (i = 0; i < COLOURS; i++) o->times[i] += add->times[i];
}

/* Moves the open slices of dropped levels to the finest level that is left. */
static void leave_given_up(levels *l, lane *of) {
  for (; of->finest < l->finest; of->finest++) {
    close_open(l, of, of->finest);
    free(of->open[of->finest]);
    of->open[of->finest] = NULL;
  }
}

void lane_add(levels *l, lane *to, const slice *s) {
  int64_t length = s->end - s->begin;
  unsigned level = 0, i;
  leave_given_up(l, to);
  while (level + 1 < LEVELS && length >= LEVEL_SIZE(level + 1)) level++;
  for (i = to->finest; i <= level; i++) close_open(l, to, i); /* merged slices do not reach across it */
  put_own(l, to, level, s);
  if (level + 1 < to->finest) level = to->finest - 1;
  if (level + 1 < LEVELS) {
    open_slice o = {0};
    o.begin = s->begin;
    o.end = s->end;
    o.times[s->colour] = length;
    o.count = 1;
    o.only = *s;
    merge(l, to, level + 1, &o);
  }
}

void lane_end(levels *l, lane *of) {
  unsigned i;
  leave_given_up(l, of);
  for (i = of->finest; i < LEVELS; i++) {
    close_open(l, of, i);
    free(of->open[i]);
  }
  free(of);
}

void levels_finish(levels *l) {
  unsigned i;
  for (i = 0; i < LEVELS; i++) {
    end_chunk(l, i, false);
    end_chunk(l, i, true);
  }
  for (i = 0; i < LEVELS; i++) {
    free(l->own[i].raw.data);
    free(l->merged[i].raw.data);
    memset(&l->own[i].raw, 0, sizeof l->own[i].raw);
    memset(&l->merged[i].raw, 0, sizeof l->merged[i].raw);
  }
}

unsigned coarsest_level(int64_t span) {
  unsigned level = 0;
  while (level + 1 < LEVELS && LEVEL_SIZE(level + 1) <= span / NARROW) level++;
  return level;
}

void levels_add_chunk(levels *l, const chunk *c) {
  GROW(l->chunks, l->chunk_count, l->chunk_capacity);
  l->chunks[l->chunk_count++] = *c;
}

void levels_free(levels *l) {
  size_t i;
  for (i = 0; i < l->chunk_count; i++) free(l->chunks[i].data.data);
  free(l->chunks);
}
