#!/usr/bin/env bash
# Runs tests and counts them.
#
#     tests/run.sh [-j N] [-o WORD] [-l] [LEVEL...] [GROUP...]
#
# LEVEL is quick, for `make test`; check, for `make check`, what that leaves; or nightly, for `make nightly`, what both
# leave. Without a level, all tests of the GROUPs run; without anything, the quick ones. -j N runs N tests at a time
# (default: twice the number of processors). -o WORD runs only the tests whose name contains WORD; with nothing else,
# those of the first level that has any. -l lists the tests instead of running them.
#
# Groups: explore (interleavings), sessions (random ones), decode (Go's traces, decoded), fuzz, record (programs run by
# `gotrace record`), unit (tests/*/test_*.c in every useful configuration), compile (the header with every language,
# standard and compiler; tests/*/test_*.sh), pages (of `go tool trace` and of `gotrace view`), adapters, cases (tests/cases),
# go (traces opened by Go), demo (README's commands), load (many traces beside busy loops; measurements).
#
# A test is a command. Exit status 0 means passed; 77 means skipped, and its last line says what is missing, or it has
# failed; anything else means failed: its output is shown, with the command that repeats it, and the end of it once more
# after all tests. Each name is followed by the elapsed seconds and the seconds of processor time, which is the better
# measure on a busy machine; the end sums these up by group. The last line is `N passed, N failed, N skipped`.
#
# A C test (tests/*/test_*.c) runs in the root of the repository. GOTRACE_TEST_DIR is an empty directory for its files.
# Every *.trace that it leaves there is opened by the newest Go release; in the configuration default by another one too,
# and in the configuration releases, the same program, by every one that knows its format. It is compared with the
# counts in *.kinds and the lines in *.expect of the same name, if they exist (see check_trace.py). If a file
# *.parse-only exists, the viewers are skipped. A file *.killed
# means that the trace is truncated (see open_in_go.sh). GOTRACE_TEST_SCALE divides the amount of work: 1, or more in
# slow configurations.
set -euo pipefail
cd "$(dirname "$0")/.."

# Debian's programs come first: a version manager's wrapper around python3 can take half a second at each start.
export PATH=/usr/bin:$PATH

# ----------------------------------------------------------------------------------------------------------- tests ----

# The configurations in which `make check` runs only some tests; `make nightly` runs the others there. Uninitialized
# memory could hide in these, which allocate tables and chunks themselves or read damaged files:
valgrind="test_arena test_chunks test_decoder test_events test_events_v2 test_flight test_fork test_misuse test_parts
  test_snapshots test_stack_table test_string_table"
# Threads, locks, clocks, thread-locals, files and call sites of Windows:
windows="test_arena test_generations test_late_event test_limits test_many_threads test_samples test_sites
  test_start_stop test_wait_on"
msvc="test_limits test_many_threads test_samples test_sites test_start_stop test_wait_on"
# ThreadSanitizer selects this variant too (GOTRACE_SEQ_CST_FLAG), but its threads meet less often:
seq_cst="test_late_event test_start_races test_start_stop test_string_table"
monotonic="test_events_v2 test_generations test_start_stop"

# Tests that do not run on Windows: those that use POSIX (fork, signals, pipes, limits of a process), most of which the
# pattern `posix` finds; those of stacks of threads by frame pointers, which Windows lacks; those that only read Go's
# sources.
not_on_windows="test_adopt test_environment test_allocation_failure test_event_spec test_events test_events_v2 test_readers test_mutexes test_sandbox
  test_sinks test_stacks test_waiting"
posix='sys/(wait|resource|mman|stat)\.h|sigaction|[^_]fork\(|pthread_cancel'

