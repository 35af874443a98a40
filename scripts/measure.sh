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

record='' arguments="$*"
if [[ ${1-} == -record ]]; then
  record=1
  shift
fi
name=${1-}
declare -F "measure_$name" >/dev/null || usage
shift
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
