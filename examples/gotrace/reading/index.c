/* index.c - makes an index of a trace, and begins at it: see index.h */

#include "index.h"

#include "../command/commands.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "gotrace index 1\n"
#define END_SIZE ((size_t)65536) /* of the trace's head and tail */

static char *index_path(const char *trace, const char *given) {
  size_t size = strlen(trace) + sizeof ".gtx";
  char *path = resize(NULL, given ? strlen(given) + 1 : size);
  if (given) strcpy(path, given);
  else snprintf(path, size, "%s.gtx", trace);
  return path;
}

/* The same in every run, unlike hash_of(). */
static uint64_t stable_hash(uint64_t hash, const uint8_t *data, size_t size) {
  for (; size; size--) hash = (hash ^ *data++) * 1099511628211u;
  return hash;
}
#define HASH_BEGIN 14695981039346656037u

/* Of the trace's head and tail. */
static uint64_t hash_of_ends(const uint8_t *data, size_t size) {
  size_t part = size < END_SIZE ? size : END_SIZE;
  return stable_hash(stable_hash(HASH_BEGIN, data, part), data + size - part, part);
}

/* Reads a regular file of at most `most` bytes; false: it is not there, or another. */
static bool load(bytes *to, const char *path, uint64_t most) {
  struct stat status;
  FILE *file;
  size_t n = 0;
  bool whole;
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || (uint64_t)status.st_size > most) return false;
  if (!(file = fopen(path, "rb"))) return false;
  do {
    to->size += n;
    n = fread(bytes_room(to, END_SIZE), 1, END_SIZE, file);
  } while (n && to->size <= most);
  whole = !ferror(file) && !n;
  fclose(file);
  return whole;
}

/* The most bytes of a trace's index: see add_snapshot(). */
static uint64_t most_of(size_t trace_size) { return trace_size / 8 + END_SIZE; }

static bool is_index(const bytes *file) {
  return file->size >= sizeof MAGIC - 1 && memcmp(file->data, MAGIC, sizeof MAGIC - 1) == 0;
}

/* ----------------------------------------------------------------------------------------------------- writing ---- */

typedef struct indexing {
  bytes rows;
  uint64_t count, last_offset; /* of the last snapshot */
} indexing;

/* Adds a snapshot, unless the last one is so near that the index would be large. */
static void add_snapshot(indexing *x, gotrace_decoder *d, int64_t time, uint64_t offset) {
  size_t size = gotrace_decoder_snapshot(d, NULL, 0);
  if (!size || offset - x->last_offset < 16 * size) return;
  put_number(&x->rows, (uint64_t)time);
  put_number(&x->rows, size);
  gotrace_decoder_snapshot(d, bytes_room(&x->rows, size), size);
  x->rows.size += size;
  x->count++;
  x->last_offset = offset;
}

/* Whether there is nothing at the path but an index. */
static bool may_replace(const char *path, size_t trace_size) {
  bytes old = {0};
  bool may = load(&old, path, most_of(trace_size)) ? is_index(&old) : access(path, F_OK) != 0;
  free(old.data);
  return may;
}

/* Reads the whole trace. */
static gotrace_result make_rows(indexing *x, input *in) {
  gotrace_result result = input_decode(in, false);
  gotrace_event e;
  int64_t first = 0;
  bool any = false;
  while (result == GOTRACE_OK && (result = input_next(in, &e)) == GOTRACE_OK) {
    if (!any) first = input_first_time(in, &e);
    any = true;
    /* After the trace's last Sync nothing would follow. */
    if (e.kind != GOTRACE_V2_SYNC && gotrace_decoder_between(in->decoder))
      add_snapshot(x, in->decoder, between(first, e.time), e.offset);
  }
  return result;
}

