/* main.c - gotrace: records, inspects, cuts and converts execution traces
 *
 * As an example it shows how to read traces with the decoder of gotrace.h, raw and ordered, and what it takes to write
 * a trace from the events of another. It is also a tool for daily use: `gotrace help` lists its commands. Build it with
 * `make build/examples/gotrace`. README.md is the map of its folders.
 *
 * This file reads the command line. */

#include "command/commands.h"
#include "reading/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const command *current; /* NULL: not yet known */

__attribute__((noreturn, format(printf, 1, 2))) void usage(const char *format, ...) {
  va_list arguments;
  program.file = NULL;
  va_start(arguments, format);
  report_list(format, arguments);
  va_end(arguments);
  fprintf(stderr, "see gotrace help%s%s\n", current ? " " : "", current ? current->name : "");
  exit(2);
}

__attribute__((noreturn)) static void unknown_option(const command *c, const char *word, size_t size) {
  const char *meant = similar_option(c, word, size);
  if (meant) usage("unknown option %.*s for %s; did you mean %s?", (int)size, word, c->name, meant);
  usage("unknown option %.*s for %s", (int)size, word, c->name);
}

/* Keeps the words of an option that says what of the trace is read, for whoever reads it later: view_page.c. */
static void keep_words(const option *o, char **word, int count, settings *set) {
  static const size_t others[] = {SETTING(output), SETTING(open),    SETTING(no_open), SETTING(pictures),
                                  SETTING(data),   SETTING(from),    SETTING(until),   SETTING(size),
                                  SETTING(index),  SETTING(lengths), SETTING(batches)};
  static const char *words[1024];
  size_t i;
  for (i = 0; i < COUNT(others); i++)
    if (o->field == others[i]) return;
  if (set->word_count + (size_t)count > COUNT(words)) usage("too many options");
  while (count--) words[set->word_count++] = *word++;
  set->words = words;
}

/* Reads an option and its value; returns the number of words used. `given`: which rows of `options` were given. */
static int parse_option(const command *c, char **word, settings *set, bool *given) {
  size_t size = strcspn(*word, "=");
  const option *o = find_option(c, *word, size);
  const char *value = word[0][size] ? *word + size + 1 : word[1];
  int used;
  if (!o) unknown_option(c, *word, size);
  if (!option_value(o) && word[0][size]) usage("%.*s takes no value", (int)size, *word);
  if (option_value(o) && !value) usage("missing value for %s", *word);
  given[o - options] = true;
  o->set(o, option_value(o) ? value : NULL, set);
  used = option_value(o) && !word[0][size] ? 2 : 1;
  keep_words(o, word, used, set);
  return used;
}

/* Fails if the command needs options and none of them was given. */
static void check_needs(const command *c, const bool *given) {
  char names[128] = "";
  const char *at = c->needs;
  const option *o;
  size_t size = 0;
  if (!at) return;
  while ((o = next_option(&at))) {
    if (given[o - options]) return;
    size += (size_t)snprintf(names + size, sizeof names - size, "%s%.*s",
                             !size ? ""
                             : *at ? ", "
                                   : " or ",
                             (int)option_name_size(o), o->spec);
    if (size >= sizeof names) break;
  }
  usage("%s needs %s", c->name, names);
}

/* Fails if a result that is no text would go to a terminal. A page is served then, or opened. */
static void check_terminal(const command *c, settings *set) {
  if (!c->result || set->output || set->open || set->folded || set->tables || set->lengths || set->batches) return;
#if !IN_BROWSER
  if (c->run_all == command_view && !set->data && (set->no_open || isatty(1))) {
    set->serve = view_has_reader() && !set->pictures;
    set->open = !set->serve;
    if (set->open && set->no_open) usage("--no-open needs the page's reader: not --pictures, nor a tool without it");
    return;
  }
#endif
  if (!isatty(1)) return;
  usage("%s is not for a terminal; write it to a file by -o OUT", c->result);
}

static bool asks_for_help(const char *word) { return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0; }

static bool asks_for_version(const char *word) {
  return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 || strcmp(word, "version") == 0;
}

/* In place of a command, a file means info. */
static bool is_input(const char *word) {
  struct stat status;
  return strcmp(word, "-") == 0 || (stat(word, &status) == 0 && !S_ISDIR(status.st_mode));
}

