# shellcheck shell=bash
# What a release is built for and how, for the scripts that build one, which source
# it from the project's root.

# The targets, as GOOS/GOARCH.
# shellcheck disable=SC2034  # used where this is sourced
targets=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)

# build_target TARGET FILE builds the program for a target: static, the same bytes
# wherever it is built, and with the commit in it.
build_target() {
  CGO_ENABLED=0 GOOS=${1%/*} GOARCH=${1#*/} go build -trimpath -buildvcs=true -ldflags='-s -w' -o "$2" ./cmd/robotsbatch
}

# release_version prints the version that the program has. A tag such as v1.2.3 of this
# commit must name the same one.
release_version() {
  local version tag
  version=$(sed -n 's/^const number = "\(.*\)"$/\1/p' cmd/robotsbatch/internal/cli/version.go)
  tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null) || tag=v$version
  if [[ $tag != "v$version" ]]; then
    echo "the tag is $tag and the program's version $version (cmd/robotsbatch/internal/cli/version.go)" >&2
    return 1
  fi
  echo "$version"
}
