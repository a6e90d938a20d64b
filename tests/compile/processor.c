/* What differs between processors: stacks by frame pointers, files of more than 2 GiB, alignment of 64-bit atomics.
 *
 *     processor FILE      writes FILE, with a hole, and removes it */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test.h"

#include <sys/stat.h>

enum { LEVELS = 3 };
static unsigned found; /* one bit per function of the chain */
static void innermost(void), middle(void), outermost(void);

static bool symbolize(void *unused, gotrace_location *place) {
  static void (*const functions[LEVELS])(void) = {innermost, middle, outermost};
  unsigned i;
  (void)unused;
  for (i = 0; i < LEVELS; i++)
    if (place->pc > (uintptr_t)functions[i] && place->pc < (uintptr_t)functions[i] + 1024) found |= 1u << i;
  return false;
}

static bool swallow(void *unused, const void *data, size_t size) {
  (void)unused, (void)data, (void)size;
  return true;
}

/* Far from each other, so that an address identifies them. */
__attribute__((noinline, aligned(1024))) static void innermost(void) {
  gotrace_log(GOTRACE_NO_TASK, "category", "message");
  __asm__ volatile("" ::: "memory"); /* prevents a tail call */
}
__attribute__((noinline, aligned(1024))) static void middle(void) {
  innermost();
  __asm__ volatile("" ::: "memory");
}
__attribute__((noinline, aligned(1024))) static void outermost(void) {
  middle();
  __asm__ volatile("" ::: "memory");
}

static void frame_pointers(void) {
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.stacks = GOTRACE_STACKS_FRAME_POINTERS;
  options.symbolize = symbolize;
  options.write = swallow;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  outermost();
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK(found >= 6); /* the innermost frame is a call site, which need not be an address */
}

/* A trace continues beyond 2 GiB, and can be truncated there. */
static void large_file(const char *path) {
  const off64_t limit = (off64_t)1 << 31;
  struct stat64 status;
  char data[4096] = "";
  gotrace__file file;
  CHECK(gotrace__file_open(path, GOTRACE__CREATE, &file) && file.made);
  CHECK(lseek64(file.number, limit - 100, SEEK_SET) == limit - 100);
  file.position = limit - 100;
  CHECK(gotrace__file_write(&file, data, sizeof data));
  CHECK(gotrace__file_write(&file, data, sizeof data)); /* its position is now above the limit */
  gotrace__file_truncate(&file, (uint64_t)limit + 10);
  CHECK(fstat64(file.number, &status) == 0 && status.st_size == limit + 10);
  CHECK(gotrace__file_close(&file) && remove(path) == 0);
}

#define CHECK_ALIGNED(pointer) CHECK_EQUAL((uintptr_t)(pointer) % 8, 0)

static void alignment(void) {
  gotrace__arena arena;
  gotrace_site *site = GOTRACE_HERE;
  gotrace_go *go = gotrace_go_self();
  gotrace_proc *proc = gotrace_proc_create();
  int i;
  memset(&arena, 0, sizeof arena);
  for (i = 1; i < 30; i++) CHECK_ALIGNED(gotrace__arena_alloc(&arena, (size_t)i));
  gotrace__arena_free(&arena);
  CHECK_ALIGNED(&site->number);
  CHECK_ALIGNED(&site->reported);
  CHECK_ALIGNED(&go->tick);
  CHECK_ALIGNED(&go->id);
  CHECK_ALIGNED(&proc->tick);
  CHECK_ALIGNED(&gotrace__self->tick);
  CHECK_ALIGNED(&gotrace__self->system_id);
  CHECK_ALIGNED(&gotrace__t.next_go_id);
  CHECK_ALIGNED(&gotrace__t.sample_head);
}

int main(int argc, char **argv) {
  alignment();
  frame_pointers();
  if (argc > 1) large_file(argv[1]);
  return 0;
}
