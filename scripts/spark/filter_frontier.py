"""Says of every URL of a frontier in Parquet whether robots.txt lets a crawler fetch it.

    spark-submit filter_frontier.py --frontier cc-index/ --rules site.rules \\
      --agent CCBot --out verdicts/ --partition-by crawl,subset

The frontier is Parquet with a column of URLs, such as Common Crawl's columnar index;
all columns come out, the verdicts behind them. The package robotsbatch must be there
for the driver, installed or given by --py-files: it goes to the executors from there,
and so do its binary and the rule pack, unless --files has them already.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import robotsbatch.spark
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F


def main() -> None:
    options = arguments()
    spark = SparkSession.builder.appName("robotsbatch").getOrCreate()
    with tempfile.TemporaryDirectory(prefix="robotsbatch.") as folder:
        ship_package(spark, folder)
        binary = options.binary or (None if is_shipped(spark, "robotsbatch") else robotsbatch.find_robotsbatch_bin())
        if binary:
            ship(spark, binary)
        if options.partitions == 1 and not options.on_nodes:
            ship(spark, options.rules)
        frame = evaluate(spark.read.parquet(*options.frontier), options)
        counts = Observation("robotsbatch")
        frame = frame.observe(counts, *count(frame, options.prefix + "allowed"))
        if options.where:
            frame = frame.where(options.where)
        mode = "overwrite" if options.overwrite else "errorifexists"
        frame.write.mode(mode).partitionBy(*options.partition_by).parquet(options.out)
        print("robotsbatch: " + ", ".join(f"{name} {rows:,}" for name, rows in counts.get.items()))
        spark.stop()


def arguments() -> argparse.Namespace:
    return parser().parse_args()


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Says of every URL of a frontier in Parquet whether robots.txt lets a crawler fetch it."
    )
    parser.add_argument("--frontier", required=True, nargs="+", metavar="PATH", help="Parquet files or folders")
    parser.add_argument("--rules", required=True, help="rule pack; with --partitions the name that compile had for -out")
    parser.add_argument("--agent", action="append", help="product token; again for another (default *)")
    parser.add_argument("--out", required=True, help="folder to write to")
    parser.add_argument("--url-column", default="url", metavar="NAME", help="column with the URLs (default url)")
    parser.add_argument("--partition-by", default=[], type=lambda names: names.split(","), metavar="NAME,...",
                        help="columns that the output is partitioned by")  # fmt: skip
    parser.add_argument("--where", metavar="SQL", help="rows to keep, such as: allowed")
    parser.add_argument("--partitions", type=int, default=1, metavar="N",
                        help="the rules are N packs of compile -partitions N, at a path or URL that all nodes see")  # fmt: skip
    parser.add_argument("--tasks", type=int, metavar="N", help="tasks with --partitions, a multiple of it (default as many)")
    parser.add_argument("--on-nodes", action="store_true", help="the rules are at that path on every node: do not ship them")
    parser.add_argument("--overwrite", action="store_true", help="replace what the output folder has")
    parser.add_argument("--binary", metavar="FILE", help="the program to ship (default the package's own)")
    parser.add_argument("--profile", choices=["rfc9309", "google"])
    parser.add_argument("--explain", action="store_true", help="add why")
    parser.add_argument("--with", dest="with_", metavar="NAME,...", help="more columns, such as crawl_delay")
    parser.add_argument("--prefix", default="", help="put before the names of the verdict columns")
    return parser


def evaluate(frame: DataFrame, options: argparse.Namespace) -> DataFrame:
    given: dict[str, Any] = {
        "agents": options.agent,
        "url_column": options.url_column,
        "binary": options.binary and os.path.basename(options.binary),
        "profile": options.profile,
        "explain": options.explain,
        "with_": options.with_,
        "prefix": options.prefix,
    }
    given = {name: value for name, value in given.items() if value}
    return robotsbatch.spark.evaluate(frame, parts=options.partitions, tasks=options.tasks, rules=options.rules, **given)


def count(frame: DataFrame, allowed: str) -> list[Column]:
    """What is counted while the job runs: rows, and those that each agent may fetch."""
    verdicts = [name for name in frame.columns if name == allowed or name.startswith(allowed + "_")]
    return [F.count(F.lit(1)).alias("rows"), *[F.count_if(F.col(name)).alias(name) for name in verdicts]]


def is_shipped(spark: SparkSession, name: str) -> bool:
    """Whether --files has a file of that name."""
    given = [spark.conf.get(key, "") or "" for key in ("spark.files", "spark.yarn.dist.files")]
    return name in {os.path.basename(file) for files in given for file in files.split(",")}


def ship(spark: SparkSession, path: str) -> None:
    """Give the executors a file, once. What has a URL is read from there."""
    if "://" in path or is_shipped(spark, os.path.basename(path)):
        return
    if os.path.isdir(path):
        raise SystemExit(f"filter_frontier: {path} is a folder: robotsbatch compile makes a rule pack of it, which is shipped")
    spark.sparkContext.addFile(os.path.abspath(path))


def ship_package(spark: SparkSession, folder: str) -> None:
    """Give the executors the package, unless it came by --py-files."""
    package = Path(robotsbatch.__file__).parent
    if not package.is_dir():
        return
    with zipfile.ZipFile(Path(folder, "robotsbatch.zip"), "w") as archive:
        for file in package.glob("*.py"):
            archive.write(file, f"robotsbatch/{file.name}")
    spark.sparkContext.addPyFile(str(Path(folder, "robotsbatch.zip")))


if __name__ == "__main__":
    main()
