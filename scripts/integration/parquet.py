"""Compares Parquet between robotsbatch, pyarrow, polars and duckdb.

usage: parquet.py ROBOTSBATCH SAMPLE SCRATCH
"""

import duckdb
import polars
import pyarrow
import pyarrow.parquet

from verdicts import counts, frontier, no_codec, run, same, same_columns, scratch, url_types, wide

for compression in ("none", "snappy", "zstd"):
    for rows in ("100", "65536"):
        out = scratch / f"{compression}-{rows}.parquet"
        want = run(frontier, out, "-compression", compression, "-batch-rows", rows, "-explain")
        name = out.name
        same(f"pyarrow reads {name}", counts(pyarrow.parquet.read_table(out, page_checksum_verification=True)["allowed"].to_pylist()), want)
        same(f"polars reads {name}", counts(polars.read_parquet(out)["allowed"].to_list()), want)
        rows_of = duckdb.sql(f"select allowed from read_parquet('{out}')").fetchall()
        same(f"duckdb reads {name}", counts(row[0] for row in rows_of), want)

urls = pyarrow.ipc.open_file(frontier).read_all()
written = pyarrow.parquet.read_table(scratch / "zstd-100.parquet")
same("metadata that passed", written.schema.metadata, urls.schema.metadata)
for column in urls.schema.names:
    # Parquet has no seconds: the output has times in milliseconds.
    same(f"column {column} that passed", written[column].cast(urls[column].type).equals(urls[column]), True)

# Several row groups.
out = scratch / "groups.parquet"
links = [scratch / f"frontier-{i}.arrow" for i in range(39)]  # an input counts once under one name
for link in links:
    link.symlink_to(frontier)
many = run(frontier, out, "-memory", "64MiB", *(word for link in links for word in ("-in", link)))
same("verdicts of 40 inputs", many, tuple(40 * count for count in want))
groups = pyarrow.parquet.ParquetFile(out).metadata.num_row_groups
same("several row groups", groups > 1, True)
same("pyarrow reads them", counts(pyarrow.parquet.read_table(out)["allowed"].to_pylist()), many)
same("polars reads them", counts(polars.read_parquet(out)["allowed"].to_list()), many)
same("duckdb reads them", counts(row[0] for row in duckdb.sql(f"select allowed from read_parquet('{out}')").fetchall()), many)
same("robotsbatch reads them", run(out, scratch / "again.csv", "-prefix", "again_"), many)

for compression in ("none", "snappy", "zstd", "gzip", "brotli", "lz4"):
    for version in ("1.0", "2.0"):
        path = scratch / f"pyarrow-{compression}-{version}.parquet"
        pyarrow.parquet.write_table(wide(urls), path, compression=compression, data_page_version=version,
                                    row_group_size=700, write_page_checksum=version == "2.0")
        out = scratch / "out.parquet"
        same(f"robotsbatch reads {path.name}", run(path, out, "-batch-rows", "256"), want)
        same_columns(path.name, pyarrow.parquet.read_table(out), wide(urls))
no_codec("every client", "lz4", "robotsbatch does not write Parquet with it, though it reads it")
no_codec("every client", "the LZ4 of Hadoop", "none of these writes it, and robotsbatch refuses it by name")

types = {
    "large_string": lambda url: url.cast(pyarrow.large_string()),
    "string_view": lambda url: url.cast(pyarrow.string_view()),
    "binary": lambda url: url.cast(pyarrow.binary()),
    "dictionary": lambda url: url.dictionary_encode(),
}
for name, table in url_types(urls, types):
    path = scratch / f"pyarrow-{name}.parquet"
    pyarrow.parquet.write_table(table, path, row_group_size=300, use_dictionary=True)
    # Parquet has no views: the output has strings.
    same(f"robotsbatch reads {path.name}", run(path, scratch / "out.parquet"), want)
    same_columns(path.name, pyarrow.parquet.read_table(scratch / "out.parquet"), table)
for encoding in ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"):
    path = scratch / f"pyarrow-{encoding}.parquet"
    pyarrow.parquet.write_table(urls, path, use_dictionary=False, column_encoding={"url": encoding})
    same(f"robotsbatch reads {path.name}", run(path, scratch / "out.parquet"), want)

for compression in ("uncompressed", "snappy", "zstd", "gzip", "lz4_raw"):
    path = scratch / f"polars-{compression}.parquet"
    polars.from_arrow(urls).write_parquet(path, compression=compression.replace("lz4_raw", "lz4"))
    same(f"robotsbatch reads {path.name}", run(path, scratch / "out.parquet"), want)
    path = scratch / f"duckdb-{compression}.parquet"
    duckdb.sql("select * from urls").write_parquet(str(path), compression=compression)
    same(f"robotsbatch reads {path.name}", run(path, scratch / "out.parquet"), want)
