#!/usr/bin/env bash
# Runs tests and counts them.
#
#     tests/run.sh [-j N] [-o WORD] [-l] [GROUP...]
#
# GROUP is one of those below; quick, for `make test` (the default); or rest, for `make check`: all tests that are not
# in quick. -j N runs N tests at a time (default: the number of processors plus one). -o WORD runs only the tests whose
# name contains WORD: without a GROUP those of quick, or those of rest if quick has none. -l lists the tests instead of
# running them.
#
# Groups: unit (tests/test_*.c in every useful configuration), compile (the header with every language, standard and
# compiler; tests/test_*.sh), go (traces opened by Go), decode (Go's traces, decoded), record (programs run by `gotrace
# record`), cases (tests/cases), fuzz-replay, fuzz, explore, sessions, adapters, pages (of `go tool trace`).
#
# A test is a command. Exit status 0 means passed; 77 means skipped, and its last line says what is missing; anything
# else means failed: its output is shown, and the end of it once more after all tests. Each name is followed by the
# elapsed seconds and the seconds of processor time, which is the better measure on a busy machine. The last line is
# `N passed, N failed, N skipped`.
#
# A C test (tests/test_*.c) runs in the root of the repository. GOTRACE_TEST_DIR is an empty directory for its files.
# Every *.trace that it leaves there is opened by every Go release that knows its format (in configurations other than
# default only by the newest), and compared with the counts in *.kinds and the lines in *.expect of the same
# name, if they exist (see check_trace.py). If a file *.parse-only exists, the viewers are skipped. A file *.killed
# means that the trace is truncated (see open_in_go.sh). GOTRACE_TEST_SCALE divides the amount of work: 1, or more in
# slow configurations.
set -euo pipefail
cd "$(dirname "$0")/.."

# Debian's programs come first: a version manager's wrapper around python3 can take half a second at each start.
export PATH=/usr/bin:$PATH

# ----------------------------------------------------------------------------------------------------------- tests ----

# Tests that do not run on Windows: those that use POSIX (fork, signals, pipes, limits of a process), most of which the
# pattern `posix` finds; those of stacks of threads by frame pointers, which Windows lacks; those that only read Go's
# sources.
not_on_windows="test_adopt test_environment test_allocation_failure test_event_spec test_events test_events_v2 test_readers test_mutexes test_sandbox
  test_sinks test_stacks test_waiting"
posix='sys/(wait|resource|mman|stat)\.h|sigaction|[^_]fork\(|pthread_cancel'

# The configurations that are useful for a test: those for races and memory orders if it starts threads, another clock
# if it leaves traces for Go. A line "Not in: CONFIGURATION..., CAUSE" in the test excludes some.
configurations_of() {
  local not
  not=$(sed -n 's/.*Not in: \([a-z_ ]*\)[.,;].*/\1/p' "tests/$1.c")
  {
    echo default clang address valgrind
    ! grep -q pthread_create "tests/$1.c" || echo thread seq_cst
    ! grep -q test_trace_path "tests/$1.c" || echo monotonic
    grep -qw "$1" <<<"$not_on_windows" || grep -qE "$posix" "tests/$1.c" || echo windows
  } | tr ' ' '\n' | grep -vxFf <(printf '%s\n' ${not:-none})
}

list_unit() {
  local test name configuration
  for test in tests/test_*.c; do
    [ -e "$test" ] || continue
    name=$(basename "$test" .c)
    for configuration in $(configurations_of "$name"); do
      echo "$name ($configuration)|tests/run.sh --unit $name $configuration"
    done
  done
  echo "windows_fibers (windows)|tests/run.sh --unit windows_fibers windows"
}

list_compile() {
  local line test
  echo "check_contents|tests/check_contents.sh"
  echo "forward_references|tests/forward_references.py"
  echo "format|tests/format.sh"
  echo "including and linking|tests/include.sh"
  for test in tests/test_*.sh; do
    [ $test = tests/test_tool.sh ] || [ $test = tests/test_record.sh ] || echo "$(basename "$test" .sh)|$test"
  done
  tests/compile_matrix.sh --list | while read -r line; do echo "compile $line|tests/compile_matrix.sh $line"; done
}

