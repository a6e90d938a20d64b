/* commands.c - the tables of commands and options: see commands.h */

#include "commands.h"
#include "../export/table_set.h"
#include "../reading/filter.h"

#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------- setters ---- */

/* A setter gets its option for the field and the number there. field() returns the field's address. */
static void *field(const option *o, settings *set) { return (char *)set + o->field; }

static void set_flag(const option *o, const char *value, settings *set) {
  bool *at = field(o, set);
  (void)value;
  *at = true;
}

static void set_text(const option *o, const char *value, settings *set) {
  const char **at = field(o, set);
  *at = value;
}

static void set_time(const option *o, const char *value, settings *set) {
  int64_t *at = field(o, set);
  *at = moment_parse(value);
  if (*at != MOMENT_INVALID) return;
  if (*value && !value[strspn(value, "0123456789.")]) usage("time '%s' needs a unit: %ss or %sms", value, value, value);
  usage("invalid time '%s'; valid are 1.5s, 20ms, 300us, 100ns, and times of the wall clock: 21:40:05.123", value);
}

#if !IN_BROWSER
static void set_format(const option *o, const char *value, settings *set) {
  int *at = field(o, set);
  *at = parse_written_format(value);
  if (!*at) usage("unknown format '%s'", value);
}
#endif

/* Sets the index of the value in the option's list. */
static void set_choice(const option *o, const char *value, settings *set) {
  uint32_t *at = field(o, set), number = 0;
  const char *word = o->values;
  size_t size;
  for (; *word; word += size + (word[size] == ' '), number++) {
    size = strcspn(word, " ");
    if (strlen(value) != size || strncmp(value, word, size) != 0) continue;
    *at = number;
    return;
  }
  usage("unknown %.*s '%s'", (int)option_name_size(o) - 2, o->spec + 2, value);
}

static uint64_t parse_number(const option *o, const char *text, double unit, double most) {
  char *end;
  double value = strtod(text, &end);
  if (end != text && *end && strchr("KMG", *end) && most > 1e12) {
    value *= *end == 'K' ? 1024.0 : *end == 'M' ? 1048576.0 : 1073741824.0;
    end++;
  }
  if (end == text || *end || !(value > 0) || value * unit > most || value * unit < 1)
    usage("invalid value '%s' for %.*s", text, (int)option_name_size(o), o->spec);
  return (uint64_t)(value * unit + 0.5);
}

/* Multiplies the value by `number`. */
static void set_number(const option *o, const char *value, settings *set) {
  uint32_t *at = field(o, set);
  *at = (uint32_t)parse_number(o, value, o->number, 4e9);
}

static void set_bytes(const option *o, const char *value, settings *set) {
  uint64_t *at = field(o, set);
  *at = parse_number(o, value, 1, 9e18);
}

/* Sets the option's name without "--". */
static void set_profile(const option *o, const char *value, settings *set) {
  const char **at = field(o, set);
  (void)value;
  if (*at) usage("profile takes --%s or --%s, not both", *at, o->spec + 2);
  *at = o->spec + 2;
}

/* ----------------------------------------------------------------------------------------------------- options ---- */

#define FORMAT(NAME, number, name) " " name
#define FORMATS (&(GOTRACE_FORMATS(FORMAT))[1]) /* without the first space */

