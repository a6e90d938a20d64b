/* gotrace.h - Go execution traces from C and C++                                             version 0.1
 *
 * Writes the files that `go tool trace` opens, from any program: which task ran where and when, what it waited
 * for and who woke it, with stacks, user tasks and regions. Made for programs that schedule tasks of their own
 * (coroutines, fibers, job systems, language runtimes); plain threads work without further ado.
 *
 * USE
 *
 *     #define GOTRACE_IMPLEMENTATION        // in one source file
 *     #include "gotrace.h"
 *
 *     int main(void) {
 *         gotrace_start_file("hello.trace", NULL);
 *         GOTRACE_REGION("greet") {
 *             gotrace_log(GOTRACE_NO_TASK, "greeting", "hello, world");
 *         }
 *         gotrace_stop();                   // returns when the last byte is in the file
 *     }
 *
 *     $ cc hello.c -pthread && ./a.out && go tool trace hello.trace
 *
 * Other files include the header without the #define. A program that wants only the numbers of the trace formats
 * includes it too and never defines GOTRACE_IMPLEMENTATION: the constants need no code.
 *
 * CONTENTS (search for ">>" and the word)
 *
 *     >>options          macros that configure the header
 *     >>version          version and trace formats
 *     >>events           event numbers, names and arguments of every tracer; other constants of the format
 *     >>results          result codes; problems that the tracer repairs or drops
 *     >>types            handles, locations, options, statistics
 *     >>session          start, stop, read
 *     >>threads          threads, procs, goroutines
 *     >>emit             garbage collection, heap, tasks, regions, logs, CPU samples
 *     >>implementation   everything below is private
 *     >>platform         atomics, thread-locals, locks, barrier, clock, ticks
 *     >>varint           base-128 numbers
 *     >>region           region allocator
 *     >>strings          string table
 *     >>stacks           stack table
 *     >>buffers          buffers and queues
 *     >>state            goroutine, proc and thread records; the session
 *     >>write            from a call to bytes in a buffer
 *     >>calls            the tracer's calls
 *     >>capture          stack walks, symbols, CPU samples
 *     >>reader           the reader state machine
 *     >>sinks            file, callback, service thread
 *
 * WHAT IT DOES NOT DO
 *
 *   - It does not find your tasks by itself: a scheduler says what it does, at most one call a transition.
 *   - It writes the formats of Go 1.8 to 1.21. It does not yet write those of Go 1.22 and later, and does not yet
 *     read traces. Every later `go tool trace` opens the formats from 1.11 on; Go 1.22 and earlier also 1.8 and 1.10.
 *   - It does not unwind with DWARF tables. A stack is the place of the call, or frame pointers, or what your own
 *     unwinder gives.
 *   - Except for gotrace_cpu_sample, its calls may not be made from signal handlers.
 *
 * WORDS
 *
 *   G, goroutine: a unit of work that is scheduled, gotrace_go; in a plain threaded program, the thread itself.
 *   P, proc: the right to run goroutines, gotrace_proc; a worker slot of a scheduler.
 *   M: an operating-system thread. An M runs a P, a P runs a G.
 *
 * RULES FOR SCHEDULERS
 *
 *   1. Say that a goroutine blocks before it can be seen by whoever may wake it, and say that it is unblocked before
 *      it can be run again. Your own lock or queue then orders the calls.
 *      Otherwise an unblock may come before its block: it is dropped, and the next start repairs what is missing.
 *   2. Say gotrace_go_start on the thread that will run the goroutine, after that thread owns it.
 *      Otherwise two threads may start one goroutine: the second start is dropped, with what follows on its thread.
 *   3. A goroutine runs on a thread that has a proc: gotrace_proc_start comes first.
 *      Otherwise the thread is given a proc of its own, and the trace shows more procs than you have.
 *
 *   What goes wrong if a rule is broken is bounded: whatever is called, in whatever order, from whatever thread, the
 *   trace opens. A call that cannot be true at that moment is repaired if it has one sensible meaning, else dropped;
 *   both are counted by kind (gotrace_stats.problems).
 *
 *   A switch inside a scheduler's worker looks like this:
 *
 *     gotrace_proc_start(worker->proc);                  // the worker thread begins
 *     while ((task = next(worker))) {
 *         gotrace_go_start(task->go);
 *         resume(task);                                  // the task says block, stop or end before it comes back
 *     }
 *     gotrace_proc_stop();
 *
 * PLAIN THREADS
 *
 *   A thread that says none of this is a goroutine of its own, on a proc of its own, named after the thread, from its
 *   first region, log, task, wait or system call on until the thread ends:
 *
 *     gotrace_wait_begin(GOTRACE_BLOCK_SYNC);            // about to wait for a lock
 *     pthread_mutex_lock(&lock);
 *     gotrace_wait_end();
 *
 *   The waker may say gotrace_go_unblock(waiter) before it wakes the waiter (who passed on gotrace_go_self()); then the
 *   trace shows who woke whom.
 *
 * THREAD SAFETY
 *
 *     call                                        may run beside
 *     every call of >>threads and >>emit          every other call, on any thread
 *     gotrace_start*, _stop, _end, _advance       every other call (they wait for each other)
 *     gotrace_read, gotrace_try_read              every other call; a second reader gets GOTRACE_ERROR_READER_BUSY
 *     gotrace_get_stats                           every other call; exact after gotrace_stop
 *     gotrace_cpu_sample                          every other call, also from a signal handler
 *
 * OWNERSHIP
 *
 *   gotrace_go and gotrace_proc records belong to the tracer and are never freed while the program runs, only used
 *   again, so a stale handle does no harm beyond a wrong event. Names that are passed to calls are copied, except the
 *   strings of a gotrace_location, which must stay valid until gotrace_stop returns (string literals do).
 *
 * CLOCK
 *
 *   Time is the processor's tick counter where it has one that all cores share (x86, arm64, ppc64, riscv64, s390x),
 *   else the monotonic clock, divided by GOTRACE_TICK_DIV. Time stamps in a trace never contradict cause and effect,
 *   even where the counters of two cores differ: each proc and each goroutine remembers its last.
 *
 * FORK
 *
 *   In the child of a fork, tracing is off; it can be started anew. The parent goes on.
 *
 * LICENCE
 *
 *   See the end of the file.
 */

#ifndef GOTRACE_H
#define GOTRACE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------ >>options ----
 *
 * Each is a macro to define before the #include. "Everywhere": the same in every file that includes the header.
 * "Implementation": matters only beside GOTRACE_IMPLEMENTATION.
 */

/* Everywhere. 1: the whole API compiles to nothing. */
#ifndef GOTRACE_DISABLE
#define GOTRACE_DISABLE 0
#endif

/* Everywhere. 1: functions are static, for a program with one source file or with a tracer a library. */
#ifndef GOTRACE_STATIC
#define GOTRACE_STATIC 0
#endif

/* Any file. 0: calls carry no call site (needs GNU statement expressions; other compilers behave as with 0). Costs
 * 56 bytes of data a call and no time. */
#ifndef GOTRACE_CALL_SITES
#define GOTRACE_CALL_SITES 1
#endif

/* Implementation. 1: no threads at all (bare targets): no locks, no service thread, sinks are served by the calls. */
#ifndef GOTRACE_NO_THREADS
#define GOTRACE_NO_THREADS 0
#endif

/* Implementation. 1: an event marks its thread as writing by a sequentially consistent store instead of a plain one,
 * and start and stop need no process-wide barrier. Chosen by itself where there is no such barrier and under
 * ThreadSanitizer. Costs some 20 cycles an event. */
/* #define GOTRACE_SEQ_CST_FLAG 0 */

/* Implementation. Ticks of the clock in one unit of trace time, 1 to 1024: a finer unit costs up to a byte an event.
 * By default 64 on x86 and 16 on ppc64, as in Go's tracer (traceTickDiv in runtime/trace.go); see >>platform. */
/* #define GOTRACE_TICK_DIV 64 */

/* Implementation. 1: use the monotonic clock (nanoseconds) instead of the tick counter. */
#ifndef GOTRACE_MONOTONIC_CLOCK
#define GOTRACE_MONOTONIC_CLOCK 0
#endif

