"""Checks stats -by month against SQL: captures of two years are made up, robotsbatch counts
them, and DuckDB counts the same from the texts of the captures.

    python months.py ROBOTSBATCH FOLDER
"""

import csv
import datetime
import random
import subprocess
import sys
from pathlib import Path

import duckdb

AGENTS = {"GPTBot": 0.45, "CCBot": 0.4, "Google-Extended": 0.25, "*": 0.02}
RULES = {"all": "Disallow: /", "some": "Disallow: /private/", "none": "Disallow:"}

# The last capture of a host before the end of a month says what its text does: the group of
# the agent, else that for everyone. Of the hosts of a site all must deny everything, or
# nothing; else it is some.
QUERY = r"""
WITH agents(agent) AS (VALUES {agents}),
captures AS (SELECT split_part(url, '/', 3) AS host, fetched_at, coalesce(body, '') AS body FROM read_csv('{captures}', all_varchar = true)),
months AS (SELECT month, strftime(month + INTERVAL 1 MONTH, '%Y-%m-%dT%H:%M:%SZ') AS next FROM generate_series(
  (SELECT date_trunc('month', min(fetched_at::TIMESTAMP)) FROM captures), (SELECT max(fetched_at::TIMESTAMP) FROM captures), INTERVAL 1 MONTH) t(month)),
known AS (SELECT month, host, arg_max(body, fetched_at) AS body FROM months JOIN captures ON fetched_at < next GROUP BY ALL),
stated AS (SELECT month, host, agent, coalesce(
    nullif(regexp_extract(body, '(^|\n)User-agent: ' || replace(agent, '*', '\*') || '\n(Disallow:[^\n]*)', 2), ''),
    nullif(regexp_extract(body, '(^|\n)User-agent: \*\n(Disallow:[^\n]*)', 2), ''), 'Disallow:') AS rule FROM known, agents),
sites AS (SELECT month, agent, {site} AS site, bool_and(rule = 'Disallow: /') AS closed, bool_and(rule = 'Disallow:') AS open FROM stated GROUP BY ALL)
SELECT strftime(month, '%Y-%m') AS month, agent, count(*)::BIGINT AS sites, count(*) FILTER (closed)::BIGINT AS "full",
  count(*) FILTER (NOT closed AND NOT open)::BIGINT AS partial, count(*) FILTER (open)::BIGINT AS none
FROM sites GROUP BY ALL
"""


def main() -> None:
    program, folder = sys.argv[1], Path(sys.argv[2])
    captures = folder / "captures.csv"
    rows = make(captures)
    agents = [word for agent in AGENTS for word in ("-agent", agent)]
    compared = 0
    for by, site in {"host": "host", "domain": "regexp_extract(host, '[^.]+\\.(co\\.uk|[^.]+)$')"}.items():
        command = [program, "stats", "-by", "month", "-by", by, "-as", "csv", *agents, "-rules", str(captures)]
        with open(folder / "months.csv", "wb") as out:
            subprocess.run(command, stdout=out, check=True)
        values = ", ".join(f"('{agent}')" for agent in AGENTS)
        query = QUERY.replace("{agents}", values).replace("{captures}", str(captures)).replace("{site}", site)
        ours = f"SELECT month, agent, sites, \"full\", partial, none FROM read_csv('{folder}/months.csv', types = {{'month': 'VARCHAR'}}) WHERE rank = 'all' AND agent NOT LIKE 'any of %'"
        only = duckdb.sql(f"(({query}) EXCEPT ({ours})) UNION ALL (({ours}) EXCEPT ({query}))").fetchall()
        if only:
            raise SystemExit(f"months.py: by {by}, {len(only)} rows differ, such as {sorted(only)[:4]}")
        [(count, full)] = duckdb.sql(f'SELECT count(*), sum("full") FROM ({ours})').fetchall()
        if count < 24 * len(AGENTS) or not full:
            raise SystemExit(f"months.py: by {by} there are only {count} rows, {full} closed")
        compared += count
    print(f"stats -by month counts what SQL does of {rows:,} captures: {compared} rows")


def make(captures: Path) -> int:
    """Make captures up: hosts that close themselves to more and more agents."""
    chance = random.Random(7)
    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    rows = []
    for n in range(1500):
        site = f"site{n}.{chance.choice(['com', 'org', 'co.uk', 'de'])}"
        for host in chance.sample([site, "www." + site, "shop." + site], chance.choice([1, 1, 2, 3])):
            said: dict[str, str] = {}
            day = chance.uniform(0, 300)
            while day < 730:
                for agent, eager in AGENTS.items():
                    if chance.random() < 0.1 * eager + (0.03 if agent in said else 0):
                        said[agent] = chance.choices(list(RULES), [1 + 8 * day / 730, 1, 1])[0]
                missing = chance.random() < 0.05
                body = "\n".join(f"User-agent: {agent}\n{RULES[rule]}\n" for agent, rule in said.items())
                at = (start + datetime.timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
                rows.append([f"https://{host}/robots.txt", at, 404 if missing else 200, "" if missing else body])
                day += chance.expovariate(1 / 45)
    chance.shuffle(rows)
    with open(captures, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["url", "fetched_at", "status", "body"])
        writer.writerows(rows)
    return len(rows)


if __name__ == "__main__":
    main()
