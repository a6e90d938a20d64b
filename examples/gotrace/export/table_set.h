/* table_set.h - the tables of `gotrace export --tables`, described once
 *
 *     table_set.c   schema.sql; rows as CSV; the directory that appears only when it is complete
 *     gzip.c        compresses the files, on several threads
 *     relations.c   what the rows of a trace are
 *
 * The lists below are the only description of the columns. The structs of rows, the first lines of the files,
 * schema.sql and the manual come from them. A column is a NUMBER, a REAL or a TEXT. Each has a value in every row,
 * because not all engines read an empty cell as NULL. Before the columns of each list comes `trace`. */

#ifndef TABLE_SET_H
#define TABLE_SET_H

#include "../reading/pool.h"

#define PROCESSES_COLUMNS(OF, NUMBER, REAL, TEXT)                                                  \
  TEXT(OF, format, "the Go release of its format: 1.23")                                           \
  NUMBER(OF, recorded, "1 if made by gotrace record, so that goroutines are threads, otherwise 0") \
  NUMBER(OF, began, "when time 0 was, in nanoseconds since 1970 (0: unknown, as before Go 1.25)")  \
  NUMBER(OF, start_time, "where the exported part starts, without --from 0")                       \
  NUMBER(OF, end_time, "where it ends, without --to the end of the trace")                         \
  NUMBER(OF, events, "how many rows it has in events")                                             \
  NUMBER(OF, procs, "the last GOMAXPROCS (0: unknown)")                                            \
  NUMBER(OF, complete, "1, or 0 if the trace is broken and this is what --partial has kept")

#define GOROUTINES_COLUMNS(OF, NUMBER, REAL, TEXT)                                                    \
  NUMBER(OF, goroutine, "its id")                                                                     \
  NUMBER(OF, reuse, "how many goroutines with this id ended before it in the trace, nearly always 0") \
  TEXT(OF, function, "the one that it began with, or the name of its thread (empty: unknown)")        \
  NUMBER(OF, creator, "the goroutine that created it (-1: unknown)")                                  \
  NUMBER(OF, stack, "where it was created (0: unknown)")                                              \
  NUMBER(OF, start_time, "when it was created (0 if that was before the trace)")                      \
  NUMBER(OF, end_time, "when it ended, or the end of the trace or part")                              \
  NUMBER(OF, began, "1 if it was created in the trace, otherwise 0")                                  \
  NUMBER(OF, ended, "1 if it ended in the trace or part, otherwise 0")                                \
  NUMBER(OF, running, "nanoseconds in this state, the sum of its slices")                             \
  NUMBER(OF, runnable, "nanoseconds in this state")                                                   \
  NUMBER(OF, syscall, "nanoseconds in this state")                                                    \
  NUMBER(OF, blocked, "nanoseconds in this state")

#define SLICES_COLUMNS(OF, NUMBER, REAL, TEXT)                                                             \
  NUMBER(OF, goroutine, "which goroutine")                                                                 \
  NUMBER(OF, reuse, "see goroutines")                                                                      \
  TEXT(OF, state, "running, runnable (it waits for a proc), syscall (with or without a proc), or blocked") \
  NUMBER(OF, start_time, "when it entered the state, at the earliest the start of the part")               \
  NUMBER(OF, end_time, "when it left the state, or the end of the trace or part")                          \
  NUMBER(OF, ended, "1 if it left the state in the trace or part, otherwise 0")                            \
  TEXT(OF, reason, "why it was blocked (empty: unknown, or another state)")                                \
  NUMBER(OF, stack, "where it was when it entered the state (0: unknown)")                                 \
  NUMBER(OF, waker, "the goroutine that ended its wait (-1: none, as for timers, or another state)")       \
  NUMBER(OF, waker_stack, "where the waker was (0: unknown)")                                              \
  NUMBER(OF, thread, "where it ran or was in the call (-1: nowhere, or unknown)")                          \
  NUMBER(OF, proc, "the proc that it had when the slice ended (-1: none)")

#define TASKS_COLUMNS(OF, NUMBER, REAL, TEXT)                                                      \
  NUMBER(OF, task, "its id")                                                                       \
  NUMBER(OF, parent, "the id of its parent (0: none)")                                             \
  TEXT(OF, name, "its name")                                                                       \
  NUMBER(OF, start_time, "when it began (0 if that was before the trace)")                         \
  NUMBER(OF, end_time, "when it ended, of several ends the last, or the end of the trace or part") \
  NUMBER(OF, began, "1 if it began in the trace, otherwise 0")                                     \
  NUMBER(OF, ended, "1 if it ended in the trace or part, otherwise 0")                             \
  NUMBER(OF, stack, "where it began (0: unknown)")

