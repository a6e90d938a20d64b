/* walk.c - walks copies of another process's stacks
 *
 * The kernel copies the registers and the top of the stack (perf.c). The rest comes from the files of the modules. They
 * are read into memory, since a mapped file that shrinks would raise SIGBUS. The process may write anything to its
 * stack: a word is read only inside the copy, and the stack pointer only increases, so a walk ends. */

#include "walk.h"

#define GOTRACE__UNWIND_COPIES
#include "../../unwind/gotrace_unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#if HAS_UNWINDER

struct code_image {
  gotrace__unwind_module m; /* its base differs from process to process */
  ElfW(Phdr) * segments;
  uint8_t *data;
};

#define MOST_SEGMENTS 256

static bool read_at(int file, void *to, size_t size, uint64_t offset) {
  uint8_t *at = to;
  while (size) {
    ssize_t n = pread(file, at, size, (off_t)offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, offset += (uint64_t)n, size -= (size_t)n;
  }
  return true;
}

/* The segment with the descriptions; NULL: none. */
static ElfW(Phdr) * find_described(ElfW(Phdr) * segments, size_t count) {
  ElfW(Phdr) *table = NULL, *end = segments + count, *p;
  for (p = segments; p < end; p++)
    if (p->p_type == PT_GNU_EH_FRAME) table = p;
  for (p = segments; table && p < end; p++)
    if (gotrace__unwind_may_describe(p) && table->p_vaddr - p->p_vaddr < p->p_filesz) return p;
  return NULL;
}

static bool is_header(const ElfW(Ehdr) * head) {
  return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64 &&
         head->e_phentsize == sizeof(ElfW(Phdr)) && head->e_phnum && head->e_phnum <= MOST_SEGMENTS;
}

/* Takes from the segment what comes before its descriptions, mostly constants: of cc1 that is two thirds. */
static void skip_constants(int file, const ElfW(Phdr) * segments, size_t count, ElfW(Phdr) * described) {
  uint8_t head[8]; /* of .eh_frame_hdr; its second byte tells how it refers to .eh_frame */
  const ElfW(Phdr) *table = segments, *end = segments + count;
  uint64_t skipped, frames;
  int32_t offset;
  while (table < end && table->p_type != PT_GNU_EH_FRAME) table++;
  if (table == end || !read_at(file, head, sizeof head, table->p_offset)) return;
  if (head[1] != 0x1b /* a 32-bit offset from here */) return;
  memcpy(&offset, head + 4, sizeof offset);
  frames = table->p_vaddr + 4 + (uint64_t)(int64_t)offset;
  skipped = (frames < table->p_vaddr ? frames : table->p_vaddr) - described->p_vaddr;
  if (skipped >= described->p_filesz) return;
  described->p_vaddr += skipped;
  described->p_offset += skipped;
  described->p_filesz -= skipped;
}

static bool read_image(int file, size_t *room, code_image *i) {
  ElfW(Ehdr) head;
  ElfW(Phdr) * described;
  if (!read_at(file, &head, sizeof head, 0) || !is_header(&head)) return false;
  i->segments = zeroed(head.e_phnum * sizeof *i->segments);
  if (!read_at(file, i->segments, head.e_phnum * sizeof *i->segments, head.e_phoff)) return false;
  described = find_described(i->segments, head.e_phnum);
  if (described) skip_constants(file, i->segments, head.e_phnum, described);
  if (!described || described->p_filesz > *room) return false;
  i->data = malloc(described->p_filesz);
  if (!i->data || !read_at(file, i->data, described->p_filesz, described->p_offset)) return false;
  *room -= described->p_filesz;
  i->m = (gotrace__unwind_module){0, i->segments, head.e_phnum, described, i->data};
  return true;
}

code_image *code_image_read(int file, size_t *room) {
  code_image *i = zeroed(sizeof *i);
  if (read_image(file, room, i)) return i;
  code_image_free(i);
  return NULL;
}

code_image *code_image_of_vdso(void) {
  ElfW(Ehdr) *head = (void *)getauxval(AT_SYSINFO_EHDR);
  ElfW(Phdr) * segments, *described;
  code_image *i;
  if (!head || !is_header(head)) return NULL;
  segments = (void *)((uintptr_t)head + head->e_phoff);
  described = find_described(segments, head->e_phnum);
  if (!described) return NULL;
  i = zeroed(sizeof *i);
  i->m = (gotrace__unwind_module){0, segments, head->e_phnum, described, (const uint8_t *)head + described->p_offset};
  return i;
}

void code_image_free(code_image *i) {
  if (!i) return;
  free(i->segments);
  free(i->data);
  free(i);
}

uintptr_t code_image_start(const code_image *i, uintptr_t address) {
  uintptr_t start;
  return gotrace__unwind_find_description(&i->m, address, &start).failed ? 0 : start;
}

/* ------------------------------------------------------------------------------------------------------- walks ---- */

typedef struct copied_stack {
  unwind_stack range; /* first: gotrace__unwind_load is given its address */
  const uint8_t *copy;
} copied_stack;

static inline bool gotrace__unwind_load(unwind_stack *stack, uintptr_t at, uintptr_t *value) {
  const copied_stack *s = (const copied_stack *)(const void *)stack;
  if (at < stack->low || at >= stack->high || stack->high - at < sizeof *value || at % sizeof *value) return false;
  memcpy(value, s->copy + (at - stack->low), sizeof *value);
  return true;
}

#define KNOWN_BITS 14
struct walker {
  const code_image *(*find)(void *context, uintptr_t pc, uintptr_t *base);
  void *context;
  struct known {
    uintptr_t pc; /* 0: free */
    uint64_t rule;
  } known[1 << KNOWN_BITS];
};

walker *walker_new(const code_image *(*find)(void *context, uintptr_t pc, uintptr_t *base), void *context) {
  walker *w = zeroed(sizeof *w);
  w->find = find;
  w->context = context;
  return w;
}

void walker_free(walker *w) { free(w); }

void walker_forget(walker *w) { memset(w->known, 0, sizeof w->known); }

static uint64_t rule_at(walker *w, uintptr_t pc) {
  struct known *k = &w->known[(pc * 0x9e3779b97f4a7c15u) >> (64 - KNOWN_BITS)];
  const code_image *i;
  gotrace__unwind_module m;
  gotrace__unwind_rule found;
  uintptr_t base;
  if (k->pc == pc) return k->rule;
  i = w->find(w->context, pc, &base);
  if (!i) return GOTRACE__UNWIND_RULE_NONE;
  m = i->m;
  m.base = base;
  found = gotrace__unwind_find_rule_in(&m, pc - 1);
  *k = (struct known){pc, gotrace__unwind_pack(&found)};
  return k->rule;
}

size_t walker_walk(walker *w, unwind_frame frame, const void *copy, size_t size, uint64_t *to, size_t most) {
  copied_stack stack = {{frame.sp, frame.sp + size}, copy};
  size_t count = 0;
  if (stack.range.high < frame.sp) stack.range.high = frame.sp;
  do to[count++] = frame.pc;
  while (count < most && gotrace__unwind_step_by(rule_at(w, frame.pc), &frame, &stack.range));
  return count;
}

#else

struct walker {
  int unused;
};
code_image *code_image_read(int file, size_t *room) {
  (void)file, (void)room;
  return NULL;
}
code_image *code_image_of_vdso(void) { return NULL; }
void code_image_free(code_image *i) { (void)i; }
uintptr_t code_image_start(const code_image *i, uintptr_t address) { return (void)i, (void)address, 0; }
walker *walker_new(const code_image *(*find)(void *context, uintptr_t pc, uintptr_t *base), void *context) {
  (void)find, (void)context;
  return zeroed(sizeof(walker));
}
void walker_free(walker *w) { free(w); }
void walker_forget(walker *w) { (void)w; }
size_t walker_walk(walker *w, unwind_frame frame, const void *copy, size_t size, uint64_t *to, size_t most) {
  (void)w, (void)copy, (void)size;
  if (most) *to = frame.pc;
  return most != 0;
}
#endif
