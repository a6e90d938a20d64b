/* view_levels.h - slices at all levels of detail: see view_levels.c */

#ifndef VIEW_LEVELS_H
#define VIEW_LEVELS_H

#include "../base/tool.h"

/* Level k is for zooms at which a pixel is at least LEVEL_SIZE(k) nanoseconds. Level 0 has every slice. */
#define LEVELS 14
#define LEVEL_SIZE(k) ((k) ? (int64_t)16 << 3 * (k) : 0)
#define NARROW 200 /* pixels of the narrowest picture */
#define COLOURS 8  /* of slices; see view.h */

typedef struct lane lane; /* a row of the picture; its slices follow one another */

typedef struct slice {
  int64_t begin, end; /* since the first event */
  unsigned colour;
  uint32_t what; /* depends on the lane's kind; see view.c */
  uint32_t who;  /* depends on the lane's kind, mostly 1 + a lane; 0: none */
} slice;

/* A part of a level, for the page. */
typedef struct chunk {
  unsigned level;
  bool merged; /* slices too short for the level, merged with their neighbours; false: the level's own slices */
  int64_t begin, end;
  uint32_t count;
  bytes data;        /* view_pack.c: in zlib's format */
  uint64_t at, size; /* view_data.c: offset and bytes in the stream */
} chunk;

typedef struct chunk_stream {
  output *to;
  uint64_t at;
} chunk_stream;

typedef struct levels {
  /* Called for each part when it is full, or at the end. Takes its bytes, and leaves in `raw` an empty array, which may
   * have room. It may drop the finest level. */
  void (*take)(struct levels *, const chunk *, bytes *raw);
  struct stream {
    bytes raw;
    int64_t begin, end, last;
    uint32_t count;
  } own[LEVELS], merged[LEVELS];
  chunk *chunks;
  size_t chunk_count, chunk_capacity;
  unsigned finest;             /* finer levels were dropped to save space */
  int64_t begin, reached;      /* of the trace */
  struct chunk_stream *stream; /* for view_data.c */
  /* For view_pack.c: a ring of `levels` that share a limit in bytes; `part` is the share of each in percent. */
  struct levels *next;
  size_t limit;
  unsigned part;
} levels;

/* Lanes are numbered from 0. */
lane *lane_new(uint32_t number);
void lane_add(levels *l, lane *to, const slice *s); /* in order of time, without overlaps */
void lane_end(levels *l, lane *of);                 /* no more slices follow; frees the lane */
void levels_finish(levels *l);                      /* after all lanes have ended */
unsigned coarsest_level(int64_t span); /* the coarsest one that a picture of a trace of this length needs */
void levels_add_chunk(levels *l, const chunk *c);
void levels_free(levels *l);

#endif
