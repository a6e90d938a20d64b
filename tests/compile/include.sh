#!/usr/bin/env bash
# How the header is included and linked: before and after other headers, with each form of the options, in several files
# of one program, disabled, in a shared library. Covers what the tests of the tracer itself do not.
#
#     tests/compile/include.sh [PART...]       with gcc and clang; the default is all parts
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
stb=''
[ ! -d /usr/include/stb ] || stb='-isystem /usr/include/stb'
flags="-I. $stb -Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror -pthread"
wrong=

fail() {
  echo "$compiler: $*"
  wrong=1
}

# build NAME FLAG... FILE...: a program
build() {
  local name=$1
  shift
  # shellcheck disable=SC2086
  "$compiler" $flags "$@" -o "$dir/$name" 2>"$dir/$name.errors" || {
    head -n 10 "$dir/$name.errors"
    fail "does not build: $name ($*)"
    return 1
  }
}

# file NAME <SOURCE
file() { cat >"$dir/$1"; }

# Other headers come first, without the feature macro for the declarations that they hide.
part_order() {
  local standard header
  for standard in c99 c11 gnu17; do
    for header in stdio.h stdlib.h time.h pthread.h signal.h unistd.h fcntl.h sys/types.h sys/stat.h dlfcn.h sys/mman.h; do
      printf '#include <%s>\n' $header
    done >"$dir/all.h"
    file order.c <<'C'
#include "all.h"
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
int main(void) { return 0; }
C
    build "after_all_$standard" "-std=$standard" "-I$dir" "$dir/order.c" || true # and links
    echo '#include <stdio.h>' >"$dir/all.h"
    build "after_stdio_$standard" -fsyntax-only "-std=$standard" "-I$dir" "$dir/order.c" || true
    { # macros in glibc 2.43, made with _Generic, which C99 lacks
      printf '#include <%s>\n' string.h stdlib.h
      printf '#define %s(...) _Generic\n' memchr strchr strrchr strstr strpbrk bsearch
    } >"$dir/all.h"
    build "generic_$standard" -fsyntax-only "-std=$standard" "-I$dir" "$dir/order.c" || true
    echo >"$dir/all.h"
    build "first_$standard" -fsyntax-only "-std=$standard" "-I$dir" "$dir/order.c" || true
    build "large_files_$standard" -fsyntax-only "-std=$standard" -D_FILE_OFFSET_BITS=64 "-I$dir" "$dir/order.c" || true
  done
}

# stb_sprintf and its implementation, before and after, in the same file.
part_stb() {
  local use='int main(void) {
  char text[8];
  return stbsp_snprintf(text, 8, "%d", 12) != 2 || gotrace_go_id(NULL) != 0;
}'
  [ -e /usr/include/stb/stb_sprintf.h ] || return 0
  local ours=$'#define GOTRACE_IMPLEMENTATION\n#include "gotrace.h"\n'
  local theirs=$'#define STB_SPRINTF_IMPLEMENTATION\n#include <stb_sprintf.h>\n'
  local static=$'#define STB_SPRINTF_STATIC\n'
  file before.c <<<"$theirs$ours$use"
  file after.c <<<"$ours$theirs$use"
  file after_static.c <<<"$ours$static$theirs$use"
  file around.c <<<$'#include <stb_sprintf.h>\n'"$ours$theirs$use"
  file without.c <<<$'#define GOTRACE_NO_STB_SPRINTF\n'"$ours$theirs$use"
  for name in before after after_static around without; do
    build "stb_$name" -Wno-unused-function "$dir/$name.c" && { "$dir/stb_$name" || fail "stb_$name: exit status $?"; }
  done
}

# Options are tested by value; a #define without a value counts as 1.
part_options() {
  local option
  file decoder.c <<'C'
#define GOTRACE_NO_DECODER 0
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
int main(void) { gotrace_decoder_close(NULL); return 0; }
C
  build decoder "$dir/decoder.c" || true
  for option in DISABLE STATIC CALL_SITES NO_THREADS MONOTONIC_CLOCK DEBUG AUTOSTART NO_DECODER NO_STB_SPRINTF NO_SYMBOLIZER \
    SEQ_CST_FLAG; do
    file option.c <<C
#define GOTRACE_$option 0
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#if GOTRACE_$option != 0
#error
#endif
int main(void) { return 0; }
C
    build "${option}_0" -fsyntax-only "$dir/option.c" || true
    sed -i "1s/ 0//; s/!= 0/!= 1/" "$dir/option.c"
    build "${option}_without_value" -fsyntax-only "$dir/option.c" || true
  done
}

