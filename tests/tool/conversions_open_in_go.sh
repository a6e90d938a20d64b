#!/usr/bin/env bash
# The output of `gotrace convert` and `gotrace cut` on Go's own traces opens in Go.
#
#     tests/tool/conversions_open_in_go.sh [-b] canned|RELEASE     the traces of decoder_agrees_with_go.sh, written if missing
#
# Converts every trace that Go accepts, those in Go's sources to every format, others to five. Cuts it in two places, and
# cuts some goroutines out of it and of a conversion. Go's parser must accept each result, and the last result of each
# format must come up in the viewers. -b: every fifth trace, three formats. Status 77 if a release is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/faults.sh
tests/need.sh python3

every=1 formats='1.8 1.11 1.21 1.22 1.26'
if [ "$1" = canned ]; then formats=$(tests/formats.sh); fi
if [ "$1" = -b ]; then every=5 formats='1.10 1.21 1.26'; shift; fi
what=$1
traces=build/go-traces/$what
[ -n "$(compgen -G "$traces/*.trace")" ] || tests/decoder/decoder_agrees_with_go.sh "$what" >/dev/null
make -s build/examples/gotrace
tool=build/examples/gotrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mkdir "$dir/all"
: >"$dir/pairs" # stays empty for the traces of Go 1.22
number=0
for trace in "$traces"/*.trace; do
  [ $((number++ % every)) = 0 ] || continue
  "$tool" check "$trace" >/dev/null 2>&1 || continue # Go rejects it too: decoder_agrees_with_go.py checks that
  name=$dir/all/$(basename "$trace" .trace)
  for format in $formats; do
    "$tool" convert --to $format -o "$name-to-$format.trace" "$trace" 2>"$dir/said" ||
      { fault "${name##*/} to $format" "$dir/said"; exit 1; }
    # The tool reports everything that it leaves out in one line.
    [ "$(wc -l <"$dir/said")" -le 1 ] || fault "${name##*/} to $format" "$dir/said"
    ln -sf "$name-to-$format.trace" "$dir/to-$format.trace"
  done
  # The contents are the same, except the ends of system calls, which only v2 has.
  same="1.26"
  case $(head -c 7 "$trace") in 'go 1.22') same= ;; 'go 1.2'[3-9]) ;; *) same="1.21 1.26" ;; esac
  # With .held, Go gives some events of the original later times (decoder_agrees_with_go.py).
  [[ $same != 1.26 || -e $trace.held ]] || printf '%s\t%s\n' "$trace" "$name-to-1.26.trace" >>"$dir/summaries"
  for format in $same; do printf '%s\t%s\n' "$trace" "$name-to-$format.trace" >>"$dir/pairs"; done
  # The second third; the last tenth; and up to the start of a collection, which must then end at once.
  "$tool" dump "$trace" >"$dir/events"
  duration=$(tail -n 50 "$dir/events" | sed -n 's/^\([0-9]\{1,\}\) [A-Z].*/\1/p' | tail -n 1)
  parts=("$((duration / 3)) $((duration * 2 / 3))" "$((duration - duration / 10)) $((duration + 1))")
  gc=$(awk '$2 == "GCBegin" { print $1; exit }' "$dir/events")
  [[ -z $gc || $same != "1.21 1.26" ]] || parts+=("0 $((gc + 1))")
  for part in "${parts[@]}"; do
    # A part without events is not a valid trace.
    "$tool" cut --from "${part% *}" --to "${part#* }" -o "$name-cut-${part/ /-to-}.trace" "$trace" 2>"$dir/said" || {
      grep -q 'no events' "$dir/said" ||
        fault "${name##*/}, cut from ${part/ / to }" "$dir/said"
    }
  done
  for some in '--function main' '--proc 0'; do
    for from in "$trace" "$name-to-1.26.trace"; do
      # shellcheck disable=SC2086
      "$tool" cut $some -o "$name-cut${some/ /-}-of-$(basename "$from")" "$from" 2>"$dir/said" || {
        grep -qE 'no goroutine in this part is selected|no (goroutine|proc 0) in the trace' "$dir/said" ||
          fault "${from##*/}, cut $some" "$dir/said"
      }
    done
  done
done
[ ! -s "$dir/pairs" ] || tests/tool/conversion_keeps_info.py $tool <"$dir/pairs" >"$dir/said" 2>&1 ||
  fault "info of the conversions" "$dir/said"
# Go's own summaries of goroutines do not change in conversions between formats that have the same events.
if [ -s "$dir/summaries" ]; then
  program=$(sh tests/go/inside.sh 1.27 compare_summaries.go) || exit $?
  "$program" -s 2us <"$dir/summaries" >"$dir/said" 2>&1 || fault "summaries of the conversions" "$dir/said"
  # The traces in Go's sources have no system calls.
  [ "$what" = canned ] || ! grep -q ' 0 with system calls' "$dir/said" || fault "no system calls" "$dir/said"
fi
# Go opens all results, in one process per parser.
results=$(find "$dir/all" -name '*.trace' | wc -l)
status=0
tests/go/check_many.sh "$dir/all" >"$dir/said" || status=$?
if [ $status != 0 ]; then
  sed "s|^$dir/all/|FAILED |" "$dir/said" | tee "$dir/told"
  [ $status != 77 ] || exit 77
  has_told "$dir/told"
  grep -q '^FAILED ' "$dir/told" || fault "check_many.sh: status $status"
fi
for result in "$dir"/to-*.trace; do
  status=0
  tests/go/open_in_go.sh "$result" -n >"$dir/said" 2>&1 || status=$?
  [ $status = 0 ] || [ $status = 77 ] || fault "${result##*/}" "$dir/said"
done
repeat_faults
echo "$results results of $traces, ${#faults[@]} wrong"
[ ${#faults[@]} = 0 ] && [ $results -gt 0 ]
