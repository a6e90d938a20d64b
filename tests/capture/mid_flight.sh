#!/usr/bin/env bash
# Traces start and stop at random moments while the examples and the adapters' tests run: mid_flight.c.
#
#     tests/capture/mid_flight.sh --list               lists the programs
#     tests/capture/mid_flight.sh TRACES PROGRAM...    TRACES of each, in four formats, all opened by Go
#
# Prints a line per program, a line for Go's verdict, and the counts. Traces that fail are kept under build/failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${1-}" = --list ]; then
  printf '%s\n' hello threads scheduler flight
  tests/adapters/run.sh --list
  exit
fi
. tests/go/many_traces.sh

traces=$1
shift
mkdir "$dir/traces"
export GOTRACE_TEST_AGAIN=1
for name in "$@"; do
  if [ ! -e "examples/$name.c" ] && ! tests/adapters/run.sh --needs "$name" >"$dir/out"; then
    skipped=$((skipped + 1))
    echo "skipped $name: $(tail -n 1 "$dir/out")"
    continue
  fi
  make -s "build/mid_flight/$name"
  case $name in
    hello) arguments=() ;;
    scheduler | threads) arguments=(-j 4 examples tests) ;;
    flight) arguments=(-t 2 -o "$dir/flight.trace") ;;
    *) arguments=("$dir/unused") ;;
  esac
  count=0 events=0 status=0 seed=0
  # Each process has its own pace, see rest(), and may end before it has made its share.
  while [ $count -lt "$traces" ] && [ $seed -lt $((20 * traces)) ] && [ $status = 0 ]; do
    seed=$((seed + 1))
    "build/mid_flight/$name" $(((traces + 3) / 4)) $seed "$dir/traces" "${arguments[@]}" >"$dir/out" 2>&1 || status=$?
    read -r _ more_traces more_events < <(grep '^mid-flight ' "$dir/out" || echo mid-flight 0 0)
    count=$((count + more_traces)) events=$((events + more_events))
  done
  if [ $status = 0 ]; then
    passed=$((passed + 1))
    echo "ok $name: $count traces in mid-flight, $events events"
  else
    failed=$((failed + 1))
    tail -n 30 "$dir/out" | sed "s|$dir/traces/||" >"$dir/found"
    fault "$name, run $seed, status $status" "$dir/found"
    sed -n 's/^\(.*\.trace\): .*/\1/p' "$dir/out" | sort -u | while read -r file; do keep "$file"; done
    keep "$(find "$dir/traces" -type f -printf '%T@ %p\n' | sort -n | sed -n '$s/[^ ]* //p')" # rejected, if the last
  fi
done
open_all_in_go "traces in mid-flight" "$dir/traces"
finish
