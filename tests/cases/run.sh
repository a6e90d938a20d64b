#!/usr/bin/env bash
# Runs the cases (tests/cases: one program for each defect found) many times in each format.
#
#     tests/cases/run.sh [RUNS [CASE...]]     RUNS of each case in each format (default 20); all cases unless some are named
#
# Prints a line per case and format, a line for Go's verdict, and the counts. Rejected traces are kept under
# build/failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/go/many_traces.sh

runs=${1:-20}
shift || true
if [ $# = 0 ]; then
  for source in tests/cases/*.c; do
    [ "$source" = tests/cases/case.c ] || set -- "$@" "$(basename "$source" .c)"
  done
fi

for name in "$@"; do
  make -s "build/cases/$name"
  mkdir "$dir/$name"
  status=0
  "build/cases/$name" -n "$runs" -o "$dir/$name" -e $((runs / 50 + 1)) >"$dir/out" 2>&1 || status=$?
  cat "$dir/out"
  has_told "$dir/out"
  passed=$((passed + $(grep -c '^ok ' "$dir/out" || true)))
  bad=$(grep -c '^FAILED ' "$dir/out" || true)
  if [ $status != 0 ] && [ "$bad" = 0 ]; then # it crashed
    bad=1
    fault "$name: status $status"
  fi
  failed=$((failed + bad))
  keep "$dir/$name"/*.refused
  open_all_in_go "$name" "$dir/$name"
  rm -rf "${dir:?}/$name"
done
finish
