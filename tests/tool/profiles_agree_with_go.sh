#!/usr/bin/env bash
# `gotrace profile` agrees with the pprof endpoints of `go tool trace` (profiles_agree_with_go.py).
#
#     tests/tool/profiles_agree_with_go.sh some        made traces (made_trace.py), and a few of those in Go's sources
#     tests/tool/profiles_agree_with_go.sh canned      all traces in Go's sources; `go tool pprof` also opens the profiles
#     tests/tool/profiles_agree_with_go.sh RELEASE     traces that programs of a Go release write for this test
#     tests/tool/profiles_agree_with_go.sh examples    traces of the examples
#
# Status 77 if a release is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/need.sh python3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cache=${GOTRACE_GO:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-go}
make -q build/examples/gotrace || { echo "build/examples/gotrace is not built, or is older than its source"; exit 1; }

required=sync,network,syscall,scheduler,create,cpu
case $1 in
  some)
    python3 tests/tool/made_trace.py "$dir"
    text_trace=$(tests/go/inside.sh 1.27 text_trace.go)
    canned=$cache/1.27/usr/lib/go-1.27/src
    for name in cmd/trace/testdata/go122 internal/trace/testdata/tests/go122-{gc-stress,annotations-stress} \
      internal/trace/testdata/tests/go122-syscall-steal-proc-{simple,gen-boundary,sitting-in-syscall}; do
      "$text_trace" "$canned/$name.test" "$dir/$(basename "$name")"
    done
    for name in http_1_21_good stress_1_11_good stress_start_stop_1_19_good fmt_1_21_pprof_good; do
      cp "$canned/internal/trace/internal/tracev1/testdata/$name" "$dir/$name.trace"
    done
    ;;
  canned) sh tests/go/testdata.sh "$dir" ;;
  examples)
    required=sync,scheduler,create
    for format in 1.11 1.19 1.21 1.22 1.23 1.25 1.26; do
      for example in examples/scheduler examples/threads tests/quick/hello_formats; do
        make -q "build/$example" || { echo "build/$example is not built, or is older than its source"; exit 1; }
        arguments=(-o "$dir/$(basename $example)-$format.trace" -f "$format")
        [ $example = tests/quick/hello_formats ] || arguments+=(-j 4 examples tests)
        build/$example "${arguments[@]}" >"$dir/out" 2>&1 || { cat "$dir/out"; exit 1; }
      done
    done
    ;;
  *)
    required=sync,network,syscall,scheduler,create # Go has CPU samples from 1.19 on
    sh tests/go/write_traces.sh "$dir" "$1"
    ;;
esac
tests/tool/profiles_agree_with_go.py "$required" "$dir"/*.trace

[ "$1" = canned ] || exit 0
root=$(cd "$cache/1.27/usr/lib/go-1.27" && pwd)
cache=$(cd "$cache" && pwd)
export GOROOT="$root" GOTOOLCHAIN=local GOFLAGS='' GOPROXY=off GOCACHE="$cache/gocache" CGO_ENABLED=0
for kind in sync network syscall scheduler create cpu; do
  case $kind in cpu) trace=$dir/1.23-fmt_1_21_pprof_good.trace ;; *) trace=$dir/1.22-cmd-go122.trace ;; esac
  build/examples/gotrace profile --$kind -o "$dir/$kind.pb" "$trace"
  "$root/bin/go" tool pprof -top -nodecount 3 "$dir/$kind.pb" >"$dir/top" 2>"$dir/err" || { cat "$dir/err"; exit 1; }
  grep -qE '^ *[0-9.]+[a-zµ]* +[0-9.]+% .*[a-z]\.' "$dir/top" || { echo "go tool pprof, $kind:"; cat "$dir/top"; exit 1; }
done
