/* tool.h - what all files of the tool share
 *
 *     base.c       messages, failure, memory
 *     library.c    gotrace.h; numbers, hashes and maps from its private part
 *     output.c     bytes and numbers; files that replace others only when complete
 *     text.c       text from a trace, made safe for an output
 *
 * and the settings of commands. Include it first: it selects what the system's headers declare. */

#ifndef TOOL_H
#define TOOL_H

#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64 /* for 32-bit processors */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "gotrace.h"

/* In a browser, as WebAssembly, the tool has one thread, no other processes, no signals and no mapped memory. It writes
 * to standard output only, which the page's worker collects (view/page/worker.js). */
#ifdef __wasi__
#define IN_BROWSER 1
#else
#define IN_BROWSER 0
#endif

typedef unsigned long long ull;

/* Of functions that only prefetch: gcc takes them for functions without effect, and removes calls of them. */
#define PREFETCHES inline __attribute__((always_inline))
#define RARE __attribute__((noinline, cold)) /* keeps rare code out of a caller that runs for every event */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ------------------------------------------------------------------------------------------------------ base.c ---- */

extern struct program {
  const char *file;               /* named by messages; NULL: none */
  char *volatile unfinished;      /* path of an incomplete output; NULL: none */
  void (*volatile discard)(void); /* removes another; safe in signal handlers; NULL: none */
  bool progress_shown;            /* the terminal shows a progress line */
} program;

/* A command either succeeds or leaves nothing behind: fail() removes the unfinished output, and so does a signal after
 * remove_on_signals(). */
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...);
void remove_on_signals(void);

/* Prints a message, preceded by the file's name. Neither can send control sequences to the terminal. */
__attribute__((format(printf, 1, 2))) void report(const char *format, ...);
__attribute__((format(printf, 1, 0))) void report_list(const char *format, va_list arguments);
void erase_progress(void);

/* Reports wrong use of a command and where to find help, and exits with status 2. */
__attribute__((noreturn, format(printf, 1, 2))) void usage(const char *format, ...);

/* realloc and calloc that never return NULL. */
void *resize(void *memory, size_t size);
void *zeroed(size_t size);

/* Makes room for one more element in an array whose capacity doubles. */
#define GROW(array, count, capacity)                                   \
  do {                                                                 \
    if ((count) == (capacity)) {                                       \
      (capacity) = (capacity) ? 2 * (capacity) : 16;                   \
      (array) = resize((array), (size_t)(capacity) * sizeof *(array)); \
    }                                                                  \
  } while (0)

unsigned processor_count(void);

/* Zeroed memory that lives until the program ends. */
void *keep(size_t size);

/* Nanoseconds from one time to a later one, 0 if it is not later. Never overflows: a hostile trace may use any times.
 */
static inline int64_t between(int64_t from, int64_t to) {
  uint64_t passed = (uint64_t)to - (uint64_t)from;
  return to <= from ? 0 : passed > INT64_MAX ? INT64_MAX : (int64_t)passed;
}

/* --------------------------------------------------------------------------------------------------- library.c ---- */

/* Seeds the hashes differently in each run. Call it once, before anything is hashed. */
void seed_hashes(void);
extern uint64_t hash_seed;
uint64_t hash_of(const void *data, size_t size);

/* Appends a number in base 128 and returns the new end, at most GOTRACE_BYTES_PER_NUMBER bytes later. */
uint8_t *encode_number(uint8_t *at, uint64_t value);

/* How many bytes of a text fit into `most`, or into a trace (GOTRACE_MAX_STRING_SIZE), without splitting a UTF-8
 * sequence. */
size_t prefix_size(const char *text, size_t size, size_t most);
size_t cut_size(const char *text, size_t size);

#define ELF_ID_TEXT 129 /* most bytes of a build id as text */

/* The build id of an ELF file in base 16 ("-" if it has none), and the lowest and highest address of its segments (the
 * latter exclusive). False: not an ELF file of this processor's word size. */
bool elf_describe(const char *path, char id[ELF_ID_TEXT], uint64_t *low, uint64_t *high);

/* Appends the contents of an ELF file's section, unless `contents` is NULL; false: no section of that name. */
struct bytes;
bool elf_section(const char *path, const char *name, struct bytes *contents);

