/* commands.h - the tables of commands and options, from which everything about the command line is made
 *
 *     commands.c   the tables, and the functions that set options
 *     help.c       help, the manual page, shell completion, suggestions for mistyped words
 *     main.c       reads the command line and calls the command
 *
 * To add a command, write it in a file of its own, declare it in tool.h and add a row to `commands`. To add an option,
 * add a field to `settings` (tool.h), a row to `options`, and its specification to the rows of its commands. Help,
 * manual and completion follow. */

#ifndef COMMANDS_H
#define COMMANDS_H

#include "tool.h"

#define MANY 0x7fffffff

/* Options that select what a command is about: see filter.h. */
#define FILTER_OPTIONS "--go IDS,--function NAME,--task ID|NAME,--proc IDS,--thread IDS,--kind NAMES,--reason TEXT"

typedef struct command {
  const char *name;
  const char *arguments; /* after the name, in usage lines */
  const char *summary;   /* one line, in the list of commands */
  /* Paragraphs, separated by empty lines. One that begins with two spaces is an example and keeps its line breaks. */
  const char *help;
  const char *options; /* specifications from `options`, separated by ',' in the order of the help; NULL: none */
  const char *needs;   /* at least one of these options must be given; separated like those; NULL: none is needed */
  int least, most;     /* how many files it takes */
  bool program;        /* takes a program and its arguments instead: what follows them are not options */
  /* One of them is there. Both return the program's exit status. `run` is called for each file, `run_all` once. */
  int (*run)(const char *path, const settings *set);
  int (*run_all)(char **words, int count, const settings *set);
} command;

typedef struct option {
  /* Name, then the name of its value if it has one: "--from TIME". Two options may share a name if no command has both.
   */
  const char *spec;
  const char *help;
  const char *values; /* all values there are, separated by spaces; NULL: not a fixed set */
  /* Changes `settings` for the option. `value`: NULL if it has none. */
  void (*set)(const struct option *, const char *value, settings *);
  size_t field; /* for `set`: where in `settings`; SETTING(name) */
  int number;   /* for `set`: what the field gets */
} option;

#define SETTING(name) offsetof(settings, name)

extern const command commands[];
extern const option options[];
extern const size_t command_count, option_count;

const command *find_command(const char *name); /* NULL: there is none */

/* The options of a command, one after the other. `at` begins as c->options; NULL at the end. */
const option *next_option(const char **at);

/* The option of a command with this name, of `size` bytes; NULL: there is none. */
const option *find_option(const command *c, const char *name, size_t size);

size_t option_name_size(const option *);
const char *option_value(const option *); /* the name of its value; NULL: it has none */

/* Wrong use of a command: prints a message and where to find help; ends the program with status 2. */
__attribute__((noreturn, format(printf, 1, 2))) void usage(const char *format, ...);

/* A command or option that was probably meant, NULL: none is similar. `c`: NULL for commands. */
const char *similar_command(const char *name);
const char *similar_option(const command *c, const char *name, size_t size);

void print_help(FILE *to, const command *c); /* NULL: in general */
int command_help(char **words, int count, const settings *set);

#endif
