/* index.c - makes an index of a trace, and begins at it: see index.h */

#include "index.h"

#include "saved.h"
#include "source.h"

#include "../command/commands.h"
#include "../report/summary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "gotrace index 4\n"
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

/* Of the trace's head and tail. False: they cannot be read. */
static bool hash_of_ends(input *in, uint64_t *hash) {
  size_t size = in->size < END_SIZE ? in->size : END_SIZE;
  uint8_t *part = resize(NULL, size);
  bool read = input_part(in, 0, part, size);
  *hash = stable_hash(HASH_BEGIN, part, size);
  read = read && input_part(in, in->size - size, part, size);
  *hash = stable_hash(*hash, part, size);
  free(part);
  return read;
}

/* The most bytes of a trace's index: see add_moment() and is_too_large(). */
static uint64_t most_of(size_t trace_size) { return (INDEX_SPACING ? trace_size / 8 : SIZE_MAX / 2) + (1 << 20); }

/* And of the ids of tasks, which are within 1 MiB where they ascend. */
static uint64_t most_of_tasks(size_t trace_size) { return INDEX_SPACING ? trace_size / 64 : SIZE_MAX / 4; }

/* ----------------------------------------------------------------------------------------------------- writing ---- */

typedef struct moment {
  uint64_t time, hash;
  size_t sizes[INDEX_CONTENTS];
  bool foretold; /* see index_moment */
  size_t tasks;  /* how many the trace has mentioned */
  bytes late;    /* while it is made */
} moment;

typedef struct indexing {
  consumer c;
  source s;
  summary sum;
  unsigned has;   /* bits of index_contents that all moments have */
  bytes contents; /* of all moments, without late tasks */
  moment *moments;
  size_t count, capacity;
  uint64_t last, next; /* offsets of the last moment, and where the next one may be */
  saved_list open;     /* tasks of the world that may be open */
  saved_list listed;   /* those that the moment has */
  bool unsorted;
  saved_list kept; /* tasks of the summary that are not over, and those that open regions belong to; */
  size_t known;    /* how many it has had so far */
  /* By LATE_..., uint32_t by task: 1 + the first moment without it; 0: it has not ended yet. */
  side_array absent[LATE_KINDS];
  size_t foretold; /* moments from this one on are */
} indexing;

static void add_number(saved_list *to, uint32_t number) {
  GROW(to->numbers, to->count, to->capacity);
  to->numbers[to->count++] = number;
}