# The configurations that are useful for a test: those for races and memory orders if it starts threads, another clock
# and all releases if it leaves traces for Go. A line "Not in: CONFIGURATION..., CAUSE" in the test excludes some.
configurations_of() {
  local not source
  source=$(echo tests/*/"$1.c")
  not=$(sed -n 's/.*Not in: \([a-z_ ]*\)[.,;].*/\1/p' "$source")
  {
    echo default clang address valgrind
    ! grep -q pthread_create "$source" || echo thread seq_cst
    ! grep -q test_trace_path "$source" || echo monotonic releases
    grep -qw "$1" <<<"$not_on_windows" || grep -qE "$posix" "$source" || echo windows msvc
  } | tr ' ' '\n' | grep -vxFf <(printf '%s\n' ${not:-none})
}

# Each function list_GROUP prints the group's tests, one a line: LEVEL|NAME|COMMAND. LEVEL is the first of quick, check and
# nightly that runs the test.

# `make test` runs a test in the configuration that is fastest to build, or with the sanitizers if that takes only a link.
list_unit() {
  local test name configuration configurations own level
  for test in tests/*/test_*.c; do
    name=$(basename "$test" .c)
    configurations=$(configurations_of "$name")
    own=''
    ! grep -q '^#define GOTRACE_IMPLEMENTATION' "$test" || own=1
    # A failure without sanitizers also appears with the address sanitizer.
    if [ "$own" ]; then
      echo "quick|$name (quick)|tests/run.sh --unit $name quick 10"
    elif ! grep -qx address <<<"$configurations"; then
      echo "quick|$name (quick)|tests/run.sh --unit $name quick 20"
    fi
    for configuration in $configurations; do
      level=nightly
      case $configuration in
        address | thread)
          level=check
          [ "$own" ] || echo "quick|$name ($configuration), briefly|tests/run.sh --unit $name $configuration 40"
          ;;
        default) if [ ! "$own" ] || grep -q test_trace_path "$test"; then level=check; fi ;;
        msvc) grep -qw "$name" <<<"$msvc" && level=check || continue ;;
        valgrind | windows | seq_cst | monotonic) ! grep -qw "$name" <<<"${!configuration}" || level=check ;;
      esac
      echo "$level|$name ($configuration)|tests/run.sh --unit $name $configuration"
    done
  done
  for test in windows_fibers windows_paths windows_threads; do echo "check|$test (windows)|tests/run.sh --unit $test windows"; done
}

list_compile() {
  local test part level parts
  mapfile -t parts < <(tests/compile/test_surroundings.sh --list)
  echo "quick|check_contents|tests/sources/check_contents.sh"
  echo "quick|forward_references|tests/sources/forward_references.py"
  echo "quick|fields of a snapshot|tests/sources/snapshot_fields.py"
  echo "quick|Python programs compile|tests/sources/python.sh"
  echo "check|format|tests/sources/format.sh"
  echo "check|including and linking|tests/compile/include.sh"
  for test in tests/*/test_*.sh; do
    case $(basename "$test" .sh) in
      test_tool | test_record | test_view) ;; # in other groups
      test_packages)
        for part in $($test --list); do
          level=check
          [ "$part" != debian ] || level=nightly
          echo "$level|packages $part|$test $part"
        done
        ;;
      test_cpp)
        echo "quick|test_cpp, briefly|$test -b"
        echo "check|test_cpp|$test"
        ;;
      test_surroundings)
        for part in "${parts[@]}"; do
          level=quick # but for compilers that only `make deps DEPS=all` installs
          [[ $part != modules* ]] || command -v "${part#* }" >/dev/null || level=check
          echo "$level|surroundings: $part|$test $part"
        done
        ;;
      test_sanitizers) echo "check|test_sanitizers|$test" ;;
      test_unload)
        echo "quick|test_unload, briefly|env GOTRACE_TEST_BRIEF=1 $test"
        echo "check|test_unload|$test"
        ;;
      *) echo "quick|$(basename "$test" .sh)|$test" ;;
    esac
  done
  tests/compile/compile_matrix.sh --list | sed -E 's/^(\w+) (.*)/\1|compile \2|tests\/compile\/compile_matrix.sh \2/'
}

list_go() {
  local release level example format turn=0 quick
  quick=" $(tests/go/fetch_go.sh --list-quick | tr '\n' ' ') "
  for release in 1.15 1.19 1.21 1.22 1.24 1.27; do
    level=check
    [ $release != 1.27 ] || level=quick
    echo "$level|check_trace by Go $release|tests/go/check_trace_self.sh $release"
  done
  echo "quick|1.11 and 1.23 agree|tests/go/v1_agrees_with_v2.py"
  # Every release opens each of its formats, from one example after the other. `make deps` fetches few releases.
  tests/examples/example_opens_in_go.sh --list | while read -r example format release; do
    level=nightly
    if [ $example = flight ] || [ $((turn++ % 9 % 4)) = 0 ]; then
      level=check
      [[ $quick != *" $release "* ]] || level=quick
    fi
    echo "$level|$example $format by Go $release|tests/examples/example_opens_in_go.sh $example $format $release"
  done
}

