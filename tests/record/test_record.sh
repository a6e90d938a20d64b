#!/usr/bin/env bash
# Tests `gotrace record`.
#
#     tests/record/test_record.sh [--list | NAME...]
#
# Names: waits (every kind of wait, by tests/record/waits.c), waits_musl, samples (of CPU time), ticks (samples by timers, where perf events are forbidden), switches (when a thread has no processor), stacks (alternate and small ones), usage (CPU time), summary, threads_by_name, sandbox, alike (calls that a tracer could change), limits (of file sizes), ends, early (before the trace begins), killed (at random moments), steps (killed after any instruction), control (gotrace ctl), paused (recordings that begin later), stopped (that end sooner), boxes (of children), own (a program with tasks of its own), namespaces (in which a child asks the recorder), situations (programs that begin late, that are not traced, closed standard files, a umask without rights, two recorders with one output, broken pipes, full disks), signals, libraries (that follow each other at an address), descriptors, bad_use, executes (files that
# are no programs), outputs (what is at the trace's path), hostile (children that have given up privileges; needs root),
# children, nested (a recorder that is recorded), processes (that wake each other), names (debug information), unwind (complete stacks), debugger (stacks are gdb's), bytes (what getc costs), jit (names of compiled code), flight, allocators, and programs unaware of the tracer. Each program's output and exit status must be the same with and
# without tracing, no problem may be counted, every thread must have a name, and Go 1.21 and 1.27 must open the traces.
# The default is all. Status 77 if a program is not installed.
set -euo pipefail
cd "$(dirname "$0")/../.."

tool=$PWD/build/examples/gotrace
names="waits waits_musl holders samples ticks switches stacks usage summary threads_by_name sandbox alike limits ends early killed steps crashes control paused stopped boxes own namespaces situations signals libraries descriptors bad_use executes outputs hostile children nested processes names unwind debugger bytes jit flight allocators
  xz pigz zstd lbzip2 pixz plzip ripgrep git_grep python node redis memcached openmp cpp"

[ "${1-}" != --list ] || { echo $names; exit; }
tests/need.sh python3

work=$(mktemp -d)
servers=()
trap 'rm -rf "$work"' EXIT

# What a test that failed has left running.
kill_servers() {
  local server
  for server in ${servers[@]+"${servers[@]}"}; do kill -9 "$server" 2>/dev/null || true; done
}

fail() {
  echo "test_record: $*"
  exit 1
}

skip() {
  echo "test_record: $1 is not installed"
  exit 77
}

need() { command -v "$1" >/dev/null || skip "$1"; }

# Compiles a program of the test: compile COMPILER SOURCE PROGRAM OPTIONS...
compile() { "$1" -O1 -g -rdynamic "$2" -o "$3" "${@:4}" -pthread; }

# judge TRACE ERRORS: the trace is complete, its threads and most frames have names, and no problem was counted.
judge() {
  # On a busy machine the kernel may have no room for a CPU sample, which the trace tells; that is no fault.
  ! grep -q 'ended early\|not traced\|killed\|^gotrace:  *[0-9][0-9]*  ' <(grep -v 'no room for a CPU sample' "$2") ||
    { cat "$2"; fail "$1: problems"; }
  "$tool" check "$1" >"$work/checked" || { cat "$work/checked"; fail "$1: does not pass check"; }
  "$tool" dump --json "$1" | python3 -c '
import json, re, sys
created = named = unnamed = 0
for line in sys.stdin:
    event = json.loads(line)
    for frame in event["args"].get("stack") or []:
        # Functions of the programs that this test compiles; other programs may have no symbols.
        if re.match(r"(waits|ends|program|allocates|openmp|cpp)[+!]0x", frame["function"]): unnamed += 1
        else: named += 1
    if event["event"] != "GoCreate": continue
    created += 1
    stack = event["args"]["new_stack"]
    if not stack or stack[0]["function"] in ("", "unknown", "thread"): sys.exit("a thread has no name: " + line)
if not created: sys.exit("no threads")
if unnamed * 20 > named: sys.exit(f"{unnamed} frames have no function, {named} have one")
' || fail "$1"
}

# open_it TRACE RELEASE [-p]: Go opens the trace. If Go is missing, the test counts as skipped once all else has passed.
lacking=
open_it() {
  local status=0
  tests/go/open_in_go.sh "$1" ${3-} "$2" >"$work/opened" 2>&1 || status=$?
  [ $status != 77 ] || lacking=$(tail -n 1 "$work/opened")
  [ $status = 0 ] || [ $status = 77 ] || { tail -n 20 "$work/opened"; fail "$1: Go $2 does not open it"; }
}

# compare COMMAND...: runs the command untraced and traced, in two formats.
compare() {
  local plain=0 traced format options
  "$@" >"$work/plain" 2>"$work/plain.err" <"${input-/dev/null}" || plain=$?
  while read -r format options; do
    traced=0
    "$tool" record -o "$work/trace.$format" --format "$format" $options -- "$@" >"$work/traced" 2>"$work/traced.err" \
      <"${input-/dev/null}" || traced=$?
    [ $plain = $traced ] || { cat "$work/traced.err"; fail "$1: exit status $traced, not $plain"; }
    ${same-cmp} "$work/plain" "$work/traced" || fail "$1: another output"
    judge "$work/trace.$format" "$work/traced.err"
  done <<<$'1.23 --stacks=unwind\n1.21 --stacks=frame-pointers'
  open_it "$work/trace.1.23" 1.27
  open_it "$work/trace.1.21" 1.21 -p
}

# Makes several megabytes of text.
make_input() {
  local i
  for i in 1 2 3 4; do cat gotrace.h tests/*/*.c tests/*/*.h; done >"$work/input"
}

# threads LEAST: the trace has at least LEAST threads.
threads() {
  local count
  count=$("$tool" dump "$work/trace.1.23" | grep -c ' GoCreate ')
  [ "$count" -ge "$1" ] || fail "$count threads, not $1"
}

# ----------------------------------------------------------------------------------------------------------- waits ----

waits_in() { # waits_in PROGRAM OPTIONS...
  local status=0
  "$tool" record --no-symbolize -o "$work/waits.trace" "${@:2}" "$1" >"$work/waits.out" 2>"$work/waits.err" || status=$?
  [ $status = 3 ] || { cat "$work/waits.err"; fail "$*: exit status $status"; }
  judge "$work/waits.trace" "$work/waits.err"
  tests/record/waits.py "$tool" "$work/waits.trace" "$work/waits.out" || fail "$*"
}

test_waits() {
  compile "${CC-cc}" tests/record/waits.c "$work/waits"
  waits_in "$work/waits"
  waits_in "$work/waits" --format 1.22 --stacks=unwind
  waits_in "$work/waits" --format=1.26 --min-syscall --stacks frame-pointers
}

test_waits_musl() {
  need musl-gcc
  compile musl-gcc tests/record/waits.c "$work/waits"
  waits_in "$work/waits"
  waits_in "$work/waits" --format 1.22 --stacks=frame-pointers
}

# HOLDERS_ROUNDS: how many
test_holders() {
  local compiler program="$work/holders"
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || skip "$compiler"
    compile "$compiler" tests/record/holders.c "$program"
    "$tool" record -q -o "$work/holders.trace" "$program" "${HOLDERS_ROUNDS-500}" >"$work/holders.out" || fail "holders: status $?"
    tests/record/holders.py "$tool" "$work/holders.trace" "$work/holders.out" || fail "holders, $compiler"
  done
}

# takes TRACE: what the kernel has told: "samples", "switches".
takes() {
  "$tool" dump --kind CPUSample "$1" >"$work/dumped"
  "$tool" info "$1" >"$work/said"
  echo $([ ! -s "$work/dumped" ] || echo samples) $(grep -q 'not seen waiting' "$work/said" || echo switches)
}

# check_samples NAME FORMAT HERTZ [SHARE]: NAME.trace has the CPU samples of what samples.c has measured (samples.py), and opens.
check_samples() {
  local trace="$work/$1.trace"
  # Samples may be lost on a busy machine; that counts as a problem.
  grep -v 'problems$\| no room for a CPU sample ' "$work/err" >"$work/other" || true
  judge "$trace" "$work/other"
  tests/record/samples.py "$tool" "$trace" "$work/out" "${@:3}" || fail "$1: format $2"
  "$tool" profile --cpu --folded "$trace" | grep ';work;measure;half [0-9]*$' >"$work/folded" || fail "$1: no profile"
  [ $2 != 1.23 ] || open_it "$trace" 1.27
  [ $2 != 1.21 ] || open_it "$trace" 1.21 -p
}

# Samples and switches are the default, also of children, and of what a program executes in its place.
test_samples() {
  local program="$work/samples" format options wanted
  compile "${CC-cc}" tests/record/samples.c "$program"
  # Where they are forbidden, samples are by timers. The recording goes on without the rest, and does not claim that
  # threads ran.
  for options in '' '--sample 997' --no-sample --no-switches; do
    "$program" --forbid "$tool" record -o "$work/samples.trace" $options "$program" --short >"$work/out" 2>"$work/err" ||
      { cat "$work/err"; fail "samples: forbidden: exit status $?"; }
    case $options in
    --no-sample) wanted='context switches' ;;
    --no-switches) wanted='CPU samples by timers instead of perf events' ;;
    *) wanted='context switches, and CPU samples by timers instead of perf events' ;;
    esac
    [ "$(grep -c "^gotrace: \(no \)*$wanted: Operation not permitted; see " "$work/err")" = 1 ] ||
      { cat "$work/err"; fail "samples: forbidden, $options: not said"; }
    judge "$work/samples.trace" "$work/err"
    [ "$options" = --no-sample ] && wanted='' || wanted=samples
    [ "$(takes "$work/samples.trace")" = "$wanted" ] || fail "samples: forbidden, $options: not '$wanted', or states claimed"
    # How long a thread ran is known even so: its CPU time.
    "$tool" info --json "$work/samples.trace" | python3 -c '
import json, sys
info = json.load(sys.stdin)
told = sorted(f["cpu"] / 1e9 for f in info["functions"] if f["name"] in ("main", "work"))
used = sorted(sum(map(float, line.split()[1::2])) for line in open(sys.argv[1]))
if len(told) != 2 or any(abs(a - b) > 0.05 * b + 0.005 for a, b in zip(told, used)): sys.exit(f"CPU times {told}, not {used}")
' "$work/out" || fail "samples: forbidden, $options"
  done
  "$program" --forbid "$tool" record -q -o "$work/samples.trace" "$program" --short >"$work/out" 2>"$work/err"
  [ ! -s "$work/err" ] || { cat "$work/err"; fail "samples: forbidden: -q is not quiet"; }
  "$program" --forbid "$tool" record -o "$work/samples.trace" --format=1.11 "$program" --short >"$work/out" 2>"$work/err" ||
    { cat "$work/err"; fail "samples: forbidden: 1.11"; }
  judge "$work/samples.trace" "$work/err"
  [ "$(takes "$work/samples.trace")" = '' ] || fail "samples: forbidden: samples in 1.11"
  "$program" --allowed || { echo "test_record: this user may not use perf events"; exit 77; }
  for options in '' --no-sample --no-switches '--no-sample --no-switches' --format=1.11; do
    "$tool" record -o "$work/samples.trace" $options "$program" --short >"$work/out" 2>"$work/err" || fail "samples, $options: exit status $?"
    wanted='samples switches'
    [[ $options != *1.11* && $options != *--no-sample* ]] || wanted=${wanted#samples }
    [[ $options != *--no-switches* ]] || wanted=${wanted%switches}
    [ "$(takes "$work/samples.trace")" = "${wanted% }" ] || { cat "$work/err"; fail "samples, $options: not $wanted"; }
  done
  "$tool" record -q -o "$work/samples.trace" env "$program" --short >"$work/out" || fail "samples: env: exit status $?"
  [ "$(takes "$work/samples.trace")" = 'samples switches' ] || fail "samples: env"
  for format in 1.23 1.21; do
    "$tool" record -o "$work/samples.trace" --format $format --sample 997 "$program" >"$work/out" 2>"$work/err" ||
      { cat "$work/err"; fail "samples: exit status $?"; }
    check_samples samples $format 997
  done
  for options in --exec --fork; do
    rm -f "$work"/child.*
    "$tool" record -q --children --sample 997 -o "$work/child.%p" "$program" $options >"$work/out" 2>"$work/err" ||
      { cat "$work/err"; fail "samples: children: exit status $?"; }
    wanted=$(sed -n 's/^process //p' "$work/out")
    sed -i '/^process /d' "$work/out"
    tests/record/samples.py "$tool" "$work/child.$wanted" "$work/out" 997 || fail "samples: children, $options"
    [ "$(takes "$work/child.$wanted")" = 'samples switches' ] || fail "samples: children, $options: no switches"
  done
  # Processes that take turns on the processors share the kernel's rings, from which each recorder gets what is its own.
  rm -f "$work"/child.*
  "$tool" record -q --children --sample 997 -o "$work/child.%p" "$program" --many >"$work/many" 2>"$work/err" ||
    { cat "$work/err"; fail "samples: many: exit status $?"; }
  [ "$(wc -l <"$work/many")" = 6 ] || fail "samples: many: not three children"
  for wanted in $(cut -d ' ' -f 1 "$work/many" | sort -u); do
    sed -n "s/^$wanted //p" "$work/many" >"$work/out"
    tests/record/samples.py "$tool" "$work/child.$wanted" "$work/out" 997 || fail "samples: many"
    [ "$(takes "$work/child.$wanted")" = 'samples switches' ] || fail "samples: many: no switches"
  done
  # In a namespace of its own, a process has other thread ids than those that the kernel tells: nothing is claimed.
  if unshare -pf true 2>/dev/null; then
    rm -f "$work"/child.*
    "$tool" record -q --children -o "$work/child.%p" unshare -pf "$program" --short >"$work/out" || fail "samples: namespace: status $?"
    [ "$(takes "$work/child.1")" = '' ] || fail "samples: namespace: states claimed"
  fi
}

# The samples that timers take, where perf events are forbidden.
test_ticks() {
  local program="$work/ticks" samples="$work/samples" format options plain traced what
  compile "${CC-cc}" tests/record/ticks.c "$program"
  compile "${CC-cc}" tests/record/samples.c "$samples"
  for format in 1.23 1.21; do
    # The kernel looks at such timers at each of its own ticks only, at least 100 a second.
    "$samples" --forbid "$tool" record -o "$work/ticks.trace" --format $format "$samples" --timers >"$work/out" 2>"$work/err" ||
      { cat "$work/err"; fail "ticks: exit status $?"; }
    check_samples ticks $format 250 0.3
  done
  for options in --exec --fork; do
    rm -f "$work"/child.*
    "$samples" --forbid "$tool" record -q --children -o "$work/child.%p" "$samples" $options >"$work/out" 2>"$work/err" ||
      { cat "$work/err"; fail "ticks: children: exit status $?"; }
    [ "$(takes "$work/child.$(sed -n 's/^process //p' "$work/out")")" = samples ] || fail "ticks: children, $options"
  done
  # The program notices nothing: its output and status are the same.
  for what in uses pending others 'executes 30' 'dies timer' 'dies raise' 'dies own'; do
    plain=0 traced=0
    "$program" $what >"$work/plain" 2>&1 || plain=$?
    "$samples" --forbid "$tool" record -o "$work/ticks.trace" "$program" $what >"$work/traced" 2>"$work/err" || traced=$?
    [ $plain = $traced ] && cmp "$work/plain" "$work/traced" || { cat "$work/err"; fail "ticks: $what: exit status $traced, not $plain"; }
    case $what in
    uses | pending | others) grep -q 'process [0-9]* uses SIGPROF itself' "$work/err" || { cat "$work/err"; fail "ticks: $what: not said"; } ;;
    *) ! grep -q SIGPROF "$work/err" || { cat "$work/err"; fail "ticks: $what: SIGPROF"; } ;;
    esac
  done
  "$samples" --forbid "$tool" record -q -o "$work/ticks.trace" "$program" storm >"$work/out" 2>"$work/err" ||
    { cat "$work/err"; fail "ticks: storm: exit status $?"; }
  [ "$(cat "$work/out")" = many ] || fail "ticks: no storm: $(cat "$work/out")"
  # What is in the help.
  "$samples" --forbid "$tool" record -q -o "$work/ticks.trace" "$program" stack >"$work/out" || fail "ticks: stack: exit status $?"
  [ "$(cat "$work/out")" -le 4096 ] || [ "$(grep -c amx /proc/cpuinfo)" != 0 ] || fail "ticks: $(cat "$work/out") bytes of a stack"
}

