"""Checks that -emit leaves nothing of rows that are left out.

usage: gone.py ROBOTSBATCH SAMPLE SCRATCH

pyarrow, Polars and DuckDB write tables without compression in which every value of a row
that is denied has a mark. The output must not have these bytes anywhere, and all three must
read it and find its rows by their values.
"""

import os
import random
import subprocess
import sys

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

MARKS = [b"GONE", b"DNOG", (0x474E4F44).to_bytes(4, "little")]
ROWS = 2000
DENIED = {
    "every second": lambda i, rng: i % 2 == 1,
    "some": lambda i, rng: rng.random() < 0.04,
    "a half": lambda i, rng: i > 500,
    "a run": lambda i, rng: 300 < i < 320,
    "one": lambda i, rng: i == 7,
}


def table(denied, distinct):
    rng = random.Random(1)
    gone = [denied(i, rng) for i in range(ROWS)]

    def text(i, kind):
        return "%s%s%06d" % ("GONE" if gone[i] else "kept", kind, i % distinct)

    return (
        pa.table(
            {
                "url": ["http://a.test/%s%s" % ("d/" if gone[i] else "", text(i, "u")) for i in range(ROWS)],
                "text": [text(i, "t") * rng.randrange(1, 30) for i in range(ROWS)],
                "optional": [None if i % 3 == 0 else text(i, "o") for i in range(ROWS)],
                "list": [[text(i, "l%d" % k) for k in range(i % 4)] for i in range(ROWS)],
                "number": pa.array([(0x474F4E44 << 32 if gone[i] else 0) + i % distinct for i in range(ROWS)], pa.int64()),
                "i32": pa.array([0x474E4F44 if gone[i] else i % 97 for i in range(ROWS)], pa.int32()),
                "bytes": pa.array([text(i, "b").encode() for i in range(ROWS)], pa.binary()),
                "fixed": pa.array([text(i, "f").encode()[:8] for i in range(ROWS)], pa.binary(8)),
                "category": pa.array([text(i, "c") for i in range(ROWS)]).dictionary_encode(),
                "struct": [{"a": text(i, "s"), "b": i} for i in range(ROWS)],
            }
        ),
        gone,
    )


def writers():
    def duck(made, out):
        connection = duckdb.connect()
        connection.register("made", made)
        connection.execute("COPY made TO '%s' (FORMAT parquet, COMPRESSION uncompressed)" % out).fetchall()

    deltas = {"text": "DELTA_BYTE_ARRAY", "url": "DELTA_LENGTH_BYTE_ARRAY", "number": "DELTA_BINARY_PACKED"}
    split = {"number": "BYTE_STREAM_SPLIT", "i32": "BYTE_STREAM_SPLIT"}
    for name, options in {
        "pyarrow": {"row_group_size": 1500},
        "pyarrow, row groups that keep all rows": {"row_group_size": 100},
        "pyarrow, page index": {"write_page_index": True, "data_page_size": 4000, "row_group_size": 1500},
        "pyarrow, version 2": {"write_page_index": True, "data_page_size": 4000, "data_page_version": "2.0"},
        "pyarrow, deltas": {"write_page_index": True, "use_dictionary": False, "column_encoding": deltas},
        "pyarrow, split": {"use_dictionary": False, "column_encoding": split},
        "pyarrow, bloom filters": {"bloom_filter_options": {"url": {"ndv": ROWS}, "number": {"ndv": ROWS}}},
    }.items():
        yield name, lambda made, out, options=options: pq.write_table(made, out, compression="none", **options)
    yield "polars", lambda made, out: polars.from_arrow(made).write_parquet(out, compression="uncompressed", row_group_size=1500)
    yield "duckdb", duck


def check(name, out, want):
    with open(out, "rb") as f:
        data = f.read()
    for mark in MARKS:
        if count := data.count(mark):
            sys.exit("%s: %r is in the output %d times" % (name, mark, count))
    got = pq.read_table(out).select(want.column_names)
    if got.to_pylist() != want.to_pylist():
        sys.exit("%s: the rows are not those that are allowed" % name)
    for column in ("url", "number", "i32"):
        value = want[column][want.num_rows // 2].as_py()
        expected = sum(v == value for v in want[column].to_pylist())
        found = (
            pq.read_table(out, filters=[(column, "=", value)]).num_rows,
            polars.scan_parquet(out).filter(polars.col(column) == value).collect().height,
            duckdb.connect().execute("SELECT count(*) FROM '%s' WHERE %s = ?" % (out, column), [value]).fetchall()[0][0],
        )
        if found != (expected,) * 3:
            sys.exit("%s: %s = %r in %r rows, want %d" % (name, column, value, found, expected))


def main(robotsbatch, _, scratch):
    rules = os.path.join(scratch, "gone")
    os.makedirs(rules, exist_ok=True)
    with open(os.path.join(rules, "a.test"), "w") as f:
        f.write("User-agent: *\nDisallow: /d/\n")
    source, out = os.path.join(scratch, "gone.in.parquet"), os.path.join(scratch, "gone.out.parquet")
    runs = 0
    for denied in DENIED:
        for distinct in (ROWS, 50):
            made, gone = table(DENIED[denied], distinct)
            want = made.filter(pa.array([not g for g in gone]))
            for writer, write in writers():
                write(made, source)
                subprocess.run([robotsbatch, "-in", source, "-rules", rules, "-emit", "allowed", "-out", out, "-quiet"], check=True)
                check("%s, %s of %d values" % (writer, denied, distinct), out, want)
                os.remove(out)
                runs += 1
    print("gone: nothing of rows that are left out in %d tables" % runs)


if __name__ == "__main__":
    main(*sys.argv[1:])