const option options[] = {
    /* The part of the trace. */
    {"--from TIME",
     "start of the range, from the first event (1.5s, 20ms, 300us, or whole nanoseconds without a unit); or wall-clock "
     "time, if the trace "
     "has it, as info shows it: 21:40:05.123, 2026-11-22T21:40:05.123, with a Z in UTC",
     NULL, set_time, SETTING(from), 0},
    {"--to TIME", "end of the range, given likewise", NULL, set_time, SETTING(until), 0},

    /* Filters: see filter.h. */
    {"--go IDS", "only what happens on these goroutines (1,2,3), or creates, unblocks or starts them", NULL, set_text,
     SETTING(by[BY_GO]), 0},
    {"--function NAME",
     "only goroutines that began with a function whose name contains NAME; =NAME: whose whole name is NAME. Of "
     "recorded threads that have names, these count",
     NULL, set_text, SETTING(by[BY_FUNCTION]), 0},
    {"--task ID|NAME",
     "only what goroutines do while their innermost region belongs to the task with this id, or else name", NULL,
     set_text, SETTING(by[BY_TASK]), 0},
    {"--proc IDS", "only what happens on these procs, or concerns them", NULL, set_text, SETTING(by[BY_PROC]), 0},
    {"--thread IDS", "only what happens on these threads", NULL, set_text, SETTING(by[BY_THREAD]), 0},
    {"--kind NAMES", "only events of these kinds, and the times that such events end", NULL, set_text,
     SETTING(by[BY_KIND]), 0},
    {"--reason TEXT", "only what blocks for this reason, and such waits", NULL, set_text, SETTING(by[BY_REASON]), 0},

    {"--jobs N", "read on N threads, a whole trace of Go 1.22 or later; default: one per processor", NULL, set_number,
     SETTING(jobs), 1},

    /* The result. */
    {"-o OUT", "write to the file OUT; without it, or if it is -, to standard output", NULL, set_text, SETTING(output),
     0},
    {"--json", "as JSON; dump writes one object a line", NULL, set_flag, SETTING(json), 0},
    {"--csv", "comma-separated values, a line for each: file,table,name,reason,field,value", NULL, set_flag,
     SETTING(csv), 0},
    {"--brief", "only what stands out, five functions and three reasons of waits", NULL, set_flag, SETTING(brief), 0},
    {"--histogram", "also how the times are distributed", NULL, set_flag, SETTING(histogram), 0},
    {"--details",
     "with --json or --csv, also each goroutine, region and task; their rows wait in files in TMPDIR or /tmp", NULL,
     set_flag, SETTING(details), 0},
    {"--index INDEX", "the index of the trace; without it FILE.gtx, if that is there", NULL, set_text, SETTING(index),
     0},
    {"--wire", "events as they are in the file, in its order", NULL, set_flag, SETTING(wire), 0},
#if !IN_BROWSER
    {"--to FORMAT", "the format of a Go release: 1.8 to 1.21 are v1, 1.22 and later are v2", FORMATS, set_format,
     SETTING(format), 0},
#endif
    {"--chrome", "Chrome's JSON, for ui.perfetto.dev and chrome://tracing", NULL, set_flag, SETTING(chrome), 0},
    {"--perfetto", "Perfetto's protobuf, for ui.perfetto.dev: also a track for each goroutine, and stacks", NULL,
     set_flag, SETTING(perfetto), 0},
    {"--gzip", "compressed by gzip, as ui.perfetto.dev, chrome://tracing and trace_processor read it too", NULL,
     set_flag, SETTING(gzip), 0},
    {"--tables DIR", "tables for SQL, of all FILEs, in the new directory DIR", NULL, set_text, SETTING(tables), 0},
    {"--open",
     "show the page in a browser, that of the variable BROWSER or else of xdg-open; without -o it is a file in TMPDIR "
     "or /tmp",
     NULL, set_flag, SETTING(open), 0},
    {"--no-open", "serve the page without -o, and only print its address", NULL, set_flag, SETTING(no_open), 0},
    {"--pictures", "a page without the trace and its reader, 30 MB at most", NULL, set_flag, SETTING(pictures), 0},
    {"--size BYTES",
     "how large a page with the trace in it may be, at least 2M; default: 30M. Of a larger trace it has the "
     "beginning",
     NULL, set_bytes, SETTING(size), 0},
    {"--data", "not the page, but what its reader makes of the trace: slices, then tables as JSON; for tests", NULL,
     set_flag, SETTING(data), 0},
    {"--lengths FROM-TO",
     "not the page, but how long what begins between these two times lasts, by state, task and region, as JSON; in "
     "nanoseconds; for the page",
     NULL, set_text, SETTING(lengths), 0},
    {"--batches",
     "not the page, but which threads wrote how much when, and where generations begin, as JSON, from Go 1.22 on; "
     "without reading events; for the page",
     NULL, set_flag, SETTING(batches), 0},
    {"--base TIME",
     "FILE is a later part of a trace whose first event was at this time, in nanoseconds of its clock; for the page",
     NULL, set_text, SETTING(base), 0},
    {"--partial", "if the trace is broken, keep what comes before the error", NULL, set_flag, SETTING(partial), 0},
    {"--lenient",
     "accept regions that end out of order, which Go refuses: such an end closes its own region; how many did is "
     "printed on standard error",
     NULL, set_flag, SETTING(lenient), 0},

    /* profile. */
    {"--cpu", "CPU samples, by the stack that was running", NULL, set_profile, SETTING(profile), 0},
    {"--sync", "waits for channels, locks and the like, by the stack that waited", NULL, set_profile, SETTING(profile),
     0},
    {"--network", "waits for the network, by the stack that waited", NULL, set_profile, SETTING(profile), 0},
    {"--blocked", "waits for whatever reason, by the stack that waited", NULL, set_profile, SETTING(profile), 0},
    {"--syscall", "system calls, by the stack that called", NULL, set_profile, SETTING(profile), 0},
    {"--scheduler", "times in which goroutines could have run, by the stack that woke or created them", NULL,
     set_profile, SETTING(profile), 0},
    {"--create", "goroutines, by the stack that created them", NULL, set_profile, SETTING(profile), 0},
    {"--folded", "folded stacks: lines \"a;b;c VALUE\", outermost function first, for flamegraph.pl and speedscope",
     NULL, set_flag, SETTING(folded), 0},

    /* path. */
    {"--task TASK", "the task with this id, or else name; of several with one name, the longest that ends", NULL,
     set_text, SETTING(task), 0},
    {"--go ID", "the goroutine with this id", NULL, set_text, SETTING(go), 0},
    {"--no-return",
     "never go back to a goroutine that waited: follow the one that ended the wait also through what it did before the "
     "wait began",
     NULL, set_flag, SETTING(no_return), 0},

    /* record. */
    {"-o FILE", "write the trace to FILE instead of COMMAND.PID.trace; %p stands for the process id", NULL, set_text,
     SETTING(output), 0},
#if !IN_BROWSER
    {"--format FORMAT", "the format of the trace, default 1.23, with --children 1.25, which has the wall clock",
     FORMATS, set_format, SETTING(format), 0},
#endif
    {"--stacks KIND",
     "unwind: complete (default), except on other processors than x86-64 and arm64 some microseconds each; call-site: "
     "only the caller; frame-pointers: complete for code built with -fno-omit-frame-pointer; none",
     "unwind call-site frame-pointers none", set_choice, SETTING(stacks), 0},
    {"--flight SECONDS", "keep only the last SECONDS in memory, 48 MiB at most; written at the end and on SIGUSR2",
     NULL, set_number, SETTING(flight), 1000},
    {"--paused", "begin at gotrace ctl PID start; the program runs at once", NULL, set_flag, SETTING(paused), 0},
    {"--children",
     "also trace the processes that the program starts, each to a file of its own; gotrace view FILE... shows them on "
     "one time axis",
     NULL, set_flag, SETTING(children), 0},
    {"--sample HZ",
     "take so many CPU samples a second of each thread's CPU time, default 997, in most virtual machines 97, by timers "
     "250",
     NULL, set_number, SETTING(sample), 1},
    {"--no-sample", "take no CPU samples", NULL, set_flag, SETTING(no_sample), 0},
    {"--no-switches", "do not show when a thread has no processor: preempted, or asleep unseen", NULL, set_flag,
     SETTING(no_switches), 0},
    {"--limit BYTES", "end the trace after BYTES (also 10K, 10M, 10G)", NULL, set_bytes, SETTING(limit), 0},
    {"--cut MILLISECONDS", "write at least that often, default 1000: SIGKILL loses what came later", NULL, set_number,
     SETTING(cut), 1},
    {"--min-syscall", "leave out system calls that do not wait", NULL, set_flag, SETTING(only_waits), 0},
    {"--no-symbolize",
     "do not look for lines and inlined callers afterwards, as gotrace symbolize does: once a file for all processes",
     NULL, set_flag, SETTING(no_symbolize), 0},
    {"-q", "print no summary", NULL, set_flag, SETTING(quiet), 0},
};