test_switches() {
  local program="$work/switches" samples="$work/samples" format part said
  compile "${CC-cc}" tests/record/switches.c "$program"
  compile "${CC-cc}" tests/record/samples.c "$samples"
  "$samples" --allowed || { echo "test_record: this user may not use perf events"; exit 77; }
  for format in 1.23 1.21; do
    "$tool" record -o "$work/switches.trace" --format $format --sample 997 "$program" >"$work/out" 2>"$work/err" ||
      { cat "$work/err"; fail "switches: exit status $?"; }
    # As for samples.
    grep -v 'problems$\| no room for a CPU sample ' "$work/err" >"$work/other" || true
    judge "$work/switches.trace" "$work/other"
    said=0
    tests/record/switches.py "$tool" "$work/switches.trace" "$work/out" || said=$?
    [ $said != 77 ] || exit 77
    [ $said = 0 ] || fail "switches: format $format"
    "$tool" cut --to 900ms -o "$work/part.trace" "$work/switches.trace"
    for part in "$work/switches.trace" "$work/part.trace"; do
      "$tool" info "$part" >"$work/said"
      ! grep -q 'not seen waiting' "$work/said" || { cat "$work/said"; fail "switches: $part, format $format: states are not claimed"; }
      # Which of them ran most, the machine decides.
      head -n 1 "$work/said" | grep -q '^[a-z_]* waited .* for a processor, and ran \|^[a-z_]* is busiest: it ran ' &&
        tests/tool/commands_agree.py "$tool" "$part" >>"$work/said" || { cat "$work/said"; fail "switches: $part, format $format: headline"; }
    done
    [ $format != 1.23 ] || open_it "$work/switches.trace" 1.27
    [ $format != 1.21 ] || open_it "$work/switches.trace" 1.21 -p
  done
}

test_stacks() {
  local compiler way options
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/stacks.c "$work/stacks"
    for way in handler coroutine small cancel; do
      for options in --stacks=frame-pointers --stacks=unwind; do
        # The first two have code that the unwinder cannot know; musl has no unwinder.
        case $compiler$way$options in *handler*unwind | *coroutine*unwind | musl*unwind) continue ;; esac
        "$tool" record $options -o "$work/stacks.trace" "$work/stacks" $way >"$work/traced" 2>"$work/err" ||
          { cat "$work/err"; fail "$compiler, stacks $way, $options: exit status $?"; }
        grep -q "$way done" "$work/traced" || fail "$compiler, stacks $way, $options: another output"
        judge "$work/stacks.trace" "$work/err"
        has_thread "$work/stacks.trace" last_thing
      done
    done
  done
}

test_usage() {
  local compiler format jobs
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/usage.c "$work/usage"
    for format in 1.21 1.23; do
      "$tool" record --no-switches --format $format -o "$work/usage.trace" "$work/usage" 2>"$work/err" || fail "usage: $?"
      judge "$work/usage.trace" "$work/err"
      for jobs in 1 2; do
        "$tool" info --json --jobs $jobs "$work/usage.trace" | python3 -c '
import json, sys
info = json.load(sys.stdin)
cpu = {f["name"]: f["cpu"] for f in info["functions"]}
least = {"spins": 50000000, "goes_on": 50000000, "main": 50000000, "sleeps_again": 1}
if any(cpu.get(name, 0) < time for name, time in least.items()): sys.exit(f"CPU times {cpu}, not at least {least}")
if cpu["sleeps_again"] >= 50000000: sys.exit(f"sleeps_again: a CPU time of {cpu}")
if "for a proc" in info["trace"]["stands_out"] or "CPU time" not in info["trace"]["stands_out"]: sys.exit(info["trace"]["stands_out"])
' || fail "$compiler, usage, $format"
      done
    done
  done
}

# The summary says only what is known: a thread that sleeps in a system call of its own does not run. The thread with most
# CPU time comes first.
test_summary() {
  compile "${CC-cc}" tests/record/usage.c "$work/usage"
  "$tool" record --no-sample --no-switches -o "$work/usage.trace" "$work/usage" >"$work/traced" 2>"$work/err" || fail "summary: $?"
  ! grep -q ' ran \| running' "$work/err" || { cat "$work/err"; fail "summary: says that a thread ran"; }
  grep -q '^      count    CPU time  not seen waiting ' "$work/err" && head -n 1 "$work/err" | grep -q 'has most CPU time' ||
    { cat "$work/err"; fail "summary: CPU time does not come first"; }
  sed -n '/^      count    CPU time/,/^$/p' "$work/err" | sed -n 2p | grep -q "  $(head -n 1 "$work/err" | cut -d ' ' -f 1)$" ||
    { cat "$work/err"; fail "summary: the first row is not the thread with most CPU time"; }
  tail -n 1 "$work/err" | grep -q "gotrace view --open $work/usage.trace" || { cat "$work/err"; fail "summary: its last line"; }
  # Of a program that hardly runs, the first line tells what it waits for.
  "$tool" record -o "$work/idle.trace" sh -c 'sleep 2; exit 0' 2>"$work/err" || fail "summary of an idle program: $?"
  head -n 1 "$work/err" | grep -q '^main was blocked .* for: child process; it ran \|^main has most CPU time, .*: child process$' ||
    { cat "$work/err"; fail "summary: not what an idle program waits for"; }
  tests/tool/commands_agree.py "$tool" "$work/idle.trace" >"$work/out" || { cat "$work/out"; fail "summary: headline"; }
  # One line tells of --children, where that would show more.
  local options command hints
  while IFS='|' read -r hints options command; do
    "$tool" record $options -o "$work/hint.trace" sh -c "$command" 2>"$work/err" || fail "summary of $command: $?"
    [ "$(grep -c '^It mostly waited for child processes, which gotrace record --children records\.$' "$work/err")" = $hints ] &&
      tail -n 1 "$work/err" | grep -q 'gotrace view --open' || { cat "$work/err"; fail "summary of $options $command: not $hints hints"; }
  done <<'END'
1||sleep 0.1; true
0||exec sleep 0.1
0|--children|exec sleep 0.1
END
}

