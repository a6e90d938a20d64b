/* commands.h - the tables of commands and options, which define the whole command line
 *
 *     commands.c   the tables, and the functions that set options
 *     help.c       help, the manual page, shell completion, suggestions for mistyped words
 *     main.c       reads the command line and calls the command
 *
 * To add a command, write it in a file of its own, declare it in tool.h and add a row to `commands`. To add an option,
 * add a field to `settings` (tool.h), a row to `options`, and its spec to the rows of its commands. Help, manual page
 * and completion follow. */

#ifndef COMMANDS_H
#define COMMANDS_H

#include "tool.h"

#define MANY 0x7fffffff

typedef struct command {
  const char *name;
  const char *arguments; /* after the name, in usage lines */
  const char *summary;   /* one line, in the list of commands */
  /* Paragraphs, separated by empty lines. One that begins with two spaces is an example and keeps its line breaks. */
  const char *help;
  const char *options; /* specs from `options`, separated by ',' in the order of the help; NULL: none */
  const char *needs;   /* at least one of these options must be given, separated likewise; NULL: none is required */
  int least, most;     /* number of files it takes */
  bool program;        /* takes a program and its arguments instead; words after the program are not options */
  /* One of the two is set. Both return the program's exit status. `run` is called for each file, `run_all` once. */
  int (*run)(const char *path, const settings *set);
  int (*run_all)(char **words, int count, const settings *set);
} command;

typedef struct option {
  /* The name, and the name of its value if it has one: "--from TIME". Two options may share a name if no command has
   * both. */
  const char *spec;
  const char *help;
  const char *values; /* all possible values, separated by spaces; NULL: any */
  /* Changes `settings`. `value`: NULL if the option has none. */
  void (*set)(const struct option *, const char *value, settings *);
  size_t field; /* for `set`: offset in `settings`; SETTING(name) */
  int number;   /* for `set`: the value for the field */
} option;

#define SETTING(name) offsetof(settings, name)

extern const command commands[];
extern const option options[];
extern const size_t command_count, option_count;

const command *find_command(const char *name); /* NULL: there is none */

/* Iterates over the options of a command. `at` starts as c->options; NULL at the end. */
const option *next_option(const char **at);

/* The option of a command with this name, of `size` bytes; NULL: there is none. */
const option *find_option(const command *c, const char *name, size_t size);

size_t option_name_size(const option *);
const char *option_value(const option *); /* the name of its value; NULL: it takes none */

/* Reports wrong use of a command and where to find help, and exits with status 2. */
__attribute__((noreturn, format(printf, 1, 2))) void usage(const char *format, ...);

/* The command or option that was probably meant; NULL: none is similar. `c`: NULL for commands. */
const char *similar_command(const char *name);
const char *similar_option(const command *c, const char *name, size_t size);

void print_help(FILE *to, const command *c); /* NULL: general help */
int command_help(char **words, int count, const settings *set);

#endif
