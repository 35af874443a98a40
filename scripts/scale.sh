#!/usr/bin/env bash
# Compares the job on a frontier of 100 million generated URLs over a million origins with
# one of a tenth of both, with rules from packs: the time per URL, and the peak memory,
# which must not grow with the frontier. Records the results in
# bench/record/scale-URLS-ORIGINS.txt. The data, some 4 GB, is written to a folder under
# TMPDIR, which is removed; or to FOLDER, which is kept and used again.
#
#   scripts/scale.sh [-urls N] [-origins N] [-count N] [-data FOLDER]
#
# It takes an hour, mostly to generate the data; Linux only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

read_options urls=100000000 origins=1000000 count=3 data='' -- "$@"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/scale.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
data=${data:-$scratch}
cores=$(getconf _NPROCESSORS_ONLN)

# The parts of a frontier are made in parallel, each a file of some four million URLs;
# existing parts are kept. The pack is always made anew by this version.
make_data() {
  local folder=$data/$1-$2 parts=$((($1 + 3999999) / 4000000))
  mkdir -p "$folder"
  "$scratch/gen" -out "$folder" -urls "$1" -origins "$2" -pack -formats ''
  [[ ! -e $folder/done ]] || return 0
  seq "$parts" | xargs -P "$cores" -I K \
    "$scratch/gen" -out "$folder" -urls "$1" -origins "$2" -rules=false -formats arrow -part "K/$parts"
  touch "$folder/done"
}

measure() {
  local folder=$data/$1-$2
  "$scratch/scale" -urls "$1" "$scratch/robotsbatch" -in "$folder/frontier-*.arrow" \
    -rules "$folder/site.rules" -agent CCBot -out "$scratch/verdicts.arrow" -quiet
}

go build -o "$scratch/gen" ./bench/corpus/gen
go build -o "$scratch/scale" ./bench/scale
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
small_urls=$((urls / 10)) small_origins=$((origins / 10))
make_data "$small_urls" "$small_origins"
make_data "$urls" "$origins"
{
  record_head
  echo
  for ((i = 0; i < count; i++)); do
    measure "$small_urls" "$small_origins"
    measure "$urls" "$origins"
  done
} | tee "$scratch/record"
# median URLS FIELD prints the median of a field over the lines of one size. Field 3 is the
# time per URL, field 7 the processor time.
median() { awk -v urls="$1" -v field="$2" '$1 == urls && $2 == "URLs:" { print $field }' "$scratch/record" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
awk -v large="$(median "$urls" 3)" -v small="$(median "$small_urls" 3)" \
  -v large_cpu="$(median "$urls" 7)" -v small_cpu="$(median "$small_urls" 7)" \
  'BEGIN { printf "the large frontier by the small one: time a URL %.2f, processor time %.2f\n", large / small, large_cpu / small_cpu }' |
  tee -a "$scratch/record"
keep "$scratch/record" "scale-$urls-$origins.txt"