# Threads go by the names that they get, those that get none or that of the program by their functions.
test_threads_by_name() {
  local compiler format
  by_name() { # by_name WANTED: the rows of info
    [ "$("$tool" info --json "$work/named.trace" | python3 -c '
import json, sys
print(*sorted("%s:%d" % (row["name"], row["count"]) for row in json.load(sys.stdin)["functions"]))')" = "$1" ] ||
      { "$tool" info --brief "$work/named.trace"; fail "threads are not by name"; }
  }
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/named.c "$work/named"
    for format in 1.21 1.23; do
      "$tool" record --format $format -o "$work/named.trace" "$work/named" 2>"$work/err" || { cat "$work/err"; fail "named: $?"; }
      judge "$work/named.trace" "$work/err"
      # v1 shows a name only after the thread's next wait.
      by_name "$([ $format = 1.21 ] || echo 'at_end:1 ')by_main:1 disk:1 main:1 net:2 worker:$([ $format = 1.21 ] && echo 3 || echo 2)"
    done
  done
  # All threads of Python begin with one function.
  printf '%s\n' 'import ctypes, threading, time' 'name = ctypes.CDLL(None).pthread_setname_np' 'def work():' \
    '  name(ctypes.c_ulong(threading.get_ident()), threading.current_thread().name.encode())' '  time.sleep(0.001); time.sleep(0.001)' \
    'for thread in [threading.Thread(target=work, name=name) for name in ("load", "save", "save")]: thread.start()' >"$work/named.py"
  need /usr/bin/python3
  "$tool" record -q --no-symbolize -o "$work/named.trace" /usr/bin/python3 "$work/named.py" || fail "named.py: $?"
  by_name 'load:1 main:1 save:2'
}

# What the threads did after the process had entered the sandbox is in the trace.
sandbox_trace() { # sandbox_trace TRACE [complete]: the stacks are
  judge "$1" <(grep -v 'has entered a sandbox' "$work/err")
  has_thread "$1" last_thing
  "$tool" dump --json "$1" | python3 -c '
import json, sys
counts, short = {}, 0
for line in sys.stdin:
    event = json.loads(line)
    stack = event["args"].get("stack") or []
    if event["event"] != "GoSyscallBegin" or len(stack) < 2 or stack[1]["function"] != "after_entering": continue
    counts[event["g"]] = counts.get(event["g"], 0) + 1
    short += not {"main", "one", "two"} & {frame["function"] for frame in stack}
if sorted(counts.values()) != [2, 16000, 16000]: sys.exit(f"after entering: {counts}")
if short and sys.argv[1] == "complete": sys.exit(f"{short} stacks are not complete")
' "${2-}"
}

test_sandbox() {
  local compiler way plain traced options
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/sandbox.c "$work/sandbox"
    for way in strict filter returns fails; do
      plain=0
      "$work/sandbox" $way >"$work/plain" </dev/null || plain=$?
      [ $plain = 4 ] || { echo "test_record: no sandbox here: $way, status $plain"; exit 77; }
      for options in '' --children '--flight 1000' --stacks=frame-pointers; do
        [ $compiler != musl-gcc ] || [ ! "$options" ] || continue
        traced=0
        "$tool" record $options -o "$work/sandbox.trace" "$work/sandbox" $way >"$work/traced" 2>"$work/err" </dev/null || traced=$?
        [ $traced = 4 ] || { cat "$work/err"; fail "$compiler, sandbox $way $options: exit status $traced"; }
        cmp "$work/plain" "$work/traced" || fail "$compiler, sandbox $way $options: another output"
        [ "$(grep -c 'has entered a sandbox' "$work/err")" = $([ $way = fails ] && echo 0 || echo 1) ] ||
          { cat "$work/err"; fail "$compiler, sandbox $way $options: does not say what the trace lacks"; }
        sandbox_trace "$work/sandbox.trace" $([ $compiler = musl-gcc ] || [ "$options" ] || echo complete) || fail "$compiler, sandbox $way $options"
        rm -f "$work"/sandbox*.trace
      done
      # With little memory, threads have to wait for the recorder, without a call for it.
      traced=0
      (ulimit -f 2048; exec "$tool" record -o "$work/sandbox.trace" "$work/sandbox" $way) >"$work/traced" 2>"$work/err" </dev/null || traced=$?
      [ $traced = 4 ] || { cat "$work/err"; fail "$compiler, sandbox $way, little memory: exit status $traced"; }
      sandbox_trace "$work/sandbox.trace" || fail "$compiler, sandbox $way, little memory"
    done
  done
}

# What a thread of the library, a call that is tried first, or the preloaded library itself could change.
test_alike() {
  local compiler way options plain traced file
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/alike.c "$work/alike"
    # A root directory with the program and its libraries, but without the preloaded one.
    mkdir "$work/root"
    cp "$work/alike" "$work/root"
    for file in $(ldd "$work/alike" 2>&1 | grep -o '/[^ :]*') /lib/ld-musl-*; do
      [ ! -f "$file" ] || cp -L --parents "$file" "$work/root"
    done
    for way in cancel times clone bare capabilities signal namespaces "root $work/root"; do
      plain=0
      "$work/alike" $way >"$work/plain" 2>&1 || plain=$?
      for options in '' --children '--flight 1000'; do
        traced=0
        timeout 60 "$tool" record -q $options -o "$work/alike.trace" "$work/alike" $way >"$work/traced" 2>&1 || traced=$?
        [ $plain = $traced ] || { cat "$work/traced"; fail "$compiler, alike $way $options: exit status $traced, not $plain"; }
        cmp "$work/plain" "$work/traced" || { cat "$work/traced"; fail "$compiler, alike $way $options: another output"; }
        rm -f "$work"/alike*.trace
      done
    done
    rm -rf "$work/root"
  done
}

# A limit of file sizes is one of shared memory, too. A program that cannot be traced after exec is named.
test_limits() {
  local status=0 trace
  compile "${CC-cc}" tests/record/ends.c "$work/ends"
  (ulimit -f 2048; "$tool" record -o "$work/limits.trace" "$work/ends" exit 2>&1 >"$work/traced" | cat >"$work/err"; exit ${PIPESTATUS[0]}) || status=$?
  [ $status = 2 ] || { cat "$work/err"; fail "limits: exit status $status"; }
  [ "$(cat "$work/traced")" = "$("$work/ends" exit)" ] || fail "limits: another output"
  status=0
  (ulimit -f 1; "$tool" record -o "$work/limits.trace" "$work/ends" exit 2>&1 | cat >"$work/err"; exit ${PIPESTATUS[0]}) || status=$?
  [ $status = 1 ] && grep -q 'ulimit -f' "$work/err" || { cat "$work/err"; fail "limits: status $status"; }
  # The memory of a child may be limited, and that of the recorder not.
  "$tool" record --children -o "$work/few.trace" bash -c "ulimit -v 20000; '$work/ends' exit; exit 2" >"$work/traced" 2>"$work/err" || [ $? = 2 ] || fail "limits: of a child"
  ! grep -q 'not traced' "$work/err" || { cat "$work/err"; fail "limits: a child whose memory is limited"; }
  for trace in "$work"/few.*.trace; do "$tool" dump "$trace"; done | grep last_thing >/dev/null || fail "limits: a child without its trace"
  echo 'int main(void) { return 0; }' >"$work/program.c"
  "${CC-cc}" -static "$work/program.c" -o "$work/static"
  "$tool" record -o "$work/limits.trace" sh -c "exec $work/static" 2>"$work/err" || fail "limits: exec of a static program"
  grep -q 'process .* is not traced any more: it has executed' "$work/err" || { cat "$work/err"; fail "limits: does not say that exec ends the trace"; }
}

# ------------------------------------------------------------------------------------------------------------ ends ----

# A killed program may leave an incomplete generation at the end of its trace: PARTIAL.
has_thread() { # has_thread TRACE FUNCTION [PARTIAL]
  { "$tool" dump --json "$1" 2>"$work/dumped" || [ "${3-}" ]; } | grep "\"event\":\"GoCreate\".*\"new_stack\":\[{\"pc\":[0-9]*,\"function\":\"$2\"" >/dev/null ||
    fail "$1 has no thread $2"
}

# Of a program that ends before its trace begins, the summary says how it ended, and no file is left.
test_early() {
  local way status said options result
  compile "${CC-cc}" tests/record/early.c "$work/early"
  while IFS=, read -r way status said; do
    for options in '' --children; do
      result=0
      { (ulimit -c 0; "$tool" record $options -o "$work/early.trace" "$work/early" $way 2>"$work/err"); } 2>/dev/null || result=$?
      [ $result != 77 ] || { echo 'test_record: no sandbox here'; exit 77; }
      [ $result = $status ] || { cat "$work/err"; fail "early $way $options: status $result, not $status"; }
      grep -q "$said" "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] || { cat "$work/err"; fail "early $way $options: does not say '$said'"; }
      [ -z "$(find "$work" -name 'early*.trace*')" ] || { ls "$work"; fail "early $way $options: a file is left"; }
    done
  done <<'END'
kill,137,^gotrace: .*/early was killed by signal 9 (Killed) before the recorder's library began in it: it has no trace$
exit,3,^gotrace: .*/early ended with status 3, and the recorder's library did not begin in it: it has no trace$
starts,159,^gotrace: process [0-9]* was killed by a signal while its trace began: it has no trace$
END
  # The same where another program executes it.
  result=0
  { "$tool" record -o "$work/early.trace" sh -c "exec $work/early kill" 2>"$work/err"; } 2>/dev/null || result=$?
  [ $result = 137 ] && grep -q 'was killed by a signal, with which the trace ends' "$work/err" && ! grep -q 'not traced' "$work/err" ||
    { cat "$work/err"; fail "early kill, executed: status $result"; }
  result=0
  { (ulimit -c 0; "$tool" record --children -o "$work/early.%p.trace" sh -c "$work/early starts; exit 5" 2>"$work/err"); } 2>/dev/null || result=$?
  [ $result = 5 ] && grep -q 'process [0-9]* ended while its trace began: it has no trace' "$work/err" && [ "$(ls "$work"/early.*.trace | wc -l)" = 1 ] ||
    { ls "$work"; cat "$work/err"; fail "early starts, a child: status $result"; }
}

# KILLED_RUNS: how many
test_killed() {
  compile "${CC-cc}" tests/record/killed.c "$work/killed"
  python3 tests/record/killed.py "$tool" "$work/killed" "${KILLED_RUNS-100}" "$work/killed.trace"
  tests/go/open_in_go.sh "$work/killed.trace" >"$work/opened" 2>&1 || [ $? = 77 ] || { cat "$work/opened"; fail "Go does not open it"; }
  # A recorder, which shares the kernel's rings with the others, is killed; they go on, and so do all programs.
  local process recorder server writer='' tries=0
  head -c 48 /dev/zero | tee "$work/log.1" "$work/log.2" >"$work/log.3"
  # shellcheck disable=SC2016 # $0 and $1 are that shell's
  "$tool" record --children -o "$work/left.%p.trace" sh -c 'for i in 1 2 3; do (until [ -e "$1/enough" ]; do "$0" "$1/log.$i" _exit 300000; done) & done; wait' \
    "$work/killed" "$work" 2>"$work/err" &
  recorder=$!
  servers+=("$recorder")
  until [ "$writer" ]; do # that of one of the shells, which go on
    [ $((tries += 1)) -lt 200 ] || fail "killed: no recorder beside the first"
    server=$(pgrep -x -P "$recorder" gotrace || true)
    process=$(pgrep -P "$(pgrep -x -P "$recorder" sh || echo 0)" | tail -n 1 || true)
    for writer in $(pgrep -x -P "${server:-0}" gotrace || true) ''; do
      if [ ! "$writer" ] || grep "^Pid:.*[^0-9]${process:-none}$" "/proc/$writer/fdinfo/"* >"$work/found" 2>/dev/null; then break; fi
    done
    sleep 0.1
  done
  kill -9 "$writer"
  sleep 1
  touch "$work/enough"
  wait "$recorder" || { cat "$work/err"; fail "killed: a recorder: status $?"; }
  servers=()
  [ "$(grep -c ": the recorder of process $process was killed: the trace ends where it was written last$" "$work/err")" = 1 ] ||
    { cat "$work/err"; fail "killed: a recorder: not said"; }
  rm "$work/left.$process.trace"
  [ "$(ls "$work"/left.*.trace | wc -l)" -ge 6 ] || { cat "$work/err"; fail "killed: a recorder: traces are missing"; }
  "$tool" check "$work"/left.*.trace >"$work/said" || { cat "$work/said" "$work/err"; fail "killed: a recorder: another one's trace"; }
}

# STEPS_RUNS: how many
test_steps() {
  compile "${CC-cc}" tests/record/steps.c "$work/steps"
  python3 tests/record/steps.py "$tool" "$work/steps" "${STEPS_RUNS-60}" "$work/steps.trace"
  tests/go/open_in_go.sh "$work/steps.trace" >"$work/opened" 2>&1 || [ $? = 77 ] || { cat "$work/opened"; fail "Go does not open it"; }
}

# The trace tells where a program crashed, and the program ends as without the tracer.
test_crashes() {
  local how options signal status
  compile "${CC-cc}" tests/record/crashes.c "$work/crashes"
  for how in segv,SIGSEGV,139 null,SIGSEGV,139 fpe,SIGFPE,136 ill,SIGILL,132 abort,SIGABRT,134; do
    IFS=, read -r how signal status <<<"$how"
    for options in '' --flight=1000; do
      result=0
      (ulimit -c 0; "$tool" record -q -o "$work/crashes.trace" $options "$work/crashes" "$how") 2>"$work/traced.err" || result=$?
      [ $result = $status ] || fail "crash by $how, $options: status $result"
      "$tool" info "$work/crashes.trace" >"$work/said"
      grep -q "^1. the program crashed by $signal in crash_here (crashes.c:[0-9]*), in goroutine [0-9]* (crashing)$" "$work/said" ||
        { cat "$work/said"; fail "crash by $how, $options: info"; }
      "$tool" dump --json "$work/crashes.trace" | python3 -c '
import json, sys
logs = [json.loads(line) for line in sys.stdin if "gotrace record: crashed by" in line]
(frames,) = [[frame["function"] for frame in log["args"]["stack"]] for log in logs if log["event"] == "UserLog"]
at = frames.index("crash_here")
assert frames[at:at + 3] == ["crash_here", "on_the_way", "crashing"] and at <= 5, frames
' || fail "crash by $how, $options: its stack"
    done
  done
}

# A program that hangs can be asked what it waits for; and its trace says it, after SIGKILL.
test_control() {
  local pid='' tries=0 recorder ask="$tool ctl"
  compile "${CC-cc}" tests/record/deadlock.c "$work/deadlock"
  "$tool" record -q -o "$work/deadlock.trace" "$work/deadlock" &
  recorder=$!
  servers+=("$recorder")
  until [ "$pid" ] && $ask "$pid" waits --json >"$work/said" 2>&1 && grep -q '"deadlock": \[[0-9]*, [0-9]*\]' "$work/said"; do
    [ $((tries += 1)) -lt 100 ] || { cat "$work/said"; fail "control: no deadlock"; }
    pid=$(pgrep -x -P "$recorder" deadlock || true)
    sleep 0.1
  done
  servers+=("$pid")
  sleep 0.2
  $ask "$pid" waits >"$work/waits"
  grep -q '^deadlock: goroutine [0-9]* (one) waits in take_second (deadlock.c:[0-9]*) for a lock that goroutine [0-9]* took in take_second' "$work/waits" ||
    { cat "$work/waits"; fail "control: waits"; }
  grep -q '^ *1 *[0-9.]* m\?s *[0-9]* *mutex *two, in take_first (.*); goroutine [0-9]* has it, taken in take_first' "$work/waits" ||
    { cat "$work/waits"; fail "control: a wait of less than a millisecond"; }
  $ask "$pid" stats >"$work/said"
  grep -q '^threads      3$' "$work/said" || { cat "$work/said"; fail "control: stats"; }
  $ask "$pid" snapshot -o "$work/snapshot.trace"
  "$tool" check "$work/snapshot.trace" >/dev/null || fail "control: snapshot"
  ! $ask "$pid" snapshot >"$work/said" 2>&1 || fail "control: a snapshot to nowhere"
  ! $ask $$ waits >"$work/said" 2>&1 || fail "control: of a process that is not recorded"
  grep -q "process $$ is not recorded by gotrace record" "$work/said" || fail "control: $(cat "$work/said")"
  ! $ask "$recorder" waits >"$work/said" 2>&1 && grep -q "process $recorder is the recorder: .* is process $pid" "$work/said" || fail "control: $(cat "$work/said")"
  ! $ask 4194305 waits >"$work/said" 2>&1 && grep -q 'there is no process 4194305' "$work/said" || fail "control: $(cat "$work/said")"
  if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    ! setpriv --reuid 65534 --clear-groups -- $ask "$pid" stats >"$work/said" 2>&1 || fail "control: by another user"
    grep -q 'only its own user and root may ask' "$work/said" || { cat "$work/said"; fail "control: what another user is told"; }
  fi
  kill -9 "$pid"
  wait "$recorder" || true
  servers=()
  "$tool" info "$work/deadlock.trace" >"$work/said"
  grep -q '^1\. deadlock: ' "$work/said" || { cat "$work/said"; fail "control: after SIGKILL"; }
}

test_ends() {
  local way plain traced compiler options
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/ends.c "$work/ends"
    for way in return exit _exit _Exit quick_exit exit_group thread thread_exits pthread_exit waits fork handler_forks handled_crash exec exec_fails; do
      plain=0 traced=0
      "$work/ends" $way >"$work/plain" || plain=$?
      timeout 60 "$tool" record -o "$work/ends.trace" "$work/ends" $way >"$work/traced" 2>"$work/traced.err" || traced=$?
      [ $plain = $traced ] || { cat "$work/traced.err"; fail "$compiler $way: exit status $traced, not $plain"; }
      cmp "$work/plain" "$work/traced" || fail "$way: another output"
      judge "$work/ends.trace" "$work/traced.err"
      [ $way = exec ] || has_thread "$work/ends.trace" last_thing # exec leaves the trace of the executed program
      [ $way != waits ] || has_thread "$work/ends.trace" waits_for_ever # after waits that a longjmp has ended
      rm -f "$work"/ends*.trace
    done
    # A crash ends the trace, and the flight recorder; neither keeps a process alive whose threads have ended.
    for way in crash restored_crash returning_crash once_crash old_once_crash late_crash many_crashes thread_exits pthread_exit; do
      for options in '' '--flight 1000' --children; do
        plain=0 traced=0
        (ulimit -c 0; "$work/ends" $way) >"$work/plain" 2>/dev/null || plain=$?
        (ulimit -c 0; timeout 60 "$tool" record $options -o "$work/ends.trace" "$work/ends" $way) >"$work/traced" 2>"$work/traced.err" ||
          traced=$?
        [ $plain = $traced ] || { cat "$work/traced.err"; fail "$compiler $way $options: exit status $traced, not $plain"; }
        cmp "$work/plain" "$work/traced" || fail "$way: another output"
        [[ $way != *crash* ]] || grep -q 'was killed by a signal, with which the trace ends' "$work/traced.err" ||
          { cat "$work/traced.err"; fail "$way $options: the trace does not end with the crash"; }
        has_thread "$work/ends.trace" last_thing
        [ $way != late_crash ] || "$tool" info --json "$work/ends.trace" | python3 -c '
import json, sys
cpu = {f["name"]: f["cpu"] for f in json.load(sys.stdin)["functions"]}
if cpu.get("computes", 0) < 150000000: sys.exit(f"the trace does not reach the crash: CPU times {cpu}")
' || fail "$compiler $way $options"
        rm -f "$work"/ends*.trace
      done
    done
    # While the trace of a crash ends, no other end of the process comes before the signal. musl has no such lock.
    for way in exit _exit quick_exit exit_group exec abort; do
      [ "$compiler" != musl-gcc ] || break
      traced=0
      (ulimit -c 0; timeout 60 "$tool" record -o "$work/ends.trace" "$work/ends" after_crash $way) >"$work/traced" 2>"$work/traced.err" ||
        traced=$?
      [ $traced = 139 ] || { cat "$work/traced.err"; fail "$compiler, $way after a crash: exit status $traced"; }
      [ "$(cat "$work/traced")" = after_crash ] || fail "$way after a crash: another output"
      rm -f "$work"/ends*.trace
    done
    for way in abort kill; do
      traced=0
      (ulimit -c 0; timeout 60 "$tool" record --cut 20 -o "$work/ends.trace" "$work/ends" $way "$work/ends.trace") \
        >"$work/traced" 2>"$work/traced.err" || traced=$?
      [ $traced = $([ $way = abort ] && echo 134 || echo 137) ] || fail "$way: exit status $traced"
      grep -q 'was killed' "$work/traced.err" || fail "$way: the summary does not say that it was killed"
      has_thread "$work/ends.trace" last_thing partial
      tests/go/open_in_go.sh --killed "$work/ends.trace" >"$work/opened" 2>&1 || [ $? = 77 ] || fail "$way: Go does not open it"
      rm -f "$work"/ends*.trace
    done
  done
  # A program that is killed before the first cut leaves a whole trace.
  "$tool" record --cut 1000000 -o "$work/ends.trace" sh -c 'kill -9 $$' 2>"$work/traced.err" || true
  "$tool" info "$work/ends.trace" >"$work/traced" && grep -q ' main$' "$work/traced" ||
    { cat "$work/traced"; fail "the trace of a program that is killed at once"; }
  # The command passes signals on to the program, and dies by the same signal.
  rm "$work/ends.trace"
  "$tool" record -q -o "$work/ends.trace" sleep 1000 2>"$work/traced.err" & traced=$!
  servers+=($traced)
  until [ -s "$work/ends.trace" ]; do sleep 0.05; done
  kill -TERM $traced
  plain=0
  wait $traced || plain=$?
  [ $plain = 143 ] || fail "terminated: exit status $plain, not 143"
}

# A signal that ends the program ends its trace first: whoever sends it, from whichever thread it takes, with --children
# and the flight recorder. What the program does about the signal itself, or inherits, stays as it is.
test_signals() {
  local compiler number setting plain traced options by
  local defaults=(env --default-signal) # the test itself may have inherited ignored signals, as from nohup
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/ends.c "$work/ends"
    by=("${defaults[@]}")
    signal_ends() { # signal_ends NUMBER SETTING TEXT OPTIONS...: TEXT is in the summary
      plain=0 traced=0
      { (ulimit -c 0; "${by[@]}" "$work/ends" signal $1 "$2") >"$work/plain"; } 2>/dev/null || plain=$?
      { (ulimit -c 0; timeout 60 "${by[@]}" "$tool" record "${@:4}" -o "$work/ends.trace" "$work/ends" signal $1 "$2") \
        >"$work/traced" 2>"$work/traced.err"; } 2>/dev/null || traced=$?
      [ $plain = $traced ] || { cat "$work/traced.err"; fail "$compiler, signal $*: exit status $traced, not $plain"; }
      cmp "$work/plain" "$work/traced" || fail "$compiler, signal $*: another output"
      grep -q "$3" "$work/traced.err" || { cat "$work/traced.err"; fail "$compiler, signal $*: does not say '$3'"; }
      has_thread "$work/ends.trace" last_thing
      "$tool" check "$work/ends.trace" >/dev/null || fail "$compiler, signal $*: the trace does not pass check"
      rm -f "$work"/ends*.trace
    }
    # HUP INT QUIT USR1 USR2 PIPE ALRM TERM XCPU XFSZ VTALRM PROF POLL
    for number in 1 2 3 10 12 13 14 15 24 25 26 27 29; do
      signal_ends $number '' 'was killed by a signal, with which the trace ends' --no-symbolize
    done
    for setting in handled restored waited_for; do signal_ends 15 $setting . ; done
    by=(sh -c 'trap "" INT HUP; exec "$@"' sh) # as nohup, and a shell's background jobs
    for number in 1 2; do signal_ends $number ignored . ; done
    by=("${defaults[@]}")
    for number in 2 15; do
      for options in --children '--flight 1000'; do signal_ends $number '' 'with which the trace ends' $options; done
    done
  done
  # A pool of processes ends its workers by SIGTERM.
  printf '%s\n' 'import multiprocessing, time' 'def work(number): time.sleep(0.002); return number' \
    'if __name__ == "__main__":' '  with multiprocessing.get_context("fork").Pool(3) as pool: print(sum(pool.map(work, range(60), 1)))' >"$work/pool.py"
  need /usr/bin/python3
  [ "$("${defaults[@]}" "$tool" record --children --no-symbolize -o "$work/pool.%p.trace" /usr/bin/python3 "$work/pool.py" 2>"$work/err")" = 1770 ] ||
    { cat "$work/err"; fail "pool: another output"; }
  [ "$(ls "$work"/pool.*.trace | wc -l)" = 4 ] || { cat "$work/err"; fail "pool: not four traces"; }
  traced=0
  for setting in "$work"/pool.*.trace; do
    "$tool" check "$setting" >/dev/null || fail "pool: $setting does not pass check"
    traced=$((traced + $("$tool" dump "$setting" | grep -c 'GoBlock.*sleep')))
  done
  [ $traced = 60 ] || fail "pool: $traced sleeps in the traces, not 60"
}

test_libraries() {
  local library compiler
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/libraries.c "$work/libraries"
    for library in a b; do
      compile "$compiler" tests/record/libraries.c "$work/library_$library" -DLIBRARY=$library -shared -fPIC
    done
    "$tool" record -o "$work/libraries.trace" "$work/libraries" "$work/library_a" "$work/library_b" >"$work/traced" 2>"$work/err" ||
      fail "libraries: exit status $?"
    judge "$work/libraries.trace" "$work/err"
    for library in a b; do
      [ "$("$tool" dump --json "$work/libraries.trace" | grep -c '"event":"GoCreate".*"function":"thread_of_'$library'"')" = 10 ] ||
        fail "$compiler: not 10 threads of library $library"
    done
    # Signal handlers that interrupt dlclose
    "$tool" record -o "$work/libraries.trace" "$work/libraries" "$work/library_a" "$work/library_b" signals >"$work/traced" 2>"$work/err" ||
      fail "libraries with signals: exit status $?"
    judge "$work/libraries.trace" "$work/err"
  done
}

test_descriptors() {
  local options
  ulimit -n 4096 || skip 'a limit of 4096 descriptors'
  compile "${CC-cc}" tests/record/closes.c "$work/closes"
  compare "$work/closes" "$work/victim"
  [ ! -s "$work/victim" ] || fail "the trace was written into the program's file"
  threads 100
  for options in '' '--flight 1000'; do
    "$tool" record $options -o "$work/closed.trace" "$work/closes" "$work/victim" stdio >"$work/traced" 2>"$work/err" ||
      fail "closes stdio: exit status $?"
    [ ! -s "$work/victim" ] || fail "the trace was written into the program's file"
    judge "$work/closed.trace" "$work/err"
  done
}

# --------------------------------------------------------------------------------------------------------- bad use ----

refuses() { # refuses TEXT ARGUMENTS...: prints one line that contains TEXT, and leaves no trace; wanted=STATUS, or 1 or 2
  local status=0 text=$1
  shift
  "$tool" record "$@" >"$work/refused" 2>&1 || status=$?
  [ $status = ${wanted-1} ] || [ ${wanted-2}$status = 22 ] || fail "record $*: exit status $status, not ${wanted-1}"
  grep -q -- "$text" "$work/refused" || { cat "$work/refused"; fail "record $*: does not say '$text'"; }
  [ $status = 2 ] || [ "$(wc -l <"$work/refused")" = 1 ] || { cat "$work/refused"; fail "record $*: more than a line"; }
}

test_bad_use() {
  echo 'int main(void) { return 0; }' >"$work/program.c"
  "${CC-cc}" -static "$work/program.c" -o "$work/static" && refuses 'statically linked' "$work/static"
  "${CC-cc}" -static-pie "$work/program.c" -o "$work/static-pie" && refuses 'statically linked' "$work/static-pie"
  "${CC-cc}" "$work/program.c" -o "$work/program"
  # As a shell: 127 for what is not found, 126 for what cannot be executed
  wanted=127 refuses 'command not found' no-such-command
  wanted=127 refuses 'No such file' "$work/no-such-file"
  wanted=126 refuses 'is a directory' /tmp/
  wanted=126 refuses 'Permission denied' "$work/program.c"
  printf '#!/nonexistent\n' >"$work/script" && chmod +x "$work/script" && wanted=126 refuses 'interpreter /nonexistent' "$work/script"
  printf 'text\n' >"$work/script" && wanted=126 refuses 'neither a program nor a script' "$work/script"
  refuses 'No such file' -o "$work/no/file.trace" true
  refuses 'is a directory' -o "$work" true
  refuses 'missing COMMAND' -o "$work/x.trace"
  refuses 'missing COMMAND' --
  refuses 'unknown option --wrong' --wrong true
  refuses 'unknown format' --format 1.4 true
  refuses 'unknown stacks' --stacks=all true
  refuses 'invalid value' --limit 0 true
  refuses 'invalid value' --cut x true
  refuses '1.22 or later' --flight 1 --format 1.21 true
  if command -v aarch64-linux-gnu-gcc >/dev/null; then
    aarch64-linux-gnu-gcc "$work/program.c" -o "$work/arm" && wanted=126 refuses 'another architecture' "$work/arm"
  fi
  cp "$work/program" "$work/setuid"
  if [ "$(id -u)" = 0 ]; then chown 1 "$work/setuid"; chmod 4755 "$work/setuid"; refuses 'setuid' "$work/setuid"; fi
  [ ! -e "$work/x.trace" ] || fail "a trace was left"
  # A full disk, and a trace file that cannot be read again.
  "$tool" record -o /dev/full "$work/program" 2>"$work/refused" || fail "another status when the disk is full"
  grep -q 'ended early.*No space left' "$work/refused" || { cat "$work/refused"; fail "does not report a full disk"; }
  "$tool" record -o /dev/stdout "$work/program" 2>"$work/refused" | "$tool" check - >/dev/null || fail "a trace in a pipe"
  "$tool" record --limit 30K -o "$work/limit.trace" /usr/bin/python3 -c '[open("/dev/null").read() for i in range(20000)]' \
    2>"$work/refused" || fail "a limit"
  grep -q 'its limit was reached' "$work/refused" || { cat "$work/refused"; fail "does not report the limit"; }
  [ "$(wc -c <"$work/limit.trace")" -lt 300000 ] || fail "the limit did not limit"
  # A script's interpreter is traced, also if env starts it.
  printf '#!/usr/bin/env python3\nimport threading\nt = threading.Thread(target=print, args=("hello",))\nt.start()\nt.join()\n' >"$work/script"
  [ "$("$tool" record -o "$work/script.trace" "$work/script" 2>"$work/script.err")" = hello ] || fail "script"
  judge "$work/script.trace" "$work/script.err"
  # The program's environment and descriptors are the same as without tracing.
  (cd "$work" && "$tool" record -q env | grep -v '^_=' >traced && env | grep -v '^_=' >plain && cmp traced plain) || fail "another environment"
  (cd "$work" && "$tool" record -q sh -c 'exec env' | grep -v '^_=' | sort >traced &&
    sh -c 'exec env' | grep -v '^_=' | sort >plain && cmp traced plain) || fail "another environment behind exec"
  [ "$(cd "$work" && ls env.*.trace | wc -l)" = 1 ] || fail "the default name"
}

test_executes() {
  local compiler file options status
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/executes.c "$work/executes"
    mkdir "$work/plain"
    "$work/executes" "$work/plain" >"$work/plain.out" || [ $? = 3 ] || fail "executes: $?"
    for options in '' --children; do
      mkdir "$work/traced"
      status=0
      timeout 300 "$tool" record $options --no-symbolize -o "$work/traced.trace" "$work/executes" "$work/traced" \
        >"$work/traced.out" 2>"$work/err" || status=$?
      [ $status = 3 ] || { cat "$work/err"; fail "executes: exit status $status"; }
      cmp "$work/plain.out" "$work/traced.out" || fail "executes: another output"
      has_thread "$work/traced.trace" last_thing # the trace goes on when exec fails
      rm -rf "$work"/traced*
    done
    for file in "$work"/plain/*; do
      status=0
      timeout 300 "$tool" record -o "$work/traced.trace" "$file" >"$work/refused" 2>&1 || status=$?
      case $status in 1 | 126 | 127) ;; *) cat "$work/refused"; fail "record $file: exit status $status" ;; esac
      [ "$(wc -l <"$work/refused")" = 1 ] || { cat "$work/refused"; fail "record $file: more than a line"; }
    done
    rm -rf "$work"/plain*
  done
}

# What is at the trace's path is replaced, but never written to, unless it is a device, a pipe or a link.
test_outputs() {
  echo old >"$work/x.trace"
  ln "$work/x.trace" "$work/other"
  "$tool" record -q -o "$work/x.trace" true
  [ "$(cat "$work/other")" = old ] || fail "another name of the old file shows the trace"
  "$tool" check "$work/x.trace" >/dev/null || fail "the trace that replaces a file"
  [ "$(stat -c %a "$work/x.trace")" = 600 ] || fail "others can read the trace"
  ln -s target.trace "$work/link.trace"
  : >"$work/target.trace"
  "$tool" record -q -o "$work/link.trace" true
  [ -L "$work/link.trace" ] && "$tool" check "$work/target.trace" >/dev/null || fail "the trace through a link"
  mkfifo "$work/pipe"
  cat "$work/pipe" >"$work/piped" &
  (cd "$work" && "$tool" record -q -o pipe env true)
  [ -p "$work/pipe" ] || fail "the pipe was removed"
  wait $!
  "$tool" check "$work/piped" >/dev/null || fail "the trace in a pipe, before exec"
}

# ---------------------------------------------------------------------------------------------------------- hostile ----

# The files of a test: SAFE is root's, EVIL somebody else's, anyone can write to OUT.
prepare_hostile() {
  mkdir "$work"/{safe,good,evil,bin}
  mkdir -m 1777 "$work/out"
  chmod 711 "$work"
  chmod 700 "$work/safe"
  compile "${CC-cc}" tests/record/ends.c "$work/good/ends"
  "$tool" record -q --no-symbolize -o "$work/safe/victim.trace" "$work/good/ends" exit >"$work/traced" || [ $? = 2 ] || fail ends
  ln "$work/safe/victim.trace" "$work/safe/kept"
  cp "$work/safe/victim.trace" "$work/safe/copy"
  cp "$work/good/ends" "$work/evil"
  LC_ALL=C sed "s|$work/good/|$work/evil/|g" "$work/safe/victim.trace" >"$work/evil/forged.trace"
  ! cmp -s "$work/safe/victim.trace" "$work/evil/forged.trace" || fail "the forged trace"
  ln -s "$work/safe/victim.trace" "$work/evil/link.trace"
  cat >"$work/evil.c" <<END
#include <fcntl.h>
__attribute__((constructor)) static void run(void) { open("$work/safe/loaded", O_WRONLY | O_CREAT, 0600); }
END
  "${CC-cc}" -shared -fPIC "$work/evil.c" -o "$work/evil/evil.so"
  chown -Rh 65534 "$work/evil"
  chmod 644 "$work/evil/forged.trace"
  printf '#!/bin/sh\necho "$@" >>%s/safe/looked_up\ncat >/dev/null\n' "$work" >"$work/bin/llvm-symbolizer"
  chmod +x "$work/bin/llvm-symbolizer"
  compile "${CC-cc}" tests/record/hostile.c "$work/hostile"
}

hostile_run() { # hostile_run OPTIONS -- WAY...
  local options=() status=0 trace found output=done
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  PATH=$work/bin:$PATH "$tool" record ${options[@]+"${options[@]}"} -o "$work/out/t.trace" "$work/hostile" "${@:2}" \
    -- "$work/evil/forged.trace" "$work/out/t.%d.trace" "$work/safe/victim.trace" >"$work/traced" 2>"$work/err" || status=$?
  # A child that is traced has its box, and another nothing.
  [[ " ${options[*]-} " != *--children* ]] || output=$'memory\nmemory\ndone'
  [ $status = 7 ] || { cat "$work/err"; fail "hostile $*: exit status $status"; }
  [ "$(cat "$work/traced")" = "$output" ] || { cat "$work/traced"; fail "hostile $*: another output"; }
  [ ! -e "$work/safe/loaded" ] || fail "hostile $*: a library of the attacker was loaded"
  [ "$work/safe/victim.trace" -ef "$work/safe/kept" ] || fail "hostile $*: root's file was replaced"
  cmp "$work/safe/victim.trace" "$work/safe/copy" || fail "hostile $*: root's file was written"
  ! grep -s evil/ "$work/safe/looked_up" || fail "hostile $*: the attacker's file was looked up"
  # The daemon's own traces are complete: it and its last child each slept 200 times, and once more afterwards.
  found=0
  for trace in "$work"/out/*.trace; do
    [ ! -L "$trace" ] || continue
    ! "$tool" check "$trace" >/dev/null || [ "$("$tool" dump "$trace" | grep -c 'GoBlock.*sleep')" -lt 200 ] || found=$((found + 1))
  done
  [ -f "$work/out/t.trace" ] && [ "$("$tool" dump "$work/out/t.trace" | grep -c 'GoBlock.*sleep')" = 400 ] &&
    "$tool" check "$work/out/t.trace" >/dev/null || { ls -l "$work/out/t.trace"; cat "$work/err"; fail "hostile $*: the daemon's trace"; }
  [ $found = $([[ " ${options[*]-} " = *--children* ]] && echo 2 || echo 1) ] || { ls -l "$work/out" | grep -v -- '->'; fail "hostile $*: $found traces"; }
  find "$work/out" -mindepth 1 -delete
}

# A process that has the recorder's old process id.
present() { # present FLAW: runs a program with the library and with files that another process presents
  local path
  coproc "$work/presents" "$1" "$work/out"
  read -r path <&"${COPROC[0]}"
  LD_PRELOAD=$PWD/build/examples/libgotrace-record.so GOTRACE_RECORD=$path /bin/true
  eval "exec ${COPROC[1]}>&-"
  wait
}

test_hostile() {
  local texts flaw
  [ "$(id -u)" = 0 ] || { echo 'test_record: hostile needs root'; exit 77; }
  prepare_hostile
  texts=("$PWD/build/examples/libgotrace-record.so" "$work/evil/evil.so" "$work/out/t.trace" "$work/evil/link.trace")
  hostile_run -- texts "${texts[@]}"
  hostile_run --children -- texts "${texts[@]}"
  hostile_run -- fill
  hostile_run --children -- fill
  hostile_run --children --flight 1000 -- texts "${texts[@]}"
  if command -v musl-gcc >/dev/null; then
    compile musl-gcc tests/record/hostile.c "$work/hostile"
    hostile_run --children -- texts "${texts[@]}"
  fi
  # Links of others.
  ln -s "$work/safe/victim.trace" "$work/out/t.trace"
  chown -h 65534 "$work/out/t.trace"
  refuses 'a link of another user' -o "$work/out/t.trace" true
  rm "$work/out/t.trace"
  # Settings of others.
  compile "${CC-cc}" tests/record/presents.c "$work/presents"
  for flaw in none owner unsealed list; do present $flaw; done
  [ "$(cd "$work/out" && echo *)" = "$(cd "$work/out" && echo none.*)" ] && [ -f "$work"/out/none.* ] || { ls "$work/out"; fail "forged settings"; }
}

# ---------------------------------------------------------------------------------------- children, flight recorder ----

# prepare_slow WAIT: a program, slow, whose library waits so before the tracer's begins in it; it returns 4.
prepare_slow() {
  echo "#include <unistd.h>
    __attribute__((constructor)) static void wait_long(void) { $1; } void nothing(void) {}" >"$work/slow.c"
  echo 'void nothing(void); int main(void) { nothing(); return 4; }' >"$work/main.c"
  "${CC-cc}" -shared -fPIC "$work/slow.c" -o "$work/libslow.so"
  "${CC-cc}" "$work/main.c" -o "$work/slow" -L"$work" -lslow -Wl,-rpath,"$work"
}

test_children() {
  compile "${CC-cc}" tests/record/ends.c "$work/ends"
  local trace traces=0 way status result tries
  (cd "$work" && "$tool" record --children ./ends fork >traced 2>err) || [ $? = 9 ] || fail "children: $(cat "$work/err")"
  ! grep -q 'problems\|not traced' "$work/err" || { cat "$work/err"; fail "children"; }
  for trace in "$work"/*.trace; do
    traces=$((traces + 1))
    "$tool" check "$trace" >/dev/null || fail "$trace"
  done
  [ $traces -ge 3 ] || { ls "$work"; fail "children: $traces traces"; }
  # They have the wall clock, by which they can be shown beside each other.
  for trace in "$work"/*.trace; do
    "$tool" info --json "$trace" | python3 -c 'import json, sys; assert json.load(sys.stdin)["trace"]["began"]' || fail "$trace: no wall clock"
  done
  rm -f "$work"/*.trace
  # Signal handlers that interrupt a wait and fork.
  (cd "$work" && "$tool" record --children ./ends handler_forks >traced 2>err) || [ $? = 9 ] || fail "children of handlers: $(cat "$work/err")"
  ! grep -q 'problems\|not traced' "$work/err" || { cat "$work/err"; fail "children of handlers"; }
  traces=0
  for trace in "$work"/*.trace; do
    has_thread "$trace" last_thing
    traces=$((traces + 1))
  done
  [ $traces = 3 ] || { ls "$work"; fail "children of handlers: $traces traces"; }
  rm -f "$work"/*.trace
  # What goes on in the background, and what it starts after the first process has ended.
  compile "${CC-cc}" tests/record/daemon.c "$work/daemon"
  for way in forks,5,4 calls,0,3; do
    IFS=, read -r way status traces <<<"$way"
    result=0
    "$tool" record --children -o "$work/daemon.%p.trace" "$work/daemon" $way "$work/$way.last" 2>"$work/err" || result=$?
    [ $result = $status ] && grep -q 'still runs; its trace is written until it ends$' "$work/err" || { cat "$work/err"; fail "children: $way: $result"; }
    tries=0
    until [ -e "$work/$way.last" ] && grep -q 'ok' <("$tool" check "$work"/daemon.*.trace 2>&1) && ! pgrep -f "record --children -o $work/daemon" >/dev/null; do
      [ $((tries += 1)) -lt 300 ] || { ls "$work"; pgrep -fa "record --children"; fail "children: $way: what is left"; }
      sleep 0.05
    done
    for trace in "$work"/daemon.*.trace; do "$tool" check "$trace" >"$work/checked" || { cat "$work/checked"; fail "children: $way: $trace"; }; done
    for trace in "$work"/daemon.*.trace; do "$tool" dump "$trace"; done >"$work/events"
    grep -q last_work "$work/events" || fail "children: $way: the last process has no trace"
    [ "$(ls "$work"/daemon.*.trace | wc -l)" -ge $traces ] || { ls "$work"; fail "children: $way: which traces"; }
    rm "$work"/daemon.*.trace
  done
  # The recorder stays as long as a process may begin: after fork or exec, and before its trace.
  prepare_slow "while (access(\"$work/begins\", F_OK) != 0) usleep(1000)"
  "$tool" record --children -o "$work/stops.trace" "$work/daemon" stops "$work/stops.last" >"$work/stopped" 2>"$work/err" || [ $? = 5 ] || fail "children: stops"
  "$tool" record --children -o "$work/spawns.trace" "$work/daemon" spawns "$work/slow" >"$work/traced" 2>"$work/err" || [ $? = 5 ] || fail "children: spawns"
  sleep 2.5
  touch "$work/begins"
  kill -CONT "$(cat "$work/stopped")"
  tries=0
  until [ -e "$work/stops.last" ] && ! pgrep -f "record --children -o $work/s" >/dev/null; do
    [ $((tries += 1)) -lt 600 ] || { ls "$work"; pgrep -fa "record --children"; fail "children: late: what is left"; }
    sleep 0.05
  done
  for way in stops spawns; do
    [ "$(ls "$work/$way".*.trace | wc -l)" = 1 ] && "$tool" check "$work/$way".*.trace >"$work/checked" || { ls "$work"; fail "children: $way: no trace of the late one"; }
  done
  "$tool" dump "$work"/stops.*.trace | grep last_work >/dev/null || fail "children: stops: not whole"
  # It ends with the command if nobody can begin any more, and does not wait for a child that was killed before its trace.
  python3 -c '
import os, resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
left = subprocess.run(["pgrep", "-fa", "record --children -o " + sys.argv[4]], stdout=subprocess.PIPE, text=True).stdout.replace(str(os.getpid()) + " ", "own ")
waits = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
left = [line for line in left.splitlines() if not line.startswith("own ")]
if status != 5 or left or waits > 450: sys.exit(f"status {status}, left {left}, {waits} waits")
' "$tool" record --children -o "$work/kills.trace" "$work/daemon" kills "$work/kills.last" 2>"$work/err" || { cat "$work/err"; fail "children: kills"; }
  rm -f "$work"/*.trace
  # A shell that starts programs, with a file name without %p.
  (cd "$work" && "$tool" record --children -o all.trace sh -c './ends exit; ./ends _exit; env -i ./ends exit; exit 3' >traced 2>err) ||
    [ $? = 3 ] || fail "children of a shell"
  traces=0
  for trace in "$work"/all*.trace; do
    "$tool" check "$trace" >/dev/null || fail "$trace"
    ! "$tool" dump "$trace" | grep last_thing >/dev/null || traces=$((traces + 1))
  done
  [ $traces = 3 ] || { ls "$work"; cat "$work/err"; fail "children: $traces traces have the thread"; }
  (cd "$work" && "$tool" record --children --format 1.23 -o all.trace sh -c './ends exit; exit 0' >traced 2>err) || fail "children, format 1.23"
  "$tool" info "$work"/all*.trace | grep 'Go 1\.23' >/dev/null || fail "children: format 1.23 was not kept"
  # Without --children, children are not traced and do not touch the file.
  rm -f "$work"/*.trace
  (cd "$work" && "$tool" record -o one.trace sh -c './ends exit; ./ends _exit; exit 3' >traced 2>err) || [ $? = 3 ] || fail "no children"
  [ "$(ls "$work"/*.trace | wc -l)" = 1 ] || fail "children were traced"
  rm -f "$work"/*.trace
}

# A recorder does the same when another one records it, which says what it leaves to it.
test_nested() {
  local outer inner status trace tries
  compile "${CC-cc}" tests/record/ends.c "$work/ends"
  for outer in '' --children; do
    for inner in '' --children; do
      status=0
      "$tool" record $outer -o "$work/outer.%p.trace" "$tool" record $inner -o "$work/inner.%p.trace" sh -c "$work/ends fork; exit \$?" \
        >"$work/traced" 2>"$work/err" || status=$?
      [ $status = 9 ] || { cat "$work/err"; fail "nested: $outer, $inner: status $status"; }
      ! grep -q 'did not begin\|problems\|early' "$work/err" || { cat "$work/err"; fail "nested: $outer, $inner"; }
      [ "$(grep -c 'is not traced any more: another gotrace record records what it has executed$' "$work/err")" = $([ $outer ] && echo 1 || echo 0) ] ||
        { cat "$work/err"; fail "nested: $outer, $inner: does not say what is left to the inner one"; }
      [ "$(ls "$work"/inner.*.trace | wc -l)" = $([ $inner ] && echo 4 || echo 1) ] || { ls "$work"; fail "nested: $outer, $inner: the inner one's traces"; }
      tries=0 # the server of the inner one goes on for a while
      until "$tool" check "$work"/{outer,inner}.*.trace >"$work/checked" 2>&1; do
        [ $((tries += 1)) -lt 200 ] || { cat "$work/checked"; fail "nested: $outer, $inner: a trace"; }
        sleep 0.05
      done
      for trace in "$work"/outer.*.trace; do "$tool" dump "$trace"; done >"$work/events"
      ! grep -q last_thing "$work/events" || fail "nested: $outer, $inner: recorded twice"
      rm "$work"/{outer,inner}.*.trace
    done
  done
  cmp <(cd "$work" && "$tool" record -q env | grep -v '^_=' | sort) \
    <(cd "$work" && "$tool" record -q --children "$tool" record -q env | grep -v '^_=' | sort) || fail 'nested: another environment'
  # The outer one can be asked about the program until it leaves it to the inner one. So another process has the addresses
  # of programs that start soon, and closes them then.
  python3 - "$tool" "$work/asked.trace" <<'END' || fail "nested: the inner recorder cannot be asked"
import socket, subprocess, sys, time
tool, trace = sys.argv[1:]
for _ in range(20):
    last = int(open("/proc/loadavg").read().split()[-1])
    held = {}
    for pid in range(last + 1, last + 201):
        held[pid] = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        held[pid].bind(f"\0gotrace record {pid}")
    recorder = subprocess.Popen([tool, "record", "-q", "-o", trace, "cat"], stdin=subprocess.PIPE)
    children = lambda: [int(pid) for pid in open(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read().split()]
    name = lambda pid: open(f"/proc/{pid}/comm").read().strip()
    while not (program := [pid for pid in children() if name(pid) == "cat"]): time.sleep(0.01)
    ask = lambda: subprocess.run([tool, "ctl", str(program[0]), "stats"], capture_output=True, text=True)
    was_held = program[0] in held
    assert not was_held or "is not recorded" in ask().stderr
    for one in held.values(): one.close()
    end = time.monotonic() + 20
    while (answer := ask()).returncode and time.monotonic() < end: time.sleep(0.01)
    recorder.communicate()
    if answer.returncode: sys.exit(answer.stderr)
    if was_held: sys.exit(0)
sys.exit("no program had such an address")
END
}

# A line for each trace: who has woken the process.
who_woke() {
  local trace
  for trace in "$work"/*.trace; do
    "$tool" dump "$trace" | sed -n 's/.*woken by process" value_string="\([a-z]*\) (pid [0-9]*)\(, goroutine 1\)*".*/\1\2/p' | tr '\n' ' '
    echo
  done
}

# Which other process ended a wait: after each of a program of known truth, and in a pipeline of a shell.
test_processes() {
  local compiler mode trace wanted
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/processes.c "$work/processes"
    for mode in pipes poll epoll select signals semaphores named conditions futexes mutexes barriers; do
      "$tool" record -q --children -o "$work/%p.trace" "$work/processes" $mode "${PROCESSES_HOPS-300}" >"$work/said" || fail "processes $mode: status $?"
      tests/record/processes.py "$tool" "$work/said" "$work"/*.trace || fail "$compiler, processes $mode"
      rm "$work"/*.trace
    done
    "$tool" record -q --children -o "$work/%p.trace" "$work/processes" children || fail "$compiler, processes children: status $?"
    who_woke >"$work/woken"
    # The shell has the other C library than a program of musl, whose call of it is not followed.
    wanted='sh sh, goroutine 1 sh sh, goroutine 1 sh processes '
    [ "$compiler" != musl-gcc ] || wanted='processes '
    grep -qx "$wanted" "$work/woken" || { cat "$work/woken"; fail "$compiler, processes children"; }
    rm "$work"/*.trace
    # Who has ended a wait for a descriptor that is another file than before.
    for mode in system-call handler freopen daemon pclose; do
      wanted='processes, goroutine 1 '
      [ $mode != daemon ] || wanted='processes '
      [ $mode != pclose ] || wanted='.*sh, goroutine 1 sh '
      [ "$mode $compiler" != "pclose musl-gcc" ] || continue
      "$tool" record -q --children -o "$work/%p.trace" "$work/processes" reused $mode || fail "$compiler, processes reused $mode: status $?"
      who_woke >"$work/woken"
      grep -qx "$wanted" "$work/woken" || { cat "$work/woken"; fail "$compiler, processes reused $mode"; }
      rm "$work"/*.trace
    done
  done
  compile "${CC-cc}" tests/record/processes.c "$work/processes"
  (cd "$work" && "$tool" record -q --children -o %p.trace sh -c \
    '{ read line; echo $line; } <"$0" | ./processes pipeline 0 | ./processes pipeline 200' <(sleep 0.3; echo one) >said) || fail "a pipeline: status $?"
  [ "$(cat "$work/said")" = one ] || fail "a pipeline: another output"
  for trace in "$work"/*.trace; do
    "$tool" info --json "$trace" >"$trace.info"
    "$tool" path --json --go 1 "$trace" >"$trace.path"
    "$tool" path --go 1 "$trace" >"$trace.text"
  done
  python3 - "$work"/*.trace <<'END' || fail "a pipeline"
import json, re, sys
held, woken, texts = {}, {}, {}
for trace in sys.argv[1:]:
    pid = int(re.search(r"(\d+)(?:-2)?\.trace", trace)[1])  # before exec and after
    held.setdefault(pid, []).extend((h["class"], h["process"]) for h in json.load(open(trace + ".info"))["holders"])
    woken.setdefault(pid, []).extend(s["woken_by_process"] for s in json.load(open(trace + ".path"))["path"] if s.get("woken_by_process"))
    texts[pid] = texts.get(pid, "") + open(trace + ".text").read()
middle = [pid for pid in held if any(text.startswith("sh (pid") for text in woken[pid]) and held[pid][0][0] == "pipe"]
assert len(middle) == 1, woken
last = [pid for pid in held if f"processes (pid {middle[0]})" in woken[pid] and held[pid][0][0] == "pipe"]
assert len(last) == 1, woken  # by stdio, so its goroutine is not known
assert ("pipe", f"processes (pid {middle[0]})") in held[last[0]], held
assert f", pipe, at " in texts[last[0]] and f", woken by process processes (pid {middle[0]})\n" in texts[last[0]], texts[last[0]]
shells = [pid for pid in held if f"processes (pid {last[0]})" in woken[pid]]  # it sleeps after its input's end
assert len(shells) == 1 and "child process" in dict(held[shells[0]]), (woken, held)
END
  rm "$work"/*.trace*
  # A process may write anything to the memory by which they tell that.
  cat >"$work/forge.py" <<'END'
import glob, os, random, time
folder = os.path.dirname(os.environ["GOTRACE_RECORD"])
shared = [name for name in glob.glob(folder + "/*") if os.path.exists(name) and 700000 < os.stat(name).st_size < 900000]
assert len(shared) == 1, shared
file, size, end = os.open(shared[0], os.O_RDWR), os.stat(shared[0]).st_size, time.time() + 1.5
while time.time() < end:
    os.pwrite(file, random.choice((b"\xff", random.randbytes(1))) * 4096 if random.random() < .1 else random.randbytes(8), random.randrange(size - 4096))
END
  (cd "$work" && timeout 100 "$tool" record -q --children -o %p.trace sh -c \
    'python3 forge.py & for mode in pipes epoll signals semaphores mutexes; do ./processes $mode 200 >/dev/null || exit 7; done; wait $!' 2>err) ||
    fail "forged wakes: status $?, $(cat "$work/err")"
  for trace in "$work"/*.trace; do
    "$tool" check "$trace" >/dev/null && "$tool" info --json "$trace" >/dev/null || fail "forged wakes: $trace"
  done
}

# A program that contains gotrace.h: its tasks and what its threads wait for are in one trace, also if it is killed.
# OWN_RUNS: how often it is killed
test_own() {
  local build way status run
  for build in -rdynamic -static "-DGOTRACE_AUTOSTART=1 -DGOTRACE_STATIC=1 -fPIE -pie" -DGOTRACE_DEBUG=1; do
    # A statically linked program has only its own events; one with another layout of its records has its threads.
    "${CC-cc}" -O1 -g -I. $build tests/record/own.c -o "$work/own" -pthread
    for way in '' forks copies twice; do
      [[ $build$way != -staticcopies ]] || continue # the header says that the child must make no calls
      [[ "$build $way" != *DEBUG*twice ]] || continue # its own trace, which nobody reads
      rm -f "$work"/own*.trace "$work/child.trace"
      (cd "$work" && "$tool" record -o own.trace ./own log $way) >"$work/said" 2>"$work/err" || { cat "$work/err"; fail "own $build $way: status $?"; }
      [ "$(ls "$work"/own*.trace)" = "$work/own.trace" ] || fail "own $build $way: $(ls "$work")"
      ! grep -q 'problems\|ended early\|not traced' "$work/err" || { cat "$work/err"; fail "own $build $way: problems"; }
      "$tool" check "$work/own.trace" >"$work/checked" || { cat "$work/checked"; fail "own $build $way: check"; }
      case $build in
      *DEBUG*)
        grep -q 'not recorded: it has another version of gotrace.h' "$work/err" || { cat "$work/err"; fail "own $build: not refused"; }
        has_thread "$work/own.trace" work || fail "own $build: no threads" ;;
      *)
        grep -vE '^(start|cut|end|stop): success$|^(start|again): tracing is already on$|^refused: tracing is off$' "$work/said" && fail "own $build $way"
        [ "$(grep -c ': success$' "$work/said")" = $([ "$way" = twice ] && echo 5 || echo 2) ] || [[ $build = *AUTOSTART* ]] ||
          { cat "$work/said"; fail "own $build $way: results"; }
        python3 tests/record/own.py "$tool" "$work/own.trace" "$work/log" $([ "$build" != -static ] || echo alone) || fail "own $build $way: another trace" ;;
      esac
      [ "$way" != forks ] || [[ $build = *DEBUG* ]] || "$tool" check "$work/child.trace" >"$work/checked" || fail "own $build: the child's trace"
    done
    [[ $build != *DEBUG* ]] || continue
    if [ "$build" = -rdynamic ]; then # a statically linked program does not tell the tracer that it enters one
      for way in sandbox strict; do
        "$tool" record -q -o "$work/sandbox.trace" "$work/own" "$work/log" $way >"$work/said" 2>"$work/err" || { cat "$work/err"; fail "own $way: status $?"; }
        grep -qx fine "$work/said" || fail "own $way: another output"
        "$tool" check "$work/sandbox.trace" >"$work/checked" || { cat "$work/checked"; fail "own $way: check"; }
        [ $way = strict ] || [ "$("$tool" dump "$work/sandbox.trace" | grep -c 'UserRegionBegin.*"round"')" = 20000 ] || fail "own $way: rounds are missing"
      done
    fi
    open_it "$work/own.trace" 1.27
    for run in $(seq "${OWN_RUNS-5}"); do
      status=0
      sh -c '"$@"; exit $?' - "$tool" record -q -o "$work/own.trace" "$work/own" "$work/log" killed >"$work/said" 2>&1 || status=$?
      [ $status = 137 ] || { cat "$work/said"; fail "own $build killed: status $status"; }
      python3 tests/record/own.py "$tool" "$work/own.trace" "$work/log" killed $([ "$build" != -static ] || echo alone) || fail "own $build killed: another trace"
    done
  done
  # Calls in any order, also wrong ones.
  for build in -rdynamic -static; do
    "${CC-cc}" -O1 -g -I. $build tests/record/own_random.c -o "$work/own" -pthread
    for run in $(seq "${OWN_RUNS-5}"); do
      timeout 100 "$tool" record -q -o "$work/own.trace" "$work/own" $run 20000 >"$work/said" 2>&1 || { cat "$work/said"; fail "own_random $build $run: status $?"; }
      "$tool" check "$work/own.trace" >"$work/checked" || { cat "$work/checked"; fail "own_random $build $run: check"; }
    done
    open_it "$work/own.trace" 1.27
  done
  # A library of the program that has the header is closed, and opened again.
  echo '#define GOTRACE_IMPLEMENTATION
    #include "gotrace.h"
    int begin(void);
    int begin(void) { return gotrace_start_environment(); }' >"$work/part.c"
  "${CC-cc}" -O1 -g -I. -fPIC -shared "$work/part.c" -o "$work/part.so" -pthread
  echo '#include <dlfcn.h>
    #include <pthread.h>
    #include <stdint.h>
    #include <unistd.h>
    static void *work(void *data) {
      for (int i = 0; i < 50; i++) usleep(1000);
      return data;
    }
    int main(int argc, char **argv) {
      pthread_t thread;
      int result = 0;
      if (argc < 2 || pthread_create(&thread, 0, work, 0) != 0) return 100;
      for (int turn = 0; turn < 2; turn++) {
        void *part = dlopen(argv[1], RTLD_NOW), *begin = part ? dlsym(part, "begin") : 0;
        if (!begin) return 101;
        usleep(10000);
        result = result * 10 - ((int (*)(void))(uintptr_t)begin)();
        dlclose(part);
      }
      pthread_join(thread, 0);
      return result;
    }' >"$work/parts.c"
  "${CC-cc}" -O1 -g "$work/parts.c" -o "$work/parts" -pthread -ldl
  status=0
  "$tool" record -q -o "$work/own.trace" "$work/parts" "$work/part.so" >"$work/said" 2>&1 || status=$?
  [ $status = 1 ] || { cat "$work/said"; fail "own, a library: status $status"; } # first OK, then ALREADY_RUNNING
  [ "$("$tool" dump "$work/own.trace" | grep -c 'GoBlock.*"sleep"')" = 52 ] || fail "own, a library: another number of sleeps"
  echo 'int main(void) { return 0; }' >"$work/without.c"
  "${CC-cc}" -static "$work/without.c" -o "$work/without"
  ! "$tool" record "$work/without" 2>"$work/err" || fail "own: a static program without gotrace.h is traced"
  grep -q 'unless it contains gotrace.h' "$work/err" || { cat "$work/err"; fail "own: a static program"; }
}

# A child has a box of its own with --children, otherwise none, and neither a thread nor a descriptor. What
# a killed child has done is in its trace.
test_boxes() {
  local compiler options boxes
  for compiler in "${CC-cc}" musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/boxes.c "$work/boxes"
    for options in "--children,1" ,0; do
      boxes=${options#*,}
      timeout 60 "$tool" record -q ${options%,*} -o "$work/b.trace" "$work/boxes" >"$work/said" || fail "boxes: status $?"
      "$work/boxes" | sed "s/ 0 boxes/ $boxes boxes/" | cmp - "$work/said" ||
        { cat "$work/said"; fail "$compiler, boxes: what a process has"; }
      [ "$(ls "$work"/b*.trace | wc -l)" = $((1 + 3 * boxes)) ] || { ls "$work"; fail "$compiler, boxes: traces"; }
      rm "$work"/b*.trace
    done
    "$tool" record --children -o "$work/b.trace" sh -c "$work/boxes killed; true" >/dev/null 2>"$work/err" || fail "boxes: status $?"
    [ "$(grep -c 'b\.[0-9]*\.trace: process .* was killed or ended by a system call' "$work/err")" = 1 ] || { cat "$work/err"; fail "boxes: a killed child"; }
    has_thread "$(ls "$work"/b.*.trace)" last_thing
    rm "$work"/b*.trace
    # A box has more memory only when it is needed, and then in time.
    "$tool" record -q -o "$work/b.trace" "$work/boxes" crowd >"$work/said" || fail "boxes: status $?"
    [ "$(cat "$work/said")" = "4 MiB, more later" ] || fail "$compiler, boxes: a crowd: $(cat "$work/said")"
    [ "$("$tool" dump "$work/b.trace" | grep -c 'GoBlock.*sleep')" = 250000 ] || fail "$compiler, boxes: a crowd's naps"
    # Many threads do with small chunks, so that each has room.
    (ulimit -f 32768; exec "$tool" record --no-sample --no-switches -o "$work/b.trace" "$work/boxes" crowd) >/dev/null 2>"$work/err" || fail "boxes: status $?"
    ! grep -qE 'early|problems' "$work/err" || { cat "$work/err"; fail "$compiler, boxes: a crowd in 32 MiB"; }
    [ "$("$tool" dump "$work/b.trace" | grep -c 'GoBlock.*sleep')" = 250000 ] || fail "$compiler, boxes: naps in 32 MiB"
    "$tool" record --no-sample --no-switches --children -o "$work/b.trace" sh -c "$work/boxes crowd; true" >/dev/null 2>"$work/err" || fail "boxes: status $?"
    ! grep -qE 'early|problems' "$work/err" || { cat "$work/err"; fail "$compiler, boxes: a crowd in a child"; }
    rm "$work"/b*.trace
    # Threads wait for a recorder that does not run, and nothing is lost.
    (ulimit -v 80000; exec "$tool" record --no-sample --no-switches -o "$work/b.trace" "$work/boxes" hurry) >"$work/said" 2>"$work/err" || fail "boxes: hurry: status $?"
    grep -q 'threads waited [0-9]* times for room' "$work/err" && ! grep -q problems "$work/err" || { cat "$work/err"; fail "$compiler, boxes: in a hurry"; }
    [ "$("$tool" dump "$work/b.trace" | grep -c GoSyscallBegin)" -ge 1000000 ] || fail "$compiler, boxes: calls in a hurry"
  done
}

# A child in a namespace cannot open the recorder's files. That is said, also if nobody can see the child from outside.
# enters USER WAY: a child in a namespace is recorded, and does what it does without.
enters() {
  local status=0 user=() folder=$work/enters program=$work/enters/boxes
  [ "$1" = 0 ] || user=(setpriv --reuid "$1" --regid "$1" --clear-groups --)
  rm -rf "$folder"
  mkdir -m 777 "$folder"
  cp "$work/boxes" "$program"
  ${user[@]+"${user[@]}"} "$tool" record --children -o "$folder/n.trace" "$program" enters "$2" >"$work/traced" 2>"$work/err" || status=$?
  [ $status != 77 ] || { echo 'test_record: no namespaces here'; exit 77; }
  [ $status = 0 ] || { cat "$work/err"; fail "namespaces: $*: status $status"; }
  ${user[@]+"${user[@]}"} "$program" enters "$2" >"$work/plain"
}

# Of the child's descriptors, one is the recorder's.
is_followed() {
  local count trace
  count=$(sed 's/.*, \([0-9]*\) descriptors.*/\1/' "$work/plain")
  sed "s/ $count descriptors, 0 boxes/ $((count + 1)) descriptors, 1 boxes/" "$work/plain" | cmp - "$work/traced" ||
    { cat "$work/traced" "$work/err"; fail "namespaces: $*: what the program says"; }
  ! grep -q 'traced\|system call of its own' "$work/err" || { cat "$work/err"; fail "namespaces: $*: not followed, or its end"; }
  [ "$(ls "$work"/enters/n.*.trace | wc -l)" -ge 1 ] || fail "namespaces: $*: no trace of the child"
  for trace in "$work"/enters/n*.trace; do "$tool" check "$trace" >"$work/checked" || { cat "$work/checked" "$work/err"; fail "namespaces: $*: $trace"; }; done
  grep -q "in describe\|main" <("$tool" info "$trace") || fail "namespaces: $*: $trace shows no program"
}

is_named() {
  cmp <(sed 's/[0-9]* descriptors/descriptors/' "$work/plain") <(sed 's/[0-9]* descriptors/descriptors/' "$work/traced") ||
    fail "namespaces: $*: another output"
  [ "$(grep -c ': children of process [0-9]* are not traced, nor what they start: .*(Permission denied)' "$work/err")" -ge 1 ] ||
    { cat "$work/err"; fail "namespaces: $*: a child is not named"; }
}

test_namespaces() {
  local status=0 way user users=0 trace
  compile "${CC-cc}" tests/record/boxes.c "$work/boxes"
  chmod 755 "$work"
  if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid 65534 --regid 65534 --clear-groups -- "$tool" version >/dev/null 2>&1; then users='0 65534'; fi
  for user in $users; do
    for way in fork vfork spawn clone call; do
      enters "$user" $way
      is_followed "$user" $way
    done
    enters "$user" closes
    is_named "$user" closes
  done
  if [ "$(id -u)" = 0 ]; then
    enters 0 roots
    is_followed roots
    enters 0 drops
    is_named drops
  fi
  need unshare
  unshare -Urfp --mount-proc true 2>/dev/null || { echo 'test_record: no namespaces here'; exit 77; }
  all_recorded() { # all_recorded ID COMMAND...: and sh is process ID there
    local id=$1
    shift
    rm -f "$work"/n.*.trace
    status=0
    "$tool" record --children -o "$work/n.%p.trace" -- "$@" sh -c 'sleep 0.01; echo $$; exit 6' >"$work/traced" 2>"$work/err" || status=$?
    [ $status = 6 ] && [ "$(cat "$work/traced")" = "$id" ] || { cat "$work/err"; fail "namespaces, $1: status $status"; }
    ! grep -q 'traced' "$work/err" || { cat "$work/err"; fail "namespaces, $1: not all are followed"; }
    [ "$(ls "$work"/n.*.trace | wc -l)" -ge 3 ] || { ls "$work"; fail "namespaces, $1: not all have traces"; }
    for trace in "$work"/n.*.trace; do judge "$trace" "$work/err"; done
  }
  all_recorded 1 unshare -Urfp --mount-proc
  # What the first process executes has the name that was wanted.
  rm -f "$work"/n.*.trace
  "$tool" record -q --children -o "$work/n.trace" -- unshare -Ur sh -c 'sleep 0.01' || fail "namespaces: unshare -Ur: $?"
  "$tool" dump "$work/n.trace" | grep 'child process' >/dev/null || { ls "$work"; fail "namespaces: the trace of sh has another name"; }
  # Signal handlers run all the time, while children ask.
  rm -f "$work"/n*.trace
  compile "${CC-cc}" tests/record/disturbed.c "$work/disturbed"
  status=0
  "$tool" record --children -o "$work/n.%p.trace" "$work/disturbed" interrupted 2>"$work/err" || status=$?
  [ $status = 0 ] && ! grep -q 'traced\|did not begin' "$work/err" || { cat "$work/err"; fail "namespaces: interrupted: status $status"; }
  [ "$(ls "$work"/n.*.trace | wc -l)" = 21 ] || { ls "$work"; fail "namespaces: interrupted: not all have traces"; }
  # A process that nobody else can see has the id that it has outside.
  if [ "$(id -u)" = 0 ] && unshare -fp --mount-proc true 2>/dev/null; then
    rm "$work"/n.*.trace
    status=0
    "$tool" record --children -o "$work/n.%p.trace" -- unshare -fp --mount-proc sh -c 'exit 6' 2>"$work/err" || status=$?
    [ $status = 6 ] && grep -q "/n.[0-9]*.trace: process [0-9][0-9]*, " "$work/err" && ! grep -q 'process 1 \|traced' "$work/err" ||
      { cat "$work/err"; fail "namespaces: a process of another id: status $status"; }
  fi
  need bwrap
  bwrap --dev-bind / / --proc /proc --unshare-all true || { echo 'test_record: no namespaces for bwrap here'; exit 77; }
  all_recorded 2 bwrap --dev-bind / / --proc /proc --unshare-all
}

# Programs that begin late, and disks that get full.
test_situations() {
  local status=0
  # A thread that is to be cancelled releases a mutex for which another process waits.
  compile "${CC-cc}" tests/record/disturbed.c "$work/disturbed"
  "$tool" record -q --children -o "$work/disturbed.%p.trace" "$work/disturbed" cancelled || fail "situations: cancelled: $?"
  # A signal handler that forks comes while the library looks at the modules, under the C library's lock.
  echo nothing >"$work/no_program"
  chmod +x "$work/no_program"
  timeout 100 "$tool" record -q --children -o "$work/disturbed.%p.trace" "$work/disturbed" forks "$work/no_program" || fail "situations: forks: $?"
  rm "$work"/disturbed.*.trace
  # A program that takes long to begin has the name that was wanted.
  prepare_slow 'usleep(300000)'
  "$tool" record -o "$work/e.trace" sh -c "exec $work/slow" 2>"$work/err" || status=$?
  [ $status = 4 ] && [ "$(echo "$work"/e*.trace)" = "$work/e.trace" ] || { cat "$work/err"; ls "$work"; fail "situations: the name of the program's trace"; }
  # A standard file is closed: the tool's own files do not get its number, and each trace has its events.
  local closed
  for closed in '<&-' '2>&-' '<&- >&- 2>&-'; do
    status=0
    bash -c "'$tool' record --children -o '$work/closed.%p.trace' sh -c '/bin/true; exit 4' $closed" 2>"$work/err" || status=$?
    [ $status = 4 ] && [ "$(ls "$work"/closed.*.trace | wc -l)" = 2 ] && "$tool" check "$work"/closed.*.trace >"$work/checked" ||
      { cat "$work/err" "$work/checked"; fail "situations: $closed: status $status"; }
    rm "$work"/closed.*
  done
  # The umask takes the right to read and write from the owner.
  local without=()
  [ "$(id -u)" != 0 ] || without=(setpriv --bounding-set=-dac_override,-dac_read_search)
  need setpriv
  mkdir "$work/masked"
  status=0
  ${without[@]+"${without[@]}"} bash -c "umask 777; '$tool' record --children -o '$work/masked/%p.trace' sh -c '/bin/true; exit 4'" 2>"$work/err" || status=$?
  [ $status = 4 ] && [ "$(ls "$work/masked" | wc -l)" = 2 ] && "$tool" check "$work"/masked/*.trace >"$work/checked" ||
    { cat "$work/err" "$work/checked"; fail "situations: umask 777: status $status"; }
  # Programs that cannot be traced are told of, whatever way they are started.
  echo '#include <spawn.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    int main(int argc, char **words) {
      pid_t child;
      const int spawns = argc > 1 && strcmp(words[1], "spawn") == 0;
      if (spawns && posix_spawn(&child, words[2], NULL, NULL, words + 2, words + argc) != 0) return 1;
      if (!spawns && (child = vfork()) == 0) { execv(words[2], words + 2); _exit(1); }
      return waitpid(child, NULL, 0) == child ? 4 : 1;
    }' >"$work/starts.c"
  "${CC-cc}" "$work/starts.c" -o "$work/starts"
  echo 'int main(void) { return 0; }' >"$work/other.c"
  "${CC-cc}" "$work/other.c" -o "$work/dynamic"
  "${CC-cc}" -static "$work/other.c" -o "$work/static"
  printf '#!%s\n' "$work/static" >"$work/script"
  cp "$work/dynamic" "$work/setuid"
  chmod +x "$work/script"
  local other others='static script' way told
  [ "$(id -u)" != 0 ] || { chown 65534 "$work/setuid"; chmod 4755 "$work/setuid"; others+=' setuid'; }
  for way in spawn vfork; do
    for other in dynamic $others; do
      status=0 told=0
      "$tool" record --children -o "$work/o.%p.trace" "$work/starts" $way "$work/$other" 2>"$work/err" || status=$?
      ! grep -q 'started programs that are not traced' "$work/err" || told=1
      [ $status = 4 ] && [ $told = $([ $other = dynamic ] && echo 0 || echo 1) ] || { cat "$work/err"; fail "situations: $way of $other: status $status"; }
    done
  done
  # Capabilities make no difference to root.
  local user=() part
  [ "$(id -u)" != 0 ] || user=(setpriv --reuid 65534 --regid 65534 --clear-groups --)
  chmod 777 "$work"
  rm -f "$work"/o.*
  for part in '' -no-new-privs; do
    for other in ep p i; do # effective and permitted, permitted, inheritable
      python3 -c 'import os, struct, sys
os.setxattr(sys.argv[1], "security.capability", struct.pack("<5I", 0x02000000 + ("e" in sys.argv[2]), *[(1 << 13) * (letter in sys.argv[2]) for letter in "pi"], 0, 0))
' "$work/dynamic" $other 2>/dev/null || break
      for way in vfork record; do
        told=0 status=0
        ${user[@]+"${user[@]}"} setpriv ${part:+-$part} -- "$tool" record --children -o "$work/o.%p.trace" \
          $([ $way = record ] || echo "$work/starts" $way) "$work/dynamic" 2>"$work/err" || status=$?
        ! grep -q ' with capabilities (setcap), ' "$work/err" || told=1
        case $other$part in ep* | p) [ $told = 1 ] ;; *) [ $told = 0 ] && [ "$(ls "$work"/o.*.trace | wc -l)" = $([ $way = record ] && echo 1 || echo 2) ] ;; esac ||
          { cat "$work/err"; fail "situations: $way of a program with capabilities ($other) $part: status $status"; }
        rm -f "$work"/o.*.trace
      done
    done
  done
  # Two recorders with the same output: the first one says that it has lost its trace.
  mkfifo "$work/goes_on"
  "$tool" record --cut 50 -o "$work/same.trace" sh -c "read line <'$work/goes_on'; exit 4" 2>"$work/err" &
  until [ -s "$work/same.trace" ]; do sleep 0.01; done
  "$tool" record -q -o "$work/same.trace" sh -c "echo >'$work/goes_on'; exit 5" || [ $? = 5 ] || fail 'situations: the second recorder'
  status=0
  wait $! || status=$?
  [ $status = 4 ] && grep -q 'same.trace: somebody removed or replaced' "$work/err" && "$tool" check "$work/same.trace" >"$work/checked" ||
    { cat "$work/err"; fail "situations: two recorders, status $status"; }
  # If they begin at the same time, they do not both write one file.
  local turn
  for turn in 1 2 3 4 5 6 7 8; do
    rm -f "$work/same.trace"
    "$tool" record -q -o "$work/same.trace" sleep 0.1 &
    until [ -e "$work/same.trace" ]; do :; done
    "$tool" record -q -o "$work/same.trace" sleep 0.1
    wait $!
    [ ! -e "$work/same.trace" ] || "$tool" check "$work/same.trace" >"$work/checked" || { cat "$work/checked"; fail "situations: two recorders at once, $turn"; }
  done
  # Whoever reads the trace from a pipe ends before the program.
  mkfifo "$work/broken"
  head -c 1 "$work/broken" >"$work/first" &
  status=0
  "$tool" record --cut 50 -o "$work/broken" sh -c 'sleep 0.5; exit 4' 2>"$work/err" || status=$?
  wait $!
  [ $status = 4 ] && grep -q 'broken: the trace ended early: .*Broken pipe' "$work/err" ||
    { cat "$work/err"; fail "situations: a pipe without readers: status $status"; }
  # What has been written when the disk is full can be read.
  need unshare
  unshare -rm mount -t tmpfs none "$work" 2>/dev/null || { echo 'test_record: no namespaces here'; exit 77; }
  echo '#include <time.h>
    int main(void) {
      const struct timespec moment = {0, 1};
      for (int i = 0; i < 30000; i++) nanosleep(&moment, NULL);
      return 0;
    }' >"$work/naps.c"
  "${CC-cc}" "$work/naps.c" -o "$work/naps"
  mkdir "$work/small"
  unshare -rm sh -c "mount -t tmpfs -o size=256k none '$work/small' &&
    '$tool' record --no-symbolize --no-sample --no-switches --cut 20 -o '$work/small/f.trace' '$work/naps' 2>'$work/err'
    cp '$work/small/f.trace' '$work/f.trace'" || fail "situations: a full disk: status $?"
  grep -q 'f.trace: the trace ended early: .*No space left' "$work/err" || { cat "$work/err"; fail "situations: a full disk"; }
  "$tool" check "$work/f.trace" >"$work/checked" && [ "$(stat -c %s "$work/f.trace")" -gt 20000 ] ||
    { cat "$work/checked"; ls -l "$work"; fail "situations: the trace on a full disk"; }
}

# The debug information of a file is read once for all traces, and not at all if there is none. A damaged trace among them
# keeps no other from getting its names.
test_names() {
  local debugger trace with_lines=0
  debugger=$(command -v llvm-symbolizer || command -v addr2line) || skip llvm-symbolizer
  compile "${CC-cc}" tests/record/ends.c "$work/ends"
  compile "${CC-cc}" tests/record/ends.c "$work/stripped" -O0 -s
  mkdir "$work/bin"
  printf '#!/bin/sh\necho "$@" >>%s/asked\nexec %s "$@"\n' "$work" "$debugger" >"$work/bin/${debugger##*/}"
  chmod +x "$work/bin/${debugger##*/}"
  lines_after() { # lines_after COMMANDS: counts the traces with lines
    rm -f "$work"/names.*.trace "$work/asked"
    (cd "$work" && DEBUGINFOD_URLS= PATH=$work/bin:$PATH "$tool" record --cut 1000000 --children -o names.%p.trace sh -c "$1" >traced 2>err) ||
      { cat "$work/err"; fail "names: exit status $?"; }
    with_lines=0
    for trace in "$work"/names.*.trace; do
      ! "$tool" dump "$trace" 2>/dev/null | grep 'tests/record/ends.c:' >/dev/null || with_lines=$((with_lines + 1))
      [ -z "$(find "$work" -name "${trace##*/}.*")" ] || fail "names: an unfinished file was left"
    done
  }
  lines_after './ends exit; ./ends _exit; ./stripped exit; ./ends signal 9 ""; ./ends exit; true'
  [ $with_lines = 4 ] || { cat "$work/err"; fail "names: $with_lines traces have lines, not 4"; }
  [ "$(grep -c '/ends$' "$work/asked")" = 1 ] || { cat "$work/asked"; fail "names: a file was not read once"; }
  ! grep -q stripped "$work/asked" || { cat "$work/asked"; fail "names: a file without debug information was read"; }
  lines_after './ends exit; sleep 1; truncate -s 100 names.*.trace; ./ends _exit; ./ends exit; true'
  [ $with_lines = 2 ] || { cat "$work/err"; fail "names: $with_lines traces beside a damaged one have lines, not 2"; }
}

# Complete stacks are those that the compiler's library finds, however the program is compiled.
test_unwind() {
  local compiler options size
  for size in 40 90; do # of a frame; all else is alike, so that one library takes the other's place
    printf 'void call(void (*f)(void)); void call(void (*f)(void)) { volatile char room[%d]; room[0] = 1; f(); room[9] = 2; }\n' \
      $size >"$work/library.c"
    "${CC-cc}" -shared -fPIC -O1 "$work/library.c" -o "$work/library$size.so"
  done
  for compiler in "${CC-cc}" clang; do
    command -v "$compiler" >/dev/null || continue
    for options in -O0 -O2 '-O2 -fomit-frame-pointer' '-O3 -fno-plt' '-O1 -fsanitize=undefined -fno-sanitize-recover=undefined'; do
      # shellcheck disable=SC2086
      "$compiler" -std=gnu11 -g -rdynamic $options -I. tests/record/unwinds.c -o "$work/unwinds" -pthread -ldl
      "$work/unwinds" "$work/library40.so" "$work/library90.so" >"$work/loaded" || fail "unwind: $compiler $options: $?"
      [ "$(uniq <"$work/loaded" | wc -l)" = 1 ] || echo "test_record: unwind: no library takes another's place"
    done
  done
  if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
    for size in 40 90; do
      printf 'void call(void (*f)(void)); void call(void (*f)(void)) { volatile char room[%d]; room[0] = 1; f(); room[9] = 2; }\n' \
        $size >"$work/library.c"
      aarch64-linux-gnu-gcc -shared -fPIC -O1 "$work/library.c" -o "$work/library$size.so"
    done
    for options in -O0 '-O2 -fomit-frame-pointer'; do
      # shellcheck disable=SC2086
      aarch64-linux-gnu-gcc -std=gnu11 -g -rdynamic $options -I. tests/record/unwinds.c -o "$work/unwinds" -pthread -ldl
      qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/unwinds" "$work/library40.so" "$work/library90.so" >"$work/loaded" || fail "unwind: arm64 $options: $?"
    done
  fi
  for compiler in "${CC-cc}" musl-gcc; do # signals in the midst of dlopen
    command -v "$compiler" >/dev/null || continue
    compile "$compiler" tests/record/loads.c "$work/places.so" -shared -fPIC -DPLACES
    compile "$compiler" tests/record/loads.c "$work/loads" "$work/places.so" -ldl
    "$compiler" -shared -fPIC -O1 "$work/library.c" -o "$work/library.so"
    timeout -s KILL 60 "$tool" record -q -o "$work/loads.trace" "$work/loads" "$work/library.so" 2 2>"$work/err" || fail "$compiler: loads: $?, $(cat "$work/err")"
    "$tool" check "$work/loads.trace" >/dev/null || fail "$compiler: loads"
  done
}

# gdb finds the same frames where programs wait: in handlers, coroutines, threads and callbacks, of stripped programs too.
test_debugger() {
  local program
  need gdb
  compile "${CC-cc}" tests/record/walked.c "$work/walked" -O2
  : >"$work/walks"
  walk() { # walk PROGRAM WORD...
    command -v "$1" >/dev/null || { lacking="test_record: $1 is not installed"; return 0; }
    timeout 60 gdb -nx -batch -x tests/record/walked.py --args "$tool" record -q -o "$work/walked.trace" "$@" >"$work/walk" 2>&1 || true
    grep -a '^walked: [1-9]' "$work/walk" >>"$work/walks" || { cat "$work/walk"; fail "debugger: no stack of $1"; }
    grep -a -A 40 '^own' "$work/walk" || true
  }
  walk "$work/walked"
  walk xz -T2 -0 -k -c gotrace.h
  walk pigz -c gotrace.h
  walk git grep -c static
  walk perl -e 'select(undef, undef, undef, .001) for 1 .. 50'
  walk /usr/bin/python3 -c 'import threading, time; [threading.Thread(target=time.sleep, args=(.01,)).start() for i in range(40)]'
  awk '{ stacks += $2; same += $4; all += $6 } END { print stacks " stacks, " same " of " all " frames"; exit !(all > 1000 && same >= all * 0.999) }' \
    "$work/walks" || fail "debugger: $(cat "$work/walks")"
}

# A byte that is in the stream's buffer costs little more than without the library. The least CPU time of twelve runs counts.
test_bytes() {
  local i
  compile "${CC-cc}" tests/record/bytes.c "$work/bytes"
  head -c 30000000 /dev/urandom >"$work/random"
  for i in $(seq 12); do
    "$work/bytes" "$work/random" "$work/time.plain" >"$work/plain"
    "$tool" record -q --no-symbolize -o "$work/bytes.trace" "$work/bytes" "$work/random" "$work/time.traced" >"$work/traced"
    cmp "$work/plain" "$work/traced" || fail "bytes: another sum"
  done
  i=$(($(sort -n "$work/time.traced" | head -n 1) * 100 / $(sort -n "$work/time.plain" | head -n 1)))
  [ $i -lt 130 ] || fail "bytes: getc takes $i % of the time that it takes untraced"
  echo "getc takes $i % of the time that it takes untraced"
}

# Code that a process compiles is in no file; what the runtime writes for perf names it. An older file does not.
test_jit() {
  local way expected
  compile "${CC-cc}" tests/record/compiles.c "$work/compiles"
  while read -r way expected; do
    if [ $way = foreign ]; then # somebody else's file, even if that is the program's owner
      [ "$(id -u)" = 0 ] || continue
      chown 65534 "$work/compiles"
      chmod 755 "$work"
    fi
    (cd "$work" && timeout 60 "$tool" record -q -o jit.trace ./compiles "$way" >traced) || fail "jit: $way"
    "$tool" check "$work/jit.trace" >/dev/null || fail "jit: $way"
    "$tool" dump --kind GoBlock "$work/jit.trace" | sed -n 's/^ *[0-9a-f]* //p' | grep -A 1 ^usleep | sed -n 2p >"$work/frame"
    rm -f /tmp/perf-"$(cat "$work/traced")".map
    # shellcheck disable=SC2053
    [[ $(cat "$work/frame") == $expected ]] || fail "jit: $way: $(cat "$work/frame")"
  done <<'END'
map one two *
script JS:scale /srv/shop.js:42
python py::total /srv/shop.py:0
dump compiled *
replaced second *
blank one two *
other 0x* *
broken 0x* *
old 0x* *
again one two *
many 0x* *
foreign 0x* *
END
  "$work/compiles" none >/dev/null || { [ $? = 77 ] && skip "a processor for which this is written"; }
}

# paused_trace TRACE ERRORS: has what the program did after the start, and nothing from before.
paused_trace() {
  judge "$1" "$2"
  "$tool" dump "$1" >"$work/events"
  ! grep -q 'burn_before\|early' "$work/events" || fail "$1: has what was before the start"
  grep -q 'burn_after' "$work/events" || grep -q 'no CPU samples' "$2" || fail "$1: no samples after the start"
  "$tool" info --json "$1" | python3 -c '
import json, sys
rows = {row["name"]: row for row in json.load(sys.stdin)["functions"]}
assert set(rows) == {"main", "waiter", "worker", "late"}, rows.keys()
' || fail "$1: which threads"
}

# Lets the program of test_paused run: at_ready PID and at_done PID are called while it waits.
run_paused() { # run_paused WANTED_STATUS AT_READY AT_DONE COMMAND...
  local recorder pid status=0
  rm -f "$work/input"
  : >"$work/said"
  mkfifo -m 600 "$work/input"
  exec 7<>"$work/input"
  "${@:4}" <"$work/input" >"$work/said" 2>"$work/err" &
  recorder=$!
  servers+=("$recorder")
  until grep -q ready "$work/said"; do sleep 0.05; done
  pid=$(pgrep -x -P "$recorder" paused || pgrep -x -P "$(pgrep -x -P "$recorder" sh)" paused)
  "$2" "$pid"
  printf x >&7
  until grep -q 'done' "$work/said"; do sleep 0.05; done
  "$3" "$pid"
  printf x >&7
  exec 7>&-
  wait "$recorder" || status=$?
  [ $status = "$1" ] || { cat "$work/err"; fail "paused: status $status"; }
}

test_paused() {
  local options status=0 trace
  compile "${CC-cc}" tests/record/paused.c "$work/paused"
  start() {
    ! "$tool" ctl "$1" waits >"$work/answer" 2>&1 || fail "paused: waits before the start"
    "$tool" ctl "$1" stats >"$work/answer"
    grep -q '^paused ' "$work/answer" && grep -q '^events       0$' "$work/answer" || { cat "$work/answer"; fail "paused: stats"; }
    "$tool" ctl "$1" start || fail "paused: start"
    ! "$tool" ctl "$1" start >"$work/answer" 2>&1 && grep -q 'recorded already' "$work/answer" || fail "paused: a second start"
  }
  look() {
    "$tool" ctl "$1" waits >"$work/answer" || fail "paused: waits"
    grep -q 'condition variable *waiter, in await_phase' "$work/answer" || { cat "$work/answer"; fail "paused: who waits"; }
  }
  for options in '' '--flight 100' '--no-switches --format 1.26' '--limit 10M --stacks=call-site'; do
    run_paused 4 start look "$tool" record --paused $options -o "$work/paused.trace" "$work/paused"
    paused_trace "$work/paused.trace" "$work/err"
  done
  open_it "$work/paused.trace" 1.27
  # All processes of the recording begin; a process that began before has a trace of its own.
  run_paused 4 start look "$tool" record --paused --children -o "$work/paused.trace" sh -c "$work/paused; exit \$?"
  for trace in "$work"/paused.[0-9]*.trace; do paused_trace "$trace" "$work/err"; done
  # Without a start there is no trace.
  rm -f "$work"/paused*.trace
  run_paused 4 true true "$tool" record --paused -o "$work/paused.trace" "$work/paused"
  grep -q '^gotrace: process [0-9]* ended before gotrace ctl [0-9]* start: it has no trace$' "$work/err" || { cat "$work/err"; fail "paused: never started"; }
  [ ! -e "$work/paused.trace" ] || fail "paused: a trace that was never started"
  "$tool" record --paused --format 1.21 true >"$work/err" 2>&1 || status=$?
  [ $status = 2 ] && grep -q 'needs --format 1.22' "$work/err" || { cat "$work/err"; fail "paused: in an old format: $status"; }
}

# The trace is complete at once, all processes go on, and what begins then is not recorded.
test_stopped() {
  local trace options
  compile "${CC-cc}" tests/record/paused.c "$work/paused"
  stop() {
    local count=0 tries=0
    "$tool" ctl "$1" stop || fail "stopped: stop"
    for trace in "$work"/paused*.trace; do
      # The others end, and all get their names, soon after.
      until "$tool" info "$trace" >"$work/answer" 2>&1 && "$tool" check "$trace" >"$work/checked" 2>&1; do
        [ $((tries += 1)) -lt 200 ] || { cat "$work/answer" "$work/checked"; fail "stopped: $trace"; }
        sleep 0.05
      done
      ! grep -q ' worker$' "$work/answer" || count=$((count + 1))
    done
    [ $count = 1 ] || fail "stopped: $count traces have the program"
    until for trace in "$work"/paused*.trace; do "$tool" dump "$trace"; done | grep 'paused.c:[0-9]' >/dev/null; do
      [ $((tries += 1)) -lt 200 ] || fail "stopped: names"
      sleep 0.05
    done
  }
  again() {
    local ask
    for ask in start stop stats waits; do ! "$tool" ctl "$1" $ask >>"$work/answer" 2>&1 || fail "stopped: $ask after the stop"; done
  }
  for options in '' '--flight 100000' '--no-switches --format 1.21'; do
    rm -f "$work"/paused*.trace
    run_paused 4 stop again "$tool" record $options -o "$work/paused.trace" "$work/paused"
    [ "$(grep -c 'the recording of process [0-9]* has been stopped' "$work/answer")" = 4 ] || { cat "$work/answer"; fail "stopped: what is said then"; }
    grep -q 'paused.trace: the recording was stopped before process [0-9]* ended' "$work/err" || { cat "$work/err"; fail "stopped: summary"; }
    judge "$work/paused.trace" "$work/err"
    ! "$tool" dump "$work/paused.trace" | grep burn_after || fail "stopped: has what came after"
  done
  rm "$work"/paused*.trace
  run_paused 4 stop again "$tool" record --children -o "$work/paused.trace" sh -c "$work/paused; status=\$?; sleep 0.01; exit \$status"
  [ "$(grep -c 'the recording was stopped before' "$work/err")" = 2 ] || { cat "$work/err"; fail "stopped: children"; }
  [ "$(ls "$work"/paused*.trace | wc -l)" = 2 ] || { ls "$work"; fail "stopped: a process that came after has a trace"; }
  ! grep -q 'traced\|early\|more' "$work/err" || { cat "$work/err"; fail "stopped: what is said of others"; }
  [ "$(grep -c 'the recording of process [0-9]*, from which it descends, has been stopped' "$work/answer")" = 4 ] ||
    { cat "$work/answer"; fail "stopped: what is said then of a child"; }
  open_it "$work/paused.trace" 1.27
  # Before the trace begins.
  local recorder pid='' status=0 turn
  prepare_slow "while (access(\"$work/begins\", F_OK) != 0) usleep(1000)"
  cd "$work"
  "$tool" record -o slow.trace ./slow 2>err &
  recorder=$!
  servers+=("$recorder")
  until [ "$pid" ] && "$tool" ctl "$pid" stop; do pid=$(pgrep -x -P "$recorder" slow || true); done
  ! "$tool" ctl "$pid" stats >answer 2>&1 && grep -q 'has been stopped' answer || { cat answer; fail "stopped: asked before it begins"; }
  touch begins
  wait "$recorder" || status=$?
  [ $status = 4 ] && ! grep -q 'ended while\|traced\|removed' err && "$tool" check slow.trace >checked ||
    { cat err; fail "stopped: before it begins: status $status"; }
  # While processes begin.
  echo '#include <stdio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    int main(void) {
      for (int i = 0; i < 150; i++) {
        if (fork() == 0) { usleep(3000); _exit(0); }
        if (i >= 4) wait(NULL);
        if (i == 8) { puts("ready"); fflush(stdout); }
      }
      while (wait(NULL) > 0) continue;
      return 4;
    }' >forks.c
  "${CC-cc}" forks.c -o forks
  for turn in 1 2 3 4 5 6 7 8; do
    rm -f forks*.trace
    : >said
    "$tool" record --children --no-symbolize -o forks.trace ./forks >said 2>err &
    recorder=$! status=0
    servers+=("$recorder")
    until grep -q ready said; do sleep 0.01; done
    "$tool" ctl "$(pgrep -x -P "$recorder" forks)" stop
    wait "$recorder" || status=$?
    [ $status = 4 ] && ! grep -v 'was stopped before\| events$' err && "$tool" check forks*.trace >checked || { cat err checked; fail "stopped: forks, $turn: status $status"; }
  done
  cd - >/dev/null
}

test_flight() {
  local traced trace status=0
  compile "${CC-cc}" tests/record/ends.c "$work/ends"
  "$tool" record --flight 2 -o "$work/flight.trace" "$work/ends" return >"$work/traced" 2>"$work/err" || status=$?
  [ $status = 9 ] || fail "flight: exit status $status"
  judge "$work/flight.trace" "$work/err"
  has_thread "$work/flight.trace" last_thing
  "$tool" record --flight 2.5 -o "$work/sleep.trace" sleep 1000 2>"$work/err" & traced=$!
  servers+=($traced)
  # The library has set its handler when the program catches SIGUSR2, which is the eleventh bit.
  catches() {
    local mask
    mask=$(awk '/^SigCgt/ { print $2 }' "/proc/$(pgrep -P $traced -x sleep)/status" 2>/dev/null) && [ "$mask" ] && [ $((0x$mask >> 11 & 1)) = 1 ]
  }
  until catches; do sleep 0.05; done
  kill -USR2 $traced
  until [ -e "$work/sleep.1.trace" ]; do sleep 0.05; done
  kill $traced
  wait $traced || true
  "$tool" check "$work/sleep.1.trace" >/dev/null || fail "the snapshot"
  # A snapshot has all that came before the signal, also if the recorder is reading at that time.
  for trace in 1 2 3; do
    status=0
    "$tool" record -q --flight 9 -o "$work/soon.trace" "$work/ends" snapshots "$work/soon.1.trace" >"$work/traced" || status=$?
    [ $status = 9 ] || fail "flight: snapshots: $status"
    for trace in "$work"/soon.[0-9]*.trace; do
      [ "$("$tool" dump "$trace" | grep -c 'GoBlock.*sleep')" -ge "$(basename "$trace" | tr -dc 0-9)" ] || fail "flight: $trace lacks what came before the signal"
    done
    rm -f "$work"/soon.*
  done
  # Not every file system has renameat2. A file that is there is kept.
  compile "${CC-cc}" tests/record/samples.c "$work/samples"
  for traced in '' --renames; do
    : >"$work/soon.1.trace"
    status=0
    ${traced:+"$work/samples" $traced} "$tool" record -q --flight 9 -o "$work/soon.trace" "$work/ends" snapshots "$work/soon-2.1.trace" >"$work/traced" || status=$?
    [ $status = 9 ] && [ ! -s "$work/soon.1.trace" ] && "$tool" check "$work/soon-2.1.trace" >/dev/null ||
      { ls "$work"; fail "flight: a snapshot beside another file $traced: status $status"; }
    [ -z "$(find "$work" -name 'soon.trace.*')" ] || fail "flight: an unfinished file is left $traced"
    rm -f "$work"/soon*
  done
  # It keeps what is younger, however the program ends, and can be asked for it.
  "$tool" record -q --flight 1 -o "$work/naps.trace" sh -c 'sleep 1.5; for i in 1 2 3; do sleep 0.2; done; touch "$0"; until [ -e "$0.asked" ] || [ $((i += 1)) = 600 ]; do sleep 0.05; done; kill -9 $$' "$work/naps" 2>/dev/null &
  traced=$!
  until [ -e "$work/naps" ]; do sleep 0.05; done
  "$tool" ctl "$(pgrep -P $traced -x sh)" snapshot -o "$work/asked.trace" || fail "ctl snapshot of a flight recorder"
  touch "$work/naps.asked"
  wait $traced || status=$?
  [ $status = 137 ] || fail "flight, killed: status $status"
  for trace in asked naps; do
    "$tool" check "$work/$trace.trace" >/dev/null || fail "flight: $trace"
    "$tool" info --json "$work/$trace.trace" | python3 -c '
import json, sys
trace = json.load(sys.stdin)["trace"]
sys.exit(not 500e6 < trace["duration"] < 2000e6)' || fail "flight: what $trace keeps"
  done
}

# ------------------------------------------------------------------------------------------------------ allocators ----

test_allocators() {
  local library found=''
  need "${CXX-g++}"
  "${CXX-g++}" -O1 -g -std=c++17 tests/record/allocates.cpp -o "$work/allocates" -pthread
  compare "$work/allocates"
  for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.{3,2,2.0}; do
    ls /usr/lib/*/$library >/dev/null 2>&1 || continue
    found+=" $library"
    LD_PRELOAD=$library compare "$work/allocates"
    if "${CXX-g++}" -O1 -g -std=c++17 tests/record/allocates.cpp -o "$work/linked" -pthread -Wl,--no-as-needed \
      "$(ls /usr/lib/*/$library | head -n 1)"; then compare "$work/linked"; fi
  done
  [ "$found" ] || skip "an allocator (libjemalloc2, libtcmalloc-minimal4, libmimalloc3 or libmimalloc2.0)"
}

