/* gzip.c - compresses several files at once, on all processors: see gzip.h
 *
 * The caller's blocks are jobs in a ring. Threads take them in order; the caller's thread writes each when it is done,
 * in the same order. So blocks of a file need no numbers, and the ring bounds the memory. */

#include "gzip.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef HAVE_ZLIB /* the Makefile looks for it */
#include <zlib.h>
#endif

typedef struct job {
  gzip_file *file;
  bytes plain, packed;
  uint32_t check;
  bool done;
} job;

#define MOST_JOBS 64
#define MEMORY 7 /* a fifth faster than 9, since its tables stay in the cache */

struct gzip {
  pthread_mutex_t lock;
  pthread_cond_t given, finished;
  job jobs[MOST_JOBS]; /* a ring: `written` <= `taken` <= `put` */
  int level;
  uint64_t put, taken, written;
  unsigned room; /* of the ring */
  bool over;
  pthread_t threads[MOST_JOBS / 4];
  unsigned thread_count;
};

/* ------------------------------------------------------------------------------------------------- compression ---- */

#ifdef HAVE_ZLIB
/* Compresses as the middle of a stream, which ends at a byte. */
static void pack(job *j, int level) {
  z_stream z;
  size_t room = j->plain.size + j->plain.size / 1000 + 1024;
  memset(&z, 0, sizeof z);
  if (deflateInit2(&z, level, Z_DEFLATED, -15, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) fail("out of memory");
  z.next_in = j->plain.data;
  z.avail_in = (uInt)j->plain.size;
  z.next_out = bytes_room(&j->packed, room);
  z.avail_out = (uInt)room;
  if (deflate(&z, Z_SYNC_FLUSH) != Z_OK || z.avail_in || !z.avail_out) fail("a block cannot be compressed");
  j->packed.size += room - z.avail_out;
  deflateEnd(&z);
  j->check = (uint32_t)crc32(0, j->plain.data, (uInt)j->plain.size);
}

static uint32_t join_checks(uint32_t before, const job *j) {
  return (uint32_t)crc32_combine(before, j->check, (z_off_t)j->plain.size);
}
#else
/* Stored blocks. */
static void pack(job *j, int level) {
  size_t at, n;
  (void)level;
  for (at = 0; at < j->plain.size; at += n) {
    n = j->plain.size - at < 0xffff ? j->plain.size - at : 0xffff;
    put_byte(&j->packed, 0);
    put_byte(&j->packed, n & 0xff), put_byte(&j->packed, (unsigned)(n >> 8));
    put_byte(&j->packed, ~n & 0xff), put_byte(&j->packed, (unsigned)(~n >> 8 & 0xff));
    put_data(&j->packed, j->plain.data + at, n);
  }
}

/* CRC-32 of gzip, of the blocks in their order. */
static uint32_t join_checks(uint32_t before, const job *j) {
  static uint32_t table[256];
  uint32_t check = ~before, i, k;
  size_t at;
  for (i = 0; i < 256 && !table[255]; i++)
    for (table[i] = i, k = 0; k < 8; k++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
  for (at = 0; at < j->plain.size; at++) check = check >> 8 ^ table[(check ^ j->plain.data[at]) & 0xff];
  return ~check;
}
#endif

/* ------------------------------------------------------------------------------------------------------ files ---- */

static void write_all(const gzip_file *f, const uint8_t *data, size_t size) {
  while (size) {
    ssize_t written = write(f->fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("%s: %s", f->path, strerror(errno));
    data += written;
    size -= (size_t)written;
  }
}

void gzip_begin(gzip_file *f) {
  static const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}; /* deflate, no time, Unix */
  f->check = 0;
  f->size = 0;
  write_all(f, head, sizeof head);
}

void gzip_end(gzip_file *f) {
  uint8_t end[10] = {3, 0}; /* an empty last block */
  unsigned i;
  for (i = 0; i < 4; i++) end[2 + i] = (uint8_t)(f->check >> 8 * i), end[6 + i] = (uint8_t)(f->size >> 8 * i);
  write_all(f, end, sizeof end);
  if (close(f->fd) != 0) fail("%s: %s", f->path, strerror(errno));
}

/* ----------------------------------------------------------------------------------------------------- threads ---- */

static void *work(void *argument) {
  gzip *z = argument;
  pthread_mutex_lock(&z->lock);
  for (;;) {
    job *j = &z->jobs[z->taken % z->room];
    if (z->taken == z->put) {
      if (z->over) break;
      pthread_cond_wait(&z->given, &z->lock);
      continue;
    }
    z->taken++;
    pthread_mutex_unlock(&z->lock);
    pack(j, z->level);
    pthread_mutex_lock(&z->lock);
    j->done = true;
    pthread_cond_signal(&z->finished);
  }
  pthread_mutex_unlock(&z->lock);
  return NULL;
}

gzip *gzip_open(int level) {
  gzip *z = zeroed(sizeof *z);
  unsigned count = processor_count();
  z->level = level;
  z->room = 4 * count < MOST_JOBS ? 4 * count : MOST_JOBS;
  pthread_mutex_init(&z->lock, NULL);
  pthread_cond_init(&z->given, NULL);
  pthread_cond_init(&z->finished, NULL);
  return z;
}

/* Called with the first block, so that what fails before it leaves no threads. */
static void start_threads(gzip *z) {
  while (z->thread_count < z->room / 4 && pthread_create(&z->threads[z->thread_count], NULL, work, z) == 0)
    z->thread_count++;
  if (!z->thread_count) fail("cannot create a thread");
}

/* Writes the oldest block. */
static void write_oldest(gzip *z) {
  job *j = &z->jobs[z->written % z->room];
  pthread_mutex_lock(&z->lock);
  while (!j->done) pthread_cond_wait(&z->finished, &z->lock);
  pthread_mutex_unlock(&z->lock);
  write_all(j->file, j->packed.data, j->packed.size);
  j->file->check = join_checks(j->file->check, j);
  j->file->size += j->plain.size;
  j->plain.size = j->packed.size = 0;
  j->done = false;
  z->written++;
}

void gzip_put(gzip *z, gzip_file *f, bytes *block) {
  job *j;
  bytes spare;
  if (!block->size) return;
  if (!z->thread_count) start_threads(z);
  if (z->put - z->written == z->room) write_oldest(z);
  j = &z->jobs[z->put % z->room];
  spare = j->plain; /* which is empty */
  j->plain = *block;
  *block = spare;
  j->file = f;
  pthread_mutex_lock(&z->lock);
  z->put++;
  pthread_cond_signal(&z->given);
  pthread_mutex_unlock(&z->lock);
}

void gzip_flush(gzip *z) {
  while (z->written < z->put) write_oldest(z);
}

void gzip_close(gzip *z) {
  unsigned i;
  pthread_mutex_lock(&z->lock);
  z->over = true;
  pthread_cond_broadcast(&z->given);
  pthread_mutex_unlock(&z->lock);
  for (i = 0; i < z->thread_count; i++) pthread_join(z->threads[i], NULL);
  for (i = 0; i < z->room; i++) {
    free(z->jobs[i].plain.data);
    free(z->jobs[i].packed.data);
  }
  free(z);
}
