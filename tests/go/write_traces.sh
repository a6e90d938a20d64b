#!/bin/sh
# Writes traces with Go releases: of every program in write_traces.go that the release can build, and of some of them
# again with the release's optional trace data.
#
#     tests/go/write_traces.sh OUTDIR RELEASE...                      OUTDIR/RELEASE-NAME.trace
#     tests/go/write_traces.sh --big FILE BYTES GOROUTINES RELEASE    one trace of about that size
#
# Status 77 if a release is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${GOTRACE_GO:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-go}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # build RELEASE: leaves the program in $work
  root=$cache/$1/usr/lib/go-$1
  [ -x "$root/bin/go" ] || { echo "needs Go $1 (make deps)"; exit 77; }
  files=$here/write_traces.go
  # Named files are used regardless of their build constraints.
  [ "${1#1.}" -lt 23 ] || files="$files $here/write_traces_iter.go"
  go="env GOROOT=$root GOTOOLCHAIN=local GOFLAGS= GOPROXY=off GO111MODULE=off GOCACHE=$cache/gocache"
  # shellcheck disable=SC2086 # words
  CGO_ENABLED=1 $go "$root/bin/go" build -trimpath -o "$work/write_traces" $files "$here/write_traces_cgo.go" 2>"$work/log" || {
    echo "Go $1: without cgo, which does not build here" >&2
    CGO_ENABLED=0 $go "$root/bin/go" build -trimpath -o "$work/write_traces" $files
  }
}

if [ "${1-}" = --big ] && [ $# = 5 ]; then
  build "$5"
  "$work/write_traces" big "$work/big" "$3" "$4"
  mv "$work/big.trace" "$2"
  exit
fi
[ $# -ge 2 ] && [ "${1#-}" = "$1" ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }

out=$1
shift
mkdir -p "$out"
for release in "$@"; do
  build "$release"
  rm -f "$out/$release"-*.oracle "$out/$release"-*.held # results for traces that are about to change
  for name in $("$work/write_traces"); do
    "$work/write_traces" "$name" "$out/$release-$name"
  done
  # A generation every 20 ms instead of every second, so that more activity crosses their ends.
  if [ "${release#1.}" -ge 22 ]; then
    for name in storm gc tasks profile syscall; do
      GODEBUG=traceadvanceperiod=20000000 "$work/write_traces" $name "$out/$release-generations_$name"
    done
  fi
  # Experimental events for every object of the heap.
  if [ "${release#1.}" -ge 23 ]; then
    GODEBUG=traceallocfree=1 "$work/write_traces" tasks "$out/$release-allocfree"
  fi
done
