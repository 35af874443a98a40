#!/usr/bin/env bash
# Runs benchmarks and records the raw output under bench/record/, headed by
# what is needed to read it later, in the form that benchstat takes.
#
#   scripts/bench.sh [-name NAME] [-count N] [-benchtime T] [REGEXP [PACKAGE...]]
#
# The default is every benchmark of every package, ten times. Compare two runs:
#
#   go tool -modfile=scripts/tools/go.mod benchstat OLD.txt NEW.txt
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

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

cpu() {
  if [[ -r /proc/cpuinfo ]]; then
    awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo
  else
    sysctl -n machdep.cpu.brand_string 2>/dev/null || uname -m
  fi
}

commit=$(git rev-parse --short=12 HEAD)
changed=
[[ -z $(git status --porcelain --untracked-files=no) ]] || changed=+changes

mkdir -p bench/record
record=bench/record/$(date -u +%Y-%m-%d)-$commit$changed-$name.txt
if [[ -e $record ]]; then
  echo "scripts/bench.sh: $record is there already; give this run another -name" >&2
  exit 1
fi
partial=$(mktemp "${TMPDIR:-/tmp}/bench.XXXXXX")
trap 'rm -f "$partial"' EXIT
{
  echo "date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "commit: $commit$changed"
  echo "go: $(go env GOVERSION)"
  echo "processor: $(cpu), $(getconf _NPROCESSORS_ONLN) cores"
  echo
} >"$partial"
go test -run '^$' -bench "$regexp" -benchmem -benchtime "$benchtime" -count "$count" -timeout 0 "$@" | tee -a "$partial"
grep -q '^Benchmark' "$partial" || { echo "scripts/bench.sh: no benchmark matches $regexp" >&2; exit 1; }
cp "$partial" "$record"
echo "recorded in $record"
