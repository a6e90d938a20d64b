#!/usr/bin/env bash
# How fast traces are read, and with how much memory, next to Go 1.27's own reader (tests/go/read_bench.go), in one run.
#
#     tests/bench/reading.sh [-q]      -q: only the smaller traces
#
# Uses traces of 10 and 100 MB that programs of Go 1.21 (v1) and 1.27 (v2) write, with 8 goroutines and with 20,000,
# most of which start, block and are unblocked. Prints a table with the target ratios. A line reports a Go release that
# is missing. The readers are timed on a trace in memory; their memory is measured on the file.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=build/bench
mkdir -p $dir
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -O2 -I. $([ ! -d /usr/include/stb ] || echo "-isystem /usr/include/stb") tests/bench/reader.c \
  -o $dir/reader -pthread

sizes='10 100'
[ "${1-}" != -q ] || sizes=10
printf '%-24s %12s %12s %12s %10s %10s %10s\n' 'trace' 'Go, M ev/s' 'raw, M ev/s' 'ord., M ev/s' 'raw / Go' 'ord. / Go' 'memory'
for size in $sizes; do
  for goroutines in 8 20000; do
    for release in 1.21 1.27; do
      trace=$dir/$release-$size-$goroutines.trace
      [ -e "$trace" ] || sh tests/go/write_traces.sh --big "$trace" ${size}000000 $goroutines $release >/dev/null || {
        echo "missing: traces of Go $release (make deps)"
        continue
      }
      sh tests/go/read_bench.sh "$trace" 5 >$dir/gos || { echo "missing: Go 1.27 (make deps)"; continue; }
      $dir/reader "$trace" 5 >$dir/ours
      awk -v name="$release, $size MB, $goroutines" -v v1=$([ $release != 1.21 ] || echo 1) '
        FNR == NR { go = $2 / $4; go_memory = $6; next }
        $1 == "raw" { raw = $2 / $3; next }
        { ordered = $2 / $3; memory = $4 }
        END {
          printf "%-24s %12.1f %12.1f %12.1f %10.1f %10.1f %10.4f%s%s\n", name, go / 1e6, raw / 1e6, ordered / 1e6, raw / go,
                 ordered / go, memory / go_memory, raw / go < 25 ? "  raw: 25" : "",
                 ordered / go < (v1 ? 30 : 10) ? "  ordered: " (v1 ? 30 : 10) : "" }' $dir/gos $dir/ours
    done
  done
done
echo 'At the end of a line: the ratio that is aimed at, where it is not reached. Memory: of what Go takes.'
