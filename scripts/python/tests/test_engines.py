"""Verdicts within queries: SQL of DuckDB and expressions of Polars."""

import gc
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import child, children

import robotsbatch

ROWS = 300_000
URLS = [None if i % 101 == 0 else f"https://{'example.com' if i % 3 else 'other.test'}/{'a' if i % 7 == 0 else 'b'}{i}" for i in range(ROWS)]
TABLE = pa.table({"i": range(ROWS), "url": URLS})


def want(**options: Any) -> pa.Table:
    done: pa.Table = robotsbatch.evaluate(TABLE, rules="robots", **options)
    return done


def test_duckdb_functions() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    made = robotsbatch.duckdb.register(connection, rules="robots", agents="CCBot")
    assert made.names == ["robots_allowed", "robots_reason", "robots_rule", "robots_rule_line", "robots_rule_agent"]
    frontier = TABLE
    assert frontier.num_rows == ROWS
    done = connection.sql(
        "select robots_allowed(url) as allowed, robots_reason(url) as reason, robots_rule(url) as rule, "
        "robots_rule_line(url) as rule_line, robots_rule_agent(url) as rule_agent from frontier order by i"
    ).to_arrow_table()
    expected = want(agents="CCBot", explain=True).drop_columns(["i", "url"])
    for name in expected.column_names:
        assert done[name].to_pylist() == expected[name].to_pylist(), name
    assert len(children()) == 2
    [(count,)] = connection.sql("select count(*) from frontier where robots_allowed(url)").fetchall()
    assert count == expected["allowed"].to_pylist().count(True)
    made.close()
    assert not children()
    with pytest.raises(duckdb.CatalogException):
        connection.sql("select robots_allowed('https://example.com/')")


