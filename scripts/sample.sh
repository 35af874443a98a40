#!/usr/bin/env bash
# Writes bench/corpus/sample again. A test holds the generator to it, so this is
# only needed when the sample is meant to change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sample=bench/corpus/sample
rm -rf "$sample"
# Small batches, so that there are several, compressed one way and the other.
go run ./bench/corpus/gen -sample -out "$sample" -rows 512 -formats arrow,txt.zst
go run ./bench/corpus/gen -sample -out "$sample" -rows 512 -formats arrows -compression lz4 -rules=false
