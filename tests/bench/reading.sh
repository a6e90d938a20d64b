#!/usr/bin/env bash
# Measures the speed and memory of reading traces, next to Go 1.27's own reader (tests/go/read_bench.go), in one run.
#
#     tests/bench/reading.sh [-q]      -q: only the smaller traces of 1.27
#
# Uses traces of 10 and 100 MB that programs of Go 1.21 (v1) and 1.27 (v2) write, with 8 goroutines and with 20,000.
# Most events are starts, blocks and unblocks. Prints a table with the target ratios; batched:
# gotrace_decoder_next_batch. A line reports a missing Go release. The readers are timed on a trace in memory;
# their memory is measured on the file. Then prints the processor times (user and system) of `gotrace info --jobs=1` and
# `gotrace check --jobs=1` on the traces of 10 MB, and the speed of two threads relative to one on traces of many
# generations.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=build/bench
mkdir -p $dir
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -O2 -I. $([ ! -d /usr/include/stb ] || echo "-isystem /usr/include/stb") tests/bench/reader.c \
  -o $dir/reader -pthread

sizes='10 100' releases='1.21 1.27'
[ "${1-}" != -q ] || sizes=10 releases=1.27
printf '%-24s %10s %10s %10s %10s %10s %10s %10s\n' 'M events a second' Go raw ordered batched 'raw / Go' 'ord. / Go' memory
for size in $sizes; do
  for goroutines in 8 20000; do
    for release in $releases; do
      trace=$dir/$release-$size-$goroutines.trace
      [ -e "$trace" ] || sh tests/go/write_traces.sh --big "$trace" ${size}000000 $goroutines $release >/dev/null || {
        echo "missing: traces of Go $release (make deps)"
        continue
      }
      sh tests/go/read_bench.sh "$trace" 5 >$dir/gos || { echo "missing: Go 1.27 (make deps)"; continue; }
      $dir/reader "$trace" 5 >$dir/ours
      awk -v name="$release, $size MB, $goroutines" -v v1=$([ $release != 1.21 ] || echo 1) '
        FNR == NR { go = $2 / $4; go_memory = $6; next }
        { speed[$1] = $2 / $3; memory = $4 }
        END {
          raw = speed["raw"] / go
          ordered = speed["ordered"] / go
          printf "%-24s %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f %10.4f%s%s\n", name, go / 1e6, speed["raw"] / 1e6,
                 speed["ordered"] / 1e6, speed["batched"] / 1e6, raw, ordered, memory / go_memory, raw < 25 ? "  raw: 25" : "",
                 ordered < (v1 ? 30 : 10) ? "  ordered: " (v1 ? 30 : 10) : "" }' $dir/gos $dir/ours
    done
  done
done

least() { # least FORMAT COMMAND...: the least seconds of 7 runs; FORMAT: of the shell's `time`
  local TIMEFORMAT=$1
  shift
  for _ in 1 2 3 4 5 6 7; do { time "$@" >/dev/null; } 2>&1; done | awk '{ print $1 + $2 }' | sort -g | head -n 1
}

make -s build/examples/gotrace
gotrace=build/examples/gotrace
printf '\n%-24s %12s %12s %12s\n' 'gotrace info' 'check, s' 'info, s' 'info / check'
for trace in $(printf "$dir/%s-10-*.trace " $releases); do
  [ -e "$trace" ] || continue
  awk -v name="$(basename "$trace" .trace)" -v check="$(least '%U %S' $gotrace check --jobs=1 "$trace")" \
    -v info="$(least '%U %S' $gotrace info --jobs=1 "$trace")" 'BEGIN {
      printf "%-24s %12.3f %12.3f %12.2f%s\n", name, check, info, info / check, (info / check > 1.5 ? "  1.5" : "") }'
done
printf '\n%-40s %12s %12s %12s\n' 'elapsed' '1 thread, s' '2 threads, s' 'ratio'
# A generation a second, as Go writes by itself; with -q shorter ones, since there must be several.
mb=400 shorter=
[ "${1-}" != -q ] || mb=10 shorter=traceadvanceperiod=150000000
for goroutines in 8 20000; do
  trace=$dir/generations-$mb-$goroutines.trace
  [ -e "$trace" ] || GODEBUG=$shorter sh tests/go/write_traces.sh --big "$trace" ${mb}000000 $goroutines 1.27 >/dev/null || continue
  for command in check info; do
    awk -v name="$command, $mb MB, $goroutines goroutines" -v one="$(least %R $gotrace $command --jobs=1 "$trace")" \
      -v two="$(least %R $gotrace $command --jobs=2 "$trace")" 'BEGIN {
        printf "%-40s %12.3f %12.3f %12.2f%s\n", name, one, two, one / two, (one / two < 1.8 ? "  1.8" : "") }'
  done
done
echo 'At the end of a line: the ratio that is aimed at, where it is not reached. Memory: of what Go takes.'
