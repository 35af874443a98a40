#!/usr/bin/env bash
# Writes bench/corpus/sample. A test compares the sample with the generator, so this is only
# needed after an intended change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sample=bench/corpus/sample
rm -rf "$sample"
# Small batches give several of them; the two outputs have different compressions.
go run ./bench/corpus/gen -sample -out "$sample" -rows 512 -formats arrow,txt.zst
go run ./bench/corpus/gen -sample -out "$sample" -rows 512 -formats arrows -compression lz4 -rules=false
