/* gotrace.c - looks into execution traces, cuts them, converts them
 *
 * What it teaches: how a program reads traces with the decoder of gotrace.h, raw and ordered, and what it takes to write one
 * anew from its events. It is also the tool to have at hand:
 *
 *     gotrace info FILE                               what is in it: times, goroutines, waits, latencies
 *     gotrace check FILE...                           whether Go would open it
 *     gotrace dump [--wire] [--json] FILE             every event
 *     gotrace cut --from TIME --to TIME [-o OUT] FILE a part of it, a trace by itself
 *     gotrace convert --to FORMAT [-o OUT] FILE       the same in another release's format
 *     gotrace export --chrome [-o OUT] FILE           for ui.perfetto.dev and chrome://tracing
 *
 *     cc -std=c11 -O2 -o gotrace examples/gotrace.c -I. -pthread
 *
 * FILE `-` is standard input. How the parts fit together:
 *
 *     decoder -> front end -> operations -> world -> consumer
 *
 * A front end for each family of formats turns events into operations, which are in all but name the events of Go 1.22 and later.
 * The world keeps what they tell: who runs where, what is open. Consumers (statistics, Chrome's JSON, the two writers)
 * see each operation together with the world before it, and so they need no state of their own for what a cut or
 * a generation must say first. */

#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64 /* for 32-bit processors */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include("stb_sprintf.h")
#define STB_SPRINTF_IMPLEMENTATION
#define STB_SPRINTF_STATIC
#define STB_SPRINTF_NOUNALIGNED
#include "stb_sprintf.h"
#elif __has_include(<stb/stb_sprintf.h>)
#define STB_SPRINTF_IMPLEMENTATION
#define STB_SPRINTF_STATIC
#define STB_SPRINTF_NOUNALIGNED
#include <stb/stb_sprintf.h>
#endif
#endif
#ifdef STB_SPRINTF_H_INCLUDE
#define FORMAT_TEXT stbsp_vsnprintf
#else
#define FORMAT_TEXT vsnprintf
#endif

#define GOTRACE_DISABLE 1 /* it reads, and is not traced itself */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

typedef unsigned long long ull;

/* --------------------------------------------------------------------------------------------------- failing ----
 *
 * A command either succeeds or leaves nothing behind: fail() takes the unfinished output with it, and so does a signal. */

static struct {
  const char *file;    /* of which the messages speak */
  char *volatile unfinished; /* path of the output while it is written; NULL: none */
  bool progress_shown; /* a line on the terminal is to be erased */
} program;

static void erase_progress(void) {
  if (program.progress_shown) fputs("\r\033[K", stderr);
  program.progress_shown = false;
}

__attribute__((format(printf, 1, 0))) static void complain(const char *format, va_list arguments) {
  erase_progress();
  fflush(stdout);
  fputs("gotrace: ", stderr);
  if (program.file) fprintf(stderr, "%s: ", strcmp(program.file, "-") == 0 ? "standard input" : program.file);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

__attribute__((format(printf, 1, 2))) static void report(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  complain(format, arguments);
  va_end(arguments);
}

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  complain(format, arguments);
  va_end(arguments);
  if (program.unfinished) unlink(program.unfinished);
  exit(1);
}

static void die(int signal_number) { /* as by the signal, whose effect it has again */
  if (program.unfinished) unlink(program.unfinished);
  raise(signal_number);
}

static void mind_signals(void) {
  static const int deadly[] = {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
  struct sigaction action;
  size_t i;
  for (i = 0; i < sizeof deadly / sizeof *deadly; i++) {
    if (sigaction(deadly[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    memset(&action, 0, sizeof action);
    action.sa_handler = die;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(deadly[i], &action, NULL);
  }
  signal(SIGXFSZ, SIG_IGN); /* a file that gets too large is an error like others */
}

static void *resize(void *memory, size_t size) {
  memory = realloc(memory, size ? size : 1);
  if (!memory) fail("out of memory");
  return memory;
}

/* Makes room for one more in an array of a capacity that grows by doubling. */
#define GROW(array, count, capacity)                                             \
  do {                                                                           \
    if ((count) == (capacity)) {                                                 \
      (capacity) = (capacity) ? 2 * (capacity) : 16;                             \
      (array) = resize((array), (size_t)(capacity) * sizeof *(array));           \
    }                                                                            \
  } while (0)

/* Zeroed memory that lives until the program ends: its blocks are a list, so that leak checkers see it. */
typedef struct kept {
  struct kept *next;
  max_align_t data[];
} kept;

static void *keep(size_t size) {
  static kept *blocks;
  static char *at;
  static size_t left;
  const size_t block_size = (size_t)1 << 16;
  size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
  if (size > left) {
    size_t room = size > block_size ? size : block_size;
    kept *block = resize(NULL, sizeof *block + room);
    memset(block->data, 0, room);
    block->next = blocks;
    blocks = block;
    at = (char *)block->data;
    left = room;
  }
  at += size;
  left -= size;
  return at - size;
}

/* From one time to a later one. Any times: those of a hostile trace lie as far apart as can be. */
static int64_t between(int64_t from, int64_t to) {
  uint64_t passed = (uint64_t)to - (uint64_t)from;
  return to <= from ? 0 : passed > INT64_MAX ? INT64_MAX : (int64_t)passed;
}

/* ------------------------------------------------------------------------------------------------------ maps ---- */

/* 64-bit keys, any of them, to pointers: open addressing, at most half full. */
typedef struct map {
  struct map_slot {
    uint64_t key;
    void *value; /* NULL: free */
  } *slots;
  size_t capacity, used;
  uint64_t fresh; /* no id from which fresh_id looked on is free below */
} map;

static uint64_t hash_seed; /* another in each run: which ids and texts meet in a table is not for a trace to choose */

static uint64_t mix(uint64_t key) {
  key ^= hash_seed;
  key ^= key >> 32;
  key *= 0x9e3779b97f4a7c15u;
  key ^= key >> 29;
  key *= 0xbf58476d1ce4e5b9u;
  return key ^ key >> 32;
}

static struct map_slot *map_slot_of(const map *m, uint64_t key) {
  size_t i = (size_t)mix(key) & (m->capacity - 1);
  while (m->slots[i].value && m->slots[i].key != key) i = (i + 1) & (m->capacity - 1);
  return &m->slots[i];
}

static void *map_get(const map *m, uint64_t key) { return m->used ? map_slot_of(m, key)->value : NULL; }

static void map_put(map *m, uint64_t key, void *value) {
  struct map_slot *slot;
  if (2 * (m->used + 1) > m->capacity) {
    map larger = *m;
    size_t i;
    larger.capacity = m->capacity ? 2 * m->capacity : 64;
    larger.slots = resize(NULL, larger.capacity * sizeof *larger.slots);
    memset(larger.slots, 0, larger.capacity * sizeof *larger.slots);
    for (i = 0; i < m->capacity; i++)
      if (m->slots[i].value) *map_slot_of(&larger, m->slots[i].key) = m->slots[i];
    free(m->slots);
    *m = larger;
  }
  slot = map_slot_of(m, key);
  m->used += slot->value == NULL;
  slot->key = key;
  slot->value = value;
}

/* ------------------------------------------------------------------------------------------------- the output ---- */

typedef struct bytes { /* grows as it is written */
  uint8_t *data;
  size_t size, capacity;
} bytes;

static uint8_t *bytes_room(bytes *b, size_t size) {
  if (b->capacity - b->size < size) {
    b->capacity = b->capacity * 2 + size + 64;
    b->data = resize(b->data, b->capacity);
  }
  return b->data + b->size;
}

static void put_data(bytes *b, const void *data, size_t size) {
  if (!size) return;
  memcpy(bytes_room(b, size), data, size);
  b->size += size;
}

static void put_byte(bytes *b, unsigned value) {
  *bytes_room(b, 1) = (uint8_t)value;
  b->size++;
}

static void put_number(bytes *b, uint64_t value) {
  uint8_t *start = bytes_room(b, GOTRACE_BYTES_PER_NUMBER), *at = start;
  for (; value >= 0x80; value >>= 7) *at++ = (uint8_t)(value | 0x80);
  *at++ = (uint8_t)value;
  b->size += (size_t)(at - start);
}

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

#define OUTPUT_BLOCK ((size_t)1 << 18)

static const char *output_name(const output *out) { return out->path ? out->path : "standard output"; }

static void output_flush(output *out) {
  if (out->block.size && fwrite(out->block.data, 1, out->block.size, out->file) != out->block.size)
    fail("%s: %s", output_name(out), strerror(errno));
  out->block.size = 0;
}

static void output_check(output *out) {
  if (out->block.size >= OUTPUT_BLOCK) output_flush(out);
}

static void output_direct(output *out) {
  memset(out, 0, sizeof *out);
  out->file = stdout;
}

/* What is to have the contents, if it is not to be a file: standard output, a device, a pipe. */
static void output_find(output *out, const char *path) {
  struct stat status;
  mode_t mask = umask(0);
  int fd;
  umask(mask);
  out->path = path;
  out->mode = 0666 & ~mask;
  if (!path) {
    out->into = stdout;
  } else if (lstat(path, &status) != 0) {
    out->target = strdup(path);
    if (!out->target) fail("out of memory");
  } else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
    fd = open(path, O_WRONLY);
    if (fd < 0 || !(out->into = fdopen(fd, "wb"))) fail("cannot write %s: %s", path, strerror(errno));
  } else { /* a file, or a link that leads nowhere */
    out->target = realpath(path, NULL);
    if (!out->target || access(path, W_OK) != 0) fail("cannot write %s: %s", path, strerror(errno));
    out->mode = status.st_mode & 0777;
  }
}

/* Opens a file beside the one that it is to become, or one without a name. */
static void output_open(output *out, const char *path) {
  const char *beside = getenv("TMPDIR");
  char *name;
  int fd;
  memset(out, 0, sizeof *out);
  output_find(out, path);
  if (!beside || !*beside) beside = "/tmp";
  if (out->target) beside = out->target;
  name = resize(NULL, strlen(beside) + 32);
  sprintf(name, out->target ? "%s.XXXXXX" : "%s/gotrace.XXXXXX", beside);
  program.unfinished = name;
  fd = mkstemp(name);
  if (fd < 0) {
    program.unfinished = NULL;
    fail("cannot write %s: %s", out->target ? path : beside, strerror(errno));
  }
  out->file = fdopen(fd, "w+b");
  if (!out->file) fail("%s: %s", name, strerror(errno));
  setvbuf(out->file, NULL, _IONBF, 0);
  if (!out->target) {
    unlink(name);
    program.unfinished = NULL;
    free(name);
  }
}

static void output_copy(output *out) {
  const char *name = output_name(out);
  char block[1 << 16];
  size_t size;
  rewind(out->file);
  while ((size = fread(block, 1, sizeof block, out->file)) != 0)
    if (fwrite(block, 1, size, out->into) != size) fail("%s: %s", name, strerror(errno));
  if (ferror(out->file) || fflush(out->into) != 0) fail("%s: %s", name, strerror(errno));
  if (out->into != stdout && fclose(out->into) != 0) fail("%s: %s", name, strerror(errno));
}

/* All is written: gives the file its name, with the rights that the old one had or a new one has. */
static void output_close(output *out) {
  output_flush(out);
  if (out->file == stdout) {
    if (fflush(stdout) != 0) fail("standard output: %s", strerror(errno));
  } else if (out->into) {
    output_copy(out);
    fclose(out->file);
  } else {
    char *name = program.unfinished;
    if (fchmod(fileno(out->file), out->mode) != 0 || fclose(out->file) != 0 || rename(name, out->target) != 0)
      fail("%s: %s", out->path, strerror(errno));
    program.unfinished = NULL;
    free(name);
  }
  free(out->target);
  free(out->block.data);
}

__attribute__((format(printf, 2, 3))) static void print(output *out, const char *format, ...) {
  const int room = 512; /* for all that is printed this way; texts of any length go through put_data */
  va_list arguments;
  int size;
  va_start(arguments, format);
  size = FORMAT_TEXT((char *)bytes_room(&out->block, (size_t)room), room, format, arguments);
  va_end(arguments);
  if (size > 0) out->block.size += (size_t)(size < room ? size : room - 1);
}

/* How many bytes of a text are one character of valid UTF-8; 0: they are not. */
static size_t utf8_length(const unsigned char *at, size_t size) {
  size_t length = *at < 0x80 ? 1 : *at >= 0xc2 && *at < 0xe0 ? 2 : (*at & 0xf0) == 0xe0 ? 3 : *at >= 0xf0 && *at < 0xf5 ? 4 : 0;
  size_t i;
  if (length > size) return 0;
  for (i = 1; i < length; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  if (length == 3 && ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0))) return 0; /* long, surrogate */
  if (length == 4 && ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] >= 0x90))) return 0;
  return length;
}

/* What stands for a byte where a trace must not speak to the terminal, or begin a line. */
static int visible(unsigned char byte) { return byte < 0x20 || byte == 0x7f ? '?' : byte; }

static void put_visible(output *out, const char *data, size_t size) {
  size_t i;
  for (i = 0; i < size; i++) put_byte(&out->block, (unsigned)visible((unsigned char)data[i]));
}

/* A text in quotes, as JSON wants it: a byte that is no UTF-8 becomes \u00XX. */
static void put_quoted(output *out, const char *data, size_t size) {
  const unsigned char *at = (const unsigned char *)data, *end = at + size, *plain = at;
  put_byte(&out->block, '"');
  while (at < end) {
    size_t length = *at < 0x20 || *at == '"' || *at == '\\' || *at == 0x7f ? 0 : utf8_length(at, (size_t)(end - at));
    if (length) {
      at += length;
      continue;
    }
    put_data(&out->block, plain, (size_t)(at - plain));
    if (*at == '"' || *at == '\\') print(out, "\\%c", *at);
    else print(out, "\\u%04x", (unsigned)*at);
    plain = ++at;
  }
  put_data(&out->block, plain, (size_t)(at - plain));
  put_byte(&out->block, '"');
}

/* ------------------------------------------------------------------------------------------------- the input ---- */

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

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t read_input(void *context, uint64_t offset, void *buffer, size_t size) {
  const input *in = context;
  ssize_t got;
  (void)offset; /* they follow one another */
  do got = read(in->fd, buffer, size);
  while (got < 0 && errno == EINTR);
  return got < 0 ? (size_t)-1 : (size_t)got;
}

static void input_copy(input *in) {
  for (;;) {
    size_t got = read_input(in, 0, bytes_room(&in->copy, 1 << 16), 1 << 16);
    if (got == (size_t)-1) fail("%s", strerror(errno));
    if (!got) break;
    in->copy.size += got;
  }
}

/* `again`: it will be decoded more than once. */
static bool input_open(input *in, const char *path, bool again) {
  struct stat status;
  memset(in, 0, sizeof *in);
  in->path = program.file = path;
  in->next_progress = seconds_now() + 1;
  in->fd = strcmp(path, "-") == 0 ? 0 : open(path, O_RDONLY);
  if (in->fd < 0 || fstat(in->fd, &status) != 0) {
    report("%s", strerror(errno));
    return false;
  }
  if (S_ISDIR(status.st_mode)) {
    report("%s", strerror(EISDIR));
    return false;
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0 && lseek(in->fd, 0, SEEK_CUR) == 0) {
    in->mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, in->fd, 0);
    if (in->mapped == MAP_FAILED) in->mapped = NULL;
    else in->size = (size_t)status.st_size;
  }
  if (!in->mapped && again) input_copy(in);
  return true;
}

/* Begins to decode, from the start of the trace. NULL decoder: out of memory. */
static gotrace_result input_decode(input *in, bool raw) {
  gotrace_decoder_options options = {0};
  gotrace_result result;
  options.raw = raw;
  if (in->mapped || in->copy.data) {
    options.data = in->mapped ? in->mapped : in->copy.data;
    options.size = in->mapped ? in->size : in->copy.size;
  } else {
    options.read = read_input;
    options.context = in;
  }
  gotrace_decoder_close(in->decoder);
  in->decoder = NULL;
  result = gotrace_decoder_open(&in->decoder, &options);
  if (!in->decoder) fail("%s", gotrace_result_string(result));
  return result;
}

static void input_progress(input *in, uint64_t offset) {
  double now = seconds_now();
  if (now < in->next_progress || !isatty(2)) return;
  in->next_progress = now + 0.2;
  if (in->size) fprintf(stderr, "\r%s: %3.0f %%\033[K", in->path, 100.0 * (double)offset / (double)in->size);
  else fprintf(stderr, "\r%s: %llu events\033[K", in->path, (ull)in->events);
  program.progress_shown = true;
}

static gotrace_result input_next(input *in, gotrace_event *event) {
  gotrace_result result = gotrace_decoder_next(in->decoder, event);
  if (result == GOTRACE_OK && !(++in->events & 0xffff)) input_progress(in, event->offset);
  return result;
}

static void input_close(input *in) {
  gotrace_decoder_close(in->decoder);
  if (in->mapped) munmap(in->mapped, in->size);
  if (in->fd > 0) close(in->fd);
  free(in->copy.data);
  erase_progress();
}

/* What the decoder has against the trace; the message has offset and event in it. */
static const char *input_error(const input *in) {
  const gotrace_decoder_failure *failure = gotrace_decoder_error(in->decoder);
  return failure->message[0] ? failure->message : gotrace_result_string(failure->result);
}

/* ------------------------------------------------------------------------------------- texts and stacks, for good ----
 *
 * The decoder's strings and stacks are valid until the next event; operations name these. Id 0: empty. */

typedef struct pool_text {
  const char *data;
  uint32_t size, hash;
  uint32_t stamp; /* the writer's generation that has it */
} pool_text;

typedef struct pool_frame {
  uint64_t pc, line;
  uint32_t function, file;
} pool_frame;

typedef struct pool_stack {
  const pool_frame *frames;
  uint32_t count, hash;
  uint32_t stamp;
} pool_stack;

#define REMEMBERED 4096 /* ids of the decoder whose texts or stacks are known */
typedef struct remembered {
  uint64_t id, epoch;
  uint32_t known;
} remembered;

static struct {
  pool_text *texts;
  pool_stack *stacks;
  uint32_t text_count, text_capacity, stack_count, stack_capacity;
  uint32_t *text_table, *stack_table; /* 1 + index, by hash */
  size_t text_slots, stack_slots;
  remembered of_texts[REMEMBERED], of_stacks[REMEMBERED];
  uint64_t epoch; /* changes when the decoder's ids get another meaning */
} pool;

static uint32_t hash_of(const void *data, size_t size) {
  const uint8_t *at = data;
  uint64_t hash = size, word;
  for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
    memcpy(&word, at, sizeof word);
    hash = mix(hash ^ word);
  }
  word = 0;
  memcpy(&word, at, size);
  return (uint32_t)mix(hash ^ word);
}

/* Doubles a table of indices when it is half full. HASH is the hash of the entry with an index. */
#define REHASH(table, slots, count, HASH)                                                    \
  do {                                                                                       \
    if (2 * ((size_t)(count) + 1) > (slots)) {                                               \
      uint32_t n_;                                                                           \
      (slots) = (slots) ? 2 * (slots) : 1024;                                                \
      (table) = resize((table), (slots) * sizeof *(table));                                  \
      memset((table), 0, (slots) * sizeof *(table));                                         \
      for (n_ = 0; n_ < (count); n_++) {                                                     \
        size_t slot_ = (HASH(n_)) & ((slots) - 1);                                           \
        while ((table)[slot_]) slot_ = (slot_ + 1) & ((slots) - 1);                          \
        (table)[slot_] = n_ + 1;                                                             \
      }                                                                                      \
    }                                                                                        \
  } while (0)
#define TEXT_HASH(n) (size_t) pool.texts[n].hash
#define STACK_HASH(n) (size_t) pool.stacks[n].hash

static uint32_t pool_put_text(const char *data, size_t size) {
  uint32_t hash;
  size_t slot;
  char *copy;
  if (!size) return 0;
  if (size > UINT32_MAX) size = UINT32_MAX;
  hash = hash_of(data, size);
  REHASH(pool.text_table, pool.text_slots, pool.text_count, TEXT_HASH);
  for (slot = hash & (pool.text_slots - 1); pool.text_table[slot]; slot = (slot + 1) & (pool.text_slots - 1)) {
    const pool_text *text = &pool.texts[pool.text_table[slot] - 1];
    if (text->hash == hash && text->size == size && memcmp(text->data, data, size) == 0) return pool.text_table[slot];
  }
  GROW(pool.texts, pool.text_count, pool.text_capacity);
  copy = keep(size);
  memcpy(copy, data, size);
  pool.texts[pool.text_count] = (pool_text){copy, (uint32_t)size, hash, 0};
  return pool.text_table[slot] = ++pool.text_count;
}

