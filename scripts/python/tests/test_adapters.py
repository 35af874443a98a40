"""The adapters, each with the real thing where it is installed."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import robotsbatch

SPARK_PAGE = Path(__file__).resolve().parents[3] / "cmd/robotsbatch/manual/spark.md"
URLS = ["https://example.com/", "https://example.com/a", "mailto:a@example.com"]


def test_datatrove() -> None:
    pytest.importorskip("datatrove")
    from datatrove.data import Document

    from robotsbatch.datatrove import RobotsFilter

    documents = [Document(text="t", id=str(i), metadata={"url": url}) for i, url in enumerate([*URLS, None])]
    step = RobotsFilter(rules="robots", agents="CCBot")
    assert step.filter_batch(documents) == [True, (False, "disallow_rule"), (False, "invalid_url"), (False, "invalid_url")]
    assert step.filter(documents[1]) == (False, "disallow_rule")
    kept = list(RobotsFilter(rules="robots", batch_size=2, keep_unknown=True).run(iter(documents)))
    assert [d.id for d in kept] == ["0", "2", "3"]


def test_datatrove_agents_uses_and_times(folder: Path) -> None:
    pytest.importorskip("datatrove")
    from datatrove.data import Document

    from robotsbatch.datatrove import RobotsFilter

    documents = [Document(text="t", id=str(i), metadata={"url": url, "seen": seen}) for i, (url, seen) in enumerate(zip(URLS, ["2026-01-10", "2026-02-10", None], strict=True))]
    assert RobotsFilter(rules="robots", agents=["CCBot", "GPTBot"]).filter_batch(documents)[0] == (False, "disallow_rule")
    assert RobotsFilter(rules="robots", agents={"CCBot", "GPTBot"}, agents_as="all-denied").filter_batch(documents)[0] is True
    assert RobotsFilter(rules="robots", emit="denied").filter_batch(documents) == [(False, "no_rule_matched"), True, (False, "invalid_url")]
    texts = {"example.com": "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /b train-ai=y\nDisallow: /a"}
    documents.append(Document(text="t", id="3", metadata={"url": "https://example.com/b"}))
    said = [(False, "use_train_ai"), (False, "disallow_rule"), (False, "invalid_url"), True]
    assert RobotsFilter(rules=texts, use="training", emit="permitted").filter_batch(documents) == said
    signals = {"example.com": "User-agent: *\nContent-Signal: ai-train=no\nDisallow: /a"}
    said[0] = said[3] = (False, "signal_ai_train")
    assert RobotsFilter(rules=signals, use="training", emit="permitted").filter_batch(documents) == said
    captures = pa.table({"authority": ["example.com"] * 2, "body": ["User-agent: *\nDisallow: /"] * 2, "fetched_at": ["2026-01-20T00:00:00Z"] * 2})
    timed = RobotsFilter(rules=captures, as_of="column:seen", explain=True)
    assert timed.filter_batch(documents) == [True, (False, "disallow_rule"), (False, "invalid_url"), (False, "no_time")]
    for wrong in ({"agents": ["CCBot", "GPTBot"], "agents_as": "columns"}, {"keep_unknown": True, "emit": "permitted"}):
        with pytest.raises(robotsbatch.UsageError):
            RobotsFilter(rules="robots", **wrong)


def test_datatrove_pipeline(folder: Path) -> None:
    pytest.importorskip("datatrove")
    from datatrove.executor.local import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers.jsonl import JsonlWriter

    from robotsbatch.datatrove import RobotsFilter

    (folder / "in").mkdir()
    (folder / "in" / "0.jsonl").write_text("".join(f'{{"text": "t", "id": "{u}", "url": "{u}"}}\n' for u in URLS))
    LocalPipelineExecutor(
        pipeline=[
            JsonlReader(str(folder / "in")),
            RobotsFilter(JsonlWriter(str(folder / "out"), compression=None), rules=str(folder / "robots"), agents="CCBot"),
            JsonlWriter(str(folder / "kept"), compression=None),
        ],
        logging_dir=str(folder / "log"),
    ).run()
    kept = (folder / "kept" / "00000.jsonl").read_text()
    dropped = (folder / "out" / "00000.jsonl").read_text()
    assert kept.count("\n") == 1 and dropped.count("\n") == 2 and '"filter_reason":"disallow_rule"' in dropped


@pytest.fixture
def ray() -> Iterator[object]:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, configure_logging=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def test_ray(ray: object, folder: Path) -> None:
    import ray.data as data

    from robotsbatch.ray import Verdicts

    table = pa.table({"n": range(3000), "url": URLS * 1000})
    verdicts = Verdicts(rules=str(folder / "robots"), agents="CCBot")
    done = data.from_arrow(table).map_batches(verdicts, batch_format="pyarrow", batch_size=1000)
    rows = sorted(done.take_all(), key=lambda row: int(row["n"]))
    assert [row["allowed"] for row in rows] == [True, False, None] * 1000


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java: there is no java")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", 2).getOrCreate()
    yield spark
    spark.stop()


def test_spark(spark: Any, folder: Path) -> None:
    import robotsbatch.spark

    rules = str(folder / "robots")
    frame = spark.createDataFrame(list(enumerate(URLS * 100)), "n long, url string").repartition(5, "n")
    done = robotsbatch.spark.evaluate(frame, rules=rules, agents="CCBot", explain=True)
    assert done.columns == ["n", "url", "allowed", "reason", "rule", "rule_line", "rule_agent"]
    assert [row.allowed for row in done.orderBy("n").collect()] == [True, False, None] * 100
    assert done.limit(1).count() == 1
    named = robotsbatch.spark.evaluate(frame, rules=rules, binary=Path(robotsbatch.find_robotsbatch_bin()))
    assert [row.allowed for row in named.orderBy("n").collect()] == [True, False, None] * 100
    failing = frame.mapInArrow(robotsbatch.spark.map_in_arrow(rules="/nowhere"), "n long, url string, allowed boolean")
    with pytest.raises(Exception, match="rules='/nowhere': no such file"):
        failing.collect()


def test_spark_schema(spark: Any, folder: Path) -> None:
    """The frame's own columns keep their types, also those that Arrow has otherwise."""
    import robotsbatch.spark

    columns = "timestamp_ntz'2026-01-01 00:00:00' t, timestamp'2026-01-01 00:00:00' z, array(1, null) a, map('k', named_struct('b', 1Y)) m"
    frame = spark.sql(f"select 'https://example.com/a' url, {columns}, cast('x' as binary) x, 1.50BD d")
    done = robotsbatch.spark.evaluate(frame, rules=str(folder / "robots"))
    assert done.schema.fields[:-1] == frame.schema.fields
    assert done.drop("allowed").collect() == frame.collect()
    assert [row.allowed for row in done.collect()] == [False]


