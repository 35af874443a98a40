#!/usr/bin/env bash
# Measures a job for a list of agents beside one for a single agent, on the same URLs:
# CPU seconds, the least of some rounds, and how many times as much; and the survey of the
# rules for the first sixty. It prints what came out, for bench/record.
#
#   scripts/agents.sh RULES URLS LIST [ROUNDS]
set -euo pipefail
[[ $# -eq 3 || $# -eq 4 ]] || { echo "usage: scripts/agents.sh RULES URLS LIST [ROUNDS]" >&2; exit 2; }
rules=$(realpath "$1") urls=$(realpath "$2") list=$(realpath "$3") rounds=${4:-3}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/record.sh

scratch=$(mktemp -d "${TMPDIR:-/tmp}/agents.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
go build -o "$scratch/robotsbatch" ./cmd/robotsbatch

# cpu prints the least CPU seconds that robotsbatch takes with these flags.
cpu() {
  for _ in $(seq "$rounds"); do
    (TIMEFORMAT='%U %S'; { time "$scratch/robotsbatch" "$@" -quiet 2>/dev/null; } 2>&1)
  done | awk 'NR == 1 || $1 + $2 < least { least = $1 + $2 } END { printf "%.2f", least }'
}

record_head
grep -vE '^\s*(#|$)' "$list" | head -60 >"$scratch/sixty.txt"
printf '%s agents, %s URLs; CPU seconds and times one agent\n' "$(grep -cvE '^\s*(#|$)' "$list")" "$(wc -l <"$urls")"
printf '%-9s %8s %18s %18s %18s\n' output one any-denied list columns
for format in arrow parquet csv; do
  job=(-in "$urls" -rules "$rules" -out "$scratch/out.$format")
  one=$(cpu "${job[@]}" -agent CCBot)
  printf '%-9s %8s' "$format" "$one"
  for how in "-agents-as any-denied" "-agents-as list" "-agents-as columns"; do
    # shellcheck disable=SC2086  # two words
    many=$(cpu "${job[@]}" -agents "$list" $how)
    printf ' %10s %6s×' "$many" "$(awk -v a="$many" -v b="$one" 'BEGIN { printf "%.1f", a / b }')"
  done
  printf '\n'
done
printf 'survey of 60 agents: %s s\n' "$(cpu survey -rules "$rules" -agents "$scratch/sixty.txt" -out "$scratch/survey.parquet")"
