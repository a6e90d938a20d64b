/* outside.h - the code of recorder.h; part of library.c, because it uses the private part of gotrace.h
 *
 * The process that is recorded captures into a box (gotrace.h), and this process transcribes. So the trace does not
 * depend on how that process ends, and nothing of the tracer runs in it but its calls.
 *
 * All that the transcriber reads is copied first: each thread's chunks, into ones of the same size, which grow like the
 * originals; the entries of the tables, which get the same numbers. An original goes back as soon as it has been
 * copied.
 *
 * The box is not trusted: the process may write any bytes, also while they are read. Each address is checked against
 * the box, each value is read once, loops have a bound that the process cannot change, and hashes have a seed that it
 * does not know. Records are checked by the
 * transcriber, which reads only copies. */

#ifndef OUTSIDE_H
#define OUTSIDE_H

#include "recorder.h"
#include "walk.h"

#ifdef GOTRACE__BOX
#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#ifndef MOST_MODULES
#define MOST_MODULES 16384 /* loaded in the life of a process; the list is searched */
#endif

/* The chunks of a thread. */
typedef struct stream {
  const gotrace__thread *thread; /* in the box, also when it has ended; NULL: not known yet */
  gotrace__source *source;       /* NULL: the thread has none yet */
  gotrace__record_chunk *from;   /* in the box */
  gotrace__record_chunk *copy;   /* its copy, the last one of the source */
} stream;

/* A table of the box, and its copy. */
typedef struct copied_table {
  size_t payload, extra; /* bytes of an entry: for each of its size, and beside that */
  uint32_t least, most;  /* sizes */
  gotrace__table *to;
  gotrace__entry *last; /* in the box */
} copied_table;

/* Which thread has this id of the system's now; NULL: none that has written a record. */
static gotrace__source *source_of_thread(gotrace__transcriber *t, uint32_t thread) {
  gotrace__source *source = *gotrace__same_id(t, thread);
  while (source && (source->id != thread || source->gone)) source = source->same;
  return source;
}

/* A CPU sample that is not in the trace yet, or the last one of a thread. */
typedef struct sample {
  uint64_t tick;
  uint32_t thread, count;
  uint64_t pcs[GOTRACE__SAMPLE_FRAMES];
} sample;

#include "switches.h"

/* What the flight recorder keeps. */
typedef struct generation {
  bytes data;
  uint64_t end; /* nanoseconds */
} generation;

typedef struct module_image {
  const gotrace__module_record *record;
  code_image *image; /* NULL: it has none */
} module_image;

struct recorder {
  gotrace__box *box;
  int file;
  size_t size, reserved; /* see reserve_more(); is_full: no more can be had */
  bool is_full;
  uint64_t base; /* where the process has the box; 0: not known yet */
  gotrace__transcriber *t;
  gotrace__budget budget;
  copied_table strings, stacks, sites, reasons, modules;
  const char *reason_names[GOTRACE__REASONS];
  stream *streams; /* by the index of the thread's record, minus 1 */
  size_t stream_count;
  stream *ended; /* those of threads that have ended; their chunks may still have to be transcribed */
  size_t ended_count, ended_capacity;
  gotrace__module_record *unloaded; /* modules; the others are gotrace__modules.records */
  size_t module_count;
  uint64_t unloads;    /* number of modules unloaded, as the process says */
  uint32_t wanted;     /* cuts that the process has asked for */
  uint64_t copied;     /* bytes of tables */
  uint64_t last_cut;   /* nanoseconds */
  uint64_t cut_every;  /* likewise */
  uint64_t last_id;    /* of goroutines that the transcriber adds */
  bytes entry;         /* being copied */
  bytes written;       /* by the transcriber, not yet complete */
  size_t complete;     /* of them */
  uint64_t flight;     /* nanoseconds that the flight recorder keeps; 0: all is written */
  uint64_t size_limit; /* of the trace; 0: none */
  bytes head;          /* of the file */
  generation *kept;
  size_t kept_count, kept_capacity, kept_bytes;
  uint32_t snapshots; /* that the process has asked for */
  bool paused;
  uint64_t dropped; /* events before the start */
  int system_error;
  gotrace_result result; /* why no more is read, or GOTRACE_OK */
  /* CPU samples and context switches: */
  perf_events *events; /* NULL: there are none */
  bool switched;       /* context switches are taken */
  thread_switches switches;
  struct ticks *ticks; /* NULL: no CPU samples by timers */
  size_t ticks_size;
  walker *walker;
  module_image *images;
  size_t image_count, image_capacity, image_room;
  sample *samples; /* by time; those before sample_at are in the trace */
  size_t sample_at, sample_count, sample_capacity;
  map last_samples;            /* struct sample, by the thread's source */
  gotrace__clocks before, now; /* the last two times that all was read */
};

/* ---------------------------------------------------------------------------------------------------- the box ---- */

/* It is reserved in steps: a program that uses little shall not wait until all has been cleared. */
#define RESERVED_BYTES ((size_t)4 << 20) /* more than is used */

static uint64_t bytes_to_reserve(uint64_t used, uint64_t size) {
  return size > RESERVED_BYTES && used < size - RESERVED_BYTES ? used + RESERVED_BYTES : size;
}

/* Returns an errno. */
static int reserve_bytes(int file, uint64_t from, uint64_t to) {
  int error;
  do error = posix_fallocate(file, (off_t)from, (off_t)(to - from));
  while (error == EINTR);
  return error;
}

