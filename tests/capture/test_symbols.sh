#!/usr/bin/env bash
# The names of functions in traces: static functions, stripped programs, libraries that come and go, damaged and
# replaced files. `gotrace symbolize` then adds lines and inlined callers, and rejects a program that is not the one
# traced.
set -euo pipefail
shopt -s extglob
cd "$(dirname "$0")/../.."

for program in cc c++ strip nm readelf objcopy objdump addr2line c++filt python3; do
  command -v $program >/dev/null || { echo "needs $program (make deps)"; exit 77; }
done
make -s build/examples/gotrace build/tests/quick/gotrace.a
tool=$PWD/build/examples/gotrace root=$PWD
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
  echo "$*"
  exit 1
}

# The program chooses each stack. Its main thread reads the trace itself, so that it controls when the functions of a
# generation are named.
cat >"$dir/program.c" <<'C'
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "gotrace.h"
#include "test.h"

static FILE *out;
static uintptr_t stack[8];
static int stack_size;
__attribute__((noinline)) static int hidden(int x) {
  __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop" : "+r"(x));
  return x * 3;
}
__attribute__((noinline)) static int other(int x) {
  __asm__ volatile("nop; nop; nop; nop; nop; nop; nop" : "+r"(x));
  return x * 5;
}
static int give(void *context, uintptr_t *pcs, int max) {
  (void)context, (void)max;
  memcpy(pcs, stack, sizeof stack);
  return stack_size;
}
static void write_some(void) {
  const void *data;
  size_t size;
  while (gotrace_try_read(&data, &size) == GOTRACE_OK && size) CHECK(fwrite(data, 1, size, out) == size);
}
/* Writes a log of this name, whose stack is an address's; ends the generation, unless told not to. */
static void log_at(const char *name, uintptr_t pc, bool cut) {
  stack[0] = pc;
  stack_size = 1;
  gotrace_log(GOTRACE_NO_TASK, "at", name);
  if (cut) gotrace_advance();
  if (cut) write_some();
}
static void *library;
static uintptr_t load(const char *path) {
  void *found;
  uintptr_t (*where)(void);
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  CHECK(library);
  found = dlsym(library, "where");
  memcpy(&where, &found, sizeof where);
  return where() + 1;
}
static void library_cases(const char *one, const char *two) {
  uintptr_t first, second;
  char copy[1024];
  first = load(one);
  log_at("loaded", first, true);
  log_at("then-unloaded", first, false);
  dlclose(library);
  gotrace_advance(), write_some();
  second = load(two);
  log_at("second", second, true);
  log_at("second-later", second, true);
  printf("same address: %d\n", first == second);
  log_at("then-replaced", second, false);
  dlclose(library);
  first = load(one);
  gotrace_advance(), write_some();
  log_at("first-again", first, true);
  log_at("first-later", first, true);
  dlclose(library);
  snprintf(copy, sizeof copy, "%s.copy", one); /* has no names yet when its file is replaced */
  first = load(copy);
  CHECK(rename(two, copy) == 0);
  log_at("may-be-other", first, true);
  log_at("may-be-other", first, true);
  log_at("file-replaced", first, true);
}
int main(int argc, char **argv) {
  gotrace_options options;
  volatile uintptr_t hidden_at = (uintptr_t)hidden, other_at = (uintptr_t)other, main_at = (uintptr_t)main;
  uintptr_t vdso = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
  CHECK(argc >= 4);
  if (strcmp(argv[2], "delete") == 0) CHECK(unlink(argv[3]) == 0);
  if (strcmp(argv[2], "replace") == 0) CHECK(rename(argv[4], argv[3]) == 0);
  memset(&options, 0, sizeof options);
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = give;
  options.cut_milliseconds = 1000000;
  options.format = getenv("FORMAT") ? (gotrace_format)atoi(getenv("FORMAT")) : GOTRACE_FORMAT_DEFAULT;
  CHECK((out = fopen(argv[1], "wb")) != NULL);
  CHECK_EQUAL(gotrace_start(&options), GOTRACE_OK);
  write_some();
  log_at("hidden", hidden_at + 1, false);
  log_at("hidden-end", hidden_at + 4, false);
  log_at("other", other_at + 1, false);
  log_at("main", main_at + 1, false);
  log_at("nowhere", 16, false);
  if (vdso) log_at("vdso", vdso + 0x20, false);
  gotrace_advance(), write_some();
  if (strcmp(argv[2], "library") == 0) library_cases(argv[3], argv[4]);
  gotrace_end();
  write_some();
  CHECK(fclose(out) == 0);
  return hidden(other(argc)) < 0;
}
C
cat >"$dir/library.c" <<'C'
#include <stdint.h>
__attribute__((noinline)) static int NAME(int x) { __asm__ volatile("nop; nop; nop; nop" : "+r"(x)); return x; }
uintptr_t where(void) { volatile uintptr_t at = (uintptr_t)NAME; return at; }
int use(int x) { return NAME(x); }
C
build() { # build NAME FLAG...
  local name=$1
  shift
  cc -std=gnu11 -O1 -g -I. -Itests -o "$dir/$name" "$dir/program.o" "$root/build/tests/quick/gotrace.a" -pthread -ldl "$@"
}
cc -std=gnu11 -O1 -g -fPIE -I. -Itests -c "$dir/program.c" -o "$dir/program.o"

