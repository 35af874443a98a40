#!/usr/bin/env bash
# Measures robotsbatch pipe from the other end: the time from the start to the first
# answer with rule packs of two sizes, and what batches cost of a client that waits for
# each answer. It records what came out in bench/record/pipe-DATE.txt.
#
#   scripts/pipe.sh [ORIGINS]
#
# ORIGINS are those of the larger pack, by default a million.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

large=${1-1000000}
[[ $# -le 1 && $large =~ ^[0-9]+$ ]] || { echo "usage: scripts/pipe.sh [ORIGINS]" >&2; exit 2; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/pipe.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
go build -o "$scratch/pack" ./bench/pack
go build -o "$scratch/pipe" ./bench/pipe
{
  record_head
  for origins in 1000 "$large"; do
    "$scratch/pack" -origins "$origins" -bodies $((origins / 10)) -out "$scratch/site.rules" >/dev/null
    echo
    echo "a pack of $origins authorities, $(wc -c <"$scratch/site.rules") bytes"
    "$scratch/pipe" -program "$scratch/robotsbatch" -rules "$scratch/site.rules" -origins "$origins"
  done
} | tee "$scratch/record"
keep "$scratch/record" "pipe-$(date -u +%Y-%m-%d).txt"