#define LEAST_TICKS 4096 /* bytes, that are read also if there are no timers */

int recorder_make_box(size_t size) {
  uint64_t reserved = bytes_to_reserve(0, size);
  size_t ticks = ticks_size(size);
  gotrace__box *box;
  struct rlimit limit;
  int file, error;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0) {
    if (size > limit.rlim_cur) { /* otherwise a signal would end this process */
      errno = EFBIG;
      return -1;
    }
    if (size + ticks > limit.rlim_cur) ticks = 0;
  }
  file = memfd_create("gotrace box", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  error =
      fchmod(file, 0600) != 0 || ftruncate(file, (off_t)(size + ticks)) != 0 ? errno : reserve_bytes(file, 0, reserved);
  if (!error && ticks) error = reserve_bytes(file, size, size + LEAST_TICKS);
  if (!error && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) error = errno;
  box = error ? MAP_FAILED : mmap(NULL, sizeof *box, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (!error && box == MAP_FAILED) error = errno;
  if (error) {
    close(file);
    errno = error;
    return -1;
  }
  box->size = size;
  box->layout = gotrace__box_layout();
  box->reserved = reserved;
  munmap(box, sizeof *box);
  return file;
}

/* What the process has at an address, of so many bytes; NULL: not in the box. */
static void *in_box(const recorder *r, const void *address, size_t size) {
  uint64_t at = (uint64_t)(uintptr_t)address - r->base;
  if (at % 8 != 0 || at >= r->size || size > r->size - at) return NULL;
  return (char *)r->box + at;
}

/* The reverse. */
static void *address_of(const recorder *r, const void *place) {
  return (void *)(uintptr_t)(r->base + (uint64_t)((const char *)place - (const char *)r->box));
}

/* No more is read: of a box that nobody but a process gone wrong can have made, or because the trace has ended. */
static void stop_reading(recorder *r, gotrace_result why) {
  if (r->result == GOTRACE_OK) r->result = why;
  gotrace__store_relaxed(&r->box->closed, 1u);
}
static void stop_at_damage(recorder *r) { stop_reading(r, GOTRACE_ERROR_ARGUMENT); }

/* ------------------------------------------------------------------------------------------------------ tables ---- */

/* Copies an entry; false: it is not one. */
static bool copy_entry(recorder *r, copied_table *table, const gotrace__entry *entry) {
  uint32_t size = gotrace__load_relaxed(&entry->size), id = gotrace__load_relaxed(&entry->id);
  size_t all = size * table->payload + table->extra;
  const gotrace__entry *copy;
  if (size < table->least || size > table->most || all > GOTRACE__ARENA_BLOCK - sizeof *entry - 8) return false;
  if (!in_box(r, address_of(r, entry), sizeof *entry + all)) return false;
  r->copied += sizeof *entry + all;
  if (r->copied > r->size) return false; /* more than there can be */
  r->entry.size = 0;
  put_data(&r->entry, entry + 1, all);
  copy = gotrace__table_add(table->to, hash_of(r->entry.data, all), size, r->entry.data, all, 1);
  return copy && copy->id == id;
}

/* Copies what is new in a table. */
static void copy_table(recorder *r, gotrace__table *const *at, copied_table *table) {
  const gotrace__table *from = in_box(r, gotrace__load_relaxed(at), sizeof *from);
  gotrace__entry *const *next = from ? &from->first : NULL;
  if (table->last) next = &table->last->next;
  while (next && r->result == GOTRACE_OK) {
    gotrace__entry *found = gotrace__load_acquire(next), *entry = found ? in_box(r, found, sizeof *entry) : NULL;
    if (!found) return;
    if (!entry || !copy_entry(r, table, entry)) break;
    table->last = entry;
    next = &entry->next;
  }
  stop_at_damage(r);
}

/* A module is loaded. Those that are not mentioned again after one has been unloaded are loaded no more. */
static void know_module(recorder *r, const gotrace__loaded *at) {
  gotrace__module_record *record = gotrace__modules.records, **link;
  if (at->unloads != r->unloads) {
    for (link = &r->unloaded; *link; link = &(*link)->next) continue;
    *link = record;
    gotrace__modules.records = record = NULL;
    gotrace__modules.last = NULL;
    r->unloads = at->unloads;
  }
  for (link = &r->unloaded; *link; link = &(*link)->next)
    if ((*link)->at.base == at->base && gotrace__elf_same(&(*link)->at.identity, &at->identity) &&
        strcmp((*link)->at.path, at->path) == 0)
      break;
  record = *link;
  if (record) *link = record->next;
  else if (r->module_count++ == MOST_MODULES) stop_at_damage(r);
  else if (r->module_count <= MOST_MODULES)
    record = (gotrace__module_record *)gotrace__allocate(&gotrace__modules.budget, sizeof *record, true);
  if (!record) return;
  record->at = *at;
  record->next = gotrace__modules.records;
  gotrace__modules.records = record;
  walker_forget(r->walker);
}

static void copy_tables(recorder *r) {
  const gotrace__entry *reason, *module = NULL;
  copy_table(r, &r->box->strings, &r->strings);
  copy_table(r, &r->box->stacks, &r->stacks);
  copy_table(r, &r->box->sites, &r->sites);
  reason = r->reasons.to->last;
  copy_table(r, &r->box->reasons, &r->reasons);
  reason = reason ? reason->next : r->reasons.to->first;
  for (; reason && reason->id <= GOTRACE__REASONS; reason = reason->next)
    r->reason_names[reason->id - 1] = (const char *)(reason + 1);
  module = r->modules.to->last;
  copy_table(r, &r->box->modules, &r->modules);
  module = module ? module->next : r->modules.to->first;
  for (; module; module = module->next) {
    gotrace__loaded at;
    memset(&at, 0, sizeof at);
    memcpy(&at, module + 1, module->size < sizeof at ? module->size : sizeof at - 1);
    if (at.identity.build_id_size > GOTRACE__BUILD_ID) at.identity.build_id_size = 0;
    know_module(r, &at);
  }
}

/* ------------------------------------------------------------------------------------------------------- names ---- */

/* A module's file; -1: none. The path is what the process says, so as root only a file of root's is read. */
static int open_file_of(const gotrace__module_record *record) {
  const char *path = record->at.path;
  struct stat status;
  int file = *path && *path != '[' ? open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
  if (file < 0) return -1;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && (geteuid() != 0 || status.st_uid == 0)) return file;
  close(file);
  return -1;
}

