#!/usr/bin/env bash
# An example writes a trace and a Go release opens it. open_in_go.sh describes the comparison.
#
#     tests/examples/example_opens_in_go.sh EXAMPLE FORMAT RELEASE     one test
#     tests/examples/example_opens_in_go.sh --list                     all tests, one per line
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ "${1-}" = --list ]; then
  formats=$(tests/formats.sh)
  for format in $formats; do
    releases=$(tests/go/open_in_go.sh --releases "$format")
    for release in $releases; do
      for example in scheduler threads hello; do echo "$example $format $release"; done
    done
  done
  echo flight 1.23 1.23
  echo flight 1.23 1.27
  echo flight 1.26 1.27
  exit
fi

example=$1 format=$2 release=$3
program=build/examples/$example
[ "$example" != hello ] || program=build/tests/quick/hello_formats # the example itself has no options
make -q "$program" || { echo "$program is not built, or is older than its source"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
arguments=(-o "$dir/$example.trace" -f "$format")
counts=(-k "$dir/out")
case $example in
  scheduler | threads) arguments+=(-k -j 4 examples tests) ;; # more workers than processors
  flight) arguments+=(-t 1.5) counts=() ;; # its counts include what the recorder dropped
  *) arguments+=(-k) ;;
esac
"$program" "${arguments[@]}" >"$dir/out" 2>&1 || { cat "$dir/out"; exit 1; }
tests/go/open_in_go.sh "$dir/$example.trace" ${counts[@]+"${counts[@]}"} "$release" || {
  status=$?
  if [ $status != 77 ]; then
    mkdir -p build/failed
    kept=build/failed/$example-$format-$release-$$.trace
    cp "$dir/$example.trace" "$kept"
    echo "the trace is kept: $kept"
  fi
  exit $status
}
