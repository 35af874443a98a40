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
called() {
  kept=bench/record/$1-$(date -u +%F)
  if [[ -n $record ]] && compgen -G "$kept.*" >/dev/null; then
    echo "scripts/measure.sh: $kept is there already" >&2
    exit 1
  fi
  echo "$kept" >"$scratch/kept"
}

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

# packages PACKAGE... installs packages of Python, and prints their versions.
packages() {
  python_with "$@"
  python=$scratch/venv/bin/python
  echo "python: $("$python" -V), $("$python" -m pip list --format=freeze 2>/dev/null | grep -E '^(duckdb|polars|[Pp]rotego|pyarrow)=' | paste -sd ' ')"
}

# wheel installs the Python package itself.
wheel() {
  build robotsbatch
  ROBOTSBATCH_BINARY=$scratch/robotsbatch scripts/wheel.sh -out "$scratch/dist" "$(go env GOOS)/$(go env GOARCH)" >/dev/null
  "$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$scratch"/dist/*.whl
}

megabytes() { awk -v n="$(stat -Lc %s "$1")" 'BEGIN { printf "%.1f MB", n / 1e6 }'; }

# copies TITLE FILE GOALS ENGINE... has robotsbatch add verdicts to a table, and engines copy
# it and append a constant column.
copies() {
  local title=$1 file=$2 goals=$3 copy=$out/out.${2##*.} engine
  if [[ -d $file ]]; then copy=$out/; else title+=", ${file##*.}, $(megabytes "$file")"; fi
  shift 3
  table "$title" "$goals" "$python" bench/engines/engines.py check "$file" "$copy"
  run robotsbatch '' "$scratch/robotsbatch" -in "$file" -rules "$rules" -agent "$agent" -out "$copy" -workers "$threads" -quiet
  for engine; do
    [[ $engine$file == duckdb*.arrow ]] || run "$engine" '' "$python" bench/engines/engines.py copy "$engine" "$file" "$copy" "$threads"
  done
}

# The command that makes a pack in which each authority has rules.
made=("$scratch/gen" -pack -formats '' -missing -1)

share_of() { awk -v part="$1" -v all="$2" 'BEGIN { print part / all }'; }

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

## bench [-count 10] [-benchtime 1s] [-as bench] [REGEXP [PACKAGE...]]
# runs benchmarks, by default all, and prints them in the form that benchstat reads. Compare
# two records by: go tool -modfile=scripts/tools/go.mod benchstat OLD.txt NEW.txt
measure_bench() {
  options + count=10 benchtime=1s as=bench -- "$@"
  called "$as"
  local regexp=${rest[0]-.} packages=("${rest[@]:1}")
  [[ ${#packages[@]} -gt 0 ]] || packages=(./...)
  go test -run '^$' -bench "$regexp" -benchmem -benchtime "$benchtime" -count "$count" -timeout 0 "${packages[@]}"
}

## cores [-rows 6000000] [-rounds 5]
# measures how many processors a job uses (CPU ÷ wall): Parquet, Arrow, a folder and a list; and
# compares two of these jobs with Polars, which copies the same files.
measure_cores() {
  options rows=6000000 rounds=5 -- "$@"
  build robotsbatch turns gen
  packages -r bench/engines/requirements.txt
  local agent=CCBot data=$scratch/data rules=$scratch/data/site.rules threads n input
  threads=$(getconf _NPROCESSORS_ONLN)
  echo "$rows made-up URLs over $((rows / 100)) origins, three columns, zstd, $threads workers"
  "$scratch/gen" -out "$data" -urls "$rows" -origins $((rows / 100)) -formats arrow,txt -pack
  mv "$data/frontier.arrow" "$data/batches of 65536.arrow"
  local cut=("$python" bench/engines/engines.py cut "$data/batches of 65536.arrow")
  for n in 60000 250000 1000000 "$rows"; do "${cut[@]}" "$data/row groups of $n.parquet" "$n"; done
  "${cut[@]}" "$data/batches of 1000000.arrow" 1000000
  "${cut[@]}" "$data/files of 50000" 50000
  local job=("$scratch/robotsbatch" -rules "$rules" -agent "$agent" -quiet -in)
  table 'processors used' ''
  for input in "$data/"*' of '*; do
    run "$(basename "$input")" "$rows" "${job[@]}" "$input" -out "$out/"
  done
  run 'list to csv' "$rows" "${job[@]}" "$data/frontier.txt" -out "$out/out.csv"
  copies 'row groups of 1,000,000' "$data/row groups of 1000000.parquet" wall=0.33 polars
  copies 'files of 50,000 rows' "$data/files of 50000" wall=0.33 polars
  turns -rounds "$rounds" -base polars
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
  packages -r bench/engines/requirements.txt
  export GOMAXPROCS=$threads
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

## evaluate [-rows 10000000] [-batches 1000000]
# compares evaluate of the Python package on a table in memory with the command on the same
# data as an Arrow file, and measures its peak of memory and small batches through reader.
measure_evaluate() {
  options rows=10000000 batches=1000000 -- "$@"
  packages pyarrow==26.0.1
  wheel
  build gen
  "$scratch/gen" -out "$scratch/data" -urls "$rows" -origins $((rows / 100)) -formats arrow -compression none -pack
  echo "$rows URLs over $((rows / 100)) origins, 3 columns, Arrow without compression"
  "$python" scripts/python/measure.py "$scratch/data/frontier.arrow" "$scratch/data/site.rules" CCBot "$out" "$batches"
}

## faults [-shapes 1000] [-seed 1] [robots|bombs...]
# measures time and memory on hostile inputs: SHAPES robots.txt, matched with as many URLs and
# compared with the reference, and small files that expand to large ones. It fails if an
# outcome is wrong, or takes more than its bound.
measure_faults() {
  options + shapes=1000 seed=1 -- "$@"
  called "$(IFS=- && echo "faults${rest[*]:+-${rest[*]}}")"
  [[ ${#rest[@]} -gt 0 ]] || rest=(robots bombs)
  echo "What robotsbatch does with hostile inputs; bench/faults/doc.go says what the columns mean."
  local section
  for section in "${rest[@]}"; do
    case $section in
      robots) go test ./bench -v -run HostileShapes -bench HostileShapes -benchtime 1x -timeout 0 -shapes "$shapes" -seed "$seed" ;;
      bombs)
        build robotsbatch faults
        TMPDIR=$scratch "$scratch/faults" -robotsbatch "$scratch/robotsbatch"
        ;;
      *) usage ;;
    esac
  done
}

## filter [-size 1] [-case TEXT] [-rounds 3] [-threads 2]
# compares -emit allowed with Polars, DuckDB and pyarrow, which filter by a ready column: texts
# of 24 KB, 2 KB and none, with 0.1, 4 and 50 rows in 100 left out, in any order and by host.
# SIZE multiplies the size of tables, 300 MB of texts; TEXT selects cases ("24 KB, 4 %, any").
measure_filter() {
  options size=1 case='' rounds=3 threads=2 -- "$@"
  build robotsbatch turns
  called filter-tables
  cat <<TEXT
robotsbatch reads the URLs of a Parquet file and decides (-emit allowed, -memory at its
default); Polars, DuckDB and pyarrow filter the same file by its column keep, and write the
input's codec at their default level. Starting Python is included. Every output was compared
with the input. Documents are runs of one to eight words out of this project's pages and
programs, on a thousand hosts. Inputs are pyarrow's (zstd 1, pages of 24 MB with texts)
unless the line names another writer (Polars zstd 3, DuckDB snappy).

TEXT
  packages -r bench/engines/requirements.txt
  export GOMAXPROCS=$threads
  local host text writer codec bytes rows share order goal engine source=$scratch/in.parquet filtered=$out/out.parquet
  mkdir "$scratch/rules"
  for host in $(seq 0 999); do printf 'User-agent: *\nDisallow: /private\n' >"$scratch/rules/h$host.test"; done
  while IFS=, read -r text writer codec bytes rows share order goal; do
    [[ "$text, $share %, $order" == *"$case"* ]] || continue
    rows=$(awk -v rows="$rows" -v size="$size" 'BEGIN { print int(rows * size) }')
    "$python" bench/filter/engines.py make "$writer" "$bytes" "$share" "$order" "$rows" "$source"
    table "$text, $share %, $order: $(megabytes "$source")" "${goal:+CPU=$goal}" "$python" bench/filter/engines.py check "$source" "$filtered"
    run robotsbatch '' "$scratch/robotsbatch" -in "$source" -rules "$scratch/rules" -agent x -emit allowed -out "$filtered" -quiet
    for engine in polars duckdb pyarrow; do
      run "$engine" '' "$python" bench/filter/engines.py filter "$engine" "$source" "$filtered" "$codec" "$threads"
    done
    turns -rounds "$rounds" -base polars -warm=false
  done <<CASES
24 KB,pyarrow,zstd,24000,12000,0.1,any,0.2
24 KB,pyarrow,zstd,24000,12000,0.1,host,
24 KB,pyarrow,zstd,24000,12000,4,any,0.6
24 KB,pyarrow,zstd,24000,12000,4,host,0.2
24 KB,pyarrow,zstd,24000,12000,50,any,
24 KB,pyarrow,zstd,24000,12000,50,host,
2 KB,pyarrow,zstd,2000,150000,0.1,any,
2 KB,pyarrow,zstd,2000,150000,0.1,host,
2 KB,pyarrow,zstd,2000,150000,4,any,
2 KB,pyarrow,zstd,2000,150000,4,host,
2 KB,pyarrow,zstd,2000,150000,50,any,
2 KB,pyarrow,zstd,2000,150000,50,host,
none,pyarrow,zstd,0,4000000,0.1,any,
none,pyarrow,zstd,0,4000000,0.1,host,
none,pyarrow,zstd,0,4000000,4,any,
none,pyarrow,zstd,0,4000000,4,host,
none,pyarrow,zstd,0,4000000,50,any,0.9
none,pyarrow,zstd,0,4000000,50,host,
24 KB in Polars' own file,polars,zstd,24000,12000,4,any,0.6
24 KB in Polars' own file,polars,zstd,24000,12000,50,any,
24 KB in DuckDB's own file,duckdb,snappy,24000,12000,4,any,0.6
2 KB in DuckDB's own file,duckdb,snappy,2000,150000,4,any,0.7
CASES
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
    "$scratch/robotsbatch" verify "$scratch/$name.rules" | sed 's/^/    /'
  done
}

## hostile [-time 1h] [-seed 1] [-lengths N,N,...] [-save FOLDER]
# searches for the robots.txt and the URL that take the evaluator longest.
measure_hostile() { go run ./bench/hostile "$@"; }

## hosts [-list URLS.txt.zst -rules FOLDER] [-part 1] [-rounds 5] [-threads 2]
# compares adding verdicts with Polars' copy for lists of many hosts, each with its own
# robots.txt in a pack: 100,000 hosts of 10 URLs and 40,000 of 60. The real URLs and robots.txt
# (HOST or HOST_PORT each) that are named are repeated as often as needed. PART divides the hosts.
measure_hosts() {
  options list='' rules='' rounds=5 threads=2 part=1 -- "$@"
  build robotsbatch hosts turns
  called "hosts-$([[ -n $list ]] && echo real || echo made-up)"
  packages -r bench/engines/requirements.txt
  export GOMAXPROCS=$threads
  local agent=CCBot folder=$rules hosts urls sorted shuffled data
  while read -r hosts urls sorted shuffled; do
    data=$scratch/$urls hosts=$((hosts / part)) rules=$scratch/$urls/site.rules
    "$scratch/hosts" -out "$data" -hosts "$hosts" -urls "$urls" -list "$list" -rules "$folder"
    copies "$hosts hosts with $urls URLs each, by reversed host, a pack of $(megabytes "$rules")" "$data/sorted.parquet" "wall=$sorted CPU=$sorted MiB=256" polars
    copies "$hosts hosts with $urls URLs each, shuffled" "$data/shuffled.parquet" "wall=$shuffled CPU=$shuffled MiB=256" polars
  done <<<$'100000 10 0.65 1.5\n40000 60 0.45 1.2'
  turns -rounds "$rounds" -base polars
}

## pack [-origins 1000000] [-bodies 100000]
# builds a rule pack, and measures its size, opening it and looking up authorities with none
# of it in memory: as root it drops the system's cache of files.
measure_pack() {
  options origins=1000000 bodies=100000 -- "$@"
  build robotsbatch gen turns
  called "pack-$origins-$bodies"
  table 'building' ''
  run "a pack of $origins authorities" "$origins" "${made[@]}" -origins "$origins" -distinct "$(share_of "$bodies" "$origins")" -out "$out"
  turns -rounds 1 -warm=false
  "${made[@]}" -origins "$origins" -distinct "$(share_of "$bodies" "$origins")" -out "$scratch"
  printf '\n'
  "$scratch/robotsbatch" verify "$scratch/site.rules" | sed 's/^/    /'
  printf '\n'
  go test ./bench -run '^$' -bench ColdPack -benchtime 1x -timeout 0 -origins "$origins" -bodies "$bodies" -pack "$scratch/site.rules"
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

## pipe [-origins 1000000]
# measures robotsbatch pipe from the client's side, with packs of 1,000 and of ORIGINS
# authorities: the time to the first answer, and the cost of a batch for a client that waits.
measure_pipe() {
  options origins=1000000 -- "$@"
  local n
  for n in 1000 "$origins"; do go test ./bench -run '^$' -bench Pipe -timeout 0 -origins "$n"; done
}

## queries -urls LIST -rules FOLDER
# measures verdicts within queries of DuckDB and Polars beside evaluate and beside protego in
# functions of the same kind. LIST has a URL a line, and may end in .zst.
measure_queries() {
  options urls='' rules='' -- "$@"
  [[ -n $urls && -n $rules ]] || usage
  packages pyarrow==26.0.1 duckdb==2.0.0 polars==2.1.0 protego==0.7.0 numpy==2.4.6
  wheel
  zstd -dqcf "$urls" >"$scratch/urls.txt"
  "$scratch/venv/bin/robotsbatch" compile -rules "$rules" -out "$scratch/site.rules" -quiet
  "$python" scripts/python/queries.py "$scratch/urls.txt" "$rules" "$scratch/site.rules" CCBot
}

## records [-warcs 2000]
# reads single records that an index names, from a store of this machine: one in 26 of 650
# records a file with the targets of redirects, and as many neighbours. The test compares
# verdicts with those of the whole files.
measure_records() {
  options warcs=2000 -- "$@"
  called "records-$warcs"
  go test ./cmd/robotsbatch -run TestRecordsOfAnIndex -count 1 -v -timeout 0 -warcs "$warcs" | sed -n 's/^ *records_test.go:[0-9]*: //p'
}

## run NAME COMMAND...
# runs any other command, such as scripts/fuzz.sh or RECORD=1 scripts/integration/spark.sh.
measure_run() {
  [[ $# -ge 2 ]] || usage
  called "$1"
  "${@:2}"
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
  table 'shards' '' "$scratch/robotsbatch" verify -merge "$out" -quiet
  for n in 1 2 4 8 16 32 64 1; do
    # shellcheck disable=SC2016  # the inner shell's
    run "$n" $((64 * urls)) bash -ec 'n=$1; shift; for ((i = 0; i < n; i++)); do "$@" -shard "$i/$n"; done' bash "$n" \
      "$scratch/robotsbatch" -in "$scratch/in" -rules "$data/site.rules" -agent CCBot -workers 1 -quiet -out "$out/"
  done
  turns -rounds 1 -warm=false
  echo
  go test ./io/frontier/outputs -run '^$' -bench Merge -benchtime 3x | sed -n 's/^Benchmark/    &/p'
}

# crawl FOLDER CAPTURES RULES makes up a crawl's WARC files: as in a large crawl, 45 in 100 hosts
# have no robots.txt.
crawl() { "$scratch/gen" -out "$1" -origins "$2" -missing 0.45 -mean-rules "$3" -bare -warcs 16 -rules=false -formats ''; }

## warc [-captures 1000000] [-rounds 3] [-data FOLDER]
# compares compiling a crawl's WARC files with decompressing them. FOLDER was written by
# bench/corpus/gen -warcs.
measure_warc() {
  options captures=1000000 rounds=3 data='' -- "$@"
  build robotsbatch gen turns
  called "warc-$captures"
  if [[ -z $data ]]; then
    data=$scratch/data
    crawl "$data" "$captures" 60
  fi
  echo "$captures captures, $(du -cm "$data"/*.warc.gz | tail -n 1 | cut -f 1) MiB of WARC"
  table 'compiling a crawl' ''
  run 'gzip -dc' '' sh -c 'gzip -dc "$1"/*.warc.gz >/dev/null' sh "$data"
  run 'robotsbatch compile' '' "$scratch/robotsbatch" compile -rules "$data/*.warc.gz" -out "$out/site.rules" -memory 512MiB -quiet
  turns -rounds "$rounds"
}

## update [-captures 1000000] [-rules 60] [-rounds 1] [-data FOLDER]
# compares compile -update of a pack and a hundredth as many new captures with compiling all at
# once. The packs must be the same. FOLDER/1 and FOLDER/2 were written by
# bench/corpus/gen -warcs, with RULES rules in a robots.txt.
measure_update() {
  options captures=1000000 rules=60 rounds=1 data='' -- "$@"
  build robotsbatch gen turns
  called "update-$captures"
  if [[ -z $data ]]; then
    data=$scratch/data
    crawl "$data/1" "$captures" "$rules"
    crawl "$data/2" $((captures / 100)) "$rules"
  fi
  local compile=("$scratch/robotsbatch" compile -memory 512MiB -quiet)
  "${compile[@]}" -rules "$data/1/*.warc.gz" -out "$scratch/old.rules"
  table 'adding a hundredth to a pack' ''
  run 'compile all' '' "${compile[@]}" -rules "$data/*/*.warc.gz" -out "$scratch/all.rules"
  run 'compile -update' '' "${compile[@]}" -update "$scratch/old.rules" -rules "$data/2/*.warc.gz" -out "$scratch/new.rules"
  turns -rounds "$rounds" -warm=false
  cmp "$scratch/all.rules" "$scratch/new.rules"
  "$scratch/robotsbatch" verify "$scratch/new.rules" | grep -E ' (hosts|size|bodies|captures) '
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
kept=$(<"$scratch/kept") ending=txt
if grep -q '^|' "$scratch/record"; then
  ending=md
  sed -E -i 's/^(command|date|commit|go|flags|processor|python): .*/&  /' "$scratch/record" # a line each in Markdown, too
fi
cp "$scratch/record" "$kept.$ending"
[[ ! -e $scratch/runs.jsonl ]] || cp "$scratch/runs.jsonl" "$kept.jsonl"
[[ ! -e $scratch/chart.svg ]] || cp "$scratch/chart.svg" "${kept%-????-??-??}.svg"
echo "recorded in $kept.$ending"
