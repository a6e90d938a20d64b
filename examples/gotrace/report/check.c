/* check.c - gotrace check: whether Go would open a trace
 *
 * The decoder checks what Go's own parser checks, so reading all events is enough. */

#include "../command/commands.h"

#include <stdlib.h>

typedef struct checking {
  input *in;
  uint64_t events; /* in the file, as info counts them: without implied ones */
} checking;

typedef struct part_read { /* on a thread of its own */
  size_t events, implied;
  uint64_t offset; /* of the last event */
} part_read;

static gotrace_result read_whole(void *context, input *in) {
  checking *c = context;
  gotrace_event e;
  gotrace_result result;
  do {
    result = input_next(in, &e);
    c->events += result == GOTRACE_OK && !e.implied;
  } while (result == GOTRACE_OK && !gotrace_decoder_between(in->decoder));
  return result;
}

static void *read_part(void *context, gotrace_decoder *part) {
  const gotrace_event *events[64];
  size_t count = COUNT(events), i;
  part_read *made = zeroed(sizeof *made);
  (void)context;
  while (gotrace_decoder_next_batch(part, events, &count) == GOTRACE_OK) {
    made->events += count;
    for (i = 0; i < count; i++) made->implied += events[i]->implied;
    made->offset = events[count - 1]->offset;
    count = COUNT(events);
  }
  return made;
}

static void join(void *context, void *made) {
  checking *c = context;
  const part_read *part = made;
  c->events += part->events - part->implied;
  input_count(c->in, part->events, part->offset);
}

static void drop(void *made) { free(made); }

int command_check(const char *path, const settings *set) {
  input in;
  checking c = {&in, 0};
  const generations reading = {&c, read_whole, read_part, NULL, join, drop};
  gotrace_result result;
  gotrace_decoder_info info;
  unsigned jobs = set->jobs ? set->jobs : processor_count();
  if (!input_open(&in, path, false)) return 1;
  result = input_decode(&in, false);
  if (result == GOTRACE_OK) result = input_finish(&in, jobs, &reading);
  erase_progress();
  gotrace_decoder_get_info(in.decoder, &info);
  print_visible(stdout, path, strlen(path));
  if (result == GOTRACE_END_OF_TRACE) {
    printf(": ok, Go 1.%d, %llu events\n", info.format % 1000, (ull)c.events);
  } else {
    fputs(": ", stdout);
    print_visible(stdout, input_error(&in), strlen(input_error(&in)));
    putchar('\n');
  }
  input_close(&in);
  return result != GOTRACE_END_OF_TRACE;
}
