#!/usr/bin/env bash
# The command-line tool: every command on traces of every format, its results, and its failures.
#
#     tests/tool/test_tool.sh [-g] [TRACE...]     -g: also open the results with the unpacked Go releases
#
# The examples write a trace in each format; TRACEs are added to these. Each is converted to every output format and cut
# in several places. Each result must pass `gotrace check`, and a conversion of v2 to its own format must have the same
# events.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/need.sh python3

go=
if [ "${1-}" = -g ]; then
  go=1
  shift
fi
tool=build/examples/gotrace
for program in examples/{gotrace,scheduler,threads} tests/quick/hello_formats; do
  make -q build/$program || { echo "build/$program is not built, or is older than its source"; exit 1; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
formats=${GOTRACE_TEST_FORMATS:-$(tests/formats.sh)} # fewer in the quick tests
formats=${formats//,/ }
traces=("$@")

. tests/expect.sh

open_with_go() {
  local releases status=0
  [ -n "$go" ] || return 0
  case $(head -c 16 "$1" | tr -d '\0') in
    'go 1.8 trace' | 'go 1.10 trace') releases="1.21" ;;
    'go 1.11 trace' | 'go 1.19 trace' | 'go 1.21 trace') releases="1.21 1.27" ;;
    *) releases="1.27" ;;
  esac
  # shellcheck disable=SC2086
  tests/go/open_in_go.sh "$1" $releases >"$dir/go" 2>&1 || status=$?
  [ $status = 0 ] || [ $status = 77 ] || fail "$2: $(head -c 1000 "$dir/go")"
}

# The time of the last event of a trace, since the first.
last_time() { "$tool" dump "$1" | grep -v '^ ' | tail -n 1 | cut -d ' ' -f 1; }

# Fails if a result has the wrong duration. Readers place each status at its end a nanosecond after the one before.
lasts() { # lasts FILE NANOSECONDS WHAT
  local lasting
  lasting=$(last_time "$1")
  [ "$lasting" -ge "$2" ] && [ "$lasting" -le $(($2 + 2000)) ] || fail "$3 lasts $lasting ns, not $2"
}

# The distinct goroutine statuses of a v2 trace, with their stacks.
statuses() {
  "$tool" dump "$1" | awk '
    /^[0-9]/ { show(); on = $2 == "GoStatusStack"; for (i = 3; on && i <= NF; i++) if ($i ~ /^(g|gstatus)=/) said = said " " $i }
    /^        / && on { said = said "; " $0 }
    function show() { if (said != "") print said; said = "" }
    END { show() }' | sort -u
}

# The events of a v2 trace that a conversion keeps: without statuses, sequence numbers, offsets.
story() {
  "$tool" dump "$1" | grep -v -E '^ |^[0-9]+ (Sync|GoStatus|GoStatusStack|ProcStatus|G[A-Za-z]+Active) ?' |
    sed -E 's/^[0-9]+ //; s/ (p_seq|g_seq|gc_seq|new_stack|stack)=[0-9]+//g'
}

for format in $formats; do
  for example in examples/scheduler examples/threads tests/quick/hello_formats; do
    name=$(basename $example)
    arguments=(-o "$dir/$name-$format.trace" -f "$format")
    [ $name = hello_formats ] || arguments+=(-j 4 examples tests)
    build/$example "${arguments[@]}" >/dev/null 2>&1 || fail "$example $format"
    traces+=("$dir/$name-$format.trace")
  done
done

count=0
for trace in "${traces[@]}"; do
  name=$(basename "$trace")
  expect 0 check "$trace"
  expect 0 info "$trace"
  for arguments in dump 'dump --json' 'dump --wire' 'dump --wire --json'; do
    # shellcheck disable=SC2086
    expect 0 $arguments "$trace"
    [ -s "$dir/out" ] || fail "$arguments $trace: nothing"
    [[ $arguments != *json ]] || python3 -c 'import json, sys
