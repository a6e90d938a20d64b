#!/usr/bin/env bash
# The table of records (>>records in the header) does not compile if a row has no handler or contradicts itself.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#define GOTRACE_IMPLEMENTATION\n#include "gotrace.h"\n' >"$work/tracer.c"

# with_row ROW: the header with another last row, compiled; the errors are in $work/errors.
with_row() {
  sed "s|^  X(PROBLEM, NONE, problem, NO_TEXT, F(uint32_t, problem))\$|& \\\\\\n  $1|" gotrace.h >"$work/gotrace.h"
  ! cmp -s gotrace.h "$work/gotrace.h" || { echo "the table's last row is not found"; exit 1; }
  "${CC:-cc}" -std=gnu11 -Wall -Werror=implicit-function-declaration -fsyntax-only -I"$work" "$work/tracer.c" 2>"$work/errors"
}

refused() { # refused ROW MESSAGE
  if with_row "$1"; then
    echo "it compiles: $1"
    exit 1
  fi
  grep -q "$2" "$work/errors" || { cat "$work/errors"; echo "the errors do not name the cause, $2, of: $1"; exit 1; }
}

with_row 'X(NEWS, NONE, label, TEXT, F(uint32_t, a) F(uint32_t, b) F(uint64_t, c))' || { cat "$work/errors"; exit 1; }
refused 'X(NEWS, NONE, news, NO_TEXT, )' gotrace__apply_news
refused 'X(NEWS, NONE, label, NO_TEXT, F(uint32_t, a) F(uint64_t, b))' NEWS_has_a_gap
refused 'X(NEWS, NONE, label, TEXT, F(uint16_t, a))' NEWS_has_a_gap
refused 'X(NEWS, SAID, , NO_TEXT, )' NEWS_is_among_the_wrong_ones
refused 'X(NEWS, LATER, label, NO_TEXT, )' GOTRACE__ABOUT_LATER
refused 'X(NEWS, START, label, NO_TEXT, )' gotrace__apply_label
echo "6 rows are refused"
