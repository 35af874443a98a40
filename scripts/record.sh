# shellcheck shell=bash
# Sourced, at the project's root, by the scripts that measure. It has the header of records
# and the folder for them.

# The commit that is measured.
# shellcheck disable=SC2034  # used where this is sourced
commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
[[ -z $(git status --porcelain --untracked-files=no 2>/dev/null) ]] || commit=$commit+changes

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
