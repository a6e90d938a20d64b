/* example.h - shared by the examples: options, files, words, and the report on the trace
 *
 * Nothing here is needed to trace a program. The tracer calls in it are those that a program's own file layer would
 * make: the start and end of system calls, a region for reading a file, a task for the work on a directory. Include it
 * after gotrace.h.
 */

#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, MOST_JOBS = 256, BLOCK_SIZE = 65536, TOP = 10 };

static const char *program = "example";

/* ----------------------------------------------------------------------------------------------- failing ---- */

__attribute__((noreturn, format(printf, 2, 3))) static void fail(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", program);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(status);
}

static inline void *allocate(size_t size) {
  void *memory = calloc(1, size);
  if (!memory) fail(EXIT_FAILURE, "out of memory");
  return memory;
}

static inline uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* ----------------------------------------------------------------------------------------------- options ---- */

struct settings {
  const char *trace;        /* -o */
  gotrace_options options;  /* -f, -s */
  bool kinds;               /* -k */
  unsigned jobs;            /* -j */
  const char *const *paths; /* NULL after the last; they exist */
  struct stat trace_file;   /* identifies the trace's own file, which is not a text to count */
};

#define FORMAT(NAME, number, name) {name, GOTRACE_##NAME},
static const struct {
  const char *name;
  gotrace_format format;
} formats[] = {GOTRACE_FORMATS(FORMAT)};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static inline const char *format_name(gotrace_format format) {
  for (size_t i = 0; i < FORMATS; i++)
    if (formats[i].format == format) return formats[i].name;
  return "default";
}

static inline gotrace_format parse_format(const char *name) {
  char known[128] = "";
  for (size_t i = 0; i < FORMATS; i++) {
    if (!strcmp(formats[i].name, name)) return formats[i].format;
    strcat(strcat(known, " "), formats[i].name);
  }
  fail(EXIT_USAGE, "unknown format '%s'; known are%s", name, known);
}

static inline unsigned parse_jobs(const char *text) {
  char *end;
  errno = 0;
  long jobs = strtol(text, &end, 10);
  if (errno || end == text || *end || jobs < 1 || jobs > MOST_JOBS)
    fail(EXIT_USAGE, "'%s' is not a number of workers from 1 to %d", text, MOST_JOBS);
  return (unsigned)jobs;
}

/* At least two, because a single worker makes a dull trace. */
static inline unsigned default_jobs(void) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return processors < 2 ? 2 : processors > MOST_JOBS ? MOST_JOBS : (unsigned)processors;
}

static inline void print_usage(const char *trace, bool counts) {
  printf("usage: %s [-o FILE] [-f FORMAT] [-s] [-k]%s\n"
         "  -o FILE    write the trace to FILE (%s)\n"
         "  -f FORMAT  in this format:",
         program, counts ? " [-j N] [PATH...]" : "", trace);
  for (size_t i = 0; i < FORMATS; i++) printf(" %s", formats[i].name);
  printf("\n"
         "  -s         with stacks by frame pointers, for a program built with -fno-omit-frame-pointer\n"
         "  -k         print the number of events of each kind\n");
  if (counts)
    printf("  -j N       N worker threads (%u)\n"
           "Counts the words of all text files below each PATH (.).\n",
           default_jobs());
}

