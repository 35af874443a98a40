# Sourced by the checks against other programs. It changes to the top level and makes the
# folder $scratch, which is removed at the end.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scratch=$(mktemp -d "${TMPDIR:-/tmp}/$(basename "$0" .sh).XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# CHECKS names a folder in which several scripts share the program and the environment of
# Python that the first of them makes. Without it, each makes its own.
shared=${CHECKS-$scratch}

# skip ends the check because something is missing. That is a failure if CI is set.
skip() {
  echo "SKIP: $1"
  [[ -z ${CI-} ]]
  exit
}

# python_with PACKAGE... makes $scratch/venv/bin/python with packages from PyPI, such as
# warcio==1.8.1. PYTHON_VENV names an environment that has them, to save the time.
python_with() {
  if [[ -n ${PYTHON_VENV-} ]]; then
    ln -s "$PYTHON_VENV" "$scratch/venv"
    return
  fi
  if ! command -v python3 >/dev/null || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    skip "python3 with venv is not installed"
  fi
  [[ -d $shared/venv ]] || python3 -m venv "$shared/venv"
  "$shared/venv/bin/pip" install --quiet --disable-pip-version-check "$@"
  [[ $shared == "$scratch" ]] || ln -s "$shared/venv" "$scratch/venv"
}

# The Spark of the checks that use it: one version, so that pip's cache has it for the next.
# shellcheck disable=SC2034  # used where this is sourced
pyspark=pyspark==4.3.0

# build makes $scratch/robotsbatch.
build() {
  [[ -e $shared/robotsbatch ]] || go build -o "$shared/robotsbatch" ./cmd/robotsbatch
  [[ $shared == "$scratch" ]] || cp "$shared/robotsbatch" "$scratch"
}

# node_with FOLDER copies a folder to $scratch and installs the npm packages of its lock
# file there.
node_with() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    skip "node with npm is not installed"
  fi
  cp -r "$1" "$scratch"
  (cd "$scratch/$(basename "$1")" && npm ci --silent --ignore-scripts)
}
