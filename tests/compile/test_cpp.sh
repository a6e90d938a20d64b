#!/usr/bin/env bash
# The header in C++: every program in tests/compile/cpp with each compiler and standard, without warnings, also with the
# tracer compiled out and without call sites; its trace is what it says. The adapters in C compile in C++.
#
#     tests/compile/test_cpp.sh [-b]      -b: briefly, with the oldest standard of one compiler and a newer one of the other
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
flags="-I. -Iexamples/adapters -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Werror -pthread"
wrong=''
fail() { echo "fails: $*" && wrong=1; }
gcc -I. -pthread -c tests/implementation.c -o "$dir/tracer.o"
for compiler in g++ clang++; do
  command -v $compiler >/dev/null || continue
  standards='c++11 c++14 c++17 c++20 c++2b'
  [ "${1-}" != -b ] || standards=$([ $compiler = g++ ] && echo c++11 || echo c++20)
  for standard in $standards; do
    build="$compiler -std=$standard $flags"
    for source in tests/compile/cpp/*.cpp; do
      name=$(basename "$source" .cpp)
      program=$dir/$name-$compiler-$standard
      $build "$source" "$dir/tracer.o" -o "$program" && "$program" "$program.trace" || fail "$build $source"
      case $standard in c++14 | c++17) continue ;; esac
      $build -DGOTRACE_DISABLE "$source" -o "$program" && "$program" none || fail "$build -DGOTRACE_DISABLE $source"
      $build -DGOTRACE_CALL_SITES=0 -fsyntax-only "$source" || fail "$build -DGOTRACE_CALL_SITES=0 $source"
    done
    # The adapters in C, where their libraries are installed. One has the name of its library's header.
    for adapter in glib:gio-2.0 libuv:libuv lua:lua5.4 tracy_c; do
      package=${adapter#"${adapter%:*}"} package=${package#:} adapter=${adapter%:*}
      [ -z "$package" ] || pkg-config --exists "$package" 2>/dev/null || continue
      # shellcheck disable=SC2046 # several options
      ${build/-Iexamples\/adapters/} -Wno-old-style-cast -D_GNU_SOURCE $([ -z "$package" ] || pkg-config --cflags "$package" | sed 's/-I/-isystem /g') \
        -fsyntax-only -x c++ -include "examples/adapters/$adapter.h" /dev/null || fail "$build examples/adapters/$adapter.h"
    done
  done
done
[ -z "$wrong" ]
