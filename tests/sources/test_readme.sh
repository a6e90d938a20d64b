#!/usr/bin/env bash
# The first program in the README is exactly examples/hello.c. The command below it builds and runs the program in a
# directory with only the header, and Go opens the trace. Its other pieces of C compile; each README's links lead to files
# and headings that exist, and the targets of make, commands of the tool and names of the API that they mention exist.
set -euo pipefail
cd "$(dirname "$0")/../.."

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
[[ $commands == *$'\n''gotrace view hello.trace '* ]] || { echo "the README does not tell how to run it: $commands"; exit 1; }
(cd "$dir" && sh -ec "${commands%$'\n'gotrace view*}")
[ -s "$dir/hello.trace" ] || { echo "no hello.trace"; exit 1; }
# It says why it cannot write a trace, where it cannot.
(cd /proc && "$dir/a.out") 2>"$dir/error"
grep -q '^hello.trace: ' "$dir/error" || { echo "no message of a start that fails: $(cat "$dir/error")"; exit 1; }
tests/go/open_in_go.sh "$dir/hello.trace" -n || {
  status=$?
  [ $status = 77 ] || exit $status
}

# The pieces of C in the README, each in a function of its own, after what they assume.
{
  cat <<'C'
#include <pthread.h>
#include "gotrace.h"
typedef struct { gotrace_go *go; } task_type;
struct { gotrace_proc *proc; } *worker;
task_type *task;
task_type *next(void *);
void resume(task_type *);
pthread_mutex_t lock;
C
  awk '/^```c$/ { inside = 1; if (++n > 1) print "void piece" n "(void);\nvoid piece" n "(void) {"; next }
    /^```$/ { if (inside && n > 1) print "}"; inside = 0 }
    inside && n > 1' README.md
} >"$dir/pieces.c"
grep -q piece3 "$dir/pieces.c" || { echo "the README has fewer pieces of C"; exit 1; }
${CC:-cc} -Wall -Wextra -Werror -fsyntax-only "-I$dir" "$dir/pieces.c"

wrong=
for readme in README.md */README.md */*/README.md; do
  folder=$(dirname "$readme")
  while read -r link; do
    file=${link%%#*}
    [ ! "$file" ] || [ -e "$folder/$file" ] || { echo "$readme: no file $link"; wrong=1; }
    [[ $link != *#* ]] || sed -n 's/^#* \([A-Za-z].*\)/\L\1/p' "$folder/${file:-README.md}" | tr ' ' - | tr -d ',:`()' | grep -qx -- "${link#*#}" || {
      echo "$readme: no heading $link"
      wrong=1
    }
  done < <(grep -o '](\([^)]*\))' "$readme" | sed 's/](\(.*\))/\1/' | grep -v '^https*:')
  while read -r target; do
    make -n "$target" >/dev/null 2>&1 || { echo "$readme: no target $target"; wrong=1; }
  done < <(grep -oE '(^ *|`)make [a-z][a-z_./-]*([^A-Za-z_./-]|$)' "$readme" | sed -E 's/.*make ([a-z_./-]*).*/\1/' | sort -u)
  while read -r name; do
    grep -qE "\b$name" gotrace.h || { echo "$readme: no $name in the header"; wrong=1; }
  done < <(grep -oE '\b(gotrace|GOTRACE)_[A-Za-z0-9_]+[A-Za-z0-9]' "$readme" | sort -u)
  while read -r command; do
    grep -q "\.name = \"$command\"" examples/gotrace/command/commands.c || { echo "$readme: no command $command"; wrong=1; }
  done < <(grep -oE '(`|^)gotrace [a-z]+' "$readme" | sed 's/.* //' | sort -u)
done
[ ! "$wrong" ] || exit 1
echo "the README's program is examples/hello.c"