#define REGIONS_COLUMNS(OF, NUMBER, REAL, TEXT)                                                  \
  NUMBER(OF, goroutine, "which goroutine")                                                       \
  NUMBER(OF, reuse, "see goroutines")                                                            \
  TEXT(OF, name, "its name")                                                                     \
  NUMBER(OF, task, "the id of its task (0: none)")                                               \
  NUMBER(OF, depth, "how many regions were open around it when it ended")                        \
  NUMBER(OF, start_time, "when it began (if that was before the trace, when its goroutine did)") \
  NUMBER(OF, end_time, "when it ended, or its goroutine did, or the trace or part")              \
  NUMBER(OF, began, "1 if it began in the trace, otherwise 0")                                   \
  NUMBER(OF, ended, "1 if it ended in the trace or part, otherwise 0")                           \
  NUMBER(OF, stack, "where it began (0: unknown)")

#define EVENTS_COLUMNS(OF, NUMBER, REAL, TEXT)                                     \
  NUMBER(OF, time, "when")                                                         \
  TEXT(OF, kind, "as gotrace dump calls it, by the release's own name: GoBlock")   \
  NUMBER(OF, thread, "where it happened (-1: unknown)")                            \
  NUMBER(OF, proc, "the proc of the thread (-1: none, or unknown)")                \
  NUMBER(OF, goroutine, "the goroutine on the thread (-1: none, or unknown)")      \
  NUMBER(OF, object, "the goroutine, proc or task that it names first (-1: none)") \
  NUMBER(OF, value, "the next number that it tells, such as bytes (0: none)")      \
  TEXT(OF, name, "of a region or task, a reason, or a category (empty: none)")     \
  TEXT(OF, message, "of a log (empty: none)")                                      \
  NUMBER(OF, stack, "where the program was (0: unknown)")

#define COUNTERS_COLUMNS(OF, NUMBER, REAL, TEXT)                                               \
  NUMBER(OF, time, "when it got the value")                                                    \
  TEXT(OF, kind, "program (by gotrace_count) or runtime (heap and heap goal in bytes, procs)") \
  TEXT(OF, name, "its name")                                                                   \
  REAL(OF, value, "its value from then on")

#define FRAMES_COLUMNS(OF, NUMBER, REAL, TEXT)                         \
  NUMBER(OF, stack, "the number of the stack in this trace, from 1")   \
  NUMBER(OF, depth, "0 is the innermost, its caller has 1, and so on") \
  TEXT(OF, function, "its name (empty: unknown)")                      \
  TEXT(OF, file, "its source file (empty: unknown)")                   \
  NUMBER(OF, line, "in the file (0: unknown)")                         \
  NUMBER(OF, pc, "its address, as a signed number (0: unknown)")

#define TABLE_SET(TABLE)                                                                                      \
  TABLE(processes, PROCESSES_COLUMNS, "a row for each trace")                                                 \
  TABLE(goroutines, GOROUTINES_COLUMNS, "a row for each goroutine, when it ends or the trace does")           \
  TABLE(slices, SLICES_COLUMNS, "a row for each time in which a goroutine stayed in one state, when it ends") \
  TABLE(tasks, TASKS_COLUMNS, "a row for each task of the program")                                           \
  TABLE(regions, REGIONS_COLUMNS, "a row for each region of the program, when it ends")                       \
  TABLE(events, EVENTS_COLUMNS, "a row for each event in the trace, in its order")                            \
  TABLE(counters, COUNTERS_COLUMNS, "a row for each value that a counter got")                                \
  TABLE(frames, FRAMES_COLUMNS, "a row for each frame of the stacks that rows above name")

/* A row of each table: struct slices_row and so on. */
#define NUMBER_FIELD(of, name, meaning) int64_t name;
#define REAL_FIELD(of, name, meaning) double name;
#define TEXT_FIELD(of, name, meaning) pool_text name;
#define ROW_STRUCT(name, COLUMNS, meaning)              \
  typedef struct name##_row {                           \
    COLUMNS(name, NUMBER_FIELD, REAL_FIELD, TEXT_FIELD) \
  } name##_row;
TABLE_SET(ROW_STRUCT)

/* Their numbers: TABLE_slices and so on. */
#define TABLE_NUMBER(name, COLUMNS, meaning) TABLE_##name,
enum { TABLE_SET(TABLE_NUMBER) SET_TABLES };

typedef enum column_type { COLUMN_NUMBER, COLUMN_REAL, COLUMN_TEXT } column_type;

typedef struct table_column {
  const char *name, *meaning;
  column_type type;
  size_t field; /* offset in the row */
} table_column;

typedef struct table_description {
  const char *name, *meaning;
  const table_column *columns; /* the first is `trace`, which no row has */
  size_t count;
} table_description;

extern const table_description set_tables[SET_TABLES];
static inline const char *sql_type(column_type type) {
  return type == COLUMN_NUMBER ? "BIGINT" : type == COLUMN_REAL ? "DOUBLE" : "TEXT";
}

/* A set that is being written. It gets its name in table_set_close(); if the program ends before, nothing is left. One
 * set at a time. */
typedef struct table_set table_set;
table_set *table_set_open(const char *directory);
void table_set_trace(table_set *to, const char *name);              /* the rows that follow are of this trace */
void table_set_put(table_set *to, unsigned table, const void *row); /* the struct of the table */
void table_set_close(table_set *to);

#define PUT_ROW(to, table, ...) table_set_put((to), TABLE_##table, &(const table##_row){__VA_ARGS__})

#endif
