"""Copies a table with another engine, and appends the column allowed, which is true.

usage: engines.py copy ENGINE INPUT OUTPUT THREADS
       engines.py check INPUT OUTPUT
       engines.py cut TABLE OUTPUT ROWS
       engines.py version ENGINE

check exits with an error unless the output has the input's rows and columns, and a
column of booleans after them. They may be folders of Parquet for Polars and check. cut writes a table in row groups or record batches of ROWS; a folder gets a file for each.
"""

import glob
import os
import sys


def copy_polars(source, out, threads):
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    import polars

    allowed = polars.lit(True).alias("allowed")
    if os.path.isdir(source):
        copy = lambda name: polars.scan_parquet(f"{source}/{name}").with_columns(allowed).sink_parquet(f"{out}/{name}", compression="zstd", lazy=True)
        polars.collect_all([copy(name) for name in os.listdir(source)])
    elif source.endswith(".parquet"):
        polars.scan_parquet(source).with_columns(allowed).sink_parquet(out, compression="zstd")
    else:
        polars.scan_ipc(source).with_columns(allowed).sink_ipc(out, compression="zstd")


def copy_duckdb(source, out, threads):
    import duckdb

    duckdb.execute(f"SET threads = {threads}")
    duckdb.execute("SET enable_progress_bar = false")
    duckdb.execute(f"COPY (SELECT *, true AS allowed FROM read_parquet('{source}')) TO '{out}' (FORMAT parquet, COMPRESSION zstd)")


def copy_pyarrow(source, out, threads):
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet

    pyarrow.set_cpu_count(threads)

    def allowed(n):
        return pyarrow.repeat(True, n)

    if source.endswith(".parquet"):
        file = pyarrow.parquet.ParquetFile(source)
        schema = file.schema_arrow.append(pyarrow.field("allowed", pyarrow.bool_()))
        with pyarrow.parquet.ParquetWriter(out, schema, compression="zstd") as writer:
            for i in range(file.num_row_groups):
                group = file.read_row_group(i)
                writer.write_table(group.append_column(schema.field("allowed"), allowed(group.num_rows)))
        return
    with pyarrow.ipc.open_file(source) as file:
        schema = file.schema.append(pyarrow.field("allowed", pyarrow.bool_()))
        with pyarrow.ipc.new_file(out, schema, options=pyarrow.ipc.IpcWriteOptions(compression="zstd")) as writer:
            for i in range(file.num_record_batches):
                batch = file.get_batch(i)
                writer.write_batch(pyarrow.record_batch([*batch.columns, allowed(batch.num_rows)], schema=schema))


def batches(path):
    """Yields the record batches of a table."""
    import pyarrow.ipc
    import pyarrow.parquet

    if os.path.isdir(path):
        for file in sorted(glob.glob(f"{path}/*.parquet")):
            yield from batches(file)
        return
    if path.endswith(".parquet"):
        yield from pyarrow.parquet.ParquetFile(path).iter_batches(batch_size=1 << 15)
        return
    with pyarrow.ipc.open_file(path) as file:
        for i in range(file.num_record_batches):
            yield file.get_batch(i)


def aligned(left, right):
    """Yields slices of both tables that have the same rows."""
    a = b = None
    while True:
        a, b = (next(rest, None) if batch is None or batch.num_rows == 0 else batch for batch, rest in ((a, left), (b, right)))
        if a is None and b is None:
            return
        if a is None or b is None:
            sys.exit("the output has another number of rows than the input")
        n = min(a.num_rows, b.num_rows)
        yield a.slice(0, n), b.slice(0, n)
        a, b = a.slice(n), b.slice(n)


def plain(column, kind):
    """Returns a column's values in a type that engines agree on."""
    import pyarrow

    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    if pyarrow.types.is_dictionary(column.type):
        column = pyarrow.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(kind)).dictionary_decode()
    return column if column.type.equals(kind) else column.cast(kind)


def check(source, out):
    names = None
    for want, got in aligned(batches(source), batches(out)):
        if names is None:
            names = want.schema.names
            if got.schema.names != [*names, "allowed"] or str(got.schema.field("allowed").type) != "bool":
                sys.exit(f"the output has the columns {', '.join(got.schema.names)}")
        for name in names:
            expected = want[name]
            if not plain(got[name], expected.type).equals(plain(expected, expected.type)):
                sys.exit(f"the output has other values than the input in the column {name}")
    if names is None:
        sys.exit("the input has no rows")


def cut(source, out, rows):
    import pyarrow.dataset
    import pyarrow.parquet

    table = pyarrow.ipc.open_file(pyarrow.memory_map(source)).read_all().combine_chunks()
    if out.endswith(".arrow"):
        with pyarrow.ipc.new_file(out, table.schema, options=pyarrow.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table, rows)
    elif out.endswith(".parquet"):
        pyarrow.parquet.write_table(table, out, row_group_size=rows, compression="zstd")
    else:
        options = pyarrow.dataset.ParquetFileFormat().make_write_options(compression="zstd")
        pyarrow.dataset.write_dataset(table, out, format="parquet", file_options=options, max_rows_per_file=rows, max_rows_per_group=rows)


def main(arguments):
    match arguments:
        case ["copy", engine, source, out, threads]:
            {"polars": copy_polars, "duckdb": copy_duckdb, "pyarrow": copy_pyarrow}[engine](source, out, int(threads))
        case ["check", source, out]:
            check(source, out)
        case ["cut", source, out, rows]:
            cut(source, out, int(rows))
        case ["version", engine]:
            print(__import__(engine).__version__)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
