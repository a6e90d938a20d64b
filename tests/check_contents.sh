#!/usr/bin/env bash
# The contents list in the header's guide (`>>word`) and the banners of its sections must have the same words in the
# same order, once each.
set -euo pipefail
cd "$(dirname "$0")/.."

contents=$(sed -n '/^ \* CONTENTS/,/^ \* [A-Z][A-Z ]*$/s/^ \*  *>>\([a-z0-9-]*\) .*/\1/p' gotrace.h)
banners=$(sed -n 's,^\(/\*\|//\) -\{10\}.*>>\([a-z0-9-]*\) -.*,\2,p' gotrace.h)
[ -n "$contents" ] || { echo "no contents found in the guide"; exit 1; }
if ! diff <(echo "$contents") <(echo "$banners"); then
  echo "< in the contents only, > in the banners only (or out of order)"
  exit 1
fi
echo "$(wc -l <<<"$contents") sections"
