/* table_set.c - the files of `gotrace export --tables`: see table_set.h
 *
 * A set is written to a new directory beside its place, which gets its name at the end. Until then, a failure or signal
 * removes it with its files. So a directory of that name always has a complete set. */

#include "table_set.h"

#include "gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------ descriptions ---- */

#define NUMBER_COLUMN(of, name, meaning) {#name, meaning, COLUMN_NUMBER, offsetof(of##_row, name)},
#define REAL_COLUMN(of, name, meaning) {#name, meaning, COLUMN_REAL, offsetof(of##_row, name)},
#define TEXT_COLUMN(of, name, meaning) {#name, meaning, COLUMN_TEXT, offsetof(of##_row, name)},
#define DESCRIBE_COLUMNS(name, COLUMNS, meaning)                                  \
  static const table_column name##_columns[] = {                                  \
      {"trace", "the name of the trace's file, as it was given", COLUMN_TEXT, 0}, \
      COLUMNS(name, NUMBER_COLUMN, REAL_COLUMN, TEXT_COLUMN)};
TABLE_SET(DESCRIBE_COLUMNS)

#define DESCRIBE_TABLE(name, COLUMNS, meaning) {#name, meaning, name##_columns, COUNT(name##_columns)},
const table_description set_tables[SET_TABLES] = {TABLE_SET(DESCRIBE_TABLE)};

/* Names of types that SQLite, DuckDB and ClickHouse have in common. */
/* ------------------------------------------------------------------------------------------------------- files ---- */

#define BLOCK_SIZE ((size_t)1 << 19) /* bytes that are compressed apart */

typedef struct set_file {
  bytes block;
  gzip_file to;
} set_file;

struct table_set {
  const char *target;
  char *building;              /* the directory until it is complete */
  char *paths[SET_TABLES + 1]; /* of its files; NULL: not yet made. The last is that of schema.sql */
  set_file files[SET_TABLES];
  gzip *z;
  bytes trace; /* the first cell of each row */
};

static table_set *unfinished;

static void discard(void) {
  size_t i;
  for (i = 0; i < SET_TABLES; i++)
    if (unfinished->paths[i] && unfinished->files[i].to.fd > 0) close(unfinished->files[i].to.fd);
  for (i = 0; i < COUNT(unfinished->paths); i++)
    if (unfinished->paths[i]) unlink(unfinished->paths[i]);
  rmdir(unfinished->building);
}

/* Makes a file. It is noted before it exists, so that a signal finds it. */
static int make_file(table_set *to, size_t number, const char *name, const char *end) {
  size_t size = strlen(to->building) + strlen(name) + strlen(end) + 2;
  char *path = resize(NULL, size);
  int fd;
  snprintf(path, size, "%s/%s%s", to->building, name, end);
  to->paths[number] = path;
  fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) fail("cannot write %s: %s", path, strerror(errno));
  return fd;
}

static void write_schema(table_set *to) {
  int fd = make_file(to, SET_TABLES, "schema", ".sql");
  FILE *file = fdopen(fd, "w");
  size_t t, c;
  if (!file) fail("cannot write %s: %s", to->paths[SET_TABLES], strerror(errno));
  fputs("-- Tables of execution traces, by gotrace " GOTRACE_VERSION ". Each is in a file of its name: slices.csv.gz.\n"
        "-- Times are in nanoseconds, from the first event of their trace.\n",
        file);
  for (t = 0; t < SET_TABLES; t++) {
    const table_description *table = &set_tables[t];
    fprintf(file, "\n-- %s: %s\nCREATE TABLE IF NOT EXISTS %s (\n", table->name, table->meaning, table->name);
    for (c = 0; c < table->count; c++) {
      const table_column *of = &table->columns[c];
      fprintf(file, "  %s %s%s%s -- %s\n", of->name, sql_type(of->type), of->type == COLUMN_TEXT ? "" : " NOT NULL",
              c + 1 < table->count ? "," : "", of->meaning);
    }
    fputs(");\n", file);
  }
  if (ferror(file) || fclose(file) != 0) fail("%s: %s", to->paths[SET_TABLES], strerror(errno));
}

