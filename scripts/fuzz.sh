#!/usr/bin/env bash
# Fuzzes every target of every package for a while and prints a table of them.
# It fails when a target fails; go test has then written the input that does it
# to testdata/fuzz beside the target.
#
#   scripts/fuzz.sh [DURATION [REGEXP]]
#
# DURATION is for each target, 10s unless said (30s, 5m, or 100000x for a number
# of executions); REGEXP picks targets by "package.Name".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

duration=${1-10s}
filter=${2-.}

# go test -list prints a package's targets and then its "ok" line.
targets() {
  go test -list '^Fuzz' ./... | awk '
    /^Fuzz/ { names[++n] = $1 }
    $1 == "ok" { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }'
}

# Until Go 1.27 a run may end with a bare "context deadline exceeded" although
# nothing failed (https://go.dev/issue/75804). A real failure says more.
ended_late() {
  grep -q '^ *context deadline exceeded$' "$1" && ! grep -qE 'Failing input written|panic:|testdata/fuzz' "$1"
}

logs=$(mktemp -d "${TMPDIR:-/tmp}/fuzz.XXXXXX")
trap 'rm -rf "$logs"' EXIT
targets >"$logs/targets"
row='%-34s %-38s %14s  %s\n'
found=0 failed=0
while read -r package name; do
  grep -qE -- "$filter" <<<"$package.$name" || continue
  # shellcheck disable=SC2059  # the format is the table's row
  [[ $found -gt 0 ]] || printf "$row" package target executions result
  found=$((found + 1))
  log=$logs/$found
  result=ok
  # Long inputs would be minimised for most of the time that there is.
  if ! go test -run '^$' -fuzz "^$name\$" -fuzztime "$duration" -fuzzminimizetime 10x "$package" >"$log" 2>&1 </dev/null; then
    if ! ended_late "$log"; then
      result=FAIL
      failed=$((failed + 1))
    fi
  fi
  executions=$(awk '/^fuzz: elapsed/ { for (i = 1; i < NF; i++) if ($i == "execs:") n = $(i + 1) } END { print n + 0 }' "$log")
  # shellcheck disable=SC2059
  printf "$row" "$package" "$name" "$executions" "$result"
  [[ $result == ok ]] || sed 's/^/    /' "$log"
done <"$logs/targets"

if [[ $found -eq 0 ]]; then
  echo "scripts/fuzz.sh: no fuzz target matches $filter" >&2
  exit 1
fi
echo "$found targets, $failed failed"
[[ $failed -eq 0 ]]
