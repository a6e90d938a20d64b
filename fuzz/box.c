/* Fuzzes the recorder of `gotrace record`: it reads the memory of another process, which may have written any
 * bytes there and may write while they are read.
 *
 *     make fuzz-run-box
 *     build/fuzz-random/box -r RUNS LENGTH SEED
 *
 * A child process captures into a box once. Each input changes a copy of it, reads, changes it further and reads again,
 * a few times, and ends the trace. Changes are to fields that the recorder follows (pointers, sizes, numbers, ticks) or
 * to any word: to values at the limits, to addresses of other things in the box, or to the input's bytes. If the first
 * bit of the input is set, a thread makes further changes all the time.
 *
 * The recorder must neither crash nor run without end, its memory must be in proportion to the box and given back, and
 * the trace must be one that the decoder accepts. */
#define _GNU_SOURCE 1
#include "fuzz.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

/* Small tables, so that a box is copied quickly. */
#define GOTRACE__CHAINS ((size_t)64)
#define GOTRACE__ARENA_BLOCK ((size_t)8192)
#define MOST_MODULES 8
#define WRITE_H /* the part of the library that converts traces needs most of the tool */
#include "../examples/gotrace/library.c"

#ifdef GOTRACE__BOX
enum { BOX = 2 << 20, MOST_FIELDS = 4096, MOST_OBJECTS = 1024, MOST_SECONDS = 20 };

/* What a child process has left. */
static struct {
  uint8_t *bytes;
  size_t used;
  struct field {
    uint32_t at, size; /* in the box */
  } fields[MOST_FIELDS];
  uint64_t objects[MOST_OBJECTS]; /* addresses in the child */
  size_t field_count, object_count;
} made;

/* ------------------------------------------------------------------------------------------------- making a box ----
 */

static void *use_thread(void *ends) {
  gotrace_task task = gotrace_task_begin("request", GOTRACE_NO_TASK);
  int i;
  for (i = 0; i < 40; i++) {
    gotrace_region_begin(task, "step");
    gotrace_log(task, "key", "a text that is as long as texts often are");
    gotrace_wait_on(&made, gotrace_reason("sync: mutex"));
    gotrace_wait_end();
    gotrace_region_end(task, "step");
  }
  gotrace_task_end(task);
  if (!*(bool *)ends) pause();
  return NULL;
}

/* Modules without code of this program's, which is large: files that are not there, not regular, and no program. */
static void add_modules(gotrace__box *box) {
  static const char *const paths[] = {"/nothing/there.so", "/dev/zero", "/etc/passwd", "", "[vdso]"};
  gotrace__loaded at;
  size_t i;
  for (i = 0; i < COUNT(paths); i++) {
    size_t size = offsetof(gotrace__loaded, path) + strlen(paths[i]);
    memset(&at, 0, sizeof at);
    at.base = at.low = 0x1000 * (i + 1);
    at.high = i == 3 ? UINTPTR_MAX : at.low + 0x1000;
    at.unloads = i / 3;
    snprintf(at.path, sizeof at.path, "%s", paths[i]);
    (void)gotrace__text_put(box->modules, i, (const char *)&at, size);
  }
}

static void capture(gotrace__box *box) {
  static bool ends[3] = {true, false, true};
  gotrace_options options;
  pthread_t threads[3];
  size_t i;
  memset(&options, 0, sizeof options);
  if (gotrace__box_start(box, &options) != GOTRACE_OK) _exit(1);
  for (i = 0; i < 3; i++) {
    if (pthread_create(&threads[i], NULL, use_thread, &ends[i]) != 0) _exit(2);
    if (ends[i]) pthread_join(threads[i], NULL);
    else usleep(50000);
  }
  add_modules(box);
  gotrace__end_of(1, GOTRACE_OK);
  _exit(0);
}

static void add_field(const void *at, size_t size) {
  if (made.field_count == MOST_FIELDS) return;
  made.fields[made.field_count++] = (struct field){(uint32_t)((const uint8_t *)at - made.bytes), (uint32_t)size};
}

