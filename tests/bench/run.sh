#!/usr/bin/env bash
# What events cost and how fast traces are read, in one run of a few minutes, beside Go.
#
#     tests/bench/run.sh [-q]      -q: quickly, and only the writer
#
# Lines `result NAME THREADS NS_MIN NS_MEDIAN RATIO_TO_FLOOR BYTES_PER_EVENT` (tests/bench/writer.c) and `read NAME ...`
# (tests/bench/reader.c), then what they mean. A row whose peer is not installed says so.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=build/bench
mkdir -p $dir
flags="-std=c11 -O2 -fno-omit-frame-pointer -I."
[ ! -d /usr/include/stb ] || flags+=" -isystem /usr/include/stb"
cc=${CC:-cc}
# shellcheck disable=SC2086
{
  $cc $flags tests/bench/writer.c -o $dir/writer -pthread
  $cc $flags -DGOTRACE_SEQ_CST_FLAG=1 tests/bench/writer.c -o $dir/writer_seq_cst -pthread
  $cc $flags tests/bench/reader.c -o $dir/reader -pthread
  $cc $flags examples/scheduler.c -o $dir/scheduler -pthread
}

printf '       %-28s T   ns min  ns med.  ratio  bytes\n' name
$dir/writer "$@"
$dir/writer_seq_cst "$@" | grep -v ' floor \| off_'
[ "${1-}" != -q ] || exit 0

cache=${GOTRACE_GO:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-go}
for release in 1.19 1.27; do
  root=$cache/$release/usr/lib/go-$release
  [ -x "$root/bin/go" ] || { echo "peer Go $release: not installed (make deps)"; continue; }
  GOROOT=$root GOTOOLCHAIN=local GOFLAGS='' GOPROXY=off GO111MODULE=off GOCACHE=$cache/gocache CGO_ENABLED=0 \
    "$root/bin/go" build -o $dir/peer-$release tests/bench/peer.go
  $dir/peer-$release | sed "s/go-/go$release-/"
done

for file in 10 100; do
  for goroutines in 8 20000; do
    for release in 1.21 1.27; do
      trace=$dir/$release-$file-$goroutines.trace
      [ -e "$trace" ] || sh tests/go/write_traces.sh --big $trace ${file}000000 $goroutines $release >/dev/null || {
        echo "reading traces of Go $release: not installed (make deps)"
        continue
      }
      name=go$release-${file}MB-$goroutines
      $dir/reader $name $trace 5 | tee $dir/ours
      sh tests/go/read_bench.sh $trace 3 >$dir/gos || continue
      # Ratios of events a second, and of memory.
      awk -v name=$name 'FNR == NR { split($2, part, "-ordered"); if ($2 ~ /-raw$/) raw = $3 / $4; else { ordered = $3 / $4; memory = $5 }; next }
        { go = $2 / $4; printf "  Go reads %.1f million events a second in %d KiB; raw is %.1f times as fast, ordered %.1f times, in %.3f of the memory\n",
          go / 1e6, $6, raw / go, ordered / go, memory / $6 }' $dir/ours $dir/gos
    done
  done
done