/* Implementation. 1: report each misuse once per call site, to gotrace_options.report. */
#ifndef GOTRACE_DEBUG
#define GOTRACE_DEBUG 0
#endif

/* Implementation. Memory: all three or none. The tracer's memory is zeroed by itself. */
#if defined(GOTRACE_MALLOC) != defined(GOTRACE_FREE)
#error "gotrace: define both GOTRACE_MALLOC(size) and GOTRACE_FREE(pointer, size), or neither"
#endif

#if GOTRACE_STATIC
#ifdef __GNUC__
#define GOTRACE_API __attribute__((unused)) static
#else
#define GOTRACE_API static
#endif
#else
#define GOTRACE_API extern
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ >>version ---- */

#define GOTRACE_VERSION_MAJOR 0
#define GOTRACE_VERSION_MINOR 1
#define GOTRACE_VERSION "0.1.0"

/* Trace formats: the Go release that introduced each, as 1000 times the major plus the minor number. */
typedef enum gotrace_format {
  GOTRACE_FORMAT_DEFAULT = 0, /* GOTRACE_GO_1_21 */
  GOTRACE_GO_1_8 = 1008,      /* opened by Go 1.8 to 1.22; no tasks, regions, logs */
  GOTRACE_GO_1_10 = 1010,     /* Go 1.10 to 1.22; stop-the-world kinds, swept bytes, mark assist */
  GOTRACE_GO_1_11 = 1011,     /* Go 1.11 and later; tasks, regions, logs */
  GOTRACE_GO_1_19 = 1019,     /* Go 1.19 and later; CPU samples */
  GOTRACE_GO_1_21 = 1021,     /* Go 1.21 and later; stop-the-world reasons */
  GOTRACE_GO_1_22 = 1022,     /* not yet written */
  GOTRACE_GO_1_23 = 1023,     /* not yet written */
  GOTRACE_GO_1_25 = 1025,     /* not yet written */
  GOTRACE_GO_1_26 = 1026      /* not yet written */
} gotrace_format;

/* ------------------------------------------------------------------------------------------------- >>events ----
 *
 * One row an event: number, NAME, "Name" as Go prints it, first and last format that has it, arguments in the order
 * in which they stand in the file. An argument is a word; what follows its last underscore, or the word itself, tells
 * its kind: "stack" a stack id, "string" a string id, "g", "p", "m", "task" an id, "seq" a sequence number, "dt" the
 * time since the batch's last event, "data" bytes with a length before them.
 *
 * A number can have several rows, where versions differ. X(number, NAME, "Name", since, until, "arguments").
 */

/* v1: one batch a proc, Go 1.5 to 1.21. src/runtime/trace.go, src/internal/trace/parser.go. The rows begin at the
 * oldest format that is written, 1.8; 1.5 and 1.7 differ (the decoder will know them). */
#define GOTRACE_V1_EVENTS(X)                                                                  \
  X(0, NONE, "None", 1008, 1021, "")                                                          \
  X(1, BATCH, "Batch", 1008, 1021, "p time")                                                  \
  X(2, FREQUENCY, "Frequency", 1008, 1021, "freq")                                            \
  X(3, STACK, "Stack", 1008, 1021, "id nframes")                                              \
  X(4, GOMAXPROCS, "Gomaxprocs", 1008, 1021, "dt procs stack")                                \
  X(5, PROC_START, "ProcStart", 1008, 1021, "dt m")                                           \
  X(6, PROC_STOP, "ProcStop", 1008, 1021, "dt")                                               \
  X(7, GC_START, "GCStart", 1008, 1021, "dt gc_seq stack")                                    \
  X(8, GC_DONE, "GCDone", 1008, 1021, "dt")                                                   \
  X(9, GC_SCAN_START, "GCScanStart", 1008, 1009, "dt")                                        \
  X(9, GC_STW_START, "GCSTWStart", 1010, 1019, "dt kind")                                     \
  X(9, STW_START, "STWStart", 1021, 1021, "dt kind")                                          \
  X(10, GC_SCAN_DONE, "GCScanDone", 1008, 1009, "dt")                                         \
  X(10, GC_STW_DONE, "GCSTWDone", 1010, 1019, "dt")                                           \
  X(10, STW_DONE, "STWDone", 1021, 1021, "dt")                                                \
  X(11, GC_SWEEP_START, "GCSweepStart", 1008, 1021, "dt stack")                               \
  X(12, GC_SWEEP_DONE_1_8, "GCSweepDone", 1008, 1008, "dt")                                   \
  X(12, GC_SWEEP_DONE, "GCSweepDone", 1009, 1021, "dt swept reclaimed")                       \
  X(13, GO_CREATE, "GoCreate", 1008, 1021, "dt new_g new_stack stack")                        \
  X(14, GO_START, "GoStart", 1008, 1021, "dt g g_seq")                                        \
  X(15, GO_END, "GoEnd", 1008, 1021, "dt")                                                    \
  X(16, GO_STOP, "GoStop", 1008, 1021, "dt stack")                                            \
  X(17, GO_SCHED, "GoSched", 1008, 1021, "dt stack")                                          \
  X(18, GO_PREEMPT, "GoPreempt", 1008, 1021, "dt stack")                                      \
  X(19, GO_SLEEP, "GoSleep", 1008, 1021, "dt stack")                                          \
  X(20, GO_BLOCK, "GoBlock", 1008, 1021, "dt stack")                                          \
  X(21, GO_UNBLOCK, "GoUnblock", 1008, 1021, "dt g g_seq stack")                              \
  X(22, GO_BLOCK_SEND, "GoBlockSend", 1008, 1021, "dt stack")                                 \
  X(23, GO_BLOCK_RECV, "GoBlockRecv", 1008, 1021, "dt stack")                                 \
  X(24, GO_BLOCK_SELECT, "GoBlockSelect", 1008, 1021, "dt stack")                             \
  X(25, GO_BLOCK_SYNC, "GoBlockSync", 1008, 1021, "dt stack")                                 \
  X(26, GO_BLOCK_COND, "GoBlockCond", 1008, 1021, "dt stack")                                 \
  X(27, GO_BLOCK_NET, "GoBlockNet", 1008, 1021, "dt stack")                                   \
  X(28, GO_SYS_CALL, "GoSysCall", 1008, 1021, "dt stack")                                     \
  X(29, GO_SYS_EXIT, "GoSysExit", 1008, 1021, "dt g g_seq time")                              \
  X(30, GO_SYS_BLOCK, "GoSysBlock", 1008, 1021, "dt")                                         \
  X(31, GO_WAITING, "GoWaiting", 1008, 1021, "dt g")                                          \
  X(32, GO_IN_SYSCALL, "GoInSyscall", 1008, 1021, "dt g")                                     \
  X(33, HEAP_ALLOC, "HeapAlloc", 1008, 1021, "dt bytes")                                      \
  X(34, NEXT_GC, "NextGC", 1008, 1018, "dt bytes")                                            \
  X(34, HEAP_GOAL, "HeapGoal", 1019, 1021, "dt bytes")                                        \
  X(35, TIMER_GOROUTINE, "TimerGoroutine", 1008, 1021, "g")                                   \
  X(36, FUTILE_WAKEUP, "FutileWakeup", 1008, 1021, "dt")                                      \
  X(37, STRING, "String", 1008, 1021, "id data")                                              \
  X(38, GO_START_LOCAL, "GoStartLocal", 1008, 1021, "dt g")                                   \
  X(39, GO_UNBLOCK_LOCAL, "GoUnblockLocal", 1008, 1021, "dt g stack")                         \
  X(40, GO_SYS_EXIT_LOCAL, "GoSysExitLocal", 1008, 1021, "dt g time")                         \
  X(41, GO_START_LABEL, "GoStartLabel", 1008, 1021, "dt g g_seq label_string")                \
  X(42, GO_BLOCK_GC, "GoBlockGC", 1008, 1021, "dt stack")                                     \
  X(43, GC_MARK_ASSIST_START, "GCMarkAssistStart", 1009, 1021, "dt stack")                    \
  X(44, GC_MARK_ASSIST_DONE, "GCMarkAssistDone", 1009, 1021, "dt")                            \
  X(45, USER_TASK_CREATE, "UserTaskCreate", 1011, 1021, "dt task parent_task name_string stack") \
  X(46, USER_TASK_END, "UserTaskEnd", 1011, 1021, "dt task stack")                            \
  X(47, USER_REGION, "UserRegion", 1011, 1021, "dt task mode name_string stack")              \
  X(48, USER_LOG, "UserLog", 1011, 1021, "dt task key_string stack value_data")               \
  X(49, CPU_SAMPLE, "CPUSample", 1019, 1021, "dt time p g stack")