static uint32_t pool_put_string(const char *string) { return pool_put_text(string, strlen(string)); }

static pool_text pool_text_of(uint32_t id) { return id ? pool.texts[id - 1] : (pool_text){"", 0, 0, 0}; }

static bool pool_text_is(uint32_t id, const char *string) {
  pool_text text = pool_text_of(id);
  return text.size == strlen(string) && memcmp(text.data, string, text.size) == 0;
}

static uint32_t pool_put_stack(const pool_frame *frames, uint32_t count) {
  uint32_t hash;
  size_t slot;
  pool_frame *copy;
  if (!count) return 0;
  hash = hash_of(frames, count * sizeof *frames);
  REHASH(pool.stack_table, pool.stack_slots, pool.stack_count, STACK_HASH);
  for (slot = hash & (pool.stack_slots - 1); pool.stack_table[slot]; slot = (slot + 1) & (pool.stack_slots - 1)) {
    const pool_stack *stack = &pool.stacks[pool.stack_table[slot] - 1];
    if (stack->hash == hash && stack->count == count && memcmp(stack->frames, frames, count * sizeof *frames) == 0)
      return pool.stack_table[slot];
  }
  GROW(pool.stacks, pool.stack_count, pool.stack_capacity);
  copy = keep(count * sizeof *frames);
  memcpy(copy, frames, count * sizeof *frames);
  pool.stacks[pool.stack_count] = (pool_stack){copy, count, hash, 0};
  return pool.stack_table[slot] = ++pool.stack_count;
}

static pool_stack pool_stack_of(uint32_t id) { return id ? pool.stacks[id - 1] : (pool_stack){NULL, 0, 0, 0}; }

/* As much of a text as Go takes: it cuts between characters. */
static size_t cut_size(const char *data, size_t size) {
  size_t cut = GOTRACE_MAX_STRING_SIZE;
  if (size <= cut) return size;
  while (cut > GOTRACE_MAX_STRING_SIZE - 4 && ((uint8_t)data[cut] & 0xc0) == 0x80) cut--;
  return cut;
}

/* A frame of format 1.5 is its pc alone, and gets it for a name. Few bytes of a trace can name a text of a megabyte. */
static pool_frame pool_frame_of(const gotrace_frame *frame) {
  pool_frame made = {frame->pc, frame->line, 0, 0};
  char name[32];
  made.function = pool_put_text(frame->function, cut_size(frame->function, frame->function_size));
  made.file = pool_put_text(frame->file, cut_size(frame->file, frame->file_size));
  if (!made.function && frame->pc) {
    snprintf(name, sizeof name, "0x%llx", (ull)frame->pc);
    made.function = pool_put_string(name);
  }
  return made;
}

static remembered *recall(remembered *memory, uint64_t id) {
  remembered *r = &memory[mix(id) % REMEMBERED];
  if (r->id == id && r->epoch == pool.epoch) return r;
  r->id = id;
  r->epoch = pool.epoch;
  r->known = UINT32_MAX;
  return r;
}

static uint32_t take_text(const gotrace_decoder *decoder, uint64_t id) {
  remembered *r;
  const char *data;
  size_t size;
  if (!id) return 0;
  r = recall(pool.of_texts, id);
  if (r->known == UINT32_MAX) r->known = gotrace_decoder_string(decoder, id, &data, &size) ? pool_put_text(data, size) : 0;
  return r->known;
}

#define MOST_FRAMES 1000
static uint32_t take_stack(const gotrace_decoder *decoder, uint64_t id) {
  gotrace_frame frames[MOST_FRAMES];
  pool_frame mine[MOST_FRAMES];
  remembered *r;
  size_t count, i;
  if (!id) return 0;
  r = recall(pool.of_stacks, id);
  if (r->known != UINT32_MAX) return r->known;
  count = gotrace_decoder_stack(decoder, id, frames, MOST_FRAMES);
  if (count > MOST_FRAMES) count = MOST_FRAMES;
  memset(mine, 0, count * sizeof *mine);
  for (i = 0; i < count; i++) mine[i] = pool_frame_of(&frames[i]);
  return r->known = pool_put_stack(mine, (uint32_t)count);
}

/* The stack that has one frame of another only: its outermost, the function that a goroutine began with. */
static uint32_t outermost(uint32_t stack) {
  pool_stack s = pool_stack_of(stack);
  return s.count > 1 ? pool_put_stack(&s.frames[s.count - 1], 1) : stack;
}

/* --------------------------------------------------------------------------------------------------- the world ---- */

enum { GO_NONE, GO_RUNNABLE, GO_RUNNING, GO_SYSCALL, GO_WAITING };               /* as in v2's GoStatus */
enum { PROC_NONE, PROC_RUNNING, PROC_IDLE, PROC_SYSCALL, PROC_ABANDONED };       /* ProcStatus */
#define NOBODY UINT64_MAX

typedef struct thread thread;
typedef struct proc proc;
typedef struct function function;

typedef struct goroutine {
  uint64_t id;
  struct goroutine *previous, *next; /* of those that live */
  thread *m;                         /* while it runs or is in a system call */
  function *function;                /* statistics */
  int64_t since;                     /* when it got its status */
  int64_t lost_proc;                 /* front end of v1: when, in its system call; 0: has it, or unknown */
  uint32_t entry;                    /* stack: of the function that it began with, 0: unknown */
  uint32_t reason;                   /* text: why it waits */
  uint32_t stack;                    /* with which it got its status, 0: unknown */
  uint8_t status;
  uint8_t stw;   /* stopped worlds that it began */
  bool assist;   /* in a mark assist */
  bool timer;    /* v1: it runs timers; its unblocks are shown apart */
  bool unborn;   /* the format has no event for goroutines that begin blocked: created when first unblocked */
  /* The writers': */
  uint64_t sequence;
  uint64_t v1_id, v1_sequence; /* v1 uses no id twice */
  uint8_t v1_status;
  bool timer_told;
  /* Chrome: */
  int64_t slice;  /* since when it is on its proc */
  uint64_t arrow; /* 0: none */
} goroutine;

struct proc {
  uint64_t id;
  proc *next;
  thread *m;
  int64_t since;
  double running; /* statistics: nanoseconds */
  uint8_t status;
  bool sweep;
  /* The writers': */
  uint64_t sequence;
  bytes batch;            /* v1 */
  uint64_t tick, v1_id;
  goroutine *v1_go;       /* that readers take to run on it */
  uint64_t v1_sequence;   /* of its start, while that is not yet written: a label may follow; 0: it is */
  int64_t v1_start;
  bool v1_running, named;
};

struct thread {
  uint64_t id;
  thread *next;
  goroutine *g;
  proc *p;
  bool seen;       /* while looking for what was there before */
  bytes batch;     /* v2 */
  uint64_t tick, start; /* of the batch's last event, and first */
};

struct function {
  function *next;
  uint32_t name;
  uint64_t goroutines;
  double running, blocked; /* nanoseconds */
};

typedef struct experiment { /* a batch of one, whose events need it */
  uint64_t number, thread;
  uint32_t data; /* text */
} experiment;

typedef struct world {
  map gos, procs, threads;
  goroutine *live, *newest; /* the oldest first */
  proc *proc_list;
  thread *thread_list;
  thread *last_running; /* a thread on which a goroutine ran lately */
  size_t proc_count, thread_count;
  uint64_t gomaxprocs; /* 0: unknown */
  experiment *experiments; /* of the source's generation */
  size_t experiment_count, experiment_capacity;
  unsigned stw; /* stopped worlds */
  bool gc;
  uint64_t wall_seconds, wall_nanoseconds;
  int64_t wall_time; /* of the clock snapshot that tells the other two; all 0: unknown */
  struct statistics *statistics; /* or NULL */
} world;

static goroutine *world_go(const world *w, uint64_t id) {
  goroutine *g = map_get(&w->gos, id);
  return g && g->status != GO_NONE ? g : NULL;
}

static proc *world_proc(world *w, uint64_t id, bool add) {
  proc *p = map_get(&w->procs, id);
  if (p || !add) return p;
  p = keep(sizeof *p);
  p->id = id;
  p->next = w->proc_list;
  w->proc_list = p;
  w->proc_count++;
  map_put(&w->procs, id, p);
  return p;
}

static thread *world_thread(world *w, uint64_t id) {
  thread *m = map_get(&w->threads, id);
  if (m) return m;
  m = keep(sizeof *m);
  m->id = id;
  m->next = w->thread_list;
  w->thread_list = m;
  w->thread_count++;
  map_put(&w->threads, id, m);
  return m;
}

/* Ids for what the source does not have. */
static uint64_t fresh_id(map *m, uint64_t from) {
  if (m->fresh < from) m->fresh = from;
  while (map_get(m, m->fresh)) m->fresh++;
  return m->fresh;
}
#define FRESH_THREAD ((uint64_t)1 << 40)
#define FRESH_GO ((uint64_t)1 << 40)
#define FRESH_PROC ((uint64_t)900000) /* below GOTRACE_FAKE_PROC, which viewers of v1 count on */

static thread *fresh_thread(world *w) { return world_thread(w, fresh_id(&w->threads, FRESH_THREAD + w->thread_count)); }

/* Whether a goroutine runs on a thread, so that user code can have made an event there. */
static bool runs(const thread *m) { return m && m->p && m->g && m->g->status == GO_RUNNING; }

/* -------------------------------------------------------------------------------------------------- operations ---- */

typedef struct op {
  unsigned kind; /* GOTRACE_V2_... */
  int64_t time;
  thread *m;           /* on which it happens, or NULL */
  uint64_t id;         /* the goroutine, proc, task or number of procs that it speaks of */
  uint64_t a[3];       /* status; parent; bytes; swept, reclaimed; of a sample thread, proc, goroutine */
  uint32_t stack;      /* its own */
  uint32_t new_stack;  /* of a new goroutine, of the status of one: the function that it began with */
  uint32_t name;       /* reason, kind, name, category */
  uint32_t value;      /* message */
} op;

static void statistics_go(world *w, goroutine *g, int64_t time, uint8_t status);

static void go_status(world *w, goroutine *g, int64_t time, uint8_t status, thread *m) {
  if (w->statistics) statistics_go(w, g, time, status);
  if (g->m && g->m->g == g && g->m != m) g->m->g = NULL;
  g->status = status;
  g->stack = 0;
  g->since = time;
  g->m = m;
  if (m) m->g = g;
}

/* The record of a goroutine that may not be there: an id can come again. */
static goroutine *go_record(world *w, uint64_t id) {
  goroutine *g = map_get(&w->gos, id);
  if (g) return g;
  g = keep(sizeof *g);
  g->id = g->v1_id = id;
  map_put(&w->gos, id, g);
  return g;
}

/* A goroutine that was not there. */
static void go_new(world *w, uint64_t id, int64_t time, uint8_t status, thread *m, uint32_t entry) {
  goroutine *g = go_record(w, id);
  if (g->status == GO_NONE) {
    g->previous = w->newest;
    g->next = NULL;
    if (g->previous) g->previous->next = g;
    else w->live = g;
    w->newest = g;
  }
  g->m = NULL;
  g->function = NULL;
  g->entry = entry;
  g->reason = 0;
  g->lost_proc = 0;
  g->stw = 0;
  g->assist = g->unborn = false;
  g->sequence = 0;
  g->arrow = 0;
  go_status(w, g, time, status, m);
}

static void go_end(world *w, goroutine *g, int64_t time) {
  w->stw -= g->stw;
  g->stw = 0;
  go_status(w, g, time, GO_NONE, NULL);
  if (g->previous) g->previous->next = g->next;
  else w->live = g->next;
  if (g->next) g->next->previous = g->previous;
  else w->newest = g->previous;
}

static void proc_status(proc *p, int64_t time, uint8_t status, thread *m) {
  if (p->status == PROC_RUNNING || p->status == PROC_SYSCALL) p->running += (double)between(p->since, time);
  if (p->m && p->m->p == p && p->m != m) p->m->p = NULL;
  p->status = status;
  p->since = time;
  p->m = m;
  if (m) m->p = p;
}

static void apply_stw(world *w, goroutine *g, bool begins) {
  if (!g || (begins ? g->stw == UINT8_MAX : g->stw == 0)) return;
  g->stw = (uint8_t)(begins ? g->stw + 1 : g->stw - 1);
  w->stw += begins ? 1u : (unsigned)-1;
}

static void apply_proc(world *w, const op *o) {
  thread *m = o->m;
  proc *p = o->kind == GOTRACE_V2_PROC_STOP ? (m ? m->p : NULL) : world_proc(w, o->id, true);
  if (!p) return;
  switch (o->kind) {
    case GOTRACE_V2_PROC_START: proc_status(p, o->time, PROC_RUNNING, m); break;
    case GOTRACE_V2_PROC_STATUS:
      p->sequence = 0;
      proc_status(p, o->time, (uint8_t)o->a[0], o->a[0] == PROC_RUNNING || o->a[0] == PROC_SYSCALL ? m : NULL);
      break;
    default: proc_status(p, o->time, PROC_IDLE, NULL); break; /* stop, steal */
  }
}

/* What an operation does to the goroutine that it names. */
static void apply_other(world *w, const op *o) {
  goroutine *g = world_go(w, o->id);
  switch (o->kind) {
    case GOTRACE_V2_GO_CREATE: go_new(w, o->id, o->time, GO_RUNNABLE, NULL, o->new_stack); break;
    case GOTRACE_V2_GO_CREATE_BLOCKED:
      go_new(w, o->id, o->time, GO_WAITING, NULL, o->new_stack);
      break;
    case GOTRACE_V2_GO_CREATE_SYSCALL: go_new(w, o->id, o->time, GO_SYSCALL, o->m, 0); break;
    case GOTRACE_V2_GO_STATUS:
      go_new(w, o->id, o->time, (uint8_t)o->a[0], o->a[0] == GO_RUNNING || o->a[0] == GO_SYSCALL ? o->m : NULL, o->new_stack);
      go_record(w, o->id)->stack = o->stack;
      break;
    case GOTRACE_V2_GO_UNBLOCK:
      if (!g) break;
      go_status(w, g, o->time, GO_RUNNABLE, NULL);
      g->unborn = false;
      break;
    default: /* GoStart */
      if (g) go_status(w, g, o->time, GO_RUNNING, o->m);
      w->last_running = o->m;
      break;
  }
}

/* What an operation does to the goroutine that it happens on. */
static void apply_own(world *w, const op *o) {
  thread *m = o->m;
  goroutine *g = m ? m->g : NULL;
  if (!g) return;
  switch (o->kind) {
    case GOTRACE_V2_GO_SWITCH_DESTROY:
    case GOTRACE_V2_GO_DESTROY: go_end(w, g, o->time); break;
    case GOTRACE_V2_GO_DESTROY_SYSCALL:
      if (m->p) proc_status(m->p, o->time, PROC_ABANDONED, NULL);
      go_end(w, g, o->time);
      break;
    case GOTRACE_V2_GO_STOP:
    case GOTRACE_V2_GO_SYSCALL_END_BLOCKED:
      go_status(w, g, o->time, GO_RUNNABLE, NULL);
      g->stack = o->stack;
      break;
    case GOTRACE_V2_GO_SWITCH:
    case GOTRACE_V2_GO_BLOCK:
      go_status(w, g, o->time, GO_WAITING, NULL);
      g->reason = o->name;
      g->stack = o->stack;
      break;
    case GOTRACE_V2_GO_SYSCALL_BEGIN:
      go_status(w, g, o->time, GO_SYSCALL, m);
      g->stack = o->stack;
      if (m->p) proc_status(m->p, o->time, PROC_SYSCALL, m);
      break;
    case GOTRACE_V2_GO_SYSCALL_END:
      go_status(w, g, o->time, GO_RUNNING, m);
      if (m->p) proc_status(m->p, o->time, PROC_RUNNING, m);
      w->last_running = m;
      break;
    case GOTRACE_V2_STW_BEGIN: apply_stw(w, g, true); break;
    case GOTRACE_V2_STW_END: apply_stw(w, g, false); break;
    default: g->assist = o->kind == GOTRACE_V2_GC_MARK_ASSIST_BEGIN; break;
  }
}

static void apply(world *w, const op *o) {
  goroutine *g;
  switch (o->kind) {
    case GOTRACE_V2_PROCS_CHANGE: w->gomaxprocs = o->id; break;
    case GOTRACE_V2_PROC_START:
    case GOTRACE_V2_PROC_STOP:
    case GOTRACE_V2_PROC_STEAL:
    case GOTRACE_V2_PROC_STATUS: apply_proc(w, o); break;
    case GOTRACE_V2_GO_CREATE:
    case GOTRACE_V2_GO_CREATE_BLOCKED:
    case GOTRACE_V2_GO_CREATE_SYSCALL:
    case GOTRACE_V2_GO_STATUS:
    case GOTRACE_V2_GO_UNBLOCK:
    case GOTRACE_V2_GO_START: apply_other(w, o); break;
    case GOTRACE_V2_GO_SWITCH:
    case GOTRACE_V2_GO_SWITCH_DESTROY:
      apply_own(w, o);
      g = world_go(w, o->id);
      if (g) go_status(w, g, o->time, GO_RUNNING, o->m);
      break;
    case GOTRACE_V2_GO_DESTROY:
    case GOTRACE_V2_GO_DESTROY_SYSCALL:
    case GOTRACE_V2_GO_STOP:
    case GOTRACE_V2_GO_BLOCK:
    case GOTRACE_V2_GO_SYSCALL_BEGIN:
    case GOTRACE_V2_GO_SYSCALL_END:
    case GOTRACE_V2_GO_SYSCALL_END_BLOCKED:
    case GOTRACE_V2_STW_BEGIN:
    case GOTRACE_V2_STW_END:
    case GOTRACE_V2_GC_MARK_ASSIST_BEGIN:
    case GOTRACE_V2_GC_MARK_ASSIST_END: apply_own(w, o); break;
    case GOTRACE_V2_EXPERIMENTAL_BATCH:
      GROW(w->experiments, w->experiment_count, w->experiment_capacity);
      w->experiments[w->experiment_count++] = (experiment){o->a[0], o->a[1], o->value};
      break;
    case GOTRACE_V2_GC_ACTIVE:
    case GOTRACE_V2_GC_BEGIN: w->gc = true; break;
    case GOTRACE_V2_GC_END: w->gc = false; break;
    case GOTRACE_V2_GC_SWEEP_BEGIN:
    case GOTRACE_V2_GC_SWEEP_END:
      if (o->m && o->m->p) o->m->p->sweep = o->kind == GOTRACE_V2_GC_SWEEP_BEGIN;
      break;
    default: break;
  }
}

/* ---------------------------------------------------------------------------------------------------- the source ---- */

/* Takes operations. The world is as it was before each. */
typedef struct consumer {
  void (*begin)(struct consumer *, int64_t time); /* the world is as it was before the first */
  void (*take)(struct consumer *, const op *);
  void (*end)(struct consumer *, int64_t time);   /* of the trace, or the part of it: things may have lasted until then */
  world *w;
  int format;    /* of the output, 0: any */
  int family;    /* of the input */
  bool statuses; /* takes GoStatus now: else it is told that goroutines are created */
  int64_t base;  /* time of the source's first event */
} consumer;

typedef struct source {
  input *in;
  world w;
  consumer *to;
  int format;
  int64_t from, until;   /* since the first event */
  int64_t first, end;    /* times of the first event and of the last one that was read */
  bool any, begun, over; /* there was an event; the consumer has begun; it is past `until` */
  bool told;             /* there was more than the ends of generations */
  /* v1: */
  op held;    /* waits for the event after it; kind 0: none */
  op *intros; /* goroutines that are older than the trace, until the first other event */
  uint32_t intro_count, intro_capacity;
  map intro_places;   /* goroutine to 1 + index */
  bool started;       /* there was such an event */
  goroutine *stw;     /* that began the stopped world */
  uint8_t *blocking;  /* a bit each system call: it lost its proc */
  size_t calls, calls_capacity;
} source;

static void deliver(source *s, const op *o) {
  if (s->begun) s->to->take(s->to, o);
  apply(&s->w, o);
}

/* Formats without coroutines: a switch is an unblock, a block and a start; who begins blocked is created by its first unblock. */
static void deliver_lowered(source *s, const op *o) {
  op part = {0};
  part.time = o->time;
  part.m = o->m;
  part.kind = GOTRACE_V2_GO_UNBLOCK;
  part.id = o->id;
  part.stack = o->stack;
  deliver(s, &part);
  part.kind = o->kind == GOTRACE_V2_GO_SWITCH ? GOTRACE_V2_GO_BLOCK : GOTRACE_V2_GO_DESTROY;
  part.name = pool_put_string("unspecified");
  deliver(s, &part);
  part.kind = GOTRACE_V2_GO_START;
  deliver(s, &part);
}

