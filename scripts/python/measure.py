"""Measures the package beside the program on the same data: see scripts/measure.sh evaluate.

    python measure.py FRONTIER.arrow RULES AGENT FOLDER SMALL_BATCHES
"""

from __future__ import annotations

import contextlib
import os
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import robotsbatch

MIB = 1 << 20


def main() -> None:
    frontier, rules, agent, folder, small = sys.argv[1:]
    ran: dict[str, list[tuple[float, float]]] = {"command": [], "evaluate": []}
    peaks = []
    for _ in range(5):
        ran["command"].append(of_child([robotsbatch.find_robotsbatch_bin(), "-in", frontier, "-rules", rules, "-agent", agent,
                                        "-out", f"{folder}/out.arrow", "-quiet"])[:2])  # fmt: skip
        # A process of its own, for its peak of memory.
        wall, cpu, said = of_child([sys.executable, __file__, "evaluate", frontier, rules, agent])
        wall, cpu, *peak = map(float, said.split())
        ran["evaluate"].append((wall, cpu))
        peaks.append(peak)
    for name, times in ran.items():
        walls, cpus = zip(*times, strict=True)
        print(f"{name}: wall {statistics.median(walls):.2f} s, of {[round(w, 2) for w in walls]}; "
              f"processor time {statistics.median(cpus):.2f} s, of {[round(c, 2) for c in cpus]}")  # fmt: skip
    for i, what in enumerate(("wall", "processor time")):
        ratio = statistics.median(t[i] for t in ran["evaluate"]) / statistics.median(t[i] for t in ran["command"])
        print(f"evaluate : command, {what}: {ratio:.2f}")
    table, before, after, child = (statistics.median(column) for column in zip(*peaks, strict=True))
    print(f"the table has {table:.0f} MiB; the process had {before:.0f} MiB before and {after:.0f} MiB at most, the child "
          f"{child:.0f} MiB: {after - before + child:.0f} MiB more than with the table alone")  # fmt: skip
    small_batches(frontier, rules, agent, int(small))


def of_child(args: list[str]) -> tuple[float, float, str]:
    """Run a program: its time by the clock, its processor time and what it printed."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    said = subprocess.run(args, check=True, stdout=subprocess.PIPE, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - started, spent(after) - spent(before), said


def spent(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime


def evaluate(frontier: str, rules: str, agent: str) -> None:
    """Evaluate a table in memory, and print times in seconds and memory in MiB."""
    with pa.OSFile(frontier) as file:
        table = pa.ipc.open_file(file).read_all()
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")  # forget the peak so far
    before = status("VmHWM")
    own, started = time.process_time(), time.perf_counter()
    peak = [0.0]
    threading.Thread(target=watch, args=(peak,), daemon=True).start()
    done = robotsbatch.evaluate(table, rules=rules, agents=agent)
    wall, child = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.num_rows == table.num_rows and done["allowed"].null_count < done.num_rows
    print(wall, time.process_time() - own + spent(child), table.nbytes / MIB, before, status("VmHWM"), peak[0])


def watch(peak: list[float]) -> None:
    """Keep the child's peak of memory. What wait tells has that of this process in it,
    from which the child was forked."""
    while True:
        for file in Path("/proc/self/task").glob("*/children"):
            with contextlib.suppress(OSError, StopIteration):
                for pid in file.read_text().split():
                    if b"pipe" in Path("/proc", pid, "cmdline").read_bytes():
                        peak[0] = max(peak[0], status("VmHWM", pid))
        time.sleep(0.02)


def status(key: str, pid: str = "self") -> float:
    """A figure of /proc/PID/status in MiB."""
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024


def small_batches(frontier: str, rules: str, agent: str, count: int) -> None:
    """Stream many small batches through reader."""
    with pa.OSFile(frontier) as file:
        table = pa.ipc.open_file(file).read_all().select(["url"]).slice(0, 1_000_000).combine_chunks()
    [batch] = table.to_batches()
    for rows in (1, 10, 100):
        batches = count if rows == 10 else count // 10

        def slices(rows: int = rows, batches: int = batches) -> Iterator[pa.RecordBatch]:
            for i in range(batches):
                yield batch.slice(i * rows % (batch.num_rows - rows), rows)

        own, before, started = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        got = sum(b.num_rows for b in robotsbatch.reader(pa.RecordBatchReader.from_batches(batch.schema, slices()), rules=rules, agents=agent))
        assert got == rows * batches
        wall, own = time.perf_counter() - started, time.process_time() - own
        child = spent(resource.getrusage(resource.RUSAGE_CHILDREN)) - spent(before)
        print(f"reader, {batches} batches of {rows} rows: {wall / batches * 1e6:.1f} µs a batch; "
              f"processor time {own / batches * 1e6:.1f} µs here and {child / batches * 1e6:.1f} µs of the child")  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1] == "evaluate":
        evaluate(*sys.argv[2:])
    else:
        os.makedirs(sys.argv[4], exist_ok=True)
        main()
