#!/usr/bin/env bash
# Compares making a rule pack from a crawl's WARC files with only decompressing them and
# compiling their distinct bodies, and records the results in
# bench/record/warc-CAPTURES.txt. The crawl is generated, some 1.8 KB compressed per
# capture. All files are written to a folder under TMPDIR, which is removed.
#
#   scripts/warc.sh [-captures N] [-count N] [-data FOLDER]
#
# The default is a million captures and three rounds. FOLDER was written by bench/warc
# -generate.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

read_options captures=1000000 count=3 data='' -- "$@"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/warc.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
go build -o "$scratch/warc" ./bench/warc
if [[ -z $data ]]; then
  data=$scratch/crawl
  "$scratch/warc" -generate "$data" -captures "$captures"
fi
{
  record_head
  echo "captures: $captures"
  echo
  "$scratch/warc" -measure "$data" -program "$scratch/robotsbatch" -count "$count"
} 2>&1 | tee "$scratch/record"
keep "$scratch/record" "warc-$captures.txt"
