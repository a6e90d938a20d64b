/* input.c - a trace in a file or pipe, and its decoder: see input.h
 *
 * A file is mapped into memory; in a browser it is read where that is needed. A pipe is read on demand, or copied into
 * memory if it is needed again. What gzip has compressed is unpacked into memory. While events are read, the terminal
 * shows the progress. */

#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#if !IN_BROWSER
#include <sys/mman.h>
#endif
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t read_anywhere(void *context, uint64_t offset, void *buffer, size_t size) {
  const input *in = context;
  ssize_t got;
  do got = pread(in->fd, buffer, size, (off_t)offset);
  while (got < 0 && errno == EINTR);
  return got < 0 ? (size_t)-1 : (size_t)got;
}

static size_t read_input(void *context, uint64_t offset, void *buffer, size_t size) {
  input *in = context;
  size_t ahead = in->ahead_size - in->ahead_taken;
  ssize_t got;
  (void)offset; /* reads are sequential */
  if (ahead) {
    if (ahead > size) ahead = size;
    memcpy(buffer, in->ahead + in->ahead_taken, ahead);
    in->ahead_taken += ahead;
    return ahead;
  }
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
  in->size = in->copy.size;
}

/* Reads the beginning of a pipe. An error shows again in the next read. */
static void look_ahead(input *in) {
  size_t got;
  uint8_t *end;
  do {
    end = in->ahead + in->ahead_size;
    got = read_input(in, 0, end, sizeof in->ahead - in->ahead_size);
    if (got == (size_t)-1) got = 0;
    in->ahead_size += got;
    in->ahead_taken = in->ahead_size; /* so that the next call reads on */
  } while (got && in->ahead_size < sizeof in->ahead);
  in->ahead_taken = 0;
}

/* What is known of the input without reading. */
static const uint8_t *known_bytes(const input *in, size_t *size) {
  *size = in->mapped || in->copy.data ? in->size : in->ahead_size;
  return in->mapped ? in->mapped : in->copy.data ? in->copy.data : in->ahead;
}

static void input_map(input *in, size_t size) {
#if IN_BROWSER
  in->seeks = true;
#else
  in->mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, in->fd, 0);
  if (in->mapped == MAP_FAILED) in->mapped = NULL;
  if (!in->mapped) return;
#endif
  in->size = size;
}

static void input_unmap(input *in) {
#if !IN_BROWSER
  if (in->mapped) munmap(in->mapped, in->size);
#endif
  in->mapped = NULL;
}

/* Replaces a gzip file by what it contains. False: a message was printed. */
static bool input_unpack(input *in) {
  bytes made = {0};
  const char *error;
  size_t size;
  const uint8_t *data = known_bytes(in, &size);
  if (!is_gzip(data, size)) return true;
  if (!in->mapped && !in->copy.data) input_copy(in);
  data = known_bytes(in, &size);
  error = unpack_gzip(&made, data, size);
  input_unmap(in);
  free(in->copy.data);
  in->copy = made;
  in->size = made.size;
  if (error) report("%s", error);
  return !error;
}

/* Releases the pages of a mapped file that have been read, which would count as this process's memory. If they are
 * needed again, the kernel reads them again. */
static void drop_behind(input *in, uint64_t offset) {
  const uint64_t step = 32 << 20;
  uint64_t end = offset / step * step;
  if (!in->mapped || end < in->dropped + 2 * step) return;
#if !IN_BROWSER
  madvise((char *)in->mapped + in->dropped, (size_t)(end - step - in->dropped), MADV_DONTNEED);
#endif
  in->dropped = end - step;
}

#if IN_BROWSER
__attribute__((import_module("page"), import_name("progress"))) void page_progress(double part);
static bool shows_progress(void) { return true; }
static void show_progress(const input *in) { page_progress(in->shown); }
#else
static bool shows_progress(void) { return isatty(2); }
static void show_progress(const input *in) {
  putc('\r', stderr);
  print_visible(stderr, in->path, strlen(in->path));
  if (in->size) fprintf(stderr, ": %3.0f %%\033[K", 100.0 * in->shown);
  else fprintf(stderr, ": %llu events\033[K", (ull)in->events);
  program.progress_shown = true;
}
#endif

void input_progress(input *in, uint64_t offset) {
  double now = seconds_now(), part;
  drop_behind(in, offset);
  if (now < in->next_progress || !shows_progress()) return;
  in->next_progress = now + 0.2;
  part = in->size ? in->done + in->share * (double)offset / (double)in->size : 0;
  if (part > in->shown) in->shown = part; /* with several threads, offsets jump back and forth */
  show_progress(in);
}

void input_of_file(input *in, const char *name, int fd) {
  memset(in, 0, sizeof *in);
  in->path = name;
  in->next_progress = seconds_now() + (IN_BROWSER ? 0.1 : 1);
  in->fd = fd;
}

bool input_open(input *in, const char *path, bool again) {
  return input_open_file(in, path, strcmp(path, "-") == 0 ? 0 : open(path, O_RDONLY), again);
}