def test_spark_struct(spark: Any, folder: Path) -> None:
    """URLs and times may be fields of a struct, as the program reads them."""
    import robotsbatch.spark

    rules = folder / "captures.csv"
    rules.write_text('url,body,fetched_at\nhttps://example.com/robots.txt,"User-agent: *\nDisallow: /a",2026-03-01T00:00:00Z\n')
    frame = spark.sql("select named_struct('n', 1, 'in', named_struct('url', 'https://example.com/a', 'date', timestamp '2026-03-02')) metadata, 1 n")
    done = robotsbatch.spark.evaluate(frame, rules=rules, url_column="metadata.in.url", as_of="column:metadata.in.date")
    assert [row["allowed"] for row in done.collect()] == [False]
    assert done.columns == ["metadata", "n", "allowed"]


def test_spark_hash(spark: Any, folder: Path) -> None:
    """The program's hash of an authority is Spark's xxhash64 of its text."""
    import robotsbatch.spark

    hosts = [f"{'a' * n}.{'b' * n}.test" for n in range(1, 64)]
    hosts += [f"{host}:{8000 + i}" for i, host in enumerate(hosts)] + ["WWW.B\u00fccher.test", "192.0.2.1", "[2001:db8::1]:81"]
    urls = [f"{scheme}://{host}/{i}" for i, host in enumerate(hosts) for scheme in ("http", "https")]
    said = subprocess.run(
        [robotsbatch.find_robotsbatch_bin(), "explain", "-rules", str(folder / "robots"), "-partitions", "7", "-json", *urls],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = [json.loads(line) for line in said.stdout.splitlines()]
    assert [line["url"] for line in lines] == urls
    rows = [(line["url"], line["authority_hash"], line["partition"], line["authority"]) for line in lines]
    frame = spark.createDataFrame(rows, "url string, number long, part int, authority string")
    hashed = robotsbatch.spark.evaluate(frame, rules=str(folder / "robots"), with_="authority_hash")
    assert hashed.where("authority_hash = number and xxhash64(authority) = number and pmod(number, 7) = part").count() == len(urls)


def test_spark_parts(spark: Any, folder: Path) -> None:
    """With rules in parts each Spark partition has the rows of one of them."""
    from pyspark.sql import functions as F

    import robotsbatch.spark

    for i in range(0, 40, 2):
        (folder / "robots" / f"{i}.test").write_text(f"User-agent: *\nDisallow: /{i}\n")
    robotsbatch.compile(folder / "site.rules", rules="robots", partitions=3)
    rows = [(n, f"https://{n % 40}.test/{n % 5 * 10}") for n in range(2000)] + [(2000, "mailto:a"), (2001, None)]
    frame = spark.createDataFrame(rows, "n long, url string").repartition(4)
    rules = str(folder / "site.rules")
    done = robotsbatch.spark.evaluate(frame, parts=3, tasks=6, rules=rules, with_="authority_hash")
    assert done.columns == ["n", "url", "allowed", "authority_hash"]
    found = done.withColumn("task", F.spark_partition_id()).collect()
    whole = robotsbatch.evaluate(pa.table({"url": [url for _, url in rows]}), rules="robots")
    assert [row.allowed for row in sorted(found)] == whole["allowed"].to_pylist()
    numbers = {(row.task, (row.authority_hash or 0) % 6) for row in found}
    assert len(numbers) == len({task for task, _ in numbers}) == len({number for _, number in numbers}) > 3
    with pytest.raises(ValueError, match="tasks=4 is not a multiple of parts=3"):
        robotsbatch.spark.evaluate(frame, parts=3, tasks=4, rules=rules)
    Path(robotsbatch.spark.part_name(rules, 1, 3)).unlink()
    with pytest.raises(Exception, match="site-00001-of-00003.rules': no such file"):
        done.collect()


@pytest.mark.skipif(not SPARK_PAGE.exists(), reason="the manual is not beside the tests")
def test_spark_page(spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The manual's code works, and its command lines and table are those of the job."""
    page = SPARK_PAGE.read_text()
    robotsbatch.compile(folder / "site.rules", rules="robots")
    spark.sparkContext.addFile(str(folder / "site.rules"))  # as --files does
    names: dict[str, Any] = {"frame": spark.createDataFrame([(url,) for url in URLS], "url string")}
    [code] = re.findall("```python\n(.*?)```", page, re.DOTALL)
    exec(code, names)
    assert [row.allowed for row in names["verdicts"].collect()] == [True, False, None]

    job = runpy.run_path(str(SPARK_PAGE.parents[3] / "scripts/spark/filter_frontier.py"))
    commands = re.findall(r"spark-submit (filter_frontier.py --.*?)\n```", page, re.DOTALL)
    for command in commands:
        monkeypatch.setattr(sys, "argv", command.replace("\\\n", " ").split())
        assert job["arguments"]().agent == ["CCBot"]
    assert len(commands) == 2
    # What is wrong shows before Spark starts.
    job["main"].__globals__["SparkConf"] = dict
    job["main"].__globals__["SparkSession"] = None
    (folder / "frontier.parquet").write_bytes(b"")
    right = {"--frontier": "frontier.parquet", "--rules": "site.rules", "--out": "verdicts", "--agent": "CCBot"}
    for name, value, said in [
        ("--rules", "nowhere.rules", "nowhere.rules: there is no such file"),
        ("--rules", "robots", "robots is a folder: robotsbatch compile makes"),
        ("--rules", "frontier.parquet", "filter_frontier: .*frontier.parquet"),
        ("--binary", "nowhere", "nowhere: there is no such file"),
        ("--frontier", "none*.parquet", "--frontier none.*: there is no such file or folder"),
        ("--out", "robots", "--out robots is there already: .* or --overwrite"),
        ("--agent", "a b", "filter_frontier: agents='a b': agent .* no product token has one: is it ab\\?"),
        ("--with", "crawl_dela", "with_='crawl_dela'"),
    ]:
        monkeypatch.setattr(sys, "argv", ["filter_frontier.py", *(word for pair in {**right, name: value}.items() for word in pair)])
        with pytest.raises(SystemExit, match=said):
            job["main"]()
    monkeypatch.setattr(sys, "argv", ["filter_frontier.py", *(word for pair in right.items() for word in pair)])
    with pytest.raises(AttributeError, match="builder"):  # nothing is wrong: Spark would start
        job["main"]()

    parser = job["parser"]()
    told = set(re.findall(r"`(--[a-z-]+)", "".join(line for line in page.splitlines() if line.startswith("| `"))))
    assert told == {option for action in parser._actions for option in action.option_strings} - {"-h", "--help"}
