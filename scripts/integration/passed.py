"""Checks that columns that pass through are the same to pyarrow, polars and duckdb
before and after: values, types, nullability, metadata, field ids, statistics, page
indexes and bloom filters, on tables that each of them wrote. It leaves the names of
the tables in SCRATCH/passed.json for passed.js.

usage: passed.py ROBOTSBATCH SAMPLE SCRATCH
"""

import json

import duckdb
import polars
import pyarrow
import pyarrow.compute
import pyarrow.ipc
import pyarrow.parquet

from verdicts import frontier, run, same, scratch, wide

added, key = "allowed", b"robotsbatch.columns"
urls = pyarrow.ipc.open_file(frontier).read_all()
pairs = []


def check(what, ok):
    same(what, ok, True)


def pass_through(path):
    """Runs the job, and returns the output, which has all that passed."""
    out = scratch / f"passed-{path.name}"
    run(path, out, "-batch-rows", "300")
    pairs.append([path.name, out.name])
    return out


def source():
    """Returns a table with a column of each kind, not null ones and field ids among them."""
    table = wide(urls)
    n = table.num_rows
    whole = pyarrow.field("whole", pyarrow.int32(), nullable=False, metadata={"unit": "pages"})
    inner = pyarrow.struct([pyarrow.field("x", pyarrow.int64(), nullable=False), pyarrow.field("y", pyarrow.string())])
    table = table.append_column(whole, pyarrow.array(range(n), pyarrow.int32()))
    table = table.append_column(pyarrow.field("inner", inner, nullable=False), pyarrow.array([{"x": i, "y": None} for i in range(n)], inner))
    table = table.append_column("day", pyarrow.array(range(n), pyarrow.date32()))
    table = table.append_column("price", pyarrow.compute.cast(pyarrow.array(range(n), pyarrow.int32()), pyarrow.decimal128(20, 2)))
    return table.replace_schema_metadata({"made by": "passed.py", "empty": ""})


def numbered(table):
    """Returns the table with a Parquet field id on each column."""
    fields = [f.with_metadata({**(f.metadata or {}), b"PARQUET:field_id": str(100 + i).encode()}) for i, f in enumerate(table.schema)]
    return table.cast(pyarrow.schema(fields, table.schema.metadata))


# What pyarrow shows of Parquet.

def pyarrow_footer(path):
    """Returns what pyarrow shows of a footer, without our column and what moves."""
    file = pyarrow.parquet.ParquetFile(path)
    meta, schema = file.metadata, file.schema
    columns = [i for i in range(meta.num_columns) if schema.column(i).path != added]
    shown = {
        "created_by": meta.created_by, "version": meta.format_version, "rows": meta.num_rows,
        "metadata": {k: v for k, v in (meta.metadata or {}).items() if k not in (key, b"ARROW:schema")},
        "columns": [str(schema.column(i)) for i in columns],
        "fields": [str(f) + str(f.metadata) for f in file.schema_arrow if f.name != added],
        "groups": [],
    }
    for g in range(meta.num_row_groups):
        group = meta.row_group(g)
        shown["groups"].append((group.num_rows, group.sorting_columns, [pyarrow_chunk(group.column(i)) for i in columns]))
    return shown


def pyarrow_chunk(chunk):
    moves = ("file_offset", "dictionary_page_offset", "data_page_offset", "index_page_offset", "bloom_filter_offset")
    shown = {k: v for k, v in chunk.to_dict().items() if k not in moves}
    return shown | {"column index": chunk.has_column_index, "offset index": chunk.has_offset_index}


def check_pyarrow(path, out):
    name = f"pyarrow, {path.name}"
    before, after = pyarrow_footer(path), pyarrow_footer(out)
    for part in before:
        check(f"{name}: {part}", before[part] == after[part])
    want = pyarrow.parquet.read_table(path, page_checksum_verification=True)
    got = pyarrow.parquet.read_table(out, page_checksum_verification=True)
    got.validate(full=True)
    metadata = {k: v for k, v in (got.schema.metadata or {}).items() if k != key} or None
    got = got.drop([added]).replace_schema_metadata(metadata)
    check(f"{name}: schema", got.schema.equals(want.schema, check_metadata=True))
    check(f"{name}: values", got.equals(want))


