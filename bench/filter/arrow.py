"""Filters random Arrow files with robotsbatch and compares what is left in two readers.

    arrow.py ROBOTSBATCH [ROUNDS [SEED]]

The tables are those of check.py, with dictionaries, long texts and texts as views. pyarrow
or Polars writes them as files or streams, with random codecs and sizes of record batches.
Rows of the folder /private are left out. pyarrow validates what is written, and both
pyarrow and Polars must read the rows of the input; DuckDB reads them through pyarrow.
"""

import os
import random
import subprocess

import duckdb
import polars
import pyarrow as pa
import pyarrow.ipc as ipc
from check import normal, run, table


def wider(rng, t):
    """adds columns of types that Parquet does not have."""
    words = t["tag"]
    t = t.append_column("dictionary", words.dictionary_encode().unify_dictionaries())
    t = t.append_column("large", words.cast(pa.large_string()))
    t = t.append_column("fixed_list", pa.array(([i, None] for i in range(t.num_rows)), pa.list_(pa.int16(), 2)))
    t = t.append_column("nothing", pa.nulls(t.num_rows))
    if rng.random() < 0.3:  # decoded and encoded
        t = t.append_column("runs", pa.array([i // 7 for i in range(t.num_rows)], pa.int32()).dictionary_encode())
    if rng.random() < 0.5:
        page = " ".join(str(rng.random()) for _ in range(800))
        t = t.append_column("page", pa.array(page[: rng.randint(0, len(page))] + str(i) for i in range(t.num_rows)))
    return t


def write_pyarrow(rng, t, path):
    codec = rng.choice(["zstd", "lz4", None])
    size = rng.choice([10, 300, 2000, None])
    stream = rng.random() < 0.5
    make = ipc.new_stream if stream else ipc.new_file
    if rng.random() < 0.3:
        t = t.set_column(t.schema.get_field_index("text"), "text", t["text"].cast(pa.string_view()))
    with make(path, t.schema, options=ipc.IpcWriteOptions(compression=codec)) as w:
        for b in t.combine_chunks().to_batches(max_chunksize=size):
            w.write_batch(b)
    return codec, size, "stream" if stream else "file"


def write_polars(rng, t, path):
    codec, stream = rng.choice(["zstd", "lz4", "uncompressed"]), rng.random() < 0.5
    frame = polars.from_arrow(t.drop_columns(["map", "fixed"]))
    if stream:
        frame.write_ipc_stream(path, compression=codec)
    else:
        frame.write_ipc(path, compression=codec, record_batch_size=rng.choice([100, 1000, None]))
    return codec, "stream" if stream else "file"


def read(path):
    with pa.OSFile(path) as f:
        start = f.read(6)
        f.seek(0)
        return (ipc.open_file if start == b"ARROW1" else ipc.open_stream)(f).read_all()


def check(rng, robotsbatch, rules, folder, number):
    t = wider(rng, table(rng, rng.choice([1, 50, 1000, 5000])))
    source = os.path.join(folder, "in.arrow")
    writer = rng.choice([write_pyarrow, write_polars])
    options = writer(rng, t, source)
    what = "table %d: %d rows by %s %s" % (number, t.num_rows, writer.__name__, options)
    out = os.path.join(folder, "out.arrows" if "stream" in options else "out.arrow")
    t = read(source)
    kept = [row for row in t.to_pylist() if row["keep"]]  # pyarrow does not filter views
    command = [robotsbatch, "-in", source, "-rules", rules, "-agent", "x", "-emit", "allowed", "-out", out, "-quiet"]
    if subprocess.run(command + ["-batch-rows", str(rng.choice([10, 1000, 65536]))]).returncode:
        raise SystemExit(what)
    got = read(out)
    got.validate(full=True)
    have = got.select(t.schema.names)
    if have.schema != t.schema:
        raise SystemExit("%s: the schema is\n%s" % (what, got.schema))
    if normal(have.to_pylist()) != normal(kept):
        raise SystemExit("%s: rows differ for pyarrow" % what)
    frame = (polars.read_ipc_stream if out.endswith("s") else polars.read_ipc)(out)
    for name in ("url", "k", "small", "tag", "text", "dictionary", "large"):
        if frame[name].to_list() != [row[name] for row in kept]:
            raise SystemExit("%s: column %s differs for Polars" % (what, name))
    if kept:
        plain = have.select(["k", "tag"])
        plain = plain.append_column("text", have["text"].cast(pa.string()))
        if duckdb.sql("select k, tag::varchar, text from plain").fetchall() != [(row["k"], row["tag"], row["text"]) for row in kept]:
            raise SystemExit("%s: rows differ for DuckDB" % what)


run(check, "no row differs")
