"""Says of every URL of a frontier in Parquet whether robots.txt lets a crawler fetch it.

    spark-submit filter_frontier.py --frontier cc-index/ --rules site.rules \\
      --agent CCBot --out verdicts/ --partition-by crawl,subset

The frontier is Parquet with a column of URLs, such as Common Crawl's columnar index;
the output has all columns, then the verdicts. The package robotsbatch must be there
for the driver, installed or given by --py-files: it goes to the executors from there,
and so do its binary and the rule pack, unless --files has them already.
"""

from __future__ import annotations

import argparse
import glob
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import robotsbatch.spark
from pyspark import SparkConf
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F


def main() -> None:
    options = arguments()
    check(options, SparkConf())
    spark = SparkSession.builder.appName("robotsbatch").getOrCreate()
    with tempfile.TemporaryDirectory(prefix="robotsbatch.") as folder:
        ship_package(spark, folder)
        binary = options.binary or (None if is_given(spark.conf, "robotsbatch") else robotsbatch.find_robotsbatch_bin())
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


def check(options: argparse.Namespace, conf: SparkConf) -> None:
    """Find what is wrong before a cluster starts: paths of this machine, rules that the
    program cannot open, agents and columns that it does not know."""
    names = [options.rules]
    if options.partitions > 1:
        names = [robotsbatch.spark.part_name(options.rules, i, options.partitions) for i in range(options.partitions)]
    for name in [*names, *([options.binary] if options.binary else [])]:
        if "://" in name or is_given(conf, os.path.basename(name)):
            continue
        if not os.path.exists(name):
            raise SystemExit(f"filter_frontier: {name}: there is no such file")
        if os.path.isdir(name) and options.partitions == 1 and not options.on_nodes:
            raise SystemExit(f"filter_frontier: {name} is a folder: robotsbatch compile makes a rule pack of it, which is shipped")
    # A path without a scheme is one of this machine only if nothing else is the default.
    local = conf.get("spark.master", "local").startswith("local") and conf.get("spark.hadoop.fs.defaultFS") is None
    for path in options.frontier:
        if (path.startswith("file:") or local and "://" not in path) and not glob.glob(path.removeprefix("file:").replace("///", "/")):
            raise SystemExit(f"filter_frontier: --frontier {path}: there is no such file or folder")
    if local and "://" not in options.out and not options.overwrite and os.path.exists(options.out):
        raise SystemExit(f"filter_frontier: --out {options.out} is there already: give another folder, or --overwrite")
    if is_given(conf, os.path.basename(names[0])):
        return  # it is opened when Spark has put it into place
    try:
        program = options.binary or robotsbatch.find_robotsbatch_bin()
    except FileNotFoundError:
        return  # the package is a zip file, and only the nodes have the program
    if not os.path.exists(program):
        return  # it is shipped
    try:
        given = {**flags(options), "binary": options.binary, "url_column": "url"}
        robotsbatch.reader(pa.table({"url": pa.array([], pa.string())}), rules=names[0], **given).close()
    except robotsbatch.RobotsbatchError as error:
        raise SystemExit(f"filter_frontier: {error}") from None


def evaluate(frame: DataFrame, options: argparse.Namespace) -> DataFrame:
    parts: dict[str, Any] = {"parts": options.partitions, "tasks": options.tasks, "rules": options.rules}
    return robotsbatch.spark.evaluate(frame, **parts, **flags(options))


def flags(options: argparse.Namespace) -> dict[str, Any]:
    """The options of the package that the command line has."""
    given: dict[str, Any] = {
        "agents": options.agent,
        "url_column": options.url_column,
        "binary": options.binary and os.path.basename(options.binary),
        "profile": options.profile,
        "explain": options.explain,
        "with_": options.with_,
        "prefix": options.prefix,
    }
    return {name: value for name, value in given.items() if value}


def count(frame: DataFrame, allowed: str) -> list[Column]:
    """What is counted while the job runs: rows, and those that each agent may fetch."""
    verdicts = [name for name in frame.columns if name == allowed or name.startswith(allowed + "_")]
    return [F.count(F.lit(1)).alias("rows"), *[F.count_if(F.col(name)).alias(name) for name in verdicts]]


def is_given(conf: Any, name: str) -> bool:
    """Whether --files has a file of that name."""
    given = [conf.get(key, "") or "" for key in ("spark.files", "spark.yarn.dist.files")]
    return name in {os.path.basename(file) for files in given for file in files.split(",")}


def ship(spark: SparkSession, path: str) -> None:
    """Give the executors a file, once. What has a URL is read from there."""
    if "://" in path or is_given(spark.conf, os.path.basename(path)):
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
