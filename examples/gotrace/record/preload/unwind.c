/* unwind.c - complete stacks: gotrace_unwind.h, which programs can use themselves, in this library */

#include "preload.h"

#include "unwind.h"

#if HAS_UNWINDER

/* The first pages of modules: in a sandbox the library does not ask whether a page can be read. */
#define HEADERS 256
static uintptr_t headers[HEADERS];
static unsigned header_count;

static bool is_known_header(uintptr_t page) {
  unsigned i;
  for (i = 0; i < header_count; i++)
    if (headers[i] == page) return true;
  return false;
}

#define GOTRACE__UNWIND_HOOKS
#define GOTRACE__UNWIND_CAN_READ(page) (in_sandbox() ? is_known_header(page) : gotrace__unwind_can_read(page))
#define GOTRACE__UNWIND_LIST_MODULES REAL(dl_iterate_phdr)
#define GOTRACE__UNWIND_BEGIN_LOOK begin_look
#define GOTRACE__UNWIND_END_LOOK end_look
#define GOTRACE__UNWIND_MEETS_CODE() (self.looked = true)
#define GOTRACE__UNWIND_ENTER_STACK(stack, at) \
  (on_own_stack((const char *)(at)) ? (void)((stack)->low = (at), (stack)->high = (uintptr_t)self.stack_high) : (void)0)
#include "../../../unwind/gotrace_unwind.h"

static int note_header(struct dl_phdr_info *info, size_t size, void *unused) {
  struct gotrace__unwind_found_object found;
  size_t i;
  (void)size, (void)unused;
  for (i = 0; i < info->dlpi_phnum && info->dlpi_phdr[i].p_type != PT_LOAD; i++) continue;
  if (i < info->dlpi_phnum && header_count < HEADERS &&
      gotrace__unwind_find_object((void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), &found) == 0 &&
      gotrace__unwind_can_read((uintptr_t)found.map_start))
    headers[header_count++] = (uintptr_t)found.map_start;
  return 0;
}

void unwind_before_sandbox(void) {
  header_count = 0;
  if (!gotrace__unwind_find_object || !begin_look()) return;
  REAL(dl_iterate_phdr)(note_header, NULL);
  end_look();
}

/* A child of fork has what its parent has found. */
void unwind_init(void) {
  static bool done;
  if (done || !begin_look()) return;
  gotrace__unwind_init();
  end_look();
  done = true;
}

void unwind_begin_unload(void) { gotrace__unwind_unload_begins(); }
void unwind_end_unload(void) { gotrace__unwind_unload_ends(); }
void unwind_after_fork(void) { gotrace__unwind_after_fork(); }
bool unwind_step(unwind_frame *frame, unwind_stack *stack) { return gotrace__unwind_step(frame, stack); }

#else
typedef int no_unwinder;
#endif