/* Reads the command line; ends the program if it is invalid. `counts`: the program takes -j and paths. */
static inline struct settings parse_arguments(int argc, char **argv, const char *name, const char *trace, bool counts) {
  static const char *const here[] = {".", NULL};
  struct settings settings = {.trace = trace, .jobs = default_jobs(), .paths = here};
  program = name;
  opterr = 0;
  for (int option; (option = getopt(argc, argv, counts ? ":o:f:skhj:" : ":o:f:skh")) != -1;) switch (option) {
    case 'o': settings.trace = optarg; break;
    case 'f': settings.options.format = parse_format(optarg); break;
    case 's': settings.options.stacks = GOTRACE_STACKS_FRAME_POINTERS; break;
    case 'k': settings.kinds = true; break;
    case 'j': settings.jobs = parse_jobs(optarg); break;
    case 'h': print_usage(trace, counts); exit(EXIT_SUCCESS);
    case ':': fail(EXIT_USAGE, "option -%c needs a value (-h for help)", optopt);
    default: fail(EXIT_USAGE, "unknown option -%c (-h for help)", optopt);
    }
  if (optind == argc) return settings;
  if (!counts) fail(EXIT_USAGE, "unexpected argument '%s' (-h for help)", argv[optind]);
  settings.paths = (const char *const *)(argv + optind);
  for (const char *const *path = settings.paths; *path; path++) {
    struct stat status;
    if (stat(*path, &status)) fail(EXIT_USAGE, "%s: %s", *path, strerror(errno));
  }
  return settings;
}

/* Starts the trace; ends the program if that fails. If tracing is compiled out, the program runs without it. */
static inline void start_trace(struct settings *settings) {
  gotrace_result result = gotrace_start_file(settings->trace, &settings->options);
  if (result == GOTRACE_ERROR_FORMAT)
    fail(EXIT_FAILURE, "format %s: %s", format_name(settings->options.format), gotrace_result_string(result));
  if (result == GOTRACE_ERROR_SINK) fail(EXIT_FAILURE, "%s: %s", settings->trace, strerror(errno));
  if (result != GOTRACE_OK && result != GOTRACE_ERROR_DISABLED)
    fail(EXIT_FAILURE, "%s: %s", settings->trace, gotrace_result_string(result));
  if (stat(settings->trace, &settings->trace_file)) settings->trace_file.st_ino = 0;
}

/* ------------------------------------------------------------------------------------------------- words ---- */

/* A word is a run of ASCII letters, in lower case, as in D. McIlroy's pipeline,
 *     tr -cs A-Za-z '\n' | tr A-Z a-z | sort | uniq -c | sort -rn | sed 10q */
static inline bool is_letter(char c) { return (unsigned char)((c | 0x20) - 'a') < 26; }

struct word {
  const char *text; /* NULL: the slot is empty */
  size_t length;
  uint64_t count;
  uint32_t hash;
};

/* A piece of memory for the texts of words. A word of BLOCK_SIZE bytes still fits. */
struct chunk {
  struct chunk *next;
  size_t used;
  char text[BLOCK_SIZE];
};

/* A hash table with open addressing. All zero: empty. */
struct words {
  struct word *slots;
  size_t capacity, used; /* slots, a power of two; of these, not empty */
  uint64_t total;
  struct chunk *chunks;
};

/* The slot of the word, or the empty one where it belongs. */
static inline struct word *words_find(const struct words *words, const char *text, size_t length, uint32_t hash) {
  for (size_t i = hash;; i++) {
    struct word *slot = &words->slots[i & (words->capacity - 1)];
    if (!slot->text) return slot;
    if (slot->hash == hash && slot->length == length && !memcmp(slot->text, text, length)) return slot;
  }
}

static inline void words_grow(struct words *words) {
  struct words larger = *words;
  larger.capacity = words->capacity ? 2 * words->capacity : 1024;
  larger.slots = (struct word *)allocate(larger.capacity * sizeof *larger.slots);
  for (size_t i = 0; i < words->capacity; i++) {
    const struct word *word = &words->slots[i];
    if (word->text) *words_find(&larger, word->text, word->length, word->hash) = *word;
  }
  free(words->slots);
  *words = larger;
}

static inline const char *words_keep(struct words *words, const char *text, size_t length) {
  struct chunk *chunk = words->chunks;
  if (!chunk || sizeof chunk->text - chunk->used < length) {
    chunk = (struct chunk *)malloc(sizeof *chunk);
    if (!chunk) fail(EXIT_FAILURE, "out of memory");
    chunk->next = words->chunks;
    chunk->used = 0;
    words->chunks = chunk;
  }
  char *kept = memcpy(chunk->text + chunk->used, text, length);
  chunk->used += length;
  return kept;
}

