#!/bin/sh
# Measures how fast Go's trace reader reads a trace, and how much memory it takes (read_bench.go).
#
#     tests/go/read_bench.sh [-r RELEASE] FILE [PASSES]
#
# Uses Go 1.27, which reads traces of Go 1.11 and later, unless another release from 1.25 on is named. The default is 5
# passes. Status 77 if the release is missing.
set -eu
release=1.27
if [ "${1-}" = -r ]; then
  release=$2
  shift 2
fi
[ $# = 1 ] || [ $# = 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$("$(dirname "$0")/inside.sh" "$release" read_bench.go)
exec "$program" "$1" "${2:-5}"
