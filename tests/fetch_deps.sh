#!/usr/bin/env bash
# Installs what the tests use: Debian packages, as root or with sudo, and Go releases (fetch_go.sh), which need no root.
#
#     tests/fetch_deps.sh test    what `make test` uses: downloads at most 300 MB, takes 1.5 GB
#     tests/fetch_deps.sh all     what `make check` and `make nightly` use too: downloads 1.7 to 1.9 GB, takes 9 GB
#
# A package that this release of Debian does not have is named and done without; the tests that need it are skipped. The
# status is 1 if anything else could not be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

# One name each, or names|of|it in several releases of Debian.
for_test='gcc g++ make libc6-dev libstb-dev liblzma-dev zlib1g-dev python3 procps util-linux git xz-utils pigz mandoc zsh
  sqlite3 pkgconf|pkg-config liblua5.4-dev musl-tools ccache clang libclang-rt-dev lld wasi-libc libclang-rt-dev-wasm32'
# With cross compilers and emulators for powerpc64le, arm64, 32-bit x86 and Windows.
for_check='llvm clang-format valgrind gdb libc6-dbg curl
  chromium chromium-driver firefox-esr fonts-dejavu-core
  gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 wine wine64 qemu-user
  gcc-powerpc64le-linux-gnu g++-powerpc64le-linux-gnu libc6-dev-ppc64el-cross
  gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross
  gcc-i686-linux-gnu g++-i686-linux-gnu libc6-dev-i386-cross
  lttng-tools liblttng-ust-dev
  libomp-dev libboost-fiber-dev libst-dev libtbb-dev libuv1-dev libglib2.0-dev
  protobuf-compiler
  cmake meson ninja-build debootstrap debhelper lintian bindgen rustc
  zstd bubblewrap redis-server redis-tools memcached lbzip2 pixz plzip ripgrep nodejs
  libjemalloc2 libtcmalloc-minimal4 libmimalloc3|libmimalloc2.0'

say() { echo "make deps: $*" >&2; }

sudo=() may_install=1
if [ "$(id -u)" != 0 ]; then
  sudo=(sudo)
  command -v sudo >/dev/null || may_install=
fi

# The package manager may be busy with an update of the system. apt-get waits for the lock of dpkg if it is told to, but
# not for that of the lists.
update() {
  local tries=120 said
  until said=$("${sudo[@]}" env LC_ALL=C apt-get -q update 2>&1); do
    if [[ $said != *'Could not get lock'* ]] || [ $((tries--)) = 0 ]; then
      echo "$said" >&2
      return 1
    fi
    [ $tries != 119 ] || say "waiting for another program that updates apt's lists"
    sleep 5
  done
}
[ ! "$may_install" ] || update || say "apt's lists could not be brought up to date"

case ${1-} in
  test) wanted="$for_test" releases=--quick ;;
  all)
    # Every version of gcc and clang, for the warnings of the others' users.
    wanted="$for_test $for_check $(apt-cache search --names-only '^(gcc|clang)-[0-9]+$' | cut -d ' ' -f 1)"
    releases=$(tests/go/fetch_go.sh --list)
    ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

installed() { dpkg-query -W -f '${db:Status-Abbrev} ${Package}:\n' | sed -n 's/^ii *//p'; }

# shellcheck disable=SC2086
known=$(LC_ALL=C apt-cache policy ${wanted//|/ } | awk '/^[^ ]/ { name = $1 } /Candidate: [^(]/ { print name }')
[ "$known" ] || known=$(sed 's/|[^ ]*//g' <<<"$wanted" | tr -s ' \n' '\n' | sed 's/$/:/') # apt has no lists
already=$(installed)
needed=() unknown=()
for names in $wanted; do
  chosen=$(grep -xF "$(sed 's/|/:\n/g; s/$/:/' <<<"$names")" <<<"$known" | head -n 1) || true
  if [ ! "$chosen" ]; then
    unknown+=("${names%%|*}")
  elif ! grep -qxF "$chosen" <<<"$already"; then
    needed+=("${chosen%:}")
  fi
done

install() {
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 --no-install-recommends install "$@"
}
status=0
[ ${#unknown[@]} = 0 ] || say "not in this release of Debian, so the tests that need it are skipped: ${unknown[*]}"
if [ ${#needed[@]} != 0 ] && [ ! "$may_install" ]; then
  status=1
  say "only root can install packages, and there is no sudo. As root:"
  say "    apt-get install --no-install-recommends ${needed[*]}"
elif [ ${#needed[@]} != 0 ]; then
  # If one cannot be installed, the others are installed one by one. apt-get also fails for a package that an earlier run
  # left broken, so what is installed afterwards counts.
  install "${needed[@]}" || for package in "${needed[@]}"; do install "$package" || true; done
  missing=$(printf '%s:\n' "${needed[@]}" | grep -vxFf <(installed) | tr -d ':' | tr '\n' ' ') || true
  if [ "$missing" ]; then
    status=1
    say "could not be installed: $missing"
  fi
fi

# shellcheck disable=SC2086
if ! tests/go/fetch_go.sh $releases; then
  status=1
  say "some Go releases could not be fetched (see above)"
fi
exit $status
