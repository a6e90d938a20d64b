/* gzip.h - compresses several files at once, on all processors
 *
 * Blocks of a file are compressed apart and written in their order, as one member of gzip. Their memory is bounded.
 * Without zlib they are stored as they are, in gzip's format. */

#ifndef GZIP_H
#define GZIP_H

#include "../base/tool.h"

typedef struct gzip_file {
  const char *path; /* for messages */
  int fd;
  uint32_t check; /* CRC-32 of what was given so far */
  uint64_t size;
} gzip_file;

/* Levels of zlib. */
enum {
  GZIP_FAST = 2, /* for tables: as fast as 1 there (200 MB/s), and a seventh smaller */
  GZIP_SMALL = 6 /* for pictures: a quarter smaller than 2, in half the time that making them takes */
};

typedef struct gzip gzip;
gzip *gzip_open(int level);

/* A file that is open for writing. Fails with a message if it cannot be written. */
void gzip_begin(gzip_file *f);

/* Takes a block and leaves it empty. It is written now or later. */
void gzip_put(gzip *z, gzip_file *f, bytes *block);

/* Writes what was given to all files, whose ends then come from gzip_end(). */
void gzip_flush(gzip *z);
void gzip_end(gzip_file *f);
void gzip_close(gzip *z);

#endif
