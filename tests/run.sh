#!/usr/bin/env bash
# Runs tests and counts them.
#
#     tests/run.sh [-j N] [-o WORD] [GROUP...]
#
# Groups: unit (tests/test_*.c in every configuration), compile (the header in every language, standard and compiler),
# go (traces opened by Go), decode (traces of Go, decoded), all these if none is named; pages (the pages of `go tool trace`),
# fuzz-replay.
# -j N runs N tests at a time (default: one a processor); -o WORD runs only the tests whose line contains WORD.
#
# A test is a command. It passed if its exit status is 0; was skipped if it is 77, when its last line says what is missing;
# else it failed, and its output is shown. The last line is `N passed, N failed, N skipped`.
#
# For a C test: it runs in the repository's root; GOTRACE_TEST_DIR names an empty directory of its own; every *.trace that
# it leaves there is then opened by every Go release that knows its format (in configurations other than the first by the
# newest such release), and compared with the counts in the file
# *.kinds and the lines in the file *.expect of the same name, if there are such (see check_trace.py). A file
# *.parse-only beside it spares it the viewers, a file *.killed tells that the trace is cut off (see open_trace.sh).
# GOTRACE_TEST_SCALE is a divisor for the amount of work: 1, or more where the configuration is slow.
set -euo pipefail
cd "$(dirname "$0")/.."

# ----------------------------------------------------------------------------------------------------------- tests ----

configurations="default clang address thread seq_cst monotonic valgrind windows"
# What is not tried on Windows: what is made of POSIX (fork, signals, pipes, limits of a process); stacks of threads by
# frame pointers, which it does not have; and what is about Go's sources alone.
not_on_windows="test_allocation_failure test_event_spec test_events test_events_v2 test_fork test_killed test_readers
  test_sandbox test_signals test_sinks test_stacks test_write_failure"

list_unit() {
  local test name configuration
  for test in tests/test_*.c; do
    [ -e "$test" ] || continue
    name=$(basename "$test" .c)
    for configuration in $configurations; do
      [ $configuration != windows ] || ! grep -qw "$name" <<<"$not_on_windows" || continue
      echo "$name ($configuration)|tests/run.sh --unit $name $configuration"
    done
  done
  echo "windows_fibers (windows)|tests/run.sh --unit windows_fibers windows"
}

list_compile() {
  local line
  echo "check_contents|tests/check_contents.sh"
  echo "the tracer in a library|tests/test_library.sh"
  tests/compile_matrix.sh --list | while read -r line; do echo "compile $line|tests/compile_matrix.sh $line"; done
}

list_go() {
  local release example format
  for release in 1.15 1.19 1.21 1.22 1.24 1.27; do
    echo "check_trace by Go $release|tests/check_trace_self.sh $release"
  done
  echo "1.11 and 1.23 tell the same story|tests/same_story.py"
  tests/go_opens_it.sh --list | while read -r example format release; do
    echo "$example $format by Go $release|tests/go_opens_it.sh $example $format $release"
  done
}

list_decode() {
  local release
  echo "the command-line tool|tests/test_tool.sh"
  for release in canned 1.15 1.19 1.21 1.22 1.24 1.25 1.27; do echo "decoder and Go, traces $release|tests/decode_like_go.sh $release"; done
}

list_pages() {
  local release format options
  while read -r release format options; do
    echo "pages of Go $release, format $format|tests/pages.py $release $format $options"
  done <<<'1.19 1.11
1.27 1.11 -p
1.22 1.22 -p
1.23 1.23 -p
1.24 1.22 -p
1.25 1.25 -p
1.26 1.26 -p
1.27 1.23'
}