/* v2: one batch a thread, in generations, Go 1.22 and later. src/internal/trace/tracev2/events.go. Numbers from 128 on
 * belong to the experiment AllocFree. */
#define GOTRACE_V2_EVENTS(X)                                                                  \
  X(0, NONE, "None", 1022, 9999, "")                                                          \
  X(1, EVENT_BATCH, "EventBatch", 1022, 9999, "gen m time size")                              \
  X(2, STACKS, "Stacks", 1022, 9999, "")                                                      \
  X(3, STACK, "Stack", 1022, 9999, "id nframes")                                              \
  X(4, STRINGS, "Strings", 1022, 9999, "")                                                    \
  X(5, STRING, "String", 1022, 9999, "id data")                                               \
  X(6, CPU_SAMPLES, "CPUSamples", 1022, 9999, "")                                             \
  X(7, CPU_SAMPLE, "CPUSample", 1022, 9999, "time m p g stack")                               \
  X(8, FREQUENCY, "Frequency", 1022, 9999, "freq")                                            \
  X(9, PROCS_CHANGE, "ProcsChange", 1022, 9999, "dt procs stack")                             \
  X(10, PROC_START, "ProcStart", 1022, 9999, "dt p p_seq")                                    \
  X(11, PROC_STOP, "ProcStop", 1022, 9999, "dt")                                              \
  X(12, PROC_STEAL, "ProcSteal", 1022, 9999, "dt p p_seq m")                                  \
  X(13, PROC_STATUS, "ProcStatus", 1022, 9999, "dt p pstatus")                                \
  X(14, GO_CREATE, "GoCreate", 1022, 9999, "dt new_g new_stack stack")                        \
  X(15, GO_CREATE_SYSCALL, "GoCreateSyscall", 1022, 9999, "dt new_g")                         \
  X(16, GO_START, "GoStart", 1022, 9999, "dt g g_seq")                                        \
  X(17, GO_DESTROY, "GoDestroy", 1022, 9999, "dt")                                            \
  X(18, GO_DESTROY_SYSCALL, "GoDestroySyscall", 1022, 9999, "dt")                             \
  X(19, GO_STOP, "GoStop", 1022, 9999, "dt reason_string stack")                              \
  X(20, GO_BLOCK, "GoBlock", 1022, 9999, "dt reason_string stack")                            \
  X(21, GO_UNBLOCK, "GoUnblock", 1022, 9999, "dt g g_seq stack")                              \
  X(22, GO_SYSCALL_BEGIN, "GoSyscallBegin", 1022, 9999, "dt p_seq stack")                     \
  X(23, GO_SYSCALL_END, "GoSyscallEnd", 1022, 9999, "dt")                                     \
  X(24, GO_SYSCALL_END_BLOCKED, "GoSyscallEndBlocked", 1022, 9999, "dt")                      \
  X(25, GO_STATUS, "GoStatus", 1022, 9999, "dt g m gstatus")                                  \
  X(26, STW_BEGIN, "STWBegin", 1022, 9999, "dt kind_string stack")                            \
  X(27, STW_END, "STWEnd", 1022, 9999, "dt")                                                  \
  X(28, GC_ACTIVE, "GCActive", 1022, 9999, "dt gc_seq")                                       \
  X(29, GC_BEGIN, "GCBegin", 1022, 9999, "dt gc_seq stack")                                   \
  X(30, GC_END, "GCEnd", 1022, 9999, "dt gc_seq")                                             \
  X(31, GC_SWEEP_ACTIVE, "GCSweepActive", 1022, 9999, "dt p")                                 \
  X(32, GC_SWEEP_BEGIN, "GCSweepBegin", 1022, 9999, "dt stack")                               \
  X(33, GC_SWEEP_END, "GCSweepEnd", 1022, 9999, "dt swept reclaimed")                         \
  X(34, GC_MARK_ASSIST_ACTIVE, "GCMarkAssistActive", 1022, 9999, "dt g")                      \
  X(35, GC_MARK_ASSIST_BEGIN, "GCMarkAssistBegin", 1022, 9999, "dt stack")                    \
  X(36, GC_MARK_ASSIST_END, "GCMarkAssistEnd", 1022, 9999, "dt")                              \
  X(37, HEAP_ALLOC, "HeapAlloc", 1022, 9999, "dt bytes")                                      \
  X(38, HEAP_GOAL, "HeapGoal", 1022, 9999, "dt bytes")                                        \
  X(39, GO_LABEL, "GoLabel", 1022, 9999, "dt label_string")                                   \
  X(40, USER_TASK_BEGIN, "UserTaskBegin", 1022, 9999, "dt task parent_task name_string stack") \
  X(41, USER_TASK_END, "UserTaskEnd", 1022, 9999, "dt task stack")                            \
  X(42, USER_REGION_BEGIN, "UserRegionBegin", 1022, 9999, "dt task name_string stack")        \
  X(43, USER_REGION_END, "UserRegionEnd", 1022, 9999, "dt task name_string stack")            \
  X(44, USER_LOG, "UserLog", 1022, 9999, "dt task key_string value_string stack")             \
  X(45, GO_SWITCH, "GoSwitch", 1023, 9999, "dt g g_seq")                                      \
  X(46, GO_SWITCH_DESTROY, "GoSwitchDestroy", 1023, 9999, "dt g g_seq")                       \
  X(47, GO_CREATE_BLOCKED, "GoCreateBlocked", 1023, 9999, "dt new_g new_stack stack")         \
  X(48, GO_STATUS_STACK, "GoStatusStack", 1023, 9999, "dt g m gstatus stack")                 \
  X(49, EXPERIMENTAL_BATCH, "ExperimentalBatch", 1023, 9999, "exp gen m time data")           \
  X(50, SYNC, "Sync", 1025, 9999, "")                                                         \
  X(51, CLOCK_SNAPSHOT, "ClockSnapshot", 1025, 9999, "dt mono sec nsec")                      \
  X(52, END_OF_GENERATION, "EndOfGeneration", 1026, 9999, "")                                 \
  X(128, SPAN, "Span", 1023, 9999, "dt id npages kindclass")                                  \
  X(129, SPAN_ALLOC, "SpanAlloc", 1023, 9999, "dt id npages kindclass")                       \
  X(130, SPAN_FREE, "SpanFree", 1023, 9999, "dt id")                                          \
  X(131, HEAP_OBJECT, "HeapObject", 1023, 9999, "dt id type")                                 \
  X(132, HEAP_OBJECT_ALLOC, "HeapObjectAlloc", 1023, 9999, "dt id type")                      \
  X(133, HEAP_OBJECT_FREE, "HeapObjectFree", 1023, 9999, "dt id")                             \
  X(134, GOROUTINE_STACK, "GoroutineStack", 1023, 9999, "dt id order")                        \
  X(135, GOROUTINE_STACK_ALLOC, "GoroutineStackAlloc", 1023, 9999, "dt id order")             \
  X(136, GOROUTINE_STACK_FREE, "GoroutineStackFree", 1023, 9999, "dt id")

#define GOTRACE__V1_CONSTANT(number, NAME, name, since, until, arguments) GOTRACE_V1_##NAME = number,
#define GOTRACE__V2_CONSTANT(number, NAME, name, since, until, arguments) GOTRACE_V2_##NAME = number,
enum { GOTRACE_V1_EVENTS(GOTRACE__V1_CONSTANT) GOTRACE_V1_COUNT = 50 };
enum { GOTRACE_V2_EVENTS(GOTRACE__V2_CONSTANT) GOTRACE_V2_COUNT = 53 };
#undef GOTRACE__V1_CONSTANT
#undef GOTRACE__V2_CONSTANT

