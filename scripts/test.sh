#!/usr/bin/env bash
# Vets and tests every package. It needs only Go. Arguments go to go test:
#
#   scripts/test.sh
#   scripts/test.sh -run TestMatch
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go vet ./...
go test -vet=off -timeout 30m "$@" ./...
