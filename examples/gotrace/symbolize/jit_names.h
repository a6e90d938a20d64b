/* jit_names.h - names of code that a process has compiled while it ran
 *
 * Such code is in no file. Runtimes tell its names in one of perf's ways:
 *
 *     /tmp/perf-PID.map                          lines "START SIZE NAME": node --perf-basic-prof, python -X perf
 *     jit-PID.dump, in /tmp or the current folder  jitdump: node --perf-prof, python -X perf_jit
 *
 * Anybody can write such a file, and a later process gets the same id. So it must belong to this process's user, whose
 * process it is, and be younger than the process. As root this leaves out a process that has given up privileges. Of
 * very many functions the last ones stay without names. Code may replace other code: the last name for an address
 * counts. */

#ifndef JIT_NAMES_H
#define JIT_NAMES_H

#include "../command/commands.h"

typedef struct jit_function {
  uint64_t start, size;
  uint32_t function, file; /* texts; file 0: unknown */
  uint32_t line;
} jit_function;

typedef struct jit_names {
  jit_function *functions; /* by start; of several with one start, the last one counts */
  size_t count, capacity;
  bool full;
} jit_names;

/* Adds what files tell about a process that began at `since`. `choose`: as in find_debug_file(). */
void jit_names_read(jit_names *names, int pid, time_t since, choose_file *choose);
void jit_names_sort(jit_names *names);
const jit_function *jit_names_at(const jit_names *names, uint64_t pc); /* NULL: none */
void jit_names_free(jit_names *names);

#endif
