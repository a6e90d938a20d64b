#!/usr/bin/env bash
# What a program has around the header: macros with the names of attributes, #pragma pack, hooks at each function, exceptions
# that pass through C, C++20 modules.
#
#     tests/compile/test_surroundings.sh --list             all tests, one per line
#     tests/compile/test_surroundings.sh PART [COMPILER]    one test; modules has one for each version of a compiler
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
flags="-I. -Wall -Wextra -Wpedantic -Werror -pthread"
wrong='' skipped=''

fail() {
  echo "$*"
  wrong=1
}

# skip TEXT: what is missing. The other compilers are tried all the same.
skip() { skipped+="${skipped:+; }$*"; }

# build COMPILER FLAG... FILE...
build() {
  # shellcheck disable=SC2086
  "$1" $flags "${@:2}" 2>"$dir/errors" || {
    head -n 10 "$dir/errors"
    fail "does not build: $*"
    return 1
  }
}

tracer() { [ -e "$dir/tracer.o" ] || gcc -I. -pthread -c tests/implementation.c -o "$dir/tracer.o"; }

# check_trace FILE GREP-PATTERN COUNT: so many lines of the trace
check_trace() {
  local count
  count=$("$root/build/examples/gotrace" dump "$1" | grep -cE "$2" || true)
  [ "$count" = "$3" ] || fail "$1: $count lines of '$2', not $3"
}

uses='
static int work(int n) {
  GOTRACE_SCOPE("scope");
  GOTRACE_REGION("region") { gotrace_logf(GOTRACE_NO_TASK, "category", "%d", n); }
  gotrace_go_block(GOTRACE_REASON("reason"));
  return 0;
}
int main(void) { return work(1); }'

# Each attribute that the header names may be a macro of the program. Headers of the system come first, since some of them
# name attributes plainly too.
part_macros() {
  local names compiler language
  names=$(grep -oE '__attribute__\(\(([a-z_]+(\([^()]*\))?(, )?)+\)\)' gotrace.h | sed -E 's/__attribute__//; s/\("[^()]*\)//g' |
    grep -oE '[a-z_]+' | sed -E '/gotrace|^(string|first|size)$/d; s/^__//; s/__$//' | sort -u)
  [ "$(grep -cxE 'unused|aligned|noinline|always_inline|cold|format|printf|destructor|no_instrument_function' <<<"$names")" = 9 ] ||
    fail "attributes not found among: $names"
  printf '#define GOTRACE_NO_STB_SPRINTF\n#define GOTRACE_IMPLEMENTATION\n#include "gotrace.h"\n%s\n' "$uses" >"$dir/ours.h"
  for compiler in gcc clang g++ clang++; do
    command -v $compiler >/dev/null || { skip "needs $compiler (make deps)"; continue; }
    language=c
    [[ $compiler != *++ ]] || language=c++
    {
      echo '#ifndef _GNU_SOURCE'
      echo '#define _GNU_SOURCE'
      echo '#endif'
      $compiler -I. -x $language -E -H "$dir/ours.h" 2>&1 >"$dir/preprocessed" | sed -nE 's|^\.\. .*/lib/.*/include/(.*)|#include <\1>|p; s|^\.\. (.*)|#include "\1"|p'
      for name in $names; do echo "#define $name users_$name"; done
      echo '#include "ours.h"'
    } >"$dir/macros.c"
    build $compiler -x $language -fsyntax-only -Wno-pedantic "$dir/macros.c" || true
  done
}

# A header that forgets to end #pragma pack, before the declarations or before the implementation. It stays on after ours.
part_pack() {
  local compiler
  cat >"$dir/pack.c" <<'C'
#pragma pack(1)
#include "gotrace.h"
struct after { char c; long l; };
static size_t bytes;
static bool write_bytes(void *context, const void *data, size_t size) {
  (void)data;
  bytes += size;
  return context == &bytes;
}
int main(void) {
  gotrace_options options = {0};
  gotrace_stats stats;
  int i;
  options.write = write_bytes;
  options.context = &bytes;
  if (gotrace_start(&options) != GOTRACE_OK) return 1;
  for (i = 0; i < 10; i++) { GOTRACE_SCOPE("scope"); gotrace_log(GOTRACE_NO_TASK, "category", "message"); }
  if (gotrace_stop() != GOTRACE_OK) return 2;
  gotrace_get_stats(&stats);
  if (stats.kinds[GOTRACE_V2_USER_REGION_BEGIN] != 10 || stats.bytes != bytes) return 3;
  return sizeof(struct after) == 1 + sizeof(long) ? 0 : 4;
}
C
  printf '#pragma pack(1)\n#include "tests/implementation.c"\n' >"$dir/packed.c"
  for compiler in gcc clang; do
    command -v $compiler >/dev/null || { skip "needs $compiler (make deps)"; continue; }
    for implementation in tests/implementation.c "$dir/packed.c"; do
      build $compiler "$dir/pack.c" $implementation -o "$dir/pack" || continue
      "$dir/pack" || fail "$compiler: #pragma pack before the include, $implementation: exit status $?"
    done
  done
}

