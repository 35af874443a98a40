"""Filters random tables with robotsbatch and holds what is left against three readers.

    check.py ROBOTSBATCH [ROUNDS [SEED]]

A table has lists, structs, maps, nulls, texts and numbers. pyarrow, DuckDB or Polars
writes it with random encodings, codecs, sizes of pages and row groups, versions of pages,
page indexes and bloom filters. Rows of the folder /private are left out. The rows
that are left must be those of the input, and predicates, which readers answer by statistics,
page indexes and bloom filters, must find as many rows as in Python.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

import duckdb
import polars
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

HOSTS = ["a.test", "b.test", "c.test", "d.test"]


def some(rng, value, nulls):
    return None if rng.random() < nulls else value


def table(rng, rows):
    share = rng.choice([0.001, 0.01, 0.04, 0.3, 0.5, 0.9])
    grouped = rng.random() < 0.4
    denied = [rng.random() < share for _ in range(rows)]
    if grouped:
        denied.sort()
    words = ["w%d" % i for i in range(rng.choice([3, 50, 5000]))]
    nulls = rng.choice([0, 0, 0.01, 0.3, 1])
    size = rng.choice([1, 20, 400])

    def text():
        return " ".join(rng.choices(words, k=rng.randint(0, size)))

    columns = {
        "url": pa.array("https://%s/%s/%d" % (rng.choice(HOSTS), "private" if d else "news", i) for i, d in enumerate(denied)),
        "keep": pa.array(not d for d in denied),
        "k": pa.array(range(rows), pa.int64()),
        "small": pa.array((some(rng, rng.randint(-9, 9), nulls) for _ in range(rows)), pa.int32()),
        "x": pa.array((some(rng, rng.random(), nulls) for _ in range(rows)), pa.float64()),
        "flag": pa.array((some(rng, rng.random() < 0.5, nulls) for _ in range(rows)), pa.bool_()),
        "tag": pa.array((some(rng, rng.choice(words), nulls) for _ in range(rows)), pa.string()),
        "text": pa.array((some(rng, text(), nulls) for _ in range(rows)), pa.string()),
        "fixed": pa.array((some(rng, b"%06d" % rng.randint(0, 99999), nulls) for _ in range(rows)), pa.binary(6)),
        "list": pa.array(
            (some(rng, [some(rng, rng.randint(0, 99), nulls) for _ in range(rng.choice([0, 1, 3]))], nulls) for _ in range(rows)),
            pa.list_(pa.int64()),
        ),
        "nested": pa.array(
            (
                some(rng, {"a": some(rng, text(), nulls), "b": [[rng.choice(words)] * rng.randint(0, 2) for _ in range(rng.randint(0, 2))]}, nulls)
                for _ in range(rows)
            ),
            pa.struct([("a", pa.string()), ("b", pa.list_(pa.list_(pa.string())))]),
        ),
        "map": pa.array(
            (some(rng, [(w, rng.randint(0, 9)) for w in set(rng.choices(words, k=2))], nulls) for _ in range(rows)),
            pa.map_(pa.string(), pa.int32()),
        ),
    }
    return pa.table(columns)


def write_pyarrow(rng, t, path):
    plain = rng.random() < 0.5
    options = dict(
        compression=rng.choice(["zstd", "zstd", "snappy", "gzip", "brotli", "lz4", "none"]),
        row_group_size=rng.choice([100, 1000, 1 << 20]),
        data_page_size=rng.choice([200, 5000, 1 << 20]),
        write_batch_size=rng.choice([7, 100, 1024]),
        data_page_version=rng.choice(["1.0", "2.0"]),
        write_page_index=rng.random() < 0.5,
        write_page_checksum=rng.random() < 0.5,
        use_dictionary=not plain,
    )
    if plain and rng.random() < 0.7:
        options["column_encoding"] = {
            "k": rng.choice(["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]),
            "small": rng.choice(["PLAIN", "DELTA_BINARY_PACKED"]),
            "x": rng.choice(["PLAIN", "BYTE_STREAM_SPLIT"]),
            "flag": rng.choice(["PLAIN", "RLE"]),
            "tag": rng.choice(["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"]),
            "text": rng.choice(["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]),
            "fixed": rng.choice(["PLAIN", "DELTA_BYTE_ARRAY"]),  # more is not for DuckDB
        }
    pq.write_table(t, path, **options)
    return options


def write_duckdb(rng, t, path):
    options = "compression %s, row_group_size %d, parquet_version %s" % (
        rng.choice(["zstd", "snappy", "gzip", "brotli", "lz4_raw", "uncompressed"]),
        rng.choice([2048, 20480, 122880]),
        rng.choice(["v1", "v2"]),
    )
    duckdb.sql("copy t to '%s' (format parquet, %s)" % (path, options))
    return options


def write_polars(rng, t, path):
    options = dict(
        compression=rng.choice(["zstd", "snappy", "gzip", "brotli", "lz4", "uncompressed"]),
        row_group_size=rng.choice([100, 1000, None]),
        data_page_size=rng.choice([500, 1 << 20]),
        statistics="full",
    )
    polars.from_arrow(t.drop_columns(["map", "fixed"])).write_parquet(path, **options)
    return options


def rows_of(t):
    return t.to_pylist()


def normal(rows):
    return json.dumps(rows, default=str, sort_keys=True)


def check(rng, robotsbatch, rules, folder, number):
    t = table(rng, rng.choice([1, 50, 1000, 5000]))
    source, out = os.path.join(folder, "in.parquet"), os.path.join(folder, "out.parquet")
    writer = rng.choice([write_pyarrow, write_pyarrow, write_duckdb, write_polars])
    options = writer(rng, t, source)
    what = "table %d: %d rows by %s %s" % (number, t.num_rows, writer.__name__, options)
    t = pq.read_table(source)
    kept = t.filter(t["keep"])
    command = [robotsbatch, "-in", source, "-rules", rules, "-agent", "x", "-emit", "allowed", "-out", out, "-quiet"]
    command += ["-batch-rows", str(rng.choice([10, 1000, 65536]))]
    if subprocess.run(command).returncode:
        raise SystemExit(what)
    got = pq.read_table(out)
    names = kept.schema.names
    if not got.select(names).combine_chunks().equals(kept.combine_chunks()):
        want, have = rows_of(kept), rows_of(got.select(names))
        if normal(want) != normal(have):  # floats that are no numbers are not equal to themselves
            raise SystemExit("%s: rows differ for pyarrow" % what)
    if got.num_rows == 0:
        return what
    for name in ("tag", "text"):
        try:  # as a dictionary, whose indices are taken as they are
            coded = pq.read_table(out, columns=[name], read_dictionary=[name])[name]
        except OSError as e:
            if "Not yet implemented" in str(e):
                continue  # of deltas
            raise
        if coded.cast(pa.string()).to_pylist() != kept[name].to_pylist():
            raise SystemExit("%s: column %s differs for pyarrow as a dictionary" % (what, name))
    duck = duckdb.sql("select * exclude (allowed) from read_parquet('%s')" % out).arrow()
    duck = duck.read_all() if hasattr(duck, "read_all") else duck
    for name in ("url", "k", "small", "tag", "text"):
        if duck[name].to_pylist() != kept[name].to_pylist():
            raise SystemExit("%s: column %s differs for DuckDB" % (what, name))
        if polars.read_parquet(out, columns=[name])[name].to_list() != kept[name].to_pylist():
            raise SystemExit("%s: column %s differs for Polars" % (what, name))
    predicates(rng, what, t, kept, out)
    subprocess.run([robotsbatch, "verify", "-quiet", out], check=False, capture_output=True)
    return what


def predicates(rng, what, t, kept, out):
    for name in ("k", "small", "tag", "url"):
        values = [v for v in t[name].to_pylist() if v is not None]  # also of rows that are gone
        if not values:
            continue
        for value in rng.sample(values, min(3, len(values))):
            for sign, polar, arrow in (("=", "__eq__", pc.equal), (">", "__gt__", pc.greater), ("<=", "__le__", pc.less_equal)):
                want = pc.sum(arrow(kept[name], pa.scalar(value, kept[name].type))).as_py() or 0
                counts = {
                    "DuckDB": duckdb.execute("select count(*) from read_parquet('%s') where \"%s\" %s ?" % (out, name, sign), [value]).fetchall()[0][0],
                    "Polars": polars.scan_parquet(out).filter(getattr(polars.col(name), polar)(value)).select(polars.len()).collect().item(),
                    "pyarrow": ds.dataset(out).count_rows(filter=getattr(ds.field(name), polar)(value)),
                }
                for reader, count in counts.items():
                    if count != want:
                        raise SystemExit("%s: %s %s %r: %d rows for %s, want %d" % (what, name, sign, value, count, reader, want))
        nulls = {
            "DuckDB": duckdb.sql("select count(*) from read_parquet('%s') where \"%s\" is null" % (out, name)).fetchall()[0][0],
            "Polars": polars.scan_parquet(out).filter(polars.col(name).is_null()).select(polars.len()).collect().item(),
            "pyarrow": ds.dataset(out).count_rows(filter=ds.field(name).is_null()),
        }
        for reader, count in nulls.items():
            if count != kept[name].null_count:
                raise SystemExit("%s: %s is null: %d rows for %s, want %d" % (what, name, count, reader, kept[name].null_count))


def run(check, agreed):
    """calls check with each of the random tables that the arguments ask for."""
    robotsbatch, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "rules")
        os.mkdir(rules)
        for host in HOSTS:
            with open(os.path.join(rules, host + ".txt"), "w") as f:
                f.write("User-agent: *\nDisallow: /private\n")
        for number in range(rounds):
            check(random.Random("%d-%d" % (seed, number)), robotsbatch, rules, folder, number)
    print("%d tables: %s" % (rounds, agreed))


if __name__ == "__main__":
    run(check, "no row and no predicate differs")