/* Reads the symbols of a module when the first of its addresses is named. */
static void open_module(gotrace__module_record *record) {
  char path[64];
  int file;
  if (record->noted) return;
  record->noted = true;
  snprintf(record->path, sizeof record->path, "%s", *record->at.path ? record->at.path : "[vdso]");
  file = open_file_of(record);
  if (file < 0) return;
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  gotrace__module_load(record, path);
  close(file);
}

#define IMAGE_BYTES ((size_t)512 << 20) /* of all modules */

static bool is_module(const gotrace__module_record *record, const gotrace__elf_file *elf) {
  gotrace__elf_head head;
  gotrace__elf_identity identity;
  return gotrace__elf_header(elf, &head) && gotrace__elf_identify(elf, &head, &identity) &&
         gotrace__elf_same(&identity, &record->at.identity);
}

static code_image *read_image_of(recorder *r, const gotrace__module_record *record) {
  gotrace__elf_file elf;
  code_image *result = NULL;
  memset(&elf, 0, sizeof elf);
  elf.file.number = open_file_of(record);
  if (elf.file.number >= 0) {
    if (is_module(record, &elf)) result = code_image_read(elf.file.number, &r->image_room);
    close(elf.file.number);
    return result;
  }
  elf.data = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
  elf.size = 4096; /* at least: its headers and notes are there */
  return elf.data && is_module(record, &elf) ? code_image_of_vdso() : NULL;
}

/* NULL: it has none. */
static const code_image *image_of(recorder *r, const gotrace__module_record *record) {
  size_t i;
  for (i = 0; i < r->image_count; i++)
    if (r->images[i].record == record) return r->images[i].image;
  GROW(r->images, r->image_count, r->image_capacity);
  r->images[i] = (module_image){record, read_image_of(r, record)};
  return r->images[r->image_count++].image;
}

static const code_image *find_image(void *recorder_of, uintptr_t pc, uintptr_t *base) {
  const gotrace__module_record *record = gotrace__unloaded_module(pc);
  if (!record) return NULL;
  *base = record->at.base;
  return image_of((recorder *)recorder_of, record);
}

static bool name_place(void *recorder_of, gotrace_location *place, char *text, size_t size) {
  bool entry = place->line == 1;
  uintptr_t pc = place->pc + entry;
  gotrace__module_record *record = gotrace__unloaded_module(pc);
  const char *function, *slash;
  const code_image *image;
  uintptr_t start = 0;
  if (entry) place->line = 0;
  if (!record) return false;
  open_module(record);
  function = gotrace__elf_name(&record->symbols, pc - 1 - record->at.base);
  slash = strrchr(record->path, '/');
  image = function ? NULL : image_of((recorder *)recorder_of, record);
  if (image) start = code_image_start(image, pc - 1 - record->at.base);
  if (function) snprintf(text, size, "%s", function);
  else
    snprintf(text, size, "%.200s%s0x%llx", slash ? slash + 1 : record->path, start ? "!" : "+",
             (ull)(start ? start : pc - record->at.base));
  place->function = text;
  place->file = record->path;
  return true;
}

/* ----------------------------------------------------------------------------------------------------- threads ---- */

/* The process takes the chunk when it needs one. */
static void give_back(recorder *r, gotrace__record_chunk *chunk) {
  gotrace__record_chunk *address = (gotrace__record_chunk *)address_of(r, chunk);
  gotrace__record_chunk *head = gotrace__load_relaxed(&r->box->returned);
  unsigned tries = 0;
  do gotrace__store_relaxed(&chunk->next, head);
  while (!gotrace__cas_acq_rel(&r->box->returned, &head, address) && ++tries < 1000);
}

/* Makes the stream go on with a chunk; false: it is none. */
static bool begin_chunk(recorder *r, stream *s, const gotrace__record_chunk *address) {
  gotrace__record_chunk *from = in_box(r, address, sizeof *from), *copy;
  uint32_t capacity = from ? gotrace__load_relaxed(&from->capacity) : 0;
  bool refused;
  if (!from || capacity > GOTRACE__CHUNK_BYTES || !in_box(r, address, sizeof *from + capacity)) return false;
  copy = (gotrace__record_chunk *)gotrace__allocate_unless(&r->budget, sizeof *copy + capacity, true, &refused);
  if (!copy) return false;
  copy->capacity = capacity;
  copy->tick = gotrace__load_relaxed(&from->tick);
  copy->session = gotrace__load_relaxed(&from->session);
  if (s->copy) s->copy->next = copy;
  s->from = from;
  s->copy = copy;
  return true;
}

