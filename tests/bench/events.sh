#!/usr/bin/env bash
# Measures the cost of an event in gotrace, Go's own tracer and LTTng-UST, in one run of a few minutes.
#
#     tests/bench/events.sh [--quick]      --quick: fewer rounds; without the variant with barriers, the word count of the
#                                          scheduler example, and Go 1.19's tracer
#
# Prints lines as they are measured (tests/bench/events.c, box.c, transcribe.c, load.c, peer.go, lttng_peer.c), then a table of
# all of them:
#
#     result NAME THREADS NS_MIN NS_MEDIAN RATIO_TO_FLOOR BYTES_PER_EVENT
#
# The peers have no bytes. Each runs several times, and its ratio is to the floor measured just before. A line reports a
# peer that is not installed. Status 1 if a trace lacks events. A missed target is reported but is not a failure, since
# the machine may be busy.
set -euo pipefail
cd "$(dirname "$0")/../.."

quick=
case ${1-} in
  '') ;;
  -q | --quick) quick=-q ;;
  *) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

dir=$PWD/build/bench
mkdir -p "$dir"
results=$dir/results
: >"$results"
status=0
cc=${CC:-cc}
flags="-std=c11 -O2 -g -fno-omit-frame-pointer -I."
[ ! -d /usr/include/stb ] || flags+=" -isystem /usr/include/stb"
compile() { # compile NAME SOURCE FLAGS...: in the background; two at a time, since this is half the time of --quick
  # shellcheck disable=SC2086
  $cc $flags "${@:3}" "$2" -o "$dir/$1" -pthread &
}
compile events tests/bench/events.c
compile load tests/bench/load.c
wait -n
compile box tests/bench/box.c
[ "$quick" ] || compile events_seq_cst tests/bench/events.c -DGOTRACE_SEQ_CST_FLAG=1
compile transcribe tests/bench/transcribe.c -DGOTRACE_IMPLEMENTATION
wait -n
[ "$quick" ] || compile scheduler examples/scheduler.c
[ "$quick" ] || compile scheduler_disabled examples/scheduler.c -DGOTRACE_DISABLE=1
while [ "$(jobs -p)" ]; do wait -n; done

"$dir/events" $quick | tee -a "$results" || status=1
[ "$quick" ] || "$dir/events_seq_cst" | tee -a "$results" || status=1

# Runs a peer, which prints lines `result NAME THREADS NS_MIN NS_MEDIAN`, several times beside the floor, and prints a
# line for each of its results: the least, the median, and the median of the ratios to the floor.
beside_floor() { # COMMAND...
  local i times=5
  [ -z "$quick" ] || times=2
  for ((i = 0; i < times; i++)); do
    "$dir/events" -f
    "$@" || return
  done | awk '
    function middle(values, count,    i, j, value) { # sorts them
      for (i = 2; i <= count; i++) {
        value = values[i]
        for (j = i - 1; j && values[j] > value; j--) values[j + 1] = values[j]
        values[j + 1] = value
      }
      return values[int((count + 1) / 2)]
    }
    $1 == "floor" { floor = $2; run++; next }
    $1 != "result" { print; next }
    { name = $2 " " $3 }
    !(name in least) { names[++n] = name; least[name] = $4 }
    { if ($4 < least[name]) least[name] = $4
      ns[name, run] = $5; ratio[name, run] = $5 / floor }
    END {
      for (k = 1; k <= n; k++) {
        for (i = 1; i <= run; i++) { times[i] = ns[names[k], i]; ratios[i] = ratio[names[k], i] }
        printf "result %s %s %.2f %.2f 0\n", names[k], least[names[k]], middle(times, run), middle(ratios, run)
      }
    }'
}

beside_floor "$dir/transcribe" | tee -a "$results"

