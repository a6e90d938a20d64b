#!/usr/bin/env bash
# Two lists are complete: tests/README.md names every test; and the contents list in the header's guide (`>>word`) and
# the banners of its sections have the same words in the same order, once each.
set -euo pipefail
cd "$(dirname "$0")/.."

contents=$(sed -n '/^ \* CONTENTS/,/^ \* [A-Z][A-Z ]*$/s/^ \*  *>>\([a-z0-9-]*\) .*/\1/p' gotrace.h)
banners=$(sed -n 's,^\(/\*\|//\) -\{10\}.*>>\([a-z0-9-]*\) -.*,\2,p' gotrace.h)
[ -n "$contents" ] || { echo "no contents found in the guide"; exit 1; }
if ! diff <(echo "$contents") <(echo "$banners"); then
  echo "< in the contents only, > in the banners only (or out of order)"
  exit 1
fi
missing=$(for test in tests/test_*.c tests/test_*.sh tests/cases/*.c; do
  name=${test#tests/}
  [ "$name" = cases/case.c ] || grep -qE "\\b${name##*/}" tests/README.md || echo "$test"
done)
[ -z "$missing" ] || { printf 'tests/README.md does not name:\n%s\n' "$missing"; exit 1; }
echo "$(wc -l <<<"$contents") sections"
