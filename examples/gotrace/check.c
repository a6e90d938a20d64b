/* check.c - gotrace check: whether Go would open a trace
 *
 * The decoder checks what Go's own parser checks, so reading all events is enough. */

#include "tool.h"

static gotrace_result read_whole(void *context, input *in) {
  gotrace_event e;
  gotrace_result result;
  (void)context;
  do result = input_next(in, &e);
  while (result == GOTRACE_OK && !gotrace_decoder_between(in->decoder));
  return result;
}

static void *read_part(void *context, gotrace_decoder *part) {
  const gotrace_event *events[64];
  size_t count;
  (void)context;
  do count = COUNT(events);
  while (gotrace_decoder_next_batch(part, events, &count) == GOTRACE_OK);
  return NULL;
}

static bool fits(void *context, const void *made) {
  (void)context, (void)made;
  return true;
}

static void join(void *context, void *made) { (void)context, (void)made; }

static void drop(void *made) { (void)made; }

int command_check(const char *path, const settings *set) {
  const generations reading = {NULL, read_whole, read_part, fits, join, drop};
  input in;
  gotrace_result result;
  gotrace_decoder_info info;
  unsigned jobs = set->jobs ? set->jobs : processor_count();
  if (!input_open(&in, path, false)) return 1;
  result = input_decode(&in, false);
  if (result == GOTRACE_OK) result = input_finish(&in, jobs, &reading);
  erase_progress();
  gotrace_decoder_get_info(in.decoder, &info);
  if (result == GOTRACE_END_OF_TRACE)
    printf("%s: ok, Go 1.%d, %llu events\n", path, info.format % 1000, (ull)info.events);
  else printf("%s: %s\n", path, input_error(&in));
  input_close(&in);
  return result != GOTRACE_END_OF_TRACE;
}
