#!/usr/bin/env bash
# Measures what a host costs: jobs from Parquet to Parquet over lists of many hosts, each with
# a robots.txt of its own in a rule pack, beside Polars' copy of the same file. The lists are
# 100,000 hosts of ten URLs and 40,000 of sixty, by reversed host and shuffled. Records them
# in bench/record/hosts-NAME-DATE.md. It needs Linux, Go, python3 with venv and PyPI.
#
#   scripts/hosts.sh [-list URLS.txt.zst -rules FOLDER] [-rounds N]
#
# Without real URLs and their robots.txt (HOST or HOST_PORT each) both are made up.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

read_options list='' rules='' rounds=5 -- "$@"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/hosts.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check -r bench/engines/requirements.txt
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
go build -o "$scratch/engines" ./bench/engines
go build -o "$scratch/hosts" ./bench/hosts
kind=made-up
[[ -z $list ]] || kind=real
for size in "100000 10 0.65 1.5" "40000 60 0.45 1.2"; do
  read -r hosts urls sorted shuffled <<<"$size"
  data=$scratch/$urls
  "$scratch/hosts" -out "$data" -hosts "$hosts" -urls "$urls" -list "$list" -rules "$rules"
  TMPDIR=$scratch "$scratch/engines" -robotsbatch "$scratch/robotsbatch" -python "$scratch/venv/bin/python" \
    -rules "$data/site.rules" -rounds "$rounds" -commit "$commit" -engines polars -name "hosts-$kind-$urls" \
    -data "$hosts hosts with $urls URLs each and a $kind robots.txt of their own" \
    -case "by reversed host=$data/sorted.parquet=$sorted" -case "shuffled=$data/shuffled.parquet=$shuffled"
done
