"""Checks figures about sites against SQL: captures of two years are made up, of hosts that close
themselves, die, return, redirect, refuse and serve pages. What DuckDB counts of the tables that
robotsbatch exports at the end of each month is what survey -by month counts, what survey -as counts of
the survey of that month, and what survey -changes lists from one month to the next.

    months.py ROBOTSBATCH SAMPLE SCRATCH
"""

import csv
import datetime
import json
import os
import random
import subprocess
import sys

import duckdb

program = os.path.abspath(sys.argv[1])
AGENTS = {"GPTBot": ("AI Data Scrapers", 0.45), "CCBot": ("AI Data Scrapers", 0.4), "Google-Extended": ("AI Assistants", 0.25), "*": (None, 0.02)}
RULES = ["Disallow: /", "Disallow: /private/", "Disallow: /$", "Disallow:"]
MONTHS = 24

# What each authority denies each agent in a month, from the tables access, agents and rules: the
# last group that names the agent, else that for everyone. A body has one rule in each group.
STATES = """
CREATE OR REPLACE TABLE states AS
WITH listed AS (SELECT *, regexp_extract(filename, '[0-9]{4}-[0-9]{2}') AS month FROM read_parquet('access-*.parquet', filename = true)),
groups AS (SELECT authority, token, "group", regexp_extract(filename, '[0-9]{4}-[0-9]{2}') AS month FROM read_parquet('agents-*.parquet', filename = true)),
rules AS (SELECT authority, "group", normalised, regexp_extract(filename, '[0-9]{4}-[0-9]{2}') AS month FROM read_parquet('rules-*.parquet', filename = true)),
chosen AS (SELECT l.*, a.agent, g.token, r.normalised FROM listed l CROSS JOIN (SELECT unnest({agents}) AS agent) a
  LEFT JOIN groups g ON g.month = l.month AND g.authority = l.authority AND g.token = CASE WHEN EXISTS (
    FROM groups n WHERE n.month = l.month AND n.authority = l.authority AND n.token = lower(a.agent)) THEN lower(a.agent) ELSE '*' END
  LEFT JOIN rules r ON r.month = l.month AND r.authority = l.authority AND r."group" = g."group")
SELECT month, authority, registered_domain, regexp_extract(authority, '//([^:/]*)', 1) AS host, agent, class,
  CASE WHEN normalised = '/' THEN 'all' WHEN normalised IN ('/private/', '/$') THEN 'some' ELSE 'none' END AS blocked,
  normalised IN ('/', '/$') IS TRUE AS root, CASE WHEN token = '*' THEN 'everyone' WHEN token IS NOT NULL THEN 'name' END AS "by"
FROM chosen WHERE class NOT IN ('unreachable', 'old_copy')
UNION ALL SELECT month, authority, registered_domain, regexp_extract(authority, '//([^:/]*)', 1), unnest({agents}), class, NULL, NULL, NULL
FROM listed WHERE class IN ('unreachable', 'old_copy')
"""

# The class of each authority by its last capture of a month.
CAPTURED = """
SELECT month, authority, CASE WHEN status IN ('500', '503', '429', '') THEN 'none' WHEN status IN ('401', '403') THEN 'refused' WHEN status IN ('404', '410') THEN 'no_file'
  WHEN status <> '200' THEN 'other' WHEN starts_with(body, '<') THEN 'html' ELSE 'with_rules' END AS class
FROM (SELECT month, authority, arg_max(status, fetched_at) AS status, arg_max(body, fetched_at) AS body
  FROM captured JOIN (SELECT DISTINCT month FROM states) ON substr(fetched_at, 1, 7) <= month GROUP BY ALL)
"""

CLASSES = ["with_rules", "html", "refused", "no_file", "other", "old_copy", "unreachable"]

# A site: its class, and what it denies by its authorities that were reached. A line of several
# agents has what a site denies any of them.
COUNTS = """
WITH sites AS (SELECT month, {site} AS site, agent, min(array_position({classes}, class)) AS class, bool_and(blocked = 'all') AS closed,
    bool_and(blocked = 'none') AS open, bool_and(root) AS root FROM states GROUP BY ALL),
together AS (SELECT month, site, agent, class, closed, open, root FROM sites
  UNION ALL SELECT month, site, 'any of 3', min(class), bool_or(closed), bool_and(open), bool_or(root) FROM sites WHERE agent <> '*' GROUP BY ALL
  UNION ALL SELECT month, site, 'any of 2, AI Data Scrapers', min(class), bool_or(closed), bool_and(open), bool_or(root) FROM sites
    WHERE agent IN ('GPTBot', 'CCBot') GROUP BY ALL),
based AS (SELECT *, class <= 5 AS reached, {base} AS based FROM together {where})
SELECT month, agent, count(*), {each}, count(*) FILTER (reached), count(*) FILTER (based), count(*) FILTER (based AND closed),
  count(*) FILTER (based AND NOT closed AND NOT open), count(*) FILTER (based AND open), count(*) FILTER (based AND root)
FROM based GROUP BY month, agent
"""
COLUMNS = ["sites", *CLASSES, "reached", "base", "full", "partial", "none", "root"]
SITES = {"authority": "authority", "host": "host", "domain": "registered_domain"}
BASES = {"reached": "class <= 5", "rules": "class = 1", "all": "true"}


