/* view_pack.c - chunks of slices for a page with a limit: see view_pack.h
 *
 * If the page gets too large, its finest level is dropped, repeatedly if needed. A third of the time is compression, so
 * a separate thread does it. A chunk's size counts, and may cause a level to be dropped, only when PACKED_LATER more
 * chunks have come, no matter when it was compressed: the page does not depend on the timing of the thread. */

#include "view_pack.h"

#include <pthread.h>
#include <stdlib.h>
#ifdef HAVE_ZLIB /* the Makefile looks for it */
#include <zlib.h>
#endif

#define PACKED_LATER 8 /* chunks */

/* ------------------------------------------------------------------------------------------------- compression ---- */

#ifdef HAVE_ZLIB
void compress_bytes(bytes *to, const void *from, size_t from_size) {
  uLongf size = compressBound((uLong)from_size);
  if (compress2(bytes_room(to, size), &size, from, (uLong)from_size, 1) != Z_OK) fail("out of memory");
  to->size += size;
}
#else
/* Without zlib: stored blocks, then the checksum that ends zlib's format. */
void compress_bytes(bytes *to, const void *from, size_t from_size) {
  const uint8_t *data = from;
  uint32_t a = 1, b = 0;
  size_t at = 0, i;
  put_byte(to, 0x78);
  put_byte(to, 0x01);
  do {
    unsigned n = from_size - at < 0xffff ? (unsigned)(from_size - at) : 0xffff;
    put_byte(to, at + n == from_size);
    put_byte(to, n & 0xff), put_byte(to, n >> 8);
    put_byte(to, ~n & 0xff), put_byte(to, ~n >> 8 & 0xff);
    put_data(to, data + at, n);
    for (i = 0; i < n; i++) a = (a + data[at + i]) % 65521, b = (b + a) % 65521;
    at += n;
  } while (at < from_size);
  put_byte(to, b >> 8), put_byte(to, b & 0xff), put_byte(to, a >> 8), put_byte(to, a & 0xff);
}
#endif

/* ------------------------------------------------------------------------------------------------------ levels ---- */

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
  compress_bytes(&j->c.data, j->raw.data, j->raw.size);
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
  levels_add_chunk(l, &j->c);
  levels_fit(l);
}

void pack_finish(void) {
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

void pack_chunk(levels *l, const chunk *c, bytes *raw) {
  job *j;
  bytes used;
  if (packer.given - packer.taken == PACKED_LATER) take_packed();
  if (c->level < l->finest) return; /* that has dropped the level, and what was in it */
  if (!packer.given) packer.runs = processor_count() > 1 && pthread_create(&packer.thread, NULL, run_packer, NULL) == 0;
  j = &packer.jobs[packer.given % PACKED_LATER];
  used = j->raw; /* of the chunk taken from this place; the stream reuses it */
  used.size = 0;
  j->of = l;
  j->c = *c;
  j->raw = *raw;
  *raw = used;
  pthread_mutex_lock(&packer.lock);
  packer.given++;
  pthread_cond_signal(&packer.changed);
  pthread_mutex_unlock(&packer.lock);
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
