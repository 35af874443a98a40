#!/usr/bin/env bash
# Opens a report and the page of a survey in headless Chromium: no error on the console, no request, no serious fault
# that axe-core finds, in light and dark, wide and narrow. SCREENSHOTS=FOLDER keeps what it
# looked like.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

chromium=$(command -v chromium || command -v chromium-browser || true)
if [[ -z $chromium && -n ${CI-} ]] && command -v apt-get >/dev/null; then
  { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium; } >"$scratch/apt.log" 2>&1 || tail "$scratch/apt.log"
  chromium=$(command -v chromium || true)
fi
[[ -n $chromium ]] || skip "chromium is not installed"
node_with scripts/integration/report
build

folder=${SCREENSHOTS-$scratch/screenshots}
mkdir -p "$folder"
"$scratch/robotsbatch" -in bench/corpus/sample/frontier.arrow -rules bench/corpus/sample/rules -agent CCBot -agent GPTBot \
  -weight fetch_priority -batch-rows 16 -out "$scratch/verdicts.arrow" -report "$scratch/report.html"
node "$scratch/report/check.js" "$chromium" "$scratch/report.html" "$folder"
"$scratch/robotsbatch" survey -rules bench/corpus/sample/rules -agent CCBot -agent GPTBot -agent '*' -out "$scratch/survey.parquet"
printf 'http://nobody.test\n' >"$scratch/ranks.txt"
"$scratch/robotsbatch" survey -as html -rank "$scratch/ranks.txt" "$scratch/survey.parquet" >"$scratch/survey.html"
node "$scratch/report/check.js" "$chromium" "$scratch/survey.html" "$folder"
# Over time: sites that close one after the other.
for month in 01 02 03 04; do
  for site in 1 2 3 4; do
    rule=Disallow:; ((10#$month <= site)) || rule='Disallow: /'
    printf '{"url":"https://%s.test/robots.txt","fetched_at":"2026-%s-05T00:00:00Z","status":200,"body":"User-agent: GPTBot\\n%s"}\n' "$site" "$month" "$rule"
  done
done >"$scratch/captures.jsonl"
"$scratch/robotsbatch" survey -agent GPTBot -agent CCBot -by month -as html -rules "$scratch/captures.jsonl" >"$scratch/months.html"
node "$scratch/report/check.js" "$chromium" "$scratch/months.html" "$folder"
