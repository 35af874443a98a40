#!/usr/bin/env bash
# Evaluates many random lists of URLs and compares each row with the same row alone in a
# fresh evaluator, with and without explanations.
#
#   scripts/law.sh [LISTS [SEED]]
#
# LISTS is 20000 by default, about ten minutes; SEED is that of the first list, random by
# default. A failure names the seed of its list.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ $# -le 2 && ${1-} != -* ]] || {
  echo "usage: scripts/law.sh [LISTS [SEED]]" >&2
  exit 2
}
seed=${2-$RANDOM$RANDOM}
echo "${1-20000} lists from seed $seed"
go test ./batch/evaluate -run '^TestListsGiveEachRowItsOwnVerdict$' -count 1 -timeout 0 -lists "${1-20000}" -lists.seed "$seed"
