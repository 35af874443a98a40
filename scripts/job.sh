#!/usr/bin/env bash
# Compares the whole job with the same job run by an evaluator that sets every bit: from
# Arrow to Arrow and from Parquet to Parquet, both zstd, with rules from a folder and from a
# pack, and with two workers and one. Records the results in
# bench/record/job-DATE-COMMIT.txt. Data and temporary files are written to a folder under
# TMPDIR, which is removed.
#
#   scripts/job.sh [-urls N] [-origins N] [-count N] [-data FOLDER]
#
# The default is two million URLs over twenty thousand origins, nine rounds.
# FOLDER was written by bench/corpus/gen: frontier.arrow, frontier.parquet and rules.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

read_options urls=2000000 origins=20000 count=9 data='' -- "$@"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/job.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
if [[ -z $data ]]; then
  data=$scratch/corpus what="$urls made-up URLs over $origins origins"
  go run ./bench/corpus/gen -out "$data" -urls "$urls" -origins "$origins" -formats arrow,parquet
else
  what=$data
fi
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
go build -o "$scratch/job" ./bench/job
"$scratch/robotsbatch" compile -rules "$data/rules" -out "$scratch/site.rules" -quiet
{
  record_head
  echo "data: $what"
  echo
  TMPDIR=$scratch "$scratch/job" -in "$data/frontier.arrow" -in "$data/frontier.parquet" \
    -rules "$data/rules" -rules "$scratch/site.rules" -program "$scratch/robotsbatch" -count "$count"
} | tee "$scratch/record"
keep "$scratch/record" "job-$(date -u +%Y-%m-%d)-$commit.txt"
