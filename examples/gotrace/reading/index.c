/* index.c - makes an index of a trace, and begins at it: see index.h */

#include "index.h"

#include "source.h"

#include "../command/commands.h"
#include "../report/summary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "gotrace index 3\n"
#define ANY_MAGIC "gotrace index " /* of any version */
/* How many times smaller the index is than the trace, at least; 0: any size, to test many moments of a small trace. */
#ifndef INDEX_SPACING
#define INDEX_SPACING 16
#endif

/* Bytes before a part that take a second to read, about; and with INDEX_SPACING 0, any. */
#define LONG_BEFORE (INDEX_SPACING ? (uint64_t)64 << 20 : 1)

#define END_SIZE ((size_t)65536) /* of the trace's head and tail */

char *index_path(const char *trace, const char *given) {
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

/* The most bytes of a trace's index: see add_moment(). */
static uint64_t most_of(size_t trace_size) { return (INDEX_SPACING ? trace_size / 8 : SIZE_MAX / 2) + END_SIZE; }

/* ----------------------------------------------------------------------------------------------------- writing ---- */

typedef struct moment {
  uint64_t time, hash;
  size_t sizes[INDEX_CONTENTS];
} moment;

typedef struct indexing {
  consumer c;
  source s;
  summary sum;
  unsigned has;   /* bits of index_contents that all moments have */
  bytes contents; /* of all moments */
  moment *moments;
  size_t count, capacity;
  uint64_t last, next; /* offsets of the last moment, and where the next one may be */
} indexing;

/* Adds the contents of a moment, and returns their size. */
static size_t put_contents(indexing *x, moment *m) {
  gotrace_decoder *d = x->s.in->decoder;
  size_t size = gotrace_decoder_snapshot(d, NULL, 0), at = x->contents.size;
  *m = (moment){.time = (uint64_t)between(x->s.first, x->s.end)};
  gotrace_decoder_snapshot(d, bytes_room(&x->contents, size), size);
  x->contents.size += m->sizes[INDEX_SNAPSHOT] = size;
  size = x->contents.size;
  if (x->has & 1 << INDEX_WORLD && !world_save(&x->contents, &x->s.w)) x->has &= ~(1u << INDEX_WORLD);
  m->sizes[INDEX_WORLD] = x->contents.size - size;
  size = x->contents.size;
  if (x->has & 1 << INDEX_SUMMARY && !summary_save(&x->contents, &x->sum)) x->has &= ~(1u << INDEX_SUMMARY);
  m->sizes[INDEX_SUMMARY] = x->contents.size - size;
  m->hash = stable_hash(HASH_BEGIN, x->contents.data + at, x->contents.size - at);
  return x->contents.size - at;
}

/* Adds a moment, unless the last one is so near that the index would be large. */
static void add_moment(indexing *x, uint64_t offset) {
  size_t before = x->contents.size, size;
  if (offset < x->next || !gotrace_decoder_snapshot(x->s.in->decoder, NULL, 0)) return;
  GROW(x->moments, x->count, x->capacity);
  size = put_contents(x, &x->moments[x->count]);
  x->next = x->last + INDEX_SPACING * size;
  if (offset < x->next) {
    x->contents.size = before;
    return;
  }
  x->count++;
  x->last = offset;
  x->next = offset + INDEX_SPACING * size;
}

/* Whether there is nothing at the path but an index. */
static bool may_replace(const char *path) {
  char start[sizeof ANY_MAGIC - 1];
  struct stat status;
  FILE *file = fopen(path, "rb");
  bool may = file ? fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
                        fread(start, 1, sizeof start, file) == sizeof start &&
                        memcmp(start, ANY_MAGIC, sizeof start) == 0
                  : access(path, F_OK) != 0;
  if (file) fclose(file);
  return may;
}

/* Of a task that ends again, the world before is not known until then. */
static void take(consumer *c, const op *o) {
  indexing *x = (indexing *)c;
  const user_task *t = o->kind == GOTRACE_V2_USER_TASK_END ? map_get(&c->w->tasks, o->id) : NULL;
  if (t && !t->open) x->has = 1 << INDEX_SNAPSHOT;
}

static void nothing(consumer *c, int64_t time) { (void)c, (void)time; }

/* Reads the whole trace. */
static gotrace_result make_moments(indexing *x, input *in) {
  static const settings whole = {.from = INT64_MAX, .until = INT64_MAX}; /* a summary before its part */
  source *s = &x->s;
  gotrace_event e;
  gotrace_result result;
  x->has = 1 << INDEX_SNAPSHOT | 1 << INDEX_WORLD | 1 << INDEX_SUMMARY;
  x->c = (consumer){.begin = nothing, .take = take, .end = nothing, .statuses = true};
  x->c.history = x->c.modules = x->c.early = true;
  result = source_begin(s, in, &x->c, 0, INT64_MAX);
  x->sum.c.early = true;
  if (result == GOTRACE_OK) result = summary_begin(&x->sum, in, &whole);
  while (result == GOTRACE_OK && (result = input_next(in, &e)) == GOTRACE_OK) {
    source_take(s, &e);
    summary_pass(&x->sum, &e);
    /* After the trace's last Sync nothing would follow. */
    if (e.kind != GOTRACE_V2_SYNC && gotrace_decoder_between(in->decoder)) add_moment(x, e.offset);
  }
  return result;
}

/* Appends the head; `data`: the trace. */
static void put_head(bytes *to, const indexing *x, const uint8_t *data, size_t size) {
  bytes head = {0};
  size_t i, j;
  put_number(&head, size);
  put_number(&head, hash_of_ends(data, size));
  put_number(&head, x->has);
  put_number(&head, x->count);
  for (i = 0; i < x->count; i++) {
    put_number(&head, x->moments[i].time);
    for (j = 0; j < INDEX_CONTENTS; j++) put_number(&head, x->moments[i].sizes[j]);
    put_number(&head, x->moments[i].hash);
  }
  source_put_facts(&head, &x->s);
  put_number(to, head.size);
  put_number(to, stable_hash(HASH_BEGIN, head.data, head.size));
  put_data(to, head.data, head.size);
  free(head.data);
}

int command_index(const char *path, const settings *set) {
  static output out;
  static indexing x;
  char *target = index_path(path, set->index);
  input in;
  const uint8_t *data;
  size_t size;
  int status = 1;
  if (!input_open(&in, path, true)) return 1;
  data = input_bytes(&in, &size);
  if (!data) {
    report("only a file can have an index");
  } else if (!may_replace(target)) {
    report("%s is there, and is no index", target);
  } else if (make_moments(&x, &in) != GOTRACE_END_OF_TRACE) {
    report("%s", input_error(&in));
  } else {
    erase_progress();
    output_open(&out, target);
    put_string(&out, MAGIC);
    put_head(&out.block, &x, data, size);
    put_data(&out.block, x.contents.data, x.contents.size);
    output_close(&out);
    if (!x.count) report("%s is of no use: the trace is too small, or of one generation", target);
    status = 0;
  }
  free(target);
  free(x.contents.data);
  free(x.moments);
  source_free(&x.s);
  summary_free(&x.sum);
  input_close(&in);
  return status;
}

/* ----------------------------------------------------------------------------------------------------- reading ---- */

/* Appends a part of a file; false: it is not there. */
static bool load(bytes *to, int fd, uint64_t at, uint64_t size) {
  ssize_t got = 1;
  for (bytes_room(to, (size_t)size); size && got > 0; size -= (uint64_t)got, at += (uint64_t)got) {
    got = pread(fd, to->data + to->size, (size_t)size, (off_t)at);
    if (got < 0) return false;
    to->size += (size_t)got;
  }
  return !size;
}

/* Whether the head, or the contents of a moment, are as they were written. */
static bool is_sound(const uint8_t *data, size_t size, uint64_t hash) {
  return stable_hash(HASH_BEGIN, data, size) == hash;
}

/* Reads the head, which ends at `*end` of the file. False: it is none, or is damaged. */
static bool load_head(bytes *to, int fd, uint64_t file_size, uint64_t *end) {
  const size_t line = sizeof MAGIC - 1, most = line + 2 * GOTRACE_BYTES_PER_NUMBER;
  uint64_t size, hash;
  const uint8_t *at;
  to->size = 0;
  if (!load(to, fd, 0, file_size < most ? file_size : most)) return false;
  if (to->size < line || memcmp(to->data, MAGIC, line) != 0) return false;
  at = to->data + line;
  if (!take_number(&at, to->data + to->size, &size) || !take_number(&at, to->data + to->size, &hash)) return false;
  *end = (uint64_t)(at - to->data);
  to->size = 0;
  if (size > file_size - *end || !load(to, fd, *end, size)) return false;
  *end += size;
  return is_sound(to->data, to->size, hash);
}

typedef struct found { /* a moment; all zero: there is none before the part */
  moment m;
  uint64_t at;  /* offset of its contents in the file */
  unsigned has; /* bits of index_contents */
  size_t facts; /* in in->index, these begin here, */
  size_t head;  /* and the contents here */
} found;

/* Takes the moments from the head, and stops behind them. False: the contents that follow the head are not all there.
 */
static bool take_moments(found *to, const uint8_t **at, const uint8_t *end, uint64_t offset, uint64_t file_size,
                         int64_t from) {
  uint64_t count, has, size;
  unsigned i;
  if (!take_number(at, end, &has) || !take_number(at, end, &count)) return false;
  to->has = (unsigned)has;
  for (; count; count--) {
    moment m;
    uint64_t begin = offset;
    if (!take_number(at, end, &m.time)) return false;
    for (i = 0; i < INDEX_CONTENTS; i++) {
      if (!take_number(at, end, &size) || size > file_size - offset) return false;
      m.sizes[i] = (size_t)size;
      offset += size;
    }
    if (!take_number(at, end, &m.hash)) return false;
    if (m.time < (uint64_t)from) to->m = m, to->at = begin;
  }
  return offset == file_size;
}

/* Finds the last moment before `from`, and reads the head and its contents into in->index. False: the file is not an
 * index of this trace, or is damaged. */
static bool load_moment(found *to, input *in, int fd, uint64_t file_size, int64_t from) {
  size_t trace_size, whole = 0;
  const uint8_t *trace = input_bytes(in, &trace_size), *at, *end;
  uint64_t offset, size, hash;
  unsigned i;
  memset(to, 0, sizeof *to);
  if (file_size > most_of(trace_size) || !load_head(&in->index, fd, file_size, &offset)) return false;
  at = in->index.data;
  end = at + in->index.size;
  if (!take_number(&at, end, &size) || !take_number(&at, end, &hash)) return false;
  if (size != trace_size || hash != hash_of_ends(trace, trace_size)) return false;
  if (!take_moments(to, &at, end, offset, file_size, from)) return false;
  to->facts = (size_t)(at - in->index.data);
  to->head = in->index.size;
  for (i = 0; i < INDEX_CONTENTS; i++) whole += to->m.sizes[i];
  if (!whole) return true;
  return load(&in->index, fd, to->at, whole) && is_sound(in->index.data + to->head, whole, to->m.hash);
}

/* Reports why an index is not used, once. */
static void refuse(input *in, const char *name, const char *why) {
  if (!in->index_refused) report("%s %s, which is read whole; make it anew with gotrace index", name, why);
  in->index_refused = true;
  in->snapshot = NULL;
}

void index_refuse(input *in, const char *path) {
  char *name = index_path(in->path, path);
  refuse(in, name, "does not fit this gotrace and trace");
  free(name);
}

/* Opens a regular file; -1: it is not there, or another. */
static int open_index(const char *name, uint64_t *size) {
  struct stat status;
  int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    *size = (uint64_t)status.st_size;
    return fd;
  }
  close(fd);
  return -1;
}

