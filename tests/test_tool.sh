#!/usr/bin/env bash
# The command-line tool: every command on traces of every format, what it makes of them, and how it fails.
#
#     tests/test_tool.sh [-g] [TRACE...]     -g: results are opened with Go as well, as far as its releases are there
#
# The examples write a trace in each format; TRACEs come on top. Each is converted to every format that is written and cut in
# several places; each result must pass `gotrace check`, and a conversion to the own format of v2 must tell the same events.
set -euo pipefail
cd "$(dirname "$0")/.."

go=
if [ "${1-}" = -g ]; then
  go=1
  shift
fi
tool=build/examples/gotrace
for program in gotrace scheduler threads hello; do
  make -q build/examples/$program || { echo "examples/$program is not built, or is older than its source"; exit 1; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
formats="1.8 1.10 1.11 1.19 1.21 1.22 1.23 1.25 1.26"
traces=("$@")

fail() {
  echo "$*"
  exit 1
}

# expect STATUS COMMAND...: runs the tool; what it said is in out and err.
expect() {
  local want=$1 status=0
  shift
  "$tool" "$@" >"$dir/out" 2>"$dir/err" || status=$?
  [ $status = "$want" ] || fail "gotrace $*: status $status, not $want: $(head -c 500 "$dir/err")"
}

open_with_go() {
  local releases status=0
  [ -n "$go" ] || return 0
  case $(head -c 16 "$1" | tr -d '\0') in
    'go 1.8 trace' | 'go 1.10 trace') releases="1.21" ;;
    'go 1.11 trace' | 'go 1.19 trace' | 'go 1.21 trace') releases="1.21 1.27" ;;
    *) releases="1.27" ;;
  esac
  # shellcheck disable=SC2086
  tests/open_trace.sh "$1" $releases >"$dir/go" 2>&1 || status=$?
  [ $status = 0 ] || [ $status = 77 ] || fail "$2: $(head -c 1000 "$dir/go")"
}

# The events of a v2 trace that a conversion keeps: without statuses, sequence numbers, offsets.
story() {
  "$tool" dump "$1" | grep -v -E '^ |^[0-9]+ (Sync|GoStatus|GoStatusStack|ProcStatus|G[A-Za-z]+Active) ?' |
    sed -E 's/^[0-9]+ //; s/ (p_seq|g_seq|gc_seq|new_stack|stack)=[0-9]+//g'
}

for format in $formats; do
  for example in scheduler threads hello; do
    arguments=(-o "$dir/$example-$format.trace" -f "$format")
    [ $example = hello ] || arguments+=(-j 4 examples tests)
    build/examples/$example "${arguments[@]}" >/dev/null 2>&1 || fail "$example $format"
    traces+=("$dir/$example-$format.trace")
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
  expect 0 export --chrome -o "$dir/chrome.json" "$trace"
  python3 - "$dir/chrome.json" <<'PYTHON' || fail "export $name"
import json, sys
slices = {}
for event in json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]:
    if event["ph"] == "X":
        begin = round(event["ts"] * 1000)
        slices.setdefault(event["tid"], []).append((begin, begin + round(event["dur"] * 1000)))
for tid, found in slices.items():
    found.sort()
    for one, next in zip(found, found[1:]):
        if next[0] < one[1]:
            sys.exit("proc %d: slices %s and %s overlap" % (tid, one, next))
PYTHON
  for format in $formats; do
    expect 0 convert --to "$format" -o "$dir/result" "$trace"
    expect 0 check "$dir/result"
    open_with_go "$dir/result" "$name to $format"
    count=$((count + 1))
    head -c 16 "$trace" | tr '\0' ' ' | grep -q "^go $format trace" || continue
    [[ $format > 1.21 && ${#format} = 4 ]] || continue
    story "$trace" >"$dir/before"
    story "$dir/result" >"$dir/after"
    diff "$dir/before" "$dir/after" >"$dir/diff" || fail "$name to $format: $(head -n 6 "$dir/diff")"
  done
  last=$("$tool" dump "$trace" | grep -v '^ ' | tail -n 1 | cut -d ' ' -f 1)
  for part in "0 50" "30 70" "60 100"; do
    read -r from to <<<"$part"
    expect 0 cut --from $((last * from / 100)) --to $((last * to / 100)) -o "$dir/result" "$trace"
    expect 0 check "$dir/result"
    open_with_go "$dir/result" "$name cut from $from to $to %"
    count=$((count + 1))
  done
done

# Standard input and output.
trace=$dir/scheduler-1.23.trace
"$tool" convert --to 1.21 - <"$trace" >"$dir/result" || fail "convert from standard input"
expect 0 check "$dir/result"
(cat "$trace") | "$tool" check - >/dev/null || fail "check of a pipe"
(cat "$trace") | "$tool" info - >/dev/null || fail "info of a pipe"
[ "$("$tool" dump "$trace" | cksum)" = "$(cat "$trace" | "$tool" dump - | cksum)" ] || fail "dump of a pipe is another"

# Times.
for time in 1ms 1000us 1000000ns 1000000 0.001s; do
  expect 0 cut --from 0 --to $time -o "$dir/cut-$time" "$trace"
  cmp "$dir/cut-1ms" "$dir/cut-$time" || fail "$time is not 1ms"
done

# A broken tail: what is before it, the error, status 1; no file is left.
mkdir "$dir/left"
head -c $(($(wc -c <"$dir/threads-1.21.trace") * 2 / 3)) "$dir/threads-1.21.trace" >"$dir/broken"
for arguments in "check" "info" "dump"; do
  expect 1 "$arguments" "$dir/broken"
  [ -s "$dir/err" ] || [ "$arguments" = check ] || fail "$arguments: no message"
done
head -c 100 /dev/zero >"$dir/zeros"
for file in "$dir/broken" "$dir/zeros" "$dir/nowhere" "$dir" /dev/null; do
  for arguments in "convert --to 1.26" "cut --from 0 --to 1s" "export --chrome"; do
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
expect 1 convert --to 1.25 -o "$dir/left/result" "$dir/tail"
expect 0 convert --to 1.25 --partial -o "$dir/left/result" "$dir/tail"
expect 0 check "$dir/left/result"

# Usage.
expect 2
expect 2 frobnicate
expect 2 dump
expect 2 dump --chrome "$trace"
expect 2 info "$trace" "$trace"
expect 2 convert "$trace"
expect 2 convert --to 1.9 "$trace"
expect 2 cut "$trace"
expect 2 cut --from 2s --to 1s "$trace"
expect 2 cut --from soon --to 1s "$trace"
expect 2 export "$trace"
expect 0 --help
expect 1 check "$trace" "$dir/zeros"
expect 0 check "$trace" "$dir/left/result"
[ "$(wc -l <"$dir/out")" = 2 ] || fail "check gives not one line a file"
expect 0 convert "$trace" --to 1.11 -o "$dir/behind" # options stand anywhere,
expect 0 check "$dir/behind"
expect 2 dump "$trace" --chrome
expect 2 convert "$trace" --to 1.11 -o
expect 0 dump --wire -- "$trace"
expect 1 info -- --wire # but not behind this
grep -q '^gotrace: --wire: ' "$dir/err" || fail "what stands behind -- is no file: $(cat "$dir/err")"
echo "$count results are traces"