/* Other constants of the tracers, v1 by the names of Go's runtime/trace.go, v2 by those of tracev2/spec.go. */
#define GOTRACE_STACK_SIZE 128        /* traceStackSize, MaxFramesPerStack: frames a stack has at most */
#define GOTRACE_GLOBAL_PROC (-1)      /* traceGlobProc: id of the proc of events without a proc */
#define GOTRACE_BYTES_PER_NUMBER 10   /* traceBytesPerNumber: most bytes of a base-128 number of 64 bits */
#define GOTRACE_ARG_COUNT_SHIFT 6     /* traceArgCountShift: where a v1 event's first byte has its argument count */
#define GOTRACE_FUTILE_WAKEUP 128     /* traceFutileWakeup: add it to a block reason, see gotrace_go_block */
#define GOTRACE_MAX_BATCH_SIZE 65536  /* MaxBatchSize */
#define GOTRACE_MAX_STRING_SIZE 1024  /* MaxEventTrailerDataSize: bytes a string has at most */
#define GOTRACE_TICK_DIV_X86 64       /* traceTickDiv on 386 and amd64 */
#define GOTRACE_TICK_DIV_PPC64 16     /* traceTickDiv elsewhere, of which ppc64 has a fast counter */

/* One row of a table above. */
typedef struct gotrace_event_spec {
  int number;
  int since, until;      /* gotrace_format */
  const char *name;      /* "GoCreate" */
  const char *arguments; /* "dt new_g new_stack stack" */
} gotrace_event_spec;

/* The rows of v1 (family 1) or v2 (family 2), in order of number, and how many; NULL and 0 for any other family.
 * Static data, valid for ever. */
GOTRACE_API const gotrace_event_spec *gotrace_event_specs(int family, size_t *count);

/* The row of an event number in a format, or NULL if the format has no such event. Any thread. */
GOTRACE_API const gotrace_event_spec *gotrace_find_event_spec(gotrace_format format, int number);

/* ------------------------------------------------------------------------------------------------ >>results ---- */

#define GOTRACE_RESULTS(X)                                                                                  \
  X(OK, 0, "success")                                                                                       \
  X(WOULD_BLOCK, 1, "no data yet")                                                                          \
  X(LIMIT_REACHED, 2, "the trace ended early: a limit of memory or size was reached")                       \
  X(ERROR_ALREADY_RUNNING, -1, "tracing is already on")                                                     \
  X(ERROR_NOT_RUNNING, -2, "tracing is off")                                                                \
  X(ERROR_READER_BUSY, -3, "another reader is at work")                                                     \
  X(ERROR_OUT_OF_MEMORY, -4, "out of memory")                                                               \
  X(ERROR_SINK, -5, "the file or the write function failed")                                                \
  X(ERROR_ARGUMENT, -6, "invalid argument")                                                                 \
  X(ERROR_FORMAT, -7, "trace format not supported")                                                         \
  X(ERROR_THREAD, -8, "the service thread could not be started")                                            \
  X(ERROR_DISABLED, -9, "tracing was compiled out")

typedef enum gotrace_result {
#define GOTRACE__RESULT(NAME, code, text) GOTRACE_##NAME = code,
  GOTRACE_RESULTS(GOTRACE__RESULT)
#undef GOTRACE__RESULT
} gotrace_result;

/* A text for each result, "unknown result" for any other number. Static, never NULL. */
GOTRACE_API const char *gotrace_result_string(gotrace_result result);

/* What the tracer does with a call that cannot be true: X(NAME, repaired, "text"). */
#define GOTRACE_PROBLEMS(X)                                                                                 \
  X(NOT_RUNNING, 0, "block, stop, end or label where no goroutine runs")                                    \
  X(START_WAITING, 1, "start of a goroutine that was not unblocked: unblocked it")                          \
  X(START_RUNNING, 0, "start of a goroutine that runs or is in a system call")                              \
  X(START_DEAD, 0, "start of a goroutine that has ended")                                                   \
  X(START_OVER, 1, "start while another goroutine runs on the thread: that one yielded")                    \
  X(NO_PROC, 1, "goroutine on a thread without a proc: gave the thread one")                                \
  X(UNBLOCK_NOT_WAITING, 0, "unblock of a goroutine that does not wait")                                    \
  X(SWITCH_NOT_WAITING, 0, "switch to a goroutine that cannot run")                                         \
  X(PROC_START_RUNNING, 0, "start of a proc that runs on another thread")                                   \
  X(PROC_START_OVER, 1, "proc start on a thread that has a proc: that one stopped")                         \
  X(PROC_STOP_NONE, 0, "proc stop on a thread without a proc")                                              \
  X(PROC_STOP_GO, 1, "proc stop while a goroutine runs: it was preempted")                                  \
  X(PROC_STEAL, 0, "steal of a proc that is not in a system call")                                          \
  X(PROC_DESTROY, 0, "destroy of a proc that runs")                                                         \
  X(SYSCALL_OPEN, 1, "event in a system call: the call was ended")                                          \
  X(SYSCALL_NONE, 0, "end of a system call that did not begin")                                             \
  X(SYSCALL_LOST_PROC, 1, "the proc was stolen during the system call: gave the thread another")            \
  X(WAIT_NONE, 0, "end of a wait that did not begin")                                                       \
  X(REGION_NONE, 0, "end of a region that did not begin")                                                   \
  X(REGION_ORDER, 1, "end of a region that is not the innermost: ended those inside it")                    \
  X(REGION_DEPTH, 0, "region nested too deeply")                                                            \
  X(NO_GOROUTINE, 0, "annotation where a proc runs no goroutine")                                           \
  X(GC_STATE, 0, "begin of a collection that is on, or end of one that is not")                             \
  X(STW_STATE, 0, "begin of a stopped world that is stopped, or end of one that is not")                    \
  X(SWEEP_STATE, 0, "begin of a sweep that is on, or span or end of one that is not")                       \
  X(MARK_ASSIST_STATE, 0, "begin of a mark assist that is on, or end of one that is not")                   \
  X(FORMAT_LACKS, 0, "the trace format has no such event")                                                  \
  X(STRING_CUT, 1, "string longer than 1,024 bytes: cut")                                                   \
  X(STACK_CUT, 1, "stack too deep for the format: cut")                                                     \
  X(TABLE_FULL, 1, "no memory for a string or stack: left empty")                                           \
  X(SAMPLE_LOST, 0, "CPU sample that found no room")                                                        \
  X(NO_MEMORY, 0, "no memory for the record of a thread, proc or goroutine")                                \
  X(BAD_HANDLE, 0, "NULL handle or argument out of range")

typedef enum gotrace_problem {
#define GOTRACE__PROBLEM(NAME, repaired, text) GOTRACE_PROBLEM_##NAME,
  GOTRACE_PROBLEMS(GOTRACE__PROBLEM)
#undef GOTRACE__PROBLEM
  GOTRACE_PROBLEM_COUNT
} gotrace_problem;

/* The text of a problem; whether it is repaired (else the call is dropped). Static; "unknown problem" and false for
 * any other number. */
GOTRACE_API const char *gotrace_problem_string(gotrace_problem problem);
GOTRACE_API bool gotrace_problem_repaired(gotrace_problem problem);

/* -------------------------------------------------------------------------------------------------- >>types ---- */

typedef struct gotrace_go gotrace_go;     /* a goroutine's record */
typedef struct gotrace_proc gotrace_proc; /* a proc's record */

/* A user task: work that goroutines do together for one purpose. */
typedef struct gotrace_task {
  uint64_t id;
} gotrace_task;

/* A place in a program: what stacks are made of. Its strings must stay valid until gotrace_stop returns. */
typedef struct gotrace_location {
  uintptr_t pc;         /* tells places apart; 0: made up from the other three */
  const char *function; /* NULL: found from pc when the trace is written (gotrace_options.symbolize, else dladdr) */
  const char *file;     /* NULL: unknown */
  uint32_t line;        /* 0: unknown */
} gotrace_location;