for line in sys.stdin.buffer: json.loads(line.decode("utf-8"))' <"$dir/out" || fail "$arguments $name: no JSON"
  done
  last=$(last_time "$trace")
  header=$(head -c 16 "$trace" | tr -d '\0')
  v1=
  case $header in 'go 1.5 '* | 'go 1.7 '* | 'go 1.8 '* | 'go 1.9 '* | 'go 1.1'* | 'go 1.21 '*) v1=1 ;; esac
  for format in $formats; do
    expect 0 convert --to "$format" -o "$dir/result" "$trace"
    expect 0 check "$dir/result"
    lasts "$dir/result" "$last" "$name to $format"
    # Only v2 has the ends of system calls; coroutine switches exist from 1.23 on.
    if [ -n "$v1" ] || [[ $format > 1.22 && ${#format} = 4 ]]; then
      cp "$dir/result" "$dir/same-$format" # compared below, by one process for all
      printf '%s\t%s\n' "$trace" "$dir/same-$format" >>"$dir/pairs"
    fi
    open_with_go "$dir/result" "$name to $format"
    count=$((count + 1))
    if [ "$format" = 1.21 ] && [ -z "$v1" ]; then
      labels=$("$tool" dump "$trace" | grep -c '^[0-9]* GoLabel' || true)
      [ "$labels" = "$("$tool" dump "$dir/result" | grep -c '^[0-9]* GoLabel' || true)" ] || fail "$name: not $labels labels in 1.21"
    fi
    [ "$header" = "go $format trace" ] || continue
    [[ $format > 1.21 && ${#format} = 4 ]] || continue
    story "$trace" >"$dir/before"
    story "$dir/result" >"$dir/after"
    diff "$dir/before" "$dir/after" >"$dir/diff" || fail "$name to $format: $(head -n 6 "$dir/diff")"
    [ "$format" != 1.22 ] || continue
    statuses "$trace" >"$dir/before"
    statuses "$dir/result" >"$dir/after"
    [ -z "$(comm -23 "$dir/before" "$dir/after")" ] || fail "$name to $format: without $(comm -23 "$dir/before" "$dir/after" | head -n 2)"
  done
  if [ -s "$dir/pairs" ]; then
    tests/tool/conversion_keeps_info.py $tool <"$dir/pairs" >"$dir/diff" 2>&1 || fail "$name: $(head -n 6 "$dir/diff")"
    : >"$dir/pairs"
  fi
  for part in "0 50" "30 70" "60 100"; do
    read -r from to <<<"$part"
    expect 0 cut --from $((last * from / 100)) --to $((last * to / 100)) -o "$dir/result" "$trace"
    expect 0 check "$dir/result"
    lasts "$dir/result" $((last * to / 100 - last * from / 100)) "$name cut from $from to $to %"
    open_with_go "$dir/result" "$name cut from $from to $to %"
    count=$((count + 1))
  done
done

# Traces made event by event have cases that those of the examples have not.
mkdir "$dir/made"
python3 tests/tool/made_trace.py "$dir/made"
for trace in "$dir"/made/*.trace; do
  expect 0 convert --to 1.26 -o "${trace%.trace}-1.26" "$trace"
  printf '%s\t%s\n' "$trace" "${trace%.trace}-1.26" >>"$dir/pairs"
  open_with_go "${trace%.trace}-1.26" "$(basename "$trace") to 1.26"
done
tests/tool/conversion_keeps_info.py $tool <"$dir/pairs" >"$dir/diff" 2>&1 || fail "$(head -n 6 "$dir/diff")"
tests/tool/info_jobs.py $tool "$dir"/made/*.trace >"$dir/said" || fail "info: $(cat "$dir/said")"

# Where a proc of v1 goes from thread to thread at one time, v2 has two times: Go might refuse equal ones.
(cd tests/tool && python3 -Bc 'import made_trace, sys; sys.stdout.buffer.write(made_trace.OldHandoffs.data())') >"$dir/handoffs"
for format in 1.22 1.26; do
  expect 0 convert --to $format -o "$dir/result" "$dir/handoffs"
  open_with_go "$dir/result" "procs that are handed off to $format"
done
# A later thread of the input does not get the id of one that the tool has added.
expect 0 cut --go 2 -o "$dir/result" "$dir/made/converted_before.trace"
open_with_go "$dir/result" "a goroutine of a trace that was converted before"

# Of a report of CPU time, a part has the share of the time that the report is about.
cpu() { "$tool" info --json "$@" "$dir/made/recorded.trace" | grep -o '"cpu":[0-9]*'; }
[ "$(cpu) $(cpu --from 30000 --to 60000)" = '"cpu":38000 "cpu":15000' ] || fail "CPU time of a part: $(cpu --from 30000 --to 60000)"

# v1 has a label in the event that starts its goroutine, also if the number of procs comes between the two.
expect 0 convert --to 1.21 -o "$dir/result" "$dir/made/labelled.trace"
open_with_go "$dir/result" 'a label to 1.21'
"$tool" dump "$dir/result" | grep -q '^2000 GoLabel .*label_string="worker 1"' || fail 'the label is lost'
# A part begins with the labels of the goroutines that run.
for trace in "$dir/result" "$dir/made/labelled.trace"; do
  expect 0 cut --from 3000 --to 4000 -o "$dir/labelled" "$trace"
  open_with_go "$dir/labelled" 'a label in a part'
  "$tool" dump "$dir/labelled" | grep -Eq '^[0-9] GoLabel .*label_string="worker 1"' || fail 'the label is lost in a part'
done

# A part with some goroutines has the collections that began on them, to their ends, and every number of procs.
shared() { "$tool" dump "$1" | sed -nE 's/^([0-9]+) (GCBegin|GCEnd|ProcsChange)( .*procs=([0-9]+))?.*/\1 \2 \4/p'; }
expect 0 convert --to 1.21 -o "$dir/shared-1.21" "$dir/made/shared_changes.trace"
while IFS=: read -r trace go want; do
  expect 0 cut --go "$go" -o "$dir/result" "$trace"
  open_with_go "$dir/result" "cut --go $go of $(basename "$trace")"
  found=$(shared "$dir/result" | tr '\n' ',' | tr -d ' ')
  [ "$found" = "$want" ] || fail "cut --go $go of $(basename "$trace"): $found"
done <<END
$dir/made/shared_changes.trace:1:500ProcsChange2,1000GCBegin,1300GCEnd,4000GCBegin,4302GCEnd,6101ProcsChange7,
$dir/made/shared_changes.trace:2:2000GCBegin,2300GCEnd,3000GCBegin,3300GCEnd,5000ProcsChange7,
$dir/shared-1.21:1:0ProcsChange2,0ProcsChange2,500ProcsChange2,6100ProcsChange7,7001ProcsChange7,
END

# A part has the mark assist that began before it, and the number of procs, so as much of them is left to the program.
least_share() { "$tool" info --json "$@" | grep -o '"minimum":[0-9.]*' | tail -n 1 || true; }
expect 0 convert --to 1.21 -o "$dir/made/collecting-1.21" "$dir/made/collecting.trace"
for trace in "$dir"/made/collecting{.trace,-1.21}; do
  expect 0 cut --from 5100 --to 6900 -o "$dir/result" "$trace"
  open_with_go "$dir/result" "a mark assist in a part of $(basename "$trace")"
  shares="$(least_share --from 5100 --to 6900 "$trace") $(least_share "$dir/result")"
  [ "$shares" = '"minimum":0.75 "minimum":0.75' ] || fail "least shares of procs in a part of $(basename "$trace"): $shares"
done
expect 0 cut --from 150000 --to 180000 -o "$dir/result" "$dir/made/carried.trace"
"$tool" export --chrome "$dir/result" | grep -q '"ts":0.*"heap".*"bytes":1000001' || fail "a part does not begin with the heap's size"
expect 0 convert --to 1.26 -o "$dir/result" "$dir/made/collecting.trace"
shares="$(least_share "$dir/made/collecting.trace" | head -c 14) $(least_share "$dir/result" | head -c 14)"
[ "$shares" = '"minimum":0.75 "minimum":0.75' ] || fail "least shares of procs with an assist since the start: $shares"

# Exports, with the properties that viewers need; tests/tool/exports.sh has more traces.
tests/tool/exports.py --parts "$dir"/{scheduler,hello_formats}-{1.11,1.23}.trace "$dir"/made/*.trace >"$dir/said" || fail "export: $(cat "$dir/said")"

# Standard input and output.
trace=$dir/scheduler-1.23.trace
"$tool" convert --to 1.21 - <"$trace" >"$dir/result" 2>"$dir/err" || fail "convert from standard input"
expect 0 check "$dir/result"
(cat "$trace") | "$tool" check - >/dev/null || fail "check of a pipe"
(cat "$trace") | "$tool" info - >/dev/null || fail "info of a pipe"
[ "$("$tool" dump "$trace" | cksum)" = "$(cat "$trace" | "$tool" dump - | cksum)" ] || fail "dump of a pipe is another"

# If the output format lacks something, the tool reports it in one line; otherwise it prints nothing.
expect 0 convert --to 1.8 -o "$dir/result" "$dir/hello_formats-1.23.trace"
grep -qE '^gotrace: .*: not kept in format 1\.8: .*tasks, regions and logs \([1-9]' "$dir/err" && [ "$(wc -l <"$dir/err")" = 1 ] ||
  fail "conversion to 1.8 says: $(cat "$dir/err")"
expect 0 convert --to 1.25 -o "$dir/result" "$dir/hello_formats-1.23.trace"
[ ! -s "$dir/err" ] || fail "conversion to 1.25 says: $(cat "$dir/err")"

# A collection that runs when a part begins does not need its own proc and goroutine, even if no goroutine runs then.
# Scans are kept in 1.8, and a conversion to another format reports them.
cat >"$dir/collection.c" <<'C'
#define _GNU_SOURCE
#include "gotrace.h"
#include <unistd.h>
int main(int argc, char **argv) {
  gotrace_options options = {0};
  options.format = argc > 2 ? GOTRACE_GO_1_8 : GOTRACE_GO_1_23;
  if (gotrace_start_file(argv[1], &options) != GOTRACE_OK) return 1;
  gotrace_gc_begin();
  if (argc > 2) gotrace_gc_scan_begin();
  if (argc > 2) gotrace_gc_scan_end();
  gotrace_go_syscall_begin();
  usleep(3000);
  gotrace_go_syscall_end();
  gotrace_gc_end();
  return gotrace_stop() != GOTRACE_OK;
}
C
"${CC-cc}" -I. "$dir/collection.c" build/tests/quick/gotrace.a -o "$dir/collection" -pthread -ldl
"$dir/collection" "$dir/collection-1.23" && "$dir/collection" "$dir/collection-1.8" scan || fail "no trace of a collection"
call=$("$tool" dump "$dir/collection-1.23" | awk '$2 == "GoSyscallBegin" { print $1; exit }')
for from in $((call + 1000)) $((call + 1000000)); do
  expect 0 cut --from $from --to $((from + 1500000)) -o "$dir/result" "$dir/collection-1.23"
  "$tool" dump "$dir/result" >"$dir/events"
  grep -q ' GCActive' "$dir/events" || fail "the part has no collection"
  ! grep -E 'proc=9000|g=1099511627776' "$dir/events" || fail "a proc or goroutine is invented for a collection"
done
scans() { "$tool" dump --wire "$1" | grep -cE '^[0-9]+ GCScan(Start|Done)( |$)'; }
expect 0 convert --to 1.8 -o "$dir/result" "$dir/collection-1.8"
[ "$(scans "$dir/collection-1.8")" = 2 ] && [ "$(scans "$dir/result")" = 2 ] || fail "scans in 1.8: $(scans "$dir/result")"
expect 0 convert --to 1.11 -o "$dir/result" "$dir/collection-1.8"
grep -q 'GCScanStart and GCScanDone, .* (1)$' "$dir/err" || fail "scans are not named: $(cat "$dir/err")"

# Conversions and cuts keep the modules that gotrace symbolize needs, in each generation.
"$tool" record --no-symbolize -q --stacks=frame-pointers -o "$dir/recorded" sleep 0.01
modules() { "$tool" dump --wire "$1" | grep -o '"gotrace\.module [^"]*' | sort -u; }
[ -n "$(modules "$dir/recorded")" ] || fail "the trace names no modules"
for arguments in 'convert --to 1.8' 'convert --to 1.21' 'convert --to 1.22' 'convert --to 1.26' 'cut --from 1ms --to 5ms'; do
  # shellcheck disable=SC2086
  expect 0 $arguments -o "$dir/result" "$dir/recorded"
  diff <(modules "$dir/recorded") <(modules "$dir/result") || fail "$arguments loses modules"
done
# Also one whose text lies across two of the pieces in which the tool searches for it.
PYTHONPATH=tests/tool python3 - "$dir/across" <<'PYTHON'
import sys
from made_trace import GO_STATUS, HEAP_ALLOC, PROC_STATUS, RUNNING, Trace
piece, at, time = 1 << 20, 0, 2
t = Trace()
t.string("gotrace.module 400000 400000-500000 - /nowhere")
t.event(1, 0, PROC_STATUS, 1, 1)
t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
while at < piece - 13:
    count = (piece - 1 - at) // 12  # each takes 12 bytes, and every 5,000 the head of a batch
    for _ in range(count - 100 if count > 100 else count):
        t.event(1, time, HEAP_ALLOC, 1 << 63)
        time += 1
    data = t.data()
    at = data.find(b"gotrace.module")
assert at < piece
with open(sys.argv[1], "wb") as file:
    file.write(data)
PYTHON
expect 0 convert --to 1.26 -o "$dir/result" "$dir/across"
[ "$(modules "$dir/result")" = '"gotrace.module 400000 400000-500000 - /nowhere' ] || fail "a module is lost: $(modules "$dir/result")"

# Times.
for time in 1ms 1000us 1000000ns 1000000 0.001s; do
  expect 0 cut --from 0 --to $time -o "$dir/cut-$time" "$trace"
  cmp "$dir/cut-1ms" "$dir/cut-$time" || fail "$time is not 1ms"
done

# A broken tail: prints the events before it and the error; status 1; leaves no file. Since a v1 trace may end between
# two events, an unterminated number follows the truncation.
mkdir "$dir/left"
{ head -c $(($(wc -c <"$dir/threads-1.8.trace") * 2 / 3)) "$dir/threads-1.8.trace" && printf '\377\377\377'; } >"$dir/broken"
for arguments in "check" "info" "dump"; do
  expect 1 "$arguments" "$dir/broken"
  [ -s "$dir/err" ] || [ "$arguments" = check ] || fail "$arguments: no message"
done
head -c 100 /dev/zero >"$dir/zeros"
for file in "$dir/broken" "$dir/zeros" "$dir/nowhere" "$dir" /dev/null; do
  for arguments in "convert --to 1.26" "cut --from 0 --to 1s" "export --chrome" "export --perfetto"; do
    # shellcheck disable=SC2086
    expect 1 $arguments -o "$dir/left/result" "$file"
    grep -q "^gotrace: $file: " "$dir/err" || fail "$arguments $file: $(cat "$dir/err")"
    [ -z "$(ls "$dir/left")" ] || fail "$arguments $file leaves $(ls "$dir/left")"
    # shellcheck disable=SC2086
    expect 1 $arguments "$file"
    [ ! -s "$dir/out" ] || fail "$arguments $file: writes though it fails"
  done
done
(cat "$trace"; head -c 3000 "$trace") >"$dir/tail"
expect 1 dump "$dir/tail"
grep -q GoStart "$dir/out" || fail "dump of a broken tail gives nothing"
events=$(grep -vc '^ ' "$dir/out")
expect 1 convert --to 1.25 -o "$dir/left/result" "$dir/tail"
expect 0 convert --to 1.25 --partial -o "$dir/left/result" "$dir/tail"
grep -q 'kept what comes before: [0-9]* events, until [0-9]*\.[0-9]* s$' "$dir/err" ||
  fail "convert --partial: $(cat "$dir/err")"
kept=$(sed -n 's/.*kept what comes before: \([0-9]*\) events.*/\1/p' "$dir/err")
[ "$kept" = "$events" ] || fail "convert --partial kept $kept events of $events"
expect 0 check "$dir/left/result"
expect 0 cut --proc 0 --partial -o "$dir/left/result" "$dir/tail" # reads the trace twice
[ "$(wc -l <"$dir/err")" = 1 ] && grep -q 'kept what' "$dir/err" || fail "cut --proc --partial says: $(cat "$dir/err")"
expect 0 check "$dir/left/result"
expect 1 cut --proc 0 -o "$dir/left/result" "$dir/tail"

# If the trace is truncated before its first event, no file is left.
rm "$dir/left/result"
head -c 40 "$dir/threads-1.23.trace" >"$dir/early"
expect 1 convert --to 1.25 --partial -o "$dir/left/result" "$dir/early"
[ -z "$(ls "$dir/left")" ] || fail "nothing was kept in $(ls "$dir/left")"

# Output to a pipe is complete and the pipe remains a pipe; a link remains a link; a file keeps its permissions.
expect 0 convert --to 1.25 -o "$dir/left/result" "$trace"
mkfifo "$dir/pipe"
cat "$dir/pipe" >"$dir/piped" &
expect 0 convert --to 1.25 -o "$dir/pipe" "$trace"
wait $!
[ -p "$dir/pipe" ] && cmp "$dir/piped" "$dir/left/result" || fail "-o to a pipe"
echo old >"$dir/file" && chmod 640 "$dir/file" && ln -s file "$dir/link"
expect 0 convert --to 1.25 -o "$dir/link" "$trace"
[ -L "$dir/link" ] && cmp "$dir/file" "$dir/left/result" || fail "-o to a link"
[ "$(stat -c %a "$dir/file")" = 640 ] || fail "-o changes rights to $(stat -c %a "$dir/file")"
ln -s nowhere "$dir/dangling"
expect 1 convert --to 1.25 -o "$dir/dangling" "$trace"
expect 1 convert --to 1.25 -o "$dir/left" "$trace"

# Output that cannot be written is an error and leaves no file. Neither does a program ended by a signal.
for arguments in info check dump 'convert --to 1.25' 'export --chrome'; do
  # shellcheck disable=SC2086
  "$tool" $arguments "$trace" >/dev/full 2>"$dir/err" && fail "$arguments: status 0 although nothing could be written"
  grep -q 'No space' "$dir/err" || fail "$arguments: $(cat "$dir/err")"
done
rm "$dir/left/result"
(ulimit -f 2 && "$tool" dump "$trace" >"$dir/limited") 2>"$dir/err" && fail "a file as large as is allowed is no error"
(ulimit -f 2 && "$tool" export --chrome -o "$dir/left/result" "$trace") 2>"$dir/err" && fail "such a file is no error"
mkdir "$dir/temporary"
(ulimit -f 2 && TMPDIR=$dir/temporary "$tool" export --chrome "$trace" | cat >"$dir/result") 2>"$dir/err" && fail "nor is a temporary one"
grep -qF "cannot write a temporary file in $dir/temporary: " "$dir/err" || fail "a temporary file: $(cat "$dir/err")"
[ -z "$(ls "$dir/left")" ] || fail "a file that gets too large leaves $(ls "$dir/left")"
build/examples/scheduler -o "$dir/large" -f 1.23 -j 4 /usr/include >/dev/null 2>&1 || fail "a large trace"
killed=
for try in $(seq 100); do
  "$tool" export --chrome -o "$dir/left/result" "$dir/large" 2>"$dir/err" &
  while kill -0 $! 2>/dev/null && [ -z "$(ls "$dir/left")" ]; do :; done
  kill -TERM $! 2>/dev/null || true
  status=0
  wait $! || status=$?
  [ $status != 143 ] || killed=$try
  [ $status != 143 ] || [ -z "$(ls "$dir/left")" ] || fail "a signal leaves $(ls "$dir/left")"
  rm -f "$dir"/left/*
  [ -z "$killed" ] || break
done
[ -n "$killed" ] || fail "no signal came in time"

# Generations are counted correctly, whichever number a flight recorder's snapshot begins with.
tests/examples/flight_trace.sh "$dir/flight" 2
for trace in "$dir"/flight* "$dir/scheduler-1.23.trace"; do
  syncs=$("$tool" dump "$trace" | grep -c ' Sync') # one more than generations
  expect 0 info "$trace"
  grep -q "^generations  *$((syncs - 1))\$" "$dir/out" || fail "not $((syncs - 1)) generations: $(grep ^gener "$dir/out")"
done
trace=$dir/scheduler-1.23.trace

# Names can neither send control sequences to the terminal nor forge lines.
python3 - "$trace" "$dir/forged" <<'PYTHON'
import sys
data = open(sys.argv[1], "rb").read()
assert b"read_files" in data
open(sys.argv[2], "wb").write(data.replace(b"read_files", b"m\n0 \x1b[2J\x7fx"))
PYTHON
expect 0 dump "$dir/forged"
grep -q 'm?0 ?\[2J?' "$dir/out" || fail "the forged name is not there"
! LC_ALL=C grep -q -e $'\x1b' -e '^0 .\[2J' "$dir/out" || fail "a name forges a line"

# Traces made to take long: ids where the tool looks for new ones, and a long string that many frames refer to.
python3 - "$dir" <<'PYTHON'
import sys
def number(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])
def event(kind, *arguments):
    body = b"".join(map(number, arguments))
    return bytes([kind | min(len(arguments) - 1, 3) << 6]) + (number(len(body)) if len(arguments) > 3 else b"") + body
BATCH, FREQUENCY, STACK, PROC_START, PROC_STOP, GO_CREATE, STRING = 1, 2, 3, 5, 6, 13, 37
start = b"go 1.8 trace\0\0\0\0" + event(BATCH, 0, 1) + bytes([FREQUENCY]) + number(10**9)
with open(sys.argv[1] + "/ids", "wb") as out: # thread ids where the tool looks for new ones; each start needs one
    out.write(start)
    for i in range(200000):
        out.write(event(PROC_START, 1, (1 << 40) + 200000 + i) + event(PROC_STOP, 1))
    for i in range(1, 40000):
        out.write(event(BATCH, i, 10**6) + event(PROC_START, i, (1 << 40) + 200000))
for name, stacks, frames in ("frames", 100, 900), ("stack", 1, 300):
    with open(sys.argv[1] + "/" + name, "wb") as out:
        out.write(start + bytes([STRING]) + number(1) + number(900000) + b"a" * 900000)
        for i in range(1, stacks + 1):
            out.write(event(STACK, i, frames, *[n for k in range(frames) for n in (i, 1, 1, 1)]))
        out.write(event(PROC_START, 1, 1))
        for i in range(1, stacks + 1):
            out.write(event(GO_CREATE, 1, i, i, 0))
PYTHON
for hostile in ids frames; do
  expect 0 check "$dir/$hostile"
  timeout 60 "$tool" info "$dir/$hostile" >"$dir/out" 2>"$dir/err" || fail "info of $hostile: status $?"
done
for arguments in dump 'dump --json'; do
  # shellcheck disable=SC2086
  size=$( (ulimit -v 400000 && "$tool" $arguments "$dir/stack") | wc -c) || fail "$arguments of a stack"
  [ "$size" -gt 500000000 ] || fail "$arguments of a stack: only $size bytes"
done

# v1: a FutileWakeup does not end the goroutine if readers keep its wake-up, because no block of the goroutine follows.
# It runs for 10 ns until it sleeps.
printf 'go 1.11 trace\0\0\0\x41\0\0\x02\x80\x94\xeb\xdc\x03\x45\1\0\x84\1\1\0\xcd\4\1\7\0\0\x8e\1\7\1\x24\5\x53\5\0' >"$dir/futile"
expect 0 info --csv "$dir/futile"
grep -qx '".*",functions,"","",running,10' "$dir/out" || fail "info of a futile wake-up: $(cat "$dir/out")"

# Wrong use: the error, then a hint at the help. tests/tool/test_command_line.sh has more.
wrong() { # wrong MESSAGE ARGUMENT...
  local message=$1
  shift
  expect 2 "$@"
  [ "$(head -n 1 "$dir/err")" = "gotrace: $message" ] || fail "gotrace $*: $(head -n 1 "$dir/err")"
  [[ $(sed -n 2p "$dir/err") = "see gotrace help"* ]] || fail "gotrace $*: no hint at the help"
}
wrong "missing command"
wrong "unknown command 'frobnicate'" frobnicate
wrong "missing FILE" dump
wrong "unknown option --chrome for dump" dump --chrome "$trace"
wrong "dump takes one FILE" dump "$trace" "$trace"
wrong "convert needs --to" convert "$trace"
wrong "unknown format '1.9'" convert --to 1.9 "$trace"
wrong "cut needs --from, --to, --go, --function, --task, --proc, --thread, --kind or --reason" cut "$trace"
wrong "--to is before --from" cut --from 2s --to 1s "$trace"
wrong "invalid time 'soon'; valid are 1.5s, 20ms, 300us, 100ns, and times of the wall clock: 21:40:05.123" cut --from soon --to 1s "$trace"
wrong "export needs --perfetto, --chrome or --tables" export "$trace"
expect 0 --help
grep -q '^usage: gotrace COMMAND' "$dir/out" || fail "--help does not help"
expect 1 check "$trace" "$dir/zeros"
expect 0 check "$trace" "$dir/scheduler-1.25.trace"
[ "$(wc -l <"$dir/out")" = 2 ] || fail "check gives not one line a file"
expect 0 convert "$trace" --to 1.11 -o "$dir/behind" # options may be anywhere,
expect 0 check "$dir/behind"
wrong "unknown option --chrome for dump" dump "$trace" --chrome
wrong "missing value for -o" convert "$trace" --to 1.11 -o
expect 0 dump --wire -- "$trace"
expect 1 info -- --wire # but not after --
grep -q '^gotrace: --wire: ' "$dir/err" || fail "what stands behind -- is no file: $(cat "$dir/err")"
echo "$count results are traces"
