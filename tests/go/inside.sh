#!/bin/sh
# Builds a Go program that imports Go's internal packages, and prints the path of the executable.
#
#     tests/go/inside.sh RELEASE PROGRAM.go [MORE.go...] [-i DIRECTORY ACCESS.go]
#
# The program, which may have several files, is overlaid on the release's sources as a new command, so that Go lets it
# import internal packages. With -i, ACCESS.go is added to the package in DIRECTORY (for example internal/trace), which
# gives the program access to the package's private names. Nothing is written to the release and no network is used.
# Executables are kept next to the releases and rebuilt if a source is newer. Status 77 if the release is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${GOTRACE_GO:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-go}
release=$1 name=$(basename "$2" .go) sources='' directory='' access=''
shift
while [ $# -gt 0 ] && [ "$1" != -i ]; do
  sources="$sources $1"
  shift
done
if [ $# -gt 0 ]; then directory=$2 access=$here/$3; fi
root=$cache/$release/usr/lib/go-$release
[ -x "$root/bin/go" ] || { echo "needs Go $release (make deps)" >&2; exit 77; }
root=$(cd "$root" && pwd)
cache=$(cd "$cache" && pwd)
cd "$here"

program=$cache/tools/$name-$release
# shellcheck disable=SC2086 # these are several files
if [ -x "$program" ] && [ -z "$(find $sources ${access:+"$access"} "$here/inside.sh" -newer "$program")" ]; then
  echo "$program"
  exit
fi

mkdir -p "$cache/tools"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOROOT="$root" GOTOOLCHAIN=local GOFLAGS='' GOPROXY=off GO111MODULE='' CGO_ENABLED=0
export GOCACHE="$cache/gocache"
case $release in
  1.1[0-5])
    # This release has no overlays, but compiled packages; the compiler itself permits imports of internal ones.
    library=$("$root/bin/go" env GOROOT)/pkg/$("$root/bin/go" env GOOS)_$("$root/bin/go" env GOARCH)
    if [ -n "$access" ]; then
      package=
      for file in "$root/src/$directory"/*.go; do
        case $file in *_test.go) ;; *) package="$package $file" ;; esac
      done
      mkdir -p "$work/$(dirname "$directory")"
      # shellcheck disable=SC2086 # these are several files
      "$root/bin/go" tool compile -p "$directory" -I "$library" -o "$work/$directory.a" -pack $package "$access" >&2
    fi
    # shellcheck disable=SC2086
    "$root/bin/go" tool compile -p main -I "$work" -I "$library" -o "$work/main.a" -pack $sources >&2
    "$root/bin/go" tool link -L "$work" -L "$library" -o "$work/program" "$work/main.a" >&2
    ;;
  *)
    {
      echo '{"Replace": {'
      [ -z "$access" ] || echo "\"$root/src/$directory/gotrace_access.go\": \"$access\","
      separator=
      for source in $sources; do
        echo "$separator\"$root/src/internal/gotrace_$name/$source\": \"$here/$source\""
        separator=,
      done
      echo '}}'
    } >"$work/overlay.json"
    (cd "$root/src" && "$root/bin/go" build -overlay "$work/overlay.json" -o "$work/program" "./internal/gotrace_$name") >&2
    ;;
esac
mv "$work/program" "$program"
echo "$program"