# Hooks at each function (-finstrument-functions): no function of the tracer has them, and hooks may call it.
part_hooks() {
  local compiler
  cat >"$dir/hooks.c" <<'C'
#include "gotrace.h"
#define HOOK __attribute__((no_instrument_function))
HOOK void __cyg_profile_func_enter(void *function, void *from);
HOOK void __cyg_profile_func_exit(void *function, void *from);
void __cyg_profile_func_enter(void *function, void *from) {
  (void)from;
  if (gotrace_enabled())
    gotrace_region_begin_at(gotrace_site_make_pc((uintptr_t)function), GOTRACE_NO_TASK, "function", 0);
}
void __cyg_profile_func_exit(void *function, void *from) {
  (void)function, (void)from;
  gotrace_region_end_innermost();
}
static int work(int n) {
  GOTRACE_SCOPE("scope");
  GOTRACE_REGION("region") { gotrace_log(GOTRACE_NO_TASK, "category", "message"); }
  gotrace_wait_begin(GOTRACE_REASON("reason"));
  gotrace_wait_end();
  return n * 2;
}
HOOK int main(int argc, char **argv) {
  int i, sum = argc;
  if (gotrace_start_file(argv[1], NULL) != GOTRACE_OK) return 1;
  for (i = 0; i < 10; i++) sum += work(i);
  return gotrace_stop() != GOTRACE_OK || sum != 92;
}
C
  for compiler in gcc clang; do
    command -v $compiler >/dev/null || { skip "needs $compiler (make deps)"; continue; }
    # stb_sprintf's functions have hooks.
    printf '#define GOTRACE_IMPLEMENTATION\n#include "gotrace.h"\n' >"$dir/hooked.c"
    build $compiler -O0 -finstrument-functions -DGOTRACE_NO_STB_SPRINTF -c "$dir/hooked.c" -o "$dir/hooked.o" || continue
    nm "$dir/hooked.o" >"$dir/symbols"
    grep -q ' T gotrace_start_file' "$dir/symbols" || fail "the tracer is not in its file"
    ! grep __cyg_profile_func "$dir/symbols" || fail "$compiler: functions of the tracer have hooks"
    build $compiler -O0 -finstrument-functions "$dir/hooks.c" "$dir/hooked.o" -o "$dir/hooks" || continue
    "$dir/hooks" "$dir/hooks.trace" || fail "$compiler: hooks that call the tracer: exit status $?"
    check_trace "$dir/hooks.trace" 'UserRegionBegin.*"function"' 10
  done
}

# An exception that passes through C ends its regions if that is compiled with -fexceptions.
part_exceptions() {
  local compiler ends
  cat >"$dir/regions.c" <<'C'
#include "gotrace.h"
void call(void (*function)(void));
void call(void (*function)(void)) {
  GOTRACE_SCOPE("scope");
  GOTRACE_REGION("region") { function(); }
}
C
  cat >"$dir/throws.cpp" <<'C'
#include "gotrace.h"
extern "C" void call(void (*function)(void));
static void throws() { throw 1; }
int main(int, char **argv) {
  if (gotrace_start_file(argv[1], nullptr) != GOTRACE_OK) return 1;
  for (int i = 0; i < 10; i++) {
    try {
      call(throws);
    } catch (int) {
    }
  }
  return gotrace_stop();
}
C
  tracer
  for compiler in gcc clang; do
    command -v $compiler >/dev/null || { skip "needs $compiler (make deps)"; continue; }
    for ends in '-fno-exceptions 0' '-fexceptions 20'; do
      build $compiler "${ends% *}" -c "$dir/regions.c" -o "$dir/regions.o" || continue
      build g++ "$dir/throws.cpp" "$dir/regions.o" "$dir/tracer.o" -o "$dir/throws" && "$dir/throws" "$dir/throws.trace" || fail "throws: $?"
      check_trace "$dir/throws.trace" UserRegionEnd "${ends#* }"
    done
  done
}