int command_index(const char *path, const settings *set) {
  static output out;
  indexing x = {0};
  char *target = index_path(path, set->index);
  input in;
  const uint8_t *data;
  size_t size;
  uint64_t hash;
  int status = 1;
  if (!input_open(&in, path, false)) return 1;
  data = input_bytes(&in, &size);
  if (!data) {
    report("only a file can have an index");
  } else if (!may_replace(target, size)) {
    report("%s is there, and is no index", target);
  } else if (make_rows(&x, &in) != GOTRACE_END_OF_TRACE) {
    report("%s", input_error(&in));
  } else {
    erase_progress();
    output_open(&out, target);
    put_string(&out, MAGIC);
    put_number(&out.block, size);
    put_number(&out.block, hash_of_ends(data, size));
    put_number(&out.block, x.count);
    put_data(&out.block, x.rows.data, x.rows.size);
    hash = stable_hash(HASH_BEGIN, out.block.data, out.block.size);
    put_number(&out.block, hash);
    output_close(&out);
    if (!x.count) report("%s is of no use: the trace is too small, or of one generation", target);
    status = 0;
  }
  free(target);
  free(x.rows.data);
  input_close(&in);
  return status;
}

/* ----------------------------------------------------------------------------------------------------- reading ---- */

static bool take(const uint8_t **at, const uint8_t *end, uint64_t *number) {
  unsigned shift = 0;
  for (*number = 0; *at < end && shift < 64; shift += 7) {
    if (shift == 63 && **at > 1) return false; /* more than 64 bits */
    *number |= (uint64_t)(**at & 0x7f) << shift;
    if (!(*(*at)++ & 0x80)) return true;
  }
  return false;
}

/* Where the rows begin; NULL: it is not an index of this trace. */
static const uint8_t *check_index(const bytes *index, const uint8_t *trace, size_t trace_size, uint64_t *count) {
  const uint8_t *at = index->data, *end = at + index->size;
  uint64_t size, hash;
  if (!is_index(index)) return NULL;
  at += sizeof MAGIC - 1;
  if (!take(&at, end, &size) || !take(&at, end, &hash) || !take(&at, end, count)) return NULL;
  return size == trace_size && hash == hash_of_ends(trace, trace_size) ? at : NULL;
}

/* Finds the last snapshot before `from`. False: the index is damaged. */
static bool find_row(const uint8_t *at, const bytes *index, uint64_t count, int64_t from, const uint8_t **snapshot,
                     size_t *snapshot_size) {
  const uint8_t *end = index->data + index->size;
  uint64_t time, size;
  *snapshot = NULL;
  for (; count; count--, at += size) {
    if (!take(&at, end, &time) || !take(&at, end, &size) || size > (size_t)(end - at)) return false;
    if (time < (uint64_t)from) *snapshot = at, *snapshot_size = (size_t)size;
  }
  time = stable_hash(HASH_BEGIN, index->data, (size_t)(at - index->data));
  return take(&at, end, &size) && at == end && size == time;
}

bool index_begin(input *in, const char *path, int64_t from) {
  char *name = index_path(in->path, path);
  bytes index = {0};
  size_t trace_size = 0, size = 0;
  const uint8_t *trace = input_bytes(in, &trace_size), *rows, *snapshot = NULL;
  uint64_t count = 0;
  bool begun = false;
  if (from > 0 && trace && load(&index, name, most_of(trace_size))) {
    rows = check_index(&index, trace, trace_size, &count);
    if (!rows || !find_row(rows, &index, count, from, &snapshot, &size)) {
      report("%s is not an index of this trace, which is read whole; make it anew with gotrace index", name);
    } else if (snapshot) {
      begun = gotrace_decoder_resume(in->decoder, snapshot, size) == GOTRACE_OK;
      if (!begun) {
        report("%s does not fit this gotrace, and the trace is read whole; make it anew with gotrace index", name);
        input_decode(in, false);
      }
    }
  } else if (path && from > 0) {
    fail(trace ? "%s: cannot be read, or is no index of this trace" : "%s: only a file can have an index", path);
  }
  free(index.data);
  free(name);
  return begun;
}