/* Copies what is new in the chunk. The caller has read the link before (see gotrace__look_at). */
static bool copy_records(const stream *s, uint64_t *copied) {
  uint32_t size = gotrace__load_acquire(&s->from->size), before = s->copy->size;
  if (size < before || size > s->copy->capacity) return false;
  memcpy(gotrace__chunk_data(s->copy) + before, gotrace__chunk_data(s->from) + before, size - before);
  s->copy->size = size;
  *copied += size - before;
  return true;
}

/* The thread has ended, and all its records have been copied: another one may have its record. */
static void release_thread(recorder *r, stream *s, gotrace__thread *m) {
  gotrace__store_relaxed(&m->chunk, (gotrace__record_chunk *)NULL);
  m->ready = m->quick = GOTRACE__NEVER;
  m->session = 0;
  gotrace__store_relaxed(&m->first_session, 0u);
  give_back(r, s->from);
  GROW(r->ended, r->ended_count, r->ended_capacity);
  r->ended[r->ended_count++] = *s;
  *s = (stream){.thread = m};
  gotrace__store_release(&m->used, (uint32_t)GOTRACE__FREE_RECORD);
}

static bool read_thread(recorder *r, gotrace__thread *m, uint64_t index, uint64_t *copied) {
  uint64_t id;
  size_t most = r->size / sizeof *m, chunks = 0;
  gotrace__record_chunk *next;
  stream *s;
  bool over;
  if (gotrace__load_acquire(&m->first_session) != r->t->options.session) return true;
  id = gotrace__load_relaxed(&m->system_id); /* only now: another thread may have had the record */
  if (index >= most || id - 1 >= INT32_MAX) return false;
  if (index >= r->stream_count) {
    size_t count = index + 64;
    r->streams = (stream *)resize(r->streams, count * sizeof *s);
    memset(r->streams + r->stream_count, 0, (count - r->stream_count) * sizeof *s);
    r->stream_count = count;
  }
  s = &r->streams[index];
  if (!s->thread) s->thread = m;
  if (s->thread != m) return false; /* otherwise records could be read again, as another thread's */
  if (!s->source) {
    if (!begin_chunk(r, s, gotrace__load_acquire(&m->first))) return false;
    s->source = gotrace__transcribe_thread(r->t, id, s->copy);
    if (!s->source) {
      gotrace__chunk_free(&r->budget, s->copy);
      s->copy = NULL;
      return false;
    }
  }
  over = gotrace__load_acquire(&m->used) == GOTRACE__ENDED && !gotrace__load_acquire(&m->in_call);
  for (;;) {
    gotrace__record_chunk *from = s->from;
    next = gotrace__load_acquire(&from->next);
    if (!copy_records(s, copied)) return false;
    if (!next) break;
    if (++chunks > r->size / GOTRACE__FIRST_CHUNK_BYTES || !begin_chunk(r, s, next)) return false;
    give_back(r, from);
  }
  gotrace__store_relaxed(&m->read_at, s->copy->size); /* a thread may have more room then */
  gotrace__store_relaxed(&m->read_chunk, (gotrace__record_chunk *)address_of(r, s->from));
  if (over) release_thread(r, s, m);
  return true;
}

/* Frees what the transcriber has of threads that have ended. */
static void forget_ended(recorder *r) {
  size_t i, kept = 0;
  for (i = 0; i < r->ended_count; i++) {
    gotrace__source *source = r->ended[i].source;
    const gotrace__record_chunk *copy = r->ended[i].copy;
    if (source->gone && source->chunk == copy && gotrace__read_at(source) == copy->size) {
      gotrace__transcribe_release(r->t, source);
      gotrace__chunk_free(&r->budget, r->ended[i].copy);
    } else {
      r->ended[kept++] = r->ended[i];
    }
  }
  r->ended_count = kept;
}

/* Copies all that the process has published. */
static uint64_t copy_all(recorder *r) {
  uint64_t copied = 0;
  size_t most = r->size / sizeof(gotrace__thread), count = 0;
  uint64_t index = 0; /* of the thread before; they count down to 1 */
  gotrace__thread *at, *m;
  if (!r->base) r->base = gotrace__load_acquire(&r->box->base);
  if (!r->base || r->result != GOTRACE_OK) return 0;
  for (at = gotrace__load_acquire(&r->box->threads); at; at = gotrace__load_acquire(&m->next)) {
    uint64_t before = index;
    m = in_box(r, at, sizeof *m);
    index = m ? gotrace__load_relaxed(&m->index) : 0;
    if (m && ++count <= most && (!before || index == before - 1) && read_thread(r, m, index - 1, &copied)) continue;
    stop_at_damage(r);
    return copied;
  }
  copy_tables(r); /* after the records, which refer to entries */
  return copied;
}

/* ------------------------------------------------------------------------------------------------- CPU samples ---- */

/* The tick at a time between the last two readings of the clocks, or a little later. */
static uint64_t tick_at(const recorder *r, uint64_t nanoseconds) {
  uint64_t ticks = r->now.tick - r->before.tick, all = r->now.nanoseconds - r->before.nanoseconds;
  int64_t since = (int64_t)(nanoseconds - r->before.nanoseconds);
  if (!all || (int64_t)ticks < 0) return r->now.tick;
  return r->before.tick + (uint64_t)(int64_t)((double)since * ((double)ticks / (double)all));
}

