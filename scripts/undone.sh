#!/usr/bin/env bash
# Finds commits that take files back to what they were before another commit, as a
# landing from a stale tree does: each such file has, to the byte, a content that it had
# earlier. A commit that means to do so says "revert", "restore" or "put back" in its
# message; so does a later commit that mends the file. Looks at all commits since the
# given one.
#
#   scripts/undone.sh [SINCE]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

since=${1:-668071c}
if ! git rev-parse --verify --quiet "$since^{commit}" >/dev/null; then
  echo "undone.sh: skipped: this checkout does not hold the commit $since" >&2
  exit 0
fi

found=$(git log --reverse --raw --no-abbrev --no-renames --format='commit %h %s' "$since..HEAD" | awk '
  /^commit / { subject = substr($0, 8); next }
  /^:/ {
    tab = index($0, "\t"); file = substr($0, tab + 1)
    split(substr($0, 1, tab - 1), change, " "); before = change[3]; after = change[4]
    if (change[5] == "M" && (file, after) in seen)
      print subject "\t" file "\t" seen[file, after]
    if (!((file, before) in seen)) seen[file, before] = "an earlier commit"
    seen[file, after] = subject
  }' | while IFS=$'\t' read -r commit file old; do
    says='revert|restore|put .*back|back to'
    { git log -1 --format=%B "${commit%% *}"; git log --format=%B "${commit%% *}..HEAD" -- "$file"; } | grep -iE "$says" >/dev/null ||
      printf '%s: %s is again what it was at: %s\n' "$commit" "$file" "$old"
  done)
if [[ -n $found ]]; then
  printf 'these commits undo others without saying so:\n%s\n' "$found" >&2
  exit 1
fi
