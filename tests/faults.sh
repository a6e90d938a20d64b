# shellcheck shell=bash
# Sourced by tests that go on after a fault. run.sh's summary has only the end of a test's output, so they repeat there
# what was wrong.

faults=()

# fault TEXT [FILE]: prints what is wrong, and the first lines of FILE, which tells more.
fault() {
  echo "FAILED $1${2:+:}"
  [ $# = 1 ] || sed '30q; s/^/    /' "$2"
  faults+=("$1${2:+: $(head -n 2 "$2" | tr -s '\n\t ' ' ')}")
}

# has_told FILE: the lines of FILE that begin with FAILED have been printed.
has_told() {
  local line
  while IFS= read -r line; do faults+=("$line"); done < <(sed -n 's/^FAILED //p' "$1")
}

# Prints the first ten faults again, each in one line.
repeat_faults() {
  [ ${#faults[@]} = 0 ] || printf 'FAILED %s\n' "${faults[@]:0:10}" | cut -c 1-200
}
