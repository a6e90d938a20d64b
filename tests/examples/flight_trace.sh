#!/bin/sh
# Writes a trace of examples/flight, which records a slow request. On a busy machine it takes longer until there is one, or
# the first is slow before there are enough generations; then the next run may have more of them.
#
#     tests/examples/flight_trace.sh FILE GENERATIONS [OPTION...]    GENERATIONS: at least so many; OPTION: of the example
set -eu
file=$1 least=$2
shift 2
for seconds in 1.5 2 3 5 5 5 20; do
  build/examples/flight -t $seconds -o "$file" "$@" >/dev/null 2>&1
  [ -e "$file" ] || continue
  generations=$(build/examples/gotrace info "$file" | awk '$1 == "generations" { print $2 }')
  [ "$generations" -lt "$least" ] || exit 0
done
echo "examples/flight: in seven runs no trace with $least generations"
exit 1
