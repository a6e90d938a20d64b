# shellcheck shell=bash
# Sourced by cases/run.sh, capture/stress_sessions.sh and capture/mid_flight.sh: makes a temporary directory $dir and
# defines functions.

parent=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || parent=/dev/shm # many small files
dir=$(mktemp -d -p "$parent")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
. tests/faults.sh
passed=0 failed=0 skipped=0

# Copies rejected traces, NAME.refused or NAME.trace, to build/failed.
keep() {
  local file name
  mkdir -p build/failed
  for file in "$@"; do
    name=$(basename "$file" .refused)
    [ ! -e "$file" ] || cp "$file" "build/failed/${name%.trace}.trace"
  done
}

# Has Go open all traces of a directory, prints the verdict and counts it.
open_all_in_go() { # open_all_in_go NAME DIRECTORY
  local status=0 file
  tests/go/check_many.sh "$2" >"$dir/out" 2>&1 || status=$?
  case $status in
    0)
      passed=$((passed + 1))
      echo "ok $1 by Go: $(sed 's/ accepted.*//' "$dir/out" | paste -sd+ | sed 's/+/ + /g') traces"
      ;;
    77)
      skipped=$((skipped + 1))
      echo "skipped $1 by Go: $(tail -n 1 "$dir/out")"
      ;;
    *)
      failed=$((failed + 1))
      sed "s|^$2/||" "$dir/out" >"$dir/found"
      fault "$1 by Go" "$dir/found"
      sed -n 's/^\(.*\.trace\): .*/\1/p' "$dir/out" | while read -r file; do keep "$file"; done
      ;;
  esac
}

# Repeats what failed and prints the last line; status 1 if anything failed or nothing passed.
finish() {
  repeat_faults
  echo "$passed passed, $failed failed, $skipped skipped"
  [ $failed = 0 ] && [ $passed -gt 0 ]
}