list_fuzz-replay() {
  local target
  for target in fuzz/*.c; do
    [ -e "$target" ] && [ "$target" != fuzz/replay.c ] || continue
    target=$(basename "$target" .c)
    echo "replay $target|make -s fuzz-replay-$target"
  done
}

needs() { command -v "$1" >/dev/null || { echo "needs $2 (make deps)"; exit 77; }; }

# tests/run.sh --unit TEST CONFIGURATION: builds and runs a C test, opens the traces that it leaves.
unit() {
  local test=$1 configuration=$2 build=$2 suffix='' scale=1 run=() dir trace status beside
  case $configuration in
    clang)
      needs clang clang
      scale=3
      ;;
    monotonic) scale=3 ;;
    thread) # its shadow memory does not bear with every layout of the address space
      scale=10
      setarch "$(uname -m)" -R true 2>/dev/null && run=(setarch "$(uname -m)" -R)
      ;;
    address) scale=4 ;;
    windows)
      needs x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
      suffix=.exe scale=10 run=(tests/wine.sh)
      ;;
    valgrind)
      needs valgrind valgrind
      build=default scale=50
      run=(valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,possible
        --errors-for-leak-kinds=definite,possible --fair-sched=yes)
      ;;
  esac
  make -s "build/tests/$build/$test$suffix"
  dir=build/run/$configuration/$test
  rm -rf "$dir" && mkdir -p "$dir"
  export GOTRACE_TEST_DIR=$PWD/$dir GOTRACE_TEST_SCALE=$scale
  export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1
  export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
  status=0
  timeout 900 ${run[@]+"${run[@]}"} "build/tests/$build/$test$suffix" || status=$?
  if [ $status != 0 ]; then
    [ $status = 77 ] || echo "exit status $status"
    return $status
  fi
  for trace in "$dir"/*.trace; do
    [ -e "$trace" ] || continue
    beside=()
    if [ -e "${trace%.trace}.killed" ]; then
      tests/open_trace.sh --killed "$trace" >"$dir/opened" 2>&1 || {
        status=$?
        [ $status = 77 ] || { cat "$dir/opened"; return $status; }
      }
      continue
    fi
    [ -e "${trace%.trace}.parse-only" ] && beside+=(-p)
    [ "$configuration" = default ] || beside+=(-n)
    [ -e "${trace%.trace}.kinds" ] && beside+=(-k "${trace%.trace}.kinds")
    [ -e "${trace%.trace}.expect" ] && beside+=(-e "${trace%.trace}.expect")
    [ -e "${trace%.trace}.until" ] && beside+=(-u "$(cat "${trace%.trace}.until")")
    tests/open_trace.sh "$trace" ${beside[@]+"${beside[@]}"} >"$dir/opened" || {
      status=$?
      if [ $status != 77 ]; then
        cat "$dir/opened"
        return $status
      fi
    }
  done
}

if [ "${1-}" = --unit ]; then
  unit "$2" "$3"
  exit
fi

# --------------------------------------------------------------------------------------------------------- running ----

jobs=$(nproc 2>/dev/null || echo 1) only=''
while getopts j:o: option; do
  case $option in
    j) jobs=$OPTARG ;;
    o) only=$OPTARG ;;
    *) sed -n '2,17s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- unit compile go decode

state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
trap 'exit 130' INT TERM

# Runs one test in the background and prints its line; the lock keeps the outputs of tests apart.
run_one() {
  local name=$1 command=$2 out status=0 began=$SECONDS took
  out=$(mktemp -p "$state")
  $command </dev/null >"$out" 2>&1 || status=$?
  took=$((SECONDS - began))
  exec 9>"$state/lock"
  flock 9
  case $status in
    0) echo "ok $name, $took s" ;;
    77) echo "skipped $name: $(tail -n 1 "$out")" ;;
    *)
      echo "FAILED $name (status $status, $took s), its output:"
      tail -c 20000 "$out" | sed 's/^/    /'
      ;;
  esac
  echo $status >>"$state/results"
  rm -f "$out"
}

touch "$state/results"
for group in "$@"; do
  declare -F "list_$group" >/dev/null || { echo "run.sh: no group is called $group" >&2; exit 2; }
  "list_$group"
done >"$state/list"
# What several tests use is built before, not by two of them at once.
if grep -q 'tests/go_opens_it\|tests/pages\|tests/test_tool\|tests/decode' "$state/list"; then make -s -k examples || true; fi
if grep -q 'tests/decode' "$state/list"; then make -s build/tests/address/print_like_go || true; fi

running=0
while IFS='|' read -r name command <&8; do
  [[ $name = *"$only"* ]] || continue
  if [ $running -ge "$jobs" ]; then wait -n || true; running=$((running - 1)); fi
  run_one "$name" "$command" 8<&- &
  running=$((running + 1))
done 8<"$state/list"
wait

passed=$(grep -cx 0 "$state/results" || true)
skipped=$(grep -cx 77 "$state/results" || true)
failed=$(($(wc -l <"$state/results") - passed - skipped))
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $((passed + skipped)) -gt 0 ]