# at TRACE LOG: the function and file of a log's stack
at() {
  "$tool" dump "$1" | awk -v log_name="\"$2\"" '
    /^[0-9]/ { on = index($0, "value_string=" log_name) || index($0, " | message=" log_name) || index($0, log_name) }
    on && !found && /^        [0-9a-f]+ / { found = $2 " " $3 }
    END { print found }'
}
# named TRACE LOG PATTERN: the function (and file) matches
named() {
  local found
  found=$(at "$1" "$2")
  # shellcheck disable=SC2053
  [[ $found == $3 ]] || fail "$1: $2 is '$found', not '$3'"
}
run() { # run PROGRAM OUT ARGUMENT...
  "$@" >"$dir/out" 2>&1 || fail "$*: $(head -c 500 "$dir/out")"
  "$tool" check "$2" >"$dir/out2" || fail "$(cat "$dir/out2")"
}

# Ways to link.
build pie -pie
build no_pie -no-pie
build static -static 2>/dev/null
build static_pie -static-pie 2>/dev/null
build no_id -pie -Wl,--build-id=none
for way in pie no_pie static static_pie no_id; do
  for format in 1011 1021 1023; do
    FORMAT=$format run "$dir/$way" "$dir/$way.trace" none none
    named "$dir/$way.trace" hidden "hidden $dir/$way:0"
    named "$dir/$way.trace" hidden-end "hidden $dir/$way:0"
    named "$dir/$way.trace" other "other $dir/$way:0"
    named "$dir/$way.trace" main "main $dir/$way:0"
    named "$dir/$way.trace" nowhere '0x10 *'
    grep -aq "gotrace.module [0-9a-f]* [0-9a-f]*-[0-9a-f]* [-0-9a-f]* $dir/$way" "$dir/$way.trace" || fail "$way: no module"
  done
done
named "$dir/pie.trace" vdso '*vdso* *'
id=$(readelf -n "$dir/pie" | sed -n 's/.*Build ID: //p')
grep -aq "gotrace.module [0-9a-f]* [0-9a-f]*-[0-9a-f]* $id $dir/pie" "$dir/pie.trace" || fail "pie: wrong build id"

# A stripped program: functions are identified by their start addresses.
strip -o "$dir/stripped" "$dir/pie"
hidden=$(nm "$dir/pie" | sed -n 's/^0*\([0-9a-f]*\) t hidden$/\1/p')
other=$(nm "$dir/pie" | sed -n 's/^0*\([0-9a-f]*\) t other$/\1/p')
run "$dir/stripped" "$dir/stripped.trace" none none
named "$dir/stripped.trace" hidden "stripped!0x$hidden $dir/stripped:0"
named "$dir/stripped.trace" hidden-end "stripped!0x$hidden $dir/stripped:0"
named "$dir/stripped.trace" other "stripped!0x$other $dir/stripped:0"
objcopy --remove-section=.eh_frame_hdr "$dir/static" "$dir/bare" 2>/dev/null || cp "$dir/static" "$dir/bare"
strip "$dir/bare"
run "$dir/bare" "$dir/bare.trace" none none
named "$dir/bare.trace" hidden "bare[+!]0x* $dir/bare:0"