def run(*args: str) -> str:
    done = subprocess.run([program, *args], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"months.py: {args}: {done.stderr}")
    return done.stdout


def main() -> None:
    os.makedirs(f"{sys.argv[3]}/months")
    os.chdir(f"{sys.argv[3]}/months")
    rows = make()
    with open("agents.json", "w") as file:
        json.dump({agent: {"function": kind} for agent, (kind, _) in AGENTS.items() if kind}, file)
    agents = ["-agents", "agents.json", "-agent", "*"]
    run("compile", "-rules", "captures.csv", "-history", "-out", "history.rules", "-quiet")
    rules = ["-rules", "history.rules"]
    ends = {}
    for row in count(run("survey", *agents, *rules, "-by", "month", "-as", "csv")):
        year, month = map(int, row["month"].split("-"))
        ends[row["month"]] = min(datetime.datetime(year + month // 12, month % 12 + 1, 1) - datetime.timedelta(seconds=1), LAST).isoformat() + "Z"
    for month, end in ends.items():
        for table in ("access", "agents", "rules"):
            run("export", *rules, "-table", table, "-as-of", end, "-out", f"{table}-{month}.parquet", "-quiet")
    duckdb.sql(STATES.replace("{agents}", str(list(AGENTS))))
    compared = differ("the last captures", CAPTURED, "SELECT DISTINCT month, authority, CASE WHEN class IN ('unreachable', 'old_copy') THEN 'none' ELSE class END FROM states")
    for by, site in SITES.items():
        base = dict(zip(SITES, BASES))[by]
        monthly = count(run("survey", *agents, *rules, "-by", "month", "-by", by, "-of", base, "-as", "csv"))
        want = sql(site, base)
        compared += same(f"-by month -by {by} -of {base}", want, numbers(monthly, "all"))
        known = f"SELECT {site} AS site, substr(fetched_at, 1, 7) AS month FROM captured UNION SELECT {site}, month FROM states WHERE class = 'old_copy'"
        panel = f"WHERE site IN (SELECT site FROM ({known}) GROUP BY site HAVING count(*) = {len(ends)})"
        compared += same(f"the panel by {by}", sql(site, base, panel), numbers(monthly, "panel"))
    # The survey of a month says of each authority what SQL does, and is counted the same.
    for month in list(ends)[5::6]:
        run("survey", *agents, *rules, "-as-of", ends[month], "-out", "survey.parquet", "-quiet")
        said = 'authority, agent, class, blocked, root, "by"'
        answers = "class NOT IN ('unreachable', 'old_copy')"
        compared += differ(month, f"SELECT {said} FROM states WHERE month = '{month}' AND {answers}", f"SELECT {said} FROM 'survey.parquet' WHERE {answers}")
        counted = count(run("survey", "-as", "csv", "survey.parquet"))
        compared += same(f"the survey of {month}", [row for row in sql("registered_domain", "reached") if row[0] == month], numbers([{"month": month, **row} for row in counted], "all"))
    print(f"figures about sites are what SQL counts of {rows:,} captures: {compared} rows, {changes(agents + rules)} changes")


def changes(flags: list[str]) -> int:
    """Compare what changed from one answer to the next at the ends of months, and count it."""
    run("survey", *flags, "-changes", "-out", "changes.parquet", "-quiet")
    # Of several changes in a month what was before the first and after the last.
    differ(
        "-changes",
        """SELECT * FROM (SELECT authority, agent, month, lag((class, blocked, "by")) OVER (PARTITION BY authority, agent ORDER BY month) AS older, (class, blocked, "by") AS newer
          FROM states WHERE class NOT IN ('unreachable', 'old_copy')) WHERE older IS DISTINCT FROM newer AND older IS NOT NULL""",
        """WITH marked AS (SELECT authority, agent, (SELECT min(s.month) FROM states s WHERE s.authority = c.authority AND s.agent = c.agent
              AND s.month >= strftime(changed_at, '%Y-%m') AND s.class NOT IN ('unreachable', 'old_copy')) AS month, changed_at,
            (old_class, old_blocked, old_by) AS older, (new_class, new_blocked, new_by) AS newer FROM 'changes.parquet' c)
          SELECT authority, agent, month, arg_min(older, changed_at) AS older, arg_max(newer, changed_at) AS newer FROM marked
          WHERE month IS NOT NULL AND month > (SELECT min(s.month) FROM states s WHERE s.authority = marked.authority AND s.agent = marked.agent AND s.class NOT IN ('unreachable', 'old_copy'))
          GROUP BY ALL HAVING older IS DISTINCT FROM newer""",
    )
    return duckdb.sql("SELECT count(*) FROM 'changes.parquet'").fetchall()[0][0]


def count(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def numbers(rows: list[dict[str, str]], rank: str) -> list[tuple]:
    return sorted((r["month"], r["agent"], *(int(r[column]) for column in COLUMNS)) for r in rows if r["rank"] == rank)


def sql(site: str, base: str, where: str = "") -> list[tuple]:
    each = ", ".join(f"count(*) FILTER (class = {i + 1})" for i in range(len(CLASSES)))
    return sorted(duckdb.sql(COUNTS.format(site=site, classes=CLASSES, base=BASES[base], each=each, where=where)).fetchall())


def same(what: str, want: list[tuple], got: list[tuple]) -> int:
    if want != got or not any(row[-4] for row in got):
        pairs = [f"{w} {g}" for w, g in zip(want, got) if w != g]
        raise SystemExit("\n".join([f"months.py: {what}: {len(want)} and {len(got)} rows", *pairs[:4]]))
    return len(got)


def differ(what: str, want: str, got: str) -> int:
    only = duckdb.sql(f"SELECT 'SQL', * FROM (({want}) EXCEPT ALL ({got})) UNION ALL SELECT 'ours', * FROM (({got}) EXCEPT ALL ({want}))").fetchall()
    if only:
        raise SystemExit(f"months.py: {what}: {len(only)} rows differ, such as {sorted(only, key=str)[:6]}")
    return duckdb.sql(f"SELECT count(*) FROM ({got})").fetchall()[0][0]


START = datetime.datetime(2024, 1, 1)
LAST = START + datetime.timedelta(days=730)


def make() -> int:
    """Make captures up: hosts that close themselves to more and more agents, fail for days or
    for good, redirect to their www, and have several answers that are no robots.txt."""
    chance = random.Random(7)
    rows = []
    for n in range(300):
        site = f"site{n}.{chance.choice(['com', 'org', 'co.uk', 'de'])}"
        steady = chance.random() < 0.2  # captured in each month
        for host in chance.sample([site, "www." + site, "shop." + site], chance.choice([1, 1, 2, 3])):
            said: dict[str, str] = {}
            day = chance.uniform(0, 20 if steady else 300)
            failing = 0.0  # until that day
            while day < 730:
                for agent, (_, eager) in AGENTS.items():
                    if chance.random() < 0.1 * eager + (0.03 if agent in said else 0):
                        said[agent] = chance.choices(RULES, [1 + 8 * day / 730, 1, 1, 1])[0]
                if chance.random() < 0.04:
                    failing = day + chance.choice([5, 40, 100, 1000])
                status, body = 200, "\n".join(f"User-agent: {agent}\n{rule}\n" for agent, rule in said.items())
                error = location = ""
                if day < failing:
                    status, body, error = chance.choice([(503, "", ""), (500, "", ""), ("", "", "timeout"), (429, "", "")])
                elif chance.random() < 0.15:
                    status, body = chance.choice([(404, ""), (410, ""), (403, ""), (401, ""), (451, ""), (200, "<html>no</html>"), (301, "")])
                    location = f"https://lost.{site}/robots.txt" if status == 301 else ""
                at = (START + datetime.timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
                rows.append([f"https://{host}/robots.txt", at, status, error, location, body])
                day += 20 if steady else chance.expovariate(1 / 45)
    rows.append(["https://last.example/robots.txt", LAST.strftime("%Y-%m-%dT%H:%M:%SZ"), 404, "", "", ""])
    chance.shuffle(rows)
    with open("captures.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["url", "fetched_at", "status", "error", "location", "body"])
        writer.writerows(rows)
    duckdb.sql("""CREATE TABLE captured AS SELECT 'https://' || split_part(url, '/', 3) AS authority, split_part(url, '/', 3) AS host,
        regexp_extract(split_part(url, '/', 3), '[^.]+\\.(co\\.uk|[^.]+)$') AS registered_domain, fetched_at,
        coalesce(status, '') AS status, coalesce(body, '') AS body FROM read_csv('captures.csv', all_varchar = true)""")
    return len(rows)


if __name__ == "__main__":
    main()