/* A call site: a location and what the tracer remembers of it. Made by GOTRACE_HERE; the ids in it are the tracer's. */
typedef struct gotrace_site {
  gotrace_location location;
  uint64_t stack_id, name_id; /* session in the upper half, id in the lower */
  uint64_t reported;          /* problems that GOTRACE_DEBUG has reported here, a bit each */
} gotrace_site;

/* Why a goroutine blocks: Go 1.23's fifteen reasons (traceBlockReason in runtime/traceruntime.go), and the v1 event that
 * says it. X(NAME, number, v1 event, "text in v2") */
#define GOTRACE_BLOCK_REASONS(X)                                                     \
  X(GENERIC, 0, GO_BLOCK, "unspecified")                                             \
  X(FOREVER, 1, GO_STOP, "forever")                                                  \
  X(NET, 2, GO_BLOCK_NET, "network")                                                 \
  X(SELECT, 3, GO_BLOCK_SELECT, "select")                                            \
  X(COND_WAIT, 4, GO_BLOCK_COND, "sync.(*Cond).Wait")                                \
  X(SYNC, 5, GO_BLOCK_SYNC, "sync")                                                  \
  X(CHAN_SEND, 6, GO_BLOCK_SEND, "chan send")                                        \
  X(CHAN_RECV, 7, GO_BLOCK_RECV, "chan receive")                                     \
  X(GC_MARK_ASSIST, 8, GO_BLOCK_GC, "GC mark assist wait for work")                  \
  X(GC_SWEEP, 9, GO_BLOCK, "GC background sweeper wait")                             \
  X(SYSTEM_GOROUTINE, 10, GO_BLOCK, "system goroutine wait")                         \
  X(PREEMPTED, 11, GO_BLOCK, "preempted")                                            \
  X(DEBUG_CALL, 12, GO_BLOCK, "wait for debug call")                                 \
  X(UNTIL_GC_ENDS, 13, GO_BLOCK, "wait until GC ends")                               \
  X(SLEEP, 14, GO_SLEEP, "sleep")

typedef enum gotrace_block_reason {
#define GOTRACE__REASON(NAME, number, v1, text) GOTRACE_BLOCK_##NAME = number,
  GOTRACE_BLOCK_REASONS(GOTRACE__REASON)
#undef GOTRACE__REASON
  GOTRACE_BLOCK_REASON_COUNT = 15
} gotrace_block_reason;

/* Why a goroutine gives up its proc and stays runnable. */
typedef enum gotrace_stop_reason {
  GOTRACE_STOP_GENERIC = 0,  /* v1: GoPreempt */
  GOTRACE_STOP_YIELD = 1,    /* v1: GoSched */
  GOTRACE_STOP_PREEMPTED = 2 /* v1: GoPreempt */
} gotrace_stop_reason;

/* Why the world stops: Go 1.21's stwReason (runtime/proc.go). Formats before 1.21 know the collector's two only. */
typedef enum gotrace_stw_reason {
  GOTRACE_STW_UNKNOWN = 0,
  GOTRACE_STW_GC_MARK_TERM = 1,
  GOTRACE_STW_GC_SWEEP_TERM = 2,
  GOTRACE_STW_WRITE_HEAP_DUMP = 3,
  GOTRACE_STW_GOROUTINE_PROFILE = 4,
  GOTRACE_STW_GOROUTINE_PROFILE_CLEANUP = 5,
  GOTRACE_STW_ALL_GOROUTINES_STACK = 6,
  GOTRACE_STW_READ_MEM_STATS = 7,
  GOTRACE_STW_ALL_THREADS_SYSCALL = 8,
  GOTRACE_STW_GOMAXPROCS = 9,
  GOTRACE_STW_START_TRACE = 10,
  GOTRACE_STW_STOP_TRACE = 11,
  GOTRACE_STW_REASON_COUNT = 17 /* the rest are for the Go runtime's own tests */
} gotrace_stw_reason;

/* Takes `size` bytes of the trace; true if they are safely on their way. Called by one thread at a time, in order. */
typedef bool gotrace_write_fn(void *context, const void *data, size_t size);

/* Fills pcs with up to `max` return addresses of the calling goroutine, innermost first; returns how many. Runs on the
 * thread that emits, must not call the tracer. */
typedef int gotrace_unwind_fn(void *context, uintptr_t *pcs, int max);

/* Fills in function, file and line of place->pc; false if it knows nothing. Runs on the reading side, once an address.
 * The strings are copied before the next call. */
typedef bool gotrace_symbolize_fn(void *context, gotrace_location *place);

/* Receives one line without a newline for each misuse, once per call site, where GOTRACE_DEBUG is 1. */
typedef void gotrace_report_fn(void *context, const char *line);

typedef enum gotrace_stacks {
  GOTRACE_STACKS_CALL_SITE = 0,      /* the place of the call */
  GOTRACE_STACKS_NONE = 1,           /* none */
  GOTRACE_STACKS_FRAME_POINTERS = 2, /* the place of the call, then its callers by frame pointers, where the bounds of
                                        the stack are known (gotrace_go_stack, or a thread's own) */
  GOTRACE_STACKS_UNWIND = 3          /* what gotrace_options.unwind gives */
} gotrace_stacks;

typedef enum gotrace_on_limit {
  GOTRACE_LIMIT_STOP = 0, /* the trace ends, at a point that is the same for all threads */
  GOTRACE_LIMIT_BLOCK = 1 /* the thread that needs a buffer waits until one was read */
} gotrace_on_limit;

/* All zero: the defaults. */
typedef struct gotrace_options {
  gotrace_format format;           /* 0: GOTRACE_GO_1_21 */
  gotrace_stacks stacks;           /* 0: GOTRACE_STACKS_CALL_SITE */
  size_t memory_limit;             /* bytes of buffers and tables at most, 1 MiB or more; 0: 256 MiB */
  gotrace_on_limit on_limit;       /* what happens at memory_limit; 0: GOTRACE_LIMIT_STOP */
  uint64_t size_limit;             /* bytes of trace, after which it ends (by a buffer a proc more); 0: none */
  uint32_t cut_milliseconds;       /* longest time between two consistent cuts, see gotrace_read; 0: 1,000 */
  size_t cut_bytes;                /* most bytes between two cuts; 0: 4 MiB */
  gotrace_write_fn *write;         /* gotrace_start: sink; NULL: the caller reads */
  gotrace_unwind_fn *unwind;       /* for GOTRACE_STACKS_UNWIND */
  gotrace_symbolize_fn *symbolize; /* NULL: dladdr where there is one */
  gotrace_report_fn *report;       /* NULL: none */
  void *context;                   /* passed to the functions above */
} gotrace_options;

typedef struct gotrace_stats {
  gotrace_result result;      /* GOTRACE_OK, GOTRACE_LIMIT_REACHED or what ended the trace early */
  int system_error;           /* errno of the sink's failure, or 0 */
  uint64_t bytes;             /* delivered so far */
  uint64_t consistent_bytes;  /* of these, the first so many are a complete trace by themselves */
  uint64_t events;            /* all but Batch, Frequency, Stack and String */
  uint64_t kinds[256];        /* events by number; Batch, Frequency, Stack and String too */
  uint64_t goroutines;        /* created or already there */
  uint64_t threads;           /* that emitted */
  uint64_t cuts;              /* consistent cuts, the last one included */
  uint64_t problems[GOTRACE_PROBLEM_COUNT];
  uint64_t dropped, repaired; /* sums of problems */
  uint64_t memory_peak;       /* bytes of buffers and tables */
} gotrace_stats;

/* The static call site of the place where it stands, a gotrace_site *; NULL where the compiler has no statement
 * expressions. Every macro below that ends in a call of a function `..._at` passes it. */
#if GOTRACE_CALL_SITES && defined(__GNUC__)
#define GOTRACE_HERE                                                                                      \
  (__extension__({                                                                                        \
    static gotrace_site gotrace__here = {{0, __func__, __FILE__, __LINE__}, 0, 0, 0};                      \
    &gotrace__here;                                                                                       \
  }))
