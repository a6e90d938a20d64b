#!/usr/bin/env bash
# Tests check_trace.py itself. It must agree with a Go release in every event of the traces in Go's own sources and of
# examples/hello.c. It must notice when an event is removed from Go's output, when a count of the program is wrong, and
# when a string is not defined.
#
#     tests/go/check_trace_self.sh RELEASE
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/need.sh python3

release=$1
samples=${GOTRACE_GO:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-go}/1.21/usr/share/go-1.21/src/internal/trace/testdata
[ -d "$samples" ] || { echo "needs Go 1.21 (make deps)"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
checked=0

# Fails unless check_trace.py rejects its arguments for the expected cause.
must_notice() { # must_notice CAUSE ARGUMENT...
  local cause=$1
  shift
  if python3 tests/go/check_trace.py "$@" >"$dir/said" || ! grep -q "$cause" "$dir/said"; then
    echo "check_trace.py $*: does not notice '$cause': $(cat "$dir/said")"
    exit 1
  fi
}

check() { # check TRACE [KINDS]
  tests/go/open_in_go.sh --print "$release" "$1" >"$dir/out" 2>"$dir/err" || {
    status=$?
    cat "$dir/out" "$dir/err"
    exit $status
  }
  python3 tests/go/check_trace.py "$1" ${2:+-k "$2"} -g "$release" "$dir/out"
  # Without its last event (from 1.25 on a Sync follows it, and from 1.23 on an event can have a stack below it).
  grep -nE '^(-?[0-9]+ [A-Z]|M=)' "$dir/out" | tail -n 1 | cut -d: -f1 >"$dir/line"
  sed "$(cat "$dir/line")d" "$dir/out" >"$dir/less"
  must_notice 'Go did not print 1 events\|different numbers of events' "$1" -g "$release" "$dir/less"
  checked=$((checked + 1))
}

for format in 1.9 1.10 1.11 1.19 1.21; do
  [ $format = 1.9 ] && known=1.10 || known=$format
  [[ " $(tests/go/open_in_go.sh --releases $known) " = *" $release "* ]] || continue
  for trace in "$samples"/{http,stress_start_stop,user_task_region}_"${format/./_}"_good; do
    [ ! -e "$trace" ] || check "$trace"
  done
done

for format in 1.11 1.22 1.23; do
  [[ " $(tests/go/open_in_go.sh --releases $format) " = *" $release "* ]] || continue
  trace=$dir/hello.trace
  build/tests/quick/hello_formats -o "$trace" -f $format -k >"$dir/kinds"
  check "$trace" "$dir/kinds"
  sed 's/^kind UserLog 1$/kind UserLog 2/' "$dir/kinds" >"$dir/wrong"
  must_notice 'UserLog: 2 in the program.s counts, 1 in the file' "$trace" -k "$dir/wrong"
  # The string of a region gets another number.
  offset=$(build/examples/gotrace dump --wire "$trace" | sed -n 's/.* String offset=\([0-9]*\) .*data="greet"$/\1/p')
  printf '\177' | dd of="$trace" bs=1 seek=$((offset + 1)) conv=notrunc status=none
  must_notice 'lacks the strings \[[0-9]*\]' "$trace"
done
[ $checked -gt 0 ] || { echo "found no traces to check"; exit 1; }
