#!/bin/sh
# Runs a test of the decoder on the traces in Go's sources.
#
#     tests/decoder/decode_go_traces.sh [-n] TEST [ARGUMENT...]      -n: only with these arguments, without traces
set -eu
cd "$(dirname "$0")/../.."
if [ "$1" = -n ]; then
  shift
else
  traces=build/go-traces/for-$1 # tests run side by side
  rm -rf "$traces" && mkdir -p "$traces"
  sh tests/go/testdata.sh "$traces" 1.22 1.23 1.24 1.25 1.26 1.27
  set -- "$@" "$traces"/*.trace
fi
test=$1
shift
make -s "build/tests/default/$test"
exec "build/tests/default/$test" "$@"