static void *find(const void *address) {
  const gotrace__box *box = (const gotrace__box *)(void *)made.bytes;
  if (!address) return NULL;
  if (made.object_count < MOST_OBJECTS) made.objects[made.object_count++] = (uint64_t)(uintptr_t)address;
  REQUIRE((uint64_t)(uintptr_t)address - box->base < made.used);
  return made.bytes + ((uint64_t)(uintptr_t)address - box->base);
}

#define FIELD(object, name) add_field(&(object)->name, sizeof(object)->name)

static void find_table(const gotrace__table *const *at) {
  const gotrace__table *table = (const gotrace__table *)find(*at);
  const gotrace__entry *entry;
  add_field(at, sizeof *at);
  FIELD(table, first);
  for (entry = (const gotrace__entry *)find(table->first); entry; entry = (const gotrace__entry *)find(entry->next)) {
    FIELD(entry, next);
    FIELD(entry, hash);
    FIELD(entry, id);
    FIELD(entry, size);
    add_field(entry + 1, 64);
  }
}

static void find_fields(void) {
  const gotrace__box *box = (const gotrace__box *)(void *)made.bytes;
  const gotrace__thread *m;
  const gotrace__record_chunk *chunk;
  size_t threads = 0, chunks = 0;
  add_field(box, sizeof *box);
  FIELD(box, wanted);
  FIELD(box, state);
  FIELD(box, base);
  FIELD(box, threads);
  FIELD(box, returned);
  for (m = (const gotrace__thread *)find(box->threads); m; m = (const gotrace__thread *)find(m->next), threads++) {
    FIELD(m, in_call);
    FIELD(m, index);
    FIELD(m, system_id);
    FIELD(m, used);
    FIELD(m, next);
    FIELD(m, first_session);
    FIELD(m, first);
    for (chunk = (const gotrace__record_chunk *)find(m->first); chunk;
         chunk = (const gotrace__record_chunk *)find(chunk->next), chunks++) {
      FIELD(chunk, next);
      FIELD(chunk, tick);
      FIELD(chunk, size);
      FIELD(chunk, session);
      FIELD(chunk, capacity);
      add_field(gotrace__chunk_data(chunk), chunk->size);
    }
  }
  REQUIRE(threads >= 3 && chunks >= 5);
  find_table((const gotrace__table *const *)&box->strings);
  find_table((const gotrace__table *const *)&box->stacks);
  find_table((const gotrace__table *const *)&box->sites);
  find_table((const gotrace__table *const *)&box->reasons);
  find_table((const gotrace__table *const *)&box->modules);
  REQUIRE(made.field_count > 100 && made.object_count > 20);
}