/* The functions of an ELF image in memory, or of a file, which may be damaged; NULL: not an ELF file. elf_function: the
 * name of the function that contains an address; NULL: none. */
typedef struct elf_symbols elf_symbols;
elf_symbols *elf_symbols_of(const struct bytes *image);
elf_symbols *elf_symbols_in(const char *path);
const char *elf_function(const elf_symbols *symbols, uint64_t address);
bool elf_is_start(const elf_symbols *symbols, uint64_t address); /* a function's first byte */
void elf_symbols_free(elf_symbols *symbols);

int format_text(char *text, int room, const char *format, va_list arguments); /* vsnprintf */

/* ------------------------------------------------------------------------------------------------------- map.c ---- */

/* A map from 64-bit keys to pointers. All zero: empty. */
typedef struct map {
  struct map_place *places;
  size_t mask;   /* number of places - 1 */
  void **values; /* in the order of their keys' first map_put() */
  size_t count, capacity;
  uint64_t fresh; /* where fresh_id() continues */
} map;

void *map_get(const map *m, uint64_t key); /* NULL: not found */
void map_put(map *m, uint64_t key, void *value);

/* The index of a key among all keys, which are numbered from 0 as they come. A new key is added; if there is an array
 * with an element for each, the index is then the array's count. */
size_t map_index(map *m, uint64_t key);

/* The record of a key. A new one is zeroed memory of keep(); sets *made to whether it is new, unless NULL. */
void *map_keep(map *m, uint64_t key, size_t size, bool *made);
void map_expect(map *m, size_t count); /* makes room in an empty map */
void map_free(map *m);

/* A zeroed array without an end, whose elements never move: what one user keeps about each goroutine, proc or other
 * numbered record, or about some texts. All zero: empty. Its memory is that of keep(), for blocks that are used. */
#define SIDE_BLOCK 256
typedef struct side_array {
  char **blocks; /* of SIDE_BLOCK elements each; NULL: not yet used */
  size_t room;   /* number of `blocks` */
} side_array;

void side_grow(side_array *all, uint32_t number, size_t size); /* the slow path of SIDE() */

static inline void *side_at(side_array *all, uint32_t number, size_t size) {
  size_t block = number / SIDE_BLOCK;
  if (block >= all->room || !all->blocks[block]) side_grow(all, number, size);
  return all->blocks[block] + number % SIDE_BLOCK * size;
}

/* Points to the element with a number. */
#define SIDE(type, all, number) ((type *)side_at((all), (number), sizeof(type)))

/* ---------------------------------------------------------------------------------------------------- output.c ---- */

typedef struct bytes { /* a growable byte array */
  uint8_t *data;
  size_t size, capacity;
} bytes;

uint8_t *bytes_room(bytes *b, size_t size); /* the end, with room for `size` bytes more */
void put_data(bytes *b, const void *data, size_t size);
void put_byte(bytes *b, unsigned value);
void put_number(bytes *b, uint64_t value); /* base 128 */

/* Takes such a number from what begins at `*at`; false: it does not end before `end`, or has more than 64 bits. */
bool take_number(const uint8_t **at, const uint8_t *end, uint64_t *number);

/* Where a command writes. Output collects in `block`; call output_check() now and then to write it. */
typedef struct output {
  bytes block;
  FILE *file;
  FILE *into;       /* receives the contents of `file` at the end; NULL: `file` is renamed to `target` */
  const char *path; /* NULL: standard output */
  char *target;     /* `path` with links resolved */
  mode_t mode;      /* permissions of the file */
} output;

/* Standard output, written as it comes. */
void output_direct(output *out);

/* Opens a result that appears only in output_close(): a file gets its name there; a device, pipe or standard output
 * (NULL or "-") gets the contents there. */
void output_open(output *out, const char *path);

/* Writes to an open file, and reads it in output_verify(); `name` is for messages. */
void output_of_file(output *out, const char *name, int fd);
void output_check(output *out); /* writes the block if it is large */
void output_flush(output *out);
void output_close(output *out);

/* Where unnamed temporary files are: TMPDIR, or /tmp. */
const char *temporary_directory(void);

