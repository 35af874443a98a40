#!/usr/bin/env bash
# Checks Parquet against other programs: pyarrow, polars and duckdb must read
# what robotsbatch writes and count the same verdicts, and robotsbatch must read
# what they write. It needs Go, python3 and PyPI; without python3 it is skipped,
# which is a failure where CI is set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v python3 >/dev/null || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
  echo "SKIP: python3 with venv is not installed"
  [[ -z ${CI-} ]]
  exit
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/parquet.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check \
  pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.0
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
"$scratch/venv/bin/python" scripts/integration/parquet.py "$scratch/robotsbatch" bench/corpus/sample "$scratch"
