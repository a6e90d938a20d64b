#!/usr/bin/env bash
# Opens a trace with Go and compares the output of Go's parser with the file and with the program's own counts.
#
#     tests/go/open_in_go.sh TRACE [-p] [-n | -t] [-k KINDS] [-e EXPECT] [-u RELEASE] [RELEASE...]
#
# KINDS is a file of lines `kind NAME COUNT`. EXPECT is a file of lines that Go must print (see check_trace.py). Without
# releases: all of the project's releases that know the trace's format and are unpacked. -n: only the newest of them.
# -t: two of them, the newest and one that the trace's name selects.
# -u: none later than this one. The viewer must come up as well, unless -p restricts the test to the parser (for a trace
# that ends while goroutines run, which the viewers of Go up to 1.22 cannot handle).
# Status 1 if anything is wrong, 77 if a named release is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

tool=
find_tool() { tool=$(tests/go/fetch_go.sh --tool "$1") || { echo "$tool"; return 77; }; } # find_tool RELEASE: sets `tool`

# What Go's parser prints of a trace. The tool listens first, by default on the name localhost, which not every machine
# knows.
print() { # print RELEASE TRACE, with its tool
  local how
  case $1 in
    1.1? | 1.20 | 1.21) how=-d ;;
    1.22 | 1.23) how=-d=1 ;;
    *) how=-d=parsed ;;
  esac
  "$tool" -http=127.0.0.1:0 $how "$2"
}

# The viewer must also start: from 1.23 on it panics on some traces that the parser accepts, in which a goroutine's
# states do not match those of its proc. It reports that it listens after it has processed all events.
view() { # view TRACE LOG, with a release's tool: status 0 if the viewer starts
  local i said up=1 never viewer
  : >"$2" # what the last viewer said there must not count
  BROWSER=/bin/true PATH=/nonexistent "$tool" -http=127.0.0.1:0 "$1" >"$2" 2>&1 & viewer=$!
  disown # bash would report that it was killed
  exec {never}<> <(:) # to wait without starting a process each time, which is slow on some machines
  for ((i = 0; i < 1200; i++)); do
    read -rt 0.05 -u $never || true
    mapfile -t said <"$2"
    [[ ${said[*]} != *'listening on'* ]] || { up=0; break; }
    kill -0 $viewer 2>/dev/null || break
  done
  exec {never}>&-
  kill $viewer 2>/dev/null || true
  return $up
}

if [ "${1-}" = --print ]; then # tests/go/open_in_go.sh --print RELEASE TRACE
  find_tool "$2" || exit
  print "$2" "$3"
  exit
fi

# The trace of a killed program: Go 1.23 and later read the complete part.
if [ "${1-}" = --killed ]; then # tests/go/open_in_go.sh --killed TRACE
  form=$(head -c 16 "$2" | tr -d '\0' | cut -d ' ' -f 2)
  oldest=1.23
  [ "${form#1.}" -lt 23 ] || oldest=$form
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  for release in $oldest 1.27; do
    find_tool $release || exit
    view "$2" "$log" || { cat "$log"; exit 1; }
    found=$(print $release "$2" 2>/dev/null | grep -c '^M=' || true)
    [ "$found" -gt 100 ] || { echo "$2: Go $release finds $found events"; exit 1; }
  done
  exit
fi

releases_of() { # releases_of FORMAT: the releases that know a format
  case $1 in
    1.8 | 1.10) echo 1.15 1.19 1.21 1.22 ;;
    1.11) echo 1.15 1.19 1.21 1.22 1.24 1.27 ;;
    1.19) echo 1.19 1.21 1.22 1.24 1.27 ;;
    1.21) echo 1.21 1.22 1.24 1.27 ;;
    1.22) echo 1.22 1.23 1.24 1.25 1.26 1.27 ;;
    1.23) echo 1.23 1.24 1.25 1.26 1.27 ;;
    1.25) echo 1.25 1.26 1.27 ;;
    1.26) echo 1.26 1.27 ;;
    *) echo "open_in_go.sh: unknown format $1" >&2; return 1 ;;
  esac
}

if [ "${1-}" = --releases ]; then # tests/go/open_in_go.sh --releases FORMAT
  releases_of "$2"
  exit
fi

trace=$1
shift
check=()
view=1
if [ "${1-}" = -p ]; then
  view=
  shift
fi
which=
if [ "${1-}" = -n ] || [ "${1-}" = -t ]; then
  which=$1
  shift
fi
until=
while [ "${1-}" = -k ] || [ "${1-}" = -e ] || [ "${1-}" = -u ]; do
  if [ "$1" = -u ]; then until=$2; else check+=("$1" "$2"); fi
  shift 2
done

header=$(head -c 16 "$trace" | tr -d '\0')
[[ $header =~ ^go\ (1\.[0-9]+)\ trace$ ]] || { echo "$trace: begins with '$header'"; exit 1; }
knowing=$(releases_of "${BASH_REMATCH[1]}")
if [ $# -gt 0 ]; then releases="$*" named=1; else releases=$knowing named=; fi
[ -z "$until" ] || releases=$(for release in $releases; do # 1.9 to 1.99 sort as numbers of their minor versions
  [ "${release#1.}" -gt "${until#1.}" ] || echo "$release"
done)

case $which in
  -n) releases=${releases##*[[:space:]]} ;;
  -t)
    read -r -a releases <<<"${releases//$'\n'/ }"
    chosen=$(cksum <<<"${trace##*/}")
    chosen=$((${chosen%% *} % ${#releases[@]}))
    ((chosen == ${#releases[@]} - 1)) && releases=${releases[chosen]} || releases="${releases[chosen]} ${releases[-1]}"
    ;;
esac

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for release in $releases; do
  find_tool "$release" >"$out/missing" || {
    [ -z "$named" ] || { cat "$out/missing"; exit 77; }
    continue
  }
  print "$release" "$trace" >"$out/$release" 2>"$out/err" || {
    echo "$trace: Go $release does not open it:"
    head -n 10 "$out/err"
    exit 1
  }
  [ -z "$view" ] || view "$trace" "$out/err" || {
    echo "$trace: the viewer of Go $release does not start:"
    head -n 10 "$out/err"
    exit 1
  }
  check+=(-g "$release" "$out/$release")
done
if [[ " ${check[*]} " != *" -g "* ]]; then
  echo "needs a Go release that knows $header (make deps)"
  exit 77
fi
if [ ! "${GOTRACE_TEST_TOOL-}" ]; then # otherwise run.sh has built it
  mkdir -p build/examples
  ( # one at a time: several tests may need the tool
    flock 9
    make -s build/examples/gotrace 9>&-
  ) 9>build/examples/gotrace.lock
fi
tests/need.sh python3
python3 tests/go/check_trace.py -s "$trace" "${check[@]}"
