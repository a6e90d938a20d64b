/* export.h - what `gotrace export` shows, and the formats that show it
 *
 *     export.c     decides what is shown on which track
 *     chrome.c     Chrome's Trace Event Format, JSON
 *     perfetto.c   Perfetto's protobuf
 *     relations.c  tables instead, for SQL: see table_set.h
 *
 * A track holds slices, which nest, and instants. Arrows lead from an instant to the start of a slice. Calls for a
 * track come in order of time, but a goroutine's statuses when they end, since only then the filter can select them. A
 * task or region that began before the part begins with the part, and says so. */

#ifndef EXPORT_H
#define EXPORT_H

#include "../reading/source.h"
#include "gzip.h"

enum {
  TRACK_PROC,      /* the goroutine on the proc */
  TRACK_NO_PROC,   /* events without a proc */
  TRACK_SCHEDULER, /* wake-ups that no goroutine causes */
  TRACK_GC,
  TRACK_STW,    /* stopped worlds, which need not nest with collections */
  TRACK_TASK,   /* one task */
  TRACK_REGION, /* regions of one goroutine */
  TRACK_EARLY,  /* one region whose start is not in the trace */
  TRACK_GO,     /* the statuses of one goroutine; only in formats with goroutine tracks */
  TRACK_KINDS
};

enum { COUNTER_HEAP, COUNTER_GOAL, COUNTER_RUNNABLE, COUNTER_RUNNING, COUNTER_SYSCALL, COUNTER_WAITING, COUNTERS };

typedef struct track {
  unsigned kind;
  uint64_t id;   /* proc, task, goroutine, or any number */
  uint32_t name; /* text; goroutine tracks only */
} track;

typedef struct mark {
  uint32_t name;        /* text */
  const char *category; /* a constant */
  uint32_t stack;       /* 0: none */
  uint64_t arrow;       /* an arrow's id: it begins at an instant, ends at a slice; 0: none */
  uint64_t g, task;     /* shown as details, unless 0 */
  uint32_t detail;      /* text, a reason or category, of tasks and regions how they are cut; 0: none */
} mark;

/* What is shown of a slice; or an instant. */
typedef enum slice_phase { PHASE_BEGIN, PHASE_END, PHASE_INSTANT } slice_phase;

typedef struct exporter {
  consumer c;
  output *out;
  gzip *z; /* what `out` gets goes through it to `packed`; NULL: as it is */
  gzip_file packed;
  const char *file; /* name of the trace */
  bool goroutines;  /* the format has goroutine tracks; arrows lead between these instead of procs */
  uint64_t arrows;  /* number of arrows so far */
  unsigned stw;     /* stopped worlds that are shown now */
  bool gc;          /* a collection is shown now */
  map rows;
  side_array gos; /* struct shown_go in export.c */
  uint64_t early; /* number of regions whose start is not in the trace */
  int64_t counts[COUNTERS], counts_told[COUNTERS], counts_time;
  bool any; /* something was written */
  /* The format. */
  void (*show)(struct exporter *, track, int64_t time, slice_phase,
               const mark *); /* END: BEGIN's mark, except `detail` */
  void (*count)(struct exporter *, unsigned counter, int64_t time, int64_t value);
  void (*user_count)(struct exporter *, uint32_t name, int64_t time, double value); /* of the program; name: text */
  void (*finish)(struct exporter *);
} exporter;

/* The name of a counter; `text` may be where it is. */
#define COUNTER_NAME 40
const char *counter_name(const exporter *x, unsigned counter, char text[COUNTER_NAME]);

/* Tasks and regions. */
static inline bool is_annotation(track where) { return where.kind >= TRACK_TASK && where.kind <= TRACK_EARLY; }

const char *detail_name(track where, slice_phase p); /* what a mark's `detail` is called */

/* Sets the functions of a format and writes its header. */
void chrome_open(exporter *x);
void perfetto_open(exporter *x);

/* --tables: returns the program's exit status. */
int export_tables(char **paths, int count, const settings *set);

/* Call it when something has been added to out->block. */
void export_check(exporter *x);

#endif
