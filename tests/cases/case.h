/* case.h - shared by the cases. A case is a program for one defect that was found. It defines case_this. case.c
 * contains the implementation of gotrace.h and main, which runs the case in each format and checks each trace.
 *
 *     build/cases/NAME [-n RUNS] [-f FORMAT] [-o DIRECTORY] [-e EVERY]
 *
 * Makes RUNS runs (default 20) in each format, or only in FORMAT, such as 1.23. Rejected traces, and every EVERY-th of
 * the others (default 10), are left in DIRECTORY, as NAME-FORMAT-RUN.refused and .trace. Prints a line per format; the
 * exit status is 1 if any run failed. */
#ifndef CASE_H
#define CASE_H

#include "gotrace.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct case_definition {
  const char *name;
  gotrace_format since; /* 0, or the first format that the case concerns */
  void (*begin)(void);  /* before the first run of each format; NULL: nothing */
  void (*run)(gotrace_format format, long run);
  void (*end)(void); /* after the last run of each format; NULL: nothing */
} case_definition;

extern const case_definition case_this;

/* Starts a trace into memory, with the given options except format and sink. */
void case_start(gotrace_format format, gotrace_options options);

/* Stops and checks the trace, and stores its statistics in case_stats. A run may write several traces. */
void case_stop(void);
extern gotrace_stats case_stats;

/* Checks a trace in a file. */
void case_judge_file(const char *path);

/* A path for a trace of the current run, in the temporary directory. The file is removed after the run. */
const char *case_path(void);

/* Reports that the run has failed for a reason other than its trace, such as a wrong number. Only a run's first failure
 * is reported. Any thread may call it. */
void case_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Holds up a thread, wherever it is, for some microseconds or until *until becomes true, whichever is earlier. The
 * system's scheduler may do the same at any time, but rarely does. Returns at once. The thread must not have ended. */
void case_hold_up(pthread_t thread, unsigned microseconds, const int *until);

/* For signalling between the threads of a case. */
#define CASE_LOAD(variable) __atomic_load_n(&(variable), __ATOMIC_ACQUIRE)
#define CASE_STORE(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELEASE)
#define CASE_AWAIT(condition)           \
  do {                                  \
    while (!(condition)) case_sleep(5); \
  } while (0)
void case_wait_little(void);
void case_sleep(unsigned microseconds);

void case_thread(pthread_t *thread, void *(*function)(void *), void *argument);
void case_join(pthread_t thread);

#endif