# Instructions, counted by valgrind, since hardware counters are often missing, as in virtual machines.
if command -v valgrind >/dev/null; then
  for variant in events ${quick:-events_seq_cst}; do
    [ "$variant" != -q ] || continue
    rm -f "$dir"/$variant.callgrind*
    if valgrind -q --tool=callgrind --fair-sched=yes --toggle-collect='counted*' --dump-after=row_counted \
      --callgrind-out-file="$dir/$variant.callgrind" "$dir/$variant" -c >"$dir/$variant.rows" 2>"$dir/$variant.errors"; then
      python3 tests/bench/instructions.py "$dir/$variant.rows" "$dir/$variant.callgrind" | tee -a "$results"
    else
      echo "missing instructions: valgrind failed: $(tail -n 1 "$dir/$variant.errors")" | tee -a "$results"
    fi
  done
  for variant in '' in; do # without and with a box
    valgrind -q --tool=callgrind --toggle-collect=counted --callgrind-out-file="$dir/box.callgrind" "$dir/box" $variant
    awk '$1 == "summary:" { print $2 }' "$dir/box.callgrind"
  done | awk '{ counts[NR] = $1 } END { printf "box: %.4f times the instructions of a task without one\n", counts[2] / counts[1] }' |
    tee -a "$results"
else
  echo "missing instructions: no valgrind (make deps)" | tee -a "$results"
fi

# The scheduler example: as a load at many rates, and unchanged.
"$dir/load" $quick | tee -a "$results" || status=1
times=9
microseconds() { # COMMAND...: its run time
  local begin end
  begin=$(date +%s%N)
  "$@" >"$dir/said" || return
  end=$(date +%s%N)
  echo $(((end - begin) / 1000))
}
median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
for format in ${quick:-1.23 1.21}; do
  [ "$format" != -q ] || continue
  : >"$dir/with" >"$dir/without"
  for ((i = 0; i < times; i++)); do
    microseconds "$dir/scheduler" -j 1 -f $format -o /dev/null /usr/include >>"$dir/with"
    awk '/^trace/ { print $4, $6 }' "$dir/said" >"$dir/traced" # events, bytes per event
    microseconds "$dir/scheduler_disabled" -j 1 -f $format -o /dev/null /usr/include >>"$dir/without"
  done
  read -r events bytes <"$dir/traced"
  echo "example $format $(median <"$dir/with") $(median <"$dir/without") $events $bytes" |
    awk '{ printf "example %s %.0f %.1f %s\n", $2, $5 / $4 * 1e6, 100 * ($3 / $4 - 1), $6 }' | tee -a "$results"
done

# Go's own tracer.
cache=${GOTRACE_GO:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-go}
for release in ${quick:-1.19} 1.27; do
  [ "$release" != -q ] || continue
  root=$cache/$release/usr/lib/go-$release
  [ -x "$root/bin/go" ] || { echo "missing go$release: not installed (make deps)" | tee -a "$results"; continue; }
  GOROOT=$root GOTOOLCHAIN=local GOFLAGS='' GOPROXY=off GO111MODULE=off GOCACHE=$cache/gocache CGO_ENABLED=0 \
    "$root/bin/go" build -o "$dir/peer-$release" tests/bench/peer.go
  beside_floor "$dir/peer-$release" | sed "s/ go-/ go$release-/" | tee -a "$results"
done

# LTTng-UST: with its own session daemon, which ends with this script.
lttng_peer() {
  local daemon i
  command -v lttng-sessiond >/dev/null && command -v lttng >/dev/null || { echo "missing lttng: no lttng-tools"; return; }
  $cc -std=gnu11 -O2 -Itests/bench tests/bench/lttng_peer.c -o "$dir/lttng_peer" -llttng-ust -ldl -pthread \
    2>"$dir/lttng.log" || { echo "missing lttng: no liblttng-ust-dev"; return; }
  export LTTNG_HOME=$dir/lttng LTTNG_UST_REGISTER_TIMEOUT=-1
  rm -rf "$LTTNG_HOME" && mkdir -p "$LTTNG_HOME"
  if lttng --no-sessiond list >/dev/null 2>&1; then echo "missing lttng: a session daemon runs already"; return; fi
  lttng-sessiond --no-kernel >"$dir/lttng.log" 2>&1 & daemon=$!
  for ((i = 0; i < 100; i++)); do
    lttng --no-sessiond list >/dev/null 2>&1 && break
    sleep 0.1
  done
  {
    lttng --no-sessiond create gotrace-bench --snapshot --output="$LTTNG_HOME/trace" &&
      lttng --no-sessiond enable-channel --userspace --overwrite --subbuf-size=1M --num-subbuf=4 events &&
      lttng --no-sessiond enable-event --userspace --channel=events 'gotrace_bench:*' &&
      lttng --no-sessiond start
  } >>"$dir/lttng.log" 2>&1 || echo "missing lttng: no session: $(tail -n 1 "$dir/lttng.log")"
  beside_floor timeout 60 "$dir/lttng_peer" || echo "missing lttng: its program failed"
  lttng --no-sessiond destroy gotrace-bench >>"$dir/lttng.log" 2>&1 || true
  kill $daemon 2>/dev/null || true
  wait $daemon 2>/dev/null || true
}
lttng_peer | tee -a "$results"

