#!/usr/bin/env bash
# The tool on traces made to harm whoever looks at them: see hostile.py.
set -euo pipefail
cd "$(dirname "$0")/../.."
for program in python3 cc objcopy addr2line c++filt; do tests/need.sh $program; done
make -s build/examples/gotrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tests/tool/hostile.py build/examples/gotrace "$dir"