# ------------------------------------------------------------------------------------------------ programs of others ----

test_xz() { need xz; make_input; compare xz -T2 --block-size=1MiB -1 -c "$work/input"; threads 3; }
test_pigz() { need pigz; make_input; compare pigz -p 3 -nc "$work/input"; threads 4; }
test_zstd() { need zstd; make_input; compare zstd -T2 -B1M -q -c "$work/input"; threads 3; }
test_lbzip2() { need lbzip2; make_input; compare lbzip2 -n 3 -c "$work/input"; threads 3; }
test_pixz() { need pixz; make_input; input=$work/input compare pixz -1 -p 2; threads 2; }
test_plzip() { need plzip; make_input; compare plzip -n 3 -B 1MiB -c "$work/input"; threads 4; } # C++

# Rust. Its threads print in any order, so all matches are in one file.
test_ripgrep() {
  local i
  command -v rg >/dev/null || skip ripgrep
  mkdir "$work/files"
  for i in 1 2 3 4 5 6 7 8; do seq ${i}00000 ${i}99999 >"$work/files/$i"; done
  compare rg -j 3 --no-config -n '^4[0-9]+77$' "$work/files"
  threads 3
}

test_git_grep() {
  need git
  export GIT_CONFIG_GLOBAL=/dev/null
  git init -q "$work/repository"
  cp -r gotrace.h tests examples "$work/repository"
  git -C "$work/repository" add -A
  compare git -C "$work/repository" --no-pager grep --threads=3 -n pthread
  threads 4
}

