#!/usr/bin/env bash
# Checks that the header compiles without warnings with every compiler and language standard, as declarations and as the
# implementation. For the standards in `full`, the oldest and the newest ones, it also tries each option and optimizes, since
# some warnings come only from the optimizer, and it links and runs examples/hello.c and processor.c (differences between
# processors), also for other processors. The other standards change only what the front end accepts, not the code, so for
# them only the front end runs, with few options. Other installed versions of gcc and clang (gcc-14, clang-22) have users too,
# whom new warnings reach. With those there are only the declarations and the implementation, optimized in C99.
#
#     tests/compile/compile_matrix.sh --list                        all tests, one per line: LEVEL ARGUMENT... (see run.sh)
#     tests/compile/compile_matrix.sh [-f | -b] COMPILER STANDARD   one test; -f: the front end only; -b: and without options
set -euo pipefail
cd "$(dirname "$0")/../.."

c_standards="c99 c11 c17 c2x gnu99 gnu11 gnu17 gnu2x"
cpp_standards="c++11 c++14 c++17 c++20 c++2b gnu++11 gnu++14 gnu++17 gnu++20 gnu++2b"
full="c99 gnu2x c++11 gnu++2b"
foreign="powerpc64le-linux-gnu aarch64-linux-gnu i686-linux-gnu"

is_full() { [[ " $full " = *" $1 "* ]]; } # is_full STANDARD

if [ "${1-}" = --list ]; then
  printf 'quick -b %s\n' 'gcc c11' 'clang c17' 'g++ c++14' 'clang++ c++2b'
  printf 'check -b %s\n' 'tests/compile/msvc.sh c11' 'tests/compile/msvc.sh c++14' 'tests/compile/msvc.sh c++20'
  for compiler in gcc g++ clang clang++ x86_64-w64-mingw32-{gcc,g++} $(for target in $foreign; do echo $target-gcc $target-g++; done); do
    case $compiler in
      gcc | clang) standards=$c_standards ;;
      g++ | clang++) standards=$cpp_standards ;;
      *mingw32-g++) standards="c++11 c++17 gnu++20" ;;
      *-g++) standards="c++11 c++20" ;;
      *) standards="c99 c11 gnu17" ;;
    esac
    for standard in $standards; do
      level=nightly
      case "$compiler $standard" in
        *-linux-gnu-g++*c++11) echo "check -b $compiler $standard" ;; # the rest differs in the same way in C
        *c99 | *c++11) level=check ;;
        *gnu2x | *gnu++2b) echo "check -f $compiler $standard" ;;
      esac
      echo "$level $compiler $standard"
    done
  done
  # gcc-12 and clang-14 may be what gcc and clang are.
  for compiler in $(compgen -c | grep -E '^(gcc|clang)-[0-9]+$' | sort -uV); do
    [ "$(readlink -f "$(command -v "$compiler")")" = "$(readlink -f "$(command -v "${compiler%-*}")")" ] ||
      printf 'check %s\n' "$compiler c99" "-b $compiler gnu2x"
  done
  exit
fi

brief='' front=''
case $1 in
  -b) brief=1 front=1 && shift ;;
  -f) front=1 && shift ;;
esac
compiler=$1 standard=$2
needed=$compiler
if [ "$compiler" = tests/compile/msvc.sh ]; then
  needed=x86_64-w64-mingw32-gcc
  command -v clang >/dev/null || { echo 'needs clang (make deps)'; exit 77; }
fi
if ! command -v "$needed" >/dev/null; then
  case $needed in
    clang++) package=clang ;;
    *mingw32-*) package=${needed##*-}-mingw-w64-x86-64 ;;
    *-linux-gnu-*) package=${needed##*-}-${needed%-*} ;;
    *) package=$needed ;;
  esac
  echo "needs ${package/powerpc64le_/powerpc64le-} (make deps)"
  exit 77
fi