# A stripped program with a small, compressed symbol table, as on Fedora: gotrace symbolize reads it.
if command -v xz >/dev/null; then
  objcopy --only-keep-debug "$dir/pie" "$dir/debug"
  nm "$dir/pie" | sed -n 's/.* [tT] \(hidden\|other\|main\)$/\1/p' >"$dir/keep"
  objcopy -S --remove-section=.gdb_index --keep-symbols="$dir/keep" "$dir/debug" "$dir/mini"
  xz -f "$dir/mini"
  mkdir -p "$dir/fedora"
  objcopy --add-section .gnu_debugdata="$dir/mini.xz" "$dir/stripped" "$dir/fedora/mini"
  run "$dir/fedora/mini" "$dir/mini.trace" none none
  named "$dir/mini.trace" hidden "mini!0x$hidden $dir/fedora/mini:0"
  "$tool" symbolize -o "$dir/mini.named" "$dir/mini.trace"
  named "$dir/mini.named" hidden "hidden $dir/fedora/mini:0"
  named "$dir/mini.named" other "other $dir/fedora/mini:0"
fi

# A stripped program whose symbols and lines are in a debug file: by build id, by link with its checksum, or in
# debuginfod's cache. Symbols are read without a debugger, too.
objcopy --only-keep-debug "$dir/pie" "$dir/pie.debug"
main_line=$(grep -n '^int main' "$dir/program.c" | cut -d : -f 1)
unnamed() { named "$1" hidden "*!0x$hidden *"; }
with_lines() { # with_lines TRACE: symbolizes it, with a debugger and without
  "$tool" symbolize -o "$dir/debug.named" "$1" 2>"$dir/err" || fail "$1: $(cat "$dir/err")"
  named "$dir/debug.named" hidden "hidden $dir/program.c:[0-9]*"
  named "$dir/debug.named" main "main $dir/program.c:$main_line"
  PATH=/nowhere "$tool" symbolize -o "$dir/debug.named" "$1" 2>"$dir/err" || fail "$1: $(cat "$dir/err")"
  named "$dir/debug.named" hidden "hidden $dir/*:0"
}
no_debug_file() {
  "$tool" symbolize -o "$dir/debug.named" "$1" 2>"$dir/err" || fail "$1: $(cat "$dir/err")"
  unnamed "$dir/debug.named"
}
export DEBUGINFOD_CACHE_PATH=$dir/cache
no_debug_file "$dir/stripped.trace"
id=$(readelf -n "$dir/pie" | sed -n 's/.*Build ID: //p')
mkdir -p "$dir/cache/$id"
cp "$dir/pie.debug" "$dir/cache/$id/debuginfo"
with_lines "$dir/stripped.trace"
build other_id -pie -Wl,--build-id=0x1234567890
objcopy --only-keep-debug "$dir/other_id" "$dir/cache/$id/debuginfo"
no_debug_file "$dir/stripped.trace"
rm -r "$dir/cache"
if [ -d /usr/lib/debug ] && unshare -rm true 2>/dev/null; then
  mkdir -p "$dir/system/.build-id/${id::2}"
  cp "$dir/pie.debug" "$dir/system/.build-id/${id::2}/${id:2}.debug"
  export -f with_lines named at fail
  export dir tool main_line
  unshare -rm bash -c 'mount --bind "$dir/system" /usr/lib/debug && with_lines "$dir/stripped.trace"' || fail "by build id"
