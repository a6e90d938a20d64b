#!/usr/bin/env bash
# Each way to install the header, the library and the tool, and to use them in a project: examples/packaging. The
# projects are made from a fresh clone of the tree.
#
#     tests/compile/test_packages.sh [PART...]      default: all parts
#     tests/compile/test_packages.sh --list         lists the parts
set -euo pipefail
cd "$(dirname "$0")/../.."
parts='install library cmake meson rust python debian'
if [ "${1-}" = --list ]; then
  tr ' ' '\n' <<<"$parts"
  exit
fi

tool=$PWD/build/examples/gotrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/expect.sh
version=$(sed -n 's/^.define GOTRACE_VERSION "\(.*\)"/\1/p' gotrace.h)
abi=${version%.*}

# quietly COMMAND...: its output is shown only if it fails.
quietly() { nice -n 5 "$@" >"$dir/log" 2>&1 </dev/null || { tail -n 30 "$dir/log"; fail "failed: $*"; }; }

# says_hello TRACE: it is the trace of a program that says hello.
says_hello() {
  expect 0 check "$1"
  expect 0 dump "$1"
  grep -q 'UserRegionBegin .*name_string="greet"' "$dir/out" || fail "$1 lacks the region"
  grep -q 'UserLog .*value_string="hello, world"' "$dir/out" || fail "$1 lacks the message"
}

# runs PROGRAM ARGUMENT...: it writes hello.trace.
runs() {
  rm -f "$dir/hello.trace"
  (cd "$dir" && "$@") || fail "failed: $*"
  says_hello "$dir/hello.trace"
}

# A clone with what is not committed yet. FetchContent and Meson clone it in turn, so it is committed there.
fresh_clone() {
  clone=$dir/clone
  [ ! -d "$clone" ] || return 0
  git rev-parse --git-dir >/dev/null 2>&1 || { echo 'needs the git repository'; exit 77; }
  quietly git clone -q . "$clone"
  git ls-files -z --deleted | (cd "$clone" && xargs -0 -r rm -f)
  git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$clone"
  git -C "$clone" add -A
  git -C "$clone" -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m 'The tree as it is'
}

# The first program of the README; and the same program, to be linked with the library.
programs() {
  cp examples/hello.c "$1/contains.c"
  sed '/GOTRACE_IMPLEMENTATION/d' examples/hello.c >"$1/linked.c"
}

# The header and the library in a PREFIX with a LIBDIR, from a clone. Its name has a space.
install_library() {
  fresh_clone
  prefix="$dir/the prefix"
  [ -d "$prefix" ] || quietly make -C "$clone" install-library PREFIX="$prefix" LIBDIR="$prefix/lib/there"
}

