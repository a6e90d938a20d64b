#!/usr/bin/env bash
# The decoder and Go read the same events from many traces (decoder_agrees_with_go.py). Go opens the results of
# converting these traces (conversions_open_in_go.sh), and `gotrace info` agrees with Go's summaries of them
# (summary_agrees_with_go.sh).
#
#     tests/decoder/decoder_agrees_with_go.sh [-b] canned  the traces in Go's sources; -b: of two releases, with few conversions
#     tests/decoder/decoder_agrees_with_go.sh RELEASE      traces that programs of a Go release write for this test
#
# The traces are left in build/go-traces. Status 77 if a release is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/need.sh python3

brief=
if [ "$1" = -b ]; then brief=-b; shift; fi
what=$1
traces=build/go-traces/$what
rm -rf "$traces" && mkdir -p "$traces"
if [ "$what" = canned ]; then
  # shellcheck disable=SC2086 # none, for all releases, or several
  sh tests/go/testdata.sh "$traces" ${brief:+1.21 1.27}
else
  sh tests/go/write_traces.sh "$traces" "$what"
fi
make -s build/tests/address/print_decoded
tests/decoder/decoder_agrees_with_go.py build/tests/address/print_decoded "$traces"/*.trace
tests/tool/conversions_open_in_go.sh $brief "$what"
tests/tool/summary_agrees_with_go.sh $brief "$what"
