#!/usr/bin/env bash
# Checks the Python package: the wheel with its binary goes into fresh environments
# of two Python versions and, with --target, into a folder; its tests run against
# pyarrow, pandas, Polars, DuckDB, Ray, Spark and datatrove of PyPI, and mypy reads it,
# and the Spark jobs. It needs Go, python3 (3.11 or later; a second version is python3.12,
# or what pyenv has), Java for Spark, and PyPI; what is missing is skipped, which is a
# failure where CI is set.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

second=$(command -v python3.12 || true)
if [[ -z $second ]] || ! "$second" -c '' 2>/dev/null; then
  second=$(find "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python3 2>/dev/null | head -n 1)
fi
[[ -n $second ]] || skip "no second version of Python: python3.12"

python_with pyarrow==26.0.1 pandas==3.1.1 polars==2.1.0 duckdb==2.0.0 ray==2.60.0 datatrove==0.10.1 \
  "$pyspark" regex orjson pytest==9.2.0 mypy==2.4.1
scripts/wheel.sh -out "$scratch/dist" "$(go env GOOS)/$(go env GOARCH)"
wheel=$(echo "$scratch"/dist/*.whl)

# Where it is not installed, pip may not replace it by one of PyPI.
install() { "$1" -m pip install --quiet --disable-pip-version-check --no-index --no-deps "${@:2}" "$wheel"; }
install "$scratch/venv/bin/python"
(
  cd scripts/python
  "$scratch/venv/bin/python" -m mypy
  "$scratch/venv/bin/python" -m mypy ../spark
  "$scratch/venv/bin/python" -m pytest -q -rs | tee "$scratch/pytest"
)
go test ./cmd/robotsbatch -run 'TestEveryWayToAskGivesTheSameAnswer/Python' -python "$scratch/venv/bin/python"
if [[ -n ${CI-} ]] && grep '^SKIPPED' "$scratch/pytest"; then
  echo "python.sh: tests were skipped, which all must run here" >&2
  exit 1
fi

"$second" -m venv "$scratch/second"
"$scratch/second/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 pytest==9.2.0
install "$scratch/second/bin/python"
(cd scripts/python && "$scratch/second/bin/python" -m pytest -q tests/test_tables.py tests/test_child.py)

# Without an environment: the binary lies below the folder of --target, or --prefix.
install "$second" --target "$scratch/target"
PYTHONPATH=$scratch/target "$second" -m robotsbatch version | head -n 1
install "$second" --prefix "$scratch/prefix"
packages=$(echo "$scratch"/prefix/lib/python*/site-packages)
[[ $(PYTHONPATH=$packages "$second" -c 'import robotsbatch; print(robotsbatch.find_robotsbatch_bin())') == "$scratch/prefix/bin/robotsbatch" ]]
PYTHONPATH=$packages "$second" -m robotsbatch version | head -n 1
"$scratch/venv/bin/robotsbatch" version | head -n 1
