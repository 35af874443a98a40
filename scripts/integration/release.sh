#!/usr/bin/env bash
# Builds a release for all targets, or those that are named, runs the program for this
# machine, checks the contents with other programs, and builds it again in another folder,
# which must give the same bytes. With COLD=1 the second build compiles everything again and
# takes some minutes more.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source scripts/targets.sh
[[ $# == 0 ]] || targets=("$@")

first=$scratch/first
scripts/release.sh -out "$first" "${targets[@]}"
(cd "$first" && sha256sum --quiet --check SHA256SUMS)
count=$(find "$first" -name '*.tar.gz' -o -name '*.zip' | wc -l)
[[ $count == "${#targets[@]}" ]] || { echo "$count archives for ${#targets[@]} targets" >&2; exit 1; }

# The archive for this machine, unpacked as a user would.
name=robotsbatch-$(release_version)-$(go env GOHOSTOS)-$(go env GOHOSTARCH)
tar xzf "$first/$name.tar.gz" -C "$scratch"
program=$scratch/$name/robotsbatch
"$program" version | head -n 2
"$program" -in bench/corpus/sample/frontier.arrow -rules bench/corpus/sample/rules -agent CCBot -out "$scratch/verdicts.csv"
if command -v ldd >/dev/null && ldd "$program" 2>/dev/null; then
  echo "$program is linked to libraries" >&2
  exit 1
fi
if command -v mandoc >/dev/null; then
  mandoc -T lint -W error "$scratch/$name/robotsbatch.1"
elif command -v groff >/dev/null; then
  warnings=$(groff -man -ww -z "$scratch/$name/robotsbatch.1" 2>&1)
  [[ -z $warnings ]] || { echo "$warnings" >&2; exit 1; }
fi

# The packages have the archive's program and texts.
if command -v dpkg-deb >/dev/null && [[ -e $first/$name.deb ]]; then
  dpkg-deb --extract "$first/$name.deb" "$scratch/package"
  cmp "$program" "$scratch/package/usr/bin/robotsbatch"
  cmp "$scratch/$name/robotsbatch.1" "$scratch/package/usr/share/man/man1/robotsbatch.1"
  dpkg-deb --info "$first/$name.deb"
fi

# Every program names its target and commit.
commit=$(git rev-parse HEAD)
for archive in "$first"/robotsbatch-*.{tar.gz,zip}; do
  [[ -e $archive ]] || continue
  mkdir "$scratch/open"
  case $archive in
    *.zip) python3 -m zipfile -e "$archive" "$scratch/open" ;;
    *) tar xzf "$archive" -C "$scratch/open" ;;
  esac
  settings=$(find "$scratch/open" '(' -name robotsbatch -o -name robotsbatch.exe ')' -exec go version -m '{}' ';')
  for wanted in "vcs.revision=$commit" vcs.modified=false CGO_ENABLED=0 -trimpath=true; do
    [[ $settings == *"$wanted"* ]] || { echo "$archive: not built with $wanted" >&2; exit 1; }
  done
  mv "$scratch"/open/*/sbom.cdx.json "$scratch/$(basename "$archive").cdx.json"
  rm -r "$scratch/open"
done

# The bills of materials are valid for the checker of the format's authors.
python_with 'cyclonedx-python-lib[json-validation]==11.12.0'
"$scratch/venv/bin/python" - "$scratch"/*.cdx.json <<'PYTHON'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read())
    if error:
        sys.exit(f"{name}: {error}")
print(f"{len(sys.argv) - 1} bills of materials are valid")
PYTHON

# Build again in another folder.
[[ -z ${COLD-} ]] || export GOCACHE=$scratch/cache
TMPDIR=$scratch scripts/release.sh -out "$scratch/second" "${targets[@]}"
diff "$first/SHA256SUMS" "$scratch/second/SHA256SUMS"
cat "$first/SHA256SUMS"
echo "built twice to the same bytes"

# The image.
(cd scripts/container && go vet . && go test .)