test_python() {
  need /usr/bin/python3
  cat >"$work/pool.py" <<'END'
import concurrent.futures, hashlib, threading, queue
def digest(n): return hashlib.sha256(b'x' * (n * 100000)).hexdigest()
with concurrent.futures.ThreadPoolExecutor(4) as pool: print(list(pool.map(digest, range(40))))
q = queue.Queue(); threads = [threading.Thread(target=lambda: q.put(threading.current_thread().name)) for _ in range(5)]
[t.start() for t in threads]; [t.join() for t in threads]; print(sorted(q.get() for _ in threads))
raise SystemExit(5)
END
  compare /usr/bin/python3 "$work/pool.py"
  threads 6
  # Three threads that only calculate take turns by one lock.
  cat >"$work/turns.py" <<'END'
import threading
threads = [threading.Thread(target=lambda: sum(i * i for i in range(1000000))) for _ in range(3)]
[t.start() for t in threads]; [t.join() for t in threads]
END
  "$tool" record -q --no-sample --no-switches -o "$work/turns.trace" /usr/bin/python3 "$work/turns.py"
  "$tool" info --json "$work/turns.trace" | python3 -c '
import json, sys
waits = json.load(sys.stdin)["waits"]
locks = {(row["class"], row["place"]) for row in waits if row["class"] != "semaphore"}
assert locks == {("Python\x27s GIL", "take_gil")}, locks
' || fail "python: its global lock"
}

