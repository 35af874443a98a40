#!/usr/bin/env bash
# Runs the tests in other worlds: on other processors, without assembly, with checked
# pointers, and with constants that no user has but that meet other paths of the same code.
#
#   scripts/worlds.sh            all worlds
#   scripts/worlds.sh -list      their names
#   scripts/worlds.sh -check     changes the files of all worlds, and runs no test
#   scripts/worlds.sh zero-hash  one, or several
#
# A world is a line of the table: its name, the packages whose tests run there, and what
# makes it: variables of the environment, arguments of go test, and FILE:EXPRESSION, an
# expression of sed that changes a line of a file. The files of the project stay as they
# are: go test gets a changed copy (-overlay). An expression that changes nothing is an
# error.
#
# The worlds of the command run the testscripts and most also the commands of the manual. one-row
# leaves out the scripts that show where batches end, least one that shows how much memory there is,
# and zero-hash those that count hosts, which is done by hash. s390x needs qemu-user-static,
# and runs libraries alone: tests of the command start processes, and Arrow and Parquet are
# refused there.
set -efuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command=./cmd/robotsbatch
scripts='-run=^(TestScripts|TestDocumentsRun)$'
libraries='./matcher ./matcher/urls ./matcher/robotstxt ./matcher/internal/kernels ./io/rules/rulepack ./io/frontier/lines'
kernels='./matcher ./matcher/internal/kernels ./matcher/urls ./batch/evaluate' # who calls them, and who calls most of matcher
worlds() {
  cat <<WORLDS
one-row   | $command | $scripts -skip=TestScripts/(weight|with|verify|summary|resume|progress|parquet|inputs|history|authority_hash|delimited|explain_columns|emit|arrow)$ cmd/robotsbatch/internal/config/config.go:s/DefaultRows   = 65536/DefaultRows   = 1/
least     | $command | $scripts -skip=TestScripts/truncated$ cmd/robotsbatch/internal/config/config.go:s/DefaultMemory = 512 << 20/DefaultMemory = leastMemory/
seven     | $command | $scripts GOMAXPROCS=7
zero-hash | $command | -run=^TestScripts$ -skip=TestScripts/(uses|list)$ matcher/origins.go:s/return maphash.Bytes(seed, key)/_ = seed; return 0/ io/rules/rulesdir/index.go:s/return uint32(maphash.Bytes(x.seed, key))/return 0/
zero-pack | $command | $scripts io/rules/rulepack/bucket.go:s/uint64 { return xxh3.Hash(authority) }/uint64 { _ = xxh3.Hash; return 0 }/
purego    | $kernels | -tags=purego
nounsafe  | ./matcher/internal/kernels | -tags=nounsafe
scripts   | $command | $scripts -tags=purego,nounsafe
checkptr  | ./matcher/... ./io/rules/... ./io/frontier/... | -gcflags=all=-d=checkptr
386       | $libraries ./io/tables ./io/tables/arrow/... ./io/tables/parquet/encoding ./io/tables/parquet/pagefilter | GOARCH=386
s390x     | $libraries | GOARCH=s390x CGO_ENABLED=0 -exec=qemu-s390x-static
WORLDS
}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/worlds.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# change FILE EXPRESSION: adds a changed copy of a file to the overlay.
change() {
  local copy
  copy=$scratch/${1//\//_}
  sed "$2" "$1" >"$copy"
  if cmp -s "$1" "$copy"; then
    echo "scripts/worlds.sh: $1 has nothing for $2" >&2
    return 1
  fi
  overlay+=${overlay:+,}"\"$PWD/$1\":\"$copy\""
}

# enter NAME PACKAGES WORLD: runs the tests of a world.
enter() {
  local -a variables=() arguments=() packages
  local overlay='' word rest=$3
  read -ra packages <<<"$2"
  while [[ $rest =~ ^(.*[[:space:]])([^[:space:]]+\.go):(s/[^/]*/[^/]*/)(.*)$ ]]; do
    change "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}" || return # the caller goes on after errors
    rest=${BASH_REMATCH[1]}${BASH_REMATCH[4]}
  done
  for word in $rest; do
    if [[ $word == -* ]]; then arguments+=("$word"); else variables+=("$word"); fi
  done
  if [[ -n $overlay ]]; then
    echo "{\"Replace\":{$overlay}}" >"$scratch/overlay.json"
    arguments+=("-overlay=$scratch/overlay.json")
  fi
  [[ -z $check ]] || return 0
  local before=$SECONDS status=0
  env "${variables[@]}" go test -vet=off -short "${arguments[@]}" "${packages[@]}" || status=$?
  echo "==== $1: $([[ $status == 0 ]] && echo passed || echo FAILED), $((SECONDS - before)) s"
  return "$status"
}

if [[ ${1:-} == -list ]]; then
  worlds | cut -d' ' -f1
  exit
fi
check=
if [[ ${1:-} == -check ]]; then
  check=yes
  shift
fi
for name in "$@"; do
  if ! worlds | cut -d' ' -f1 | grep -qx -- "$name"; then
    echo "scripts/worlds.sh: there is no world $name" >&2
    exit 2
  fi
done
failed=0
while IFS='|' read -r name packages world; do
  name=${name// /}
  if [[ $# -eq 0 || " $* " == *" $name "* ]]; then
    enter "$name" "$packages" "$world" || failed=1
  fi
done < <(worlds)
exit $failed
