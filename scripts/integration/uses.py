"""Checks what sites state of uses with DuckDB: what SQL counts of the exported lines is what
robotsbatch survey -as counts, what a survey says, what changes between two months, and what a
job with -use answers, row by row.

    uses.py ROBOTSBATCH SAMPLE SCRATCH [RULES URLS]

Without RULES the corpus is made up. With RULES, a folder of robots.txt files, a third of
these get statements, and URLS, a list, is added to the frontier.
"""

import csv
import io
import json
import os
import random
import subprocess
import sys

import duckdb

robotsbatch, _, scratch, *given = sys.argv[1:]
given = [os.path.abspath(name) for name in given]
os.makedirs(f"{scratch}/uses", exist_ok=True)
os.chdir(f"{scratch}/uses")
dice = random.Random(29)
AGENTS = ["*", "CCBot", "GPTBot"]
USES = ["train-ai", "ai-use", "search", "signal:ai-train", "signal:search", "signal:use"]
COLUMNS = ["use_train_ai", "use_ai_use", "use_search", "signal_ai_train", "signal_search", "signal_use"]
MONTHS = ["2026-01", "2026-02", "2026-03"]
# A path, and the rest of a URL that no other path here matches as well.
PATHS = {"": "/", "/p1/": "/p1/x", "/p2/": "/p2/x", "/a%62/": "/ab/x", "/*.pdf$": "/z.pdf", "/c*d": "/c-d"}


def run(*args):
    done = subprocess.run([robotsbatch, *args], capture_output=True, text=True)
    assert done.returncode == 0, f"{args}: {done.stderr}"
    return done.stdout


def statements():
    """Random lines of a group, some of which state nothing or contradict each other."""
    lines = []
    for _ in range(dice.randint(1, 3)):
        path = dice.choice([*PATHS, "", "", ""])
        if dice.random() < 0.6:
            keys = [f"{key}={dice.choice(['y', 'n', 'n', 'maybe', '1'])}" for key in dice.sample(["train-ai", "ai-use", "search", "x"], dice.randint(1, 3))]
            value = dice.choice([", ".join(keys), ", ".join(keys), keys[0] + ",,"])
            key = "Content-Usage"
        else:
            value = ", ".join(
                dice.sample([f"ai-train={dice.choice(['yes', 'no', 'No'])}", f"search={dice.choice(['yes', 'no'])}", f"use={dice.choice(['full', 'reference', 'immediate'])}", "odd=1"], 2)
            )
            key = "Content-Signal"
        lines.append(f"{key}: {path} {value}".replace("  ", " "))
    return lines


def body():
    lines = []
    for agent in dice.sample(["*", "CCBot", "GPTBot/1.0", "Other"], dice.randint(1, 3)):
        lines.append(f"User-agent: {agent}")
        if dice.random() < 0.7:
            lines += statements()
        lines += dice.sample(["Disallow: /private", "Allow: /p1/", "# a comment", "License: https://l.example/1"], 2)
    return "\n".join(lines) + "\n"


def capture(url, when):
    status = dice.choice([200] * 8 + [404, 503])
    return {"url": url + "/robots.txt", "status": status, "fetched_at": f"{when}-15T00:00:00Z", "body": body() if status == 200 else None}


hosts = [f"https://{dice.choice(['', 'www.', 'm.'])}s{site}.example" for site in range(400)] + [f"http://s{site}.example" for site in range(50)]
hosts = sorted(set(hosts))
captures, urls = [], []
for host in hosts:
    urls += [host + rest for rest in PATHS.values()] + [host + "/private/1.pdf"]
    captures += [capture(host, when) for when in MONTHS if dice.random() < 0.8]
if given:
    with open(given[1], encoding="utf-8", errors="replace") as f:
        urls += f.read().split("\n")
    for name in sorted(os.listdir(given[0])):
        with open(f"{given[0]}/{name}", "rb") as f:
            text = f.read()
        if name.endswith(("_443", "_80")) or "\ufffd" in text.decode("utf-8", "replace"):
            continue
        if dice.random() < 1 / 3:
            text = ("User-agent: *\n" + "\n".join(statements()) + "\n").encode() + text
        for scheme in ("http", "https"):
            captures.append({"url": f"{scheme}://{name}/robots.txt", "status": 200, "fetched_at": "2026-03-01T00:00:00Z", "body": text.decode("utf-8", "replace")})