test_node() {
  need node
  cat >"$work/pool.js" <<'END'
const { pbkdf2 } = require('crypto'), fs = require('fs'), { Worker } = require('worker_threads');
let left = 9;
const done = () => { if (--left === 0) { console.log('done'); process.exitCode = 4; } };
for (let i = 0; i < 8; i++) pbkdf2('p' + i, 's', 2000, 32, 'sha256', done);
fs.readFile(__filename, done);
new Worker('require("worker_threads").parentPort.postMessage(7)', { eval: true }).on('message', m => console.log(m));
END
  same=same_lines compare node "$work/pool.js"
  threads 5
}
same_lines() { cmp <(sort "$1") <(sort "$2"); }

test_openmp() {
  need clang
  echo 'int main(void) { return 0; }' >"$work/empty.c"
  clang -fopenmp "$work/empty.c" -o "$work/empty" 2>/dev/null || skip libomp-dev
  cat >"$work/openmp.c" <<'END'
#include <stdio.h>
int main(void) {
  double sum = 0;
  int round, tasks = 0;
  for (round = 0; round < 10; round++) {
    int i;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (i = 0; i < 100000; i++) sum += i % 7;
  }
#pragma omp parallel num_threads(3)
#pragma omp single
  for (round = 0; round < 20; round++) {
#pragma omp task
#pragma omp critical
    tasks++;
  }
  printf("%.0f %d\n", sum, tasks);
  return 6;
}
END
  clang -O1 -g -fopenmp "$work/openmp.c" -o "$work/openmp"
  compare "$work/openmp"
  threads 23 # includes the tasks
  # The library contains the OpenMP adapter, so waits have OpenMP's names. A wait reported twice would be a problem.
  "$tool" dump "$work/trace.1.23" >"$work/dumped"
  [ "$(grep -c 'GoBlock.*OpenMP: critical' "$work/dumped")" = 20 ] || fail 'a task enters each critical section once'
  [ "$(grep -c 'GoBlock.*OpenMP: barrier' "$work/dumped")" -ge 22 ] || fail 'threads wait at barriers'
}

