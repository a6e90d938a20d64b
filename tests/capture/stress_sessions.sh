#!/usr/bin/env bash
# Many short traces while threads make all kinds of valid calls and, in some rounds, invalid ones: stress_sessions.c.
#
#     tests/capture/stress_sessions.sh [SESSIONS [CONFIGURATION [OPTION...]]]
#
# SESSIONS (default 2,000) over all formats, in a configuration of the Makefile: default, quick, clang, address,
# thread, seq_cst or monotonic. OPTIONs are passed to the program. Go also reads about 1,000 of the traces. The last line counts
# the sessions and Go's verdict. Rejected traces are kept under build/failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/go/many_traces.sh

sessions=${1:-2000} configuration=${2:-default}
shift $(($# < 2 ? $# : 2))
run=()
if [ "$configuration" = thread ] && setarch "$(uname -m)" -R true 2>/dev/null; then run=(setarch "$(uname -m)" -R); fi

make -s "build/tests/$configuration/stress_sessions"
status=0
export TSAN_OPTIONS=${TSAN_OPTIONS-halt_on_error=1:second_deadlock_stack=1}
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0
program=build/tests/$configuration/stress_sessions
mkdir "$dir/session"
${run[@]+"${run[@]}"} "$program" -n "$sessions" -o "$dir/session" -e $((sessions / 1000 + 1)) "$@" >"$dir/out" 2>&1 ||
  status=$?
counts=$(tail -n 1 "$dir/out")
if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
  passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
  sed '$d' "$dir/out"
else # it crashed or hangs
  failed=1
  cat "$dir/out"
  grep -q '^FAILED ' "$dir/out" || fault "stress_sessions ($configuration): status $status"
fi
has_told "$dir/out"
keep "$dir"/session/*.refused
open_all_in_go sessions "$dir/session"
finish
