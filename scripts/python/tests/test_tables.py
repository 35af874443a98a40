"""Every kind of table, as it comes and goes."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import robotsbatch

URLS = ["https://example.com/", "https://example.com/a", "mailto:a@example.com", None]
ALLOWED = [True, False, None, None]
TABLE = pa.table({"n": pa.array([1, 2, 3, 4], pa.int8()), "url": URLS}, metadata={"of": "a crawl"})


def test_table() -> None:
    done = robotsbatch.evaluate(TABLE, rules="robots", agents="CCBot")
    assert done.select(["n", "url"]).equals(TABLE)
    assert done.schema.metadata == {b"of": b"a crawl"}
    assert done["allowed"].to_pylist() == ALLOWED


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_rows_keep_their_order(workers: int) -> None:
    rows = 300_000
    table = pa.table({"url": [f"https://example.com/{'a' if i % 7 == 0 else 'b'}{i}" for i in range(rows)]})
    done = robotsbatch.evaluate(table, rules="robots", workers=workers)
    assert done["allowed"].to_pylist() == [i % 7 != 0 for i in range(rows)]


@pytest.mark.parametrize("stream", [False, True])
def test_summary(stream: bool) -> None:
    table = pa.table({"url": [*URLS, "https://example.org/"]})
    counts: dict[str, Any] = {"of": "an earlier job"}
    done: Any = table.to_reader() if stream else table
    done = robotsbatch.evaluate(done, rules="robots", summary=counts)
    if stream:
        done.read_all()
    assert counts["rows"] == 5 and counts["rows_no_robots"] == 1 and counts["invalid"] == 2, counts
    assert counts["agents"] == [{"agent": "*", "allowed": 2, "denied": 1, "unknown": 2}] and "of" not in counts
    assert "20" < counts["started_at"] <= counts["finished_at"] < "3", counts


def test_summary_counts_uses(folder: Path) -> None:
    (folder / "robots" / "example.com").write_text("User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /b train-ai=y\nDisallow: /a\n")
    counts: dict[str, Any] = {}
    done = robotsbatch.evaluate(TABLE, rules="robots", use="train-ai", summary=counts)
    said = done["use_train_ai"].to_pylist()
    assert counts["agents"][0]["uses"] == [
        {"use": "train-ai", "allowed": said.count(True), "disallowed": said.count(False), "unreadable": 0, "unknown": said.count(None)}
    ]
    assert sum(value is not None for value in said) > 0


def test_record_batch() -> None:
    [batch] = TABLE.to_batches()
    done = robotsbatch.evaluate(batch, rules="robots")
    assert isinstance(done, pa.RecordBatch)
    assert done.column("allowed").to_pylist() == ALLOWED


def test_stream_is_read_batch_by_batch() -> None:
    taken = []

    def batches() -> Iterator[pa.RecordBatch]:
        for i in range(10):
            taken.append(i)
            yield TABLE.to_batches()[0]

    stream = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    done = robotsbatch.evaluate(stream, rules="robots", workers=1)
    assert isinstance(done, pa.RecordBatchReader) and not taken
    assert done.read_next_batch().column("allowed").to_pylist() == ALLOWED
    assert taken == [0]
    assert sum(batch.num_rows for batch in done) == 36


def test_sliced_and_chunked() -> None:
    table = pa.concat_tables([TABLE.slice(1), TABLE.slice(0, 0), TABLE.slice(3), TABLE])
    assert robotsbatch.evaluate(table, rules="robots")["allowed"].to_pylist() == [*ALLOWED[1:], None, *ALLOWED]


def test_no_rows() -> None:
    assert robotsbatch.evaluate(TABLE.slice(0, 0), rules="robots").column_names == ["n", "url", "allowed"]
    [batch] = TABLE.to_batches()
    assert robotsbatch.evaluate(batch.slice(0, 0), rules="robots").schema.names == ["n", "url", "allowed"]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary_view(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
def test_kinds_of_strings(kind: pa.DataType) -> None:
    column = pa.chunked_array([URLS[:2], URLS[2:]], pa.string())
    column = column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
    done = robotsbatch.evaluate(pa.table({"url": column}), rules="robots")
    assert done["url"].equals(column)
    assert done["allowed"].to_pylist() == ALLOWED


def test_columns() -> None:
    def names(**options: object) -> list[str]:
        done: pa.Table = robotsbatch.evaluate(TABLE, rules="robots", **options)  # type: ignore[call-overload]
        return list(done.column_names)

    assert names(columns="url") == ["url", "allowed"]
    assert names(columns="verdict") == ["allowed"]
    assert names(prefix="x_", explain=True) == ["n", "url", "x_allowed", "x_reason", "x_rule", "x_rule_line", "x_rule_agent"]
    assert names(agents=["CCBot", "Googlebot-News,Googlebot"]) == ["n", "url", "allowed_ccbot", "allowed_googlebot_news"]
    assert names(with_=["crawl_delay", "sitemaps"]) == ["n", "url", "allowed", "crawl_delay", "sitemaps"]


def test_urls_in_another_column() -> None:
    named = TABLE.rename_columns(["n", "link"])
    assert robotsbatch.evaluate(named, rules="robots", url_column="link")["allowed"].to_pylist() == ALLOWED
    assert robotsbatch.evaluate(named, rules="robots")["allowed"].to_pylist() == ALLOWED  # the only strings


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"n": [1, 2, 3, 4], "url": URLS, "made": [{}, [], 1, "of objects"]}, index=list("abca"))
    done = robotsbatch.evaluate(frame, rules="robots")
    assert list(done.columns) == ["n", "url", "made", "allowed"]
    assert list(done.index) == list("abca")
    assert [None if v is pd.NA else v for v in done["allowed"]] == ALLOWED
    assert list(done[done["allowed"].fillna(False)]["n"]) == [1]
    assert done[["n", "url", "made"]].equals(frame)


def test_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"n": [1, 2, 3, 4], "url": URLS})
    done = robotsbatch.evaluate(frame, rules="robots")
    assert isinstance(done, pl.DataFrame)
    assert done.drop("allowed").equals(frame)
    assert done["allowed"].to_list() == ALLOWED
    assert robotsbatch.evaluate(frame, rules="robots", columns="url").columns == ["url", "allowed"]


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    source = duckdb.connect()  # a connection reads or writes
    relation = source.sql("select 'https://example.com/' || chr(97 + (i % 3)::int) as url, i from range(30000) t(i) order by i")
    done = robotsbatch.reader(relation.to_arrow_reader(10_000), rules="robots", agents="CCBot")
    assert duckdb.sql("select count(*) from done where not allowed and i % 3 = 0").fetchall() == [(10_000,)]
    assert robotsbatch.evaluate(relation, rules="robots")["allowed"].to_pylist().count(False) == 10_000


def test_equal_names_are_refused() -> None:
    table = TABLE.append_column("allowed", pa.array([1, 2, 3, 4]))
    for call in (robotsbatch.evaluate, robotsbatch.reader):
        with pytest.raises(robotsbatch.UsageError, match="a column allowed already: give prefix="):
            call(table, rules="robots")
    assert robotsbatch.evaluate(table, rules="robots", prefix="x_").column_names[-1] == "x_allowed"


def test_more_agents_than_columns(folder: Path) -> None:
    agents = ["GPTBot", *(f"Bot{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(99))]
    (folder / "agents.txt").write_text("\n".join(agents))
    done = robotsbatch.evaluate(TABLE, rules="robots", agents_file="agents.txt", agents_as="any-denied")
    assert done.column_names == ["n", "url", "allowed", "denied_by"]
    assert done["denied_by"].to_pylist() == [["GPTBot"], agents, None, None]
    listed = robotsbatch.evaluate(TABLE, rules="robots", agents=agents, agents_as="list")
    assert listed["denied_agents"].to_pylist() == [["GPTBot"], agents, None, None]
    assert robotsbatch.evaluate(TABLE, rules="robots", agents=agents, agents_as="columns").num_columns == 102


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("emit", ["allowed", "denied", "unknown"])
def test_emit(emit: Any, workers: int) -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rows = 200_000
    urls = [None if i % 11 == 0 else f"https://example.com/{'a' if i % 7 == 0 else 'b'}{i}" for i in range(rows)]
    table = pa.table({"n": range(rows), "url": urls, "list": [[i] for i in range(rows)]})
    verdicts = {"unknown": lambda i: i % 11 == 0, "denied": lambda i: i % 11 and i % 7 == 0, "allowed": lambda i: i % 11 and i % 7}
    want = [i for i in range(rows) if verdicts[emit](i)]
    options: Any = {"rules": "robots", "emit": emit, "workers": workers}
    done = robotsbatch.evaluate(table, **options)
    assert done.column_names == ["n", "url", "list", "allowed"] and done.drop_columns("allowed").equals(table.take(want))
    assert set(done["allowed"].to_pylist()) == {{"unknown": None, "denied": False, "allowed": True}[emit]}
    assert robotsbatch.reader(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(999)), **options).read_all().equals(done)
    assert robotsbatch.evaluate(table, **options, columns="url")["url"].equals(done["url"])
    frame = pd.DataFrame({"url": urls}, index=[f"i{i}" for i in range(rows)])
    assert list(robotsbatch.evaluate(frame, **options).index) == [f"i{i}" for i in want]
    assert list(robotsbatch.evaluate(frame, **options, columns="verdict").index) == [f"i{i}" for i in want]
    assert robotsbatch.evaluate(pl.DataFrame({"n": range(rows), "url": urls}), **options)["n"].to_list() == want


def test_emit_of_columns_that_pyarrow_cannot_take() -> None:
    """Views, as Polars makes them, run ends and unions."""
    views = pa.array(["a", None, "c", "d"], pa.string_view())
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 4], pa.int32()), pa.array([1, 2]))
    union = pa.UnionArray.from_sparse(pa.array([0, 1, 0, 1], pa.int8()), [pa.array([1, 2, 3, 4]), pa.array(list("abcd"))])
    nested = pa.array([["a"], [], None, ["b", "c"]], pa.list_(pa.string_view()))
    encoded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, None], pa.int32()), views.slice(2))
    for column in (views, runs, union, nested, encoded):
        table = pa.table({"url": pa.array(URLS).cast(pa.string_view()), "it": column}, metadata={"of": "a crawl"})
        emit: Any
        for emit, want in ((None, [0, 1, 2, 3]), ("allowed", [0]), ("unknown", [2, 3]), ("denied", [1])):
            for data in (table, table.to_batches()[0]):
                done: Any = robotsbatch.evaluate(data, rules="robots", emit=emit)
                assert type(done) is type(data) and done.schema.metadata == table.schema.metadata
                assert done.column("it").type == column.type and done.column("it").to_pylist() == [column.to_pylist()[i] for i in want], (column.type, emit)
                assert done.column("url").to_pylist() == [URLS[i] for i in want] and done.column("allowed").to_pylist() == [ALLOWED[i] for i in want]


def test_a_large_record_batch() -> None:
    batch = pa.record_batch({"n": range(200_000), "url": [f"https://example.com/{'ab'[i % 2]}{i}" for i in range(200_000)]})
    done = robotsbatch.evaluate(batch, rules="robots", explain=True)
    assert done.equals(pa.RecordBatch.from_arrays(robotsbatch.evaluate(pa.table(batch), rules="robots", explain=True).combine_chunks().to_batches()[0].columns, schema=done.schema))
    assert done.num_rows == 200_000 and done.column("allowed").to_pylist() == [False, True] * 100_000
    denied = robotsbatch.evaluate(batch, rules="robots", emit="denied")
    assert denied.column("n").to_pylist() == list(range(0, 200_000, 2))
    assert robotsbatch.evaluate(batch, rules="robots", emit="denied", columns="verdict").num_rows == 100_000


def test_rows_as_lists_and_series() -> None:
    pd, pl, dataset = pytest.importorskip("pandas"), pytest.importorskip("polars"), pytest.importorskip("pyarrow.dataset")
    missing = [float("nan") if url is None else url for url in URLS]  # as pandas has it
    for data in (URLS, missing, tuple(URLS), iter(URLS), pa.array(URLS), pa.chunked_array([URLS])):
        done: Any = robotsbatch.evaluate(data, rules="robots")
        assert isinstance(done, pa.Table) and done["url"].to_pylist() == URLS and done["allowed"].to_pylist() == ALLOWED
    chosen = {url for url in URLS if url}
    assert robotsbatch.evaluate(chosen, rules="robots")["url"].to_pylist() == sorted(chosen)
    frame = robotsbatch.evaluate(pd.Series(URLS, index=list("abcd"), name="link"), rules="robots")
    assert list(frame.columns) == ["link", "allowed"] and list(frame.index) == list("abcd")
    assert robotsbatch.evaluate(pl.Series(URLS), rules="robots")["allowed"].to_list() == ALLOWED
    given = dataset.dataset(TABLE)
    for source in (given, given.scanner()):
        stream: Any = robotsbatch.evaluate(source, rules="robots")
        assert isinstance(stream, pa.RecordBatchReader) and stream.read_all()["allowed"].to_pylist() == ALLOWED
    assert robotsbatch.reader(given, rules="robots").read_all()["allowed"].to_pylist() == ALLOWED


def test_nothing_but_null() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for data in (pa.table({"url": pa.nulls(3)}), pd.DataFrame({"url": [None] * 3}), pl.DataFrame({"url": [None] * 3})):
        assert list(robotsbatch.evaluate(data, rules="robots", explain=True)["reason"].to_numpy()) == ["invalid_url"] * 3
    empty = pa.table({"url": pa.nulls(0)})
    assert robotsbatch.evaluate(empty, rules="robots").num_rows == 0


def test_agents_and_rules_of_many_kinds(folder: Path) -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = ["CCBot", "GPTBot"]
    frames = [pd.DataFrame({"n": [1, 2], "agent": names}), pl.DataFrame({"agent": names}), pa.table({"any": names})]
    for agents in (names, set(names), pd.Series(names), pl.Series(names), pa.array(names), (name for name in names), *frames):
        assert robotsbatch.evaluate(TABLE, rules="robots", agents=agents).column_names[2:] == ["allowed_ccbot", "allowed_gptbot"]
    captures = {"authority": ["example.com"], "body": ["User-agent: *\nDisallow: /a"], "fetched_at": [datetime.datetime(2026, 1, 1)]}
    rules: Any
    for rules in (pd.DataFrame(captures), pl.DataFrame(captures), pa.table(captures), [pa.table(captures), "robots"], {"robots"}, pd.Series(["robots"])):
        assert robotsbatch.evaluate(TABLE, rules=rules)["allowed"].to_pylist() == ALLOWED
    day = datetime.date(2026, 1, 2)
    when: Any
    for when in (day, datetime.datetime(2026, 1, 2), datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc), pd.Timestamp(day)):
        counts: dict[str, Any] = {}
        done = robotsbatch.evaluate(TABLE, rules=pa.table(captures), as_of=when, max_age=datetime.timedelta(hours=1), with_={"age"}, summary=counts)
        assert counts["outdated"] == 2 and done["age"].to_pylist()[0] == (2 * 86400 - 1 if when is day else 86400)
    with pytest.raises(robotsbatch.RobotsbatchError, match="no capture of a robots.txt from 2025-12-31"):
        robotsbatch.evaluate(TABLE, rules=pa.table(captures), as_of=datetime.date(2025, 12, 31))


def test_progress(capfd: pytest.CaptureFixture[str]) -> None:
    table = pa.table({"url": ["https://example.com/"] * 150_000})
    seen: list[int] = []
    robotsbatch.evaluate(table, rules="robots", progress=seen.append)
    robotsbatch.reader(table, rules="robots", progress=True).read_all()
    assert seen == [65_536, 131_072, 150_000]
    assert capfd.readouterr().err.endswith("\rrobotsbatch: 150,000 rows\n")


def test_each_row_at_its_own_time(folder: Path) -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    captures = {"authority": ["example.com"] * 2, "body": ["User-agent: *\nDisallow: /", "User-agent: *\nDisallow: /a"], "fetched_at": ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"]}
    frame = pd.DataFrame({"seen": ["2026-01-10T00:00:00Z", "2026-02-10T00:00:00Z"], "n": [1, 2], "url": ["https://example.com/"] * 2})
    pd.DataFrame(captures).to_csv(folder / "captures.csv", index=False)
    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        done = robotsbatch.evaluate(data, rules="captures.csv", as_of="column:seen", max_age="365d")
        assert list(pa.table(done)["allowed"].to_pylist()) == [False, True]


def test_lazy_frame() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.LazyFrame({"n": [1, 2, 3, 4], "url": URLS})
    lazy = robotsbatch.evaluate(frame, rules="robots", explain=True)
    assert isinstance(lazy, pl.LazyFrame) and lazy.collect_schema().names() == ["n", "url", "allowed", "reason", "rule", "rule_line", "rule_agent"]
    assert lazy.filter("allowed").select("n").collect()["n"].to_list() == [1]
    assert lazy.collect().equals(robotsbatch.evaluate(frame.collect(), rules="robots", explain=True))
    with pytest.raises(robotsbatch.UsageError, match="profile='bing'"):
        robotsbatch.evaluate(frame, rules="robots", profile="bing")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="LazyFrame: give it to evaluate"):
        robotsbatch.reader(frame, rules="robots")
