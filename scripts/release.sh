#!/usr/bin/env bash
# Builds the release of the last commit in dist/ or the folder of -out. Each target has an
# archive with the program, its manual page, completions, licences and SBOM; those of Linux
# also have deb, rpm and apk packages with the same files. SHA256SUMS is for all.
#
#   scripts/release.sh [-out FOLDER] [GOOS/GOARCH...]
#
# The same commit and the same Go give the same bytes, wherever they are built. The
# version is the program's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/targets.sh
source scripts/targets.sh

out=dist
if [[ ${1-} == -out ]]; then
  out=$2
  shift 2
fi
[[ $# == 0 ]] || targets=("$@")
mkdir -p "$out"
out=$(cd "$out" && pwd)

# Build in a clone, which has only what is committed.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/release.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
git clone --quiet . "$scratch/clone"
cd "$scratch/clone"

for target in "${targets[@]}"; do
  file=robotsbatch
  [[ $target != windows/* ]] || file+=.exe
  build_target "$target" "$scratch/bin/${target/\//-}/$file"
done

# The texts come from the program itself, built for this machine.
host=$(go env GOHOSTOS)/$(go env GOHOSTARCH)
program=$scratch/bin/${host/\//-}/robotsbatch
if [[ ! -e $program ]]; then
  program=$scratch/robotsbatch
  build_target "$host" "$program"
fi
mkdir -p "$scratch/texts/completions"
"$program" help man >"$scratch/texts/robotsbatch.1"
"$program" help bash >"$scratch/texts/completions/robotsbatch.bash"
"$program" help zsh >"$scratch/texts/completions/_robotsbatch"
"$program" help fish >"$scratch/texts/completions/robotsbatch.fish"
"$program" help powershell >"$scratch/texts/completions/robotsbatch.ps1"
cp README.md CHANGELOG.md LICENSE "$scratch/texts"

version=$(release_version)
time=$(git log -1 --format=%ct)
go run ./scripts/release -version "$version" -time "$time" \
  -programs "$scratch/bin" -texts "$scratch/texts" -out "$out"

# The packages are made of the unpacked archives.
(cd scripts/release/packages && go build -o "$scratch/nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm)
export SOURCE_DATE_EPOCH=$time VERSION=$version ARCH
for target in "${targets[@]}"; do
  [[ $target == linux/* ]] || continue
  ARCH=${target#*/}
  name=robotsbatch-$version-linux-$ARCH
  tar xzf "$out/$name.tar.gz" -C "$scratch"
  for kind in deb rpm apk; do
    (cd "$scratch/$name" && "$scratch/nfpm" package -f "$scratch/clone/scripts/release/packages/nfpm.yaml" -p "$kind" -t "$out/$name.$kind" >/dev/null)
    (cd "$out" && sha256sum "$name.$kind" >>SHA256SUMS)
  done
done