static void add_record(void *recorder_of, const perf_record *from) {
  recorder *r = (recorder *)recorder_of;
  sample *s;
  if (from->kind != PERF_SAMPLED) {
    add_switch(&r->switches, (thread_switch){.nanoseconds = from->nanoseconds,
                                             .tick = tick_at(r, from->nanoseconds),
                                             .latest = tick_at(r, from->nanoseconds + CLOCKS_DIFFER),
                                             .thread = from->thread,
                                             .kind = from->kind});
    return;
  }
  GROW(r->samples, r->sample_count, r->sample_capacity);
  s = &r->samples[r->sample_count++];
  s->tick = tick_at(r, from->nanoseconds);
  s->thread = from->thread;
  s->count = (uint32_t)walker_walk(r->walker, from->frame, from->stack, from->stack_size, s->pcs, COUNT(s->pcs));
}

static int compare_samples(const void *a, const void *b) {
  uint64_t at = ((const sample *)a)->tick, other = ((const sample *)b)->tick;
  return at < other ? -1 : at > other;
}

/* The process may write at the same time, so it is read once. */
static bool copy_tick(recorder *r, uint32_t index, struct tick *to) {
  uint32_t *state = &r->ticks->state[index];
  if (gotrace__load_acquire(state) != TICK_IS_READY) return false;
  memcpy(to, &r->ticks->place[index], sizeof *to);
  gotrace__store_release(state, (uint32_t)TICK_FREE);
  return true;
}

static void read_ticks(recorder *r, bool wanted) {
  struct tick from;
  uint32_t i, count = count_ticks(r->ticks_size);
  perf_record one;
  for (i = 0; i < count; i++) {
    if (!copy_tick(r, i, &from) || !wanted) continue;
    memset(&one, 0, sizeof one);
    one.kind = PERF_SAMPLED;
    one.nanoseconds = from.nanoseconds;
    one.thread = from.thread;
    one.frame.pc = from.pc;
    one.frame.sp = from.sp;
    one.frame.fp = from.fp;
#if defined(__aarch64__)
    one.frame.lr = from.lr;
#endif
    one.stack = from.stack;
    one.stack_size = from.stack_size <= sizeof from.stack ? from.stack_size : 0;
    add_record(r, &one);
  }
  r->t->problems[GOTRACE_PROBLEM_SAMPLE_LOST] += __atomic_exchange_n(&r->ticks->lost, 0u, __ATOMIC_RELAXED);
}

/* Returns whether there was much. After the modules are known. Before the process tells them, and after it has executed
 * another program, the addresses would mean nothing. */
static bool read_samples(recorder *r) {
  size_t left = r->sample_count - r->sample_at;
  bool wanted = r->base && recorder_said(r) != TRACE_EXECUTES, much;
  if (!r->events) return false;
  if (r->sample_at) memmove(r->samples, r->samples + r->sample_at, left * sizeof *r->samples);
  r->sample_at = 0;
  r->sample_count = left;
  forget_written(&r->switches);
  much = perf_read(r->events, wanted ? add_record : NULL, r);
  r->t->problems[GOTRACE_PROBLEM_SAMPLE_LOST] += perf_take_lost(r->events);
  if (r->ticks) read_ticks(r, wanted);
  if (r->sample_count) qsort(r->samples, r->sample_count, sizeof *r->samples, compare_samples);
  if (r->switches.count) qsort(r->switches.all, r->switches.count, sizeof *r->switches.all, compare_switches);
  return much;
}

/* The sample is of what its thread runs in the model, in which all earlier records have been applied. */
static void write_sample(recorder *r, gotrace__transcriber *t, const sample *s) {
  const gotrace__source *source = source_of_thread(t, s->thread);
  gotrace__model_go *g;
  uint64_t tick = s->tick;
  if (source && tick <= source->tick && source->tick - tick < GOTRACE__FAR) tick = source->tick + 1;
  g = source && source->off ? source->off : source ? source->go : NULL;
  gotrace__write_sample(t, tick, s->thread, source && source->proc ? (int64_t)source->proc->id : -1, g, g ? g->id : 0,
                        s->pcs, s->count);
  if (source) *(sample *)map_keep(&r->last_samples, (uintptr_t)source, sizeof *s, NULL) = *s;
}

static uint64_t next_sample(const recorder *r) {
  return r->sample_at < r->sample_count ? r->samples[r->sample_at].tick : UINT64_MAX;
}

/* Also a context switch. */
static uint64_t next_event(void *recorder_of, gotrace__transcriber *t, bool write) {
  recorder *r = (recorder *)recorder_of;
  if (write && next_switch(&r->switches) <= next_sample(r)) take_switch(&r->switches, t, &r->last_samples);
  else if (write) write_sample(r, t, &r->samples[r->sample_at++]);
  return next_switch(&r->switches) < next_sample(r) ? next_switch(&r->switches) : next_sample(r);
}

void recorder_take_events(recorder *r, perf_events *events, bool switched) {
  r->events = events;
  r->switched = switched;
}

#define LEAST_PERIOD 100000 /* nanoseconds; the kernel looks less often */

bool recorder_take_ticks(recorder *r, uint32_t hertz) {
  off_t end = lseek(r->file, 0, SEEK_END);
  size_t size = end < 0 ? 0 : (size_t)end - r->size;
  uint32_t period = 1000000000 / hertz;
  void *memory;
  if (!count_ticks(size) || reserve_bytes(r->file, r->size, r->size + size) != 0) return false;
  memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->file, (off_t)r->size);
  if (memory == MAP_FAILED) return false;
  madvise(memory, size, MADV_DONTFORK);
  r->ticks = (struct ticks *)memory;
  r->ticks_size = size;
  gotrace__store_release(&r->ticks->period, period < LEAST_PERIOD ? (uint32_t)LEAST_PERIOD : period);
  return true;
}