# Two copies in one program; a copy without a decoder.
part_static() {
  file one.c <<'C'
#define GOTRACE_IMPLEMENTATION
#define GOTRACE_STATIC 1
#include "gotrace.h"
void other(void);
int main(void) { other(); return gotrace_enabled() || gotrace_go_id(NULL) != 0; }
C
  file other.c <<'C'
#define GOTRACE_IMPLEMENTATION
#define GOTRACE_STATIC 1
#define GOTRACE_NO_DECODER 1
#include "gotrace.h"
void other(void);
void other(void) { (void)gotrace_start(NULL); }
C
  build two_static "$dir/one.c" "$dir/other.c" && { "$dir/two_static" || fail "the copies share a state"; }
}

# The disabled header has every function and macro of the enabled one, and all calls compile.
part_disabled() {
  local mode
  for mode in 0 1; do
    {
      # shellcheck disable=SC2086
      "$compiler" $flags -DGOTRACE_DISABLE=$mode -E -dD "$dir/names.c" | grep -v '^#define GOTRACE__' |
        grep -oE '(#define )?\b(gotrace_[a-z]|GOTRACE_[A-Z])[A-Za-z0-9_]*\(' | sed 's/^#define //' | sort -u
    } >"$dir/names$mode"
  done
  [ "$(wc -l <"$dir/names0")" -gt 100 ] || fail "names not found"
  diff "$dir/names0" "$dir/names1" >"$dir/names" || { cat "$dir/names"; fail "disabled and enabled headers differ"; }
  # Every function that the enabled header declares is defined in the disabled one, by the table of calls.
  # shellcheck disable=SC2086
  "$compiler" $flags -E -P -DGOTRACE_NO_DECODER=1 "$dir/names.c" | tr '\n' ' ' | tr ';{}' '\n' |
    grep -oE '\bgotrace_[a-z][a-z0-9_]*\(' | tr -d '(' | grep -v '_fn$' | sort -u >"$dir/functions"
  [ "$(wc -l <"$dir/functions")" -gt 85 ] || fail "functions not found"
  {
    printf '#define GOTRACE_IMPLEMENTATION\n#include "gotrace.h"\nint main(void) {\n  void (*volatile call)(void);\n'
    sed 's/.*/  call = (void (*)(void))&;/' "$dir/functions"
    printf '  return call == NULL;\n}\n'
  } >"$dir/functions.c"
  for mode in 0 1; do build "functions_$mode" -Wno-cast-function-type -DGOTRACE_DISABLE=$mode "$dir/functions.c" || true; done
  file at.c <<'C'
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
int main(void) {
  gotrace_task task = gotrace_task_begin_at(GOTRACE_HERE, "task", 1, GOTRACE_NO_TASK);
  gotrace_region_begin_at(GOTRACE_HERE, task, "region", 1);
  gotrace_log_at(GOTRACE_HERE, task, "category", "message");
  gotrace_logf_at(GOTRACE_HERE, task, "category", "%d", 1);
  gotrace_region_end_at(GOTRACE_HERE, task, "region", 1);
  gotrace_task_end_at(GOTRACE_HERE, task);
  gotrace_gc_begin_at(GOTRACE_HERE);
  gotrace_stw_begin_at(GOTRACE_HERE, GOTRACE_STW_GC_MARK_TERM);
  gotrace_gc_sweep_span_at(GOTRACE_HERE, 1, 1);
  gotrace_gc_mark_assist_begin_at(GOTRACE_HERE);
  return 0;
}
C
  for mode in 0 1; do build "at_$mode" -DGOTRACE_DISABLE=$mode "$dir/at.c" || true; done
}

# tests/compile/test_null.c calls each function that takes a pointer.
part_nulls() {
  local name
  # shellcheck disable=SC2086
  "$compiler" $flags -E -P "$dir/names.c" | tr '\n' ' ' | tr ';{}' '\n' |
    grep -oE '\bgotrace_[a-z][a-z0-9_]*\([^()]*\*[^()]*\)' | sed 's/(.*//' | grep -v '_fn$' | sort -u >"$dir/pointers"
  [ "$(wc -l <"$dir/pointers")" -gt 40 ] || fail "functions not found"
  while read -r name; do
    grep -qw "$name" tests/compile/test_null.c || fail "tests/compile/test_null.c does not call $name"
  done <"$dir/pointers"
}

