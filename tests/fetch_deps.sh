#!/usr/bin/env bash
# Installs what the tests use: Debian packages, as root or with sudo, and Go releases (fetch_go.sh), which need no root.
# What cannot be had is said and done without; the tests that need it are skipped.
#
#     tests/fetch_deps.sh all      everything: downloads 1.7 to 1.9 GB, takes 9 GB on disk
#     tests/fetch_deps.sh small    enough for most of `make test`: downloads 100 MB, takes 0.6 GB
set -euo pipefail
cd "$(dirname "$0")/.."

# One name each, or names|of|it in several releases of Debian.
small='gcc g++ make libc6-dev libstb-dev liblzma-dev zlib1g-dev python3 procps util-linux git xz-utils pigz mandoc zsh
  pkgconf|pkg-config liblua5.4-dev musl-tools'
# With cross compilers and emulators for powerpc64le, arm64, 32-bit x86 and Windows.
others='ccache clang libclang-rt-dev llvm clang-format valgrind libc6-dbg curl
  chromium chromium-driver firefox-esr fonts-dejavu-core
  gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 wine wine64 qemu-user
  gcc-powerpc64le-linux-gnu g++-powerpc64le-linux-gnu libc6-dev-ppc64el-cross
  gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross
  gcc-i686-linux-gnu g++-i686-linux-gnu libc6-dev-i386-cross
  lttng-tools liblttng-ust-dev
  libomp-dev libboost-fiber-dev libst-dev libtbb-dev libuv1-dev libglib2.0-dev
  protobuf-compiler
  cmake meson ninja-build debhelper lintian bindgen rustc
  zstd redis-server redis-tools memcached lbzip2 pixz plzip ripgrep nodejs
  libjemalloc2 libtcmalloc-minimal4 libmimalloc3|libmimalloc2.0'

say() { echo "make deps: $*" >&2; }

sudo=() may_install=1
if [ "$(id -u)" != 0 ]; then
  sudo=(sudo)
  command -v sudo >/dev/null || may_install=
fi
[ ! "$may_install" ] || "${sudo[@]}" apt-get -q update || say "apt's lists could not be brought up to date"

case ${1-} in
  small) wanted="$small" releases=1.27 ;;
  all)
    # Every version of gcc and clang, for the warnings of the others' users.
    wanted="$small $others $(apt-cache search --names-only '^(gcc|clang)-[0-9]+$' | cut -d ' ' -f 1)"
    releases=$(tests/go/fetch_go.sh --list)
    ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

# shellcheck disable=SC2086
known=$(LC_ALL=C apt-cache policy ${wanted//|/ } | awk '/^[^ ]/ { name = $1 } /Candidate: [^(]/ { print name }')
[ "$known" ] || known=$(sed 's/|[^ ]*//g' <<<"$wanted" | tr -s ' \n' '\n' | sed 's/$/:/') # apt has no lists
installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}:\n' | sed -n 's/^ii *//p')
needed=() missing=()
for names in $wanted; do
  chosen=$(grep -xF "$(sed 's/|/:\n/g; s/$/:/' <<<"$names")" <<<"$known" | head -n 1) || true
  if [ ! "$chosen" ]; then
    missing+=("${names%%|*}")
  elif ! grep -qxF "$chosen" <<<"$installed"; then
    needed+=("${chosen%:}")
  fi
done

install() { "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@"; }
status=0
if [ ${#needed[@]} != 0 ] && [ ! "$may_install" ]; then
  status=1
elif [ ${#needed[@]} != 0 ]; then
  install "${needed[@]}" || for package in "${needed[@]}"; do install "$package" || missing+=("$package"); done
fi

# shellcheck disable=SC2086
tests/go/fetch_go.sh $releases || missing+=("some Go releases (see above)")
[ ${#missing[@]} = 0 ] || say "cannot be had here, so the tests that need it are skipped: ${missing[*]}"
if [ $status != 0 ]; then
  say "only root can install packages, and there is no sudo. As root:"
  say "    apt-get install --no-install-recommends ${needed[*]}"
fi
exit $status
