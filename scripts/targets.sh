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

# release_version prints what is built: 1.2.3 at the tag v1.2.3, else 0.0.0.
release_version() {
  local tag
  tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null) || tag=v0.0.0
  echo "${tag#v}"
}
