/* jit_names.c - names of code that a process has compiled while it ran: see jit_names.h */

#include "jit_names.h"

#include "../reading/pool.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_OVERLAPS 64 /* functions before an address that are looked at */
#define MOST_NAME 1024
#ifndef MOST_FUNCTIONS
#define MOST_FUNCTIONS (1 << 22) /* at different addresses, about */
#endif

/* -------------------------------------------------------------------------------------------------------- names ----
 */

/* "FILE:LINE:COLUMN", or "FILE" only. */
static void take_place(jit_function *f, const char *place, size_t size) {
  const char *end = place + size, *column = memrchr(place, ':', size), *line = NULL;
  if (column) line = memrchr(place, ':', (size_t)(column - place));
  if (line && line > place && line[1] >= '0' && line[1] <= '9') {
    f->line = (uint32_t)strtoul(line + 1, NULL, 10);
    end = line;
  }
  f->file = pool_put_text(place, (size_t)(end - place));
}

/* V8 writes "JS:*name FILE:LINE:COLUMN", with a sign for the compiler, which would tell a function from itself; CPython
 * "py::name:FILE". All other names stay as they are. `name` ends with a NUL. */
static void take_name(jit_function *f, const char *name, size_t size) {
  char function[MOST_NAME];
  const char *space = memrchr(name, ' ', size), *colon;
  size_t prefix = strncmp(name, "JS:", 3) == 0 ? 3 : 0, length;
  if (size > MOST_NAME - 1) size = MOST_NAME - 1;
  if (prefix && space && space < name + size) {
    take_place(f, space + 1, (size_t)(name + size - space - 1));
    size = (size_t)(space - name);
    length = size > prefix && strchr("~*^+", name[prefix]) ? 1 : 0;
    memcpy(function, name, prefix);
    memcpy(function + prefix, name + prefix + length, size - prefix - length);
    size -= length;
    if (size == prefix) size = (size_t)snprintf(function, sizeof function, "JS:(anonymous)");
    f->function = pool_put_text(function, size);
    return;
  }
  colon = strncmp(name, "py::", 4) == 0 ? strstr(name, ":/") : NULL;
  if (colon) {
    f->file = pool_put_text(colon + 1, (size_t)(name + size - colon - 1));
    size = (size_t)(colon - name);
  }
  f->function = pool_put_text(name, size);
}

/* Where all is full, functions that were replaced make room. If they are few, there will be no room again. */
static bool has_room(jit_names *names) {
  if (names->count < MOST_FUNCTIONS) return true;
  if (!names->full) jit_names_sort(names);
  names->full = names->count > MOST_FUNCTIONS / 2;
  return !names->full;
}

static void add(jit_names *names, uint64_t start, uint64_t length, const char *name, size_t size) {
  jit_function *f;
  char copy[MOST_NAME];
  if (!length || !size || start + length < start || !has_room(names)) return;
  if (size > sizeof copy - 1) size = sizeof copy - 1;
  memcpy(copy, name, size);
  copy[size] = 0;
  GROW(names->functions, names->count, names->capacity);
  f = &names->functions[names->count++];
  memset(f, 0, sizeof *f);
  f->start = start;
  f->size = length;
  take_name(f, copy, size);
}

/* -------------------------------------------------------------------------------------------------------- files ----
 */

/* A number in base 16. strtoull alone would also take spaces before it, and with them whole lines. */
static bool take_hexadecimal(const char *at, char **after, uint64_t *number) {
  if (!isxdigit((unsigned char)*at)) return false;
  *number = strtoull(at, after, 16);
  return true;
}

/* Lines in base 16; one that is something else is skipped, such as the unfinished last one. */
static void take_map(jit_names *names, const char *data, size_t size) {
  const char *at = data, *end = data + size, *line_end;
  for (; (line_end = memchr(at, '\n', (size_t)(end - at))) != NULL; at = line_end + 1) {
    char *after, *name; /* the newline ends each number at the latest */
    uint64_t start, length;
    if (!take_hexadecimal(at, &after, &start) || *after != ' ') continue;
    if (!take_hexadecimal(after + 1, &name, &length) || *name != ' ' || ++name >= line_end) continue;
    add(names, start, length, name, (size_t)(line_end - name));
  }
}

