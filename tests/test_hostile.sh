#!/usr/bin/env bash
# The tool on traces made to harm whoever looks at them: hostile.py.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/need.sh python3 addr2line
make -s build/examples/gotrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tests/hostile.py build/examples/gotrace "$dir"
