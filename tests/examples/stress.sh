#!/usr/bin/env bash
# Writes many traces under load and opens each with Go.
#
#     tests/examples/stress.sh [RUNS]     RUNS of each example in each format (default 200); STRESS_TIMEOUT seconds each (180)
#
# A busy loop per processor competes with the program. The Go releases that know the format take turns. Each trace gets
# the full comparison of open_in_go.sh. Up to 5 failures are shown; traces that failed are kept under build/failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/faults.sh

runs=${1:-200}
dir=$(mktemp -d)
load=()
finish() {
  [ ${#load[@]} = 0 ] || kill "${load[@]}" 2>/dev/null || true
  rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM
for ((i = 0; i < $(nproc); i++)); do
  (while :; do :; done) &
  load+=($!)
done

passed=0 failed=0 skipped=0
formats=$(tests/formats.sh)
for example in scheduler threads hello; do
  for format in $formats; do
    read -r -a releases <<<"$(tests/go/open_in_go.sh --releases $format)"
    ok=0 bad=0 left=0
    for ((run = 0; run < runs; run++)); do
      release=${releases[run % ${#releases[@]}]}
      status=0
      timeout "${STRESS_TIMEOUT:-180}" tests/examples/example_opens_in_go.sh $example $format "$release" >"$dir/out" 2>&1 || status=$?
      case $status in
        0) ok=$((ok + 1)) ;;
        77) left=$((left + 1)) ;;
        *)
          bad=$((bad + 1))
          [ $((failed + bad)) -gt 5 ] || fault "$example $format by Go $release, run $run" "$dir/out"
          ;;
      esac
    done
    if [ $bad != 0 ]; then
      echo "FAILED stress $example $format: $bad of $runs"
    elif [ $left != 0 ]; then
      echo "skipped stress $example $format: $(tail -n 1 "$dir/out")"
    else
      echo "ok stress $example $format: $ok traces"
    fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + left))
  done
done
repeat_faults
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
