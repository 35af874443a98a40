#!/usr/bin/env bash
# Checks Arrow and Parquet against other programs: pyarrow, polars, duckdb,
# apache-arrow and hyparquet must read what robotsbatch writes and count the same
# verdicts, and robotsbatch must read what they write; columns that pass through
# must be the same to all of them before and after. It needs Go, python3 and PyPI,
# node and npm; what is missing is skipped, which is a failure where CI is set.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

sample=$PWD/bench/corpus/sample
python_with pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.0
build
for check in arrow parquet facts passed export survey; do
  "$scratch/venv/bin/python" "scripts/integration/$check.py" "$scratch/robotsbatch" "$sample" "$scratch"
done
# Random tables through every conversion; more of them: RANDOM_TABLES=2000.
"$scratch/venv/bin/python" scripts/integration/random_tables.py "$scratch/robotsbatch" "$scratch" 0 "${RANDOM_TABLES:-200}"
node_with scripts/integration/javascript
node "$scratch/javascript/tables.js" "$scratch/robotsbatch" "$sample" "$scratch"
node "$scratch/javascript/passed.js" "$scratch"
