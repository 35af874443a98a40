#!/usr/bin/env bash
# Checks WARC against another program: robotsbatch must find the same rules in
# what warcio writes, whichever version and compression. It needs Go, python3 and
# PyPI; without python3 it is skipped, which is a failure where CI is set.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python_with warcio==1.8.1 brotli==1.2.1
build
"$scratch/venv/bin/python" scripts/integration/warc.py "$scratch/robotsbatch" "$scratch"
