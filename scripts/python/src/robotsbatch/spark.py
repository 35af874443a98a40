"""Verdicts in Spark: a function for ``DataFrame.mapInArrow``.

    schema = robotsbatch.spark.schema(frame, rules=pack, agents="CCBot")
    frame.mapInArrow(robotsbatch.spark.map_in_arrow(rules=pack, agents="CCBot"), schema)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Unpack, cast

import pyarrow as pa

from robotsbatch._options import Options
from robotsbatch._tables import reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

Map = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def map_in_arrow(**options: Unpack[Options]) -> Map:
    """Return the function that ``mapInArrow`` applies to a partition.

    A task has a child of its own, which ends with it, also when the task is killed;
    what the child says when it fails is in the task's error. ``rules=`` and
    ``binary=`` may name files that were given to ``--files``: where there is no such
    file, that of the node is taken. Tasks of a node share its pages in memory.
    """

    def verdicts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        iterator = iter(batches)
        first = next(iterator, None)
        if first is None:  # a partition without rows
            return
        source = pa.RecordBatchReader.from_batches(first.schema, _chain(first, iterator))
        with reader(source, **_on_node(options)) as answered:
            yield from answered

    return verdicts


def schema(frame: DataFrame, **options: Unpack[Options]) -> StructType:
    """Return the schema that ``mapInArrow`` needs beforehand: that of the answers,
    which the program says of a table without rows, on the driver."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    empty = to_arrow_schema(frame.schema).empty_table()
    with reader(empty, **_on_node(options)) as answered:
        return from_arrow_schema(answered.schema)


def _chain(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest


def _on_node(options: Options) -> Options:
    """The options with the files of ``--files`` by their names on this node."""
    found = dict(options)
    for option in ("rules", "binary"):
        names: Any = found.get(option)
        if names is not None:
            several = not isinstance(names, str | os.PathLike)
            found[option] = [_file(name) for name in names] if several else _file(names)
    return cast(Options, found)


def _file(name: str | os.PathLike[str]) -> str:
    from pyspark import SparkFiles

    path = os.fspath(name)
    if os.path.exists(path) or "://" in path:
        return path
    try:
        shipped = SparkFiles.get(os.path.basename(path))
    except Exception:  # no Spark runs in this process
        return path
    return shipped if os.path.exists(shipped) else path
