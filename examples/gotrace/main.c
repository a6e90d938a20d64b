/* main.c - gotrace: records execution traces, looks into them, cuts them, converts them
 *
 * What it teaches: how a program reads traces with the decoder of gotrace.h, raw and ordered, and what it takes to
 * write a trace from the events of another. It is also a tool to have at hand:
 *
 *     gotrace record COMMAND ARGS...                  runs a program that has threads, and traces it
 *     gotrace info FILE                               what ran, for how long, what it waited for
 *     gotrace check FILE...                           whether Go would open it
 *     gotrace dump [--wire] [--json] FILE             every event
 *     gotrace cut --from TIME --to TIME [-o OUT] FILE a part of it, as a trace
 *     gotrace convert --to FORMAT [-o OUT] FILE       the same in the format of another release
 *     gotrace export --chrome [-o OUT] FILE           for ui.perfetto.dev and chrome://tracing
 *     gotrace symbolize [-o OUT] FILE                 the same with lines and inlined callers, from debug information
 *
 * FILE `-` is standard input. It is built by `make build/examples/gotrace`, or by hand:
 *
 *     cc -std=c11 -O2 -o gotrace examples/gotrace/[a-z]*.c -I. -pthread
 *
 * Commands are in files of their own: record.c, info.c, check.c, dump.c, convert.c (also cut), export.c, symbolize.c.
 * `record` runs a program with the library that preload/ makes. `check` and `dump` read the decoder's events. The
 * others but `symbolize` work on operations:
 *
 *     decoder -> front end -> operations -> consumer, world
 *
 * A front end for each family of formats (read_v1.c, read_v2.c) turns events into operations, which are the events of
 * Go 1.22 and later in all but name. A consumer (statistics, Chrome's JSON, one of the two writers) gets each operation
 * together with the world (world.c): which goroutine runs where, what has begun, as it was before the operation. So a
 * consumer needs no state of its own to tell what a cut or a new generation must begin with. source.c drives all this.
 *
 * To add a command, write it in a file, declare it in tool.h and add a line to `commands` below. */

#include "tool.h"

#include <errno.h>
#include <stdlib.h>

enum {
  WIRE = 1,
  JSON = 2,
  PARTIAL = 4,
  OUTPUT = 8,
  FROM = 16,
  UNTIL = 32,
  FORMAT = 64,
  CHROME = 128,
  STACKS = 256,
  FLIGHT = 512,
  CUT = 1024,
  LIMIT = 2048,
  CHILDREN = 4096,
  ONLY_WAITS = 8192,
  QUIET = 16384,
  NO_SYMBOLIZE = 32768,
  MANY_FILES = 1 << 20, /* no option: takes any number of files */
  RUNS = 1 << 21        /* no option: takes a program and its arguments */
};

typedef struct command {
  const char *name, *arguments;
  int (*run)(const char *path, const settings *set);
  unsigned options;
  unsigned needed;         /* at least one of these options */
  const char *needed_text; /* how a message calls them */
} command;

static const command commands[] = {
    {"record", "[OPTIONS] [--] COMMAND ARGS...", NULL,
     OUTPUT | FORMAT | STACKS | FLIGHT | CUT | LIMIT | CHILDREN | ONLY_WAITS | QUIET | NO_SYMBOLIZE | RUNS, 0, NULL},
    {"info", "FILE", command_info, 0, 0, NULL},
    {"check", "FILE...", command_check, MANY_FILES, 0, NULL},
    {"dump", "[--wire] [--json] FILE", command_dump, WIRE | JSON, 0, NULL},
    {"cut", "--from TIME --to TIME [-o OUT] [--partial] FILE", command_convert, OUTPUT | PARTIAL | FROM | UNTIL,
     FROM | UNTIL, "--from or --to"},
    {"convert", "--to FORMAT [-o OUT] [--partial] FILE", command_convert, OUTPUT | PARTIAL | FORMAT, FORMAT, "--to"},
    {"export", "--chrome [-o OUT] [--partial] FILE", command_export, OUTPUT | PARTIAL | CHROME, CHROME, "--chrome"},
    {"symbolize", "[-o OUT] FILE", command_symbolize, OUTPUT, 0, NULL},
};

