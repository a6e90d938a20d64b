#!/usr/bin/env bash
# Unpacks Go toolchains of several releases, side by side, for the tests. Debian (apt, dpkg). Needs no root and installs
# nothing.
#
#     tests/go/fetch_go.sh RELEASE...         unpack these releases, e.g. 1.15 1.27, and build their trace tools
#     tests/go/fetch_go.sh --quick            unpack what `make test` uses: some releases, and only the trace tools of others
#     tests/go/fetch_go.sh --list             print the releases that the tests use, oldest first
#     tests/go/fetch_go.sh --list-quick       print those that `make test` uses
#     tests/go/fetch_go.sh --tool RELEASE     print the path of a release's trace tool; status 77 if it is missing
#
# Releases come from Debian's packages golang-RELEASE-go and golang-RELEASE-src, downloaded from the mirror that the
# machine's own apt uses, verified with Debian's keys, and unpacked into $GOTRACE_GO (default: gotrace-go in the user's
# cache).
set -euo pipefail

cache=${GOTRACE_GO:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-go}

say() { echo "fetch_go.sh: $*" >&2; }

goroot() { echo "$cache/$1/usr/lib/go-$1"; }

# Up to 1.24 the package has the trace tool; later releases build theirs on demand, into $cache/tools.
tool() {
  local found=("$(goroot "$1")"/pkg/tool/*/trace)
  [ -x "${found[0]}" ] || found=("$cache/tools/trace-$1")
  [ -x "${found[0]}" ] && echo "${found[0]}"
}

# The Go releases that the tests use, and the Debian release that contains each.
suites='1.15 bullseye
1.19 bookworm
1.21 bookworm-backports
1.22 bookworm-backports
1.23 bookworm-backports
1.24 trixie
1.25 trixie-backports
1.26 trixie-backports
1.27 trixie-backports'

# `make test` builds programs with these releases and reads their sources; of the others it runs the trace tool only, which
# their packages contain. Together they read every format: 1.15 and 1.21 those of Go 1.8 to 1.21, 1.22 and 1.27 the rest.
quick_whole='1.21 1.27'
quick_tools='1.15 1.22'

suite() { sed -n "s/^${1//./\\.} //p" <<<"$suites" | grep .; }

# The mirror's address, as the machine's apt knows it.
mirror() {
  apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 2>/dev/null | sed -n 's/^Debian|//p' | head -n 1 | grep . ||
    apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 '/debian/*$'
}

# Makes a separate apt configuration for one suite, so that the machine's lists and state do not change.
configure() {
  local suite=$1 home=$2 keys=/usr/share/keyrings/debian-archive-keyring.gpg uri
  uri=$(mirror) || { say "this machine's apt knows no Debian mirror"; return 1; }
  mkdir -p "$home/lists/partial" "$home/archives/partial"
  [ -r $keys ] && keys="[signed-by=$keys] " || keys=
  echo "deb $keys$uri $suite main" >"$home/sources.list"
  cat >"$home/apt.conf" <<END
Dir::Etc::sourcelist "$home/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$home/lists";
Dir::Cache::archives "$home/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Acquire::Retries "3";
END
}

# Downloads PACKAGE... of a release and extracts into $home/new/root what $pattern matches.
download() {
  local release=$1 suite package
  shift
  suite=$(suite "$release") || { say "no Debian release is known to have Go $release"; return 1; }
  home=$cache/apt/$suite
  export APT_CONFIG=$home/apt.conf
  if [ ! -e "$home/updated" ]; then
    APT_CONFIG='' configure "$suite" "$home" && apt-get -q update >&2 || return 1
    touch "$home/updated"
  fi
  rm -rf "$home/new" && mkdir -p "$home/new"
  for package; do
    (cd "$home/new" && apt-get -q download "$package" >&2) || {
      rm -f "$home/updated" # the list may be out of date
      return 1
    }
  done
  mkdir "$home/new/root"
  for package in "$home"/new/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$home/new/root" --wildcards "$pattern" || return 1
  done
  rm -rf "${cache:?}/$release"
  mv "$home/new/root" "$cache/$release"
  rm -rf "$home/new"
}

unpack() { local home pattern='*'; download "$1" "golang-$1-go" "golang-$1-src"; }

unpack_tool() { local home pattern='*/pkg/tool/*/trace'; download "$1" "golang-$1-go"; }

build_tool() {
  local root
  root=$(goroot "$1")
  mkdir -p "$cache/tools"
  say "building the trace tool of Go $1"
  (cd "$root/src" && GOROOT=$root GOTOOLCHAIN=local GOFLAGS='' GOCACHE=$cache/build GOPROXY=off CGO_ENABLED=0 \
    "$root/bin/go" build -o "$cache/tools/trace-$1" cmd/trace)
}

if [ "${1-}" = --list ] && [ $# = 1 ]; then
  sed 's/ .*//' <<<"$suites"
  exit
fi
if [ "${1-}" = --list-quick ] && [ $# = 1 ]; then
  tr ' ' '\n' <<<"$quick_whole $quick_tools" | sort -V
  exit
fi
if [ "${1-}" = --tool ] && [ $# = 2 ]; then
  tool "$2" || { echo "needs Go $2 (make deps)"; exit 77; }
  exit
fi
tools=''
if [ "${1-}" = --quick ] && [ $# = 1 ]; then
  tools=$quick_tools
  # shellcheck disable=SC2086
  set -- $quick_whole
fi
[ $# -ge 1 ] && [ "${1#-}" = "$1" ] || { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }

mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
status=0
for release in $tools; do
  tool "$release" >/dev/null || unpack_tool "$release" || { say "the trace tool of Go $release could not be fetched"; status=1; }
done
for release in "$@"; do
  if [ ! -x "$(goroot "$release")/bin/go" ] && ! unpack "$release"; then
    say "Go $release could not be fetched"
    status=1
    continue
  fi
  tool "$release" >/dev/null || build_tool "$release" || status=1
  tool "$release" >/dev/null && echo "Go $release: $(goroot "$release")"
done
exit $status
