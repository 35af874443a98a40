"""Compares Parquet between robotsbatch, pyarrow, polars and duckdb.

usage: parquet.py ROBOTSBATCH SAMPLE SCRATCH
"""

import json
import pathlib
import subprocess
import sys

import duckdb
import polars
import pyarrow
import pyarrow.parquet

program, sample, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def run(source, out, *flags):
    """Runs the job, and returns its summary's counts of verdicts."""
    summary = scratch / "summary.json"
    subprocess.run(
        [program, "-in", source, "-rules", sample / "rules", "-agent", "CCBot",
         "-out", out, "-summary-json", summary, "-quiet", *flags], check=True)
    agent = json.loads(summary.read_text())["agents"][0]
    return agent["allowed"], agent["denied"], agent["unknown"]


def counts(values):
    values = list(values)
    return tuple(sum(v is want for v in values) for want in (True, False, None))


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, want {want}")
    print(f"ok {what}: {got}")


frontier = sample / "frontier.arrow"
for compression in ("none", "snappy", "zstd"):
    for rows in ("100", "65536"):
        out = scratch / f"{compression}-{rows}.parquet"
        want = run(frontier, out, "-compression", compression, "-batch-rows", rows, "-explain")
        name = out.name
        same(f"pyarrow reads {name}", counts(pyarrow.parquet.read_table(out)["allowed"].to_pylist()), want)
        same(f"polars reads {name}", counts(polars.read_parquet(out)["allowed"].to_list()), want)
        rows_of = duckdb.sql(f"select allowed from read_parquet('{out}')").fetchall()
        same(f"duckdb reads {name}", counts(row[0] for row in rows_of), want)

urls = pyarrow.ipc.open_file(frontier).read_all()
written = pyarrow.parquet.read_table(scratch / "zstd-100.parquet")
same("metadata that passed", written.schema.metadata, urls.schema.metadata)
for column in urls.schema.names:
    # Parquet has no seconds: times come out in milliseconds.
    same(f"column {column} that passed", written[column].cast(urls[column].type).equals(urls[column]), True)

# Several row groups.
out = scratch / "groups.parquet"
many = run(frontier, out, *(["-in", frontier] * 39))
same("verdicts of 40 inputs", many, tuple(40 * count for count in want))
groups = pyarrow.parquet.ParquetFile(out).metadata.num_row_groups
same("several row groups", groups > 1, True)
same("pyarrow reads them", counts(pyarrow.parquet.read_table(out)["allowed"].to_pylist()), many)
same("polars reads them", counts(polars.read_parquet(out)["allowed"].to_list()), many)
same("duckdb reads them", counts(row[0] for row in duckdb.sql(f"select allowed from read_parquet('{out}')").fetchall()), many)
same("robotsbatch reads them", run(out, scratch / "again.csv", "-prefix", "again_"), many)

# More columns than the sample has: nested, encoded, with times.
n = urls.num_rows
wide = urls
for name, values in {
    "list": pyarrow.array([[i, None] if i % 3 else None for i in range(n)]),
    "struct": pyarrow.array([{"a": i, "b": [str(i)]} if i % 5 else None for i in range(n)]),
    "time": pyarrow.array([1000 * i if i % 7 else None for i in range(n)], pyarrow.timestamp("ns", "UTC")),
    "word": pyarrow.array([("x", "y", None)[i % 3] for i in range(n)]).dictionary_encode(),
    "large": pyarrow.array([str(i) for i in range(n)], pyarrow.large_string()),
}.items():
    wide = wide.append_column(name, values)
for compression in ("none", "snappy", "zstd", "gzip", "brotli"):
    for version in ("1.0", "2.0"):
        path = scratch / f"pyarrow-{compression}-{version}.parquet"
        pyarrow.parquet.write_table(wide, path, compression=compression, data_page_version=version, row_group_size=700)
        out = scratch / "out.parquet"
        same(f"robotsbatch reads {path.name}", run(path, out, "-batch-rows", "256"), want)
        again = pyarrow.parquet.read_table(out)
        for column in wide.schema.names:
            if again[column].to_pylist() != wide[column].to_pylist():
                sys.exit(f"column {column} of {path.name} came out different")
for compression in ("uncompressed", "snappy", "zstd", "gzip"):
    path = scratch / f"polars-{compression}.parquet"
    polars.from_arrow(urls).write_parquet(path, compression=compression)
    same(f"robotsbatch reads {path.name}", run(path, scratch / "out.parquet"), want)
    path = scratch / f"duckdb-{compression}.parquet"
    duckdb.sql("select * from urls").write_parquet(str(path), compression=compression)
    same(f"robotsbatch reads {path.name}", run(path, scratch / "out.parquet"), want)
