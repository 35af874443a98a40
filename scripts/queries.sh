#!/usr/bin/env bash
# Measures verdicts within queries of DuckDB and Polars beside evaluate, and beside the
# library protego in functions of the same kind. It records what it measured in
# bench/record/queries-DATE.txt.
#
#   scripts/queries.sh -urls FILE -rules FOLDER
#
# FILE has a URL a line, and may be compressed with zstd; FOLDER has robots.txt files by host.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

[[ $# -eq 4 && $1 == -urls && $3 == -rules ]] || { echo "usage: scripts/queries.sh -urls FILE -rules FOLDER" >&2; exit 2; }
urls=$2 rules=$4
scratch=$(mktemp -d "${TMPDIR:-/tmp}/queries.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 duckdb==2.0.0 polars==2.1.0 protego==0.7.0
scripts/wheel.sh -out "$scratch/dist" "$(go env GOOS)/$(go env GOARCH)" >/dev/null
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps "$scratch"/dist/*.whl
if [[ $urls == *.zst ]]; then
  zstd -dqc "$urls" >"$scratch/urls.txt"
  urls=$scratch/urls.txt
fi
"$scratch/venv/bin/robotsbatch" compile -rules "$rules" -out "$scratch/site.rules" -quiet
{
  record_head
  echo "python: $("$scratch/venv/bin/python" -V), pyarrow 26.0.1, duckdb 2.0.0, polars 2.1.0, protego 0.7.0"
  "$scratch/venv/bin/python" scripts/python/queries.py "$urls" "$rules" "$scratch/site.rules" CCBot
} | tee "$scratch/record"
keep "$scratch/record" "queries-$(date -u +%Y-%m-%d).txt"
