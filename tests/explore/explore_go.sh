#!/usr/bin/env bash
# Has Go open a sample of the traces that explore writes: Go must accept whatever the library's own decoder accepts.
#
#     tests/explore/explore_go.sh [OPTION OF EXPLORE...]        default: --quick
#
# The newest and the oldest release that know a trace's format open it. The last line is
# 'N passed, N failed, N skipped'. A trace is skipped if its release is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0

[ $# -gt 0 ] || set -- --quick
build/tests/explore --save "$folder" 1 "$@" >"$folder/log" || true # `make explore` reports its failures

for trace in "$folder"/*.trace; do
  form=$(head -c 16 "$trace" | tr -d '\0' | cut -d ' ' -f 2)
  releases=$(tests/go/open_in_go.sh --releases "$form")
  for release in ${releases%% *} ${releases##* }; do
    status=0
    found=$(tests/go/open_in_go.sh --print "$release" "$trace" 2>&1) || status=$?
    if [ $status -eq 77 ]; then
      skipped=$((skipped + 1))
    elif [ $status -eq 0 ]; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "FAILED ${trace##*/} (go $form trace) by Go $release: $(tail -n 1 <<<"$found" | cut -c 1-200)"
      [ -z "${EXPLORE_KEEP-}" ] || cp "$trace" "$EXPLORE_KEEP"
    fi
  done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
