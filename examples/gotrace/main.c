/* main.c - gotrace, which looks into execution traces, cuts them, converts them
 *
 * What it teaches: how a program reads traces with the decoder of gotrace.h, raw and ordered, and what it takes to write one
 * anew from its events. It is also the tool to have at hand:
 *
 *     gotrace info FILE                               what is in it: times, goroutines, waits, latencies
 *     gotrace check FILE...                           whether Go would open it
 *     gotrace dump [--wire] [--json] FILE             every event
 *     gotrace cut --from TIME --to TIME [-o OUT] FILE a part of it, a trace by itself
 *     gotrace convert --to FORMAT [-o OUT] FILE       the same in another release's format
 *     gotrace export --chrome [-o OUT] FILE           for ui.perfetto.dev and chrome://tracing
 *
 *     cc -std=c11 -O2 -o gotrace examples/gotrace/[a-z]*.c -I. -pthread
 *
 * FILE `-` is standard input. How the parts fit together:
 *
 *     decoder -> front end -> operations -> world -> consumer
 *
 * A front end for each family of formats turns events into operations, which are in all but name the events of Go 1.22 and later.
 * The world keeps what they tell: who runs where, what is open. Consumers (statistics, Chrome's JSON, the two writers)
 * see each operation together with the world before it, and so they need no state of their own for what a cut or
 * a generation must say first. */

#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

static const char usage_text[] =
    "usage: gotrace info FILE\n"
    "       gotrace check FILE...\n"
    "       gotrace dump [--wire] [--json] FILE\n"
    "       gotrace cut --from TIME --to TIME [-o OUT] [--partial] FILE\n"
    "       gotrace convert --to FORMAT [-o OUT] [--partial] FILE\n"
    "       gotrace export --chrome [-o OUT] [--partial] FILE\n"
    "FILE - is standard input. TIME counts from the first event: 1.5s, 20ms, 300us, or nanoseconds.\n"
    "FORMAT: 1.8, 1.10, 1.11, 1.19, 1.21 (v1), 1.22, 1.23, 1.25, 1.26 (v2).\n"
    "--partial keeps what comes before an error. Without -o the result goes to standard output.\n";

__attribute__((noreturn, format(printf, 1, 2))) static void usage(const char *format, ...) {
  va_list arguments;
  program.file = NULL;
  va_start(arguments, format);
  complain(format, arguments);
  va_end(arguments);
  fputs(usage_text, stderr);
  exit(2);
}

static int64_t parse_time(const char *text) {
  static const struct {
    const char *name;
    double size;
  } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1}};
  char *end;
  double value = strtod(text, &end);
  size_t i;
  for (i = 0; i < COUNT(units); i++) {
    if (end == text || strcmp(end, units[i].name) != 0 || !(value >= 0)) continue;
    value *= units[i].size;
    return value < 9e18 ? (int64_t)(value + 0.5) : INT64_MAX;
  }
  usage("'%s' is no time", text);
}

static int parse_format(const char *text) {
  char name[16];
  size_t i;
  for (i = 0; i < COUNT(written_formats); i++) {
    snprintf(name, sizeof name, "1.%d", written_formats[i] % 1000);
    if (strcmp(text, name) == 0) return written_formats[i];
  }
  usage("'%s' is no format that is written", text);
}

enum { TAKES_WIRE = 1, TAKES_JSON = 2, TAKES_OUTPUT = 4, TAKES_TIMES = 8, TAKES_FORMAT = 16, TAKES_CHROME = 32, TAKES_MANY = 64 };
enum { GIVEN_WIRE = 1, GIVEN_JSON = 2, GIVEN_PARTIAL = 4, GIVEN_OUTPUT = 8, GIVEN_FROM = 16, GIVEN_TO = 32, GIVEN_CHROME = 64 };

typedef struct command {
  const char *name;
  int (*run)(const char *path, const settings *set);
  unsigned takes;
} command;

