/* commands.h - the tables of commands and options, which define the whole command line
 *
 *     commands.c   the tables, and the functions that set options
 *     help.c       help, the manual page, shell completion, suggestions for mistyped words
 *     main.c       reads the command line and calls the command
 *
 * To add a command, write it in a file of its own, declare it below and add a row to `commands`. To add an option,
 * add a field to `settings` (tool.h), a row to `options`, and its spec to the rows of its commands. Help, manual page
 * and completion follow. */

#ifndef COMMANDS_H
#define COMMANDS_H

#include "../reading/input.h"

#define MANY 0x7fffffff

typedef struct command {
  const char *name;
  const char *arguments; /* after the name, in usage lines */
  const char *summary;   /* one line, in the list of commands */
  /* Paragraphs, separated by empty lines. One that begins with two spaces is an example and keeps its line breaks. */
  const char *help;
  const struct table_description *tables; /* that it writes, described after that; NULL: none */
  const char *options; /* specs from `options`, separated by ',' in the order of the help; NULL: none */
  const char *needs;   /* at least one of these options must be given, separated likewise; NULL: none is required */
  const char *result;  /* what it writes, if a terminal cannot show that (except with --folded); NULL: text */
  int files;           /* how many it takes; 0: one; MANY: one or more */
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

/* The command or option that was probably meant; NULL: none is similar. `c`: NULL for commands. */
const char *similar_command(const char *name);
const char *similar_option(const command *c, const char *name, size_t size);

void print_help(FILE *to, const command *c); /* NULL: general help */
int command_help(char **words, int count, const settings *set);

/* ------------------------------------------------------------------- what main.c and other commands call ---- */

/* Each returns the program's exit status. */
int command_info(const char *path, const settings *set);
int command_check(const char *path, const settings *set);
int command_dump(const char *path, const settings *set);
int command_index(const char *path, const settings *set);
int command_convert(const char *path, const settings *set); /* also cuts */
int command_export(char **paths, int count, const settings *set);
int command_profile(const char *path, const settings *set);
int command_diff(char **paths, int count, const settings *set);
int command_path(const char *path, const settings *set);
int command_waits(const char *path, const settings *set);
int command_record(char **words, int count, const settings *set); /* the program to run, and its arguments */
int command_ctl(char **words, int count, const settings *set);    /* a process id, and what to ask */
int command_symbolize(const char *path, const settings *set);
int command_view(char **paths, int count, const settings *set);
bool view_has_reader(void); /* whether the tool was built with it, so that view can serve a trace */

/* The first part of what info prints, to standard error, and `of_children` (or NULL) if the program mostly waited for
 * child processes. Closes the trace. */
void info_summary(input *in, const char *of_children);

/* Chooses a file that may be read instead of the one at a path, for example without links; NULL: none. The result is
 * valid until the next call. */
typedef const char *choose_file(const char *path);

/* Copies traces, with the functions, lines and inlined callers that debug information knows. Each file that contains it
 * is read once for all traces: look at each trace, find their names, write each trace. One trace is the current one:
 * the last that was looked at, until it is written or forgotten. What is written then is read once more. `choose` is
 * asked for the files to read; NULL: all may be read. These functions do not return if they fail. */
typedef struct symbolizer symbolizer;
symbolizer *symbolizer_new(choose_file *choose);
void symbolizer_look(symbolizer *s, input *in);
void symbolizer_forget(symbolizer *s);
void symbolizer_find(symbolizer *s);
void symbolizer_jit(symbolizer *s, int pid, time_t since); /* whose trace is written next, and when it began */
void symbolizer_write(symbolizer *s, input *in, output *out);
void symbolizer_free(symbolizer *s);

/* The format with a name like "1.23"; 0 if the tool does not write it. */
int parse_written_format(const char *name);

#endif