/* The records of jitdump, in the byte order of this processor. */
static void take_dump(jit_names *names, const char *data, size_t size) {
  enum { CODE_LOAD, HEADER = 40, RECORD = 16, LOAD = 40 };
  uint32_t magic, header, kind_size[2];
  uint64_t load[LOAD / 8];
  size_t at;
  if (size < HEADER) return;
  memcpy(&magic, data, 4);
  memcpy(&header, data + 8, 4);
  if (magic != 0x4a695444 || header < HEADER) return;
  for (at = header; at <= size && size - at >= RECORD; at += kind_size[1]) {
    const char *name = data + at + RECORD + LOAD;
    memcpy(kind_size, data + at, sizeof kind_size);
    if (kind_size[1] < RECORD || kind_size[1] > size - at) return;
    if (kind_size[0] != CODE_LOAD || kind_size[1] <= RECORD + LOAD) continue;
    memcpy(load, data + at + RECORD, sizeof load); /* ids, address, address, size, index */
    add(names, load[2], load[3], name, strnlen(name, kind_size[1] - RECORD - LOAD));
  }
}

static void take_file(jit_names *names, const char *path, time_t since, choose_file *choose,
                      void (*take)(jit_names *names, const char *data, size_t size)) {
  struct stat status;
  const char *chosen = choose ? choose(path) : path;
  int file = chosen ? open(chosen, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
  if (file < 0) return;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_mtime >= since &&
      status.st_size > 0 && status.st_size < (off_t)1 << 30) {
    void *data = malloc((size_t)status.st_size + 1); /* its writer may still cut a mapped file */
    ssize_t got = data ? read(file, data, (size_t)status.st_size) : -1;
    if (got > 0) ((char *)data)[got] = '\n', take(names, data, (size_t)got);
    free(data);
  }
  close(file);
}

void jit_names_read(jit_names *names, int pid, time_t since, choose_file *choose) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", pid);
  take_file(names, path, since, choose, take_map);
  snprintf(path, sizeof path, "/tmp/jit-%d.dump", pid);
  take_file(names, path, since, choose, take_dump);
  take_file(names, path + 5, since, choose, take_dump);
}

/* ------------------------------------------------------------------------------------------------------ look-up ----
 */

/* By start. Equal ones keep their order: the functions are in one array. */
static int by_start(const void *a, const void *b) {
  const jit_function *x = a, *y = b;
  return x->start < y->start ? -1 : x->start > y->start;
}

/* A merge sort, since qsort may change the order of equal ones. */
static void sort_stably(jit_function *f, size_t count, jit_function *room) {
  size_t half = count / 2, i = 0, j = half, k = 0;
  if (count < 2) return;
  sort_stably(f, half, room);
  sort_stably(f + half, count - half, room);
  while (i < half && j < count) room[k++] = by_start(&f[j], &f[i]) < 0 ? f[j++] : f[i++];
  while (i < half) room[k++] = f[i++];
  memcpy(f, room, k * sizeof *f); /* what is left of the second half is in its place */
}

void jit_names_sort(jit_names *names) {
  jit_function *room = names->count ? malloc(names->count * sizeof *room) : NULL;
  size_t i, kept = 0;
  if (names->count && !room) fail("out of memory");
  sort_stably(names->functions, names->count, room);
  free(room);
  for (i = 0; i < names->count; i++) {
    if (kept && names->functions[kept - 1].start == names->functions[i].start) kept--;
    names->functions[kept++] = names->functions[i];
  }
  names->count = kept;
}

const jit_function *jit_names_at(const jit_names *names, uint64_t pc) {
  size_t low = 0, high = names->count, tries;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (names->functions[middle].start <= pc - 1) low = middle + 1;
    else high = middle;
  }
  for (tries = MOST_OVERLAPS; low && tries; tries--) {
    const jit_function *f = &names->functions[--low];
    if (pc - 1 - f->start < f->size) return f;
  }
  return NULL;
}

void jit_names_free(jit_names *names) {
  free(names->functions);
  memset(names, 0, sizeof *names);
}
