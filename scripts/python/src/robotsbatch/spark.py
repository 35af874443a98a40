"""Verdicts in Spark.

    verdicts = robotsbatch.spark.evaluate(frame, rules="site.rules", agents="CCBot")

Or with ``DataFrame.mapInArrow``, which ``evaluate`` uses:

    schema = robotsbatch.spark.schema(frame, rules=pack, agents="CCBot")
    frame.mapInArrow(robotsbatch.spark.map_in_arrow(rules=pack, agents="CCBot"), schema)
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Unpack, cast

import pyarrow as pa

from robotsbatch._options import Options, is_frame, listed
from robotsbatch._tables import reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Map = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_PREFIX = "_robotsbatch_"
_HASH = _PREFIX + "authority_hash"


def evaluate(frame: DataFrame, *, parts: int = 1, tasks: int | None = None, **options: Unpack[Options]) -> DataFrame:
    """Return the frame with verdict columns added.

    Args:
        frame: its rows stay in their partitions, unless ``parts=`` is given.
        parts: the number of parts that ``robotsbatch compile -partitions`` made of the
            rules. ``rules=`` is then the name that was given to compile as ``-out``. The
            frame is repartitioned by scheme, host and port, so that a task opens one part.
        tasks: the number of Spark partitions for that, a multiple of ``parts`` (default
            ``parts``).
        options: as in map_in_arrow.
    """
    if parts == 1:
        return frame.mapInArrow(map_in_arrow(**options), schema(frame, **options))
    rules = options["rules"]
    if parts < 1 or not isinstance(rules, str | os.PathLike):
        raise ValueError(f"parts={parts}: it is how many parts the one file has that rules= names")
    if (tasks := tasks or parts) % parts:
        raise ValueError(f"tasks={tasks} is not a multiple of parts={parts}")
    done = schema(frame, **cast(Options, {**options, "rules": part_name(rules, 0, parts)}))
    return _by_authority(frame, tasks, options).mapInArrow(_map_part(rules, parts, options), done)


def map_in_arrow(**options: Unpack[Options]) -> Map:
    """Return the function that ``mapInArrow`` applies to a partition.

    Each task has its own child, which ends with the task, even if that is killed. If the
    child fails, its message is in the task's error. ``rules=`` and ``binary=`` may name files
    that were given to ``--files``; if there is no such file, the path is read on the node. A
    binary ``robotsbatch`` that was shipped is used rather than the package's own. Tasks that
    read the same file share its pages in memory.
    """

    def verdicts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        iterator = iter(batches)
        first = next(iterator, None)
        if first is None:  # a partition without rows
            return
        source = pa.RecordBatchReader.from_batches(first.schema, chain([first], iterator))
        with reader(source, **_on_node(options)) as answered:
            yield from answered

    return verdicts


def schema(frame: DataFrame, **options: Unpack[Options]) -> StructType:
    """Return the schema of the answers, which ``mapInArrow`` needs beforehand. On the driver,
    the program answers a table without rows to find it."""
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    empty = pa.schema([(field.name, _kind(field.dataType)) for field in frame.schema]).empty_table()
    with reader(empty, **_on_node(options)) as answered:
        made = answered.schema
    if options.get("columns", "all") != "all":
        return from_arrow_schema(made)
    # The frame's own fields, because Arrow does not have all of Spark's types.
    new = from_arrow_schema(pa.schema(list(made)[len(frame.columns) :]))
    return StructType([*frame.schema.fields, *new.fields])


def _kind(kind: Any) -> pa.DataType:
    """The Arrow type of a column that may have URLs, or fields with URLs; of others only the names matter."""
    if kind.typeName() == "struct":
        return pa.struct([(field.name, _kind(field.dataType)) for field in kind])
    return {"string": pa.string(), "binary": pa.binary()}.get(kind.typeName(), pa.null())


def part_name(rules: str | os.PathLike[str], number: int, parts: int) -> str:
    """Return the name of a part of a rule pack, as ``robotsbatch compile -partitions``
    makes it.

    >>> part_name("site.rules", 3, 16)
    'site-00003-of-00016.rules'
    """
    path, mark, parameters = os.fspath(rules).partition("?")
    begin, ending = os.path.splitext(path)
    return f"{begin}-{number:05}-of-{parts:05}{ending}{mark}{parameters}"


def _by_authority(frame: DataFrame, tasks: int, options: Options) -> DataFrame:
    """Repartition a frame by pmod(authority_hash, tasks), and add the hash."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import LongType, StructField, StructType

    hashing = {key: value for key, value in options.items() if key in ("url_column", "binary")}
    fields = [*frame.schema.fields, StructField(_HASH, LongType())]
    hashed = frame.mapInArrow(_map_hash(hashing), StructType(fields))
    number = F.pmod(F.coalesce(_HASH, F.lit(0)), F.lit(tasks))
    keys = F.lit(_keys(frame.sparkSession, tasks)).cast("array<long>")
    key = F.element_at(keys, number.cast("int") + 1)
    return hashed.repartition(tasks, key)