flags="-std=$standard -I. -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Wcast-align -Werror"
case $standard in
  *++*) suffix=cpp ;;
  *) suffix=c flags+=" -Wstrict-prototypes" ;;
esac
case $compiler in
  clang*) flags+=" -Qunused-arguments" ;;
esac
case $compiler in
  *mingw* | *msvc*) ;;
  *) flags+=" -pthread" ;;
esac

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# compile NAME [FLAG...] <SOURCE: to an object if -O2 is among the FLAGs and the standard is in `full`; otherwise only
# through the front end
compile() {
  local name=$1 output=(-fsyntax-only)
  shift
  [[ " $* " != *" -O2 "* || $front ]] || ! is_full "$standard" || output=(-c -o "$dir/$name.o")
  cat >"$dir/$name.$suffix"
  # shellcheck disable=SC2086
  "$compiler" $flags "$@" "$dir/$name.$suffix" "${output[@]}" || { echo "in: $name"; wrong=1; }
}
wrong=

# A program that makes every kind of call once.
uses='
static void work(void) {}
int main(void) {
  static const gotrace_location entry = GOTRACE_ENTRY(work);
  work();
  gotrace_options options;
  gotrace_stats stats;
  gotrace_task task;
  const void *data;
  size_t size, i;
  unsigned char *bytes = (unsigned char *)&options;
  for (i = 0; i < sizeof options; i++) bytes[i] = 0;
  options.format = GOTRACE_GO_1_11;
  (void)gotrace_start(&options);
  {
    gotrace_proc *proc = gotrace_proc_create();
    gotrace_go *go = gotrace_go_create(&entry);
    gotrace_proc_start(proc);
    gotrace_go_start(go);
    task = gotrace_task_begin("task", GOTRACE_NO_TASK);
    GOTRACE_TASK_REGION(task, "region") { gotrace_logf(task, "category", "%d", 1); }
    GOTRACE_REGION("other") GOTRACE_REGION("inner") { gotrace_log(GOTRACE_NO_TASK, "category", "text"); }
    gotrace_task_end(task);
    gotrace_go_syscall_begin();
    gotrace_go_syscall_end();
    gotrace_go_block(GOTRACE_BLOCK_SYNC);
    gotrace_go_unblock(go);
    gotrace_go_start(go);
    gotrace_heap_alloc(1);
    gotrace_wait_on(&entry, GOTRACE_REASON("reason") + GOTRACE_BLOCK_NET);
    gotrace_wake(&entry, GOTRACE_WAKE_ALL);
    gotrace_wait_end();
    gotrace_go_destroy(gotrace_go_create(&entry));
    gotrace_thread_begin_as(NULL);
    gotrace_go_stop(GOTRACE_STOP_YIELD);
    gotrace_go_switch_for(go, GOTRACE_BLOCK_SELECT);
    (void)gotrace_site_make("function", "file", 1);
    gotrace_go_end();
    gotrace_proc_stop();
    gotrace_proc_destroy(proc);
  }
  (void)gotrace_end();
  while (gotrace_read(&data, &size) == GOTRACE_OK && size > 0) continue;
  gotrace_get_stats(&stats);
  return stats.events == 0 && gotrace_enabled();
}'

include='#include "gotrace.h"'
implement=$'#define GOTRACE_IMPLEMENTATION\n'$include

# The declarations: twice, before and after the implementation, and alone.
compile declarations -O2 <<<"$include"$'\n'"$include$uses"
# shellcheck disable=SC2046 # an option or none
compile implementation -O2 $([ $suffix = c ] || echo -Wold-style-cast) <<<"$implement"
if [[ $compiler = *-[0-9]* ]]; then
  [ -z "$wrong" ]
  exit
fi
compile implementation_first <<<"$implement"$'\n#undef GOTRACE_IMPLEMENTATION\n'"$include$uses"
if [ "$brief" ]; then
  compile with_DISABLE -DGOTRACE_DISABLE=1 <<<"$implement$uses"
  [ -z "$wrong" ]
  exit
