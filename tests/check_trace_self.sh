#!/usr/bin/env bash
# Tests check_trace.py itself. On the traces in Go's own sources it must agree with a Go release in every event, and it
# must notice when one event is removed from Go's output.
#
#     tests/check_trace_self.sh RELEASE
set -euo pipefail
cd "$(dirname "$0")/.."

release=$1
samples=${GOTRACE_GO:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-go}/1.21/usr/share/go-1.21/src/internal/trace/testdata
[ -d "$samples" ] || { echo "needs Go 1.21 (make deps)"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
checked=0
for format in 1.9 1.10 1.11 1.19 1.21; do
  [ $format = 1.9 ] && known=1.10 || known=$format
  [[ " $(tests/open_in_go.sh --releases $known) " = *" $release "* ]] || continue
  for trace in "$samples"/{http,stress_start_stop,user_task_region}_"${format/./_}"_good; do
    [ -e "$trace" ] || continue
    tests/open_in_go.sh --print "$release" "$trace" >"$dir/out" 2>"$dir/err" || {
      status=$?
      cat "$dir/out" "$dir/err"
      exit $status
    }
    python3 tests/check_trace.py "$trace" -g "$release" "$dir/out"
    # Without its last event (from 1.25 on a Sync follows it, and from 1.23 on an event can have a stack below it).
    grep -nE '^(-?[0-9]+ [A-Z]|M=)' "$dir/out" | tail -n 1 | cut -d: -f1 >"$dir/line"
    sed "$(cat "$dir/line")d" "$dir/out" >"$dir/less"
    if python3 tests/check_trace.py "$trace" -g "$release" "$dir/less" >"$dir/said"; then
      echo "an event is missing and check_trace.py did not notice: $(cat "$dir/said")"
      exit 1
    fi
    checked=$((checked + 1))
  done
done
[ $checked -gt 0 ] || { echo "found no traces to check"; exit 1; }
