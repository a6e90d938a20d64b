#!/usr/bin/env bash
# `gotrace info` reports the same as Go 1.27's summarizer, to the nanosecond (summary_agrees_with_go.py). Its reports on
# the parts of a trace add up to that on the whole (parts_add_up.py), do not depend on the number of threads
# (info_jobs.py), and are the same as those of other commands (commands_agree.py; without -a, one of the large traces in
# Go's sources, which differ only in their format; of a release's traces, only the small ones, without filters; with -b,
# none). examples/latency.c, which uses only the library, finds the same runnable times (latency.py).
#
#     tests/tool/summary_agrees_with_go.sh [-b] examples     traces that the examples write
#     tests/tool/summary_agrees_with_go.sh [-a | -b] canned  the traces in Go's sources
#     tests/tool/summary_agrees_with_go.sh [-b] RELEASE      the traces of decoder_agrees_with_go.sh, written if missing
#
# Status 77 if a release is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/need.sh python3

brief='' left_out='1.1*-stress_1_*'
case $1 in
  -a) left_out='' && shift ;;
  -b) brief=1 && shift ;;
esac
what=$1
program=$(sh tests/go/inside.sh 1.27 print_summary.go -i internal/trace access_summary.go)
make -s build/examples/gotrace build/examples/latency
traces=build/go-traces/$what
if [ "$what" = examples ]; then
  # Goroutines of a scheduler, plain threads, a flight recorder, generations; both families of formats.
  make -s build/examples/scheduler build/examples/threads build/examples/flight build/tests/quick/hello_formats
  traces=build/summary-examples
  rm -rf "$traces" && mkdir -p "$traces"
  for format in 1.11 1.21 1.22 1.23 1.26; do
    build/examples/scheduler -j 4 -o "$traces/scheduler-$format.trace" -f $format examples tests >/dev/null 2>&1
    build/examples/threads -j 4 -o "$traces/threads-$format.trace" -f $format examples tests >/dev/null 2>&1
    build/tests/quick/hello_formats -o "$traces/hello-$format.trace" -f $format >/dev/null 2>&1
  done
  tests/examples/flight_trace.sh "$traces/flight.trace" 1 -f 1.26
  [ "$(ls "$traces" | wc -l)" = 16 ]
  # The other formats, for latency.py: Go's summarizer does not read all of them.
  rm -rf "$traces-others" && mkdir -p "$traces-others"
  formats=$(tests/formats.sh)
  for format in $formats; do
    [ ! -e "$traces/hello-$format.trace" ] || continue
    build/examples/scheduler -j 4 -o "$traces-others/scheduler-$format.trace" -f $format examples tests >/dev/null 2>&1
    build/tests/quick/hello_formats -o "$traces-others/hello-$format.trace" -f $format >/dev/null 2>&1
  done
  tests/tool/latency.py build/examples/latency build/examples/gotrace "$traces-others"/*.trace
elif [ -z "$(compgen -G "$traces/*.trace")" ]; then
  mkdir -p "$traces"
  if [ "$what" = canned ]; then sh tests/go/testdata.sh "$traces"; else
    sh tests/go/write_traces.sh "$traces" "$what"
  fi
fi
tests/tool/summary_agrees_with_go.py build/examples/gotrace "$program" "$traces"/*.trace
tests/tool/parts_add_up.py build/examples/gotrace "$traces"/*.trace
tests/tool/info_jobs.py build/examples/gotrace "$traces"/*.trace
tests/tool/latency.py build/examples/latency build/examples/gotrace "$traces"/*.trace
[ -z "$brief" ] || exit 0
case $what in
  canned)
    find "$traces" -name '*.trace' ! -name "$left_out" | sort >"$traces/compared"
    xargs tests/tool/commands_agree.py -n 10 build/examples/gotrace <"$traces/compared"
    ;;
  examples) tests/tool/commands_agree.py build/examples/gotrace "$traces"/*.trace ;; # copies of them differ at each run
  *) tests/tool/commands_agree.py --brief build/examples/gotrace "$traces"/*.trace ;;
esac
