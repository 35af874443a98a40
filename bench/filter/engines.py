"""Makes the tables that scripts/measure.sh filter measures, and filters them with other engines.

usage: engines.py make WRITER TEXT SHARE ORDER ROWS OUT
       engines.py filter ENGINE INPUT OUT CODEC THREADS
       engines.py check INPUT OUT
       engines.py version ENGINE

A table has the columns url, id, keep and, unless TEXT is 0, a text of about TEXT bytes.
keep is false for SHARE rows in a hundred, whose URLs lie in the folder /private. ORDER is
any, or host: rows are grouped by host, and all rows of some hosts are left out. WRITER is
pyarrow (zstd 1, row groups of 4,000 texts), polars (zstd 3) or duckdb (snappy), each with
its defaults otherwise.

filter writes the rows of INPUT whose column keep is true, with the codec at the engine's
default level. check exits with an error unless OUT has just these rows.
"""

import glob
import os
import random
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def words():
    """Returns the words of this project's pages and programs: English and code."""
    text = []
    for pattern in ("*.md", "cmd/**/*.md", "matcher/**/*.go", "batch/**/*.go", "io/**/*.go"):
        for name in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            with open(name, encoding="utf-8") as f:
                text.append(f.read())
    return " ".join(text).split(" ")


def document(rng, words, size):
    """Returns about size bytes: runs of one to eight words each."""
    begins = rng.choices(range(len(words) - 8), k=max(1, size // 36))
    lengths = rng.choices(range(1, 9), k=len(begins))
    return " ".join([" ".join(words[b : b + n]) for b, n in zip(begins, lengths)])


def make(writer, size, share, order, rows, out):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = random.Random("%d %g %s" % (size, share, order))
    hosts = min(1000, max(1, rows // 30))
    denied = {h for h in range(hosts) if rng.random() < share / 100}
    url, keep = [], []
    for i in range(rows):
        host = i * hosts // rows if order == "host" else rng.randrange(hosts)
        gone = host in denied if order == "host" else rng.random() < share / 100
        url.append("https://h%d.test/%s/%d-%d" % (host, "private" if gone else "news", i, rng.randrange(1 << 40)))
        keep.append(not gone)
    columns = {"url": url, "id": pa.array(range(rows), pa.int64()), "keep": keep}
    if size:
        source = words()
        columns["text"] = pa.chunked_array([pa.array([document(rng, source, size) for _ in range(n, min(n + 1000, rows))]) for n in range(0, rows, 1000)])
    made = pa.table(columns)
    if writer == "pyarrow":
        pq.write_table(made, out, compression="zstd", row_group_size=4000 if size else 1 << 20)
    elif writer == "polars":
        import polars

        polars.from_arrow(made).write_parquet(out, compression="zstd")
    else:
        import duckdb

        duckdb.execute("COPY made TO '%s' (FORMAT parquet)" % out)


def filter_polars(source, out, codec):
    import polars

    polars.scan_parquet(source).filter(polars.col("keep")).sink_parquet(out, compression=codec)


def filter_duckdb(source, out, codec):
    import duckdb

    duckdb.execute("SET threads = %s; SET enable_progress_bar = false" % os.environ["POLARS_MAX_THREADS"])
    duckdb.execute("COPY (SELECT * FROM read_parquet('%s') WHERE keep) TO '%s' (FORMAT parquet, COMPRESSION %s)" % (source, out, codec))


def filter_pyarrow(source, out, codec):
    import pyarrow
    import pyarrow.parquet as pq

    pyarrow.set_cpu_count(int(os.environ["POLARS_MAX_THREADS"]))
    file = pq.ParquetFile(source)
    with pq.ParquetWriter(out, file.schema_arrow, compression=codec) as writer:
        for i in range(file.num_row_groups):
            group = file.read_row_group(i)
            writer.write_table(group.filter(group["keep"]))


def check(source, out):
    import duckdb

    kept = "SELECT count(*), sum(hash(COLUMNS(* EXCLUDE keep))) FROM read_parquet('%s')"
    want = duckdb.sql((kept + " WHERE keep") % source).fetchall()
    columns = duckdb.sql("DESCRIBE FROM read_parquet('%s')" % out).fetchall()
    if "allowed" in [c[0] for c in columns]:
        kept = kept.replace("keep", "(keep, allowed)")
    got = duckdb.sql(kept % out).fetchall()
    if got != want:
        sys.exit("%s: its rows are not those of %s that stay: %s, %s" % (out, source, got, want))


def main(arguments):
    match arguments:
        case ["make", writer, size, share, order, rows, out]:
            make(writer, int(size), float(share), order, int(rows), out)
        case ["filter", engine, source, out, codec, threads]:
            os.environ["POLARS_MAX_THREADS"] = threads
            {"polars": filter_polars, "duckdb": filter_duckdb, "pyarrow": filter_pyarrow}[engine](source, out, codec)
        case ["check", source, out]:
            check(source, out)
        case ["version", engine]:
            print(__import__(engine).__version__)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
