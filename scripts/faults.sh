#!/usr/bin/env bash
# Measures the time and memory of robotsbatch on hostile inputs, and what it does in bad
# surroundings, such as full disks and kills, and records the tables in
# bench/record/faults-DATE.md, or faults-DATE-SECTION.md for single sections. It fails if a
# run had an outcome that is never right.
#
#   scripts/faults.sh [-n SCALE] [-seed N] [SECTION...]
#
# All sections together take some minutes on two cores. With a SCALE other than 1,
# such as 0.01 for a quick look, nothing is recorded. It needs Linux.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

usage() {
  echo "usage: scripts/faults.sh [-n SCALE] [-seed N] [SECTION...]" >&2
  exit 2
}

scale=1 seed=1
while [[ ${1-} == -* ]]; do
  [[ $# -ge 2 ]] || usage
  case $1 in
    -n) scale=$2 ;;
    -seed) seed=$2 ;;
    *) usage ;;
  esac
  shift 2
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/faults.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
go build -o "$scratch/faults" ./bench/faults
{
  echo "# Faults"
  echo
  echo "What robotsbatch does with broken and hostile inputs (\`scripts/faults.sh${*:+ $*}\`)."
  echo "What the columns mean is said in bench/faults/doc.go."
  echo
  echo "- $(date -u +%Y-%m-%dT%H:%M:%SZ), commit $commit, seed $seed"
  echo "- $(go env GOVERSION), $(processor), $(getconf _NPROCESSORS_ONLN) cores"
} >"$scratch/record"
status=0
TMPDIR=$scratch "$scratch/faults" -robotsbatch "$scratch/robotsbatch" -n "$scale" -seed "$seed" "$@" |
  tee -a "$scratch/record" || status=$?
if [[ $scale == 1 ]]; then
  name=faults-$(date -u +%Y-%m-%d)
  for section in "$@"; do name+=-$section; done
  keep "$scratch/record" "$name.md"
fi
exit "$status"