bool input_open_file(input *in, const char *name, int fd, bool again) {
  struct stat status;
  const uint8_t *data;
  size_t size;
  program.file = name;
  input_of_file(in, name, fd);
  if (in->fd < 0 || fstat(in->fd, &status) != 0) {
    report("%s", strerror(errno));
    return false;
  }
  if (S_ISDIR(status.st_mode)) {
    report("%s", strerror(EISDIR));
    return false;
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0 && lseek(in->fd, 0, SEEK_CUR) == 0)
    input_map(in, (size_t)status.st_size);
  if (!in->mapped && !in->seeks && again) input_copy(in);
  else if (!in->mapped) look_ahead(in);
  if (!input_unpack(in)) return false;
  data = known_bytes(in, &size);
  if (is_only_header(data, size)) report("the trace has only a header: was tracing stopped before the program ended?");
  return true;
}

void input_first_look(input *in) { in->first_look = true; }

gotrace_result input_decode(input *in, bool raw) {
  gotrace_decoder_options options = {0};
  gotrace_result result;
  size_t i;
  options.raw = raw;
  options.lenient = in->lenient;
  options.from = raw ? 0 : in->from;
  /* Mapped pages that are skipped would count as this process's memory. */
  if (in->seeks || (options.from && in->mapped)) {
    options.read = read_anywhere;
    options.context = in;
    options.seekable = true;
  } else if (in->mapped || in->copy.data) {
    options.data = in->mapped ? in->mapped : in->copy.data;
    options.size = in->size;
  } else {
    options.read = read_input;
    options.context = in;
  }
  gotrace_decoder_close(in->decoder);
  in->decoder = NULL;
  in->batch_size = in->taken = 0;
  for (i = 0; i < COUNT(in->named); i++) in->named[i] = GOTRACE_NO_ID;
  in->dropped = 0;
  in->done = in->shown;
  in->share = (1 - in->done) * (in->first_look ? 0.5 : 1);
  in->first_look = false;
  result = gotrace_decoder_open(&in->decoder, &options);
  if (!in->decoder) fail("%s", gotrace_result_string(result));
  if (result == GOTRACE_OK && !raw && in->snapshot)
    result = gotrace_decoder_resume(in->decoder, in->snapshot, in->snapshot_size);
  return result;
}

int64_t input_first_time(const input *in, const gotrace_event *e) {
  gotrace_decoder_info info;
  if (in->has_base) return in->base;
  gotrace_decoder_get_info(in->decoder, &info);
  return info.family == 1 ? e->time : info.first_time;
}

bool input_is_kept(const input *in) { return in->mapped || in->copy.data || in->seeks; }

bool input_part(input *in, uint64_t at, uint8_t *to, size_t size) {
  size_t known;
  const uint8_t *data = known_bytes(in, &known);
  if (at > in->size || size > in->size - at) return false;
  if (in->seeks) return read_anywhere(in, at, to, size) == size;
  memcpy(to, data + at, size);
  return true;
}

const uint8_t *input_bytes(const input *in, size_t *size) {
  return in->mapped || in->copy.data ? known_bytes(in, size) : NULL;
}

/* Whether the first bytes of a file that is read where that is needed contain a text. */
static bool file_contains(input *in, const char *text, size_t size, size_t most) {
  const size_t step = 1 << 20;
  uint8_t *part = resize(NULL, step + size);
  bool found = false;
  uint64_t at;
  for (at = 0; !found && at < most && at < in->size; at += step) {
    size_t got = read_anywhere(in, at, part, step + size);
    found = got == (size_t)-1 || memmem(part, got, text, size);
  }
  free(part);
  return found;
}

bool input_contains(input *in, const char *text, size_t size, size_t most) {
  const size_t step = 1 << 20;
  size_t known, at, part;
  const uint8_t *data = known_bytes(in, &known);
  if (!input_is_kept(in)) return true;
  if (in->seeks) return file_contains(in, text, size, most);
  if (known > most) known = most;
  for (at = 0; at < known; at += step) {
    part = known - at < step + size ? known - at : step + size;
    if (memmem(data + at, part, text, size)) return true;
    drop_behind(in, at);
  }
  return false;
}

const char *input_error(const input *in) {
  static char text[100];
  const gotrace_decoder_failure *failure = gotrace_decoder_error(in->decoder);
  size_t size;
  const uint8_t *data = known_bytes(in, &size);
  const char *kind = failure->result == GOTRACE_ERROR_HEADER ? foreign_kind(data, size) : NULL;
  uint64_t second = find_header(data, size, failure->offset);
  if (kind) snprintf(text, sizeof text, "not a Go execution trace, but %s", kind);
  else if (second) snprintf(text, sizeof text, "a second trace begins (offset %llu)", (ull)second);
  else return failure->message[0] ? failure->message : gotrace_result_string(failure->result);
  return text;
}

const char *input_advice(const input *in, const settings *set, bool some) {
  bool lenient =
      set->may_be_lenient && !set->lenient && gotrace_decoder_error(in->decoder)->result == GOTRACE_ERROR_REGION;
  bool partial = set->may_be_partial && !set->partial && some;
  if (lenient && partial) return "; --lenient reads on, --partial keeps what comes before";
  return lenient ? "; --lenient reads on" : partial ? "; --partial keeps what comes before" : "";
}

void input_close(input *in) {
  gotrace_decoder_close(in->decoder);
  input_unmap(in);
  if (in->fd > 0) close(in->fd);
  free(in->copy.data);
  free(in->index.data);
  erase_progress();
}