fi
# Without a build id, only the link tells which file it is.
for folder in "" .debug/; do
  mkdir -p "$dir/linked/.debug"
  objcopy --only-keep-debug "$dir/no_id" "$dir/linked/${folder}no_id.debug"
  strip -o "$dir/linked/bare" "$dir/no_id"
  (cd "$dir/linked/$folder" && objcopy --add-gnu-debuglink=no_id.debug "$dir/linked/bare" "$dir/linked/no_id")
  hidden=$(nm "$dir/no_id" | sed -n 's/^0*\([0-9a-f]*\) t hidden$/\1/p')
  run "$dir/linked/no_id" "$dir/linked.trace" none none
  unnamed "$dir/linked.trace"
  with_lines "$dir/linked.trace"
  printf x >>"$dir/linked/${folder}no_id.debug" # another checksum
  PATH=/nowhere "$tool" symbolize -o "$dir/debug.named" "$dir/linked.trace" 2>"$dir/err"
  unnamed "$dir/debug.named"
  rm -r "$dir/linked"
done
hidden=$(nm "$dir/pie" | sed -n 's/^0*\([0-9a-f]*\) t hidden$/\1/p')

# Found through PATH.
(cd "$dir" && PATH=$dir:$PATH run stripped "$dir/path.trace" none none)
named "$dir/path.trace" hidden "stripped!0x$hidden $dir/stripped:0"
# Started by the loader, which is then the executable of the process.
loader=$(readelf -l "$dir/pie" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
if [ -n "$loader" ]; then
  (cd "$dir" && "$loader" ./pie "$dir/loader.trace" none none)
  named "$dir/loader.trace" hidden "hidden $dir/pie:0"
fi

# Deleted or replaced while it runs.
cp "$dir/pie" "$dir/gone"
run "$dir/gone" "$dir/gone.trace" delete "$dir/gone"
named "$dir/gone.trace" hidden "hidden $dir/gone:0"
cp "$dir/pie" "$dir/swapped" && cp "$dir/no_pie" "$dir/swap"
run "$dir/swapped" "$dir/swapped.trace" replace "$dir/swapped" "$dir/swap"
named "$dir/swapped.trace" hidden 'hidden *'

# Libraries of the same size, so that the second is loaded at the address of the first.
for id in sha1 none; do
  cc -O1 -g -shared -fPIC -DNAME=first_hidden -Wl,--build-id=$id "$dir/library.c" -o "$dir/one.so"
  cc -O1 -g -shared -fPIC -DNAME=other_hidden -Wl,--build-id=$id "$dir/library.c" -o "$dir/two.so"
  cp "$dir/one.so" "$dir/one.so.copy"
  run "$dir/pie" "$dir/library.trace" library "$dir/one.so" "$dir/two.so"
  named "$dir/library.trace" loaded "first_hidden $dir/one.so:0"
  named "$dir/library.trace" then-unloaded "@(first_hidden|0x*) *"
  named "$dir/library.trace" second-later "other_hidden $dir/two.so:0"
  named "$dir/library.trace" first-later "first_hidden $dir/one.so:0"
  # An address that may have belonged to another library has no name.
  named "$dir/library.trace" second "@(other_hidden|0x*) *"
  named "$dir/library.trace" first-again "@(first_hidden|0x*) *"
  named "$dir/library.trace" then-replaced "@(other_hidden|0x*) *"
  if [ $id = sha1 ]; then named "$dir/library.trace" file-replaced "one.so.copy!0x* *"; fi
done

# Damaged files. The program runs; the names are right, or those of a stripped program.
sections=$(readelf -h "$dir/pie" | sed -n 's/.*Start of section headers: *\([0-9]*\).*/\1/p')
size=$(stat -c %s "$dir/pie")
RANDOM=17
for ((i = 0; i < 40; i++)); do
  cp "$dir/pie" "$dir/damaged"
  for ((n = 0; n <= i % 8; n++)); do
    place=$((i % 2 ? sections + RANDOM * 32768 % (size - sections) : sections + RANDOM % (size - sections)))
    printf "\\x$(printf %x $((RANDOM % 256)))" | dd of="$dir/damaged" bs=1 seek=$place conv=notrunc status=none
  done
  case $i in
    5) truncate -s $((sections + 100)) "$dir/damaged" ;;
    6) truncate -s "$sections" "$dir/damaged" ;;
    7) printf '\377\377' | dd of="$dir/damaged" bs=1 seek=60 conv=notrunc status=none ;; # e_shnum
    8) printf '\377\377\377\377\377\377\377\177' | dd of="$dir/damaged" bs=1 seek=40 conv=notrunc status=none ;; # e_shoff
  esac
  run "$dir/damaged" "$dir/damaged.trace" none none
  grep -q . <<<"$(at "$dir/damaged.trace" hidden)" || fail "damaged: no function"
