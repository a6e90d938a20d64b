/* debug_files.h - files that contain only the debug information of another file
 *
 * Distributions keep debug information apart from programs. The file is looked for in the order of gdb:
 *
 *     /usr/lib/debug/.build-id/AB/CDEF.debug     by build id
 *     CACHE/ABCDEF/debuginfo                     what debuginfod has fetched: CACHE is $DEBUGINFOD_CACHE_PATH, or else
 *                                                debuginfod_client in $XDG_CACHE_HOME or ~/.cache
 *     NAME, .debug/NAME, /usr/lib/debug/DIR/NAME   the program's .gnu_debuglink, from its folder DIR
 *
 * A file by build id must have that build id; one by link must have the checksum that the link tells. Nothing is
 * fetched from a network. */

#ifndef DEBUG_FILES_H
#define DEBUG_FILES_H

#include "../command/commands.h"

#define DEBUG_FILE_PATH 4096

/* The debug file of the program with a build id ("-": none) and this path, `file`, which may be NULL if it is not
 * there. `choose` maps a path to the one to read, NULL if it must not be read; it may be NULL itself. False: there is
 * none. */
bool find_debug_file(const char *id, const char *file, choose_file *choose, char found[DEBUG_FILE_PATH]);

#endif
