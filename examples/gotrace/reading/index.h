/* index.h - an index of a trace: moments at which reading can begin
 *
 *     index.c   makes it (gotrace index) and begins at it
 *
 * The file is a line of text, then numbers in base 128: the trace's size; a hash of its first and last 64 KiB; 1 if the
 * index is without worlds, otherwise 0; the number of moments. Of each moment: the time of the last event before it, in
 * nanoseconds since the first one; the sizes of the decoder's snapshot (gotrace_decoder_snapshot) and of the world
 * (world_save), then both. Last comes a hash of all this. */

#ifndef INDEX_H
#define INDEX_H

#include "input.h"

/* Lets decoding begin at the last snapshot before a part, with all events from `from` nanoseconds on still to come:
 * input_decode() does so from now on. The decoder stands there; call it after input_decode(). False: there is no
 * snapshot to begin at, and the decoder stands at the beginning. An index that does not fit the trace is reported.
 * `path`: of the index; NULL: that of the trace and ".gtx". `saved`: what world_load() makes the world there from,
 * which is then needed, too; NULL: it is not. */
bool index_begin(input *in, const char *path, int64_t from, const uint8_t **saved, size_t *saved_size);

/* Reports an index whose contents do not fit; the next input_decode() begins at the beginning. */
void index_refuse(input *in, const char *path);

#endif
