#!/usr/bin/env bash
# Checks the output of `gotrace export` for the traces in Go's sources and a part of each (exports.py, tables.py). Status 77
# if a release is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/need.sh python3

make -s build/examples/gotrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
sh tests/go/testdata.sh "$dir"
find "$dir" -name '*.trace' -size -300k | sort | while read -r trace; do
  ! build/examples/gotrace check "$trace" >/dev/null || echo "$trace"
done | xargs tests/tool/tables.py
command -v protoc >/dev/null || { echo "needs protoc, of protobuf-compiler (make deps)"; exit 77; }
{ find "$dir" -name '*.trace' -size -300k | sort && echo tests/traces/counters; } | xargs tests/tool/exports.py --parts
