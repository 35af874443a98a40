"""Verdicts for tables of several kinds."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, Unpack, cast

try:
    import pyarrow as pa
except ImportError as error:
    raise ImportError("evaluate and reader need pyarrow: pip install 'robotsbatch[arrow]'") from error

from robotsbatch._errors import UsageError
from robotsbatch._options import Options, command
from robotsbatch._pipe import Pipe

Data = TypeVar("Data")

_BATCH_ROWS = 1 << 16


def evaluate(data: Data, **options: Unpack[Options]) -> Data:
    """Return data with the verdict columns, as robotsbatch.evaluate says."""
    options.setdefault("workers", _processors())
    kind: Any = data
    if isinstance(data, pa.RecordBatchReader):
        return cast(Data, reader(data, **options))
    if isinstance(data, pa.RecordBatch):
        table = _evaluate_table(pa.Table.from_batches([data]), options).combine_chunks()
        return cast(Data, next(iter(table.to_batches()), pa.RecordBatch.from_pylist([], table.schema)))
    if isinstance(data, pa.Table):
        return cast(Data, _evaluate_table(data, options))
    if _is(data, "pandas", "DataFrame"):
        return cast(Data, _evaluate_pandas(kind, options))
    if _is(data, "polars", "DataFrame"):
        return cast(Data, _evaluate_polars(kind, options))
    if hasattr(data, "__arrow_c_stream__"):
        return cast(Data, _evaluate_table(pa.table(data), options))
    raise TypeError(f"evaluate takes tables and data frames, not {type(data).__name__}")


def reader(data: Any, **options: Unpack[Options]) -> pa.RecordBatchReader:
    """Return a stream of data with the verdict columns, as robotsbatch.reader says."""
    source = data if isinstance(data, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(data)
    sent = _Sent(source.schema, options, source.schema.names)
    pipe = Pipe(sent.args, sent.schema, options.get("workers", 1))
    try:
        sent.refuse_equal_names(pipe.schema)
    except UsageError:
        pipe.close()
        raise
    schema = pipe.schema
    if sent.beside:
        schema = pa.schema([*source.schema, *schema], source.schema.metadata)

    def batches() -> Iterator[Any]:
        with pipe:
            for batch, answer in pipe.answers(source, sent.batch):
                kept = batch.columns if sent.beside else []
                yield pa.RecordBatch.from_arrays([*kept, *answer.columns], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


class _Sent:
    """What of a table goes through the pipe: the column of URLs alone where it is
    known, else all columns, for the program to choose from. Where all columns come
    out, the answers are put beside them here, and nothing else is sent back."""

    def __init__(self, schema: pa.Schema, options: Options, names: Iterable[str]) -> None:
        self.names = set(names)
        self.beside = _beside(options)
        self.args = command("pipe", {**options, "columns": "verdict"} if self.beside else options)
        url = schema.get_field_index(_url(options))
        self.columns = [url] if url >= 0 else list(range(len(schema)))
        self.schema = pa.schema([_plain(schema.field(i)) for i in self.columns])

    def batch(self, batch: Any) -> Any:
        """What is sent of a batch."""
        arrays = [batch.column(i) for i in self.columns]
        arrays = [a if a.type == f.type else a.cast(f.type) for a, f in zip(arrays, self.schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def refuse_equal_names(self, answer: pa.Schema) -> None:
        """Raise where a column of the answers has the name of one of the table."""
        for name in answer.names if self.beside else []:
            if name in self.names:
                raise UsageError(f"the table has a column {name} already: give prefix= for the verdict columns", 2)


def _plain(field: pa.Field) -> pa.Field:
    """A field in the layout that the program reads: views become strings."""
    if field.type == pa.string_view():
        return field.with_type(pa.large_string())
    if field.type == pa.binary_view():
        return field.with_type(pa.large_binary())
    return field


def _answers(table: pa.Table, options: Options, names: Iterable[str]) -> pa.Table:
    """The answers on a table, or on a part of one whose columns have these names."""
    sent = _Sent(table.schema, options, names)
    with Pipe(sent.args, sent.schema, options.get("workers", 1)) as pipe:
        sent.refuse_equal_names(pipe.schema)  # before any work
        batches = table.to_batches(max_chunksize=_BATCH_ROWS)
        return pa.Table.from_batches([answer for _, answer in pipe.answers(batches, sent.batch)], pipe.schema)


def _evaluate_table(table: pa.Table, options: Options) -> pa.Table:
    answers = _answers(table, options, table.column_names)
    if not _beside(options):
        return answers
    for i, field in enumerate(answers.schema):
        table = table.append_column(field, answers.column(i))
    return table


def _evaluate_pandas(frame: Any, options: Options) -> Any:
    import pandas as pd

    alone = _beside(options) and _url(options) in frame.columns
    table = pa.Table.from_pandas(frame[[_url(options)]] if alone else frame, preserve_index=False)
    answers = _answers(table.replace_schema_metadata(None), options, frame.columns)
    # Arrow's types, for a bool of numpy has no null.
    made = answers.to_pandas(types_mapper=pd.ArrowDtype)
    made.index = frame.index
    return pd.concat([frame, made], axis=1) if _beside(options) else made


def _evaluate_polars(frame: Any, options: Options) -> Any:
    import polars as pl

    alone = _beside(options) and _url(options) in frame.columns
    table = (frame.select(_url(options)) if alone else frame).to_arrow(compat_level=pl.CompatLevel.oldest())
    made = pl.from_arrow(_answers(table, options, frame.columns))
    return frame.hstack(made) if _beside(options) else made


def _beside(options: Options) -> bool:
    """Whether all columns come out: then the answers are put beside them here."""
    return options.get("columns", "all") == "all"


def _url(options: Options) -> str:
    return options.get("url_column", "url")


def _is(data: Any, module: str, name: str) -> bool:
    """Whether data is of a class of a module, which is not imported for that."""
    return module in sys.modules and isinstance(data, getattr(sys.modules[module], name))


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
