"""Compares the tables of export with what duckdb counts in the files themselves,
which a few lines of Python read: the sample's robots.txt have no odd lines.

usage: export.py ROBOTSBATCH SAMPLE SCRATCH
"""

import collections
import hashlib
import json
import pathlib
import subprocess
import sys

import duckdb

program, sample, scratch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
rules = sample / "rules"


def export(table, source, ending="parquet"):
    out = scratch / f"export-{source.name}-{table}.{ending}"
    subprocess.run([program, "export", "-rules", source, "-table", table, "-out", out, "-quiet"], check=True)
    return f"read_json('{out}')" if ending == "jsonl" else f"'{out}'"


def sql(query):
    return duckdb.sql(query).fetchall()


def same(what, got, want):
    if sorted(got) != sorted(want):
        sys.exit(f"{what}: {sorted(got)[:5]} … and not {sorted(want)[:5]} …")


def read(text):
    """Yields the records of a robots.txt, with their group and line."""
    group, naming = 0, False
    for line, content in enumerate(text.decode().splitlines(), 1):
        key, colon, value = content.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon or not key:
            continue
        if key == "user-agent":
            group, naming = group + (not naming), True
        elif key in ("allow", "disallow"):
            naming = False
            if group == 0:
                continue
        yield group, key, value, line


want = collections.defaultdict(collections.Counter)
for path in rules.iterdir():
    body = path.read_bytes()
    for scheme in ("http", "https"):
        authority = f"{scheme}://{path.name.replace('_', ':')}"
        want["access"][authority, hashlib.sha256(body).hexdigest()] += 1
        for group, key, value, line in read(body):
            table = {"user-agent": "agents", "allow": "rules", "disallow": "rules", "sitemap": "sitemaps"}.get(key, "records")
            row = {"agents": (authority, group, value, line), "rules": (authority, group, key, value, line),
                   "sitemaps": (authority, value, line), "records": (authority, key, value, line)}[table]
            want[table][row] += 1

columns = {"access": "authority, body_digest", "agents": 'authority, "group", agent, line', "sitemaps": "authority, value, line",
           "rules": 'authority, "group", kind, value, line', "records": "authority, kind, value, line"}
for table, names in columns.items():
    for ending in ("parquet", "jsonl", "csv"):
        # csv has no types: what it has is counted alone.
        if ending == "csv":
            same(f"{table} in csv", sql(f"SELECT count(*) FROM {export(table, rules, ending)}"), [(want[table].total(),)])
            continue
        same(f"{table} in {ending}", sql(f"SELECT {names} FROM {export(table, rules, ending)}"), list(want[table].elements()))

# A pack has the same rules for each agent, by its token, but for those that match nothing.
pack = scratch / "export.rules"
subprocess.run([program, "compile", "-rules", rules, "-out", pack, "-quiet"], check=True)
pairs = """SELECT DISTINCT authority, token, kind, value, r.line FROM {agents} a JOIN {rules} r USING (authority, "group", body_digest)
           WHERE value SIMILAR TO '[/*].*' AND a.registered_domain IS NOT DISTINCT FROM r.registered_domain AND a.surt_host_name = r.surt_host_name"""
joined = {source: sql(pairs.format(agents=export("agents", source), rules=export("rules", source))) for source in (rules, pack)}
same("a pack's rules", joined[pack], joined[rules])
same("a pack's authorities", sql(f"SELECT * FROM {export('access', pack)}"), sql(f"SELECT * FROM {export('access', rules)}"))

# The manual's example, on the same tables: rules that close everything, by token.
closed = sql(f"""SELECT token, count(DISTINCT a.registered_domain) FROM {export('agents', rules)} a
                 JOIN {export('rules', rules)} r USING (authority, "group")
                 WHERE kind = 'disallow' AND normalised IN ('/', '/*') GROUP BY token""")
by_token = collections.defaultdict(set)
for (authority, group, key, value, _), (_, agents, agent, _) in ((r, a) for r in want["rules"] for a in want["agents"] if r[:2] == a[:2]):
    if key == "disallow" and value in ("/", "/*"):
        by_token[agent.split("/")[0].lower()].add(authority)
same("tokens that may fetch nothing", [token for token, _ in closed], list(by_token))

# Captures: as many rows as there are, in their order.
captures = scratch / "export-captures.jsonl"
captures.write_text("".join(json.dumps({"url": f"https://{i % 700}.example/robots.txt", "status": (200, 404, 503)[i % 3],
                                        "body": f"User-agent: *\nDisallow: /{i % 7}\n"}) + "\n" for i in range(5000)))
table = export("captures", captures)
same("captures", sql(f"SELECT status, count(*), count(DISTINCT body_digest) FROM {table} GROUP BY ALL"), [(200, 1667, 7), (404, 1667, 7), (503, 1666, 7)])
same("deciding captures", sql(f"SELECT count(*) FROM {export('access', captures)}"), [(700,)])
# hosts against the frontier: half of its authorities have rules.
some = scratch / "export-some"
some.mkdir()
for number, path in enumerate(sorted(rules.iterdir())):
    if number % 2:
        (some / path.name).write_bytes(path.read_bytes())
