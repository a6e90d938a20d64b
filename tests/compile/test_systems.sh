#!/usr/bin/env bash
# Compiles the branches of the header for systems that no test runs on: macOS, FreeBSD, and others with POSIX threads. The
# C library's headers stand in for theirs; tests/compile/systems declares what these have in addition. So this finds mistakes
# in the branches, but no differences of the systems' headers.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '#define GOTRACE_IMPLEMENTATION\n#include "gotrace.h"\n' | tee "$dir/a.c" >"$dir/a.cpp"
flags="-fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror -I. -Ulinux -U__linux -U__linux__ -U__gnu_linux__"
for compiler in "gcc -std=gnu99" "g++ -std=gnu++11" "clang -std=gnu11" "clang++ -std=gnu++17"; do
  command -v "${compiler%% *}" >/dev/null || continue
  case $compiler in *++*) file=$dir/a.cpp ;; *) file=$dir/a.c ;; esac
  for system in "-D__APPLE__ -isystem tests/compile/systems/macos" "-D__FreeBSD__ -isystem tests/compile/systems/freebsd" ""; do
    # shellcheck disable=SC2086
    $compiler $flags $system "$file" || { echo "$compiler $system"; exit 1; }
  done
done