static void begin(source *s) {
  s->begun = true;
  s->to->base = s->first;
  s->to->begin(s->to, s->first + s->from);
}

static void give(source *s, const op *o);

/* Who turns out to have been there where the format can no longer say so is created. */
static void give_created(source *s, const op *status) {
  op o = *status;
  o.kind = o.a[0] == GO_WAITING   ? GOTRACE_V2_GO_CREATE_BLOCKED
           : o.a[0] == GO_SYSCALL ? GOTRACE_V2_GO_CREATE_SYSCALL
                                  : GOTRACE_V2_GO_CREATE;
  if (o.a[0] == GO_WAITING || o.a[0] == GO_RUNNABLE) o.m = NULL;
  o.stack = 0; /* its own, not its creator's */
  give(s, &o);
  if (o.a[0] != GO_RUNNING) return;
  o.kind = GOTRACE_V2_GO_START;
  give(s, &o);
}

/* An operation on its way. */
static void give(source *s, const op *o) {
  bool coroutines = !s->to->format || s->to->format >= GOTRACE_GO_1_23;
  if (s->over) return;
  if (between(s->first, o->time) > s->until) {
    s->over = true;
    return;
  }
  if (!s->begun && between(s->first, o->time) >= s->from) begin(s);
  if (!coroutines && (o->kind == GOTRACE_V2_GO_SWITCH || o->kind == GOTRACE_V2_GO_SWITCH_DESTROY)) {
    deliver_lowered(s, o);
    return;
  }
  if (s->begun && !s->to->statuses && o->kind == GOTRACE_V2_GO_STATUS) {
    give_created(s, o);
    return;
  }
  deliver(s, o);
  if (!coroutines && o->kind == GOTRACE_V2_GO_CREATE_BLOCKED) {
    goroutine *g = world_go(&s->w, o->id);
    if (g) g->unborn = true;
  }
}

static void give_held(source *s) {
  op held = s->held;
  s->held.kind = 0;
  if (held.kind) give(s, &held);
}

/* What has been there since before the trace: known from the start, if the consumer has not begun. */
static void introduce(source *s, const op *o) {
  if (s->begun) give(s, o);
  else apply(&s->w, o);
}

/* --------------------------------------------------------------------------------------------- front end for v2 ---- */

static op op_of(const gotrace_event *e, thread *m) {
  op o = {0};
  o.kind = e->kind;
  o.time = e->time;
  o.m = m;
  return o;
}

/* Where the arguments of an event stand: letters for its fields. i id, a b c numbers, n name, v value, N new stack, S its own
 * stack, . nothing. One letter an argument. */
static const char *const v2_arguments[256] = {
    [GOTRACE_V2_PROCS_CHANGE] = "iS",
    [GOTRACE_V2_PROC_START] = "i.",
    [GOTRACE_V2_PROC_STOP] = "",
    [GOTRACE_V2_PROC_STEAL] = "i..",
    [GOTRACE_V2_GO_CREATE] = "iNS",
    [GOTRACE_V2_GO_CREATE_SYSCALL] = "i",
    [GOTRACE_V2_GO_START] = "i.",
    [GOTRACE_V2_GO_DESTROY] = "",
    [GOTRACE_V2_GO_DESTROY_SYSCALL] = "",
    [GOTRACE_V2_GO_STOP] = "nS",
    [GOTRACE_V2_GO_BLOCK] = "nS",
    [GOTRACE_V2_GO_UNBLOCK] = "i.S",
    [GOTRACE_V2_GO_SYSCALL_BEGIN] = ".S",
    [GOTRACE_V2_GO_SYSCALL_END] = "",
    [GOTRACE_V2_GO_SYSCALL_END_BLOCKED] = "",
    [GOTRACE_V2_STW_BEGIN] = ".S",
    [GOTRACE_V2_STW_END] = "",
    [GOTRACE_V2_GC_BEGIN] = ".S",
    [GOTRACE_V2_GC_END] = ".",
    [GOTRACE_V2_GC_SWEEP_BEGIN] = "S",
    [GOTRACE_V2_GC_SWEEP_END] = "ab",
    [GOTRACE_V2_GC_MARK_ASSIST_BEGIN] = "S",
    [GOTRACE_V2_GC_MARK_ASSIST_END] = "",
    [GOTRACE_V2_HEAP_ALLOC] = "a",
    [GOTRACE_V2_HEAP_GOAL] = "a",
    [GOTRACE_V2_GO_LABEL] = "n",
    [GOTRACE_V2_USER_TASK_BEGIN] = "ianS",
    [GOTRACE_V2_USER_TASK_END] = "iS",
    [GOTRACE_V2_USER_REGION_BEGIN] = "inS",
    [GOTRACE_V2_USER_REGION_END] = "inS",
    [GOTRACE_V2_USER_LOG] = "invS",
    [GOTRACE_V2_GO_SWITCH] = "i.",
    [GOTRACE_V2_GO_SWITCH_DESTROY] = "i.",
    [GOTRACE_V2_GO_CREATE_BLOCKED] = "iNS",
    [GOTRACE_V2_SPAN] = "abc",
    [GOTRACE_V2_SPAN_ALLOC] = "abc",
    [GOTRACE_V2_SPAN_FREE] = "a",
    [GOTRACE_V2_HEAP_OBJECT] = "ab",
    [GOTRACE_V2_HEAP_OBJECT_ALLOC] = "ab",
    [GOTRACE_V2_HEAP_OBJECT_FREE] = "a",
    [GOTRACE_V2_GOROUTINE_STACK] = "ab",
    [GOTRACE_V2_GOROUTINE_STACK_ALLOC] = "ab",
    [GOTRACE_V2_GOROUTINE_STACK_FREE] = "a",
};

static void take_arguments(const gotrace_decoder *d, const gotrace_event *e, const char *letters, op *o) {
  const uint64_t *argument = e->args;
  for (; *letters; letters++, argument++) {
    switch (*letters) {
      case 'i': o->id = *argument; break;
      case 'a': o->a[0] = *argument; break;
      case 'b': o->a[1] = *argument; break;
      case 'c': o->a[2] = *argument; break;
      case 'n': o->name = take_text(d, *argument); break;
      case 'v': o->value = take_text(d, *argument); break;
      case 'N': o->new_stack = take_stack(d, *argument); break;
      case 'S': o->stack = take_stack(d, *argument); break;
      default: break;
    }
  }
}

static thread *source_thread(source *s, int64_t m) { return m == GOTRACE_NO_ID ? NULL : world_thread(&s->w, (uint64_t)m); }

static op status_of(source *s, const gotrace_event *e) {
  bool go = e->kind != GOTRACE_V2_PROC_STATUS;
  thread *m = source_thread(s, e->m);
  op o;
  if (go) m = e->args[2] == GO_SYSCALL ? world_thread(&s->w, e->args[1]) : m;
  o = op_of(e, m);
  o.kind = go ? GOTRACE_V2_GO_STATUS : GOTRACE_V2_PROC_STATUS;
  o.id = e->args[0];
  o.a[0] = e->args[go ? 2 : 1] & 0xff;
  if (e->kind == GOTRACE_V2_GO_STATUS_STACK) {
    o.stack = take_stack(s->in->decoder, e->args[3]);
    o.new_stack = outermost(o.stack);
  }
  return o;
}

static bool is_status(const gotrace_event *e) {
  return e->kind == GOTRACE_V2_PROC_STATUS || e->kind == GOTRACE_V2_GO_STATUS || e->kind == GOTRACE_V2_GO_STATUS_STACK;
}

/* Whether a status is of what is known, or is none: Go takes also the status 0. */
static bool world_has(source *s, const gotrace_event *status) {
  if (status->args[status->kind == GOTRACE_V2_PROC_STATUS ? 1 : 2] % 256 == 0) return true;
  if (status->kind != GOTRACE_V2_PROC_STATUS) return world_go(&s->w, status->args[0]) != NULL;
  return world_proc(&s->w, status->args[0], false) != NULL;
}

/* Ranges that were open when the trace began. */
static void scan_active(source *s, const gotrace_event *e) {
  goroutine *g = world_go(&s->w, e->args[0]);
  proc *p = world_proc(&s->w, e->args[0], false);
  if (e->kind == GOTRACE_V2_GC_ACTIVE) s->w.gc = true;
  if (e->kind == GOTRACE_V2_GC_MARK_ASSIST_ACTIVE && g) g->assist = true;
  if (e->kind == GOTRACE_V2_GC_SWEEP_ACTIVE && p) p->sweep = true;
}

/* Whether a status tells what was already so when the trace began: nothing was heard of the thread before. */
static bool was_so(const op *o) {
  bool bound = o->kind == GOTRACE_V2_GO_STATUS ? o->a[0] == GO_RUNNING || o->a[0] == GO_SYSCALL
                                               : o->a[0] == PROC_RUNNING || o->a[0] == PROC_SYSCALL;
  return !bound || (o->m && !o->m->seen);
}

/* v2: each thread tells its status when it is first heard of in a generation. A look at the whole first generation shows how
 * the world was at its start; and the stacks of older goroutines, what they began with. */
static void scan_v2(source *s) {
  gotrace_event e;
  unsigned syncs = 0;
  map created = {0};
  goroutine *g;
  thread *m;
  if (input_decode(s->in, false) != GOTRACE_OK) return; /* the second time will tell */
  while (input_next(s->in, &e) == GOTRACE_OK) {
    if (e.kind == GOTRACE_V2_SYNC && ++syncs == 2) break;
    if (!s->any) s->first = e.time, s->any = true;
    if (is_status(&e)) {
      op o = status_of(s, &e);
      o.time = s->first;
      bool new_one = e.extra == GOTRACE_STATUS_UNKNOWN && !(o.kind == GOTRACE_V2_GO_STATUS && map_get(&created, o.id));
      if (new_one && !world_has(s, &e) && was_so(&o)) {
        apply(&s->w, &o);
        continue;
      }
    }
    if (e.kind == GOTRACE_V2_GC_ACTIVE || e.kind == GOTRACE_V2_GC_SWEEP_ACTIVE || e.kind == GOTRACE_V2_GC_MARK_ASSIST_ACTIVE) {
      if (e.kind != GOTRACE_V2_GC_ACTIVE || !s->w.gc) scan_active(s, &e);
      continue;
    }
    if (e.kind == GOTRACE_V2_GO_CREATE || e.kind == GOTRACE_V2_GO_CREATE_BLOCKED || e.kind == GOTRACE_V2_GO_CREATE_SYSCALL)
      map_put(&created, e.args[0], s);
    m = source_thread(s, e.m);
    if (m && e.kind != GOTRACE_V2_CPU_SAMPLE) m->seen = true;
    if (e.g == GOTRACE_NO_ID || !e.stack) continue;
    g = world_go(&s->w, (uint64_t)e.g);
    if (g && !g->entry) g->entry = outermost(take_stack(s->in->decoder, e.stack));
  }
  free(created.slots);
  pool.epoch++;
  s->any = false;
}

static void take_sample(source *s, const gotrace_event *e) {
  op o = op_of(e, NULL);
  o.kind = GOTRACE_V2_CPU_SAMPLE;
  o.a[0] = (uint64_t)e->m;
  o.a[1] = (uint64_t)e->p;
  o.a[2] = e->g > 0 ? (uint64_t)e->g : 0;
  o.stack = take_stack(s->in->decoder, e->stack);
  give(s, &o);
}

static void take_v2(source *s, const gotrace_event *e) {
  op o = op_of(e, source_thread(s, e->m));
  const char *letters = v2_arguments[e->kind];
  if (e->implied) return; /* the event that implies it says it all */
  if (e->kind == GOTRACE_V2_EXPERIMENTAL_BATCH) {
    o.m = NULL;
    o.a[0] = e->args[0];
    o.a[1] = e->arg_count == 4 ? e->args[2] : NOBODY;
    o.value = pool_put_text(e->data, e->data_size);
    give(s, &o);
    return;
  }
  if (e->kind == GOTRACE_V2_SYNC) {
    pool.epoch++;
    s->w.experiment_count = 0;
    if (e->args[2] && !s->w.wall_seconds) {
      s->w.wall_time = (int64_t)e->args[0];
      s->w.wall_seconds = e->args[2];
      s->w.wall_nanoseconds = e->args[3];
    }
    return;
  }
  if (e->kind == GOTRACE_V2_CPU_SAMPLE) {
    take_sample(s, e);
    return;
  }
  if (is_status(e)) {
    o = status_of(s, e);
    if (!world_has(s, e)) introduce(s, &o);
    return;
  }
  if (!letters) return;
  take_arguments(s->in->decoder, e, letters, &o);
  if (e->data) o.name = pool_put_text(e->data, e->data_size);
  if (e->kind == GOTRACE_V2_USER_TASK_BEGIN && o.a[0] == NOBODY) o.a[0] = 0;
  give(s, &o);
}

/* --------------------------------------------------------------------------------------------- front end for v1 ----
 *
 * As internal/trace/tracev1.go of Go 1.27 converts, but so that the result is consistent: v1 does not know on which thread
 * a goroutine is in a system call, or says so of two procs at once; then threads are made up. */

static op v1_op(unsigned kind, int64_t time, thread *m) {
  op o = {0};
  o.kind = kind;
  o.time = time;
  o.m = m;
  return o;
}

static void v1_give(source *s, unsigned kind, int64_t time, thread *m) {
  op o = v1_op(kind, time, m);
  give(s, &o);
}

static bool v1_is_proc(int64_t p) { return p >= 0 && p < GOTRACE_FAKE_PROC; }

/* `idle`: until now it did not run. Else an unknown proc has run since the trace began, for readers. */
static void v1_proc_start(source *s, uint64_t id, int64_t time, thread *m, bool idle) {
  proc *p = world_proc(&s->w, id, false);
  op o = v1_op(GOTRACE_V2_PROC_STATUS, time, m);
  if (p && p->m) return;
  o.id = id;
  o.a[0] = idle ? PROC_IDLE : PROC_RUNNING;
  if (!p) give(s, &o);
  if (!p && !idle) return;
  o.kind = GOTRACE_V2_PROC_START;
  give(s, &o);
}

/* GoSysBlock takes the proc from a goroutine in a system call, which is seen when the proc stops, soon after. */
static void v1_proc_stop(source *s, proc *p, int64_t time) {
  op o = v1_op(GOTRACE_V2_PROC_STOP, time, p ? p->m : NULL);
  if (!o.m) return;
  o.a[0] = o.m->g ? (uint64_t)o.m->g->lost_proc : 0;
  give(s, &o);
}

/* The thread of an event on a proc by goroutine g (0: none): one where the goroutine runs, or that of the proc, which is
 * taken from a thread where another is in a system call. */
static thread *v1_thread(source *s, const gotrace_event *e) {
  goroutine *g = e->g > 0 ? world_go(&s->w, (uint64_t)e->g) : NULL;
  proc *p;
  if (g && g->m && g->status == GO_RUNNING) return g->m;
  if (!v1_is_proc(e->p)) return NULL;
  p = world_proc(&s->w, (uint64_t)e->p, false);
  if (p && p->m && p->m->g && p->m->g->status == GO_SYSCALL) v1_proc_stop(s, p, e->time);
  if (!p || !p->m) {
    v1_proc_start(s, (uint64_t)e->p, e->time, fresh_thread(&s->w), false);
    p = world_proc(&s->w, (uint64_t)e->p, false);
  }
  return p ? p->m : NULL;
}

/* The goroutines of the trace's first events, which were there before. */
static void v1_give_intros(source *s) {
  uint32_t i;
  for (i = 0; i < s->intro_count; i++) introduce(s, &s->intros[i]);
  s->intro_count = 0;
  s->started = true;
}

static op *v1_intro(const source *s, uint64_t id) {
  uintptr_t place = (uintptr_t)map_get(&s->intro_places, id);
  return place ? &s->intros[place - 1] : NULL;
}

static void v1_create(source *s, const gotrace_event *e) {
  op o = v1_op(GOTRACE_V2_GO_CREATE, e->time, NULL);
  pool_frame frame = {e->args[1], 0, 0, 0};
  char name[32];
  o.id = e->args[0];
  o.stack = take_stack(s->in->decoder, e->stack);
  if (s->format == 1005) { /* the function's address instead of a stack */
    snprintf(name, sizeof name, "0x%llx", (ull)e->args[1]);
    frame.function = pool_put_string(name);
    o.new_stack = pool_put_stack(&frame, 1);
  } else {
    o.new_stack = take_stack(s->in->decoder, e->args[1]);
  }
  if (!s->started) {
    o.kind = GOTRACE_V2_GO_STATUS;
    o.a[0] = GO_RUNNABLE;
    o.stack = 0; /* that of who began the trace */
    GROW(s->intros, s->intro_count, s->intro_capacity);
    s->intros[s->intro_count++] = o;
    map_put(&s->intro_places, o.id, (void *)(uintptr_t)s->intro_count);
    return;
  }
  o.m = v1_thread(s, e);
  s->held = o; /* it may be said next that it waits */
}

/* GoWaiting, GoInSyscall: it was so when the trace began, or, of traces that say it later, when it was created. */
static void v1_waiting(source *s, const gotrace_event *e) {
  uint64_t id = e->args[0];
  bool in_syscall = e->kind == GOTRACE_V1_GO_IN_SYSCALL;
  op *intro = s->started ? NULL : v1_intro(s, id);
  if (intro) {
    intro->a[0] = in_syscall ? GO_SYSCALL : GO_WAITING;
    intro->m = in_syscall ? fresh_thread(&s->w) : NULL;
  } else if (s->held.kind == GOTRACE_V2_GO_CREATE && s->held.id == id) {
    s->held.kind = in_syscall ? GOTRACE_V2_GO_CREATE_SYSCALL : GOTRACE_V2_GO_CREATE_BLOCKED;
    if (in_syscall) s->held.m = fresh_thread(&s->w);
    give_held(s);
  } else { /* something stood between: it runs for no time at all */
    thread *m = fresh_thread(&s->w);
    op o = v1_op(GOTRACE_V2_GO_START, e->time, m);
    give_held(s);
    v1_proc_start(s, fresh_id(&s->w.procs, FRESH_PROC + s->w.proc_count), e->time, m, true);
    o.id = id;
    give(s, &o);
    v1_give(s, in_syscall ? GOTRACE_V2_GO_SYSCALL_BEGIN : GOTRACE_V2_GO_BLOCK, e->time, m);
    v1_give(s, GOTRACE_V2_PROC_STOP, e->time, m);
  }
}

/* Readers keep a stopped world with the goroutine that began it: it ends at the latest when that stops to run. */
static void v1_end_stw(source *s, int64_t time, goroutine *of) {
  if (!s->stw || (of && s->stw != of)) return;
  if (s->stw->stw && runs(s->stw->m)) v1_give(s, GOTRACE_V2_STW_END, time, s->stw->m);
  s->stw = NULL;
}

static void v1_begin_stw(source *s, const gotrace_event *e) {
  const proc *p = v1_is_proc(e->p) ? world_proc(&s->w, (uint64_t)e->p, false) : NULL;
  thread *m = p ? p->m : NULL; /* before 1.10 also procs that do not run take part */
  op o = v1_op(GOTRACE_V2_STW_BEGIN, e->time, m);
  uint64_t kind = e->args[0];
  if (s->stw || !runs(m)) return;
  if (s->format < GOTRACE_GO_1_21) kind = kind == 1 ? GOTRACE_STW_GC_SWEEP_TERM : GOTRACE_STW_GC_MARK_TERM;
#define REASON(NAME, number, text) \
  if (kind == (number)) o.name = pool_put_string(text);
  GOTRACE_STW_REASONS(REASON)
#undef REASON
  s->stw = m->g;
  give(s, &o);
}

