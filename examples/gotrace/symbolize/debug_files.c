/* debug_files.c - files that contain only the debug information of another file: see debug_files.h */

#include "debug_files.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_FOLDER "/usr/lib/debug"
#define MOST_DEBUG_FILE ((off_t)16 << 30) /* bytes; all of them are read for a checksum */

typedef struct search {
  choose_file *choose;
  char *path; /* DEBUG_FILE_PATH bytes: the place that is looked at */
} search;

/* Looks at a place. False: no file that may be read is there. */
static bool is_at(const search *s, const char *format, ...) {
  va_list arguments;
  struct stat status;
  const char *chosen = s->path;
  int size;
  va_start(arguments, format);
  size = vsnprintf(s->path, DEBUG_FILE_PATH, format, arguments);
  va_end(arguments);
  if (size < 0 || size >= DEBUG_FILE_PATH || stat(s->path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (s->choose && !(chosen = s->choose(s->path))) return false;
  if (chosen != s->path) snprintf(s->path, DEBUG_FILE_PATH, "%s", chosen);
  return true;
}

static bool has_id(const char *path, const char *id) {
  char found[ELF_ID_TEXT];
  uint64_t low, high;
  return elf_describe(path, found, &low, &high) && strcmp(found, id) == 0;
}

static bool find_by_id(const search *s, const char *id) {
  const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (strlen(id) <= 2) return false;
  if (is_at(s, DEBUG_FOLDER "/.build-id/%.2s/%s.debug", id, id + 2) && has_id(s->path, id)) return true;
  if (cache && *cache) return is_at(s, "%s/%s/debuginfo", cache, id) && has_id(s->path, id);
  if (caches && *caches) return is_at(s, "%s/debuginfod_client/%s/debuginfo", caches, id) && has_id(s->path, id);
  return home && *home && is_at(s, "%s/.cache/debuginfod_client/%s/debuginfo", home, id) && has_id(s->path, id);
}

/* The CRC-32 of a file, as in .gnu_debuglink. It may have been replaced since it was looked at, by a pipe for example.
 */
static bool has_checksum(const char *path, uint32_t expected) {
  static uint32_t table[256];
  static uint8_t part[1 << 16];
  uint32_t sum = UINT32_MAX, i, bit;
  struct stat status;
  ssize_t got = -1, at;
  off_t rest = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return false;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= MOST_DEBUG_FILE) rest = status.st_size;
  for (i = 0; !table[255] && i < 256; i++)
    for (table[i] = i, bit = 0; bit < 8; bit++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
  for (; rest > 0 && (got = read(file, part, sizeof part)) > 0; rest -= got)
    for (at = 0; at < got; at++) sum = sum >> 8 ^ table[(sum ^ part[at]) & 0xff];
  close(file);
  return rest == 0 && got > 0 && ~sum == expected;
}

static bool find_by_link(const search *s, const char *file) {
  const char *slash = strrchr(file, '/');
  int folder = slash ? (int)(slash + 1 - file) : 0;
  bytes link = {0};
  bool named = elf_section(file, ".gnu_debuglink", &link), found = false;
  const char *name = (const char *)link.data;
  size_t length = named ? strnlen(name, link.size) : 0, at = (length + 4) / 4 * 4; /* of the checksum, aligned */
  uint32_t sum;
  if (length && at + sizeof sum <= link.size && !strchr(name, '/')) {
    memcpy(&sum, link.data + at, sizeof sum);
    found = (is_at(s, "%.*s%s", folder, file, name) && has_checksum(s->path, sum)) ||
            (is_at(s, "%.*s.debug/%s", folder, file, name) && has_checksum(s->path, sum)) ||
            (is_at(s, DEBUG_FOLDER "%.*s%s", folder, file, name) && has_checksum(s->path, sum));
  }
  free(link.data);
  return found;
}

bool find_debug_file(const char *id, const char *file, choose_file *choose, char found[DEBUG_FILE_PATH]) {
  const search s = {choose, found};
  return find_by_id(&s, id) || (file && find_by_link(&s, file));
}