static const struct {
  const char *name;
  unsigned option;
  bool value; /* followed by one */
} options[] = {
    {"--wire", WIRE, false},
    {"--json", JSON, false},
    {"--partial", PARTIAL, false},
    {"-o", OUTPUT, true},
    {"--from", FROM, true},
    {"--to", UNTIL, true},
    {"--to", FORMAT, true},
    {"--chrome", CHROME, false},
    {"--format", FORMAT, true},
    {"--stacks", STACKS, true},
    {"--flight", FLIGHT, true},
    {"--cut", CUT, true},
    {"--limit", LIMIT, true},
    {"--children", CHILDREN, false},
    {"--min-syscall", ONLY_WAITS, false},
    {"-q", QUIET, false},
    {"--no-symbolize", NO_SYMBOLIZE, false},
};

static void print_usage(FILE *to) {
  size_t i;
  for (i = 0; i < COUNT(commands); i++)
    fprintf(to, "%s gotrace %s %s\n", i ? "      " : "usage:", commands[i].name, commands[i].arguments);
  fputs("FILE - is standard input. TIME counts from the first event: 1.5s, 20ms, 300us, or nanoseconds.\n"
        "FORMAT: 1.8, 1.10, 1.11, 1.19, 1.21 (v1), 1.22, 1.23, 1.25, 1.26 (v2).\n"
        "--partial keeps what comes before an error. Without -o the result goes to standard output.\n"
        "record runs COMMAND, which must be linked dynamically, and writes its trace to COMMAND.PID.trace. Options:\n"
        "  -o FILE             another file; %p stands for the process id\n"
        "  --format FORMAT     default 1.23\n"
        "  --stacks=call-site  a call's stack is its caller (default); none; frame-pointers: complete for code built "
        "with\n"
        "                      -fno-omit-frame-pointer; unwind: always complete, takes microseconds per stack\n"
        "  --flight SECONDS    keep only the last SECONDS in memory; written at the end and on SIGUSR2\n"
        "  --children          also trace the processes that it starts, each to a file of its own\n"
        "  --limit BYTES       end the trace after BYTES (also 10K, 10M, 10G)\n"
        "  --cut MILLISECONDS  write at least that often, default 1000: a killed program loses what came later\n"
        "  --min-syscall       leave out system calls that do not wait\n"
        "  --no-symbolize      do not look for lines and inlined callers afterwards, as gotrace symbolize does\n"
        "  -q                  print no summary\n",
        to);
}

__attribute__((noreturn, format(printf, 1, 2))) static void usage(const char *format, ...) {
  va_list arguments;
  program.file = NULL;
  va_start(arguments, format);
  report_list(format, arguments);
  va_end(arguments);
  print_usage(stderr);
  exit(2);
}

static uint64_t parse_number(const char *text, const char *option, double unit, double most) {
  char *end;
  double value = strtod(text, &end);
  if (end != text && *end && strchr("KMG", *end) && most > 1e12) {
    value *= *end == 'K' ? 1024.0 : *end == 'M' ? 1048576.0 : 1073741824.0;
    end++;
  }
  if (end == text || *end || !(value > 0) || value * unit > most || value * unit < 1)
    usage("invalid value '%s' for %s", text, option);
  return (uint64_t)(value * unit + 0.5);
}

static uint32_t parse_stacks(const char *text) {
  static const char *const names[] = {"call-site", "none", "frame-pointers", "unwind"};
  uint32_t i;
  for (i = 0; i < COUNT(names); i++)
    if (strcmp(text, names[i]) == 0) return i;
  usage("unknown stacks '%s'", text);
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
  usage("invalid time '%s'", text);
}

static int parse_format(const char *text) {
  int format = parse_written_format(text);
  if (!format) usage("unknown format '%s'", text);
  return format;
}

