#!/usr/bin/env bash
# Compares the options of `gotrace dump` and `gotrace info` that select a part of a trace with a simpler program
# (test_selection.py) that selects from the output of `gotrace dump --json`. Also runs parts_add_up.py, info_jobs.py
# and index.py.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/need.sh python3
make -s build/examples/gotrace build/tests/gotrace_dense build/examples/scheduler build/examples/flight build/tests/quick/hello_formats
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for format in 1.21 1.26; do
  build/examples/scheduler -j 4 -o "$dir/scheduler-$format.trace" -f $format examples tests >/dev/null 2>&1
  build/tests/quick/hello_formats -o "$dir/hello-$format.trace" -f $format >/dev/null 2>&1
done
tests/tool/test_selection.py build/examples/gotrace "$dir"/*.trace
tests/examples/flight_trace.sh "$dir/flight.trace" 3 -f 1.26
# A part by the wall clock, of a trace whose last generation is broken.
head -c -20 "$dir/flight.trace" >"$dir/broken"
began=$(build/examples/gotrace info "$dir/flight.trace" | sed -n 's/^began *//p')
build/examples/gotrace info --from "$began" "$dir/broken" >"$dir/part" 2>/dev/null || true
grep -q '^began' "$dir/part" || { echo 'a broken trace has no part by the wall clock'; exit 1; }
tests/tool/parts_add_up.py build/examples/gotrace "$dir"/*.trace tests/traces/*
tests/tool/info_jobs.py -n 400 build/examples/gotrace "$dir"/*.trace
tests/tool/index.py -n 12 --dense build/tests/gotrace_dense build/examples/gotrace "$dir"/*.trace tests/traces/*
