#!/bin/sh
# Whether clang-format would change any C file (`make format` lets it).
set -eu
cd "$(dirname "$0")/.."
command -v clang-format >/dev/null || { echo 'clang-format is not installed'; exit 77; }
status=0
find gotrace.h examples tests fuzz '(' -name '*.[ch]' -o -name '*.[ch]pp' ')' -exec clang-format --dry-run -Werror {} + || status=1
exit $status
