/* keep.h - gotrace cut --go, --function, ...: only some goroutines of a trace
 *
 * A part of a goroutine's events is no valid trace, so goroutines are kept whole: a first reading finds those of which
 * the filter selects something, a second one gives a writer what concerns these, and all procs. */

#ifndef KEEP_H
#define KEEP_H

#include "../reading/filter.h"
#include "../reading/source.h"

/* A consumer between a source and another consumer, for which it keeps a world with the kept goroutines only. */
typedef struct keeper {
  consumer c;
  consumer *to;
  world w;
  map kept;       /* ids of goroutines */
  bool procs_due; /* GOMAXPROCS has changed and is to be written */
} keeper;

/* Reads the trace and finds the goroutines to keep. Fails if the trace is broken, unless --partial was given. */
void keeper_choose(keeper *k, input *in, const settings *set);

/* Prepares `k->c` to be given to source_run() in place of `to`. */
void keeper_begin(keeper *k, consumer *to);
void keeper_free(keeper *k);

#endif
