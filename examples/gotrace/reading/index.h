/* index.h - an index of a trace: snapshots of the decoder (gotrace_decoder_snapshot), from which reading can begin
 *
 *     index.c   makes it (gotrace index) and begins at it
 *
 * The file is a line of text, then numbers in base 128: the trace's size, a hash of its first and last 64 KiB, the
 * number of snapshots; of each the time of the last event before it, in nanoseconds since the first one, and its size
 * and bytes; then a hash of all this. */

#ifndef INDEX_H
#define INDEX_H

#include "input.h"

/* Makes a decoder that has begun at the last snapshot before a part, with all events from `from` nanoseconds on still
 * to come. Call it after input_decode() and before the first event. False: the decoder stands at the
 * beginning; there is no snapshot to begin at. An index that does not fit the trace is reported. `path`: of the index;
 * NULL: that of the trace and ".gtx".
 */
bool index_begin(input *in, const char *path, int64_t from);

#endif