done

# gotrace symbolize: a C++ program with inlined functions, called from the innermost one.
cat >"$dir/inlined.cc" <<'C'
#include <cstdlib>
#include <cstring>
#include "gotrace.h"
namespace words {
template <class T> struct Counter {
  static inline __attribute__((always_inline)) void inner(T x) {
    gotrace_log_at(nullptr, GOTRACE_NO_TASK, "at", "here"); // inner
    __asm__ volatile("" : : "r"(x));
  }
  static inline __attribute__((always_inline)) void middle(T x) {
    inner(x + 1); // middle
  }
  static __attribute__((noinline)) void count(T x) {
    middle(x); // count
    __asm__ volatile("");
  }
};
}
static uintptr_t inside;
static int give(void *, uintptr_t *pcs, int) {
  pcs[0] = reinterpret_cast<uintptr_t>(&words::Counter<int>::count) + 1;
  pcs[1] = inside;
  return 2;
}
int main(int argc, char **argv) {
  gotrace_options options;
  memset(&options, 0, sizeof options);
  options.format = static_cast<gotrace_format>(atoi(argv[2]));
  options.stacks = GOTRACE_STACKS_UNWIND;
  options.unwind = give;
  inside = static_cast<uintptr_t>(strtoull(argv[3], nullptr, 16)) + reinterpret_cast<uintptr_t>(&main);
  if (gotrace_start_file(argv[1], &options) != GOTRACE_OK) return 1;
  words::Counter<int>::count(argc);
  gotrace_stop();
}
C
build_inlined() { # build_inlined NAME FLAG...
  local name=$1
  shift
  c++ -std=c++11 -O2 -g -fno-omit-frame-pointer "$@" -I. "$dir/inlined.cc" build/tests/quick/gotrace.a -o "$dir/$name" -pthread
}
line() { grep -n "// $1\$" "$dir/inlined.cc" | cut -d : -f 1; }
# The frames of the log's stack: function, file and line.
frames() {
  "$tool" dump "$1" | awk '
    /^[0-9]/ { on = /UserLog/ }
    on && /^        [0-9a-f]+ / { sub(/^ *[0-9a-f]+ /, ""); print }'
}
build_inlined inlined
# The return address of the call in `inner`, relative to main.
function=$(nm "$dir/inlined" | sed -n 's/^\([0-9a-f]*\) W .*Counter.*count.*/\1/p')
main=$(nm "$dir/inlined" | sed -n 's/^\([0-9a-f]*\) T main$/\1/p')
call=$(objdump -d "$dir/inlined" --start-address=0x"$function" | awk '/gotrace_log_at/ && /call|bl/ { on = 1; next } on { sub(":", "", $1); print $1; exit }' || true)
offset=$(printf %x $((0x$call - 0x$main)))
mkdir "$dir/binutils" "$dir/none"
for program in addr2line c++filt; do ln -s "$(command -v $program)" "$dir/binutils/"; done
ways=("$dir/binutils")
if command -v llvm-symbolizer >/dev/null; then ways+=("$PATH"); fi
for format in 1011 1021 1022 1023 1026; do
  for path in "${ways[@]}"; do
    "$dir/inlined" "$dir/inlined.trace" $format "$offset"
    PATH=$path "$tool" symbolize -o "$dir/lines.trace" "$dir/inlined.trace" 2>"$dir/err" || fail "$(cat "$dir/err")"
    "$tool" check "$dir/lines.trace" >"$dir/out2" || fail "$(cat "$dir/out2")"
    frames "$dir/lines.trace" >"$dir/frames"
    sed 1d "$dir/frames" >"$dir/callers"
    diff "$dir/callers" - <<C || fail "$format with $path: wrong frames: $(cat "$dir/frames" "$dir/err")"