list_go() {
  local release example format
  for release in 1.15 1.19 1.21 1.22 1.24 1.27; do
    echo "check_trace by Go $release|tests/check_trace_self.sh $release"
  done
  echo "1.11 and 1.23 agree|tests/v1_agrees_with_v2.py"
  tests/example_opens_in_go.sh --list | while read -r example format release; do
    echo "$example $format by Go $release|tests/example_opens_in_go.sh $example $format $release"
  done
}

list_decode() {
  local release
  echo "the command-line tool|tests/test_tool.sh"
  echo "verdicts of the decoder and Go|tests/verdicts.py -n 3000 -s 2"
  echo "parts of Go's traces|tests/decode_go_traces.sh test_parts 100"
  echo "parts of changed traces|tests/decode_go_traces.sh -n test_parts 25000"
  echo "exports of Go's traces|tests/exports.sh"
  for release in canned 1.15 1.19 1.21 1.22 1.24 1.25 1.27; do
    echo "decoder and Go, traces $release|tests/decoder_agrees_with_go.sh $release"
  done
  for release in some canned examples 1.15 1.21 1.22 1.25 1.27; do
    echo "profiles and Go, traces $release|tests/profiles_agree_with_go.sh $release"
  done
  echo "profiles of parts|tests/profile_parts.py"
  for release in known canned examples 1.27; do echo "critical paths, $release traces|tests/path.py $release"; done
  echo "info and Go, the examples|tests/summary_agrees_with_go.sh examples"
}

list_cases() { # list_cases [RUNS]
  local source runs=${1:-10}
  for source in tests/cases/*.c; do
    source=$(basename "$source" .c)
    [ "$source" = case ] || echo "case $source|tests/cases.sh $runs $source"
  done
}

list_adapters() {
  tests/adapters.sh --list | sed 's/.*/adapter &|tests\/adapters.sh &/'
}

list_record() {
  local name
  for name in $(tests/test_record.sh --list); do echo "record $name|tests/test_record.sh $name"; done
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

fuzz_targets() { find fuzz -name '*.c' ! -name replay.c -exec basename {} .c \; | sort; }

list_fuzz-replay() { fuzz_targets | sed 's/.*/replay &|make -s fuzz-replay-&/'; }

list_fuzz() { fuzz_targets | sed 's/.*/fuzz &|make -s fuzz-run-& FUZZ_SECONDS=6/'; } # briefly

list_explore() { echo "the search through interleavings, quickly|make -s explore EXPLORE=--quick"; }

list_sessions() {
  echo "sessions under stress|tests/stress_sessions.sh 800"
  echo "sessions under stress (thread)|tests/stress_sessions.sh 300 thread"
}

all_groups="unit compile go decode record cases fuzz-replay fuzz explore sessions adapters pages"

# The tests that find most in the shortest time: each test once, in the configuration that is fastest to build, or with
# the sanitizers if that takes only a link; a sample of compilers, of the examples' traces opened by Go, and of other
# groups.
list_quick() {
  local test name configuration configurations
  # The longest first, so that none of them runs alone at the end.
  echo "decoder and Go, traces canned, few conversions|tests/decoder_agrees_with_go.sh -b canned"
  echo "the search through interleavings, briefly|make -s explore EXPLORE=--brief"
  echo "the command-line tool, some formats|env GOTRACE_TEST_FORMATS=1.8,1.23,1.25 tests/test_tool.sh"
  for test in tests/test_*.c; do
    [ -e "$test" ] || continue
    name=$(basename "$test" .c)
    if grep -q '^#define GOTRACE_IMPLEMENTATION' "$test"; then
      echo "$name (quick)|tests/run.sh --unit $name quick 10"
    else
      configurations=$(configurations_of "$name")
      # A failure without sanitizers also appears with the address sanitizer.
      grep -qx address <<<"$configurations" || echo "$name (quick)|tests/run.sh --unit $name quick 20"
      for configuration in $configurations; do
        case $configuration in address | thread) echo "$name ($configuration)|tests/run.sh --unit $name $configuration 40" ;; esac
      done
    fi
  done
  list_compile | grep -vE '^(compile|including) |^format\||^test_(unload|view)'
  echo "test_view, briefly|tests/test_view.sh -b"
  echo "test_unload, briefly|env GOTRACE_TEST_BRIEF=1 tests/test_unload.sh"
  list_compile | sed -nE 's/^compile ((gcc c11|clang c17|g\+\+ c\+\+14|clang\+\+ c\+\+2b|x86_64-w64-mingw32-gcc c99))\|.*/compile \1, briefly|tests\/compile_matrix.sh -b \1/p'
  list_go | grep -E '^check_trace by Go 1.27|^1.11 and|^scheduler|^(threads|hello|flight) .* 1.27\|'
  list_decode | grep -E '^(profiles and Go, traces some|profiles of parts|critical paths, known traces)[|]'
  echo "verdicts of the decoder and Go, briefly|tests/verdicts.py -n 300"
  list_record | grep -E '^record (waits|bad_use|children|flight|pigz|cpp)\|'
  list_cases 2
  list_fuzz-replay | grep -E 'decode|session' # the others' functions have tests of their own
  echo "sessions under stress, briefly|tests/stress_sessions.sh 300 quick"
  list_adapters | grep -E 'lua|coroutines'
}

