#!/usr/bin/env bash
# An event of which only the table of events knows, as of a later Go release, with two texts and a stack: `dump`, `info`,
# `cut` and `convert` have it, and a conversion to a release without it says what is lost.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r gotrace.h Makefile examples "$work"
sed -i -e 's|^  X(128, SPAN, .*|  X(53, NEWS, "News", 1023, 9999, "dt key_string value_string stack") \\\n&|' \
  -e 's|GOTRACE_V2_COUNT = 53|GOTRACE_V2_COUNT = 54|' "$work/gotrace.h"
make -s -C "$work" wasm_there= CFLAGS='-std=gnu11 -O0' build/examples/gotrace 2>/dev/null
tool=$work/build/examples/gotrace

python3 - "$work/later.trace" <<'P'
import sys
sys.path.insert(0, "tests/tool")
from made_trace import GO_STATUS, PROC_STATUS, RUNNING, Trace
t = Trace()
t.event(1, 0, PROC_STATUS, 0, 1)
t.event(1, 1, GO_STATUS, 7, 1, RUNNING)
for time in (1000, 2000):
    t.event(1, time, 53, t.string("tenant"), t.string("number %d" % time), t.stack("inner", "outer"))
open(sys.argv[1], "wb").write(t.data())
P
news() { "$tool" dump --json "$1" | grep '"News"' | sed -E 's/"(time|m|offset)":[0-9]+,?//g'; }
news "$work/later.trace" >"$work/expected"
[ "$(grep -c '"tenant".*"number [12]000".*inner.*outer' "$work/expected")" = 2 ] || { cat "$work/expected"; exit 1; }
"$tool" info "$work/later.trace" | grep -qE '^ +2  News$'
"$tool" convert --to 1.26 -o "$work/26.trace" "$work/later.trace"
"$tool" cut --from 500ns -o "$work/cut.trace" "$work/later.trace"
for made in 26 cut; do news "$work/$made.trace" | diff "$work/expected" - || { echo "$made.trace differs"; exit 1; }; done
for older in 1.22 1.11; do
  "$tool" convert --to "$older" -o "$work/old.trace" "$work/later.trace" 2>"$work/said"
  grep -q 'other events that the format does not have (2)' "$work/said" || { cat "$work/said"; exit 1; }
done
echo "2 events are in each of 3 traces"