const size_t option_count = COUNT(options);

/* ---------------------------------------------------------------------------------------------------- commands ---- */

#define PART "--from TIME,--to TIME"
#define FILTER \
  "--go IDS,--function NAME,--task ID|NAME,--proc IDS,--thread IDS,--kind NAMES,--reason TEXT" /* filter.h */

const command commands[] = {
#if !IN_BROWSER
    {.name = "record",
     .arguments = "[OPTIONS] [--] COMMAND ARGS...",
     .summary = "run a program that has threads, and trace it",
     .help =
         "Runs COMMAND with a library preloaded, and writes its trace to COMMAND.PID.trace: threads with their "
         "creators; locks, condition variables, semaphores, barriers, joins; sleeps; poll, select and epoll; network "
         "and pipes; system calls. A wait shows which thread of the program ended it, and a wait for a mutex also who "
         "had it, and where that thread took it. The program's output, exit "
         "status and signals are "
         "unchanged. Afterwards a summary is printed on standard error.\n\n"
         "  gotrace record xz -T2 -k file\n"
         "  gotrace view --open xz.*.trace\n\n"
         "COMMAND must be linked dynamically, with glibc or musl, and may not be setuid. The libraries are looked for "
         "beside the tool and in ../lib/gotrace.\n\n"
         "A trace is a new file that only its owner can read, and replaces an existing FILE. A device, a pipe or your "
         "own symbolic link is written to. What a process starts after it has given up privileges is not traced. The "
         "trace of a process that enters a sandbox (seccomp) goes on, but lacks what the library would have to ask the "
         "system: new threads and processes, who ended waits for pipes and sockets, CPU times. Waits for descriptors "
         "are system calls then.\n\n"
         "Nothing runs in the program but its calls: no thread, no file is open. They write into memory that gotrace "
         "shares, 64 MiB (less where ulimit -f or -v is small), from which it writes the trace. So the trace is "
         "complete however the program ends, but for the last event of each thread; also after SIGKILL or _exit. With "
         "--children each process shares so much of its own; one that cannot is named, and not traced. Its trace is "
         "complete when it ends, even if that is after the command; what goes on in the background, and what it starts "
         "then, is recorded, too. The traces tell which of the other processes ended "
         "a wait for a child, a pipe or a socket. For crashes, Ctrl-C and other signals that end the "
         "program the library has handlers that the program does not see and may replace; they change neither a "
         "signal that is ignored nor the status with which the program ends.\n\n"
         "The kernel tells more (perf events); no code runs in the program for it. CPU samples say where CPU time "
         "goes: see gotrace info and gotrace profile --cpu. The kernel interrupts each "
         "thread that runs and copies its registers and the top 8 KiB of its stack, from which gotrace finds the "
         "callers by .eh_frame; callers beyond that are missing, and those of code that no module contains. Code of "
         "the kernel and that of the dynamic linker before the program starts are not sampled. There are 997 samples a "
         "second of each thread's CPU time, or 97 where it takes long to set a timer, as in most virtual machines: "
         "at each context switch the kernel sets one. --sample HZ sets the number, --no-sample takes none.\n\n"
         "The kernel also tells when a thread loses its processor and gets one (--no-switches: not). Outside of the "
         "waits that the library sees, a thread is then runnable while others have the processors (preempted), and "
         "blocked (off cpu) while it sleeps in what the library does not see: page faults, futexes and system calls of "
         "the program's own, OpenMP. The stack of such a sleep is that of the thread's last sample or call. The time "
         "from a wake-up to the processor counts as blocked. So what runs in the trace did run.\n\n"
         "If the kernel allows no perf events (perf_event_paranoid above 2, as in many containers), the summary says "
         "so. Then timers take the CPU samples, 250 a second, by SIGPROF; none if the program uses that signal, or "
         "with "
         "--no-sample. Without context switches, a thread that runs in the trace may sleep in a system call that the "
         "library does not see: all commands say "
         "that it was not seen waiting. One that is runnable may have slept again after it was woken. The CPU time is "
         "the kernel's count. Threads are grouped by the names that they get (pthread_setname_np, prctl); one that "
         "gets none, or that of the program, goes by the function that it began with.\n\n"
         "The exit status is 127 if COMMAND is not found, 126 if it cannot be executed.",
     .options = "-o FILE,--format FORMAT,--stacks KIND,--flight SECONDS,--paused,--children,--sample "
                "HZ,--no-sample,--no-switches,"
                "--limit BYTES,--cut MILLISECONDS,--min-syscall,--no-symbolize,-q",
     .files = MANY,
     .program = true,
     .run_all = command_record},
    {.name = "ctl",
     .arguments = "PID waits|snapshot|stats|start|stop [-o OUT]",
     .summary = "asks about a program that is recorded now",
     .help =
         "PID is the process id of a program that gotrace record records. The program goes on meanwhile; its "
         "recorder answers, also if the program hangs. Only the same user and root may ask.\n\n"
         "waits: what each thread does or waits for, for how long and where; which thread has a mutex, and where that "
         "took it; a deadlock first. As gotrace waits of the trace.\n\n"
         "snapshot: the trace so far, to OUT; with --flight what is kept.\n\n"
         "stats: numbers of events and threads, memory, what has been lost.\n\n"
         "start: the trace of a program under gotrace record --paused begins, and with --children those of all its "
         "processes, with what each thread does or waits for then.\n\n"
         "stop: the trace ends and is complete, and with --children those of all processes of the recording. They go "
         "on, and what they start then is not recorded. A recording that has been stopped cannot be started again.\n\n"
         "  gotrace record server &\n"
         "  gotrace ctl $(pidof server) waits",
     .options = "-o OUT,--json",
     .files = MANY,
     .run_all = command_ctl},
#endif
    {.name = "info",
     .arguments = "[OPTIONS] FILE...",
     .summary = "what ran, for how long, and what it waited for",
     .help =
         "Prints what is wrong with the program, if anything is, and the arguments that show more of it: a lock that "
         "others waited for, with its holder; goroutines of one place that never end; a channel with one receiver that "
         "is too slow; who stops the world; a task that took far longer than others of its kind, and where its time "
         "went; "
         "procs that were idle while goroutines were ready to run; a collector that takes more than a quarter of the "
         "procs. Then it prints what stands out; when the trace began, if it has the wall clock (from Go 1.25 on); "
         "what goroutines "
         "did, by the function they began with: running, runnable (waiting "
         "for a proc), in system calls, blocked for each reason; the functions in which CPU samples are, alone and "
         "with what they called, if there are 30; tasks and regions by name; the collector's pauses "
         "and the least share of procs that it left to the program; procs, threads, kinds of events. Besides totals "
         "there are average, percentiles and the longest time, and when that began. Percentiles of more than 24 "
         "values may be 0.4 % off; all else is exact, and equal to what Go finds, but for what the manual lists. Of "
         "several "
         "ends of a task the last counts. Times that do not end in the trace or part count to its end, and their "
         "number "
         "is told (\"not ended\"). Tasks that have not ended are listed with the time since their starts. Counters are "
         "those that the program reports by gotrace_count; only values in the part count.\n\n"
         "While the world is stopped nothing runs, so such time is in a column of its own. Waits are also listed by "
         "class, "
         "which the stack tells better than the reason does (Go calls waits for a mutex, a WaitGroup and the collector "
         "\"sync\"), and by the innermost function that is the program's own; and by who had the lock, or did what was "
         "waited for. Who had a lock is found through all hand-overs: if A woke B, which woke C, and both had begun to "
         "wait "
         "before A woke B, then C waited for A first. For what is wrong, and for these lists, the trace is read a "
         "second "
         "time; of a trace of more than 30 million events, the first part.\n\n"
         "  gotrace info --from 1.5s --to 2s --function http app.trace\n"
         "  gotrace info --json app.trace | jq '.functions[0]'\n\n"
         "--json prints one object for each file; its fields are described in examples/gotrace/report/tables.h.",
     .options = PART "," FILTER ",--index INDEX,--brief,--histogram,--json,--csv,--details,--lenient,--jobs N",
     .files = MANY,
     .run = command_info},
    {.name = "diff",
     .arguments = "[OPTIONS] A B",
     .summary = "two traces side by side, what changed beyond noise first",
     .help =
         "Compares how long and how often goroutines ran, waited for procs, were in system calls and blocked, by "
         "function and reason; tasks, regions and pauses by name. The first column is the change of the average, the "
         "second that of the rate, which is the time in a second of trace. A star marks a change beyond noise: it "
         "is more than 2 %, more than 1 ms in a second of trace, and more than blocks of the same trace differ by "
         "chance. Of 370 averages or rates in which nothing changed, about one is marked. What happened once, or in "
         "one block only, is never marked. Times that did not begin or not end in the trace or part are counted, but "
         "are no samples. The program's "
         "counters (gotrace_count) are compared by the means of their values.\n\n"
         "  gotrace diff before.trace after.trace",
     .options = PART "," FILTER ",--json,--jobs N",
     .files = 2,
     .run_all = command_diff},
    {.name = "check",
     .arguments = "FILE...",
     .summary = "whether Go would open it, and if not, why",
     .help =
         "Reads each trace to its end and prints one line: that it is valid, or the first error with its offset and "
         "event. The verdict is that of the reader of Go 1.27. Traces of Go 1.22 and later are decoded on several "
         "threads, a generation on each.",
     .options = "--jobs N",
     .files = MANY,
     .run = command_check},
    {.name = "dump",
     .arguments = "[OPTIONS] FILE",
     .summary = "every event, as text or JSON",
     .help =
         "Prints every event in order of time: nanoseconds from the first event, kind, arguments, stack. With --wire "
         "the events are those in the file, in its order, with batches and tables.",
     .options = PART "," FILTER ",--index INDEX,--wire,--json",
     .run = command_dump},
    {.name = "index",
     .arguments = "[--index INDEX] FILE",
     .summary = "lets --from begin in the middle of a large trace",
     .help =
         "Reads a trace to its end and writes FILE.gtx, or to standard output with --index -: what is known at some of "
         "its moments, at most a sixteenth of its size. With --from TIME, all commands then begin at the last of them "
         "before TIME, and show the same as without an index. Filters find there what is open when a part begins, and "
         "where that began; of a trace with so many task ids, in no order, that they would make the index large, they "
         "read the beginning for --task ID. Where more than 64 MB are read only for what they tell of a part, and "
         "standard error is a terminal, a line there says that an index would help.\n\n"
         "If the trace's size, its first or its last 64 KiB change afterwards, the index is refused. A change in "
         "between is not noticed: then make the index anew.\n\n"
         "  gotrace index app.trace\n"
         "  gotrace profile --sync --from 80s --to 80.01s -o sync.pb app.trace",
     .options = "--index INDEX",
     .run = command_index},
#if !IN_BROWSER
    {.name = "cut",
     .arguments = "[OPTIONS] FILE",
     .summary = "part of it, as a trace",
     .help =
         "Writes a part of a trace, in the same format or the nearest one that can be written: the part between two "
         "times, or only some goroutines. It starts with the state at that moment: goroutines with their statuses and "
         "stacks, collections, sweeps and mark assists in progress, GOMAXPROCS and the heap's size.\n\n"
         "  gotrace cut --from 1.5s --to 1.52s -o part.trace app.trace\n"
         "  gotrace cut --function handle -o handlers.trace app.trace\n\n"
         "Filters select whole goroutines, since a trace with only some events of a goroutine is not valid: a "
         "goroutine "
         "is kept if the filters select any of its events or times in this part. All procs are kept. Everything else "
         "is left out: other goroutines, even those that wake a kept one, and collections that began on them or before "
         "the part. If no kept goroutine runs when a collection ends, a goroutine is added that ends it.\n\n"
         "Not kept are the starts of tasks and regions before the part, and a stopped world that began before it.",
     .result = "a trace",
     .options = PART "," FILTER ",--index INDEX,-o OUT,--partial",
     .needs = PART "," FILTER,
     .run = command_convert},
    {.name = "convert",
     .arguments = "--to FORMAT [-o OUT] FILE",
     .summary = "the same in the format of another release",
     .help =
         "Writes a trace in another format. So today's Go can open a trace of Go 1.5 again, and an older Go one of "
         "today.\n\n"
         "  gotrace convert --to 1.23 -o new.trace old.trace\n\n"
         "What the format does not have is left out and named, with its number, in one line on standard error. "
         "Formats up to 1.21 do not have the durations of system calls that keep their proc (read back, they end at "
         "once), and of the reasons of waits only those of Go 1.5; all others become \"unspecified\". Coroutines came "
         "with 1.23; before, a switch becomes an unblock, a block and a start. 1.22 does not have the names of "
         "goroutines that never run. Experiments came with 1.23, reasons of stopped worlds other than a collection's "
         "with 1.21, CPU samples with 1.19, tasks, regions and logs with 1.11, mark assists with 1.10. GCScanStart "
         "and GCScanDone of Go 1.5 to 1.9 are written in format 1.8; elsewhere they are one stopped world.",
     .result = "a trace",
     .options = "--to FORMAT,-o OUT,--partial",
     .needs = "--to FORMAT",
     .run = command_convert},
    {.name = "export",
     .arguments = "--perfetto|--chrome|--tables DIR [-o OUT] FILE...",
     .summary = "for Perfetto and Chrome, or as tables for SQL",
     .help =
         "Writes a trace in the format of another viewer. Procs are rows on which goroutines are slices; tasks, "
         "regions, collections and stopped worlds have rows of their own; arrows lead from where a goroutine is woken "
         "to where it goes on. --perfetto also shows each goroutine's statuses, with stacks and the reasons of its "
         "waits, and counters of goroutines by status. The heap's size and the program's counters (gotrace_count) are "
         "counters. CPU samples are instants, of their goroutine or else of their proc.\n\n"
         "  gotrace export --perfetto -o app.perfetto-trace app.trace\n"
         "  gotrace export --chrome --from 1s --to 1.5s -o app.json app.trace\n\n"
         "What began before the part is shown from the start of the part on; tasks and regions say how much earlier "
         "they began, or that their start is not in the trace (\"cut\"). A counter has its last value before the part "
         "at the part's start. With a filter, collections, stopped worlds and counters are still those of the whole "
         "trace, except for the program's, which are filtered as logs are. With --lenient, a region is cut in two "
         "where one around it ends.\n\n"
         "--tables writes the traces, one or many, as one set of tables for SQLite, DuckDB, ClickHouse, Spark and "
         "others: DIR, which must be new, gets schema.sql and a CSV file for each table, compressed by gzip. DIR "
         "appears only when it is complete. The column trace tells the traces apart, also in sets that are loaded "
         "together. Times are in nanoseconds from the first event of a trace; began in processes leads to the wall "
         "clock. No cell is NULL: an unknown number is 0 or -1, as described, and an unknown text is empty. Texts are "
         "as in info --csv. Filters select goroutines, slices, regions, events and the program's counters; of tasks "
         "--task selects, and the runtime's counters are those of the whole trace. Sums of slices, goroutines, tasks, "
         "regions and the program's counters are those of "
         "info (a time in syscall is the sum of its syscall and syscall_blocked). The manual in "
         "examples/gotrace/README.md loads the tables and asks six questions.\n\n"
         "  gotrace export --tables monday monday/*.trace\n"
         "  duckdb -c \"FROM 'monday/goroutines.csv.gz' ORDER BY runnable DESC LIMIT 9\"",
     .tables = set_tables,
     .result = "an export",
     .options = "--perfetto,--chrome,--tables DIR,--gzip," PART "," FILTER ",--index INDEX,-o OUT,--partial,--lenient",
     .needs = "--perfetto,--chrome,--tables DIR",
     .files = MANY,
     .run_all = command_export},
#endif
    {.name = "profile",
     .arguments = "KIND [--folded] [-o OUT] FILE",
     .summary = "times and counts by stack, for pprof and flame graphs",
     .help =
         "Writes how often and for how many nanoseconds goroutines were in a state, or how many samples or goroutines "
         "there were, by stack. The format is pprof's, which also speedscope opens, or folded stacks, whose values "
         "are nanoseconds, or for --cpu and --create counts. KIND is one of the first seven options.\n\n"
         "--sync, --network, --blocked, --syscall and --scheduler count all times in the trace or part, also those "
         "that began "
         "before it or do not end in it. The profiles of go tool trace leave these out, and the time from a "
         "goroutine's "
         "creation to its first run. A system call of a v1 trace that has no end counts as a nanosecond.\n\n"
         "  gotrace profile --sync -o sync.pb app.trace; go tool pprof -http : sync.pb\n"
         "  gotrace profile --cpu --folded app.trace | flamegraph.pl >cpu.svg",
     .result = "a profile",
     .options = "--cpu,--sync,--network,--blocked,--syscall,--scheduler,--create,--folded,-o OUT," PART "," FILTER
                ",--index INDEX,--partial,--lenient",
     .needs = "--cpu,--sync,--network,--blocked,--syscall,--scheduler,--create",
     .run = command_profile},
    {.name = "path",
     .arguments = "--task TASK|--go ID [-o OUT] FILE",
     .summary = "the critical path: what a task or goroutine waited for",
     .help =
         "Prints the critical path to the end of a task or goroutine: the chain of running, runnable and blocked "
         "stretches, over all goroutines, that this end waited for. A table adds up the steps by state, reason and the "
         "innermost function that is the program's own, not its library's. Others add up what the task or goroutine "
         "itself waited for, by who had the lock or did it, and the time by regions. Then come the steps; one ends "
         "where a "
         "region begins or ends. While the world is stopped nothing runs: such time is in a line of its own.\n\n"
         "The path is followed backwards. In place of a wait it shows what the goroutine that ended the wait did "
         "meanwhile, whose own waits are replaced in the same way. Where the wait began, it returns to the goroutine "
         "that waited. From a goroutine's first moment it goes to its creator. The path of a task goes back to the "
         "task's start, that of a goroutine to the start of the trace or part. Its steps fill this time without "
         "gaps.\n\n"
         "A wait that the network, a timer or something unknown ended, or that has not ended, stays on the path, as a "
         "wait for \"outside\". So does a wait with the reason \"preempted\", whoever ended it. Within a wait for a "
         "goroutine that became ready for no recorded reason, such as an idle worker that the scheduler started, the "
         "time before stays with the goroutine that waited. If a task ends in another goroutine than it began in, the "
         "path does not return from a wait that the goroutine ended in which it began.\n\n"
         "Each change of state in the trace or part takes 32 bytes of memory, each begin and end of a region 24; there "
         "may "
         "be 2 billion.\n\n"
         "  gotrace path --task request app.trace",
     .options = "--task TASK,--go ID,--no-return,--json,--folded,-o OUT," PART ",--index INDEX,--partial,--lenient",
     .needs = "--task TASK,--go ID",
     .run = command_path},
    {.name = "waits",
     .arguments = "[--to TIME] FILE",
     .summary = "what each goroutine does at the end, or at a moment",
     .help =
         "Prints what each goroutine does at the end of the trace, or at the moment of --to: for how long it has done "
         "it, in which function of the program, and, of a lock in a trace of gotrace record, which thread has it and "
         "where that took it. Of a wait that another process may end (gotrace record --children), and of Python's GIL, "
         "it "
         "tells who ended the last such wait of this thread. Goroutines that do the same are one line, that of the "
         "first. "
         "A deadlock comes first: goroutines each of which waits for a lock that the next one has.\n\n"
         "  gotrace waits server.trace\n"
         "  gotrace waits --to 3.466s server.trace",
     .options = PART ",--json,-o OUT,--partial,--lenient",
     .run = command_waits},
    {.name = "view",
     .arguments = "[-o OUT|--open] FILE...",
     .summary = "a page that shows it, for any browser",
     .help =
         "On a terminal it starts a browser, which shows the trace: in all details, also one of a gigabyte. The page "
         "is served to this computer only (127.0.0.1), below a path that cannot be guessed, until it has been closed "
         "for a minute, or Ctrl-C.\n\n"
         "Elsewhere, and with -o, it writes one HTML file that shows the trace: what is wrong, if something is; "
         "goroutines, procs, threads, tasks and regions over time, who woke whom, the program's counters "
         "(gotrace_count), stacks, a summary and flame graphs. It needs no network and no other file. Press ? in it "
         "for help.\n\n"
         "The page contains the trace, all of it, even if it shows a part, and the reader as WebAssembly. So it shows "
         "all details at every zoom. Of a trace that would not fit into 30 MB, or the BYTES of --size, it contains the "
         "beginning, as many whole generations as fit, and says how to see all. With --pictures, and if a part is "
         "chosen, the first generation does not fit, or the trace is of Go 1.21 or older, it contains pictures made "
         "beforehand instead: the whole, and details down to a zoom level shown on the page. The page that gotrace "
         "help --page prints, gotrace-view.html, opens any trace with all details, also one compressed by gzip: drop "
         "it there.\n\n"
         "Several traces, such as a program's and those of the processes that it started, are below each other on one "
         "time axis: that of the wall clock if all have it (from Go 1.25 on; gotrace record --children, or --format "
         "1.25), "
         "unless they are too far apart to be seen together; else each begins at 0, and the page says so. Each has a "
         "section. Lists and tables "
         "say of which trace an item is, and two kinds of tasks or regions can be compared between traces. A part and "
         "a filter apply to each trace by itself.\n\n"
         "All tables have limits, and the page tells what came later: 200,000 goroutines have rows (the others appear "
         "on procs and threads and in the sums), 50,000 procs and threads, 200,000 regions, tasks, logs and CPU "
         "samples each; 20,000 names have sums of their own.\n\n"
         "What began before the part is shown from the start of the part on, with a jagged edge. With a filter, only "
         "the selected goroutines, tasks and regions have rows, and the picture fits them; procs, threads, the "
         "collector and counters are those of the whole trace, with all other goroutines faint. The program's "
         "counters are filtered as logs are.\n\n"
         "  gotrace view app.trace\n"
         "  gotrace view -o app.html app.trace\n"
         "  gotrace view server.trace client.trace\n"
         "  gotrace view --from 1.5s --to 1.52s -o part.html app.trace",
     .result = "a page",
     .options = PART "," FILTER ",--index INDEX,-o OUT,--open,--no-open,--size BYTES,--pictures,--data,--lengths "
                     "FROM-TO,--batches,--base TIME,--partial,--lenient",
     .files = MANY,
     .run_all = command_view},
#if !IN_BROWSER
    {.name = "symbolize",
     .arguments = "[-o OUT] FILE",
     .summary = "the same with lines, inlined callers and C++ names",
     .help = "Writes a trace with the functions, lines and inlined callers that debug information knows, by "
             "llvm-symbolizer or addr2line, whichever is installed. They read only files that have debug information. "
             "It may be in a file of its own: by build id in /usr/lib/debug, in the cache of debuginfod (nothing is "
             "fetched), or where the program's .gnu_debuglink points. Symbols of such a file are read without a "
             "debugger, too. OUT may be FILE itself.",
     .result = "a trace",
     .options = "-o OUT",
     .run = command_symbolize},
#endif
    {.name = "help",
     .arguments = "[COMMAND]",
     .summary = "what a command does, and its options",
     .help =
         "Prints the commands, or what COMMAND does with its options. Also: --man, the manual page; --page, the page "
         "of gotrace view without a trace, which opens any; --bash, --zsh and --fish, completion for these shells; "
         "--complete WORDS..., what may complete the last word.",
     .run_all = command_help},
};

const size_t command_count = COUNT(commands);

/* --------------------------------------------------------------------------------------------------- searching ---- */

const command *find_command(const char *name) {
  size_t i;
  for (i = 0; i < command_count; i++)
    if (strcmp(name, commands[i].name) == 0) return &commands[i];
  return NULL;
}

size_t option_name_size(const option *o) { return strcspn(o->spec, " "); }

const char *option_value(const option *o) {
  size_t size = option_name_size(o);
  return o->spec[size] ? o->spec + size + 1 : NULL;
}

const option *next_option(const char **at) {
  size_t size, i;
  if (!*at || !**at) return NULL;
  size = strcspn(*at, ",");
  for (i = 0; i < option_count; i++) {
    if (strlen(options[i].spec) != size || strncmp(*at, options[i].spec, size) != 0) continue;
    *at += size + ((*at)[size] == ',');
    return &options[i];
  }
  fail("'%s' is missing in the table of options", *at);
}

const option *find_option(const command *c, const char *name, size_t size) {
  const char *at = c->options;
  const option *o;
  while ((o = next_option(&at)))
    if (option_name_size(o) == size && strncmp(o->spec, name, size) == 0) return o;
  return NULL;
}
