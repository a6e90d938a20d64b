#!/bin/sh
# Checks many traces with Go, in one process per parser.
#
#     tests/go/check_many.sh DIRECTORY
#
# Each *.trace in the directory is read by the parsers that know its format: v1 (formats up to 1.21) by the parser of Go
# 1.21 and, from format 1.11 on, by the reader of Go 1.27; v2 by the reader of Go 1.27. Prints a line per rejected
# trace, then "N accepted, N refused" per parser. Exit status 1 if any is rejected, 77 if a Go release is missing.
set -eu
[ $# = 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(dirname "$0")
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
# The header's first eight bytes: "go 1.", the minor version, and a space or NUL.
find "$1" -name '*.trace' | sort | while read -r name; do
  minor=$(head -c 8 "$name" | tr -d '\0' | sed -n 's/^go 1\.\([0-9]\{1,2\}\).*/\1/p')
  # A file without a header goes to the newest reader, which rejects it.
  if [ "${minor:-99}" -lt 22 ]; then echo "$name" >>"$lists/v1"; fi
  if [ "${minor:-99}" -ge 11 ]; then echo "$name" >>"$lists/v2"; fi
done
status=0
if [ -e "$lists/v1" ]; then
  program=$("$here/inside.sh" 1.21 check_many_v1.go check_many.go -i internal/trace access_v1.go)
  "$program" <"$lists/v1" || status=1
fi
if [ -e "$lists/v2" ]; then
  program=$("$here/inside.sh" 1.27 check_many_v2.go check_many.go)
  "$program" <"$lists/v2" || status=1
fi
exit $status
