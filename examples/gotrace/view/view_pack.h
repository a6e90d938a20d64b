/* view_pack.h - chunks of slices for a page with a limit, compressed as they arrive: see view_pack.c */

#ifndef VIEW_PACK_H
#define VIEW_PACK_H

#include "view_levels.h"

void pack_chunk(levels *l, const chunk *c, bytes *raw); /* for levels.take */
void pack_finish(void);                                 /* after levels_finish() of all `levels` */
void levels_fit(levels *l); /* drops the finest level of whoever exceeds its part most, until all fit */
void levels_drop(levels *l, unsigned coarsest); /* drops merged slices of coarser levels, which no zoom needs */

/* Appends `from` in zlib's format. */
void compress_bytes(bytes *to, const void *from, size_t size);

#endif
