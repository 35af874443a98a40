"""Compares the columns of -with, lists and times among them, between
robotsbatch's Arrow, Parquet and jsonl as pyarrow, polars and duckdb read them.

usage: facts.py ROBOTSBATCH SAMPLE SCRATCH
"""

import datetime
import json
import subprocess

import duckdb
import polars
import pyarrow.ipc
import pyarrow.parquet

from verdicts import program, same, scratch

columns = ["crawl_delay", "sitemaps", "robots_status", "robots_fetched_at", "age"]
captures = [
    {"status": 200, "fetched_at": "2026-03-01T12:00:00Z",
     "body": "Sitemap: https://a.example/é.xml\nSitemap: s\nUser-agent: *\nCrawl-delay: 0.5\n"},
    {"status": 200, "fetched_at": "2026-02-01T00:00:01Z", "body": "User-agent: *\nDisallow: /\n"},
    {"status": 404, "fetched_at": "2026-03-02T12:00:00Z", "body": ""},
    {"body": "Sitemap: x\n"},
]
rules, urls = scratch / "facts-captures.jsonl", scratch / "facts-urls.txt"
rules.write_text("".join(json.dumps({"url": f"http://{i}.example/robots.txt", **c}) + "\n" for i, c in enumerate(captures)))
urls.write_text("".join(f"http://{i % 5}.example/{i}\nno URL\n" for i in range(100)))


def write(name, *flags):
    out = scratch / name
    subprocess.run([program, "-in", urls, "-rules", rules, "-with", ",".join(columns),
                    "-batch-rows", "30", "-out", out, "-quiet", *flags], check=True)
    return out


def plain(rows):
    """Rows as tuples, with times as robotsbatch writes them."""
    def value(v):
        return v.astimezone(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%SZ") if isinstance(v, datetime.datetime) else v
    return [tuple(value(v) for v in row) for row in rows]


want = [tuple(json.loads(line)[c] for c in columns) for line in write("facts.jsonl").read_text().splitlines()]
same("rows that have sitemaps, and a time", (sum(bool(row[1]) for row in want), sum(row[3] is not None for row in want)), (40, 60))


def check(client, out, rows):
    got = plain(rows)
    same(f"rows that {client} reads from {out.name}", len(got), len(want))
    same("those with another -with", [pair for pair in zip(got, want) if pair[0] != pair[1]], [])


for out in [write("facts.arrow"), write("facts.arrows", "-compression", "lz4"), write("facts.parquet"),
            write("facts-snappy.parquet", "-compression", "snappy"), write("facts-none.parquet", "-compression", "none")]:
    if out.suffix == ".parquet":
        written, frame = pyarrow.parquet.read_table(out), polars.read_parquet(out)
        source = f"read_parquet('{out}')"
    else:
        opened = pyarrow.ipc.open_file(out) if out.suffix == ".arrow" else pyarrow.ipc.open_stream(out)
        written = opened.read_all()
        frame = polars.read_ipc(out) if out.suffix == ".arrow" else polars.read_ipc_stream(out)
        source = "written"
    written.validate(full=True)
    check("pyarrow", out, zip(*(written[c].to_pylist() for c in columns)))
    check("polars", out, frame.select(columns).rows())
    # duckdb gives times in the session's zone, and needs a package for that.
    names = ", ".join(c if c != "robots_fetched_at" else f"strftime({c} at time zone 'UTC', '%Y-%m-%d %H:%M:%SZ')" for c in columns)
    check("duckdb", out, duckdb.sql(f"select {names} from {source}").fetchall())
