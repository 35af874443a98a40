"""Verdicts for tables of several kinds."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Set
from typing import Any, TypeVar, Unpack, cast

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise ImportError("robotsbatch needs pyarrow for tables: pip install 'robotsbatch[arrow]'") from error

from robotsbatch._errors import UsageError
from robotsbatch._options import Command, Options, is_frame
from robotsbatch._pipe import Pipe

Data = TypeVar("Data")

BATCH_ROWS = 1 << 16

# The column with the numbers of the rows that come back, if not all do.
_ROW = "_robotsbatch_row"


def evaluate(data: Data, **options: Unpack[Options]) -> Data:
    """Return data with verdict columns, as robotsbatch.evaluate describes."""
    options.setdefault("workers", processors())
    kind: Any = data
    if _is(data, "pandas", "Series") or _is(data, "polars", "Series"):  # of URLs
        options.setdefault("url_column", str(kind.name or "url"))
        kind = data = kind.to_frame(options["url_column"])
    if isinstance(data, str):
        raise UsageError("evaluate takes tables, data frames, and lists of URLs: explain() is for one URL")
    if _is(data, "pyarrow.dataset", "Dataset") or _is(data, "pyarrow.dataset", "Scanner"):
        return cast(Data, reader(data, **options))
    if _is(data, "datasets", "Dataset"):  # Hugging Face's
        return cast(Data, _evaluate_table(kind.with_format("arrow")[:], options))
    if isinstance(data, pa.RecordBatchReader):
        return cast(Data, reader(data, **options))
    if isinstance(data, pa.RecordBatch):
        return cast(Data, _evaluate_batch(data, options))
    if isinstance(data, pa.Table):
        return cast(Data, _evaluate_table(data, options))
    if _is(data, "pandas", "DataFrame"):
        return cast(Data, _evaluate_pandas(kind, options))
    if _is(data, "polars", "DataFrame"):
        return cast(Data, _evaluate_polars(kind, options))
    if _is(data, "polars", "LazyFrame"):
        return cast(Data, _evaluate_lazy(kind, options))
    if is_frame(data):
        return cast(Data, _evaluate_table(pa.table(data), options))
    if isinstance(data, Iterable) and not isinstance(data, bytes | dict):
        urls: Any = sorted(data) if isinstance(data, Set) else data
        column = urls if isinstance(urls, pa.Array | pa.ChunkedArray) else pa.array(urls, pa.string(), from_pandas=True)  # NaN is null
        return cast(Data, _evaluate_table(pa.table({_url(options): column}), options))
    raise UsageError(f"evaluate takes tables, data frames and lists of URLs, not {type(data).__name__}: make it a table, such as pyarrow.table({{'url': …}})")


def reader(data: Any, **options: Unpack[Options]) -> pa.RecordBatchReader:
    """Return a stream of data with verdict columns, as robotsbatch.reader describes."""
    if _is(data, "polars", "LazyFrame"):
        raise UsageError("reader takes no polars.LazyFrame: give it to evaluate, or what its collect() returns to reader")
    if _is(data, "pyarrow.dataset", "Dataset"):
        data = data.scanner(batch_size=BATCH_ROWS)
    source = data.to_reader() if _is(data, "pyarrow.dataset", "Scanner") else data
    source = source if isinstance(source, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(source)
    sent = _Sent(source.schema, options, source.schema.names)
    pipe = Pipe(sent.command, sent.schema, options.get("workers", 1))
    try:
        sent.refuse_equal_names(pipe.schema)
    except UsageError:
        pipe.close()
        raise
    schema = sent.answered(pipe.schema)
    if sent.beside:
        schema = pa.schema([*source.schema, *schema], source.schema.metadata)

    def batches() -> Iterator[Any]:
        with pipe:
            for batch, answer in pipe.answers(source, sent.batch):
                rows, answer = sent.split(answer)
                kept = _kept(batch, rows) if sent.beside else []
                yield pa.RecordBatch.from_arrays([*kept, *answer.columns], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


class _Sent:
    """What part of a table goes through the pipe.

    That is the column of URLs if it is known, else all columns, for the program to choose
    from. If the result has all columns, only verdicts are sent back and joined to them here.
    If ``emit`` leaves rows out, the rows' numbers are also sent and returned."""

    def __init__(self, schema: pa.Schema, options: Options, names: Iterable[str]) -> None:
        self.names = set(names)
        self.beside = _beside(options)
        self.numbered = self.beside and _filtered(options)
        needed = _needed(schema.names, options)
        self.columns = [i for i, name in enumerate(schema.names) if needed is None or name in needed]
        self.schema = pa.schema([_plain(schema.field(i), _url(options)) for i in self.columns])
        if self.numbered:
            self.schema = self.schema.append(pa.field(_ROW, pa.int32()))
        if self.beside:
            options = {**options, "columns": "all" if self.numbered else "verdict"}
        self.command = Command("pipe", options)

    def batch(self, batch: Any) -> Any:
        """What is sent of a batch."""
        arrays = [batch.column(i) for i in self.columns]
        if self.numbered:
            arrays.append(pa.array(range(batch.num_rows), pa.int32()))
        arrays = [a if a.type == f.type else a.cast(f.type) for a, f in zip(arrays, self.schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def answered(self, schema: pa.Schema) -> pa.Schema:
        """The schema of the answers, without row numbers."""
        return pa.schema(list(schema)[len(self.schema) :], schema.metadata) if self.numbered else schema

    def split(self, answer: Any) -> tuple[Any, Any]:
        """The numbers of an answer's rows, or None if it has all, and its other columns."""
        if not self.numbered:
            return None, answer
        sent = len(self.schema)
        return answer.column(sent - 1), answer.select(range(sent, answer.num_columns))

    def refuse_equal_names(self, answer: pa.Schema) -> None:
        """Raise if a column of the answers has the same name as a column of the table."""
        for name in self.answered(answer).names if self.beside else []:
            if name in self.names:
                raise UsageError(f"the table has a column {name} already: give prefix= for the verdict columns")


def _kept(batch: Any, rows: Any) -> list[Any]:
    """The columns of a batch, with the rows of these numbers (None for all)."""
    return batch.columns if rows is None else [_taken(column, rows) for column in batch.columns]


def _taken(column: Any, rows: Any) -> Any:
    """The values of a column at these numbers, which rise."""
    try:
        return column.take(rows)
    except pa.ArrowNotImplementedError:  # of views and run ends, but runs of values can be joined
        parts: list[Any] = [column.slice(0, 0)]
        begin = end = 0
        for row in [*rows.to_pylist(), -1]:
            if row != end:
                parts.append(column.slice(begin, end - begin))
                begin = row
            end = row + 1
        return pa.concat_arrays(parts)


def _needed(names: Iterable[str], options: Options) -> list[str] | None:
    """The columns of URLs and of times, or None for all if one of these is not there."""
    needed = [_url(options), *filter(None, [time_column(options)])]
    return needed if set(needed) <= set(names) else None


def _plain(field: pa.Field, url: str) -> pa.Field:
    """A field in the layout that the program reads: views become strings, as does the
    column of URLs if it has nothing but null."""
    if field.type == pa.string_view() or field.type == pa.null() and field.name == url:
        return field.with_type(pa.large_string())
    if field.type == pa.binary_view():
        return field.with_type(pa.large_binary())
    return field


def _answers(table: pa.Table, options: Options, names: Iterable[str]) -> tuple[Any, pa.Table]:
    """The answers on a table or a part of one, and the numbers of their rows (None for all).
    ``names`` are the columns of the whole table."""
    sent = _Sent(table.schema, options, names)
    answers, numbers, before = [], [], 0
    with Pipe(sent.command, sent.schema, options.get("workers", 1)) as pipe:
        sent.refuse_equal_names(pipe.schema)  # before any work
        for batch, answer in pipe.answers(table.to_batches(max_chunksize=BATCH_ROWS), sent.batch):
            rows, answer = sent.split(answer)
            answers.append(answer)
            if rows is not None:
                numbers.append(pc.add(rows.cast(pa.int64()), before))
                before += batch.num_rows
        made = pa.Table.from_batches(answers, sent.answered(pipe.schema))
    return pa.chunked_array(numbers, pa.int64()) if sent.numbered else None, made


def _evaluate_table(table: pa.Table, options: Options) -> pa.Table:
    if _beside(options) and _filtered(options):
        batches = table.to_batches(max_chunksize=BATCH_ROWS)
        return reader(pa.RecordBatchReader.from_batches(table.schema, batches), **options).read_all()
    _, answers = _answers(table, options, table.column_names)
    if not _beside(options):
        return answers
    for i, field in enumerate(answers.schema):
        table = table.append_column(field, answers.column(i))
    return table


def _evaluate_batch(batch: pa.RecordBatch, options: Options) -> pa.RecordBatch:
    rows, answers = _answers(pa.Table.from_batches([batch]), options, batch.schema.names)
    made = [pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type) for column in answers.columns]
    if not _beside(options):
        return pa.RecordBatch.from_arrays(made, schema=answers.schema)
    kept = _kept(batch, rows if rows is None else rows.combine_chunks())
    return pa.RecordBatch.from_arrays([*kept, *made], schema=pa.schema([*batch.schema, *answers.schema], batch.schema.metadata))


def _evaluate_pandas(frame: Any, options: Options) -> Any:
    import pandas as pd

    if _filtered(options) and not _beside(options):  # the index identifies the rows
        url = [] if options.get("columns") == "verdict" else [_url(options)]
        if url and url[0] not in frame.columns:
            raise UsageError(f"the data frame has no column {url[0]}: name it with url_column=")
        whole = _evaluate_pandas(frame, {**options, "columns": "all"})
        return whole[[*url, *whole.columns[len(frame.columns) :]]]
    needed = _needed(frame.columns, options) if _beside(options) else None
    table = pa.Table.from_pandas(frame if needed is None else frame[needed], preserve_index=False)
    rows, answers = _answers(table.replace_schema_metadata(None), options, frame.columns)
    if rows is not None:
        frame = frame.iloc[rows.to_pylist()]
    # Arrow's types, because numpy's bool has no null.
    made = answers.to_pandas(types_mapper=pd.ArrowDtype)
    made.index = frame.index
    return pd.concat([frame, made], axis=1) if _beside(options) else made


def _evaluate_polars(frame: Any, options: Options) -> Any:
    import polars as pl

    needed = _needed(frame.columns, options) if _beside(options) else None
    table = (frame if needed is None else frame.select(needed)).to_arrow(compat_level=pl.CompatLevel.oldest())
    rows, answers = _answers(table, options, frame.columns)
    made = pl.from_arrow(answers)
    if rows is not None:
        frame = frame[pl.from_arrow(rows)]
    return frame.hstack(made) if _beside(options) else made


def _evaluate_lazy(frame: Any, options: Options) -> Any:
    """A lazy frame that is evaluated when it is collected. A frame without rows is evaluated
    at once, for the columns and to find wrong options."""
    made = _evaluate_polars(frame.collect_schema().to_frame(), options).schema
    return frame.map_batches(lambda whole: _evaluate_polars(whole, options), schema=made)


def _beside(options: Options) -> bool:
    """Whether the result has all columns, to which the answers are then joined here."""
    return options.get("columns") in (None, "all")


def _filtered(options: Options) -> bool:
    """Whether rows may be left out."""
    return options.get("emit") not in (None, "all")


def time_column(options: Options) -> str:
    """The column with each row's own time, if there is one."""
    as_of = options.get("as_of")
    return as_of.removeprefix("column:") if isinstance(as_of, str) and as_of.startswith("column:") else ""


def _url(options: Options) -> str:
    return options.get("url_column") or "url"


def _is(data: Any, module: str, name: str) -> bool:
    """Whether data is an instance of a module's class, without importing the module."""
    return module in sys.modules and isinstance(data, getattr(sys.modules[module], name))


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
