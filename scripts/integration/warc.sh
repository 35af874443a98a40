#!/usr/bin/env bash
# Checks WARC against another program: robotsbatch must find the same rules in the files of
# warcio, in each version and compression. It needs Go, python3 and PyPI; without python3 it
# is skipped, which is a failure if CI is set.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python_with warcio==1.8.1 brotli==1.2.1
build
"$scratch/venv/bin/python" scripts/integration/warc.py "$scratch/robotsbatch" "$scratch"
