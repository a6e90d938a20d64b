#!/usr/bin/env bash
# The cost of events and the speed of reading, next to other tracers, and the cost of `gotrace record` and `gotrace
# view`, in one run of some minutes: tests/bench/events.sh, reading.sh, viewing.py and record.sh.
#
#     tests/bench/run.sh [-q]      -q: in about a minute: only events and reading, with fewer rounds and peers
set -euo pipefail
cd "$(dirname "$0")"
./events.sh "$@"
echo
./reading.sh "$@"
[ "${1-}" != -q ] || exit 0
echo
./viewing.py
echo
./record.sh || echo 'a ratio exceeds its limit: repeat on an idle machine'
