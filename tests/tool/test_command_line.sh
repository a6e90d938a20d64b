#!/usr/bin/env bash
# The tool's command line: help, version, messages for wrong use, manual page, completion, all made from the tables in
# examples/gotrace/command/commands.c. What `make install` installs of them: test_packages.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."

tool=$PWD/build/examples/gotrace
make -q build/examples/gotrace || { echo "build/examples/gotrace is not built, or is older than its source"; exit 1; }
# What was built without an optional library is built again once that is installed.
for made in build/examples/gotrace build/examples/libgotrace-record.so build/tests/quick/gotrace.a; do
  ! make -q with=other $made 2>/dev/null || { echo "$made does not depend on what is installed"; exit 1; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

. tests/expect.sh

# says TEXT ARGUMENT...: wrong use prints TEXT, which has two lines.
says() {
  local text=$1
  shift
  expect 2 "$@"
  [ "$(cat "$dir/err")" = "$text" ] || fail "gotrace $* says: $(cat "$dir/err")"
  [ ! -s "$dir/out" ] || fail "gotrace $* writes to standard output"
}

# completes "WORDS" LINES...: the candidates for the last word.
completes() {
  local words=$1 found
  shift
  # shellcheck disable=SC2086
  found=$("$tool" help --complete $words "${last-}" | sed 's/:.*//' | tr '\n' ' ')
  [ "$found" = "${*:+$* }" ] || fail "completion of '$words ${last-}': $found"
}

# Help.
expect 0 help
cp "$dir/out" "$dir/help"
for arguments in --help -h; do
  expect 0 $arguments
  cmp -s "$dir/out" "$dir/help" || fail "$arguments is not help"
done
expect 0 --version
[ "$(cat "$dir/out")" = "gotrace $(sed -n 's/^.define GOTRACE_VERSION "\(.*\)"/\1/p' gotrace.h)" ] || fail "--version: $(cat "$dir/out")"
[ "$(wc -L <"$dir/help")" -lt 80 ] || fail "help is wider than 79 columns"
"$tool" help --man >"$dir/gotrace.1"
last='' && completes '' $(sed -n 's/^  \([a-z]*\) .*/\1/p' "$dir/help")
commands=$("$tool" help --complete '' | sed 's/:.*//')
[ "$(wc -w <<<"$commands")" -ge 9 ] || fail "commands not found: $commands"
options=0
for command in $commands; do
  expect 0 help "$command"
  mv "$dir/out" "$dir/of"
  [ "$command" = help ] || expect 0 "$command" --help
  [ "$command" = help ] || cmp "$dir/out" "$dir/of" || fail "$command --help is not help $command"
  [ "$(wc -L <"$dir/of")" -lt 80 ] || fail "help $command is wider than 79 columns"
  grep -q "^usage: gotrace $command " "$dir/of" || fail "help $command without usage"
  grep -q "^\.SS $command " "$dir/gotrace.1" || fail "the manual is without $command"
  grep -q "^gotrace $command " examples/gotrace/README.md || fail "examples/gotrace/README.md is without $command"
  # Every option is in the help and in the completion, and is accepted; the usage line names no other.
  "$tool" help --complete "$command" - | sed 's/:.*//' >"$dir/options"
  sed -n '/^Options:/,$s/^  \(-[^ ]*\).*/\1/p' "$dir/of" | cmp - "$dir/options" || fail "help $command has other options"
  for option in $(sed -n 's/^usage//p' "$dir/of" | grep -oE '(^|[[ |])--?[a-z-]+' | tr -d ' [|' | grep -v '^--$'); do
    grep -qxe "$option" "$dir/options" || fail "the usage of $command has $option, which it does not take"
  done
  while read -r option; do
    [ "$(sort "$dir/options" | uniq -d)" = '' ] || fail "$command has an option twice"
    options=$((options + 1))
    expect 2 "$command" "$option=" # no value, no file, or no value allowed
    ! grep -q 'unknown option' "$dir/err" || fail "$command does not know $option"
  done <"$dir/options"
done
[ $options -gt 15 ] || fail "only $options options"

# Wrong use: the messages name the error, a probable correction, and the help.
says $'gotrace: missing command\nsee gotrace help'
says $'gotrace: unknown command \'frobnicate\'\nsee gotrace help' frobnicate
says $'gotrace: unknown command \'inof\'; did you mean \'info\'?\nsee gotrace help' inof
says $'gotrace: unknown command \'symbol\'; did you mean \'symbolize\'?\nsee gotrace help' symbol
says $'gotrace: unknown command \'chekc\'; did you mean \'check\'?\nsee gotrace help' help chekc
says $'gotrace: unknown option --formt for record; did you mean --format?\nsee gotrace help record' record --formt 1.22 true
says $'gotrace: unknown option -json for dump; did you mean --json?\nsee gotrace help dump' dump -json x
says $'gotrace: unknown option --part for cut; did you mean --partial?\nsee gotrace help cut' cut x --part --to 1s
says $'gotrace: unknown option --frmo for cut; did you mean --from?\nsee gotrace help cut' cut --frmo=1s x
says $'gotrace: unknown option --elephant for dump\nsee gotrace help dump' dump --elephant x
says $'gotrace: unknown option -x for dump\nsee gotrace help dump' dump -x
says $'gotrace: missing FILE\nsee gotrace help dump' dump
says $'gotrace: cut needs --from, --to, --go, --function, --task, --proc, --thread, --kind or --reason\nsee gotrace help cut' cut x
says $'gotrace: missing value for --to\nsee gotrace help convert' convert --to
says $'gotrace: --json takes no value\nsee gotrace help dump' dump --json=yes x
says $'gotrace: convert takes one FILE\nsee gotrace help convert' convert --to 1.23 x y

# Completion.
last=c && completes '' ctl check cut convert
last=i && completes help info index
last=--p && completes cut --proc --partial
last=--p && completes export --perfetto --proc --partial
last=--ta && completes export --tables --task
last='' && completes 'export --tables'
last='' && completes cut
last='' && completes 'record --stacks' unwind call-site frame-pointers none
last=u && completes 'record --stacks' unwind
last=u && completes 'record --stacks =' unwind
last='--stacks=f' && completes record '--stacks=frame-pointers'
last='' && completes 'cut -o'
last='' && completes nothing
"$tool" help --bash >"$dir/completion"
found=$(bash -c 'PATH=$2:$PATH; . "$1"; COMP_WORDS=(gotrace conv); COMP_CWORD=1; _gotrace; echo "${COMPREPLY[@]}"
  COMP_WORDS=(gotrace record --m); COMP_CWORD=2; _gotrace; echo "${COMPREPLY[@]}"
  COMP_WORDS=(gotrace info ""); COMP_CWORD=2; _gotrace; echo "${#COMPREPLY[@]}"' - "$dir/completion" "${tool%/*}")
[ "$found" = $'convert\n--min-syscall\n0' ] || fail "completion by bash: $found"
if command -v zsh >/dev/null; then
  "$tool" help --zsh >"$dir/_gotrace"
  found=$(zsh -fc 'PATH=$2:$PATH
    _describe() { print -l -- "${(P@)2}"; }
    _files() { print files; }
    words=(gotrace conv) CURRENT=2; . $1
    words=(gotrace info "") CURRENT=3; . $1' - "$dir/_gotrace" "${tool%/*}")
  [ "$found" = $'convert:the same in the format of another release\nfiles' ] || fail "completion by zsh: $found"
fi

"$tool" help --fish >"$dir/gotrace.fish"
if command -v fish >/dev/null; then
  found=$(PATH=${tool%/*}:$PATH fish -N -c '. $argv[1]; complete -C "gotrace conv"; complete -C "gotrace record --m"' "$dir/gotrace.fish")
  [ "$found" = $'convert\tthe same in the format of another release\n--min-syscall\tleave out system calls that do not wait' ] || fail "completion by fish: $found"
fi

# The manual.
if command -v mandoc >/dev/null; then
  mandoc -T lint "$dir/gotrace.1" >"$dir/lint" || true
  [ ! -s "$dir/lint" ] || fail "the manual is badly formatted: $(cat "$dir/lint")"
fi
if command -v man >/dev/null; then
  man --warnings -l "$dir/gotrace.1" >"$dir/text" 2>"$dir/warnings" || fail "man: $(cat "$dir/warnings")"
  [ ! -s "$dir/warnings" ] || fail "man: $(cat "$dir/warnings")"
fi
[ "$(grep -c '^\.TP' "$dir/gotrace.1")" = $options ] || fail "the manual has not all options"
