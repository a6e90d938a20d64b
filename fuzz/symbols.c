/* Fuzzes the reader of ELF files, and that of unwind tables in memory. They must not trust any byte of a file.
 *
 *     clang -g -O1 -I. -fsanitize=fuzzer,address,undefined fuzz/symbols.c -o build/fuzz/symbols -pthread
 *     build/fuzz/symbols -max_total_time=60 fuzz/seeds/symbols
 *
 * Input: a file. Its last bytes are also the addresses that are looked up.
 */
#define _GNU_SOURCE
#include "fuzz.h"

static size_t outstanding; /* bytes that are allocated */

static void *count_malloc(size_t size) {
  outstanding += size;
  return malloc(size ? size : 1);
}

static void count_free(void *memory, size_t size) {
  outstanding -= size;
  free(memory);
}

#define GOTRACE_MALLOC(size) count_malloc(size)
#define GOTRACE_FREE(pointer, size) count_free(pointer, size)
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#ifdef GOTRACE__ELF
static void check_symbols(const gotrace__elf_symbols *symbols, const uint8_t *data, size_t size) {
  size_t i;
  for (i = 0; i < symbols->count; i++) {
    const gotrace__function *function = &symbols->functions[i];
    REQUIRE(function->name < symbols->strings_size);
    REQUIRE(memchr(symbols->strings + function->name, 0, symbols->strings_size - function->name));
    REQUIRE(!i || function[-1].start < function->start);
    if (function->size) REQUIRE(gotrace__elf_name(symbols, function->start) == symbols->strings + function->name);
  }
  for (i = 0; i < 16 && 4 * (i + 1) <= size; i++) {
    uint32_t address;
    const char *name;
    memcpy(&address, data + size - 4 * (i + 1), 4);
    name = gotrace__elf_name(symbols, address);
    REQUIRE(!name || (name >= symbols->strings && name < symbols->strings + symbols->strings_size));
  }
}

/* Uses the bytes as the memory of a module with one segment, which consists of an unwind table. */
static void check_unwind(const uint8_t *data, size_t size) {
  gotrace__segment segments[2];
  gotrace__module module;
  uintptr_t start, address = size;
  memset(segments, 0, sizeof segments);
  memset(&module, 0, sizeof module);
  segments[0].p_type = PT_LOAD;
  segments[0].p_flags = PF_R;
  segments[0].p_filesz = segments[0].p_memsz = size;
  segments[1].p_type = PT_GNU_EH_FRAME;
  segments[1].p_filesz = segments[1].p_memsz = size;
  module.base = (uintptr_t)data;
  module.segments = segments;
  module.segment_count = 2;
  start = gotrace__unwind_start(&module, &segments[1], address);
  REQUIRE((intptr_t)start <= (intptr_t)address);
  segments[1].p_memsz++; /* extends beyond the segment */
  REQUIRE(gotrace__unwind_start(&module, &segments[1], address) == 0);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
#ifdef GOTRACE__ELF
  gotrace__elf_file elf;
  gotrace__elf_head head;
  gotrace__elf_identity identity, again;
  gotrace__elf_symbols symbols;
  gotrace__budget budget;
  memset(&budget, 0, sizeof budget);
  budget.limit = 1 << 20;
  memset(&elf, 0, sizeof elf);
  elf.file.number = -1;
  elf.data = data ? data : (const uint8_t *)"";
  elf.size = size;
  check_unwind(elf.data, size);
  memset(&identity, 0, sizeof identity);
  gotrace__elf_add_notes(&identity, elf.data, size, 4);
  gotrace__elf_add_notes(&identity, elf.data, size, 8);
  REQUIRE(identity.build_id_size <= GOTRACE__BUILD_ID);
  if (!gotrace__elf_header(&elf, &head)) return 0;
  if (gotrace__elf_identify(&elf, &head, &identity)) {
    REQUIRE(gotrace__elf_identify(&elf, &head, &again) && gotrace__elf_same(&identity, &again));
    REQUIRE(identity.build_id_size <= GOTRACE__BUILD_ID);
  }
  gotrace__elf_load(&elf, &head, &budget, &symbols);
  REQUIRE(budget.peak <= budget.limit && budget.used == outstanding);
  check_symbols(&symbols, elf.data, size);
  gotrace__elf_free(&symbols, &budget);
  REQUIRE(outstanding == 0 && budget.used == 0);
#else
  (void)data, (void)size, (void)outstanding;
#endif
  return 0;
}