words::Counter<int>::inner(int) $dir/inlined.cc:$(line inner)
words::Counter<int>::middle(int) $dir/inlined.cc:$(line middle)
words::Counter<int>::count(int) $dir/inlined.cc:$(line count)
C
    grep -q '^words::Counter<int>::count(int) .*inlined.cc:' "$dir/frames" || fail "$format: $(cat "$dir/frames")"
    PATH=$path "$tool" symbolize -o "$dir/again.trace" "$dir/lines.trace" 2>"$dir/err"
    cmp "$dir/lines.trace" "$dir/again.trace" || fail "$format: not the same when repeated"
    cp "$dir/lines.trace" "$dir/lines-$format.trace"
  done
  # Everything but the frames is unchanged.
  for trace in inlined lines; do "$tool" dump "$dir/$trace.trace" | grep -v '^   *[0-9a-f]* ' >"$dir/$trace.events"; done
  cmp "$dir/inlined.events" "$dir/lines.events" || fail "$format: events differ"
done

# The message names a rebuilt program, which is rejected. C++ names are still demangled.
build_inlined inlined -DREBUILT -O1
"$tool" symbolize -o "$dir/lines.trace" "$dir/inlined.trace" 2>"$dir/err"
grep -q "^gotrace: .*$dir/inlined is not the file that was traced" "$dir/err" || fail "not refused: $(cat "$dir/err")"
frames "$dir/lines.trace" | grep -q "^words::Counter<int>::count(int) $dir/inlined:0" || fail "$(frames "$dir/lines.trace")"
if frames "$dir/lines.trace" | grep inlined.cc; then fail "lines of a rebuilt program"; fi
rm "$dir/inlined"
"$tool" symbolize -o "$dir/lines.trace" "$dir/inlined.trace" 2>"$dir/err"
grep -q "$dir/inlined: No such file" "$dir/err" || fail "not told: $(cat "$dir/err")"
PATH=$dir/none "$tool" symbolize "$dir/inlined.trace" 2>"$dir/err" >"$dir/same.trace"
grep -q "neither llvm-symbolizer nor addr2line" "$dir/err" || fail "not told: $(cat "$dir/err")"
frames "$dir/same.trace" | grep -q "^words::Counter<int>::count(int) $dir/inlined:0" || fail "$(frames "$dir/same.trace")"
# Names of C++ and of Rust, old and new, by each demangler; the library of C++ knows all but the new ones of Rust.
cat >"$dir/mangled.py" <<'END'
import json, subprocess, sys
sys.path.insert(0, "tests/tool")
from made_trace import *
tool, file, with_new = sys.argv[1:]
def rust(*parts):
    return "_ZN" + "".join("%d%s" % (len(part), part) for part in (*parts, "h0123456789abcdef")) + "E"
NAMES = {"_ZN3foo3barEiPKc": "foo::bar(int, char const*)", rust("core", "ptr", "drop_in_place"): "core::ptr::drop_in_place",
         rust("_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$", "drop"): "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
         "_Z3putNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES4_": "put(std::string, std::string)",
         rust("app", "run", "_$u7b$$u7b$closure$u7d$$u7d$"): "app::run::{{closure}}", "_Znope": "_Znope", "plain": "plain",
         "_ZN3foo4onceEv.llvm.12345": "foo::once()"}
if int(with_new):
    NAMES["_RNvC6_123foo3bar"] = "123foo::bar"
t = Trace()
t.event(1, 0, PROC_STATUS, 1, 1)
t.event(1, 1, GO_STATUS, 1, 1, RUNNING)
for i, name in enumerate(NAMES):
    t.event(1, 10 + i, LOG, 0, t.string("key"), t.string("value"), t.stack(name))