static inline void words_add(struct words *words, const char *text, size_t length, uint32_t hash, uint64_t count) {
  if (4 * words->used >= 3 * words->capacity) words_grow(words);
  struct word *word = words_find(words, text, length, hash);
  if (!word->text) {
    word->text = words_keep(words, text, length);
    word->length = length;
    word->hash = hash;
    words->used++;
  }
  word->count += count;
  words->total += count;
}

/* Counts the words of a text, which it turns to lower case. */
static inline void words_count(struct words *words, char *text, size_t size) {
  for (size_t i = 0; i < size; i++) {
    size_t begin = i;
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (; i < size && is_letter(text[i]); i++) {
      text[i] |= 0x20;
      hash = (hash ^ (unsigned char)text[i]) * 16777619U;
    }
    if (i > begin) words_add(words, text + begin, i - begin, hash, 1);
  }
}

static inline void words_merge(struct words *words, const struct words *others) {
  for (size_t i = 0; i < others->capacity; i++) {
    const struct word *other = &others->slots[i];
    if (other->text) words_add(words, other->text, other->length, other->hash, other->count);
  }
}

static inline void words_free(struct words *words) {
  for (struct chunk *chunk = words->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    free(chunk);
  }
  free(words->slots);
  memset(words, 0, sizeof *words);
}

/* Whether a comes before b in the result: the more frequent word first, then in alphabetical order. */
static inline bool words_precede(const struct word *a, const struct word *b) {
  if (a->count != b->count) return a->count > b->count;
  int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
  return order ? order < 0 : a->length < b->length;
}

/* ----------------------------------------------------------------------------------------------- batches ---- */

/* The files of a directory: a task in the trace, which ends when its last user releases it. */
struct batch {
  gotrace_task task;
  atomic_uint users;
};

static inline struct batch *batch_begin(const char *path, gotrace_task parent) {
  struct batch *batch = (struct batch *)allocate(sizeof *batch);
  batch->task = gotrace_task_begin("directory", parent);
  atomic_init(&batch->users, 1);
  gotrace_log(batch->task, "path", path);
  return batch;
}

static inline struct batch *batch_hold(struct batch *batch) {
  atomic_fetch_add_explicit(&batch->users, 1, memory_order_relaxed);
  return batch;
}

static inline void batch_release(struct batch *batch) {
  if (atomic_fetch_sub_explicit(&batch->users, 1, memory_order_acq_rel) > 1) return;
  gotrace_task_end(batch->task);
  free(batch);
}

/* ------------------------------------------------------------------------------------------------- files ---- */

/* The result for a file. */
#define VERDICTS(X)                \
  X(TEXT, "text")                  \
  X(BINARY, "binary")              \
  X(UNREADABLE, "unreadable")      \
  X(SPECIAL, "not a regular file") \
  X(TRACE, "the trace itself")

#define VERDICT(NAME, text) VERDICT_##NAME,
enum verdict { VERDICTS(VERDICT) VERDICT_COUNT };
#undef VERDICT

static inline const char *verdict_text(enum verdict verdict) {
#define VERDICT(NAME, text) text,
  static const char *const texts[] = {VERDICTS(VERDICT)};
#undef VERDICT
  return texts[verdict];
}

struct totals {
  uint64_t files[VERDICT_COUNT];
  uint64_t bytes; /* of texts */
};

/* A file or directory to be dealt with, in one list or queue at a time. */
struct entry {
  struct entry *next;
  struct batch *batch;
  bool is_directory;
  char path[];
};

/* A piece of a file that ends between two words. (One longer than a block counts as several.) */
struct block {
  struct batch *batch;
  size_t size;
  char text[BLOCK_SIZE];
};

/* Type of a directory entry. */
struct listing {
  struct entry *files, *directories;
  unsigned special; /* neither: symbolic links, which are never followed, devices, ... */
  int error;        /* errno, 0: none */
};