list_rest() {
  local group
  for group in $all_groups; do "list_$group"; done | grep -vxFf <(list_quick)
}

needs() { command -v "$1" >/dev/null || { echo "needs $2 (make deps)"; exit 77; }; }

# tests/run.sh --unit TEST CONFIGURATION [SCALE]: builds and runs a C test and opens the traces that it leaves. With
# SCALE, only the newest release opens them, without the viewer.
unit() {
  local test=$1 configuration=$2 build=$2 suffix='' scale=1 run=() dir trace status beside
  case $configuration in
    quick) scale=2 ;;
    clang)
      needs clang clang
      scale=3
      ;;
    seq_cst | monotonic) scale=3 ;;
    thread) # its shadow memory does not fit every random layout of the address space
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
  mkdir -p "build/tests/$build"
  ( # one at a time: valgrind and default use the same program
    flock 9
    make -s "build/tests/$build/$test$suffix" 9>&-
  ) 9>"build/tests/$build/$test.lock"
  scale=${3:-$scale}
  dir=build/run/$configuration${3:+-quick}/$test
  rm -rf "$dir" && mkdir -p "$dir"
  export GOTRACE_TEST_DIR=$PWD/$dir GOTRACE_TEST_SCALE=$scale ${3:+GOTRACE_TEST_BRIEF=1}
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
      tests/open_in_go.sh --killed "$trace" >"$dir/opened" 2>&1 || {
        status=$?
        [ $status = 77 ] || { cat "$dir/opened"; return $status; }
      }
      continue
    fi
    if [ -e "${trace%.trace}.parse-only" ] || [ "${3-}" ]; then beside+=(-p); fi
    [ "$configuration${3-}" = default ] || beside+=(-n)
    [ -e "${trace%.trace}.kinds" ] && beside+=(-k "${trace%.trace}.kinds")
    [ -e "${trace%.trace}.expect" ] && beside+=(-e "${trace%.trace}.expect")
    [ -e "${trace%.trace}.until" ] && beside+=(-u "$(cat "${trace%.trace}.until")")
    tests/open_in_go.sh "$trace" ${beside[@]+"${beside[@]}"} >"$dir/opened" || {
      status=$?
      if [ $status != 77 ]; then
        cat "$dir/opened"
        return $status
      fi
    }
  done
}

if [ "${1-}" = --unit ]; then
  unit "${@:2}"
  exit
fi

# --------------------------------------------------------------------------------------------------------- running ----

jobs=$(($(nproc 2>/dev/null || echo 1) + 1)) only='' just_list='' # some tests mostly wait
while getopts j:o:l option; do
  case $option in
    j) jobs=$OPTARG ;;
    o) only=$OPTARG ;;
    l) just_list=1 ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))

# The tests of these groups whose names contain WORD.
chosen() {
  local group
  for group in "$@"; do
    declare -F "list_$group" >/dev/null || { echo "run.sh: no group is called $group" >&2; exit 2; }
    "list_$group"
  done | awk -F '|' -v word="$only" 'index($1, word)'
}

