#!/bin/sh
# Fails if clang-format would change any C file. `make format` makes the changes.
#
# clang-format reads a file once for each combination of branches of nested #ifs, gotrace.h a thousand times. Therefore
# #endif and #if replace each #elif of the header here, which does not affect line breaks: 4 s instead of 80.
set -eu
cd "$(dirname "$0")/../.."
command -v clang-format >/dev/null || { echo 'clang-format is not installed'; exit 77; }
check='clang-format --dry-run -Werror'
status=0
find examples tests fuzz '(' -name '*.[ch]' -o -name '*.[ch]pp' ')' -exec $check {} + || status=1
sed -E 's/^# *elif (.*)/#endif\n#if \1/' gotrace.h | $check --assume-filename=gotrace.h || status=1
exit $status
