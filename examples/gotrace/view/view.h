/* view.h - the data that gotrace view collects from a trace: see view.c */

#ifndef VIEW_H
#define VIEW_H

#include "../reading/source.h"
#include "view_levels.h"

/* Kinds of lanes. The page (view/model.js) has the same list. */
enum { LANE_PROC, LANE_THREAD, LANE_GO, LANE_REGION, LANE_TASK, LANE_GC, LANE_STW, LANE_EARLY, LANE_OTHERS };

/* Colours of slices. Those of procs, threads, regions and tasks are derived from the name instead. */
enum { RUNNING, RUNNABLE, IN_SYSCALL, BLOCKED_SYNC, BLOCKED_NETWORK, BLOCKED_CHANNEL, SLEEPING, BLOCKED };
#define OTHERS (COLOURS - 1) /* on procs and threads, if there is a filter: goroutines that it does not select */

typedef struct view_row { /* a lane */
  lane *lane;             /* NULL: it has ended */
  uint64_t id;
  uint32_t kind, name; /* name: text */
  uint32_t parent;     /* 1 + another row: a region's goroutine, a goroutine's creator; 0: none */
  uint32_t stack;      /* where it was created */
  uint32_t function;   /* goroutine: 1 + the number of its function; 0: none yet */
  int64_t begin, end;  /* start of its first slice, end of its last; begin -1: it has none */
  /* Its first slice, if that began before the trace or part: when, or UNKNOWN_BEGIN. Otherwise -1. */
  int64_t since;
  bool open; /* its last slice had not ended when the trace or part ended */
} row;
#define UNKNOWN_BEGIN INT64_MAX

typedef struct measure { /* of durations, in nanoseconds */
  uint64_t count, total, longest;
  uint64_t unended; /* how many of them the end of the trace or part has cut */
} measure;

typedef struct detail { /* what slices of goroutines have in common */
  uint32_t colour, reason;
  uint32_t stack; /* runnable: where it was woken or created */
  measure all;    /* slices with this detail */
} detail;

typedef struct mark { /* a log or CPU sample */
  int64_t time;
  uint32_t row;         /* 1 + row; 0: none */
  uint32_t name, value; /* log: category and message; sample: 0 and a stack */
  uint32_t task;        /* log: 1 + the index of its task; 0: none */
  bool log;
} mark;

typedef struct task_record {
  uint64_t id;
  uint32_t parent; /* 1 + the parent's index; 0: none */
  uint32_t row;
  int64_t begin, end;
} task_record;

/* Totals of all stretches by function, for the summary. */
#define BUCKETS 160 /* of latencies: 4 per power of 2 */
typedef struct latencies {
  uint32_t *counts;     /* by bucket; NULL: all are in one */
  uint32_t bucket, few; /* that one, and how many */
} latencies;

void add_latency(latencies *l, uint64_t length);

unsigned colour_of_state(unsigned status, uint32_t reason);

typedef struct totals {
  uint32_t name;
  uint64_t goroutines;
  measure all[COLOURS];
  latencies latencies[COLOURS];
} totals;

/* Totals of regions, tasks, collections and stopped worlds, by name. */
typedef struct span_totals {
  uint32_t kind, name;
  measure all;
  latencies latencies;
} span_totals;

enum { COUNT_RUNNING, COUNT_RUNNABLE, COUNT_BLOCKED, COUNT_PROCS, COUNT_HEAP, COUNT_GOAL, COUNTERS };

typedef struct point { /* the values of a series from a time on */
  int64_t time;
  double values[COUNTERS]; /* a counter of the program has only the first */
} point;

typedef struct series {
  uint32_t name; /* text: of the program's counter */
  point *points;
  size_t count, capacity;
  point latest; /* the values after the last point, which may stand for several */
} series;

/* Series that share a limit: if they have more points, those of a series that are closer than `step` become one. */
typedef struct curves {
  series *all;
  size_t count, capacity;
  size_t points, most; /* of all series */
  int64_t step;        /* nanoseconds */
} curves;

/* Numbers from 0 for the texts or stacks that the page needs. Those for which there is no room have the number of one
 * that stands for them. */
typedef struct numbering {
  map numbers; /* 1 + the number */
  uint32_t *all;
  size_t count, capacity;
  size_t room;       /* in the unit of `cost` */
  uint32_t left_out; /* the number of what stands for the others */
  size_t lost;       /* how many others */
  size_t (*cost)(uint32_t id);
} numbering;

uint32_t number_of(numbering *n, uint32_t id);
void numbering_free(numbering *n);

/* The tables of the page that grow with the trace. Each has a limit (most_of in view.c); what comes later is left out,
 * and the page tells how much that is. */
enum {
  TABLE_GOS,       /* rows of goroutines that the filter selects; others share rows, which have no slices */
  TABLE_OTHER_GOS, /* rows of those that it does not select */
  TABLE_PLACES,    /* rows of procs and threads */
  TABLE_REGIONS,   /* rows of regions */
  TABLE_TASK_ROWS, /* a task without one is not shown */
  TABLE_TASKS,     /* of which the page knows the parts */
  TABLE_MARKS,     /* logs and CPU samples */
  TABLE_NAMES,     /* names of functions, regions and so on with totals; others are added up as "(others)" */
  TABLE_DETAILS,   /* others have no stack */
  TABLE_COUNTS,    /* values of the program's counters */
  TABLES
};

typedef struct table {
  size_t count, lost;
} table;

