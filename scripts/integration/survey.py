"""Checks surveys and lists of agents with DuckDB: its SQL counts what robotsbatch survey -as
prints, verdicts on URLs agree with how much an authority denies, and lists of denied
agents with a column for each agent.

    survey.py ROBOTSBATCH SAMPLE SCRATCH

Surveys of a history are compared with surveys as of many days, one by one.
"""

import csv
import datetime
import io
import json
import os
import random
import re
import subprocess
import sys

import duckdb

robotsbatch, sample, scratch = sys.argv[1:]
os.chdir(scratch)
AGENTS = ["*", "GPTBot", "CCBot", "Googlebot", "Bingbot", "FooBot", "Googlebot-News,Googlebot", "no-such-bot"]


def run(*args):
    done = subprocess.run([robotsbatch, *args], capture_output=True, text=True)
    assert done.returncode == 0, f"{args}: {done.stderr}"
    return done.stdout


with open("agents.txt", "w") as f:
    f.write("\n".join(AGENTS))
rules = ["-rules", f"{sample}/rules", "-agents", "agents.txt"]
run("survey", *rules, "-out", "survey.parquet")
sites = duckdb.sql("SELECT count(DISTINCT authority), count(DISTINCT registered_domain), count(*) FROM 'survey.parquet'").fetchall()[0]
assert sites[0] * len(AGENTS) == sites[2] and 0 < sites[1] < sites[0], sites

domains = [d for (d,) in duckdb.sql(
    "SELECT DISTINCT registered_domain FROM 'survey.parquet' WHERE registered_domain IS NOT NULL ORDER BY hash(registered_domain)").fetchall()]