# Everything, below DESTDIR: the installed files work, and uninstalling leaves nothing.
part_install() {
  local root=$dir/root spaces="$dir/the root"
  quietly make install-header CC=false DESTDIR="$spaces" PREFIX='/the opt'
  (cd "$spaces/the opt" && find . -type f | sort) >"$dir/installed"
  diff - "$dir/installed" <<'FILES' || fail "make install-header installs other files"
./include/gotrace.h
./include/gotrace_unwind.h
./share/cmake/gotrace/gotrace-config-version.cmake
./share/cmake/gotrace/gotrace-config.cmake
./share/doc/gotrace/CHANGES.md
./share/doc/gotrace/LICENSE
./share/pkgconfig/gotrace.pc
FILES
  touch "$dir/the" # the first word of what uninstalling removes
  quietly make uninstall DESTDIR="$spaces" PREFIX='/the opt'
  [ -z "$(find "$spaces" -type f)" ] || fail "make uninstall leaves $(find "$spaces" -type f)"
  [ -e "$dir/the" ] || fail 'make uninstall removes a file that make install has not made'
  if make install-header DESTDIR="$root" PREFIX=opt >"$dir/log" 2>&1; then fail 'make install takes a relative PREFIX'; fi
  grep -q 'must be absolute paths' "$dir/log" || fail "make install with a relative PREFIX: $(cat "$dir/log")"

  quietly make install DESTDIR="$root" PREFIX=/opt LIBDIR=/opt/lib/there
  local page # only where its compiler is
  page=$("$tool" help --page 2>/dev/null | wc -l | grep -vx 0) || true
  (cd "$root/opt" && find . '(' -type f -o -type l ')' ! -name '*-musl.so' | LC_ALL=C sort) >"$dir/installed"
  diff - "$dir/installed" <<FILES || fail "make install installs other files"
./bin/gotrace
./include/gotrace.h
$(find examples/adapters -type f ! -name '*.md' | sed 's,.*/,./include/gotrace/,' | LC_ALL=C sort)
./include/gotrace_unwind.h
./lib/gotrace/libgotrace-record.so
./lib/there/libgotrace.a
./lib/there/libgotrace.so
./lib/there/libgotrace.so.$abi
./lib/there/pkgconfig/libgotrace.pc
./share/bash-completion/completions/gotrace
./share/cmake/gotrace/gotrace-config-version.cmake
./share/cmake/gotrace/gotrace-config.cmake
./share/doc/gotrace/CHANGES.md
./share/doc/gotrace/LICENSE
./share/fish/vendor_completions.d/gotrace.fish
${page:+./share/gotrace/gotrace-view.html
}./share/man/man1/gotrace.1
./share/pkgconfig/gotrace.pc
./share/zsh/site-functions/_gotrace
FILES
  cmp LICENSE "$root/opt/share/doc/gotrace/LICENSE"
  "$tool" help --man | cmp - "$root/opt/share/man/man1/gotrace.1"
  [ ! "$page" ] || "$tool" help --page | cmp - "$root/opt/share/gotrace/gotrace-view.html"
  "$tool" help --bash | cmp - "$root/opt/share/bash-completion/completions/gotrace"
  (cd "$dir" && "$root/opt/bin/gotrace" record --no-symbolize -q -o recorded.trace sleep 0.01) || fail "the installed gotrace record"
  "$root/opt/bin/gotrace" check "$dir/recorded.trace" >/dev/null || fail "the installed gotrace records no trace"
  quietly make uninstall DESTDIR="$root" PREFIX=/opt LIBDIR=/opt/lib/there
  [ -z "$(find "$root" -type f -o -type l -o -name gotrace)" ] || fail "make uninstall leaves $(find "$root" -type f -o -type l -o -name gotrace)"
  quietly make uninstall DESTDIR="$root" PREFIX=/opt LIBDIR=/opt/lib/there
}

# The library exports what the header declares. Programs that contain it, or are linked with it, are built by pkg-config.
part_library() {
  local flags=() library
  tests/need.sh pkg-config
  install_library
  library=$prefix/lib/there/libgotrace.so.$abi
  readelf -d "$library" | grep -q "SONAME.*\[libgotrace.so.$abi\]" || fail "$(readelf -d "$library" | grep SONAME)"
  [ "$(readlink "$prefix/lib/there/libgotrace.so")" = "libgotrace.so.$abi" ] || fail "libgotrace.so is no link to it"
  # gotrace__other_copies: by which copies of the tracer find each other.
  { echo '#include "gotrace.h"' | ${CC:-cc} -E -P -DGOTRACE_API=EXPORTED -DGOTRACE_CALL_SITES=0 -I. -x c - |
      sed -nE 's/.*EXPORTED [^(;]*\b(gotrace_\w+)[(;].*/\1/p'; echo gotrace__other_copies; } | LC_ALL=C sort >"$dir/declared"
  # GNU ld lists the ends of the section gotrace_calls too, which are hidden.
  readelf -W --dyn-syms "$library" | awk '$1 ~ /^[0-9]+:$/ && $7 != "UND" && $6 != "HIDDEN" { print $8 }' | LC_ALL=C sort >"$dir/exported"
  [ "$(wc -l <"$dir/declared")" -gt 100 ] || fail "few declarations found: $(cat "$dir/declared")"
  diff "$dir/declared" "$dir/exported" || fail "< declared, > exported"

  export PKG_CONFIG_PATH=$prefix/share/pkgconfig:$prefix/lib/there/pkgconfig LD_LIBRARY_PATH=$prefix/lib/there
  programs "$dir"
  [ "$(pkg-config --modversion gotrace libgotrace)" = "$version"$'\n'"$version" ] || fail "versions of gotrace.pc and libgotrace.pc"
  eval "flags=($(pkg-config --cflags --libs gotrace))" # it quotes the space in the prefix
  # shellcheck disable=SC2086
  quietly ${CC:-cc} "$dir/contains.c" "${flags[@]}" -o "$dir/contains"
  runs "$dir/contains"
  eval "flags=($(pkg-config --cflags --libs libgotrace))"
  # shellcheck disable=SC2086
  quietly ${CC:-cc} "$dir/linked.c" "${flags[@]}" -o "$dir/linked"
  readelf -d "$dir/linked" | grep -q "NEEDED.*libgotrace.so.$abi" || fail "the program is not linked with the shared library"
  runs "$dir/linked"
  eval "flags=($(pkg-config --static --cflags --libs libgotrace))"
  # shellcheck disable=SC2086
  quietly ${CC:-cc} "$dir/linked.c" "${flags[@]/#-lgotrace/-l:libgotrace.a}" -o "$dir/linked"
  unset LD_LIBRARY_PATH
  runs "$dir/linked"
}

