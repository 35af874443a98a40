#!/usr/bin/env bash
# Compares robotsbatch -emit with Polars, DuckDB and pyarrow, which filter the same table by
# a ready column of booleans: texts of 24 KB, of 2 KB and none, with 0.1, 4 and 50 rows in a
# hundred left out, in any order and grouped by host. Records processor time, memory and
# sizes in bench/record/filter-tables-DATE.md. It fails if an output does not have the rows
# that stay, not because of times. It needs Linux, Go, python3 with venv and PyPI. Data and
# outputs are written to a folder under TMPDIR, which is removed.
#
#   scripts/filter.sh [-quick] [-size PART] [-rounds N] [-threads N] [-case TEXT] [-python PROGRAM]
#
# The default is 300 MB of texts, four million rows without, three rounds and two threads,
# which takes half an hour; -quick is a third of that in one round, and records nothing.
# PART makes tables smaller or larger, TEXT selects lines ("24 KB, 4, any"). PROGRAM is a
# Python that has the packages of bench/engines/requirements.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

usage() {
  echo "usage: scripts/filter.sh [-quick] [-size PART] [-rounds N] [-threads N] [-case TEXT] [-python PROGRAM]" >&2
  exit 2
}

quick='' python='' options=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -quick)
      quick=1 options+=(-size 0.33 -rounds 1)
      shift
      continue
      ;;
    -size | -rounds | -threads | -case) [[ $# -ge 2 ]] || usage && options+=("$1" "$2") ;;
    -python) [[ $# -ge 2 ]] || usage && python=$2 ;;
    *) usage ;;
  esac
  shift 2
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/filter.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
if [[ -z $python ]]; then
  python3 -m venv "$scratch/venv"
  python=$scratch/venv/bin/python
  "$python" -m pip install --quiet --disable-pip-version-check -r bench/engines/requirements.txt
fi
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
{
  echo "# Filtering tables, beside engines that filter by a ready column"
  echo
  cat bench/filter/head.md
  echo
  record_head | sed 's/$/  /'
  TMPDIR=$scratch python3 bench/filter/measure.py "${options[@]}" "$scratch/robotsbatch" "$python"
} | tee "$scratch/record.md"
[[ -n $quick ]] || keep "$scratch/record.md" "filter-tables-$(date -u +%F).md"