/* The v2 reason of each v1 event by which a goroutine stops to run: X(v1 event, v2 event, reason). */
static const struct {
  uint8_t v1, v2;
  const char *reason;
} v1_stops[] = {
    {GOTRACE_V1_GO_STOP, GOTRACE_V2_GO_BLOCK, "forever"},
    {GOTRACE_V1_GO_SCHED, GOTRACE_V2_GO_STOP, "runtime.Gosched"},
    {GOTRACE_V1_GO_PREEMPT, GOTRACE_V2_GO_STOP, "preempted"},
    {GOTRACE_V1_GO_SLEEP, GOTRACE_V2_GO_BLOCK, "sleep"},
    {GOTRACE_V1_GO_BLOCK, GOTRACE_V2_GO_BLOCK, "unspecified"},
    {GOTRACE_V1_GO_BLOCK_SEND, GOTRACE_V2_GO_BLOCK, "chan send"},
    {GOTRACE_V1_GO_BLOCK_RECV, GOTRACE_V2_GO_BLOCK, "chan receive"},
    {GOTRACE_V1_GO_BLOCK_SELECT, GOTRACE_V2_GO_BLOCK, "select"},
    {GOTRACE_V1_GO_BLOCK_SYNC, GOTRACE_V2_GO_BLOCK, "sync"},
    {GOTRACE_V1_GO_BLOCK_COND, GOTRACE_V2_GO_BLOCK, "sync.(*Cond).Wait"},
    {GOTRACE_V1_GO_BLOCK_NET, GOTRACE_V2_GO_BLOCK, "network"},
    {GOTRACE_V1_GO_BLOCK_GC, GOTRACE_V2_GO_BLOCK, "GC mark assist wait for work"},
};

static void v1_stop(source *s, const gotrace_event *e) {
  thread *m = v1_thread(s, e);
  op o = v1_op(GOTRACE_V2_GO_DESTROY, e->time, m);
  size_t i;
  if (!runs(m)) return;
  v1_end_stw(s, e->time, m->g);
  o.stack = take_stack(s->in->decoder, e->stack);
  for (i = 0; i < sizeof v1_stops / sizeof v1_stops[0]; i++) {
    if (v1_stops[i].v1 != e->kind) continue;
    o.kind = v1_stops[i].v2;
    o.name = pool_put_string(v1_stops[i].reason);
  }
  give(s, &o);
}

/* A system call is an instant, unless it loses its proc. */
static void v1_syscall(source *s, const gotrace_event *e) {
  thread *m = v1_thread(s, e);
  op o = v1_op(GOTRACE_V2_GO_SYSCALL_BEGIN, e->time, m);
  size_t call = s->calls++;
  if (!runs(m)) return;
  o.stack = take_stack(s->in->decoder, e->stack);
  give(s, &o);
  if (!(s->blocking[call / 8] >> call % 8 & 1)) v1_give(s, GOTRACE_V2_GO_SYSCALL_END, e->time, m);
}

static void v1_syscall_block(source *s, const gotrace_event *e) {
  goroutine *g = world_go(&s->w, (uint64_t)e->g);
  thread *m = g ? g->m : NULL;
  if (!m || !m->p) return;
  v1_end_stw(s, e->time, g);
  if (g->status == GO_RUNNING) v1_give(s, GOTRACE_V2_GO_SYSCALL_BEGIN, e->time, m);
  g->lost_proc = e->time;
}

static void v1_start(source *s, const gotrace_event *e) {
  gotrace_event on_proc = *e;
  op o;
  on_proc.g = GOTRACE_NO_ID; /* it does not yet run */
  o = v1_op(GOTRACE_V2_GO_START, e->time, v1_thread(s, &on_proc));
  o.id = e->args[0];
  if (!o.m || o.m->g) return;
  give(s, &o);
  if (e->kind != GOTRACE_V1_GO_START_LABEL) return;
  o.kind = GOTRACE_V2_GO_LABEL;
  o.name = take_text(s->in->decoder, e->args[2]);
  give(s, &o);
}

static void v1_user(source *s, const gotrace_event *e) {
  op o = v1_op(0, e->time, v1_thread(s, e));
  o.id = e->args[0];
  o.stack = take_stack(s->in->decoder, e->stack);
  switch (e->kind) {
    case GOTRACE_V1_USER_TASK_CREATE:
      o.kind = GOTRACE_V2_USER_TASK_BEGIN;
      o.a[0] = e->args[1];
      o.name = take_text(s->in->decoder, e->args[2]);
      break;
    case GOTRACE_V1_USER_TASK_END:
      o.kind = GOTRACE_V2_USER_TASK_END;
      if (e->data) o.name = pool_put_text(e->data, e->data_size);
      break;
    case GOTRACE_V1_USER_REGION:
      o.kind = e->args[1] ? GOTRACE_V2_USER_REGION_END : GOTRACE_V2_USER_REGION_BEGIN;
      o.name = take_text(s->in->decoder, e->args[2]);
      break;
    default:
      o.kind = GOTRACE_V2_USER_LOG;
      o.name = take_text(s->in->decoder, e->args[1]);
      o.value = pool_put_text(e->data, e->data_size);
      break;
  }
  give(s, &o);
}

/* Events that become one of the same arguments. */
static void v1_same(source *s, const gotrace_event *e, unsigned kind, thread *m) {
  op o = v1_op(kind, e->time, m);
  o.stack = take_stack(s->in->decoder, e->stack);
  o.id = kind == GOTRACE_V2_PROCS_CHANGE || kind == GOTRACE_V2_GO_UNBLOCK ? e->args[0] : 0;
  o.a[0] = e->args[0];
  o.a[1] = e->args[1];
  give(s, &o);
}

static void v1_proc(source *s, const gotrace_event *e) {
  proc *p = world_proc(&s->w, (uint64_t)e->p, false);
  thread *m;
  if (!v1_is_proc(e->p)) return;
  if (e->kind == GOTRACE_V1_PROC_STOP) {
    v1_proc_stop(s, p, e->time);
    return;
  }
  m = world_thread(&s->w, e->args[0]);
  if (m->p || runs(m)) m = fresh_thread(&s->w);
  if (p && p->m) v1_proc_stop(s, p, e->time); /* it was used before it was started */
  v1_proc_start(s, (uint64_t)e->p, e->time, m, true);
}

static void take_v1(source *s, const gotrace_event *e) {
  goroutine *g;
  thread *m;
  bool create = e->kind == GOTRACE_V1_GO_CREATE, waiting = e->kind == GOTRACE_V1_GO_WAITING || e->kind == GOTRACE_V1_GO_IN_SYSCALL;
  if (e->kind == GOTRACE_V1_GOMAXPROCS && !s->started) {
    s->w.gomaxprocs = e->args[0];
    return;
  }
  if (!s->started && !create && !waiting) v1_give_intros(s);
  if (!waiting) give_held(s);
  switch (e->kind) {
    case GOTRACE_V1_PROC_START:
    case GOTRACE_V1_PROC_STOP: v1_proc(s, e); break;
    case GOTRACE_V1_GO_CREATE: v1_create(s, e); break;
    case GOTRACE_V1_GO_WAITING:
    case GOTRACE_V1_GO_IN_SYSCALL: v1_waiting(s, e); break;
    case GOTRACE_V1_GO_START:
    case GOTRACE_V1_GO_START_LOCAL:
    case GOTRACE_V1_GO_START_LABEL: v1_start(s, e); break;
    case GOTRACE_V1_GO_SYS_CALL: v1_syscall(s, e); break;
    case GOTRACE_V1_GO_SYS_BLOCK: v1_syscall_block(s, e); break;
    case GOTRACE_V1_GO_SYS_EXIT:
    case GOTRACE_V1_GO_SYS_EXIT_LOCAL:
      g = world_go(&s->w, e->args[0]);
      if (!g || !g->m || g->status != GO_SYSCALL) break;
      if (g->m->p && g->m->p->status == PROC_SYSCALL) v1_proc_stop(s, g->m->p, e->time);
      v1_give(s, GOTRACE_V2_GO_SYSCALL_END_BLOCKED, e->time, g->m);
      g->lost_proc = 0;
      break;
    case GOTRACE_V1_GO_UNBLOCK:
    case GOTRACE_V1_GO_UNBLOCK_LOCAL:
      m = v1_thread(s, e);
      if (e->p == GOTRACE_TIMER_PROC && runs(m)) m->g->timer = true;
      v1_same(s, e, GOTRACE_V2_GO_UNBLOCK, m);
      break;
    case GOTRACE_V1_GOMAXPROCS: v1_same(s, e, GOTRACE_V2_PROCS_CHANGE, v1_thread(s, e)); break;
    case GOTRACE_V1_HEAP_ALLOC: v1_same(s, e, GOTRACE_V2_HEAP_ALLOC, v1_thread(s, e)); break;
    case GOTRACE_V1_NEXT_GC: v1_same(s, e, GOTRACE_V2_HEAP_GOAL, v1_thread(s, e)); break;
    case GOTRACE_V1_GC_START: v1_same(s, e, GOTRACE_V2_GC_BEGIN, runs(s->w.last_running) ? s->w.last_running : NULL); break;
    case GOTRACE_V1_GC_DONE: v1_same(s, e, GOTRACE_V2_GC_END, v1_thread(s, e)); break;
    case GOTRACE_V1_GC_SWEEP_START:
    case GOTRACE_V1_GC_SWEEP_DONE:
      v1_same(s, e, e->kind == GOTRACE_V1_GC_SWEEP_START ? GOTRACE_V2_GC_SWEEP_BEGIN : GOTRACE_V2_GC_SWEEP_END, v1_thread(s, e));
      break;
    case GOTRACE_V1_GC_MARK_ASSIST_START:
    case GOTRACE_V1_GC_MARK_ASSIST_DONE:
      m = v1_thread(s, e);
      v1_same(s, e, e->kind == GOTRACE_V1_GC_MARK_ASSIST_START ? GOTRACE_V2_GC_MARK_ASSIST_BEGIN : GOTRACE_V2_GC_MARK_ASSIST_END, m);
      break;
    case GOTRACE_V1_GC_STW_START: v1_begin_stw(s, e); break;
    case GOTRACE_V1_GC_STW_DONE: v1_end_stw(s, e->time, NULL); break;
    case GOTRACE_V1_USER_TASK_CREATE:
    case GOTRACE_V1_USER_TASK_END:
    case GOTRACE_V1_USER_REGION:
    case GOTRACE_V1_USER_LOG: v1_user(s, e); break;
    case GOTRACE_V1_CPU_SAMPLE: take_sample(s, e); break;
    default:
      if (e->kind == GOTRACE_V1_GO_END) v1_stop(s, e);
      else if (e->kind >= GOTRACE_V1_GO_STOP && e->kind <= GOTRACE_V1_GO_BLOCK_GC) v1_stop(s, e);
      break;
  }
}

/* v1 does not say when a system call ended that kept its proc, and so which one keeps it must be known when it begins. */
static void scan_v1(source *s) {
  gotrace_event e;
  map open = {0}; /* goroutine to 2 + number of the system call that was its last event, or 1 */
  if (input_decode(s->in, false) != GOTRACE_OK) return;
  while (input_next(s->in, &e) == GOTRACE_OK) {
    if (e.kind == GOTRACE_V1_GO_SYS_CALL) {
      if (s->calls == s->calls_capacity) {
        s->calls_capacity = s->calls_capacity ? 2 * s->calls_capacity : 1024;
        s->blocking = resize(s->blocking, s->calls_capacity / 8);
        memset(s->blocking + s->calls / 8, 0, (size_t)(s->calls_capacity - s->calls) / 8);
      }
      map_put(&open, (uint64_t)e.g, (void *)(uintptr_t)(2 + s->calls++));
    } else if (e.g > 0 && e.kind != GOTRACE_V1_CPU_SAMPLE) {
      uint64_t call = (uint64_t)(uintptr_t)map_get(&open, (uint64_t)e.g);
      if (call < 2) continue;
      call -= 2;
      if (e.kind == GOTRACE_V1_GO_SYS_BLOCK) s->blocking[call / 8] |= (uint8_t)(1u << call % 8);
      map_put(&open, (uint64_t)e.g, (void *)(uintptr_t)1);
    }
  }
  free(open.slots);
  pool.epoch++;
  s->calls = 0;
}

/* ------------------------------------------------------------------------------------------------ from start to end ---- */

static void source_free(source *s) {
  free(s->w.gos.slots);
  free(s->w.procs.slots);
  free(s->w.threads.slots);
  free(s->w.experiments);
  free(s->intros);
  free(s->intro_places.slots);
  free(s->blocking);
}

typedef void watch_fn(void *context, const gotrace_event *event);

/* Sends the events of a trace through the world to a consumer. What the decoder says at the end; END_OF_TRACE: all is well. */
static gotrace_result source_run(source *s, input *in, consumer *to, int64_t from, int64_t until, watch_fn *watch, void *context) {
  gotrace_event e;
  gotrace_result result;
  gotrace_decoder_info info;
  struct statistics *statistics = s->w.statistics;
  s->in = in;
  s->to = to;
  to->w = &s->w;
  s->from = from;
  s->until = until;
  result = input_decode(in, false);
  if (result != GOTRACE_OK) return result;
  gotrace_decoder_get_info(in->decoder, &info);
  s->format = info.format;
  to->family = info.family;
  s->w.statistics = NULL;
  if (info.family == 1) scan_v1(s);
  else scan_v2(s);
  s->w.statistics = statistics;
  result = input_decode(in, false);
  while (result == GOTRACE_OK && (result = input_next(in, &e)) == GOTRACE_OK) {
    if (!s->any) s->first = e.time, s->any = true;
    s->end = e.time;
    s->told |= info.family == 1 || e.kind != GOTRACE_V2_SYNC;
    if (watch) watch(context, &e);
    if (info.family == 1) take_v1(s, &e);
    else take_v2(s, &e);
    if (s->over) {
      result = GOTRACE_END_OF_TRACE;
      break;
    }
  }
  if (info.family == 1) v1_give_intros(s);
  give_held(s);
  if (!s->begun && s->any && from <= between(s->first, s->end)) begin(s); /* nothing happens in this part */
  if (s->begun) to->end(to, between(s->first, s->end) > until ? s->first + until : s->end);
  return result;
}

/* --------------------------------------------------------------------------------------------------- the writers ---- */

typedef struct writer {
  consumer c;
  output *out;
  uint64_t latest;        /* tick of the last event */
  uint32_t stamp;         /* of the texts and stacks that are already in the tables */
  bytes strings, stacks;  /* tables, as far as they are not yet written; among v1's strings, timers */
  bytes samples;
  thread *helper;         /* for events without a thread, proc or goroutine */
  proc *helper_proc;
  bool procs_told;        /* GOMAXPROCS */
  uint64_t gc_sequence;
  /* v2: */
  uint64_t generation;
  int64_t generation_time;
  size_t event_bytes, status_bytes; /* of the generation */
  /* v1: */
  proc global; /* of events without a proc */
  uint64_t next_go, next_proc;
  uint64_t procs; /* GOMAXPROCS as it was told last */
  unsigned stw_depth;
  proc *stw_proc;
  bool stw_written, gc_written, frequency_written, timer_told;
} writer;

/* Ticks are nanoseconds. None is 0: to readers of v1 that is no time. */
static uint64_t tick_of(const writer *w, int64_t time) { return (uint64_t)between(w->c.base, time) + 1; }
#define FREQUENCY 1000000000u

static void put_batch_header(bytes *b, uint64_t generation, uint64_t m, uint64_t tick, size_t size) {
  put_byte(b, GOTRACE_V2_EVENT_BATCH);
  put_number(b, generation);
  put_number(b, m);
  put_number(b, tick);
  put_number(b, size);
}

static void v2_batch(writer *w, uint64_t m, uint64_t tick, bytes *batch) {
  if (!batch->size) return;
  put_batch_header(&w->out->block, w->generation, m, tick, batch->size);
  put_data(&w->out->block, batch->data, batch->size);
  output_check(w->out);
  batch->size = 0;
}

/* Makes room for an entry in a table's batch, which begins with the table's kind. */
#define MOST_ENTRY (GOTRACE_MAX_STRING_SIZE + (2 + 4 * GOTRACE_STACK_SIZE) * GOTRACE_BYTES_PER_NUMBER)
static void v2_table_room(writer *w, bytes *table, unsigned kind) {
  if (table->size + MOST_ENTRY > GOTRACE_MAX_BATCH_SIZE) v2_batch(w, NOBODY, tick_of(w, w->generation_time), table);
  if (!table->size) put_byte(table, kind);
}

/* The id of a text, which stands in the tables then. */
static uint64_t use_text(writer *w, uint32_t id) {
  bool v2 = w->c.format >= GOTRACE_GO_1_22;
  pool_text *text;
  size_t size;
  if (!id) return 0;
  text = &pool.texts[id - 1];
  if (text->stamp == w->stamp) return id;
  text->stamp = w->stamp;
  size = cut_size(text->data, text->size);
  if (v2) v2_table_room(w, &w->strings, GOTRACE_V2_STRINGS);
  put_byte(&w->strings, v2 ? (unsigned)GOTRACE_V2_STRING : (unsigned)GOTRACE_V1_STRING);
  put_number(&w->strings, id);
  put_number(&w->strings, size);
  put_data(&w->strings, text->data, size);
  return id;
}

/* Readers of v1 take at most so many bytes of a stack. */
#define V1_MOST_STACK 2048

static void v1_put_stack(writer *w, uint32_t id, const pool_stack *stack) {
  static bytes numbers;
  uint32_t i, fitting = 0;
  size_t end = 0;
  numbers.size = 0;
  for (i = 0; i < stack->count && i < GOTRACE_STACK_SIZE; i++) {
    put_number(&numbers, stack->frames[i].pc);
    put_number(&numbers, use_text(w, stack->frames[i].function));
    put_number(&numbers, use_text(w, stack->frames[i].file));
    put_number(&numbers, stack->frames[i].line);
    if (numbers.size > V1_MOST_STACK - 2 * GOTRACE_BYTES_PER_NUMBER) break;
    fitting = i + 1;
    end = numbers.size;
  }
  {
    bytes head = {0};
    put_number(&head, id);
    put_number(&head, fitting);
    put_byte(&w->stacks, GOTRACE_V1_STACK | 3 << GOTRACE_ARG_COUNT_SHIFT);
    put_number(&w->stacks, head.size + end);
    put_data(&w->stacks, head.data, head.size);
    put_data(&w->stacks, numbers.data, end);
    free(head.data);
  }
}

static uint64_t use_stack(writer *w, uint32_t id) {
  pool_stack *stack;
  uint32_t i, count;
  if (!id) return 0;
  stack = &pool.stacks[id - 1];
  if (stack->stamp == w->stamp) return id;
  stack->stamp = w->stamp;
  if (w->c.format < GOTRACE_GO_1_22) {
    v1_put_stack(w, id, stack);
    return id;
  }
  count = stack->count < GOTRACE_STACK_SIZE ? stack->count : GOTRACE_STACK_SIZE;
  v2_table_room(w, &w->stacks, GOTRACE_V2_STACKS);
  put_byte(&w->stacks, GOTRACE_V2_STACK);
  put_number(&w->stacks, id);
  put_number(&w->stacks, count);
  for (i = 0; i < count; i++) {
    put_number(&w->stacks, stack->frames[i].pc);
    put_number(&w->stacks, use_text(w, stack->frames[i].function));
    put_number(&w->stacks, use_text(w, stack->frames[i].file));
    put_number(&w->stacks, stack->frames[i].line);
  }
  return id;
}

/* ------------------------------------------------------------------------------------------------------ writing v2 ---- */

#define MOST_EVENT (1 + 7 * GOTRACE_BYTES_PER_NUMBER)

