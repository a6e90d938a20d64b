#!/bin/sh
# Collects the test traces of Go's own readers from Go's sources.
#
#     tests/go/testdata.sh OUTDIR [RELEASE...]      default: all releases that the tests use
#
# Writes OUTDIR/RELEASE-NAME.trace and RELEASE-NAME.expect, one line with the expected result: SUCCESS; FAILURE and a
# regular expression for the error; ANY for a fuzzer's input, which may have any result but must not crash the reader. A
# trace that several releases have with the same result is taken once, from the first release.
# v1 traces are binary; v2 traces are text, made binary with Go 1.27. Status 77 if a release is missing.
set -eu
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
cache=${GOTRACE_GO:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-go}
text_trace=$("$here/inside.sh" 1.27 text_trace.go)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
releases=${*:-$("$here/fetch_go.sh" --list)}
sums=$(mktemp)
trap 'rm -f "$sums"' EXIT

once() { # once OUTPUT: removes it if the same trace with the same result exists
  sum=$(cat "$1.expect" "$1.trace" | cksum)
  if grep -qx "$sum" "$sums"; then rm "$1.trace" "$1.expect"; else echo "$sum" >>"$sums"; fi
}

for release in $releases; do
  source=$cache/$release/usr/lib/go-$release/src
  [ -d "$source/internal/trace" ] || { echo "needs Go $release (make deps)"; exit 77; }
  for directory in "$source"/internal/trace/testdata "$source"/internal/trace/internal/*/testdata; do
    for file in "$directory"/*_good "$directory"/*_unordered; do
      [ -f "$file" ] || continue
      name=$out/$release-$(basename "$file")
      cp "$file" "$name.trace"
      chmod u+w "$name.trace"
      case $file in
        *_good) echo SUCCESS >"$name.expect" ;;
        *) echo 'FAILURE out of order' >"$name.expect" ;;
      esac
      once "$name"
    done
  done
  for directory in "$source"/internal/trace/testdata "$source"/internal/trace/v2/testdata "$source"/cmd/trace/testdata \
    "$source"/cmd/trace/v2/testdata; do
    for file in "$directory"/*.test "$directory"/tests/*.test "$directory"/fuzz/*/*; do
      [ -f "$file" ] || continue
      name=$(basename "$file" .test)
      case $file in
        */fuzz/*) name=fuzz-$name ;;
        */cmd/*) name=cmd-$name ;;
      esac
      "$text_trace" "$file" "$out/$release-$name"
      once "$out/$release-$name"
    done
  done
done
