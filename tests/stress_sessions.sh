#!/usr/bin/env bash
# Many short traces while threads make all kinds of valid calls and, in some rounds, invalid ones: stress_sessions.c.
#
#     tests/stress_sessions.sh [SESSIONS [CONFIGURATION [OPTION...]]]
#
# SESSIONS (default 2,000) over all formats, in a configuration of the Makefile: default, clang, address, thread,
# seq_cst or monotonic. OPTIONs are passed to the program. Go also reads about 1,000 of the traces. The last line has
# the counts of sessions, and of traces read by Go. Rejected traces are kept under build/failed.
set -euo pipefail
cd "$(dirname "$0")/.."

sessions=${1:-2000} configuration=${2:-default}
shift $(($# < 2 ? $# : 2))
run=()
if [ "$configuration" = thread ] && setarch "$(uname -m)" -R true 2>/dev/null; then run=(setarch "$(uname -m)" -R); fi

parent=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || parent=/dev/shm # many small files
dir=$(mktemp -d -p "$parent")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
keep() {
  mkdir -p build/failed
  cp "$1" "build/failed/session-$(basename "$1" "$2").trace"
}

make -s "build/tests/$configuration/stress_sessions"
status=0
export TSAN_OPTIONS=${TSAN_OPTIONS-halt_on_error=1:second_deadlock_stack=1}
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0
program=build/tests/$configuration/stress_sessions
${run[@]+"${run[@]}"} "$program" -n "$sessions" -o "$dir" -e $((sessions / 1000 + 1)) "$@" >"$dir/out" 2>&1 || status=$?
counts=$(tail -n 1 "$dir/out")
if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
  passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=0
  sed '$d' "$dir/out"
else # it crashed or hangs
  passed=0 failed=1 skipped=0
  cat "$dir/out"
  grep -q '^FAILED ' "$dir/out" || echo "FAILED stress_sessions ($configuration): status $status"
fi
for file in "$dir"/*.refused; do
  [ ! -e "$file" ] || keep "$file" .refused
done

status=0
tests/go/check_many.sh "$dir" >"$dir/out" 2>&1 || status=$?
while read -r ok _ bad _; do
  passed=$((passed + ok)) failed=$((failed + bad))
  echo "Go: $ok accepted, $bad refused"
done < <(grep -E '^[0-9]+ accepted, [0-9]+ refused$' "$dir/out" || true)
if [ $status = 77 ]; then
  skipped=$((skipped + 1))
  echo "skipped traces by Go: $(tail -n 1 "$dir/out")"
elif [ $status != 0 ]; then
  echo 'FAILED traces by Go:'
  sed "s|^$dir/||; s/^/    /" "$dir/out" | head -n 20
  sed -n 's/^\(.*\.trace\): .*/\1/p' "$dir/out" | while read -r file; do keep "$file" .trace; done
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
