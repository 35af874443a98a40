"""Measures filtering tables, beside engines that filter by a ready column.

usage: measure.py [-rounds N] [-threads N] [-size PART] [-case TEXT] ROBOTSBATCH PYTHON

Prints a record in Markdown. PYTHON is the interpreter for engines.py, which makes and
filters tables; this program needs none of its packages, and stays small, since the peak of
a process is at least that of its parent. PART makes the tables smaller. With -case only
those lines are measured whose name contains TEXT. It fails if an output does not have the
rows that stay, not because of times.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

ENGINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "engines.py")
HOSTS = 1000  # as in engines.py
PEERS = ["polars", "duckdb", "pyarrow"]

Case = namedtuple("Case", "name writer codec text share order rows goal")
Run = namedtuple("Run", "wall cpu peak size")


def cases(part):
    """Lists what is measured; goals are parts of Polars' processor time."""
    goals = {("24 KB", 0.1, "any"): 0.2, ("24 KB", 4, "host"): 0.2, ("24 KB", 4, "any"): 0.6, ("none", 50, "any"): 0.9}
    for text, size, rows in (("24 KB", 24000, 12000), ("2 KB", 2000, 150000), ("none", 0, 4000000)):
        for share in (0.1, 4, 50):
            for order in ("any", "host"):
                yield Case("texts: " + text, "pyarrow", "zstd", size, share, order, int(rows * part), goals.get((text, share, order)))
    for name, writer, codec, size, share, rows, goal in (
        ("24 KB, Polars' own file", "polars", "zstd", 24000, 4, 12000, 0.6),
        ("24 KB, Polars' own file", "polars", "zstd", 24000, 50, 12000, None),
        ("24 KB, DuckDB's own file", "duckdb", "snappy", 24000, 4, 12000, 0.6),
        ("2 KB, DuckDB's own file", "duckdb", "snappy", 2000, 4, 150000, 0.7),
    ):
        yield Case("texts: " + name, writer, codec, size, share, "any", int(rows * part), goal)


def run(command, out, environment):
    """Runs a command that writes out."""
    begin = time.monotonic()
    process = subprocess.Popen(command, env=dict(os.environ, **environment), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - begin
    if process.returncode:
        sys.exit("%s: exit status %d" % (" ".join(command), process.returncode))
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.path.getsize(out))


def measure(options, case, folder):
    """Returns the runs of each engine, in turns, and the size of the input."""
    source = os.path.join(folder, "in.parquet")
    python = [options.python, ENGINES]
    subprocess.run([*python, "make", case.writer, str(case.text), str(case.share), case.order, str(case.rows), source], check=True)
    rules = os.path.join(folder, "rules")
    runs = {}
    for n in range(options.rounds):
        for engine in ["robotsbatch", *PEERS]:
            out = os.path.join(folder, "out.parquet")
            command = [*python, "filter", engine, source, out, case.codec, str(options.threads)]
            if engine == "robotsbatch":
                command = [options.robotsbatch, "-in", source, "-rules", rules, "-agent", "x", "-emit", "allowed", "-out", out, "-quiet"]
            runs.setdefault(engine, []).append(run(command, out, {"GOMAXPROCS": str(options.threads)}))
            if n == 0:
                subprocess.run([*python, "check", source, out], check=True)
            os.remove(out)
    return runs, os.path.getsize(source)


def line(case, runs, source):
    """Returns the case's line of the table."""
    ours, polars = runs["robotsbatch"], runs["polars"]
    ratios = sorted(a.cpu / b.cpu for a, b in zip(ours, polars))
    cpu = {engine: statistics.median(r.cpu for r in list) for engine, list in runs.items()}
    size = ours[0].size / (source * (1 - case.share / 100))
    goal = "" if case.goal is None else "%g: %s" % (case.goal, "reached" if statistics.median(ratios) <= case.goal else "missed")
    return "| %s | %g %% | %s | %s | **%.2f** (%.2f to %.2f) | %s | %s | %s | %.3f |" % (
        case.name[7:],
        case.share,
        "by host" if case.order == "host" else "any",
        " | ".join("%.2f" % cpu[engine] for engine in ["robotsbatch", *PEERS]),
        statistics.median(ratios),
        ratios[0],
        ratios[-1],
        goal,
        " | ".join("%d" % max(r.peak for r in runs[engine]) for engine in ["robotsbatch", *PEERS]),
        " | ".join("%.1f" % (runs[engine][0].size / 1e6) for engine in ["robotsbatch", *PEERS]),
        size,
    )


HEAD = """
| texts | left out | order | robotsbatch, CPU s | Polars | DuckDB | pyarrow | by Polars | goal | robotsbatch, peak MiB | Polars | DuckDB | pyarrow | robotsbatch, MB | Polars | DuckDB | pyarrow | size by share × input |
|---|---:|---|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-rounds", type=int, default=3)
    parser.add_argument("-threads", type=int, default=2)
    parser.add_argument("-size", type=float, default=1)
    parser.add_argument("-case", default="")
    parser.add_argument("robotsbatch")
    parser.add_argument("python")
    options = parser.parse_args()
    versions = [subprocess.run([options.python, ENGINES, "version", e], check=True, capture_output=True, text=True).stdout.strip() for e in PEERS]
    print("polars %s, duckdb %s, pyarrow %s; tables of %g times the standard size; %d rounds in turns, %d threads" % (*versions, options.size, options.rounds, options.threads))
    print(HEAD, flush=True)
    for case in cases(options.size):
        if options.case not in "%s, %g, %s" % (case.name, case.share, case.order):
            continue
        with tempfile.TemporaryDirectory(prefix="filter.") as folder:
            os.mkdir(os.path.join(folder, "rules"))
            for host in range(HOSTS):
                with open(os.path.join(folder, "rules", "h%d.test" % host), "w") as f:
                    f.write("User-agent: *\nDisallow: /private\n")
            print(line(case, *measure(options, case, folder)), flush=True)


main()
