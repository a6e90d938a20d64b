/* output.c - bytes and numbers; files that replace others only when complete: see tool.h
 *
 * The result of a command appears whole or not at all. It is written to a temporary file beside the target, which is
 * then renamed. Standard output, devices and pipes cannot be replaced: they get the contents of an unnamed temporary
 * file at the end. */

#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_BLOCK ((size_t)1 << 18)

uint8_t *bytes_room(bytes *b, size_t size) {
  if (b->capacity - b->size < size) {
    b->capacity = b->capacity * 2 + size + 64;
    b->data = resize(b->data, b->capacity);
  }
  return b->data + b->size;
}

void put_data(bytes *b, const void *data, size_t size) {
  if (!size) return;
  memcpy(bytes_room(b, size), data, size);
  b->size += size;
}

void put_byte(bytes *b, unsigned value) {
  *bytes_room(b, 1) = (uint8_t)value;
  b->size++;
}

void put_number(bytes *b, uint64_t value) {
  uint8_t *start = bytes_room(b, GOTRACE_BYTES_PER_NUMBER);
  b->size += (size_t)(encode_number(start, value) - start);
}

bool take_number(const uint8_t **at, const uint8_t *end, uint64_t *number) {
  unsigned shift = 0;
  for (*number = 0; *at < end && shift < 64; shift += 7) {
    if (shift == 63 && **at > 1) return false; /* more than 64 bits */
    *number |= (uint64_t)(**at & 0x7f) << shift;
    if (!(*(*at)++ & 0x80)) return true;
  }
  return false;
}

void output_direct(output *out) {
  memset(out, 0, sizeof *out);
  out->file = stdout;
}

void output_check(output *out) {
  if (out->block.size >= OUTPUT_BLOCK) output_flush(out);
}

void output_drop(output *part) {
  if (part->file) fclose(part->file);
  free(part->block.data);
  memset(part, 0, sizeof *part);
}

#if IN_BROWSER
void output_open(output *out, const char *path) {
  output_direct(out);
  if (path && strcmp(path, "-") != 0) fail("cannot write %s", path);
}

void output_flush(output *out) {
  if (out->block.size && fwrite(out->block.data, 1, out->block.size, out->file) != out->block.size)
    fail("standard output: %s", strerror(errno));
  out->block.size = 0;
}

void output_close(output *out) {
  output_flush(out);
  if (fflush(stdout) != 0) fail("standard output: %s", strerror(errno));
  free(out->block.data);
}

void output_append(output *to, output *part) {
  put_data(&to->block, part->block.data, part->block.size);
  output_drop(part);
}
#else
static const char *output_name(const output *out) { return out->path ? out->path : "standard output"; }

const char *temporary_directory(void) {
  const char *directory = getenv("TMPDIR");
  return directory && *directory ? directory : "/tmp";
}

__attribute__((noreturn)) static void fail_temporary(void) {
  fail("cannot write a temporary file in %s: %s", temporary_directory(), strerror(errno));
}

/* `file` cannot be written. It has no name if it is the temporary file of a part, or of what cannot be replaced. */
__attribute__((noreturn)) static void fail_file(const output *out) {
  if (out->file != stdout && (out->into || !out->path)) fail_temporary();
  fail("%s: %s", output_name(out), strerror(errno));
}

/* Finds out what is at the path. Sets `into` if it cannot be replaced, otherwise `target` and `mode`. */
static void output_find(output *out, const char *path) {
  struct stat status;
  mode_t mask = umask(0);
  int fd;
  umask(mask);
  if (path && strcmp(path, "-") == 0) path = NULL;
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
  } else { /* a file, or a link to one; a dangling link is refused */
    out->target = realpath(path, NULL);
    if (!out->target || access(path, W_OK) != 0) fail("cannot write %s: %s", path, strerror(errno));
    out->mode = status.st_mode & 0777;
  }
}

/* Copies what was written to a temporary file, and closes that. False: writing failed. */
static bool output_copy(FILE *from, FILE *to) {
  char block[1 << 16];
  size_t size;
  rewind(from);
  while ((size = fread(block, 1, sizeof block, from)) != 0)
    if (fwrite(block, 1, size, to) != size) return false;
  if (ferror(from)) fail_temporary();
  fclose(from);
  return fflush(to) == 0;
}

static void output_begin(output *out, int fd, const char *name) {
  out->file = fdopen(fd, "w+b");
  if (!out->file) fail("%s: %s", name, strerror(errno));
  setvbuf(out->file, NULL, _IONBF, 0);
}

void output_of_file(output *out, const char *name, int fd) {
  memset(out, 0, sizeof *out);
  out->path = name;
  output_begin(out, fd, name);
}

/* Opens a temporary file: beside the target, or an unnamed one. */
static void output_temporary(output *out) {
  const char *beside = out->target ? out->target : temporary_directory();
  char *name;
  int fd;
  name = resize(NULL, strlen(beside) + 32);
  sprintf(name, out->target ? "%s.XXXXXX" : "%s/gotrace.XXXXXX", beside);
  program.unfinished = name;
  fd = mkstemp(name);
  if (fd < 0) {
    program.unfinished = NULL;
    fail("cannot write %s: %s", out->target ? out->path : beside, strerror(errno));
  }
  output_begin(out, fd, name);
  if (!out->target) {
    unlink(name);
    program.unfinished = NULL;
    free(name);
  }
}

void output_open(output *out, const char *path) {
  memset(out, 0, sizeof *out);
  output_find(out, path);
  output_temporary(out);
}

void output_flush(output *out) {
  if (!out->file) output_temporary(out);
  if (out->block.size && fwrite(out->block.data, 1, out->block.size, out->file) != out->block.size) fail_file(out);
  out->block.size = 0;
}

void output_close(output *out) {
  output_flush(out);
  if (out->file == stdout) {
    if (fflush(stdout) != 0) fail("standard output: %s", strerror(errno));
  } else if (out->into) {
    if (!output_copy(out->file, out->into) || (out->into != stdout && fclose(out->into) != 0))
      fail("%s: %s", output_name(out), strerror(errno));
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

void output_append(output *to, output *part) {
  if (part->file) {
    output_flush(part);
    output_flush(to);
    if (!output_copy(part->file, to->file)) fail_file(to);
    part->file = NULL;
  } else {
    put_data(&to->block, part->block.data, part->block.size);
  }
  output_drop(part);
}

#endif

__attribute__((format(printf, 2, 3))) void print(output *out, const char *format, ...) {
  const int room = 512;
  va_list arguments;
  int size;
  va_start(arguments, format);
  size = format_text((char *)bytes_room(&out->block, (size_t)room), room, format, arguments);
  va_end(arguments);
  if (size > 0) out->block.size += (size_t)(size < room ? size : room - 1);
}

void put_string(output *out, const char *string) { put_data(&out->block, string, strlen(string)); }

/* Faster than print(), because a dump consists mostly of numbers. */
void put_decimal(output *out, uint64_t value) {
  char digits[20], *at = digits + sizeof digits;
  do *--at = (char)('0' + value % 10);
  while (value /= 10);
  put_data(&out->block, at, (size_t)(digits + sizeof digits - at));
}

void put_signed(output *out, int64_t value) {
  if (value < 0) put_byte(&out->block, '-');
  put_decimal(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

const char *real_text(double value, char text[REAL_TEXT]) {
  int digits = 15;
  do snprintf(text, REAL_TEXT, "%.*g", digits, value);
  while (++digits <= 17 && strtod(text, NULL) != value);
  return text;
}
