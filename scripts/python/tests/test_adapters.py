"""The adapters, each with the real thing where it is installed."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

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


def test_spark(folder: Path) -> None:
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    import robotsbatch.spark

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = spark.createDataFrame([(i, url) for i, url in enumerate(URLS * 100)], "n long, url string").repartition(5, "n")
        rules = str(folder / "robots")
        schema = robotsbatch.spark.schema(frame, rules=rules, agents="CCBot")
        done = frame.mapInArrow(robotsbatch.spark.map_in_arrow(rules=rules, agents="CCBot"), schema)
        assert done.columns == ["n", "url", "allowed"]
        assert [row.allowed for row in done.orderBy("n").collect()] == [True, False, None] * 100
        failing = frame.mapInArrow(robotsbatch.spark.map_in_arrow(rules="/nowhere"), schema)
        with pytest.raises(Exception, match="robotsbatch: -rules /nowhere: no such file"):
            failing.collect()
    finally:
        spark.stop()
