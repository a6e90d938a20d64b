/* unwind.c - complete stacks by .eh_frame
 *
 * A stack of 15 frames takes libgcc 2 microseconds. Here the rule for an address (frames.h) is one word in a table of
 * the whole process. So a frame that any thread has seen before takes a look-up and two reads of the stack.
 *
 * INVARIANTS
 *
 *   1. A walk allocates nothing and waits for no lock that the program can hold, so it may run in a signal handler.
 *      Otherwise the handler might wait for the thread that it has interrupted. What is left: glibc before 2.35 holds a
 *      lock where dlopen links a module, for some instructions. If a handler interrupts them and waits for another
 *      thread, that thread's walk waits until the handler returns.
 *   2. Nothing is read above the known part of the stack unless the system says that its page can be read, and the
 *      stack pointer only increases. Otherwise a wrong rule might crash the program.
 *   3. A kept rule is used only for the address and the epoch that it was made for, and not while a library is being
 *      unloaded. Otherwise a library that is loaded where another was would be walked by the rules of the other one.
 *   4. Descriptions are read only inside the segment of their module that contains them. Otherwise a damaged one would
 *      lead to memory that is not there. */

#include "preload.h"

#include "../frames.h"

#include <dlfcn.h>
#include <sys/syscall.h>

#if HAS_UNWINDER

/* ------------------------------------------------------------------------------------------------------ memory ---- */

#define PAGE ((uintptr_t)4096) /* the smallest one of both architectures */

/* Asks the system, which reads a signal set there before it rejects the rest of the call. */
NOINLINE static bool extend(unwind_stack *stack, uintptr_t at) {
  int kept = errno;
  bool readable;
  uintptr_t page = at & ~(PAGE - 1);
  if (at % sizeof at || !page || in_sandbox()) return false;
  readable = REAL(syscall)(SYS_rt_sigprocmask, -1L, page, NULL, 8) == 0 || errno != EFAULT;
  errno = kept;
  if (!readable) return false;
  if (page != stack->high) stack->low = page;
  stack->high = page + PAGE;
  return true;
}

/* ----------------------------------------------------------------------------------------------------- modules ---- */

/* As the C library declares it, with room for more members. */
struct found_object {
  unsigned long long flags;
  void *map_start, *map_end;
  struct link_map *link_map;
  void *eh_frame;
  uintptr_t reserved[16];
};
static int (*find_object)(void *, struct found_object *);

static bool contains(const module *m, uintptr_t pc) {
  size_t i;
  for (i = 0; i < m->count; i++)
    if (m->segments[i].p_type == PT_LOAD && pc - (m->base + m->segments[i].p_vaddr) < m->segments[i].p_memsz)
      return true;
  return false;
}

/* The first pages of modules, which a sandbox does not let the library look for. */
#define HEADERS 256
static uintptr_t headers[HEADERS];
static unsigned header_count;

static bool is_known_header(uintptr_t at) {
  unsigned i;
  if (!in_sandbox()) return false;
  for (i = 0; i < header_count; i++)
    if (headers[i] == at) return true;
  return false;
}

static int note_header(struct dl_phdr_info *info, size_t size, void *unused) {
  struct found_object found;
  unwind_stack page = {0, 0};
  size_t i;
  (void)size, (void)unused;
  for (i = 0; i < info->dlpi_phnum && info->dlpi_phdr[i].p_type != PT_LOAD; i++) continue;
  if (i < info->dlpi_phnum && header_count < HEADERS &&
      find_object((void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), &found) == 0 &&
      extend(&page, (uintptr_t)found.map_start))
    headers[header_count++] = (uintptr_t)found.map_start;
  return 0;
}

void unwind_before_sandbox(void) {
  header_count = 0;
  if (!find_object || !begin_look()) return;
  REAL(dl_iterate_phdr)(note_header, NULL);
  end_look();
}

/* The C library tells where a library lies, but not its segments. The file's header lists them. It is in the first
 * page, unless the file is odd; then the library counts as one without segments. */
static void read_segments(const struct found_object *found, module *m) {
  const ElfW(Ehdr) *header = found->map_start;
  unwind_stack page = {0, 0};
  *m = (module){found->link_map->l_addr, NULL, 0, NULL, NULL};
  if ((uintptr_t)found->map_end - (uintptr_t)header < PAGE) return;
  if (!is_known_header((uintptr_t)header) && !extend(&page, (uintptr_t)header)) return;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof *m->segments) return;
  if (header->e_phoff > PAGE || header->e_phoff % sizeof m->base) return;
  if (header->e_phnum > (PAGE - header->e_phoff) / sizeof *m->segments) return;
  m->segments = (const ElfW(Phdr) *)((uintptr_t)header + header->e_phoff);
  m->count = header->e_phnum;
}

/* The program itself stays, and may have gaps between its segments; then the C library tells only one of them. */
static module whole_program;

static int take_first_module(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  whole_program = (module){info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, NULL, NULL};
  return 1;
}

struct search {
  uintptr_t pc;
  module found;
};