/* A part of a result that is known before what goes before it. It is zeroed at first; output_check() keeps it small by
 * moving it to an unnamed temporary file. output_append() moves it to the end of the result, output_drop() discards it;
 * both leave it zeroed. */
void output_append(output *to, output *part);
void output_drop(output *part);

/* Fails if the written trace would not open. */
void output_verify(output *out);

/* Less than 512 bytes. Signed numbers that may be INT64_MIN go to put_signed(), since stb_sprintf negates them. */
__attribute__((format(printf, 2, 3))) void print(output *out, const char *format, ...);
void put_string(output *out, const char *string);
void put_decimal(output *out, uint64_t value);
void put_signed(output *out, int64_t value);

/* The shortest decimal number that reads as the same finite value. */
#define REAL_TEXT 32
const char *real_text(double value, char text[REAL_TEXT]);

/* ------------------------------------------------------------------------------------------------------ text.c ---- */

/* How text from a trace, a file name or a message is made safe. Every byte that is not part of valid UTF-8 becomes
 * U+FFFD. */
typedef enum text_form {
  TEXT_UTF8,    /* no other change, for Protocol Buffers */
  TEXT_VISIBLE, /* '?' for each character that could move the terminal's cursor, forge a line or reorder it */
  TEXT_JSON,    /* escapes these, quotation marks and backslashes */
  TEXT_CSV      /* as TEXT_VISIBLE, and doubles quotation marks */
} text_form;

void put_safe(bytes *to, text_form form, const char *text, size_t size);
void put_visible(output *out, const char *text, size_t size);
/* As TEXT_CSV, with quotation marks, and an apostrophe before what a spreadsheet would evaluate. */
void put_csv_text(bytes *to, const char *text, size_t size);
void put_quoted(output *out, const char *text, size_t size); /* as JSON, with quotation marks */

#define NAME_ROOM 160 /* of a name in a line of text that is not for a terminal */
/* Shortens a name to `room` bytes, at least 4, for a line of text, and copies it. First the parameters of a C++
 * function become "(...)", then its template arguments "<...>"; then its middle is left out, because names differ least
 * there. Returns the size. */
size_t shorten(const char *name, size_t size, size_t room, char *to);

/* A duration with a suitable unit, in at most 10 columns. */
const char *duration_text(double nanoseconds, char text[32]);

/* As TEXT_VISIBLE, without allocating memory. */
void print_visible(FILE *to, const char *text, size_t size);

/* ---------------------------------------------------------------------------------------------------- settings ---- */

enum { BY_GO, BY_FUNCTION, BY_TASK, BY_PROC, BY_THREAD, BY_KIND, BY_REASON, FILTERS };

typedef struct settings {
  const char *output;      /* NULL: standard output */
  int64_t from, until;     /* nanoseconds since the first event; negative: see moment_parse in filter.h */
  const char *by[FILTERS]; /* the options of filter.h; NULL: not given */
  int format;              /* 0: the input's */
  uint32_t jobs;           /* threads that decode; 0: one per processor */
  bool wire, json, partial, lenient, chrome, perfetto, folded, open, csv, histogram, details, brief, data, pictures,
      serve, no_open, gzip;
  const char *tables;                  /* a directory to make */
  const char *index;                   /* the index of the trace; NULL: FILE.gtx */
  bool may_be_partial, may_be_lenient; /* the command has these options */
  const char *profile;                 /* a kind, such as "cpu" */
  const char *task, *go;               /* whose path: ids or names */
  bool no_return;
  const char *lengths;      /* FROM-TO: see view_lengths.c; NULL: not given */
  bool batches;             /* see view_batches.c */
  const char *base;         /* see input.base; NULL: not given */
  const char *const *words; /* the options of gotrace view that say what is read, without --from, --to */
  size_t word_count;
  uint64_t size; /* of a page with the trace in it, bytes; 0: PAGE_SIZE */
  /* record */
  uint64_t limit;       /* bytes; 0: none */
  uint32_t stacks;      /* RECORD_STACKS_... of board.h */
  uint32_t flight, cut; /* milliseconds; 0: not given */
  uint32_t sample;      /* CPU samples a second; 0: the usual number */
  bool children, no_sample, no_switches, only_waits, quiet, no_symbolize, paused;
} settings;

#define MOST_FRAMES 1000 /* of a stack, in any trace */

#endif
