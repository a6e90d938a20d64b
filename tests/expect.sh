# Sourced by tests of the command-line tool, which first set $tool and $dir, a directory for their files.
# shellcheck shell=bash disable=SC2154

fail() {
  echo "$*"
  exit 1
}

# expect STATUS ARGUMENT...: runs the tool; its output is in out and err.
expect() {
  local want=$1 status=0
  shift
  "$tool" "$@" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
  [ $status = "$want" ] || fail "gotrace $*: status $status, not $want: $(head -c 500 "$dir/err")"
}
