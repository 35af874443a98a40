#!/usr/bin/env bash
# Runs the commands and the SQL of the manual's page on Common Crawl, in order, on an archive
# made like it: WARC files, their index in Parquet partitioned by crawl and subset, and a frontier.
# Verdicts are compared with what SQL says that each host answers.
#
#   HOSTS=150000 ROWS=5000000 WARCS=400 scripts/integration/commoncrawl.sh   # the full size
#
# Each number is smaller without it. HOSTS is a multiple of 20.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python_with duckdb-cli==1.5.6
build
export PATH=$scratch:$scratch/venv/bin:$PATH
hosts=${HOSTS-2000} rows=${ROWS-40000} warcs=${WARCS-20}
page=$PWD/cmd/robotsbatch/manual/commoncrawl.md maker=$PWD/scripts/integration/commoncrawl.py
mkdir "$scratch/work" && cd "$scratch/work"
"$scratch/venv/bin/python" "$maker" "$hosts" "$warcs"
ln -s archive/crawl-data/CC-MAIN-2024-51/segments/1/robotstxt robotstxt
printf 'CCBot\nGPTBot\n' >ai.txt
mkdir -p frontier/dt=2024-12-01 cc-index/table/cc-main/warc
duckdb -c "
COPY (SELECT *, 'CC-MAIN-2024-51' AS crawl, 'robotstxt' AS subset FROM read_csv('index.csv', types = {'fetch_redirect': 'VARCHAR'}))
  TO 'cc-index/table/cc-main/warc' (FORMAT parquet, PARTITION_BY (crawl, subset));
COPY (SELECT 'https://h' || host || '.example/' || path || '/' || row AS url, TIMESTAMP '2024-12-02 00:00:00' AS fetch_time, host, path
  FROM (SELECT row, row * 7919 % $hosts AS host, ['open', 'private', 'page'][1 + row % 3] AS path FROM range($rows) AS r(row)))
  TO 'frontier.parquet';
COPY (SELECT * FROM 'frontier.parquet') TO 'frontier/dt=2024-12-01/1.parquet';
COPY (SELECT * FROM 'frontier.parquet' LIMIT 10000) TO 'pages.parquet';"

count() { duckdb -csv -noheader -c "SELECT count(*) FROM $1"; }

# same VERDICTS AGENT compares verdicts on the frontier with what SQL says.
same() {
  local verdict want got rules="answers % 4 <> 0 AND path = 'private'"
  [[ $2 != CCBot ]] || rules="CASE WHEN answers % 4 = 0 THEN path <> 'open' ELSE path = 'private' END"
  for verdict in allowed 'NOT allowed'; do
    want=$(count "(SELECT CASE WHEN answers % 10 = 3 THEN true WHEN answers % 10 = 9 THEN false ELSE NOT ($rules) END AS allowed
      FROM (SELECT path, CASE WHEN host % 20 = 17 THEN host - 1 + $hosts WHEN host % 10 = 7 THEN host - 1 ELSE host END AS answers FROM 'frontier.parquet'))
      WHERE $verdict")
    got=$(count "'$1' WHERE $verdict")
    echo "$1, $2, $verdict: $got rows, by SQL $want"
    [[ $got == "$want" && $want != 0 ]] || { echo "commoncrawl.sh: they differ" >&2; exit 1; }
  done
}

# The page's commands and SQL, a line each; what names the store reads the archive here.
commands=0
while IFS= read -r command; do
  [[ $command != robotsbatch* ]] || echo "\$ $command"
  started=$SECONDS
  case $command in
    robotsbatch*) bash -euo pipefail -c "${command/s3:\/\/commoncrawl\//archive/}" ;;
    *) duckdb -bail -c "$command" ;;
  esac
  echo "$((SECONDS - started)) s"
  case $command in
    *-warc-base*) same verdicts.parquet CCBot ;;
    *judged/*) same 'judged/**/*.parquet' GPTBot ;;
  esac
  commands=$((commands + 1))
done < <(awk '/^```sql/ { sql = 1; next } /^```/ { if (sql) print text; sql = 0; text = ""; next } sql { text = text " " $0 } /^    robotsbatch/ { print substr($0, 5) }' "$page")
[[ $commands -ge 9 ]] || { echo "commoncrawl.sh: the page has $commands commands" >&2; exit 1; }
echo "$commands commands; SQL counts as many rows"