/* Uses a moment; false: not all that is needed is there, or it does not fit. */
static bool begin_at(input *in, const found *at, const char *path, index_contents what, index_moment *to) {
  const uint8_t *head = in->index.data, *saved = head + at->head;
  unsigned i;
  if (!at->m.sizes[INDEX_SNAPSHOT] || !(at->has & 1u << what)) return false;
  in->snapshot = saved;
  in->snapshot_size = at->m.sizes[INDEX_SNAPSHOT];
  for (i = 0; i < what; i++) saved += at->m.sizes[i];
  if (to) *to = (index_moment){head + at->facts, saved, at->head - at->facts, at->m.sizes[what]};
  if (input_decode(in, false) == GOTRACE_OK) return true;
  index_refuse(in, path);
  input_decode(in, false);
  return false;
}

bool index_begin(input *in, const char *path, int64_t from, index_contents what, index_moment *to) {
  char *name = index_path(in->path, path);
  size_t trace_size = 0;
  const uint8_t *trace = input_bytes(in, &trace_size);
  uint64_t size = 0;
  bool begun = false;
  found at;
  int fd = from > 0 && trace && !in->index_refused ? open_index(name, &size) : -1;
  if (fd >= 0) {
    if (load_moment(&at, in, fd, size, from)) begun = begin_at(in, &at, path, what, to);
    else refuse(in, name, "is not an index of this trace");
    close(fd);
  } else if (path && from > 0 && !in->index_refused) {
    fail(trace ? "%s: cannot be read, or is no index of this trace" : "%s: only a file can have an index", path);
  }
  free(name);
  return begun;
}

void index_advise(input *in, const char *path, uint64_t offset) {
  gotrace_decoder_info info;
  char *name = index_path(in->path, path);
  gotrace_decoder_get_info(in->decoder, &info);
  if (offset >= LONG_BEFORE && in->mapped && !in->snapshot && !in->advised && info.family == 2 && isatty(2) &&
      access(name, F_OK) != 0) {
    report("%llu MB before the part had to be read; gotrace index makes such parts quick", (ull)(offset >> 20));
    in->advised = true;
  }
  free(name);
}
