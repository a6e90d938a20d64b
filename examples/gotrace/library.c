/* library.c - the implementation of gotrace.h, and access to those of its private parts that the tool shares
 *
 * The decoder and the tracer need base-128 numbers, a hash, the functions of ELF files, and a place where a text may be
 * cut. The tool needs the same, but the header has no public functions for them. This file, the only one that sees the
 * implementation, makes them available. They are declared in tool.h.
 *
 * It contains write.h and outside.h, since these use the transcriber of gotrace.h. */

#define GOTRACE_IMPLEMENTATION
#include "base/tool.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if !IN_BROWSER
#include "record/outside.h"
#include "write/write.h"
#endif

uint64_t hash_seed;

void seed_hashes(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  hash_seed = gotrace__mix((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30, (uint64_t)getpid() << 40);
  hash_seed ^= (uint64_t)(uintptr_t)&now;
}

uint64_t hash_of(const void *data, size_t size) { return gotrace__hash_from(hash_seed, (const char *)data, size); }

uint8_t *encode_number(uint8_t *at, uint64_t value) { return gotrace__put_varint(at, value); }

size_t prefix_size(const char *text, size_t size, size_t most) { return gotrace__utf8_prefix(text, size, most); }

size_t cut_size(const char *text, size_t size) { return gotrace__truncated_size(text, size); }

int format_text(char *text, int room, const char *format, va_list arguments) {
  return GOTRACE__VSNPRINTF(text, (size_t)room, format, arguments);
}

bool elf_describe(const char *path, char id[ELF_ID_TEXT], uint64_t *low, uint64_t *high) {
#ifdef GOTRACE__ELF
  struct stat status;
  gotrace__elf_file elf = {0};
  gotrace__elf_head head;
  gotrace__elf_identity identity;
  gotrace__segment segment;
  unsigned i;
  bool known;
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false; /* opening a device may do anything */
  if (!gotrace__file_open_to_read(path, &elf.file)) return false;
  known = gotrace__elf_header(&elf, &head) && gotrace__elf_identify(&elf, &head, &identity);
  strcpy(id, "-");
  *low = UINT64_MAX;
  *high = 0;
  for (i = 0; known && i < identity.build_id_size; i++) snprintf(id + 2 * (size_t)i, 3, "%02x", identity.build_id[i]);
  for (i = 0; known && i < head.e_phnum; i++) {
    if (!gotrace__elf_read(&elf, head.e_phoff + i * sizeof segment, &segment, sizeof segment)) known = false;
    else if (segment.p_type == PT_LOAD && segment.p_vaddr < *low) *low = segment.p_vaddr;
    if (known && segment.p_type == PT_LOAD && segment.p_vaddr + segment.p_memsz > *high)
      *high = segment.p_vaddr + segment.p_memsz;
  }
  gotrace__file_close(&elf.file);
  return known;
#else
  (void)path, (void)id, (void)low, (void)high;
  return false;
#endif
}

#ifdef GOTRACE__ELF
#define MOST_SECTION ((uint64_t)1 << 28)

/* Appends a part of a file to `to`. */
static bool read_part(const gotrace__elf_file *elf, uint64_t offset, uint64_t size, bytes *to) {
  if (size > MOST_SECTION || !gotrace__elf_read(elf, offset, bytes_room(to, (size_t)size), (size_t)size)) return false;
  to->size += (size_t)size;
  return true;
}

static bool read_section(const gotrace__elf_file *elf, const char *name, bytes *contents) {
  gotrace__elf_head head;
  gotrace__elf_section names, section;
  char found[32];
  size_t size = strlen(name) + 1;
  unsigned i;
  if (!gotrace__elf_header(elf, &head) || size > sizeof found || head.e_shentsize != sizeof section) return false;
  if (!gotrace__elf_read(elf, head.e_shoff + (uint64_t)head.e_shstrndx * sizeof names, &names, sizeof names))
    return false;
  for (i = 0; i < head.e_shnum; i++) {
    if (!gotrace__elf_read(elf, head.e_shoff + (uint64_t)i * sizeof section, &section, sizeof section)) return false;
    if (section.sh_type == SHT_PROGBITS && gotrace__elf_read(elf, names.sh_offset + section.sh_name, found, size) &&
        memcmp(found, name, size) == 0)
      return !contents || read_part(elf, section.sh_offset, section.sh_size, contents);
  }
  return false;
}
#endif

bool elf_section(const char *path, const char *name, bytes *contents) {
  bool found = false;
#ifdef GOTRACE__ELF
  gotrace__elf_file elf = {0};
  if (!gotrace__file_open_to_read(path, &elf.file)) return false;
  found = read_section(&elf, name, contents);
  gotrace__file_close(&elf.file);
#else
  (void)path, (void)name, (void)contents;
#endif
  return found;
}

#ifdef GOTRACE__ELF
struct elf_symbols {
  gotrace__elf_symbols known;
  gotrace__budget budget;
};

static elf_symbols *load_symbols(const gotrace__elf_file *elf, size_t limit) {
  gotrace__elf_head head;
  elf_symbols *symbols;
  if (!gotrace__elf_header(elf, &head)) return NULL;
  symbols = keep(sizeof *symbols);
  symbols->budget.limit = limit;
  gotrace__elf_load(elf, &head, &symbols->budget, &symbols->known);
  return symbols;
}

elf_symbols *elf_symbols_of(const bytes *image) {
  gotrace__elf_file elf = {0};
  elf.data = image->data;
  elf.size = image->size;
  return load_symbols(&elf, GOTRACE__SYMBOLS_MEMORY);
}

elf_symbols *elf_symbols_in(const char *path) {
  gotrace__elf_file elf = {0};
  elf_symbols *symbols;
  if (!gotrace__file_open_to_read(path, &elf.file)) return NULL;
  symbols = load_symbols(&elf, MOST_SECTION);
  gotrace__file_close(&elf.file);
  return symbols;
}

const char *elf_function(const elf_symbols *symbols, uint64_t address) {
  return gotrace__elf_name(&symbols->known, (uintptr_t)address);
}

bool elf_is_start(const elf_symbols *symbols, uint64_t address) {
  size_t low = 0, high = symbols->known.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (symbols->known.functions[middle].start < address) low = middle + 1;
    else high = middle;
  }
  return low < symbols->known.count && symbols->known.functions[low].start == address;
}

void elf_symbols_free(elf_symbols *symbols) { gotrace__elf_free(&symbols->known, &symbols->budget); }
#else
elf_symbols *elf_symbols_of(const bytes *image) { return (void)image, NULL; }
elf_symbols *elf_symbols_in(const char *path) { return (void)path, NULL; }
const char *elf_function(const elf_symbols *symbols, uint64_t address) { return (void)symbols, (void)address, NULL; }
bool elf_is_start(const elf_symbols *symbols, uint64_t address) { return (void)symbols, (void)address, false; }
void elf_symbols_free(elf_symbols *symbols) { (void)symbols; }
#endif