static int by_value(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

/* Sorts numbers, and leaves each of them once. */
static void sort_numbers(saved_list *of) {
  size_t i, kept = 0;
  if (of->count) qsort(of->numbers, of->count, sizeof *of->numbers, by_value);
  for (i = 0; i < of->count; i++)
    if (!kept || of->numbers[kept - 1] != of->numbers[i]) of->numbers[kept++] = of->numbers[i];
  of->count = kept;
}

static void add_task_of_world(saved_list *to, const world *w, uint64_t id) {
  const user_task *t = map_get(&w->tasks, id);
  if (t) add_number(to, t->number);
}

/* Adds the tasks that open regions, goroutines and the beginnings of what is listed belong to: filters ask for their
 * names. */
static void add_meant(saved_list *to, const world *w) {
  const goroutine *g;
  size_t i, count = to->count;
  uint32_t j;
  for (i = 0; i < count; i++) {
    const origin *from = &((user_task *)w->tasks.values[to->numbers[i]])->from;
    if (from->inside) add_task_of_world(to, w, from->within);
  }
  for (i = 0; i < w->counters.count; i++) {
    const origin *from = &((user_counter *)w->counters.values[i])->from;
    add_task_of_world(to, w, from->task);
    if (from->inside) add_task_of_world(to, w, from->within);
  }
  for (g = w->live; g; g = g->next) {
    if (g->inherits) add_task_of_world(to, w, g->inherited);
    for (j = 0; g->regions && j < g->regions->count; j++) add_task_of_world(to, w, g->regions->open[j].task);
  }
}

/* Leaves those of the world's tasks that are open, and lists them with those that these mean. */
static void choose_open(indexing *x) {
  size_t i, kept = 0;
  if (x->unsorted) sort_numbers(&x->open);
  x->unsorted = false;
  for (i = 0; i < x->open.count; i++)
    if (((user_task *)x->s.w.tasks.values[x->open.numbers[i]])->open) x->open.numbers[kept++] = x->open.numbers[i];
  x->open.count = kept;
  x->listed.count = 0;
  for (i = 0; i < kept; i++) add_number(&x->listed, x->open.numbers[i]);
  add_meant(&x->listed, &x->s.w);
  sort_numbers(&x->listed);
}

static uint32_t number_of(summary *sum, uint64_t id) { return (uint32_t)map_index(&sum->task_ids, id); }

/* Adds the tasks that open regions belong to. */
static void add_regions_tasks(saved_list *to, summary *sum) {
  const goroutine *g;
  uint32_t i;
  for (g = sum->s.w.live; g; g = g->next) {
    const goroutine_summary *of = summary_of(sum, g);
    for (i = 0; of && i < of->region_count; i++)
      if (map_get(&sum->task_ids, of->regions[i].task)) add_number(to, number_of(sum, of->regions[i].task));
  }
}

/* Leaves those of the summary's tasks that are not over, and that open regions or the beginnings of these belong to. */
static void choose_kept(indexing *x) {
  summary *sum = &x->sum;
  size_t i, kept = 0;
  for (; x->known < sum->task_ids.count; x->known++) add_number(&x->kept, (uint32_t)x->known);
  for (i = 0; i < x->kept.count; i++) {
    const task *t = sum->task_ids.values[x->kept.numbers[i]];
    const user_task *in_world = map_get(&x->s.w.tasks, t->id);
    if (!t->ended || (in_world && in_world->open)) x->kept.numbers[kept++] = x->kept.numbers[i];
  }
  x->kept.count = kept;
  for (i = 0; i < kept; i++) {
    const task *t = sum->task_ids.values[x->kept.numbers[i]];
    if (t->from.inside && map_get(&sum->task_ids, t->from.within)) add_number(&x->kept, number_of(sum, t->from.within));
  }
  add_regions_tasks(&x->kept, sum);
  sort_numbers(&x->kept);
}

/* Adds the contents of a moment, and returns their size. */
static size_t put_contents(indexing *x, moment *m) {
  gotrace_decoder *d = x->s.in->decoder;
  size_t size = gotrace_decoder_snapshot(d, NULL, 0), at = x->contents.size;
  *m = (moment){.time = (uint64_t)between(x->s.first, x->s.end)};
  choose_open(x);
  choose_kept(x);
  gotrace_decoder_snapshot(d, bytes_room(&x->contents, size), size);
  x->contents.size += m->sizes[INDEX_SNAPSHOT] = size;
  size = x->contents.size;
  if (x->has & 1 << INDEX_WORLD && !world_save(&x->contents, &x->s.w, &x->listed)) x->has &= ~(1u << INDEX_WORLD);
  m->sizes[INDEX_WORLD] = x->contents.size - size;
  size = x->contents.size;
  if (x->has & 1 << INDEX_SUMMARY && !summary_save(&x->contents, &x->sum, &x->kept)) x->has &= ~(1u << INDEX_SUMMARY);
  m->sizes[INDEX_SUMMARY] = x->contents.size - size;
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
  x->moments[x->count++].tasks = x->sum.task_ids.count;
  x->last = offset;
  x->next = offset + INDEX_SPACING * size;
}

/* A task that has ended is mentioned: the moments since then need it. */
static void add_late(indexing *x, unsigned who, uint32_t number, saved_task *fields, uint64_t reopens) {
  saved like = {.w = who == LATE_SUMMARY ? &x->sum.s.w : &x->s.w, .context = &x->sum, .reopens = reopens};
  bytes made = {0};
  size_t i = *SIDE(uint32_t, &x->absent[who], number);
  if (!i || i > x->count) return;
  saved_put_late(&made, who, &like, fields, number);
  for (i--; i < x->count; i++) put_data(&x->moments[i].late, made.data, made.size);
  free(made.data);
}

/* From the next moment on, a task is absent, as long as it has ended. */
static void set_absent(indexing *x, unsigned who, uint32_t number) {
  *SIDE(uint32_t, &x->absent[who], number) = (uint32_t)x->count + 1;
}

/* Keeps track of which tasks are open, before a mention of a task changes the world, and then the summary. */
static void take(consumer *c, const op *o) {
  indexing *x = (indexing *)c;
  unsigned change = change_specs[o->kind].kind;
  bool begins = change == GOTRACE_CHANGE_TASK_BEGIN, ends = change == GOTRACE_CHANGE_TASK_END;
  const user_task *t;
  const task *in_sum;
  uint64_t reopens = ends ? (uint64_t)between(x->s.first, o->time) + 1 : 0;
  uint32_t number;
  if (!change_has_task(change)) return;
  t = map_get(&c->w->tasks, o->id);
  in_sum = map_get(&x->sum.task_ids, o->id);
  if (t) {
    if (!t->open) add_late(x, begins || ends ? LATE_WORLD : LATE_NAMED, t->number, saved_world_task, reopens);
    if (begins || ends) set_absent(x, LATE_WORLD, t->number);
    set_absent(x, LATE_NAMED, t->number);
  }
  number = in_sum ? number_of(&x->sum, o->id) : (uint32_t)x->sum.task_ids.count;
  if (in_sum && in_sum->ended && ends) x->foretold = x->count;
  if (in_sum && in_sum->ended && !(t && t->open)) add_late(x, LATE_SUMMARY, number, summary_saved_task, 0);
  set_absent(x, LATE_SUMMARY, number);
  if (!begins || (t && t->open)) return;
  add_number(&x->open, t ? t->number : (uint32_t)c->w->tasks.count);
  x->unsorted |= t != NULL;
  if (in_sum) add_number(&x->kept, number);
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

static void nothing(consumer *c, int64_t time) { (void)c, (void)time; }

/* Reads the whole trace. */
static gotrace_result make_moments(indexing *x, input *in) {
  static const settings whole = {.from = INT64_MAX, .until = INT64_MAX}; /* a summary before its part */
  source *s = &x->s;
  const gotrace_event *e;
  gotrace_result result;
  x->has = 1 << INDEX_SNAPSHOT | 1 << INDEX_WORLD | 1 << INDEX_SUMMARY;
  x->c = (consumer){.begin = nothing, .take = take, .end = nothing, .statuses = true};
  x->c.history = x->c.modules = x->c.early = x->c.quiet = true;
  result = source_begin(s, in, &x->c, 0, INT64_MAX);
  x->sum.c.early = true;
  if (result == GOTRACE_OK) result = summary_begin(&x->sum, in, &whole);
  while (result == GOTRACE_OK && (result = input_take(in, &e)) == GOTRACE_OK) {
    source_take(s, e);
    summary_pass(&x->sum, e);
    if (s->named_late) x->foretold = x->count, s->named_late = false;
    /* After the trace's last Sync nothing would follow. */
    if (e->kind != GOTRACE_V2_SYNC && input_is_between(in)) add_moment(x, e->offset);
  }
  return result;
}

/* Whether late tasks make the index larger than a reader accepts. */
static bool is_too_large(const indexing *x, size_t trace_size) {
  uint64_t all = x->contents.size;
  size_t i;
  for (i = 0; i < x->count; i++) all += x->moments[i].late.size;
  return all + most_of_tasks(trace_size) > most_of(trace_size) - (1 << 20);
}

/* The contents of all moments, with late tasks. */
static void put_moments(bytes *to, indexing *x) {
  const uint8_t *at = x->contents.data;
  size_t i, j;
  for (i = 0; i < x->count; i++) {
    moment *m = &x->moments[i];
    size_t begin = to->size, size = 0;
    for (j = 0; j < INDEX_LATE; j++) size += m->sizes[j];
    put_data(to, at, size);
    put_data(to, m->late.data, m->late.size);
    m->sizes[INDEX_LATE] = m->late.size;
    m->hash = stable_hash(HASH_BEGIN, to->data + begin, to->size - begin);
    at += size;
  }
}

static int by_id(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

/* Appends ids as stretches: see index.h. */
static void put_ids(bytes *to, uint64_t *ids, size_t count) {
  bytes all = {0};
  uint64_t stretches = 0, end = 0;
  size_t i = 0, first;
  qsort(ids, count, sizeof *ids, by_id);
  while (i < count) {
    for (first = i++; i < count && ids[i] - ids[first] == i - first;) i++;
    put_number(&all, ids[first] - end);
    put_number(&all, i - first);
    end = ids[i - 1];
    stretches++;
  }
  put_number(to, stretches);
  put_data(to, all.data, all.size);
  free(all.data);
}

static void put_tasks(bytes *to, const indexing *x) {
  const map *all = &x->sum.task_ids;
  uint64_t *ids = resize(NULL, (all->count + 1) * sizeof *ids);
  size_t i, first = 0, j;
  for (i = 0; i < x->count; first = x->moments[i++].tasks) {
    for (j = first; j < x->moments[i].tasks; j++) ids[j] = ((task *)all->values[j])->id;
    put_ids(to, ids + first, x->moments[i].tasks - first);
  }
  free(ids);
}

/* Appends the head. `ends`: the hash of the trace's. */
static void put_head(bytes *to, const indexing *x, uint64_t ends) {
  bytes head = {0}, tasks = {0};
  bool few;
  size_t i, j;
  put_tasks(&tasks, x);
  few = tasks.size <= most_of_tasks(x->s.in->size);
  put_number(&head, x->s.in->size);
  put_number(&head, ends);
  put_number(&head, x->has | (unsigned)few << INDEX_TASKS);
  put_number(&head, x->count);
  for (i = 0; i < x->count; i++) {
    put_number(&head, x->moments[i].time);
    put_number(&head, i >= x->foretold);
    for (j = 0; j < INDEX_CONTENTS; j++) put_number(&head, x->moments[i].sizes[j]);
    put_number(&head, x->moments[i].hash);
  }
  if (few) put_data(&head, tasks.data, tasks.size);
  free(tasks.data);
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
  bytes moments = {0};
  uint64_t ends;
  size_t i;
  int status = 1;
  if (!input_open(&in, path, true)) return 1;
  if (!input_is_kept(&in) || !hash_of_ends(&in, &ends)) {
    report("only a file can have an index");
  } else if (!may_replace(target)) {
    report("%s is there, and is no index", target);
  } else if (make_moments(&x, &in) != GOTRACE_END_OF_TRACE) {
    report("%s", input_error(&in));
  } else {
    erase_progress();
    if (is_too_large(&x, in.size)) x.count = 0;
    put_moments(&moments, &x);
    output_open(&out, target);
    put_string(&out, MAGIC);
    put_head(&out.block, &x, ends);
    put_data(&out.block, moments.data, moments.size);
    output_close(&out);
    if (!x.count) report("%s is of no use: the trace is too small, or of one generation", target);
    status = 0;
  }
  free(target);
  for (i = 0; i < x.count; i++) free(x.moments[i].late.data);
  free(moments.data);
  free(x.contents.data);
  free(x.moments);
  free(x.open.numbers);
  free(x.listed.numbers);
  free(x.kept.numbers);
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
  uint64_t at;               /* offset of its contents in the file */
  unsigned has;              /* bits of index_contents */
  size_t count, number;      /* how many moments there are, and which this one is, from 1 */
  size_t tasks, facts, head; /* where in in->index these begin; `head`: the contents */
} found;

/* Takes the moments from the head, and stops behind them. False: the contents that follow the head are not all there.
 */
static bool take_moments(found *to, const uint8_t **at, const uint8_t *end, uint64_t offset, uint64_t file_size,
                         int64_t from) {
  uint64_t count, has, size;
  unsigned i;
  if (!take_number(at, end, &has) || !take_number(at, end, &count)) return false;
  to->has = (unsigned)has;
  to->count = (size_t)count;
  for (; count; count--) {
    moment m;
    uint64_t begin = offset, foretold;
    if (!take_number(at, end, &m.time) || !take_number(at, end, &foretold)) return false;
    m.foretold = foretold != 0;
    for (i = 0; i < INDEX_CONTENTS; i++) {
      if (!take_number(at, end, &size) || size > file_size - offset) return false;
      m.sizes[i] = (size_t)size;
      offset += size;
    }
    if (!take_number(at, end, &m.hash)) return false;
    if (m.time < (uint64_t)from) to->m = m, to->at = begin, to->number = to->count - (size_t)count + 1;
  }
  return offset == file_size;
}

/* Takes the ids of a moment's tasks, and tells whether `id` is one of them. False: they are damaged. */
static bool take_ids(const uint8_t **at, const uint8_t *end, uint64_t id, bool *has) {
  uint64_t stretches, gap, size, first = 0;
  if (!take_number(at, end, &stretches)) return false;
  for (; stretches; stretches--) {
    if (!take_number(at, end, &gap) || !take_number(at, end, &size)) return false;
    first += gap;
    *has |= id >= first && id - first < size;
    first += size - 1;
  }
  return true;
}

bool index_has_task(const index_moment *before, uint64_t id) {
  const uint8_t *at = before->tasks;
  bool has = false;
  size_t i;
  for (i = 0; i < before->number && !has; i++) take_ids(&at, before->tasks_end, id, &has);
  return has;
}

/* Finds the last moment before `from`, and reads the head and its contents into in->index. False: the file is not an
 * index of this trace, or is damaged. */
static bool load_moment(found *to, input *in, int fd, uint64_t file_size, int64_t from) {
  size_t i, whole = 0;
  const uint8_t *at, *end;
  uint64_t offset, size, hash, ends;
  bool has = false;
  memset(to, 0, sizeof *to);
  if (file_size > most_of(in->size) || !load_head(&in->index, fd, file_size, &offset)) return false;
  at = in->index.data;
  end = at + in->index.size;
  if (!take_number(&at, end, &size) || !take_number(&at, end, &hash)) return false;
  if (size != in->size || !hash_of_ends(in, &ends) || hash != ends) return false;
  if (!take_moments(to, &at, end, offset, file_size, from)) return false;
  to->tasks = (size_t)(at - in->index.data);
  for (i = 0; to->has & 1u << INDEX_TASKS && i < to->count; i++)
    if (!take_ids(&at, end, 0, &has)) return false;
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
static bool begin_at(input *in, const found *at, const char *path, index_contents what, bool wants_tasks,
                     index_moment *to) {
  const uint8_t *head = in->index.data, *contents = head + at->head;
  unsigned i;
  if (!at->m.sizes[INDEX_SNAPSHOT] || !(at->has & 1u << what)) return false;
  if (wants_tasks && !(at->has & 1u << INDEX_TASKS)) return false;
  in->snapshot = contents;
  in->snapshot_size = at->m.sizes[INDEX_SNAPSHOT];
  for (i = 0; i < what; i++) contents += at->m.sizes[i];
  if (to) {
    *to = (index_moment){.facts = head + at->facts, .facts_size = at->head - at->facts};
    to->foretold = at->m.foretold;
    to->tasks = head + at->tasks;
    to->tasks_end = head + at->facts;
    to->number = at->number;
    to->saved = contents;
    to->saved_size = at->m.sizes[what];
    to->late_size = at->m.sizes[INDEX_LATE];
    to->late = in->index.data + in->index.size - to->late_size; /* the last contents */
  }
  if (input_decode(in, false) == GOTRACE_OK) return true;
  index_refuse(in, path);
  input_decode(in, false);
  return false;
}

bool index_begin(input *in, const char *path, int64_t from, index_contents what, bool wants_tasks, index_moment *to) {
  char *name = index_path(in->path, path);
  uint64_t size = 0;
  bool begun = false;
  found at;
  int fd = from > 0 && input_is_kept(in) && !in->index_refused ? open_index(name, &size) : -1;
  if (fd >= 0) {
    if (load_moment(&at, in, fd, size, from)) begun = begin_at(in, &at, path, what, wants_tasks, to);
    else refuse(in, name, "is not an index of this trace");
    close(fd);
  } else if (path && from > 0 && !in->index_refused) {
    fail(input_is_kept(in) ? "%s: cannot be read, or is no index of this trace" : "%s: only a file can have an index",
         path);
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