def check_polars(path, out, read, scan=None):
    want, got = read(path), read(out)
    check(f"polars, {path.name}: types", list(got.schema.items())[:-1] == list(want.schema.items()))
    check(f"polars, {path.name}: values", got.drop(added).equals(want))
    if scan:  # by statistics and page indexes
        row = want["url"][want.height // 2]
        found = [scan(p).filter(polars.col("url") == row).select(polars.exclude(added)).collect() for p in (path, out)]
        check(f"polars, {path.name}: rows of a URL", found[0].height > 0 and found[0].equals(found[1]))


def check_duckdb(path, out):
    def ask(query, file):
        return duckdb.sql(query.format(f"'{file}'")).fetchall()

    for what, query in {
        "schema": "select * exclude (file_name, num_children, column_id), if(name = 'schema' or num_children is null, null, num_children) "
                  "from parquet_schema({}) where name <> 'allowed' and coalesce(column_id, 1) > 0",
        "statistics": "select * exclude (file_name, row_group_num_columns, row_group_bytes, row_group_compressed_bytes, file_offset, index_page_offset, "
                      "dictionary_page_offset, data_page_offset, bloom_filter_offset, key_value_metadata) "
                      "from parquet_metadata({}) where path_in_schema <> 'allowed'",
        "bloom filters": "select row_group_id, column_id, bloom_filter_offset is null, bloom_filter_length from parquet_metadata({}) where path_in_schema <> 'allowed'",
        "metadata": "select key, value from parquet_kv_metadata({}) where key not in ('ARROW:schema', 'robotsbatch.columns')",
        "created_by": "select created_by, num_rows, num_row_groups, format_version from parquet_file_metadata({})",
    }.items():
        before, after = ask(query, path), ask(query, out)
        check(f"duckdb, {path.name}: {what}", before == after)
    before = duckdb.sql(f"select * from read_parquet('{path}')").to_arrow_table()
    after = duckdb.sql(f"select * exclude allowed from read_parquet('{out}')").to_arrow_table()
    check(f"duckdb, {path.name}: types and values", before.num_rows > 0 and before.equals(after))
    for url in (before["url"][7].as_py(), "http://not.example/there"):
        probes = [duckdb.sql(f"select * exclude file_name from parquet_bloom_probe('{file}', 'url', $url)", params={"url": url}).fetchall() for file in (path, out)]
        check(f"duckdb, {path.name}: bloom filter of {url}", probes[0] == probes[1])


def parquet_tables():
    """Writes tables with each program, and yields their names."""
    table = numbered(source())
    for version, compression in (("1.0", "snappy"), ("2.0", "zstd"), ("1.0", "gzip")):
        path = scratch / f"pyarrow-{version}-{compression}.parquet"
        pyarrow.parquet.write_table(
            table, path, compression=compression, data_page_version=version, row_group_size=700, data_page_size=4096,
            write_page_index=True, write_page_checksum=True, bloom_filter_options={"url": {"ndv": 2000, "fpp": 0.05}},
            sorting_columns=[pyarrow.parquet.SortingColumn(table.schema.get_field_index("whole"))])
        yield path
    path = scratch / "pyarrow-int96.parquet"
    pyarrow.parquet.write_table(table, path, use_deprecated_int96_timestamps=True, store_schema=False, write_statistics=False)
    yield path
    for compression in ("zstd", "lz4"):
        path = scratch / f"polars-{compression}.parquet"
        polars.from_arrow(wide(urls)).write_parquet(path, compression=compression, row_group_size=700, metadata={"made by": "polars"})
        yield path
    flat = source().drop(["map"])  # duckdb's fields of maps have no ids
    for version in ("V1", "V2"):
        path = scratch / f"duckdb-{version}.parquet"
        ids = "" if version == "V2" else ", FIELD_IDS 'auto'"
        duckdb.register("flat", flat)
        duckdb.sql(f"copy flat to '{path}' (format parquet, compression zstd, row_group_size 2048, parquet_version {version}, kv_metadata {{made: 'by duckdb'}}{ids})")
        yield path


for path in parquet_tables():
    out = pass_through(path)
    check_pyarrow(path, out)
    check_polars(path, out, polars.read_parquet, polars.scan_parquet)
    check_duckdb(path, out)


# Arrow: files and streams of pyarrow, of polars, whose strings are views, and of duckdb.

def open_arrow(path):
    return pyarrow.ipc.open_file(path) if path.suffix == ".arrow" else pyarrow.ipc.open_stream(path)


def check_arrow(path, out):
    before, after = open_arrow(path), open_arrow(out)
    fields = [f for f in after.schema if f.name != added]
    want = before.schema
    check(f"pyarrow, {path.name}: schema", pyarrow.schema(fields, after.schema.metadata).equals(want, check_metadata=True))
    before, after = before.read_all(), after.read_all()
    after.validate(full=True)
    check(f"pyarrow, {path.name}: batches", [b.num_rows for b in before.to_batches()] == [b.num_rows for b in after.to_batches()])
    check(f"pyarrow, {path.name}: values", after.drop([added]).equals(before))
    check_polars(path, out, polars.read_ipc if path.suffix == ".arrow" else polars.read_ipc_stream)


def arrow_tables():
    table = source()
    for ending, new in ((".arrow", pyarrow.ipc.new_file), (".arrows", pyarrow.ipc.new_stream)):
        for codec in (None, "lz4", "zstd"):
            path = scratch / f"before-{codec}{ending}"
            with new(path, table.schema, options=pyarrow.ipc.IpcWriteOptions(compression=codec)) as writer:
                writer.write_table(table, max_chunksize=700)
            yield path
    for codec in ("uncompressed", "lz4", "zstd"):
        path = scratch / f"before-polars-{codec}"
        frame = polars.from_arrow(wide(urls))
        frame.write_ipc(path.with_suffix(".arrow"), compression=codec)
        frame.write_ipc_stream(path.with_suffix(".arrows"), compression=codec)
        yield path.with_suffix(".arrow")
        yield path.with_suffix(".arrows")
    path = scratch / "before-duckdb.arrows"
    reader = duckdb.sql("select * from urls").to_arrow_reader(500)
    with pyarrow.ipc.new_stream(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    yield path


for path in arrow_tables():
    check_arrow(path, pass_through(path))
(scratch / "passed.json").write_text(json.dumps(pairs))
