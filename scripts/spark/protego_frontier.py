"""The peer of filter_frontier.py that uses protego in a pandas UDF, to compare with.

    spark-submit protego_frontier.py --frontier PATH --rules FOLDER --agent NAME --out PATH

The rules are a folder of robots.txt files named by authority, as robotsbatch reads
them, that all nodes see. A Python worker parses a file when it meets its first URL.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
from protego import Protego
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf


def main() -> None:
    parser = argparse.ArgumentParser(description="Says by protego which URLs of a frontier in Parquet are allowed.")
    for name in ("--frontier", "--out"):
        parser.add_argument(name, required=True)
    parser.add_argument("--rules", help="without it the frontier is only read and written")
    parser.add_argument("--agent", default="*")
    options = parser.parse_args()
    spark = SparkSession.builder.appName("protego").getOrCreate()
    frame = spark.read.parquet(options.frontier)
    if options.rules:
        allowed = pandas_udf(verdicts(options.rules, options.agent), "boolean")
        frame = frame.withColumn("allowed", allowed("url"))
    frame.write.parquet(options.out)
    spark.stop()


def verdicts(rules: str, agent: str) -> Callable[[Iterator[pd.Series]], Iterator[pd.Series]]:
    def of_batches(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        folder = Path(rules)

        @lru_cache(10_000)
        def of_authority(scheme: str, authority: str) -> Protego | None:
            name = authority.replace(":", "_")
            for file in (folder / scheme / name, folder / name):
                if file.is_file():
                    return Protego.parse(file.read_text(errors="replace"))
            return None

        def verdict(url: str | None) -> bool | None:
            if url is None:
                return None
            try:
                parts = urlsplit(url)
            except ValueError:
                return None
            if parts.scheme not in ("http", "https") or not parts.netloc:
                return None
            robots = of_authority(parts.scheme, parts.netloc.lower())
            return True if robots is None else robots.can_fetch(url, agent)

        for urls in batches:
            yield urls.map(verdict)

    return of_batches


if __name__ == "__main__":
    main()