/* A file that is being read. */
struct file {
  int descriptor; /* -1: everything is read */
  int error;      /* errno, 0: none */
  gotrace_task task;
  struct block *ahead; /* what file_next returns; NULL: nothing more */
};

/* The functions that make system calls leave errno, a thread-local, for the next line to read. They must not be inlined
 * into a coroutine, which may change threads while the compiler remembers where its errno was (__errno_location is
 * declared const). */
#define MAKES_SYSTEM_CALLS __attribute__((noinline, unused)) static

static atomic_size_t blocks_held; /* bytes */

static inline struct block *block_new(void) {
  struct block *block = (struct block *)malloc(sizeof *block);
  if (!block) fail(EXIT_FAILURE, "out of memory");
  block->batch = NULL;
  block->size = 0;
  gotrace_heap_alloc(atomic_fetch_add_explicit(&blocks_held, sizeof *block, memory_order_relaxed) + sizeof *block);
  return block;
}

static inline void block_free(struct block *block) {
  free(block);
  gotrace_heap_alloc(atomic_fetch_sub_explicit(&blocks_held, sizeof *block, memory_order_relaxed) - sizeof *block);
}

/* `directory` NULL: the path is `name`. */
static inline struct entry *entry_new(const char *directory, const char *name, struct entry *next) {
  size_t prefix = directory ? strlen(directory) : 0, length = strlen(name);
  struct entry *entry = (struct entry *)allocate(sizeof *entry + prefix + 1 + length + 1);
  entry->next = next;
  if (prefix) {
    memcpy(entry->path, directory, prefix);
    if (directory[prefix - 1] != '/') entry->path[prefix++] = '/';
  }
  memcpy(entry->path + prefix, name, length);
  return entry;
}

/* An entry for a path of the command line. Here, and only here, symbolic links are followed. */
static inline struct entry *entry_for_argument(const char *path, struct entry *next) {
  struct stat status;
  char *resolved = realpath(path, NULL);
  if (!resolved || stat(resolved, &status)) fail(EXIT_FAILURE, "%s: %s", path, strerror(errno));
  struct entry *entry = entry_new(NULL, resolved, next);
  entry->is_directory = S_ISDIR(status.st_mode);
  free(resolved);
  return entry;
}

static inline void list_entry(struct listing *listing, const char *path, DIR *directory, const struct dirent *found) {
  unsigned char type = found->d_type;
  struct stat status;
  if (type == DT_UNKNOWN && !fstatat(dirfd(directory), found->d_name, &status, AT_SYMLINK_NOFOLLOW))
    type = S_ISREG(status.st_mode) ? DT_REG : S_ISDIR(status.st_mode) ? DT_DIR : DT_LNK;
  if (type == DT_DIR) {
    listing->directories = entry_new(path, found->d_name, listing->directories);
    listing->directories->is_directory = true;
  } else if (type == DT_REG || type == DT_UNKNOWN) { /* unknown: opening it will give the error */
    listing->files = entry_new(path, found->d_name, listing->files);
  } else {
    listing->special++;
  }
}

MAKES_SYSTEM_CALLS struct listing list_directory(const char *path, gotrace_task task) {
  struct listing listing = {0};
  GOTRACE_TASK_REGION(task, "list") {
    gotrace_go_syscall_begin();
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = descriptor < 0 ? NULL : fdopendir(descriptor);
    errno = directory ? 0 : errno;
    for (struct dirent *found; directory && (found = readdir(directory)); errno = 0)
      if (strcmp(found->d_name, ".") && strcmp(found->d_name, "..")) list_entry(&listing, path, directory, found);
    listing.error = errno;
    if (directory) closedir(directory);
    else if (descriptor >= 0) close(descriptor);
    gotrace_go_syscall_end();
  }
  return listing;
}

/* Fills the block up, and closes the file where it ends. */
static inline void file_fill(struct file *file, struct block *block) {
  while (block->size < BLOCK_SIZE) {
    ssize_t got = read(file->descriptor, block->text + block->size, BLOCK_SIZE - block->size);
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      block->size += (size_t)got;
      continue;
    }
    file->error = got < 0 ? errno : 0;
    close(file->descriptor);
    file->descriptor = -1;
    return;
  }
}