/* Rows, and other indices of the view, of what the world has: 1 + the index; 0: none yet. */
typedef struct view_go {
  uint32_t row;
  bool counted;      /* in the totals of its function */
  uint32_t *regions; /* rows of its regions, by line */
  uint32_t region_count, region_capacity;
} view_go;

typedef struct view_task {
  uint32_t row, record;
} view_task;

typedef struct view {
  consumer c;
  const char *name;                    /* of the file */
  bool later;                          /* see input.has_base */
  uint64_t events;                     /* of the trace or part */
  side_array gos, tasks;               /* struct view_go, struct view_task */
  side_array procs, threads, counters; /* uint32_t: rows; of a counter, its series */
  numbering texts, stacks;
  levels few, many; /* of procs, threads and the collector; of all other rows */
  row *rows;
  size_t row_count, row_capacity;
  detail *details;
  size_t detail_count, detail_capacity;
  map detail_places; /* 1 + an index of `details`, by status, reason and stack */
  struct known_detail {
    uint64_t key;
    uint32_t place;      /* 1 + an index */
  } known_details[1024]; /* a cache of recent look-ups */
  mark *marks;
  size_t mark_count, mark_capacity;
  map functions; /* struct totals by name */
  map spans;     /* struct span_totals by kind and name */
  task_record *task_records;
  size_t task_record_count, task_record_capacity;
  curves of_trace, of_program; /* counters; those of the trace are one series */
  point now;                   /* the counters of the trace */
  double sketched[2];          /* see sketch() */
  uint64_t samples;
  uint32_t gc, stw; /* 1 + their rows; 0: none yet */
  int64_t gc_begin, stw_begin;
  uint32_t stw_reason;
  map task_rows; /* by name */
  table tables[TABLES];
  map others; /* uint32_t by function: the row that stands for goroutines without one; see row_of_go() */
  int64_t end;
  unsigned coarsest; /* coarsest level that shows the whole trace in a narrow window */
} view;

#ifndef PAGE_SIZE
#define PAGE_SIZE ((size_t)30 << 20)
#endif
/* A limit of which a page of the usual size has this many. */
#define MOST(count) ((size_t)(count) * (PAGE_SIZE >> 10) / ((size_t)30 << 10))
#define MOST_TEXT MOST(12000000) /* bytes; half of it for what comes while the trace is read, the rest for frames */

#define PAGE_DATA (PAGE_SIZE / 4 * 3 - ((size_t)1 << 18)) /* base 64 adds a third; the rest is for the script */

/* Appends the table of contents, as JSON. */
void view_contents(view *v, bytes *to);

/* The data as a stream: the first is for levels.take, the second ends it. */
void stream_chunk(levels *l, const chunk *c, bytes *raw);
void view_stream(view *v, output *out);

/* Writes how long what begins between two times lasts: see view_lengths.c. */
int view_lengths(const char *path, const settings *set);

/* The header of a batch of Go 1.22 and later; all zero: the end of a generation. */
typedef struct batch {
  uint64_t generation, thread, time, size; /* size: of what follows the header; time: in ticks */
} batch;
#define BATCHES_BEGIN 16                            /* offset */
#define BATCH_HEADER (6 * GOTRACE_BYTES_PER_NUMBER) /* bytes at most */

/* Whether the trace, of which these are the first BATCHES_BEGIN bytes, has such batches. */
bool batches_begin(const uint8_t *data);

/* Takes a header. Returns its size; 0: it is none. */
size_t batch_header(const uint8_t *data, size_t size, batch *b);

/* Writes which threads wrote how much when: see view_batches.c. */
int view_batches(const char *path);

/* Writes a page with pictures. Its chunks are those of view_pack.c. */
void view_page(view *v, output *out);

/* A trace for a page with the reader, which is WebAssembly that makes the stream in the browser. */
typedef struct reader_trace {
  const char *name;
  settings set; /* the part that is shown */
  const uint8_t *data;
  size_t size;
  bytes packed;         /* what the page contains of it */
  const uint8_t *index; /* its index, for a page that is served; NULL: none */
  size_t index_size;
  char note[512]; /* what the page says above the picture */
} reader_trace;

/* How many bytes of packed traces a page below of so many bytes has room for; 0: PAGE_SIZE. */
size_t view_room(uint64_t size);

/* Packs a trace for a page with so much room. `cut`: of one that is too large, the first whole generations. Returns how
 * many bytes of it are packed; 0: it does not fit, or the tool was built without the reader. */
size_t view_pack_trace(bytes *packed, const uint8_t *data, size_t size, size_t room, bool cut);

/* Writes a page with the reader and the traces, packed. */
void view_page_of_traces(output *out, const reader_trace *traces, size_t count);

/* Writes a page with the reader, for traces beside it. */
void view_served_page(output *out, const reader_trace *traces, size_t count);

/* Finds the index of a trace that is served. */
void view_find_index(reader_trace *t);

/* Serves a page, its traces and their indexes to a browser, which it starts unless `quiet`, until the page is closed.
 * Returns the exit status. */
int view_serve(const reader_trace *traces, size_t count, bool quiet);

/* Writes a page with the reader only. False: the tool was built without it. */
bool view_empty_page(output *out);

const char *temporary_page(void);        /* where the page is written if it is to be opened and no name was given */
void start_browser(const char *address); /* does not wait for it */
int open_browser(const char *page);      /* returns the exit status of the command */

#endif