with open("captures.jsonl", "w") as f:
    f.writelines(json.dumps(c) + "\n" for c in captures)
with open("urls.csv", "w", newline="") as f:
    csv.writer(f).writerows([["url"], *([url] for url in urls if url.strip())])
run("compile", "-rules", "captures.jsonl", "-history", "-out", "history.rules", "-quiet")
# A history ends with its last capture.
ends = {"2026-01": "2026-01-31T23:59:59Z", "2026-02": "2026-02-28T23:59:59Z", "2026-03": "2026-03-15T00:00:00Z"}
for month, end in ends.items():
    for table in ("signals", "agents", "access"):
        run("export", "-rules", "history.rules", "-as-of", end, "-table", table, "-out", f"{table}-{month}.parquet", "-quiet")

# What each authority states to each agent, by path: the lines with one path together.
STATED = """
    WITH asked AS (SELECT a.*, name AS agent, CASE WHEN EXISTS (FROM 'agents-{month}.parquet' g WHERE g.authority = a.authority AND g.token = lower(name))
          THEN lower(name) ELSE '*' END AS token
        FROM 'access-{month}.parquet' a, (SELECT unnest({agents}) AS name)),
      lines AS (SELECT authority, agent AS token, normalised AS path, directive, key, value,
          CASE directive WHEN 'content-usage' THEN key ELSE 'signal:' || key END AS use FROM 'signals-{month}.parquet' WHERE directive <> 'license')
    SELECT k.authority, k.registered_domain, k.agent, k.class, u.use, l.path,
      CASE WHEN bool_or(value IN ('disallowed', 'immediate') AND l.use = u.use) THEN min(value) FILTER (value IN ('disallowed', 'immediate') AND l.use = u.use)
        WHEN bool_or(value = 'reference' AND l.use = u.use) THEN 'reference'
        WHEN bool_or(value IN ('allowed', 'full') AND l.use = u.use) THEN min(value) FILTER (value IN ('allowed', 'full') AND l.use = u.use)
        WHEN bool_or(value = 'unreadable' AND l.use = u.use OR directive = 'content-usage' AND coalesce(key, '') = '') THEN 'unreadable' END AS value,
      count(l.directive) > 0 AS selects
    FROM asked k CROSS JOIN (SELECT unnest({uses}) AS use) u
    LEFT JOIN lines l ON l.authority = k.authority AND l.token = k.token AND k.access = 'rules'
      AND l.directive = CASE WHEN starts_with(u.use, 'signal:') THEN 'content-signal' ELSE 'content-usage' END
    GROUP BY ALL"""
SITES = {
    "authority": "authority",
    "host": "regexp_extract(authority, '//([^:/]*)', 1)",
    "domain": "coalesce(registered_domain, regexp_extract(authority, '//([^:/]*)', 1))",
}
COUNTS = """
    WITH sites AS (SELECT {site} AS site, agent, use, array_sort(list(DISTINCT value) FILTER (value IS NOT NULL)) AS said, bool_and(class IN ('unreachable', 'old_copy')) AS unreachable
        FROM stated GROUP BY ALL)
    SELECT agent, use, count(*), count(*) FILTER (said = ['allowed']), count(*) FILTER (said = ['disallowed']), count(*) FILTER (said = ['immediate']),
      count(*) FILTER (said = ['reference']), count(*) FILTER (said = ['full']), count(*) FILTER (len(said) > 1), count(*) FILTER (said = ['unreadable']),
      count(*) FILTER (NOT unreachable AND coalesce(len(said), 0) = 0), count(*) FILTER (unreachable)
    FROM sites GROUP BY ALL"""
flags = [x for agent in AGENTS for x in ("-agent", agent)] + ["-use", ",".join(USES)]


