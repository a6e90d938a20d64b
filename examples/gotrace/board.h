/* board.h - shared memory between `gotrace record` and its preloaded library (preload/)
 *
 * A file in memory that the command creates and every traced process maps: settings, and one entry per process. The
 * entry of a killed process stays as it was. A traced program has only two more environment variables: LD_PRELOAD, and
 * GOTRACE_RECORD, the path of the board. */

#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

#define BOARD_VARIABLE "GOTRACE_RECORD"
#define BOARD_VERSION 0x676f747261636501u
#define BOARD_PATH 4096
#define BOARD_PROCESSES 4096

enum { RECORD_GNU, RECORD_MUSL };
enum { RECORD_STACKS_CALL_SITE, RECORD_STACKS_NONE, RECORD_STACKS_FRAME_POINTERS, RECORD_STACKS_UNWIND };

/* The state of a process's trace. */
enum {
  PROCESS_FREE,
  PROCESS_FAILED,   /* the trace could not be started: see result */
  PROCESS_TRACED,   /* running or killed: the file holds everything before its last cut */
  PROCESS_ENDED,    /* the trace is complete */
  PROCESS_REPLACED, /* the trace is complete; the process then executed another program */
  PROCESS_DROPPED   /* likewise, but the trace had hardly an event: the file was removed */
};

struct board_process {
  uint32_t state; /* atomic; written last */
  int32_t pid;
  int32_t result, system_error; /* gotrace_result and errno of the trace */
  uint64_t events;
  uint64_t problems[64]; /* by gotrace_problem */
  char path[BOARD_PATH];
};

struct board {
  uint64_t version;
  /* Settings, written by the command. */
  char library[2][BOARD_PATH]; /* for programs of glibc and of musl; empty: there is none */
  char output[BOARD_PATH];     /* absolute path, %p stands for the process id; empty: DIRECTORY/COMMAND.PID.trace */
  char directory[BOARD_PATH];
  char command[256]; /* the name of the first program; empty: ask the system */
  uint64_t size_limit;
  uint32_t format, stacks, flight_milliseconds, cut_milliseconds;
  uint32_t children, only_waits; /* flags */
  /* Written by the processes. */
  int32_t first_pid;  /* atomic; 0: none yet */
  uint32_t processes; /* atomic; entries taken, may exceed BOARD_PROCESSES */
  struct board_process process[BOARD_PROCESSES];
};

#endif