static void make_box(void) {
  int file = recorder_make_box(BOX), status = -1;
  void *box;
  pid_t child;
  REQUIRE(file >= 0);
  box = mmap(NULL, BOX, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  REQUIRE(box != MAP_FAILED);
  fflush(NULL);
  child = fork();
  REQUIRE(child >= 0);
  if (child == 0) capture((gotrace__box *)box);
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
  made.used = (size_t)((const gotrace__box *)box)->used;
  REQUIRE(made.used <= BOX);
  made.bytes = (uint8_t *)malloc(made.used);
  REQUIRE(made.bytes);
  memcpy(made.bytes, box, made.used);
  munmap(box, BOX);
  close(file);
  find_fields();
}

/* ----------------------------------------------------------------------------------------------------- changes ---- */

static uint64_t special(unsigned which, const struct field *field) {
  const gotrace__box *box = (const gotrace__box *)(void *)made.bytes;
  const uint64_t values[] = {0,
                             1,
                             2,
                             8,
                             UINT64_MAX,
                             (uint64_t)1 << 63,
                             (uint64_t)1 << 32,
                             UINT32_MAX,
                             INT32_MAX,
                             gotrace__now() + ((uint64_t)1 << 40), /* in the future */
                             gotrace__now() + 1000000,
                             GOTRACE__CHUNK_BYTES,
                             GOTRACE__CHUNK_BYTES + 1,
                             GOTRACE_STACK_SIZE,
                             GOTRACE_STACK_SIZE + 1,
                             GOTRACE__ARENA_BLOCK - sizeof(gotrace__entry) - 8,
                             GOTRACE__ARENA_BLOCK,
                             box->base,
                             box->base + BOX - 8,
                             box->base + BOX,
                             box->base + field->at, /* of itself */
                             box->base + field->at - offsetof(gotrace__thread, next),
                             GOTRACE__BOX_ENDED,
                             GOTRACE__ENDED};
  return values[which % COUNT(values)];
}

/* Makes one change, which the input chooses. */
static void change(uint8_t *box, fuzz_input *in) {
  unsigned how = (unsigned)fuzz_take(in, 1), i;
  struct field field = made.fields[fuzz_take(in, 2) % made.field_count];
  uint64_t value;
  if (how & 1) field.at = (uint32_t)(fuzz_take(in, 3) * 8 % made.used), field.size = 8;
  if (field.size > 8) {
    uint32_t offset = (uint32_t)(fuzz_take(in, 2) % field.size) & ~7u;
    field.at += offset;
    field.size -= offset;
  }
  if (field.size > 8) field.size = how & 2 ? 4 : 8;
  if (field.at + field.size > BOX) return;
  value = how & 4   ? special((unsigned)fuzz_take(in, 1), &field)
          : how & 8 ? made.objects[fuzz_take(in, 2) % made.object_count]
                    : fuzz_take(in, field.size);
  for (i = 0; i < field.size; i++) __atomic_store_n(&box[field.at + i], (uint8_t)(value >> 8 * i), __ATOMIC_RELAXED);
}

/* The thread that changes the box while it is read. */
static struct {
  uint8_t *box;
  uint64_t seed;
  bool over; /* atomic */
} other;

static void *write_box(void *unused) {
  uint64_t state = other.seed | 1;
  uint8_t bytes[16];
  unsigned i, turn = 0;
  while (!__atomic_load_n(&other.over, __ATOMIC_RELAXED)) {
    fuzz_input in = {bytes, bytes + sizeof bytes};
    if (++turn % 64 == 0) sched_yield(); /* on a busy machine it would have the reader wait for milliseconds */
    for (i = 0; i < sizeof bytes; i++) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      bytes[i] = (uint8_t)(state >> 32);
    }
    if (state % 4 == 0) { /* as it was, so that there is something to read again */
      const struct field *field = &made.fields[(state >> 8) % made.field_count];
      for (i = 0; i < field->size; i++)
        __atomic_store_n(&other.box[field->at + i], made.bytes[field->at + i], __ATOMIC_RELAXED);
    } else {
      change(other.box, &in);
    }
  }
  return unused;
}

/* ----------------------------------------------------------------------------------------------------- reading ---- */

static void check_trace(int file) {
  gotrace_decoder_options options;
  gotrace_decoder *decoder;
  gotrace_event event;
  gotrace_result result;
  size_t size = (size_t)lseek(file, 0, SEEK_END);
  void *data = mmap(NULL, size + 1, PROT_READ, MAP_PRIVATE, file, 0);
  REQUIRE(data != MAP_FAILED);
  memset(&options, 0, sizeof options);
  options.data = data;
  options.size = size;
  result = gotrace_decoder_open(&decoder, &options);
  while (result == GOTRACE_OK) result = gotrace_decoder_next(decoder, &event);
  if (result != GOTRACE_END_OF_TRACE && result != GOTRACE_ERROR_EMPTY)
    fprintf(stderr, "%s\n", gotrace_decoder_error(decoder)->message);
  REQUIRE(result == GOTRACE_END_OF_TRACE || result == GOTRACE_ERROR_EMPTY);
  gotrace_decoder_close(decoder);
  munmap(data, size + 1);
}

/* Bytes that this process has mapped. 0: not known, or of no use, since a sanitizer keeps what is freed. */
static size_t mapped_memory(void) {
  unsigned long long pages = 0;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%llu", &pages) != 1) pages = 0;
  if (file) fclose(file);
#endif
  return (size_t)pages * 4096;
}

static void check_memory(const recorder *r) {
  REQUIRE(r->budget.peak <= 8 * (size_t)BOX + (1 << 20));
  REQUIRE(r->copied <= 2 * (size_t)BOX);
  REQUIRE(r->written.capacity <= 64 * (size_t)BOX);
  REQUIRE(r->module_count <= MOST_MODULES + 1);
}

