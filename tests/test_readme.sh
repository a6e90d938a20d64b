#!/usr/bin/env bash
# The first program in the README is exactly examples/hello.c. The command below it builds and runs the program in a
# directory with only the header, and Go opens the trace.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Prints the first code block of a language in the README.
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" README.md | sed -n '2,/^```$/p' | sed '$d'; }

block c >"$dir/shown.c"
[ -s "$dir/shown.c" ] || { echo "the README shows no program"; exit 1; }
if ! diff "$dir/shown.c" examples/hello.c; then
  echo "< in the README, > in examples/hello.c"
  exit 1
fi

cp gotrace.h examples/hello.c "$dir"
commands=$(block sh)
[[ $commands == *'./a.out && go tool trace hello.trace' ]] || { echo "the README does not tell how to run it: $commands"; exit 1; }
(cd "$dir" && sh -ec "${commands% && go tool trace hello.trace}")
[ -s "$dir/hello.trace" ] || { echo "no hello.trace"; exit 1; }
tests/open_in_go.sh "$dir/hello.trace" -n || {
  status=$?
  [ $status = 77 ] || exit $status
}
echo "the README's program is examples/hello.c"