COLUMNS_OF_STATS = ["sites", "allowed", "disallowed", "immediate", "reference", "full", "mixed", "unreadable", "none", "unreachable"]


def printed(*more):
    return [r for r in csv.DictReader(io.StringIO(run("survey", *flags, "-as", "csv", *more))) if r["rank"] == "all"]


def numbers(rows):
    return sorted((r["agent"], r["use"], *(int(r[column]) for column in COLUMNS_OF_STATS)) for r in rows)


sums = 0
for month, end in ends.items():
    duckdb.sql("CREATE OR REPLACE TABLE stated AS " + STATED.format(month=month, agents=AGENTS, uses=USES))
    for by, site in SITES.items():
        want = sorted(duckdb.sql(COUNTS.format(site=site)).fetchall())
        got = numbers(printed("-by", by, "-rules", "history.rules", "-as-of", end))
        assert want == got, f"{month} by {by}: " + "\n".join(f"{w} {g}" for w, g in zip(want, got) if w != g)
        monthly = numbers([r for r in printed("-by", by, "-by", "month", "-rules", "history.rules") if r["month"] == month])
        assert want == monthly, f"-by month, {month} by {by}: {want[:3]}, {monthly[:3]}"
        sums += sum(sum(row[3:10]) for row in want)
    run("survey", *flags, "-rules", "history.rules", "-as-of", end, "-out", f"survey-{month}.parquet", "-quiet")
    surveyed = numbers(csv.DictReader(io.StringIO(run("survey", "-use", ",".join(USES), "-as", "csv", "-by", "host", f"survey-{month}.parquet"))))
    assert surveyed == sorted(duckdb.sql(COUNTS.format(site=SITES["host"])).fetchall()), month
assert sums > 5000, sums

# diff between two months finds the authorities whose statements differ, by path.
run("compile", "-rules", "captures.jsonl", "-as-of", ends[MONTHS[0]], "-out", "first.rules", "-quiet")
run("compile", "-rules", "captures.jsonl", "-as-of", ends[MONTHS[2]], "-out", "last.rules", "-quiet")
run("diff", "first.rules", "last.rules", *flags, "-out", "changes.parquet", "-quiet")
for month in (MONTHS[0], MONTHS[2]):
    duckdb.sql(f"CREATE OR REPLACE TABLE s{month[-2:]} AS " + STATED.format(month=month, agents=AGENTS, uses=USES))
SAID = "SELECT authority, agent, use, path, value FROM {} WHERE selects AND NOT (path IS NULL AND value IS NULL)"
want = duckdb.sql(f"""SELECT DISTINCT authority, agent, use FROM
    ((({SAID.format('s01')}) EXCEPT ({SAID.format('s03')})) UNION ALL (({SAID.format('s03')}) EXCEPT ({SAID.format('s01')})))""").fetchall()
got = duckdb.sql("SELECT authority, agent, use FROM 'changes.parquet' WHERE change = 'use'").fetchall()
assert sorted(want) == sorted(got), (len(want), len(got), set(want) ^ set(got))
differing = len(got)
assert differing > 100

# A job: the longest path that matches selects. The paths are matched by SQL alone.
run("-in", "urls.csv", "-rules", "last.rules", *flags, "-out", "verdicts.parquet", "-summary-json", "summary.json", "-quiet")
run("-in", "urls.csv", "-rules", "last.rules", *flags, "-explain", "-report", "report.html", "-out", "explained.parquet", "-quiet")
duckdb.sql("CREATE TABLE verdicts AS SELECT * FROM 'verdicts.parquet'")
summary = json.load(open("summary.json"))
names = {"*": "all", "CCBot": "ccbot", "GPTBot": "gptbot"}
# A row: the part of a URL that paths match, with the authority; other spellings are left out.
duckdb.sql("""CREATE TABLE matched AS SELECT row_number() OVER () AS row, * FROM (
    SELECT *, regexp_extract(url, '^(https?://[a-z0-9.-]+)([/?][A-Za-z0-9/._~?=&-]*)?$', 1) AS authority,
      coalesce(nullif(regexp_replace(regexp_extract(url, '^(https?://[a-z0-9.-]+)([/?][A-Za-z0-9/._~?=&-]*)?$', 2), '^[?]', '/?'), ''), '/') AS rest FROM verdicts)""")
