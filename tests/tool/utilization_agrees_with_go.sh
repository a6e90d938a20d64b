#!/usr/bin/env bash
# The share of the procs that the collector leaves, as `gotrace info` and Go 1.21 compute it (utilization_agrees_with_go.py),
# for the traces in Go's sources, those in tests/traces and those of made_trace.py. Status 77 if a release is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/need.sh python3

program=$(sh tests/go/inside.sh 1.21 print_utilization.go)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make -s build/examples/gotrace
python3 tests/tool/made_trace.py "$dir"
sh tests/go/testdata.sh "$dir"
tests/tool/utilization_agrees_with_go.py build/examples/gotrace "$program" "$dir"/*.trace tests/traces/*