# C++20 modules: the macros in an exported inline function, and the header as a header unit.
part_modules() {
  local compiler=$1 options="-std=c++20 -Wall -Wextra -Werror -pthread -I$root" more=''
  command -v "$compiler" >/dev/null || { skip "needs $compiler (make deps)"; return; }
  cat >"$dir/work.cpp" <<'C'
module;
#include "gotrace.h"
export module work;
export inline int work(int n) {
  GOTRACE_SCOPE("scope");
  GOTRACE_REGION("region") { gotrace_logf(GOTRACE_NO_TASK, "category", "%d", n); }
  gotrace_task task = gotrace_task_begin("task", GOTRACE_NO_TASK);
  gotrace_wait_begin(GOTRACE_REASON("reason"));
  gotrace_wait_end();
  gotrace_task_end(task);
  return n;
}
C
  cat >"$dir/importer.cpp" <<'C'
#include "gotrace.h"
import work;
int main(int, char **argv) {
#if GOTRACE_DISABLE
  return work(3) != 3 || !argv;
#else
  if (gotrace_start_file(argv[1], nullptr) != GOTRACE_OK) return 1;
  return work(3) != 3 || gotrace_stop() != GOTRACE_OK;
#endif
}
C
  cat >"$dir/unit.cpp" <<'C'
import "gotrace.h";
int main(int, char **argv) {
  if (gotrace_start_file(argv[1], nullptr) != GOTRACE_OK) return 1;
  {
    GOTRACE_SCOPE("scope");
    GOTRACE_REGION("region") { gotrace_log(GOTRACE_NO_TASK, "category", "message"); }
    gotrace_task_end(gotrace_task_begin("task", GOTRACE_NO_TASK));
    gotrace_wait_begin(GOTRACE_REASON("reason"));
    gotrace_wait_end();
  }
  return gotrace_stop();
}
C
  # A static variable in an exported inline function, which the linker does not find with GCC 12, whatever it is for.
  printf 'export module control;\nexport inline int &control() { static int number = 1; return number; }\n' >"$dir/control.cpp"
  printf 'import control;\nint main() { return control() - 1; }\n' >"$dir/uses_control.cpp"
  tracer
  cd "$dir"
  # $options and $more are several words.
  # shellcheck disable=SC2086
  case $compiler in
    g++*)
      make_module() { # MODULE IMPORTER OPTION...
        rm -rf gcm.cache
        "$compiler" $options -fmodules-ts "${@:3}" "$1.cpp" "$2.cpp" tracer.o -o "$2"
      }
      make_unit() {
        "$compiler" $options -fmodules-ts -x c++-header "$root/gotrace.h" && "$compiler" $options -fmodules-ts unit.cpp tracer.o -o unit
      }
      ;;
    *)
      options+=' -Wno-unused-command-line-argument -Wno-unknown-warning-option -Wno-experimental-header-units'
      make_module() {
        "$compiler" $options "${@:3}" --precompile -x c++-module "$1.cpp" -o "$1.pcm" &&
          "$compiler" $options "-fmodule-file=$1=$1.pcm" "${@:3}" "$2.cpp" "$1.pcm" tracer.o -o "$2"
      }
      make_unit() {
        "$compiler" $options -fmodule-header -x c++-header "$root/gotrace.h" -o gotrace.pcm &&
          "$compiler" $options -fmodule-file=gotrace.pcm unit.cpp tracer.o -o unit
      }
      ;;
  esac
  make_module control uses_control 2>errors || more=-DGOTRACE_CALL_SITES=0
  # shellcheck disable=SC2086
  if make_module work importer $more && ./importer work.trace; then check_trace work.trace UserRegionEnd 2; else fail "$compiler: a module with regions"; fi
  make_module work importer -DGOTRACE_DISABLE && ./importer none || fail "$compiler: a module with regions, disabled"
  if make_unit && ./unit unit.trace; then check_trace unit.trace UserRegionEnd 2; else fail "$compiler: import \"gotrace.h\""; fi
  cd "$root"
}

root=$PWD
if [ "${1-}" = --list ]; then
  printf '%s\n' macros pack hooks exceptions
  # Clang has had these options since 16.
  { echo clang++-16; compgen -c | grep -xE 'g[+][+]-[0-9]+|clang[+][+]-(1[6-9]|[2-9][0-9])'; } | sort -uV | sed 's/^/modules /'
  exit
fi
make -s build/examples/gotrace
"part_$1" "${@:2}"
[ -z "$wrong" ] || exit 1
[ -z "$skipped" ] || { echo "$skipped"; exit 77; }