/* Tells in each generation, even if no event does, that context switches are taken. */
static void write_texts(void *recorder_of, gotrace__transcriber *t) {
  static const char text[] = RECORD_SWITCHES;
  if (((recorder *)recorder_of)->switched) gotrace__write_text(t, text, sizeof text - 1, false);
  gotrace__write_modules(NULL, t);
}

static void free_samples(recorder *r) {
  size_t i;
  for (i = 0; i < r->image_count; i++) code_image_free(r->images[i].image);
  free(r->images);
  free(r->samples);
  map_free(&r->last_samples);
  free(r->switches.all);
  walker_free(r->walker);
  if (r->events) perf_end(r->events);
  if (r->ticks) munmap(r->ticks, r->ticks_size);
}

/* ------------------------------------------------------------------------------------------------------- trace ---- */

/* What the program will soon need. */
static void reserve_more(recorder *r) {
  uint64_t used = gotrace__load_relaxed(&r->box->used), asked = gotrace__load_relaxed(&r->box->asked);
  uint64_t wanted = bytes_to_reserve(asked > used ? asked : used, r->size);
  if (r->is_full || wanted <= r->reserved || (wanted < r->size && wanted - r->reserved < RESERVED_BYTES / 2)) return;
  r->is_full = reserve_bytes(r->file, r->reserved, wanted) != 0;
  if (r->is_full) gotrace__store_relaxed(&r->box->full, 1u);
  else gotrace__store_release(&r->box->reserved, r->reserved = wanted);
}

#define MANY_BYTES ((uint64_t)256 << 10) /* in one reading: the next one must be soon */

/* Reads all that has been published, and the clocks before: see gotrace__transcribe_round. Returns whether there was
 * much. */
static bool read_all(recorder *r, gotrace__clocks *clocks) {
  uint64_t copied;
  r->before = r->now;
  gotrace__read_clocks(&r->now);
  *clocks = r->now;
  gotrace__store_relaxed(&r->box->tick, r->now.tick);
  copied = copy_all(r);
  return read_samples(r) || copied > MANY_BYTES;
}

static bool collect(void *recorder_of, const void *data, size_t size) {
  recorder *r = (recorder *)recorder_of;
  put_data(&r->written, data, size);
  return true;
}

static void free_copy(void *recorder_of, gotrace__record_chunk *chunk) {
  gotrace__chunk_free(&((recorder *)recorder_of)->budget, chunk);
}

recorder *recorder_begin(int box, size_t size, const struct record_settings *set) {
  recorder *r = (recorder *)zeroed(sizeof *r);
  copied_table *const tables[] = {&r->strings, &r->stacks, &r->sites, &r->reasons, &r->modules};
  gotrace__transcribe_options options;
  gotrace__clocks clocks;
  size_t i;
  r->file = box;
  r->size = size;
  r->reserved = bytes_to_reserve(0, r->size);
  r->box = (gotrace__box *)mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, box, 0);
  if (r->box == MAP_FAILED) {
    free(r);
    return NULL;
  }
  madvise(r->box, r->size, MADV_DONTFORK); /* other recorders have no part of it */
  gotrace__init();
  r->budget.limit = 8 * r->size; /* a box may be made to look endless */
  for (i = 0; i < COUNT(tables); i++) *tables[i] = (copied_table){1, 0, 1, GOTRACE__ARENA_BLOCK, NULL, NULL};
  r->stacks = (copied_table){sizeof(gotrace__stack_frame), 0, 1, GOTRACE_STACK_SIZE, NULL, NULL};
  r->sites = (copied_table){0, sizeof(gotrace__site_key), 0, GOTRACE__ARENA_BLOCK, NULL, NULL};
  for (i = 0; i < COUNT(tables); i++)
    if (!(tables[i]->to = gotrace__table_new(NULL, true))) fail("out of memory");
  r->t = (gotrace__transcriber *)zeroed(sizeof *r->t);
  r->flight = set->flight_milliseconds * (uint64_t)1000000;
  r->cut_every = (set->cut_milliseconds ? set->cut_milliseconds : 1000) * (uint64_t)1000000;
  if (r->flight && r->cut_every > r->flight / 4) r->cut_every = r->flight / 4;
  r->last_id = (uint64_t)1 << 32;
  memset(&options, 0, sizeof options);
  options.version = set->format ? set->format : GOTRACE_GO_1_23;
  options.restate = r->flight != 0;
  options.cut_bytes = (size_t)4 << 20;
  options.session = GOTRACE__BOX_USED; /* the first, and only, one of the process */
  options.on = &r->box->state;
  options.strings = r->strings.to;
  options.stacks = r->stacks.to;
  options.sites = r->sites.to;
  options.reason_names = r->reason_names;
  options.go_ids = &r->last_id;
  options.first_task = 1;
  options.write = collect;
  options.name = name_place;
  options.chunk_done = free_copy;
  options.before_end = write_texts;
  options.sample = next_event;
  options.context = r;
  options.budget = &r->budget;
  options.beyond_limit = true;
  options.size_limit = r->size_limit = set->size_limit;
  options.most_places =
      r->size / (sizeof(gotrace_go) < sizeof(gotrace_proc) ? sizeof(gotrace_go) : sizeof(gotrace_proc));
  gotrace__read_clocks(&clocks);
  r->last_cut = clocks.nanoseconds;
  r->now = clocks;
  r->walker = walker_new(find_image, r);
  r->image_room = IMAGE_BYTES;
  if (!gotrace__transcribe_begin(r->t, &options, &clocks)) fail("out of memory");
  return r;
}

