#!/usr/bin/env bash
# The pages of gotrace view in Chromium and Firefox: tests/view/check.py, on the examples' traces, traces in Go's
# sources, and larger ones that Go programs write.
#
#     tests/view/test_view.sh              with 17 windows of each
#     tests/view/test_view.sh WINDOWS      only so many windows of each, in each browser: of traces that are chosen on
#                                          gotrace-view.html, and that gotrace view serves
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/need.sh python3

make -s build/examples/gotrace build/examples/scheduler build/examples/threads build/examples/hello build/examples/flight
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# A browser whose session does not start, here for want of a width, leaves no process.
PYTHONPATH=tests/view python3 -c '
import browser
if browser.Chromium.is_there():
    b = browser.Chromium(width="wide")
    try:
        with b: raise AssertionError("it starts")
    except TypeError:
        assert b.process.poll() is not None'
build/examples/scheduler -o "$dir/scheduler.trace" -f 1.23 -j 4 examples tests >/dev/null
build/examples/threads -o "$dir/threads.trace" -f 1.26 -j 4 examples tests >/dev/null
build/examples/scheduler -o "$dir/v1.trace" -f 1.11 -j 4 examples tests >/dev/null
examples=$PWD/build/examples
(cd "$dir" && "$examples/hello" >hello.out)
tests/examples/flight_trace.sh "$dir/flight.trace" 1
traces=("$dir/scheduler.trace" "$dir/threads.trace" "$dir/v1.trace" "$dir/hello.trace" "$dir/flight.trace")
go=build/go-traces/view
if [ ! -e "$go/complete" ]; then
  rm -rf "$go" && mkdir -p "$go"
  sh tests/go/testdata.sh "$go" 1.21 1.22 && sh tests/go/write_traces.sh "$go" 1.27 >/dev/null &&
    sh tests/go/write_traces.sh --big "$go/big.trace" 3000000 200 1.27 >/dev/null && touch "$go/complete"
fi
for name in 1.21-http_1_21_good 1.21-stress_1_11_good 1.21-user_task_region_1_21_good 1.22-go122-gc-stress 1.22-go122-annotations-stress 1.27-tasks 1.27-profile 1.27-coroutine 1.27-net big; do
  [ ! -e "$go/$name.trace" ] || traces+=("$go/$name.trace")
done
if [ $# -gt 0 ]; then
  [ -e build/gotrace-view.html ] || { echo "needs clang, lld, wasi-libc and libclang-rt-dev-wasm32, to build the page (make deps)"; exit 77; }
  for how in chosen served; do tests/view/check.py -n "$1" -o $how build/examples/gotrace "${traces[@]}"; done
  exit
fi
tests/view/check.py -n 17 build/examples/gotrace "${traces[@]}"
build_tool() { ${CC:-cc} -std=c11 -O1 -w -I. $([ ! -d /usr/include/stb ] || echo "-isystem /usr/include/stb") -o "$dir/gotrace" examples/gotrace/*.c examples/gotrace/*/*.c -pthread "$@"; }
# Pages too small for all slices: they are exact at the resolution that they state, and at coarser ones. Of these traces
# only that of threads always has counters to compare.
if [ -e $go/big.trace ] && build_tool -DHAVE_ZLIB -DPAGE_SIZE=2500000 -lz; then
  tests/view/check.py -n 6 -b Chromium "$dir/gotrace" "$dir"/{scheduler,threads}.trace "$go"/{1.21-stress_1_11_good,big}.trace | tee "$dir/out"
  grep -q 'coarse window' "$dir/out" || { echo "all slices were in the page"; exit 1; }
fi
# Without zlib the data are stored uncompressed.
build_tool
tests/view/check.py -n 2 -b Chromium "$dir/gotrace" "$dir/scheduler.trace"
