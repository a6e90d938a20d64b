/* digest.h - adds up what most events say, without operations and the world
 *
 * Most events of a trace start, stop, block and unblock goroutines that go on doing that. A digest takes the events of
 * v2, from a Sync on, and adds up the stretches of such goroutines itself, in a few nanoseconds each. All other events
 * it passes on to its host, in their order, and before each the host catches up with the goroutines concerned: it
 * hears what their status is now and how long they ran and waited until then. So the host only sees goroutines as they
 * are.
 *
 * All events of a goroutine are passed on until it stops for the first time, because only then may the host admit it:
 * when its function is known, it is not the collector's, and so on. The hosts:
 *
 *     summary.c    keeps the world, and admits what it knows well
 *     recording.c  knows nothing of what came before, as on a thread that decodes a later generation. It records what a
 *                  summary is to hear when it has come that far
 */

#ifndef DIGEST_H
#define DIGEST_H

#include "groups.h"
#include "world.h"

#define LATENCIES 10

#define DIGESTED_WAITS 2

typedef struct digested { /* a goroutine, in a line of the cache */
  uint64_t id;
  int64_t since;             /* when it got its status */
  group *to;                 /* gets its stretches; NULL: not admitted */
  int64_t running, runnable; /* nanoseconds of which the host has not heard */
  union {
    int64_t waited[DIGESTED_WAITS]; /* likewise, for `reasons` */
    uint64_t made_by;               /* not admitted: stack of its creation, what it began with; 0: none */
  } u;
  uint32_t m;     /* where it runs: a place in digest.threads */
  uint8_t reason; /* why it waits */
  uint8_t reasons[DIGESTED_WAITS];
  uint8_t status : 3;  /* of world.h; GO_NONE: only the host knows */
  uint8_t ahead : 1;   /* the host has not heard of its status, and times */
  uint8_t asks : 1;    /* the host is to be asked again before more is digested */
  uint8_t is_new : 1;  /* created since the digest began */
  uint8_t barred : 1;  /* for good: it has a label, or waits forever */
  uint8_t assists : 1; /* in a mark assist */
} digested;

typedef struct long_wait { /* for a proc */
  int64_t waited, when;
  uint64_t g;
  const group *function;
} long_wait;

typedef struct busy { /* a thread or proc */
  uint64_t id;
  uint32_t place;
  int64_t running; /* nanoseconds */
  digested *shown; /* thread: that the host has there; NULL: not known */
} busy;

typedef struct busy_places {
  busy *near[64]; /* by id */
  map by_id;
  busy **all;
  uint32_t count, capacity;
} busy_places;

struct digest_host;
typedef struct digest {
  const struct digest_host *host;
  const gotrace_decoder *decoder;
  digested **near; /* by id: most are found here */
  size_t near_mask;
  map gos;
  struct digested_block *blocks, *newest; /* of records, oldest first */
  size_t ended;                           /* goroutines */
  busy_places threads, procs;
  struct {
    uint64_t string;
    uint8_t reason;
    bool known;
  } reasons[64]; /* those asked for last */
  /* For the host. */
  uint64_t events, kinds[256];          /* how many of a kind are in the file */
  const gotrace_event_spec *specs[256]; /* of kinds */
  int64_t first, last;                  /* times of the first and last event */
  uint64_t offset;                      /* of the last event */
  bool admitted;                        /* a goroutine is, or was */
  long_wait worst[LATENCIES];           /* longest first */
  unsigned worst_count;
} digest;

#define PASS_ON UINT8_MAX

typedef struct digest_host {
  void (*pass)(digest *d, const gotrace_event *e);
  /* The goroutine's status, and what is to be added to its times. */
  void (*catch_up)(digest *d, const digested *g);
  /* Gets the goroutine's stretches from an event on that was passed on and stopped it. NULL: not now. */
  group *(*admit)(digest *d, const digested *g, const gotrace_event *stop);
  /* The place of a wait's reason in groups; PASS_ON: a goroutine that waits for that is not digested. */
  uint8_t (*reason)(digest *d, uint64_t string);
} digest_host;

void digest_begin(digest *d, const digest_host *host, const gotrace_decoder *decoder);
void digest_take(digest *d, const gotrace_event *const *events, size_t count);

/* Lets the host catch up with all goroutines, at the end of what is read. */
void digest_finish(digest *d);
void digest_free(digest *d);

/* Whether a wait is among the longest, of those that are listed, or is to be listed before another: the longest first,
 * of equal ones the earliest. */
static inline bool waited_longer(int64_t waited, int64_t when, int64_t than, int64_t than_when) {
  return waited > than || (waited == than && when < than_when);
}

#endif
