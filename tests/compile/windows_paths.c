/* Windows: paths are UTF-8, also those of a snapshot that replaces a file. */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_trace.h"

#define NAME "paths_\xc3\xa4\xe6\x97\xa5"
static const wchar_t trace[] = L"paths_\x00e4\x65e5.trace", snapshot[] = L"paths_\x00e4\x65e5.snapshot";

int main(void) {
  int i;
  CHECK_EQUAL(gotrace_start_file(NAME ".trace", NULL), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "message");
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK(_wremove(trace) == 0);
  CHECK_EQUAL(gotrace_flight_start(NULL), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "category", "message");
  for (i = 0; i < 2; i++) CHECK_EQUAL(gotrace_flight_snapshot_file(NAME ".snapshot"), GOTRACE_OK);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
  CHECK(_wremove(snapshot) == 0);
  return 0;
}
