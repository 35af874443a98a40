#!/usr/bin/env bash
# Runs benchmarks and records the raw output under bench/record/, in the form that benchstat
# reads. The header describes the machine and the commit.
#
#   scripts/bench.sh [-name NAME] [-count N] [-benchtime T] [REGEXP [PACKAGE...]]
#
# The default is every benchmark of every package, ten times. Compare two runs:
#
#   go tool -modfile=scripts/tools/go.mod benchstat OLD.txt NEW.txt
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

usage() {
  echo "usage: scripts/bench.sh [-name NAME] [-count N] [-benchtime T] [REGEXP [PACKAGE...]]" >&2
  exit 2
}

name=bench count=10 benchtime=1s
while [[ ${1-} == -* ]]; do
  [[ $# -ge 2 ]] || usage
  case $1 in
    -name) name=$2 ;;
    -count) count=$2 ;;
    -benchtime) benchtime=$2 ;;
    *) usage ;;
  esac
  shift 2
done
regexp=${1-.}
[[ $# -eq 0 ]] || shift
[[ $# -gt 0 ]] || set -- ./...

record=$(date -u +%Y-%m-%d)-$commit-$name.txt
if [[ -e bench/record/$record ]]; then
  echo "scripts/bench.sh: bench/record/$record is there already; give this run another -name" >&2
  exit 1
fi
partial=$(mktemp "${TMPDIR:-/tmp}/bench.XXXXXX")
trap 'rm -f "$partial"' EXIT
{
  record_head
  echo
} >"$partial"
go test -run '^$' -bench "$regexp" -benchmem -benchtime "$benchtime" -count "$count" -timeout 0 "$@" | tee -a "$partial"
grep -q '^Benchmark' "$partial" || { echo "scripts/bench.sh: no benchmark matches $regexp" >&2; exit 1; }
keep "$partial" "$record"
