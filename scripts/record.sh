# shellcheck shell=bash
# For the scripts that measure, which source it from the project's root: what
# their records begin with, and where these are kept.

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

# What is needed to read a record later.
record_head() {
  echo "date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "commit: $commit"
  echo "go: $(go env GOVERSION)"
  [[ -z ${GOFLAGS-} ]] || echo "flags: $GOFLAGS"
  echo "processor: $(processor), $(getconf _NPROCESSORS_ONLN) cores, load $(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)"
}

# keep FILE NAME keeps a record under a name in bench/record.
keep() {
  mkdir -p bench/record
  cp "$1" "bench/record/$2"
  echo "recorded in bench/record/$2"
}