table_set *table_set_open(const char *directory) {
  table_set *to = zeroed(sizeof *to);
  size_t size = strlen(directory), t, c;
  struct stat status;
  if (!size) usage("--tables needs the name of a new directory");
  if (lstat(directory, &status) == 0)
    fail("%s exists already; the tables get a new directory, so choose another name or remove it", directory);
  while (size > 1 && directory[size - 1] == '/') size--;
  to->target = directory;
  to->building = resize(NULL, size + 8);
  snprintf(to->building, size + 8, "%.*s.XXXXXX", (int)size, directory);
  unfinished = to;
  program.discard = discard;
  if (!mkdtemp(to->building)) {
    program.discard = NULL;
    fail("cannot make the directory %s: %s", directory, strerror(errno));
  }
  write_schema(to);
  to->z = gzip_open(GZIP_FAST);
  for (t = 0; t < SET_TABLES; t++) {
    set_file *file = &to->files[t];
    file->to.fd = make_file(to, t, set_tables[t].name, ".csv.gz");
    file->to.path = to->paths[t];
    gzip_begin(&file->to);
    for (c = 0; c < set_tables[t].count; c++) {
      const char *name = set_tables[t].columns[c].name;
      if (c) put_byte(&file->block, ',');
      put_data(&file->block, name, strlen(name));
    }
    put_byte(&file->block, '\n');
  }
  return to;
}

void table_set_trace(table_set *to, const char *name) {
  to->trace.size = 0;
  put_csv_text(&to->trace, name, strlen(name));
}

/* Appends a comma and a number. */
static void put_number_cell(bytes *b, int64_t value) {
  uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  uint8_t digits[24], *at = digits + sizeof digits, *end = bytes_room(b, sizeof digits);
  *end++ = ',';
  if (value < 0) *end++ = '-';
  do *--at = (uint8_t)('0' + left % 10);
  while (left /= 10);
  while (at < digits + sizeof digits) *end++ = *at++;
  b->size = (size_t)(end - b->data);
}

void table_set_put(table_set *to, unsigned table, const void *row) {
  const table_description *of = &set_tables[table];
  set_file *file = &to->files[table];
  bytes *b = &file->block;
  char text[REAL_TEXT];
  size_t c;
  put_data(b, to->trace.data, to->trace.size);
  for (c = 1; c < of->count; c++) {
    const void *cell = (const char *)row + of->columns[c].field;
    switch (of->columns[c].type) {
    case COLUMN_NUMBER: put_number_cell(b, *(const int64_t *)cell); break;
    case COLUMN_REAL:
      put_byte(b, ',');
      real_text(*(const double *)cell, text);
      put_data(b, text, strlen(text));
      break;
    case COLUMN_TEXT:
      put_byte(b, ',');
      put_csv_text(b, ((const pool_text *)cell)->data, ((const pool_text *)cell)->size);
      break;
    }
  }
  put_byte(b, '\n');
  if (b->size >= BLOCK_SIZE) gzip_put(to->z, &file->to, b);
}

void table_set_close(table_set *to) {
  mode_t mask = umask(0);
  size_t i;
  umask(mask);
  for (i = 0; i < SET_TABLES; i++) gzip_put(to->z, &to->files[i].to, &to->files[i].block);
  gzip_flush(to->z);
  for (i = 0; i < SET_TABLES; i++) gzip_end(&to->files[i].to);
  if (chmod(to->building, 0777 & ~mask) != 0 || rename(to->building, to->target) != 0)
    fail("cannot make the directory %s: %s", to->target, strerror(errno));
  program.discard = NULL;
  gzip_close(to->z);
  for (i = 0; i < SET_TABLES; i++) free(to->files[i].block.data);
  for (i = 0; i < COUNT(to->paths); i++) free(to->paths[i]);
  free(to->trace.data);
  free(to->building);
  free(to);
}
