#!/bin/sh
# Whether clang-format would change any C file (`make format` lets it).
#
# It reads a file once for each combination of branches of the #ifs at different depths, gotrace.h a thousand times. So
# it gets the header with #endif and #if for each #elif here, which does not change how lines are broken: 4 s for 80.
set -eu
cd "$(dirname "$0")/.."
command -v clang-format >/dev/null || { echo 'clang-format is not installed'; exit 77; }
check='clang-format --dry-run -Werror'
status=0
find examples tests fuzz '(' -name '*.[ch]' -o -name '*.[ch]pp' ')' -exec $check {} + || status=1
sed -E 's/^# *elif (.*)/#endif\n#if \1/' gotrace.h | $check --assume-filename=gotrace.h || status=1
exit $status