test_cpp() {
  # A thread goes by the function that it begins with, not by what the compiler has put at its beginning.
  cat >"$work/begins.cpp" <<'END'
#include <thread>
struct Job { volatile int left; void operator()() { while (left) left = left - 1; } };
int main() { std::thread(Job{1000}).join(); }
END
  need "${CXX-g++}"
  "${CXX-g++}" -O2 -g "$work/begins.cpp" -o "$work/begins" -pthread
  "$tool" record -q -o "$work/begins.trace" "$work/begins"
  "$tool" dump --kind GoCreate "$work/begins.trace" | grep -A 1 new_stack: >"$work/begun"
  ! command -v llvm-symbolizer >/dev/null || grep -q 'std::thread::_State_impl<.*Job.*::_M_run() .*:[1-9]' "$work/begun" ||
    fail "begins: $(cat "$work/begun")"

  need "${CXX-g++}"
  cat >"$work/cpp.cpp" <<'END'
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>
static int made;
struct slow { slow() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); made++; } };
static slow &only() { static slow s; return s; }
int main() {
  std::mutex m; std::condition_variable c; std::shared_mutex s; int n = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < 4; i++) all.emplace_back([&] {
    only();
    for (int k = 0; k < 200; k++) { std::lock_guard<std::mutex> l(m); n++; }
    for (int k = 0; k < 50; k++) { std::shared_lock<std::shared_mutex> l(s); }
    for (int k = 0; k < 50; k++) { std::unique_lock<std::shared_mutex> l(s); }
    { std::unique_lock<std::mutex> l(m); c.notify_all(); }
  });
  { std::unique_lock<std::mutex> l(m); while (n < 800) c.wait_for(l, std::chrono::milliseconds(5)); }
  for (auto &t : all) t.join();
  std::once_flag once;
  for (int i = 0; i < 3; i++) try { std::call_once(once, [&] { if (i < 2) throw i; n += 1000; }); } catch (int caught) { n += caught; }
  auto f = std::async(std::launch::async, [] { if (made) throw 42; return 1; });
  try { f.get(); } catch (int caught) { std::printf("%d %d %d\n", n, made, caught); }
}
END
  "${CXX-g++}" -O1 -g -std=c++17 "$work/cpp.cpp" -o "$work/cpp" -pthread
  compare "$work/cpp"
  threads 6
}

