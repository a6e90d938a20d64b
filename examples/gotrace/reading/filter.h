/* filter.h - which events and stretches a command considers: --from, --to, --go, --function, --task, --proc, ...
 *
 * The options mean the same for every command. Commas separate several ids or kinds. A number is the name of a task if
 * no task has that id, also before the part. An id or name that the part does not have is an error. An event or stretch
 * is selected if all given options select it:
 *
 *     --go IDS            it happened on this goroutine, or creates, unblocks or starts it, or tells its status
 *     --function NAME     the same for goroutines that began with a function whose name contains NAME. A thread to
 * which a recorded program gave a name has that instead of the function's
 *     --function =NAME    the same for the function with exactly this name
 *     --task ID|NAME      the same for goroutines whose innermost region belongs to the task; also events about the
 *                         task itself. As in Go, a goroutine created within a region inherits its task. Stretches are
 *                         cut where regions begin and end
 *     --proc IDS          it happened on this proc, or concerns it
 *     --thread IDS        it happened on this thread
 *     --kind NAMES        its kind has this name (case is ignored). A stretch has the kind of the event that ends it
 *     --reason TEXT       it begins a wait (or a stop) for this reason. A stretch: it is such a wait
 *
 * A part depends on what came before only by what is open where it begins. A task or region is selected then if these
 * options select the event that began it, and a counter has a value then if they select the event that gave it the
 * last one. So reading may begin at an index.
 *
 * A command makes a filter from its settings, then passes everything through it in the order of the trace: either the
 * decoder's events, or operations and stretches of the part. The order matters because a filter keeps track of
 * goroutines and tasks. A consumer with a filter (source.h) gets only what is selected. */

#ifndef FILTER_H
#define FILTER_H

#include "ahead.h"
#include "world.h"

typedef struct filter {
  bool on; /* a filter option was given, not only a range */
  const settings *set;
  uint64_t *ids[3]; /* of --go, --proc, --thread; see IDS_GO in filter.c */
  size_t id_counts[3];
  bool kinds[2 * OF_V1]; /* see kind_of_file() */
  bool any_task;         /* --task was given */
  uint64_t task;         /* NOBODY: it is given by name */
  map tasks;             /* ids of tasks with that name */
  bool *met[3];          /* of `ids`: it was seen */
  bool task_met, function_met, reason_met;
  const ahead *ahead;   /* NULL: the trace was not read ahead */
  map members;          /* by goroutine: struct member in filter.c */
  side_array functions; /* uint8_t by text: 0 unknown, 1 selected, 2 not selected */
} filter;

/* Makes a filter from the settings. An invalid value ends the program. */
void filter_open(filter *f, const settings *set);
void filter_close(filter *f);

/* Whether it needs to know what is ahead: names of goroutines, or whether a task's number is an id. If so, the trace is
 * read ahead (ahead.h) between filter_ask() and filter_tell(). source.c does this for its consumer. */
bool filter_looks_ahead(const filter *f);
bool filter_needs_names(const filter *f); /* of goroutines */
void filter_ask(const filter *f, ahead *a);
void filter_tell(filter *f, const ahead *a);

/* After the trace was read: an id or name that was given and is not in it, as a message; NULL: there is none. `w`: the
 * world that the trace built up; NULL: none, filter_event() has got all events. Valid until the next call. */
const char *filter_unknown(filter *f, const world *w);
void filter_require(filter *f, const world *w); /* fails if there is one */

/* What a filter has to know of what came before: where the part begins, it is told which regions are open, or which
 * tasks goroutines have inherited, outermost first, and of each task that has begun its name and whether it is open.
 * filter_world: tells it all that from a world with `history`; with another, only names are known. filter_settle: that
 * was all. */
void filter_region(filter *f, uint64_t g, uint64_t task);
void filter_named(filter *f, uint64_t task, uint32_t name, bool open);
void filter_settle(filter *f);
void filter_world(filter *f, world *w);

/* Whether what began before the part would be selected, by where it began: an event of a kind. filter_choose: sets
 * `chosen` of a world's open tasks and regions by that, and leaves the counters whose last values are selected. */
bool filter_origin(filter *f, world *w, unsigned kind, const origin *from);
void filter_choose(filter *f, world *w);

/* Whether something is selected. Call it for each event, or for each operation before it is applied. `c`: what the
 * event changes; NULL: nothing. */
bool filter_event(filter *f, const gotrace_decoder *d, const gotrace_event *e, const gotrace_change *c);
bool filter_op(filter *f, world *w, const op *o);

/* Whether a stretch is selected. Call it while the world still has the goroutine's old state, as consumer.stretch
 * does. */
bool filter_stretch(filter *f, const stretch *part);

/* Whether --go, --function and --task select a goroutine, or --task a task. */
bool filter_goroutine(filter *f, const goroutine *g);
bool filter_task(const filter *f, uint64_t id);

/* The parts of a trace ------------------------------------------------------------------------------------------------
 *
 * --from and --to count from the first event (1.5s, 20ms, 300us, or whole nanoseconds without a unit), or are times of
 * the wall clock, which traces have from Go 1.25 on, in local time or with a Z in UTC: 2026-11-22T21:40:05.123,
 * 21:40:05.123. A time without a date is on the day the trace starts, or on the next day if that is more than an hour
 * before the start. A time of the wall clock up to a second before the start means the start; one that is further
 * outside of the trace is an error. So is a part that begins after the trace's last event: see source_nothing(). */

/* Parses a time: nanoseconds since the first event; negative: a time of the wall clock, which only moment_resolve()
 * understands; MOMENT_INVALID: not a time. */
#define MOMENT_INVALID INT64_MIN
int64_t moment_parse(const char *text);

/* Turns such a time into nanoseconds since the first event. May read the beginning of the trace; call input_decode()
 * afterwards to start again. Fails with a message if the trace has no wall clock, or if the time is outside of the
 * trace. source_run() does this itself. */
int64_t moment_resolve(int64_t moment, input *in);

/* Says that a part which begins at `from` is outside of a trace of this length, both in nanoseconds. Valid until the
 * next call. */
const char *outside_text(int64_t from, int64_t length);

/* A time of the wall clock, in nanoseconds since 1970, as moment_parse() reads it: in UTC or in local time. */
#define MOMENT_TEXT 40
const char *moment_text(uint64_t wall, bool utc, char text[MOMENT_TEXT]);

#endif