#define GOTRACE__IS_CONSTANT(x) __builtin_constant_p(x)
#else
#define GOTRACE_HERE ((gotrace_site *)0)
#define GOTRACE__IS_CONSTANT(x) 0
#endif

/* The location of a function as a goroutine's entry: goroutines are grouped by it. Use it to initialize a static
 * variable: static const gotrace_location entry = GOTRACE_ENTRY(worker_main); */
#define GOTRACE_ENTRY(function) {(uintptr_t)(function), #function, __FILE__, __LINE__}

/* For entries that are not C functions (a script's function, a named job): the name tells them apart. */
#define GOTRACE_NAMED_ENTRY(name) {0, (name), "", 0}

/* A goroutine, proc or task that is not there. */
#ifdef __cplusplus
#define GOTRACE_NO_TASK (gotrace_task{0})
#else
#define GOTRACE_NO_TASK ((gotrace_task){0})
#endif

#if defined(__GNUC__)
#define GOTRACE__PRINTF(string, first) __attribute__((format(printf, string, first)))
#define GOTRACE__UNIQUE __COUNTER__
#else
#define GOTRACE__PRINTF(string, first)
#define GOTRACE__UNIQUE __LINE__
#endif
#define GOTRACE__NAME(a, b) GOTRACE__NAME2(a, b)
#define GOTRACE__NAME2(a, b) a##b

#if !GOTRACE_DISABLE

/* ------------------------------------------------------------------------------------------------ >>session ----
 *
 * One session at a time. Tracing starts and stops at any time, any number of times, while any number of threads emit:
 * no thread is stopped for it. Goroutines, procs and threads are known whether tracing is on or off, so a trace that
 * starts in mid-flight begins with what is there.
 */

/* Starts tracing. With options->write a service thread hands the trace to it; without, the caller must read it with
 * gotrace_read until its end. The options are copied. NULL: all defaults.
 * Results: OK; ERROR_ALREADY_RUNNING (also while the last trace is not yet read to its end), ERROR_ARGUMENT,
 * ERROR_FORMAT, ERROR_OUT_OF_MEMORY, ERROR_THREAD; then nothing has changed. Go: StartTrace. */
GOTRACE_API gotrace_result gotrace_start(const gotrace_options *options);

/* The same, into a file, which is created or replaced, by a service thread. options->write is not used. Also
 * ERROR_SINK if the file cannot be created (errno tells why). */
GOTRACE_API gotrace_result gotrace_start_file(const char *path, const gotrace_options *options);

/* Ends the trace and returns after its last byte has been delivered: written by the service thread, or read by the
 * caller's reader, which must be at work on another thread. (To read on the same thread: gotrace_end, then read.)
 * What happened before the call is in the trace, if the calling thread could know of it; what happens after is not.
 * Results: OK; LIMIT_REACHED, ERROR_OUT_OF_MEMORY or ERROR_SINK if the trace ended early (what was written is
 * a complete trace); ERROR_NOT_RUNNING if no trace is on. Go: StopTrace. */
GOTRACE_API gotrace_result gotrace_stop(void);

/* Ends the trace without waiting for its delivery. OK or ERROR_NOT_RUNNING. */
GOTRACE_API gotrace_result gotrace_end(void);

/* The next piece of the trace: sets *chunk and *size, valid until the next call of it. Waits until there is one. At the
 * end of the trace *size is 0, once; after that ERROR_NOT_RUNNING. One reader at a time: a second one gets
 * ERROR_READER_BUSY and disturbs nobody. ERROR_READER_BUSY also where a service thread reads. Go: ReadTrace.
 *
 * A trace is delivered from one consistent cut to the next: every options->cut_milliseconds or cut_bytes the reader
 * collects what all threads have written so far. So what was read is a complete trace after each cut, whenever the
 * program is killed, and lags behind by no more than that. */
GOTRACE_API gotrace_result gotrace_read(const void **chunk, size_t *size);

/* The same, but returns WOULD_BLOCK with *size 0 where gotrace_read would wait. */
GOTRACE_API gotrace_result gotrace_try_read(const void **chunk, size_t *size);

/* Makes a consistent cut now: all that was emitted before the call is delivered without waiting for more. OK or
 * ERROR_NOT_RUNNING. */
GOTRACE_API gotrace_result gotrace_advance(void);

/* Whether tracing is on. A relaxed load, inline. */
#if defined(__GNUC__)
extern uint32_t gotrace__on;
#define gotrace_enabled() (__atomic_load_n(&gotrace__on, __ATOMIC_RELAXED) != 0)
#else
extern volatile uint32_t gotrace__on;
#define gotrace_enabled() (gotrace__on != 0)
#endif

/* Figures of the running trace, or of the last one. */
GOTRACE_API void gotrace_get_stats(gotrace_stats *stats);

/* ------------------------------------------------------------------------------------------------ >>threads ---- */

/* Makes the calling thread a goroutine on a proc of its own, as its first region, log, task, wait or system call would
 * do, by this name (copied; NULL: the system's name for the thread). Nothing if it is one already, or runs a proc. */
GOTRACE_API void gotrace_thread_begin(const char *name);

/* Ends what the calling thread runs: its goroutine and proc. Done by itself when a thread ends. */
GOTRACE_API void gotrace_thread_end(void);

/* A new proc, idle; NULL without memory. Ids are small numbers, given anew after gotrace_proc_destroy. */
GOTRACE_API gotrace_proc *gotrace_proc_create(void);
GOTRACE_API void gotrace_proc_destroy(gotrace_proc *proc); /* must be idle */
GOTRACE_API int gotrace_proc_id(const gotrace_proc *proc);

/* The calling thread takes the proc, gives it up; another thread takes it away from a thread whose goroutine is in a
 * system call (that thread then says gotrace_go_syscall_end_blocked). Go: traceProcStart, traceProcStop,
 * traceGoSysBlock + traceProcStop. */
GOTRACE_API void gotrace_proc_start(gotrace_proc *proc);
GOTRACE_API void gotrace_proc_stop(void);
GOTRACE_API void gotrace_proc_steal(gotrace_proc *proc);

/* How many procs may run at once. Go: traceGomaxprocs. */
#define gotrace_procs_change(count) gotrace_procs_change_at(GOTRACE_HERE, (count))
GOTRACE_API void gotrace_procs_change_at(gotrace_site *site, unsigned count);

/* A new goroutine that begins at `entry` (NULL: unknown), runnable; or blocked until an unblock; or in a system call on
 * the calling thread, which becomes its thread (a callback from foreign code). `entry` must stay valid as long as the
 * goroutine lives. NULL without memory; every call takes a NULL handle and counts it. Go: traceGoCreate. */
#define gotrace_go_create(entry) gotrace_go_create_at(GOTRACE_HERE, (entry))
#define gotrace_go_create_blocked(entry) gotrace_go_create_blocked_at(GOTRACE_HERE, (entry))
#define gotrace_go_create_syscall(entry) gotrace_go_create_syscall_at(GOTRACE_HERE, (entry))
GOTRACE_API gotrace_go *gotrace_go_create_at(gotrace_site *site, const gotrace_location *entry);
GOTRACE_API gotrace_go *gotrace_go_create_blocked_at(gotrace_site *site, const gotrace_location *entry);
GOTRACE_API gotrace_go *gotrace_go_create_syscall_at(gotrace_site *site, const gotrace_location *entry);

/* The calling thread runs the goroutine; the one that runs ends. Go: traceGoStart, traceGoEnd. */
GOTRACE_API void gotrace_go_start(gotrace_go *go);
GOTRACE_API void gotrace_go_end(void);

/* The goroutine that runs gives up its proc and stays runnable. Go: traceGoSched, traceGoPreempt. */
#define gotrace_go_stop(reason) gotrace_go_stop_at(GOTRACE_HERE, (reason))
GOTRACE_API void gotrace_go_stop_at(gotrace_site *site, gotrace_stop_reason reason);

/* The goroutine that runs blocks. `reason` is a gotrace_block_reason; add GOTRACE_FUTILE_WAKEUP if it was woken in vain
 * since it last blocked (another took what it waited for): the viewer then leaves out that waking. Formats for which
 * blocking for ever is final (v1) show a goroutine that is unblocked after GOTRACE_BLOCK_FOREVER as a new one.
 * Go: traceGoPark. */