part_cmake() {
  local way
  tests/need.sh cmake
  install_library
  mkdir -p "$dir/cmake"
  programs "$dir/cmake"
  cat >"$dir/cmake/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(user C)
if(WAY STREQUAL find_package)
  find_package(gotrace 0.1 QUIET)
  if(gotrace_FOUND)
    message(FATAL_ERROR "accepted in place of 0.1")
  endif()
  find_package(gotrace ${VERSION} REQUIRED COMPONENTS lib)
elseif(WAY STREQUAL add_subdirectory)
  add_subdirectory(${CLONE}/examples/packaging gotrace)
else()
  include(FetchContent)
  FetchContent_Declare(gotrace GIT_REPOSITORY ${CLONE} GIT_TAG ${COMMIT} SOURCE_SUBDIR examples/packaging)
  FetchContent_MakeAvailable(gotrace)
endif()
add_executable(contains contains.c)
target_link_libraries(contains gotrace::gotrace)
add_executable(linked linked.c)
target_link_libraries(linked gotrace::lib)
if(NOT WAY STREQUAL find_package) # a library that is installed together with what it is linked with
  add_library(user linked.c)
  target_link_libraries(user gotrace::lib)
  install(TARGETS user gotrace gotrace_lib EXPORT user)
  install(EXPORT user DESTINATION lib)
endif()
CMAKE
  for way in find_package add_subdirectory FetchContent FetchContent-shared; do
    quietly cmake -S "$dir/cmake" -B "$dir/cmake/$way" "-DWAY=${way%-shared}" "-DCLONE=$clone" "-DVERSION=$version" \
      "-DCOMMIT=$(git -C "$clone" rev-parse HEAD)" "-DCMAKE_PREFIX_PATH=$prefix" \
      "-DBUILD_SHARED_LIBS=$([[ $way != *-shared ]] || echo ON)"
    quietly cmake --build "$dir/cmake/$way"
    runs "$dir/cmake/$way/contains"
    runs "$dir/cmake/$way/linked"
  done
  # Without the library, only the header is found.
  quietly make -C "$clone" install-header PREFIX="$dir/other"
  if cmake -S "$dir/cmake" -B "$dir/cmake/none" -DWAY=find_package "-DVERSION=$version" "-DCMAKE_PREFIX_PATH=$dir/other" >"$dir/log" 2>&1; then
    fail "find_package finds a library that is not installed"
  fi
  grep -q 'component lib is not installed' "$dir/log" || { cat "$dir/log"; fail "find_package says something else"; }
}

