"""Checks surveys and lists of agents with DuckDB: its SQL counts what robotsbatch stats
prints, verdicts on URLs agree with how much an authority denies, and lists of denied
agents with a column for each agent.

    survey.py ROBOTSBATCH SAMPLE SCRATCH
"""

import csv
import io
import os
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
with open("ranks.csv", "w") as f:
    f.writelines(f"{50 * i + 1},{d}\n" for i, d in enumerate(domains[: len(domains) * 3 // 4]))

COUNTS = """
    SELECT {rank} AS rank, agent, count(*) AS sites,
      count(*) FILTER (blocked = 'all') AS "full", count(*) FILTER (blocked = 'some') AS partial,
      count(*) FILTER (blocked = 'none') AS "none", count(*) FILTER (blocked IS NULL) AS undecided,
      count(*) FILTER (blocked = 'all') / count(*) AS full_share, count(*) FILTER (blocked = 'some') / count(*) AS partial_share,
      count(*) FILTER (blocked = 'all' AND who = 'name') AS full_named,
      count(*) FILTER (blocked = 'all' AND who = 'everyone') AS full_everyone,
      count(*) FILTER (blocked = 'some' AND who = 'name') AS partial_named,
      count(*) FILTER (blocked = 'some' AND who = 'everyone') AS partial_everyone
    FROM {sites} {where} GROUP BY agent"""
AUTHORITIES = """(SELECT *, "by" AS who FROM 'survey.parquet')"""
DOMAINS = """(SELECT agent, coalesce(registered_domain, regexp_extract(authority, '//([^:/]*)', 1)) AS registered_domain,
    CASE WHEN bool_and(blocked = 'all') THEN 'all' WHEN bool_and(blocked = 'none') THEN 'none' ELSE 'some' END AS blocked,
    CASE WHEN bool_or(blocked <> 'none' AND "by" = 'name') THEN 'name' WHEN bool_or(blocked <> 'none' AND "by" = 'everyone') THEN 'everyone' END AS who
    FROM 'survey.parquet' GROUP BY ALL)"""


def counted(table, ranks):
    """The rows that SQL counts, as robotsbatch prints them."""
    queries = [COUNTS.format(rank="'all'", sites=table, where="")]
    for top in ranks:
        where = f"WHERE registered_domain IN (SELECT column1 FROM read_csv('ranks.csv', header = false) WHERE column0 <= {top})"
        queries.append(COUNTS.format(rank=f"'top {top}'", sites=table, where=where))
    return sorted(row for query in queries for row in duckdb.sql(query).fetchall())


def printed(*flags):
    rows = list(csv.reader(io.StringIO(run("stats", *flags, "-as", "csv", "survey.parquet"))))[1:]
    return sorted((r[0], r[1], *map(int, r[2:7]), *map(float, r[7:9]), *map(int, r[9:])) for r in rows)


for what, table, ranks, flags in [
    ("authorities", AUTHORITIES, [], []),
    ("authorities by rank", AUTHORITIES, [100, 1000], ["-rank", "ranks.csv"]),
    ("domains", DOMAINS, [], ["-by", "domain"]),
    ("domains by rank", DOMAINS, [100, 1000], ["-rank", "ranks.csv", "-by", "domain"]),
]:
    want, got = counted(table, ranks), printed(*flags)
    assert want == got, f"{what}: " + "\n".join(f"{w} {g}" for w, g in zip(want, got) if w != g)

# A column for each agent, one verdict with a list, and the survey say the same.
job = ["-in", f"{sample}/frontier.arrow", *rules, "-prefix", "r_", "-columns", "url"]
run(*job, "-agents-as", "columns", "-out", "columns.parquet")
run(*job, "-combine", "any-denied", "-out", "any.parquet")
run(*job, "-combine", "all-denied", "-out", "all.parquet")
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
print(f"survey: {sites[0]} authorities, {sites[1]} domains, {agree[0]} verdicts ({agree[1]} where all is denied) agree")
