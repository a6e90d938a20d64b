/* help.c - help, manual page, shell completion and suggestions, all from the tables in commands.c: see commands.h */

#include "commands.h"
#include "../export/table_set.h"
#include "../view/view.h"

#include <stdlib.h>

#define WIDTH 79
#define DATE "2026-11-28" /* the manual's, of the day on which commands.c last changed what it says */

/* The text of the general help after the list of commands, in the form of a command's help. */
static const char about[] =
    "FILE is an execution trace of Go 1.5 or later, in any of their formats, which gzip may have compressed; - is "
    "standard input. Options may stand before and after it, a value as --option VALUE or --option=VALUE; after -- all "
    "words are files. Without a COMMAND, gotrace FILE is gotrace info FILE. An id or name that the trace does not have "
    "is an error. Without -o, or with -o -, a result goes to "
    "standard output, unless it is not text and that is a terminal; until it is complete, it is in an unnamed file in "
    "TMPDIR or, without that, in /tmp. A command that fails "
    "leaves no incomplete file. Names from a trace are shown without control characters, and bytes that are not UTF-8 "
    "as U+FFFD.";

static const char statuses[] = "0: success. 1: a trace is broken or something cannot be read or written. 2: wrong "
                               "usage. `record` exits with the "
                               "program's status; 126: it cannot be executed; 127: it is not found.";

/* ------------------------------------------------------------------------------------------------- suggestions ---- */

/* The edit distance of two words: letters inserted, deleted, replaced or swapped with a neighbour. At least 99 if a
 * word is too long. */
static unsigned distance(const char *a, size_t a_size, const char *b, size_t b_size) {
  enum { MOST = 31 };
  unsigned rows[3][MOST + 1], *before = rows[0], *last = rows[1], *now = rows[2], *spare, best;
  size_t i, j;
  if (a_size > MOST || b_size > MOST) return 99;
  for (j = 0; j <= b_size; j++) last[j] = (unsigned)j, before[j] = 0;
  for (i = 1; i <= a_size; i++) {
    now[0] = (unsigned)i;
    for (j = 1; j <= b_size; j++) {
      best = last[j - 1] + (a[i - 1] != b[j - 1]);
      if (last[j] + 1 < best) best = last[j] + 1;
      if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      now[j] = best;
    }
    spare = before, before = last, last = now, now = spare;
  }
  return last[b_size];
}

/* Whether `known` is a more likely meaning than those seen so far, which are `*best` letters away. A common beginning
 * counts as one letter. */
static bool better(const char *given, size_t size, const char *known, size_t known_size, unsigned *best) {
  unsigned found = distance(given, size, known, known_size);
  unsigned most = size < 4 ? 1 : size < 8 ? 2 : 3;
  if (size >= 3 && size < known_size && strncmp(given, known, size) == 0 && found > 1) found = 1;
  if (found > most || found >= *best || found >= known_size) return false;
  *best = found;
  return true;
}

const char *similar_command(const char *name) {
  const char *result = NULL;
  unsigned best = 99;
  size_t i;
  for (i = 0; i < command_count; i++)
    if (better(name, strlen(name), commands[i].name, strlen(commands[i].name), &best)) result = commands[i].name;
  return result;
}

/* Dashes are ignored, so -json suggests --json. */
const char *similar_option(const command *c, const char *name, size_t size) {
  static char result[64];
  const char *at = c->options;
  const option *o;
  unsigned best = 99;
  size_t dashes = strspn(name, "-"), own;
  *result = 0;
  if (dashes >= size) return NULL;
  while ((o = next_option(&at))) {
    size_t length = option_name_size(o);
    own = strspn(o->spec, "-");
    if (length - own < 2 || length >= sizeof result) continue;
    if ((length - own == size - dashes && strncmp(o->spec + own, name + dashes, length - own) == 0) ||
        better(name + dashes, size - dashes, o->spec + own, length - own, &best)) {
      memcpy(result, o->spec, length);
      result[length] = 0;
    }
  }
  return *result ? result : NULL;
}