#define gotrace_go_block(reason) gotrace_go_block_at(GOTRACE_HERE, (reason))
GOTRACE_API void gotrace_go_block_at(gotrace_site *site, unsigned reason);

/* A blocked goroutine may run again. From any thread, with or without a proc. Go: traceGoUnpark. */
#define gotrace_go_unblock(go) gotrace_go_unblock_at(GOTRACE_HERE, (go))
GOTRACE_API void gotrace_go_unblock_at(gotrace_site *site, gotrace_go *go);

/* The goroutine that runs blocks (or ends) and another, blocked one runs in its place, as coroutines do. */
#define gotrace_go_switch(go) gotrace_go_switch_at(GOTRACE_HERE, (go))
#define gotrace_go_switch_end(go) gotrace_go_switch_end_at(GOTRACE_HERE, (go))
GOTRACE_API void gotrace_go_switch_at(gotrace_site *site, gotrace_go *go);
GOTRACE_API void gotrace_go_switch_end_at(gotrace_site *site, gotrace_go *go);

/* The goroutine that runs enters a system call and leaves it. Its thread keeps the proc unless another thread steals it
 * or the thread itself gives it up (gotrace_proc_stop); then the end is _end_blocked, after which the goroutine is
 * runnable and needs gotrace_go_start. In v1 a call of 20 microseconds or more (sysmon's period in runtime/proc.go) that
 * kept its proc is shown as if it had lost it, since v1 has no end of a short call.
 * Go: traceGoSysCall, traceGoSysBlock, traceGoSysExit. */
#define gotrace_go_syscall_begin() gotrace_go_syscall_begin_at(GOTRACE_HERE)
GOTRACE_API void gotrace_go_syscall_begin_at(gotrace_site *site);
GOTRACE_API void gotrace_go_syscall_end(void);
GOTRACE_API void gotrace_go_syscall_end_blocked(void);

/* Labels the goroutine that runs (copied, up to 63 bytes; NULL: no more); v1 shows it from its next start on. */
GOTRACE_API void gotrace_go_label(const char *label);

/* Marks a goroutine that wakes others by time: its unblocks are shown as the timers'. v1. (1.8: the first one only.) */
GOTRACE_API void gotrace_go_timer(gotrace_go *go);

/* The bounds of the stack that the goroutine runs on, lowest byte and the one after the highest, for stack walks. */
GOTRACE_API void gotrace_go_stack(gotrace_go *go, const void *low, const void *high);

/* The goroutine that runs on the calling thread; NULL if none. A plain thread becomes one. */
GOTRACE_API gotrace_go *gotrace_go_self(void);
GOTRACE_API uint64_t gotrace_go_id(const gotrace_go *go);

/* For plain threads: the thread waits from here to there. gotrace_wait_end unblocks and starts the thread's goroutine,
 * or only starts it if the waker said gotrace_go_unblock. */
#define gotrace_wait_begin(reason) gotrace_wait_begin_at(GOTRACE_HERE, (reason))
GOTRACE_API void gotrace_wait_begin_at(gotrace_site *site, unsigned reason);
GOTRACE_API void gotrace_wait_end(void);

/* --------------------------------------------------------------------------------------------------- >>emit ---- */

/* Garbage collection, for runtimes that have one. A collection is one at a time for the program, and so is a stopped
 * world (from 1.10 on); a scan (1.8) and a sweep belong to the calling thread's proc, a mark assist to its goroutine. A
 * sweep writes nothing before its first span. Bytes. Go: traceGCStart, traceGCDone, traceGCScanStart,
 * traceSTWStart, traceGCSweepStart, traceGCSweepSpan, traceGCSweepDone, traceGCMarkAssistStart and their ends. */
#define gotrace_gc_begin() gotrace_gc_begin_at(GOTRACE_HERE)
#define gotrace_stw_begin(reason) gotrace_stw_begin_at(GOTRACE_HERE, (reason))
#define gotrace_gc_sweep_span(swept, reclaimed) gotrace_gc_sweep_span_at(GOTRACE_HERE, (swept), (reclaimed))
#define gotrace_gc_mark_assist_begin() gotrace_gc_mark_assist_begin_at(GOTRACE_HERE)
GOTRACE_API void gotrace_gc_begin_at(gotrace_site *site);
GOTRACE_API void gotrace_gc_end(void);
GOTRACE_API void gotrace_gc_scan_begin(void); /* 1.8 only */
GOTRACE_API void gotrace_gc_scan_end(void);
GOTRACE_API void gotrace_stw_begin_at(gotrace_site *site, gotrace_stw_reason reason);
GOTRACE_API void gotrace_stw_end(void);
GOTRACE_API void gotrace_gc_sweep_begin(void);
GOTRACE_API void gotrace_gc_sweep_span_at(gotrace_site *site, uint64_t swept, uint64_t reclaimed);
GOTRACE_API void gotrace_gc_sweep_end(void);
GOTRACE_API void gotrace_gc_mark_assist_begin_at(gotrace_site *site);
GOTRACE_API void gotrace_gc_mark_assist_end(void);

/* Bytes in use; bytes at which the next collection begins (UINT64_MAX: never, written as 0). Go: traceHeapAlloc,
 * traceHeapGoal (traceNextGC before 1.19). */
GOTRACE_API void gotrace_heap_alloc(uint64_t bytes);
GOTRACE_API void gotrace_heap_goal(uint64_t bytes);

/* Annotations (1.11 and later): cost one branch when tracing is off. Names and texts are cut at 1,024 bytes, on a UTF-8
 * boundary; NULL is the empty string. Go: userTaskCreate, userTaskEnd, userRegion, userLog in runtime/trace.go.
 *
 * A task may be begun, ended and named by any thread; GOTRACE_NO_TASK is none. While tracing is off a begin gives
 * GOTRACE_NO_TASK. */
#define gotrace_task_begin(name, parent) \
  (gotrace_enabled() ? gotrace_task_begin_at(GOTRACE_HERE, (name), GOTRACE__IS_CONSTANT(name), (parent)) : GOTRACE_NO_TASK)
#define gotrace_task_end(task) (gotrace_enabled() ? gotrace_task_end_at(GOTRACE_HERE, (task)) : (void)0)
GOTRACE_API gotrace_task gotrace_task_begin_at(gotrace_site *site, const char *name, int name_is_constant,
                                               gotrace_task parent);
GOTRACE_API void gotrace_task_end_at(gotrace_site *site, gotrace_task task);

/* A region is a stretch of one goroutine's execution; regions nest. The end names the region: an end of one that is not
 * the innermost also ends those inside it. */
#define gotrace_region_begin(task, name) \
  (gotrace_enabled() ? gotrace_region_begin_at(GOTRACE_HERE, (task), (name), GOTRACE__IS_CONSTANT(name)) : (void)0)
#define gotrace_region_end(task, name) \
  (gotrace_enabled() ? gotrace_region_end_at(GOTRACE_HERE, (task), (name), GOTRACE__IS_CONSTANT(name)) : (void)0)
GOTRACE_API void gotrace_region_begin_at(gotrace_site *site, gotrace_task task, const char *name, int name_is_constant);
GOTRACE_API void gotrace_region_end_at(gotrace_site *site, gotrace_task task, const char *name, int name_is_constant);

/* A message within a task, with a category. gotrace_logf formats it as printf does (stb_sprintf where its header is on
 * the include path), up to 1,024 bytes, on the caller's stack. */
#define gotrace_log(task, category, message) \
  (gotrace_enabled() ? gotrace_log_at(GOTRACE_HERE, (task), (category), (message)) : (void)0)
#define gotrace_logf(...) (gotrace_enabled() ? gotrace_logf_at(GOTRACE_HERE, __VA_ARGS__) : (void)0)
GOTRACE_API void gotrace_log_at(gotrace_site *site, gotrace_task task, const char *category, const char *message);
GOTRACE_API void gotrace_logf_at(gotrace_site *site, gotrace_task task, const char *category, const char *format, ...)
    GOTRACE__PRINTF(4, 5);