/* All that inputs have used has been given back: the process grows no more. */
static void check_growth(void) {
  static size_t count, at_first;
  if (++count == 200) at_first = mapped_memory();
  if (count % 200 == 0) REQUIRE(mapped_memory() <= at_first + ((size_t)128 << 20));
}

/* ------------------------------------------------------------------------------------------------ fixed cases ---- */

/* The box as the child has left it, for the file's mapping. */
static void restore(uint8_t *box) {
  memcpy(box, made.bytes, made.used);
  memset(box + made.used, 0, BOX - made.used);
}

static void *in(uint8_t *box, const void *address) {
  return box + ((uint64_t)(uintptr_t)address - ((const gotrace__box *)(void *)made.bytes)->base);
}

static gotrace__record_chunk *first_chunk(uint8_t *box) {
  const gotrace__thread *m = (const gotrace__thread *)in(box, ((gotrace__box *)(void *)box)->threads);
  return (gotrace__record_chunk *)in(box, m->first);
}

static gotrace__entry *first_entry(uint8_t *box, const gotrace__table *table) {
  return (gotrace__entry *)in(box, ((const gotrace__table *)in(box, table))->first);
}

static void leave(uint8_t *box) { (void)box; }

/* It is read twice: to give it back, the recorder changes the link. */
static void link_chunk_to_itself(uint8_t *box) {
  gotrace__record_chunk *chunk = first_chunk(box);
  const gotrace__thread *m = (const gotrace__thread *)in(box, ((gotrace__box *)(void *)box)->threads);
  chunk->next = m->first;
}

static void put_tick_in_the_future(uint8_t *box) { first_chunk(box)->tick = gotrace__now() + ((uint64_t)1 << 44); }

/* Where no box has room for so many; memory for those up to there would be 800 MB. */
static void put_proc_far_away(uint8_t *box) {
  gotrace__record *record = (gotrace__record *)(void *)gotrace__chunk_data(first_chunk(box));
  REQUIRE((record->head & 0xff) == GOTRACE__REC_THREAD);
  record->as_THREAD.proc = 60000000;
}

static void make_chunk_large(uint8_t *box) {
  first_chunk(box)->capacity = first_chunk(box)->size = GOTRACE__CHUNK_BYTES + 1;
}

static void make_stack_deep(uint8_t *box) {
  first_entry(box, ((gotrace__box *)(void *)box)->stacks)->size = GOTRACE_STACK_SIZE + 1;
}

/* Longer than a string in a trace may be. */
static void make_texts_long(uint8_t *box) {
  gotrace__entry *entry = first_entry(box, ((gotrace__box *)(void *)box)->strings);
  for (;; entry = (gotrace__entry *)in(box, entry->next)) {
    entry->size = 5000;
    if (!entry->next) break;
  }
}

/* Texts in one chain, if the hash is the one of the program. */
enum { COLLIDING = 10000 };
static void make_one_hash(uint8_t *box) {
  gotrace__entry *entry = first_entry(box, ((gotrace__box *)(void *)box)->strings);
  uint64_t text = 0, base = ((gotrace__box *)(void *)box)->base, at = (made.used + 7) / 8 * 8;
  uint32_t count;
  for (count = 2; count <= COLLIDING; count++, at += sizeof *entry + 16) {
    REQUIRE(at + sizeof *entry + 16 <= BOX);
    do text++;
    while (gotrace__hash_bytes((const char *)&text, sizeof text) % GOTRACE__CHAINS);
    entry->next = (gotrace__entry *)(uintptr_t)(base + at);
    entry = (gotrace__entry *)(void *)(box + at);
    memset(entry, 0, sizeof *entry);
    entry->id = count;
    entry->size = sizeof text;
    memcpy(entry + 1, &text, sizeof text);
  }
}

static void link_text_to_itself(uint8_t *box) {
  gotrace__entry *entry = first_entry(box, ((gotrace__box *)(void *)box)->strings);
  entry->next = ((gotrace__table *)in(box, ((gotrace__box *)(void *)box)->strings))->first;
}