list_decode() {
  local what
  echo "quick|decoder and Go, traces canned, briefly|tests/decoder/decoder_agrees_with_go.sh -b canned"
  echo "quick|the command-line tool, some formats|env GOTRACE_TEST_FORMATS=1.8,1.23,1.25 tests/tool/test_tool.sh"
  echo "check|the command-line tool|tests/tool/test_tool.sh"
  echo "quick|verdicts of the decoder and Go, briefly|tests/decoder/verdicts.py -n 300"
  echo "check|verdicts of the decoder and Go|tests/decoder/verdicts.py -n 3000 -s 2"
  echo "check|parts of Go's traces|tests/decoder/decode_go_traces.sh test_parts 100"
  echo "check|parts of changed traces|tests/decoder/decode_go_traces.sh -n test_parts 5000"
  echo "nightly|parts of many changed traces|tests/decoder/decode_go_traces.sh -n test_parts 25000"
  echo "check|snapshots of Go's traces|tests/decoder/decode_go_traces.sh test_snapshots 20"
  echo "check|states of Go's traces|tests/decoder/decode_go_traces.sh test_states"
  echo "nightly|snapshots of changed traces|tests/decoder/decode_go_traces.sh -n test_snapshots 5000"
  echo "check|exports of Go's traces|tests/tool/exports.sh"
  echo "check|parts at indexes|tests/tool/indexes.sh 100"
  echo "nightly|parts at indexes, many|tests/tool/indexes.sh 10000 2"
  echo "quick|tables for SQL|tests/tool/tables.py"
  # Each release that began a format, except for those that changed little.
  for what in canned 1.15 1.22 1.27; do echo "check|decoder and Go, traces $what|tests/decoder/decoder_agrees_with_go.sh $what"; done
  for what in 1.19 1.21 1.24 1.25; do echo "nightly|decoder and Go, traces $what|tests/decoder/decoder_agrees_with_go.sh $what"; done
  echo "quick|profiles and Go, traces some|tests/tool/profiles_agree_with_go.sh some"
  for what in canned 1.15 1.22 1.27; do echo "check|profiles and Go, traces $what|tests/tool/profiles_agree_with_go.sh $what"; done
  for what in examples 1.21 1.25; do echo "nightly|profiles and Go, traces $what|tests/tool/profiles_agree_with_go.sh $what"; done
  echo "quick|profiles of parts|tests/tool/profile_parts.py"
  echo "quick|answers that are known|tests/tool/answers.py"
  echo "quick|recordings|tests/tool/recordings.py"
  echo "quick|noise that diff tells|tests/tool/diff_noise.py"
  echo "nightly|noise that diff tells, many runs|tests/tool/diff_noise.py -n 1000 -s 2"
  echo "check|utilization and Go 1.21|tests/tool/utilization_agrees_with_go.sh"
  echo "quick|critical paths, known traces|tests/tool/path.py known"
  echo "quick|who had it, known traces|tests/tool/findings.py known"
  echo "check|findings in programs in C|tests/tool/findings.py c"
  echo "check|findings in Go programs|tests/tool/findings.py go"
  echo "quick|traces that Go refuses, other inputs|tests/tool/refused.py"
  echo "quick|first use of the tool|tests/tool/first_use.py"
  echo "check|an event of a later release|tests/tool/later_release.sh"
  echo "quick|pages of many goroutines|tests/view/many_goroutines.py"
  echo "quick|limits of pages|tests/view/page_limits.py"
  echo "check|the page that opens traces|tests/view/reader.py"
  echo "check|mouse, keys and fingers on the page|tests/view/hands.py"
  echo "check|looks of the page|tests/view/looks.py"
  echo "check|rows and tables of the page|tests/view/rows.py"
  echo "check|what the page asks the tool|tests/view/asked.py"
  echo "check|several traces on one page|tests/view/several.py"
  echo "check|questions that the page answers|tests/view/inputs.py"
  echo "check|questions that the page answers of a Go program|tests/view/inputs.py go"
  echo "check|the page that is served|tests/view/serve.py"
  echo "check|windows of a large trace|tests/view/windows.py"
  echo "nightly|200 windows of each trace|tests/view/test_view.sh 200"
  echo "nightly|windows of 1 GB|tests/view/windows.py -p 40 1000"
  echo "check|the tool as WebAssembly|tests/view/same_data.py -n 3 tests/traces/*"
  for what in canned examples; do echo "check|critical paths, $what traces|tests/tool/path.py $what"; done
  echo "nightly|critical paths, 1.27 traces|tests/tool/path.py 1.27"
  echo "quick|commands agree|tests/tool/commands_agree.py -n 40 build/examples/gotrace tests/traces/*"
  echo "nightly|commands agree, many copies|tests/tool/commands_agree.py -n 1500 -s 2 build/examples/gotrace tests/traces/*"
  echo "nightly|info and Go, all canned traces|tests/tool/summary_agrees_with_go.sh -a canned"
  echo "check|info and Go, the examples|tests/tool/summary_agrees_with_go.sh examples"
}

