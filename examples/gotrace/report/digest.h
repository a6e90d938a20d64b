/* digest.h - fast path for the events that most traces consist of
 *
 * Most events start, stop, block or unblock a goroutine. A digest reads the events of a v2 trace from a Sync on and
 * adds up the running, runnable and waiting times of goroutines itself, in a few nanoseconds an event, without building
 * operations or the world. It passes every other event to its host, in order. Before it passes an event, it lets the
 * host catch up with the goroutines concerned: the host gets their current status and the times added up so far. So the
 * host always sees goroutines as they are.
 *
 * The digest follows a goroutine once the host admits it. It asks the host when the goroutine's status is told at the
 * start of a generation, and each time the goroutine stops, until the host knows enough: the goroutine's function, and
 * that it is not one of the collector's. Until then, and up to the first event that changes an admitted goroutine's
 * status, its events are passed. There are two hosts:
 *
 *     generations.c  keeps the world and admits goroutines whose function it knows
 *     recording.c    runs on a thread that decodes a later generation without knowing the state at its start. It
 *                    records what the summary needs, for when the summary reaches that generation
 */

#ifndef DIGEST_H
#define DIGEST_H

#include "groups.h"
#include "../reading/world.h"

#define DIGESTED_WAITS 2

typedef struct digested { /* a goroutine: one cache line */
  uint64_t id;
  int64_t since;             /* time of the last status change */
  group *to;                 /* receives its stretches; NULL: not admitted */
  int64_t running, runnable; /* nanoseconds that the host does not have yet */
  union {
    int64_t waited[DIGESTED_WAITS]; /* likewise, for `reasons` */
    uint64_t made_by;               /* not admitted: stack of its first function, from its creation; 0: none */
  } u;
  uint32_t m;     /* where it runs: index in digest.threads */
  uint8_t reason; /* why it waits */
  uint8_t reasons[DIGESTED_WAITS];
  uint8_t status : 3;  /* of world.h; GO_NONE: only the host knows it */
  uint8_t ahead : 1;   /* the host must catch up with its status and times */
  uint8_t asks : 1;    /* the host must admit it again before more is digested */
  uint8_t is_new : 1;  /* created since the digest began */
  uint8_t barred : 1;  /* not for a recording: it had a label, or a wait that is not digested */
  uint8_t assists : 1; /* in a mark assist */
} digested;

typedef struct busy { /* a thread or proc */
  uint64_t id;
  uint32_t place;  /* index in busy_places.all */
  int64_t running; /* nanoseconds */
  digested *shown; /* thread: the goroutine that the host sees running there; NULL: unknown */
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
  unsigned users;               /* atomic; see digest_share */
  const struct digest *earlier; /* of an earlier generation, while this one is read; or NULL */
  bool named;
  digested **near; /* goroutines by the low bits of their ids: the first place to look */
  size_t near_mask;
  map gos;
  struct digested_block *blocks, *newest; /* the records of goroutines, oldest first */
  size_t ended;                           /* how many goroutines have ended */
  busy_places threads, procs;
  struct {
    uint64_t string;
    uint8_t reason;
    bool known;
  } reasons[64]; /* cache of host->reason */
  /* For the host. */
  uint64_t events, kinds[256];          /* kinds: without implied events */
  const gotrace_event_spec *specs[256]; /* by kind */
  int64_t first, last;                  /* times of the first and last event */
  uint64_t offset;                      /* of the last event */
  bool admitted;                        /* at least one goroutine has been admitted */
  latencies worst;
} digest;

#define PASS_ON UINT8_MAX

typedef void catch_up_fn(digest *d, const digested *g);

typedef struct digest_host {
  void (*pass)(digest *d, const gotrace_event *e);
  /* Takes the goroutine's status, and the times to be added to its own. */
  catch_up_fn *catch_up;
  /* The group that receives the goroutine's stretches from now on; NULL: not admitted now. `e` has stopped the
   * goroutine and was passed, or it tells the goroutine's status and will be passed only if the goroutine is not
   * admitted or runs. */
  group *(*admit)(digest *d, const digested *g, const gotrace_event *e);
  /* Index of a wait's reason in groups; PASS_ON: do not digest a goroutine that waits for this. */
  uint8_t (*reason)(digest *d, uint64_t string);
  void (*free)(digest *d);
} digest_host;

/* `earlier`: digest of an earlier generation, which must live until digest_end; or NULL. `named`: labels are names that
 * the hosts know, so they are not passed. */
void digest_begin(digest *d, const digest_host *host, const gotrace_decoder *decoder, const digest *earlier,
                  bool named);
void digest_take(digest *d, const gotrace_event *const *events, size_t count);

void digest_end(digest *d); /* everything was taken */

/* At the end of what is read: calls `catch_up` for each goroutine with which the host must catch up. */
void digest_finish(digest *d, catch_up_fn *catch_up);
void digest_free(digest *d);

/* A finished digest tells threads that decode later generations what it knows about goroutines. digest_begin makes the
 * caller its first user; the last one to release it frees it with host->free. Thread-safe. */
digest *digest_share(digest *d);
void digest_release(digest *d); /* may be NULL */

/* What a finished digest knows about a goroutine; NULL: nothing. Thread-safe. */
const digested *digest_find(const digest *d, uint64_t id);

/* The goroutine that an event is about: the one that it names, or else its own. */
static inline uint64_t event_subject(const gotrace_event *e) {
  return names_go(e->kind) || e->g == GOTRACE_NO_ID ? e->args[0] : (uint64_t)e->g;
}

#endif