static void check_chains(const recorder *r) {
  const gotrace__entry *entry;
  size_t i, most = 0, count;
  for (i = 0; i < GOTRACE__CHAINS; i++) {
    for (count = 0, entry = r->strings.to->chains[i]; entry; entry = entry->link) count++;
    if (count > most) most = count;
  }
  REQUIRE(most < COLLIDING / 8);
}

static const struct {
  const char *name;
  void (*change)(uint8_t *box);
  gotrace_result result;
  void (*check)(const recorder *r);
} cases[] = {
    {"as it was", leave, GOTRACE_OK, NULL},
    {"a chunk linked to itself", link_chunk_to_itself, GOTRACE_OK, NULL},
    {"a tick in the future", put_tick_in_the_future, GOTRACE_OK, NULL},
    {"a proc far away", put_proc_far_away, GOTRACE_OK, NULL},
    {"a chunk larger than they may be", make_chunk_large, GOTRACE_ERROR_ARGUMENT, NULL},
    {"a stack deeper than they may be", make_stack_deep, GOTRACE_ERROR_ARGUMENT, NULL},
    {"texts longer than they may be", make_texts_long, GOTRACE_OK, NULL},
    {"texts of one hash", make_one_hash, GOTRACE_OK, check_chains},
    {"a text linked to itself", link_text_to_itself, GOTRACE_ERROR_ARGUMENT, NULL},
};

static void run_cases(int file, uint8_t *box, int output) {
  struct record_settings settings;
  struct trace_end end;
  size_t i;
  memset(&settings, 0, sizeof settings);
  for (i = 0; i < 2 * COUNT(cases); i++) {
    recorder *r;
    settings.format = i % 2 ? GOTRACE_GO_1_21 : GOTRACE_GO_1_26;
    memset(&end, 0, sizeof end);
    REQUIRE(ftruncate(output, 0) == 0 && lseek(output, 0, SEEK_SET) == 0);
    restore(box);
    cases[i / 2].change(box);
    r = recorder_begin(file, BOX, &settings);
    REQUIRE(r);
    (void)recorder_read(r, output);
    (void)recorder_read(r, output);
    check_memory(r);
    if (cases[i / 2].check) cases[i / 2].check(r);
    recorder_finish(r, output, &end);
    if (end.result != (int32_t)cases[i / 2].result)
      fprintf(stderr, "%s: result %d\n", cases[i / 2].name, (int)end.result);
    REQUIRE(end.result == (int32_t)cases[i / 2].result);
    check_trace(output);
  }
}

/* More modules than there may be. */
static void load_many_modules(int file) {
  struct record_settings settings;
  struct trace_end end;
  gotrace__loaded at;
  recorder *r;
  size_t i;
  memset(&settings, 0, sizeof settings);
  memset(&at, 0, sizeof at);
  memset(&end, 0, sizeof end);
  r = recorder_begin(file, BOX, &settings);
  REQUIRE(r);
  for (i = 0; i < MOST_MODULES + 100; i++) {
    at.base = 4096 * (i + 1);
    at.unloads = i % 3;
    know_module(r, &at);
    REQUIRE((r->result == GOTRACE_OK) == (i < MOST_MODULES));
  }
  recorder_finish(r, -1, &end);
  REQUIRE(end.result == GOTRACE_ERROR_ARGUMENT && gotrace__modules.budget.used == 0);
}

/* As root, only a regular file of root's is read. */
static void open_files_of_others(void) {
  static gotrace__module_record record;
  gotrace__found found;
  char path[] = "/tmp/gotrace-box-XXXXXX";
  int to = mkstemp(path), from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), who;
  char part[1 << 16];
  ssize_t n;
  REQUIRE(to >= 0 && from >= 0);
  while ((n = read(from, part, sizeof part)) > 0) REQUIRE(write(to, part, (size_t)n) == n);
  close(from);
  memset(&found, 0, sizeof found);
  found.pc = (uintptr_t)open_files_of_others;
  REQUIRE(GOTRACE__C(dl_iterate_phdr)(gotrace__find_visit, &found) == 1);
  for (who = 0; who < (geteuid() == 0 ? 2 : 1); who++) {
    memset(&record, 0, sizeof record);
    record.at = found.at;
    snprintf(record.at.path, sizeof record.at.path, "%s", path);
    if (who == 1) REQUIRE(fchown(to, 65534, 65534) == 0);
    open_module(&record);
    REQUIRE((record.symbols.count != 0) == (who == 0));
    gotrace__elf_free(&record.symbols, &gotrace__modules.budget);
  }
  close(to);
  unlink(path);
}

