/* index.c - makes an index of a trace, and begins at it: see index.h */

#include "index.h"

#include "source.h"

#include "../command/commands.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "gotrace index 2\n"
/* How many times smaller the index is than the trace, at least; 0: any size, to test many moments of a small trace. */
#ifndef INDEX_SPACING
#define INDEX_SPACING 16
#endif

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
static uint64_t most_of(size_t trace_size) { return (INDEX_SPACING ? trace_size / 8 : SIZE_MAX / 2) + END_SIZE; }

static bool is_index(const bytes *file) {
  return file->size >= sizeof MAGIC - 1 && memcmp(file->data, MAGIC, sizeof MAGIC - 1) == 0;
}

/* ----------------------------------------------------------------------------------------------------- writing ---- */

typedef struct indexing {
  consumer c;
  source s;
  bool bare; /* the worlds are not stored: see has_worlds() */
  bytes world;
  bytes rows;
  uint64_t count, last_offset; /* of the last snapshot */
} indexing;

/* Adds a snapshot and the world there, unless the last one is so near that the index would be large. */
static void add_row(indexing *x, uint64_t offset) {
  gotrace_decoder *d = x->s.in->decoder;
  size_t size = gotrace_decoder_snapshot(d, NULL, 0);
  x->world.size = 0;
  if (!size || offset - x->last_offset < INDEX_SPACING * size) return;
  if (!x->bare && !world_save(&x->world, &x->s.w)) x->bare = true;
  if (offset - x->last_offset < INDEX_SPACING * (size + x->world.size)) return;
  put_number(&x->rows, (uint64_t)between(x->s.first, x->s.end));
  put_number(&x->rows, size);
  put_number(&x->rows, x->world.size);
  gotrace_decoder_snapshot(d, bytes_room(&x->rows, size), size);
  x->rows.size += size;
  put_data(&x->rows, x->world.data, x->world.size);
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

/* Of a task that ends again, the world before is not known until then. */
static void take(consumer *c, const op *o) {
  indexing *x = (indexing *)c;
  const user_task *t = o->kind == GOTRACE_V2_USER_TASK_END ? map_get(&c->w->tasks, o->id) : NULL;
  x->bare |= t && !t->open;
}

static void nothing(consumer *c, int64_t time) { (void)c, (void)time; }

/* Reads the whole trace. */
static gotrace_result make_rows(indexing *x, input *in) {
  source *s = &x->s;
  gotrace_event e;
  gotrace_result result;
  x->c = (consumer){.begin = nothing, .take = take, .end = nothing, .statuses = true, .history = true, .early = true};
  result = source_begin(s, in, &x->c, 0, INT64_MAX);
  x->bare |= x->c.recorded; /* the names of its threads are told anywhere */
  while (result == GOTRACE_OK && (result = input_next(in, &e)) == GOTRACE_OK) {
    source_take(s, &e);
    /* After the trace's last Sync nothing would follow. */
    if (e.kind != GOTRACE_V2_SYNC && gotrace_decoder_between(in->decoder)) add_row(x, e.offset);
  }
  return result;
}

int command_index(const char *path, const settings *set) {
  static output out;
  static indexing x;
  char *target = index_path(path, set->index);
  input in;
  const uint8_t *data;
  size_t size;
  uint64_t hash;
  int status = 1;
  if (!input_open(&in, path, true)) return 1;
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
    put_number(&out.block, x.bare);
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
  free(x.world.data);
  source_free(&x.s);
  input_close(&in);
  return status;
}

/* ----------------------------------------------------------------------------------------------------- reading ---- */

typedef struct rows {
  const uint8_t *at, *end;
  uint64_t count;
  bool bare; /* without worlds */
} rows;

/* Finds the rows. False: it is not an index of this trace. */
static bool check_index(rows *to, const bytes *index, const uint8_t *trace, size_t trace_size) {
  uint64_t size, hash, bare;
  if (!is_index(index)) return false;
  to->end = index->data + index->size;
  to->at = index->data + sizeof MAGIC - 1;
  if (!take_number(&to->at, to->end, &size) || !take_number(&to->at, to->end, &hash)) return false;
  if (!take_number(&to->at, to->end, &bare) || !take_number(&to->at, to->end, &to->count)) return false;
  to->bare = bare != 0;
  return size == trace_size && hash == hash_of_ends(trace, trace_size);
}

typedef struct row {
  const uint8_t *snapshot, *world; /* NULL: there is none */
  size_t snapshot_size, world_size;
} row;

/* Finds the last row before `from`. False: the index is damaged. */
static bool find_row(row *to, rows *of, const bytes *index, int64_t from) {
  uint64_t time, snapshot, saved, hash;
  memset(to, 0, sizeof *to);
  for (; of->count; of->count--) {
    if (!take_number(&of->at, of->end, &time) || !take_number(&of->at, of->end, &snapshot) ||
        !take_number(&of->at, of->end, &saved) || snapshot > (size_t)(of->end - of->at) ||
        saved > (size_t)(of->end - of->at) - snapshot)
      return false;
    if (time < (uint64_t)from) *to = (row){of->at, of->at + snapshot, (size_t)snapshot, (size_t)saved};
    of->at += snapshot + saved;
  }
  hash = stable_hash(HASH_BEGIN, index->data, (size_t)(of->at - index->data));
  return take_number(&of->at, of->end, &saved) && of->at == of->end && saved == hash;
}

void index_refuse(input *in, const char *path) {
  char *name = index_path(in->path, path);
  report("%s does not fit this gotrace, and the trace is read whole; make it anew with gotrace index", name);
  in->snapshot = NULL;
  free(name);
}

bool index_begin(input *in, const char *path, int64_t from, const uint8_t **saved, size_t *saved_size) {
  char *name = index_path(in->path, path);
  size_t trace_size = 0;
  const uint8_t *trace = input_bytes(in, &trace_size);
  rows all;
  row of;
  in->index.size = 0;
  if (from > 0 && trace && load(&in->index, name, most_of(trace_size))) {
    if (!check_index(&all, &in->index, trace, trace_size) || !find_row(&of, &all, &in->index, from)) {
      report("%s is not an index of this trace, which is read whole; make it anew with gotrace index", name);
    } else if (!saved || !all.bare) {
      in->snapshot = of.snapshot;
      in->snapshot_size = of.snapshot_size;
      if (saved) *saved = of.world, *saved_size = of.world_size;
      if (in->snapshot && input_decode(in, false) != GOTRACE_OK) {
        index_refuse(in, path);
        input_decode(in, false);
      }
    }
  } else if (path && from > 0) {
    fail(trace ? "%s: cannot be read, or is no index of this trace" : "%s: only a file can have an index", path);
  }
  free(name);
  return in->snapshot != NULL;
}