# A server under load, which ends on request. serve FORMAT "OPTIONS" COMMAND...: runs it traced in the background.
serve() {
  "$tool" record -o "$work/trace.$1" --format "$1" $2 -- "${@:3}" >"$work/served" 2>"$work/served.err" &
  server=$!
  servers+=($server)
}

test_redis() {
  need redis-server
  need redis-benchmark
  local format socket=$work/redis.sock
  for format in 1.23 1.21; do
    serve $format --stacks=frame-pointers redis-server --port 0 --unixsocket "$socket" --save '' --io-threads 2 --dir "$work"
    until redis-cli -s "$socket" ping >/dev/null 2>&1; do kill -0 $server || { cat "$work/served.err"; fail redis; }; sleep 0.1; done
    redis-benchmark -s "$socket" -n 3000 -c 10 -t set,get -q >"$work/load"
    grep -q 'GET: ' "$work/load" || fail "redis-benchmark: $(cat "$work/load")"
    redis-cli -s "$socket" shutdown nosave || true
    wait $server || { cat "$work/served.err"; fail "redis-server: exit status $?"; }
    judge "$work/trace.$format" "$work/served.err"
  done
  open_it "$work/trace.1.23" 1.27
  open_it "$work/trace.1.21" 1.21 -p
  threads 4
}

test_memcached() {
  need memcached
  local format status
  for format in 1.23 1.21; do
    serve $format --stacks=none memcached -u root -s "$work/memcached.sock" -t 3
    until [ -S "$work/memcached.sock" ]; do kill -0 $server || { cat "$work/served.err"; fail memcached; }; sleep 0.1; done
    python3 - "$work/memcached.sock" <<'END' || fail "memcached: wrong answers"
import socket, sys, threading
def load(name):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1]); f = s.makefile('rwb')
        for i in range(300):
            f.write(b'set %s%d 0 0 5\r\nhello\r\n' % (name, i)); f.flush(); assert f.readline() == b'STORED\r\n'
            f.write(b'get %s%d\r\n' % (name, i)); f.flush(); assert f.readline().startswith(b'VALUE'); f.readline(); f.readline()
threads = [threading.Thread(target=load, args=(b'k%d_' % i,)) for i in range(6)]
[t.start() for t in threads]; [t.join() for t in threads]
END
    kill $server
    status=0
    wait $server || status=$?
    [ $status = 0 ] || { cat "$work/served.err"; fail "memcached: exit status $status"; }
    judge "$work/trace.$format" "$work/served.err"
  done
  open_it "$work/trace.1.23" 1.27
  open_it "$work/trace.1.21" 1.21 -p
  threads 4
}

status=0
for name in ${*:-$names}; do
  declare -F "test_$name" >/dev/null || fail "no test is called $name"
  (
    trap kill_servers EXIT
    "test_$name" || exit
    [ -z "$lacking" ] || { echo "$lacking"; exit 77; }
  ) && echo "$name: ok" || { code=$?; [ $code = 77 ] && [ $status = 0 ] && status=77 || { [ $code = 77 ] || status=1; }; }
  rm -rf "${work:?}"/*
done
exit $status
