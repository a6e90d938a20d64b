/* groups.h - times by name: goroutines by function, tasks and regions by name */

#ifndef GROUPS_H
#define GROUPS_H

#include "../base/histogram.h"
#include "../reading/pool.h"

#define MOST_GROUPS 20000
#define MOST_REASONS 250

typedef struct reason_time {
  uint32_t reason; /* index in summary.reasons */
  int64_t time;
} reason_time;

typedef struct times { /* nanoseconds */
  int64_t running, runnable, syscall, syscall_blocked;
  int64_t cpu; /* of functions, in traces of `gotrace record`: CPU time by the kernel's account */
  reason_time *blocked;
  uint32_t blocked_count, blocked_capacity;
} times;

/* Everything with one name: the goroutines of a function, or the tasks or regions of a name. */
typedef struct group {
  uint32_t name;     /* text; 0: unknown */
  bool others;       /* collects those beyond MOST_GROUPS */
  uint64_t count;    /* goroutines, tasks, regions */
  uint64_t complete; /* tasks with both begin and end */
  histogram open;    /* tasks that have begun and not ended: their time so far */
  times t;
  histogram running, runnable, syscall; /* single stretches */
  histogram whole;                      /* from begin to end: complete tasks, regions */
  histogram **blocked;                  /* by reason */
  uint32_t blocked_count;
  struct group *next;
} group;

typedef struct groups {
  map by_name; /* by text + 1 */
  group *list;
  size_t count;
} groups;

/* The longest waits of runnable goroutines for a proc. */
#define LATENCIES 10
typedef struct latency {
  int64_t waited, when;
  uint64_t g;
  const group *function; /* NULL: not known yet */
} latency;

typedef struct latencies {
  latency all[LATENCIES]; /* longest first, of equal ones the earliest */
  unsigned count;
} latencies;

void note_latency(latencies *to, latency new);

/* The group with a name; added if it is new. */
group *group_of(groups *all, uint32_t name);
void free_groups(groups *all);

/* Those with anything in them, sorted, NULL-terminated; free it. */
group **sorted_groups(const groups *all, int (*compare)(const void *, const void *));
int by_name(const group *a, const group *b); /* breaks ties of `compare` */
pool_text group_name(const group *g);        /* `g` NULL: unknown */

int text_order(uint32_t a, uint32_t b); /* compares texts byte by byte */

/* Adds the single stretches of another group. `places`: maps `from`'s reasons to those of `to`; NULL: they are the
 * same. */
void merge_group(group *to, const group *from, const uint32_t *places);
void clear_group(group *g);

static inline int64_t plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); } /* hostile: wraps */

void add_blocked(times *t, uint32_t reason, int64_t time);
void add_times(times *to, const times *from);
void clear_times(times *t);

/* Totals in nanoseconds. */
int64_t blocked_time(const times *t);
int64_t known_time(const times *t);

/* The histogram of single waits for a reason. */
histogram *new_waits(group *g, uint32_t reason);

static inline histogram *waits_of(group *g, uint32_t reason) {
  return reason < g->blocked_count && g->blocked[reason] ? g->blocked[reason] : new_waits(g, reason);
}

#endif