state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
trap 'exit 130' INT TERM

if [ $# -gt 0 ]; then
  chosen "$@" >"$state/list"
else
  chosen quick >"$state/list"
  [ -s "$state/list" ] || chosen rest >"$state/list"
fi
if [ "$just_list" ]; then
  cut -d '|' -f 1 "$state/list"
  exit
fi
[ -s "$state/list" ] || { echo "run.sh: no test's name contains '$only'" >&2; exit 2; }

# Runs one test and prints its line. The lock keeps the outputs of tests apart.
run_one() {
  local name=$1 command=$2 out status=0 took processor
  out=$(mktemp -p "$state")
  TIMEFORMAT='%0R %U %S'
  [[ ! $command =~ ^tests/[a-z0-9_]+\.py ]] || command="tests/need.sh python3 $command"
  { time $command </dev/null >"$out" 2>&1 9>&-; } 2>"$out.time" || status=$?
  read -r took processor < <(awk 'END { printf "%s %.1f\n", $1, $2 + $3 }' "$out.time")
  exec 9>"$state/lock"
  flock 9
  echo $status >>"$state/results"
  echo -n "[$(wc -l <"$state/results")/$total] "
  case $status in
    0) echo "ok $name, $took s, processor $processor s" ;;
    77) echo "skipped $name: $(tail -n 1 "$out")" ;;
    *)
      echo "FAILED $name (status $status, $took s), its output:"
      tail -c 20000 "$out" | sed 's/^/    /'
      { echo "FAILED $name (status $status), the end of its output:"; tail -n 15 "$out" | sed 's/^/    /'; } >>"$state/failed"
      ;;
  esac
  rm -f "$out" "$out.time"
}

touch "$state/results"
total=$(wc -l <"$state/list")
# Files that several tests use are built first, so that two tests do not build them at the same time.
shared=()
while read -r configuration; do
  case $configuration in
    valgrind) configuration=default ;;
    clang) command -v clang >/dev/null || continue ;;
    windows) command -v x86_64-w64-mingw32-gcc >/dev/null || continue ;;
  esac
  shared+=("build/tests/$configuration/gotrace.a")
done < <(sed -n 's/.*--unit [a-z0-9_]* \([a-z_]*\).*/\1/p' "$state/list" | sort -u)
uses() { grep -qE "[|].*($1)" "$state/list"; }
shared+=(build/examples/gotrace) # reads every trace that is opened in Go
if uses 'tests/example_opens_in_go|tests/pages|tests/test_tool|profiles_agree_with_go.sh examples|path.py examples|tests/summary|tests/test_selection'; then shared+=(examples); fi
if uses 'tests/example_opens_in_go|tests/test_tool|tests/check_trace_self|profiles_agree_with_go.sh examples|tests/summary|tests/test_selection'; then shared+=(build/tests/quick/hello_formats); fi
if uses 'tests/cases.sh'; then shared+=(build/cases/case.o); fi
if uses 'tests/decode'; then shared+=(build/tests/address/print_decoded); fi
if uses 'tests/cases.sh|tests/v1_agrees_with_v2|tests/adapters'; then shared+=(build/tests/quick/gotrace.a); fi
for configuration in '' ' quick' ' thread'; do
  if uses "tests/stress_sessions.sh [0-9]*$configuration\$"; then
    configuration=${configuration# }
    shared+=("build/tests/${configuration:-default}/stress_sessions")
  fi
done
tests/build.sh -j "$jobs" -k $(printf '%s\n' "${shared[@]}" | sort -u) || true
if make -q build/examples/gotrace; then export GOTRACE_TEST_TOOL=1; fi

running=0
while IFS='|' read -r name command <&8; do
  if [ $running -ge "$jobs" ]; then wait -n || true; running=$((running - 1)); fi
  run_one "$name" "$command" 8<&- &
  running=$((running + 1))
done 8<"$state/list"
wait

passed=$(grep -cx 0 "$state/results" || true)
skipped=$(grep -cx 77 "$state/results" || true)
failed=$(($(wc -l <"$state/results") - passed - skipped))
[ $failed = 0 ] || { echo; cat "$state/failed"; }
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $((passed + skipped)) -gt 0 ]
