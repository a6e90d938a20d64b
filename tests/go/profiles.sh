#!/bin/sh
# Builds print_profiles.go as a part of Go 1.27's command trace, and prints the path of the executable.
#
# It reads v1 traces with the times in the file: for its viewer, Go moves an event whose time equals that of the
# previous one by a nanosecond. Nothing is written to the release and no network is used. The executable is kept next to
# the releases and rebuilt if a source is newer. Status 77 if the release is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${GOTRACE_GO:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-go}
root=$cache/1.27/usr/lib/go-1.27
[ -x "$root/bin/go" ] || { echo "needs Go 1.27 (make deps)" >&2; exit 77; }
root=$(cd "$root" && pwd)
cache=$(cd "$cache" && pwd)

program=$cache/tools/print_profiles-1.27
if [ -x "$program" ] && [ -z "$(find "$here/print_profiles.go" "$0" -newer "$program")" ]; then
  echo "$program"
  exit
fi

mkdir -p "$cache/tools"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
converter=$root/src/internal/trace/tracev1.go
sed 's/ev\.base\.time = it\.lastTs + 1$/ev.base.time = ev.base.time/' "$converter" >"$work/tracev1.go"
[ "$(diff "$converter" "$work/tracev1.go" | grep -c '^>')" = 2 ] || { echo "tracev1.go has changed" >&2; exit 1; }
cat >"$work/overlay.json" <<END
{"Replace": {
"$root/src/cmd/trace/gotrace_profiles.go": "$here/print_profiles.go",
"$converter": "$work/tracev1.go"
}}
END
export GOROOT="$root" GOTOOLCHAIN=local GOFLAGS='' GOPROXY=off GO111MODULE='' CGO_ENABLED=0
export GOCACHE="$cache/gocache"
(cd "$root/src/cmd" && "$root/bin/go" build -overlay "$work/overlay.json" -o "$work/program" ./trace) >&2
mv "$work/program" "$program"
echo "$program"
