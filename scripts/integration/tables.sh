#!/usr/bin/env bash
# Checks Arrow and Parquet against other programs. pyarrow, polars, duckdb, apache-arrow and
# hyparquet must read the outputs of robotsbatch and count the same verdicts, and
# robotsbatch must read theirs. To all of them, columns that pass through must be the same
# before and after. It needs Go, python3 and PyPI, node and npm; what is missing is skipped,
# which is a failure if CI is set.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

sample=$PWD/bench/corpus/sample
python_with pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.0
build
for check in arrow parquet facts passed gone export survey uses months; do
  "$scratch/venv/bin/python" "scripts/integration/$check.py" "$scratch/robotsbatch" "$sample" "$scratch"
done
# Random tables pass every conversion. RANDOM_TABLES=2000 tries more of them.
"$scratch/venv/bin/python" scripts/integration/random_tables.py "$scratch/robotsbatch" "$scratch" 0 "${RANDOM_TABLES:-200}"
node_with scripts/integration/javascript
node "$scratch/javascript/tables.js" "$scratch/robotsbatch" "$sample" "$scratch"
node "$scratch/javascript/passed.js" "$scratch"
