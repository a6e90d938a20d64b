#!/usr/bin/env bash
# Builds an adapter's test, runs it, and has Go open its trace.
#
#     tests/adapters/run.sh --list          lists the adapters
#     tests/adapters/run.sh NAME
#     tests/adapters/run.sh --needs NAME    only says what is missing; status 77 then
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${1-}" = --list ]; then
  find tests/adapters -name '*.c' -o -name '*.cpp' | sed 's|.*/||; s|\..*||' | sort
  exit
fi
only_needs=''
if [ "$1" = --needs ]; then
  only_needs=1
  shift
fi
header=$(case $1 in
  boost_fiber) echo /usr/include/boost/fiber/all.hpp libboost-fiber-dev ;;
  coroutines | fiber_ids) echo /usr/include/c++ g++ ;;
  glib) echo /usr/include/glib-2.0/gio/gio.h libglib2.0-dev ;;
  libuv) echo /usr/include/uv.h libuv1-dev ;;
  lua) echo /usr/include/lua5.4/lua.h liblua5.4-dev ;;
  openmp) echo "$(clang -print-resource-dir 2>/dev/null)/include/omp-tools.h libomp-dev" ;;
  tbb) echo /usr/include/oneapi/tbb.h libtbb-dev ;;
  state_threads) echo /usr/include/st.h libst-dev ;;
  help_first | tracy_c | work_stealing) echo gotrace.h ;;
  esac)
[ -e "${header% *}" ] || { echo "needs ${header#* } (make deps)"; exit 77; }
[ ! "$only_needs" ] || exit 0
make -s "build/adapters/$1"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"build/adapters/$1" "$dir/$1.trace"
tests/go/open_in_go.sh "$dir/$1.trace" 1.27
