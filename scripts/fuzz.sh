#!/usr/bin/env bash
# Fuzzes every target of every package for a while and prints a table of them. It fails if a
# target fails; go test has then written the failing input to testdata/fuzz next to the
# target.
#
#   scripts/fuzz.sh [-jobs N] [DURATION [REGEXP]]
#
# DURATION is the time for each target: 10s by default (30s, 5m, or 100000x for a number of
# executions). REGEXP selects targets by "package.Name". With -jobs N, N targets are fuzzed
# at the same time, each by one worker. Without it, they are fuzzed one after the other, by
# as many workers as there are processors. For a record, run
# scripts/measure.sh -record run fuzz scripts/fuzz.sh 5m
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  echo "usage: scripts/fuzz.sh [-jobs N] [DURATION [REGEXP]]" >&2
  exit 2
}

jobs=1 parallel=()
while [[ ${1-} == -* ]]; do
  case $1 in
    -jobs)
      [[ ${2-} =~ ^[1-9][0-9]*$ ]] || usage
      jobs=$2 parallel=(-test.parallel 1)
      shift
      ;;
    *) usage ;;
  esac
  shift
done
# Memory in pools outlives a garbage collection, and an execution that takes from a pool
# keeps it: without a limit the heap would grow with each collection.
export GOMEMLIMIT=${GOMEMLIMIT-1GiB}
duration=${1-10s}
filter=${2-.}

# targets prints the folder and the name of each target, those of a package together.
targets() {
  git grep -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | sed 's,^\(.*\)/.*:func ,./\1 ,' | sort -s -k1,1
}

# Until Go 1.27 a run may end with a bare "context deadline exceeded" although
# nothing failed (https://go.dev/issue/75804). A real failure says more.
ended_late() {
  grep -q '^ *context deadline exceeded$' "$1" && ! grep -qE 'Failing input written|panic:|testdata/fuzz' "$1"
}

row='%-34s %-38s %14s  %s\n'

# fuzz PACKAGE NAME BINARY LOG fuzzes a target and prints its row. It does not minimise inputs,
# because long ones would take most of the time.
fuzz() {
  local package=$1 name=$2 binary=$3 log=$4 result=ok executions
  if ! (cd "$package" && "$binary" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$duration" -test.fuzzminimizetime 10x \
    -test.fuzzcachedir "$cache/${package#./}" "${parallel[@]}") >"$log" 2>&1 </dev/null; then
    if ! ended_late "$log"; then
      result=FAIL
      touch "$log.failed"
    fi
  fi
  executions=$(awk '/^fuzz: elapsed/ { for (i = 1; i < NF; i++) if ($i == "execs:") n = $(i + 1) } END { print n + 0 }' "$log")
  # shellcheck disable=SC2059  # the format is the table's row
  printf "$row" "$package" "$name" "$executions" "$result"
  [[ $result == ok ]] || sed 's/^/    /' "$log"
}

logs=$(mktemp -d "${TMPDIR:-/tmp}/fuzz.XXXXXX")
trap 'rm -rf "$logs"' EXIT
targets >"$logs/targets"
cache=$(go env GOCACHE)/fuzz/robotsbatch # where go test has it
found=0 built=''
while read -r package name; do
  grep -qE -- "$filter" <<<"$package.$name" || continue
  # shellcheck disable=SC2059
  [[ $found -gt 0 ]] || printf "$row" package target executions result
  found=$((found + 1))
  if [[ $package != "$built" ]]; then # all its targets are in one binary
    built=$package binary=$logs/$found.test
    go test -c -vet=off -fuzz . -ldflags='-s -w' -o "$binary" "$package" # as go test itself links
  fi
  while [[ $(jobs -rp | wc -l) -ge $jobs ]]; do wait -n || true; done
  fuzz "$package" "$name" "$binary" "$logs/$found" &
done <"$logs/targets"
wait

if [[ $found -eq 0 ]]; then
  echo "scripts/fuzz.sh: no fuzz target matches $filter" >&2
  exit 1
fi
failed=$(find "$logs" -name '*.failed' | wc -l)
echo "$found targets, $failed failed"
[[ $failed -eq 0 ]]
