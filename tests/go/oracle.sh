#!/bin/sh
# Prints everything that Go finds in a trace, in a form that is easy to compare.
#
#     tests/go/oracle.sh [-r RELEASE] [-c] [-s] FILE
#
# A v2 trace (Go 1.22 and later): with the reader of Go 1.27, in the form described in print_v2.go. A v1 trace: with the
# parser of Go 1.21, in the form of print_v1.go; -s: in an order that is the same in every run; -r: with the parser of
# Go 1.15 or 1.19; -c: with the reader of Go 1.27, which converts it to v2 (Go 1.11 to 1.21). Without -c, -r also
# selects 1.25 or 1.26 for v2. Exit status 0 if the whole trace is good, 1 if not (the last line has the cause), 77 if
# Go is missing.
set -eu
here=$(dirname "$0")
release='' convert='' sorted=''
while getopts r:cs option; do
  case $option in
    r) release=$OPTARG ;;
    c) convert=1 ;;
    s) sorted=-s ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# = 1 ] && [ -r "$1" ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
minor=$(head -c 8 "$1" | tr -d '\0' | sed -n 's/^go 1\.\([0-9]\{1,2\}\).*/\1/p')
case $release in 1.15 | 1.19 | 1.21) minor=${minor:-0} ;; esac # any format, since these parsers know only v1
if [ -z "$convert" ] && [ -n "$minor" ] && [ "$minor" -lt 22 ]; then
  program=$("$here/inside.sh" "${release:-1.21}" print_v1.go -i internal/trace access_v1.go)
  exec "$program" $sorted "$1"
fi
program=$("$here/inside.sh" "${release:-1.27}" print_v2.go -i internal/trace access_v2.go)
exec "$program" "$1"