void recorder_pause(recorder *r) {
  r->paused = true;
  r->t->options.size_limit = 0; /* what is dropped does not count */
}

bool recorder_is_paused(const recorder *r) { return r->paused; }

bool recorder_is_used(const recorder *r) { return gotrace__load_acquire(&r->box->base) != 0; }

uint32_t recorder_said(const recorder *r) { return gotrace__load_acquire(&r->box->said) & SAID_WHY; }
uint32_t recorder_unreached(const recorder *r) { return gotrace__load_acquire(&r->box->said) >> SAID_UNREACHED_SHIFT; }
bool recorder_is_left(const recorder *r) { return gotrace__load_acquire(&r->box->said) & SAID_LEFT; }
bool recorder_is_sandboxed(const recorder *r) { return gotrace__load_acquire(&r->box->said) & SAID_SANDBOXED; }

/* All, or nothing if it is a regular file: part of a generation, as the disk is full, would make the trace unreadable.
 */
static bool write_data(int to, const bytes *data, size_t size) {
  off_t before = lseek(to, 0, SEEK_CUR);
  size_t at = 0;
  while (at < size) {
    ssize_t n = write(to, data->data + at, size - at);
    if (n == 0) errno = EIO;
    if (n == 0 || (n < 0 && errno != EINTR)) {
      int failure = errno;
      if (before >= 0 && ftruncate(to, before) == 0) lseek(to, before, SEEK_SET);
      errno = failure;
      return false;
    }
    if (n > 0) at += (size_t)n;
  }
  return true;
}

static void take_written(recorder *r, bytes *to, size_t size) {
  if (to) put_data(to, r->written.data, size);
  r->written.size -= size;
  memmove(r->written.data, r->written.data + size, r->written.size);
  r->complete -= size;
}

#define FLIGHT_BYTES ((size_t)48 << 20) /* at most, beside the last generation */

/* Keeps a generation for the flight recorder, and drops those that are too old or too much. */
static void keep_complete(recorder *r) {
  generation *g;
  size_t old = 0;
  if (!r->complete) return;
  if (!r->head.size) take_written(r, &r->head, GOTRACE__HEADER_SIZE);
  GROW(r->kept, r->kept_count, r->kept_capacity);
  g = &r->kept[r->kept_count++];
  *g = (generation){.end = r->now.nanoseconds};
  r->kept_bytes += r->complete;
  take_written(r, &g->data, r->complete);
  for (; old + 1 < r->kept_count; old++) {
    if (r->now.nanoseconds - r->kept[old].end < r->flight && r->kept_bytes <= FLIGHT_BYTES) break;
    r->kept_bytes -= r->kept[old].data.size;
    free(r->kept[old].data.data);
  }
  r->kept_count -= old;
  memmove(r->kept, r->kept + old, r->kept_count * sizeof *r->kept);
}

bool recorder_write_kept(const recorder *r, int to) {
  size_t i;
  if (!write_data(to, &r->head, r->head.size)) return false;
  for (i = 0; i < r->kept_count; i++)
    if (!write_data(to, &r->kept[i].data, r->kept[i].data.size)) return false;
  return true;
}

bool recorder_keeps(const recorder *r) { return r->flight != 0; }

bool recorder_wants_snapshot(recorder *r) {
  if (!r->flight || r->snapshots == gotrace__load_acquire(&r->box->snapshots)) return false;
  r->snapshots++;
  return true;
}

static void note_failure(recorder *r, bool written) {
  if (written) return;
  r->system_error = errno;
  stop_reading(r, GOTRACE_ERROR_SINK);
}

/* While the recorder is paused: keeps only the header. */
static void drop_complete(recorder *r) {
  bytes *w = &r->written;
  if (r->complete <= GOTRACE__HEADER_SIZE) return;
  memmove(w->data + GOTRACE__HEADER_SIZE, w->data + r->complete, w->size - r->complete);
  w->size -= r->complete - GOTRACE__HEADER_SIZE;
  r->complete = GOTRACE__HEADER_SIZE;
}

/* Writes the trace up to its last cut. */
static void write_complete(recorder *r, int to) {
  if (r->paused) {
    drop_complete(r);
    return;
  }
  if (r->flight) keep_complete(r);
  if (r->flight || to < 0 || !r->complete) return;
  note_failure(r, r->system_error || write_data(to, &r->written, r->complete));
  take_written(r, NULL, r->complete);
}

static bool read_box(recorder *r, int to, bool cut) {
  gotrace__transcriber *t = r->t;
  gotrace__clocks clocks;
  bool more, much, wanted = r->wanted != gotrace__load_acquire(&r->box->wanted);
  r->wanted = gotrace__load_acquire(&r->box->wanted);
  reserve_more(r);
  if (wanted) gotrace__pass_skew();
  much = read_all(r, &clocks);
  gotrace__store_release(&r->box->beats, gotrace__load_relaxed(&r->box->beats) + 1);
  if (gotrace__load_relaxed(&r->box->waiting))
    syscall(SYS_futex, &r->box->beats, 1 /* FUTEX_WAKE */, INT_MAX, NULL, NULL, 0);
  do {
    more = gotrace__transcribe_round(t, &clocks, false);
    if (!gotrace__transcribe_is_full(t) && clocks.nanoseconds - r->last_cut < r->cut_every &&
        (more || !(wanted || cut)))
      continue;
    gotrace__transcribe_cut(t);
    t->options.restate = r->flight != 0; /* see recorder_start */
    r->last_cut = clocks.nanoseconds;
    r->complete = r->written.size;
  } while (more);
  forget_ended(r);
  if (t->error) stop_reading(r, t->error);
  if (t->full) stop_reading(r, GOTRACE_LIMIT_REACHED);
  write_complete(r, to);
  gotrace__store_release(&r->box->done, r->wanted);
  return much;
}

