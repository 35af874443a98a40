#!/usr/bin/env bash
# Measures what dividing a job costs: 1, 2, 4, and so on to 64 shards of 64 Arrow files,
# one after the other, each with one worker, with rules from a pack; at last 1 again, for
# machines whose speed changes meanwhile. It records the processor time of all shards, and
# what merging 10,000 takes, in bench/record/shards-DATE.txt. The files are names of one,
# so that they lie in memory; a shard that starts costs the same whatever it reads.
#
#   scripts/shards.sh [-urls N] [-origins N] [-data FOLDER]
#
# The data lies in a folder below TMPDIR, which is removed, or in the one that is named,
# which stays and is used again; the outputs take 64 times as much for a while.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

urls=2500000 origins=2500 data=''
while [[ $# -ge 2 ]]; do
  case $1 in
    -urls) urls=$2 ;;
    -origins) origins=$2 ;;
    -data) data=$2 ;;
    *) break ;;
  esac
  shift 2
done
[[ $# == 0 ]] || { echo "usage: scripts/shards.sh [-urls N] [-origins N] [-data FOLDER]" >&2; exit 2; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/shards.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
data=${data:-$scratch/data}
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
if [[ ! -e $data/site.rules || ! -e $data/frontier.arrow ]]; then
  go run ./bench/corpus/gen -out "$data" -urls "$urls" -origins "$origins" -pack -formats arrow
fi

# all N does all shards of N.
all() {
  local i
  for ((i = 0; i < $1; i++)); do
    "$scratch/robotsbatch" -in "$scratch/in" -rules "$data/site.rules" -agent CCBot -workers 1 -out "$scratch/out-$1/" -shard "$i/$1" -quiet
  done
}
mkdir "$scratch/in"
for i in $(seq 64); do ln -s "$(realpath "$data/frontier.arrow")" "$scratch/in/part-$i.arrow"; done
urls=$((64 * urls))
TIMEFORMAT='%R %U %S'
{
  record_head
  echo "$urls URLs, 64 Arrow files of $origins authorities"
  echo
  for n in 1 2 4 8 16 32 64 1; do
    rm -rf "$scratch"/out-*
    read -r wall user system < <({ time all "$n" >&2; } 2>&1)
    "$scratch/robotsbatch" merge "$scratch/out-$n" -quiet
    awk -v n="$n" -v wall="$wall" -v cpu="$(echo "$user + $system" | bc)" -v urls="$urls" -v times="$scratch/times" \
      'BEGIN { printf "%2d shards: %6.2f s of processor time, %.1f ns a URL; %.2f s\n", n, cpu, cpu * 1e9 / urls, wall; print n, cpu >>times }'
  done
  awk '$1 == 1 { one += $2; ones++ } $1 == 64 { all = $2 }
    END { printf "64 shards by the mean of both runs of one: %.3f; %.0f ms a shard besides its URLs\n", all / (one / ones), (all - one / ones) * 1000 / 63 }' "$scratch/times"
  echo
  go test ./io/frontier/outputs -run '^$' -bench Merge -benchtime 3x | grep Benchmark
} | tee "$scratch/record"
keep "$scratch/record" "shards-$(date -u +%Y-%m-%d).txt"
