#!/usr/bin/env bash
# Measures rule packs with a history: what one of 24 crawls takes to make, and how large it
# is, beside a pack of the newest captures alone; and the job with a time for each row
# beside the job without, for rows grouped by host whose times are those of one crawl, rise
# within a host through all crawls, or are any of these in no order. It records what came out in
# bench/record/history-DATE-COMMIT.txt. Data and temporary files lie in a folder of their
# own below TMPDIR, which is removed.
#
#   scripts/history.sh [-origins N] [-urls N] [-crawls N] [-count N] [-data FOLDER]
#
# The default is 24 crawls of a hundred thousand origins, of which a tenth change each
# time, twenty million URLs and five rounds. FOLDER is one that bench/corpus/gen has
# written with -captures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

read_options origins=100000 urls=20000000 crawls=24 count=5 data='' -- "$@"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/history.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch
if [[ -z $data ]]; then
  data=$scratch/corpus
  go run ./bench/corpus/gen -out "$data" -origins "$origins" -urls "$urls" -rules=false -formats arrow -captures "$crawls"
fi
robotsbatch=$scratch/robotsbatch newest=$data/captures-$crawls.arrows

# processors NAME COMMAND... adds the processor time of a command, in seconds, to the times
# of that name.
processors() {
  local name=$1 TIMEFORMAT='%U %S'
  shift
  { time "$@" >/dev/null 2>"$scratch/said" || { cat "$scratch/said" >&2; exit 1; }; } 2>&1 |
    awk '{ print $1 + $2 }' >>"$scratch/times.$name"
}

median() { sort -g "$scratch/times.$1" | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }

# by NAME NAME: the median of the first by that of the second.
by() { awk -v a="$(median "$1")" -v b="$(median "$2")" 'BEGIN { printf "%.2f", a / b }'; }

sizes() {
  "$robotsbatch" inspect "$1" | awk '$1 == "hosts" && !seen++ { print "  hosts        " $2 }
    $1 == "bodies" && /distinct/ { print "  bodies       " $2 " distinct" } $1 == "history" { print "  intervals    " $2 }
    $1 == "size" { print "  size         " $2 " bytes" } $1 == "intervals" { print "  of which the intervals take " $2 }'
}

job() { "$robotsbatch" -in "$data/frontier.arrow" -agent CCBot -out "$scratch/out.arrow" -quiet "$@"; }

for ((round = 0; round < count; round++)); do
  processors compile-newest "$robotsbatch" compile -rules "$newest" -out "$scratch/newest.rules" -quiet
  processors compile-history "$robotsbatch" compile -rules "$data/captures-*.arrows" -history -out "$scratch/history.rules" -quiet
  processors job-newest job -rules "$scratch/newest.rules"
  processors job-without job -rules "$scratch/history.rules"
  processors job-crawl job -rules "$scratch/history.rules" -as-of column:crawl_time
  processors job-rising job -rules "$scratch/history.rules" -as-of column:fetch_time
  processors job-mixed job -rules "$scratch/history.rules" -as-of column:mixed_time
done
{
  record_head
  echo "data: $crawls crawls of $origins origins, $urls URLs grouped by host; medians of $count rounds, in seconds of processors"
  echo
  echo "a pack of the newest crawl: $(median compile-newest) s"
  sizes "$scratch/newest.rules"
  echo "a pack of all crawls with their history: $(median compile-history) s, $(by compile-history compile-newest) times"
  sizes "$scratch/history.rules"
  echo
  echo "job, Arrow to Arrow, all columns:"
  echo "  newest crawl, no times          $(median job-newest) s"
  echo "  history, no times               $(median job-without) s"
  echo "  -as-of column, of one crawl     $(median job-crawl) s, $(by job-crawl job-without) times that without"
  echo "  -as-of column, times that rise  $(median job-rising) s, $(by job-rising job-without) times that without"
  echo "  -as-of column, mixed times      $(median job-mixed) s, $(by job-mixed job-without) times that without"
} | tee "$scratch/record"
keep "$scratch/record" "history-$(date -u +%Y-%m-%d)-$commit.txt"
