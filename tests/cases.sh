#!/usr/bin/env bash
# Runs the cases (tests/cases: a program per defect that was found) many times in each format.
#
#     tests/cases.sh [RUNS [CASE...]]     RUNS of each case in each format (default 20); all cases unless some are named
#
# Prints a line per case and format, a line for Go's verdict, and the counts. Rejected traces are kept under
# build/failed.
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-20}
shift || true
if [ $# = 0 ]; then
  for source in tests/cases/*.c; do
    [ "$source" = tests/cases/case.c ] || set -- "$@" "$(basename "$source" .c)"
  done
fi

parent=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || parent=/dev/shm # many small files
dir=$(mktemp -d -p "$parent")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

keep() {
  mkdir -p build/failed
  for file in "$@"; do
    [ ! -e "$file" ] || cp "$file" "build/failed/$(basename "$file" .refused | sed 's/\.trace$//').trace"
  done
}

passed=0 failed=0 skipped=0
for name in "$@"; do
  make -s "build/cases/$name"
  mkdir "$dir/$name"
  status=0
  "build/cases/$name" -n "$runs" -o "$dir/$name" -e $((runs / 50 + 1)) >"$dir/out" 2>&1 || status=$?
  cat "$dir/out"
  passed=$((passed + $(grep -c '^ok ' "$dir/out" || true)))
  bad=$(grep -c '^FAILED ' "$dir/out" || true)
  if [ $status != 0 ] && [ "$bad" = 0 ]; then # it crashed
    bad=1
    echo "FAILED $name: status $status"
  fi
  failed=$((failed + bad))
  keep "$dir/$name"/*.refused

  status=0
  tests/go/check_many.sh "$dir/$name" >"$dir/out" 2>&1 || status=$?
  case $status in
    0)
      passed=$((passed + 1))
      echo "ok $name by Go: $(sed 's/ accepted.*//' "$dir/out" | paste -sd+ | sed 's/+/ + /g') traces"
      ;;
    77)
      skipped=$((skipped + 1))
      echo "skipped $name by Go: $(tail -n 1 "$dir/out")"
      ;;
    *)
      failed=$((failed + 1))
      echo "FAILED $name by Go:"
      sed "s|^$dir/||; s/^/    /" "$dir/out" | head -n 10
      sed -n 's/^\(.*\.trace\): .*/\1/p' "$dir/out" | while read -r file; do keep "$file"; done
      ;;
  esac
  rm -rf "${dir:?}/$name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