static const command *find_command(const char *name) {
  size_t i;
  for (i = 0; i < COUNT(commands); i++)
    if (strcmp(name, commands[i].name) == 0) return &commands[i];
  usage("unknown command '%s'", name);
}

/* Reads an option and its value; returns how many words they are. */
static int parse_option(const command *c, char **word, settings *set, unsigned *given) {
  size_t i = 0, size = strcspn(*word, "=");
  const char *value;
  while (i < COUNT(options) && (strncmp(*word, options[i].name, size) != 0 || options[i].name[size] ||
                                !(options[i].option & c->options) || (word[0][size] && !options[i].value)))
    i++;
  if (i == COUNT(options)) usage("unknown option %s for %s", *word, c->name);
  value = word[0][size] ? *word + size + 1 : word[1];
  if (options[i].value && !value) usage("missing value for %s", *word);
  *given |= options[i].option;
  switch (options[i].option) {
  case WIRE: set->wire = true; break;
  case JSON: set->json = true; break;
  case PARTIAL: set->partial = true; break;
  case OUTPUT: set->output = value; break;
  case FROM: set->from = parse_time(value); break;
  case UNTIL: set->until = parse_time(value); break;
  case FORMAT: set->format = parse_format(value); break;
  case STACKS: set->stacks = parse_stacks(value); break;
  case FLIGHT: set->flight = (uint32_t)parse_number(value, "--flight", 1000, 4e9); break;
  case CUT: set->cut = (uint32_t)parse_number(value, "--cut", 1, 4e9); break;
  case LIMIT: set->limit = parse_number(value, "--limit", 1, 9e18); break;
  case CHILDREN: set->children = true; break;
  case ONLY_WAITS: set->only_waits = true; break;
  case QUIET: set->quiet = true; break;
  case NO_SYMBOLIZE: set->no_symbolize = true; break;
  default: break;
  }
  return options[i].value && !word[0][size] ? 2 : 1;
}

/* Reads what follows the command. Options may stand anywhere before "--"; the files are moved to the front. Returns
 * their number. */
static int parse_arguments(const command *c, char **words, settings *set) {
  char **files = words;
  unsigned given = 0;
  int count = 0;
  bool behind = false;
  while (*words) {
    if (!behind && strcmp(*words, "--") == 0) behind = true, words++;
    else if (!behind && words[0][0] == '-' && words[0][1]) words += parse_option(c, words, set, &given);
    else files[count++] = *words++;
  }
  if (c->needed && !(given & c->needed)) usage("%s needs %s", c->name, c->needed_text);
  if (set->from > set->until) usage("--to is before --from");
  if (!count) usage("missing FILE");
  if (count > 1 && !(c->options & MANY_FILES)) usage("%s takes one FILE", c->name);
  return count;
}

/* The options of a command that runs a program come before it. Returns the program and its arguments. */
static char **parse_program(const command *c, char **words, settings *set) {
  unsigned given = 0;
  while (*words && words[0][0] == '-' && words[0][1] && strcmp(*words, "--") != 0)
    words += parse_option(c, words, set, &given);
  if (*words && strcmp(*words, "--") == 0) words++;
  if (!*words || !**words) usage("missing COMMAND");
  if (set->flight && set->format && set->format < GOTRACE_GO_1_22) usage("--flight needs --format 1.22 or later");
  return words;
}

/* What is written to standard output shows only now whether it could be. */
static void finish_output(void) {
  program.file = NULL;
  if (fflush(stdout) != 0 || ferror(stdout)) fail("standard output: %s", strerror(errno));
}

int main(int argc, char **argv) {
  settings set = {0};
  const command *c;
  int count, i, status = 0;
  seed_hashes();
  set.until = INT64_MAX;
  if (argc < 2) usage("missing command");
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    print_usage(stdout);
    finish_output();
    return 0;
  }
  c = find_command(argv[1]);
  if (c->options & RUNS) return command_record(parse_program(c, argv + 2, &set), &set);
  remove_on_signals();
  count = parse_arguments(c, argv + 2, &set);
  for (i = 0; i < count; i++) status |= c->run(argv[2 + i], &set);
  finish_output();
  return status;
}
