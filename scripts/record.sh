# shellcheck shell=bash
# Sourced, at the project's root, by the scripts that measure. It has the header of records
# and the folder for them.

# The commit that is measured.
# shellcheck disable=SC2034  # used where this is sourced
commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
[[ -z $(git status --porcelain --untracked-files=no 2>/dev/null) ]] || commit=$commit+changes

# usage ends a script with the lines of its header that tell how to call it.
usage() {
  sed -n '/^#   scripts/s/^# */usage: /p' "scripts/${0##*/}" >&2
  exit 2
}

# read_options NAME=DEFAULT... -- ARGUMENT... sets a variable for each name, to what follows
# -NAME among the arguments or to its default. In the variable's name - is _.
read_options() {
  local known=' '
  while [[ $1 != -- ]]; do
    known+="${1%%=*} "
    printf -v "${1%%=*}" %s "${1#*=}"
    shift
  done
  shift
  while [[ $# -gt 0 ]]; do
    local name=${1#-}
    name=${name//-/_}
    [[ $1 == -?* && $known == *" $name "* && $# -ge 2 ]] || usage
    printf -v "$name" %s "$2"
    shift 2
  done
}

# The processor's name.
processor() {
  if [[ -r /proc/cpuinfo ]]; then
    awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo
  else
    sysctl -n machdep.cpu.brand_string 2>/dev/null || uname -m
  fi
}

# record_head prints what a reader of the record must know.
record_head() {
  echo "date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "commit: $commit"
  echo "go: $(go env GOVERSION)"
  [[ -z ${GOFLAGS-} ]] || echo "flags: $GOFLAGS"
  echo "processor: $(processor), $(getconf _NPROCESSORS_ONLN) cores, load $(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)"
}

# keep FILE NAME stores a record in bench/record under a name.
keep() {
  mkdir -p bench/record
  cp "$1" "bench/record/$2"
  echo "recorded in bench/record/$2"
}
