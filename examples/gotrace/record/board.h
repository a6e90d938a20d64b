/* board.h - what `gotrace record` shares with its preloaded library (preload/)
 *
 * Files in memory, which the command creates. A traced process opens them through /proc/PID/fd of the server, a process
 * of the tool that keeps them open, if needed longer than the command runs (record.c), and the output's folder
 * likewise:
 *
 *     settings   written once, before the program starts, and sealed
 *     list       one entry per trace; mapped only while a trace starts
 *     wakes      with --children: who ends waits of other processes; mapped as the box is
 *     box        what a process captures; mapped until it ends, or executes another program
 *
 * The first program's box is there before it starts. Any other program, and with --children any other process, asks for
 * one when its trace starts. Another process of the tool makes it and writes that trace: see record.c.
 *
 * A process that enters a namespace or another root directory may not reach these files from there. With --children it
 * connects to a socket of the command before, and keeps that open. It, its children and what they execute ask there:
 * see preload/namespaces.c.
 *
 * A traced program has only two more environment variables: LD_PRELOAD, and GOTRACE_RECORD, the path of the settings
 * and the number of that socket.
 *
 * TRUST
 *
 * A traced process may give up privileges, and somebody else may then take it over. Nothing that such a process can
 * write may decide what a more privileged one loads, reads, replaces or removes.
 *
 *   1. The system opens a file of the command only for a process that could as well debug the command. What such a
 *      process can write, the list and the folder, gives it nothing that it does not have.
 *   2. A process that has given up privileges keeps only the mappings of its own box and of the wakes, and only if
 *      it is traced itself. The box's writer does not trust it (outside.h): it decides nothing about other files. The
 *      wakes decide only which processes traces name as those that ended a wait.
 *   3. fork passes no mapping to the child, and no descriptor of a trace.
 *   4. On the socket the command answers only processes of its own user, as the kernel says. They get the settings,
 *      which nobody can write, a box of their own and the wakes, but neither the list nor the folder.
 *   5. Another process may get the process id of a server that was killed. The settings must therefore be sealed and
 *      belong to the process's own user; the other files must be those that the settings name. */

#ifndef BOARD_H
#define BOARD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define BOARD_VARIABLE "GOTRACE_RECORD"
#define BOARD_ASSIGNMENT 80 /* bytes, of the variable with its value */
#define BOARD_DIGITS 7      /* of the socket's number there, which may change */
#define BOARD_VERSION 0x676f747261636507u
#define BOARD_PATH 4096
#define BOARD_TRACES 4096  /* at most; fewer if files must be small (ulimit -f) */
#define NAME_OF_PROGRAM 16 /* bytes, with the final 0 */
#define BOARD_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) /* of the settings */

/* Category of logs with a thread's CPU time since its last such log, in nanoseconds. A second number is the id of
 * another goroutine than the one that logs. A trace with such logs shows threads of the operating system, so it does
 * not tell whether a goroutine that was woken waited for a processor, or slept again. */
#define RECORD_CPU_TIME "gotrace record: CPU time"

/* A text, to which no event refers, in each generation of a trace that shows when the kernel took the processor from a
 * thread. So what runs in the trace had one. */
#define RECORD_SWITCHES "gotrace record: context switches"

/* The reason of waits that the library did not see: see switches.h. */
#define RECORD_OFF_CPU "off cpu"

/* Category of the logs of threads that are about to wait for a lock: the id of the goroutine that has it. The log's
 * stack is where that one took it. */
#define RECORD_HOLDER "gotrace record: lock held by"

/* Category of the logs of threads whose wait a process of the same recording has ended, after that wait: "PROGRAM (pid
 * NUMBER)". With ", goroutine ID" after it, that is the one of the other process's trace. */
#define RECORD_WAKER "gotrace record: woken by process"

/* Category of the log of a thread that gets a signal by which the program crashes: the signal's name. The log's stack
 * is where the thread was. */
#define RECORD_CRASH "gotrace record: crashed by"

enum { RECORD_GNU, RECORD_MUSL };
enum { RECORD_STACKS_UNWIND, RECORD_STACKS_CALL_SITE, RECORD_STACKS_FRAME_POINTERS, RECORD_STACKS_NONE };

/* Which file it is, whatever its name. */
struct file_identity {
  uint64_t device, inode;
};