def test_duckdb_agents(folder: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        with robotsbatch.duckdb.register(connection, rules="robots", agents=["CCBot", "GPTBot"], with_="crawl_delay") as made:
            assert {"robots_allowed_ccbot", "robots_reason_gptbot", "robots_crawl_delay_ccbot"} < set(made.names)
            said = connection.sql("select robots_allowed_ccbot(u), robots_allowed_gptbot(u), robots_crawl_delay_ccbot(u) from (select 'https://example.com/' u)")
            assert said.fetchall() == [(True, False, 2.0)]
        # Again, with other rules: the functions are replaced.
        robotsbatch.duckdb.register(connection, rules="robots")
        robotsbatch.duckdb.register(connection, rules={"example.com": ""}, agents=["CCBot", "GPTBot"], agents_as="any-denied")
        said = connection.sql("select robots_allowed('https://example.com/a'), robots_denied_by('https://example.com/a'), robots_allowed(null), robots_reason(null)")
        assert said.fetchall() == [(True, [], None, "invalid_url")]
        assert connection.sql("select robots_allowed(url) from (select '' as url) where false").fetchall() == []
        with pytest.raises(robotsbatch.UsageError, match="profile='bing'"):
            robotsbatch.duckdb.register(connection, rules="robots", profile="bing")
        with pytest.raises(TypeError, match="emit= is about tables"):
            robotsbatch.duckdb.register(connection, rules="robots", emit="allowed")
    del connection, said
    gc.collect()
    assert not children(), "a program outlived its connection"


def test_duckdb_threads() -> None:
    """Cursors of one connection ask at once."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection, robotsbatch.duckdb.register(connection, rules="robots"):
        connection.register("given", TABLE)
        connection.sql("create table frontier as from given")
        expected = [(n,) for n in want()["allowed"].to_pylist()]
        found: list[Any] = []

        def ask() -> None:
            found.append(connection.cursor().sql("select robots_allowed(url) from frontier order by i").fetchall())

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [expected] * 3


def test_a_failed_program_is_started_again(folder: Path) -> None:
    """A rule pack that is written to ends the program; the next query has the new rules."""
    duckdb = pytest.importorskip("duckdb")
    robotsbatch.compile("site.rules", rules="robots")
    robotsbatch.compile("other.rules", rules={"example.com": "User-agent: *\nDisallow: /"})
    with duckdb.connect() as connection, robotsbatch.duckdb.register(connection, rules="site.rules"):
        query = "select robots_allowed('https://example.com/' || i) from range({}) t(i)"
        assert connection.sql(query.format(1)).fetchall() == [(True,)]
        (folder / "site.rules").write_bytes((folder / "other.rules").read_bytes())
        with pytest.raises(Exception, match="the rule pack was written to"):
            connection.sql(query.format(2)).fetchall()
        assert connection.sql(query.format(3)).fetchall() == [(False,)] * 3
    with duckdb.connect() as connection, robotsbatch.duckdb.register(connection, rules="robots"):
        query = "select robots_allowed('https://example.com/' || i) from range(5000) t(i)"
        connection.sql(query).fetchall()
        os.kill(child(), signal.SIGKILL)
        with pytest.raises(Exception, match="SIGKILL"):
            connection.sql(query).fetchall()
        assert len(connection.sql(query).fetchall()) == 5000


def test_ctrl_c_while_another_thread_is_answered() -> None:
    from robotsbatch._asker import Asker

    asker, urls = Asker({"rules": "robots"}), TABLE["url"].slice(0, 9)
    expected = asker.ask(urls)["allowed"].to_pylist()
    assert asker._line
    asker._line.send(pa.record_batch({"url": urls.combine_chunks()}))  # of a thread that has not taken its answer
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        asker.ask(urls.slice(1))
    signal.signal(signal.SIGINT, before)
    assert asker.ask(urls.slice(2))["allowed"].to_pylist() == expected[2:]
    asker.close()


def test_polars_expressions() -> None:
    pl = pytest.importorskip("polars")
    import robotsbatch.polars

    frame = pl.from_arrow(TABLE)
    robots = pl.col("url").robots
    expected = want(agents="CCBot", explain=True)
    done = frame.with_columns(robots.allowed(rules="robots", agent="CCBot").alias("allowed"), robots.reason(rules="robots", agent="CCBot").alias("reason"))
    assert done["allowed"].to_list() == expected["allowed"].to_pylist()
    assert done["reason"].to_list() == expected["reason"].to_pylist()
    kept = frame.lazy().filter(robots.allowed(rules="robots", agent="CCBot")).select("i")
    rows = [i for i, allowed in enumerate(expected["allowed"].to_pylist()) if allowed]
    for engine in ("in-memory", "streaming"):
        assert sorted(kept.collect(engine=engine)["i"].to_list()) == rows
    both = frame.select(robots.verdicts(rules="robots", agents=["CCBot", "GPTBot"])).unnest("url")
    assert both.columns == ["allowed_ccbot", "allowed_gptbot"]
    assert both["allowed_ccbot"].to_list() == expected["allowed"].to_pylist()
    grouped = frame.group_by(pl.col("i") % 2).agg(robots.allowed(rules="robots").sum().alias("n")).sort("i")
    assert grouped["n"].sum() == want()["allowed"].to_pylist().count(True)
    assert frame.head(0).select(robots.allowed(rules="robots")).schema == {"url": pl.Boolean}
    with pytest.raises(TypeError, match="one column: give one agent"):
        robots.allowed(rules="robots", agents=["CCBot", "GPTBot"])
    with pytest.raises(Exception, match="profile='bing'"):
        frame.select(robots.allowed(rules="robots", profile="bing"))
    del robots, kept
    gc.collect()


@pytest.fixture
def history() -> pa.Table:
    bodies = ["User-agent: *\nDisallow: /", "User-agent: *\nDisallow: /a"]
    return pa.table({"authority": ["example.com"] * 2, "body": bodies, "fetched_at": ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"]})


SEEN = ["2026-01-10T00:00:00Z", "2026-02-10T00:00:00Z", None]
THEN = [False, True, None]


def test_polars_at_the_time_of_the_row(history: pa.Table) -> None:
    pl = pytest.importorskip("polars")
    import robotsbatch.polars

    options: Any = {"rules": history, "as_of": "column:seen"}
    frame = pl.DataFrame({"url": ["https://example.com/"] * 3, "seen": SEEN})
    for seen in (pl.col("seen"), pl.col("seen").str.to_datetime(time_zone="UTC"), pl.col("seen").str.to_datetime(time_zone="UTC").dt.epoch("s")):
        given = frame.with_columns(seen)
        assert given.select(pl.struct("url", "seen").robots.allowed(**options))["url"].to_list() == THEN
        assert given.lazy().filter(pl.struct("url", "seen").robots.allowed(**options)).collect().height == 1
    assert frame.select(robotsbatch.polars.Robots(pl.struct("url", "seen")).reason(**options))["url"].to_list() == ["disallow_rule", "no_rule_matched", "no_time"]
    assert frame.select(pl.struct("url", "seen").robots.verdicts(**options, agents=["CCBot", "GPTBot"])).unnest("url")["allowed_gptbot"].to_list() == THEN
    with pytest.raises(Exception, match=r"needs a struct of the URLs and their times: pl.struct\('url', 'seen'\).robots"):
        frame.select(pl.col("url").robots.allowed(**options))
    gc.collect()


def test_duckdb_at_the_time_of_the_row(history: pa.Table) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection, robotsbatch.duckdb.register(connection, rules=history, as_of="column:seen"):
        given = pa.table({"url": ["https://example.com/"] * 3, "seen": SEEN})
        assert given.num_rows == 3
        for kind in ("varchar", "timestamptz", "timestamp"):
            query = "select robots_allowed(url, seen), robots_reason(url, seen) from (select url, seen::{} as seen from given)"
            assert connection.sql(query.format(kind)).fetchall() == list(zip(THEN, ["disallow_rule", "no_rule_matched", "no_time"], strict=True))
        with pytest.raises(Exception, match="as_of='column:seen' needs the time of each URL"):
            connection.sql("select robots_allowed(url) from given").fetchall()
