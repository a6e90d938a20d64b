#!/usr/bin/env bash
# Makes targets on all processors, and says how far it is: `building 40 of 53: NAME`, on a terminal in one line that
# changes, elsewhere a line for every tenth.
#
#     tests/build.sh [-j N] [OPTION OF MAKE | TARGET]...
#
# Only what compiles or links counts: commands with `-o build/NAME`.
set -uo pipefail
cd "$(dirname "$0")/.."

# If another make has begun this, its jobs cannot be shared, and make would warn about that.
MAKEFLAGS=$(sed -E 's/(^| )-j[0-9]*//; s/--jobserver-[a-z]*=[^ ]*//' <<<"${MAKEFLAGS-}")
export MAKEFLAGS
jobs=$(nproc 2>/dev/null || echo 1)
if [ "${1-}" = -j ]; then jobs=$2; shift 2; fi

total=$(make -n "$@" 2>/dev/null | grep -c -- ' -o build/')
make -j "$jobs" "$@" | {
  n=0 from='' to=$'\n'
  [ ! -t 1 ] || from=$'\r' to=$'\e[K'
  while read -r command; do
    [[ $command =~ \ -o\ build/([^ ]+) ]] || continue
    n=$((n + 1))
    if [ "$from" ] || [ $((n % 10)) = 0 ] || [ $n = "$total" ]; then
      printf '%sbuilding %d of %d: %s%s' "$from" $n "$total" "${BASH_REMATCH[1]}" "$to"
    fi
  done
  [ ! "$from" ] || [ $n = 0 ] || printf '\r\e[K' # the line has served its purpose
}