open(file, "wb").write(t.data())
subprocess.run([tool, "symbolize", "-o", file, file], check=True, stderr=subprocess.DEVNULL)
dump = subprocess.run([tool, "dump", file], check=True, stdout=subprocess.PIPE).stdout.decode()
got = [line.split(None, 1)[1].rsplit(" ", 1)[0].replace("[0]", "") for line in dump.splitlines() if line.startswith("        ")]
assert got == list(NAMES.values()), got
# Stacks tell which functions of a program without symbols are _start and main, also where they are seen alone.
inner, start = "__libc_start_call_main", "__libc_start_main@GLIBC_2.34"
STACKS = {("sort!0x37d0",): ["main"], ("work", "sort!0x37d0", inner, start, "sort!0x6560"): ["work", "main", inner, start, "_start"],
          ("work", "tar!0x10", "libc.so.6!0x20", start, "tar!0x30"): ["work", "main", "libc.so.6!0x20", start, "_start"],
          ("work", "old!0x10", "__libc_start_main", "old!0x20"): ["work", "main", "__libc_start_main", "_start"],
          ("work", "far+0x10", inner, start, "far+0x20"): ["work", "far+0x10", inner, start, "far+0x20"],
          ("work", "run", inner, start, "begin"): ["work", "run", inner, start, "begin"], (start, "sort!0x99"): [start, "_start"]}
libraries = {name: "/lib/libc.so.6" for name in (inner, start, "__libc_start_main", "libc.so.6!0x20")}
other = {"sort!0x37d0": "/opt/sort"}  # another program of that name
trace = Generations()
for number, (files, stacks) in enumerate(((libraries, STACKS), (other, [("sort!0x37d0",)]))):
    t, at = Trace(), 1000 * number
    t.files = files
    t.event(1, at, PROC_STATUS, 1, 1)
    t.event(1, at + 1, GO_STATUS, 1, 1, RUNNING)
    for i, stack in enumerate(stacks):
        t.event(1, at + 10 + i, LOG, 0, t.string("key"), t.string("value"), t.stack(*stack))
    trace.append(t)
open(file, "wb").write(trace.data())
subprocess.run([tool, "symbolize", "-o", file, file], check=True, stderr=subprocess.DEVNULL)
events = map(json.loads, subprocess.run([tool, "dump", "--json", file], check=True, stdout=subprocess.PIPE).stdout.splitlines())
got = [[frame["function"] for frame in event["args"]["stack"]] for event in events if event["event"] == "UserLog"]
assert got == [*STACKS.values(), ["sort!0x37d0"]], got
END
python=$(python3 -c 'import sys; print(sys.executable)')
for path in "${ways[@]}" "$dir/none"; do
  PATH=$path "$python" "$dir/mangled.py" "$tool" "$dir/mangled.trace" "$([ "$path" = "$dir/none" ] && echo 0 || echo 1)" || fail "names, with $path"
done
# A file without a build id is compared by its addresses; a library and a stripped program in one trace.
"$tool" symbolize -o "$dir/library.lines" "$dir/library.trace" 2>"$dir/err"
grep -q 'program.c:' <<<"$("$tool" dump "$dir/library.lines")" || fail "no lines: $(cat "$dir/err")"
# A damaged trace is rejected, and no output is left.
head -c 200 "$dir/pie.trace" >"$dir/cut.trace"
! "$tool" symbolize -o "$dir/cut.out" "$dir/cut.trace" 2>"$dir/err" || fail "a truncated trace was accepted"
[ ! -e "$dir/cut.out" ] || fail "left behind"

# Go opens them.
for trace in pie library stripped lines-1011 lines-1021 lines-1022 lines-1023 lines-1026; do
  status=0
  tests/go/open_in_go.sh "$dir/$trace.trace" -n >"$dir/go" 2>&1 || status=$?
  [ $status = 0 ] || [ $status = 77 ] || fail "$trace: $(head -c 1000 "$dir/go")"
done
echo "all named"