/* GOTRACE_REGION("name") { ... }: a region as long as the block, also where the block is left by break, return, goto or
 * an exception (GCC, Clang). GOTRACE_TASK_REGION(task, "name") within a task. */
#define GOTRACE_REGION(name) GOTRACE_TASK_REGION(GOTRACE_NO_TASK, name)
#define GOTRACE_TASK_REGION(task, name) GOTRACE__SCOPE(GOTRACE__NAME(gotrace__scope_, GOTRACE__UNIQUE), task, name)
typedef struct gotrace__scope {
  gotrace_site *site; /* NULL: tracing was off at the begin */
  const char *name;
  gotrace_task task;
  int name_is_constant, once;
} gotrace__scope;
#if defined(__GNUC__)
#define GOTRACE__SCOPE(variable, task, name)                                                                          \
  for (gotrace__scope variable __attribute__((cleanup(gotrace__scope_end))) =                                         \
           gotrace__scope_begin(GOTRACE_HERE, (task), (name), GOTRACE__IS_CONSTANT(name));                            \
       variable.once; variable.once = 0)
#else
#define GOTRACE__SCOPE(variable, task, name)                                                                          \
  for (gotrace__scope variable = gotrace__scope_begin(GOTRACE_HERE, (task), (name), GOTRACE__IS_CONSTANT(name));      \
       variable.once; gotrace__scope_end(&variable))
#endif
static inline gotrace__scope gotrace__scope_begin(gotrace_site *site, gotrace_task task, const char *name, int constant) {
  gotrace__scope scope;
  scope.site = site;
  scope.name = name;
  scope.task = task;
  scope.name_is_constant = constant;
  scope.once = 1;
  if (gotrace_enabled()) gotrace_region_begin_at(site, task, name, constant);
  return scope;
}
static inline void gotrace__scope_end(gotrace__scope *scope) {
  scope->once = 0;
  if (gotrace_enabled()) gotrace_region_end_at(scope->site, scope->task, scope->name, scope->name_is_constant);
}

/* A sample of the calling thread's execution (1.19 and later), for a SIGPROF handler: `ucontext` is the handler's third
 * argument, NULL for a sample without a stack. Async-signal-safe; takes no lock, allocates nothing; a sample that finds no
 * room is counted. Go: traceCPUSample. */
GOTRACE_API void gotrace_cpu_sample(void *ucontext);

#else /* GOTRACE_DISABLE: every call is an empty expression of the right type; arguments are not evaluated, only used. */

#define GOTRACE__UNUSED1(a) (1 ? (void)0 : (void)(a))
#define GOTRACE__UNUSED2(a, b) (GOTRACE__UNUSED1(a), GOTRACE__UNUSED1(b))
#define GOTRACE__UNUSED3(a, b, c) (GOTRACE__UNUSED1(a), GOTRACE__UNUSED2(b, c))
#define gotrace_start(options) (GOTRACE__UNUSED1(options), GOTRACE_ERROR_DISABLED)
#define gotrace_start_file(path, options) (GOTRACE__UNUSED2(path, options), GOTRACE_ERROR_DISABLED)
#define gotrace_stop() GOTRACE_ERROR_DISABLED
#define gotrace_end() GOTRACE_ERROR_DISABLED
#define gotrace_read(chunk, size) (GOTRACE__UNUSED2(chunk, size), GOTRACE_ERROR_DISABLED)
#define gotrace_try_read(chunk, size) (GOTRACE__UNUSED2(chunk, size), GOTRACE_ERROR_DISABLED)
#define gotrace_advance() GOTRACE_ERROR_DISABLED
#define gotrace_enabled() false
static inline void gotrace_get_stats(gotrace_stats *stats) {
  static gotrace_stats none; /* zero */
  *stats = none;
}
#define gotrace_thread_begin(name) GOTRACE__UNUSED1(name)
#define gotrace_thread_end() ((void)0)
#define gotrace_proc_create() ((gotrace_proc *)0)
#define gotrace_proc_destroy(proc) GOTRACE__UNUSED1(proc)
#define gotrace_proc_id(proc) (GOTRACE__UNUSED1(proc), 0)
#define gotrace_proc_start(proc) GOTRACE__UNUSED1(proc)
#define gotrace_proc_stop() ((void)0)
#define gotrace_proc_steal(proc) GOTRACE__UNUSED1(proc)
#define gotrace_procs_change(count) GOTRACE__UNUSED1(count)
#define gotrace_go_create(entry) (GOTRACE__UNUSED1(entry), (gotrace_go *)0)
#define gotrace_go_create_blocked(entry) (GOTRACE__UNUSED1(entry), (gotrace_go *)0)
#define gotrace_go_create_syscall(entry) (GOTRACE__UNUSED1(entry), (gotrace_go *)0)
#define gotrace_go_start(go) GOTRACE__UNUSED1(go)
#define gotrace_go_end() ((void)0)
#define gotrace_go_stop(reason) GOTRACE__UNUSED1(reason)
#define gotrace_go_block(reason) GOTRACE__UNUSED1(reason)
#define gotrace_go_unblock(go) GOTRACE__UNUSED1(go)
#define gotrace_go_switch(go) GOTRACE__UNUSED1(go)
#define gotrace_go_switch_end(go) GOTRACE__UNUSED1(go)
#define gotrace_go_syscall_begin() ((void)0)
#define gotrace_go_syscall_end() ((void)0)
#define gotrace_go_syscall_end_blocked() ((void)0)
#define gotrace_go_label(label) GOTRACE__UNUSED1(label)
#define gotrace_go_timer(go) GOTRACE__UNUSED1(go)
#define gotrace_go_stack(go, low, high) GOTRACE__UNUSED3(go, low, high)
#define gotrace_go_self() ((gotrace_go *)0)
#define gotrace_go_id(go) (GOTRACE__UNUSED1(go), (uint64_t)0)
#define gotrace_wait_begin(reason) GOTRACE__UNUSED1(reason)
#define gotrace_wait_end() ((void)0)
#define gotrace_gc_begin() ((void)0)
#define gotrace_gc_end() ((void)0)
#define gotrace_gc_scan_begin() ((void)0)
#define gotrace_gc_scan_end() ((void)0)
#define gotrace_stw_begin(reason) GOTRACE__UNUSED1(reason)
#define gotrace_stw_end() ((void)0)
#define gotrace_gc_sweep_begin() ((void)0)
#define gotrace_gc_sweep_span(swept, reclaimed) GOTRACE__UNUSED2(swept, reclaimed)
#define gotrace_gc_sweep_end() ((void)0)
#define gotrace_gc_mark_assist_begin() ((void)0)
#define gotrace_gc_mark_assist_end() ((void)0)
#define gotrace_heap_alloc(bytes) GOTRACE__UNUSED1(bytes)
#define gotrace_heap_goal(bytes) GOTRACE__UNUSED1(bytes)
#define gotrace_task_begin(name, parent) (GOTRACE__UNUSED2(name, parent), GOTRACE_NO_TASK)
#define gotrace_task_end(task) GOTRACE__UNUSED1(task)
#define gotrace_region_begin(task, name) GOTRACE__UNUSED2(task, name)
#define gotrace_region_end(task, name) GOTRACE__UNUSED2(task, name)
#define gotrace_log(task, category, message) GOTRACE__UNUSED3(task, category, message)
#define gotrace_logf(...) ((void)0)
#define GOTRACE_REGION(name) GOTRACE_TASK_REGION(GOTRACE_NO_TASK, name)
#define GOTRACE_TASK_REGION(task, name) \
  GOTRACE__ONCE(GOTRACE__NAME(gotrace__scope_, GOTRACE__UNIQUE), GOTRACE__UNUSED2(task, name))
#define GOTRACE__ONCE(variable, unused) for (int variable = 1; variable; unused, variable = 0)
#define gotrace_cpu_sample(ucontext) GOTRACE__UNUSED1(ucontext)

#endif /* GOTRACE_DISABLE */

#ifdef __cplusplus
}
#endif

#endif /* GOTRACE_H */
