#!/usr/bin/env bash
# The cost of events and the speed of reading, next to other tracers, in one run of some minutes: tests/bench/events.sh
# and reading.sh.
#
#     tests/bench/run.sh [-q]      -q: quickly, in about a minute
set -euo pipefail
cd "$(dirname "$0")"
./events.sh "$@"
echo
./reading.sh "$@"