/* CPU samples that the process's timers would not take. Some begin in this program's code, which is in the box, too. */
static void write_ticks(const recorder *r, fuzz_input *in) {
  uint32_t count = count_ticks(r->ticks_size), i, k;
  REQUIRE(count >= 2);
  for (i = 0; i < 2; i++) {
    struct tick *to = &r->ticks->place[fuzz_take(in, 1) % count];
    uintptr_t code = (uintptr_t)restore + fuzz_take(in, 2);
    unsigned how = (unsigned)fuzz_take(in, 1);
    uint64_t word = how & 1 ? code : fuzz_take(in, 8);
    to->nanoseconds = how & 2 ? fuzz_take(in, 8) : r->now.nanoseconds;
    to->thread = how & 4 ? (uint32_t)fuzz_take(in, 4) : (uint32_t)getpid();
    to->pc = how & 8 ? fuzz_take(in, 8) : code;
    to->sp = fuzz_take(in, how & 16 ? 8 : 1);
    to->fp = fuzz_take(in, how & 32 ? 8 : 2);
    to->stack_size = how & 64 ? (uint32_t)fuzz_take(in, 4) : TICK_STACK;
    for (k = 0; k < TICK_STACK; k += (uint32_t)sizeof word) memcpy(to->stack + k, &word, sizeof word);
    __atomic_store_n(&r->ticks->state[to - r->ticks->place], how & 128 ? how : (uint32_t)TICK_IS_READY,
                     __ATOMIC_RELEASE);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int file = -1, output = -1;
  static uint8_t *box; /* as the recorded process would have it */
  fuzz_input in = {data, data + size};
  struct record_settings settings;
  struct trace_end end;
  unsigned mode = (unsigned)fuzz_take(&in, 1), rounds = mode >> 1 & 3;
  pthread_t thread;
  recorder *r;
  if (!made.bytes) {
    hash_seed = 0x9e3779b97f4a7c15u; /* the tool's is random */
    make_box();
    file = recorder_make_box(BOX);
    output = memfd_create("trace", MFD_CLOEXEC);
    REQUIRE(file >= 0 && output >= 0);
    box = (uint8_t *)mmap(NULL, BOX, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    REQUIRE(box != MAP_FAILED);
    alarm(MOST_SECONDS);
    run_cases(file, box, output);
    load_many_modules(file);
    open_files_of_others();
  }
  alarm(MOST_SECONDS);
  memset(&settings, 0, sizeof settings);
  memset(&end, 0, sizeof end);
  settings.cut_milliseconds = mode & 8 ? 1 : 0;
  settings.format = mode & 16 ? GOTRACE_GO_1_21 : GOTRACE_GO_1_26;
  REQUIRE(ftruncate(output, 0) == 0 && lseek(output, 0, SEEK_SET) == 0);
  restore(box);
  r = recorder_begin(file, BOX, &settings);
  REQUIRE(r);
  if (mode & 32) {
    recorder_take_events(r, perf_begin(getpid(), false, false), false);
    REQUIRE(recorder_take_ticks(r, 250));
  }
  if (mode & 1) {
    other.box = box;
    other.seed = fuzz_take(&in, 4);
    other.over = false;
    REQUIRE(pthread_create(&thread, NULL, write_box, NULL) == 0);
  }
  while (in.at < in.end) {
    unsigned changes = 1 + (unsigned)fuzz_take(&in, 1) % 8;
    while (changes--) change(box, &in);
    if (mode & 32) write_ticks(r, &in);
    if (rounds) rounds--, (void)recorder_read(r, output);
    check_memory(r);
  }
  if (mode & 1)
    for (rounds = 0; rounds < 4; rounds++) (void)recorder_read(r, output), check_memory(r);
  recorder_finish(r, output, &end);
  if (mode & 1) {
    __atomic_store_n(&other.over, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
  }
  check_trace(output);
  check_growth();
  alarm(0);
  return 0;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return (void)data, (void)size, 0; }
#endif