# The macros in inline functions: static ones; and those with external linkage, with GCC only without call sites.
part_inline() {
  local linkage
  for linkage in 'static inline' inline; do
    file inline.c <<C
#include "gotrace.h"
$linkage int work(int n) {
  gotrace_go_block(GOTRACE_BLOCK_SYNC);
  GOTRACE_REGION ("region") {
    gotrace_log(GOTRACE_NO_TASK, "category", "message");
    if (n) return n;
  }
  return 0;
}
int more(void);
int more(void) { return work(1); }
C
    for standard in c99 c2x; do
      [ "$linkage" = inline ] && [ "$compiler" != clang ] || build "inline$standard" -std=$standard -c "$dir/inline.c" || true
      build "inline_without$standard" -std=$standard -DGOTRACE_CALL_SITES=0 -c "$dir/inline.c" || true
    done
  done
}

# In C, no jump leads past GOTRACE_SCOPE into its block, where the end of the region would find no scope.
part_jumps() {
  local way
  file jump.c <<'C'
#include "gotrace.h"
int work(int n);
int work(int n) {
  int result = -1;
#ifdef GOTO
  if (n < 0) goto out;
#endif
  GOTRACE_SCOPE("work");
  result = n;
  if (n > 9) goto out;
  switch (n) {
  case 1:;
#ifdef CASE
    GOTRACE_SCOPE("case");
#endif
  case 2: result = 3;
  }
out:
  return result;
}
C
  build no_jump.o -std=c99 -Wvla -c "$dir/jump.c" || true
  for way in GOTO CASE; do
    # shellcheck disable=SC2086
    ! "$compiler" $flags -w -fsyntax-only -D$way "$dir/jump.c" 2>"$dir/errors" || fail "a jump past GOTRACE_SCOPE compiles: $way"
    grep -qE 'into scope|bypasses' "$dir/errors" || fail "a jump past GOTRACE_SCOPE: $(cat "$dir/errors")"
  done
}

# A shared library that exports the tracer by GOTRACE_API: all its functions and nothing else.
part_export() {
  local program='
#include "gotrace.h"
#include <stdio.h>
int main(void) {
  const gotrace_event_spec *spec = gotrace_find_event_spec(GOTRACE_GO_1_11, 13);
  gotrace_stats stats;
  if (gotrace_version() != GOTRACE_VERSION_NUMBER || gotrace_enabled()) return 2;
  if (gotrace_start_file("FILE", NULL) != GOTRACE_OK || !gotrace_enabled()) return 3;
  GOTRACE_REGION ("region") gotrace_log(GOTRACE_NO_TASK, "category", spec->name);
  if (gotrace_stop() != GOTRACE_OK) return 4;
  gotrace_get_stats(&stats);
  remove("FILE");
  return stats.events < 3 ? 5 : 0;
}'
  printf '#define GOTRACE_IMPLEMENTATION\n#include "gotrace.h"\n' >"$dir/library.c"
  sed "s|FILE|$dir/export.trace|" <<<"$program" >"$dir/program.c"
  build libgotrace.so -O1 -fPIC -shared -fvisibility=hidden '-DGOTRACE_API=__attribute__((visibility("default")))' \
    "$dir/library.c" || return 0
  build export '-DGOTRACE_API=__attribute__((visibility("default")))' "$dir/program.c" "$dir/libgotrace.so" "-Wl,-rpath,$dir" &&
    { "$dir/export" || fail "export: exit status $?"; }
  nm -D --defined-only "$dir/libgotrace.so" | awk '{print $3}' | grep -v '^_' | sort >"$dir/exported"
  grep -vx 'gotrace_[a-z].*\|gotrace__on\|gotrace__other_copies\|gotrace__task_begin_constant\|gotrace__log_constant' "$dir/exported" && fail "exported, and not the tracer's"
  [ "$(wc -l <"$dir/exported")" -gt 80 ] || fail "not all functions are exported"
  build hidden.so -O1 -fPIC -shared -fvisibility=hidden "$dir/library.c" || return 0
  # GNU ld lists the ends of the section gotrace_calls, which are hidden.
  ! readelf -W --dyn-syms "$dir/hidden.so" | grep gotrace | grep -v 'HIDDEN.* __st[a-z]*_gotrace_calls$' || fail "exported without GOTRACE_API"

  [ "$compiler" = gcc ] && command -v x86_64-w64-mingw32-gcc >/dev/null || return 0
  local compiler=x86_64-w64-mingw32-gcc
  build gotrace.dll -O1 -shared '-DGOTRACE_API=__declspec(dllexport)' "$dir/library.c" -static "-Wl,--out-implib,$dir/gotrace.lib" || return 0
  sed "s|FILE|export.trace|" <<<"$program" >"$dir/program.c"
  build export.exe '-DGOTRACE_API=__declspec(dllimport)' "$dir/program.c" "$dir/gotrace.lib" || return 0
  (root=$PWD && cd "$dir" && "$root/tests/compile/wine.sh" ./export.exe) || { [ $? = 77 ] || fail "export.exe: failed"; }
}