static void v2_event(writer *w, thread *m, unsigned kind, int64_t time, const uint64_t *arguments, unsigned count) {
  uint64_t tick = tick_of(w, time);
  size_t before;
  unsigned i;
  if (m->batch.size + MOST_EVENT > GOTRACE_MAX_BATCH_SIZE) v2_batch(w, m->id, m->start, &m->batch);
  if (!m->batch.size) m->start = m->tick = tick;
  if (tick < m->tick) tick = m->tick;
  before = m->batch.size;
  put_byte(&m->batch, kind);
  put_number(&m->batch, tick - m->tick);
  for (i = 0; i < count; i++) put_number(&m->batch, arguments[i]);
  m->tick = tick;
  if (tick > w->latest) w->latest = tick;
  w->event_bytes += m->batch.size - before;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define V2_EVENT(w, m, kind, time, ...) \
  v2_event((w), (m), (kind), (time), (const uint64_t[]){__VA_ARGS__}, (unsigned)COUNT(((const uint64_t[]){__VA_ARGS__})))

static void v2_start_sync(writer *w, int64_t time) {
  bytes sync = {0};
  uint64_t tick = tick_of(w, time);
  uint64_t wall = w->c.w->wall_seconds * FREQUENCY + w->c.w->wall_nanoseconds + (uint64_t)time - (uint64_t)w->c.w->wall_time;
  if (!w->c.w->wall_seconds) wall = 0; /* unknown */
  if (w->c.format >= GOTRACE_GO_1_25) put_byte(&sync, GOTRACE_V2_SYNC);
  put_byte(&sync, GOTRACE_V2_FREQUENCY);
  put_number(&sync, FREQUENCY);
  if (w->c.format >= GOTRACE_GO_1_25) {
    put_byte(&sync, GOTRACE_V2_CLOCK_SNAPSHOT);
    put_number(&sync, 0);
    put_number(&sync, tick);
    put_number(&sync, wall / FREQUENCY);
    put_number(&sync, wall % FREQUENCY);
  }
  v2_batch(w, NOBODY, tick, &sync);
  free(sync.data);
}

/* Where it waits, if that also tells readers what it began with; else that alone. */
static uint32_t v2_status_stack(const goroutine *g) {
  pool_stack entry = pool_stack_of(g->entry), stack = pool_stack_of(g->stack);
  bool tells = stack.count && (!entry.count || entry.frames[entry.count - 1].function == stack.frames[stack.count - 1].function);
  return tells ? g->stack : g->entry;
}

static void v2_go_status(writer *w, thread *on, const goroutine *g, uint64_t m, int64_t time) {
  uint32_t stack = v2_status_stack(g);
  if (w->c.format >= GOTRACE_GO_1_23 && stack)
    V2_EVENT(w, on, GOTRACE_V2_GO_STATUS_STACK, time, g->id, m, g->status, use_stack(w, stack));
  else
    V2_EVENT(w, on, GOTRACE_V2_GO_STATUS, time, g->id, m, g->status);
  if (g->assist) V2_EVENT(w, on, GOTRACE_V2_GC_MARK_ASSIST_ACTIVE, time, g->id);
}

static thread *v2_helper(writer *w) {
  if (!w->helper) w->helper = fresh_thread(w->c.w);
  return w->helper;
}

/* What runs says so on its own thread, all else on any. */
static void v2_statuses(writer *w, int64_t time) {
  world *all = w->c.w;
  thread *m, *any = NULL;
  proc *p;
  goroutine *g;
  for (p = all->proc_list; p; p = p->next) p->sequence = 0;
  for (m = all->thread_list; m; m = m->next) {
    if (!m->p && !m->g) continue;
    any = m;
    if (m->p) {
      V2_EVENT(w, m, GOTRACE_V2_PROC_STATUS, time, m->p->id, m->p->status);
      if (m->p->sweep) V2_EVENT(w, m, GOTRACE_V2_GC_SWEEP_ACTIVE, time, m->p->id);
    }
    if (m->g) v2_go_status(w, m, m->g, m->id, time);
  }
  if (!any) any = v2_helper(w);
  for (p = all->proc_list; p; p = p->next) {
    if (p->m || p->status == PROC_NONE) continue;
    V2_EVENT(w, any, GOTRACE_V2_PROC_STATUS, time, p->id, p->status);
    if (p->sweep) V2_EVENT(w, any, GOTRACE_V2_GC_SWEEP_ACTIVE, time, p->id);
  }
  for (g = all->live; g; g = g->next) {
    g->sequence = 0;
    if (!g->m && !g->unborn) v2_go_status(w, any, g, NOBODY, time);
  }
}

static void v2_take(consumer *c, const op *o);

/* An operation of the writer's own. */
static void v2_say(writer *w, unsigned kind, int64_t time, thread *m, uint64_t id, uint64_t status) {
  op o = {0};
  o.kind = kind;
  o.time = time;
  o.m = m;
  o.id = id;
  o.a[0] = status;
  v2_take(&w->c, &o);
  apply(w->c.w, &o);
}

/* A thread with a proc for an event without one, and with a goroutine if the event wants that too; v2_return takes them back. */
static thread *v2_borrow(writer *w, const op *o, bool go) {
  thread *m = o->m;
  if (!m || !m->p || m->g) {
    m = v2_helper(w);
    if (!w->helper_proc) {
      w->helper_proc = world_proc(w->c.w, fresh_id(&w->c.w->procs, FRESH_PROC), true);
      v2_say(w, GOTRACE_V2_PROC_STATUS, o->time, m, w->helper_proc->id, PROC_IDLE);
    }
    v2_say(w, GOTRACE_V2_PROC_START, o->time, m, w->helper_proc->id, 0);
  }
  if (go) {
    if (!w->next_go) w->next_go = fresh_id(&w->c.w->gos, FRESH_GO);
    v2_say(w, GOTRACE_V2_GO_CREATE, o->time, m, w->next_go, 0);
    v2_say(w, GOTRACE_V2_GO_START, o->time, m, w->next_go, 0);
  }
  return m;
}

static void v2_return(writer *w, thread *m, int64_t time, bool go) {
  if (go) v2_say(w, GOTRACE_V2_GO_DESTROY, time, m, 0, 0);
  if (m == w->helper) v2_say(w, GOTRACE_V2_PROC_STOP, time, m, 0, 0);
}

/* Experiments' batches belong to a generation. */
static void v2_experiment(writer *w, const experiment *e, int64_t time) {
  bytes *b = &w->out->block;
  pool_text data = pool_text_of(e->data);
  if (w->c.format < GOTRACE_GO_1_23) return;
  put_byte(b, GOTRACE_V2_EXPERIMENTAL_BATCH);
  put_byte(b, (unsigned)e->number & 0xff);
  put_number(b, w->generation);
  put_number(b, e->thread);
  put_number(b, tick_of(w, time));
  put_number(b, data.size);
  put_data(b, data.data, data.size);
  output_check(w->out);
}

static void v2_generation_start(writer *w, int64_t time) {
  size_t i;
  w->generation++;
  w->stamp++;
  w->generation_time = time;
  w->event_bytes = 0;
  w->c.statuses = w->generation == 1;
  v2_start_sync(w, time);
  for (i = 0; i < w->c.w->experiment_count; i++) v2_experiment(w, &w->c.w->experiments[i], time);
  v2_statuses(w, time);
  w->status_bytes = w->event_bytes;
  if (w->c.w->gc) v2_say(w, GOTRACE_V2_GC_ACTIVE, time, w->c.w->last_running, 0, 0);
}

static void v2_generation_end(writer *w) {
  uint64_t tick = tick_of(w, w->generation_time);
  thread *m;
  if (!w->event_bytes) V2_EVENT(w, v2_helper(w), GOTRACE_V2_PROC_STATUS, w->generation_time,
                                fresh_id(&w->c.w->procs, FRESH_PROC), PROC_IDLE); /* readers want an event */
  for (m = w->c.w->thread_list; m; m = m->next) {
    v2_batch(w, m->id, m->start, &m->batch);
    free(m->batch.data); /* there may be very many threads */
    memset(&m->batch, 0, sizeof m->batch);
  }
  v2_batch(w, NOBODY, tick, &w->samples);
  v2_batch(w, NOBODY, tick, &w->stacks);
  v2_batch(w, NOBODY, tick, &w->strings);
  if (w->c.format >= GOTRACE_GO_1_26) put_byte(&w->out->block, GOTRACE_V2_END_OF_GENERATION);
}

/* A generation ends after about 2 MiB or 1 s, but its events are at least four times as many as its statuses, and no
 * stopped world reaches into the next one, where its reason's id means another text. */
#define GENERATION_BYTES ((size_t)2 << 20)
#define GENERATION_TIME 1000000000
static bool v2_generation_full(const writer *w, int64_t time) {
  size_t bytes_of_events = w->event_bytes - w->status_bytes;
  if (w->c.w->stw || bytes_of_events < 4 * (w->status_bytes + w->c.w->thread_count)) return false;
  return bytes_of_events >= GENERATION_BYTES || between(w->generation_time, time) >= GENERATION_TIME;
}

static void v2_sample(writer *w, const op *o) {
  v2_table_room(w, &w->samples, GOTRACE_V2_CPU_SAMPLES);
  put_byte(&w->samples, GOTRACE_V2_CPU_SAMPLE);
  put_number(&w->samples, tick_of(w, o->time));
  put_number(&w->samples, o->a[0]);
  put_number(&w->samples, o->a[1]);
  put_number(&w->samples, o->a[2]);
  put_number(&w->samples, use_stack(w, o->stack));
}

/* Whether the format has the event and its place has the range that it begins or ends. */
static bool v2_fits(const writer *w, const op *o) {
  const goroutine *g = runs(o->m) ? o->m->g : NULL;
  const proc *p = o->m ? o->m->p : NULL;
  switch (o->kind) {
    case GOTRACE_V2_STW_BEGIN: return g && g->stw == 0;
    case GOTRACE_V2_STW_END: return g && g->stw == 1;
    case GOTRACE_V2_GC_MARK_ASSIST_BEGIN: return g && !g->assist;
    case GOTRACE_V2_GC_MARK_ASSIST_END: return g && g->assist;
    case GOTRACE_V2_GC_SWEEP_BEGIN: return p && !p->sweep;
    case GOTRACE_V2_GC_SWEEP_END: return p && p->sweep;
    case GOTRACE_V2_GC_BEGIN: return !w->c.w->gc;
    case GOTRACE_V2_GC_END: return w->c.w->gc;
    case GOTRACE_V2_USER_REGION_BEGIN:
    case GOTRACE_V2_USER_REGION_END: return g != NULL;
    case GOTRACE_V2_GO_UNBLOCK: return world_go(w->c.w, o->id) != NULL;
    default: return o->kind < 128 || (w->c.format >= GOTRACE_GO_1_23 && o->m);
  }
}

enum { NEEDS_NOTHING, NEEDS_THREAD, NEEDS_PROC, NEEDS_GO };
static int v2_needs(unsigned kind) {
  switch (kind) {
    case GOTRACE_V2_GO_UNBLOCK:
    case GOTRACE_V2_GO_STATUS:
    case GOTRACE_V2_PROC_STATUS:
    case GOTRACE_V2_PROC_STEAL: return NEEDS_THREAD;
    case GOTRACE_V2_GO_CREATE:
    case GOTRACE_V2_GO_CREATE_BLOCKED:
    case GOTRACE_V2_HEAP_ALLOC:
    case GOTRACE_V2_HEAP_GOAL: return NEEDS_PROC;
    case GOTRACE_V2_PROCS_CHANGE:
    case GOTRACE_V2_GC_ACTIVE:
    case GOTRACE_V2_GC_BEGIN:
    case GOTRACE_V2_GC_END:
    case GOTRACE_V2_GO_LABEL:
    case GOTRACE_V2_USER_TASK_BEGIN:
    case GOTRACE_V2_USER_TASK_END:
    case GOTRACE_V2_USER_LOG: return NEEDS_GO;
    default: return NEEDS_NOTHING;
  }
}

static bool v2_has(const op *o, int needs) {
  const thread *m = o->m;
  if (needs == NEEDS_NOTHING) return true;
  if (needs == NEEDS_THREAD || !m) return m != NULL;
  if (needs == NEEDS_GO) return runs(m);
  if (o->kind == GOTRACE_V2_HEAP_ALLOC || o->kind == GOTRACE_V2_HEAP_GOAL) return m->p != NULL;
  return m->p && (!m->g || runs(m)); /* creation */
}

/* The arguments that are the writer's: sequence numbers and the like, in order. */
static void v2_own_arguments(writer *w, const op *o, uint64_t own[2]) {
  goroutine *g;
  proc *p;
  switch (o->kind) {
    case GOTRACE_V2_PROC_START:
    case GOTRACE_V2_PROC_STEAL:
      p = world_proc(w->c.w, o->id, true);
      own[0] = ++p->sequence;
      own[1] = p->m ? p->m->id : NOBODY;
      break;
    case GOTRACE_V2_GO_SYSCALL_BEGIN:
      if (o->m && o->m->p) own[0] = ++o->m->p->sequence;
      break;
    case GOTRACE_V2_GO_START:
    case GOTRACE_V2_GO_UNBLOCK:
    case GOTRACE_V2_GO_SWITCH:
    case GOTRACE_V2_GO_SWITCH_DESTROY:
      g = world_go(w->c.w, o->id);
      if (g) own[0] = ++g->sequence;
      break;
    case GOTRACE_V2_STW_BEGIN: own[0] = use_text(w, o->name); break;
    case GOTRACE_V2_GC_ACTIVE:
    case GOTRACE_V2_GC_BEGIN:
    case GOTRACE_V2_GC_END: own[0] = ++w->gc_sequence; break;
    default: break;
  }
}

static void v2_write(writer *w, thread *m, const op *o) {
  const char *letters = o->kind == GOTRACE_V2_GC_ACTIVE     ? "."
                        : o->kind == GOTRACE_V2_PROC_STATUS ? "ia"
                                                            : v2_arguments[o->kind];
  uint64_t arguments[5], own[2] = {0, 0}, *next_own = own;
  unsigned count = 0;
  v2_own_arguments(w, o, own);
  for (; *letters; letters++) {
    switch (*letters) {
      case 'i': arguments[count++] = o->id; break;
      case 'a': arguments[count++] = o->a[0]; break;
      case 'b': arguments[count++] = o->a[1]; break;
      case 'c': arguments[count++] = o->a[2]; break;
      case 'n': arguments[count++] = use_text(w, o->name); break;
      case 'v': arguments[count++] = use_text(w, o->value); break;
      case 'N': arguments[count++] = use_stack(w, o->new_stack); break;
      case 'S': arguments[count++] = use_stack(w, o->stack); break;
      default: arguments[count++] = *next_own++; break;
    }
  }
  v2_event(w, m, o->kind, o->time, arguments, count);
}

/* The format has no GoCreateBlocked: who was created so is not there for readers until it is unblocked. */
static bool v2_unborn(const writer *w, op *o) {
  const goroutine *g = o->kind == GOTRACE_V2_GO_UNBLOCK ? world_go(w->c.w, o->id) : NULL;
  if (o->kind == GOTRACE_V2_GO_CREATE_BLOCKED) return w->c.format < GOTRACE_GO_1_23;
  if (!g || !g->unborn) return false;
  o->kind = GOTRACE_V2_GO_CREATE;
  o->new_stack = g->entry;
  return false;
}

static void v2_late_status(writer *w, const op *o) {
  goroutine g = {0};
  g.id = o->id;
  g.entry = o->new_stack;
  g.stack = o->stack;
  g.status = (uint8_t)o->a[0];
  v2_go_status(w, o->m ? o->m : v2_helper(w), &g, o->a[0] == GO_SYSCALL && o->m ? o->m->id : NOBODY, o->time);
}

static void v2_tell_procs(writer *w, const op *start) {
  w->procs_told = true;
  if (!w->c.w->gomaxprocs) return;
  V2_EVENT(w, start->m, GOTRACE_V2_PROCS_CHANGE, start->time, w->c.w->gomaxprocs, 0);
}

static void v2_take(consumer *c, const op *given) {
  writer *w = (writer *)c;
  op o = *given;
  int needs;
  thread *m = o.m;
  bool borrowed;
  if (o.m != w->helper && v2_generation_full(w, o.time)) {
    v2_generation_end(w);
    v2_generation_start(w, o.time);
  }
  if (o.kind == GOTRACE_V2_CPU_SAMPLE) {
    v2_sample(w, &o);
    return;
  }
  if (o.kind == GOTRACE_V2_EXPERIMENTAL_BATCH) {
    v2_experiment(w, &(experiment){o.a[0], o.a[1], o.value}, o.time);
    return;
  }
  if (o.kind == GOTRACE_V2_GO_STATUS) {
    v2_late_status(w, &o);
    return;
  }
  if (v2_unborn(w, &o) || !v2_fits(w, &o)) return;
  needs = v2_needs(o.kind);
  borrowed = !v2_has(&o, needs);
  if (borrowed) m = needs == NEEDS_THREAD ? v2_helper(w) : v2_borrow(w, &o, needs == NEEDS_GO);
  if (!m) return;
  v2_write(w, m, &o);
  if (borrowed && needs > NEEDS_THREAD) v2_return(w, m, o.time, needs == NEEDS_GO);
  if (o.kind == GOTRACE_V2_PROCS_CHANGE) w->procs_told = true;
  if (o.kind == GOTRACE_V2_GO_START && !w->procs_told) v2_tell_procs(w, &o);
}

static void v2_begin(consumer *c, int64_t time) {
  writer *w = (writer *)c;
  goroutine *g;
  for (g = c->w->live; g; g = g->next) g->stw = 0, g->unborn = false; /* no event says that the world is stopped already */
  c->w->stw = 0;
  v2_generation_start(w, time);
}

/* Where nothing happened in the end, the statuses of one more generation say that it lasted until then. */
static void v2_end(consumer *c, int64_t time) {
  writer *w = (writer *)c;
  v2_generation_end(w);
  if (tick_of(w, time) <= w->latest) return;
  v2_generation_start(w, time);
  v2_generation_end(w);
}

/* ------------------------------------------------------------------------------------------------------ writing v1 ---- */

enum { V1_NONE, V1_RUNNABLE, V1_RUNNING, V1_WAITING, V1_DEAD };

/* The tables stand in a batch of their own, with the frequency, before the events that name what is in them. */
static void v1_write_tables(writer *w) {
  bytes *b = &w->out->block;
  put_byte(b, GOTRACE_V1_BATCH | 1 << GOTRACE_ARG_COUNT_SHIFT);
  put_number(b, (uint64_t)GOTRACE_GLOBAL_PROC);
  put_number(b, 1);
  put_byte(b, GOTRACE_V1_FREQUENCY);
  put_number(b, FREQUENCY);
  put_data(b, w->strings.data, w->strings.size);
  put_data(b, w->stacks.data, w->stacks.size);
  w->strings.size = w->stacks.size = 0;
  w->frequency_written = true;
}

static void v1_flush(writer *w, proc *p) {
  if (!p->batch.size) return;
  if (!w->frequency_written || w->strings.size || w->stacks.size) v1_write_tables(w);
  put_data(&w->out->block, p->batch.data, p->batch.size);
  output_check(w->out);
  p->batch.size = 0;
}

static uint64_t v1_proc_id(writer *w, proc *p) {
  if (p == &w->global) return (uint64_t)GOTRACE_GLOBAL_PROC;
  if (!p->named) p->v1_id = p->id < GOTRACE_FAKE_PROC ? p->id : FRESH_PROC + 50000 + w->next_proc++;
  p->named = true;
  return p->v1_id;
}

static void v1_write_pending_start(writer *w, proc *p, uint32_t label);

static void v1_event(writer *w, proc *p, unsigned kind, int64_t time, const uint64_t *arguments, unsigned count) {
  uint64_t tick = tick_of(w, time);
  bytes *b;
  unsigned i;
  if (!p) p = &w->global;
  v1_write_pending_start(w, p, 0);
  b = &p->batch;
  if (b->size + MOST_EVENT > GOTRACE_MAX_BATCH_SIZE) v1_flush(w, p);
  if (tick < p->tick) tick = p->tick;
  if (!b->size) {
    put_byte(b, GOTRACE_V1_BATCH | 1 << GOTRACE_ARG_COUNT_SHIFT);
    put_number(b, v1_proc_id(w, p));
    put_number(b, tick);
    p->tick = tick;
  }
  put_byte(b, kind | (count < 3 ? count : 3u) << GOTRACE_ARG_COUNT_SHIFT);
  if (count >= 3) { /* the length of what follows */
    static bytes numbers;
    numbers.size = 0;
    put_number(&numbers, tick - p->tick);
    for (i = 0; i < count; i++) put_number(&numbers, arguments[i]);
    put_number(b, numbers.size);
    put_data(b, numbers.data, numbers.size);
  } else {
    put_number(b, tick - p->tick);
    for (i = 0; i < count; i++) put_number(b, arguments[i]);
  }
  p->tick = tick;
  if (tick > w->latest) w->latest = tick;
}

#define V1_EVENT(w, p, kind, time, ...) \
  v1_event((w), (p), (kind), (time), (const uint64_t[]){__VA_ARGS__}, (unsigned)COUNT(((const uint64_t[]){__VA_ARGS__})))
#define V1_EVENT0(w, p, kind, time) v1_event((w), (p), (kind), (time), NULL, 0)

/* v1 never uses a goroutine's id again. One that vanished in a system call comes back as it was. */
static void v1_write_create(writer *w, proc *p, goroutine *g, uint32_t entry, uint32_t stack, int64_t time) {
  const pool_frame unknown = {1, 0, pool_put_string("unknown"), 0};
  if (!pool_stack_of(entry).count) entry = pool_put_stack(&unknown, 1); /* viewers want one */
  if (g->v1_status != V1_NONE || !g->id || g->id >= FRESH_GO) g->v1_id = FRESH_GO + w->next_go++;
  g->v1_status = V1_RUNNABLE;
  g->v1_sequence = 1;
  V1_EVENT(w, p, GOTRACE_V1_GO_CREATE, time, g->v1_id, use_stack(w, entry), use_stack(w, stack));
}

static void v1_write_waiting(writer *w, proc *p, goroutine *g, unsigned kind, int64_t time) {
  V1_EVENT(w, p, kind, time, g->v1_id);
  g->v1_status = V1_WAITING;
  g->v1_sequence = 2;
}

/* The start is written before the proc's next event: only then it is known whether it has a label, which v2 tells by an
 * event of its own. */
static void v1_write_start(proc *p, goroutine *g, int64_t time) {
  if (!g || g->v1_status != V1_RUNNABLE || p->v1_go) return;
  p->v1_start = time;
  p->v1_sequence = g->v1_sequence++;
  g->v1_status = V1_RUNNING;
  p->v1_go = g;
}

static void v1_write_pending_start(writer *w, proc *p, uint32_t label) {
  uint64_t sequence = p->v1_sequence;
  if (!sequence) return;
  p->v1_sequence = 0;
  if (label) V1_EVENT(w, p, GOTRACE_V1_GO_START_LABEL, p->v1_start, p->v1_go->v1_id, sequence, use_text(w, label));
  else V1_EVENT(w, p, GOTRACE_V1_GO_START, p->v1_start, p->v1_go->v1_id, sequence);
}

static void v1_write_proc_start(writer *w, proc *p, const thread *m, int64_t time) {
  if (p->v1_running) return;
  V1_EVENT(w, p, GOTRACE_V1_PROC_START, time, m ? m->id : 0);
  p->v1_running = true;
}

/* The proc of a thread, on which readers know its goroutine to run; or the global one. */
static proc *v1_proc_of(writer *w, const thread *m, int64_t time) {
  proc *p = m ? m->p : NULL;
  if (!p) return &w->global;
  v1_write_proc_start(w, p, m, time);
  if (m->g && m->g->status == GO_RUNNING) v1_write_start(p, m->g, time);
  return p;
}

/* The goroutine of a proc no longer runs, by an event without a sequence number. */
static void v1_write_stop(writer *w, proc *p, unsigned kind, bool has_stack, uint32_t stack, uint8_t status, int64_t time) {
  if (!p->v1_go) return;
  if (has_stack) V1_EVENT(w, p, kind, time, use_stack(w, stack));
  else V1_EVENT0(w, p, kind, time);
  p->v1_go->v1_status = status;
  p->v1_go = NULL;
}

static void v1_write_proc_stop(writer *w, proc *p, int64_t lost, int64_t time) {
  if (p->v1_go && p->v1_go->status == GO_SYSCALL)
    v1_write_stop(w, p, GOTRACE_V1_GO_SYS_BLOCK, false, 0, V1_WAITING, lost ? lost : time);
  v1_write_stop(w, p, GOTRACE_V1_GO_PREEMPT, true, 0, V1_RUNNABLE, time);
  if (p->v1_running) V1_EVENT0(w, p, GOTRACE_V1_PROC_STOP, time);
  p->v1_running = false;
}

static void v1_take_proc(writer *w, const op *o) {
  proc *p = o->kind == GOTRACE_V2_PROC_STOP ? (o->m ? o->m->p : NULL) : world_proc(w->c.w, o->id, true);
  if (!p) return;
  switch (o->kind) {
    case GOTRACE_V2_PROC_STATUS:
      if (o->a[0] == PROC_RUNNING || o->a[0] == PROC_SYSCALL) v1_write_proc_start(w, p, o->m, o->time);
      break;
    case GOTRACE_V2_PROC_START: v1_write_proc_start(w, p, o->m, o->time); break;
    default: v1_write_proc_stop(w, p, o->kind == GOTRACE_V2_PROC_STOP ? (int64_t)o->a[0] : 0, o->time); break;
  }
}

/* The v1 event for a reason to block. "forever" is the end of a goroutine there, which only v1 promises. */
static unsigned v1_block_kind(const writer *w, uint32_t reason) {
  unsigned kind = GOTRACE_V1_GO_BLOCK;
#define REASON(NAME, number, v1, text) \
  if (pool_text_is(reason, text)) kind = GOTRACE_V1_##v1;
  GOTRACE_BLOCK_REASONS(REASON)
#undef REASON
  return kind == GOTRACE_V1_GO_STOP && w->c.family != 1 ? (unsigned)GOTRACE_V1_GO_BLOCK : kind;
}

static void v1_take_create(writer *w, const op *o) {
  goroutine *g = go_record(w->c.w, o->id);
  proc *p = v1_proc_of(w, o->m, o->time);
  if (o->kind == GOTRACE_V2_GO_CREATE_SYSCALL && g->v1_status == V1_WAITING) return;
  if (o->kind == GOTRACE_V2_GO_CREATE_SYSCALL) p = &w->global;
  v1_write_create(w, p, g, o->new_stack, o->stack, o->time);
  if (o->kind == GOTRACE_V2_GO_CREATE_SYSCALL) v1_write_waiting(w, p, g, GOTRACE_V1_GO_IN_SYSCALL, o->time);
}

/* Says once which goroutine runs timers; 1.8 has one. */
static void v1_put_timer(writer *w, goroutine *g) {
  if (g->timer_told || (w->c.format < GOTRACE_GO_1_10 && w->timer_told)) return;
  g->timer_told = w->timer_told = true;
  put_byte(&w->strings, GOTRACE_V1_TIMER_GOROUTINE);
  put_number(&w->strings, g->v1_id);
}

static void v1_take_unblock(writer *w, const op *o) {
  goroutine *g = world_go(w->c.w, o->id);
  proc *p = v1_proc_of(w, o->m, o->time);
  if (!g) return;
  if (g->unborn) v1_write_create(w, p, g, g->entry, o->stack, o->time);
  if (g->v1_status != V1_WAITING) return;
  if (runs(o->m) && o->m->g->timer) v1_put_timer(w, o->m->g);
  V1_EVENT(w, p, GOTRACE_V1_GO_UNBLOCK, o->time, g->v1_id, g->v1_sequence, use_stack(w, o->stack));
  g->v1_sequence++;
  g->v1_status = V1_RUNNABLE;
}

static void v1_take_syscall(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  goroutine *g = o->m ? o->m->g : NULL;
  if (!g) return;
  switch (o->kind) {
    case GOTRACE_V2_GO_SYSCALL_BEGIN:
      if (p->v1_go == g) V1_EVENT(w, p, GOTRACE_V1_GO_SYS_CALL, o->time, use_stack(w, o->stack));
      break;
    case GOTRACE_V2_GO_SYSCALL_END_BLOCKED:
      if (g->v1_status != V1_WAITING) break;
      V1_EVENT(w, p, GOTRACE_V1_GO_SYS_EXIT, o->time, g->v1_id, g->v1_sequence, 0);
      g->v1_sequence++;
      g->v1_status = V1_RUNNABLE;
      break;
    default: /* GoDestroySyscall; without a proc it stays there */
      if (p->v1_go != g) break;
      v1_write_stop(w, p, GOTRACE_V1_GO_END, false, 0, V1_DEAD, o->time);
      v1_write_proc_stop(w, p, 0, o->time);
      break;
  }
}

static void v1_take_stop(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  if (p == &w->global) return;
  switch (o->kind) {
    case GOTRACE_V2_GO_DESTROY: v1_write_stop(w, p, GOTRACE_V1_GO_END, false, 0, V1_DEAD, o->time); break;
    case GOTRACE_V2_GO_STOP:
      v1_write_stop(w, p, pool_text_is(o->name, "runtime.Gosched") ? GOTRACE_V1_GO_SCHED : GOTRACE_V1_GO_PREEMPT, true, o->stack,
                    V1_RUNNABLE, o->time);
      break;
    default: {
      unsigned kind = v1_block_kind(w, o->name);
      v1_write_stop(w, p, kind, true, o->stack, kind == GOTRACE_V1_GO_STOP ? V1_DEAD : V1_WAITING, o->time);
      break;
    }
  }
}

/* The kind of a stopped world; -1: the format has none for it. */
static int v1_stw_kind(const writer *w, uint32_t reason) {
  int kind = 0;
#define REASON(NAME, number, text) \
  if (pool_text_is(reason, text)) kind = number;
  GOTRACE_STW_REASONS(REASON)
#undef REASON
  if (w->c.format >= GOTRACE_GO_1_21) return kind;
  if (w->c.format < GOTRACE_GO_1_10) return -1;
  return kind == GOTRACE_STW_GC_MARK_TERM ? 0 : kind == GOTRACE_STW_GC_SWEEP_TERM ? 1 : -1;
}

/* v1 has one stopped world at a time, whoever began it. */
static void v1_take_stw(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  int kind = v1_stw_kind(w, o->name);
  if (o->kind == GOTRACE_V2_STW_BEGIN) {
    if (w->stw_depth++) return;
    w->stw_written = kind >= 0 && p != &w->global;
    w->stw_proc = p;
    if (w->stw_written) V1_EVENT(w, p, GOTRACE_V1_GC_STW_START, o->time, (uint64_t)kind);
  } else if (w->stw_depth && --w->stw_depth == 0 && w->stw_written) {
    w->stw_written = false;
    V1_EVENT0(w, p, GOTRACE_V1_GC_STW_DONE, o->time);
  }
}

static void v1_take_gc(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  if (o->kind == GOTRACE_V2_GC_BEGIN ? w->gc_written : !w->gc_written) return;
  w->gc_written = !w->gc_written;
  if (w->gc_written) V1_EVENT(w, p, GOTRACE_V1_GC_START, o->time, w->gc_sequence++, use_stack(w, o->stack));
  else V1_EVENT0(w, p, GOTRACE_V1_GC_DONE, o->time);
}

/* Sweeps belong to the proc, mark assists to the goroutine. */
static void v1_take_range(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  const goroutine *g = runs(o->m) ? o->m->g : NULL;
  bool begins = o->kind == GOTRACE_V2_GC_SWEEP_BEGIN || o->kind == GOTRACE_V2_GC_MARK_ASSIST_BEGIN;
  bool sweep = o->kind == GOTRACE_V2_GC_SWEEP_BEGIN || o->kind == GOTRACE_V2_GC_SWEEP_END;
  if (p == &w->global || (sweep ? p->sweep == begins : !g || g->assist == begins)) return;
  if (!sweep && w->c.format < GOTRACE_GO_1_10) return;
  if (begins) V1_EVENT(w, p, sweep ? GOTRACE_V1_GC_SWEEP_START : GOTRACE_V1_GC_MARK_ASSIST_START, o->time, use_stack(w, o->stack));
  else if (!sweep) V1_EVENT0(w, p, GOTRACE_V1_GC_MARK_ASSIST_DONE, o->time);
  else if (w->c.format < GOTRACE_GO_1_10) V1_EVENT0(w, p, GOTRACE_V1_GC_SWEEP_DONE, o->time);
  else V1_EVENT(w, p, GOTRACE_V1_GC_SWEEP_DONE, o->time, o->a[0], o->a[1]);
}

static void v1_take_user(writer *w, const op *o) {
  proc *p = v1_proc_of(w, o->m, o->time);
  uint64_t stack = use_stack(w, o->stack);
  pool_text value = pool_text_of(o->value);
  if (w->c.format < GOTRACE_GO_1_11) return;
  switch (o->kind) {
    case GOTRACE_V2_USER_TASK_BEGIN:
      V1_EVENT(w, p, GOTRACE_V1_USER_TASK_CREATE, o->time, o->id, o->a[0], use_text(w, o->name), stack);
      break;
    case GOTRACE_V2_USER_TASK_END: V1_EVENT(w, p, GOTRACE_V1_USER_TASK_END, o->time, o->id, stack); break;
    case GOTRACE_V2_USER_REGION_BEGIN:
    case GOTRACE_V2_USER_REGION_END:
      if (!p->v1_go) break;
      V1_EVENT(w, p, GOTRACE_V1_USER_REGION, o->time, o->id, o->kind == GOTRACE_V2_USER_REGION_END, use_text(w, o->name), stack);
      break;
    default:
      V1_EVENT(w, p, GOTRACE_V1_USER_LOG, o->time, o->id, use_text(w, o->name), stack);
      if (value.size > GOTRACE_MAX_STRING_SIZE) value.size = GOTRACE_MAX_STRING_SIZE;
      put_number(&(p ? p : &w->global)->batch, value.size);
      put_data(&(p ? p : &w->global)->batch, value.data, value.size);
      break;
  }
}

/* A sample stands in its own order; what it says as its time is an argument. */
static void v1_take_sample(writer *w, const op *o) {
  const goroutine *g = world_go(w->c.w, o->a[2]);
  proc *p = o->a[1] == NOBODY ? NULL : world_proc(w->c.w, o->a[1], false);
  if (w->c.format < GOTRACE_GO_1_19) return;
  V1_EVENT(w, NULL, GOTRACE_V1_CPU_SAMPLE, w->c.base, tick_of(w, o->time), p ? v1_proc_id(w, p) : (uint64_t)GOTRACE_GLOBAL_PROC,
           g ? g->v1_id : 0, use_stack(w, o->stack));
}

static void v1_take(consumer *c, const op *o) {
  writer *w = (writer *)c;
  goroutine *g;
  switch (o->kind) {
    case GOTRACE_V2_PROC_STATUS:
    case GOTRACE_V2_PROC_START:
    case GOTRACE_V2_PROC_STOP:
    case GOTRACE_V2_PROC_STEAL: v1_take_proc(w, o); break;
    case GOTRACE_V2_GO_CREATE:
    case GOTRACE_V2_GO_CREATE_SYSCALL: v1_take_create(w, o); break;
    case GOTRACE_V2_GO_START:
      g = world_go(c->w, o->id);
      if (o->m && o->m->p && v1_proc_of(w, o->m, o->time)) v1_write_start(o->m->p, g, o->time);
      break;
    case GOTRACE_V2_GO_LABEL:
      if (runs(o->m)) v1_write_pending_start(w, o->m->p, o->name);
      break;
    case GOTRACE_V2_GO_UNBLOCK: v1_take_unblock(w, o); break;
    case GOTRACE_V2_GO_DESTROY:
    case GOTRACE_V2_GO_STOP:
    case GOTRACE_V2_GO_BLOCK: v1_take_stop(w, o); break;
    case GOTRACE_V2_GO_SYSCALL_BEGIN:
    case GOTRACE_V2_GO_SYSCALL_END_BLOCKED:
    case GOTRACE_V2_GO_DESTROY_SYSCALL: v1_take_syscall(w, o); break;
    case GOTRACE_V2_STW_BEGIN:
    case GOTRACE_V2_STW_END: v1_take_stw(w, o); break;
    case GOTRACE_V2_GC_BEGIN:
    case GOTRACE_V2_GC_END: v1_take_gc(w, o); break;
    case GOTRACE_V2_GC_SWEEP_BEGIN:
    case GOTRACE_V2_GC_SWEEP_END:
    case GOTRACE_V2_GC_MARK_ASSIST_BEGIN:
    case GOTRACE_V2_GC_MARK_ASSIST_END: v1_take_range(w, o); break;
    case GOTRACE_V2_PROCS_CHANGE:
      w->procs = o->id;
      V1_EVENT(w, v1_proc_of(w, o->m, o->time), GOTRACE_V1_GOMAXPROCS, o->time, o->id, use_stack(w, o->stack));
      break;
    case GOTRACE_V2_HEAP_ALLOC: V1_EVENT(w, v1_proc_of(w, o->m, o->time), GOTRACE_V1_HEAP_ALLOC, o->time, o->a[0]); break;
    case GOTRACE_V2_HEAP_GOAL: V1_EVENT(w, v1_proc_of(w, o->m, o->time), GOTRACE_V1_HEAP_GOAL, o->time, o->a[0]); break;
    case GOTRACE_V2_USER_TASK_BEGIN:
    case GOTRACE_V2_USER_TASK_END:
    case GOTRACE_V2_USER_REGION_BEGIN:
    case GOTRACE_V2_USER_REGION_END:
    case GOTRACE_V2_USER_LOG: v1_take_user(w, o); break;
    case GOTRACE_V2_CPU_SAMPLE: v1_take_sample(w, o); break;
    default: break; /* the format has nothing like it */
  }
}

/* A goroutine with its proc, as the trace begins. */
static void v1_begin_thread(writer *w, thread *m, int64_t time) {
  proc *p = m->p;
  goroutine *g = m->g;
  v1_write_proc_start(w, p, m, time);
  if (p->sweep) V1_EVENT(w, p, GOTRACE_V1_GC_SWEEP_START, time, 0);
  if (!g || (g->status == GO_SYSCALL && p->status != PROC_SYSCALL)) return;
  v1_write_start(p, g, time);
  if (g->status == GO_SYSCALL) V1_EVENT(w, p, GOTRACE_V1_GO_SYS_CALL, time, 0);
}

/* The number of procs comes first, and twice: up to the first time readers from Go 1.23 on take what is created for older than
 * the trace, and forget its name; they keep only the second, which their page of mutator utilization needs. */
static void v1_begin(consumer *c, int64_t time) {
  writer *w = (writer *)c;
  world *all = c->w;
  goroutine *g;
  thread *m;
  w->stamp++;
  w->procs = all->gomaxprocs ? all->gomaxprocs : all->proc_count ? all->proc_count : 1;
  all->stw = 0;
  V1_EVENT(w, NULL, GOTRACE_V1_GOMAXPROCS, time, w->procs, 0);
  V1_EVENT(w, NULL, GOTRACE_V1_GOMAXPROCS, time, w->procs, 0);
  for (g = all->live; g; g = g->next) {
    bool bound = g->m && g->m->p && (g->status != GO_SYSCALL || g->m->p->status == PROC_SYSCALL);
    g->stw = 0;
    g->unborn = false;
    g->assist = false; /* its end would have no beginning */
    v1_write_create(w, NULL, g, g->entry, 0, time);
    if (g->status == GO_WAITING) v1_write_waiting(w, NULL, g, GOTRACE_V1_GO_WAITING, time);
    if (g->status == GO_SYSCALL && !bound) v1_write_waiting(w, NULL, g, GOTRACE_V1_GO_IN_SYSCALL, time);
  }
  for (m = all->thread_list; m; m = m->next)
    if (m->p) v1_begin_thread(w, m, time);
  if (all->gc) {
    V1_EVENT(w, NULL, GOTRACE_V1_GC_START, time, w->gc_sequence++, 0);
    w->gc_written = true;
  }
}

/* Viewers need the end of each slice: everything ends, as in Go's StopTrace. */
static void v1_end(consumer *c, int64_t time) {
  writer *w = (writer *)c;
  proc *p;
  for (p = c->w->proc_list; p; p = p->next) {
    if (p->sweep && p->v1_running) {
      if (c->format < GOTRACE_GO_1_10) V1_EVENT0(w, p, GOTRACE_V1_GC_SWEEP_DONE, time);
      else V1_EVENT(w, p, GOTRACE_V1_GC_SWEEP_DONE, time, 0, 0);
    }
    if (w->stw_written && w->stw_proc == p) V1_EVENT0(w, p, GOTRACE_V1_GC_STW_DONE, time);
    if (p->v1_go && p->v1_go->status == GO_SYSCALL)
      v1_write_stop(w, p, GOTRACE_V1_GO_SYS_BLOCK, false, 0, V1_WAITING, time);
    v1_write_stop(w, p, GOTRACE_V1_GO_PREEMPT, true, 0, V1_RUNNABLE, time);
  }
  if (tick_of(w, time) > w->latest) /* nothing ended, but it lasted until then */
    V1_EVENT(w, NULL, GOTRACE_V1_GOMAXPROCS, time, w->procs, 0);
  /* Later than all: it may have begun with the last event, and of equal times on two procs readers take either first. */
  if (w->gc_written) V1_EVENT0(w, NULL, GOTRACE_V1_GC_DONE, time + 1);
  for (p = c->w->proc_list; p; p = p->next) v1_flush(w, p);
  v1_flush(w, &w->global);
}

/* ------------------------------------------------------------------------------------------------- cut and convert ---- */

static const int written_formats[] = {GOTRACE_GO_1_8,  GOTRACE_GO_1_10, GOTRACE_GO_1_11, GOTRACE_GO_1_19, GOTRACE_GO_1_21,
                                      GOTRACE_GO_1_22, GOTRACE_GO_1_23, GOTRACE_GO_1_25, GOTRACE_GO_1_26};

/* The format that is written for one that is read: itself, or the next one that is written. */
static int nearest_format(int format) {
  size_t i = 0;
  while (i + 1 < COUNT(written_formats) && written_formats[i] < format) i++;
  return written_formats[i];
}

static void put_header(output *out, int format) {
  char header[17] = {0};
  snprintf(header, sizeof header, "go 1.%d trace", format % 1000);
  put_data(&out->block, header, 16);
}

/* Nothing leaves this program that does not open. */
static void verify(output *out) {
  input result;
  gotrace_event e;
  gotrace_result last;
  const char *file = program.file;
  memset(&result, 0, sizeof result);
  output_flush(out);
  result.path = "result";
  result.next_progress = seconds_now() + 1;
  result.fd = fileno(out->file);
  if (lseek(result.fd, 0, SEEK_SET) != 0) fail("%s", strerror(errno));
  last = input_decode(&result, false);
  while (last == GOTRACE_OK) last = input_next(&result, &e);
  program.file = file;
  if (last != GOTRACE_END_OF_TRACE) fail("not written, as the result would not open: %s", input_error(&result));
  gotrace_decoder_close(result.decoder);
  lseek(result.fd, 0, SEEK_END);
}

static void writer_free(writer *w) {
  const proc *p;
  for (p = w->c.w->proc_list; p; p = p->next) free(p->batch.data);
  free(w->global.batch.data);
  free(w->strings.data);
  free(w->stacks.data);
  free(w->samples.data);
}

typedef struct settings {
  const char *output;
  int64_t from, until;
  int format; /* 0: as the input's */
  bool wire, json, partial;
} settings;

/* A trace is broken: an error, unless what is before that is to be kept and there is something. */
static void broken(const settings *set, const source *s) {
  const char *error = input_error(s->in);
  if (!set->partial || !s->begun || !s->told) fail("%s", error);
  report("%s; what is before that was kept", error);
}

static int command_rewrite(const char *path, const settings *set) {
  input in;
  output out;
  source s;
  writer w;
  gotrace_result result;
  gotrace_decoder_info info;
  memset(&s, 0, sizeof s);
  memset(&w, 0, sizeof w);
  if (!input_open(&in, path, true)) return 1;
  if (input_decode(&in, false) != GOTRACE_OK) fail("%s", input_error(&in));
  gotrace_decoder_get_info(in.decoder, &info);
  w.c.format = set->format ? set->format : nearest_format(info.format);
  w.c.begin = w.c.format < GOTRACE_GO_1_22 ? v1_begin : v2_begin;
  w.c.take = w.c.format < GOTRACE_GO_1_22 ? v1_take : v2_take;
  w.c.end = w.c.format < GOTRACE_GO_1_22 ? v1_end : v2_end;
  output_open(&out, set->output);
  w.out = &out;
  put_header(&out, w.c.format);
  result = source_run(&s, &in, &w.c, set->from, set->until, NULL, NULL);
  if (result != GOTRACE_END_OF_TRACE) broken(set, &s);
  if (!s.begun) fail("no events in this part: the trace lasts %.9f s", (double)between(s.first, s.end) / 1e9);
  verify(&out);
  output_close(&out);
  writer_free(&w);
  source_free(&s);
  input_close(&in);
  return 0;
}

/* ---------------------------------------------------------------------------------------------------------- info ---- */

#define LATENCIES 10
#define SHOWN 30 /* lines of a list */

typedef struct latency {
  int64_t waited, when;
  uint64_t g;
  uint32_t name;
} latency;

typedef struct statistics {
  map functions;         /* by text id of the name */
  function *list;
  map reasons;           /* by text id, to functions too */
  function *reason_list;
  latency worst[LATENCIES]; /* the longest first */
  unsigned worst_count;
  uint64_t kinds[256], dropped;
  uint32_t reports[SHOWN]; /* texts of the tracer's reports of what it dropped */
  const gotrace_event_spec *specs[256];
  const input *in;
  uint64_t generations, generation; /* v2: how many, and the last one's number */
} statistics;

static function *function_of(map *m, function **list, uint32_t name) {
  function *f = map_get(m, name);
  if (f) return f;
  f = keep(sizeof *f);
  f->name = name;
  f->next = *list;
  *list = f;
  map_put(m, name, f);
  return f;
}

static uint32_t name_of(const goroutine *g) {
  pool_stack stack = pool_stack_of(g->entry);
  return stack.count ? stack.frames[0].function : 0;
}

static void note_latency(statistics *s, const goroutine *g, int64_t waited, int64_t when) {
  latency new_one = {waited, when, g->id, name_of(g)};
  unsigned i;
  if (s->worst_count == LATENCIES && waited <= s->worst[LATENCIES - 1].waited) return;
  i = s->worst_count < LATENCIES ? s->worst_count++ : LATENCIES - 1;
  for (; i > 0 && s->worst[i - 1].waited < waited; i--) s->worst[i] = s->worst[i - 1];
  s->worst[i] = new_one;
}

/* Called before a goroutine's status changes. */
static void statistics_go(world *w, goroutine *g, int64_t time, uint8_t status) {
  statistics *s = w->statistics;
  int64_t passed = between(g->since, time);
  if (!g->function) {
    g->function = function_of(&s->functions, &s->list, name_of(g));
    g->function->goroutines++;
    return;
  }
  switch (g->status) {
    case GO_RUNNING: g->function->running += (double)passed; break;
    case GO_RUNNABLE:
      if (status == GO_RUNNING) note_latency(s, g, passed, g->since);
      break;
    case GO_WAITING: {
      function *reason = function_of(&s->reasons, &s->reason_list, g->reason);
      g->function->blocked += (double)passed;
      reason->blocked += (double)passed;
      reason->goroutines++;
      break;
    }
    default: break;
  }
}

static void watch_kinds(void *context, const gotrace_event *e) {
  statistics *s = context;
  gotrace_decoder_info info;
  s->kinds[e->kind] += !e->implied;
  s->specs[e->kind] = e->spec;
  if (e->spec->since < GOTRACE_GO_1_22 || e->kind != GOTRACE_V2_SYNC) return;
  gotrace_decoder_get_info(s->in->decoder, &info);
  s->generations += !s->generations || info.generation != s->generation; /* the last one has a second, at its end */
  s->generation = info.generation;
}

/* The writer of gotrace.h reports what it had to leave out by logs of this category. */
static void info_take(consumer *c, const op *o) {
  statistics *s = c->w->statistics;
  if (o->kind == GOTRACE_V2_USER_LOG && pool_text_is(o->name, "gotrace")) {
    if (s->dropped < SHOWN) s->reports[s->dropped] = o->value;
    s->dropped++;
  }
}

/* Every goroutine that was there counts, once: v1's have been seen already. */
static void info_begin(consumer *c, int64_t time) {
  goroutine *g;
  proc *p;
  for (g = c->w->live; g; g = g->next) {
    g->since = time;
    if (!g->function) statistics_go(c->w, g, time, g->status);
  }
  for (p = c->w->proc_list; p; p = p->next) p->since = time, p->running = 0;
}

static void info_end(consumer *c, int64_t time) {
  goroutine *g;
  proc *p;
  for (g = c->w->live; g; g = g->next) statistics_go(c->w, g, time, GO_NONE);
  for (p = c->w->proc_list; p; p = p->next)
    if (p->status == PROC_RUNNING || p->status == PROC_SYSCALL) p->running += (double)between(p->since, time);
}

static int by_running(const void *a, const void *b) {
  const function *x = *(function *const *)a, *y = *(function *const *)b;
  double of_x = x->running + x->blocked, of_y = y->running + y->blocked;
  if (x->running < y->running || x->running > y->running) return x->running < y->running ? 1 : -1;
  return of_x < of_y ? 1 : of_x > of_y ? -1 : 0;
}

static int by_proc(const void *a, const void *b) {
  const proc *x = *(proc *const *)a, *y = *(proc *const *)b;
  return x->id < y->id ? -1 : x->id > y->id;
}

static int by_count(const void *a, const void *b) {
  const uint64_t *x = a, *y = b; /* pairs of count and kind */
  return x[0] < y[0] ? 1 : x[0] > y[0] ? -1 : x[1] < y[1] ? -1 : x[1] > y[1];
}

/* A time for people: 4 digits and a unit. */
static const char *human(double nanoseconds, char text[32]) {
  static const struct {
    double size;
    const char *name;
  } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  size_t i = 0;
  while (i < COUNT(units) && nanoseconds < units[i].size) i++;
  if (i < COUNT(units)) snprintf(text, 32, "%.3f %s", nanoseconds / units[i].size, units[i].name);
  else snprintf(text, 32, "%.0f ns", nanoseconds);
  return text;
}

/* The functions of a list, in order of time; NULL: none. */
static function **sorted_functions(function *list, size_t *count) {
  function **all;
  function *f;
  size_t i = 0;
  for (*count = 0, f = list; f; f = f->next) ++*count;
  all = resize(NULL, (*count + 1) * sizeof *all);
  for (f = list; f; f = f->next) all[i++] = f;
  qsort(all, *count, sizeof *all, by_running);
  return all;
}

static void print_name(uint32_t name, const char *unknown) {
  pool_text text = pool_text_of(name);
  const unsigned char *at = (const unsigned char *)text.data, *end = at + text.size;
  if (!text.size) fputs(unknown, stdout);
  for (; at < end; at++) putchar(visible(*at));
  putchar('\n');
}

static void info_functions(const statistics *s) {
  size_t count, i;
  function **all = sorted_functions(s->list, &count);
  char running[32], blocked[32];
  printf("\n%10s %14s %14s  goroutines by function\n", "count", "running", "blocked");
  for (i = 0; i < count && i < SHOWN; i++) {
    printf("%10llu %14s %14s  ", (ull)all[i]->goroutines, human(all[i]->running, running), human(all[i]->blocked, blocked));
    print_name(all[i]->name, "(unknown)");
  }
  if (count > SHOWN) printf("%41s  %zu more\n", "", count - SHOWN);
  free(all);
  all = sorted_functions(s->reason_list, &count);
  if (count) printf("\n%10s %14s  blocked, by reason\n", "count", "time");
  for (i = 0; i < count && i < SHOWN; i++) {
    printf("%10llu %14s  ", (ull)all[i]->goroutines, human(all[i]->blocked, blocked));
    print_name(all[i]->name, "(since before the trace, or unspecified)");
  }
  free(all);
}

static void info_procs(const world *w, int64_t duration) {
  proc **all = resize(NULL, (w->proc_count + 1) * sizeof *all), *p;
  size_t count = 0, i;
  char text[32];
  for (p = w->proc_list; p; p = p->next) all[count++] = p;
  qsort(all, count, sizeof *all, by_proc);
  if (count) printf("\n%10s %14s\n", "proc", "running");
  for (i = 0; i < count && i < 10 * SHOWN; i++)
    printf("%10llu %14s %5.1f %%\n", (ull)all[i]->id, human(all[i]->running, text),
           duration > 0 ? 100.0 * all[i]->running / (double)duration : 0);
  free(all);
}

static void info_reports(const statistics *s) {
  uint64_t i;
  if (s->dropped) printf("\n%10llu  reports of losses by the tracer\n", (ull)s->dropped);
  for (i = 0; i < s->dropped && i < SHOWN; i++) {
    printf("%10s  ", "");
    print_name(s->reports[i], "");
  }
}

static void info_latencies(const statistics *s, int64_t first) {
  unsigned i;
  char waited[32], when[32];
  if (s->worst_count) printf("\n%14s %14s %12s  longest from runnable to running\n", "waited", "since", "goroutine");
  for (i = 0; i < s->worst_count; i++) {
    const latency *l = &s->worst[i];
    printf("%14s %14s %12llu  ", human((double)l->waited, waited), human((double)between(first, l->when), when), (ull)l->g);
    print_name(l->name, "(unknown)");
  }
}

static void info_kinds(const statistics *s) {
  uint64_t kinds[256][2];
  size_t count = 0, i;
  for (i = 0; i < 256; i++) {
    if (!s->kinds[i]) continue;
    kinds[count][0] = s->kinds[i];
    kinds[count++][1] = i;
  }
  qsort(kinds, count, sizeof kinds[0], by_count);
  printf("\n%10s  events by kind\n", "count");
  for (i = 0; i < count; i++) printf("%10llu  %s\n", (ull)kinds[i][0], s->specs[kinds[i][1]]->name);
}

static int command_info(const char *path, const settings *set) {
  input in;
  source s;
  consumer c;
  statistics *found = keep(sizeof *found);
  gotrace_result result;
  gotrace_decoder_info info;
  char text[32];
  int64_t duration;
  (void)set;
  memset(&s, 0, sizeof s);
  memset(&c, 0, sizeof c);
  if (!input_open(&in, path, true)) return 1;
  c.begin = info_begin;
  c.take = info_take;
  c.end = info_end;
  c.statuses = true;
  s.w.statistics = found;
  found->in = &in;
  result = source_run(&s, &in, &c, 0, INT64_MAX, watch_kinds, found);
  gotrace_decoder_get_info(in.decoder, &info);
  erase_progress();
  duration = between(s.first, s.end);
  if (info.format) {
    printf("%-24sGo 1.%d (v%d)\n", "format", info.format % 1000, info.family);
    printf("%-24s%s\n", "duration", human((double)duration, text));
    printf("%-24s%llu\n", "events", (ull)info.events);
    if (info.family == 2) printf("%-24s%llu\n", "generations", (ull)found->generations);
    if (s.w.gomaxprocs) printf("%-24s%llu\n", "GOMAXPROCS", (ull)s.w.gomaxprocs);
    info_reports(found);
    info_functions(found);
    info_procs(&s.w, duration);
    info_latencies(found, s.first);
    info_kinds(found);
  }
  if (result != GOTRACE_END_OF_TRACE) report("%s", input_error(&in));
  free(found->functions.slots);
  free(found->reasons.slots);
  source_free(&s);
  input_close(&in);
  return result != GOTRACE_END_OF_TRACE;
}

/* --------------------------------------------------------------------------------------------------------- check ---- */

static int command_check(const char *path, const settings *set) {
  input in;
  gotrace_event e;
  gotrace_result result;
  gotrace_decoder_info info;
  (void)set;
  if (!input_open(&in, path, false)) return 1;
  result = input_decode(&in, false);
  while (result == GOTRACE_OK) result = input_next(&in, &e);
  erase_progress();
  gotrace_decoder_get_info(in.decoder, &info);
  if (result == GOTRACE_END_OF_TRACE) printf("%s: ok, Go 1.%d, %llu events\n", path, info.format % 1000, (ull)info.events);
  else printf("%s: %s\n", path, input_error(&in));
  input_close(&in);
  return result != GOTRACE_END_OF_TRACE;
}

/* ---------------------------------------------------------------------------------------------------------- dump ---- */

/* An argument's name and what it is, taken out of the table of events once. */
typedef enum dump_type { IS_NUMBER, IS_STRING, IS_STACK, IS_SIGNED, IS_PROC_STATUS, IS_GO_STATUS } dump_type;

typedef struct dump_argument {
  char name[24];
  dump_type type;
} dump_argument;

typedef struct dump_kind {
  const gotrace_event_spec *spec;
  unsigned count;
  dump_argument arguments[8];
} dump_kind;

typedef struct dumper {
  output out;
  const gotrace_decoder *decoder;
  bool wire, json;
  int64_t first; /* time of the first event, from which times count, as those of `cut` do; raw: 0 */
  dump_kind kinds[256];
} dumper;

static bool ends_with(const char *word, const char *end) {
  size_t length = strlen(word), of_end = strlen(end);
  return length >= of_end && strcmp(word + length - of_end, end) == 0;
}

static dump_type argument_type(const char *name, bool wire) {
  if (ends_with(name, "pstatus")) return IS_PROC_STATUS;
  if (ends_with(name, "gstatus")) return IS_GO_STATUS;
  if (ends_with(name, "string")) return wire ? IS_NUMBER : IS_STRING;
  if (ends_with(name, "stack")) return wire ? IS_NUMBER : IS_STACK;
  if (strcmp(name, "m") == 0 || strcmp(name, "p") == 0 || strcmp(name, "parent_task") == 0) return IS_SIGNED;
  return IS_NUMBER;
}

static const dump_kind *dump_kind_of(dumper *d, const gotrace_event *e) {
  dump_kind *k = &d->kinds[e->kind];
  const char *word = e->spec->arguments;
  if (k->spec == e->spec) return k;
  k->spec = e->spec;
  k->count = 0;
  while (*word && k->count < COUNT(k->arguments)) {
    dump_argument *argument = &k->arguments[k->count];
    size_t length = strcspn(word, " ");
    snprintf(argument->name, sizeof argument->name, "%.*s", (int)length, word);
    word += length + (word[length] == ' ');
    if (strcmp(argument->name, "dt") == 0 || ends_with(argument->name, "data")) continue;
    argument->type = argument_type(argument->name, d->wire);
    k->count++;
  }
  return k;
}

static const char *const go_statuses[] = {"?", "Runnable", "Running", "Syscall", "Waiting"};
static const char *const proc_statuses[] = {"?", "Running", "Idle", "Syscall", "SyscallAbandoned"};

static void dump_status(dumper *d, const char *const *names, uint64_t status) {
  print(&d->out, d->json ? "\"%s\"" : "%s", status < 5 ? names[status] : "?");
}

static void dump_frames(dumper *d, uint64_t id) {
  gotrace_frame frames[MOST_FRAMES];
  size_t count = gotrace_decoder_stack(d->decoder, id, frames, MOST_FRAMES), i;
  if (count > MOST_FRAMES) count = MOST_FRAMES;
  if (d->json) put_byte(&d->out.block, '[');
  for (i = 0; i < count; i++, output_check(&d->out)) {
    const gotrace_frame *f = &frames[i];
    if (d->json) {
      print(&d->out, "%s{\"pc\":%llu,\"function\":", i ? "," : "", (ull)f->pc);
      put_quoted(&d->out, f->function ? f->function : "", f->function_size);
      put_data(&d->out.block, ",\"file\":", 8);
      put_quoted(&d->out, f->file ? f->file : "", f->file_size);
      print(&d->out, ",\"line\":%llu}", (ull)f->line);
    } else {
      print(&d->out, "        %llx ", (ull)f->pc);
      put_visible(&d->out, f->function, f->function_size);
      put_byte(&d->out.block, ' ');
      put_visible(&d->out, f->file, f->file_size);
      print(&d->out, ":%llu\n", (ull)f->line);
    }
  }
  if (d->json) put_byte(&d->out.block, ']');
}

static void dump_text(dumper *d, uint64_t id) {
  const char *data = "";
  size_t size = 0;
  if (!gotrace_decoder_string(d->decoder, id, &data, &size)) size = 0;
  put_quoted(&d->out, data, size);
}

/* Appends a number, which is what a dump mostly consists of. */
static void put_decimal(output *out, uint64_t value) {
  char digits[20], *at = digits + sizeof digits;
  do *--at = (char)('0' + value % 10);
  while (value /= 10);
  put_data(&out->block, at, (size_t)(digits + sizeof digits - at));
}

static void put_signed(output *out, int64_t value) {
  if (value < 0) put_byte(&out->block, '-');
  put_decimal(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void put_string(output *out, const char *string) { put_data(&out->block, string, strlen(string)); }

static void dump_argument_value(dumper *d, const dump_argument *a, uint64_t value) {
  switch (a->type) {
    case IS_STRING: dump_text(d, value); break;
    case IS_SIGNED: put_signed(&d->out, (int64_t)value); break;
    case IS_PROC_STATUS: dump_status(d, proc_statuses, value); break;
    case IS_GO_STATUS: dump_status(d, go_statuses, value); break;
    default: put_decimal(&d->out, value); break;
  }
}

/* What an event says beyond its arguments. */
static bool has_status_before(const gotrace_event *e) {
  const gotrace_event_spec *spec = e->spec;
  if (spec->since < GOTRACE_GO_1_22) return false;
  return e->kind == GOTRACE_V2_GO_STATUS || e->kind == GOTRACE_V2_GO_STATUS_STACK || e->kind == GOTRACE_V2_PROC_STATUS ||
         e->kind == GOTRACE_V2_PROC_STEAL;
}

static const char *status_before(const gotrace_event *e) {
  bool proc_event = e->kind == GOTRACE_V2_PROC_STATUS || e->kind == GOTRACE_V2_PROC_STEAL;
  if (e->extra == GOTRACE_STATUS_UNKNOWN) return "Unknown";
  if (e->extra == GOTRACE_STATUS_NONE) return "None";
  return e->extra >= 0 && e->extra < 5 ? (proc_event ? proc_statuses : go_statuses)[e->extra] : "?";
}

static void dump_line(dumper *d, const gotrace_event *e) {
  const dump_kind *k = dump_kind_of(d, e);
  output *out = &d->out;
  unsigned i;
  put_signed(out, (int64_t)((uint64_t)e->time - (uint64_t)d->first));
  put_byte(&out->block, ' ');
  put_string(out, e->spec->name);
  if (d->wire) put_string(out, " offset="), put_decimal(out, e->offset);
  if (e->m != GOTRACE_NO_ID) put_string(out, " m="), put_signed(out, e->m);
  if (e->p != GOTRACE_NO_ID) put_string(out, " p="), put_signed(out, e->p);
  if (e->g != GOTRACE_NO_ID) put_string(out, " g="), put_signed(out, e->g);
  if (k->count && e->arg_count) put_string(out, " |");
  for (i = 0; i < k->count && i < e->arg_count; i++) {
    if (k->arguments[i].type == IS_STACK && !e->args[i]) continue;
    put_byte(&out->block, ' ');
    put_string(out, k->arguments[i].name);
    put_byte(&out->block, '=');
    dump_argument_value(d, &k->arguments[i], e->args[i]);
  }
  if (!d->wire && has_status_before(e)) put_string(out, " before="), put_string(out, status_before(e));
  if (e->data) put_string(out, " data="), put_quoted(out, e->data, e->data_size);
  if (e->implied) put_string(out, " implied");
  put_byte(&out->block, '\n');
  for (i = 0; i < k->count && i < e->arg_count; i++) {
    if (k->arguments[i].type != IS_STACK || !e->args[i]) continue;
    print(out, "    %s:\n", k->arguments[i].name);
    dump_frames(d, e->args[i]);
  }
}

static void dump_object(dumper *d, const gotrace_event *e) {
  const dump_kind *k = dump_kind_of(d, e);
  output *out = &d->out;
  unsigned i;
  print(out, "{\"time\":%lld,\"event\":\"%s\",\"offset\":%llu", (long long)((uint64_t)e->time - (uint64_t)d->first), e->spec->name,
        (ull)e->offset);
  if (e->m != GOTRACE_NO_ID) print(out, ",\"m\":%lld", (long long)e->m);
  if (e->p != GOTRACE_NO_ID) print(out, ",\"p\":%lld", (long long)e->p);
  if (e->g != GOTRACE_NO_ID) print(out, ",\"g\":%lld", (long long)e->g);
  put_string(out, ",\"args\":{");
  for (i = 0; i < k->count && i < e->arg_count; i++) {
    print(out, "%s\"%s\":", i ? "," : "", k->arguments[i].name);
    if (k->arguments[i].type == IS_STACK) dump_frames(d, e->args[i]);
    else dump_argument_value(d, &k->arguments[i], e->args[i]);
  }
  put_byte(&out->block, '}');
  if (!d->wire && has_status_before(e)) print(out, ",\"before\":\"%s\"", status_before(e));
  if (e->data) put_string(out, ",\"data\":"), put_quoted(out, e->data, e->data_size);
  if (e->implied) put_string(out, ",\"implied\":true");
  put_string(out, "}\n");
}

static int command_dump(const char *path, const settings *set) {
  static dumper d;
  input in;
  gotrace_event e;
  gotrace_result result;
  bool first = true;
  if (!input_open(&in, path, false)) return 1;
  memset(&d, 0, sizeof d);
  d.wire = set->wire;
  d.json = set->json;
  output_direct(&d.out);
  result = input_decode(&in, set->wire);
  d.decoder = in.decoder;
  while (result == GOTRACE_OK && (result = input_next(&in, &e)) == GOTRACE_OK) {
    if (!set->wire && first) d.first = e.time;
    first = false;
    if (set->json) dump_object(&d, &e);
    else dump_line(&d, &e);
    output_check(&d.out);
  }
  output_close(&d.out);
  if (result != GOTRACE_END_OF_TRACE) report("%s", input_error(&in));
  input_close(&in);
  return result != GOTRACE_END_OF_TRACE;
}

/* -------------------------------------------------------------------------------------------------------- export ----
 *
 * Trace Event Format: a process with a thread for each proc, on which goroutines are slices. Times are microseconds. */

typedef struct chrome {
  consumer c;
  output *out;
  bool any;
  uint64_t arrows;
} chrome;

#define CHROME_GC_THREAD 1000000000  /* collections */
#define CHROME_NO_PROC 1000000001    /* what happens on no proc */
#define CHROME_STW_THREAD 1000000002 /* stopped worlds: one may end in another collection than it began in */

static uint64_t chrome_thread(const thread *m) { return m && m->p ? m->p->id : CHROME_NO_PROC; }

/* Begins an event; what it adds and chrome_end follow. */
static void chrome_event(chrome *x, char phase, int64_t time, uint64_t thread_id) {
  int64_t since = between(x->c.base, time);
  put_string(x->out, x->any ? ",\n{" : "{");
  x->any = true;
  print(x->out, "\"ph\":\"%c\",\"ts\":%lld.%03d,\"pid\":1,\"tid\":%llu", phase, (long long)(since / 1000), (int)(since % 1000),
        (ull)thread_id);
}

static void chrome_end(chrome *x) {
  put_byte(&x->out->block, '}');
  output_check(x->out);
}

static void chrome_text(chrome *x, const char *key, uint32_t text) {
  pool_text t = pool_text_of(text);
  print(x->out, ",\"%s\":", key);
  put_quoted(x->out, t.data, t.size);
}

static void chrome_duration(chrome *x, int64_t duration) {
  print(x->out, ",\"dur\":%lld.%03d", (long long)(duration / 1000), (int)(duration % 1000));
}

static void chrome_go_name(chrome *x, const goroutine *g) {
  pool_text name = pool_text_of(name_of(g));
  char text[600];
  int shown = name.size < 500 ? (int)name.size : 500;
  int size = snprintf(text, sizeof text, "G%llu%s%.*s", (ull)g->id, name.size ? " " : "", shown, name.data);
  put_string(x->out, ",\"name\":");
  put_quoted(x->out, text, (size_t)size);
}

/* A goroutine comes to a proc, or leaves it. */
static void chrome_arrive(chrome *x, goroutine *g, const thread *m, int64_t time) {
  g->slice = time;
  if (!g->arrow) return;
  chrome_event(x, 'f', time, chrome_thread(m));
  print(x->out, ",\"bp\":\"e\",\"cat\":\"unblock\",\"name\":\"unblock\",\"id\":%llu", (ull)g->arrow);
  chrome_end(x);
  g->arrow = 0;
}

static void chrome_leave(chrome *x, const thread *m, int64_t time, uint32_t reason) {
  goroutine *g = m ? m->g : NULL;
  if (!g || !m->p || g->slice > time) return;
  chrome_event(x, 'X', g->slice, m->p->id);
  chrome_duration(x, between(g->slice, time));
  chrome_go_name(x, g);
  put_string(x->out, ",\"cat\":\"goroutine\",\"args\":{\"g\":");
  put_decimal(x->out, g->id);
  if (reason) chrome_text(x, "until", reason);
  put_byte(&x->out->block, '}');
  chrome_end(x);
  g->slice = INT64_MAX; /* on no proc */
}

static void chrome_unblock(chrome *x, const op *o) {
  goroutine *g = world_go(x->c.w, o->id);
  if (!g || !o->m || !o->m->p) return;
  g->arrow = ++x->arrows;
  chrome_event(x, 's', o->time, o->m->p->id);
  print(x->out, ",\"cat\":\"unblock\",\"name\":\"unblock\",\"id\":%llu", (ull)g->arrow);
  chrome_end(x);
}

/* Tasks, and regions of a goroutine, which may run on several procs until they end. */
static void chrome_async(chrome *x, const op *o, char phase, const char *category, uint64_t id) {
  chrome_event(x, phase, o->time, chrome_thread(o->m));
  print(x->out, ",\"cat\":\"%s\",\"id\":\"%s %llu\"", category, category, (ull)id);
  chrome_text(x, "name", o->name);
  chrome_end(x);
}

static void chrome_log(chrome *x, const op *o) {
  chrome_event(x, 'i', o->time, chrome_thread(o->m));
  put_string(x->out, ",\"s\":\"t\",\"cat\":\"log\"");
  chrome_text(x, "name", o->value);
  put_string(x->out, ",\"args\":{\"task\":");
  put_decimal(x->out, o->id);
  chrome_text(x, "category", o->name);
  put_byte(&x->out->block, '}');
  chrome_end(x);
}

static void chrome_counter(chrome *x, const op *o, const char *name) {
  chrome_event(x, 'C', o->time, 0);
  print(x->out, ",\"name\":\"%s\",\"args\":{\"bytes\":%llu}", name, (ull)o->a[0]);
  chrome_end(x);
}

static void chrome_range(chrome *x, const op *o, char phase, uint64_t thread_id, const char *name) {
  chrome_event(x, phase, o->time, thread_id);
  print(x->out, ",\"cat\":\"gc\",\"name\":\"%s\"", name);
  if (o->name) {
    pool_text reason = pool_text_of(o->name);
    put_string(x->out, ",\"args\":{\"reason\":");
    put_quoted(x->out, reason.data, reason.size);
    put_byte(&x->out->block, '}');
  }
  chrome_end(x);
}

static void chrome_take(consumer *c, const op *o) {
  chrome *x = (chrome *)c;
  goroutine *g = world_go(c->w, o->id);
  const goroutine *self = o->m ? o->m->g : NULL;
  switch (o->kind) {
    case GOTRACE_V2_GO_START:
      if (g) chrome_arrive(x, g, o->m, o->time);
      break;
    case GOTRACE_V2_GO_STATUS: /* its goroutine comes to be in this operation */
      if (o->a[0] == GO_RUNNING) go_record(c->w, o->id)->slice = o->time;
      break;
    case GOTRACE_V2_GO_DESTROY:
    case GOTRACE_V2_GO_DESTROY_SYSCALL:
    case GOTRACE_V2_GO_STOP:
    case GOTRACE_V2_GO_BLOCK:
    case GOTRACE_V2_PROC_STOP: chrome_leave(x, o->m, o->time, o->name); break;
    case GOTRACE_V2_PROC_STEAL: {
      const proc *p = world_proc(c->w, o->id, false);
      if (p) chrome_leave(x, p->m, o->time, pool_put_string("syscall"));
      break;
    }
    case GOTRACE_V2_GO_SWITCH:
    case GOTRACE_V2_GO_SWITCH_DESTROY:
      chrome_unblock(x, o);
      chrome_leave(x, o->m, o->time, 0);
      if (g) chrome_arrive(x, g, o->m, o->time);
      break;
    case GOTRACE_V2_GO_UNBLOCK: chrome_unblock(x, o); break;
    case GOTRACE_V2_USER_TASK_BEGIN: chrome_async(x, o, 'b', "task", o->id); break;
    case GOTRACE_V2_USER_TASK_END: chrome_async(x, o, 'e', "task", o->id); break;
    case GOTRACE_V2_USER_REGION_BEGIN:
    case GOTRACE_V2_USER_REGION_END:
      if (self) chrome_async(x, o, o->kind == GOTRACE_V2_USER_REGION_BEGIN ? 'b' : 'e', "region", self->id);
      break;
    case GOTRACE_V2_USER_LOG: chrome_log(x, o); break;
    case GOTRACE_V2_HEAP_ALLOC: chrome_counter(x, o, "heap"); break;
    case GOTRACE_V2_HEAP_GOAL: chrome_counter(x, o, "heap goal"); break;
    case GOTRACE_V2_GC_BEGIN:
    case GOTRACE_V2_GC_END:
      if (c->w->gc == (o->kind == GOTRACE_V2_GC_END))
        chrome_range(x, o, c->w->gc ? 'E' : 'B', CHROME_GC_THREAD, "GC");
      break;
    case GOTRACE_V2_STW_BEGIN: chrome_range(x, o, 'B', CHROME_STW_THREAD, "stopped world"); break;
    case GOTRACE_V2_STW_END:
      if (self && self->stw) chrome_range(x, o, 'E', CHROME_STW_THREAD, "stopped world");
      break;
    default: break;
  }
}

static void chrome_begin(consumer *c, int64_t time) {
  const op gc = {.kind = GOTRACE_V2_GC_BEGIN, .time = time};
  goroutine *g;
  for (g = c->w->live; g; g = g->next) g->slice = time;
  if (c->w->gc) chrome_range((chrome *)c, &gc, 'B', CHROME_GC_THREAD, "GC");
}

static void chrome_thread_name(chrome *x, uint64_t id, const char *name, ull number) {
  put_string(x->out, x->any ? ",\n{" : "{");
  x->any = true;
  print(x->out, "\"ph\":\"M\",\"pid\":1,\"tid\":%llu,\"name\":\"thread_name\",\"args\":{\"name\":\"", (ull)id);
  if (number != NOBODY) print(x->out, "%s %llu\"}}", name, number);
  else print(x->out, "%s\"}}", name);
}

static void chrome_finish(consumer *c, int64_t time) {
  chrome *x = (chrome *)c;
  thread *m;
  proc *p;
  for (m = c->w->thread_list; m; m = m->next) chrome_leave(x, m, time, 0);
  for (p = c->w->proc_list; p; p = p->next) chrome_thread_name(x, p->id, "Proc", p->id);
  chrome_thread_name(x, CHROME_GC_THREAD, "GC", NOBODY);
  chrome_thread_name(x, CHROME_STW_THREAD, "stopped world", NOBODY);
  chrome_thread_name(x, CHROME_NO_PROC, "no proc", NOBODY);
}

static int command_export(const char *path, const settings *set) {
  input in;
  output out;
  source s;
  chrome x;
  gotrace_result result;
  memset(&s, 0, sizeof s);
  memset(&x, 0, sizeof x);
  if (!input_open(&in, path, true)) return 1;
  if (input_decode(&in, false) != GOTRACE_OK) fail("%s", input_error(&in));
  x.c.begin = chrome_begin;
  x.c.take = chrome_take;
  x.c.end = chrome_finish;
  x.c.statuses = true;
  x.out = &out;
  output_open(&out, set->output);
  put_string(&out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  result = source_run(&s, &in, &x.c, set->from, set->until, NULL, NULL);
  if (result != GOTRACE_END_OF_TRACE) broken(set, &s);
  put_string(&out, "\n]}\n");
  output_close(&out);
  source_free(&s);
  input_close(&in);
  return 0;
}

/* ---------------------------------------------------------------------------------------------------- the command ---- */

static const char usage_text[] =
    "usage: gotrace info FILE\n"
    "       gotrace check FILE...\n"
    "       gotrace dump [--wire] [--json] FILE\n"
    "       gotrace cut --from TIME --to TIME [-o OUT] [--partial] FILE\n"
    "       gotrace convert --to FORMAT [-o OUT] [--partial] FILE\n"
    "       gotrace export --chrome [-o OUT] [--partial] FILE\n"
    "FILE - is standard input. TIME counts from the first event: 1.5s, 20ms, 300us, or nanoseconds.\n"
    "FORMAT: 1.8, 1.10, 1.11, 1.19, 1.21 (v1), 1.22, 1.23, 1.25, 1.26 (v2).\n"
    "--partial keeps what comes before an error. Without -o the result goes to standard output.\n";

__attribute__((noreturn, format(printf, 1, 2))) static void usage(const char *format, ...) {
  va_list arguments;
  program.file = NULL;
  va_start(arguments, format);
  complain(format, arguments);
  va_end(arguments);
  fputs(usage_text, stderr);
  exit(2);
}

static int64_t parse_time(const char *text) {
  static const struct {
    const char *name;
    double size;
  } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1}};
  char *end;
  double value = strtod(text, &end);
  size_t i;
  for (i = 0; i < COUNT(units); i++) {
    if (end == text || strcmp(end, units[i].name) != 0 || !(value >= 0)) continue;
    value *= units[i].size;
    return value < 9e18 ? (int64_t)(value + 0.5) : INT64_MAX;
  }
  usage("'%s' is no time", text);
}

static int parse_format(const char *text) {
  char name[16];
  size_t i;
  for (i = 0; i < COUNT(written_formats); i++) {
    snprintf(name, sizeof name, "1.%d", written_formats[i] % 1000);
    if (strcmp(text, name) == 0) return written_formats[i];
  }
  usage("'%s' is no format that is written", text);
}

enum { TAKES_WIRE = 1, TAKES_JSON = 2, TAKES_OUTPUT = 4, TAKES_TIMES = 8, TAKES_FORMAT = 16, TAKES_CHROME = 32, TAKES_MANY = 64 };
enum { GIVEN_WIRE = 1, GIVEN_JSON = 2, GIVEN_PARTIAL = 4, GIVEN_OUTPUT = 8, GIVEN_FROM = 16, GIVEN_TO = 32, GIVEN_CHROME = 64 };

typedef struct command {
  const char *name;
  int (*run)(const char *path, const settings *set);
  unsigned takes;
} command;

static const command commands[] = {
    {"info", command_info, 0},
    {"check", command_check, TAKES_MANY},
    {"dump", command_dump, TAKES_WIRE | TAKES_JSON},
    {"cut", command_rewrite, TAKES_OUTPUT | TAKES_TIMES},
    {"convert", command_rewrite, TAKES_OUTPUT | TAKES_FORMAT},
    {"export", command_export, TAKES_OUTPUT | TAKES_CHROME},
};

/* Reads one option; returns how many words it takes, 0 for none. */
static int parse_option(const command *c, char **word, settings *set, unsigned *given) {
  const struct {
    const char *name;
    unsigned takes, given;
    bool value;
  } options[] = {
      {"--wire", TAKES_WIRE, GIVEN_WIRE, false},
      {"--json", TAKES_JSON, GIVEN_JSON, false},
      {"--partial", TAKES_OUTPUT, GIVEN_PARTIAL, false},
      {"-o", TAKES_OUTPUT, GIVEN_OUTPUT, true},
      {"--from", TAKES_TIMES, GIVEN_FROM, true},
      {"--to", TAKES_TIMES | TAKES_FORMAT, GIVEN_TO, true},
      {"--chrome", TAKES_CHROME, GIVEN_CHROME, false},
  };
  size_t i;
  for (i = 0; i < COUNT(options) && strcmp(*word, options[i].name) != 0; i++) continue;
  if (i == COUNT(options) || !(options[i].takes & c->takes)) usage("%s has no option %s", c->name, *word);
  if (options[i].value && !word[1]) usage("%s wants a value", *word);
  *given |= options[i].given;
  switch (options[i].given) {
    case GIVEN_WIRE: set->wire = true; break;
    case GIVEN_JSON: set->json = true; break;
    case GIVEN_PARTIAL: set->partial = true; break;
    case GIVEN_OUTPUT: set->output = word[1]; break;
    case GIVEN_FROM: set->from = parse_time(word[1]); break;
    case GIVEN_TO:
      if (c->takes & TAKES_FORMAT) set->format = parse_format(word[1]);
      else set->until = parse_time(word[1]);
      break;
    default: break;
  }
  return options[i].value ? 2 : 1;
}

static void finish_output(void) {
  program.file = NULL;
  if (fflush(stdout) != 0 || ferror(stdout)) fail("standard output: %s", strerror(errno));
}

int main(int argc, char **argv) {
  settings set = {0};
  const command *c = NULL;
  char **files = argv + 2;
  unsigned given = 0;
  size_t n;
  int i = 2, count = 0, status = 0;
  bool options = true;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  hash_seed = mix((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 40) ^ (uint64_t)(uintptr_t)argv;
  mind_signals();
  set.until = INT64_MAX;
  for (n = 0; argc > 1 && n < COUNT(commands); n++)
    if (strcmp(argv[1], commands[n].name) == 0) c = &commands[n];
  if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    fputs(usage_text, stdout);
    finish_output();
    return 0;
  }
  if (!c) usage(argc > 1 ? "there is no command %s" : "which command?%s", argc > 1 ? argv[1] : "");
  while (i < argc) { /* options stand anywhere before "--"; the files come to stand first */
    if (options && strcmp(argv[i], "--") == 0) options = false, i++;
    else if (options && argv[i][0] == '-' && argv[i][1]) i += parse_option(c, &argv[i], &set, &given);
    else files[count++] = argv[i++];
  }
  if ((c->takes & TAKES_TIMES) && !(given & (GIVEN_FROM | GIVEN_TO))) usage("cut wants --from, --to or both");
  if (set.from > set.until) usage("the part ends before it begins");
  if ((c->takes & TAKES_FORMAT) && !(given & GIVEN_TO)) usage("convert wants --to");
  if ((c->takes & TAKES_CHROME) && !(given & GIVEN_CHROME)) usage("export wants --chrome");
  if (!count) usage("%s wants a file", c->name);
  if (count > 1 && !(c->takes & TAKES_MANY)) usage("%s takes one file", c->name);
  for (i = 0; i < count; i++) status |= c->run(files[i], &set);
  finish_output();
  return status;
}