/* Opens a file and reads its first block. If the verdict is not VERDICT_TEXT, the file is closed again. */
MAKES_SYSTEM_CALLS enum verdict file_open(struct file *file, const char *path, const struct stat *trace,
                                          gotrace_task task) {
  enum verdict verdict = VERDICT_TEXT;
  struct stat status;
  *file = (struct file){.task = task, .ahead = block_new()};
  GOTRACE_TASK_REGION(task, "read") {
    gotrace_go_syscall_begin();
    /* O_NONBLOCK: if a pipe has replaced the file since it was listed, do not wait for a writer. */
    file->descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file->descriptor < 0 || fstat(file->descriptor, &status)) {
      /* A symbolic link or a socket has replaced it, or was named on the command line. */
      verdict = errno == ELOOP || errno == ENXIO ? VERDICT_SPECIAL : VERDICT_UNREADABLE;
      if (verdict == VERDICT_UNREADABLE) file->error = errno;
    } else if (!S_ISREG(status.st_mode)) {
      verdict = VERDICT_SPECIAL;
    } else if (status.st_ino == trace->st_ino && status.st_dev == trace->st_dev) {
      verdict = VERDICT_TRACE;
    } else {
      file_fill(file, file->ahead);
      if (file->error) verdict = VERDICT_UNREADABLE;
    }
    if (verdict != VERDICT_TEXT && file->descriptor >= 0) close(file->descriptor);
    gotrace_go_syscall_end();
  }
  size_t size = file->ahead->size;
  /* A zero byte near the beginning means binary, as in git. */
  if (verdict == VERDICT_TEXT && memchr(file->ahead->text, 0, size < 8000 ? size : 8000)) {
    verdict = VERDICT_BINARY;
    if (file->descriptor >= 0) close(file->descriptor);
  }
  if (verdict != VERDICT_TEXT || size == 0) {
    block_free(file->ahead);
    file->ahead = NULL;
  }
  return verdict;
}

/* Returns the file's next block, which the caller then owns; NULL at its end, or if reading failed (then
 * file->error). */
MAKES_SYSTEM_CALLS struct block *file_next(struct file *file) {
  struct block *block = file->ahead;
  file->ahead = NULL;
  if (!block || file->descriptor < 0) return block;

  /* The next block begins with the partial word at the end of this one. */
  size_t end = block->size;
  while (end > 0 && is_letter(block->text[end - 1])) end--;
  if (end == 0) end = block->size;
  file->ahead = block_new();
  file->ahead->size = block->size - end;
  memcpy(file->ahead->text, block->text + end, block->size - end);
  block->size = end;

  GOTRACE_TASK_REGION(file->task, "read") {
    gotrace_go_syscall_begin();
    file_fill(file, file->ahead);
    gotrace_go_syscall_end();
  }
  if (file->ahead->size == 0) {
    block_free(file->ahead);
    file->ahead = NULL;
  }
  return block;
}

static inline const char *file_reason(const struct file *file, enum verdict verdict) {
  return file->error ? strerror(file->error) : verdict_text(verdict);
}

/* ------------------------------------------------------------------------------------------------ report ---- */

/* Time that tasks spent blocked, by gotrace_block_reason: from where each blocked to where it was woken. */
struct blocked {
  uint64_t times[GOTRACE_BLOCK_REASON_COUNT], nanoseconds[GOTRACE_BLOCK_REASON_COUNT];
};

static inline void blocked_add(struct blocked *blocked, unsigned reason, uint64_t since) {
  blocked->times[reason]++;
  blocked->nanoseconds[reason] += nanoseconds() - since;
}

static inline void blocked_merge(struct blocked *blocked, const struct blocked *others) {
  for (int reason = 0; reason < GOTRACE_BLOCK_REASON_COUNT; reason++) {
    blocked->times[reason] += others->times[reason];
    blocked->nanoseconds[reason] += others->nanoseconds[reason];
  }
}