static int look_at_module(struct dl_phdr_info *info, size_t size, void *argument) {
  struct search *s = argument;
  const module m = {info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, NULL, NULL};
  (void)size;
  if (!contains(&m, s->pc)) return 0;
  s->found = m;
  return 1;
}

/* Without _dl_find_object the C library looks under its lock of the modules. */
static bool look_for_module(uintptr_t pc, module *m) {
  struct search s = {pc, {0, NULL, 0, NULL, NULL}};
  bool found;
  if (!begin_look()) return false;
  found = REAL(dl_iterate_phdr)(look_at_module, &s) != 0;
  end_look();
  *m = s.found;
  return found;
}

/* The module that contains an address; false: none does, or it cannot be looked for now. */
static bool find_module(uintptr_t pc, module *m) {
  struct found_object found;
  if (contains(&whole_program, pc)) {
    *m = whole_program;
    return true;
  }
  if (!find_object) return look_for_module(pc, m);
  if (find_object((void *)pc, &found) != 0) return false;
  read_segments(&found, m);
  return true;
}

/* Whether a signal handler returns to this address. Linux does not describe that code on arm64, so it is known by its
 * instructions: mov x8, #139; svc #0. */
static bool is_end_of_handler(uintptr_t at) {
#if defined(__aarch64__)
  static const uint32_t code[] = {0xd2801168, 0xd4000001};
  unwind_stack page = {0, 0};
  return at % 4 == 0 && at % PAGE <= PAGE - sizeof code && extend(&page, at & ~(uintptr_t)7) &&
         memcmp((const void *)at, code, sizeof code) == 0;
#else
  (void)at;
  return false;
#endif
}

/* The rule for the code at an address. In code of no module, as in generated code, a module may be loaded later. */
NOINLINE static rule find_rule(uintptr_t pc) {
  rule now = {RULE_NONE, false, 0, KEPT, KEPT, 0, 0};
  module m;
  bool is_loaded = find_module(pc, &m);
  self.looked = true;
  if (is_end_of_handler(pc + 1)) now.kind = RULE_SIGNAL;
  else if (is_loaded) now = find_rule_in(&m, pc);
  return now;
}

/* ------------------------------------------------------------------------------------------------ known rules ---- */

/* The first word is the key exclusive-or the rule, so that words of different threads do not fit together. */
static struct known { uint64_t check, rule; /* atomic */ } known[1 << 14];

/* Atomic. The upper 16 bits change whenever a library may have been unmapped; the rest is the number of threads that
 * unload one. Meanwhile rules are neither used nor kept: they might be those of the library, or of another one that
 * another thread has loaded in its place. */
static uint64_t epoch;
static __thread unsigned unloads_here; /* by this thread */
#define EPOCH ((uint64_t)1 << 48)

static inline uint64_t rule_at(uintptr_t pc) {
  uint64_t now = __atomic_load_n(&epoch, __ATOMIC_RELAXED), key = (uint64_t)pc ^ now;
  struct known *k = &known[(pc * 0x9e3779b97f4a7c15u) >> 50];
  uint64_t check = __atomic_load_n(&k->check, __ATOMIC_RELAXED), packed = __atomic_load_n(&k->rule, __ATOMIC_RELAXED);
  rule found;
  if (LIKELY((check ^ packed) == key)) return packed;
  found = find_rule(pc - 1);
  packed = pack(&found);
  if ((packed & 7) == RULE_NONE || now % EPOCH) return packed;
  __atomic_store_n(&k->rule, packed, __ATOMIC_RELAXED);
  __atomic_store_n(&k->check, key ^ packed, __ATOMIC_RELAXED);
  return packed;
}

void unwind_init(void) {
  void *found = dlsym(RTLD_DEFAULT, "_dl_find_object");
  memcpy(&find_object, &found, sizeof find_object);
  REAL(dl_iterate_phdr)(take_first_module, NULL);
}

void unwind_begin_unload(void) {
  unloads_here++;
  __atomic_fetch_add(&epoch, EPOCH + 1, __ATOMIC_SEQ_CST);
}

void unwind_end_unload(void) {
  unloads_here--;
  if (__atomic_add_fetch(&epoch, EPOCH - 1, __ATOMIC_SEQ_CST) / EPOCH == 0) memset(known, 0, sizeof known);
}

void unwind_after_fork(void) { epoch = epoch / EPOCH * EPOCH + unloads_here; }

/* ------------------------------------------------------------------------------------------------------- walks ---- */

__attribute__((no_sanitize("address"))) static inline bool load(unwind_stack *stack, uintptr_t at, uintptr_t *value) {
  if (UNLIKELY(at < stack->low || at >= stack->high || at % sizeof at) && !extend(stack, at)) return false;
  *value = *(const uintptr_t *)at;
  return true;
}

bool unwind_step(unwind_frame *frame, unwind_stack *stack) {
  uint64_t found = rule_at(frame->pc);
  if (!step_by(found, frame, stack)) return false;
  if (UNLIKELY((found & 7) == RULE_SIGNAL) && on_own_stack((const char *)frame->sp))
    *stack = (unwind_stack){frame->sp, (uintptr_t)self.stack_high};
  return true;
}

#else
typedef int no_unwinder;
#endif
