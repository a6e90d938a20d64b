#!/usr/bin/env bash
# All that make and the tests compile goes below build/ or into a temporary folder, what only finds out whether something
# can be compiled too: the linkers of some compilers delete what -o names first, so that root would lose /dev/null. A
# checkout that cannot be written says so at once. A test that skips itself without a reason fails.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
wrong=''
fail() { echo "fails: $*" && wrong=1; }

# By text, in everything that runs a compiler.
grep -nE '(\$\(?CC|\$\(?CXX|\$\(?CLANG|\$\(?MINGW|\bcc\b|\btcc\b|gcc|g\+\+|clang|compiler|\$build\b).* -o *"?/dev/' -r Makefile tests examples .ci \
  --include=Makefile --include='*.sh' --include='*.py' --include='*.cmake' --include=run --exclude=test_make.sh && fail 'a compiler writes to a device'

# By watching a compiler's outputs.
cat >"$dir/cc" <<'C'
#!/bin/sh
for word; do
  [ "$before" != -o ] || echo "$word" >>"$(dirname "$0")/outputs"
  before=$word
done
exec "${CC_OF_THE_TEST:-cc}" "$@"
C
chmod +x "$dir/cc"
mkdir "$dir/copy"
cp -r Makefile gotrace.h examples fuzz tests "$dir/copy"
for goal in build/examples/gotrace build/tests/address/test_varint build/examples/libgotrace-record.so build/fuzz-replay/tool; do
  make -n -C "$dir/copy" CC="$dir/cc" CLANG="$dir/cc" "$goal" >"$dir/commands" || fail "make -n $goal"
  grep -q . "$dir/commands" || fail "make -n $goal does nothing"
done
grep -q . "$dir/outputs" || fail 'no compiler has been tried'
! grep -v '^build/' "$dir/outputs" || fail 'outputs that are not below build/'
[ -z "$(ls "$dir/copy/build")" ] || fail "left behind: $(ls "$dir/copy/build")"

# Without the right to write. Root has it whatever the mode says.
rmdir "$dir/copy/build"
chmod 755 "$dir"
chmod -R a+rX "$dir/copy"
chmod a-w "$dir/copy"
as=()
[ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --clear-groups)
if [ "$(id -u)" != 0 ] || command -v setpriv >/dev/null; then
  for goal in demo test ''; do
    # shellcheck disable=SC2086 # no goal is no word
    ${as[@]+"${as[@]}"} make -C "$dir/copy" $goal >"$dir/said" 2>&1 && fail "make $goal succeeds in a checkout that cannot be written"
    grep -q 'cannot be written' "$dir/said" && [ "$(wc -l <"$dir/said")" -lt 5 ] || { cat "$dir/said"; fail "make $goal does not say that the checkout cannot be written"; }
  done
  ${as[@]+"${as[@]}"} make -s -C "$dir/copy" help >"$dir/said" 2>&1 || fail 'make help needs to write'
fi

# A runner that lists one test.
mkdir "$dir/copy2"
cp -r tests Makefile gotrace.h examples fuzz "$dir/copy2"
printf '#!/bin/sh\n%s\n' 'echo; exit 77' >"$dir/copy2/tests/sources/check_contents.sh"
(cd "$dir/copy2" && sed -i 's/^shared+=(build\/examples\/gotrace).*//; s/tests\/build.sh -j/true/' tests/run.sh && tests/run.sh -o check_contents) >"$dir/said" 2>&1 &&
  fail 'a test that is skipped without a reason has not failed'
grep -q 'FAILED check_contents' "$dir/said" || { cat "$dir/said"; fail 'no failure of a test that is skipped without a reason'; }
printf '#!/bin/sh\n%s\n' 'echo needs luck; echo; exit 77' >"$dir/copy2/tests/sources/check_contents.sh"
(cd "$dir/copy2" && tests/run.sh -o check_contents) >"$dir/said" 2>&1 || true
grep -q 'skipped check_contents: needs luck' "$dir/said" || { cat "$dir/said"; fail 'the reason of a skipped test is not shown'; }
[ -z "$wrong" ]