out = scratch / "export-hosts.parquet"
subprocess.run([program, "hosts", "-in", sample / "frontier.txt.zst", "-rules", some, "-out", out, "-batch-rows", "1000", "-quiet"], check=True)
known = [path.name.replace("_", ":") for path in some.iterdir()]
waiting = sql(f"""
    WITH hosts AS (SELECT replace(regexp_extract(lower(trim(url)), '^(https?://)(?:[^/?#@]*@)?([^/?#]+)', ['s', 'h']).s, ' ', '') AS scheme,
                          regexp_extract(lower(trim(url)), '^(https?://)(?:[^/?#@]*@)?([^/?#]+)', ['s', 'h']).h AS host
                   FROM read_csv('{sample / "frontier.txt.zst"}', header = false, columns = {{'url': 'VARCHAR'}}, delim = '', quote = '', strict_mode = false)),
         plain AS (SELECT scheme, CASE WHEN scheme = 'http://' THEN regexp_replace(host, ':80$', '') ELSE regexp_replace(host, ':443$', '') END AS host FROM hosts)
    SELECT scheme || host || '/robots.txt', count(*) FROM plain
    WHERE host SIMILAR TO '[a-z0-9_-]+([.][a-z0-9_-]+)*[.]?(:[0-9]+)?' AND coalesce(try_cast(split_part(host, ':', 2) AS INTEGER), 80) < 65536 AND host NOT IN {tuple(known)} GROUP BY ALL""")
same("hosts", [row for row in sql(f"SELECT url, rows FROM '{out}'") if row[0].isascii()], waiting)
same("their order", [(sql(f"SELECT list(rows) FROM '{out}'")[0][0],)], [(sorted((r for (r,) in sql(f"SELECT rows FROM '{out}'")), reverse=True),)])
# diff of two folders against the verdicts of two jobs, row by row.
older, newer = rules, scratch / "export-newer"
newer.mkdir()
for number, path in enumerate(sorted(rules.iterdir())):
    if number % 5:
        extra = b"\nUser-agent: CCBot\nDisallow: /*a\n" if number % 3 == 0 else b""
        (newer / path.name).write_bytes(path.read_bytes() + extra)
verdicts = {}
for name, source in (("old", older), ("new", newer)):
    verdicts[name] = scratch / f"export-verdicts-{name}.parquet"
    subprocess.run([program, "-in", sample / "frontier.arrow", "-rules", source, "-agent", "CCBot", "-columns", "url", "-explain",
                    "-assume", "missing=null", "-out", verdicts[name], "-quiet"], check=True)
out = scratch / "export-diff.parquet"
subprocess.run([program, "diff", older, newer, "-in", sample / "frontier.arrow", "-agent", "CCBot", "-assume", "missing=null", "-out", out,
                "-batch-rows", "300", "-quiet"], check=True)
both = "allowed, reason, rule, rule_line, rule_agent"
differ = sql(f"""SELECT o.url, {", ".join(f"o.{c.strip()}, n.{c.strip()}" for c in both.split(","))}
                 FROM '{verdicts["old"]}' o POSITIONAL JOIN '{verdicts["new"]}' n WHERE o.allowed IS DISTINCT FROM n.allowed""")
got = sql(f"""SELECT url, {", ".join(f"old_{c.strip()}, new_{c.strip()}" for c in both.split(","))} FROM '{out}'""")
if got != differ or len(got) < 50:
    sys.exit(f"diff: {len(got)} rows, and not {len(differ)}")

# Without a frontier: who is closed, by the bodies alone.
changes = scratch / "export-changes.parquet"
subprocess.run([program, "diff", older, newer, "-agent", "CCBot", "-out", changes, "-quiet"], check=True)
removed = {path.name for path in older.iterdir()} - {path.name for path in newer.iterdir()}
same("authorities that are gone", sql(f"SELECT count(*) FROM '{changes}' WHERE change = 'removed'"), [(2 * len(removed),)])
edited = [path.name for path in newer.iterdir() if path.read_bytes() != (older / path.name).read_bytes()]
same("authorities with other bodies", sql(f"SELECT count(DISTINCT authority) FROM '{changes}' WHERE change != 'removed'"), [(2 * len(edited),)])
print(f"diff: {len(got):,} rows that change, and {2 * (len(removed) + len(edited)):,} authorities, agree with two jobs and the files")
print(f"hosts: {len(waiting):,} robots.txt that {sum(n for _, n in waiting):,} rows wait for agree with duckdb's counts")
print(f"export: {sum(c.total() for c in want.values()):,} rows of 5 tables, in Parquet, jsonl and csv, and {len(joined[pack]):,} pairs of agent and rule in a pack agree with duckdb's counts")
