/* check.c - gotrace check: whether Go would open a trace
 *
 * The decoder checks what Go's own parser checks, so reading all events is enough. */

#include "tool.h"

int command_check(const char *path, const settings *set) {
  input in;
  gotrace_result result;
  gotrace_decoder_info info;
  unsigned jobs = set->jobs ? set->jobs : processor_count();
  if (!input_open(&in, path, false)) return 1;
  result = input_decode(&in, false);
  if (result == GOTRACE_OK) result = input_finish(&in, jobs);
  erase_progress();
  gotrace_decoder_get_info(in.decoder, &info);
  if (result == GOTRACE_END_OF_TRACE)
    printf("%s: ok, Go 1.%d, %llu events\n", path, info.format % 1000, (ull)info.events);
  else printf("%s: %s\n", path, input_error(&in));
  input_close(&in);
  return result != GOTRACE_END_OF_TRACE;
}