bool recorder_read(recorder *r, int to) { return read_box(r, to, false); }

/* The second generation has the time of now; the first has that of its last event. */
void recorder_cut(recorder *r, int to) {
  read_box(r, to, true);
  read_box(r, to, true);
}

/* The trace begins with a generation that states what all are doing. */
void recorder_start(recorder *r, int to) {
  read_box(r, to, true);
  r->paused = false;
  r->dropped = r->t->events;
  r->t->options.restate = true;
  if (r->size_limit) r->t->options.size_limit = r->t->bytes + r->size_limit;
  if (r->events) perf_start(r->events);
}

void recorder_get_stats(const recorder *r, struct recorder_stats *to) {
  gotrace__clocks now;
  size_t i;
  gotrace__read_clocks(&now);
  memset(to, 0, sizeof *to);
  to->paused = r->paused;
  to->events = r->paused ? 0 : r->t->events - r->dropped;
  for (i = 0; i < r->stream_count; i++) to->threads += r->streams[i].source != NULL;
  to->since_cut = now.nanoseconds - r->last_cut;
  to->waits = gotrace__load_relaxed(&r->box->waits);
  to->used = gotrace__load_relaxed(&r->box->used);
  to->size = r->size;
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) to->problems += r->t->problems[i];
}

void recorder_wait(recorder *r, unsigned milliseconds) {
  struct timespec most = {0, milliseconds * 1000000L};
  syscall(SYS_futex, &r->box->wanted, 0 /* FUTEX_WAIT */, r->wanted, &most, NULL, 0);
}

static void free_stream(recorder *r, const stream *s) {
  gotrace__record_chunk *copy = s->source ? s->source->chunk : NULL, *next;
  for (; copy; copy = next) {
    next = copy->next;
    gotrace__chunk_free(&r->budget, copy);
  }
}

/* Reads the rest, and ends the trace. */
static void complete_trace(recorder *r, int to, struct trace_end *end) {
  gotrace__transcriber *t = r->t;
  const gotrace__box *box = r->box;
  gotrace__clocks clocks;
  gotrace_result said = (gotrace_result)gotrace__load_relaxed(&box->result);
  size_t i;
  gotrace__pass_skew();
  read_all(r, &clocks);
  if (gotrace__transcribe_finish(t, &clocks) != GOTRACE_OK) stop_reading(r, t->error);
  if (t->full) stop_reading(r, GOTRACE_LIMIT_REACHED);
  r->complete = r->written.size;
  write_complete(r, to);
  if (r->flight && to >= 0 && !r->paused) note_failure(r, recorder_write_kept(r, to));
  if (r->result == GOTRACE_OK && (said == GOTRACE_LIMIT_REACHED || said == GOTRACE_ERROR_OUT_OF_MEMORY))
    r->result = said;
  end->result = (int32_t)r->result;
  end->system_error = r->system_error;
  end->events = r->paused ? 0 : t->events - r->dropped;
  end->paused = r->paused;
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) end->problems[i] = t->problems[i];
  end->waits = gotrace__load_relaxed(&box->waits);
  end->unsampled = r->ticks && gotrace__load_relaxed(&r->ticks->given_up);
  end->problems[GOTRACE_PROBLEM_NO_MEMORY] += box->lost;
  end->problems[GOTRACE_PROBLEM_NESTED] += box->nested;
  end->problems[GOTRACE_PROBLEM_THREAD_OVER] += box->over;
}

static void free_recorder(recorder *r) {
  copied_table *const tables[] = {&r->strings, &r->stacks, &r->sites, &r->reasons, &r->modules};
  size_t i;
  for (i = 0; i < r->stream_count; i++) free_stream(r, &r->streams[i]);
  for (i = 0; i < r->ended_count; i++) free_stream(r, &r->ended[i]);
  gotrace__transcribe_free(r->t);
  free(r->t);
  for (i = 0; i < COUNT(tables); i++) gotrace__table_free(tables[i]->to);
  gotrace__modules_free();
  gotrace__modules.records = r->unloaded;
  gotrace__modules_free();
  munmap(r->box, r->size);
  free(r->entry.data);
  free(r->written.data);
  free(r->head.data);
  for (i = 0; i < r->kept_count; i++) free(r->kept[i].data.data);
  free(r->kept);
  free(r->streams);
  free(r->ended);
  free_samples(r);
  free(r);
}

void recorder_finish(recorder *r, int to, struct trace_end *end) {
  complete_trace(r, to, end);
  if (r->ticks) gotrace__store_relaxed(&r->ticks->over, 1u);
  gotrace__store_relaxed(&r->box->closed, 1u); /* the process may go on; its threads shall not wait for room */
  syscall(SYS_futex, &r->box->beats, 1 /* FUTEX_WAKE */, INT_MAX, NULL, NULL, 0);
  free_recorder(r);
}
#endif

#endif
