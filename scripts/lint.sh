#!/usr/bin/env bash
# Checks what the compiler does not: formatting, vet, staticcheck, and that scripts name what is there. The tools
# are pinned in scripts/tools/go.mod.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tool() { go tool -modfile=scripts/tools/go.mod "$@"; }

unformatted=$(tool gofumpt -l .)
if [[ -n $unformatted ]]; then
  printf 'not formatted; run: go tool -modfile=scripts/tools/go.mod gofumpt -w .\n%s\n' "$unformatted" >&2
  exit 1
fi
go vet ./...
tool staticcheck ./...
scripts/undone.sh
scripts/worlds.sh -check
