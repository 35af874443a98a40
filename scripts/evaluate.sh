#!/usr/bin/env bash
# Measures the Python package: evaluate on a table in memory beside the command on the same
# data as an Arrow file, its peak of memory, and small batches through reader. It records
# what came out in bench/record/evaluate-DATE.txt.
#
#   scripts/evaluate.sh [ROWS [BATCHES]]
#
# The default is ten million rows and a million batches.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

rows=${1-10000000} batches=${2-1000000}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/evaluate.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
scripts/wheel.sh -out "$scratch/dist" "$(go env GOOS)/$(go env GOARCH)" >/dev/null
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps "$scratch"/dist/*.whl
go run ./bench/corpus/gen -out "$scratch/corpus" -urls "$rows" -origins $((rows / 100)) -formats arrow -compression none -pack
{
  record_head
  echo "python: $("$scratch/venv/bin/python" -V), pyarrow 26.0.1"
  echo "data: $rows URLs over $((rows / 100)) origins, 3 columns, Arrow without compression"
  "$scratch/venv/bin/python" scripts/python/measure.py "$scratch/corpus/frontier.arrow" "$scratch/corpus/site.rules" CCBot "$scratch/out" "$batches"
} | tee "$scratch/record"
keep "$scratch/record" "evaluate-$(date -u +%Y-%m-%d).txt"