part_meson() {
  local way options
  tests/need.sh meson
  tests/need.sh ninja
  tests/need.sh pkg-config
  install_library
  mkdir -p "$dir/meson"
  programs "$dir/meson"
  cp -r examples/packaging/meson "$dir/meson/subprojects"
  sed -i "s,^url = .*,url = file://$clone," "$dir/meson/subprojects/gotrace.wrap"
  cat >"$dir/meson/meson.build" <<MESON
project('user', 'c', default_options: ['c_std=c11'])
executable('contains', 'contains.c', dependencies: dependency('gotrace', version: '$version'))
executable('linked', 'linked.c', dependencies: dependency('libgotrace', version: '$version'))
MESON
  for way in installed subproject subproject-static; do
    options=()
    case $way in
      subproject) options=(--force-fallback-for=gotrace,libgotrace) ;;
      subproject-static) options=(--wrap-mode=forcefallback -Ddefault_library=static) ;;
    esac
    PKG_CONFIG_PATH=$prefix/share/pkgconfig:$prefix/lib/there/pkgconfig quietly meson setup ${options[@]+"${options[@]}"} \
      "$dir/meson/$way" "$dir/meson"
    quietly ninja -C "$dir/meson/$way"
    [ $way = installed ] || [ -d "$dir/meson/subprojects/gotrace" ] || fail "$way: Meson has not taken the subproject"
    runs "$dir/meson/$way/contains"
    runs "$dir/meson/$way/linked"
  done
}

part_rust() {
  tests/need.sh bindgen
  tests/need.sh rustc
  install_library
  quietly bindgen "$prefix/include/gotrace.h" -o "$dir/gotrace.rs" --allowlist-function 'gotrace_.*' -- -DGOTRACE_CALL_SITES=0
  cp examples/packaging/hello.rs "$dir"
  quietly rustc -D warnings "$dir/hello.rs" -l gotrace -L "$prefix/lib/there" -o "$dir/hello"
  LD_LIBRARY_PATH=$prefix/lib/there runs "$dir/hello" hello.trace
  grep -q 'main .*hello\.rs:' "$dir/out" || fail "the trace lacks the places of the calls"
}

part_python() {
  tests/need.sh python3
  install_library
  runs python3 "$PWD/examples/packaging/hello.py" "$prefix/lib/there/libgotrace.so.$abi" hello.trace
  grep -q 'main .*hello\.py:' "$dir/out" || fail "the trace lacks the places of the calls"
}

# The packages are built; lintian finds no error. The tool and the library in them work.
part_debian() {
  local program package
  for program in dpkg-buildpackage dh lintian pkg-config; do tests/need.sh $program; done
  fresh_clone
  mkdir -p "$dir/debian"
  cp -r "$clone" "$dir/debian/gotrace"
  (
    cd "$dir/debian/gotrace"
    mv examples/packaging/debian .
    dpkg-checkbuilddeps >"$dir/log" 2>&1 || { sed 's/.*: /needs /; s/$/ (make deps)/' "$dir/log"; exit 77; }
    quietly dpkg-buildpackage -us -uc
    quietly lintian --allow-root --fail-on error --suppress-tags bad-distribution-in-changes-file ../gotrace_*.changes
    grep -q . "$dir/log" && cat "$dir/log"
    exit 0
  )
  for package in "$dir"/debian/*.deb; do dpkg-deb -x "$package" "$dir/system"; done
  (cd "$dir" && system/usr/bin/gotrace record --no-symbolize -q -o recorded.trace sleep 0.01) || fail "the package's gotrace record"
  expect 0 check "$dir/recorded.trace"
  programs "$dir"
  export PKG_CONFIG_SYSROOT_DIR=$dir/system PKG_CONFIG_PATH
  PKG_CONFIG_PATH=$(find "$dir/system" -name pkgconfig | paste -sd :)
  # shellcheck disable=SC2046
  quietly ${CC:-cc} "$dir/linked.c" -I"$dir/system/usr/include" $(pkg-config --cflags --libs libgotrace) -o "$dir/linked"
  LD_LIBRARY_PATH=$(dirname "$(find "$dir/system" -name "libgotrace.so.$abi")") runs "$dir/linked"
}

# shellcheck disable=SC2068
for part in ${@:-$parts}; do
  [[ " $parts " = *" $part "* ]] || fail "no part is called $part"
  ("part_$part") # a part may change the environment
  echo "$part"
done
