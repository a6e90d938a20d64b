/* examples/hello.c in every format: the same main(), with the options that the other examples have (-o, -f, -k).
 *
 * The example has no options because it must be short. This file replaces its calls of start and stop.
 */

#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"

#include "../../examples/example.h"

static struct settings settings;

#define gotrace_start_file(path, options) (start_trace(&settings), GOTRACE_OK)
#define gotrace_stop() return stop_trace(&settings, NULL)
#define main hello_main
#undef GOTRACE_IMPLEMENTATION /* the example defines it again */
#include "../../examples/hello.c"
#undef main

int main(int argc, char **argv) {
  settings = parse_arguments(argc, argv, "hello", "hello.trace", false);
  return hello_main();
}