/* -------------------------------------------------------------------------------------------------------- help ---- */

/* Prints words in lines that are indented by `indent` spaces; the first begins in column `column`. */
static void fill(FILE *to, const char *text, size_t size, int indent, int column) {
  const char *end = text + size, *word = text;
  while (word < end) {
    int length = 0;
    while (word + length < end && word[length] != ' ') length++;
    if (column > indent && column + 1 + length > WIDTH) fprintf(to, "\n%*s", indent, ""), column = indent;
    if (column < indent) fprintf(to, "%*s", indent - column, ""), column = indent;
    else if (column > indent) fputc(' ', to), column++;
    fwrite(word, 1, (size_t)length, to);
    column += length;
    word += length + 1;
  }
  fputc('\n', to);
}

/* Calls `show` for each paragraph. `example`: its line breaks are kept. */
static void paragraphs(FILE *to, const char *text,
                       void (*show)(FILE *, const char *, size_t, bool example, bool first)) {
  const char *begin = text;
  while (*text) {
    const char *end = strstr(text, "\n\n");
    size_t size = end ? (size_t)(end - text) : strlen(text);
    show(to, text, size, strncmp(text, "  ", 2) == 0, text == begin);
    text += size + (end ? 2 : 0);
  }
}

static void print_paragraph(FILE *to, const char *text, size_t size, bool example, bool first) {
  (void)first;
  fputc('\n', to);
  if (example) fprintf(to, "%.*s\n", (int)size, text);
  else fill(to, text, size, 0, 0);
}

static void print_options(FILE *to, const command *c) {
  const char *at = c->options;
  const option *o;
  int width = 0;
  while ((o = next_option(&at)))
    if ((int)strlen(o->spec) > width) width = (int)strlen(o->spec);
  at = c->options;
  if (at) fputs("\nOptions:\n", to);
  while ((o = next_option(&at))) {
    fprintf(to, "  %-*s", width, o->spec);
    fill(to, o->help, strlen(o->help), width + 4, width + 2);
    if (!o->values || !strcmp(option_value(o), "KIND")) continue;
    fprintf(to, "%*s(%s)\n", width + 4, "", o->values);
  }
}

static void print_tables(FILE *to, const command *c) {
  const table_description *t;
  size_t i;
  for (t = c->tables; t && t < c->tables + SET_TABLES; t++) {
    char head[200];
    int size = snprintf(head, sizeof head, "Table %s, %s:", t->name, t->meaning);
    fputc('\n', to);
    fill(to, head, (size_t)size, 0, 0);
    for (i = 0; i < t->count; i++) {
      fprintf(to, "  %-11s %-6s", t->columns[i].name, sql_type(t->columns[i].type));
      fill(to, t->columns[i].meaning, strlen(t->columns[i].meaning), 22, 20);
    }
  }
}

void print_help(FILE *to, const command *c) {
  size_t i;
  if (c) {
    fprintf(to, "usage: gotrace %s %s\n", c->name, c->arguments);
    paragraphs(to, c->help, print_paragraph);
    print_options(to, c);
    print_tables(to, c);
    return;
  }
  fputs("gotrace " GOTRACE_VERSION ": records Go execution traces, looks into them, converts them\n\n"
        "usage: gotrace COMMAND [OPTIONS] FILE\n\n",
        to);
  for (i = 0; i < command_count; i++) fprintf(to, "  %-11s%s\n", commands[i].name, commands[i].summary);
  paragraphs(to, about, print_paragraph);
  fputs("\nSee gotrace help COMMAND, or man gotrace.\n", to);
}

/* ------------------------------------------------------------------------------------------------- manual page ---- */

/* Escapes text for man pages. */
static void put_roff(FILE *to, const char *text, size_t size) {
  size_t i;
  for (i = 0; i < size; i++) {
    if ((i == 0 || text[i - 1] == '\n') && (text[i] == '.' || text[i] == '\'')) fputs("\\&", to);
    if (text[i] == '-') fputs("\\-", to);
    else if (text[i] == '\\') fputs("\\e", to);
    else fputc(text[i], to);
  }
}

