"""What the checks of tables share: running robotsbatch, and counting verdicts."""

import json
import pathlib
import subprocess
import sys

program, sample, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
frontier = sample / "frontier.arrow"


def run(source, out, *flags):
    """Runs the job, and returns its summary's counts of verdicts."""
    summary = scratch / "summary.json"
    subprocess.run(
        [program, "-in", source, "-rules", sample / "rules", "-agent", "CCBot",
         "-out", out, "-summary-json", summary, "-quiet", *flags], check=True)
    agent = json.loads(summary.read_text())["agents"][0]
    return agent["allowed"], agent["denied"], agent["unknown"]


def counts(values):
    """Counts what is allowed, denied and null."""
    values = list(values)
    return tuple(sum(v is want for v in values) for want in (True, False, None))


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, want {want}")
    print(f"ok {what}: {got}")


def no_codec(client, codec, reason):
    """Says why a client is not asked about a codec."""
    print(f"left out {client}, {codec}: {reason}")


def wide(urls):
    """Appends more columns than the sample has: nested, encoded, with times."""
    import pyarrow

    n = urls.num_rows
    for name, values in {
        "list": pyarrow.array([[i, None] if i % 3 else None for i in range(n)]),
        "struct": pyarrow.array([{"a": i, "b": [str(i)]} if i % 5 else None for i in range(n)]),
        "map": pyarrow.array([[("k", i)] if i % 4 else None for i in range(n)], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        "time": pyarrow.array([1000 * i if i % 7 else None for i in range(n)], pyarrow.timestamp("ns", "UTC")),
        "word": pyarrow.array([("x", "y", None)[i % 3] for i in range(n)]).dictionary_encode(),
        "large": pyarrow.array([str(i) for i in range(n)], pyarrow.large_string()),
    }.items():
        urls = urls.append_column(name, values)
    return urls


def url_types(table, types):
    """Returns the table with its URLs in each of the types, by a name for it."""
    url = table["url"].combine_chunks()
    for name, convert in types.items():
        yield name, table.set_column(0, "url", convert(url))


def same_columns(what, got, want):
    for column in want.schema.names:
        if got[column].to_pylist() != want[column].to_pylist():
            sys.exit(f"{what}: column {column} came out different")
