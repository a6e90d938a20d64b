/* view_levels.c - slices at all levels of detail, for gotrace view: see view_levels.h
 *
 * Each level is eight times as coarse as the one before. A slice is stored once, in the coarsest level in which it is
 * still at least as long as a pixel. At level k the page draws the slices of level k and of all coarser levels exactly.
 * For shorter ones it draws the merged slices of level k: runs of neighbours that together are not longer than a pixel,
 * with their count and the time of each colour. So the picture is exact down to a pixel, and a range needs only the
 * chunks of that range.
 *
 * The merged slices of one level are the input of the next. A slice costs a few operations in all, however many levels
 * there are, and memory holds one open merged slice per lane and level. If the page gets too large, its finest level is
 * dropped, repeatedly if needed.
 *
 * A third of the time is compression, so a separate thread does it. A chunk's size counts, and may cause a level to be
 * dropped, only when PACKED_LATER more chunks have come, no matter when it was compressed: the page does not depend on
 * the timing of the thread. */

#include "view_levels.h"

#include <pthread.h>
#include <stdlib.h>
#ifdef HAVE_ZLIB /* the Makefile looks for it */
#include <zlib.h>
#endif

#define CHUNK_SIZE ((size_t)1 << 18) /* bytes before compression */
#define PACKED_LATER 8               /* chunks */

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

/* ------------------------------------------------------------------------------------------------- compression ---- */

#ifdef HAVE_ZLIB
void compress_bytes(bytes *to, const bytes *from) {
  uLongf size = compressBound((uLong)from->size);
  if (compress2(bytes_room(to, size), &size, from->data, (uLong)from->size, 1) != Z_OK) fail("out of memory");
  to->size += size;
}
#else
/* Without zlib: stored blocks, then the checksum that ends zlib's format. */
void compress_bytes(bytes *to, const bytes *from) {
  uint32_t a = 1, b = 0;
  size_t at = 0, i;
  put_byte(to, 0x78);
  put_byte(to, 0x01);
  do {
    unsigned n = from->size - at < 0xffff ? (unsigned)(from->size - at) : 0xffff;
    put_byte(to, at + n == from->size);
    put_byte(to, n & 0xff), put_byte(to, n >> 8);
    put_byte(to, ~n & 0xff), put_byte(to, ~n >> 8 & 0xff);
    put_data(to, from->data + at, n);
    for (i = 0; i < n; i++) a = (a + from->data[at + i]) % 65521, b = (b + a) % 65521;
    at += n;
  } while (at < from->size);
  put_byte(to, b >> 8), put_byte(to, b & 0xff), put_byte(to, a >> 8), put_byte(to, a & 0xff);
}
#endif

/* ------------------------------------------------------------------------------------------------------ chunks ---- */

static struct stream *stream_of(levels *l, unsigned level, bool merged) {
  return merged ? &l->merged[level] : &l->own[level];
}

/* Drops the finest level. */
static void give_up_level(levels *l) {
  size_t i, kept = 0;
  for (i = 0; i < l->chunk_count; i++) {
    chunk *c = &l->chunks[i];
    if (c->level == l->finest) {
      free(c->data.data);
    } else {
      l->chunks[kept++] = *c;
    }
  }
  l->chunk_count = kept;
  free(l->own[l->finest].raw.data);
  free(l->merged[l->finest].raw.data);
  memset(&l->own[l->finest], 0, sizeof l->own[0]);
  memset(&l->merged[l->finest], 0, sizeof l->merged[0]);
  l->finest++;
}

static bool needed(const levels *l, const chunk *c, unsigned coarsest) {
  return !c->merged || c->level <= coarsest || c->level == l->finest;
}

static size_t size_of(const levels *l, unsigned coarsest) {
  size_t size = 0, i;
  for (i = 0; i < l->chunk_count; i++)
    if (needed(l, &l->chunks[i], coarsest)) size += l->chunks[i].data.size;
  return size;
}

unsigned coarsest_level(int64_t span) {
  unsigned level = 0;
  while (level + 1 < LEVELS && LEVEL_SIZE(level + 1) <= span / NARROW) level++;
  return level;
}

/* Merged slices that no picture of the trace needs do not count, because levels_drop removes them. As the length of the
 * trace is not known yet, a level begins to count when the trace has become long enough for it. */
void levels_fit(levels *l) {
  for (;;) {
    levels *most = l, *other = l;
    size_t sum = 0, size, most_size = 0;
    int64_t reached = l->reached;
    unsigned coarsest;
    for (other = l->next; other != l; other = other->next)
      if (other->reached > reached) reached = other->reached;
    coarsest = coarsest_level(reached - l->begin);
    do {
      size = size_of(other, coarsest);
      sum += size;
      if (size / other->part > most_size / most->part) most = other, most_size = size;
      other = other->next;
    } while (other != l);
    if (sum <= l->limit || most->finest + 1 >= LEVELS) return;
    give_up_level(most);
  }
}