listed = domains[: len(domains) * 3 // 4]
last = 50 * (len(listed) - 1) + 1
with open("ranks.csv", "w") as f:  # some entries are hosts, which mean their domains
    f.writelines(f"{50 * i + 1},{'www.' * (i % 2)}{d}\n" for i, d in enumerate(listed))

COUNTS = """
    SELECT {rank} AS rank, agent, count(*) AS sites, count(*) FILTER (class = 'with_rules') AS with_rules, count(*) FILTER (class = 'html') AS html, count(*) AS base,
      count(*) FILTER (blocked = 'all') AS "full", count(*) FILTER (blocked = 'all') / count(*) AS full_share,
      count(*) FILTER (blocked = 'all' AND who = 'name') AS full_named,
      count(*) FILTER (blocked = 'all' AND who = 'everyone') AS full_everyone,
      count(*) FILTER (root) AS root, count(*) FILTER (root) / count(*) AS root_share,
      count(*) FILTER (blocked = 'some') AS partial, count(*) FILTER (blocked = 'some') / count(*) AS partial_share,
      count(*) FILTER (blocked = 'some' AND who = 'name') AS partial_named,
      count(*) FILTER (blocked = 'some' AND who = 'everyone') AS partial_everyone,
      count(*) FILTER (blocked = 'none') AS "none", count(*) FILTER (blocked IS NULL) AS undecided
    FROM {sites} {where} GROUP BY agent"""
AUTHORITIES = """(SELECT *, "by" AS who FROM 'survey.parquet')"""
DOMAINS = """(SELECT agent, coalesce(registered_domain, regexp_extract(authority, '//([^:/]*)', 1)) AS registered_domain,
    CASE WHEN bool_and(blocked = 'all') THEN 'all' WHEN bool_and(blocked = 'none') THEN 'none' ELSE 'some' END AS blocked, bool_and(root) AS root,
    CASE WHEN bool_or(blocked <> 'none' AND "by" = 'name') THEN 'name' WHEN bool_or(blocked <> 'none' AND "by" = 'everyone') THEN 'everyone' END AS who,
    CASE WHEN bool_or(class = 'with_rules') THEN 'with_rules' ELSE 'html' END AS class
    FROM 'survey.parquet' GROUP BY ALL)"""


def counted(table, ranks):
    """The rows that SQL counts, as robotsbatch prints them. A folder of files has no others."""
    queries = [COUNTS.format(rank="'all'", sites=table, where="")]
    for top in ranks:
        where = f"WHERE registered_domain IN (SELECT regexp_replace(column1, '^www\\.', '') FROM read_csv('ranks.csv', header = false) WHERE column0 <= {top})"
        queries.append(COUNTS.format(rank=f"'top {top}'", sites=table, where=where))
    return sorted(row for query in queries for row in duckdb.sql(query).fetchall())


def printed(*flags):
    keys = [k for k in re.findall(r'AS "?(\w+)"?', COUNTS) if k != "rank"]
    rows = csv.DictReader(io.StringIO(run("survey", *flags, "-as", "csv", "survey.parquet")))
    return sorted((r["rank"], r["agent"], *(float(r[k]) for k in keys)) for r in rows if not r["agent"].startswith("any of "))


for what, table, ranks, flags in [
    ("authorities", AUTHORITIES, [], ["-by", "authority"]),
    ("domains", DOMAINS, [], []),
    ("domains by rank", DOMAINS, [100, last], ["-rank", "ranks.csv"]),
]:
    want, got = counted(table, ranks), printed(*flags)
    assert want == got, f"{what}: " + "\n".join(f"{w} {g}" for w, g in zip(want, got) if w != g)

# A column for each agent, one verdict with a list, and the survey say the same.
job = ["-in", f"{sample}/frontier.arrow", *rules, "-prefix", "r_", "-columns", "url"]
run(*job, "-agents-as", "columns", "-out", "columns.parquet")
run(*job, "-agents-as", "any-denied", "-out", "any.parquet")
run(*job, "-agents-as", "all-denied", "-out", "all.parquet")
run(*job, "-agents-as", "list", "-out", "list.parquet")
names = ["all" if a == "*" else a.split(",")[0].lower().replace("-", "_") for a in AGENTS]
each = "[" + ", ".join(f"CASE WHEN NOT r_allowed_{n} THEN '{a.split(',')[0]}' END" for n, a in zip(names, AGENTS)) + "]"
wrong = duckdb.sql(f"""
    SELECT c.url, a.r_denied_by, {each} FROM 'columns.parquet' c
    POSITIONAL JOIN 'any.parquet' a POSITIONAL JOIN 'all.parquet' b POSITIONAL JOIN 'list.parquet' l
    WHERE a.url IS DISTINCT FROM c.url
      OR a.r_denied_by IS DISTINCT FROM CASE WHEN c.r_allowed_all IS NOT NULL THEN list_filter({each}, lambda x: x IS NOT NULL) END
      OR b.r_denied_by IS DISTINCT FROM a.r_denied_by OR l.r_denied_agents IS DISTINCT FROM a.r_denied_by
      OR a.r_allowed IS DISTINCT FROM (len(a.r_denied_by) = 0)
      OR b.r_allowed IS DISTINCT FROM (len(a.r_denied_by) < {len(AGENTS)})""").fetchall()
assert not wrong, wrong[:5]
agent = "CASE c.agent " + " ".join(f"WHEN '{a}' THEN r_allowed_{n}" for n, a in zip(names, AGENTS)) + " END"
agree = duckdb.sql(f"""
    WITH c AS (SELECT *, {agent} AS allowed FROM (
      SELECT u.*, s.blocked, s.agent FROM 'columns.parquet' u
      JOIN 'survey.parquet' s ON s.authority = lower(regexp_extract(u.url, '^https?://[^/?#;]*'))) c)
    SELECT count(*), count(*) FILTER (blocked = 'all'), count(*) FILTER (NOT allowed AND blocked = 'none'),
      count(*) FILTER (allowed AND blocked = 'all' AND NOT regexp_matches(url, '/robots.txt(#.*)?$'))
    FROM c""").fetchall()[0]
assert agree[0] > 1000 and agree[2:] == (0, 0), agree

# A history of captures: what SQL finds between surveys as of one day after the other is
# what one survey says of all days.
dice, bodies = random.Random(12), sorted(os.listdir(f"{sample}/rules"))[:60]
crawls = [datetime.date(2026, 1, 1) + datetime.timedelta(31 * i) for i in range(6)]
with open("captures.jsonl", "w") as f:
    for day in crawls:
        for site in range(50):
            status = dice.choice([200, 200, 200, 200, 404, 503])
            with open(f"{sample}/rules/{dice.choice(bodies)}", encoding="utf-8", errors="replace") as body:
                capture = {"url": f"https://s{site}.example/robots.txt", "status": status, "fetched_at": f"{day}T00:00:00Z", "body": body.read()}
            if dice.random() < 0.8:
                f.write(json.dumps(capture) + "\n")
rules = ["-rules", "captures.jsonl", "-agents", "agents.txt"]
days = sorted(d for c in crawls for d in (c, c + datetime.timedelta(30)) if d <= crawls[-1])
for day in days:
    run("survey", *rules, "-as-of", str(day), "-out", f"as-of-{day}.parquet")
run("survey", *rules, "-history", "-out", "history.parquet")
run("survey", *rules, "-changes", "-out", "changes.parquet")
CHANGED = """
    WITH each AS (SELECT *, CAST(replace(replace(filename, 'as-of-', ''), '.parquet', '') AS DATE) AS day
        FROM read_parquet('as-of-*.parquet', filename = true)),
      pairs AS (SELECT *, lag(blocked) OVER w AS old_blocked, lag("by") OVER w AS old_by, lag(class) OVER w AS old_class FROM each
        WHERE class NOT IN ('unreachable', 'old_copy') WINDOW w AS (PARTITION BY authority, agent ORDER BY day))
    SELECT authority, agent, old_blocked, blocked AS new_blocked, old_by, "by" AS new_by, old_class, class AS new_class, day FROM pairs
    WHERE old_class IS NOT NULL AND (old_blocked, coalesce(old_by, ''), old_class) <> (blocked, coalesce("by", ''), class)"""
LISTED = """SELECT authority, agent, old_blocked, new_blocked, old_by, new_by, old_class, new_class, CAST(make_timestamp(epoch_us(changed_at)) AS DATE) AS day
    FROM 'changes.parquet'"""
differing = duckdb.sql(f"(({CHANGED}) EXCEPT ALL ({LISTED})) UNION ALL (({LISTED}) EXCEPT ALL ({CHANGED}))").fetchall()
assert not differing, differing[:5]
counted = duckdb.sql("""
    SELECT h.authority, h.agent FROM 'history.parquet' h
    LEFT JOIN (SELECT authority, agent, count(*) AS n, max(changed_at) AS last, arg_max(old_fetched_at, changed_at) AS before FROM 'changes.parquet' GROUP BY ALL) c
      USING (authority, agent)
    WHERE changes <> coalesce(n, 0) OR class NOT IN ('unreachable', 'old_copy') AND (since <> coalesce(last, since) OR since_after IS DISTINCT FROM before)""").fetchall()
assert not counted, counted[:5]
changes = duckdb.sql("SELECT count(*) FROM 'changes.parquet'").fetchall()[0][0]
assert changes > 500, changes
print(f"survey: {changes} changes agree")
print(f"survey: {sites[0]} authorities, {sites[1]} domains, {agree[0]} verdicts ({agree[1]} where all is denied) agree")