static const command commands[] = {
    {"info", command_info, 0},
    {"check", command_check, TAKES_MANY},
    {"dump", command_dump, TAKES_WIRE | TAKES_JSON},
    {"cut", command_rewrite, TAKES_OUTPUT | TAKES_TIMES},
    {"convert", command_rewrite, TAKES_OUTPUT | TAKES_FORMAT},
    {"export", command_export, TAKES_OUTPUT | TAKES_CHROME},
};

/* Reads one option; returns how many words it takes, 0 for none. */
static int parse_option(const command *c, char **word, settings *set, unsigned *given) {
  const struct {
    const char *name;
    unsigned takes, given;
    bool value;
  } options[] = {
      {"--wire", TAKES_WIRE, GIVEN_WIRE, false},
      {"--json", TAKES_JSON, GIVEN_JSON, false},
      {"--partial", TAKES_OUTPUT, GIVEN_PARTIAL, false},
      {"-o", TAKES_OUTPUT, GIVEN_OUTPUT, true},
      {"--from", TAKES_TIMES, GIVEN_FROM, true},
      {"--to", TAKES_TIMES | TAKES_FORMAT, GIVEN_TO, true},
      {"--chrome", TAKES_CHROME, GIVEN_CHROME, false},
  };
  size_t i;
  for (i = 0; i < COUNT(options) && strcmp(*word, options[i].name) != 0; i++) continue;
  if (i == COUNT(options) || !(options[i].takes & c->takes)) usage("%s has no option %s", c->name, *word);
  if (options[i].value && !word[1]) usage("%s wants a value", *word);
  *given |= options[i].given;
  switch (options[i].given) {
    case GIVEN_WIRE: set->wire = true; break;
    case GIVEN_JSON: set->json = true; break;
    case GIVEN_PARTIAL: set->partial = true; break;
    case GIVEN_OUTPUT: set->output = word[1]; break;
    case GIVEN_FROM: set->from = parse_time(word[1]); break;
    case GIVEN_TO:
      if (c->takes & TAKES_FORMAT) set->format = parse_format(word[1]);
      else set->until = parse_time(word[1]);
      break;
    default: break;
  }
  return options[i].value ? 2 : 1;
}

static void finish_output(void) {
  program.file = NULL;
  if (fflush(stdout) != 0 || ferror(stdout)) fail("standard output: %s", strerror(errno));
}

int main(int argc, char **argv) {
  settings set = {0};
  const command *c = NULL;
  char **files = argv + 2;
  unsigned given = 0;
  size_t n;
  int i = 2, count = 0, status = 0;
  bool options = true;
  seed_hashes();
  mind_signals();
  set.until = INT64_MAX;
  for (n = 0; argc > 1 && n < COUNT(commands); n++)
    if (strcmp(argv[1], commands[n].name) == 0) c = &commands[n];
  if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    fputs(usage_text, stdout);
    finish_output();
    return 0;
  }
  if (!c) usage(argc > 1 ? "there is no command %s" : "which command?%s", argc > 1 ? argv[1] : "");
  while (i < argc) { /* options stand anywhere before "--"; the files come to stand first */
    if (options && strcmp(argv[i], "--") == 0) options = false, i++;
    else if (options && argv[i][0] == '-' && argv[i][1]) i += parse_option(c, &argv[i], &set, &given);
    else files[count++] = argv[i++];
  }
  if ((c->takes & TAKES_TIMES) && !(given & (GIVEN_FROM | GIVEN_TO))) usage("cut wants --from, --to or both");
  if (set.from > set.until) usage("the part ends before it begins");
  if ((c->takes & TAKES_FORMAT) && !(given & GIVEN_TO)) usage("convert wants --to");
  if ((c->takes & TAKES_CHROME) && !(given & GIVEN_CHROME)) usage("export wants --chrome");
  if (!count) usage("%s wants a file", c->name);
  if (count > 1 && !(c->takes & TAKES_MANY)) usage("%s takes one file", c->name);
  for (i = 0; i < count; i++) status |= c->run(files[i], &set);
  finish_output();
  return status;
}
