#!/usr/bin/env bash
# Runs a Windows program.
#
#     tests/compile/wine.sh PROGRAM [ARGUMENT...]     status 77 if wine is missing
set -euo pipefail

command -v wine >/dev/null || { echo "needs wine64 (make deps)"; exit 77; }
prefix=$(cd "$(dirname "$0")/../.." && pwd)/build/wine
export WINEPREFIX=$prefix WINEDEBUG=fixme-all WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe='
mkdir -p "$prefix/drive_c/windows"
# With address space randomization, Linux sometimes (once in 4,000 runs) places wine's heap where Windows has its shared
# data.
wine=(wine)
! setarch "$(uname -m)" -R true 2>/dev/null || wine=(setarch "$(uname -m)" -R wine)
# Wine's prefix. By default wine would copy 700 MB of libraries into it and start a desktop's services. Links to the
# installed libraries suffice for the tests. Only one process makes the prefix, since wine fails if two do at once.
(
  flock 9
  [ ! -e "$prefix/made" ] || exit 0
  for libraries in /usr/lib/*/wine/x86_64-windows /usr/lib*/wine/x86_64-windows; do
    [ -e "$libraries/kernel32.dll" ] || continue
    ln -sfn "$libraries" "$prefix/drive_c/windows/system32"
    echo disable >"$prefix/.update-timestamp"
    break
  done
  "${wine[@]}" cmd /c exit </dev/null >"$prefix/said" 2>&1 9>&- || { cat "$prefix/said"; exit 1; } # otherwise wine's server would keep the lock
  touch "$prefix/made"
) 9>"$prefix/lock"
exec "${wine[@]}" "$@"
