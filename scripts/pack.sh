#!/usr/bin/env bash
# Builds a rule pack of a generated corpus, measures it and records the results in
# bench/record/pack-ORIGINS-BODIES.txt. The pack and all temporary files are written to a
# folder under TMPDIR, which is removed.
#
#   scripts/pack.sh [ORIGINS [BODIES]]
#
# The default is a million authorities over a hundred thousand distinct bodies.
# Run as root, it measures cold lookups by dropping the system's cache of files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

origins=${1-1000000} bodies=${2-100000}
[[ $# -le 2 && $origins =~ ^[0-9]+$ && $bodies =~ ^[0-9]+$ ]] || { echo "usage: scripts/pack.sh [ORIGINS [BODIES]]" >&2; exit 2; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/pack.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
go build -o "$scratch/measure" ./bench/pack
measure() { "$scratch/measure" -origins "$origins" -bodies "$bodies" "$@" | tee -a "$scratch/record"; }
{
  record_head
  echo
} >"$scratch/record"
measure -out "$scratch/site.rules"
measure -measure "$scratch/site.rules"
keep "$scratch/record" "pack-$origins-$bodies.txt"