# ------------------------------------------------------------------------------------------------------- table ----

echo
awk '
  function of(table, name) { # the name of a result in the table; empty for the variants with a barrier
    if (name ~ /_seq_cst$/) return ""
    sub(/_v1$/, "", name)
    return name in table ? table[name] : ""
  }
  BEGIN { # limits; targets
    n_targets = split("off_region 0.05 0.03 off_log 0.05 0.03 off_go_start 0.25 0.17 off_go_block 0.25 0.17 " \
                      "off_go_stop 0.25 0.17 off_go_unblock 0.25 0.17 off_job 1.1 0.84 off_wait 0.45 0.21 " \
                      "off_site 0.7 0.21 off_untracked_job 0.5 0.3 off_untracked_wait 0.55 0.21 region 1.5 1.25 region_begin 1.5 1.25 " \
                      "region_end 1.5 1.25 go_start 1.5 1.3 go_block 1.5 1.3 go_stop 1.5 1.3 go_end 1.5 1.3 " \
                      "syscall_begin 1.5 1.3 syscall_end 1.5 1.3 go_unblock 2.9 2.2 go_switch 2.9 2.2 stack16 4.5 3.5", t, " ")
    for (i = 1; i <= n_targets; i += 3) { most[t[i]] = t[i + 1]; aims[t[i]] = t[i + 2] }
  }
  $1 == "instructions" { instructions[$2] = $3; next }
  $1 == "pair" { factor[$2] = $3; next }
  $1 == "result" { rows[++n] = $0; next }
  $1 == "load" { loads[++m] = $0; next }
  $1 == "example" { examples[++e] = $0; next }
  $1 == "memory" || $1 == "missing" || $1 == "wrong" { notes[++o] = $0; next }
  END {
    printf "%-24s %7s %12s %12s %10s %7s %7s %7s %8s %7s\n", "event", "threads", "ns, least", "ns, median", "/ floor", \
           "at most", "aim", "bytes", "instr.", "2 / 1"
    for (i = 1; i <= n; i++) {
      split(rows[i], f, " ")
      target = of(most, f[2])
      verdict = target != "" && f[6] + 0 > target + 0 ? "  missed" : ""
      pair = f[3] == 2 && f[2] in factor ? factor[f[2]] : ""
      if (pair > 1.05 && f[2] !~ /_seq_cst$/) verdict = verdict "  2 threads: " pair
      printf "%-24s %7d %12.2f %12.2f %10.2f %7s %7s %7s %8s %7s%s\n", f[2], f[3], f[4], f[5], f[6], target, of(aims, f[2]), \
             (f[7] > 0 ? f[7] : ""), (f[3] == 1 && f[2] in instructions ? instructions[f[2]] : ""), pair, verdict
    }
    printf "\n%-24s %16s %16s %16s %10s\n", "scheduler, one worker", "events/s", "time, per cent", "CPU, per cent", "bytes"
    for (i = 1; i <= m; i++) {
      split(loads[i], f, " ")
      printf "%-24s %16d %16.1f %16.1f %10.2f%s\n", "load " f[2], f[3], f[4], f[5], f[6], \
             (f[2] == "v2" && f[6] > 5 ? "  missed: 5" : "")
    }
    for (i = 1; i <= e; i++) {
      split(examples[i], f, " ")
      printf "%-24s %16d %16.1f %16s %10.2f%s\n", "word count " f[2], f[3], f[4], "", f[5], \
             (f[2] == "1.23" && f[5] > 5 ? "  missed: 5" : "")
    }
    print ""
    for (i = 1; i <= o; i++) print notes[i]
  }' "$results"
exit $status
