#!/usr/bin/env bash
# Measures something, and prints it as a record: date, commit, processor and figures.
#
#   scripts/measure.sh [-record] NAME [OPTION VALUE...]
#
# -record keeps it in bench/record, with its chart if it has one. Data is made up in a
# folder below TMPDIR, which is removed; a FOLDER of data that is named is kept and used
# again. PYTHON_VENV names an environment that has the packages that a measurement needs.
# bench/README.md has what was measured. The names, with their options and defaults:
source "$(dirname "${BASH_SOURCE[0]}")/integration/common.sh"

usage() {
  sed -n '/^# Measures/,/^# bench/s/^# \?//p; s/^## /  /p' scripts/measure.sh >&2
  exit 2
}

# options [+] NAME=DEFAULT... -- ARGUMENT... sets a variable for each name, to what follows
# -NAME or to its default. With + other arguments may follow, in rest.
options() {
  local known=' ' more=''
  if [[ $1 == + ]]; then more=1 && shift; fi
  while [[ $1 != -- ]]; do
    known+="${1%%=*} "
    printf -v "${1%%=*}" %s "${1#*=}"
    shift
  done
  shift
  while [[ ${1-} == -?* ]]; do
    [[ $known == *" ${1#-} "* && $# -ge 2 ]] || usage
    printf -v "${1#-}" %s "$2"
    shift 2
  done
  rest=("$@")
  [[ -n $more || $# == 0 ]] || usage
}

commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
[[ -z $(git status --porcelain --untracked-files=no 2>/dev/null) ]] || commit=$commit+changes

head_of() {
  echo "command: scripts/measure.sh $*"
  echo "date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "commit: $commit"
  echo "go: $(go env GOVERSION)"
  [[ -z ${GOFLAGS-} ]] || echo "flags: $GOFLAGS"
  echo "processor: $(awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo), $(getconf _NPROCESSORS_ONLN) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
  echo
}

# called NAME names the record; without it, it is called like the measurement.
called() { echo "$1" >"$scratch/called"; }

# build PROGRAM... makes $scratch/PROGRAM.
build() {
  local program
  for program; do
    case $program in
      robotsbatch) go build -o "$scratch/robotsbatch" ./cmd/robotsbatch ;;
      gen) go build -o "$scratch/gen" ./bench/corpus/gen ;;
      *) go build -o "$scratch/$program" "./bench/$program" ;;
    esac
  done
}

# The cases of bench/turns: table TITLE GOALS CHECK... and run NAME UNITS COMMAND...
table() { (IFS=$'\t' && echo "table${IFS}$*" >>"$scratch/cases"); }
run() { (IFS=$'\t' && echo "run${IFS}$*" >>"$scratch/cases"); }

# turns OPTION... measures these cases, whose outputs lie in $out.
out=$scratch/out
turns() {
  "$scratch/turns" -out "$out" "$@" <"$scratch/cases"
  rm "$scratch/cases"
}

# engines installs Polars, DuckDB and pyarrow, and prints their versions.
engines() {
  python_with -r bench/engines/requirements.txt
  python=$scratch/venv/bin/python
  "$python" -m pip list 2>/dev/null | awk '$1 ~ /^(duckdb|polars|pyarrow)$/ { printf "%s %s\n", $1, $2 }'
  export GOMAXPROCS=$1
}

megabytes() { awk -v n="$(stat -Lc %s "$1")" 'BEGIN { printf "%.1f MB", n / 1e6 }'; }

# copies TITLE FILE GOALS ENGINE... has robotsbatch add verdicts to a table, and engines copy
# it and append a constant column.
copies() {
  local title=$1 file=$2 goals=$3 copy=$out/out.${2##*.} engine
  shift 3
  table "$title, ${file##*.}, $(megabytes "$file")" "$goals" "$python" bench/engines/engines.py check "$file" "$copy"
  run robotsbatch '' "$scratch/robotsbatch" -in "$file" -rules "$rules" -agent "$agent" -out "$copy" -workers "$threads" -quiet
  for engine; do
    [[ $engine$file == duckdb*.arrow ]] || run "$engine" '' "$python" bench/engines/engines.py copy "$engine" "$file" "$copy" "$threads"
  done
}

## agents -rules FOLDER -urls LIST -list AGENTS [-rounds 3]
# compares a job for a list of agents with the job for one.
measure_agents() {
  options rules='' urls='' list='' rounds=3 -- "$@"
  [[ -n $rules && -n $urls && -n $list ]] || usage
  build robotsbatch turns
  grep -vE '^\s*(#|$)' "$list" | head -60 >"$scratch/sixty.txt"
  echo "$(grep -cvE '^\s*(#|$)' "$list") agents, $(wc -l <"$urls") URLs"
  local format job
  for format in arrow parquet csv; do
    job=("$scratch/robotsbatch" -in "$urls" -rules "$rules" -quiet -out "$out/out.$format")
    table "$format" ''
    run 'one agent' '' "${job[@]}" -agent CCBot
    run 'any denied' '' "${job[@]}" -agents "$list" -agents-as any-denied
    run 'list of those denied' '' "${job[@]}" -agents "$list" -agents-as list
    run 'a column each' '' "${job[@]}" -agents "$list" -agents-as columns
  done
  table 'survey of sixty agents' ''
  run survey '' "$scratch/robotsbatch" survey -rules "$rules" -agents "$scratch/sixty.txt" -out "$out/survey.parquet"
  turns -rounds "$rounds"
}

## engines [-rows 10000000] [-wide_rows 2000000] [-origins 20000] [-rounds 5] [-threads 2]
## engines -data FOLDER [-goal RATIO] [-agent CCBot] [-rounds 5] [-threads 2]
# compares adding verdicts with Polars, DuckDB and pyarrow, which copy the same table. FOLDER
# has tables, .parquet and .arrow, and site.rules or the folder rules.
measure_engines() {
  options rows=10000000 wide_rows=2000000 origins=20000 data='' goal='' agent=CCBot rounds=5 threads=2 -- "$@"
  build robotsbatch turns gen
  cat <<TEXT
Each copies the same file and appends a column of booleans, with zstd: robotsbatch its
verdicts, the others a constant. Times and memory are those of a whole process, with the
start of Python. Every output was compared with the input, value by value. DuckDB reads no
Arrow files.

TEXT
  engines "$threads"
  local format made=$data
  if [[ -z $data ]]; then
    data=$scratch/data
    echo "made-up URLs over $origins origins: $rows rows of three columns, $wide_rows of thirty as in Common Crawl's index"
    "$scratch/gen" -out "$data/three" -origins "$origins" -urls "$rows" -formats parquet,arrow -rules=false
    "$scratch/gen" -out "$data/thirty" -origins "$origins" -urls "$wide_rows" -formats parquet,arrow -columns 30 -rules=false
    "$scratch/gen" -out "$data" -origins "$origins" -urls "$rows" -formats '' -pack
  fi
  rules=$data/site.rules
  if [[ ! -e $rules ]]; then
    rules=$scratch/site.rules
    "$scratch/robotsbatch" compile -rules "$data/rules" -out "$rules" -quiet
  fi
  echo "the rules are a pack of $(megabytes "$rules"), mapped"
  if [[ -z $made ]]; then
    for format in parquet arrow; do
      copies 'three columns' "$data/three/frontier.$format" 'wall=0.45 CPU=0.45 MiB=256' polars duckdb pyarrow
      copies 'thirty columns' "$data/thirty/frontier.$format" 'wall=0.25 CPU=0.25 MiB=256' polars duckdb pyarrow
    done
  else
    called "engines-$(basename "$data")"
    for format in "$data"/*.parquet "$data"/*.arrow; do
      [[ ! -e $format ]] || copies "$(basename "$format")" "$format" "${goal:+wall=$goal CPU=$goal} MiB=256" polars duckdb pyarrow
    done
  fi
  turns -rounds "$rounds" -base polars -chart "$scratch/chart.svg"
}

## history [-origins 100000] [-urls 20000000] [-crawls 24] [-rounds 5] [-data FOLDER]
# compares a pack of all crawls, of whose hosts a tenth change each time, with one of the
# newest; and jobs with a time for each row with the same job without. FOLDER was written by
# bench/corpus/gen -captures.
measure_history() {
  options origins=100000 urls=20000000 crawls=24 rounds=5 data='' -- "$@"
  build robotsbatch gen turns
  if [[ -z $data ]]; then
    data=$scratch/data
    "$scratch/gen" -out "$data" -origins "$origins" -urls "$urls" -rules=false -formats arrow -captures "$crawls"
  fi
  echo "$crawls crawls of $origins origins, $urls URLs grouped by host"
  local newest=("$scratch/robotsbatch" compile -quiet -rules "$data/captures-$(printf %02d "$crawls").arrows" -out)
  local history=("$scratch/robotsbatch" compile -quiet -rules "$data/captures-*.arrows" -history -out)
  local job=("$scratch/robotsbatch" -quiet -in "$data/frontier.arrow" -agent CCBot -out "$out/out.arrow" -rules)
  table 'compiling' ''
  run 'the newest crawl' '' "${newest[@]}" "$out/site.rules"
  run 'all crawls with their history' '' "${history[@]}" "$out/site.rules"
  "${newest[@]}" "$scratch/newest.rules"
  "${history[@]}" "$scratch/history.rules"
  table 'jobs, Arrow to Arrow, all columns' ''
  run 'history, no times' '' "${job[@]}" "$scratch/history.rules"
  run 'newest crawl, no times' '' "${job[@]}" "$scratch/newest.rules"
  run 'times of one crawl' '' "${job[@]}" "$scratch/history.rules" -as-of column:crawl_time
  run 'times that rise' '' "${job[@]}" "$scratch/history.rules" -as-of column:fetch_time
  run 'mixed times' '' "${job[@]}" "$scratch/history.rules" -as-of column:mixed_time
  turns -rounds "$rounds"
  for name in newest history; do
    printf '\n%s:\n\n' "$name"
    "$scratch/robotsbatch" inspect "$scratch/$name.rules" | sed 's/^/    /'
  done
}

## hosts [-list URLS.txt.zst -rules FOLDER] [-part 1] [-rounds 5] [-threads 2]
# compares adding verdicts with Polars' copy for lists of many hosts, each with its own
# robots.txt in a pack: 100,000 hosts of 10 URLs and 40,000 of 60. The real URLs and robots.txt
# (HOST or HOST_PORT each) that are named are repeated as often as needed. PART divides the hosts.
measure_hosts() {
  options list='' rules='' rounds=5 threads=2 part=1 -- "$@"
  build robotsbatch hosts turns
  called "hosts-$([[ -n $list ]] && echo real || echo made-up)"
  engines "$threads"
  local agent=CCBot folder=$rules hosts urls sorted shuffled data
  while read -r hosts urls sorted shuffled; do
    data=$scratch/$urls hosts=$((hosts / part)) rules=$scratch/$urls/site.rules
    "$scratch/hosts" -out "$data" -hosts "$hosts" -urls "$urls" -list "$list" -rules "$folder"
    copies "$hosts hosts with $urls URLs each, by reversed host, a pack of $(megabytes "$rules")" "$data/sorted.parquet" "wall=$sorted CPU=$sorted MiB=256" polars
    copies "$hosts hosts with $urls URLs each, shuffled" "$data/shuffled.parquet" "wall=$shuffled CPU=$shuffled MiB=256" polars
  done <<<$'100000 10 0.65 1.5\n40000 60 0.45 1.2'
  turns -rounds "$rounds" -base polars
}

## job [-urls 2000000] [-origins 20000] [-rounds 9] [-data FOLDER]
# compares the whole job with the same job run by an evaluator that sets every bit, and two
# workers with one. FOLDER has frontier.arrow, frontier.parquet and rules.
measure_job() {
  options urls=2000000 origins=20000 rounds=9 data='' -- "$@"
  build robotsbatch gen job turns
  if [[ -z $data ]]; then
    data=$scratch/data
    echo "$urls made-up URLs over $origins origins"
    "$scratch/gen" -out "$data" -urls "$urls" -origins "$origins" -formats arrow,parquet
  fi
  "$scratch/robotsbatch" compile -rules "$data/rules" -out "$scratch/site.rules" -quiet
  local format rules way
  for format in arrow parquet; do
    way=(-in "$data/frontier.$format" -out "$out/out.$format")
    table "$format to $format" ''
    run 'every bit set' '' "$scratch/job" "${way[@]}" -identity
    for rules in "$data/rules" "$scratch/site.rules"; do
      run "job, $(basename "$rules")" '' "$scratch/job" "${way[@]}" -rules "$rules"
      run "robotsbatch, $(basename "$rules")" '' "$scratch/robotsbatch" "${way[@]}" -rules "$rules" -agent CCBot -quiet
    done
    for rules in "$data/rules" "$scratch/site.rules"; do
      table "$format, $(basename "$rules"): workers" ''
      run 'one worker' '' "$scratch/job" "${way[@]}" -rules "$rules" -workers 1
      run 'two workers' '' "$scratch/job" "${way[@]}" -rules "$rules" -workers 2
    done
  done
  turns -rounds "$rounds"
}

## peers [-urls LIST.zst -rules FOLDER] [-data TEXT] [-agent CCBot] [-rounds 5] [-google FOLDER]
# compares other robots.txt libraries. TEXT describes the URLs. The libraries come from their
# registries, and are built in a cache folder. A language without toolchain is skipped, and
# so is Google's parser without its source, robots.cc and robots.h of
# github.com/google/robotstxt; it also needs a C++ compiler and abseil (Debian: libabsl-dev).
measure_peers() {
  options urls='' rules='' data='' agent=CCBot rounds=5 google="${ROBOTSBATCH_GOOGLE-}" -- "$@"
  [[ -n $urls && -n $rules || -z $urls$rules ]] || usage
  source bench/peers/runners.sh
  build peers gen
  if [[ -z $urls ]]; then
    "$scratch/gen" -out "$scratch/data" -formats txt.zst -origins 2000 -urls 200000
    urls=$scratch/data/frontier.txt.zst rules=$scratch/data/rules data=${data:-made-up URLs}
  fi
  "$scratch/peers" -runners "$scratch/runners" -urls "$urls" -rules "$rules" -data "${data:-URLs}" -agent "$agent" -count "$rounds" \
    -runs "$scratch/runs.jsonl" -chart "$scratch/chart.svg"
}

## scale [-urls 100000000] [-origins 1000000] [-rounds 3] [-data FOLDER]
# compares a job of many URLs with one of a tenth of the URLs and hosts: neither the time of
# a URL nor the memory should grow. It makes 4 GB, which takes most of an hour.
measure_scale() {
  options urls=100000000 origins=1000000 rounds=3 data="$scratch/data" -- "$@"
  build robotsbatch gen turns
  called "scale-$urls-$origins"
  local n folder parts
  table 'a tenth, and all' ''
  for n in 10 1; do
    folder=$data/$((urls / n))-$((origins / n)) parts=$(((urls / n + 3999999) / 4000000))
    mkdir -p "$folder"
    "$scratch/gen" -out "$folder" -urls $((urls / n)) -origins $((origins / n)) -pack -formats ''
    if [[ ! -e $folder/done ]]; then
      seq "$parts" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I K \
        "$scratch/gen" -out "$folder" -urls $((urls / n)) -origins $((origins / n)) -rules=false -formats arrow -part "K/$parts"
      touch "$folder/done"
    fi
    run "$((urls / n)) URLs" $((urls / n)) "$scratch/robotsbatch" -in "$folder/frontier-*.arrow" -rules "$folder/site.rules" -agent CCBot -out "$out/out.arrow" -quiet
  done
  turns -rounds "$rounds"
}

## shards [-urls 2500000] [-origins 2500] [-data FOLDER]
# measures what dividing a job costs: 1 to 64 shards of 64 Arrow files, one after the other,
# each with one worker; and what merging the manifests of 10,000 takes. The files are names
# of one, so that they lie in memory. FOLDER has frontier.arrow and site.rules.
measure_shards() {
  options urls=2500000 origins=2500 data='' -- "$@"
  build robotsbatch gen turns
  if [[ -z $data ]]; then
    data=$scratch/data
    "$scratch/gen" -out "$data" -urls "$urls" -origins "$origins" -pack -formats arrow
  fi
  echo "$((64 * urls)) URLs, 64 Arrow files of $origins authorities. A shard takes (CPU of 64 - CPU of 1) / 63 besides its URLs."
  local i n
  mkdir "$scratch/in"
  for i in $(seq 64); do ln -s "$(realpath "$data/frontier.arrow")" "$scratch/in/part-$i.arrow"; done
  table 'shards' '' "$scratch/robotsbatch" merge "$out" -quiet
  for n in 1 2 4 8 16 32 64 1; do
    # shellcheck disable=SC2016  # the inner shell's
    run "$n" $((64 * urls)) bash -ec 'n=$1; shift; for ((i = 0; i < n; i++)); do "$@" -shard "$i/$n"; done' bash "$n" \
      "$scratch/robotsbatch" -in "$scratch/in" -rules "$data/site.rules" -agent CCBot -workers 1 -quiet -out "$out/"
  done
  turns -rounds 1 -warm=false
  echo
  go test ./io/frontier/outputs -run '^$' -bench Merge -benchtime 3x | sed -n 's/^Benchmark/    &/p'
}

## warc [-captures 1000000] [-rounds 3] [-data FOLDER]
# compares compiling a crawl's WARC files with the least that any program must do: decompress
# them, and parse and compile their distinct bodies. FOLDER was written by bench/warc.
measure_warc() {
  options captures=1000000 rounds=3 data='' -- "$@"
  build robotsbatch warc turns
  called "warc-$captures"
  if [[ -z $data ]]; then
    data=$scratch/data
    "$scratch/warc" generate "$data" "$captures"
  fi
  echo "$captures captures, $(du -cm "$data"/*.warc.gz | tail -n 1 | cut -f 1) MiB of WARC"
  table 'compiling a crawl' ''
  run 'gunzip, then parse and compile' '' "$scratch/warc" both "$data"
  run 'gunzip' '' "$scratch/warc" gunzip "$data"
  run 'parse and compile the distinct bodies' '' "$scratch/warc" parse "$data"
  run 'make a rule pack of the distinct bodies' '' "$scratch/warc" pack "$data" "$out/site.rules"
  run 'robotsbatch compile' '' "$scratch/robotsbatch" compile -rules "$data/*.warc.gz" -out "$out/site.rules" -memory 512MiB -quiet
  turns -rounds "$rounds"
}

record='' arguments="$*"
if [[ ${1-} == -record ]]; then
  record=1
  shift
fi
name=${1-}
declare -F "measure_$name" >/dev/null || usage
shift
mkdir "$out"
called "$name"
{
  head_of "${arguments#-record }"
  "measure_$name" "$@"
} | tee "$scratch/record"
[[ -n $record ]] || exit 0
mkdir -p bench/record
kept=bench/record/$(<"$scratch/called")
if grep -q '^|' "$scratch/record"; then
  sed -E -i 's/^(command|date|commit|go|flags|processor): .*/&  /' "$scratch/record" # a line each in Markdown, too
  cp "$scratch/record" "$kept-$(date -u +%F).md"
else
  cp "$scratch/record" "$kept-$(date -u +%F).txt"
fi
[[ ! -e $scratch/runs.jsonl ]] || cp "$scratch/runs.jsonl" "$kept-$(date -u +%F).jsonl"
[[ ! -e $scratch/chart.svg ]] || cp "$scratch/chart.svg" "$kept.svg"
echo "recorded in $kept-$(date -u +%F)"
