"""Compares Arrow files and streams between robotsbatch, pyarrow, polars and duckdb.

usage: arrow.py ROBOTSBATCH SAMPLE SCRATCH
"""

import duckdb
import polars
import pyarrow
import pyarrow.feather
import pyarrow.ipc

from verdicts import counts, frontier, no_codec, run, same, same_columns, scratch, url_types, wide


def read(path):
    opened = pyarrow.ipc.open_file(path) if path.suffix == ".arrow" else pyarrow.ipc.open_stream(path)
    return opened.read_all()


def write(table, path, codec, rows=700):
    options = pyarrow.ipc.IpcWriteOptions(compression=None if codec == "none" else codec)
    new = pyarrow.ipc.new_file if path.suffix == ".arrow" else pyarrow.ipc.new_stream
    with new(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)


endings = (".arrow", ".arrows")
for codec in ("none", "lz4", "zstd"):
    for ending in endings:
        out = scratch / f"{codec}{ending}"
        want = run(frontier, out, "-compression", codec, "-batch-rows", "300", "-explain")
        mapped = read(out)
        same(f"pyarrow reads {out.name}", counts(mapped["allowed"].to_pylist()), want)
        read_polars = polars.read_ipc if ending == ".arrow" else polars.read_ipc_stream
        same(f"polars reads {out.name}", counts(read_polars(out)["allowed"].to_list()), want)
        # duckdb itself has no reader of Arrow's files, only an extension from
        # a server of its own: it is given them as pyarrow maps them.
        rows = duckdb.sql("select allowed from mapped").fetchall()
        same(f"duckdb reads {out.name} by pyarrow", counts(row[0] for row in rows), want)
no_codec("every client", "snappy", "Arrow has lz4 and zstd only")

urls = read(frontier)
for codec in ("none", "lz4", "zstd"):
    for ending in endings:
        path = scratch / f"pyarrow-{codec}{ending}"
        write(wide(urls), path, codec)
        out = scratch / f"out{ending}"
        same(f"robotsbatch reads {path.name}", run(path, out, "-batch-rows", "256"), want)
        same_columns(path.name, read(out), wide(urls))

types = {
    "large_string": lambda url: url.cast(pyarrow.large_string()),
    "string_view": lambda url: url.cast(pyarrow.string_view()),
    "binary": lambda url: url.cast(pyarrow.binary()),
    "dictionary": lambda url: url.dictionary_encode(),
}
for name, table in url_types(urls, types):
    for ending in endings:
        path = scratch / f"pyarrow-{name}{ending}"
        write(table, path, "zstd")
        out = scratch / f"out{ending}"
        same(f"robotsbatch reads {path.name}", run(path, out, "-batch-rows", "256"), want)
        same_columns(path.name, read(out), table)

path = scratch / "feather.arrow"
pyarrow.feather.write_feather(urls, path, compression="lz4")
same("robotsbatch reads Feather of pyarrow", run(path, scratch / "out.arrow"), want)

# polars writes strings as views unless it is asked not to.
for level in ("newest", "oldest"):
    for codec in ("uncompressed", "lz4", "zstd"):
        options = {"compression": codec, "compat_level": getattr(polars.CompatLevel, level)()}
        path = scratch / f"polars-{level}-{codec}"
        polars.from_arrow(urls).write_ipc(path.with_suffix(".arrow"), **options)
        polars.from_arrow(urls).write_ipc_stream(path.with_suffix(".arrows"), **options)
        for ending in endings:
            same(f"robotsbatch reads {path.name}{ending}", run(path.with_suffix(ending), scratch / "out.arrow"), want)

# duckdb hands batches of its own to pyarrow.
path = scratch / "duckdb.arrows"
reader = duckdb.sql("select * from urls").to_arrow_reader(500)
with pyarrow.ipc.new_stream(path, reader.schema) as writer:
    for batch in reader:
        writer.write_batch(batch)
same(f"robotsbatch reads {path.name}", run(path, scratch / "out.arrow"), want)