duckdb.sql("""CREATE MACRO fits(rest, path) AS regexp_matches(rest, '^' ||
    regexp_replace(regexp_replace(regexp_replace(path, '([.?+])', '\\\\\\1', 'g'), '[*]', '.*', 'g'), '[$]$', '$'))""")
compared = 0
for agent in AGENTS:
    counts = next(a for a in summary["agents"] if a["agent"] == agent)
    for use, column in zip(USES, COLUMNS):
        name = f"{column}_{names[agent]}"
        answers = dict(duckdb.sql(f"SELECT CAST({name} AS VARCHAR), count(*) FROM verdicts GROUP BY 1").fetchall())
        said = next(u for u in counts["uses"] if u["use"] == use)
        keys = {"immediate": "immediate", "reference": "reference", "full": "full"} if use == "signal:use" else {"true": "allowed", "false": "disallowed"}
        for value, key in keys.items():
            assert answers.get(value, 0) == said.get(key, 0), (agent, use, answers, said)
        assert answers.get(None, 0) == said["unknown"] + said.get("unreadable", 0) and counts["allowed"] + counts["denied"] + counts["unknown"] == sum(answers.values())
        wrong, n = duckdb.sql(f"""
            WITH best AS (SELECT row, arg_max_null(value, coalesce(length(path), 0)) AS value, count(DISTINCT path) AS n FROM (
                SELECT m.row, s.path, min(s.value) AS value FROM matched m JOIN s03 s ON s.authority = m.authority AND s.agent = '{agent}' AND s.use = '{use}' AND s.selects
                WHERE m.authority <> '' AND (s.path IS NULL OR fits(m.rest, s.path)) GROUP BY ALL) GROUP BY row)
            SELECT count(*) FILTER (CAST({name} AS VARCHAR) IS DISTINCT FROM CASE WHEN allowed_{names[agent]} THEN
                CASE value WHEN 'allowed' THEN 'true' WHEN 'disallowed' THEN 'false' WHEN 'unreadable' THEN NULL ELSE value END END), count(nullif(value, 'unreadable'))
            FROM matched LEFT JOIN best USING (row) WHERE authority <> ''""").fetchall()[0]
        assert wrong == 0, (agent, use, wrong, n)
        compared += n
        # Each statement decides one URL of the frontier, so that hosts by value are those that state it.
        if not given:
            job, stated = (sorted(duckdb.sql(f"""SELECT said, count(*) FROM (
                SELECT authority, array_sort(list(DISTINCT {value}) FILTER ({value} IS NOT NULL)) AS said FROM {table} GROUP BY authority)
                WHERE len(said) > 0 GROUP BY said""").fetchall()) for value, table in [
                    (f"CAST({name} AS VARCHAR)", "matched"),
                    ("CASE value WHEN 'allowed' THEN 'true' WHEN 'disallowed' THEN 'false' WHEN 'unreadable' THEN NULL ELSE value END",
                     f"(FROM s03 WHERE agent = '{agent}' AND use = '{use}')")])
            assert job == stated, (agent, use, job, stated)
assert compared > 3000, compared
different = duckdb.sql("SELECT count(*) FROM 'verdicts.parquet' v POSITIONAL JOIN 'explained.parquet' e WHERE "
    + " OR ".join(f"v.{c}_{n} IS DISTINCT FROM e.{c}_{n}" for c in COLUMNS for n in names.values())).fetchall()[0][0]
assert different == 0, different
authorities = duckdb.sql("SELECT count(*), count(DISTINCT authority) FILTER (value IS NOT NULL) FROM s03 WHERE agent = '*'").fetchall()[0]
print(f"uses: {len(urls)} URLs; {authorities[1]} authorities state something to everyone; {sums} site counts, {differing} changes and {compared} answers agree")
