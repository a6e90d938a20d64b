/* A library with call sites is unloaded while tracing is on, and another one is loaded in its place, again and again:
 * the trace has the names of each, and nothing reads the memory of one that is gone.
 *
 * The memory of a library is a mapping that is accessible only while the library is loaded, and has new contents then.
 *
 * Not in: windows. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"

#include <sys/mman.h>

enum { LIBRARIES = 40, CALLS = 3 };

typedef struct library {
  gotrace_site log, create;
  gotrace_location entry;
  char function[32], file[32], name[32], category[32];
} library;

static library *place; /* of all libraries, one after the other */
static const size_t size = 1 << 16;

static void load(unsigned number) {
  CHECK(mprotect(place, size, PROT_READ | PROT_WRITE) == 0);
  memset(place, 0, size);
  snprintf(place->function, sizeof place->function, "function %u", number);
  snprintf(place->file, sizeof place->file, "file %u", number);
  snprintf(place->name, sizeof place->name, "job %u", number);
  snprintf(place->category, sizeof place->category, "category %u", number);
  place->log.location.function = place->create.location.function = place->function;
  place->log.location.file = place->create.location.file = place->file;
  place->log.location.line = 1;
  place->create.location.line = 2;
  place->entry.function = place->name;
  place->entry.file = place->file;
}
static void unload(void) { CHECK(mprotect(place, size, PROT_NONE) == 0); }

static void run(unsigned number) {
  char text[32];
  int i;
  snprintf(text, sizeof text, "%u", number);
  for (i = 0; i < CALLS; i++) {
    gotrace_go_destroy_at(&place->create, gotrace_go_create_at(&place->create, &place->entry));
    gotrace_log_at(&place->log, GOTRACE_NO_TASK, place->category, text);
  }
}

/* Has nothing to add to the call site. */
static int no_frames(void *context, uintptr_t *pcs, int most) {
  (void)context, (void)pcs, (void)most;
  return 0;
}

static bool is(const char *text, size_t length, const char *what, unsigned number) {
  char wanted[48];
  snprintf(wanted, sizeof wanted, "%s%u", what, number);
  return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* The libraries' numbers are in the trace one after the other. */
static void check(const test_bytes *bytes, unsigned first) {
  gotrace_decoder *decoder;
  gotrace_event event;
  gotrace_frame frames[GOTRACE_STACK_SIZE];
  gotrace_result result;
  unsigned logs = 0, creations = 0;
  CHECK_EQUAL(test_open_decoder(&decoder, bytes->data, bytes->size, false), GOTRACE_OK);
  while ((result = gotrace_decoder_next(decoder, &event)) == GOTRACE_OK) {
    bool is_log = event.spec && strcmp(event.spec->name, "UserLog") == 0;
    if (event.implied || !event.stack || !gotrace_decoder_stack(decoder, event.stack, frames, GOTRACE_STACK_SIZE))
      continue;
    if (is_log || strcmp(event.spec->name, "GoCreate") == 0) {
      unsigned number = first + (is_log ? logs++ : creations++) / CALLS;
      gotrace_frame entry;
      CHECK(is_log || (gotrace_decoder_stack(decoder, event.args[1], &entry, 1) == 1 &&
                       is(entry.function, entry.function_size, "job ", number)));
      CHECK(is(frames[0].function, frames[0].function_size, "function ", number));
      CHECK(is(frames[0].file, frames[0].file_size, "file ", number));
      CHECK_EQUAL(frames[0].line, is_log ? 1 : 2);
    }
  }
  CHECK_EQUAL(result, GOTRACE_END_OF_TRACE);
  gotrace_decoder_close(decoder);
  CHECK_EQUAL(logs, LIBRARIES * CALLS);
  CHECK_EQUAL(creations, LIBRARIES * CALLS);
}

static void trace(gotrace_stacks stacks, gotrace_unwind_fn *unwind, unsigned first) {
  test_bytes bytes = {NULL, 0, 0};
  gotrace_options options = test_options(GOTRACE_FORMAT_DEFAULT, &bytes);
  unsigned i;
  options.stacks = stacks;
  options.unwind = unwind;
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  for (i = 0; i < LIBRARIES; i++) {
    load(first + i);
    run(first + i);
    if (i % 4 == 0) gotrace_advance();
    unload();
    if (i % 4 == 2) gotrace_advance();
  }
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  check(&bytes, first);
  test_free(&bytes);
}

int main(void) {
  void *memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  place = (library *)memory;
  trace(GOTRACE_STACKS_CALL_SITE, NULL, 100);
  trace(GOTRACE_STACKS_FRAME_POINTERS, NULL, 200);
  trace(GOTRACE_STACKS_UNWIND, no_frames, 300);
  return 0;
}
