# Sourced by the checks against other programs. It goes to the top level, makes
# the folder $scratch, which is removed in the end, and has what they all need.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scratch=$(mktemp -d "${TMPDIR:-/tmp}/$(basename "$0" .sh).XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# skip ends the check because something is not there, which is a failure where
# CI is set.
skip() {
  echo "SKIP: $1"
  [[ -z ${CI-} ]]
  exit
}

# python_with makes $scratch/venv/bin/python, with packages of PyPI such as
# warcio==1.8.1.
python_with() {
  if ! command -v python3 >/dev/null || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    skip "python3 with venv is not installed"
  fi
  python3 -m venv "$scratch/venv"
  "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check "$@"
}

# build makes $scratch/robotsbatch.
build() {
  go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
}

# node_with makes a folder in $scratch like the one that it is given, with the
# packages of npm that its lock file names.
node_with() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    skip "node with npm is not installed"
  fi
  cp -r "$1" "$scratch"
  (cd "$scratch/$(basename "$1")" && npm ci --silent --ignore-scripts)
}
