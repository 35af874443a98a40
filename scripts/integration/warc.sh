#!/usr/bin/env bash
# Checks WARC against another program: robotsbatch must find the same rules in
# what warcio writes, whichever version and compression. It needs Go, python3 and
# PyPI; without python3 it is skipped, which is a failure where CI is set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v python3 >/dev/null || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
  echo "SKIP: python3 with venv is not installed"
  [[ -z ${CI-} ]]
  exit
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/warc.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check warcio==1.8.1 brotli==1.2.1
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
"$scratch/venv/bin/python" scripts/integration/warc.py "$scratch/robotsbatch" "$scratch"