/* A paragraph with each sentence on a line of its own, as man needs for the space between sentences. */
static void put_sentences(FILE *to, const char *text, size_t size) {
  const char *end = text + size, *line = text, *word = text;
  while (word < end) {
    const char *next = word;
    while (next < end && *next != ' ') next++;
    if (next == end || strchr(".:", next[-1]) || next - line > 60) {
      put_roff(to, line, (size_t)(next - line));
      fputc('\n', to);
      line = next + 1;
    }
    word = next + 1;
  }
}

static void put_paragraph(FILE *to, const char *text, size_t size, bool example, bool first) {
  if (!first) fputs(".PP\n", to);
  if (example) fputs(".nf\n", to), put_roff(to, text, size), fputs("\n.fi\n", to);
  else put_sentences(to, text, size);
}

static void put_tables(FILE *to, const command *c) {
  const table_description *t;
  size_t i;
  for (t = c->tables; t && t < c->tables + SET_TABLES; t++) {
    fprintf(to, ".PP\nTable \\fB%s\\fR,\n", t->name);
    put_sentences(to, t->meaning, strlen(t->meaning));
    for (i = 0; i < t->count; i++) {
      fprintf(to, ".IP \"\\fB%s\\fR %s\" 4\n", t->columns[i].name, sql_type(t->columns[i].type));
      put_sentences(to, t->columns[i].meaning, strlen(t->columns[i].meaning));
    }
  }
}

static void print_manual(FILE *to) {
  size_t i;
  fprintf(to, ".TH GOTRACE 1 " DATE " \"gotrace %s\"\n", GOTRACE_VERSION);
  fputs(".SH NAME\ngotrace \\- records Go execution traces, looks into them, converts them\n.SH SYNOPSIS\n", to);
  for (i = 0; i < command_count; i++) {
    fprintf(to, "%s.B gotrace %s\n", i ? ".br\n" : "", commands[i].name);
    put_roff(to, commands[i].arguments, strlen(commands[i].arguments));
    fputc('\n', to);
  }
  fputs(".SH DESCRIPTION\n", to);
  put_sentences(to, about, strlen(about));
  fputs(".SH COMMANDS\n", to);
  for (i = 0; i < command_count; i++) {
    const command *c = &commands[i];
    const char *at = c->options;
    const option *o;
    fprintf(to, ".SS %s \\- ", c->name);
    put_roff(to, c->summary, strlen(c->summary));
    fputs("\n", to);
    paragraphs(to, c->help, put_paragraph);
    while ((o = next_option(&at))) {
      size_t size = option_name_size(o);
      fputs(".TP\n\\fB", to);
      put_roff(to, o->spec, size);
      fputs("\\fR", to);
      if (option_value(o)) fprintf(to, " \\fI%s\\fR", option_value(o));
      fputc('\n', to);
      put_sentences(to, o->help, strlen(o->help));
      if (o->values && strcmp(option_value(o), "KIND") != 0) fprintf(to, "(%s)\n", o->values);
    }
    put_tables(to, c);
  }
  fputs(".SH EXIT STATUS\n", to);
  put_sentences(to, statuses, strlen(statuses));
}

/* -------------------------------------------------------------------------------------------------- completion ---- */

static const char bash[] = /* the tool itself knows the words */
    "_gotrace() {\n"
    "  local line\n"
    "  COMPREPLY=()\n"
    "  while IFS= read -r line; do COMPREPLY+=(\"${line%%:*}\"); done < <(\n"
    "    \"${COMP_WORDS[0]}\" help --complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "}\n"
    "complete -o default -F _gotrace gotrace\n";