def _keys(spark: SparkSession, tasks: int) -> list[int]:
    """Return a key for each number below tasks, which ``repartition(tasks, key)`` puts into
    the partition of that number. Spark hashes the keys for that, so keys are tried until
    each partition has one."""
    from pyspark.sql import functions as F

    found: dict[int, int] = {}
    tried = 0
    while len(found) < tasks:
        keys = spark.range(tried, tried + 16 * tasks, numPartitions=1)
        for key, number in keys.select("id", F.pmod(F.hash("id"), F.lit(tasks))).collect():
            found.setdefault(number, key)
        tried += 16 * tasks
    return [found[number] for number in range(tasks)]


def _map_hash(options: dict[str, Any]) -> Map:
    """The function that adds the hash of each URL's scheme, host and port."""

    def hashes(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with tempfile.TemporaryDirectory(prefix="robotsbatch.") as empty:
            adding = map_in_arrow(rules=empty, allow_no_rules=True, with_="authority_hash", prefix=_PREFIX, **options)
            for batch in adding(batches):
                yield _without(batch, _PREFIX + "allowed")

    return hashes


def _map_part(rules: str | os.PathLike[str], parts: int, options: Options) -> Map:
    """The function that answers a partition with the rows of one part."""

    def verdicts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        iterator = (batch for batch in batches if batch.num_rows)
        first = next(iterator, None)
        if first is None:
            return
        number = (first.column(_HASH)[0].as_py() or 0) % parts
        answering = map_in_arrow(**cast(Options, {**options, "rules": part_name(rules, number, parts)}))
        yield from answering(_without(batch, _HASH) for batch in chain([first], iterator))

    return verdicts


def _without(batch: pa.RecordBatch, column: str) -> pa.RecordBatch:
    return batch.select([name for name in batch.schema.names if name != column])


def _on_node(options: Options) -> Options:
    """The options, with the files of ``--files`` as paths on this node."""
    found = dict(options)
    for option in ("rules", "agents_file", "fetch_list", "binary"):
        names: Any = found.get(option)
        if names is not None:
            files = [_file(name) for name in listed(names, rows=True)]
            found[option] = files[0] if option == "binary" else files
    if found.get("binary") is None and (shipped := _shipped("robotsbatch")):
        found["binary"] = shipped
    return cast(Options, found)


def _file(name: Any) -> Any:
    if isinstance(name, Mapping) or is_frame(name):  # rules as texts or captures
        return name
    path = os.fspath(name)
    return path if "://" in path else _shipped(path) or os.path.abspath(path)


def _shipped(name: str) -> str | None:
    """The path of the file with that name among ``--files``."""
    from pyspark import SparkFiles

    try:
        path = SparkFiles.get(os.path.basename(name))
    except Exception:  # no Spark runs in this process
        return None
    return path if os.path.exists(path) else None
