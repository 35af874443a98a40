#!/usr/bin/env bash
# Compares robotsbatch with Polars, DuckDB and pyarrow, which copy the same table and append
# a constant column. Records times, memory and a chart in bench/record/engines-DATE.md and
# engines.svg; for the tables of a FOLDER in engines-FOLDER-DATE.md and engines-FOLDER.svg.
# It fails if an output differs from its input, not because of times. It needs Linux, Go,
# python3 with venv and PyPI. Data and outputs are written to a folder under TMPDIR, which
# is removed.
#
#   scripts/engines.sh [-rows N] [-wide-rows N] [-origins N] [-rounds N] [-threads N]
#   scripts/engines.sh -data FOLDER [-goal RATIO] [-agent NAME] [-rounds N] [-threads N]
#
# The default is ten million rows of three columns and two million of thirty, over twenty
# thousand origins, in Parquet and in Arrow, five rounds, two threads. FOLDER has the tables
# to measure, .parquet and .arrow, and the rules: the pack site.rules or the folder rules.
# RATIO is the goal there, as a part of Polars' time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

read_options rows=10000000 wide_rows=2000000 origins=20000 data='' goal=0 agent=CCBot rounds=5 threads=2 -- "$@"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/engines.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check -r bench/engines/requirements.txt
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
go build -o "$scratch/engines" ./bench/engines

cases=() name=engines
if [[ -z $data ]]; then
  data=$scratch what="made-up URLs over $origins origins: $rows rows of three columns, $wide_rows of thirty as in Common Crawl's index"
  go build -o "$scratch/gen" ./bench/corpus/gen
  "$scratch/gen" -out "$scratch/three" -origins "$origins" -urls "$rows" -formats parquet,arrow -rules=false
  "$scratch/gen" -out "$scratch/thirty" -origins "$origins" -urls "$wide_rows" -formats parquet,arrow -columns 30 -rules=false
  "$scratch/gen" -out "$scratch" -origins "$origins" -urls "$rows" -formats '' -pack
  for format in parquet arrow; do
    cases+=(-case "three columns=$scratch/three/frontier.$format=0.45" -case "thirty columns=$scratch/thirty/frontier.$format=0.25")
  done
else
  name=engines-$(basename "$data") what="tables of $(basename "$data")"
  for table in "$data"/*.parquet "$data"/*.arrow; do
    [[ ! -e $table ]] || cases+=(-case "$(basename "$table")=$table=$goal")
  done
  if [[ ${#cases[@]} == 0 ]]; then
    echo "scripts/engines.sh: $data has no table that ends in .parquet or .arrow" >&2
    exit 1
  fi
fi
rules=$data/site.rules
if [[ ! -e $rules ]]; then
  rules=$scratch/site.rules
  "$scratch/robotsbatch" compile -rules "$data/rules" -out "$rules" -quiet
fi
TMPDIR=$scratch "$scratch/engines" -robotsbatch "$scratch/robotsbatch" -python "$scratch/venv/bin/python" \
  -rules "$rules" -agent "$agent" -rounds "$rounds" -threads "$threads" -commit "$commit" -data "$what" -name "$name" "${cases[@]}"