/* A chunk to be compressed. */
typedef struct job {
  levels *of;
  chunk c;
  bytes raw;
} job;

static struct packer {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool runs, over;
  job jobs[PACKED_LATER]; /* a ring */
  uint64_t given, packed; /* protected by the lock */
  uint64_t taken;
} packer = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void pack(job *j) {
  compress_bytes(&j->c.data, &j->raw);
  j->c.data.data = resize(j->c.data.data, j->c.data.size);
}

static void *run_packer(void *unused) {
  pthread_mutex_lock(&packer.lock);
  for (;;) {
    if (packer.packed < packer.given) {
      job *j = &packer.jobs[packer.packed % PACKED_LATER];
      pthread_mutex_unlock(&packer.lock);
      pack(j);
      pthread_mutex_lock(&packer.lock);
      packer.packed++;
      pthread_cond_signal(&packer.changed);
    } else if (packer.over) {
      break;
    } else {
      pthread_cond_wait(&packer.changed, &packer.lock);
    }
  }
  pthread_mutex_unlock(&packer.lock);
  return unused;
}

/* Takes the oldest chunk from the ring, compressed. */
static void take_packed(void) {
  job *j = &packer.jobs[packer.taken++ % PACKED_LATER];
  levels *l = j->of;
  if (packer.runs) {
    pthread_mutex_lock(&packer.lock);
    while (packer.packed < packer.taken) pthread_cond_wait(&packer.changed, &packer.lock);
    pthread_mutex_unlock(&packer.lock);
  } else {
    pack(j);
  }
  if (j->c.level < l->finest) {
    free(j->c.data.data);
    return;
  }
  if (j->c.end > l->reached) l->reached = j->c.end;
  GROW(l->chunks, l->chunk_count, l->chunk_capacity);
  l->chunks[l->chunk_count++] = j->c;
  levels_fit(l);
}

static void take_all_packed(void) {
  unsigned i;
  while (packer.taken < packer.given) take_packed();
  if (packer.runs) {
    pthread_mutex_lock(&packer.lock);
    packer.over = true;
    pthread_cond_signal(&packer.changed);
    pthread_mutex_unlock(&packer.lock);
    pthread_join(packer.thread, NULL);
  }
  for (i = 0; i < PACKED_LATER; i++) {
    free(packer.jobs[i].raw.data);
    memset(&packer.jobs[i], 0, sizeof packer.jobs[i]);
  }
  packer.runs = packer.over = false;
  packer.given = packer.packed = packer.taken = 0;
}

static void end_chunk(levels *l, unsigned level, bool merged) {
  struct stream *s = stream_of(l, level, merged);
  job *j;
  bytes raw;
  if (s->count && packer.given - packer.taken == PACKED_LATER) take_packed(); /* may drop this level */
  if (!s->count) return;
  if (!packer.given) packer.runs = processor_count() > 1 && pthread_create(&packer.thread, NULL, run_packer, NULL) == 0;
  j = &packer.jobs[packer.given % PACKED_LATER];
  raw = j->raw; /* of the chunk taken from this place; the stream reuses it */
  raw.size = 0;
  memset(j, 0, sizeof *j);
  j->of = l;
  j->c.level = level;
  j->c.merged = merged;
  j->c.begin = s->begin;
  j->c.end = s->end;
  j->c.count = s->count;
  j->raw = s->raw;
  s->raw = raw;
  s->count = 0;
  s->last = 0;
  pthread_mutex_lock(&packer.lock);
  packer.given++;
  pthread_cond_signal(&packer.changed);
  pthread_mutex_unlock(&packer.lock);
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
  take_all_packed();
  for (i = 0; i < LEVELS; i++) {
    free(l->own[i].raw.data);
    free(l->merged[i].raw.data);
    memset(&l->own[i].raw, 0, sizeof l->own[i].raw);
    memset(&l->merged[i].raw, 0, sizeof l->merged[i].raw);
  }
}

void levels_drop(levels *l, unsigned coarsest) {
  size_t k, kept = 0;
  for (k = 0; k < l->chunk_count; k++) {
    chunk *c = &l->chunks[k];
    if (needed(l, c, coarsest)) l->chunks[kept++] = *c;
    else free(c->data.data);
  }
  l->chunk_count = kept;
}

void levels_free(levels *l) {
  size_t i;
  for (i = 0; i < l->chunk_count; i++) free(l->chunks[i].data.data);
  free(l->chunks);
}
