#!/usr/bin/env bash
# Makes the Python package's wheels, with the static binary in them, one for each
# target of scripts/targets.sh, in dist. It needs Go and Python with pip.
#
#   scripts/wheel.sh [-out FOLDER] [TARGET...]      such as linux/arm64
#
# ROBOTSBATCH_VERSION is the version; by default it is the program's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/targets.sh

out=dist
if [[ ${1-} == -out ]]; then
  out=${2:?"-out needs a folder"}
  shift 2
fi
[[ $# -eq 0 ]] || targets=("$@")
mkdir -p "$out"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) # the same commit gives the same bytes
export SOURCE_DATE_EPOCH
for target in "${targets[@]}"; do
  ROBOTSBATCH_TARGET=$target python3 -m pip wheel --quiet --disable-pip-version-check --no-deps \
    --wheel-dir "$out" ./scripts/python
done
ls "$out"
