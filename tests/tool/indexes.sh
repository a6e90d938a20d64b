#!/usr/bin/env bash
# Runs index.py on 50 traces or more: those in Go's sources and in tests/traces, of the examples in old and new formats,
# flight recordings, and parts and conversions of these. Status 77 if Go's sources are missing.
#
#     tests/tool/indexes.sh PARTS [SEED]      PARTS: random ones, of all traces together
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/need.sh python3
make -s build/examples/gotrace build/tests/gotrace_dense build/examples/scheduler build/examples/flight build/tests/quick/hello_formats
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gotrace=build/examples/gotrace
sh tests/go/testdata.sh "$dir"
for format in 1.11 1.21 1.22 1.26; do
  build/examples/scheduler -j 4 -o "$dir/scheduler-$format.trace" -f $format examples tests >/dev/null 2>&1
  build/tests/quick/hello_formats -o "$dir/hello-$format.trace" -f $format >/dev/null 2>&1
done
for format in 1.22 1.25 1.26; do
  flight=$dir/flight-$format.trace
  tests/examples/flight_trace.sh "$flight" 2 -f $format || continue # on a busy machine there may be none
  length=$($gotrace info --json "$flight" | sed 's/.*"duration":\([0-9]*\).*/\1/')
  $gotrace cut --from $((length / 3)) --to $((length / 3 * 2)) -o "$dir/middle-$format.trace" "$flight"
  $gotrace cut --from $((length / 2)) -o "$dir/end-$format.trace" "$flight"
  for other in 1.21 1.23 1.26; do $gotrace convert --to $other -o "$dir/to-$other-$format.trace" "$flight" 2>/dev/null; done
done
ls "$dir"/flight-* >/dev/null
mapfile -t traces < <(for trace in $(find "$dir" -name '*.trace' -size -300k | sort) tests/traces/*; do
  ! $gotrace check "$trace" >/dev/null || echo "$trace"
done)
[ ${#traces[@]} -ge 50 ] || { echo "only ${#traces[@]} traces"; exit 1; }
tests/tool/index.py -n $((($1 + ${#traces[@]} - 1) / ${#traces[@]})) -s "${2:-1}" --dense build/tests/gotrace_dense $gotrace "${traces[@]}"
