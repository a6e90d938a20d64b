/* view_levels.h - slices at all levels of detail, compressed while they come: see view_levels.c */

#ifndef VIEW_LEVELS_H
#define VIEW_LEVELS_H

#include "tool.h"

/* Level k is for zooms at which a pixel is LEVEL_SIZE(k) nanoseconds or more. Level 0 has every slice. */
#define LEVELS 14
#define LEVEL_SIZE(k) ((k) ? (int64_t)16 << 3 * (k) : 0)
#define NARROW 200 /* pixels of the narrowest picture */
#define COLOURS 8  /* of slices, see view.c */

typedef struct lane lane; /* a row of the picture, whose slices follow one another */

typedef struct slice {
  int64_t begin, end; /* since the first event */
  unsigned colour;
  uint32_t what; /* by the lane's kind; see view.c */
  uint32_t who;  /* 1 + a lane; 0: none */
} slice;

/* A compressed part of a level, for the page. */
typedef struct chunk {
  unsigned level;
  bool merged; /* slices too short for the level, merged with their neighbours; else the level's own slices */
  int64_t begin, end;
  uint32_t count;
  bytes data; /* zlib's format */
} chunk;

typedef struct levels {
  struct stream {
    bytes raw;
    int64_t begin, end, last;
    uint32_t count;
  } own[LEVELS], merged[LEVELS];
  chunk *chunks;
  size_t chunk_count, chunk_capacity;
  unsigned finest;        /* what is finer did not fit */
  int64_t begin, reached; /* of the trace */
  /* Others that share a limit, each with its part of 100. */
  struct levels *next;
  size_t limit;
  unsigned part;
} levels;

/* Lanes are numbered from 0. */
lane *lane_new(uint32_t number);
void lane_add(levels *l, lane *to, const slice *s); /* in order of time, without overlaps */
void lane_end(levels *l, lane *of);                 /* no more slices: frees it */
void levels_finish(levels *l);                      /* after all lanes have ended */
void levels_fit(levels *l);                     /* gives up levels of whoever takes more than its part, until all fit */
void levels_drop(levels *l, unsigned coarsest); /* merged slices that no zoom is for: of coarser levels */
unsigned coarsest_level(int64_t span);          /* that a picture of so long a trace needs */
void levels_free(levels *l);

/* Appends `from` in zlib's format. */
void compress_bytes(bytes *to, const bytes *from);

#endif