static inline bool has_identity(const struct stat *status, const struct file_identity *identity) {
  return (uint64_t)status->st_dev == identity->device && (uint64_t)status->st_ino == identity->inode;
}

/* A file that the command keeps open. */
struct kept_file {
  int32_t descriptor; /* of the command; -1: none */
  struct file_identity identity;
};

struct record_settings {
  uint64_t version;
  int32_t command_pid, first_pid; /* of the command, and of the program that it runs */
  int32_t keeper_pid;             /* of the server, or else of the command: who keeps these files open */
  struct kept_file list, folder;
  struct kept_file wakes;      /* none without --children */
  struct kept_file box;        /* of the first program */
  struct kept_file given;      /* the first trace goes to this device, pipe or target of a link */
  char library[2][BOARD_PATH]; /* for programs of glibc and of musl; empty: there is none */
  char output[NAME_MAX + 1];   /* a name in the folder, %p stands for the process id; empty: PROGRAM.PID.trace */
  char program[NAME_MAX + 1];  /* the name of the first program; empty: ask the system */
  uint64_t size_limit;
  uint32_t format, stacks, flight_milliseconds, cut_milliseconds;
  uint32_t children, only_waits; /* flags */
  uint32_t traces;               /* entries in `list` */
};

enum {
  TRACE_STARTS,
  TRACE_FAILED, /* it could not be started: see result */
  TRACE_STARTED /* a file in the folder has this name and identity, unless the process has removed it */
};

enum { BOX_NONE, BOX_WANTED, BOX_ANSWERED };
#define BOX_PATIENCE 50 /* how long to wait for the answer, in tenths of a second */

/* A question on the socket, with the socket to which the answer goes. */
struct board_question {
  int32_t pid; /* the process's, in its own namespace; 0: it only wants to know whether it would be answered */
  char program[NAME_MAX + 1];
};

/* With it come the files, if there is no error. */
struct board_answer {
  int32_t error;  /* errno */
  uint32_t index; /* of the trace */
};
enum { BOARD_SETTINGS, BOARD_BOX, BOARD_WAKES, BOARD_FILES };

/* The process says then whether its trace has started. */
struct board_start {
  int32_t result, system_error; /* as in the list */
};

struct trace_list {
  uint32_t count; /* atomic; may exceed the number of entries */
  uint32_t calls; /* atomic, a futex: increases when a box is wanted, and when a trace from a box has ended */
  struct trace_entry {
    uint32_t state; /* atomic; written last */
    int32_t pid;
    int32_t result, system_error; /* gotrace_result and errno of the start */
    int32_t process;              /* the same as `pid`, in the command's namespace; 0: of the first program */
    int32_t writer;               /* the process of the tool that writes this trace; 0: none */
    uint32_t box_state;           /* atomic, a futex; BOX_NONE... */
    int32_t box_error;            /* errno: there is no box; 0: */
    struct kept_file box;         /* of the writer */
    struct file_identity identity;
    char name[NAME_MAX + 1]; /* empty: the given file */
  } entry[];
};

/* Who ends waits of other processes: see preload/wakes.c. Any process may have written anything. */
#define WAKE_BUCKETS 1024
#define WAKE_NOTES 15
struct wakes {
  uint32_t count;   /* atomic: of processes */
  int32_t forks;    /* atomic: children by fork that begin a trace soon */
  uint32_t sharing; /* atomic: threads that wait for something in memory that processes share */
  struct wake_process {
    int32_t pid, parent;
    char program[NAME_OF_PROGRAM];
    uint64_t standard[3];  /* atomic: the keys of its standard input, output and error output; 0: none */
    uint64_t began, ended; /* atomic: when; 0: not yet, or not known */
  } process[BOARD_TRACES]; /* as in the list */
  struct wake_bucket {
    uint32_t waiting; /* atomic: threads that wait for a key of this bucket */
    struct wake_note {
      uint64_t waker;  /* atomic, written last; 0: free */
      uint64_t key;    /* what was done: atomic, */
      uint64_t time;   /* and when: atomic, nanoseconds of CLOCK_MONOTONIC */
      uint64_t signal; /* atomic: which signal was sent; 0: it is something else */
    } note[WAKE_NOTES];
  } bucket[WAKE_BUCKETS] __attribute__((aligned(64)));
};

