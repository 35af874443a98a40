#!/usr/bin/env bash
# Runs every command of the manual's page on DuckDB, in order, with DuckDB's own command
# line, and compares what DuckDB counts with what robotsbatch says.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python_with duckdb-cli==1.5.6
build
export PATH=$scratch:$scratch/venv/bin:$PATH
sample=$PWD/bench/corpus/sample page=$PWD/cmd/robotsbatch/manual/duckdb.md
mkdir "$scratch/work" && cd "$scratch/work"
cp -r "$sample/rules" robots
robotsbatch compile -rules robots -out site.rules -quiet
robotsbatch -in "$sample/frontier.arrow" -rules robots -prefix x_ -columns url -out frontier.parquet -quiet
echo https://www.economygallery31.test/ >urls.txt

commands=0
while IFS= read -r command; do
  echo "\$ $command"
  bash -euo pipefail -c "$command"
  commands=$((commands + 1))
done < <(sed -n 's/^    //p' "$page")
[[ $commands -ge 10 ]] || { echo "duckdb.sh: the page has $commands commands" >&2; exit 1; }

count() { duckdb -csv -noheader -c "SELECT count(*) FROM '$1' ${2-}"; }
robotsbatch -in frontier.parquet -rules robots -agent CCBot -out direct.csv -quiet
allowed=$(grep -c ',true$' direct.csv)
[[ $(count verdicts.parquet 'WHERE allowed') == "$allowed" && $(count ready.parquet) == "$allowed" && $(count allowed.parquet) == "$allowed" ]] ||
  { echo "duckdb.sh: DuckDB counts other verdicts than $allowed" >&2; exit 1; }
echo "$commands commands; DuckDB counts $allowed allowed rows, as robotsbatch does"