/* Reports write errors of standard output, which may appear only now. */
static void finish_output(void) {
  program.file = NULL;
  if (fflush(stdout) != 0 || ferror(stdout)) fail("standard output: %s", strerror(errno));
}

__attribute__((noreturn)) static void show_help(const command *c) {
  print_help(stdout, c);
  finish_output();
  exit(0);
}

/* Reads the words after the command. Options may be anywhere before "--". Moves the files to the front and returns
 * their number. */
static int parse_arguments(const command *c, char **words, settings *set, bool *given) {
  char **files = words;
  int count = 0;
  bool behind = false;
  while (*words) {
    if (!behind && strcmp(*words, "--") == 0) behind = true, words++;
    else if (!behind && asks_for_help(*words)) show_help(c);
    else if (!behind && words[0][0] == '-' && words[0][1]) words += parse_option(c, words, set, given);
    else files[count++] = *words++;
  }
  check_needs(c, given);
  set->may_be_partial = find_option(c, "--partial", 9) != NULL;
  set->may_be_lenient = find_option(c, "--lenient", 9) != NULL;
  if (set->from > set->until && set->until >= 0) usage("--to is before --from");
  if (c->files && c->files != MANY && count != c->files) usage("%s takes %d files", c->name, c->files);
  if (!count) usage("missing FILE");
  if (!c->files && count > 1) usage("%s takes one FILE", c->name);
  if (count > 1 && set->index) usage("--index is of one FILE; an index beside each, FILE.gtx, is found");
  check_terminal(c, set);
  return count;
}

/* For commands that run a program: reads the options before it. Returns the program and its arguments. */
static char **parse_program(const command *c, char **words, settings *set, bool *given) {
  while (*words && words[0][0] == '-' && words[0][1] && strcmp(*words, "--") != 0) {
    if (asks_for_help(*words)) show_help(c);
    words += parse_option(c, words, set, given);
  }
  if (*words && strcmp(*words, "--") == 0) words++;
  if (!*words || !**words) usage("missing COMMAND");
  if (set->paused && set->format && set->format < GOTRACE_GO_1_22) usage("--paused needs --format 1.22 or later");
  if (set->flight && set->format && set->format < GOTRACE_GO_1_22) usage("--flight needs --format 1.22 or later");
  return words;
}

/* If a standard file is closed, the next file that is opened would get its number, and messages would be written into
 * it. What takes the number here can be neither read nor written, and programs that are executed do not get it. */
static void fill_standard_files(void) {
  int file;
  for (file = 0; file <= 2; file++)
    if (fcntl(file, F_GETFD) < 0) (void)open("/dev/null", (file ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
}

int main(int argc, char **argv) {
  settings set = {0};
  bool given[256] = {0};
  const command *c;
  char **words;
  int count, i, status = 0;
  fill_standard_files();
  seed_hashes();
  load_change_specs();
  load_event_rules();
  set.until = INT64_MAX;
  if (option_count > COUNT(given)) fail("too many options");
  if (argc < 2) usage("missing command");
  if (asks_for_help(argv[1])) show_help(NULL);
  if (asks_for_version(argv[1])) {
    puts("gotrace " GOTRACE_VERSION);
    finish_output();
    return 0;
  }
  words = argv + 2;
  c = find_command(argv[1]);
  if (!c && is_input(argv[1])) c = find_command("info"), words = argv + 1;
  if (!c) {
    const char *meant = similar_command(argv[1]);
    if (meant) usage("unknown command '%s'; did you mean '%s'?", argv[1], meant);
    usage("unknown command '%s'", argv[1]);
  }
  if (c->run_all == command_help) {
    status = command_help(words, argc - 2, &set);
    finish_output();
    return status;
  }
  current = c;
  if (c->program) {
    words = parse_program(c, words, &set, given);
    return c->run_all(words, argc - (int)(words - argv), &set);
  }
  remove_on_signals();
  count = parse_arguments(c, words, &set, given);
  if (c->run_all) status = c->run_all(words, count, &set);
  else
    for (i = 0; i < count; i++) status |= c->run(words[i], &set);
  finish_output();
  return status;
}