list_record() {
  local name level
  for name in $(tests/record/test_record.sh --list); do
    case $name in
      waits | threads_by_name | bad_use | children | flight | pigz | cpp) level=quick ;;
      *) level=check ;;
    esac
    echo "$level|record $name|tests/record/test_record.sh $name"
  done
  echo "nightly|record steps, many|STEPS_RUNS=3000 tests/record/test_record.sh steps"
  echo "nightly|record holders, many|HOLDERS_ROUNDS=50000 tests/record/test_record.sh holders"
  echo "nightly|record killed, many|KILLED_RUNS=10000 tests/record/test_record.sh killed"
}

list_cases() {
  local source
  for source in tests/cases/*.c; do
    source=$(basename "$source" .c)
    [ "$source" != case ] || continue
    echo "quick|case $source, briefly|tests/cases/run.sh 2 $source"
    echo "check|case $source|tests/cases/run.sh 10 $source"
  done
}

list_fuzz() {
  local target level
  for target in $(find fuzz -name '*.c' ! -name replay.c -exec basename {} .c \; | sort); do
    case $target in
      decode_* | session*) level=quick ;;
      *) level=check ;; # their functions have tests of their own
    esac
    echo "$level|replay $target|make -s fuzz-replay-$target"
    echo "nightly|fuzz $target|tests/need.sh clang make -s fuzz-run-$target FUZZ_SECONDS=3600 FUZZ_OPTIONS=-verbosity=0"
  done
  echo "check|guided records|tests/need.sh clang make -s fuzz-run-transcribe FUZZ_SECONDS=60 FUZZ_OPTIONS=-verbosity=0"
  # At random. Inputs of few bytes are many a second, those of many bytes go further.
  echo "check|random records, short|make -s fuzz-random-transcribe FUZZ_RANDOM=1600000,100,1"
  echo "check|random records|make -s fuzz-random-transcribe FUZZ_RANDOM=300000,400,2"
  echo "check|random records, long|make -s fuzz-random-transcribe FUZZ_RANDOM=100000,1500,3"
  echo "check|random boxes|make -s fuzz-random-box FUZZ_RANDOM=20000,100,1"
  echo "check|random boxes, long|make -s fuzz-random-box FUZZ_RANDOM=5000,600,2"
  echo "nightly|random boxes, many|make -s fuzz-random-box FUZZ_RANDOM=2000000,100,3"
  echo "check|random calls|make -s fuzz-random-session_calls FUZZ_RANDOM=100000,100,1"
  echo "check|random calls, decoded|make -s fuzz-random-decode_calls FUZZ_RANDOM=100000,100,2"
  echo "nightly|random calls, decoded, many|make -s fuzz-random-decode_calls FUZZ_RANDOM=100000,800,3"
  echo "nightly|random records, many|make -s fuzz-random-transcribe FUZZ_RANDOM=20000000,200,4"
}

list_explore() {
  echo "quick|the patterns of the mutants|tests/explore/mutants.py --texts"
  echo "quick|the search through interleavings, briefly|build/tests/explore --brief"
  echo "quick|random programs, some|build/tests/explore --random 2000,300,1"
  echo "check|random programs|build/tests/explore --random 195000,120,2"
  echo "check|random programs, long|build/tests/explore --random 5000,5000,3"
  echo "check|random programs, with values that others have replaced|build/tests/explore --stale 2 --random 20000,150,5"
  echo "nightly|random programs, many|build/tests/explore --random 2000000,300,4"
  echo "check|the search through interleavings, quickly|build/tests/explore --quick"
  echo "check|the search with values that others have replaced|build/tests/explore --brief --stale 1"
  echo "quick|random programs, read from outside|build/tests/explore-outside --random 2000,120,1"
  echo "check|random programs, read from outside and killed|build/tests/explore-outside --killed --random 30000,120,2"
  echo "check|random programs, read from outside with values that others have replaced|build/tests/explore-outside --stale 2 --random 10000,120,3"
  echo "check|the search, read from outside and killed|build/tests/explore-outside --brief --killed"
  echo "nightly|random programs, read from outside, many|build/tests/explore-outside --random 1000000,200,4"
  echo "nightly|the search, read from outside|build/tests/explore-outside --quick"
  echo "nightly|the search, read from outside and killed, longer|build/tests/explore-outside --quick --killed"
  echo "nightly|mutants of the reader of a box|make -s mutants MUTANTS=--outside"
  echo "check|litmus tests of the search|build/tests/explore --litmus"
  echo "nightly|the search through interleavings|build/tests/explore --most 20000"
  echo "nightly|the search with values that others have replaced, longer|build/tests/explore --quick --stale 1"
  echo "nightly|mutants of the capture|make -s mutants MUTANTS=--capture"
  echo "nightly|mutants of the transcriber|make -s mutants MUTANTS=--transcriber"
  echo "nightly|mutants of the rest|make -s mutants MUTANTS=--rest"
}

list_sessions() {
  echo "quick|sessions under stress, briefly|tests/capture/stress_sessions.sh 300 quick"
  echo "check|sessions under stress|tests/capture/stress_sessions.sh 600"
  echo "check|sessions under stress (thread)|tests/capture/stress_sessions.sh 200 thread"
  local brief="hello threads scheduler flight help_first lua tracy_c work_stealing" name
  echo "quick|traces in mid-flight, briefly|tests/capture/mid_flight.sh 3 $brief"
  for name in $(tests/capture/mid_flight.sh --list); do
    [[ " $brief " = *" $name "* ]] || echo "check|traces in mid-flight, $name, briefly|tests/capture/mid_flight.sh 3 $name"
    echo "nightly|traces in mid-flight, $name|tests/capture/mid_flight.sh 50 $name"
  done
  echo "nightly|many sessions under stress|tests/capture/stress_sessions.sh 4000"
  echo "nightly|many sessions under stress (thread)|tests/capture/stress_sessions.sh 1000 thread"
  echo "nightly|many sessions under stress (seq_cst)|tests/capture/stress_sessions.sh 1000 seq_cst"
}

list_adapters() {
  local name
  for name in $(tests/adapters/run.sh --list); do
    case $name in
      lua | coroutines) echo "quick|adapter $name|tests/adapters/run.sh $name" ;;
      *) echo "check|adapter $name|tests/adapters/run.sh $name" ;;
    esac
  done
}

list_pages() {
  local release format options
  echo "check|test_view|tests/view/test_view.sh"
  while read -r release format options; do
    echo "check|pages of Go $release, format $format|tests/go/pages.py $release $format $options"
  done <<<'1.19 1.11
1.27 1.11 -p
1.22 1.22 -p
1.23 1.23 -p
1.24 1.22 -p
1.25 1.25 -p
1.26 1.26 -p
1.27 1.23'
}

list_demo() {
  local suite
  echo "quick|demo|tests/examples/demo.py"
  echo "quick|times of tasks|tests/examples/tasks.py build/examples/tasks build/examples/gotrace tests/traces/two_kinds_of_tasks tests/traces/tasks_named_by_numbers"
  for suite in bookworm trixie; do echo "nightly|fresh Debian $suite|tests/fresh_debian.sh $suite"; done
}

# Loads the machine, or measures it.
list_load() {
  echo "nightly|examples under load|make -s stress STRESS=10"
  echo "nightly|bench|make -s bench"
}

all_levels="quick check nightly"
# Those with the longest tests come first, so that none of these runs alone at the end.
all_groups="explore pages sessions decode fuzz record unit compile adapters cases go demo load"

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
    windows | msvc)
      needs x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
      [ $configuration = windows ] || needs clang clang
      suffix=.exe scale=10 run=(tests/compile/wine.sh)
      ;;
    releases) build=default ;;
    valgrind) # most tests that contain the tracer have been built in quick
      needs valgrind valgrind
      build=quick scale=50
      run=(valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,possible
        --errors-for-leak-kinds=definite,possible --fair-sched=yes)
      ;;
  esac
  mkdir -p "build/tests/$build"
  ( # one at a time: some configurations use the same program
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
      tests/go/open_in_go.sh --killed "$trace" >"$dir/opened" 2>&1 || {
        status=$?
        [ $status = 77 ] || { cat "$dir/opened"; return $status; }
      }
      continue
    fi
    if [ -e "${trace%.trace}.parse-only" ] || [ "${3-}" ]; then beside+=(-p); fi
    case $configuration${3-} in
      releases) ;;
      default) beside+=(-t) ;;
      *) beside+=(-n) ;;
    esac
    [ -e "${trace%.trace}.kinds" ] && beside+=(-k "${trace%.trace}.kinds")
    [ -e "${trace%.trace}.expect" ] && beside+=(-e "${trace%.trace}.expect")
    [ -e "${trace%.trace}.until" ] && beside+=(-u "$(cat "${trace%.trace}.until")")
    tests/go/open_in_go.sh "$trace" ${beside[@]+"${beside[@]}"} >"$dir/opened" || {
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

jobs=$((2 * $(nproc 2>/dev/null || echo 1))) only='' just_list='' # some tests mostly wait, and neighbours take their share
while getopts j:o:l option; do
  case $option in
    j) jobs=$OPTARG ;;
    o) only=$OPTARG ;;
    l) just_list=1 ;;
    *) sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))

levels='' groups=''
for word in "$@"; do
  if [[ " $all_levels " = *" $word "* ]]; then
    levels+=" $word"
  elif [[ " $all_groups " = *" $word "* ]]; then
    groups+=" $word"
  else
    echo "run.sh: neither a level nor a group is called $word" >&2
    exit 2
  fi
done
[ $# != 0 ] || [ "$only" ] || levels=quick

state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
trap 'exit 130' INT TERM

# The chosen tests: GROUP|LEVEL|NAME|COMMAND.
for group in ${groups:-$all_groups}; do
  "list_$group" | awk -F '|' -v OFS='|' -v word="$only" -v levels=" ${levels:-$all_levels} " -v group="$group" '
    index($2, word) && index(levels, " " $1 " ") { print group, $0 }'
done >"$state/list"
if [ $# = 0 ] && [ "$only" ]; then # those of the first level that has any
  for level in $all_levels; do
    ! grep "^[^|]*|$level|" "$state/list" >"$state/level" || { mv "$state/level" "$state/list"; break; }
  done
fi
if [ "$just_list" ]; then
  cut -d '|' -f 3 "$state/list"
  exit
fi
[ -s "$state/list" ] || { echo "run.sh: no test's name contains '$only'" >&2; exit 2; }

# Runs one test and prints its line. The lock keeps the outputs of tests apart.
run_one() {
  local group=$1 name=$2 command=$3 out status=0 took processor reason
  out=$(mktemp -p "$state")
  TIMEFORMAT='%0R %U %S'
  [[ ! $command =~ ^tests/[a-z0-9_/]+\.py ]] || command="tests/need.sh python3 $command"
  { time $command </dev/null >"$out" 2>&1 9>&-; } 2>"$out.time" || status=$?
  read -r took processor < <(awk 'END { printf "%s %.1f\n", $1, $2 + $3 }' "$out.time")
  exec 9>"$state/lock"
  flock 9
  reason=$(grep -v '^[[:space:]]*$' "$out" | tail -n 1 || true)
  if [ $status = 77 ] && [ -z "$reason" ]; then
    echo 'skipped, and does not say why' >>"$out"
    status=1
  fi
  echo "$status $group $processor" >>"$state/results"
  echo -n "[$(wc -l <"$state/results")/$total] "
  case $status in
    0) echo "ok $name, $took s, processor $processor s" ;;
    77) echo "skipped $name: $reason" ;;
    *)
      echo "To repeat it alone: $command" >>"$out"
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
    releases) configuration=default ;;
    valgrind) configuration=quick ;;
    clang) command -v clang >/dev/null || continue ;;
    windows) command -v x86_64-w64-mingw32-gcc >/dev/null || continue ;;
    msvc) { command -v x86_64-w64-mingw32-gcc && command -v clang; } >/dev/null || continue ;;
  esac
  shared+=("build/tests/$configuration/gotrace.a")
done < <(sed -n 's/.*--unit [a-z0-9_]* \([a-z_]*\).*/\1/p' "$state/list" | sort -u)
uses() { grep -qE "[|][^|]*($1)[^|]*\$" "$state/list"; }
shared+=(build/examples/gotrace) # reads every trace that is opened in Go
if uses 'example_opens_in_go|go/pages|test_tool|profiles_agree_with_go.sh examples|path.py examples|tool/summary|tool/tables|tool/indexes|test_selection|make -s stress|examples/demo|examples/tasks'; then shared+=(examples); fi
if uses 'example_opens_in_go|test_tool|check_trace_self|profiles_agree_with_go.sh examples|tool/summary|tool/tables|tool/indexes|test_selection|make -s stress'; then shared+=(build/tests/quick/hello_formats); fi
if uses 'tests/cases'; then shared+=(build/cases/case.o); fi
if uses 'tests/decoder'; then shared+=(build/tests/address/print_decoded); fi
if uses 'tests/cases|v1_agrees_with_v2|tests/adapters'; then shared+=(build/tests/quick/gotrace.a); fi
if uses 'mid_flight'; then shared+=(build/mid_flight.o); fi
if uses 'build/tests/explore '; then shared+=(build/tests/explore); fi
if uses 'build/tests/explore-outside'; then shared+=(build/tests/explore-outside); fi
for target in transcribe session_calls decode_calls; do
  if uses "fuzz-random-$target"; then shared+=("build/fuzz-random/$target"); fi
done
while read -r configuration; do
  shared+=("build/tests/$configuration/stress_sessions")
done < <(sed -nE 's/.*stress_sessions.sh [0-9]+ ?//p' "$state/list" | sed 's/^$/default/' | sort -u)
TIMEFORMAT='%U %S'
{ time tests/build.sh -j "$jobs" -k $(printf '%s\n' "${shared[@]}" | sort -u) >&3 2>&4 || true; } 3>&1 4>&2 2>"$state/building"
if make -s -q build/examples/gotrace; then export GOTRACE_TEST_TOOL=1; fi

running=0
while IFS='|' read -r group _ name command <&8; do
  if [ $running -ge "$jobs" ]; then wait -n || true; running=$((running - 1)); fi
  run_one "$group" "$name" "$command" 8<&- &
  running=$((running + 1))
done 8<"$state/list"
wait

awk '
  FILENAME ~ /building/ { time["building what tests share"] = $1 + $2; next }
  { time[$2] += $3; tests[$2]++ }
  END {
    for (group in time) { printf "%8.0f %6s  %s\n", time[group], tests[group], group; all += time[group] }
    printf "%8.0f %6d  all\n", all, NR - 1
  }' "$state/building" "$state/results" | sort -rn | sed '1i processor s, tests'
passed=$(grep -c '^0 ' "$state/results" || true)
skipped=$(grep -c '^77 ' "$state/results" || true)
failed=$(($(wc -l <"$state/results") - passed - skipped))
[ $failed = 0 ] || { echo; cat "$state/failed"; }
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $((passed + skipped)) -gt 0 ]
