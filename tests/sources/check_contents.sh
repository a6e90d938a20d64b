#!/usr/bin/env bash
# Lists are complete: tests/README.md names every test, and no two are called alike; the contents list in the header's guide
# (`>>word`) and the banners of its sections have the same words in the same order, once each; the tool's README names each
# of its files; formats are listed in one place. What names the version or the licence agrees. No table in a comment is broken.
set -euo pipefail
cd "$(dirname "$0")/../.."

contents=$(sed -n '/^ \* CONTENTS/,/^ \* [A-Z][A-Z ]*$/s/^ \*  *>>\([a-z0-9-]*\) .*/\1/p' gotrace.h)
banners=$(sed -n 's,^\(/\*\|//\) -\{10\}.*>>\([a-z0-9-]*\) -.*,\2,p' gotrace.h)
[ -n "$contents" ] || { echo "no contents found in the guide"; exit 1; }
if ! diff <(echo "$contents") <(echo "$banners"); then
  echo "< in the contents only, > in the banners only (or out of order)"
  exit 1
fi
twice=$(sort <<<"$contents" | uniq -d)
[ -z "$twice" ] || { printf 'several sections are called:\n%s\n' "$twice"; exit 1; }
missing=$(for test in tests/*/test_*.c tests/*/test_*.sh tests/cases/*.c; do
  name=${test#tests/}
  [ "$name" = cases/case.c ] || grep -qE "\\b${name##*/}" tests/README.md || echo "$test"
done)
[ -z "$missing" ] || { printf 'tests/README.md does not name:\n%s\n' "$missing"; exit 1; }
twice=$(for test in tests/*/test_*.c tests/*/test_*.sh; do basename "$test"; done | sort | uniq -d)
[ -z "$twice" ] || { printf 'several tests are called:\n%s\n' "$twice"; exit 1; }
missing=$(for file in examples/gotrace/*.c examples/gotrace/*/*.c examples/adapters/*.[ch]*; do
  folder=${file#examples/}
  grep -q "\`${file##*/}\`" "examples/${folder%%/*}/README.md" || echo "$file"
done)
[ -z "$missing" ] || { printf 'the README of the folder does not name:\n%s\n' "$missing"; exit 1; }

# What says more of each format than its name has all of them, and nothing else lists them: it would lack the next one.
formats=$(tests/formats.sh)
for format in $formats; do
  grep -q "GOTRACE_GO_${format/./_}\`" tests/bench/README.md || { echo "tests/bench/README.md does not name format $format"; exit 1; }
  tests/go/open_in_go.sh --releases "$format" >/dev/null
done
grep -q "(Go 1.8 to $format;" README.md || { echo "README.md does not name format $format"; exit 1; }
lists=$(grep -rnE 'GO_1_[8], +GOTRACE_GO_1_10|1[.]8[", ]+1[.]10[", ]+1[.]11|10[0]8, 1010' Makefile examples fuzz tests --include='*.[chps]*' --include=Makefile || true)
[ -z "$lists" ] || { printf 'lists of formats beside GOTRACE_FORMATS and tests/formats.sh:\n%s\n' "$lists"; exit 1; }

# `make format` joins the rows of a table in a comment if one is too long: columns in a line that begins at the margin.
broken=$(grep -rnE '^ \* [a-z].*[a-z?)] {4,}[A-Za-z]' gotrace.h examples fuzz tests --include='*.[ch]' --include='*.[ch]pp' || true)
[ -z "$broken" ] || { printf 'broken tables:\n%s\n' "$broken"; exit 1; }

# The version, to the second number, as >>version has it.
version=$(sed -n 's/^#define GOTRACE_VERSION "\(.*\)"/\1/p' gotrace.h)
short=${version%.*}
says_version() { [ "$2" = "$3" ] || { echo "$1: version '$2', not $3"; exit 1; }; }
says_version gotrace.h "$(sed -n '1s/.* version //p' gotrace.h)" "$short"
says_version README.md "$(sed -n 's/^Version \([0-9.]*[0-9]\).*/\1/p' README.md)" "$short"
says_version examples/packaging/CHANGES.md "$(sed -n 's/^## //p' examples/packaging/CHANGES.md | head -n 1)" "$short"
says_version examples/packaging/debian/changelog "$(sed -n '1s/^gotrace (\(.*\)) .*/\1/p' examples/packaging/debian/changelog)" "$version"
says_version examples/packaging/debian/control "$(sed -n 's/^Package: libgotrace\([0-9]\)/\1/p' examples/packaging/debian/control)" "$short"

# The licence, without white space and the comment's frame: at the end of the header, and in LICENSE.
words() { sed 's|^ [*]/\{0,1\}||' "$1" | tr -s ' \n' '\n\n' | sed '/^$/d'; }
diff <(words LICENSE) <(words gotrace.h | sed -n '/^MIT$/,$p') || { echo "< LICENSE, > the end of gotrace.h"; exit 1; }
lines=$(wc -l <README.md)
[ "$lines" -le 130 ] || { echo "README.md has $lines lines, more than 130"; exit 1; }
echo "$(wc -l <<<"$contents") sections"