fi
compile implementation_last -D_GNU_SOURCE <<<"$include"$'\n'"$implement$uses"
compile constants -DGOTRACE_CALL_SITES=0 <<<"$include
int numbers[] = {GOTRACE_V1_GO_CREATE, GOTRACE_V2_GO_CREATE, GOTRACE_STACK_SIZE, GOTRACE_ERROR_SINK};"
options='DISABLE STATIC'
! is_full "$standard" || options+=' NO_THREADS SEQ_CST_FLAG MONOTONIC_CLOCK DEBUG AUTOSTART'
case $compiler in
  *64*-linux-gnu-*) options=NO_THREADS ;; # GCC again, with types of the same sizes: only the code differs
esac
for option in $options; do
  compile "with_$option" "-DGOTRACE_$option=1" <<<"$implement$uses"
done
if is_full "$standard"; then
  compile without_CALL_SITES -DGOTRACE_CALL_SITES=0 <<<"$implement$uses"
  compile with_TICK_DIV -DGOTRACE_TICK_DIV=1 <<<"$implement$uses"
fi
compile with_memory_functions -D_GNU_SOURCE <<<'
#include <stdlib.h>
#define GOTRACE_MALLOC(size) malloc(size)
#define GOTRACE_FREE(pointer, size) free(pointer)
'"$implement$uses"

case $standard in
  *++20 | *++2b) compile source_location -O0 <<<"#include <source_location>
$include
#ifdef __cpp_lib_source_location /* Clang 14 lacks it */
void log_line(const char *text, std::source_location at = std::source_location::current());
void log_line(const char *text, std::source_location at) {
  gotrace_log_at(gotrace_site_make(at.function_name(), at.file_name(), at.line()), GOTRACE_NO_TASK, \"app\", text);
}
void both();
void both() { log_line(\"here\"); }
#endif" ;;
esac

[ -z "$wrong" ] || exit 1

# What must be rejected.
if echo "$implement" | "$compiler" -x "${suffix/cpp/c++}" -I. -DGOTRACE_MALLOC=malloc -E - >/dev/null 2>&1; then
  echo "GOTRACE_MALLOC without GOTRACE_FREE is not refused"
  exit 1
fi

if [ "$front" ] || ! is_full "$standard"; then exit; fi

# The objects link, and the program runs if the machine can run it.
link=''
case $compiler in
  *mingw*) link=-static ;;
  *-linux-gnu-*) link=-static ;;
esac
# shellcheck disable=SC2086
"$compiler" $flags -O2 "$dir/declarations.o" "$dir/implementation.o" $link -o "$dir/program.exe"
case $compiler in
  *mingw*) run=tests/compile/wine.sh ;;
  powerpc64le-*) run=qemu-ppc64le ;;
  aarch64-*) run=qemu-aarch64 ;;
  i686-*) run=qemu-i386 ;;
  *) run= ;;
esac
if [ -n "$run" ] && ! command -v $run >/dev/null; then
  echo "needs qemu-user (make deps)"
  exit 77
fi
$run "$dir/program.exe"

# Not on Windows: the examples use POSIX to walk directories.
if [ "$suffix" = c ] && [ "$run" != tests/compile/wine.sh ]; then
  # shellcheck disable=SC2086
  "$compiler" -std=c11 -I. -pthread tests/examples/hello_formats.c $link -o "$dir/hello"
  for format in 1.11 1.26; do
    $run "$dir/hello" -o "$dir/hello.trace" -f $format -k >"$dir/kinds"
    tests/go/open_in_go.sh "$dir/hello.trace" -n -k "$dir/kinds" || [ $? = 77 ]
  done
  # shellcheck disable=SC2086
  "$compiler" -std=c11 -O0 -fno-omit-frame-pointer -I. -pthread tests/compile/processor.c $link -o "$dir/processor"
  $run "$dir/processor" "$dir/large"
fi
