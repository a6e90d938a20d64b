/* tables.h - the results of info as tables of named fields
 *
 * With --json each file is one line, an object: {"trace": {...}, "functions": [{...}, ...], ...}. With --csv there is a
 * line for each value: file,table,name,reason,field,value; the first line has these words. A text of CSV that begins
 * with =, +, - or @ has an apostrophe before it, since spreadsheets take it for a formula. Times are integers, in
 * nanoseconds. Moments count from the first event. The tables:
 *
 *     trace       format ("1.27"), family (1, 2), complete (whether the trace has no error), began (the wall clock at
 *                 the first event, "2026-11-22T21:40:05.123456789Z"), duration, events, generations, gomaxprocs,
 *                 disordered (region ends out of order, with --lenient), stands_out (a text)
 *     findings    what is wrong, gravest first: kind ("crash", "deadlock", "lock", "leak", "channel", "pauses", "task",
 *                 "procs" or "collector"), text, look (arguments of gotrace that show more; "": none)
 *     functions   goroutines by the function they began with, or their thread's name in a trace of `gotrace record`:
 *                 count; running (there: not seen waiting), runnable, syscall, syscall_blocked, blocked (total times);
 *                 cpu (only there: CPU time); stopped: how much of running was while the world was stopped; of single
 *                 stretches running_*, runnable_*, syscall_*
 *     function_reasons  by function and reason, its waits: blocked_*
 *     sampled     CPU samples by function: self, and total, with those in what it called. "(code in no file)": compiled
 *                 while the program ran, with unknown names
 *     reasons     waits by reason: blocked_*
 *     waits       by class and place, the innermost function that is the program's own: class, place, blocked_*
 *     holders     waits for locks, channels and the like, by who had them or did what was waited for: class, place (of
 *                 the waits), holder (a function), goroutine (the longest part's holder),
 *                 process (the same, if it is another process: "PROGRAM (pid NUMBER)"; then goroutine is 0), taken,
 * released (its stacks, outermost frame first: where it took the lock, if that is known; where it released it),
 *                 meanwhile (what holders did most), meanwhile_time, blocked_*
 *     stops       stop-the-worlds by place and reason: stack (of the longest), pauses_*
 *     tasks       by name: count, complete, latency_* of the complete ones, open_* of those that have not ended: the
 *                 time from their begins to the trace's end; running, runnable, syscall, syscall_blocked, blocked: what
 *                 their goroutines did
 *     task_reasons    by task and reason: blocked
 *     regions     by name: count, duration_*; running, ..., blocked
 *     region_reasons  by region and reason: blocked
 *     counters    of the program, by name: count (of values), least, most, last, mean
 *     collector   collections_*, pauses_*; share_paused, share_collecting of the duration
 *     pauses      stop-the-worlds by reason: pauses_*
 *     utilization window, minimum: the least share of procs that the program had in any window of that length
 *     procs, threads  id, running, syscall: what goroutines did there
 *     latencies   the longest waits for a proc: waited, since, goroutine, function
 *     kinds       events in the file, by kind: count
 *     losses      losses that the tracer reports: message
 *
 * _* stands for _count, _total, _average, _p50, _p90, _p99, _longest, and, of the longest, _longest_at and
 * _longest_goroutine (tasks: the task's id); and, if some of them do not end in the trace or part, _unended: how many.
 * Percentiles are exact for up to 24 values, otherwise at most 0.4 % off. An unknown name is "". With --histogram these
 * fields have one more, _histogram: pairs of a duration and the number of durations below it that are not below the
 * previous pair's. With --details there are also
 *
 *     goroutines  id, function, created, started, ended (absent: not), running, runnable, syscall, syscall_blocked,
 *                 blocked: an object of times by reason
 *     goroutine_regions  goroutine, name, task, begin (absent: before the trace), end, inherited; times likewise
 *     task_list   id, name, parent, begin, end (absent: not seen), open: the time from its start, if it has not ended
 */

#ifndef TABLES_H
#define TABLES_H

#include "causes.h"

enum { TABLES_JSON = 1, TABLES_CSV, TABLES_HISTOGRAM = 4 };

/* Collects the tables of --details. Their rows come in the order in which goroutines, regions and tasks end. */
typedef struct detail_tables {
  details d;
  output goroutines, regions, tasks;
  unsigned how;
  const char *file;
} detail_tables;
void detail_tables_begin(detail_tables *t, unsigned how, const char *file);
void detail_tables_end(detail_tables *t);

/* Prints all tables of a file. */
void print_tables(output *out, summary *sum, const causes *why, unsigned how, const char *file, bool complete,
                  detail_tables *each);
void print_csv_head(output *out);

/* One line about what stands out, with names as they are in the trace: standout.c. */
void stands_out(const summary *sum, const causes *why, char *text, size_t size);

#endif
