#!/usr/bin/env bash
# Checks Parquet against other programs: pyarrow, polars and duckdb must read
# what robotsbatch writes and count the same verdicts, and robotsbatch must read
# what they write. It needs Go, python3 and PyPI; without python3 it is skipped,
# which is a failure where CI is set.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python_with pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.0
build
"$scratch/venv/bin/python" scripts/integration/parquet.py "$scratch/robotsbatch" bench/corpus/sample "$scratch"
