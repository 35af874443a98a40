"""Measures verdicts within queries of DuckDB and Polars beside evaluate, and beside the
library protego in functions of the same kind: see scripts/measure.sh queries.

    python queries.py URLS.txt ROBOTS_FOLDER RULE_PACK AGENT
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import polars as pl
import protego
import pyarrow as pa
import pyarrow.compute as pc

import robotsbatch
import robotsbatch.duckdb
import robotsbatch.polars

RUNS = 5


def main() -> None:
    urls, rules, pack, agent = sys.argv[1:]
    table = pa.table({"url": Path(urls).read_bytes().decode(errors="surrogateescape").encode(errors="replace").decode().splitlines()})
    connection = duckdb.connect()
    connection.register("given", table)
    connection.sql("create table frontier as from given")
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    options: Any = {"rules": pack, "agents": agent}
    known = {Path(name).name for name in os.listdir(rules)}

    def evaluate() -> int:
        return count(robotsbatch.evaluate(table, **options)["allowed"])

    def explained() -> int:
        return count(robotsbatch.evaluate(table, **options, explain=True)["allowed"])

    def sql() -> int:
        with robotsbatch.duckdb.register(connection, **options):
            return one(connection, "select count(*) from frontier where not robots_allowed(url)")

    def sql_reason() -> int:
        with robotsbatch.duckdb.register(connection, **options):
            return one(connection, "select count(*) from frontier where robots_reason(url) = 'disallow_rule'")

    def expression() -> int:
        allowed = pl.col("url").robots.allowed(**options)  # type: ignore[attr-defined]
        return int(frame.select((~allowed).sum())["url"][0])

    def parser_of() -> Callable[[str | None], bool | None]:
        """The library as people use it: a parser for each host, kept."""
        parsers: dict[str, Any] = {}

        def can_fetch(url: str | None) -> bool | None:
            try:
                host = urlsplit(url or "").hostname or ""
            except ValueError:
                return None
            parser = parsers.get(host)
            if parser is None:
                text = Path(rules, host).read_text(errors="replace") if host in known else ""
                parser = parsers[host] = protego.Protego.parse(text)
            return bool(parser.can_fetch(url, agent))

        return can_fetch

    def protego_sql() -> int:
        connection.create_function("protego_allowed", parser_of(), ["VARCHAR"], "BOOLEAN", null_handling="special")
        found = one(connection, "select count(*) from frontier where not protego_allowed(url)")
        connection.remove_function("protego_allowed")
        return found

    def protego_expression() -> int:
        allowed = pl.col("url").map_elements(parser_of(), return_dtype=pl.Boolean)
        return int(frame.select((~allowed).sum())["url"][0])

    ways: dict[str, Callable[[], int]] = {
        "evaluate": evaluate,
        "evaluate, explain=True": explained,
        "DuckDB, robots_allowed(url)": sql,
        "DuckDB, robots_reason(url)": sql_reason,
        "Polars, .robots.allowed()": expression,
        "DuckDB, protego in a function": protego_sql,
        "Polars, protego in map_elements": protego_expression,
    }
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    denied = {}
    for run in range(RUNS):  # in turns
        for name, way in ways.items():
            if "protego" in name and run > 1:
                continue
            before, started = spent(), time.perf_counter()
            denied[name] = way()
            took[name].append((time.perf_counter() - started, spent() - before))
    print(f"{table.num_rows:,} URLs, {len(known):,} robots.txt files; each way opens the rule pack again, and protego parses the files that it needs")
    base = statistics.median(cpu for _, cpu in took["evaluate"])
    slow = {engine: statistics.median(cpu for _, cpu in took[name]) for name in ways if "protego" in name for engine in [name[:6]]}
    for name, times in took.items():
        wall, cpu = (statistics.median(t[i] for t in times) for i in (0, 1))
        beside = f", {slow[name[:6]] / cpu:.0f} times less than protego" if name[:6] in slow and "protego" not in name else ""
        print(f"{name}: {denied[name]:,} denied; wall {wall:.2f} s, processor time {cpu:.2f} s = {cpu / base:.2f} x evaluate{beside}")
    assert len({n for name, n in denied.items() if "protego" not in name}) == 1


def count(column: Any) -> int:
    return len(column) - column.null_count - int(pc.sum(column).as_py())


def one(connection: Any, query: str) -> int:
    [(found,)] = connection.sql(query).fetchall()
    return int(found)


def spent() -> float:
    """Processor time of this process and its children that ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


if __name__ == "__main__":
    main()
