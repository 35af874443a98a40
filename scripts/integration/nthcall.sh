#!/usr/bin/env bash
# Fails the first, the second, the third ... system call of each kind, until a job passes.
#
#   CGO_ENABLED=0 go build -o PROGRAM ./cmd/robotsbatch
#   scripts/integration/nthcall.sh PROGRAM [CALL...]
#
# A job writes two outputs into a folder, and another compiles a rule pack. After each failure
# there must be a message and status 1 or 75, no half-written output, and the job must go on
# with -resume (compile: run again) to the same bytes. Failures that a job may ignore, such
# as those of close after reading, are counted as passed if its outputs are right. It needs
# Linux and strace, which counts the calls of each thread. It prints, for each call, how many of the numbers made the job fail.
set -euo pipefail
program=$(realpath "$1")
shift
calls=("$@")
if [[ ${#calls[@]} == 0 ]]; then
  calls=(openat read pread64 write pwrite64 fsync fdatasync renameat renameat2 getdents64 close newfstatat fstat ftruncate unlinkat mkdirat linkat flock)
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/nthcall.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir rules in
for host in a b c; do printf 'User-agent: *\nDisallow: /d\nSitemap: https://%s.test/s\n' "$host" >rules/$host.test; done
for i in 0 1; do for j in $(seq 300); do echo "http://a.test/d$j" "http://b.test/$j" | tr ' ' '\n'; done >in/$i.txt; done
judge=("$program" -in in -rules rules -out out/ -resume -quiet)
compile=("$program" compile -rules rules -out out/site.rules -quiet)

# same FOLDER: what is in a folder is a part of what should be, and nothing else.
same() {
  local file name
  for file in "$1"/*; do
    name=${file##*/}
    case $name in
    _robotsbatch* | '*') ;;
    *) cmp -s "$file" "want/$name" || { echo "  $name is not what it should be"; return 1; } ;;
    esac
  done
}

mkdir out && "${judge[@]}" && "${compile[@]}" && mv out want
wrong=0
for job in judge compile; do
  declare -n command=$job
  for call in "${calls[@]}"; do
    failed=0
    for ((n = 1; n < 400; n++)); do
      rm -rf out && mkdir out
      status=0
      strace -f -qq -o trace -e trace="$call" -e inject="$call:error=EIO:when=$n" "${command[@]}" >said 2>&1 || status=$?
      problem=''
      if ! grep -q INJECTED trace; then break; fi
      if grep -qE '^(panic|fatal error)|goroutine ' said; then problem='it panics'; fi
      if [[ $status == 0 ]]; then
        same out || problem='it passes with other outputs'
        [[ $job == judge && -e out/0.csv && -e out/1.csv || -e out/site.rules ]] || problem='it passes without its outputs'
      else
        failed=$((failed + 1))
        [[ $status == 1 || $status == 75 ]] || problem="status $status"
        [[ -s said ]] || problem='it says nothing'
        same out || problem='it leaves something half-written'
        "${command[@]}" >again 2>&1 && same out || problem="it does not go on: $(head -c 200 again)"
      fi
      if [[ -n $problem ]]; then
        wrong=$((wrong + 1))
        echo "$job, $call $n: $problem: status $status: $(head -c 300 said | tr '\n' ' ')"
      fi
    done
    echo "$job: $call: $failed of $((n - 1)) failures end the job"
  done
done
[[ $wrong == 0 ]]