/* The description is behind a tab. */
static const char fish[] = "function __gotrace_complete\n"
                           "    set -l words (commandline -opc) (commandline -ct)\n"
                           "    gotrace help --complete $words[2..] 2>/dev/null | string replace : \\t\n"
                           "end\n"
                           "complete -c gotrace -a '(__gotrace_complete)'\n";

static const char zsh[] = "#compdef gotrace\n"
                          "local -a found\n"
                          "found=(\"${(@f)$(${words[1]} help --complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
                          "if [[ -n ${found[1]} ]]; then _describe gotrace found; else _files; fi\n";

static bool begins(const char *text, size_t size, const char *with) {
  return strlen(with) <= size && strncmp(text, with, strlen(with)) == 0;
}

/* Prints each word that may complete the last one, with its meaning after ':'. Prints nothing where a file is expected.
 * Bash passes --option=VALUE as three words. */
static void complete(char **words, int count) {
  const char *last = count ? words[count - 1] : "", *at, *value, *values = NULL, *prefix = "";
  const command *c;
  const option *o = NULL;
  size_t i, size = strcspn(last, "=");
  if (count < 2) {
    for (i = 0; i < command_count; i++)
      if (begins(commands[i].name, strlen(commands[i].name), last))
        printf("%s:%s\n", commands[i].name, commands[i].summary);
    return;
  }
  if (strcmp(words[0], "help") == 0) {
    if (count == 2) complete(words + 1, 1);
    return;
  }
  c = find_command(words[0]);
  if (!c) return;
  if (strcmp(last, "=") == 0) words[count++] = ""; /* main() has left room */
  last = words[count - 1];
  if (count > 2) {
    const char *name = strcmp(words[count - 2], "=") == 0 && count > 3 ? words[count - 3] : words[count - 2];
    if (*name == '-') o = find_option(c, name, strlen(name));
    if (o && option_value(o)) values = o->values ? o->values : "";
  }
  if (!values && *last == '-' && last[size] && (o = find_option(c, last, size)) && option_value(o)) {
    values = o->values ? o->values : "";
    prefix = last;
    last += size + 1;
  }
  if (values) {
    for (; *values; values += size + (values[size] == ' ')) {
      size = strcspn(values, " ");
      if (begins(values, size, last))
        printf("%.*s%.*s:\n", (int)(last - prefix) * (*prefix == '-'), prefix, (int)size, values);
    }
    return;
  }
  if (*last != '-') return;
  at = c->options;
  while ((o = next_option(&at))) {
    value = option_value(o);
    if (begins(o->spec, option_name_size(o), last))
      printf("%.*s:%s%s%s\n", (int)option_name_size(o), o->spec, value ? value : "", value ? ", " : "", o->help);
  }
}

#if !IN_BROWSER
static void print_page(void) {
  output out;
  output_direct(&out);
  if (!view_empty_page(&out)) fail("this tool was built without the page's reader");
  output_flush(&out);
  free(out.block.data);
}
#endif

int command_help(char **words, int count, const settings *set) {
  const command *c;
  (void)set;
  if (!count) print_help(stdout, NULL);
  else if (strcmp(words[0], "--complete") == 0) complete(words + 1, count - 1);
  else if (count > 1) usage("help takes one COMMAND");
  else if (strcmp(words[0], "--man") == 0) print_manual(stdout);
#if !IN_BROWSER
  else if (strcmp(words[0], "--page") == 0) print_page();
#endif
  else if (strcmp(words[0], "--bash") == 0) fputs(bash, stdout);
  else if (strcmp(words[0], "--zsh") == 0) fputs(zsh, stdout);
  else if (strcmp(words[0], "--fish") == 0) fputs(fish, stdout);
  else if (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0) print_help(stdout, find_command("help"));
  else {
    const char *meant = similar_command(words[0]);
    c = find_command(words[0]);
    if (!c && meant) usage("unknown command '%s'; did you mean '%s'?", words[0], meant);
    if (!c) usage("unknown command '%s'", words[0]);
    print_help(stdout, c);
  }
  return 0;
}
