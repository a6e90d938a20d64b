#!/usr/bin/env bash
# Stacks by examples/unwind/gotrace_unwind.h are those that the compiler's library finds (unwinds.c): in C and C++, with gcc
# and clang, and on arm64 under qemu. With other compilers and standards the file compiles without warnings.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
[ ! -d /usr/include/stb ] || stb='-isystem /usr/include/stb'
flags="-g -I. -Iexamples/unwind ${stb-} -pthread"

# check FLAGS COMPILER ARGUMENT...: builds and runs
check() {
  local run=() compiler=$2
  command -v "$compiler" >/dev/null || { echo "left out: $compiler"; return 0; }
  if [[ $compiler = aarch64* ]]; then
    command -v qemu-aarch64 >/dev/null || { echo "left out: qemu-aarch64"; return 0; }
    run=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
  fi
  # shellcheck disable=SC2086
  { # the tracer itself without optimizing, which takes most of the time
    "$(sed "s/clang++/clang/; s/g++/gcc/" <<<"$compiler")" -O0 $flags -c "$dir/tracer.c" -o "$dir/tracer.o"
    "${@:2}" $flags $1 -c tests/compile/unwinds.c -o "$dir/unwinds.o"
    "$compiler" -pthread "$dir/tracer.o" "$dir/unwinds.o" -o "$dir/unwinds" -ldl
  }
  "${run[@]}" "$dir/unwinds" || { echo "${*:2} $1: exit status $?"; exit 1; }
}

printf '#define GOTRACE_IMPLEMENTATION\n#include "gotrace.h"\n' >"$dir/tracer.c"
check '-O0' "${CC-cc}" -std=gnu11
check '-O2 -fomit-frame-pointer' "${CC-cc}" -std=gnu11
check '-O2' clang++ -x c++ -std=c++17
check '-O2 -fomit-frame-pointer' aarch64-linux-gnu-gcc -std=gnu11
check '-O1' aarch64-linux-gnu-g++ -x c++ -std=c++11

# The example: the stack of the number 6 has each level of the formula.
make -s build/examples/stacks build/examples/gotrace
root=$PWD
(cd "$dir" && "$root/build/examples/stacks" '1*(2+(3*(4+(5+6))))' >out)
levels=$(build/examples/gotrace dump --kind UserLog "$dir/stacks.trace" | awk '/UserLog/ { six = /value_string="6"/ } six && $2 == "sum" { n++ } END { print n }')
if [ "$(cat "$dir/out")" != 47 ] || [ "$levels" != 5 ]; then echo "examples/stacks: $(cat "$dir/out"), $levels levels"; exit 1; fi

# Alone, and before gotrace.h: for programs that are linked with the library.
printf '#define GOTRACE_UNWIND_IMPLEMENTATION\n#include "gotrace_unwind.h"\nint main(void) { uintptr_t pcs[4]; return gotrace_unwind(NULL, pcs, 4) < 1; }\n' \
  >"$dir/alone.c"
warnings='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Wcast-align -Werror'
while read -r compiler standard more; do
  command -v "$compiler" >/dev/null || continue
  # shellcheck disable=SC2086
  "$compiler" $standard $more $flags $warnings "$dir/alone.c" -o "$dir/alone"
  [[ $compiler = *mingw* ]] || "$dir/alone"
done <<'END'
gcc -std=c99 -Wstrict-prototypes -O2
gcc -std=c2x -Wstrict-prototypes -DGOTRACE_STATIC=1 -DGOTRACE_IMPLEMENTATION -Wno-unused-function
clang -std=c99 -Wstrict-prototypes
clang -std=c11 -finstrument-functions -fsanitize=address
g++ -std=c++11 -x c++
g++ -std=c++23 -x c++ -O2
clang++ -std=c++20 -x c++
musl-gcc -std=c99
x86_64-w64-mingw32-gcc -std=c11
END
