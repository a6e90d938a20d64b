#!/usr/bin/env bash
# Opens a trace with Go and compares what Go's parser finds with what is in the file and what the program counted.
#
#     tests/open_trace.sh TRACE [-k KINDS] [-e EXPECT] [RELEASE...]
#
# KINDS is a file with lines `kind NAME COUNT`, EXPECT one with the lines that Go is to print (see check_trace.py). Without releases: every one of the project's that
# knows the trace's format and is there. Status 1 if anything is wrong, 77 if a release that was named is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1-}" = --print ]; then # tests/open_trace.sh --print RELEASE TRACE: what Go's parser prints of a trace
  tool=$(tests/fetch_go.sh --tool "$2") || { echo "$tool"; exit 77; }
  case $2 in
    1.1? | 1.20 | 1.21) exec "$tool" -d "$3" ;;
    1.22) exec "$tool" -d=1 "$3" ;;
    *) exec "$tool" -d=parsed "$3" ;;
  esac
fi

if [ "${1-}" = --releases ]; then # tests/open_trace.sh --releases FORMAT: the releases that know a format
  case $2 in
    1.8 | 1.10) echo 1.15 1.19 1.21 1.22 ;;
    1.11) echo 1.15 1.19 1.21 1.22 1.24 1.27 ;;
    1.19) echo 1.19 1.21 1.22 1.24 1.27 ;;
    1.21) echo 1.21 1.22 1.24 1.27 ;;
    *) echo "open_trace.sh: unknown format $2" >&2; exit 1 ;;
  esac
  exit
fi

trace=$1
shift
check=(-s "$trace")
while [ "${1-}" = -k ] || [ "${1-}" = -e ]; do
  check+=("$1" "$2")
  shift 2
done

header=$(head -c 16 "$trace" | tr -d '\0')
[[ $header =~ ^go\ (1\.[0-9]+)\ trace$ ]] || { echo "$trace: begins with '$header'"; exit 1; }
knowing=$(tests/open_trace.sh --releases "${BASH_REMATCH[1]}")
if [ $# -gt 0 ]; then releases="$*" named=1; else releases=$knowing named=; fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for release in $releases; do
  status=0
  tests/open_trace.sh --print "$release" "$trace" >"$out/$release" 2>"$out/$release.err" || status=$?
  if [ $status = 77 ]; then
    [ -z "$named" ] || { cat "$out/$release"; exit 77; }
    continue
  fi
  if [ $status != 0 ]; then
    echo "$trace: Go $release does not open it:"
    head -n 20 "$out/$release.err"
    exit 1
  fi
  check+=(-g "$release" "$out/$release")
done
if [[ " ${check[*]} " != *" -g "* ]]; then
  echo "needs a Go release that knows $header (make deps)"
  exit 77
fi
python3 tests/check_trace.py "${check[@]}"
