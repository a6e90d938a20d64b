#!/bin/sh
# Skips a test if a program is missing: says which, and ends with 77, with which the caller then ends because of `set -e`.
#
#     tests/need.sh PROGRAM [COMMAND...]      COMMAND: then runs it
command -v "$1" >/dev/null || { echo "needs $1 (make deps)"; exit 77; }
shift
[ $# = 0 ] || exec "$@"
