/* marks.h - which region of the program a goroutine was in, at any time, for reading backwards
 *
 * The regions of a goroutine are nested; the innermost one counts. */

#ifndef MARKS_H
#define MARKS_H

#include "../reading/world.h"

typedef uint32_t mark_place; /* 1 + the index of a mark; 0: none */

typedef struct mark { /* from `time` on */
  int64_t time;
  uint32_t region; /* text; 0: none */
  uint32_t stack;  /* where the region begins, or another ends */
  mark_place before;
} mark;

typedef struct marks {
  mark *all;
  uint32_t count, capacity;
} marks;

/* Notes a region that is open when a goroutine is first met. `last`: the goroutine's last mark. */
void marks_begin(marks *m, mark_place *last, const goroutine *g, int64_t time);

/* The same for the begin or end of a region, before it is applied. */
void marks_take(marks *m, mark_place *last, const op *o);

typedef struct in_region { /* a span of time in which a goroutine is in one region */
  int64_t begin, end;
  uint32_t region;
  uint32_t stack; /* where it is left; 0: the region goes on after the time that was asked for */
} in_region;

/* The last of the spans of which the time from `begin` to `end` consists. Sets *last to
 * the first mark that later calls, for earlier times, need. */
in_region marks_before(const marks *m, mark_place *last, int64_t begin, int64_t end);

#endif
