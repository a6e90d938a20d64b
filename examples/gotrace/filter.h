/* filter.h - which events and stretches a command is about: --from, --to, --go, --function, --task, --proc, ...
 *
 * The options mean the same for every command; several ids or kinds are separated by commas. An event or stretch is
 * selected if all given options select it:
 *
 *     --go IDS            it happened on this goroutine, or creates, unblocks or starts it, or tells its status
 *     --function NAME     the same for the goroutines that began with a function whose name contains NAME
 *     --task ID|NAME      the same for goroutines whose innermost region belongs to the task, and what is said about
 * the task itself. As for Go, a goroutine that is created within a region inherits its task
 *     --proc IDS          it happened on this proc, or concerns it
 *     --thread IDS        it happened on this thread
 *     --kind NAMES        its kind is called so, in any case of letters. A stretch has the kind of the event that ends
 * it
 *     --reason TEXT       it begins a wait (or a stop) for this reason. A stretch: it is such a wait
 *
 * A command has the program's settings make a filter, then passes everything through it in the trace's order, because a
 * filter keeps what it needs to know about goroutines and tasks: either the decoder's events, or operations and
 * stretches. A consumer with a filter (source.h) gets only what is selected. */

#ifndef FILTER_H
#define FILTER_H

#include "world.h"

typedef struct filter {
  bool on; /* anything but the range is selected */
  const settings *set;
  uint64_t *ids[3]; /* of --go, --proc, --thread */
  size_t id_counts[3];
  bool kinds[2][256]; /* by family - 1 */
  bool any_task;      /* the task is given by its id or a name */
  uint64_t task;      /* NOBODY: by its name */
  map tasks;          /* ids of tasks with the name */
  map members;        /* by goroutine: see filter.c */
  uint8_t *functions; /* by text: 0 not looked at, 1 selected, 2 not */
  uint32_t functions_capacity;
} filter;

/* Makes a filter of what the settings select. A wrong value of an option ends the program. */
void filter_open(filter *f, const settings *set);
void filter_close(filter *f);

/* What an event of v2 concerns, by its first argument's name: the goroutine g, the proc p, the task t, a reason r; 0:
 * nothing. */
char event_concerns(unsigned kind);

/* Whether something is selected. To be called for each event, or for each operation before it is applied. */
bool filter_event(filter *f, const gotrace_decoder *d, const gotrace_event *e);
bool filter_op(filter *f, world *w, const op *o);

/* Whether a stretch is selected; `g` is its goroutine as long as it lasts. To be called between the operations. */
bool filter_stretch(filter *f, const stretch *part);

/* Whether a goroutine and a task are selected, as far as --go, --function and --task say. */
bool filter_goroutine(filter *f, const goroutine *g);
bool filter_task(const filter *f, uint64_t id);

/* The parts of a trace ------------------------------------------------------------------------------------------------
 *
 * --from and --to count from the first event (1.5s, 20ms, 300us, nanoseconds), or are times of the wall clock, which
 * traces have from Go 1.25 on, in local time or with a Z in UTC: 2026-11-22T21:40:05.123, 21:40:05.123. The latter is
 * the first such time after the trace begins; if it was less than an hour before that, the begin. */

/* A time in nanoseconds since the first event; negative: one of the wall clock, which only moment_resolve()
 * understands; MOMENT_INVALID: the text is no time. */
#define MOMENT_INVALID INT64_MIN
int64_t moment_parse(const char *text);

/* Turns such a time into nanoseconds since the trace's first event. May read the beginning of the trace, so decode it
 * (again) afterwards. Fails with a message if the trace has no wall clock. source_run() does this by itself. */
int64_t moment_resolve(int64_t moment, input *in);

#endif
