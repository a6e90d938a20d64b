#!/bin/sh
# Prints the names of the formats that the tracer writes, oldest first, from the header's table GOTRACE_FORMATS.
set -eu
cd "$(dirname "$0")/.."
formats=$(sed -n 's/^  X(GO_1_[0-9]*, 1[0-9]*, "\(1\.[0-9]*\)").*/\1/p' gotrace.h)
[ "$formats" ] || { echo "formats.sh: gotrace.h has no GOTRACE_FORMATS" >&2; exit 1; }
echo "$formats"
