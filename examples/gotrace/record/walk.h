/* walk.h - walks copies of another process's stacks: see walk.c */

#ifndef WALK_H
#define WALK_H

#include "../base/tool.h"
#include "preload/unwind.h"

/* What a walk reads of a module: its segments, and that with its descriptions. */
typedef struct code_image code_image;

/* From its file. NULL: there is none, it has no descriptions, or more than `*room` bytes, which it takes from. */
code_image *code_image_read(int file, size_t *room);
/* Of the vDSO, which all processes have the same of. */
code_image *code_image_of_vdso(void);
void code_image_free(code_image *i);
/* Where the function begins that contains an address, or the one before it, both relative to the module's base. 0: not
 * known. */
uintptr_t code_image_start(const code_image *i, uintptr_t address);

typedef struct walker walker;

/* `find` returns the image of the module that contains the byte before an address, and its base; NULL: none. */
walker *walker_new(const code_image *(*find)(void *context, uintptr_t pc, uintptr_t *base), void *context);
void walker_free(walker *w);

/* Forgets what it knows about addresses, since other modules may be there now. */
void walker_forget(walker *w);

/* Stores the addresses of a stack, innermost first: of the frame, and as many of its callers as can be found in the
 * copy, which begins at the frame's stack pointer. Returns their number. */
size_t walker_walk(walker *w, unwind_frame frame, const void *copy, size_t size, uint64_t *to, size_t most);

#endif