/* Why a trace ends, if not by an error. The process says 0 again if exec fails. It also says that another recorder
 * records what it executes; that it has entered a sandbox; and with --children the errno of its children that cannot
 * open the command's files, or UNREACHED_PROGRAM: they have no box in which they could. */
#define UNREACHED_PROGRAM ENOEXEC /* the system loads no library into what they execute */
enum { SAID_WHY = 0x3f, SAID_LEFT = 0x40, SAID_SANDBOXED = 0x80, SAID_UNREACHED_SHIFT = 8 };
enum {
  TRACE_EXECUTES = 1, /* another program, which has the next trace of the process, if it can be traced */
  TRACE_KILLED,       /* a signal for which the program has no handler */
  TRACE_EXITS,        /* the process ends by itself */
  TRACE_CUT_OFF,      /* the process has ended, and did not say that it would */
  TRACE_STOPPED       /* see `stopped` */
};

/* How each trace ended, in the order of the list; shared by the command and the writers. */
#define BOX_STOPPED ECANCELED /* why there is no box then */
struct trace_ends {
  pid_t first;      /* atomic; the process of the command's program */
  uint32_t stopped; /* atomic; somebody has ended the recording, of all processes */
  uint32_t started; /* atomic; with --paused: somebody has started the recording, of all processes */
  struct trace_end {
    uint32_t has_ended;           /* atomic; written last */
    uint32_t why;                 /* atomic; TRACE_EXECUTES... */
    uint32_t left;                /* another recorder records what the process has executed */
    uint32_t sandboxed;           /* the process has entered a sandbox */
    uint32_t unused;              /* the box: the process has begun no trace */
    uint32_t unwritten;           /* the trace's file was gone */
    uint32_t paused;              /* nobody has started the recording */
    uint32_t unsampled;           /* the program uses the signal of the timers for CPU samples itself */
    uint32_t unreached;           /* errno of its children that cannot be traced; 0: */
    int32_t result, system_error; /* gotrace_result and errno of the trace */
    uint64_t events, waits;       /* of threads, for room */
    uint64_t problems[64];        /* by gotrace_problem */
  } entry[1];                     /* and more */
};

/* CPU samples that timers in the process take: see preload/ticks.c. They follow the box in its file. Any process may
 * have written anything. */
#define TICK_STACK 8192                            /* bytes, as of the kernel's samples: see perf.c */
#define MOST_TICKS 128                             /* between two rounds of the recorder; more are lost */
#define TICK_VALUE ((void *)(uintptr_t)0x676f7472) /* of a timer's signal */
enum { TICK_FREE, TICK_IS_WRITTEN, TICK_IS_READY };
struct tick {
  uint64_t nanoseconds; /* of CLOCK_MONOTONIC */
  uint64_t pc, sp, fp, lr;
  uint32_t thread, stack_size;
  uint8_t stack[TICK_STACK]; /* from sp on */
};
struct ticks {
  /* Of the recorder: */
  uint32_t period; /* nanoseconds of a thread's CPU time; 0: no timers are wanted. Set before the process begins */
  uint32_t over;   /* atomic: no more are read */
  /* Of the process: */
  uint32_t given_up;          /* atomic: the program uses the signal itself */
  uint32_t lost;              /* atomic: samples for which there was no place */
  uint32_t next;              /* atomic: the place to try */
  uint32_t state[MOST_TICKS]; /* atomic: TICK_... of each place */
  struct tick place[];
};
/* Less in a small box. */
static inline size_t ticks_size(size_t box) {
  size_t most = sizeof(struct ticks) + MOST_TICKS * sizeof(struct tick), size = box / 64 < most ? box / 64 : most;
  return size & ~(size_t)4095;
}
static inline uint32_t count_ticks(size_t size) {
  size_t count = size < sizeof(struct ticks) ? 0 : (size - sizeof(struct ticks)) / sizeof(struct tick);
  return (uint32_t)(count < MOST_TICKS ? count : MOST_TICKS);
}

static inline size_t list_size(uint32_t traces) {
  return sizeof(struct trace_list) + traces * sizeof(struct trace_entry);
}
static inline size_t ends_size(uint32_t traces) {
  return sizeof(struct trace_ends) + traces * sizeof(struct trace_end);
}

#endif