# Two shared libraries with a copy each. Linked normally they are one tracer; with -Bsymbolic they are two, and are
# reported.
part_copies() {
  local mode
  file a.c <<'C'
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
C
  file b.c <<'C'
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
void work(void);
void work(void) { GOTRACE_REGION ("region") gotrace_log(GOTRACE_NO_TASK, "category", "message"); }
C
  file main.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#include "gotrace.h"
int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW), *work = library ? dlsym(library, "work") : NULL;
  gotrace_options options = {0};
  gotrace_stats stats;
  const void *data;
  size_t size;
  if (!work || argc < 3 || gotrace_start(&options) != GOTRACE_OK) return 2;
  (*(void (**)(void))&work)();
  (void)gotrace_end();
  while (gotrace_read(&data, &size) == GOTRACE_OK && size) continue;
  gotrace_get_stats(&stats);
  if (stats.other_copies != (uint64_t)atoi(argv[2])) return 3;
  if ((stats.kinds[GOTRACE_V2_USER_REGION_BEGIN] == 0) != (stats.other_copies == 1)) return 4;
  if (dlclose(library) != 0) return 5;
  gotrace_get_stats(&stats);
  return stats.other_copies ? 6 : 0;
}
C
  build liba.so -fPIC -shared "$dir/a.c" || return 0
  build copies "$dir/main.c" "$dir/liba.so" "-Wl,-rpath,$dir" || return 0
  for mode in 0 1; do
    build libb.so -fPIC -shared "$dir/b.c" $([ $mode = 0 ] || echo -Wl,-Bsymbolic) || return 0
    "$dir/copies" "$dir/libb.so" $mode || fail "copies $mode: exit status $?"
  done
}

# clang-cl is Clang without __GNUC__. Its headers are not available, so MinGW's are used.
part_clang_cl() {
  [ "$compiler" = clang ] || return 0
  if ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
    echo "needs gcc-mingw-w64-x86-64 (make deps)"
    exit 77
  fi
  file clang_cl.c <<'C'
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>
#undef __GNUC__
#define GOTRACE_NO_STB_SPRINTF 1
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
int main(void) {
  GOTRACE_REGION ("region") return GOTRACE_HERE == NULL;
}
C
  build clang_cl --target=x86_64-w64-mingw32 -fsyntax-only "$dir/clang_cl.c" || true
}

# 32-bit x86 with Clang, which calls libatomic for unaligned atomics. compile_matrix.sh tests GCC.
part_bits32() {
  [ "$compiler" = clang ] || return 0
  if ! command -v i686-linux-gnu-gcc >/dev/null; then
    echo "needs gcc-i686-linux-gnu (make deps)"
    exit 77
  fi
  build bits32 --target=i686-linux-gnu -O2 -static -fno-omit-frame-pointer tests/compile/processor.c || return 0
  qemu-i386 "$dir/bits32" "$dir/large" || fail "bits32: exit status $?"
}

echo '#include "gotrace.h"' >"$dir/names.c"
parts=${*:-order stb options static disabled nulls inline jumps export copies clang_cl bits32}
for compiler in gcc clang; do
  command -v $compiler >/dev/null || { echo "needs $compiler (make deps)"; exit 77; }
  for part in $parts; do "part_$part"; done
done
[ -z "$wrong" ]
