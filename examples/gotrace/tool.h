/* tool.h - what all files of the tool share
 *
 * base.c     failing, memory, maps
 * output.c   bytes that are written; text and JSON
 * input.c    a trace, opened and decoded
 *
 * and the commands, which main.c calls. Included before any other header: it chooses what the system's headers declare. */

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

typedef unsigned long long ull;

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---------------------------------------------------------------------------------------------------------- base.c ---- */

extern struct program {
  const char *file;    /* of which the messages speak */
  char *volatile unfinished; /* path of the output while it is written; NULL: none */
  bool progress_shown; /* a line on the terminal is to be erased */
} program;

/* Makes room for one more in an array of a capacity that grows by doubling. */
#define GROW(array, count, capacity)                                             \
  do {                                                                           \
    if ((count) == (capacity)) {                                                 \
      (capacity) = (capacity) ? 2 * (capacity) : 16;                             \
      (array) = resize((array), (size_t)(capacity) * sizeof *(array));           \
    }                                                                            \
  } while (0)

void erase_progress(void);
__attribute__((format(printf, 1, 0))) void complain(const char *format, va_list arguments);
__attribute__((format(printf, 1, 2))) void report(const char *format, ...);
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...);
void mind_signals(void);
void *resize(void *memory, size_t size);
void *keep(size_t size);
int64_t between(int64_t from, int64_t to);

/* ------------------------------------------------------------------------------------------------------- library.c ---- */

/* Makes the hashes of this run differ from those of any other. Called once, first. */
void seed_hashes(void);
uint64_t hash_of(const void *data, size_t size);

/* Appends a number in base 128 and returns the end, at most GOTRACE_BYTES_PER_NUMBER bytes later. */
uint8_t *encode_number(uint8_t *at, uint64_t value);

/* How many bytes of a text a trace may contain: at most GOTRACE_MAX_STRING_SIZE, and no part of a UTF-8 sequence. */
size_t cut_size(const char *text, size_t size);

int format_text(char *text, int room, const char *format, va_list arguments); /* vsnprintf */

/* A map of 64-bit keys to pointers. All zero: empty. */
typedef struct map {
  struct map_places *places;
  void **values;
  size_t count, capacity;
  uint64_t fresh; /* ids below are taken, as fresh_id found */
} map;

void *map_get(const map *m, uint64_t key); /* NULL: not there */
void map_put(map *m, uint64_t key, void *value);
void map_free(map *m);

/* -------------------------------------------------------------------------------------------------------- output.c ---- */

typedef struct bytes { /* grows as it is written */
  uint8_t *data;
  size_t size, capacity;
} bytes;

/* Where a command writes: standard output as it goes, or a file that gets its name when all is in it. What is no file, but
 * a device or a pipe, is not replaced by one: it gets all at the end. */
typedef struct output {
  bytes block;
  FILE *file;
  FILE *into;       /* what gets the contents of `file` at the end; NULL: it gets the name */
  const char *path; /* NULL: standard output */
  char *target;     /* where a link leads, or `path` */
  mode_t mode;      /* rights of the file */
} output;

uint8_t *bytes_room(bytes *b, size_t size);
void put_data(bytes *b, const void *data, size_t size);
void put_byte(bytes *b, unsigned value);
void put_number(bytes *b, uint64_t value);
const char *output_name(const output *out);
void output_flush(output *out);
void output_check(output *out);
void output_direct(output *out);
void output_open(output *out, const char *path);
void output_close(output *out);
__attribute__((format(printf, 2, 3))) void print(output *out, const char *format, ...);
int visible(unsigned char byte);
void put_visible(output *out, const char *data, size_t size);
void put_quoted(output *out, const char *data, size_t size);
void put_decimal(output *out, uint64_t value);
void put_signed(output *out, int64_t value);
void put_string(output *out, const char *string);

/* --------------------------------------------------------------------------------------------------------- input.c ---- */

typedef struct input {
  const char *path;
  void *mapped; /* NULL: read */
  size_t size;
  int fd;
  bytes copy; /* of what cannot be mapped and is needed more than once */
  gotrace_decoder *decoder;
  double next_progress;
  uint64_t events;
} input;

double seconds_now(void);
bool input_open(input *in, const char *path, bool again);
gotrace_result input_decode(input *in, bool raw);
gotrace_result input_next(input *in, gotrace_event *event);
void input_close(input *in);
const char *input_error(const input *in);

/* -------------------------------------------------------------------------------------------------------- commands ---- */

typedef struct settings {
  const char *output;
  int64_t from, until;
  int format; /* 0: as the input's */
  bool wire, json, partial;
} settings;

extern const int written_formats[9];

#define MOST_FRAMES 1000

int command_rewrite(const char *path, const settings *set);
int command_info(const char *path, const settings *set);
int command_check(const char *path, const settings *set);
int command_dump(const char *path, const settings *set);
int command_export(const char *path, const settings *set);

#endif