static inline void print_blocked(const struct blocked *blocked) {
#define REASON(NAME, number, v1, text) text,
  static const char *const texts[] = {GOTRACE_BLOCK_REASONS(REASON)};
#undef REASON
  for (int reason = 0; reason < GOTRACE_BLOCK_REASON_COUNT; reason++)
    if (blocked->times[reason])
      printf("blocked     %.6f s in %" PRIu64 " times: %s\n", (double)blocked->nanoseconds[reason] / 1e9,
             blocked->times[reason], texts[reason]);
}

/* Prints the counts, which do not depend on the number of workers. */
static inline void print_answer(const struct totals *totals, const struct words *words) {
  const struct word *top[TOP + 1];
  size_t ranks = 0;
  for (size_t i = 0; i < words->capacity; i++) {
    if (!words->slots[i].text) continue;
    size_t rank = ranks;
    for (; rank > 0 && words_precede(&words->slots[i], top[rank - 1]); rank--) top[rank] = top[rank - 1];
    top[rank] = &words->slots[i];
    if (ranks < TOP) ranks++;
  }
  printf("files       %" PRIu64 "\n", totals->files[VERDICT_TEXT]);
  printf("bytes       %" PRIu64 "\n", totals->bytes);
  printf("words       %" PRIu64 "\n", words->total);
  printf("distinct    %zu\n", words->used);
  for (enum verdict verdict = VERDICT_BINARY; verdict < VERDICT_COUNT; verdict++)
    if (totals->files[verdict]) printf("skipped     %" PRIu64 " %s\n", totals->files[verdict], verdict_text(verdict));
  for (size_t rank = 0; rank < ranks; rank++)
    printf("%11" PRIu64 " %.*s\n", top[rank]->count, (int)top[rank]->length, top[rank]->text);
}

/* Stops the trace and reports on it; `blocked` may be NULL. The exit status: EXIT_FAILURE if the trace ended early. */
static inline int stop_trace(const struct settings *settings, const struct blocked *blocked) {
  gotrace_result result = gotrace_stop();
  if (blocked) print_blocked(blocked);
  if (result == GOTRACE_ERROR_DISABLED) {
    printf("trace       none: %s\n", gotrace_result_string(result));
    return EXIT_SUCCESS;
  }
  gotrace_stats stats;
  gotrace_get_stats(&stats);
  printf("trace       %" PRIu64 " bytes, %" PRIu64 " events, %.2f bytes per event\n", stats.bytes, stats.events,
         stats.events ? (double)stats.bytes / (double)stats.events : 0.0);
  printf("goroutines  %" PRIu64 "\n", stats.goroutines);
  for (int i = 0; i < GOTRACE_PROBLEM_COUNT; i++) {
    gotrace_problem problem = (gotrace_problem)i;
    if (stats.problems[i])
      printf("problem     %" PRIu64 " %s: %s\n", stats.problems[i], gotrace_problem_outcome(problem),
             gotrace_problem_string(problem));
  }
  if (!stats.dropped && !stats.repaired) printf("problems    none\n");
  printf("open        go tool trace %s\n", settings->trace);
  for (int number = 0; settings->kinds && number < 256; number++) {
    const gotrace_event_spec *spec = gotrace_find_event_spec(settings->options.format, number);
    if (stats.kinds[number]) printf("kind %s %" PRIu64 "\n", spec ? spec->name : "?", stats.kinds[number]);
  }
  if (fflush(stdout) || ferror(stdout)) fail(EXIT_FAILURE, "standard output: %s", strerror(errno));
  if (result == GOTRACE_OK) return EXIT_SUCCESS;
  fprintf(stderr, "%s: %s: %s%s%s\n", program, settings->trace, gotrace_result_string(result),
          stats.system_error ? ": " : "", stats.system_error ? strerror(stats.system_error) : "");
  return EXIT_FAILURE;
}

#endif /* EXAMPLE_H */
