#!/usr/bin/env bash
# Searches for the robots.txt and the URL that take the evaluator longest, and records what
# it finds under bench/record/.
#
#   scripts/hostile.sh [-time T] [-seed N] [-lengths N,N,...] [-save FOLDER]
#
# The default is an hour (-time 1h). It prints nanoseconds per byte of the URL: for a host
# whose rules have decided some URLs before, and for the first URL of a host.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

partial=$(mktemp "${TMPDIR:-/tmp}/hostile.XXXXXX")
trap 'rm -f "$partial"' EXIT
{
  record_head
  echo "command: scripts/hostile.sh $*"
  echo
} >"$partial"
go run ./bench/hostile "$@" | tee -a "$partial"
keep "$partial" "hostile-$(date -u +%Y-%m-%d)-$commit.txt"
